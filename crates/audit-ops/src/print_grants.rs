//! The least that an account needs so that nothing stays unknown for want of a privilege.

use std::fmt::Write;

use server::Capabilities;

/// A flavour whose grants can be printed without a server.
pub struct FlavourRow {
    /// As it is typed.
    pub name: &'static str,
    /// As it is written.
    pub(crate) title: &'static str,
    /// A version that we have tried.
    pub(crate) version: &'static str,
}

pub const FLAVOURS: &[FlavourRow] = &[
    FlavourRow { name: "mariadb", title: "MariaDB", version: "10.11.19-MariaDB" },
    FlavourRow { name: "mysql", title: "MySQL", version: "9.7.4" },
];

const ACCOUNT: &str = "'sealion_audit'@'localhost'";

/// Statements to paste.
pub fn print_grants(flavour: &FlavourRow) -> String {
    let capabilities = Capabilities::of(flavour.version, "", false);
    let mut out = format!(
        "-- {}: what sealion audit reads. No rows of users; but the hashes of passwords are in the grant tables, so\n\
         -- guard this account like one that administers. <NEW_PASSWORD> is yours to write, in quotes.\n",
        flavour.title
    );
    // Over the network TLS comes first; the socket has none.
    let _ = writeln!(
        out,
        "CREATE USER IF NOT EXISTS {ACCOUNT} IDENTIFIED BY <NEW_PASSWORD> WITH MAX_USER_CONNECTIONS 2;"
    );
    for grant in ::audit::grants(&capabilities) {
        let _ = writeln!(out, "{}", grant.statement(ACCOUNT));
    }
    let _ = writeln!(
        out,
        "-- For another host: the same for 'sealion_audit'@'HOST', with REQUIRE X509 or REQUIRE SSL."
    );
    out
}
