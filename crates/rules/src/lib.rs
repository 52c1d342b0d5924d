//! Rules: data and one pure function each. One file and one line in [`RULES`] add one.

pub mod accept;
mod cluster;
pub mod grade;
mod server;
mod tls;
mod verdicts;
mod wire;

use model::finding::Judgement;
use model::{Finding, Observations, Rule, Severity, Value, Verdict};

/// A certificate that ends sooner is to be renewed.
pub const CERTIFICATE_DAYS_MIN: i64 = 30;

/// A rule about one fact, judged for every subject that has it.
pub struct FactRule {
    pub id: &'static str,
    pub title: &'static str,
    pub severity: Severity,
    pub references: &'static [&'static str],
    pub explanation: &'static str,
    pub remedy: &'static str,
    pub fact: &'static str,
    pub judge: fn(&Value) -> Verdict,
}

impl Rule for FactRule {
    fn id(&self) -> &'static str {
        self.id
    }
    fn title(&self) -> &'static str {
        self.title
    }
    fn severity(&self) -> Severity {
        self.severity
    }
    fn references(&self) -> &'static [&'static str] {
        self.references
    }
    fn explanation(&self) -> &'static str {
        self.explanation
    }
    fn remedy(&self) -> &'static str {
        self.remedy
    }
    fn judge(&self, seen: &Observations) -> Vec<Judgement> {
        seen.subjects()
            .into_iter()
            .filter_map(|subject| {
                let newest = seen.newest(subject, self.fact)?;
                Some(Judgement {
                    subject: subject.to_owned(),
                    verdict: (self.judge)(&newest.value),
                    observations: vec![newest.id],
                })
            })
            .collect()
    }
}

/// Every rule, in the order of its id.
pub const RULES: &[&dyn Rule] = &[
    &wire::GALERA_LINK,
    &wire::IST_LINK,
    &wire::SST_LINK,
    &wire::CLIENT_LINK,
    &wire::REPLICATION_LINK,
    &tls::OFFERED,
    &tls::SSL2,
    &tls::SSL3,
    &tls::OLD_VERSIONS,
    &tls::TLS13,
    &tls::NO_ENCRYPTION,
    &tls::EXPORT,
    &tls::RC4,
    &tls::SMALL_BLOCKS,
    &tls::FORWARD_SECRECY,
    &tls::DH_SIZE,
    &tls::COMPRESSION,
    &tls::RENEGOTIATION,
    &tls::FALLBACK,
    &tls::EXTENDED_MASTER_SECRET,
    &tls::HEARTBEAT,
    &tls::BEAST,
    &tls::QUANTUM,
    &tls::GALERA_PLAIN,
    &tls::GALERA_DYNAMIC,
    &tls::CERTIFICATE_DATES,
    &tls::CERTIFICATE_KEY,
    &tls::CERTIFICATE_SIGNATURE,
    &tls::CERTIFICATE_ISSUER,
    &tls::CERTIFICATE_NAMES,
    &tls::CERTIFICATE_TRUST,
    &tls::CLIENT_RENEGOTIATION,
    &tls::HEARTBLEED,
    &tls::EARLY_CCS,
    &tls::ROBOT,
    &tls::GROUP_REPLICATION_PLAIN,
    &server::OFFERS_TLS,
    &server::REQUIRES_TLS,
    &server::CERTIFICATE_EXPIRY,
    &server::KEY_MODE,
    &server::KEY_OWNER,
    &server::FILES_PRESENT,
    &server::CERTIFICATE_BEGUN,
    &server::KEY_PAIR,
    &cluster::GALERA_STRICT,
    &cluster::SST_TLS,
    &cluster::LIVE_IS_FILE,
    &cluster::MEMBERS,
];

pub fn by_id(id: &str) -> Option<&'static dyn Rule> {
    RULES.iter().copied().find(|rule| rule.id().eq_ignore_ascii_case(id))
}

/// All rules over all observations: what failed first, then what is unknown, each by severity.
pub fn judge(seen: &Observations) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES
        .iter()
        .flat_map(|rule| {
            rule.judge(seen).into_iter().map(|judgement| Finding {
                rule: rule.id().into(),
                title: rule.title().into(),
                severity: rule.severity(),
                subject: judgement.subject,
                verdict: judgement.verdict,
                observations: judgement.observations,
                remedy: rule.remedy().into(),
            })
        })
        .collect();
    let order = |finding: &Finding| {
        let verdict = match finding.verdict {
            Verdict::Fail(_) => 0,
            Verdict::Unknown(_) => 1,
            Verdict::Pass => 2,
            Verdict::NotApplicable => 3,
        };
        (verdict, std::cmp::Reverse(finding.severity))
    };
    findings.sort_by_key(order);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Source;

    /// Other rules may judge the same fact: only this one is asked.
    fn verdict(id: &str, fact: &str, value: Value) -> &'static str {
        let mut seen = Observations::default();
        seen.note("n1", fact, value, Source::Sql, 0, "test");
        let judged = by_id(id).unwrap_or_else(|| panic!("{id} is not in RULES")).judge(&seen);
        let [one] = judged.as_slice() else {
            panic!("{id} has {} verdicts over {fact}, not one", judged.len())
        };
        one.verdict.word()
    }

    #[test]
    fn every_rule_passes_fails_and_says_unknown() {
        let text = |word: &str| Value::Text(word.into());
        for (id, fact, pass, fail) in [
            ("SL1001", "wire.galera", text("sealed"), text("plain")),
            ("SL1002", "wire.ist", text("sealed"), text("plain")),
            ("SL1003", "wire.sst", text("sealed"), text("plain")),
            ("SL1004", "wire.client", text("sealed"), text("plain")),
            ("SL1005", "wire.replication", text("sealed"), text("plain")),
            ("SL2001", "client.offered", Value::Bool(true), Value::Bool(false)),
            ("SL2002", "client.required", Value::Bool(true), Value::Bool(false)),
            ("SL2003", "cert.expires_in_days", Value::Number(30), Value::Number(29)),
            ("SL2004", "key.others_can_read", Value::Bool(false), Value::Bool(true)),
            ("SL2005", "key.owner_is_server", Value::Bool(true), Value::Bool(false)),
            ("SL2006", "tls.files_missing", Value::Absent, text("gone: node-key.pem")),
            (
                "SL2007",
                "cert.not_yet_valid",
                Value::Absent,
                text("node-cert.pem is not valid before 2028-01-01"),
            ),
            ("SL2008", "key.mismatch", Value::Absent, text("node-key.pem does not belong to node-cert.pem")),
            ("SL3001", "galera.effective", text("strict"), text("dynamic")),
            ("SL3001", "galera.effective", text("strict"), text("plain")),
            ("SL3002", "sst.configured", Value::Bool(true), Value::Bool(false)),
            ("SL3003", "galera.file_differs", text(""), text("gcache.size")),
            ("SL3004", "cluster.size", Value::Number(3), Value::Number(2)),
        ] {
            assert_eq!(verdict(id, fact, pass), "pass", "{id} over {fact}");
            assert_eq!(verdict(id, fact, fail), "fail", "{id} over {fact}");
            assert_eq!(verdict(id, fact, Value::Unknown("not looked".into())), "unknown", "{id} over {fact}");
        }
    }

    /// `UPDATE_DOCS=1 cargo test --profile ci -p rules` writes it anew.
    #[test]
    fn the_page_of_rules_is_what_the_rules_say() {
        let mut page = String::from(
            "# Rules\n\nThis page is written from the rules themselves. `sealion explain ID` says the same.\n\n\
             A finding is `pass`, `fail`, `unknown` or `not-applicable`; what could not be seen is `unknown`, never `pass`.\n",
        );
        for rule in RULES {
            page += &format!(
                "\n## {} ({})\n\n**{}.** {}\n\nRemedy: {}.\n\nReferences: {}.\n",
                rule.id(),
                rule.severity(),
                rule.title(),
                rule.explanation(),
                rule.remedy(),
                rule.references().join("; ")
            );
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/rules.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).expect("the docs are writable");
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "docs/src/reference/rules.md is stale: UPDATE_DOCS=1 cargo test --profile ci -p rules"
        );
    }

    #[test]
    fn ids_are_unique_ordered_and_each_rule_has_all_its_texts() {
        let ids: Vec<&str> = RULES.iter().map(|rule| rule.id()).collect();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(ids, sorted, "RULES is in the order of the ids, and each id is there once");
        for rule in RULES {
            let id = rule.id();
            assert!(!rule.references().is_empty(), "{id}: no references");
            assert!(
                rule.explanation().len() > 60,
                "{id}: an explanation of 60 characters or fewer explains nothing"
            );
            assert!(rule.explanation().ends_with('.'), "{id}: the explanation ends without a full stop");
            assert!(!rule.remedy().is_empty(), "{id}: no remedy");
            assert!(!rule.title().ends_with('.'), "{id}: a title ends without a full stop");
        }
    }

    #[test]
    fn failures_come_first_and_the_newest_observation_counts() {
        let mut seen = Observations::default();
        seen.note("n1", "client.offered", Value::Bool(false), Source::Sql, 0, "t");
        seen.note("n1", "cluster.size", Value::Number(2), Source::Sql, 0, "t");
        seen.note("n1", "client.offered", Value::Bool(true), Source::Sql, 1, "t");
        let findings = judge(&seen);
        assert_eq!(findings.iter().map(|f| f.verdict.word()).collect::<Vec<_>>(), ["fail", "pass"]);
    }
}
