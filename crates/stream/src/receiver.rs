//! The end that writes: who is let in, and what is done with what comes.

mod copy;
mod deliver;
mod target;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::archive::CreateOptions;
use crate::cipher::Speeds;
use crate::code::Role;
use crate::frame::{Frame, Hello};
use crate::landing::prepare;
use crate::link::Link;
use crate::progress::Progress;
use crate::tls::Tls;
use crate::xbstream::Decryption;
use crate::{Identity, StreamError, Summary};

pub use target::Command;

const ARRIVED_POLL: Duration = Duration::from_millis(50);
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);
/// Handshakes under way; more are turned away.
const HANDSHAKES_MAX: usize = 32;
const CONNECTIONS_MAX: u16 = 64;

/// Where what is received goes.
pub enum Into {
    /// `root` is not there, or empty; or, to resume, with a copy that did not end. A tar or a backup stream is extracted there.
    Directory {
        root: PathBuf,
        layers: Layers,
    },
    /// Standard input of a program.
    Command(Command),
    /// Whatever takes bytes, at once.
    Writer(Box<dyn io::Write + Send>),
    Archive {
        path: PathBuf,
        options: CreateOptions,
    },
}

impl Into {
    /// With everything as it comes.
    pub fn directory(root: PathBuf) -> Self {
        Self::Directory { root, layers: Layers::default() }
    }
}

/// What is taken off the files of a backup stream on the way.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    pub decryption: Option<Decryption>,
    pub decompresses: bool,
}

impl Layers {
    /// # Errors
    /// There are none in `what`, and some were to be taken off.
    fn refuse_in(&self, what: &str) -> Result<(), StreamError> {
        if self.decryption.is_none() && !self.decompresses {
            return Ok(());
        }
        Err(StreamError::Setup {
            what: "what comes is not decrypted or decompressed".into(),
            why: format!("the sender sends {what}, and that is done with the files of a backup stream"),
            next:
                "receive it as it is: without --decrypt and --decompress; then sealion xbstream --unwrap FILE"
                    .into(),
        })
    }
}

pub struct ReceiveOptions {
    pub into: Into,
    pub listen: SocketAddr,
    /// Goes on with a copy that did not end.
    pub resumes: bool,
}

/// Waits for one copy.
pub struct Receiver {
    listener: TcpListener,
    tls: Tls,
    into: Into,
    resumes: bool,
    speeds: Speeds,
}

impl Receiver {
    /// Makes the directory, where it is missing, and listens.
    ///
    /// # Errors
    /// Something is in the directory, or nobody may listen there.
    pub fn new(options: ReceiveOptions, identity: &Identity) -> Result<Self, StreamError> {
        let ReceiveOptions { into, listen, resumes } = options;
        let tls = Tls::new(identity, Role::Receiver, None)?;
        if let Into::Directory { root, .. } = &into {
            prepare(root, resumes)?;
        }
        let listener = TcpListener::bind(listen).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listener.map_err(|error| StreamError::Setup {
            what: format!("cannot listen on {listen}"),
            why: error.to_string(),
            next: "name another address of this host, or another port: --listen".into(),
        })?;
        Ok(Self { listener, tls, into, resumes, speeds: Speeds::measure() })
    }

    /// # Errors
    /// The kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits for a sender, and for all that it sends. Who does not prove to be the sender is told to `turned_away`.
    ///
    /// # Errors
    /// What was written stays, with [`crate::landing::MARK`] in it.
    pub fn receive(
        self,
        progress: &Progress,
        turned_away: &(dyn Fn(&StreamError) + Sync),
    ) -> Result<Summary, StreamError> {
        let Self { listener, tls, into, resumes, speeds } = self;
        let (links, arrived) = mpsc::channel();
        let (listener, tls) = (&listener, &tls);
        // One end is closed when the copy is over, which wakes whoever waits at the other.
        let (until, over) = UnixStream::pair().map_err(|error| StreamError::Setup {
            what: "cannot wait for a sender".into(),
            why: error.to_string(),
            next: "see whether too many files are open (ulimit -n)".into(),
        })?;
        std::thread::scope(|scope| {
            scope.spawn(move || accept(listener, tls, &over, &links, turned_away));
            let done = copy::Copy { arrived, progress, resumes, speeds }.run(into);
            drop(until);
            done
        })
    }
}

/// A connection, and what it said when it came.
struct Arrived {
    link: Link,
    hello: Hello,
}

fn accept(
    listener: &TcpListener,
    tls: &Tls,
    over: &UnixStream,
    links: &mpsc::Sender<Arrived>,
    turned_away: &(dyn Fn(&StreamError) + Sync),
) {
    let under_way = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        loop {
            // Not now and then: a copy has several connections, each of which would wait.
            let mut fds = [
                PollFd::new(over.as_fd(), PollFlags::empty()),
                PollFd::new(listener.as_fd(), PollFlags::POLLIN),
            ];
            let _ = poll(&mut fds, PollTimeout::NONE);
            let [is_over, _] = fds;
            if is_over.revents().is_none_or(|events| !events.is_empty()) {
                break;
            }
            let Ok((tcp, from)) = listener.accept() else {
                // Somebody is there and cannot be had: too many files are open, say.
                std::thread::sleep(ACCEPT_AGAIN);
                continue;
            };
            if under_way.load(Ordering::Relaxed) >= HANDSHAKES_MAX {
                continue;
            }
            under_way.fetch_add(1, Ordering::Relaxed);
            let (under_way, links) = (&under_way, links.clone());
            scope.spawn(move || {
                let peer = from.to_string();
                let arrived = tcp
                    .set_nonblocking(false)
                    .map_err(StreamError::broken(&peer))
                    .and_then(|()| tls.handshake(tcp, &peer, ""))
                    .and_then(|stream| greet(Link::new(stream, peer)));
                match arrived {
                    // Nobody waits any more: the copy is over.
                    Ok(arrived) => drop(links.send(arrived)),
                    Err(error) => turned_away(&error),
                }
                under_way.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
}

fn greet(mut link: Link) -> Result<Arrived, StreamError> {
    let Frame::Hello(hello) = link.receive()? else {
        return Err(link.unexpected("anything but a hello"));
    };
    let (at, all) = (hello.connection, hello.connections);
    if all == 0 || all > CONNECTIONS_MAX || at > all {
        return Err(link.unexpected("such a number of connections"));
    }
    Ok(Arrived { link, hello })
}
