//! One letter for what a target's findings add up to. The criteria are published, with a version, in
//! `docs/src/reference/grading.md`; a letter never means something else under the same version.

use model::{Finding, Severity, Verdict};

/// Of the criteria.
pub const VERSION: u32 = 1;

/// All there are, best first.
pub const LETTERS: [&str; 5] = ["A", "B", "C", "D", "F"];

/// Why there is no letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grade {
    Letter(char),
    /// These rules could not be judged, and could lower the letter.
    None {
        unknown: Vec<String>,
    },
}

/// The worst failed finding decides; nothing that is unknown is taken for passed.
pub fn grade(findings: &[&Finding]) -> Grade {
    let worst = findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Fail(_)))
        .map(|finding| finding.severity)
        .max();
    let letter = letter(worst);
    let unknown: Vec<String> = findings
        .iter()
        .filter(|finding| matches!(finding.verdict, Verdict::Unknown(_)))
        .filter(|finding| self::letter(Some(finding.severity)) > letter)
        .map(|finding| finding.rule.clone())
        .collect();
    if unknown.is_empty() { Grade::Letter(letter) } else { Grade::None { unknown } }
}

const fn letter(worst: Option<Severity>) -> char {
    match worst {
        None | Some(Severity::Info) => 'A',
        Some(Severity::Low) => 'B',
        Some(Severity::Medium) => 'C',
        Some(Severity::High) => 'D',
        Some(Severity::Critical) => 'F',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, verdict: Verdict) -> Finding {
        Finding {
            rule: format!("SL-{severity}"),
            title: String::new(),
            severity,
            subject: "t".into(),
            verdict,
            observations: vec![],
            remedy: String::new(),
        }
    }

    #[test]
    fn the_worst_failure_decides_and_what_is_unknown_is_not_passed() {
        let fail = |severity| finding(severity, Verdict::Fail("x".into()));
        let unknown = |severity| finding(severity, Verdict::Unknown("x".into()));
        let check = |findings: &[Finding], expected: Grade| {
            assert_eq!(grade(&findings.iter().collect::<Vec<_>>()), expected);
        };
        check(&[], Grade::Letter('A'));
        check(&[finding(Severity::Critical, Verdict::Pass), fail(Severity::Low)], Grade::Letter('B'));
        check(&[fail(Severity::Low), fail(Severity::Critical)], Grade::Letter('F'));
        check(
            &[fail(Severity::Low), unknown(Severity::High)],
            Grade::None { unknown: vec!["SL-high".into()] },
        );
        // What is unknown could not make it worse.
        check(&[fail(Severity::High), unknown(Severity::Medium)], Grade::Letter('D'));
    }
}
