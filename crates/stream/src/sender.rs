//! The end that reads.

mod work;

use std::collections::HashMap;
use std::io::Read;
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::cells::{CELL_BYTES, Digest};
use crate::cipher::Speeds;
use crate::code::Role;
use crate::entry::{Entry, Kind};
use crate::frame::{self, Content, Frame, Hello};
use crate::landing::summary_of;
use crate::limit::Limit;
use crate::link::Link;
use crate::progress::Progress;
use crate::times::{Bottleneck, Look, Shares};
use crate::tls::Tls;
use crate::{Identity, StreamError, Summary, reading, tree};
use work::{Common, Files, Renewal, Sent, Stream, Work};

const WORKING_EVERY: Duration = Duration::from_secs(5);
const CONNECT_MAX: Duration = Duration::from_secs(15);
/// So long the receiver has to say why it gave up.
const REASON_MAX: Duration = Duration::from_secs(3);

/// What one key of TLS encrypts; then a new connection takes the place of the old one. A fifth of what is safe with AES-GCM, 2^24.5 records
/// of 16 KiB. Source: RFC 8446, 5.5.
pub const RENEW_BYTES: u64 = 64 << 30;

/// What is sent.
pub enum From {
    Directory(PathBuf),
    /// What a program writes: its end counts only if `ended_well` says so.
    Bytes {
        read: Box<dyn Read + Send>,
        ended_well: Box<dyn FnOnce() -> Result<(), StreamError> + Send>,
    },
}

/// Whether pieces are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compress {
    /// While the network is what the copy waits for.
    #[default]
    Auto,
    Zstd,
    None,
}

pub struct SendOptions {
    pub from: From,
    /// `HOST:PORT`
    pub to: String,
    /// At least one.
    pub connections: u16,
    /// As OpenSSL names suites of TLS 1.3; `None`: the fastest one of both ends.
    pub cipher_suites: Option<String>,
    pub compress: Compress,
    /// Of what travels, over all connections.
    pub bytes_per_s_max: Option<u64>,
    /// [`RENEW_BYTES`], or less.
    pub renew_bytes: u64,
}

/// Copies a directory, or what a program writes, to a receiver that waits. It returns when all of it is on the receiver's disk.
///
/// # Errors
/// Nothing of the copy counts then.
pub fn send(options: SendOptions, identity: &Identity, progress: &Progress) -> Result<Summary, StreamError> {
    let SendOptions { from, to, connections, cipher_suites, compress, bytes_per_s_max, renew_bytes } =
        options;
    // While files are listed here and made there.
    let measuring = cipher_suites.is_none().then(|| std::thread::spawn(Speeds::measure));
    let tree = match &from {
        From::Directory(root) => Some(tree::walk(root)?),
        From::Bytes { .. } => None,
    };
    let size_bytes = tree.as_ref().map_or(0, |tree| tree.size_bytes);
    progress.set_total(size_bytes);
    let tls = Tls::new(identity, Role::Sender, cipher_suites.as_deref())?;
    let mut session = [0; 16];
    openssl::rand::rand_bytes(&mut session).map_err(|error| StreamError::Setup {
        what: "the system has no random bytes".into(),
        why: error.to_string(),
        next: "try again".into(),
    })?;
    let content = if tree.is_some() { Content::Tree } else { Content::Bytes };
    let connections = connections.max(1);
    let hello = |connection, speeds| Hello { session, connection, connections, content, speeds };

    let (mut first, answer) = connect(&tls, &to, &hello(0, Speeds::default()))?;
    progress.begin();
    if let Some(tree) = &tree {
        frame::encode_entries(&tree.entries, |bytes| first.send_bytes(&bytes))?;
        first.send(&Frame::EntriesEnd { count: tree.entries.len() as u64, size_bytes })?;
    }
    let there = until_ready(&mut first, tree.as_ref().map_or(&[], |tree| &tree.entries))?;
    // Both ends have measured; who names suites has decided.
    let speeds = measuring.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let best = speeds.best_with(answer.speeds).filter(|_| cipher_suites.is_none());
    let tls = match best {
        Some(suite) => Tls::new(identity, Role::Sender, Some(suite.name()))?,
        None => tls,
    };
    let mut links = Vec::new();
    for connection in 1..=connections {
        links.push(connect(&tls, &to, &hello(connection, speeds))?.0);
    }
    let (tls_version, cipher_suite) = links.first().map(Link::version_and_suite).unwrap_or_default();
    let common = Common {
        progress,
        given_up: Arc::default(),
        times: Arc::default(),
        limit: Limit::new(bytes_per_s_max),
        compress,
        renewal: Renewal {
            after_bytes: renew_bytes,
            count: AtomicU64::new(0),
            // In whose place it is, is no matter: they are all the same.
            connect: Box::new(|| connect(&tls, &to, &hello(connections, speeds)).map(|(link, _)| link)),
        },
    };
    let files =
        tree.as_ref().map_or(1, |tree| tree.entries.iter().filter(|one| one.kind == Kind::File).count());
    let data_bytes = match (from, &tree) {
        (From::Directory(root), Some(tree)) => {
            let work = Files::new(&root, tree, there);
            run(links, first, &common, &work, files as u64, &|| {
                let now = tree::walk(&root)?;
                tree::difference(tree, &now).map_or(Ok(()), |why| Err(reading::source(&root, why)))
            })?
        }
        (From::Bytes { read, ended_well }, _) => {
            let work = Stream::new(read, ended_well);
            run(links, first, &common, &work, files as u64, &|| Ok(()))?
        }
        (From::Directory(_), None) => return Err(StreamError::Stopped),
    };
    let summary = match tree {
        Some(tree) => Summary { left_out: tree.left_out, ..summary_of(&tree.entries) },
        None => Summary { files: 1, size_bytes: data_bytes, ..Summary::default() },
    };
    let renewed = common.renewal.count.load(Ordering::Relaxed);
    Ok(Summary { data_bytes, connections, renewed, tls_version, cipher_suite, ..summary })
}

/// What the receiver has already, of a copy that is resumed. What is said of cells that `entries` do not have is dropped: a file there may be
/// longer, and a peer who makes them up gets no memory for them.
fn until_ready(first: &mut Link, entries: &[Entry]) -> Result<HashMap<(u64, u64), Digest>, StreamError> {
    let mut there = HashMap::new();
    let cells_of = |entry: u64| {
        let entry = usize::try_from(entry).ok().and_then(|at| entries.get(at));
        entry.map_or(0, |entry| entry.size_bytes.div_ceil(CELL_BYTES))
    };
    loop {
        match first.receive()? {
            Frame::Ready => return Ok(there),
            Frame::Working => {}
            Frame::Have { entry, cell, digests } => {
                for (digest, cell) in digests.into_iter().zip(cell..cells_of(entry)) {
                    there.insert((entry, cell), digest);
                }
            }
            _ => return Err(first.unexpected("that answer to the list of files")),
        }
    }
}

/// Sends all there is on all connections, and waits for the receiver's last word.
fn run(
    links: Vec<Link>,
    mut first: Link,
    common: &Common<'_>,
    work: &dyn Work,
    files: u64,
    is_as_announced: &(dyn Fn() -> Result<(), StreamError> + Sync),
) -> Result<u64, StreamError> {
    let peer = first.peer.clone();
    let control = first.socket().ok();
    let threads = u16::try_from(links.len()).unwrap_or(u16::MAX);
    std::thread::scope(|scope| {
        let listening = scope.spawn(move || listen(&mut first, common, threads));
        let sent = send_all(links, common, work, is_as_announced);
        if sent.is_err() {
            let began = Instant::now();
            while !listening.is_finished() && began.elapsed() < REASON_MAX {
                std::thread::sleep(Duration::from_millis(5));
            }
            control.map(|socket| socket.shutdown(Shutdown::Both));
        }
        let heard = listening.join().unwrap_or(Err(StreamError::Stopped));
        let data_bytes = match (sent, heard) {
            (Ok(sent), Ok((done, written))) if (done, written) == (files, sent) => sent,
            (Ok(sent), Ok((done, written))) => {
                let why = format!("it has {done} files and {written} bytes, sent were {files} and {sent}");
                return Err(StreamError::Protocol { peer, why });
            }
            (Ok(_), Err(error)) | (Err(error @ StreamError::Source { .. }), _) => return Err(error),
            // Who stopped because the other end had given up has less to say than it.
            (Err(_), Err(said @ StreamError::Peer { .. })) => return Err(said),
            (Err(error), _) => return Err(error),
        };
        Ok(data_bytes)
    })
}

/// The receiver's words, to the last one: how many files and bytes it has.
fn listen(first: &mut Link, common: &Common<'_>, threads: u16) -> Result<(u64, u64), StreamError> {
    let mut look = Look::new();
    loop {
        match first.receive() {
            Ok(Frame::Working) => {}
            Ok(Frame::Status { waiting, writing }) => {
                let here = look.shares(&common.times, threads);
                let there = Shares { receiving: waiting, writing, ..Shares::default() };
                common.progress.bottleneck.set(Bottleneck::of(here, there));
            }
            Ok(Frame::Done { files, data_bytes }) => return Ok((files, data_bytes)),
            Ok(_) => return Err(first.unexpected("that word of the receiver")),
            Err(error) => {
                common.given_up.because(&error);
                return Err(error);
            }
        }
    }
}

fn send_all(
    links: Vec<Link>,
    common: &Common<'_>,
    work: &dyn Work,
    is_as_announced: &(dyn Fn() -> Result<(), StreamError> + Sync),
) -> Result<u64, StreamError> {
    let sockets: Vec<TcpStream> = links.iter().filter_map(|link| link.socket().ok()).collect();
    let (mut data_bytes, mut failed) = (0, None);
    let mut sent_all = Vec::new();
    let is_sent = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| unblock(&sockets, common, &is_sent));
        let threads: Vec<_> = links
            .into_iter()
            .map(|mut link| {
                scope.spawn(move || {
                    link.is_timed_by(&common.times);
                    let sent = work.send(&mut link, common);
                    if let Err(error) = &sent {
                        link.fail(common.given_up.because(error));
                    }
                    (link, sent)
                })
            })
            .collect();
        for thread in threads {
            match thread.join() {
                Ok((link, Ok(Sent { all, on_link }))) => {
                    data_bytes += all;
                    sent_all.push((link, on_link));
                }
                // Who stopped because another had failed has less to say.
                Ok((_, Err(error))) => {
                    if !matches!(
                        (&failed, &error),
                        (Some(StreamError::Peer { .. } | StreamError::Source { .. }), _)
                            | (Some(_), StreamError::Stopped)
                    ) {
                        failed = Some(error);
                    }
                }
                Err(_) => failed = Some(StreamError::Stopped),
            }
        }
        is_sent.store(true, Ordering::Relaxed);
    });
    if let Some(error) = failed {
        // Those that had nothing left to send have not been told.
        for (link, _) in &mut sent_all {
            link.fail(common.given_up.because(&error));
        }
        for socket in sockets {
            let _ = socket.shutdown(Shutdown::Both);
        }
        return Err(error);
    }
    end_all(&mut sent_all, is_as_announced)?;
    Ok(data_bytes)
}

/// Who writes to a receiver that takes nothing waits for two minutes. Once all is over, he has only so long to say so.
fn unblock(sockets: &[TcpStream], common: &Common<'_>, is_sent: &AtomicBool) {
    let mut over: Option<Instant> = None;
    while !is_sent.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(5));
        if common.progress.is_stopped() || common.given_up.is_so() {
            over.get_or_insert_with(Instant::now);
        }
        if over.is_some_and(|over| over.elapsed() > REASON_MAX) {
            for socket in sockets {
                let _ = socket.shutdown(Shutdown::Both);
            }
            return;
        }
    }
}

/// The last word of each connection, without which nothing counts: what was made meanwhile is in no list.
fn end_all(
    links: &mut [(Link, u64)],
    is_as_announced: &(dyn Fn() -> Result<(), StreamError> + Sync),
) -> Result<(), StreamError> {
    let same = std::thread::scope(|scope| {
        let look = scope.spawn(is_as_announced);
        let mut told = Instant::now();
        while !look.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
            if told.elapsed() > WORKING_EVERY {
                told = Instant::now();
                for (link, _) in links.iter_mut() {
                    link.send(&Frame::Working)?;
                }
            }
        }
        look.join().unwrap_or(Err(StreamError::Stopped))
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

fn connect(tls: &Tls, to: &str, hello: &Hello) -> Result<(Link, Hello), StreamError> {
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
                let greeted = link.send(&Frame::Hello(*hello)).and_then(|()| match link.receive()? {
                    Frame::Hello(answer) => Ok(answer),
                    _ => Err(StreamError::Protocol {
                        peer: to.to_owned(),
                        why: "it does not say hello".into(),
                    }),
                });
                return match greeted {
                    Ok(answer) => Ok((link, answer)),
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
