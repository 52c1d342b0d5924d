//! What is said to a proxy, as JSON, and what is signed of it.

use serde::{Deserialize, Serialize};

use crate::ShareError;
use crate::b64::{Blob, Fixed};
use crate::crypto::{HASH_BYTES, SIGNATURE_BYTES, sha256};
use crate::grant::{GRANT_ID_BYTES, GrantId, SignedGrant};
use crate::keys::Identity;
use crate::proxy::log::LogLine;

/// Random bytes, the proxy's time, and its MAC over both.
pub const CHALLENGE_BYTES: usize = 56;
pub type Challenge = Fixed<CHALLENGE_BYTES>;

/// Of a request or an answer; the longest is a list of grants.
pub const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wish {
    Open,
    Revoke,
    State,
    /// Of the whole log, not of one grant.
    Audit,
}

impl Wish {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Revoke => "revoke",
            Self::State => "state",
            Self::Audit => "audit",
        }
    }
}

/// `PUT /v1/grants`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutGrant {
    pub grant: SignedGrant,
    pub share: Blob,
}

/// `GET /v1/challenge`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChallengeAnswer {
    pub challenge: Challenge,
}

/// `POST /v1/open`, `/v1/revoke` and `/v1/state`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedWish {
    pub grant: GrantId,
    pub challenge: Challenge,
    pub signature: Fixed<SIGNATURE_BYTES>,
    /// Of a standing grant: what is to be re-encrypted, one for each archive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capsules: Vec<Blob>,
}

/// Of one request; as many answers are some 30 KiB.
pub const CAPSULES_MAX: usize = 64;

impl SignedWish {
    /// For this proxy, this challenge and this grant alone.
    pub fn new(
        wish: Wish,
        grant: GrantId,
        challenge: Challenge,
        certificate: &Fixed<HASH_BYTES>,
        identity: &Identity,
    ) -> Result<Self, ShareError> {
        Self::over(vec![], wish, grant, (challenge, certificate), identity)
    }

    /// The same with capsules.
    pub fn over(
        capsules: Vec<Blob>,
        wish: Wish,
        grant: GrantId,
        (challenge, certificate): (Challenge, &Fixed<HASH_BYTES>),
        identity: &Identity,
    ) -> Result<Self, ShareError> {
        let mut signed = Self { grant, challenge, signature: Fixed([0; SIGNATURE_BYTES]), capsules };
        signed.signature = Fixed(identity.sign(&signed.text(wish, certificate))?);
        Ok(signed)
    }

    /// What is signed of it.
    pub fn text(&self, wish: Wish, certificate: &Fixed<HASH_BYTES>) -> Vec<u8> {
        let mut text = wish_text(wish, &self.grant, &self.challenge, certificate);
        if !self.capsules.is_empty() {
            let mut all = Vec::new();
            for capsule in &self.capsules {
                all.extend((capsule.0.len() as u64).to_be_bytes());
                all.extend(&capsule.0);
            }
            text.extend(sha256(&[&all]));
        }
        text
    }
}

fn wish_text(wish: Wish, grant: &GrantId, challenge: &Challenge, certificate: &Fixed<HASH_BYTES>) -> Vec<u8> {
    let name = wish.name().as_bytes();
    [b"sealion share request v1\0", name, b"\0", &certificate.0, &grant.0, &challenge.0].concat()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAnswer {
    /// Empty where fragments are given.
    pub share: Blob,
    /// This one counted.
    pub opens: u32,
    /// Of a standing grant: one for each capsule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fragments: Vec<Blob>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateAnswer {
    pub opens: u32,
    pub is_revoked: bool,
    /// It never had the grant, or has forgotten it; it was told not to take it any more.
    #[serde(default)]
    pub was_never_held: bool,
}

/// `POST /v1/audit`. What is signed has a grant of zeros, and `behind`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditWish {
    /// Lines with higher numbers are wanted.
    pub behind: i64,
    pub challenge: Challenge,
    pub signature: Fixed<SIGNATURE_BYTES>,
}

impl AuditWish {
    pub fn new(
        behind: i64,
        challenge: Challenge,
        certificate: &Fixed<HASH_BYTES>,
        owner: &Identity,
    ) -> Result<Self, ShareError> {
        let signature = owner.sign(&audit_text(behind, &challenge, certificate))?;
        Ok(Self { behind, challenge, signature: Fixed(signature) })
    }
}

pub fn audit_text(behind: i64, challenge: &Challenge, certificate: &Fixed<HASH_BYTES>) -> Vec<u8> {
    let mut text = wish_text(Wish::Audit, &Fixed([0; GRANT_ID_BYTES]), challenge, certificate);
    text.extend(behind.to_be_bytes());
    text
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditAnswer {
    /// At most [`super::log::PAGE_LINES_MAX`].
    pub lines: Vec<LogLine>,
    /// Where the log ends.
    pub last: i64,
}

/// Why not. Machines read the reason, people the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub reason: Reason,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Not signed by whom it should be, or not for this proxy.
    NotAllowed,
    /// The challenge is old, another proxy's, or was used.
    Challenge,
    NoSuchGrant,
    Revoked,
    Expired,
    UsedUp,
    /// Another grant has its id.
    Conflict,
    /// Too many requests from one address.
    Busy,
    /// It cannot be read.
    BadRequest,
    /// The proxy is at fault.
    Internal,
    #[serde(other)]
    Other,
}

impl Reason {
    /// As JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAllowed => "not_allowed",
            Self::Challenge => "challenge",
            Self::NoSuchGrant => "no_such_grant",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
            Self::UsedUp => "used_up",
            Self::Conflict => "conflict",
            Self::Busy => "busy",
            Self::BadRequest => "bad_request",
            Self::Internal => "internal",
            Self::Other => "other",
        }
    }
}

impl Refusal {
    pub fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self { reason, text: text.into() }
    }

    pub fn status(&self) -> u16 {
        match self.reason {
            Reason::BadRequest | Reason::Other => 400,
            Reason::NotAllowed | Reason::Challenge | Reason::UsedUp => 403,
            Reason::NoSuchGrant => 404,
            Reason::Conflict => 409,
            Reason::Revoked | Reason::Expired => 410,
            Reason::Busy => 429,
            Reason::Internal => 500,
        }
    }
}
