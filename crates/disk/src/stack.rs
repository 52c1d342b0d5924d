//! What lies below a path: file system, mappings, RAID, partitions, disks, as sysfs has them.
//!
//! [`Stack::of_path`] and [`Stack::of_device`] are pure: what they read comes through [`Tree`], so a recorded tree is as good as this
//! machine. [`Stack::coverage`] says `Encrypted` only where every way down goes through a dm-crypt device whose LUKS header, read from
//! the device below it, names a cipher. What sysfs does not tell is [`Coverage::Unknown`]: it has no table of a mapping, and nothing of
//! a drive that encrypts by itself.

mod here;
mod mounts;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use here::Here;
pub use mounts::Mount;

/// Where the layers are read from.
pub trait Tree {
    /// `None`: there is no such file.
    fn read(&self, path: &str) -> Result<Option<String>, String>;
    /// Names in a directory, sorted; `None`: there is no such directory.
    fn list(&self, dir: &str) -> Result<Option<Vec<String>>, String>;
    /// The path without symbolic links; `None`: it leads nowhere.
    fn real_path(&self, path: &str) -> Result<Option<String>, String>;
    /// The device of the file system that a path is on, as the kernel says it (`st_dev`); `None`: that cannot be asked here.
    fn device_of(&self, path: &str) -> Option<DeviceNumber>;
    /// The LUKS header on a block device.
    fn luks(&self, device: &str) -> HeaderLook;
}

/// What stands at the beginning of a device, as far as the stack needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderLook {
    Found {
        uuid: String,
        claim: formats::luks::Claim,
    },
    /// No header is there.
    Absent,
    Unknown(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl DeviceNumber {
    fn of(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// What one layer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerKind {
    FileSystem,
    /// dm-crypt, by the name that cryptsetup gave it.
    Crypt,
    /// A mapping that changes no byte: LVM, multipath, integrity, verity.
    Mapping,
    /// A mapping of which sysfs does not say what it does.
    UnknownMapping,
    Raid,
    Partition,
    Loop,
    Disk,
    /// zram, tmpfs: nothing of it is on a disk of its own.
    Memory,
    /// It could not be looked at, or what is below cannot be seen from here.
    Hidden,
}

impl LayerKind {
    pub fn word(self: &LayerKind) -> &'static str {
        match self {
            Self::FileSystem => "file system",
            Self::Crypt => "dm-crypt",
            Self::Mapping => "mapping",
            Self::UnknownMapping => "unknown mapping",
            Self::Raid => "RAID",
            Self::Partition => "partition",
            Self::Loop => "loop device",
            Self::Disk => "disk",
            Self::Memory => "memory",
            Self::Hidden => "hidden",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub kind: LayerKind,
    /// `/dev/sda2`, `/var/lib/mysql`.
    pub name: String,
    /// For people: `ext4`, `LVM vg-data`, `raid1`, `LUKS2 5f2c…`.
    pub about: String,
    /// What this layer says by itself: of dm-crypt what its header claims; why it cannot be told; nothing of others.
    pub seen: Option<Coverage>,
    pub below: Vec<Layer>,
}

/// Whether what is written at the top is encrypted before it is on a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Coverage {
    Encrypted,
    Plain,
    /// On some ways down it is, on others not.
    Mixed,
    /// It is not written to a disk.
    Memory,
    Unknown(String),
}

impl Coverage {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Plain => "plain",
            Self::Mixed => "mixed",
            Self::Memory => "memory",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Of two ways down.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown(why), _) | (_, Self::Unknown(why)) => Self::Unknown(why),
            (one, other) if one == other => one,
            // What is in memory only does not weaken what is beside it.
            (Self::Memory, other) | (other, Self::Memory) => other,
            _ => Self::Mixed,
        }
    }
}

/// Deeper than any that is in use: LVM on LUKS on LVM on md on partitions has 12.
const DEPTH_MAX: usize = 32;
/// A RAID of 256 disks is larger than any that md makes.
const LAYERS_MAX: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    pub top: Layer,
}

impl Stack {
    /// What lies below a file or directory; `path` is absolute and without symbolic links.
    pub fn of_path(tree: &dyn Tree, path: &str) -> Self {
        Self { top: Walk::new(tree).path(path) }
    }

    /// A block device and what lies below it.
    pub fn of_device(tree: &dyn Tree, number: DeviceNumber) -> Self {
        Self { top: Walk::new(tree).device(number) }
    }

    /// Of each swap space, by its name.
    ///
    /// # Errors
    /// They cannot be listed.
    pub fn of_swaps(tree: &dyn Tree) -> Result<Vec<(String, Self)>, String> {
        let text = tree.read("/proc/swaps")?.ok_or("there is no /proc/swaps")?;
        let names = text.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next());
        let stack = |name: &str| {
            let name = mounts::unescaped(name);
            let mut walk = Walk::new(tree);
            let top = match walk.number_of_node(&name) {
                Ok(Some(number)) => walk.device(number),
                Ok(None) => walk.path(&name),
                Err(why) => hidden(&name, why),
            };
            (name, Self { top })
        };
        Ok(names.map(stack).collect())
    }

    pub fn coverage(&self) -> Coverage {
        coverage(&self.top)
    }

    /// Block devices that are dm-crypt's, from the top down.
    pub fn crypts(&self) -> Vec<&Layer> {
        fn walk<'l>(layer: &'l Layer, found: &mut Vec<&'l Layer>) {
            if layer.kind == LayerKind::Crypt {
                found.push(layer);
            }
            layer.below.iter().for_each(|below| walk(below, found));
        }
        let mut found = Vec::new();
        walk(&self.top, &mut found);
        found
    }
}

fn coverage(layer: &Layer) -> Coverage {
    let below = layer.below.iter().map(coverage).reduce(Coverage::and);
    // What is encrypted below is encrypted, whatever this layer does.
    if below == Some(Coverage::Encrypted) {
        return Coverage::Encrypted;
    }
    match (&layer.seen, below) {
        (Some(seen), _) => seen.clone(),
        (None, Some(below)) => below,
        (None, None) => Coverage::Unknown(format!("nothing is known of what is below {}", layer.name)),
    }
}

fn hidden(name: &str, why: String) -> Layer {
    Layer {
        kind: LayerKind::Hidden,
        name: name.to_owned(),
        about: why.clone(),
        seen: Some(Coverage::Unknown(why)),
        below: vec![],
    }
}

struct Walk<'t> {
    tree: &'t dyn Tree,
    /// On the way from the top to here.
    above: Vec<String>,
    layers: usize,
}

impl<'t> Walk<'t> {
    fn new(tree: &'t dyn Tree) -> Self {
        Self { tree, above: vec![], layers: 0 }
    }

    /// Goes into a layer, unless that leads in a circle or too far.
    fn within(&mut self, name: &str, look: impl FnOnce(&mut Self) -> Result<Layer, String>) -> Layer {
        self.layers += 1;
        if self.above.iter().any(|above| above == name) {
            return hidden(name, format!("{name} lies below itself: the layers go in a circle"));
        }
        if self.above.len() >= DEPTH_MAX || self.layers > LAYERS_MAX {
            return hidden(name, format!("more than {DEPTH_MAX} layers in depth, or {LAYERS_MAX} in all"));
        }
        self.above.push(name.to_owned());
        let layer = look(self).unwrap_or_else(|why| hidden(name, why));
        self.above.pop();
        layer
    }

    fn path(&mut self, path: &str) -> Layer {
        self.within(path, |walk| {
            let text = walk.tree.read("/proc/self/mountinfo")?.ok_or("there is no /proc/self/mountinfo")?;
            let mount = mounts::of_path(&text, path, walk.tree.device_of(path))?;
            let mut layer = Layer {
                kind: LayerKind::FileSystem,
                name: mount.point.clone(),
                about: mount.kind.clone(),
                seen: None,
                below: vec![],
            };
            match mounts::devices(&mount) {
                mounts::Devices::One(number) => layer.below.push(walk.device(number)),
                mounts::Devices::None => {
                    layer.kind = LayerKind::Memory;
                    layer.seen = Some(Coverage::Memory);
                }
                mounts::Devices::Hidden(why) => layer.seen = Some(Coverage::Unknown(why)),
            }
            Ok(layer)
        })
    }

    /// `None`: it is no block device.
    fn number_of_node(&self, node: &str) -> Result<Option<DeviceNumber>, String> {
        let real = self.tree.real_path(node)?.unwrap_or_else(|| node.to_owned());
        let Some(name) = real.strip_prefix("/dev/") else { return Ok(None) };
        let text = self.tree.read(&format!("/sys/class/block/{}/dev", name.replace('/', "!")))?;
        Ok(text.as_deref().and_then(DeviceNumber::of))
    }

    fn device(&mut self, number: DeviceNumber) -> Layer {
        self.within(&number.to_string(), |walk| {
            let link = format!("/sys/dev/block/{number}");
            let dir = walk
                .tree
                .real_path(&link)?
                .ok_or_else(|| format!("{link} leads nowhere: sysfs does not know that device"))?;
            walk.block(&dir)
        })
    }

    /// What a directory of sysfs says of a block device.
    fn block(&mut self, dir: &str) -> Result<Layer, String> {
        let read = |name: &str| self.tree.read(&format!("{dir}/{name}"));
        let word =
            |name: &str| Ok::<_, String>(read(name)?.map(|text| text.trim_end_matches('\n').to_owned()));
        let name = dir.rsplit('/').next().unwrap_or_default().to_owned();
        let mut layer = Layer {
            kind: LayerKind::Disk,
            name: format!("/dev/{}", name.replace('!', "/")),
            about: String::new(),
            seen: None,
            below: vec![],
        };
        let dm_uuid = word("dm/uuid")?;
        if let Some(dm_name) = word("dm/name")? {
            let uuid = dm_uuid.unwrap_or_default();
            layer.below = self.slaves(dir)?;
            self.mapping(&mut layer, &dm_name, &uuid);
        } else if let Some(level) = word("md/level")? {
            layer.kind = LayerKind::Raid;
            layer.about = level;
            layer.below = self.slaves(dir)?;
        } else if word("partition")?.is_some() {
            layer.kind = LayerKind::Partition;
            let (parent, _) = dir.rsplit_once('/').ok_or_else(|| format!("{dir} has no parent"))?;
            let number = self.tree.read(&format!("{parent}/dev"))?;
            let number = number.as_deref().and_then(DeviceNumber::of);
            let number = number.ok_or_else(|| format!("{parent}/dev names no device"))?;
            layer.below = vec![self.device(number)];
        } else if let Some(file) = word("loop/backing_file")? {
            layer.kind = LayerKind::Loop;
            layer.below = match file.strip_suffix(" (deleted)") {
                Some(gone) => vec![hidden(gone, format!("the file below {} was removed", layer.name))],
                None => match self.number_of_node(&file)? {
                    Some(number) => vec![self.device(number)],
                    None => vec![self.path(&file)],
                },
            };
            layer.about = file;
        } else if is_numbered(&name, "zram") {
            layer.kind = LayerKind::Memory;
            match word("backing_dev")?.as_deref() {
                Some("none") | None => layer.seen = Some(Coverage::Memory),
                Some(node) => {
                    layer.about = format!("writes back to {node}");
                    match self.number_of_node(node)? {
                        Some(number) => layer.below = vec![self.device(number)],
                        None => {
                            layer.below = vec![hidden(node, format!("{node} is no device that sysfs knows"))];
                        }
                    }
                }
            }
        } else if is_numbered(&name, "ram") {
            layer.kind = LayerKind::Memory;
            layer.seen = Some(Coverage::Memory);
        } else if let Some(far) = ["nbd", "rbd", "drbd"].into_iter().find(|far| is_numbered(&name, far)) {
            layer.kind = LayerKind::Hidden;
            layer.about = format!("{far}: what is behind it is not told by sysfs");
            layer.seen = Some(Coverage::Unknown(format!(
                "{} is a device of {far}: where its data lie is not told",
                layer.name
            )));
        } else {
            layer.below = self.slaves(dir)?;
            // A disk of a virtual machine, or one that encrypts by itself, looks the same: nothing here encrypts.
            layer.seen = layer.below.is_empty().then_some(Coverage::Plain);
        }
        Ok(layer)
    }

    fn slaves(&mut self, dir: &str) -> Result<Vec<Layer>, String> {
        let names = self.tree.list(&format!("{dir}/slaves"))?.unwrap_or_default();
        let mut layers = Vec::with_capacity(names.len());
        for name in names {
            let path = format!("{dir}/slaves/{name}/dev");
            layers.push(match self.tree.read(&path)?.as_deref().and_then(DeviceNumber::of) {
                Some(number) => self.device(number),
                None => hidden(&name, format!("{path} names no device")),
            });
        }
        Ok(layers)
    }

    /// # Source
    /// `dm_prepare_uuid` of cryptsetup: CRYPT-, the type, the volume's UUID without dashes, the name. LVM-, mpath- and partN-mpath- are
    /// those of lvm2 and multipath-tools.
    fn mapping(&self, layer: &mut Layer, dm_name: &str, uuid: &str) {
        let mut parts = uuid.splitn(4, '-');
        let (first, kind, volume) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        layer.kind = LayerKind::Mapping;
        dm_name.clone_into(&mut layer.about);
        match (first, kind) {
            ("CRYPT", "LUKS1" | "LUKS2") => {
                layer.kind = LayerKind::Crypt;
                layer.about = format!("{kind} {dm_name}");
                layer.seen = Some(self.crypt(layer, volume));
            }
            ("CRYPT", "VERITY" | "INTEGRITY" | "SUBDEV") | ("LVM" | "mpath", _) => {}
            ("CRYPT", _) => {
                layer.kind = LayerKind::Crypt;
                layer.about = format!("{} {dm_name}", kind.to_ascii_lowercase());
                layer.seen = Some(Coverage::Unknown(format!(
                    "{dm_name} has no LUKS header, and sysfs does not tell its cipher (dmsetup table {dm_name} does)"
                )));
            }
            (part, "mpath") if is_numbered(part, "part") => {}
            _ => {
                layer.kind = LayerKind::UnknownMapping;
                let of = if uuid.is_empty() {
                    "it has no dm/uuid".to_owned()
                } else {
                    format!("its dm/uuid is {uuid}")
                };
                layer.seen = Some(Coverage::Unknown(format!(
                    "what {dm_name} does is not told by sysfs: {of} (dmsetup table {dm_name} does)"
                )));
            }
        }
    }

    /// The name of a mapping is what its maker said; the header of what is below says with which cipher.
    fn crypt(&self, layer: &Layer, volume: &str) -> Coverage {
        use formats::luks::Claim;
        let unknown = |why: String| Coverage::Unknown(format!("{}: {why}", layer.name));
        let [below] = layer.below.as_slice() else {
            return unknown(format!("{} devices are below it, not one", layer.below.len()));
        };
        match self.tree.luks(&below.name) {
            HeaderLook::Found { uuid, claim } if uuid.replace('-', "") == volume => match claim {
                Claim::Encrypted => Coverage::Encrypted,
                Claim::Plain(_) => Coverage::Plain,
                Claim::Unclear(why) => unknown(why),
            },
            HeaderLook::Found { uuid, .. } => {
                unknown(format!("the header on {} is of another volume, {uuid}", below.name))
            }
            HeaderLook::Absent => unknown(format!("no header is on {}: it lies elsewhere", below.name)),
            HeaderLook::Unknown(why) => {
                unknown(format!("the header on {} cannot be read: {why}", below.name))
            }
        }
    }
}

/// `zram0`, `nbd12`; not `zramble`.
fn is_numbered(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}
