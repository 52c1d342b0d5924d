//! A source and its replica, of both flavours: sealed under load, and taken back.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{Clock, SystemClock};
use net::{Client, ConnectOptions, Endpoint, SslMode, TlsOptions};
use serde_json::Value;
use testbed::real::foreign_tls::Port;
use testbed::real::inside::Talkers;
use testbed::real::{LabSpec, Program, RealLab, RealWriters, lab_slot, wait_for};

/// For somebody who speaks often.
const SPEAKS_MAX: Duration = Duration::from_secs(20);

/// What a look said of the channel, with its evidence.
fn replication(look: &Value) -> &Value {
    let links = look["links"].as_array().expect("links");
    let mut of_kind = links.iter().filter(|link| link["link"]["kind"] == "replication");
    let link = of_kind.next().unwrap_or_else(|| panic!("no link of replication: {links:#?}"));
    assert!(of_kind.next().is_none(), "one channel is one link: {links:#?}");
    assert_eq!((&link["control_seen"], &link["kernel_drops"]), (&true.into(), &0.into()), "{link:#}");
    link
}

/// As the replica tells it.
fn channel_word(look: &Value) -> &str {
    let rows = look["nodes"][1]["rows"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["what"] == "replication").expect("n2 is a replica");
    row["effective"].as_str().expect("a word")
}

fn pids(lab: &RealLab) -> Vec<Value> {
    let status = lab.lab(&["status", "--format", "json"]).exits(0).json();
    ["n1", "n2"].map(|node| status["nodes"][node].clone()).to_vec()
}

/// What the replica's applier has met.
fn applier_error(lab: &RealLab, statement: &str) -> String {
    let rows = lab.sql("n2").expect("n2 answers").query(statement).expect("it may be asked");
    rows.text(0, "Last_SQL_Error").expect("a column").into_owned()
}

/// `''`, ANY, X509 or SPECIFIED, as both servers tell it.
fn require_of(lab: &RealLab, user: &str) -> [String; 2] {
    ["n1", "n2"].map(|node| {
        let sql = format!("SELECT ssl_type FROM mysql.user WHERE User = '{user}' AND Host <> 'localhost'");
        let rows = lab.sql(node).expect("its socket takes logins").query(&sql).expect("readable");
        rows.scalar().unwrap_or_else(|| panic!("{node} has no account {user}")).into_owned()
    })
}

/// The servers offer TLS, and clients may use cleartext again: each account is made to use TLS, but for those that would be cut off.
fn accounts_one_by_one(lab: &RealLab, flavour: &str) {
    lab.also_allow("enable", flavour, "accounts");
    lab.now("an account that is used in cleartext is named, and nothing is changed");
    let both = |one: &str| [one.to_owned(), one.to_owned()];
    let source = SocketAddr::new(lab.file().nodes[0].address, ::lab::layout::SQL_PORT);
    for sql in [
        "CREATE USER report@'10.%' IDENTIFIED BY 'x'",
        "CREATE USER strict@'%' IDENTIFIED BY 'x' REQUIRE X509",
    ] {
        lab.sql("n1").expect("n1 answers").execute(sql).expect("it may");
    }
    let talkers = lab.talk_to(source, Duration::from_millis(200), false);
    lab.now("an account that is not the same on the replica refuses the plan");
    let on_n2 = |sql: &str| {
        let mut session = lab.root("n2");
        for sql in ["SET SESSION sql_log_bin = 0", sql] {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    };
    for (spoil, mend, word) in [
        (
            "DROP USER report@'10.%'",
            "CREATE USER report@'10.%' IDENTIFIED BY 'x'",
            "n2 has no account 'report'@'10.%'",
        ),
        (
            "ALTER USER report@'10.%' REQUIRE X509",
            "ALTER USER report@'10.%' REQUIRE NONE",
            "'report'@'10.%' has REQUIRE NONE on n1, and REQUIRE X509 or more on n2",
        ),
    ] {
        let sql = "SELECT ssl_type FROM mysql.user WHERE User = 'report'";
        let arrived = wait_for(SPEAKS_MAX, || lab.root("n2").query(sql).ok()?.scalar().map(drop));
        assert!(arrived.is_some(), "n2 has not got the account");
        on_n2(spoil);
        let refused = lab.run(&["plan", "enable", "accounts"]).exits(6);
        assert!(
            refused.stderr.contains(word) && refused.stderr.contains("--leave report@10.%"),
            "{word}: {refused}"
        );
        on_n2(mend);
    }
    let watch = ["watch-clients", "--for", "3s", "--fail-on-cleartext", "--format", "json"];
    let watched = lab.run(&watch).exits(1).json();
    let rows = watched["clients"].as_array().expect("clients");
    let of_app: Vec<&Value> = rows.iter().filter(|row| row["user"] == "app").collect();
    assert_eq!((of_app.len(), of_app[0]["host"].as_str()), (1, Some("127.0.0.1")), "{watched:#}");
    assert!(of_app[0]["cleartext"].as_u64() > Some(0) && of_app[0]["tls"] == 0, "{watched:#}");
    assert_eq!(rows[0]["user"], "app", "cleartext comes first: {watched:#}");
    let hash = lab.plan_hash_of(&["enable", "accounts"]);
    let enable = ["enable", "accounts", "--yes", &hash[..12]];
    let refused = lab.run(&enable).exits(6);
    for word in ["app@127.0.0.1:", "--leave", "nothing was changed"] {
        assert!(refused.stderr.contains(word), "{word}: {refused}");
    }
    assert_eq!([require_of(lab, "app"), require_of(lab, "report")], [both(""), both("")]);

    lab.now("nor is one that comes over the unix socket for a moment now and then");
    lab.root("n1").execute("CREATE USER sk@'%' IDENTIFIED BY 'a Long 1 password!'").expect("it may");
    let is_over = AtomicBool::new(false);
    let socket = lab.file().nodes[0].socket();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let login = ConnectOptions {
                tls: TlsOptions::with_mode(SslMode::Disabled),
                ..ConnectOptions::new(Endpoint::unix(&socket), "sk").password("a Long 1 password!")
            };
            while !is_over.load(Ordering::Relaxed) {
                let mut client = Client::connect(&login).expect("it gets in");
                // MariaDB tells only who is there at a moment, and the moments are further apart on a machine with other work.
                client.query("SELECT SLEEP(0.1)").expect("it answers");
                let _ = client.quit();
                std::thread::sleep(Duration::from_millis(150));
            }
        });
        let leave = ["--leave", "app@%", "--leave", "sealion@%"];
        let hash = lab.plan_hash_of(&[&["enable", "accounts"][..], &leave].concat());
        let refused = lab.run(&[&["enable", "accounts", "--yes", &hash[..12]][..], &leave].concat());
        is_over.store(true, Ordering::Relaxed);
        let names_it = refused.stderr.contains("unix socket") && refused.stderr.contains("sk on n1");
        assert!(refused.code == Some(6) && names_it, "{refused}");
    });

    lab.now("left as it is, it goes on in cleartext, and the others must use TLS");
    // The test's own account, which it uses over the socket now and then, where nobody sees it.
    let own = ["--leave", "sealion@%"];
    let leave = [&["--leave", "app@%"][..], &own].concat();
    let hash = lab.plan_hash_of(&[&["enable", "accounts"][..], &leave].concat());
    lab.run(&[&["enable", "accounts", "--yes", &hash[..12]][..], &leave].concat()).exits(0);
    assert_eq!([require_of(lab, "app"), require_of(lab, "report")], [both(""), both("ANY")]);
    assert_eq!(require_of(lab, "strict"), both("X509"));
    talkers.stop();

    lab.now("over TLS it is not cut off, and in cleartext nobody gets in with it any more");
    let talkers = lab.talk_to(source, Duration::from_millis(200), true);
    let hash = lab.plan_hash_of(&[&["enable", "accounts"][..], &own].concat());
    lab.run(&[&["enable", "accounts", "--yes", &hash[..12]][..], &own].concat()).exits(0);
    assert_eq!(require_of(lab, "app"), both("ANY"));
    let answered = |talkers: &Talkers| {
        let since = SystemClock.unix_ms();
        wait_for(SPEAKS_MAX, || (talkers.said_since(since) > 0).then_some(())).is_some()
    };
    assert!(answered(&talkers), "over TLS it is cut off");
    // What was found before is still told of.
    let watched = lab.run(&["watch-clients", "--for", "3s", "--format", "json"]).exits(0).json();
    let row =
        watched["clients"].as_array().expect("clients").iter().find(|row| row["user"] == "app").expect("app");
    assert!(row["cleartext"] == 0 && row["tls"].as_u64() > Some(0), "{watched:#}");
    let all = lab.run(&["watch-clients", "--for", "0s", "--since", "1h", "--fail-on-cleartext"]).exits(1);
    assert!(all.stdout.contains("cleartext") && all.stdout.contains("app"), "{all}");
    talkers.stop();
    let refused = lab.talk_to(source, Duration::from_millis(50), false);
    let since = SystemClock.unix_ms();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(refused.said_since(since), 0, "somebody got in in cleartext");

    lab.now("undo, one change after the other");
    lab.run(&["undo"]).exits(0);
    assert_eq!(require_of(lab, "app"), both(""));
    assert!(answered(&refused), "in cleartext nobody gets in, as it could before");
    refused.stop();
    lab.run(&["undo"]).exits(0);
    assert_eq!([require_of(lab, "app"), require_of(lab, "report")], [both(""), both("")]);
    assert_eq!(require_of(lab, "strict"), both("X509"), "what others demand stays");
}

/// The serial of the leaf that a server's clients are served.
fn serial(lab: &RealLab, node: &str) -> String {
    let cert = fs::read(lab.tls_dir(node).join("node-cert.pem")).expect("placed");
    trust::inspect(&cert).expect("a certificate").remove(0).serial_hex
}

/// New certificates, and a new CA, each taken back: nobody is restarted, and the replica goes on.
fn certificates_are_replaced(lab: &RealLab, status: &str) {
    lab.now("new certificates");
    let (before, running) = (lab.files(), pids(lab));
    let serials = || ["n1", "n2"].map(|node| serial(lab, node));
    let first = serials();
    let stolen = ["node-cert.pem", "node-key.pem"].map(|file| {
        let copy = lab.home().join(format!("stolen-{file}"));
        fs::copy(lab.tls_dir("n1").join(file), &copy).expect("ours");
        copy
    });
    let hash = lab.plan_hash("rotate");
    lab.run(&["rotate", "--yes", &hash[..12]]).exits(0);
    let second = serials();
    assert!(first[0] != second[0] && first[1] != second[1], "{first:?}, {second:?}");
    lab.run(&["undo"]).exits(0);
    assert_eq!(serials(), first);

    lab.now("a new CA");
    let [cert, key] = &stolen;
    let refused = |node: &str| lab.distrusts(node, Port::Client, cert, key);
    assert!(!refused("n1"), "a server refuses a certificate of its own CA");
    let hash = lab.plan_hash_of(&["rotate", "ca"]);
    let said = lab.run(&["rotate", "ca", "--yes", &hash[..12]]).exits(0);
    assert!(refused("n1") && refused("n2"), "a certificate of the old CA is taken: {said}");
    let look = lab.look(true);
    assert_eq!(
        (&replication(&look)["seen"], channel_word(&look)),
        (&"sealed".into(), "verified"),
        "{look:#}"
    );
    assert_eq!(applier_error(lab, status), "");

    lab.now("and the old one is put back");
    lab.run(&["undo"]).exits(0);
    assert!(!refused("n1"), "the old CA is not taken after undo");
    assert!(serials() == first && lab.files() == before, "a file is not as it was");
    assert_eq!(pids(lab), running);
    for file in &stolen {
        fs::remove_file(file).expect("ours");
    }
}

/// A line that a command has printed for somebody to run.
fn statement(said: &str, begin: &str) -> String {
    let line = said.lines().map(str::trim).find(|line| line.starts_with(begin));
    line.unwrap_or_else(|| panic!("no {begin}: {said}")).trim_end_matches(';').to_owned()
}

/// Applications with certificates of their own: each account lets in its own one, and none that was revoked.
fn clients_have_certificates(lab: &RealLab, flavour: &str) {
    lab.now("a certificate for an application, written once");
    let out = lab.home().join("app-tls");
    let pair = |dir: &Path, name: &str| ["cert", "key"].map(|what| dir.join(format!("{name}-{what}.pem")));
    let make =
        |name: &str, out: &Path| lab.run(&["trust", "client", name, "--out", out.to_str().expect("text")]);
    let made = make("capp", &out).exits(0);
    let other = ["trust", "client", "other", "--out", out.to_str().expect("text"), "--format", "json"];
    let other = lab.run(&other).exits(0).json();
    let statement_of = |report: &Value| report["statements"][0].as_str().unwrap_or_default().to_owned();
    assert!(
        statement_of(&other).starts_with("ALTER USER 'other'@'%' REQUIRE SUBJECT '/CN=other'"),
        "{other:#}"
    );
    let [_, key] = pair(&out, "capp");
    assert_eq!(fs::metadata(&key).expect("there").permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&key).expect("ours");
    let again = make("capp", &out).exits(2);
    assert!(
        again.stderr.contains("it is there already") && fs::read(&key).expect("ours") == bytes,
        "{again}"
    );
    assert!(!made.stdout.contains("PRIVATE KEY"), "{made}");
    let [cert, key] = pair(&out, "capp");
    assert!(lab.distrusts("n1", Port::Client, &cert, &key), "nobody trusts the CA of clients yet");

    lab.now("servers come to trust them");
    lab.also_allow("enable", flavour, "accounts");
    let (before, running) = (lab.files(), pids(lab));
    let hash = lab.plan_hash_of(&["enable", "clients"]);
    lab.run(&["enable", "clients", "--yes", &hash[..12]]).exits(0);
    assert_eq!(pids(lab) == running, flavour == "mysql", "MySQL is not restarted, MariaDB is");
    assert!(!lab.distrusts("n1", Port::Client, &cert, &key));

    lab.now("an account takes one certificate, and none of another application or of a server");
    let mut root = lab.root("n1");
    root.execute("CREATE USER capp@'%' IDENTIFIED BY 'a Long 1 password!'").expect("it may");
    root.execute(&statement(&made.stdout, "ALTER USER")).expect("it can be run as it is printed");
    let login = lab.home().join("capp.cnf");
    fs::write(&login, "[client]\nuser=capp\npassword=\"a Long 1 password!\"\n").expect("writable");
    fs::set_permissions(&login, fs::Permissions::from_mode(0o600)).expect("ours");
    let address = lab.file().nodes[0].address.to_string();
    let ca = lab.tls_dir("n1").join("ca.pem");
    let gets_in = |pair: Option<[PathBuf; 2]>| {
        let text = |path: &Path| path.display().to_string();
        let mut words =
            ["status", "--look-ms", "0", "--format", "line", "-h", &address].map(str::to_owned).to_vec();
        words.extend(["--defaults-file".into(), text(&login), "--ssl-mode".into(), "VERIFY_CA".into()]);
        words.extend(["--ssl-ca".into(), text(&ca)]);
        if let Some([cert, key]) = pair {
            words.extend(["--ssl-cert".into(), text(&cert), "--ssl-key".into(), text(&key)]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = lab.run(&words);
        let is_refused = said.code == Some(3) && said.stderr.contains("error 1045");
        assert!(is_refused || (said.code == Some(0) && said.stdout.contains("state=up")), "{said}");
        !is_refused
    };
    let of_node = ["node-cert.pem", "node-key.pem"].map(|file| lab.tls_dir("n1").join(file));
    assert!(gets_in(Some(pair(&out, "capp"))));
    assert!(!gets_in(None) && !gets_in(Some(pair(&out, "other"))) && !gets_in(Some(of_node.clone())));

    lab.now("a new CA of the cluster changes nothing for them");
    let hash = lab.plan_hash_of(&["rotate", "ca"]);
    lab.run(&["rotate", "ca", "--yes", &hash[..12]]).exits(0);
    assert!(gets_in(Some(pair(&out, "capp"))));
    let look = lab.look(true);
    assert_eq!(
        (&replication(&look)["seen"], channel_word(&look)),
        (&"sealed".into(), "verified"),
        "{look:#}"
    );
    lab.run(&["undo"]).exits(0);

    lab.now("revoked: the account takes the next one only, and who else takes it is named");
    root.execute("CREATE USER whoever@'%' IDENTIFIED BY 'a Long 1 password!' REQUIRE X509").expect("it may");
    let arrived = wait_for(SPEAKS_MAX, || {
        let mut replica = lab.root("n2");
        let rows = replica.query("SELECT User FROM mysql.user WHERE User = 'whoever'").ok()?;
        rows.scalar().map(drop)
    });
    assert!(arrived.is_some(), "n2 has not got the account");
    let revoked = lab.run(&["trust", "revoke", cert.to_str().expect("text")]).exits(0);
    for words in ["/CN=capp G2", "'capp'@'%' on n1, n2", "'whoever'@'%' on n1, n2; it names no subject"] {
        assert!(revoked.stdout.contains(words), "{words}: {revoked}");
    }
    assert!(gets_in(Some(pair(&out, "capp"))), "nothing was changed on a server");
    let same =
        lab.run(&["trust", "revoke", cert.to_str().expect("text"), "--format", "json"]).exits(0).json();
    assert_eq!(
        statement_of(&same).trim_end_matches(';'),
        statement(&revoked.stdout, "ALTER USER 'capp'"),
        "{same:#}"
    );
    assert_eq!(same["revoked"]["takers"].as_array().map(Vec::len), Some(2), "{same:#}");
    root.execute(&statement(&revoked.stdout, "ALTER USER 'capp'")).expect("it can be run as it is printed");
    let next = lab.home().join("app-tls-2");
    make("capp", &next).exits(0);
    assert!(!gets_in(Some(pair(&out, "capp"))) && gets_in(Some(pair(&next, "capp"))));
    let of_server = lab.run(&["trust", "revoke", of_node[0].to_str().expect("text")]).exits(6);
    assert!(of_server.stderr.contains("sealion rotate ca"), "{of_server}");

    lab.now("undo: nobody trusts the CA of clients any more");
    lab.run(&["undo"]).exits(0);
    assert!(lab.distrusts("n1", Port::Client, &cert, &key) && lab.files() == before);
    root = lab.root("n1");
    for user in ["capp", "whoever"] {
        root.execute(&format!("DROP USER {user}@'%'")).expect("it may");
    }
    fs::remove_dir_all(lab.dir.join("operator/ca/clients")).expect("ours");
    for dir in [out, next] {
        fs::remove_dir_all(dir).expect("ours");
    }
}

/// The notes of a change's steps, by the step.
fn note<'c>(change: &'c Value, step: &str) -> &'c str {
    let steps = change["steps"].as_array().expect("steps");
    let one = steps.iter().find(|one| one["step"] == step);
    one.and_then(|one| one["note"].as_str()).unwrap_or_else(|| panic!("no step {step}: {change:#}"))
}

/// Versions and suites of clients, on what is sealed already: whoever would be shut out is named, the rest is seen from outside.
fn profiles(lab: &RealLab, flavour: &str) {
    const MAIN: u16 = ::lab::layout::SQL_PORT;
    let is_mysql = flavour == "mysql";
    lab.also_allow("enable", flavour, "--profile");
    let (before, running) = (lab.files(), pids(lab));
    let takes = |node: &str, port: u16, tls: &str| lab.takes_handshake(node, port, &[tls]);
    assert!(takes("n1", MAIN, "-tls1_2") && takes("n2", MAIN, "-tls1_2"));

    lab.now("a client that has no newer version than TLS 1.2 is named, and nothing is changed");
    let source = SocketAddr::new(lab.file().nodes[0].address, MAIN);
    // MySQL tells the version of one that is connected; of MariaDB its handshake is captured.
    let old = lab.talk_by_tls12(source, Duration::from_millis(200), is_mysql);
    let modern = ["enable", "clients", "--profile", "modern", "--format", "json"];
    let hash = lab.plan_hash_of(&modern[..4]);
    let consent = ["--yes", &hash[..12]];
    let refused = lab.run(&[&modern[..], &consent].concat()).exits(6);
    for word in ["127.0.0.1:", "with TLSv1.2", "--accept-shut-out", "nothing was changed"] {
        assert!(refused.stderr.contains(word), "{word}: {refused}");
    }
    assert!(!is_mysql || refused.stderr.contains("app@127.0.0.1:"), "{refused}");
    if is_mysql {
        lab.now("who goes on with a version that is refused by now is told");
        let only = |versions: &str| {
            let mut root = lab.root("n1");
            root.execute(&format!("SET GLOBAL tls_version={versions}")).expect("it may");
            root.execute("ALTER INSTANCE RELOAD TLS").expect("it may");
            lab.run(&["status", "--look-ms", "0", "--format", "json"]).json()["notes"].to_string()
        };
        let told = only("'TLSv1.3'");
        assert!(told.contains("n1: 1 session with TLSv1.2, which new sessions are refused"), "{told}");
        assert!(!only("DEFAULT").contains("with TLSv1.2"));
    }
    old.stop();
    assert!(lab.files() == before, "a file is not as it was");

    let mut words = [&modern[..], &consent].concat();
    if !is_mysql {
        lab.now("nor is one whose version nobody tells taken for nobody: that of the replica");
        let refused = lab.run(&words).exits(6);
        assert!(refused.stderr.contains("could not be seen as a whole"), "{refused}");
        words.push("--accept-unknown-clients");
    }
    lab.now("modern, on what is sealed already");
    let change = lab.run(&words).exits(0).json();
    for node in ["n1", "n2"] {
        let text = note(&change, &format!("E2.{node}"));
        assert!(text.contains("the profile modern: seen from outside, TLSv1.2 is refused"), "{text}");
        assert!(!takes(node, MAIN, "-tls1_2") && takes(node, MAIN, "-tls1_3"), "{node}");
    }
    assert_eq!(pids(lab) == running, is_mysql, "MySQL while it runs, MariaDB at its start");
    let look = lab.look(true);
    assert_eq!(
        (&replication(&look)["seen"], channel_word(&look)),
        (&"sealed".into(), "verified"),
        "{look:#}"
    );
    if is_mysql {
        lab.now("the port of its administrators has followed");
        assert!(note(&change, "E2.n2").contains("is refused, on its admin port too"), "{change:#}");
        assert!(!takes("n2", ADMIN_PORT, "-tls1_2") && takes("n2", ADMIN_PORT, "-tls1_3"));
        let rows = look["nodes"][1]["rows"].as_array().expect("rows");
        let admin = rows.iter().find(|row| row["what"] == "admin").expect("n2 has such a port");
        let client = rows.iter().find(|row| row["what"] == "client").expect("and the main one");
        let ends = "not_after_unix";
        assert!(client[ends].is_number(), "{look:#}");
        assert_eq!((&admin["effective"], &admin[ends]), (&"required".into(), &client[ends]), "{look:#}");
    }
    lab.now("once more, it is there already");
    let again = lab.run(&modern).exits(0).json();
    assert_eq!(again["outcome"], "nothing-to-do", "{again:#}");

    lab.now("undo of the profile");
    lab.run(&["undo"]).exits(0);
    assert!(lab.files() == before, "a file is not as it was");
    assert!(takes("n1", MAIN, "-tls1_2") && takes("n2", MAIN, "-tls1_2"));
}

/// Of MySQL's administrators.
const ADMIN_PORT: u16 = 33_062;

/// What is drafted of these servers from one of them.
fn draft(lab: &RealLab, from: usize, words: &[&str]) -> String {
    let login = lab.dir.join("operator.cnf").display().to_string();
    let host = lab.file().nodes[from].address.to_string();
    let named = ["config", "inventory", "--defaults-file", &login, "-h", &host];
    lab.run(&[&named, words].concat()).exits(0).stdout
}

/// Who looks sees with the printed privileges what somebody with all of them sees.
fn least_accounts_see_all(lab: &RealLab, flavour: &str) {
    let caught_up = |user: &str| {
        let rows = |node: &str| {
            let rows = lab.sql(node).expect("it answers").query(&format!("SHOW GRANTS FOR {user}")).ok()?;
            Some(rows.iter().filter_map(|row| Some(row.at(0)?.into_owned())).collect::<Vec<String>>())
        };
        wait_for(Duration::from_secs(30), || {
            rows("n1").filter(|all| rows("n2").as_ref() == Some(all)).map(drop)
        })
    };
    let judged = |report: &Value| -> Vec<(String, String)> {
        let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
        let findings = report["findings"].as_array().expect("findings");
        findings.iter().map(|one| (text(one, "rule"), text(one, "verdict"))).collect()
    };
    let login = lab.least_login("status", flavour);
    assert!(caught_up("least_status").is_some(), "n2 has not got the account");
    let inventory = lab.inventory_with(&login);
    let look = ["status", "--look-ms", "0", "--format", "json"];
    let least = lab.run(&[&look[..], &["--inventory", &inventory]].concat()).exits(0).json();
    let all = lab.run(&look).exits(0).json();
    assert_eq!(judged(&least), judged(&all), "{least:#}");
    assert_eq!(least["nodes"], all["nodes"]);
    assert_eq!(least["not_looked_at"], all["not_looked_at"]);

    let login = lab.least_login("audit", flavour);
    assert!(caught_up("least_audit").is_some(), "n2 has not got the account");
    let inventory = lab.inventory_with(&login);
    let audit = lab.run(&["audit", "--format", "json", "--inventory", &inventory]).exits(0);
    assert!(!audit.stdout.contains("lacks the privilege"), "{audit}");

    let login = lab.least_login("config", flavour);
    assert!(caught_up("least_config").is_some(), "n2 has not got the account");
    let draft_of = |login: &std::path::Path| {
        let host = lab.file().nodes[1].address.to_string();
        let login = login.display().to_string();
        let words = ["config", "inventory", "--trust-found", "--defaults-file", &login, "-h", &host];
        lab.run(&words).exits(0).stdout.replace(&login, "LOGIN")
    };
    assert_eq!(draft_of(&login), draft_of(&lab.dir.join("operator.cnf")));
}

/// That both are in it, and who replicates from whom.
fn has_both(lab: &RealLab, draft: &str, flavour: &str) {
    let [source, replica] = [0, 1].map(|at| lab.file().nodes[at].address);
    for address in [source, replica] {
        assert!(draft.contains(&format!("\naddress = \"{address}\"\nport = 3306\n")), "{draft}");
    }
    let lines: Vec<&str> = draft.lines().filter(|line| line.contains(flavour)).collect();
    let [first, second] = lines[..] else { panic!("{draft}") };
    assert!(first.contains(&format!("  {source}:3306  ")) && !first.contains("<-"), "{draft}");
    assert!(second.starts_with("#   ") && second.contains(&format!("  {replica}:3306  ")), "{draft}");
    assert!(second.contains(": no TLS set"), "{draft}");
    assert!(!draft.contains("NOT REACHED"), "{draft}");
}

/// A wait is told within this time.
const TOLD_MAX: Duration = Duration::from_secs(30);

fn joined<'w>(typed: &[&'w str], more: &[&'w str]) -> Vec<&'w str> {
    [typed, more].concat()
}

/// `typed` disables something in two steps or more and changes one server after the other.
fn held_between_steps(lab: &RealLab, typed: &[&str]) {
    let plan = lab.run(&["plan", typed[0], typed[1], "--format", "json"]).exits(0).json();
    let first = plan["steps"][0]["id"].as_str().expect("a step").to_owned();

    lab.now("gates that make no sense are refused");
    let refused = lab.run(&joined(typed, &["--stop-after", "E99"]));
    assert!(refused.code == Some(6) && refused.stderr.contains("the plan has no step \"E99\""), "{refused}");
    let refused = lab.run(&joined(typed, &["--window", "22:00-2x:00"]));
    assert!(refused.code == Some(2) && refused.stderr.contains("character 8 is 'x'"), "{refused}");

    lab.now("it stops behind a step, and is open");
    let held =
        lab.run(&joined(typed, &["--stop-after", &first, "--max-lag", "600", "--window", "00:00-24:00"]));
    let says_so =
        held.stdout.contains(&format!("stopped after {first}")) && held.stderr.contains("sealion resume");
    assert!(held.code == Some(4) && says_so, "{held}");
    let look = lab.run(&["status", "--look-ms", "0"]);
    assert!(look.stdout.contains("step 2 of ") && look.stdout.contains("comes next"), "{look}");

    lab.now("paused, and interrupted meanwhile");
    let file = lab.home().join("pause");
    fs::write(&file, "").expect("writable");
    let paused = joined(typed, &["--pause-file", file.to_str().expect("text")]);
    let mut program = lab.start(&paused, None);
    assert!(program.says("paused while", TOLD_MAX), "{}", program.stderr());
    let ended = program.interrupt(TOLD_MAX);
    assert!(ended.code == Some(4) && ended.stderr.contains("while it waited before step"), "{ended}");

    lab.now("outside of the window it waits");
    let now_minute = SystemClock.unix_ms() / 60_000 % 1440;
    let (from, to) = ((now_minute + 60) % 1440, (now_minute + 120) % 1440);
    let window = format!("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60);
    let mut command = lab.command(&["lab", "exec", "--", "sealion"]);
    command.args(joined(typed, &["--window", &window])).env("TZ", "UTC0");
    let mut program = Program::start(command);
    assert!(program.says(&format!("outside of the window {window}"), TOLD_MAX), "{}", program.stderr());
    let ended = program.interrupt(TOLD_MAX);
    assert_eq!(ended.code, Some(4), "{ended}");

    lab.now("a replica that cannot tell how far it is behind is waited for");
    let replica = |sql: &str| lab.sql("n2").expect("n2 answers").execute(sql).expect("it may");
    replica("STOP REPLICA");
    let mut program = lab.start(&joined(typed, &["--max-lag", "5"]), None);
    assert!(program.says("cannot tell how far n2 is behind", TOLD_MAX), "{}", program.stderr());
    replica("START REPLICA");
    lab.ended(program.finish(TOLD_MAX)).exits(0);
}

/// Told to do without TLS, a replica must be let in by its source, and by how its account logs in.
fn replicas_are_not_shut_out(lab: &RealLab) {
    lab.now("replicas are not told to do without TLS where their source would refuse them");
    let refused = lab.run(&["plan", "disable", "replication"]);
    let names_it = refused.stderr.contains("sealion plan disable replication,require-tls");
    assert!(refused.code == Some(6) && names_it, "{refused}");

    lab.now("nor where caching_sha2_password would not let them in after a restart of the source");
    let gets_key = |does: u8| {
        let mut session = lab.root("n2");
        for sql in [
            "STOP REPLICA IO_THREAD",
            &format!("CHANGE REPLICATION SOURCE TO GET_SOURCE_PUBLIC_KEY={does}"),
            "START REPLICA IO_THREAD",
        ] {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let receives = wait_for(SPEAKS_MAX, || {
            let rows = lab.root("n2").query("SHOW REPLICA STATUS").ok()?;
            (rows.text(0, "Replica_IO_Running")? == "Yes").then_some(())
        });
        assert!(receives.is_some(), "n2 does not receive");
    };
    gets_key(0);
    let refused = lab.run(&["plan", "disable", "replication,require-tls"]);
    let names_it =
        refused.stderr.contains("CHANGE REPLICATION SOURCE TO GET_SOURCE_PUBLIC_KEY=1 FOR CHANNEL ''");
    assert!(refused.code == Some(6) && names_it, "{refused}");
    gets_key(1);
    lab.run(&["plan", "disable", "replication,require-tls"]).exits(0);
}

#[test]
fn mysql_is_sealed_while_it_runs_and_taken_back() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::REPLICAS_OF_MYSQL);

    lab.now("the replica leads to its source; the source, to a replica that does not tell where it is");
    has_both(&lab, &draft(&lab, 1, &["--trust-found"]), "MySQL 9.7");
    let from_source = draft(&lab, 0, &[]);
    assert!(
        from_source.contains("with server_id 2 and port 3306 does not tell its address"),
        "{from_source}"
    );

    lab.now(
        "the source leads to a replica that says where it is, and only who trusts it sends it the password",
    );
    let replica = lab.file().nodes[1].clone();
    lab.lab(&["stop", "n2"]).exits(0);
    let mut options = fs::read_to_string(replica.my_cnf()).expect("there");
    let address = replica.address;
    options +=
        &format!("\n[mysqld]\nreport_host={address}\nadmin_address={address}\nadmin_port={ADMIN_PORT}\n");
    fs::write(replica.my_cnf(), options).expect("writable");
    lab.lab(&["start", "n2"]).exits(0);
    let listed = wait_for(Duration::from_secs(30), || {
        draft(&lab, 0, &[]).contains(&format!("{}:3306  NOT LOGGED IN", replica.address)).then_some(())
    });
    assert!(listed.is_some(), "{}", draft(&lab, 0, &[]));
    let untrusting = draft(&lab, 0, &[]);
    assert!(
        untrusting.contains("wants the password itself") && untrusting.contains("--trust-found"),
        "{untrusting}"
    );
    has_both(&lab, &draft(&lab, 0, &["--trust-found"]), "MySQL 9.7");

    lab.now("accounts with the privileges that are printed, and no others");
    least_accounts_see_all(&lab, "mysql");
    lab.change_with_least("mysql");
    let (before, running) = (lab.files(), pids(&lab));

    lab.now("what is written on the source is read on the way to the replica");
    let look = lab.look(true);
    let link = replication(&look);
    assert_eq!((&link["seen"], channel_word(&look)), (&"plain".into(), "plain"), "{link:#}");
    assert!(link["canaries"].as_u64() > Some(0) && link["evidence"].is_object(), "{link:#}");

    lab.now("what SET PERSIST wrote wins over every option file");
    let persist = |sql: &str| lab.sql("n1").expect("n1 answers").execute(sql).expect("it may");
    persist("SET PERSIST require_secure_transport=OFF");
    let refused = lab.run(&["plan", "enable"]);
    assert!(
        refused.code == Some(6) && refused.stderr.contains("RESET PERSIST require_secure_transport"),
        "{refused}"
    );
    persist("RESET PERSIST require_secure_transport");

    lab.now("enable, killed where the channel was changed and not yet seen to work");
    let writers = RealWriters::start_on(&lab, &["n1"]);
    let hash = lab.plan_hash("enable");
    let killed = lab.run_with(&["enable", "--yes", &hash[..12]], &[("SEALION_CRASH_AT", "E3.n2:verifying")]);
    assert_ne!(killed.code, Some(0), "{killed}");
    lab.now("resume");
    lab.run(&["resume"]).exits(0);

    lab.now("nobody was restarted, and nothing failed");
    assert_eq!(pids(&lab), running);
    let look = lab.look(true);
    assert_eq!(
        (&replication(&look)["seen"], channel_word(&look)),
        (&"sealed".into(), "verified"),
        "{look:#}"
    );
    assert_eq!(replication(&look)["canaries"], 0);
    assert!(
        look["findings"].as_array().expect("findings").iter().all(|finding| finding["verdict"] != "fail"),
        "{look:#}"
    );
    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 100, "{outcome:?}");
    assert_eq!(outcome.failed, 0, "{outcome:?}");
    assert_eq!(applier_error(&lab, "SHOW REPLICA STATUS"), "");
    certificates_are_replaced(&lab, "SHOW REPLICA STATUS");
    clients_have_certificates(&lab, "mysql");
    profiles(&lab, "mysql");
    replicas_are_not_shut_out(&lab);

    let hash = lab.plan_hash_of(&["disable", "require-tls"]);
    held_between_steps(&lab, &["disable", "require-tls", "--yes", &hash[..12]]);
    accounts_one_by_one(&lab, "mysql");

    lab.now("undo");
    lab.run(&["undo"]).exits(0);
    lab.run(&["undo"]).exits(0);
    assert!(lab.files() == before, "a file is not as it was");
    assert_eq!(pids(&lab), running);
    let mut session = lab.sql("n1").expect("n1 answers");
    let rows = session.query("SELECT @@ssl_cert, @@require_secure_transport").expect("readable");
    let row = rows.first().expect("a row");
    assert_eq!((row.at(0).as_deref(), row.at(1).as_deref()), (Some("server-cert.pem"), Some("0")));
    let look = lab.look(true);
    assert_eq!((&replication(&look)["seen"], channel_word(&look)), (&"plain".into(), "plain"), "{look:#}");
}

#[test]
fn mariadb_is_sealed_by_one_restart_and_a_cleartext_application_is_found_and_not_broken() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::REPLICAS);

    lab.now("an inventory of both, from the replica");
    has_both(&lab, &draft(&lab, 1, &[]), "MariaDB 10.11");
    // MariaDB lists a replica by the address it connects from, where this one does not listen.
    let from_source = draft(&lab, 0, &[]);
    assert!(from_source.contains("127.0.0.1:3306  NOT REACHED; "), "{from_source}");
    assert!(from_source.contains("# CHECK: it did not answer"), "{from_source}");

    lab.now("accounts with the privileges that are printed, and no others");
    least_accounts_see_all(&lab, "mariadb");
    lab.change_with_least("mariadb");
    let before = lab.files();
    let look = lab.look(true);
    assert_eq!((&replication(&look)["seen"], channel_word(&look)), (&"plain".into(), "plain"), "{look:#}");

    lab.now("nobody else's noun is taken");
    let refused = lab.run(&["plan", "enable", "galera"]);
    assert!(refused.code == Some(6) && refused.stderr.contains("not a Galera cluster"), "{refused}");
    let refused = lab.run(&["plan", "enable", "require-tls"]);
    assert!(refused.code == Some(6) && refused.stderr.contains("does not offer TLS"), "{refused}");

    lab.now("enable, beside an application that speaks cleartext");
    let writers = RealWriters::start_on(&lab, &["n1"]);
    let source = SocketAddr::new(lab.file().nodes[0].address, ::lab::layout::SQL_PORT);
    let talkers = lab.call_at(source, Duration::from_millis(200));
    let hash = lab.plan_hash("enable");
    // A source under load always has work: it is stopped at the end of the time for that.
    let words = ["enable", "--drain-s-max", "2", "--yes", &hash[..12]];
    let stopped = lab.run(&words);
    let names_it = stopped.stderr.contains("still use cleartext") && stopped.stderr.contains("127.0.0.1:");
    assert!(stopped.code == Some(4) && names_it, "{stopped}");
    let look = lab.look(true);
    assert_eq!(
        (&replication(&look)["seen"], channel_word(&look)),
        (&"sealed".into(), "verified"),
        "{look:#}"
    );
    let held = lab.run(&["status", "--look-ms", "0"]);
    assert!(held.stdout.contains("step 7 of 10 comes next (E5.look"), "{held}");
    talkers.stop();

    lab.now("resume, when it has gone");
    lab.run(&["resume"]).exits(0);
    let look = lab.look(true);
    assert_eq!(replication(&look)["seen"], "sealed", "{look:#}");
    for node in look["nodes"].as_array().expect("nodes") {
        assert_eq!(node["rows"][0]["effective"], "required", "{node:#}");
    }
    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 100, "{outcome:?}");
    assert_eq!(applier_error(&lab, "SHOW ALL SLAVES STATUS"), "");
    certificates_are_replaced(&lab, "SHOW ALL SLAVES STATUS");
    clients_have_certificates(&lab, "mariadb");
    profiles(&lab, "mariadb");

    let hash = lab.plan_hash_of(&["disable", "require-tls"]);
    lab.run(&["disable", "require-tls", "--yes", &hash[..12]]).exits(0);
    accounts_one_by_one(&lab, "mariadb");

    lab.now("undo");
    lab.run(&["undo"]).exits(0);
    lab.run(&["undo"]).exits(0);
    assert!(lab.files() == before, "a file is not as it was");
    let look = lab.look(true);
    assert_eq!((&replication(&look)["seen"], channel_word(&look)), (&"plain".into(), "plain"), "{look:#}");
}
