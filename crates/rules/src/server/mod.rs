//! Servers and their files (`SL2…`).

mod certificate_begun;
mod certificate_expiry;
mod files_present;
mod key_mode;
mod key_owner;
mod key_pair;
mod offers_tls;
mod requires_tls;

pub use certificate_begun::CERTIFICATE_BEGUN;
pub use certificate_expiry::CERTIFICATE_EXPIRY;
pub use files_present::FILES_PRESENT;
pub use key_mode::KEY_MODE;
pub use key_owner::KEY_OWNER;
pub use key_pair::KEY_PAIR;
pub use offers_tls::OFFERS_TLS;
pub use requires_tls::REQUIRES_TLS;
