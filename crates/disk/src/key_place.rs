//! Where keys are, compared with the data that they encrypt: whether a thief of the data's disk can read it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::stack::{Coverage, DeviceNumber, Layer, LayerKind, Stack, Tree};

/// For one set of files that give the keys together, such as a key file and the file with its passphrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    SameFileSystem,
    /// On another file system of a disk that also has the data.
    SameDisk(String),
    /// A layer below, such as LUKS, encrypts the data or one of these files.
    Encrypted,
    /// One of these files is on another disk, or in memory.
    Elsewhere,
    Unknown(String),
}

impl KeyPlace {
    /// Whether the disk of the data alone is enough to read it.
    pub fn is_with_data(&self) -> bool {
        matches!(self, Self::SameFileSystem | Self::SameDisk(_))
    }
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameFileSystem => {
                f.write_str("on the file system of the data: whoever takes the disk has both")
            }
            Self::SameDisk(disk) => {
                write!(f, "on {disk}, a disk of the data: whoever takes the disk has both")
            }
            Self::Encrypted => f.write_str("below a layer that encrypts the disk"),
            Self::Elsewhere => f.write_str("on another disk than the data, or in memory"),
            Self::Unknown(why) => {
                write!(f, "whether it is on a disk of the data cannot be determined: {why}")
            }
        }
    }
}

/// `needed`: files that give the keys only together. One that is not with the data is enough.
pub fn of(tree: &dyn Tree, data: &Path, needed: &[&Path]) -> KeyPlace {
    let data = match Seen::of(tree, data) {
        Ok(data) => data,
        Err(why) => return KeyPlace::Unknown(why),
    };
    let mut places = Vec::with_capacity(needed.len());
    for file in needed {
        places.push(match Seen::of(tree, file) {
            Ok(file) => place(&data, &file),
            Err(why) => KeyPlace::Unknown(why),
        });
    }
    let is_apart = |place: &&KeyPlace| matches!(place, KeyPlace::Encrypted | KeyPlace::Elsewhere);
    let is_unknown = |place: &&KeyPlace| matches!(place, KeyPlace::Unknown(_));
    let chosen = places.iter().find(is_apart).or_else(|| places.iter().find(is_unknown)).or(places.last());
    chosen.cloned().unwrap_or_else(|| KeyPlace::Unknown("no file with keys is named".into()))
}

struct Seen {
    stack: Stack,
    device: Option<DeviceNumber>,
}

impl Seen {
    /// A file that is not there yet is where its directory is.
    fn of(tree: &dyn Tree, path: &Path) -> Result<Self, String> {
        for there in path.ancestors() {
            let shown = there.display().to_string();
            if let Some(real) = tree.real_path(&shown)? {
                return Ok(Self { stack: Stack::of_path(tree, &real), device: tree.device_of(&real) });
            }
        }
        Err(format!("{} leads nowhere", path.display()))
    }

    /// The kernel's number, or one mount for both; file systems that hide their devices give files numbers of their own.
    fn is_same_file_system(&self, other: &Self) -> bool {
        let is_same_number = self.device.is_some() && self.device == other.device;
        let (one, two) = (&self.stack.top, &other.stack.top);
        let is_same_mount = one.kind == LayerKind::FileSystem && one.name == two.name && two.kind == one.kind;
        // A bind mount has another place and the same device.
        let number = |layer: &Layer| layer.below.first().map(|below| below.name.clone());
        is_same_number || is_same_mount || (number(one).is_some() && number(one) == number(two))
    }
}

fn place(data: &Seen, file: &Seen) -> KeyPlace {
    let (of_data, of_file) = (data.stack.coverage(), file.stack.coverage());
    match (&of_data, &of_file) {
        (_, Coverage::Memory) => return KeyPlace::Elsewhere,
        (Coverage::Encrypted, _) | (_, Coverage::Encrypted) => return KeyPlace::Encrypted,
        _ => {}
    }
    if data.is_same_file_system(file) {
        return KeyPlace::SameFileSystem;
    }
    let (mut data_disks, mut file_disks) = (BTreeSet::new(), BTreeSet::new());
    let unseen = disks(&data.stack.top, &mut data_disks).or(disks(&file.stack.top, &mut file_disks));
    if let Some(disk) = data_disks.intersection(&file_disks).next() {
        return KeyPlace::SameDisk((*disk).to_owned());
    }
    unseen.map_or(KeyPlace::Elsewhere, KeyPlace::Unknown)
}

/// The disks below, and why some of them are not seen.
fn disks<'l>(layer: &'l Layer, found: &mut BTreeSet<&'l str>) -> Option<String> {
    if layer.below.is_empty() {
        return match (&layer.kind, &layer.seen) {
            (LayerKind::Disk, _) => {
                found.insert(&layer.name);
                None
            }
            (LayerKind::Memory, _) => None,
            (_, Some(Coverage::Unknown(why))) => Some(why.clone()),
            _ => Some(format!("nothing is known of what is below {}", layer.name)),
        };
    }
    let mut unseen = None;
    for below in &layer.below {
        unseen = disks(below, found).or(unseen);
    }
    unseen
}
