#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::*;
use crate::state::State;
use crate::view;

/// Far longer than anything here takes; a test that is right never waits so long.
const SOON: Duration = Duration::from_secs(60);

fn program(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

fn hook(program: &Path, args: &[&str], at_most: Duration) -> Hook {
    let words =
        std::iter::once(program.display().to_string()).chain(args.iter().map(|arg| (*arg).to_owned()));
    Hook::new(HookCommand { words: words.collect(), at_most }, "prod")
}

fn change(subject: &str) -> Change {
    Change { key: ("link", subject.to_owned()), from: Some("encrypted".into()), to: Some("plain".into()) }
}

fn summary() -> WatchSummary {
    view::summary("prod", &State::default(), 1_000)
}

fn ended(hook: &mut Hook) -> Ran {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(ran) = hook.ended() {
            return ran;
        }
        assert!(Instant::now() < deadline, "it never ended");
        std::thread::sleep(POLL);
    }
}

/// Its text comes as a file is renamed, so a test never reads half of it.
fn told(path: &Path) -> WatchEventReport {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn words_are_parted_as_a_shell_does_and_nothing_is_run_by_one() {
    let of = |text: &str| words(text).map(|words| words.join("|"));
    assert_eq!(of("/bin/notify  --to dba"), Ok("/bin/notify|--to|dba".into()));
    assert_eq!(of("a 'b c' \"d 'e'\" f\\ g"), Ok("a|b c|d 'e'|f g".into()));
    assert_eq!(of(r#"a "x\"y\\z\n""#), Ok(r#"a|x"y\z\n"#.into()));
    assert_eq!(of("a '' \"\""), Ok("a||".into()));
    assert_eq!(of("a;b $HOME `id` | c > d"), Ok("a;b|$HOME|`id`|||c|>|d".into()));
    for text in ["", "  ", "''", "a 'b", "a \"b", "a \\"] {
        assert!(words(text).is_err(), "{text:?}");
    }
}

#[test]
fn it_is_told_what_has_changed_and_nothing_that_is_secret() {
    let place = tempfile::tempdir().unwrap();
    let (json, env) = (place.path().join("json"), place.path().join("env"));
    let text = format!("cat > {0}.new; env > {1}; mv {0}.new {0}", json.display(), env.display());
    let mut hook = hook(&program(place.path(), "hook", &text), &[], SOON);
    // A name of a stranger's, with what would be a second head of a mail.
    hook.offer(
        &[change("client client - n1"), change("client x\nBcc: all - n2")],
        &summary(),
        1_764_000_000_000,
    );
    let ran = ended(&mut hook);
    assert_eq!((ran.outcome, ran.changes, ran.why.as_str()), (HookOutcome::Ok, 2, ""));
    assert_eq!(hook.counts(), HookCounts { ok: 1, ..HookCounts::default() });
    let event = told(&json);
    assert_eq!((event.cluster.as_str(), event.attempt, event.dropped), ("prod", 1, 0));
    let first = event.changes.first().unwrap();
    assert_eq!((first.from.as_deref(), first.to.as_deref()), (Some("encrypted"), Some("plain")));
    assert_eq!(first.at_unix_ms, 1_764_000_000_000);
    let env = std::fs::read_to_string(&env).unwrap();
    for line in [
        "SEALION_CLUSTER=prod",
        "SEALION_CHANGES=2",
        "SEALION_AT=2025-11-24T16:00:00",
        "SEALION_SUMMARY=2 changes in prod: link client client - n1: encrypted -> plain",
    ] {
        assert!(env.lines().any(|one| one.starts_with(line)), "{line}\n{env}");
    }
    // This test has other variables; a password of somebody's would be among them.
    assert!(std::env::vars().any(|(name, _)| !KEPT.contains(&name.as_str())));
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    for line in env.lines() {
        let name = line.split('=').next().unwrap();
        assert!(name.starts_with("SEALION_") || KEPT.contains(&name) || own.contains(&name), "{line}");
    }
}

#[test]
fn one_that_fails_is_told_again_and_again_with_what_came_meanwhile() {
    let place = tempfile::tempdir().unwrap();
    let (json, good) = (place.path().join("json"), place.path().join("good"));
    let text = format!("cat > {}; echo no route to chat >&2; test -e {}", json.display(), good.display());
    let mut hook = hook(&program(place.path(), "hook", &text), &[], SOON);
    hook.offer(&[change("a")], &summary(), 1);
    let ran = ended(&mut hook);
    assert_eq!(ran.outcome, HookOutcome::Failed);
    assert!(ran.why.contains("exit status: 1") && ran.why.contains("no route to chat"), "{}", ran.why);
    assert_eq!(hook.counts(), HookCounts { failed: 1, pending: 1, ..HookCounts::default() });
    assert!(!hook.is_running(), "not before the next look");
    // A look that changed nothing is one.
    hook.offer(&[], &summary(), 2);
    ended(&mut hook);
    assert_eq!(told(&json).attempt, 2);
    std::fs::write(&good, "").unwrap();
    hook.offer(&[change("b")], &summary(), 3);
    assert_eq!(ended(&mut hook).changes, 2);
    let event = told(&json);
    let subjects: Vec<&str> = event.changes.iter().map(|row| row.subject.as_str()).collect();
    assert_eq!((event.attempt, subjects), (3, vec!["a", "b"]));
    assert_eq!(event.changes.iter().map(|row| row.at_unix_ms).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(hook.counts(), HookCounts { ok: 1, failed: 2, ..HookCounts::default() });
    hook.offer(&[], &summary(), 4);
    assert!(!hook.is_running(), "nothing is left to tell");
}

#[test]
fn one_runs_at_a_time_and_a_look_waits_for_none() {
    let place = tempfile::tempdir().unwrap();
    let (go, runs) = (place.path().join("go"), place.path().join("runs"));
    let text = format!(
        "echo begun >> {0}; while ! test -e {1}; do sleep 0.05; done; echo ended >> {0}",
        runs.display(),
        go.display()
    );
    let mut hook = hook(&program(place.path(), "hook", &text), &[], SOON);
    hook.offer(&[change("a")], &summary(), 1);
    // It hangs until somebody lets it go, so this line is only reached since nobody waits for it.
    hook.offer(&[change("b")], &summary(), 2);
    hook.offer(&[change("c")], &summary(), 3);
    assert!(hook.is_running() && hook.ended().is_none());
    assert_eq!(hook.counts().pending, 3);
    std::fs::write(&go, "").unwrap();
    assert_eq!(ended(&mut hook).changes, 1);
    hook.offer(&[], &summary(), 3);
    assert_eq!(ended(&mut hook).changes, 2);
    assert_eq!(std::fs::read_to_string(&runs).unwrap(), "begun\nended\nbegun\nended\n");
}

/// Whether a process still runs: a zombie that nobody has waited for does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn one_that_hangs_is_killed_with_all_that_it_has_started() {
    let place = tempfile::tempdir().unwrap();
    let pid = place.path().join("pid");
    let text = format!("sleep 1000 & echo $! > {}; wait", pid.display());
    let mut hook = hook(&program(place.path(), "hook", &text), &[], Duration::from_secs(1));
    hook.offer(&[change("a")], &summary(), 1);
    let ran = ended(&mut hook);
    assert_eq!(ran.outcome, HookOutcome::Timeout);
    assert!(ran.why.contains("took longer than 1 s"), "{}", ran.why);
    let pid = std::fs::read_to_string(&pid).unwrap();
    let deadline = Instant::now() + SOON;
    while runs(&pid) {
        assert!(Instant::now() < deadline, "the child is left");
        std::thread::sleep(POLL);
    }
    // One that ends at once and leaves somebody behind.
    let pid = place.path().join("left");
    let text = format!("sleep 1000 & echo $! > {}; exit 0", pid.display());
    let mut hook = self::hook(&program(place.path(), "leaves", &text), &[], SOON);
    hook.offer(&[change("a")], &summary(), 1);
    assert_eq!(ended(&mut hook).outcome, HookOutcome::Ok);
    let pid = std::fs::read_to_string(&pid).unwrap();
    let deadline = Instant::now() + SOON;
    while runs(&pid) {
        assert!(Instant::now() < deadline, "the child is left");
        std::thread::sleep(POLL);
    }
}

#[test]
fn what_it_prints_is_bounded_and_it_need_not_read() {
    let place = tempfile::tempdir().unwrap();
    let many: Vec<Change> = (0..5_000).map(|at| change(&format!("client client - n{at}"))).collect();
    // Megabytes out, and half a megabyte in that nobody reads.
    let text = "exec 0<&-; head -c 3000000 /dev/zero | tr '\\0' 'x'; exit 3";
    let mut hook = hook(&program(place.path(), "hook", text), &[], SOON);
    hook.offer(&many, &summary(), 1);
    let ran = ended(&mut hook);
    assert_eq!((ran.outcome, ran.changes), (HookOutcome::Failed, 5_000));
    assert!(ran.why.contains("exit status: 3") && ran.why.len() < 600, "{}", ran.why);
    // What is never taken is forgotten at last, the oldest first, and that is said.
    hook.offer(&vec![change("x"); PENDING_MAX], &summary(), 2);
    assert_eq!((hook.counts().pending, hook.counts().dropped), (PENDING_MAX as u64, 5_000));
}

#[test]
fn a_program_that_is_not_there_is_a_failure_that_says_so() {
    let mut hook = hook(Path::new("/nowhere/at/all"), &["x"], SOON);
    hook.offer(&[change("a")], &summary(), 1);
    let ran = ended(&mut hook);
    assert_eq!(ran.outcome, HookOutcome::Failed);
    assert!(ran.why.contains("/nowhere/at/all cannot be run"), "{}", ran.why);
}
