//! An audit of servers that refuse it, end in the middle of it or stop answering: a clear row, in bounded time, and nothing passes that was
//! not seen.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use testbed::real::bundled::Bundled;
use testbed::real::{LabSpec, Program, RealLab, lab_slot};

/// Longer than every limit of an audit together.
const ENDS: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
enum Then {
    /// As of a server that is killed.
    Closes,
    /// As of one that hangs.
    IsSilent,
}

/// Passes on to a server, until so many packets of the client have come.
fn relay(at: PathBuf, server: PathBuf, packets: usize, then: Then) {
    let listener = UnixListener::bind(at).unwrap();
    std::thread::spawn(move || {
        // The audit's own session, and the handshake that asks for the certificate.
        for client in listener.incoming() {
            let (mut client, mut server) = (client.unwrap(), UnixStream::connect(&server).unwrap());
            let (mut to_client, mut from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));
            std::thread::spawn(move || {
                let mut bytes = vec![0; 65_536];
                for _ in 0..packets {
                    let length = client.read(&mut bytes).unwrap_or(0);
                    if length == 0 || server.write_all(&bytes[..length]).is_err() {
                        return;
                    }
                }
                match then {
                    Then::Closes => {
                        let _ = client.shutdown(Shutdown::Both);
                    }
                    Then::IsSilent => std::thread::sleep(ENDS),
                }
            });
        }
    });
}

fn audit(lab: &RealLab, socket: &Path, words: &[&str]) -> Value {
    let mut command =
        lab.command(&["lab", "exec", "--", "sealion", "--format", "json", "audit", "-u", "root", "-S"]);
    command.arg(socket).args(words);
    let said = Program::start(command).finish(ENDS);
    // Nothing is a finding, and one server could not be judged to the end.
    said.exits(3).json()
}

#[test]
fn a_server_that_is_lost_has_a_row_that_says_so() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    let server = Bundled::start(&lab, "galera-10.11", 13_396, &[]);
    server.run(&["ALTER USER root@localhost IDENTIFIED BY 'right'"]);
    let socket = server.dir.join("socket");
    for (file, text) in [("wrong", "wrong"), ("right", "right")] {
        let path = lab.home().join(file);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }
    let row = |seen: &Value| seen["servers"][0]["why_not"].as_str().expect("it is told").to_owned();

    lab.now("a wrong password");
    let seen = audit(&lab, &socket, &["--password-file", "wrong"]);
    assert!(row(&seen).contains("Access denied"), "{seen:#}");
    assert_eq!(seen["findings"].as_array().unwrap().len(), 0, "{seen:#}");

    lab.now("nobody listens");
    let seen = audit(&lab, &lab.home().join("nobody"), &["--password-file", "right"]);
    assert!(row(&seen).contains("nobody"), "{seen:#}");

    let right = ["--password-file", "right"];
    let count = |seen: &Value, verdict: &str| {
        seen["findings"].as_array().unwrap().iter().filter(|one| one["verdict"] == verdict).count()
    };
    for then in [Then::Closes, Then::IsSilent] {
        for packets in [0, 2, 12, 20] {
            lab.now(format!("{then:?} behind {packets} packets"));
            let at = lab.home().join(format!("relay-{then:?}-{packets}"));
            relay(at.clone(), socket.clone(), packets, then);
            let seen = audit(&lab, &at, &right);
            let why = row(&seen);
            assert!(!why.is_empty(), "{seen:#}");
            // It had logged in, and was asked for something.
            if packets > 10 {
                let not_asked = seen["findings"].as_array().unwrap().iter().filter(|one| {
                    one["verdict"] == "unknown" && one["why"].as_str().unwrap().contains("it was not asked: ")
                });
                assert!(not_asked.count() > 0, "{seen:#}");
                let stands = seen["map"].as_array().unwrap();
                assert!(
                    stands.iter().all(|path| ["unknown", "clear"].contains(&path["stand"].as_str().unwrap())),
                    "a path of a server that was lost is called protected: {seen:#}"
                );
            }
            eprintln!("{}: {} failed, {} unknown", why, count(&seen, "fail"), count(&seen, "unknown"));
        }
    }

    lab.now("a server that has stopped altogether");
    let pid: i32 = std::fs::read_to_string(server.dir.join("pid")).unwrap().trim().parse().unwrap();
    let pid = nix::unistd::Pid::from_raw(pid);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).unwrap();
    let seen = audit(&lab, &socket, &right);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGCONT).unwrap();
    assert!(!row(&seen).is_empty(), "{seen:#}");
}
