//! `sealion bench`: what was typed, what is shown while it runs, and how it ends.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::bench::load::Interim;
use ::bench::load::tables::Plan;
use ops::OpsError;
use ops::bench::workload::Options;
use ops::bench::{Load, TlsWish};
use report::shape::{LatencyRow, LoadReport};

use crate::args::{BenchCommand, BenchLoadArgs, BenchPrepareArgs, Connect, Format, Global};
use crate::{connect, show};

/// The measurement is not usable.
const NOT_USABLE: u8 = 7;

pub fn bench(global: &Global, command: &BenchCommand) -> Result<u8, OpsError> {
    match command {
        BenchCommand::List => {
            list(global);
            Ok(0)
        }
        BenchCommand::Prepare(args) => prepare(global, args),
        BenchCommand::Load(args) => load(global, args),
        BenchCommand::Cleanup(args) => {
            let target = first(global, &args.connect)?;
            if ops::bench::cleanup(&target, &args.database)? {
                show::tell(&format!("dropped the schema {}", args.database));
            } else {
                show::tell(&format!("there is no schema {}: nothing to do", args.database));
            }
            Ok(0)
        }
    }
}

fn list(global: &Global) {
    if global.format == Format::Json {
        let all: Vec<serde_json::Value> = ops::bench::workloads()
            .map(|(name, about)| serde_json::json!({ "workload": name, "does": about }))
            .collect();
        show::out(&format!("{:#}", serde_json::Value::from(all)));
    } else {
        let rows = ops::bench::workloads().map(|(name, about)| vec![name.into(), about.into()]).collect();
        show::out(&show::table(&["workload", "an event is"], rows));
    }
}

fn first(global: &Global, connect: &Connect) -> Result<net::ConnectOptions, OpsError> {
    let cluster = connect::cluster(global, connect)?;
    ops::bench::targets(&cluster, &TlsWish::default()).into_iter().next().ok_or_else(|| {
        OpsError::usage("there is no server", "the inventory names none", "name one: -h HOST -P PORT -u USER")
    })
}

/// The first Ctrl-C ends it with what there is.
fn ends_on_ctrl_c() -> Result<Arc<AtomicBool>, OpsError> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        show::tell("ending; once more ends at once");
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    Ok(stop)
}

fn prepare(global: &Global, args: &BenchPrepareArgs) -> Result<u8, OpsError> {
    let target = first(global, &args.connect)?;
    let stop = ends_on_ctrl_c()?;
    let plan = Plan {
        schema: args.tables.database.clone(),
        tables: args.tables.tables,
        table_size: args.tables.table_size,
        secondary_index: !args.no_secondary,
        engine: args.engine.clone(),
        seed: args.tables.seed,
        threads: args.threads,
    };
    let rows = u64::from(plan.tables) * u64::from(plan.table_size);
    let (began, told_s) = (Instant::now(), AtomicU64::new(1));
    ops::bench::prepare(&target, &plan, &stop, &|done| {
        let elapsed = began.elapsed();
        // Once a second, by whoever comes first.
        let next = told_s.load(Ordering::Relaxed);
        let is_due = elapsed.as_secs() >= next
            && told_s.compare_exchange(next, next + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_due {
            let per_s = done as f64 / elapsed.as_secs_f64();
            let left_s = rows.saturating_sub(done) as f64 / per_s.max(1.0);
            show::progress(&format!("{done} of {rows} rows, {per_s:.0} rows/s, {left_s:.0} s left"));
        }
    })?;
    show::tell(&format!(
        "{} tables of {} rows in the schema {}, {:.1} s",
        plan.tables,
        plan.table_size,
        plan.schema,
        began.elapsed().as_secs_f64()
    ));
    Ok(0)
}

fn load(global: &Global, args: &BenchLoadArgs) -> Result<u8, OpsError> {
    let cluster = connect::cluster(global, &args.connect)?;
    let tls = TlsWish {
        min_version: args.tls_min,
        max_version: args.tls_max,
        ciphers: args.ssl_cipher.clone(),
        ciphersuites: args.tls_ciphersuites.clone(),
        groups: args.tls_groups.clone(),
    };
    let targets = ops::bench::targets(&cluster, &tls);
    let wish = Load {
        workload: args.workload.clone(),
        options: Options {
            tables: args.tables.tables,
            table_size: args.tables.table_size,
            range_size: args.range_size,
            point_selects: args.point_selects,
            simple_ranges: args.simple_ranges,
            sum_ranges: args.sum_ranges,
            order_ranges: args.order_ranges,
            distinct_ranges: args.distinct_ranges,
            index_updates: args.index_updates,
            non_index_updates: args.non_index_updates,
            delete_inserts: args.delete_inserts,
            range_selects: !args.no_range_selects,
            skip_trx: args.skip_trx,
            distribution: args.rand_type,
        },
        schema: args.tables.database.clone(),
        connections: args.connections as usize,
        workers: args.workers.map(|workers| workers as usize),
        warm_up: Duration::from_secs_f64(args.warm_up),
        time: args.events.is_none().then(|| Duration::from_secs_f64(args.time)),
        events: args.events,
        rate_per_s: args.rate,
        seed: args.tables.seed,
        has_own_tables: args.own_tables,
    };
    let stop = ends_on_ctrl_c()?;
    let is_live = std::io::stderr().is_terminal();
    let mut before = Interim::default();
    let report = ops::bench::load(&targets, &wish, &stop, &mut |now| {
        if is_live {
            show::progress(&moment(before, now));
        }
        before = now;
    })?;
    if is_live {
        eprintln!();
    }
    if global.format == Format::Json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|error| OpsError::internal("cannot write the result", error))?;
        show::out(&text);
    } else {
        show::out(&text(&report));
    }
    Ok(if report.is_complete { 0 } else { NOT_USABLE })
}

fn moment(before: Interim, now: Interim) -> String {
    let seconds = (now.elapsed.as_secs_f64() - before.elapsed.as_secs_f64()).max(0.001);
    let per_s = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
    format!(
        "{:4.0} s  {}  {:8.0} queries/s  {:8.0} events/s  {} errors",
        now.elapsed.as_secs_f64(),
        if now.is_warm { "measuring " } else { "warming up" },
        per_s(now.queries, before.queries),
        per_s(now.events, before.events),
        now.errors
    )
}

fn text(report: &LoadReport) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<18} {value}");
    };
    line("workload", report.workload.clone());
    line("server", format!("{} ({})", report.targets.join(", "), report.server_version));
    let tls = report
        .tls
        .as_ref()
        .map_or("none, clear text".into(), |tls| format!("{} {}", tls.version, tls.cipher));
    line("TLS", tls);
    let threads = if report.workers == 1 { "thread" } else { "threads" };
    line("connections", format!("{} by {} {threads}", report.connections, report.workers));
    line("measured", format!("{:.2} s after {:.1} s of warm-up", report.measured_s, report.warm_up_s));
    line(
        "queries/s",
        format!(
            "{:.1} ({} queries: {} read, {} write, {} other)",
            report.queries_per_s, report.queries, report.reads, report.writes, report.others
        ),
    );
    line("events/s", format!("{:.1} ({} events)", report.events_per_s, report.events));
    line("rows", format!("{} in {:.1} MB of answers", report.rows, report.answer_bytes as f64 / 1e6));
    line("latency ms", latencies(&report.latency_ms));
    line("  of a query", latencies(&report.query_latency_ms));
    if let Some(cpu) = &report.client_cpu_us_per_query {
        let text = format!("{:.2} us a query ({:.2} user, {:.2} system)", cpu.total, cpu.user, cpu.system);
        line("client CPU", text);
    }
    let server = report
        .server_cpu_us_per_query
        .map_or("not known: the server is not on this machine".into(), |us| format!("{us:.2} us a query"));
    line("server CPU", server);
    if report.late_at_end > 0 {
        line("late", format!("{} events still waited for a connection", report.late_at_end));
    }
    if report.retries > 0 {
        line("retries", format!("{} events were begun again", report.retries));
    }
    for error in &report.errors {
        line("error", format!("{} times {}: {}", error.count, error.code, error.message));
    }
    if let Some(why) = &report.partial {
        line("NOT COMPLETE", why.clone());
    }
    out.trim_end().to_owned()
}

fn latencies(row: &LatencyRow) -> String {
    let show = |value: Option<f64>| value.map_or("-".into(), |ms| format!("{ms:.3}"));
    format!(
        "mean {}  p50 {}  p95 {}  p99 {}  max {}",
        show(row.mean),
        show(row.p50),
        show(row.p95),
        show(row.p99),
        show(row.max)
    )
}
