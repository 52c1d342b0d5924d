//! Headers of LUKS1 and LUKS2, as far as they tell without a key. All numbers are big-endian.
//!
//! ```text
//! LUKS1   "LUKS" ba be | version 1 | cipher, mode, hash | payload offset | … | eight key slots           592 bytes
//! LUKS2   "LUKS" ba be | version 2 | header bytes | sequence id | label | checksum | …                   4 KiB
//!         JSON: slots, tokens, segments, digests, config                                                 the rest of header bytes
//!         "SKUL" ba be | the same once more, as its second copy                                          at header bytes
//! ```
//! A header is a claim: that one stands in a file does not say that what is read and written goes through it.
//! [`parse`] is where to start. What it cannot tell is [`Parsed::Unclear`], and a part of a header that it does not
//! know keeps the word that stands there: neither is folded into "no".
//!
//! Source: LUKS1 On-Disk Format Specification 1.2.3, LUKS2 On-Disk Format Specification 1.1.x, and what cryptsetup
//! 2.6.1 wrote (testdata/luks).

mod luks1;
mod luks2;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use crate::bytes::be16;

pub const MAGIC: [u8; 6] = *b"LUKS\xba\xbe";
/// Of a LUKS2 header's second copy.
pub const SECOND_MAGIC: [u8; 6] = *b"SKUL\xba\xbe";
/// What cryptsetup-reencrypt puts in a LUKS1 header's place while it works without the device being in use.
const REENCRYPTING_MAGIC: [u8; 6] = *b"LUKS\xde\xad";
/// The largest LUKS2 header has 4 MiB, and there are two.
pub const HEAD_BYTES_MAX: usize = 8 << 20;
/// Slots, tokens, segments and digests of LUKS2: 32 of each is what the format has.
pub const ENTRIES_MAX: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

/// `aes` and `xts-plain64`, as dm-crypt takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cipher {
    pub name: String,
    pub mode: String,
}

impl Cipher {
    /// `aes-xts-plain64`; also the kernel's own form, `capi:xts(aes)-plain64`, which stays as it is.
    fn of(spec: &str) -> Self {
        let (name, mode) = spec.split_once('-').unwrap_or((spec, ""));
        Self { name: name.to_owned(), mode: mode.to_owned() }
    }

    /// cryptsetup can write it: what goes through it stays as it is.
    pub fn is_null(&self) -> bool {
        self.name.contains("cipher_null") || self.mode.contains("cipher_null") || self.name == "null"
    }
}

impl std::fmt::Display for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.mode.is_empty() { f.write_str(&self.name) } else { write!(f, "{}-{}", self.name, self.mode) }
    }
}

/// How a key becomes what opens its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kdf {
    Pbkdf2 {
        hash: String,
        iterations: u32,
    },
    /// `argon2i` or `argon2id`.
    Argon2 {
        variant: String,
        time: u32,
        memory_kib: u32,
        lanes: u32,
    },
    /// None that is known here, by the word that stands there.
    Other(String),
}

impl std::fmt::Display for Kdf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pbkdf2 { hash, iterations } => write!(f, "pbkdf2-{hash}, {iterations} iterations"),
            Self::Argon2 { variant, time, memory_kib, lanes } => {
                write!(f, "{variant}, time {time}, memory {memory_kib} KiB, {lanes} in parallel")
            }
            Self::Other(word) => write!(f, "unknown (\"{word}\")"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotState {
    Active,
    Inactive,
    /// Neither of the words that the format has stands there.
    Unclear(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Tried only where the slot is named.
    Ignored,
    Normal,
    Preferred,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotKind {
    Key,
    /// Notes of a reencryption; no key opens it.
    Reencryption,
    Other(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    pub id: u8,
    pub state: SlotState,
    pub kind: SlotKind,
    /// What it holds is the volume's key: a digest ties the two. An unbound slot opens nothing.
    pub is_bound: bool,
    pub priority: Priority,
    /// Of LUKS1 also where the slot is not active: what the last one had.
    pub kdf: Option<Kdf>,
    /// Of the KDF: another one with each key that is put there. Text of LUKS2, hexadecimal digits of LUKS1; no secret.
    pub salt: String,
    pub key_bits: u32,
    /// Of the anti-forensic splitter; 4000 in all that cryptsetup writes.
    pub stripes: u32,
    pub stripes_hash: String,
    pub offset_bytes: u64,
    /// LUKS1 has no length; it follows from key bits and stripes.
    pub area_bytes: u64,
    /// How the slot itself is encrypted.
    pub cipher: Option<Cipher>,
}

impl Slot {
    /// A key that fits it opens the volume.
    pub fn opens(&self) -> bool {
        self.state == SlotState::Active && self.kind == SlotKind::Key && self.is_bound
    }
}

/// Data that the header is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub id: u8,
    /// `crypt`; `linear` is not encrypted; others are kept by their word.
    pub kind: String,
    /// 0 where the header is detached from its data.
    pub offset_bytes: u64,
    /// `None`: to the end of the device.
    pub bytes: Option<u64>,
    pub cipher: Option<Cipher>,
    pub sector_bytes: u32,
    /// `hmac(sha256)`, `aead`, …
    pub integrity: Option<String>,
    /// `backup-final`, `in-reencryption`, …
    pub flags: Vec<String>,
}

impl Segment {
    /// As the data are now, not as they were or shall be.
    pub fn is_current(&self) -> bool {
        !self.flags.iter().any(|flag| flag.starts_with("backup-"))
    }
}

/// Another way to a slot's key: a TPM, a server, the kernel's keyring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: u8,
    /// `systemd-tpm2`, `clevis`, `luks2-keyring`, `systemd-recovery`, …
    pub kind: String,
    pub slots: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    pub id: u8,
    pub kind: String,
    pub hash: String,
    pub iterations: u32,
    pub slots: Vec<u8>,
    pub segments: Vec<u8>,
    /// Salt and digest, as they stand in the header: headers that share it are of the same key of a volume, whatever UUID they have.
    pub mark: Vec<u8>,
}

/// One of the two that LUKS2 has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderCopy {
    /// Its checksum holds, and its JSON can be read.
    Whole {
        sequence_id: u64,
        offset_bytes: u64,
    },
    Damaged(String),
    /// The bytes end before it.
    Cut,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub version: Version,
    pub uuid: String,
    pub label: String,
    pub subsystem: String,
    /// Of LUKS1: for slots, digest and splitter alike.
    pub hash: Option<String>,
    /// Of the volume's key; 0 where no slot tells.
    pub key_bits: u32,
    pub segments: Vec<Segment>,
    pub slots: Vec<Slot>,
    pub tokens: Vec<Token>,
    pub digests: Vec<Digest>,
    /// Of LUKS2: at the beginning, and behind it.
    pub copies: Option<[HeaderCopy; 2]>,
    /// Bytes of one copy; of LUKS1 those of the header without its slots' areas.
    pub header_bytes: u64,
    /// Data are being encrypted anew, encrypted or decrypted, or that was cut short: what says so.
    pub reencryption: Option<String>,
    /// What a program must know to use the header, but for reencryption.
    pub requirements: Vec<String>,
    /// `allow-discards`, …
    pub flags: Vec<String>,
}

impl Header {
    /// Slots that a key opens the volume with.
    pub fn openers(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.opens())
    }
    pub fn slot(&self, id: u8) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.id == id)
    }
    /// The first that has nothing.
    pub fn free_slot(&self) -> Option<u8> {
        let is_free = |id: u8| self.slot(id).is_none_or(|slot| slot.state == SlotState::Inactive);
        match self.version {
            Version::One => (0..8).find(|&id| is_free(id)),
            Version::Two => (0..32).find(|&id| is_free(id)),
        }
    }
    pub fn tokens_of(&self, slot: u8) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(move |token| token.slots.contains(&slot))
    }
    /// How the data are encrypted now; several where they are being encrypted anew.
    pub fn ciphers(&self) -> impl Iterator<Item = &Cipher> {
        self.segments.iter().filter(|one| one.is_current()).filter_map(|one| one.cipher.as_ref())
    }
    /// The data stand elsewhere: nothing of them is behind this header. LUKS2 tells by an offset of 0, and so does LUKS1.
    pub fn is_detached(&self) -> bool {
        self.segments.iter().any(|one| one.is_current() && one.offset_bytes == 0)
    }
    /// What the header says of its data. Whether they are read and written through it is another question.
    pub fn claim(&self) -> Claim {
        let current = || self.segments.iter().filter(|one| one.is_current());
        if let Some(null) = self.ciphers().find(|cipher| cipher.is_null()) {
            return Claim::Plain(format!("the cipher is {null}, which leaves data as they are"));
        }
        if let Some(one) = current().find(|one| one.kind == "linear") {
            return Claim::Plain(format!("segment {} is linear: it is not encrypted", one.id));
        }
        match current().find(|one| one.kind != "crypt") {
            Some(one) => Claim::Unclear(format!(
                "segment {} is of a kind that is not known here: \"{}\"",
                one.id, one.kind
            )),
            None if current().next().is_none() => Claim::Unclear("it names no data".into()),
            None => Claim::Encrypted,
        }
    }
    /// The copies differ, or one cannot be used: what wrote the header was cut short, or something overwrote it.
    pub fn half_written(&self) -> Option<String> {
        let [first, second] = self.copies.as_ref()?;
        match (first, second) {
            (HeaderCopy::Whole { sequence_id: first, .. }, HeaderCopy::Whole { sequence_id: second, .. }) => {
                (first != second).then(|| format!("its copies differ: sequence {first} and {second}"))
            }
            (HeaderCopy::Whole { .. }, HeaderCopy::Damaged(why)) => {
                Some(format!("its second copy is damaged: {why}"))
            }
            (HeaderCopy::Whole { .. }, HeaderCopy::Cut) => None,
            (HeaderCopy::Damaged(why), _) => Some(format!("its first copy is damaged: {why}")),
            (HeaderCopy::Cut, _) => Some("its first copy is cut short".into()),
        }
    }
}

/// What a header says of its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    Encrypted,
    /// All of them, or a part.
    Plain(String),
    Unclear(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// Too few bytes: with this many, from the beginning, more can be said.
    Needs(usize),
    /// No header of LUKS begins there, nor does a second copy of one follow.
    Absent,
    Header(Box<Header>),
    /// It may be LUKS, and what it holds cannot be told: why.
    Unclear(String),
}

/// What begins at the beginning of `bytes`. `is_end`: nothing comes behind them.
pub fn parse(bytes: &[u8], is_end: bool) -> Parsed {
    match version_at(bytes, 0) {
        Some((MAGIC | REENCRYPTING_MAGIC, 1)) => luks1::parse(bytes, is_end),
        Some((MAGIC, 2)) => luks2::parse(bytes, is_end),
        Some((MAGIC | REENCRYPTING_MAGIC, version)) => {
            Parsed::Unclear(format!("its header is of LUKS version {version}; known here are 1 and 2"))
        }
        Some((SECOND_MAGIC, _)) => Parsed::Unclear(
            "it begins with the second copy of a LUKS2 header: what was before it is cut off".into(),
        ),
        None if !is_end => Parsed::Needs(8),
        _ => luks2::parse_without_first(bytes, is_end),
    }
}

/// A LUKS2 header from its JSON alone, as `cryptsetup luksDump --dump-json-metadata` prints it: without label, UUID and copies.
///
/// # Errors
/// It is none, or has a shape that is not known.
pub fn parse_json(json: &[u8]) -> Result<Header, String> {
    luks2::of_json(json)
}

fn version_at(bytes: &[u8], at: usize) -> Option<([u8; 6], u16)> {
    Some((crate::bytes::array(bytes, at)?, be16(bytes, at.checked_add(6)?)?))
}
