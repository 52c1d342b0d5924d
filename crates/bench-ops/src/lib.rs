//! `sealion bench`: tables, and one measurement at a time. What becomes of measurements: [`experiment`], [`kept`],
//! [`compare`], [`advise`].

pub mod advise;
pub mod compare;
pub mod digests;
pub mod effect;
pub mod experiment;
pub mod file;
mod joiner;
pub mod kept;
mod keys;
pub mod links;
pub mod ramp;
mod replica;
pub mod rig;
mod seconds;
mod transfer;
mod transport;
mod vpn;

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::bench::cpu;
use ::bench::histogram;
use ::bench::load::tables::{self, Plan, TablesError};
use ::bench::load::user_script::{self, Template};
use ::bench::load::workload::{Options, Script, WORKLOADS};
use ::bench::load::{self, Interim, LoadError, Outcome, connects};
use model::{Clock, SystemClock};
use net::{Client, ConnectOptions, Endpoint};
use report::shape::{
    BENCH_LOAD_SCHEMA_ID, CpuRow, LatencyRow, LoadErrorRow, LoadReport, LoadTlsRow, SettingRow,
};

pub use ::bench::experiments::{self, EXPERIMENTS, Experiment};
pub use ::bench::load::tables::SCHEMA;
pub use ::bench::load::{random::Distribution, workload};
use seconds::Seconds;
use site::{Cluster, OpsError};

/// Connections and goodbyes: no statement, so no script.
pub const CONNECT: &str = "connect";
/// What most workloads count.
pub const QUERIES: &str = "queries";
/// A whole schema as mysqldump reads it.
pub const DUMP: &str = "dump";
/// Whole tables, one after the other (crate `bench`).
pub const STREAM: &str = "stream";
/// All data of a donor, by programs and without a server at the other end.
pub const COPY: &str = transfer::COPY;
/// What a measurement of statements of the user's own is called.
pub const SCRIPT: &str = "script";
pub const REPLAY: &str = "replay";

/// Names and what they do.
pub fn workloads() -> impl Iterator<Item = (&'static str, &'static str)> {
    let connect = (CONNECT, "connect and disconnect, again and again");
    let dump = (DUMP, "the whole schema, with the statements of mysqldump --single-transaction");
    WORKLOADS.iter().map(|workload| (workload.name, workload.about)).chain([dump, connect])
}

/// What the throughput and the costs of a workload are of: by what an event of it is.
pub fn counts(workload: &str) -> &'static str {
    match workload {
        CONNECT => "connections",
        transfer::SST | transfer::REPLICATION => "transfers",
        transfer::COPY => "copies",
        "stream" => "tables",
        _ => QUERIES,
    }
}

/// Statements of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserStatements {
    /// All in order are an event.
    Script(Vec<Template>),
    /// One by chance and weight is an event.
    Mix(Vec<Template>),
}

impl UserStatements {
    /// # Errors
    /// The file cannot be read, or is no script.
    pub fn script(path: &Path) -> Result<Self, OpsError> {
        let text = read(path)?;
        user_script::script(&text).map(Self::Script).map_err(|error| {
            OpsError::usage(
                format!("{} is not a script", path.display()),
                error.to_string(),
                "statements end with a ; at the end of a line; placeholders are {id}, {table}, {int:1..9}, {digits:8}",
            )
        })
    }

    /// And how many lines were something else than a statement.
    ///
    /// # Errors
    /// The file cannot be read, or is no general query log.
    pub fn log(path: &Path) -> Result<(Self, usize), OpsError> {
        let text = read(path)?;
        user_script::general_log(&text).map(|(found, others)| (Self::Mix(found), others)).map_err(|error| {
            OpsError::usage(
                format!("cannot replay {}", path.display()),
                error.to_string(),
                "use the file that general_log_file names, written while general_log was ON",
            )
        })
    }
}

fn read(path: &Path) -> Result<String, OpsError> {
    let unreadable = |why: String| {
        OpsError::usage(format!("cannot read {}", path.display()), why, "use a text file that you may read")
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let limit = u64::try_from(user_script::FILE_BYTES_MAX).unwrap_or(u64::MAX);
    std::io::Read::read_to_end(&mut std::io::Read::take(file, limit + 1), &mut bytes)
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() > user_script::FILE_BYTES_MAX {
        return Err(unreadable(format!("it is larger than {} MiB", user_script::FILE_BYTES_MAX >> 20)));
    }
    Ok(user_script::text_of(&bytes))
}

/// One measurement, as it was typed.
#[derive(Debug, Clone)]
pub struct Load {
    pub workload: String,
    /// What the workload sends, where it is none of ours.
    pub own: Option<UserStatements>,
    pub options: Options,
    pub schema: String,
    pub connections: usize,
    /// `None`: one for four processors.
    pub workers: Option<usize>,
    pub warm_up: Duration,
    /// It ends earlier, once the throughput does not change any more.
    pub detects_warm_up: bool,
    /// It runs in a network of its own: whatever passes there is of the measurement.
    pub watches_network: bool,
    pub time: Option<Duration>,
    pub events: Option<u64>,
    pub rate_per_s: Option<f64>,
    /// Of several connections by one call: in cleartext alone, so that it would be a part of what TLS is said to cost.
    pub sends_together: bool,
    pub seed: u64,
    /// Somebody has said that the schema may be written to, whoever made it.
    pub has_own_tables: bool,
    /// There is no database at the other end of `connect`, but an echo.
    pub is_echo: bool,
    /// Processes whose time is the server's, beside those that listen at the targets.
    pub beside_pids: Vec<i32>,
}

/// What to connect to, and with which TLS.
#[derive(Debug, Clone, Default)]
pub struct TlsWish {
    pub min_version: Option<net::TlsVersion>,
    pub max_version: Option<net::TlsVersion>,
    pub ciphers: Option<String>,
    pub ciphersuites: Option<String>,
    pub groups: Option<String>,
    pub signature_algorithms: Option<String>,
    pub record_bytes: Option<u16>,
    pub library: net::TlsLibrary,
}

impl TlsWish {
    /// Versions that are not chosen stay as they were.
    pub fn put_into(&self, tls: &mut net::TlsOptions) {
        tls.min_version = self.min_version.or(tls.min_version);
        tls.max_version = self.max_version.or(tls.max_version);
        tls.ciphers.clone_from(&self.ciphers);
        tls.ciphersuites.clone_from(&self.ciphersuites);
        tls.groups.clone_from(&self.groups);
        tls.signature_algorithms.clone_from(&self.signature_algorithms);
        tls.record_bytes = self.record_bytes;
        tls.library = self.library;
    }
}

/// How each node of the cluster is reached, over TCP where it has an address: a socket would have no TLS to price.
pub fn targets(cluster: &Cluster, tls: &TlsWish) -> Vec<ConnectOptions> {
    let of = |node: &server::NodeSpec| {
        let mut options = cluster.login_at(node);
        if !node.address.is_empty() {
            options.endpoint = Endpoint::tcp(node.address.clone(), node.port);
        }
        tls.put_into(&mut options.tls);
        options.tls.read_ahead = true;
        options.cache_metadata = true;
        options.connect_timeout = Duration::from_secs(30);
        "sealion bench".clone_into(&mut options.program_name);
        options
    };
    cluster.nodes.iter().map(of).collect()
}

/// Makes and fills the tables.
///
/// # Errors
/// A schema that is not ours; what the server refuses.
pub fn prepare(
    target: &ConnectOptions,
    plan: &Plan,
    stop: &AtomicBool,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<(), OpsError> {
    tables::prepare(target, plan, stop, progress).map_err(of_tables)
}

/// Drops the schema. False: it was not there.
///
/// # Errors
/// It is somebody else's; what the server refuses.
pub fn cleanup(target: &ConnectOptions, schema: &str) -> Result<bool, OpsError> {
    let mut client = Client::connect(target).map_err(cannot_connect)?;
    tables::cleanup(&mut client, schema).map_err(of_tables)
}

fn cannot_begin(error: impl std::fmt::Display) -> OpsError {
    let text = error.to_string();
    let mut lines = text.splitn(3, '\n').map(str::trim_start);
    let what = lines.next().unwrap_or_default().to_owned();
    let why = lines.next().unwrap_or_default().trim_start_matches("why:").trim().to_owned();
    let next = lines.next().unwrap_or_default().trim_start_matches("next:").trim().to_owned();
    OpsError::cannot_look(what, why, next)
}

/// What the command line wants of a connection may be what is wrong.
fn cannot_connect(error: net::NetError) -> OpsError {
    match error {
        net::NetError::Usage { why, next } => {
            OpsError::usage("cannot make a connection with these options", why, next)
        }
        other => cannot_begin(other),
    }
}

fn of_tables(error: TablesError) -> OpsError {
    match error {
        TablesError::NotOurs { .. } => OpsError::Refused(error.to_string()),
        TablesError::Name { schema } => OpsError::usage(
            format!("invalid schema name \"{}\"", wire::printable(&schema)),
            "allowed are 1 to 64 letters, digits and _",
            "choose another with --database",
        ),
        other => cannot_begin(other),
    }
}

/// Whether sealion has made this schema.
///
/// # Errors
/// There is none of this name.
pub fn schema_is_ours(target: &ConnectOptions, schema: &str) -> Result<bool, OpsError> {
    has_tables(target, schema, None)
}

/// `bulk`: for so many connections of `bulk_insert`, each with a table of its own.
fn has_tables(target: &ConnectOptions, schema: &str, bulk: Option<usize>) -> Result<bool, OpsError> {
    let mut client = Client::connect(target).map_err(cannot_connect)?;
    let is_ours = tables::is_ours(&mut client, schema).map_err(of_tables)?;
    let _ = client.quit();
    is_ours.ok_or_else(|| {
        OpsError::usage(
            format!("there is no schema {schema}"),
            "the tables of the workload must be in it",
            match bulk {
                None => "sealion bench prepare".to_owned(),
                Some(connections) => format!("sealion bench prepare --bulk --tables {connections}"),
            },
        )
    })
}

/// Measures once.
///
/// # Errors
/// When it could not be begun. What went wrong later is in the report, which then is not complete.
pub fn load(
    targets: &[ConnectOptions],
    load: &Load,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Interim),
) -> Result<LoadReport, OpsError> {
    let first = targets.first().ok_or_else(|| {
        OpsError::usage(
            "no server to load",
            "no server was given, and the inventory contains none",
            "give one: -h HOST -P PORT -u USER",
        )
    })?;
    let started_unix_ms = SystemClock.unix_ms();
    let mut server_pids = pids_behind(targets);
    // A relay's time, or that of a container's proxy, would pass for the server's.
    server_pids.retain(|pid| load.is_echo || cpu::is_mysql_server(*pid));
    server_pids.extend(&load.beside_pids);
    server_pids.sort_unstable();
    server_pids.dedup();
    let fail = |error: LoadError| match error {
        LoadError::Connect { error: error @ net::NetError::Usage { .. }, .. } => cannot_connect(error),
        // The very first one: then it is no matter of how many.
        LoadError::Connect { made: 0, error, .. }
            if !matches!(error, net::NetError::Refused { code: 1040, .. }) =>
        {
            cannot_begin(error)
        }
        other => cannot_begin(other),
    };
    if load.workload == CONNECT && (load.rate_per_s.is_some() || load.events.is_some()) {
        return Err(OpsError::usage(
            format!("{CONNECT} has no rate and no number of events"),
            "each thread connects again when it has disconnected, for a given time",
            "give the number of connections (-c) and the time (--time)",
        ));
    }
    let mut seconds = Seconds::new(load.watches_network);
    let progress: &mut dyn FnMut(Interim) = &mut |now| {
        seconds.note(now);
        progress(now);
    };
    let outcome = if load.workload == CONNECT {
        let spec = connects::Spec {
            peer: if load.is_echo { connects::Peer::Echo } else { connects::Peer::Mysql },
            targets: targets.to_vec(),
            threads: load.connections,
            warm_up: load.warm_up,
            time: load.time.unwrap_or(Duration::from_secs(10)),
            server_pids,
        };
        connects::run(&spec, stop, progress).map_err(fail)?
    } else {
        let script = match &load.own {
            Some(UserStatements::Script(all)) => Some(Script::own(all.clone(), &load.options)),
            Some(UserStatements::Mix(all)) => Some(Script::mix(all.clone(), &load.options)),
            None if load.workload == DUMP => Some(Script::dump(&load.options)),
            None => Script::of(&load.workload, &load.options),
        };
        let script = script.ok_or_else(|| {
            let names: Vec<&str> = workloads().map(|(name, _)| name).collect();
            OpsError::usage(
                format!("unknown workload \"{}\"", load.workload),
                format!("known are {}", names.join(", ")),
                "sealion bench list",
            )
        })?;
        if script.actions.is_empty() {
            return Err(OpsError::usage(
                format!("an event of {} has no statement", load.workload),
                "the options exclude all of them",
                "add some: --point-selects, --index-updates and the like",
            ));
        }
        let is_ours = has_tables(first, &load.schema, script.is_bulk().then_some(load.connections))?;
        match is_ours {
            // Of a schema that is ours too: a statement may name another one.
            _ if script.writes() && !load.has_own_tables && load.own.is_some() => {
                let (at, words) = script.first_write().unwrap_or_default();
                return Err(OpsError::Refused(format!(
                    "a statement of the {} may write, so nothing is sent\n  why:  it is number {at}: {} …\n  next: \
                     allow it with --own-tables; statements that begin with SELECT or SHOW, without INTO and FOR \
                     UPDATE, count as reads",
                    load.workload,
                    wire::printable(&words),
                )));
            }
            false if script.writes() && !load.has_own_tables => {
                return Err(of_tables(TablesError::NotOurs { schema: load.schema.clone(), is_load: true }));
            }
            _ => {}
        }
        let targets = targets
            .iter()
            .map(|target| ConnectOptions { database: Some(load.schema.clone()), ..target.clone() })
            .collect();
        let spec = load::Spec {
            targets,
            script,
            connections: load.connections,
            workers: load.workers.unwrap_or_else(|| default_workers(load.connections)),
            warm_up: load.warm_up,
            detects_warm_up: load.detects_warm_up,
            time: load.time,
            events: load.events,
            rate_per_s: load.rate_per_s,
            sends_together: load.sends_together,
            seed: load.seed,
            // Others each time: chance that is always the same looks like precision.
            arrivals_seed: started_unix_ms.rotate_left(32) ^ u64::from(std::process::id()),
            server_pids,
        };
        load::run(&spec, stop, progress).map_err(fail)?
    };
    let mut report = report(targets, load, &outcome, started_unix_ms);
    report.seconds = seconds.into_rows();
    report.kept_up = ramp::keeps_up(&report);
    Ok(report)
}

/// What was chosen, or left at its default, and changes what is measured; not what a report has in a place of its own.
pub(crate) fn settings(tls: Option<&net::TlsOptions>, load: &Load) -> Vec<SettingRow> {
    let mut rows = Vec::new();
    let mut put = |name: &str, value: String| rows.push(SettingRow { name: name.to_owned(), value });
    if let Some(tls) = tls {
        if let net::TlsLibrary::Rustls { resumes } = tls.library {
            put("tls-library", "rustls".into());
            let how = match resumes {
                net::Resumes::No => "false",
                net::Resumes::Any => "true",
                net::Resumes::ById => "session-id",
            };
            put("resume", how.into());
        }
        put("ssl-mode", tls.mode.to_string());
        for (name, value) in [
            ("tls-min", tls.min_version.map(|version| version.to_string())),
            ("tls-max", tls.max_version.map(|version| version.to_string())),
            ("ssl-cipher", tls.ciphers.clone()),
            ("tls-ciphersuites", tls.ciphersuites.clone()),
            ("tls-groups", tls.groups.clone()),
            ("tls-sigalgs", tls.signature_algorithms.clone()),
            ("tls-record-bytes", tls.record_bytes.map(|bytes| bytes.to_string())),
        ] {
            if let Some(value) = value {
                put(name, value);
            }
        }
    }
    // Without statements there are no tables either, and each connection has a thread.
    if load.workload == CONNECT {
        return rows;
    }
    // Nor where all is the binary log.
    if load.workload == transfer::REPLICATION {
        return rows;
    }
    put("database", load.schema.clone());
    // Where all of them are taken as they are, there are no statements.
    if [transfer::SST, transfer::COPY].contains(&load.workload.as_str()) {
        put("tables", load.options.tables.to_string());
        put("table-size", load.options.table_size.to_string());
        return rows;
    }
    if let Some(UserStatements::Script(all) | UserStatements::Mix(all)) = &load.own {
        // Two files of the same statements are the same, wherever they lie.
        let mut sha = openssl::sha::Sha256::new();
        for one in all {
            // With all its places.
            sha.update(format!("{one:?}\n").as_bytes());
        }
        let digest = model::hex(&sha.finish());
        put("statements", format!("{}, SHA-256 {}", all.len(), digest.get(..16).unwrap_or_default()));
    }
    let of = &load.options;
    // Left out it is as many as connections and TLS are worth; how many there were is in a report of its own.
    put("workers", load.workers.map_or_else(|| "auto".to_owned(), |workers| workers.to_string()));
    for (name, value) in [
        ("tables", of.tables),
        ("table-size", of.table_size),
        ("range-size", of.range_size),
        ("point-selects", of.point_selects),
        ("simple-ranges", of.simple_ranges),
        ("sum-ranges", of.sum_ranges),
        ("order-ranges", of.order_ranges),
        ("distinct-ranges", of.distinct_ranges),
        ("index-updates", of.index_updates),
        ("non-index-updates", of.non_index_updates),
        ("delete-inserts", of.delete_inserts),
    ] {
        put(name, value.to_string());
    }
    put("range-selects", of.range_selects.to_string());
    put("skip-trx", of.skip_trx.to_string());
    // Runs from before there was a choice prepared them.
    if of.is_text {
        put("text-protocol", "true".to_owned());
    }
    put("rand-type", of.distribution.to_string());
    rows
}

/// A thread drives a hundred thousand statements a second, and one for four processors leaves the others to a server that shares
/// them. Where there are only two processors both get one, as soon as there are two connections: one thread beside them leaves
/// a processor idle while it is told, and costs the server more for each statement (docs/benchmarks.md).
fn default_workers(connections: usize) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let most = processors.div_ceil(4).max(2).min(processors);
    connections.clamp(1, most)
}

/// Of servers on loopback, or behind a socket: others' CPU time cannot be read. A relay of ours is none.
fn pids_behind(targets: &[ConnectOptions]) -> Vec<i32> {
    let own = i32::try_from(std::process::id()).ok();
    let mut found = Vec::new();
    for target in targets {
        let pids = match &target.endpoint {
            Endpoint::Tcp { host, port, .. }
                if host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback()) =>
            {
                cpu::listeners_of(*port)
            }
            Endpoint::Tcp { .. } | Endpoint::Via(_) => vec![],
            Endpoint::Unix { path } => cpu::listeners_at(path),
        };
        for pid in pids {
            if Some(pid) != own && !found.contains(&pid) {
                found.push(pid);
            }
        }
    }
    found
}

fn report(targets: &[ConnectOptions], load: &Load, outcome: &Outcome, started_unix_ms: u64) -> LoadReport {
    let tally = &outcome.tally;
    let seconds = outcome.elapsed.as_secs_f64();
    let per_s = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let queries: u64 = tally.queries.iter().sum();
    let per_query = |us: u64| us as f64 / queries as f64;
    let [reads, writes, others] = tally.queries;
    let wire_bytes = tally.traffic.sent_bytes + tally.traffic.received_bytes;
    LoadReport {
        schema: BENCH_LOAD_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms,
        machine: site::machine::machine(),
        workload: load.workload.clone(),
        settings: settings(targets.first().map(|target| &target.tls), load),
        targets: targets.iter().map(|target| target.endpoint.to_string()).collect(),
        server_version: outcome.server_version.clone(),
        tls: outcome
            .tls
            .as_ref()
            .map(|tls| LoadTlsRow { version: tls.version.clone(), cipher: tls.cipher.clone() }),
        connections: outcome.connections,
        workers: outcome.workers,
        rate_per_s: load.rate_per_s,
        seed: load.seed,
        connecting_s: outcome.connecting.as_secs_f64(),
        warm_up_s: outcome.warm_up.as_secs_f64(),
        was_warm: outcome.was_warm,
        measured_s: seconds,
        is_complete: outcome.partial.is_none(),
        partial: outcome.partial.clone(),
        events: tally.events,
        events_per_s: per_s(tally.events),
        queries,
        queries_per_s: per_s(queries),
        reads,
        writes,
        others,
        rows: tally.rows,
        written_rows: tally.written_rows,
        answer_bytes: tally.answer_bytes,
        sent_bytes: tally.traffic.sent_bytes,
        received_bytes: tally.traffic.received_bytes,
        round_trips: tally.traffic.round_trips,
        rows_checksum: format!("{:016x}", tally.checksum),
        latency_ms: latency(&tally.event_ns),
        query_latency_ms: latency(&tally.query_ns),
        latency_histogram: histogram::encode(&tally.event_ns),
        client_cpu_us_per_query: (queries > 0).then(|| CpuRow {
            user: per_query(tally.user_us),
            system: per_query(tally.system_us),
            total: per_query(tally.user_us + tally.system_us),
        }),
        server_cpu_us_per_query: outcome.server_cpu_us.filter(|_| queries > 0).map(per_query),
        client_cpu_s_per_gb: per_gb((tally.user_us + tally.system_us) as f64, wire_bytes),
        server_cpu_s_per_gb: outcome.server_cpu_us.and_then(|us| per_gb(us as f64, wire_bytes)),
        machine_energy_j: outcome.energy_j,
        client_context_switches: tally.context_switches,
        handed_over: tally.handed_over,
        sent_together: tally.sent_together,
        retries: tally.retries,
        resumed: tally.resumed,
        late_at_end: tally.late_at_end,
        due: load.rate_per_s.map(|_| tally.due),
        kept_up: None,
        under_way_at_end: tally.under_way_at_end,
        oldest_under_way_ms: tally.oldest_under_way_ns as f64 / 1e6,
        errors: tally
            .errors
            .iter()
            .map(|(code, error)| LoadErrorRow {
                code: *code,
                message: error.message.clone(),
                count: error.count,
            })
            .collect(),
        lost_connections: tally.lost,
        seconds: vec![],
        copy: None,
    }
}

/// us of CPU time for so many bytes, in seconds for 10^9 of them.
fn per_gb(cpu_us: f64, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| cpu_us * 1e3 / bytes as f64)
}

fn latency(ns: &load::measure::Latencies) -> LatencyRow {
    let ms = |value: f64| (!ns.is_empty()).then_some(value / 1e6);
    let at = |quantile: f64| ms(ns.value_at_quantile(quantile) as f64);
    LatencyRow {
        min: ms(ns.min() as f64),
        mean: ms(ns.mean()),
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        p999: at(0.999),
        max: ms(ns.max() as f64),
    }
}
