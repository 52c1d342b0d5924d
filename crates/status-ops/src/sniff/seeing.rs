//! What a capture says of each link.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use capture::{Canary, CaptureReport, Direction, Flow};
use model::link::{
    CaptureState, DirectionCounts, FlowCounts, FlowSeen, NoSession, Seen, Witness, judge, judge_flow,
};
use model::{Evidence, Handshake, Link, LinkKind, LinkSight};
use server::{TcpSession, TcpSessions};

use super::Transfer;
use super::places::{Place, ReplicaLink};
use super::sockets::Owner;

/// A member says something at least so often.
///
/// # Source
/// Galera's parameters: evs.keepalive_period is PT1S.
const MEMBER_SAYS_MS: u64 = 1_000;

/// An inventory of so many servers that may be members is none of one Galera cluster. A thousand silent ones would be half a million pairs,
/// of each of which nothing is known: then each has one link, to [`OTHERS`], that is unknown.
const PAIRED_MEMBERS_MAX: usize = 64;
/// Whom a silent one may talk to.
const OTHERS: &str = "(others)";

/// Everything that one look has gathered.
pub(super) struct Seeing<'s> {
    pub(super) report: &'s CaptureReport,
    pub(super) places: &'s [Place],
    pub(super) transfers: &'s [Transfer],
    pub(super) channels: &'s [ReplicaLink],
    pub(super) own: &'s BTreeSet<SocketAddr>,
    pub(super) sessions: &'s BTreeMap<String, Result<TcpSessions, String>>,
    pub(super) is_relayed: bool,
}

/// Which link a connection is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlowLink {
    pub(super) link: Link,
    /// The end that listens.
    pub(super) server: SocketAddr,
    /// Why it may be none of that link.
    pub(super) unsure: Option<String>,
}

impl FlowLink {
    fn sure(link: Link, server: SocketAddr) -> Self {
        Self { link, server, unsure: None }
    }
}

/// What a member takes on this port.
fn listens_for(listener: &Place, port: u16) -> Option<LinkKind> {
    match port {
        _ if listener.takes_members_at(port) => Some(LinkKind::Galera),
        _ if port == listener.galera_port + 1 => Some(LinkKind::Ist),
        lab::layout::SST_PORT => Some(LinkKind::Sst),
        _ if listener.client_ports.contains(&port) => Some(LinkKind::Client),
        _ => None,
    }
}

fn has_canary(flow: &Flow) -> bool {
    !flow.ab.canaries.is_empty() || !flow.ba.canaries.is_empty()
}

/// One connection of a link, with the client's end, where it has one.
pub(super) struct OnLink<'s> {
    pub(super) flow: &'s Flow,
    pub(super) counts: FlowCounts,
    pub(super) client: SocketAddr,
}

impl OnLink<'_> {
    pub(super) fn seen(&self, kind: LinkKind) -> FlowSeen {
        judge_flow(kind, &self.counts)
    }
}

pub(super) fn counts(direction: &Direction) -> DirectionCounts {
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
    pub(super) fn place_of(&self, address: SocketAddr) -> Option<&'s Place> {
        let ip = address.ip().to_canonical();
        let by_inventory = self.places.iter().find(|place| place.addresses.contains(&ip));
        by_inventory.or_else(|| self.places.iter().find(|place| place.machine_addresses.contains(&ip)))
    }

    /// Whose end `near` of a connection is: that of the member whose process has it, else of the one that is reached there.
    fn place_at(&self, near: SocketAddr, far: SocketAddr) -> Option<&'s Place> {
        let owns = |place: &&Place| place.owner(near, far) == Owner::Member;
        self.places.iter().find(owns).or_else(|| self.place_of(near))
    }

    /// Which links a flow belongs to; none for what is not ours to judge. A connection to an address that several nodes may listen on is of
    /// each of them: the worst one decides.
    pub(super) fn links_of(&self, flow: &Flow) -> Vec<FlowLink> {
        let canonical = |at: SocketAddr| SocketAddr::new(at.ip().to_canonical(), at.port());
        let (a, b) = (canonical(flow.a), canonical(flow.b));
        for (server, client) in [(a, b), (b, a)] {
            if let Some(listener) = self.place_at(server, client)
                && let Some(kind) = listens_for(listener, server.port())
            {
                let peer = match (kind, self.place_at(client, server)) {
                    (LinkKind::Client, _) => "client".to_owned(),
                    (_, Some(peer)) if peer.node != listener.node => peer.node.clone(),
                    (LinkKind::Sst | LinkKind::Ist, _) => self
                        .transfers
                        .iter()
                        .find(|one| one.joiner == listener.node && flow.first_unix_ms <= one.until_unix_ms)
                        .map_or_else(|| "donor".to_owned(), |one| one.donor.clone()),
                    (_, None)
                        if self.is_a_members(flow, client)
                            && listener.owner(server, client) != Owner::Another =>
                    {
                        client.ip().to_string()
                    }
                    _ => return Vec::new(),
                };
                return vec![FlowLink::sure(Link::new(kind, listener.node.as_str(), peer), server)];
            }
            if let Some(dialler) = self.place_at(client, server)
                && let Some(link) = self.dialled(flow, dialler, client, server)
            {
                return vec![link];
            }
            let listeners: Vec<_> = self
                .places
                .iter()
                .filter(|place| place.takes_clients_at(server))
                .map(|place| {
                    FlowLink::sure(Link::new(LinkKind::Client, place.node.as_str(), "client"), server)
                })
                .collect();
            if !listeners.is_empty() {
                return listeners;
            }
        }
        Vec::new()
    }

    /// A connection that a member, or somebody on its machine, has made to where no member of the inventory takes others.
    fn dialled(
        &self,
        flow: &Flow,
        dialler: &Place,
        client: SocketAddr,
        server: SocketAddr,
    ) -> Option<FlowLink> {
        // Where it listens somebody else has dialled.
        if listens_for(dialler, client.port()).is_some() || !self.is_a_members(flow, client) {
            return None;
        }
        let is_usual = server.port() == dialler.galera_port;
        let peer = match self.place_at(server, client) {
            Some(peer) if peer.node != dialler.node => peer.node.clone(),
            Some(_) => return None,
            None if is_usual => server.ip().to_string(),
            None => server.to_string(),
        };
        let link = |unsure: Option<String>| FlowLink {
            link: Link::new(LinkKind::Galera, dialler.node.as_str(), peer.as_str()),
            server,
            unsure: unsure.filter(|_| !has_canary(flow)),
        };
        match dialler.owner(client, server) {
            Owner::Another => None,
            Owner::CannotTell(why) => is_usual.then(|| {
                link(Some(format!(
                    "whether {} or another program has made it cannot be determined: {why}",
                    dialler.node
                )))
            }),
            Owner::Member if is_usual || (has_canary(flow) && !self.replicates_from(dialler, server)) => {
                Some(link(None))
            }
            Owner::Member if dialler.counts_strangers && !self.replicates_from(dialler, server) => {
                Some(link(Some(format!(
                    "{} counts a member that the inventory does not have; whether this is it, or another service, cannot be determined",
                    dialler.node
                ))))
            }
            Owner::Member => None,
        }
    }

    fn replicates_from(&self, replica: &Place, at: SocketAddr) -> bool {
        let port = format!(":{}", at.port());
        self.channels
            .iter()
            .any(|channel| channel.replica == replica.node && channel.source.ends_with(port.as_str()))
    }

    /// Whether somebody whom the inventory does not name takes part in the cluster on this connection: writesets go there too. Who came
    /// and left within a second has tried the port.
    fn is_a_members(&self, flow: &Flow, client: SocketAddr) -> bool {
        let client = SocketAddr::new(client.ip().to_canonical(), client.port());
        let is_tried =
            flow.saw_start && flow.last_unix_ms.saturating_sub(flow.first_unix_ms) < MEMBER_SAYS_MS;
        !self.is_relayed
            && !self.own.contains(&client)
            && !flow.ab.is_sealions
            && !flow.ba.is_sealions
            && flow.ab.bytes > 0
            && flow.ba.bytes > 0
            && (!is_tried || has_canary(flow))
    }

    /// Whether the server whose port of clients this is lists no session of that end. Where it was not asked, or relays stand between,
    /// nothing follows from its list.
    fn is_unlisted(&self, client: SocketAddr, server: SocketAddr) -> bool {
        let Some(place) = self.place_of(server).filter(|place| place.client_ports.contains(&server.port()))
        else {
            return false;
        };
        let Some(Ok(known)) = self.sessions.get(&place.node) else { return false };
        let is_it = |session: &TcpSession| {
            session.port == client.port() && session.peer().is_none_or(|peer| peer == client)
        };
        !self.is_relayed && !known.list.iter().any(is_it)
    }

    pub(super) fn on_link(&self, flow: &'s Flow, server: SocketAddr) -> OnLink<'s> {
        let a_is_server = SocketAddr::new(flow.a.ip().to_canonical(), flow.a.port()) == server;
        let (client, from_client, from_server) =
            if a_is_server { (flow.b, &flow.ba, &flow.ab) } else { (flow.a, &flow.ab, &flow.ba) };
        let client = SocketAddr::new(client.ip().to_canonical(), client.port());
        let is_own = from_client.is_sealions || self.own.contains(&client);
        let counts = FlowCounts {
            is_unattributed: !is_own && !flow.saw_start && self.is_unlisted(client, server),
            saw_start: flow.saw_start,
            no_session: flow.no_session,
            is_own,
            client: counts(from_client),
            server: counts(from_server),
        };
        OnLink { flow, counts, client }
    }

    /// What the server says of the sessions on its client link, held against what was captured.
    pub(super) fn witness(&self, node: &str, flows: &[OnLink<'_>]) -> (Witness, Option<u32>) {
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
            .filter(|session| session.is_tls == Some(false) || !self.is_of_channel(node, session))
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
    pub(super) fn dumps_of(&self, channel: &ReplicaLink) -> Vec<&'s TcpSession> {
        let Some(Ok(sessions)) = self.sessions.get(&channel.source) else { return Vec::new() };
        let dumps = || sessions.list.iter().filter(|session| session.is_replica);
        let own: Vec<&TcpSession> =
            dumps().filter(|dump| self.replica_at(dump) == Some(&channel.replica)).collect();
        if own.is_empty() { dumps().filter(|dump| self.replica_at(dump).is_none()).collect() } else { own }
    }

    /// Whether a channel's own link tells of it. In cleartext it counts among the clients too.
    fn is_of_channel(&self, node: &str, session: &TcpSession) -> bool {
        let mut channels =
            self.channels.iter().filter(|channel| channel.source == node && channel.cannot_tell.is_none());
        session.is_replica && channels.any(|channel| self.dumps_of(channel).contains(&session))
    }

    pub(super) fn replica_at(&self, dump: &TcpSession) -> Option<&'s str> {
        dump.peer().and_then(|peer| self.place_of(peer)).map(|place| place.node.as_str())
    }

    /// Whether a session of this channel may as well be another replica's.
    pub(super) fn is_ambiguous(&self, channel: &ReplicaLink) -> bool {
        let others = self.channels.iter().filter(|other| other.source == channel.source && *other != channel);
        let own = self.dumps_of(channel);
        own.iter().any(|dump| self.replica_at(dump).is_none())
            && others.flat_map(|other| self.dumps_of(other)).any(|dump| own.contains(&dump))
    }

    /// What the sources say of the sessions of their replicas, held against what was captured.
    pub(super) fn replication_witness(&self, link: &Link, flows: &[OnLink<'_>]) -> Witness {
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

    /// Clients of whose connection only TLS was seen, with their server.
    pub(super) fn tls_clients(&self) -> Vec<(String, SocketAddr)> {
        let mut found = Vec::new();
        for flow in &self.report.flows {
            let links = self.links_of(flow).into_iter();
            for FlowLink { link, server, .. } in links.filter(|one| one.link.kind == LinkKind::Client) {
                let on_link = self.on_link(flow, server);
                if on_link.seen(LinkKind::Client) == FlowSeen::Tls {
                    found.push((if link.a == "client" { link.b } else { link.a }, on_link.client));
                }
            }
        }
        found
    }

    /// What clients call themselves in logins in cleartext, by the server and the client's end.
    pub(super) fn drivers(&self) -> Vec<((String, String), String)> {
        let mut found = Vec::new();
        for flow in &self.report.flows {
            let Some(driver) = &flow.login_driver else { continue };
            for FlowLink { link, server, .. } in self.links_of(flow) {
                let node = if link.a == "client" { link.b } else { link.a };
                found.push(((node, self.on_link(flow, server).client.to_string()), driver.clone()));
            }
        }
        found
    }

    /// What clients and servers have agreed on, by the server and the client's end; our own not among them.
    pub(super) fn handshakes(&self) -> Vec<((String, SocketAddr), Handshake)> {
        let mut found = Vec::new();
        for flow in &self.report.flows {
            let links = self.links_of(flow).into_iter();
            for FlowLink { link, server, .. } in links.filter(|one| one.link.kind == LinkKind::Client) {
                let on_link = self.on_link(flow, server);
                let Some(handshake) = [&flow.ab, &flow.ba].into_iter().find_map(|way| agreed(way.agreed?))
                else {
                    continue;
                };
                if !on_link.counts.is_own {
                    let node = if link.a == "client" { link.b } else { link.a };
                    found.push(((node, on_link.client), handshake));
                }
            }
        }
        found
    }

    /// Who it was that spoke cleartext.
    pub(super) fn cleartext_clients(
        &self,
        node: &str,
        flows: &[OnLink<'_>],
        witness: &Witness,
    ) -> Vec<String> {
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
                let of_login = || match &flow.flow.login_user {
                    Some(user) => format!("{user}@{}", flow.client),
                    None => flow.client.to_string(),
                };
                who.insert(session.map_or_else(of_login, ToString::to_string));
            }
        }
        who.into_iter().collect()
    }

    pub(super) fn sights(&self, control: &Canary, control_port: u16) -> Vec<LinkSight> {
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
        let may_be_members = self.places.iter().filter(|place| !place.is_in_no_group).count();
        let by_itself = |place: &Place| place.was_silent && may_be_members > PAIRED_MEMBERS_MAX;
        for (at, place) in self.places.iter().enumerate() {
            let has_none = |other: &Place| {
                (place.is_no_galera && other.is_no_galera)
                    || place.is_in_no_group
                    || other.is_in_no_group
                    || by_itself(place)
                    || by_itself(other)
            };
            if by_itself(place) {
                links.insert(Link::new(LinkKind::Galera, place.node.as_str(), OTHERS), Vec::new());
            }
            for other in self.places[at + 1..].iter().filter(|other| !has_none(other)) {
                links.insert(
                    Link::new(LinkKind::Galera, place.node.as_str(), other.node.as_str()),
                    Vec::new(),
                );
            }
            if !place.is_arbitrator {
                links.insert(Link::new(LinkKind::Client, place.node.as_str(), "client"), Vec::new());
            }
        }
        for channel in self.channels {
            links.insert(channel.link(), Vec::new());
        }
        let mut unsure: BTreeMap<Link, String> = BTreeMap::new();
        for flow in &report.flows {
            for FlowLink { link, server, unsure: why } in self.links_of(flow) {
                if let Some(why) = why {
                    unsure.insert(link.clone(), why);
                }
                let mut is_channel = false;
                for channel in self.channels.iter().filter(|_| link.kind == LinkKind::Client) {
                    let on_link = self.on_link(flow, server);
                    let is_of_source = link.a == channel.source || link.b == channel.source;
                    if is_of_source && self.dumps_of(channel).iter().any(|dump| is_at(dump, &on_link)) {
                        links.entry(channel.link()).or_default().push(on_link);
                        is_channel = true;
                    }
                }
                // That a replica uses TLS says nothing of clients.
                let on_link = self.on_link(flow, server);
                if !is_channel || on_link.seen(LinkKind::Client) != FlowSeen::Tls {
                    links.entry(link).or_default().push(on_link);
                }
            }
        }
        let of_link = |(link, flows): (Link, Vec<OnLink<'_>>)| {
            let why = unsure.get(&link);
            let mut sight = self.sight(link, &flows, state);
            if let Some(why) = why.filter(|_| sight.canaries == 0) {
                sight.seen = Seen::Unknown(why.clone());
            }
            sight
        };
        links.into_iter().map(of_link).collect()
    }

    pub(super) fn sight(&self, link: Link, flows: &[OnLink<'_>], state: CaptureState) -> LinkSight {
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
                "a session of a replica is cleartext, and whose cannot be determined: several replicas come from one address".into(),
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

/// `None`: a version that servers do not have.
fn agreed(agreed: capture::Agreed) -> Option<Handshake> {
    let version = wire::tls::registry::Version(agreed.version).mysql_name()?.to_owned();
    let suite = wire::tls::registry::cipher_suite(agreed.cipher_suite);
    // A suite without a name is none of a profile.
    let suite = suite.map_or_else(
        || format!("0x{:04x}", agreed.cipher_suite),
        |suite| suite.openssl_name.unwrap_or(suite.name).to_owned(),
    );
    Some(Handshake { version, suite: Some(suite) })
}

/// Whether a session is the one on this connection.
pub(super) fn is_at(session: &TcpSession, flow: &OnLink<'_>) -> bool {
    session.port == flow.client.port() && session.peer().is_none_or(|peer| peer == flow.client)
}

/// Logins in cleartext that led to no session.
pub(super) fn refused_logins(flows: &[OnLink<'_>]) -> Vec<String> {
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
pub(super) fn evidence(flow: &Flow) -> Option<Evidence> {
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
