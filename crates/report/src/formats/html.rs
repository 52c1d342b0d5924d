use super::Format;
use crate::shape::DemoReport;

pub struct Html;

impl Format for Html {
    fn name(&self) -> &'static str {
        "html"
    }
    fn file_name(&self) -> &'static str {
        "report.html"
    }
    fn about(&self) -> &'static str {
        "one page for people, without other files"
    }
    fn render(&self, report: &DemoReport) -> String {
        crate::render_html(report)
    }
}
