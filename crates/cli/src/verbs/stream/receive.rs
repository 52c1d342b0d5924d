//! `sealion receive`.

use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::stream::{Code, Identity, Progress, ReceiveOptions, Receiver};
use clap::Args;
use net::ExposeSecret;
use site::{OpsError, SecretString};

use super::{CertificateArgs, Watch, ops, print};
use crate::options::{Global, TABLE_OR_JSON, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion receive /var/lib/mysql-new --listen 0.0.0.0:4440
  sealion receive /restore --listen 0.0.0.0:4440 --code-file code

One copy is received. Until all of it is on the disk, the file .sealion-incomplete lies in the directory."
)]
pub struct ReceiveArgs {
    /// Directory, which is not there yet, or empty
    pub dir: PathBuf,
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
    let options = ReceiveOptions { into: args.dir.clone(), listen: args.listen };
    let receiver = Receiver::new(&options, &identity).map_err(ops)?;
    let address =
        receiver.address().map_err(|error| OpsError::internal("the kernel reports no address", error))?;
    match (&code, &args.code_file) {
        (Some(code), Some(path)) => keep(path, code)?,
        (Some(code), None) => show::tell(&format!("code for the sender: {}", code.expose_secret())),
        (None, _) => {}
    }
    for line in listening(address, &args.dir) {
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
    print(global, "receiver", &args.dir, began, &progress, &received.map_err(ops)?)?;
    Ok(0)
}

/// Where it listens, and what the sender types.
fn listening(address: SocketAddr, dir: &Path) -> Vec<String> {
    let port = address.port();
    if address.ip().is_loopback() {
        return vec![
            format!(
                "listening on {address}, which only this machine reaches; here: sealion send DIR --to {address}"
            ),
            format!(
                "to receive from another host, listen on an address that it reaches: sealion receive {} --listen 0.0.0.0:{port}",
                dir.display()
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
        let lines =
            |address: &str| listening(address.parse().expect("an address"), Path::new("/restore")).join("\n");
        let alone = lines("127.0.0.1:4440");
        assert!(!alone.contains("on the other host") && alone.contains("only this machine"), "{alone}");
        assert!(alone.contains("sealion receive /restore --listen 0.0.0.0:4440"), "{alone}");
        assert!(lines("0.0.0.0:4441").ends_with("--to THIS_HOST:4441"));
        assert!(lines("10.0.0.7:4441").ends_with("--to 10.0.0.7:4441"));
        assert!(lines("[fd00::7]:4441").ends_with("--to [fd00::7]:4441"));
    }
}
