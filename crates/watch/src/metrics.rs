//! The state as samples.

use model::Severity;
use report::metrics::{
    AT_REST_FELL_BACK, AT_REST_STATE, BUILD_INFO, CERTIFICATE_NOT_AFTER, CERTIFICATE_NOT_BEFORE, DRIFT_STATE,
    FINDINGS, HOOK_DROPPED, HOOK_PENDING, HOOK_RUNS, KEY_ROTATED, LINK_STATE, RELOAD_PENDING, ROTATION_DUE,
    ROTATION_OPEN, ROTATION_RUNS, SCAN_DURATION, SCAN_ERRORS, SCAN_INTERVAL, SCAN_LAST_SUCCESS, Sample,
    UNKNOWN_SINCE,
};

use crate::hook::{HookCounts, HookOutcome};
use crate::rotation::{RotationCounts, RotationOutcome};
use crate::state::{BUCKETS_MS, Body, Certificate, DriftState, FindingState, LinkState, RestState, State};

/// So much of a fingerprint tells certificates apart.
const FINGERPRINT_CHARS: usize = 16;
const SEVERITIES: [Severity; 5] =
    [Severity::Info, Severity::Low, Severity::Medium, Severity::High, Severity::Critical];

/// What is true before the first look too.
fn build_info() -> Sample {
    let revision = option_env!("SEALION_REVISION").unwrap_or("unknown");
    Sample::new(&BUILD_INFO, &[env!("CARGO_PKG_VERSION"), revision, openssl::version::version()], 1.0)
}

fn seconds(unix_ms: u64) -> f64 {
    unix_ms as f64 / 1000.0
}

/// The server serves another certificate than its file has. `None` where either was not read in the last look.
pub fn reload_pending(state: &State, server: &str, usage: &str) -> Option<bool> {
    let read = |seen: &str| -> Option<&Certificate> {
        match &state.entries.get(&("certificate", format!("{server} {usage} {seen}")))?.body {
            Body::Certificate { facts, unread: None, .. } => facts.as_ref(),
            _ => None,
        }
    };
    Some(read("wire")?.fingerprint != read("file")?.fingerprint)
}

pub fn samples(cluster: &str, state: &State) -> Vec<Sample> {
    let mut samples = vec![build_info()];
    if state.meta.last_look_unix_ms.is_none() {
        return samples;
    }
    for severity in SEVERITIES {
        for verdict in [FindingState::Fail, FindingState::Unknown] {
            let is_such = |body: &Body| matches!(body, Body::Finding { severity: one, state, .. } if *one == severity && *state == verdict);
            let count = state.entries.values().filter(|entry| is_such(&entry.body)).count();
            let labels = [cluster, &severity.to_string(), verdict.as_str()];
            samples.push(Sample::new(&FINDINGS, &labels, count as f64));
        }
    }
    for entry in state.entries.values() {
        match &entry.body {
            Body::Server { name, last_success_unix_ms: Some(at), .. } => {
                samples.push(Sample::new(&SCAN_LAST_SUCCESS, &[cluster, name], seconds(*at)));
            }
            Body::Link { kind, a, b, state, .. } => samples.extend(LinkState::ALL.map(|one| {
                let labels = [cluster, a, b, kind.as_str(), one.as_str()];
                Sample::new(&LINK_STATE, &labels, f64::from(u8::from(one == *state)))
            })),
            Body::Certificate { server, usage, seen, facts: Some(facts), .. } => {
                let fingerprint = facts.fingerprint.get(..FINGERPRINT_CHARS).unwrap_or(&facts.fingerprint);
                let labels = [cluster, server, usage, seen, fingerprint];
                samples.push(Sample::new(&CERTIFICATE_NOT_AFTER, &labels, facts.not_after_unix as f64));
                samples.push(Sample::new(&CERTIFICATE_NOT_BEFORE, &labels, facts.not_before_unix as f64));
                if seen == "wire"
                    && let Some(pending) = reload_pending(state, server, usage)
                {
                    let value = f64::from(u8::from(pending));
                    samples.push(Sample::new(&RELOAD_PENDING, &[cluster, server, usage], value));
                }
            }
            Body::Drift { server, state, .. } => samples.extend(DriftState::ALL.map(|one| {
                let labels = [cluster, server, one.as_str()];
                Sample::new(&DRIFT_STATE, &labels, f64::from(u8::from(one == *state)))
            })),
            body @ Body::AtRest { server, what, fell_back_unix_ms, .. } => {
                samples.extend(RestState::ALL.map(|one| {
                    let labels = [cluster, server, what, one.as_str()];
                    Sample::new(&AT_REST_STATE, &labels, f64::from(u8::from(one == body.rest_state())))
                }));
                samples.extend(
                    fell_back_unix_ms
                        .map(|at| Sample::new(&AT_REST_FELL_BACK, &[cluster, server, what], seconds(at))),
                );
            }
            Body::Server { .. } | Body::Certificate { .. } | Body::Setting { .. } | Body::Finding { .. } => {}
        }
    }
    for (key, at) in &state.meta.unknown_since {
        let (what, subject) = key.split_once(' ').unwrap_or((key, ""));
        samples.push(Sample::new(&UNKNOWN_SINCE, &[cluster, what, subject], seconds(*at)));
    }
    samples.push(Sample::new(&SCAN_INTERVAL, &[cluster], state.meta.interval_s as f64));
    let durations = &state.meta.durations;
    let duration = |value: f64| Sample::new(&SCAN_DURATION, &[cluster], value);
    for (count, up_to) in durations.counts.iter().zip(BUCKETS_MS) {
        samples.push(duration(*count as f64).part("_bucket", Some(seconds(up_to).to_string())));
    }
    samples.push(duration(durations.count as f64).part("_bucket", Some("+Inf".into())));
    samples.push(duration(seconds(durations.sum_ms)).part("_sum", None));
    samples.push(duration(durations.count as f64).part("_count", None));
    for (server, reasons) in &state.meta.errors {
        for (reason, count) in reasons {
            samples.push(Sample::new(&SCAN_ERRORS, &[cluster, server, reason.as_str()], *count as f64));
        }
    }
    samples
}

/// Of the program that is told of changes.
fn hook_samples(cluster: &str, counts: &HookCounts) -> Vec<Sample> {
    let runs = HookOutcome::ALL
        .map(|outcome| Sample::new(&HOOK_RUNS, &[cluster, outcome.as_str()], counts.of(outcome) as f64));
    let kept = [
        Sample::new(&HOOK_PENDING, &[cluster], counts.pending as f64),
        Sample::new(&HOOK_DROPPED, &[cluster], counts.dropped as f64),
    ];
    runs.into_iter().chain(kept).collect()
}

/// Of certificates that are replaced without a person.
fn rotation_samples(cluster: &str, counts: &RotationCounts) -> Vec<Sample> {
    let mut samples = vec![
        Sample::new(&ROTATION_DUE, &[cluster, &counts.what], counts.due as f64),
        Sample::new(&ROTATION_OPEN, &[cluster, &counts.what], f64::from(u8::from(counts.is_open))),
    ];
    samples.extend(
        RotationOutcome::WORDS
            .map(|word| Sample::new(&ROTATION_RUNS, &[cluster, &counts.what, word], counts.of(word) as f64)),
    );
    samples.extend(
        counts.last_done_unix_ms.map(|at| Sample::new(&KEY_ROTATED, &[cluster, &counts.what], seconds(at))),
    );
    samples
}

/// As it is served, and written for node_exporter.
pub fn text(
    cluster: &str,
    state: &State,
    hook: Option<&HookCounts>,
    rotation: Option<&RotationCounts>,
) -> String {
    let mut samples = samples(cluster, state);
    samples.extend(rotation.into_iter().flat_map(|counts| rotation_samples(cluster, counts)));
    samples.extend(hook.into_iter().flat_map(|counts| hook_samples(cluster, counts)));
    report::metrics::exposition(&samples)
}

#[cfg(test)]
mod tests;
