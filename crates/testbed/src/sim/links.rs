//! Who reaches whom, in cleartext or TLS, and what a refusal leaves in the logs.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use server::Admits;

use super::disk::OWN_SOCKETS;
use super::process::{Group, Identity, Speaks};
use super::world::{GARB_FILE, World};

/// Of a hundred links between two dynamic nodes, so many are TLS. Dynamic is a timing guess.
const DYNAMIC_TLS_PERCENT: u64 = 66;

/// What flows on an established link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Plain,
    Tls,
}

/// Of a hundred plain joiners whose own call a strict member refused, so many are dialled by it in time.
const GOSSIP_IN_TIME_PERCENT: u64 = 43;
/// Seen: 3, 10 and 18 s, and twice so long that the joiner gave up, which ended it.
const STORM_MS: std::ops::Range<u64> = 3_000..45_000;

/// Seen: the joiner that trusts another CA says so itself, since it dials and judges the member's leaf first. Each side sends
/// its leaf with the chain that its own trust completes: a foreign root is `self-signed` to the judge, one that was left
/// out is not found.
const ROOT_SENT: &str = "self-signed certificate in certificate chain";
const ROOT_MISSING: &str = "unable to get local issuer certificate";
const EXPIRED: &str = "certificate has expired";

/// Two processes with their files: pids, and the sum of their reloads.
pub(super) type Attempt = (i32, i32, u32);

/// When a strict member dials a plain joiner of which it heard from others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gossip {
    attempt: Attempt,
    due_ms: u64,
}

enum Refused {
    /// One speaks TLS, the other does not.
    NoTls,
    Leaf {
        judge: usize,
        shown: usize,
        why: &'static str,
    },
}

fn pair(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

fn judge(judge: &Identity, shown: &Identity, now_s: i64) -> Option<&'static str> {
    match trust::chain_ok(&shown.cert, &judge.trusted, now_s) {
        Ok(()) => None,
        Err(trust::TrustError::Expired { .. }) => Some(EXPIRED),
        Err(_) if trust::chain_ok(&shown.cert, &shown.trusted, now_s).is_ok() => Some(ROOT_SENT),
        Err(_) => Some(ROOT_MISSING),
    }
}

impl World {
    pub fn link(&self, a: usize, b: usize) -> Option<Wire> {
        self.links.get(&pair(a, b)).copied()
    }

    /// Groups of nodes that reach each other, directly or by relay.
    pub(super) fn components(&self, among: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let (mut left, mut components) = (among.clone(), Vec::new());
        while let Some(first) = left.pop_first() {
            let (mut component, mut open) = (BTreeSet::from([first]), vec![first]);
            while let Some(at) = open.pop() {
                let near: Vec<usize> =
                    left.iter().copied().filter(|&other| self.links.contains_key(&pair(at, other))).collect();
                for other in near {
                    left.remove(&other);
                    component.insert(other);
                    open.push(other);
                }
            }
            components.push(component);
        }
        components
    }

    pub(super) fn make_links(&mut self) {
        let open: Vec<usize> = (0..self.servers.len())
            .filter(|&index| self.servers[index].group != Group::Out && !self.servers[index].runs_alone)
            .collect();
        for (at, &a) in open.iter().enumerate() {
            for &b in open.iter().skip(at + 1) {
                if !self.links.contains_key(&pair(a, b)) && !self.is_cut(a, b) {
                    self.dial(a, b);
                }
            }
        }
    }

    /// A strict member takes no cleartext, but it dials an address as a neighbour tells it, and a plain node's is tcp://. Seen:
    /// when that comes too late, nobody is Primary until it has come.
    pub(super) fn dial_by_gossip(&mut self) {
        for strict in 0..self.servers.len() {
            for plain in 0..self.servers.len() {
                if self.is_cut(strict, plain) || !self.hears_of(strict, plain) {
                    continue;
                }
                let (key, attempt) = (pair(strict, plain), self.attempt(strict, plain));
                let due_ms = match self.gossip.get(&key) {
                    Some(gossip) if gossip.attempt == attempt => gossip.due_ms,
                    _ => {
                        let is_in_time = self.rng.percent(GOSSIP_IN_TIME_PERCENT);
                        let late_ms = self.rng.between(STORM_MS.start, STORM_MS.end);
                        let due_ms = self.now_ms + if is_in_time { 0 } else { late_ms };
                        self.storm_until_ms = self.storm_until_ms.max(due_ms);
                        self.gossip.insert(key, Gossip { attempt, due_ms });
                        due_ms
                    }
                };
                if self.now_ms >= due_ms {
                    self.links.insert(key, Wire::Plain);
                }
            }
        }
    }

    /// A strict joiner hears of members that are not in its cluster address from others, and of dynamic ones as tcp://, which a strict member
    /// does not take. An arbitrator is in nobody's; it dials the nodes itself, when it starts.
    ///
    /// Seen on Galera 26.4.23: the joiner gave up after pc.wait_prim_timeout, and meanwhile nobody was Primary.
    pub(super) fn dials_in_vain(&self, joiner: usize) -> bool {
        let is_member = |index: usize| self.servers[index].group == Group::Primary;
        let others = || (0..self.servers.len()).filter(|&other| other != joiner && is_member(other));
        let strict = || others().filter(|&other| self.speaks(other) == Speaks::Tls);
        let is_unnamed = |other: usize| !self.names(joiner, other);
        let is_told_by_a_strict_one = strict().any(|other| self.names(joiner, other));
        !self.servers[joiner].is_arbitrator
            && self.speaks(joiner) == Speaks::Tls
            && others().any(|other| self.speaks(other) == Speaks::Either)
            && strict().any(|other| {
                is_unnamed(other) && (self.servers[other].is_arbitrator || !is_told_by_a_strict_one)
            })
    }

    /// Whether its own configuration has the other's address.
    fn names(&self, one: usize, other: usize) -> bool {
        let (server, address) = (&self.servers[one], self.servers[other].spec.address.as_str());
        if server.is_arbitrator {
            return server.disk.text(GARB_FILE).is_some_and(|text| text.contains(address));
        }
        let list = server.live.as_ref().map(|live| live.cluster_address.as_str()).unwrap_or_default();
        list.split([',', '/']).any(|host| host == address)
    }

    /// A plain joiner that hears of a member by `ssl://` dials it so, and has nothing to speak TLS with.
    ///
    /// Seen on Galera 26.4.23: signal 11, in four of five starts beside an arbitrator that had been restarted among strict members.
    pub(super) fn is_told_of_tls(&self, joiner: usize, members: &BTreeSet<usize>) -> bool {
        self.speaks(joiner) == Speaks::Plain
            && members.iter().any(|&other| {
                self.servers[other].group == Group::Primary
                    && self.servers[other].heard_as_tls
                    && !self.names(joiner, other)
            })
    }

    /// Strict members tell of all others by `ssl://`; what was told of one before is forgotten when it has left.
    pub(super) fn tell_of(&mut self, joiner: usize, members: &BTreeSet<usize>) {
        let is_strict_one = members
            .iter()
            .any(|&one| self.servers[one].group == Group::Primary && self.speaks(one) == Speaks::Tls);
        self.servers[joiner].heard_as_tls = is_strict_one;
        if self.speaks(joiner) == Speaks::Tls {
            for &one in members {
                self.servers[one].heard_as_tls = true;
            }
        }
    }

    /// Members that agree on who is there only after a while leave one out, whose clients get errors; with dynamic ones it takes a while.
    ///
    /// Seen on Galera 26.4.23 with four members and more, beside load; not where evs.suspect_timeout was 15 s everywhere.
    pub(super) fn leave_one_out(&mut self, members: &BTreeSet<usize>) {
        const LARGE: usize = 4;
        let is_dynamic = members.iter().any(|&one| self.speaks(one) == Speaks::Either);
        if !is_dynamic || members.len() < LARGE {
            return;
        }
        // One that is sooner done with it than the others does the harm.
        let hasty = members.iter().copied().find(|&one| self.servers[one].suspect_timeout() != "PT15S");
        if let Some(hasty) = hasty {
            self.log(hasty, "Note", "WSREP: Received NON-PRIMARY.");
            self.app.failed += 1;
        }
    }

    /// The strict member has no link with the plain joiner, and another node has one with both.
    fn hears_of(&self, strict: usize, plain: usize) -> bool {
        strict != plain
            && self.servers[strict].group == Group::Primary
            && self.speaks(strict) == Speaks::Tls
            && self.servers[plain].group != Group::Out
            && self.speaks(plain) == Speaks::Plain
            && self.link(strict, plain).is_none()
            && (0..self.servers.len())
                .any(|other| self.link(strict, other).is_some() && self.link(plain, other).is_some())
    }

    /// What the kernel of a machine has of the links of its member: the one with the higher number has dialled.
    pub(super) fn tcp_rows(&self, index: usize) -> String {
        const PORT: u16 = 4567;
        let address = |index: usize| -> std::net::Ipv4Addr {
            self.servers[index].spec.address.parse().expect("simulated servers have addresses")
        };
        let hex = |index: usize, port: u16| {
            format!("{:08X}:{port:04X}", u32::from_ne_bytes(address(index).octets()))
        };
        let dials_from = |dialler: usize, other: usize| {
            let pid = self.servers[dialler].process.as_ref().map_or(0, |process| process.pid);
            let number = (usize::try_from(pid).unwrap_or(0) * 16 + other) % 20_000;
            40_000 + u16::try_from(number).unwrap_or(0)
        };
        let mut rows = String::new();
        for other in (0..self.servers.len()).filter(|&other| self.link(index, other).is_some()) {
            let (local, remote) = if index > other {
                (hex(index, dials_from(index, other)), hex(other, PORT))
            } else {
                (hex(index, PORT), hex(other, dials_from(other, index)))
            };
            let uid = self.servers[index].uid();
            rows += &format!(
                "   9: {local} {remote} 01 00000000:00000000 00:00000000 00000000 {uid} 0 {OWN_SOCKETS}\n"
            );
        }
        if let Some(beside) = &self.servers[index].garbd_beside {
            let (local, remote) = (hex(index, 39_999), hex(0, PORT));
            rows += &format!(
                "   9: {local} {remote} 01 00000000:00000000 00:00000000 00000000 {} 0 {}\n",
                beside.uid,
                OWN_SOCKETS + 1
            );
        }
        rows
    }

    fn speaks(&self, index: usize) -> Speaks {
        self.servers[index].live.as_ref().map_or(Speaks::Plain, |live| live.speaks)
    }

    fn dial(&mut self, a: usize, b: usize) {
        // The same two processes with the same files fail the same way: not asked again.
        let attempt = self.attempt(a, b);
        if self.refused_links.get(&pair(a, b)) == Some(&attempt) {
            return;
        }
        // The later one dials: it finds the others by its cluster address.
        let (dials, listens) = if attempt.0 > attempt.1 { (a, b) } else { (b, a) };
        let outcome = match (self.speaks(dials), self.speaks(listens)) {
            (Speaks::Plain, Speaks::Plain | Speaks::Either) | (Speaks::Either, Speaks::Plain) => {
                Ok(Wire::Plain)
            }
            (Speaks::Plain, Speaks::Tls) | (Speaks::Tls, Speaks::Plain) => Err(Refused::NoTls),
            (Speaks::Either, Speaks::Either) => {
                let guess = if self.rng.percent(DYNAMIC_TLS_PERCENT) { Wire::Tls } else { Wire::Plain };
                self.shake_hands(dials, listens).map(|()| guess)
            }
            _ => self.shake_hands(dials, listens).map(|()| Wire::Tls),
        };
        match outcome {
            Ok(wire) => {
                self.links.insert(pair(a, b), wire);
            }
            Err(refused) => {
                self.refused_links.insert(pair(a, b), attempt);
                self.log_refusal(&refused, listens);
            }
        }
    }

    fn log_refusal(&mut self, refused: &Refused, listens: usize) {
        let (index, text) = match *refused {
            // Seen: a strict member says so; a strict joiner and plain members say nothing.
            Refused::NoTls if self.speaks(listens) == Speaks::Tls => {
                (listens, "Failed to establish connection: unexpected eof while reading".to_owned())
            }
            Refused::NoTls => return,
            Refused::Leaf { judge, shown, why } => {
                let alert =
                    if why == EXPIRED { "sslv3 alert certificate expired" } else { "tlsv1 alert unknown ca" };
                self.log(shown, "Warning", &format!("WSREP: read_handler(): {alert}"));
                (judge, format!("Failed to establish connection: certificate verify failed: {why}"))
            }
        };
        self.log(index, "Warning", &format!("WSREP: {text}"));
    }

    fn attempt(&self, a: usize, b: usize) -> Attempt {
        let pid = |index: usize| self.servers[index].process.as_ref().map_or(0, |process| process.pid);
        let generation = |index: usize| self.servers[index].live.as_ref().map_or(0, |live| live.generation);
        (pid(a), pid(b), generation(a) + generation(b))
    }

    /// The dialling side judges first, as TLS has it.
    fn shake_hands(&self, dials: usize, listens: usize) -> Result<(), Refused> {
        for (judge, shown) in [(dials, listens), (listens, dials)] {
            if let Some(why) = self.verdict(judge, shown) {
                return Err(Refused::Leaf { judge, shown, why });
            }
        }
        Ok(())
    }

    /// Whether `judge` accepts the leaf of `shows`.
    pub fn handshake(&self, judge: usize, shows: usize) -> Result<(), &'static str> {
        self.verdict(judge, shows).map_or(Ok(()), Err)
    }

    /// The leaf that the Galera port of a server shows.
    pub(super) fn shown_leaf(&self, index: usize) -> Result<String, String> {
        let identity = self.servers[index].live.as_ref().and_then(|live| live.galera.as_ref());
        let identity = identity.ok_or("the Galera port speaks no TLS")?;
        Ok(String::from_utf8_lossy(&identity.cert).into_owned())
    }

    /// What it answers to one that shows this certificate.
    pub(super) fn admits(&self, index: usize, cert: &[u8]) -> Result<Admits, String> {
        let identity = self.servers[index].live.as_ref().and_then(|live| live.galera.as_ref());
        let identity = identity.ok_or("the Galera port speaks no TLS")?;
        // It is the TLS server here, which judges by the purpose of a client.
        Ok(match trust::client_chain_ok(cert, &identity.trusted, self.unix_s()) {
            Ok(()) => Admits::Yes,
            Err(trust::TrustError::Expired { .. }) => Admits::No("sslv3 alert certificate expired".into()),
            Err(_) => Admits::No("tlsv1 alert unknown ca".into()),
        })
    }

    /// The same of its SQL port: who shows nothing is let in, who shows something is judged.
    pub(super) fn client_admits(&self, index: usize, cert: &[u8]) -> Result<Admits, String> {
        let client = self.servers[index].live.as_ref().and_then(|live| live.client.as_ref());
        let client = client.ok_or("SSL is required, but the server does not support it")?;
        Ok(match trust::client_chain_ok(cert, client.ca.as_deref().unwrap_or_default(), self.unix_s()) {
            Ok(()) => Admits::Yes,
            Err(trust::TrustError::Expired { .. }) => Admits::No("sslv3 alert certificate expired".into()),
            Err(_) => Admits::No("tlsv1 alert unknown ca".into()),
        })
    }

    fn verdict(&self, judges: usize, shows: usize) -> Option<&'static str> {
        let identity = |index: usize| self.servers[index].live.as_ref().and_then(|live| live.galera.as_ref());
        let (Some(judges), Some(shown)) = (identity(judges), identity(shows)) else {
            return Some("no TLS there");
        };
        // Asked again for the same bytes at every dial: remembered for a minute of the world.
        let mut hasher = DefaultHasher::new();
        (&shown.cert, &shown.trusted, &judges.trusted, self.unix_s() / 60).hash(&mut hasher);
        let now_s = self.unix_s();
        *self.verdicts.borrow_mut().entry(hasher.finish()).or_insert_with(|| judge(judges, shown, now_s))
    }
}
