//! What an audit says of a server's certificate, of its machine and of a Galera node, on real ones: each rule is seen failing and passing.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use testbed::real::bundled::{Bundled, bundle};
use testbed::real::{LabSpec, Program, RealLab, lab_slot, wait_for};
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

use crate::lab_audit::{Audited, Expected, audit_with};
use crate::lab_audit_kept::is_as_kept;
use crate::lab_audit_search::{leaves_nothing_about, leaves_secrets_about};

const UP: Duration = Duration::from_secs(60);

/// Of a server whose files are open, and whose certificate is weak.
pub const BY_HOST: &[Expected] = &[
    ("SL1122", ""),
    ("SL1123", ""),
    ("SL1124", ""),
    ("SL1125", ""),
    ("SL2004", ""),
    ("SL2011", ""),
    ("SL2703", ""),
    ("SL2801", ""),
    ("SL2802", ""),
    ("SL2803", ""),
    ("SL2806", ""),
    ("SL2813", ""),
    ("SL2817", ""),
    ("SL2818", ""),
    ("SL4211", ""),
    ("SL4213", ""),
    ("SL4221", ""),
    // After its files were changed.
    ("SL2008", ""),
    ("SL2024", ""),
    ("SL2025", ""),
    ("SL2105", ""),
    ("SL2005", ""),
    ("SL2006", ""),
];
/// Of nodes of Galera.
pub const GALERA_FAILS: &[Expected] = &[
    ("SL3001", ""),
    ("SL3002", ""),
    ("SL3003", ""),
    ("SL3004", ""),
    ("SL3106", ""),
    ("SL3108", ""),
    ("SL3203", ""),
    ("SL2804", ""),
    ("SL2805", ""),
];

/// The options of a certificate with the names of the lab, of a CA of its own.
pub struct OwnLeaf {
    pub ca: String,
    pub cert: String,
    pub key: String,
}

impl OwnLeaf {
    pub fn make(lab: &RealLab, name: &str) -> Self {
        let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap();
        let ca = CaSpec { common_name: "lab".into(), valid_days: 3650, key: KeyKind::EcP256 };
        let ca = Ca::create(&ca, now).unwrap();
        let leaf = LeafSpec {
            common_name: name.into(),
            dns: vec!["localhost".into()],
            ips: vec!["127.0.0.1".parse().unwrap(), "10.99.0.1".parse().unwrap()],
            valid_days: 100,
            key: KeyKind::EcP256,
            not_before_unix: None,
            not_after_unix: None,
        };
        let leaf = ca.issue(&leaf, now).unwrap();
        let write = |what: &str, bytes: &[u8], mode: u32| {
            let path = lab.home().join(format!("{name}-{what}.pem"));
            fs::write(&path, bytes).unwrap();
            set_mode(&path, mode);
            format!("--ssl-{what}={}", path.display())
        };
        Self {
            ca: write("ca", ca.cert_pem().as_bytes(), 0o644),
            cert: write("cert", leaf.cert_pem.as_bytes(), 0o644),
            key: write("key", secret(&leaf.key_pem).as_bytes(), 0o600),
        }
    }
}

fn secret(text: &secrecy::SecretString) -> &str {
    use secrecy::ExposeSecret;
    text.expose_secret()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The modes that a package sets.
pub fn close(server: &Bundled) {
    set_mode(&server.dir, 0o755);
    set_mode(&server.dir.join("data"), 0o750);
}

/// A directory with the plugins of a bundle in which nobody may write.
pub fn plugins(lab: &RealLab, name: &str) -> String {
    let dir = lab.home().join(format!("plugins-{name}"));
    fs::create_dir(&dir).unwrap();
    for file in fs::read_dir(bundle(name).join("usr/lib/mysql/plugin")).unwrap() {
        let file = file.unwrap();
        symlink(file.path(), dir.join(file.file_name())).unwrap();
    }
    set_mode(&dir, 0o555);
    format!("--plugin-dir={}", dir.display())
}

/// A cache of bundles with one whose program can be removed.
fn own_program(lab: &RealLab, name: &str) -> (PathBuf, PathBuf) {
    let cache = lab.home().join("cache");
    let copy = cache.join("bundles").join(name);
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    let status = Command::new("cp").arg("-as").arg(bundle(name)).arg(&copy).status().unwrap();
    assert!(status.success());
    let program = copy.join("usr/sbin/mariadbd");
    let original = fs::canonicalize(&program).unwrap();
    fs::remove_file(&program).unwrap();
    fs::copy(original, &program).unwrap();
    (cache, program)
}

/// A key and a certificate as nobody makes them any more, without a name.
fn weak_leaf(lab: &RealLab) -> (PathBuf, PathBuf) {
    let (cert, key) = (lab.home().join("weak-cert.pem"), lab.home().join("weak-key.pem"));
    let status = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:1024", "-nodes", "-sha1", "-days", "365", "-subj", "/CN=x"])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&cert)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    set_mode(&key, 0o644);
    (cert, key)
}

/// An audit by somebody who sees the server as a process of root's, on a machine with swap in cleartext.
fn as_root_with_swap(lab: &RealLab, server: &Bundled) -> Audited {
    let swaps = lab.home().join("swaps");
    fs::write(&swaps, "Filename Type Size Used Priority\n/dev/sda2 partition 1048572 0 -2\n").unwrap();
    let mut command = Command::new("unshare");
    // The user is root in there, and mounts are its own.
    command.args([
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        "mount --bind \"$1\" /proc/swaps && shift && exec \"$@\"",
        "sh",
    ]);
    command.arg(&swaps).arg(&lab.binary).args(["--format", "json", "audit", "-u", "root", "-S"]);
    command.arg(server.dir.join("socket")).current_dir(lab.home());
    Audited::of(&Program::start(command).finish(UP).exits(0))
}

const BUNDLE: &str = "galera-10.11";

#[test]
fn each_rule_about_a_certificate_and_a_machine_fails_and_passes() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    lab.now("a server that is open to everybody");
    let (cache, program) = own_program(&lab, BUNDLE);
    let (weak_cert, weak_key) = weak_leaf(&lab);
    let store = trust::system_bundle().expect("this machine trusts public CAs: install ca-certificates");
    let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
    let bad = Bundled::start_with(
        &lab,
        BUNDLE,
        13_366,
        &[("SEALION_CACHE", &cache.display().to_string()), ("MYSQL_PWD", "x")],
        &[
            &option("ssl-cert", &weak_cert),
            &option("ssl-key", &weak_key),
            &option("ssl-ca", &store),
            "--ssl-cipher=DEFAULT:@SECLEVEL=0",
            "--loose-hashicorp-key-management-token=x",
            "--general-log=ON",
            "--general-log-file=general.log",
            "--log-bin=bin",
            "--server-id=1",
        ],
    );
    fs::remove_file(program).unwrap();
    set_mode(&bad.dir, 0o777);
    let data = bad.dir.join("data");
    for file in ["ibdata1", "general.log"] {
        set_mode(&data.join(file), 0o644);
    }
    fs::write(data.join("app.sql"), "-- MariaDB dump").unwrap();
    bad.run(&["CREATE USER e1@'%'"]);
    let mut hold =
        lab.command(&["lab", "exec", "--", "mariadb", "--no-defaults", "--protocol=tcp", "--skip-ssl"]);
    hold.args(["-h", "127.0.0.1", "-P", &bad.port.to_string(), "-u", "e1", "-e", "SELECT SLEEP(300)"]);
    let held = Program::start(hold);
    // Whole seconds are told of both ages.
    let is_there = wait_for(UP, || {
        let old = "SELECT COUNT(*) FROM information_schema.PROCESSLIST \
                   WHERE USER = 'e1' AND COMMAND = 'Query' AND TIME >= 3";
        (bad.sql().query(old).ok()?.scalar()? == "1").then_some(())
    });
    assert!(is_there.is_some(), "{}", held.stderr());
    let port = bad.port.to_string();
    let first = [
        "SL1122", "SL1123", "SL1124", "SL2004", "SL2011", "SL2703", "SL2801", "SL2802", "SL2803", "SL2813",
        "SL2817", "SL2818", "SL4211", "SL4221",
    ];
    let of = |ids: &[&str]| -> Vec<Expected> {
        BY_HOST.iter().filter(|(id, _)| ids.contains(id)).copied().collect()
    };
    audit_with(&lab, &bad, "root", &[]).fails(&of(&first));
    // As clients connect; from there its files are not looked at.
    let words = ["--format", "json", "audit", "-h", "127.0.0.1", "-P", &port, "-u", "root"];
    let seen = Audited::of(&lab.run(&words).exits(0));
    seen.fails(&of(&["SL1125"]));
    for rule in ["SL2004", "SL2801", "SL2806", "SL4213"] {
        let is_unknown =
            |one: &(&str, &str, &str, &str)| one.0 == rule && one.1 == "unknown" && one.3.contains("(-S)");
        assert!(seen.findings().any(|one| is_unknown(&one)), "{rule} is judged from afar");
    }
    as_root_with_swap(&lab, &bad).fails(&of(&["SL2806", "SL4213"]));

    lab.now("what is written down and lies about");
    leaves_secrets_about(&lab, &bad);

    lab.now("its files are replaced");
    // The other one, and its key, are of another pair each; the one that is served begins behind the session.
    let (new_cert, new_key) = weak_leaf(&lab);
    bad.run(&["FLUSH SSL"]);
    audit_with(&lab, &bad, "root", &[]).fails(&of(&["SL2105"]));
    drop(held);
    let own = OwnLeaf::make(&lab, "other");
    let path_of = |option: &str| option.split_once('=').unwrap().1.to_owned();
    fs::copy(path_of(&own.cert), &new_cert).unwrap();
    audit_with(&lab, &bad, "root", &[]).fails(&of(&["SL2008", "SL2024", "SL2025"]));
    // Somebody else's, who need not be known in there.
    fs::remove_file(&new_key).unwrap();
    if nix::unistd::geteuid().is_root() {
        fs::copy(path_of(&own.key), &new_key).unwrap();
        nix::unistd::chown(&new_key, Some(nix::unistd::Uid::from_raw(12_345)), None).unwrap();
    } else {
        symlink("/etc/passwd", &new_key).unwrap();
    }
    fs::remove_file(&new_cert).unwrap();
    audit_with(&lab, &bad, "root", &[]).fails(&of(&["SL2005", "SL2006"]));
    drop(bad);

    lab.now("a server that is closed");
    let leaf = OwnLeaf::make(&lab, "closed");
    // A log that the server names, and in which the test sees that it is up.
    let error_log = lab.home().join("b13376/log.err");
    fs::create_dir(error_log.parent().unwrap()).unwrap();
    symlink("log.err", lab.home().join("b13376/log")).unwrap();
    let good = Bundled::start(
        &lab,
        BUNDLE,
        13_376,
        &[
            &leaf.ca,
            &leaf.cert,
            &leaf.key,
            &plugins(&lab, BUNDLE),
            "--general-log=ON",
            "--log-bin=bin",
            "--server-id=2",
            &option("log-error", &error_log),
        ],
    );
    close(&good);
    set_mode(&error_log, 0o640);
    let seen = audit_with(&lab, &good, "root", &[]);
    let by_name = ["SL1125"];
    seen.passes(BY_HOST.iter().map(|(id, _)| *id).filter(|id| !by_name.contains(id)));
    let port = good.port.to_string();
    let words = ["--format", "json", "audit", "-h", "127.0.0.1", "-P", &port, "-u", "root"];
    Audited::of(&lab.run(&words).exits(0)).passes(by_name);
    leaves_nothing_about(&lab, &good);
}

#[test]
fn each_rule_about_galera_fails_and_passes() {
    let _alone = lab_slot();
    let audit_all = |lab: &RealLab| Audited::of(&lab.run(&["--format", "json", "audit"]).exits(0));
    {
        let lab = RealLab::up(LabSpec::GALERA);
        lab.now("plain nodes");
        let file = lab.galera_cnf("n1");
        let text = fs::read_to_string(&file).unwrap();
        let changed = text.replace("gcache.size=128M", "gcache.size=128M;gcs.fc_limit=99");
        assert_ne!(text, changed, "{text}");
        fs::write(&file, changed + "\n[mysqldump]\npassword=x\n").unwrap();
        set_mode(&file, 0o644);
        let seen = audit_all(&lab);
        seen.fails(&[("SL3001", "n1"), ("SL3002", "n1"), ("SL3003", "n1"), ("SL2804", "n1")]);
        seen.passes(["SL3004"]);
        set_mode(&file, 0o666);
        audit_all(&lab).fails(&[("SL2805", "n1")]);

        lab.now("a node of its own");
        let provider = bundle(BUNDLE).join("usr/lib/galera/libgalera_smm.so");
        let alone = Bundled::start(
            &lab,
            BUNDLE,
            13_386,
            &[
                "--wsrep-on=ON",
                &format!("--wsrep-provider={}", provider.display()),
                "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:13387",
                "--wsrep-cluster-address=gcomm://",
                "--wsrep-new-cluster",
                "--wsrep-node-address=203.0.113.7",
                "--wsrep-sst-method=mysqldump",
                "--binlog-format=ROW",
            ],
        );
        audit_with(&lab, &alone, "root", &[]).fails(&[
            ("SL3001", ""),
            ("SL3004", ""),
            ("SL3106", ""),
            ("SL3108", ""),
            ("SL3203", ""),
        ]);
    }
    let lab = RealLab::up(LabSpec::SEALED);
    lab.now("sealed nodes");
    let seen = audit_all(&lab);
    is_as_kept("sealed-galera", &seen);
    seen.passes(GALERA_FAILS.iter().map(|(id, _)| *id).chain(["SL1125"]));
    accounts_of_a_cluster_are_changed_once(&lab);
    unusable_renewal_is_never_to_be_loaded(&lab);
}

/// Each member applies what one of them writes, and needs the plugin before.
fn accounts_of_a_cluster_are_changed_once(lab: &RealLab) {
    let plan = lab.run(&["--format", "json", "audit", "--fix-plan"]).exits(0).json();
    let servers_of = |start: &str| -> Vec<String> {
        let steps = plan["steps"].as_array().unwrap().iter();
        let has_it =
            |step: &&serde_json::Value| step["sql"][0].as_str().is_some_and(|sql| sql.starts_with(start));
        steps.filter(has_it).map(|step| step["server"].as_str().unwrap().to_owned()).collect()
    };
    for start in ["ALTER USER", "RENAME USER", "DROP USER"] {
        let servers = servers_of(start);
        assert!(servers.iter().all(|server| server == "n1"), "{start}: {servers:?}");
    }
    assert!(!servers_of("ALTER USER").is_empty());
    let mut installed = servers_of("INSTALL PLUGIN IF NOT EXISTS ed25519");
    assert_eq!(installed.pop().as_deref(), Some("n1"), "the others come first");
    installed.sort();
    assert_eq!(installed, ["n2", "n3"]);
}

/// A certificate of the lab's CA for the key that a node has, as its operator would renew it.
fn renewed(lab: &RealLab, node: &str, uses: &str) {
    let dir = lab.tls_dir(node);
    let (request, extensions) = (lab.home().join("renewed.csr"), lab.home().join("renewed.ext"));
    let run = |command: &mut Command| {
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    run(Command::new("openssl")
        .args(["req", "-new", "-subj", &format!("/CN={node}"), "-key"])
        .arg(dir.join("node-key.pem"))
        .arg("-out")
        .arg(&request));
    let number = node.trim_start_matches('n');
    let text = format!(
        "basicConstraints=critical,CA:FALSE\nextendedKeyUsage={uses}\nsubjectAltName=DNS:{node},DNS:localhost,IP:127.77.1.{number}\n"
    );
    fs::write(&extensions, text).unwrap();
    let ca = lab.dir.join("operator/ca");
    let new = lab.home().join("renewed.pem");
    run(Command::new("openssl")
        .args(["x509", "-req", "-days", "90", "-in"])
        .arg(&request)
        .arg("-CA")
        .arg(ca.join("ca.pem"))
        .arg("-CAkey")
        .arg(ca.join("ca-key.pem"))
        .arg("-passin")
        .arg(format!("file:{}", lab.dir.join("operator/ca-passphrase").display()))
        .args(["-set_serial", "0x7f03", "-extfile"])
        .arg(&extensions)
        .arg("-out")
        .arg(&new));
    fs::write(dir.join("node-cert.pem"), fs::read(new).unwrap()).unwrap();
}

/// Before it is loaded, and as long as the next restart would lock the node out.
fn unusable_renewal_is_never_to_be_loaded(lab: &RealLab) {
    let cert = lab.tls_dir("n3").join("node-cert.pem");
    let before = fs::read(&cert).unwrap();
    let audited = || Audited::of(&lab.run(&["--format", "json", "audit"]).exits(0));
    let of = |seen: &Audited, rule: &str| -> Vec<String> {
        let of_n3 = seen.findings().filter(|one| one.0 == rule && one.2 == "n3");
        of_n3.map(|one| one.1.to_owned()).collect()
    };
    let said_by_status = || {
        let whole = lab.look(false);
        let findings = whole["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|one| one["rule"] == "SL2025" && one["subject"] == "n3").unwrap()
    };
    let is_to_be_loaded = || {
        let plan = lab.run(&["--format", "json", "audit", "--fix-plan"]).exits(0).json();
        plan["steps"].to_string().contains("FLUSH SSL")
    };
    lab.now("a renewed certificate that members refuse");
    renewed(lab, "n3", "serverAuth");
    let seen = audited();
    seen.fails(&[("SL2025", "n3"), ("SL2024", "n3")]);
    let why = seen.findings().find(|one| one.0 == "SL2025" && one.1 == "fail").unwrap().3;
    assert!(why.contains("TLS client") && !why.contains('\n'), "{why}");
    assert_eq!(said_by_status()["why"], why, "two commands judge it alike");
    assert!(!is_to_be_loaded());
    lab.root("n3").execute("FLUSH SSL").unwrap();
    let seen = audited();
    assert_eq!((of(&seen, "SL2024"), of(&seen, "SL2025")), (vec!["pass".into()], vec!["fail".into()]));
    assert_eq!(said_by_status()["verdict"], "fail");

    lab.now("one that they accept");
    renewed(lab, "n3", "serverAuth,clientAuth");
    let seen = audited();
    assert_eq!((of(&seen, "SL2024"), of(&seen, "SL2025")), (vec!["fail".into()], vec!["pass".into()]));
    assert_eq!(said_by_status()["verdict"], "pass");
    assert!(is_to_be_loaded());
    fs::write(&cert, before).unwrap();
    lab.root("n3").execute("FLUSH SSL").unwrap();
    lab.is_sealed();
}
