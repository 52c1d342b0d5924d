//! The key file and what opens it are put on a server, as they came out of the escrow, before anything refers to them.

use std::path::Path;
use std::rc::Rc;

use change::{Direction, StepCheck, StepError};
use escrow::KeySet;
use model::{NodeName, Step};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use server::{NodeError, WriteNode};

use crate::rest::keys::{self, KEY_FILE, PASS_FILE};
use crate::steps::{StepKind, fail, only_node, params};
use crate::world::World;

pub struct DataKeys;
pub const DATA_KEYS: DataKeys = DataKeys;

pub const KEY_FILE_BYTES_MAX: u64 = 1024 * 1024;
/// The variable that names the key file of a running server.
pub const FILENAME: &str = "file_key_management_filename";

#[derive(Debug, Serialize, Deserialize)]
pub struct DataKeysParams {
    /// The name of the copy in the escrow.
    pub entry: String,
    /// The directory that they lie in.
    #[serde(default = "first_dir")]
    pub dir: String,
    /// Its way forward removes them: they are replaced by others.
    #[serde(default)]
    pub removes: bool,
}

/// A set of keys: its copy in the escrow, and the directory in which it lies on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    pub entry: String,
    pub dir: String,
}

impl Placed {
    /// Keys that a server starts with, or goes on with alone, are those of the escrow to the byte: whatever is encrypted with others, somebody's
    /// one file opens, and nothing else.
    ///
    /// # Errors
    /// They are not, and `then` what was not done.
    pub fn is_as_sealed(&self, world: &mut World<'_>, name: &NodeName, then: &str) -> Result<(), StepError> {
        let set = opened(world, &self.entry)?;
        let node = world.node(name)?;
        let dir = keys::dir_named(node.spec(), &self.dir);
        for file in [KEY_FILE, PASS_FILE] {
            let how = match lies(node, &dir, &set, file)? {
                Lies::Same => continue,
                Lies::Absent => "is not there",
                Lies::Other => "is another one than the escrow has",
            };
            return Err(fail(format!(
                "{name} {then}\n  why:  {} {how} ({}.age), and what is encrypted with keys that the escrow does not have is lost with one file\n  \
                 next: keep a copy of what lies there; sealion diagnose {name} says whether its data needs it; if not: sealion keys restore {name} \
                 --entry {}, then sealion resume; otherwise sealion undo",
                dir.join(file).display(),
                self.entry,
                self.entry
            )));
        }
        Ok(())
    }
}

fn first_dir() -> String {
    keys::DIR.into()
}

impl DataKeysParams {
    fn goes(&self, direction: Direction) -> bool {
        self.removes == (direction == Direction::Forward)
    }
}

/// How a file lies there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lies {
    Absent,
    Same,
    Other,
}

fn lies(node: &dyn WriteNode, dir: &Path, set: &KeySet, name: &str) -> Result<Lies, StepError> {
    let path = dir.join(name);
    let kept = set.file(name).ok_or_else(|| fail(format!("the copy in the escrow has no {name}")))?;
    Ok(match node.host().read(&path, KEY_FILE_BYTES_MAX).map_err(fail)? {
        None => Lies::Absent,
        Some(bytes) if bytes == kept.bytes.expose_secret() => Lies::Same,
        Some(_) => Lies::Other,
    })
}

pub fn opened(world: &mut World<'_>, entry: &str) -> Result<Rc<KeySet>, StepError> {
    if let Some((_, set)) = world.recent.opened.as_ref().filter(|(name, _)| name == entry) {
        return Ok(Rc::clone(set));
    }
    let missing = || {
        fail(format!(
            "the copy {entry} is not in {}\n  why:  keys come onto a server from there only\n  next: bring the file back from a backup of this \
             machine, then sealion resume",
            world.escrow.dir().display()
        ))
    };
    let set = Rc::new(world.escrow.get(entry).map_err(fail)?.ok_or_else(missing)?);
    world.recent.opened = Some((entry.to_owned(), Rc::clone(&set)));
    Ok(set)
}

/// What still needs the key file: the running server, or what it reads at its next start.
fn in_use(world: &mut World<'_>, name: &NodeName, dir: &str) -> Result<Option<String>, StepError> {
    let node = world.node(name)?;
    let ours = keys::dir_named(node.spec(), dir).join(KEY_FILE).display().to_string();
    match node.view() {
        Ok(view) if view.variable(FILENAME) == Some(ours.as_str()) => {
            return Ok(Some("the running server has it loaded".into()));
        }
        Ok(_) | Err(NodeError::Down { .. }) => {}
        Err(error) => return Err(fail(error)),
    }
    let files = node.effective().map_err(fail)?;
    let is_named =
        files.effective(FILENAME).is_some_and(|setting| setting.value.as_deref() == Some(ours.as_str()));
    Ok(is_named.then(|| format!("{FILENAME} in an option file names it")))
}

impl StepKind for DataKeys {
    fn kind(&self) -> &'static str {
        "data-keys"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: DataKeysParams = params(step)?;
        let name = only_node(step)?;
        if wish.goes(direction) {
            if let Some(user) = in_use(world, &name, &wish.dir)? {
                return Ok(StepCheck::Blocked(format!(
                    "{name}: the key file is not removed\n  why:  {user}\n  next: sealion status rest; undo or disable what uses it first"
                )));
            }
            let node = world.node(&name)?;
            let dir = keys::dir_named(node.spec(), &wish.dir);
            let is_there = node.host().facts(&dir).map_err(fail)?.is_some();
            return Ok(if is_there {
                StepCheck::Ready
            } else {
                StepCheck::AlreadyDone("no key file left".into())
            });
        }
        let set = opened(world, &wish.entry)?;
        let node = world.node(&name)?;
        let dir = keys::dir_named(node.spec(), &wish.dir);
        let both = [lies(node, &dir, &set, KEY_FILE)?, lies(node, &dir, &set, PASS_FILE)?];
        Ok(match both {
            [Lies::Same, Lies::Same] => StepCheck::AlreadyDone(format!("{} is in place", dir.display())),
            [Lies::Other, _] | [_, Lies::Other] => StepCheck::Blocked(format!(
                "{name}: the keys are not written\n  why:  other ones lie in {}, and something may need them\n  next: see what they are; \
                 move them away where nothing needs them, then sealion resume",
                dir.display()
            )),
            _ => StepCheck::Ready,
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: DataKeysParams = params(step)?;
        let name = only_node(step)?;
        let set = opened(world, &wish.entry)?;
        let node = world.node(&name)?;
        let dir = keys::dir_named(node.spec(), &wish.dir);
        if wish.goes(direction) {
            // Only what is sealed elsewhere, to the byte, is removed here.
            for file in [KEY_FILE, PASS_FILE] {
                if lies(node, &dir, &set, file)? == Lies::Same {
                    node.write_host().remove(&dir.join(file)).map_err(fail)?;
                }
            }
            return node.write_host().remove_dir(&dir).map_err(fail);
        }
        let owner = node.owner().ok_or_else(|| {
            fail(format!(
                "{name}: as which user the server runs, who must read the keys, cannot be determined"
            ))
        })?;
        node.write_host().make_dir(&dir, 0o700, Some(owner)).map_err(fail)?;
        for file in [PASS_FILE, KEY_FILE] {
            let Some(kept) = set.file(file) else { continue };
            node.write_host()
                .write(&dir.join(file), kept.bytes.expose_secret(), Some(0o600), Some(owner))
                .map_err(fail)?;
        }
        Ok(())
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: DataKeysParams = params(step)?;
        let name = only_node(step)?;
        if wish.goes(direction) {
            let node = world.node(&name)?;
            let dir = keys::dir_named(node.spec(), &wish.dir);
            return Ok(match node.host().facts(&dir).map_err(fail)? {
                None => format!("removed; {} in the escrow stays", wish.entry),
                Some(_) => format!("what sealion did not write was left in {}", dir.display()),
            });
        }
        let set = opened(world, &wish.entry)?;
        let node = world.node(&name)?;
        let dir = keys::dir_named(node.spec(), &wish.dir);
        let uid = node.owner().map(|(uid, _)| uid);
        for file in [KEY_FILE, PASS_FILE] {
            if lies(node, &dir, &set, file)? != Lies::Same {
                return Err(fail(format!("{} is not what the escrow holds", dir.join(file).display())));
            }
            let facts = node.host().facts(&dir.join(file)).map_err(fail)?;
            let facts = facts.ok_or_else(|| fail(format!("{} is gone", dir.join(file).display())))?;
            if facts.mode & 0o077 != 0 {
                return Err(fail(format!(
                    "{} can be read by others (mode {:o})",
                    dir.join(file).display(),
                    facts.mode
                )));
            }
            if uid.is_some_and(|uid| uid != facts.uid) {
                return Err(fail(format!(
                    "{} does not belong to the server's user",
                    dir.join(file).display()
                )));
            }
        }
        Ok(format!("as in the escrow ({}); 0600, owned by the server's user", wish.entry))
    }
}
