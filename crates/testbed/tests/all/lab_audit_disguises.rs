//! What an audit fell for: accounts and modes of servers under which it said pass, or nothing, and was wrong.
#![allow(clippy::unwrap_used)]

use testbed::real::bundled::Bundled;
use testbed::real::{LabSpec, RealLab, lab_slot};

use crate::lab_audit::{Expected, audit};

/// Accounts that passed, or were not spoken of, until somebody tried to make the audit lie; on both flavours.
pub const DISGUISED: &[Expected] = &[
    ("SL2206", "account 'half'@'0.0.0.0/128.0.0.0'"),
    ("SL2206", "account 'under'@'__.__._._'"),
    ("SL2214", "account 'plain'@'10.99.0.1'"),
    ("SL2216", "account 'col'@'10.99.0.1'"),
    ("SL2216", "account 'beside'@'localhost'"),
    ("SL2223", "account 'rep2'@'10.99.0.1'"),
    ("SL2223", "account 'rep3'@'10.99.0.1'"),
];
pub const DISGUISED_MARIADB: &[Expected] = &[
    ("SL2201", "account 'upper'@'%'"),
    ("SL2202", "account 'ciph'@'10.99.0.1'"),
    ("SL2202", "account 'setu'@'%'"),
    ("SL2210", "account 'pamup'@'%'"),
    ("SL2215", "account 'setu'@'%'"),
    ("SL2215", "account 'rsm'@'%'"),
];
pub const DISGUISED_MYSQL: &[Expected] = &[("SL2202", "account 'rsm'@'%'"), ("SL2215", "account 'rsm'@'%'")];
pub const DISGUISES: &[&str] = &[
    "CREATE USER half@'0.0.0.0/128.0.0.0' IDENTIFIED BY 'x'",
    "CREATE USER under@'__.__._._' IDENTIFIED BY 'x'",
    "CREATE USER plain@'10.99.0.1' IDENTIFIED BY 'x'",
    "CREATE USER col@'10.99.0.1' IDENTIFIED BY 'x'",
    "GRANT SELECT (User, Host, authentication_string) ON mysql.user TO col@'10.99.0.1'",
    "CREATE USER beside@localhost IDENTIFIED BY 'x'",
    "GRANT SELECT ON mysql.* TO ''@localhost",
    "CREATE USER rep2@'10.99.0.1' IDENTIFIED BY 'x' REQUIRE SSL",
    "GRANT REPLICATION SLAVE ON *.* TO rep2@'10.99.0.1'",
    "GRANT ALL ON app.* TO rep2@'10.99.0.1'",
    "CREATE ROLE rr",
    "GRANT REPLICATION SLAVE ON *.* TO rr",
    "CREATE USER rep3@'10.99.0.1' IDENTIFIED BY 'x'",
    "GRANT rr TO rep3@'10.99.0.1'",
    "CREATE USER 'unauthenticated user'@'%'",
];
/// What a server can do to the sessions that it lets in, so that rows are cut or changed and no error is seen.
pub const MODES: &[&str] = &[
    "SET GLOBAL sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,NO_BACKSLASH_ESCAPES', GLOBAL sql_select_limit = 2",
    "SET GLOBAL max_join_size = 1",
];
/// MariaDB only.
pub const EMPTY_IS_NULL: &str = "SET GLOBAL sql_mode = 'EMPTY_STRING_IS_NULL'";
/// The same for accounts without SUPER, as the printed one is.
pub const INIT_CONNECT: &str =
    "SET GLOBAL init_connect = 'SET sql_mode=\"PAD_CHAR_TO_FULL_LENGTH\", sql_select_limit=1'";

/// What 11.8 stores for an empty password is a hash as any other.
#[test]
fn an_empty_password_is_found_behind_its_hash() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    let server = Bundled::start(&lab, "mariadb-11.8", 13_356, &[]);
    server.run(&[
        "INSTALL SONAME 'auth_ed25519'",
        "INSTALL SONAME 'auth_parsec'",
        "CREATE USER empty@'%' IDENTIFIED VIA ed25519 USING PASSWORD('')",
        "CREATE USER forgotten@'%' IDENTIFIED VIA ed25519",
        "CREATE USER second@'%' IDENTIFIED VIA unix_socket OR ed25519",
        "CREATE USER good@'%' IDENTIFIED VIA ed25519 USING PASSWORD('a Long 1 password!')",
        "CREATE USER salted@'%' IDENTIFIED VIA Parsec",
    ]);
    let seen = audit(&lab, &server, "root");
    let said: Vec<(&str, &str)> = seen
        .findings()
        .filter(|one| one.0 == "SL2204" && one.2.ends_with("'@'%'"))
        .map(|one| (one.2.split('\'').nth(1).unwrap(), one.1))
        .collect();
    for (user, verdict) in [
        ("empty", "fail"),
        ("forgotten", "fail"),
        ("second", "fail"),
        ("good", "pass"),
        ("salted", "unknown"),
    ] {
        assert!(said.contains(&(user, verdict)), "{user} is not {verdict}: {said:?}");
    }
}
