//! What the new server holds, which a state transfer would replace; and whether there is room for what it gets.

use std::path::{Path, PathBuf};

use host::{HostError, ReadHost};
use model::NodeName;

use super::{Members, Problem, problem};
use crate::galera::alone;
use crate::world::World;

/// Directories of a data directory that no user made.
const OWN: [&str; 4] = ["mysql", "performance_schema", "sys", "lost+found"];
const GRASTATE_BYTES_MAX: u64 = 4096;
/// So many files are asked for their size; a donor with more is not added up.
const FILES_MAX: usize = 4000;
/// So many schemas are named.
const NAMED_MAX: usize = 5;
/// Beside the data itself: redo log, gcache and what is written meanwhile.
const SPARE_BYTES: u64 = 256 << 20;

pub fn check(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Vec<Problem> {
    let replaces = world.replace_data;
    let Ok(node) = world.node(joiner) else { return vec![] };
    let Some(dir) = server::owner::datadir(node.reading()) else {
        return vec![problem(
            joiner,
            "its data directory is not known",
            "its option files do not set datadir, so nobody can say what a state transfer would replace",
            "write datadir=/var/lib/mysql (or where it is) into its option file",
        )];
    };
    match node.host().facts(&dir) {
        Ok(Some(facts)) if facts.is_dir => {}
        Ok(_) => {
            return vec![problem(
                joiner,
                format!("its data directory {} is not there", dir.display()),
                "the server would not start",
                format!(
                    "create it for the server's user: install -d -m 0750 -o mysql -g mysql {}",
                    dir.display()
                ),
            )];
        }
        Err(error) => return vec![unknown(joiner, &dir, &error)],
    }
    let mut problems = Vec::new();
    match held(node.host(), &dir) {
        Err(error) => problems.push(unknown(joiner, &dir, &error)),
        Ok(held) => {
            let is_of_cluster = held.state_uuid.as_deref() == Some(members.state_uuid.as_str());
            if !held.schemas.is_empty() && !is_of_cluster && !replaces {
                let more = held.schemas.len().saturating_sub(NAMED_MAX);
                let mut named: Vec<String> = held.schemas.into_iter().take(NAMED_MAX).collect();
                if more > 0 {
                    named.push(format!("{more} more"));
                }
                problems.push(problem(
                    joiner,
                    format!("its data directory {} holds schemas of users", dir.display()),
                    format!(
                        "{}: they are not of this cluster, and a state transfer removes them",
                        named.join(", ")
                    ),
                    "see whether anybody needs them, and save them; then join again with --replace-data",
                ));
            }
        }
    }
    problems.extend(room(world, joiner, &dir, members).err());
    problems
}

/// An earlier join has seen it in a cluster of its own.
pub fn ran_alone(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Option<Problem> {
    match alone::stands_against(world.node(joiner).ok()?, &members.state_uuid) {
        Ok(None) => None,
        Ok(Some((why, next))) => Some(problem(
            joiner,
            "its data is not that of the members",
            why,
            format!("{next}; then join again"),
        )),
        Err(error) => Some(problem(
            joiner,
            "whether it has run in a cluster of its own cannot be determined",
            error.0,
            "run sealion as a user who may read its state_dir there",
        )),
    }
}

fn unknown(joiner: &NodeName, dir: &Path, error: &HostError) -> Problem {
    problem(
        joiner,
        format!("what its data directory {} holds cannot be determined", dir.display()),
        error.to_string(),
        "run sealion as a user who may read it (root, or the server's own)",
    )
}

struct Held {
    schemas: Vec<String>,
    /// Of the cluster of which it was a member before.
    state_uuid: Option<String>,
}

fn held(host: &dyn ReadHost, dir: &Path) -> Result<Held, HostError> {
    let mut schemas = Vec::new();
    for path in host.list(dir)? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if OWN.contains(&name.as_str()) || name.starts_with(['#', '.']) {
            continue;
        }
        if host.facts(&path)?.is_some_and(|facts| facts.is_dir) {
            // mariadb-install-db of older versions makes an empty one.
            let is_empty_test = name == "test"
                && host.list(&path)?.iter().all(|file| file.file_name().is_some_and(|name| name == "db.opt"));
            if !is_empty_test {
                schemas.push(name);
            }
        }
    }
    let bytes = host.read(&dir.join("grastate.dat"), GRASTATE_BYTES_MAX)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let uuid = text.lines().find_map(|line| line.strip_prefix("uuid:")).map(|uuid| uuid.trim().to_owned());
    Ok(Held { schemas, state_uuid: uuid })
}

/// Bytes of all files below `dir`; `None`: too many to be added up.
fn bytes_below(host: &dyn ReadHost, dir: &Path) -> Result<Option<u64>, HostError> {
    let (mut bytes, mut files) = (0_u64, 0_usize);
    let mut left: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for path in host.list(&dir)? {
            files += 1;
            if files > FILES_MAX {
                return Ok(None);
            }
            // What was removed meanwhile takes no room.
            match host.facts(&path)? {
                Some(facts) if facts.is_dir && !facts.is_symlink => left.push(path),
                Some(facts) => bytes = bytes.saturating_add(facts.bytes),
                None => {}
            }
        }
    }
    Ok(Some(bytes))
}

/// What is not known of the room for the data; nothing where it suffices.
///
/// # Errors
/// It does not.
fn room(
    world: &mut World<'_>,
    joiner: &NodeName,
    dir: &Path,
    members: &Members,
) -> Result<Option<String>, Problem> {
    let not_known = |why: String| {
        Ok(Some(format!("whether the disk of {joiner} has room for the data cannot be determined: {why}")))
    };
    let Some(donor) = members.names.first() else { return Ok(None) };
    let wanted = match world.node(donor) {
        Ok(node) => match server::owner::datadir(node.reading()) {
            Some(data) => bytes_below(node.host(), &data).map_err(|error| format!("{donor}: {error}")),
            None => Err(format!("the option files of {donor} do not set datadir")),
        },
        Err(error) => Err(error.0),
    };
    let wanted = match wanted {
        Ok(Some(bytes)) => bytes.saturating_add(SPARE_BYTES),
        Ok(None) => return not_known(format!("{donor} has more than {FILES_MAX} files")),
        Err(why) => return not_known(why),
    };
    let Ok(node) = world.node(joiner) else { return Ok(None) };
    let has = (|| {
        let own = bytes_below(node.host(), dir)?.unwrap_or(0);
        Ok::<_, HostError>(node.host().free_bytes(dir)?.saturating_add(own))
    })();
    match has {
        Err(error) => not_known(error.to_string()),
        Ok(has) if has < wanted => Err(problem(
            joiner,
            format!("the disk of {} is too small for the data of the cluster", dir.display()),
            format!(
                "{has} bytes are free there or would be, {wanted} are wanted: what {donor} has in its data directory, and {SPARE_BYTES} to spare"
            ),
            "make room, then try again",
        )),
        Ok(_) => Ok(None),
    }
}

/// What could not be seen before the server runs, for the plan.
pub fn cannot_tell(world: &mut World<'_>, joiner: &NodeName, members: &Members) -> Vec<String> {
    let Ok(node) = world.node(joiner) else { return vec![] };
    let Some(dir) = server::owner::datadir(node.reading()) else { return vec![] };
    room(world, joiner, &dir, members).ok().flatten().into_iter().collect()
}
