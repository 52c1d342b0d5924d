#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn look(outcome: Result<Sights, Failure>) -> Look {
    Look { servers: vec!["n1".into(), "n2".into()], took_ms: 700, interval_s: 60, outcome }
}

fn up(name: &str) -> ServerSight {
    ServerSight {
        name: name.into(),
        address: "127.0.0.1".into(),
        answer: Ok(("10.11".into(), "Synced".into())),
    }
}

fn silent(name: &str) -> ServerSight {
    let why = Failure { reason: Reason::NoAnswer, why: "refused".into() };
    ServerSight { name: name.into(), address: "127.0.0.1".into(), answer: Err(why) }
}

fn sights(servers: Vec<ServerSight>, state: LinkState) -> Sights {
    let link = |a: &str, b: &str| LinkSight {
        kind: LinkKind::Galera,
        a: a.into(),
        b: b.into(),
        state,
        why: String::new(),
    };
    let facts = Certificate { fingerprint: "ab".into(), not_before_unix: 1, not_after_unix: 99 };
    Sights {
        servers,
        links: vec![link("n1", "n2")],
        certificates: vec![CertificateSight {
            server: "n2".into(),
            usage: "server".into(),
            seen: "wire".into(),
            facts: Ok(facts),
        }],
        findings: vec![FindingSight {
            rule: "SL1001".into(),
            subject: "n2".into(),
            title: "t".into(),
            severity: Severity::High,
            remedy: "r".into(),
            state: FindingState::Pass,
            why: String::new(),
        }],
        ..Sights::default()
    }
}

fn word(state: &State, family: &'static str, subject: &str) -> String {
    state.entries.get(&(family, subject.to_owned())).map_or_else(|| "-".into(), |entry| entry.body.word())
}

#[test]
fn what_a_look_did_not_see_is_unknown_and_keeps_its_dates() {
    let (first, changes) =
        advance(&State::default(), &look(Ok(sights(vec![up("n1"), up("n2")], LinkState::Encrypted))), 1000);
    assert_eq!(changes.len(), 7, "{changes:?}");
    assert_eq!(word(&first, "link", "galera n1 - n2"), "encrypted");
    // The same again: no change, and one time that goes on.
    let (same, changes) =
        advance(&first, &look(Ok(sights(vec![up("n1"), up("n2")], LinkState::Encrypted))), 2000);
    assert_eq!(changes, []);
    let link = &same.entries[&("link", "galera n1 - n2".to_owned())];
    assert_eq!((link.first_seen_unix_ms, link.last_seen_unix_ms), (1000, 2000));
    // n2 says nothing: neither its link nor its certificate nor its finding is what it was.
    let gone = Sights { servers: vec![up("n1"), silent("n2")], ..Sights::default() };
    let (blind, _) = advance(&same, &look(Ok(gone)), 3000);
    for (family, subject, wanted) in [
        ("server", "n2", "silent"),
        ("link", "galera n1 - n2", "unknown"),
        ("certificate", "n2 server wire", "unknown"),
        ("finding", "SL1001 n2", "unknown"),
    ] {
        assert_eq!(word(&blind, family, subject), wanted, "{subject}");
    }
    assert_eq!(blind.meta.last_success_unix_ms, Some(2000), "it stays");
    assert_eq!(blind.meta.errors["n2"][&Reason::NoAnswer], 1);
    let Body::Certificate { facts: Some(facts), unread: Some(_), .. } =
        &blind.entries[&("certificate", "n2 server wire".to_owned())].body
    else {
        panic!("its end is kept, as what was read before: {blind:?}");
    };
    assert_eq!(facts.not_after_unix, 99);
    // Nothing at all came back.
    let failure = Failure { reason: Reason::Timeout, why: "late".into() };
    let (none, _) = advance(&same, &look(Err(failure)), 4000);
    assert_eq!(word(&none, "link", "galera n1 - n2"), "unknown");
    assert_eq!(word(&none, "server", "n1"), "unknown");
    assert_eq!(none.meta.errors[""][&Reason::Timeout], 1);
}

proptest! {
    /// Whatever comes: encrypted is only what this very look saw so, and no time ends before it began.
    #[test]
    fn nothing_is_encrypted_that_was_not_seen_so_now(
        looks in proptest::collection::vec((0_u8..4, 0_usize..5, 0_u64..5000), 1..12),
    ) {
        let mut state = State::default();
        for (kind, link, now) in looks {
            let seen = LinkState::ALL[link];
            let outcome = match kind {
                0 => Ok(sights(vec![up("n1"), up("n2")], seen)),
                1 => Ok(Sights { servers: vec![up("n1"), silent("n2")], ..Sights::default() }),
                2 => Err(Failure { reason: Reason::Timeout, why: "late".into() }),
                _ => Ok(Sights { servers: vec![up("n1"), up("n2")], wire_unseen: Some(("no right".into(), true)), ..Sights::default() }),
            };
            state = advance(&state, &look(outcome), now).0;
            let wanted = if kind == 0 { seen.as_str() } else { "unknown" };
            let got = word(&state, "link", "galera n1 - n2");
            prop_assert!(got == wanted || got == "-", "{} {}", got, wanted);
            for entry in state.entries.values() {
                prop_assert!(entry.first_seen_unix_ms <= entry.last_seen_unix_ms);
            }
        }
    }
}

#[test]
fn links_of_names_with_hyphens_are_two_and_a_look_without_a_capture_has_them() {
    let link = |a: &str, b: &str, state| LinkSight {
        kind: LinkKind::Galera,
        a: a.into(),
        b: b.into(),
        state,
        why: String::new(),
    };
    let finding = |state| FindingSight {
        rule: "SL1001".into(),
        subject: "galera a-b-c".into(),
        title: "t".into(),
        severity: Severity::Critical,
        remedy: "r".into(),
        state,
        why: String::new(),
    };
    let names = ["a", "b-c", "a-b", "c"];
    let seen = Sights {
        servers: names.map(up).to_vec(),
        links: vec![link("a", "b-c", LinkState::Plain), link("a-b", "c", LinkState::Encrypted)],
        findings: vec![finding(FindingState::Fail), finding(FindingState::Pass)],
        ..Sights::default()
    };
    let look =
        Look { servers: names.map(str::to_owned).to_vec(), took_ms: 1, interval_s: 60, outcome: Ok(seen) };
    let (state, _) = advance(&State::default(), &look, 1000);
    assert_eq!(word(&state, "link", "galera a - b-c"), "plain");
    assert_eq!(word(&state, "link", "galera a-b - c"), "encrypted");
    assert_eq!(word(&state, "finding", "SL1001 galera a-b-c"), "fail");
    // Nothing was captured, and nothing was known before.
    let blind = Sights {
        servers: names.map(up).to_vec(),
        wire_unseen: Some(("no right".into(), true)),
        ..Sights::default()
    };
    let failure = Failure { reason: Reason::Timeout, why: "late".into() };
    for outcome in [Ok(blind), Err(failure)] {
        let (state, _) = advance(&State::default(), &Look { outcome, ..look.clone() }, 1000);
        for name in names {
            assert_eq!(word(&state, "link", &format!("client client - {name}")), "unknown");
        }
    }
}

fn claim(what: &str, encrypted: u32, plain: u32) -> RestSight {
    RestSight {
        server: "n1".into(),
        what: what.into(),
        counts: Ok(RestCounts { encrypted, plain, unknown: 0 }),
    }
}

fn fell_back(state: &State, what: &str) -> Option<u64> {
    match state.entries.get(&("atrest", format!("n1 {what}"))).map(|entry| &entry.body) {
        Some(Body::AtRest { fell_back_unix_ms, .. }) => *fell_back_unix_ms,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_encrypted_and_is_plain_fell_back_until_nothing_is_plain() {
    let with = |servers: Vec<ServerSight>, at_rest: Vec<RestSight>| {
        look(Ok(Sights { at_rest, ..sights(servers, LinkState::Encrypted) }))
    };
    let both = || vec![up("n1"), up("n2")];
    let spaces = |encrypted, plain| {
        with(both(), vec![claim("tablespaces", encrypted, plain), claim("redo log", 1, 0)])
    };
    let (state, _) = advance(&State::default(), &spaces(41, 0), 1_000);
    assert_eq!(
        (word(&state, "atrest", "n1 tablespaces").as_str(), fell_back(&state, "tablespaces")),
        ("encrypted", None)
    );
    let (state, changes) = advance(&state, &spaces(40, 1), 2_000);
    assert_eq!(
        (word(&state, "atrest", "n1 tablespaces").as_str(), fell_back(&state, "tablespaces")),
        ("mixed, fell back at 1970-01-01T00:00:02.000Z", Some(2_000))
    );
    let fell = |changes: &[Change]| {
        changes.iter().any(|change| {
            change.key.0 == "atrest"
                && change.to.as_ref().is_some_and(|word| word.starts_with("mixed, fell back"))
        })
    };
    assert!(fell(&changes));
    assert_eq!(state.meta.counts.as_ref().unwrap().at_rest_fell_back, 1);
    // One more that is plain and new is no fall; when it began stays.
    let (state, _) = advance(&state, &spaces(40, 2), 3_000);
    assert_eq!(fell_back(&state, "tablespaces"), Some(2_000));
    // Nobody is asked: unknown, and what was seen stays with its date. The other kinds too, where one question is refused.
    let (state, _) = advance(&state, &with(vec![silent("n1"), up("n2")], vec![]), 4_000);
    assert_eq!(
        (word(&state, "atrest", "n1 tablespaces").as_str(), fell_back(&state, "tablespaces")),
        ("unknown", Some(2_000))
    );
    let refused = RestSight { counts: Err("no right".into()), ..claim("tablespaces", 0, 0) };
    let (state, _) = advance(&state, &with(both(), vec![refused]), 5_000);
    assert_eq!(word(&state, "atrest", "n1 redo log"), "unknown");
    assert_eq!(state.meta.counts.as_ref().unwrap().at_rest_unknown, 2);
    // What fell while nobody could ask is seen by the next answer.
    let (state, _) =
        advance(&state, &with(both(), vec![claim("tablespaces", 42, 0), claim("redo log", 0, 1)]), 6_000);
    assert_eq!((fell_back(&state, "tablespaces"), fell_back(&state, "redo log")), (None, Some(6_000)));
    // Without the option nothing is said of it.
    let (state, _) = advance(&state, &with(both(), vec![]), 7_000);
    assert_eq!(word(&state, "atrest", "n1 redo log"), "-");
    // Of a server where some always were plain.
    let (state, _) = advance(&state, &spaces(5, 5), 8_000);
    let (state, _) = advance(&state, &spaces(5, 6), 9_000);
    assert_eq!(fell_back(&state, "tablespaces"), None, "a new one that is plain");
    let (state, changes) = advance(&state, &spaces(4, 7), 10_000);
    assert_eq!((fell_back(&state, "tablespaces"), fell(&changes)), (Some(10_000), true));
    let (state, changes) = advance(&state, &spaces(4, 7), 11_000);
    assert_eq!((fell_back(&state, "tablespaces"), fell(&changes)), (Some(10_000), false));
    let (_, changes) = advance(&state, &spaces(3, 8), 12_000);
    assert!(fell(&changes), "and another one");
}

#[test]
fn unknown_begins_once_whatever_it_is_called_and_ends_with_an_answer() {
    let hour = 3_600_000;
    let good = || look(Ok(sights(vec![up("n1"), up("n2")], LinkState::Encrypted)));
    let half = || look(Ok(sights(vec![silent("n1"), up("n2")], LinkState::Encrypted)));
    let none = || look(Err(Failure { reason: Reason::Timeout, why: "too long".into() }));
    let (state, _) = advance(&State::default(), &good(), hour);
    // The links of clients were never seen.
    let clients = ["link client client - n1", "link client client - n2"];
    assert!(state.meta.unknown_since.keys().eq(clients), "{:?}", state.meta.unknown_since);
    let (state, _) = advance(&state, &half(), 2 * hour);
    let (state, _) = advance(&state, &none(), 3 * hour);
    let since = |key: &str| state.meta.unknown_since.get(key).copied();
    assert_eq!(
        (since("server n1"), since("server n2"), since(LOOK)),
        (Some(2 * hour), Some(3 * hour), Some(3 * hour))
    );
    assert_eq!(since("link galera n1 - n2"), Some(3 * hour), "it was seen, whoever was silent");
    let lasting = |state: &State, now| crate::view::summary("c", state, now).unknown_lasting;
    assert_eq!(lasting(&state, 7 * hour), 2, "of clients since the first hour");
    assert_eq!(lasting(&state, 8 * hour), 3);
    assert_eq!(lasting(&state, 9 * hour), 6);
    let text = crate::metrics::text("c", &state, None, None);
    for line in [
        "sealion_unknown_since_timestamp_seconds{cluster=\"c\",what=\"look\"} 10800",
        "sealion_unknown_since_timestamp_seconds{cluster=\"c\",what=\"server\",subject=\"n1\"} 7200",
        "sealion_unknown_since_timestamp_seconds{cluster=\"c\",what=\"link\",subject=\"galera n1 - n2\"} 10800",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
    let (state, _) = advance(&state, &good(), 10 * hour);
    assert!(state.meta.unknown_since.keys().eq(clients), "{:?}", state.meta.unknown_since);
    // What an earlier sealion has kept knows no such time, and began when it was first seen so.
    let mut old = state;
    old.meta.unknown_since.clear();
    let (state, _) = advance(&old, &good(), 11 * hour);
    assert_eq!(state.meta.unknown_since.get(clients[0]), Some(&hour));
}

#[test]
fn drift_is_of_the_files_and_unknown_only_where_the_look_failed() {
    let sight = |state| DriftSight { server: "n1".into(), state, change: "p1".into(), why: "w".into() };
    let with = |servers, state| {
        look(Ok(Sights { drift: vec![sight(state)], ..sights(servers, LinkState::Encrypted) }))
    };
    let (state, _) = advance(&State::default(), &with(vec![up("n1"), up("n2")], DriftState::Same), 1);
    assert_eq!(word(&state, "drift", "n1"), "same");
    // Its server does not answer, and its machine does.
    let (state, changes) = advance(&state, &with(vec![silent("n1"), up("n2")], DriftState::Drifted), 2);
    assert_eq!(
        (word(&state, "drift", "n1").as_str(), word(&state, "drift", "n2").as_str()),
        ("drifted", "-")
    );
    assert!(changes.iter().any(|change| change.key == ("drift", "n1".to_owned())));
    assert_eq!(state.meta.counts.as_ref().unwrap().servers_drifted, 1);
    let text = crate::metrics::text("c", &state, None, None);
    assert!(text.contains("sealion_drift_state{cluster=\"c\",server=\"n1\",state=\"drifted\"} 1"), "{text}");
    let (state, _) = advance(&state, &look(Err(Failure { reason: Reason::Timeout, why: "x".into() })), 3);
    assert_eq!(word(&state, "drift", "n1"), "unknown");
    assert_eq!(state.meta.counts.as_ref().unwrap().servers_drift_unknown, 1);
    // No change counts any more: nothing is said.
    let (state, _) = advance(&state, &look(Ok(sights(vec![up("n1"), up("n2")], LinkState::Encrypted))), 4);
    assert_eq!(word(&state, "drift", "n1"), "-");
}
