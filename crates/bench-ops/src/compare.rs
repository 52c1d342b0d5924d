//! `sealion bench compare`: two runs of the same experiment, each arm with itself, and each effect with itself.
//!
//! The trials of two runs have nothing to do with each other, so each run is drawn from on its own. Such an interval knows
//! what varies from trial to trial, and nothing of what changed on the machine between the runs. The ratio of two arms of
//! one run does not have that in it: effects are compared as well.

use ::bench::stats::{BLOCKS_MIN, Ratio, ratio_of_runs};
use report::shape::{
    ArmRow, BENCH_COMPARE_SCHEMA_ID, BENCH_RUN_SCHEMA_ID, CompareReport, CompareRow, DifferenceRow,
    EffectRow, LevelRow, LoadReport, LoadTlsRow, RunReport, SettingRow, SideRow,
};

use super::experiment::ARMS;
use super::kept::{Kept, Measured};
use super::{QUERIES, counts};
use site::OpsError;

/// Of the resampling: the same two runs give the same interval.
const SEED: u64 = 1;
/// How the one arm of a single measurement is called.
const ONE_ARM: &str = "as asked";

/// A measurement as a run of one trial, so that all that reads runs reads it too.
pub fn as_run(measured: &Measured) -> RunReport {
    match measured {
        Measured::Run(report) => (**report).clone(),
        Measured::Load(report) => of_load(report),
    }
}

fn of_load(report: &LoadReport) -> RunReport {
    let counts_events = counts(&report.workload) != QUERIES;
    let figure = if counts_events { report.events_per_s } else { report.queries_per_s };
    let part = |of: fn(&report::shape::CpuRow) -> f64| report.client_cpu_us_per_query.as_ref().map(of);
    let latencies =
        report.latency_histogram.as_deref().and_then(|text| ::bench::histogram::decode(text).ok());
    let connections = u32::try_from(report.connections).unwrap_or(u32::MAX);
    RunReport {
        schema: BENCH_RUN_SCHEMA_ID.into(),
        sealion_version: report.sealion_version.clone(),
        started_unix_ms: report.started_unix_ms,
        ended_unix_ms: report.started_unix_ms,
        experiment: format!("load {}", report.workload),
        question: "One measurement of one workload".into(),
        workload: report.workload.clone(),
        unit: if counts_events { "events/s" } else { "queries/s" }.into(),
        targets: report.targets.clone(),
        server_version: report.server_version.clone(),
        is_same_machine: report.server_cpu_us_per_query.is_some(),
        processors: usize::try_from(report.machine.cores).unwrap_or(1),
        machine: report.machine.clone(),
        settings: report
            .settings
            .iter()
            .cloned()
            .chain(report.rate_per_s.map(|rate| SettingRow { name: "rate".into(), value: rate.to_string() }))
            .collect(),
        trial_s: report.measured_s,
        warm_up_s: report.warm_up_s,
        seed: report.seed,
        is_usable: report.is_complete,
        why_not: report.partial.clone().into_iter().collect(),
        left_out: vec![],
        links: vec![],
        not_looked_at: vec!["the variation from trial to trial: this is one measurement".into()],
        levels: vec![LevelRow {
            connections,
            blocks: 1,
            arms: vec![ArmRow {
                name: ONE_ARM.into(),
                tls: report.tls.clone(),
                mean: figure,
                deviation: None,
                low: None,
                high: None,
                trials: vec![figure],
                p95_ms: report.latency_ms.p95,
                p95_deviation_ms: None,
                client_cpu_us_per_query: part(|cpu| cpu.total),
                client_user_cpu_us_per_query: part(|cpu| cpu.user),
                client_system_cpu_us_per_query: part(|cpu| cpu.system),
                server_cpu_us_per_query: report.server_cpu_us_per_query,
                client_cpu_s_per_gb: report.client_cpu_s_per_gb,
                server_cpu_s_per_gb: report.server_cpu_s_per_gb,
                copy: report.copy.clone(),
                latency_percentiles: super::experiment::curve(latencies.as_ref()),
                latency_histogram: report.latency_histogram.clone(),
                samples: vec![super::experiment::trial_row(1, report)],
            }],
            comparisons: vec![],
        }],
        published: None,
    }
}

/// Compares the second with the first.
///
/// # Errors
/// They are not of the same experiment, or nothing is in both.
pub fn compare(first: &Kept, second: &Kept) -> Result<CompareReport, OpsError> {
    let (one, other) = (as_run(&first.measured), as_run(&second.measured));
    if one.experiment != other.experiment {
        return Err(cannot(
            format!(
                "{} is of \"{}\", {} is of \"{}\"",
                first.name, one.experiment, second.name, other.experiment
            ),
            "choose two runs of the same experiment: sealion bench runs",
        ));
    }
    if one.unit != other.unit {
        return Err(cannot(
            format!("{} counts {}, {} counts {}", first.name, one.unit, second.name, other.unit),
            "measure both with the same sealion",
        ));
    }
    let mut only_in_one = only_in(&one, &other, "first");
    only_in_one.extend(only_in(&other, &one, "second"));
    let (mut rows, mut effects, mut differs) = (Vec::new(), Vec::new(), differences(&one, &other));
    if let (Some(one), Some(other)) = (sends_together(&first.measured), sends_together(&second.measured))
        && one != other
    {
        let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        differs.push(DifferenceRow {
            what: "statements sent together".into(),
            first: word(one),
            second: word(other),
        });
    }
    for (level, pair) in levels(&one, &other) {
        for (arm, again) in arms(level, pair) {
            if arm.tls != again.tls {
                differs.push(DifferenceRow {
                    what: format!("TLS of {}, {}", arm.name, connected(level.connections)),
                    first: tls_words(arm.tls.as_ref()),
                    second: tls_words(again.tls.as_ref()),
                });
            }
            rows.extend(row(level.connections, arm, again));
        }
        effects.extend(level.comparisons.iter().filter_map(|comparison| {
            let of = |level: &LevelRow, name: &str| level.arms.iter().find(|arm| arm.name == name).cloned();
            let ratios =
                |level: &LevelRow| Some(within(&of(level, &comparison.of)?, &of(level, &comparison.with)?));
            effect(level.connections, &comparison.of, &comparison.with, &ratios(level)?, &ratios(pair)?)
        }));
    }
    if rows.is_empty() {
        return Err(cannot(
            "no arm has complete trials with the same number of connections in both".to_owned(),
            "measure both with the same -c",
        ));
    }
    let warnings = warnings(first, second, (&one, &other), &rows, &differs);
    Ok(CompareReport {
        schema: BENCH_COMPARE_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        experiment: one.experiment.clone(),
        unit: one.unit.clone(),
        is_usable: one.is_usable && other.is_usable,
        first: side(&first.name, &one),
        second: side(&second.name, &other),
        differs,
        warnings,
        rows,
        effects,
        only_in_one,
    })
}

/// An experiment does not.
fn sends_together(measured: &Measured) -> Option<bool> {
    match measured {
        Measured::Load(report) => Some(report.sent_together > 0),
        Measured::Run(_) => None,
    }
}

fn cannot(why: String, next: &str) -> OpsError {
    OpsError::usage("cannot compare these two runs", why, next)
}

fn side(name: &str, report: &RunReport) -> SideRow {
    SideRow {
        run: name.to_owned(),
        started_unix_ms: report.started_unix_ms,
        sealion_version: report.sealion_version.clone(),
        server_version: report.server_version.clone(),
        is_usable: report.is_usable,
        why_not: report.why_not.clone(),
    }
}

fn levels<'a>(
    one: &'a RunReport,
    other: &'a RunReport,
) -> impl Iterator<Item = (&'a LevelRow, &'a LevelRow)> {
    one.levels.iter().filter_map(|level| {
        Some((level, other.levels.iter().find(|pair| pair.connections == level.connections)?))
    })
}

fn arms<'a>(one: &'a LevelRow, other: &'a LevelRow) -> impl Iterator<Item = (&'a ArmRow, &'a ArmRow)> {
    one.arms.iter().filter_map(|arm| Some((arm, other.arms.iter().find(|pair| pair.name == arm.name)?)))
}

fn only_in(one: &RunReport, other: &RunReport, which: &str) -> Vec<String> {
    let mut found = Vec::new();
    for level in &one.levels {
        match other.levels.iter().find(|pair| pair.connections == level.connections) {
            None => found.push(format!("{}, in the {which}", connected(level.connections))),
            Some(pair) => {
                let missing =
                    level.arms.iter().filter(|arm| !pair.arms.iter().any(|other| other.name == arm.name));
                found
                    .extend(missing.map(|arm| {
                        format!("{}, {}, in the {which}", arm.name, connected(level.connections))
                    }));
            }
        }
    }
    found
}

/// What was kept of how they were measured, and is not the same.
fn differences(one: &RunReport, other: &RunReport) -> Vec<DifferenceRow> {
    let mut found = Vec::new();
    let mut look = |what: &str, first: String, second: String| {
        if first != second {
            found.push(DifferenceRow { what: what.to_owned(), first, second });
        }
    };
    let pair = |of: &dyn Fn(&RunReport) -> String| (of(one), of(other));
    for (what, (first, second)) in [
        ("processor", pair(&|run| run.machine.cpu_model.clone())),
        ("processors", pair(&|run| run.processors.to_string())),
        ("memory (bytes)", pair(&|run| run.machine.memory_bytes.to_string())),
        ("kernel", pair(&|run| run.machine.kernel.clone())),
        ("operating system", pair(&|run| run.machine.os.clone())),
        ("sealion", pair(&|run| run.sealion_version.clone())),
        ("server version", pair(&|run| run.server_version.clone())),
        ("servers", pair(&|run| run.targets.join(", "))),
        ("links", pair(&|run| run.links.join("; "))),
        ("server on this machine", pair(&|run| if run.is_same_machine { "yes" } else { "no" }.into())),
        ("workload", pair(&|run| run.workload.clone())),
        ("trial (s)", pair(&|run| seconds(run.trial_s))),
        ("warm-up (s)", pair(&|run| seconds(run.warm_up_s))),
    ] {
        look(what, first, second);
    }
    let value = |run: &RunReport, name: &str| {
        let found = run.settings.iter().find(|setting| setting.name == name);
        found.map_or("not set".to_owned(), |setting| setting.value.clone())
    };
    let mut names: Vec<&str> = Vec::new();
    for setting in one.settings.iter().chain(&other.settings) {
        if !names.contains(&setting.name.as_str()) {
            names.push(&setting.name);
        }
    }
    for name in names {
        // A digest of the arms is no option.
        let what = if name == ARMS { name.to_owned() } else { format!("--{name}") };
        look(&what, value(one, name), value(other, name));
    }
    found
}

/// To a tenth: a measurement ends some ms late.
fn seconds(value: f64) -> String {
    format!("{value:.1}")
}

fn tls_words(tls: Option<&LoadTlsRow>) -> String {
    tls.map_or("cleartext".into(), |tls| format!("{} {}", tls.version, tls.cipher))
}

fn warnings(
    first: &Kept,
    second: &Kept,
    (one, other): (&RunReport, &RunReport),
    rows: &[CompareRow],
    differs: &[DifferenceRow],
) -> Vec<String> {
    let mut found = Vec::new();
    if first.measured == second.measured {
        found.push("both are the same run".to_owned());
    }
    for (which, run) in [("first", one), ("second", other)] {
        if !run.is_usable {
            found.push(format!("the {which} is not usable: {}", run.why_not.join("; ")));
        }
    }
    if !differs.is_empty() {
        found.push("the two runs differ (see above): the ratios include all differences".to_owned());
    }
    if rows.iter().any(|row| row.low.is_none()) {
        found.push(format!("with fewer than {BLOCKS_MIN} trials there is a value and no interval"));
    }
    found.push(
        "an interval covers the variation between the trials of a run, not what changed on the machine between the \
         runs"
            .to_owned(),
    );
    found
}

fn row(connections: u32, arm: &ArmRow, again: &ArmRow) -> Option<CompareRow> {
    let ratio = ratio_of_runs(&arm.trials, &again.trials, SEED)?;
    Some(CompareRow {
        connections,
        arm: arm.name.clone(),
        first_mean: arm.mean,
        second_mean: again.mean,
        first_trials: arm.trials.len(),
        second_trials: again.trials.len(),
        ratio: ratio.ratio,
        low: ratio.interval.map(|(low, _)| low),
        high: ratio.interval.map(|(_, high)| high),
        differs: ratio.differs(),
        text: row_words(&arm.name, connections, &ratio),
    })
}

/// One arm by the other, block by block: both have their trials in the order of blocks.
fn within(of: &ArmRow, with: &ArmRow) -> Vec<f64> {
    of.trials.iter().zip(&with.trials).map(|(of, with)| with / of).collect()
}

fn effect(connections: u32, of: &str, with: &str, first: &[f64], second: &[f64]) -> Option<EffectRow> {
    let ratio = ratio_of_runs(first, second, SEED)?;
    let mean = |values: &[f64]| {
        (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
    };
    let (first_ratio, second_ratio) = (mean(first), mean(second));
    Some(EffectRow {
        connections,
        of: of.to_owned(),
        with: with.to_owned(),
        first_ratio,
        second_ratio,
        ratio: ratio.ratio,
        low: ratio.interval.map(|(low, _)| low),
        high: ratio.interval.map(|(_, high)| high),
        differs: ratio.differs(),
        text: effect_words((of, with), connections, (first_ratio, second_ratio), &ratio),
    })
}

fn connected(count: u32) -> String {
    model::text::counted(count, "connection", "connections")
}

fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn row_words(arm: &str, connections: u32, ratio: &Ratio) -> String {
    let change = percent(ratio.ratio);
    let about = format!("{arm}, {}", connected(connections));
    let Some((low, high)) = ratio.interval else {
        return format!("{about}: {change:+.1} % in the second run; too few trials for an interval");
    };
    let (low, high) = (percent(low), percent(high));
    match ratio.differs() {
        Some(true) if change < 0.0 => format!(
            "{about}: the second run has {:.1} % less throughput than the first (95 % interval {:.1} to {:.1})",
            -change, -high, -low
        ),
        Some(true) => format!(
            "{about}: the second run has {change:.1} % more throughput than the first (95 % interval {low:.1} to \
             {high:.1})"
        ),
        _ => format!(
            "{about}: no significant difference between the runs: {change:+.1} % in the second (95 % interval \
             {low:+.1} to {high:+.1})"
        ),
    }
}

fn effect_words(
    (of, with): (&str, &str),
    connections: u32,
    (first, second): (f64, f64),
    ratio: &Ratio,
) -> String {
    let about = format!(
        "{with} against {of}, {}: {:+.1} % in the first run, {:+.1} % in the second",
        connected(connections),
        percent(first),
        percent(second)
    );
    match ratio.differs() {
        Some(true) => format!("{about}: the effect is different"),
        Some(false) => format!("{about}: no significant difference"),
        None => format!("{about}; too few blocks for an interval"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN_SAMPLE: &str = include_str!("../../report/testdata/bench-run.json");
    const LOAD_SAMPLE: &str = include_str!("../../report/testdata/bench-load.json");

    fn run(name: &str, change: impl Fn(&mut RunReport)) -> Kept {
        let mut report: RunReport = serde_json::from_str(RUN_SAMPLE).expect("a sample");
        (report.is_usable, report.why_not) = (true, vec![]);
        change(&mut report);
        Kept { name: name.into(), measured: Measured::Run(Box::new(report)) }
    }

    /// Trials of the arm at this place: `mean`, a little more and a little less.
    fn set(report: &mut RunReport, arm: usize, mean: f64) {
        let spread = [0.99, 1.0, 1.01, 0.995, 1.005, 1.002, 0.998];
        let arm = &mut report.levels[0].arms[arm];
        arm.trials = spread.iter().map(|factor| factor * mean).collect();
        arm.mean = mean;
    }

    #[test]
    fn each_arm_is_compared_with_itself_and_each_effect_with_itself() {
        let (first, second) = (
            run("a", |report| {
                set(report, 0, 1_000.0);
                set(report, 1, 500.0);
            }),
            // The whole machine is slower by a tenth, and TLS costs what it did.
            run("b", |report| {
                set(report, 0, 900.0);
                set(report, 1, 450.0);
                report.server_version = "11.8.0".into();
                report.machine.cpu_model = "another".into();
                report.links = vec!["socket.dynamic: n1-n2 TLS".into()];
                report.settings.push(SettingRow { name: "skip-trx".into(), value: "true".into() });
                report.levels[0].arms[1].tls = None;
            }),
        );
        let report = compare(&first, &second).expect("the same experiment");
        assert!(report.is_usable && report.rows.len() == 2, "{report:#?}");
        for row in &report.rows {
            assert!((row.ratio - 0.9).abs() < 1e-3 && row.differs == Some(true), "{row:?}");
            assert!(row.text.contains("10.0 % less throughput"), "{row:?}");
        }
        let effect = &report.effects[0];
        assert!((effect.ratio - 1.0).abs() < 1e-9 && effect.differs == Some(false), "{effect:?}");
        assert!(effect.text.contains("-50.0 % in the first run, -50.0 % in the second"), "{effect:?}");
        let what: Vec<&str> = report.differs.iter().map(|row| row.what.as_str()).collect();
        for name in ["server version", "processor", "links", "--skip-trx", "TLS of TLS, 1 connection"] {
            assert!(what.contains(&name), "{what:?}");
        }
        assert!(report.warnings.iter().any(|text| text.contains("the two runs differ")), "{report:#?}");
    }

    #[test]
    fn a_run_by_itself_differs_in_nothing_and_says_that_it_is_the_same() {
        let one = run("a", |report| set(report, 0, 1_000.0));
        let report = compare(&one, &one).expect("the same experiment");
        assert!(report.differs.is_empty() && report.only_in_one.is_empty(), "{report:#?}");
        assert!(report.rows.iter().all(|row| row.differs == Some(false)), "{report:#?}");
        assert!(report.warnings.iter().any(|text| text == "both are the same run"));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let one = run("a", |_| {});
        let check = |other: &Kept, word: &str| {
            let error = compare(&one, other).expect_err("unlike").to_string();
            assert!(error.contains(word) && error.contains("next: "), "{error}");
        };
        check(&run("b", |report| report.experiment = "pool".into()), "\"pool\"");
        check(&run("b", |report| report.unit = "queries/s".into()), "counts queries/s");
        check(&run("b", |report| report.levels[0].connections = 8), "no arm has complete trials");
        let load = serde_json::from_str(LOAD_SAMPLE).expect("a sample");
        check(&Kept { name: "l".into(), measured: Measured::Load(Box::new(load)) }, "load oltp_read_write");
    }

    #[test]
    fn what_only_one_has_is_named_and_an_unusable_run_is_said_to_be_so() {
        let other = run("b", |report| {
            report.levels[0].arms.truncate(1);
            (report.is_usable, report.why_not) = (false, vec!["it was busy".into()]);
        });
        let report = compare(&run("a", |_| {}), &other).expect("one arm is in both");
        assert_eq!(report.only_in_one, ["TLS, 1 connection, in the first"]);
        assert!(!report.is_usable && report.warnings.iter().any(|text| text.contains("it was busy")));
        assert!(report.effects.is_empty());
    }

    #[test]
    fn two_single_measurements_have_a_point_and_no_interval() {
        let load = |factor: f64, change: fn(&mut LoadReport)| {
            let mut report: LoadReport = serde_json::from_str(LOAD_SAMPLE).expect("a sample");
            report.queries_per_s *= factor;
            change(&mut report);
            Kept { name: "l".into(), measured: Measured::Load(Box::new(report)) }
        };
        let report = compare(&load(1.0, |_| {}), &load(1.25, |_| {})).expect("the same workload");
        assert!(report.differs.is_empty(), "{report:#?}");
        let row = &report.rows[0];
        assert!((row.ratio - 1.25).abs() < 1e-9 && row.low.is_none() && row.differs.is_none(), "{row:?}");
        assert!(report.warnings.iter().any(|text| text.contains("no interval")), "{report:#?}");
        let alone = load(1.0, |report| report.sent_together = 0);
        let report = compare(&load(1.0, |_| {}), &alone).expect("the same workload");
        let what: Vec<&str> = report.differs.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(what, ["statements sent together"]);
    }
}
