//! Members of a group of MySQL (Group Replication, InnoDB Cluster): no change knows how their links take other certificates.
//!
//! The group port and the channel of recovery have TLS settings of their own, take certificates when a member joins, and a member that
//! does not get in again stays OFFLINE or RECOVERING.
//!
//! Source: MySQL manual, Securing Group Communication Connections with SSL, and for Distributed Recovery. Seen: MySQL 9.7.4, where a member
//! that was restarted behind a new CA stayed OFFLINE, and one with `group_replication_recovery_use_ssl=OFF` and required TLS stayed RECOVERING.

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
