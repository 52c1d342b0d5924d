//! `sealion archive`.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use ::stream::archive::head::{Aead, Content};
use ::stream::archive::{
    Contents, CreateOptions, KeyFile, Keys, Packing, Place, Seal, check, create, create_of_bytes, extract,
};
use ::stream::{From, Progress};
use clap::{Args, Subcommand};
use site::OpsError;

use super::input::{Input, of_command, stdout};
use super::{Watch, amount, ops};
use crate::{interrupt, show};

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum ArchiveCommand {
    /// Write a directory, or what a program writes, into a new encrypted file
    Create(ArchiveCreateArgs),
    /// Extract an archive into a directory, or into a program
    Extract(ArchiveExtractArgs),
    /// Check every byte of an archive, and list what is in it
    Check(ArchiveCheckArgs),
}

/// Whom an archive is for.
#[derive(Debug, Args)]
pub struct SealArgs {
    /// Public key of age (age1...) that can open the archive; can be repeated
    #[arg(long, value_name = "AGE1...")]
    pub recipient: Vec<String>,
    /// File with a key of 64 hexadecimal digits that can open it (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

impl SealArgs {
    pub fn is_given(&self) -> bool {
        !self.recipient.is_empty() || self.key_file.is_some()
    }

    pub fn seal(&self) -> Result<Seal, OpsError> {
        let key_file = self.key_file.as_deref().map(KeyFile::read).transpose().map_err(ops)?;
        Seal::new(&self.recipient, key_file).map_err(ops)
    }
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// File with a secret key of age, as age-keygen writes it (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub identity: Option<PathBuf>,
    /// File with the key that the archive was made with (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
}

impl KeyArgs {
    fn keys(&self) -> Result<Keys, OpsError> {
        let key_file = self.key_file.as_deref().map(KeyFile::read).transpose().map_err(ops)?;
        Keys::new(self.identity.as_deref(), key_file).map_err(ops)
    }
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Cipher {
    Aes256,
    Chacha20,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Compression {
    Zstd,
    None,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion archive create full.archive --from /backup/full --key-file key
  sealion archive create db1.archive --key-file key --from-command 'mariabackup --backup --stream=xbstream'

A key file is made by: (umask 077; openssl rand -hex 32 > key). The archive gets its name when all of it is on the disk.")]
pub struct ArchiveCreateArgs {
    /// Archive, which is not there yet
    pub file: PathBuf,
    /// Directory; - is standard input
    #[arg(long, value_name = "DIR", required_unless_present = "from_command")]
    pub from: Option<PathBuf>,
    /// Run CMD by /bin/sh and keep what it writes; it must end with 0
    #[arg(long, value_name = "CMD", conflicts_with = "from")]
    pub from_command: Option<String>,
    #[command(flatten)]
    pub seal: SealArgs,
    /// Cipher; default: the faster one on this host
    #[arg(long, value_enum, value_name = "CIPHER")]
    pub cipher: Option<Cipher>,
    /// Compression; pieces that would not become smaller are kept as they are
    #[arg(long, value_enum, value_name = "METHOD", default_value = "zstd")]
    pub compress: Compression,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion archive extract full.archive --into /restore --key-file key
  sealion archive extract db1.archive --to-stdout --identity id | mbstream -x -C /restore

Nothing is written that was not authenticated. Only exit code 0 says that all of it came: until then the file
.sealion-incomplete lies in the directory.")]
pub struct ArchiveExtractArgs {
    /// Archive; - is standard input
    pub file: PathBuf,
    /// Directory, which is not there yet, or empty
    #[arg(long, value_name = "DIR", required_unless_present = "to_stdout")]
    pub into: Option<PathBuf>,
    /// Write what a program wrote to standard output
    #[arg(long, conflicts_with = "into")]
    pub to_stdout: bool,
    #[command(flatten)]
    pub keys: KeyArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion archive check full.archive --key-file key
  sealion archive check full.archive --identity id")]
pub struct ArchiveCheckArgs {
    /// Archive; - is standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub keys: KeyArgs,
}

pub fn archive(command: &ArchiveCommand) -> Result<u8, OpsError> {
    match command {
        ArchiveCommand::Create(args) => created(args),
        ArchiveCommand::Extract(args) => extracted(args),
        ArchiveCommand::Check(args) => checked(args),
    }
}

fn created(args: &ArchiveCreateArgs) -> Result<u8, OpsError> {
    let options = CreateOptions {
        seal: args.seal.seal()?,
        aead: args.cipher.map(|cipher| match cipher {
            Cipher::Aes256 => Aead::Aes256Gcm,
            Cipher::Chacha20 => Aead::Chacha20Poly1305,
        }),
        packing: match args.compress {
            Compression::Zstd => Packing::Zstd,
            Compression::None => Packing::None,
        },
    };
    let progress = Arc::new(Progress::default());
    let from = source(args.from.as_deref(), args.from_command.as_deref(), &progress, true)?;
    let watch = Watch::start(&progress, interrupt::flag()?, "reading");
    let done = match from {
        From::Directory(root) => create(&root, &args.file, &options, &progress),
        From::Bytes { mut read, ended_well } => {
            let mut ended_well = Some(ended_well);
            let mut ended_well = || ended_well.take().map_or(Ok(()), |ended_well| ended_well());
            create_of_bytes(&mut read, &mut ended_well, &args.file, &options, &progress)
        }
    };
    drop(watch);
    let (summary, archive_bytes) = done.map_err(ops)?;
    let seconds = progress.copying().unwrap_or_default().as_secs_f64().max(0.001);
    show::out(&format!(
        "archived, and on the disk: {}, {} in an archive of {} in {seconds:.1} s, {}/s",
        model::text::counted(summary.files, "file", "files"),
        amount(summary.size_bytes as f64),
        amount(archive_bytes as f64),
        amount(summary.data_bytes as f64 / seconds),
    ));
    for path in &summary.left_out {
        show::out(&format!("left out: {} (a socket, a pipe or a device)", path.display()));
    }
    Ok(0)
}

/// A directory, standard input, or a program. `waits`: whoever reads has nobody else to listen to.
pub fn source(
    from: Option<&std::path::Path>,
    command: Option<&str>,
    progress: &Arc<Progress>,
    waits: bool,
) -> Result<From, OpsError> {
    match (from, command) {
        (_, Some(command)) => of_command(command, progress, waits),
        (Some(path), None) if path.as_os_str() != "-" => {
            ::stream::can_be_sent(path).map_err(ops)?;
            Ok(From::Directory(path.to_owned()))
        }
        (_, None) => {
            let input = Input::open(None, "stream", progress)?;
            let input = if waits { input } else { input.told_of_pauses() };
            Ok(From::Bytes { read: Box::new(input), ended_well: Box::new(|| Ok(())) })
        }
    }
}

fn input(file: &std::path::Path, progress: &Arc<Progress>) -> Result<Input, OpsError> {
    let path = (file.as_os_str() != "-").then_some(file);
    Input::open(path, "archive", progress)
}

fn extracted(args: &ArchiveExtractArgs) -> Result<u8, OpsError> {
    let keys = args.keys.keys()?;
    let progress = Arc::new(Progress::default());
    let read = input(&args.file, &progress)?;
    let mut out =
        if args.to_stdout { Some(stdout("sealion archive extract FILE --to-stdout > OUT")?) } else { None };
    let place = match (&mut out, &args.into) {
        (Some(out), _) => Place::Writer(out),
        (None, Some(into)) => Place::Directory(into),
        (None, None) => Place::Nowhere,
    };
    let watch = Watch::start(&progress, interrupt::flag()?, "reading");
    let done = extract(read, &args.file, &keys, place, &progress);
    drop(watch);
    let said = said("extracted", &done.map_err(ops)?, &progress);
    if let Some(out) = &mut out {
        out.flush().map_err(|error| OpsError::internal("standard output cannot be used", error))?;
        show::tell(&said);
    } else {
        show::out(&said);
    }
    Ok(0)
}

fn said(what: &str, done: &Contents, progress: &Progress) -> String {
    let seconds = progress.copying().unwrap_or_default().as_secs_f64().max(0.001);
    format!(
        "{what}: {}, {} from an archive of {} in {seconds:.1} s\nevery byte was authenticated",
        match done.content {
            Content::Tree => model::text::counted(done.summary.files, "file", "files"),
            Content::Bytes => "what a program wrote".into(),
        },
        amount(done.summary.size_bytes as f64),
        amount(done.archive_bytes as f64),
    )
}

fn checked(args: &ArchiveCheckArgs) -> Result<u8, OpsError> {
    let keys = args.keys.keys()?;
    let progress = Arc::new(Progress::default());
    let read = input(&args.file, &progress)?;
    let watch = Watch::start(&progress, interrupt::flag()?, "reading");
    let done = check(read, &args.file, &keys, &progress);
    drop(watch);
    let done = done.map_err(ops)?;
    let rows: Vec<_> = done
        .entries
        .iter()
        .filter(|entry| !entry.path.as_os_str().is_empty())
        .map(|entry| {
            let path = entry.path.to_string_lossy().escape_debug().to_string();
            vec![path, entry.size_bytes.to_string()]
        })
        .collect();
    if !rows.is_empty() {
        show::out(&show::table(&["file", "bytes"], rows));
    }
    show::out(&said("whole", &done, &progress));
    Ok(0)
}
