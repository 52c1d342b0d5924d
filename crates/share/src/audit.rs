//! The owner looks at the logs of the proxies, and at whether one has forgotten what it was told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::client::{self, Failure};
use crate::files;
use crate::grant::{GrantId, Policy, ProxyUrl};
use crate::keys::Identity;
use crate::proxy::log::{DONE, GRANT, LogHead, LogLine, PAGE_LINES_MAX};
use crate::proxy::protocol::{Reason, StateAnswer, Wish};
use crate::{ShareError, now_unix_s, owner, shown_time};

const HEADS: &str = "logs";
const REVOKED: &str = "revoked";
/// JSON of a number and a hash.
const HEAD_BYTES_MAX: u64 = 1024;
/// A proxy that never comes to an end is none: neither by its lines, which are kept in memory, nor by the time that it takes for them.
const LINES_MAX: i64 = 1_000_000;
const LOG_MAX: Duration = Duration::from_secs(900);
const BUSY_WAIT: Duration = Duration::from_secs(1);
const BUSY_TRIES_MAX: u32 = 60;

/// What was found of a proxy's log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Followed {
    pub lines: i64,
    /// Behind what was seen last time.
    pub new_lines: i64,
    /// What speaks against it, a sentence each.
    pub faults: Vec<String>,
    /// Opens of each grant by the log.
    opens: BTreeMap<GrantId, u32>,
    /// Grants of which it says that they came, and that they were revoked.
    came: BTreeSet<GrantId>,
    ended: BTreeSet<GrantId>,
}

impl Followed {
    /// What the owner knows by itself: that it took this grant, and that it has confirmed a revocation.
    pub fn has_lines_of(&mut self, id: GrantId, has_taken: bool, state: &StateAnswer) {
        for (is_known, lines, what) in [
            (has_taken, &self.came, "which it has taken"),
            (state.is_revoked, &self.ended, "which was revoked"),
        ] {
            if is_known && !lines.contains(&id) {
                self.faults.push(format!("its log has no line of grant {}, {what}", id.hex()));
            }
        }
    }

    /// The log says so many opens; the proxy counted so many before it was read, and behind that: a reader may open meanwhile.
    pub fn count(&mut self, id: GrantId, before: u32, after: u32) {
        let logged = self.opens.get(&id).copied().unwrap_or(0);
        if !(before..=after).contains(&logged) {
            let counted = if before == after { after.to_string() } else { format!("{before} to {after}") };
            self.faults
                .push(format!("it counts {counted} opens of grant {}, and its log has {logged}", id.hex()));
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
    let mut seen = Followed::default();
    let began = Instant::now();
    'log: loop {
        if began.elapsed() > LOG_MAX || head.number >= LINES_MAX {
            let why = format!(
                "its log did not end within {} minutes, or {LINES_MAX} lines ({} were read)",
                LOG_MAX.as_secs() / 60,
                head.number
            );
            return Ok(Err(Failure::Misbehaved(why)));
        }
        let page = match patiently(began, || client::audit(url, head.number, owner)) {
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
            let Some(next) = head.follow(line) else {
                let why = format!("line {} of its log does not follow from the one before", head.number + 1);
                seen.faults.push(why);
                break 'log;
            };
            head = next;
            match line.wish.as_str() {
                _ if line.answer != DONE => {}
                GRANT => drop(seen.came.insert(line.grant)),
                wish if wish == Wish::Open.name() => *seen.opens.entry(line.grant).or_default() += 1,
                wish if wish == Wish::Revoke.name() => drop(seen.ended.insert(line.grant)),
                _ => {}
            }
            if head.number == known.number && head.hash != known.hash {
                seen.faults.push(format!("line {} of its log is another than it was", head.number));
            }
            tell(line);
        }
        // A whole page, or the end: in single lines a log of any length would take for ever.
        if page.lines.len() < PAGE_LINES_MAX && head.number < page.last {
            return Ok(Err(Failure::Misbehaved(
                "it gives its log in smaller pieces than were asked for".into(),
            )));
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

fn patiently<T>(began: Instant, mut ask: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let mut tries = 0;
    loop {
        let may_wait = tries < BUSY_TRIES_MAX && began.elapsed() < LOG_MAX;
        match ask() {
            Err(Failure::Refused(refusal)) if refusal.reason == Reason::Busy && may_wait => {
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

/// What speaks against a proxy's word about a grant, a sentence each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// It is not as the owner has noted it.
    Contradicted(String),
    /// It may be so; what would tell is not noted beside these keys.
    NotKnown(String),
}

impl Doubt {
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Contradicted(why) | Self::NotKnown(why) => why,
        }
    }
}

/// What speaks against a proxy's word about a grant. `state`: `None` where it says that it has no such grant.
///
/// # Errors
/// A note of the owner cannot be read.
pub fn forgotten(
    dir: &Path,
    url: &ProxyUrl,
    policy: &Policy,
    state: Option<&StateAnswer>,
) -> Result<Option<Doubt>, ShareError> {
    if state.is_none_or(|state| state.was_never_held) {
        let Some(has_taken) = owner::has_taken(dir, &policy.id, url)? else {
            // Nothing speaks against it but that it was granted.
            let revoked = state.is_some_and(|state| state.is_revoked);
            return Ok(revoked.then(|| {
                Doubt::NotKnown(format!(
                    "it does not know grant {}, and whether it had taken it is not noted beside these keys: if its database is of an older backup, it \
                     gives its share again when a newer one comes back",
                    policy.id.hex()
                ))
            }));
        };
        return Ok(has_taken.then(|| {
            Doubt::Contradicted(format!(
                "it has forgotten grant {}, which it had taken: its database was brought back from an older backup, and gives its share again when a \
                 newer one comes back",
                policy.id.hex()
            ))
        }));
    }
    let revoked = revoked_unix_s(dir, &policy.id)?.filter(|_| state.is_some_and(|state| !state.is_revoked));
    let Some(at) = revoked else { return Ok(None) };
    Ok(Some(Doubt::Contradicted(format!(
        "it holds grant {}, which was revoked on {}: it was brought back from an older backup, or was not reached then",
        policy.id.hex(),
        shown_time(at)
    ))))
}
