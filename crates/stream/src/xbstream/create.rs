//! Files into a stream, as they are.

use std::fs::{Metadata, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use formats::xbstream::{PATH_BYTES_MAX, WRITTEN_BYTES, write_end, write_payload_head};
use nix::fcntl::OFlag;

use crate::StreamError;
use crate::entry::is_inside;
use crate::progress::Progress;

/// Writes each file to `out`, under the path by which it was named.
///
/// # Errors
/// A path that no reader would take, a file that cannot be read, or an `out` that takes no more.
pub fn create(files: &[PathBuf], out: &mut dyn Write, progress: &Progress) -> Result<(), StreamError> {
    for file in files {
        let path = file.as_os_str().as_bytes();
        let refuse = |why: String| StreamError::Source {
            what: file.display().to_string(),
            why,
            next: "name files below the current directory, and who may read them".into(),
        };
        if !is_inside(file) || path.len() > PATH_BYTES_MAX {
            let why = format!("a stream has relative paths of names only, of at most {PATH_BYTES_MAX} bytes");
            return Err(refuse(why));
        }
        let mut source = OpenOptions::new()
            .read(true)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(file)
            .map_err(|error| refuse(error.to_string()))?;
        let before = source.metadata().map_err(|error| refuse(error.to_string()))?;
        if !before.is_file() {
            return Err(refuse("it is no file".into()));
        }
        let cannot = |error: std::io::Error| StreamError::Target {
            what: "the stream".into(),
            why: error.to_string(),
            next: "write it where there is room; nothing that was written counts".into(),
        };
        let (mut offset, mut payload, mut head) = (0, Vec::with_capacity(WRITTEN_BYTES), Vec::new());
        loop {
            if progress.is_stopped() {
                return Err(StreamError::Stopped);
            }
            payload.clear();
            (&mut source)
                .take(WRITTEN_BYTES as u64)
                .read_to_end(&mut payload)
                .map_err(|error| refuse(error.to_string()))?;
            head.clear();
            if payload.is_empty() {
                break;
            }
            write_payload_head(&mut head, path, offset, &payload);
            out.write_all(&head).and_then(|()| out.write_all(&payload)).map_err(cannot)?;
            offset += payload.len() as u64;
            progress.add(payload.len() as u64);
        }
        // A reader would take a file that was cut or written to meanwhile for a whole one.
        let after = source.metadata().map_err(|error| refuse(error.to_string()))?;
        let seen = |about: &Metadata| {
            (about.len(), about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec())
        };
        if seen(&before) != seen(&after) || offset != after.len() {
            return Err(StreamError::Source {
                what: file.display().to_string(),
                why: "it changed while it was read".into(),
                next: "stop what writes there; nothing of this stream counts".into(),
            });
        }
        write_end(&mut head, path);
        out.write_all(&head).map_err(cannot)?;
    }
    out.flush().map_err(|error| StreamError::Target {
        what: "the stream".into(),
        why: error.to_string(),
        next: "write it where there is room; nothing that was written counts".into(),
    })
}
