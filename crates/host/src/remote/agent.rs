//! The far end: answers for the machine that it runs on, with [`Local`], until whoever started it hangs up.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use capture::{Capture, CaptureError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use zeroize::Zeroizing;

use super::frames::{FarPath, Frame, FrameError, FrameReader, PAYLOAD_BYTES_MAX, PREAMBLE, PROTOCOL};
use super::messages::{AgentFacts, AgentMode, Answer, DialTarget, Message, Request};
use super::outbox::Outbox;
use super::streams::{STREAMS_MAX, StreamEnd, Streams};
use crate::{HostError, HostLock, Local, ReadHost, Search, SearchProgress, Searched, WriteHost};

/// Requests that are answered side by side; a file system that hangs holds up the others not before so many.
const REQUESTS_MAX: usize = 64;
const CAPTURES_MAX: usize = 4;
const LOCKS_MAX: usize = 16;
const SEARCHES_MAX: usize = 4;
const READ_BYTES: usize = 64 * 1024;

struct Agent {
    mode: AgentMode,
    sealion: String,
    fences: Vec<String>,
    outbox: Outbox,
    streams: Streams,
    running: AtomicUsize,
    next_id: AtomicU64,
    locks: Mutex<HashMap<u64, Box<dyn HostLock>>>,
    captures: Mutex<HashMap<u64, Capture>>,
    searches: Mutex<HashMap<u64, Searching>>,
    looks: Mutex<HashMap<u64, Looking>>,
    /// Whoever has asked has hung up.
    is_over: Arc<AtomicBool>,
}

/// A search that goes on, or was not asked for yet.
struct Searching {
    progress: Arc<SearchProgress>,
    found: std::sync::mpsc::Receiver<Searched>,
}

/// A look at the files of a data directory.
struct Looking {
    progress: Arc<disk::Progress>,
    found: std::sync::mpsc::Receiver<Looked>,
}

/// What was found, or why nothing was.
pub(super) type Looked = Result<disk::DataDirectory, String>;

/// What is asked comes from `input`; answers go to `output`. Returns when there is nothing more to read: locks are let go of then,
/// captures end, connections are closed. A service that was being started goes on; what was asked by somebody who has hung up since is
/// not begun. `fences`: what the kernel holds it to.
///
/// # Errors
/// What came is no request.
pub fn serve(
    mut input: impl Read + AsFd,
    output: impl Write + Send + 'static,
    mode: AgentMode,
    sealion: &str,
    fences: Vec<String>,
) -> Result<(), FrameError> {
    let outbox = Outbox::to(output, PREAMBLE);
    let agent = Arc::new(Agent {
        mode,
        sealion: sealion.to_owned(),
        fences,
        streams: Streams::new(outbox.clone(), StreamEnd::Far),
        outbox,
        running: AtomicUsize::new(0),
        next_id: AtomicU64::new(1),
        locks: Mutex::default(),
        captures: Mutex::default(),
        searches: Mutex::default(),
        looks: Mutex::default(),
        is_over: Arc::default(),
    });
    let read = (|| {
        let mut reader = FrameReader::at_once();
        let mut piece = Zeroizing::new(vec![0; READ_BYTES]);
        loop {
            while let Some(frame) = reader.next_frame()? {
                if asks_for_a_change(&frame) && has_hung_up(input.as_fd()) {
                    return Ok(());
                }
                agent.take(frame)?;
            }
            match input.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(count) => reader.push(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Ok(()),
            }
        }
    })();
    agent.is_over.store(true, Ordering::Relaxed);
    agent.streams.close_all();
    agent.outbox.close();
    agent.locks.lock().unwrap_or_else(PoisonError::into_inner).clear();
    agent.captures.lock().unwrap_or_else(PoisonError::into_inner).clear();
    read
}

fn asks_for_a_change(frame: &Frame) -> bool {
    matches!(&frame.message, Message::Call { request, .. } if request.changes_something())
}

/// Nobody waits for an answer any more. A machine that stood still may have requests in its pipes that were given up long ago, while
/// another agent was started and has done something else: carried out now, an old one would change what came after it.
fn has_hung_up(input: BorrowedFd<'_>) -> bool {
    let mut polled = [PollFd::new(&input, PollFlags::RDHUP)];
    let gone = PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR;
    // A pipe has its end on record as soon as it has come, behind whatever is still to be read.
    let is_ready = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    matches!(is_ready, Ok(1..)) && polled.iter().any(|one| one.revents().intersects(gone))
}

impl Agent {
    fn take(self: &Arc<Self>, frame: Frame) -> Result<(), FrameError> {
        match frame.message {
            Message::Call { id, request } => self.call(id, request, frame.payload),
            Message::Data { stream } => {
                self.streams.data(stream, frame.payload).map_err(FrameError::NotUnderstood)?;
            }
            Message::Taken { stream, bytes } => self.streams.taken(stream, bytes),
            Message::End { stream } => self.streams.end(stream),
            Message::Reply { .. } => {
                return Err(FrameError::NotUnderstood("an answer where requests are expected".into()));
            }
        }
        Ok(())
    }

    fn call(self: &Arc<Self>, id: u64, request: Request, payload: Zeroizing<Vec<u8>>) {
        if self.running.fetch_add(1, Ordering::Relaxed) >= REQUESTS_MAX {
            self.running.fetch_sub(1, Ordering::Relaxed);
            let why = format!("{REQUESTS_MAX} requests wait for this machine already");
            return self.reply(id, &Frame::new(reply(id, Answer::Refused { why })));
        }
        let agent = Arc::clone(self);
        std::thread::spawn(move || {
            let (answer, bytes) = agent.answer(&request, &payload);
            let stream = if let Answer::Dialled { stream, .. } = &answer { Some(*stream) } else { None };
            agent.reply(id, &Frame { message: reply(id, answer), payload: bytes });
            // A server greets at once: its first bytes must not come before the answer that names the stream.
            if let Some(stream) = stream {
                agent.streams.begin(stream);
            }
            agent.running.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn reply(&self, id: u64, frame: &Frame) {
        if let Err(why) = self.outbox.send(frame) {
            let _ = self.outbox.send(&Frame::new(reply(id, Answer::Refused { why })));
        }
    }

    fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn answer(&self, request: &Request, payload: &[u8]) -> (Answer, Zeroizing<Vec<u8>>) {
        if self.mode == AgentMode::Read && request.changes_something() {
            let why = "this agent was started to look, and changes nothing".into();
            return (Answer::Refused { why }, Zeroizing::default());
        }
        let mut bytes = Zeroizing::default();
        let answer = match request {
            Request::Hello { protocol } => self.hello(*protocol),
            Request::Dial { to, only_own, limit_ms } => {
                self.dial(to, *only_own, Duration::from_millis(*limit_ms))
            }
            Request::Capture { iface, ports, control } => self.capture(iface, ports, control),
            Request::CaptureEnd { capture } => {
                let ended = self.captures.lock().unwrap_or_else(PoisonError::into_inner).remove(capture);
                match ended.map(|capture| serde_json::to_vec(&capture.stop())) {
                    Some(Ok(report)) => {
                        *bytes = report;
                        Answer::Bytes
                    }
                    Some(Err(error)) => Answer::Refused { why: error.to_string() },
                    None => Answer::Refused { why: "there is no such capture".into() },
                }
            }
            Request::Search { search } => self.search(search),
            Request::SearchSoFar { search } => self.search_so_far(*search, &mut bytes),
            Request::Look { dir, elsewhere } => self.look(&dir.0, elsewhere),
            Request::LookSoFar { look } => self.look_so_far(*look, &mut bytes),
            Request::Unlock { lock } => {
                self.locks.lock().unwrap_or_else(PoisonError::into_inner).remove(lock);
                Answer::Done
            }
            _ => match self.on_host(request, payload, &mut bytes) {
                Ok(answer) => answer,
                Err(error) => Answer::HostError { error: error.into() },
            },
        };
        (answer, bytes)
    }

    fn on_host(
        &self,
        request: &Request,
        payload: &[u8],
        bytes: &mut Zeroizing<Vec<u8>>,
    ) -> Result<Answer, HostError> {
        let at_most = |bytes_max: u64| bytes_max.min(PAYLOAD_BYTES_MAX as u64);
        let mut content = |found: Option<Vec<u8>>| match found {
            Some(found) => {
                **bytes = found;
                Answer::Bytes
            }
            None => Answer::Absent,
        };
        Ok(match request {
            Request::Read { path, bytes_max } => content(Local.read(&path.0, at_most(*bytes_max))?),
            Request::ReadEnd { path, bytes_max } => content(Local.read_end(&path.0, at_most(*bytes_max))?),
            Request::Facts { path } => {
                Local.facts(&path.0)?.map_or(Answer::Absent, |facts| Answer::Facts { facts })
            }
            Request::List { dir } => paths(&Local.list(&dir.0)?),
            Request::Process { pid } => {
                Local.process(*pid)?.map_or(Answer::Absent, |facts| Answer::Process { facts })
            }
            // A busy server has more of them than a message holds.
            Request::SocketsOf { pid } => {
                let inodes: Vec<String> =
                    Local.sockets_of(*pid)?.iter().map(|inode| format!("{inode}\n")).collect();
                content(Some(inodes.concat().into_bytes()))
            }
            Request::Programs { names } => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                Answer::Programs { programs: Local.programs(&names)? }
            }
            Request::FreeBytes { path } => Answer::Number { number: Local.free_bytes(&path.0)? },
            Request::Writable { dir } => Answer::YesNo { yes: Local.writable(&dir.0)? },
            Request::ServiceState { service, limit_ms } => {
                Answer::ServiceState { state: Local.service_state(service, Duration::from_millis(*limit_ms)) }
            }
            Request::ServiceSettings { service, limit_ms } => {
                Answer::Text { text: Local.service_settings(service, Duration::from_millis(*limit_ms))? }
            }
            Request::VersionOf { program, limit_ms } => {
                match Local.version_of(&program.0, Duration::from_millis(*limit_ms))? {
                    Some(text) => Answer::Text { text },
                    None => Answer::Absent,
                }
            }
            Request::UnitLoadState { unit, limit_ms } => {
                Answer::Text { text: Local.unit_load_state(unit, Duration::from_millis(*limit_ms))? }
            }
            Request::ProgramOf { name } => one_path(Local.program_of(name)?),
            Request::Link { path } => one_path(Local.link(&path.0)?),
            Request::TextIn { path, mark } => match Local.text_in(&path.0, mark)? {
                Some(text) => Answer::Text { text },
                None => Answer::Absent,
            },
            Request::Write { path, mode, owner } => done(Local.write(&path.0, payload, *mode, *owner))?,
            Request::Replace { path, expected_bytes } => {
                let at = usize::try_from(*expected_bytes).unwrap_or(usize::MAX);
                match payload.split_at_checked(at) {
                    Some((expected, new)) => done(Local.replace(&path.0, expected, new))?,
                    None => Answer::Refused { why: "the payload is shorter than it is said to be".into() },
                }
            }
            Request::Append { path } => done(Local.append(&path.0, payload))?,
            Request::MakeDir { dir, mode, owner } => done(Local.make_dir(&dir.0, *mode, *owner))?,
            Request::Remove { path } => done(Local.remove(&path.0))?,
            Request::RemoveDir { dir } => done(Local.remove_dir(&dir.0))?,
            Request::Sweep { dir } => paths(&Local.sweep(&dir.0)?),
            Request::Run { command, limit_ms } => {
                Answer::Text { text: Local.run(command, Duration::from_millis(*limit_ms))? }
            }
            Request::ServiceJob { job } => Answer::ServiceJob { state: Local.service_job(&job.into())? },
            Request::RunService { job, command, limit_ms } => Answer::Text {
                text: Local.run_service(&job.into(), command, Duration::from_millis(*limit_ms))?,
            },
            Request::Lock { path, at_most_ms } => {
                let held = Local.lock(&path.0, Duration::from_millis(*at_most_ms))?;
                let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
                if locks.len() >= LOCKS_MAX {
                    return Ok(Answer::Refused { why: format!("{LOCKS_MAX} locks are held already") });
                }
                let lock = self.new_id();
                locks.insert(lock, held);
                Answer::Locked { lock }
            }
            Request::Hello { .. }
            | Request::Dial { .. }
            | Request::Capture { .. }
            | Request::CaptureEnd { .. }
            | Request::Search { .. }
            | Request::SearchSoFar { .. }
            | Request::Look { .. }
            | Request::LookSoFar { .. }
            | Request::Unlock { .. } => Answer::Refused { why: "it is answered elsewhere".into() },
        })
    }

    fn hello(&self, protocol: u32) -> Answer {
        if protocol != PROTOCOL {
            return Answer::Refused {
                why: format!(
                    "this is sealion {} with version {PROTOCOL} of the agent's protocol, and {protocol} was asked for",
                    self.sealion
                ),
            };
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Answer::Hello {
            facts: AgentFacts {
                protocol: PROTOCOL,
                sealion: self.sealion.clone(),
                mode: self.mode,
                host_name: name.trim().to_owned(),
                uid: nix::unistd::geteuid().as_raw(),
                unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
                fences: self.fences.clone(),
            },
        }
    }

    fn dial(&self, to: &DialTarget, only_own: bool, limit: Duration) -> Answer {
        if self.streams.count() >= STREAMS_MAX {
            return Answer::Refused { why: format!("{STREAMS_MAX} connections are open already") };
        }
        let dialled = match to {
            DialTarget::Unix(path) => unix(&path.0, limit).map(|socket| (socket, None, None)),
            DialTarget::Tcp { host, port } => tcp(host, *port, only_own, limit).map(|socket| {
                let (local, peer) = (socket.local_addr().ok(), socket.peer_addr().ok());
                (OwnedFd::from(socket), local, peer)
            }),
        };
        match dialled {
            Ok((socket, local, peer)) => {
                let stream = self.new_id();
                self.streams.attach(stream, socket);
                Answer::Dialled { stream, local, peer }
            }
            Err(error) => Answer::IoError {
                os_code: error.raw_os_error(),
                is_timeout: error.kind() == io::ErrorKind::TimedOut,
                text: error.to_string(),
            },
        }
    }

    fn search(&self, search: &Search) -> Answer {
        let mut searches = self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        if searches.len() >= SEARCHES_MAX {
            return Answer::Refused { why: format!("{SEARCHES_MAX} searches run already") };
        }
        let (sender, found) = std::sync::mpsc::channel();
        let progress = Arc::new(SearchProgress::default());
        let (search, of_thread, is_over) = (search.clone(), Arc::clone(&progress), Arc::clone(&self.is_over));
        std::thread::spawn(move || {
            let _ = sender.send(crate::search::search(&search, &of_thread, &is_over));
        });
        let id = self.new_id();
        searches.insert(id, Searching { progress, found });
        Answer::Number { number: id }
    }

    fn search_so_far(&self, id: u64, bytes: &mut Zeroizing<Vec<u8>>) -> Answer {
        let mut searches = self.searches.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(searching) = searches.get(&id) else {
            return Answer::Refused { why: "there is no such search".into() };
        };
        let found = searching.found.try_recv();
        let so_far = searching.progress.so_far();
        match found.map(|found| serde_json::to_vec(&found)) {
            Err(std::sync::mpsc::TryRecvError::Empty) => {
                return Answer::SearchSoFar { so_far, is_done: false };
            }
            Ok(Ok(found)) => **bytes = found,
            Ok(Err(error)) => return Answer::Refused { why: error.to_string() },
            Err(error @ std::sync::mpsc::TryRecvError::Disconnected) => {
                return Answer::Refused { why: format!("the search has ended without a word: {error}") };
            }
        }
        searches.remove(&id);
        Answer::SearchSoFar { so_far, is_done: true }
    }

    fn look(&self, dir: &Path, elsewhere: &[disk::Place]) -> Answer {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.len() >= SEARCHES_MAX {
            return Answer::Refused {
                why: format!("{SEARCHES_MAX} data directories are being read already"),
            };
        }
        let (sender, found) = std::sync::mpsc::channel();
        let progress = Arc::new(disk::Progress::default());
        let (dir, elsewhere, of_thread) = (dir.to_owned(), elsewhere.to_vec(), Arc::clone(&progress));
        std::thread::spawn(move || {
            let _ = sender.send(
                crate::Local.data_directory(&dir, &elsewhere, &of_thread).map_err(|error| error.to_string()),
            );
        });
        let id = self.new_id();
        looks.insert(id, Looking { progress, found });
        Answer::Number { number: id }
    }

    fn look_so_far(&self, id: u64, bytes: &mut Zeroizing<Vec<u8>>) -> Answer {
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(looking) = looks.get(&id) else {
            return Answer::Refused { why: "there is no such look".into() };
        };
        let found = looking.found.try_recv();
        let (read_bytes, all_bytes) = (looking.progress.read_bytes(), looking.progress.all_bytes());
        match found.map(|found| serde_json::to_vec(&found)) {
            Err(std::sync::mpsc::TryRecvError::Empty) => {
                return Answer::LookSoFar { read_bytes, all_bytes, is_done: false };
            }
            Ok(Ok(found)) => **bytes = found,
            Ok(Err(error)) => return Answer::Refused { why: error.to_string() },
            Err(error @ std::sync::mpsc::TryRecvError::Disconnected) => {
                return Answer::Refused { why: format!("the look has ended without a word: {error}") };
            }
        }
        looks.remove(&id);
        Answer::LookSoFar { read_bytes, all_bytes, is_done: true }
    }

    fn capture(&self, iface: &str, ports: &[u16], control: &str) -> Answer {
        let mut captures = self.captures.lock().unwrap_or_else(PoisonError::into_inner);
        if captures.len() >= CAPTURES_MAX {
            return Answer::Refused { why: format!("{CAPTURES_MAX} captures run already") };
        }
        match capture::start_with_control(iface, ports, control) {
            Ok((capture, control_port)) => {
                let id = self.new_id();
                captures.insert(id, capture);
                Answer::Capturing { capture: id, control_port }
            }
            Err(error) => Answer::CaptureError {
                is_not_permitted: matches!(error, CaptureError::NotPermitted { .. }),
                text: error.to_string(),
            },
        }
    }
}

fn reply(id: u64, answer: Answer) -> Message {
    Message::Reply { id, answer }
}

fn one_path(found: Option<PathBuf>) -> Answer {
    found.map_or(Answer::Absent, |path| Answer::Paths { paths: vec![FarPath(path)] })
}

fn paths(found: &[PathBuf]) -> Answer {
    Answer::Paths { paths: found.iter().map(|path| Path::new(path).into()).collect() }
}

fn done(result: Result<(), HostError>) -> Result<Answer, HostError> {
    result.map(|()| Answer::Done)
}

/// connect(2) waits without a limit for room in the listen queue of a server that is frozen: it is done on a thread of its own.
fn unix(path: &Path, limit: Duration) -> io::Result<OwnedFd> {
    let path = path.to_owned();
    let (sender, connected) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(UnixStream::connect(path)));
    connected.recv_timeout(limit).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?.map(OwnedFd::from)
}

fn tcp(host: &str, port: u16, only_own: bool, limit: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        if only_own && !is_own(address.ip()) {
            last = io::Error::other(format!("{} is not an address of that machine", address.ip()));
            continue;
        }
        match TcpStream::connect_timeout(&address, limit) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind(SocketAddr::new(address, 0)).is_ok()
}
