//! What some links carry: up to three looks, since a link can be silent for a while and a dropped packet makes one capture
//! useless; neither is a verdict.

use std::time::Duration;

use model::link::some_of;
use model::text::{counted, said, subjects};
use model::{LinkKind, LinkSight, LookError, Seen, WireLook};

use crate::world::World;

const LOOKS_MAX: usize = 3;
/// So many clients of a link are named.
const NAMED_MAX: usize = 8;

/// What the looks together say.
pub enum Watched {
    /// Cleartext was seen on these.
    Plain(Vec<String>),
    /// So many links carried TLS and nothing else. `nobody`: client links on which nobody but sealion was connected over TCP, so
    /// that nothing could have been seen there.
    Sealed {
        sealed: usize,
        nobody: Vec<String>,
        /// Logins in cleartext that were refused: no session, but the login could be read.
        refused: Vec<String>,
    },
    Unknown(String),
    NotPermitted {
        why: String,
        next: String,
    },
}

pub fn watch(world: &mut World<'_>, kinds: &[LinkKind], settle_ms: u64) -> Watched {
    let named: Vec<String> = world.all_names().iter().map(ToString::to_string).collect();
    let what = WireLook { settle: Duration::from_millis(settle_ms), canaries: true, nodes: named.clone() };
    let mut unknown = String::new();
    for _ in 0..LOOKS_MAX {
        let looked = world.look.wire(&what);
        for left in world.look.left_behind() {
            world.say(&left);
        }
        let sights = match looked {
            Ok(sights) => sights,
            Err(LookError::NotPermitted { why, next }) => return Watched::NotPermitted { why, next },
            Err(LookError::Failed { why }) => {
                unknown = why;
                continue;
            }
        };
        let Judged { plain, open, nobody, refused, sealed } = Judged::of(&sights, kinds, &named);
        if !plain.is_empty() {
            return Watched::Plain(plain);
        }
        if open.is_empty() && sealed + nobody.len() > 0 {
            return Watched::Sealed { sealed, nobody, refused };
        }
        unknown = if open.is_empty() {
            "no link was seen at all".into()
        } else {
            reasons(&open).join("\n        ")
        };
    }
    Watched::Unknown(unknown)
}

/// What one look saw of the links of some kinds, in words.
#[derive(Debug, Default)]
struct Judged {
    plain: Vec<String>,
    /// Not known, each with its reason.
    open: Vec<(String, String)>,
    nobody: Vec<String>,
    refused: Vec<String>,
    sealed: usize,
}

impl Judged {
    fn of(sights: &[LinkSight], kinds: &[LinkKind], named: &[String]) -> Self {
        let mut judged = Self::default();
        for sight in sights.iter().filter(|sight| kinds.contains(&sight.link.kind)) {
            let link = sight.link.to_string();
            let link = said(&link);
            let name = |login| format!("{login} on {link}");
            judged.refused.extend(sight.refused_logins.iter().map(name));
            match &sight.seen {
                Seen::Plain => judged.plain.push(described(sight) + &strangers(sight, named)),
                Seen::Unknown(_) if sight.has_no_clients() => {
                    judged.nobody.push(sight.link.node().to_owned());
                }
                Seen::Unknown(why) => judged.open.push((link.to_owned(), why.clone())),
                Seen::Sealed => judged.sealed += 1,
            }
        }
        judged
    }
}

/// The link, with those who spoke cleartext on it.
fn described(sight: &LinkSight) -> String {
    let link = sight.link.to_string();
    match sight.cleartext_clients.as_slice() {
        [] => format!("{} ({})", said(&link), counted(sight.canaries, "canary", "canaries")),
        clients => format!("{}: {}", said(&link), some_of(clients, NAMED_MAX)),
    }
}

/// A member that the inventory does not have is locked out by no change.
fn strangers(sight: &LinkSight, named: &[String]) -> String {
    let ends = [&sight.link.a, &sight.link.b];
    match ends.into_iter().find(|end| sight.link.kind == LinkKind::Galera && !named.contains(end)) {
        Some(end) => format!(
            "; {end} is not in the inventory: if it is an arbitrator, add it as an [[arbitrator]] and plan again, else stop it"
        ),
        None => String::new(),
    }
}

/// A line for each reason, with all links of which it is said.
fn reasons(open: &[(String, String)]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (link, why) in open {
        match groups.iter_mut().find(|(known, _)| known == why) {
            Some((_, links)) => links.push(link.clone()),
            None => groups.push((why, vec![link.clone()])),
        }
    }
    let named = |links: &[String]| {
        let (shown, rest) = links.split_at(links.len().min(NAMED_MAX));
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        format!("{}{more}", subjects(&shown.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    groups.iter().map(|(why, links)| format!("{}: {why}", named(links))).collect()
}

/// Of refused logins, behind a note; nothing where there was none.
pub fn refused_in_words(refused: &[String]) -> String {
    if refused.is_empty() {
        return String::new();
    }
    format!(
        "; cleartext logins were refused (no session followed, but the login packet could be read): {}",
        some_of(refused, NAMED_MAX)
    )
}
