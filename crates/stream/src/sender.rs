//! The end that reads.

use std::collections::VecDeque;
use std::fs::File;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;

use crate::code::Role;
use crate::entry::{Entry, Kind};
use crate::frame::{self, DATA_BYTES_MAX, DATA_HEAD_BYTES, Frame, HEADER_BYTES};
use crate::link::Link;
use crate::progress::{GivenUp, Progress};
use crate::tls::{Tls, version_and_suite};
use crate::{Identity, StreamError, Summary, tree};

const WORKING_EVERY: Duration = Duration::from_secs(5);
const CONNECT_MAX: Duration = Duration::from_secs(15);
/// What a connection takes at once: large enough that a disk reads ahead, small enough that all connections end together.
const PIECE_BYTES: u64 = 8 << 20;

#[derive(Debug, Clone)]
pub struct SendOptions {
    pub from: PathBuf,
    /// `HOST:PORT`
    pub to: String,
    /// At least one.
    pub connections: u16,
    /// As OpenSSL names suites of TLS 1.3; `None`: the two ends agree.
    pub cipher_suites: Option<String>,
}

/// Copies a directory to a receiver that waits. It returns when all of it is on the receiver's disk.
///
/// # Errors
/// Nothing of the copy counts then.
pub fn send(options: &SendOptions, identity: &Identity, progress: &Progress) -> Result<Summary, StreamError> {
    let tree = tree::walk(&options.from)?;
    progress.set_total(tree.size_bytes);
    let tls = Tls::new(identity, Role::Sender, options.cipher_suites.as_deref())?;
    let mut session = [0; 16];
    openssl::rand::rand_bytes(&mut session).map_err(|error| StreamError::Setup {
        what: "the system has no random bytes".into(),
        why: error.to_string(),
        next: "try again".into(),
    })?;
    let connections = options.connections.max(1);
    let hello = |connection| Frame::Hello { session, connection, connections };

    let mut first = connect(&tls, &options.to, &hello(0))?;
    progress.begin();
    let (tls_version, cipher_suite) = version_and_suite(first.stream().ssl());
    frame::encode_entries(&tree.entries, |bytes| first.send_bytes(&bytes))?;
    let count = tree.entries.len() as u64;
    first.send(&Frame::EntriesEnd { count, size_bytes: tree.size_bytes })?;
    loop {
        match first.receive()? {
            Frame::Ready => break,
            Frame::Working => {}
            _ => return Err(first.unexpected("that answer to the list of files")),
        }
    }
    let mut links = vec![first];
    for connection in 1..connections {
        links.push(connect(&tls, &options.to, &hello(connection))?);
    }

    let work = Work::new(&options.from, &tree);
    let sockets: Vec<TcpStream> = links.iter().filter_map(|link| link.socket().ok()).collect();
    let (mut data_bytes, mut failed) = (0, None);
    let mut sent_all = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = links
            .into_iter()
            .map(|mut link| {
                let work = &work;
                scope.spawn(move || {
                    let sent = send_pieces(&mut link, work, progress);
                    if let Err(error) = &sent {
                        link.fail(work.given_up.because(error));
                    }
                    (link, sent)
                })
            })
            .collect();
        for thread in threads {
            match thread.join() {
                Ok((link, Ok(bytes))) => {
                    data_bytes += bytes;
                    sent_all.push((link, bytes));
                }
                // Who stopped because another had failed has less to say.
                Ok((_, Err(error))) => {
                    if !matches!(failed, Some(StreamError::Peer { .. } | StreamError::Source { .. })) {
                        failed = Some(error);
                    }
                }
                Err(_) => failed = Some(StreamError::Stopped),
            }
        }
    });
    if failed.is_none() {
        failed = end_all(&options.from, &tree, &mut sent_all).err();
    }
    let first = sent_all.into_iter().next().map(|(link, _)| link);
    let Some(mut first) = first.filter(|_| failed.is_none()) else {
        for socket in sockets {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
        return Err(failed.unwrap_or(StreamError::Stopped));
    };
    let files = tree.entries.iter().filter(|entry| entry.kind == Kind::File).count() as u64;
    loop {
        match first.receive()? {
            Frame::Working => {}
            Frame::Done { files: done, data_bytes: written } if done == files && written == data_bytes => {
                break;
            }
            Frame::Done { files: done, data_bytes: written } => {
                return Err(StreamError::Protocol {
                    peer: first.peer.clone(),
                    why: format!(
                        "it has {done} files and {written} bytes, sent were {files} and {data_bytes}"
                    ),
                });
            }
            _ => return Err(first.unexpected("that answer to the last file")),
        }
    }
    let of_kind = |kind| tree.below().filter(|entry| entry.kind == kind).count() as u64;
    Ok(Summary {
        files,
        directories: of_kind(Kind::Directory),
        links: of_kind(Kind::Link),
        data_bytes,
        size_bytes: tree.size_bytes,
        connections,
        tls_version,
        cipher_suite,
        left_out: tree.left_out,
    })
}

/// The last word of each connection, without which nothing counts: what was made meanwhile is in no list.
fn end_all(from: &Path, tree: &tree::Tree, links: &mut [(Link, u64)]) -> Result<(), StreamError> {
    let same = std::thread::scope(|scope| {
        let walk = scope.spawn(|| {
            let now = tree::walk(from)?;
            tree::difference(tree, &now).map_or(Ok(()), |why| Err(source(from, why)))
        });
        let mut told = Instant::now();
        while !walk.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
            if told.elapsed() > WORKING_EVERY {
                told = Instant::now();
                for (link, _) in links.iter_mut() {
                    link.send(&Frame::Working)?;
                }
            }
        }
        walk.join().unwrap_or(Err(StreamError::Stopped))
    });
    if let Err(error) = same {
        for (link, _) in links {
            link.fail(error.to_string());
        }
        return Err(error);
    }
    for (link, data_bytes) in links {
        link.send(&Frame::End { data_bytes: *data_bytes })?;
    }
    Ok(())
}

fn connect(tls: &Tls, to: &str, hello: &Frame<'_>) -> Result<Link, StreamError> {
    let cannot = |why: String| StreamError::Connect {
        peer: to.to_owned(),
        why,
        next: "start sealion receive there first, with --listen, and let the port through".into(),
    };
    let (host, _) = to.rsplit_once(':').ok_or_else(|| cannot("it is not HOST:PORT".into()))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut why = "the name has no address".to_owned();
    for address in to.to_socket_addrs().map_err(|error| cannot(error.to_string()))? {
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(tcp) => {
                let stream = tls.handshake(tcp, to, host)?;
                let mut link = Link::new(stream, to.to_owned());
                // With TLS 1.3 the receiver's no to our certificate comes in place of its answer.
                let greeted = link.send(hello).and_then(|()| match link.receive()? {
                    Frame::Hello { .. } => Ok(()),
                    _ => Err(StreamError::Protocol {
                        peer: to.to_owned(),
                        why: "it does not say hello".into(),
                    }),
                });
                return match greeted {
                    Ok(()) => Ok(link),
                    Err(StreamError::Broken { peer, why }) => Err(StreamError::Identity {
                        peer,
                        why: format!("it hung up behind the handshake ({why})"),
                        next: "see what sealion receive says there: it may not know this certificate, or have begun a copy \
                               with another sender"
                            .into(),
                    }),
                    Err(error) => Err(error),
                };
            }
            Err(error) => why = error.to_string(),
        }
    }
    Err(cannot(why))
}

/// Pieces of files, for whichever connection is free.
struct Work<'t> {
    root: &'t Path,
    entries: &'t [Entry],
    changed: &'t [(i64, i64)],
    state: Mutex<State>,
    given_up: GivenUp,
}

#[derive(Default)]
struct State {
    /// Of the next file.
    next: usize,
    pieces: VecDeque<Piece>,
}

struct Piece {
    entry: u64,
    file: Arc<File>,
    offset: u64,
    end: u64,
}

impl<'t> Work<'t> {
    fn new(root: &'t Path, tree: &'t tree::Tree) -> Self {
        let (entries, changed) = (&tree.entries, &tree.changed);
        Self { root, entries, changed, state: Mutex::default(), given_up: GivenUp::default() }
    }

    fn changed_at(&self, at: usize) -> (i64, i64) {
        self.changed.get(at).copied().unwrap_or_default()
    }

    /// The next piece; files are opened one after the other.
    fn next(&self) -> Result<Option<Piece>, StreamError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.given_up.is_so() {
                return Err(StreamError::Stopped);
            }
            if let Some(piece) = state.pieces.pop_front() {
                return Ok(Some(piece));
            }
            let at = state.next;
            let Some(entry) = self.entries.get(at) else { return Ok(None) };
            state.next += 1;
            if entry.kind == Kind::File {
                self.cut(at, entry, &mut state.pieces)?;
            }
        }
    }

    fn cut(&self, at: usize, entry: &Entry, pieces: &mut VecDeque<Piece>) -> Result<(), StreamError> {
        let full = self.root.join(&entry.path);
        let cannot = |error: std::io::Error| source(&full, error.to_string());
        let file = File::options()
            .read(true)
            .custom_flags(OFlag::O_NOFOLLOW.bits() | OFlag::O_NONBLOCK.bits())
            .open(&full)
            .map_err(cannot)?;
        if !tree::is_as_announced(&file.metadata().map_err(cannot)?, entry, self.changed_at(at)) {
            return Err(changed(&full));
        }
        let file = Arc::new(file);
        let mut from = 0;
        while let Some((begin, end)) = tree::data_behind(&file, from, entry.size_bytes).map_err(cannot)? {
            let mut offset = begin;
            while offset < end {
                let piece_end = end.min(offset + PIECE_BYTES);
                pieces.push_back(Piece { entry: at as u64, file: Arc::clone(&file), offset, end: piece_end });
                offset = piece_end;
            }
            from = end;
        }
        Ok(())
    }
}

fn source(path: &Path, why: String) -> StreamError {
    StreamError::Source {
        what: path.display().to_string(),
        why,
        next: "stop what writes there, or copy a running server with its backup tool; nothing of this copy counts".into(),
    }
}

fn changed(path: &Path) -> StreamError {
    source(path, "it changed while the copy was under way".into())
}

/// Sends pieces until there are none; returns how many bytes went. Its [`Frame::End`] is sent when all have come so far.
fn send_pieces(link: &mut Link, work: &Work<'_>, progress: &Progress) -> Result<u64, StreamError> {
    const HEAD: usize = HEADER_BYTES + DATA_HEAD_BYTES;
    let mut buffer = vec![0; HEAD + DATA_BYTES_MAX];
    let mut data_bytes = 0;
    while let Some(Piece { entry, file, mut offset, end }) = work.next()? {
        let announced =
            usize::try_from(entry).ok().and_then(|at| work.entries.get(at)).ok_or(StreamError::Stopped)?;
        let full = work.root.join(&announced.path);
        while offset < end {
            if progress.is_stopped() || work.given_up.is_so() {
                return Err(StreamError::Stopped);
            }
            let wanted = usize::try_from(end - offset).unwrap_or(DATA_BYTES_MAX).min(DATA_BYTES_MAX);
            let (head, bytes) = buffer.split_at_mut(HEAD);
            let bytes = bytes.get_mut(..wanted).unwrap_or_default();
            file.read_exact_at(bytes, offset).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => changed(&full),
                _ => source(&full, error.to_string()),
            })?;
            head.copy_from_slice(&frame::data_head(entry, offset, wanted));
            if link.has_news() {
                // It has nothing to say now but that it gives up.
                link.receive()?;
                return Err(link.unexpected("an answer"));
            }
            link.send_bytes(buffer.get(..HEAD + wanted).unwrap_or_default())?;
            offset += wanted as u64;
            data_bytes += wanted as u64;
            progress.add(wanted as u64);
        }
        let about = file.metadata().map_err(|error| source(&full, error.to_string()))?;
        if !tree::is_as_announced(
            &about,
            announced,
            work.changed_at(usize::try_from(entry).unwrap_or(usize::MAX)),
        ) {
            return Err(changed(&full));
        }
    }
    link.flush()?;
    Ok(data_bytes)
}
