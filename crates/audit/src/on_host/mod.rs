//! What the machine of a server shows of it: files, modes, its process. As with [`QUESTIONS`](crate::QUESTIONS) a question notes and judges
//! nothing, and what could not be seen it notes as unknown.

mod certificates;
mod cluster;
mod files;
mod jobs;
mod keys;
mod login_files;
mod options;
mod process;

pub(crate) use files::is_dump;

use model::{Fact, Value};

use crate::asking::Asking;
use crate::beside::{Beside, Found};

/// One thing that is asked of the machine. What is refused is a value of its facts.
pub struct HostQuestion {
    /// For people: `files`, `process`.
    pub name: &'static str,
    /// What it notes.
    pub facts: &'static [&'static Fact],
    pub(crate) ask: fn(&mut Asking<'_>, &Found<'_>),
}

/// In the order in which they are asked.
pub const HOST_QUESTIONS: &[HostQuestion] = &[
    process::QUESTION,
    files::QUESTION,
    options::QUESTION,
    keys::QUESTION,
    certificates::QUESTION,
    cluster::QUESTION,
    jobs::QUESTION,
    login_files::QUESTION,
];

/// Asks all of them, or says of all why not.
pub(crate) fn ask(asking: &mut Asking<'_>, beside: &Beside<'_>) {
    let found = match &beside.machine {
        Ok(machine) => Found::of(machine, asking.view),
        Err(why) => Err(why.clone()),
    };
    for question in HOST_QUESTIONS {
        match &found {
            Ok(found) => (question.ask)(asking, found),
            Err(why) => {
                let noted = crate::facts_on(asking.capabilities);
                let noted: Vec<&Fact> =
                    noted.filter(|fact| question.facts.iter().any(|one| one.name == fact.name)).collect();
                for fact in noted {
                    asking.note_of_host(fact, Value::Unknown(why.clone()), "");
                }
            }
        }
    }
    if let Some(wanted) = &beside.search {
        crate::search::ask(asking, found.as_ref().map_err(String::as_str), wanted);
    }
}

/// What is wrong with some of several things, or why of others it is not known; what is known to be wrong counts first.
pub(super) fn list(wrong: &[String], unknown: &[String]) -> Value {
    match (wrong, unknown) {
        ([], []) => Value::Absent,
        ([], unknown) => Value::Unknown(unknown.join("; ")),
        (wrong, _) => super::questions::some(wrong.iter().cloned()),
    }
}
