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
