//! What `--fail-on` makes of a result.

use report::shape::{ScanReport, SeverityWord, TargetRow, VerdictWord};

/// How a scan ends for whoever started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Passed,
    /// A finding at or above the limit failed.
    Failed,
    /// What was to be judged could not be seen, a target could not be looked at, nothing answered at all, or the scan was ended before it was complete.
    Blind,
}

/// Judges a result. What somebody has accepted does not count while the acceptance does; with a baseline, only what is new
/// counts. Without a limit, findings do not count at all.
pub fn gate(report: &ScanReport, limit: Option<SeverityWord>) -> Gate {
    if report.targets.iter().all(|row| row.service.is_none()) {
        return Gate::Blind;
    }
    let otherwise = if report.is_complete { Gate::Passed } else { Gate::Blind };
    let Some(limit) = limit else { return otherwise };
    let news = report.news();
    let worst = |verdict: VerdictWord| {
        report
            .targets
            .iter()
            .flat_map(|row| row.findings.iter().map(move |finding| (row, finding)))
            .filter(|(_, finding)| finding.verdict == verdict && finding.severity >= limit)
            .any(|(row, finding)| row.acceptance(&finding.rule).is_none() && news.has(row, finding))
    };
    if worst(VerdictWord::Fail) {
        Gate::Failed
    } else if worst(VerdictWord::Unknown) || report.targets.iter().any(was_not_looked_at) {
        // What a gate was to judge and could not be seen has not passed it.
        Gate::Blind
    } else {
        otherwise
    }
}

/// Dead, without an address, not dialled, or it turns us away (1129, 1130, 1040): nothing of its TLS could be judged.
fn was_not_looked_at(row: &TargetRow) -> bool {
    row.service.as_ref().is_none_or(|service| service.protocol == "turned_away")
}
