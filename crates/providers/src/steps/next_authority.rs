//! Makes the CA that will replace the cluster's, beside it on the operator's machine. Taking it back leaves it there: nobody
//! trusts it by then, and the next rollover takes it.

use change::{Direction, StepCheck, StepError};
use model::Step;
use serde::{Deserialize, Serialize};
use trust::CaSpec;

use super::{StepKind, fail, params};
use crate::rollover::{self, Which};
use crate::world::World;

pub struct NextAuthority;
pub const NEXT_AUTHORITY: NextAuthority = NextAuthority;

#[derive(Debug, Serialize, Deserialize)]
struct NextAuthorityParams {
    old_sha256: String,
    common_name: String,
}

impl StepKind for NextAuthority {
    fn kind(&self) -> &'static str {
        "next-authority"
    }

    fn stays(&self) -> bool {
        true
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        if direction == Direction::Back {
            return Ok(StepCheck::AlreadyDone("the next CA stays where it is".into()));
        }
        let NextAuthorityParams { old_sha256, .. } = params(step)?;
        let rollover = rollover::of(world, &old_sha256);
        if !rollover.is_made().map_err(fail)? {
            return Ok(StepCheck::Ready);
        }
        Ok(match rollover.open_new(&world.authority.passphrase) {
            Ok(_) => StepCheck::AlreadyDone("the next CA is there and opens".into()),
            Err(error) => StepCheck::Blocked(error.to_string()),
        })
    }

    fn act(&self, world: &mut World<'_>, step: &Step, _: Direction) -> Result<(), StepError> {
        let NextAuthorityParams { old_sha256, common_name } = params(step)?;
        let spec = CaSpec { common_name, valid_days: world.authority.ca_days, key: world.authority.key };
        let now = world.unix_s();
        rollover::of(world, &old_sha256).make(&spec, &world.authority.passphrase, now).map_err(fail)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, _: Direction) -> Result<String, StepError> {
        let NextAuthorityParams { old_sha256, .. } = params(step)?;
        rollover::of(world, &old_sha256).open_new(&world.authority.passphrase).map_err(fail)?;
        let pem = rollover::pem(world, &old_sha256, Which::New)?;
        if rollover::is_over(world, &pem)? {
            return Err(fail(format!(
                "the next CA in {} has expired\n  why:  it was made for an earlier rollover\n  next: move that directory away, then sealion resume",
                world.authority.dir.join("next").display()
            )));
        }
        Ok("the next CA opens with its passphrase".into())
    }
}
