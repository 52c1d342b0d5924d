//! The owner looks at the logs of the proxies, and at whether one has forgotten what it was told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::client::{self, Failure};
use crate::files;
use crate::grant::{GrantId, Policy, ProxyUrl};
use crate::keys::Identity;
use crate::proxy::log::{DONE, LogHead, LogLine};
use crate::proxy::protocol::{Reason, StateAnswer, Wish};
use crate::{ShareError, now_unix_s, shown_time};

const HEADS: &str = "logs";
const REVOKED: &str = "revoked";
/// JSON of a number and a hash.
const HEAD_BYTES_MAX: u64 = 1024;
/// A proxy that never comes to an end is none.
const LINES_MAX: i64 = 50_000_000;
const BUSY_WAIT: Duration = Duration::from_secs(1);
const BUSY_TRIES_MAX: u32 = 60;

/// What was found of a proxy's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    pub lines: i64,
    /// Behind what was seen last time.
    pub new_lines: i64,
    /// What speaks against it, a sentence each.
    pub faults: Vec<String>,
    /// Opens of each grant by the log.
    opens: BTreeMap<GrantId, u32>,
}

impl Followed {
    /// The log says so many opens; the proxy counts `state.opens` of them.
    pub fn count(&mut self, id: GrantId, state: &StateAnswer) {
        let logged = self.opens.get(&id).copied().unwrap_or(0);
        if logged != state.opens {
            self.faults.push(format!(
                "it counts {} opens of grant {}, and its log has {logged}",
                state.opens,
                id.hex()
            ));
        }
    }
}

/// Reads the whole log of a proxy. `tell` hears of each line that follows from the one before.
///
/// # Errors
/// The proxy's, or the file in `dir` that has what was seen last time.
pub fn follow(
    dir: &Path,
    url: &ProxyUrl,
    owner: &Identity,
    tell: &mut dyn FnMut(&LogLine),
) -> Result<Result<Followed, Failure>, ShareError> {
    let path = dir.join(HEADS).join(format!("{}.json", url.certificate.hex()));
    let known = known(&path)?;
    let mut head = LogHead::START;
    let mut seen = Followed { lines: 0, new_lines: 0, faults: Vec::new(), opens: BTreeMap::new() };
    'log: loop {
        let page = match patiently(|| client::audit(url, head.number, owner)) {
            Ok(page) => page,
            Err(failure) => return Ok(Err(failure)),
        };
        if page.lines.is_empty() {
            if page.last != head.number {
                let why = format!("its log ends with line {}, and it gave {} lines", page.last, head.number);
                seen.faults.push(why);
            }
            break;
        }
        for line in &page.lines {
            let Some(next) = head.follow(line).filter(|next| next.number <= LINES_MAX) else {
                let why = format!("line {} of its log does not follow from the one before", head.number + 1);
                seen.faults.push(why);
                break 'log;
            };
            head = next;
            if line.wish == Wish::Open.name() && line.answer == DONE {
                *seen.opens.entry(line.grant).or_default() += 1;
            }
            if head.number == known.number && head.hash != known.hash {
                seen.faults.push(format!("line {} of its log is another than it was", head.number));
            }
            tell(line);
        }
    }
    (seen.lines, seen.new_lines) = (head.number, (head.number - known.number).max(0));
    if head.number < known.number && seen.faults.is_empty() {
        seen.faults.push(format!(
            "its log ends with line {}, and line {} was seen: it was brought back from an older backup, or lines were removed",
            head.number, known.number
        ));
    }
    if seen.faults.is_empty() {
        remember(&path, &head)?;
    }
    Ok(Ok(seen))
}

fn patiently<T>(mut ask: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let mut tries = 0;
    loop {
        match ask() {
            Err(Failure::Refused(refusal)) if refusal.reason == Reason::Busy && tries < BUSY_TRIES_MAX => {
                tries += 1;
                std::thread::sleep(BUSY_WAIT);
            }
            answer => return answer,
        }
    }
}

fn known(path: &Path) -> Result<LogHead, ShareError> {
    let Some(bytes) = files::read_small_if_there(path, HEAD_BYTES_MAX)? else { return Ok(LogHead::START) };
    serde_json::from_slice(&bytes).map_err(|error| {
        ShareError::usage(
            format!("{} does not say where a log ended", path.display()),
            error,
            "move it away: the next look then begins anew, and cannot see what was lost before it",
        )
    })
}

fn remember(path: &Path, head: &LogHead) -> Result<(), ShareError> {
    if let Some(dir) = path.parent() {
        files::make_private_dir(dir)?;
    }
    let bytes = serde_json::to_vec(head)
        .map_err(|error| ShareError::internal("cannot write the end of a log", error))?;
    files::replace_small(path, &bytes)
}

/// Notes, before a proxy is told, that a grant is to end: one that forgets it is found by that.
pub fn note_revoked(dir: &Path, id: &GrantId) -> Result<(), ShareError> {
    let path = revoked_path(dir, id);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    files::make_private_dir(&dir.join(REVOKED))?;
    files::write_new(&path, format!("{}\n", now_unix_s()).as_bytes(), files::PRIVATE)
}

fn revoked_path(dir: &Path, id: &GrantId) -> PathBuf {
    dir.join(REVOKED).join(id.hex())
}

/// When the owner has revoked it; `None` if not.
pub fn revoked_unix_s(dir: &Path, id: &GrantId) -> Result<Option<i64>, ShareError> {
    let Some(bytes) = files::read_small_if_there(&revoked_path(dir, id), HEAD_BYTES_MAX)? else {
        return Ok(None);
    };
    let at = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok());
    // A file without a time that can be read was made all the same.
    Ok(Some(at.unwrap_or(0)))
}

/// Why a proxy's word about a grant cannot be; `None` if it can.
pub fn forgotten(revoked_unix_s: Option<i64>, policy: &Policy, state: &StateAnswer) -> Option<String> {
    let at = revoked_unix_s.filter(|_| !state.is_revoked)?;
    Some(format!(
        "it holds grant {}, which was revoked on {}: it was brought back from an older backup, or was not reached then",
        policy.id.hex(),
        shown_time(at)
    ))
}
