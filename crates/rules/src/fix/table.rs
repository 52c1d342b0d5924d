//! What mends a finding, by its rule. A rule that has no row here is mended by hand: its remedy is a decision, or work on a client.

use super::{At, Fix, Stage};

type FixOf = fn(&At<'_>) -> Option<Fix>;

/// In the order of the ids. `None`: this finding is mended by hand, though others of the rule are not.
pub const FIXES: &[(&str, FixOf)] = &[
    ("SL1122", |_| Some(Fix::command(Stage::OfferTls, "sealion rotate clients"))),
    ("SL1123", |_| Some(Fix::command(Stage::OfferTls, "sealion rotate clients"))),
    ("SL1124", |_| Some(Fix::command(Stage::OfferTls, "sealion enable clients"))),
    ("SL1125", |at| {
        // Names of one's own are a decision; a certificate that nobody has issued gets those of the inventory.
        at.fails.contains("SL1124").then(|| Fix::command(Stage::OfferTls, "sealion enable clients"))
    }),
    ("SL2001", |_| Some(Fix::command(Stage::OfferTls, "sealion enable clients"))),
    ("SL2002", |_| Some(require_tls())),
    ("SL2003", |_| Some(Fix::command(Stage::OfferTls, "sealion rotate clients"))),
    ("SL2010", |_| Some(Fix::command(Stage::OfferTls, "sealion enable clients"))),
    // X Protocol follows it too.
    ("SL2015", |_| Some(require_tls())),
    ("SL2017", |_| Some(Fix::line("tls_version=TLSv1.2,TLSv1.3"))),
    ("SL2018", |_| Some(Fix::line(STRONG_CIPHERS))),
    ("SL2019", |_| Some(require_tls())),
    ("SL2023", |_| Some(Fix::command(Stage::OfferTls, "sealion enable clients"))),
    ("SL2024", |at| {
        // A file that cannot be used, or of which that is not known, is replaced or checked by hand before it is loaded.
        let is_bad = ["SL2025", "SL2006", "SL2008"].iter().any(|rule| at.fails.contains(rule));
        if is_bad || at.why.contains(crate::server::served_is_file::NOT_JUDGED) {
            return None;
        }
        let reload = if at.is_mariadb { "FLUSH SSL" } else { "ALTER INSTANCE RELOAD TLS" };
        Some(Fix::sql(Stage::OfferTls, [reload.to_owned()]))
    }),
    ("SL2107", |_| Some(Fix::command(Stage::Channels, "sealion enable replication"))),
    ("SL2110", |_| Some(Fix::line("performance_schema=ON"))),
    ("SL2201", |at| require_ssl(at, Stage::Accounts)),
    ("SL2204", new_password),
    ("SL2205", |at| {
        Some(Fix::sql(Stage::Accounts, [format!("DROP USER {}", at.account?)]).decide("nobody must use it"))
    }),
    ("SL2206", |at| {
        let renamed = format!("RENAME USER {} TO {}@'<CLIENT_NETWORK>'", at.account?, at.user()?);
        Some(Fix::sql(Stage::Hosts, [renamed]).decide("clients from elsewhere are locked out; views, routines, triggers and events with it as their DEFINER fail until they have the new name"))
    }),
    ("SL2207", new_password),
    ("SL2208", new_password),
    ("SL2209", new_password),
    ("SL2210", |at| require_ssl(at, Stage::Accounts)),
    ("SL2214", |at| {
        // What comes through a role is taken from the role, and from everybody who has it.
        (!at.why.contains("(role") && !at.why.contains("PUBLIC")).then_some(())?;
        let revoke = format!("REVOKE FILE ON *.* FROM {}", at.account?);
        Some(Fix::sql(Stage::Accounts, [revoke]).decide("whoever uses it must not need files of the server"))
    }),
    ("SL2219", |at| {
        Some(Fix::sql(
            Stage::Settings,
            [if at.is_mariadb {
                "INSTALL PLUGIN IF NOT EXISTS simple_password_check SONAME 'simple_password_check'"
            } else {
                "INSTALL COMPONENT 'file://component_validate_password'"
            }
            .to_owned()],
        ))
    }),
    // Behind the new passwords: one that is older than this expires at once.
    ("SL2220", |_| {
        Some(
            Fix::set(Stage::Expiry, "default_password_lifetime", "365")
                .decide("passwords that are older than a year expire at once: change those first"),
        )
    }),
    ("SL2221", |at| {
        Some(if at.is_mariadb {
            Fix::set(Stage::Settings, "max_password_errors", "100")
        } else {
            Fix::sql(Stage::Settings, ["INSTALL COMPONENT 'file://component_connection_control'".to_owned()])
        })
    }),
    ("SL2223", |at| {
        // Privileges that are too many are revoked one by one.
        at.why.starts_with("it may log in without TLS").then_some(())?;
        require_ssl(at, Stage::ReplicationAccounts)
    }),
    ("SL2227", |_| Some(Fix::set(Stage::Expiry, "password_history", "5"))),
    ("SL2230", |_| {
        Some(Fix::set(Stage::Settings, "secure_auth", "ON").decide("accounts with an old hash cannot log in"))
    }),
    ("SL2231", |_| Some(Fix::set(Stage::Settings, "strict_password_validation", "ON"))),
    ("SL2232", |_| {
        Some(Fix::line("skip_name_resolve=ON").decide("accounts whose host is a name are locked out"))
    }),
    ("SL2233", |_| Some(Fix::set(Stage::Settings, "old_passwords", "0"))),
    ("SL2234", |_| Some(Fix::set(Stage::Expiry, "password_require_current", "ON"))),
    ("SL2615", |_| {
        let install = "INSTALL PLUGIN IF NOT EXISTS server_audit SONAME 'server_audit'";
        Some(of_plugin(Stage::Settings, &[install], "server_audit_logging", "ON"))
    }),
    ("SL2810", |_| {
        Some(
            Fix::line("secure_file_priv=<DIRECTORY>")
                .decide("LOAD DATA and INTO OUTFILE work in that directory only"),
        )
    }),
    ("SL2811", |_| {
        Some(Fix::set(Stage::Settings, "local_infile", "OFF").decide("LOAD DATA LOCAL ends for everybody"))
    }),
    ("SL2812", |_| {
        Some(Fix::line("skip-symbolic-links").decide("tables that are links are not found any more"))
    }),
    ("SL2816", |_| Some(Fix::line("persist_sensitive_variables_in_plaintext=OFF"))),
    ("SL3001", |_| Some(Fix::command(Stage::Channels, "sealion enable galera"))),
    ("SL3002", |_| Some(Fix::command(Stage::Channels, "sealion enable sst"))),
    ("SL3011", |_| Some(Fix::command(Stage::Channels, "sealion enable replication"))),
    ("SL3012", |_| Some(Fix::command(Stage::Channels, "sealion enable replication"))),
    ("SL3013", |_| Some(Fix::command(Stage::Channels, "sealion enable replication"))),
    ("SL3014", |_| Some(Fix::command(Stage::Channels, "sealion enable replication"))),
    ("SL3302", |_| Some(of_plugin(Stage::Channels, &[], "group_replication_recovery_use_ssl", "ON"))),
    ("SL3307", |_| Some(of_plugin(Stage::Channels, &[], "group_replication_recovery_get_public_key", "OFF"))),
    ("SL4001", |at| {
        // Of MySQL: table by table.
        at.is_mariadb.then_some(())?;
        // Threads leave tables alone that were made with ENCRYPTED=NO.
        if at.fails.contains("SL4020") {
            return Some(Fix::command(Stage::Settings, "sealion enable tables,logs"));
        }
        at_rest(at, Fix::lines(&["innodb_encrypt_tables=FORCE", "innodb_encryption_threads=4"]))
    }),
    ("SL4003", |at| {
        at_rest(
            at,
            if at.is_mariadb {
                Fix::line("innodb_encrypt_tables=FORCE")
            } else {
                Fix::set(Stage::Settings, "default_table_encryption", "ON")
            },
        )
    }),
    ("SL4004", |at| {
        at_rest(
            at,
            if at.is_mariadb {
                Fix::line("innodb_encrypt_log=ON")
            } else {
                Fix::set(Stage::Settings, "innodb_redo_log_encrypt", "ON")
            },
        )
    }),
    ("SL4005", |at| at_rest(at, Fix::set(Stage::Settings, "innodb_undo_log_encrypt", "ON"))),
    ("SL4006", |at| {
        at_rest(
            at,
            if at.is_mariadb {
                Fix::line("encrypt_binlog=ON")
            } else {
                Fix::set(Stage::Settings, "binlog_encryption", "ON")
            },
        )
    }),
    ("SL4008", |at| at_rest(at, Fix::line("encrypt_tmp_files=ON"))),
    ("SL4010", |at| at_rest(at, Fix::line("aria_encrypt_tables=ON"))),
    ("SL4011", |at| Some(or_sealion(at, Fix::set(Stage::Settings, "innodb_encryption_threads", "4")))),
    ("SL4014", |at| at_rest(at, Fix::line("encrypt_tmp_disk_tables=ON"))),
    ("SL4015", |_| Some(Fix::set(Stage::Settings, "innodb_encryption_rotate_key_age", "1"))),
    ("SL4016", |_| Some(Fix::set(Stage::Settings, "table_encryption_privilege_check", "ON"))),
    ("SL4018", |at| at_rest(at, Fix::line("innodb_encrypt_temporary_tables=ON"))),
    ("SL4019", |_| Some(Fix::set(Stage::Settings, "innodb_file_per_table", "ON"))),
    ("SL4020", |_| Some(Fix::command(Stage::Settings, "sealion enable tables,logs"))),
    ("SL4101", |at| {
        // A keyring of MySQL is a file beside its program.
        at.is_mariadb.then_some(())?;
        Some(or_sealion(
            at,
            Fix::lines(&[
                "plugin_load_add=file_key_management",
                "file_key_management_filename=<KEYS>",
                "file_key_management_filekey=FILE:<KEYS_PASSWORD>",
                "file_key_management_encryption_algorithm=AES_CTR",
            ])
            .decide("make the two files first (sealion explain SL4104), one of them on another disk than the data (SL4103), and keep a copy off this machine: without them nobody reads the data"),
        ))
    }),
    ("SL4201", |_| Some(Fix::set(Stage::Logs, "general_log", "OFF"))),
    ("SL4202", |_| Some(Fix::set(Stage::Logs, "log_raw", "OFF"))),
    ("SL4205", |at| {
        let name = if at.is_mariadb { "binlog_annotate_row_events" } else { "binlog_rows_query_log_events" };
        Some(Fix::set(Stage::Logs, name, "OFF").decide("tools that read statements from the binary log"))
    }),
    ("SL4206", |_| {
        Some(
            Fix::set(Stage::Logs, "binlog_format", "ROW")
                .decide("replicas must be able to read rows; sessions that are open keep their format"),
        )
    }),
    ("SL4207", |_| {
        let off = "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE 'events\\_statements\\_history%'";
        Some(Fix {
            option_lines: ["history", "history_long"]
                .map(|name| format!("performance_schema_consumer_events_statements_{name}=OFF"))
                .to_vec(),
            ..Fix::sql(Stage::Logs, [off.to_owned()])
        })
    }),
    ("SL4208", |_| {
        Some(Fix {
            sql: [
                "SET GLOBAL log_output = 'FILE'",
                // Each server has logs of its own: on a replica its source does not know of it.
                "SET SESSION sql_log_bin = 0",
                "TRUNCATE TABLE mysql.general_log",
                "TRUNCATE TABLE mysql.slow_log",
                "SET SESSION sql_log_bin = 1",
            ]
            .map(str::to_owned)
            .to_vec(),
            decide: Some("what stands in both tables is lost"),
            ..Fix::set(Stage::Logs, "log_output", "FILE")
        })
    }),
    ("SL4217", |_| {
        Some(Fix::set(Stage::Logs, "slow_query_log", "OFF").decide("whoever looks for slow statements there"))
    }),
    ("SL4219", |at| {
        let (name, value) = if at.is_mariadb { ("log_warnings", "2") } else { ("log_error_verbosity", "3") };
        Some(Fix::set(Stage::Settings, name, value))
    }),
    ("SL4220", |_| {
        Some(
            Fix::set(Stage::Settings, "binlog_expire_logs_seconds", "2592000")
                .decide("replicas and backups must have read what is older than 30 days"),
        )
    }),
];

const STRONG_CIPHERS: &str = "ssl_cipher=ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
     ECDHE-RSA-AES256-GCM-SHA384";

/// A variable that a plugin brings: without it a line that does not say `loose` keeps the server from starting.
fn of_plugin(stage: Stage, before: &[&str], name: &str, value: &str) -> Fix {
    let set = format!("SET GLOBAL {name} = {value}");
    let statements = before.iter().map(|&sql| sql.to_owned()).chain([set]);
    Fix { option_lines: vec![format!("loose_{name}={value}")], ..Fix::sql(stage, statements) }
}

/// Of MariaDB the key provider comes with the same restart; MySQL's has to be there before.
fn at_rest(at: &At<'_>, fix: Fix) -> Option<Fix> {
    (at.is_mariadb || !at.fails.contains("SL4101")).then_some(or_sealion(at, fix))
}

/// Of MariaDB one command does all of it, with keys that have a copy before anything needs them.
fn or_sealion(at: &At<'_>, fix: Fix) -> Fix {
    Fix { or_command: at.is_mariadb.then_some("sealion enable tables,logs"), ..fix }
}

fn require_tls() -> Fix {
    Fix {
        or_command: Some("sealion enable clients"),
        ..Fix::set(Stage::Require, "require_secure_transport", "ON")
    }
}

fn require_ssl(at: &At<'_>, stage: Stage) -> Option<Fix> {
    Some(
        Fix::sql(stage, [format!("ALTER USER {} REQUIRE SSL", at.account?)]).decide(
            "who uses it over the Unix socket has to use TLS there, too: such sessions are not listed",
        ),
    )
}

/// One statement for all of them: a new password under a plugin whose hash is sound.
fn new_password(at: &At<'_>) -> Option<Fix> {
    let account = at.account?;
    let is_weak = ["SL2207", "SL2208", "SL2209"].iter().any(|rule| at.fails.contains(rule));
    let statements = match (at.is_mariadb, is_weak) {
        (true, true) => {
            vec![format!("ALTER USER {account} IDENTIFIED VIA ed25519 USING PASSWORD(<NEW_PASSWORD>)")]
        }
        (false, true) => {
            vec![format!("ALTER USER {account} IDENTIFIED WITH caching_sha2_password BY <NEW_PASSWORD>")]
        }
        (_, false) => vec![format!("ALTER USER {account} IDENTIFIED BY <NEW_PASSWORD>")],
    };
    let why = match (at.is_mariadb, is_weak) {
        (true, true) => {
            "its clients must get the new password, and must know the plugin; the binary log keeps the password as it is sent, and a replica that \
             cannot apply the statement writes it to its error log: where there is either, give the hash (IDENTIFIED VIA ed25519 USING 'HASH')"
        }
        (true, false) => {
            "its clients must get the new password; the binary log keeps it as it is sent, and a replica that cannot apply the statement writes it to \
             its error log: where there is either, give the hash (IDENTIFIED BY PASSWORD 'HASH')"
        }
        (false, true) => "its clients must get the new password, and must know the plugin",
        (false, false) => "its clients must get the new password",
    };
    let plugins = match (at.is_mariadb, is_weak) {
        (true, true) => vec!["INSTALL PLUGIN IF NOT EXISTS ed25519 SONAME 'auth_ed25519'"],
        _ => vec![],
    };
    Some(Fix { plugins, ..Fix::sql(Stage::Accounts, statements).decide(why) })
}
