//! Facts become observations: the names that the rules know them by.

use report::shape::TrustRow;

use super::NAMED_CA;
use ::scan::facts::{Found, Service, Tls};
use ::scan::{Facts, Target, leaf};
use model::facts::tls as tls_facts;
use model::{Fact, Observations, Source, Value};
use trust::CertificateInfo;
use wire::tls::registry::{Cipher, CipherSuite, KeyExchange, Mode, Version, cipher_suite, group};

const SECONDS_PER_DAY: i64 = 86_400;

/// Notes everything that was seen. What was not asked is not noted, so that no rule takes it for fine.
pub fn observe(
    target: &Target,
    facts: &Facts,
    trust: &[TrustRow],
    is_ca_named: bool,
    now_unix_ms: u64,
) -> Observations {
    let mut seen = Observations::default();
    let how = format!("sealion scan {target}; openssl s_client -starttls mysql -connect {}", target.address);
    let mut note = |fact: &Fact, value: Value| {
        seen.note(target.to_string(), fact, value, Source::Wire, now_unix_ms, how.clone());
    };
    // What one server answered says nothing about the other.
    if let Some(why) = &facts.several_servers {
        for fact in [&tls_facts::TLS_OFFERED].into_iter().chain(OF_EVERY_TLS).chain(OF_LEAVES) {
            note(fact, Value::Unknown(why.clone()));
        }
        return seen;
    }
    match &facts.service {
        Some(Service::Mysql { offers_tls, .. } | Service::XProtocol { offers_tls, .. }) => {
            let answered = !*offers_tls || facts.tls.is_some();
            let unread = || Value::Unknown("TLS is offered, but no ClientHello was answered".into());
            note(&tls_facts::TLS_OFFERED, if answered { Value::Bool(*offers_tls) } else { unread() });
            if !answered {
                // What rules say nothing of would not count, and no letter stands on what nobody could read.
                for fact in OF_EVERY_TLS.into_iter().chain(OF_LEAVES) {
                    note(fact, unread());
                }
            }
        }
        Some(Service::GaleraPlain { dynamic }) => {
            note(&tls_facts::GALERA_PLAIN, Value::Bool(!dynamic));
            note(&tls_facts::GALERA_DYNAMIC, Value::Bool(*dynamic));
        }
        Some(Service::GroupReplicationPlain { .. }) => {
            note(&tls_facts::GROUP_REPLICATION_PLAIN, Value::Bool(true));
        }
        Some(Service::Tls) if target.port == ::scan::Port::GroupReplication => {
            note(&tls_facts::GROUP_REPLICATION_PLAIN, Value::Bool(false));
        }
        Some(Service::Tls) if target.port == ::scan::Port::Galera => {
            note(&tls_facts::GALERA_PLAIN, Value::Bool(false));
            note(&tls_facts::GALERA_DYNAMIC, Value::Bool(false));
        }
        _ => {}
    }
    if let Some(tls) = &facts.tls {
        of_tls(tls, &mut note);
        of_trust(tls, trust, is_ca_named, &mut note);
        of_leaves(tls, target, now_unix_ms, &mut note);
    }
    seen
}

fn found(value: &Found) -> Value {
    match value {
        Found::Yes => Value::Bool(true),
        Found::No => Value::Bool(false),
        Found::Unknown(why) => Value::Unknown(why.clone()),
    }
}

type Kind = (&'static Fact, fn(&CipherSuite) -> bool);

fn of_tls(tls: &Tls, note: &mut dyn FnMut(&Fact, Value)) {
    let version = |version: Version| tls.versions.get(&version);
    for (fact, one) in [
        (&tls_facts::TLS_VERSION_SSL2, Version::SSL2),
        (&tls_facts::TLS_VERSION_SSL3, Version::SSL3),
        (&tls_facts::TLS_VERSION_TLS13, Version::TLS13),
    ] {
        if let Some(value) = version(one) {
            note(fact, found(value));
        }
    }
    let old: Vec<&Found> = [Version::TLS10, Version::TLS11].into_iter().filter_map(version).collect();
    if !old.is_empty() {
        let unknown = old.iter().find(|one| matches!(one, Found::Unknown(_)));
        let value = if old.contains(&&Found::Yes) {
            Value::Bool(true)
        } else {
            unknown.map_or(Value::Bool(false), |one| found(one))
        };
        note(&tls_facts::TLS_VERSION_OLD, value);
    }

    let taken: Vec<(Version, &CipherSuite)> = tls
        .suites
        .iter()
        .flat_map(|(version, codes)| codes.iter().filter_map(|code| Some((*version, cipher_suite(*code)?))))
        .collect();
    if old.is_empty() && !tls.versions.contains_key(&Version::SSL2) {
        return of_handshakes(tls, note); // Only one handshake was made: nothing more was asked.
    }
    let kinds: [Kind; 5] = [
        (&tls_facts::TLS_SUITES_NONE, |suite| (suite.is_null() || suite.is_anon()) && !suite.is_export),
        (&tls_facts::TLS_SUITES_EXPORT, |suite| suite.is_export),
        (&tls_facts::TLS_SUITES_RC4, |suite| suite.cipher == Cipher::Rc4),
        (&tls_facts::TLS_SUITES_SMALL_BLOCKS, |suite| suite.cipher.block_bits() == Some(64)),
        (&tls_facts::TLS_SUITES_STATIC_KEY, |suite| !suite.has_forward_secrecy()),
    ];
    for (fact, is_of) in kinds {
        let mut names: Vec<&str> = taken
            .iter()
            .filter(|(_, suite)| is_of(suite))
            .map(|(_, suite)| suite.openssl_name.unwrap_or(suite.name))
            .collect();
        names.sort_unstable();
        names.dedup();
        note(
            fact,
            match (names.is_empty(), tls.classes_complete) {
                (false, _) => Value::Text(format!("taken: {}", names.join(", "))),
                (true, true) => Value::Absent,
                (true, false) => Value::Unknown("not every class of cipher suites was offered".into()),
            },
        );
    }
    let beast = taken.iter().any(|(version, suite)| *version == Version::TLS10 && suite.mode == Mode::Cbc);
    if let Some(Found::Yes | Found::No) = version(Version::TLS10) {
        note(&tls_facts::TLS_BEAST, Value::Bool(beast));
    }
    if let Some(bits) = tls.dh_bits {
        note(&tls_facts::TLS_DH_BITS, Value::Number(i64::try_from(bits).unwrap_or(i64::MAX)));
    }
    let is_hybrid =
        |code: &u16| group(*code).is_some_and(wire::tls::registry::Group::resists_quantum_computers);
    if version(Version::TLS13) == Some(&Found::Yes) {
        let any = tls.groups.get(&Version::TLS13).is_some_and(|codes| codes.iter().any(is_hybrid));
        note(&tls_facts::TLS_QUANTUM_SAFE_GROUP, Value::Bool(any));
    }
    of_handshakes(tls, note);
    if let Some(value) = &tls.fallback_scsv {
        note(&tls_facts::TLS_FALLBACK_SCSV, found(value));
    }
}

/// What handshakes of TLS 1.2 and older show, as far as they were made.
fn of_handshakes(tls: &Tls, note: &mut dyn FnMut(&Fact, Value)) {
    for (fact, value) in [
        (&tls_facts::TLS_COMPRESSION, &tls.compression),
        (&tls_facts::TLS_SECURE_RENEGOTIATION, &tls.secure_renegotiation),
        (&tls_facts::TLS_EXTENDED_MASTER_SECRET, &tls.extended_master_secret),
        (&tls_facts::TLS_HEARTBEAT, &tls.heartbeat),
        (&tls_facts::TLS_HEARTBLEED, &tls.heartbleed),
        (&tls_facts::TLS_EARLY_CCS, &tls.early_ccs),
        (&tls_facts::TLS_ROBOT, &tls.robot),
    ] {
        if let Some(value) = value {
            note(fact, found(value));
        }
    }
    if let Some(value) = &tls.client_renegotiation {
        // Where nobody gets in without a certificate, there is no session for a stranger to renegotiate in.
        let is_closed = tls.client_certificate_required == Some(Found::Yes);
        note(&tls_facts::TLS_CLIENT_RENEGOTIATION, if is_closed { Value::Absent } else { found(value) });
    }
}

/// Facts of every server with TLS.
const OF_EVERY_TLS: [&Fact; 14] = [
    &tls_facts::TLS_VERSION_SSL2,
    &tls_facts::TLS_VERSION_SSL3,
    &tls_facts::TLS_VERSION_OLD,
    &tls_facts::TLS_VERSION_TLS13,
    &tls_facts::TLS_SUITES_NONE,
    &tls_facts::TLS_SUITES_EXPORT,
    &tls_facts::TLS_SUITES_RC4,
    &tls_facts::TLS_SUITES_SMALL_BLOCKS,
    &tls_facts::TLS_SUITES_STATIC_KEY,
    &tls_facts::TLS_COMPRESSION,
    &tls_facts::TLS_SECURE_RENEGOTIATION,
    &tls_facts::TLS_EXTENDED_MASTER_SECRET,
    &tls_facts::TLS_HEARTBEAT,
    &tls_facts::TLS_QUANTUM_SAFE_GROUP,
];
/// What is said of a certificate, in the order of [`of_leaf`].
const OF_LEAVES: [&Fact; 5] = [
    &tls_facts::TLS_CERTIFICATE_EXPIRES_IN_DAYS,
    &tls_facts::TLS_CERTIFICATE_WEAK_KEY,
    &tls_facts::TLS_CERTIFICATE_WEAK_SIGNATURE,
    &tls_facts::TLS_CERTIFICATE_OF_NOBODY,
    &tls_facts::TLS_CERTIFICATE_NAME_MISMATCH,
];

/// Why there is no certificate to judge; `None` where there can be none.
fn why_no_chain(tls: &Tls) -> Option<String> {
    let mut taken = tls.suites.values().flatten().peekable();
    let has_any = taken.peek().is_some();
    let has_certificate = |code: &u16| {
        cipher_suite(*code).is_none_or(|suite| {
            !suite.is_anon()
                && !matches!(
                    suite.key_exchange,
                    KeyExchange::Psk | KeyExchange::DhePsk | KeyExchange::EcdhePsk
                )
        })
    };
    if has_any && tls.classes_complete && !taken.any(has_certificate) {
        return None;
    }
    Some(
        "no certificate was received: no handshake reached it, or only with groups and cipher suites that sealion \
         does not implement"
            .into(),
    )
}

/// What only tells one of several apart.
fn named(chain: Option<&Vec<CertificateInfo>>, among: usize, text: String) -> String {
    match chain.and_then(|chain| chain.first()).filter(|_| among > 1) {
        Some(leaf) => format!("the certificate with {} ({}): {text}", leaf.key, leaf.subject),
        None => text,
    }
}

/// Only against the CA that somebody named: most database servers have none that a system trusts. One chain that it does
/// not trust is enough: which one a client gets is its own choice of suites.
fn of_trust(tls: &Tls, trust: &[TrustRow], is_ca_named: bool, note: &mut dyn FnMut(&Fact, Value)) {
    let rows: Vec<&TrustRow> = trust.iter().filter(|row| row.against == NAMED_CA).collect();
    let value = match rows.iter().find(|row| !row.trusted) {
        Some(row) => Value::Text(named(tls.chains.get(row.chain), rows.len(), row.why.clone())),
        None if !rows.is_empty() => Value::Absent,
        None if !is_ca_named => return,
        None => match why_no_chain(tls) {
            Some(why) => Value::Unknown(why),
            None => return,
        },
    };
    note(&tls_facts::TLS_CERTIFICATE_UNTRUSTED, value);
}

/// The worst of the certificates decides.
fn of_leaves(tls: &Tls, target: &Target, now_unix_ms: u64, note: &mut dyn FnMut(&Fact, Value)) {
    let chains: Vec<&Vec<CertificateInfo>> = tls.chains.iter().filter(|chain| !chain.is_empty()).collect();
    if chains.is_empty() {
        if let Some(why) = why_no_chain(tls) {
            for fact in OF_LEAVES {
                note(fact, Value::Unknown(why.clone()));
            }
        }
        return;
    }
    let judged: Vec<_> = chains
        .iter()
        .filter_map(|chain| Some((*chain, of_leaf(chain.first()?, target, now_unix_ms))))
        .collect();
    let ends_first = judged.iter().min_by_key(|(_, (life, _))| life.order());
    if let Some((chain, (life, _))) = ends_first {
        let value = match life {
            Life::From(unix) => {
                let text = format!("not valid until {}", report::figures::day(*unix));
                Value::Text(named(Some(chain), judged.len(), text))
            }
            Life::DaysLeft(days) if judged.len() > 1 && *days < rules::CERTIFICATE_DAYS_MIN => {
                let text = format!(
                    "it expires in {days} days; at least {} are required",
                    rules::CERTIFICATE_DAYS_MIN
                );
                Value::Text(named(Some(chain), judged.len(), text))
            }
            Life::DaysLeft(days) => Value::Number(*days),
        };
        note(OF_LEAVES[0], value);
    }
    for (place, fact) in OF_LEAVES.into_iter().skip(1).enumerate() {
        let bad = judged.iter().find_map(|(chain, (_, bad))| Some((*chain, bad.get(place)?.clone()?)));
        note(
            fact,
            bad.map_or(Value::Absent, |(chain, text)| Value::Text(named(Some(chain), judged.len(), text))),
        );
    }
}

/// How long a certificate is valid.
enum Life {
    /// From this moment on, and not before.
    From(i64),
    DaysLeft(i64),
}

impl Life {
    /// What ends first comes first, and what has not begun before all of them.
    fn order(&self) -> i64 {
        match self {
            Self::From(_) => i64::MIN,
            Self::DaysLeft(days) => *days,
        }
    }
}

/// The days that are left, and what is wrong with the rest of [`OF_LEAVES`].
fn of_leaf(of: &CertificateInfo, target: &Target, now_unix_ms: u64) -> (Life, [Option<String>; 4]) {
    let now_unix = i64::try_from(now_unix_ms / 1000).unwrap_or(i64::MAX);
    let life = if of.not_before_unix > now_unix {
        Life::From(of.not_before_unix)
    } else {
        Life::DaysLeft((of.not_after_unix - now_unix).div_euclid(SECONDS_PER_DAY))
    };
    (
        life,
        [
            leaf::weak_key(of),
            leaf::weak_signature(of),
            leaf::of_nobody(of),
            leaf::name_mismatch(of, &target.host),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(dns: &[&str], ips: &[&str]) -> CertificateInfo {
        CertificateInfo {
            subject: "CN=x".into(),
            issuer: "CN=ca".into(),
            serial_hex: "1".into(),
            not_before_unix: 0,
            not_after_unix: 4_000_000_000,
            dns: dns.iter().map(|&name| name.to_owned()).collect(),
            ips: ips.iter().map(|ip| ip.parse().expect("an address")).collect(),
            key: "EC P-256".into(),
            key_bits: 256,
            signature: String::new(),
            sha256_fingerprint: String::new(),
            key_sha256: String::new(),
            is_ca: false,
            server_auth: true,
            client_auth: true,
            self_signed: false,
        }
    }

    fn of_chain(chain: Vec<CertificateInfo>, host: &str, now_unix_s: u64) -> (Facts, Target, u64) {
        let mut facts = Facts::new(::scan::Port::Mysql);
        let mut tls = Tls { chains: vec![chain], ..Tls::default() };
        tls.versions.insert(Version::TLS13, Found::Yes);
        facts.tls = Some(tls);
        (facts, Target::new(host, host.parse().expect("ip"), 3306, true), now_unix_s * 1000)
    }

    fn verdict(rule: &str, facts: &Facts, target: &Target, now_unix_ms: u64) -> model::Verdict {
        let findings = rules::judge(&observe(target, facts, &[], true, now_unix_ms));
        findings.into_iter().find(|finding| finding.rule == rule).expect("it is judged").verdict
    }

    #[test]
    fn a_certificate_that_is_not_valid_yet_is_told_with_its_date_and_no_days() {
        let from = CertificateInfo { not_before_unix: 1_800_000_000, ..leaf(&[], &["192.0.2.1"]) };
        let (facts, target, now) = of_chain(vec![from], "192.0.2.1", 1_790_000_000);
        assert_eq!(
            verdict("SL1121", &facts, &target, now),
            model::Verdict::Fail("not valid until 2027-01-15".into())
        );
    }

    #[test]
    fn a_certificate_for_localhost_is_a_hole_for_who_connects_to_an_address() {
        let check = |leaf: CertificateInfo, host: &str| {
            let (facts, target, now) = of_chain(vec![leaf], host, 1_790_000_000);
            verdict("SL1125", &facts, &target, now)
        };
        let told = check(leaf(&["localhost"], &["192.0.2.1"]), "192.0.2.1");
        let model::Verdict::Fail(text) = &told else { panic!("{told:?}") };
        assert!(text.contains("Node accepts it for 192.0.2.1 because it is for localhost"), "{text}");
        assert_eq!(check(leaf(&["db1"], &["192.0.2.1"]), "192.0.2.1"), model::Verdict::Pass);
        // On the machine itself that is its name.
        assert_eq!(check(leaf(&["localhost"], &["127.0.0.1"]), "127.0.0.1"), model::Verdict::Pass);
    }

    #[test]
    fn of_several_servers_nothing_is_judged() {
        let (mut facts, target, now) = of_chain(vec![leaf(&["db1"], &[])], "192.0.2.1", 1_790_000_000);
        facts.several_servers = Some("two".into());
        let findings = rules::judge(&observe(&target, &facts, &[], true, now));
        assert!(findings.len() > 10 && findings.iter().all(|finding| finding.verdict.word() == "unknown"));
    }

    #[test]
    fn a_look_that_asked_little_lets_no_rule_pass_for_what_was_not_asked() {
        let mut facts = Facts::new(::scan::Port::Mysql);
        let mut tls = Tls::default();
        tls.versions.insert(Version::TLS13, Found::Yes);
        facts.tls = Some(tls);
        let target = Target::new("127.0.0.1", "127.0.0.1".parse().expect("ip"), 3306, true);
        let findings = rules::judge(&observe(&target, &facts, &[], true, 0));
        let of = |word: &str| -> Vec<&str> {
            let of_word = findings.iter().filter(|finding| finding.verdict.word() == word);
            of_word.map(|finding| finding.rule.as_str()).collect()
        };
        assert_eq!(of("pass"), ["SL1105"]);
        // A certificate that nobody has seen is not a good one.
        let mut unknown = of("unknown");
        unknown.sort_unstable();
        assert_eq!(unknown, ["SL1121", "SL1122", "SL1123", "SL1124", "SL1125", "SL1126"]);
    }

    #[test]
    fn tls_that_is_offered_and_nowhere_read_passes_no_rule() {
        let mut facts = Facts::new(::scan::Port::Mysql);
        facts.service = Some(Service::Mysql {
            version: "8.0.36".into(),
            flavour: "MySQL".into(),
            auth_plugin: None,
            capabilities: 0,
            offers_tls: true,
        });
        let target = Target::new("127.0.0.1", "127.0.0.1".parse().expect("ip"), 3306, true);
        let findings = rules::judge(&observe(&target, &facts, &[], false, 0));
        assert!(findings.len() > 15 && findings.iter().all(|finding| finding.verdict.word() == "unknown"));
    }
}
