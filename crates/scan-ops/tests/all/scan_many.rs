//! Many targets in one scan, over real sockets of loopback: ended and completed, ranges, services of DNS, what shows only
//! over all of them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use report::shape::{ScanReport, TargetRow};
use rules::accept::{Acceptance, Acceptances, Day};
use scan::Limits;
use scan::engine::ENDED;
use scan::interrogation::Depth;
use scan_ops::{
    Authorized, Budget, Listener, Settings, TargetSpec, complete, read_result, scan, target_specs,
};
use simple_dns::rdata::{RData, SRV};
use simple_dns::{CLASS, Name, Packet, PacketFlag, ResourceRecord};

use crate::servers::{greeting, openssl, responder_at};

/// One at a time, so that the order is known.
fn settings() -> Settings {
    Settings {
        depth: Depth::First,
        limits: Limits { targets_at_once: 1, silence_ms: 100, connection_ms: 600, ..Limits::default() },
        ..Settings::default()
    }
}

/// Answers with a greeting, and counts who came.
struct Counted {
    address: SocketAddr,
    came: Arc<AtomicU32>,
    _server: crate::servers::Server,
}

fn counted(at: &str) -> Counted {
    let came = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&came);
    let server = responder_at(at, move |mut stream| {
        count.fetch_add(1, Ordering::Relaxed);
        let _ = stream.write_all(&greeting(false));
        let _ = stream.read(&mut [0; 64]);
    });
    Counted { address: server.address, came, _server: server }
}

fn all(target_specs: &[TargetSpec], settings: &Settings) -> ScanReport {
    scan(target_specs, settings, &mut Budget::in_memory(), &AtomicBool::new(false), &mut |_: &TargetRow| {})
        .unwrap()
}

/// How many rows each target has.
fn rows(report: &ScanReport) -> BTreeMap<String, usize> {
    report.targets.iter().fold(BTreeMap::new(), |mut rows, row| {
        *rows.entry(row.target.clone()).or_default() += 1;
        rows
    })
}

#[test]
fn a_scan_that_was_ended_is_completed_and_every_target_is_asked_once() {
    let servers: Vec<Counted> = (0..6).map(|_| counted("127.0.0.1:0")).collect();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut words: Vec<String> = servers.iter().map(|server| server.address.to_string()).collect();
    // Twice the same, one that is dead, one without an address.
    words.extend([words[0].clone(), closed.to_string(), "no-such-name.invalid:3306".to_owned()]);
    let target_specs = target_specs(words.iter().map(String::as_str)).unwrap();
    for ended_after in [0, 1, 3, 7] {
        for server in &servers {
            server.came.store(0, Ordering::Relaxed);
        }
        let stop = AtomicBool::new(ended_after == 0);
        let mut left = ended_after;
        let partial =
            scan(&target_specs, &settings(), &mut Budget::in_memory(), &stop, &mut |_: &TargetRow| {
                left -= 1;
                stop.store(left <= 0, Ordering::Relaxed);
            })
            .unwrap();
        // The last row may come when nothing is left to ask: that is all of it.
        assert!(!partial.is_complete || ended_after == 7, "{ended_after}: {partial:#?}");
        // Ended after the last one that is dialled, nothing is left to do: completing it must add nothing.
        assert!(partial.targets.len() < 8 || ended_after == 7, "{ended_after}: it was not ended");
        // Through a file, as the command line does.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("partial.json");
        std::fs::write(&path, serde_json::to_string(&partial).unwrap()).unwrap();
        let read = read_result(&path).unwrap();
        let cut = read.targets.iter().filter(|row| row.not_seen.iter().any(|why| why == ENDED)).count();
        let mut told = Vec::new();
        let go = AtomicBool::new(false);
        let whole = complete(&read, &settings(), &mut Budget::in_memory(), &go, &mut |row: &TargetRow| {
            told.push(row.target.clone());
        })
        .unwrap();
        assert!(whole.is_complete && whole.started_unix_ms == partial.started_unix_ms);
        let found = rows(&whole);
        assert_eq!(found.len(), 8, "{ended_after}: {found:?}");
        assert!(found.values().all(|count| *count == 1), "{ended_after}: {found:?}");
        assert_eq!(told.len(), 8, "{ended_after}: each row is told once");
        assert_eq!(whole.asked, partial.asked);
        for server in &servers {
            let came = server.came.load(Ordering::Relaxed);
            // Ended in the middle of one: it is asked again.
            assert!((1..=2).contains(&came), "{ended_after}: {} came {came} times", server.address);
        }
        let again = servers.iter().filter(|server| server.came.load(Ordering::Relaxed) > 1).count();
        assert!(again <= cut, "{ended_after}: {again} were asked twice, {cut} were cut off");
    }
}

/// Keeps what there is after some rows, as a process does that may be killed.
struct Keeper {
    rows: usize,
    after: usize,
    kept: Option<ScanReport>,
}

impl Listener for Keeper {
    fn row(&mut self, _row: &TargetRow) {
        self.rows += 1;
    }

    fn so_far(&mut self, report: &dyn Fn() -> ScanReport) {
        if self.rows >= self.after && self.kept.is_none() {
            self.kept = Some(report());
        }
    }
}

#[test]
fn what_was_kept_on_the_way_is_completed_when_the_process_was_killed() {
    let servers: Vec<Counted> = (0..4).map(|_| counted("127.0.0.1:0")).collect();
    let words: Vec<String> = servers.iter().map(|server| server.address.to_string()).collect();
    let target_specs = target_specs(words.iter().map(String::as_str)).unwrap();
    for after in 0..4 {
        let mut keeper = Keeper { rows: 0, after, kept: None };
        let go = AtomicBool::new(false);
        let whole = scan(&target_specs, &settings(), &mut Budget::in_memory(), &go, &mut keeper).unwrap();
        let kept = keeper.kept.unwrap();
        assert_eq!((kept.is_complete, kept.targets.len()), (false, after));
        let mut budget = Budget::in_memory();
        let again = complete(&kept, &settings(), &mut budget, &go, &mut |_: &TargetRow| {}).unwrap();
        assert_eq!((again.is_complete, rows(&again)), (true, rows(&whole)));
        assert_eq!(again.targets[..after], kept.targets);
    }
}

#[test]
fn a_host_without_a_port_that_was_ended_early_is_not_called_silent() {
    // 127.77.9.0/24: nobody listens there.
    let target_specs = target_specs(["127.77.9.1", "127.77.9.2"]).unwrap();
    let whole = all(&target_specs, &settings());
    assert_eq!(rows(&whole).len(), 2, "{whole:#?}");
    assert!(
        whole.targets.iter().all(|row| row.not_seen[0].starts_with("no answer on any of the usual ports"))
    );
    // Nothing to ask again.
    let kept = ScanReport { is_complete: false, ..whole };
    let again = complete(
        &kept,
        &settings(),
        &mut Budget::in_memory(),
        &AtomicBool::new(false),
        &mut |_: &TargetRow| {},
    )
    .unwrap();
    assert_eq!(again.targets, kept.targets);
    let stop = AtomicBool::new(true);
    let ended =
        scan(&target_specs, &settings(), &mut Budget::in_memory(), &stop, &mut |_: &TargetRow| {}).unwrap();
    assert_eq!((ended.targets.len(), ended.is_complete), (0, false));
}

#[test]
fn a_port_that_is_named_beside_its_host_has_its_row() {
    let report = all(&target_specs(["127.77.9.3", "127.77.9.3:3306"]).unwrap(), &settings());
    assert_eq!(rows(&report), BTreeMap::from([("127.77.9.3:3306".to_owned(), 1)]), "{report:#?}");
}

fn authorized(text: &str) -> Authorized {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ranges");
    std::fs::write(&path, text).unwrap();
    Authorized::read(&path).unwrap()
}

#[test]
fn a_range_is_asked_address_by_address_and_nothing_outside_is_dialled() {
    let inside = counted("127.77.8.2:0");
    let port = inside.address.port();
    let outside = counted(&format!("127.77.7.1:{port}"));
    let settings = Settings { authorized: Some(authorized("127.77.8.0/29 # ours\n")), ..settings() };
    let target_specs =
        target_specs([format!("127.77.8.0/29:{port}").as_str(), &outside.address.to_string()]).unwrap();
    let report = all(&target_specs, &settings);
    // Without network and broadcast.
    let expected: Vec<String> =
        (1..=6).map(|host| format!("127.77.8.{host}:{port}")).chain([outside.address.to_string()]).collect();
    assert_eq!(rows(&report).keys().collect::<Vec<_>>().len(), expected.len());
    assert!(expected.iter().all(|target| rows(&report).get(target) == Some(&1)), "{:?}", rows(&report));
    let row = |target: &str| report.targets.iter().find(|row| row.target == target).unwrap();
    assert!(row(&inside.address.to_string()).service.is_some());
    let refused = row(&outside.address.to_string());
    assert!(refused.connections == 0 && refused.not_seen[0].contains("outside of --authorized-range"));
    assert_eq!(outside.came.load(Ordering::Relaxed), 0);
    // And without the file, none at all.
    let error = scan(
        &target_specs,
        &Settings { authorized: None, ..settings },
        &mut Budget::in_memory(),
        &AtomicBool::new(false),
        &mut |_: &TargetRow| {},
    )
    .unwrap_err();
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn a_service_of_dns_is_asked_where_its_records_say() {
    let server = counted("127.0.0.1:0");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let nameserver = socket.local_addr().unwrap();
    let port = server.address.port();
    thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((count, from)) = socket.recv_from(&mut buffer) {
            let query = Packet::parse(&buffer[..count]).unwrap();
            let name = query.questions[0].qname.clone();
            let mut reply = query.into_reply();
            reply.set_flags(PacketFlag::RESPONSE);
            if name.to_string().starts_with("_mysql") {
                for target in ["127.0.0.1", "no-such-name.invalid"] {
                    let target = Name::new(target).unwrap();
                    let srv = RData::SRV(SRV { priority: 1, weight: 1, port, target });
                    reply.answers.push(ResourceRecord::new(name.clone(), CLASS::IN, 60, srv));
                }
            }
            let _ = socket.send_to(&reply.build_bytes_vec().unwrap(), from);
        }
    });
    let settings = Settings { nameservers: vec![nameserver], ..settings() };
    let report =
        all(&target_specs(["_mysql._tcp.example.org", "srv:_none._tcp.example.org"]).unwrap(), &settings);
    let expected = [
        format!("127.0.0.1:{port}"),
        format!("no-such-name.invalid:{port}"),
        "srv:_none._tcp.example.org".to_owned(),
    ];
    assert_eq!(rows(&report).into_keys().collect::<Vec<_>>(), expected, "{report:#?}");
    assert!(report.targets.iter().any(|row| row.service.is_some() && row.port == port));
    let none = report.targets.iter().find(|row| row.target.starts_with("srv:")).unwrap();
    assert!(none.not_seen[0].contains("no SRV record"), "{none:#?}");
}

#[test]
fn a_key_on_two_hosts_is_told_and_one_on_two_ports_is_not() {
    // The same certificate, by default; the second one is in front of it on another address.
    let (one, two) = (openssl(&["-tls1_2"]), openssl(&["-tls1_2"]));
    let behind = one.address;
    let elsewhere = responder_at("127.77.6.1:0", move |stream| crate::servers::join(&stream, behind, &[]));
    let look = |addresses: &[SocketAddr]| {
        let words: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        all(&target_specs(words.iter().map(String::as_str)).unwrap(), &settings())
    };
    let near = look(&[one.address, two.address]);
    assert_eq!(near.reused_keys, [], "{near:#?}");
    let [ends] = near.rotates_next.as_slice() else { panic!("one certificate: {:#?}", near.rotates_next) };
    assert_eq!(ends.targets.len(), 2);
    let far = look(&[one.address, two.address, elsewhere.address]);
    let [key] = far.reused_keys.as_slice() else { panic!("one key: {far:#?}") };
    assert!(key.same_certificate);
    assert_eq!(key.hosts, ["127.0.0.1", "127.77.6.1"]);
    assert_eq!(key.targets.len(), 3);
}

#[test]
fn an_accepted_risk_is_noted_and_does_not_raise_the_grade() {
    let server = counted("127.0.0.1:0");
    let target = server.address.to_string();
    let look = |until: &str| {
        let one = Acceptance::new("SL1101", &target, "in the rack of the museum", Day::parse(until).unwrap());
        let accepted = Acceptances(vec![one.unwrap()]);
        all(&target_specs([target.as_str()]).unwrap(), &Settings { accepted, ..settings() }).targets.remove(0)
    };
    let plain = all(&target_specs([target.as_str()]).unwrap(), &settings()).targets.remove(0);
    assert!(plain.accepted.is_empty() && plain.grade.is_some());
    let (now, past) = (look("2999-01-01"), look("2001-01-01"));
    assert_eq!((now.accepted.len(), now.accepted[0].is_expired), (1, false), "{now:#?}");
    assert_eq!((past.accepted.len(), past.accepted[0].is_expired), (1, true), "{past:#?}");
    assert_eq!((&now.grade, &now.findings.len()), (&plain.grade, &plain.findings.len()));
}

#[test]
fn a_result_that_is_not_there_is_refused() {
    assert_eq!(read_result(Path::new("/no/such/result")).unwrap_err().exit_code(), 2);
}
