//! Archives whose program is killed, or whose disk is full: nothing that is left looks whole.
//!
//! `SEALION_SEED=N` repeats the moments.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use testbed::real::{sealion, wait_for};
use testbed::sim::rng::Rng;

const PATIENCE: Duration = Duration::from_secs(120);
const MARK: &str = ".sealion-incomplete";

fn seed() -> u64 {
    let given = std::env::var("SEALION_SEED").ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| u64::from(std::process::id()))
}

/// A place with a key, and a directory of some megabytes that cannot be compressed.
struct Setup {
    place: tempfile::TempDir,
    rng: Rng,
}

impl Setup {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut rng = Rng::new(seed());
        let key = fs::File::options().write(true).create_new(true).mode(0o600).open(place.path().join("key"));
        std::io::Write::write_all(&mut key.unwrap(), "7a".repeat(32).as_bytes()).unwrap();
        fs::create_dir(place.path().join("from")).unwrap();
        for (name, words) in [("t1.ibd", 500_000), ("t2.ibd", 70_001), ("empty.ibd", 0)] {
            let bytes: Vec<u8> =
                (0..words).flat_map(|_| rng.between(0, u64::MAX - 1).to_le_bytes()).collect();
            fs::write(place.path().join("from").join(name), bytes).unwrap();
        }
        Self { place, rng }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn archive(&self, verb: &str, file: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(sealion());
        command.args(["archive", verb]).arg(file).arg("--key-file").arg(self.at("key")).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, verb: &str, file: &Path, arguments: &[&str]) -> Output {
        self.archive(verb, file, arguments).output().unwrap()
    }

    fn from(&self) -> [String; 2] {
        ["--from".into(), self.at("from").to_str().unwrap().into()]
    }
}

fn partial(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(MARK);
    name.into()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_archive_whose_program_is_killed_has_no_name_and_opens_for_nobody() {
    let mut setup = Setup::new();
    let file = setup.at("full.archive");
    let left = partial(&file);
    // It never ends while this test runs: there is something to kill at any number of bytes, however late.
    let all = format!(
        "for part in 1 2 3 4 5 6 7 8; do head -c 524288 {}; sleep 0.05; done",
        setup.at("from/t1.ibd").display()
    );
    let endless = format!("{all}; while [ -d {} ]; do sleep 0.1; done", setup.at("from").display());
    for round in 0..6 {
        let wanted = setup.rng.between(0, 3 << 20);
        let mut child = setup
            .archive("create", &file, &["--from-command", &endless])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let begun = wait_for(PATIENCE, || {
            let has = fs::metadata(&left).map(|about| about.len());
            has.is_ok_and(|has| has >= wanted).then_some(())
        });
        assert!(begun.is_some(), "seed {}, round {round}: {wanted} bytes never came", seed());
        child.kill().unwrap();
        child.wait().unwrap();
        let context = format!("seed {}, round {round}, killed behind {wanted} bytes", seed());
        assert!(!file.exists() && left.exists(), "{context}");
        let checked = setup.run("check", &left, &[]);
        assert!(!checked.status.success() && !told(&checked).contains("internal"), "{context}");
        // Whoever ignores its name gets nothing that counts, either.
        let renamed = setup.at("renamed.archive");
        fs::rename(&left, &renamed).unwrap();
        let out = setup.run("extract", &renamed, &["--to-stdout"]);
        assert!(!out.status.success(), "{context}");
        fs::rename(&renamed, &left).unwrap();
        // The next one says what lies in its way, and does not write over it.
        let again = setup.run("create", &file, &["--from-command", "true"]);
        assert!(again.status.code() == Some(2) && told(&again).contains(MARK), "{context}: {}", told(&again));
        fs::remove_file(&left).unwrap();
    }
    let whole = setup.run("create", &file, &["--from-command", &all]);
    assert!(whole.status.success() && !left.exists(), "{}", told(&whole));
    assert!(setup.run("check", &file, &[]).status.success());
}

#[test]
fn an_archive_that_the_disk_has_no_room_for_is_not_there_and_the_next_one_is() {
    let setup = Setup::new();
    let whole = setup.at("whole.archive");
    let [option, from] = setup.from();
    assert!(setup.run("create", &whole, &[&option, &from]).status.success());
    let bytes = fs::metadata(&whole).unwrap().len();
    // In units that one shell takes for 512 bytes, another one for 1,024.
    let all = (bytes - 1) / 1024;
    for blocks in [0, 1, all / 3, all] {
        let file = setup.at("full.archive");
        // A limit instead of a disk: the same error at the same places, and no root.
        let script = r#"trap '' XFSZ; ulimit -f "$1"; shift; exec "$@""#;
        let create = setup.archive("create", &file, &[&option, &from]);
        let done = Command::new("sh")
            .args(["-c", script, "sh", &blocks.to_string()])
            .arg(create.get_program())
            .args(create.get_args())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let told = told(&done);
        assert_eq!(done.status.code(), Some(3), "{blocks}: {told}");
        assert!(told.contains("File too large") && told.contains("no archive was made"), "{blocks}: {told}");
        assert!(!file.exists() && !partial(&file).exists(), "{blocks}: something is left");
        // The name is free.
        assert!(setup.run("create", &file, &[&option, &from]).status.success(), "{blocks}");
        assert!(setup.run("check", &file, &[]).status.success(), "{blocks}");
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn what_is_in_an_archive_is_listed_in_80_columns_however_long_its_names_are() {
    let setup = Setup::new();
    let directory = setup.at("from").join("a_schema_with_a_long_name_".repeat(3));
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    let name = format!("{}.ibd", "a_table_whose_name_is_long_too_".repeat(3));
    fs::write(directory.join(&name), b"rows").unwrap();
    let file = setup.at("full.archive");
    let [option, from] = setup.from();
    assert!(setup.run("create", &file, &[&option, &from]).status.success());
    let checked = setup.run("check", &file, &[]);
    let out = String::from_utf8(checked.stdout).unwrap();
    assert!(checked.status.success() && out.contains("t1.ibd"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    // All of it is there, in its order.
    let listed: String = out.lines().map(|line| line.split_whitespace().next().unwrap_or_default()).collect();
    assert!(listed.contains(&name), "{out}");
}
