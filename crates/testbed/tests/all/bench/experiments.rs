//! Experiments: arms, blocks, intervals.

use super::{Real, TABLES, list, number};
use serde_json::Value;
use std::process::Command;
use std::process::Stdio;
use testbed::real::sealion;

#[test]
fn an_experiment_runs_in_blocks_and_few_of_them_have_no_interval() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let run = |words: &[&str]| {
        let said = server.bench(&[&["run"], words, &TABLES[..]].concat());
        let report: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
        // On a busy machine it is not usable, and says so: both are right.
        let code = if report["is_usable"] == true { 0 } else { 7 };
        assert_eq!(said.status.code(), Some(code), "{report:#}");
        assert_eq!(report["why_not"].as_array().unwrap().is_empty(), code == 0, "{report:#}");
        report
    };
    let short = ["--trial-time", "0.2", "--warm-up", "0.1"];
    let report = run(&[&["tls", "--blocks", "5", "-c", "2"], &short[..]].concat());
    let level = &report["levels"][0];
    assert_eq!((number(level, "blocks"), number(level, "connections")), (5, 2), "{report:#}");
    let [clear, tls] = [&level["arms"][0], &level["arms"][1]];
    assert!(clear["tls"].is_null() && tls["tls"]["version"] == "TLSv1.3", "{report:#}");
    assert!(clear["trials"].as_array().unwrap().len() == 5 && tls["mean"].as_f64().unwrap() > 0.0);
    let comparison = &level["comparisons"][0];
    let at = |name: &str| comparison[name].as_f64().unwrap();
    assert!(at("low") <= at("ratio") && at("ratio") <= at("high"), "{report:#}");
    let report = run(&[&["connect", "--blocks", "2"], &short[..]].concat());
    let comparison = &report["levels"][0]["comparisons"][0];
    assert!(comparison["low"].is_null() && comparison["differs"].is_null(), "{report:#}");
    assert_eq!(report["published"]["rows"].as_array().unwrap().len(), 4);
    // Servers with other keys are not this one.
    assert_eq!(report["levels"][0]["arms"].as_array().unwrap().len(), 2);
    assert_eq!(report["left_out"].as_array().unwrap().len(), 5, "{report:#}");
    // One suite each, and they are what was asked for.
    let report = run(&[&["bulk", "--blocks", "1"], &short[..]].concat());
    let ciphers: Vec<&str> = report["levels"][0]["arms"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|arm| arm["tls"]["cipher"].as_str())
        .collect();
    let expected = [
        "TLS_AES_128_GCM_SHA256",
        "TLS_AES_256_GCM_SHA384",
        "TLS_CHACHA20_POLY1305_SHA256",
        "ECDHE-RSA-AES256-SHA384",
    ];
    assert_eq!(ciphers, expected, "{report:#}");
    for (name, why) in [("nothing", "unknown experiment"), ("galera-write", "--lab")] {
        let said = server.bench(&["run", name]);
        assert_eq!(said.status.code(), Some(2), "{said:?}");
        assert!(String::from_utf8_lossy(&said.stderr).contains(why), "{said:?}");
    }
}

#[test]
fn an_arm_whose_tls_the_server_refuses_is_left_out_and_the_rest_is_measured() {
    let server = Real::start("mysql-9.7", &[]);
    server.prepare();
    let mut command = Command::new(sealion());
    command.args(["--format", "json", "bench", "run", "bulk", "--quick", "--no-store", "-h", "127.0.0.1"]);
    command.args(["-P", &server.port.to_string(), "-u", "root", "--ssl-mode", "REQUIRED", "--tables", "1"]);
    let said = command.stdin(Stdio::null()).output().unwrap();
    let seen: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    let arms = list(&seen["levels"][0]["arms"]);
    assert_eq!(arms.len(), 4, "{seen:#}");
    assert!(arms.iter().all(|arm| list(&arm["samples"]).len() == 3), "{seen:#}");
    let left_out = list(&seen["left_out"]);
    assert!(left_out.len() == 1 && left_out[0].as_str().unwrap().contains("AES-256-CBC"), "{seen:#}");
}

/// A table that is smaller than the ids that are drawn; an option of TLS for cleartext.
#[test]
fn what_would_measure_something_else_is_refused() {
    let server = Real::start("galera-10.11", &[]);
    server.prepare();
    let refused = |words: &[&str], what: &str, code: i32| {
        let said = server.bench(&[&["load", "oltp_point_select"], words].concat());
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.status.code() == Some(code) && text.contains(what), "{said:?}");
    };
    refused(&["--table-size", "10000"], "the ids of sbtest1 end at 1000", 3);
    server.client().execute("DELETE FROM sealion_bench.sbtest2 WHERE id > 500").unwrap();
    refused(&["--table-size", "1000", "--tables", "2"], "the ids of sbtest2 end at 500", 3);
    refused(&["--table-size", "1000", "--ssl-mode", "DISABLED", "--tls-groups", "X25519"], "no effect", 2);
    refused(&["--table-size", "1000", "--ssl-mode", "DISABLED", "--tls-record-bytes", "64"], "no effect", 2);
    refused(&["--table-size", "1000", "--tls-library", "rustls", "--resume=session-id"], "no effect", 2);
    refused(
        &["--table-size", "1000", "--ssl-mode", "REQUIRED", "--tls-sigalgs", "nonsense"],
        "ECDSA+SHA256",
        2,
    );
    refused(
        &["--table-size", "1000", "--ssl-mode", "REQUIRED", "--tls-groups", "NOSUCH"],
        "as OpenSSL spells them",
        2,
    );
    refused(&["--table-size", "1000", "--time", "0"], "must be longer than 0", 2);
}
