//! The owner: makes archives, grants, revokes; and keeps a list of what was granted, beside the keys.

use std::path::{Path, PathBuf};

use net::ConnectOptions;

use crate::archive::{self, ArchiveWriter};
use crate::client::{self, Failure};
use crate::files::{self, Whole};
use crate::grant::{GrantId, NewGrant, POLICY_BYTES_MAX, Policy, ProxyUrl, SignedGrant, Terms};
use crate::header::{Header, Slot};
use crate::keys::{Identity, PublicIdentity};
use crate::proxy::protocol::StateAnswer;
use crate::table::{self, Exported, TableSpec};
use crate::{DataKey, ShareError, now_unix_s};

const GRANTS: &str = "grants";

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
    let key = DataKey::new()?;
    let name = format!("{}.{}", spec.schema, spec.table);
    let header = Header::new(&name, now_unix_s(), owner, &key)?;
    let to = std::io::BufWriter::with_capacity(1 << 20, Whole::new(out)?);
    let mut writer = ArchiveWriter::new(to, &header, &key)?;
    let exported = table::export(login, spec, &mut |bytes| writer.put(bytes))?;
    let (to, plain_bytes) = writer.finish()?;
    let whole = to.into_inner().map_err(|error| files::cannot("write", out)(error.into_error()))?;
    whole.finish()?;
    Ok(Created { exported, plain_bytes })
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
    if terms.until_unix_s < now_unix_s() {
        return Err(ShareError::usage(
            "this grant would be over before it begins",
            format!("it would end on {}", crate::shown_time(terms.until_unix_s)),
            "give a later --until",
        ));
    }
    // Before it is read: of two grants at once the later one would take the slot of the other away.
    let whole = Whole::instead_of(archive_path)?;
    let (chunks, header) = archive::begin(archive_path)?;
    header.is_by(&owner.public)?;
    let key = header.key_of_owner(owner)?;
    let new = NewGrant::new(&header, &key, owner, reader, terms)?;
    let header = header.with_slot(Slot::HpkeShare(new.signed.clone()), owner, &key)?;
    // First it is noted here: what a proxy holds must be known to who can revoke it.
    note(dir, &new.policy.id, &new.signed)?;
    let answers: ProxyAnswers<()> = new
        .policy
        .proxies
        .iter()
        .zip(&new.shares)
        .map(|(proxy, share)| (proxy.url.clone(), client::put(&proxy.url, &new.signed, share)))
        .collect();
    let taken = answers.iter().filter(|(_, answer)| answer.is_ok()).count();
    if taken < usize::from(terms.need) {
        for (url, answer) in &answers {
            if answer.is_ok() {
                // It cannot be opened with so few; its entry in the list stays.
                let _ = client::revoke(url, new.policy.id, owner);
            }
        }
        let why: Vec<String> = answers
            .iter()
            .filter_map(|(url, answer)| answer.as_ref().err().map(|failure| format!("{url} {failure}")))
            .collect();
        return Err(ShareError::unreachable(
            format!("{taken} proxies have taken the grant, {} are needed", terms.need),
            why.join("; "),
            "start the proxies, or give others, and grant it again; the archive was not changed",
        ));
    }
    archive::write_again(whole, chunks, &header)?;
    Ok((new.policy, answers))
}

/// Writes the reader's own way into the archive, without proxies: no date, no count, no way back.
pub fn grant_for_good(
    owner: &Identity,
    archive_path: &Path,
    reader: &PublicIdentity,
) -> Result<(), ShareError> {
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
        let modified =
            path.metadata().and_then(|held| held.modified()).map_err(files::cannot("read", &path))?;
        found.push((modified, noted(&path, owner)?));
    }
    found.sort_by_key(|(modified, policy)| (*modified, policy.id));
    Ok(found.into_iter().map(|(_, policy)| policy).collect())
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
    each(policy, |url| client::revoke(url, policy.id, owner))
}

pub fn states(policy: &Policy, owner: &Identity) -> ProxyAnswers<StateAnswer> {
    each(policy, |url| client::state(url, policy.id, owner))
}

fn each<T>(policy: &Policy, ask: impl Fn(&ProxyUrl) -> Result<T, Failure>) -> ProxyAnswers<T> {
    policy.proxies.iter().map(|proxy| (proxy.url.clone(), ask(&proxy.url))).collect()
}
