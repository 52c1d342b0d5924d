//! What a server says of its files by SQL alone, in numbers: no file is read, so it is a claim.

use disk::Family;
use report::shape::RestVerdictWord;
use server::NodeSpec;
use site::Cluster;

use super::sql::{self, Answers};

/// Files of one kind, and how many of them the server calls what. A switch (`innodb_encrypt_log`) counts as one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestClaim {
    pub what: &'static str,
    pub encrypted: u32,
    pub plain: u32,
    pub unknown: u32,
}

impl RestClaim {
    fn of(what: &'static str, words: impl IntoIterator<Item = RestVerdictWord>) -> Self {
        let mut claim = Self { what, ..Self::default() };
        for word in words {
            match word {
                RestVerdictWord::Encrypted => claim.encrypted += 1,
                RestVerdictWord::Plain => claim.plain += 1,
                _ => claim.unknown += 1,
            }
        }
        claim
    }
}

/// The kinds that a server has an answer for; other ones are left out.
pub const KINDS: [&str; 6] =
    ["tablespaces", "redo log", "undo log", "binary logs", "temporary tables", "Aria tables"];

/// Asks one server.
///
/// # Errors
/// Why not, in one line.
pub fn claims(cluster: &Cluster, node: &NodeSpec) -> Result<Vec<RestClaim>, String> {
    Ok(of(&sql::ask_node(cluster, node)?))
}

fn of(answers: &Answers) -> Vec<RestClaim> {
    let [tablespaces, redo, undo, binary_logs, temporary, aria] = KINDS;
    let switch = |what: &'static str, name: &str| {
        let word = match answers.variable(name) {
            "" => return None,
            "ON" | "1" => RestVerdictWord::Encrypted,
            "OFF" | "0" => RestVerdictWord::Plain,
            _ => RestVerdictWord::Unknown,
        };
        Some(RestClaim::of(what, [word]))
    };
    // A server lists its system tablespace at least; where the list is empty, this login may not see it.
    let spaces = RestClaim::of(tablespaces, answers.space_words());
    let mut claims = vec![spaces];
    let has_binary_logs = answers.is_on("log_bin");
    match answers.family() {
        Family::MariaDb => {
            claims.extend(switch(redo, "innodb_encrypt_log"));
            claims.extend(has_binary_logs.then(|| switch(binary_logs, "encrypt_binlog")).flatten());
            claims.extend(switch(temporary, "innodb_encrypt_temporary_tables"));
            claims.extend(switch(aria, "aria_encrypt_tables"));
        }
        Family::MySql => {
            claims.extend(switch(redo, "innodb_redo_log_encrypt"));
            claims.extend(switch(undo, "innodb_undo_log_encrypt"));
            let logs = RestClaim::of(binary_logs, answers.binlog_words());
            let is_listed = logs.encrypted + logs.plain + logs.unknown > 0;
            claims.extend(
                has_binary_logs
                    .then(|| if is_listed { Some(logs) } else { switch(binary_logs, "binlog_encryption") })
                    .flatten(),
            );
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_not_known_and_a_switch_that_is_off_is_plain() {
        let maria = Answers::of(
            &[
                ("aria_pagecache_buffer_size", "1"),
                ("innodb_encrypt_log", "ON"),
                ("log_bin", "ON"),
                ("encrypt_binlog", "OFF"),
            ],
            &[],
        );
        let claims = of(&maria);
        let one = |what: &str| {
            claims.iter().find(|claim| claim.what == what).map(|one| (one.encrypted, one.plain, one.unknown))
        };
        // No list of tablespaces came: nothing is known of any, and nothing is counted.
        assert_eq!(one("tablespaces"), Some((0, 0, 0)));
        assert_eq!(one("redo log"), Some((1, 0, 0)));
        assert_eq!(one("binary logs"), Some((0, 1, 0)));
        assert_eq!(one("Aria tables"), None, "this server has no such switch");
        assert_eq!(
            of(&Answers::of(&[("log_bin", "OFF")], &[])).len(),
            1,
            "no binary log, and no claim about one"
        );
    }
}
