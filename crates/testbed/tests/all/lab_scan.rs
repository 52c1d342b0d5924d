//! `sealion scan` of a real MariaDB and a real MySQL: facts, and what the scan costs others on the same host.
//!
//! Servers never count connections from loopback, so this runs in a network namespace with a private address on `lo` that
//! has a name in a hosts file of its own: only hosts whose name could be looked up are counted (seen on 10.11.19).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use net::ExposeSecret;
use serde_json::Value;
use testbed::real::{Program, ProgramOutput, lab_slot, sealion, short_dir};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

const WHOLE_S_MAX: u64 = 120;
const ADDRESS: &str = "10.77.7.1";
/// An ordinary number inside: mariadbd refuses to run as uid 0.
const INSIDE_UID: u32 = 1000;

/// Words after `==` are cut out by the test.
const SCRIPT: &str = r#"
set -eu
mount --bind "$DIR/hosts" /etc/hosts
ip link set lo up
ip addr add "$ADDRESS/32" dev lo
lab() { "$SEALION" lab "$@" --dir "$DIR/l"; }
query() { "$SEALION" lab exec --dir "$DIR/l" -- mariadb --defaults-extra-file="$DIR/l/operator.cnf" -S "$DIR/l/n1/run/s" -N -e "$1"; }
count() { query "SELECT COALESCE(SUM(sum_connect_errors), 0) FROM performance_schema.host_cache WHERE ip = '$ADDRESS'"; }
trap 'lab down || true' EXIT
"$SEALION" lab up mariadb --no-namespace --dir "$DIR/l" >/dev/null
lab stop n1
cp "$DIR/n1.cnf" "$DIR/l/n1/etc/conf.d/99-scan.cnf"
lab start n1
for _ in $(seq 200); do query "SELECT 1" >/dev/null 2>&1 && break; sleep 0.1; done

closing() {
    "$SEALION" scan --first "$ADDRESS:3306" --login-file "$DIR/l/app.cnf" --ssl-ca "$DIR/$1" > "$DIR/closing" 2>&1
    echo "$(count) counted, $(grep -c 'no login to' "$DIR/closing") not logged in"
}
echo "== unverified $(closing other.pem)"
echo "== verified $(closing ca.pem)"
echo "== before $(count)"
"$SEALION" scan "$ADDRESS:3306" --format json > "$DIR/classes.json"
echo "== after $(count)"
"$SEALION" lab exec --dir "$DIR/l" -- mariadb --defaults-extra-file="$DIR/l/app.cnf" -h "$ADDRESS" -N -e "SELECT '== another let in'"
echo "== login $(count)"
set +e
"$SEALION" scan --full "$ADDRESS:3306" --format json > "$DIR/budget.json"
"$SEALION" scan "$ADDRESS:3306" --format json > "$DIR/spent.json"
echo "== spent $?"
"$SEALION" scan --full --max-handshakes 1000 "$ADDRESS:3306" --format json > "$DIR/full.json"
"$SEALION" scan --full --max-handshakes 1000 "$ADDRESS:3306" --format json > "$DIR/blocked.json"
"$SEALION" scan --max-handshakes 1000 "$ADDRESS:3306" --format json > "$DIR/turned_away.json"
echo "== end $(count)"
"#;

/// MySQL, as its bundle starts: 100 errors are allowed, and names are looked up.
const MYSQL_SCRIPT: &str = r#"
set -eu
mount --bind "$DIR/hosts" /etc/hosts
ip link set lo up
ip addr add "$ADDRESS/32" dev lo
"$START" mysql-9.7 "$DIR/s" 3306 --bind-address="$ADDRESS" --performance-schema=ON &
server=$!
trap 'kill $server 2>/dev/null || true; wait' EXIT
client() { "$LIB/ld-linux-x86-64.so.2" --library-path "$LIB" "$BUNDLE/usr/bin/mysql" --no-defaults -N "$@"; }
query() { client -u root -S "$DIR/s/socket" -e "$1"; }
count() { query "SELECT COALESCE(SUM(sum_connect_errors), 0) FROM performance_schema.host_cache WHERE ip = '$ADDRESS'"; }
for _ in $(seq 600); do query "SELECT 1" >/dev/null 2>&1 && break; kill -0 $server; sleep 0.1; done
query "CREATE USER app@'%'"
echo "== limit $(query 'SELECT @@max_connect_errors')"
echo "== before $(count)"
"$SEALION" scan --full --max-handshakes 65 "$ADDRESS:3306" --format json > "$DIR/full.json"
echo "== after $(count)"
client -u app -h "$ADDRESS" -e "SELECT '== another let in'"
echo "== login $(count)"
"$SEALION" scan --intrusive=login --max-handshakes 200 "$ADDRESS:3306" --format json > "$DIR/knocked.json"
echo "== knocked $(count)"
client -u app -h "$ADDRESS" -e "SELECT '== once more let in'"
"#;

fn now_unix() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("before the year 292 billion")
}

fn lay_out(dir: &Path) {
    let put = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("writable");
    let spec = CaSpec { common_name: "a CA".into(), valid_days: 30, key: KeyKind::Rsa { bits: 2048 } };
    let ca = Ca::create(&spec, now_unix()).expect("a CA");
    let leaf = LeafSpec {
        common_name: "scanned".into(),
        dns: vec!["scanned".into()],
        ips: vec![ADDRESS.parse().expect("an address")],
        valid_days: 20,
        key: KeyKind::Rsa { bits: 2048 },
        not_before_unix: None,
        not_after_unix: None,
    };
    let leaf = ca.issue(&leaf, now_unix()).expect("a leaf");
    put("key.pem", leaf.key_pem.expose_secret());
    put("cert.pem", &leaf.cert_pem);
    put("ca.pem", &ca.cert_pem());
    put("other.pem", &Ca::create(&spec, now_unix()).expect("a CA").cert_pem());
    put("hosts", &format!("127.0.0.1 localhost\n{ADDRESS} scanned\n"));
    let dir = dir.display();
    put(
        "n1.cnf",
        &format!(
            "[mysqld]\nbind-address={ADDRESS}\nskip-name-resolve=OFF\nperformance-schema=ON\n\
             ssl-ca={dir}/ca.pem\nssl-cert={dir}/cert.pem\nssl-key={dir}/key.pem\n"
        ),
    );
    put("script", SCRIPT);
}

/// `DIR/script`, as an ordinary user with a network and mounts of its own.
fn in_a_namespace(dir: &Path, variables: &[(&str, &Path)]) -> ProgramOutput {
    let uid = nix::unistd::geteuid().as_raw();
    let inside = if uid == 0 { INSIDE_UID } else { uid }.to_string();
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--net", "--mount", "--keep-caps", "--map-user", &inside, "--map-group", &inside])
        .args(["bash", "-x"])
        .arg(dir.join("script"))
        .env("SEALION", sealion())
        .env("DIR", dir)
        .env("ADDRESS", ADDRESS)
        .env("XDG_STATE_HOME", dir.join("state"))
        .envs(variables.iter().copied());
    Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX)).exits(0)
}

/// What the script said after `== WHAT`.
fn told(said: &ProgramOutput, what: &str) -> String {
    let line = said.stdout.lines().find_map(|line| line.strip_prefix("== ")?.strip_prefix(what));
    line.unwrap_or_else(|| panic!("nothing was told of {what}\n{said}")).trim().to_owned()
}

fn json(dir: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(dir.join(name)).expect("the script wrote it");
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(report["targets"].as_array().map(Vec::len), Some(1), "{report:#}");
    report["targets"][0].clone()
}

fn suites(target: &Value, version: &str) -> Vec<String> {
    let versions = target["tls"]["versions"].as_array().expect("versions");
    let found = versions.iter().find(|one| one["version"] == version).expect("the version was asked for");
    assert_eq!(found["taken"], "yes", "{found:#}");
    let names = found["suites"].as_array().expect("suites").iter();
    names.map(|suite| suite["openssl"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_scan_tells_the_facts_of_a_real_server_and_leaves_others_able_to_connect() {
    let _alone = lab_slot();
    let home = short_dir();
    let dir = home.path();
    lay_out(dir);
    let said = in_a_namespace(dir, &[]);
    let told = |what: &str| told(&said, what);
    let number = |what: &str| told(what).parse::<u64>().expect("a number");

    // A login at the end makes the server count anew, and sealion too: below all of a day's connections are there. It goes only to
    // a server whose certificate is verified.
    let unverified = told("unverified");
    assert!(!unverified.starts_with("0 ") && unverified.ends_with(" 1 not logged in"), "{said}");
    assert_eq!(told("verified"), "0 counted, 0 not logged in", "{said}");
    // Others: the counter rose by what we say we made, is far from the limit, and a good login sets it back.
    let target = json(dir, "classes.json");
    let connections = target["connections"].as_u64().expect("a count");
    assert_eq!((number("before"), number("after")), (0, connections), "{said}");
    assert!(connections <= 35, "{connections}");
    assert_eq!(told("another"), "let in");
    assert_eq!(number("login"), 0);
    // The budget of a day is kept across runs, and what is over it is not dialled.
    assert_eq!(json(dir, "budget.json")["connections"], 40 - connections);
    let spent = json(dir, "spent.json");
    assert_eq!((&spent["connections"], told("spent").as_str()), (&0.into(), "3"), "{spent:#}");
    // With leave to go on, 1129 ends the questions at once, and is told with what undoes it.
    let full = json(dir, "full.json");
    let blocked = json(dir, "blocked.json");
    let why = blocked["not_seen"].to_string();
    assert!(why.contains("1129"), "{blocked:#}");
    let turned_away = json(dir, "turned_away.json");
    assert_eq!(
        (&turned_away["service"]["protocol"], &turned_away["connections"]),
        (&"turned_away".into(), &1.into())
    );
    assert!(turned_away["not_seen"].to_string().contains("FLUSH HOSTS"), "{turned_away:#}");

    // The facts, as other scanners count them on this server: 20 suites of TLS 1.2, 3 of TLS 1.3.
    assert!(full["connections"].as_u64().expect("a count") <= 65);
    let old = suites(&full, "TLSv1.2");
    assert_eq!((old.len(), suites(&full, "TLSv1.3").len()), (20, 3), "{old:?}");
    for name in ["ECDHE-RSA-AES256-GCM-SHA384", "DHE-RSA-AES128-SHA", "AES256-SHA256"] {
        assert!(old.iter().any(|one| one == name), "{name} is not in {old:?}");
    }
    let groups = full["tls"]["groups"].as_array().expect("groups");
    let of = |version: &str| groups.iter().filter(|one| one["version"] == version).count();
    assert_eq!((of("TLSv1.3"), of("TLSv1.2")), (10, 5), "{groups:?}");
    let leaf = &full["tls"]["chains"][0][0];
    assert_eq!((&leaf["key"], &leaf["dns"][0]), (&"RSA 2048".into(), &"scanned".into()));
    assert_eq!(target["service"]["flavour"], "MariaDB");
    // RSA key exchange is taken, and 20 days are left.
    let failed = |rule: &str| {
        let findings = full["findings"].as_array().expect("findings");
        findings.iter().any(|one| one["rule"] == rule && one["verdict"] == "fail")
    };
    assert!(failed("SL1110") && failed("SL1121") && !failed("SL1125"), "{full:#}");
}

#[test]
fn a_full_scan_of_mysql_leaves_others_able_to_connect() {
    let _alone = lab_slot();
    let home = short_dir();
    let dir = home.path();
    let put = |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("writable");
    put("hosts", &format!("127.0.0.1 localhost\n{ADDRESS} scanned\n"));
    put("script", MYSQL_SCRIPT);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fetch = repository.join("scripts/fetch-servers.sh");
    let asked = Command::new(fetch).args(["--where", "mysql-9.7"]).output().expect("bash");
    assert!(asked.status.success(), "no bundle of MySQL 9.7: scripts/setup.sh servers");
    let bundle = PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim());
    let lib = bundle.join("usr/lib/x86_64-linux-gnu");
    let start = repository.join("scripts/start-server.sh");
    let said = in_a_namespace(dir, &[("START", &start), ("BUNDLE", &bundle), ("LIB", &lib)]);
    let number = |what: &str| told(&said, what).parse::<u64>().expect("a number");

    let target = json(dir, "full.json");
    let connections = target["connections"].as_u64().expect("a count");
    assert_eq!(target["service"]["flavour"], "MySQL");
    assert!((20..=65).contains(&connections), "{target:#}");
    assert_eq!((number("limit"), number("before"), number("after")), (100, 0, connections), "{said}");
    assert_eq!(told(&said, "another"), "let in");
    assert_eq!(number("login"), 0);
    assert_eq!((suites(&target, "TLSv1.2").len(), suites(&target, "TLSv1.3").len()), (8, 4), "{target:#}");
    // A login that is refused is no connection error.
    let connections = json(dir, "knocked.json")["connections"].as_u64().expect("a count");
    assert_eq!(number("knocked"), connections - 1, "{said}");
    assert_eq!(told(&said, "once more"), "let in");
}
