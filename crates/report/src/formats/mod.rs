//! The files that a report can become. A new one is one file and one line in [`FORMATS`].

pub mod audit;
pub mod bench;
mod csv;
mod html;
mod json;
pub mod scan;
mod text;

use crate::shape::DemoReport;

/// One way to write a report down.
pub trait Format: Sync {
    /// What `--format` calls it.
    fn name(&self) -> &'static str;
    /// `report.html`
    fn file_name(&self) -> &'static str;
    /// One line for `--help`.
    fn about(&self) -> &'static str;
    fn render(&self, report: &DemoReport) -> String;
}

pub const FORMATS: &[&dyn Format] = &[&html::Html, &json::Json, &text::Text];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_files_are_unique() {
        for (place, format) in FORMATS.iter().enumerate() {
            assert!(!format.about().is_empty());
            for other in &FORMATS[place + 1..] {
                assert_ne!(format.name(), other.name());
                assert_ne!(format.file_name(), other.file_name());
            }
        }
    }
}
