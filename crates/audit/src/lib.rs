//! What a server says of itself to somebody who has logged in: which statement is asked, in which order, and what each needs.
//!
//! A [`Question`] is one thing that is asked: one file, one line in [`QUESTIONS`]. It notes facts and judges nothing. What it is not
//! allowed to see it notes as unknown, with the privilege that is missing: many views of both flavours answer with fewer rows in place
//! of an error, so that rows alone prove nothing.

mod ask;
mod asking;
mod beside;
mod grant;
mod on_host;
mod questions;
mod rights;
#[cfg(test)]
mod script;
mod search;
pub mod statements;

use model::fact::{LookBy, On};
use model::{Fact, Observations, Source, Value, facts};
use server::{Capabilities, Flavour};

pub use ask::{Ask, Refusal};
pub use asking::Asking;
pub use beside::{Beside, Machine};
pub use grant::Grant;
pub use on_host::{HOST_QUESTIONS, HostQuestion};
pub use questions::QUESTIONS;
pub use search::{SEARCH_FACTS, SearchWanted};

/// One thing that is asked.
pub struct Question {
    /// For people: `accounts`, `sessions`.
    pub name: &'static str,
    /// What it notes, of whatever subject, on a server that has it.
    pub facts: &'static [&'static Fact],
    /// What it needs on a server of this row of the capability table.
    pub grants: fn(&Capabilities) -> Vec<Grant>,
    /// Notes. It ends with an error only where nobody answers any more.
    pub ask: fn(&mut Asking<'_>) -> Result<(), Refusal>,
}

/// What one server said.
#[derive(Debug)]
pub struct Audited {
    pub seen: Observations,
    /// Why the questions after it were not asked.
    pub lost: Option<Refusal>,
    pub version: String,
    pub flavour: Flavour,
    /// What the server calls the account that asked.
    pub account: String,
}

/// Asks one server everything, and then its machine. `subject` is what it is called in what is noted.
///
/// # Errors
/// Nobody answers the first questions, which need no privilege.
pub fn audit(
    ask: &mut dyn Ask,
    subject: &str,
    now_unix_ms: u64,
    beside: &Beside<'_>,
) -> Result<Audited, Refusal> {
    let view = asking::view(ask, now_unix_ms)?;
    let capabilities = view.capabilities();
    let rights = rights::read(ask, &capabilities)?;
    let mut seen = Observations::default();
    let mut lost = None;
    {
        let mut asking = Asking::new(ask, subject, &view, &capabilities, &rights, &mut seen, now_unix_ms);
        asking.served = &beside.served;
        asking.served_pem = beside.served_pem.as_deref();
        asking.names = &beside.names;
        for question in QUESTIONS {
            if lost.is_none() {
                lost = (question.ask)(&mut asking).err();
            }
        }
        // Whether it still answers does not matter there.
        on_host::ask(&mut asking, beside);
    }
    let why = match &lost {
        Some(refusal) => format!("it was not asked: {refusal}"),
        None => "this server was not asked for it".to_owned(),
    };
    // A rule over what nobody noted would not be judged, and nobody would miss it.
    for fact in facts_on(&capabilities) {
        if !seen.has(fact) {
            seen.note(subject, fact, Value::Unknown(why.clone()), Source::Sql, now_unix_ms, "");
        }
    }
    Ok(Audited {
        seen,
        lost,
        version: view.version().to_owned(),
        flavour: capabilities.flavour,
        account: rights.account,
    })
}

/// What an audit notes on such a server.
pub fn facts_on(capabilities: &Capabilities) -> impl Iterator<Item = &'static Fact> {
    let is_mariadb = capabilities.flavour == Flavour::MariaDb;
    let has_galera = capabilities.galera;
    facts::all().filter(move |fact| {
        fact.noted_by.iter().any(|(look, on)| {
            *look == LookBy::Audit
                && match on {
                    On::All => true,
                    On::MariaDb => is_mariadb,
                    On::MySql => !is_mariadb,
                    On::Galera => has_galera,
                }
        })
    })
}

/// The least that makes nothing unknown: each privilege once.
pub fn grants(capabilities: &Capabilities) -> Vec<Grant> {
    Grant::together(QUESTIONS.iter().flat_map(|question| (question.grants)(capabilities)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_declared_fact_is_noted_by_a_question_and_each_noted_one_is_declared() {
        let questions = || {
            let of_host = HOST_QUESTIONS.iter().flat_map(|one| one.facts);
            QUESTIONS.iter().flat_map(|one| one.facts).chain(of_host)
        };
        let noted: Vec<&str> = questions().map(|fact| fact.name).collect();
        for fact in facts::all().filter(|fact| fact.is_noted_by(LookBy::Audit)) {
            assert_eq!(
                noted.iter().filter(|name| **name == fact.name).count(),
                1,
                "{} is declared as noted by audit: exactly one question has to say that it notes it",
                fact.name
            );
        }
        for fact in facts::all() {
            let is_listed = SEARCH_FACTS.contains(&fact);
            assert_eq!(fact.is_noted_by(LookBy::Search), is_listed, "{}", fact.name);
        }
        for fact in questions() {
            assert!(fact.is_noted_by(LookBy::Audit), "{} is not declared as noted by audit", fact.name);
        }
    }
}
