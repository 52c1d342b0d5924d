//! Makes archives of a scope, grants the scope, and opens archives of it.

use std::io::Read;
use std::path::Path;

use share::b64::Fixed;
use share::client::{self, Failure};
use share::crypto::random;
use share::files::Whole;
use share::given::Given;
use share::grant::{Policy, ProxyUrl, ScopeTerms, SignedGrant, Terms};
use share::header::{ARCHIVE_ID_BYTES, BYTES, Header};
use share::keys::{Identity, PublicIdentity};
use share::open::Opened;
use share::owner::ProxyAnswers;
use share::{DataKey, ShareError, archive, now_unix_s, owner, piped};
use umbral_pre::VerifiedCapsuleFrag;

use crate::scope::{Receiver, Scope, Signed, UmbralSlot, internal};
use crate::umbral::{ReceivingKey, ScopeKeys, checked};

const KEY_BYTES: usize = 32;

fn refused(what: impl Into<String>, why: impl Into<String>, next: &str) -> ShareError {
    ShareError::Refused { what: what.into(), why: why.into(), next: next.into() }
}

/// An archive of what comes, for a scope. Its writer cannot open it: the key is sealed to the scope, and forgotten.
///
/// # Errors
/// The scope is not for this writer, or what comes has no end.
pub fn create(
    (writer, owner): (&Identity, &PublicIdentity),
    signed: &Signed,
    name: &str,
    from: &mut dyn Read,
    out: &Path,
) -> Result<u64, ShareError> {
    // Anybody can state a scope for this writer: what is sealed to it opens for whoever did.
    let scope = Scope::by(signed, owner).map_err(|why| {
        refused(
            "this scope is not used",
            why,
            "compare the owner's fingerprint, and have the scope sent again",
        )
    })?;
    if scope.writer != writer.public {
        return Err(refused(
            format!("archives of {} are not written with these keys", scope.label),
            format!("its writer is {}", scope.writer.fingerprint()),
            "give the writer's keys, or have the owner make the scope for these",
        ));
    }
    let key = DataKey::new()?;
    let header = Header::by_writer((BYTES, name), now_unix_s(), writer, &key, &|core| {
        let text = zeroize::Zeroizing::new([key.bytes(), &core[..]].concat());
        Ok(vec![UmbralSlot::new(signed, &scope.delegating.0, &text)?.to_slot()?])
    })?;
    owner::write(&header, &key, out, &mut |put| piped::read(from, put)).map(|((), bytes)| bytes)
}

/// Allows a reader all archives of a scope: those that are there, and those that come.
///
/// # Errors
/// The terms make no sense, or too few proxies have taken it.
pub fn grant(
    dir: &Path,
    owner: &Identity,
    scope: &Scope,
    receiver: &Receiver,
    terms: &Terms,
) -> Result<(Policy, SignedGrant, ProxyAnswers<()>), ShareError> {
    terms.are_sound()?;
    let keys = ScopeKeys::of(owner, &scope.label, &scope.writer)
        .map_err(|why| internal("the scope has no keys", why))?;
    let fragments = keys
        .fragments(&receiver.receiving.0, usize::from(terms.need), terms.proxies.len())
        .map_err(|why| refused("this cannot be granted", why, "have the reader's file sent again"))?;
    let policy = Policy {
        v: 1,
        id: Fixed(random()?),
        archive: Fixed([0; ARCHIVE_ID_BYTES]),
        core: Fixed([0; KEY_BYTES]),
        table: scope.label.clone(),
        owner: owner.public.clone(),
        reader: receiver.reader.clone(),
        until_unix_s: terms.until_unix_s,
        max_opens: terms.max_opens,
        need: terms.need,
        proxies: terms.places(&fragments),
        scope: Some(ScopeTerms {
            delegating: scope.delegating,
            verifying: scope.verifying,
            receiving: receiver.receiving,
        }),
    };
    let (signed, answers) = owner::grant_scope(dir, owner, &policy, &fragments)?;
    Ok((policy, signed, answers))
}

/// What a proxy said to one who opens.
pub type Answer = (ProxyUrl, Result<u32, Failure>);

/// The slot of an archive that this owner's scope has, when the archive is by the scope's writer.
fn slot_of(header: &Header, owner: &PublicIdentity) -> Result<(Scope, UmbralSlot), ShareError> {
    let found = header.slots.iter().filter_map(UmbralSlot::of).find_map(|slot| {
        let scope = Scope::by(&slot.scope, owner).ok()?;
        Some((scope, slot))
    });
    let (scope, slot) = found.ok_or_else(|| {
        refused(
            "this archive is of no scope of that owner",
            "no slot in it has a scope that the owner has signed",
            "compare the owner's fingerprint; sealion share open opens archives that were made for one reader",
        )
    })?;
    // The writer may write, and nobody else may in the writer's name.
    header.is_by(&scope.writer)?;
    Ok((scope, slot))
}

fn data_key(header: &Header, text: &[u8]) -> Result<DataKey, ShareError> {
    let (key, core) = text.split_at_checked(KEY_BYTES).unwrap_or_default();
    if core != header.core_hash() {
        return Err(refused(
            "this archive does not open",
            "its slot was made for another header",
            "have the archive sent again",
        ));
    }
    DataKey::of(key).ok_or_else(|| internal("the key of the archive is none", String::new()))
}

/// Opens an archive as a reader with a standing grant. `tell` hears of each proxy.
///
/// # Errors
/// It is not of the granted scope, too few proxies gave a fragment, or a piece of it is damaged. `out` is then not there.
pub fn open(
    archive_path: &Path,
    grant: &SignedGrant,
    owner: &PublicIdentity,
    (reader, keys): (&Identity, &Path),
    out: &Path,
    tell: &mut dyn FnMut(&Answer),
) -> Result<Opened, ShareError> {
    let (_, header) = archive::begin(archive_path)?;
    let (scope, slot) = slot_of(&header, owner)?;
    let policy = grant
        .by(owner)
        .map_err(|why| refused("this grant is not used", why, "have the owner send it again"))?;
    let terms =
        policy.scope.clone().filter(|terms| terms.delegating == scope.delegating).ok_or_else(|| {
            refused(
                format!("this grant is not for archives of {}", scope.label),
                format!("it is for {}", policy.table),
                "ask the owner for a grant of that scope",
            )
        })?;
    let key = ReceivingKey::of(reader).map_err(|why| internal("the reader has no key", why))?;
    if policy.reader != reader.public || terms.receiving.0 != key.public() {
        return Err(refused(
            "this grant is another reader's",
            format!("it is for {}", policy.reader.fingerprint()),
            "give the keys that it was granted to",
        ));
    }
    // Before anybody counts an open.
    let out = Whole::new(out)?;
    let kept = Given::new(keys, &policy.id, &header.core.archive.0, policy.until_unix_s);
    let sealed = slot.sealed();
    let need = usize::from(policy.need);
    let mut fragments: Vec<VerifiedCapsuleFrag> = Vec::new();
    let (mut away, mut reasons, mut not_kept) = (0, Vec::new(), None::<ShareError>);
    for (at, proxy) in policy.proxies.iter().enumerate() {
        if fragments.len() == need {
            break;
        }
        let before = kept.kept(at);
        if let Some(fragment) = before.and_then(|bytes| checked(&terms, &sealed.capsule, &bytes).ok()) {
            fragments.push(fragment);
            continue;
        }
        let capsules = std::slice::from_ref(&sealed.capsule);
        let given = client::reencrypt(&proxy.url, policy.id, reader, capsules).and_then(|answer| {
            let bytes = answer.fragments.first().map_or(&[][..], |blob| &blob.0);
            let fragment = checked(&terms, &sealed.capsule, bytes).map_err(Failure::Misbehaved)?;
            not_kept = kept.keep(at, bytes).err().or(not_kept.take());
            Ok((fragment, answer.opens))
        });
        let what = given.map(|(fragment, opens)| {
            fragments.push(fragment);
            opens
        });
        if let Err(failure) = &what {
            away += usize::from(matches!(failure, Failure::Unreachable(_)));
            reasons.push(format!("{} {failure}", proxy.url));
        }
        tell(&(proxy.url.clone(), what));
    }
    let count = fragments.len();
    if count < need {
        let what = format!("{count} of {need} fragments were given, so the archive stays closed");
        let why = reasons.join("; ");
        // If those who are away could make up for it, trying again is worth while.
        return Err(if count + away >= need {
            let kept = match &not_kept {
                None => "what was given is kept beside your keys until then".to_owned(),
                Some(why) => format!("what was given is counted, and is not kept: {why}"),
            };
            ShareError::Unreachable {
                what,
                why,
                next: format!("check the network, and open it again later; {kept}"),
            }
        } else {
            refused(what, why, "ask the owner for another grant")
        });
    }
    let text = key
        .open(&terms, &sealed, fragments)
        .map_err(|why| refused("this archive does not open", why, "have the archive sent again"))?;
    let opened = share::open::write_opened(archive_path, &data_key(&header, &text)?, out)?;
    kept.forget(policy.proxies.len());
    Ok(opened)
}

/// Opens it as the owner of its scope, without any proxy.
///
/// # Errors
/// It is of no scope of this owner, or damaged.
pub fn open_own(archive_path: &Path, owner: &Identity, out: &Path) -> Result<Opened, ShareError> {
    let (_, header) = archive::begin(archive_path)?;
    let (scope, slot) = slot_of(&header, &owner.public)?;
    let keys = ScopeKeys::of(owner, &scope.label, &scope.writer)
        .map_err(|why| internal("the scope has no keys", why))?;
    let text = keys.open(&slot.sealed()).ok_or_else(|| {
        refused("this archive does not open", "its slot is not of this scope", "have the archive sent again")
    })?;
    share::open::write_opened(archive_path, &data_key(&header, &text)?, Whole::new(out)?)
}
