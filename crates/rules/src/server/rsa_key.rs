//! No password is sent without TLS under an RSA key.

use model::Severity;
use model::facts::server;

use crate::FactRule;

pub const RSA_KEY: FactRule = FactRule {
    id: "SL2019",
    title: "No password is sent without TLS under an RSA key",
    severity: Severity::Medium,
    references: &["MySQL manual: Caching SHA-2 Pluggable Authentication"],
    explanation: "Without TLS caching_sha2_password encrypts the password with an RSA key that the server sends in cleartext. Somebody in the middle sends his own key instead and reads the password.",
    remedy: "require_secure_transport=ON in the [mysqld] group of the option file; then caching_sha2_password_auto_generate_rsa_keys=OFF",
    fact: &server::PASSWORD_RSA_KEY,
    judge: |value| {
        crate::verdicts::no(value, "the server hands out an RSA key, and logins without TLS are accepted")
    },
};
