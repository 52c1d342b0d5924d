//! What a migration to a managed server of AWS would be: its calls, in order, for this source. Printed only: they were never tried here.

use std::fmt::Write;
use std::path::Path;

use migrate::{ReplicationLogin, Server};
use site::OpsError;

/// In the place of a target's option file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cloud {
    Aurora,
    Rds,
}

impl Cloud {
    /// A file of that name is a file.
    pub fn of(to: &Path) -> Option<Self> {
        match to.to_str() {
            _ if to.exists() => None,
            Some("aurora") => Some(Self::Aurora),
            Some("rds") => Some(Self::Rds),
            _ => None,
        }
    }

    fn called(self, is_mariadb: bool) -> &'static str {
        match (self, is_mariadb) {
            (Self::Aurora, _) => "Aurora MySQL 3",
            (Self::Rds, true) => "RDS for MariaDB",
            (Self::Rds, false) => "RDS for MySQL",
        }
    }
}

/// What of the source decides.
struct Facts {
    version: String,
    is_mariadb: bool,
    binlog_format: String,
    lower_case_table_names: String,
    keeps_binlog_s: Option<u64>,
    writes_binlog: bool,
}

/// A replica that stands still for a night must find its place again.
const KEEPS_S_MIN: u64 = 24 * 3600;

/// Asks the source, and changes nothing.
///
/// # Errors
/// It cannot be asked, or native replication cannot get there.
pub fn plan(cloud: Cloud, from: &Path, follow_as: &Path, schemas: &[String]) -> Result<String, OpsError> {
    let source = crate::route::login(from)?;
    let login = crate::route::replication(follow_as, "source", "target")?;
    let asked = |error: net::NetError| {
        OpsError::cannot_look("the source cannot be asked", error.in_one_line(), "check its option file")
    };
    let mut client = net::Client::connect(&source).map_err(asked)?;
    let server = Server::of(&mut client).map_err(asked)?;
    let number = |key| server.variable(key).parse::<u64>().ok();
    let days = number("expire_logs_days").map(|days| days.saturating_mul(86_400));
    let facts = Facts {
        version: server.version.clone(),
        is_mariadb: server.version.contains("MariaDB"),
        binlog_format: server.variable("binlog_format").to_owned(),
        lower_case_table_names: server.variable("lower_case_table_names").to_owned(),
        keeps_binlog_s: number("binlog_expire_logs_seconds").or(days),
        writes_binlog: server.variable("log_bin") == "ON",
    };
    if cloud == Cloud::Aurora && facts.is_mariadb {
        return Err(OpsError::Refused(format!(
            "MariaDB {} cannot be followed by Aurora MySQL, nothing was changed\n  why:  MariaDB writes rows in events that MySQL does not \
             accept: MySQL 9.7 was tried, and its applier stops at the first one. Aurora itself was not tried\n  next: --to rds prints the \
             calls for RDS for MariaDB; or migrate with the writes stopped",
            facts.version
        )));
    }
    Ok(text(cloud, &facts, &login, schemas))
}

fn quoted(value: &str) -> String {
    net::sql_text::text(value)
}

fn text(cloud: Cloud, facts: &Facts, login: &ReplicationLogin, schemas: &[String]) -> String {
    let mut out = String::new();
    let mut say = |line: &str| {
        let _ = writeln!(out, "{line}");
    };
    let called = cloud.called(facts.is_mariadb);
    let (user, host) = (quoted(&login.user), quoted(&login.host));
    say(&format!("From {} to {called}: {}", facts.version, schemas.join(", ")));
    say("NOT TRIED HERE: sealion has no access to AWS. Taken from its documentation;");
    say("try it on a copy first. sealion migrate run does not do any of it.");
    say("");
    say("What these calls do not do: ssl_encryption = 1 encrypts replication, but the");
    say("certificate of the source is NOT verified (MASTER_SSL_VERIFY_SERVER_CERT is 0).");
    say("Who stands between can read all of it. Use a private way: VPN, Direct Connect,");
    say("peering. Without the last argument replication is in clear text.");
    say("");
    say("1. When the target is created; neither can be changed afterwards:");
    say("   storage encryption with a KMS key of yours (--storage-encrypted --kms-key-id)");
    say(&format!("   lower_case_table_names = {}", facts.lower_case_table_names));
    say("2. Parameter group of the target:");
    say("   require_secure_transport = ON    for everybody else who connects");
    say("   local_infile = 1                 while rows are loaded");
    if cloud == Cloud::Aurora {
        say("   binlog_format = ROW              (cluster) for a way back; it restarts");
    }
    say("3. On the source:");
    if !facts.writes_binlog {
        say("   log_bin is OFF: nothing can follow it. Turn it on, and restart");
    }
    if facts.binlog_format != "ROW" {
        say(&format!("   binlog_format is {}: SET GLOBAL binlog_format = ROW", facts.binlog_format));
    }
    match facts.keeps_binlog_s {
        Some(0) => say("   binary logs are kept until they are purged: purge none meanwhile"),
        Some(seconds) if seconds >= KEEPS_S_MIN => {
            say(&format!("   binary logs are kept for {} h: the load must end before", seconds / 3600));
        }
        Some(seconds) => say(&format!(
            "   binary logs are kept for {seconds} s only: SET GLOBAL\n   binlog_expire_logs_seconds = 259200"
        )),
        None => say("   how long binary logs are kept cannot be told: see that it is long enough"),
    }
    say("   if it is RDS itself:");
    say("     CALL mysql.rds_set_configuration('binlog retention hours', 72);");
    say(&format!("   CREATE USER {user}@'%' IDENTIFIED BY '…' REQUIRE SSL;"));
    say(&format!("   GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user}@'%';"));
    say("4. Load the schemas from one consistent snapshot over TLS, and keep its file and");
    say("   position. A dump file of it would hold every row in clear text.");
    say("5. On the target:");
    if cloud == Cloud::Aurora {
        say("   CALL mysql.rds_import_binlog_ssl_material(");
        say("     '{\"ssl_ca\":\"…\",\"ssl_cert\":\"…\",\"ssl_key\":\"…\"}');");
        say("   (Aurora 3 also has mysql.rds_set_binlog_source_ssl: see its reference)");
    }
    let word = if cloud == Cloud::Aurora { "source" } else { "master" };
    say(&format!("   CALL mysql.rds_set_external_{word}({host}, {}, {user},", login.port));
    say("     '…', 'FILE', POSITION, 1);");
    if cloud == Cloud::Rds && !facts.is_mariadb {
        say("   (RDS for MySQL 8.4 and newer: rds_set_external_source)");
    }
    say("   CALL mysql.rds_start_replication;");
    say("6. Watch both threads, not the error alone, which can be empty:");
    say(if facts.is_mariadb { "   SHOW SLAVE STATUS" } else { "   SHOW REPLICA STATUS" });
    say("   On the source, that its session is encrypted: REQUIRE SSL above lets no other in.");
    say("7. Compare every table at one position, with the target's applier stopped.");
    say("8. Source: SET GLOBAL read_only = ON; wait until the target is at its position.");
    say("   CALL mysql.rds_stop_replication;");
    say(&format!("   CALL mysql.rds_reset_external_{word};"));
    say("   Point the applications to the target. Nothing brings back what it takes then,");
    say("   unless the source follows it: set that up before the writes move.");
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(cloud: Cloud, is_mariadb: bool, keeps: Option<u64>) -> String {
        let facts = Facts {
            version: "8.4.3".into(),
            is_mariadb,
            binlog_format: "MIXED".into(),
            lower_case_table_names: "0".into(),
            keeps_binlog_s: keeps,
            writes_binlog: true,
        };
        let login = ReplicationLogin {
            host: "db1.example".into(),
            port: 3307,
            user: "repl".into(),
            password: "never shown".to_owned().into(),
            ca: "/ca.pem".into(),
        };
        text(cloud, &facts, &login, &["shop".into()])
    }

    #[test]
    fn every_plan_says_that_it_was_not_tried_and_that_nothing_is_verified() {
        for (cloud, is_mariadb, keeps) in [
            (Cloud::Aurora, false, Some(3600)),
            (Cloud::Rds, false, Some(0)),
            (Cloud::Rds, true, None),
            (Cloud::Rds, true, Some(864_000)),
        ] {
            let text = shown(cloud, is_mariadb, keeps);
            for what in ["NOT TRIED HERE", "NOT verified", "POSITION, 1);", "'db1.example', 3307, 'repl'"] {
                assert!(text.contains(what), "{what}: {text}");
            }
            assert!(!text.contains("never shown"), "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 84), "{text}");
        }
        let aurora = shown(Cloud::Aurora, false, Some(3600));
        assert!(
            aurora.contains("rds_set_external_source(") && aurora.contains("rds_import_binlog_ssl_material")
        );
        assert!(
            aurora.contains("kept for 3600 s only") && aurora.contains("binlog_format is MIXED"),
            "{aurora}"
        );
        assert!(shown(Cloud::Rds, true, None).contains("rds_reset_external_master"));
    }
}
