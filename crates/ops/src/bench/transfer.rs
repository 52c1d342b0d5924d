//! What `sst` measures: a node that takes everything from its donor.
//!
//! The SST scripts read their option files at every transfer (reference: MariaDB, "Introduction to State Snapshot Transfers"), so
//! that one cluster serves both arms of a method.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::bench::cpu;
use ::bench::load::measure::{Tally, ns};
use ::bench::load::{Outcome, workload::Kind};
use capture::Canary;
use lab::layout::SST_PORT;
use lab::{NodeSpec, SstMethod, Wait};
use model::{Clock, SystemClock};
use net::{Client, ConnectOptions, Endpoint};
use report::shape::LoadReport;

use super::{Load, cannot_begin, keys, report};
use crate::labs::{self, Up};
use crate::servers::internal;
use crate::{OpsError, sniff};

/// What such a trial is called where others name a workload.
pub const SST: &str = "sst";
/// Of all tables together, at least: with fewer the time is that of a server's start.
pub const ROWS_MIN: u32 = 400_000;
/// Latencies end at a minute.
const TOLD_MAX: Duration = Duration::from_secs(60);
pub const NODES: u8 = 2;
const DONOR: &str = "n1";
const JOINER: &str = "n2";
/// Rows that hold the word which is looked for in what passes: they are in dozens of packets, so that one that is missed hides
/// nothing.
const WORDS: u32 = 20_000;

/// A joiner that is empty and stands still, and how it will be filled.
pub struct Transfer<'u> {
    up: &'u Up,
}

impl<'u> Transfer<'u> {
    /// `files`: certificates for TLS; `None` is clear text.
    ///
    /// # Errors
    /// The joiner does not stop; files that cannot be written.
    pub fn prepare(up: &'u Up, files: Option<&keys::Files>) -> Result<Self, OpsError> {
        if matches!(up.lab.state(JOINER)?, lab::supervisor::NodeState::Running { .. }) {
            up.lab.stop(JOINER)?;
        }
        let joiner = up.lab.node(JOINER)?;
        fs::remove_dir_all(joiner.datadir())
            .and_then(|()| fs::create_dir_all(joiner.datadir()))
            .map_err(internal("a joiner's data cannot be removed"))?;
        let text = options(up.lab.file.sst_method, files);
        for name in [DONOR, JOINER] {
            fs::write(option_file(up.lab.node(name)?), &text)
                .map_err(internal("an option file of the lab cannot be written"))?;
        }
        Ok(Self { up })
    }

    /// From the start of the joiner to Synced; `None` where somebody wanted the end.
    fn run(&self, stop: &AtomicBool) -> Result<Option<Duration>, OpsError> {
        let began = Instant::now();
        self.up.lab.start(JOINER, &[], Wait::Nothing)?;
        let members = usize::from(NODES);
        if labs::synced_unless(&self.up.cluster, &self.up.lab, JOINER, members, stop)?.is_none() {
            // A joiner takes its time to end by itself.
            self.up.lab.kill(JOINER)?;
            return Ok(None);
        }
        Ok(Some(began.elapsed()))
    }

    /// One transfer, as a measurement: it is an event, and a query.
    ///
    /// # Errors
    /// It fails.
    pub fn load(
        &self,
        targets: &[ConnectOptions],
        load: &Load,
        stop: &AtomicBool,
    ) -> Result<LoadReport, OpsError> {
        let started_unix_ms = SystemClock.unix_ms();
        let donor =
            targets.first().ok_or_else(|| OpsError::internal("there is no donor", "a lab has two"))?;
        let client = Client::connect(donor).map_err(cannot_begin)?;
        let server_version = client.server_version().to_owned();
        let _ = client.quit();
        let (before_us, own_us) = (self.spent_us(&[DONOR]), cpu::own_us());
        let took = self.run(stop)?;
        let spent_us = self.spent_us(&[DONOR, JOINER]).zip(before_us);
        let mut tally = Tally::default();
        if let Some(took) = took {
            // Whoever waits for it asks the joiner now and then.
            tally.user_us = cpu::own_us().saturating_sub(own_us);
            tally.event(ns(took));
            tally.query(Kind::Other, &wire::Answer::default(), ns(took));
        }
        let outcome = Outcome {
            tally,
            elapsed: took.unwrap_or_default(),
            connections: 1,
            workers: 1,
            connecting: Duration::ZERO,
            tls: None,
            server_version,
            server_cpu_us: spent_us.map(|(after, before)| after.saturating_sub(before)),
            energy_j: None,
            partial: if stop.load(Ordering::Relaxed) {
                Some("it was ended early".to_owned())
            } else {
                took.filter(|took| *took > TOLD_MAX).map(|took| {
                    format!("it took {:.0} s, and latencies end at 60: take fewer rows", took.as_secs_f64())
                })
            },
        };
        Ok(report(targets, load, &outcome, started_unix_ms))
    }

    /// Rows with the word that the joiner has. Its root is let in over the unix socket, without a password.
    fn arrived(&self, word: &Canary) -> Result<String, OpsError> {
        let socket = Endpoint::unix(self.up.lab.node(JOINER)?.socket());
        let mut client = Client::connect(&ConnectOptions::new(socket, "root")).map_err(cannot_begin)?;
        let sql = format!("SELECT COUNT(*) FROM sealion_bench_word.word WHERE word = '{}'", word.token());
        let counted = client.query(&sql).map_err(cannot_begin)?;
        Ok(counted.scalar().unwrap_or_default().into_owned())
    }

    /// CPU time of these servers, of all that they have started, and of what was left of it to the lab's supervisor.
    fn spent_us(&self, names: &[&str]) -> Option<u64> {
        let pids = labs::pids(self.up);
        let servers = names.iter().map(|name| pids.get(*name).copied());
        servers.chain([Some(self.up.lab.file.supervisor_pid)]).map(|pid| cpu::with_children_us(pid?)).sum()
    }

    /// A transfer that is watched: a word that lies in the donor's tables must pass in clear text, or must not be seen, and the
    /// joiner has it afterwards.
    ///
    /// # Errors
    /// It is not as it was to be; packets may not be captured here.
    pub fn proves(&self, word: &Canary, is_tls: bool, stop: &AtomicBool) -> Result<(), OpsError> {
        let spec = capture::Spec { iface: "lo".into(), ports: vec![SST_PORT], ring_bytes: 0 };
        let capture = capture::start(spec).map_err(cannot_begin)?;
        let took = self.run(stop)?;
        let seen = capture.stop();
        if took.is_none() {
            return Ok(());
        }
        let both = || seen.flows.iter().flat_map(|flow| [&flow.ab, &flow.ba]);
        let words: u64 = both().filter_map(|way| way.canaries.get(word.tag())).sum();
        let bytes: u64 = both().map(|way| way.bytes).sum();
        let arrived = self.arrived(word)?;
        let is_seen =
            seen.failed.is_none() && seen.packets > 10 * seen.kernel_drops && bytes > u64::from(WORDS);
        if is_seen && arrived == WORDS.to_string() && (words == 0) == is_tls {
            return Ok(());
        }
        let (is, be) = if is_tls { ("in clear text", "TLS") } else { ("by TLS", "clear text") };
        Err(OpsError::internal(
            format!("a transfer by {} may be {is}", self.up.lab.file.sst_method.as_str()),
            format!(
                "it was to be {be}, and a word that was sent was seen {words} times in {bytes} bytes of {} packets; {} more were missed, and {arrived} of {WORDS} rows with it arrived",
                seen.packets, seen.kernel_drops
            ),
        ))
    }
}

/// Puts a word into a table of the donor, to be looked for in what passes.
///
/// # Errors
/// What the donor refuses.
pub fn plant(donor: &ConnectOptions) -> Result<Canary, OpsError> {
    let word = Canary::new(sniff::random16());
    let mut client = Client::connect(donor).map_err(cannot_begin)?;
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

fn option_file(node: &NodeSpec) -> PathBuf {
    node.conf_d().join("70-sst.cnf")
}

/// Both ends check the other's chain. rsync takes the files for a wish; mariabackup has to be told.
fn options(method: SstMethod, files: Option<&keys::Files>) -> String {
    let Some(keys::Files { pair, ca }) = files else { return String::new() };
    let encrypt = match method {
        SstMethod::Rsync => "",
        SstMethod::Mariabackup => "encrypt=4\n",
    };
    format!(
        "[sst]\n{encrypt}tkey={}\ntcert={}\ntca={}\n",
        pair.key.display(),
        pair.cert.display(),
        ca.display()
    )
}
