//! The head of an archive, as bytes: what it is, who may open it, and what proves both.
//!
//! ```text
//!  8  magic "SEALSHR" 1
//!  4  length of the core, little endian
//!  4  length of the slots
//!  .. core (JSON): never changes, and everything else is bound to its hash
//!  .. slots (JSON): the ways to the data key; a grant adds one
//! 32  commitment: HMAC(key from the data key, hash of the core)
//! 32  MAC: HMAC(another key from the data key, all before it)
//! 64  Ed25519 signature of the owner over all before it
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::b64::{Blob, Fixed};
use crate::crypto::{self, DataKey, HASH_BYTES, KEY_BYTES, SIGNATURE_BYTES};
use crate::grant::SignedGrant;
use crate::keys::{Identity, PublicIdentity};
use crate::{ShareError, chunks};

pub const MAGIC: &[u8; 8] = b"SEALSHR\x01";
/// Magic and both lengths.
pub const PREAMBLE_BYTES: usize = 16;
/// It names a table; 64 KiB is far more than names can be.
const CORE_BYTES_MAX: usize = 64 * 1024;
/// A slot of 16 proxies takes under 8 KiB.
const SLOTS_BYTES_MAX: usize = 1024 * 1024;
const PROOF_BYTES: usize = HASH_BYTES + HASH_BYTES + SIGNATURE_BYTES;
pub const ARCHIVE_ID_BYTES: usize = 16;

/// Content of an archive: a header line, then rows.
pub const ROWS: &str = "tsv";
/// What a program wrote.
pub const BYTES: &str = "bytes";

const SIGNED: &[u8] = b"sealion share header v1\0";
const OWNER_SLOT: &str = "sealion share v1 slot owner";
const READER_SLOT: &str = "sealion share v1 slot hpke";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    pub v: u8,
    pub archive: Fixed<ARCHIVE_ID_BYTES>,
    /// `chacha20-poly1305`, the only one of this version.
    pub aead: String,
    pub chunk_bytes: u32,
    /// [`ROWS`] or [`BYTES`].
    pub content: String,
    /// Or, of bytes, the name that they were given.
    pub table: String,
    pub created_unix_s: i64,
    pub owner: PublicIdentity,
}

/// A way to the data key.
#[derive(Debug, Clone, PartialEq)]
pub enum Slot {
    /// HPKE to the owner's own key.
    Owner(Sealed),
    /// HPKE to a reader, who needs nobody else.
    Hpke(Sealed),
    /// Shares at proxies.
    HpkeShare(SignedGrant),
    /// Of a newer sealion: kept as it is, and never used.
    Unknown(Value),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    pub to: Fixed<KEY_BYTES>,
    pub sealed: Blob,
}

impl Slot {
    fn to_json(&self) -> Result<Value, serde_json::Error> {
        let (kind, mut value) = match self {
            Self::Owner(sealed) => ("owner", serde_json::to_value(sealed)?),
            Self::Hpke(sealed) => ("hpke", serde_json::to_value(sealed)?),
            Self::HpkeShare(grant) => ("hpke-share", serde_json::to_value(grant)?),
            Self::Unknown(value) => return Ok(value.clone()),
        };
        value["kind"] = kind.into();
        Ok(value)
    }

    fn of_json(value: Value) -> Result<Self, serde_json::Error> {
        match value.get("kind").and_then(Value::as_str) {
            Some("owner") => serde_json::from_value(value).map(Self::Owner),
            Some("hpke") => serde_json::from_value(value).map(Self::Hpke),
            Some("hpke-share") => serde_json::from_value(value).map(Self::HpkeShare),
            _ => Ok(Self::Unknown(value)),
        }
    }
}

/// What was read; [`Header::is_by`] and [`Header::is_of`] say what of it may be believed.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    pub core: Core,
    pub slots: Vec<Slot>,
    core_hash: [u8; HASH_BYTES],
    bytes: Vec<u8>,
}

fn damaged(why: impl std::fmt::Display) -> ShareError {
    ShareError::usage(
        "this is no archive of sealion share, or it is damaged",
        why,
        "check the path; if it is the right file, have it sent again",
    )
}

/// Out of the hash of a core.
pub type SlotsFor<'a> = dyn Fn(&[u8; HASH_BYTES]) -> Result<Vec<Slot>, ShareError> + 'a;

impl Header {
    /// Of a new archive, with the owner's own slot.
    pub fn new(
        (content, table): (&str, &str),
        now_unix_s: i64,
        owner: &Identity,
        key: &DataKey,
    ) -> Result<Self, ShareError> {
        let (core, core_bytes) = Self::core((content, table), now_unix_s, owner)?;
        let core_hash = hash(&core_bytes);
        let slot = Slot::Owner(sealed_key(OWNER_SLOT, &owner.public.seal, key, &core_hash)?);
        Self::with(core, &core_bytes, vec![slot], owner, key)
    }

    fn core(
        (content, table): (&str, &str),
        now_unix_s: i64,
        owner: &Identity,
    ) -> Result<(Core, Vec<u8>), ShareError> {
        let core = Core {
            v: 1,
            archive: Fixed(crypto::random()?),
            aead: "chacha20-poly1305".into(),
            chunk_bytes: u32::try_from(chunks::CHUNK_BYTES).map_err(damaged)?,
            content: content.to_owned(),
            table: table.to_owned(),
            created_unix_s: now_unix_s,
            owner: owner.public.clone(),
        };
        let core_bytes = serde_json::to_vec(&core)
            .map_err(|error| ShareError::internal("cannot write the header", error))?;
        Ok((core, core_bytes))
    }

    /// Of a new archive whose writer cannot open it: `slots` makes the ways to its key, out of the hash of its core.
    pub fn by_writer(
        (content, table): (&str, &str),
        now_unix_s: i64,
        writer: &Identity,
        key: &DataKey,
        slots: &SlotsFor<'_>,
    ) -> Result<Self, ShareError> {
        let (core, core_bytes) = Self::core((content, table), now_unix_s, writer)?;
        let slots = slots(&hash(&core_bytes))?;
        Self::with(core, &core_bytes, slots, writer, key)
    }

    /// The same archive with one more way in.
    pub fn with_slot(&self, slot: Slot, owner: &Identity, key: &DataKey) -> Result<Self, ShareError> {
        let mut slots = self.slots.clone();
        slots.push(slot);
        Self::with(self.core.clone(), self.core_bytes(), slots, owner, key)
    }

    fn with(
        core: Core,
        core_bytes: &[u8],
        slots: Vec<Slot>,
        owner: &Identity,
        key: &DataKey,
    ) -> Result<Self, ShareError> {
        let core_hash = hash(core_bytes);
        let json = |error| ShareError::internal("cannot write the header", error);
        let values = slots.iter().map(Slot::to_json).collect::<Result<Vec<_>, _>>().map_err(json)?;
        let slots_bytes = serde_json::to_vec(&values).map_err(json)?;
        let length = |bytes: &[u8], max: usize| {
            u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= max).ok_or_else(|| {
                ShareError::usage(
                    "the header becomes too long",
                    format!("{} bytes, of {max}", bytes.len()),
                    "make a new archive for more readers",
                )
            })
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(length(core_bytes, CORE_BYTES_MAX)?.to_le_bytes());
        bytes.extend(length(&slots_bytes, SLOTS_BYTES_MAX)?.to_le_bytes());
        bytes.extend(core_bytes);
        bytes.extend(slots_bytes);
        bytes.extend(crypto::mac(&key.derive(&core.archive.0, "commitment"), &core_hash));
        bytes.extend(crypto::mac(&key.derive(&core.archive.0, "header"), &bytes));
        bytes.extend(owner.sign(&signed_text(&bytes))?);
        Ok(Self { core, slots, core_hash, bytes })
    }

    /// How many bytes follow the preamble.
    pub fn rest_bytes(preamble: &[u8; PREAMBLE_BYTES]) -> Result<usize, ShareError> {
        let (core, slots) = lengths(preamble)?;
        Ok(core + slots + PROOF_BYTES)
    }

    /// All of its bytes, and none more. Says only that it has the right form.
    pub fn parse(bytes: &[u8]) -> Result<Self, ShareError> {
        let (preamble, rest) =
            bytes.split_first_chunk::<PREAMBLE_BYTES>().ok_or_else(|| damaged("it is too short"))?;
        let (core_length, slots_length) = lengths(preamble)?;
        if rest.len() != core_length + slots_length + PROOF_BYTES {
            return Err(damaged("its header is cut off"));
        }
        let (core_bytes, rest) = rest.split_at_checked(core_length).unwrap_or_default();
        let (slots_bytes, _) = rest.split_at_checked(slots_length).unwrap_or_default();
        let core: Core = serde_json::from_slice(core_bytes).map_err(damaged)?;
        let is_known = core.v == 1
            && core.aead == "chacha20-poly1305"
            && core.chunk_bytes as usize == chunks::CHUNK_BYTES
            && [ROWS, BYTES].contains(&core.content.as_str());
        if !is_known {
            let why = format!(
                "version {}, {}, chunks of {} bytes, content {:?}",
                core.v, core.aead, core.chunk_bytes, core.content
            );
            return Err(damaged(format!("this sealion does not read it: {why}")));
        }
        if core.table.chars().any(char::is_control) {
            return Err(damaged("the name in it has control characters"));
        }
        let values: Vec<Value> = serde_json::from_slice(slots_bytes).map_err(damaged)?;
        let slots = values.into_iter().map(Slot::of_json).collect::<Result<Vec<_>, _>>().map_err(damaged)?;
        Ok(Self { core, slots, core_hash: hash(core_bytes), bytes: bytes.to_vec() })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn core_hash(&self) -> [u8; HASH_BYTES] {
        self.core_hash
    }

    fn core_bytes(&self) -> &[u8] {
        let length =
            lengths(self.bytes.first_chunk().unwrap_or(&[0; PREAMBLE_BYTES])).map_or(0, |both| both.0);
        self.bytes.get(PREAMBLE_BYTES..PREAMBLE_BYTES + length).unwrap_or_default()
    }

    /// Everything in it, proofs too, was written by this owner.
    pub fn is_by(&self, owner: &PublicIdentity) -> Result<(), ShareError> {
        let (signed, signature) =
            self.bytes.split_at_checked(self.bytes.len().saturating_sub(SIGNATURE_BYTES)).unwrap_or_default();
        if self.core.owner == *owner && crypto::is_signed(&owner.sign.0, &signed_text(signed), signature) {
            return Ok(());
        }
        let is_umbral = |slot: &Slot| matches!(slot, Slot::Unknown(value) if value["kind"] == "umbral");
        if self.core.owner != *owner && self.slots.iter().any(is_umbral) {
            return Err(ShareError::refused(
                "this archive is of a scope, and signed by its writer",
                "sealion-share has made it",
                "sealion-share open, with the grant of its scope",
            ));
        }
        Err(ShareError::refused(
            "this archive is not of that owner",
            if self.core.owner == *owner {
                "its header was altered: the owner's signature is not of it"
            } else {
                "its header names another owner"
            },
            "compare the owner's fingerprint with the owner, over the telephone; have the archive sent again",
        ))
    }

    /// First the commitment: one ciphertext may be opened by two keys, but only one of them is what the owner meant.
    pub fn is_of(&self, key: &DataKey) -> Result<(), ShareError> {
        let archive = &self.core.archive.0;
        let proofs = self.bytes.len().saturating_sub(PROOF_BYTES);
        let (covered, proofs) = self.bytes.split_at_checked(proofs + HASH_BYTES).unwrap_or_default();
        let commitment = covered.get(covered.len().saturating_sub(HASH_BYTES)..).unwrap_or_default();
        let mac = proofs.get(..HASH_BYTES).unwrap_or_default();
        let why = if !crypto::is_mac(&key.derive(archive, "commitment"), &self.core_hash, commitment) {
            "the data key is not that which the archive was made with"
        } else if !crypto::is_mac(&key.derive(archive, "header"), covered, mac) {
            "its header was altered"
        } else {
            return Ok(());
        };
        Err(ShareError::refused("this archive does not open", why, "have the archive sent again"))
    }

    /// Out of the owner's slot.
    pub fn key_of_owner(&self, owner: &Identity) -> Result<DataKey, ShareError> {
        let found = self.slots.iter().find_map(|slot| match slot {
            Slot::Owner(sealed) => self.opened(OWNER_SLOT, sealed, owner),
            _ => None,
        });
        let key = found.ok_or_else(|| {
            ShareError::refused(
                "this archive does not open with these keys",
                "no slot of an owner is sealed to them",
                "give the directory of keys that the archive was made with",
            )
        })?;
        self.is_of(&key).map(|()| key)
    }

    /// Out of a slot for this reader alone, where there is one.
    pub fn key_of_reader(&self, reader: &Identity) -> Option<DataKey> {
        self.slots.iter().find_map(|slot| match slot {
            Slot::Hpke(sealed) => self.opened(READER_SLOT, sealed, reader),
            _ => None,
        })
    }

    pub fn slot_for(&self, reader: &PublicIdentity, key: &DataKey) -> Result<Slot, ShareError> {
        sealed_key(READER_SLOT, &reader.seal, key, &self.core_hash).map(Slot::Hpke)
    }

    fn opened(&self, info: &str, sealed: &Sealed, identity: &Identity) -> Option<DataKey> {
        if sealed.to != identity.public.seal {
            return None;
        }
        let key = crypto::open_with(&identity.seal, info, &self.core_hash, &sealed.sealed.0)?;
        DataKey::of(&key)
    }
}

fn sealed_key(
    info: &str,
    to: &Fixed<KEY_BYTES>,
    key: &DataKey,
    core_hash: &[u8],
) -> Result<Sealed, ShareError> {
    let sealed = crypto::seal_to(&to.0, info, core_hash, key.bytes())?;
    Ok(Sealed { to: *to, sealed: Blob(sealed) })
}

fn lengths(preamble: &[u8; PREAMBLE_BYTES]) -> Result<(usize, usize), ShareError> {
    if !preamble.starts_with(MAGIC) {
        return Err(damaged("it does not begin as one"));
    }
    let number = |at: usize| {
        let bytes = preamble.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(usize::MAX, |bytes| u32::from_le_bytes(*bytes) as usize)
    };
    let (core, slots) = (number(MAGIC.len()), number(MAGIC.len() + size_of::<u32>()));
    if core > CORE_BYTES_MAX || slots > SLOTS_BYTES_MAX {
        return Err(damaged(format!("its header would have {core} and {slots} bytes")));
    }
    Ok((core, slots))
}

fn hash(core: &[u8]) -> [u8; HASH_BYTES] {
    crypto::sha256(&[b"sealion share core v1\0", core])
}

fn signed_text(bytes: &[u8]) -> Vec<u8> {
    [SIGNED, &crypto::sha256(&[bytes])[..]].concat()
}
