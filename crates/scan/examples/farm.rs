//! A farm of TLS endpoints on loopback, and how fast a first look goes over it.
//!
//! `cargo run --release -p scan --example farm -- [ENDPOINTS] [tls12|tls13]`: this program starts itself once more as the
//! farm (so that the two are counted apart), which greets as MySQL does on 100 ports of as many addresses of 127.0.0.0/8 as
//! it takes, and then begins TLS with a P-256 certificate by OpenSSL. Printed: endpoints a second, CPU and peak memory of
//! both, and what the farm's side alone could do (handshakes a second of one core), the limit that no scanner passes.
#![allow(clippy::unwrap_used)] // A tool for developers: what is wrong here, a person sees at once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use openssl::ssl::{Ssl, SslAcceptor, SslMethod, SslVersion};
use scan::interrogation::Depth;
use scan::{Limits, Next, Target};

#[path = "../tests/all/servers/mod.rs"]
mod servers;

/// Listeners of one address: few threads and file descriptors serve many endpoints.
const PORTS: u16 = 100;
const FIRST_PORT: u16 = 23_000;
const THREADS: usize = 64;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", version] => serve(version),
        [] => measure(10_000, "tls13"),
        [count] => measure(count.parse().unwrap(), "tls13"),
        [count, version] => measure(count.parse().unwrap(), version),
        _ => panic!("usage: farm [ENDPOINTS] [tls12|tls13]"),
    }
}

/// Endpoint `number`: 100 ports on each address. A listener on 0.0.0.0 answers on every address of 127.0.0.0/8.
fn endpoint(number: u32) -> SocketAddr {
    let address = number / u32::from(PORTS);
    let [_, _, high, low] = address.to_be_bytes();
    let port = FIRST_PORT + u16::try_from(number % u32::from(PORTS)).unwrap();
    SocketAddr::from((Ipv4Addr::new(127, 20, high, low), port))
}

fn acceptor(version: &str) -> SslAcceptor {
    let files = servers::files();
    let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
    builder.set_certificate_chain_file(files.join("p256.pem")).unwrap();
    builder.set_private_key_file(files.join("p256.key"), openssl::ssl::SslFiletype::PEM).unwrap();
    if version == "tls12" {
        builder.set_max_proto_version(Some(SslVersion::TLS1_2)).unwrap();
    }
    builder.build()
}

fn serve(version: &str) {
    let acceptor = acceptor(version);
    let hold = Duration::from_secs(5);
    let mut listeners = Vec::new();
    for port in FIRST_PORT..FIRST_PORT + PORTS {
        listeners.push(TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).unwrap());
    }
    // A thread has one connection at a time; the kernel's queue holds the others.
    for listener in listeners.iter().cycle().take(THREADS.max(listeners.len())) {
        let (listener, acceptor) = (listener.try_clone().unwrap(), acceptor.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let _ = stream.set_read_timeout(Some(hold));
                let _ = stream.set_nodelay(true);
                let mut request = [0; 36];
                if stream.write_all(&servers::greeting(true)).is_err()
                    || stream.read_exact(&mut request).is_err()
                {
                    continue;
                }
                // The scanner hangs up after the first flight: the handshake fails, and that is all of it.
                let _ = acceptor.accept(stream);
            }
        });
    }
    println!("ready");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
    println!("{} {}", cpu_ms(), peak_kib());
}

/// User and system time of this process.
fn cpu_ms() -> u64 {
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
    [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| u64::try_from(time.tv_sec() * 1000 + time.tv_usec() / 1000).unwrap())
        .sum()
}

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn measure(endpoints: u32, version: &str) {
    let mut farm = Command::new(std::env::current_exe().unwrap())
        .args(["serve", version])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(farm.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "ready");
    drop(TcpStream::connect(endpoint(0)).unwrap());

    let (mut next, mut rows, mut certificates, mut connections) = (0, 0u32, 0u32, 0u32);
    let mut source = || {
        if next == endpoints {
            return Next::End;
        }
        let address = endpoint(next);
        next += 1;
        Next::Target(Target::new(address.ip().to_string(), address.ip(), address.port(), true))
    };
    let (began, cpu_before) = (Instant::now(), cpu_ms());
    scan::run(&mut source, Depth::First, &Limits::default(), &mut |seen| {
        rows += 1;
        connections += seen.facts.connections;
        match &seen.facts.tls {
            Some(tls) if !tls.chains.is_empty() => certificates += 1,
            _ => eprintln!("{}: {:?} {:?}", seen.target, seen.facts.service, seen.facts.not_seen),
        }
        true
    })
    .unwrap();
    let elapsed = began.elapsed();
    let ours_ms = cpu_ms() - cpu_before;
    drop(farm.stdin.take());
    let theirs = said.next().unwrap().unwrap();
    farm.wait().unwrap();
    let (theirs_ms, theirs_kib) = theirs.split_once(' ').unwrap();
    assert_eq!((rows, certificates), (endpoints, endpoints), "every endpoint has a row and a certificate");
    println!(
        "{version} endpoints={endpoints} connections={connections} seconds={:.2} endpoints_per_s={:.0} \
         scanner_cpu_ms={ours_ms} scanner_peak_kib={} farm_cpu_ms={theirs_ms} farm_peak_kib={theirs_kib} \
         handshakes_per_core_s={:.0}",
        elapsed.as_secs_f64(),
        f64::from(endpoints) / elapsed.as_secs_f64(),
        peak_kib(),
        handshakes_per_s(version),
    );
}

/// What one core does of the server's half, and no more: the first flight of this farm, in memory.
fn handshakes_per_s(version: &str) -> f64 {
    let acceptor = acceptor(version);
    let hello = {
        let keys = scan::question::Keys::generate().unwrap();
        let mut out = Vec::new();
        scan::Question::modern().write(&keys, [7; 32], &mut out).unwrap();
        out
    };
    let began = Instant::now();
    let mut count = 0u32;
    while began.elapsed() < Duration::from_secs(1) {
        let ssl = Ssl::new(acceptor.context()).unwrap();
        let pipe = Pipe { hello: hello.clone(), at: 0 };
        let _ = ssl.accept(pipe);
        count += 1;
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

/// A client that says its hello and nothing more.
struct Pipe {
    hello: Vec<u8>,
    at: usize,
}

impl Read for Pipe {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let rest = self.hello.get(self.at..).unwrap_or_default();
        let count = rest.len().min(room.len());
        room.get_mut(..count).unwrap().copy_from_slice(rest.get(..count).unwrap());
        self.at += count;
        Ok(count)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
