use super::ScanFormat;
use crate::shape::ScanReport;

/// One page for people, nothing else needed to read it.
pub struct Html;

impl ScanFormat for Html {
    fn name(&self) -> &'static str {
        "html"
    }
    fn render(&self, report: &ScanReport) -> String {
        crate::html::render_scan_html(report)
    }
}
