//! `sealion xbcrypt`.

use std::path::PathBuf;
use std::sync::Arc;

use ::stream::Progress;
use ::stream::xbstream::{Decryption, decrypt, encrypt};
use clap::Args;
use site::OpsError;

use super::input::{Input, stdout};
use super::xbstream::Cipher;
use super::{Watch, amount, ops};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion xbcrypt -d --encrypt-algo AES256 --encrypt-key-file key --input t.ibd.xbcrypt > t.ibd
  sealion xbcrypt --encrypt-algo AES256 --encrypt-key-file key --input full.xb > full.xb.xbcrypt

Versions 1 to 3 of the format are read, version 3 is written. It is not authenticated: who can write to the file can
leave out chunks. sealion archive is.")]
pub struct XbcryptArgs {
    /// Decrypt; default: encrypt
    #[arg(short = 'd', long)]
    pub decrypt: bool,
    /// Algorithm: nothing in the file tells
    #[arg(short = 'a', long, value_enum, value_name = "ALGORITHM", ignore_case = true)]
    pub encrypt_algo: Cipher,
    /// File with the key, exactly its bytes (mode 0600)
    #[arg(short = 'f', long, value_name = "FILE")]
    pub encrypt_key_file: PathBuf,
    /// Read FILE; default: standard input
    #[arg(short = 'i', long, value_name = "FILE")]
    pub input: Option<PathBuf>,
}

pub fn xbcrypt(args: &XbcryptArgs) -> Result<u8, OpsError> {
    let key = Decryption::from_file(args.encrypt_algo.algorithm(), &args.encrypt_key_file).map_err(ops)?;
    let progress = Arc::new(Progress::default());
    let mut out = stdout("sealion xbcrypt -d … > FILE")?;
    let read = Input::open(args.input.as_deref(), "stream", &progress)?;
    let watch = Watch::start(&progress, interrupt::flag()?, "waiting for the stream");
    let done = if args.decrypt {
        decrypt(read, &mut out, &key, &progress)
    } else {
        encrypt(read, &mut out, &key, &progress)
    };
    drop(watch);
    let bytes = done.map_err(ops)?;
    let what = if args.decrypt { "decrypted" } else { "encrypted" };
    show::tell(&format!("{what}: {}", amount(bytes as f64)));
    Ok(0)
}
