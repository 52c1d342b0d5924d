//! `sealion bench advise`.

use std::fmt::Write as _;
use std::time::Duration;

use bench_ops::Load;
use bench_ops::advise as advice;
use bench_ops::effect;
use bench_ops::experiment::Method;
use bench_ops::kept::{self, Kept, Measured};
use bench_ops::rig::Rig;
use clap::Args;
use report::shape::AdviseReport;
use site::OpsError;

use super::keep::{kept_as, places};
use super::run::measure;
use super::trial::{BenchTrial, none_without_effect, targets, trial, wish};
use super::{BenchKeep, code, json, of_a_run};
use crate::options::{Format, Global, TABLE_OR_JSON, connect, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = of_a_run!(
        "  sealion bench advise\n  sealion bench advise -h db1 -u bench -p -c 16",
        "Without RUN and without a server, the newest usable run of each experiment is used, or the newest if none is usable. With a\n\
         server (-h HOST), the experiments connect, tls and bulk are run first, in short trials, and saved; their tables come from\n\
         `sealion bench prepare`. Options of the measurement (-c, --ssl-mode, --seed, ...) apply only then.\n\nExit codes: 7 when a run \
         that was used is not usable. 2: there is no run, or it could not be saved. 3: nothing could be measured."
    )
)]
pub struct BenchAdviseArgs {
    /// Measurements to use
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub keep: BenchKeep,
    #[command(flatten)]
    pub trial: BenchTrial,
}

/// Of `advise`, when it measures: an interval of the ratio takes five blocks.
const ADVISE_BLOCKS: usize = 5;

const ADVISE_TRIAL: Duration = Duration::from_secs(1);

const ADVISE_WARM_UP: Duration = Duration::from_millis(300);

pub fn advise(global: &Global, args: &BenchAdviseArgs) -> Result<u8, OpsError> {
    let is_named = connect::names_a_server(&args.trial.connect);
    if is_named && !args.runs.is_empty() {
        return Err(OpsError::usage(
            "both a run and a server were given",
            "advice uses either saved runs or a new measurement",
            "leave one of them out",
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
            "us: CPU time of one. alone/s: maximum for the server when clients are on other machines; shared/s: \
             maximum with the clients on the same machine, as in the measurement; beyond: shared/s divided by seen/s",
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
        let _ = writeln!(out, "{}", show::wrapped("not checked: ", line));
    }
    out.trim_end().to_owned()
}
