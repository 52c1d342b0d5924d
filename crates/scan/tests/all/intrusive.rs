//! What proves nothing about the faults that the intrusive questions look for: servers that fall over, walls, balancers.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use scan::facts::{Found, Tls};
use scan::interrogation::Depth;
use scan::intrude::Intrusive;
use scan::{Limits, Next, Target};

use crate::servers::{Server, openssl, responder, weak_openssl};

fn look(server: &Server, host: &str, depth: Depth) -> Tls {
    let mut target = Some(Target::new(host, server.address.ip(), server.address.port(), true));
    let mut source = || target.take().map_or(Next::End, Next::Target);
    let limits = Limits { silence_ms: 100, intrusive: Intrusive::ALL, ..Limits::default() };
    let mut facts = None;
    scan::run(&mut source, depth, &limits, &mut |seen| {
        facts = Some(seen.facts);
        true
    })
    .unwrap();
    facts.unwrap().tls.unwrap()
}

fn verdicts(tls: &Tls) -> [&Found; 3] {
    [&tls.heartbleed, &tls.early_ccs, &tls.robot].map(|found| found.as_ref().unwrap())
}

fn is_unknown(found: &Found) -> bool {
    matches!(found, Found::Unknown(_))
}

/// What happens to whoever says more than a ClientHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Reset,
    Close,
    /// Bytes that are no TLS.
    Garbage,
    /// Records that answer nothing.
    Chatter,
    /// It closes, and nobody listens any more.
    FallOver,
}

/// In front of a server: a ClientHello is let through, and its first flight back.
fn wall_in_front_of(behind: Server, act: Act) -> Server {
    let address = behind.address;
    let is_down = Arc::new(AtomicBool::new(false));
    let mut front = responder(move |mut stream| {
        if is_down.load(Ordering::Relaxed) {
            return;
        }
        let mut buffer = [0; 16 * 1024];
        let Ok(count @ 1..) = stream.read(&mut buffer) else { return };
        let Ok(mut far) = TcpStream::connect(address) else { return };
        let _ = far.write_all(&buffer[..count]);
        let (mut from, mut to) = (far.try_clone().unwrap(), stream.try_clone().unwrap());
        let back = std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
        });
        let more = stream.read(&mut buffer).unwrap_or_default();
        let _ = far.shutdown(Shutdown::Both);
        let _ = back.join();
        if more == 0 {
            return;
        }
        match act {
            Act::Reset => {
                let no_time = nix::libc::linger { l_onoff: 1, l_linger: 0 };
                nix::sys::socket::setsockopt(&stream, nix::sys::socket::sockopt::Linger, &no_time).unwrap();
            }
            Act::Close => {}
            Act::Garbage => drop(stream.write_all(b"\x2e\0\0\x02\xff\x10\x04#08004Too many connections")),
            Act::Chatter => drop(stream.write_all(&[23, 3, 3, 0, 4, 1, 2, 3, 4])),
            Act::FallOver => is_down.store(true, Ordering::Relaxed),
        }
    });
    front.behind = Some(Box::new(behind));
    front
}

#[test]
fn an_end_without_a_complaint_proves_nothing() {
    for act in [Act::Reset, Act::Close, Act::Garbage, Act::Chatter, Act::FallOver] {
        // It takes RSA key exchange, and has no heartbeat: that one is in hostile.rs.
        let tls = look(&wall_in_front_of(weak_openssl(&["-tls1_2"]), act), "127.0.0.1", Depth::Classes);
        assert_eq!(tls.heartbeat, Some(Found::No));
        assert!(verdicts(&tls).into_iter().skip(1).all(is_unknown), "{act:?}: {:?}", verdicts(&tls));
    }
}

#[test]
fn a_server_that_is_gone_afterwards_has_proved_nothing() {
    // It complains as it should, and then nobody is there.
    let behind = weak_openssl(&["-tls1_2"]);
    let (address, count) = (behind.address, AtomicU32::new(0));
    let asked = look(&behind, "127.0.0.1", Depth::Classes);
    assert_eq!(verdicts(&asked), [&Found::No; 3]);
    let connections = Arc::new(AtomicU32::new(0));
    let (counted, limit) = (Arc::clone(&connections), Arc::new(AtomicU32::new(u32::MAX)));
    let ends_at = Arc::clone(&limit);
    let front = responder(move |stream| {
        counted.fetch_add(1, Ordering::Relaxed);
        if count.fetch_add(1, Ordering::Relaxed) < ends_at.load(Ordering::Relaxed) {
            crate::servers::join(&stream, address, &[]);
        }
    });
    let whole = look(&front, "127.0.0.1", Depth::Classes);
    assert_eq!(verdicts(&whole), [&Found::No; 3]);
    // The last of them looks whether it still stands.
    limit.store(2 * connections.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    let tls = look(&front, "127.0.0.1", Depth::Classes);
    assert!(verdicts(&tls).into_iter().all(is_unknown), "{:?}", verdicts(&tls));
}

#[test]
fn five_servers_behind_one_address_are_no_oracle() {
    // Four say alert 10 or 20 where they should; the fifth is older, and says something else.
    let servers: Vec<Server> = (0..4).map(|_| openssl(&["-tls1_2", "-cipher", "AES128-SHA"])).collect();
    let odd = weak_openssl(&["-tls1_2", "-cipher", "AES128-SHA"]);
    let addresses: Vec<_> = servers.iter().chain([&odd]).map(|server| server.address).collect();
    let turn = AtomicU32::new(0);
    let front = responder(move |mut stream| {
        let mut buffer = [0; 16 * 1024];
        let Ok(count @ 1..) = stream.read(&mut buffer) else { return };
        let turn = turn.fetch_add(1, Ordering::Relaxed) as usize % 5;
        if turn < 4 {
            return crate::servers::join(&stream, addresses[turn], &buffer[..count]);
        }
        let Ok(mut far) = TcpStream::connect(addresses[turn]) else { return };
        let _ = far.write_all(&buffer[..count]);
        let (mut from, mut to) = (far.try_clone().unwrap(), stream.try_clone().unwrap());
        let back = std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
        });
        let more = stream.read(&mut buffer).unwrap_or_default();
        let _ = far.shutdown(Shutdown::Both);
        let _ = back.join();
        if more > 0 {
            // decrypt_error, whatever the padding.
            let _ = stream.write_all(&[21, 3, 3, 0, 2, 2, 51]);
        }
    });
    let tls = look(&front, "127.0.0.1", Depth::Classes);
    assert!(is_unknown(tls.robot.as_ref().unwrap()), "{:?}", tls.robot);
}

#[test]
fn a_server_with_nothing_but_suites_without_encryption_is_asked_too() {
    let tls = look(
        &weak_openssl(&["-tls1_2", "-cipher", "NULL-SHA256:NULL-SHA@SECLEVEL=0"]),
        "127.0.0.1",
        Depth::Full,
    );
    // It reads a padded secret as any other does.
    assert_eq!(tls.robot, Some(Found::No), "{tls:#?}");
}

#[test]
fn another_certificate_for_clients_that_send_no_name_is_seen() {
    for version in [&[][..], &["-tls1_2"], &["-tls1_3"]] {
        let two = ["-servername", "db1.example", "-cert2", "p256.pem", "-key2", "p256.key"];
        let tls = look(&openssl(&[version, &two].concat()), "db1.example", Depth::Classes);
        let keys: Vec<&str> = tls.chains.iter().map(|chain| chain[0].key.as_str()).collect();
        let expected = (Some(1), vec!["EC P-256", "RSA 2048"]);
        assert_eq!((tls.chain_without_name, keys), expected, "{version:?} {tls:#?}");
    }
    // The same for all.
    let tls = look(&openssl(&["-tls1_2"]), "db1.example", Depth::Classes);
    assert_eq!((tls.chain_without_name, tls.chains.len()), (None, 1));
}
