//! What is not as it was: two results side by side.

use std::collections::{BTreeMap, BTreeSet};

use report::shape::{
    ChangeRow, ChangedFindingRow, ChangesRow, FindingRow, ScanReport, TargetChangesRow, TargetRow, TlsRow,
    VerdictWord,
};

use site::OpsError;

/// Compares `now` with `then`, the result in the file `path`.
///
/// # Errors
/// Where the two were asked different questions: the differences would be those of the questions.
pub fn changes(path: &str, then: &ScanReport, now: &ScanReport) -> Result<ChangesRow, OpsError> {
    let pairs = pairs(then, now);
    let mut targets = Vec::new();
    let mut new_targets = Vec::new();
    for (row, earlier) in &pairs.both {
        if earlier.is_none() {
            new_targets.push(row.target.clone());
        }
        let one = of_target(*earlier, row);
        if !(one.appeared.is_empty() && one.went.is_empty() && one.changed.is_empty()) {
            targets.push(one);
        }
    }
    Ok(ChangesRow {
        baseline: path.to_owned(),
        baseline_ended_unix_ms: then.ended_unix_ms,
        new_targets,
        gone_targets: pairs.gone.iter().map(|row| row.target.clone()).collect(),
        targets,
    })
}

/// Whether `then` may be a baseline of a scan of this depth.
///
/// # Errors
/// Where it was made with another one.
pub fn comparable(path: &str, then: &ScanReport, depth: &str) -> Result<(), OpsError> {
    if then.depth == depth {
        return Ok(());
    }
    let flag = |depth: &str| match depth {
        "first" => "with --first".to_owned(),
        "full" => "with --full".to_owned(),
        _ => "without --first and --full".to_owned(),
    };
    Err(OpsError::usage(
        format!("{path} cannot be a baseline for this scan"),
        format!(
            "it was made {}, this one is {}: the differences would be those of the questions",
            flag(&then.depth),
            flag(depth)
        ),
        format!("scan {}, or use another baseline", flag(&then.depth)),
    ))
}

struct Pairs<'r> {
    both: Vec<(&'r TargetRow, Option<&'r TargetRow>)>,
    gone: Vec<&'r TargetRow>,
}

/// By target and address; a name that has another address now is still the same target.
fn pairs<'r>(then: &'r ScanReport, now: &'r ScanReport) -> Pairs<'r> {
    let mut exact: BTreeMap<(&str, Option<&str>), &TargetRow> = BTreeMap::new();
    for row in &then.targets {
        exact.insert((&row.target, row.address.as_deref()), row);
    }
    let mut both: Vec<(&TargetRow, Option<&TargetRow>)> = now
        .targets
        .iter()
        .map(|row| (row, exact.remove(&(row.target.as_str(), row.address.as_deref()))))
        .collect();
    let mut left: BTreeMap<&str, Vec<&TargetRow>> = BTreeMap::new();
    for row in exact.into_values() {
        left.entry(&row.target).or_default().push(row);
    }
    for (row, earlier) in &mut both {
        if earlier.is_none() {
            *earlier = left.get_mut(row.target.as_str()).and_then(Vec::pop);
        }
    }
    Pairs { both, gone: left.into_values().flatten().collect() }
}

fn is_bad(finding: &FindingRow) -> bool {
    matches!(finding.verdict, VerdictWord::Fail | VerdictWord::Unknown)
}

fn of_target(then: Option<&TargetRow>, now: &TargetRow) -> TargetChangesRow {
    let mut one = TargetChangesRow {
        target: now.target.clone(),
        address: now.address.clone(),
        appeared: vec![],
        went: vec![],
        changed: vec![],
    };
    let find = |row: Option<&'_ TargetRow>, rule: &str| {
        row.and_then(|row| row.findings.iter().find(|one| one.rule == rule).cloned())
    };
    for finding in now.findings.iter().filter(|finding| is_bad(finding)) {
        match find(then, &finding.rule) {
            // What was known to fail and cannot be judged now is no news, and no good news either.
            Some(earlier) if is_bad(&earlier) && finding.verdict == VerdictWord::Unknown => {
                differ(&mut one.changed, &finding.rule, earlier.verdict.as_str(), finding.verdict.as_str());
            }
            Some(earlier) if earlier.verdict == VerdictWord::Fail => {
                differ(&mut one.changed, &format!("why {}", finding.rule), &earlier.why, &finding.why);
            }
            // Passed then, was not judged, or could not be.
            _ => one.appeared.push(changed_finding(finding)),
        }
    }
    let Some(then) = then else { return one };
    for earlier in then.findings.iter().filter(|finding| is_bad(finding)) {
        match find(Some(now), &earlier.rule) {
            Some(finding) if is_bad(&finding) => {}
            Some(_) => one.went.push(changed_finding(earlier)),
            // Nobody looked at it now: that is no repair.
            None => differ(&mut one.changed, &earlier.rule, earlier.verdict.as_str(), "not judged"),
        }
    }
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let changed = &mut one.changed;
    differ(changed, "address", &text(&then.address), &text(&now.address));
    differ(changed, "answers", &answers(then), &answers(now));
    if let (Some(before), Some(after)) = (&then.service, &now.service) {
        differ(changed, "version", &text(&before.version), &text(&after.version));
        differ(changed, "auth plugin", &text(&before.auth_plugin), &text(&after.auth_plugin));
    }
    differ(changed, "grade", grade(then), grade(now));
    match (&then.tls, &now.tls) {
        (Some(before), Some(after)) => of_tls(before, after, changed),
        (before, after) => {
            let word = |tls: &Option<TlsRow>| if tls.is_some() { "seen" } else { "not seen" };
            differ(changed, "TLS", word(before), word(after));
        }
    }
    one
}

fn changed_finding(finding: &FindingRow) -> ChangedFindingRow {
    ChangedFindingRow {
        rule: finding.rule.clone(),
        title: finding.title.clone(),
        severity: finding.severity,
        verdict: finding.verdict,
        why: finding.why.clone(),
    }
}

fn grade(row: &TargetRow) -> &str {
    row.grade.as_deref().unwrap_or("none")
}

/// Who is there.
fn answers(row: &TargetRow) -> String {
    row.service.as_ref().map_or_else(
        || "nobody".to_owned(),
        |service| match &service.flavour {
            Some(flavour) => format!("{} ({flavour})", service.protocol),
            None => service.protocol.clone(),
        },
    )
}

fn differ(changed: &mut Vec<ChangeRow>, what: &str, before: &str, after: &str) {
    if before != after {
        changed.push(ChangeRow { what: what.to_owned(), before: before.to_owned(), after: after.to_owned() });
    }
}

/// Only what is on one side.
fn differ_lists<'a>(
    changed: &mut Vec<ChangeRow>,
    what: &str,
    before: impl IntoIterator<Item = &'a str>,
    after: impl IntoIterator<Item = &'a str>,
) {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.into_iter().collect(), after.into_iter().collect());
    let (set_before, set_after): (BTreeSet<&str>, BTreeSet<&str>) =
        (before.iter().copied().collect(), after.iter().copied().collect());
    let only = |list: &[&str], other: &BTreeSet<&str>| {
        list.iter().copied().filter(|one| !other.contains(one)).collect::<Vec<_>>().join(" ")
    };
    differ(changed, what, &only(&before, &set_after), &only(&after, &set_before));
}

fn of_tls(before: &TlsRow, after: &TlsRow, changed: &mut Vec<ChangeRow>) {
    for now in &after.versions {
        let Some(then) = before.versions.iter().find(|one| one.version == now.version) else { continue };
        differ(changed, &now.version, &then.taken, &now.taken);
        // Lists that are whole on one side only differ by what was asked.
        if then.suites_complete == now.suites_complete {
            let names = |row: &'_ report::shape::VersionRow| {
                row.suites.iter().map(|suite| suite.iana.clone()).collect::<Vec<_>>()
            };
            let (then, now_names) = (names(then), names(now));
            differ_lists(
                changed,
                &format!("suites of {}", now.version),
                then.iter().map(String::as_str),
                now_names.iter().map(String::as_str),
            );
        }
    }
    if before.groups_complete == after.groups_complete {
        differ_lists(
            changed,
            "groups",
            before.groups.iter().map(|group| group.name.as_str()),
            after.groups.iter().map(|group| group.name.as_str()),
        );
    }
    differ_lists(
        changed,
        "signature schemes",
        before.signature_schemes.iter().map(String::as_str),
        after.signature_schemes.iter().map(String::as_str),
    );
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    differ(changed, "order", &text(&before.order), &text(&after.order));
    let bits = |tls: &TlsRow| tls.dh_bits.map(|bits| bits.to_string()).unwrap_or_default();
    differ(changed, "Diffie-Hellman bits", &bits(before), &bits(after));
    let leaves = |tls: &TlsRow| -> Vec<String> {
        tls.chains
            .iter()
            .filter_map(|chain| chain.first())
            .map(|leaf| {
                let until = u64::try_from(leaf.not_after_unix).unwrap_or(0).saturating_mul(1000);
                let day = model::clock::rfc3339(until).get(..10).unwrap_or_default().to_owned();
                // Enough of the fingerprint to tell two apart.
                let print = leaf.sha256.get(..16).unwrap_or(&leaf.sha256);
                format!("{} until {day} (SHA-256 {print}…)", leaf.subject)
            })
            .collect()
    };
    let (then, now) = (leaves(before), leaves(after));
    let only = |list: &[String], other: &[String]| {
        list.iter().filter(|one| !other.contains(one)).cloned().collect::<Vec<_>>().join("; ")
    };
    differ(changed, "certificate", &only(&then, &now), &only(&now, &then));
    for row in &after.trust {
        let then = before.trust.iter().find(|one| one.chain == row.chain && one.against == row.against);
        if let Some(then) = then {
            let word = |trusted: bool| if trusted { "trusted" } else { "not trusted" };
            differ(changed, &format!("trust by {}", row.against), word(then.trusted), word(row.trusted));
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use report::shape::{CertificateRow, SCAN_SCHEMA_ID, ServiceRow, SeverityWord, SuiteRow, VersionRow};

    use super::super::gate::{Gate, gate};
    use super::*;

    pub fn leaf(key: &str, sha256: &str, not_after_unix: i64) -> CertificateRow {
        CertificateRow {
            subject: format!("CN={sha256}"),
            issuer: "CN=ca".into(),
            serial: "1".into(),
            not_before_unix: 0,
            not_after_unix,
            dns: vec![],
            ips: vec![],
            key: "EC P-256".into(),
            key_bits: 256,
            signature: String::new(),
            sha256: sha256.into(),
            key_sha256: key.into(),
            is_ca: false,
            self_signed: false,
        }
    }

    pub fn row(host: &str, ip: &str, port: u16, leaves: Vec<CertificateRow>) -> TargetRow {
        TargetRow {
            target: format!("{host}:{port}"),
            host: host.into(),
            address: Some(ip.into()),
            port,
            port_use: "MySQL".into(),
            service: Some(ServiceRow {
                protocol: "mysql".into(),
                version: Some("8.4.0".into()),
                flavour: Some("MySQL".into()),
                auth_plugin: None,
                capabilities: None,
                public_key: None,
                note: String::new(),
            }),
            tls: Some(TlsRow {
                versions: vec![],
                groups: vec![],
                groups_complete: true,
                dh_bits: None,
                dh_prime: None,
                ticket_lifetime_s: None,
                psk_lifetime_s: None,
                order: None,
                signature_schemes: vec![],
                chain_without_name: None,
                chains: leaves.into_iter().map(|leaf| vec![leaf]).collect(),
                trust: vec![],
                names: vec![],
                features: BTreeMap::new(),
            }),
            grade: Some("A".into()),
            grade_why: String::new(),
            findings: vec![],
            accepted: vec![],
            not_seen: vec![],
            connections: 1,
            handshakes: 1,
            elapsed_ms: 1.0,
        }
    }

    pub fn report(targets: Vec<TargetRow>) -> ScanReport {
        ScanReport {
            schema: SCAN_SCHEMA_ID.into(),
            sealion_version: "0".into(),
            started_unix_ms: 0,
            ended_unix_ms: 7,
            depth: "classes".into(),
            grading_version: 1,
            is_complete: true,
            asked: report::shape::AskedRow::default(),
            targets,
            reused_keys: vec![],
            rotates_next: vec![],
            changes: None,
        }
    }

    fn finding(rule: &str, verdict: VerdictWord) -> FindingRow {
        FindingRow {
            rule: rule.into(),
            title: rule.into(),
            severity: SeverityWord::High,
            subject: String::new(),
            verdict,
            why: String::new(),
            remedy: String::new(),
            how: String::new(),
            evidence: None,
        }
    }

    fn with(verdicts: &[(&str, VerdictWord)]) -> TargetRow {
        let mut row = row("a", "192.0.2.1", 1, vec![]);
        row.findings = verdicts.iter().map(|(rule, verdict)| finding(rule, *verdict)).collect();
        row
    }

    fn compared(then: Vec<TargetRow>, now: Vec<TargetRow>) -> ScanReport {
        let (then, mut now) = (report(then), report(now));
        now.changes = Some(changes("b.json", &then, &now).expect("comparable"));
        now
    }

    /// How each pair of verdicts is shown, and what a gate at `high` makes of it.
    #[test]
    fn only_what_is_new_stops_a_build() {
        use VerdictWord::{Fail, Pass, Unknown};
        let check = |then: Option<VerdictWord>, now: Option<VerdictWord>, shown: &str, expected: Gate| {
            let side = |verdict: Option<VerdictWord>| {
                with(&verdict.map(|verdict| ("SL1", verdict)).into_iter().collect::<Vec<_>>())
            };
            let report = compared(vec![side(then)], vec![side(now)]);
            let changes = report.changes.as_ref().expect("compared");
            let found = match changes.targets.first() {
                None => "",
                Some(one) if !one.appeared.is_empty() => "appeared",
                Some(one) if !one.went.is_empty() => "went",
                Some(_) => "changed",
            };
            assert_eq!(found, shown, "{then:?} {now:?}");
            assert_eq!(gate(&report, Some(SeverityWord::High)), expected, "{then:?} {now:?}");
        };
        check(Some(Pass), Some(Fail), "appeared", Gate::Failed);
        check(None, Some(Fail), "appeared", Gate::Failed);
        check(Some(Unknown), Some(Fail), "appeared", Gate::Failed);
        check(Some(Fail), Some(Fail), "", Gate::Passed);
        check(Some(Fail), Some(Pass), "went", Gate::Passed);
        check(Some(Unknown), Some(Pass), "went", Gate::Passed);
        check(Some(Fail), Some(Unknown), "changed", Gate::Passed);
        check(Some(Fail), None, "changed", Gate::Passed);
        check(Some(Pass), Some(Unknown), "appeared", Gate::Blind);
        check(Some(Unknown), Some(Unknown), "", Gate::Passed);
        check(Some(Pass), Some(Pass), "", Gate::Passed);
    }

    #[test]
    fn a_gate_counts_what_failed_is_blind_to_what_was_not_seen_and_passes_what_was_accepted() {
        use VerdictWord::{Fail, Unknown};
        let check = |row: TargetRow, limit: Option<SeverityWord>, expected: Gate| {
            assert_eq!(gate(&report(vec![row]), limit), expected);
        };
        check(with(&[("SL1", Fail)]), None, Gate::Passed);
        check(with(&[("SL1", Fail)]), Some(SeverityWord::High), Gate::Failed);
        check(with(&[("SL1", Fail)]), Some(SeverityWord::Critical), Gate::Passed);
        check(with(&[("SL1", Unknown)]), Some(SeverityWord::Low), Gate::Blind);
        check(TargetRow { service: None, ..with(&[]) }, None, Gate::Blind);
        // Half a scan has passed nothing, and what it has found counts.
        let half = |row| ScanReport { is_complete: false, ..report(vec![row]) };
        assert_eq!(gate(&half(with(&[])), None), Gate::Blind);
        assert_eq!(gate(&half(with(&[("SL1", Fail)])), Some(SeverityWord::High)), Gate::Failed);
        let accepted = |verdict, is_expired| {
            let mut row = with(&[("SL1", verdict)]);
            row.accepted.push(report::shape::AcceptedRow {
                rule: "SL1".into(),
                reason: "r".into(),
                until: "2027-03-01".into(),
                until_unix: 0,
                is_expired,
            });
            row
        };
        check(accepted(Fail, false), Some(SeverityWord::Low), Gate::Passed);
        check(accepted(Unknown, false), Some(SeverityWord::Low), Gate::Passed);
        check(accepted(Fail, true), Some(SeverityWord::Low), Gate::Failed);
    }

    #[test]
    fn new_targets_gone_ones_and_other_addresses_are_told_apart() {
        let then = vec![row("a", "192.0.2.1", 1, vec![]), row("gone", "192.0.2.9", 1, vec![])];
        let now = vec![row("a", "192.0.2.2", 1, vec![]), row("new", "192.0.2.3", 1, vec![])];
        let changes = compared(then, now).changes.expect("compared");
        assert_eq!(
            (changes.new_targets, changes.gone_targets),
            (vec!["new:1".to_owned()], vec!["gone:1".to_owned()])
        );
        let [one] = changes.targets.as_slice() else { panic!("one target changed") };
        assert_eq!((one.changed[0].what.as_str(), one.changed[0].before.as_str()), ("address", "192.0.2.1"));
    }

    #[test]
    fn versions_suites_and_certificates_are_shown_by_what_is_on_one_side_only() {
        let suite = |name: &str| SuiteRow {
            code: String::new(),
            iana: name.into(),
            openssl: None,
            strength_bits: 128,
            forward_secrecy: true,
        };
        let side = |taken: &str, suites: &[&str], certificate: &str, version: &str| {
            let mut row = row("a", "192.0.2.1", 1, vec![leaf("k", certificate, 86_400)]);
            row.service.as_mut().expect("made with one").version = Some(version.into());
            row.tls.as_mut().expect("made with it").versions = vec![VersionRow {
                version: "TLSv1.2".into(),
                taken: taken.into(),
                suites: suites.iter().map(|name| suite(name)).collect(),
                suites_complete: true,
            }];
            row
        };
        let same = || side("yes", &["A", "B"], "old", "8.4.0");
        assert_eq!(compared(vec![same()], vec![same()]).changes.expect("compared").targets, []);
        let changes = compared(vec![same()], vec![side("yes", &["B", "C"], "new", "8.4.1")]).changes;
        let found: Vec<String> = changes.expect("compared").targets[0]
            .changed
            .iter()
            .map(|one| format!("{}: {} -> {}", one.what, one.before, one.after))
            .collect();
        assert_eq!(
            found,
            [
                "version: 8.4.0 -> 8.4.1",
                "suites of TLSv1.2: A -> C",
                "certificate: CN=old until 1970-01-02 (SHA-256 old…) -> CN=new until 1970-01-02 (SHA-256 new…)",
            ]
        );
    }

    #[test]
    fn a_baseline_of_another_depth_is_refused() {
        let error = comparable("b.json", &report(vec![]), "full").expect_err("another depth").to_string();
        assert!(error.contains("without --first and --full") && error.contains("with --full"), "{error}");
        assert!(comparable("b.json", &report(vec![]), "classes").is_ok());
    }
}
