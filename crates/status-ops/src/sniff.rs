//! Looks on the wire: a capture with a plain control in it, and what each link of the cluster carried.

mod blindness;
mod canaries;
mod places;
mod seeing;
mod sockets;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capture::{Canary, Capture, CaptureError, CaptureReport};
use host::Remote;
use host::remote::FarCapture;
use lab::LabFile;
use lab::supervisor::{Request, ask};
use model::link::Seen;
use model::{ClientsLook, Clock, Handshake, Link, LinkSight, Look, LookError, SystemClock, Unseen, WireLook};
use net::Client;
use server::{Machine, TcpSession, TcpSessions};

use site::inventory::{CaptureBy, Cluster};
use site::random16;

pub(crate) use blindness::name_blindness;
use canaries::canaries;
pub use canaries::{may_write, prepare, remove_canaries};
use places::{Place, ReplicaLink, count_strangers, share_addresses};
use seeing::Seeing;

/// A name of an inventory or of `bind_address` is resolved within this time, or not at all.
const RESOLVE: Duration = Duration::from_secs(3);

const LOOPBACK: &str = "lo";

pub const CANARY_SCHEMA: &str = "sealion_canary";
/// In the comment of what is ours.
/// In the comment of what sealion makes.
pub const MARK: &str = "made by sealion";

/// Captures under way, one on each machine, each with its control already sent.
pub struct Sniffer {
    eyes: Vec<MachineEye>,
    transfers: Vec<Transfer>,
    places: Vec<Place>,
    channels: Vec<ReplicaLink>,
    since: Instant,
    /// The schema of the canaries, perhaps: it was about to be.
    made_schema: bool,
}

/// Of each node, by its name; or why it did not tell.
pub type NodeSessions = BTreeMap<String, Result<TcpSessions, String>>;

/// Links, and single clients on them.
pub struct SniffedClients {
    pub sights: Vec<LinkSight>,
    /// As they were listed at the end of the capture.
    pub sessions: NodeSessions,
    /// Node, and the client's end of a connection to it on which only TLS was seen.
    pub tls: BTreeSet<(String, SocketAddr)>,
    /// What clients called themselves in logins in cleartext, by the node and the client's end.
    pub drivers: BTreeMap<(String, String), String>,
    /// What a client at that end and its server agreed on.
    pub handshakes: BTreeMap<(String, SocketAddr), Handshake>,
    /// Why a capture may have missed something, whatever it saw.
    pub blind: Vec<String>,
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
    /// Of a machine elsewhere, with the reason: its links cannot be determined.
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
        let since = Instant::now();
        let mut places: Vec<Place> = cluster.on_each(|node| Place::of(cluster, node));
        places.extend(cluster.arbitrators.iter().map(|spec| Place::of_arbitrator(cluster, spec)));
        share_addresses(&mut places);
        count_strangers(&mut places);
        if let CaptureBy::Packets { iface } = &cluster.capture {
            for place in &mut places {
                place.looked_at_on(iface);
            }
        }
        let mut here = BTreeSet::new();
        let mut elsewhere: Vec<(Arc<Remote>, BTreeSet<String>)> = Vec::new();
        for node in cluster.nodes.iter().chain(&cluster.arbitrators) {
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
        Ok(Self { eyes, transfers: Vec::new(), places, channels, since, made_schema: false })
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

    /// Writes canaries on every node.
    pub fn write_canaries(&mut self, cluster: &Cluster) -> Result<Vec<Canary>, LookError> {
        canaries(cluster, &mut self.made_schema)
    }

    /// A server that came up while the capture ran says only now where it takes clients. A port that was not captured stays one of
    /// which nobody can tell.
    fn ask_again(&mut self, cluster: &Cluster) {
        let captured = ports_of(&self.places);
        for place in self.places.iter_mut().filter(|place| place.was_silent) {
            let Some(node) = cluster.nodes.iter().find(|node| *place.node == *node.name.as_str()) else {
                continue;
            };
            let mut now = Place::of(cluster, node);
            if let CaptureBy::Packets { iface } = &cluster.capture {
                now.looked_at_on(iface);
            }
            if !now.was_silent && now.client_ports.iter().all(|port| captured.contains(port)) {
                *place = now;
            }
        }
        std::thread::scope(|scope| {
            for place in &mut self.places {
                scope.spawn(|| place.ask_sockets_again(cluster));
            }
        });
        share_addresses(&mut self.places);
        count_strangers(&mut self.places);
    }

    /// Who is connected beside sealion, as each server says. To be asked while the capture runs.
    fn sessions(cluster: &Cluster) -> NodeSessions {
        let asked = cluster.on_each(|node| {
            let mut client = Client::connect(&cluster.login_at(node))?;
            let sessions = server::tcp_sessions(&mut client);
            let _ = client.quit();
            sessions
        });
        let mut all = BTreeMap::new();
        for (node, asked) in cluster.nodes.iter().zip(asked) {
            let asked = asked.map_err(|error| first_line(&error.to_string()).to_owned());
            all.insert(node.name.to_string(), asked);
        }
        all
    }

    pub fn finish(self, cluster: &Cluster) -> Vec<LinkSight> {
        self.finish_with_sessions(cluster).sights
    }

    /// The same, with what is known of single clients.
    pub fn finish_with_sessions(mut self, cluster: &Cluster) -> SniffedClients {
        self.ask_again(cluster);
        let mut sessions = Self::sessions(cluster);
        // Whatever this process has connected since, by whatever way: it speaks for nobody else.
        let mut own = net::own_ends(self.since);
        for known in sessions.values_mut().flatten() {
            // Another sealion, of a colleague or a schedule.
            own.extend(
                known
                    .list
                    .iter()
                    .filter(|one| one.is_sealion && one.is_tls != Some(false))
                    .filter_map(TcpSession::peer),
            );
            known.list.retain(|one| one.peer().is_none_or(|peer| !own.contains(&peer)));
        }
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
        let mut tls = BTreeSet::new();
        let mut drivers = BTreeMap::new();
        let mut handshakes = BTreeMap::new();
        let mut blind = Vec::new();
        for (nodes, control, control_port, report) in &reports {
            let look = Seeing {
                report,
                places: &self.places,
                transfers: &self.transfers,
                channels: &self.channels,
                own: &own,
                sessions: &sessions,
                is_relayed: cluster.is_relayed(),
            };
            tls.extend(look.tls_clients());
            drivers.extend(look.drivers());
            handshakes.extend(look.handshakes());
            let mut sights = look.sights(control, *control_port);
            let why = why_blind(report, sights.iter().all(|sight| sight.control_seen));
            for place in self.places.iter().filter(|place| nodes.contains(&place.node)) {
                let whys = why.iter().chain(&place.cannot_tell);
                blind.extend(whys.map(|why| format!("{}: {why}", place.node)));
            }
            sights.retain(|sight| nodes.contains(&sight.link.a) || nodes.contains(&sight.link.b));
            seen.extend(sights);
        }
        SniffedClients { sights: of_both_ends(seen), sessions, tls, drivers, handshakes, blind }
    }
}

fn why_blind(report: &CaptureReport, control_seen: bool) -> Option<String> {
    if let Some(why) = &report.failed {
        return Some(why.clone());
    }
    match (report.kernel_drops, report.packets_over_limit) {
        (0, 0) if control_seen => None,
        (0, 0) => {
            Some("the cleartext control was not captured, so nothing else would have been either".into())
        }
        (0, _) => Some("there was more traffic than is looked through".into()),
        (drops, _) => Some(format!("the kernel dropped {drops} packets of this capture")),
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
        ports.extend(place.more_ports());
    }
    ports.sort_unstable();
    ports.dedup();
    ports
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
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

    /// A capture that is under way, and how long it is to go on.
    fn begin(
        &mut self,
        what: &WireLook,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(Sniffer, Duration), LookError> {
        let mut sniffer = Sniffer::start(self.cluster)?;
        if what.canaries {
            // Some may have been written before one could not.
            if let Err(error) = sniffer.write_canaries(self.cluster) {
                // Where no server answered, no schema was made.
                if sniffer.made_schema {
                    self.left_behind = remove_canaries(self.cluster);
                }
                return Err(error);
            }
        }
        let begun = Instant::now();
        meanwhile();
        Ok((sniffer, what.settle.saturating_sub(begun.elapsed())))
    }
}

impl Look for WireEye<'_> {
    fn wire(&mut self, what: &WireLook) -> Result<Vec<LinkSight>, LookError> {
        let (sniffer, left) = self.begin(what, &mut || ())?;
        std::thread::sleep(left);
        let mut sights = sniffer.finish(self.cluster);
        if what.canaries {
            self.left_behind = remove_canaries(self.cluster);
        }
        blindness::name_blindness(self.cluster, &mut sights);
        Ok(sights)
    }

    fn clients(&mut self, what: &WireLook, meanwhile: &mut dyn FnMut()) -> Result<ClientsLook, LookError> {
        let (sniffer, left) = self.begin(what, meanwhile)?;
        let drivers = crate::clients::drivers(self.cluster, left);
        let look = crate::clients::end(sniffer, self.cluster, &drivers);
        if what.canaries {
            self.left_behind = remove_canaries(self.cluster);
        }
        Ok(look)
    }

    fn during(&mut self, meanwhile: &mut dyn FnMut()) -> Result<Vec<LinkSight>, LookError> {
        let sniffer = Sniffer::start(self.cluster);
        meanwhile();
        Ok(sniffer?.finish(self.cluster))
    }

    fn unseen(&mut self) -> Vec<Unseen> {
        match &self.cluster.capture {
            CaptureBy::Relay { .. } => Vec::new(),
            CaptureBy::Packets { iface } => blindness::unseen(self.cluster, iface),
        }
    }

    fn no_tcp_login(&mut self) -> Vec<Unseen> {
        let tried = self.cluster.on_each(|node| {
            let options = net::ConnectOptions {
                endpoint: self.cluster.tcp_at(node),
                ..self.cluster.login_at(node).for_login_only()
            };
            Client::connect(&options).map(|client| {
                let _ = client.quit();
            })
        });
        let of_nodes = self.cluster.nodes.iter().zip(tried);
        let refused =
            of_nodes.filter_map(|(node, tried)| Some((node.name.to_string(), tried.err()?.in_one_line())));
        refused.map(|(subject, why)| Unseen { subject, why }).collect()
    }

    fn left_behind(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left_behind)
    }
}

#[cfg(test)]
mod tests;
