//! `sealion demo`: the whole product, thin, on real servers.
//!
//! One cluster goes from cleartext to sealed while an application writes, and is looked at before and after. What the
//! report says was measured here; nothing is filled in.

mod change_recorder;
mod machine;
mod refusals;
mod writers;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bench::Target;
use bench::workload::{self, Block};
use lab::{LabOptions, Wait};
use model::{Change, Clock, LinkKind, LinkSight, Noun, Seen, SystemClock, Verb};
use net::{Client, ConnectOptions};
use report::shape::{self, ChangeRun, DemoReport, LinkRow, Outcome, PhaseEnd, PhaseRow, SeenWord};
use server::GaleraFacts;

use change_ops::roll::{self, Progress, Settings};
use site::OpsError;
use site::inventory::Cluster;
use site::labs::{self, Up};
use status_ops::sniff::{self, Sniffer};
use status_ops::status::{self, Status};

use change_recorder::Recorder;
use writers::Writers;

/// How long a block of the price phase measures; short, because a demo is.
const PRICE_S: u64 = 5;
const PRICE_WARM_UP_S: u64 = 1;
const PRICE_THREADS: u32 = 6;
/// Two writers a node.
const WRITERS: u32 = 6;
/// Writers run this long before the first step and after the last.
const WRITERS_MARGIN_MS: u64 = 1500;
/// What is captured after canaries were written.
const LOOK_MS: u64 = 1200;
/// Rows that a node misses while it is down, so that an IST has something to carry.
const IST_ROWS: u32 = 60;
const BUCKET_MS: u64 = 250;
/// Gaps below this are not called stalls: several commits wait for one fsync.
const STALL_MS_MIN: u64 = 250;
const NODES: u8 = 3;

#[derive(Debug, Clone)]
pub struct DemoOptions {
    pub lab: LabOptions,
    pub out: PathBuf,
    pub full: bool,
    pub settings: Settings,
}

/// What the demo made.
#[derive(Debug)]
pub struct Demo {
    pub report: DemoReport,
    pub html: PathBuf,
    pub json: PathBuf,
}

/// One line for people.
pub type Say<'s> = &'s mut dyn FnMut(&str);

struct Stage<'s> {
    say: Say<'s>,
    phases: Vec<PhaseRow>,
}

impl Stage<'_> {
    fn phase<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(Say<'_>) -> Result<T, OpsError>,
    ) -> Result<T, OpsError> {
        let started_unix_ms = SystemClock.unix_ms();
        (self.say)(&format!("\u{25b8} {name}"));
        let result = work(self.say);
        self.phases.push(PhaseRow {
            name: name.into(),
            started_unix_ms,
            took_ms: SystemClock.unix_ms() - started_unix_ms,
            ended: if result.is_ok() { PhaseEnd::Ok } else { PhaseEnd::Failed },
        });
        result
    }
}

fn cannot(what: &str) -> impl Fn(&dyn std::fmt::Display) -> OpsError + '_ {
    move |error| OpsError::internal(what, error)
}

fn targets(cluster: &Cluster) -> Vec<Target> {
    cluster
        .nodes
        .iter()
        .map(|node| Target { name: node.name.to_string(), host: node.address.clone(), port: node.port })
        .collect()
}

/// Runs the demo; the lab is ended when `Up` is dropped, unless it is kept. When it fails, the servers' logs and the
/// journals are saved beside the report first.
pub fn run(options: &DemoOptions, say: Say<'_>) -> Result<(Demo, Up), OpsError> {
    let mut up = None;
    let result = play(options, say, &mut up);
    if result.is_err() {
        let saved = save_logs(options);
        if saved > 0 {
            say(&format!("{saved} logs and journals were saved in {}", options.out.join("logs").display()));
        }
    }
    let demo = result?;
    up.map(|up| (demo, up)).ok_or_else(|| OpsError::internal("the demo ended without a cluster", ""))
}

fn save_logs(options: &DemoOptions) -> usize {
    let to = options.out.join("logs");
    let _ = std::fs::create_dir_all(&to);
    let mut saved = 0;
    let entries = |dir: &Path| {
        std::fs::read_dir(dir)
            .map(|all| all.filter_map(|one| Some(one.ok()?.path())).collect::<Vec<_>>())
            .unwrap_or_default()
    };
    for node in entries(&options.lab.dir) {
        let name = node.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        saved +=
            usize::from(std::fs::copy(node.join("log/error.log"), to.join(format!("{name}.log"))).is_ok());
    }
    for journal in entries(&options.lab.dir.join("operator/state/journals").join(&options.lab.name)) {
        if let Some(name) = journal.file_name() {
            saved += usize::from(std::fs::copy(&journal, to.join(name)).is_ok());
        }
    }
    saved
}

fn play(options: &DemoOptions, say: Say<'_>, slot: &mut Option<Up>) -> Result<Demo, OpsError> {
    let started_unix_ms = SystemClock.unix_ms();
    let mut stage = Stage { say, phases: Vec::new() };
    std::fs::create_dir_all(&options.out).map_err(|error| {
        OpsError::usage(
            format!("cannot create the directory {}", options.out.display()),
            error.to_string(),
            "choose another one with --out",
        )
    })?;
    // Refused here rather than after three minutes of work.
    let probe = options.out.join(".sealion-write-test");
    std::fs::write(&probe, b"").and_then(|()| std::fs::remove_file(&probe)).map_err(|error| {
        OpsError::usage(
            format!("cannot write into {}", options.out.display()),
            error.to_string(),
            "choose another one with --out",
        )
    })?;

    let up = stage.phase("start the first server as a new cluster", |_| {
        labs::first_node(&options.lab, &options.lab.dir.join("operator"))
    })?;
    let up = slot.insert(up);

    // Before: what a sniffer gets of SST, IST, replication and clients.
    let (mut sniffer, can_see) = match Sniffer::start(&up.cluster) {
        Ok(sniffer) => (Some(sniffer), String::new()),
        Err(error) => (None, error.to_string()),
    };
    stage.phase("two servers join by SST, one rejoins by IST, all captured in cleartext", |say| {
        let first = &targets(&up.cluster)[0];
        workload::prepare(&up.cluster.login, first)
            .map_err(|error| cannot("cannot fill the first server")(&error))?;
        rows(up, "n1", "sst")?;
        for n in 2..=NODES {
            labs::join(up, &format!("n{n}"), usize::from(n))?;
            let donor = transferred(up, &format!("n{n}"), sniffer.as_mut());
            say(&format!("n{n} is Synced, by {} from {donor}", up.lab.file.sst_method.as_str()));
        }
        come_back_by_ist(up, "n3")?;
        transferred(up, "n3", sniffer.as_mut());
        say("n3 rejoined by IST");
        Ok(())
    })?;
    let before = stage.phase("check what is configured, effective and seen", |say| {
        let sights = look(up, sniffer)?;
        let status = status::with_sights(
            &up.cluster,
            sights,
            if can_see.is_empty() { vec![] } else { vec![can_see.clone()] },
        );
        tell_status(&status, say);
        Ok(status)
    })?;
    let price_before = stage.phase("measure a short workload in cleartext", |say| price(up, say))?;

    // The roll, under load.
    let change = Change::new(Verb::Enable, Noun::ALL);
    let passphrase = up.cluster.passphrase(None)?;
    let mut recorder = Recorder::new();
    let dir = up.lab.file.dir.join("writers");
    let (roll_row, sealed) = stage.phase("enable galera,sst,clients while six clients write", |say| {
        let writers = Writers::start(up, &dir)?;
        std::thread::sleep(Duration::from_millis(WRITERS_MARGIN_MS));
        let plan = roll::plan(&up.cluster, &options.settings, passphrase.clone(), &change)?;
        recorder.begin();
        let result =
            roll::apply(&up.cluster, &options.settings, passphrase.clone(), &plan, &mut |progress| {
                tell_progress(&progress, say);
                recorder.take(&progress);
            });
        recorder.end();
        std::thread::sleep(Duration::from_millis(WRITERS_MARGIN_MS));
        let sealed = writers.stop()?;
        result?;
        say(&format!(
            "{} writes acknowledged, {} failed, longest stall {} ms",
            sealed.outcome.acknowledged,
            sealed.outcome.failed,
            sealed.longest_stall_ms()
        ));
        Ok((recorder.roll(&plan, &sealed, WRITERS, BUCKET_MS, STALL_MS_MIN), sealed))
    })?;

    // On the same three nodes as before, so that a fourth one on the same cores is not what is measured.
    let price_after = stage.phase("measure the same workload with TLS", |say| price(up, say))?;

    // After: the same looks, and three who must not get in. The capture has to know the one that is to join.
    lay_out_fourth(up)?;
    let mut sniffer = Sniffer::start(&up.cluster).ok();
    let (mut join, intruders) =
        stage.phase("a fourth node joins by SST; three intruders try to join or log in", |say| {
            let intruders = refusals::start(up, say)?;
            let mut join = fourth_node(up, &options.settings, passphrase.clone(), say)?;
            join.donor = transferred(up, &join.node, sniffer.as_mut());
            come_back_by_ist(up, "n3")?;
            transferred(up, "n3", sniffer.as_mut());
            say("n3 rejoined by IST");
            Ok((join, intruders))
        })?;
    let after = stage.phase("check again", |say| {
        let sights = look(up, sniffer)?;
        let status = status::with_sights(
            &up.cluster,
            sights,
            if can_see.is_empty() { vec![] } else { vec![can_see.clone()] },
        );
        tell_status(&status, say);
        Ok(status)
    })?;
    for (kind, seen) in [(LinkKind::Sst, &mut join.sst_seen), (LinkKind::Ist, &mut join.ist_seen)] {
        let sight = after.sights.iter().find(|sight| {
            sight.link.kind == kind && (sight.link.a == join.node || sight.link.b == join.node)
        });
        if let Some(sight) = sight {
            *seen = (&sight.seen).into();
        }
    }
    // After the capture: what the intruding client says in cleartext is not the application's.
    let refusals = stage.phase("results of the intruders", |say| refusals::finish(up, &intruders, say))?;

    let audited = stage.phase("audit: every acknowledged write, on every node", |say| {
        let lost = audit(up, &sealed.acks)?;
        say(&format!(
            "{} writes checked on {} nodes, {lost} lost",
            sealed.acks.len(),
            up.cluster.nodes.len()
        ));
        Ok(lost)
    })?;

    let at_rest = stage.phase("read the files of n1: data at rest", |say| at_rest(up, say))?;

    let mut full = Full::default();
    if options.full {
        stage.phase("the fourth node leaves the cluster", |_| leave(up, FOURTH))?;
        full = run_full(options, up, &mut stage)?;
    }

    let summary =
        summary(&before, &after, &sealed, audited, &refusals, &join, roll_row.1, &price_before, &price_after);
    let mut not_looked_at = before.not_looked_at.clone();
    not_looked_at.extend(after.not_looked_at.clone());
    not_looked_at.extend(up.cluster.capture.blind_spot().map(str::to_owned));
    not_looked_at.extend(NOT_LOOKED_AT.iter().map(|&line| line.to_owned()));
    not_looked_at.dedup();
    let report = DemoReport {
        schema: shape::SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms,
        ended_unix_ms: SystemClock.unix_ms(),
        machine: site::machine::machine(),
        servers: machine::servers(&before, up),
        method: shape::Method {
            capture: before.sights.first().map_or_else(|| format!("none: {can_see}"), |sight| {
                let place = if options.lab.namespace { ", in the demo's own network namespace" } else { "" };
                format!("{}{place}", sight.method)
            }),
            namespace: options.lab.namespace,
            sst_method: up.lab.file.sst_method.as_str().into(),
        },
        summary,
        cluster: machine::cluster(&before.cluster),
        status_before: machine::nodes(&before),
        status_after: machine::nodes(&after),
        findings_before: machine::findings(&before),
        findings_after: machine::findings(&after),
        refusals,
        join: Some(join),
        roll: roll_row.0,
        price: Some(shape::Price {
            note: "The two blocks have restarts between them. Caches, query plans and placement differ too, so the \
                   difference is not the effect of TLS alone, and no interval is given. The spread is that of the \
                   seconds within a block."
                .into(),
            workload: format!(
                "{PRICE_THREADS} connections, round robin over {NODES} nodes; a transaction is 3 point selects and \
                 1 update, closed loop, {PRICE_S} s after {PRICE_WARM_UP_S} s of warm-up; {} of {PRICE_THREADS} \
                 connections used TLS before, {} after",
                price_before.tls_connections, price_after.tls_connections
            ),
            before: block(&price_before),
            after: block(&price_after),
        }),
        disable: full.disable,
        undo: full.undo,
        rotation: full.rotation,
        enable_again: full.enable_again,
        at_rest: Some(at_rest),
        not_looked_at,
        see_again: machine::see_again(&options.lab),
        phases: stage.phases,
    };
    let (html, json) = (options.out.join("report.html"), options.out.join("report.json"));
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(|error| cannot("cannot write the report")(&error))
    };
    write(&html, report::render_html(&report))?;
    write(&json, report.to_json())?;
    Ok(Demo { report, html, json })
}

/// The one that joins at the end.
const FOURTH: &str = "n4";

const NOT_LOOKED_AT: &[&str] = &[
    "data at rest of the other nodes, temporary files, freed blocks, memory and swap",
    "connections of clients other than sealion's own and the writers'",
    "the strength of keys and cipher suites: TLS was captured, but not graded (sealion scan does)",
];

/// What the files of the first node hold, by kind and verdict. Nothing of it is encrypted here: the change was about connections.
fn at_rest(up: &Up, say: Say<'_>) -> Result<shape::AtRest, OpsError> {
    let node = up.lab.file.nodes.first().ok_or_else(|| OpsError::internal("the lab has no node", ""))?;
    let seen = status_ops::rest::rest(&node.datadir(), None, &disk::Progress::default())?;
    let mut rows: Vec<shape::AtRestRow> = Vec::new();
    // What lies outside is another node's too: the directory above is the lab's.
    let of_directory: Vec<_> = seen.artefacts.iter().filter(|one| one.named_by.is_none()).collect();
    for one in &of_directory {
        match rows.iter_mut().find(|row| row.kind == one.kind && row.verdict == one.verdict) {
            Some(row) => {
                row.files += 1;
                row.bytes += one.bytes;
            }
            None => rows.push(shape::AtRestRow {
                kind: one.kind.clone(),
                holds: one.holds.clone(),
                verdict: one.verdict,
                files: 1,
                bytes: one.bytes,
            }),
        }
    }
    rows.sort_by_key(|row| (disk::Kind::rank(&row.kind), row.verdict));
    let count = |is: fn(shape::RestVerdictWord) -> bool| {
        rows.iter().filter(|row| is(row.verdict)).map(|row| row.files).sum::<u64>()
    };
    say(&format!(
        "{} files of {}: {} plain, {} of kinds that this server cannot encrypt, {} unknown",
        of_directory.len(),
        node.name,
        count(|verdict| matches!(verdict, shape::RestVerdictWord::Plain | shape::RestVerdictWord::Mixed)),
        count(|verdict| verdict == shape::RestVerdictWord::Never),
        count(|verdict| verdict == shape::RestVerdictWord::Unknown)
    ));
    Ok(shape::AtRest {
        node: node.name.clone(),
        files: of_directory.len() as u64,
        read_bytes: seen.read_bytes,
        rows,
    })
}

/// Writes rows on one node through its socket, so that a transfer has something with a canary in it.
fn rows(up: &Up, node: &str, why: &str) -> Result<(), OpsError> {
    let spec = up.cluster.nodes.iter().find(|one| one.name.as_str() == node);
    let spec = spec.ok_or_else(|| OpsError::internal("the lab has no such node", node))?;
    let fail = |error: net::NetError| OpsError::internal(format!("cannot write canaries on {node}"), error);
    let mut client = Client::connect(&up.cluster.login_at(spec)).map_err(fail)?;
    client
        .execute(
            "CREATE TABLE IF NOT EXISTS sealion_demo.canaries (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
             why VARCHAR(16) NOT NULL, token VARCHAR(64) NOT NULL) ENGINE=InnoDB",
        )
        .map_err(fail)?;
    for _ in 0..IST_ROWS {
        let canary = capture::Canary::new(site::random16());
        let statement =
            format!("INSERT INTO sealion_demo.canaries (why, token) VALUES ('{why}', '{}')", canary.token());
        client.execute(&statement).map_err(fail)?;
    }
    Ok(())
}

/// A node is stopped, misses some rows, and gets them by IST when it is back.
fn come_back_by_ist(up: &Up, node: &str) -> Result<(), OpsError> {
    let members = running(up)?;
    up.lab.stop(node)?;
    rows(up, "n1", "ist")?;
    labs::join(up, node, members).map(|_| ())
}

fn running(up: &Up) -> Result<usize, OpsError> {
    let spec = up.cluster.nodes.first().ok_or_else(|| OpsError::internal("the lab has no node", ""))?;
    let mut node = up.cluster.live_node(spec);
    let view =
        server::ReadNode::view(&mut node).map_err(|error| OpsError::internal("n1 does not answer", error))?;
    Ok(view.cluster_size())
}

fn look(up: &Up, sniffer: Option<Sniffer>) -> Result<Vec<LinkSight>, OpsError> {
    let Some(mut sniffer) = sniffer else { return Ok(vec![]) };
    sniffer.write_canaries(&up.cluster).map_err(|error| cannot("cannot write canaries")(&error))?;
    let clients = application(up)?;
    std::thread::sleep(Duration::from_millis(LOOK_MS));
    let sights = sniffer.finish(&up.cluster);
    drop(clients);
    // The lab's own: they go with it.
    let _ = sniff::remove_canaries(&up.cluster);
    Ok(sights)
}

/// The application's sessions, one on each node: what sealion's own ones carry proves nothing of others. They take TLS where it
/// is offered, as most drivers do.
fn application(up: &Up) -> Result<Vec<Client>, OpsError> {
    let fail = |error: net::NetError| OpsError::internal("the application cannot log in", error);
    let mut clients = Vec::new();
    for node in &up.cluster.nodes {
        let mut client = Client::connect(&net::ConnectOptions {
            endpoint: net::Endpoint::tcp(node.address.clone(), node.port),
            ..up.app.clone().for_application()
        })
        .map_err(fail)?;
        let canary = capture::Canary::new(site::random16());
        client.query(&format!("SELECT '{}'", canary.token())).map_err(fail)?;
        clients.push(client);
    }
    Ok(clients)
}

fn tell_status(status: &Status, say: Say<'_>) {
    for kind in LinkKind::ALL {
        let of_kind: Vec<&LinkSight> = status.sights.iter().filter(|sight| sight.link.kind == kind).collect();
        let count = |word: &str| of_kind.iter().filter(|sight| sight.seen.word() == word).count();
        let canaries: u64 = of_kind.iter().map(|sight| sight.canaries).sum();
        if !of_kind.is_empty() {
            say(&format!(
                "{kind:<7} {} plain, {} sealed, {} unknown; {canaries} canaries found",
                count("plain"),
                count("sealed"),
                count("unknown")
            ));
        }
    }
    for sight in &status.sights {
        if let Seen::Unknown(why) = &sight.seen {
            say(&format!("{}: unknown, {why}", sight.link));
        }
    }
    for line in &status.not_looked_at {
        say(&format!("not checked: {line}"));
    }
}

fn tell_progress(progress: &Progress, say: Say<'_>) {
    match progress {
        Progress::Step { id, title, phase: "acting", at, of, .. } => {
            say(&format!("{at:>2}/{of} {id:<6} {title}"));
        }
        Progress::Failed { id, why } => say(&format!("{id} failed: {why}")),
        Progress::Line(line) => say(line),
        _ => {}
    }
}

fn price(up: &Up, say: Say<'_>) -> Result<Block, OpsError> {
    let spec = workload::Spec {
        targets: targets(&up.cluster).into_iter().take(usize::from(NODES)).collect(),
        threads: PRICE_THREADS,
        warm_up: Duration::from_secs(PRICE_WARM_UP_S),
        measure: Duration::from_secs(PRICE_S),
        server_pids: labs::pids(up).into_values().collect(),
        seed: 1,
    };
    let block = workload::run(&spec, &up.app).map_err(|error| cannot("cannot run the workload")(&error))?;
    say(&format!(
        "{:.0} transactions/s (sd {:.0}), p95 {:.1} ms, {} of {} connections over TLS",
        block.throughput_per_s,
        block.throughput_sd,
        block.latency_ms_p95,
        block.tls_connections,
        block.connections
    ));
    Ok(block)
}

fn block(block: &Block) -> shape::Block {
    shape::Block {
        seconds: block.seconds,
        transactions: block.transactions,
        per_s_samples: block.per_s_samples.clone(),
        throughput_per_s: block.throughput_per_s,
        throughput_sd: block.throughput_sd,
        latency_ms_p50: block.latency_ms_p50,
        latency_ms_p95: block.latency_ms_p95,
        latency_ms_p99: block.latency_ms_p99,
        client_cpu_us_per_txn: block.client_cpu_us_per_txn,
        server_cpu_us_per_txn: block.server_cpu_us_per_txn,
    }
}

fn lay_out_fourth(up: &mut Up) -> Result<(), OpsError> {
    if up.lab.file.hosts {
        up.lab.admit_spare(FOURTH)?;
    } else {
        up.lab.add_node(FOURTH)?;
    }
    labs::write_inventory(&up.lab, &up.lab.file.dir.join("operator"))?;
    up.cluster = Cluster::read(&up.inventory)?;
    Ok(())
}

fn fourth_node(
    up: &Up,
    settings: &Settings,
    passphrase: net::SecretString,
    say: Say<'_>,
) -> Result<shape::Join, OpsError> {
    let node = up.lab.node(FOURTH)?.clone();
    roll::equip(&up.cluster, settings, passphrase, &node.name)?;
    let began = SystemClock.unix_ms();
    up.lab.start(&node.name, &[], Wait::Nothing)?;
    let view = labs::synced(&up.cluster, &up.lab, &node.name, usize::from(NODES) + 1)?;
    let took_ms = SystemClock.unix_ms() - began;
    say(&format!(
        "n4 is Synced after {took_ms} ms, {}, cluster size {}",
        view.galera_state(),
        view.cluster_size()
    ));
    Ok(shape::Join {
        node: node.name.clone(),
        donor: String::new(),
        method: up.lab.file.sst_method.as_str().into(),
        took_ms,
        ist_seen: SeenWord::Unknown,
        sst_seen: SeenWord::Unknown,
        synced: view.is_synced(),
    })
}

/// Takes a node out of cluster, lab and inventory. What follows rolls the three nodes that rolls were tried on.
fn leave(up: &mut Up, node: &str) -> Result<(), OpsError> {
    up.lab.stop(node)?;
    up.lab.remove_node(node)?;
    labs::write_inventory(&up.lab, &up.lab.file.dir.join("operator"))?;
    up.cluster = Cluster::read(&up.inventory)?;
    labs::synced(&up.cluster, &up.lab, "n1", usize::from(NODES)).map(|_| ())
}

/// Tells the sniffer whose transfer that was; returns the donor.
fn transferred(up: &Up, joiner: &str, sniffer: Option<&mut Sniffer>) -> String {
    let donor = donor_of(up, joiner);
    if let Some(sniffer) = sniffer {
        sniffer.transferred(joiner, &donor);
    }
    donor
}

/// From the joiner's log: `Member 3.0 (n4) requested state transfer from '*any*'. Selected 1.0 (n2)(SYNCED) as donor.`
fn donor_of(up: &Up, joiner: &str) -> String {
    let log =
        up.lab.node(joiner).map(lab::NodeSpec::log).ok().and_then(|path| std::fs::read_to_string(path).ok());
    log.and_then(|text| {
        let line = text.lines().rev().find(|line| {
            line.contains(&format!("({joiner}) requested state transfer")) && line.contains("Selected")
        })?;
        let after = line.split("Selected").nth(1)?;
        Some(after.split('(').nth(1)?.split(')').next()?.to_owned())
    })
    .unwrap_or_else(|| "donor".into())
}

fn audit(up: &Up, acks: &[bench::writers::Ack]) -> Result<u64, OpsError> {
    let audits = bench::audit::audit(&targets(&up.cluster), &up.app, acks)
        .map_err(|error| cannot("cannot audit a node")(&error))?;
    let mut lost: Vec<(u32, u64)> = audits.into_iter().flat_map(|audit| audit.lost).collect();
    lost.sort_unstable();
    lost.dedup();
    Ok(lost.len() as u64)
}

#[allow(clippy::too_many_arguments)] // It is the sum of everything, once.
fn summary(
    before: &Status,
    after: &Status,
    sealed: &writers::Sealed,
    lost: u64,
    refusals: &[shape::Refusal],
    join: &shape::Join,
    restarts: u32,
    price_before: &Block,
    price_after: &Block,
) -> shape::Summary {
    let links = LinkRow::pair_up(&before.sights, &after.sights);
    let canaries = |sights: &[LinkSight]| sights.iter().map(|sight| sight.canaries).sum::<u64>();
    let (canaries_before, canaries_after) = (canaries(&before.sights), canaries(&after.sights));
    // A transfer goes between two nodes at a time: a pair that had none after is no gap while another had one.
    let kind_open = |kind: LinkKind| {
        let rows: Vec<&LinkSight> =
            after.sights.iter().filter(|sight| sight.link.kind == kind && sight.payload_bytes > 0).collect();
        rows.is_empty() || rows.iter().any(|sight| sight.seen != Seen::Sealed)
    };
    let pairs_open = after
        .sights
        .iter()
        .filter(|sight| matches!(sight.link.kind, LinkKind::Galera | LinkKind::Client))
        .any(|sight| sight.seen != Seen::Sealed);
    let mut failures = Vec::new();
    if lost > 0 {
        failures.push(format!("{lost} acknowledged writes were lost"));
    }
    if sealed.outcome.failed > 0 {
        failures.push(format!("{} transactions failed during the change", sealed.outcome.failed));
    }
    if canaries_after > 0 {
        failures.push(format!("{canaries_after} canaries were found after the change"));
    }
    if after.sights.iter().any(|sight| sight.seen == Seen::Plain) {
        failures.push("cleartext was captured on a link after the change".into());
    }
    for refusal in refusals.iter().filter(|refusal| !refusal.refused) {
        failures.push(format!("the {} was accepted", refusal.who));
    }
    if !join.synced {
        failures.push(format!("{} did not join", join.node));
    }
    let (verdict, verdict_why) = if !failures.is_empty() {
        (Outcome::Failed, format!("{}.", failures.join("; ")))
    } else if pairs_open || LinkKind::OF_GALERA.into_iter().any(kind_open) {
        (Outcome::Unproven, "Nothing failed, but not every link could be verified.".into())
    } else {
        (
            Outcome::Proven,
            "Every link with traffic carried only TLS, in a capture that found the cleartext control. No \
             acknowledged write was lost, and every intruder was rejected."
                .into(),
        )
    };
    shape::Summary {
        verdict,
        verdict_why,
        acknowledged_writes: sealed.outcome.acknowledged,
        acknowledged_writes_lost: lost,
        failed_transactions: sealed.outcome.failed,
        longest_stall_ms: sealed.longest_stall_ms(),
        canaries_seen_before: canaries_before,
        canaries_seen_after: canaries_after,
        links,
        throughput_ratio: (price_before.throughput_per_s > 0.0)
            .then(|| price_after.throughput_per_s / price_before.throughput_per_s),
        restarts,
    }
}

#[derive(Default)]
struct Full {
    disable: Option<ChangeRun>,
    undo: Option<ChangeRun>,
    rotation: Option<shape::Rotation>,
    enable_again: Option<ChangeRun>,
}

/// Rotation, disable, undo of it, disable once more and enable again, each under writers.
fn run_full(options: &DemoOptions, up: &Up, stage: &mut Stage<'_>) -> Result<Full, OpsError> {
    let login: &ConnectOptions = &up.app;
    let serials_before = machine::serials(&up.cluster, login);
    let mut full = Full::default();
    let rotated = under_writers(
        options,
        up,
        stage,
        "rotate every certificate without a restart",
        "rotate",
        |say, recorder| change(options, up, &Change::new(Verb::Rotate, Noun::ALL), say, recorder),
    )?;
    let serials_after = machine::serials(&up.cluster, login);
    full.rotation = Some(shape::Rotation {
        started_unix_ms: rotated.started_unix_ms,
        ended_unix_ms: rotated.ended_unix_ms,
        connections_cut: rotated.failed_transactions,
        restarts: rotated.restarts,
        steps: rotated.steps,
        serials: serials_before
            .into_iter()
            .zip(serials_after)
            .map(|((node, before, _), (_, after, not_after_unix))| shape::SerialRow {
                node,
                serial_before: before,
                serial_after: after,
                not_after_unix,
            })
            .collect(),
    });
    full.disable =
        Some(under_writers(options, up, stage, "disable TLS under load", "disable", |say, recorder| {
            change(options, up, &Change::new(Verb::Disable, Noun::ALL), say, recorder)
        })?);
    full.undo = Some(under_writers(options, up, stage, "undo that", "undo", |say, recorder| {
        go_back(options, up, say, recorder)
    })?);
    under_writers(options, up, stage, "disable TLS again", "disable-2", |say, recorder| {
        change(options, up, &Change::new(Verb::Disable, Noun::ALL), say, recorder)
    })?;
    full.enable_again =
        Some(under_writers(options, up, stage, "enable TLS again", "enable-again", |say, recorder| {
            change(options, up, &Change::new(Verb::Enable, Noun::ALL), say, recorder)
        })?);
    Ok(full)
}

fn change(
    options: &DemoOptions,
    up: &Up,
    wish: &Change,
    say: Say<'_>,
    recorder: &mut Recorder,
) -> Result<(), OpsError> {
    let passphrase = up.cluster.passphrase(None)?;
    let plan = roll::plan(&up.cluster, &options.settings, passphrase.clone(), wish)?;
    roll::apply(&up.cluster, &options.settings, passphrase, &plan, &mut |progress| {
        tell_progress(&progress, say);
        recorder.take(&progress);
    })
    .map(|_| ())
}

fn go_back(options: &DemoOptions, up: &Up, say: Say<'_>, recorder: &mut Recorder) -> Result<(), OpsError> {
    let passphrase = up.cluster.passphrase(None)?;
    roll::go_on(
        &up.cluster,
        &options.settings,
        passphrase,
        Some(::change::Direction::Back),
        &mut |progress| {
            tell_progress(&progress, say);
            recorder.take(&progress);
        },
    )
    .map(|_| ())
}

fn under_writers(
    _: &DemoOptions,
    up: &Up,
    stage: &mut Stage<'_>,
    name: &str,
    word: &str,
    work: impl FnOnce(Say<'_>, &mut Recorder) -> Result<(), OpsError>,
) -> Result<ChangeRun, OpsError> {
    stage.phase(name, |say| {
        let dir = up.lab.file.dir.join("writers");
        let writers = Writers::start(up, &dir)?;
        let mut recorder = Recorder::new();
        recorder.begin();
        let result = work(say, &mut recorder);
        recorder.end();
        let sealed = writers.stop()?;
        result?;
        let lost = audit(up, &sealed.acks)?;
        say(&format!(
            "{} writes acknowledged, {lost} lost, {} failed, longest stall {} ms",
            sealed.outcome.acknowledged,
            sealed.outcome.failed,
            sealed.longest_stall_ms()
        ));
        Ok(recorder.change_run(word, &sealed, lost))
    })
}
