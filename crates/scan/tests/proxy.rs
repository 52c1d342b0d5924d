//! The PROXY protocol: servers behind a load balancer wait for its header, and are silent until it comes.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use scan::facts::Service;
use scan::interrogation::Depth;
use scan::target::ProxyVersion;
use scan::{Facts, Limits, Next, Target};
use wire::proxy_protocol::{self, Proxied};

#[allow(dead_code)]
mod servers;

use servers::{Server, greeting, mysql_without_tls, openssl, responder};

const LIMITS: Limits =
    Limits { targets_at_once: 256, connection_ms: 600, silence_ms: 100, connections_per_s: None };

fn look(address: SocketAddr, proxy: Option<ProxyVersion>, depth: Depth) -> Facts {
    let target = Target { proxy, ..Target::new("127.0.0.1", address.ip(), address.port(), true) };
    let mut target = Some(target);
    let mut facts = None;
    scan::run(&mut || target.take().map_or(Next::End, Next::Target), depth, &LIMITS, &mut |seen| {
        facts = Some(seen.facts);
        true
    })
    .unwrap();
    facts.unwrap()
}

/// Reads a header, and says who it names.
fn header(stream: &mut TcpStream) -> Option<Proxied> {
    let mut bytes = Vec::new();
    loop {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
        match proxy_protocol::parse(&bytes) {
            Ok(Some(header)) => return Some(header.proxied),
            Ok(None) => {}
            Err(_) => return None,
        }
    }
}

/// A greeting, and TLS behind it, for those who send a header that names them; silence for all others, as HAProxy's
/// `accept-proxy` has it. Byte-level.
fn behind_a_balancer() -> (Server, Server) {
    let behind = openssl(&["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"]);
    let address = behind.address;
    let front = responder(move |mut stream| {
        let (peer, own) = (stream.peer_addr().unwrap(), stream.local_addr().unwrap());
        if header(&mut stream) != Some(Proxied::Tcp { source: peer, destination: own }) {
            return;
        }
        let _ = stream.write_all(&greeting(true));
        let mut request = [0; 36];
        if stream.read_exact(&mut request).is_ok() && request[..4] == [32, 0, 0, 1] {
            servers::join(&stream, address, &[]);
        }
    });
    (front, behind)
}

#[test]
fn with_a_header_a_server_behind_a_balancer_is_seen_whole() {
    let (server, _behind) = behind_a_balancer();
    for proxy in [ProxyVersion::V1, ProxyVersion::V2] {
        for depth in [Depth::First, Depth::Classes, Depth::Full] {
            let facts = look(server.address, Some(proxy), depth);
            assert!(matches!(facts.service, Some(Service::Mysql { .. })), "{proxy:?} {depth:?}: {facts:#?}");
            let tls = facts.tls.unwrap();
            assert_eq!(tls.suites.values().flatten().count(), 1, "{proxy:?} {depth:?}: {tls:#?}");
            assert!(!tls.chains.is_empty(), "{proxy:?} {depth:?}");
        }
    }
}

#[test]
fn without_a_header_it_is_not_taken_for_a_server_without_tls() {
    let (server, _behind) = behind_a_balancer();
    let facts = look(server.address, None, Depth::Classes);
    assert!(facts.tls.is_none() && facts.service == Some(Service::Silent), "{facts:#?}");
}

#[test]
fn a_server_that_wants_no_header_is_still_known_by_its_greeting() {
    let facts = look(mysql_without_tls().address, Some(ProxyVersion::V2), Depth::Classes);
    assert!(matches!(facts.service, Some(Service::Mysql { offers_tls: false, .. })), "{facts:#?}");
}
