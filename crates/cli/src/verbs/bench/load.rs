//! `sealion bench load`.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::bench::load::Interim;
use bench_ops::effect;
use bench_ops::kept::Measured;
use bench_ops::ramp::{self, Ramp};
use bench_ops::{Load, REPLAY, SCRIPT, UserStatements};
use clap::Args;
use report::shape::LoadReport;
use site::{Cluster, OpsError};

use super::keep::keep;
use super::text::load_text;
use super::trial::{
    BenchTrial, WarmUp, none_without_effect, rate, some_seconds, targets, trial, warm_up, wish,
};
use super::{BenchKeep, code, json};
use crate::options::{Format, Global, TABLE_OR_JSON, connect, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion bench load oltp_read_only -h db1 -u bench -p -c 16 --tables 8 --time 60
  sealion bench load connect -h db1 -u bench -p -c 8 --ssl-mode=REQUIRED --tls-max 1.2
  sealion bench load --script orders.sql -h db1 -u bench -p --rate-ramp 1000..20000/12

Exit codes: 7 when the result is not that of the whole measurement (connections were lost, a statement was refused, Ctrl-C): it is
printed all the same, with the reason. 2: usage, or the measurement could not be saved. 3: nothing could be measured. 6: it would
write to tables that sealion did not create."
)]
pub struct BenchLoadArgs {
    /// Workload (see `sealion bench list`)
    #[arg(value_name = "WORKLOAD", required_unless_present_any = ["script", "replay", "replay_digests"])]
    pub workload: Option<String>,
    /// Run the statements of FILE
    ///
    /// Run the statements of FILE, each ended by ; at the end of a line. All of them in order are one event. {id}, {table},
    /// {int:FROM..TO} and {digits:N} are replaced by new values each time.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "replay", "replay_digests"])]
    pub script: Option<PathBuf>,
    /// Run statements of a general query log, chosen at random
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "replay_digests"], hide_short_help = true)]
    pub replay: Option<PathBuf>,
    /// Run samples of the statement digests that performance_schema counted, as often as it counted them
    #[arg(long, conflicts_with = "workload", hide_short_help = true)]
    pub replay_digests: bool,
    /// Measure for this long; default: 10, no limit with --events
    #[arg(long, value_name = "S", value_parser = some_seconds, display_order = 1)]
    pub time: Option<f64>,
    /// Warm up for this long; auto: until the throughput is stable
    ///
    /// Warm up for this long: 2 seconds by default, 0 with --events. auto: until the throughput is stable, for a minute at most.
    #[arg(long, value_name = "S", value_parser = warm_up, display_order = 1)]
    pub warm_up: Option<WarmUp>,
    /// Stop after this many events, or after --time, whichever comes first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), display_order = 1)]
    pub events: Option<u64>,
    /// Start this many events a second (open loop)
    ///
    /// Start this many events a second, whether or not earlier ones have ended (open loop). Latency is counted from the time at which
    /// an event should have started.
    #[arg(long, value_name = "N", value_parser = rate, display_order = 1)]
    pub rate: Option<f64>,
    /// Measure at rising rates until the server cannot keep up
    ///
    /// Measure at rising rates, each higher by the same factor, until the server cannot keep up: 1000..20000/12 for 12 steps; 8 if
    /// not given.
    #[arg(long, value_name = "FROM..TO[/STEPS]", conflicts_with_all = ["rate", "events"], display_order = 1, hide_short_help = true)]
    pub rate_ramp: Option<bench_ops::ramp::Ramp>,
    #[command(flatten)]
    pub keep: BenchKeep,
    #[command(flatten)]
    pub trial: BenchTrial,
}

/// Of a measurement without an end of its own.
const TIME_S: f64 = 10.0;

/// Before it, where nothing else is said.
const WARM_UP_S: f64 = 2.0;

/// Where its end is looked for.
const WARM_UP_S_MAX: f64 = 60.0;

/// Of the first server: a cluster's nodes count what each of them was asked.
fn counted(targets: &[net::ConnectOptions], schema: &str) -> Result<UserStatements, OpsError> {
    let target = targets.first().ok_or_else(|| {
        OpsError::usage(
            "no server was given",
            "the inventory contains none",
            "give one: -h HOST -P PORT -u USER",
        )
    })?;
    let found = bench_ops::digests::read(target, schema)?;
    let share = found.covered as f64 / found.counted as f64 * 100.0;
    show::tell(&format!(
        "note: the mix covers {share:.1} % of the {} statements that the server has counted",
        found.counted
    ));
    for text in &found.left_out {
        show::tell(&format!("note: left out: {text}"));
    }
    Ok(found.own)
}

pub fn load(global: &Global, args: &BenchLoadArgs) -> Result<u8, OpsError> {
    let cluster = connect::cluster(global, &args.trial.connect)?;
    let targets = targets(&cluster, &args.trial)?;
    none_without_effect(effect::of_load(&wish(&args.trial)?, &targets))?;
    let (workload, own) = match (&args.workload, &args.script, &args.replay) {
        (_, Some(path), _) => (SCRIPT, Some(UserStatements::script(path)?)),
        (_, _, Some(path)) => {
            let (own, others) = UserStatements::log(path)?;
            if others > 0 {
                show::tell(&format!(
                    "note: {others} lines of {} are not statements and are left out",
                    path.display()
                ));
            }
            (REPLAY, Some(own))
        }
        (_, None, None) if args.replay_digests => {
            (REPLAY, Some(counted(&targets, &args.trial.tables.database)?))
        }
        (name, None, None) => (name.as_deref().unwrap_or_default(), None),
    };
    let warm_up_s = match args.warm_up {
        Some(WarmUp::Seconds(seconds)) => seconds,
        Some(WarmUp::Auto) => {
            can_be_detected(args, workload)?;
            WARM_UP_S_MAX
        }
        // Events of a warm-up are of their number.
        None if args.events.is_some() => 0.0,
        None => WARM_UP_S,
    };
    let wish = Load {
        own,
        warm_up: Duration::from_secs_f64(warm_up_s),
        detects_warm_up: args.warm_up == Some(WarmUp::Auto),
        time: args.time.or(args.events.is_none().then_some(TIME_S)).map(Duration::from_secs_f64),
        events: args.events,
        rate_per_s: args.rate,
        ..trial(&args.trial, workload)
    };
    let stop = interrupt::flag()?;
    if let Some(ramp) = args.rate_ramp {
        return rise(global, args, &cluster, &targets, &wish, ramp, &stop);
    }
    let is_live = std::io::stderr().is_terminal();
    // What was spent before it began is not of its first second.
    let mut before = Interim { client_cpu_us: ::bench::cpu::own_us(), ..Interim::default() };
    let report = bench_ops::load(&targets, &wish, &stop, &mut |now| {
        if is_live {
            show::progress(&moment(before, now));
        }
        before = now;
    })?;
    if is_live {
        eprintln!();
    }
    if global.format == Format::Json {
        show::out(&json(&report)?);
    } else {
        show::out(&load_text(&report));
    }
    let is_complete = report.is_complete;
    let is_kept = keep(Some(&cluster), &args.keep, &Measured::Load(Box::new(report)));
    Ok(code(is_complete, is_kept))
}

/// The end of a warm-up is seen by the throughput, where the server decides about that.
fn can_be_detected(args: &BenchLoadArgs, workload: &str) -> Result<(), OpsError> {
    let why = if args.rate.is_some() || args.rate_ramp.is_some() {
        "with --rate the throughput is that rate from the beginning"
    } else if args.events.is_some() {
        "with --events the run may end before the warm-up does"
    } else if workload == bench_ops::CONNECT {
        "the workload connect has no warm-up"
    } else {
        return Ok(());
    };
    Err(OpsError::usage("--warm-up auto is not possible here", why, "give its length: --warm-up S"))
}

/// Each rate is a measurement of its own, and kept as one.
fn rise(
    global: &Global,
    args: &BenchLoadArgs,
    cluster: &Cluster,
    targets: &[net::ConnectOptions],
    wish: &Load,
    ramp: Ramp,
    stop: &AtomicBool,
) -> Result<u8, OpsError> {
    let (reports, failed) = ramp::run(targets, wish, ramp, stop, &mut |report| {
        let asked = report.rate_per_s.unwrap_or_default();
        show::progress(&format!("{asked:.0} events/s requested, {:.0} done", report.events_per_s));
    })?;
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    if global.format == Format::Json {
        show::out(&json(&reports)?);
    } else {
        show::out(&rise_text(&reports));
    }
    if let Some(error) = &failed {
        show::tell(&format!("NOT COMPLETE: the next rate could not be measured: {error}"));
    }
    let is_complete =
        failed.is_none() && !stop.load(Ordering::Relaxed) && reports.iter().all(|report| report.is_complete);
    let mut is_kept = true;
    for report in reports {
        is_kept &= keep(Some(cluster), &args.keep, &Measured::Load(Box::new(report)));
    }
    Ok(code(is_complete, is_kept))
}

fn rise_text(reports: &[LoadReport]) -> String {
    let ms = |value: Option<f64>| value.map_or("-".into(), |ms| format!("{ms:.2}"));
    let rows = reports
        .iter()
        .map(|report| {
            let latency = &report.latency_ms;
            vec![
                format!("{:.0}", report.rate_per_s.unwrap_or_default()),
                format!("{:.0}", report.events_per_s),
                ms(latency.p50),
                ms(latency.p95),
                ms(latency.p99),
                report.late_at_end.to_string(),
                if report.kept_up == Some(true) { "yes" } else { "no" }.into(),
            ]
        })
        .collect();
    let mut out =
        show::table(&["asked/s", "done/s", "p50 ms", "p95 ms", "p99 ms", "late", "sustained"], rows);
    // Writing into a String cannot fail.
    let _ = match ramp::knee(reports) {
        (Some(kept), Some(missed)) => {
            write!(out, "\nthe maximum is between {kept:.0} and {missed:.0} events/s")
        }
        (Some(kept), None) => write!(out, "\nno limit up to {kept:.0} events/s; try higher rates"),
        (None, Some(missed)) => write!(out, "\nthe maximum is below {missed:.0} events/s; try lower rates"),
        (None, None) => Ok(()),
    };
    for why in reports.iter().filter_map(|report| report.partial.as_ref()) {
        let _ = write!(out, "\n{}", show::wrapped("NOT COMPLETE: ", why));
    }
    out
}

/// The last second: what was done, what an event took on average, how busy the generator and the servers kept processors.
fn moment(before: Interim, now: Interim) -> String {
    let seconds = (now.elapsed.as_secs_f64() - before.elapsed.as_secs_f64()).max(0.001);
    let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
    let events = since(now.events, before.events);
    let took = if events > 0.0 {
        format!("{:.2} ms", since(now.event_ns, before.event_ns) / events / 1e6)
    } else {
        "- ms".to_owned()
    };
    let percent = |us: f64| format!("{:.0}", us / seconds / 1e4);
    let server = now.server_cpu_us.zip(before.server_cpu_us);
    format!(
        "{:.0} s{}  {:.0} queries/s  {:.0} events/s  {took}  CPU {}+{} %  {} errors",
        now.elapsed.as_secs_f64(),
        if now.is_warm { "" } else { " warm-up" },
        since(now.queries, before.queries) / seconds,
        events / seconds,
        percent(since(now.client_cpu_us, before.client_cpu_us)),
        server.map_or("?".to_owned(), |(now, before)| percent(since(now, before))),
        now.errors
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_that_of_the_last_second_and_fits_a_line() {
        let before = Interim {
            elapsed: Duration::from_secs(99),
            events: 1_000_000,
            queries: 20_000_000,
            event_ns: 7_000_000_000,
            client_cpu_us: 40_000_000,
            server_cpu_us: Some(150_000_000),
            ..Interim::default()
        };
        let now = Interim {
            elapsed: Duration::from_secs(101),
            is_warm: true,
            is_over: false,
            events: 1_040_000,
            queries: 20_800_000,
            event_ns: 57_000_000_000,
            client_cpu_us: 41_000_000,
            server_cpu_us: Some(153_000_000),
            errors: 3,
        };
        assert_eq!(
            moment(before, now),
            "101 s  400000 queries/s  20000 events/s  1.25 ms  CPU 50+150 %  3 errors"
        );
        let idle = moment(now, Interim { server_cpu_us: None, ..now });
        assert!(idle.contains("  - ms  CPU 0+? %  "), "{idle}");
    }
}
