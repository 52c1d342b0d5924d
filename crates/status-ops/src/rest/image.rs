//! What was named is no directory: an image of a disk, an archive, one file of a server. What it is is said by its first
//! bytes, and what to do with it.

use std::io::Read;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use site::OpsError;

/// Enough for all signs below: btrfs has the furthest.
const START_BYTES: usize = (64 << 10) + 0x48;
const MOUNT: &str =
    "mount it read-only (mount -o ro,loop IMAGE DIR), then: sealion status rest --datadir DIR";

/// Where a sign stands, the sign, what it is a sign of, and what to do.
///
/// # Source
/// file(1)'s magic: cryptsetup's header, ext4's superblock at 1024, XFS, btrfs, qcow2, ustar.
const SIGNS: &[(usize, &[u8], &str, &str)] = &[
    (
        0,
        b"LUKS\xba\xbe",
        "a LUKS volume: nothing in it can be read without its key",
        "open it, mount it read-only, then name the directory",
    ),
    (1080, &[0x53, 0xef], "an image of an ext2, ext3 or ext4 file system", MOUNT),
    (0, b"XFSB", "an image of an XFS file system", MOUNT),
    (0x1_0040, b"_BHRfS_M", "an image of a btrfs file system", MOUNT),
    (
        0,
        b"QFI\xfb",
        "a qcow2 image of a virtual machine",
        "convert it (qemu-img convert -O raw), then mount it read-only",
    ),
    (
        510,
        &[0x55, 0xaa],
        "an image of a disk with partitions",
        "losetup -r -P -f IMAGE, then mount the partition read-only",
    ),
    (0, b"XBSTCK01", "a backup stream (xbstream)", "unpack it first: sealion stream xbstream --help"),
    (257, b"ustar", "a tar archive", "unpack it first"),
    (0, &[0x1f, 0x8b], "a gzip file", "unpack it first"),
    (0, &[0x28, 0xb5, 0x2f, 0xfd], "a zstd file", "unpack it first"),
];

/// # Errors
/// It is no directory; the error says what it seems to be.
pub fn refuse(root: &Path) -> Result<(), OpsError> {
    let Ok(facts) = std::fs::metadata(root) else { return Ok(()) };
    let kind = facts.file_type();
    if kind.is_dir() {
        return Ok(());
    }
    let what = format!("{} is not a directory", root.display());
    if !kind.is_file() && !kind.is_block_device() {
        return Err(OpsError::cannot_look(
            what,
            "it is no file and no block device either",
            "name the data directory",
        ));
    }
    let (is, next) = match start_of(root) {
        Ok(start) => told(&start).unwrap_or((
            "its first bytes are those of no image or archive that sealion knows",
            "if it is an image, mount it read-only and name the directory in it; one file of a server: name its directory",
        )),
        Err(why) => return Err(OpsError::cannot_look(what, format!("it cannot be read: {why}"), "run it as root")),
    };
    Err(OpsError::cannot_look(what, is, next))
}

fn told(start: &[u8]) -> Option<(&'static str, &'static str)> {
    let is = |at: &usize, sign: &[u8]| start.get(*at..at + sign.len()) == Some(sign);
    SIGNS.iter().find(|(at, sign, ..)| is(at, sign)).map(|(_, _, what, next)| (*what, *next))
}

fn start_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let flags = nix::fcntl::OFlag::O_NONBLOCK.bits();
    let file = std::fs::File::options().read(true).custom_flags(flags).open(path)?;
    let mut start = Vec::new();
    file.take(START_BYTES as u64).read_to_end(&mut start)?;
    Ok(start)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn an_image_is_named_and_a_directory_is_none() {
        let home = tempfile::tempdir().unwrap();
        assert!(refuse(home.path()).is_ok());
        assert!(refuse(&home.path().join("nowhere")).is_ok(), "that is said by who lists it");
        let file = home.path().join("image");
        for (at, sign, what, _) in SIGNS {
            std::fs::write(&file, vec![0; START_BYTES]).unwrap();
            let image = std::fs::File::options().write(true).open(&file).unwrap();
            image.write_all_at(sign, *at as u64).unwrap();
            let error = refuse(&file).unwrap_err().to_string();
            let said = format!("{error:?}");
            assert!(error.contains("is not a directory") || said.contains(what), "{error}");
            assert_eq!(told(&start_of(&file).unwrap()).unwrap().0, *what);
        }
        std::fs::write(&file, "a letter").unwrap();
        assert!(refuse(&file).is_err());
    }
}
