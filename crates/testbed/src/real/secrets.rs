//! Watches a lab from the outside for secrets where none may be: command lines, environments, files.
//!
//! The secrets themselves are learned from the lab's own files while it is alive, and are never printed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use memchr::memmem;
use openssl::pkey::PKey;

use super::hosts::network_of;
use super::{RealLab, files_below, wait_for};

const PROCESS_POLL_MS: u64 = 20;
const FILE_POLL_MS: u64 = 1500;
/// Of some hundred MiB on a busy machine.
const DEEP_LOOK_MAX: Duration = Duration::from_secs(60);
/// Shorter texts would be found by chance.
const SECRET_BYTES_MIN: usize = 12;

const BLOCK_BYTES: usize = 1 << 18;

/// A secret by the names under which it may be spoken of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct SecretName {
    /// One for each place: a key is made in one and then lies in another.
    what: BTreeSet<String>,
    /// The operator's alone: it never leaves their machine, whatever a host may keep of its own.
    is_operators: bool,
}

impl SecretName {
    fn named(&self) -> &str {
        self.what.first().map_or("a secret", String::as_str)
    }
}

type Secrets = BTreeMap<Vec<u8>, SecretName>;

#[derive(Default)]
struct Notes {
    secrets: Secrets,
    /// Command lines and environments of processes that were not there at the beginning.
    words: HashSet<Vec<u8>>,
    /// Processes that descend from the watched one: pid and start time.
    family: BTreeSet<(i32, u64)>,
    /// What was found in files, as sentences.
    found: BTreeSet<String>,
    file_scans: u32,
    deep_scans: u32,
}

/// A thread that looks until it is stopped.
pub struct Watch {
    notes: Arc<Mutex<Notes>>,
    stop: Arc<AtomicBool>,
    deep: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What was seen.
pub struct Seen {
    notes: Notes,
}

fn processes() -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("there is /proc");
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Parent and start time (fields 4 and 22; the name in field 2 may hold spaces).
fn parent_and_start(pid: i32) -> Option<(i32, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = stat.rsplit_once(')')?.1.split_whitespace();
    let parent = words.nth(1)?.parse().ok()?;
    Some((parent, words.nth(17)?.parse().ok()?))
}

impl Watch {
    /// Looks at every process that is not there yet, and at the files below `dir`, which may not be there yet either.
    pub fn start(dir: PathBuf) -> Self {
        Self::start_without(dir, |_| true)
    }

    /// Looks at what runs in the lab already too, and at the files below its directory.
    pub fn start_in(lab: &RealLab) -> Self {
        let networks = lab.networks();
        Self::start_without(lab.dir.clone(), |pid| network_of(pid).is_none_or(|net| !networks.contains(&net)))
    }

    /// Of those that run already, it does not look at these.
    fn start_without(dir: PathBuf, is_strange: impl Fn(i32) -> bool) -> Self {
        let running = processes().into_iter().filter(|&pid| is_strange(pid));
        let earlier: HashSet<(i32, u64)> =
            running.filter_map(|pid| Some((pid, parent_and_start(pid)?.1))).collect();
        let (notes, stop, deep) = (Arc::new(Mutex::new(Notes::default())), Arc::default(), Arc::default());
        let (into, until, deeply) = (Arc::clone(&notes), Arc::clone(&stop), Arc::clone(&deep));
        let thread = std::thread::spawn(move || run(&dir, &earlier, &into, &until, &deeply));
        Self { notes, stop, deep, thread: Some(thread) }
    }

    /// The pid whose descendants are listed at the end.
    pub fn family_of(&self, pid: u32) {
        let pid = i32::try_from(pid).expect("a pid");
        if let Some((_, start)) = parent_and_start(pid) {
            self.lock().family.insert((pid, start));
        }
    }

    /// Looks at data directories too, and comes back when it has. What it looks at is to stay there meanwhile.
    pub fn look_deeply(&self) {
        self.deep.store(true, Ordering::SeqCst);
        let has_looked = wait_for(DEEP_LOOK_MAX, || (self.lock().deep_scans > 0).then_some(()));
        has_looked.expect("a look at all files comes to its end");
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn finish(mut self) -> Seen {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the watch does not panic");
        }
        Seen { notes: std::mem::take(&mut *self.lock()) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

fn run(
    dir: &Path,
    earlier: &HashSet<(i32, u64)>,
    notes: &Mutex<Notes>,
    stop: &AtomicBool,
    deep: &AtomicBool,
) {
    let mut files_at = Instant::now();
    while !stop.load(Ordering::SeqCst) {
        for pid in processes() {
            let Some((parent, start)) = parent_and_start(pid) else { continue };
            if earlier.contains(&(pid, start)) {
                continue;
            }
            let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
            if notes.family.iter().any(|&(member, _)| member == parent) {
                notes.family.insert((pid, start));
            }
            for what in ["cmdline", "environ"] {
                if let Ok(bytes) = fs::read(format!("/proc/{pid}/{what}"))
                    && !bytes.is_empty()
                    && !notes.words.contains(&bytes)
                {
                    notes.words.insert(bytes);
                }
            }
        }
        let deeply = deep.swap(false, Ordering::SeqCst);
        if deeply || files_at.elapsed() > Duration::from_millis(FILE_POLL_MS) {
            look_at_files(dir, deeply, notes);
            files_at = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(PROCESS_POLL_MS));
    }
}

fn learn(path: &Path, text: &str, secrets: &mut Secrets) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut add = |secret: &str, what: String| {
        if secret.len() >= SECRET_BYTES_MIN {
            let is_operators = matches!(name, "operator.cnf" | "ca-passphrase" | "ca-key.pem");
            let known = secrets.entry(secret.as_bytes().to_vec()).or_default();
            known.what.insert(what);
            known.is_operators |= is_operators;
        }
    };
    // The last line of a short key is of its public half, which may stand elsewhere.
    let body = |pem: &str| -> Vec<String> {
        let mut lines: Vec<String> =
            pem.lines().filter(|line| !line.starts_with('-')).map(str::to_owned).collect();
        lines.pop();
        lines
    };
    match name {
        "operator.cnf" | "app.cnf" => {
            for secret in text.lines().filter_map(|line| line.strip_prefix("password=")) {
                add(secret, format!("the password of {name}"));
            }
        }
        "ca-passphrase" => text.lines().take(1).for_each(|line| add(line, "the CA passphrase".into())),
        "node-key.pem" => {
            for line in body(text) {
                add(&line, format!("a line of the private key {}", path.display()));
            }
        }
        "ca-key.pem" => {
            for line in body(text) {
                add(&line, "a line of the CA's key as it is kept".into());
            }
            for line in opened_ca_key(path, text).iter().flat_map(|pem| body(pem)) {
                add(&line, "a line of the CA's key".into());
            }
        }
        _ => {}
    }
}

/// Without its passphrase, which lies beside the CA's directory.
fn opened_ca_key(path: &Path, text: &str) -> Option<String> {
    let passphrase = fs::read_to_string(path.parent()?.with_file_name("ca-passphrase")).ok()?;
    let passphrase = passphrase.lines().next()?.as_bytes();
    let key = PKey::private_key_from_pem_passphrase(text.as_bytes(), passphrase).ok()?;
    String::from_utf8(key.private_key_to_pem_pkcs8().ok()?).ok()
}

/// Where a secret may be: the file that it is for, and keys that are kept for the way back.
fn may_hold(dir: &Path, path: &Path, secret: &SecretName) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let below = path.strip_prefix(dir).unwrap_or(path);
    let kept = below.components().any(|part| part.as_os_str() == "sealion") && name != "lab.json";
    if secret.is_operators {
        return matches!(name, "operator.cnf" | "ca-passphrase" | "ca-key.pem");
    }
    name == "app.cnf"
        || name.starts_with("node-key.pem")
        || name.starts_with(".node-key.pem")
        || (kept && !name.ends_with(".journal"))
}

fn look_at_files(dir: &Path, deeply: bool, notes: &Mutex<Notes>) {
    let files = files_below(dir);
    let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
    for path in &files {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if matches!(name, "operator.cnf" | "app.cnf" | "ca-passphrase" | "node-key.pem" | "ca-key.pem")
            && let Ok(text) = fs::read_to_string(path)
        {
            learn(path, &text, &mut notes.secrets);
        }
    }
    notes.file_scans += 1;
    let finders: Vec<(memmem::Finder<'static>, SecretName)> = notes
        .secrets
        .iter()
        .map(|(secret, name)| (memmem::Finder::new(secret).into_owned(), name.clone()))
        .collect();
    for path in files {
        let in_data = path.components().any(|part| part.as_os_str() == "data");
        if in_data && !deeply {
            continue;
        }
        let Ok(facts) = path.metadata() else { continue };
        let Ok(bytes) = fs::read(&path) else { continue };
        for (finder, secret) in &finders {
            if !holds(&bytes, finder) {
                continue;
            }
            let open = facts.permissions().mode() & 0o077 != 0;
            if open || !may_hold(dir, &path, secret) {
                let mode = facts.permissions().mode() & 0o7777;
                notes.found.insert(format!("{} (mode {mode:o}) holds {}", path.display(), secret.named()));
            }
        }
    }
    notes.deep_scans += u32::from(deeply);
}

/// Most of a data directory is preallocated: empty blocks are passed over.
fn holds(bytes: &[u8], finder: &memmem::Finder<'_>) -> bool {
    static EMPTY: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
    let overlap = finder.needle().len();
    (0..bytes.len()).step_by(BLOCK_BYTES).any(|at| {
        let block = &bytes[at..bytes.len().min(at + BLOCK_BYTES)];
        block != &EMPTY[..block.len()]
            && finder
                .find(&bytes[at.saturating_sub(overlap)..bytes.len().min(at + BLOCK_BYTES + overlap)])
                .is_some()
    })
}

impl Seen {
    /// Names of the secrets that were learned, without them.
    pub fn secrets(&self) -> BTreeSet<&str> {
        self.notes.secrets.values().flat_map(|secret| &secret.what).map(String::as_str).collect()
    }

    /// Sentences about secrets in files where none may be.
    pub fn in_files(&self) -> Vec<&String> {
        self.notes.found.iter().collect()
    }

    /// Looks at command lines and environments taken together, also those from before a secret was learned.
    pub fn in_processes(&self) -> Vec<String> {
        self.notes.words.iter().flat_map(|words| self.in_bytes("a process", words)).collect()
    }

    pub fn in_bytes(&self, place: &str, bytes: &[u8]) -> Vec<String> {
        let holds = |(secret, name): (&Vec<u8>, &SecretName)| {
            memmem::find(bytes, secret).map(|at| format!("{place} holds {} at byte {at}", name.named()))
        };
        self.notes.secrets.iter().filter_map(holds).collect()
    }

    /// Different command lines and environments that were read, and looks at files: all, and with data directories.
    pub fn counts(&self) -> (usize, u32, u32) {
        (self.notes.words.len(), self.notes.file_scans, self.notes.deep_scans)
    }

    /// Descendants that still run.
    pub fn still_running(&self) -> Vec<i32> {
        let runs = |&&(pid, start): &&(i32, u64)| parent_and_start(pid).is_some_and(|(_, now)| now == start);
        self.notes.family.iter().filter(runs).map(|&(pid, _)| pid).collect()
    }

    pub fn family_size(&self) -> usize {
        self.notes.family.len()
    }
}
