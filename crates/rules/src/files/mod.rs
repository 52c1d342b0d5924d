//! Files that a server reads and writes for its users (`SL28…`).

mod file_reach;
mod local_infile;
mod persisted_secrets;
mod sample_schema;
mod suspicious_functions;
mod symbolic_links;
mod user_functions;

pub use file_reach::FILE_REACH;
pub use local_infile::LOCAL_INFILE;
pub use persisted_secrets::PERSISTED_SECRETS;
pub use sample_schema::SAMPLE_SCHEMA;
pub use suspicious_functions::SUSPICIOUS_FUNCTIONS;
pub use symbolic_links::SYMBOLIC_LINKS;
pub use user_functions::USER_FUNCTIONS;
