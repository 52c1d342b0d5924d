//! Replaces a key of a LUKS volume: header backup, new key, its test, second backup, and only then the old key goes.
//!
//! It is about one volume of this machine, not about nodes: it has the engine's plan, journal and machine, and a [`Runner`] of its own
//! ([`Rotating`]). [`cryptsetup`] says what is asked of the program and where a slot is removed, [`escrow`] makes header backups,
//! [`steps`] joins them. Keys are in files that the user names; none is copied, and none is in a plan or journal.
//!
//! [`Runner`]: change::Runner

pub mod cryptsetup;
pub mod escrow;
pub mod program;
mod steps;

use std::fmt;
use std::path::{Path, PathBuf};

use formats::luks::Header;
use host::ReadHost;
use model::{Change, Noun, Plan, Step, StepId, StepNature, Verb};
use openssl::sha::sha256;
use serde::{Deserialize, Serialize};

use cryptsetup::{Cryptsetup, KdfWish, Key, Volume, is_open_to_others, slots_of, unfit};
pub use steps::Rotating;

/// What a person wants.
#[derive(Debug, Clone)]
pub struct Wish {
    pub volume: Volume,
    pub old_key: PathBuf,
    pub new_key: PathBuf,
    pub backup_dir: PathBuf,
    pub kdf: KdfWish,
}

/// What each step of a plan knows. No key: files are named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    pub volume: Volume,
    pub uuid: String,
    pub old_key: PathBuf,
    pub new_key: PathBuf,
    /// Every slot that the old key opens.
    pub old_slots: Vec<u8>,
    pub new_slot: u8,
    pub backup_before: PathBuf,
    pub backup_after: PathBuf,
    #[serde(default)]
    pub kdf: KdfWish,
}

impl Rotation {
    /// # Errors
    /// The plan is of another version.
    pub fn of(plan: &Plan) -> Result<Self, String> {
        let params = plan.steps.first().map(|step| step.params.clone()).unwrap_or_default();
        serde_json::from_value(params)
            .map_err(|error| format!("the plan does not say which volume it is of: {error}"))
    }
}

/// Why it is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    pub why: String,
    pub next: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  why:  {}\n  next: {}", self.what, self.why, self.next)
    }
}

/// Room for a header backup beside its own size, for its note.
const ROOM_BYTES: u64 = 1 << 20;

struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, what: impl Into<String>, why: impl Into<String>, next: impl Into<String>) {
        self.0.push(Problem { what: what.into(), why: why.into(), next: next.into() });
    }
}

/// Looks at volume, keys and directory; changes nothing.
///
/// # Errors
/// Every problem that was found.
pub fn plan(
    tool: &mut dyn Cryptsetup,
    wish: &Wish,
    made_unix_ms: u64,
    version: &str,
) -> Result<Plan, Vec<Problem>> {
    let mut problems = Problems(vec![]);
    let name = wish.volume.header_place().display().to_string();
    let keys = (Key::read(&wish.old_key), Key::read(&wish.new_key));
    for key in [keys.0.as_ref().err(), keys.1.as_ref().err()].into_iter().flatten() {
        problems.add("a key cannot be read", key.clone(), "name a file that holds the key and nothing else");
    }
    if is_open_to_others(&wish.new_key) {
        let file = wish.new_key.display();
        problems.add(
            format!("the new key {file} can be read by others"),
            "its mode lets group or others in",
            format!("make a new key in a file of mode 600: others may have read {file}"),
        );
    }
    check_backup_dir(&wish.backup_dir, &name, &mut problems);
    let header = match wish.volume.read() {
        Ok(header) => Some(header),
        Err(why) => {
            let next = "check --device, and --header where the header is detached";
            problems.add("this is no volume whose keys can be rotated", why, next);
            None
        }
    };
    if let Some(why) = header.as_ref().and_then(unfit) {
        let next = "sealion status disk shows the header; finish what is under way (cryptsetup reencrypt --resume-only, cryptsetup repair)";
        problems.add(format!("the keys of {name} are left as they are"), why, next);
    }
    let (Some(header), (Ok(old), Ok(new)), true) = (header, keys, problems.0.is_empty()) else {
        return Err(problems.0);
    };
    if old.is(&new) {
        problems.add("the new key is the old one", "both files have the same bytes", "make a new key");
        return Err(problems.0);
    }
    let slots =
        match (slots_of(tool, &wish.volume, &header, &old), slots_of(tool, &wish.volume, &header, &new)) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(why), _) | (_, Err(why)) => {
                problems.add(
                    "which slots the keys open cannot be told",
                    why,
                    "run it as a user who may read the device",
                );
                return Err(problems.0);
            }
        };
    let rotation = rotation(wish, &header, slots, made_unix_ms, &mut problems);
    match rotation {
        Some((rotation, is_added)) if problems.0.is_empty() => {
            let impact = impact(tool, wish, &header, &rotation, &old, &new);
            Ok(written(&rotation, &header, is_added, impact, made_unix_ms, version))
        }
        _ => Err(problems.0),
    }
}

fn check_backup_dir(dir: &Path, volume: &str, problems: &mut Problems) {
    let name = dir.display();
    match host::Local.facts(dir) {
        Ok(Some(facts)) if facts.is_dir => {}
        Ok(_) => {
            let next = format!("mkdir -m 700 {name}, on another disk than {volume}");
            problems.add(format!("{name} is no directory"), "header backups are to be kept there", next);
            return;
        }
        Err(error) => {
            problems.add(
                format!("{name} cannot be looked at"),
                error.to_string(),
                "name another --backup-dir",
            );
            return;
        }
    }
    if !matches!(host::Local.writable(dir), Ok(true)) {
        problems.add(
            format!("header backups cannot be written to {name}"),
            "no files can be made there",
            "name another --backup-dir",
        );
    }
    // Both are of 16 MiB at most, unless the header was made larger.
    let wanted = 2 * (16 << 20) + ROOM_BYTES;
    match host::Local.free_bytes(dir) {
        Ok(free) if free >= wanted => {}
        Ok(free) => problems.add(
            format!("{name} has no room for two header backups"),
            format!("{free} bytes are free, {wanted} are needed"),
            "make room, or name another --backup-dir",
        ),
        Err(error) => problems.add(
            format!("the free space of {name} is not known"),
            error.to_string(),
            "name another --backup-dir",
        ),
    }
}

/// The rotation, and whether the new key is to be added.
fn rotation(
    wish: &Wish,
    header: &Header,
    (old_slots, new_slots): (Vec<u8>, Vec<u8>),
    made_unix_ms: u64,
    problems: &mut Problems,
) -> Option<(Rotation, bool)> {
    let name = wish.volume.header_place().display();
    if old_slots.is_empty() {
        problems.add(
            format!("the old key opens no slot of {name}"),
            format!("{} does not fit", wish.old_key.display()),
            "name the key that is in use now; a line feed at the end of a key file belongs to the key",
        );
    }
    for slot in &old_slots {
        let kinds: Vec<String> =
            header.tokens_of(*slot).map(|token| format!("{} (token {})", token.kind, token.id)).collect();
        if !kinds.is_empty() {
            problems.add(
                format!("slot {slot} of {name} belongs to {}", kinds.join(", ")),
                "with the slot that token would lose its way to the volume",
                "bind it anew first (clevis luks unbind, systemd-cryptenroll --wipe-slot, cryptsetup token remove)",
            );
        }
    }
    let new_slot = new_slots.first().copied().or_else(|| header.free_slot());
    let Some(new_slot) = new_slot else {
        problems.add(
            format!("{name} has no free slot"),
            "the new key is added before the old one goes",
            "remove a slot whose key is not needed any more: cryptsetup luksKillSlot",
        );
        return None;
    };
    let file =
        |when: &str| wish.backup_dir.join(format!("luks-{}-{made_unix_ms}-{when}.header", header.uuid));
    let rotation = Rotation {
        volume: wish.volume.clone(),
        uuid: header.uuid.clone(),
        old_key: wish.old_key.clone(),
        new_key: wish.new_key.clone(),
        old_slots,
        new_slot,
        backup_before: file("before"),
        backup_after: file("after"),
        kdf: wish.kdf.clone(),
    };
    Some((rotation, new_slots.is_empty()))
}

fn impact(
    tool: &mut dyn Cryptsetup,
    wish: &Wish,
    header: &Header,
    rotation: &Rotation,
    old: &Key,
    new: &Key,
) -> Vec<String> {
    let mut lines = vec![
        "the volume stays open, and no data are rewritten: who has copied the volume's own key (from memory, by luksDump) keeps it; \
         cryptsetup reencrypt replaces it"
            .to_owned(),
        format!(
            "undo needs {} as it is now: the old key is put back from there, and is compared with the header backup",
            wish.old_key.display()
        ),
        "what opens the volume at boot (crypttab, initramfs) is not changed: name the new key there before the next start".to_owned(),
    ];
    let stay: Vec<String> = header
        .openers()
        .filter(|slot| !rotation.old_slots.contains(&slot.id) && slot.id != rotation.new_slot)
        .map(|slot| slot.id.to_string())
        .collect();
    if !stay.is_empty() {
        lines.push(format!("slots of other keys stay as they are: {}", stay.join(", ")));
    }
    if new.ends_with_a_line_feed() {
        lines.push(format!(
            "{} ends with a line feed, which is a part of the key: typed at a prompt it would not open",
            wish.new_key.display()
        ));
    }
    if is_open_to_others(&wish.backup_dir) {
        lines.push(format!("{} can be read by others: chmod 700", wish.backup_dir.display()));
    }
    lines.extend(older_backups(tool, &wish.volume, &wish.backup_dir, old));
    lines
}

/// So many files that could not be looked at are named.
const NOT_READ_MAX: usize = 5;

/// Header backups in a directory and below it, and whether the old key opens them: that was tried with each.
pub(crate) fn older_backups(
    tool: &mut dyn Cryptsetup,
    volume: &Volume,
    dir: &Path,
    old: &Key,
) -> Vec<String> {
    let now = match volume.read() {
        Ok(now) => now,
        Err(why) => return vec![format!("header backups in {} are not known: {why}", dir.display())],
    };
    let older = escrow::older(dir, &now);
    let mut lines: Vec<String> = older
        .not_read
        .iter()
        .take(NOT_READ_MAX)
        .map(|what| format!("whether this is a header backup that opens cannot be told: {what}"))
        .collect();
    if older.not_read.len() > NOT_READ_MAX {
        lines.push(format!("and of {} more", older.not_read.len() - NOT_READ_MAX));
    }
    for (path, header) in older.found {
        let mut state = "does not open with the old key";
        for slot in header.openers() {
            match cryptsetup::opens(tool, volume, Some(&path), slot.id, old) {
                Ok(true) => {
                    state = "opens with the old key";
                    break;
                }
                Ok(false) => {}
                Err(_) => state = "may open with the old key: that could not be told",
            }
        }
        lines.push(format!(
            "header backup {} {state}; with the keys of its day it opens the volume. When it is not needed: shred -u {0} (on a disk where \
             blocks are copied, only cryptsetup reencrypt helps)",
            path.display()
        ));
    }
    lines
}

fn written(
    rotation: &Rotation,
    header: &Header,
    is_added: bool,
    impact: Vec<String>,
    made_unix_ms: u64,
    version: &str,
) -> Plan {
    let params = serde_json::to_value(rotation).unwrap_or_default();
    let slots: Vec<String> = rotation.old_slots.iter().map(ToString::to_string).collect();
    let slots = slots.join(", ");
    let new = rotation.new_slot;
    let step = |id: &str, kind: &str, title: String, only_looks: bool, no_op: bool| Step {
        id: StepId(id.to_owned()),
        kind: kind.to_owned(),
        title,
        nodes: vec![],
        restarts_server: false,
        no_op,
        only_looks,
        nature: StepNature::default(),
        part: None,
        shell: vec![],
        sql: vec![],
        diff: vec![],
        params: params.clone(),
    };
    let (before, after) = (rotation.backup_before.display(), rotation.backup_after.display());
    let steps = vec![
        step(
            "K1",
            steps::BACKUP_BEFORE,
            format!("back the header up to {before}, with its SHA-256; the old key opens it"),
            false,
            false,
        ),
        step("K2", steps::ADD, format!("add the new key to slot {new}"), false, !is_added),
        step(
            "K3",
            steps::TEST,
            format!("the new key opens slot {new}, its own, before anything is removed"),
            true,
            false,
        ),
        step(
            "K4",
            steps::BACKUP_AFTER,
            format!("back the header up to {after}, with its SHA-256; the new key opens it"),
            false,
            false,
        ),
        step(
            "K5",
            steps::REMOVE,
            format!(
                "remove slot {slots}: both keys are tested and the slots counted right before (undo puts the old key back from its file)"
            ),
            false,
            false,
        ),
        step(
            "K6",
            steps::PROOF,
            format!("the old key opens nothing, and the new one slot {new}"),
            true,
            false,
        ),
    ];
    // Not over the backups' names, which have the time in them.
    let Rotation { volume, old_key, new_key, old_slots, new_slot, kdf, .. } = rotation;
    let state = format!("{:?}", (header, volume, old_key, new_key, old_slots, new_slot, kdf));
    Plan {
        id: format!("rotate-disk-{}-{made_unix_ms}", rotation.uuid),
        sequence: 0,
        change: Change::new(Verb::Rotate, [Noun::Disk]),
        cluster: rotation.volume.device.display().to_string(),
        topology: "disk".into(),
        parts: vec![],
        made_unix_ms,
        sealion_version: version.to_owned(),
        state_hash: model::hex(&sha256(state.as_bytes())),
        inventory: std::collections::BTreeMap::new(),
        impact,
        rights: vec!["to write to the device and, where it is detached, to its header (root)".into()],
        steps,
    }
}
