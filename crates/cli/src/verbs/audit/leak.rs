//! `sealion audit --if`: what a thief could read, for people.

use ::report::shape::{LeakReport, LeakedRow};
use site::OpsError;

use crate::options::{Format, Global};
use crate::show;

pub fn print(global: &Global, report: &LeakReport) -> Result<(), OpsError> {
    if global.format == Format::Json {
        let text = serde_json::to_string_pretty(report)
            .map_err(|error| OpsError::internal("cannot write JSON", error))?;
        show::out(&text);
    } else {
        show::out(rendered(report).trim_end());
    }
    Ok(())
}

fn rendered(report: &LeakReport) -> String {
    let what =
        report.account.as_ref().map_or_else(|| report.leak.clone(), |name| format!("{}={name}", report.leak));
    let asked = report.servers.iter().filter(|one| one.why_not.is_none());
    let names: Vec<String> = asked.map(|one| show::visible(&one.name)).collect();
    let mut out = String::new();
    for server in report.servers.iter().filter(|one| one.why_not.is_some()) {
        out += &format!(
            "{}  not audited: what could be read there is not known\n",
            show::bold(&show::visible(&server.name))
        );
    }
    if names.is_empty() {
        return out;
    }
    let title = format!("If this leaks: {}   ({})", show::visible(&what), names.join(", "));
    out += &format!("{}\n", show::bold(&title));
    out += &section("\nCan be read\n", &report.reads);
    out += &section("\nMay be read: it could not be determined\n", &report.unknown);
    if report.reads.is_empty() && report.unknown.is_empty() {
        out += "\nNo finding gives anything of it away.\n";
    }
    out += &format!("\n{} hold against it\n", model::text::counted(report.held, "finding", "findings"));
    out += &format!("{}\n", show::wrapped("", &report.always));
    if !report.reads.is_empty() {
        out += "next: sealion audit --fix-plan   what ends it\n";
    }
    out
}

/// What is read once, with all whom it is read of.
fn section(title: &str, rows: &[LeakedRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = title.to_owned();
    let mut last = None;
    for row in rows {
        let because = &row.because;
        if last != Some(&because.rule) {
            out += &format!("{}\n", show::wrapped(&format!("  {}  ", because.rule), &row.reads));
            last = Some(&because.rule);
        }
        let why =
            [because.subject.as_str(), because.why.as_str()].into_iter().filter(|text| !text.is_empty());
        let why = show::visible(&why.collect::<Vec<_>>().join(": "));
        out += &format!("{}\n", show::wrapped("          ", &why));
    }
    out
}
