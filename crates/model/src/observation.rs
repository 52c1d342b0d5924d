//! The unit of evidence: one fact, where it comes from, when, and how to see it again.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fact::Fact;

/// Where a fact was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Wire,
    Sql,
    File,
    Host,
    Log,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wire => "wire",
            Self::Sql => "sql",
            Self::File => "file",
            Self::Host => "host",
            Self::Log => "log",
        })
    }
}

/// A fact's value. `Unknown` says why it could not be seen; it is not the same as `Absent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    Text(String),
    Number(i64),
    Bool(bool),
    Absent,
    Unknown(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(true) => f.write_str("yes"),
            Self::Bool(false) => f.write_str("no"),
            Self::Absent => f.write_str("-"),
            Self::Unknown(why) => write!(f, "unknown ({why})"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObservationId(pub u32);

/// One fact about one subject (`n1`, `galera n1-n2`, `demo`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    pub id: ObservationId,
    pub subject: String,
    /// The name of a [`Fact`]; of an old run one that is not declared any more.
    pub fact: String,
    pub value: Value,
    pub source: Source,
    pub at_unix_ms: u64,
    /// How a person sees the same: a statement, a file and line, a filter.
    pub how: String,
}

/// All that one look saw. Ids are places in this list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<Observation>", into = "Vec<Observation>")]
pub struct Observations {
    list: Vec<Observation>,
    /// In the order first seen.
    subjects: Vec<String>,
    /// Of each subject the newest place of each fact: a server has thousands of accounts, and every rule asks for each.
    newest: HashMap<String, HashMap<String, usize>>,
}

impl From<Vec<Observation>> for Observations {
    /// Places are ids, so the list is taken in the order in which it was noted.
    fn from(list: Vec<Observation>) -> Self {
        let mut seen = Self::default();
        for one in list {
            seen.push(one);
        }
        seen
    }
}

impl From<Observations> for Vec<Observation> {
    fn from(seen: Observations) -> Self {
        seen.list
    }
}

impl Observations {
    pub fn note(
        &mut self,
        subject: impl Into<String>,
        fact: &Fact,
        value: Value,
        source: Source,
        at_unix_ms: u64,
        how: impl Into<String>,
    ) -> ObservationId {
        self.push(Observation {
            id: ObservationId(0),
            subject: subject.into(),
            fact: fact.name.to_owned(),
            value,
            source,
            at_unix_ms,
            how: how.into(),
        })
    }

    fn push(&mut self, observation: Observation) -> ObservationId {
        let place = self.list.len();
        let id = ObservationId(u32::try_from(place).unwrap_or(u32::MAX));
        let subject = &observation.subject;
        if !self.newest.contains_key(subject) {
            self.subjects.push(subject.clone());
        }
        self.newest.entry(subject.clone()).or_default().insert(observation.fact.clone(), place);
        self.list.push(Observation { id, ..observation });
        id
    }

    /// The newest observation of a fact: a later look supersedes an earlier one.
    pub fn newest(&self, subject: &str, fact: &Fact) -> Option<&Observation> {
        self.list.get(*self.newest.get(subject)?.get(fact.name)?)
    }

    pub fn get(&self, id: ObservationId) -> Option<&Observation> {
        self.list.get(usize::try_from(id.0).ok()?)
    }

    /// Whether anything says something of this fact, of whatever subject.
    pub fn has(&self, fact: &Fact) -> bool {
        self.newest.values().any(|facts| facts.contains_key(fact.name))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Observation> {
        self.list.iter()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Every subject once, in the order first seen.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        self.subjects.iter().map(String::as_str)
    }
}
