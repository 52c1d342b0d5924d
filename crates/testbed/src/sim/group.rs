//! Membership, links, quorum and state transfer, as Galera does them.
//!
//! One rule decides alone: a component goes on as primary when it has more than half of the last known membership. A node
//! that stops cleanly leaves the membership at once; one that crashes stays in it until the suspect timeout. A component
//! that lost its quorum comes back only when every member of the last primary view is there again.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::process::{Group, Speaks};
use super::world::World;

/// `evs.suspect_timeout`, PT5S.
const SUSPECT_MS: u64 = 5_000;
/// Seen: restarting the plain node of a cluster with a relay put all nodes in NON_PRIM for 12 s.
const RELAY_STORM_MS: u64 = 12_000;
/// Of a hundred links between two dynamic nodes, so many are TLS. Dynamic is a timing guess.
const DYNAMIC_TLS_PERCENT: u64 = 66;

/// What flows on an established link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Plain,
    Tls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ist,
    Sst,
    /// It had everything already.
    None,
}

/// One finished or begun state transfer, for tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub joiner: usize,
    pub donor: usize,
    pub kind: Kind,
    pub wire: Wire,
}

/// A joiner under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub donor: Option<usize>,
    pub answers_ms: u64,
    pub joined_ms: u64,
    pub synced_ms: u64,
}

fn pair(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

impl World {
    pub fn is_primary(&self, index: usize) -> bool {
        self.servers[index].group == Group::Primary && self.now_ms >= self.storm_until_ms
    }

    /// Which nodes think that they are primary together; more than one is a split brain.
    pub fn primary_components(&self) -> Vec<BTreeSet<usize>> {
        let members = (0..self.servers.len()).filter(|&index| self.servers[index].group == Group::Primary);
        self.components(&members.collect())
    }

    /// The size that a member sees, arbitrators counted.
    pub fn cluster_size(&self, index: usize) -> usize {
        match (&self.servers[index].group, &self.servers[index].last_view) {
            (Group::Primary, Some((_, members))) => members.len() + self.arbitrators,
            _ => self.component_of(index).len(),
        }
    }

    pub fn component_of(&self, index: usize) -> BTreeSet<usize> {
        let open: BTreeSet<usize> =
            (0..self.servers.len()).filter(|&at| self.servers[at].group != Group::Out).collect();
        self.components(&open).into_iter().find(|component| component.contains(&index)).unwrap_or_default()
    }

    pub fn link(&self, a: usize, b: usize) -> Option<Wire> {
        self.links.get(&pair(a, b)).copied()
    }

    /// Groups of nodes that reach each other, directly or by relay.
    fn components(&self, among: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
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

    /// Commits wait while a member is gone and not yet declared so.
    pub(super) fn is_held_up(&self) -> bool {
        self.servers.iter().filter(|server| server.group == Group::Primary).any(|server| {
            server.last_view.as_ref().is_some_and(|(_, members)| {
                members.iter().any(|&member| self.servers[member].group != Group::Primary)
            })
        })
    }

    /// Nothing is under way: every process is a member and has everything.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_held_up()
            && self.servers.iter().all(|server| match server.group {
                Group::Primary => server.transfer.is_none() && server.donates_until_ms.is_none(),
                Group::Out => server.process.is_none(),
                Group::Seeking | Group::NonPrimary => false,
            })
            && self.watched == self.conf_id
    }

    pub(super) fn settle(&mut self) {
        self.open_group_communication();
        self.make_links();
        self.lose_members();
        self.come_together_again();
        self.let_joiners_in();
        self.transfer_state();
        self.give_up();
        self.keep_watch();
    }

    fn open_group_communication(&mut self) {
        let now = self.now_ms;
        for server in &mut self.servers {
            if server.group == Group::Out
                && server.process.as_ref().is_some_and(|process| now >= process.connects_ms)
            {
                server.group = Group::Seeking;
            }
        }
    }

    fn make_links(&mut self) {
        let open: Vec<usize> =
            (0..self.servers.len()).filter(|&index| self.servers[index].group != Group::Out).collect();
        for (at, &a) in open.iter().enumerate() {
            for &b in open.iter().skip(at + 1) {
                if !self.links.contains_key(&pair(a, b)) {
                    self.dial(a, b);
                }
            }
        }
    }

    fn dial(&mut self, a: usize, b: usize) {
        let speaks =
            |index: usize| self.servers[index].live.as_ref().map_or(Speaks::Plain, |live| live.speaks);
        let tls = |world: &Self| world.handshake(a, b).and_then(|()| world.handshake(b, a));
        let outcome = match (speaks(a), speaks(b)) {
            (Speaks::Plain, Speaks::Plain | Speaks::Either) | (Speaks::Either, Speaks::Plain) => {
                Ok(Wire::Plain)
            }
            (Speaks::Plain, Speaks::Tls) | (Speaks::Tls, Speaks::Plain) => {
                Err("Failed to establish connection: unexpected eof while reading".to_owned())
            }
            (Speaks::Either, Speaks::Either) => {
                let guess = if self.rng.percent(DYNAMIC_TLS_PERCENT) { Wire::Tls } else { Wire::Plain };
                self.dial_tls(a, b, tls).map(|()| guess)
            }
            _ => self.dial_tls(a, b, tls).map(|()| Wire::Tls),
        };
        match outcome {
            Ok(wire) => {
                self.links.insert(pair(a, b), wire);
            }
            Err(why) => {
                let key = self.attempt(a, b);
                if self.refused_links.insert(pair(a, b), key) != Some(key) {
                    for (index, other) in [(a, b), (b, a)] {
                        // Only a node that is in says so; a joiner's log shows the alert, not the reason.
                        if self.servers[index].group == Group::Primary {
                            self.log(index, "Warning", &format!("WSREP: {why}"));
                        } else if why.contains("certificate") && self.servers[other].group == Group::Primary {
                            self.log(index, "Warning", "WSREP: read_handler(): tlsv1 alert unknown ca");
                        }
                    }
                }
            }
        }
    }

    fn attempt(&self, a: usize, b: usize) -> (i32, i32, u32) {
        let pid = |index: usize| self.servers[index].process.as_ref().map_or(0, |process| process.pid);
        let generation = |index: usize| self.servers[index].live.as_ref().map_or(0, |live| live.generation);
        (pid(a), pid(b), generation(a) + generation(b))
    }

    fn dial_tls(&self, a: usize, b: usize, tls: impl Fn(&Self) -> Result<(), String>) -> Result<(), String> {
        // The same two processes with the same files fail the same way: not asked again.
        if self.refused_links.get(&pair(a, b)) == Some(&self.attempt(a, b)) {
            return Err(String::new());
        }
        tls(self)
    }

    /// Whether `judge` accepts the leaf of `shows`.
    pub fn handshake(&self, judge: usize, shows: usize) -> Result<(), String> {
        let identity = |index: usize| self.servers[index].live.as_ref().and_then(|live| live.galera.as_ref());
        let (Some(judge), Some(shown)) = (identity(judge), identity(shows)) else {
            return Err("no TLS there".into());
        };
        // Asked again for the same bytes at every dial: remembered for a minute of the world.
        let mut hasher = DefaultHasher::new();
        (&shown.cert, &judge.trusted, self.unix_s() / 60).hash(&mut hasher);
        let verdict = *self.verdicts.borrow_mut().entry(hasher.finish()).or_insert_with(|| {
            match trust::chain_ok(&shown.cert, &judge.trusted, self.unix_s()) {
                Ok(()) => None,
                Err(trust::TrustError::Expired { .. }) => Some("certificate has expired"),
                Err(_) => Some("unable to get local issuer certificate"),
            }
        });
        verdict.map_or(Ok(()), |why| {
            Err(format!("Failed to establish connection: certificate verify failed: {why}"))
        })
    }

    fn set_view(&mut self, members: &BTreeSet<usize>) {
        self.conf_id += 1;
        for &member in members {
            if self.servers[member].group == Group::Primary {
                self.servers[member].last_view = Some((self.conf_id, members.clone()));
            }
        }
    }

    /// A clean good-bye.
    pub(super) fn leave_view(&mut self, index: usize) {
        let Some((id, mut members)) = self.servers[index].last_view.clone() else { return };
        self.servers[index].group = Group::Out;
        members.remove(&index);
        let same = |server: &super::process::Server| {
            server.last_view.as_ref().is_some_and(|(other, _)| *other == id)
        };
        let members_up = members
            .iter()
            .any(|&member| same(&self.servers[member]) && self.servers[member].group == Group::Primary);
        if members_up {
            self.set_view(&members);
        }
    }

    /// Crashed members are declared gone after a while; then the rest counts itself.
    fn lose_members(&mut self) {
        let mut views: Vec<(u64, BTreeSet<usize>)> = self
            .servers
            .iter()
            .filter(|server| server.group == Group::Primary)
            .filter_map(|server| server.last_view.clone())
            .collect();
        views.sort();
        views.dedup();
        for (id, members) in views {
            let here: BTreeSet<usize> = members
                .iter()
                .copied()
                .filter(|&member| {
                    let server = &self.servers[member];
                    server.group == Group::Primary
                        && server.last_view.as_ref().is_some_and(|(other, _)| *other == id)
                })
                .collect();
            let gone: Vec<usize> = members.difference(&here).copied().collect();
            let components = self.components(&here);
            let waits = gone.iter().any(|&member| {
                self.servers[member].crashed_ms.is_some_and(|at| self.now_ms < at + SUSPECT_MS)
            });
            if (gone.is_empty() && components.len() <= 1) || (waits && components.len() <= 1) {
                continue;
            }
            for component in components {
                // Arbitrators stay with the larger part here.
                if 2 * (component.len() + self.arbitrators) > members.len() + self.arbitrators {
                    self.set_view(&component);
                } else {
                    for index in component {
                        self.log(index, "Warning", "WSREP: no quorum: this component is non-Primary");
                        let server = &mut self.servers[index];
                        server.group = Group::NonPrimary;
                        server.transfer = None;
                        server.donates_until_ms = None;
                        server.local_state = 0;
                    }
                }
            }
        }
    }

    /// `re-bootstrapping prim from partitioned components`: all of the last primary view are there again.
    fn come_together_again(&mut self) {
        let open: BTreeSet<usize> = (0..self.servers.len())
            .filter(|&index| matches!(self.servers[index].group, Group::NonPrimary | Group::Seeking))
            .collect();
        let everybody: BTreeSet<usize> =
            (0..self.servers.len()).filter(|&index| self.servers[index].group != Group::Out).collect();
        for component in self.components(&everybody) {
            if !component.is_subset(&open) {
                continue; // There is a primary among them: they join it.
            }
            let newest = component.iter().filter_map(|&index| self.servers[index].last_view.clone()).max();
            let Some((id, members)) = newest else { continue };
            let back: BTreeSet<usize> = component
                .iter()
                .copied()
                .filter(|&index| {
                    self.servers[index].last_view.as_ref().is_some_and(|(other, _)| *other == id)
                })
                .collect();
            if !members.is_subset(&back) {
                continue;
            }
            let best = members.iter().map(|&index| self.servers[index].seqno).max().unwrap_or(0);
            if best < self.app.acknowledged {
                self.violations.push(format!(
                    "a primary component {members:?} came together with {best} of {} acknowledged writes",
                    self.app.acknowledged
                ));
            }
            for &index in &members {
                self.log(index, "Note", "WSREP: re-bootstrapping prim from partitioned components");
                let has_all = self.servers[index].seqno == best;
                let server = &mut self.servers[index];
                server.group = Group::Primary;
                server.crashed_ms = None;
                server.local_state = if has_all { 4 } else { 1 };
                if has_all {
                    self.answer(index);
                }
            }
            self.set_view(&members);
            let behind: Vec<usize> =
                members.iter().copied().filter(|&index| self.servers[index].local_state == 1).collect();
            for index in behind {
                self.begin_transfer(index);
            }
        }
    }

    fn let_joiners_in(&mut self) {
        if self.now_ms < self.storm_until_ms {
            return;
        }
        for component in self.primary_components() {
            let Some(&first) = component.first() else { continue };
            let Some((_, members)) = self.servers[first].last_view.clone() else { continue };
            let joiners: Vec<usize> = self
                .component_of(first)
                .into_iter()
                .filter(|&index| self.servers[index].group != Group::Primary && !members.contains(&index))
                .collect();
            let mut members = members;
            for joiner in joiners {
                members.insert(joiner);
                let server = &mut self.servers[joiner];
                server.group = Group::Primary;
                server.crashed_ms = None;
                server.local_state = 1;
                self.log(joiner, "Note", "WSREP: Shifting OPEN -> PRIMARY");
                self.set_view(&members.clone());
                self.relay_storm(joiner);
                self.begin_transfer(joiner);
            }
        }
    }

    /// A component in which two members cannot talk directly falls apart for a while when anybody comes or goes.
    pub(super) fn relay_storm(&mut self, index: usize) {
        let component = self.component_of(index);
        let relayed = component
            .iter()
            .any(|&a| component.iter().any(|&b| a < b && !self.links.contains_key(&pair(a, b))));
        // The joiner that makes the relay necessary gets in; what restarts later makes the storm.
        let is_first_join = self.servers[index].local_state == 1;
        if relayed && !is_first_join {
            self.storm_until_ms = self.now_ms + RELAY_STORM_MS;
        }
    }

    fn begin_transfer(&mut self, joiner: usize) {
        let wish = self.servers[joiner].wants_donor;
        let donors: Vec<usize> = (0..self.servers.len())
            .filter(|&index| {
                index != joiner && self.is_primary(index) && self.servers[index].local_state == 4
            })
            .collect();
        let donor = wish.filter(|wish| donors.contains(wish)).or_else(|| self.rng.choose(&donors));
        let behind = self.servers[joiner].seqno < self.app.acknowledged;
        let was_up = self.servers[joiner].is_up();
        let (answers, joined) =
            if was_up { (0, 700) } else { (self.rng.between(1200, 1800), self.rng.between(3200, 5200)) };
        let synced = joined + self.rng.between(200, 900);
        let Some(donor) = donor else {
            // Nobody can serve now. It keeps asking; a node that has everything needs no donor.
            let now = self.now_ms;
            let waits = if behind { 1_000 } else { 0 };
            self.servers[joiner].transfer = Some(Progress {
                donor: None,
                answers_ms: now + answers,
                joined_ms: now + joined + waits,
                synced_ms: now + synced + waits,
            });
            return;
        };
        let mut kind = Kind::None;
        let mut slower = 0;
        if behind {
            kind = if self.servers[joiner].seqno == 0 { Kind::Sst } else { Kind::Ist };
        }
        if kind == Kind::Ist {
            let joiner_ssl = self.servers[joiner].live.as_ref().is_some_and(|live| live.ist_ssl);
            let letters = |index: usize| self.servers[index].live.as_ref().map_or('?', |live| live.letter);
            let (joins, gives) = (letters(joiner), letters(donor));
            if joiner_ssl
                && self.servers[donor].live.as_ref().is_some_and(|live| live.speaks == Speaks::Plain)
            {
                self.log(donor, "Note", "WSREP: Detected STR version: 1, req_len: 121, req: STRv1");
                self.segfault(donor);
                if joins == 'X' {
                    self.segfault(joiner);
                } else {
                    self.abort(joiner, "WSREP: State transfer request failed: IST sender is gone");
                }
                return;
            }
            if joins == 'X' {
                self.segfault(joiner);
                return;
            }
            let wire = match (joins, gives) {
                ('S', _) | ('D', 'D' | 'S') => Wire::Tls,
                _ => Wire::Plain,
            };
            self.transfers.push(Transfer { joiner, donor, kind, wire });
        }
        if kind == Kind::Sst {
            let (joins, gives) = (self.servers[joiner].sst_is_tls(), self.servers[donor].sst_is_tls());
            if joins != gives {
                self.abort(joiner, "WSREP: Will never receive state. Need to abort.");
                return;
            }
            slower = 6_000;
            let wire = if joins { Wire::Tls } else { Wire::Plain };
            self.transfers.push(Transfer { joiner, donor, kind, wire });
        }
        let now = self.now_ms;
        self.servers[joiner].transfer = Some(Progress {
            donor: (kind != Kind::None).then_some(donor),
            answers_ms: now + slower + answers,
            joined_ms: now + slower + joined,
            synced_ms: now + slower + synced,
        });
        if kind != Kind::None {
            // Sometimes the donor is back in step only after its joiner.
            let until = now + slower + joined + self.rng.between(100, 1_500);
            self.servers[donor].donates_until_ms = Some(until);
            self.servers[donor].local_state = 2;
        }
    }

    fn transfer_state(&mut self) {
        let now = self.now_ms;
        for index in 0..self.servers.len() {
            if self.servers[index].donates_until_ms.is_some_and(|until| now >= until) {
                self.servers[index].donates_until_ms = None;
                if self.servers[index].desync == 0 && self.servers[index].local_state == 2 {
                    self.servers[index].local_state = 4;
                }
            }
            let Some(progress) = self.servers[index].transfer.clone() else { continue };
            if self.servers[index].group != Group::Primary {
                self.servers[index].transfer = None;
                continue;
            }
            let donor_gone = progress.donor.is_some_and(|donor| self.servers[donor].process.is_none());
            if donor_gone && self.servers[index].local_state == 1 && !self.servers[index].is_up() {
                self.abort(index, "WSREP: Will never receive state. Need to abort.");
                continue;
            }
            if now >= progress.answers_ms {
                self.answer(index);
            }
            if now >= progress.joined_ms && self.servers[index].local_state == 1 {
                // Nobody served it yet: it asks again.
                if progress.donor.is_none() && self.servers[index].seqno < self.app.acknowledged {
                    self.begin_transfer(index);
                    continue;
                }
                self.servers[index].local_state = 3;
                self.servers[index].seqno = self.app.acknowledged;
            }
            if now >= progress.synced_ms && self.servers[index].local_state == 3 {
                self.servers[index].local_state = 4;
                self.servers[index].transfer = None;
                self.log(index, "Note", "WSREP: Shifting JOINED -> SYNCED");
            }
        }
    }

    fn give_up(&mut self) {
        for index in 0..self.servers.len() {
            let server = &self.servers[index];
            let over = server.process.as_ref().is_some_and(|process| self.now_ms >= process.gives_up_ms);
            if server.group == Group::Seeking && over {
                self.log(index, "ERROR", "WSREP: failed to open gcomm backend connection: 110: failed to reach primary view (pc.wait_prim_timeout)");
                self.log(
                    index,
                    "ERROR",
                    "WSREP: Failed to open channel 'sim' at 'gcomm://…': -110 (Connection timed out)",
                );
                self.abort(index, "WSREP: gcs connect failed: Operation timed out");
            }
        }
    }

    /// What must never be, whatever was killed.
    fn keep_watch(&mut self) {
        self.watched = self.conf_id;
        let components = self.primary_components();
        if components.len() > 1 {
            self.violations.push(format!("{} ms: two primary components: {components:?}", self.now_ms));
        }
        if self.forbids_plain_beside_strict {
            let letters: String = components
                .iter()
                .flatten()
                .filter_map(|&index| self.servers[index].live.as_ref().map(|live| live.letter))
                .collect();
            if letters.contains('X') || (letters.contains('P') && letters.contains('S')) {
                self.violations.push(format!("{} ms: the members are {letters}", self.now_ms));
            }
        }
        self.violations.dedup();
    }

    pub fn set_desync(&mut self, index: usize, on: bool) {
        let server = &mut self.servers[index];
        server.desync = if on { server.desync + 1 } else { server.desync.saturating_sub(1) };
        if on {
            server.local_state = 2;
        } else if server.desync == 0 && server.donates_until_ms.is_none() && server.local_state == 2 {
            // It has what it missed within moments: through Joined to Synced.
            let now = self.now_ms;
            server.local_state = 3;
            server.transfer =
                Some(Progress { donor: None, answers_ms: 0, joined_ms: 0, synced_ms: now + 300 });
        }
    }
}
