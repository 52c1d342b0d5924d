//! One kind of step a file; [`STEPS`] is the register.

mod account;
mod accounts_gate;
mod authority;
mod authority_turn;
pub mod client_trust;
mod client_trust_gate;
mod clients_gate;
mod edit;
pub mod files;
mod next_authority;
mod profile_gate;
mod prove;
mod require;
mod retire;
mod rotate;
pub mod trust;
mod trust_gate;
mod watch;

use std::path::PathBuf;

use change::{Acted, Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::de::DeserializeOwned;
use server::WriteNode;

use crate::edit::{Edit, FileEdit};
use crate::galera::steps::{again, arbitrator, distrust, gate, join, patience, round};
use crate::replication::steps::{channel, live_files, restart};
use crate::rest::steps::{binary_logs, data_keys, escrow_keys, key_gate, proof, rebuild, spaces, table_keys};
use crate::tls_rules::RulesChange;
use crate::world::World;

pub use account::AccountParams;
pub use accounts_gate::AccountsGateParams;
pub use authority::AuthorityParams;
pub use client_trust::ClientTrustParams;
pub use client_trust_gate::{ClientTrustGateParams, arbitrator_as_member, node_as_member};
pub use clients_gate::ClientsGateParams;
pub use edit::EditParams;
pub use profile_gate::ProfileGateParams;
pub use prove::ProveParams;
pub use require::RequireParams;
pub use rotate::RotateParams;
pub use trust::TrustParams;
pub use trust_gate::{Asks, TrustGateParams};

/// What a kind of step does. Idempotent: an action may be asked for again after a kill.
pub trait StepKind: Sync {
    fn kind(&self) -> &'static str;
    /// It only checks: it is asked again after an interruption, as long as a step behind it is still to be done.
    fn only_looks(&self) -> bool {
        false
    }
    /// What clients are shown of its server before and after it, where it changes that: a file, or nothing.
    fn certificates(&self, _: &Step) -> Option<[String; 2]> {
        None
    }
    /// By which file its server judges the certificates of clients before and after it, where it changes that.
    fn client_cas(&self, _: &Step) -> Option<[String; 2]> {
        None
    }
    /// Versions and suites that clients are let in with before and after it, where it changes these.
    fn rules(&self, _: &Step) -> Option<RulesChange> {
        None
    }
    /// Before or behind it, links of its member may be cleartext or TLS.
    fn is_mixed(&self, _: &Step) -> bool {
        false
    }
    /// Taking it back leaves what it made.
    fn stays(&self) -> bool {
        false
    }
    /// It captures, and stops the change where it can see nothing: nobody has consented to that.
    fn must_see(&self, _: &World<'_>, _: &Step) -> bool {
        false
    }
    fn check(&self, world: &mut World<'_>, step: &Step, direction: Direction)
    -> Result<StepCheck, StepError>;
    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError>;
    /// One part of an action that takes long, behind what the last part returned as its mark; see [`change::Runner::act`]. The
    /// other kinds act as a whole.
    fn act_part(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
        _mark: Option<&str>,
    ) -> Result<Acted, StepError> {
        self.act(world, step, direction).map(|()| Acted::Whole)
    }
    /// Where it keeps the keys that it replaces for its undo, below the node's `state_dir`; `None`: it replaces none.
    fn keeps(&self, _: &Step) -> Option<PathBuf> {
        None
    }
    /// What an abandoned change leaves of it for a person to put back, in one line.
    fn left(&self, _: &mut World<'_>, _: &Step) -> Option<String> {
        None
    }
    /// Over new connections; says what was seen.
    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError>;
}

pub const STEPS: &[&dyn StepKind] = &[
    &authority::AUTHORITY,
    &files::FILES,
    &edit::EDIT,
    &round::ROUND,
    &arbitrator::ARBITRATOR,
    &again::AGAIN,
    &patience::PATIENCE,
    &patience::PATIENCE_GATE,
    &join::JOIN,
    &gate::GATE,
    &profile_gate::PROFILE_GATE,
    &clients_gate::CLIENTS_GATE,
    &require::REQUIRE,
    &prove::PROVE,
    &retire::RETIRE,
    &rotate::ROTATE,
    &next_authority::NEXT_AUTHORITY,
    &trust::TRUST,
    &trust_gate::TRUST_GATE,
    &authority_turn::AUTHORITY_TURN,
    &distrust::DISTRUST,
    &live_files::LIVE_FILES,
    &restart::RESTART,
    &channel::CHANNEL,
    &accounts_gate::ACCOUNTS_GATE,
    &account::ACCOUNT,
    &client_trust::CLIENT_TRUST,
    &client_trust_gate::CLIENT_TRUST_GATE,
    &escrow_keys::ESCROW_KEYS,
    &data_keys::DATA_KEYS,
    &key_gate::KEY_GATE,
    &spaces::SPACES,
    &table_keys::TABLE_KEYS,
    &rebuild::REBUILD,
    &binary_logs::BINARY_LOGS,
    &proof::PROOF,
];

/// `None`: no kind of this name is in the register.
pub fn named(kind: &str) -> Option<&'static dyn StepKind> {
    STEPS.iter().copied().find(|known| known.kind() == kind)
}

pub fn of(step: &Step) -> Result<&'static dyn StepKind, StepError> {
    named(&step.kind).ok_or_else(|| {
        StepError(format!(
            "step {} is of the kind \"{}\", which this sealion does not know: use the version that made the plan",
            step.id, step.kind
        ))
    })
}

pub fn params<T: DeserializeOwned>(step: &Step) -> Result<T, StepError> {
    serde_json::from_value(step.params.clone())
        .map_err(|error| StepError(format!("the parameters of step {} are damaged: {error}", step.id)))
}

pub fn only_node(step: &Step) -> Result<NodeName, StepError> {
    step.nodes.first().cloned().ok_or_else(|| StepError(format!("step {} names no node", step.id)))
}

/// Brings an option file where the direction wants it, and tells where somebody else's lines were kept.
pub fn write(
    world: &mut World<'_>,
    name: &NodeName,
    edit: &FileEdit,
    direction: Direction,
) -> Result<(), StepError> {
    let node = world.node(name)?;
    let note = match direction {
        Direction::Forward => edit.apply(node),
        Direction::Back => edit.revert(node),
    };
    let Some(note) = note.map_err(StepError)? else { return Ok(()) };
    world.say(&note);
    world.notes.push(note);
    if direction == Direction::Forward {
        counts(world.node(name)?, edit)?;
    }
    Ok(())
}

/// Beside somebody else's lines ours must still be those that count.
fn counts(node: &mut dyn WriteNode, edit: &FileEdit) -> Result<(), StepError> {
    let (server, sst) = (node.effective().map_err(fail)?, node.effective_sst().map_err(fail)?);
    for one in &edit.edits {
        let Edit::Set { group, key, value } = one else { continue };
        let all = if group == "sst" { &sst } else { &server };
        let setting = all.effective(&key.replace('-', "_"));
        if setting.and_then(|setting| setting.value.as_deref()) != Some(value) {
            let place = setting.map_or_else(
                || "no line sets it".to_owned(),
                |setting| format!("{}:{} wins", setting.file.display(), setting.line),
            );
            return Err(StepError(format!(
                "{}: [{group}] {key} was written and does not count\n  why:  {place}\n  next: remove that line, then sealion resume",
                node.name()
            )));
        }
    }
    Ok(())
}

/// Any error with a text becomes a step's failure.
pub fn fail(error: impl std::fmt::Display) -> StepError {
    StepError(error.to_string())
}
