//! The TLS library that a server has mapped, as /proc shows it.

use std::io;
use std::path::{Path, PathBuf};

use host::HostError;

use super::disk::fail;
use super::process::Server;

pub const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3";
pub const LIBRARY_LIST: &str = "/var/lib/dpkg/info/libssl3:amd64.list";
pub const CHANGELOG: &str = "/usr/share/doc/libssl3/changelog.Debian.gz";
/// Of Debian 12.
pub const VERSION: &str = "OpenSSL 3.0.19 27 Jan 2026";

#[derive(Debug, Clone)]
pub struct SimLibrary {
    /// `version_ssl_library`.
    pub says: String,
    /// Where it was mapped from, with ` (deleted)` behind it where it is no longer there. Empty: it is in the program.
    pub mapped: String,
    /// The kernel shows nobody else what a process has mapped.
    pub is_hidden: bool,
}

impl Default for SimLibrary {
    fn default() -> Self {
        Self { says: VERSION.into(), mapped: LIBRARY.into(), is_hidden: false }
    }
}

/// What stands in a file of /proc of this server's own process.
pub(super) fn proc(server: &Server, path: &Path) -> Result<Option<Vec<u8>>, HostError> {
    let Some(process) = &server.process else { return Ok(None) };
    if path != Path::new(&format!("/proc/{}/maps", process.pid)) {
        return Ok(None);
    }
    let library = &server.tls_library;
    if library.is_hidden {
        return Err(fail("cannot read", path)(io::Error::from(io::ErrorKind::PermissionDenied)));
    }
    let mut maps = format!(
        "55a0-55b0 r-xp 00000000 fe:00 7                          {}\n7f00-7f01 rw-p 00000000 00:00 0 \n",
        server.program()
    );
    if !library.mapped.is_empty() {
        maps += &format!("7f02-7f03 r-xp 00000000 fe:00 9                          {}\n", library.mapped);
    }
    Ok(Some(maps.into_bytes()))
}

/// Paths as the server's own process sees them are those of its host.
pub(super) fn behind_root(server: &Server, path: &Path) -> PathBuf {
    let root = server.process.as_ref().map(|process| format!("/proc/{}/root", process.pid));
    match root.and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned)) {
        Some(rest) => Path::new("/").join(rest),
        None => path.to_owned(),
    }
}

/// As packages have their changelogs.
pub fn gzipped(text: &str) -> Vec<u8> {
    let body = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6);
    let length = u32::try_from(text.len()).expect("a short text").to_le_bytes();
    let crc = crc32fast::hash(text.as_bytes()).to_le_bytes();
    [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3][..], &body, &crc, &length].concat()
}
