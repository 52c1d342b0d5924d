//! Who has a certificate of the clients' CA is let in as a client, and by no Galera node as a member: each server is shown one.

use std::sync::Arc;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use server::{Admits, GaleraFacts, GaleraState, NodeError, PemSet, ReadArbitrator, ReadNode};
use trust::{Clients, KeyKind, LeafSpec};

use super::{StepKind, fail, params};
use crate::world::World;

pub struct ClientTrustGate;
pub const CLIENT_TRUST_GATE: ClientTrustGate = ClientTrustGate;

#[derive(Debug, Serialize, Deserialize)]
pub struct ClientTrustGateParams {
    /// PEM of the clients' CA that the plan was made for.
    pub ca: String,
}

/// A certificate of the clients' CA that is made for this question, and forgotten.
fn shown(world: &World<'_>, wanted: &str) -> Result<Arc<PemSet>, StepError> {
    let clients = Clients::of(&world.authority.dir);
    let ca = clients.open(&world.authority.passphrase).map_err(fail)?;
    if ca.cert_pem() != wanted {
        return Err(fail(format!(
            "the CA of clients in {} is another one than in the plan\n  why:  it was replaced meanwhile\n  next: sealion undo, then plan again",
            clients.dir().display()
        )));
    }
    let spec = LeafSpec {
        common_name: "sealion asks".into(),
        dns: vec![],
        ips: vec![],
        valid_days: 1,
        key: KeyKind::EcP256,
        not_before_unix: None,
        not_after_unix: None,
    };
    let leaf = ca.issue_client(&spec, world.unix_s()).map_err(fail)?;
    Ok(Arc::new(PemSet {
        ca: wanted.as_bytes().to_vec(),
        cert: leaf.cert_pem.into_bytes(),
        key: leaf.key_pem.expose_secret().to_owned().into(),
    }))
}

fn problem(world: &mut World<'_>, name: &NodeName, shown: &Arc<PemSet>) -> Result<Option<String>, StepError> {
    let node = world.node(name)?;
    if let Admits::No(alert) = node.client_admits(shown).map_err(fail)? {
        return Ok(Some(format!("{name} refuses a client's certificate: {alert}")));
    }
    node_as_member(node.reading(), shown).map_err(fail)
}

/// Why the Galera port of a node is not one that takes no client's certificate; nothing where it has none, or a plain one.
///
/// # Errors
/// It cannot be asked.
pub fn node_as_member(node: &mut dyn ReadNode, shown: &Arc<PemSet>) -> Result<Option<String>, NodeError> {
    let view = node.view()?;
    // A plain port speaks no TLS: there nobody is asked for a certificate.
    if !view.is_galera() || view.galera_state() != GaleraState::Strict {
        return Ok(None);
    }
    Ok(as_member(&node.name().clone(), &node.galera_admits(shown)?))
}

/// The same of an arbitrator, which has no clients.
///
/// # Errors
/// It cannot be asked.
pub fn arbitrator_as_member(
    arbitrator: &mut dyn ReadArbitrator,
    shown: &Arc<PemSet>,
) -> Result<Option<String>, NodeError> {
    let name = arbitrator.name().clone();
    if arbitrator.view()?.state() != GaleraState::Strict {
        return Ok(None);
    }
    Ok(as_member(&name, &arbitrator.galera_admits(shown)?))
}

/// Why what a Galera port answers to a client's certificate is no answer to a stranger's.
fn as_member(name: &NodeName, answer: &Admits) -> Option<String> {
    match answer {
        no @ Admits::No(_) if no.is_unknown_ca() => None,
        Admits::No(alert) => Some(format!(
            "whether {name} takes a client's certificate for a member's cannot be told: it refused it with \"{alert}\""
        )),
        Admits::Yes => Some(format!(
            "{name} takes a client's certificate for a member's, so that any client could join the cluster: its ca.pem has the clients' CA, or had it when it was read"
        )),
    }
}

impl StepKind for ClientTrustGate {
    fn kind(&self) -> &'static str {
        "client-trust-gate"
    }

    fn only_looks(&self) -> bool {
        true
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone("nothing to check on the way back".into()));
        }
        let gate: ClientTrustGateParams = params(step)?;
        let shown = shown(world, &gate.ca)?;
        let mut problems = Vec::new();
        for name in &step.nodes {
            match problem(world, name, &shown) {
                Ok(found) => problems.extend(found),
                Err(error) => problems.push(format!("{name} cannot be asked: {}", error.0)),
            }
        }
        for arbitrator in &mut world.arbitrators {
            let name = arbitrator.name().clone();
            match arbitrator_as_member(arbitrator.reading(), &shown) {
                Ok(found) => problems.extend(found),
                Err(error) => problems.push(format!("{name} cannot be asked: {error}")),
            }
        }
        if problems.is_empty() {
            return Ok(StepCheck::Ready);
        }
        Ok(StepCheck::Blocked(format!(
            "certificates of clients are not taken as they should be\n  why:  {}\n  next: fix that, then sealion resume; or sealion undo",
            problems.join("\n        ")
        )))
    }

    fn act(&self, _: &mut World<'_>, _: &Step, _: Direction) -> Result<(), StepError> {
        Ok(())
    }

    fn verify(&self, _: &mut World<'_>, _: &Step, direction: Direction) -> Result<String, StepError> {
        Ok(match direction {
            Direction::Forward => "each server takes a client's certificate, and no Galera port does".into(),
            Direction::Back => "nothing was checked".into(),
        })
    }
}
