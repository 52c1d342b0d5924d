//! The map of an audit for people: each path once, with the servers that stand alike on it.

use ::report::shape::AuditReport;

use crate::show;

const KINDS: [(&str, &str); 2] = [("in-transit", "in transit"), ("at-rest", "at rest")];
/// The worst first.
const STANDS: [(&str, &str); 3] =
    [("clear", "clear"), ("unknown", "unknown"), ("configured-only", "configured only")];
/// Beside the longest path.
const PATH_WIDTH: usize = 28;

pub fn rendered(report: &AuditReport) -> String {
    if report.servers.iter().all(|server| server.why_not.is_some()) {
        return String::new();
    }
    let mut out = String::new();
    for (kind, title) in KINDS {
        out += &format!("\n{title}\n");
        let mut paths: Vec<&str> = vec![];
        for row in report.map.iter().filter(|row| row.kind == kind) {
            if paths.last() != Some(&row.path.as_str()) {
                paths.push(&row.path);
            }
        }
        for path in paths {
            out += &of_path(report, path);
        }
    }
    out += "\nnot looked at\n";
    for line in &report.not_looked_at {
        out += &format!("  {line}\n");
    }
    out += "\nclear: cleartext is used or accepted; configured only: no audit has seen it\n";
    out
}

/// Why it is so the findings below say.
fn of_path(report: &AuditReport, path: &str) -> String {
    let mut out = String::new();
    let mut name = path;
    for (stand, word) in STANDS {
        let rows = report.map.iter().filter(|row| row.path == path && row.stand == stand);
        let servers: Vec<&str> = rows.map(|row| row.server.as_str()).collect();
        if !servers.is_empty() {
            let head = format!("  {name:<PATH_WIDTH$}  {word:<15}  ");
            out += &format!("{}\n", show::wrapped(&head, &show::visible(&servers.join(", "))));
            name = "";
        }
    }
    out
}
