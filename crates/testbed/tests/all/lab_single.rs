//! Servers that are no nodes of a Galera cluster: a lab of one, and what `status` and `config inventory` say of such a server.
#![allow(clippy::unwrap_used)]

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use testbed::real::{Program, lab_slot, need_servers, sealion, short_dir, wait_for};

struct Lab {
    /// It and its contents are gone when this is.
    home: tempfile::TempDir,
}

impl Lab {
    fn up() -> Self {
        need_servers();
        let lab = Self { home: short_dir() };
        let said = Command::new(sealion())
            .args(["lab", "up", "mariadb", "--tls", "--dir"])
            .arg(lab.dir())
            .output()
            .unwrap();
        assert!(said.status.success(), "{said:?}");
        lab
    }

    fn dir(&self) -> PathBuf {
        self.home.path().join("l")
    }

    /// Runs inside of the lab's network.
    fn inside(&self, program: &Path) -> Command {
        let mut command = Command::new(sealion());
        command.args(["lab", "exec", "--dir"]).arg(self.dir()).arg("--").arg(program);
        command.stdin(Stdio::null()).env("HOME", self.home.path());
        command
    }

    fn sealion(&self, words: &[&str]) -> Output {
        self.inside(&sealion()).args(words).output().unwrap()
    }

    fn json(&self, words: &[&str]) -> Value {
        let said = self.sealion(&[&["--format", "json"], words].concat());
        serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{words:?}: {said:?}"))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = Command::new(sealion()).args(["lab", "down", "--dir"]).arg(self.dir()).output();
    }
}

/// Ends with this value.
struct MySql(Child);

impl MySql {
    fn start(lab: &Lab, name: &str, port: &str, options: &[&str]) -> Self {
        let dir = lab.home.path().join(name);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/start-server.sh");
        let cache = std::env::var_os("SEALION_CACHE")
            .or_else(|| {
                std::env::var_os("XDG_CACHE_HOME").map(|cache| PathBuf::from(cache).join("sealion").into())
            })
            .unwrap_or_else(|| {
                PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache/sealion").into()
            });
        let mut command = lab.inside(&script);
        command.arg("mysql-9.7").arg(&dir).arg(port).args(options).env("SEALION_CACHE", cache);
        let mut server = Self(command.spawn().unwrap());
        let socket = dir.join("socket");
        wait_for(Duration::from_secs(90), || {
            assert!(server.0.try_wait().unwrap().is_none(), "{name} ended; sealion lab fetch mysql-9.7");
            UnixStream::connect(&socket).ok()
        })
        .unwrap_or_else(|| panic!("{name} does not come up"));
        server
    }
}

impl Drop for MySql {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn rules(status: &Value) -> Vec<(&str, &str)> {
    let findings = status["findings"].as_array().unwrap();
    findings.iter().map(|one| (one["rule"].as_str().unwrap(), one["verdict"].as_str().unwrap())).collect()
}

/// What is said of a server that is no node of a cluster: nothing about one.
fn is_outside_of_galera(status: &Value) {
    let all = rules(status);
    assert!(all.iter().all(|(rule, _)| !rule.starts_with("SL3")), "{status:#}");
    let rows = status["nodes"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["what"].as_str().unwrap()).collect::<Vec<_>>(), ["client"]);
    assert_eq!(status["cluster"]["arbitrators"], 0, "{status:#}");
    let why = status["not_applicable"][0].as_str().unwrap();
    assert!(why.contains("is not a Galera node"), "{why}");
}

#[test]
fn a_server_outside_of_galera_is_looked_at_as_what_it_is() {
    let _alone = lab_slot();
    let lab = Lab::up();
    let file: Value = serde_json::from_slice(&std::fs::read(lab.dir().join("lab.json")).unwrap()).unwrap();
    let address = file["nodes"][0]["address"].as_str().unwrap().to_owned();
    let login = lab.dir().join("operator.cnf").display().to_string();
    let named = ["--defaults-file", &login, "-h", &address];

    // The lab's promise: TLS is on, and required.
    let status = lab.json(&[&["status", "--look-ms", "0"][..], &named].concat());
    is_outside_of_galera(&status);
    let row = &status["nodes"][0]["rows"][0];
    assert_eq!(row["effective"], "required", "{status:#}");
    assert!(row["not_after_unix"].as_i64().is_some(), "the server tells when it ends: {row}");
    assert!(rules(&status).contains(&("SL2001", "pass")) && rules(&status).contains(&("SL2002", "pass")));
    // For scripts: one line.
    let said = lab.sealion(&[&["status", "--look-ms", "0", "--format", "line"][..], &named].concat());
    let line = String::from_utf8_lossy(&said.stdout).into_owned();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!((said.status.code(), line.lines().count(), words.len()), (Some(0), 1, 10), "{said:?}");
    for word in ["state=up", "galera=-", "sst=-", "replication=-", "client=required/unknown", "findings=0"] {
        assert!(words.contains(&word), "{word}: {line}");
    }
    let days = words.iter().find_map(|word| word.strip_prefix("expires_days=")).expect("a word of each line");
    assert!(days.parse::<i64>().is_ok_and(|days| days > 0) && words[1].starts_with("version=1"), "{line}");
    // It is a cluster of one.
    let out = lab.dir().join("drafted.toml");
    let words = [&["config", "inventory", "--out", out.to_str().unwrap()][..], &named].concat();
    let said = lab.sealion(&words);
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    let draft = std::fs::read_to_string(&out).unwrap();
    assert_eq!(draft.matches("[[node]]").count(), 1, "{draft}");
    assert!(draft.contains("service = \"mariadb.service\"") && draft.contains("pid_file = "), "{draft}");
    assert!(draft.contains(&format!("  {address}:3306  MariaDB ")), "{draft}");
    assert_eq!(lab.sealion(&words).status.code(), Some(2), "it is not overwritten");

    // Outside of the lab's network its socket answers, and no capture there can see its traffic.
    let said = Command::new(sealion())
        .args(["--format", "json", "status", "--inventory"])
        .arg(lab.dir().join("sealion.toml"))
        .output()
        .unwrap();
    let status: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|_| panic!("{said:?}"));
    if capture::can_capture().is_ok() {
        let link = &status["links"][0];
        let why = link["why"].as_str().map_or_else(|| link.to_string(), str::to_owned);
        assert!(why.contains("cannot see this traffic") && why.contains("another network"), "{status:#}");
    } else {
        let why = status["not_looked_at"][0].as_str().unwrap();
        assert!(why.contains("may not capture"), "{status:#}");
    }

    // MySQL has no have_ssl any more.
    let with = MySql::start(&lab, "with", "3307", &[]);
    let of = |port: &'static str| ["status", "--look-ms", "0", "-h", "127.0.0.1", "-P", port, "-u", "root"];
    let status = lab.json(&of("3307"));
    is_outside_of_galera(&status);
    let row = &status["nodes"][0]["rows"][0];
    assert_eq!(row["effective"], "offered", "{status:#}");
    assert!(row["not_after_unix"].as_i64().is_some(), "{row}");
    assert!(rules(&status).contains(&("SL2001", "pass")), "{status:#}");
    drop(with);
    let _without = MySql::start(&lab, "without", "3309", &["--tls-version="]);
    let status = lab.json(&of("3309"));
    assert_eq!(status["nodes"][0]["rows"][0]["effective"], "plain", "{status:#}");
    assert!(rules(&status).contains(&("SL2001", "fail")), "{status:#}");

    // Who does not answer is an error, and no table.
    for (words, why) in [
        (&["status", "-h", "127.0.0.1", "-P", "1", "-u", "root"][..], "Connection refused"),
        (&["status", "-h", "nosuch.invalid", "-u", "root"], "failed to lookup"),
        (&["status", "-h", &address, "-u", "nobody"], "1045"),
    ] {
        let said = lab.sealion(words);
        let error = String::from_utf8_lossy(&said.stderr);
        assert_eq!((said.status.code(), said.stdout.as_slice()), (Some(3), &b""[..]), "{words:?}: {error}");
        assert!(
            error.contains("cannot be checked") && error.contains(why) && error.contains("next:"),
            "{error}"
        );
        assert!(error.lines().count() <= 4, "{error}");
    }
}

#[test]
fn a_lab_takes_no_directory_with_files_in_it_and_leaves_those_that_it_did_not_write() {
    need_servers();
    let _alone = lab_slot();
    let lab = Lab { home: short_dir() };
    let run = |words: &[&str]| {
        let said = Command::new(sealion()).args(words).arg("--dir").arg(lab.dir()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (said.status.code(), text(&said.stdout), text(&said.stderr))
    };
    let theirs = lab.dir().join("keep.txt");
    std::fs::create_dir(lab.dir()).unwrap();
    std::fs::write(&theirs, "precious").unwrap();
    let (code, _, error) = run(&["lab", "up", "mariadb"]);
    assert!(code == Some(2) && error.contains("keep.txt") && error.contains("next:"), "{code:?} {error}");
    assert_eq!(std::fs::read_dir(lab.dir()).unwrap().count(), 1, "nothing was written beside it");

    std::fs::remove_file(&theirs).unwrap();
    assert_eq!(run(&["lab", "up", "mariadb"]).0, Some(0));
    std::fs::write(&theirs, "precious").unwrap();
    for verb in ["kill", "stop"] {
        let (code, _, error) = run(&["lab", verb, "n9"]);
        assert!(code == Some(2) && error.contains("has no node n9"), "{verb}: {error}");
    }
    let (code, told, error) = run(&["lab", "down"]);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(told, format!("left: {}, which the lab did not write\n", theirs.display()));
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(lab.dir()).unwrap().count(), 1, "all of the lab's is gone");

    // What fails half way leaves nobody behind: the data of a new server cannot be made here.
    std::fs::remove_file(&theirs).unwrap();
    let cache = lab.home.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    std::os::unix::fs::symlink(lab::bundle::cache_dir().join("bundles"), cache.join("bundles")).unwrap();
    std::fs::write(cache.join("templates"), "no directory").unwrap();
    let said = Command::new(sealion())
        .args(["lab", "up", "mariadb", "--dir"])
        .arg(lab.dir())
        .env("SEALION_CACHE", &cache)
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(5), "{said:?}");
    let file = lab::LabFile::read(&lab.dir()).unwrap();
    assert!(file.supervisor_pid > 0 && !lab::remains::is_alive(&file), "{file:?}");
    // It is a dead lab's directory: it can be used again.
    assert_eq!(run(&["lab", "up", "mariadb"]).0, Some(0));
    assert_eq!(run(&["lab", "down"]), (Some(0), String::new(), String::new()));
    assert!(!lab.dir().exists());
}

#[test]
fn a_lab_whose_making_is_interrupted_leaves_nothing_behind() {
    need_servers();
    let _alone = lab_slot();
    for by_kill in [false, true] {
        let lab = Lab { home: short_dir() };
        // A shell's background jobs inherit that SIGINT is ignored, and these tests may be in one. `env` becomes sealion by exec.
        let mut command = Command::new("env");
        command
            .arg("--default-signal=INT")
            .arg(sealion())
            .args(["lab", "up", "galera", "--dir"])
            .arg(lab.dir());
        let mut up = Program::start(command);
        assert!(up.says("n2 joins", Duration::from_secs(120)), "{}", up.stderr());
        let file = lab::LabFile::read(&lab.dir()).unwrap();
        assert!(lab::remains::is_alive(&file));
        if by_kill {
            up.kill();
        } else {
            up.interrupt(Duration::from_secs(30));
        }
        // A server that is in the middle of a state transfer takes its time to end.
        // Its supervisor removes the directory and ends then.
        let is_gone = || !lab.dir().exists() && !lab::remains::is_alive(&file);
        let gone = wait_for(Duration::from_secs(300), || is_gone().then_some(()));
        let left = testbed::real::files_below(&lab.dir());
        assert!(gone.is_some(), "by kill: {by_kill}, left: {left:?}");
    }
}
