//! `sealion share init` and `identity`.

use std::path::{Path, PathBuf};

use ::share::keys::{Identity, PublicIdentity, Role};
use clap::Args;
use site::OpsError;

use super::ops;
use crate::show;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share init ~/share-owner
  sealion share init /root/share")]
pub struct ShareInitArgs {
    /// Directory for the keys, which is not there yet
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share identity ~/share-reader
  sealion share identity /home/auditor/share")]
pub struct ShareIdentityArgs {
    /// Directory of the keys; they are made if it is not there
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share fingerprint auditor.json
  sealion share fingerprint owner.json")]
pub struct ShareFingerprintArgs {
    /// A public.json that somebody has sent
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

pub fn fingerprint(args: &ShareFingerprintArgs) -> Result<u8, OpsError> {
    let reader = PublicIdentity::read(&args.file, Role::Reader);
    let (role, public) = match reader {
        Ok(public) => ("reader", public),
        Err(_) => ("owner", PublicIdentity::read(&args.file, Role::Owner).map_err(ops)?),
    };
    show::out(&format!("{role}: {}", public.fingerprint()));
    Ok(0)
}

pub fn init(args: &ShareInitArgs) -> Result<u8, OpsError> {
    let owner = if Identity::is_half(&args.dir) {
        Identity::read_or_make(&args.dir, Role::Owner)
    } else {
        Identity::make(&args.dir, Role::Owner)
    };
    print("owner", &args.dir, &owner.map_err(ops)?);
    show::out(
        "give public.json to readers and to those who run proxies; keep a copy of the directory in a safe place",
    );
    Ok(0)
}

pub fn identity(args: &ShareIdentityArgs) -> Result<u8, OpsError> {
    let reader = Identity::read_or_make(&args.dir, Role::Reader).map_err(ops)?;
    print("reader", &args.dir, &reader);
    show::out("give public.json to the owner, and read the fingerprint to each other over the telephone");
    Ok(0)
}

fn print(role: &str, dir: &Path, identity: &Identity) {
    show::out(&format!("{role}: {}", identity.public.fingerprint()));
    show::out(&format!("public key: {}", dir.join("public.json").display()));
}
