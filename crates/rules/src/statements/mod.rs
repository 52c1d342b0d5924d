//! Statements whose shape speaks for an injection (`SL26…`): what the server keeps of them, without their values.

mod delay;
mod error_text;
mod file;
mod inference;
mod stacked;
mod tautology;
mod union;

pub use delay::DELAY;
pub use error_text::ERROR_TEXT;
pub use file::FILE;
pub use inference::INFERENCE;
pub use stacked::STACKED;
pub use tautology::TAUTOLOGY;
pub use union::UNION;

/// sealion changes no application.
const REMEDY: &str = "find the statement in the application and give its values as parameters (a prepared statement); where it is meant as it is, accept the finding in \
                      sealion.toml. TRUNCATE TABLE performance_schema.events_statements_summary_by_digest forgets what was";
