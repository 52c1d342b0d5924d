//! `--confirm`: the driver itself, with these very settings, against the rogue server.
//!
//! What it is told: host, port, user, password and CA of the stage, in place of the user's own. The user's host is never dialled,
//! nor is any of several; their password and their certificates' keys are not even known here.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use prove::client::{Client, Kind, Promise};
use prove::config::choose;
use prove::config::style::{Carried, carried};
use prove::config::{Setting, SettingValue};
use prove::{Attack, Protocol, Verdict};
use report::shape::ProveCaseRow;

use super::{ConfigReview, PredictedOutcome};
use crate::drivers::{self, Prepared, Row};
use crate::{LAST_WORDS, Outcome, Place, Stage, add, run};
use site::OpsError;

/// What came of a confirmation.
#[derive(Debug, Clone)]
pub enum Confirmed {
    Observed(ConfirmedOutcome),
    /// Why it was not tried, and what to do.
    Not {
        why: String,
        next: String,
    },
}

#[derive(Debug, Clone)]
pub struct ConfirmedOutcome {
    /// Of the driver that was run.
    pub version: String,
    pub cases: Vec<ProveCaseRow>,
    pub is_controlled: bool,
    pub broken_by: Option<String>,
    /// Attacks with another outcome than predicted; `None` where nothing was predicted.
    pub differs: Option<Vec<String>>,
    /// Its version is the one that was measured: then a difference is a fault of the matrix or of the mapping.
    pub is_measured_version: bool,
}

impl ConfirmedOutcome {
    /// A prediction that did not hold, for the version that it was made for.
    pub fn is_a_fault(&self) -> bool {
        self.is_measured_version && self.differs.as_ref().is_some_and(|differs| !differs.is_empty())
    }
}

/// What is run, and how.
pub struct Wanted<'a> {
    pub prepared: &'a [Prepared],
    pub attacks: &'a [&'static Attack],
    pub place: &'a Path,
    pub at_most: Duration,
}

/// The clients that `looked` needs, each once.
pub fn clients(looked: &ConfigReview) -> Vec<&'static Client> {
    let mut all: Vec<&'static Client> = Vec::new();
    for client in looked.connections.iter().flat_map(|one| &one.predictions).map(|one| one.client) {
        if all.iter().all(|known| known.id != client.id) {
            all.push(client);
        }
    }
    all
}

/// Runs every driver of `looked` with its settings, the same ones once.
///
/// # Errors
/// A driver that was there and cannot be started.
pub fn confirm(
    looked: &mut ConfigReview,
    stage: &Stage,
    wanted: &Wanted<'_>,
    stop: &AtomicBool,
    said: &mut dyn FnMut(&str),
) -> Result<(), OpsError> {
    let mut known: HashMap<(&str, String, Option<String>), Vec<Outcome>> = HashMap::new();
    'all: for connection in &mut looked.connections {
        for prediction in &mut connection.predictions {
            let client = prediction.client;
            let not = |why: String, next: String| Some(Confirmed::Not { why, next });
            if matches!(prediction.said, PredictedOutcome::Local) {
                prediction.confirmed =
                    not("it goes through a Unix socket".into(), "there is nothing to attack".into());
                continue;
            }
            let version =
                match wanted.prepared.iter().find(|one| one.client.id == client.id).map(Prepared::version) {
                    Some(Ok(version)) => version.to_owned(),
                    Some(Err((why, next))) => {
                        prediction.confirmed = not(why.to_owned(), next.to_owned());
                        continue;
                    }
                    None => continue,
                };
            let told = match told(client, &connection.found.settings, stage) {
                Ok(told) => told,
                Err(why) => {
                    prediction.confirmed =
                        not(why, "write the value into the file, or run your program itself: sealion prove client -- CMD".into());
                    continue;
                }
            };
            let front = connection.found.front.clone();
            let same = (client.id, told.clone(), front.clone());
            let outcomes = if let Some(outcomes) = known.get(&same) {
                outcomes.clone()
            } else {
                said(&format!("{}: {}", client.name, connection.found.what));
                let outcomes = attack(client, &told, front.as_deref(), stage, wanted, stop)?;
                known.insert(same, outcomes.clone());
                outcomes
            };
            // It was ended with us: what it had not done yet is no verdict.
            if stop.load(Ordering::Relaxed) {
                break 'all;
            }
            let (predicted, promise) = match &prediction.said {
                PredictedOutcome::Row { row, .. } => (
                    Some(row.cases.as_slice()),
                    client
                        .modes
                        .iter()
                        .find(|mode| mode.id == row.mode)
                        .map_or(Promise::Nothing, |mode| mode.promises),
                ),
                // Nobody has said what they look like they promise.
                PredictedOutcome::Unknown(_) | PredictedOutcome::Local => (None, Promise::Nothing),
            };
            let is_measured_version = prediction.version.as_deref() == Some(version.as_str());
            prediction.confirmed =
                Some(Confirmed::Observed(seen(version, is_measured_version, &outcomes, promise, predicted)));
        }
    }
    let left = looked.connections.iter_mut().flat_map(|one| &mut one.predictions);
    for prediction in left.filter(|one| one.confirmed.is_none()) {
        prediction.confirmed = Some(Confirmed::Not {
            why: "ended before its turn".into(),
            next: "the same command again".into(),
        });
    }
    Ok(())
}

fn seen(
    version: String,
    is_measured_version: bool,
    outcomes: &[Outcome],
    promise: Promise,
    predicted: Option<&[ProveCaseRow]>,
) -> ConfirmedOutcome {
    let cases: Vec<ProveCaseRow> = outcomes.iter().map(drivers::case_row).collect();
    let is_controlled = outcomes.first().is_some_and(|one| matches!(one.verdict, Verdict::Accepted(_)));
    let differs = predicted.map(|predicted| {
        cases
            .iter()
            .filter(|case| {
                predicted
                    .iter()
                    .find(|one| one.case == case.case)
                    .is_some_and(|one| one.verdict != case.verdict)
            })
            .map(|case| case.case.clone())
            .collect()
    });
    let broken_by = Row::broken_promise_of(promise, outcomes).map(|one| one.attack.id.to_owned());
    ConfirmedOutcome { version, cases, is_controlled, broken_by, differs, is_measured_version }
}

/// The settings as the driver's program reads them; the stage's CA stands in for every other.
fn told(client: &'static Client, given: &[Setting], stage: &Stage) -> Result<String, String> {
    let Some(settings) = client.settings else { return Err("it has no settings".into()) };
    let ca = stage.ca_path().display().to_string();
    let mut pairs: Vec<(String, Carried)> = Vec::new();
    for setting in given {
        if settings.chosen_by.is_some_and(|(name, _)| name == setting.key) {
            continue;
        }
        let key = choose::key(settings, &setting.key);
        let name = key.map_or(setting.key.as_str(), |key| key.name);
        let carried = match (key.map(|key| key.kind), &setting.given) {
            (Some(Kind::Beside), _) => continue,
            (Some(Kind::Elsewhere), _) => {
                return Err(format!("{}: the settings stand in another file", setting.key));
            }
            (_, SettingValue::Unread(why)) => return Err(format!("{}: {why}", setting.key)),
            (_, SettingValue::Text(text)) if text.is_empty() => Carried::Text(String::new()),
            (Some(Kind::Ca), SettingValue::Flag(false)) => Carried::Flag(false),
            (Some(Kind::Ca), _) => Carried::Text(ca.clone()),
            (_, SettingValue::Text(text)) if text.contains(formats::settings::HOLE) => {
                return Err(format!("{}: its value is not in the file", setting.key));
            }
            (_, SettingValue::Flag(is_on)) => Carried::Flag(*is_on),
            // As it is written: what the driver makes of it is what is asked.
            (Some(Kind::Flag | Kind::Switch), SettingValue::Text(text)) => Carried::Text(text.clone()),
            // The project's program knows one name for a configuration of its own.
            (Some(Kind::Word), SettingValue::Text(text)) if choose::is_named(settings, name, text) => {
                Carried::Text("custom".into())
            }
            (_, SettingValue::Text(text)) => Carried::Text(text.clone()),
            (_, SettingValue::Content) => {
                return Err(format!("{}: what the file holds is not known here", setting.key));
            }
        };
        // A later one counts.
        pairs.retain(|(known, _)| known != name);
        pairs.push((name.to_owned(), carried));
    }
    Ok(carried(settings.carry, &pairs))
}

fn attack(
    client: &'static Client,
    told: &str,
    front: Option<&str>,
    stage: &Stage,
    wanted: &Wanted<'_>,
    stop: &AtomicBool,
) -> Result<Vec<Outcome>, OpsError> {
    let dir = wanted.place.join(client.id);
    let command: Vec<OsString> = client
        .run
        .iter()
        .map(|word| drivers::program(word, &dir))
        .chain([OsString::from("settings")])
        .collect();
    let mut outcomes = Vec::new();
    for attack in wanted.attacks {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(port) = stage.rogue.port(attack, Protocol::MySql) else { continue };
        let place = Place { dir: &dir, settings: Some(told), front };
        let ended = run(stage, port, &command, Some(place), wanted.at_most, stop)?;
        add(&mut outcomes, attack, &stage.rogue.visits(LAST_WORDS), ended);
    }
    Ok(outcomes)
}
