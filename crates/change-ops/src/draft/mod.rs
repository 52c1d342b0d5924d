//! `sealion config inventory`: a first sealion.toml for the cluster of one server: it is asked who else there is, and they are.

mod survey;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

use site::OpsError;
use site::inventory::Cluster;

use survey::{NotSurveyed, Place};

/// The text of an inventory for the cluster of the one server in `cluster`. `login_file` is named as the place of user
/// and password. Lines that a person must check say so. `trusts_found`: servers that others named are given the password itself where
/// they want it and cannot be verified.
///
/// # Errors
/// `CannotLook` when that server does not answer.
pub fn draft(cluster: &Cluster, login_file: Option<&Path>, trusts_found: bool) -> Result<String, OpsError> {
    let node = cluster
        .nodes
        .first()
        .ok_or_else(|| OpsError::usage("no server was named", "-h and -S are not given", "give -h HOST"))?;
    let named = survey::ask(&cluster.login_at(node), node.port).map_err(|error| {
        let what = match error {
            // Source: MySQL's error reference, ER_ACCESS_DENIED_*: a login that is refused. MariaDB has the same numbers.
            net::NetError::Refused { code: 1044 | 1045 | 1698 | 3118 | 4151, .. } => {
                format!("{} does not let {} in", node.name, cluster.login.user)
            }
            net::NetError::Unreachable { .. } | net::NetError::TimedOut { .. } => {
                format!("{} cannot be reached", node.name)
            }
            _ => format!("{} does not say what it is a member of", node.name),
        };
        OpsError::cannot_look(
            what,
            error.in_one_line(),
            "check host, port, user and password (as for mariadb), then run the same command again",
        )
    })?;
    let first = Place { address: node.address.clone(), port: node.port };
    let survey = survey::survey(first, named, |place| {
        let options = survey::options_at(&cluster.login, place, trusts_found);
        survey::ask(&options, place.port).map_err(|error| {
            let why = error.in_one_line();
            // What `net` says of a login without TLS is not the reason here.
            let is_kept = !trusts_found && why.contains("does not send it without TLS");
            let answered = !matches!(error, net::NetError::Unreachable { .. } | net::NetError::TimedOut { .. });
            let why = if is_kept {
                "it was not verified and wants the password itself: verify it with --ssl-mode=VERIFY_CA and --ssl-ca, \
                 or send the password with --trust-found"
                    .to_owned()
            } else {
                why
            };
            NotSurveyed { why, answered }
        })
    });
    Ok(text::text(&survey, login_file))
}
