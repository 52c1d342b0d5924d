//! The forms that a scan can be written in. A new one is one file and one line in [`SCAN_FORMATS`].

mod csv;
mod html;
mod json;
pub(super) mod junit;
pub(super) mod prometheus;
pub(super) mod sarif;

use crate::shape::{FindingRow, ScanReport, TargetRow, VerdictWord};

/// One way to write a scan down.
pub trait ScanFormat: Sync {
    /// What `--format` calls it.
    fn name(&self) -> &'static str;
    fn render(&self, report: &ScanReport) -> String;
}

pub const SCAN_FORMATS: &[&dyn ScanFormat] =
    &[&json::Json, &csv::Csv, &sarif::Sarif, &junit::Junit, &prometheus::Prometheus, &html::Html];

/// Every finding with its target, in the report's order.
fn findings(report: &ScanReport) -> impl Iterator<Item = (&TargetRow, &FindingRow)> {
    report.targets.iter().flat_map(|target| target.findings.iter().map(move |finding| (target, finding)))
}

fn is_bad(finding: &FindingRow) -> bool {
    matches!(finding.verdict, VerdictWord::Fail | VerdictWord::Unknown)
}
