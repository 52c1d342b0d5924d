//! The unit of evidence: one fact, where it comes from, when, and how to see it again.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    /// Dotted, lower case, stable: `galera.socket.ssl`, `sst.ssl_mode`, `wire.seen`.
    pub fact: String,
    pub value: Value,
    pub source: Source,
    pub at_unix_ms: u64,
    /// How a person sees the same: a statement, a file and line, a filter.
    pub how: String,
}

/// All that one look saw. Ids are places in this list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Observations {
    list: Vec<Observation>,
}

impl Observations {
    pub fn note(
        &mut self,
        subject: impl Into<String>,
        fact: impl Into<String>,
        value: Value,
        source: Source,
        at_unix_ms: u64,
        how: impl Into<String>,
    ) -> ObservationId {
        let id = ObservationId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(Observation {
            id,
            subject: subject.into(),
            fact: fact.into(),
            value,
            source,
            at_unix_ms,
            how: how.into(),
        });
        id
    }

    /// The newest observation of a fact: a later look supersedes an earlier one.
    pub fn newest(&self, subject: &str, fact: &str) -> Option<&Observation> {
        self.list.iter().rev().find(|seen| seen.subject == subject && seen.fact == fact)
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
    pub fn subjects(&self) -> Vec<&str> {
        let mut subjects: Vec<&str> = Vec::new();
        for seen in &self.list {
            if !subjects.contains(&seen.subject.as_str()) {
                subjects.push(&seen.subject);
            }
        }
        subjects
    }
}
