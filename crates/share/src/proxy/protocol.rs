//! What is said to a proxy, as JSON, and what is signed of it.

use serde::{Deserialize, Serialize};

use crate::ShareError;
use crate::b64::{Blob, Fixed};
use crate::crypto::{HASH_BYTES, SIGNATURE_BYTES};
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
}

impl SignedWish {
    /// For this proxy, this challenge and this grant alone.
    pub fn new(
        wish: Wish,
        grant: GrantId,
        challenge: Challenge,
        certificate: &Fixed<HASH_BYTES>,
        identity: &Identity,
    ) -> Result<Self, ShareError> {
        let signature = identity.sign(&wish_text(wish, &grant, &challenge, certificate))?;
        Ok(Self { grant, challenge, signature: Fixed(signature) })
    }
}

pub fn wish_text(
    wish: Wish,
    grant: &GrantId,
    challenge: &Challenge,
    certificate: &Fixed<HASH_BYTES>,
) -> Vec<u8> {
    let name = wish.name().as_bytes();
    [b"sealion share request v1\0", name, b"\0", &certificate.0, &grant.0, &challenge.0].concat()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenAnswer {
    pub share: Blob,
    /// This one counted.
    pub opens: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateAnswer {
    pub opens: u32,
    pub is_revoked: bool,
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
