//! Statements whose shape or text speaks for an injection (`SL26…`), and accounts through which one would do harm.

mod comment;
mod delay;
mod divergence;
mod encoding;
mod error_text;
mod file;
mod inference;
mod probing;
mod reach;
mod stacked;
mod tautology;
mod union;

pub use comment::COMMENT;
pub use delay::DELAY;
pub use divergence::DIVERGENCE;
pub use encoding::ENCODING;
pub use error_text::ERROR_TEXT;
pub use file::FILE;
pub use inference::INFERENCE;
pub use probing::PROBING;
pub use reach::REACH;
pub use stacked::STACKED;
pub use tautology::TAUTOLOGY;
pub use union::UNION;

/// sealion changes no application.
const REMEDY: &str = "find the statement in the application and give its values as parameters (a prepared statement); where it is meant as it is, accept the finding in \
                      sealion.toml. TRUNCATE TABLE performance_schema.events_statements_summary_by_digest forgets what was";

const REMEDY_OF_ERRORS: &str = "find out in the logs of the application what it sent then, and give values as parameters (prepared statements); where it was you, TRUNCATE TABLE \
                                performance_schema.events_errors_summary_by_account_by_error forgets it";
