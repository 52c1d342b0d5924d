//! What two runs say of the same rules and subjects.

use std::collections::BTreeMap;

use model::{Finding, Run, Severity, Verdict};
use serde::Serialize;

/// In the order in which somebody wants to read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Became {
    /// It fails, and did not before.
    New,
    Still,
    /// It failed, and nobody knows what it does now. That is not fixed.
    Unknown,
    Fixed,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    pub became: Became,
    pub rule: String,
    pub title: String,
    pub severity: Severity,
    pub subject: String,
    /// Words of the two verdicts; `null`: the rule said nothing of it there.
    pub before: Option<&'static str>,
    pub now: Option<&'static str>,
    pub why: String,
    pub remedy: String,
}

/// The last look of a run counts: those before it are of states that it has left behind.
fn judged(run: &Run) -> BTreeMap<(&str, &str), &Finding> {
    let last = run.phases.iter().rev().find(|phase| !phase.findings.is_empty());
    let findings = last.map(|phase| phase.findings.as_slice()).unwrap_or_default();
    findings.iter().map(|one| ((one.rule.as_str(), one.subject.as_str()), one)).collect()
}

fn became(before: Option<&Verdict>, now: Option<&Verdict>) -> Option<Became> {
    let failed = matches!(before, Some(Verdict::Fail(_)));
    match now {
        Some(Verdict::Fail(_)) => Some(if failed { Became::Still } else { Became::New }),
        Some(Verdict::Unknown(_)) => Some(Became::Unknown),
        Some(Verdict::Pass | Verdict::NotApplicable) if failed => Some(Became::Fixed),
        // Nobody asked again.
        None if failed => Some(Became::Unknown),
        Some(Verdict::Pass | Verdict::NotApplicable) | None => None,
    }
}

/// Each group with the worst first.
pub fn difference(from: &Run, to: &Run) -> Vec<Row> {
    let (before, now) = (judged(from), judged(to));
    let mut keys: Vec<_> = before.keys().chain(now.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    let mut rows: Vec<Row> = keys
        .into_iter()
        .filter_map(|key| {
            let (old, new) = (before.get(&key), now.get(&key));
            let became = became(old.map(|one| &one.verdict), new.map(|one| &one.verdict))?;
            let one = new.or(old)?;
            let why = match (new.map(|one| &one.verdict), old.map(|one| &one.verdict)) {
                (Some(Verdict::Fail(why) | Verdict::Unknown(why)), _) => why.clone(),
                (None, Some(Verdict::Fail(why))) => format!("not judged in the later run; before: {why}"),
                (_, Some(Verdict::Fail(why))) => format!("before: {why}"),
                _ => String::new(),
            };
            Some(Row {
                became,
                rule: one.rule.clone(),
                title: one.title.clone(),
                severity: one.severity,
                subject: one.subject.clone(),
                before: old.map(|one| one.verdict.word()),
                now: new.map(|one| one.verdict.word()),
                why,
                remedy: one.remedy.clone(),
            })
        })
        .collect();
    rows.sort_by(|a, b| a.became.cmp(&b.became).then(b.severity.cmp(&a.severity)).then(a.rule.cmp(&b.rule)));
    rows
}

#[cfg(test)]
mod tests {
    use model::Phase;

    use super::*;

    fn run(findings: &[(&str, Verdict)]) -> Run {
        let of = |(rule, verdict): &(&str, Verdict)| Finding {
            rule: (*rule).into(),
            title: "t".into(),
            severity: Severity::High,
            subject: "n1".into(),
            verdict: verdict.clone(),
            observations: vec![],
            remedy: String::new(),
        };
        let phase = Phase { findings: findings.iter().map(of).collect(), ..Phase::default() };
        Run { phases: vec![phase, Phase::default()], ..Run::default() }
    }

    #[test]
    fn silence_is_never_fixed() {
        let fail = || Verdict::Fail("f".into());
        let unknown = || Verdict::Unknown("u".into());
        let from = run(&[
            ("a", fail()),
            ("b", fail()),
            ("c", fail()),
            ("d", fail()),
            ("e", Verdict::Pass),
            ("f", unknown()),
            ("h", Verdict::Pass),
            ("i", Verdict::Pass),
        ]);
        let to = run(&[
            ("a", fail()),
            ("b", Verdict::Pass),
            ("c", unknown()),
            ("e", fail()),
            ("f", fail()),
            ("g", fail()),
            ("h", Verdict::Pass),
            ("j", unknown()),
        ]);
        let rows = difference(&from, &to);
        let told: Vec<_> = rows.iter().map(|row| (row.rule.as_str(), row.became)).collect();
        assert_eq!(
            told,
            [
                ("e", Became::New),
                ("f", Became::New),
                ("g", Became::New),
                ("a", Became::Still),
                ("c", Became::Unknown),
                ("d", Became::Unknown),
                ("j", Became::Unknown),
                ("b", Became::Fixed),
            ]
        );
        assert_eq!(rows[5].why, "not judged in the later run; before: f");
        assert_eq!(difference(&from, &from).iter().filter(|row| row.became == Became::Fixed).count(), 0);
    }
}
