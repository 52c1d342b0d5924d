//! The reader: asks proxies until there are enough shares, and says of each what it did.

use std::path::Path;

use crate::client::{self, Failure};
use crate::files::Whole;
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
    let key = match header.key_of_reader(request.reader).filter(|_| request.grant.is_none()) {
        Some(key) => key,
        None => key_from_proxies(&header, request, tell)?,
    };
    header.is_of(&key)?;
    let plain_bytes = archive::open_chunks(&mut file, &header, &key, &mut out)?;
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
    header: &Header,
    request: &OpenRequest<'_>,
    tell: &mut dyn FnMut(&Answer),
) -> Result<DataKey, ShareError> {
    let policy = policy_for(header, request)?;
    let need = usize::from(policy.need);
    let mut shares: Vec<OpenedShare> = Vec::new();
    let (mut away, mut reasons) = (0, Vec::new());
    for (at, proxy) in policy.proxies.iter().enumerate() {
        if shares.len() == need {
            break;
        }
        let given = client::open(&proxy.url, policy.id, request.reader).and_then(|answer| {
            open_share(&policy, at, &answer.share.0, request.reader)
                .map(|share| (share, answer.opens))
                .map_err(|why| Failure::Misbehaved(why.to_owned()))
        });
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
    if let Some(key) = combine(&policy, &shares) {
        return Ok(key);
    }
    let what = format!("{} of {need} shares were given, so the archive stays closed", shares.len());
    let why = reasons.join("; ");
    // If those who are away could make up for it, trying again is worth while.
    if shares.len() + away >= need {
        return Err(ShareError::unreachable(what, why, "check the network, and open it again later"));
    }
    Err(ShareError::refused(what, why, "ask the owner for another grant"))
}
