//! Everything the steps work on, handed in by `ops` (or by a test, with simulated nodes).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use change::{Acted, Direction, Runner, StepCheck, StepError};
use escrow::{Escrow, KeySet};
use model::{Change, Clock, Look, NodeName, Noun, PlanPart, Step};
use secrecy::SecretString;
use server::accounts::AccountName;
use server::{
    ArbitratorView, NodeError, NodeView, Rebuild, WriteArbitrator, WriteMember, WriteNode, WriteProxy,
};
use trust::KeyKind;

use crate::journal_copies::JournalCopies;
use crate::needs;
use crate::preflight::group;
use crate::preflight::tls_library::Libraries;
use crate::rest::AtRestOptions;
use crate::steps;
use crate::topology::{self, Topology};

/// The cluster's own CA, on the operator's machine only.
#[derive(Debug, Clone)]
pub struct Authority {
    pub dir: PathBuf,
    pub passphrase: SecretString,
    pub key: KeyKind,
    pub ca_days: u32,
    pub leaf_days: u32,
}

/// How long things may take. All are upper bounds but `drain_ms_min`.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// After a node is taken out of service, health checks need this long to notice.
    pub drain_ms_min: u64,
    /// Sessions that have not left by then are cut by the stop, if none has a transaction open.
    pub drain_ms_max: u64,
    /// A drain that found work under way at its end waits so long for a moment without any: short statements come and go.
    pub drain_more_ms_max: u64,
    /// From start to Synced, time in which it receives a state transfer not counted. Longer than the 30 to 40 s after which a
    /// locked-out node gives up by itself.
    pub sync_ms_max: u64,
    /// A state transfer may take this long.
    pub transfer_ms_max: u64,
    /// How long a look on the wire lasts.
    pub look_ms: u64,
    /// How long clients are watched before cleartext is refused: who connects less often is not seen.
    pub clients_look_ms: u64,
    /// How long to wait for a cluster that lost its quorum to come back by itself.
    pub recover_ms_max: u64,
    /// How long a proxy's health checks may take to see a node that is back. HAProxy's own: 2 checks, 2 s apart.
    pub proxy_up_ms_max: u64,
    /// So long a proxy's health checks are watched after something that may make them fail: two of HAProxy's own, and some air.
    pub proxy_checks_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            drain_ms_min: 1000,
            drain_ms_max: 30_000,
            drain_more_ms_max: 10_000,
            sync_ms_max: 300_000,
            transfer_ms_max: 24 * 3_600_000,
            look_ms: 1500,
            clients_look_ms: 5000,
            recover_ms_max: 120_000,
            proxy_up_ms_max: 60_000,
            proxy_checks_ms: 5_000,
        }
    }
}

/// Nodes that replicate in one way, where others of the world do so in another one.
#[derive(Clone)]
pub struct Part {
    pub topology: &'static dyn Topology,
    pub nodes: BTreeSet<NodeName>,
}

impl Part {
    pub fn planned(&self) -> PlanPart {
        PlanPart { topology: self.topology.name().into(), nodes: self.nodes.iter().cloned().collect() }
    }

    /// # Errors
    /// This version has no such topology.
    pub fn of_plan(part: &PlanPart) -> Result<Self, StepError> {
        Ok(Self { topology: topology::named(&part.topology)?, nodes: part.nodes.iter().cloned().collect() })
    }
}

/// A cluster under change.
pub struct World<'a> {
    pub cluster: String,
    pub topology: &'static dyn Topology,
    pub nodes: Vec<Box<dyn WriteNode + 'a>>,
    /// Who replicates how, where not all nodes do so in the same way.
    pub parts: Vec<Part>,
    /// While something is done in one part, the nodes of the other parts: found by their names, and counted by nobody.
    pub others: Vec<Box<dyn WriteNode + 'a>>,
    /// Members without data (garbd).
    pub arbitrators: Vec<Box<dyn WriteArbitrator + 'a>>,
    /// In front of the nodes.
    pub proxies: Vec<Box<dyn WriteProxy + 'a>>,
    pub look: Box<dyn Look + 'a>,
    pub authority: Authority,
    pub limits: Limits,
    pub clock: &'a dyn Clock,
    /// One line of progress for people.
    pub tell: Box<dyn FnMut(&str) + 'a>,
    pub plan_id: String,
    /// Versions that we have not run ourselves may be changed.
    pub allow_untested: bool,
    /// Files that another tool writes may be changed.
    pub accept_managed: bool,
    /// Privileges that an account lacks are told with the plan and refuse nothing: who plans need not be who changes.
    pub may_lack_rights: bool,
    /// A TLS library with a fault that is known is accepted.
    pub skip_openssl_check: bool,
    /// Clients that were not seen may be cut off by require_secure_transport.
    pub accept_unknown_clients: bool,
    /// Accounts that a change leaves as they are.
    pub leave_accounts: Vec<AccountName>,
    /// Accounts that must use TLS although somebody uses them in cleartext.
    pub force_accounts: Vec<AccountName>,
    /// A change whose last look could not see enough may be closed all the same; it stays written that it was not proven.
    pub accept_unproven: bool,
    /// Clients that were seen to use what a profile of TLS does not have may be shut out.
    pub accept_shut_out: bool,
    /// No member yet, as far as the change has come: nobody but its own step starts it.
    pub joiner: Option<NodeName>,
    /// Data of its own that a joiner has may be replaced by the cluster's.
    pub replace_data: bool,
    /// Sealed copies of the keys of data at rest, on the operator's machine.
    pub escrow: Escrow,
    pub at_rest: AtRestOptions,
    /// What the journal shall say of the step under way, beside what its post-check says.
    pub notes: Vec<String>,
    pub recent: Recent,
}

/// What this run knows already, and need not ask each of a thousand nodes for at each step.
#[derive(Debug, Default)]
pub struct Recent {
    /// Who has the journal of the change under way.
    pub(crate) copies: JournalCopies,
    /// When all servers were last asked for their clocks, by this machine's.
    pub(crate) clocks_unix_ms: Option<u64>,
    /// As the checks before a plan have seen them.
    pub(crate) tls_libraries: Libraries,
    /// Files of other tools that may be changed.
    pub(crate) managed: Vec<(NodeName, PathBuf)>,
    /// The change that is planned, whole, where a part is asked for its share.
    pub(crate) wish: Option<Change>,
    /// What a look at the files of a node has left to write anew: reading them all takes long.
    pub(crate) at_rest: Option<(NodeName, Vec<Rebuild>)>,
    /// Freed pages of this server were written over since this process began.
    pub(crate) renewed: Option<NodeName>,
    /// The copy of the escrow that was opened last: a guess at its passphrase is made slow, and a thousand servers get the same keys.
    pub(crate) opened: Option<(String, Rc<KeySet>)>,
    /// The place of the node that was asked for last.
    node_at: usize,
}

impl<'a> World<'a> {
    /// Also one of another part.
    pub fn node(&mut self, name: &NodeName) -> Result<&mut (dyn WriteNode + 'a), StepError> {
        if self.nodes.get(self.recent.node_at).is_none_or(|node| node.name() != name) {
            let Some(place) = self.nodes.iter().position(|node| node.name() == name) else {
                let mut others = self.others.iter_mut();
                let other = others.find(|node| node.name() == name);
                return other.map(|node| &mut **node).ok_or_else(|| unknown(name));
            };
            self.recent.node_at = place;
        }
        self.nodes.get_mut(self.recent.node_at).map(|node| &mut **node).ok_or_else(|| unknown(name))
    }

    /// A node or an arbitrator.
    pub fn member(&mut self, name: &NodeName) -> Result<&mut (dyn WriteMember + 'a), StepError> {
        if let Some(at) = self.arbitrators.iter().position(|one| one.name() == name) {
            return Ok(&mut **self.arbitrators.get_mut(at).ok_or_else(|| unknown(name))?);
        }
        Ok(self.node(name)?)
    }

    pub fn arbitrator(&mut self, name: &NodeName) -> Option<&mut (dyn WriteArbitrator + 'a)> {
        self.arbitrators.iter_mut().find(|one| one.name() == name).map(|one| &mut **one)
    }

    /// How many are to be counted when all are there.
    pub fn members(&self) -> usize {
        self.nodes.len() + self.arbitrators.len()
    }

    pub fn names(&self) -> Vec<NodeName> {
        self.nodes.iter().map(|node| node.name().clone()).collect()
    }

    /// Nodes and arbitrators.
    pub fn all_names(&self) -> Vec<NodeName> {
        let arbitrators = self.arbitrators.iter().map(|one| one.name().clone());
        self.nodes.iter().map(|node| node.name().clone()).chain(arbitrators).collect()
    }

    /// Asks every node, over new connections.
    pub fn views(&mut self) -> Vec<(NodeName, Result<NodeView, NodeError>)> {
        self.nodes.iter_mut().map(|node| (node.name().clone(), node.view())).collect()
    }

    /// Asks every arbitrator.
    pub fn arbitrator_views(&mut self) -> Vec<(NodeName, Result<ArbitratorView, NodeError>)> {
        self.arbitrators.iter_mut().map(|one| (one.name().clone(), one.view())).collect()
    }

    /// Does something where there are only the nodes of one part, and its topology is the world's. The one place in which that is
    /// changed, and changed back, however it ends.
    pub fn in_part<T>(&mut self, part: &Part, work: impl FnOnce(&mut Self) -> T) -> T {
        let whole = (self.topology, std::mem::take(&mut self.nodes), std::mem::take(&mut self.others));
        let (of_whole, all, none) = whole;
        let is_own: Vec<bool> = all.iter().map(|node| part.nodes.contains(node.name())).collect();
        let mut own = is_own.iter();
        (self.nodes, self.others) = all.into_iter().partition(|_| own.next() == Some(&true));
        let arbitrators =
            if part.topology.is_group() { None } else { Some(std::mem::take(&mut self.arbitrators)) };
        self.topology = part.topology;
        let done = work(self);
        self.topology = of_whole;
        if let Some(arbitrators) = arbitrators {
            self.arbitrators = arbitrators;
        }
        // As they were: leases, journals and people have them in the order of the inventory.
        let mut own = std::mem::take(&mut self.nodes).into_iter();
        let mut others = std::mem::replace(&mut self.others, none).into_iter();
        self.nodes =
            is_own.iter().filter_map(|is_own| if *is_own { own.next() } else { others.next() }).collect();
        done
    }

    /// The same in the part of a node; where there are no parts, in all there is.
    pub fn in_part_of<T>(&mut self, name: &NodeName, work: impl FnOnce(&mut Self) -> T) -> T {
        let holds = |part: &&Part| part.nodes.contains(name);
        // Arbitrators are members of the group.
        let part =
            self.parts.iter().find(holds).or_else(|| self.parts.iter().find(|part| part.topology.is_group()));
        match part.cloned() {
            Some(part) => self.in_part(&part, work),
            None => work(self),
        }
    }

    /// In each part, one after the other; where there are none, once in all there is.
    pub fn in_each_part<T>(&mut self, mut work: impl FnMut(&mut Self) -> T) -> Vec<T> {
        if self.parts.is_empty() || !self.others.is_empty() {
            return vec![work(self)];
        }
        self.parts.clone().iter().map(|part| self.in_part(part, &mut work)).collect()
    }

    /// Whose part a step is of.
    ///
    /// # Errors
    /// The plan has no such part.
    fn for_step<T>(
        &mut self,
        step: &Step,
        work: impl FnOnce(&mut Self) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let Some(name) = &step.part else { return work(self) };
        let part = self.parts.iter().find(|part| part.topology.name() == name).cloned();
        let part = part.ok_or_else(|| {
            StepError(format!(
                "step {} is of the part \"{name}\", which its plan does not have: the plan is damaged",
                step.id
            ))
        })?;
        self.in_part(&part, work)
    }

    /// What to plan instead of `change`, which lacks `more`: with all that was wished, since what another part needs would be lacking else.
    pub(crate) fn advised(&self, change: &Change, more: &[Noun]) -> Change {
        let whole = self.recent.wish.as_ref().filter(|wish| wish.verb == change.verb).unwrap_or(change);
        let mut nouns = [&whole.nouns[..], more].concat();
        // It is the last part of clients.
        if nouns.contains(&Noun::Clients) {
            nouns.retain(|noun| *noun != Noun::RequireTls);
        }
        let profile = whole.profile.filter(|_| nouns.contains(&Noun::Clients));
        Change::new(change.verb, nouns).with_profile(profile)
    }

    pub fn unix_s(&self) -> i64 {
        i64::try_from(self.clock.unix_ms() / 1000).unwrap_or(i64::MAX)
    }

    pub fn say(&mut self, line: &str) {
        (self.tell)(line);
    }

    /// Starts every node that is down and waits until the cluster is whole again by itself. Never bootstraps.
    ///
    /// # Errors
    /// The text says where each node stands and what a person can run.
    pub fn revive(&mut self) -> Result<(), StepError> {
        let topology = self.topology;
        topology.revive(self)
    }
}

impl World<'_> {
    /// Waits for what comes back by itself after servers were restarted, and returns what has not.
    ///
    /// # Errors
    /// A node cannot be handled.
    pub fn settle(&mut self) -> Result<Vec<String>, StepError> {
        let topology = self.topology;
        topology.settle(self)
    }
}

fn unknown(name: &NodeName) -> StepError {
    StepError(format!("{name} is in the plan but not in the inventory"))
}

pub fn sleep(world: &mut World<'_>, ms: u64) {
    if let Some(node) = world.nodes.first_mut() {
        node.wait(Duration::from_millis(ms));
    }
}

impl Runner for World<'_> {
    fn check(&mut self, step: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        let kind = steps::of(step)?;
        let found = self.for_step(step, |world| kind.check(world, step, direction))?;
        if found == StepCheck::Ready
            && !kind.only_looks()
            && let Some(why) =
                self.for_step(step, |world| Ok::<_, StepError>(group::joined(world, &step.nodes)))?
        {
            return Ok(StepCheck::Blocked(why));
        }
        // On the way back nothing is refused for want of room: a step that finds none says so itself.
        if found != StepCheck::Ready || direction == Direction::Back {
            return Ok(found);
        }
        let lacking: Vec<String> = needs::lacking(self, [step]).iter().map(ToString::to_string).collect();
        Ok(if lacking.is_empty() { found } else { StepCheck::Blocked(lacking.join("\n\n")) })
    }

    fn act(&mut self, step: &Step, direction: Direction, mark: Option<&str>) -> Result<Acted, StepError> {
        if mark.is_none() {
            self.notes.clear();
        }
        let kind = steps::of(step)?;
        self.for_step(step, |world| kind.act_part(world, step, direction, mark))
    }

    fn verify(&mut self, step: &Step, direction: Direction) -> Result<String, StepError> {
        let kind = steps::of(step)?;
        let note = self.for_step(step, |world| kind.verify(world, step, direction))?;
        let more = std::mem::take(&mut self.notes);
        Ok([vec![note], more].concat().join("; "))
    }

    fn copy_journal(&mut self, journal: &Path, line: &str) -> Result<usize, StepError> {
        self.recent.copies.add(&mut self.nodes, journal, &format!("{}.journal", self.plan_id), line)
    }
}
