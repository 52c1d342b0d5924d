//! Whether the keys of a node lie with its data, said before they are placed there and at the end.

use disk::key_place;
use model::NodeName;

use super::keys::{self, KEY_FILE, PASS_FILE};
use crate::world::World;

/// `None`: they do not. `dir` is the directory with the keys.
pub fn line(world: &mut World<'_>, name: &NodeName, datadir: Option<&str>, dir: &str) -> Option<String> {
    let node = world.node(name).ok()?;
    let dir = keys::dir_named(node.spec(), dir);
    let cannot_tell = |why: &str| {
        Some(format!(
            "{name}: whether the keys in {} lie on a disk of the data cannot be determined: {why}",
            dir.display()
        ))
    };
    let Some(datadir) = datadir.filter(|datadir| !datadir.is_empty()) else {
        return cannot_tell("the server does not name its data directory");
    };
    let needed = [dir.join(KEY_FILE), dir.join(PASS_FILE)];
    let place = key_place::of(&*node.host().tree(), datadir.as_ref(), &[&needed[0], &needed[1]]);
    match &place {
        key_place::KeyPlace::Unknown(why) => cannot_tell(why),
        place if place.is_with_data() => Some(format!(
            "{name}: the keys in {} and their passphrase are {place}, and reads the tables. Backups of the data directory alone stay unreadable; \
             against a stolen disk put {} on another disk or on tmpfs, or the data on LUKS",
            dir.display(),
            dir.display()
        )),
        _ => None,
    }
}
