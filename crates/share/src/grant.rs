//! What an owner allows, in writing; and the data key cut into shares, one for each proxy, each sealed to the reader.

use blahaj::{Share, Sharks};
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::ShareError;
use crate::b64::{Blob, Fixed};
use crate::crypto::{self, DataKey, HASH_BYTES, KEY_BYTES, SIGNATURE_BYTES};
use crate::header::ARCHIVE_ID_BYTES;
use crate::keys::{Identity, PublicIdentity};

pub const GRANT_ID_BYTES: usize = 16;
pub const PROXIES_MAX: usize = 16;
/// Of a policy: 16 proxies with URLs of this length take under 6 KiB.
pub const POLICY_BYTES_MAX: usize = 16 * 1024;
pub const URL_BYTES_MAX: usize = 255;
/// x and y of a share, encapsulated key and tag.
pub const SHARE_BYTES_MAX: usize = 128;
/// A fragment of a re-encryption key has some 310.
pub const FRAGMENT_BYTES_MAX: usize = 1024;
/// A compressed point of secp256k1.
pub const POINT_BYTES: usize = 33;

const SIGNED: &[u8] = b"sealion share grant v1\0";
const SHARE: &str = "sealion share v1 slot hpke-share";

pub type GrantId = Fixed<GRANT_ID_BYTES>;

/// Who may open which archive, until when and how often, and who keeps the shares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub v: u8,
    pub id: GrantId,
    pub archive: Fixed<ARCHIVE_ID_BYTES>,
    /// Of the core of the archive's header.
    pub core: Fixed<HASH_BYTES>,
    pub table: String,
    pub owner: PublicIdentity,
    pub reader: PublicIdentity,
    /// Up to this second, by each proxy's clock.
    pub until_unix_s: i64,
    /// At each proxy.
    pub max_opens: u32,
    /// So many of the proxies are needed.
    pub need: u8,
    pub proxies: Vec<ProxyPlace>,
    /// Of a standing grant: what is kept are fragments of a re-encryption key, for all archives of a scope. `None`: shares of one archive's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeTerms>,
}

/// Between which keys a proxy re-encrypts. The scheme is Umbral, and is not in this crate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeTerms {
    /// What archives of the scope are made for.
    pub delegating: Fixed<POINT_BYTES>,
    /// By which fragments are known to be the owner's.
    pub verifying: Fixed<POINT_BYTES>,
    /// The reader's.
    pub receiving: Fixed<POINT_BYTES>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyPlace {
    pub url: ProxyUrl,
    /// Of the sealed share that it keeps: another one is not what the owner gave it.
    pub share_sha256: Fixed<HASH_BYTES>,
}

/// `https://host:port#` and the SHA-256 of the proxy's certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProxyUrl {
    pub host: String,
    pub port: u16,
    pub certificate: Fixed<HASH_BYTES>,
}

impl std::str::FromStr for ProxyUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "give what `share proxy serve` prints: https://HOST:PORT#SHA256".to_owned();
        let rest = text.strip_prefix("https://").filter(|_| text.len() <= URL_BYTES_MAX).ok_or_else(wrong)?;
        let (place, certificate) = rest.split_once('#').ok_or_else(wrong)?;
        let (host, port) = place.trim_end_matches('/').rsplit_once(':').ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_host = !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'_'));
        let port = port.parse().ok().filter(|_| is_host).ok_or_else(wrong)?;
        let certificate = Fixed::from_hex(&certificate.to_ascii_lowercase()).ok_or_else(wrong)?;
        Ok(Self { host: host.to_owned(), port, certificate })
    }
}

impl TryFrom<String> for ProxyUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ProxyUrl> for String {
    fn from(url: ProxyUrl) -> Self {
        format!("{url}#{}", url.certificate.hex())
    }
}

/// Without the certificate, for people.
impl std::fmt::Display for ProxyUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            return write!(f, "https://[{}]:{}", self.host, self.port);
        }
        write!(f, "https://{}:{}", self.host, self.port)
    }
}

/// The policy as the bytes that were signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedGrant {
    pub policy: Blob,
    pub signature: Fixed<SIGNATURE_BYTES>,
}

impl SignedGrant {
    /// # Errors
    /// It is too long.
    pub fn new(policy: &Policy, owner: &Identity) -> Result<Self, ShareError> {
        let bytes = serde_json::to_vec(policy)
            .map_err(|error| ShareError::internal("cannot write a grant", error))?;
        if bytes.len() > POLICY_BYTES_MAX {
            return Err(ShareError::usage(
                "the grant becomes too long",
                format!("{} bytes, of {POLICY_BYTES_MAX}", bytes.len()),
                "give fewer proxies, or shorter names",
            ));
        }
        let signature = Fixed(owner.sign(&[SIGNED, &bytes].concat())?);
        Ok(Self { policy: Blob(bytes), signature })
    }

    /// Nothing of the policy is looked at before its signature.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn by(&self, owner: &PublicIdentity) -> Result<Policy, String> {
        if self.policy.0.len() > POLICY_BYTES_MAX
            || !crypto::is_signed(&owner.sign.0, &[SIGNED, &self.policy.0].concat(), &self.signature.0)
        {
            return Err("the grant is not signed by this owner".into());
        }
        let policy: Policy = serde_json::from_slice(&self.policy.0).map_err(|error| error.to_string())?;
        let count = policy.proxies.len();
        let is_sane = policy.v == 1
            && policy.owner == *owner
            && !policy.table.chars().any(char::is_control)
            && (1..=PROXIES_MAX).contains(&count)
            && (1..=count).contains(&usize::from(policy.need));
        if is_sane {
            Ok(policy)
        } else {
            Err("the grant makes no sense: version, owner, name or proxies".into())
        }
    }
}

/// What an owner asks for.
#[derive(Debug, Clone)]
pub struct Terms {
    pub until_unix_s: i64,
    pub max_opens: u32,
    pub need: u8,
    pub proxies: Vec<ProxyUrl>,
}

impl Terms {
    /// # Errors
    /// They make no sense.
    pub fn are_sound(&self) -> Result<(), ShareError> {
        let count = self.proxies.len();
        let is_twice = |(at, url): (usize, &ProxyUrl)| {
            self.proxies.iter().take(at).any(|other| other.certificate == url.certificate)
        };
        let why = if !(1..=PROXIES_MAX).contains(&count) {
            Some(format!("{count} proxies were given, of 1 to {PROXIES_MAX}"))
        } else if !(1..=count).contains(&usize::from(self.need)) {
            Some(format!("--need is {}, with {count} proxies", self.need))
        } else if self.proxies.iter().enumerate().any(is_twice) {
            Some("the same proxy was given twice; it would hold two shares".into())
        } else if self.max_opens == 0 {
            Some("--max-opens is 0".into())
        } else {
            None
        };
        why.map_or(Ok(()), |why| {
            Err(ShareError::usage("this cannot be granted", why, "give --proxy once for each proxy"))
        })
    }

    /// The proxies, with what each is to keep.
    pub fn places(&self, shares: &[Vec<u8>]) -> Vec<ProxyPlace> {
        let place = |(url, share): (&ProxyUrl, &Vec<u8>)| ProxyPlace {
            url: url.clone(),
            share_sha256: Fixed(crypto::sha256(&[share])),
        };
        self.proxies.iter().zip(shares).map(place).collect()
    }
}

/// A grant, and what each of its proxies is given to keep.
#[derive(Debug)]
pub struct NewGrant {
    pub policy: Policy,
    pub signed: SignedGrant,
    /// Sealed to the reader, in the order of the policy's proxies.
    pub shares: Vec<Vec<u8>>,
}

impl NewGrant {
    pub fn new(
        header: &crate::header::Header,
        key: &DataKey,
        owner: &Identity,
        reader: &PublicIdentity,
        terms: &Terms,
    ) -> Result<Self, ShareError> {
        terms.are_sound()?;
        let count = terms.proxies.len();
        let id = Fixed(crypto::random()?);
        let core = header.core_hash();
        let mut shares = Vec::with_capacity(count);
        for (at, share) in Sharks(terms.need).dealer(key.bytes()).take(count).enumerate() {
            let mut plain = Vec::from(&share);
            let sealed = crypto::seal_to(&reader.seal.0, SHARE, &place(&id, at, &core), &plain);
            plain.zeroize();
            shares.push(sealed?);
        }
        let policy = Policy {
            v: 1,
            id,
            archive: header.core.archive,
            core: Fixed(core),
            table: header.core.table.clone(),
            owner: owner.public.clone(),
            reader: reader.clone(),
            until_unix_s: terms.until_unix_s,
            max_opens: terms.max_opens,
            need: terms.need,
            proxies: terms.places(&shares),
            scope: None,
        };
        let signed = SignedGrant::new(&policy, owner)?;
        Ok(Self { policy, signed, shares })
    }
}

/// A share serves in this grant, at this proxy, for this archive.
fn place(id: &GrantId, at: usize, core: &[u8; HASH_BYTES]) -> Vec<u8> {
    [&id.0[..], &(at as u64).to_be_bytes(), core].concat()
}

/// A share that the reader has opened.
pub struct OpenedShare {
    at: usize,
    share: Share,
}

impl std::fmt::Debug for OpenedShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpenedShare({})", self.at)
    }
}

/// What a proxy gave, if it is what the owner gave to that proxy.
///
/// # Errors
/// What is wrong with it.
pub fn open_share(
    policy: &Policy,
    at: usize,
    sealed: &[u8],
    reader: &Identity,
) -> Result<OpenedShare, &'static str> {
    let proxy = policy.proxies.get(at).ok_or("the grant has no such proxy")?;
    if crypto::sha256(&[sealed]) != proxy.share_sha256.0 {
        return Err("it gave another share than the owner gave to it");
    }
    let plain = crypto::open_with(&reader.seal, SHARE, &place(&policy.id, at, &policy.core.0), sealed)
        .ok_or("its share is not sealed to these keys")?;
    if plain.len() != KEY_BYTES + 1 {
        return Err("its share has another length than a share has");
    }
    let share = Share::try_from(&plain[..]).map_err(|_| "its share is no share")?;
    Ok(OpenedShare { at, share })
}

/// `None`: too few. Whether it is the right key, only the archive tells.
pub fn combine(policy: &Policy, shares: &[OpenedShare]) -> Option<DataKey> {
    let mut places: Vec<usize> = shares.iter().map(|share| share.at).collect();
    places.sort_unstable();
    places.dedup();
    if places.len() != shares.len() || shares.len() < usize::from(policy.need) {
        return None;
    }
    let mut key = Sharks(policy.need).recover(shares.iter().map(|opened| &opened.share)).ok()?;
    let data_key = DataKey::of(&key);
    key.zeroize();
    data_key
}
