//! What both TLS libraries are given in the same way: keys, sizes, and errors of who calls.

use std::path::Path;

use crate::error::NetError;
use crate::options::TlsOptions;

/// A key file is a few kilobytes; whatever is longer is not one.
const KEY_FILE_BYTES_MAX: u64 = 256 * 1024;

/// A key file, of no more than a key's size.
pub(crate) fn key_pem(path: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, NetError> {
    let unreadable = |error: std::io::Error| {
        usage(
            format!("the key {} cannot be read: {error}", path.display()),
            "give a PEM file that you may read",
        )
    };
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > KEY_FILE_BYTES_MAX {
        return Err(usage(
            format!("{} is too long to be a key", path.display()),
            "give a PEM file with --ssl-key",
        ));
    }
    std::fs::read(path).map(zeroize::Zeroizing::new).map_err(unreadable)
}

/// How much a record that is sent may hold, where that was chosen.
pub(crate) fn record_bytes(options: &TlsOptions) -> Result<Option<usize>, NetError> {
    let range = TlsOptions::RECORD_BYTES;
    if options.record_bytes.is_some_and(|bytes| !range.contains(&bytes)) {
        return Err(usage(
            format!("a record of TLS holds {} to {} bytes here", range.start(), range.end()),
            "give a number between them, or none",
        ));
    }
    Ok(options.record_bytes.map(usize::from))
}

pub(crate) fn usage(why: String, next: &'static str) -> NetError {
    NetError::Usage { why, next }
}
