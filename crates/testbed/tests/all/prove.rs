//! `sealion prove` with real clients: what the command line clients of both families do when they are attacked, as it was seen
//! with other means before (docs/src/reference/clients.md is made by the same command).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testbed::real::{Program, ProgramOutput, lab_slot, sealion, short_dir};

const WHOLE_S_MAX: u64 = 180;

fn prove(words: &[&str]) -> ProgramOutput {
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
    let _alone = lab_slot();
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
    let _alone = lab_slot();
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
    let _alone = lab_slot();
    let script = "exec 3<>/dev/tcp/$SEALION_HOST/$SEALION_PORT; echo a database >&3";
    let said =
        prove(&["client", "--stream", "--format=json", "--case=strip,expired", "--", "bash", "-c", script])
            .exits(1);
    let report: Value = serde_json::from_str(&said.stdout).expect("json");
    let cases = report["cases"].as_array().expect("cases");
    let letters: Vec<&str> = cases.iter().filter_map(|case| case["verdict"].as_str()).collect();
    assert_eq!(letters, ["AP", "AP", "AP"], "{report:#}");
    assert!(!said.stdout.contains("a database"), "{said}");
    // It connects to the honest server and sends nothing: every attack is then tried all the same.
    let mute = "exec 3<>/dev/tcp/$SEALION_HOST/$SEALION_PORT";
    let all = prove(&["client", "--stream", "--format=json", "--", "bash", "-c", mute]).exits(3);
    assert!(!all.stdout.contains("local-infile") && all.stdout.contains("wildcard"), "{all}");
    let said = prove(&["client", "--stream", "--case=dialog", "--", "true"]).exits(2);
    assert!(said.stderr.contains("dialog is not available with --stream"), "{said}");
}

#[test]
fn what_a_client_leaves_behind_ends_with_it_and_no_case_answers_for_another() {
    let _alone = lab_slot();
    let home = short_dir();
    let place = home.path().display();
    let script = format!("sleep 600 & echo $! >>{place}/left; exit 0");
    let _ = prove(&["client", "--case=strip", "--", "bash", "-c", &script]).exits(3);
    let left = std::fs::read_to_string(home.path().join("left")).expect("each run has written its own");
    assert_eq!(left.lines().count(), 1, "it did not connect to the honest server: there is no other run");
    for pid in left.lines() {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "{state}");
    }
    // A process that has left the group dials the honest server when another case has its turn. The script ends only when it
    // has left: until then it would be ended with the group.
    let script = format!(
        "[ -e {place}/mark ] && exec sleep 2; touch {place}/mark; \
         exec 3<>/dev/tcp/$SEALION_HOST/$SEALION_PORT; \
         setsid bash -c 'touch {place}/left-group; sleep 1; \
             exec 3<>/dev/tcp/$SEALION_HOST/$SEALION_PORT; echo late >&3' </dev/null >/dev/null 2>&1 & \
         until [ -e {place}/left-group ]; do sleep .02; done"
    );
    let said =
        prove(&["client", "--stream", "--format=json", "--case=strip", "--", "bash", "-c", &script]).exits(3);
    let report: Value = serde_json::from_str(&said.stdout).expect("json");
    let of = |index: usize| (&report["cases"][index]["case"], &report["cases"][index]["verdict"]);
    assert_eq!(of(0), (&"honest".into(), &"AP".into()), "{report:#}");
    assert_eq!(of(1), (&"strip".into(), &"-".into()), "{report:#}");
}

#[test]
fn a_program_learns_where_the_attacks_listen_and_what_came() {
    let _alone = lab_slot();
    let mut child = Command::new(sealion())
        .args(["prove", "serve", "--format=json", "--case=strip"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let first: Value = serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("json");
    assert_eq!(first["schema"], "sealion/prove-serve/1");
    let strip = first["ports"].as_array().expect("ports").iter().find(|one| one["case"] == "strip");
    let port = strip.and_then(|one| one["port"].as_u64()).and_then(|port| u16::try_from(port).ok());
    drop(std::net::TcpStream::connect(("127.0.0.1", port.expect("a port"))).expect("it listens"));
    let visit: Value = serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("json");
    assert_eq!((&visit["case"], &visit["verdict"]), (&"strip".into(), &"G".into()));
    child.kill().expect("it is ended");
    child.wait().expect("it has ended");
    let said = prove(&["serve", "--port=65530"]).exits(3);
    assert!(said.stderr.contains("not enough ports"), "{said}");
    for words in [["clients", "--page=/nonexistent/p.md"], ["tour", "--html=/nonexistent/p.html"]] {
        assert!(prove(&words).exits(2).stderr.contains("cannot write"));
    }
}

/// A capture of one segment from port 3306, of whose connection nothing else was seen.
fn capture(payload: &[u8]) -> Vec<u8> {
    let mut tcp = [3306_u16.to_be_bytes(), 40_000_u16.to_be_bytes()].concat();
    tcp.extend([0, 0, 0, 9, 0, 0, 0, 9, 5 << 4, 0x10, 255, 255, 0, 0, 0, 0]);
    tcp.extend(payload);
    let length = u16::try_from(20 + tcp.len()).expect("short");
    let mut ip = vec![0x45, 0];
    ip.extend(length.to_be_bytes());
    ip.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    ip.extend(tcp);
    let bytes = u32::try_from(ip.len()).expect("short").to_le_bytes();
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
    // Packets begin with IP itself.
    file.extend(101_u32.to_le_bytes());
    file.extend([0; 8]);
    file.extend(bytes);
    file.extend(bytes);
    file.extend(ip);
    file
}

#[test]
fn what_the_sniffer_cannot_tell_is_neither_clear_nor_tls() {
    let home = short_dir();
    let file = home.path().join("db.pcap");
    let file = file.to_str().expect("a plain path");
    let check = |payload: &[u8], exit: i32, headline: &str| {
        std::fs::write(file, capture(payload)).expect("written");
        let said = prove(&["sniff", "--fail-on-clear", file]).exits(exit);
        assert!(said.stdout.contains(headline), "{said}");
        let said = prove(&["sniff", "--fail-on-clear", "--format=json", file]).exits(exit);
        let report: Value = serde_json::from_str(&said.stdout).expect("json");
        assert_eq!(report["connections"][0]["is_undecided"], Value::from(exit == 3), "{report:#}");
    };
    check(b"\x9b\xf0\x83\x91\xa6\xc4\xe5\xd2\x88\xfe\xb1\x97", 3, "NOT KNOWN");
    // A packet of MySQL to the last byte: a row.
    check(b"\x06\0\0\x03\x05alpha", 1, "READABLE");
}

#[test]
fn a_case_in_which_the_client_does_not_dial_is_not_passed() {
    let _alone = lab_slot();
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
