//! Jobs of the machine, and clients' files on it (`SL5…`, `SL6…`).

mod any_host;
mod dumps_strippable;
mod login_files;
mod passwords;
mod streams_clear;
mod weak_encryption;

pub use any_host::ANY_HOST;
pub use dumps_strippable::DUMPS_STRIPPABLE;
pub use login_files::LOGIN_FILES;
pub use passwords::PASSWORDS;
pub use streams_clear::STREAMS_CLEAR;
pub use weak_encryption::WEAK_ENCRYPTION;
