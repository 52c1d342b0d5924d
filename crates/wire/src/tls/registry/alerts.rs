//! Alerts. Sources: IANA "TLS Alerts", RFC 8446 6, RFC 5246 7.2 and, for 41, SSL 3.0 (RFC 6101 5.4).

pub const LEVEL_WARNING: u8 = 1;
pub const LEVEL_FATAL: u8 = 2;

pub const CLOSE_NOTIFY: u8 = 0;
pub const UNEXPECTED_MESSAGE: u8 = 10;
pub const BAD_RECORD_MAC: u8 = 20;
/// TLS 1.0; later versions say 20 instead, so that nobody learns from it where decryption failed.
pub const DECRYPTION_FAILED: u8 = 21;
pub const HANDSHAKE_FAILURE: u8 = 40;
pub const ILLEGAL_PARAMETER: u8 = 47;
pub const DECODE_ERROR: u8 = 50;
pub const DECRYPT_ERROR: u8 = 51;
pub const PROTOCOL_VERSION: u8 = 70;
pub const INSUFFICIENT_SECURITY: u8 = 71;
pub const INTERNAL_ERROR: u8 = 80;
pub const INAPPROPRIATE_FALLBACK: u8 = 86;
/// RFC 5246 7.2.2: a warning.
pub const NO_RENEGOTIATION: u8 = 100;
pub const UNRECOGNIZED_NAME: u8 = 112;
pub const CERTIFICATE_REQUIRED: u8 = 116;

/// Descriptions of alerts, sorted by code.
#[rustfmt::skip]
pub static ALERTS: &[(u8, &str)] = &[
    (0, "close_notify"),
    (10, "unexpected_message"),
    (20, "bad_record_mac"),
    (21, "decryption_failed"),
    (22, "record_overflow"),
    (30, "decompression_failure"),
    (40, "handshake_failure"),
    (41, "no_certificate"),
    (42, "bad_certificate"),
    (43, "unsupported_certificate"),
    (44, "certificate_revoked"),
    (45, "certificate_expired"),
    (46, "certificate_unknown"),
    (47, "illegal_parameter"),
    (48, "unknown_ca"),
    (49, "access_denied"),
    (50, "decode_error"),
    (51, "decrypt_error"),
    (52, "too_many_cids_requested"),
    (60, "export_restriction"),
    (70, "protocol_version"),
    (71, "insufficient_security"),
    (80, "internal_error"),
    (86, "inappropriate_fallback"),
    (90, "user_canceled"),
    (100, "no_renegotiation"),
    (109, "missing_extension"),
    (110, "unsupported_extension"),
    (111, "certificate_unobtainable"),
    (112, "unrecognized_name"),
    (113, "bad_certificate_status_response"),
    (114, "bad_certificate_hash_value"),
    (115, "unknown_psk_identity"),
    (116, "certificate_required"),
    (117, "general_error"),
    (120, "no_application_protocol"),
    (121, "ech_required"),
];
