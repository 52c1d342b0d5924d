//! A cryptsetup that is as unkind as the real one, on files whose headers are those of LUKS1 and LUKS2 to the byte.
//!
//! It removes the last slot without a question, adds nothing and says nothing where the key is wrong, overwrites a slot before it takes
//! it out of the header, and writes the two copies of a LUKS2 header one after the other. Killed ([`SimCryptsetup::killed_after`]), it
//! leaves whatever it had written so far: the power went.
//!
//! Key material is the SHA-256 of the key and of the slot's salt, where the slot's area begins.

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use openssl::sha::sha256;
use providers::disk::cryptsetup::{Command, Cryptsetup, Ended};
use serde_json::{Value, json};

const COPY_BYTES: usize = 16384;
const BINARY_BYTES: usize = 4096;
/// Of the whole image, and of a backup.
const IMAGE_BYTES: usize = 64 << 10;
const LUKS1_SLOTS_AT: usize = 208;
const LUKS1_SLOT_BYTES: usize = 48;
const ACTIVE: u32 = 0x00ac_71f3;
const INACTIVE: u32 = 0x0000_dead;
const AREAS_AT: usize = 40 << 10;
const AREA_BYTES: usize = 64;

/// The payload of the panic with which it dies.
#[derive(Debug)]
pub struct Killed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Luks1,
    Luks2,
}

#[derive(Debug)]
pub struct SimCryptsetup {
    /// Moments until it is killed.
    left: Option<u32>,
    salts: u64,
    /// Moments that there were.
    pub moments: u32,
    /// Files with keys that somebody has. Right after a slot is gone, one of them must open another: looked at here, whoever asked.
    pub key_files: Vec<PathBuf>,
    /// Where that was not so.
    pub lost: Option<String>,
}

type Answer<T> = Result<T, Ended>;

fn ended<T>(code: i32, said: &str) -> Answer<T> {
    Err(Ended { code: Some(code), said: said.to_owned() })
}

/// A header in memory: of either form, slots by number.
#[derive(Debug, Clone)]
struct Head {
    form: Form,
    bytes: Vec<u8>,
    json: Value,
    sequence: u64,
}

impl SimCryptsetup {
    pub fn new(key_files: Vec<PathBuf>) -> Self {
        Self { left: None, salts: 1, moments: 0, key_files, lost: None }
    }

    /// Dies at the moment of this number; `None`: lives.
    pub fn killed_after(&mut self, moments: Option<u32>) {
        self.left = moments;
    }

    fn moment(&mut self) {
        self.moments += 1;
        match &mut self.left {
            Some(0) => std::panic::resume_unwind(Box::new(Killed)),
            Some(left) => *left -= 1,
            None => {}
        }
    }

    fn salt(&mut self) -> [u8; 32] {
        self.salts += 1;
        sha256(&self.salts.to_be_bytes())
    }

    /// As luksFormat: one key in slot 0; `detached`: its data lie elsewhere.
    pub fn format(&mut self, form: Form, path: &Path, uuid: &str, key: &[u8], detached: bool) {
        let offset = if detached { 0 } else { 16 << 20 };
        let mut bytes = vec![0; IMAGE_BYTES];
        let mut head = match form {
            Form::Luks1 => {
                bytes[..8].copy_from_slice(b"LUKS\xba\xbe\0\x01");
                bytes[8..11].copy_from_slice(b"aes");
                bytes[40..51].copy_from_slice(b"xts-plain64");
                bytes[72..78].copy_from_slice(b"sha256");
                let sectors = u32::try_from(offset / 512).expect("small");
                bytes[104..108].copy_from_slice(&sectors.to_be_bytes());
                bytes[108..112].copy_from_slice(&64_u32.to_be_bytes());
                bytes[168..168 + uuid.len()].copy_from_slice(uuid.as_bytes());
                for slot in 0..8 {
                    let at = LUKS1_SLOTS_AT + slot * LUKS1_SLOT_BYTES;
                    bytes[at..at + 4].copy_from_slice(&INACTIVE.to_be_bytes());
                    let sector = u32::try_from(area(slot) / 512).expect("small");
                    bytes[at + 40..at + 44].copy_from_slice(&sector.to_be_bytes());
                    bytes[at + 44..at + 48].copy_from_slice(&4000_u32.to_be_bytes());
                }
                Head { form, bytes, json: Value::Null, sequence: 0 }
            }
            Form::Luks2 => {
                for (at, magic) in [(0, b"LUKS\xba\xbe\0\x02"), (COPY_BYTES, b"SKUL\xba\xbe\0\x02")] {
                    bytes[at..at + 8].copy_from_slice(magic);
                    bytes[at + 8..at + 16].copy_from_slice(&(COPY_BYTES as u64).to_be_bytes());
                    bytes[at + 72..at + 78].copy_from_slice(b"sha256");
                    bytes[at + 168..at + 168 + uuid.len()].copy_from_slice(uuid.as_bytes());
                    bytes[at + 256..at + 264].copy_from_slice(&(at as u64).to_be_bytes());
                }
                let json = json!({
                    "keyslots": {}, "tokens": {},
                    "segments": {"0": {
                        "type": "crypt", "offset": offset.to_string(), "size": "dynamic", "iv_tweak": "0",
                        "encryption": "aes-xts-plain64", "sector_size": 512
                    }},
                    "digests": {"0": {
                        "type": "pbkdf2", "keyslots": [], "segments": ["0"], "hash": "sha256", "iterations": 1000,
                        "salt": "AA==", "digest": "AA=="
                    }},
                    "config": {"json_size": "12288", "keyslots_size": "16744448"}
                });
                Head { form, bytes, json, sequence: 1 }
            }
        };
        let salt = self.salt();
        head.put(0, &salt, key);
        head.enter(0, &salt);
        fs::write(path, head.whole()).expect("there is room");
    }

    /// A key of somebody else, put there by hand.
    pub fn add_by_hand(&mut self, path: &Path, slot: u8, key: &[u8]) {
        let mut head = load(path).expect("a header");
        let salt = self.salt();
        head.put(slot, &salt, key);
        head.enter(slot, &salt);
        fs::write(path, head.whole()).expect("there is room");
    }

    /// A token that belongs to a slot.
    pub fn add_token(path: &Path, kind: &str, slot: u8) {
        let mut head = load(path).expect("a header");
        head.json["tokens"]["0"] = json!({"type": kind, "keyslots": [slot.to_string()]});
        fs::write(path, head.whole()).expect("there is room");
    }

    /// Slots that these bytes open, of those that the header has.
    pub fn opened_by(path: &Path, key: &[u8]) -> Vec<u8> {
        load(path).map(|head| head.opened_by(key)).unwrap_or_default()
    }

    /// Slots that the header has.
    pub fn slots(path: &Path) -> Vec<u8> {
        load(path).map(|head| head.slots()).unwrap_or_default()
    }

    /// As cryptsetup does whenever it reads: what of the two copies is older, or not whole, is written anew.
    fn load_and_repair(&mut self, path: &Path) -> Answer<Head> {
        let Some(head) = load(path) else {
            return ended(1, "Device is not a valid LUKS device.");
        };
        if head.form == Form::Luks2 {
            let now = fs::read(path).unwrap_or_default();
            let whole = head.whole();
            for at in [0, COPY_BYTES] {
                if now.get(at..at + COPY_BYTES) != whole.get(at..at + COPY_BYTES) {
                    self.write_copy(path, &whole, at);
                }
            }
        }
        Ok(head)
    }

    fn write_copy(&mut self, path: &Path, whole: &[u8], at: usize) {
        self.moment();
        // The binary part first: torn, its checksum does not hold.
        write_at(path, at, &whole[at..at + BINARY_BYTES]);
        self.moment();
        write_at(path, at, &whole[at..at + COPY_BYTES]);
    }

    fn write_head(&mut self, path: &Path, head: &mut Head) {
        match head.form {
            Form::Luks1 => {
                self.moment();
                write_at(path, 0, &head.whole()[..592]);
            }
            Form::Luks2 => {
                head.sequence += 1;
                let whole = head.whole();
                self.write_copy(path, &whole, 0);
                self.write_copy(path, &whole, COPY_BYTES);
            }
        }
        self.moment();
    }

    fn carry_out(&mut self, command: &Command<'_>) -> Answer<String> {
        self.moment();
        let done = self.command(command);
        self.moment();
        done
    }

    fn command(&mut self, command: &Command<'_>) -> Answer<String> {
        match command {
            Command::Load { volume } => {
                self.load_and_repair(volume.header_place())?;
                Ok(String::new())
            }
            Command::Test { volume, header, slot, key } => {
                let place = header.unwrap_or_else(|| volume.header_place());
                if !place.exists() {
                    return ended(4, "Device does not exist or access denied.");
                }
                let head = self.load_and_repair(place)?;
                if !head.slots().contains(slot) {
                    return ended(1, "No usable keyslot is available.");
                }
                if head.opened_by(key.bytes()).contains(slot) {
                    return Ok(format!(
                        "No usable token (type sealion-none) is available.\nKey slot {slot} unlocked.\n"
                    ));
                }
                ended(2, "No key available with this passphrase.")
            }
            Command::Add { volume, slot, with, new, .. } => {
                let place = volume.header_place();
                let mut head = self.load_and_repair(place)?;
                if head.slots().contains(slot) {
                    return ended(1, &format!("Key slot {slot} is full, please select another one."));
                }
                if head.opened_by(with.bytes()).is_empty() {
                    return ended(2, "");
                }
                let salt = self.salt();
                self.moment();
                head.put(*slot, &salt, new.bytes());
                let at = area(usize::from(*slot));
                write_at(place, at, &head.bytes[at..at + AREA_BYTES]);
                head.enter(*slot, &salt);
                self.write_head(place, &mut head);
                Ok(format!("Key slot {slot} created.\n"))
            }
            Command::Remove { volume, slot, with } => {
                let place = volume.header_place();
                let mut head = self.load_and_repair(place)?;
                if !head.slots().contains(slot) {
                    return ended(1, &format!("Keyslot {slot} is not active."));
                }
                // Any slot will do, the one that goes too.
                if head.opened_by(with.bytes()).is_empty() {
                    return ended(2, "No key available with this passphrase.");
                }
                self.moment();
                let at = area(usize::from(*slot));
                head.bytes[at..at + AREA_BYTES].fill(0xee);
                write_at(place, at, &head.bytes[at..at + AREA_BYTES]);
                self.look_for_a_way_in(place, *slot);
                head.leave(*slot);
                self.write_head(place, &mut head);
                Ok(format!("Key slot {slot} removed.\n"))
            }
            Command::BackUp { volume, to } => {
                let head = self.load_and_repair(volume.header_place())?;
                let whole = head.whole();
                let file = OpenOptions::new().write(true).create_new(true).mode(0o400).open(to);
                let Ok(mut file) = file else {
                    return ended(1, "Requested header backup file already exists.");
                };
                self.moment();
                let (first, second) = whole.split_at(IMAGE_BYTES / 3);
                file.write_all(first).expect("there is room");
                self.moment();
                file.write_all(second).expect("there is room");
                Ok(String::new())
            }
        }
    }

    fn look_for_a_way_in(&mut self, place: &Path, gone: u8) {
        let keys = self.key_files.iter().filter_map(|file| fs::read(file).ok());
        let is_open =
            load(place).is_some_and(|head| keys.into_iter().any(|key| !head.opened_by(&key).is_empty()));
        if !is_open {
            self.lost = Some(format!(
                "slot {gone} of {} was overwritten, and no key that is left opens it",
                place.display()
            ));
        }
    }
}

impl Cryptsetup for SimCryptsetup {
    fn run(&mut self, command: &Command<'_>) -> Result<Ended, String> {
        Ok(self.carry_out(command).map_or_else(|ended| ended, |said| Ended { code: Some(0), said }))
    }
}

fn area(slot: usize) -> usize {
    AREAS_AT + slot * 512
}

fn write_at(path: &Path, at: usize, bytes: &[u8]) {
    let mut file = OpenOptions::new().write(true).open(path).expect("it is there");
    file.seek(SeekFrom::Start(at as u64)).and_then(|_| file.write_all(bytes)).expect("there is room");
}

/// The newest copy that is whole.
fn load(path: &Path) -> Option<Head> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(IMAGE_BYTES as u64).read_to_end(&mut bytes).ok()?;
    bytes.resize(IMAGE_BYTES, 0);
    if bytes.starts_with(b"LUKS\xba\xbe\0\x01") {
        return Some(Head { form: Form::Luks1, bytes, json: Value::Null, sequence: 0 });
    }
    let mut newest: Option<Head> = None;
    for at in [0, COPY_BYTES] {
        let mut copy = bytes[at..at + COPY_BYTES].to_vec();
        let sum = copy[448..480].to_vec();
        copy[448..512].fill(0);
        if sha256(&copy)[..] != sum[..] {
            continue;
        }
        let sequence = u64::from_be_bytes(copy[16..24].try_into().expect("eight"));
        let text = copy[BINARY_BYTES..].split(|byte| *byte == 0).next().unwrap_or_default();
        let json = serde_json::from_slice(text).ok()?;
        if newest.as_ref().is_none_or(|newest| newest.sequence < sequence) {
            newest = Some(Head { form: Form::Luks2, bytes: bytes.clone(), json, sequence });
        }
    }
    let mut newest = newest?;
    // Whichever it was, both have the same fields.
    let uuid_at = |at: usize| at + 168..at + 208;
    let from = if newest.bytes[uuid_at(0)].iter().all(|byte| *byte == 0) { COPY_BYTES } else { 0 };
    let uuid = newest.bytes[uuid_at(from)].to_vec();
    newest.bytes[uuid_at(0)].copy_from_slice(&uuid);
    newest.bytes[uuid_at(COPY_BYTES)].copy_from_slice(&uuid);
    Some(newest)
}

fn material(salt: &str, key: &[u8]) -> [u8; 32] {
    sha256(&[salt.as_bytes(), key].concat())
}

impl Head {
    fn slots(&self) -> Vec<u8> {
        match self.form {
            Form::Luks1 => (0..8_u8)
                .filter(|slot| {
                    let at = LUKS1_SLOTS_AT + usize::from(*slot) * LUKS1_SLOT_BYTES;
                    self.bytes[at..at + 4] == ACTIVE.to_be_bytes()
                })
                .collect(),
            Form::Luks2 => {
                let names = self.json["keyslots"].as_object().expect("an object").keys();
                let mut slots: Vec<u8> = names.map(|name| name.parse().expect("a number")).collect();
                slots.sort_unstable();
                slots
            }
        }
    }

    fn salt(&self, slot: u8) -> String {
        match self.form {
            Form::Luks1 => {
                let at = LUKS1_SLOTS_AT + usize::from(slot) * LUKS1_SLOT_BYTES;
                model::hex(&self.bytes[at + 8..at + 40])
            }
            Form::Luks2 => {
                self.json["keyslots"][slot.to_string()]["kdf"]["salt"].as_str().expect("text").to_owned()
            }
        }
    }

    fn opened_by(&self, key: &[u8]) -> Vec<u8> {
        let fits = |slot: &u8| {
            let at = area(usize::from(*slot));
            self.bytes[at..at + 32] == material(&self.salt(*slot), key)
        };
        self.slots().into_iter().filter(fits).collect()
    }

    fn put(&mut self, slot: u8, salt: &[u8; 32], key: &[u8]) {
        let at = area(usize::from(slot));
        self.bytes[at..at + 32].copy_from_slice(&material(&model::hex(salt), key));
    }

    fn enter(&mut self, slot: u8, salt: &[u8; 32]) {
        match self.form {
            Form::Luks1 => {
                let at = LUKS1_SLOTS_AT + usize::from(slot) * LUKS1_SLOT_BYTES;
                self.bytes[at..at + 4].copy_from_slice(&ACTIVE.to_be_bytes());
                self.bytes[at + 4..at + 8].copy_from_slice(&1000_u32.to_be_bytes());
                self.bytes[at + 8..at + 40].copy_from_slice(salt);
            }
            Form::Luks2 => {
                self.json["keyslots"][slot.to_string()] = json!({
                    "type": "luks2", "key_size": 64, "af": {"type": "luks1", "stripes": 4000, "hash": "sha256"},
                    "area": {
                        "type": "raw", "offset": area(usize::from(slot)).to_string(), "size": "512",
                        "encryption": "aes-xts-plain64", "key_size": 64
                    },
                    "kdf": {"type": "pbkdf2", "hash": "sha256", "iterations": 1000, "salt": model::hex(salt)}
                });
                let bound = self.json["digests"]["0"]["keyslots"].as_array_mut().expect("a list");
                bound.push(slot.to_string().into());
            }
        }
    }

    fn leave(&mut self, slot: u8) {
        match self.form {
            Form::Luks1 => {
                let at = LUKS1_SLOTS_AT + usize::from(slot) * LUKS1_SLOT_BYTES;
                self.bytes[at..at + 4].copy_from_slice(&INACTIVE.to_be_bytes());
            }
            Form::Luks2 => {
                let name = Value::from(slot.to_string());
                self.json["keyslots"].as_object_mut().expect("an object").remove(&slot.to_string());
                let drop = |list: &mut Value| list.as_array_mut().expect("a list").retain(|one| *one != name);
                drop(&mut self.json["digests"]["0"]["keyslots"]);
                for token in self.json["tokens"].as_object_mut().expect("an object").values_mut() {
                    drop(&mut token["keyslots"]);
                }
            }
        }
    }

    fn whole(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if self.form == Form::Luks2 {
            let text = self.json.to_string();
            for at in [0, COPY_BYTES] {
                bytes[at + 16..at + 24].copy_from_slice(&self.sequence.to_be_bytes());
                bytes[at + BINARY_BYTES..at + COPY_BYTES].fill(0);
                bytes[at + BINARY_BYTES..at + BINARY_BYTES + text.len()].copy_from_slice(text.as_bytes());
                bytes[at + 448..at + 512].fill(0);
                let sum = sha256(&bytes[at..at + COPY_BYTES]);
                bytes[at + 448..at + 480].copy_from_slice(&sum);
            }
        }
        bytes
    }
}
