//! Extension types. Source: IANA "TLS ExtensionType Values".

pub const SERVER_NAME: u16 = 0;
pub const MAX_FRAGMENT_LENGTH: u16 = 1;
pub const STATUS_REQUEST: u16 = 5;
pub const SUPPORTED_GROUPS: u16 = 10;
pub const EC_POINT_FORMATS: u16 = 11;
pub const SIGNATURE_ALGORITHMS: u16 = 13;
pub const HEARTBEAT: u16 = 15;
pub const ALPN: u16 = 16;
pub const SIGNED_CERTIFICATE_TIMESTAMP: u16 = 18;
pub const PADDING: u16 = 21;
pub const ENCRYPT_THEN_MAC: u16 = 22;
pub const EXTENDED_MASTER_SECRET: u16 = 23;
pub const SESSION_TICKET: u16 = 35;
pub const PRE_SHARED_KEY: u16 = 41;
pub const EARLY_DATA: u16 = 42;
pub const SUPPORTED_VERSIONS: u16 = 43;
pub const COOKIE: u16 = 44;
pub const PSK_KEY_EXCHANGE_MODES: u16 = 45;
pub const POST_HANDSHAKE_AUTH: u16 = 49;
pub const SIGNATURE_ALGORITHMS_CERT: u16 = 50;
pub const KEY_SHARE: u16 = 51;
pub const RENEGOTIATION_INFO: u16 = 0xff01;

/// Names of extensions, sorted by type.
#[rustfmt::skip]
pub static EXTENSIONS: &[(u16, &str)] = &[
    (0, "server_name"),
    (1, "max_fragment_length"),
    (2, "client_certificate_url"),
    (3, "trusted_ca_keys"),
    (4, "truncated_hmac"),
    (5, "status_request"),
    (6, "user_mapping"),
    (7, "client_authz"),
    (8, "server_authz"),
    (9, "cert_type"),
    (10, "supported_groups"),
    (11, "ec_point_formats"),
    (12, "srp"),
    (13, "signature_algorithms"),
    (14, "use_srtp"),
    (15, "heartbeat"),
    (16, "application_layer_protocol_negotiation"),
    (17, "status_request_v2"),
    (18, "signed_certificate_timestamp"),
    (19, "client_certificate_type"),
    (20, "server_certificate_type"),
    (21, "padding"),
    (22, "encrypt_then_mac"),
    (23, "extended_master_secret"),
    (24, "token_binding"),
    (25, "cached_info"),
    (26, "tls_lts"),
    (27, "compress_certificate"),
    (28, "record_size_limit"),
    (29, "pwd_protect"),
    (30, "pwd_clear"),
    (31, "password_salt"),
    (32, "ticket_pinning"),
    (33, "tls_cert_with_extern_psk"),
    (34, "delegated_credential"),
    (35, "session_ticket"),
    (36, "TLMSP"),
    (37, "TLMSP_proxying"),
    (38, "TLMSP_delegate"),
    (39, "supported_ekt_ciphers"),
    (41, "pre_shared_key"),
    (42, "early_data"),
    (43, "supported_versions"),
    (44, "cookie"),
    (45, "psk_key_exchange_modes"),
    (47, "certificate_authorities"),
    (48, "oid_filters"),
    (49, "post_handshake_auth"),
    (50, "signature_algorithms_cert"),
    (51, "key_share"),
    (52, "transparency_info"),
    (54, "connection_id"),
    (55, "external_id_hash"),
    (56, "external_session_id"),
    (57, "quic_transport_parameters"),
    (58, "ticket_request"),
    (59, "dnssec_chain"),
    (60, "sequence_number_encryption_algorithms"),
    (61, "rrc"),
    (13172, "next_protocol_negotiation"),
    (17513, "application_settings"),
    (64768, "ech_outer_extensions"),
    (65037, "encrypted_client_hello"),
    (65281, "renegotiation_info"),
];
