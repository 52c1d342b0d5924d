//! The steps of several parts in one order.

use model::Step;
use serde_json::Value;

/// Phases in the order in which they come, whatever the change is; a plan has those of one verb. Within a phase a part's own order counts.
const PHASES: &[&str] = &[
    "A2", "A3", "D0", "D1", "D2", "D3", "D4", "E0", "E1", "E2", "E3", "E4", "A0", "A1", "E5", "E6", "R0",
    "R1", "R2", "R3", "R4", "R5",
];

/// `E2.n1` is of the phase E2, and `E1p.n1` belongs to E1. `None`: it is none that stands in [`PHASES`].
fn phase(step: &Step) -> Option<usize> {
    let word = step.id.0.split('.').next().unwrap_or_default();
    let word = word.trim_end_matches(|char: char| char.is_ascii_lowercase());
    PHASES.iter().position(|phase| *phase == word)
}

/// What is put together by phases must have them, and in their order.
fn is_in_order(steps: &[Step]) -> Result<(), String> {
    let mut last = None;
    for step in steps {
        let own = phase(step);
        if own.is_none() || own < last {
            return Err(format!(
                "step {} has no place among the phases of an estate: this is a mistake in sealion",
                step.id
            ));
        }
        last = own;
    }
    Ok(())
}

/// Steps of the same id are one step of all: gates, proofs, and what is done with the CA. So are steps without a node, which are about all
/// there is. Every other one is of its part.
///
/// # Errors
/// Two steps of one id do not fit together.
pub fn by_phase(parts: Vec<(&'static str, Vec<Step>)>) -> Result<Vec<Step>, String> {
    let mut merged: Vec<Step> = Vec::new();
    if parts.len() > 1 {
        parts.iter().try_for_each(|(_, steps)| is_in_order(steps))?;
    }
    for (part, steps) in parts {
        let mut left = steps.into_iter().map(|step| of_part(part, step)).collect::<Vec<_>>();
        let mut all: Vec<Step> = Vec::new();
        for known in merged {
            // What this part does before what both do, and behind the earlier phases.
            let shared = left.iter().position(|step| step.id == known.id);
            let before = match shared {
                Some(place) => place,
                None => left.iter().take_while(|step| phase(step) < phase(&known)).count(),
            };
            all.extend(left.drain(..before));
            match shared {
                Some(_) => {
                    let own = left.remove(0);
                    all.push(joined(known, own)?);
                }
                None => all.push(known),
            }
        }
        all.extend(left);
        merged = all;
    }
    Ok(merged)
}

fn of_part(part: &str, step: Step) -> Step {
    let is_of_all = step.nodes.is_empty();
    Step { part: (!is_of_all).then(|| part.to_owned()), ..step }
}

/// One step for what both are about.
fn joined(one: Step, other: Step) -> Result<Step, String> {
    let mismatch = || {
        format!("step {} is not the same in all parts of the estate: this is a mistake in sealion", one.id)
    };
    if one.kind != other.kind || one.restarts_server || other.restarts_server {
        return Err(mismatch());
    }
    let params = joined_params(&one.params, &other.params).ok_or_else(mismatch)?;
    let mut all = Step { part: None, no_op: one.no_op && other.no_op, params, ..one };
    add(&mut all.nodes, other.nodes);
    add(&mut all.nature.needs, other.nature.needs);
    add(&mut all.shell, other.shell);
    add(&mut all.sql, other.sql);
    Ok(all)
}

fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// Lists hold what either has; all else must be the same.
fn joined_params(one: &Value, other: &Value) -> Option<Value> {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            let mut all = one.clone();
            add(&mut all, other.clone());
            Some(Value::Array(all))
        }
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            let pair =
                |(key, value): (&String, &Value)| Some((key.clone(), joined_params(value, other.get(key)?)?));
            one.iter().map(pair).collect::<Option<_>>().map(Value::Object)
        }
        _ => (one == other).then(|| one.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::Builder;

    fn steps(all: &[(&str, &[&str], Value)]) -> Vec<Step> {
        let mut builder = Builder::default();
        for (id, nodes, params) in all {
            let nodes = nodes.iter().map(|name| (*name).into()).collect();
            builder.add((*id).into(), "prove", String::new(), nodes, params.clone());
        }
        builder.steps
    }

    #[test]
    fn phases_of_all_parts_come_one_after_the_other_and_what_both_do_is_one_step() {
        let none = || json!({});
        let one = steps(&[
            ("E0.ca", &[], none()),
            ("E0.r1", &["r1"], none()),
            ("E2.r1", &["r1"], none()),
            ("E3.r1", &["r1"], none()),
            ("E5.look", &[], none()),
            ("E5.r1", &["r1"], none()),
            ("E6", &[], json!({ "kinds": ["replication", "client"] })),
        ]);
        let other = steps(&[
            ("E0.ca", &[], none()),
            ("E0.g1", &["g1"], none()),
            ("E1.g1", &["g1"], none()),
            ("E1p.g1", &["g1"], none()),
            ("E2.g1", &["g1"], none()),
            ("E3", &["g1"], none()),
            ("E3b.g1", &["g1"], none()),
            ("E4.g1", &["g1"], none()),
            ("A0.look", &[], none()),
            ("E5.look", &[], none()),
            ("E5.g1", &["g1"], none()),
            ("E6", &[], json!({ "kinds": ["galera", "client"] })),
        ]);
        let all = by_phase(vec![("one", one), ("other", other)]).expect("they fit");
        let of: Vec<String> =
            all.iter().map(|step| format!("{} {}", step.id, step.part.as_deref().unwrap_or("-"))).collect();
        assert_eq!(
            of,
            [
                "E0.ca -",
                "E0.r1 one",
                "E0.g1 other",
                "E1.g1 other",
                "E1p.g1 other",
                "E2.r1 one",
                "E2.g1 other",
                "E3.r1 one",
                "E3 other",
                "E3b.g1 other",
                "E4.g1 other",
                "A0.look -",
                "E5.look -",
                "E5.r1 one",
                "E5.g1 other",
                "E6 -"
            ]
        );
        assert_eq!(
            all.last().map(|step| &step.params),
            Some(&json!({ "kinds": ["replication", "client", "galera"] }))
        );
    }

    #[test]
    fn a_look_behind_a_phase_is_behind_that_of_all_parts_and_what_does_not_fit_is_refused() {
        let part = |name: &str, hash: &str| {
            steps(&[
                (&format!("R3.{name}"), &[name], json!({})),
                ("R3.look", &[name], json!({ "old_sha256": hash, "asks": "shows" })),
                (&format!("R4.{name}"), &[name], json!({})),
            ])
        };
        let all = by_phase(vec![("one", part("r1", "a")), ("other", part("g1", "a"))]).expect("they fit");
        let ids: Vec<&str> = all.iter().map(|step| step.id.0.as_str()).collect();
        assert_eq!(ids, ["R3.r1", "R3.g1", "R3.look", "R4.r1", "R4.g1"]);
        assert_eq!(all[2].nodes, ["r1".into(), "g1".into()]);
        assert!(by_phase(vec![("one", part("r1", "a")), ("other", part("g1", "b"))]).is_err());
        for odd in [&["X1.g1"][..], &["E2.g1", "E1.g1"]] {
            let odd: Vec<_> = odd.iter().map(|id| (*id, &["g1"][..], json!({}))).collect();
            assert!(by_phase(vec![("one", part("r1", "a")), ("other", steps(&odd))]).is_err());
        }
    }
}
