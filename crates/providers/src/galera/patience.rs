//! How long members wait for one that they do not hear from, while dynamic ones take their time with each connection.
//!
//! # Source
//! Seen on Galera 26.4.23. A dynamic member guesses each new connection in its network thread, for up to 0.75 s. Until a node that starts
//! is connected with everybody, members do not agree on who is there; after `evs.suspect_timeout` (5 s) they settle it by leaving out whoever
//! one of them has not heard, and that node is non-Primary for some 4 s (errors 1047 and 1180). With four and five members, beside load, that
//! came in half of all rolling changes. All members must wait as long: beside an arbitrator that settled it after 5 s, nodes that waited longer
//! came to no end, and nobody was Primary when `evs.install_timeout` was over. A running node can be told; a running garbd cannot.

use std::collections::BTreeMap;

use model::NodeName;
use server::{GaleraFacts, ProviderOptions};

use super::arbitrators::ArbitratorDraft;
use super::draft::Draft;
use super::steps::{PatienceGateParams, PatienceParams};
use crate::by_hand;
use crate::draft::PlannedEdit;
use crate::plan::{Builder, PlanError};

/// From so many members on.
const MEMBERS_MIN: usize = 4;

/// What Galera waits where nobody has set it, and what it waits meanwhile, in seconds.
const WAITS: [(&str, f64, f64); 3] = [
    ("evs.inactive_timeout", 15.0, 30.0),
    ("evs.suspect_timeout", 5.0, 15.0),
    // Half of the first one, if nobody sets it, as it is when the server starts.
    ("evs.install_timeout", 7.5, 15.0),
];

/// Of one node.
pub struct Patience {
    /// As the option file had it.
    own: Vec<(&'static str, Option<String>)>,
    /// As the running server has it, meanwhile, and after its file.
    before: String,
    meanwhile: Vec<(&'static str, String)>,
    after: String,
}

impl Patience {
    fn text(&self) -> String {
        joined(self.meanwhile.iter().map(|(key, value)| (*key, value.as_str())))
    }
}

/// `PT5S`, `PT1M30S`, `PT0.5S`
fn seconds(period: &str) -> Option<f64> {
    let mut rest = period.trim().strip_prefix("PT")?;
    let mut sum = None;
    for (unit, seconds) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, more)) = rest.split_once(unit) {
            sum = Some(sum.unwrap_or(0.0) + number.parse::<f64>().ok()? * seconds);
            rest = more;
        }
    }
    if rest.is_empty() { sum } else { None }
}

fn joined<'o>(options: impl IntoIterator<Item = (&'static str, &'o str)>) -> String {
    options.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(";")
}

/// The nodes that wait less than is needed; nobody in a small cluster, or beside an arbitrator that would not wait so long. A node whose
/// timeouts cannot be read is left as it is.
pub fn of(drafts: &[Draft], voters: &[ArbitratorDraft]) -> BTreeMap<NodeName, Patience> {
    if drafts.len() + voters.len() < MEMBERS_MIN || !voters.iter().all(will_wait) {
        return BTreeMap::new();
    }
    drafts.iter().filter_map(|draft| Some((draft.name.clone(), of_node(draft)?))).collect()
}

fn of_node(draft: &Draft) -> Option<Patience> {
    let live = draft.view.provider_options();
    let (mut own, mut before, mut meanwhile, mut after) = (vec![], vec![], vec![], vec![]);
    for (key, default_s, wait_s) in WAITS {
        let now = live.get(key)?.to_owned();
        let wait = format!("PT{wait_s}S");
        // What an abandoned change has left is nobody's own.
        let in_file = draft.options.get(key).filter(|value| *value != wait).map(str::to_owned);
        let is_left = draft.options.get(key).is_some_and(|value| value == wait);
        let afterwards = match &in_file {
            Some(own) => own.clone(),
            None if now == wait => format!("PT{default_s}S"),
            None => now.clone(),
        };
        seconds(&afterwards)?;
        if is_left || seconds(&now)? < wait_s {
            meanwhile.push((key, wait));
            before.push((key, now));
            after.push((key, afterwards));
            own.push((key, in_file));
        }
    }
    let text = |options: &[(&'static str, String)]| {
        joined(options.iter().map(|(key, value)| (*key, value.as_str())))
    };
    (!meanwhile.is_empty()).then(|| Patience { before: text(&before), after: text(&after), own, meanwhile })
}

/// A cluster so large that its nodes would wait, and an arbitrator that would not.
pub fn is_hasty(drafts: &[Draft], voters: &[ArbitratorDraft]) -> bool {
    drafts.len() + voters.len() >= MEMBERS_MIN && !voters.iter().all(will_wait)
}

fn will_wait(voter: &ArbitratorDraft) -> bool {
    let has_ours =
        WAITS.iter().all(|(key, _, wait_s)| voter.options.get(key) == Some(format!("PT{wait_s}S").as_str()));
    let has_none = || WAITS.iter().all(|(key, ..)| voter.options.get(key).is_none());
    has_ours || (voter.letter != 'D' && has_none())
}

/// An arbitrator waits so while it is dynamic, which is as long as a node is; its own timeouts, if it has any, are left to it.
pub fn of_dynamic(options: &mut ProviderOptions) {
    if WAITS.iter().all(|(key, ..)| options.get(key).is_none()) {
        for (key, _, wait_s) in WAITS {
            options.set(key, &format!("PT{wait_s}S"));
        }
    }
}

/// It has left that state.
pub fn of_settled(options: &mut ProviderOptions) {
    if WAITS.iter().all(|(key, _, wait_s)| options.get(key) == Some(format!("PT{wait_s}S").as_str())) {
        for (key, ..) in WAITS {
            options.remove(key);
        }
    }
}

/// Whether these are the timeouts that members have meanwhile.
pub fn is_meanwhile(options: &str) -> bool {
    let options = ProviderOptions::parse(options);
    let known: Vec<bool> = WAITS
        .iter()
        .filter_map(|(key, _, wait_s)| Some(options.get(key)? == format!("PT{wait_s}S")))
        .collect();
    !known.is_empty() && known.iter().all(|is_so| *is_so)
}

/// Nodes wait longer from here on, also after each restart, on the way back too. Nobody is dynamic any more when all are in the state
/// `settled`.
pub fn begin(
    builder: &mut Builder,
    prefix: &str,
    drafts: &mut [Draft],
    all: &BTreeMap<NodeName, Patience>,
    (no_op, settled): (bool, char),
) -> Result<(), PlanError> {
    let set = |draft: &mut Draft, patience: &Patience| {
        for (key, value) in &patience.meanwhile {
            draft.options.set(key, value);
        }
    };
    each(builder, (prefix, no_op, "suspects silent members later"), drafts, all, set, |patience| {
        [patience.before.clone(), patience.text()]
    })?;
    if all.is_empty() || no_op {
        return Ok(());
    }
    let waits = all.iter().map(|(name, patience)| (name.clone(), patience.text())).collect();
    let step = builder.add(
        format!("{prefix}.look"),
        "patience-gate",
        "check that all members wait equally long for a silent one".into(),
        all.keys().cloned().collect(),
        PatienceGateParams { waits, settled },
    );
    step.shell = by_hand::gate("the same evs.inactive_timeout, evs.suspect_timeout and evs.install_timeout");
    Ok(())
}

/// As long as their option files say, and these as they were.
pub fn end(
    builder: &mut Builder,
    prefix: &str,
    drafts: &mut [Draft],
    all: &BTreeMap<NodeName, Patience>,
    no_op: bool,
) -> Result<(), PlanError> {
    let set_back = |draft: &mut Draft, patience: &Patience| {
        for (key, own) in &patience.own {
            match own {
                Some(own) => draft.options.set(key, own),
                None => draft.options.remove(key),
            }
        }
    };
    each(
        builder,
        (prefix, no_op, "suspects silent members as soon as before"),
        drafts,
        all,
        set_back,
        |patience| [patience.text(), patience.after.clone()],
    )
}

/// A step for each node that waits: its file, and the options of the running server before and after.
fn each(
    builder: &mut Builder,
    (prefix, no_op, what): (&str, bool, &str),
    drafts: &mut [Draft],
    all: &BTreeMap<NodeName, Patience>,
    write: impl Fn(&mut Draft, &Patience),
    live: impl Fn(&Patience) -> [String; 2],
) -> Result<(), PlanError> {
    for draft in drafts {
        let Some(patience) = all.get(&draft.name) else { continue };
        let mut edits = vec![];
        if !no_op {
            write(draft, patience);
            edits.push(draft.set_or_unset_options());
        }
        let title = format!("{} {what}, without a restart", draft.name);
        let [before, after] = live(patience);
        step(builder, (prefix, no_op, title), draft, edits, [&before, &after])?;
    }
    Ok(())
}

fn step(
    builder: &mut Builder,
    (prefix, no_op, title): (&str, bool, String),
    draft: &mut Draft,
    edits: Vec<crate::edit::Edit>,
    [before, after]: [&str; 2],
) -> Result<(), PlanError> {
    let PlannedEdit { edit, diff, needs } = draft.edit(edits)?;
    let params = PatienceParams { edit, before: before.to_owned(), after: after.to_owned() };
    let name = draft.name.clone();
    let step = builder.add(format!("{prefix}.{name}"), "patience", title, vec![name], params);
    let sql = format!("SET GLOBAL wsrep_provider_options='{after}'");
    step.sql = vec![sql.clone()];
    step.shell = draft.by_hand(&diff, vec![draft.sql(&sql)]);
    (step.no_op, step.diff, step.nature.needs) = (no_op, diff, needs);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_as_galera_writes_them() {
        for (text, expected) in [("PT5S", 5.0), ("PT0.5S", 0.5), ("PT1M30S", 90.0), (" PT2H", 7200.0)] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "5", "PT", "PT5", "P1D", "PTxS", "PT5S'"] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(format!("PT{}S", 15.0), "PT15S");
    }
}
