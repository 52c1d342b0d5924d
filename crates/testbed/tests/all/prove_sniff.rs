//! `sealion prove sniff` beside real servers: a canary in every position of the protocol is found in clear, with the position,
//! and is not found under TLS; live on the lab's loopback, and from a file of the same packets.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use capture::Canary;
use serde_json::{Value, json};
use testbed::real::bundled::{Bundled, bundle};
use testbed::real::inside::Recording;
use testbed::real::{LabSpec, Program, RealLab, lab_slot};

const SOURCE_PORT: u16 = 3401;
const REPLICA_PORT: u16 = 3402;
const MYSQL_PORT: u16 = 3403;
const LOOK_S_MAX: u64 = 60;
const WHOLE_S: u64 = 120;
const USER: &str = "probe";
const PASSWORD: &str = "of-this-run-4711";

/// Two nodes with transfers by mariabackup; a joiner may ask for another kind.
const BACKUP: LabSpec = LabSpec { words: &["galera", "--nodes", "2", "--sst", "mariabackup"], nodes: 2 };
const BACKUP_SEALED: LabSpec = LabSpec { words: &["galera", "--tls", "--sst", "mariabackup"], nodes: 3 };

/// A look and a recording of the same packets.
struct Looking<'l> {
    lab: &'l RealLab,
    sniffer: Program,
    recording: Recording,
    pcap: PathBuf,
}

/// What was found: canary and place, and the whole report.
struct Found {
    places: BTreeSet<(String, String)>,
    report: Value,
}

fn places(report: &Value) -> BTreeSet<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let canaries = report["canaries"].as_array().expect("canaries").iter();
    canaries.map(|one| (text(&one["canary"]), text(&one["place"]))).collect()
}

impl<'l> Looking<'l> {
    fn begin(lab: &'l RealLab, name: &str) -> Self {
        let pcap = lab.home().join(format!("{name}.pcap"));
        let recording = lab.record(&pcap);
        let mut sniffer = lab.start(
            &["prove", "sniff", "--iface", "lo", "--port", "3401", "--port", "3403", "--format", "json"],
            None,
        );
        assert!(sniffer.says("listening", Duration::from_secs(30)), "{}", sniffer.stderr());
        Self { lab, sniffer, recording, pcap }
    }

    fn end(self) -> Found {
        let report = self.sniffer.interrupt(Duration::from_secs(LOOK_S_MAX)).exits(0).json();
        self.recording.stop();
        assert_eq!(report["doubts"].as_array().map(Vec::len), Some(0), "{:#}", report["doubts"]);
        let places = places(&report);
        let path = self.pcap.display().to_string();
        let from_file =
            self.lab.run(&["prove", "sniff", "--port", "3401", "--port", "3403", "--format", "json", &path]);
        assert_eq!(self::places(&from_file.exits(0).json()), places, "the file says what the interface said");
        Found { places, report }
    }
}

impl Found {
    #[track_caller]
    fn in_clear(&self, canary: &Canary, place: &str) {
        let wanted = (canary.tag().to_owned(), place.to_owned());
        assert!(self.places.contains(&wanted), "{place} not found: {:#?}", self.places);
    }

    #[track_caller]
    fn nowhere(&self, canary: &Canary) {
        let connections = self.report["connections"].as_array().expect("connections").iter();
        let found: Vec<String> = connections
            .filter(|one| one["canaries"].to_string().contains(canary.tag()))
            .map(|one| format!("{} {} {} {}", one["client"], one["server"], one["kind"], one["canaries"]))
            .collect();
        assert!(found.is_empty(), "under TLS: {found:#?}");
        assert!(!self.places.iter().any(|(tag, _)| tag == canary.tag()), "under TLS: {:?}", self.places);
    }

    /// Seen: rsync 3.2 gives its bytes to stunnel over a TCP pair of 127.0.0.1, which on other machines is on no network. The
    /// nodes have addresses of their own.
    #[track_caller]
    fn nowhere_between_nodes(&self, canary: &Canary) {
        let within = |end: &Value| end.as_str().is_some_and(|end| end.starts_with("127.0.0.1:"));
        let connections = self.report["connections"].as_array().expect("connections").iter();
        for one in connections.filter(|one| one["canaries"].to_string().contains(canary.tag())) {
            assert!(within(&one["client"]) && within(&one["server"]), "under TLS: {one:#}");
        }
    }

    /// Bytes of TLS records on connections to this port, and no byte beside them.
    #[track_caller]
    fn tls_bytes(&self, port: u16) {
        let end = format!(":{port}");
        let connections = self.report["connections"].as_array().expect("connections");
        let ours: Vec<&Value> = connections
            .iter()
            .filter(|one| {
                one["is_tls"] == true && one["server"].as_str().is_some_and(|it| it.ends_with(&end))
            })
            .collect();
        assert!(!ours.is_empty(), "nobody spoke TLS with {port}: {connections:#?}");
        assert!(ours.iter().all(|one| one["clear_bytes_in_tls"] == 0), "{ours:#?}");
    }
}

/// Every canary is another one.
fn canary(number: u8) -> Canary {
    let mut bytes = [number; 16];
    bytes[15] = 0xa5;
    Canary::new(bytes)
}

/// A statement whose row has the canary, while its text and the column's name have not.
fn row_of(canary: &Canary) -> String {
    let (head, tail) = canary.token().split_at(12);
    format!("SELECT CONCAT('{head}', '{tail}') AS one")
}

fn exec(lab: &RealLab, words: &[&str]) {
    let mut command = lab.command(&["lab", "exec", "--"]);
    command.args(words).env("MYSQL_PWD", PASSWORD);
    Program::start(command).finish(Duration::from_secs(LOOK_S_MAX)).exits(0);
}

/// `mysql` of the 9.7 bundle, under its own loader.
fn mysql(lab: &RealLab, words: &[&str]) {
    let bundle = bundle("mysql-9.7");
    let lib = bundle.join("usr/lib/x86_64-linux-gnu").display().to_string();
    let loader = format!("{lib}/ld-linux-x86-64.so.2");
    let client = bundle.join("usr/bin/mysql").display().to_string();
    let port = MYSQL_PORT.to_string();
    let head = [loader.as_str(), "--library-path", &lib, &client, "--no-defaults", "--protocol=tcp"];
    let login = ["-h127.0.0.1", "-P", &port, "-u", USER];
    exec(lab, &[&head[..], &login, words].concat());
}

fn local(port: u16) -> SocketAddr {
    ([127, 0, 0, 1], port).into()
}

#[test]
fn a_canary_of_a_client_is_found_in_every_position_in_clear_and_in_none_under_tls() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    let source = Bundled::start(
        &lab,
        "galera-10.11",
        SOURCE_PORT,
        &["--server-id=1", "--log-bin", "--binlog-format=ROW", "--local-infile=ON"],
    );
    let replica = Bundled::start(&lab, "galera-10.11", REPLICA_PORT, &["--server-id=2"]);
    let mysqld = Bundled::start(&lab, "mysql-9.7", MYSQL_PORT, &["--mysqlx=OFF"]);
    let account = format!("CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'");
    let grant = format!("GRANT ALL ON *.* TO {USER}@'%'");
    let table = "CREATE TABLE d.t (text VARCHAR(100))";
    source.run(&[&account, &grant, "CREATE DATABASE d", table]);
    mysqld.run(&[&account, &grant, "CREATE DATABASE d", table]);

    lab.now("a login over TLS, so that caching_sha2_password need not ask for a key in clear");
    mysql(&lab, &["--ssl-mode=REQUIRED", "-e", "DO 1"]);
    let looking = Looking::begin(&lab, "clients");
    let port = SOURCE_PORT.to_string();
    for (tls, first) in [(false, 0x10), (true, 0x20)] {
        lab.now(format!("clients, TLS: {tls}"));
        let one = |number: u8| canary(first + number);
        let text = |number: u8| one(number).token().to_owned();
        let steps = json!([
            { "sql": format!("DO '{}'", text(1)) },
            { "sql": "INSERT INTO d.t VALUES (?)", "prepared": true, "values": [text(2)] },
            { "sql": format!("SELECT ?, '{}'", text(3)), "prepared": true, "values": ["x"] },
            { "sql": row_of(&one(4)) },
        ]);
        lab.speak(local(SOURCE_PORT), (USER, PASSWORD), tls, &steps);
        let file = lab.home().join("file");
        std::fs::write(&file, text(5)).expect("writable");
        let load = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE d.t", file.display());
        let mode = if tls { "--ssl" } else { "--skip-ssl" };
        let login =
            ["mariadb", "--no-defaults", "--protocol=tcp", "-h127.0.0.1", "-P", &port, "-u", USER, mode];
        exec(&lab, &[&login[..], &["--local-infile=1", "-e", &load]].concat());
        // Long enough to be compressed, and so that the canary is in no packet as it is.
        let padded = format!("DO '{}{}{}'", "x".repeat(200), text(6), "x".repeat(200));
        exec(&lab, &[&login[..], &["--compress", "-e", &padded]].concat());
        let mode = if tls { "--ssl-mode=REQUIRED" } else { "--ssl-mode=DISABLED" };
        let row = format!("{}, REPEAT('x', 300)", row_of(&one(8)));
        let padded = padded.replace(&text(6), &text(7));
        let both = format!("{padded}; {row}");
        mysql(&lab, &[mode, "--compression-algorithms=zstd", "-e", &both]);
    }
    let found = looking.end();
    for (number, place) in [
        (1, "statement"),
        (2, "parameter"),
        (3, "prepared-statement"),
        (4, "result-row"),
        (5, "file"),
        (6, "statement"),
        (7, "statement"),
        (8, "result-row"),
    ] {
        found.in_clear(&canary(0x10 + number), place);
        found.nowhere(&canary(0x20 + number));
    }
    for port in [SOURCE_PORT, MYSQL_PORT] {
        found.tls_bytes(port);
    }
    let compressed = |how: &str| {
        let connections = found.report["connections"].as_array().expect("connections");
        let ours: Vec<&Value> = connections.iter().filter(|one| one["mysql"]["compressed"] == how).collect();
        assert!(!ours.is_empty(), "{how}");
        assert!(ours.iter().all(|one| one["unread_bytes"] == 0), "{how}: {ours:#?}");
    };
    compressed("zlib");
    compressed("zstd");
    let all = found.report.to_string();
    assert!(!all.contains(PASSWORD), "no secret is told");
    assert!(all.contains("guessable-login"), "its answers were read in clear");

    // In a look of its own: a replica in cleartext is sent what clients wrote over TLS.
    let looking = Looking::begin(&lab, "replica");
    let plain = format!(
        "CHANGE MASTER TO master_host='127.0.0.1', master_port={SOURCE_PORT}, master_user='{USER}', \
         master_password='{PASSWORD}', master_ssl=0"
    );
    let verified = format!(
        "CHANGE MASTER TO master_ssl=1, master_ssl_ca='{}', master_ssl_verify_server_cert=1",
        source.dir.join("cert.pem").display()
    );
    // Seen: MariaDB 10.11.19 takes master_ssl=1 without a CA, says Master_SSL_Allowed: Yes, and connects in cleartext.
    let bare = "CHANGE MASTER TO master_ssl=1".to_owned();
    for (change, number) in [(plain, 0x31), (bare, 0x33), (verified, 0x32)] {
        lab.now(format!("a replica, canary {number:x}"));
        replica.run(&["STOP SLAVE", &change, "START SLAVE"]);
        // Over the source's socket: on the wire it is in the replica's stream only.
        let token = canary(number).token().to_owned();
        source.run(&[&format!("INSERT INTO d.t VALUES ('{token}')")]);
        let count = format!("SELECT COUNT(*) AS n FROM d.t WHERE text = '{token}'");
        lab.waits_until("the replica has the row", WHOLE_S, || {
            replica.sql().query(&count).is_ok_and(|rows| rows.text(0, "n").as_deref() == Some("1"))
        });
    }
    replica.run(&["STOP SLAVE"]);
    let found = looking.end();
    found.in_clear(&canary(0x31), "binlog-rows");
    found.in_clear(&canary(0x33), "binlog-rows");
    found.nowhere(&canary(0x32));
    found.tls_bytes(SOURCE_PORT);
    assert!(!found.report.to_string().contains(PASSWORD), "no secret is told");
}

/// Throws away what a node has, and lets it get all from another, by `method`.
fn joins_anew(lab: &RealLab, node: &str, method: &str) {
    lab.now(format!("{node} gets all data by {method}"));
    lab.stop(node);
    std::fs::remove_dir_all(lab.node_dir(node).join("data")).expect("ours");
    std::fs::create_dir(lab.node_dir(node).join("data")).expect("ours");
    lab.set_option(node, "galera", "wsrep-sst-method", Some(method));
    lab.begin_start(node);
    lab.all_synced(Duration::from_secs(WHOLE_S));
}

fn write(lab: &RealLab, canary: &Canary) {
    let mut session = lab.sql("n1").expect("it answers");
    for sql in [
        "CREATE DATABASE IF NOT EXISTS sniffed",
        "CREATE TABLE IF NOT EXISTS sniffed.t (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(100))",
    ] {
        session.execute(sql).expect(sql);
    }
    session
        .execute(&format!("INSERT INTO sniffed.t (text) VALUES ('{}')", canary.token()))
        .expect("a commit");
}

#[test]
fn canaries_between_nodes_are_found_in_clear_and_not_under_tls() {
    let _alone = lab_slot();
    {
        let lab = RealLab::up(BACKUP);
        let looking = Looking::begin(&lab, "set");
        write(&lab, &canary(0x41));
        lab.waits_until("the write set has passed", WHOLE_S, || {
            let rows = lab.sql("n2").and_then(|mut sql| sql.query("SELECT COUNT(*) AS n FROM sniffed.t"));
            rows.is_ok_and(|rows| rows.text(0, "n").as_deref() == Some("1"))
        });
        looking.end().in_clear(&canary(0x41), "write-set");
        for method in ["mariabackup", "rsync"] {
            let looking = Looking::begin(&lab, method);
            joins_anew(&lab, "n2", method);
            let found = looking.end();
            found.in_clear(&canary(0x41), "sst");
            let kind = if method == "rsync" { "SST rsync" } else { "SST xbstream" };
            let kinds = found.report["connections_by_kind"].to_string();
            assert!(kinds.contains(kind), "{kinds}");
        }
    }
    let lab = RealLab::up(BACKUP_SEALED);
    let looking = Looking::begin(&lab, "sealed");
    write(&lab, &canary(0x42));
    for method in ["mariabackup", "rsync"] {
        joins_anew(&lab, "n2", method);
    }
    let found = looking.end();
    found.nowhere_between_nodes(&canary(0x42));
    found.tls_bytes(lab::layout::GALERA_PORT);
    found.tls_bytes(lab::layout::SST_PORT);
}
