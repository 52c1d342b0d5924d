//! How a change proves its work without being able to look by itself: `ops` hands in a [`Look`].

use std::time::Duration;

use thiserror::Error;

use crate::link::LinkSight;

/// What to look for on the wire.
#[derive(Debug, Clone)]
pub struct WireLook {
    /// How long the capture stays open after the canaries were written.
    pub settle: Duration,
    /// Write one canary transaction on every node while the capture runs.
    pub canaries: bool,
    /// Names of the nodes whose pairs are judged.
    pub nodes: Vec<String>,
}

#[derive(Debug, Error)]
pub enum LookError {
    #[error("cannot look on the wire: {why}; {next}")]
    NotPermitted { why: String, next: String },
    #[error("the look on the wire failed: {why}")]
    Failed { why: String },
}

/// How a client talked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transport {
    Cleartext,
    /// Neither was seen of it.
    Unknown,
    Tls,
}

/// One connection of a client in one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSight {
    pub node: String,
    /// `None`: nobody lists such a session, and its login was not seen.
    pub user: Option<String>,
    /// Address or name.
    pub host: String,
    pub port: u16,
    /// In its own words, which it may choose: `_client_name`, `_client_version`, `program_name`.
    pub driver: Option<String>,
    pub transport: Transport,
    /// What its handshake came to; `None`: that was not seen.
    pub handshake: Option<Handshake>,
}

/// What a client and a server have agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    /// As the servers spell it: `TLSv1.2`.
    pub version: String,
    /// As OpenSSL spells it; `None`: not known.
    pub suite: Option<String>,
}

impl std::fmt::Display for Handshake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.version)?;
        self.suite.as_ref().map_or(Ok(()), |suite| write!(f, " {suite}"))
    }
}

impl std::fmt::Display for ClientSight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// What one look saw of clients.
#[derive(Debug, Clone, Default)]
pub struct ClientsLook {
    pub clients: Vec<ClientSight>,
    /// Those whose handshake was captured and that were gone when the sessions were read.
    pub gone: Vec<ClientSight>,
    /// Why there may be others, or others than these.
    pub not_seen: Vec<String>,
}

/// What a capture made from here would not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// A node, or this machine.
    pub subject: String,
    pub why: String,
}

/// An active look whose outcome is bytes, not a variable.
pub trait Look {
    /// # Errors
    /// When no capture can be made here; the caller then says `unknown`.
    fn wire(&mut self, what: &WireLook) -> Result<Vec<LinkSight>, LookError>;

    /// Who uses the servers, and how: each client by itself. The capture lasts as long as `meanwhile` takes, and as the settle time at
    /// least.
    ///
    /// # Errors
    /// As [`Self::wire`].
    fn clients(&mut self, what: &WireLook, meanwhile: &mut dyn FnMut()) -> Result<ClientsLook, LookError>;

    /// What links carry while `meanwhile` runs, which is run in any case; nothing is written for it.
    ///
    /// # Errors
    /// As [`Self::wire`].
    fn during(&mut self, meanwhile: &mut dyn FnMut()) -> Result<Vec<LinkSight>, LookError> {
        meanwhile();
        Err(LookError::Failed { why: "nothing is captured in this way here".into() })
    }

    /// What it could not see if it were made now. Empty: nothing is known to be hidden from it.
    fn unseen(&mut self) -> Vec<Unseen> {
        Vec::new()
    }

    /// Nodes whose TCP port does not let our own account in, each with the reason: whether clients need TLS there cannot be tried.
    fn no_tcp_login(&mut self) -> Vec<Unseen> {
        Vec::new()
    }

    /// What the last look may have left on the servers, and how it is removed.
    fn left_behind(&mut self) -> Vec<String> {
        Vec::new()
    }
}
