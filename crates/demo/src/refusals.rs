//! Three who must not get in: a client without TLS, a node without TLS, a node with another CA's certificate.

use std::time::{Duration, Instant};

use formats::optfile::OptionFile;
use lab::supervisor::NodeState;
use lab::{NodeSpec, Wait};
use net::{Client, ConnectOptions, Endpoint, ExposeSecret, SslMode, TlsOptions};
use report::shape::Refusal;
use trust::{Ca, CaSpec, KeyKind, LeafSpec};

use super::Say;
use site::OpsError;
use site::labs::Up;

/// An intruder node gives up by itself after this long without a primary view (30 s unless told otherwise).
const GIVE_UP_S: u32 = 8;
/// And is ended after this long if it has not.
const WAIT_S_MAX: u64 = 30;

/// Lines of a joiner's and of a member's log that show a refusal.
/// Source: seen on MariaDB 10.11.19 with Galera 26.4.23.
const SIGNS: [&str; 6] = [
    "failed to reach primary view",
    "unknown ca",
    "certificate verify failed",
    "unexpected eof while reading",
    "wrong version number",
    "No nodes coming from primary view",
];

pub struct Intruders {
    nodes: Vec<(NodeSpec, &'static str, &'static str)>,
    /// Where each member's log ended before.
    marks: Vec<(String, usize)>,
}

fn internal(what: &'static str) -> impl Fn(&dyn std::fmt::Display) -> OpsError {
    move |error| OpsError::internal(what, error)
}

pub fn start(up: &mut Up, say: Say<'_>) -> Result<Intruders, OpsError> {
    let marks = up
        .lab
        .file
        .nodes
        .iter()
        .map(|node| (node.name.clone(), std::fs::read(node.log()).map_or(0, |bytes| bytes.len())))
        .collect();
    let plain = intruder(up, "n8", None)?;
    let ca = Ca::create(
        &CaSpec { common_name: "somebody else's CA".into(), valid_days: 30, key: KeyKind::EcP256 },
        now_unix(),
    )
    .map_err(|error| internal("cannot create a foreign CA")(&error))?;
    let foreign = intruder(up, "n9", Some(&ca))?;
    for node in [&plain, &foreign] {
        up.lab.start(&node.name, &[], Wait::Nothing)?;
    }
    say("a node without TLS and a node with a foreign certificate try to join");
    Ok(Intruders {
        nodes: vec![
            (plain, "node without TLS", "join the cluster without any socket.ssl option"),
            (foreign, "node with a foreign certificate", "join the cluster with a certificate of another CA"),
        ],
        marks,
    })
}

fn now_unix() -> i64 {
    i64::try_from(model::Clock::unix_ms(&model::SystemClock) / 1000).unwrap_or(0)
}

/// A node that knows the cluster's address and has no certificate of its CA.
fn intruder(up: &mut Up, name: &str, ca: Option<&Ca>) -> Result<NodeSpec, OpsError> {
    let node = up.lab.add_stranger(name)?;
    let path = node.conf_d().join("60-galera.cnf");
    let bytes =
        std::fs::read(&path).map_err(|error| internal("cannot read an option file of the lab")(&error))?;
    let mut file = OptionFile::parse(&bytes, &path.display().to_string())
        .map_err(|error| internal("an option file of the lab is damaged")(&error))?;
    let mut options = server::ProviderOptions::parse(
        file.get(&["galera"], "wsrep_provider_options").and_then(|item| item.value).unwrap_or(""),
    );
    options.set("pc.wait_prim_timeout", &format!("PT{GIVE_UP_S}S"));
    if let Some(ca) = ca {
        let leaf = ca
            .issue(
                &LeafSpec {
                    common_name: name.into(),
                    dns: vec![name.into()],
                    ips: vec![node.address],
                    valid_days: 30,
                    key: KeyKind::EcP256,
                    not_before_unix: None,
                    not_after_unix: None,
                },
                now_unix(),
            )
            .map_err(|error| internal("cannot create a foreign certificate")(&error))?;
        let dir = node.tls_dir();
        std::fs::create_dir_all(&dir)
            .map_err(|error| internal("cannot create a directory of the lab")(&error))?;
        let put = |file: &str, text: &str, mode: u32| {
            trust::file::write_atomically(&dir.join(file), text.as_bytes(), mode, None)
                .map_err(|error| internal("cannot write a foreign certificate")(&error))
        };
        put("node-key.pem", leaf.key_pem.expose_secret(), 0o600)?;
        put("node-cert.pem", &leaf.cert_pem, 0o644)?;
        put("ca.pem", &ca.cert_pem(), 0o644)?;
        for (key, file) in [
            ("socket.ssl_key", "node-key.pem"),
            ("socket.ssl_cert", "node-cert.pem"),
            ("socket.ssl_ca", "ca.pem"),
        ] {
            options.set(key, &dir.join(file).display().to_string());
        }
        options.set("socket.ssl", "YES");
    }
    file.set("galera", "wsrep-provider-options", &options.to_string())
        .map_err(|error| internal("cannot edit an option file of the lab")(&error))?;
    std::fs::write(&path, &*file.to_bytes())
        .map_err(|error| internal("cannot write an option file of the lab")(&error))?;
    Ok(node)
}

pub fn finish(up: &mut Up, intruders: &Intruders, say: Say<'_>) -> Result<Vec<Refusal>, OpsError> {
    let mut refusals = vec![plain_client(up, say)];
    let deadline = Instant::now() + Duration::from_secs(WAIT_S_MAX);
    for (node, who, asked) in &intruders.nodes {
        let ended = loop {
            match up.lab.state(&node.name)? {
                NodeState::Ended { .. } => break true,
                _ if Instant::now() > deadline => break false,
                _ => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let log = std::fs::read_to_string(node.log()).unwrap_or_default();
        // The one line that only a member writes.
        let was_member = log.contains("Synchronized with group") || log.contains("state transfer complete");
        let mut said = signs(&log, &node.name);
        for (member, mark) in &intruders.marks {
            if let Ok(spec) = up.lab.node(member)
                && let Ok(bytes) = std::fs::read(spec.log())
            {
                let new = String::from_utf8_lossy(bytes.get(*mark..).unwrap_or_default()).into_owned();
                said.extend(signs(&new, member).into_iter().filter(|line| {
                    line.contains(&node.address.to_string())
                        || *who == "node with a foreign certificate" && line.contains("verify failed")
                        || *who == "node without TLS" && line.contains("unexpected eof")
                }));
            }
        }
        said.dedup();
        said.truncate(3);
        let refused = ended && !was_member && !said.is_empty();
        say(&format!("{who}: {}", if refused { "refused" } else { "NOT rejected" }));
        refusals.push(Refusal {
            who: (*who).into(),
            asked: (*asked).into(),
            answer: said.join("\n"),
            refused,
        });
        if !ended {
            up.lab.kill(&node.name)?;
        }
        up.lab.forget_stranger(&node.name)?;
    }
    Ok(refusals)
}

fn signs(log: &str, who: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sign in SIGNS {
        if let Some(line) = log.lines().find(|line| line.contains(sign)) {
            // Date and thread are noise here.
            let text = line.split_once("] ").map_or(line, |(_, text)| text);
            found.push(format!("{who}: {text}"));
        }
    }
    found
}

fn plain_client(up: &Up, say: Say<'_>) -> Refusal {
    let mut answers = Vec::new();
    let mut refused = true;
    for node in &up.cluster.nodes {
        let options = ConnectOptions {
            endpoint: Endpoint::tcp(node.address.clone(), node.port),
            tls: TlsOptions::with_mode(SslMode::Disabled),
            ..up.app.clone().for_login_only()
        };
        match Client::connect(&options) {
            Ok(_) => {
                refused = false;
                answers.push(format!("{}: accepted", node.name));
            }
            Err(net::NetError::Refused { code, message, .. }) => {
                answers.push(format!("{}: error {code}: {message}", node.name));
            }
            Err(error) => {
                refused = false;
                answers.push(format!("{}: {error}", node.name));
            }
        }
    }
    say(&format!("client without TLS: {}", if refused { "refused" } else { "NOT rejected" }));
    Refusal {
        who: "client without TLS".into(),
        asked: "log in over TCP with the right password and ssl-mode=DISABLED".into(),
        answer: answers.join("\n"),
        refused,
    }
}
