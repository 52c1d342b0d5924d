//! What a capture would show.

use model::{
    ClientSight, ClientsLook, Handshake, Link, LinkKind, LinkSight, Look, LookError, Seen, Transport, Unseen,
    WireLook,
};

use super::channels::{Receiver, SimChannel};
use super::links::Wire;
use super::process::Server;
use super::transfer::{Kind, Transfer};
use super::world::{Shared, World};

#[derive(Debug)]
pub struct SimLook {
    pub shared: Shared,
    /// No capture can be made here.
    pub blind: bool,
    /// What is known of that before a change.
    pub unseen: Vec<Unseen>,
}

fn sight(link: Link, seen: Seen) -> LinkSight {
    let plain = seen == Seen::Plain;
    LinkSight {
        link,
        payload_bytes: 4096,
        tcp_flows: 1,
        canaries: u64::from(plain),
        tls_bytes: if plain { 0 } else { 4096 },
        method: "simulated".into(),
        control_seen: true,
        kernel_drops: 0,
        evidence: None,
        only_own_session: false,
        tcp_sessions: None,
        cleartext_clients: vec![],
        refused_logins: vec![],
        seen,
    }
}

impl World {
    fn spoil_look(&mut self) -> bool {
        let is_spoilt = self.spoilt_looks > 0;
        self.spoilt_looks = self.spoilt_looks.saturating_sub(1);
        is_spoilt
    }

    /// Captures are made on the hosts.
    fn unless_lost(&self, hosts: &[usize], seen: Seen) -> Seen {
        match hosts.iter().find(|&&host| self.is_host_lost(host)) {
            Some(&lost) => Seen::Unknown(format!("a capture on {} was lost", self.servers[lost].name())),
            None => seen,
        }
    }

    pub fn sights(&self) -> Vec<LinkSight> {
        let mut sights = self.fleet_sights();
        let members = self.of_cluster();
        for (at, &a) in members.iter().enumerate() {
            let one = &self.servers[a];
            for &b in members.iter().skip(at + 1) {
                let other = &self.servers[b];
                let seen = match self.link(a, b) {
                    Some(Wire::Plain) => Seen::Plain,
                    Some(Wire::Tls) => Seen::Sealed,
                    None => Seen::Unknown("no packets of this link were captured".into()),
                };
                let seen = self.unless_lost(&[a, b], seen);
                sights.push(sight(Link::new(LinkKind::Galera, one.name(), other.name()), seen));
            }
            if !one.is_arbitrator {
                let mut clients = self.clients_sight(one);
                clients.seen = self.unless_lost(&[a], clients.seen);
                sights.push(clients);
            }
        }
        sights
    }

    fn fleet_sights(&self) -> Vec<LinkSight> {
        let mut sights = Vec::new();
        for one in self.servers.iter().filter(|one| one.is_by_itself) {
            for channel in &one.channels {
                let seen = match channel.receiver {
                    Receiver::Running { by_tls: true } => Seen::Sealed,
                    Receiver::Running { by_tls: false } => Seen::Plain,
                    Receiver::Stopped | Receiver::Connecting { .. } => {
                        Seen::Unknown("no packets of this link were captured".into())
                    }
                };
                let source = self.servers[channel.source].name();
                sights.push(sight(Link::new(LinkKind::Replication, source, one.name()), seen));
            }
            sights.push(self.clients_sight(one));
        }
        sights
    }

    /// Those that read a binary log by TLS.
    fn replica_sights(&self, nodes: &[String]) -> Vec<ClientSight> {
        let mut sights = Vec::new();
        for (index, replica) in self.servers.iter().enumerate() {
            let running = |channel: &&SimChannel| channel.receiver == Receiver::Running { by_tls: true };
            for channel in replica.channels.iter().filter(running) {
                let source = self.servers[channel.source].name();
                if nodes.contains(&source) {
                    sights.push(ClientSight {
                        node: source,
                        user: Some("repl".into()),
                        host: self.servers[index].spec.address.clone(),
                        port: 40_000,
                        driver: None,
                        transport: Transport::Tls,
                        handshake: Some(Handshake { version: replica.speaks_at_most.into(), suite: None }),
                    });
                }
            }
        }
        sights
    }

    fn clients_sight(&self, one: &Server) -> LinkSight {
        let tls = self.app.takes_tls && one.live.as_ref().is_some_and(|live| live.client.is_some());
        let seen = match (one.is_up(), tls && one.cleartext_clients == 0) {
            (false, _) => Seen::Unknown("nobody was connected".into()),
            (true, true) => Seen::Sealed,
            (true, false) => Seen::Plain,
        };
        let mut sight = sight(Link::new(LinkKind::Client, "app", one.name()), seen);
        sight.cleartext_clients =
            (0..one.cleartext_clients).map(|n| format!("app@10.0.0.{n}:4711")).collect();
        sight
    }
}

impl Look for SimLook {
    fn unseen(&mut self) -> Vec<Unseen> {
        self.unseen.clone()
    }

    fn clients(&mut self, what: &WireLook, meanwhile: &mut dyn FnMut()) -> Result<ClientsLook, LookError> {
        meanwhile();
        let mut look = ClientsLook::default();
        for sight in self.wire(what)?.iter().filter(|sight| sight.link.kind == LinkKind::Client) {
            let node = if sight.link.a == "app" { &sight.link.b } else { &sight.link.a };
            let handshake = self.shared.borrow().app.handshake.clone();
            let client = |user: Option<&str>, port, transport| ClientSight {
                node: node.clone(),
                user: user.map(str::to_owned),
                host: "10.0.0.1".into(),
                port,
                driver: None,
                transport,
                handshake: if transport == Transport::Tls { handshake.clone() } else { None },
            };
            let plain = u16::try_from(sight.cleartext_clients.len()).unwrap_or(u16::MAX);
            look.clients.extend((0..plain).map(|n| client(Some("app"), 4711 + n, Transport::Cleartext)));
            match &sight.seen {
                Seen::Plain if plain == 0 => {
                    look.clients.push(client(Some("app"), 4711, Transport::Cleartext));
                }
                Seen::Sealed => look.clients.push(client(Some("app"), 4711, Transport::Tls)),
                Seen::Unknown(why) => look.not_seen.push(format!("{node}: {why}")),
                Seen::Plain => {}
            }
            // Who is there for one look only is gone in the next.
            let passing = self.shared.borrow_mut().passing_clients.pop();
            look.clients.extend(passing.map(|(user, transport)| client(user.as_deref(), 4998, transport)));
            look.clients.extend(
                self.shared
                    .borrow()
                    .other_clients
                    .iter()
                    .map(|(user, transport)| client(user.as_deref(), 4999, *transport)),
            );
        }
        look.clients.extend(self.shared.borrow().replica_sights(&what.nodes));
        Ok(look)
    }

    fn during(&mut self, meanwhile: &mut dyn FnMut()) -> Result<Vec<LinkSight>, LookError> {
        let before = self.shared.borrow().transfers.len();
        meanwhile();
        if self.blind {
            return Err(LookError::NotPermitted {
                why: "no right to capture".into(),
                next: "run as root".into(),
            });
        }
        let world = self.shared.borrow();
        let one = |transfer: &Transfer| {
            let kind = if transfer.kind == Kind::Ist { LinkKind::Ist } else { LinkKind::Sst };
            let ends = [transfer.donor, transfer.joiner].map(|index| world.servers[index].name());
            let [donor, joiner] = ends;
            let seen = if transfer.wire == Wire::Plain { Seen::Plain } else { Seen::Sealed };
            sight(Link::new(kind, donor, joiner), seen)
        };
        Ok(world.transfers.iter().skip(before).map(one).collect())
    }

    fn wire(&mut self, what: &WireLook) -> Result<Vec<LinkSight>, LookError> {
        if self.blind {
            return Err(LookError::NotPermitted {
                why: "no right to capture".into(),
                next: "run as root".into(),
            });
        }
        self.shared.advance(u64::try_from(what.settle.as_millis()).unwrap_or(0));
        let inventory = &what.nodes;
        let mut sights = self.shared.borrow().sights();
        if self.shared.borrow_mut().spoil_look() {
            for sight in &mut sights {
                sight.kernel_drops = 3;
                // A canary that was found is found; only what was not seen is in doubt.
                if sight.seen == Seen::Sealed {
                    sight.seen = Seen::Unknown("the kernel dropped 3 packets of this capture".into());
                }
            }
        }
        sights.retain(|sight| {
            [&sight.link.a, &sight.link.b].into_iter().all(|end| end == "app" || inventory.contains(end))
        });
        Ok(sights)
    }
}
