//! Controls of the rules SL1101 to SL1130: a server that has the fault, where the rule must fail, and one that has not,
//! where it must pass. Which servers these are, and what foreign tools say of them: docs/src/reference/scan-controls.md.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::sync::atomic::AtomicBool;

use report::shape::{TargetRow, VerdictWord};
use scan::Limits;
use scan::interrogation::Depth;
use scan::intrude::Intrusive;
use scan_ops::{Budget, Settings, TargetSpec, scan};

use crate::servers::{
    ALL, Flights, Habits, Oracle, Server, galera, mysql_in_front_of, mysql_without_tls, openssl,
    oracle_in_front_of, weak_openssl, xcom,
};

fn look(server: &Server, host: &str, depth: Depth) -> TargetRow {
    look_with(server, host, depth, Intrusive::NONE)
}

fn look_with(server: &Server, host: &str, depth: Depth, intrusive: Intrusive) -> TargetRow {
    let settings = Settings {
        depth,
        // A server on loopback that says nothing at once waits for us.
        limits: Limits { silence_ms: 250, intrusive, ..Limits::default() },
        connections_per_address: 99,
        ..Settings::default()
    };
    let wish = TargetSpec::place(host, server.address.port());
    let mut budget = Budget::in_memory();
    let report =
        scan(&[wish], &settings, &mut budget, &AtomicBool::new(false), &mut |_: &TargetRow| {}).unwrap();
    let is_ours =
        |row: &TargetRow| row.address.as_deref().and_then(|ip| ip.parse().ok()) == Some(server.address.ip());
    report.targets.into_iter().find(is_ours).unwrap()
}

fn verdict(row: &TargetRow, rule: &str) -> VerdictWord {
    match row.findings.iter().find(|finding| finding.rule == rule) {
        Some(finding) => finding.verdict,
        None => panic!("{rule} said nothing: {row:#?}"),
    }
}

/// By class and in full, `rule` finds the fault of `faulty` and none in `fine`.
fn check(rule: &str, faulty: &Server, fine: &Server) {
    for depth in [Depth::Classes, Depth::Full] {
        let (bad, good) = (look(faulty, "127.0.0.1", depth), look(fine, "127.0.0.1", depth));
        assert_eq!(verdict(&bad, rule), VerdictWord::Fail, "{rule} {depth:?}: {bad:#?}");
        assert_eq!(verdict(&good, rule), VerdictWord::Pass, "{rule} {depth:?}: {good:#?}");
        for row in [&bad, &good] {
            assert!(row.connections <= depth.connections_max(), "{depth:?}: {}", row.connections);
        }
    }
}

/// TLS 1.2 with one suite that has nothing against it.
fn sound() -> Server {
    openssl(&["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"])
}

fn with_certificate(name: &str) -> Server {
    let (pem, key) = (format!("{name}.pem"), format!("{name}.key"));
    openssl(&["-cert", &pem, "-key", &key, "-tls1_2", "-cipher", "DEFAULT:@SECLEVEL=0"])
}

#[test]
fn sl1101_a_greeting_without_tls_is_found() {
    check("SL1101", &mysql_without_tls(), &mysql_in_front_of(sound()));
}

#[test]
fn sl1102_ssl2_is_found() {
    check("SL1102", &Flights::of_openssl_101().play(), &sound());
}

#[test]
fn sl1103_ssl3_is_found() {
    check("SL1103", &weak_openssl(&["-cipher", ALL]), &sound());
    check("SL1103", &weak_openssl(&["-cipher", ALL, "-ssl3"]), &weak_openssl(&["-cipher", ALL, "-no_ssl3"]));
}

#[test]
fn sl1104_tls10_and_tls11_are_found() {
    for version in ["-tls1", "-tls1_1"] {
        check("SL1104", &openssl(&[version, "-cipher", ALL]), &sound());
    }
}

#[test]
fn sl1105_a_server_without_tls13_is_found() {
    check("SL1105", &sound(), &openssl(&[]));
    check("SL1105", &openssl(&["-tls1", "-cipher", ALL]), &openssl(&["-tls1_3"]));
}

#[test]
fn sl1106_suites_without_encryption_or_certificate_are_found() {
    for suites in ["eNULL:@SECLEVEL=0", "aNULL:!eNULL:@SECLEVEL=0", "AECDH-NULL-SHA:@SECLEVEL=0", ALL] {
        check("SL1106", &openssl(&["-tls1_2", "-cipher", suites]), &sound());
    }
}

#[test]
fn sl1107_export_suites_are_found() {
    check("SL1107", &Flights::of_openssl_101().play(), &weak_openssl(&["-cipher", ALL]));
}

#[test]
fn sl1108_rc4_is_found() {
    check("SL1108", &weak_openssl(&["-cipher", "RC4:@SECLEVEL=0"]), &openssl(&["-tls1_2", "-cipher", ALL]));
    check("SL1108", &weak_openssl(&["-cipher", "HIGH:RC4:@SECLEVEL=0", "-serverpref"]), &sound());
}

#[test]
fn sl1109_blocks_of_64_bits_are_found() {
    for suites in ["3DES:@SECLEVEL=0", "IDEA:@SECLEVEL=0", "HIGH:3DES:@SECLEVEL=0"] {
        check("SL1109", &weak_openssl(&["-cipher", suites]), &sound());
    }
}

#[test]
fn sl1110_suites_without_forward_secrecy_are_found() {
    check("SL1110", &openssl(&["-tls1_2", "-cipher", "HIGH"]), &sound());
    check("SL1110", &openssl(&["-tls1_2", "-cipher", "AES128-SHA"]), &openssl(&["-tls1_3"]));
}

#[test]
fn sl1111_a_short_prime_is_found() {
    let with = |prime: &str| openssl(&["-dhparam", prime, "-tls1_2", "-cipher", "DHE:ECDHE:@SECLEVEL=0"]);
    let (short, long) = (with("dh1024.pem"), with("dh2048.pem"));
    check("SL1111", &short, &long);
    let prime = |server: &Server| look(server, "127.0.0.1", Depth::Classes).tls.unwrap().dh_prime;
    assert_eq!(prime(&short).as_deref(), Some("Oakley group 2"));
    assert_eq!(prime(&long).as_deref(), Some("MODP group 14"));
    // 512 bits, as OpenSSL 1.0.1e had built in.
    check("SL1111", &Flights::of_openssl_101().play(), &long);
}

#[test]
fn sl1112_compression_is_found() {
    check("SL1112", &weak_openssl(&["-comp", "-cipher", ALL]), &weak_openssl(&["-no_comp", "-cipher", ALL]));
}

#[test]
fn sl1112_compression_that_was_not_offered_is_not_said_to_be_refused() {
    let row = look(&weak_openssl(&["-comp", "-cipher", ALL]), "127.0.0.1", Depth::First);
    assert!(row.findings.iter().all(|finding| finding.rule != "SL1112"), "{row:#?}");
}

#[test]
fn sl1113_a_server_without_renegotiation_info_is_found() {
    let flights = Flights::of_openssl_101();
    check("SL1113", &flights.without_renegotiation_info().play(), &Flights::of_openssl_101().play());
    check("SL1113", &Flights::of_openssl_101().without_renegotiation_info().play(), &sound());
}

#[test]
fn sl1114_a_server_that_passes_over_a_forced_fall_back_is_found() {
    check("SL1114", &Flights::of_openssl_101().play(), &weak_openssl(&["-cipher", ALL]));
    check("SL1114", &Flights::of_openssl_101().play(), &openssl(&["-cipher", ALL]));
}

#[test]
fn sl1115_a_server_without_the_extended_master_secret_is_found() {
    check("SL1115", &crate::servers::openssl_without_ems(&["-tls1_2"]), &sound());
}

#[test]
fn sl1116_heartbeats_are_found() {
    // OpenSSL 1.1.0 has them for DTLS only.
    check("SL1116", &Flights::of_openssl_101().play(), &weak_openssl(&["-cipher", ALL]));
}

#[test]
fn sl1117_blocks_in_tls10_are_found_whatever_it_settles_for_first() {
    let both = "ECDHE-RSA-RC4-SHA:AES128-SHA:@SECLEVEL=0";
    let stream = "RC4:@SECLEVEL=0";
    check(
        "SL1117",
        &weak_openssl(&["-tls1", "-serverpref", "-cipher", both]),
        &weak_openssl(&["-tls1", "-cipher", stream]),
    );
    check("SL1117", &openssl(&["-tls1", "-cipher", ALL]), &sound());
}

#[test]
fn sl1118_a_server_without_a_hybrid_group_is_found() {
    // The other half needs OpenSSL 3.5: docs/src/reference/scan-controls.md says which server it was seen on.
    let row = look(&openssl(&["-groups", "X25519:P-256"]), "127.0.0.1", Depth::Classes);
    assert_eq!(verdict(&row, "SL1118"), VerdictWord::Fail);
}

#[test]
fn sl1119_and_sl1120_tell_plain_strict_and_dynamic_galera_ports_apart() {
    let row = look(&galera(None), "127.0.0.1", Depth::Classes);
    assert_eq!((verdict(&row, "SL1119"), verdict(&row, "SL1120")), (VerdictWord::Fail, VerdictWord::Pass));
    let row = look(&galera(Some(sound())), "127.0.0.1", Depth::Classes);
    assert_eq!((verdict(&row, "SL1119"), verdict(&row, "SL1120")), (VerdictWord::Pass, VerdictWord::Fail));
    assert_eq!(row.service.unwrap().protocol, "galera_dynamic");
}

#[test]
fn sl1131_a_group_that_answers_in_clear_text_is_found() {
    // The real one, and one with TLS, are in scan/tests/real_servers.rs.
    let row = look(&xcom(), "127.0.0.1", Depth::Classes);
    assert_eq!((verdict(&row, "SL1131"), row.grade.as_deref()), (VerdictWord::Fail, Some("F")));
    assert_eq!(row.service.unwrap().protocol, "group_replication_plain");
}

#[test]
fn sl1121_certificates_out_of_date_are_found() {
    for name in ["expired", "not-yet", "ends-soon"] {
        check("SL1121", &with_certificate(name), &sound());
    }
}

#[test]
fn sl1122_short_keys_are_found() {
    for name in ["rsa1024", "p192"] {
        check("SL1122", &with_certificate(name), &with_certificate("p256"));
    }
}

#[test]
fn sl1123_weak_signatures_are_found() {
    for name in ["sha1", "md5"] {
        check("SL1123", &with_certificate(name), &sound());
    }
}

#[test]
fn sl1124_a_self_signed_certificate_is_found() {
    check("SL1124", &with_certificate("self-signed"), &sound());
}

#[test]
fn sl1125_another_name_is_found() {
    check("SL1125", &with_certificate("other-name"), &with_certificate("good"));
    check("SL1125", &with_certificate("no-names"), &with_certificate("good"));
    let row = look(&with_certificate("good"), "localhost", Depth::First);
    assert_eq!(verdict(&row, "SL1125"), VerdictWord::Pass);
}

#[test]
fn of_two_certificates_the_worse_one_decides_and_is_named() {
    // Whichever of the two is asked for last.
    for (first, second) in [("good", "expired-p256"), ("p256", "expired"), ("expired", "p256")] {
        let [pem, key, dpem, dkey] = [first, second]
            .map(|name| [format!("{name}.pem"), format!("{name}.key")])
            .concat()
            .try_into()
            .unwrap();
        for version in ["-tls1_2", "-tls1_3"] {
            let both = ["-cert", &pem, "-key", &key, "-dcert", &dpem, "-dkey", &dkey, version];
            let row = look(&openssl(&both), "127.0.0.1", Depth::Classes);
            assert_eq!(verdict(&row, "SL1121"), VerdictWord::Fail, "{first} {second} {version} {row:#?}");
            let finding = row.findings.iter().find(|finding| finding.rule == "SL1121").unwrap();
            let is_of_p256 = second == "expired-p256";
            let named = if is_of_p256 { "EC P-256 (CN=expired-p256)" } else { "RSA 2048 (CN=expired)" };
            assert!(format!("{finding:?}").contains(named), "{finding:#?}");
            let names = if is_of_p256 { VerdictWord::Fail } else { VerdictWord::Pass };
            assert_eq!(verdict(&row, "SL1125"), names, "{row:#?}");
            assert_eq!(row.grade.as_deref(), Some("D"), "{row:#?}");
        }
    }
}

#[test]
fn sl1110_pre_shared_keys_alone_have_no_forward_secrecy() {
    for suites in ["PSK-AES128-GCM-SHA256", "RSA-PSK-AES128-GCM-SHA256"] {
        let psk = openssl(&["-tls1_2", "-psk", "1a2b3c4d", "-cipher", suites]);
        check("SL1110", &psk, &sound());
    }
    let ephemeral = ["-tls1_2", "-psk", "1a2b3c4d", "-cipher", "ECDHE-PSK-AES128-CBC-SHA256"];
    assert_eq!(verdict(&look(&openssl(&ephemeral), "127.0.0.1", Depth::Full), "SL1110"), VerdictWord::Pass);
}

const CERTIFICATE_RULES: [&str; 5] = ["SL1121", "SL1122", "SL1123", "SL1124", "SL1125"];

#[test]
fn a_certificate_that_was_never_seen_is_unknown_and_there_is_no_letter() {
    for arguments in [
        &["-tls1_3", "-groups", "ffdhe2048"][..],
        &["-tls1_3", "-groups", "X448"],
        &["-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_8_SHA256"],
    ] {
        for depth in [Depth::First, Depth::Classes] {
            let row = look(&openssl(arguments), "127.0.0.1", depth);
            if row.tls.as_ref().is_some_and(|tls| !tls.chains.is_empty()) {
                continue; // Some of these sealion computes with, some day.
            }
            for rule in CERTIFICATE_RULES {
                assert_eq!(verdict(&row, rule), VerdictWord::Unknown, "{arguments:?} {row:#?}");
            }
            assert_eq!(row.grade, None, "{arguments:?} {row:#?}");
        }
    }
}

#[test]
fn tls_that_nobody_could_read_has_no_letter() {
    for bytes in [
        &b"\x16\x03\x03\x00\x00"[..],            // An empty record.
        b"\x14\x03\x03\x00\x01\x01",             // A change of keys before there are any.
        b"\x16\x03\x03\x00\x04\x00\x00\x00\x00", // Another handshake is wanted, before the first.
        b"\x17\x03\x03\x00\x02ab",
    ] {
        let odd = crate::servers::responder(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            while stream.write_all(&bytes.repeat(100)).is_ok() {}
        });
        let row = look(&mysql_in_front_of(odd), "127.0.0.1", Depth::Classes);
        assert_eq!((row.grade.as_deref(), verdict(&row, "SL1101")), (None, VerdictWord::Unknown), "{row:#?}");
        assert!(row.findings.iter().all(|finding| finding.verdict != VerdictWord::Pass), "{row:#?}");
    }
}

#[test]
fn sl1127_a_client_that_may_renegotiate_is_found() {
    check("SL1127", &weak_openssl(&["-tls1_2"]), &sound());
    check("SL1127", &openssl(&["-tls1_2", "-client_renegotiation"]), &openssl(&["-tls1_2"]));
    check("SL1127", &weak_openssl(&["-tls1"]), &openssl(&["-tls1", "-cipher", ALL]));
    // TLS 1.3 has none, so there is nothing to judge.
    let row = look(&openssl(&["-tls1_3"]), "127.0.0.1", Depth::Classes);
    assert!(row.findings.iter().all(|finding| finding.rule != "SL1127"), "{row:#?}");
}

#[test]
fn sl1127_is_nothing_to_judge_where_a_certificate_is_needed_and_takes_no_letter_away() {
    let closed = openssl(&[
        "-tls1_2",
        "-cipher",
        "ECDHE-RSA-AES128-GCM-SHA256",
        "-Verify",
        "2",
        "-CAfile",
        "good.pem",
    ]);
    let row = look(&closed, "127.0.0.1", Depth::Classes);
    assert_eq!(verdict(&row, "SL1127"), VerdictWord::NotApplicable, "{row:#?}");
    assert!(row.grade.is_some(), "{row:#?}");
    assert_eq!(row.tls.unwrap().features["client_certificate_required"].as_deref(), Some("yes"));
}

const INTRUSIVE_RULES: [&str; 3] = ["SL1128", "SL1129", "SL1130"];

/// As [`check`], with leave to ask what may do harm.
fn check_intrusive(rule: &str, faulty: &Server, fine: &Server) {
    for depth in [Depth::Classes, Depth::Full] {
        for (server, expected) in [(faulty, VerdictWord::Fail), (fine, VerdictWord::Pass)] {
            let row = look_with(server, "127.0.0.1", depth, Intrusive::ALL);
            assert_eq!(verdict(&row, rule), expected, "{rule} {depth:?}: {row:#?}");
            let allowed = depth.connections_max() + Intrusive::ALL.connections_max();
            assert!(row.connections <= allowed, "{depth:?}: {}", row.connections);
        }
    }
}

#[test]
fn sl1128_heartbleed_is_found() {
    let of = |habits| Flights::of_openssl_101().play_with(habits);
    check_intrusive("SL1128", &of(Habits::Of101e), &of(Habits::Of101h));
    check_intrusive("SL1128", &of(Habits::Of101e), &sound());
}

#[test]
fn sl1129_an_early_change_of_keys_is_found() {
    let of = |habits| Flights::of_openssl_101().play_with(habits);
    check_intrusive("SL1129", &of(Habits::Of101e), &of(Habits::Of101h));
    check_intrusive("SL1129", &of(Habits::Of101e), &weak_openssl(&["-cipher", ALL]));
}

#[test]
fn sl1130_an_oracle_for_paddings_is_found_in_both_ways() {
    let behind = || openssl(&["-tls1_2", "-cipher", "AES128-SHA:AES128-GCM-SHA256"]);
    for oracle in [Oracle::Always, Oracle::Unfollowed, Oracle::Worded] {
        check_intrusive("SL1130", &oracle_in_front_of(behind(), oracle), &behind());
    }
    check_intrusive("SL1130", &oracle_in_front_of(behind(), Oracle::Always), &weak_openssl(&["-tls1"]));
}

#[test]
fn sl1130_an_oracle_that_asks_for_a_client_certificate_is_found_too() {
    // As MySQL and MariaDB do: without a list of certificates in front it would not read the secret at all.
    let with = ["-tls1_2", "-cipher", "AES128-SHA", "-verify", "2", "-CAfile", "good.pem"];
    for oracle in [Oracle::Always, Oracle::Unfollowed] {
        check_intrusive("SL1130", &oracle_in_front_of(openssl(&with), oracle), &openssl(&with));
    }
    let behind = oracle_in_front_of(openssl(&with), Oracle::Always);
    check_intrusive("SL1130", &mysql_in_front_of(behind), &mysql_in_front_of(openssl(&with)));
}

#[test]
fn sl1130_answers_that_differ_once_and_otherwise_the_next_time_are_no_verdict() {
    let behind = openssl(&["-tls1_2", "-cipher", "AES128-SHA"]);
    let dice = oracle_in_front_of(behind, Oracle::Dice);
    let row = look_with(&dice, "127.0.0.1", Depth::Classes, Intrusive::ALL);
    assert_eq!(verdict(&row, "SL1130"), VerdictWord::Unknown, "{row:#?}");
    assert_eq!(row.grade, None, "{row:#?}");
}

#[test]
fn what_may_do_harm_is_neither_asked_nor_judged_without_leave() {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (noted, flights) = (asked.clone(), Flights::of_openssl_101().play_with(Habits::Of101e));
    let address = flights.address;
    // Every record of the client behind its hello: none of a heartbeat, none of a change of keys alone.
    let watched = crate::servers::responder(move |near| crate::servers::watch(&near, address, &noted));
    for depth in [Depth::First, Depth::Classes, Depth::Full] {
        let row = look(&watched, "127.0.0.1", depth);
        for rule in INTRUSIVE_RULES {
            assert!(row.findings.iter().all(|finding| finding.rule != rule), "{rule}: {row:#?}");
        }
        assert!(!asked.load(std::sync::atomic::Ordering::Relaxed), "{depth:?}");
    }
    let row =
        look_with(&watched, "127.0.0.1", Depth::Classes, Intrusive { heartbleed: true, ..Intrusive::NONE });
    assert_eq!(verdict(&row, "SL1128"), VerdictWord::Fail, "{row:#?}");
    assert!(asked.load(std::sync::atomic::Ordering::Relaxed), "the watch sees it where it is");
    for rule in ["SL1129", "SL1130"] {
        assert!(row.findings.iter().all(|finding| finding.rule != rule), "{rule}: {row:#?}");
    }
    drop(flights);
}

#[test]
fn a_server_of_tls13_alone_has_none_of_the_three_faults() {
    let row = look_with(&openssl(&["-tls1_3"]), "127.0.0.1", Depth::Classes, Intrusive::ALL);
    for rule in INTRUSIVE_RULES {
        assert_eq!(verdict(&row, rule), VerdictWord::Pass, "{rule}: {row:#?}");
    }
}

#[test]
fn certificate_rules_see_through_tls13_too() {
    for (name, rule) in [
        ("expired", "SL1121"),
        ("rsa1024", "SL1122"),
        ("sha1", "SL1123"),
        ("self-signed", "SL1124"),
        ("other-name", "SL1125"),
    ] {
        let (pem, key) = (format!("{name}.pem"), format!("{name}.key"));
        let server = openssl(&["-cert", &pem, "-key", &key, "-tls1_3", "-cipher", "DEFAULT:@SECLEVEL=0"]);
        for depth in [Depth::First, Depth::Classes] {
            let row = look(&server, "127.0.0.1", depth);
            assert_eq!(verdict(&row, rule), VerdictWord::Fail, "{depth:?} {row:#?}");
        }
    }
}

#[test]
fn a_server_with_more_suites_than_connections_gets_every_verdict_all_the_same() {
    let row = look(&weak_openssl(&["-cipher", ALL]), "127.0.0.1", Depth::Full);
    for rule in ["SL1103", "SL1104", "SL1106", "SL1108", "SL1109", "SL1110", "SL1117"] {
        assert_eq!(verdict(&row, rule), VerdictWord::Fail, "{rule} {row:#?}");
    }
    for rule in ["SL1102", "SL1107", "SL1113", "SL1114"] {
        assert_eq!(verdict(&row, rule), VerdictWord::Pass, "{rule} {row:#?}");
    }
    let tls12 = row.tls.unwrap().versions.into_iter().find(|one| one.version == "TLSv1.2").unwrap();
    assert!(!tls12.suites_complete && tls12.suites.len() > 20, "{tls12:?}");
}

#[test]
fn a_server_that_offers_tls_and_refuses_every_handshake_gets_no_grade() {
    let refuses = crate::servers::responder(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"\x15\x03\x01\x00\x02\x02\x28");
    });
    let row = look(&mysql_in_front_of(refuses), "127.0.0.1", Depth::Full);
    assert_eq!(row.grade, None, "{row:#?}");
    assert!(row.not_seen.iter().any(|why| why.contains("every handshake was refused")), "{row:#?}");
}
