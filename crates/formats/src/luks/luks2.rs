//! LUKS2: two copies of a block with a checksum, each with JSON behind it.

use serde_json::{Map, Value};

use super::{
    Cipher, Digest, ENTRIES_MAX, HEAD_BYTES_MAX, Header, HeaderCopy, Kdf, MAGIC, Parsed, Priority,
    SECOND_MAGIC, Segment, Slot, SlotKind, SlotState, Token, Version, version_at,
};
use crate::bytes::{array, be64, text};

const BINARY_BYTES: usize = 4096;
const CHECKSUM_AT: usize = 448;
const CHECKSUM_BYTES: usize = 64;
/// Sizes of one copy that the format has; the second copy stands behind the first.
const SIZES: [usize; 9] =
    [16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20];
const _: () = assert!(2 * (4 << 20) == HEAD_BYTES_MAX);
/// A key of 8192 bits is four times the longest that is in use.
const KEY_BYTES_MAX: u64 = 1024;

/// A copy whose checksum holds and whose JSON has the shape that is known.
struct Copy {
    sequence_id: u64,
    header: Header,
}

/// Why there is none.
enum NoCopy {
    Needs(usize),
    Cut,
    Damaged(String),
}

pub(super) fn parse(bytes: &[u8], is_end: bool) -> Parsed {
    let first = match copy_at(bytes, 0, MAGIC, is_end) {
        Err(NoCopy::Needs(more)) => return Parsed::Needs(more),
        first => first,
    };
    let second = match &first {
        Ok(first) => {
            let at = usize::try_from(first.header.header_bytes).unwrap_or(usize::MAX);
            match copy_at(bytes, at, SECOND_MAGIC, is_end) {
                Err(NoCopy::Needs(more)) => return Parsed::Needs(more),
                second => second,
            }
        }
        // Its size cannot be believed, either.
        Err(_) => match find_second(bytes, is_end) {
            Err(NoCopy::Needs(more)) => return Parsed::Needs(more),
            second => second,
        },
    };
    choose(first, second)
}

/// A device whose first bytes were overwritten may have the second copy yet.
pub(super) fn parse_without_first(bytes: &[u8], is_end: bool) -> Parsed {
    match find_second(bytes, is_end) {
        Ok(second) => choose(Err(NoCopy::Damaged("its first bytes are others".into())), Ok(second)),
        Err(NoCopy::Needs(more)) => Parsed::Needs(more),
        Err(NoCopy::Cut) => Parsed::Absent,
        Err(NoCopy::Damaged(why)) => Parsed::Unclear(format!(
            "what may be the second copy of a LUKS2 header stands there, and the first one is gone: {why}"
        )),
    }
}

/// `Cut`: nothing that begins like one is there.
fn find_second(bytes: &[u8], is_end: bool) -> Result<Copy, NoCopy> {
    let mut damaged = NoCopy::Cut;
    for at in SIZES {
        if version_at(bytes, at).is_none() {
            if is_end {
                break;
            }
            return Err(NoCopy::Needs(at + BINARY_BYTES));
        }
        if !matches!(version_at(bytes, at), Some((SECOND_MAGIC, 2))) {
            continue;
        }
        match copy_at(bytes, at, SECOND_MAGIC, is_end) {
            Ok(copy) => return Ok(copy),
            Err(NoCopy::Needs(more)) => return Err(NoCopy::Needs(more)),
            Err(NoCopy::Cut) => damaged = NoCopy::Damaged("it is cut short".into()),
            Err(why @ NoCopy::Damaged(_)) => damaged = why,
        }
    }
    Err(damaged)
}

fn choose(first: Result<Copy, NoCopy>, second: Result<Copy, NoCopy>) -> Parsed {
    let told = |copy: &Result<Copy, NoCopy>, offset_bytes: u64| match copy {
        Ok(copy) => HeaderCopy::Whole { sequence_id: copy.sequence_id, offset_bytes },
        Err(NoCopy::Damaged(why)) => HeaderCopy::Damaged(why.clone()),
        Err(NoCopy::Cut | NoCopy::Needs(_)) => HeaderCopy::Cut,
    };
    let second_at = first.as_ref().or(second.as_ref()).map_or(0, |copy| copy.header.header_bytes);
    let copies = [told(&first, 0), told(&second, second_at)];
    // As cryptsetup: the newer one, and the first where both are as new.
    let newest = match (first, second) {
        (Ok(first), Ok(second)) => {
            if first.header.uuid != second.header.uuid {
                return Parsed::Unclear(format!(
                    "the two copies of its LUKS2 header are of two volumes: {} and {}",
                    first.header.uuid, second.header.uuid
                ));
            }
            if second.sequence_id > first.sequence_id { second } else { first }
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => one,
        (Err(_), Err(_)) => {
            let why = |copy: &HeaderCopy| match copy {
                HeaderCopy::Damaged(why) => why.clone(),
                _ => "it is not there".to_owned(),
            };
            let [first, second] = &copies;
            return Parsed::Unclear(format!(
                "neither copy of its LUKS2 header can be used: of the first, {}; of the second, {}",
                why(first),
                why(second)
            ));
        }
    };
    Parsed::Header(Box::new(Header { copies: Some(copies), ..newest.header }))
}

fn copy_at(bytes: &[u8], at: usize, magic: [u8; 6], is_end: bool) -> Result<Copy, NoCopy> {
    let damaged = |why: String| Err(NoCopy::Damaged(why));
    let end = at.saturating_add(BINARY_BYTES);
    let Some(binary) = bytes.get(at..end) else {
        return Err(if is_end { NoCopy::Cut } else { NoCopy::Needs(end) });
    };
    match version_at(binary, 0) {
        Some((found, 2)) if found == magic => {}
        _ => return damaged("it does not begin like one".into()),
    }
    let number = |at: usize| be64(binary, at).unwrap_or_default();
    let Some(size) = SIZES.into_iter().find(|&size| size as u64 == number(8)) else {
        return damaged(format!("it has {} bytes, which no such header has", number(8)));
    };
    if number(256) != at as u64 || (magic == SECOND_MAGIC && size != at) {
        return damaged(format!("it says that it stands at byte {}, and stands at {at}", number(256)));
    }
    let algorithm = text(binary.get(72..104).unwrap_or_default());
    if algorithm != "sha256" {
        return damaged(format!("its checksum is \"{algorithm}\"; known here is sha256"));
    }
    let end = at.saturating_add(size);
    let Some(whole) = bytes.get(at..end) else {
        return Err(if is_end { NoCopy::Cut } else { NoCopy::Needs(end) });
    };
    let mut sha256 = openssl::sha::Sha256::new();
    sha256.update(whole.get(..CHECKSUM_AT).unwrap_or_default());
    sha256.update(&[0; CHECKSUM_BYTES]);
    sha256.update(whole.get(CHECKSUM_AT + CHECKSUM_BYTES..).unwrap_or_default());
    if array(binary, CHECKSUM_AT) != Some(sha256.finish()) {
        return damaged("its checksum does not hold".into());
    }
    let json = whole.get(BINARY_BYTES..).unwrap_or_default();
    let json = json.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut header = match of_json(json) {
        Ok(header) => header,
        Err(why) => return damaged(why),
    };
    let field = |at: usize, length: usize| text(binary.get(at..at + length).unwrap_or_default());
    header.label = field(24, 48);
    header.uuid = field(168, 40);
    header.subsystem = field(208, 48);
    header.header_bytes = size as u64;
    Ok(Copy { sequence_id: number(16), header })
}

pub(super) fn of_json(json: &[u8]) -> Result<Header, String> {
    let json: Value =
        serde_json::from_slice(json).map_err(|error| format!("its JSON cannot be read: {error}"))?;
    read(&json).map_err(|why| format!("its JSON has a shape that is not known: {why}"))
}

/// Numbered entries, as `keyslots` has them: `{"0": {…}, "3": {…}}`.
fn entries<T>(
    json: &Value,
    name: &str,
    read: impl Fn(u8, &Map<String, Value>) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let all = json.get(name).and_then(Value::as_object).ok_or_else(|| format!("it has no {name}"))?;
    if all.len() > ENTRIES_MAX {
        return Err(format!("it has {} {name}; {ENTRIES_MAX} is the most", all.len()));
    }
    let mut entries = Vec::with_capacity(all.len());
    for (id, entry) in all {
        let number =
            id_of(id).ok_or_else(|| format!("\"{id}\" in {name} is no number below {ENTRIES_MAX}"))?;
        let entry = entry.as_object().ok_or_else(|| format!("{name} {id} is no object"))?;
        entries.push((number, read(number, entry).map_err(|why| format!("{name} {id}: {why}"))?));
    }
    entries.sort_by_key(|(number, _)| *number);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn id_of(text: &str) -> Option<u8> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|id: &u8| is_plain && usize::from(*id) < ENTRIES_MAX)
}

fn word(entry: &Map<String, Value>, name: &str) -> Result<String, String> {
    let word = entry.get(name).and_then(Value::as_str).ok_or_else(|| format!("it has no {name}"))?;
    Ok(text(word.as_bytes()))
}

/// A number: a JSON number, or, where it may pass 53 bits, text.
fn number(entry: &Map<String, Value>, name: &str, max: u64) -> Result<u64, String> {
    let value = entry.get(name).ok_or_else(|| format!("it has no {name}"))?;
    let value = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    value.filter(|value| *value <= max).ok_or_else(|| format!("its {name} is no number up to {max}"))
}

fn number32(entry: &Map<String, Value>, name: &str) -> Result<u32, String> {
    number(entry, name, u32::MAX.into()).map(|value| u32::try_from(value).unwrap_or(u32::MAX))
}

fn ids(entry: &Map<String, Value>, name: &str) -> Result<Vec<u8>, String> {
    let all = entry.get(name).and_then(Value::as_array).ok_or_else(|| format!("it has no {name}"))?;
    if all.len() > ENTRIES_MAX {
        return Err(format!("it has {} {name}", all.len()));
    }
    let id = |one: &Value| one.as_str().and_then(id_of).ok_or_else(|| format!("its {name} has {one}"));
    all.iter().map(id).collect()
}

fn words(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else { return Ok(vec![]) };
    let all = value.as_array().ok_or("a list of words is none")?;
    let one =
        |word: &Value| word.as_str().map(|word| text(word.as_bytes())).ok_or("a list of words has a number");
    Ok(all.iter().take(ENTRIES_MAX).map(one).collect::<Result<Vec<_>, &str>>()?)
}

fn read(json: &Value) -> Result<Header, String> {
    let segments = entries(json, "segments", segment)?;
    let digests = entries(json, "digests", digest)?;
    let mut slots = entries(json, "keyslots", slot)?;
    let tokens = entries(json, "tokens", |id, entry| {
        Ok(Token { id, kind: word(entry, "type")?, slots: ids(entry, "keyslots")? })
    })?;
    let is_data = |id: &u8| segments.iter().any(|one: &Segment| one.id == *id && one.is_current());
    for slot in &mut slots {
        slot.is_bound = digests
            .iter()
            .any(|digest: &Digest| digest.slots.contains(&slot.id) && digest.segments.iter().any(is_data));
    }
    let config = json.get("config").and_then(Value::as_object).ok_or("it has no config")?;
    let requirements = match config.get("requirements") {
        None => vec![],
        Some(all) => {
            let all = all.as_object().ok_or("its requirements are no object")?;
            if all.keys().any(|name| name != "mandatory") {
                return Err("it has requirements of a kind that is not known".into());
            }
            words(all.get("mandatory"))?
        }
    };
    let (reencryption, requirements): (Vec<String>, Vec<String>) =
        requirements.into_iter().partition(|one| one.contains("reencrypt"));
    let by_slot = || {
        let slot = slots.iter().find(|slot| slot.kind == SlotKind::Reencryption)?;
        Some(format!("slot {} keeps notes of a reencryption", slot.id))
    };
    let by_segment = || {
        let is_part =
            |one: &&Segment| !one.is_current() || one.flags.iter().any(|flag| flag == "in-reencryption");
        let segment = segments.iter().find(is_part)?;
        Some(format!("segment {} is marked {}", segment.id, segment.flags.join(", ")))
    };
    let key_bits = slots.iter().filter(|slot| slot.opens()).map(|slot| slot.key_bits).next();
    Ok(Header {
        version: Version::Two,
        uuid: String::new(),
        label: String::new(),
        subsystem: String::new(),
        hash: None,
        key_bits: key_bits.unwrap_or_default(),
        reencryption: reencryption
            .first()
            .map(|one| format!("its header requires {one}"))
            .or_else(by_slot)
            .or_else(by_segment),
        segments,
        slots,
        tokens,
        digests,
        copies: None,
        header_bytes: 0,
        requirements,
        flags: words(config.get("flags"))?,
    })
}

fn segment(id: u8, entry: &Map<String, Value>) -> Result<Segment, String> {
    let kind = word(entry, "type")?;
    let bytes = match entry.get("size").and_then(Value::as_str) {
        Some("dynamic") => None,
        _ => Some(number(entry, "size", u64::MAX)?),
    };
    let is_crypt = kind == "crypt";
    let integrity = match entry.get("integrity") {
        None => None,
        Some(one) => Some(word(one.as_object().ok_or("its integrity is no object")?, "type")?),
    };
    Ok(Segment {
        id,
        offset_bytes: number(entry, "offset", u64::MAX)?,
        bytes,
        cipher: if is_crypt { Some(Cipher::of(&word(entry, "encryption")?)) } else { None },
        sector_bytes: if is_crypt { number32(entry, "sector_size")? } else { 512 },
        integrity,
        flags: words(entry.get("flags"))?,
        kind,
    })
}

fn digest(id: u8, entry: &Map<String, Value>) -> Result<Digest, String> {
    let kind = word(entry, "type")?;
    let is_known = kind == "pbkdf2";
    Ok(Digest {
        id,
        hash: if is_known { word(entry, "hash")? } else { String::new() },
        iterations: if is_known { number32(entry, "iterations")? } else { 0 },
        slots: ids(entry, "keyslots")?,
        segments: ids(entry, "segments")?,
        mark: if is_known { (word(entry, "salt")? + &word(entry, "digest")?).into_bytes() } else { vec![] },
        kind,
    })
}

fn slot(id: u8, entry: &Map<String, Value>) -> Result<Slot, String> {
    let kind = match word(entry, "type")?.as_str() {
        "luks2" => SlotKind::Key,
        "reencrypt" => SlotKind::Reencryption,
        other => SlotKind::Other(other.to_owned()),
    };
    let area = entry.get("area").and_then(Value::as_object).ok_or("it has no area")?;
    let priority = match entry.get("priority").map(Value::as_u64) {
        None | Some(Some(1)) => Priority::Normal,
        Some(Some(0)) => Priority::Ignored,
        Some(Some(2)) => Priority::Preferred,
        Some(other) => return Err(format!("its priority is {other:?}")),
    };
    let mut slot = Slot {
        id,
        state: SlotState::Active,
        kind,
        is_bound: false,
        priority,
        kdf: None,
        salt: String::new(),
        key_bits: 0,
        stripes: 0,
        stripes_hash: String::new(),
        offset_bytes: number(area, "offset", u64::MAX)?,
        area_bytes: number(area, "size", u64::MAX)?,
        cipher: None,
    };
    if slot.kind == SlotKind::Key {
        let bytes = number(entry, "key_size", KEY_BYTES_MAX)?;
        slot.key_bits = u32::try_from(bytes * 8).unwrap_or(u32::MAX);
        let af = entry.get("af").and_then(Value::as_object).ok_or("it has no af")?;
        slot.stripes = number32(af, "stripes")?;
        slot.stripes_hash = word(af, "hash")?;
        slot.cipher = Some(Cipher::of(&word(area, "encryption")?));
        let derived = entry.get("kdf").and_then(Value::as_object).ok_or("it has no kdf")?;
        slot.salt = word(derived, "salt")?;
        slot.kdf = Some(kdf(derived)?);
    }
    Ok(slot)
}

fn kdf(entry: &Map<String, Value>) -> Result<Kdf, String> {
    let kind = word(entry, "type")?;
    Ok(match kind.as_str() {
        "pbkdf2" => Kdf::Pbkdf2 { hash: word(entry, "hash")?, iterations: number32(entry, "iterations")? },
        "argon2i" | "argon2id" => Kdf::Argon2 {
            time: number32(entry, "time")?,
            memory_kib: number32(entry, "memory")?,
            lanes: number32(entry, "cpus")?,
            variant: kind,
        },
        _ => Kdf::Other(kind),
    })
}
