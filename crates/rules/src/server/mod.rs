//! Servers and their files (`SL2…`).

mod admin_port;
mod certificate_begun;
mod certificate_expiry;
mod client_ca;
mod client_crl;
mod command_line;
mod files_present;
mod key_mode;
mod key_owner;
mod key_pair;
mod offers_tls;
mod old_versions;
mod proxy_networks;
mod requires_tls;
mod rsa_key;
mod validity;
mod weak_ciphers;
mod x_protocol;

pub use admin_port::ADMIN_PORT;
pub use certificate_begun::CERTIFICATE_BEGUN;
pub use certificate_expiry::CERTIFICATE_EXPIRY;
pub use client_ca::CLIENT_CA;
pub use client_crl::CLIENT_CRL;
pub use command_line::COMMAND_LINE;
pub use files_present::FILES_PRESENT;
pub use key_mode::KEY_MODE;
pub use key_owner::KEY_OWNER;
pub use key_pair::KEY_PAIR;
pub use offers_tls::OFFERS_TLS;
pub use old_versions::OLD_VERSIONS;
pub use proxy_networks::PROXY_NETWORKS;
pub use requires_tls::REQUIRES_TLS;
pub use rsa_key::RSA_KEY;
pub use validity::VALIDITY;
pub use weak_ciphers::WEAK_CIPHERS;
pub use x_protocol::X_PROTOCOL;
