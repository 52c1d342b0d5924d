use model::{Evidence, Finding, LinkSight, Observations, Verdict};
use serde::{Deserialize, Serialize};

use super::{SeverityWord, VerdictWord};

/// What canaries begin with, and how long they are (`capture::canary`).
const CANARY_PREFIX: &str = "SLCANARY";
const CANARY_CHARS: usize = 24;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingRow {
    pub rule: String,
    /// The wanted condition.
    pub title: String,
    pub severity: SeverityWord,
    /// `n1`, `galera n1-n2`, `demo`
    pub subject: String,
    pub verdict: VerdictWord,
    /// Why it failed or is unknown; empty when it passed.
    pub why: String,
    pub remedy: String,
    /// How a person sees the same.
    pub how: String,
    pub evidence: Option<EvidenceRow>,
}

impl FindingRow {
    /// The published row of a finding: its observations say how, the sight of the same link gives the bytes.
    pub fn new(finding: &Finding, seen: &Observations, sights: &[LinkSight]) -> Self {
        let mut how: Vec<&str> = Vec::new();
        for observation in finding.observations.iter().filter_map(|id| seen.get(*id)) {
            if !how.contains(&observation.how.as_str()) {
                how.push(&observation.how);
            }
        }
        let why = match &finding.verdict {
            Verdict::Fail(why) | Verdict::Unknown(why) => why.clone(),
            Verdict::Pass | Verdict::NotApplicable => String::new(),
        };
        Self {
            rule: finding.rule.clone(),
            title: finding.title.clone(),
            severity: finding.severity.into(),
            subject: finding.subject.clone(),
            verdict: (&finding.verdict).into(),
            why,
            remedy: finding.remedy.clone(),
            how: how.join("; "),
            evidence: sights
                .iter()
                .rev()
                .find(|sight| sight.link.to_string() == finding.subject)
                .and_then(|sight| sight.evidence.as_ref())
                .map(EvidenceRow::from),
        }
    }
}

/// Captured bytes around one canary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceRow {
    /// `127.77.1.1:4567 -> 127.77.1.2:41822`
    pub flow: String,
    pub bytes_hex: String,
    /// Printable ASCII, everything else as `.`.
    pub text: String,
    /// The canary among them; empty when the bytes hold none (a TLS record).
    pub canary: String,
}

impl From<&Evidence> for EvidenceRow {
    fn from(evidence: &Evidence) -> Self {
        let canary = evidence
            .text
            .find(CANARY_PREFIX)
            .and_then(|at| evidence.text.get(at..at + CANARY_CHARS))
            .unwrap_or_default();
        Self {
            flow: evidence.flow.clone(),
            bytes_hex: evidence.bytes_hex.clone(),
            text: evidence.text.clone(),
            canary: canary.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Link, LinkKind, Seen, Severity, Source, Value, facts};

    use super::*;

    #[test]
    fn a_finding_of_a_link_carries_its_bytes_and_each_how_once() {
        let mut seen = Observations::default();
        let id = |seen: &mut Observations| {
            seen.note(
                "galera n1-n2",
                &facts::wire::WIRE_GALERA,
                Value::Text("plain".into()),
                Source::Wire,
                1,
                "tcpdump port 4567",
            )
        };
        let (one, two) = (id(&mut seen), id(&mut seen));
        let link = Link::new(LinkKind::Galera, "n2", "n1");
        let finding = Finding {
            rule: "SL3001".into(),
            title: "Writesets are sealed".into(),
            severity: Severity::High,
            subject: link.to_string(),
            verdict: Verdict::Fail("4 canaries".into()),
            observations: vec![one, two],
            remedy: "sealion enable galera".into(),
        };
        let sight = LinkSight {
            link,
            seen: Seen::Plain,
            payload_bytes: 1,
            tcp_flows: 1,
            canaries: 4,
            tls_bytes: 0,
            only_own_session: false,
            tcp_sessions: None,
            cleartext_clients: vec![],
            refused_logins: vec![],
            method: "AF_PACKET on lo".into(),
            control_seen: true,
            kernel_drops: 0,
            evidence: Some(Evidence {
                flow: "a -> b".into(),
                stream_offset_bytes: 0,
                bytes_hex: "00".into(),
                text: "..SLCANARY0123456789abcdef..".into(),
            }),
        };
        let row = FindingRow::new(&finding, &seen, &[sight]);
        assert_eq!(row.how, "tcpdump port 4567");
        assert_eq!((row.verdict, row.why.as_str()), (VerdictWord::Fail, "4 canaries"));
        assert_eq!(row.evidence.expect("the sight has bytes").canary, "SLCANARY0123456789abcdef");
    }
}
