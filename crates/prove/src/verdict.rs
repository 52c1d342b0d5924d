//! What a connection to the rogue comes to, judged from the server's side alone.

use std::fmt;

use crate::attack::{Attack, BeforeTls, Protocol};
use crate::talk::{Channel, Disclosure, TalkRecord};

/// From harmless to worst, in the order in which a person wants to see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No connection was made: nothing is known of the client.
    NotConnected,
    /// Nothing was sent except, perhaps, the request for TLS.
    RefusedAfterGreeting,
    /// In or after the handshake of TLS, before the login: nothing but a ClientHello was sent.
    RefusedInHandshake,
    /// User name and answer to the nonce were sent, then it refused: a password can be guessed from them offline.
    LoginThenRefused(Channel),
    /// A command arrived.
    Accepted(Channel),
    /// The file that was asked for, and that the client had not offered.
    FileObtained(Channel),
    /// The password itself.
    PasswordObtained(Channel),
}

impl Verdict {
    pub fn of(seen: &TalkRecord) -> Self {
        if let Some(Disclosure { over, is_right: true }) = seen.password {
            return Self::PasswordObtained(over);
        }
        if let Some(Disclosure { over, is_right: true }) = seen.file {
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
                Self::LoginThenRefused(Channel::Tls) => !may_log_in,
                Self::LoginThenRefused(Channel::Clear)
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
            Self::LoginThenRefused(Channel::Clear) => "cP",
            Self::LoginThenRefused(Channel::Tls) => "cT",
            Self::Accepted(Channel::Clear) => "AP",
            Self::Accepted(Channel::Tls) => "AT",
            Self::FileObtained(_) => "FILE",
            Self::PasswordObtained(_) => "PW",
        }
    }
}

impl Verdict {
    /// As a sentence. A client that speaks first logs in nowhere and waits for no greeting.
    pub fn text(self, protocol: Protocol) -> &'static str {
        match (self, protocol) {
            (Self::NotConnected, _) => "did not connect",
            (Self::RefusedAfterGreeting, Protocol::MySql) => "closed after the greeting; no credentials sent",
            (Self::RefusedAfterGreeting, Protocol::Stream) => "closed without TLS; no data sent",
            (Self::RefusedInHandshake, Protocol::MySql) => "closed in the TLS handshake; no credentials sent",
            (Self::RefusedInHandshake, Protocol::Stream) => "closed in the TLS handshake; no data sent",
            (Self::LoginThenRefused(Channel::Clear), _) => {
                "user name and password response sent in cleartext, then closed"
            }
            (Self::LoginThenRefused(Channel::Tls), _) => {
                "user name and password response sent over TLS, then closed"
            }
            (Self::Accepted(Channel::Clear), Protocol::MySql) => "login completed in cleartext",
            (Self::Accepted(Channel::Clear), Protocol::Stream) => "data sent in cleartext",
            (Self::Accepted(Channel::Tls), Protocol::MySql) => "login completed over TLS",
            (Self::Accepted(Channel::Tls), Protocol::Stream) => "data sent over TLS",
            (Self::FileObtained(_), _) => "file obtained that the client had not offered",
            (Self::PasswordObtained(Channel::Clear), _) => {
                "password obtained, in cleartext or encrypted with the rogue server's key"
            }
            (Self::PasswordObtained(Channel::Tls), _) => {
                "password obtained, over TLS that ends at the rogue server"
            }
        }
    }

    /// What the letters mean, in as few words as a legend has room for.
    pub fn legend(self) -> &'static str {
        match self {
            Self::NotConnected => "did not connect",
            Self::RefusedAfterGreeting => "closed after the greeting",
            Self::RefusedInHandshake => "closed in the TLS handshake",
            Self::LoginThenRefused(Channel::Clear) => "password response sent in cleartext, then closed",
            Self::LoginThenRefused(Channel::Tls) => "password response sent over TLS, then closed",
            Self::Accepted(Channel::Clear) => "accepted in cleartext",
            Self::Accepted(Channel::Tls) => "accepted over TLS",
            Self::FileObtained(_) => "file obtained",
            Self::PasswordObtained(_) => "password obtained",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(Protocol::MySql))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_that_was_seen_counts() {
        let right = |over| Some(Disclosure { over, is_right: true });
        let check =
            |seen: TalkRecord, letters: &str| assert_eq!(Verdict::of(&seen).letters(), letters, "{seen:?}");
        let nothing = TalkRecord::default();
        check(nothing.clone(), "G");
        check(TalkRecord { asked_for_tls: true, ..nothing.clone() }, "G");
        check(TalkRecord { tls_failure: Some("alert".into()), ..nothing.clone() }, "T");
        check(TalkRecord { finished_tls: true, ..nothing.clone() }, "T");
        let login = TalkRecord { login: Some(Channel::Clear), ..nothing.clone() };
        check(login.clone(), "cP");
        check(TalkRecord { login: Some(Channel::Tls), ..nothing }, "cT");
        let command = TalkRecord { command: Some(Channel::Clear), ..login.clone() };
        check(command.clone(), "AP");
        check(TalkRecord { file: right(Channel::Clear), ..command.clone() }, "FILE");
        check(
            TalkRecord { password: right(Channel::Clear), file: right(Channel::Clear), ..command.clone() },
            "PW",
        );
        // Something else than the password is no password.
        check(
            TalkRecord { password: Some(Disclosure { over: Channel::Clear, is_right: false }), ..command },
            "AP",
        );
        check(login, "cP");
    }
}
