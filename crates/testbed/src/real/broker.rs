//! A real nats-server with JetStream, TLS and users who have the rights that `sealion scan worker --print-permissions` prints.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nkeys::KeyPair;
use openssl::ssl::{SslConnector, SslMethod};
use queue::{Zone, rights};
use secrecy::ExposeSecret as _;
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

use super::{Program, wait_for};

const UP: Duration = Duration::from_secs(30);

pub struct Broker {
    program: Option<Program>,
    dir: PathBuf,
    pub port: u16,
    /// How the file with a user's login ends.
    login: &'static str,
}

/// The broker that `sealion lab fetch nats` has brought, or the one that was named.
#[must_use]
pub fn nats_server() -> PathBuf {
    let path = std::env::var_os("SEALION_NATS_SERVER")
        .map_or_else(|| ::lab::bundle::bundle("nats").join("usr/sbin/nats-server"), PathBuf::from);
    assert!(path.is_file(), "there is no {}; run: sealion lab fetch nats", path.display());
    path
}

impl Broker {
    /// Starts one in `dir`. Each worker is a name and its zone; each user has an nkey.
    #[track_caller]
    #[must_use]
    pub fn start(dir: &Path, workers: &[(&str, &str)]) -> Self {
        let mut users = String::new();
        for (name, permissions) in permissions(workers) {
            let key = KeyPair::new_user();
            write(&dir.join(format!("{name}.nk")), &key.seed().expect("a seed"));
            let _ = writeln!(users, "{{ nkey: \"{}\"\n{permissions} }}", key.public_key());
        }
        Self::start_with(dir, &format!("authorization {{ users = [\n{users}] }}\n"), "nk")
    }

    /// The same with an operator, who signs the account, which signs its users: each has a credentials file, as `nsc` makes them.
    #[track_caller]
    #[must_use]
    pub fn start_of_operator(dir: &Path, workers: &[(&str, &str)]) -> Self {
        let (operator, account, system) =
            (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
        for (name, permissions) in permissions(workers) {
            let (publish, subscribe) = permissions.split_once("subscribe").expect("both");
            let key = KeyPair::new_user();
            let claims = serde_json::json!({
                "type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1,
                "pub": { "allow": quoted(publish) }, "sub": { "allow": quoted(subscribe) },
            });
            let token = jwt(&account, &key, &name, &claims);
            let seed = key.seed().expect("a seed");
            write(
                &dir.join(format!("{name}.creds")),
                &format!(
                    "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
                     -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
                ),
            );
        }
        let limits = serde_json::json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
            "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
        });
        let of_account = serde_json::json!({ "type": "account", "version": 2, "limits": limits });
        let of_system = serde_json::json!({ "type": "account", "version": 2, "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
        } });
        let of_operator = serde_json::json!({ "type": "operator", "version": 2 });
        let logins = format!(
            "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload: {{\n{}: {}\n{}: {}\n}}\n",
            jwt(&operator, &operator, "operator", &of_operator),
            system.public_key(),
            account.public_key(),
            jwt(&operator, &account, "sealion", &of_account),
            system.public_key(),
            jwt(&operator, &system, "system", &of_system),
        );
        Self::start_with(dir, &logins, "creds")
    }

    /// `logins`: who may come, as its configuration says it.
    #[track_caller]
    fn start_with(dir: &Path, logins: &str, login: &'static str) -> Self {
        // Kept: it comes back on the same port.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.local_addr())
            .expect("a port")
            .port();
        let now_unix = model::Clock::unix_ms(&model::SystemClock) / 1000;
        let now_unix = i64::try_from(now_unix).expect("a time");
        let ca_spec = CaSpec { common_name: "broker CA".into(), valid_days: 30, key: KeyKind::EcP256 };
        let ca = Ca::create(&ca_spec, now_unix).expect("a CA");
        let leaf = LeafSpec {
            common_name: "broker".into(),
            dns: vec![],
            ips: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)],
            valid_days: 20,
            key: KeyKind::EcP256,
            not_before_unix: None,
            not_after_unix: None,
        };
        let leaf = ca.issue(&leaf, now_unix).expect("a leaf");
        write(&dir.join("ca.pem"), &ca.cert_pem());
        write(&dir.join("cert.pem"), &leaf.cert_pem);
        write(&dir.join("key.pem"), leaf.key_pem.expose_secret());
        let at = dir.display();
        write(
            &dir.join("nats.conf"),
            &format!(
                "host: 127.0.0.1\nport: {port}\ntls {{ cert_file: \"{at}/cert.pem\", key_file: \"{at}/key.pem\" }}\n\
                 jetstream {{ store_dir: \"{at}/store\" }}\n{logins}"
            ),
        );
        let mut broker = Self { program: None, dir: dir.to_owned(), port, login };
        broker.run();
        broker
    }

    /// Starts it, with what it kept.
    #[track_caller]
    pub fn run(&mut self) {
        let mut command = Command::new(nats_server());
        command.arg("-c").arg(self.dir.join("nats.conf")).arg("-l").arg(self.dir.join("log"));
        let mut program = Program::start(command);
        let port = self.port;
        let up = wait_for(UP, || {
            // Another program may have taken the port: its own word is what counts.
            let is_up = self.log().contains("Server is ready")
                && TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
            (is_up || program.has_ended()).then_some(is_up)
        });
        assert_eq!(up, Some(true), "nats-server is not up: {}\n{}", program.stderr(), self.log());
        self.program = Some(program);
    }

    /// kill -9.
    pub fn kill(&mut self) {
        if let Some(program) = self.program.take() {
            end(program.pid(), Signal::SIGKILL);
        }
    }

    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.program.as_ref().map(Program::pid)
    }

    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    #[must_use]
    pub fn ca(&self) -> PathBuf {
        self.dir.join("ca.pem")
    }

    /// The file with the login of that user.
    #[must_use]
    pub fn login(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.{}", self.login))
    }

    /// As a user of it reaches it.
    #[must_use]
    pub fn place(&self, user: &str, name: &str) -> queue::nats::NatsPlace {
        queue::nats::NatsPlace {
            url: self.url(),
            ca: Some(self.ca()),
            login: Some(self.login(user)),
            name: name.into(),
            wait_max: Duration::from_secs(60),
            listener: std::sync::Arc::new(|_: &str| {}),
        }
    }
}

impl Broker {
    /// Publishes as that user, with a subject for the reply that is none of his inbox: nats-server asks no permission for it. Its protocol by
    /// hand, since no client library lets one do that.
    #[track_caller]
    pub fn publish_raw(&self, user: &str, subject: &str, reply: &str, body: &str) -> Result<(), String> {
        let seed = std::fs::read_to_string(self.login(user)).expect("its key");
        let key = KeyPair::from_seed(seed.trim()).expect("a seed");
        let plain = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("it listens");
        let info = line_of(&mut &plain);
        let info: serde_json::Value =
            serde_json::from_str(info.trim_start_matches("INFO ").trim()).expect("it says who it is");
        let nonce = info["nonce"].as_str().expect("something to sign");
        let sign = url_base64(&key.sign(nonce.as_bytes()).expect("a signature"));
        let mut tls = SslConnector::builder(SslMethod::tls()).expect("TLS");
        tls.set_ca_file(self.ca()).expect("its CA");
        let mut stream = tls.build().connect("127.0.0.1", plain).expect("a handshake");
        let hello = serde_json::json!({
            "nkey": key.public_key(), "sig": sign, "verbose": false, "pedantic": false, "tls_required": true, "protocol": 1, "lang": "t",
            "version": "0", "headers": true,
        });
        let length = body.len();
        write!(stream, "CONNECT {hello}\r\nPUB {subject} {reply} {length}\r\n{body}\r\nPING\r\n")
            .expect("sent");
        loop {
            let said = line_of(&mut stream);
            assert!(!said.is_empty(), "the connection was closed");
            if said.starts_with("-ERR") {
                return Err(said);
            }
            if said.starts_with("PONG") {
                return Ok(());
            }
        }
    }
}

/// The users of a broker with what they may do: a publisher, and each worker.
fn permissions(workers: &[(&str, &str)]) -> Vec<(String, String)> {
    let of_worker = |(name, zone): &(&str, &str)| {
        let zone = Zone::parse(zone).expect("a zone");
        ((*name).to_owned(), rights::of_worker(&zone, name))
    };
    let publisher = ("publisher".to_owned(), rights::of_publisher(rights::PUBLISHER));
    std::iter::once(publisher).chain(workers.iter().map(of_worker)).collect()
}

/// The strings in a piece of the broker's configuration.
fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

/// Claims of a broker, signed: nats-io/jwt, version 2.
fn jwt(issuer: &KeyPair, subject: &KeyPair, name: &str, claims: &serde_json::Value) -> String {
    let now_s = model::Clock::unix_ms(&model::SystemClock) / 1000;
    let body = serde_json::json!({
        "jti": name, "iat": now_s, "iss": issuer.public_key(), "name": name, "sub": subject.public_key(), "nats": claims,
    });
    let signed = format!(
        "{}.{}",
        url_base64(br#"{"typ":"JWT","alg":"ed25519-nkey"}"#),
        url_base64(body.to_string().as_bytes())
    );
    let signature = issuer.sign(signed.as_bytes()).expect("a key that can sign");
    format!("{signed}.{}", url_base64(&signature))
}

fn url_base64(bytes: &[u8]) -> String {
    openssl::base64::encode_block(bytes).trim_end_matches('=').replace('+', "-").replace('/', "_")
}

fn line_of(stream: &mut impl Read) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while stream.read(&mut byte).expect("it answers") == 1 {
        line.push(byte[0]);
        if byte[0] == b'\n' {
            break;
        }
    }
    String::from_utf8_lossy(&line).into_owned()
}

/// Sends a signal to a process that the test has started.
pub fn end(pid: u32, signal: Signal) {
    let _ = kill(Pid::from_raw(i32::try_from(pid).expect("a pid")), signal);
}

fn write(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .expect("the directory is ours");
    std::io::Write::write_all(&mut file, text.as_bytes()).expect("there is space");
}
