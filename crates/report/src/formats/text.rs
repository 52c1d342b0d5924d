use super::Format;
use crate::shape::DemoReport;

pub struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "text"
    }
    fn file_name(&self) -> &'static str {
        "report.txt"
    }
    fn about(&self) -> &'static str {
        "the summary, at most 80 columns wide"
    }
    fn render(&self, report: &DemoReport) -> String {
        crate::render_summary(report)
    }
}
