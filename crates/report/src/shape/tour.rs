//! The published shape of `sealion prove tour`: `docs/schema/prove-tour-1.json`.

use serde::{Deserialize, Serialize};

/// What [`ProveTourReport::schema`] says.
pub const PROVE_TOUR_SCHEMA_ID: &str = "sealion/prove-tour/1";

/// The classic attacks, as they were played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProveTourReport {
    /// Always [`PROVE_TOUR_SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    /// False when it was ended before every part was played.
    pub is_complete: bool,
    /// Each attack succeeded, and was stopped by what stops it.
    pub is_shown: bool,
    /// Servers and clients, as they say.
    pub programs: Vec<TourProgram>,
    pub chapters: Vec<TourChapter>,
}

impl ProveTourReport {
    /// For programs.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("the shape has only plain fields")
    }
}

/// A server or client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TourProgram {
    pub name: String,
    pub version: String,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TourChapter {
    pub id: String,
    pub title: String,
    /// What it is about.
    pub story: String,
    pub is_shown: bool,
    pub lessons: Vec<TourLesson>,
    /// What is known and was not played.
    pub notes: Vec<String>,
}

/// An attack, what stops it, and the attack again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TourLesson {
    pub id: String,
    pub title: String,
    /// What the attacker does.
    pub does: String,
    pub attack: TourAct,
    /// What stops it.
    pub setting: String,
    pub again: TourAct,
    /// The attack succeeded, and then did not.
    pub is_shown: bool,
}

/// An attack, played once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TourAct {
    /// The client, with the words that matter.
    pub command: String,
    /// What was seen, from this run.
    pub saw: Vec<String>,
    pub succeeded: bool,
}
