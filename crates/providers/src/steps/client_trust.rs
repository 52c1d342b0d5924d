//! Which CA of clients one server trusts beside the cluster's: a file of both in its TLS directory, which `ssl_ca` names, and no setting of
//! Galera does. A server that has it loaded reads it again.

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::NodeError;

use super::{StepKind, fail, only_node, params};
use crate::files::{
    CLIENT_CA_FILE, client_ca, client_cas_are_kept, finish_placing, is_placing, set_client_ca,
};
use crate::world::World;

pub struct ClientTrust;
pub const CLIENT_TRUST: ClientTrust = ClientTrust;

/// PEM; empty: no CA of clients, and the file is kept. `None`: there is no such file.
#[derive(Debug, Serialize, Deserialize)]
pub struct ClientTrustParams {
    pub before: Option<String>,
    pub after: Option<String>,
}

impl ClientTrustParams {
    fn wanted(&self, direction: Direction) -> Option<&str> {
        if direction == Direction::Forward { self.after.as_deref() } else { self.before.as_deref() }
    }
}

/// Whether the running server has read the file; one that is down reads it at its start.
fn has_loaded(world: &mut World<'_>, name: &NodeName) -> Result<bool, StepError> {
    let node = world.node(name)?;
    let ours = node.spec().tls_dir.join(CLIENT_CA_FILE).display().to_string();
    match node.view() {
        // What is in use: of MySQL the variable is a wish until it reloads.
        Ok(view) if view.capabilities().live_tls_files => {
            Ok(view.status("current_tls_ca") == Some(ours.as_str()))
        }
        Ok(view) => Ok(view.offers_client_tls() && view.variable("ssl_ca") == Some(ours.as_str())),
        Err(NodeError::Down { .. }) => Ok(false),
        Err(error) => Err(fail(error)),
    }
}

/// What refers to the file, which the server would not start without.
fn in_use(world: &mut World<'_>, name: &NodeName) -> Result<Option<String>, StepError> {
    if has_loaded(world, name)? {
        return Ok(Some("ssl_ca of the running server".into()));
    }
    let node = world.node(name)?;
    let ours = node.spec().tls_dir.join(CLIENT_CA_FILE).display().to_string();
    let files = node.effective().map_err(fail)?;
    let is_named =
        files.effective("ssl_ca").is_some_and(|setting| setting.value.as_deref() == Some(ours.as_str()));
    Ok(is_named.then(|| "ssl_ca in an option file".into()))
}

fn is_so(world: &mut World<'_>, name: &NodeName, wanted: Option<&str>) -> Result<bool, StepError> {
    let node = world.member(name)?;
    let noted = client_ca(node)?;
    Ok(!is_placing(node)? && noted.as_deref() == wanted.map(str::as_bytes) && client_cas_are_kept(node)?)
}

impl StepKind for ClientTrust {
    fn kind(&self) -> &'static str {
        "client-trust"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: ClientTrustParams = params(step)?;
        let name = only_node(step)?;
        let wanted = wish.wanted(direction);
        // The file is so, and the server may not have been told: telling it again harms nothing.
        if is_so(world, &name, wanted)? && !has_loaded(world, &name)? {
            return Ok(StepCheck::AlreadyDone("set so, and the server has not loaded it yet".into()));
        }
        if wanted.is_none()
            && let Some(user) = in_use(world, &name)?
        {
            return Ok(StepCheck::Blocked(format!(
                "{name}: {CLIENT_CA_FILE} is not removed\n  why:  {user} refers to it, and the server would not start without\n  next: sealion status; \
                 undo what uses it first"
            )));
        }
        Ok(StepCheck::Ready)
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: ClientTrustParams = params(step)?;
        let name = only_node(step)?;
        let wanted = wish.wanted(direction);
        finish_placing(world.member(&name)?)?;
        if !is_so(world, &name, wanted)? {
            set_client_ca(world.member(&name)?, wanted.map(str::as_bytes))?;
        }
        if !has_loaded(world, &name)? {
            return Ok(());
        }
        world.node(&name)?.reload_tls().map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: ClientTrustParams = params(step)?;
        let name = only_node(step)?;
        let wanted = wish.wanted(direction);
        if !is_so(world, &name, wanted)? {
            return Err(fail(format!("{CLIENT_CA_FILE} on {name} is not as it was written")));
        }
        let read = if has_loaded(world, &name)? {
            "; the server has read it again"
        } else {
            "; the server reads it when its ssl_ca names it"
        };
        Ok(match wanted {
            None => format!("{CLIENT_CA_FILE} is removed"),
            Some("") => format!("{CLIENT_CA_FILE} has no CA of clients any more{read}"),
            Some(_) => format!("{CLIENT_CA_FILE} has the cluster's CA and the clients'{read}"),
        })
    }
}
