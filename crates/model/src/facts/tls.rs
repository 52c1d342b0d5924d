//! What a port showed to somebody without a password.

use crate::fact::facts;

facts! {
    /// Whether the port offers TLS.
    TLS_OFFERED = "tls.offered", YesNo, [Scan => All];
    /// Whether SSL 2.0 is accepted.
    TLS_VERSION_SSL2 = "tls.version.ssl2", YesNo, [Scan => All];
    /// Whether SSL 3.0 is accepted.
    TLS_VERSION_SSL3 = "tls.version.ssl3", YesNo, [Scan => All];
    /// Whether TLS 1.0 or 1.1 is accepted.
    TLS_VERSION_OLD = "tls.version.old", YesNo, [Scan => All];
    /// Whether TLS 1.3 is accepted.
    TLS_VERSION_TLS13 = "tls.version.tls13", YesNo, [Scan => All];
    /// Cipher suites without encryption or without authentication that were accepted.
    TLS_SUITES_NONE = "tls.suites.none", Found, [Scan => All];
    /// Export cipher suites that were accepted.
    TLS_SUITES_EXPORT = "tls.suites.export", Found, [Scan => All];
    /// Cipher suites with RC4 that were accepted.
    TLS_SUITES_RC4 = "tls.suites.rc4", Found, [Scan => All];
    /// Cipher suites with blocks of 64 bits that were accepted.
    TLS_SUITES_SMALL_BLOCKS = "tls.suites.small_blocks", Found, [Scan => All];
    /// Cipher suites without forward secrecy that were accepted.
    TLS_SUITES_STATIC_KEY = "tls.suites.static_key", Found, [Scan => All];
    /// The size of the finite-field group of DHE cipher suites.
    TLS_DH_BITS = "tls.dh_bits", Bits, [Scan => All];
    /// Whether TLS compression is accepted.
    TLS_COMPRESSION = "tls.compression", YesNo, [Scan => All];
    /// Whether renegotiation is bound to its session (RFC 5746).
    TLS_SECURE_RENEGOTIATION = "tls.secure_renegotiation", YesNo, [Scan => All];
    /// Whether a client may begin a renegotiation; absent where nobody gets in without a certificate.
    TLS_CLIENT_RENEGOTIATION = "tls.client_renegotiation", YesNo, [Scan => All];
    /// Whether a needless fallback to an older version is refused (RFC 7507).
    TLS_FALLBACK_SCSV = "tls.fallback_scsv", YesNo, [Scan => All];
    /// Whether the extended master secret is used (RFC 7627).
    TLS_EXTENDED_MASTER_SECRET = "tls.extended_master_secret", YesNo, [Scan => All];
    /// Whether heartbeats are answered (RFC 6520).
    TLS_HEARTBEAT = "tls.heartbeat", YesNo, [Scan => All];
    /// Whether TLS 1.0 is accepted with CBC cipher suites.
    TLS_BEAST = "tls.beast", YesNo, [Scan => All];
    /// Whether a hybrid group is accepted that resists quantum computers.
    TLS_QUANTUM_SAFE_GROUP = "tls.quantum_safe_group", YesNo, [Scan => All];
    /// Whether a heartbeat gives away memory (CVE-2014-0160).
    TLS_HEARTBLEED = "tls.heartbleed", YesNo, [Scan => All];
    /// Whether an early ChangeCipherSpec is accepted (CVE-2014-0224).
    TLS_EARLY_CCS = "tls.early_ccs", YesNo, [Scan => All];
    /// Whether the answers tell right from wrong RSA padding.
    TLS_ROBOT = "tls.robot", YesNo, [Scan => All];
    /// How many days the certificate is still valid; a text where it is not valid yet.
    TLS_CERTIFICATE_EXPIRES_IN_DAYS = "tls.certificate.expires_in_days", Days, [Scan => All];
    /// What is weak about the certificate's key.
    TLS_CERTIFICATE_WEAK_KEY = "tls.certificate.weak_key", Found, [Scan => All, Audit => All];
    /// What is weak about the certificate's signature.
    TLS_CERTIFICATE_WEAK_SIGNATURE = "tls.certificate.weak_signature", Found, [Scan => All, Audit => All];
    /// Why nobody stands behind the certificate: self-signed, or made by the server at its first start.
    TLS_CERTIFICATE_OF_NOBODY = "tls.certificate.of_nobody", Found, [Scan => All, Audit => All];
    /// For whom the certificate is, where that is not the target.
    TLS_CERTIFICATE_NAME_MISMATCH = "tls.certificate.name_mismatch", Found, [Scan => All, Audit => All];
    /// Why the named CA does not vouch for the certificate.
    TLS_CERTIFICATE_UNTRUSTED = "tls.certificate.untrusted", Found, [Scan => All];
    /// Whether a Galera port answers in cleartext only.
    GALERA_PLAIN = "galera.plain", YesNo, [Scan => Galera];
    /// Whether a Galera port takes both TLS and cleartext.
    GALERA_DYNAMIC = "galera.dynamic", YesNo, [Scan => Galera];
    /// Whether a Group Replication port answers in cleartext.
    GROUP_REPLICATION_PLAIN = "group_replication.plain", YesNo, [Scan => MySql];
}
