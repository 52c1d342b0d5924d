//! `sealion bench runs`, `show`, `compare`, `export` and `advise` as they are typed, on measurements in files. What is measured
//! and kept on real servers is tested in `testbed/tests/bench.rs`.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const RUN: &str = include_str!("../../../report/testdata/bench-run.json");
const LOAD: &str = include_str!("../../../report/testdata/bench-load.json");

/// In a directory with the measurements `run.json`, `load.json`, and whatever a test adds; nothing is kept for this user.
fn bench(directory: &Path, words: &[&str]) -> Output {
    std::fs::write(directory.join("run.json"), RUN).unwrap();
    std::fs::write(directory.join("load.json"), LOAD).unwrap();
    Command::new(env!("CARGO_BIN_EXE_sealion"))
        .arg("bench")
        .args(words)
        .current_dir(directory)
        .env_remove("SEALION_INVENTORY")
        .env("XDG_STATE_HOME", directory.join("state"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn what_cannot_be_named_compared_or_written_is_an_error_with_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("bad.json"), "{\"schema\": \"sealion/scan/1\"}").unwrap();
    for (words, word) in [
        (&["show", "nothing"][..], "sealion bench runs"),
        (&["show", "bad.json"], "sealion/scan/1"),
        (&["compare", "run.json", "load.json"], "cannot compare"),
        (&["export", "2026"], "no run is saved"),
        (&["show", "run.json", "--html", "no/such/place.html"], "cannot write"),
        (&["advise"], "no run to base advice on"),
        (&["advise", "run.json", "-h", "db1"], "both a run and a server"),
        (&["export", "run.json", "--format", "parquet", "--out", "no/such/place"], "cannot write"),
    ] {
        let said = bench(home.path(), words);
        assert_eq!((said.status.code(), said.stdout.len()), (Some(2), 0), "{words:?} {said:?}");
        let said = text(&said.stderr);
        assert!(said.contains(word) && said.contains("next: "), "{words:?} {said}");
    }
    let said = bench(home.path(), &["runs", "--format", "csv"]);
    assert_eq!((said.status.code(), said.stdout.len()), (Some(2), 0), "{said:?}");
    assert!(text(&said.stderr).contains("possible values: table, json"), "{said:?}");
    // Looking makes nothing.
    assert!(!home.path().join("state").exists());
    let said = bench(home.path(), &["runs"]);
    assert_eq!((said.status.code(), text(&said.stderr).as_str()), (Some(0), ""), "{said:?}");
}

#[test]
fn a_measurement_in_a_file_is_shown_drawn_and_exported() {
    let home = tempfile::tempdir().unwrap();
    let said = bench(home.path(), &["show", "run.json", "--html", "page.html"]);
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    let shown = text(&said.stdout);
    for word in ["What does TLS cost a client that connects", "NOT USABLE: ", "not checked: "] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let page = std::fs::read_to_string(home.path().join("page.html")).unwrap();
    assert!(page.contains("<svg") && page.trim_end().ends_with("</html>"));
    let same: Value =
        serde_json::from_slice(&bench(home.path(), &["export", "run.json", "--format", "json"]).stdout)
            .unwrap();
    assert_eq!(same, serde_json::from_str::<Value>(RUN).unwrap());
    let csv = text(&bench(home.path(), &["export", "run.json", "--format", "csv"]).stdout);
    assert_eq!(csv, text(&bench(home.path(), &["export", "run.json"]).stdout));
    assert_eq!(csv.matches("\r\n").count(), 11, "{csv}");
    // One measurement is one line, and says what its second latency is of.
    let csv = text(&bench(home.path(), &["export", "load.json"]).stdout);
    assert_eq!((csv.matches("\r\n").count(), csv.contains("load oltp_read_write")), (2, true), "{csv}");
    assert!(text(&bench(home.path(), &["show", "load.json"]).stdout).contains("  per query"));
    let connect = LOAD.replace("\"oltp_read_write\"", "\"connect\"");
    std::fs::write(home.path().join("connect.json"), connect).unwrap();
    let shown = text(&bench(home.path(), &["show", "connect.json"]).stdout);
    assert!(shown.contains("  greeting and TLS") && !shown.contains("\n  per query"), "{shown}");
}

#[test]
fn two_files_are_compared_and_one_gives_advice() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("other.json"), RUN.replace("10.11.19-MariaDB", "11.8.2-MariaDB"))
        .unwrap();
    let said = bench(home.path(), &["compare", "run.json", "other.json"]);
    // The sample was measured on a busy machine, and is not usable.
    assert_eq!(said.status.code(), Some(7), "{said:?}");
    let shown = text(&said.stdout);
    for word in ["server version", "11.8.2-MariaDB", "the two runs differ", "the first is not usable"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let said = bench(home.path(), &["compare", "run.json", "run.json", "--format", "json"]);
    let report: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(report["rows"][0]["ratio"], 1.0, "{report:#}");
    let said = bench(home.path(), &["advise", "run.json"]);
    let shown = text(&said.stdout);
    assert_eq!(said.status.code(), Some(7), "{said:?}");
    for word in [
        "connect (NOT USABLE): connections on 2 processors",
        "pooling     unknown: ",
        "sealion bench run tls",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let said = std::process::Command::new(env!("CARGO_BIN_EXE_sealion"))
        .args(["bench", "list"])
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(2), "{said:?}");
    assert!(String::from_utf8_lossy(&said.stderr).contains("cannot write"), "{said:?}");
}
