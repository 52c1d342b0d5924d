//! What sealion says itself while it captures is no evidence of how clients are connected.
#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use testbed::real::bundled::Bundled;
use testbed::real::{LabSpec, RealLab, lab_slot};

const PORT: u16 = 14_936;

fn login(lab: &RealLab, port: u16) -> PathBuf {
    let path = lab.home().join(format!("dba{port}.cnf"));
    let text =
        format!("[client]\nuser=dba\npassword=of the dba\nhost=127.0.0.1\nport={port}\nprotocol=tcp\n");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn words(login: &Path, look_ms: &'static str) -> Vec<String> {
    let login = login.display().to_string();
    let words =
        ["status", "-h", "127.0.0.1", "--defaults-file", &login, "--look-ms", look_ms, "--format", "json"];
    words.map(str::to_owned).to_vec()
}

fn check(lab: &RealLab, login: &Path) -> Value {
    let words = words(login, "1500");
    lab.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).json()
}

fn client_link(check: &Value) -> &Value {
    let links = check["links"].as_array().expect("links");
    links.iter().find(|one| one["link"]["kind"] == "client").expect("a server has a link of clients")
}

fn verdict<'c>(check: &'c Value, rule: &str) -> &'c Value {
    let findings = check["findings"].as_array().expect("findings");
    &findings.iter().find(|one| one["rule"] == rule).unwrap_or_else(|| panic!("{rule} was not judged"))["verdict"]
}

#[test]
fn own_sessions_over_tcp_prove_nothing_of_clients() {
    let _slot = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    let app = std::fs::read_to_string(lab.dir.join("app.cnf")).unwrap();
    let of_app = |key: &str| app.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap();
    // Both offer TLS without being told to.
    for (name, port, options) in [
        ("mysql-9.7", PORT, &["--mysqlx=OFF"][..]),
        ("mariadb-11.8", PORT + 1, &["--performance-schema=OFF"]),
    ] {
        let server = Bundled::start(&lab, name, port, options);
        server.run(&[
            "CREATE USER dba@'%' IDENTIFIED BY 'of the dba'",
            "GRANT ALL ON *.* TO dba@'%'",
            &format!("CREATE USER {}@'%' IDENTIFIED BY '{}'", of_app("user"), of_app("password")),
        ]);
        let login = login(&lab, port);

        lab.now(format!("{name}: nobody but sealion is connected"));
        let alone = check(&lab, &login);
        let link = client_link(&alone);
        assert_eq!((&link["seen"], &link["tcp_sessions"]), (&"unknown".into(), &0.into()), "{link:#}");
        assert_eq!(verdict(&alone, "SL1004"), "unknown", "{alone:#}");

        if name == "mysql-9.7" {
            lab.now("a colleague's sealion is no client either");
            let words = words(&login, "8000");
            let colleague = lab.start(&words.iter().map(String::as_str).collect::<Vec<_>>(), None);
            let both = check(&lab, &login);
            let link = client_link(&both);
            assert_eq!(link["seen"], "unknown", "{link:#}");
            colleague.finish(Duration::from_secs(60)).json();
        }

        lab.now(format!("{name}: an application over TLS is one"));
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let talkers = lab.talk_to(address, Duration::from_millis(100), true);
        let with_one = check(&lab, &login);
        let link = client_link(&with_one);
        assert_eq!((&link["seen"], &link["tcp_sessions"]), (&"sealed".into(), &1.into()), "{link:#}");
        talkers.stop();
    }
}
