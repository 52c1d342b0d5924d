//! `sealion bench run`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::bench::load::tables::Plan;
use bench_ops::experiment::{Method, TrialProgress};
use bench_ops::kept::Measured;
use bench_ops::rig::{LabPlan, Rig};
use bench_ops::{EXPERIMENTS, Experiment, Load, effect, file};
use clap::Args;
use report::shape::RunReport;
use site::{Cluster, OpsError};

use super::keep::{keep, write};
use super::prepare::plan;
use super::text::run_text;
use super::trial::{BenchTrial, none_without_effect, percent, seconds, some_seconds, targets, trial, wish};
use super::{BenchKeep, code, json};
use crate::options::{Format, Global, TABLE_OR_JSON, connect, formats};
use crate::verbs::scan;
use crate::{interrupt, show};

/// Options of [`Connect`] that say nothing where the servers are made.
const OF_A_SERVER: &[&str] = &[
    "host",
    "port",
    "user",
    "password",
    "password_file",
    "password_fd",
    "socket",
    "defaults_file",
    "defaults_extra_file",
    "defaults_group_suffix",
    "login_path",
    "ssl_mode",
    "ssl",
    "skip_ssl",
    "ssl_verify_server_cert",
    "ssl_ca",
    "ssl_crl",
    "ssl_cert",
    "ssl_key",
];

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion bench run tls -h db1 -u bench -p --tables 8 -c 16
  sealion bench run all --lab --quick
  sealion bench run sst,sst-tools,sst-ciphers --lab
  sealion bench run my-experiment.toml -h db1 -u bench -p --precision 2

Exit codes: 7 when the result is not usable (the machine was busy with something else, it drifts, a trial failed): it is printed all
the same, with the reason. 2, 3 and 6: as those of load."
)]
pub struct BenchRunArgs {
    /// Experiments (see `sealion bench list`) with commas, `all`, or a .toml file
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: String,
    /// Start servers for the experiment on this machine
    ///
    /// Use servers that are started for the experiment on this machine and removed afterwards. Without it, arms that need such servers
    /// are left out.
    #[arg(long, conflicts_with_all = OF_A_SERVER)]
    pub lab: bool,
    /// Blocks, each with one trial an arm
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=60), display_order = 1)]
    pub blocks: u32,
    /// Add blocks until ratios are this precise
    #[arg(long, value_name = "PERCENT", value_parser = percent, display_order = 1)]
    pub precision: Option<f64>,
    /// Length of a trial in seconds
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = some_seconds, display_order = 1)]
    pub trial_time: f64,
    /// Warm-up before each trial in seconds
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds, display_order = 1)]
    pub warm_up: f64,
    /// Short trials for a rough figure
    ///
    /// Three trials of less than a second an arm, at most three levels: a rough figure without an interval.
    #[arg(long, conflicts_with_all = ["blocks", "precision", "trial_time", "warm_up"], display_order = 1)]
    pub quick: bool,
    /// Write an HTML page with plots to FILE
    #[arg(long, value_name = "FILE", display_order = 1)]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub keep: BenchKeep,
    #[command(flatten)]
    pub trial: BenchTrial,
}

/// The name of all experiments together.
pub(super) const ALL: &str = "all";

/// Where it is measured. A namespace is entered by the whole process, so nothing may run beside this yet.
fn rig(
    global: &Global,
    args: &BenchRunArgs,
    chosen: &[&Experiment],
) -> Result<(Rig, Option<Cluster>), OpsError> {
    let wish = wish(&args.trial)?;
    if !args.lab {
        let cluster = connect::cluster(global, &args.trial.connect)?;
        let targets = targets(&cluster, &args.trial)?;
        none_without_effect(effect::of_experiments(&wish, &targets, chosen))?;
        return Ok((Rig::named(targets), Some(cluster)));
    }
    let mut tls = net::TlsOptions::default();
    wish.put_into(&mut tls);
    let asked = net::ConnectOptions::default().tls(tls.clone());
    none_without_effect(effect::of_experiments(&wish, &[asked], chosen))?;
    bench_ops::rig::is_possible()?;
    let home = bench_ops::rig::Home::make()?;
    let namespace =
        crate::verbs::lab::namespace_by(false, || lab::namespace::enter_new_with_account(home.path()))?;
    let tables = Plan { threads: 4, ..plan(&args.trial.tables) };
    Ok((Rig::lab(LabPlan { tables, tls, namespace, is_quick: args.quick }, home), None))
}

/// Those that were named, in their order, or all.
fn named(names: &str) -> Result<Vec<&'static Experiment>, OpsError> {
    if names == ALL {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let mut found: Vec<&Experiment> = Vec::new();
    for name in names.split(',') {
        let one = one_named(name)?;
        if found.iter().any(|other| other.name == one.name) {
            return Err(OpsError::usage(
                format!("the experiment \"{name}\" is named twice"),
                "each is run once",
                "leave one out; more trials: --blocks N",
            ));
        }
        found.push(one);
    }
    Ok(found)
}

fn one_named(name: &str) -> Result<&'static Experiment, OpsError> {
    bench_ops::experiments::experiment(name).ok_or_else(|| {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|one| one.name).collect();
        OpsError::usage(
            format!("unknown experiment \"{name}\""),
            format!("known are {ALL}, {}; the name of your own file must end with .toml", names.join(", ")),
            "sealion bench list",
        )
    })
}

pub fn run(global: &Global, args: &BenchRunArgs) -> Result<u8, OpsError> {
    if let Some(path) = &args.html {
        scan::writable(path)?;
    }
    // What is wrong with a name or a file is said before anything is asked for or started.
    let mut experiments = if file::is_file(&args.experiment) {
        vec![file::read(Path::new(&args.experiment))?]
    } else {
        named(&args.experiment)?
    };
    let (mut rig, cluster) = rig(global, args, &experiments)?;
    if args.experiment == ALL {
        // Those that can be measured there.
        experiments.retain(|one| bench_ops::experiment::is_possible(&rig, one));
    }
    if args.html.is_some() && experiments.len() > 1 {
        return Err(OpsError::usage(
            "--html needs a single experiment",
            format!("{} experiments would write to the same file", experiments.len()),
            "leave it out, and later write a page for each: sealion bench show RUN --html FILE",
        ));
    }
    let stop = interrupt::flag()?;
    let (mut reports, mut is_kept) = (Vec::new(), true);
    for (at, found) in experiments.iter().enumerate() {
        rig.keep_for(experiments.get(at..).unwrap_or_default());
        let report = one_experiment(args, found, &mut rig, &stop)?;
        if global.format != Format::Json {
            let gap = if at > 0 { "\n" } else { "" };
            show::out(&format!("{gap}{}", run_text(&report)));
        }
        // Each as soon as it is there: what ends the next one does not take this one along.
        if report.levels.iter().any(|level| level.arms.iter().any(|arm| !arm.trials.is_empty())) {
            let measured = Measured::Run(Box::new(report.clone()));
            is_kept &= keep(cluster.as_ref(), &args.keep, &measured);
        } else {
            show::tell("nothing was measured, so nothing is saved");
        }
        reports.push(report);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if global.format == Format::Json {
        show::out(&match reports.as_slice() {
            [report] if experiments.len() == 1 && args.experiment != ALL => json(report)?,
            all => json(&all)?,
        });
    }
    if let (Some(path), [report]) = (&args.html, reports.as_slice()) {
        write(path, &::report::html::render_bench_html(report))?;
    }
    let are_usable = reports.len() == experiments.len() && reports.iter().all(|report| report.is_usable);
    Ok(code(are_usable, is_kept))
}

fn one_experiment(
    args: &BenchRunArgs,
    found: &Experiment,
    rig: &mut Rig,
    stop: &AtomicBool,
) -> Result<RunReport, OpsError> {
    let mut method = Method {
        blocks: args.blocks as usize,
        precision: args.precision.map(|percent| percent / 100.0),
        is_quick: false,
        load: Load {
            time: Some(Duration::from_secs_f64(args.trial_time)),
            warm_up: Duration::from_secs_f64(args.warm_up),
            ..trial(&args.trial, found.workload)
        },
    };
    if args.quick {
        bench_ops::experiment::quick(&mut method);
    }
    measure(rig, found, &method, stop)
}

/// One experiment, with its progress.
pub(super) fn measure(
    rig: &mut Rig,
    found: &Experiment,
    method: &Method,
    stop: &AtomicBool,
) -> Result<RunReport, OpsError> {
    let began = Instant::now();
    let progress = &mut |at: TrialProgress<'_>| {
        let left = match at.trials_done {
            0 => String::new(),
            done => {
                let each_s = began.elapsed().as_secs_f64() / done as f64;
                format!(", {:.0} s left", each_s * at.trials.saturating_sub(done) as f64)
            }
        };
        show::progress(&format!(
            "{}, block {}, {}, {}: trial {} of {}{left}",
            found.name,
            at.block,
            at.arm,
            model::text::counted(at.connections, "connection", "connections"),
            at.trials_done + 1,
            at.trials
        ));
    };
    let say = &mut |what: &str| show::progress(&format!("{}: {what}", found.name));
    let report = bench_ops::experiment::run(rig, found, method, stop, progress, say)?;
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn several_experiments_are_named_with_commas() {
        let names = |text: &str| named(text).map(|all| all.iter().map(|one| one.name).collect::<Vec<_>>());
        assert_eq!(names("sst,sst-tools").expect("two"), ["sst", "sst-tools"]);
        assert!(names("all").expect("all").contains(&"sst-wan-no-aes"));
        for (text, word) in [("sst,", "unknown experiment \"\""), ("aa,tls,aa", "\"aa\" is named twice")] {
            let said = names(text).expect_err(text).to_string();
            assert!(said.contains(word), "{said}");
        }
    }
}
