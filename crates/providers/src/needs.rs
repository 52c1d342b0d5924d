//! What steps need on machines, asked before they are begun: room on file systems.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host::{HostError, Local, ReadHost};
use model::{LinkKind, Need, NodeName, Step};

use crate::preflight::{Problem, problem};
use crate::steps::ProveParams;
use crate::world::World;

/// Left over beside what the steps write: copies of the journal, leases, and logs of others go on. A full disk is found before,
/// not during.
const SPARE_BYTES: u64 = 8 * 1024 * 1024;
/// Key, certificate and CA of one node. With RSA keys of 4096 bits they are some 8 kB.
const KEY_FILES_BYTES: u64 = 32 * 1024;

/// Room for one set of key files in a directory.
pub fn key_files(node: Option<&NodeName>, dir: &Path) -> Need {
    Need::Space { node: node.cloned(), dir: dir.to_owned(), bytes: KEY_FILES_BYTES }
}

/// Room for a new version of a file beside the old one, and for a copy of each in the node's `state_dir`.
pub fn file_edit(node: &NodeName, file: &Path, state_dir: &Path, before: &[u8], after: &[u8]) -> Vec<Need> {
    let space = |dir: &Path, bytes: usize| Need::Space {
        node: Some(node.clone()),
        dir: dir.to_owned(),
        bytes: bytes as u64,
    };
    let dir = file.parent().unwrap_or(Path::new("/"));
    vec![space(dir, after.len()), space(state_dir, before.len() + after.len())]
}

/// The nearest directory above `path`, or itself, that is there.
///
/// # Errors
/// That cannot be determined.
pub fn existing(host: &dyn ReadHost, path: &Path) -> Result<PathBuf, HostError> {
    for dir in path.ancestors() {
        if host.facts(dir)?.is_some_and(|facts| facts.is_dir) {
            return Ok(dir.to_owned());
        }
    }
    Ok(PathBuf::from("/"))
}

/// A directory on a node; `None`: on the operator's own machine.
type Place = (Option<NodeName>, PathBuf);

/// What is written in one place, and the steps that write it.
#[derive(Default)]
struct Wanted<'s> {
    bytes: u64,
    steps: Vec<&'s str>,
}

/// What is lacking for all of `steps` together, one after the other. Each directory is asked for what is written there; two of one
/// file system are not added up.
pub fn lacking<'s>(world: &mut World<'_>, steps: impl IntoIterator<Item = &'s Step>) -> Vec<Problem> {
    let mut places: BTreeMap<Place, Wanted<'s>> = BTreeMap::new();
    for step in steps {
        for Need::Space { node, dir, bytes } in &step.nature.needs {
            let wanted = places.entry((node.clone(), dir.clone())).or_default();
            wanted.bytes = wanted.bytes.saturating_add(*bytes);
            if wanted.steps.last() != Some(&step.id.0.as_str()) {
                wanted.steps.push(&step.id.0);
            }
        }
    }
    places.iter().filter_map(|(place, wanted)| room(world, place, wanted)).collect()
}

/// What the captures of `steps` would not show. A change that nobody can see to its end is not begun.
pub fn unseen<'s>(world: &mut World<'_>, steps: impl IntoIterator<Item = &'s Step>) -> Vec<Problem> {
    let must_see =
        |step: &&Step| crate::steps::named(&step.kind).is_some_and(|kind| kind.must_see(world, step));
    let looks: Vec<&Step> = steps.into_iter().filter(must_see).collect();
    if looks.is_empty() {
        return Vec::new();
    }
    let next = "run sealion where that traffic passes, with the right to capture; or accept that nothing is verified: \
                --accept-unproven, and --accept-unknown-clients where TLS is to be required";
    // Nothing listens yet on a server that is to join. What hides its traffic all the same is told when it is looked at.
    let joiner = world.joiner.as_ref().map(ToString::to_string);
    let unseen = world.look.unseen().into_iter().filter(|one| Some(&one.subject) != joiner.as_ref());
    let mut problems: Vec<Problem> =
        unseen.map(|one| problem(one.subject, "its connections cannot be captured", one.why, next)).collect();
    let proves_clients = |step: &&Step| {
        serde_json::from_value::<ProveParams>(step.params.clone())
            .is_ok_and(|params| params.kinds.contains(&LinkKind::Client))
    };
    if problems.is_empty() && looks.iter().any(proves_clients) {
        let next = "create the account at the nodes' own addresses too (sealion grants enable --account NAME@ADDRESS prints the statements), or correct \
                    the node's address in the inventory; or accept that it is not tried: --accept-unproven";
        let refused = world.look.no_tcp_login().into_iter();
        let refused = refused.filter(|one| Some(&one.subject) != joiner.as_ref());
        problems.extend(refused.map(|one| {
            problem(
                one.subject,
                "the inventory's account is not let in over TCP, so whether clients need TLS there cannot be tried",
                one.why,
                next,
            )
        }));
    }
    problems
}

fn room(world: &mut World<'_>, (node, dir): &Place, wanted: &Wanted<'_>) -> Option<Problem> {
    let subject = node.as_ref().map_or_else(|| "this machine".to_owned(), ToString::to_string);
    let host: &dyn ReadHost = match node {
        None => &Local,
        Some(name) => match world.member(name) {
            Ok(node) => node.host(),
            Err(error) => return Some(problem(subject, "it is not known", error.0, "check the inventory")),
        },
    };
    let bytes = wanted.bytes.saturating_add(SPARE_BYTES);
    let free = existing(host, dir).and_then(|there| Ok((host.free_bytes(&there)?, there)));
    match free {
        Ok((free, there)) if free < bytes => Some(problem(
            subject,
            format!("the disk of {} is full", there.display()),
            format!(
                "{free} bytes are free, {bytes} are wanted: {} in {} for {}, the rest to spare",
                wanted.bytes,
                dir.display(),
                wanted.steps.join(", ")
            ),
            "make room, then try again",
        )),
        Ok(_) => None,
        Err(error) => {
            Some(problem(subject, "free space cannot be seen", error.to_string(), "check the path"))
        }
    }
}
