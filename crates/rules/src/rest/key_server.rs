//! The key server is asked over TLS.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const KEY_SERVER: FactRule = FactRule {
    id: "SL4107",
    title: "The key server is asked over TLS",
    severity: Severity::High,
    references: &["MariaDB manual: Hashicorp Key Management Plugin"],
    explanation: "With a URL of http:// the token and the keys cross the network in cleartext.",
    remedy: "an https:// URL of the key server, and its CA by hashicorp_key_management_vault_ca",
    fact: &rest::KEY_SERVER_CLEARTEXT,
    judge: crate::verdicts::absent,
};
