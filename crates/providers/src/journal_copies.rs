//! Copies of a change's journal on its nodes, from which any workstation can go on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use change::StepError;
use change::journal::JOURNAL_BYTES_MAX;
use host::ReadHost;
use server::WriteNode;

/// So many nodes keep one. The journal of a thousand servers has megabytes and thousands of records: a copy of each record on every
/// node would take longer than the change itself.
const COPIES_MAX: usize = 16;

/// How the journal ended when it was last copied.
#[derive(Debug)]
struct End {
    bytes: u64,
    /// The last line. With the hash of the line before it, it stands for all lines before.
    line: Vec<u8>,
}

impl End {
    /// Whether a copy ends so too. What cannot be read does not.
    fn is_of(&self, host: &dyn ReadHost, copy: &Path) -> bool {
        let is_as_long =
            host.facts(copy).is_ok_and(|facts| facts.is_some_and(|facts| facts.bytes == self.bytes));
        is_as_long
            && host
                .read_end(copy, self.line.len() as u64)
                .is_ok_and(|end| end.as_deref() == Some(self.line.as_slice()))
    }
}

/// Who has a copy, as far as this run has written it.
#[derive(Debug, Default)]
pub struct JournalCopies {
    end: Option<End>,
    /// Places of nodes whose copy ended so.
    whole: BTreeSet<usize>,
}

impl JournalCopies {
    /// Adds the journal's last line to each copy of that name that is complete without it; others are written anew. Returns how many are complete.
    ///
    /// # Errors
    /// A copy tells that somebody else goes on with the same change.
    pub fn add(
        &mut self,
        nodes: &mut [Box<dyn WriteNode + '_>],
        journal: &Path,
        name: &str,
        line: &str,
    ) -> Result<usize, StepError> {
        let cannot_read =
            |error| StepError(format!("cannot read the journal {}: {error}", journal.display()));
        let bytes = fs::metadata(journal).map_err(cannot_read)?.len();
        let before = bytes.checked_sub(line.len() as u64);
        let end = self.end.take().filter(|end| Some(end.bytes) == before);
        let was_whole = std::mem::take(&mut self.whole);
        let mut read = None;
        for at in places(nodes.len()) {
            if self.whole.len() == COPIES_MAX {
                break;
            }
            let Some(node) = nodes.get_mut(at) else { continue };
            let copy = node.spec().state_dir.join(name);
            let is_as_left =
                was_whole.contains(&at) && end.as_ref().is_some_and(|end| end.is_of(node.host(), &copy));
            let copied = if is_as_left {
                node.write_host().append(&copy, line.as_bytes()).is_ok()
            } else {
                let whole = match &mut read {
                    Some(whole) => whole,
                    none => none.insert(fs::read(journal).map_err(cannot_read)?),
                };
                write(&mut **node, &copy, whole, line)?
            };
            if copied {
                self.whole.insert(at);
            }
        }
        self.end = Some(End { bytes, line: line.as_bytes().to_vec() });
        Ok(self.whole.len())
    }
}

/// In which order nodes are asked to keep one: all over the inventory first, so that they are not all in one place.
fn places(count: usize) -> impl Iterator<Item = usize> {
    let apart = count.div_ceil(COPIES_MAX).max(1);
    (0..apart).flat_map(move |first| (first..count).step_by(apart))
}

/// Whether the copy is the whole journal now.
fn write(node: &mut dyn WriteNode, copy: &Path, whole: &[u8], line: &str) -> Result<bool, StepError> {
    // A copy that cannot be read may tell more than ours: it is left as it is.
    let Ok(has) = node.host().read(copy, JOURNAL_BYTES_MAX) else { return Ok(false) };
    let has = has.unwrap_or_default();
    if is_of_another(&has, whole, copy) {
        return Err(StepError(format!(
            "another sealion continues this change: {} on {} contains more than this journal, or something else\n  why:  a \
             copy is never made shorter\n  next: see who that is (sealion status names the holder of the lease); when it has \
             ended: sealion resume",
            copy.display(),
            node.name()
        )));
    }
    let dir = node.spec().state_dir.clone();
    let host = node.write_host();
    // One that missed lines, because its node was down, is written anew.
    let copied = host.make_dir(&dir, 0o700, None).and_then(|()| {
        if whole.strip_suffix(line.as_bytes()) == Some(has.as_slice()) {
            host.append(copy, line.as_bytes())
        } else {
            host.write(copy, whole, Some(0o600), None)
        }
    });
    Ok(copied.is_ok())
}

/// Whether a copy has records that `whole` does not begin with: somebody else's. One that is damaged, or has a hole where its
/// node was down, tells nothing of its own.
fn is_of_another(copy: &[u8], whole: &[u8], path: &Path) -> bool {
    if whole.starts_with(copy) {
        return false;
    }
    let (Ok(copy), Ok(whole)) = (change::journal::parse(copy, path), change::journal::parse(whole, path))
    else {
        return false;
    };
    let is_beginning = copy.records.len() <= whole.records.len()
        && copy.records.iter().zip(&whole.records).all(|(one, other)| one == other);
    !is_beginning
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_is_asked_once_and_those_that_keep_a_copy_are_apart() {
        for count in [0, 1, 3, 16, 17, 100, 1000] {
            let order: Vec<usize> = places(count).collect();
            assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), (0..count).collect());
            assert_eq!(order.len(), count, "{order:?}");
        }
        let kept: Vec<usize> = places(1000).take(COPIES_MAX).collect();
        assert_eq!((kept[0], kept[1], kept[15]), (0, 63, 945));
        assert_eq!(places(3).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
