//! What was found, in the published shape.

use prove::config::{Driver, Setting, SettingValue, family};
use report::shape::{
    ConfigConfirmedRow, ConfigConnectionRow, ConfigFixRow, ConfigNoteRow, ConfigPredictionRow,
    ConfigSettingRow, ConfigUnreadRow, PROVE_CONFIG_SCHEMA_ID, ProveConfigReport,
};

use super::confirm::Confirmed;
use super::{ConfigReview, Connection, Matrix, PredictedOutcome, Prediction, Weaknesses, place, shown};

/// How many, over all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Connections whose settings promise something that some driver does not keep.
    pub broken: usize,
    pub in_clear: usize,
    /// Connections of which nothing can be said for some driver, and places that could not be read.
    pub unknown: usize,
    /// Predictions that a run has refuted, for the version that they are about.
    pub differing: usize,
}

impl Counts {
    pub fn of(looked: &ConfigReview) -> Self {
        let any = |one: &Connection, is: fn(Weaknesses) -> bool| {
            one.predictions.iter().filter_map(Prediction::falls).any(is)
        };
        let count =
            |is: &dyn Fn(&Connection) -> bool| looked.connections.iter().filter(|one| is(one)).count();
        let predictions = looked.connections.iter().flat_map(|one| &one.predictions);
        Self {
            broken: count(&|one| any(one, |falls| falls.breaks_its_promise)),
            in_clear: count(&|one| any(one, |falls| falls.in_clear)),
            unknown: count(&Connection::is_unknown) + looked.unread.len(),
            differing: predictions
                .filter(|one| matches!(&one.confirmed, Some(Confirmed::Observed(seen)) if seen.is_a_fault()))
                .count(),
        }
    }
}

/// For programs.
pub fn report(looked: &ConfigReview, matrix: &Matrix, is_confirmed: bool) -> ProveConfigReport {
    let counts = Counts::of(looked);
    ProveConfigReport {
        schema: PROVE_CONFIG_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        matrix: matrix.source.clone(),
        is_confirmed,
        broken_promises: number(counts.broken),
        in_clear: number(counts.in_clear),
        unknown: number(counts.unknown),
        differing: number(counts.differing),
        connections: looked.connections.iter().map(connection).collect(),
        unread: looked
            .unread
            .iter()
            .map(|one| ConfigUnreadRow {
                file: one.file.clone(),
                line: one.line.map(number),
                why: one.why.clone(),
            })
            .collect(),
        notes: looked
            .notes
            .iter()
            .map(|one| ConfigNoteRow { file: one.file.clone(), text: one.text.clone() })
            .collect(),
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn connection(one: &Connection) -> ConfigConnectionRow {
    let (driver, why, one_of) = match &one.found.driver {
        Driver::Family(name) => (Some((*name).to_owned()), one.undecided(), vec![]),
        Driver::Unknown { why, one_of } => {
            (None, Some(why.clone()), one_of.iter().map(|name| (*name).to_owned()).collect())
        }
    };
    let client = driver.as_deref().and_then(|name| family(name).into_iter().next());
    ConfigConnectionRow {
        file: one.file.clone(),
        line: number(one.found.line),
        what: wire::printable(&one.found.what),
        form: one.form.into(),
        host: some(&wire::printable(&one.found.host)),
        driver,
        why,
        one_of,
        severity: one.severity().map(Into::into),
        is_unknown: one.is_unknown(),
        settings: one
            .found
            .settings
            .iter()
            .map(|setting| ConfigSettingRow {
                key: wire::printable(&setting.key),
                value: shown(client, setting),
                file: setting.file.clone().unwrap_or_else(|| one.file.clone()),
                line: number(setting.line),
                unread: unread(setting),
            })
            .collect(),
        predictions: one.predictions.iter().map(|prediction| self::prediction(one, prediction)).collect(),
    }
}

fn unread(setting: &Setting) -> Option<String> {
    match &setting.given {
        SettingValue::Unread(why) => Some(wire::printable(why)),
        SettingValue::Text(text) if text.contains(formats::settings::HOLE) => {
            Some("a part of it is filled in when it runs".into())
        }
        _ => None,
    }
}

fn prediction(one: &Connection, prediction: &Prediction) -> ConfigPredictionRow {
    let (row, provided, why) = match &prediction.said {
        PredictedOutcome::Row { row, provided } => (Some(row), *provided, None),
        PredictedOutcome::Local => (None, "", None),
        PredictedOutcome::Unknown(why) => (None, "", Some(wire::printable(why))),
    };
    ConfigPredictionRow {
        client: prediction.client.id.into(),
        name: prediction.client.name.into(),
        version: prediction.version.clone(),
        mode: row.map(|row| row.mode.clone()),
        promises: row.map(|row| row.promises.clone()),
        provided: some(provided),
        why,
        broken_by: row.and_then(|row| row.broken_by.clone()),
        severity: prediction.severity().map(Into::into),
        means: prediction.means(),
        cases: row.map(|row| row.cases.clone()).unwrap_or_default(),
        fix: prediction.fix.as_ref().map(|fix| ConfigFixRow {
            set: fix.set.clone(),
            remove: fix
                .remove
                .iter()
                .map(|setting| format!("{} {}", place(&one.file, setting), wire::printable(&setting.key)))
                .collect(),
            note: some(&fix.note),
        }),
        confirmed: prediction.confirmed.as_ref().map(confirmed),
    }
}

fn confirmed(one: &Confirmed) -> ConfigConfirmedRow {
    match one {
        Confirmed::Not { why, next } => ConfigConfirmedRow {
            version: None,
            why: Some(wire::printable(why)),
            next: Some(next.clone()),
            ran: None,
            is_controlled: false,
            agrees: None,
            differs: vec![],
            cases: vec![],
        },
        Confirmed::Observed(seen) => ConfigConfirmedRow {
            version: Some(seen.version.clone()),
            why: None,
            next: None,
            ran: Some("reading".into()),
            is_controlled: seen.is_controlled,
            agrees: seen.differs.as_ref().map(Vec::is_empty),
            differs: seen.differs.clone().unwrap_or_default(),
            cases: seen.cases.clone(),
        },
    }
}
