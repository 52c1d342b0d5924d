//! What shapes of statements a server has been sent, by its own digests: none of their values.

use crate::fact::facts;

facts! {
    /// Statements with a condition behind OR that holds for every row.
    TAUTOLOGY = "statement.tautology", Found, [Audit => All];
    /// Statements with a UNION behind a value, of values or of the server's own tables.
    UNION = "statement.union", Found, [Audit => All];
    /// Statements that make the server wait or work while they read something else.
    DELAY = "statement.delay", Found, [Audit => All];
    /// Statements with a function that is made to fail with what it should show.
    ERROR_TEXT = "statement.error_text", Found, [Audit => All];
    /// Statements that read or write files of the server.
    FILE = "statement.file", Found, [Audit => All];
    /// Statements that ask for characters of an answer one by one.
    INFERENCE = "statement.inference", Found, [Audit => All];
    /// Statements behind which another one came in the same packet; MySQL's digests do not tell.
    STACKED = "statement.stacked", Found, [Audit => MariaDb];
}
