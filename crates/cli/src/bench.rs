//! `sealion bench`: what was typed, what is shown while it runs, and how it ends.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::bench::load::Interim;
use ::bench::load::tables::{Kind, Plan};
use ::bench::sysbench::{shown, translate};
use bench_ops::effect::{self, WithoutEffect};
use bench_ops::experiment::{At, Method};
use bench_ops::file;
use bench_ops::kept::Measured;
use bench_ops::ramp::{self, Ramp};
use bench_ops::rig::{LabPlan, Rig};
use bench_ops::workload::Options;
use bench_ops::{EXPERIMENTS, Experiment, Load, Own, REPLAY, SCRIPT, TlsWish};
use clap::Parser as _;
use report::shape::{LatencyRow, LoadReport, RunReport};
use site::{Cluster, OpsError};

use crate::args::{
    BenchCommand, BenchLoadArgs, BenchPrepareArgs, BenchRunArgs, BenchSysbenchArgs, BenchTables, BenchTrial,
    Cli, Command, Connect, Format, Global, Resume, TlsLibrary, WarmUp,
};
use crate::{bench_kept, connect, interrupt, scan, show};

/// The measurement is not usable.
pub(crate) const NOT_USABLE: u8 = 7;
/// The figures are good, and lie nowhere but in the output: as any output that cannot be written.
const NOT_KEPT: u8 = 2;
/// Of a measurement without an end of its own.
const TIME_S: f64 = 10.0;
/// Before it, where nothing else is said.
const WARM_UP_S: f64 = 2.0;
/// Where its end is looked for.
const WARM_UP_S_MAX: f64 = 60.0;

pub fn bench(global: &Global, command: &BenchCommand) -> Result<u8, OpsError> {
    match command {
        BenchCommand::List => {
            list(global);
            Ok(0)
        }
        BenchCommand::Prepare(args) => prepare(global, args),
        BenchCommand::Load(args) => load(global, args),
        BenchCommand::Run(args) => experiment(global, args),
        BenchCommand::Sysbench(args) => sysbench(global, args),
        BenchCommand::Runs(args) => bench_kept::runs(global, args),
        BenchCommand::Show(args) => bench_kept::show(global, args),
        BenchCommand::Compare(args) => bench_kept::compare(global, args),
        BenchCommand::Export(args) => bench_kept::export(global, args),
        BenchCommand::Advise(args) => bench_kept::advise(global, args),
        BenchCommand::Cleanup(args) => {
            let target = first(global, &args.connect)?;
            if bench_ops::cleanup(&target, &args.database)? {
                show::tell(&format!("dropped the schema {}", args.database));
            } else {
                show::tell(&format!("there is no schema {}: nothing to do", args.database));
            }
            Ok(0)
        }
    }
}

/// Says it in our own words, and does that.
fn sysbench(global: &Global, args: &BenchSysbenchArgs) -> Result<u8, OpsError> {
    let translation =
        translate(&args.words).map_err(|refusal| OpsError::usage(refusal.what, refusal.why, refusal.next))?;
    for note in &translation.notes {
        show::tell(&format!("note: {note}"));
    }
    let mut words: Vec<OsString> = translation.words.into_iter().map(OsString::from).collect();
    words.extend(args.password.then(|| "--password".into()));
    let with = |name: &str, value: &std::ffi::OsStr| {
        let mut word = OsString::from(name);
        word.push(value);
        word
    };
    words.extend(args.password_file.as_ref().map(|file| with("--password-file=", file.as_os_str())));
    words.extend(args.password_fd.map(|fd| format!("--password-fd={fd}").into()));
    words.extend(args.defaults_file.as_ref().map(|file| with("--defaults-file=", file.as_os_str())));
    words.extend(args.own_tables.then(|| "--own-tables".into()));
    // Only a measurement is kept.
    if translation_measures(&words) {
        words.extend(args.keep.store.as_ref().map(|file| with("--store=", file.as_os_str())));
        words.extend(args.keep.no_store.then(|| "--no-store".into()));
    }
    let line: Vec<String> = std::iter::once("sealion".into())
        .chain(words.iter().map(|word| word.to_string_lossy().into_owned()))
        .collect();
    show::tell(&shown(&line));
    let program = std::iter::once(OsString::from("sealion"));
    let command = match Cli::try_parse_from(program.chain(words)) {
        Ok(Cli { command: Command::Bench(command), .. }) => command,
        // A number that is none, or one that is too large: clap says which.
        Err(error) => {
            let text = error.to_string();
            let why = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            return Err(OpsError::usage(
                "the command line above cannot be run",
                why,
                "change that option of the sysbench command",
            ));
        }
        Ok(_) => {
            return Err(OpsError::internal("the command line above is none of bench", "it begins otherwise"));
        }
    };
    bench(global, &command)
}

/// `bench load …`, and neither `bench prepare` nor `bench cleanup`.
fn translation_measures(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "load")
}

fn list(global: &Global) {
    // On a server that is named nothing would be left to compare.
    let named = Rig::named(vec![]);
    let needs_lab = |one: &Experiment| !bench_ops::experiment::is_possible(&named, one);
    if global.format == Format::Json {
        let workloads: Vec<serde_json::Value> = bench_ops::workloads()
            .map(|(name, about)| serde_json::json!({ "workload": name, "an_event_is": about }))
            .collect();
        let experiments: Vec<serde_json::Value> = EXPERIMENTS
            .iter()
            .map(|one| {
                serde_json::json!({ "experiment": one.name, "question": one.question, "needs_lab": needs_lab(one) })
            })
            .collect();
        let all = serde_json::json!({ "workloads": workloads, "experiments": experiments });
        show::out(&format!("{all:#}"));
    } else {
        let rows = bench_ops::workloads().map(|(name, about)| vec![name.into(), about.into()]).collect();
        show::out(&show::table(&["workload", "an event is"], rows));
        let row = |one: &Experiment| {
            vec![one.name.into(), one.question.into(), if needs_lab(one) { "needed" } else { "" }.into()]
        };
        let rows = EXPERIMENTS.iter().map(row).collect();
        show::out(&format!("\n{}", show::table(&["experiment", "what it answers", "--lab"], rows)));
    }
}

fn first(global: &Global, connect: &Connect) -> Result<net::ConnectOptions, OpsError> {
    let cluster = connect::cluster(global, connect)?;
    reached(&cluster, connect, &TlsWish::default()).into_iter().next().ok_or_else(|| {
        OpsError::usage("there is no server", "the inventory names none", "name one: -h HOST -P PORT -u USER")
    })
}

/// Over TCP, but for a server that is named by its socket alone.
fn reached(cluster: &Cluster, connect: &Connect, tls: &TlsWish) -> Vec<net::ConnectOptions> {
    let mut targets = bench_ops::targets(cluster, tls);
    if let (None, Some(socket)) = (&connect.host, &connect.socket) {
        for target in &mut targets {
            target.endpoint = net::Endpoint::unix(socket);
        }
    }
    targets
}

fn plan(tables: &BenchTables) -> Plan {
    Plan {
        kind: Kind::Oltp,
        schema: tables.database.clone(),
        tables: tables.tables,
        table_size: tables.table_size,
        secondary_index: true,
        engine: String::new(),
        seed: tables.seed,
        threads: 1,
    }
}

fn prepare(global: &Global, args: &BenchPrepareArgs) -> Result<u8, OpsError> {
    let target = first(global, &args.connect)?;
    let stop = interrupt::flag()?;
    let plan = Plan {
        kind: if args.bulk { Kind::Bulk } else { Kind::Oltp },
        secondary_index: !args.no_secondary,
        engine: args.engine.clone(),
        threads: args.threads,
        ..plan(&args.tables)
    };
    let rows = u64::from(plan.tables) * u64::from(plan.table_size);
    let (began, told_s) = (Instant::now(), AtomicU64::new(1));
    bench_ops::prepare(&target, &plan, &stop, &|done| {
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
    let rows = if args.bulk { "no".to_owned() } else { plan.table_size.to_string() };
    show::tell(&format!(
        "{} tables of {rows} rows in the schema {}, {:.1} s",
        plan.tables,
        plan.schema,
        began.elapsed().as_secs_f64()
    ));
    Ok(0)
}

fn library(args: &BenchTrial) -> Result<net::TlsLibrary, OpsError> {
    match (args.tls_library, args.resume) {
        (TlsLibrary::Rustls, Some(Resume::SessionId)) if args.tls_max != Some(net::TlsVersion::Tls12) => {
            Err(OpsError::usage(
                "--resume=session-id would have no effect",
                "TLS 1.3 has no sessions that the server remembers by an id",
                "add --tls-max 1.2",
            ))
        }
        (TlsLibrary::Rustls, resumes) => Ok(net::TlsLibrary::Rustls {
            resumes: match resumes {
                None => net::Resumes::No,
                Some(Resume::Any) => net::Resumes::Any,
                Some(Resume::SessionId) => net::Resumes::ById,
            },
        }),
        (TlsLibrary::Openssl, None) => Ok(net::TlsLibrary::OpenSsl),
        (TlsLibrary::Openssl, Some(_)) => Err(OpsError::usage(
            "sessions are not resumed with OpenSSL here",
            "its Rust binding has no safe way to give it a session",
            "add --tls-library rustls",
        )),
    }
}

/// The name of all experiments together.
const ALL: &str = "all";

/// What the command line chooses of TLS.
pub(crate) fn wish(args: &BenchTrial) -> Result<TlsWish, OpsError> {
    Ok(TlsWish {
        min_version: args.tls_min,
        max_version: args.tls_max,
        ciphers: args.ssl_cipher.clone(),
        ciphersuites: args.tls_ciphersuites.clone(),
        groups: args.tls_groups.clone(),
        signature_algorithms: args.tls_sigalgs.clone(),
        record_bytes: args.tls_record_bytes,
        library: library(args)?,
    })
}

pub(crate) fn targets(cluster: &Cluster, args: &BenchTrial) -> Result<Vec<net::ConnectOptions>, OpsError> {
    let targets = reached(cluster, &args.connect, &wish(args)?);
    // Wherever it was said: on the command line, or in an option file.
    if args.resume.is_some() && targets.iter().any(|target| target.tls.mode == net::SslMode::Disabled) {
        return Err(OpsError::usage(
            "there is no TLS session to resume",
            "it is to be clear text",
            "leave out --resume, or ask for --ssl-mode REQUIRED",
        ));
    }
    Ok(targets)
}

/// Options that change nothing are not taken.
pub(crate) fn none_without_effect(found: Option<WithoutEffect>) -> Result<(), OpsError> {
    let Some(WithoutEffect { option, why }) = found else { return Ok(()) };
    Err(OpsError::usage(
        format!("{option} would have no effect"),
        why,
        format!("leave out {option}, or what contradicts it"),
    ))
}

/// A trial of ten seconds; the caller says of what, and how long.
pub(crate) fn trial(args: &BenchTrial, workload: &str) -> Load {
    Load {
        workload: workload.to_owned(),
        own: None,
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
            is_text: args.text_protocol,
            distribution: args.rand_type,
        },
        schema: args.tables.database.clone(),
        connections: args.connections as usize,
        workers: args.workers.map(|workers| workers as usize),
        warm_up: Duration::from_secs(1),
        detects_warm_up: false,
        watches_network: false,
        time: Some(Duration::from_secs(10)),
        events: None,
        rate_per_s: None,
        sends_together: true,
        seed: args.tables.seed,
        has_own_tables: args.own_tables,
        is_echo: false,
        beside_pids: vec![],
    }
}

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
    let namespace = crate::labs::namespace_by(false, || lab::namespace::enter_new_with_account(home.path()))?;
    let tables = Plan { threads: 4, ..plan(&args.trial.tables) };
    Ok((Rig::lab(LabPlan { tables, tls, namespace }, home), None))
}

/// The one that was named, or all.
fn named(name: &str) -> Result<Vec<&'static Experiment>, OpsError> {
    if name == ALL {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let found = bench_ops::experiments::experiment(name).ok_or_else(|| {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|one| one.name).collect();
        OpsError::usage(
            format!("\"{name}\" is no experiment"),
            format!("there are {ALL}, {}; a file of your own ends with .toml", names.join(", ")),
            "sealion bench list",
        )
    })?;
    Ok(vec![found])
}

fn experiment(global: &Global, args: &BenchRunArgs) -> Result<u8, OpsError> {
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
            "--html is of one experiment",
            format!("{} of them would write to the same file", experiments.len()),
            "leave it out; sealion bench show RUN --html FILE draws each of them afterwards",
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
        let measured = Measured::Run(Box::new(report.clone()));
        is_kept &= bench_kept::keep(cluster.as_ref(), &args.keep, &measured);
        reports.push(report);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    if global.format == Format::Json {
        show::out(&match reports.as_slice() {
            [report] if args.experiment != ALL => json(report)?,
            all => json(&all)?,
        });
    }
    if let (Some(path), [report]) = (&args.html, reports.as_slice()) {
        bench_kept::write(path, &::report::html::render_bench_html(report))?;
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
pub(crate) fn measure(
    rig: &mut Rig,
    found: &Experiment,
    method: &Method,
    stop: &AtomicBool,
) -> Result<RunReport, OpsError> {
    let began = Instant::now();
    let progress = &mut |at: At<'_>| {
        let left = match at.trials_done {
            0 => String::new(),
            done => {
                let each_s = began.elapsed().as_secs_f64() / done as f64;
                format!(", {:.0} s left", each_s * at.trials.saturating_sub(done) as f64)
            }
        };
        show::progress(&format!(
            "{}, block {}, {}, {} connections: trial {} of {}{left}",
            found.name,
            at.block,
            at.arm,
            at.connections,
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

pub(crate) fn json(report: &impl serde::Serialize) -> Result<String, OpsError> {
    serde_json::to_string_pretty(report).map_err(|error| OpsError::internal("cannot write the result", error))
}

/// What cannot be used is worse than what was not kept.
pub(crate) fn code(is_usable: bool, is_kept: bool) -> u8 {
    match (is_usable, is_kept) {
        (false, _) => NOT_USABLE,
        (true, false) => NOT_KEPT,
        (true, true) => 0,
    }
}

pub(crate) fn run_text(report: &RunReport) -> String {
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
        "a trial is an event".to_owned()
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
    let rows = report
        .levels
        .iter()
        .flat_map(|level| level.arms.iter().map(move |arm| (level, arm)))
        .map(|(level, arm)| {
            let mut row = vec![
                level.connections.to_string(),
                arm.name.clone(),
                if arm.trials.is_empty() { "-".into() } else { with_deviation(arm.mean, arm.deviation) },
                arm.p95_ms.map_or("-".into(), |ms| with_deviation(ms, arm.p95_deviation_ms)),
                figure(if reads_much { arm.client_cpu_s_per_gb } else { arm.client_cpu_us_per_query }),
                figure(if reads_much { arm.server_cpu_s_per_gb } else { arm.server_cpu_us_per_query }),
            ];
            if report.published.is_some() {
                row.push(published(&arm.name, level.connections));
            }
            row
        })
        .collect();
    let unit = format!("{} (sd)", report.unit);
    let [client, server] =
        if reads_much { ["client s/GB", "server s/GB"] } else { ["client us", "server us"] };
    let mut header = vec!["conns", "arm", unit.as_str(), "p95 ms (sd)", client, server];
    if report.published.is_some() {
        header.push("published");
    }
    let _ = writeln!(out, "{}\n", show::table(&header, rows));
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
        let text = format!("{}. Another machine: it stands beside, and is not compared", table.source);
        let _ = writeln!(out, "\n{}", show::wrapped("published: ", &text));
    }
    for (mark, texts) in [
        ("links: ", &report.links),
        ("left out: ", &report.left_out),
        ("NOT USABLE: ", &report.why_not),
        ("not looked at: ", &report.not_looked_at),
    ] {
        for text in texts {
            let _ = writeln!(out, "{}", show::wrapped(mark, text));
        }
    }
    out.trim_end().to_owned()
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

/// Of the first server: a cluster's nodes count what each of them was asked.
fn counted(targets: &[net::ConnectOptions], schema: &str) -> Result<Own, OpsError> {
    let target = targets.first().ok_or_else(|| {
        OpsError::usage("there is no server", "the inventory names none", "name one: -h HOST -P PORT -u USER")
    })?;
    let found = bench_ops::digests::read(target, schema)?;
    let share = found.covered as f64 / found.counted as f64 * 100.0;
    show::tell(&format!(
        "note: the mix is of {share:.1} % of the {} statements that the server has counted",
        found.counted
    ));
    for text in &found.left_out {
        show::tell(&format!("note: left out: {text}"));
    }
    Ok(found.own)
}

fn load(global: &Global, args: &BenchLoadArgs) -> Result<u8, OpsError> {
    let cluster = connect::cluster(global, &args.trial.connect)?;
    let targets = targets(&cluster, &args.trial)?;
    none_without_effect(effect::of_load(&wish(&args.trial)?, &targets))?;
    let (workload, own) = match (&args.workload, &args.script, &args.replay) {
        (_, Some(path), _) => (SCRIPT, Some(Own::script(path)?)),
        (_, _, Some(path)) => {
            let (own, others) = Own::log(path)?;
            if others > 0 {
                show::tell(&format!(
                    "note: {others} lines of {} are no statements, and left out",
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
        show::out(&text(&report));
    }
    let is_complete = report.is_complete;
    let is_kept = bench_kept::keep(Some(&cluster), &args.keep, &Measured::Load(Box::new(report)));
    Ok(code(is_complete, is_kept))
}

/// The end of a warm-up is seen by the throughput, where the server decides about that.
fn can_be_detected(args: &BenchLoadArgs, workload: &str) -> Result<(), OpsError> {
    let why = if args.rate.is_some() || args.rate_ramp.is_some() {
        "with a rate the throughput is that rate from the beginning"
    } else if args.events.is_some() {
        "a number of events may be over before it"
    } else if workload == bench_ops::CONNECT {
        "who connects has nothing to warm up"
    } else {
        return Ok(());
    };
    Err(OpsError::usage(
        "the end of the warm-up cannot be looked for",
        why,
        "say how long it is: --warm-up S",
    ))
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
        show::progress(&format!("{asked:.0} events/s asked for, {:.0} done", report.events_per_s));
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
        is_kept &= bench_kept::keep(Some(cluster), &args.keep, &Measured::Load(Box::new(report)));
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
    let mut out = show::table(&["asked/s", "done/s", "p50 ms", "p95 ms", "p99 ms", "late", "kept up"], rows);
    // Writing into a String cannot fail.
    let _ = match ramp::knee(reports) {
        (Some(kept), Some(missed)) => write!(out, "\nthe knee is between {kept:.0} and {missed:.0} events/s"),
        (Some(kept), None) => write!(out, "\nno knee up to {kept:.0} events/s: ask for more"),
        (None, Some(missed)) => write!(out, "\nthe knee is below {missed:.0} events/s: begin with less"),
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

pub(crate) fn text(report: &LoadReport) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{}", show::wrapped(&format!("{name:<18} "), &value));
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
    let warmth = match report.was_warm {
        None => "",
        Some(true) => ", when the throughput did not change any more",
        Some(false) => "; the throughput changed until then",
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
    line("rows", format!("{} in {:.1} MB of answers", report.rows, report.answer_bytes as f64 / 1e6));
    if report.written_rows > 0 {
        let per_s = report.written_rows as f64 / report.measured_s;
        line("rows written", format!("{} ({per_s:.1}/s)", report.written_rows));
    }
    if report.queries > 0 {
        let each = |bytes: u64| bytes as f64 / report.queries as f64;
        let text = format!(
            "{:.0} B sent and {:.0} B received a query, with what TLS adds, in {:.1} round trips",
            each(report.sent_bytes),
            each(report.received_bytes),
            each(report.round_trips)
        );
        line("traffic", text);
    }
    line("latency ms", latencies(&report.latency_ms));
    // A connection has no query: what is timed in it is what the server does before anybody logs in.
    let part = if report.workload == bench_ops::CONNECT { "  greeting and TLS" } else { "  of a query" };
    line(part, latencies(&report.query_latency_ms));
    let a_gb = |cpu_s: Option<f64>| cpu_s.map(|cpu_s| format!("; {cpu_s:.2} s a GB")).unwrap_or_default();
    if let Some(cpu) = &report.client_cpu_us_per_query {
        let text = format!("{:.2} us a query ({:.2} user, {:.2} system)", cpu.total, cpu.user, cpu.system);
        line("client CPU", text + &a_gb(report.client_cpu_s_per_gb));
    }
    let server =
        report.server_cpu_us_per_query.map_or("not known".into(), |us| format!("{us:.2} us a query"));
    line("server CPU", server + &a_gb(report.server_cpu_s_per_gb));
    if let Some(joules) = report.machine_energy_j.filter(|_| report.queries > 0) {
        let each_uj = joules * 1e6 / report.queries as f64;
        line("energy", format!("{each_uj:.1} uJ a query, {joules:.1} J of all processors of this machine"));
    }
    if let (Some(asked), Some(due)) = (report.rate_per_s, report.due) {
        line("rate", format!("{asked:.1} events/s asked for; {due} came"));
    }
    if report.late_at_end > 0 {
        line("late", format!("{} events still waited for a connection", report.late_at_end));
    }
    if report.resumed > 0 {
        line(
            "resumed",
            format!("{} of {} connections, with a TLS session from before", report.resumed, report.events),
        );
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
        "mean {}, p50 {}, p95 {}, p99 {}, max {}",
        show(row.mean),
        show(row.p50),
        show(row.p95),
        show(row.p99),
        show(row.max)
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
