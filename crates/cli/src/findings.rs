//! Findings as people read them, and how a command ends that has some.

use std::fmt::Write;

use model::{Finding, Severity, Verdict};

use crate::show;

/// So many subjects of one reason are named; JSON has them all.
const SUBJECTS_NAMED_MAX: usize = 8;
const INDENT: &str = "              ";

/// Findings of one rule with the same verdict: a row a rule, not a row a node.
pub struct RuleFindings<'f> {
    pub first: &'f Finding,
    /// Subjects that have the same reason stand together.
    pub reasons: Vec<(&'f str, Vec<&'f str>)>,
}

fn reason(finding: &Finding) -> &str {
    match &finding.verdict {
        Verdict::Fail(why) | Verdict::Unknown(why) => why,
        Verdict::Pass | Verdict::NotApplicable => "",
    }
}

pub fn by_rule(findings: &[Finding]) -> Vec<RuleFindings<'_>> {
    let mut groups: Vec<RuleFindings<'_>> = Vec::new();
    for finding in findings.iter().filter(|one| matches!(one.verdict, Verdict::Fail(_) | Verdict::Unknown(_)))
    {
        let is_same = |group: &&mut RuleFindings<'_>| {
            group.first.rule == finding.rule && group.first.verdict.word() == finding.verdict.word()
        };
        let (why, subject) = (reason(finding), finding.subject.as_str());
        match groups.iter_mut().find(is_same) {
            Some(group) => match group.reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, subjects)) => subjects.push(subject),
                None => group.reasons.push((why, vec![subject])),
            },
            None => groups.push(RuleFindings { first: finding, reasons: vec![(why, vec![subject])] }),
        }
    }
    groups
}

impl RuleFindings<'_> {
    /// A line that says which rule, and below it of whom and why.
    pub fn rendered(&self) -> String {
        let first = self.first;
        let verdict = match first.verdict {
            Verdict::Unknown(_) => "UNKNOWN".to_owned(),
            _ => show::red("FAIL"),
        };
        let mut out =
            format!("{verdict} {:<8} {}  {}\n", first.severity.to_string(), first.rule, first.title);
        for (why, on) in &self.reasons {
            let (named, rest) = on.split_at(on.len().min(SUBJECTS_NAMED_MAX));
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            // Names of accounts are whatever somebody called himself at a login.
            let text =
                show::with_blanks(&show::visible(&format!("{}{more}: {why}", model::text::subjects(named))));
            let _ = writeln!(out, "{}", show::wrapped(INDENT, &text));
        }
        out
    }
}

/// How a command ends. `is_blind`: a server did not answer.
pub fn exit_code(findings: &[Finding], fail_on: Option<Severity>, is_blind: bool) -> u8 {
    let worst = |is: fn(&Verdict) -> bool| {
        findings.iter().filter(|one| is(&one.verdict)).map(|one| one.severity).max()
    };
    let reaches = |severity: Option<Severity>| fail_on.is_some_and(|limit| severity >= Some(limit));
    if reaches(worst(|verdict| matches!(verdict, Verdict::Fail(_)))) {
        return 1;
    }
    // What a gate was to judge and could not be seen has not passed it.
    if is_blind || reaches(worst(|verdict| matches!(verdict, Verdict::Unknown(_)))) { 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, subject: &str, verdict: Verdict) -> Finding {
        Finding {
            rule: rule.into(),
            title: "t".into(),
            severity: Severity::High,
            subject: subject.into(),
            verdict,
            observations: vec![],
            remedy: String::new(),
        }
    }

    #[test]
    fn what_could_not_be_seen_does_not_pass_a_gate() {
        let fail = [finding("SL1", "n1", Verdict::Fail("x".into()))];
        let unknown = [finding("SL1", "n1", Verdict::Unknown("x".into()))];
        for (findings, fail_on, is_blind, expected) in [
            (&fail[..], None, false, 0),
            (&fail, Some(Severity::High), false, 1),
            (&fail, Some(Severity::High), true, 1),
            (&fail, Some(Severity::Critical), false, 0),
            (&unknown, Some(Severity::High), false, 3),
            (&unknown, Some(Severity::Critical), false, 0),
            (&unknown, None, true, 3),
            (&[], Some(Severity::Info), false, 0),
        ] {
            assert_eq!(
                exit_code(findings, fail_on, is_blind),
                expected,
                "{findings:?} {fail_on:?} {is_blind}"
            );
        }
    }

    #[test]
    fn findings_of_a_rule_stand_together_and_their_reasons_once() {
        let fail = |why: &str| Verdict::Fail(why.into());
        let all = [
            finding("SL1", "galera n1-n2", fail("plain, 4 canaries")),
            finding("SL1", "galera n1-n3", fail("plain, 4 canaries")),
            finding("SL1", "galera n2-n3", fail("plain, 5 canaries")),
            finding("SL2", "n1", Verdict::Pass),
            finding("SL1", "galera n1-n4", Verdict::Unknown("silent".into())),
        ];
        let groups = by_rule(&all);
        assert_eq!(groups.len(), 2);
        assert_eq!(
            groups[0].reasons,
            [
                ("plain, 4 canaries", vec!["galera n1-n2", "galera n1-n3"]),
                ("plain, 5 canaries", vec!["galera n2-n3"])
            ]
        );
    }
}
