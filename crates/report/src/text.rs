//! The summary for a terminal: at most [`COLUMNS_MAX`] wide, no colours, no control characters.

use crate::contradictions::contradictions;
use crate::figures::{bytes, duration, real, thousands};
use crate::shape::{AtRest, DemoReport, LinkKindWord, LinkRow, Outcome, RestVerdictWord, SeenWord};

pub const COLUMNS_MAX: usize = 80;
/// Indent of wrapped text under a label.
const INDENT: usize = 2;

/// Verdict, the numbers, the links, what is left to say.
pub fn render_summary(report: &DemoReport) -> String {
    let mut page = Page::default();
    let summary = &report.summary;
    let contradictions = contradictions(report);
    page.line(match summary.verdict {
        _ if !contradictions.is_empty() => {
            "THIS REPORT CONTRADICTS ITSELF: trust the numbers, not the verdict"
        }
        Outcome::Proven => "PROVEN: all cluster traffic is encrypted, as captured packets show",
        Outcome::Unproven => "UNPROVEN: nothing failed, but not everything could be verified",
        Outcome::Failed => "FAILED: not all cluster traffic is encrypted",
    });
    page.wrapped(INDENT, &summary.verdict_why);
    for sentence in contradictions {
        page.wrapped(INDENT, &format!("- {sentence}"));
    }
    page.line("");
    page.figure(
        "writes acknowledged",
        &format!(
            "{}, of these lost: {}",
            thousands(summary.acknowledged_writes),
            thousands(summary.acknowledged_writes_lost)
        ),
    );
    page.figure("transactions failed", &thousands(summary.failed_transactions));
    page.figure("longest stall", &duration(summary.longest_stall_ms));
    page.figure("server restarts", &summary.restarts.to_string());
    page.figure(
        "canaries on the wire",
        &format!(
            "{} before, {} after",
            thousands(summary.canaries_seen_before),
            thousands(summary.canaries_seen_after)
        ),
    );
    if let Some(ratio) = summary.throughput_ratio {
        page.figure("throughput after/before", &format!("{} (descriptive only)", real(ratio)));
    }
    let refused = report.refusals.iter().filter(|refusal| refusal.refused).count();
    page.figure("intruders rejected", &format!("{refused} of {}", report.refusals.len()));
    if let Some(join) = &report.join {
        let state = if join.synced { "Synced" } else { "NOT Synced" };
        page.figure(
            "new node",
            &format!(
                "{} {state} by SST ({}), {}, sst {}",
                join.node,
                join.method,
                duration(join.took_ms),
                join.sst_seen
            ),
        );
    }
    if let Some(rest) = &report.at_rest {
        page.figure("data at rest", &at_rest(rest));
    }
    page.line("");
    page.links(&summary.links);
    if !report.not_looked_at.is_empty() {
        page.line("");
        page.line("not checked");
        for sentence in &report.not_looked_at {
            page.wrapped(INDENT, &format!("- {sentence}"));
        }
    }
    page.text
}

/// What is plain, and what of it no option would change.
fn at_rest(rest: &AtRest) -> String {
    let files = |is: fn(RestVerdictWord) -> bool| {
        rest.rows.iter().filter(|row| is(row.verdict)).map(|row| row.files).sum::<u64>()
    };
    let plain = files(|verdict| matches!(verdict, RestVerdictWord::Plain | RestVerdictWord::Mixed));
    let never = files(|verdict| verdict == RestVerdictWord::Never);
    let unknown = files(|verdict| verdict == RestVerdictWord::Unknown);
    let tail = if unknown > 0 { format!(", {unknown} unknown") } else { String::new() };
    format!(
        "{plain} of {} files of {} are plain; {never} more cannot be encrypted{tail}",
        rest.files, rest.node
    )
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn figure(&mut self, what: &str, value: &str) {
        // What is too long goes on under itself: a figure that is cut says something else.
        let mark = format!("  {what:<24} ");
        let mut lines: Vec<String> = vec![];
        for word in printable(value).split_whitespace() {
            match lines.last_mut() {
                Some(line) if mark.len() + line.chars().count() + 1 + word.chars().count() <= COLUMNS_MAX => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(fitted(word, COLUMNS_MAX - mark.len())),
            }
        }
        for (at, line) in lines.iter().enumerate() {
            let indent = if at == 0 { mark.clone() } else { " ".repeat(mark.len()) };
            self.line(&format!("{indent}{line}"));
        }
    }

    fn wrapped(&mut self, indent: usize, text: &str) {
        let width = COLUMNS_MAX - indent;
        let mut line = String::new();
        for word in printable(text).split_whitespace() {
            let word = fitted(word, width);
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                self.line(&format!("{:indent$}{line}", ""));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
        if !line.is_empty() {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    fn links(&mut self, links: &[LinkRow]) {
        self.line(&format!(
            "  {:<8}{:<20}{:<9}{:<9}{:>11}{:>11}{:>9}",
            "link", "between", "before", "after", "bytes bef.", "bytes aft.", "control"
        ));
        for link in links {
            let before = (link.seen_before, link.payload_bytes_before);
            let after = (link.seen_after, link.payload_bytes_after);
            let (is_idle_before, is_idle_after) =
                (is_no_transfer(link.kind, before), is_no_transfer(link.kind, after));
            if is_idle_before && is_idle_after {
                continue;
            }
            let word =
                |seen: SeenWord, is_idle: bool| if is_idle { "-".to_owned() } else { seen.to_string() };
            let between = fitted(&printable(&format!("{} - {}", link.a, link.b)), 19);
            let control = if link.control_seen_after { "seen" } else { "no" };
            self.line(&format!(
                "  {:<8}{between:<20}{:<9}{:<9}{:>11}{:>11}{control:>9}",
                link.kind,
                word(link.seen_before, is_idle_before),
                word(link.seen_after, is_idle_after),
                bytes(link.payload_bytes_before),
                bytes(link.payload_bytes_after),
            ));
            for (when, seen, is_idle, why) in [
                ("before", link.seen_before, is_idle_before, &link.why_before),
                ("after", link.seen_after, is_idle_after, &link.why_after),
            ] {
                if let (SeenWord::Unknown, false, Some(why)) = (seen, is_idle, why) {
                    self.wrapped(10, &format!("unknown {when}: {why}"));
                }
            }
        }
    }
}

/// Whether nothing was transferred between two nodes, so that there was nothing to see. Of other links silence is a doubt.
fn is_no_transfer(kind: LinkKindWord, (seen, payload_bytes): (SeenWord, u64)) -> bool {
    let is_transfer = matches!(kind, LinkKindWord::Ist | LinkKindWord::Sst);
    is_transfer && payload_bytes == 0 && seen == SeenWord::Unknown
}

/// A server's words may hold escape sequences; a terminal must not act on them.
fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(3)).collect();
    cut.push_str("...");
    cut
}
