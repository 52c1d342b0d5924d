//! Whether a node's `address` is one of its machine: a wrong one would stand in its certificate, and links would be looked for there. It may be
//! translated on the way, so it is told and refuses nothing.

use std::net::IpAddr;

use host::ports::addresses;
use model::NodeName;

use super::Problem;
use crate::world::World;

/// So many of a machine's addresses are named.
const NAMED_MAX: usize = 6;

/// What its reader is told; nothing of a name, or where the machine does not tell.
pub fn look(world: &mut World<'_>, plan: &model::Plan) -> (Vec<Problem>, Vec<String>) {
    if !plan.changes_anything() {
        return (vec![], vec![]);
    }
    let names: Vec<NodeName> = world.all_names();
    let told = names.iter().filter_map(|name| {
        let member = world.member(name).ok()?;
        let address: IpAddr = member.spec().address.parse().ok()?;
        let pid = member.process()?.pid;
        let own = addresses(member.host(), Some(pid)).ok().filter(|own| !own.is_empty())?;
        let is_own = address.is_loopback() || own.contains(&address.to_canonical());
        let listed: Vec<String> = own.iter().take(NAMED_MAX).map(ToString::to_string).collect();
        (!is_own).then(|| {
            format!(
                "{name}: its address in the inventory, {address}, is none of its machine ({}{}); unless it is translated on the way, correct it: it \
                 goes into the certificate",
                listed.join(", "),
                if own.len() > NAMED_MAX { ", …" } else { "" }
            )
        })
    });
    let told = told.collect();
    (vec![], told)
}
