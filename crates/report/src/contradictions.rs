//! Statements of a report that cannot both hold. The page shows them on top instead of a claim it cannot carry.

use crate::shape::{DemoReport, LinkKindWord, LinkRow, Outcome, SeenWord};

/// One sentence per contradiction; empty for a sound report.
pub fn contradictions(report: &DemoReport) -> Vec<String> {
    let mut found = Vec::new();
    let summary = &report.summary;
    for link in &summary.links {
        let name = format!("{} {}-{}", link.kind, link.a, link.b);
        let halves = [
            (
                "before",
                link.seen_before,
                link.canaries_before,
                link.payload_bytes_before,
                link.control_seen_before,
                link.kernel_drops_before,
            ),
            (
                "after",
                link.seen_after,
                link.canaries_after,
                link.payload_bytes_after,
                link.control_seen_after,
                link.kernel_drops_after,
            ),
        ];
        for (when, seen, canaries, payload_bytes, control_seen, kernel_drops) in halves {
            if seen == SeenWord::Sealed
                && (canaries > 0 || payload_bytes == 0 || !control_seen || kernel_drops > 0)
            {
                found.push(format!(
                    "{name} is reported as sealed {when}, with {canaries} canaries, {payload_bytes} bytes, \
                     {kernel_drops} dropped packets and the control {}",
                    if control_seen { "seen" } else { "not seen" }
                ));
            }
            if seen == SeenWord::Unknown && canaries > 0 {
                found.push(format!(
                    "{name} is reported as {seen} {when}, but {canaries} canaries were found on it"
                ));
            }
        }
    }
    if summary.verdict == Outcome::Proven {
        // A state transfer goes between two nodes at a time: a pair that had none after is no gap as long as another
        // transfer of the same kind was seen sealed.
        let sealed_elsewhere = |link: &LinkRow| {
            matches!(link.kind, LinkKindWord::Ist | LinkKindWord::Sst)
                && link.payload_bytes_after == 0
                && summary
                    .links
                    .iter()
                    .any(|other| other.kind == link.kind && other.seen_after == SeenWord::Sealed)
        };
        let open = summary.links.iter().filter(|link| link.seen_after != SeenWord::Sealed);
        for link in open.filter(|link| !sealed_elsewhere(link)) {
            found.push(format!(
                "the verdict is \"proven\", but {} {}-{} is {} after",
                link.kind, link.a, link.b, link.seen_after
            ));
        }
        let zeros = [
            ("lost writes", summary.acknowledged_writes_lost),
            ("failed transactions", summary.failed_transactions),
            ("canaries after", summary.canaries_seen_after),
        ];
        for (what, count) in zeros.into_iter().filter(|(_, count)| *count > 0) {
            found.push(format!("the verdict is \"proven\", but there are {count} {what}"));
        }
        for refusal in report.refusals.iter().filter(|refusal| !refusal.refused) {
            found.push(format!("the verdict is \"proven\", but the {} was accepted", refusal.who));
        }
        if summary.links.is_empty() {
            found.push("the verdict is \"proven\", but no link was checked".to_owned());
        }
    }
    for step in report.roll.steps.iter().filter(|step| step.ended_ms < step.started_ms) {
        found.push(format!("step {} ended before it began", step.id));
    }
    found
}
