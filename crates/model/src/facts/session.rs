//! Who is connected. The subject is a user with the host that its sessions come from.

use crate::fact::facts;

facts! {
    /// How many sessions use no TLS.
    SESSION_CLEARTEXT = "session.cleartext", Count, [Audit => All];
    /// From where the sessions come: socket, loopback or network.
    SESSION_FROM = "session.from", Word, [Audit => All];
    /// Whether the sessions are replicas or tools that read the binary log.
    SESSION_IS_REPLICA = "session.is_replica", YesNo, [Audit => All];
    /// Whether the user has an account with administrative privileges.
    SESSION_IS_ADMINISTRATOR = "session.is_administrator", YesNo, [Audit => All];
    /// TLS versions and cipher suites of open sessions that are out of date.
    SESSION_WEAK_TLS = "session.weak_tls", Found, [Audit => All];
    /// Accounts that logged in over TCP without TLS since the server counts.
    LOGINS_CLEARTEXT = "logins.cleartext", Found, [Audit => All];
    /// Whether the server keeps how each session is connected.
    SESSIONS_VISIBLE = "sessions.visible", YesNo, [Audit => All];
    /// Sessions that are older than the certificate that is served now.
    SESSION_BEFORE_CERTIFICATE = "sessions.before_certificate", Found, [Audit => All];
}
