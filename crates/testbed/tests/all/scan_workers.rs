//! `sealion scan` by workers: over a real broker that is killed on the way, and over a file.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use queue::sqlite::SqliteQueue;
use queue::{DELIVERIES_MAX, Queue, Zone};
use report::shape::ScanReport;
use testbed::real::broker::{Broker, end};
use testbed::real::endpoints::Endpoints;
use testbed::real::{Program, is_deep, sealion, short_dir, wait_for};

const AT_MOST: Duration = Duration::from_secs(120);
const DEEP_AT_MOST: Duration = Duration::from_secs(1800);

/// A sealion that counts no connections of other tests.
fn command(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(sealion());
    command.args(words).env("XDG_STATE_HOME", home).current_dir(home);
    command
}

fn targets_file(home: &Path, endpoints: &Endpoints, count: usize) -> PathBuf {
    let path = home.join("targets.txt");
    let lines: Vec<String> = (0..count).map(|number| endpoints.address(number).to_string()).collect();
    std::fs::write(&path, lines.join("\n")).expect("the directory is ours");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name of ours")
}

/// Every endpoint has one row, and it is a server's.
#[track_caller]
fn has_each_once(report: &ScanReport, endpoints: &Endpoints, count: usize) {
    let expected: BTreeSet<String> = (0..count).map(|number| endpoints.address(number).to_string()).collect();
    let found: BTreeSet<String> = report.targets.iter().map(|row| row.target.clone()).collect();
    assert!(report.is_complete, "it is not complete");
    assert_eq!(report.targets.len(), count, "{} rows for {count} endpoints", report.targets.len());
    assert!(found == expected, "{} of them are others", found.symmetric_difference(&expected).count());
    let silent: Vec<_> = report.targets.iter().filter(|row| row.service.is_none()).take(3).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

/// The most memory that a process had, MiB.
fn peak_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() / 1024
}

/// Three workers of which one is killed, and a broker that is killed and comes back.
fn over_a_broker(count: usize, worker_options: &[&str], at_most: Duration) {
    let dir = short_dir();
    let home = dir.path();
    let mut broker = Broker::start(home, &[("w0", "default"), ("w1", "default"), ("w2", "default")]);
    let endpoints = Endpoints::start();
    let targets = targets_file(home, &endpoints, count);
    let (url, ca) = (broker.url(), broker.ca());
    let mut workers: Vec<Program> = ["w0", "w1", "w2"]
        .iter()
        .map(|name| {
            let login = broker.login(name);
            let state = home.join(name);
            let mut worker = command(
                home,
                &[
                    "scan",
                    "worker",
                    "--from",
                    &url,
                    "--nats-ca",
                    text(&ca),
                    "--nats-login",
                    text(&login),
                    "--nats-name",
                    name,
                ],
            );
            worker.args(worker_options).env("XDG_STATE_HOME", state);
            Program::start(worker)
        })
        .collect();
    let out = home.join("result.json");
    let began = Instant::now();
    let login = broker.login("publisher");
    let mut scan = Program::start(command(
        home,
        &[
            "scan",
            "--first",
            "--workers",
            &url,
            "--nats-ca",
            text(&ca),
            "--nats-login",
            text(&login),
            "--targets-file",
            text(&targets),
            "--lease-s",
            "3",
            "--out",
            text(&out),
            "--format",
            "prometheus",
        ],
    ));
    let reach = |part: usize, scan: &mut Program| {
        let wanted = count * part / 10;
        let is_there = wait_for(at_most, || {
            let is_over = scan.has_ended();
            (endpoints.asked() >= wanted || is_over).then_some(!is_over)
        });
        assert_eq!(is_there, Some(true), "at {} of {count}: {}", endpoints.asked(), scan.stderr());
    };
    reach(3, &mut scan);
    let killed = workers.remove(0);
    end(killed.pid(), Signal::SIGKILL);
    reach(5, &mut scan);
    let broker_mib = broker.pid().map(peak_mib).unwrap_or_default();
    broker.kill();
    assert!(scan.says("is lost", at_most), "the scan did not see it: {}", scan.stderr());
    broker.run();
    let mut peaks = (0, 0, broker_mib);
    let ended = wait_for(at_most, || {
        peaks.0 = peaks.0.max(peak_mib(scan.pid()));
        peaks.1 = workers.iter().map(|worker| peak_mib(worker.pid())).max().unwrap_or_default().max(peaks.1);
        peaks.2 = peaks.2.max(broker.pid().map(peak_mib).unwrap_or_default());
        scan.has_ended().then_some(())
    });
    let took_s = began.elapsed().as_secs_f64();
    assert!(ended.is_some(), "it goes on: {}\n{}", scan.stderr(), broker.log());
    let scan = scan.finish(Duration::from_secs(5)).exits(0);
    assert!(scan.stderr.contains("again"), "{}", scan.stderr);
    let report: ScanReport =
        serde_json::from_slice(&std::fs::read(&out).expect("it was written")).expect("a result");
    has_each_once(&report, &endpoints, count);
    eprintln!(
        "{count} endpoints in {took_s:.1} s ({:.0}/s), {} connections; peak memory: scan {} MiB, worker {} MiB, broker {} MiB; \
         result {} MiB",
        count as f64 / took_s,
        endpoints.asked(),
        peaks.0,
        peaks.1,
        peaks.2,
        out.metadata().map_or(0, |file| file.len() / 1024 / 1024)
    );
    let mut answered = 0;
    for worker in workers {
        end(worker.pid(), Signal::SIGTERM);
        let ended = worker.finish(Duration::from_secs(30)).exits(0);
        let line =
            ended.stderr.lines().find_map(|line| line.split_once(" targets answered")).expect("its count");
        answered += line.0.parse::<usize>().expect("a number");
    }
    assert!(answered > 0 && answered < 2 * count, "{answered}");
}

#[test]
fn a_killed_worker_and_a_killed_broker_lose_no_result_and_none_comes_twice() {
    over_a_broker(3000, &["--rate", "400"], AT_MOST);
    if is_deep() {
        over_a_broker(100_000, &[], DEEP_AT_MOST);
    }
}

#[test]
fn workers_of_one_machine_share_a_file_and_one_may_be_killed() {
    let dir = short_dir();
    let home = dir.path();
    let endpoints = Endpoints::start();
    let count = 600;
    let targets = targets_file(home, &endpoints, count);
    let queue = home.join("queue.db");
    let mut workers: Vec<Program> = (0..2)
        .map(|_| Program::start(command(home, &["scan", "worker", "--from", text(&queue), "--rate", "150"])))
        .collect();
    let mut scan = Program::start(command(
        home,
        &[
            "scan",
            "--first",
            "--workers",
            text(&queue),
            "--targets-file",
            text(&targets),
            "--lease-s",
            "2",
            "--format",
            "json",
        ],
    ));
    let some = wait_for(AT_MOST, || (endpoints.asked() > count / 4 || scan.has_ended()).then_some(()));
    assert!(some.is_some() && !scan.has_ended(), "{}", scan.stderr());
    end(workers.remove(0).pid(), Signal::SIGKILL);
    let scan = scan.finish(AT_MOST).exits(0);
    has_each_once(&serde_json::from_value(scan.json()).expect("a result"), &endpoints, count);
    for worker in workers {
        worker.interrupt(Duration::from_secs(30)).exits(0);
    }
}

/// By an outsider: jobs of all scans were taken in turn, and one scan was worked on after the other.
#[test]
fn a_small_scan_does_not_wait_for_a_large_one_of_servers_that_say_nothing() {
    let dir = short_dir();
    let home = dir.path();
    let endpoints = Endpoints::start();
    let small = targets_file(home, &endpoints, 3);
    // They are connected by the system, and nobody ever greets.
    let silent: Vec<TcpListener> = (1..=60)
        .map(|number| TcpListener::bind((Ipv4Addr::new(127, 9, 0, number), 0)).expect("a port"))
        .collect();
    let addresses: Vec<String> =
        silent.iter().map(|one| one.local_addr().expect("bound").to_string()).collect();
    let large = home.join("large.txt");
    std::fs::write(&large, addresses.join("\n")).expect("the directory is ours");
    let queue = home.join("queue.db");
    let scan = |targets: &Path, more: &[&str]| {
        let words = ["scan", "--workers", text(&queue), "--targets-file", text(targets), "--format", "json"];
        Program::start(command(home, &[&words[..], more].concat()))
    };
    // One that nobody waits for any more, and one that goes on.
    let killed = scan(&large, &["--first"]);
    let mut goes_on = scan(&large, &["--first"]);
    let is_published = || {
        let mut queue = SqliteQueue::open(&queue).expect("a file of ours");
        let held = queue.lease(&Zone::default(), 200, Duration::ZERO).expect("it is there");
        queue.nack(&held).expect("it is there");
        held.len() == 2 * addresses.len()
    };
    assert!(wait_for(AT_MOST, || is_published().then_some(())).is_some(), "{}", goes_on.stderr());
    end(killed.pid(), Signal::SIGKILL);
    let worker =
        Program::start(command(home, &["scan", "worker", "--from", text(&queue), "--at-once", "10"]));
    // It is asked in another manner than the large ones.
    let done = scan(&small, &[]).finish(AT_MOST).exits(0);
    has_each_once(&serde_json::from_value(done.json()).expect("a result"), &endpoints, 3);
    assert!(!goes_on.has_ended(), "the large one was done first: {}", goes_on.stderr());
    end(goes_on.pid(), Signal::SIGTERM);
    worker.interrupt(AT_MOST).exits(0);
}

#[test]
fn a_target_that_nobody_brings_back_is_told_by_its_name() {
    let dir = short_dir();
    let home = dir.path();
    let path = home.join("queue.db");
    let scan = Program::start(command(
        home,
        &[
            "scan",
            "--first",
            "--workers",
            text(&path),
            "--zone",
            "dmz",
            "127.0.0.1:1",
            "--format",
            "json",
            "--fail-on",
            "high",
        ],
    ));
    // A worker that takes it, and gives it back, again and again.
    let mut queue = SqliteQueue::open(&path).expect("a file of ours");
    let zone = Zone::parse("dmz").expect("a zone");
    for _ in 0..DELIVERIES_MAX {
        let held = wait_for(AT_MOST, || {
            let held = queue.lease(&zone, 1, Duration::from_millis(100)).expect("the file is there");
            (!held.is_empty()).then_some(held)
        });
        queue.nack(&held.expect("the job is there")).expect("the file is there");
    }
    assert!(queue.lease(&zone, 1, Duration::ZERO).expect("the file is there").is_empty());
    // It could not be looked at: with --fail-on that is 3.
    let scan = scan.finish(AT_MOST).exits(3);
    let report: ScanReport = serde_json::from_value(scan.json()).expect("a result");
    let row = &report.targets[0];
    assert_eq!((report.targets.len(), row.target.as_str(), row.connections), (1, "127.0.0.1:1", 0));
    let why = &row.not_seen[0];
    assert!(why.starts_with("cannot tell: 5 workers of zone dmz"), "{why}");
}

#[test]
fn a_scan_that_no_worker_answers_ends_and_can_be_completed() {
    let dir = short_dir();
    let home = dir.path();
    let endpoints = Endpoints::start();
    let (one, other) = (endpoints.address(0).to_string(), endpoints.address(1).to_string());
    let (queue, out) = (home.join("queue.db"), home.join("result.json"));
    let words = [
        "scan",
        "--first",
        "--workers",
        text(&queue),
        "--silence-s",
        "1",
        "--out",
        text(&out),
        "--format",
        "json",
    ];
    let scan =
        Program::start(command(home, &[&words[..], &[&one, &other]].concat())).finish(AT_MOST).exits(3);
    let report: ScanReport = serde_json::from_value(scan.json()).expect("a result");
    assert!(
        !report.is_complete
            && report.targets.iter().all(|row| row.not_seen[0].contains("no worker of zone default"))
    );
    let worker = Program::start(command(home, &["scan", "worker", "--from", text(&queue)]));
    let again = [&words[..4], &["--resume", text(&out), "--format", "json"]].concat();
    let scan = Program::start(command(home, &again)).finish(AT_MOST).exits(0);
    has_each_once(&serde_json::from_value(scan.json()).expect("a result"), &endpoints, 2);
    worker.interrupt(Duration::from_secs(30)).exits(0);
}

#[test]
fn a_worker_contacts_nothing_outside_of_its_own_range_and_asks_nothing_harmful_unasked() {
    let dir = short_dir();
    let home = dir.path();
    let endpoints = Endpoints::start();
    let target = endpoints.address(0).to_string();
    let ranges = home.join("ranges.txt");
    std::fs::write(&ranges, "10.0.0.0/8\n").expect("the directory is ours");
    let queue = home.join("queue.db");
    let check = |worker_options: &[&str], scan_options: &[&str], part: &str| {
        let worker = Program::start(command(
            home,
            &[&["scan", "worker", "--from", text(&queue)], worker_options].concat(),
        ));
        let scan = [&["scan", "--workers", text(&queue), "--format", "json", &target], scan_options].concat();
        let scan = Program::start(command(home, &scan)).finish(AT_MOST).exits(3);
        let report: ScanReport = serde_json::from_value(scan.json()).expect("a result");
        assert!(report.targets[0].not_seen[0].contains(part), "{:?}", report.targets);
        worker.interrupt(Duration::from_secs(30)).exits(0);
        assert_eq!(endpoints.asked(), 0, "it was contacted");
    };
    check(&["--authorized-range", text(&ranges)], &["--first"], "is outside of --authorized-range");
    check(&[], &["--intrusive=heartbleed"], "does not permit intrusive probes (heartbleed)");
}
