//! Refuses (or again allows) clients without TLS: in the file for the next start, and live.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};

use super::{StepKind, fail, only_node, params};
use crate::edit::{FileEdit, FileStand};
use crate::proxies;
use crate::world::World;

pub struct Require;
pub const REQUIRE: Require = Require;

#[derive(Debug, Serialize, Deserialize)]
pub struct RequireParams {
    pub edit: FileEdit,
    pub before: bool,
    pub after: bool,
}

impl RequireParams {
    fn wanted(&self, direction: Direction) -> bool {
        if direction == Direction::Forward { self.after } else { self.before }
    }
}

impl StepKind for Require {
    fn kind(&self) -> &'static str {
        "require"
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let require: RequireParams = params(step)?;
        let node = world.node(&only_node(step)?)?;
        let view = node.view().map_err(fail)?;
        let stand = require.edit.stand(node).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(require.edit.foreign(node)));
        }
        let file_is_so = stand.is_so(direction);
        let live_is_so = view.requires_secure_transport() == require.wanted(direction);
        if require.wanted(direction) && !view.offers_client_tls() {
            return Ok(StepCheck::Blocked(format!(
                "{} does not offer TLS to clients, so nobody could connect over TCP\n  why:  have_ssl is {}\n  next: sealion enable clients",
                node.name(),
                view.variable("have_ssl").unwrap_or("not set")
            )));
        }
        Ok(if file_is_so && live_is_so {
            StepCheck::AlreadyDone("set so, in the file and live".into())
        } else {
            StepCheck::Ready
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let require: RequireParams = params(step)?;
        let name = only_node(step)?;
        let wanted = require.wanted(direction);
        // The first one shows it to the proxies for all.
        let is_first = wanted
            && !world.proxies.is_empty()
            && !world
                .views()
                .iter()
                .any(|(_, view)| view.as_ref().is_ok_and(server::NodeView::requires_secure_transport));
        let up = if is_first { proxies::seen_up(world, &name)? } else { vec![] };
        super::write(world, &name, &require.edit, direction)?;
        world.node(&name)?.set_require_secure_transport(wanted).map_err(fail)?;
        let Some(why) = proxies::check_fails(world, &name, &up)? else { return Ok(()) };
        world.node(&name)?.set_require_secure_transport(false).map_err(fail)?;
        Err(fail(format!(
            "{name} was set to refuse cleartext, a proxy's health check failed, and it was set back\n  why:  {why}: `option mysql-check user` of \
             HAProxy logs in without TLS, and with every node so its clients would be sent nowhere\n  next: check without a login (`option tcp-check`), \
             then sealion resume; or sealion undo"
        )))
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let require: RequireParams = params(step)?;
        let wanted = require.wanted(direction);
        let node = world.node(&only_node(step)?)?;
        let view = node.view().map_err(fail)?;
        // What counts at the next start is the last line of all files, not the one that was just written.
        let effective = node.effective().map_err(fail)?;
        if let Some(setting) = effective.effective("require_secure_transport")
            && direction == Direction::Forward
            && setting.is_on() != wanted
        {
            return Err(fail(format!(
                "{}:{} says otherwise, and wins at the next start",
                setting.file.display(),
                setting.line
            )));
        }
        if view.requires_secure_transport() == wanted {
            return Ok(format!("require_secure_transport={}", if wanted { "ON" } else { "OFF" }));
        }
        Err(fail("require_secure_transport was set and reads back otherwise"))
    }
}
