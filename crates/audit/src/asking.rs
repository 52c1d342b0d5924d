//! One server while it is asked.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{Fact, Observations, Source, Value};
use net::Rows;
use server::{Capabilities, NodeView, OwnGrants};
use trust::CertificateInfo;

use crate::ask::{Ask, Refusal};
use crate::grant::Grant;

/// What questions are given, and what they note into.
pub struct Asking<'a> {
    ask: &'a mut dyn Ask,
    subject: &'a str,
    pub view: &'a NodeView,
    pub capabilities: &'a Capabilities,
    pub rights: &'a OwnGrants,
    seen: &'a mut Observations,
    now_unix_ms: u64,
    /// Which accounts have administrative privileges, once that is known.
    pub administrators: Option<Vec<Administrator>>,
    /// What an injection through an account (user and host) could do beyond one schema, once that is known; empty for nothing.
    pub harm: Option<BTreeMap<(String, String), String>>,
    /// The certificate that clients are served, or why none is known.
    pub served: &'a Result<CertificateInfo, String>,
    /// The same as PEM, where it was seen.
    pub served_pem: Option<&'a str>,
    /// Certificate and key of each channel of replication, as it was told.
    pub channel_files: Vec<[std::path::PathBuf; 2]>,
    /// What clients call the server; empty where nobody says.
    pub names: &'a [String],
    /// Where keys for data lie, as the server says; empty where they lie in no file.
    pub key_files: Result<Vec<PathBuf>, String>,
}

/// Until somebody says what is served.
static NOT_SEEN: Result<CertificateInfo, String> = Err(String::new());

/// An account, and whether it administers; `None` where it may act as one that does.
#[derive(Debug, Clone)]
pub struct Administrator {
    pub user: String,
    pub host: String,
    pub administers: Option<bool>,
}

/// `SHOW GLOBAL VARIABLES` and `SHOW GLOBAL STATUS`, which need no privilege.
pub(crate) fn view(ask: &mut dyn Ask, now_unix_ms: u64) -> Result<NodeView, Refusal> {
    let mut pairs = |sql: &str| -> Result<std::collections::BTreeMap<String, String>, Refusal> {
        let rows = ask.rows(sql)?;
        let pair = |row: net::RowRef<'_>| Some((row.at(0)?.to_ascii_lowercase(), row.at(1)?.into_owned()));
        Ok(rows.iter().filter_map(pair).collect())
    };
    Ok(NodeView {
        variables: pairs("SHOW GLOBAL VARIABLES")?,
        status: pairs("SHOW GLOBAL STATUS")?,
        at_unix_ms: now_unix_ms,
        server_unix_ms: None,
    })
}

impl<'a> Asking<'a> {
    pub(crate) fn new(
        ask: &'a mut dyn Ask,
        subject: &'a str,
        view: &'a NodeView,
        capabilities: &'a Capabilities,
        rights: &'a OwnGrants,
        seen: &'a mut Observations,
        now_unix_ms: u64,
    ) -> Self {
        Self {
            ask,
            subject,
            view,
            capabilities,
            rights,
            seen,
            now_unix_ms,
            administrators: None,
            harm: None,
            served: &NOT_SEEN,
            served_pem: None,
            channel_files: vec![],
            names: &[],
            key_files: Err("the server was not asked where its keys lie".into()),
        }
    }

    /// The server's name in subjects.
    pub fn subject(&self) -> &'a str {
        self.subject
    }

    pub fn session_id(&self) -> u64 {
        self.ask.session_id()
    }

    pub fn now_unix_s(&self) -> i64 {
        i64::try_from(self.now_unix_ms / 1000).unwrap_or(i64::MAX)
    }

    /// The rows, or why they are not to be had. A connection that is lost ends the audit.
    ///
    /// # Errors
    /// Nobody answers any more.
    pub fn rows(&mut self, sql: &str) -> Result<Result<Rows, String>, Refusal> {
        match self.ask.rows(sql) {
            Ok(rows) => Ok(Ok(rows)),
            Err(Refusal::Lost(why)) => Err(Refusal::Lost(why)),
            Err(refusal) => Ok(Err(refusal.to_string())),
        }
    }

    /// As [`Self::rows`], and what is refused names the privilege that is missing.
    ///
    /// # Errors
    /// Nobody answers any more.
    pub fn rows_with(&mut self, grants: &[Grant], sql: &str) -> Result<Result<Rows, String>, Refusal> {
        let rows = match self.ask.rows(sql) {
            Ok(rows) => Ok(rows),
            Err(Refusal::Lost(why)) => return Err(Refusal::Lost(why)),
            Err(Refusal::Denied { .. }) => Err(missing(grants)),
            Err(refusal) => Err(refusal.to_string()),
        };
        Ok(rows)
    }

    /// Notes something of the server.
    pub fn note(&mut self, fact: &Fact, value: Value, how: &str) {
        self.note_of(self.subject, fact, value, how);
    }

    pub fn note_of(&mut self, subject: &str, fact: &Fact, value: Value, how: &str) {
        self.seen.note(subject, fact, value, Source::Sql, self.now_unix_ms, how);
    }

    /// Notes what a handshake has shown.
    pub fn note_of_wire(&mut self, fact: &Fact, value: Value, how: &str) {
        self.seen.note(self.subject, fact, value, Source::Wire, self.now_unix_ms, how);
    }

    /// Notes something that its machine shows.
    pub fn note_of_host(&mut self, fact: &Fact, value: Value, how: &str) {
        self.seen.note(self.subject, fact, value, Source::Host, self.now_unix_ms, how);
    }

    /// None of these could be seen of `subject`.
    pub fn unknown(&mut self, subject: &str, facts: &[&'static Fact], why: &str, how: &str) {
        for fact in facts {
            self.note_of(subject, fact, Value::Unknown(why.to_owned()), how);
        }
    }
}

/// What is said where a privilege is missing.
pub fn missing(grants: &[Grant]) -> String {
    let list: Vec<String> = grants.iter().map(ToString::to_string).collect();
    format!("this account lacks the privilege {}", list.join(" and "))
}
