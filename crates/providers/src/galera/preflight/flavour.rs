//! Only what the capability table says can be rolled; [sst] and client options are spelled by flavour and version, too.

use server::Trust;

use super::{Problem, Seen, problem};
use crate::world::World;

pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let allow = world.allow_untested;
    seen.up()
        .filter_map(|(name, view)| {
            let row = view.capabilities();
            let title = format!("{} {}", row.flavour, view.version());
            match row.galera_tls_roll {
                Trust::Tested => None,
                Trust::Expected if allow => None,
                Trust::Expected => Some(problem(
                    name,
                    format!("{title} was not tried by us"),
                    "it is expected to work like the versions that we ran (docs: reference/versions)",
                    "try it on a copy first, then add --allow-untested",
                )),
                Trust::Refused(why) => Some(problem(
                    name,
                    format!("{title} is not changed by this version"),
                    why,
                    "follow that server's own manual; sealion status works there",
                )),
            }
        })
        .collect()
}
