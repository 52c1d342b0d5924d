//! Recorded trees, as sysfs of Linux 6.1 has them, cut to what is read.

use std::collections::{BTreeMap, BTreeSet};

use formats::luks::Claim;

use super::*;

/// Paths and their contents; a path that begins with `!` cannot be read.
#[derive(Default)]
struct Recorded {
    files: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    unreadable: Vec<String>,
    headers: BTreeMap<String, HeaderLook>,
    seen: Option<DeviceNumber>,
}

const UUID: &str = "74b9dc5a-b86d-449e-8dbe-f3c0be4e6847";
const DM: &str = "74b9dc5ab86d449e8dbef3c0be4e6847";

impl Recorded {
    fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), format!("{text}\n"));
        self
    }
    fn mount(mut self, number: &str, point: &str, kind: &str) -> Self {
        let all = self.files.entry("/proc/self/mountinfo".into()).or_default();
        all.push_str(&format!("27 1 {number} / {point} rw,relatime shared:1 - {kind} src rw\n"));
        self
    }
    /// A block device below a directory of sysfs; `slaves` by name.
    fn block(mut self, number: &str, name: &str, slaves: &[&str]) -> Self {
        let dir = format!("/sys/devices/virtual/block/{name}");
        self.links.insert(format!("/sys/dev/block/{number}"), dir.clone());
        self = self.file(&format!("{dir}/dev"), number).file(&format!("/sys/class/block/{name}/dev"), number);
        for slave in slaves {
            let number = self.files[&format!("/sys/class/block/{slave}/dev")].trim().to_owned();
            self = self.file(&format!("{dir}/slaves/{slave}/dev"), &number);
        }
        self
    }
    fn dm(self, number: &str, name: &str, dm_name: &str, uuid: &str, slaves: &[&str]) -> Self {
        let dir = format!("/sys/devices/virtual/block/{name}/dm");
        self.block(number, name, slaves)
            .file(&format!("{dir}/name"), dm_name)
            .file(&format!("{dir}/uuid"), uuid)
    }
    fn partition(mut self, number: &str, disk: &str, name: &str) -> Self {
        let dir = format!("/sys/devices/virtual/block/{disk}/{name}");
        self.links.insert(format!("/sys/dev/block/{number}"), dir.clone());
        self.file(&format!("{dir}/dev"), number)
            .file(&format!("{dir}/partition"), "1")
            .file(&format!("/sys/class/block/{name}/dev"), number)
    }
    fn md(self, number: &str, name: &str, slaves: &[&str]) -> Self {
        self.block(number, name, slaves).file(&format!("/sys/devices/virtual/block/{name}/md/level"), "raid1")
    }
    fn luks(mut self, device: &str) -> Self {
        let found = HeaderLook::Found { uuid: UUID.into(), claim: Claim::Encrypted };
        self.headers.insert(device.into(), found);
        self
    }
    fn header(mut self, device: &str, look: HeaderLook) -> Self {
        self.headers.insert(device.into(), look);
        self
    }
    fn unreadable(mut self, path: &str) -> Self {
        self.unreadable.push(path.into());
        self
    }
    fn of(&self, path: &str) -> Coverage {
        Stack::of_path(self, path).coverage()
    }
}

impl Tree for Recorded {
    fn read(&self, path: &str) -> Result<Option<String>, String> {
        if self.unreadable.iter().any(|one| one == path) {
            return Err(format!("{path}: Permission denied"));
        }
        Ok(self.files.get(path).cloned())
    }
    fn list(&self, dir: &str) -> Result<Option<Vec<String>>, String> {
        if self.unreadable.iter().any(|one| one == dir) {
            return Err(format!("{dir}: Permission denied"));
        }
        let names: BTreeSet<String> = self
            .files
            .keys()
            .filter_map(|path| {
                path.strip_prefix(dir)?.strip_prefix('/')?.split('/').next().map(str::to_owned)
            })
            .collect();
        Ok((!names.is_empty()).then(|| names.into_iter().collect()))
    }
    fn real_path(&self, path: &str) -> Result<Option<String>, String> {
        if self.unreadable.iter().any(|one| one == path) {
            return Err(format!("{path}: Permission denied"));
        }
        let is_there = self.files.keys().any(|file| file.starts_with(path)) || path.starts_with("/dev/");
        Ok(self.links.get(path).cloned().or_else(|| is_there.then(|| path.to_owned())))
    }
    fn device_of(&self, _: &str) -> Option<DeviceNumber> {
        self.seen
    }
    fn luks(&self, device: &str) -> HeaderLook {
        self.headers.get(device).cloned().unwrap_or(HeaderLook::Absent)
    }
}

fn disks() -> Recorded {
    Recorded::default()
        .block("8:0", "sda", &[])
        .block("8:16", "sdb", &[])
        .partition("8:1", "sda", "sda1")
        .partition("8:17", "sdb", "sdb1")
}

fn crypt(tree: Recorded, number: &str, name: &str, below: &str) -> Recorded {
    tree.dm(number, name, "data", &format!("CRYPT-LUKS2-{DM}-data"), &[below])
}

fn why(coverage: Coverage) -> String {
    match coverage {
        Coverage::Unknown(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lvm_on_luks_on_md_is_encrypted_and_each_layer_is_told() {
    let tree = disks().md("9:0", "md0", &["sda1", "sdb1"]).luks("/dev/md0");
    let tree = crypt(tree, "253:0", "dm-0", "md0")
        .dm("253:1", "dm-1", "vg-mysql", "LVM-abcdef", &["dm-0"])
        .mount("8:0", "/", "ext4")
        .mount("253:1", "/var/lib/mysql", "xfs");
    let stack = Stack::of_path(&tree, "/var/lib/mysql/shop");
    assert_eq!(stack.coverage(), Coverage::Encrypted);
    let mut kinds = vec![];
    let mut at = &stack.top;
    loop {
        kinds.push(at.kind.word());
        let Some(below) = at.below.first() else { break };
        at = below;
    }
    assert_eq!(kinds, ["file system", "mapping", "dm-crypt", "RAID", "partition", "disk"]);
    assert_eq!(stack.crypts().len(), 1);
    assert_eq!(stack.top.below[0].below[0].about, "LUKS2 data");
    // The same machine, beside the data directory.
    assert_eq!(tree.of("/etc"), Coverage::Plain);
    assert_eq!(tree.of("/var/lib/mysqlx"), Coverage::Plain);
}

#[test]
fn a_raid_or_a_volume_group_with_one_plain_leg_is_mixed() {
    let tree = crypt(disks().luks("/dev/sda1"), "253:0", "dm-0", "sda1");
    let raid = tree.md("9:0", "md0", &["dm-0", "sdb1"]).mount("9:0", "/", "ext4");
    assert_eq!(raid.of("/data"), Coverage::Mixed);
    let tree = crypt(disks().luks("/dev/sda1"), "253:0", "dm-0", "sda1");
    let lvm = tree.dm("253:1", "dm-1", "vg-a", "LVM-x", &["dm-0", "sdb1"]).mount("253:1", "/", "ext4");
    assert_eq!(lvm.of("/data"), Coverage::Mixed);
}

#[test]
fn luks_on_lvm_and_on_multipath_is_encrypted() {
    let tree = disks()
        .dm("253:0", "dm-0", "mpatha", "mpath-3600", &["sda", "sdb"])
        .dm("253:1", "dm-1", "mpatha1", "part1-mpath-3600", &["dm-0"])
        .luks("/dev/dm-1");
    let tree = crypt(tree, "253:2", "dm-2", "dm-1").mount("253:2", "/", "ext4");
    assert_eq!(tree.of("/x"), Coverage::Encrypted);
    let tree =
        disks().dm("253:0", "dm-0", "mpatha", "mpath-3600", &["sda", "sdb"]).mount("253:0", "/", "ext4");
    assert_eq!(tree.of("/x"), Coverage::Plain);
}

#[test]
fn a_name_of_dm_crypt_counts_only_with_the_header_that_it_is_of() {
    let with = |look: Option<HeaderLook>| {
        let tree = match look {
            Some(look) => disks().header("/dev/sda1", look),
            None => disks(),
        };
        crypt(tree, "253:0", "dm-0", "sda1").mount("253:0", "/", "ext4").of("/")
    };
    let found = |uuid: &str, claim| Some(HeaderLook::Found { uuid: uuid.into(), claim });
    assert_eq!(with(found(UUID, Claim::Encrypted)), Coverage::Encrypted);
    assert_eq!(with(found(UUID, Claim::Plain("null".into()))), Coverage::Plain);
    assert!(why(with(found(UUID, Claim::Unclear("odd".into())))).contains("odd"));
    assert!(why(with(found("another", Claim::Encrypted))).contains("another volume"));
    assert!(why(with(Some(HeaderLook::Unknown("EACCES".into())))).contains("EACCES"));
    assert!(why(with(None)).contains("elsewhere"));
    let two = disks().luks("/dev/sda1").luks("/dev/sdb1");
    let two = two.dm("253:0", "dm-0", "x", &format!("CRYPT-LUKS2-{DM}-x"), &["sda1", "sdb1"]);
    assert!(why(two.mount("253:0", "/", "ext4").of("/")).contains("2 devices"));
}

#[test]
fn a_mapping_of_which_sysfs_does_not_say_what_it_does_is_not_guessed() {
    let over = |uuid: &str, below: &str, tree: Recorded| {
        tree.dm("253:5", "dm-5", "odd", uuid, &[below]).mount("253:5", "/", "ext4").of("/")
    };
    for uuid in ["", "DMRAID-x", "VDO-x", "CRYPT-PLAIN-odd", "CRYPT-TEMP-x", "CRYPT-LUKS3-x-odd"] {
        assert!(why(over(uuid, "sda1", disks())).contains("dmsetup table odd"), "{uuid}");
        // What is encrypted below stays so, whatever is above it.
        let below = crypt(disks().luks("/dev/sda1"), "253:0", "dm-0", "sda1");
        assert_eq!(over(uuid, "dm-0", below), Coverage::Encrypted, "{uuid}");
    }
    assert_eq!(over("CRYPT-INTEGRITY-x-odd", "sda1", disks()), Coverage::Plain);
    let empty = disks().dm("253:5", "dm-5", "odd", "LVM-x", &[]).mount("253:5", "/", "ext4");
    assert!(why(empty.of("/")).contains("nothing is known"));
}

#[test]
fn a_loop_is_as_its_file_and_one_that_was_removed_is_unknown() {
    let tree = crypt(disks().luks("/dev/sda1"), "253:0", "dm-0", "sda1")
        .mount("8:16", "/", "ext4")
        .mount("253:0", "/safe", "ext4")
        .block("7:0", "loop0", &[])
        .mount("7:0", "/data", "ext4");
    let file = "/sys/devices/virtual/block/loop0/loop/backing_file";
    let tree = tree.file(file, "/safe/image");
    assert_eq!(tree.of("/data"), Coverage::Encrypted);
    let tree = tree.file(file, "/image");
    assert_eq!(tree.of("/data"), Coverage::Plain);
    let tree = tree.file(file, "/dev/sda1");
    assert_eq!(tree.of("/data"), Coverage::Plain);
    let tree = tree.file(file, "/safe/image (deleted)");
    assert!(why(tree.of("/data")).contains("removed"));
    let tree = tree.file(file, "/data/itself");
    assert!(why(tree.of("/data")).contains("circle"));
}

#[test]
fn links_in_a_circle_and_depth_without_end_are_unknown() {
    let mut tree =
        disks().dm("253:1", "dm-1", "b", "LVM-b", &["sda"]).dm("253:0", "dm-0", "a", "LVM-a", &["dm-1"]);
    tree = tree.file("/sys/devices/virtual/block/dm-1/slaves/dm-0/dev", "253:0").mount("253:0", "/", "ext4");
    assert!(why(tree.of("/")).contains("circle"));
    let mut tree = disks();
    let mut below = "sda".to_owned();
    for n in 0..40 {
        let name = format!("dm-{n}");
        tree = tree.dm(&format!("253:{n}"), &name, &name, "LVM-x", &[&below]);
        below = name;
    }
    assert!(why(tree.mount("253:39", "/", "ext4").of("/")).contains("layers"));
}

#[test]
fn what_cannot_be_read_is_unknown_and_never_plain() {
    let tree = || crypt(disks().luks("/dev/sda1"), "253:0", "dm-0", "sda1").mount("253:0", "/", "ext4");
    assert_eq!(tree().of("/"), Coverage::Encrypted);
    let dir = "/sys/devices/virtual/block/dm-0";
    for path in [
        "/proc/self/mountinfo",
        "/sys/dev/block/253:0",
        &format!("{dir}/dm/uuid"),
        &format!("{dir}/dm/name"),
        &format!("{dir}/slaves"),
        &format!("{dir}/slaves/sda1/dev"),
    ] {
        assert!(why(tree().unreadable(path).of("/")).contains("denied"), "{path}");
    }
    let plain = || disks().mount("8:1", "/", "ext4");
    for path in [
        "/sys/devices/virtual/block/sda/sda1/partition",
        "/sys/devices/virtual/block/sda/dev",
        "/sys/devices/virtual/block/sda/slaves",
    ] {
        assert!(why(plain().unreadable(path).of("/")).contains("denied"), "{path}");
    }
    assert!(why(Recorded::default().of("/")).contains("mountinfo"));
    assert!(why(Recorded::default().mount("8:99", "/", "ext4").of("/")).contains("leads nowhere"));
}

#[test]
fn file_systems_that_hide_their_devices_say_so() {
    for kind in
        ["overlay", "btrfs", "bcachefs", "zfs", "nfs4", "cifs", "fuse.sshfs", "ecryptfs", "9p", "whatfs"]
    {
        let tree = Recorded::default().mount("0:44", "/", kind);
        assert!(why(tree.of("/var")).contains(kind), "{kind}");
    }
    assert_eq!(Recorded::default().mount("0:44", "/", "tmpfs").of("/var"), Coverage::Memory);
    assert_eq!(disks().mount("8:1", "/", "fuseblk").of("/var"), Coverage::Plain);
}

#[test]
fn the_kernel_decides_which_of_two_mounts_a_path_is_on() {
    let mut tree =
        disks().mount("8:1", "/", "ext4").mount("0:9", "/a/b", "tmpfs").mount("8:17", "/a", "ext4");
    let number = |text: &str| DeviceNumber::of(text);
    tree.seen = number("8:17");
    // /a was mounted later, over /a/b.
    let stack = Stack::of_path(&tree, "/a/b/c");
    assert_eq!((stack.top.name.as_str(), stack.coverage()), ("/a", Coverage::Plain));
    tree.seen = number("8:99");
    assert!(why(tree.of("/a/b/c")).contains("8:99"));
    tree.seen = None;
    assert_eq!(tree.of("/a/b/c"), Coverage::Memory);
    assert_eq!(mounts::unescaped(r"/a\040b\134c\9"), r"/a b\c\9");
}

#[test]
fn swap_is_looked_at_by_space() {
    let tree = crypt(disks().luks("/dev/sda1"), "253:0", "dm-0", "sda1")
        .block("252:0", "zram0", &[])
        .block("252:1", "zram1", &[])
        .file("/sys/devices/virtual/block/zram0/backing_dev", "none")
        .file("/sys/devices/virtual/block/zram1/backing_dev", "/dev/sdb1")
        .mount("8:16", "/", "ext4")
        .file(
            "/proc/swaps",
            "Filename Type Size Used Priority\n/dev/zram0 partition 9 0 5\n/dev/zram1 partition 9 0 5\n/dev/dm-0 partition 9 0 5\n/swap\\040file file 9 0 5",
        );
    let swaps = Stack::of_swaps(&tree).expect("it is there");
    let seen: Vec<_> = swaps.iter().map(|(name, stack)| (name.as_str(), stack.coverage())).collect();
    assert_eq!(
        seen,
        [
            ("/dev/zram0", Coverage::Memory),
            ("/dev/zram1", Coverage::Plain),
            ("/dev/dm-0", Coverage::Encrypted),
            ("/swap file", Coverage::Plain)
        ]
    );
    assert!(Stack::of_swaps(&disks()).is_err());
}

#[test]
fn devices_of_other_machines_are_unknown() {
    for name in ["nbd0", "rbd1", "drbd12"] {
        let tree = Recorded::default().block("43:0", name, &[]).mount("43:0", "/", "ext4");
        assert!(why(tree.of("/")).contains("not told"), "{name}");
    }
    // Not one of them.
    let tree = Recorded::default().block("43:0", "nbdx", &[]).mount("43:0", "/", "ext4");
    assert_eq!(tree.of("/"), Coverage::Plain);
}

#[test]
fn keys_are_with_the_data_unless_a_thief_of_its_disk_lacks_one() {
    use crate::key_place::{self, KeyPlace};
    let tree = || {
        disks()
            .partition("8:2", "sda", "sda2")
            .mount("8:1", "/", "ext4")
            .mount("8:2", "/part", "ext4")
            .mount("8:1", "/bound", "ext4")
            .mount("8:17", "/other", "ext4")
            .mount("0:9", "/run", "tmpfs")
            .mount("0:50", "/nfs", "nfs4")
            .file("/data/ibdata1", "")
            .file("/key", "")
            .file("/part/key", "")
            .file("/bound/key", "")
            .file("/other/key", "")
            .file("/run/key", "")
            .file("/nfs/key", "")
    };
    let of = |tree: &Recorded, needed: &[&str]| {
        let needed: Vec<&std::path::Path> = needed.iter().map(std::path::Path::new).collect();
        key_place::of(tree, "/data".as_ref(), &needed)
    };
    let same_disk = || KeyPlace::SameDisk("/dev/sda".into());
    for (needed, place) in [
        (&["/key"][..], KeyPlace::SameFileSystem),
        (&["/key", "/key"], KeyPlace::SameFileSystem),
        (&["/bound/key"], KeyPlace::SameFileSystem),
        (&["/part/key"], same_disk()),
        (&["/key", "/part/key"], same_disk()),
        (&["/other/key"], KeyPlace::Elsewhere),
        (&["/run/key"], KeyPlace::Elsewhere),
        // The passphrase alone is not there.
        (&["/key", "/other/key"], KeyPlace::Elsewhere),
        (&["/key", "/run/key"], KeyPlace::Elsewhere),
        // A key that is not there yet, in a directory that is.
        (&["/key/new"], KeyPlace::SameFileSystem),
    ] {
        assert_eq!(of(&tree(), needed), place, "{needed:?}");
    }
    assert!(matches!(of(&tree(), &["/nfs/key"]), KeyPlace::Unknown(_)));
    assert!(matches!(of(&tree(), &["/key", "/nfs/key"]), KeyPlace::Unknown(_)));
    assert!(matches!(of(&tree().unreadable("/proc/self/mountinfo"), &["/other/key"]), KeyPlace::Unknown(_)));
    // Below LUKS a stolen disk gives neither; an overlay hides its disk, and is one file system all the same.
    let luks = crypt(disks().luks("/dev/sda1"), "253:0", "dm-0", "sda1").mount("253:0", "/", "ext4");
    let luks = luks.file("/data/ibdata1", "").file("/key", "");
    assert_eq!(of(&luks, &["/key"]), KeyPlace::Encrypted);
    let overlay =
        Recorded::default().mount("0:44", "/", "overlay").file("/data/ibdata1", "").file("/key", "");
    assert_eq!(of(&overlay, &["/key"]), KeyPlace::SameFileSystem);
}
