//! A cluster in numbers, kept beside its entries: a page of thousands of clusters reads these alone.

use std::collections::BTreeMap;

use model::Severity;
use serde::{Deserialize, Serialize};

use crate::state::{Body, DriftState, Entry, FindingState, Key, LinkState, RestState, ServerState};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub servers: u32,
    pub servers_silent: u32,
    pub servers_unknown: u32,
    pub links_plain: u32,
    /// Verified ones among them.
    pub links_encrypted: u32,
    /// Broken ones among them.
    pub links_unknown: u32,
    pub findings_failed: BTreeMap<Severity, u32>,
    pub findings_unknown: BTreeMap<Severity, u32>,
    /// The nearest end of a certificate.
    pub not_after_unix: Option<i64>,
    /// Servers whose option files are not as the last changes wrote them, and those of which nobody knows.
    #[serde(default)]
    pub servers_drifted: u32,
    #[serde(default)]
    pub servers_drift_unknown: u32,
    /// Kinds of files at rest that were encrypted, and are not.
    #[serde(default)]
    pub at_rest_fell_back: u32,
    #[serde(default)]
    pub at_rest_unknown: u32,
}

impl Counts {
    pub fn of(entries: &BTreeMap<Key, Entry>) -> Self {
        let mut counts = Self::default();
        for entry in entries.values() {
            counts.add(&entry.body);
        }
        counts
    }

    fn add(&mut self, body: &Body) {
        match body {
            Body::Server { state, .. } => {
                self.servers += 1;
                match state {
                    ServerState::Up => {}
                    ServerState::Silent => self.servers_silent += 1,
                    ServerState::Unknown => self.servers_unknown += 1,
                }
            }
            Body::Link { state, .. } => match state {
                LinkState::Plain => self.links_plain += 1,
                LinkState::Encrypted | LinkState::Verified => self.links_encrypted += 1,
                LinkState::Broken | LinkState::Unknown => self.links_unknown += 1,
            },
            Body::Certificate { facts, .. } => {
                let end = facts.as_ref().map(|facts| facts.not_after_unix);
                self.not_after_unix = self.not_after_unix.into_iter().chain(end).min();
            }
            Body::Finding { severity, state, .. } => match state {
                FindingState::Pass => {}
                FindingState::Fail => *self.findings_failed.entry(*severity).or_default() += 1,
                FindingState::Unknown => *self.findings_unknown.entry(*severity).or_default() += 1,
            },
            Body::Setting { .. } => {}
            Body::Drift { state, .. } => match state {
                DriftState::Same => {}
                DriftState::Drifted => self.servers_drifted += 1,
                DriftState::Unknown => self.servers_drift_unknown += 1,
            },
            Body::AtRest { fell_back_unix_ms, .. } => {
                self.at_rest_fell_back += u32::from(fell_back_unix_ms.is_some());
                self.at_rest_unknown += u32::from(body.rest_state() == RestState::Unknown);
            }
        }
    }
}
