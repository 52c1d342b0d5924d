//! Jobs of a server's machine that dump, copy and send data, and login files of its users.

use crate::fact::facts;

facts! {
    /// Jobs that read a server over the network, from whose connection TLS can be taken away.
    DUMPS_STRIPPABLE = "job.dumps_strippable", Found, [Audit => All];
    /// Jobs that send data over the network as it is.
    STREAMS_CLEAR = "job.streams_clear", Found, [Audit => All];
    /// Jobs with a password in a line.
    PASSWORDS = "job.passwords", Found, [Audit => All];
    /// Jobs that encrypt with a key in a line, or with a weak derivation of one.
    WEAK_ENCRYPTION = "job.weak_encryption", Found, [Audit => All];
    /// Jobs whose ssh takes any host for the right one.
    ANY_HOST = "job.any_host", Found, [Audit => All];
    /// Login files of clients (.mylogin.cnf) that other users may read or write, with the users and hosts that they are for.
    LOGIN_FILES_OPEN = "job.login_files_open", Found, [Audit => All];
}
