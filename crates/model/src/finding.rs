//! Rules judge observations. There is no default verdict, and `Unknown` is never `Pass`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fact::Fact;
use crate::observation::{ObservationId, Observations};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "why", rename_all = "kebab-case")]
pub enum Verdict {
    Pass,
    Fail(String),
    Unknown(String),
    NotApplicable,
}

impl Verdict {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::Unknown(_) => "unknown",
            Self::NotApplicable => "not-applicable",
        }
    }
}

/// A rule is data plus one pure function. Its id never changes meaning.
///
/// `SL1…` wire, `SL2…` server (`SL21…` sessions, `SL22…` accounts, `SL28…` files), `SL3…` cluster, replication, SST, `SL4…` at rest
/// (`SL42…` logs).
pub trait Rule: Sync {
    fn id(&self) -> &'static str;
    /// One sentence that states the wanted condition.
    fn title(&self) -> &'static str;
    fn severity(&self) -> Severity;
    /// Standards, manuals, bug numbers.
    fn references(&self) -> &'static [&'static str];
    /// What it means and why it matters; the text of `sealion explain`.
    fn explanation(&self) -> &'static str;
    /// The command or option line that mends it.
    fn remedy(&self) -> &'static str;
    /// What it is judged by; where none of them was noted, the rule says nothing.
    fn facts(&self) -> Vec<&'static Fact>;
    /// Verdicts with the ids that they rest on, one per subject the rule speaks of.
    fn judge(&self, seen: &Observations) -> Vec<Judgement>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub subject: String,
    pub verdict: Verdict,
    pub observations: Vec<ObservationId>,
}

/// Rule + subject + verdict + evidence + remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub rule: String,
    pub title: String,
    pub severity: Severity,
    pub subject: String,
    #[serde(flatten)]
    pub verdict: Verdict,
    pub observations: Vec<ObservationId>,
    pub remedy: String,
}
