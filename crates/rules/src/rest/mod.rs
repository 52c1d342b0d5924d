//! What the server is set to encrypt on its disk, by its own word (`SL40…`, `SL41…`). What the files hold is `sealion status rest`'s.

mod algorithm;
mod aria;
mod binlog;
mod block_mode;
mod encryption_check;
mod file_key;
mod key_provider;
mod key_threads;
mod new_tables;
mod old_binlogs;
mod redo;
mod rotate_key_age;
mod tablespaces;
mod temporary_files;
mod temporary_tables;
mod temporary_tables_on_disk;
mod undo;

pub use algorithm::ALGORITHM;
pub use aria::ARIA;
pub use binlog::BINLOG;
pub use block_mode::BLOCK_MODE;
pub use encryption_check::ENCRYPTION_CHECK;
pub use file_key::FILE_KEY;
pub use key_provider::KEY_PROVIDER;
pub use key_threads::KEY_THREADS;
pub use new_tables::NEW_TABLES;
pub use old_binlogs::OLD_BINLOGS;
pub use redo::REDO;
pub use rotate_key_age::ROTATE_KEY_AGE;
pub use tablespaces::TABLESPACES;
pub use temporary_files::TEMPORARY_FILES;
pub use temporary_tables::TEMPORARY_TABLES;
pub use temporary_tables_on_disk::TEMPORARY_TABLES_ON_DISK;
pub use undo::UNDO;
