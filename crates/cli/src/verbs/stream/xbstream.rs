//! `sealion xbstream`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ::stream::Progress;
use ::stream::xbstream::{Algorithm, Decryption, ExtractOptions, Extracted, create, extract, list, unwrap};
use clap::Args;
use site::OpsError;

use super::input::{Input, stdout};
use super::{Watch, amount, ops};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion xbstream -x -C /restore --input full.xb --decompress
  sealion xbstream -x -C /restore --input full.xb --decrypt AES256 --encrypt-key-file key --decompress

Or directly from the backup tool, through a pipe:
  mariabackup --backup --stream=xbstream --compress | sealion xbstream -x -C /restore --decompress

Without --decrypt and --decompress, files are written as they are in the stream, as mbstream writes them.
Until all of them are on the disk, the file .sealion-incomplete lies in the directory.")]
pub struct XbstreamArgs {
    #[command(flatten)]
    pub mode: Mode,
    /// With -c: files below the current directory; with -u: those to unwrap
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Directory to extract into, which is not there yet, or empty
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Read the stream from FILE; default: standard input
    #[arg(long, value_name = "FILE", conflicts_with = "create")]
    pub input: Option<PathBuf>,
    /// Decrypt files of a backup stream that end in .xbcrypt
    #[arg(long, value_enum, value_name = "ALGORITHM", ignore_case = true, requires = "encrypt_key_file")]
    pub decrypt: Option<Cipher>,
    /// File with the key, exactly its bytes (mode 0600)
    #[arg(long, value_name = "FILE", requires = "decrypt")]
    pub encrypt_key_file: Option<PathBuf>,
    /// With -x: decompress files that end in .qp, .zst or .lz4
    #[arg(long)]
    pub decompress: bool,
    /// With -x: files that are written side by side; default: one for each processor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub parallel: Option<u16>,
    /// With -x: do not wait until all is on the disk: a crash of the host right after it can lose files
    #[arg(long, hide_short_help = true)]
    pub no_sync: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Mode {
    /// Extract a stream into a directory
    #[arg(short = 'x', long, conflicts_with = "files")]
    pub extract: bool,
    /// Write files to standard output as a stream
    #[arg(short = 'c', long, requires = "files", conflicts_with_all = ["decrypt", "decompress", "parallel", "no_sync"])]
    pub create: bool,
    /// Decrypt and decompress files on the disk, each into a new one beside it
    #[arg(short = 'u', long, requires = "files", conflicts_with_all = ["decompress", "parallel", "no_sync", "input"])]
    pub unwrap: bool,
    /// List the files in a stream, and check its checksums
    #[arg(short = 't', long, conflicts_with = "files", conflicts_with_all = ["decrypt", "decompress", "parallel", "no_sync"])]
    pub list: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Cipher {
    #[value(name = "AES128")]
    Aes128,
    #[value(name = "AES192")]
    Aes192,
    #[value(name = "AES256")]
    Aes256,
}

impl Cipher {
    pub fn algorithm(self) -> Algorithm {
        match self {
            Self::Aes128 => Algorithm::Aes128,
            Self::Aes192 => Algorithm::Aes192,
            Self::Aes256 => Algorithm::Aes256,
        }
    }
}

/// # Errors
/// The key cannot be used.
pub fn decryption(cipher: Option<Cipher>, key_file: Option<&Path>) -> Result<Option<Decryption>, OpsError> {
    match (cipher, key_file) {
        (Some(cipher), Some(file)) => Decryption::from_file(cipher.algorithm(), file).map(Some).map_err(ops),
        _ => Ok(None),
    }
}

pub fn xbstream(args: &XbstreamArgs) -> Result<u8, OpsError> {
    if args.mode.create {
        return write(&args.files);
    }
    // A key that does not fit is told before anything is waited for.
    let decryption = decryption(args.decrypt, args.encrypt_key_file.as_deref())?;
    if args.mode.unwrap {
        return unwrapped(&args.files, decryption.as_ref());
    }
    let progress = Arc::new(Progress::default());
    let input = Input::open(args.input.as_deref(), "stream", &progress)?;
    let watch = Watch::start(&progress, interrupt::flag()?, "waiting for the stream");
    if args.mode.list {
        let mut rows = Vec::new();
        let listed = list(input, &progress, &mut |file| {
            rows.push(vec![file.path.clone(), file.stored_bytes.to_string()]);
        });
        drop(watch);
        // What came before a failure is there all the same.
        if !rows.is_empty() {
            show::out(&show::table(&["file", "bytes"], rows));
        }
        listed.map_err(ops)?;
        return Ok(0);
    }
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let options = ExtractOptions {
        into: args.directory.clone(),
        decryption,
        decompresses: args.decompress,
        workers: args.parallel.map_or(processors.min(64), usize::from),
        is_synced: !args.no_sync,
    };
    let began = Instant::now();
    let extracted = extract(input, &options, &progress);
    drop(watch);
    print(&options, &extracted.map_err(ops)?, began.elapsed().as_secs_f64());
    Ok(0)
}

fn print(options: &ExtractOptions, done: &Extracted, seconds: f64) {
    let seconds = seconds.max(0.001);
    let whereto =
        if options.is_synced { "extracted, and on the disk" } else { "extracted, not yet all on the disk" };
    show::out(&format!(
        "{whereto}: {}, {} from a stream of {} in {seconds:.1} s, {}/s",
        model::text::counted(done.files, "file", "files"),
        amount(done.size_bytes as f64),
        amount(done.stream_bytes as f64),
        amount(done.size_bytes as f64 / seconds),
    ));
    if options.decryption.is_some() {
        show::out(&format!(
            "decrypted: {}; not encrypted in the stream: {}",
            model::text::counted(done.decrypted, "file", "files"),
            done.not_encrypted
        ));
    }
}

fn unwrapped(files: &[PathBuf], decryption: Option<&Decryption>) -> Result<u8, OpsError> {
    let progress = Arc::new(Progress::default());
    let _watch = Watch::start(&progress, interrupt::flag()?, "reading");
    for file in files {
        let (to, bytes) = unwrap(file, decryption, &progress).map_err(ops)?;
        show::out(&format!("{}: {}", to.display(), amount(bytes as f64)));
    }
    Ok(0)
}

fn write(files: &[PathBuf]) -> Result<u8, OpsError> {
    let mut out = stdout("sealion xbstream -c FILE > out.xb")?;
    let progress = Arc::new(Progress::default());
    let _watch = Watch::start(&progress, interrupt::flag()?, "reading");
    create(files, &mut out, &progress).map_err(ops)?;
    Ok(0)
}
