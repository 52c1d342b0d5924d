//! What follows from what was done and what was seen. "Not found" alone proves nothing: it must have been written there.

use report::shape::DiskProofWord;

/// Whether what was given to the server has reached a file of the artefact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reached {
    /// How that is known.
    Yes(String),
    /// Why it is not known.
    No(String),
    /// This server has nothing of the kind, or it is switched off.
    NotThere(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Canaries that were found.
    pub times: u64,
    pub reached: Reached,
    /// Pages, blocks or files that are encrypted; of files without a header those that may be.
    pub encrypted: u64,
    pub plain: u64,
    /// Files that could not be searched to their end.
    pub unread: u64,
}

pub fn judge(evidence: &Evidence) -> (DiskProofWord, String) {
    let Evidence { times, reached, encrypted, plain, unread } = evidence;
    if *times > 0 {
        return (DiskProofWord::Readable, format!("found {times} times"));
    }
    match reached {
        Reached::NotThere(why) => (DiskProofWord::NotThere, why.clone()),
        Reached::No(why) => (DiskProofWord::NotProven, why.clone()),
        Reached::Yes(_) if *unread > 0 => {
            (DiskProofWord::NotProven, format!("{unread} of its files could not be read to their end"))
        }
        Reached::Yes(_) if *encrypted == 0 && *plain == 0 => {
            (DiskProofWord::NotProven, "no file of the kind was written since the start".into())
        }
        Reached::Yes(how) if *encrypted == 0 => {
            (DiskProofWord::NotProven, format!("{how}; nothing there is encrypted, and yet it was not found"))
        }
        Reached::Yes(how) => (DiskProofWord::NotReadable, format!("{how}; {encrypted} encrypted, not found")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_found_is_not_readable_only_where_it_was_written_and_is_encrypted() {
        use DiskProofWord::{NotProven, NotReadable, NotThere, Readable};
        let yes = || Reached::Yes("flushed".into());
        let of = |times, reached, encrypted, plain, unread| {
            judge(&Evidence { times, reached, encrypted, plain, unread }).0
        };
        assert_eq!(of(0, yes(), 9, 0, 0), NotReadable);
        assert_eq!(of(0, yes(), 9, 4, 0), NotReadable, "what was plain before is another matter");
        assert_eq!(of(0, yes(), 0, 9, 0), NotProven);
        assert_eq!(of(0, yes(), 0, 0, 0), NotProven);
        assert_eq!(of(0, yes(), 9, 0, 1), NotProven);
        assert_eq!(of(0, Reached::No("in memory".into()), 9, 0, 0), NotProven);
        assert_eq!(of(0, Reached::NotThere("off".into()), 9, 0, 0), NotThere);
        for reached in [yes(), Reached::No(String::new()), Reached::NotThere(String::new())] {
            assert_eq!(of(1, reached, 9, 0, 1), Readable, "what was found was found");
        }
    }
}
