//! `sealion send`.

use std::path::PathBuf;
use std::sync::Arc;

use ::stream::{Code, Identity, Progress, SendOptions};
use clap::Args;
use site::OpsError;

use super::archive::source;
use super::{CertificateArgs, Watch, ops, print};
use crate::interrupt;
use crate::options::{Global, TABLE_OR_JSON, connect, formats};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion send /backup/full --to db2:4440
  sealion send --to db2:4440 --code-file code --from-command 'mariabackup --backup --stream=xbstream'

The receiver shows the code when it starts: sealion receive DIR --listen 0.0.0.0:4440"
)]
pub struct SendArgs {
    /// Directory; - is standard input. What a running server writes to is copied with its backup tool
    #[arg(required_unless_present = "from_command")]
    pub dir: Option<PathBuf>,
    /// Run CMD by /bin/sh and send what it writes; it must end with 0
    #[arg(long, value_name = "CMD", conflicts_with = "dir")]
    pub from_command: Option<String>,
    /// Where `sealion receive` listens
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    /// Read the receiver's code from FILE (mode 0600); default: ask for it
    #[arg(long, value_name = "FILE")]
    pub code_file: Option<PathBuf>,
    /// Connections side by side; default: one for each processor, at most 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub connections: Option<u16>,
    /// Cipher suite; default: the fastest, by a measurement at both ends
    #[arg(long, value_enum, value_name = "SUITE")]
    pub cipher: Option<Suite>,
    /// Compress pieces; auto: while the network is the bottleneck
    #[arg(long, value_enum, value_name = "METHOD", default_value = "auto")]
    pub compress: Compress,
    /// Send no more than this many bytes a second: 50M is 50 MB/s
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub rate_limit: Option<u64>,
    #[command(flatten)]
    pub certificates: CertificateArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Compress {
    Auto,
    Zstd,
    None,
}

/// Less would take longer for one piece than the other end waits.
const RATE_MIN: u64 = 100_000;

/// Decimal units, as networks are sold.
fn rate(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (text.get(..at), 1_000),
        Some((at, 'M')) => (text.get(..at), 1_000_000),
        Some((at, 'G')) => (text.get(..at), 1_000_000_000),
        _ => (Some(text), 1),
    };
    let number: Option<u64> = digits.and_then(|digits| digits.parse().ok());
    let rate = number.and_then(|number| number.checked_mul(factor));
    match rate {
        Some(rate) if rate >= RATE_MIN => Ok(rate),
        Some(_) => Err("at least 100k".into()),
        None => Err("a number of bytes a second, as in 500k, 50M or 1G".into()),
    }
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

const CONNECTIONS_MAX: usize = 4;

pub fn send(global: &Global, args: &SendArgs) -> Result<u8, OpsError> {
    // Before a code is typed for nothing.
    if let Some(dir) = args.dir.as_deref().filter(|dir| dir.as_os_str() != "-") {
        ::stream::can_be_sent(dir).map_err(ops)?;
    } else if args.from_command.is_none() && args.code_file.is_none() && args.certificates.ca.is_none() {
        return Err(OpsError::usage(
            "there is nobody to ask for the code",
            "standard input is what is sent",
            "name a file with the code: --code-file FILE",
        ));
    }
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
    let progress = Arc::new(Progress::default());
    let options = SendOptions {
        from: source(args.dir.as_deref(), args.from_command.as_deref(), &progress, false)?,
        to: args.to.clone(),
        connections: args.connections.unwrap_or(u16::try_from(processors.min(CONNECTIONS_MAX)).unwrap_or(1)),
        cipher_suites: args.cipher.map(|suite| suite.name().to_owned()),
        compress: match args.compress {
            Compress::Auto => ::stream::Compress::Auto,
            Compress::Zstd => ::stream::Compress::Zstd,
            Compress::None => ::stream::Compress::None,
        },
        bytes_per_s_max: args.rate_limit,
        renew_bytes: ::stream::RENEW_BYTES,
    };
    let began = model::Clock::unix_ms(&model::SystemClock);
    let watch = Watch::start(&progress, interrupt::flag()?, "reading the directory");
    let sent = ::stream::send(options, &identity, &progress);
    drop(watch);
    let name = args.dir.as_ref().map_or("-".into(), |dir| dir.display().to_string());
    print(global, "sender", &name, began, &progress, &sent.map_err(ops)?)?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_with_a_unit() {
        for (text, wanted) in
            [("100000", 100_000), ("500k", 500_000), ("50M", 50_000_000), ("1G", 1_000_000_000)]
        {
            assert_eq!(rate(text), Ok(wanted));
        }
        for wrong in ["", "M", "1", "99k", "1.5M", "-1M", "99999999999G", "5MB", "5µ"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
