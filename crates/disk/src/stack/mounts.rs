//! `/proc/self/mountinfo`: which file system a path is on.

use super::DeviceNumber;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub number: DeviceNumber,
    pub point: String,
    /// `ext4`, `fuse.sshfs`.
    pub kind: String,
    pub source: String,
}

pub(super) enum Devices {
    One(DeviceNumber),
    /// It is in memory.
    None,
    Hidden(String),
}

/// # Source
/// proc_pid_mountinfo(5): id, parent, major:minor, root, mount point, options, optional fields, `-`, type, source, super options.
fn parse(line: &str) -> Option<Mount> {
    let (first, second) = line.split_once(" - ")?;
    let mut first = first.split(' ').skip(2);
    let number = DeviceNumber::of(first.next()?)?;
    let point = unescaped(first.nth(1)?);
    let mut second = second.split(' ');
    Some(Mount { number, point, kind: second.next()?.to_owned(), source: unescaped(second.next()?) })
}

/// `\040` is a space; so are tab, line feed and the backslash written.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|_| first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        if let Some(byte) = octal {
            out.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            out.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn is_below(path: &str, point: &str) -> bool {
    point == "/" || path.strip_prefix(point).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// `seen`: the device that the kernel says of the path itself. A mount may hide another one below it, and only the kernel knows which.
pub(super) fn of_path(text: &str, path: &str, seen: Option<DeviceNumber>) -> Result<Mount, String> {
    let mut all = Vec::new();
    for line in text.lines() {
        all.push(parse(line).ok_or_else(|| format!("a line of mountinfo cannot be read: \"{line}\""))?);
    }
    let mut found: Vec<Mount> = all.into_iter().filter(|mount| is_below(path, &mount.point)).collect();
    // The longest is nearest; of equal ones the last is on top.
    found.sort_by_key(|mount| mount.point.len());
    let Some(nearest) = found.last() else { return Err(format!("no file system of mountinfo has {path}")) };
    match seen {
        Some(seen) if seen != nearest.number && !has_own_numbers(&nearest.kind) => found
            .iter()
            .rev()
            .find(|mount| mount.number == seen)
            .cloned()
            .ok_or_else(|| format!("{path} is on device {seen}, which mountinfo does not have there")),
        _ => Ok(nearest.clone()),
    }
}

/// Each subvolume has a number that stands nowhere else.
fn has_own_numbers(kind: &str) -> bool {
    matches!(kind, "btrfs" | "bcachefs" | "overlay")
}

pub(super) fn devices(mount: &Mount) -> Devices {
    let hidden = |why: &str| Devices::Hidden(format!("{} is {}: {why}", mount.point, mount.kind));
    match mount.kind.as_str() {
        "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => Devices::None,
        "overlay" | "aufs" => hidden(
            "what is written lies in its upper directory, on another file system; look there, on the host",
        ),
        "btrfs" => hidden("it hides its devices (btrfs filesystem show lists them; look at each)"),
        "bcachefs" => hidden("it hides its devices, and may encrypt by itself"),
        "zfs" => hidden("it hides its devices, and may encrypt by itself (zfs get encryption)"),
        "ecryptfs" => hidden("it encrypts by itself, file by file, which is not checked here"),
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "9p" | "virtiofs" | "afs" | "lustre" => {
            hidden("its data lie on another machine")
        }
        kind if kind.starts_with("fuse") && kind != "fuseblk" => {
            hidden("a program keeps its data, wherever it likes")
        }
        _ if mount.number.major == 0 => hidden("it tells no device"),
        _ => Devices::One(mount.number),
    }
}
