//! What takes everything that somebody else has: as a measurement, and watched.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::bench::cpu;
use ::bench::load::measure::{Tally, ns};
use ::bench::load::{Outcome, TlsShape, workload::Kind};
use capture::Canary;
use model::{Clock, SystemClock};
use net::{Client, ConnectOptions};
use report::shape::{CopyRow, LoadReport};

use super::{Load, cannot_begin, per_gb, report};
use site::OpsError;

/// What a trial of such a transfer is called where others name a workload.
pub const SST: &str = "sst";
pub const REPLICATION: &str = "replication";
pub const COPY: &str = "copy";
/// Rows that hold the word which is looked for in what passes: they are in dozens of packets, so that one that is missed hides
/// nothing.
pub const WORDS: u32 = 20_000;
pub const WORDS_HELD: &str = "SELECT COUNT(*) FROM sealion_bench_word.word WHERE word";

/// Is an event of it such a transfer?
pub fn is_one(workload: &str) -> bool {
    [SST, REPLICATION, COPY].contains(&workload)
}

/// Who takes everything. It has nothing yet, and stands still.
pub trait Receiver {
    /// Until it has all; `None` where somebody wanted the end.
    ///
    /// # Errors
    /// It fails.
    fn take(&self, stop: &AtomicBool) -> Result<Option<Taken>, OpsError>;

    /// CPU time of all servers and programs that take part, as far as they run or were waited for.
    fn spent_us(&self) -> Option<u64>;

    /// Looks at what has come, behind a take: what that costs is not of it.
    ///
    /// # Errors
    /// It is not what the other end has.
    fn is_whole(&self) -> Result<(), OpsError> {
        Ok(())
    }
}

/// One whose transfers can be captured.
pub trait Watched: Receiver {
    /// What it takes part in.
    fn told(&self) -> String;

    /// Where what it takes comes from, or goes to.
    fn port(&self) -> u16;

    /// Rows with the word that it has now, in digits.
    ///
    /// # Errors
    /// It does not answer.
    fn words(&self, word: &str) -> Result<String, OpsError>;
}

/// What a receiver says of what it has taken.
#[derive(Debug, Clone)]
pub struct Taken {
    pub took: Duration,
    /// `None`: cleartext, or another one knows.
    pub tls: Option<TlsShape>,
    /// Of a copy of a donor's data, but for its CPU time.
    pub copy: Option<CopyRow>,
}

impl Taken {
    pub fn within(took: Duration) -> Self {
        Self { took, tls: None, copy: None }
    }
}

/// One transfer, as a measurement: it is an event, and a query.
///
/// # Errors
/// It fails.
pub fn load(
    receiver: &dyn Receiver,
    targets: &[ConnectOptions],
    load: &Load,
    stop: &AtomicBool,
) -> Result<LoadReport, OpsError> {
    let started_unix_ms = SystemClock.unix_ms();
    let giver = targets.first().ok_or_else(|| OpsError::internal("there is no donor", "a lab has two"))?;
    let client = Client::connect(giver).map_err(cannot_begin)?;
    let server_version = client.server_version().to_owned();
    let _ = client.quit();
    let (before_us, own_us) = (receiver.spent_us(), cpu::own_us());
    let taken = receiver.take(stop)?;
    let spent_us = receiver.spent_us().zip(before_us).map(|(after, before)| after.saturating_sub(before));
    let mut tally = Tally::default();
    if let Some(Taken { took, .. }) = taken {
        // Whoever waits for it asks now and then.
        tally.user_us = cpu::own_us().saturating_sub(own_us);
        tally.event(ns(took));
        tally.query(Kind::Other, &wire::Answer::default(), ns(took));
        tally.settle();
    }
    let outcome = Outcome {
        tally,
        elapsed: taken.as_ref().map(|taken| taken.took).unwrap_or_default(),
        warm_up: Duration::ZERO,
        was_warm: None,
        connections: 1,
        workers: 1,
        connecting: Duration::ZERO,
        tls: taken.as_ref().and_then(|taken| taken.tls.clone()),
        server_version,
        server_cpu_us: spent_us,
        energy_j: None,
        partial: stop.load(Ordering::Relaxed).then(|| "interrupted".to_owned()),
    };
    let mut report = report(targets, load, &outcome, started_unix_ms);
    if let Some(taken) = taken {
        receiver.is_whole()?;
        let cpu_s_per_gb = |bytes: u64| per_gb(spent_us? as f64, bytes);
        report.copy = taken.copy.map(|copy| CopyRow { cpu_s_per_gb: cpu_s_per_gb(copy.bytes), ..copy });
    }
    Ok(report)
}

/// A transfer that is watched: a word that lies in what is given must pass in cleartext, or must not be seen, and the receiver has
/// it afterwards.
///
/// # Errors
/// It is not as it was to be; packets may not be captured here.
pub fn proves(
    receiver: &dyn Watched,
    word: &Canary,
    is_tls: bool,
    stop: &AtomicBool,
) -> Result<(), OpsError> {
    let spec = capture::Spec { iface: "lo".into(), ports: vec![receiver.port()], ring_bytes: 0 };
    let capture = capture::start(spec).map_err(cannot_begin)?;
    let took = receiver.take(stop)?;
    let seen = capture.stop();
    if took.is_none() {
        return Ok(());
    }
    let both = || seen.flows.iter().flat_map(|flow| [&flow.ab, &flow.ba]);
    let words: u64 = both().filter_map(|way| way.canaries.get(word.tag())).sum();
    let bytes: u64 = both().map(|way| way.bytes).sum();
    let arrived = receiver.words(word.token())?;
    let is_seen = seen.failed.is_none() && seen.packets > 10 * seen.kernel_drops && bytes > u64::from(WORDS);
    if is_seen && arrived == WORDS.to_string() && (words == 0) == is_tls {
        return Ok(());
    }
    let (is, be) = if is_tls { ("in cleartext", "TLS") } else { ("over TLS", "cleartext") };
    Err(OpsError::internal(
        format!("{} may be {is}", receiver.told()),
        format!(
            "it should be {be}; a text that was sent was found {words} times in {bytes} bytes of {} packets; {} \
             more packets were lost, and {arrived} of {WORDS} rows with it arrived",
            seen.packets, seen.kernel_drops
        ),
    ))
}

/// Puts a word into a table of the donor, to be looked for in what passes.
///
/// # Errors
/// What the donor refuses.
pub fn plant(donor: &ConnectOptions) -> Result<Canary, OpsError> {
    let word = Canary::new(site::random16());
    let plain = ConnectOptions { tls: net::TlsOptions::with_mode(net::SslMode::Disabled), ..donor.clone() };
    let mut client = Client::connect(&plain).map_err(cannot_begin)?;
    for sql in [
        "CREATE DATABASE sealion_bench_word".to_owned(),
        "CREATE TABLE sealion_bench_word.word (id INT PRIMARY KEY, word VARCHAR(100)) ENGINE=InnoDB"
            .to_owned(),
        format!(
            "INSERT INTO sealion_bench_word.word SELECT seq, '{}' FROM sealion_bench_word.seq_1_to_{WORDS}",
            word.token()
        ),
    ] {
        client.execute(&sql).map_err(cannot_begin)?;
    }
    let _ = client.quit();
    Ok(word)
}
