//! A login that was typed beside an inventory.
#![allow(clippy::unwrap_used)]

use std::process::Command;

/// It would be passed over: another account would answer than the operator believes.
#[test]
fn a_login_is_refused_where_an_inventory_says_how_to_log_in() {
    let directory = tempfile::tempdir().unwrap();
    let inventory = "[cluster]\nname='c'\nca_dir='ca'\nstate_dir='s'\n[login]\ndefaults_file='c.cnf'\n";
    std::fs::write(directory.path().join("sealion.toml"), inventory).unwrap();
    for verb in [&["audit"][..], &["status"], &["watch", "--once"], &["bench", "run", "tls"]] {
        for login in
            [&["-u", "nobody"][..], &["-P", "1"], &["--ssl-ca", "ca.pem"], &["--ssl-mode", "REQUIRED"]]
        {
            let output = Command::new(env!("CARGO_BIN_EXE_sealion"))
                .args(verb)
                .args(login)
                .current_dir(directory.path())
                .env_remove("SEALION_INVENTORY")
                .env("XDG_STATE_HOME", directory.path())
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{verb:?} {login:?}: {said}");
            assert!(said.contains("has no effect beside an inventory"), "{verb:?} {login:?}: {said}");
        }
    }
}

/// What is not known is said once, and no number stands for it.
#[test]
fn status_of_hosts_that_ssh_does_not_reach_says_so_once() {
    let directory = tempfile::tempdir().unwrap();
    let head = "[cluster]\nname='c'\nca_dir='ca'\nstate_dir='s'\n[login]\ndefaults_file='c.cnf'\n[ssh]\ncommand=['false']\n";
    let node = |name: &str| format!("[[node]]\nname='{name}'\naddress='192.0.2.1'\nssh='{name}.invalid'\n");
    let inventory = format!("{head}{}", node("n1"));
    std::fs::write(directory.path().join("sealion.toml"), inventory).unwrap();
    std::fs::write(directory.path().join("c.cnf"), "[client]\nuser=x\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sealion"))
        .args(["status", "--look-ms", "0"])
        .current_dir(directory.path())
        .env_remove("SEALION_INVENTORY")
        .env("XDG_STATE_HOME", directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no server answered") && !said.contains("Galera port"), "{said}");
    // The text may be wrapped.
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.matches("nothing could be asked of n1.invalid").count(), 1, "{words}");
}
