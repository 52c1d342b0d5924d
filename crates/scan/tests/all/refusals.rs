//! What is refused, and what only looks so: walls, balancers with one broken server, servers that close to refuse, and
//! answers that are none to the question.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};

use scan::facts::{Found, Tls};
use scan::interrogation::Depth;
use scan::{Facts, Limits, Next, Target};
use wire::tls::registry::Version;

use crate::servers::{ALL, Server, mysql_in_front_of, openssl, responder, weak_openssl};

const LIMITS: Limits = Limits {
    targets_at_once: 1,
    connection_ms: 1_500,
    silence_ms: 100,
    connections_per_s: None,
    intrusive: scan::intrude::Intrusive::NONE,
};

fn look(server: &Server, depth: Depth) -> Facts {
    let mut target = Some(Target::new("127.0.0.1", server.address.ip(), server.address.port(), true));
    let mut source = || target.take().map_or(Next::End, Next::Target);
    let mut facts = None;
    scan::run(&mut source, depth, &LIMITS, &mut |seen| {
        facts = Some(seen.facts);
        true
    })
    .unwrap();
    let facts = facts.unwrap();
    assert!(facts.connections <= depth.connections_max(), "{facts:#?}");
    facts
}

fn says(facts: &Facts, part: &str) {
    assert!(facts.not_seen.iter().any(|why| why.contains(part)), "{part}: {facts:#?}");
}

/// How a connection ends before its time.
#[derive(Debug, Clone, Copy)]
enum How {
    Close,
    Reset,
    Alert(u8),
}

impl How {
    fn end(self, mut stream: TcpStream) {
        match self {
            Self::Close => drop(stream),
            Self::Reset => {
                let no_time = nix::libc::linger { l_onoff: 1, l_linger: 0 };
                nix::sys::socket::setsockopt(&stream, nix::sys::socket::sockopt::Linger, &no_time).unwrap();
            }
            Self::Alert(alert) => {
                let _ = stream.write_all(&[0x15, 3, 3, 0, 2, 2, alert]);
            }
        }
    }
}

/// In front of `tls`: the connections for which `is_hit` holds end when their hello is there.
fn ends_some(tls: Server, how: How, is_hit: fn(u32) -> bool) -> Server {
    let (address, count) = (tls.address, AtomicU32::new(0));
    let front = responder(move |mut stream| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let mut hello = [0; 8192];
        let bytes = stream.read(&mut hello).unwrap_or_default();
        if is_hit(number) {
            return how.end(stream);
        }
        crate::servers::join(&stream, address, hello.get(..bytes).unwrap());
    });
    KEPT.with(|kept| kept.borrow_mut().push(tls));
    mysql_in_front_of(front)
}

thread_local! {
    /// What stands behind others, until the test is over.
    static KEPT: std::cell::RefCell<Vec<Server>> = const { std::cell::RefCell::new(Vec::new()) };
}

const HOWS: [How; 3] = [How::Close, How::Reset, How::Alert(80)];

fn no_verdict_by_absence(tls: &Tls, facts: &Facts) {
    assert!(!tls.classes_complete, "{facts:#?}");
    assert!(!tls.complete.contains(&Version::TLS12), "{facts:#?}");
}

#[test]
fn a_wall_that_ends_what_follows_leaves_it_unknown() {
    for how in HOWS {
        for is_hit in [|number| number >= 2, |number| number >= 7, |number| number >= 12] {
            for depth in [Depth::Classes, Depth::Full] {
                let wall = ends_some(weak_openssl(&["-cipher", ALL]), how, is_hit);
                let facts = look(&wall, depth);
                let tls = facts.tls.clone().unwrap();
                says(&facts, "stopped answering during the scan");
                no_verdict_by_absence(&tls, &facts);
                let no: Vec<_> = tls.versions.iter().filter(|(_, found)| **found == Found::No).collect();
                assert!(
                    no.iter().all(|(version, _)| matches!(**version, Version::TLS13 | Version::SSL2)),
                    "{how:?} {facts:#?}"
                );
            }
        }
    }
}

#[test]
fn a_balancer_with_one_broken_server_hides_nothing() {
    let sound = look(&weak_openssl(&["-cipher", ALL]), Depth::Classes).tls.unwrap();
    for how in HOWS {
        let front = ends_some(weak_openssl(&["-cipher", ALL]), how, |number| number % 4 == 3);
        let facts = look(&front, Depth::Classes);
        says(&facts, "answered the next time");
        let tls = facts.tls.clone().unwrap();
        for (version, found) in &tls.versions {
            let is_same = Some(found) == sound.versions.get(version);
            assert!(is_same || matches!(found, Found::Unknown(_)), "{how:?} {version:?} {facts:#?}");
        }
        for version in [Version::TLS10, Version::TLS11, Version::TLS12] {
            assert_eq!(tls.versions.get(&version), Some(&Found::Yes), "{how:?} {facts:#?}");
        }
    }
}

/// In front of `tls`: closes where that says an alert; and from one connection on in any case.
fn closes_to_refuse(tls: Server, wall_from: u32) -> Server {
    let (address, count) = (tls.address, AtomicU32::new(0));
    KEPT.with(|kept| kept.borrow_mut().push(tls));
    mysql_in_front_of(responder(move |mut stream| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        let mut hello = [0; 8192];
        let bytes = stream.read(&mut hello).unwrap_or_default();
        let hello = hello.get(..bytes).unwrap();
        let mut first = [0];
        let mut probe = TcpStream::connect(address).unwrap();
        let _ = probe.write_all(hello);
        if number >= wall_from || probe.read_exact(&mut first).is_err() || first == [0x15] {
            return;
        }
        drop(probe);
        crate::servers::join(&stream, address, hello);
    }))
}

#[test]
fn a_server_that_closes_to_refuse_is_learned_and_looked_back_at() {
    let server = || weak_openssl(&["-tls1_2", "-cipher", "HIGH:RC4:@SECLEVEL=0"]);
    let plain = look(&server(), Depth::Classes).tls.unwrap();
    let facts = look(&closes_to_refuse(server(), u32::MAX), Depth::Classes);
    let tls = facts.tls.clone().unwrap();
    assert!(facts.not_seen.is_empty(), "{facts:#?}");
    assert_eq!((&tls.versions, &tls.suites), (&plain.versions, &plain.suites));
    assert!(tls.classes_complete);
    // Believed by then, and closed for all.
    for wall_from in [14, 18, 20] {
        let facts = look(&closes_to_refuse(server(), wall_from), Depth::Classes);
        says(&facts, "stopped answering during the scan");
        assert!(!facts.tls.clone().unwrap().classes_complete, "{wall_from} {facts:#?}");
    }
}

/// Ends every handshake when the client's second flight comes.
fn ends_second_flights(tls: Server, how: How) -> Server {
    let address = tls.address;
    KEPT.with(|kept| kept.borrow_mut().push(tls));
    mysql_in_front_of(responder(move |mut stream| {
        let mut bytes = [0; 8192];
        let count = stream.read(&mut bytes).unwrap_or_default();
        let mut far = TcpStream::connect(address).unwrap();
        let _ = far.write_all(bytes.get(..count).unwrap());
        let (mut from, mut to) = (far.try_clone().unwrap(), stream.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        if matches!(stream.read(&mut bytes), Ok(1..)) {
            how.end(stream.try_clone().unwrap());
        }
        let _ = stream.shutdown(Shutdown::Both);
        let _ = far.shutdown(Shutdown::Both);
    }))
}

#[test]
fn not_every_end_of_a_handshake_asks_for_a_certificate() {
    for version in ["-tls1_2", "-tls1_3"] {
        let asks = || openssl(&[version, "-verify", "2", "-CAfile", "good.pem"]);
        for how in HOWS {
            let facts = look(&ends_second_flights(asks(), how), Depth::Classes);
            let required = facts.tls.clone().unwrap().client_certificate_required;
            assert!(matches!(required, Some(Found::Unknown(_))), "{version} {how:?} {facts:#?}");
        }
    }
    let asks = openssl(&["-tls1_2", "-verify", "2", "-CAfile", "good.pem"]);
    let facts = look(&ends_second_flights(asks, How::Alert(40)), Depth::Classes);
    assert_eq!(facts.tls.unwrap().client_certificate_required, Some(Found::Yes));
}

#[test]
fn what_stands_in_a_part_that_was_not_read_is_not_said_to_be_absent() {
    for more in [&["-groups", "ffdhe2048"][..], &["-ciphersuites", "TLS_AES_128_CCM_8_SHA256"]] {
        let asks = ["-tls1_3", "-Verify", "2", "-CAfile", "good.pem", "-status_file", "ocsp.der"];
        let tls = look(&openssl(&[&asks, more].concat()), Depth::Classes).tls.unwrap();
        for fact in [&tls.client_certificate_asked, &tls.ocsp_staple] {
            assert!(*fact != Some(Found::No), "{more:?} {tls:#?}");
        }
    }
}

/// A ServerHello of TLS 1.2, with this suite.
fn server_hello(suite: [u8; 2]) -> Vec<u8> {
    let mut hello = b"\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03".to_vec();
    hello.extend_from_slice(&[0x5e; 32]);
    hello.push(0);
    hello.extend_from_slice(&suite);
    hello.push(0);
    hello
}

#[test]
fn an_answer_outside_of_the_offer_is_none() {
    for suite in [[0xc0, 0x2f], [0, 1], [0xfe, 0xfe]] {
        let same = responder(move |mut stream| {
            let _ = stream.read(&mut [0; 8192]);
            let _ = stream.write_all(&server_hello(suite).repeat(3));
        });
        for depth in [Depth::Classes, Depth::Full] {
            let facts = look(&mysql_in_front_of(same_again(&same)), depth);
            says(&facts, "the server chose what was not offered");
            let Some(tls) = &facts.tls else { continue };
            no_verdict_by_absence(tls, &facts);
            for version in [Version::TLS11, Version::TLS10, Version::SSL3] {
                assert!(matches!(tls.versions.get(&version), Some(Found::Unknown(_))), "{facts:#?}");
            }
        }
    }
}

fn same_again(server: &Server) -> Server {
    let address = server.address;
    responder(move |stream| crate::servers::join(&stream, address, &[]))
}

#[test]
fn a_list_of_groups_is_whole_only_where_the_last_refusal_was_about_groups() {
    let of = |arguments: &[&str]| look(&openssl(arguments), Depth::Full).tls.unwrap().groups_complete;
    let is_whole = |arguments: &[&str]| of(arguments).contains(&Version::TLS12);
    assert!(is_whole(&["-tls1_2"]));
    // A certificate on a curve: without its own curve everything is refused.
    let curve = ["-tls1_2", "-cert", "p256.pem", "-key", "p256.key"];
    assert!(is_whole(&curve));
    let seen = look(&openssl(&curve), Depth::Full).tls.unwrap();
    let codes: BTreeSet<u16> = seen.groups.get(&Version::TLS12).into_iter().flatten().copied().collect();
    // X25519, P-256, X448, P-521, P-384: OpenSSL's default.
    assert_eq!(codes, BTreeSet::from([29, 23, 30, 25, 24]));
    // By its own order it hides what comes behind its own curve.
    assert!(!is_whole(&[&curve[..], &["-serverpref"]].concat()));
    assert!(!is_whole(&["-tls1_2", "-psk", "1a2b3c4d", "-cipher", "PSK-AES128-GCM-SHA256"]));
    assert!(of(&["-tls1_3", "-cert", "p256.pem", "-key", "p256.key"]).contains(&Version::TLS13));
}

#[test]
fn a_tarpit_that_begins_each_flight_is_given_up() {
    let stops = responder(|mut stream| {
        let _ = stream.read(&mut [0; 8192]);
        let _ = stream.write_all(&server_hello([0xc0, 0x2f]));
        while matches!(stream.read(&mut [0; 8192]), Ok(1..)) {}
    });
    let facts = look(&mysql_in_front_of(stops), Depth::Full);
    says(&facts, "the rest of a first flight: no answer within");
    says(&facts, "3 times in a row");
    assert!(facts.connections <= 4, "{facts:#?}");
}
