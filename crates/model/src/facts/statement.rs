//! What shapes of statements a server has been sent, by its own digests and the texts that it keeps: none of their values.

use crate::fact::facts;

facts! {
    /// Statements with a condition behind OR that holds for every row, or, in texts, with two numbers compared.
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
    /// Statements behind which another one came in the same packet; of MySQL only its general log tells.
    STACKED = "statement.stacked", Found, [Audit => All];
    /// Statements, of those whose text is kept, with a comment that cuts off or hides a part of them, or with a quote that is not closed or touches a word.
    COMMENT = "statement.comment", Found, [Audit => All];
    /// Statements, of those whose text is kept, that spell a string by the numbers of its characters.
    ENCODING = "statement.encoding", Found, [Audit => All];
    /// Accounts that were answered with several kinds of errors that injections end with.
    PROBING = "statement.probing", Found, [Audit => All];
    /// Rare statements that are a frequent one with more behind a value.
    DIVERGENCE = "statement.divergence", Found, [Audit => All];
}
