//! The near end: an agent that was started, and what was asked of it and not answered yet.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::frames::{Frame, FrameReader, PROTOCOL};
use super::messages::{AgentFacts, Answer, Message, Request};
use super::outbox::Outbox;
use super::streams::{StreamEnd, Streams};

/// Of what ssh prints on its error output, the end is kept.
const ERRORS_BYTES_MAX: usize = 4096;
const READ_BYTES: usize = 64 * 1024;
/// An agent whose input has ended is gone within moments; then it is ended.
const END_MAX: Duration = Duration::from_secs(2);
/// A program that has ended may have printed why a moment before; a child of it may keep the pipe.
const SAID_MAX: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(10);

/// An answer, with the near end of a connection where one was made.
#[derive(Debug)]
pub(super) struct Reply {
    pub answer: Answer,
    pub payload: Zeroizing<Vec<u8>>,
    pub socket: Option<OwnedFd>,
}

/// A connection that was made on another machine.
#[derive(Debug)]
pub struct FarSocket {
    pub fd: OwnedFd,
    /// The ends of the connection there; of a unix socket there are none.
    pub local: Option<SocketAddr>,
    pub peer: Option<SocketAddr>,
}

/// What a program prints on its error output.
#[derive(Debug, Default)]
struct Said {
    end: Mutex<SaidEnd>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SaidEnd {
    bytes: Vec<u8>,
    /// More may come.
    open: bool,
}

impl Said {
    fn read_all(&self, mut from: impl Read) {
        let mut piece = [0; 1024];
        while let Ok(count) = from.read(&mut piece)
            && count > 0
        {
            let mut end = locked(&self.end);
            end.bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
            let too_many = end.bytes.len().saturating_sub(ERRORS_BYTES_MAX);
            end.bytes.drain(..too_many);
        }
        locked(&self.end).open = false;
        self.changed.notify_all();
    }

    /// In one line: all of it, or what has come by [`SAID_MAX`].
    fn whole(&self) -> String {
        let waited = self.changed.wait_timeout_while(locked(&self.end), SAID_MAX, |end| end.open);
        let (end, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&end.bytes);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" | ")
    }
}

#[derive(Debug)]
struct Shared {
    outbox: Outbox,
    streams: Streams,
    waiting: Mutex<HashMap<u64, Sender<Reply>>>,
    /// Why nothing more will come.
    lost: Mutex<Option<String>>,
    said: Arc<Said>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn lose(&self, why: String) {
        locked(&self.lost).get_or_insert(why);
        self.outbox.close();
        self.streams.close_all();
        // Whoever waits finds its sender gone.
        locked(&self.waiting).clear();
    }

    fn why_lost(&self) -> String {
        let why = locked(&self.lost).clone().unwrap_or_else(|| "it was closed".into());
        let said = self.said.whole();
        if said.is_empty() { why } else { format!("{why}; it said: {said}") }
    }

    fn read_all(&self, mut input: impl Read) -> String {
        let mut reader = FrameReader::behind_preamble();
        let mut piece = Zeroizing::new(vec![0; READ_BYTES]);
        loop {
            loop {
                match reader.next_frame() {
                    Ok(Some(frame)) => {
                        if let Err(why) = self.take(frame) {
                            return why;
                        }
                    }
                    Ok(None) => break,
                    Err(error) => return format!("what came is not the agent's: {error}"),
                }
            }
            match input.read(&mut piece) {
                Ok(0) if reader.has_begun() => return "the connection ended".into(),
                Ok(0) => {
                    let said = String::from_utf8_lossy(reader.pending());
                    let said = said.trim().lines().last().unwrap_or_default().to_owned();
                    return match said.as_str() {
                        "" => "it ended before the agent's first word".into(),
                        said => format!("it ended before the agent's first word, and printed: {said}"),
                    };
                }
                Ok(count) => reader.push(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.to_string(),
            }
        }
    }

    fn take(&self, frame: Frame) -> Result<(), String> {
        match frame.message {
            Message::Reply { id, answer } => {
                let waiting = locked(&self.waiting).remove(&id);
                let mut socket = None;
                if let Answer::Dialled { stream, .. } = &answer {
                    // Before the next frame is read: it may be the first bytes of this stream.
                    let (near, far) = UnixStream::pair().map_err(|error| error.to_string())?;
                    self.streams.attach(*stream, far.into());
                    self.streams.begin(*stream);
                    // Nobody waits any more: the near end is closed, and with it the stream.
                    socket = Some(near.into());
                }
                if let Some(waiting) = waiting {
                    let _ = waiting.send(Reply { answer, payload: frame.payload, socket });
                }
                Ok(())
            }
            Message::Data { stream } => self.streams.data(stream, frame.payload),
            Message::Taken { stream, bytes } => {
                self.streams.taken(stream, bytes);
                Ok(())
            }
            Message::End { stream } => {
                self.streams.end(stream);
                Ok(())
            }
            Message::Call { .. } => Err("a request where answers are expected".into()),
        }
    }
}

/// An agent that answers. Dropping it ends the agent.
#[derive(Debug)]
pub struct Connection {
    shared: Arc<Shared>,
    child: Mutex<Option<Child>>,
    next_id: AtomicU64,
}

impl Connection {
    /// Talks with an agent that reads and writes elsewhere.
    pub fn over(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Self {
        Self::of(input, output, Arc::default(), None)
    }

    fn of(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        said: Arc<Said>,
        child: Option<Child>,
    ) -> Self {
        let outbox = Outbox::to(output, b"");
        let shared = Arc::new(Shared {
            streams: Streams::new(outbox.clone(), StreamEnd::Near),
            outbox,
            waiting: Mutex::default(),
            lost: Mutex::default(),
            said,
        });
        let reading = Arc::clone(&shared);
        std::thread::spawn(move || {
            let why = reading.read_all(input);
            reading.lose(why);
        });
        Self { shared, child: Mutex::new(child), next_id: AtomicU64::new(1) }
    }

    /// Starts the program that leads to an agent: `ssh` with its arguments, or sealion itself.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &[String]) -> Result<Self, String> {
        let (program, args) = command.split_first().ok_or("there is no command")?;
        let mut child = Command::new(program)
            .args(args)
            // Ctrl-C is for sealion, which may want to end what it does over there first.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{program} cannot be run: {error}"))?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdout.take(), child.stdin.take(), child.stderr.take())
        else {
            return Err(format!("{program} has no pipes"));
        };
        let said = Arc::new(Said {
            end: Mutex::new(SaidEnd { open: true, ..SaidEnd::default() }),
            ..Said::default()
        });
        let reading = Arc::clone(&said);
        std::thread::spawn(move || reading.read_all(errors));
        Ok(Self::of(input, output, said, Some(child)))
    }

    /// The agent's own words, which it says first.
    ///
    /// # Errors
    /// It is not there, or not one that we can talk with.
    pub fn hello(&self, limit: Duration) -> Result<AgentFacts, String> {
        match self.call(Request::Hello { protocol: PROTOCOL }, Vec::new(), limit)?.answer {
            Answer::Hello { facts } if facts.protocol == PROTOCOL => Ok(facts),
            Answer::Hello { facts } => {
                Err(format!("it speaks version {} of the agent's protocol, not {PROTOCOL}", facts.protocol))
            }
            Answer::Refused { why } => Err(why),
            other => Err(format!("it answered {other:?}")),
        }
    }

    pub fn is_lost(&self) -> bool {
        locked(&self.shared.lost).is_some()
    }

    /// # Errors
    /// No answer came in time, or none will. Whether it was done is not known.
    pub(super) fn call(&self, request: Request, payload: Vec<u8>, limit: Duration) -> Result<Reply, String> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = channel();
        locked(&self.shared.waiting).insert(id, sender);
        let sent = self.shared.outbox.send(&Frame::with_payload(Message::Call { id, request }, payload));
        // Lost between the two: nobody would ever take the sender away.
        if sent.is_err() || self.is_lost() {
            locked(&self.shared.waiting).remove(&id);
        }
        match reply.recv_timeout(limit) {
            Ok(reply) => Ok(reply),
            Err(RecvTimeoutError::Disconnected) => Err(match sent {
                Err(why) if !self.is_lost() => why,
                _ => self.shared.why_lost(),
            }),
            Err(RecvTimeoutError::Timeout) => {
                locked(&self.shared.waiting).remove(&id);
                Err(format!("no answer within {} s", limit.as_secs()))
            }
        }
    }

    /// Nothing more is asked of this agent, nor expected: what it has not begun it does not begin.
    pub(super) fn give_up(&self, why: &str) {
        self.shared.lose(why.to_owned());
        // Its pipe ends with it, whatever is on the way.
        if let Some(mut child) = locked(&self.child).take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Says something that needs no answer.
    pub(super) fn tell(&self, request: Request) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let _ = self.shared.outbox.send(&Frame::new(Message::Call { id, request }));
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.lose("it was closed".into());
        let Some(mut child) = locked(&self.child).take() else { return };
        let deadline = Instant::now() + END_MAX;
        while let Ok(None) = child.try_wait() {
            if Instant::now() > deadline {
                let _ = child.kill();
                let _ = child.wait();
                break;
            }
            std::thread::sleep(POLL);
        }
    }
}
