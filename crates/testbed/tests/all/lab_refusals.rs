//! What is refused on real servers, one reason after the other on one lab: a clear text, the right exit code, and nothing
//! changed, neither in a file nor in a running server.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use lab::Wait;
use net::ExposeSecret;
use testbed::real::{LabSpec, Program, ProgramOutput, RealLab, files_below, lab_slot};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

const REFUSED: i32 = 6;
const BAD_INPUT: i32 = 2;
const WHOLE_S_MAX: u64 = 90;
const DAY_S: i64 = 86_400;

fn now_unix() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("before the year 292 billion")
}

/// Files on the operator's side: no CA, no journal may come of a refusal.
fn operators(lab: &RealLab) -> Vec<PathBuf> {
    files_below(&lab.dir.join("operator"))
}

/// What was not as it should be; told together at the end of a test, since the cases do not depend on each other.
static FAULTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs `command`; it ends with `code`, says all of `words`, and changes nothing.
fn refused(
    lab: &RealLab,
    code: i32,
    words: &[&str],
    command: impl FnOnce() -> ProgramOutput,
) -> ProgramOutput {
    let before = (lab.files(), lab.live(), operators(lab));
    let said = command();
    let mut faults = Vec::new();
    if said.code != Some(code) {
        faults.push(format!("wrong exit code, not {code}"));
    }
    for word in words.iter().chain(&["why:", "next:"]).filter(|word| !said.stderr.contains(**word)) {
        faults.push(format!("\"{word}\" is not in what it says"));
    }
    for word in ["report this", "panicked", "PRIVATE KEY"].iter().filter(|word| said.stderr.contains(**word))
    {
        faults.push(format!("\"{word}\" is in what it says"));
    }
    if before != (lab.files(), lab.live(), operators(lab)) {
        faults.push("it was refused, and something was changed".into());
    }
    if !faults.is_empty() {
        let text = format!("{}: {}\n{said}", lab.about(), faults.join("; "));
        FAULTS.lock().expect("no test holds it while it panics").push(text);
    }
    said
}

fn no_faults() {
    let faults = std::mem::take(&mut *FAULTS.lock().expect("no test holds it while it panics"));
    assert!(faults.is_empty(), "{} fault(s)\n\n{}", faults.len(), faults.join("\n\n"));
}

/// `sealion enable` is refused with all of `words`.
fn enable_refused(lab: &RealLab, words: &[&str]) -> ProgramOutput {
    refused(lab, REFUSED, words, || lab.run(&["enable", "--yes", "00000000"]))
}

/// A text file as it is now; it is put back at the end, also of a panic.
struct PutBack {
    path: PathBuf,
    text: String,
}

impl PutBack {
    fn edit(path: PathBuf, change: impl FnOnce(&str) -> String) -> Self {
        let text = std::fs::read_to_string(&path).expect("readable");
        let changed = change(&text);
        assert_ne!(text, changed, "the test did not change {}", path.display());
        std::fs::write(&path, changed).expect("writable");
        Self { path, text }
    }
}

impl Drop for PutBack {
    fn drop(&mut self) {
        std::fs::write(&self.path, &self.text).expect("writable");
    }
}

#[test]
fn every_reason_is_told_and_nothing_is_changed() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::GALERA);
    // The control: what is refused below is refused for its own reason.
    lab.plan_hash("enable");

    option_files(&lab);
    places(&lab);
    ports(&lab);
    certificates(&lab);
    the_ca(&lab);
    the_command_itself(&lab);
    weights(&lab);
    servers(&lab);

    lab.now("after all of it the cluster is as it was");
    lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
    lab.plan_hash("enable");
    lab.now("the library that the servers have mapped is told with the plan");
    let said = lab.run(&["plan", "enable", "--format", "json"]).exits(0);
    let plan: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let mapped = |line: &serde_json::Value| {
        let line = line.as_str().expect("text");
        line.starts_with("n1, n2, n3: OpenSSL 3.") && line.ends_with("/libcrypto.so.3): no known fault")
    };
    assert!(plan["impact"].as_array().expect("lines").iter().any(mapped), "{said}");
    no_faults();
}

fn option_files(lab: &RealLab) {
    let cnf = lab.galera_cnf("n2");
    let name = cnf.display().to_string();
    lab.now("a line before any group");
    {
        let _back = PutBack::edit(cnf.clone(), |text| format!("wsrep-on ON\n{text}"));
        enable_refused(lab, &["n2:", &format!("{name}:1:"), "before any group"]);
    }
    lab.now("a group that is not closed");
    {
        let _back = PutBack::edit(cnf.clone(), |text| format!("{text}[sst\ntkey=x\n"));
        enable_refused(lab, &["n2:", &name]);
    }
    lab.now("the file says something else than the server runs with");
    {
        let _back = PutBack::edit(cnf.clone(), |text| text.replace("gcache.size=128M", "gcache.size=64M"));
        enable_refused(lab, &["n2:", &name, "gcache.size", "restart the node"]);
    }
    lab.now("a file that Ansible writes");
    {
        let _back = PutBack::edit(cnf.clone(), |text| format!("# Ansible managed: do not touch\n{text}"));
        enable_refused(
            lab,
            &[
                "n2:",
                &name,
                "Ansible",
                "line 1",
                "zz-sealion.cnf",
                "in the end:",
                "socket.ssl_key",
                "--accept-managed",
            ],
        );
    }
    lab.now("[sst] has a switch of its own");
    {
        let _back = PutBack::edit(cnf.clone(), |text| format!("{text}\n[sst]\nencrypt=3\n"));
        enable_refused(lab, &["n2:", "encrypt=3", "on every node at once"]);
    }
    lab.now("[sst] has somebody else's key");
    {
        let _back = PutBack::edit(cnf, |text| format!("{text}\n[sst]\ntkey=/etc/pki/theirs.pem\n"));
        enable_refused(lab, &["n2:", "tkey is set already", "/etc/pki/theirs.pem"]);
    }
}

/// Something that listens inside the lab; it ends when this is dropped.
struct Listener(Option<Program>);

impl Listener {
    fn at(lab: &RealLab, address: &str) -> Self {
        let (ip, port) = address.split_once(':').expect("an address and a port");
        let mut command = lab.command(&["lab", "exec", "--", "socat"]);
        command.args(["-d", "-d", &format!("TCP-LISTEN:{port},bind={ip},reuseaddr"), "PIPE"]);
        let mut program = Program::start(command);
        assert!(program.says("listening on", Duration::from_secs(10)), "{}", program.stderr());
        Self(Some(program))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(program) = self.0.take() {
            let _ = program.kill();
        }
    }
}

fn ports(lab: &RealLab) {
    lab.now("port in use: where a joiner receives");
    let address = lab.file().node("n2").expect("three nodes").address;
    for port in ["4444", "4568"] {
        let at = format!("{address}:{port}");
        let _listener = Listener::at(lab, &at);
        enable_refused(lab, &["n2:", &format!("port in use: {at}"), "ss -ltnp"]);
    }

    lab.now("port in use: where another lab wants to be");
    {
        // Two labs on one loopback have different addresses; the second of these has the first one's.
        let other = lab.home().join("other");
        let mut command =
            lab.command(&["lab", "exec", "--", "sealion", "lab", "up", "galera", "--no-namespace", "--dir"]);
        command.arg(&other);
        let _listener = Listener::at(lab, "127.77.2.3:4567");
        refused(lab, REFUSED, &["port in use", "127.77.2.3:4567", "ss -ltnp"], || {
            Program::start(command).finish(Duration::from_secs(60))
        });
        assert!(!other.join("n1/data").exists(), "nothing was laid out");
    }
}

fn places(lab: &RealLab) {
    lab.now("the directory of the option files is read-only");
    let dir = lab.node_dir("n2").join("etc/conf.d");
    let mode =
        |bits: u32| std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(bits)).expect("ours");
    mode(0o555);
    enable_refused(lab, &["n2:", &dir.display().to_string(), "cannot be written to"]);
    mode(0o755);

    lab.now("the disk of tls_dir is full");
    let tls_dir = lab.node_dir("n2").join("etc/ssl");
    std::fs::create_dir(&tls_dir).expect("ours");
    let script = format!(
        "mount -t tmpfs -o size=64k none '{}' && exec '{}' enable --yes 00000000",
        tls_dir.display(),
        lab.binary.display()
    );
    // Mounted in a namespace of its own: nobody else sees it, and it is gone with the process.
    let words = ["--user", "--map-root-user", "--mount", "sh", "-c", &script];
    refused(lab, REFUSED, &["n2:", "the disk of", &tls_dir.display().to_string(), "full"], || {
        let mut command = lab.command(&["lab", "exec", "--", "unshare"]);
        command.args(words);
        lab.ended(testbed::real::Program::start(command).finish(Duration::from_secs(60)))
    });
    std::fs::remove_dir(&tls_dir).expect("still empty");
}

struct Pair {
    cert: String,
    key: String,
    ca: String,
}

fn pair(ca: &Ca, ends_in_s: i64) -> Pair {
    let now = now_unix();
    let leaf = ca
        .issue(
            &LeafSpec {
                common_name: "n2".into(),
                dns: vec!["n2".into()],
                ips: vec![],
                valid_days: 30,
                key: KeyKind::EcP256,
                not_before_unix: Some(now - 9 * DAY_S),
                not_after_unix: Some(now + ends_in_s),
            },
            now - 8 * DAY_S,
        )
        .expect("a sound leaf");
    Pair { cert: leaf.cert_pem, key: leaf.key_pem.expose_secret().to_owned(), ca: ca.cert_pem() }
}

fn a_ca(name: &str) -> Ca {
    let spec = CaSpec { common_name: name.into(), valid_days: 300, key: KeyKind::EcP256 };
    Ca::create(&spec, now_unix() - 10 * DAY_S).expect("a sound CA")
}

fn put(dir: &Path, files: &[(&str, &str)]) {
    std::fs::create_dir_all(dir).expect("ours");
    for (name, text) in files {
        std::fs::write(dir.join(name), text).expect("writable");
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o600)).expect("ours");
    }
}

fn certificates(lab: &RealLab) {
    let dir = lab.node_dir("n2").join("etc/ssl");
    let place = dir.display().to_string();
    let ca = a_ca("a CA of theirs");
    let (good, other, expired) = (pair(&ca, DAY_S), pair(&ca, DAY_S), pair(&ca, -DAY_S));
    let all = |cert: &Pair, key: &Pair| {
        put(&dir, &[("node-cert.pem", &cert.cert), ("node-key.pem", &key.key), ("ca.pem", &cert.ca)]);
    };

    lab.now("the certificate has expired");
    all(&expired, &expired);
    enable_refused(lab, &["n2:", &place, "expired"]);

    lab.now("the key is of another certificate");
    all(&good, &other);
    enable_refused(lab, &["n2:", &place, "cannot serve"]);

    lab.now("one of the three files is missing");
    all(&good, &good);
    std::fs::remove_file(dir.join("ca.pem")).expect("there");
    enable_refused(lab, &["n2:", &place, "incomplete", "ca.pem"]);

    lab.now("the certificate is no certificate");
    put(&dir, &[("node-cert.pem", "hello\n"), ("ca.pem", &good.ca)]);
    enable_refused(lab, &["n2:", &place]);
    std::fs::remove_dir_all(&dir).expect("ours");
}

fn the_ca(lab: &RealLab) {
    lab.now("the passphrase is not the CA's");
    let dir = lab.dir.join("operator/ca");
    a_ca("lab").save(&dir, &"another passphrase than the lab has".to_owned().into()).expect("writable");
    enable_refused(lab, &["ca:", &dir.display().to_string(), "passphrase"]);
    std::fs::remove_dir_all(&dir).expect("ours");

    lab.now("others may read the passphrase");
    let path = lab.home().join("passphrase");
    std::fs::write(&path, "not for everybody\n").expect("writable");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("ours");
    let name = path.display().to_string();
    let said = refused(lab, BAD_INPUT, &[&name, "644", "chmod 600"], || {
        lab.run(&["enable", "--yes", "00000000", "--ca-passphrase-file", &name])
    });
    assert!(!said.stderr.contains("everybody"), "{said}");
}

fn the_command_itself(lab: &RealLab) {
    lab.now("another plan than the one that was looked at");
    enable_refused(lab, &["--yes 00000000 does not match the plan", "sealion plan"]);

    lab.now("nobody is there to be asked");
    refused(lab, BAD_INPUT, &["stdin is not a terminal", "--yes"], || lab.run(&["enable"]));

    lab.now("a key of a length that nobody should have");
    refused(lab, BAD_INPUT, &["1024", "from 2048 to 8192 bits"], || lab.run(&["enable", "-b", "1024"]));

    lab.now("nothing to go on with, nothing to undo");
    refused(lab, REFUSED, &["nothing to resume"], || lab.run(&["resume"]));
    refused(lab, REFUSED, &["nothing to undo"], || lab.run(&["undo"]));

    lab.now("no certificate to rotate");
    refused(lab, REFUSED, &["n1:", "no certificate"], || lab.run(&["rotate", "--yes", "00000000"]));

    lab.now("what was set live and would be lost by a restart");
    let set = |node: &str, statement: &str| {
        lab.sql(node).expect("it answers").execute(statement).expect("a statement");
    };
    set("n2", "SET GLOBAL read_only=ON");
    set("n3", "SET GLOBAL max_connections=77");
    set("n3", "SET GLOBAL wsrep_sst_method='mariabackup'");
    let words = ["n2:", "read_only was set live", "n3:", "wsrep_sst_method was set live", "option file"];
    let said = enable_refused(lab, &words);
    assert!(!said.stderr.contains("max_connections"), "that is no reason to refuse\n{said}");
    set("n2", "SET GLOBAL read_only=OFF");
    set("n3", "SET GLOBAL wsrep_sst_method='rsync'");
    let told = "n3: max_connections=77 was set live, and a restart makes it 200 (";
    let plan = lab.run(&["plan", "enable"]).exits(0);
    assert!(plan.stdout.contains(told) && !plan.stdout.contains("read_only"), "{plan}");
    set("n3", "SET GLOBAL max_connections=200");

    the_account_and_the_commands(lab);

    lab.now("an inventory with a typing mistake");
    let broken = lab.home().join("broken.toml");
    std::fs::write(&broken, "[cluster]\nnaem = 'x'\n").expect("writable");
    let name = broken.display().to_string();
    refused(lab, BAD_INPUT, &[&name, "line 2"], || lab.run(&["enable", "--inventory", &name]));
}

fn the_account_and_the_commands(lab: &RealLab) {
    lab.now("an account that lacks a privilege");
    let inventory = || lab.dir.join("sealion.toml");
    let mut root = lab.root("n1");
    for statement in [
        "CREATE ROLE lesser_role",
        "CREATE USER lesser@'%' IDENTIFIED BY 'lesser-secret'",
        // As `sealion grants` prints them, some by a role, but for one.
        "GRANT PROCESS, REPLICA MONITOR ON *.* TO lesser_role",
        "GRANT lesser_role TO lesser@'%'",
        "SET DEFAULT ROLE lesser_role FOR lesser@'%'",
        "GRANT RELOAD ON *.* TO lesser@'%'",
        "GRANT SELECT ON performance_schema.threads TO lesser@'%'",
        "GRANT ALL ON sealion_canary.* TO lesser@'%'",
    ] {
        root.execute(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let login = lab.dir.join("lesser.cnf");
    std::fs::write(&login, "[client]\nuser=lesser\npassword=lesser-secret\n").expect("ours");
    {
        let _back = PutBack::edit(inventory(), |text| text.replace("\"operator.cnf\"", "\"lesser.cnf\""));
        let mode =
            |bits| std::fs::set_permissions(&login, std::fs::Permissions::from_mode(bits)).expect("ours");
        mode(0o644);
        refused(lab, BAD_INPUT, &["lesser.cnf", "mode 644", "chmod 600"], || lab.run(&["plan", "enable"]));
        mode(0o600);
        let statement = "GRANT SUPER ON *.* TO 'lesser'@'%';";
        let words =
            ["n1:", "n2:", "n3:", "'lesser'@'%' lacks privileges", statement, "sealion grants enable"];
        let said = enable_refused(lab, &words);
        let others = ["PROCESS", "REPLICA MONITOR", "RELOAD", "performance_schema", "sealion_canary"];
        assert!(others.iter().all(|has| !said.stderr.contains(has)), "it has these\n{said}");
        // Who only plans is told.
        let plan = lab.run(&["plan", "enable"]).exits(0);
        assert!(plan.stdout.contains(statement), "{plan}");
    }
    for statement in ["DROP USER lesser@'%'", "DROP ROLE lesser_role"] {
        root.execute(statement).expect("it was made");
    }
    std::fs::remove_file(&login).expect("ours");

    lab.now("a command that cannot be run");
    {
        let _back = PutBack::edit(inventory(), |text| {
            text.replacen("start = [\n    \"", "start = [\n    \"/nowhere", 1)
        });
        enable_refused(lab, &["n1:", "its `start` of the inventory cannot be run", "/nowhere"]);
    }

    lab.now("an inventory that is not the one of the plan");
    let hash = lab.plan_hash("enable");
    {
        let _back = PutBack::edit(inventory(), |text| {
            text.replacen("galera_port = ", "names = [\"vip.example.net\"]\ngalera_port = ", 1)
        });
        let words = ["does not match the plan", "inventory", "sealion plan"];
        refused(lab, REFUSED, &words, || lab.run(&["enable", "--yes", &hash[..12]]));
    }
}

/// Provider options of a node, running and in its file.
fn weigh(lab: &RealLab, node: &str, options: &str) -> PutBack {
    lab.root(node).execute(&format!("SET GLOBAL wsrep_provider_options='{options}'")).expect("it is dynamic");
    PutBack::edit(lab.galera_cnf(node), |text| {
        text.replace("gcache.size=128M", &format!("gcache.size=128M;{options}"))
    })
}

fn weights(lab: &RealLab) {
    lab.now("one node has all the weight");
    let _back = ["n2", "n3"].map(|node| weigh(lab, node, "pc.weight=0"));
    let words = ["n1:", "quorum", "pc.weight is 1 on n1, 0 on n2, 0 on n3"];
    let said = enable_refused(lab, &words);
    lab.now("the control: with the weight that it advises, and with weights that differ");
    assert!(said.stderr.contains("on n2: SET GLOBAL wsrep_provider_options='pc.weight=1'"), "{said}");
    {
        let _more = PutBack::edit(lab.galera_cnf("n2"), |text| text.replace("pc.weight=0", "pc.weight=1"));
        lab.root("n2").execute("SET GLOBAL wsrep_provider_options='pc.weight=1'").expect("dynamic");
        lab.plan_hash("enable");
        lab.root("n2").execute("SET GLOBAL wsrep_provider_options='pc.weight=0'").expect("dynamic");
    }
    lab.now("nodes that stay Primary without a quorum");
    for node in ["n2", "n3"] {
        lab.root(node).execute("SET GLOBAL wsrep_provider_options='pc.ignore_quorum=true'").expect("dynamic");
    }
    let _ignore = ["n2", "n3"].map(|node| {
        PutBack::edit(lab.galera_cnf(node), |text| {
            text.replace("pc.weight=0", "pc.weight=0;pc.ignore_quorum=true")
        })
    });
    lab.plan_hash("enable");
    for node in ["n2", "n3"] {
        let options = "pc.weight=1;pc.ignore_quorum=false";
        lab.root(node).execute(&format!("SET GLOBAL wsrep_provider_options='{options}'")).expect("dynamic");
    }
}

fn servers(lab: &RealLab) {
    let at_most = Duration::from_secs(WHOLE_S_MAX);
    lab.now("options on a server's command line");
    let control = lab.open();
    control.stop("n3").expect("it stops");
    control.start("n3", &["--require-secure-transport=OFF"], Wait::Socket).expect("it starts");
    lab.all_synced(at_most);
    enable_refused(lab, &["n3:", "--require_secure_transport", "command line"]);

    lab.now("a node is down");
    control.stop("n3").expect("it stops");
    enable_refused(lab, &["n3:", "the node is down", "start it"]);
    // Both at once: every reason is told.
    {
        let _back = PutBack::edit(lab.galera_cnf("n2"), |text| format!("# Ansible managed\n{text}"));
        enable_refused(lab, &["n3:", "the node is down", "n2:", "Ansible"]);
    }
    control.start("n3", &[], Wait::Nothing).expect("it starts");
    lab.all_synced(at_most);

    lab.now("a server without Galera");
    control.stop("n3").expect("it stops");
    control.start("n3", &["--wsrep-on=OFF", "--wsrep-provider=none"], Wait::Socket).expect("it starts");
    enable_refused(
        lab,
        &["n3:", "it runs outside of the Galera cluster, and its option files make it a node of one"],
    );
    control.stop("n3").expect("it stops");
    control.start("n3", &[], Wait::Nothing).expect("it starts");
    lab.all_synced(at_most);

    lab.now("two nodes of the inventory are one server");
    {
        let (first, second) = (lab.node_dir("n1").join("run/s"), lab.node_dir("n2").join("run/s"));
        let _back = PutBack::edit(lab.dir.join("sealion.toml"), |text| {
            text.replace(&second.display().to_string(), &first.display().to_string())
        });
        enable_refused(lab, &["n2:", "n2 and n1 are one and the same server"]);
    }

    lab.now("a member that the inventory does not know");
    {
        let _back = PutBack::edit(lab.dir.join("sealion.toml"), |text| {
            let third = text.rmatch_indices("[[node]]").next().expect("three nodes").0;
            text[..third].to_owned()
        });
        enable_refused(lab, &["cluster:", "1 members are not in the inventory"]);
    }
}

#[test]
fn two_nodes_are_too_few() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::TWO_NODES);
    lab.now("two nodes");
    enable_refused(&lab, &["cluster:", "2 members", "needs 3", "third node"]);
    no_faults();
}

#[test]
fn a_single_server_has_no_replicas() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    lab.now("a single server");
    let said = lab.run(&["plan", "enable", "replication"]).exits(6);
    for word in ["cluster:", "no server of the inventory is a replica", "sealion plan enable clients"] {
        assert!(said.stderr.contains(word), "{word}: {said}");
    }
    no_faults();
}
