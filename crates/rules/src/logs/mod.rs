//! What logs give away (`SL42…`).

mod general_log;
mod log_raw;

pub use general_log::GENERAL_LOG;
pub use log_raw::LOG_RAW;
