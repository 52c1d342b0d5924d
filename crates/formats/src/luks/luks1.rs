//! LUKS1: one block of 592 bytes.

use super::{
    Cipher, Digest, Header, Kdf, MAGIC, Parsed, Priority, Segment, Slot, SlotKind, SlotState, Version,
};
use crate::bytes::{be32, text};

const SLOTS: usize = 8;
const SLOTS_AT: usize = 208;
const SLOT_BYTES: usize = 48;
const HEADER_BYTES: usize = SLOTS_AT + SLOTS * SLOT_BYTES;
const SALT_BYTES: usize = 32;
const SECTOR_BYTES: u64 = 512;
const ACTIVE: u32 = 0x00ac_71f3;
const INACTIVE: u32 = 0x0000_dead;
/// 512 bytes: the two keys of AES-256-XTS have 64; nothing that the kernel knows has more than 128.
const KEY_BYTES_MAX: u32 = 512;
/// The format's own; cryptsetup writes 4000.
const STRIPES_MAX: u32 = 1 << 20;

pub(super) fn parse(bytes: &[u8], is_end: bool) -> Parsed {
    if bytes.len() < HEADER_BYTES {
        return if is_end {
            Parsed::Unclear(format!("a LUKS1 header is cut short: {} of {HEADER_BYTES} bytes", bytes.len()))
        } else {
            Parsed::Needs(HEADER_BYTES)
        };
    }
    read(bytes).map_or_else(Parsed::Unclear, |header| Parsed::Header(Box::new(header)))
}

fn field(bytes: &[u8], at: usize, length: usize) -> String {
    text(bytes.get(at..at.saturating_add(length)).unwrap_or_default())
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn read(bytes: &[u8]) -> Result<Header, String> {
    let number = |at: usize| be32(bytes, at).ok_or_else(|| "a LUKS1 header is cut short".to_owned());
    let cipher = Cipher { name: field(bytes, 8, 32), mode: field(bytes, 40, 32) };
    let hash = field(bytes, 72, 32);
    if cipher.name.is_empty() || hash.is_empty() {
        return Err("a LUKS1 header names no cipher or no hash".into());
    }
    let key_bytes = number(108)?;
    if key_bytes == 0 || key_bytes > KEY_BYTES_MAX {
        return Err(format!("a LUKS1 header has a key of {key_bytes} bytes; {KEY_BYTES_MAX} is the most"));
    }
    let key_bits = key_bytes * 8;
    let mut slots = Vec::with_capacity(SLOTS);
    for id in 0..SLOTS {
        let at = SLOTS_AT + id * SLOT_BYTES;
        let (state, iterations, sector, stripes) =
            (number(at)?, number(at + 4)?, number(at + 40)?, number(at + 44)?);
        let mut state = match state {
            ACTIVE => SlotState::Active,
            INACTIVE => SlotState::Inactive,
            other => SlotState::Unclear(format!("0x{other:08x} stands for its state")),
        };
        if state == SlotState::Active && (stripes == 0 || stripes > STRIPES_MAX) {
            state = SlotState::Unclear(format!("it has {stripes} stripes"));
        }
        slots.push(Slot {
            id: u8::try_from(id).unwrap_or(u8::MAX),
            state,
            kind: SlotKind::Key,
            is_bound: true,
            priority: Priority::Normal,
            kdf: Some(Kdf::Pbkdf2 { hash: hash.clone(), iterations }),
            salt: hex(bytes.get(at + 8..at + 8 + SALT_BYTES).unwrap_or_default()),
            key_bits,
            stripes,
            stripes_hash: hash.clone(),
            offset_bytes: u64::from(sector) * SECTOR_BYTES,
            area_bytes: u64::from(key_bytes) * u64::from(stripes),
            cipher: Some(cipher.clone()),
        });
    }
    let is_working = !bytes.starts_with(&MAGIC);
    let segment = Segment {
        id: 0,
        kind: "crypt".into(),
        offset_bytes: u64::from(number(104)?) * SECTOR_BYTES,
        bytes: None,
        cipher: Some(cipher),
        sector_bytes: 512,
        integrity: None,
        flags: vec![],
    };
    let digest = Digest {
        id: 0,
        kind: "pbkdf2".into(),
        hash: hash.clone(),
        iterations: number(164)?,
        slots: slots.iter().filter(|slot| slot.opens()).map(|slot| slot.id).collect(),
        segments: vec![0],
        mark: bytes.get(112..164).unwrap_or_default().to_vec(),
    };
    Ok(Header {
        version: Version::One,
        uuid: field(bytes, 168, 40),
        label: String::new(),
        subsystem: String::new(),
        hash: Some(hash),
        key_bits,
        segments: vec![segment],
        slots,
        tokens: vec![],
        digests: vec![digest],
        copies: None,
        header_bytes: HEADER_BYTES as u64,
        reencryption: is_working
            .then(|| "its magic is that of a LUKS1 header whose data are being encrypted anew".into()),
        requirements: vec![],
        flags: vec![],
    })
}
