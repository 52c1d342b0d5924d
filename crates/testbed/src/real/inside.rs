//! Errands inside of a lab's network namespace: there the test program runs itself, since a process with threads cannot enter.
//!
//! A test program that uses [`RealLab::watch`] or [`RealLab::knock`] has an ignored test `inside_the_lab` that calls [`run`].

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint, SslMode, TlsOptions};
use serde_json::{Value, json};

use super::{Program, RealLab};
use crate::sim::links::Wire;

const ERRAND: &str = "SEALION_TEST_ERRAND";
/// libtest writes around it.
const ANSWER: &str = "the answer: ";
const BEGINS_S_MAX: u64 = 30;
const ENDS_S_MAX: u64 = 30;
const KNOCK_MS: u64 = 3_000;
/// Source: RFC 8446 section 5.2: a record is at most 2^14 + 256 bytes and a 5-byte header. A capture that begins in the
/// middle of one sees the rest of it as something else, once per direction.
const RECORD_BYTES_MAX: u64 = (1 << 14) + 256 + 5;

/// The body of the ignored test `inside_the_lab`; nothing without an errand.
pub fn run() {
    let Ok(text) = std::env::var(ERRAND) else { return };
    let errand: Value = serde_json::from_str(&text).expect("an errand is JSON");
    let answer = match errand["what"].as_str() {
        Some("watch") => watch(&errand),
        Some("knock") => knock(&errand),
        Some("record") => record(&errand),
        Some("speak") => speak(&errand),
        Some("talk") => talk(&errand),
        other => panic!("no errand is called {other:?}"),
    };
    println!("\n{ANSWER}{answer}");
}

fn watch(errand: &Value) -> Value {
    let ports = errand["ports"].as_array().expect("ports").iter();
    let ports = ports.map(|port| u16::try_from(port.as_u64().expect("a port")).expect("a port")).collect();
    let spec = capture::Spec { iface: "lo".into(), ports, ring_bytes: 0 };
    let capture = capture::start(spec).expect("packets may be captured in the lab's own namespace");
    eprintln!("watching");
    // Until the test closes our standard input, or is gone.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let report = capture.stop();
    assert!(report.is_complete(), "the capture has gaps: {} drops", report.kernel_drops);
    let flows = report.flows.iter().map(|flow| {
        let directions = [&flow.ab, &flow.ba];
        let slack = if flow.saw_start { 0 } else { RECORD_BYTES_MAX };
        let clear = |one: &&capture::Direction| one.bytes.saturating_sub(one.tls_bytes) > slack;
        json!({
            "a": flow.a, "b": flow.b,
            "bytes": directions.map(|one| one.bytes).iter().sum::<u64>(),
            "tls_bytes": directions.map(|one| one.tls_bytes).iter().sum::<u64>(),
            "canaries": directions.map(|one| one.canaries.values().sum::<u64>()).iter().sum::<u64>(),
            "is_clear": directions.iter().any(clear),
        })
    });
    flows.collect()
}

fn knock(errand: &Value) -> Value {
    let path = |key: &str| errand[key].as_str().map(Into::into);
    let options =
        TlsOptions { cert: path("cert"), key: path("key"), ..TlsOptions::with_mode(SslMode::Required) };
    let address: SocketAddr = errand["address"].as_str().expect("an address").parse().expect("one");
    match net::tls_probe(address, None, &options, Duration::from_millis(KNOCK_MS)) {
        Ok(probe) => json!({ "outcome": format!("{:?}", probe.outcome), "leaf": probe.leaf_pem }),
        Err(error) => json!({ "outcome": error.to_string(), "leaf": null }),
    }
}

/// All packets on `lo` into a pcap file, until our standard input is closed.
fn record(errand: &Value) -> Value {
    use std::io::Write;
    let path = errand["path"].as_str().expect("a path");
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("writable"));
    // Source: the pcap format: magic, version 2.4, zone, accuracy, longest packet, link type 101: begins with the IP header.
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 1 << 18, 101] {
        file.write_all(&word.to_le_bytes()).expect("writable");
    }
    let (is_over, mut packets, mut said) = (std::sync::Arc::new(AtomicBool::new(false)), 0_u64, false);
    let ends = std::sync::Arc::clone(&is_over);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ends.store(true, Ordering::Relaxed);
    });
    let spec = capture::Spec { iface: "lo".into(), ports: vec![], ring_bytes: 0 };
    let watched = capture::watch(
        &spec,
        &mut || {
            if !std::mem::replace(&mut said, true) {
                eprintln!("watching");
            }
            is_over.load(Ordering::Relaxed)
        },
        &mut |ethertype, packet, unix_ms| {
            // The file says that its packets begin with IP.
            if ![0x0800, 0x86dd].contains(&ethertype) {
                return;
            }
            let part = |number: u64| u32::try_from(number).expect("of this century").to_le_bytes();
            let length = part(packet.len() as u64);
            for field in [part(unix_ms / 1000), part(unix_ms % 1000 * 1000), length, length] {
                file.write_all(&field).expect("writable");
            }
            file.write_all(packet).expect("writable");
            packets += 1;
        },
    );
    let watched = watched.expect("packets may be captured in the lab's own namespace");
    file.flush().expect("writable");
    json!({ "packets": packets, "kernel_drops": watched.kernel_drops })
}

/// A session over TCP with what no command line client does: the binary protocol.
fn speak(errand: &Value) -> Value {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let address: SocketAddr = text(&errand["address"]).parse().expect("an address");
    let mode = if errand["tls"] == true { SslMode::Required } else { SslMode::Disabled };
    let mut options =
        ConnectOptions::new(Endpoint::tcp(address.ip().to_string(), address.port()), text(&errand["user"]));
    options = options.password(text(&errand["password"]));
    options.tls = TlsOptions::with_mode(mode);
    let mut client = Client::connect(&options.for_application().for_login_only()).expect("a login");
    for step in errand["steps"].as_array().expect("steps") {
        let values: Vec<String> = step["values"].as_array().into_iter().flatten().map(text).collect();
        let values: Vec<&[u8]> = values.iter().map(String::as_bytes).collect();
        let sql = text(&step["sql"]);
        let done = if step["prepared"] == true {
            client.execute_prepared(&sql, &values)
        } else {
            client.execute(&sql)
        };
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    client.quit().expect("a good-bye");
    Value::Null
}

/// Sessions in cleartext (or by TLS), one on each address, each with a statement every so often; cut off or refused, it dials again. One
/// that does not stay dials for each statement. Each statement that was answered is written down: when, and on which address.
fn talk(errand: &Value) -> Value {
    use std::io::Write;
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let (user, password) = (text(&errand["user"]), text(&errand["password"]));
    let every = Duration::from_millis(errand["every_ms"].as_u64().expect("a number"));
    let stays = errand["stays"] == true;
    let mode = if errand["tls"] == true { SslMode::Required } else { SslMode::Disabled };
    let path = std::path::PathBuf::from(text(&errand["path"]));
    let is_over = std::sync::Arc::new(AtomicBool::new(false));
    let talkers: Vec<_> = errand["addresses"]
        .as_array()
        .expect("addresses")
        .iter()
        .map(|address| {
            let address: SocketAddr = text(address).parse().expect("an address");
            let mut options =
                ConnectOptions::new(Endpoint::tcp(address.ip().to_string(), address.port()), user.clone());
            options = options.password(password.clone());
            let max_version = (errand["is_old"] == true).then_some(net::TlsVersion::Tls12);
            options.tls = TlsOptions { max_version, ..TlsOptions::with_mode(mode) };
            // As any client: with what the server gives it, and not counted among sealion's own.
            options = options.for_application().for_login_only();
            (options.connect_timeout, options.io_timeout) = (Duration::from_secs(3), Duration::from_secs(5));
            let (is_over, path) = (std::sync::Arc::clone(&is_over), path.clone());
            std::thread::spawn(move || {
                let mut log =
                    std::fs::OpenOptions::new().append(true).create(true).open(path).expect("writable");
                while !is_over.load(Ordering::Relaxed) {
                    let Ok(mut client) = Client::connect(&options) else {
                        std::thread::sleep(Duration::from_millis(200));
                        continue;
                    };
                    while !is_over.load(Ordering::Relaxed) && client.query("SELECT 'in cleartext'").is_ok() {
                        let at = model::Clock::unix_ms(&model::SystemClock);
                        log.write_all(format!("{at} {address}\n").as_bytes()).expect("writable");
                        if !stays {
                            break;
                        }
                        nap(every, &is_over);
                    }
                    drop(client);
                    if !stays {
                        nap(every, &is_over);
                    }
                }
            })
        })
        .collect();
    eprintln!("talking");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    is_over.store(true, Ordering::Relaxed);
    for talker in talkers {
        talker.join().expect("it ends");
    }
    Value::Null
}

fn nap(how_long: Duration, is_over: &AtomicBool) {
    let mut left = how_long;
    while !left.is_zero() && !is_over.load(Ordering::Relaxed) {
        let part = left.min(Duration::from_millis(100));
        std::thread::sleep(part);
        left -= part;
    }
}

/// How clients speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Cleartext,
    Tls,
    Tls12,
}

/// Clients that speak, until they are stopped.
pub struct Talkers {
    program: Program,
    path: std::path::PathBuf,
}

impl Talkers {
    /// How many statements were answered in cleartext since `unix_ms`.
    pub fn said_since(&self, unix_ms: u64) -> usize {
        said_between(&self.path, unix_ms, u64::MAX, "")
    }

    /// The same of one address, between two moments.
    pub fn said_at(&self, address: IpAddr, from_unix_ms: u64, to_unix_ms: u64) -> usize {
        said_between(&self.path, from_unix_ms, to_unix_ms, &format!(" {address}:"))
    }

    #[track_caller]
    pub fn stop(self) {
        answer(self.program);
    }
}

fn said_between(path: &Path, from: u64, to: u64, at: &str) -> usize {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter(|line| line.contains(at))
        .filter_map(|line| line.split(' ').next()?.parse::<u64>().ok())
        .filter(|moment| (from..=to).contains(moment))
        .count()
}

impl RealLab {
    /// Clients of the application's account in cleartext, one on each node.
    #[track_caller]
    pub fn talk(&self, every: Duration) -> Talkers {
        self.talkers(&self.client_ports(), every, true, Speaks::Cleartext)
    }

    /// Clients that connect, ask one thing in cleartext and leave, every so often.
    #[track_caller]
    pub fn call_in(&self, every: Duration) -> Talkers {
        self.talkers(&self.client_ports(), every, false, Speaks::Cleartext)
    }

    /// One client of the application's account, in cleartext or by TLS.
    #[track_caller]
    pub fn talk_to(&self, address: SocketAddr, every: Duration, tls: bool) -> Talkers {
        self.talkers(&[address], every, true, if tls { Speaks::Tls } else { Speaks::Cleartext })
    }

    /// The same, of one server.
    #[track_caller]
    pub fn call_at(&self, address: SocketAddr, every: Duration) -> Talkers {
        self.talkers(&[address], every, false, Speaks::Cleartext)
    }

    /// One that has no newer version than TLS 1.2; it stays, or connects anew for each statement.
    #[track_caller]
    pub fn talk_by_tls12(&self, address: SocketAddr, every: Duration, stays: bool) -> Talkers {
        self.talkers(&[address], every, stays, Speaks::Tls12)
    }

    fn client_ports(&self) -> Vec<SocketAddr> {
        let file = self.file();
        let nodes = file.nodes.iter().filter(|node| !file.spares.contains(&node.name));
        nodes.map(|node| SocketAddr::new(node.address, ::lab::layout::SQL_PORT)).collect()
    }

    #[track_caller]
    fn talkers(&self, addresses: &[SocketAddr], every: Duration, stays: bool, speaks: Speaks) -> Talkers {
        let login = std::fs::read_to_string(self.dir.join("app.cnf")).expect("the lab has an application");
        let get = |key: &str| {
            let line = login.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            line.unwrap_or_else(|| panic!("app.cnf has no {key}")).to_owned()
        };
        let first = addresses.first().expect("somebody to talk to");
        let path = self.home().join(format!("talk-{}.log", first.port()));
        let mut program = self.inside(&json!({
            "what": "talk", "addresses": addresses, "user": get("user"), "password": get("password"),
            "every_ms": u64::try_from(every.as_millis()).expect("short"), "path": path, "stays": stays, "tls": speaks != Speaks::Cleartext, "is_old": speaks == Speaks::Tls12,
        }));
        let begun = program.says("talking", Duration::from_secs(BEGINS_S_MAX));
        assert!(begun, "they do not begin: {}", program.stderr());
        Talkers { program, path }
    }

    /// Records what passes on the lab's loopback from now on.
    #[track_caller]
    pub fn record(&self, path: &Path) -> Recording {
        let mut program = self.inside(&json!({ "what": "record", "path": path }));
        let begun = program.says("watching", Duration::from_secs(BEGINS_S_MAX));
        assert!(begun, "the recording does not begin: {}", program.stderr());
        Recording(program)
    }

    /// Statements over TCP, in clear or by TLS: `{"sql": …}`, by the binary protocol with `"prepared": true, "values": […]`.
    #[track_caller]
    pub fn speak(&self, address: SocketAddr, login: (&str, &str), tls: bool, steps: &Value) {
        let (user, password) = login;
        answer(self.inside(&json!({
            "what": "speak", "address": address, "user": user, "password": password, "tls": tls, "steps": steps,
        })));
    }

    fn inside(&self, errand: &Value) -> Program {
        let itself = std::env::current_exe().expect("a test program knows its path");
        // Who talks is an application; who watches or knocks stands where the operator is.
        let is_application = ["talk", "speak"].iter().any(|what| errand["what"] == *what);
        let mut command =
            self.command(if is_application { self.exec_of_applications() } else { super::lab::EXEC });
        command.arg(itself).args(["--exact", "inside_the_lab", "--ignored", "--nocapture"]);
        command.env(ERRAND, errand.to_string());
        Program::start(command)
    }

    /// Captures what passes on the ports of group communication, IST and SST from now on.
    #[track_caller]
    pub fn watch(&self) -> Watching {
        let ports = [::lab::layout::GALERA_PORT, ::lab::layout::IST_PORT, ::lab::layout::SST_PORT];
        let mut program = self.inside(&json!({ "what": "watch", "ports": ports }));
        let begun = program.says("watching", Duration::from_secs(BEGINS_S_MAX));
        assert!(begun, "the capture does not begin: {}", program.stderr());
        let addresses = self.file().nodes.into_iter().map(|node| (node.name, node.address.to_string()));
        Watching { program, addresses: addresses.collect() }
    }

    /// Shakes hands with a node's Galera port as another member would, with the key and leaf in `dir`. Returns how it ended
    /// and the leaf that the node showed.
    #[track_caller]
    pub fn knock(&self, node: &str, dir: &Path) -> (String, Option<String>) {
        let address = self.file().node(node).expect("a node of the lab").address;
        let answer = answer(self.inside(&json!({
            "what": "knock",
            "address": SocketAddr::new(address, ::lab::layout::GALERA_PORT),
            "cert": dir.join("node-cert.pem"),
            "key": dir.join("node-key.pem"),
        })));
        let text = |key: &str| answer[key].as_str().map(str::to_owned);
        (text("outcome").expect("an outcome"), text("leaf"))
    }
}

#[track_caller]
fn answer(program: Program) -> Value {
    let said = program.finish(Duration::from_secs(ENDS_S_MAX)).exits(0);
    let line = said.stdout.lines().find_map(|line| line.strip_prefix(ANSWER));
    let line = line.unwrap_or_else(|| panic!("no answer\n{said}"));
    serde_json::from_str(line).expect("an answer is JSON")
}

/// A recording under way.
pub struct Recording(Program);

impl Recording {
    /// Ends it, and says that it is whole.
    #[track_caller]
    pub fn stop(self) {
        let said = answer(self.0);
        assert!(said["kernel_drops"] == 0 && said["packets"].as_u64() > Some(0), "{said}");
    }
}

/// A capture under way.
pub struct Watching {
    program: Program,
    addresses: Vec<(String, String)>,
}

impl Watching {
    #[track_caller]
    pub fn stop(self) -> Watched {
        let flows = answer(self.program);
        Watched { flows: flows.as_array().expect("flows").clone(), addresses: self.addresses }
    }
}

fn number(flow: &Value, key: &str) -> u64 {
    flow[key].as_u64().expect("a number")
}

fn text(flow: &Value, key: &str) -> String {
    flow[key].as_str().expect("an address").to_owned()
}

/// What was captured.
#[derive(Debug)]
pub struct Watched {
    flows: Vec<Value>,
    addresses: Vec<(String, String)>,
}

impl Watched {
    /// What the connections between two members carried; `None` when there were none.
    #[track_caller]
    pub fn link(&self, one: &str, other: &str) -> Option<Wire> {
        let (one, other) = (self.address(one), self.address(other));
        let port = format!(":{}", ::lab::layout::GALERA_PORT);
        self.carried(|a, b| {
            let pair = |x: &str, y: &str| x.starts_with(&one) && y.starts_with(&other);
            (a.ends_with(&port) || b.ends_with(&port)) && (pair(a, b) || pair(b, a))
        })
    }

    /// What a joiner was sent to one of its ports; the sender's address is the kernel's choice.
    #[track_caller]
    pub fn sent_to(&self, joiner: &str, port: u16) -> Option<Wire> {
        let end = format!("{}{port}", self.address(joiner));
        self.carried(|a, b| a == end || b == end)
    }

    /// How often a canary was read between two members.
    pub fn canaries_between(&self, one: &str, other: &str) -> u64 {
        let (one, other) = (self.address(one), self.address(other));
        let pair = |x: &str, y: &str| x.starts_with(&one) && y.starts_with(&other);
        self.canaries(|a, b| pair(a, b) || pair(b, a))
    }

    /// How often a canary was read on the way to one of a joiner's ports.
    pub fn canaries_to(&self, joiner: &str, port: u16) -> u64 {
        let end = format!("{}{port}", self.address(joiner));
        self.canaries(|a, b| a == end || b == end)
    }

    fn canaries(&self, is_ours: impl Fn(&str, &str) -> bool) -> u64 {
        self.flows
            .iter()
            .filter(|flow| is_ours(&text(flow, "a"), &text(flow, "b")))
            .map(|flow| number(flow, "canaries"))
            .sum()
    }

    fn address(&self, node: &str) -> String {
        let found = self.addresses.iter().find(|(name, _)| name == node);
        format!("{}:", found.expect("a node of the lab").1)
    }

    /// Plain where a canary was read; TLS where all that passed were TLS records; anything else is no answer.
    #[track_caller]
    fn carried(&self, is_ours: impl Fn(&str, &str) -> bool) -> Option<Wire> {
        let ours: Vec<&Value> = self
            .flows
            .iter()
            .filter(|flow| is_ours(&text(flow, "a"), &text(flow, "b")) && number(flow, "bytes") > 0)
            .collect();
        if ours.is_empty() {
            return None;
        }
        if ours.iter().any(|flow| number(flow, "canaries") > 0) {
            return Some(Wire::Plain);
        }
        let all_tls =
            ours.iter().all(|flow| number(flow, "tls_bytes") > 0 && flow["is_clear"] == Value::Bool(false));
        assert!(all_tls, "neither a canary nor TLS alone: {ours:#?}");
        Some(Wire::Tls)
    }
}
