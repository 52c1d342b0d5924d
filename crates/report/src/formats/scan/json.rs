use super::ScanFormat;
use crate::shape::ScanReport;

/// For programs; `docs/schema/scan-1.json` says what each field means.
pub struct Json;

impl ScanFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }
    fn render(&self, report: &ScanReport) -> String {
        let mut text = serde_json::to_string_pretty(report).expect("the shape has only plain fields");
        text.push('\n');
        text
    }
}
