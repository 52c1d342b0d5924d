//! A real capture on `lo`. Who may not capture does it in a user and network namespace, as `sealion demo` does.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use capture::{Canary, Capture, CaptureError, Flow, Spec};
use in_namespace::may_capture;

mod in_namespace;

fn capture(ports: Vec<u16>) -> Capture {
    capture::start(Spec { iface: "lo".into(), ports, ring_bytes: 16 << 20 }).unwrap()
}

/// Sends `there` to a server and `back` from it, in pieces, over one connection.
fn talk(listener: &TcpListener, there: &[u8], back: &[u8]) -> (SocketAddr, SocketAddr) {
    let server = listener.local_addr().unwrap();
    let client = thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut seen = Vec::new();
            stream.read_to_end(&mut seen).unwrap();
            assert_eq!(seen, there);
            stream.write_all(back).unwrap();
        });
        let mut stream = TcpStream::connect(server).unwrap();
        stream.set_nodelay(true).unwrap();
        // A piece ends in the midst of the canary.
        let (head, tail) = there.split_at(there.len().min(13));
        stream.write_all(head).unwrap();
        stream.write_all(tail).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut seen = Vec::new();
        stream.read_to_end(&mut seen).unwrap();
        assert_eq!(seen, back);
        stream.local_addr().unwrap()
    });
    (client, server)
}

fn the_flow(flows: &[Flow], client: SocketAddr) -> &Flow {
    let mut of_client = flows.iter().filter(|flow| flow.a == client || flow.b == client);
    let flow = of_client.next().unwrap_or_else(|| panic!("no flow of {client} in {flows:?}"));
    assert!(of_client.next().is_none(), "each packet is seen once");
    flow
}

#[test]
fn finds_a_canary_in_clear_and_not_the_same_bytes_xored() {
    if !may_capture("finds_a_canary_in_clear_and_not_the_same_bytes_xored") {
        return;
    }
    let canary = Canary::new(*b"loopback-test-01");
    let clear = format!("xxxxxxxx{}yyyy", canary.token()).into_bytes();
    let xored: Vec<u8> = clear.iter().map(|byte| byte ^ 0x5a).collect();
    for (there, expected) in [(&clear, Some(1)), (&xored, None)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let capture = capture(vec![listener.local_addr().unwrap().port()]);
        let (client, server) = talk(&listener, there, b"thanks");
        let report = capture.stop();
        assert_eq!((report.kernel_drops, report.flows.len()), (0, 1), "{report:?}");
        assert!(report.is_complete() && report.packets >= 8, "{report:?}");
        let flow = the_flow(&report.flows, client);
        assert_eq!((flow.client, flow.saw_start), (Some(client), true));
        let (to_server, to_client) =
            if flow.a == client { (&flow.ab, &flow.ba) } else { (&flow.ba, &flow.ab) };
        assert!(flow.a == server || flow.b == server);
        assert_eq!((to_server.bytes, to_client.bytes), (there.len() as u64, 6));
        assert_eq!(to_server.canaries.get(canary.tag()).copied(), expected);
        assert_eq!(
            to_server.evidence.as_ref().map(|evidence| evidence.bytes.clone()),
            expected.map(|_| clear.clone())
        );
        assert!(to_client.canaries.is_empty() && to_client.evidence.is_none());
        assert!(report.started_unix_ms <= flow.first_unix_ms && flow.last_unix_ms <= report.ended_unix_ms);
    }
}

#[test]
fn loses_nothing_of_a_busy_connection() {
    if !may_capture("loses_nothing_of_a_busy_connection") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let capture = capture(vec![listener.local_addr().unwrap().port()]);
    let canary = Canary::new(*b"loopback-test-02");
    let mut bytes = vec![b'.'; 8 << 20];
    bytes.extend_from_slice(canary.token().as_bytes());
    let (client, _) = talk(&listener, &bytes, &bytes);
    let report = capture.stop();
    let flow = the_flow(&report.flows, client);
    assert!(report.is_complete(), "{} drops, {flow:?}", report.kernel_drops);
    for direction in [&flow.ab, &flow.ba] {
        assert_eq!(direction.bytes, bytes.len() as u64);
        assert_eq!(direction.canaries.get(canary.tag()), Some(&1));
        assert_eq!(direction.evidence.as_ref().unwrap().stream_offset, 8 << 20);
    }
}

#[test]
fn a_snapshot_shows_what_passed_while_the_capture_goes_on() {
    if !may_capture("a_snapshot_shows_what_passed_while_the_capture_goes_on") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let capture = capture(vec![listener.local_addr().unwrap().port()]);
    talk(&listener, b"one", b"");
    let since = Instant::now();
    let bytes = |flows: &[Flow]| flows.iter().map(|flow| flow.ab.bytes + flow.ba.bytes).sum::<u64>();
    while bytes(&capture.snapshot().flows) < 3 {
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", capture.snapshot());
        thread::sleep(Duration::from_millis(5));
    }
    talk(&listener, b"three", b"");
    assert_eq!(bytes(&capture.stop().flows), 8);
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    if !may_capture("an_interface_that_is_not_there_is_named") {
        return;
    }
    let spec = Spec { iface: "sl-none".into(), ports: vec![], ring_bytes: 0 };
    let error = capture::start(spec).unwrap_err();
    assert!(matches!(error, CaptureError::NoSuchInterface { .. }), "{error}");
}
