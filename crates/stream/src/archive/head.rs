//! The head of an archive: everything before its chunks. Bytes in, values out.

/// What every archive of this version begins with.
pub const MAGIC: &[u8; 8] = b"SEALARC\x01";
pub const ID_BYTES: usize = 16;
/// Behind the slots.
pub const MAC_BYTES: usize = 32;
const FIXED_BYTES: usize = 36;
/// Of the head as a whole. Two hundred recipients of age need half of it.
pub const HEAD_BYTES_MAX: usize = 64 << 10;
pub const SLOTS_MAX: usize = 16;
/// A reader holds two chunks.
pub const CHUNK_BYTES_MAX: usize = 16 << 20;
pub const CHUNK_BYTES_MIN: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aead {
    Aes256Gcm,
    Chacha20Poly1305,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Tree,
    Bytes,
}

/// One way to the data key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// A file of age.
    Age(Vec<u8>),
    /// Sealed to a key file.
    KeyFile(Vec<u8>),
    /// A reader skips what it does not know.
    Unknown { kind: u8, bytes: Vec<u8> },
}

impl Slot {
    fn parts(&self) -> (u8, &[u8]) {
        match self {
            Self::Age(bytes) => (1, bytes),
            Self::KeyFile(bytes) => (2, bytes),
            Self::Unknown { kind, bytes } => (*kind, bytes),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub id: [u8; ID_BYTES],
    pub aead: Aead,
    pub content: Content,
    pub chunk_bytes: usize,
    pub slots: Vec<Slot>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    #[error("it is no archive of sealion, or its first bytes were changed")]
    Magic,
    #[error("its head says {what} {value}, which no archive of version 1 has")]
    Field { what: &'static str, value: u64 },
    #[error("its head ends inside a slot")]
    Slots,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// With this many bytes it goes on.
    Needs(usize),
    /// The head, and how long it is, with its MAC.
    Head(Head, usize),
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes: &[u8; N] = bytes.get(at..)?.first_chunk()?;
    Some(bytes.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
}

/// The head at the beginning of `bytes`.
///
/// # Errors
/// No more bytes would make it one.
pub fn parse(bytes: &[u8]) -> Result<Parsed, HeadError> {
    let begins = bytes.get(..MAGIC.len().min(bytes.len())).unwrap_or_default();
    if !MAGIC.starts_with(begins) {
        return Err(HeadError::Magic);
    }
    let Some(fixed) = bytes.get(..FIXED_BYTES) else { return Ok(Parsed::Needs(FIXED_BYTES)) };
    let of = |what, at, value: Option<u64>| value.ok_or(HeadError::Field { what, value: at });
    let head_bytes = of("a length of", 8, number::<4>(fixed, 8))?;
    let end = usize::try_from(head_bytes).unwrap_or(usize::MAX);
    if !(FIXED_BYTES + MAC_BYTES..=HEAD_BYTES_MAX).contains(&end) {
        return Err(HeadError::Field { what: "a length of", value: head_bytes });
    }
    let aead = match fixed.get(28) {
        Some(1) => Aead::Aes256Gcm,
        Some(2) => Aead::Chacha20Poly1305,
        other => return Err(HeadError::Field { what: "cipher", value: other.copied().unwrap_or(0).into() }),
    };
    let content = match fixed.get(29) {
        Some(1) => Content::Tree,
        Some(2) => Content::Bytes,
        other => return Err(HeadError::Field { what: "content", value: other.copied().unwrap_or(0).into() }),
    };
    let chunk_bytes = of("chunks of", 30, number::<4>(fixed, 30))?;
    let size = usize::try_from(chunk_bytes).unwrap_or(usize::MAX);
    if !(CHUNK_BYTES_MIN..=CHUNK_BYTES_MAX).contains(&size) {
        return Err(HeadError::Field { what: "chunks of", value: chunk_bytes });
    }
    let count = of("slots:", 34, number::<2>(fixed, 34))?;
    if count == 0 || count > SLOTS_MAX as u64 {
        return Err(HeadError::Field { what: "slots:", value: count });
    }
    let id = fixed.get(12..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
    let Some(whole) = bytes.get(..end) else { return Ok(Parsed::Needs(end)) };
    let mut rest = whole.get(FIXED_BYTES..end - MAC_BYTES).unwrap_or_default();
    let mut slots = Vec::new();
    for _ in 0..count {
        let (front, after) = rest.split_first_chunk::<3>().ok_or(HeadError::Slots)?;
        let [kind, a, b] = *front;
        let length = usize::from(u16::from_be_bytes([a, b]));
        let (slot, after) = after.split_at_checked(length).ok_or(HeadError::Slots)?;
        let slot = slot.to_vec();
        slots.push(match kind {
            1 => Slot::Age(slot),
            2 => Slot::KeyFile(slot),
            kind => Slot::Unknown { kind, bytes: slot },
        });
        rest = after;
    }
    if !rest.is_empty() {
        return Err(HeadError::Slots);
    }
    Ok(Parsed::Head(Head { id, aead, content, chunk_bytes: size, slots }, end))
}

impl Head {
    /// All of it but the MAC, which is over these bytes. `None`: the slots are too long.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let mut slots = Vec::new();
        for (kind, bytes) in self.slots.iter().map(Slot::parts) {
            slots.push(kind);
            slots.extend_from_slice(&u16::try_from(bytes.len()).ok()?.to_be_bytes());
            slots.extend_from_slice(bytes);
        }
        let length = FIXED_BYTES + slots.len() + MAC_BYTES;
        if length > HEAD_BYTES_MAX || self.slots.len() > SLOTS_MAX {
            return None;
        }
        let aead = match self.aead {
            Aead::Aes256Gcm => 1,
            Aead::Chacha20Poly1305 => 2,
        };
        let content = match self.content {
            Content::Tree => 1,
            Content::Bytes => 2,
        };
        let parts = [
            &MAGIC[..],
            &u32::try_from(length).ok()?.to_be_bytes(),
            &self.id,
            &[aead, content],
            &u32::try_from(self.chunk_bytes).ok()?.to_be_bytes(),
            &u16::try_from(self.slots.len()).ok()?.to_be_bytes(),
            &slots,
        ];
        Some(parts.concat())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_head_is_read_as_it_was_written_and_no_part_of_it_is_taken_for_it(
            id: [u8; 16], is_tree: bool, is_aes: bool, chunk_bytes in CHUNK_BYTES_MIN..=CHUNK_BYTES_MAX,
            slots in proptest::collection::vec((1u8.., proptest::collection::vec(any::<u8>(), 0..300)), 1..=SLOTS_MAX),
            cut in 0usize..1000, more in proptest::collection::vec(any::<u8>(), 0..9),
        ) {
            let slots = slots.into_iter().map(|(kind, bytes)| match kind {
                1 => Slot::Age(bytes),
                2 => Slot::KeyFile(bytes),
                kind => Slot::Unknown { kind, bytes },
            });
            let head = Head {
                id,
                aead: if is_aes { Aead::Aes256Gcm } else { Aead::Chacha20Poly1305 },
                content: if is_tree { Content::Tree } else { Content::Bytes },
                chunk_bytes,
                slots: slots.collect(),
            };
            let mut bytes = head.encode().unwrap();
            bytes.extend_from_slice(&[7; MAC_BYTES]);
            let whole = bytes.len();
            bytes.extend_from_slice(&more);
            prop_assert_eq!(parse(&bytes), Ok(Parsed::Head(head, whole)));
            let part = &bytes[..cut % whole];
            prop_assert!(matches!(parse(part), Ok(Parsed::Needs(more)) if more > part.len() && more <= whole));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
            let _ = parse(&[&MAGIC[..], &[0, 0, 0, 150], &bytes].concat());
        }
    }

    #[test]
    fn what_is_beyond_a_limit_is_refused_before_it_is_read() {
        let head = Head {
            id: [7; 16],
            aead: Aead::Aes256Gcm,
            content: Content::Tree,
            chunk_bytes: 1 << 20,
            slots: vec![Slot::KeyFile(vec![0; 48])],
        };
        let bytes = head.encode().unwrap();
        for (at, value) in [(0, b'X'), (7, 2), (8, 1), (11, 3), (28, 3), (29, 0), (30, 2), (34, 1), (35, 0)] {
            let mut wrong = bytes.clone();
            wrong[at] = value;
            assert!(parse(&wrong).is_err(), "{at}");
        }
        let many = Head { slots: vec![Slot::Age(vec![]); SLOTS_MAX + 1], ..head.clone() };
        assert_eq!(many.encode(), None);
        let long = Head { slots: vec![Slot::Age(vec![0; 1 << 16])], ..head };
        assert_eq!(long.encode(), None);
    }
}
