//! Servers whose clients verify them by a CA of somebody else's, or show certificates of it: none is replaced in silence.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use net::ExposeSecret;
use testbed::real::{LabSpec, ProgramOutput, RealLab, lab_slot, wait_for};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

const CLIENTS: [&str; 2] = ["enable", "clients"];
const CONSENT: &str = "--accept-shut-out";
const SETTLED: Duration = Duration::from_secs(60);

/// It serves a certificate of the company's CA, as somebody has started it; its option file does not say so any more.
fn serves_company(lab: &RealLab) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    let now = i64::try_from(since.as_secs()).expect("before the year 292 billion");
    let spec = CaSpec { common_name: "Shop DB CA".into(), valid_days: 30, key: KeyKind::EcP256 };
    let ca = Ca::create(&spec, now).expect("made");
    let leaf = LeafSpec {
        common_name: "db1".into(),
        dns: vec!["db1".into(), "localhost".into()],
        ips: vec![],
        valid_days: 9,
        key: KeyKind::EcP256,
        not_before_unix: None,
        not_after_unix: None,
    };
    let leaf = ca.issue(&leaf, now).expect("issued");
    let dir = lab.node_dir("n1").join("etc/company");
    std::fs::create_dir_all(&dir).expect("ours");
    let files = [
        ("ca.pem", ca.cert_pem()),
        ("cert.pem", leaf.cert_pem.clone()),
        ("key.pem", leaf.key_pem.expose_secret().to_owned()),
    ];
    for (name, text) in files {
        std::fs::write(dir.join(name), text).expect("writable");
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o600)).expect("ours");
    }
    let file = lab.node_dir("n1").join("etc/conf.d/40-tls.cnf");
    let path = |name: &str| dir.join(name).display().to_string();
    let text = format!(
        "[mysqld]\nssl_ca={}\nssl_cert={}\nssl_key={}\n",
        path("ca.pem"),
        path("cert.pem"),
        path("key.pem")
    );
    std::fs::write(&file, text).expect("writable");
    lab.lab(&["stop", "n1"]).exits(0);
    lab.lab(&["start", "n1"]).exits(0);
    assert!(wait_for(SETTLED, || lab.sql("n1").ok()).is_some(), "it does not answer");
    std::fs::remove_file(&file).expect("ours");
}

fn plan(lab: &RealLab, words: &[&str]) -> ProgramOutput {
    lab.run(&[&["plan"], words, &["--format", "json"]].concat())
}

fn impact(said: &ProgramOutput) -> String {
    let plan = said.json();
    let lines = plan["impact"].as_array().expect("lines").iter();
    lines.map(|line| line.as_str().expect("text")).collect::<Vec<_>>().join("\n")
}

fn demanding(lab: &RealLab) {
    for sql in [
        "CREATE USER cdc@'%' IDENTIFIED BY 'a Long 1 password!' REQUIRE X509",
        "CREATE USER web@'10.%' IDENTIFIED BY 'a Long 1 password!' REQUIRE ISSUER '/CN=Shop DB CA'",
    ] {
        lab.root("n1").execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

const NAMED: [&str; 2] = ["'cdc'@'%' REQUIRE X509", "'web'@'10.%' REQUIRE ISSUER '/CN=Shop DB CA'"];

#[test]
fn a_certificate_that_clients_verify_is_replaced_by_consent() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec { words: &["replicas", "--nodes", "1"], nodes: 1 });
    lab.now("the control: without a certificate nobody can verify one");
    assert!(!impact(&plan(&lab, &CLIENTS).exits(0)).contains("another CA"));
    demanding(&lab);
    plan(&lab, &CLIENTS).exits(0);

    lab.now("of a company's CA");
    serves_company(&lab);
    let before = (lab.files(), lab.live());
    let refused = lab.run(&["enable", "clients", "--yes", "00000000"]).exits(6);
    for word in [NAMED[0], NAMED[1], CONSENT, "CN=Shop DB CA", "error 2026"] {
        assert!(refused.stderr.contains(word), "{word}: {refused}");
    }
    assert!((lab.files(), lab.live()) == before, "something was changed");
    let agreed = plan(&lab, &[&CLIENTS[..], &[CONSENT]].concat()).exits(0);
    let told = impact(&agreed);
    for word in [NAMED[0], NAMED[1], "CN=Shop DB CA"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    let hash = agreed.json()["state_hash"].as_str().expect("text")[..12].to_owned();
    lab.run(&["enable", "clients", CONSENT, "--accept-unproven", "--yes", &hash]).exits(0);

    lab.now("of sealion's own CA: the next certificate is nothing to confirm, the next CA is");
    let next = plan(&lab, &["rotate"]).exits(0);
    assert!(!impact(&next).contains("another CA"), "{next}");
    let refused = plan(&lab, &["rotate", "ca"]).exits(6);
    assert!(refused.stderr.contains(NAMED[0]) && refused.stderr.contains(CONSENT), "{refused}");
    let told = impact(&plan(&lab, &["rotate", "ca", CONSENT]).exits(0));
    assert!(told.contains(NAMED[0]) && told.contains(NAMED[1]), "{told}");
    for user in ["cdc@'%'", "web@'10.%'"] {
        lab.root("n1").execute(&format!("DROP USER {user}")).expect("it goes");
    }
    plan(&lab, &["rotate", "ca"]).exits(0);
}

#[test]
fn what_mysql_made_itself_is_told_and_confirmed_where_shown() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MYSQL);
    let told = impact(&plan(&lab, &CLIENTS).exits(0));
    assert!(told.contains("_Auto_Generated_CA_Certificate") && told.contains("error 2026"), "{told}");
    demanding(&lab);
    let refused = plan(&lab, &CLIENTS).exits(6);
    assert!(refused.stderr.contains(NAMED[0]) && refused.stderr.contains(CONSENT), "{refused}");
    plan(&lab, &[&CLIENTS[..], &[CONSENT]].concat()).exits(0);
}
