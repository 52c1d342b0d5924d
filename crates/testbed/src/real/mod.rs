//! Real servers and the shipped binary, driven from the outside as a person or another program would.

pub mod broker;
pub mod bundled;
pub mod endpoints;
pub mod foreign_tls;
pub mod hosts;
pub mod inside;
mod lab;
pub mod manual_node;
mod program;
pub mod secrets;
mod writers;

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use lab::{LabSpec, RealLab};
pub use program::{Program, ProgramOutput};
pub use writers::RealWriters;

/// Between two looks at a condition that is waited for.
const POLL_MS: u64 = 25;

/// A lab mostly waits, and each has a network of its own: so many run side by side on two cores.
const LABS_AT_ONCE: usize = 3;

static FREE_SLOTS: (Mutex<usize>, Condvar) = (Mutex::new(LABS_AT_ONCE), Condvar::new());

/// Held while a test's lab runs.
pub struct LabSlot(());

/// Waits until there is room for one more lab.
pub fn lab_slot() -> LabSlot {
    let (free, freed) = &FREE_SLOTS;
    // A test that failed has ended its lab.
    let free = free.lock().unwrap_or_else(PoisonError::into_inner);
    let mut free = freed.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
    *free -= 1;
    LabSlot(())
}

impl Drop for LabSlot {
    fn drop(&mut self) {
        let (free, freed) = &FREE_SLOTS;
        *free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        freed.notify_one();
    }
}

/// The binary that ships: `SEALION_BIN`, else the newest build beside this test program.
pub fn sealion() -> PathBuf {
    if let Some(path) = std::env::var_os("SEALION_BIN") {
        let path = PathBuf::from(path);
        assert!(path.is_file(), "SEALION_BIN names {}, which is no file; run: make test", path.display());
        return path;
    }
    // target/debug/deps/lab_demo-0123456789abcdef
    let here = std::env::current_exe().expect("a test program knows its path");
    let target = here.ancestors().nth(3).expect("a test program lies in target/PROFILE/deps");
    let built = |path: &PathBuf| path.metadata().and_then(|facts| facts.modified()).ok();
    ["ci", "release", "debug"]
        .map(|profile| target.join(profile).join("sealion"))
        .into_iter()
        .filter(|path| path.is_file())
        .max_by_key(built)
        .unwrap_or_else(|| panic!("there is no sealion in {}; run: make test", target.display()))
}

/// Fails with the command that mends it where there are no servers.
pub fn need_servers() {
    if let Err(error) = ::lab::bundle::Servers::find(false) {
        panic!("{error}\n\nrun: make setup");
    }
}

/// `SEALION_SEED`, else the time; printed, so that a failure can be had again.
pub fn seed() -> u64 {
    let seed = match std::env::var("SEALION_SEED") {
        Ok(text) => text.parse().expect("SEALION_SEED is a whole number"),
        Err(_) => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |since| u64::from(since.subsec_nanos()) | 1),
    };
    eprintln!("seed {seed} (SEALION_SEED={seed} runs the same again)");
    seed
}

/// The long form of the tests is wished.
pub fn is_deep() -> bool {
    std::env::var_os("SEALION_DEEP").is_some_and(|word| word == "1")
}

/// `SEALION_MOMENT`, where it is set, begins with the moments of kills that are wished: `K7` for all of step K7.
pub fn is_wished(moment: &str) -> bool {
    std::env::var("SEALION_MOMENT").map_or(true, |wished| moment.starts_with(&wished))
}

/// A short directory of the test's own: unix sockets have at most 107 bytes of path.
pub fn short_dir() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("sl")
        .rand_bytes(6)
        .tempdir()
        .expect("the temporary directory is writable")
}

/// Waits until `is_so` gives something; `None` when the time is over.
pub fn wait_for<T>(at_most: Duration, mut is_so: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + at_most;
    loop {
        if let Some(found) = is_so() {
            return Some(found);
        }
        if Instant::now() > deadline {
            return None;
        }
        std::thread::sleep(Duration::from_millis(POLL_MS));
    }
}

/// Every file below `dir` that can be seen now; what goes away meanwhile is left out.
pub fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The last lines of a text.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
