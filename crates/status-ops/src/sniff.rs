//! Looks on the wire: a capture with a plain control in it, and what each link of the cluster carried.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use capture::{Canary, Capture, CaptureError, CaptureReport, Direction, Flow};
use host::Remote;
use host::remote::FarCapture;
use lab::LabFile;
use lab::supervisor::{Request, ask};
use model::link::{
    CaptureState, DirectionCounts, FlowCounts, FlowSeen, NoSession, Seen, Witness, judge, judge_flow,
};
use model::{Clock, Evidence, Link, LinkKind, LinkSight, Look, LookError, SystemClock, WireLook};
use net::Client;
use server::{Capabilities, Channel, Machine, TcpSession, TcpSessions};

use site::inventory::{CaptureBy, Cluster};
use site::random16;

/// A name of an inventory or of `bind_address` is resolved within this time, or not at all.
const RESOLVE: Duration = Duration::from_secs(3);

const LOOPBACK: &str = "lo";

pub const CANARY_SCHEMA: &str = "sealion_canary";
/// In the comment of what is ours.
const MARK: &str = "made by sealion";

/// Captures under way, one on each machine, each with its control already sent.
pub struct Sniffer {
    eyes: Vec<MachineEye>,
    transfers: Vec<Transfer>,
    places: Vec<Place>,
    channels: Vec<ReplicaLink>,
    /// Our own ends of the connections that we made meanwhile.
    own: BTreeSet<SocketAddr>,
}

/// A node that replicates from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReplicaLink {
    replica: String,
    /// A node, or the address of a server that is none of the inventory's.
    source: String,
    /// Why nobody knows whether it is a replica, and whose.
    cannot_tell: Option<String>,
}

impl ReplicaLink {
    fn link(&self) -> Link {
        Link::new(LinkKind::Replication, self.source.as_str(), self.replica.as_str())
    }

    /// Of the channels that each node tells of. One that does not tell has a link that is unknown, beside servers that replicate by
    /// channels: without it the links of the others would speak for it.
    fn all(cluster: &Cluster, places: &[Place]) -> Vec<Self> {
        let mut found = Vec::new();
        for node in &cluster.nodes {
            let replica = node.name.to_string();
            let asked = Client::connect(&cluster.login_at(node)).and_then(|mut client| {
                let answered = channels_of(&mut client);
                let _ = client.quit();
                answered
            });
            match asked {
                Ok(channels) => found.extend(channels.iter().map(|channel| Self {
                    replica: replica.clone(),
                    source: Self::source_of(channel, places),
                    cannot_tell: None,
                })),
                Err(error) if places.iter().any(|place| place.is_no_galera) => found.push(Self {
                    replica,
                    source: "source".into(),
                    cannot_tell: Some(format!("its channels could not be asked: {}", error.in_one_line())),
                }),
                Err(_) => {}
            }
        }
        found
    }

    fn source_of(channel: &Channel, places: &[Place]) -> String {
        let is_here = |place: &&Place| {
            place.client_ports.contains(&channel.source_port)
                && resolved(&channel.source_host)
                    .is_ok_and(|all| all.iter().any(|ip| place.addresses.contains(ip)))
        };
        places.iter().find(is_here).map_or_else(
            || format!("{}:{}", channel.source_host, channel.source_port),
            |place| place.node.clone(),
        )
    }
}

fn channels_of(client: &mut Client) -> Result<Vec<Channel>, net::NetError> {
    let rows = client.query("SELECT VERSION(), @@version_comment")?;
    let text = |at| rows.first().and_then(|row| row.at(at)).unwrap_or_default().into_owned();
    server::replication::channels(client, &Capabilities::of(&text(0), &text(1), false))
}

/// Where one node is reached.
struct Place {
    node: String,
    addresses: Vec<IpAddr>,
    client_ports: Vec<u16>,
    galera_port: u16,
    /// It takes clients on every address of its machine.
    listens_everywhere: bool,
    /// Addresses of its `bind_address`, which clients may use beside the one of the inventory.
    binds: Vec<IpAddr>,
    /// Why it may take clients where nobody looked.
    cannot_tell: Option<String>,
    /// It said that it is no node of a Galera cluster, so that no link to another one is missing.
    is_no_galera: bool,
}

/// Where a server takes clients, by its `bind_address`.
#[derive(Debug, PartialEq, Eq)]
enum Binds {
    Everywhere,
    At(Vec<IpAddr>),
    /// A name that cannot be resolved may mean any address.
    CannotTell(String),
}

/// A list in MariaDB since 10.11, in MySQL with a namespace behind a slash.
fn bound_to(value: &str) -> Binds {
    let mut found = Vec::new();
    for one in value.split(',') {
        let one = one.trim().split('/').next().unwrap_or_default();
        if ["", "*", "0.0.0.0", "::"].contains(&one) {
            return Binds::Everywhere;
        }
        match resolved(one.trim_matches(['[', ']'])) {
            Ok(addresses) => found.extend(addresses),
            Err(why) => return Binds::CannotTell(format!("its bind_address has {one}: {why}")),
        }
    }
    Binds::At(found)
}

fn resolved(host: &str) -> Result<Vec<IpAddr>, String> {
    let all =
        net::resolve(host, 0, RESOLVE).map_err(|error| format!("{host} cannot be resolved here: {error}"))?;
    Ok(all.into_iter().map(|one| one.ip().to_canonical()).collect())
}

impl Place {
    /// A node that cannot be asked is looked at where the inventory says that it is.
    fn of(cluster: &Cluster, node: &server::NodeSpec) -> Self {
        // A name is looked up once: what it means may change while we look.
        let (addresses, not_resolved) = match resolved(&node.address) {
            Ok(addresses) => (addresses, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let mut place = Self {
            node: node.name.to_string(),
            addresses,
            client_ports: vec![node.port],
            galera_port: node.galera_port,
            listens_everywhere: false,
            binds: Vec::new(),
            cannot_tell: not_resolved,
            is_no_galera: false,
        };
        let asked = Client::connect(&cluster.login_at(node)).and_then(|mut client| {
            client.query(
                "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('port', 'extra_port', 'admin_port', 'bind_address', \
                 'wsrep_on')",
            )
        });
        let rows = match &asked {
            Ok(rows) => rows,
            Err(error) => {
                let why = format!("where it takes clients could not be asked: {}", error.in_one_line());
                place.cannot_tell.get_or_insert(why);
                return place;
            }
        };
        // A server that knows no such variable has no Galera.
        place.is_no_galera = true;
        for row in rows.iter() {
            let (name, value) = (row.at(0).unwrap_or_default(), row.at(1).unwrap_or_default());
            if name == "wsrep_on" {
                place.is_no_galera = value == "OFF";
            } else if name == "bind_address" {
                match bound_to(&value) {
                    Binds::At(binds) => place.binds = binds,
                    Binds::Everywhere => place.listens_everywhere = true,
                    Binds::CannotTell(why) => {
                        place.listens_everywhere = true;
                        place.cannot_tell.get_or_insert(why);
                    }
                }
            } else if let Ok(port) = value.parse()
                && port != 0
                && !cluster.is_relayed()
            {
                place.client_ports.push(port);
            }
        }
        place
    }

    /// One interface carries no more than a part of what comes to a server, but for `lo` where it listens on nothing else: what comes
    /// from its own machine goes over `lo`, whatever address it is for.
    fn looked_at_on(&mut self, iface: &str) {
        let only_loopback =
            !self.listens_everywhere && self.addresses.iter().chain(&self.binds).all(IpAddr::is_loopback);
        if iface != capture::EVERY_INTERFACE && !(iface == LOOPBACK && only_loopback) {
            self.cannot_tell.get_or_insert_with(|| {
                format!(
                    "it takes clients on addresses that {iface} does not carry alone; remove capture_interface from the inventory, so that \
                     all interfaces are captured"
                )
            });
        }
    }

    fn takes_clients_at(&self, at: SocketAddr) -> bool {
        self.client_ports.contains(&at.port())
            && (self.listens_everywhere || self.addresses.contains(&at.ip()) || self.binds.contains(&at.ip()))
    }
}

/// The capture on one machine.
struct MachineEye {
    /// The nodes that are there: links of others are not judged by what passes here.
    nodes: BTreeSet<String>,
    eye: Eye,
    control: Canary,
    control_port: u16,
}

enum Eye {
    Packets(Capture),
    Far(FarCapture),
    Relay(Box<LabFile>),
    /// Of a machine elsewhere, with the reason: its links cannot be told.
    Blind {
        machine: String,
        why: String,
    },
}

/// Who served whom, as the joiner's log says. A donor's SST tools and IST sender dial from whatever address the kernel
/// chooses (127.0.0.1 on a loopback), so the flow alone does not name it.
struct Transfer {
    joiner: String,
    donor: String,
    until_unix_ms: u64,
}

impl Sniffer {
    /// Starts to capture where the nodes are, and sends the control there: a canary over a plain connection of our own.
    ///
    /// # Errors
    /// This machine has nodes, and nothing can be captured on it. What cannot be seen elsewhere is said of its links.
    pub fn start(cluster: &Cluster) -> Result<Self, LookError> {
        let mut places: Vec<Place> = cluster.nodes.iter().map(|node| Place::of(cluster, node)).collect();
        if let CaptureBy::Packets { iface } = &cluster.capture {
            for place in &mut places {
                place.looked_at_on(iface);
            }
        }
        let mut here = BTreeSet::new();
        let mut elsewhere: Vec<(Arc<Remote>, BTreeSet<String>)> = Vec::new();
        for node in &cluster.nodes {
            let name = node.name.to_string();
            match cluster.machine_of(node) {
                Machine::This => {
                    here.insert(name);
                }
                Machine::Elsewhere(remote) => {
                    match elsewhere.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &remote)) {
                        Some((_, nodes)) => {
                            nodes.insert(name);
                        }
                        None => elsewhere.push((remote, BTreeSet::from([name]))),
                    }
                }
            }
        }
        let mut eyes = Vec::new();
        if !here.is_empty() {
            let control = Canary::new(random16());
            let (eye, control_port) = match &cluster.capture {
                CaptureBy::Packets { iface } => Self::on_packets(&places, iface, control.token())?,
                CaptureBy::Relay { lab_dir } => Self::on_relays(lab_dir, control.token())?,
            };
            eyes.push(MachineEye { nodes: here, eye, control, control_port });
        }
        let iface = match &cluster.capture {
            CaptureBy::Packets { iface } => iface,
            CaptureBy::Relay { .. } => capture::EVERY_INTERFACE,
        };
        // Side by side: each takes the time of a few questions and answers.
        let far: Vec<MachineEye> = std::thread::scope(|scope| {
            let started: Vec<_> = elsewhere
                .into_iter()
                .map(|(remote, nodes)| {
                    let (places, machine, of_machine) = (&places, remote.name().to_owned(), nodes.clone());
                    let one = scope.spawn(move || Self::on_machine(&remote, of_machine, places, iface));
                    (machine, nodes, one)
                })
                .collect();
            // Links of a machine that nobody looks at are unknown, and not left out.
            let blind = |machine, nodes| {
                let why = "the thread that starts it panicked".to_owned();
                let control = Canary::new(random16());
                MachineEye { nodes, eye: Eye::Blind { machine, why }, control, control_port: 0 }
            };
            started
                .into_iter()
                .map(|(name, nodes, one)| one.join().unwrap_or_else(|_| blind(name, nodes)))
                .collect()
        });
        eyes.extend(far);
        let channels = ReplicaLink::all(cluster, &places);
        Ok(Self { eyes, transfers: Vec::new(), places, channels, own: BTreeSet::new() })
    }

    fn on_machine(remote: &Remote, nodes: BTreeSet<String>, places: &[Place], iface: &str) -> MachineEye {
        let control = Canary::new(random16());
        match remote.capture(iface, &ports_of(places), control.token()) {
            Ok(capture) => {
                let control_port = capture.control_port;
                MachineEye { nodes, eye: Eye::Far(capture), control, control_port }
            }
            Err(error) => {
                let next = if error.is_not_permitted {
                    "; let the agent become root there (sudo = true in [ssh]), or once: setcap cap_net_raw+ep on its sealion"
                } else {
                    ""
                };
                let why = format!("{}{next}", first_line(&error.why));
                let eye = Eye::Blind { machine: remote.name().to_owned(), why };
                MachineEye { nodes, eye, control, control_port: 0 }
            }
        }
    }

    fn on_packets(places: &[Place], iface: &str, control: &str) -> Result<(Eye, u16), LookError> {
        let started = capture::start_with_control(iface, &ports_of(places), control);
        started.map(|(capture, port)| (Eye::Packets(capture), port)).map_err(|error| match error {
            CaptureError::NotPermitted { .. } => LookError::NotPermitted {
                why: "this process may not capture packets".into(),
                next: "run sealion with sudo, or once: setcap cap_net_raw+ep on the binary".into(),
            },
            other => LookError::Failed { why: other.to_string() },
        })
    }

    /// The control goes through a relay too, or it would prove nothing of the others.
    fn on_relays(lab_dir: &Path, control: &str) -> Result<(Eye, u16), LookError> {
        let failed = |error: &dyn std::fmt::Display| LookError::Failed {
            why: format!("the lab's relays do not answer: {error}"),
        };
        let sent = |error: std::io::Error| LookError::Failed { why: format!("send the control: {error}") };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(sent)?;
        let listens = listener.local_addr().map_err(sent)?;
        let file = LabFile::read(lab_dir).map_err(|error| failed(&error))?;
        let answer = ask(&file, &Request::TapOpen { control: listens }).map_err(|error| failed(&error))?;
        let address = match (answer.control, answer.error) {
            (Some(address), None) => address,
            (_, why) => return Err(failed(&why.unwrap_or_else(|| "no place for the control".into()))),
        };
        capture::send_control(&listener, address, control).map_err(sent)?;
        Ok((Eye::Relay(Box::new(file)), address.port()))
    }

    /// A transfer to `joiner` has just ended.
    pub fn transferred(&mut self, joiner: &str, donor: &str) {
        self.transfers.push(Transfer {
            joiner: joiner.into(),
            donor: donor.into(),
            until_unix_ms: SystemClock.unix_ms(),
        });
    }

    /// Writes canaries on every node; what passes on our own connections is not taken for that of others.
    pub fn write_canaries(&mut self, cluster: &Cluster) -> Result<Vec<Canary>, LookError> {
        canaries(cluster, &mut self.own)
    }

    /// Who is connected, as each server says. To be asked while the capture runs.
    fn sessions(&mut self, cluster: &Cluster) -> BTreeMap<String, Result<TcpSessions, String>> {
        let mut all = BTreeMap::new();
        for node in &cluster.nodes {
            let asked = Client::connect(&cluster.login_at(node)).and_then(|mut client| {
                self.own.extend(client.local_addr());
                let sessions = server::tcp_sessions(&mut client);
                let _ = client.quit();
                sessions
            });
            let asked = asked.map_err(|error| first_line(&error.to_string()).to_owned());
            all.insert(node.name.to_string(), asked);
        }
        all
    }

    pub fn finish(mut self, cluster: &Cluster) -> Vec<LinkSight> {
        let sessions = self.sessions(cluster);
        let reports: Vec<_> = std::thread::scope(|scope| {
            let stopped: Vec<_> = self
                .eyes
                .into_iter()
                .map(|one| (one.nodes, one.control, one.control_port, scope.spawn(|| one.eye.report())))
                .collect();
            let report = |thread: std::thread::ScopedJoinHandle<'_, CaptureReport>| {
                thread.join().unwrap_or_else(|_| CaptureReport {
                    failed: Some("its thread panicked".into()),
                    ..CaptureReport::default()
                })
            };
            stopped
                .into_iter()
                .map(|(nodes, control, port, one)| (nodes, control, port, report(one)))
                .collect()
        });
        let mut seen = Vec::new();
        for (nodes, control, control_port, report) in &reports {
            let look = Seeing {
                report,
                places: &self.places,
                transfers: &self.transfers,
                channels: &self.channels,
                own: &self.own,
                sessions: &sessions,
                is_relayed: cluster.is_relayed(),
            };
            let mut sights = look.sights(control, *control_port);
            sights.retain(|sight| nodes.contains(&sight.link.a) || nodes.contains(&sight.link.b));
            seen.extend(sights);
        }
        of_both_ends(seen)
    }
}

impl Eye {
    fn report(self) -> CaptureReport {
        match self {
            Self::Packets(capture) => capture.stop(),
            Self::Far(capture) => capture.stop(),
            Self::Relay(file) => ask(&file, &Request::TapClose)
                .ok()
                .and_then(|answer| answer.capture)
                // Without a report there is no control in it, so that no link is called sealed.
                .unwrap_or_else(|| CaptureReport {
                    method: "a relay that did not answer".into(),
                    failed: Some("the lab's relays did not say what they saw".into()),
                    ..CaptureReport::default()
                }),
            Self::Blind { machine, why } => CaptureReport {
                method: format!("no capture on {machine}: {why}"),
                failed: Some(why),
                ..CaptureReport::default()
            },
        }
    }
}

/// A link between two machines is looked at from both: the worse of the two looks decides, and what one could not see is not made
/// good by the other.
fn of_both_ends(sights: Vec<LinkSight>) -> Vec<LinkSight> {
    let rank = |seen: &Seen| match seen {
        Seen::Plain => 0,
        Seen::Unknown(_) => 1,
        Seen::Sealed => 2,
    };
    let mut links: BTreeMap<Link, LinkSight> = BTreeMap::new();
    for sight in sights {
        match links.entry(sight.link.clone()) {
            Entry::Vacant(place) => {
                place.insert(sight);
            }
            Entry::Occupied(mut place) => {
                let known = place.get_mut();
                let method = if known.method == sight.method {
                    sight.method.clone()
                } else {
                    format!("{}; {}", known.method, sight.method)
                };
                let canaries = known.canaries.max(sight.canaries);
                if rank(&sight.seen) < rank(&known.seen) {
                    *known = sight;
                }
                known.method = method;
                known.canaries = canaries;
            }
        }
    }
    links.into_values().collect()
}

/// What is captured, in the kernel's filter.
fn ports_of(places: &[Place]) -> Vec<u16> {
    let mut ports = vec![lab::layout::SST_PORT];
    for place in places {
        ports.extend(&place.client_ports);
        ports.extend([place.galera_port, place.galera_port + 1]);
    }
    ports.sort_unstable();
    ports.dedup();
    ports
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Everything that one look has gathered.
struct Seeing<'s> {
    report: &'s CaptureReport,
    places: &'s [Place],
    transfers: &'s [Transfer],
    channels: &'s [ReplicaLink],
    own: &'s BTreeSet<SocketAddr>,
    sessions: &'s BTreeMap<String, Result<TcpSessions, String>>,
    is_relayed: bool,
}

/// One connection of a link, with the client's end, where it has one.
struct OnLink<'s> {
    flow: &'s Flow,
    counts: FlowCounts,
    client: SocketAddr,
}

impl OnLink<'_> {
    fn seen(&self, kind: LinkKind) -> FlowSeen {
        judge_flow(kind, &self.counts)
    }
}

fn counts(direction: &Direction) -> DirectionCounts {
    DirectionCounts {
        bytes: direction.bytes,
        tls_bytes: direction.tls_bytes,
        before_tls_bytes: direction.before_tls_bytes,
        after_tls_bytes: direction.after_tls_bytes,
        mysql_segments: direction.mysql_segments,
        missing_bytes: direction.missing_bytes,
        canaries: direction.canaries.values().sum(),
    }
}

impl<'s> Seeing<'s> {
    fn place_of(&self, address: SocketAddr) -> Option<&'s Place> {
        self.places.iter().find(|place| place.addresses.contains(&address.ip().to_canonical()))
    }

    /// Which links a flow belongs to, and which end of it listens; none for what is not ours to judge. A connection to an
    /// address that several nodes may listen on is of each of them: the worst one decides.
    fn links_of(&self, flow: &Flow) -> Vec<(Link, SocketAddr)> {
        for (server, client) in [(flow.a, flow.b), (flow.b, flow.a)] {
            let server = SocketAddr::new(server.ip().to_canonical(), server.port());
            if let Some(listener) = self.place_of(server) {
                let kind = match server.port() {
                    port if port == listener.galera_port => LinkKind::Galera,
                    port if port == listener.galera_port + 1 => LinkKind::Ist,
                    port if port == lab::layout::SST_PORT => LinkKind::Sst,
                    port if listener.client_ports.contains(&port) => LinkKind::Client,
                    _ => continue,
                };
                let peer = match (kind, self.place_of(client)) {
                    (LinkKind::Client, _) => "client",
                    (_, Some(peer)) if peer.node != listener.node => peer.node.as_str(),
                    (LinkKind::Sst | LinkKind::Ist, _) => self
                        .transfers
                        .iter()
                        .find(|one| one.joiner == listener.node && flow.first_unix_ms <= one.until_unix_ms)
                        .map_or("donor", |one| one.donor.as_str()),
                    _ => return Vec::new(),
                };
                return vec![(Link::new(kind, listener.node.as_str(), peer), server)];
            }
            let listeners: Vec<_> = self
                .places
                .iter()
                .filter(|place| place.takes_clients_at(server))
                .map(|place| (Link::new(LinkKind::Client, place.node.as_str(), "client"), server))
                .collect();
            if !listeners.is_empty() {
                return listeners;
            }
        }
        Vec::new()
    }

    fn on_link(&self, flow: &'s Flow, server: SocketAddr) -> OnLink<'s> {
        let a_is_server = SocketAddr::new(flow.a.ip().to_canonical(), flow.a.port()) == server;
        let (client, from_client, from_server) =
            if a_is_server { (flow.b, &flow.ba, &flow.ab) } else { (flow.a, &flow.ab, &flow.ba) };
        let client = SocketAddr::new(client.ip().to_canonical(), client.port());
        let counts = FlowCounts {
            saw_start: flow.saw_start,
            no_session: flow.no_session,
            is_own: self.own.contains(&client),
            client: counts(from_client),
            server: counts(from_server),
        };
        OnLink { flow, counts, client }
    }

    /// What the server says of the sessions on its client link, held against what was captured.
    fn witness(&self, node: &str, flows: &[OnLink<'_>]) -> (Witness, Option<u32>) {
        let sessions = match self.sessions.get(node) {
            Some(Ok(sessions)) => sessions,
            Some(Err(why)) => {
                return (Witness { cannot_tell: Some(why.clone()), ..Witness::default() }, None);
            }
            None => return (Witness::default(), None),
        };
        let others: Vec<&TcpSession> = sessions
            .list
            .iter()
            .filter(|session| session.peer().is_none_or(|peer| !self.own.contains(&peer)))
            .collect();
        let place = self.places.iter().find(|place| place.node == node);
        let not_looked = place.and_then(|place| place.cannot_tell.clone());
        let cannot_tell = sessions.is_partial.clone().or(not_looked);
        let mut witness = Witness { cannot_tell, ..Witness::default() };
        // A relay dials from a port of its own, so sessions and connections can only be counted there.
        let mut relayed = flows
            .iter()
            .filter(|flow| self.is_relayed && !flow.counts.is_own)
            .filter(|flow| flow.seen(LinkKind::Client) != FlowSeen::Silent)
            .count();
        // Two sessions may come from one address and port, to two addresses of the server: a connection speaks for one of them.
        let mut unclaimed: Vec<&OnLink<'_>> =
            flows.iter().filter(|flow| flow.seen(LinkKind::Client) != FlowSeen::Silent).collect();
        for session in &others {
            let own = unclaimed.iter().position(|flow| {
                flow.client.port() == session.port && session.peer().is_none_or(|peer| peer == flow.client)
            });
            if let Some(own) = own {
                unclaimed.swap_remove(own);
            }
            let is_seen = own.is_some();
            let is_seen = is_seen || {
                let counted = relayed > 0;
                relayed = relayed.saturating_sub(1);
                counted
            };
            match session.is_tls {
                Some(false) => witness.plain.push(session.to_string()),
                None if !is_seen => witness.not_captured.push(session.to_string()),
                _ => {}
            }
        }
        // Nobody in a list that is not everybody's says nothing.
        let count = u32::try_from(others.len()).ok().filter(|_| sessions.is_partial.is_none());
        (witness, count)
    }

    /// The sessions over which a replica reads its source's binary log. Where several replicas come from an address that is none of
    /// theirs, each of these sessions may be each one's.
    fn dumps_of(&self, channel: &ReplicaLink) -> Vec<&'s TcpSession> {
        let Some(Ok(sessions)) = self.sessions.get(&channel.source) else { return Vec::new() };
        let dumps = || sessions.list.iter().filter(|session| session.is_replica);
        let own: Vec<&TcpSession> =
            dumps().filter(|dump| self.replica_at(dump) == Some(&channel.replica)).collect();
        if own.is_empty() { dumps().filter(|dump| self.replica_at(dump).is_none()).collect() } else { own }
    }

    fn replica_at(&self, dump: &TcpSession) -> Option<&'s str> {
        dump.peer().and_then(|peer| self.place_of(peer)).map(|place| place.node.as_str())
    }

    /// Whether a session of this channel may as well be another replica's.
    fn is_ambiguous(&self, channel: &ReplicaLink) -> bool {
        let others = self.channels.iter().filter(|other| other.source == channel.source && *other != channel);
        let own = self.dumps_of(channel);
        own.iter().any(|dump| self.replica_at(dump).is_none())
            && others.flat_map(|other| self.dumps_of(other)).any(|dump| own.contains(&dump))
    }

    /// What the sources say of the sessions of their replicas, held against what was captured.
    fn replication_witness(&self, link: &Link, flows: &[OnLink<'_>]) -> Witness {
        let mut witness = Witness::default();
        for channel in self.channels.iter().filter(|channel| channel.link() == *link) {
            let (source, replica) = (&channel.source, &channel.replica);
            match self.sessions.get(source) {
                _ if channel.cannot_tell.is_some() => witness.cannot_tell.clone_from(&channel.cannot_tell),
                None => witness.cannot_tell = Some(format!("{source} is not in the inventory")),
                Some(Err(why)) => witness.cannot_tell = Some(why.clone()),
                Some(Ok(sessions)) if sessions.is_partial.is_some() => {
                    witness.cannot_tell.clone_from(&sessions.is_partial);
                }
                Some(Ok(_)) if self.dumps_of(channel).is_empty() => {
                    witness.cannot_tell = Some(format!("{source} lists no session of {replica}"));
                }
                Some(Ok(_)) => {}
            }
            for dump in self.dumps_of(channel) {
                let is_seen = flows.iter().any(|flow| is_at(dump, flow));
                match dump.is_tls {
                    Some(false) => witness.plain.push(dump.to_string()),
                    None if !is_seen => witness.not_captured.push(dump.to_string()),
                    _ => {}
                }
            }
        }
        witness
    }

    /// Who it was that spoke clear text.
    fn cleartext_clients(&self, node: &str, flows: &[OnLink<'_>], witness: &Witness) -> Vec<String> {
        let sessions = self.sessions.get(node).and_then(|asked| asked.as_ref().ok());
        let mut who: BTreeSet<String> = witness.plain.iter().cloned().collect();
        for flow in flows.iter().filter(|flow| !flow.counts.is_own) {
            if flow.seen(LinkKind::Client) == FlowSeen::Plain {
                let session = sessions.and_then(|all| {
                    all.list.iter().find(|session| {
                        session.port == flow.client.port()
                            && session.peer().is_none_or(|peer| peer == flow.client)
                    })
                });
                who.insert(session.map_or_else(|| flow.client.to_string(), ToString::to_string));
            }
        }
        who.into_iter().collect()
    }

    fn sights(&self, control: &Canary, control_port: u16) -> Vec<LinkSight> {
        let report = self.report;
        let is_control = |flow: &&Flow| flow.a.port() == control_port || flow.b.port() == control_port;
        let control_seen = report.flows.iter().filter(is_control).any(|flow| {
            flow.ab.canaries.contains_key(control.tag()) || flow.ba.canaries.contains_key(control.tag())
        });
        let state = CaptureState {
            control_seen,
            kernel_drops: report.kernel_drops,
            is_cut: report.failed.is_some() || report.packets_over_limit > 0,
        };
        let mut links: BTreeMap<Link, Vec<OnLink<'_>>> = BTreeMap::new();
        // Every pair and every client link has a row, also a silent one: what was not seen is said.
        for (at, place) in self.places.iter().enumerate() {
            for other in
                self.places[at + 1..].iter().filter(|other| !(place.is_no_galera && other.is_no_galera))
            {
                links.insert(
                    Link::new(LinkKind::Galera, place.node.as_str(), other.node.as_str()),
                    Vec::new(),
                );
            }
            links.insert(Link::new(LinkKind::Client, place.node.as_str(), "client"), Vec::new());
        }
        for channel in self.channels {
            links.insert(channel.link(), Vec::new());
        }
        for flow in &report.flows {
            for (link, server) in self.links_of(flow) {
                for channel in self.channels.iter().filter(|_| link.kind == LinkKind::Client) {
                    let on_link = self.on_link(flow, server);
                    let is_of_source = link.a == channel.source || link.b == channel.source;
                    if is_of_source && self.dumps_of(channel).iter().any(|dump| is_at(dump, &on_link)) {
                        links.entry(channel.link()).or_default().push(on_link);
                    }
                }
                links.entry(link).or_default().push(self.on_link(flow, server));
            }
        }
        links.into_iter().map(|(link, flows)| self.sight(link, &flows, state)).collect()
    }

    fn sight(&self, link: Link, flows: &[OnLink<'_>], state: CaptureState) -> LinkSight {
        let kind = link.kind;
        let node = if link.a == "client" { link.b.clone() } else { link.a.clone() };
        let (witness, tcp_sessions) = match kind {
            LinkKind::Client => {
                let (witness, count) = self.witness(&node, flows);
                (Some(witness), count)
            }
            LinkKind::Replication => (Some(self.replication_witness(&link, flows)), None),
            _ => (None, None),
        };
        let counted: Vec<FlowCounts> = flows.iter().map(|flow| flow.counts).collect();
        let mut seen = judge(kind, &counted, witness.as_ref(), state);
        let mut of_link =
            self.channels.iter().filter(|channel| kind == LinkKind::Replication && channel.link() == link);
        // The link of clients, on which these sessions are too, says that one of them is cleartext.
        if seen == Seen::Plain && of_link.any(|channel| self.is_ambiguous(channel)) {
            seen = Seen::Unknown(
                "a session of a replica is cleartext, and whose cannot be told: several replicas come from one address".into(),
            );
        }
        let sum = |of: fn(&DirectionCounts) -> u64| {
            counted.iter().map(|flow| of(&flow.client) + of(&flow.server)).sum::<u64>()
        };
        // A connection that was refused before anybody logged in tells nothing of others.
        let speaks = |flow: &&FlowCounts| judge_flow(kind, flow) != FlowSeen::Silent;
        let payload_bytes =
            counted.iter().filter(speaks).map(|flow| flow.client.bytes + flow.server.bytes).sum();
        let own_only = counted.iter().any(|flow| flow.is_own)
            && counted
                .iter()
                .filter(speaks)
                .all(|flow| flow.is_own && judge_flow(kind, flow) == FlowSeen::Tls);
        let cleartext_clients = match &witness {
            Some(witness) if kind == LinkKind::Client => self.cleartext_clients(&node, flows, witness),
            _ => Vec::new(),
        };
        LinkSight {
            payload_bytes,
            tcp_flows: u32::try_from(flows.len()).unwrap_or(u32::MAX),
            canaries: sum(|way| way.canaries),
            tls_bytes: sum(|way| way.tls_bytes),
            method: self.report.method.clone(),
            control_seen: state.control_seen,
            kernel_drops: self.report.kernel_drops,
            evidence: flows.iter().find_map(|flow| evidence(flow.flow)),
            only_own_session: own_only && seen.word() == "unknown",
            tcp_sessions,
            cleartext_clients,
            refused_logins: if kind == LinkKind::Client { refused_logins(flows) } else { Vec::new() },
            link,
            seen,
        }
    }
}

/// Whether a session is the one on this connection.
fn is_at(session: &TcpSession, flow: &OnLink<'_>) -> bool {
    session.port == flow.client.port() && session.peer().is_none_or(|peer| peer == flow.client)
}

/// Logins in clear text that led to no session.
fn refused_logins(flows: &[OnLink<'_>]) -> Vec<String> {
    let refused = flows.iter().filter(|flow| flow.seen(LinkKind::Client) == FlowSeen::Silent);
    let named = refused.filter_map(|flow| match flow.counts.no_session {
        Some(NoSession::Refused(number)) if !flow.counts.is_own => {
            Some(format!("{} (error {number})", flow.client))
        }
        _ => None,
    });
    named.collect()
}

/// The first canary that was read in a connection.
fn evidence(flow: &Flow) -> Option<Evidence> {
    [(flow.a, flow.b, &flow.ab), (flow.b, flow.a, &flow.ba)].into_iter().find_map(|(from, to, direction)| {
        let found = direction.evidence.as_ref()?;
        Some(Evidence {
            flow: format!("{from} -> {to}"),
            stream_offset_bytes: found.stream_offset,
            bytes_hex: model::hex(&found.bytes),
            text: found
                .bytes
                .iter()
                .map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '.' })
                .collect(),
        })
    })
}

/// Writes one canary on every node that is no replica, through its socket, so that what travels is replication and nothing else; and
/// asks for one over TCP as an ordinary client, with ssl-mode PREFERRED.
fn canaries(cluster: &Cluster, own: &mut BTreeSet<SocketAddr>) -> Result<Vec<Canary>, LookError> {
    let failed = |why: String| LookError::Failed { why };
    let mut canaries = Vec::new();
    let mut prepared = false;
    for node in &cluster.nodes {
        let canary = Canary::new(random16());
        let mut client =
            Client::connect(&cluster.login_at(node)).map_err(|error| failed(error.to_string()))?;
        own.extend(client.local_addr());
        let writable = writable(&mut client);
        if writable == Writable::No {
            let _ = client.quit();
            continue;
        }
        // All nodes of a Galera cluster have it from one.
        if !prepared || writable == Writable::AsSource {
            prepare_schema(&mut client).map_err(failed)?;
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
        let options = net::ConnectOptions { endpoint: cluster.tcp_at(node), ..cluster.login_at(node) };
        // A server that refuses this login over TCP shows no client traffic: the link stays unknown, which is true.
        if let Ok(mut client) = Client::connect(&options) {
            own.extend(client.local_addr());
            let _ = client.query(&format!("SELECT '{}'", canary.token()));
            let _ = client.quit();
            canaries.push(canary);
        }
    }
    Ok(canaries)
}

/// Whether a canary may be written on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writable {
    AsGaleraNode,
    /// It has no source of its own.
    AsSource,
    /// It is a replica or takes no writes, or nobody can tell: what is written on a replica is on no other server.
    No,
}

fn writable(client: &mut Client) -> Writable {
    let asked = client.query("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('wsrep_on', 'read_only')");
    let Ok(rows) = asked else { return Writable::No };
    let is_on = |name: &str| {
        rows.iter().any(|row| {
            row.at(0).is_some_and(|known| known == name) && row.at(1).is_some_and(|value| value != "OFF")
        })
    };
    if is_on("wsrep_on") {
        return Writable::AsGaleraNode;
    }
    match channels_of(client) {
        Ok(channels) if channels.is_empty() && !is_on("read_only") => Writable::AsSource,
        _ => Writable::No,
    }
}

/// Whose the schema of the canaries is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaOwner {
    Nobody,
    Sealion,
    Other,
}

/// What is asked of a server before anything is written to it.
trait CanarySession {
    fn schema_owner(&mut self) -> Result<SchemaOwner, net::NetError>;
    /// MySQL has comments of tables only.
    fn has_schema_comments(&self) -> bool;
    fn run(&mut self, statement: &str) -> Result<(), net::NetError>;
}

impl CanarySession for Client {
    fn schema_owner(&mut self) -> Result<SchemaOwner, net::NetError> {
        /// `ER_BAD_DB_ERROR`: unknown database.
        const UNKNOWN_DATABASE: u16 = 1049;
        match self.query("SHOW CREATE DATABASE sealion_canary") {
            Ok(rows) if rows.first().and_then(|row| row.at(1)).is_some_and(|text| text.contains(MARK)) => {
                Ok(SchemaOwner::Sealion)
            }
            Ok(_) if self.has_schema_comments() => Ok(SchemaOwner::Other),
            Ok(_) => {
                let tables = self.query(
                    "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'sealion_canary'",
                )?;
                let is_ours = !tables.is_empty()
                    && tables.iter().all(|row| row.at(0).is_some_and(|comment| comment.contains(MARK)));
                Ok(if is_ours { SchemaOwner::Sealion } else { SchemaOwner::Other })
            }
            Err(net::NetError::Refused { code: UNKNOWN_DATABASE, .. }) => Ok(SchemaOwner::Nobody),
            Err(error) => Err(error),
        }
    }

    fn has_schema_comments(&self) -> bool {
        self.server_version().contains("MariaDB")
    }

    fn run(&mut self, statement: &str) -> Result<(), net::NetError> {
        self.execute(statement).map(|_| ())
    }
}

/// Makes the schema and the table of the canaries; on a cluster every node has them once one has made them. In a schema that
/// is somebody else's nothing is made: the owner is asked for first, and again where it was not there, because another
/// node's user may have made one of that name a moment ago. Two sealions at once make the same one.
fn prepare_schema(session: &mut impl CanarySession) -> Result<(), String> {
    let text = |error: net::NetError| error.to_string();
    let mut owner = session.schema_owner().map_err(text)?;
    if owner == SchemaOwner::Nobody && session.has_schema_comments() {
        session
            .run(&format!("CREATE DATABASE IF NOT EXISTS {CANARY_SCHEMA} COMMENT '{MARK}; may be dropped'"))
            .map_err(text)?;
        owner = session.schema_owner().map_err(text)?;
    } else if owner == SchemaOwner::Nobody {
        // Without a mark it is ours only where nobody else can have made it: this fails where somebody has.
        session.run(&format!("CREATE DATABASE {CANARY_SCHEMA}")).map_err(text)?;
        owner = SchemaOwner::Sealion;
    }
    if owner != SchemaOwner::Sealion {
        return Err(format!(
            "the schema {CANARY_SCHEMA} is there and is not marked as sealion's; rename it, or drop it if it is left over"
        ));
    }
    let table = format!(
        "CREATE TABLE IF NOT EXISTS {CANARY_SCHEMA}.canary (node VARCHAR(64) NOT NULL PRIMARY KEY, \
         token VARCHAR(64) NOT NULL) ENGINE=InnoDB COMMENT '{MARK}; may be dropped'"
    );
    session.run(&table).map_err(text)
}

/// Removes what [`canaries`] made. Returns where it may have stayed, and why.
pub fn remove_canaries(cluster: &Cluster) -> Vec<String> {
    let mut left = Vec::new();
    for node in &cluster.nodes {
        let removed = Client::connect(&cluster.login_at(node)).and_then(|mut client| {
            // A schema of that name that is not known to be marked as ours is somebody's.
            let is_ours =
                writable(&mut client) != Writable::No && client.schema_owner()? == SchemaOwner::Sealion;
            if is_ours {
                client.execute("DROP DATABASE IF EXISTS sealion_canary")?;
            }
            client.quit()
        });
        if let Err(error) = removed {
            let why = first_line(&error.to_string()).to_owned();
            left.push(format!(
                "{}: whether the schema sealion_canary is gone is not known ({why}); when it answers: DROP DATABASE IF EXISTS \
                 sealion_canary",
                node.name
            ));
        }
    }
    left
}

/// The look that post-checks are given.
pub struct WireEye<'c> {
    cluster: &'c Cluster,
    left_behind: Vec<String>,
}

impl<'c> WireEye<'c> {
    pub fn new(cluster: &'c Cluster) -> Self {
        Self { cluster, left_behind: Vec::new() }
    }
}

impl Look for WireEye<'_> {
    fn wire(&mut self, what: &WireLook) -> Result<Vec<LinkSight>, LookError> {
        let mut sniffer = Sniffer::start(self.cluster)?;
        if what.canaries {
            // Some may have been written before one could not.
            if let Err(error) = sniffer.write_canaries(self.cluster) {
                self.left_behind = remove_canaries(self.cluster);
                return Err(error);
            }
        }
        std::thread::sleep(what.settle);
        let sights = sniffer.finish(self.cluster);
        if what.canaries {
            self.left_behind = remove_canaries(self.cluster);
        }
        Ok(sights)
    }

    fn left_behind(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left_behind)
    }
}

#[cfg(test)]
mod tests {
    use model::Seen;

    use super::*;

    const CONTROL_PORT: u16 = 9;

    fn at(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    /// A server with a schema of that name, or none, that tells what was run on it.
    struct FakeServer {
        owner: SchemaOwner,
        /// Whose it is once it was made.
        made: SchemaOwner,
        ran: Vec<String>,
    }

    impl CanarySession for FakeServer {
        fn schema_owner(&mut self) -> Result<SchemaOwner, net::NetError> {
            Ok(self.owner)
        }

        fn has_schema_comments(&self) -> bool {
            true
        }

        fn run(&mut self, statement: &str) -> Result<(), net::NetError> {
            let words: Vec<&str> = statement.split(' ').take(2).collect();
            self.ran.push(words.join(" "));
            if self.owner == SchemaOwner::Nobody {
                self.owner = self.made;
            }
            Ok(())
        }
    }

    #[test]
    fn in_a_schema_that_is_not_sealions_nothing_is_made() {
        use SchemaOwner::{Nobody, Other, Sealion};
        let both: &[&str] = &["CREATE DATABASE", "CREATE TABLE"];
        for (owner, made, ran, succeeds) in [
            (Nobody, Sealion, both, true),
            (Sealion, Sealion, &both[1..], true),
            (Other, Other, &[], false),
            // Somebody made it between the question and the statement.
            (Nobody, Other, &both[..1], false),
        ] {
            let mut server = FakeServer { owner, made, ran: vec![] };
            assert_eq!(prepare_schema(&mut server).is_ok(), succeeds, "{owner:?} {made:?}");
            assert_eq!(server.ran, ran, "{owner:?} {made:?}");
        }
    }

    fn place(node: &str, address: &str, listens_everywhere: bool) -> Place {
        Place {
            node: node.into(),
            addresses: vec![address.parse().expect("an address")],
            client_ports: vec![3306, 3307],
            galera_port: 4567,
            listens_everywhere,
            binds: vec![],
            cannot_tell: None,
            is_no_galera: false,
        }
    }

    #[test]
    fn a_list_of_bind_addresses_is_read_whole_and_a_name_that_nobody_knows_is_not_guessed() {
        let at = |text: &str| {
            Binds::At(text.split(' ').map(|one| one.parse::<IpAddr>().expect("an address")).collect())
        };
        assert_eq!(bound_to("127.77.1.1,::1, 127.0.0.1"), at("127.77.1.1 ::1 127.0.0.1"));
        assert_eq!(bound_to("192.0.2.1/blue"), at("192.0.2.1"));
        for everywhere in ["", "*", "0.0.0.0", "::", "192.0.2.1,::"] {
            assert_eq!(bound_to(everywhere), Binds::Everywhere, "{everywhere}");
        }
        let unknown = bound_to("192.0.2.1,no.such.name.invalid");
        assert!(
            matches!(&unknown, Binds::CannotTell(why) if why.contains("no.such.name.invalid")),
            "{unknown:?}"
        );
    }

    /// Clients that nobody looked for may be there: TLS of others says nothing of them.
    #[test]
    fn a_server_that_may_listen_where_nobody_looked_is_not_called_sealed() {
        let tls = || flow("10.0.0.9:1001", "10.0.0.1:3306", true);
        let mut places = n1();
        assert_eq!(client_link(&places, vec![tls()], &[], &[]).seen, Seen::Sealed);
        places[0].cannot_tell = Some("its bind_address has db1".into());
        let sight = client_link(&places, vec![tls()], &[], &[]);
        assert!(matches!(&sight.seen, Seen::Unknown(why) if why.contains("bind_address")), "{sight:?}");
        let clear = flow("10.0.0.9:1002", "10.0.0.1:3306", false);
        assert_eq!(client_link(&places, vec![tls(), clear], &[], &[]).seen, Seen::Plain);
    }

    /// An outsider's client came over another interface three times a second, and the link was called sealed.
    #[test]
    fn one_interface_shows_all_clients_only_where_the_server_listens_on_loopback_alone() {
        let check = |address: &str, bind: Option<&str>, everywhere: bool, iface: &str, sees_all: bool| {
            let mut place = place("n1", address, everywhere);
            place.binds.extend(bind.map(|bind| bind.parse::<IpAddr>().expect("an address")));
            place.looked_at_on(iface);
            assert_eq!(place.cannot_tell.is_none(), sees_all, "{address} {bind:?} {everywhere} {iface}");
        };
        check("127.77.1.1", Some("127.77.1.1"), false, "lo", true);
        check("127.77.1.1", Some("10.9.9.1"), false, "lo", false);
        check("127.77.1.1", None, true, "lo", false);
        check("10.0.0.1", None, false, "eth0", false);
        check("10.0.0.1", None, false, "any", true);
        check("10.0.0.1", None, true, "any", true);
    }

    #[test]
    fn a_client_on_a_second_bind_address_is_judged_and_two_sessions_of_one_port_are_two() {
        let mut n1 = [place("n1", "127.77.1.1", false)];
        let Binds::At(binds) = bound_to("127.77.1.1,::1,127.0.0.1") else { panic!("it is a list") };
        n1[0].binds = binds;
        let tls = || flow("127.77.1.9:40000", "127.77.1.1:3306", true);
        for address in ["127.0.0.1", "[::1]"] {
            let clear = flow("127.0.0.1:40001", &format!("{address}:3306"), false);
            assert_eq!(client_link(&n1, vec![tls(), clear], &[], &[]).seen, Seen::Plain, "{address}");
        }
        let twice = [session("127.77.1.9:40000", None), session("127.77.1.9:40000", None)];
        let sight = client_link(&n1, vec![tls()], &twice, &[]);
        assert!(matches!(sight.seen, Seen::Unknown(_)), "{sight:?}");
        assert_eq!(client_link(&n1, vec![tls()], &twice[..1], &[]).seen, Seen::Sealed);
    }

    fn flow(client: &str, server: &str, tls: bool) -> Flow {
        let way = |bytes| Direction {
            bytes,
            tls_bytes: if tls { bytes } else { 0 },
            before_tls_bytes: if tls { 0 } else { bytes },
            mysql_segments: u64::from(!tls),
            ..Direction::default()
        };
        let (client, server) = (at(client), at(server));
        let (a, b) = (client.min(server), client.max(server));
        Flow {
            a,
            b,
            client: Some(client),
            first_unix_ms: 1,
            last_unix_ms: 2,
            saw_start: false,
            no_session: None,
            ab: way(200),
            ba: way(300),
        }
    }

    fn session(text: &str, is_tls: Option<bool>) -> TcpSession {
        let peer = at(text);
        TcpSession {
            id: 7,
            user: "app".into(),
            host: peer.ip().to_string(),
            port: peer.port(),
            is_tls,
            is_replica: false,
        }
    }

    /// What is said of the client link of n1.
    fn client_link(
        places: &[Place],
        mut flows: Vec<Flow>,
        sessions: &[TcpSession],
        own: &[&str],
    ) -> LinkSight {
        let control = Canary::new([1; 16]);
        let mut sent = flow("127.0.0.1:50000", &format!("127.0.0.1:{CONTROL_PORT}"), false);
        sent.ab.canaries.insert(control.tag().to_owned(), 1);
        flows.push(sent);
        let report = CaptureReport { flows, ..CaptureReport::default() };
        let own: BTreeSet<SocketAddr> = own.iter().map(|text| at(text)).collect();
        let all = places
            .iter()
            .map(|place| {
                let list = if place.node == "n1" { sessions.to_vec() } else { Vec::new() };
                (place.node.clone(), Ok(TcpSessions { list, is_partial: None }))
            })
            .collect();
        let seeing = Seeing {
            report: &report,
            places,
            transfers: &[],
            channels: &[],
            own: &own,
            sessions: &all,
            is_relayed: false,
        };
        let link = Link::new(LinkKind::Client, "n1", "client");
        seeing
            .sights(&control, CONTROL_PORT)
            .into_iter()
            .find(|sight| sight.link == link)
            .expect("it has a row")
    }

    fn n1() -> Vec<Place> {
        vec![place("n1", "10.0.0.1", false)]
    }

    /// What is said of the links from n1 to n2 and n3, which come from these addresses, n2 by TLS and n3 in cleartext.
    fn channels_from(n2: &str, n3: &str) -> Vec<&'static str> {
        let places = ["n1 10.0.0.1", "n2 10.0.0.2", "n3 10.0.0.3"].map(|both| {
            let (node, address) = both.split_once(' ').expect("two words");
            place(node, address, false)
        });
        let mut channels = vec![];
        channels.extend(["n2", "n3"].map(|node| ReplicaLink {
            replica: node.into(),
            source: "n1".into(),
            cannot_tell: None,
        }));
        let why = Some("it is down".to_owned());
        channels.push(ReplicaLink { replica: "n4".into(), source: "source".into(), cannot_tell: why });
        let control = Canary::new([1; 16]);
        let mut sent = flow("127.0.0.1:50000", &format!("127.0.0.1:{CONTROL_PORT}"), false);
        sent.ab.canaries.insert(control.tag().to_owned(), 1);
        let flows = vec![sent, flow(n2, "10.0.0.1:3306", true), flow(n3, "10.0.0.1:3306", false)];
        let report = CaptureReport { flows, ..CaptureReport::default() };
        let dump = |at: &str| TcpSession { is_replica: true, ..session(at, None) };
        let list = TcpSessions { list: vec![dump(n2), dump(n3)], is_partial: None };
        let sessions = BTreeMap::from([("n1".to_owned(), Ok(list))]);
        let seeing = Seeing {
            report: &report,
            places: &places,
            transfers: &[],
            channels: &channels,
            own: &BTreeSet::new(),
            sessions: &sessions,
            is_relayed: false,
        };
        let sights = seeing.sights(&control, CONTROL_PORT);
        // What n4 replicates is not known, and said.
        let silent = Link::new(LinkKind::Replication, "n4", "source");
        let sight = sights.iter().find(|sight| sight.link == silent).expect("it has a row");
        assert_eq!(sight.seen.word(), "unknown");
        let word = |kind, other: &str| {
            let link = Link::new(kind, "n1", other);
            sights.iter().find(|sight| sight.link == link).expect("it has a row").seen.word()
        };
        vec![
            word(LinkKind::Replication, "n2"),
            word(LinkKind::Replication, "n3"),
            word(LinkKind::Client, "client"),
        ]
    }

    /// Seen by an outsider: two replicas came from one address, and the cleartext of one was told of both.
    #[test]
    fn whose_channel_is_cleartext_is_not_guessed() {
        assert_eq!(channels_from("10.0.0.2:1001", "10.0.0.3:1002"), ["sealed", "plain", "plain"]);
        assert_eq!(channels_from("10.0.0.9:1001", "10.0.0.9:1002"), ["unknown", "unknown", "plain"]);
        // One comes from its own address, so the other one is known too.
        assert_eq!(channels_from("10.0.0.2:1001", "10.0.0.9:1002"), ["sealed", "plain", "plain"]);
    }

    #[test]
    fn one_session_in_clear_text_among_others_is_plain_and_named() {
        let flows = vec![
            flow("10.0.0.9:1001", "10.0.0.1:3306", true),
            flow("10.0.0.9:1002", "10.0.0.1:3306", false),
            flow("10.0.0.9:1003", "10.0.0.1:3306", true),
        ];
        let sessions = vec![session("10.0.0.9:1002", None), session("10.0.0.9:1003", None)];
        let sight = client_link(&n1(), flows, &sessions, &["10.0.0.9:1003"]);
        assert_eq!(sight.seen, Seen::Plain);
        assert_eq!(sight.cleartext_clients, ["app@10.0.0.9:1002"]);
    }

    #[test]
    fn what_only_sealion_said_proves_nothing() {
        let flows = vec![flow("10.0.0.9:1001", "10.0.0.1:3306", true)];
        let sight = client_link(&n1(), flows, &[], &["10.0.0.9:1001"]);
        assert_eq!(
            (sight.seen.word(), sight.only_own_session, sight.tcp_sessions),
            ("unknown", true, Some(0))
        );
        assert!(sight.has_no_clients());
    }

    /// Seen by an outsider: without the PROCESS privilege "nobody was connected" was said beside a client in clear text.
    #[test]
    fn a_list_that_is_not_everybodys_is_not_taken_for_nobody() {
        let places = n1();
        let flows = [flow("10.0.0.9:1001", "10.0.0.1:3306", true)];
        let own = BTreeSet::from([at("10.0.0.9:1001")]);
        let partial = TcpSessions { list: vec![], is_partial: Some("no PROCESS".into()) };
        let sessions = BTreeMap::from([("n1".to_owned(), Ok(partial))]);
        let report = CaptureReport::default();
        let seeing = Seeing {
            report: &report,
            places: &places,
            transfers: &[],
            channels: &[],
            own: &own,
            sessions: &sessions,
            is_relayed: false,
        };
        let flows: Vec<OnLink<'_>> =
            flows.iter().map(|flow| seeing.on_link(flow, at("10.0.0.1:3306"))).collect();
        let state = CaptureState { control_seen: true, ..CaptureState::default() };
        let sight = seeing.sight(Link::new(LinkKind::Client, "n1", "client"), &flows, state);
        assert_eq!((sight.seen.word(), sight.tcp_sessions), ("unknown", None));
        assert!(!sight.has_no_clients());
    }

    /// A session of which the capture saw nothing: it said nothing meanwhile, or it came over another interface.
    #[test]
    fn a_session_that_was_not_seen_keeps_the_link_unknown() {
        let flows = || vec![flow("10.0.0.9:1001", "10.0.0.1:3306", true)];
        let seen = session("10.0.0.9:1001", None);
        let check = |other: Option<bool>, expected: &str| {
            let sessions = vec![seen.clone(), session("192.168.7.7:4000", other)];
            let sight = client_link(&n1(), flows(), &sessions, &[]);
            assert_eq!(sight.seen.word(), expected, "{:?}", sight.seen);
            assert!(!sight.has_no_clients());
            sight
        };
        let sight = check(None, "unknown");
        let why = format!("{:?}", sight.seen);
        // It may have worked all the time: nobody saw that it did not.
        assert!(why.contains("app@192.168.7.7:4000") && why.contains("no packet of 1 session(s)"), "{why}");
        assert!(!why.contains("silent") && !why.contains("idle"), "{why}");
        check(Some(true), "sealed");
        assert_eq!(check(Some(false), "plain").cleartext_clients, ["app@192.168.7.7:4000"]);
    }

    #[test]
    fn a_refused_login_is_named_and_is_nobodys_session() {
        let refused = || Flow {
            saw_start: true,
            no_session: Some(NoSession::Refused(3159)),
            ..flow("10.0.0.9:1002", "10.0.0.1:3306", false)
        };
        let sight = client_link(&n1(), vec![refused()], &[], &[]);
        assert_eq!((sight.seen.word(), sight.has_no_clients()), ("unknown", true), "{sight:?}");
        assert_eq!(sight.refused_logins, ["10.0.0.9:1002 (error 3159)"]);
        assert!(sight.cleartext_clients.is_empty());
        let tls = flow("10.0.0.9:1001", "10.0.0.1:3306", true);
        assert_eq!(client_link(&n1(), vec![refused(), tls], &[], &[]).seen, Seen::Sealed);
        let let_in = flow("10.0.0.9:1003", "10.0.0.1:3306", false);
        let sight = client_link(&n1(), vec![refused(), let_in], &[], &[]);
        assert_eq!(sight.seen, Seen::Plain);
        assert_eq!(sight.cleartext_clients, ["10.0.0.9:1003"]);
    }

    #[test]
    fn clients_reach_a_server_by_other_addresses_and_ports_too() {
        let everywhere = || vec![place("n1", "10.0.0.1", true)];
        for server in ["127.0.0.1:3306", "192.168.1.1:3307", "10.0.0.1:3307"] {
            let sight = client_link(&everywhere(), vec![flow("10.0.0.9:1001", server, false)], &[], &[]);
            assert_eq!(sight.seen, Seen::Plain, "{server}");
        }
        // Somebody else's server, where ours does not listen.
        let flows = vec![flow("10.0.0.9:1001", "127.0.0.1:3306", false)];
        assert_eq!(client_link(&n1(), flows, &[], &[]).seen.word(), "unknown");
    }
}
