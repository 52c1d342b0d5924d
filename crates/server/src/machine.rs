//! The machine that a server runs on: this one, or one that is reached by an agent. What differs between the two is here and nowhere
//! else.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host::remote::messages::DialTarget;
use host::{HostError, Local, ReadHost, Remote, SharedHost, WriteHost};
use net::{Dial, Dialled, Endpoint};

use crate::options::{LocalFiles, Source};

#[derive(Debug, Clone, Default)]
pub enum Machine {
    #[default]
    This,
    Elsewhere(Arc<Remote>),
}

impl Machine {
    pub fn is_this(&self) -> bool {
        matches!(self, Self::This)
    }

    /// Who answers for it, if that is another machine.
    pub fn agent(&self) -> Option<&Remote> {
        match self {
            Self::This => None,
            Self::Elsewhere(remote) => Some(remote),
        }
    }

    pub fn host(&self) -> &(dyn WriteHost + Send + Sync) {
        match self {
            Self::This => &Local,
            Self::Elsewhere(remote) => &**remote,
        }
    }

    /// For another thread.
    pub fn shared_host(&self) -> SharedHost {
        match self {
            Self::This => Arc::new(Local),
            Self::Elsewhere(remote) => Arc::clone(remote) as SharedHost,
        }
    }

    /// A unix socket of that machine.
    pub fn unix(&self, path: &Path) -> Endpoint {
        match self {
            Self::This => Endpoint::unix(path),
            Self::Elsewhere(remote) => Endpoint::via(Arc::new(ThroughAgent {
                remote: Arc::clone(remote),
                to: DialTarget::Unix(path.into()),
                only_own: false,
            })),
        }
    }

    /// A port, as it is reached from that machine.
    pub fn tcp(&self, host: &str, port: u16) -> Endpoint {
        self.tcp_of(host, port, false)
    }

    /// The same, of that machine alone: what is said there passes no network. On this machine the caller looks.
    pub fn own_tcp(&self, host: &str, port: u16) -> Endpoint {
        self.tcp_of(host, port, true)
    }

    fn tcp_of(&self, host: &str, port: u16, only_own: bool) -> Endpoint {
        match self {
            Self::This => Endpoint::tcp(host, port),
            Self::Elsewhere(remote) => Endpoint::via(Arc::new(ThroughAgent {
                remote: Arc::clone(remote),
                to: DialTarget::Tcp { host: host.to_owned(), port },
                only_own,
            })),
        }
    }

    /// Its option files.
    pub fn files(&self) -> Box<dyn Source + '_> {
        match self {
            Self::This => Box::new(LocalFiles),
            Self::Elsewhere(remote) => Box::new(FarFiles(remote)),
        }
    }
}

/// A place that the agent of a machine connects to.
#[derive(Debug)]
struct ThroughAgent {
    remote: Arc<Remote>,
    to: DialTarget,
    only_own: bool,
}

impl fmt::Display for ThroughAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            DialTarget::Unix(path) => write!(f, "{} on {}", path.0.display(), self.remote.name()),
            DialTarget::Tcp { host, port } => {
                write!(f, "{} from {}", Endpoint::tcp(host.clone(), *port), self.remote.name())
            }
        }
    }
}

impl Dial for ThroughAgent {
    fn dial(&self, timeout: Duration) -> io::Result<Dialled> {
        let made = self.remote.dial(self.to.clone(), self.only_own, timeout)?;
        Ok(Dialled { fd: made.fd, local: made.local, peer: made.peer })
    }

    fn shown(&self) -> String {
        self.to_string()
    }

    fn host(&self) -> Option<&str> {
        match &self.to {
            DialTarget::Unix(_) => None,
            DialTarget::Tcp { host, .. } => Some(host),
        }
    }
}

/// Option files of a machine elsewhere.
struct FarFiles<'r>(&'r Remote);

impl FarFiles<'_> {
    fn facts(&self, path: &Path) -> io::Result<Option<host::FileFacts>> {
        none_if_missing(self.0.facts(path))
    }
}

fn none_if_missing<T>(result: Result<Option<T>, HostError>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(found),
        Err(HostError::File { source, .. }) if source.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(as_io(error)),
    }
}

fn as_io(error: HostError) -> io::Error {
    match error {
        HostError::File { source, .. } => source,
        other => io::Error::other(other.to_string()),
    }
}

impl Source for FarFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        match self.facts(path)? {
            None => Ok(None),
            Some(facts) if facts.is_dir => Ok(Some(Vec::new())),
            // One byte more than the limit is enough for the parser to refuse.
            Some(_) => {
                let bytes_max = u64::try_from(formats::optfile::OPTION_FILE_BYTES_MAX).unwrap_or(u64::MAX);
                none_if_missing(self.0.read(path, bytes_max.saturating_add(1)))
            }
        }
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.list(path).map_err(as_io)
    }

    fn world_writable(&self, path: &Path) -> io::Result<bool> {
        Ok(self.facts(path)?.is_some_and(|facts| !facts.is_dir && facts.mode & 0o002 != 0))
    }
}
