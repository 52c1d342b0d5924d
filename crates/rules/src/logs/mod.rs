//! What logs give away (`SL42…`).

mod audit_events;
mod audit_plugin;
mod binlog_expiry;
mod binlog_format;
mod binlog_secrets;
mod core_file;
mod file_secrets;
mod general_log;
mod history;
mod history_secrets;
mod log_modes;
mod log_raw;
mod log_tables;
mod refused_logins;
mod row_statements;
mod slow_log;

pub use audit_events::AUDIT_EVENTS;
pub use audit_plugin::AUDIT_PLUGIN;
pub use binlog_expiry::BINLOG_EXPIRY;
pub use binlog_format::BINLOG_FORMAT;
pub use binlog_secrets::BINLOG_SECRETS;
pub use core_file::CORE_FILE;
pub use file_secrets::FILE_SECRETS;
pub use general_log::GENERAL_LOG;
pub use history::HISTORY;
pub use history_secrets::HISTORY_SECRETS;
pub use log_modes::LOG_MODES;
pub use log_raw::LOG_RAW;
pub use log_tables::LOG_TABLES;
pub use refused_logins::REFUSED_LOGINS;
pub use row_statements::ROW_STATEMENTS;
pub use slow_log::SLOW_LOG;
