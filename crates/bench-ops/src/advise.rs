//! `sealion bench advise`: what measured CPU costs mean for a machine, and what another setting would save.
//!
//! Every sentence has the numbers that it was made of beside it. A limit is what processors carry if each query goes on to
//! cost what it did when it was measured, and it says how far that is from what was seen. Where a number is missing the
//! answer is `unknown`, with what to measure.

use ::bench::stats::{Blocks, Ratio, mean_and_deviation};
use report::shape::{
    AdviceRow, AdviseReport, AdvisedRun, ArmRow, BENCH_ADVISE_SCHEMA_ID, CapacityRow, LevelRow, RunReport,
};

use super::compare::as_run;
use super::counts;
use super::kept::{Kept, Measured};
use super::transfer;
use site::OpsError;

/// Of the resampling: the same run gives the same interval.
const SEED: u64 = 1;
/// What is measured when a server is named and no run is: what most of the advice needs.
pub const MEASURED: &[&str] = &["connect", "tls", "bulk"];
/// Statements of a connection that pooling is reckoned for.
const STATEMENTS: [u32; 3] = [1, 10, 100];

/// Which arms of a level are held against each other: the first of a pair is what there is, the second what could be.
type Pairs = for<'a> fn(&'a LevelRow) -> Vec<(&'a ArmRow, &'a ArmRow)>;

/// What a comparison of arms is about.
struct Topic {
    name: &'static str,
    /// The experiments that answer it.
    experiments: &'static [&'static str],
    /// How the first of them is measured, where nobody did.
    next: &'static str,
    asks: &'static str,
    pairs: Pairs,
}

/// Each of them is looked for, and unknown where nobody measured it.
const TOPICS: &[Topic] = &[
    Topic {
        name: "tls",
        experiments: &["tls", "pool", "stream1", "connect"],
        next: "tls",
        asks: "what TLS costs",
        pairs: |level| {
            let clear = level.arms.iter().find(|arm| arm.tls.is_none());
            clear.zip(sealed(level).first().copied()).into_iter().collect()
        },
    },
    Topic {
        name: "resumption",
        experiments: &["reconnect"],
        next: "reconnect",
        asks: "what session resumption saves",
        pairs: resumed,
    },
    Topic {
        name: "key",
        experiments: &["connect", "pool"],
        next: "connect --lab",
        asks: "what ECDSA instead of RSA saves",
        pairs: with_the_first,
    },
    Topic {
        name: "suite",
        experiments: &["bulk"],
        next: "bulk",
        asks: "what another cipher suite saves",
        pairs: with_the_first,
    },
    Topic {
        name: "version",
        experiments: &["versions"],
        next: "versions",
        asks: "what another TLS version saves",
        pairs: with_the_first,
    },
    Topic {
        name: "group",
        experiments: &["groups"],
        next: "groups",
        asks: "what another key exchange group saves",
        pairs: with_the_first,
    },
];

/// Of what no topic is about, the experiment knows what belongs together.
const OTHER: Topic = Topic {
    name: "setting",
    experiments: &[],
    next: "",
    asks: "what another setting saves",
    pairs: |level| {
        let of = |name: &str| level.arms.iter().find(|arm| arm.name == name);
        let rows = level.comparisons.iter();
        rows.filter_map(|comparison| Some((of(&comparison.of)?, of(&comparison.with)?))).collect()
    },
};

fn sealed(level: &LevelRow) -> Vec<&ArmRow> {
    level.arms.iter().filter(|arm| arm.tls.is_some()).collect()
}

/// Settings that can be chosen instead of each other, each against the first of them.
fn with_the_first(level: &LevelRow) -> Vec<(&ArmRow, &ArmRow)> {
    match sealed(level).split_first() {
        Some((first, others)) => others.iter().map(|arm| (*first, *arm)).collect(),
        None => vec![],
    }
}

/// An arm that resumes, against the same without: "resumed, rustls" and "TLS, rustls", "TLS 1.2 resumed by id, rustls" and
/// "TLS 1.2, rustls".
fn resumed(level: &LevelRow) -> Vec<(&ArmRow, &ArmRow)> {
    let whole = |arm: &ArmRow| {
        [(" resumed by id", ""), (" resumed", ""), ("resumed", "TLS")].iter().find_map(|(word, without)| {
            let name = arm.name.replacen(word, without, 1);
            level.arms.iter().find(|other| other.name == name && other.name != arm.name)
        })
    };
    level.arms.iter().filter_map(|arm| Some((whole(arm)?, arm))).collect()
}

fn one(counts: &str) -> &str {
    counts.strip_suffix("ies").map_or_else(|| counts.trim_end_matches('s'), |_| "query")
}

/// The newest usable run of each experiment, else the newest there is.
pub fn newest(kept: Vec<Kept>) -> Vec<Kept> {
    let mut found: Vec<Kept> = Vec::new();
    for one in kept {
        let Measured::Run(report) = &one.measured else { continue };
        let same = |other: &&mut Kept| matches!(&other.measured, Measured::Run(known) if known.experiment == report.experiment);
        match found.iter_mut().find(same) {
            None => found.push(one),
            Some(other) if report.is_usable && !other.measured.is_usable() => *other = one,
            Some(_) => {}
        }
    }
    found
}

/// What these runs say.
///
/// # Errors
/// There is no run.
pub fn advise(kept: &[Kept]) -> Result<AdviseReport, OpsError> {
    if kept.is_empty() {
        return Err(OpsError::usage(
            "there is no run to base advice on",
            "no run of an experiment is saved, and no server was given",
            "sealion bench run connect, and tls; or give a server: sealion bench advise -h HOST -u USER -p",
        ));
    }
    let runs: Vec<(&str, RunReport)> =
        kept.iter().map(|kept| (kept.name.as_str(), as_run(&kept.measured))).collect();
    let capacity: Vec<CapacityRow> = runs
        .iter()
        .flat_map(|(name, run)| {
            let arms = run.levels.iter().flat_map(|level| level.arms.iter().map(move |arm| (level, arm)));
            arms.filter_map(|(level, arm)| capacity(name, run, level, arm)).collect::<Vec<_>>()
        })
        .collect();
    let mut advice = Vec::new();
    for topic in TOPICS {
        let before = advice.len();
        for (name, run) in runs.iter().filter(|(_, run)| topic.experiments.contains(&run.experiment.as_str()))
        {
            advice.extend(of_topic(topic, name, run));
        }
        if advice.len() == before {
            advice.push(unknown(topic.name, &missing(topic)));
        }
        if topic.name == "tls" {
            advice.push(pooling(&runs));
        }
    }
    let known: Vec<&str> = TOPICS.iter().flat_map(|topic| topic.experiments).copied().collect();
    for (name, run) in &runs {
        // Two arms that are the same have nothing to advise.
        if !known.contains(&run.experiment.as_str()) && run.experiment != "aa" {
            advice.extend(of_topic(&OTHER, name, run));
        }
    }
    Ok(AdviseReport {
        schema: BENCH_ADVISE_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        runs: runs.iter().map(|(name, run)| advised(name, run)).collect(),
        capacity,
        advice,
        not_looked_at: not_looked_at(&runs),
    })
}

fn advised(name: &str, run: &RunReport) -> AdvisedRun {
    AdvisedRun {
        run: name.to_owned(),
        experiment: run.experiment.clone(),
        started_unix_ms: run.started_unix_ms,
        server_version: run.server_version.clone(),
        processors: run.processors,
        cpu_model: run.machine.cpu_model.clone(),
        is_usable: run.is_usable,
        why_not: run.why_not.clone(),
    }
}

fn not_looked_at(runs: &[(&str, RunReport)]) -> Vec<String> {
    let mut found = vec![
        "memory, disks, locks and the network: the limits are those of the processors only".to_owned(),
        "whether a query costs the same when many more arrive at the same time".to_owned(),
    ];
    for (name, run) in runs {
        if !run.is_usable {
            found.push(format!("{name} is not usable: {}", run.why_not.join("; ")));
        }
        found.extend(run.not_looked_at.iter().map(|text| format!("{name}: {text}")));
    }
    found
}

fn missing(topic: &Topic) -> String {
    format!("{}: not measured by any of these runs; sealion bench run {}", topic.asks, topic.next)
}

fn unknown(topic: &str, why: &str) -> AdviceRow {
    AdviceRow { topic: topic.into(), verdict: "unknown".into(), text: why.to_owned(), proof: vec![] }
}

/// CPU time of one of what is counted, trial by trial. `None` where a trial lacks it.
fn client_us(arm: &ArmRow) -> Option<Vec<f64>> {
    let costs: Option<Vec<f64>> =
        arm.samples.iter().map(|trial| trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.total)).collect();
    costs.filter(|costs| !costs.is_empty())
}

fn server_us(arm: &ArmRow) -> Option<Vec<f64>> {
    let costs: Option<Vec<f64>> = arm.samples.iter().map(|trial| trial.server_cpu_us_per_query).collect();
    costs.filter(|costs| !costs.is_empty())
}

fn mean(values: Option<Vec<f64>>) -> Option<f64> {
    mean_and_deviation(&values?).map(|(mean, _)| mean)
}

fn capacity(name: &str, run: &RunReport, level: &LevelRow, arm: &ArmRow) -> Option<CapacityRow> {
    let measured: Vec<f64> = arm.samples.iter().map(|trial| trial.queries_per_s).collect();
    let (measured_per_s, _) = mean_and_deviation(&measured)?;
    // A donor and its joiner serve nobody meanwhile.
    if transfer::is_one(&run.workload) {
        return None;
    }
    let (client, server) = (mean(client_us(arm)), mean(server_us(arm)));
    let limit = |us: f64| (us > 0.0).then(|| run.processors as f64 * 1e6 / us);
    let server_alone_per_s = server.and_then(limit);
    let together_per_s = server.zip(client).and_then(|(server, client)| limit(server + client));
    let beyond = together_per_s.filter(|_| measured_per_s > 0.0).map(|limit| limit / measured_per_s);
    let counts = counts(&run.workload);
    let text = match (server_alone_per_s, together_per_s, beyond) {
        (Some(alone), Some(together), Some(beyond)) => format!(
            "{processors} processors can do {alone} {counts}/s with {arm} when clients are on other machines, \
             {together} when clients share them; {measured} were measured with {connections} connections, so this is \
             {beyond:.1} times what was measured",
            processors = run.processors,
            alone = figure(alone),
            arm = arm.name,
            together = figure(together),
            measured = figure(measured_per_s),
            connections = level.connections,
        ),
        _ => format!(
            "it is unknown how many {counts}/s with {} the server's machine can do: the CPU time of the server was \
             not read, since it is on another machine or may not be inspected; {} were measured with {} connections",
            arm.name,
            figure(measured_per_s),
            level.connections
        ),
    };
    Some(CapacityRow {
        run: name.to_owned(),
        experiment: run.experiment.clone(),
        workload: run.workload.clone(),
        counts: counts.into(),
        connections: level.connections,
        arm: arm.name.clone(),
        tls: arm.tls.clone(),
        trials: arm.samples.len(),
        measured_per_s,
        client_cpu_us: client,
        server_cpu_us: server,
        processors: run.processors,
        server_alone_per_s,
        together_per_s,
        beyond_measured: beyond,
        text,
    })
}

/// Whole above a hundred.
fn figure(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// What an arm of the level with most connections saves or costs, against the one that it is to be held against. Nothing: this
/// run is not about that.
fn of_topic(topic: &Topic, name: &str, run: &RunReport) -> Vec<AdviceRow> {
    let filled = |level: &&LevelRow| level.arms.iter().all(|arm| !arm.samples.is_empty());
    let Some(level) = run.levels.iter().filter(filled).max_by_key(|level| level.connections) else {
        return vec![unknown(topic.name, &format!("{}: {name} has no complete block", topic.asks))];
    };
    let pairs = (topic.pairs)(level);
    let lacks = pairs.iter().flat_map(|(of, with)| [of, with]).find(|arm| server_us(arm).is_none());
    if let Some(arm) = lacks {
        return vec![unknown(
            topic.name,
            &format!(
                "{}: in {name} the server's CPU time is not known ({}); run the experiment on the server's machine",
                topic.asks, arm.name
            ),
        )];
    }
    pairs.into_iter().filter_map(|(of, with)| advice(topic, name, run, level, of, with)).collect()
}

/// With how many blocks it is of: where the kernel's clock counted nothing for a trial, there is no ratio.
fn ratio(of: &[f64], with: &[f64]) -> Option<(Ratio, usize)> {
    let mut blocks = Blocks::default();
    for (of, with) in of.iter().zip(with) {
        blocks.push(vec![*of, *with]);
    }
    Some((blocks.ratio(0, 1, SEED)?, blocks.len()))
}

fn advice(
    topic: &Topic,
    name: &str,
    run: &RunReport,
    level: &LevelRow,
    of: &ArmRow,
    with: &ArmRow,
) -> Option<AdviceRow> {
    let (of_us, with_us) = (server_us(of)?, server_us(with)?);
    let server = ratio(&of_us, &with_us)?;
    let client = client_us(of).zip(client_us(with)).and_then(|(of, with)| ratio(&of, &with));
    let (verdict, effect) = said(&server);
    let counted = one(counts(&run.workload));
    let client_text = client.map(|client| format!("; the client's {}", said(&client).1)).unwrap_or_default();
    let text = format!(
        "{} instead of {}: per {counted} the CPU time of the server {effect}{client_text}",
        with.name, of.name
    );
    let proof = [of, with].map(|arm| {
        let cost = |values: Option<Vec<f64>>| {
            values.and_then(|values| mean_and_deviation(&values)).map_or("not known".into(), |(mean, sd)| {
                format!("{mean:.1} us (sd {})", sd.map_or("-".into(), |sd| format!("{sd:.1}")))
            })
        };
        format!(
            "{name}, {} connections, {}: a {counted} cost the server {} and the client {} of CPU time, in {} trials",
            level.connections,
            arm.name,
            cost(server_us(arm)),
            cost(client_us(arm)),
            arm.samples.len()
        )
    });
    Some(AdviceRow { topic: topic.name.into(), verdict: verdict.into(), text, proof: proof.into() })
}

/// The verdict, and the effect in words that follow "the server's CPU".
fn said((ratio, blocks): &(Ratio, usize)) -> (&'static str, String) {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let change = percent(ratio.ratio);
    let Some((low, high)) = ratio.interval else {
        return (
            "too few trials",
            format!(
                "changes by {change:+.1} %, without an interval ({blocks} blocks in which both cost something)"
            ),
        );
    };
    let (low, high) = (percent(low), percent(high));
    match ratio.differs() {
        Some(true) if change < 0.0 => {
            ("saves", format!("is {:.1} % less, {:.1} to {:.1}", -change, -high, -low))
        }
        Some(true) => ("costs", format!("is {change:.1} % more, {low:.1} to {high:.1}")),
        _ => ("no difference", format!("shows no difference ({change:+.1} %, {low:+.1} to {high:+.1})")),
    }
}

/// The arm with TLS at most connections, of the newest run that fits.
fn over_tls<'a>(
    runs: &'a [(&str, RunReport)],
    fits: impl Fn(&RunReport) -> bool,
) -> Option<(&'a str, &'a RunReport, &'a LevelRow, &'a ArmRow)> {
    runs.iter().filter(|(_, run)| fits(run)).find_map(|(name, run)| {
        let level = run.levels.iter().max_by_key(|level| level.connections)?;
        let arm = level.arms.iter().find(|arm| arm.tls.is_some() && !arm.samples.is_empty())?;
        Some((*name, run, level, arm))
    })
}

/// A connection costs so much, a statement so much: what a pool saves is how much of it was connecting.
fn pooling(runs: &[(&str, RunReport)]) -> AdviceRow {
    const ASKS: &str = "what a pool of connections saves";
    // Others connect through tunnels, or to something that is no database.
    let of_connect = over_tls(runs, |run| matches!(run.experiment.as_str(), "connect" | "load connect"));
    let of_query = over_tls(runs, |run| {
        let is_plain =
            matches!(run.experiment.as_str(), "tls" | "pool") || run.experiment.starts_with("load ");
        is_plain && counts(&run.workload) == "queries"
    });
    let (connect, query) = match (of_connect, of_query) {
        (Some(connect), Some(query)) => (connect, query),
        (None, _) => {
            return unknown(
                "pooling",
                &format!("{ASKS}: no run with TLS shows the cost of a connection; sealion bench run connect"),
            );
        }
        (_, None) => {
            return unknown(
                "pooling",
                &format!("{ASKS}: no run with TLS shows the cost of a query; sealion bench run tls"),
            );
        }
    };
    // Costs of two machines, or of two servers, say nothing about one another.
    let place =
        |run: &RunReport| (run.machine.cpu_model.clone(), run.targets.clone(), run.server_version.clone());
    if place(connect.1) != place(query.1) {
        return unknown(
            "pooling",
            &format!("{ASKS}: {} and {} are from different servers or machines", connect.0, query.0),
        );
    }
    let costs = |arm: &ArmRow| Some((mean(server_us(arm))?, mean(client_us(arm))?));
    let (Some((connect_server, connect_client)), Some((query_server, query_client))) =
        (costs(connect.3), costs(query.3))
    else {
        return unknown(
            "pooling",
            &format!(
                "{ASKS}: the server's CPU time is not known; run the experiments on the server's machine"
            ),
        );
    };
    let (connecting, asking) = (connect_server + connect_client, query_server + query_client);
    let shares: Vec<String> = STATEMENTS
        .iter()
        .map(|statements| {
            let share = connecting / (connecting + f64::from(*statements) * asking);
            let word = if *statements == 1 { "query" } else { "queries" };
            format!("{:.0} % for {statements} {word} per connection", share * 100.0)
        })
        .collect();
    let proof = [
        (connect, "connection", connect_server, connect_client),
        (query, "query", query_server, query_client),
    ]
    .map(|((name, run, level, arm), counted, server, client)| {
        format!(
            "{name}, {}, {} connections, {}: a {counted} cost the server {server:.1} us and the client {client:.1} \
             us of CPU time, in {} trials",
            run.workload,
            level.connections,
            arm.name,
            arm.samples.len()
        )
    });
    AdviceRow {
        topic: "pooling".into(),
        verdict: if connecting > 0.0 { "saves" } else { "no difference" }.into(),
        text: format!(
            "a connection with TLS costs as much CPU time as {:.0} queries of {}: a connection pool saves, of the \
             CPU time of both sides, {}",
            connecting / asking.max(1e-9),
            query.1.workload,
            shares.join(", ")
        ),
        proof: proof.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN_SAMPLE: &str = include_str!("../../report/testdata/bench-run.json");

    /// The sample with five trials an arm, which cost the server and the client so much, and a little more and less.
    fn run(experiment: &str, workload: &str, costs: &[(&str, f64, f64)]) -> Kept {
        let mut report: RunReport = serde_json::from_str(RUN_SAMPLE).expect("a sample");
        (report.experiment, report.workload) = (experiment.into(), workload.into());
        (report.is_usable, report.why_not, report.processors) = (true, vec![], 2);
        let level = &mut report.levels[0];
        let models = level.arms.clone();
        level.arms = costs
            .iter()
            .enumerate()
            .map(|(place, (name, server, client))| {
                let mut arm = models[place.min(1)].clone();
                arm.name = (*name).to_owned();
                for (trial, factor) in arm.samples.iter_mut().zip([0.99, 1.0, 1.01, 0.995, 1.005]) {
                    trial.server_cpu_us_per_query = Some(server * factor);
                    if let Some(cpu) = &mut trial.client_cpu_us_per_query {
                        cpu.total = client * factor;
                    }
                    trial.queries_per_s = 400.0;
                }
                arm
            })
            .collect();
        Kept { name: experiment.to_uppercase(), measured: Measured::Run(Box::new(report)) }
    }

    fn find<'a>(report: &'a AdviseReport, topic: &str) -> &'a AdviceRow {
        report.advice.iter().find(|row| row.topic == topic).unwrap_or_else(|| panic!("{topic}: {report:#?}"))
    }

    #[test]
    fn limits_are_processors_by_costs_and_say_how_far_they_go() {
        let runs = [run("connect", "connect", &[("cleartext", 200.0, 100.0), ("TLS", 1_200.0, 800.0)])];
        let report = advise(&runs).expect("a run");
        let row = &report.capacity[1];
        let close = |value: Option<f64>, expected: f64| (value.expect("known") / expected - 1.0).abs() < 1e-3;
        assert!(
            close(row.server_alone_per_s, 2e6 / 1_200.0) && close(row.together_per_s, 1_000.0),
            "{row:?}"
        );
        assert!(
            close(row.beyond_measured, 2.5) && row.text.contains("2.5 times what was measured"),
            "{row:?}"
        );
        assert_eq!((row.counts.as_str(), row.trials), ("connections", 5));
        let tls = find(&report, "tls");
        assert_eq!(tls.verdict, "costs");
        assert!(tls.text.contains("500.0 % more") && tls.proof[1].contains("1200.0 us"), "{tls:?}");
    }

    #[test]
    fn a_pool_saves_what_connecting_costs() {
        let runs = [
            run("connect", "connect", &[("cleartext", 200.0, 100.0), ("TLS", 1_200.0, 800.0)]),
            run("tls", "oltp_read_only", &[("cleartext", 70.0, 10.0), ("TLS", 80.0, 20.0)]),
        ];
        let pooling = find(&advise(&runs).expect("runs"), "pooling").clone();
        assert_eq!(pooling.verdict, "saves");
        // 2000 us and 100 us: 20 queries; 2000 of 2100, of 3000 and of 12000.
        for words in ["as 20 queries", "95 % for 1 query", "67 % for 10 queries", "17 % for 100 queries"] {
            assert!(pooling.text.contains(words), "{words}: {pooling:?}");
        }
        assert!(pooling.proof[0].contains("CONNECT") && pooling.proof[1].contains("80.0 us"), "{pooling:?}");
        let mut elsewhere = runs;
        let Measured::Run(report) = &mut elsewhere[1].measured else { panic!("a run") };
        report.targets = vec!["db2:3306".into()];
        let row = find(&advise(&elsewhere).expect("runs"), "pooling").clone();
        assert!(row.verdict == "unknown" && row.text.contains("different servers"), "{row:?}");
    }

    #[test]
    fn arms_that_can_be_chosen_are_held_against_the_first_of_them() {
        let runs = [run(
            "bulk",
            "stream",
            &[("cleartext", 1.0, 1.0), ("AES-128-GCM", 100.0, 50.0), ("ChaCha20-Poly1305", 150.0, 50.0)],
        )];
        let report = advise(&runs).expect("a run");
        let row = find(&report, "suite");
        assert_eq!(row.verdict, "costs");
        assert!(
            row.text.starts_with(
                "ChaCha20-Poly1305 instead of AES-128-GCM: per table the CPU time of the server is 50.0 % more"
            ) && row.text.contains("the client's shows no difference"),
            "{row:?}"
        );
        assert_eq!(report.advice.iter().filter(|row| row.topic == "suite").count(), 1);
    }

    #[test]
    fn keys_and_resumed_sessions_are_held_against_what_they_replace() {
        let keys = [
            ("cleartext", 1.0, 1.0),
            ("TLS", 1_200.0, 400.0),
            ("TLS, RSA 4096", 4_800.0, 400.0),
            ("TLS, P-256", 300.0, 400.0),
        ];
        let sessions = [
            ("cleartext", 1.0, 1.0),
            ("TLS, rustls", 1_000.0, 500.0),
            ("resumed, rustls", 250.0, 200.0),
            ("TLS 1.2, rustls", 1_000.0, 500.0),
            ("TLS 1.2 resumed, rustls", 400.0, 200.0),
            ("TLS 1.2 resumed by id, rustls", 300.0, 200.0),
            ("5 ms: TLS, rustls", 1_000.0, 500.0),
            ("5 ms: resumed, rustls", 500.0, 200.0),
        ];
        let report = advise(&[run("connect", "connect", &keys), run("reconnect", "connect", &sessions)])
            .expect("runs");
        let texts = |topic: &str| -> Vec<String> {
            let rows = report.advice.iter().filter(|row| row.topic == topic);
            rows.map(|row| format!("{} {}", row.verdict, row.text)).collect()
        };
        let check = |topic: &str, expected: &[&str]| {
            let texts = texts(topic);
            assert_eq!(texts.len(), expected.len(), "{texts:?}");
            for (text, start) in texts.iter().zip(expected) {
                assert!(text.starts_with(start), "{start}: {text}");
            }
        };
        check(
            "key",
            &[
                "costs TLS, RSA 4096 instead of TLS: per connection the CPU time of the server is 300.0 % more",
                "saves TLS, P-256 instead of TLS: per connection the CPU time of the server is 75.0 % less",
            ],
        );
        check(
            "resumption",
            &[
                "saves resumed, rustls instead of TLS, rustls: per connection the CPU time of the server is 75.0 % less",
                "saves TLS 1.2 resumed, rustls instead of TLS 1.2, rustls: per connection the CPU time of the server is 60.0 % less",
                "saves TLS 1.2 resumed by id, rustls instead of TLS 1.2, rustls: per connection the CPU time of the server is 70.0 % less",
                "saves 5 ms: resumed, rustls instead of 5 ms: TLS, rustls: per connection the CPU time of the server is 50.0 % less",
            ],
        );
        check("tls", &["costs TLS instead of cleartext"]);
    }

    #[test]
    fn what_a_run_lacks_is_unknown_with_why_and_never_a_number() {
        let mut kept = run("connect", "connect", &[("cleartext", 200.0, 100.0), ("TLS", 1_200.0, 800.0)]);
        let Measured::Run(report) = &mut kept.measured else { panic!("a run") };
        for arm in &mut report.levels[0].arms {
            arm.samples.iter_mut().for_each(|trial| trial.server_cpu_us_per_query = None);
        }
        let report = advise(&[kept]).expect("a run");
        for row in &report.capacity {
            assert!(row.server_alone_per_s.is_none() && row.together_per_s.is_none(), "{row:?}");
            assert!(row.text.starts_with("it is unknown") && row.client_cpu_us.is_some(), "{row:?}");
        }
        for topic in ["tls", "pooling", "resumption", "key", "suite", "version", "group"] {
            let row = find(&report, topic);
            assert!(row.verdict == "unknown" && row.proof.is_empty() && !row.text.is_empty(), "{row:?}");
        }
        assert!(find(&report, "suite").text.contains("sealion bench run bulk"));
        assert!(find(&report, "key").text.contains("sealion bench run connect --lab"));
        assert!(find(&report, "tls").text.contains("server's CPU time is not known"));
        assert!(advise(&[]).is_err());
    }

    #[test]
    fn few_blocks_are_a_point_and_two_equal_arms_are_no_difference() {
        let mut kept = run("versions", "connect", &[("TLS 1.2", 100.0, 50.0), ("TLS 1.3", 150.0, 50.0)]);
        let Measured::Run(report) = &mut kept.measured else { panic!("a run") };
        for arm in &mut report.levels[0].arms {
            arm.samples.truncate(3);
            arm.tls = Some(report::shape::LoadTlsRow { version: "TLSv1.3".into(), cipher: "c".into() });
        }
        let row = find(&advise(&[kept.clone()]).expect("a run"), "version").clone();
        assert!(row.verdict == "too few trials" && row.text.contains("+50.0 %"), "{row:?}");
        let mut same = run("library", "oltp_read_only", &[("OpenSSL", 100.0, 50.0), ("rustls", 100.0, 50.0)]);
        let Measured::Run(report) = &mut same.measured else { panic!("a run") };
        (report.levels[0].comparisons[0].of, report.levels[0].comparisons[0].with) =
            ("OpenSSL".into(), "rustls".into());
        assert_eq!(find(&advise(&[same]).expect("a run"), "setting").verdict, "no difference");
    }

    #[test]
    fn the_newest_usable_run_of_an_experiment_speaks_for_it() {
        let named = |name: &str, experiment: &str, is_usable: bool| {
            let mut kept = run(experiment, "connect", &[("cleartext", 1.0, 1.0), ("TLS", 2.0, 1.0)]);
            let Measured::Run(report) = &mut kept.measured else { panic!("a run") };
            report.is_usable = is_usable;
            kept.name = name.into();
            kept
        };
        let kept = vec![
            named("4", "connect", false),
            named("3", "connect", true),
            named("2", "connect", true),
            named("1", "tls", false),
        ];
        let names: Vec<String> = newest(kept).into_iter().map(|kept| kept.name).collect();
        assert_eq!(names, ["3", "1"]);
    }
}
