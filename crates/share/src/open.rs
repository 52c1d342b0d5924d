//! The reader: asks proxies until there are enough shares, and says of each what it did.

use std::path::Path;

use crate::client::{self, Failure};
use crate::files::Whole;
use crate::given::Given;
use crate::grant::{OpenedShare, Policy, ProxyUrl, combine, open_share};
use crate::header::{Header, Slot};
use crate::keys::{Identity, PublicIdentity};
use crate::{DataKey, ShareError, archive};

/// What one proxy did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub url: ProxyUrl,
    pub what: Result<u32, Failure>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub table: String,
    pub plain_bytes: u64,
}

/// What to open, and who opens it.
#[derive(Debug)]
pub struct OpenRequest<'a> {
    pub archive: &'a Path,
    pub out: &'a Path,
    pub reader: &'a Identity,
    /// Of the reader's keys: a share that was given is kept there until enough are, since it was counted.
    pub keys: &'a Path,
    pub owner: &'a PublicIdentity,
    /// Its id, or the beginning of it; otherwise the newest for this reader.
    pub grant: Option<&'a str>,
}

/// `tell` hears of each proxy as it has answered.
///
/// # Errors
/// The archive is not the owner's, it has nothing for this reader, too few proxies gave a share, or a piece of it is damaged. `out` is
/// then not there.
pub fn open(request: &OpenRequest<'_>, tell: &mut dyn FnMut(&Answer)) -> Result<Opened, ShareError> {
    let (mut file, header) = archive::begin(request.archive)?;
    header.is_by(request.owner)?;
    // Before anybody counts an open.
    let mut out = Whole::new(request.out)?;
    let own = header.key_of_reader(request.reader).filter(|_| request.grant.is_none());
    let (key, given) = if let Some(key) = own {
        (key, None)
    } else {
        let policy = policy_for(&header, request)?;
        let given = Given::new(request.keys, &policy.id, &policy.archive.0, policy.until_unix_s);
        let key = key_from_proxies(&policy, request, &given, tell)?;
        (key, Some((given, policy.proxies.len())))
    };
    header.is_of(&key)?;
    let plain_bytes = archive::open_chunks(&mut file, &header, &key, &mut out)?;
    out.finish()?;
    if let Some((given, count)) = given {
        given.forget(count);
    }
    Ok(Opened { table: header.core.table, plain_bytes })
}

/// Writes what an archive has into a new file, whole or not at all.
///
/// # Errors
/// The key is not its own, a piece of it is damaged, or the file cannot be written.
pub fn write_opened(archive_path: &Path, key: &DataKey, mut out: Whole) -> Result<Opened, ShareError> {
    let (mut file, header) = archive::begin(archive_path)?;
    header.is_of(key)?;
    let plain_bytes = archive::open_chunks(&mut file, &header, key, &mut out)?;
    out.finish()?;
    Ok(Opened { table: header.core.table, plain_bytes })
}

fn policy_for(header: &Header, request: &OpenRequest<'_>) -> Result<Policy, ShareError> {
    let found = header.slots.iter().rev().find_map(|slot| {
        let Slot::HpkeShare(signed) = slot else { return None };
        let policy = signed.by(request.owner).ok()?;
        let is_it = policy.reader == request.reader.public
            && policy.core.0 == header.core_hash()
            && policy.archive == header.core.archive
            && request.grant.is_none_or(|id| policy.id.hex().starts_with(&id.to_ascii_lowercase()));
        is_it.then_some(policy)
    });
    found.ok_or_else(|| {
        ShareError::refused(
            "this archive has no grant for these keys",
            match request.grant {
                Some(id) => format!("the grant {id} is not in it, or is another reader's"),
                None => format!("no grant in it is for the reader {}", request.reader.public.fingerprint()),
            },
            "ask the owner for a copy of the archive that was made after the grant",
        )
    })
}

fn key_from_proxies(
    policy: &Policy,
    request: &OpenRequest<'_>,
    kept: &Given,
    tell: &mut dyn FnMut(&Answer),
) -> Result<DataKey, ShareError> {
    let need = usize::from(policy.need);
    let mut shares: Vec<OpenedShare> = Vec::new();
    let (mut away, mut reasons, mut not_kept) = (0, Vec::new(), None);
    for (at, proxy) in policy.proxies.iter().enumerate() {
        if shares.len() == need {
            break;
        }
        let before = kept.kept(at);
        if let Some(share) = before.and_then(|bytes| open_share(policy, at, &bytes, request.reader).ok()) {
            shares.push(share);
            continue;
        }
        let given = client::open(&proxy.url, policy.id, request.reader).and_then(|answer| {
            let share = open_share(policy, at, &answer.share.0, request.reader)
                .map_err(|why| Failure::Misbehaved(why.to_owned()))?;
            Ok((share, answer))
        });
        if let Ok((_, answer)) = &given {
            not_kept = kept.keep(at, &answer.share.0).err().or(not_kept);
        }
        let given = given.map(|(share, answer)| (share, answer.opens));
        let what = given.map(|(share, opens)| {
            shares.push(share);
            opens
        });
        if let Err(failure) = &what {
            away += usize::from(matches!(failure, Failure::Unreachable(_)));
            reasons.push(format!("{} {failure}", proxy.url));
        }
        tell(&Answer { url: proxy.url.clone(), what });
    }
    if let Some(key) = combine(policy, &shares) {
        return Ok(key);
    }
    let what = format!("{} of {need} shares were given, so the archive stays closed", shares.len());
    let why = reasons.join("; ");
    // If those who are away could make up for it, trying again is worth while.
    if shares.len() + away >= need {
        let kept = match (&not_kept, shares.is_empty()) {
            (_, true) => String::new(),
            (None, _) => "; what was given is kept beside your keys until then".into(),
            (Some(why), _) => format!("; what was given is counted, and is not kept: {why}"),
        };
        let next = format!("check the network, and open it again later{kept}");
        return Err(ShareError::unreachable(what, why, next));
    }
    Err(ShareError::refused(what, why, "ask the owner for another grant"))
}
