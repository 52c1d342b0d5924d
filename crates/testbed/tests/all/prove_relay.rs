//! `sealion prove relay` between the command line clients of both families and real servers: what is read on the way, what an
//! active one gets from a careless client, and that it gets nothing from one that verifies.

use std::time::Duration;

use capture::Canary;
use serde_json::Value;
use testbed::real::bundled::{Bundled, bundle};
use testbed::real::{LabSpec, Program, ProgramOutput, RealLab, lab_slot, wait_for};

const MARIADB_PORT: u16 = 3401;
const MYSQL_PORT: u16 = 3403;
const LOOK_S_MAX: u64 = 60;
const USER: &str = "probe";
const PASSWORD: &str = "of-this-run-4711";
const NEW_PASSWORD: &str = "set-in-clear-0815";
const MARK: &str = "account-of-the-payee";

struct Relay {
    program: Program,
    port: String,
}

impl Relay {
    fn start(lab: &RealLab, words: &[&str]) -> Self {
        let mut program = lab.start(&[&["prove", "relay", "-vvv", "--format", "json"], words].concat(), None);
        let begun = program.says("listening on ", Duration::from_secs(30));
        assert!(begun, "the relay does not begin: {}", program.stderr());
        let text = program.stderr();
        let at = text.split("listening on ").nth(1).and_then(|rest| rest.split(',').next()).expect("a place");
        let port = at.rsplit(':').next().unwrap_or_default().to_owned();
        Self { program, port }
    }

    fn end(self) -> (ProgramOutput, Value) {
        let said = self.program.interrupt(Duration::from_secs(LOOK_S_MAX));
        let report = said.json();
        for secret in [PASSWORD, NEW_PASSWORD] {
            assert!(!said.stdout.contains(secret) && !said.stderr.contains(secret), "{said}");
        }
        (said, report)
    }
}

/// The servers, and how clients are run.
struct Scene {
    lab: RealLab,
    mariadb: Bundled,
    mysql: Bundled,
}

impl Scene {
    fn set() -> Self {
        let lab = RealLab::up(LabSpec::MARIADB);
        let options = ["--server-id=1", "--log-bin", "--binlog-format=ROW", "--local-infile=ON"];
        let mariadb = Bundled::start(&lab, "galera-10.11", MARIADB_PORT, &options);
        let mysql = Bundled::start(&lab, "mysql-9.7", MYSQL_PORT, &["--mysqlx=OFF"]);
        for server in [&mariadb, &mysql] {
            server.run(&[
                &format!("CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'"),
                &format!("GRANT ALL ON *.* TO {USER}@'%'"),
                "CREATE DATABASE d",
                "CREATE TABLE d.t (text VARCHAR(100))",
                &format!("INSERT INTO d.t VALUES ('{MARK}')"),
            ]);
        }
        Self { lab, mariadb, mysql }
    }

    fn run(&self, words: &[&str]) -> ProgramOutput {
        let mut command = self.lab.command(&["lab", "exec", "--"]);
        command.args(words).env("MYSQL_PWD", PASSWORD);
        Program::start(command).finish(Duration::from_secs(LOOK_S_MAX))
    }

    fn tool(&self, tool: &str, port: &str, words: &[&str]) -> ProgramOutput {
        let plugins = format!("--plugin-dir={}", plugins().display());
        let head = [tool, "--no-defaults", &plugins, "--protocol=tcp", "-h127.0.0.1", "-P", port, "-u", USER];
        self.run(&[&head[..], words].concat())
    }

    fn mariadb(&self, port: &str, words: &[&str]) -> ProgramOutput {
        self.tool("mariadb", port, words)
    }

    fn mysql(&self, port: &str, words: &[&str]) -> ProgramOutput {
        let bundle = bundle("mysql-9.7");
        let lib = bundle.join("usr/lib/x86_64-linux-gnu").display().to_string();
        let loader = format!("{lib}/ld-linux-x86-64.so.2");
        let client = bundle.join("usr/bin/mysql").display().to_string();
        // Accounts of MariaDB are of a plugin that this client loads from here.
        let plugins = format!("--plugin-dir={}", bundle.join("usr/lib/mysql/plugin").display());
        let head = [&loader, "--library-path", &lib, &client, "--no-defaults", "--protocol=tcp", &plugins];
        self.run(&[&head[..], &["-h127.0.0.1", "-P", port, "-u", USER], words].concat())
    }

    fn to(server: &Bundled) -> String {
        format!("127.0.0.1:{}", server.port)
    }

    fn ca(server: &Bundled) -> String {
        format!("--ssl-ca={}", server.dir.join("cert.pem").display())
    }
}

/// Of libmariadb, in the bundle.
fn plugins() -> std::path::PathBuf {
    let bundle = bundle("galera-10.11");
    let connector = bundle.join("usr/lib/x86_64-linux-gnu/libmariadb3/plugin");
    if connector.is_dir() { connector } else { bundle.join("usr/lib/mysql/plugin") }
}

fn connections(report: &Value) -> &Vec<Value> {
    report["connections"].as_array().expect("connections")
}

/// All of what was found on the connections.
fn found(report: &Value) -> Vec<String> {
    let findings = connections(report).iter().flat_map(|one| one["findings"].as_array().expect("findings"));
    findings.map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

fn sums(report: &Value, pointer: &str) -> u64 {
    connections(report).iter().filter_map(|one| one.pointer(pointer).and_then(Value::as_u64)).sum()
}

#[test]
fn a_relay_reads_what_passes_and_from_those_who_verify_an_active_one_gets_nothing() {
    let _alone = lab_slot();
    let scene = Scene::set();
    passive(&scene);
    over_a_unix_socket(&scene);
    strip(&scene);
    substitute_key(&scene);
    change_result(&scene);
    a_server_that_is_down_is_told(&scene);
}

fn passive(scene: &Scene) {
    scene.lab.now("passive: what is read");
    let canary = Canary::new([0x51; 16]);
    let in_file = Canary::new([0x52; 16]);
    let relay = Relay::start(&scene.lab, &["--to", &Scene::to(&scene.mariadb), "--canary", MARK]);
    let file = scene.lab.home().join("file");
    std::fs::write(&file, in_file.token()).expect("writable");
    let script = format!(
        "CREATE USER other@'%' IDENTIFIED BY '{NEW_PASSWORD}'; SELECT '{}'; SELECT text FROM d.t; \
         LOAD DATA LOCAL INFILE '{}' INTO TABLE d.t",
        canary.token(),
        file.display()
    );
    scene.mariadb(&relay.port, &["--skip-ssl", "--local-infile=1", "-e", &script]).exits(0);
    let log = scene.mariadb.sql().query("SHOW MASTER STATUS").expect("a log");
    let log = log.text(0, "File").expect("a file").into_owned();
    let remote = ["--skip-ssl", "--read-from-remote-server", &log];
    scene.tool("mariadb-binlog", &relay.port, &remote).exits(0);
    let (said, report) = relay.end();
    assert_eq!((said.code, &report["is_readable"], &report["fallen"]), (Some(0), &true.into(), &0.into()));
    let found = found(&report);
    for what in [
        "guessable-login",
        "secret-in-statement",
        "replication-rows",
        "file-contents",
        "result-rows",
        "statements",
        "canary",
    ] {
        assert!(found.iter().any(|one| one == what), "{what}: {found:?}");
    }
    assert!(sums(&report, "/mysql/binlog_dumps") == 1 && sums(&report, "/mysql/row_events") >= 1);
    let canaries = report.to_string();
    for (tag, place) in [(canary.tag(), "statement"), (in_file.tag(), "file"), ("given-1", "result-row")] {
        assert!(
            canaries.contains(&format!(r#""canary":"{tag}","place":"{place}""#)),
            "{tag} {place}: {report:#}"
        );
    }
    // As it happens, not only at the end.
    for line in
        ["readable: statements that contain a password", "in a LOAD DATA LOCAL file", "the binary log"]
    {
        assert!(said.stderr.contains(line), "{line}: {}", said.stderr);
    }

    scene.lab.now("passive: under TLS nothing is read");
    let relay = Relay::start(&scene.lab, &["--to", &Scene::to(&scene.mariadb), "--fail-on-clear"]);
    let verifies =
        [&Scene::ca(&scene.mariadb), "--ssl-verify-server-cert", "-e", &script.replace("other", "o2")];
    scene.mariadb(&relay.port, &[&verifies[..], &["--local-infile=1"]].concat()).exits(0);
    let (said, report) = relay.end();
    assert_eq!((said.code, &report["is_readable"]), (Some(0), &false.into()), "{report:#}");
    assert_eq!(connections(&report)[0]["is_tls"], true);
    assert!(connections(&report)[0]["canaries"].as_array().is_some_and(Vec::is_empty));
}

fn over_a_unix_socket(scene: &Scene) {
    scene.lab.now("over a unix socket");
    let canary = Canary::new([0x53; 16]);
    let seen = scene.lab.home().join("seen");
    let (to, listen) = (scene.mariadb.dir.join("socket"), seen.display().to_string());
    let relay = Relay::start(&scene.lab, &["--to", &to.display().to_string(), "--listen", &listen]);
    let sql = format!("SELECT '{}'", canary.token());
    let words = ["mariadb", "--no-defaults", "-S", &listen, "-u", USER, "--skip-ssl", "-e", &sql];
    scene.run(&words).exits(0);
    let (_, report) = relay.end();
    assert!(report.to_string().contains(canary.tag()), "{report:#}");
    assert!(!seen.exists(), "its socket goes with it");
}

fn strip(scene: &Scene) {
    let is = |one: &Value, strip: &str, fell: bool| {
        assert_eq!((&one["strip"], &one["has_fallen"]), (&strip.into(), &fell.into()), "{one:#}");
    };
    scene.lab.now("strip: careless clients");
    let relay = Relay::start(&scene.lab, &["--to", &Scene::to(&scene.mariadb), "--strip"]);
    scene.mariadb(&relay.port, &["-e", "SELECT 1"]).exits(0);
    scene.mariadb(&relay.port, &["--ssl", "-e", "SELECT 1"]).exits(0);
    scene.mysql(&relay.port, &["-e", "SELECT 1"]).exits(0);
    scene.lab.now("strip: strict clients");
    let ca = Scene::ca(&scene.mariadb);
    scene.mariadb(&relay.port, &[&ca, "--ssl-verify-server-cert", "-e", "SELECT 1"]).exits(1);
    scene.mysql(&relay.port, &["--ssl-mode=REQUIRED", "-e", "SELECT 1"]).exits(1);
    scene.mysql(&relay.port, &["--ssl-mode=VERIFY_IDENTITY", &ca, "-e", "SELECT 1"]).exits(1);
    let (said, report) = relay.end();
    assert_eq!((said.code, &report["fallen"]), (Some(1), &3.into()), "{report:#}");
    let all = connections(&report);
    for one in &all[..3] {
        is(one, "went-on-in-clear", true);
        assert_eq!(one["logged_in"], true);
    }
    for one in &all[3..] {
        is(one, "refused", false);
        assert_eq!(one["logged_in"], false);
    }

    scene.lab.now("strip: the server enforces TLS, and the login was read all the same");
    scene.mariadb.run(&["SET GLOBAL require_secure_transport=ON"]);
    let relay = Relay::start(&scene.lab, &["--to", &Scene::to(&scene.mariadb), "--strip"]);
    scene.mariadb(&relay.port, &["-e", "SELECT 1"]).exits(1);
    scene.mariadb.run(&["SET GLOBAL require_secure_transport=OFF"]);
    let (_, report) = relay.end();
    let one = &connections(&report)[0];
    is(one, "went-on-in-clear", true);
    assert!(one["logged_in"] == false && one["login_error"].is_u64(), "{one:#}");
    assert!(found(&report).contains(&"guessable-login".to_owned()));
}

fn substitute_key(scene: &Scene) {
    let password = scene.lab.home().join("password");
    let put = |text: &str| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(&password, text).expect("writable");
        std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o600)).expect("ours");
    };
    put(PASSWORD);
    let to = Scene::to(&scene.mysql);
    let file = password.display().to_string();
    let words = ["--to", to.as_str(), "--substitute-key", "--password-file", &file];
    // Without its cache the server wants the whole password; with it, it would be content with the scramble.
    let forget = || scene.mysql.run(&["FLUSH PRIVILEGES"]);
    let fetches = ["--ssl-mode=DISABLED", "--get-server-public-key", "-e", "SELECT 1"];
    for is_cached in [false, true] {
        scene.lab.now(format!("another RSA key, the server remembers the password: {is_cached}"));
        if !is_cached {
            forget();
        }
        let relay = Relay::start(&scene.lab, &words);
        scene.mysql(&relay.port, &fetches).exits(0);
        if !is_cached {
            forget();
        }
        scene.mariadb(&relay.port, &["--skip-ssl", "-e", "SELECT 1"]).exits(0);
        let (said, report) = relay.end();
        assert_eq!((said.code, &report["fallen"]), (Some(1), &2.into()), "{report:#}\n{}", said.stderr);
        for one in connections(&report) {
            assert_eq!(
                (&one["key"], &one["password_matches"]),
                (&"password-taken".into(), &true.into()),
                "{one:#}"
            );
            assert_eq!(one["logged_in"], true, "and it notices nothing: {one:#}");
        }
        assert!(said.stderr.contains("it matches the one you gave"));
    }

    scene.lab.now("another RSA key: those who know the server's, ask for none, or verify");
    forget();
    let relay = Relay::start(&scene.lab, &words);
    let key = format!("--server-public-key-path={}", scene.mysql.dir.join("data/public_key.pem").display());
    scene.mysql(&relay.port, &["--ssl-mode=DISABLED", &key, "-e", "SELECT 1"]).exits(0);
    forget();
    scene.mysql(&relay.port, &["--ssl-mode=DISABLED", "-e", "SELECT 1"]).exits(1);
    let verifies = ["--ssl-mode=VERIFY_IDENTITY", &Scene::ca(&scene.mysql), "-e", "SELECT 1"];
    scene.mysql(&relay.port, &verifies).exits(0);
    let (said, report) = relay.end();
    let keys: Vec<&str> = connections(&report).iter().filter_map(|one| one["key"].as_str()).collect();
    assert_eq!((said.code, keys), (Some(0), vec!["knows-the-key", "refused", "not-tried"]), "{report:#}");

    scene.lab.now("a password that is not the one given");
    put("not-the-one");
    forget();
    let relay = Relay::start(&scene.lab, &words);
    scene.mysql(&relay.port, &fetches).exits(0);
    let (_, report) = relay.end();
    assert_eq!(connections(&report)[0]["password_matches"], false, "{report:#}");
}

fn change_result(scene: &Scene) {
    scene.lab.now("a marked value is changed in clear, and under TLS it is not");
    let change = format!("{MARK}=attacker");
    for server in [&scene.mariadb, &scene.mysql] {
        let relay = Relay::start(&scene.lab, &["--to", &Scene::to(server), "--change-result", &change]);
        let sql = format!("SELECT text FROM d.t WHERE text LIKE 'account%' AND text <> '{MARK}x'");
        let careless = scene.mariadb(&relay.port, &["--skip-ssl", "--compress", "-N", "-e", &sql]).exits(0);
        assert!(careless.stdout.contains("attacker") && !careless.stdout.contains(MARK), "{careless}");
        let ca = Scene::ca(server);
        let strict =
            scene.mariadb(&relay.port, &[&ca, "--ssl-verify-server-cert", "-N", "-e", &sql]).exits(0);
        assert!(strict.stdout.contains(MARK) && !strict.stdout.contains("attacker"), "{strict}");
        let (said, report) = relay.end();
        let changed: Vec<Option<u64>> =
            connections(&report).iter().map(|one| one["values_changed"].as_u64()).collect();
        assert_eq!((said.code, changed), (Some(1), vec![Some(1), Some(0)]), "{report:#}");
    }
}

fn a_server_that_is_down_is_told(scene: &Scene) {
    scene.lab.now("nobody listens there");
    let relay = Relay::start(&scene.lab, &["--to", "127.0.0.1:9"]);
    scene.mariadb(&relay.port, &["-e", "SELECT 1"]).exits(1);
    let closed = wait_for(Duration::from_secs(5), || {
        relay.program.stderr().contains("the server cannot be reached").then_some(())
    });
    assert!(closed.is_some(), "{}", relay.program.stderr());
    let (said, report) = relay.end();
    assert_eq!(said.code, Some(3), "{report:#}");
    assert!(connections(&report)[0]["unreachable"].is_string(), "{report:#}");
}
