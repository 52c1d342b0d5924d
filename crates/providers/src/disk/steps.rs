//! The steps of a rotation, forward and back.

use std::path::Path;

use change::{Acted, Direction, Runner, StepCheck, StepError};
use formats::luks::{Header, SlotState};
use model::Step;

use super::cryptsetup::{self, Cryptsetup, Goes, Key, Removal, opens, same_volume, slots_of};
use super::{Rotation, escrow};

pub const BACKUP_BEFORE: &str = "luks-backup-before";
pub const ADD: &str = "luks-add";
pub const TEST: &str = "luks-test";
pub const BACKUP_AFTER: &str = "luks-backup-after";
pub const REMOVE: &str = "luks-remove";
pub const PROOF: &str = "luks-proof";

/// Carries a rotation out.
pub struct Rotating<'r> {
    pub tool: &'r mut dyn Cryptsetup,
    pub rotation: Rotation,
    pub tell: &'r mut dyn FnMut(&str),
}

type Answer<T> = Result<T, String>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum OldSlot {
    InUse,
    Free,
    Remains { salt: String },
}

/// A reason, with what to do next.
fn failed(why: String) -> StepError {
    if why.contains("\n  next: ") {
        return StepError(why);
    }
    StepError(format!(
        "{why}\n  next: check that, then sealion rotate disk resume, or sealion rotate disk undo"
    ))
}

impl Rotating<'_> {
    fn old_key(&self) -> Answer<Key> {
        Key::read(&self.rotation.old_key)
    }
    fn new_key(&self) -> Answer<Key> {
        Key::read(&self.rotation.new_key)
    }
    fn header(&mut self) -> Answer<Header> {
        same_volume(self.tool, &self.rotation.volume, &self.rotation.uuid)
    }
    fn opens(&mut self, slot: u8, key: &Key) -> Answer<bool> {
        opens(self.tool, &self.rotation.volume, None, slot, key)
    }
    fn opens_backup(&mut self, backup: &Path, slot: u8, key: &Key) -> Answer<bool> {
        opens(self.tool, &self.rotation.volume, Some(backup), slot, key)
    }
    /// `None`: the slot has nothing. Else whether the key opens it.
    fn slot(&mut self, slot: u8, key: &Key) -> Answer<Option<bool>> {
        let header = self.header()?;
        match header.slot(slot) {
            None => Ok(None),
            Some(found) if found.state == SlotState::Inactive => Ok(None),
            Some(found) if found.opens() => self.opens(slot, key).map(Some),
            Some(_) => Err(format!("slot {slot} is in use, and is none that opens the volume")),
        }
    }

    /// A slot that the old key opens now.
    fn old_opens(&mut self) -> Answer<u8> {
        let old = self.old_key()?;
        for slot in self.rotation.old_slots.clone() {
            if self.slot(slot, &old)? == Some(true) {
                return Ok(slot);
            }
        }
        Err(format!("the old key {} opens none of its slots", self.rotation.old_key.display()))
    }

    fn new_opens(&mut self) -> Answer<()> {
        let (new, slot) = (self.new_key()?, self.rotation.new_slot);
        match self.slot(slot, &new)? {
            Some(true) => Ok(()),
            Some(false) => {
                Err(format!("the new key {} does not open slot {slot}", self.rotation.new_key.display()))
            }
            None => Err(format!("slot {slot} has no key")),
        }
    }

    /// A backup that is whole and that this key opens.
    fn backup_opens(&mut self, backup: &Path, slots: &[u8], key: &Key) -> Answer<()> {
        let name = backup.display();
        if escrow::whole(backup, &self.rotation.uuid)?.is_none() {
            return Err(format!("there is no header backup {name}"));
        }
        for slot in slots {
            if !self.opens_backup(backup, *slot, key)? {
                return Err(format!("the key does not open slot {slot} of the header backup {name}"));
            }
        }
        Ok(())
    }

    fn make_before(&mut self) -> Answer<String> {
        let (path, slots) = (self.rotation.backup_before.clone(), self.rotation.old_slots.clone());
        let sum = escrow::make(self.tool, &self.rotation.volume, &self.rotation.uuid, &path)?;
        let old = self.old_key()?;
        self.backup_opens(&path, &slots, &old)?;
        Ok(format!("{}, SHA-256 {sum}", path.display()))
    }

    fn make_after(&mut self) -> Answer<String> {
        let (path, slot) = (self.rotation.backup_after.clone(), self.rotation.new_slot);
        let sum = escrow::make(self.tool, &self.rotation.volume, &self.rotation.uuid, &path)?;
        let new = self.new_key()?;
        self.backup_opens(&path, &[slot], &new)?;
        Ok(format!("{}, SHA-256 {sum}", path.display()))
    }

    fn check_forward(&mut self, kind: &str) -> Answer<StepCheck> {
        let new_slot = self.rotation.new_slot;
        match kind {
            BACKUP_BEFORE => {
                self.header()?;
                self.old_opens().map(|_| StepCheck::Ready)
            }
            ADD => {
                let new = self.new_key()?;
                match self.slot(new_slot, &new)? {
                    Some(true) => Ok(StepCheck::AlreadyDone(format!("the new key opens slot {new_slot}"))),
                    Some(false) => Ok(StepCheck::Blocked(format!(
                        "slot {new_slot} was free, and holds another key now\n  next: sealion rotate disk undo, then rotate again: it \
                         takes another slot"
                    ))),
                    None => self.old_opens().map(|_| StepCheck::Ready),
                }
            }
            TEST => self.new_opens().map(|()| StepCheck::Ready),
            BACKUP_AFTER => self.new_opens().map(|()| StepCheck::Ready),
            REMOVE => {
                self.new_opens()?;
                if self.old_slots()?.iter().all(|(_, state)| *state == OldSlot::Free) {
                    return Ok(StepCheck::AlreadyDone(
                        "the old slots are gone, and the new key opens its own".into(),
                    ));
                }
                Ok(StepCheck::Ready)
            }
            PROOF => Ok(StepCheck::Ready),
            other => Ok(StepCheck::Blocked(format!("this version knows no step \"{other}\""))),
        }
    }

    /// Of each old slot: whether it has the old key, nothing, or what a removal that was cut short has left.
    ///
    /// # Errors
    /// One has another key, or that cannot be told.
    fn old_slots(&mut self) -> Answer<Vec<(u8, OldSlot)>> {
        let mut slots = Vec::new();
        for slot in self.rotation.old_slots.clone() {
            let header = self.header()?;
            let is_free = header.slot(slot).is_none_or(|slot| slot.state == SlotState::Inactive);
            let state = if is_free {
                OldSlot::Free
            } else {
                let old = self.old_key()?;
                match self.slot(slot, &old)? {
                    None => OldSlot::Free,
                    Some(true) => OldSlot::InUse,
                    Some(false) => OldSlot::Remains { salt: self.remains(slot, &old)? },
                }
            };
            slots.push((slot, state));
        }
        Ok(slots)
    }

    fn remains(&mut self, slot: u8, old: &Key) -> Answer<String> {
        let backup = self.rotation.backup_before.clone();
        self.remains_of(&backup, slot, old)?
            .ok_or_else(|| format!("slot {slot} holds another key than the old one now; it is left as it is"))
    }

    /// The salt of a slot that has the entry which it had in a backup, where this key opened it, and which nothing opens any more. `None`:
    /// it has another entry.
    fn remains_of(&mut self, backup: &Path, slot: u8, key: &Key) -> Answer<Option<String>> {
        let Some(kept) = escrow::whole(backup, &self.rotation.uuid)? else { return Ok(None) };
        let now = self.header()?;
        match (kept.slot(slot), now.slot(slot)) {
            (Some(kept), Some(now)) if kept == now && self.opens_backup(backup, slot, key)? => {
                Ok(Some(now.salt.clone()))
            }
            _ => Ok(None),
        }
    }

    fn act_forward(&mut self, kind: &str) -> Answer<()> {
        let rotation = self.rotation.clone();
        match kind {
            BACKUP_BEFORE => self.make_before().map(|_| ()),
            ADD => {
                let (old, new) = (self.old_key()?, self.new_key()?);
                // Nobody could tell later whose key it is that would remain.
                self.backup_opens(&rotation.backup_before, &rotation.old_slots, &old)?;
                let volume = &rotation.volume;
                cryptsetup::add(
                    self.tool,
                    volume,
                    &rotation.uuid,
                    rotation.new_slot,
                    &old,
                    &new,
                    &rotation.kdf,
                )
            }
            BACKUP_AFTER => self.make_after().map(|_| ()),
            REMOVE => {
                // They may have been removed since. That of before can be made as long as the old key is in its slots.
                if self.old_slots()?.iter().all(|(_, state)| *state == OldSlot::InUse) {
                    self.make_before()?;
                }
                self.make_after()?;
                for (slot, state) in self.old_slots()? {
                    self.remove_old(slot, &state)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn verify_forward(&mut self, kind: &str) -> Answer<String> {
        let (new_slot, slots) = (self.rotation.new_slot, self.rotation.old_slots.clone());
        match kind {
            BACKUP_BEFORE => self.make_before(),
            ADD => {
                self.new_opens()?;
                self.old_opens()
                    .map(|slot| format!("the new key opens slot {new_slot}, the old one slot {slot}"))
            }
            TEST => {
                self.new_opens()?;
                Ok(format!("the new key opens slot {new_slot}"))
            }
            BACKUP_AFTER => self.make_after(),
            REMOVE => {
                let header = self.header()?;
                let left = slots
                    .iter()
                    .find(|slot| header.slot(**slot).is_some_and(|slot| slot.state != SlotState::Inactive));
                if let Some(slot) = left {
                    return Err(format!("slot {slot} is in use yet"));
                }
                self.new_opens()?;
                let count = model::text::counted(header.openers().count(), "slot opens", "slots open");
                Ok(format!("{count} the volume; the new key opens slot {new_slot}"))
            }
            PROOF => {
                let (old, header) = (self.old_key()?, self.header()?);
                let open = slots_of(self.tool, &self.rotation.volume, &header, &old)?;
                if let Some(slot) = open.first() {
                    return Err(format!(
                        "the old key opens slot {slot}, which was made since\n  next: sealion rotate disk resume, after that slot was removed"
                    ));
                }
                self.new_opens()?;
                let rotation = self.rotation.clone();
                let dir = rotation.backup_before.parent().unwrap_or(Path::new("/"));
                for line in super::older_backups(self.tool, &rotation.volume, dir, &old) {
                    (self.tell)(&line);
                }
                Ok(format!("the old key opens no slot, the new one slot {new_slot}"))
            }
            other => Err(format!("this version knows no step \"{other}\"")),
        }
    }

    fn check_back(&mut self, kind: &str) -> Answer<StepCheck> {
        let rotation = self.rotation.clone();
        let kept =
            |path: &Path| StepCheck::AlreadyDone(format!("the header backup {} is kept", path.display()));
        match kind {
            BACKUP_BEFORE => Ok(kept(&rotation.backup_before)),
            BACKUP_AFTER => Ok(kept(&rotation.backup_after)),
            TEST | PROOF => Ok(StepCheck::AlreadyDone("it only looks".into())),
            REMOVE => {
                let missing = self.old_slots_missing()?;
                if missing.is_empty() {
                    return Ok(StepCheck::AlreadyDone("the old key opens its slots".into()));
                }
                self.new_opens()?;
                self.old_is_of_backup(&missing)?;
                Ok(StepCheck::Ready)
            }
            ADD => {
                // First, that somebody can open it without the new key.
                let slot = self.old_opens()?;
                let header = self.header()?;
                if header.slot(rotation.new_slot).is_none_or(|slot| slot.state == SlotState::Inactive) {
                    return Ok(StepCheck::AlreadyDone(format!("slot {} has no key", rotation.new_slot)));
                }
                let new = self.new_key()?;
                if self.slot(rotation.new_slot, &new)? == Some(false)
                    && self.remains_of(&rotation.backup_after, rotation.new_slot, &new)?.is_none()
                {
                    return Ok(StepCheck::AlreadyDone(format!(
                        "slot {} holds another key than the new one, and is left as it is; the old one opens slot {slot}",
                        rotation.new_slot
                    )));
                }
                Ok(StepCheck::Ready)
            }
            other => Ok(StepCheck::Blocked(format!("this version knows no step \"{other}\""))),
        }
    }

    /// With the new key, which stays.
    fn remove_old(&mut self, slot: u8, state: &OldSlot) -> Answer<()> {
        let rotation = self.rotation.clone();
        let (old, new) = (self.old_key()?, self.new_key()?);
        let goes = match state {
            OldSlot::Free => return Ok(()),
            OldSlot::InUse => Goes::Key(&old),
            OldSlot::Remains { salt } => Goes::Remains { salt },
        };
        let removal = Removal { slot, goes, stays: rotation.new_slot, stays_key: &new };
        cryptsetup::remove(self.tool, &rotation.volume, &rotation.uuid, &removal)?;
        (self.tell)(&format!("slot {slot} was removed"));
        Ok(())
    }

    /// Old slots that the old key does not open.
    fn old_slots_missing(&mut self) -> Answer<Vec<(u8, OldSlot)>> {
        let mut slots = self.old_slots()?;
        slots.retain(|(_, state)| *state != OldSlot::InUse);
        Ok(slots)
    }

    /// Nothing of a key is kept; the header of before tells whether the file is as it was.
    fn old_is_of_backup(&mut self, slots: &[(u8, OldSlot)]) -> Answer<()> {
        let (path, old) = (self.rotation.backup_before.clone(), self.old_key()?);
        let slots: Vec<u8> = slots.iter().map(|(slot, _)| *slot).collect();
        self.backup_opens(&path, &slots, &old).map_err(|why| {
            format!(
                "the old key cannot be put back: {why}\n  next: sealion rotate disk undo --key-file FILE, with the key as it was, and the \
                 header backup in its place"
            )
        })
    }

    fn act_back(&mut self, kind: &str) -> Answer<()> {
        let rotation = self.rotation.clone();
        match kind {
            REMOVE => {
                let missing = self.old_slots_missing()?;
                self.old_is_of_backup(&missing)?;
                for (slot, state) in missing {
                    self.remove_old(slot, &state)?;
                    let (old, new) = (self.old_key()?, self.new_key()?);
                    cryptsetup::add(
                        self.tool,
                        &rotation.volume,
                        &rotation.uuid,
                        slot,
                        &new,
                        &old,
                        &rotation.kdf,
                    )?;
                    (self.tell)(&format!("the old key is in slot {slot} again"));
                }
                Ok(())
            }
            ADD => {
                let stays = self.old_opens()?;
                let (old, new, slot) = (self.old_key()?, self.new_key()?, rotation.new_slot);
                let salt = match self.slot(slot, &new)? {
                    None => return Ok(()),
                    Some(false) => self.remains_of(&rotation.backup_after, slot, &new)?,
                    Some(true) => {
                        // Cut short, the removal leaves an entry, and only a backup tells later whose it was.
                        self.make_after()?;
                        None
                    }
                };
                let goes = salt.as_ref().map_or(Goes::Key(&new), |salt| Goes::Remains { salt });
                let removal = Removal { slot, goes, stays, stays_key: &old };
                cryptsetup::remove(self.tool, &rotation.volume, &rotation.uuid, &removal)
            }
            _ => Ok(()),
        }
    }

    fn verify_back(&mut self, kind: &str) -> Answer<String> {
        match kind {
            REMOVE => {
                let missing = self.old_slots_missing()?;
                match missing.first() {
                    Some((slot, _)) => Err(format!("slot {slot} has no key")),
                    None => Ok("the old key opens its slots".into()),
                }
            }
            ADD => {
                let header = self.header()?;
                let slot = self.rotation.new_slot;
                if header.slot(slot).is_some_and(|slot| slot.state != SlotState::Inactive) {
                    return Err(format!("slot {slot} is in use yet"));
                }
                self.old_opens()
                    .map(|slot| format!("the old key opens slot {slot}, and the new slot is gone"))
            }
            _ => Ok("nothing was to be done".into()),
        }
    }
}

impl Runner for Rotating<'_> {
    fn check(&mut self, step: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        match direction {
            Direction::Forward => self.check_forward(&step.kind),
            Direction::Back => self.check_back(&step.kind),
        }
        .map_err(failed)
    }

    fn act(&mut self, step: &Step, direction: Direction, _: Option<&str>) -> Result<Acted, StepError> {
        match direction {
            Direction::Forward => self.act_forward(&step.kind),
            Direction::Back => self.act_back(&step.kind),
        }
        .map(|()| Acted::Whole)
        .map_err(failed)
    }

    fn verify(&mut self, step: &Step, direction: Direction) -> Result<String, StepError> {
        match direction {
            Direction::Forward => self.verify_forward(&step.kind),
            Direction::Back => self.verify_back(&step.kind),
        }
        .map_err(failed)
    }

    /// The volume is on this machine, and so is the journal: there is no node that could keep a copy.
    fn copy_journal(&mut self, _: &Path, _: &str) -> Result<usize, StepError> {
        Ok(1)
    }
}
