//! Servers that mean harm, or are broken: one clear row each, in bounded time and memory, and the others are not held up.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use scan::facts::{Found, Service};
use scan::interrogation::Depth;
use scan::intrude::Intrusive;
use scan::{Facts, Limits, Next, Seen, Target};
use wire::tls::registry::Version;

use crate::servers::{
    Flights, Server, error_in_place_of_a_greeting, greeting, in_turns, mysql_in_front_of, openssl, responder,
    responder_at,
};

/// Short, so that the tests are; what counts is that they hold.
const LIMITS: Limits = Limits {
    targets_at_once: 256,
    connection_ms: 600,
    silence_ms: 100,
    connections_per_s: None,
    intrusive: Intrusive::NONE,
};

fn run(targets: Vec<Target>, depth: Depth, limits: &Limits) -> Vec<Seen> {
    let mut targets = targets.into_iter();
    let mut source = || targets.next().map_or(Next::End, Next::Target);
    let mut seen = Vec::new();
    scan::run(&mut source, depth, limits, &mut |one| {
        seen.push(one);
        true
    })
    .unwrap();
    seen
}

fn target(address: SocketAddr) -> Target {
    Target::new(address.ip().to_string(), address.ip(), address.port(), true)
}

/// One look at one hostile server: every depth ends, within what its connections may take.
fn look(server: &Server) -> Facts {
    let mut last = None;
    for depth in [Depth::First, Depth::Classes, Depth::Full] {
        let began = Instant::now();
        let mut seen = run(vec![target(server.address)], depth, &LIMITS);
        assert_eq!(seen.len(), 1);
        let facts = seen.remove(0).facts;
        let allowed = LIMITS.connection_ms * u64::from(facts.connections) + 2_000;
        assert!(began.elapsed() < Duration::from_millis(allowed), "{depth:?}: {:?}", began.elapsed());
        assert!(facts.not_seen.len() < 8, "a row that nobody reads: {:?}", facts.not_seen);
        last = Some(facts);
    }
    last.unwrap()
}

fn says(facts: &Facts, part: &str) {
    assert!(facts.not_seen.iter().any(|why| why.contains(part)), "{part}: {facts:#?}");
}

fn pause() {
    std::thread::sleep(Duration::from_secs(30));
}

/// Reads what is sent, until nothing more comes.
fn drain(mut stream: TcpStream) {
    while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
}

#[test]
fn a_tarpit_that_accepts_and_says_nothing_is_silent() {
    let facts = look(&responder(drain));
    assert_eq!(facts.service, None, "{facts:#?}");
    // It was waited three times as long: a greeting may only be slow. What it waits for itself nobody knows.
    assert_eq!(facts.connections, 2, "{facts:#?}");
    says(&facts, "no answer within 1800 ms, though the port is open: what listens there is not known");
}

#[test]
fn a_slow_greeting_is_waited_for_and_is_no_proxy_that_waits() {
    // Later than one connection is given, and sooner than a patient one; the second closes on what came before its greeting.
    for closes_on_early_bytes in [false, true] {
        let behind = openssl(&["-tls1_2"]);
        let address = behind.address;
        let front = responder(move |mut stream| {
            let delay = Duration::from_millis(900);
            if closes_on_early_bytes {
                stream.set_read_timeout(Some(delay)).unwrap();
                if stream.read(&mut [0; 1]).is_ok() {
                    return;
                }
                stream.set_read_timeout(None).unwrap();
            } else {
                std::thread::sleep(delay);
            }
            let _ = stream.write_all(&crate::servers::greeting(true));
            let mut request = [0; 36];
            if stream.read_exact(&mut request).is_ok() && request[..4] == [32, 0, 0, 1] {
                crate::servers::join(&stream, address, &[]);
            }
        });
        let facts = run(vec![target(front.address)], Depth::First, &LIMITS).remove(0).facts;
        assert!(matches!(facts.service, Some(Service::Mysql { .. })), "{closes_on_early_bytes}: {facts:#?}");
        let tls = facts.tls.unwrap_or_else(|| panic!("{:?}", facts.not_seen));
        assert_eq!(tls.versions.get(&Version::TLS12), Some(&Found::Yes), "{closes_on_early_bytes}");
    }
}

#[test]
fn two_servers_behind_one_address_are_told_and_not_mixed() {
    let leaf = |files: &[&'static str]| openssl(&[&["-tls1_2"], files].concat());
    // The same greeting, and another certificate with the same kind of key.
    let one = in_turns(leaf(&[]), leaf(&["-cert", "expired.pem", "-key", "expired.key"]));
    let facts = look(&mysql_in_front_of(one));
    let why = facts.several_servers.clone().unwrap_or_else(|| panic!("{facts:#?}"));
    assert!(why.contains("two certificates") && why.contains("more than one server"), "{why}");
    // The same certificate, and connection ids of two counters.
    let count = std::sync::atomic::AtomicU32::new(0);
    let behind = openssl(&["-tls1_2"]);
    let address = behind.address;
    let front = responder(move |mut stream| {
        let turn = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut greeting = crate::servers::greeting(true);
        let at = greeting.iter().skip(5).position(|byte| *byte == 0).unwrap() + 6;
        greeting[at..at + 4].copy_from_slice(&([9000, 40][turn as usize % 2] + turn).to_le_bytes());
        let _ = stream.write_all(&greeting);
        let mut request = [0; 36];
        if stream.read_exact(&mut request).is_ok() && request[..4] == [32, 0, 0, 1] {
            crate::servers::join(&stream, address, &[]);
        }
    });
    let facts = look(&front);
    let why = facts.several_servers.clone().unwrap_or_else(|| panic!("{facts:#?}"));
    assert!(why.contains("a server counts upwards"), "{why}");
    // One server behind it is one.
    let facts = look(&mysql_in_front_of(openssl(&["-tls1_2"])));
    assert_eq!(facts.several_servers, None);
}

#[test]
fn a_tarpit_behind_a_greeting_is_given_up_after_three_silences() {
    let (count, behind) = (std::sync::atomic::AtomicU32::new(0), openssl(&["-tls1_2"]));
    let address = behind.address;
    let front = mysql_in_front_of(responder(move |stream| {
        if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2 {
            return crate::servers::join(&stream, address, &[]);
        }
        drain(stream);
    }));
    let facts = run(vec![target(front.address)], Depth::Full, &LIMITS).remove(0).facts;
    assert_eq!(facts.connections, 5, "{facts:#?}");
    says(&facts, "3 times in a row");
}

#[test]
fn a_backlog_that_nobody_accepts_from_is_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let seen = run(vec![target(listener.local_addr().unwrap())], Depth::Classes, &LIMITS);
    says(&seen.first().unwrap().facts, "no answer within");
}

#[test]
fn a_port_that_closes_at_once_says_so() {
    let facts = look(&responder(drop));
    assert!(facts.tls.is_none() && facts.connections == 1, "{facts:#?}");
    assert!(!facts.not_seen.is_empty(), "{facts:#?}");
}

#[test]
fn a_greeting_that_never_ends_is_given_up() {
    for head in [&b"\x4a\x00\x00\x00\x0a10.11"[..], b"\x4a", b"\x4a\x00\x00\x00"] {
        let facts = look(&responder(move |mut stream| {
            let _ = stream.write_all(head);
            pause();
        }));
        says(&facts, "no answer within 600 ms");
        assert!(facts.connections == 1 && facts.tls.is_none(), "{facts:#?}");
    }
}

#[test]
fn garbage_is_a_stranger() {
    for garbage in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[0xff; 4096], &[0; 4096], b"SSH-2.0-x\r\n"] {
        let facts = look(&responder(move |mut stream| {
            let _ = stream.write_all(garbage);
            drain(stream);
        }));
        assert!(facts.tls.is_none() && facts.connections <= 2, "{facts:#?}");
        assert!(
            matches!(facts.service, Some(Service::Stranger { .. })) || !facts.not_seen.is_empty(),
            "{facts:#?}"
        );
    }
}

#[test]
fn an_endless_stream_is_cut_off() {
    let noise = |head: &'static [u8]| {
        responder(move |mut stream| {
            let _ = stream.write_all(head);
            while stream.write_all(&[0x41; 16_384]).is_ok() {}
        })
    };
    // Of nothing; of one endless packet; and of a packet after a greeting and in place of TLS.
    for head in [&b""[..], &b"\xff\xff\xff\x00\x0a"[..], &b"\xff\xff\x00\x00\x0a"[..]] {
        assert!(look(&noise(head)).tls.is_none());
    }
    let after: &'static [u8] = greeting(true).leak();
    let facts = look(&noise(after));
    assert!(facts.tls.is_none_or(|tls| tls.suites.is_empty()));
}

#[test]
fn lengths_of_gigabytes_reserve_nothing() {
    // An X Protocol frame of 4 GiB, a TLS record of 64 KiB, a handshake message and a certificate of 16 MiB.
    let x_frame: &[u8] = b"\xff\xff\xff\xff\x0b";
    let record: &[u8] = b"\x16\x03\x03\xff\xff\x02";
    let message: &[u8] = b"\x16\x03\x03\x00\x04\x0b\xff\xff\xff";
    let list: &[u8] = b"\x16\x03\x03\x00\x0a\x0b\x00\x00\x06\xff\xff\xff\xff\xff\xff";
    for bytes in [x_frame, record, message, list] {
        let direct = responder(move |mut stream| {
            let _ = stream.write_all(bytes);
            drain(stream);
        });
        assert!(look(&direct).tls.is_none_or(|tls| tls.suites.is_empty()));
        let behind = responder(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes);
            drain(stream);
        });
        let facts = look(&mysql_in_front_of(behind));
        assert!(
            matches!(facts.service, Some(Service::Mysql { .. })) && !facts.not_seen.is_empty(),
            "{facts:#?}"
        );
    }
    assert!(peak_memory_kib() < 200 * 1024, "{} KiB", peak_memory_kib());
}

/// Of this process, as Linux counts it.
fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// A ServerHello of TLS 1.2 with ECDHE-RSA-AES128-GCM-SHA256.
fn server_hello() -> Vec<u8> {
    let mut hello = b"\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03".to_vec();
    hello.extend_from_slice(&[0x5e; 32]);
    hello.extend_from_slice(b"\x00\xc0\x2f\x00");
    hello
}

#[test]
fn an_endless_certificate_chain_is_cut_off_and_the_handshake_counts() {
    // One Certificate message of almost 16 MiB, in records of 16 KiB; and messages without end.
    let certificates = |announced: &'static [u8]| {
        responder(move |mut stream| {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&server_hello());
            let _ = stream.write_all(announced);
            let mut record = b"\x16\x03\x03\x40\x00".to_vec();
            record.resize(5 + 16_384, 0x30);
            while stream.write_all(&record).is_ok() {}
        })
    };
    for announced in [
        &b"\x16\x03\x03\x00\x0a\x0b\xff\xff\xfc\xff\xff\xf9\x00\x10\x00"[..],
        &b"\x16\x03\x03\x00\x07\x0b\x00\x00\x03\x00\x00\x00"[..],
    ] {
        let facts = look(&mysql_in_front_of(certificates(announced)));
        let tls = facts.tls.as_ref().unwrap();
        assert!(tls.chains.is_empty() && !tls.suites.is_empty(), "{facts:#?}");
    }
}

#[test]
fn tls_that_stops_in_the_middle_counts_as_far_as_it_came() {
    let stops = responder(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(&server_hello());
        let _ = stream.write_all(b"\x16\x03\x03\x10\x00\x0b\x00");
        drain(stream);
    });
    let front = mysql_in_front_of(stops);
    let facts = run(vec![target(front.address)], Depth::First, &LIMITS).remove(0).facts;
    assert_eq!(facts.tls.unwrap().suites.values().flatten().collect::<Vec<_>>(), [&0xc02f]);
    // In the middle of a ServerHello there is nothing that counts.
    let half = responder(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(server_hello().get(..20).unwrap());
        drain(stream);
    });
    let front = mysql_in_front_of(half);
    let facts = run(vec![target(front.address)], Depth::Classes, &LIMITS).remove(0).facts;
    says(&facts, "no answer within 600 ms");
    assert!(matches!(facts.service, Some(Service::Mysql { .. })));
}

#[test]
fn a_server_that_speaks_byte_by_byte_is_read_if_it_is_done_in_time() {
    let slowly = |pause_ms: u64| {
        responder(move |mut stream| {
            for byte in greeting(false) {
                if stream.write_all(&[byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(pause_ms));
            }
            drain(stream);
        })
    };
    assert!(matches!(look(&slowly(1)).service, Some(Service::Mysql { offers_tls: false, .. })));
    says(&look(&slowly(50)), "no answer within 600 ms");
}

#[test]
fn a_server_that_greets_late_is_waited_for() {
    let tls = openssl(&["-tls1_2"]);
    let behind = tls.address;
    let late = responder(move |mut stream| {
        std::thread::sleep(Duration::from_millis(250));
        let _ = stream.write_all(&greeting(true));
        let mut request = [0; 36];
        if stream.read_exact(&mut request).is_ok() && request.starts_with(&[32, 0, 0, 1]) {
            crate::servers::join(&stream, behind, &[]);
        }
    });
    let facts = run(vec![target(late.address)], Depth::First, &LIMITS).remove(0).facts;
    assert!(matches!(facts.service, Some(Service::Mysql { .. })), "{facts:#?}");
    // The second one asked whether it is a member of a group, because its port says nothing.
    assert_eq!((facts.connections, facts.tls.unwrap().chains.len()), (3, 1));
}

#[test]
fn errors_in_place_of_a_greeting_are_told_and_end_it() {
    for (code, text) in [
        (1129, "Host '10.0.0.9' is blocked because of many connection errors"),
        (1130, "Host '10.0.0.9' is not allowed to connect to this MariaDB server"),
        (1040, "Too many connections"),
    ] {
        let bytes: &'static [u8] = error_in_place_of_a_greeting(code, text).leak();
        let server = responder(move |mut stream| {
            let _ = stream.write_all(bytes);
        });
        let facts = look(&server);
        assert_eq!(facts.service, Some(Service::TurnedAway { code, message: text.into() }));
        assert!(facts.connections == 1 && facts.tls.is_none(), "{facts:#?}");
        assert_eq!(facts.not_seen.iter().any(|why| why.contains("FLUSH HOSTS")), code == 1129);
    }
}

#[test]
fn a_server_that_blocks_us_in_the_middle_is_left_alone_at_once() {
    let (count, blocked) =
        (std::sync::atomic::AtomicU32::new(0), error_in_place_of_a_greeting(1129, "blocked"));
    let behind = openssl(&["-tls1_2"]);
    let front = mysql_in_front_of(behind);
    let address = front.address;
    let server = responder(move |mut stream| {
        if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 5 {
            let _ = stream.write_all(&blocked);
            return;
        }
        crate::servers::join(&stream, address, &[]);
    });
    let facts = run(vec![target(server.address)], Depth::Full, &LIMITS).remove(0).facts;
    assert_eq!(facts.connections, 6);
    says(&facts, "error 1129");
}

#[test]
fn something_else_that_answers_in_the_middle_is_named_and_proves_nothing() {
    let count = std::sync::atomic::AtomicU32::new(0);
    let front = mysql_in_front_of(openssl(&["-tls1_2"]));
    let address = front.address;
    let server = responder(move |mut stream| {
        if count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 3 == 2 {
            let _ = stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\n\r\n");
            return;
        }
        crate::servers::join(&stream, address, &[]);
    });
    let facts = run(vec![target(server.address)], Depth::Classes, &LIMITS).remove(0).facts;
    says(&facts, "in place of a greeting, on the way: bytes 485454502f312e31");
    let tls = facts.tls.unwrap();
    let twelve = tls.versions.get(&wire::tls::registry::Version::TLS12);
    assert_eq!(twelve, Some(&scan::facts::Found::Yes), "{tls:#?}");
}

#[test]
fn ipv6_is_asked_as_ipv4_is() {
    TcpListener::bind("[::1]:0").expect("this test needs IPv6 on lo: sysctl net.ipv6.conf.lo.disable_ipv6=0");
    let server = responder_at("[::1]:0", |mut stream| {
        let _ = stream.write_all(&greeting(false));
        drain(stream);
    });
    assert!(server.address.is_ipv6());
    assert!(matches!(look(&server).service, Some(Service::Mysql { .. })));
}

#[test]
fn a_thousand_dead_addresses_do_not_hold_up_the_living() {
    let living: Vec<Server> = (0..5).map(|_| mysql_in_front_of(openssl(&["-tls1_2"]))).collect();
    // Silent ones: a backlog of one that is full, so that not even a connection comes about.
    let full: Vec<(TcpListener, Vec<TcpStream>)> = (0..4).map(|_| silent()).collect();
    let mut targets = Vec::new();
    for number in 0..1_000u32 {
        let [_, _, high, low] = number.to_be_bytes();
        if number % 4 == 0 {
            let at = usize::try_from(number / 4 % 4).unwrap();
            targets.push(target(full.get(at).unwrap().0.local_addr().unwrap()));
        } else {
            targets.push(target(SocketAddr::from(([127, 9, high, low], 9))));
        }
    }
    // The living come last: behind all the dead.
    targets.extend(living.iter().map(|server| target(server.address)));
    let limits = Limits { targets_at_once: 64, ..LIMITS };
    let seen = run(targets.clone(), Depth::Classes, &limits);
    assert_eq!(seen.len(), 1_005);
    let alive = seen.iter().filter(|one| one.facts.tls.is_some()).count();
    assert_eq!(alive, 5);
    let mut asked: Vec<String> = targets.iter().map(ToString::to_string).collect();
    let mut answered: Vec<String> = seen.iter().map(|one| one.target.to_string()).collect();
    asked.sort();
    answered.sort();
    assert_eq!(asked, answered, "each has a row of its own");
    // At once, and the living first: with room for all of them nobody waits for a silent one.
    let mut mixed = targets.clone();
    mixed.rotate_right(5);
    let seen = run(mixed, Depth::First, &Limits { targets_at_once: 2_000, ..LIMITS });
    let last_alive = seen.iter().rposition(|one| one.facts.tls.is_some()).unwrap();
    let first_silent =
        seen.iter().position(|one| one.facts.not_seen.iter().any(|why| why.contains("no answer"))).unwrap();
    assert!(
        last_alive < first_silent,
        "a living one at {last_alive} came after a silent one at {first_silent}"
    );
}

/// A listener whose queue is full: it takes no connection, and refuses none.
fn silent() -> (TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    nix::sys::socket::listen(&listener, nix::sys::socket::Backlog::new(0).unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(100)) {
        held.push(stream);
    }
    (listener, held)
}

#[test]
fn hostile_and_sound_servers_side_by_side_all_have_their_row() {
    let sound = mysql_in_front_of(openssl(&["-tls1_2"]));
    let bad = [
        responder(drain),
        responder(drop),
        responder(|mut stream| while stream.write_all(&[0x41; 16_384]).is_ok() {}),
        responder(|mut stream| {
            let _ = stream.write_all(b"\x4a\x00\x00\x00");
            pause();
        }),
    ];
    let mut targets: Vec<Target> = bad.iter().map(|server| target(server.address)).collect();
    targets.push(target(sound.address));
    let alone = run(vec![target(sound.address)], Depth::Full, &LIMITS).remove(0).facts;
    let seen = run(targets, Depth::Full, &LIMITS);
    assert_eq!(seen.len(), 5);
    let among = seen.into_iter().find(|one| one.target.address == sound.address).unwrap().facts;
    assert_eq!((among.tls, among.connections), (alone.tls, alone.connections));
}

#[test]
fn a_server_that_goes_astray_behind_its_first_flight_is_unknown_there_and_seen_before() {
    let after: [&'static [u8]; 6] = [
        b"",                                                     // It closes.
        b"\x14\x03\x01\x00\x01\x01\x16\x03\x01\x00\x28AAAAAAAA", // Cut short.
        b"\x14\x03\x01\x00\x01\x01\x16\x03\x01\x00\x04AAAA\x16\x03\x01\x00\x04AAAA",
        b"\x16\x03\x01\x00\x04\x14\xff\xff\xff", // A message of 16 MiB.
        b"\x16\x03\x01\xff\xff\x04",             // A record of 64 KiB.
        b"\x16\x03\x01\x00\x0a\x04\x00\x00\x06\x00\x00\x1c\x20\xff\xff", // A ticket that is not there.
    ];
    for bytes in after {
        for is_endless in [false, true] {
            let server = Flights::of_openssl_101().play_then(move |mut stream| {
                let _ = stream.write_all(bytes);
                while is_endless && stream.write_all(&[0x14; 16_384]).is_ok() {}
            });
            let tls = look(&server).tls.unwrap();
            assert!(tls.suites.len() > 2, "{tls:#?}");
            for fact in [&tls.resumption_by_id, &tls.resumption_by_ticket, &tls.client_renegotiation] {
                assert!(matches!(fact, Some(Found::Unknown(_))), "{bytes:02x?} {is_endless} {tls:#?}");
            }
        }
    }
}

#[test]
fn a_server_that_falls_silent_behind_its_first_flight_is_given_up() {
    let server = Flights::of_openssl_101().play_then(|_| pause());
    let tls = run(vec![target(server.address)], Depth::Classes, &LIMITS).remove(0).facts.tls.unwrap();
    assert!(
        matches!(&tls.resumption_by_id, Some(Found::Unknown(why)) if why.contains("no answer")),
        "{tls:#?}"
    );
    let limits = Limits { intrusive: Intrusive::ALL, ..LIMITS };
    let tls = run(vec![target(server.address)], Depth::Classes, &limits).remove(0).facts.tls.unwrap();
    for fact in [&tls.heartbleed, &tls.early_ccs] {
        assert!(matches!(fact, Some(Found::Unknown(_))), "{tls:#?}");
    }
}

const REQUEST: [u8; 110] = heartbeat(1);
const ANSWER: [u8; 110] = heartbeat(2);

#[test]
fn what_a_server_says_of_its_own_is_no_memory_of_it_and_other_words_prove_nothing() {
    let limits = Limits { intrusive: Intrusive { heartbleed: true, ..Intrusive::NONE }, ..LIMITS };
    let heartbleed = |words: &'static [u8]| {
        let server = Flights::of_openssl_101().play_then(move |mut stream| {
            let _ = stream.write_all(words);
            let _ = stream.shutdown(std::net::Shutdown::Write);
        });
        run(vec![target(server.address)], Depth::Classes, &limits).remove(0).facts.tls.unwrap().heartbleed
    };
    // Its own request, longer than what a faulty server would give away, and a complaint behind it; then an answer.
    let no = heartbleed(&REQUEST);
    // The recorded server falls silent after the flight: without one that still takes a hello nothing is proved.
    assert!(matches!(no, Some(Found::No | Found::Unknown(_))), "{no:?}");
    assert_eq!(heartbleed(&ANSWER), Some(Found::Yes));
    for words in [&b""[..], b"\x2e\0\0\x02\xff\x10\x04#08004Too many", &[23, 3, 2, 0, 2, 1, 2]] {
        let found = heartbleed(words);
        assert!(matches!(found, Some(Found::Unknown(_))), "{words:?} {found:?}");
    }
}

/// A heartbeat record of 98 bytes, and alert 10.
const fn heartbeat(message_type: u8) -> [u8; 110] {
    let mut bytes = [0x5a; 110];
    let head = [24, 3, 2, 0, 98, message_type, 0, 79];
    let tail = [21, 3, 2, 0, 2, 2, 10];
    let mut at = 0;
    while at < head.len() {
        bytes[at] = head[at];
        at += 1;
    }
    at = 0;
    while at < tail.len() {
        bytes[103 + at] = tail[at];
        at += 1;
    }
    bytes
}
