//! `sealion send`, `receive`, `archive`, `xbstream` and `xbcrypt`.

pub mod archive;
mod input;
pub mod receive;
pub mod send;
pub mod xbcrypt;
pub mod xbstream;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::stream::{Certificates, Identity, Progress, StreamError, Summary};
use clap::Args;
use report::shape::{STREAM_SCHEMA_ID, StreamReport};
use site::OpsError;

use crate::options::{Format, Global};
use crate::show;

#[derive(Debug, Args)]
#[command(next_help_heading = "Certificates instead of a code")]
pub struct CertificateArgs {
    /// CA that signed the certificates of both ends
    #[arg(id = "ssl_ca", long = "ssl-ca", value_name = "FILE", requires_all = ["ssl_cert", "ssl_key"], conflicts_with = "code_file")]
    pub ca: Option<PathBuf>,
    /// Certificate of this end, and its chain
    #[arg(id = "ssl_cert", long = "ssl-cert", value_name = "FILE", requires = "ssl_ca")]
    pub cert: Option<PathBuf>,
    /// Its private key
    #[arg(id = "ssl_key", long = "ssl-key", value_name = "FILE", requires = "ssl_ca")]
    pub key: Option<PathBuf>,
}

impl CertificateArgs {
    /// `None`: a code is used.
    fn identity(&self) -> Option<Identity> {
        let (ca, cert, key) = (self.ca.clone()?, self.cert.clone()?, self.key.clone()?);
        Some(Identity::Certificates(Certificates { ca, cert, key }))
    }
}

/// The exit code follows from which one it is.
fn ops(error: StreamError) -> OpsError {
    match error {
        StreamError::Setup { what, why, next } => OpsError::usage(what, why, next),
        StreamError::Source { what, why, next } => {
            OpsError::cannot_look(format!("{what} cannot be sent"), why, next)
        }
        StreamError::Target { what, why, next } => {
            OpsError::cannot_look(format!("{what} cannot be written"), why, next)
        }
        StreamError::Connect { peer, why, next } => {
            OpsError::cannot_look(format!("no connection to {peer}"), why, next)
        }
        StreamError::Identity { peer, why, next } => {
            OpsError::cannot_look(format!("{peer} is not who it should be"), why, next)
        }
        StreamError::Broken { peer, why } => OpsError::cannot_look(
            format!("the connection with {peer} broke"),
            why,
            "go on with it: sealion receive --resume on the other host, then the same sealion send",
        ),
        StreamError::Peer { peer, why } => {
            // What the other end says has its own reason and next step.
            let mut lines = why.lines();
            let what = format!("{peer} gave up: {}", lines.next().unwrap_or_default());
            let part =
                |mark: &str| why.lines().find_map(|line| line.trim_start().strip_prefix(mark)).map(str::trim);
            OpsError::cannot_look(
                what,
                part("why:").unwrap_or("it says no more"),
                part("next:").unwrap_or("see what sealion says there"),
            )
        }
        StreamError::Protocol { peer, why } => OpsError::cannot_look(
            format!("{peer} sent what makes no sense"),
            why,
            "use the same version of sealion at both ends",
        ),
        StreamError::Content { what, at_bytes, why, next } => {
            OpsError::cannot_look(format!("{what}, at byte {at_bytes} of the stream"), why, next)
        }
        StreamError::Stopped => OpsError::cannot_look(
            "the copy was stopped",
            "Ctrl-C, or the other end has ended",
            "go on with the copy of a directory by sealion receive --resume; of anything else, nothing counts",
        ),
    }
}

/// Shows how far it is, and hands on Ctrl-C, until it is dropped.
struct Watch {
    _ticker: show::Ticker,
    is_over: Arc<AtomicBool>,
}

impl Watch {
    fn start(progress: &Arc<Progress>, stop: Arc<AtomicBool>, idle: &'static str) -> Self {
        let shown = Arc::clone(progress);
        let before = std::sync::Mutex::new((0, Instant::now()));
        let ticker = show::Ticker::start(move |_| {
            let mut before = before.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (done, now) = (shown.done_bytes(), Instant::now());
            let seconds = now.duration_since(before.1).as_secs_f64().max(0.001);
            let mut text =
                line(done, shown.total_bytes(), done.saturating_sub(before.0) as f64 / seconds, idle);
            if let Some(bottleneck) = shown.bottleneck().text() {
                text = format!("{text}; bottleneck: {bottleneck}");
            }
            *before = (done, now);
            text
        });
        let is_over = Arc::new(AtomicBool::new(false));
        let (progress, over) = (Arc::clone(progress), Arc::clone(&is_over));
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    progress.stop();
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Self { _ticker: ticker, is_over }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn line(done_bytes: u64, total_bytes: u64, bytes_per_s: f64, idle: &str) -> String {
    if total_bytes == 0 {
        // Of a stream that another program brings, nobody knows how much there is.
        return if done_bytes == 0 {
            idle.to_owned()
        } else {
            format!("{}, {}/s", amount(done_bytes as f64), amount(bytes_per_s))
        };
    }
    let left = total_bytes.saturating_sub(done_bytes) as f64;
    let eta = if bytes_per_s > 0.0 {
        format!(", {} left", show::duration(left / bytes_per_s))
    } else {
        String::new()
    };
    format!("{} of {}, {}/s{eta}", amount(done_bytes as f64), amount(total_bytes as f64), amount(bytes_per_s))
}

/// Decimal units, as disks and networks are sold.
fn amount(bytes: f64) -> String {
    match bytes {
        small if small < 1e6 => format!("{:.0} kB", small / 1e3),
        middle if middle < 1e9 => format!("{:.1} MB", middle / 1e6),
        large => format!("{:.2} GB", large / 1e9),
    }
}

/// What is said at the end.
fn print(
    global: &Global,
    role: &str,
    directory: &str,
    began_unix_ms: u64,
    progress: &Progress,
    summary: &Summary,
) -> Result<(), OpsError> {
    let ended_unix_ms = model::Clock::unix_ms(&model::SystemClock);
    if global.format == Format::Json {
        let report = StreamReport {
            schema: STREAM_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            started_unix_ms: began_unix_ms,
            ended_unix_ms,
            role: role.into(),
            directory: directory.to_owned(),
            files: summary.files,
            directories: summary.directories,
            links: summary.links,
            size_bytes: summary.size_bytes,
            data_bytes: summary.data_bytes,
            kept_bytes: summary.kept_bytes,
            connections: summary.connections,
            tls_version: summary.tls_version.clone(),
            cipher_suite: summary.cipher_suite.clone(),
            left_out: summary.left_out.iter().map(|path| path.display().to_string()).collect(),
        };
        show::out(
            &serde_json::to_string_pretty(&report)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?,
        );
        return Ok(());
    }
    // Without the time that one end has waited for the other.
    let seconds = progress.copying().unwrap_or_default().as_secs_f64().max(0.001);
    let how = if role == "sender" { "sent, and on the receiver's disk" } else { "received, and on the disk" };
    show::out(&format!(
        "{how}: {}, {} ({} with holes) in {seconds:.1} s, {}/s\n{}, {}, {}, both ends authenticated",
        model::text::counted(summary.files, "file", "files"),
        amount(summary.data_bytes as f64),
        amount(summary.size_bytes as f64),
        amount(summary.data_bytes as f64 / seconds),
        summary.tls_version,
        summary.cipher_suite,
        model::text::counted(summary.connections, "connection", "connections"),
    ));
    if summary.kept_bytes > 0 {
        show::out(&format!(
            "already there: {}, compared and not sent again",
            amount(summary.kept_bytes as f64)
        ));
    }
    for path in &summary.left_out {
        show::out(&format!("not sent: {} (a socket, a pipe or a device)", path.display()));
    }
    Ok(())
}
