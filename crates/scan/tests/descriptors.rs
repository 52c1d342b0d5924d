//! A process that has no file descriptor left waits for one: that says nothing about a server. Alone in its file, since the
//! limit is that of the whole process.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use scan::interrogation::Depth;
use scan::{Limits, Next, Target};

const TARGETS: usize = 150;

/// A greeting of MariaDB without TLS.
fn greeting() -> Vec<u8> {
    let mut payload = b"\x0a5.5.5-10.11.19-MariaDB\0\x07\0\0\0AAAAAAAA\0".to_vec();
    payload.extend_from_slice(&[0x00, 0x82, 8, 2, 0, 0, 0, 21]);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"BBBBBBBBBBBB\0");
    let mut packet = vec![u8::try_from(payload.len()).unwrap(), 0, 0, 0];
    packet.extend_from_slice(&payload);
    packet
}

#[test]
fn servers_are_not_dead_because_we_have_no_descriptors() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, 40, hard).unwrap();
    thread::spawn(move || {
        loop {
            // One after the other, and as long as there are descriptors for them.
            let Ok((mut stream, _)) = listener.accept() else {
                thread::sleep(Duration::from_millis(5));
                continue;
            };
            let _ = stream.write_all(&greeting());
            let _ = stream.read(&mut [0; 64]);
        }
    });
    let mut left = TARGETS;
    let mut source = || {
        left = match left.checked_sub(1) {
            Some(left) => left,
            None => return Next::End,
        };
        Next::Target(Target::new("127.0.0.1", address.ip(), address.port(), true))
    };
    let limits = Limits { targets_at_once: TARGETS, ..Limits::default() };
    let mut came = Vec::new();
    scan::run(&mut source, Depth::First, &limits, &mut |seen| {
        came.push(seen.facts);
        true
    })
    .unwrap();
    assert_eq!(came.len(), TARGETS);
    for facts in came {
        assert!(facts.service.is_some() && facts.connections > 0, "{facts:?}");
    }
}
