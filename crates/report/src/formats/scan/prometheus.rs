use super::{ScanFormat, findings};
use crate::shape::{CertificateRow, ScanReport, TargetRow, VerdictWord};

/// For node_exporter's textfile collector.
///
/// Source: Prometheus, "Exposition formats": a backslash, a quote and a line feed are escaped in a label's value.
pub struct Prometheus;

impl ScanFormat for Prometheus {
    fn name(&self) -> &'static str {
        "prometheus"
    }
    fn render(&self, report: &ScanReport) -> String {
        let mut out = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: Vec<(Vec<(&str, String)>, String)>| {
            if samples.is_empty() {
                return;
            }
            out += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
            for (labels, value) in samples {
                let labels: Vec<String> =
                    labels.iter().map(|(key, value)| format!("{key}=\"{}\"", escaped(value))).collect();
                out += &format!("{name}{{{}}} {value}\n", labels.join(","));
            }
        };
        let of = |target: &TargetRow| ("target", target.target.clone());
        family(
            "sealion_scan_up",
            "gauge",
            "1 if something answered on this port.",
            report
                .targets
                .iter()
                .map(|target| (vec![of(target)], u8::from(target.service.is_some()).to_string()))
                .collect(),
        );
        family(
            "sealion_scan_certificate_not_after_seconds",
            "gauge",
            "Expiry date of the certificate, seconds since 1970.",
            report
                .targets
                .iter()
                .flat_map(|target| leaves(target).map(move |leaf| (target, leaf)))
                .map(|(target, leaf)| {
                    (vec![of(target), ("sha256", leaf.sha256.clone())], leaf.not_after_unix.to_string())
                })
                .collect(),
        );
        family(
            "sealion_scan_finding",
            "gauge",
            "1 if the rule failed, 0 if it passed; a rule that is unknown has no sample.",
            findings(report)
                .filter_map(|(target, one)| {
                    let value = match one.verdict {
                        VerdictWord::Fail => "1",
                        VerdictWord::Pass => "0",
                        VerdictWord::Unknown | VerdictWord::NotApplicable => return None,
                    };
                    let labels =
                        vec![of(target), ("rule", one.rule.clone()), ("severity", one.severity.to_string())];
                    Some((labels, value.to_owned()))
                })
                .collect(),
        );
        family(
            "sealion_scan_accepted_until_seconds",
            "gauge",
            "End of the last day on which a failed or unknown finding is accepted, seconds since 1970; it may be in \
             the past.",
            report
                .targets
                .iter()
                .flat_map(|target| target.accepted.iter().map(move |one| (target, one)))
                .map(|(target, one)| {
                    (vec![of(target), ("rule", one.rule.clone())], one.until_unix.to_string())
                })
                .collect(),
        );
        family(
            "sealion_scan_timestamp_seconds",
            "gauge",
            "When the scan ended, seconds since 1970.",
            vec![(vec![("depth", report.depth.clone())], (report.ended_unix_ms / 1000).to_string())],
        );
        out
    }
}

pub fn leaves(target: &TargetRow) -> impl Iterator<Item = &CertificateRow> {
    target.tls.iter().flat_map(|tls| &tls.chains).filter_map(|chain| chain.first())
}

pub fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
