use super::{ScanFormat, findings, is_bad};
use crate::shape::{FindingRow, ScanReport, SeverityWord, TargetRow, VerdictWord};

/// For build servers: a test suite per target, a test case per rule. What is unknown is an error, not a pass.
pub struct Junit;

impl ScanFormat for Junit {
    fn name(&self) -> &'static str {
        "junit"
    }
    fn render(&self, report: &ScanReport) -> String {
        let news = report.news();
        // Why a finding stops no build, though it is bad.
        let pardon = |target: &TargetRow, one: &FindingRow| -> Option<String> {
            if let Some(accepted) = target.acceptance(&one.rule) {
                return Some(format!("accepted until {}: {}", accepted.until, accepted.reason));
            }
            if one.severity == SeverityWord::Info {
                // A hint must not stop a build.
                return Some(format!("info: {}", one.why));
            }
            (!news.has(target, one)).then(|| format!("in the baseline already: {}", one.why))
        };
        let counts = |target: &TargetRow, one: &FindingRow, word: VerdictWord| {
            one.verdict == word && pardon(target, one).is_none()
        };
        let count =
            |word: VerdictWord| findings(report).filter(|(target, one)| counts(target, one, word)).count();
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sealion scan\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
            findings(report).count(),
            count(VerdictWord::Fail),
            count(VerdictWord::Unknown),
        );
        for target in &report.targets {
            let of =
                |word: VerdictWord| target.findings.iter().filter(|one| counts(target, one, word)).count();
            out += &format!(
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\">\n",
                escaped(&target.target),
                target.findings.len(),
                of(VerdictWord::Fail),
                of(VerdictWord::Unknown),
                target.elapsed_ms / 1000.0,
            );
            for one in &target.findings {
                let head = format!(
                    "    <testcase classname=\"{}\" name=\"{} {}\"",
                    escaped(&target.target),
                    escaped(&one.rule),
                    escaped(&one.title)
                );
                if let Some(why) = pardon(target, one).filter(|_| is_bad(one)) {
                    out += &format!("{head}><skipped message=\"{}\"/></testcase>\n", escaped(&why));
                } else if is_bad(one) {
                    let tag = if one.verdict == VerdictWord::Fail { "failure" } else { "error" };
                    out += &format!(
                        "{head}>\n      <{tag} type=\"{}\" message=\"{}\">remedy: {}</{tag}>\n    </testcase>\n",
                        one.severity,
                        escaped(&one.why),
                        escaped(&one.remedy),
                    );
                } else if one.verdict == VerdictWord::NotApplicable {
                    out += &format!("{head}><skipped/></testcase>\n");
                } else {
                    out += &format!("{head}/>\n");
                }
            }
            if !target.not_seen.is_empty() {
                out += &format!("    <system-out>{}</system-out>\n", escaped(&target.not_seen.join("\n")));
            }
            out += "  </testsuite>\n";
        }
        out + "</testsuites>\n"
    }
}

/// XML 1.0 has no control characters but tab and line ends, not even escaped ones.
pub fn escaped(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\n' => "&#10;".to_owned(),
            char if char.is_control() => char::REPLACEMENT_CHARACTER.to_string(),
            char => char.to_string(),
        })
        .collect()
}
