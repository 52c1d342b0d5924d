//! A `ssh` that is a shell of this machine, with a home of its own; the program that is brought there is a script that leads to an
//! agent in this test program.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::super::connection::Connection;
use super::super::{AgentProgram, Remote, agent};
use super::*;
use crate::ReadHost;

/// What a pushed program becomes.
#[test]
#[ignore = "the far end of the other tests"]
fn far_end() {
    let read = agent::serve(io::stdin().lock(), io::stdout(), AgentMode::Read, "0.0.0", vec![]);
    read.expect("requests");
}

struct FarMachine {
    dir: TempDir,
}

impl FarMachine {
    fn new() -> Self {
        let far = Self { dir: tempfile::tempdir().expect("tmp") };
        fs::create_dir(far.home()).expect("writable");
        fs::create_dir(far.dir.path().join("tools")).expect("writable");
        let itself = std::env::current_exe().expect("a program");
        far.program_is(&format!(
            "case \"$1\" in --version) exit 0;; esac\nexec '{}' --exact remote::push::tests::far_end --ignored --nocapture\n",
            itself.display()
        ));
        let ssh = format!(
            "for last; do :; done\nexport HOME='{}' PATH='{}':\"$PATH\"\nexec sh -c \"$last\"\n",
            far.home().display().to_string().replace('\'', r"'\''"),
            far.dir.path().join("tools").display()
        );
        fs::write(far.dir.path().join("ssh"), ssh).expect("writable");
        far
    }

    /// Blanks and quotes are in some.
    fn home(&self) -> PathBuf {
        self.dir.path().join("ho me'\"$x")
    }

    fn place(&self) -> PathBuf {
        self.home().join(".cache/sealion-agent")
    }

    fn program(&self) -> PathBuf {
        self.dir.path().join("sealion")
    }

    fn program_is(&self, script: &str) {
        fs::write(self.program(), format!("#!/bin/sh\n{script}")).expect("writable");
    }

    /// Instead of the tool of that name.
    fn tool(&self, name: &str, script: &str) {
        let path = self.dir.path().join("tools").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writable");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    }

    fn target(&self, keep: bool) -> SshTarget {
        SshTarget {
            ssh: vec!["sh".into(), self.dir.path().join("ssh").display().to_string()],
            destination: "db1".into(),
            become_root: vec![],
            agent: AgentProgram::Pushed { program: PushedProgram::at(self.program()), keep },
        }
    }

    fn remote(&self, keep: bool) -> Remote {
        Remote::by_ssh(self.target(keep))
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.place()) else { return vec![] };
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }

    fn kept(&self) -> PathBuf {
        let files = self.files();
        let [one] = &files[..] else { panic!("{files:?}") };
        one.clone()
    }

    fn refused(&self) -> String {
        self.remote(false).facts_of_agent().expect_err("refused").to_string()
    }
}

#[test]
fn sealion_is_brought_started_and_removed_when_its_agent_ends() {
    let far = FarMachine::new();
    let remote = far.remote(false);
    remote.facts_of_agent().expect("an agent");
    let path = far.kept();
    assert_eq!(fs::read(&path).expect("there"), fs::read(far.program()).expect("there"));
    assert_eq!(fs::metadata(&path).expect("there").mode() & 0o7777, 0o700);
    assert_eq!(fs::metadata(far.place()).expect("there").mode() & 0o7777, 0o700);
    assert!(remote.read(Path::new("/etc/passwd"), 1 << 20).expect("readable").is_some());
    drop(remote);
    assert_eq!(far.files(), Vec::<PathBuf>::new());
}

#[test]
fn one_that_is_kept_is_used_again_and_one_that_was_tampered_with_is_replaced() {
    let far = FarMachine::new();
    let number = |path: &Path| fs::metadata(path).expect("there").ino();
    far.remote(true).facts_of_agent().expect("an agent");
    let path = far.kept();
    let first = number(&path);
    far.remote(true).facts_of_agent().expect("an agent");
    assert_eq!((far.kept(), number(&path)), (path.clone(), first), "it was not sent again");
    let ours = fs::read(far.program()).expect("there");
    let stolen = far.dir.path().join("stolen");
    let tamper: [&dyn Fn(); 3] = [
        &|| fs::write(&path, format!("#!/bin/sh\ntouch '{}'\n", stolen.display())).expect("ours"),
        &|| fs::set_permissions(&path, fs::Permissions::from_mode(0o770)).expect("ours"),
        &|| {
            let other = far.dir.path().join("other");
            fs::rename(&path, &other).expect("ours");
            symlink(&other, &path).expect("writable");
        },
    ];
    for tamper in tamper {
        tamper();
        far.remote(true).facts_of_agent().expect("the right one");
        let facts = fs::symlink_metadata(&path).expect("there");
        assert!(facts.is_file() && facts.mode() & 0o777 == 0o700, "{facts:?}");
        assert_eq!(fs::read(&path).expect("there"), ours);
    }
    assert!(!stolen.exists(), "it was started");
}

#[test]
fn one_that_changes_behind_the_check_is_not_started() {
    let far = FarMachine::new();
    let stolen = far.dir.path().join("stolen");
    let pusher = Pusher::new(PushedProgram::at(far.program()), true);
    let start = pusher.placed(&far.target(true), AgentMode::Read).expect("it is there");
    fs::write(far.kept(), format!("#!/bin/sh\ntouch '{}'\n", stolen.display())).expect("ours");
    let agent = Connection::start(&start).expect("a shell");
    let why = agent.hello(Duration::from_secs(20)).expect_err("refused");
    assert!(why.contains("was not started"), "{why}");
    assert!(!stolen.exists(), "it was started");
}

#[test]
fn a_directory_that_others_may_write_or_that_is_elsewhere_is_refused() {
    let far = FarMachine::new();
    fs::create_dir_all(far.place()).expect("writable");
    for mode in [0o777, 0o770, 0o755] {
        fs::set_permissions(far.place(), fs::Permissions::from_mode(mode)).expect("ours");
        let why = far.refused();
        assert!(why.contains(&format!("{mode:o}")) && why.contains("sealion-agent"), "{why}");
        assert_eq!(far.files(), Vec::<PathBuf>::new());
    }
    fs::remove_dir(far.place()).expect("empty");
    let elsewhere = far.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).expect("writable");
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).expect("ours");
    symlink(&elsewhere, far.place()).expect("writable");
    let why = far.refused();
    assert!(why.contains("symbolic link"), "{why}");
}

#[test]
fn a_machine_of_another_kind_is_told_what_to_do() {
    let far = FarMachine::new();
    far.tool("uname", "echo Linux sparc64");
    let why = far.refused();
    for part in ["Linux sparc64", std::env::consts::ARCH, "set `agent = "] {
        assert!(why.contains(part), "{part}: {why}");
    }
    assert!(!far.place().exists(), "nothing was sent");
    let far = FarMachine::new();
    far.program_is("echo 'libc.so.6: version `GLIBC_9.9 not found' >&2; exit 1\n");
    let why = far.refused();
    assert!(why.contains("GLIBC_9.9") && why.contains("make static"), "{why}");
    assert_eq!(far.files(), Vec::<PathBuf>::new());
}

#[test]
fn a_part_of_it_is_never_started() {
    let check = |cat: &str, expected: &str| {
        let far = FarMachine::new();
        far.tool("cat", cat);
        let why = far.refused();
        assert!(why.contains(expected), "{why}");
        assert_eq!(far.files(), Vec::<PathBuf>::new(), "{cat}");
    };
    check("head -c 20", "only a part");
    check("echo 'No space left on device' >&2; exit 1", "No space left on device");
    check("tr a-z b-za", "not what was sent");
    check("kill -TERM $PPID; sleep 0.2; exit 1", "ssh ended with");
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let far = FarMachine::new();
    std::thread::scope(|scope| {
        for keep in [true, false, true, false, true, false] {
            let far = &far;
            scope.spawn(move || {
                for _ in 0..3 {
                    far.remote(keep).facts_of_agent().expect("an agent");
                }
            });
        }
    });
    assert!(far.kept().file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-")));
}

#[test]
fn a_lost_agent_is_brought_again() {
    let far = FarMachine::new();
    let remote = far.remote(false);
    remote.facts_of_agent().expect("an agent");
    fs::remove_file(far.kept()).expect("ours");
    // Another agent, since the one that looks may not write.
    let why = crate::WriteHost::append(&remote, &far.dir.path().join("x"), b"x");
    assert!(why.is_err_and(|error| error.to_string().contains("started to look")), "it answered");
    assert_eq!(far.files().len(), 1);
}

#[test]
fn a_line_that_carries_nothing_is_given_up() {
    let far = FarMachine::new();
    let begun = Instant::now();
    let why = run(&["sleep".into(), "60".into()], None, Duration::from_millis(200)).expect_err("too late");
    assert!(matches!(&why, Failure::There(why) if why.contains("not done within")), "{why:?}");
    // More than a pipe holds.
    fs::write(far.program(), vec![0; 1 << 20]).expect("writable");
    let file = File::open(far.program()).expect("there");
    let why =
        run(&["sleep".into(), "60".into()], Some(file), Duration::from_millis(200)).expect_err("too late");
    let is_told = |why: &str| why.contains("carried nothing") || why.contains("not done within");
    assert!(matches!(&why, Failure::There(why) if is_told(why)), "{why:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn scripts_are_one_line_that_every_login_shell_hands_on() {
    for script in [CHECK, UPLOAD, START, ROOTS_OWN] {
        let line = one_line(&[SAY, COMMON, script]);
        let odd = line.chars().find(|char| "'\\!\n`".contains(*char));
        assert_eq!(odd, None, "{line}");
    }
}

#[test]
fn who_is_not_reached_is_not_told_to_install_a_package() {
    let far = FarMachine::new();
    let mut target = far.target(false);
    target.ssh = vec!["sh".into(), "-c".into(), "echo 'Connection refused' >&2; exit 255".into()];
    let why = Remote::by_ssh(target).facts_of_agent().expect_err("nobody is there").to_string();
    assert!(
        why.contains("Connection refused") && why.ends_with(" db1 true") && !why.contains("install"),
        "{why}"
    );
}

/// A sudo that lets do what `allowed` matches, as `sudo -n` and `sudo -n -l` say it.
fn sudo(far: &FarMachine, allowed: &str) {
    far.tool(
        "sudo",
        &format!(
            "[ \"$1\" = -n ] || exit 8; shift; list=; [ \"$1\" = -l ] && {{ list=y; shift; }}\n\
             case \"$1\" in {allowed}) ;; *) echo \"sudo: a password is required\" >&2; exit 1;; esac\n\
             [ -n \"$list\" ] && {{ echo \"$1\"; exit 0; }}\n\
             echo \"$*\" >>'{}'; exec \"$@\"",
            far.dir.path().join("ran").display()
        ),
    );
}

fn by_sudo(far: &FarMachine, agent: AgentProgram) -> Remote {
    Remote::by_ssh(SshTarget { become_root: vec!["sudo".into(), "-n".into()], agent, ..far.target(false) })
}

#[test]
fn root_runs_a_copy_of_the_login_users_only_where_that_user_is_as_good_as_root() {
    let far = FarMachine::new();
    let pushed = || AgentProgram::Pushed { program: PushedProgram::at(far.program()), keep: false };
    sudo(&far, "*");
    by_sudo(&far, pushed()).facts_of_agent().expect("an agent");
    let ran = far.dir.path().join("ran");
    assert!(fs::read_to_string(&ran).expect("root ran it").contains("/once-"));

    // A line of sudoers for the copy's own path would make root of whoever writes there.
    fs::remove_file(&ran).expect("ours");
    for allowed in ["./once-*", "/usr/bin/sealion"] {
        sudo(&far, allowed);
        let why = by_sudo(&far, pushed()).facts_of_agent().expect_err("refused").to_string();
        for part in
            ["single things only", "a password is required", "set agent in [ssh]", "sealion grants --sudoers"]
        {
            assert!(why.contains(part), "{part}: {why}");
        }
        assert!(!ran.exists(), "{allowed}: root ran it");
        assert_eq!(far.files(), Vec::<PathBuf>::new(), "the copy is removed");
    }
    fs::remove_file(far.dir.path().join("tools/sudo")).expect("ours");
    let why = by_sudo(&far, pushed()).facts_of_agent().expect_err("there may be no sudo").to_string();
    assert!(why.contains("sudo"), "{why}");
}

#[test]
fn root_runs_an_installed_program_only_if_it_is_roots_own() {
    let far = FarMachine::new();
    let installed = far.dir.path().join("sealion");
    fs::set_permissions(&installed, fs::Permissions::from_mode(0o755)).expect("ours");
    let ran = far.dir.path().join("ran");
    let agent = || AgentProgram::Installed(installed.clone());
    sudo(&far, &installed.display().to_string());
    // The directory of a test is below one that everybody may write.
    let why = by_sudo(&far, agent()).facts_of_agent().expect_err("refused").to_string();
    assert!(why.contains("is not for root alone to write") && why.contains("chmod go-w"), "{why}");
    assert!(!ran.exists(), "root ran it");
    let absent = AgentProgram::Installed("/nowhere/sealion".into());
    let why = by_sudo(&far, absent).facts_of_agent().expect_err("refused").to_string();
    assert!(why.contains("/nowhere/sealion"), "{why}");

    // As it is where all of it is root's; the tool says so.
    far.tool("stat", "echo 0:-rwxr-xr-x");
    by_sudo(&far, agent()).facts_of_agent().expect("an agent");
    assert!(fs::read_to_string(&ran).expect("root ran it").contains("agent --read"));
    for (facts, is_safe) in [
        ("0:drwxr-sr-x", true),
        ("0:drwxrwxr-x", false),
        ("0:drwxr-xrwx", false),
        ("0:drwxrwxrwt", false),
        ("1000:-rwxr-xr-x", false),
    ] {
        far.tool("stat", &format!("echo {facts}"));
        assert_eq!(by_sudo(&far, agent()).facts_of_agent().is_ok(), is_safe, "{facts}");
    }
    // Who may do everything gains nothing by it.
    sudo(&far, "*");
    by_sudo(&far, agent()).facts_of_agent().expect("an agent");
}

#[test]
fn copies_that_were_left_behind_are_removed_after_a_day_and_newer_ones_stay() {
    let far = FarMachine::new();
    fs::create_dir_all(far.place()).expect("writable");
    fs::set_permissions(far.place(), fs::Permissions::from_mode(0o700)).expect("ours");
    let made = |name: &str, hours: u64| {
        let path = far.place().join(name);
        let file = File::create(&path).expect("writable");
        let at = std::time::SystemTime::now() - Duration::from_secs(hours * 3600);
        file.set_times(fs::FileTimes::new().set_modified(at)).expect("ours");
        path
    };
    let old = [made("once-0.1.0-0-1", 25), made("new-1", 25)];
    let others = [made("once-0.1.0-0-2", 23), made("agent-0.1.0-0", 100), made("notes", 100)];
    far.remote(false).facts_of_agent().expect("an agent");
    assert!(old.iter().all(|path| !path.exists()), "{:?}", far.files());
    assert!(others.iter().all(|path| path.exists()), "{:?}", far.files());
}
