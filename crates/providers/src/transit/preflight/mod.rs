//! Why a change may not be done, all reasons at once, before anything is touched. One check a file; [`CHECKS`] is the
//! register, in the order in which reasons are shown.

mod command_line;
mod flavour;
mod gcache;
mod live_and_file;
mod managed;
mod members;
mod own_settings;
mod place;
mod ports;
pub mod set_live;
mod sst_method;
mod trust_files;

use model::{Change, NodeName};
use server::{NodeError, NodeView};

use super::world::Transit;

/// One reason, for one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub subject: String,
    pub what: String,
    pub why: String,
    pub next: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}\n  why:  {}\n  next: {}", self.subject, self.what, self.why, self.next)
    }
}

/// What all checks look at, asked once.
pub struct Seen<'c> {
    pub change: &'c Change,
    pub views: Vec<(NodeName, Result<NodeView, NodeError>)>,
}

impl Seen<'_> {
    fn up(&self) -> impl Iterator<Item = (&NodeName, &NodeView)> {
        self.views.iter().filter_map(|(name, view)| view.as_ref().ok().map(|view| (name, view)))
    }
}

type Check = fn(&mut Transit<'_>, &Seen<'_>) -> Vec<Problem>;

pub const CHECKS: &[(&str, Check)] = &[
    ("members", members::check),
    ("flavour", flavour::check),
    ("live-and-file", live_and_file::check),
    ("set-live", set_live::check),
    ("command-line", command_line::check),
    ("managed", managed::check),
    ("own-settings", own_settings::check),
    ("place", place::check),
    ("ports", ports::check),
    ("gcache", gcache::check),
    ("sst-method", sst_method::check),
    ("trust-files", trust_files::check),
];

/// Runs every check. Empty: the change may be planned.
pub fn preflight(transit: &mut Transit<'_>, change: &Change) -> Vec<Problem> {
    let views = transit.views();
    let seen = Seen { change, views };
    let mut problems: Vec<Problem> = Vec::new();
    for (_, check) in CHECKS {
        for problem in check(transit, &seen) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
    problems
}

fn problem(
    subject: impl std::fmt::Display,
    what: impl Into<String>,
    why: impl Into<String>,
    next: impl Into<String>,
) -> Problem {
    Problem {
        subject: subject.to_string(),
        what: what.into(),
        why: one_reason(&why.into()),
        next: next.into(),
    }
}

/// Every check that reads option files says it in the same words, so that it is told once.
fn unreadable_options(name: &NodeName, error: &NodeError) -> Problem {
    problem(name, "its option files cannot be read", error.to_string(), "mend the file, then try again")
}

/// An error that is a reason brings a `why` and a `next` of its own: its `next` gives way to ours, so that a person reads
/// each word once.
fn one_reason(text: &str) -> String {
    text.split("\n  next:").next().unwrap_or("").replace("\n  why:  ", ": ")
}
