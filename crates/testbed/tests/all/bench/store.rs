//! What `sealion bench` keeps, compares and exports.

use super::{Real, TABLES, list, number, of_kept};
use serde_json::Value;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

#[test]
fn two_runs_are_kept_compared_exported_drawn_and_advise() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let run = |more: &[&str]| {
        let words = ["run", "tls", "--blocks", "5", "--trial-time", "0.3", "--warm-up", "0.1", "-c", "2"];
        server.bench(&[&words[..], &TABLES, more].concat())
    };
    // The first one's output, the second one's place in the store.
    let (first, second) = (run(&[]), run(&["--html", "page.html"]));
    let (printed, second_printed) = (of_kept(&first), of_kept(&second));
    std::fs::write(server.directory.path().join("first.json"), &first.stdout).unwrap();
    let runs = of_kept(&server.kept(&["bench", "runs", "--format", "json"]));
    let ids: Vec<&str> = list(&runs["runs"]).iter().map(|run| run["run"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), &runs["runs"][0]["experiment"]), (2, &"tls".into()), "{runs:#}");
    assert!(String::from_utf8_lossy(&second.stderr).contains(&format!("saved as {}", ids[0])), "{second:?}");
    // What is kept is what was printed, with every trial and all latencies.
    assert_eq!(of_kept(&server.kept(&["bench", "show", ids[0], "--format", "json"])), second_printed);
    assert_eq!(of_kept(&server.kept(&["bench", "export", ids[1], "--format", "json"])), printed);
    for arm in list(&printed["levels"][0]["arms"]) {
        let events: u64 = list(&arm["samples"]).iter().map(|trial| number(trial, "events")).sum();
        let histogram = bench::histogram::decode(arm["latency_histogram"].as_str().unwrap()).unwrap();
        assert_eq!((list(&arm["samples"]).len(), histogram.len()), (5, events), "{arm:#}");
        let curve = list(&arm["latency_percentiles"]);
        assert_eq!(curve.last().unwrap()["share"], 1.0, "{arm:#}");
    }
    // Nothing but time lies between the two.
    let compared = server.kept(&["bench", "compare", "first.json", ids[0], "--format", "json"]);
    let report = of_kept(&compared);
    assert_eq!(compared.status.code() == Some(0), report["is_usable"] == true, "{report:#}");
    // Each of the two arms, and what one costs of the other, at every number of connections.
    let levels = list(&printed["levels"]).len();
    let found = (list(&report["rows"]).len(), list(&report["effects"]).len());
    assert_eq!(found, (2 * levels, levels), "{report:#}");
    assert!(list(&report["differs"]).is_empty() && list(&report["only_in_one"]).is_empty(), "{report:#}");
    for row in list(&report["rows"]).iter().chain(list(&report["effects"])) {
        let at = |name: &str| row[name].as_f64().unwrap();
        assert!(at("low") <= at("ratio") && at("ratio") <= at("high"), "{row:#}");
    }
    let text = server.kept(&["bench", "compare", ids[1], ids[0]]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("cleartext, 2 connections: "), "{text:?}");
    // A line a trial.
    // Marks at both ends (Apache Parquet, file format); what is between them is read in a test of `report`.
    let parquet = server.kept(&["bench", "export", ids[1], "--format", "parquet"]);
    assert!(parquet.stdout.starts_with(b"PAR1") && parquet.stdout.ends_with(b"PAR1"), "{parquet:?}");
    let _ = server.kept(&["bench", "export", ids[1], "--format", "parquet", "--out", "trials.parquet"]);
    assert_eq!(std::fs::read(server.directory.path().join("trials.parquet")).unwrap(), parquet.stdout);
    let csv = server.kept(&["bench", "export", ids[1], "--format", "csv"]);
    let csv = String::from_utf8(csv.stdout).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    let column = lines[0].split(',').position(|name| name == "events").unwrap();
    let in_csv: u64 =
        lines[1..].iter().map(|line| line.split(',').nth(column).unwrap().parse::<u64>().unwrap()).sum();
    let arms = list(&printed["levels"]).iter().flat_map(|level| list(&level["arms"]));
    let in_json: u64 = arms.flat_map(|arm| list(&arm["samples"])).map(|trial| number(trial, "events")).sum();
    assert_eq!((lines.len(), in_csv), (1 + 10 * levels, in_json), "{csv}");
    let page = std::fs::read_to_string(server.directory.path().join("page.html")).unwrap();
    assert!(page.matches("<svg").count() >= 4 && page.contains("cleartext"), "{page}");
    // What a query costs is known on this machine; what a connection costs was not measured.
    let advice = of_kept(&server.kept(&["bench", "advise", "--format", "json"]));
    for row in list(&advice["capacity"]) {
        assert!(
            row["server_alone_per_s"].as_f64().unwrap() > row["together_per_s"].as_f64().unwrap(),
            "{row:#}"
        );
    }
    let verdict = |topic: &str| {
        let mut rows = list(&advice["advice"]).iter();
        rows.find(|row| row["topic"] == topic).unwrap_or_else(|| panic!("{topic}: {advice:#}"))["verdict"]
            .clone()
    };
    assert_ne!(verdict("tls"), "unknown", "{advice:#}");
    assert_eq!(verdict("pooling"), "unknown", "{advice:#}");
    // One measurement is kept as well, and is not compared with another question.
    server.load(&["connect", "--time", "0.3", "--warm-up", "0"], 0);
    let runs = of_kept(&server.kept(&["bench", "runs", "--limit", "1", "--format", "json"]));
    let load = runs["runs"][0]["run"].as_str().unwrap().to_owned();
    assert_eq!(runs["runs"][0]["experiment"], "load connect", "{runs:#}");
    for words in [["compare", &load, ids[0]], ["compare", "nothing", ids[0]], ["compare", "2", ids[0]]] {
        let said = server.kept(&[&["bench"], &words[..]].concat());
        assert_eq!((said.status.code(), said.stdout.len()), (Some(2), 0), "{said:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains("next: "), "{said:?}");
    }
    let said = server.load(&["connect", "--time", "0.2", "--warm-up", "0", "--no-store"], 0);
    assert!(number(&said, "events") > 0);
    assert_eq!(list(&of_kept(&server.kept(&["bench", "runs", "--format", "json"]))["runs"]).len(), 3);
}

#[test]
fn a_store_on_a_full_disk_loses_nothing_that_was_printed_and_does_not_hang() {
    let server = Real::start("galera-10.11", &[]);
    // From none at all to one in which the tables of the store fit, and the measurement does not. Where there is no room for
    // the memory that SQLite's processes share, the kernel calls it an I/O error.
    for size_k in [4, 16, 64, 120] {
        let disk = server.directory.path().join(format!("disk-{size_k}"));
        std::fs::create_dir(&disk).unwrap();
        let store = disk.join("runs.sqlite");
        let mount = format!("mount -t tmpfs -o size={size_k}k none '{}' && exec \"$@\"", disk.display());
        let inner =
            server.command(&["run", "versions", "--blocks", "5", "--trial-time", "0.1", "--warm-up", "0"]);
        let began = Instant::now();
        let said = Command::new("unshare")
            .args(["-rm", "sh", "-c", &mount, "sh"])
            .arg(inner.get_program())
            .args(inner.get_args())
            .arg(format!("--store={}", store.display()))
            .current_dir(server.directory.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(began.elapsed() < Duration::from_secs(60), "it hangs: {text}");
        let report: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        let code = if report["is_usable"] == true { 2 } else { 7 };
        assert_eq!(said.status.code(), Some(code), "{size_k} KiB: {text}");
        assert_eq!(list(&report["levels"][0]["arms"][0]["samples"]).len(), 5, "{report:#}");
        let says_why = text.contains("disk is full") || text.contains("a full or failing disk");
        assert!(text.contains("could not be saved") && says_why, "{size_k} KiB: {text}");
    }
}
