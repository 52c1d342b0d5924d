//! What `sealion watch` costs that has nothing to tell: one cluster of a thousand servers, all of them up. They are entries of one inventory
//! that lead to the same real MariaDB, so each is asked everything that a server is asked.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use testbed::real::{LabSpec, RealLab, is_deep, lab_slot, wait_for};

const UP: Duration = Duration::from_secs(900);
const INTERVAL_S: f64 = 300.0;
const RSS_KIB_MAX: u64 = 100 * 1024;
const LOOKS: usize = 2;

/// User and system time of a process and of those that it has waited for, in seconds.
fn cpu_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let ticks: f64 = rest.split(' ').skip(11).take(4).map(|word| word.parse::<f64>().unwrap()).sum();
    // USER_HZ, which Linux shows to programs on every machine that we know.
    ticks / 100.0
}

fn kib(pid: u32, what: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
}

/// The lab's inventory, with its one node so many times.
fn inventory(lab: &RealLab, servers: usize) -> String {
    let text = std::fs::read_to_string(lab.dir.join("sealion.toml")).unwrap();
    let (head, node) = text.split_once("[[node]]").unwrap();
    let mut all = head.to_owned();
    for at in 0..servers {
        all += "[[node]]";
        for line in node.lines() {
            // Over TCP, as a server elsewhere is asked.
            if !line.starts_with("socket") {
                all += &line.replace("name = \"n1\"", &format!("name = \"s{at}\""));
            }
            all.push('\n');
        }
    }
    all
}

#[test]
fn a_watch_of_a_thousand_servers_is_small() {
    let _alone = lab_slot();
    let servers = if is_deep() { 1_000 } else { 20 };
    let lab = RealLab::up(LabSpec::MARIADB);
    let path = lab.dir.join("many.toml");
    std::fs::write(&path, inventory(&lab, servers)).unwrap();
    let words =
        ["--inventory", path.to_str().unwrap(), "watch", "--every", "20", "--timeout", "600", "--format", "json"];
    let program = lab.start(&words, None);
    let pid = program.pid();
    let mut cpu = Vec::new();
    for look in 1..=LOOKS {
        wait_for(UP, || (program.stdout().lines().count() >= look).then_some(()))
            .unwrap_or_else(|| panic!("no look {look}\n{}", program.stderr()));
        cpu.push(cpu_s(pid));
    }
    let line = program.stdout().lines().next().unwrap().to_owned();
    let report: report::shape::WatchReport = serde_json::from_str(&line).unwrap();
    assert_eq!((report.servers.len(), report.summary.servers_silent), (servers, 0), "{:?}", report.summary);
    // Those after the first one: connections are made anew by each look, and nothing else is.
    let a_look = cpu.last().unwrap() - cpu.first().unwrap();
    let (rss, peak) = (kib(pid, "VmRSS"), kib(pid, "VmHWM"));
    println!(
        "{servers} servers: {rss} KiB resident, {peak} KiB at most; {a_look:.2} s of a core for a look, {:.2} % at one look in 300 s",
        a_look / INTERVAL_S * 100.0
    );
    assert!(peak < RSS_KIB_MAX, "{peak} KiB");
    program.interrupt(UP).exits(0);
}
