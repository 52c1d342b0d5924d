//! Records first flights of a live server, and plays recorded ones to foreign tools.
//!
//! `cargo run -p scan --example flights -- record HOST:PORT DIR WHAT` asks a server that speaks TLS from the first byte:
//! SSL 2.0, and SSL 3.0 to TLS 1.2 with one suite at a time. `… -- play DIR ADDRESS:PORT [as-1.0.1e]` answers from such a
//! directory, and `… -- oracle ADDRESS:PORT always` tells good paddings from bad ones, so that nmap, sslscan and
//! testssl.sh can be asked what they make of it.
#![allow(clippy::unwrap_used)] // A tool for developers: what is wrong here, a person sees at once.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use scan::Question;
use scan::question::Keys;
use wire::tls::registry::Version;

#[path = "../tests/all/servers/mod.rs"]
mod servers;

use servers::{Habits, Oracle};

/// NULL, export (RSA and DHE), RC4, DES, 3DES, and what is not weak.
const SUITES: [u16; 9] = [0x0002, 0x0003, 0x0008, 0x0014, 0x0004, 0x0009, 0x000a, 0x002f, 0x0033];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["record", address, directory, what] => record(address, Path::new(directory), what),
        ["play", directory, address] => play(servers::Flights::read(Path::new(directory)), address),
        ["play", directory, address, "no-renegotiation-info"] => {
            let flights = servers::Flights::read(Path::new(directory));
            play(flights.without_renegotiation_info().without_ssl2(), address);
        }
        ["play", directory, address, habits @ ("as-1.0.1e" | "as-1.0.1h")] => {
            let habits = if habits == "as-1.0.1e" { Habits::Of101e } else { Habits::Of101h };
            wait(&servers::Flights::read(Path::new(directory)).play_with_at(address, habits));
        }
        ["oracle", address, which @ ("always" | "unfollowed")] => {
            let oracle = if which == "always" { Oracle::Always } else { Oracle::Unfollowed };
            let behind = servers::openssl(&["-tls1_2", "-cipher", "AES128-SHA:AES128-GCM-SHA256"]);
            wait(&servers::oracle_in_front_of_at(address, behind, oracle));
        }
        _ => panic!(
            "usage: flights record HOST:PORT DIR WHAT\n\
             | play DIR ADDRESS:PORT [no-renegotiation-info|as-1.0.1e|as-1.0.1h]\n\
             | oracle ADDRESS:PORT always|unfollowed"
        ),
    }
}

fn play(flights: servers::Flights, address: &str) {
    wait(&flights.play_at(address));
}

fn wait(server: &servers::Server) {
    println!("plays on {} until standard input ends", server.address);
    let _ = std::io::stdin().read(&mut [0]);
}

fn record(address: &str, directory: &Path, what: &str) {
    let keys = Keys::generate().unwrap();
    let ask = |question: &Question, name: &str| {
        let mut hello = Vec::new();
        question.write(&keys, [0x5e; 32], &mut hello).unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&hello).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let (mut flight, mut room) = (Vec::new(), [0; 4096]);
        while let Ok(bytes @ 1..) = stream.read(&mut room) {
            flight.extend_from_slice(room.get(..bytes).unwrap());
        }
        // An alert is not worth a file: the player makes its own.
        if flight.is_empty() || flight.first() == Some(&0x15) {
            return;
        }
        let hex = |part: &[u8]| {
            part.iter().map(|byte| format!("{byte:02x}")).chain(["\n".to_owned()]).collect::<String>()
        };
        let text = format!("# {what}: {name}\n{}", flight.chunks(48).map(hex).collect::<String>());
        std::fs::write(directory.join(format!("{name}.hex")), text).unwrap();
        println!("{name} {} bytes", flight.len());
    };
    std::fs::create_dir_all(directory).unwrap();
    ask(&Question::ssl2(), "ssl2");
    for version in [Version::SSL3, Version::TLS10, Version::TLS11, Version::TLS12] {
        for suite in SUITES {
            let question = Question { suites: vec![suite], ..Question::up_to(version) };
            ask(&question, &format!("{:04x}-{suite:04x}", version.0));
        }
    }
}
