//! Words that somebody wrote on purpose, looked for in every byte of files: canaries. What is compressed or written in
//! another character set is not found.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use memchr::memmem::Finder;

use crate::pages::{
    self,
    holes::{HOLE_BYTES_MIN, Holes},
};
use crate::places::{self, Elsewhere};
use crate::walk::{self, Found};
use crate::{DiskError, Kind, Progress, Tally};

const CHUNK_BYTES: usize = 1 << 20;

/// What all canaries of a run begin with. What follows, so many bytes, tells them apart.
#[derive(Debug, Clone)]
pub struct Needle {
    pub tag: String,
    pub id_bytes: usize,
}

/// How often each was found, by its id.
pub type Counts = BTreeMap<String, u64>;

/// One file that was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    pub path: String,
    pub kind: Kind,
    pub named_by: Option<String>,
    pub bytes: u64,
    pub counts: Counts,
    /// Why not, or not to its end.
    pub unread: Option<String>,
}

/// Reads all files of a data directory that `elsewhere` leaves, and what it names, for the needle.
///
/// # Errors
/// As [`crate::look`].
pub fn find(
    root: &Path,
    elsewhere: &Elsewhere,
    needle: &Needle,
    progress: &Progress,
) -> Result<Vec<Searched>, DiskError> {
    let root = root.canonicalize().map_err(|why| DiskError::Unreadable { path: root.to_owned(), why })?;
    let (found, _) = places::all(&root, elsewhere)?;
    Ok(pages::parallel(&found, |one| search(one, needle, progress)))
}

fn search(one: &Found, needle: &Needle, progress: &Progress) -> Searched {
    let mut searched = Searched {
        path: one.path.clone(),
        kind: one.kind,
        named_by: one.named_by.clone(),
        bytes: one.bytes,
        counts: Counts::new(),
        unread: one.unread.clone(),
    };
    if searched.unread.is_none() {
        let counted = walk::open(&one.place).and_then(|file| count(&file, needle, progress));
        match counted {
            Ok(counts) => searched.counts = counts,
            Err(error) => searched.unread = Some(walk::cannot_read(&error)),
        }
    }
    searched
}

/// In one open file, to its end.
///
/// # Errors
/// It cannot be read.
pub fn count(file: &File, needle: &Needle, progress: &Progress) -> io::Result<Counts> {
    let finder = Finder::new(needle.tag.as_bytes());
    let whole = needle.tag.len() + needle.id_bytes;
    let mut counts = Counts::new();
    let mut holes = Holes::of(file);
    let mut buffer = vec![0; CHUNK_BYTES];
    // What is kept of the chunk before, so that one that lies across is found, once.
    let mut kept = 0;
    let mut at = 0_u64;
    let mut end = file.metadata()?.len();
    loop {
        let hole = holes.bytes_at(at, end);
        if hole >= HOLE_BYTES_MIN {
            at += hole;
            kept = 0;
        }
        let Some(room) = buffer.get_mut(kept..) else { break };
        let got = pages::read_at(file, room, at)?;
        progress.add_read(got as u64);
        at += got as u64;
        // Those that a server has appended in the meantime are read too.
        end = end.max(at);
        let seen = buffer.get(..kept + got).unwrap_or_default();
        for place in finder.find_iter(seen) {
            let id = seen.get(place + needle.tag.len()..place + whole);
            // Cut off: it is found again with the next chunk, or the file ends in it.
            let Some(id) = id else { continue };
            *counts.entry(String::from_utf8_lossy(id).into_owned()).or_default() += 1;
        }
        if got == 0 {
            break;
        }
        // One byte less than a whole one: what was counted is not seen again.
        let keep = (whole - 1).min(seen.len());
        let from = seen.len() - keep;
        buffer.copy_within(from..from + keep, 0);
        kept = keep;
    }
    Ok(counts)
}

/// What the bytes of a file without a header tell, as of temporary files in a look.
///
/// # Errors
/// It cannot be read.
pub fn stretches(file: &File) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut at = 0;
    loop {
        let got = pages::read_at(file, &mut buffer, at)?;
        if got == 0 {
            return Ok(tally);
        }
        at += got as u64;
        for stretch in buffer.get(..got).unwrap_or_default().chunks(pages::STRETCH_BYTES) {
            tally.stretch(formats::noise::judge(stretch));
        }
    }
}

/// Device, inode, and when it was made: the number of a file that is gone is soon another one's.
pub type FileIdentity = (u64, u64, Option<SystemTime>);

/// Opens the files that a process has open without a name and that `known` does not know yet: they stay readable here
/// when the process has closed them.
pub fn open_nameless(pid: i32, known: &mut BTreeSet<FileIdentity>) -> Vec<File> {
    let mut opened = Vec::new();
    for one in places::open_files(pid) {
        let Ok(file) = walk::open(&one.place) else { continue };
        let Ok(facts) = file.metadata() else { continue };
        if known.insert((facts.dev(), facts.ino(), facts.created().ok())) {
            opened.push(file);
        }
    }
    opened
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    #[test]
    fn each_canary_is_counted_once_wherever_it_lies() {
        let needle = Needle { tag: "tagtagtag".into(), id_bytes: 2 };
        let file = tempfile::tempfile().unwrap();
        let places = [0, 17, CHUNK_BYTES as u64 - 14, CHUNK_BYTES as u64 - 3, (CHUNK_BYTES * 40) as u64 - 7];
        for (place, id) in places.iter().zip(["aa", "aa", "bb", "cc", "bb"]) {
            file.write_all_at(format!("tagtagtag{id}").as_bytes(), *place).unwrap();
        }
        let counted = count(&file, &needle, &Progress::default()).unwrap();
        let expected: Counts = [("aa", 2), ("bb", 2), ("cc", 1)].map(|(id, n)| (id.to_owned(), n)).into();
        assert_eq!(counted, expected);
        // One that is cut off by the end is none.
        let mut cut = tempfile::tempfile().unwrap();
        cut.write_all(b"tagtagtaga").unwrap();
        assert_eq!(count(&cut, &needle, &Progress::default()).unwrap(), Counts::new());
    }
}
