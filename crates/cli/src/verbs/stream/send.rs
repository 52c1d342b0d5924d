//! `sealion send`.

use std::path::PathBuf;
use std::sync::Arc;

use ::stream::{Code, Identity, Progress, SendOptions};
use clap::Args;
use site::OpsError;

use super::{CertificateArgs, Watch, ops, print};
use crate::interrupt;
use crate::options::{Global, TABLE_OR_JSON, connect, formats};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion send /backup/full --to db2:4440
  sealion send /backup/full --to db2:4440 --code-file code

The receiver shows the code when it starts: sealion receive DIR --listen 0.0.0.0:4440"
)]
pub struct SendArgs {
    /// Directory; what a running server writes to is copied with its backup tool
    pub dir: PathBuf,
    /// Where `sealion receive` listens
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    /// Read the receiver's code from FILE (mode 0600); default: ask for it
    #[arg(long, value_name = "FILE")]
    pub code_file: Option<PathBuf>,
    /// Connections side by side; default: one for each processor, at most 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub connections: Option<u16>,
    /// Cipher suite; default: the first that both ends have
    #[arg(long, value_enum, value_name = "SUITE")]
    pub cipher: Option<Suite>,
    #[command(flatten)]
    pub certificates: CertificateArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Suite {
    Aes128,
    Aes256,
    Chacha20,
}

impl Suite {
    /// As OpenSSL names it.
    fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "TLS_AES_128_GCM_SHA256",
            Self::Aes256 => "TLS_AES_256_GCM_SHA384",
            Self::Chacha20 => "TLS_CHACHA20_POLY1305_SHA256",
        }
    }
}

const CONNECTIONS: usize = 4;

pub fn send(global: &Global, args: &SendArgs) -> Result<u8, OpsError> {
    // Before a code is typed for nothing.
    ::stream::can_be_sent(&args.dir).map_err(ops)?;
    let identity = match (args.certificates.identity(), &args.code_file) {
        (Some(identity), _) => identity,
        (None, file) => {
            let text = match file {
                Some(path) => site::inventory::read_secret(path, "code")?,
                None => connect::ask_secret("code", "--code-file FILE")?,
            };
            Identity::Code(Code::parse(&text).map_err(|why| {
                OpsError::usage("the code cannot be used", why, "type it as sealion receive has shown it")
            })?)
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let options = SendOptions {
        from: args.dir.clone(),
        to: args.to.clone(),
        // At most 4.
        connections: args.connections.unwrap_or(u16::try_from(processors.min(CONNECTIONS)).unwrap_or(1)),
        cipher_suites: args.cipher.map(|suite| suite.name().to_owned()),
    };
    let progress = Arc::new(Progress::default());
    let began = model::Clock::unix_ms(&model::SystemClock);
    let watch = Watch::start(&progress, interrupt::flag()?, "reading the directory");
    let sent = ::stream::send(&options, &identity, &progress);
    drop(watch);
    print(global, "sender", &args.dir, began, &progress, &sent.map_err(ops)?)?;
    Ok(0)
}
