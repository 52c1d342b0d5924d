use super::ScanFormat;
use crate::formats::csv::quoted;
use crate::shape::ScanReport;

/// One line per finding, RFC 4180; targets without one have a line too, with why there is none.
pub struct Csv;

const HEADER: &str = "target,address,port,protocol,version,grade,rule,severity,verdict,title,why,remedy,not_after_unix,connections,accepted_until";

impl ScanFormat for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }
    fn render(&self, report: &ScanReport) -> String {
        let mut out = format!("{HEADER}\r\n");
        let mut line = |cells: [String; 15]| {
            let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
            out += &cells.join(",");
            out += "\r\n";
        };
        for target in &report.targets {
            let service = target.service.as_ref();
            let not_after = super::prometheus::leaves(target).map(|leaf| leaf.not_after_unix).min();
            let head = |rest: [String; 7]| {
                let [rule, severity, verdict, title, why, remedy, accepted_until] = rest;
                [
                    target.target.clone(),
                    target.address.clone().unwrap_or_default(),
                    target.port.to_string(),
                    service.map(|one| one.protocol.clone()).unwrap_or_default(),
                    service.and_then(|one| one.version.clone()).unwrap_or_default(),
                    target.grade.clone().unwrap_or_default(),
                    rule,
                    severity,
                    verdict,
                    title,
                    why,
                    remedy,
                    not_after.map(|at| at.to_string()).unwrap_or_default(),
                    target.connections.to_string(),
                    accepted_until,
                ]
            };
            if target.findings.is_empty() {
                let mut rest = [const { String::new() }; 7];
                rest[4] = target.not_seen.join("; ");
                line(head(rest));
            }
            for one in &target.findings {
                line(head([
                    one.rule.clone(),
                    one.severity.to_string(),
                    one.verdict.to_string(),
                    one.title.clone(),
                    one.why.clone(),
                    one.remedy.clone(),
                    target.acceptance(&one.rule).map(|accepted| accepted.until.clone()).unwrap_or_default(),
                ]));
            }
        }
        out
    }
}
