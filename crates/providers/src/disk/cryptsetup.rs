//! What is asked of cryptsetup, and what its answers mean. [`Cryptsetup`] runs one command; the real one is in
//! [`super::program`], and tests have one that is as unkind.
//!
//! cryptsetup removes the last slot without a question when nobody sits at a terminal, and says that a wrong key fits where a token
//! opens the volume. So what counts is looked at here, in the header itself, and a test names its slot and reads which one was opened.
//!
//! Seen: cryptsetup 2.6.1: with a `luks2-keyring` token whose key is in the keyring, `open --test-passphrase --key-slot 0` with a wrong
//! key ends with 0 and says "Key slot 1 unlocked."; with `--token-type` of no token it asks the key alone. And each of its commands,
//! `isLuks` and `luksDump` too, writes the older copy of a LUKS2 header anew where the two differ: a plan asks it nothing then.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use formats::luks::{Header, Parsed, SlotState};
use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};

/// cryptsetup reads 8 MiB of a key file at most; a key that is used has 512 bytes, or is a line.
pub const KEY_BYTES_MAX: u64 = 64 << 10;
/// Of no token that anybody has: only the key decides then.
pub const NO_TOKEN: &str = "sealion-none";

/// The device and, where it is detached, its header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    pub device: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<PathBuf>,
}

impl Volume {
    /// Where the header stands.
    pub fn header_place(&self) -> &Path {
        self.header.as_deref().unwrap_or(&self.device)
    }

    /// What the header says now.
    ///
    /// # Errors
    /// It is none, or cannot be read: never "no slot".
    pub fn read(&self) -> Result<Header, String> {
        header_at(self.header_place())
    }
}

/// # Errors
/// There is none, or it cannot be told.
pub fn header_at(place: &Path) -> Result<Header, String> {
    let name = place.display();
    match disk::luks_file::header(place) {
        Ok(Parsed::Header(header)) => Ok(*header),
        Ok(Parsed::Absent) => Err(format!("{name} has no LUKS header")),
        Ok(Parsed::Unclear(why)) => Err(format!("the header of {name} cannot be told: {why}")),
        Ok(Parsed::Needs(_)) => Err(format!("the header of {name} is longer than any that is known")),
        Err(error) => Err(format!("the header of {name} cannot be read: {error}")),
    }
}

/// The bytes of a key file. Read anew for each command, so that what is tested is what lies there.
pub struct Key {
    bytes: SecretSlice<u8>,
}

impl Key {
    /// # Errors
    /// It is not there, empty, too long, or no file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let fail = |why: String| format!("the key file {} cannot be used: {why}", path.display());
        // A FIFO that nobody writes to is not waited for.
        let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
        let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = file.map_err(|error| fail(error.to_string()))?;
        let about = file.metadata().map_err(|error| fail(error.to_string()))?;
        if !about.is_file() {
            return Err(fail("it is no regular file".into()));
        }
        let mut bytes = Vec::new();
        file.take(KEY_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
        if bytes.is_empty() {
            return Err(fail("it is empty".into()));
        }
        if bytes.len() as u64 > KEY_BYTES_MAX {
            return Err(fail(format!("it has more than {KEY_BYTES_MAX} bytes")));
        }
        Ok(Self { bytes: bytes.into() })
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.expose_secret()
    }

    /// Not a secret: whether a person who types the key would miss something.
    pub fn ends_with_a_line_feed(&self) -> bool {
        self.bytes().last() == Some(&b'\n')
    }

    pub fn is(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Whether others than its owner may read a file.
pub fn is_open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.mode() & 0o077 != 0)
}

/// How the new slot is derived, in cryptsetup's words; nothing: as cryptsetup likes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KdfWish {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pbkdf: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force_iterations: Option<u32>,
}

/// One command. Keys are handed over by a descriptor, never as an argument.
#[derive(Debug)]
pub enum Command<'c> {
    /// `open --test-passphrase --key-slot`; of `header`, where one is named, instead of the volume's own.
    Test { volume: &'c Volume, header: Option<&'c Path>, slot: u8, key: &'c Key },
    /// `luksAddKey`.
    Add { volume: &'c Volume, slot: u8, with: &'c Key, new: &'c Key, kdf: &'c KdfWish },
    /// `luksKillSlot`, with a key of another slot.
    Remove { volume: &'c Volume, slot: u8, with: &'c Key },
    /// `luksUUID`: cryptsetup reads the header, and puts a copy of it in order that a killed one has left behind.
    Load { volume: &'c Volume },
    /// `luksHeaderBackup`.
    BackUp { volume: &'c Volume, to: &'c Path },
}

/// How it ended. `code`: `None` where it was ended, or did not end by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    /// What it printed; never a key.
    pub said: String,
}

impl Ended {
    fn text(&self) -> String {
        let code =
            self.code.map_or_else(|| "it did not end by itself".to_owned(), |code| format!("code {code}"));
        let said: Vec<&str> = self.said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if said.is_empty() { code } else { format!("{code}: {}", said.join("; ")) }
    }
}

pub trait Cryptsetup {
    /// # Errors
    /// It could not be started.
    fn run(&mut self, command: &Command<'_>) -> Result<Ended, String>;
}

/// Whether a key opens this slot, and no other way is taken.
///
/// # Errors
/// That cannot be told. It is never taken for "no".
pub fn opens(
    tool: &mut dyn Cryptsetup,
    volume: &Volume,
    header: Option<&Path>,
    slot: u8,
    key: &Key,
) -> Result<bool, String> {
    let ended = tool.run(&Command::Test { volume, header, slot, key })?;
    let unlocked = format!("Key slot {slot} unlocked.");
    match ended.code {
        Some(0) if ended.said.lines().any(|line| line.trim() == unlocked) => Ok(true),
        Some(2) => Ok(false),
        _ => Err(format!("whether a key opens slot {slot} cannot be told (cryptsetup: {})", ended.text())),
    }
}

/// The slots that a key opens, of those that open the volume.
///
/// # Errors
/// Of one of them that cannot be told.
pub fn slots_of(
    tool: &mut dyn Cryptsetup,
    volume: &Volume,
    header: &Header,
    key: &Key,
) -> Result<Vec<u8>, String> {
    let mut slots = Vec::new();
    for slot in header.openers() {
        if opens(tool, volume, None, slot.id, key)? {
            slots.push(slot.id);
        }
    }
    Ok(slots)
}

/// Puts a key into a slot that has none.
///
/// # Errors
/// What cryptsetup says, or that the header does not show it.
pub fn add(
    tool: &mut dyn Cryptsetup,
    volume: &Volume,
    uuid: &str,
    slot: u8,
    with: &Key,
    new: &Key,
    kdf: &KdfWish,
) -> Result<(), String> {
    let before = same_volume(tool, volume, uuid)?;
    if before.slot(slot).is_some_and(|slot| slot.state != SlotState::Inactive) {
        return Err(format!("slot {slot} is in use; nothing was written to it"));
    }
    let ended = tool.run(&Command::Add { volume, slot, with, new, kdf })?;
    if ended.code != Some(0) {
        return Err(format!("cryptsetup did not add a key to slot {slot} ({})", ended.text()));
    }
    let after = same_volume(tool, volume, uuid)?;
    if !after.slot(slot).is_some_and(formats::luks::Slot::opens) {
        return Err(format!("cryptsetup says that slot {slot} was written, and the header does not show it"));
    }
    Ok(())
}

/// The header, if it is the volume's, whole, and nothing else is under way.
///
/// # Errors
/// It is not, with the reason.
pub fn same_volume(tool: &mut dyn Cryptsetup, volume: &Volume, uuid: &str) -> Result<Header, String> {
    let mut header = volume.read()?;
    if header.half_written().is_some() && header.uuid == uuid {
        // Whether that helped is seen in the header.
        let _ = tool.run(&Command::Load { volume })?;
        header = volume.read()?;
    }
    let name = volume.header_place().display();
    if header.uuid != uuid {
        return Err(format!("{name} is another volume now: its UUID is {}, not {uuid}", header.uuid));
    }
    match unfit(&header) {
        Some(why) => Err(format!("{name}: {why}")),
        None => Ok(header),
    }
}

/// Why keys of a header are better left as they are.
pub fn unfit(header: &Header) -> Option<String> {
    if let Some(why) = &header.reencryption {
        return Some(format!("a reencryption is under way, or was cut short: {why}"));
    }
    if let Some(one) = header.requirements.first() {
        return Some(format!("its header requires \"{one}\", which is not known here"));
    }
    if let Some(why) = header.half_written() {
        return Some(format!("the header is not whole: {why}"));
    }
    header.slots.iter().find_map(|slot| match &slot.state {
        SlotState::Unclear(why) => {
            Some(format!("of slot {} it cannot be told whether it is in use: {why}", slot.id))
        }
        _ => None,
    })
}

/// What is in a slot that goes.
#[derive(Clone, Copy)]
pub enum Goes<'r> {
    /// It must open the slot, else the slot is somebody else's.
    Key(&'r Key),
    /// cryptsetup overwrites a slot before it takes it out of the header. Killed in between, it leaves an entry that nothing opens, with
    /// the salt that the key had: whoever puts a key there makes another salt.
    Remains { salt: &'r str },
}

/// A slot that goes, and the one that stays.
pub struct Removal<'r> {
    pub slot: u8,
    pub goes: Goes<'r>,
    pub stays: u8,
    pub stays_key: &'r Key,
}

/// Removes a slot: the one place where this is done. Right before, the key that stays has opened its own slot and the key that goes
/// its own, and the header shows both; the command itself is given the key that stays, so cryptsetup tries it once more.
///
/// # Errors
/// It was not removed, or that cannot be told; or it was, and the header is not as it must be then.
pub fn remove(
    tool: &mut dyn Cryptsetup,
    volume: &Volume,
    uuid: &str,
    removal: &Removal<'_>,
) -> Result<(), String> {
    let Removal { slot, goes, stays, stays_key } = *removal;
    let refuse = |why: String| format!("slot {slot} was not removed: {why}");
    if slot == stays || matches!(goes, Goes::Key(key) if key.is(stays_key)) {
        return Err(refuse("the key that stays is the one that goes".into()));
    }
    if !opens(tool, volume, None, stays, stays_key).map_err(refuse)? {
        return Err(refuse(format!("the key that is to stay does not open slot {stays}")));
    }
    if let Goes::Key(key) = goes
        && !opens(tool, volume, None, slot, key).map_err(refuse)?
    {
        return Err(refuse("it holds another key than the one that is to go".into()));
    }
    // Counted after the tests: they take seconds, and cryptsetup repairs a copy of the header while it reads.
    let header = same_volume(tool, volume, uuid).map_err(refuse)?;
    let openers: Vec<u8> = header.openers().map(|slot| slot.id).collect();
    if !openers.contains(&slot) {
        return Err(refuse("the header does not show it as one that opens the volume".into()));
    }
    if let Goes::Remains { salt } = goes
        && header.slot(slot).is_none_or(|slot| slot.salt != salt)
    {
        return Err(refuse("a key was put there since".into()));
    }
    if !openers.contains(&stays) || openers.len() < 2 {
        return Err(refuse("no other slot would remain".into()));
    }
    let ended = tool.run(&Command::Remove { volume, slot, with: stays_key })?;
    let after = volume.read()?;
    let is_gone = after.slot(slot).is_none_or(|slot| slot.state == SlotState::Inactive);
    if ended.code != Some(0) || !is_gone {
        return Err(format!("cryptsetup did not remove slot {slot} ({})", ended.text()));
    }
    match opens(tool, volume, None, stays, stays_key) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!(
            "slot {slot} was removed, and the key of slot {stays} opens the volume no more\n  next: keep the volume open; restore the \
             newest header backup (cryptsetup luksHeaderRestore)"
        )),
        Err(why) => Err(format!("slot {slot} was removed; {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Says(Option<i32>, &'static str);

    impl Cryptsetup for Says {
        fn run(&mut self, _: &Command<'_>) -> Result<Ended, String> {
            Ok(Ended { code: self.0, said: self.1.into() })
        }
    }

    /// The codes and texts are those of cryptsetup 2.6.1.
    #[test]
    fn only_two_answers_tell_whether_a_key_opens_a_slot() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("key");
        fs::write(&path, "key").expect("writable");
        let key = Key::read(&path).expect("a key");
        let volume = Volume { device: "/dev/none".into(), header: None };
        let ask = |code, said| opens(&mut Says(code, said), &volume, None, 1, &key);
        assert_eq!(ask(Some(0), "Key slot 1 unlocked.\nCommand successful.\n"), Ok(true));
        assert_eq!(ask(Some(2), "No key available with this passphrase.\n"), Ok(false));
        // A token opened another slot, or nobody says which.
        for (code, said) in [
            (Some(0), "Key slot 11 unlocked.\n"),
            (Some(0), ""),
            (Some(1), "No usable keyslot is available.\n"),
            (Some(1), "Failed to open key file.\n"),
            (Some(3), ""),
            (Some(4), "Device /dev/none does not exist or access denied.\n"),
            (Some(5), ""),
            (None, ""),
        ] {
            assert!(ask(code, said).is_err(), "{code:?} {said}");
        }
    }

    #[test]
    fn a_key_file_is_a_file_with_bytes_and_is_never_shown() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("key");
        assert!(Key::read(&path).is_err() && Key::read(dir.path()).is_err());
        fs::write(&path, "").expect("writable");
        assert!(Key::read(&path).expect_err("empty").contains("it is empty"));
        fs::write(&path, vec![7; usize::try_from(KEY_BYTES_MAX).expect("small") + 1]).expect("writable");
        assert!(Key::read(&path).is_err());
        fs::write(&path, "secret\n").expect("writable");
        let key = Key::read(&path).expect("a key");
        assert!(key.ends_with_a_line_feed());
        assert_eq!(format!("{key:?}"), "Key");
    }
}
