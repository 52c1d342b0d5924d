//! What an owner states of a scope, and a reader of a receiving key; and the slot of an archive that was made for a scope.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use share::ShareError;
use share::b64::{Blob, Fixed};
use share::grant::POINT_BYTES;
use share::header::Slot;
use share::keys::{Identity, PublicIdentity};

use crate::umbral::{CAPSULE_BYTES_MAX, Point, ReceivingKey, ScopeKeys, Sealed};

/// Of a file with a statement; ours are below 2 KiB.
const FILE_BYTES_MAX: u64 = 16 * 1024;
const BODY_BYTES_MAX: usize = 8 * 1024;
pub const LABEL_BYTES_MAX: usize = 255;
const SIGNATURE_BYTES: usize = 64;
const SCOPE: &[u8] = b"sealion share umbral scope v1\0";
const READER: &[u8] = b"sealion share umbral reader v1\0";
const SLOT: &str = "umbral";

/// The bytes that were signed, and the signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signed {
    body: Blob,
    signature: Fixed<SIGNATURE_BYTES>,
}

impl Signed {
    fn new(kind: &[u8], body: &impl Serialize, by: &Identity) -> Result<Self, ShareError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| internal("a statement cannot be written", error.to_string()))?;
        let signature = Fixed(by.sign(&[kind, &body].concat())?);
        Ok(Self { body: Blob(body), signature })
    }

    fn by<T: DeserializeOwned>(&self, kind: &[u8], who: &PublicIdentity) -> Result<T, String> {
        if self.body.0.len() > BODY_BYTES_MAX
            || !who.has_signed(&[kind, &self.body.0].concat(), &self.signature.0)
        {
            return Err("it is not signed by whom it should be".into());
        }
        serde_json::from_slice(&self.body.0).map_err(|error| error.to_string())
    }

    /// Before anything is known of who has signed it.
    fn claimed<T: DeserializeOwned>(&self) -> Result<T, String> {
        if self.body.0.len() > BODY_BYTES_MAX {
            return Err("it is too long".into());
        }
        serde_json::from_slice(&self.body.0).map_err(|error| error.to_string())
    }

    pub fn write(&self, path: &Path) -> Result<(), ShareError> {
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| internal("a statement cannot be written", error.to_string()))?;
        share::files::write_new(path, &text, share::files::PUBLIC)
    }

    pub fn read(path: &Path) -> Result<Self, ShareError> {
        let bytes = share::files::read_small(path, FILE_BYTES_MAX)?;
        serde_json::from_slice(&bytes).map_err(|error| wrong(path, error.to_string()))
    }
}

pub fn wrong(path: &Path, why: String) -> ShareError {
    ShareError::Usage {
        what: format!("{} is not what it should be", path.display()),
        why,
        next: "give the file as sealion-share has written it; have it sent again".into(),
    }
}

pub fn internal(what: &str, why: String) -> ShareError {
    ShareError::Internal { what: what.into(), why }
}

/// A series of archives, and who writes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    pub v: u8,
    /// `orders/2026-11`
    pub label: String,
    pub owner: PublicIdentity,
    /// Whose signature archives of the scope have.
    pub writer: PublicIdentity,
    pub delegating: Fixed<POINT_BYTES>,
    pub verifying: Fixed<POINT_BYTES>,
}

impl Scope {
    /// # Errors
    /// The label cannot be one.
    pub fn new(label: &str, owner: &Identity, writer: &PublicIdentity) -> Result<(Self, Signed), ShareError> {
        if !is_label(label) {
            return Err(ShareError::Usage {
                what: format!("{label:?} is no name of a scope"),
                why: format!(
                    "it is empty, longer than {LABEL_BYTES_MAX} bytes, or has more than letters, digits and /-_.:+"
                ),
                next: "give one with its period, as orders/2026-11".into(),
            });
        }
        let keys =
            ScopeKeys::of(owner, label, writer).map_err(|why| internal("the scope has no keys", why))?;
        let scope = Self {
            v: 1,
            label: label.to_owned(),
            owner: owner.public.clone(),
            writer: writer.clone(),
            delegating: Fixed(keys.delegating()),
            verifying: Fixed(keys.verifying()),
        };
        let signed = Signed::new(SCOPE, &scope, owner)?;
        Ok((scope, signed))
    }

    /// # Errors
    /// It is not this owner's.
    pub fn by(signed: &Signed, owner: &PublicIdentity) -> Result<Self, String> {
        let scope: Self = signed.by(SCOPE, owner)?;
        let is_sane = scope.v == 1 && scope.owner == *owner && is_label(&scope.label);
        if is_sane { Ok(scope) } else { Err("the scope makes no sense: version, owner or name".into()) }
    }

    /// By whoever it says: to be shown, and to be compared by people.
    ///
    /// # Errors
    /// It is signed by nobody.
    pub fn of_anybody(signed: &Signed) -> Result<Self, String> {
        let claimed: Self = signed.claimed()?;
        Self::by(signed, &claimed.owner)
    }
}

/// Two that look alike are one.
fn is_label(label: &str) -> bool {
    let is_fine = |one: char| one.is_alphanumeric() || "/-_.:+".contains(one);
    !label.is_empty() && label.len() <= LABEL_BYTES_MAX && label.chars().all(is_fine)
}

/// A reader's key, by the reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    pub v: u8,
    pub reader: PublicIdentity,
    pub receiving: Fixed<POINT_BYTES>,
}

impl Receiver {
    /// # Errors
    /// The reader's keys are none.
    pub fn new(reader: &Identity) -> Result<(Self, Signed), ShareError> {
        let key = ReceivingKey::of(reader).map_err(|why| internal("the reader has no key", why))?;
        let receiver = Self { v: 1, reader: reader.public.clone(), receiving: Fixed(key.public()) };
        let signed = Signed::new(READER, &receiver, reader)?;
        Ok((receiver, signed))
    }

    /// Its fingerprint is what the owner compares.
    ///
    /// # Errors
    /// It is not signed by the reader that it names.
    pub fn of(signed: &Signed) -> Result<Self, String> {
        let claimed: Self = signed.claimed()?;
        let receiver: Self = signed.by(READER, &claimed.reader)?;
        if receiver.v == 1 { Ok(receiver) } else { Err("it is of another version".into()) }
    }
}

/// A way to the key of an archive, for a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UmbralSlot {
    pub scope: Signed,
    pub capsule: Blob,
    pub wrap: Blob,
}

impl UmbralSlot {
    /// `text` is what is sealed: the data key and the hash of the header's core, since the scheme binds to nothing else.
    ///
    /// # Errors
    /// The scope's key is no point.
    pub fn new(scope: &Signed, delegating: &Point, text: &[u8]) -> Result<Self, ShareError> {
        let sealed = crate::umbral::seal(delegating, text)
            .map_err(|why| internal("the key of the archive cannot be sealed", why))?;
        Ok(Self { scope: scope.clone(), capsule: Blob(sealed.capsule), wrap: Blob(sealed.wrap) })
    }

    pub fn sealed(&self) -> Sealed {
        Sealed { capsule: self.capsule.0.clone(), wrap: self.wrap.0.clone() }
    }

    /// # Errors
    /// It cannot be written.
    pub fn to_slot(&self) -> Result<Slot, ShareError> {
        let mut value = serde_json::to_value(self)
            .map_err(|error| internal("a slot cannot be written", error.to_string()))?;
        value["kind"] = SLOT.into();
        Ok(Slot::Unknown(value))
    }

    /// Of an archive; `None`: it is of another kind, or no slot of this version.
    pub fn of(slot: &Slot) -> Option<Self> {
        let Slot::Unknown(value) = slot else { return None };
        if value.get("kind").and_then(Value::as_str) != Some(SLOT) {
            return None;
        }
        let found: Self = serde_json::from_value(value.clone()).ok()?;
        (found.capsule.0.len() <= CAPSULE_BYTES_MAX).then_some(found)
    }
}
