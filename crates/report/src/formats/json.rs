use super::Format;
use crate::shape::DemoReport;

pub struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }
    fn file_name(&self) -> &'static str {
        "report.json"
    }
    fn about(&self) -> &'static str {
        "for programs; docs/schema/demo-report-1.json says what each field means"
    }
    fn render(&self, report: &DemoReport) -> String {
        report.to_json()
    }
}
