//! Looks on the wire: a capture with a plain control in it, and what each link of the cluster carried.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use capture::{Canary, Capture, CaptureError, CaptureReport, Direction, Flow, Spec};
use lab::LabFile;
use lab::supervisor::{Request, ask};
use model::link::{Counts, judge};
use model::{Clock, Evidence, Link, LinkKind, LinkSight, Look, LookError, Seen, SystemClock, WireLook};
use net::Client;

use crate::inventory::{CaptureBy, Cluster};

/// A capture that begins in the middle of a TLS record sees the rest of it as clear bytes, once per direction.
/// Source: RFC 8446 section 5.2: a record is at most 2^14 + 256 bytes and a 5-byte header.
const FIRST_RECORD_BYTES_MAX: u64 = (1 << 14) + 256 + 5;
/// MySQL says hello in clear text before TLS: a greeting (some 100 bytes) and an SSLRequest (36 bytes).
const CLIENT_HELLO_BYTES_MAX: u64 = 512;
/// A sniffed link waits this long for its first bytes before it is called silent.
const CONTROL_MS_MAX: u64 = 2000;

pub const CANARY_SCHEMA: &str = "sealion_canary";

/// 16 bytes from the operating system.
pub fn random16() -> [u8; 16] {
    let mut bytes = [0; 16];
    openssl::rand::rand_bytes(&mut bytes).expect("the operating system has randomness");
    bytes
}

/// One capture under way, with its control already sent.
pub struct Sniffer {
    eye: Eye,
    control: Canary,
    control_port: u16,
    transfers: Vec<Transfer>,
}

enum Eye {
    Packets(Capture),
    Relay(LabFile),
}

/// Who served whom, as the joiner's log says. A donor's SST tools and IST sender dial from whatever address the kernel
/// chooses (127.0.0.1 on a loopback), so the flow alone does not name it.
struct Transfer {
    joiner: String,
    donor: String,
    until_unix_ms: u64,
}

impl Sniffer {
    /// Starts to capture, and sends the control: a canary over a plain connection of our own.
    pub fn start(cluster: &Cluster) -> Result<Self, LookError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|error| LookError::Failed { why: format!("listen for the control: {error}") })?;
        let listens = listener
            .local_addr()
            .map_err(|error| LookError::Failed { why: format!("listen for the control: {error}") })?;
        let (eye, control_at) = match &cluster.capture {
            CaptureBy::Packets { iface } => (Self::on_packets(cluster, iface, listens.port())?, listens),
            CaptureBy::Relay { lab_dir } => Self::on_relays(lab_dir, listens)?,
        };
        let control = Canary::new(random16());
        send_control(&listener, control_at, control.token())
            .map_err(|error| LookError::Failed { why: format!("send the control: {error}") })?;
        Ok(Self { eye, control, control_port: control_at.port(), transfers: Vec::new() })
    }

    fn on_packets(cluster: &Cluster, iface: &str, control_port: u16) -> Result<Eye, LookError> {
        let mut ports = vec![control_port, lab::layout::SST_PORT];
        for node in &cluster.nodes {
            ports.extend([node.port, node.galera_port, node.galera_port + 1]);
        }
        ports.sort_unstable();
        ports.dedup();
        let spec = Spec { iface: iface.to_owned(), ports, ring_bytes: 0 };
        capture::start(spec).map(Eye::Packets).map_err(|error| match error {
            CaptureError::NotPermitted { .. } => LookError::NotPermitted {
                why: "this process may not capture packets".into(),
                next: "run sealion with sudo, or once: setcap cap_net_raw+ep on the binary".into(),
            },
            other => LookError::Failed { why: other.to_string() },
        })
    }

    /// The control goes through a relay too, or it would prove nothing of the others.
    fn on_relays(lab_dir: &Path, control: SocketAddr) -> Result<(Eye, SocketAddr), LookError> {
        let failed = |error: &dyn std::fmt::Display| LookError::Failed {
            why: format!("the lab's relays do not answer: {error}"),
        };
        let file = LabFile::read(lab_dir).map_err(|error| failed(&error))?;
        let answer = ask(&file, &Request::TapOpen { control }).map_err(|error| failed(&error))?;
        match (answer.control, answer.error) {
            (Some(address), None) => Ok((Eye::Relay(file), address)),
            (_, why) => Err(failed(&why.unwrap_or_else(|| "no place for the control".into()))),
        }
    }

    /// A transfer to `joiner` has just ended.
    pub fn transferred(&mut self, joiner: &str, donor: &str) {
        self.transfers.push(Transfer {
            joiner: joiner.into(),
            donor: donor.into(),
            until_unix_ms: SystemClock.unix_ms(),
        });
    }

    pub fn finish(self, cluster: &Cluster) -> Vec<LinkSight> {
        let report = match self.eye {
            Eye::Packets(capture) => capture.stop(),
            Eye::Relay(file) => ask(&file, &Request::TapClose)
                .ok()
                .and_then(|answer| answer.capture)
                // Without a report there is no control in it, so that no link is called sealed.
                .unwrap_or_else(|| CaptureReport {
                    method: "a relay that did not answer".into(),
                    failed: Some("the lab's relays did not say what they saw".into()),
                    ..CaptureReport::default()
                }),
        };
        sights(&report, cluster, &self.control, self.control_port, &self.transfers)
    }
}

fn send_control(listener: &TcpListener, at: SocketAddr, token: &str) -> std::io::Result<()> {
    let mut out = TcpStream::connect(at)?;
    let (mut taken, _) = listener.accept()?;
    taken.set_read_timeout(Some(Duration::from_millis(CONTROL_MS_MAX)))?;
    out.write_all(format!("control {token} control").as_bytes())?;
    let mut sink = [0; 64];
    let n = taken.read(&mut sink)?;
    if n == 0 { Err(std::io::Error::other("the control connection closed")) } else { Ok(()) }
}

struct Tally {
    counts: Counts,
    flows: u32,
    evidence: Option<Evidence>,
}

/// Which link a flow belongs to; `None` for what is not ours to judge.
fn link_of(
    flow: &Flow,
    by_ip: &BTreeMap<IpAddr, &str>,
    cluster: &Cluster,
    transfers: &[Transfer],
) -> Option<Link> {
    let name = |address: SocketAddr| by_ip.get(&address.ip()).copied();
    for (server, client) in [(flow.a, flow.b), (flow.b, flow.a)] {
        // Of two node addresses the one with the well-known port listens.
        let Some(listener) = cluster.nodes.iter().find(|node| Some(node.name.as_str()) == name(server))
        else {
            continue;
        };
        let kind = match server.port() {
            port if port == listener.galera_port => LinkKind::Galera,
            port if port == listener.galera_port + 1 => LinkKind::Ist,
            port if port == lab::layout::SST_PORT => LinkKind::Sst,
            port if port == listener.port => LinkKind::Client,
            _ => continue,
        };
        let peer = match (kind, name(client)) {
            (LinkKind::Client, _) => "client",
            (_, Some(peer)) if peer != listener.name.as_str() => peer,
            (LinkKind::Sst | LinkKind::Ist, _) => transfers
                .iter()
                .find(|one| one.joiner == listener.name.as_str() && flow.first_unix_ms <= one.until_unix_ms)
                .map_or("donor", |one| one.donor.as_str()),
            _ => return None,
        };
        return Some(Link::new(kind, listener.name.as_str(), peer));
    }
    None
}

/// Bytes that should not be there if this direction speaks TLS.
fn clear_bytes(direction: &Direction, kind: LinkKind, saw_start: bool) -> u64 {
    let allowed = match (kind, saw_start) {
        (LinkKind::Client, true) => CLIENT_HELLO_BYTES_MAX,
        (_, true) => 0,
        (_, false) => FIRST_RECORD_BYTES_MAX,
    };
    direction.bytes.saturating_sub(direction.tls_bytes).saturating_sub(allowed)
}

fn sights(
    report: &CaptureReport,
    cluster: &Cluster,
    control: &Canary,
    control_port: u16,
    transfers: &[Transfer],
) -> Vec<LinkSight> {
    let by_ip: BTreeMap<IpAddr, &str> = cluster
        .nodes
        .iter()
        .filter_map(|node| Some((node.address.parse().ok()?, node.name.as_str())))
        .collect();
    let is_control = |flow: &&Flow| flow.a.port() == control_port || flow.b.port() == control_port;
    let control_seen = report.flows.iter().filter(is_control).any(|flow| {
        flow.ab.canaries.contains_key(control.tag()) || flow.ba.canaries.contains_key(control.tag())
    });

    let mut links: BTreeMap<Link, Tally> = BTreeMap::new();
    let blank = || Tally { counts: Counts::default(), flows: 0, evidence: None };
    // Every pair and every client link has a row, also a silent one: what was not seen is said.
    for (at, node) in cluster.nodes.iter().enumerate() {
        for other in &cluster.nodes[at + 1..] {
            links.insert(Link::new(LinkKind::Galera, node.name.as_str(), other.name.as_str()), blank());
        }
        links.insert(Link::new(LinkKind::Client, node.name.as_str(), "client"), blank());
    }
    for flow in &report.flows {
        let Some(link) = link_of(flow, &by_ip, cluster, transfers) else { continue };
        let kind = link.kind;
        let tally = links.entry(link).or_insert_with(blank);
        tally.flows += 1;
        // A connection that was refused before anybody logged in (only the server spoke) tells nothing of others.
        let greeting_only = kind == LinkKind::Client
            && flow.saw_start
            && (flow.ab.bytes == 0 || flow.ba.bytes == 0)
            && flow.ab.bytes + flow.ba.bytes <= CLIENT_HELLO_BYTES_MAX;
        for (from, to, direction) in [(flow.a, flow.b, &flow.ab), (flow.b, flow.a, &flow.ba)] {
            let counts = &mut tally.counts;
            if !greeting_only {
                counts.payload_bytes += direction.bytes;
            }
            counts.tls_bytes += direction.tls_bytes;
            counts.missing_bytes += direction.missing_bytes;
            counts.canaries += direction.canaries.values().sum::<u64>();
            counts.clear_bytes += clear_bytes(direction, kind, flow.saw_start);
            if tally.evidence.is_none()
                && let Some(found) = &direction.evidence
            {
                tally.evidence = Some(Evidence {
                    flow: format!("{from} -> {to}"),
                    stream_offset_bytes: found.stream_offset,
                    bytes_hex: change::journal::hex(&found.bytes),
                    text: found
                        .bytes
                        .iter()
                        .map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '.' })
                        .collect(),
                });
            }
        }
        // A whole login and its statements in clear text are below the allowance for one hello: no TLS at all is plain.
        if kind == LinkKind::Client
            && flow.saw_start
            && !greeting_only
            && flow.ab.tls_bytes + flow.ba.tls_bytes == 0
            && flow.ab.bytes > 0
            && flow.ba.bytes > 0
        {
            tally.counts.clear_bytes += flow.ab.bytes + flow.ba.bytes;
        }
    }
    links
        .into_iter()
        .map(|(link, tally)| {
            let mut seen = judge(tally.counts, control_seen, report.kernel_drops);
            if seen == Seen::Sealed && !report.is_complete() {
                seen = Seen::Unknown("the capture is not complete".into());
            }
            LinkSight {
                link,
                seen,
                payload_bytes: tally.counts.payload_bytes,
                tcp_flows: tally.flows,
                canaries: tally.counts.canaries,
                tls_bytes: tally.counts.tls_bytes,
                method: report.method.clone(),
                control_seen,
                kernel_drops: report.kernel_drops,
                evidence: tally.evidence,
            }
        })
        .collect()
}

/// Writes one canary on every node, through its socket, so that what travels is replication and nothing else; and asks
/// for one over TCP as an ordinary client, with ssl-mode PREFERRED.
pub fn canaries(cluster: &Cluster) -> Result<Vec<Canary>, LookError> {
    let failed = |why: String| LookError::Failed { why };
    let mut canaries = Vec::new();
    let mut prepared = false;
    for node in &cluster.nodes {
        let canary = Canary::new(random16());
        let mut client =
            Client::connect(&cluster.login_at(node)).map_err(|error| failed(error.to_string()))?;
        if !prepared {
            // Marked as ours; on a cluster every node has it once one has made it.
            for statement in [
                "CREATE DATABASE IF NOT EXISTS sealion_canary COMMENT 'made by sealion; may be dropped'",
                "CREATE TABLE IF NOT EXISTS sealion_canary.canary (node VARCHAR(64) NOT NULL PRIMARY KEY, \
                 token VARCHAR(64) NOT NULL) ENGINE=InnoDB COMMENT 'made by sealion; may be dropped'",
            ] {
                client.execute(statement).map_err(|error| failed(error.to_string()))?;
            }
            if !is_ours(&mut client) {
                return Err(failed(format!(
                    "the schema {CANARY_SCHEMA} is there and is not marked as sealion's; rename it, or drop it if it is left over"
                )));
            }
            prepared = true;
        }
        // The table may have been made on another node a moment ago: wait until that has arrived here.
        // Source: MariaDB manual, wsrep_sync_wait: 4 makes INSERT and REPLACE wait. Not Galera: no such variable.
        let _ = client.execute("SET SESSION wsrep_sync_wait=7");
        let statement =
            format!("REPLACE INTO {CANARY_SCHEMA}.canary VALUES ('{}', '{}')", node.name, canary.token());
        client.execute(&statement).map_err(|error| failed(error.to_string()))?;
        let _ = client.quit();
        canaries.push(canary);
    }
    for node in &cluster.nodes {
        let canary = Canary::new(random16());
        let options = net::ConnectOptions {
            endpoint: net::Endpoint::tcp(node.address.clone(), node.port),
            ..cluster.login_at(node)
        };
        // A server that refuses this login over TCP shows no client traffic: the link stays unknown, which is true.
        if let Ok(mut client) = Client::connect(&options) {
            let _ = client.query(&format!("SELECT '{}'", canary.token()));
            let _ = client.quit();
            canaries.push(canary);
        }
    }
    Ok(canaries)
}

fn is_ours(client: &mut Client) -> bool {
    client.query("SHOW CREATE DATABASE sealion_canary").is_ok_and(|rows| {
        rows.first().and_then(|row| row.at(1)).is_some_and(|text| text.contains("made by sealion"))
    })
}

/// Removes what [`canaries`] made.
pub fn remove_canaries(cluster: &Cluster) {
    if let Some(node) = cluster.nodes.first()
        && let Ok(mut client) = Client::connect(&cluster.login_at(node))
    {
        // A schema of that name that is not marked as ours is somebody's.
        if is_ours(&mut client) {
            let _ = client.execute("DROP DATABASE IF EXISTS sealion_canary");
        }
        let _ = client.quit();
    }
}

/// The look that post-checks are given.
pub struct WireEye<'c> {
    pub cluster: &'c Cluster,
}

impl Look for WireEye<'_> {
    fn wire(&mut self, what: &WireLook) -> Result<Vec<LinkSight>, LookError> {
        let sniffer = Sniffer::start(self.cluster)?;
        if what.canaries {
            canaries(self.cluster)?;
        }
        std::thread::sleep(what.settle);
        let sights = sniffer.finish(self.cluster);
        if what.canaries {
            remove_canaries(self.cluster);
        }
        Ok(sights)
    }
}
