//! A running MySQL takes key, certificate and CA: in the file for the next start, and live.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};
use server::{NodeView, TlsFiles};

use crate::edit::{FileEdit, FileStand};
use crate::files::{CERT_FILE, PEM_BYTES_MAX};
use crate::replication::other_ports;
use crate::steps::{StepKind, fail, only_node, params};
use crate::tls_rules::{self, RulesChange};
use crate::world::World;

pub struct LiveFiles;
pub const LIVE_FILES: LiveFiles = LiveFiles;

#[derive(Debug, Serialize, Deserialize)]
pub struct LiveFilesParams {
    pub edit: FileEdit,
    pub before: TlsFiles,
    pub after: TlsFiles,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<RulesChange>,
}

impl LiveFilesParams {
    fn wanted(&self, direction: Direction) -> &TlsFiles {
        if direction == Direction::Forward { &self.after } else { &self.before }
    }

    /// Why the running server is not as wished; `None` if it is.
    fn differs(&self, view: &NodeView, direction: Direction) -> Option<String> {
        let found = in_use(view);
        if found != *self.wanted(direction) {
            return Some(format!("it still uses {}", found.cert));
        }
        tls_rules::differs(self.rules.as_ref(), view, direction)
    }
}

/// What is in use: the variables are a wish until ALTER INSTANCE RELOAD TLS.
pub fn in_use(view: &NodeView) -> TlsFiles {
    let text = |name: &str| view.status(name).unwrap_or("").to_owned();
    TlsFiles { ca: text("current_tls_ca"), cert: text("current_tls_cert"), key: text("current_tls_key") }
}

impl StepKind for LiveFiles {
    fn kind(&self) -> &'static str {
        "live-files"
    }

    fn certificates(&self, step: &Step) -> Option<[String; 2]> {
        params(step).ok().map(|live: LiveFilesParams| [live.before.cert, live.after.cert])
    }

    fn client_cas(&self, step: &Step) -> Option<[String; 2]> {
        params(step).ok().map(|live: LiveFilesParams| [live.before.ca, live.after.ca])
    }

    fn rules(&self, step: &Step) -> Option<RulesChange> {
        params(step).ok().and_then(|one: LiveFilesParams| one.rules)
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let wish: LiveFilesParams = params(step)?;
        let node = world.node(&only_node(step)?)?;
        let stand = wish.edit.stand(node).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(wish.edit.foreign(node)));
        }
        let view = node.view().map_err(fail)?;
        let is_so = stand.is_so(direction) && wish.differs(&view, direction).is_none();
        Ok(if is_so {
            StepCheck::AlreadyDone("set so, in the file and live".into())
        } else {
            StepCheck::Ready
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let wish: LiveFilesParams = params(step)?;
        let name = only_node(step)?;
        crate::steps::write(world, &name, &wish.edit, direction)?;
        let rules = tls_rules::wanted(wish.rules.as_ref(), direction);
        world.node(&name)?.set_tls_files(wish.wanted(direction), rules).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let wish: LiveFilesParams = params(step)?;
        let name = only_node(step)?;
        let view = world.node(&name)?.view().map_err(fail)?;
        if let Some(why) = wish.differs(&view, direction) {
            return Err(fail(format!("its certificate, versions and suites were set, and {why}")));
        }
        let rules = tls_rules::wanted(wish.rules.as_ref(), direction);
        let rules = tls_rules::seen_from_outside(world, &name, rules)?;
        let admin = other_ports::admin_at_end(world, &name, &view)?;
        let ends = rules + &admin + &other_ports::at_end(&view);
        if direction == Direction::Back {
            return Ok(format!("it uses {} again{ends}", in_use(&view).cert));
        }
        Ok(served_is_ours(world, step)? + &ends)
    }
}

/// The certificate that clients are served is the one in its file.
pub fn served_is_ours(world: &mut World<'_>, step: &Step) -> Result<String, StepError> {
    let node = world.node(&only_node(step)?)?;
    let path = node.spec().tls_dir.join(CERT_FILE);
    let file = node.host().read(&path, PEM_BYTES_MAX).map_err(fail)?;
    let file = file.ok_or_else(|| fail(format!("{} is gone", path.display())))?;
    let served = node.client_leaf().map_err(fail)?;
    let serial = |pem: &[u8]| {
        let chain = trust::inspect(pem).map_err(fail)?;
        let leaf = chain.into_iter().next().ok_or_else(|| fail("there is no certificate"))?;
        Ok::<_, StepError>(leaf.serial_hex)
    };
    let (file, served) = (serial(&file)?, serial(served.as_bytes())?);
    if file != served {
        return Err(fail(format!(
            "{} serves another certificate than {}: serial {served}, not {file}",
            node.name(),
            path.display()
        )));
    }
    Ok(format!("it serves the certificate with serial {served} to clients"))
}
