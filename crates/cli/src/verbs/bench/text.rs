//! How measurements are printed.

use std::fmt::Write as _;

use report::shape::{LatencyRow, LoadReport, RunReport};

use crate::show;

pub(super) fn run_text(report: &RunReport) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(out, "{}", show::wrapped("", &format!("{}: {}", report.experiment, report.question)));
    let mut arms = report.levels.iter().flat_map(|level| &level.arms);
    // Where no trial came to its end nobody has seen the server.
    let server = if arms.all(|arm| arm.trials.is_empty()) {
        "nothing was measured".to_owned()
    } else {
        let place = if report.is_same_machine { "on this machine" } else { "elsewhere" };
        format!("{}, {place}", report.server_version)
    };
    let trials = if report.trial_s > 0.0 {
        format!("trials of {} s after {} s of warm-up", report.trial_s, report.warm_up_s)
    } else {
        "one event per trial".to_owned()
    };
    let about = format!(
        "{} on {} ({server}); {} processors; {trials}, in blocks in random order",
        report.workload,
        report.targets.join(", "),
        report.processors,
    );
    let _ = writeln!(out, "{}\n", show::wrapped("", &about));
    let published = |arm: &str, connections: u32| {
        let rows = report.published.iter().flat_map(|table| &table.rows);
        let mut fits = rows.filter(|row| row.arm == arm && row.connections == Some(connections));
        fits.next().map_or("-".into(), |row| {
            let p95 = row.p95_ms.map(|ms| format!("; {} ms", with_deviation(ms, row.p95_deviation_ms)));
            with_deviation(row.per_s, row.deviation) + p95.as_deref().unwrap_or_default()
        })
    };
    let figure = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
    // A statement that reads a table has no price of its own.
    let reads_much = [bench_ops::STREAM, bench_ops::DUMP].contains(&report.workload.as_str());
    let has_published = report.published.as_ref().is_some_and(|table| !table.rows.is_empty());
    if report.workload == bench_ops::COPY {
        let _ = writeln!(out, "{}", copies(report));
    }
    let rows: Vec<Vec<String>> = report
        .levels
        .iter()
        .flat_map(|level| level.arms.iter().map(move |arm| (level, arm)))
        .filter(|_| report.workload != bench_ops::COPY)
        .map(|(level, arm)| {
            let mut row = vec![
                level.connections.to_string(),
                arm.name.clone(),
                if arm.trials.is_empty() { "-".into() } else { with_deviation(arm.mean, arm.deviation) },
                arm.p95_ms.map_or("-".into(), |ms| with_deviation(ms, arm.p95_deviation_ms)),
                figure(if reads_much { arm.client_cpu_s_per_gb } else { arm.client_cpu_us_per_query }),
                figure(if reads_much { arm.server_cpu_s_per_gb } else { arm.server_cpu_us_per_query }),
            ];
            if has_published {
                row.push(published(&arm.name, level.connections));
            }
            row
        })
        .collect();
    let unit = format!("{} (sd)", report.unit);
    let [client, server] =
        if reads_much { ["client s/GB", "server s/GB"] } else { ["client us", "server us"] };
    let mut header = vec!["conns", "arm", unit.as_str(), "p95 ms (sd)", client, server];
    if has_published {
        header.push("published");
    }
    if !rows.is_empty() {
        let _ = writeln!(out, "{}\n", show::table(&header, rows));
    }
    for level in &report.levels {
        for comparison in &level.comparisons {
            let plural = |count: usize| if count == 1 { "" } else { "s" };
            let mark = format!(
                "{} connection{}, {} block{}: ",
                level.connections,
                plural(level.connections as usize),
                level.blocks,
                plural(level.blocks)
            );
            let _ = writeln!(out, "{}", show::wrapped(&mark, &comparison.text));
        }
    }
    if report.workload == bench_ops::CONNECT {
        let arms = report.levels.first().map(|level| level.arms.as_slice()).unwrap_or_default();
        let trips = |arm: &report::shape::ArmRow| {
            let sum = |of: fn(&report::shape::TrialRow) -> u64| arm.samples.iter().map(of).sum::<u64>();
            let (trips, events) = (sum(|trial| trial.round_trips), sum(|trial| trial.events));
            (events > 0).then(|| format!("{} {:.1}", arm.name, trips as f64 / events as f64))
        };
        let text = arms.iter().filter_map(trips).collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "{}", show::wrapped("round trips a connection: ", &text));
    }
    if let Some(table) = &report.published {
        let text = format!("{}. Measured on another machine, so not compared", table.source);
        let _ = writeln!(out, "\n{}", show::wrapped("published: ", &text));
        for finding in &table.findings {
            let _ = writeln!(out, "{}", show::wrapped("published: ", finding));
        }
    }
    for (mark, texts) in [
        ("links: ", &report.links),
        ("left out: ", &report.left_out),
        ("NOT USABLE: ", &report.why_not),
        ("not checked: ", &report.not_looked_at),
    ] {
        for text in texts {
            let _ = writeln!(out, "{}", show::wrapped(mark, text));
        }
    }
    out.trim_end().to_owned()
}

/// Of copies of a donor's data: their rates, what they cost, and what the donor did meanwhile.
fn copies(report: &RunReport) -> String {
    let arms = || report.levels.iter().flat_map(|level| &level.arms);
    let whole = |value: f64| format!("{value:.0}");
    let told = |value: Option<f64>, show: &dyn Fn(f64) -> String| value.map_or("-".into(), show);
    let rows = arms().map(|arm| {
        let copy = arm.copy.as_ref();
        vec![
            arm.name.clone(),
            if arm.trials.is_empty() { "-".into() } else { with_deviation(arm.mean, arm.deviation) },
            told(copy.map(|copy| copy.bytes_per_s / 1e6), &whole),
            told(copy.and_then(|copy| copy.cpu_s_per_gb), &|cpu_s| format!("{cpu_s:.2}")),
            told(copy.and_then(|copy| copy.donor_rows_per_s), &whole),
            told(copy.and_then(|copy| copy.donor_row_ms_max), &whole),
        ]
    });
    let header = ["arm", "copies/s (sd)", "MB/s", "CPU s/GB", "rows/s", "row ms"];
    let mut out = show::table(&header, rows.collect());
    let copies: Vec<_> = arms().filter_map(|arm| arm.copy.as_ref()).collect();
    if let Some(copy) = copies.first() {
        out += &format!(
            "\n\n{}",
            show::wrapped(
                "",
                &format!(
                    "{:.0} MB a copy, each compared with its source. CPU: all programs at both ends. rows/s: that a client \
                     inserted into the donor meanwhile, of {:.0} offered (without a copy: {:.0}); row ms: the longest that one took",
                    copy.bytes as f64 / 1e6,
                    copy.donor_rows_offered_per_s,
                    copy.donor_rows_alone_per_s,
                ),
            )
        );
    }
    if copies.iter().any(|copy| !copy.is_of_running_donor) {
        let text = "- in rows/s: the program copies files that nobody writes to; as a state transfer, this way would block the \
                    donor's writes for as long";
        out += &format!("\n{}", show::wrapped("", text));
    }
    out + "\n"
}

fn with_deviation(mean: f64, deviation: Option<f64>) -> String {
    let digits = if mean < 1.0 {
        4
    } else if mean < 100.0 {
        2
    } else {
        0
    };
    match deviation {
        Some(deviation) => format!("{mean:.digits$} ({deviation:.digits$})"),
        None => format!("{mean:.digits$}"),
    }
}

pub(super) fn load_text(report: &LoadReport) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{}", show::wrapped(&format!("{name:<18} "), &value));
    };
    line("workload", report.workload.clone());
    line("server", format!("{} ({})", report.targets.join(", "), report.server_version));
    let tls =
        report.tls.as_ref().map_or("none, cleartext".into(), |tls| format!("{} {}", tls.version, tls.cipher));
    line("TLS", tls);
    let threads = if report.workers == 1 { "thread" } else { "threads" };
    line("connections", format!("{} by {} {threads}", report.connections, report.workers));
    let warmth = match report.was_warm {
        None => "",
        Some(true) => ", until the throughput was stable",
        Some(false) => "; the throughput was not stable",
    };
    line(
        "measured",
        format!("{:.2} s after {:.1} s of warm-up{warmth}", report.measured_s, report.warm_up_s),
    );
    line(
        "queries/s",
        format!(
            "{:.1} ({} queries: {} read, {} write, {} other)",
            report.queries_per_s, report.queries, report.reads, report.writes, report.others
        ),
    );
    line("events/s", format!("{:.1} ({} events)", report.events_per_s, report.events));
    line("rows", format!("{} in {:.1} MB of results", report.rows, report.answer_bytes as f64 / 1e6));
    if report.written_rows > 0 {
        let per_s = report.written_rows as f64 / report.measured_s;
        line("rows written", format!("{} ({per_s:.1}/s)", report.written_rows));
    }
    if report.queries > 0 {
        let each = |bytes: u64| bytes as f64 / report.queries as f64;
        let text = format!(
            "{:.0} B sent and {:.0} B received per query, TLS included, in {:.1} round trips",
            each(report.sent_bytes),
            each(report.received_bytes),
            each(report.round_trips)
        );
        line("traffic", text);
    }
    line("latency ms", latencies(&report.latency_ms));
    // A connection has no query: what is timed in it is what the server does before anybody logs in.
    let part = if report.workload == bench_ops::CONNECT { "  greeting and TLS" } else { "  per query" };
    line(part, latencies(&report.query_latency_ms));
    let a_gb = |cpu_s: Option<f64>| cpu_s.map(|cpu_s| format!("; {cpu_s:.2} s per GB")).unwrap_or_default();
    if let Some(cpu) = &report.client_cpu_us_per_query {
        let text = format!("{:.2} us per query ({:.2} user, {:.2} system)", cpu.total, cpu.user, cpu.system);
        line("client CPU", text + &a_gb(report.client_cpu_s_per_gb));
    }
    let server =
        report.server_cpu_us_per_query.map_or("not known".into(), |us| format!("{us:.2} us per query"));
    line("server CPU", server + &a_gb(report.server_cpu_s_per_gb));
    if let Some(joules) = report.machine_energy_j.filter(|_| report.queries > 0) {
        let each_uj = joules * 1e6 / report.queries as f64;
        line("energy", format!("{each_uj:.1} uJ per query, {joules:.1} J of all processors of this machine"));
    }
    if let (Some(asked), Some(due)) = (report.rate_per_s, report.due) {
        line("rate", format!("{asked:.1} events/s requested; {due} arrived"));
    }
    if report.late_at_end > 0 {
        line("late", format!("{} events were still waiting for a connection", report.late_at_end));
    }
    if report.resumed > 0 {
        line("resumed", format!("{} of {} connections resumed a TLS session", report.resumed, report.events));
    }
    if report.retries > 0 {
        line("retries", format!("{} events were restarted", report.retries));
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
        "mean {}, p50 {}, p95 {}, p99 {}, max {}",
        show(row.mean),
        show(row.p50),
        show(row.p95),
        show(row.p99),
        show(row.max)
    )
}
