//! Membership and quorum, as Galera does them.
//!
//! One rule decides alone: a component goes on as primary when it has more than half of the last known membership. A node
//! that stops cleanly leaves the membership at once; one that crashes stays in it until the suspect timeout. A component
//! that lost its quorum comes back only when every member of the last primary view is there again.

use std::collections::BTreeSet;

use super::process::{Group, Speaks};
use super::world::World;

/// `evs.suspect_timeout`, PT5S.
pub(super) const SUSPECT_MS: u64 = 5_000;

/// While a member is dialled in vain, nobody is Primary.
const VAIN_STORM_MS: u64 = 1_000;

/// Until the others have agreed on a view without one that has left. One that comes back before that dies of it.
///
/// Seen on Galera 26.4.23, five members under load: the others had the view a second later; a node that was started 0.3 s after its
/// clean shutdown got signal 11 in group communication, and another one found its own UUID there.
pub const LINGERS_MS: u64 = 3_000;

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
            (Group::Primary, Some((_, members))) => {
                let leaving = (0..self.servers.len()).filter(|one| !members.contains(one));
                members.len() + leaving.filter(|&one| self.lingers(one)).count() + self.strange_arbitrators
            }
            _ => self.component_of(index).len(),
        }
    }

    /// It has left, and the others have not agreed on that yet.
    fn lingers(&self, index: usize) -> bool {
        self.servers[index].left_ms.is_some_and(|at| self.now_ms < at + LINGERS_MS)
    }

    pub fn component_of(&self, index: usize) -> BTreeSet<usize> {
        let open: BTreeSet<usize> =
            (0..self.servers.len()).filter(|&at| self.servers[at].group != Group::Out).collect();
        self.components(&open).into_iter().find(|component| component.contains(&index)).unwrap_or_default()
    }

    /// Commits wait while a member is gone and not yet declared so.
    pub(super) fn is_held_up(&self) -> bool {
        self.waits_at_a_cut()
            || self.servers.iter().filter(|server| server.group == Group::Primary).any(|server| {
                server.last_view.as_ref().is_some_and(|(_, members)| {
                    members.iter().any(|&member| {
                        self.servers[member].group != Group::Primary || self.servers[member].is_frozen()
                    })
                })
            })
    }

    /// Nothing is under way: every process is a member and has everything.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_held_up()
            && self.cuts.is_empty()
            && self.servers.iter().filter(|server| !server.is_by_itself).all(|server| match server.group {
                Group::Primary => {
                    server.transfer.is_none() && server.donates_until_ms.is_none() && !server.is_frozen()
                }
                Group::Out => server.process.is_none(),
                Group::Seeking | Group::NonPrimary => false,
            })
            && self.watched == self.conf_id
    }

    pub(super) fn settle(&mut self) {
        self.open_group_communication();
        self.make_links();
        self.dial_by_gossip();
        self.lose_members();
        self.come_together_again();
        self.let_joiners_in();
        self.transfer_state();
        self.give_up();
        self.keep_watch();
    }

    fn open_group_communication(&mut self) {
        for index in self.of_cluster() {
            let server = &self.servers[index];
            let is_due = server.process.as_ref().is_some_and(|process| self.now_ms >= process.connects_ms);
            if server.group != Group::Out || !is_due {
                continue;
            }
            if self.is_taken_for_another(index) {
                self.stumble_over_itself(index);
            } else if let Some(uuid) = self.servers[index].founds.clone() {
                self.found_alone(index, uuid);
            } else if !self.servers[index].is_arbitrator && self.lingers(index) {
                self.segfault(index);
            } else if self.servers[index].stumbles > 0 && self.is_beside_dynamic(index) {
                self.stumble(index);
            } else {
                self.servers[index].group = Group::Seeking;
            }
        }
    }

    /// The others still have the UUID of the process that it was.
    fn is_taken_for_another(&mut self, index: usize) -> bool {
        let counts_it = |server: &super::process::Server| {
            server.group == Group::Primary
                && server.last_view.as_ref().is_some_and(|(_, members)| members.contains(&index))
        };
        let is_so = self.servers[index].left_unheard && self.servers.iter().any(counts_it);
        self.servers[index].left_unheard &= is_so;
        is_so
    }

    /// Seen once on Galera 26.4.23: the node ended, and garbd with signal 11.
    fn stumble_over_itself(&mut self, index: usize) {
        self.log(index, "ERROR", "WSREP: failed to open gcomm backend connection: 131: A node with the same UUID already exists in the cluster.");
        self.abort(index, "WSREP: gcs connect failed: State not recoverable");
        for other in
            (0..self.servers.len()).filter(|&other| self.servers[other].is_arbitrator).collect::<Vec<_>>()
        {
            self.segfault(other);
        }
    }

    /// With `--wsrep-new-cluster` it asks nobody, and takes writes at once.
    fn found_alone(&mut self, index: usize, uuid: String) {
        let is_same =
            self.servers.iter().any(|other| other.group == Group::Primary && other.state_uuid == uuid);
        let server = &mut self.servers[index];
        (server.group, server.local_state, server.runs_alone) = (Group::Primary, 4, true);
        (server.state_uuid, server.has_diverged) = (uuid, is_same);
        server.seqno += 1;
        self.conf_id += 1;
        self.servers[index].last_view = Some((self.conf_id, BTreeSet::from([index])));
        self.log(
            index,
            "Note",
            "WSREP: New COMPONENT: primary = yes, bootstrap = no, my_idx = 0, memb_num = 1",
        );
        self.answer(index);
    }

    fn is_beside_dynamic(&self, index: usize) -> bool {
        self.servers.iter().enumerate().any(|(other, server)| {
            other != index
                && server.group != Group::Out
                && server.live.as_ref().is_some_and(|live| live.speaks == Speaks::Either)
        })
    }

    /// Seen on Galera 26.4.23 under load: a dynamic member takes the second call of a joiner for a stranger's.
    fn stumble(&mut self, index: usize) {
        let server = &mut self.servers[index];
        server.stumbles -= 1;
        // It removes its gvwstate.dat, so that its next start has a new UUID.
        server.last_view = None;
        self.log(
            index,
            "ERROR",
            "WSREP: failed to open gcomm backend connection: 131: A node with the same UUID already exists in the cluster. \
             Removing gvwstate.dat file, this node will generate a new UUID when restarted. (FATAL)",
        );
        self.abort(index, "WSREP: gcs connect failed: State not recoverable");
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
            self.servers[index].left_ms = Some(self.now_ms);
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
                if 2 * (component.len() + self.strange_arbitrators) > members.len() + self.strange_arbitrators
                {
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
            let with_data = |index: &&usize| !self.servers[**index].is_arbitrator;
            let best =
                members.iter().filter(with_data).map(|&index| self.servers[index].seqno).max().unwrap_or(0);
            if best < self.app.acknowledged {
                self.violations.push(format!(
                    "a primary component {members:?} came together with {best} of {} acknowledged writes",
                    self.app.acknowledged
                ));
            }
            for &index in &members {
                self.log(index, "Note", "WSREP: re-bootstrapping prim from partitioned components");
                let has_all = self.servers[index].seqno == best || self.servers[index].is_arbitrator;
                let server = &mut self.servers[index];
                server.group = Group::Primary;
                server.crashed_ms = None;
                server.forget_desync();
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
            let uuid = self.servers[first].state_uuid.clone();
            for joiner in joiners {
                if self.is_told_of_tls(joiner, &members) {
                    self.segfault(joiner);
                    continue;
                }
                if self.dials_in_vain(joiner) {
                    self.storm_until_ms = self.storm_until_ms.max(self.now_ms + VAIN_STORM_MS);
                    return;
                }
                members.insert(joiner);
                let server = &mut self.servers[joiner];
                if server.state_uuid != uuid {
                    (server.seqno, server.has_diverged) = (0, false);
                    server.state_uuid.clone_from(&uuid);
                }
                if server.has_diverged {
                    let line = format!("{} was let in with writes that nobody else has", server.name());
                    self.violations.push(line);
                }
                let server = &mut self.servers[joiner];
                server.group = Group::Primary;
                server.crashed_ms = None;
                server.forget_desync();
                server.local_state = 1;
                self.log(joiner, "Note", "WSREP: Shifting OPEN -> PRIMARY");
                self.tell_of(joiner, &members);
                self.leave_one_out(joiner, &members);
                self.set_view(&members.clone());
                self.begin_transfer(joiner);
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
        let mut components = self.primary_components();
        // Who was told to begin a cluster of its own is no part of this one.
        components.retain(|component| !component.iter().all(|&index| self.servers[index].runs_alone));
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
}
