//! Members of a group of MySQL (Group Replication, InnoDB Cluster): no change knows how their links take other certificates.
//!
//! The group port and the channel of recovery have TLS settings of their own, take certificates when a member joins, and a member that
//! does not get in again stays OFFLINE or RECOVERING.
//!
//! Source: MySQL manual, Securing Group Communication Connections with SSL, and for Distributed Recovery. Seen: MySQL 9.7.4, where a member
//! that was restarted behind a new CA stayed OFFLINE, and one with `group_replication_recovery_use_ssl=OFF` and required TLS stayed RECOVERING.

use model::NodeName;

use super::{Problem, Seen, problem};
use crate::world::World;

/// It comes before all others: of a member nothing else matters.
pub(super) fn check(_: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    seen.up()
        .filter_map(|(name, view)| {
            let group = view.mysql_group()?;
            Some(problem(
                name,
                format!("it is a member of the MySQL group {group}"),
                "sealion does not change members of a group: their links take certificates when they join, and a member that cannot join \
                 again stays OFFLINE or RECOVERING",
                "leave its group out of the inventory, and change it by hand, a member at a time (MySQL manual, Securing Group Communication \
                 Connections); sealion audit checks its settings",
            ))
        })
        .collect()
}

/// A server that has become a member since the change began. Those that do not answer are told by the step itself.
pub(crate) fn joined(world: &mut World<'_>, nodes: &[NodeName]) -> Option<String> {
    nodes.iter().find_map(|name| {
        let view = world.node(name).ok()?.view().ok()?;
        let group = view.mysql_group()?;
        Some(format!(
            "{name} was made a member of the MySQL group {group} since the change began, and sealion does not change members of a group\n  \
             next: take it out of the group (STOP GROUP_REPLICATION; UNINSTALL PLUGIN group_replication), then sealion resume or sealion undo; \
             or leave it as it is: sealion abandon"
        ))
    })
}
