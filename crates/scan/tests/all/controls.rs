//! Controls of the facts that no rule judges: a server that has it, and one that has not.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use scan::facts::{Found, Service, Tls};
use scan::interrogation::Depth;
use scan::{Facts, Limits, Next, Target};
use wire::tls::registry::{Version, cipher_suite, group, groups, signature_scheme};

use crate::servers::{
    ALL, Server, in_turns, mysql_in_front_of, openssl, openssl_without_ems, short_lists_in_front_of,
    weak_openssl,
};

fn look_at(server: &Server, host: &str, depth: Depth) -> Facts {
    look_within(server, host, depth, u32::MAX)
}

fn look_within(server: &Server, host: &str, depth: Depth, connections_max: u32) -> Facts {
    let target = Target::new(host, server.address.ip(), server.address.port(), true);
    let mut target = Some(Target { connections_max, ..target });
    let mut source = || target.take().map_or(Next::End, Next::Target);
    let limits = Limits { silence_ms: 250, ..Limits::default() };
    let mut facts = None;
    scan::run(&mut source, depth, &limits, &mut |seen| {
        facts = Some(seen.facts);
        true
    })
    .unwrap();
    facts.unwrap()
}

fn tls(server: &Server, depth: Depth) -> Tls {
    let facts = look_at(server, "127.0.0.1", depth);
    assert!(facts.connections <= depth.connections_max());
    facts.tls.unwrap_or_else(|| panic!("no TLS: {:?} {:?}", facts.service, facts.not_seen))
}

/// By class and in full, `fact` is `Yes` of one and `No` of the other.
fn check(fact: fn(&Tls) -> &Option<Found>, yes: &Server, no: &Server) {
    for depth in [Depth::Classes, Depth::Full] {
        let (one, other) = (tls(yes, depth), tls(no, depth));
        assert_eq!(fact(&one), &Some(Found::Yes), "{depth:?}: {one:#?}");
        assert_eq!(fact(&other), &Some(Found::No), "{depth:?}: {other:#?}");
    }
}

fn suite_names(tls: &Tls, version: Version) -> Vec<&'static str> {
    let codes = tls.suites.get(&version).into_iter().flatten();
    codes.map(|code| cipher_suite(*code).unwrap().openssl_name.unwrap()).collect()
}

fn group_names(tls: &Tls, version: Version) -> Vec<&'static str> {
    tls.groups.get(&version).into_iter().flatten().map(|code| group(*code).unwrap().name).collect()
}

#[test]
fn encrypt_then_mac_is_told() {
    let cbc = ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA256"];
    check(|tls| &tls.encrypt_then_mac, &openssl(&cbc), &openssl_without_ems(&cbc));
    // Nothing can be said of a server without a CBC suite.
    let aead = tls(&openssl(&["-tls1_2", "-cipher", "AESGCM"]), Depth::Classes);
    assert_eq!(aead.encrypt_then_mac, None);
}

#[test]
fn session_tickets_are_told() {
    check(|tls| &tls.session_ticket, &openssl(&["-tls1_2"]), &openssl(&["-tls1_2", "-no_ticket"]));
}

#[test]
fn an_ocsp_staple_is_told_in_both_worlds() {
    for version in ["-tls1_2", "-tls1_3"] {
        let without = openssl(&[version]);
        check(|tls| &tls.ocsp_staple, &openssl(&[version, "-status_file", "ocsp.der"]), &without);
    }
}

#[test]
fn a_wish_for_a_client_certificate_is_told_in_both_worlds() {
    for version in ["-tls1_2", "-tls1_3"] {
        let asks = openssl(&[version, "-Verify", "2", "-CAfile", "good.pem"]);
        check(|tls| &tls.client_certificate_asked, &asks, &openssl(&[version]));
    }
}

#[test]
fn whose_order_counts_is_told() {
    for version in ["-tls1_2", "-tls1_3", "-no_ssl3"] {
        let ours = openssl(&[version, "-serverpref"]);
        check(|tls| &tls.server_order, &ours, &openssl(&[version]));
    }
}

#[test]
fn the_fall_back_signal_is_told_apart_from_a_refusal() {
    let two = openssl(&["-no_tls1_3", "-cipher", ALL]);
    assert_eq!(tls(&two, Depth::Classes).fallback_scsv, Some(Found::Yes));
    // With one version there is nothing to fall back to.
    assert_eq!(tls(&openssl(&["-tls1_2"]), Depth::Classes).fallback_scsv, None);
}

#[test]
fn a_full_look_lists_suites_in_the_servers_order() {
    let order = "AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256:AES128-SHA256:ECDHE-RSA-CHACHA20-POLY1305";
    let one = openssl(&["-tls1_2", "-serverpref", "-cipher", order]);
    let seen = tls(&one, Depth::Full);
    assert_eq!(suite_names(&seen, Version::TLS12), order.split(':').collect::<Vec<_>>());
    assert!(seen.complete.contains(&Version::TLS12) && seen.classes_complete);
    let order =
        "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_CCM_8_SHA256:TLS_AES_128_GCM_SHA256:TLS_AES_128_CCM_SHA256";
    let one = openssl(&["-tls1_3", "-serverpref", "-ciphersuites", order]);
    for depth in [Depth::Classes, Depth::Full] {
        let seen = tls(&one, depth);
        assert_eq!(suite_names(&seen, Version::TLS13), order.split(':').collect::<Vec<_>>(), "{depth:?}");
    }
}

#[test]
fn a_full_look_lists_exactly_the_suites_of_the_server() {
    // What this OpenSSL says that it takes in TLS 1.2 with an RSA certificate and no parameters for DHE.
    let names = "ECDHE-RSA-AES256-GCM-SHA384 ECDHE-RSA-CHACHA20-POLY1305 ECDHE-RSA-AES128-GCM-SHA256 \
        ECDHE-RSA-AES256-SHA384 ECDHE-RSA-AES128-SHA256 ECDHE-RSA-AES256-SHA ECDHE-RSA-AES128-SHA AES256-GCM-SHA384 \
        AES128-GCM-SHA256 AES256-SHA256 AES128-SHA256 AES256-SHA AES128-SHA";
    let mut wished: Vec<&str> = names.split_whitespace().collect();
    wished.sort_unstable();
    let server = openssl(&["-tls1_2", "-cipher", &wished.join(":")]);
    let mut seen = suite_names(&tls(&server, Depth::Full), Version::TLS12);
    seen.sort_unstable();
    assert_eq!(seen, wished);
}

#[test]
fn a_server_that_takes_no_long_lists_is_asked_in_short_ones() {
    for arguments in [&["-cipher", ALL][..], &["-tls1_2"], &["-tls1", "-cipher", ALL]] {
        let (with, without) = (short_lists_in_front_of(openssl(arguments), 150), openssl(arguments));
        for depth in [Depth::Classes, Depth::Full] {
            let (seen, wanted) = (tls(&with, depth), tls(&without, depth));
            assert_eq!(seen.versions, wanted.versions, "{arguments:?} {depth:?}");
            // A server with all suites there are has more than there are connections for.
            for version in seen.complete.intersection(&wanted.complete) {
                let all = |tls: &Tls| tls.suites[version].iter().copied().collect::<BTreeSet<_>>();
                assert_eq!(all(&seen), all(&wanted), "{arguments:?}");
            }
            assert!(
                seen.complete.len() == wanted.complete.len() || arguments.contains(&ALL),
                "{arguments:?}"
            );
            assert_eq!(seen.classes_complete, wanted.classes_complete);
            assert_eq!(
                (seen.groups, seen.fallback_scsv),
                (wanted.groups, wanted.fallback_scsv),
                "{arguments:?}"
            );
        }
    }
}

#[test]
fn groups_are_listed_for_both_worlds() {
    let server = openssl(&["-groups", "P-384:X448:ffdhe3072:P-256"]);
    let seen = tls(&server, Depth::Full);
    let mut of_tls13 = group_names(&seen, Version::TLS13);
    of_tls13.sort_unstable();
    assert_eq!(of_tls13, ["ffdhe3072", "secp256r1", "secp384r1", "x448"]);
    let mut of_tls12 = group_names(&seen, Version::TLS12);
    of_tls12.sort_unstable();
    assert_eq!(of_tls12, ["secp256r1", "secp384r1", "x448"]);
    assert!(seen.groups_complete.contains(&Version::TLS13) && seen.groups_complete.contains(&Version::TLS12));
    let narrow = tls(&openssl(&["-groups", "P-521"]), Depth::Classes);
    assert_eq!(narrow.groups.get(&Version::TLS13), Some(&vec![groups::SECP521R1]));
}

#[test]
fn a_certificate_of_each_kind_is_found() {
    let both = ["-cert", "good.pem", "-key", "good.key", "-dcert", "p256.pem", "-dkey", "p256.key"];
    for version in ["-tls1_2", "-tls1_3", "-no_ssl3"] {
        let server = openssl(&[&both[..], &[version]].concat());
        let mut keys: Vec<String> = tls(&server, Depth::Classes)
            .chains
            .iter()
            .map(|chain| chain.first().unwrap().key.clone())
            .collect();
        keys.sort();
        assert_eq!(keys.len(), 2, "{version}: {keys:?}");
    }
    assert_eq!(tls(&openssl(&[]), Depth::Full).chains.len(), 1);
}

#[test]
fn signature_schemes_are_listed_in_a_full_look() {
    let server = openssl(&["-tls1_2", "-sigalgs", "RSA+SHA256:RSA-PSS+SHA512"]);
    let seen = tls(&server, Depth::Full).signature_schemes;
    let names: Vec<&str> = seen.iter().map(|code| signature_scheme(*code).unwrap().name).collect();
    assert_eq!(names, ["rsa_pkcs1_sha256", "rsa_pss_rsae_sha512"]);
}

#[test]
fn suites_with_pre_shared_keys_are_found_without_a_certificate() {
    let server =
        openssl(&["-tls1_2", "-nocert", "-psk", "1a2b", "-cipher", "PSK:DHE-PSK:ECDHE-PSK:@SECLEVEL=0"]);
    let seen = tls(&server, Depth::Classes);
    let names = suite_names(&seen, Version::TLS12);
    assert!(names.iter().any(|name| name.contains("PSK")) && seen.chains.is_empty(), "{seen:#?}");
}

#[test]
fn every_old_version_alone_is_told() {
    for (option, version) in [
        ("-ssl3", Version::SSL3),
        ("-tls1", Version::TLS10),
        ("-tls1_1", Version::TLS11),
        ("-tls1_2", Version::TLS12),
    ] {
        let seen = tls(&weak_openssl(&[option, "-cipher", ALL]), Depth::Classes);
        for (other, found) in &seen.versions {
            assert_eq!(*found, if *other == version { Found::Yes } else { Found::No }, "{option} {other:?}");
        }
        assert_eq!(seen.versions.len(), 6);
    }
}

#[test]
fn a_version_in_the_middle_that_is_missing_is_told() {
    let seen = tls(&weak_openssl(&["-no_tls1_1", "-cipher", ALL]), Depth::Classes);
    let taken: Vec<Version> = seen
        .versions
        .iter()
        .filter(|(_, found)| **found == Found::Yes)
        .map(|(version, _)| *version)
        .collect();
    assert_eq!(taken, [Version::SSL3, Version::TLS10, Version::TLS12]);
}

#[test]
fn the_same_is_seen_behind_a_mysql_greeting_as_without() {
    for depth in [Depth::First, Depth::Classes, Depth::Full] {
        let direct = tls(&openssl(&["-serverpref"]), depth);
        let front = mysql_in_front_of(openssl(&["-serverpref"]));
        let facts = look_at(&front, "127.0.0.1", depth);
        assert!(
            matches!(facts.service, Some(Service::Mysql { offers_tls: true, .. })),
            "{:?}",
            facts.service
        );
        assert_eq!(facts.tls.unwrap(), direct);
        assert_eq!(facts.not_seen, Vec::<String>::new());
    }
}

#[test]
fn a_name_is_sent_and_an_address_is_not() {
    let other = ["-servername", "localhost", "-cert2", "p256.pem", "-key2", "p256.key", "-tls1_2"];
    let server = openssl(&other);
    let key = |host: &str| {
        look_at(&server, host, Depth::First).tls.unwrap().chains.first().unwrap().first().unwrap().key.clone()
    };
    assert!(key("127.0.0.1").starts_with("RSA"), "{}", key("127.0.0.1"));
    assert!(!key("localhost").starts_with("RSA"), "{}", key("localhost"));
}

#[test]
fn a_session_that_goes_on_by_its_id_is_told() {
    let ids = |tls: &'static str| openssl(&[tls, "-no_ticket", "-cipher", ALL]);
    for version in ["-tls1", "-tls1_1", "-tls1_2"] {
        let without = openssl(&[version, "-no_ticket", "-no_cache", "-cipher", ALL]);
        check(|tls| &tls.resumption_by_id, &ids(version), &without);
    }
    check(|tls| &tls.resumption_by_id, &ids("-tls1_2"), &in_turns(ids("-tls1_2"), ids("-tls1_2")));
}

#[test]
fn a_session_that_goes_on_by_a_ticket_is_told() {
    let tickets = || openssl(&["-tls1_2"]);
    check(|tls| &tls.resumption_by_ticket, &tickets(), &openssl(&["-tls1_2", "-no_ticket"]));
    // It gives tickets, and the next server cannot read them.
    check(|tls| &tls.resumption_by_ticket, &tickets(), &in_turns(tickets(), tickets()));
    assert_eq!(tls(&tickets(), Depth::Classes).ticket_lifetime_s, Some(7200));
}

#[test]
fn a_session_of_tls13_that_goes_on_is_told() {
    for suite in ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"] {
        let tickets = || openssl(&["-tls1_3", "-ciphersuites", suite]);
        let without = openssl(&["-tls1_3", "-ciphersuites", suite, "-num_tickets", "0"]);
        check(|tls| &tls.resumption_by_psk, &tickets(), &without);
        check(|tls| &tls.resumption_by_psk, &tickets(), &in_turns(tickets(), tickets()));
        assert_eq!(tls(&tickets(), Depth::Classes).psk_lifetime_s, Some(7200));
    }
}

#[test]
fn a_handshake_is_finished_in_every_version_and_with_every_kind_of_suite() {
    for version in ["-tls1", "-tls1_1", "-tls1_2"] {
        let suites = ["AES128-SHA", "AES256-SHA", "ECDHE-RSA-AES128-SHA", "DHE-RSA-AES256-SHA"];
        let newer = [
            "AES256-SHA256",
            "ECDHE-RSA-AES256-SHA384",
            "AES256-GCM-SHA384",
            "ECDHE-RSA-AES128-GCM-SHA256",
            "ECDHE-RSA-CHACHA20-POLY1305",
            "DHE-RSA-CHACHA20-POLY1305",
        ];
        let newer = newer.iter().filter(|_| version == "-tls1_2");
        for suite in suites.iter().chain(newer) {
            let cipher = format!("{suite}:@SECLEVEL=0");
            let seen =
                tls(&openssl(&[version, "-cipher", &cipher, "-dhparam", "dh2048.pem"]), Depth::Classes);
            assert_eq!(seen.resumption_by_ticket, Some(Found::Yes), "{version} {suite}: {seen:#?}");
            assert_eq!(seen.client_renegotiation, Some(Found::No), "{version} {suite}: {seen:#?}");
        }
    }
    // Without the extended master secret, and with a key of another kind.
    let seen = tls(&openssl_without_ems(&["-tls1_2"]), Depth::Classes);
    assert_eq!(seen.resumption_by_ticket, Some(Found::Yes), "{seen:#?}");
    let seen = tls(&openssl(&["-cert", "p256.pem", "-key", "p256.key", "-tls1_2"]), Depth::Classes);
    assert_eq!(seen.resumption_by_ticket, Some(Found::Yes), "{seen:#?}");
}

#[test]
fn what_sealion_cannot_finish_is_unknown_and_says_so() {
    let camellia = openssl(&["-tls1_2", "-cipher", "CAMELLIA128-SHA"]);
    let seen = tls(&camellia, Depth::Classes);
    for fact in [&seen.resumption_by_id, &seen.resumption_by_ticket, &seen.client_renegotiation] {
        assert!(matches!(fact, Some(Found::Unknown(why)) if why.contains("can complete")), "{seen:#?}");
    }
    assert_eq!(seen.client_certificate_required, None);
}

#[test]
fn a_client_certificate_that_is_required_is_told_from_one_that_is_only_asked_for() {
    for version in ["-tls1", "-tls1_2", "-tls1_3"] {
        let with = |verify| openssl(&[version, "-cipher", ALL, verify, "2", "-CAfile", "good.pem"]);
        let (required, asked) = (with("-Verify"), with("-verify"));
        check(|tls| &tls.client_certificate_required, &required, &asked);
        check(|tls| &tls.client_certificate_required, &required, &openssl(&[version, "-cipher", ALL]));
        let seen = tls(&required, Depth::Classes);
        let session = if version == "-tls1_3" { seen.resumption_by_psk } else { seen.resumption_by_id };
        assert!(
            matches!(&session, Some(Found::Unknown(why)) if why.contains("client certificate")),
            "{session:?}"
        );
    }
}

#[test]
fn a_first_look_finishes_no_handshake() {
    let seen = tls(&openssl(&[]), Depth::First);
    assert_eq!((seen.resumption_by_psk, seen.resumption_by_id), (None, None));
    assert_eq!((seen.client_certificate_required, seen.client_renegotiation), (None, None));
}

#[test]
fn what_no_connection_is_left_for_is_unknown_and_takes_nothing_else_away() {
    let server = openssl(&[]);
    let whole = look_at(&server, "127.0.0.1", Depth::Classes);
    assert_eq!(whole.tls.unwrap().resumption_by_id, Some(Found::Yes));
    let short = look_within(&server, "127.0.0.1", Depth::Classes, whole.connections - 2);
    assert_eq!((short.connections, &short.not_seen), (whole.connections - 2, &vec![]));
    let tls = short.tls.unwrap();
    assert!(matches!(&tls.resumption_by_id, Some(Found::Unknown(why)) if why.contains("left")), "{tls:#?}");
    assert_eq!((tls.resumption_by_ticket, tls.classes_complete), (Some(Found::Yes), true));
}
