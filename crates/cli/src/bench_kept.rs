//! `sealion bench runs`, `show`, `compare`, `export`, `advise`: what becomes of measurements.

use std::fmt::Write as _;
use std::io::{ErrorKind, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bench_ops::effect;
use bench_ops::experiment::Method;
use bench_ops::kept::{self, Kept, Measured};
use bench_ops::rig::Rig;
use bench_ops::{Load, advise as advice, compare as comparison};
use report::formats::bench::{trials_csv, trials_parquet};
use report::shape::{AdviseReport, BENCH_RUNS_SCHEMA_ID, CompareReport, KeptRow, RunReport, RunsReport};
use site::{Cluster, OpsError};

use crate::args::{
    BenchAdviseArgs, BenchCompareArgs, BenchExportArgs, BenchKeep, BenchRunsArgs, BenchShowArgs, Format,
    Global,
};
use crate::bench::{
    NOT_USABLE, code, json, measure, none_without_effect, run_text, targets, text, trial, wish,
};
use crate::{connect, interrupt, scan, show};

/// Of `advise`, when it measures: an interval of the ratio takes five blocks.
const ADVISE_BLOCKS: usize = 5;
const ADVISE_TRIAL: Duration = Duration::from_secs(1);
const ADVISE_WARM_UP: Duration = Duration::from_millis(300);

/// Keeps a measurement where it belongs, and says where, or why not. False: it was to be kept, and was not.
pub fn keep(cluster: Option<&Cluster>, args: &BenchKeep, measured: &Measured) -> bool {
    kept_as(cluster, args, measured).is_ok()
}

/// Its id, `None` where it was not to be kept.
fn kept_as(cluster: Option<&Cluster>, args: &BenchKeep, measured: &Measured) -> Result<Option<String>, ()> {
    if args.no_store {
        return Ok(None);
    }
    let places = kept::places(cluster, args.store.as_deref());
    match kept::keep(places.first().map(PathBuf::as_path), measured) {
        Ok(id) => {
            show::tell(&format!("kept as {id}: sealion bench show {id}"));
            Ok(Some(id))
        }
        Err(why) => {
            show::tell(&format!(
                "{} this measurement was not kept; what was printed is all there is of it\n  {}",
                show::red("warning:"),
                why.replace('\n', "\n  ")
            ));
            Err(())
        }
    }
}

/// A file for people.
pub fn write(path: &Path, text: &str) -> Result<(), OpsError> {
    std::fs::write(path, text).map_err(|error| {
        OpsError::usage(
            format!("{} cannot be written", path.display()),
            error.to_string(),
            "name a place that you may write to, and that has room; sealion bench show RUN --html FILE draws a kept run",
        )
    })
}

/// The inventory's store where there is an inventory, and the user's own.
fn places(global: &Global, given: Option<&Path>) -> Result<Vec<PathBuf>, OpsError> {
    let cluster = if given.is_none() && global.inventory.exists() {
        Some(Cluster::read(&global.inventory)?)
    } else {
        None
    };
    Ok(kept::places(cluster.as_ref(), given))
}

pub fn runs(global: &Global, args: &BenchRunsArgs) -> Result<u8, OpsError> {
    let places = places(global, args.store.store.as_deref())?;
    let (found, unread) = kept::list(&places, args.limit)?;
    let runs: Vec<(&str, &str, RunReport)> = found
        .iter()
        .map(|one| {
            let kind = if matches!(one.measured, Measured::Run(_)) { "run" } else { "load" };
            (one.name.as_str(), kind, comparison::as_run(&one.measured))
        })
        .collect();
    if global.format == Format::Json {
        let row = |(id, kind, run): (&str, &str, RunReport)| KeptRow {
            run: id.into(),
            kind: kind.into(),
            experiment: run.experiment,
            workload: run.workload,
            started_unix_ms: run.started_unix_ms,
            targets: run.targets,
            server_version: run.server_version,
            is_usable: run.is_usable,
        };
        show::out(&json(&RunsReport {
            schema: BENCH_RUNS_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            runs: runs.into_iter().map(row).collect(),
            unread,
        })?);
    } else {
        let rows = runs
            .iter()
            .map(|(id, _, run)| {
                vec![
                    (*id).to_owned(),
                    run.experiment.clone(),
                    run.targets.join(" "),
                    if run.is_usable { "yes" } else { "no" }.into(),
                ]
            })
            .collect();
        show::out(&show::table(&["run", "experiment", "server", "usable"], rows));
    }
    if unread > 0 {
        show::tell(&format!("note: {unread} kept measurements are of another version, and are not shown"));
    }
    Ok(0)
}

pub fn show(global: &Global, args: &BenchShowArgs) -> Result<u8, OpsError> {
    if let Some(path) = &args.html {
        scan::writable(path)?;
    }
    let kept = kept::read(&places(global, args.store.store.as_deref())?, &args.run)?;
    let shown = match (&kept.measured, global.format == Format::Json) {
        (Measured::Run(report), true) => json(report)?,
        (Measured::Load(report), true) => json(report)?,
        (Measured::Run(report), false) => run_text(report),
        (Measured::Load(report), false) => text(report),
    };
    show::out(&shown);
    if let Some(path) = &args.html {
        write(path, &report::html::render_bench_html(&comparison::as_run(&kept.measured)))?;
    }
    Ok(0)
}

pub fn compare(global: &Global, args: &BenchCompareArgs) -> Result<u8, OpsError> {
    let places = places(global, args.store.store.as_deref())?;
    let (first, second) = (kept::read(&places, &args.first)?, kept::read(&places, &args.second)?);
    let report = comparison::compare(&first, &second)?;
    if global.format == Format::Json {
        show::out(&json(&report)?);
    } else {
        show::out(&compare_text(&report));
    }
    Ok(if report.is_usable { 0 } else { NOT_USABLE })
}

fn compare_text(report: &CompareReport) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    for (which, side) in [("first", &report.first), ("second", &report.second)] {
        let when = model::clock::rfc3339(side.started_unix_ms);
        let when = when.get(..19).unwrap_or_default().replace('T', " ");
        let about = format!("{} of {when} UTC, {}", side.run, side.server_version);
        let _ = writeln!(out, "{}", show::wrapped(&format!("{which:<7} "), &about));
    }
    let figure = |value: f64| if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
    let interval = |low: Option<f64>, high: Option<f64>| {
        low.zip(high).map_or("-".to_owned(), |(low, high)| format!("{low:.3} to {high:.3}"))
    };
    let rows = report
        .rows
        .iter()
        .map(|row| {
            vec![
                row.connections.to_string(),
                row.arm.clone(),
                figure(row.first_mean),
                figure(row.second_mean),
                format!("{:.3}", row.ratio),
                interval(row.low, row.high),
            ]
        })
        .collect();
    let header = ["conns", "arm", "first", "second", "ratio", "95 %"];
    let _ = writeln!(out, "{}, {}\n\n{}\n", report.experiment, report.unit, show::table(&header, rows));
    for row in &report.rows {
        let _ = writeln!(out, "{}", show::wrapped("- ", &row.text));
    }
    for effect in &report.effects {
        let _ = writeln!(out, "{}", show::wrapped("- ", &effect.text));
    }
    if !report.differs.is_empty() {
        let rows = report
            .differs
            .iter()
            .map(|row| vec![row.what.clone(), row.first.clone(), row.second.clone()])
            .collect();
        let _ = writeln!(out, "\n{}", show::table(&["not the same", "first", "second"], rows));
    }
    if !report.only_in_one.is_empty() {
        let _ = writeln!(out, "\n{}", show::wrapped("only in one: ", &report.only_in_one.join("; ")));
    }
    out.push('\n');
    for warning in &report.warnings {
        let _ = writeln!(out, "{}", show::wrapped("note: ", warning));
    }
    out.trim_end().to_owned()
}

pub fn export(global: &Global, args: &BenchExportArgs) -> Result<u8, OpsError> {
    let kept = kept::read(&places(global, args.store.store.as_deref())?, &args.run)?;
    let bytes = match (&kept.measured, global.format) {
        (Measured::Run(report), Format::Json) => (json(report)? + "\n").into_bytes(),
        (Measured::Load(report), Format::Json) => (json(report)? + "\n").into_bytes(),
        (measured, Format::Parquet) => trials_parquet(&comparison::as_run(measured))
            .map_err(|error| OpsError::internal("the trials cannot be written as Parquet", error))?,
        // Its lines end as RFC 4180 says.
        (measured, _) => trials_csv(&comparison::as_run(measured)).into_bytes(),
    };
    if let Some(path) = &args.out {
        std::fs::write(path, &bytes).map_err(|error| {
            OpsError::usage(
                format!("{} cannot be written", path.display()),
                error.to_string(),
                "name a file that you may write",
            )
        })?;
        return Ok(0);
    }
    let mut stdout = std::io::stdout();
    if global.format == Format::Parquet && stdout.is_terminal() {
        return Err(OpsError::usage(
            "a Parquet file is nothing for a terminal",
            "it is bytes, not text",
            "name a file: --out trials.parquet",
        ));
    }
    match stdout.write_all(&bytes).and_then(|()| stdout.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(OpsError::usage(
            "standard output cannot be written",
            error.to_string(),
            "name a file: --out FILE",
        )),
        _ => Ok(0),
    }
}

pub fn advise(global: &Global, args: &BenchAdviseArgs) -> Result<u8, OpsError> {
    let is_named = connect::names_a_server(&args.trial.connect);
    if is_named && !args.runs.is_empty() {
        return Err(OpsError::usage(
            "both a run and a server are named",
            "advice is given from runs, or from what is measured now",
            "leave out one of them",
        ));
    }
    let mut is_kept = true;
    let kept: Vec<Kept> = if is_named {
        let (found, all_kept) = measured(global, args)?;
        is_kept = all_kept;
        found
    } else {
        let places = places(global, args.keep.store.as_deref())?;
        if args.runs.is_empty() {
            advice::newest(kept::list(&places, u32::MAX)?.0)
        } else {
            args.runs.iter().map(|run| kept::read(&places, run)).collect::<Result<_, _>>()?
        }
    };
    let report = advice::advise(&kept)?;
    if global.format == Format::Json {
        show::out(&json(&report)?);
    } else {
        show::out(&advise_text(&report));
    }
    Ok(code(report.runs.iter().all(|run| run.is_usable), is_kept))
}

/// Measures what most of the advice needs. Whether all was kept comes with it.
fn measured(global: &Global, args: &BenchAdviseArgs) -> Result<(Vec<Kept>, bool), OpsError> {
    let cluster = connect::cluster(global, &args.trial.connect)?;
    let targets = targets(&cluster, &args.trial)?;
    // Before minutes have gone into the first of them.
    if let Some(first) = targets.first() {
        bench_ops::schema_is_ours(first, &args.trial.tables.database)?;
    }
    let experiments: Vec<_> =
        advice::MEASURED.iter().filter_map(|name| bench_ops::experiments::experiment(name)).collect();
    none_without_effect(effect::of_experiments(&wish(&args.trial)?, &targets, &experiments))?;
    let mut rig = Rig::named(targets);
    let stop = interrupt::flag()?;
    let (mut found, mut all_kept) = (Vec::new(), true);
    for experiment in experiments {
        let name = experiment.name;
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        show::tell(&format!("measuring {name}: {}", experiment.question));
        let method = Method {
            blocks: ADVISE_BLOCKS,
            precision: None,
            is_quick: true,
            load: Load {
                time: Some(ADVISE_TRIAL),
                warm_up: ADVISE_WARM_UP,
                ..trial(&args.trial, experiment.workload)
            },
        };
        let report = measure(&mut rig, experiment, &method, &stop)?;
        let measured = Measured::Run(Box::new(report));
        let kept = kept_as(Some(&cluster), &args.keep, &measured);
        all_kept &= kept.is_ok();
        let name = kept.ok().flatten().unwrap_or_else(|| format!("{name}, measured now"));
        found.push(Kept { name, measured });
    }
    Ok((found, all_kept))
}

fn advise_text(report: &AdviseReport) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let cost = |value: Option<f64>| {
        value.map_or(
            "unknown".to_owned(),
            |us| if us < 100.0 { format!("{us:.1}") } else { format!("{us:.0}") },
        )
    };
    let per_s = |value: Option<f64>| value.map_or("unknown".to_owned(), |value| format!("{value:.0}"));
    let header = ["conns", "arm", "seen/s", "server us", "client us", "alone/s", "shared/s", "beyond"];
    for run in &report.runs {
        let of_run = || report.capacity.iter().filter(|row| row.run == run.run);
        let Some(first) = of_run().next() else { continue };
        let usable = if run.is_usable { "" } else { " (NOT USABLE)" };
        let about = format!(
            "{}{usable}: {} on {} processors ({}), {}; {}",
            run.experiment, first.counts, run.processors, run.cpu_model, run.server_version, run.run
        );
        let rows = of_run()
            .map(|row| {
                vec![
                    row.connections.to_string(),
                    row.arm.clone(),
                    per_s(Some(row.measured_per_s)),
                    cost(row.server_cpu_us),
                    cost(row.client_cpu_us),
                    per_s(row.server_alone_per_s),
                    per_s(row.together_per_s),
                    row.beyond_measured.map_or("-".into(), |times| format!("{times:.1}x")),
                ]
            })
            .collect();
        let _ = writeln!(out, "{}\n{}\n", show::wrapped("", &about), show::table(&header, rows));
    }
    let _ = writeln!(
        out,
        "{}\n",
        show::wrapped(
            "",
            "us: CPU time of one. alone/s: as many as all processors carry for the server when clients are elsewhere; \
             shared/s: with the clients on the same machine, as when it was measured; beyond: shared/s by seen/s",
        )
    );
    for row in &report.advice {
        let _ = writeln!(
            out,
            "{}",
            show::wrapped(&format!("{:<11} ", row.topic), &format!("{}: {}", row.verdict, row.text))
        );
        for proof in &row.proof {
            let _ = writeln!(out, "{}", show::wrapped("            by ", proof));
        }
    }
    out.push('\n');
    for line in &report.not_looked_at {
        let _ = writeln!(out, "{}", show::wrapped("not looked at: ", line));
    }
    out.trim_end().to_owned()
}
