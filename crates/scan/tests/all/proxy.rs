//! The PROXY protocol: servers behind a load balancer wait for its header, and are silent until it comes.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use scan::facts::Service;
use scan::interrogation::Depth;
use scan::intrude::Intrusive;
use scan::target::ProxyVersion;
use scan::{Facts, Limits, Next, Target};
use wire::proxy_protocol::{self, Proxied};

use crate::servers::{Server, greeting, mysql_without_tls, openssl, responder};

const LIMITS: Limits = Limits {
    targets_at_once: 256,
    connection_ms: 600,
    silence_ms: 100,
    connections_per_s: None,
    intrusive: Intrusive::NONE,
};

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
            crate::servers::join(&stream, address, &[]);
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

/// A real MariaDB 10.11, with options.
struct MariaDb {
    child: Child,
    address: SocketAddr,
    _directory: tempfile::TempDir,
}

impl MariaDb {
    fn start(options: &[&str]) -> Self {
        let directory = tempfile::Builder::new().prefix("sealion-proxy-").tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/start-server.sh");
        let mut child = Command::new(script)
            .args(["galera-10.11", directory.path().to_str().unwrap(), &address.port().to_string()])
            .args(options)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(90);
        while TcpStream::connect(address).is_err() {
            let log = std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
            if let Some(status) = child.try_wait().unwrap() {
                panic!("galera-10.11 ended with {status} (sealion lab fetch galera-10.11):\n{log}");
            }
            assert!(Instant::now() < deadline, "it is not up:\n{log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { child, address, _directory: directory }
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// MariaDB takes a header from `proxy_protocol_networks`, and does not insist on one; elsewhere it greets first and refuses
/// all that follows a header.
#[test]
fn mariadb_takes_a_header_only_from_the_networks_that_it_names() {
    let (with, without) = (MariaDb::start(&["--proxy-protocol-networks=*"]), MariaDb::start(&[]));
    let versions = |server: &MariaDb, proxy: Option<ProxyVersion>| {
        let facts = look(server.address, proxy, Depth::Classes);
        assert!(matches!(facts.service, Some(Service::Mysql { .. })), "{proxy:?}: {facts:#?}");
        let tls = facts.tls.unwrap_or_default();
        tls.versions.values().filter(|found| **found == scan::facts::Found::Yes).count()
    };
    for proxy in [None, Some(ProxyVersion::V1), Some(ProxyVersion::V2)] {
        assert_eq!(versions(&with, proxy), 2, "{proxy:?}");
        assert_eq!(versions(&without, proxy), if proxy.is_none() { 2 } else { 0 }, "{proxy:?}");
    }
}
