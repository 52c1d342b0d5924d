//! `sealion receive`.

use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::stream::archive::{CreateOptions, Packing};
use ::stream::{Code, Command, Identity, Into, Layers, Progress, ReceiveOptions, Receiver};
use clap::Args;
use net::ExposeSecret;
use site::{OpsError, SecretString};

use super::archive::SealArgs;
use super::input::stdout;
use super::xbstream::{Cipher, decryption};
use super::{CertificateArgs, Watch, ops, print};
use crate::options::{Global, TABLE_OR_JSON, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion receive /var/lib/mysql-new --listen 0.0.0.0:4440
  sealion receive /restore --decrypt AES256 --encrypt-key-file key --decompress
  sealion receive --into-command 'mbstream -x -C /restore' --listen 0.0.0.0:4440
  sealion receive --archive full.archive --recipient age1... --listen 0.0.0.0:4440

One copy is received. Until all of it is on the disk, the file .sealion-incomplete lies in the directory; a copy of
a directory that broke is gone on with by --resume. A tar or a backup stream of the sender is extracted into DIR,
its files decrypted and decompressed on the way if that is asked for.
Only exit code 0 says that all came: also where a program reads, which may have taken a break for the end."
)]
pub struct ReceiveArgs {
    /// Directory, which is not there yet, or empty
    #[arg(required_unless_present_any = ["into_command", "to_stdout", "archive"])]
    pub dir: Option<PathBuf>,
    /// Go on with a copy into DIR that did not end: what is there is compared, and not sent again
    #[arg(long, requires = "dir")]
    pub resume: bool,
    /// Give what a program writes at the sender to CMD, by /bin/sh; it must end with 0
    #[arg(long, value_name = "CMD", conflicts_with = "dir")]
    pub into_command: Option<String>,
    /// Write what a program writes at the sender to standard output
    #[arg(long, conflicts_with_all = ["dir", "into_command"])]
    pub to_stdout: bool,
    /// Decrypt files of a backup stream that end in .xbcrypt
    #[arg(long, value_enum, value_name = "ALGORITHM", ignore_case = true, requires_all = ["encrypt_key_file", "dir"], hide_short_help = true)]
    pub decrypt: Option<Cipher>,
    /// File with the key, exactly its bytes (mode 0600)
    #[arg(long, value_name = "FILE", requires = "decrypt", hide_short_help = true)]
    pub encrypt_key_file: Option<PathBuf>,
    /// Decompress files of a backup stream that end in .qp, .zst or .lz4
    #[arg(long, requires = "dir", hide_short_help = true)]
    pub decompress: bool,
    /// Keep the copy in this new encrypted FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dir", "into_command", "to_stdout"])]
    pub archive: Option<PathBuf>,
    #[command(flatten)]
    pub seal: SealArgs,
    /// Address and port to listen on; 0.0.0.0 is every address of this host
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:4440")]
    pub listen: SocketAddr,
    /// Write the code for the sender into this new FILE (mode 0600) and do not show it
    #[arg(long, value_name = "FILE")]
    pub code_file: Option<PathBuf>,
    #[command(flatten)]
    pub certificates: CertificateArgs,
}

pub fn receive(global: &Global, args: &ReceiveArgs) -> Result<u8, OpsError> {
    let (identity, code) = if let Some(identity) = args.certificates.identity() {
        (identity, None)
    } else {
        let code =
            Code::new().map_err(|error| OpsError::internal("the system has no random bytes", error))?;
        let text = code.text();
        (Identity::Code(code), Some(text))
    };
    let name = name(args);
    let options = ReceiveOptions { into: into(args)?, listen: args.listen, resumes: args.resume };
    let receiver = Receiver::new(options, &identity).map_err(ops)?;
    let address =
        receiver.address().map_err(|error| OpsError::internal("the kernel reports no address", error))?;
    match (&code, &args.code_file) {
        (Some(code), Some(path)) => keep(path, code)?,
        (Some(code), None) => show::tell(&format!("code for the sender: {}", code.expose_secret())),
        (None, _) => {}
    }
    for line in listening(address, &again(args)) {
        show::tell(&line);
    }
    let progress = Arc::new(Progress::default());
    let began = model::Clock::unix_ms(&model::SystemClock);
    let watch = Watch::start(&progress, interrupt::flag()?, "waiting for the sender");
    let turned_away = |error: &::stream::StreamError| {
        show::tell(&format!("turned away: {}", error.to_string().replace('\n', ";")));
    };
    let received = receiver.receive(&progress, &turned_away);
    drop(watch);
    let received = received.map_err(ops)?;
    if args.to_stdout {
        // What came is there.
        show::tell(&format!("received: {} bytes, all of them", received.data_bytes));
    } else {
        print(global, "receiver", &name, began, &progress, &received)?;
    }
    Ok(0)
}

/// Where it goes, as it was named.
fn name(args: &ReceiveArgs) -> String {
    match (&args.dir, &args.archive, &args.into_command) {
        (Some(path), _, _) | (None, Some(path), _) => path.display().to_string(),
        (None, None, Some(command)) => command.clone(),
        (None, None, None) => "-".into(),
    }
}

/// How it is started again, but for its address.
fn again(args: &ReceiveArgs) -> String {
    match (&args.dir, &args.archive, &args.into_command) {
        (Some(dir), _, _) if args.resume => format!("{} --resume", dir.display()),
        (Some(dir), _, _) => dir.display().to_string(),
        (None, Some(path), _) => format!("--archive {} …", path.display()),
        (None, None, Some(_)) => "--into-command …".into(),
        (None, None, None) => "--to-stdout".into(),
    }
}

fn into(args: &ReceiveArgs) -> Result<Into, OpsError> {
    if args.seal.is_given() && args.archive.is_none() {
        return Err(OpsError::usage(
            "a key is for an archive",
            "--recipient or --key-file is given, and --archive is not",
            "name the archive: --archive FILE",
        ));
    }
    Ok(match (&args.dir, &args.archive, &args.into_command) {
        (Some(dir), _, _) => {
            let decryption = decryption(args.decrypt, args.encrypt_key_file.as_deref())?;
            let layers = Layers { decryption, decompresses: args.decompress };
            Into::Directory { root: dir.clone(), layers }
        }
        (None, Some(path), _) => {
            let options = CreateOptions { seal: args.seal.seal()?, aead: None, packing: Packing::Zstd };
            Into::Archive { path: path.clone(), options }
        }
        (None, None, Some(command)) => Into::Command(Command(command.clone())),
        (None, None, None) => Into::Writer(Box::new(stdout("sealion receive --to-stdout > FILE")?)),
    })
}

/// Where it listens, and what the sender types.
fn listening(address: SocketAddr, dir: &str) -> Vec<String> {
    let port = address.port();
    if address.ip().is_loopback() {
        return vec![
            format!(
                "listening on {address}, which only this machine reaches; here: sealion send DIR --to {address}"
            ),
            format!(
                "to receive from another host, listen on an address that it reaches: sealion receive {} --listen 0.0.0.0:{port}",
                dir
            ),
        ];
    }
    let host = match address.ip() {
        ip if ip.is_unspecified() => "THIS_HOST".to_owned(),
        std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        std::net::IpAddr::V4(ip) => ip.to_string(),
    };
    vec![format!("listening on {address}; on the other host: sealion send DIR --to {host}:{port}")]
}

fn keep(path: &Path, code: &SecretString) -> Result<(), OpsError> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| writeln!(file, "{}", code.expose_secret()))
        .map_err(|error| {
            OpsError::usage(
                format!("cannot write the code to {}", path.display()),
                error.to_string(),
                "name a file that is not there yet",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_on_loopback_does_not_send_another_host_to_itself() {
        let lines = |address: &str| listening(address.parse().expect("an address"), "/restore").join("\n");
        let alone = lines("127.0.0.1:4440");
        assert!(!alone.contains("on the other host") && alone.contains("only this machine"), "{alone}");
        assert!(alone.contains("sealion receive /restore --listen 0.0.0.0:4440"), "{alone}");
        assert!(lines("0.0.0.0:4441").ends_with("--to THIS_HOST:4441"));
        assert!(lines("10.0.0.7:4441").ends_with("--to 10.0.0.7:4441"));
        assert!(lines("[fd00::7]:4441").ends_with("--to [fd00::7]:4441"));
    }
}
