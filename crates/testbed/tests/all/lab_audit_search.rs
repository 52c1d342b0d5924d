//! What `sealion audit --search` finds in files of a machine, and what every audit says of its jobs. The machine's own homes, directories of
//! temporary files and crontabs are others for the program: those of a world that the test has made. `lab_audit_host` has the servers.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use formats::mylogin;
use testbed::real::bundled::Bundled;
use testbed::real::{Program, ProgramOutput, RealLab};

use crate::lab_audit::{Audited, Expected};

const UP: Duration = Duration::from_secs(60);
/// Everything that must never be told.
const SECRET: &str = "S3cretV";

/// Only with --search.
pub const BY_SEARCH: &[Expected] = &[("SL4203", ""), ("SL4204", ""), ("SL4210", ""), ("SL4211", "")];
/// Of jobs and homes.
pub const BY_JOBS: &[Expected] =
    &[("SL5004", ""), ("SL6001", ""), ("SL6002", ""), ("SL6004", ""), ("SL6005", ""), ("SL6009", "")];

/// In place of the machine's own. What is not bound is hidden by an empty file system.
const IN_A_WORLD: &str = r#"set -e
world=$1 binary=$2 server=$3
shift 3
mount -t tmpfs tmpfs /mnt
mkdir /mnt/world /mnt/server
touch /mnt/sealion
mount --bind "$world" /mnt/world
mount --bind "$server" /mnt/server
mount --bind "$binary" /mnt/sealion
mount -t tmpfs tmpfs /tmp
mkdir -p "$server"
mount --bind /mnt/server "$server"
for place in root home var etc; do mount --bind "/mnt/world/$place" "/$place"; done
mount -t tmpfs tmpfs /run
if [ -d /usr/lib/systemd ]; then mount -t tmpfs tmpfs /usr/lib/systemd; fi
cd /
exec /mnt/sealion "$@""#;

/// A machine with two homes.
fn world(lab: &RealLab, name: &str) -> PathBuf {
    let world = lab.home().join(name);
    for dir in ["root", "home/app", "var/backups", "var/tmp", "etc/cron.d", "etc/systemd/system"] {
        fs::create_dir_all(world.join(dir)).unwrap();
    }
    let passwd = "root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/home/app:/bin/sh\n";
    fs::write(world.join("etc/passwd"), passwd).unwrap();
    world
}

fn write(world: &Path, name: &str, bytes: impl AsRef<[u8]>, mode: u32) {
    let path = world.join(name);
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn audit_in(lab: &RealLab, world: &Path, server: &Bundled, words: &[&str]) -> ProgramOutput {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", IN_A_WORLD, "sh"]);
    command.arg(world).arg(&lab.binary).arg(&server.dir);
    command
        .args(["--format", "json", "audit", "-u", "root", "-S"])
        .arg(server.dir.join("socket"))
        .args(words);
    command.current_dir(lab.home());
    let said = Program::start(command).finish(UP).exits(0);
    assert!(!said.stdout.contains(SECRET), "a secret is told: {said}");
    said
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    let length = u32::try_from(plain.len()).unwrap().to_le_bytes();
    let body = miniz_oxide::deflate::compress_to_vec(plain, 6);
    // Nobody looks at the checksum of a beginning.
    [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &body, &[0; 4], &length].concat()
}

fn login_file(world: &Path, mode: u32) {
    let plain = format!("[backup]\nuser = \"root\"\npassword = \"{SECRET}\"\nhost = \"db2\"\n");
    let bytes = mylogin::encode(plain.as_bytes(), &[7; mylogin::LOGIN_KEY_BYTES]).unwrap();
    write(world, "home/app/.mylogin.cnf", bytes, mode);
}

/// A server that writes statements down, on a machine with dumps and careless jobs.
pub fn leaves_secrets_about(lab: &RealLab, server: &Bundled) {
    let world = world(lab, "careless");
    server.run(&[
        &format!("CREATE USER s@localhost IDENTIFIED BY '{SECRET}'"),
        &format!("SET PASSWORD FOR s@localhost = PASSWORD('{SECRET}')"),
        &format!("CREATE USER t@localhost IDENTIFIED BY '{SECRET}'"),
    ]);
    let rotated = format!("2 Query\tSELECT AES_ENCRYPT('a', '{SECRET}')\n");
    write(&server.dir, "data/general.log.1", rotated, 0o600);
    write(&world, "root/.mysql_history", "_HiStOrY_V2_\nSELECT\\0401;\n", 0o600);
    let history = format!("_HiStOrY_V2_\nSET\\040PASSWORD\\040=\\040PASSWORD('{SECRET}');\n");
    write(&world, "home/app/.mariadb_history", history, 0o600);
    write(&world, "var/backups/app.sql.gz", gzipped(b"-- MySQL dump 10.13  Distrib 9.7.4\n"), 0o600);
    fs::copy(server.dir.join("data/mysql/innodb_index_stats.ibd"), world.join("home/app/holiday.jpg"))
        .unwrap();
    login_file(&world, 0o644);
    let tab = format!(
        "0 3 * * * root mysqldump -h db2 --skip-ssl -p{SECRET} app | nc 10.0.0.7 9999\n1 3 * * * root /etc/backup.sh\n"
    );
    write(&world, "etc/crontab", tab, 0o644);
    let script = "#!/bin/sh\ntar c /b | openssl enc -aes-256-cbc -pass file:/k |\n  ssh -o StrictHostKeyChecking=no b 'cat > x'\n";
    write(&world, "etc/backup.sh", script, 0o755);
    write(&world, "etc/systemd/system/dump.timer", "[Timer]\nOnCalendar=daily\n", 0o644);
    let unit = format!("[Service]\nExecStart=/usr/bin/mysqldump --password={SECRET} app\n");
    write(&world, "etc/systemd/system/dump.service", unit, 0o644);

    let said = audit_in(lab, &world, server, &["--search", "--search-dir", "/nowhere"]);
    let seen = Audited::of(&said);
    seen.fails(BY_SEARCH);
    seen.fails(BY_JOBS);
    let why = |rule: &str| -> String {
        let found = seen.findings().find(|one| one.0 == rule && one.1 == "fail");
        found.unwrap_or_else(|| panic!("{rule} does not fail")).3.to_owned()
    };
    for (rule, words) in [
        (
            "SL4203",
            &[
                "data/general.log: password of IDENTIFIED BY, 2 times, first at byte",
                "SET PASSWORD",
                "general.log.1: key of AES",
            ][..],
        ),
        ("SL4204", &["data/bin.000001: password of IDENTIFIED BY, 2 times"]),
        ("SL4210", &["/home/app/.mariadb_history: password of SET PASSWORD, at byte 13"]),
        (
            "SL4211",
            &[
                "/var/backups/app.sql.gz: a compressed dump",
                "/home/app/holiday.jpg: a copy of a tablespace",
                "data/app.sql: a dump",
                "not searched: /nowhere: it is not there",
            ],
        ),
        ("SL5004", &["/home/app/.mylogin.cnf has mode 0644: [backup] root at db2"]),
        ("SL6001", &["/etc/crontab:1: mysqldump of db2"]),
        ("SL6002", &["/etc/crontab:1: nc without TLS"]),
        ("SL6004", &["/etc/crontab:1: mysqldump -p...", "dump.service:2: mysqldump --password="]),
        ("SL6005", &["/etc/backup.sh:2: openssl enc without -pbkdf2"]),
        ("SL6009", &["/etc/backup.sh:2: ssh with stricthostkeychecking=no"]),
    ] {
        for words in words {
            assert!(why(rule).contains(words), "{rule}: \"{words}\" is not in {}", why(rule));
        }
    }
    // Nothing of it is judged where nobody has asked for it, and that is said.
    let said = audit_in(lab, &world, server, &[]);
    let seen = Audited::of(&said);
    seen.fails(BY_JOBS);
    for rule in ["SL4203", "SL4204", "SL4210"] {
        assert!(!seen.findings().any(|one| one.0 == rule), "{rule} is judged without --search");
    }
    assert!(said.stdout.contains("sealion audit --search looks for them"), "{said}");
}

/// The same of a careful one. Its homes may not be read by others, and are here.
pub fn leaves_nothing_about(lab: &RealLab, server: &Bundled) {
    let world = world(lab, "careful");
    server
        .run(&["CREATE USER s@localhost IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'"]);
    write(&world, "root/.mysql_history", "_HiStOrY_V2_\nSELECT\\040IDENTIFIED;\n", 0o600);
    write(&world, "var/backups/app.sql.age", "age-encryption.org/v1\n", 0o600);
    write(&world, "var/backups/dpkg.status.0.gz", gzipped(b"Package: mysql-server\n"), 0o600);
    login_file(&world, 0o600);
    let tab = "SHELL=/bin/sh\n0 3 * * * root mysqldump --defaults-extra-file=/root/.my.cnf app | age -r age1x | ssh b 'cat > x'\n\
               1 3 * * * root mysqldump -h db2 --ssl-mode=VERIFY_IDENTITY --ssl-ca=/ca.pem app > /b/x\n";
    write(&world, "etc/crontab", tab, 0o644);
    let seen = Audited::of(&audit_in(lab, &world, server, &["--search"]));
    seen.passes(BY_SEARCH.iter().chain(BY_JOBS).map(|(rule, _)| *rule));

    // An encrypted log is not clean; a home that cannot be read is not without a history.
    write(&server.dir, "data/bin.000077", [&b"\xfdbin\x01\x01\x03key"[..], &[0; 600]].concat(), 0o600);
    fs::create_dir(world.join("root/.mariadb_history")).unwrap();
    let seen = Audited::of(&audit_in(lab, &world, server, &["--search"]));
    for (rule, words) in
        [("SL4204", "1 file is encrypted"), ("SL4210", "/root/.mariadb_history: it is a directory")]
    {
        let is_unknown =
            seen.findings().any(|one| one.0 == rule && one.1 == "unknown" && one.3.contains(words));
        assert!(is_unknown, "{rule}: {:?}", seen.findings().filter(|one| one.0 == rule).collect::<Vec<_>>());
    }
}
