//! What is about a server and no file of it: the file systems of its temporary files, swap, core dumps, the place of
//! its keys, copies beside it.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use disk::key_place::KeyPlace;
use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use report::shape::{RestPlaceRow, RestPlaceWord};

use super::process::{self, Process};

/// `ramfs`, `RAMFS_MAGIC` of the kernel: memory that is never swapped.
const RAMFS_MAGIC: u32 = 0x8584_58f6;
/// Of dm-crypt, in the UUID of a mapped device (`cryptsetup`, `lib/libdevmapper.c`).
const CRYPT: &str = "CRYPT-";
/// Devices below devices; more is a loop.
const DEVICES_DEEP_MAX: usize = 8;

/// What becomes of bytes that a device is given.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Device {
    Encrypts,
    /// As far as this machine sees: a cloud or a disk may encrypt by itself.
    Plain,
    Unknown(String),
}

/// Of the device number, by the devices below it.
fn device(major: u64, minor: u64) -> Device {
    if major == 0 {
        return Device::Unknown("it is on no block device (overlay, network, memory)".into());
    }
    match PathBuf::from(format!("/sys/dev/block/{major}:{minor}")).canonicalize() {
        Ok(dir) => device_at(&dir, 0),
        Err(error) => Device::Unknown(format!("its device {major}:{minor} cannot be examined: {error}")),
    }
}

fn device_at(dir: &Path, depth: usize) -> Device {
    if depth > DEVICES_DEEP_MAX {
        return Device::Unknown("too many devices below each other".into());
    }
    match std::fs::read_to_string(dir.join("dm/uuid")) {
        Ok(uuid) if uuid.starts_with(CRYPT) => return Device::Encrypts,
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Device::Unknown(format!("its device cannot be examined: {error}")),
    }
    let below: Vec<PathBuf> = match std::fs::read_dir(dir.join("slaves")) {
        Ok(entries) => entries.flatten().filter_map(|entry| entry.path().canonicalize().ok()).collect(),
        // A partition has none of its own.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Device::Unknown(format!("its device cannot be examined: {error}")),
    };
    // One of several that does not encrypt is enough to read from.
    let all: Vec<Device> = below.iter().map(|one| device_at(one, depth + 1)).collect();
    if let Some(unknown) = all.iter().find(|one| matches!(one, Device::Unknown(_))) {
        return unknown.clone();
    }
    if !all.is_empty() && all.iter().all(|one| *one == Device::Encrypts) {
        Device::Encrypts
    } else {
        Device::Plain
    }
}

/// A directory for temporary files, as the server sees it.
pub fn directory(what: &str, shown: &Path, prefix: Option<&Path>) -> RestPlaceRow {
    let here = prefix
        .map_or_else(|| shown.to_owned(), |prefix| prefix.join(shown.strip_prefix("/").unwrap_or(shown)));
    let row = |verdict, text: String, cure: Option<&str>| RestPlaceRow {
        what: what.into(),
        path: Some(shown.display().to_string()),
        verdict,
        text,
        cure: cure.map(str::to_owned),
    };
    let kind = match statfs(&here) {
        Ok(facts) => facts.filesystem_type(),
        Err(errno) => {
            return row(RestPlaceWord::Unknown, format!("its file system cannot be examined: {errno}"), None);
        }
    };
    if kind == TMPFS_MAGIC {
        let text = "tmpfs: it is in memory, and in swap where there is one".to_owned();
        return row(RestPlaceWord::Memory, text, None);
    }
    // The number has another type with musl than with glibc.
    if u32::try_from(kind.0) == Ok(RAMFS_MAGIC) {
        return row(RestPlaceWord::Memory, "ramfs: it is in memory".into(), None);
    }
    let number = match std::fs::metadata(&here) {
        Ok(facts) => facts.dev(),
        Err(error) => return row(RestPlaceWord::Unknown, format!("it cannot be examined: {error}"), None),
    };
    match device(nix::sys::stat::major(number), nix::sys::stat::minor(number)) {
        Device::Encrypts => row(RestPlaceWord::Encrypted, "dm-crypt is below it".into(), None),
        Device::Plain => {
            let cure = "put it on LUKS or, where its files fit, on tmpfs";
            row(RestPlaceWord::Plain, "on a device that this machine does not encrypt".into(), Some(cure))
        }
        Device::Unknown(why) => row(RestPlaceWord::Unknown, why, None),
    }
}

/// Each swap space, or that there is none.
pub fn swap(is_locked: bool) -> Vec<RestPlaceRow> {
    match std::fs::read_to_string("/proc/swaps") {
        Ok(text) => swaps(&text, is_locked, |path| {
            let facts = std::fs::metadata(path)?;
            let number = if path.starts_with("/dev") { facts.rdev() } else { facts.dev() };
            Ok(device(nix::sys::stat::major(number), nix::sys::stat::minor(number)))
        }),
        Err(error) => {
            vec![swap_row(None, RestPlaceWord::Unknown, format!("/proc/swaps cannot be read: {error}"), None)]
        }
    }
}

fn swap_row(path: Option<&str>, verdict: RestPlaceWord, text: String, cure: Option<&str>) -> RestPlaceRow {
    RestPlaceRow {
        what: "swap".into(),
        path: path.map(str::to_owned),
        verdict,
        text,
        cure: cure.map(str::to_owned),
    }
}

/// Source: proc(5), `/proc/swaps`: a header, then file name, type, size, used, priority.
fn swaps(text: &str, is_locked: bool, of: impl Fn(&Path) -> io::Result<Device>) -> Vec<RestPlaceRow> {
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let Some(path) = line.split_whitespace().next() else { continue };
        let row = |verdict, text: String, cure| swap_row(Some(path), verdict, text, cure);
        if path.starts_with("/dev/zram") {
            rows.push(row(RestPlaceWord::Memory, "zram: it is in memory".into(), None));
            continue;
        }
        rows.push(match of(Path::new(path)) {
            Ok(Device::Encrypts) => row(RestPlaceWord::Encrypted, "dm-crypt is below it".into(), None),
            Ok(Device::Plain) if is_locked => {
                let text = "not encrypted; the server keeps its memory locked (memlock)".to_owned();
                row(RestPlaceWord::Ok, text, None)
            }
            Ok(Device::Plain) => {
                let cure = "encrypted swap (crypttab with a random key), swapoff -a, or memlock=ON";
                row(
                    RestPlaceWord::Plain,
                    "not encrypted: pages of the server's memory can be there".into(),
                    Some(cure),
                )
            }
            Ok(Device::Unknown(why)) => row(RestPlaceWord::Unknown, why, None),
            Err(error) => row(RestPlaceWord::Unknown, format!("it cannot be examined: {error}"), None),
        });
    }
    if rows.is_empty() {
        rows.push(swap_row(None, RestPlaceWord::Ok, "this machine has no swap".into(), None));
    }
    rows
}

/// What decides whether a core of the server's memory is written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cores {
    /// `kernel.core_pattern`
    pattern: String,
    /// `RLIMIT_CORE`, soft; `None`: unlimited.
    limit_bytes: Option<u64>,
    /// Which memory is in it, as bits of core(5).
    filter: u32,
    /// The kernel writes none of a process that is not dumpable (prctl(2)): one that has changed its user.
    is_dumpable: bool,
}

/// Bits of private and shared anonymous memory: heap, stacks, buffers.
const ANONYMOUS: u32 = 0b11;
const NO_CORES: &str = "LimitCORE=0 in the service, no core_file in the option file; with a pipe in core_pattern also \
                        Storage=none in coredump.conf";

pub fn core(process: &Process) -> RestPlaceRow {
    let row = |verdict, path: Option<String>, text: String, cure: Option<&str>| RestPlaceRow {
        what: "core dumps".into(),
        path,
        verdict,
        text,
        cure: cure.map(str::to_owned),
    };
    let Process::Runs { pid, uid, .. } = process else {
        let text = match process {
            Process::Unknown(why) => why.clone(),
            _ => "no server runs in this directory: its limits are known when it runs".to_owned(),
        };
        return row(RestPlaceWord::Unknown, None, text, None);
    };
    match cores(*pid, *uid) {
        Err(why) => row(RestPlaceWord::Unknown, None, why, None),
        Ok(cores) => {
            let (verdict, text) = judge_cores(&cores);
            let cure = (verdict == RestPlaceWord::Plain).then_some(NO_CORES);
            row(verdict, Some(cores.pattern), text, cure)
        }
    }
}

fn cores(pid: i32, uid: u32) -> Result<Cores, String> {
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let limits = read(process::of(pid, "limits"))?;
    let filter = read(process::of(pid, "coredump_filter"))?;
    let environ = process::of(pid, "environ");
    let owner = std::fs::metadata(&environ)
        .map_err(|error| format!("{} cannot be examined: {error}", environ.display()))?
        .uid();
    Ok(Cores {
        pattern: read("/proc/sys/kernel/core_pattern".into())?.trim().to_owned(),
        limit_bytes: core_limit(&limits)?,
        filter: u32::from_str_radix(filter.trim(), 16)
            .map_err(|_| "its coredump_filter is not understood")?,
        // Source: proc(5): files of a process that is not dumpable belong to root.
        is_dumpable: uid == 0 || owner == uid,
    })
}

/// Source: proc(5): the line `Max core file size`, then the soft limit.
fn core_limit(limits: &str) -> Result<Option<u64>, &'static str> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max core file size"));
    match line.and_then(|line| line.split_whitespace().next()) {
        Some("unlimited") => Ok(None),
        Some(bytes) => bytes.parse().map(Some).map_err(|_| NO_LIMIT),
        None => Err(NO_LIMIT),
    }
}

const NO_LIMIT: &str = "its limits are not understood";

fn judge_cores(cores: &Cores) -> (RestPlaceWord, String) {
    let goes_to = if let Some(program) = cores.pattern.strip_prefix('|') {
        format!("the program {}", program.split_whitespace().next().unwrap_or_default())
    } else {
        format!("the file {}", cores.pattern)
    };
    let limit = cores.limit_bytes.map_or("unlimited".to_owned(), |bytes| format!("{bytes} bytes"));
    let facts = format!("LimitCORE {limit}, coredump_filter {:#x}", cores.filter);
    if cores.pattern.is_empty() {
        return (RestPlaceWord::Ok, "core_pattern is empty: none is written".into());
    }
    if !cores.is_dumpable {
        return (RestPlaceWord::Ok, format!("none is written: the process is not dumpable ({facts})"));
    }
    // Source: core(5): the limit does not hold where cores are piped to a program.
    if !cores.pattern.starts_with('|') && cores.limit_bytes == Some(0) {
        return (RestPlaceWord::Ok, format!("none is written ({facts})"));
    }
    if cores.filter & ANONYMOUS == 0 {
        let text = format!("a crash would write one to {goes_to}, without private memory ({facts})");
        return (RestPlaceWord::Unknown, text);
    }
    (RestPlaceWord::Plain, format!("a crash would write memory to {goes_to} ({facts})"))
}

/// A file of keys of the encryption, and whether who takes the data takes it too.
/// `opened_by`: the file with its passphrase, without which it gives no key.
pub fn key_file(
    what: &str,
    shown: &Path,
    opened_by: Option<&Path>,
    prefix: Option<&Path>,
    root: &Path,
) -> RestPlaceRow {
    let below = |path: &Path| {
        prefix.map_or_else(|| path.to_owned(), |prefix| prefix.join(path.strip_prefix("/").unwrap_or(path)))
    };
    let here = below(shown);
    let row = |verdict, text: String, cure: Option<&str>| RestPlaceRow {
        what: what.into(),
        path: Some(shown.display().to_string()),
        verdict,
        text,
        cure: cure.map(str::to_owned),
    };
    let key = match std::fs::metadata(&here) {
        Ok(key) => key,
        Err(error) => return row(RestPlaceWord::Unknown, format!("it cannot be examined: {error}"), None),
    };
    let others = key.mode() & 0o007 != 0;
    if others {
        let cure = "mode 0600, owned by the user of the server";
        return row(
            RestPlaceWord::Plain,
            format!("mode {:04o}: any user of this machine", key.mode() & 0o7777),
            Some(cure),
        );
    }
    let opened_by = opened_by.map(below);
    let needed: Vec<&Path> = std::iter::once(here.as_path()).chain(opened_by.as_deref()).collect();
    let place = disk::key_place::of(&disk::stack::Here, root, &needed);
    let text = match (&place, needed.len()) {
        (KeyPlace::SameFileSystem | KeyPlace::SameDisk(_), 2) => format!("with its passphrase {place}"),
        (KeyPlace::Encrypted | KeyPlace::Elsewhere, 2) => format!("it or its passphrase is {place}"),
        _ => place.to_string(),
    };
    match place {
        KeyPlace::SameFileSystem | KeyPlace::SameDisk(_) => {
            let cure = "keep it on another device or in a key server, and a copy elsewhere";
            row(RestPlaceWord::Plain, text, Some(cure))
        }
        KeyPlace::Encrypted | KeyPlace::Elsewhere => row(RestPlaceWord::Ok, text, None),
        KeyPlace::Unknown(_) => row(RestPlaceWord::Unknown, text, None),
    }
}

/// Directories beside the data that are copies of a data directory, or another server's.
pub fn copies(root: &Path) -> Vec<RestPlaceRow> {
    /// A server or a backup tool writes one of them.
    const SIGNS: &[&str] = &["ibdata1", "mysql.ibd", "xtrabackup_checkpoints", "mariadb_backup_checkpoints"];
    let Some(parent) = root.parent() else { return Vec::new() };
    let row = |path: &Path, verdict, text: String, cure: Option<String>| RestPlaceRow {
        what: "beside the data".into(),
        path: Some(path.display().to_string()),
        verdict,
        text,
        cure,
    };
    let entries = match std::fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) => {
            return vec![row(parent, RestPlaceWord::Unknown, format!("it cannot be listed: {error}"), None)];
        }
    };
    let mut rows: Vec<RestPlaceRow> = entries
        .flatten()
        .filter(|entry| entry.path() != root && entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| SIGNS.iter().any(|sign| entry.path().join(sign).exists()))
        .map(|entry| {
            let path = entry.path();
            let cure = format!("sealion status rest --datadir {}", path.display());
            let text = "another data directory, or a backup of one: not read".to_owned();
            row(&path, RestPlaceWord::Unknown, text, Some(cure))
        })
        .collect();
    rows.sort_by(|a, b| a.path.cmp(&b.path));
    rows
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_device_encrypts_if_all_that_it_stands_on_does() {
        let home = tempfile::tempdir().unwrap();
        let make = |name: &str, uuid: Option<&str>, below: &[&str]| {
            let dir = home.path().join(name);
            std::fs::create_dir_all(dir.join("slaves")).unwrap();
            if let Some(uuid) = uuid {
                std::fs::create_dir(dir.join("dm")).unwrap();
                std::fs::write(dir.join("dm/uuid"), uuid).unwrap();
            }
            for one in below {
                std::os::unix::fs::symlink(home.path().join(one), dir.join("slaves").join(one)).unwrap();
            }
            dir
        };
        make("sda", None, &[]);
        make("luks", Some("CRYPT-LUKS2-0a-x\n"), &["sda"]);
        let lvm = make("lvm", Some("LVM-abc\n"), &["luks"]);
        let half = make("half", Some("LVM-abd\n"), &["luks", "sda"]);
        let looped = make("looped", Some("LVM-abe\n"), &["looped"]);
        assert_eq!(device_at(&lvm, 0), Device::Encrypts);
        assert_eq!(device_at(&half, 0), Device::Plain);
        assert_eq!(device_at(&home.path().join("sda"), 0), Device::Plain);
        assert!(matches!(device_at(&looped, 0), Device::Unknown(_)));
        assert!(matches!(device(0, 41), Device::Unknown(_)));
    }

    #[test]
    fn swap_is_plain_unless_something_below_it_encrypts() {
        let of = |text: &str, is_locked, below: Device| {
            let rows =
                swaps(&format!("Filename Type Size Used Priority\n{text}"), is_locked, |_| Ok(below.clone()));
            rows.iter().map(|row| row.verdict).collect::<Vec<_>>()
        };
        assert_eq!(of("", false, Device::Plain), [RestPlaceWord::Ok]);
        assert_eq!(of("/dev/sda2 partition 1 0 -2\n", false, Device::Plain), [RestPlaceWord::Plain]);
        assert_eq!(of("/dev/sda2 partition 1 0 -2\n", true, Device::Plain), [RestPlaceWord::Ok]);
        assert_eq!(of("/dev/dm-1 partition 1 0 -2\n", false, Device::Encrypts), [RestPlaceWord::Encrypted]);
        assert_eq!(
            of("/dev/zram0 partition 1 0 5\n/swapfile file 1 0 -2\n", false, Device::Unknown("x".into())),
            [RestPlaceWord::Memory, RestPlaceWord::Unknown]
        );
    }

    #[test]
    fn a_core_is_written_where_nothing_keeps_it_from_being_written() {
        let file = Cores { pattern: "core".into(), limit_bytes: None, filter: 0x33, is_dumpable: true };
        let piped = Cores {
            pattern: "|/lib/systemd/systemd-coredump %P".into(),
            limit_bytes: Some(0),
            ..file.clone()
        };
        for (cores, verdict) in [
            (file.clone(), RestPlaceWord::Plain),
            (Cores { limit_bytes: Some(0), ..file.clone() }, RestPlaceWord::Ok),
            (piped.clone(), RestPlaceWord::Plain),
            (Cores { is_dumpable: false, ..piped }, RestPlaceWord::Ok),
            (Cores { pattern: String::new(), ..file.clone() }, RestPlaceWord::Ok),
            (Cores { filter: 0, ..file }, RestPlaceWord::Unknown),
        ] {
            let (said, text) = judge_cores(&cores);
            assert_eq!(said, verdict, "{text}");
        }
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max core file size        0                    unlimited            bytes     \n";
        assert_eq!(core_limit(limits), Ok(Some(0)));
        assert_eq!(core_limit(&limits.replace("  0  ", "  unlimited  ")), Ok(None));
        assert!(core_limit("Max cpu time").is_err());
        let own = cores(i32::try_from(std::process::id()).unwrap(), nix::unistd::getuid().as_raw()).unwrap();
        assert!(own.is_dumpable, "{own:?}");
    }

    #[test]
    fn a_copy_beside_the_data_is_named_and_a_key_that_all_may_read_is_plain() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().canonicalize().unwrap();
        for name in ["data", "old", "letters"] {
            std::fs::create_dir(dir.join(name)).unwrap();
        }
        std::fs::write(dir.join("data/ibdata1"), "").unwrap();
        std::fs::write(dir.join("old/xtrabackup_checkpoints"), "").unwrap();
        let rows = copies(&dir.join("data"));
        let [old] = &rows[..] else { panic!("{rows:?}") };
        assert!(old.path.as_ref().unwrap().ends_with("/old"));
        let key = dir.join("keys");
        std::fs::write(&key, "").unwrap();
        let of = |mode: u32| {
            std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
            key_file("key file", &key, None, None, &dir)
        };
        assert!(of(0o644).text.contains("any user"));
        assert!(of(0o600).text.contains("both"));
        assert_eq!(
            key_file("key file", &dir.join("nowhere"), None, None, &dir).verdict,
            RestPlaceWord::Unknown
        );
    }
}
