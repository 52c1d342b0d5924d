//! Who is connected (`SL21…`).

mod administrator;
mod before_certificate;
mod cleartext;
mod loopback;
mod replica;
mod since_start;
mod visible;
mod weak_tls;

pub use administrator::ADMINISTRATOR;
pub use before_certificate::BEFORE_CERTIFICATE;
pub use cleartext::CLEARTEXT;
pub use loopback::LOOPBACK;
pub use replica::REPLICA;
pub use since_start::SINCE_START;
pub use visible::VISIBLE;
pub use weak_tls::WEAK_TLS;
