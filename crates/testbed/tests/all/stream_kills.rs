//! Copies whose ends are killed, whose disk is full, and that are larger than any memory: with the real program at both ends.
//!
//! `SEALION_SEED=N` repeats the moments at which an end is killed; `SEALION_DEEP=1` tries more of them, and copies 100 GB.
#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use testbed::real::{files_below, sealion, wait_for};
use testbed::sim::rng::Rng;

const PATIENCE: Duration = Duration::from_secs(120);

fn is_deep() -> bool {
    std::env::var_os("SEALION_DEEP").is_some()
}

fn seed() -> u64 {
    let given = std::env::var("SEALION_SEED").ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| u64::from(std::process::id()))
}

/// Like a data directory: large files and small ones, holes, a file that only its owner may read.
fn source(root: &Path, rng: &mut Rng) {
    fs::create_dir_all(root.join("db")).unwrap();
    let mut random = |bytes: usize| -> Vec<u8> {
        (0..bytes.div_ceil(8)).flat_map(|_| rng.between(0, u64::MAX - 1).to_le_bytes()).collect()
    };
    fs::write(root.join("ibdata1"), random(24 << 20)).unwrap();
    fs::write(root.join("db/t.ibd"), random((9 << 20) + 5)).unwrap();
    for at in 0..60 {
        fs::write(root.join(format!("db/t{at}.frm")), random(at * 131)).unwrap();
    }
    let sparse = File::create(root.join("db/sparse.ibd")).unwrap();
    sparse.set_len(50 << 20).unwrap();
    sparse.write_all_at(b"in the middle", 20 << 20).unwrap();
    fs::set_permissions(root.join("db/t.ibd"), fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(root.join("db"), fs::Permissions::from_mode(0o550)).unwrap();
}

#[track_caller]
fn same(from: &Path, into: &Path, context: &str) {
    let (there, here) = (files_below(from), files_below(into));
    let names = |root: &Path, all: &[PathBuf]| -> Vec<PathBuf> {
        let mut names: Vec<_> = all.iter().map(|path| path.strip_prefix(root).unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let all = names(from, &there);
    assert_eq!(all, names(into, &here), "{context}");
    for path in all {
        let (one, other) = (from.join(&path), into.join(&path));
        assert!(fs::read(&one).unwrap() == fs::read(&other).unwrap(), "{context}: {}", path.display());
        let facts = |path: &Path| {
            let about = fs::metadata(path).unwrap();
            (about.mode(), about.uid(), about.gid(), about.mtime(), about.mtime_nsec())
        };
        assert_eq!(facts(&one), facts(&other), "{context}: {}", path.display());
    }
}

/// Ended with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn output(mut self) -> Output {
        let child = std::mem::replace(&mut self.0, Command::new("true").spawn().unwrap());
        child.wait_with_output().unwrap()
    }
}

/// A receiver that listens, and where.
fn receiver(arguments: &[&str], code: &Path) -> (Running, String) {
    let mut child = Command::new(sealion())
        .arg("receive")
        .args(arguments)
        .args(["--listen", "127.0.0.1:0", "--code-file"])
        .arg(code)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let address = address(&mut child);
    (Running(child), address)
}

/// What it says when it listens. The rest is read by nobody, and thrown away.
fn address(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut told = String::new();
    let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
        told.push_str(&line);
        let rest = line.strip_prefix("listening on ")?;
        rest.split([',', ';']).next().map(str::to_owned)
    });
    std::thread::spawn(move || lines.for_each(drop));
    address.unwrap_or_else(|| panic!("it does not listen: {told}"))
}

fn sender(arguments: &[&str], to: &str, code: &Path) -> Running {
    let child = Command::new(sealion())
        .arg("send")
        .args(arguments)
        .args(["--to", to, "--code-file"])
        .arg(code)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    Running(child.unwrap())
}

#[test]
fn an_end_that_is_killed_at_any_moment_is_started_again_and_the_trees_are_the_same() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    let seed = seed();
    let mut rng = Rng::new(seed);
    source(&from, &mut rng);
    let (mut kills, mut resumed) = (0, 0);
    for round in 0..if is_deep() { 60 } else { 4 } {
        let into = place.path().join(format!("into{round}"));
        let (from, into) = (from.to_str().unwrap(), into.to_str().unwrap());
        let mut is_begun = false;
        for number in 0.. {
            assert!(number < 30, "seed {seed}: no end");
            let code = place.path().join(format!("code{round}.{number}"));
            let mut arguments = vec![into];
            arguments.extend(is_begun.then_some("--resume"));
            let (mut receiver, address) = receiver(&arguments, &code);
            // So slow that there is something to kill; the last ones are left alone.
            let mut sender = sender(&[from, "--rate-limit", "60M"], &address, &code);
            let victim = if number > 5 { 2 } else { rng.between(0, 2) };
            if victim < 2 {
                std::thread::sleep(Duration::from_millis(rng.between(0, 1200)));
                let victim = if victim == 0 { &mut sender } else { &mut receiver };
                if victim.0.try_wait().unwrap().is_none() {
                    victim.0.kill().unwrap();
                    kills += 1;
                }
            }
            let sent = wait_for(PATIENCE, || sender.0.try_wait().unwrap());
            let sent = sent.unwrap_or_else(|| panic!("seed {seed}: the sender does not end"));
            // A receiver that no sender has reached waits for one, and is ended then.
            let patience = if victim == 0 { Duration::from_secs(3) } else { PATIENCE };
            let received = wait_for(patience, || receiver.0.try_wait().unwrap());
            assert!(victim == 0 || received.is_some(), "seed {seed}: the receiver does not end");
            let _ = (receiver.0.kill(), receiver.0.wait());
            is_begun = Path::new(into).join(".sealion-incomplete").exists();
            resumed += usize::from(is_begun);
            if sent.success() {
                assert!(received.is_none_or(|received| received.success() || victim == 1), "seed {seed}");
                assert!(!is_begun, "seed {seed}: the sender was told that all is there");
                break;
            }
            let is_there = fs::read_dir(into).unwrap().next().is_some();
            // Killed between the end of its work and its last word.
            if !is_begun && is_there {
                break;
            }
        }
        same(Path::new(from), Path::new(into), &format!("seed {seed}, round {round}"));
        fs::set_permissions(Path::new(into).join("db"), fs::Permissions::from_mode(0o700)).unwrap();
    }
    eprintln!("{kills} kills, {resumed} copies gone on with, seed {seed}");
    fs::set_permissions(from.join("db"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// In a namespace of its own, on a disk in memory that is too small and then is not.
#[test]
fn a_disk_that_is_full_ends_the_copy_and_with_more_room_it_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    let mut rng = Rng::new(seed());
    source(&from, &mut rng);
    let (disk, first, second) =
        (place.path().join("disk"), place.path().join("code1"), place.path().join("code2"));
    fs::create_dir(&disk).unwrap();
    // Dense files are given room at once; those with holes are found too large while they are written.
    for (name, size_kb) in [("nothing of ibdata1 fits", 8 << 10), ("all but the end fits", 32 << 10)] {
        let script = r#"
            mount -t tmpfs -o size="$5k" none "$2" || exit 77
            "$1" receive "$2/into" --listen 127.0.0.1:0 --code-file "$3"
            echo "ended with $?" >&2
            mount -o remount,size=200m "$2"
            "$1" receive "$2/into" --resume --listen 127.0.0.1:0 --code-file "$4" || exit 1
            diff -r "$6" "$2/into" && [ "$(stat -c %a "$2/into/db/t.ibd")" = 400 ] && echo "the same" >&2
        "#;
        let _ = (fs::remove_file(&first), fs::remove_file(&second));
        let mut child = Command::new("unshare")
            .args(["--map-current-user", "-m", "sh", "-c", script, "sh"])
            .args([&sealion(), &disk, &first, &second])
            .arg(size_kb.to_string())
            .arg(&from)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut address = || {
            lines.by_ref().find_map(|line| {
                let rest = line.strip_prefix("listening on ")?;
                rest.split([',', ';']).next().map(str::to_owned)
            })
        };
        let from = from.to_str().unwrap();
        let sent = sender(&[from], &address().expect("it listens"), &first).output();
        let told = String::from_utf8_lossy(&sent.stderr);
        assert_eq!(sent.status.code(), Some(3), "{name}: {told}");
        assert!(told.contains("No space left on device") && told.contains("--resume"), "{name}: {told}");
        let again = sender(&[from], &address().expect("it listens again"), &second).output();
        assert!(again.status.success(), "{name}: {}", String::from_utf8_lossy(&again.stderr));
        let rest: Vec<String> = lines.collect();
        assert!(
            child.wait().unwrap().success() && rest.iter().any(|line| line == "the same"),
            "{name}: {rest:?}"
        );
    }
    fs::set_permissions(from.join("db"), fs::Permissions::from_mode(0o700)).unwrap();
}

fn resident_kb(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What one end of a copy has read or written so far, as the kernel counts it.
fn moved_bytes(id: u32) -> Option<u64> {
    let io = fs::read_to_string(format!("/proc/{id}/io")).ok()?;
    io.lines().find_map(|line| line.strip_prefix("rchar: "))?.parse().ok()
}

#[test]
fn memory_does_not_grow_with_what_is_copied() {
    const MEMORY_KB_MAX: u64 = 200 << 10;
    let place = tempfile::tempdir().unwrap();
    let code = place.path().join("code");
    let bytes: u64 = if is_deep() { 100_000_000_000 } else { 4_000_000_000 };
    let (receiver, address) = receiver(&["--into-command", "cat > /dev/null"], &code);
    let generate = format!("head -c {bytes} /dev/zero");
    // As it is: zeros would become nothing.
    let mut sender = sender(&["--from-command", &generate, "--compress", "none"], &address, &code);
    let (mut at_a_tenth, mut at_end) = (None, (0, 0));
    let (mut next, mut began) = (bytes / 10, Instant::now());
    while sender.0.try_wait().unwrap().is_none() {
        let ends = (sender.0.id(), receiver.0.id());
        if let (Some(one), Some(other), Some(moved)) =
            (resident_kb(ends.0), resident_kb(ends.1), moved_bytes(ends.0))
        {
            at_end = (one, other);
            if moved >= next && next <= bytes {
                at_a_tenth.get_or_insert(at_end);
                let mb_per_s = (bytes / 10) as f64 / 1e6 / began.elapsed().as_secs_f64();
                eprintln!(
                    "{moved} bytes: {mb_per_s:.0} MB/s, {one} kB at the sender, {other} kB at the receiver"
                );
                (next, began) = (next + bytes / 10, Instant::now());
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let (sent, received) = (sender.output(), receiver.output());
    assert!(sent.status.success() && received.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let begun = at_a_tenth.expect("it was looked at");
    assert!(at_end.0.max(at_end.1) < MEMORY_KB_MAX, "{at_end:?} kB");
    // The receiver's window fills when its reader is the slower one.
    let grown = at_end.0.saturating_sub(begun.0).max(at_end.1.saturating_sub(begun.1));
    assert!(grown < 64 << 10, "from {begun:?} kB to {at_end:?} kB");
}
