//! The header of a device, an image, a detached header or a backup of one, read as far as it tells.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use formats::luks::{HEAD_BYTES_MAX, Parsed, parse};

/// What begins at the beginning of a file or block device.
///
/// # Errors
/// It cannot be read, or is neither a regular file nor a block device.
pub fn header(path: &Path) -> io::Result<Parsed> {
    // A FIFO that somebody has put there is not waited for.
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return Err(io::Error::other("it is neither a file nor a block device"));
    }
    let mut bytes = Vec::new();
    let mut is_end = false;
    loop {
        let wanted = match parse(&bytes, is_end) {
            Parsed::Needs(wanted) if !is_end && wanted <= HEAD_BYTES_MAX => wanted,
            parsed => return Ok(parsed),
        };
        let more = wanted.saturating_sub(bytes.len()) as u64;
        (&mut file).take(more).read_to_end(&mut bytes)?;
        is_end = bytes.len() < wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_far_as_it_tells_and_what_is_no_file_is_refused() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("image");
        let first = include_bytes!("../../formats/testdata/luks/luks2-label.bin");
        std::fs::write(&path, [&first[..], &[0; 9999]].concat()).expect("writable");
        let Ok(Parsed::Header(seen)) = header(&path) else { panic!("no header") };
        assert_eq!(seen.label, "shop");
        std::fs::write(&path, &first[..100]).expect("writable");
        assert!(matches!(header(&path), Ok(Parsed::Unclear(_))));
        std::fs::write(&path, b"").expect("writable");
        assert!(matches!(header(&path), Ok(Parsed::Absent)));
        let fifo = dir.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("made");
        assert!(header(&fifo).is_err() && header(dir.path()).is_err());
        assert_eq!(header(&dir.path().join("none")).expect_err("gone").kind(), io::ErrorKind::NotFound);
    }
}
