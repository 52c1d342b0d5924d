//! How many connections were made to an address, over all runs: servers count those that end before a login, and after
//! `max_connect_errors` of them (100 by default) they turn the host away, for everybody on it (error 1129).
//!
//! Source: MySQL manual, "DNS Lookups and the Host Cache"; seen on MariaDB 10.11.19 and MySQL 9.7.4: the count goes back
//! only with a good login from the same host, or when the host cache is flushed. 127.0.0.0/8 and ::1 are never counted.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::{Clock, SystemClock};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, Flock, FlockArg, fcntl};
use nix::libc;
use serde::{Deserialize, Serialize};

/// After that the connections of a day count anew; the sum of all goes on.
const DAY_MS: u64 = 24 * 3600 * 1000;
/// Of all days, since somebody last said that the server has forgotten: servers turn a host away at 100.
pub const ALL_DAYS_MAX: u32 = 90;
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Between two times that it is kept.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// Whoever holds the file longer is stopped, or no sealion.
const LOCK_WAIT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Spent {
    /// Of the day that ends 24 hours after the last of them.
    connections: u32,
    last_unix_ms: u64,
    /// Of all days. `None`: an older version wrote it.
    #[serde(default)]
    all_days: Option<u32>,
}

impl Spent {
    fn all_days(&self) -> u32 {
        self.all_days.unwrap_or(self.connections)
    }

    fn add(&mut self, connections: u32, now_unix_ms: u64) {
        self.all_days = Some(self.all_days().saturating_add(connections));
        if now_unix_ms.saturating_sub(self.last_unix_ms) >= DAY_MS {
            self.connections = 0;
        }
        self.connections = self.connections.saturating_add(connections);
        self.last_unix_ms = now_unix_ms;
    }
}

type BySpent = BTreeMap<IpAddr, Spent>;

/// What was spent, by address.
#[derive(Debug, Default)]
pub struct Budget {
    path: Option<PathBuf>,
    /// As the file was when it was last read, and what was spent here since then.
    spent: BySpent,
    /// Spent here and not in the file yet: others may write to it meanwhile.
    unsaved: BTreeMap<IpAddr, u32>,
    save_at: Option<Instant>,
    /// Its bytes are locked, one for each address that is being asked from here.
    turns: Option<fs::File>,
    /// Each connection as it is begun, until the file has it: what a process that is killed leaves behind.
    journal: Option<Journal>,
    /// Why something could not be kept or read, said once.
    complaint: Option<String>,
    held: BTreeMap<IpAddr, Turn>,
    /// Which file it was when it was last read: each writer makes a new one.
    read_as: Option<FileId>,
}

/// Whose turn it is to ask an address: one process at a time, or two would each spend what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Ours,
    /// Given back with the next save: whoever is next must read what was spent.
    Ending,
}

impl Budget {
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// `$XDG_STATE_HOME/sealion/connections.json`. What cannot be read is taken for nothing spent: the file is a courtesy to
    /// servers, and no scan fails for it.
    pub fn open() -> Self {
        let Some(path) = site::machine::state_dir().map(|state| state.join("connections.json")) else {
            return Self::in_memory();
        };
        Self::at(path)
    }

    pub(super) fn at(path: PathBuf) -> Self {
        let mut budget = Self::in_memory();
        budget.complain(absorb(&path, None).err());
        budget.complain(complaint_of(&path));
        budget.read_as = file_id(&path);
        budget.spent = read(&path);
        match Journal::create(&path) {
            Ok(journal) => budget.journal = Some(journal),
            Err(why) => budget.complain(Some(why)),
        }
        match open_beside(&path, "turns") {
            Ok(turns) => budget.turns = Some(turns),
            Err(why) => budget.complain(Some(why)),
        }
        budget.path = Some(path);
        budget
    }

    fn complain(&mut self, why: Option<String>) {
        if self.complaint.is_none() {
            self.complaint = why;
        }
    }

    /// Why the count may be wrong, if it may.
    pub fn complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }

    /// Whether `address` may be asked now: no other sealion of this user asks it, and what others spent on it is known. Where
    /// nothing can be locked it may: the budget is a courtesy.
    pub fn take_turn(&mut self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_loopback() {
            return true;
        }
        if let Some(turn) = self.held.get_mut(&address) {
            *turn = Turn::Ours;
            return true;
        }
        let Some(path) = self.path.clone() else { return true };
        let Some(file) = &self.turns else { return true };
        match fcntl(file, FcntlArg::F_OFD_SETLK(&byte_of(address, libc::F_WRLCK))) {
            Ok(_) => {}
            Err(Errno::EAGAIN | Errno::EACCES) => return false,
            Err(_) => return true,
        }
        self.held.insert(address, Turn::Ours);
        // Whoever had it before may have been killed.
        let own = self.journal.as_ref().map(|journal| journal.path.clone());
        if let Err(why) = absorb(&path, own.as_deref()) {
            self.complain(Some(why));
        }
        let now = file_id(&path);
        if now != self.read_as {
            self.read_as = now;
            self.spent = read(&path);
            let now_unix_ms = SystemClock.unix_ms();
            for (address, connections) in &self.unsaved {
                self.spent.entry(*address).or_default().add(*connections, now_unix_ms);
            }
        }
        true
    }

    /// `address` has been asked: others may, once what was spent is in the file.
    pub fn end_turn(&mut self, address: IpAddr) {
        if let Some(turn) = self.held.get_mut(&address.to_canonical()) {
            *turn = Turn::Ending;
        }
    }

    fn give_turns_back(&mut self) {
        let Some(file) = &self.turns else { return };
        self.held.retain(|address, turn| {
            let is_over = *turn == Turn::Ending;
            if is_over {
                let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&byte_of(*address, libc::F_UNLCK)));
            }
            !is_over
        });
    }

    /// Connections that may still be made to `address` of `allowed` in a day.
    pub fn left(&self, address: IpAddr, allowed: u32) -> u32 {
        let address = address.to_canonical();
        if address.is_loopback() {
            return u32::MAX;
        }
        let Some(one) = self.spent.get(&address) else { return allowed };
        let is_of_today = SystemClock.unix_ms().saturating_sub(one.last_unix_ms) < DAY_MS;
        let today = if is_of_today { one.connections } else { 0 };
        // Who allows more a day than servers take knows theirs.
        let ever = ALL_DAYS_MAX.max(allowed);
        allowed.saturating_sub(today).min(ever.saturating_sub(one.all_days()))
    }

    pub fn spend(&mut self, address: IpAddr, connections: u32) {
        let address = address.to_canonical();
        if address.is_loopback() || connections == 0 {
            return;
        }
        self.spent.entry(address).or_default().add(connections, SystemClock.unix_ms());
        let unsaved = self.unsaved.entry(address).or_default();
        *unsaved = unsaved.saturating_add(connections);
        if let Some(journal) = &mut self.journal {
            let kept = (0..connections).try_for_each(|_| writeln!(journal.file, "{address}"));
            if let Err(error) = kept {
                let why = format!("{}: {error}", journal.path.display());
                self.complain(Some(why));
            }
        }
    }

    /// Nothing was spent on any address: somebody says that the servers have forgotten.
    ///
    /// # Errors
    /// Why it could not be written.
    pub fn forget(&mut self) -> Result<(), String> {
        self.spent.clear();
        self.unsaved.clear();
        let Some(path) = &self.path else { return Ok(()) };
        let _lock = lock(path)?;
        write(path, &self.spent)
    }

    /// The same of these addresses alone: their servers have let somebody in.
    ///
    /// # Errors
    /// Why it could not be written.
    pub fn forget_addresses(&mut self, addresses: &[IpAddr]) -> Result<(), String> {
        if addresses.is_empty() {
            return Ok(());
        }
        let forget = |spent: &mut BySpent| spent.retain(|address, _| !addresses.contains(address));
        forget(&mut self.spent);
        self.unsaved.retain(|address, _| !addresses.contains(address));
        let Some(path) = &self.path else { return Ok(()) };
        let _lock = lock(path)?;
        let mut all = read(path);
        forget(&mut all);
        write(path, &all)
    }

    /// Keeps it, if the last time is long ago. What fails here fails again at the end, and is said there.
    pub fn save_now_and_then(&mut self) {
        let began = Instant::now();
        if self.unsaved.is_empty() {
            self.give_turns_back();
            return;
        }
        if self.save_at.is_some_and(|at| began < at) {
            return;
        }
        let _ = self.save();
        // A long file takes a while: most of the time is for the scan.
        self.save_at = Some(Instant::now() + SAVE_EVERY.max(began.elapsed() * 20));
    }

    /// Adds what was spent here to what others have kept meanwhile.
    ///
    /// # Errors
    /// Why it could not be written.
    pub fn save(&mut self) -> Result<(), String> {
        let kept = self.keep();
        self.give_turns_back();
        kept
    }

    fn keep(&mut self) -> Result<(), String> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let _lock = lock(&path)?;
        let mut all = read(&path);
        let now = SystemClock.unix_ms();
        for (address, connections) in &self.unsaved {
            all.entry(*address).or_default().add(*connections, now);
        }
        write(&path, &all)?;
        // Killed before this, it counts twice: better than not at all.
        if let Some(journal) = &self.journal {
            let _ = journal.file.set_len(0);
        }
        self.read_as = file_id(&path);
        self.unsaved.clear();
        self.spent = all;
        Ok(())
    }
}

/// Also when something panics.
impl Drop for Budget {
    fn drop(&mut self) {
        let _ = self.save();
    }
}

fn read(path: &Path) -> BySpent {
    let bytes = host::ReadHost::read(&host::Local, path, FILE_BYTES_MAX).ok().flatten();
    let kept: BySpent = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    // Older versions knew one server under two addresses.
    let mut spent = BySpent::new();
    for (address, one) in kept {
        let sum = spent.entry(address.to_canonical()).or_default();
        *sum = Spent {
            connections: sum.connections.saturating_add(one.connections),
            last_unix_ms: sum.last_unix_ms.max(one.last_unix_ms),
            all_days: Some(sum.all_days().saturating_add(one.all_days())),
        };
    }
    spent
}

fn write(path: &Path, spent: &BySpent) -> Result<(), String> {
    let text = serde_json::to_string(spent).map_err(|error| error.to_string())?;
    trust::file::write_atomically(path, text.as_bytes(), 0o600, None).map_err(|error| error.to_string())
}

/// One line for each connection that is not in the file yet. It is locked as long as its process lives.
#[derive(Debug)]
struct Journal {
    path: PathBuf,
    file: Flock<fs::File>,
}

impl Journal {
    fn create(beside: &Path) -> Result<Self, String> {
        let extension =
            format!("journal-{}-{}", std::process::id(), JOURNALS.fetch_add(1, Ordering::Relaxed));
        let path = beside.with_extension(&extension);
        for _ in 0..5 {
            let file = open_beside(beside, &extension)?;
            let locked = Flock::lock(file, FlockArg::LockExclusiveNonblock);
            let Ok(file) = locked else {
                return Err(format!("{}: another process holds it", path.display()));
            };
            // Somebody may have taken it for one whose process has died, in the moment before it was locked.
            if file
                .metadata()
                .is_ok_and(|of_file| fs::metadata(&path).is_ok_and(|of_path| of_path.ino() == of_file.ino()))
            {
                // From the beginning: the number of a process comes again.
                let _ = file.set_len(0);
                return Ok(Self { path, file });
            }
        }
        Err(format!("{}: another process keeps removing it", path.display()))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Of one process.
static JOURNALS: AtomicU32 = AtomicU32::new(0);
const JOURNAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Adds what processes that were killed had begun and not kept.
fn absorb(path: &Path, own: Option<&Path>) -> Result<(), String> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_stem()) else { return Ok(()) };
    let Ok(entries) = fs::read_dir(dir) else { return Ok(()) };
    let prefix = format!("{}.journal-", name.to_string_lossy());
    for entry in entries.flatten() {
        let left = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(&prefix) || own == Some(left.as_path()) {
            continue;
        }
        let Ok(file) = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&left) else {
            continue;
        };
        // Its process lives.
        let Ok(_dead) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else { continue };
        let _lock = lock(path)?;
        let Ok(Some(bytes)) = host::ReadHost::read(&host::Local, &left, JOURNAL_BYTES_MAX) else { continue };
        let mut all = read(path);
        let now = SystemClock.unix_ms();
        // The last line may be half of one.
        for address in String::from_utf8_lossy(&bytes).lines().filter_map(|line| line.parse::<IpAddr>().ok())
        {
            all.entry(address).or_default().add(1, now);
        }
        if !bytes.is_empty() {
            write(path, &all)?;
        }
        fs::remove_file(&left).map_err(|error| format!("{}: {error}", left.display()))?;
    }
    Ok(())
}

/// What is there and cannot be read is said: it is taken for nothing spent.
fn complaint_of(path: &Path) -> Option<String> {
    let bytes = match host::ReadHost::read(&host::Local, path, FILE_BYTES_MAX) {
        Ok(bytes) => bytes?,
        Err(error) => return Some(format!("{}: {error}", path.display())),
    };
    let error = serde_json::from_slice::<BySpent>(&bytes).err()?;
    Some(format!("{} is damaged and is ignored: {error}", path.display()))
}

/// Inode, and when it was changed: the numbers of inodes come again.
type FileId = (u64, i64, i64);

fn file_id(path: &Path) -> Option<FileId> {
    fs::metadata(path).ok().map(|metadata| (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
}

/// The byte that stands for an address, by FNV-1a: two addresses that share one wait for each other, and no more.
fn byte_of(address: IpAddr, kind: i32) -> libc::flock {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = match address {
        IpAddr::V4(ip) => ip.octets().iter().fold(0xcbf2_9ce4_8422_2325, fold),
        IpAddr::V6(ip) => ip.octets().iter().fold(0xcbf2_9ce4_8422_2325, fold),
    };
    libc::flock {
        l_type: i16::try_from(kind).unwrap_or_default(),
        l_whence: 0,
        l_start: i64::try_from(hash >> 2).unwrap_or_default(),
        l_len: 1,
        l_pid: 0,
    }
}

/// The file itself is replaced by each who writes it: locks are on files beside it.
fn open_beside(path: &Path, extension: &str) -> Result<fs::File, String> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    let beside = path.with_extension(extension);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .append(true)
        .mode(0o600)
        // A pipe that somebody has put there would be waited for.
        .custom_flags(libc::O_NONBLOCK)
        .open(&beside)
        .map_err(|error| format!("{}: {error}", beside.display()))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(file);
    }
    Err(format!("{}: not a file", beside.display()))
}

fn lock(path: &Path) -> Result<Flock<fs::File>, String> {
    let mut file = open_beside(path, "lock")?;
    let until = Instant::now() + LOCK_WAIT;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((back, Errno::EWOULDBLOCK | Errno::EINTR)) if Instant::now() < until => file = back,
            Err((_, errno)) => {
                return Err(format!("{}: {errno}", path.with_extension("lock").display()));
            }
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_login_at_one_address_leaves_the_counts_of_all_others() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("connections.json");
        let (one, other): (IpAddr, IpAddr) =
            ("192.0.2.1".parse().expect("an address"), "192.0.2.2".parse().expect("an address"));
        let mut budget = Budget::at(path.clone());
        budget.spend(one, 30);
        budget.spend(other, 30);
        budget.save().expect("kept");
        budget.forget_addresses(&[one]).expect("written");
        for budget in [&budget, &Budget::at(path)] {
            assert_eq!((budget.left(one, 40), budget.left(other, 40)), (40, 10));
        }
    }

    #[test]
    fn loopback_costs_nothing_and_others_add_up() {
        let mut budget = Budget::in_memory();
        let (near, far): (IpAddr, IpAddr) =
            ("127.77.1.1".parse().expect("ip"), "192.0.2.1".parse().expect("ip"));
        for address in [near, far] {
            budget.spend(address, 30);
            budget.spend(address, 5);
        }
        assert_eq!((budget.left(near, 40), budget.left(far, 40), budget.left(far, 30)), (u32::MAX, 5, 0));
    }

    #[test]
    fn runs_side_by_side_add_up_and_a_panic_forgets_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("sealion/connections.json");
        let far: IpAddr = "192.0.2.1".parse().expect("ip");
        let mut two = [Budget::at(path.clone()), Budget::at(path.clone())];
        for budget in &mut two {
            budget.spend(far, 7);
        }
        for budget in &mut two {
            budget.save().expect("kept");
            budget.save().expect("kept once");
        }
        assert_eq!((two[1].left(far, 40), Budget::at(path.clone()).left(far, 40)), (26, 26));
        let inner = path.clone();
        let ended = std::panic::catch_unwind(move || {
            let mut budget = Budget::at(inner);
            budget.spend(far, 1);
            panic!("a fault");
        });
        assert!(ended.is_err());
        assert_eq!(Budget::at(path).left(far, 40), 25);
    }

    #[test]
    fn an_address_is_asked_by_one_at_a_time_and_the_next_knows_what_was_spent() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("sealion/connections.json");
        let [far, other]: [IpAddr; 2] =
            ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().expect("an address"));
        let (mut one, mut two) = (Budget::at(path.clone()), Budget::at(path.clone()));
        assert!(one.take_turn(far) && !two.take_turn(far) && two.take_turn(other));
        one.spend(far, 30);
        one.end_turn(far);
        assert!(!two.take_turn(far), "what was spent is not in the file yet");
        assert!(one.take_turn(far), "and until then it may go on itself");
        one.end_turn(far);
        one.save().expect("kept");
        assert!(two.take_turn(far) && !one.take_turn(far));
        assert_eq!(two.left(far, 40), 10);
        // Whoever is killed gives all back.
        drop(two);
        assert!(one.take_turn(far) && one.take_turn(other));
    }

    #[test]
    fn what_a_killed_process_had_begun_counts_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("sealion/connections.json");
        let far: IpAddr = "192.0.2.1".parse().expect("an address");
        let mut killed = Budget::at(path.clone());
        assert!(killed.take_turn(far));
        killed.spend(far, 3);
        killed.save().expect("kept");
        killed.spend(far, 8);
        // As kill -9 leaves it: the file without the last eight, the journal with them and half a line, all locks gone.
        let journal = killed.journal.take().expect("there is one");
        let left = journal.path.clone();
        let text = fs::read_to_string(&left).expect("it is there");
        assert_eq!(text.lines().count(), 8);
        drop(journal);
        killed.unsaved.clear();
        drop(killed);
        fs::write(&left, text + "192.0").expect("written");
        let mut waits = Budget::at(path.clone());
        assert!(!left.exists() && waits.take_turn(far));
        assert_eq!((waits.left(far, 40), Budget::at(path.clone()).left(far, 40)), (29, 29));
        // One that lives is not touched.
        waits.spend(far, 1);
        assert_eq!(Budget::at(path.clone()).left(far, 40), 29);
        drop(waits);
        assert_eq!(Budget::at(path.clone()).left(far, 40), 28);
        let files = fs::read_dir(path.parent().expect("a directory")).expect("read").count();
        assert_eq!(files, 3, "the file, its lock, and that of turns");
    }

    #[test]
    fn what_cannot_be_kept_or_read_is_said_and_nothing_hangs() {
        for what in ["turns", "lock"] {
            for is_pipe in [true, false] {
                let directory = tempfile::tempdir().expect("a directory");
                let odd = directory.path().join(format!("connections.{what}"));
                if is_pipe {
                    nix::unistd::mkfifo(&odd, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
                } else {
                    fs::create_dir(&odd).expect("a directory");
                }
                let mut budget = Budget::at(directory.path().join("connections.json"));
                budget.spend("192.0.2.1".parse().expect("an address"), 1);
                let said = budget.complaint().or_else(|| budget.save().err());
                assert!(said.expect("a word").contains(what), "{what} {is_pipe}");
            }
        }
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("connections.json");
        fs::write(&path, r#"{"192.0.2.1":{"connections":99"#).expect("written");
        assert!(Budget::at(path).complaint().expect("a word").contains("damaged"));
    }

    #[test]
    fn ipv4_within_ipv6_is_the_same_server() {
        let mut budget = Budget::in_memory();
        budget.spend("::ffff:192.0.2.1".parse().expect("ip"), 30);
        budget.spend("192.0.2.1".parse().expect("ip"), 5);
        for address in ["::ffff:192.0.2.1", "192.0.2.1"] {
            assert_eq!(budget.left(address.parse().expect("ip"), 40), 5, "{address}");
        }
    }

    #[test]
    fn a_day_counts_anew_and_the_sum_of_all_goes_on_until_it_is_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("connections.json");
        let far: IpAddr = "192.0.2.1".parse().expect("ip");
        // As an older version wrote it, long ago.
        fs::write(&path, r#"{"192.0.2.1":{"connections":35,"last_unix_ms":1}}"#).expect("written");
        let mut budget = Budget::at(path.clone());
        assert_eq!(budget.left(far, 40), 40);
        budget.spend(far, 35);
        assert_eq!(budget.left(far, 40), 5);
        budget.save().expect("kept");
        let text = fs::read_to_string(&path).expect("kept");
        let old = format!("\"last_unix_ms\":{}", budget.spent[&far].last_unix_ms);
        fs::write(&path, text.replace(&old, "\"last_unix_ms\":1")).expect("written");
        let mut budget = Budget::at(path.clone());
        assert_eq!((budget.left(far, 40), budget.left(far, 200)), (20, 130));
        budget.forget().expect("written");
        assert_eq!((budget.left(far, 40), Budget::at(path).left(far, 40)), (40, 40));
    }
}
