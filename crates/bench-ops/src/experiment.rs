//! `sealion bench run`: blocks of trials in random order, and what can be said of them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::bench::experiments::{self, Arm, ArmTls, Checks, Experiment, Measure, Place, bases};
use ::bench::histogram;
use ::bench::load::echo::Pair;
use ::bench::load::measure::Latencies;
use ::bench::machine::{Ticks, slowed_for_heat};
use ::bench::stats::{BLOCKS_MIN, Blocks, Ratio, mean_and_deviation, mean_interval, order};
use model::{Clock, SystemClock};
use net::{ConnectOptions, Resumes, SslMode, TlsLibrary};
use report::shape::{
    ArmRow, BENCH_RUN_SCHEMA_ID, ComparisonRow, CopyRow, CpuRow, LevelRow, LoadReport, PercentileRow,
    PublishedFigure, PublishedTable, RunReport, SettingRow, TrialRow,
};

use super::links::Links;
use super::rig::{Reached, Rig};
use super::transfer;
use super::{Load, load, settings};
use site::OpsError;

/// Over that others' work, or the host's, is in the figures.
const OTHERS_SHARE_MAX: f64 = 0.10;
const STEAL_SHARE_MAX: f64 = 0.02;
/// From the first block to the last.
const DRIFT_SHARE_MIN: f64 = 0.05;
/// The first of each thread begins without one.
const NOT_RESUMED_SHARE_MAX: f64 = 0.05;
/// With `--precision` no more blocks than this.
const BLOCKS_MAX: usize = 60;

/// How an experiment is run.
#[derive(Debug, Clone)]
pub struct Method {
    pub blocks: usize,
    /// Go on until every comparison is as narrow as this, as half an interval by the ratio.
    pub precision: Option<f64>,
    /// Few levels and no interval: to see that all is as it should be.
    pub is_quick: bool,
    /// One trial, with its warm-up. Of `workload`, `connections`, `time` and `has_own_tables` it takes what the experiment says.
    pub load: Load,
}

/// Where it is.
#[derive(Debug, Clone, Copy)]
pub struct TrialProgress<'a> {
    pub arm: &'a str,
    pub connections: u32,
    /// From 1.
    pub block: usize,
    pub trials_done: usize,
    /// As far as is known: `--precision` may want more.
    pub trials: usize,
}

/// What was on the machine beside client and server, a share a trial; `None`: nobody knows.
#[derive(Default)]
struct Noise {
    others: Vec<Option<f64>>,
    steal: Vec<Option<f64>>,
}

/// Runs it. A figure that cannot be used is in the report all the same, with the reason.
///
/// # Errors
/// When what it needs is not there, or a trial could not be begun.
pub fn run(
    rig: &mut Rig,
    experiment: &Experiment,
    method: &Method,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(TrialProgress<'_>),
    say: &mut dyn FnMut(&str),
) -> Result<RunReport, OpsError> {
    let started_unix_ms = SystemClock.unix_ms();
    let mut random = fastrand::Rng::with_seed(method.load.seed);
    let mut asked = method.load.clone();
    asked.watches_network = rig.is_lab();
    // The same generator for all arms, on every kernel.
    asked.sends_together = false;
    asked.options.table_size = rig.table_size(asked.options.table_size, experiment);
    let own = [u32::try_from(method.load.connections).unwrap_or(u32::MAX)];
    let levels = if experiment.connections.is_empty() { own.to_vec() } else { chosen(experiment, method) };
    let mut why_not: Vec<String> = Vec::new();
    let heat = slowed_for_heat();
    let mut noise = Noise::default();
    let mut imprecise: Vec<String> = Vec::new();
    let (wished, mut left_out) = possible(rig, experiment);
    // It takes as long as it takes.
    let is_transfer = transfer::is_one(experiment.workload);
    let is_ready = experiments::experiment(experiment.name).is_some();
    let mut arms: Vec<Arm> = Vec::new();
    // All of them before the first trial: what starts takes time from what runs.
    for arm in wished {
        match rig.reach(&arm, stop, say) {
            Ok(reached) => match refused(&arm, reached, is_ready) {
                None => arms.push(arm),
                Some(why) => left_out.push(format!("{}: {why}", arm.name)),
            },
            // A tunnel or a transfer that this machine has not is no reason to have no answer.
            Err(error) if is_spared(&arm) && !stop.load(Ordering::Relaxed) => {
                left_out.push(format!("{}: {}", arm.name, in_one_line(&error)));
            }
            Err(error) => return Err(error),
        }
    }
    if bases(&arms).iter().all(Option::is_none) {
        return Err(OpsError::usage(
            format!(
                "\"{}\" cannot be measured on this server: fewer than two arms are possible",
                experiment.name
            ),
            left_out.join("; "),
            if left_out.iter().any(|why| why.ends_with(NO_CLEARTEXT)) {
                format!(
                    "measure it in a lab (sealion bench run {} --lab), or let clients connect in cleartext for the time of the measurement \
                     (sealion disable require-tls)",
                    experiment.name
                )
            } else {
                "measure it in a lab: the same command with --lab and without a server".to_owned()
            },
        ));
    }
    let links = links_of(rig, &arms)?;
    let mut rows = Vec::new();
    let (mut server_versions, mut is_same_machine) = (BTreeSet::new(), false);
    let (mut trials_done, mut is_broken) = (0, false);
    for &connections in &levels {
        let at_once = model::text::counted(connections, "connection", "connections");
        let mut blocks = Blocks::default();
        let mut seen: Vec<Vec<LoadReport>> = arms.iter().map(|_| Vec::new()).collect();
        let mut tries = 0;
        while !stop.load(Ordering::Relaxed)
            && !is_broken
            && tries < BLOCKS_MAX
            && wants_more(&blocks, &arms, method, tries)
        {
            tries += 1;
            let mut block: Vec<Option<LoadReport>> = arms.iter().map(|_| None).collect();
            for arm in order(arms.len(), &mut random) {
                let Some(one) = arms.get(arm) else { continue };
                progress(TrialProgress {
                    arm: one.name,
                    connections,
                    block: tries,
                    trials_done,
                    trials: levels.len() * method.blocks.max(tries) * arms.len(),
                });
                let Reached { targets, beside_pids, is_echo, client, way } = rig.reach(one, stop, say)?;
                let targets: Vec<_> =
                    targets.iter().map(|target| with_tls(target, one.tls, client.as_ref())).collect();
                let trial = Load {
                    workload: experiment.workload.into(),
                    connections: connections as usize,
                    // Another one each time, and the same for all arms of a block.
                    seed: method.load.seed.wrapping_add(tries as u64),
                    beside_pids,
                    is_echo,
                    ..asked.clone()
                };
                // What it takes to make ready is not of it.
                let receiver = rig.receiver(one.place);
                let before = Ticks::now();
                let measured = match (receiver, &way) {
                    (Err(error), _) => Err(error),
                    (Ok(Some(receiver)), _) => transfer::load(&*receiver, &targets, &trial, stop),
                    (Ok(None), None) => load(&targets, &trial, stop, &mut |_| {}),
                    (Ok(None), Some(way)) => way.load(&targets, &trial, stop),
                };
                let report = match measured {
                    Ok(report) => report,
                    // What was measured until then is worth having.
                    Err(error) if trials_done > 0 => {
                        why_not.push(format!("{}, {at_once}: {}", one.name, in_one_line(&error)));
                        is_broken = true;
                        break;
                    }
                    Err(error) => return Err(error),
                };
                trials_done += 1;
                noise.note(before, Ticks::now(), &report);
                if let Some(share) = not_resumed(one, &report) {
                    why_not.push(format!(
                        "{}, {at_once}: {share:.0} % of them did not resume a session",
                        one.name
                    ));
                }
                if let Some(why) = &report.partial {
                    why_not.push(format!("{}, {at_once}: {why}", one.name));
                }
                if let Some(slot) = block.get_mut(arm) {
                    *slot = Some(report);
                }
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
            let whole: Option<Vec<LoadReport>> =
                block.into_iter().map(|report| report.filter(|report| report.is_complete)).collect();
            // Half a block would compare what ran at other times.
            let Some(whole) = whole else { continue };
            if blocks.push(whole.iter().map(|report| figure(experiment.measure, report)).collect()) {
                for (list, report) in seen.iter_mut().zip(whole) {
                    server_versions.insert(report.server_version.clone());
                    is_same_machine |= report.server_cpu_us_per_query.is_some();
                    list.push(report);
                }
            } else {
                why_not.push(format!("{at_once}: a block was left out, because one of its arms did nothing"));
            }
        }
        if let Some(wished) =
            method.precision.filter(|_| wants_more(&blocks, &arms, method, tries.max(method.blocks)))
        {
            imprecise.push(format!(
                "{at_once}: the requested precision ({:.1} %) was not reached in {tries} blocks",
                wished * 100.0
            ));
        }
        for (place, arm) in arms.iter().enumerate() {
            if let Some(drift) = blocks.drift(place, DRIFT_SHARE_MIN, method.load.seed) {
                why_not.push(format!(
                    "{}, {at_once}: it changed by {:+.0} % during the run",
                    arm.name,
                    drift * 100.0
                ));
            }
        }
        rows.push(level(&arms, connections, &blocks, &seen, method.load.seed));
    }
    let ended_unix_ms = SystemClock.unix_ms();
    why_not.extend(noise.complaints());
    let mut not_looked_at = noise.unknown();
    match heat.zip(slowed_for_heat()).map(|(before, after)| after.saturating_sub(before)) {
        Some(0) => {}
        Some(times) => {
            why_not
                .push(format!("the processors reduced their speed {times} times, because they were too hot"));
        }
        None => not_looked_at.push(
            "whether a processor reduced its speed because of heat: the kernel does not report it".into(),
        ),
    }
    not_looked_at.extend(imprecise);
    not_looked_at.extend(links.iter().filter_map(|(name, before)| {
        before.unknown().map(|why| format!("whether all links of {name} were TLS before the trials: {why}"))
    }));
    if !stop.load(Ordering::Relaxed) {
        match links_of(rig, &arms) {
            Ok(now) => {
                for ((name, before), (_, now)) in links.iter().zip(&now) {
                    why_not.extend(
                        before
                            .changed(now)
                            .map(|what| format!("{name}: a link changed during the run: {what}")),
                    );
                    not_looked_at
                        .extend(now.unknown().map(|why| format!("whether a link of {name} changed: {why}")));
                }
            }
            Err(error) => why_not.push(in_one_line(&error)),
        }
    }
    if rows.iter().any(|level: &LevelRow| level.blocks < BLOCKS_MIN) {
        not_looked_at.push(format!(
            "whether an arm became faster or slower during the run: that needs {BLOCKS_MIN} complete blocks"
        ));
    }
    if stop.load(Ordering::Relaxed) {
        why_not.push("interrupted".into());
    }
    let mut said = BTreeSet::new();
    why_not.retain(|why| said.insert(why.clone()));
    Ok(RunReport {
        schema: BENCH_RUN_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms,
        ended_unix_ms,
        experiment: experiment.name.into(),
        question: experiment.question.into(),
        workload: experiment.workload.into(),
        unit: match experiment.measure {
            Measure::QueriesPerS => "queries/s".into(),
            Measure::EventsPerS => "events/s".into(),
        },
        targets: rig.told(),
        server_version: Vec::from_iter(server_versions).join(" and "),
        is_same_machine,
        processors: Ticks::now().map_or(1, Ticks::processors),
        machine: site::machine::machine(),
        settings: settings(rig.asked_tls(), &Load { workload: experiment.workload.into(), ..asked })
            .into_iter()
            .chain([described(experiment)])
            .collect(),
        trial_s: method.load.time.filter(|_| !is_transfer).unwrap_or_default().as_secs_f64(),
        warm_up_s: if is_transfer { 0.0 } else { method.load.warm_up.as_secs_f64() },
        seed: method.load.seed,
        is_usable: why_not.is_empty(),
        why_not,
        left_out,
        links: links.iter().map(|(name, links)| format!("{name}: {}", links.told())).collect(),
        not_looked_at,
        levels: rows,
        published: experiment.published.map(|published| PublishedTable {
            source: published.source.into(),
            findings: published.findings.iter().map(|text| (*text).into()).collect(),
            rows: published
                .rows
                .iter()
                .map(|row| PublishedFigure {
                    arm: row.arm.into(),
                    connections: row.connections,
                    per_s: row.per_s,
                    deviation: row.deviation,
                    p95_ms: row.p95_ms,
                    p95_deviation_ms: row.p95_deviation_ms,
                })
                .collect(),
        }),
    })
}

/// Of the arms whose links are what chance made of them.
fn links_of(rig: &Rig, arms: &[Arm]) -> Result<Vec<(&'static str, Links)>, OpsError> {
    let of = |arm: &Arm| rig.links(arm.place).map(|links| links.map(|links| (arm.name, links)));
    arms.iter().filter_map(|arm| of(arm).transpose()).collect()
}

fn is_spared(arm: &Arm) -> bool {
    arm.via.is_tunnel()
        || matches!(arm.place, Place::Sst { .. } | Place::Replica { .. } | Place::Transport(_))
}

/// Why the server does not take what the arm chooses of TLS, if it does not: a suite, a version, a group that it has not. Of an
/// arm that chooses nothing it is told by its trial.
fn refused(arm: &Arm, reached: Reached, is_ready: bool) -> Option<String> {
    // What a tunnel lets through is seen when it is made.
    if reached.is_echo || arm.via.is_tunnel() {
        return None;
    }
    let Reached { targets, client, .. } = reached;
    targets.iter().map(|target| with_tls(target, arm.tls, client.as_ref()).for_login_only()).find_map(
        |target| {
            match net::Client::connect(&target) {
                Ok(client) => {
                    let _ = client.quit();
                    None
                }
                Err(error @ net::NetError::Tls { .. }) => Some(error.in_one_line()),
                Err(error) if wants_tls(&error, &target) => Some(NO_CLEARTEXT.into()),
                // The TLS library here has no such group, or the system no such file. In a file of somebody's own it is rather a
                // mistake, and ends the run.
                Err(error @ net::NetError::Usage { .. })
                    if is_ready
                        && (arm.tls.groups.is_some()
                            || arm.tls.signature_algorithms.is_some()
                            || arm.tls.reads_system_cas) =>
                {
                    Some(error.in_one_line())
                }
                // Whatever else it is, it is not of this arm alone.
                Err(_) => None,
            }
        },
    )
}

const NO_CLEARTEXT: &str = "the server refuses this login without TLS, and lets it in with TLS (require_secure_transport is ON, or the \
     account has REQUIRE SSL)";

/// Whether a login without TLS was refused for that alone: with TLS it is let in. MariaDB answers as for a wrong password.
fn wants_tls(error: &net::NetError, target: &ConnectOptions) -> bool {
    let net::NetError::Refused { code: 1045 | 3159, .. } = error else { return false };
    if target.tls.mode != SslMode::Disabled {
        return false;
    }
    let mut over_tls = target.clone();
    over_tls.tls.mode = SslMode::Required;
    net::Client::connect(&over_tls).map(net::Client::quit).is_ok()
}

/// Whether arms are left that are compared, where what this place cannot give is left out.
pub fn is_possible(rig: &Rig, experiment: &Experiment) -> bool {
    bases(&possible(rig, experiment).0).iter().any(Option::is_some)
}

/// The arms that can be measured here, and why the others cannot.
fn possible(rig: &Rig, experiment: &Experiment) -> (Vec<Arm>, Vec<String>) {
    // By name: where the first one is left out no other takes its place.
    let first = experiment.arms.first().map(|arm| arm.name);
    let (mut arms, mut left_out) = (Vec::new(), Vec::new());
    for arm in experiment.arms {
        match rig.lacks(arm) {
            None => arms.push(Arm { against: arm.against.or(first), ..*arm }),
            Some(lack) => left_out.push(format!("{}: {lack}", arm.name)),
        }
    }
    (arms, left_out)
}

/// The setting that is no option: which arms there are.
pub const ARMS: &str = "arms";

/// What the arms are, so that two runs of arms that are only called alike are told apart.
fn described(experiment: &Experiment) -> SettingRow {
    let digest = model::hex(&openssl::sha::sha256(format!("{:?}", experiment.arms).as_bytes()));
    SettingRow { name: ARMS.into(), value: format!("SHA-256 {}", digest.get(..16).unwrap_or_default()) }
}

/// All levels, or three of them where it must be quick.
fn chosen(experiment: &Experiment, method: &Method) -> Vec<u32> {
    let all = experiment.connections;
    if !method.is_quick || all.len() <= 3 {
        return all.to_vec();
    }
    [0, all.len() / 2, all.len() - 1].iter().filter_map(|&at| all.get(at).copied()).collect()
}

/// In percent, where an arm that resumes did so too seldom for its name.
fn not_resumed(arm: &Arm, report: &LoadReport) -> Option<f64> {
    let resumes = matches!(arm.tls.library, Some(TlsLibrary::Rustls { resumes }) if resumes != Resumes::No);
    if !resumes || report.events == 0 {
        return None;
    }
    let share = 1.0 - report.resumed as f64 / report.events as f64;
    (share > NOT_RESUMED_SHARE_MAX).then_some(share * 100.0)
}

fn in_one_line(error: &OpsError) -> String {
    let text = error.to_string();
    let lines = text.lines().take(2).map(|line| line.trim().trim_start_matches("why:").trim_start());
    lines.collect::<Vec<_>>().join(": ")
}

fn wants_more(blocks: &Blocks, arms: &[Arm], method: &Method, tries: usize) -> bool {
    if tries < method.blocks {
        return true;
    }
    let Some(precision) = method.precision else { return false };
    let mut pairs =
        bases(arms).into_iter().enumerate().filter_map(|(arm, base)| base.map(|base| (base, arm)));
    pairs.any(|(base, arm)| {
        let ratio = blocks.ratio(base, arm, method.load.seed);
        ratio.and_then(|ratio| ratio.precision()).is_none_or(|seen| seen > precision)
    })
}

fn figure(measure: Measure, report: &LoadReport) -> f64 {
    match measure {
        Measure::QueriesPerS => report.queries_per_s,
        Measure::EventsPerS => report.events_per_s,
    }
}

/// `client`: the certificate of an arm that has one.
pub(super) fn with_tls(target: &ConnectOptions, tls: ArmTls, client: Option<&Pair>) -> ConnectOptions {
    let mut options = target.clone();
    let of = &mut options.tls;
    match tls.checks {
        Checks::AsAsked => {}
        // Whoever wants chains checked has them checked in every arm that has TLS.
        Checks::On => of.mode = of.mode.max(SslMode::Required),
        Checks::Exactly(mode) => of.mode = mode,
    }
    if tls.version.is_some() {
        (of.min_version, of.max_version) = (tls.version, tls.version);
    }
    let replace = |of: &mut Option<String>, by: Option<&str>| {
        if let Some(by) = by {
            *of = Some(by.to_owned());
        }
    };
    replace(&mut of.ciphers, tls.ciphers);
    replace(&mut of.ciphersuites, tls.ciphersuites);
    replace(&mut of.groups, tls.groups);
    replace(&mut of.signature_algorithms, tls.signature_algorithms);
    of.record_bytes = tls.record_bytes.or(of.record_bytes);
    of.reads_system_cas = tls.reads_system_cas;
    if let Some(library) = tls.library {
        of.library = library;
    }
    if tls.has_certificate {
        of.cert = client.map(|pair| pair.cert.clone());
        of.key = client.map(|pair| pair.key.clone());
    }
    options
}

/// The middle of what is known.
fn middle(values: &[Option<f64>]) -> Option<f64> {
    let mut values: Vec<f64> = values.iter().copied().flatten().collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Noise {
    /// What neither the generator nor the server did. Where the server's time is not known, all of it may have been the
    /// server's: then it stays unknown.
    fn note(&mut self, before: Option<Ticks>, after: Option<Ticks>, report: &LoadReport) {
        let machine = before.zip(after).map(|(before, after)| after.since(before));
        self.steal.push(machine.map(|machine| machine.steal_share));
        let costs = report.client_cpu_us_per_query.as_ref().zip(report.server_cpu_us_per_query);
        self.others.push(machine.zip(costs).map(|(machine, (client, server))| {
            // Warm-up and connecting are as busy as the rest, and are not in these sums.
            let own_s = (client.total + server) * report.queries as f64 / 1e6 / report.measured_s.max(1e-9);
            (machine.busy_share - own_s / machine.processors as f64).max(0.0)
        }));
    }

    fn complaints(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(others) = middle(&self.others).filter(|share| *share > OTHERS_SHARE_MAX) {
            found.push(format!(
                "other programs used {:.0} % of the machine (median of all trials)",
                others * 100.0
            ));
        }
        if let Some(steal) = middle(&self.steal).filter(|share| *share > STEAL_SHARE_MAX) {
            found.push(format!(
                "the host of this virtual machine took {:.0} % of its processor time",
                steal * 100.0
            ));
        }
        found
    }

    /// What could not be judged, and in how many trials.
    fn unknown(&self) -> Vec<String> {
        let missing = |values: &[Option<f64>]| values.iter().filter(|value| value.is_none()).count();
        let of = |count: usize, all: usize| {
            if count == all { "in all trials".to_owned() } else { format!("in {count} of {all} trials") }
        };
        let mut found = Vec::new();
        let others = missing(&self.others);
        if others > 0 {
            found.push(format!(
                "the CPU time of other programs, {}: that of the server is not known, so the two cannot be separated",
                of(others, self.others.len())
            ));
        }
        let steal = missing(&self.steal);
        if steal > 0 {
            found.push(format!(
                "the processor time that the host of a virtual machine took, {}: the kernel does not report it \
                 (/proc/stat)",
                of(steal, self.steal.len())
            ));
        }
        found
    }
}

fn level(all: &[Arm], connections: u32, blocks: &Blocks, seen: &[Vec<LoadReport>], seed: u64) -> LevelRow {
    let both_of = |list: &[LoadReport], of: &dyn Fn(&LoadReport) -> Option<f64>| {
        let values: Option<Vec<f64>> = list.iter().map(of).collect();
        mean_and_deviation(&values?)
    };
    let mean_of = |list: &[LoadReport], of: &dyn Fn(&LoadReport) -> Option<f64>| {
        both_of(list, of).map(|(mean, _)| mean)
    };
    let arms = all
        .iter()
        .zip(seen)
        .enumerate()
        .map(|(place, (arm, list))| {
            let trials = blocks.of(place);
            let (mean, deviation) = mean_and_deviation(&trials).unwrap_or_default();
            // Nothing is done less than never, however far the trials are apart.
            let interval = mean_interval(&trials, seed).map(|(low, high)| (low.max(0.0), high));
            let client_cpu = |part: fn(&CpuRow) -> f64| {
                mean_of(list, &|report| report.client_cpu_us_per_query.as_ref().map(part))
            };
            // What we wrote ourselves a moment ago; a histogram that could not be read would be left out, not invented.
            let latencies =
                histogram::merge(list.iter().filter_map(|report| report.latency_histogram.as_deref()))
                    .unwrap_or_default();
            ArmRow {
                name: arm.name.into(),
                tls: list.first().and_then(|report| report.tls.clone()),
                mean,
                deviation,
                low: interval.map(|(low, _)| low),
                high: interval.map(|(_, high)| high),
                trials,
                p95_ms: mean_of(list, &|report| report.latency_ms.p95),
                p95_deviation_ms: both_of(list, &|report| report.latency_ms.p95)
                    .and_then(|(_, deviation)| deviation),
                client_cpu_us_per_query: client_cpu(|cpu| cpu.total),
                client_user_cpu_us_per_query: client_cpu(|cpu| cpu.user),
                client_system_cpu_us_per_query: client_cpu(|cpu| cpu.system),
                server_cpu_us_per_query: mean_of(list, &|report| report.server_cpu_us_per_query),
                client_cpu_s_per_gb: mean_of(list, &|report| report.client_cpu_s_per_gb),
                server_cpu_s_per_gb: mean_of(list, &|report| report.server_cpu_s_per_gb),
                copy: mean_copy(list),
                latency_percentiles: curve(latencies.as_ref()),
                latency_histogram: latencies.as_ref().and_then(histogram::encode),
                samples: list
                    .iter()
                    .enumerate()
                    .map(|(place, report)| trial_row(place + 1, report))
                    .collect(),
            }
        })
        .collect();
    let comparisons = all
        .iter()
        .enumerate()
        .zip(bases(all))
        .filter_map(|((place, arm), base)| {
            let base = base?;
            let ratio = blocks.ratio(base, place, seed)?;
            let first = all.get(base)?;
            Some(ComparisonRow {
                of: first.name.into(),
                with: arm.name.into(),
                ratio: ratio.ratio,
                low: ratio.interval.map(|(low, _)| low),
                high: ratio.interval.map(|(_, high)| high),
                differs: ratio.differs(),
                text: words(first.name, arm.name, &ratio),
            })
        })
        .collect();
    LevelRow { connections, blocks: blocks.len(), arms, comparisons }
}

/// Of all trials of an arm that are copies of a donor's data.
fn mean_copy(list: &[LoadReport]) -> Option<CopyRow> {
    let copies: Vec<&CopyRow> = list.iter().map(|report| report.copy.as_ref()).collect::<Option<_>>()?;
    let first = copies.first()?;
    let mean_of = |of: &dyn Fn(&CopyRow) -> Option<f64>| {
        let values: Option<Vec<f64>> = copies.iter().map(|copy| of(copy)).collect();
        mean_and_deviation(&values?).map(|(mean, _)| mean)
    };
    Some(CopyRow {
        bytes: copies.iter().map(|copy| copy.bytes).sum::<u64>() / copies.len() as u64,
        bytes_per_s: mean_of(&|copy| Some(copy.bytes_per_s))?,
        cpu_s_per_gb: mean_of(&|copy| copy.cpu_s_per_gb),
        donor_rows_per_s: mean_of(&|copy| copy.donor_rows_per_s),
        donor_row_ms_max: copies.iter().filter_map(|copy| copy.donor_row_ms_max).max_by(f64::total_cmp),
        ..(*first).clone()
    })
}

/// Shares of events and what they took at most.
pub(crate) fn curve(latencies: Option<&Latencies>) -> Vec<PercentileRow> {
    let points = latencies.map(histogram::percentiles).unwrap_or_default();
    points.into_iter().map(|(share, ms)| PercentileRow { share, ms }).collect()
}

/// What is kept of a trial.
pub(crate) fn trial_row(block: usize, report: &LoadReport) -> TrialRow {
    TrialRow {
        block,
        started_unix_ms: report.started_unix_ms,
        connecting_s: report.connecting_s,
        measured_s: report.measured_s,
        events: report.events,
        events_per_s: report.events_per_s,
        queries: report.queries,
        queries_per_s: report.queries_per_s,
        reads: report.reads,
        writes: report.writes,
        others: report.others,
        rows: report.rows,
        answer_bytes: report.answer_bytes,
        sent_bytes: report.sent_bytes,
        received_bytes: report.received_bytes,
        round_trips: report.round_trips,
        latency_ms: report.latency_ms.clone(),
        query_latency_ms: report.query_latency_ms.clone(),
        client_cpu_us_per_query: report.client_cpu_us_per_query.clone(),
        server_cpu_us_per_query: report.server_cpu_us_per_query,
        client_context_switches: report.client_context_switches,
        retries: report.retries,
        resumed: report.resumed,
        late_at_end: report.late_at_end,
        errors: report.errors.iter().map(|error| error.count).sum(),
        seconds: report.seconds.clone(),
        copy: report.copy.clone(),
    }
}

/// The effect in words: what the second one costs, or gains, of the first one's throughput.
fn words(first: &str, second: &str, ratio: &Ratio) -> String {
    let percent = |ratio: f64| (1.0 - ratio) * 100.0;
    let cost = percent(ratio.ratio);
    let Some((low, high)) = ratio.interval else {
        return format!("{second}: {:+.1} % against {first}; too few blocks for an interval", -cost);
    };
    let (least, most) = (percent(high), percent(low));
    match ratio.differs() {
        Some(true) if cost > 0.0 => {
            format!(
                "{second} costs {cost:.1} % of the throughput of {first} (95 % interval {least:.1} to {most:.1})"
            )
        }
        Some(true) => {
            format!(
                "{second} has {:.1} % more throughput than {first} (95 % interval {:.1} to {:.1})",
                -cost, -most, -least
            )
        }
        _ => format!(
            "no significant difference between {first} and {second}: {second} has {:+.1} % (95 % interval {:+.1} to \
             {:+.1})",
            -cost, -most, -least
        ),
    }
}

/// Three short trials an arm: points, and no interval.
pub fn quick(method: &mut Method) {
    method.blocks = 3;
    method.precision = None;
    method.is_quick = true;
    method.load.time = Some(Duration::from_millis(800));
    method.load.warm_up = Duration::from_millis(200);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_said_in_words() {
        let say =
            |ratio: f64, interval: Option<(f64, f64)>| words("cleartext", "TLS", &Ratio { ratio, interval });
        assert_eq!(
            say(0.69, Some((0.65, 0.73))),
            "TLS costs 31.0 % of the throughput of cleartext (95 % interval 27.0 to 35.0)"
        );
        assert_eq!(
            say(1.1, Some((1.05, 1.2))),
            "TLS has 10.0 % more throughput than cleartext (95 % interval 5.0 to 20.0)"
        );
        assert_eq!(
            say(0.99, Some((0.97, 1.02))),
            "no significant difference between cleartext and TLS: TLS has -1.0 % (95 % interval -3.0 to +2.0)"
        );
        assert!(say(0.5, None).contains("too few blocks"));
    }

    #[test]
    fn what_could_not_be_judged_is_named_and_is_no_quiet_machine() {
        let known: LoadReport =
            serde_json::from_str(include_str!("../../report/testdata/bench-load.json")).expect("a sample");
        let elsewhere = LoadReport { server_cpu_us_per_query: None, ..known.clone() };
        let (now, mut noise) = (Ticks::now(), Noise::default());
        assert!(now.is_some() && noise.unknown().is_empty() && noise.complaints().is_empty());
        noise.note(now, now, &elsewhere);
        assert_eq!((noise.others.as_slice(), noise.complaints().len()), ([None].as_slice(), 0));
        let unknown = noise.unknown();
        assert!(unknown.len() == 1 && unknown[0].contains("other programs, in all trials"), "{unknown:?}");
        noise.note(now, now, &known);
        assert!(noise.others[1].is_some() && noise.unknown()[0].contains("in 1 of 2 trials"));
        noise.note(None, now, &known);
        assert!(noise.unknown().iter().any(|line| line.contains("/proc/stat")), "{:?}", noise.unknown());
        // Of what is known, the middle counts.
        noise.others = vec![None, Some(0.5), Some(0.6), Some(0.01)];
        assert!(noise.complaints()[0].contains("50 % of the machine"), "{:?}", noise.complaints());
    }

    #[test]
    fn what_a_named_server_cannot_give_is_left_out_and_nothing_takes_its_place() {
        let named = |ca: Option<&str>| {
            let tls = net::TlsOptions { ca: ca.map(Into::into), ..net::TlsOptions::default() };
            Rig::named(vec![ConnectOptions { tls, ..ConnectOptions::default() }])
        };
        let here = |name: &str, ca| {
            let one = ::bench::experiments::experiment(name).expect("a ready one");
            (is_possible(&named(ca), one), possible(&named(ca), one).0.len())
        };
        assert_eq!(here("aa", None), (true, 2));
        assert_eq!(here("connect", None), (true, 2));
        // Two arms are left, and neither is that which they are compared with.
        assert_eq!(here("floor", None), (false, 2));
        assert_eq!(here("verify", None), (true, 2));
        assert_eq!(here("verify", Some("ca.pem")), (true, 4));
        assert_eq!(here("galera-write", None), (false, 0));
    }

    #[test]
    fn an_arm_has_the_tls_that_it_is_named_for() {
        let asked = ConnectOptions {
            tls: net::TlsOptions { mode: SslMode::VerifyCa, ..net::TlsOptions::default() },
            ..ConnectOptions::default()
        };
        let mode = |tls| with_tls(&asked, tls, None).tls.mode;
        assert_eq!(mode(ArmTls::OFF), SslMode::Disabled);
        assert_eq!((mode(ArmTls::ON), mode(ArmTls::AS_ASKED)), (SslMode::VerifyCa, SslMode::VerifyCa));
        assert_eq!(mode(ArmTls::checking(SslMode::Required)), SslMode::Required);
        let suite = ArmTls { ciphersuites: Some("TLS_AES_128_GCM_SHA256"), ..ArmTls::ON };
        let one = with_tls(&ConnectOptions::default(), suite, None).tls;
        assert_eq!(
            (one.mode, one.ciphersuites.as_deref(), one.min_version),
            (SslMode::Required, Some("TLS_AES_128_GCM_SHA256"), None)
        );
        let pair = Pair { cert: "cert".into(), key: "key".into() };
        let shown = |has_certificate| {
            let tls = ArmTls { has_certificate, ..ArmTls::ON };
            with_tls(&asked, tls, Some(&pair)).tls.cert.is_some()
        };
        assert_eq!((shown(true), shown(false)), (true, false));
    }
}
