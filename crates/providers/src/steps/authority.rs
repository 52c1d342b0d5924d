//! Makes the cluster's own CA on the operator's machine. Taking it back leaves it there: it opens nothing by itself,
//! and a CA that was used must not be lost by an undo.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};
use trust::{Ca, CaSpec, Signer};

use super::{StepKind, fail, params};
use crate::world::World;

pub struct Authority;
pub const AUTHORITY: Authority = Authority;

#[derive(Debug, Serialize, Deserialize)]
pub struct AuthorityParams {
    pub common_name: String,
}

fn opens(world: &World<'_>, signer: &Signer) -> String {
    let dir = world.authority.dir.display();
    match signer {
        Signer::Here(_) => format!("{dir} opens with its passphrase"),
        Signer::Elsewhere(_) => format!("certificates imported into {dir} are used"),
    }
}

impl StepKind for Authority {
    fn kind(&self) -> &'static str {
        "authority"
    }

    fn stays(&self) -> bool {
        true
    }

    fn check(&self, world: &mut World<'_>, _: &Step, direction: Direction) -> Result<StepCheck, StepError> {
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone("the CA stays where it is".into()));
        }
        if !world.authority.dir.join(trust::CA_CERT_FILE).exists() {
            return Ok(StepCheck::Ready);
        }
        Ok(match Signer::open(&world.authority.dir, &world.authority.passphrase) {
            Ok(signer) => StepCheck::AlreadyDone(opens(world, &signer)),
            Err(error) => StepCheck::Blocked(error.to_string()),
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, _: Direction) -> Result<(), StepError> {
        let AuthorityParams { common_name } = params(step)?;
        let spec = CaSpec { common_name, valid_days: world.authority.ca_days, key: world.authority.key };
        let ca = Ca::create(&spec, world.unix_s()).map_err(fail)?;
        ca.save(&world.authority.dir, &world.authority.passphrase).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, _: &Step, _: Direction) -> Result<String, StepError> {
        let signer = Signer::open(&world.authority.dir, &world.authority.passphrase).map_err(fail)?;
        Ok(opens(world, &signer))
    }
}
