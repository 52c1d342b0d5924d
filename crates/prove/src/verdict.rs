//! What a connection to the rogue comes to, judged from the server's side alone.

use std::fmt;

use crate::attack::{Attack, BeforeTls};
use crate::talk::{Given, Over, Seen};

/// From harmless to worst, in the order in which a person wants to see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No connection was made: nothing is known of the client.
    NotConnected,
    /// Nothing but, maybe, the wish for TLS was sent.
    RefusedAfterGreeting,
    /// In or after the handshake of TLS, before the login: nothing but a ClientHello was sent.
    RefusedInHandshake,
    /// User name and answer to the nonce were sent, then it refused: a password can be guessed from them offline.
    LoginThenRefused(Over),
    /// A command arrived.
    Accepted(Over),
    /// The file that was asked for, and that the client had not offered.
    FileObtained(Over),
    /// The password itself.
    PasswordObtained(Over),
}

impl Verdict {
    pub fn of(seen: &Seen) -> Self {
        if let Some(Given { over, is_right: true }) = seen.password {
            return Self::PasswordObtained(over);
        }
        if let Some(Given { over, is_right: true }) = seen.file {
            return Self::FileObtained(over);
        }
        if let Some(over) = seen.command {
            return Self::Accepted(over);
        }
        match seen.login {
            Some(over) => Self::LoginThenRefused(over),
            None if seen.finished_tls || seen.tls_failure.is_some() => Self::RefusedInHandshake,
            None => Self::RefusedAfterGreeting,
        }
    }

    /// The client went along with what is an attack, or gave a guessable answer to somebody whom it then refused.
    pub fn is_fall(self, attack: &Attack) -> bool {
        // There the certificate is right, and to log in is no fall: to go on unanswered is.
        let may_log_in = attack.before_tls == BeforeTls::Ok;
        attack.is_fall
            && match self {
                Self::NotConnected | Self::RefusedAfterGreeting | Self::RefusedInHandshake => false,
                Self::LoginThenRefused(Over::Tls) => !may_log_in,
                Self::LoginThenRefused(Over::Clear)
                | Self::Accepted(_)
                | Self::FileObtained(_)
                | Self::PasswordObtained(_) => true,
            }
    }

    /// The letters of the matrix.
    pub fn letters(self) -> &'static str {
        match self {
            Self::NotConnected => "-",
            Self::RefusedAfterGreeting => "G",
            Self::RefusedInHandshake => "T",
            Self::LoginThenRefused(Over::Clear) => "cP",
            Self::LoginThenRefused(Over::Tls) => "cT",
            Self::Accepted(Over::Clear) => "AP",
            Self::Accepted(Over::Tls) => "AT",
            Self::FileObtained(_) => "FILE",
            Self::PasswordObtained(_) => "PW",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotConnected => "did not connect",
            Self::RefusedAfterGreeting => "refused after the greeting, nothing given away",
            Self::RefusedInHandshake => "refused in the TLS handshake, nothing given away",
            Self::LoginThenRefused(Over::Clear) => {
                "user name and password answer sent in clear text, then refused"
            }
            Self::LoginThenRefused(Over::Tls) => "user name and password answer sent over TLS, then refused",
            Self::Accepted(Over::Clear) => "accepted, in clear text",
            Self::Accepted(Over::Tls) => "accepted, over TLS",
            Self::FileObtained(_) => "a file was obtained that the client had not offered",
            Self::PasswordObtained(Over::Clear) => {
                "the password was obtained, in clear text or under the rogue's key"
            }
            Self::PasswordObtained(Over::Tls) => "the password was obtained, over TLS that ends at the rogue",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_that_was_seen_counts() {
        let right = |over| Some(Given { over, is_right: true });
        let check = |seen: Seen, letters: &str| assert_eq!(Verdict::of(&seen).letters(), letters, "{seen:?}");
        let nothing = Seen::default();
        check(nothing.clone(), "G");
        check(Seen { asked_for_tls: true, ..nothing.clone() }, "G");
        check(Seen { tls_failure: Some("alert".into()), ..nothing.clone() }, "T");
        check(Seen { finished_tls: true, ..nothing.clone() }, "T");
        let login = Seen { login: Some(Over::Clear), ..nothing.clone() };
        check(login.clone(), "cP");
        check(Seen { login: Some(Over::Tls), ..nothing }, "cT");
        let command = Seen { command: Some(Over::Clear), ..login.clone() };
        check(command.clone(), "AP");
        check(Seen { file: right(Over::Clear), ..command.clone() }, "FILE");
        check(Seen { password: right(Over::Clear), file: right(Over::Clear), ..command.clone() }, "PW");
        // Something else than the password is no password.
        check(Seen { password: Some(Given { over: Over::Clear, is_right: false }), ..command }, "AP");
        check(login, "cP");
    }
}
