//! `sealion prove tour`: the classic attacks on MySQL traffic, one after another, on real servers of one's own: the attack
//! succeeding, the setting that stops it, and the attack failing.
//!
//! [`scene`] has the servers, the clients and the eavesdropper; each part is a file of its own, and [`PARTS`] registers it.
//! Nothing is decided by what ought to happen: each act says what was seen, and whether the attack succeeded by that.
//! Left out: NDB, of which nothing is run; what is said of it says so.

mod certificates;
mod loose_ends;
mod names;
mod rsa_key;
pub mod scene;
mod sniffing;
mod stripping;

use std::sync::atomic::{AtomicBool, Ordering};

use scene::Scene;
use site::OpsError;

/// An attack, played once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// The client, with the words that matter.
    pub command: String,
    /// What was seen; each a sentence, from the run.
    pub saw: Vec<String>,
    pub succeeded: bool,
}

/// The attack, what stops it, and the attack again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// Never changes its meaning.
    pub id: &'static str,
    pub title: &'static str,
    /// What the attacker does.
    pub does: &'static str,
    pub attack: Act,
    /// What stops it.
    pub setting: &'static str,
    pub again: Act,
}

impl Lesson {
    /// The attack succeeded, and does not any more: the lesson is what it says.
    pub fn is_shown(&self) -> bool {
        self.attack.succeeded && !self.again.succeeded
    }
}

/// One of the six parts, as it was played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    pub id: &'static str,
    pub title: &'static str,
    /// What it is about, for a class.
    pub story: &'static str,
    pub lessons: Vec<Lesson>,
    /// What is known and was not played.
    pub notes: Vec<&'static str>,
}

impl Chapter {
    pub fn is_shown(&self) -> bool {
        !self.lessons.is_empty() && self.lessons.iter().all(Lesson::is_shown)
    }
}

/// A part, as it is registered.
#[derive(Debug)]
pub struct Part {
    pub id: &'static str,
    pub title: &'static str,
    pub story: &'static str,
    pub notes: &'static [&'static str],
    play: fn(&Scene) -> Result<Vec<Lesson>, OpsError>,
}

/// In the order of the tour.
pub const PARTS: &[&Part] = &[
    &sniffing::PART,
    &stripping::PART,
    &certificates::PART,
    &names::PART,
    &rsa_key::PART,
    &loose_ends::PART,
];

/// A part by its id.
pub fn part(id: &str) -> Option<&'static Part> {
    PARTS.iter().copied().find(|part| part.id == id)
}

/// What was played, and on what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tour {
    /// Name and version of each server and client, as they say.
    pub programs: Vec<(String, String)>,
    pub chapters: Vec<Chapter>,
    /// Parts that were wished and not played, because somebody ended it.
    pub is_complete: bool,
}

impl Tour {
    /// Each attack succeeded, and was stopped.
    pub fn is_shown(&self) -> bool {
        self.is_complete && self.chapters.iter().all(Chapter::is_shown)
    }
}

/// Plays these parts. This process must have one thread: it enters a network of its own, which goes with it.
///
/// # Errors
/// No servers, no namespace, or a client that fails for a reason that is none of the attack's.
pub fn tour(
    parts: &[&'static Part],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&str),
    each: &mut dyn FnMut(&Chapter),
) -> Result<Tour, OpsError> {
    tell("starting a MariaDB and a MySQL server in a network namespace");
    let scene = Scene::set()?;
    let mut chapters = vec![];
    for part in parts {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        tell(part.title);
        let lessons = (part.play)(&scene)?;
        let Part { id, title, story, .. } = *part;
        let chapter = Chapter { id, title, story, lessons, notes: part.notes.to_vec() };
        tell("");
        each(&chapter);
        chapters.push(chapter);
    }
    Ok(Tour { programs: scene.programs()?, is_complete: chapters.len() == parts.len(), chapters })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(succeeded: bool) -> Act {
        Act { command: "mysql".into(), saw: vec![], succeeded }
    }

    #[test]
    fn a_lesson_is_shown_only_by_an_attack_that_succeeds_and_then_fails() {
        for (first, then, shown) in
            [(true, false, true), (true, true, false), (false, false, false), (false, true, false)]
        {
            let lesson =
                Lesson { id: "x", title: "", does: "", attack: act(first), setting: "", again: act(then) };
            assert_eq!(lesson.is_shown(), shown, "{first} {then}");
        }
        let empty = Chapter { id: "x", title: "", story: "", lessons: vec![], notes: vec![] };
        assert!(!empty.is_shown(), "nothing was shown");
    }

    #[test]
    fn there_are_six_parts_with_ids_of_their_own() {
        let mut ids: Vec<&str> = PARTS.iter().map(|part| part.id).collect();
        assert_eq!(ids, ["sniffing", "stripping", "untrusted-ca", "host-names", "rsa-key", "loose-ends"]);
        ids.dedup();
        assert_eq!(ids.len(), PARTS.len());
        assert!(part("rsa-key").is_some() && part("nothing").is_none());
    }
}
