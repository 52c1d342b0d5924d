//! `sealion prove` with real clients: what the command line clients of both families do when they are attacked, as it was seen
//! with other means before (docs/src/reference/clients.md is made by the same command).

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testbed::real::{Program, Said, one_at_a_time, sealion, short_dir};

const WHOLE_S_MAX: u64 = 180;

fn prove(words: &[&str]) -> Said {
    let mut command = Command::new(sealion());
    command.arg("prove").args(words);
    Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX))
}

/// Letters of `honest strip self-signed unknown-ca expired wrong-name`, by mode.
fn matrix(report: &Value, client: &str) -> BTreeMap<String, String> {
    let clients = report["clients"].as_array().expect("clients");
    let one = clients.iter().find(|one| one["client"] == client).expect("it was asked for");
    let modes = one["modes"].as_array().unwrap_or_else(|| panic!("{client}: {one:#}"));
    modes
        .iter()
        .map(|mode| {
            let cases = mode["cases"].as_array().expect("cases").iter();
            let letters: Vec<&str> = cases.map(|case| case["verdict"].as_str().expect("letters")).collect();
            (mode["mode"].as_str().expect("a mode").to_owned(), letters.join(" "))
        })
        .collect()
}

#[test]
fn the_command_line_clients_do_what_they_are_known_to_do() {
    let _alone = one_at_a_time();
    let home = short_dir();
    let dir = home.path().join("clients");
    let only = [
        "--only",
        "mysql-9.7",
        "--only",
        "mariadb-10.11",
        "--only",
        "mariadb-11.8",
        "--only",
        "sst-mariabackup,sst-rsync",
    ];
    let place = format!("--dir={}", dir.display());
    let said =
        prove(&[&["clients", "--format=json", "--install", place.as_str()][..], &only].concat()).exits(0);
    let report: Value = serde_json::from_str(&said.stdout).expect("json");
    let check = |client: &str, mode: &str, letters: &str| {
        let all = matrix(&report, client);
        assert_eq!(all.get(mode).map(String::as_str), Some(letters), "{client} {mode}: {all:#?}");
    };
    check("mysql-9.7", "default", "AT AP AT AT AT AT");
    check("mysql-9.7", "disabled", "AP AP AP AP AP AP");
    check("mysql-9.7", "required", "AT G AT AT AT AT");
    check("mysql-9.7", "ca", "AT G T T T AT");
    check("mysql-9.7", "verify-ca", "AT G T T T AT");
    check("mysql-9.7", "verify-identity", "AT G T T T T");
    check("mariadb-10.11", "default", "AT AP AT AT AT AT");
    check("mariadb-10.11", "ca", "AT AP T T T AT");
    check("mariadb-10.11", "verify", "AT G T T T T");
    check("mariadb-10.11", "skip-ssl", "AP AP AP AP AP AP");
    // Without a CA it wants to see that the server knows the password, and gives the answer to the nonce first.
    check("mariadb-11.8", "default", "cT G cT cT T cT");
    check("mariadb-11.8", "env-password", "AT AP AT AT AT AT");
    check("mariadb-11.8", "ca", "AT G T T T T");
    check("mariadb-11.8", "skip-verify", "AT AP AT AT AT AT");
    // Donors. The server's own certificate and CA are enough for rsync, and mean nothing to mariabackup.
    check("sst-mariabackup", "default", "AP AP AP AP AP AP");
    check("sst-mariabackup", "server", "AP AP AP AP AP AP");
    check("sst-mariabackup", "required", "AT G AT AT AT AT");
    check("sst-mariabackup", "verify-ca", "AT G T T T AT");
    check("sst-mariabackup", "verify-identity", "AT G T T T T");
    check("sst-mariabackup", "encrypt-2", "AT G T T T AT");
    check("sst-mariabackup", "encrypt-3", "AT G AT AT AT AT");
    check("sst-mariabackup", "encrypt-3-ca", "AT G T T T T");
    check("sst-mariabackup", "encrypt-4", "AT G T T T T");
    check("sst-rsync", "default", "AP AP AP AP AP AP");
    check("sst-rsync", "server", "AT G T T T AT");
    check("sst-rsync", "required", "AT G AT AT AT AT");
    // It wants the joiner's own certificate among those that it trusts.
    check("sst-rsync", "verify-identity", "T G T T T T");
    // An option that promises and does not keep is told.
    let broken = report["clients"].to_string();
    assert!(broken.contains(r#""broken_by":"strip""#), "{broken}");
    assert_eq!(said.stderr.matches("note:").count(), 0, "no namespace: {}", said.stderr);
}

#[test]
fn nothing_of_what_a_client_gave_away_is_in_any_output() {
    let _alone = one_at_a_time();
    // The client writes its password where the test reads it: nothing else may show it.
    let home = short_dir();
    let place = home.path().join("password");
    let script = format!(
        "printf %s \"$SEALION_PASSWORD\" | tee {} ; echo \"$MYSQL_PWD\" >&2; exit 3",
        place.display()
    );
    for format in ["json", "table"] {
        let format = format!("--format={format}");
        let said =
            prove(&["client", "-vv", &format, "--case", "strip", "--", "bash", "-c", &script]).exits(3);
        let password = std::fs::read_to_string(&place).expect("the client wrote it");
        assert!(password.len() > 8);
        assert!(!said.stdout.contains(&password) && !said.stderr.contains(&password), "{said}");
        if format.ends_with("json") {
            let report: Value = serde_json::from_str(&said.stdout).expect("json");
            // It dialled nobody: that is no verdict about any attack.
            assert_eq!(
                (&report["is_controlled"], &report["fallen"]),
                (&false.into(), &0.into()),
                "{report:#}"
            );
        } else {
            assert!(said.stdout.contains("(the password)"), "{said}");
        }
    }
}

#[test]
fn a_client_that_speaks_first_is_heard_and_asked_nothing_of_mysql() {
    let _alone = one_at_a_time();
    let script = "exec 3<>/dev/tcp/$SEALION_HOST/$SEALION_PORT; echo a database >&3";
    let said =
        prove(&["client", "--stream", "--format=json", "--case=strip,expired", "--", "bash", "-c", script])
            .exits(1);
    let report: Value = serde_json::from_str(&said.stdout).expect("json");
    let cases = report["cases"].as_array().expect("cases");
    let letters: Vec<&str> = cases.iter().filter_map(|case| case["verdict"].as_str()).collect();
    assert_eq!(letters, ["AP", "AP", "AP"], "{report:#}");
    assert!(!said.stdout.contains("a database"), "{said}");
    let all = prove(&["client", "--stream", "--format=json", "--", "true"]).exits(3);
    assert!(!all.stdout.contains("local-infile") && all.stdout.contains("wildcard"), "{all}");
    let said = prove(&["client", "--stream", "--case=dialog", "--", "true"]).exits(2);
    assert!(said.stderr.contains("dialog is not tried on a stream"), "{said}");
}

#[test]
fn a_case_in_which_the_client_does_not_dial_is_not_passed() {
    let _alone = one_at_a_time();
    let home = short_dir();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../prove/clients/cli/client.sh");
    let dir = home.path().display();
    let words = format!(
        "cd {dir}; [ ! -e dialled ] || exit 0; touch dialled; exec bash {script} galera-10.11 mariadb default"
    );
    let said = prove(&["client", "--format=json", "--case", "strip", "--", "bash", "-c", &words]).exits(3);
    let report: Value = serde_json::from_str(&said.stdout).expect("json");
    assert_eq!((&report["is_controlled"], &report["fallen"]), (&true.into(), &0.into()), "{report:#}");
    assert_eq!(report["cases"][1]["verdict"], "-", "{report:#}");
}
