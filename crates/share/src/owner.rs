//! The owner: makes archives, grants, revokes; and keeps a list of what was granted, beside the keys.

use std::path::{Path, PathBuf};

use net::ConnectOptions;

use crate::archive::{self, ArchiveWriter};
use crate::client::{self, Failure};
use crate::files::{self, Whole};
use crate::grant::{GrantId, NewGrant, POLICY_BYTES_MAX, Policy, ProxyUrl, SignedGrant, Terms};
use crate::header::{self, Header, Slot};
use crate::keys::{Identity, PublicIdentity};
use crate::proxy::protocol::StateAnswer;
use crate::table::{self, Exported, TableSpec};
use crate::{DataKey, ShareError, now_unix_s, piped};

const GRANTS: &str = "grants";
/// What each proxy said to a grant: the hash of its certificate and `yes`, `no` or `unknown`, a line each. What one has said once it may not
/// unsay.
const TAKEN: &str = "taken";
/// Of 16 proxies.
const TAKEN_BYTES_MAX: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Created {
    pub exported: Exported,
    pub plain_bytes: u64,
}

/// A new archive of a table's rows; its file is there when all of them are in it.
pub fn create(
    owner: &Identity,
    login: &ConnectOptions,
    spec: &TableSpec,
    out: &Path,
) -> Result<Created, ShareError> {
    let name = format!("{}.{}", spec.schema, spec.table);
    let key = DataKey::new()?;
    let header = Header::new((header::ROWS, &name), now_unix_s(), owner, &key)?;
    let (exported, plain_bytes) = write(&header, &key, out, &mut |put| table::export(login, spec, put))?;
    Ok(Created { exported, plain_bytes })
}

/// A new archive of what a program writes, with that name. Gives the count of plain bytes.
///
/// # Errors
/// Nothing comes, or a dump without its end; `out` is then not there.
pub fn create_piped(
    owner: &Identity,
    from: &mut dyn std::io::Read,
    name: &str,
    out: &Path,
) -> Result<u64, ShareError> {
    let key = DataKey::new()?;
    let header = Header::new((header::BYTES, name), now_unix_s(), owner, &key)?;
    write(&header, &key, out, &mut |put| piped::read(from, put)).map(|((), bytes)| bytes)
}

/// What takes bytes of an archive.
pub type Put<'p> = &'p mut dyn FnMut(&[u8]) -> Result<(), ShareError>;

/// A new archive with this header; its file is there when all of it is. Gives what `content` told, and the count of plain bytes.
///
/// # Errors
/// Those of `content`, and of the file.
pub fn write<T>(
    header: &Header,
    key: &DataKey,
    out: &Path,
    content: &mut dyn FnMut(Put<'_>) -> Result<T, ShareError>,
) -> Result<(T, u64), ShareError> {
    let to = std::io::BufWriter::with_capacity(1 << 20, Whole::new(out)?);
    let mut writer = ArchiveWriter::new(to, header, key)?;
    let told = content(&mut |bytes| writer.put(bytes))?;
    let (to, plain_bytes) = writer.finish()?;
    let whole = to.into_inner().map_err(|error| files::cannot("write", out)(error.into_error()))?;
    whole.finish()?;
    Ok((told, plain_bytes))
}

/// What each proxy said to something.
pub type ProxyAnswers<T> = Vec<(ProxyUrl, Result<T, Failure>)>;

/// Gives every proxy its share, then writes the grant into the archive.
///
/// # Errors
/// Fewer proxies than are needed have taken it; those are told to forget it.
pub fn grant(
    dir: &Path,
    owner: &Identity,
    archive_path: &Path,
    reader: &PublicIdentity,
    terms: &Terms,
) -> Result<(Policy, ProxyAnswers<()>), ShareError> {
    is_not_over(terms.until_unix_s)?;
    // Before it is read: of two grants at once the later one would take the slot of the other away.
    let archive_path = &archive_path.canonicalize().map_err(files::cannot("read", archive_path))?;
    let whole = Whole::instead_of(archive_path)?;
    let (chunks, header) = archive::begin(archive_path)?;
    header.is_by(&owner.public)?;
    let key = header.key_of_owner(owner)?;
    let new = NewGrant::new(&header, &key, owner, reader, terms)?;
    let header = header.with_slot(Slot::HpkeShare(new.signed.clone()), owner, &key)?;
    let answers = hand_out(dir, owner, &new.policy, &new.signed, &new.shares)?;
    if let Err(error) = archive::write_again(whole, chunks, &header) {
        at_once(&new.policy, |_, url| drop(client::revoke(url, new.policy.id, owner)));
        return Err(ShareError::usage(
            "the archive cannot be written with the grant in it",
            error,
            format!(
                "make room, and grant it again; of the proxies that took it the grant {} was taken back (share list)",
                new.policy.id.hex()
            ),
        ));
    }
    Ok((new.policy, answers))
}

fn is_not_over(until_unix_s: i64) -> Result<(), ShareError> {
    if until_unix_s >= now_unix_s() {
        return Ok(());
    }
    Err(ShareError::usage(
        "this grant would be over before it begins",
        format!("it would end on {}", crate::shown_time(until_unix_s)),
        "give a later --until",
    ))
}

/// A standing grant, whose fragments are given to the proxies; it is in no archive.
///
/// # Errors
/// As of [`grant`].
pub fn grant_scope(
    dir: &Path,
    owner: &Identity,
    policy: &Policy,
    fragments: &[Vec<u8>],
) -> Result<(SignedGrant, ProxyAnswers<()>), ShareError> {
    is_not_over(policy.until_unix_s)?;
    let signed = SignedGrant::new(policy, owner)?;
    let answers = hand_out(dir, owner, policy, &signed, fragments)?;
    Ok((signed, answers))
}

fn hand_out(
    dir: &Path,
    owner: &Identity,
    policy: &Policy,
    signed: &SignedGrant,
    shares: &[Vec<u8>],
) -> Result<ProxyAnswers<()>, ShareError> {
    files::make_private_dir(&dir.join(TAKEN))?;
    // First it is noted here: what a proxy holds must be known to who can revoke it.
    note(dir, &policy.id, signed)?;
    let answers =
        at_once(policy, |at, url| client::put(url, signed, shares.get(at).map_or(&[], Vec::as_slice)));
    note_taken(dir, &policy.id, &answers)?;
    let taken = answers.iter().filter(|(_, answer)| answer.is_ok()).count();
    if taken >= usize::from(policy.need) {
        return Ok(answers);
    }
    // It cannot be opened with so few; its entry in the list stays. Who did not answer may have taken it.
    at_once(policy, |at, url| match answers.get(at) {
        Some((_, Err(Failure::Refused(_)))) => {}
        _ => drop(client::revoke(url, policy.id, owner)),
    });
    let why: Vec<String> = answers
        .iter()
        .filter_map(|(url, answer)| answer.as_ref().err().map(|failure| format!("{url} {failure}")))
        .collect();
    Err(ShareError::unreachable(
        format!("only {taken} of the proxies said that they took the grant, and {} are needed", policy.need),
        why.join("; "),
        "start the proxies, or give others, and grant it again; nothing was given to the reader",
    ))
}

/// Writes the reader's own way into the archive, without proxies: no date, no count, no way back.
pub fn grant_for_good(
    owner: &Identity,
    archive_path: &Path,
    reader: &PublicIdentity,
) -> Result<(), ShareError> {
    let archive_path = &archive_path.canonicalize().map_err(files::cannot("read", archive_path))?;
    let whole = Whole::instead_of(archive_path)?;
    let (chunks, header) = archive::begin(archive_path)?;
    header.is_by(&owner.public)?;
    let key = header.key_of_owner(owner)?;
    let slot = header.slot_for(reader, &key)?;
    archive::write_again(whole, chunks, &header.with_slot(slot, owner, &key)?)
}

fn note(dir: &Path, id: &GrantId, signed: &SignedGrant) -> Result<(), ShareError> {
    let dir = dir.join(GRANTS);
    files::make_private_dir(&dir)?;
    let bytes = serde_json::to_vec_pretty(signed)
        .map_err(|error| ShareError::internal("cannot write the grant", error))?;
    files::write_new(&path_of(&dir, id), &bytes, files::PRIVATE)
}

fn note_if_missing(dir: &Path, id: &GrantId, signed: &SignedGrant) -> Result<(), ShareError> {
    if path_of(&dir.join(GRANTS), id).symlink_metadata().is_ok() {
        return Ok(());
    }
    note(dir, id, signed)
}

fn path_of(dir: &Path, id: &GrantId) -> PathBuf {
    dir.join(format!("{}.json", id.hex()))
}

fn noted(path: &Path, owner: &Identity) -> Result<Policy, ShareError> {
    // Base64 of the policy, and the signature.
    let bytes = files::read_small(path, POLICY_BYTES_MAX as u64 * 2)?;
    let wrong = |why: String| {
        ShareError::usage(
            format!("{} is no grant of this owner", path.display()),
            why,
            "move it away, or give the directory of keys that it was granted with",
        )
    };
    let signed: SignedGrant = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    signed.by(&owner.public).map_err(wrong)
}

/// What was granted with these keys, newest last.
pub fn granted(dir: &Path, owner: &Identity) -> Result<Vec<Policy>, ShareError> {
    let dir = dir.join(GRANTS);
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(files::cannot("read", &dir)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(files::cannot("read", &dir))?.path();
        // What a kill or an editor has left is no note of ours.
        let is_note = path.extension().is_some_and(|end| end == "json")
            && path.file_stem().is_some_and(|stem| GrantId::from_hex(&stem.to_string_lossy()).is_some());
        if !is_note {
            continue;
        }
        let modified =
            path.metadata().and_then(|held| held.modified()).map_err(files::cannot("read", &path))?;
        found.push((modified, noted(&path, owner)?));
    }
    found.sort_by_key(|(modified, policy)| (*modified, policy.id));
    Ok(found.into_iter().map(|(_, policy)| policy).collect())
}

/// The same out of an archive, where the list of the keys does not have it (any more); it is noted there again.
pub fn find_in(dir: &Path, owner: &Identity, archive: &Path, text: &str) -> Result<Policy, ShareError> {
    // A standing grant is a file of its own.
    let grant = files::read_small(archive, 2 * POLICY_BYTES_MAX as u64).ok();
    if let Some(signed) = grant.and_then(|bytes| serde_json::from_slice::<SignedGrant>(&bytes).ok()) {
        let wrong = |why: String| {
            ShareError::refused(
                format!("{} is not used", archive.display()),
                why,
                "give a grant of this owner",
            )
        };
        let policy = signed.by(&owner.public).map_err(wrong)?;
        if !policy.id.hex().starts_with(&text.to_ascii_lowercase()) {
            return Err(wrong(format!("it is the grant {}", policy.id.hex())));
        }
        note_if_missing(dir, &policy.id, &signed)?;
        return Ok(policy);
    }
    let (_, header) = archive::begin(archive)?;
    header.is_by(&owner.public)?;
    let text = text.to_ascii_lowercase();
    let mut found: Vec<(Policy, &SignedGrant)> = header
        .slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::HpkeShare(signed) => Some((signed.by(&owner.public).ok()?, signed)),
            _ => None,
        })
        .filter(|(policy, _)| policy.id.hex().starts_with(&text))
        .collect();
    let Some((policy, signed)) = found.pop().filter(|_| found.is_empty()) else {
        return Err(ShareError::usage(
            format!("{} has no one grant {text}", archive.display()),
            "none in it begins like this, or more than one",
            "see share verify of that archive; give more digits",
        ));
    };
    note_if_missing(dir, &policy.id, signed)?;
    Ok(policy)
}

/// Asks all proxies of a grant, each on a thread of its own: one that does not answer keeps nobody waiting. Answers are in their order.
fn at_once<T: Send>(policy: &Policy, ask: impl Fn(usize, &ProxyUrl) -> T + Sync) -> Vec<(ProxyUrl, T)> {
    let ask = &ask;
    std::thread::scope(|scope| {
        let asked: Vec<_> = policy
            .proxies
            .iter()
            .enumerate()
            .map(|(at, proxy)| (proxy, scope.spawn(move || ask(at, &proxy.url))))
            .collect();
        asked
            .into_iter()
            .map(|(proxy, thread)| {
                let answer = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (proxy.url.clone(), answer)
            })
            .collect()
    })
}

fn note_taken(dir: &Path, id: &GrantId, answers: &ProxyAnswers<()>) -> Result<(), ShareError> {
    let dir = dir.join(TAKEN);
    let word = |answer: &Result<(), Failure>| match answer {
        Ok(()) => "yes",
        Err(Failure::Refused(_)) => "no",
        Err(_) => "unknown",
    };
    let lines: Vec<String> =
        answers.iter().map(|(url, answer)| format!("{} {}\n", url.certificate.hex(), word(answer))).collect();
    files::write_new(&dir.join(id.hex()), lines.concat().as_bytes(), files::PRIVATE)
}

/// Whether that proxy has said that it holds its share. `None`: it is not noted, as in a copy of the keys that was made before.
///
/// # Errors
/// The note cannot be read.
pub fn has_taken(dir: &Path, id: &GrantId, url: &ProxyUrl) -> Result<Option<bool>, ShareError> {
    let bytes = files::read_small_if_there(&dir.join(TAKEN).join(id.hex()), TAKEN_BYTES_MAX)?;
    let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let hash = url.certificate.hex();
    Ok(text.lines().find_map(|line| line.strip_prefix(&hash)).map(|word| word.trim() == "yes"))
}

/// The grant of which `text` is the id, or the beginning of it.
pub fn find(dir: &Path, owner: &Identity, text: &str) -> Result<Policy, ShareError> {
    let mut found: Vec<Policy> = granted(dir, owner)?
        .into_iter()
        .filter(|policy| !text.is_empty() && policy.id.hex().starts_with(&text.to_ascii_lowercase()))
        .collect();
    match (found.pop(), found.is_empty()) {
        (Some(policy), true) => Ok(policy),
        (found, _) => Err(ShareError::usage(
            format!("there is no one grant {text}"),
            if found.is_some() { "several begin like this" } else { "none of these keys begins like this" },
            "sealion share list --keys DIR shows them",
        )),
    }
}

/// Every proxy of a grant is asked; one that fails does not keep the others from being told.
pub fn revoke(policy: &Policy, owner: &Identity) -> ProxyAnswers<StateAnswer> {
    at_once(policy, |_, url| client::revoke(url, policy.id, owner))
}

pub fn states(policy: &Policy, owner: &Identity) -> ProxyAnswers<StateAnswer> {
    at_once(policy, |_, url| client::state(url, policy.id, owner))
}
