//! `sealion demo`, once, on real servers: what its report says, what it leaves, and what it lets slip (nothing).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use report::DemoReport;
use report::shape::{self, LinkKindWord, LinkRow, Outcome, SeenWord};
use testbed::real::secrets::{Seen, Watch};
use testbed::real::{Program, ProgramOutput, need_servers, sealion, short_dir, wait_for};

/// The promise is 3 minutes on two cores; a debug build on a busy machine gets more.
const DEMO_S_MAX: u64 = 420;
/// What the kernel and a supervisor still take down when the demo has ended, on a machine that is busy with other tests.
const GONE_MAX: Duration = Duration::from_secs(60);
const PAGE_MAX: Duration = Duration::from_secs(120);
/// Chromium is not what is tried here, and does not always start on a busy machine.
const PAGE_TRIES: usize = 3;
const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// The topology before and after, the timeline, the price, latencies.
const SVG_MIN: usize = 4;
const SCREENSHOT_BYTES_MIN: u64 = 20_000;

#[test]
fn the_demo_seals_a_real_cluster_and_proves_it() {
    need_servers();
    let home = short_dir();
    let (tmp, out) = (home.path().join("t"), home.path().join("out"));
    std::fs::create_dir(&tmp).expect("the test's own directory");

    let watch = Watch::start(tmp.clone());
    let mut command = Command::new(sealion());
    command.arg("demo").arg("--out").arg(&out).env("TMPDIR", &tmp).current_dir(home.path());
    for name in ["SEALION_LAB", "SEALION_INVENTORY", "SEALION_HOLD_AT", "SEALION_CRASH_AT"] {
        command.env_remove(name);
    }
    let mut demo = Program::start(command);
    watch.family_of(demo.pid());
    // All keys, passwords and journals are there by now, and the lab is still up.
    let came_so_far = demo.says("results of the intruders", Duration::from_secs(DEMO_S_MAX));
    demo.paused(|| watch.look_deeply());
    let said = demo.finish(Duration::from_secs(DEMO_S_MAX));
    let nothing_runs = |seen: &Seen| wait_for(GONE_MAX, || seen.still_running().is_empty().then_some(()));
    let seen = watch.finish();
    assert!(came_so_far, "the demo did not come to its last phases\n{said}");
    let said = said.exits(0);
    eprintln!("{}the demo took {:.0} s", said.stderr, said.took.as_secs_f64());

    let text = std::fs::read_to_string(out.join("report.json")).expect("the demo writes report.json");
    let html = std::fs::read_to_string(out.join("report.html")).expect("the demo writes report.html");
    let report = DemoReport::from_json(&text).expect("the published shape");
    every_key_is_published(&text, &report);
    the_summary_is_proven(&report, &said);
    every_link_was_plain_and_is_sealed(&report);
    three_were_refused_and_one_joined(&report);
    the_price_is_told(&report);
    assert_eq!(report::contradictions::contradictions(&report), Vec::<String>::new());

    nothing_leaked(&seen, &said, &text, &html);
    assert!(nothing_runs(&seen).is_some(), "processes are left: {:?}", seen.still_running());
    let left = || -> Vec<PathBuf> {
        std::fs::read_dir(&tmp).expect("readable").flatten().map(|entry| entry.path()).collect()
    };
    wait_for(GONE_MAX, || left().is_empty().then_some(()));
    assert_eq!(left(), Vec::<PathBuf>::new(), "files are left");

    the_page_opens(&out.join("report.html"), &html, home.path());
}

/// `crates/report/tests/schema.rs` holds shape and schema together; here: what was written is that shape, no key more,
/// no key less.
fn every_key_is_published(text: &str, report: &DemoReport) {
    let written: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let shape = serde_json::to_value(report).expect("plain fields");
    assert_eq!(written, shape);
    let schema: serde_json::Value = serde_json::from_str(report::DEMO_REPORT_SCHEMA).expect("JSON");
    assert_eq!(written["schema"], schema["properties"]["schema"]["const"]);
    for key in schema["required"].as_array().expect("a list") {
        assert!(written.get(key.as_str().expect("a name")).is_some(), "{key} is missing");
    }
}

fn the_summary_is_proven(report: &DemoReport, said: &ProgramOutput) {
    let summary = &report.summary;
    assert_eq!(report.schema, shape::SCHEMA_ID);
    assert_eq!(summary.verdict, Outcome::Proven, "{}\n{said}", summary.verdict_why);
    assert!(summary.acknowledged_writes > 1000, "{}", summary.acknowledged_writes);
    assert_eq!(
        (summary.acknowledged_writes_lost, summary.failed_transactions, summary.canaries_seen_after),
        (0, 0, 0),
        "lost, failed, canaries after"
    );
    assert!(summary.longest_stall_ms > 0);
    assert!(summary.canaries_seen_before > 0);
    assert_eq!(summary.restarts, 6);
    assert!(said.stdout.starts_with("PROVEN"), "{said}");
}

fn links(report: &DemoReport, kind: LinkKindWord) -> Vec<&LinkRow> {
    report.summary.links.iter().filter(|link| link.kind == kind).collect()
}

fn every_link_was_plain_and_is_sealed(report: &DemoReport) {
    // A Galera cluster has no replicas.
    for kind in LinkKindWord::ALL.iter().filter(|kind| **kind != LinkKindWord::Replication) {
        let canaries: u64 = links(report, *kind).iter().map(|link| link.canaries_before).sum();
        assert!(canaries > 0, "no canary was read on {kind} links before");
    }
    let pairs = [("n1", "n2"), ("n1", "n3"), ("n2", "n3")];
    let clients = NODES.map(|node| ("client", node));
    for (kind, ends) in [(LinkKindWord::Galera, pairs), (LinkKindWord::Client, clients)] {
        for (a, b) in ends {
            let mut rows = links(report, kind).into_iter().filter(|link| (&*link.a, &*link.b) == (a, b));
            let link = rows.next().unwrap_or_else(|| panic!("{kind} {a}-{b} is not in the report"));
            assert!(rows.next().is_none(), "{kind} {a}-{b} is there twice");
            assert_eq!(
                (link.seen_before, link.control_seen_before, link.kernel_drops_before),
                (SeenWord::Plain, true, 0),
                "{link:#?}"
            );
            is_sealed_with_its_control(link);
        }
    }
    for kind in [LinkKindWord::Ist, LinkKindWord::Sst] {
        let sealed: Vec<_> =
            links(report, kind).into_iter().filter(|link| link.seen_after == SeenWord::Sealed).collect();
        assert!(!sealed.is_empty(), "no {kind} was seen sealed");
        sealed.into_iter().for_each(is_sealed_with_its_control);
    }
    assert!(report.summary.links.iter().all(|link| link.seen_after != SeenWord::Plain));
}

fn is_sealed_with_its_control(link: &LinkRow) {
    assert_eq!(
        (link.seen_after, link.control_seen_after, link.kernel_drops_after, link.canaries_after),
        (SeenWord::Sealed, true, 0, 0),
        "{link:#?}"
    );
    assert!(link.payload_bytes_after > 0 && link.tls_bytes_after > 0, "{link:#?}");
}

fn three_were_refused_and_one_joined(report: &DemoReport) {
    assert_eq!(report.refusals.len(), 3);
    for refusal in &report.refusals {
        assert!(refusal.refused && !refusal.answer.trim().is_empty(), "{refusal:#?}");
    }
    let join = report.join.as_ref().expect("a fourth node");
    assert!(join.synced, "{join:#?}");
    assert_eq!(join.sst_seen, SeenWord::Sealed, "{join:#?}");
}

fn the_price_is_told(report: &DemoReport) {
    let ratio = report.summary.throughput_ratio.expect("a workload was run");
    assert!(ratio > 0.0, "{ratio}");
    let price = report.price.as_ref().expect("a workload was run");
    for block in [&price.before, &price.after] {
        assert!(block.per_s_samples.len() >= 3 && block.transactions > 0, "{block:#?}");
        assert!(block.latency_ms_p50 > 0.0 && block.latency_ms_p99 >= block.latency_ms_p50, "{block:#?}");
        assert!(block.server_cpu_us_per_txn > 0.0 && block.client_cpu_us_per_txn > 0.0, "{block:#?}");
    }
}

fn nothing_leaked(seen: &Seen, said: &ProgramOutput, json: &str, html: &str) {
    let (words, file_scans, deep_scans) = seen.counts();
    eprintln!(
        "{} secrets looked for in {words} command lines and environments of {} processes, in {file_scans} looks at all \
         files, {deep_scans} of them with data directories",
        seen.secrets().len(),
        seen.family_size()
    );
    // The controls: the watch did see secrets, processes and files.
    let known = seen.secrets();
    for what in ["the password of operator.cnf", "the password of app.cnf", "the CA passphrase"] {
        assert!(known.contains(what), "the watch did not learn {what}: {known:?}");
    }
    for node in ["n1", "n2", "n3", "n4"] {
        assert!(
            known.iter().any(|what| what.contains(&format!("/{node}/etc/ssl"))),
            "no key of {node}: {known:?}"
        );
    }
    assert!(words > 20 && file_scans > 5 && deep_scans > 0 && seen.family_size() > 10);

    assert_eq!(seen.in_processes(), Vec::<String>::new());
    assert_eq!(seen.in_files(), Vec::<&String>::new());
    for (place, text) in
        [("stdout", &*said.stdout), ("stderr", &*said.stderr), ("report.json", json), ("report.html", html)]
    {
        assert_eq!(seen.in_bytes(place, text.as_bytes()), Vec::<String>::new());
    }
}

pub fn browser() -> String {
    let named = std::env::var("SEALION_BROWSER").ok();
    let known = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    named
        .into_iter()
        .chain(known)
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()))
        .unwrap_or_else(|| panic!("there is no Chromium here; run: scripts/setup.sh browser"))
}

fn open_page(page: &Path, home: &Path, last: &[&str]) -> ProgramOutput {
    for at in 1..PAGE_TRIES {
        let said = try_page(page, &home.join(format!("browser{at}")), last).finish_or_kill(PAGE_MAX);
        if said.code == Some(0) {
            return said;
        }
        eprintln!("Chromium did not show the page: {said}");
    }
    try_page(page, &home.join("browser"), last).finish(PAGE_MAX).exits(0)
}

fn try_page(page: &Path, profile: &Path, last: &[&str]) -> Program {
    let mut command = Command::new(browser());
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        // A page that needs the network fails here.
        .args([
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--virtual-time-budget=2000",
            "--window-size=1280,2400",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(last)
        .arg(format!("file://{}", page.display()));
    Program::start(command)
}

fn the_page_opens(page: &Path, html: &str, home: &Path) {
    for outside in
        ["src=\"http", "src='http", "<link", "@import", "url(http", "<iframe", "fetch(", "XMLHttpRequest"]
    {
        assert!(!html.contains(outside), "report.html asks for something else: {outside}");
    }
    let dom = open_page(page, home, &["--dump-dom"]).stdout;
    assert!(dom.to_lowercase().contains("proven"), "the page does not say the verdict");
    let count = dom.matches("<svg").count();
    assert!(count >= SVG_MIN, "{count} pictures in the page");
    let picture = home.join("report.png");
    open_page(page, home, &[&format!("--screenshot={}", picture.display())]);
    let bytes = picture.metadata().map_or(0, |facts| facts.len());
    assert!(bytes > SCREENSHOT_BYTES_MIN, "the screenshot has {bytes} bytes");
}
