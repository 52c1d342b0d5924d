//! A machine elsewhere: the same program at the other end of the user's own ssh answers for it.
//!
//! Start reading at [`Remote`]. [`frames`] are the bytes, [`messages`] what they mean, [`agent`] the far end, [`connection`] the near
//! one, [`fence`] what the kernel takes from an agent that looks, [`push`] brings the program to a machine that has none. Two agents are started on a machine: one that looks, and one that may change something, which is not started before
//! something is to be changed.

pub mod agent;
pub mod connection;
pub mod fence;
pub mod frames;
pub mod messages;
mod outbox;
pub mod push;
mod streams;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use capture::CaptureReport;

use crate::{
    FileFacts, HostError, HostLock, JobPlace, JobState, ProcessFacts, Programs, ReadHost, Search,
    SearchProgress, Searched, SearchedSoFar, Service, ServiceState, WriteHost,
};
use connection::{Connection, FarSocket, Reply};
use messages::{AgentFacts, AgentMode, Answer, DialTarget, Request};
use push::{PushedProgram, Pusher};

/// From starting ssh to the agent's first word.
const BEGIN_MAX: Duration = Duration::from_secs(20);
/// What needs no waiting at the far end; a file of the largest size over a slow line is among it.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// What waits at the far end is answered so much later than its own limit, at most.
const ON_THE_WAY: Duration = Duration::from_secs(10);
/// A machine that could not be reached is not tried again within this time, nor within [`AGAIN_TIMES`] the time that it took to find
/// out: else a look that asks many things would wait at each of them.
const AGAIN: Duration = Duration::from_secs(3);
const AGAIN_TIMES: u32 = 3;
/// A search at the far end is asked so often how far it is.
const SEARCH_POLL: Duration = Duration::from_millis(200);

/// How a machine is reached.
#[derive(Debug, Clone)]
pub struct SshTarget {
    /// The program and what stands before the destination: `ssh`, `-F`, a file.
    pub ssh: Vec<String>,
    /// As ssh knows it: `db1`, `dba@10.0.0.1`, `ssh://db1:2222`.
    pub destination: String,
    /// Before the agent: `sudo -n`, or nothing.
    pub become_root: Vec<String>,
    pub agent: AgentProgram,
}

/// The sealion at the other end.
#[derive(Debug, Clone)]
pub enum AgentProgram {
    /// It is installed there, at this path.
    Installed(PathBuf),
    /// It is brought there, and removed when its agent ends, unless it is to be kept.
    Pushed { program: Arc<PushedProgram>, keep: bool },
}

impl SshTarget {
    /// What a person runs to see whether ssh gets there, with the options that it is started with.
    fn tried_by_hand(&self) -> String {
        let words = self.ssh.iter().chain([&self.destination]).map(|word| quoted(word));
        words.chain(["true".to_owned()]).collect::<Vec<_>>().join(" ")
    }

    /// The command that leads to an agent which is installed at `agent`.
    fn command(&self, agent: &Path, mode: AgentMode) -> Vec<String> {
        let mode = if mode == AgentMode::Write { "--write" } else { "--read" };
        let agent = agent.to_string_lossy().into_owned();
        if !self.become_root.is_empty() {
            return push::as_root(self, &agent, mode);
        }
        let far: Vec<String> = [agent.as_str(), "agent", mode].into_iter().map(quoted).collect();
        self.ssh_command(&format!("exec {}", far.join(" ")))
    }

    /// ssh, with what the shell at its other end is to do.
    fn ssh_command(&self, far: &str) -> Vec<String> {
        let mut words = self.ssh.clone();
        // Nobody is there to answer a question, and a line that is dead is noticed.
        for option in ["BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3"]
        {
            words.extend(["-o".to_owned(), option.to_owned()]);
        }
        words.extend(["-T".to_owned(), "--".to_owned(), self.destination.clone(), far.to_owned()]);
        words
    }
}

/// As a word of a POSIX shell, which ssh gives its command to.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word.chars().all(|char| char.is_ascii_alphanumeric() || "/._-=:@%+,".contains(char));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[derive(Debug, Default)]
enum Link {
    #[default]
    NotTried,
    Up(Arc<Connection>, AgentFacts),
    Failed {
        until: Instant,
        why: String,
    },
}

/// Starts an agent of this kind.
type Begin = Box<dyn Fn(AgentMode) -> Result<Connection, String> + Send + Sync>;

/// A machine that has agents. They are started when they are needed, and again when they were lost.
pub struct Remote {
    name: String,
    begin: Begin,
    looks: Mutex<Link>,
    changes: Mutex<Link>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Remote {
    pub fn by_ssh(target: SshTarget) -> Self {
        let name = target.destination.clone();
        match target.agent.clone() {
            AgentProgram::Installed(agent) => {
                Self::by(name, move |mode| Connection::start(&target.command(&agent, mode)))
            }
            AgentProgram::Pushed { program, keep } => {
                let pusher = Pusher::new(program, keep);
                Self::by(name, move |mode| Connection::start(&pusher.placed(&target, mode)?))
            }
        }
    }

    /// One whose agents are begun in some other way.
    pub fn by(
        name: impl Into<String>,
        begin: impl Fn(AgentMode) -> Result<Connection, String> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), begin: Box::new(begin), looks: Mutex::default(), changes: Mutex::default() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    fn lost(&self, why: impl Into<String>) -> HostError {
        HostError::Lost { host: self.name.clone(), why: why.into() }
    }

    fn agent(&self, mode: AgentMode) -> Result<(Arc<Connection>, AgentFacts), HostError> {
        self.connection(mode).map_err(|why| HostError::NoAgent { host: self.name.clone(), why })
    }

    fn connection(&self, mode: AgentMode) -> Result<(Arc<Connection>, AgentFacts), String> {
        let link = if mode == AgentMode::Write { &self.changes } else { &self.looks };
        let mut link = link.lock().unwrap_or_else(PoisonError::into_inner);
        match &*link {
            Link::Up(connection, facts) if !connection.is_lost() => {
                return Ok((Arc::clone(connection), facts.clone()));
            }
            Link::Failed { until, why } if Instant::now() < *until => return Err(why.clone()),
            _ => {}
        }
        // The old one is ended before another is started.
        *link = Link::NotTried;
        let tried_at = Instant::now();
        let begun = (self.begin)(mode)
            .and_then(|connection| connection.hello(BEGIN_MAX).map(|facts| (Arc::new(connection), facts)));
        match begun {
            Ok((connection, facts)) => {
                *link = Link::Up(Arc::clone(&connection), facts.clone());
                Ok((connection, facts))
            }
            Err(why) => {
                *link = Link::Failed {
                    until: Instant::now() + AGAIN.max(tried_at.elapsed() * AGAIN_TIMES),
                    why: why.clone(),
                };
                Err(why)
            }
        }
    }

    /// What the agent that looks says of its machine.
    ///
    /// # Errors
    /// `NoAgent`: it cannot be reached, or sealion does not run there.
    pub fn facts_of_agent(&self) -> Result<AgentFacts, HostError> {
        self.agent(AgentMode::Read).map(|(_, facts)| facts)
    }

    fn ask(&self, request: Request, payload: Vec<u8>, limit: Duration) -> Result<Reply, HostError> {
        if !request.changes_something() {
            let (connection, _) = self.agent(AgentMode::Read)?;
            return connection.call(request, payload, limit).map_err(|why| self.lost(why));
        }
        let (connection, _) = self.agent(AgentMode::Write)?;
        connection.call(request, payload, limit).map_err(|why| {
            // It may stand still with the request before it. Carried out after what is asked next, it would change that.
            connection.give_up(&why);
            self.lost(why)
        })
    }

    fn host_call(&self, request: Request, payload: Vec<u8>, limit: Duration) -> Result<Reply, HostError> {
        let reply = self.ask(request, payload, limit)?;
        match reply.answer {
            Answer::HostError { error } => Err(error.into()),
            Answer::Refused { why } => {
                Err(HostError::Process { what: format!("the agent on {} refused", self.name), why })
            }
            _ => Ok(reply),
        }
    }

    fn odd(&self, answer: &Answer) -> HostError {
        HostError::Process {
            what: format!("the agent on {} answered what was not asked", self.name),
            why: format!("{answer:?}"),
        }
    }

    fn content(&self, request: Request) -> Result<Option<Vec<u8>>, HostError> {
        let mut reply = self.host_call(request, Vec::new(), ANSWER_MAX)?;
        match reply.answer {
            Answer::Bytes => Ok(Some(std::mem::take(&mut *reply.payload))),
            Answer::Absent => Ok(None),
            other => Err(self.odd(&other)),
        }
    }

    fn one_path(&self, request: Request) -> Result<Option<PathBuf>, HostError> {
        match self.host_call(request, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Paths { paths } if paths.len() == 1 => Ok(paths.into_iter().next().map(|path| path.0)),
            Answer::Absent => Ok(None),
            other => Err(self.odd(&other)),
        }
    }

    fn done(&self, request: Request, payload: &[u8]) -> Result<(), HostError> {
        match self.host_call(request, payload.to_vec(), ANSWER_MAX)?.answer {
            Answer::Done => Ok(()),
            other => Err(self.odd(&other)),
        }
    }

    fn printed(&self, request: Request, limit: Duration) -> Result<String, HostError> {
        match self.host_call(request, Vec::new(), limit.saturating_add(ON_THE_WAY))?.answer {
            Answer::Text { text } => Ok(text),
            other => Err(self.odd(&other)),
        }
    }

    /// A connection that is made on that machine. `only_own`: to nowhere but an address of its own.
    ///
    /// # Errors
    /// As connect(2) there; `TimedOut`; or the machine is out of reach.
    pub fn dial(&self, to: DialTarget, only_own: bool, limit: Duration) -> io::Result<FarSocket> {
        let request = Request::Dial { to, only_own, limit_ms: millis(limit) };
        let out_of_reach = |error: HostError| io::Error::new(io::ErrorKind::NotConnected, error.to_string());
        let reply = self.ask(request, Vec::new(), limit.saturating_add(ON_THE_WAY)).map_err(out_of_reach)?;
        match (reply.answer, reply.socket) {
            (Answer::Dialled { local, peer, .. }, Some(fd)) => Ok(FarSocket { fd, local, peer }),
            (Answer::IoError { is_timeout: true, .. }, _) => Err(io::ErrorKind::TimedOut.into()),
            (Answer::IoError { os_code: Some(code), .. }, _) => Err(io::Error::from_raw_os_error(code)),
            (Answer::IoError { text: why, .. } | Answer::Refused { why }, _) => Err(io::Error::other(why)),
            (other, _) => Err(io::Error::other(format!("the agent answered {other:?}"))),
        }
    }

    /// A capture on that machine, which has found room for its control.
    ///
    /// # Errors
    /// It may not capture, or cannot be reached.
    pub fn capture(&self, iface: &str, ports: &[u16], control: &str) -> Result<FarCapture, FarCaptureError> {
        let failed = |why| FarCaptureError { is_not_permitted: false, why };
        let (connection, _) = self.connection(AgentMode::Read).map_err(failed)?;
        let request =
            Request::Capture { iface: iface.into(), ports: ports.to_vec(), control: control.into() };
        match connection.call(request, Vec::new(), ANSWER_MAX).map_err(failed)?.answer {
            Answer::Capturing { capture, control_port } => {
                let began_unix_ms = unix_ms();
                Ok(FarCapture { connection, capture, control_port, host: self.name.clone(), began_unix_ms })
            }
            Answer::CaptureError { is_not_permitted, text } => {
                Err(FarCaptureError { is_not_permitted, why: text })
            }
            Answer::Refused { why } => Err(failed(why)),
            other => Err(failed(format!("the agent answered {other:?}"))),
        }
    }
}

/// Why nothing can be captured on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FarCaptureError {
    pub is_not_permitted: bool,
    pub why: String,
}

/// A capture that runs on another machine. It ends with its agent.
#[derive(Debug)]
pub struct FarCapture {
    connection: Arc<Connection>,
    capture: u64,
    pub control_port: u16,
    host: String,
    /// By our clock.
    began_unix_ms: u64,
}

impl FarCapture {
    /// What was seen there, with times by our clock. One that was lost says so, and has seen no control.
    pub fn stop(self) -> CaptureReport {
        let request = Request::CaptureEnd { capture: self.capture };
        let report =
            self.connection.call(request, Vec::new(), ANSWER_MAX).and_then(|reply| match reply.answer {
                Answer::Bytes => serde_json::from_slice(&reply.payload).map_err(|error| error.to_string()),
                other => Err(format!("the agent answered {other:?}")),
            });
        match report {
            Ok(report) => {
                let mut report: CaptureReport = report;
                report.method = format!("{} on {}", report.method, self.host);
                // To within the time that its first answer was on the way.
                let (there, here) = (report.started_unix_ms, self.began_unix_ms);
                let by_ours = |unix_ms: &mut u64| *unix_ms = (*unix_ms + here).saturating_sub(there);
                for flow in &mut report.flows {
                    by_ours(&mut flow.first_unix_ms);
                    by_ours(&mut flow.last_unix_ms);
                }
                by_ours(&mut report.started_unix_ms);
                by_ours(&mut report.ended_unix_ms);
                report
            }
            Err(why) => CaptureReport {
                method: format!("a capture on {} that was lost", self.host),
                failed: Some(why),
                ..CaptureReport::default()
            },
        }
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    millis(since)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl ReadHost for Remote {
    fn tree(&self) -> Box<dyn disk::stack::Tree + '_> {
        Box::new(crate::layers::OverHost(self))
    }

    fn read(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError> {
        self.content(Request::Read { path: path.into(), bytes_max })
    }

    fn read_end(&self, path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, HostError> {
        self.content(Request::ReadEnd { path: path.into(), bytes_max })
    }

    fn facts(&self, path: &Path) -> Result<Option<FileFacts>, HostError> {
        match self.host_call(Request::Facts { path: path.into() }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Facts { facts } => Ok(Some(facts)),
            Answer::Absent => Ok(None),
            other => Err(self.odd(&other)),
        }
    }

    fn list(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
        match self.host_call(Request::List { dir: dir.into() }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Paths { paths } => Ok(paths.into_iter().map(|path| path.0).collect()),
            other => Err(self.odd(&other)),
        }
    }

    fn process(&self, pid: i32) -> Result<Option<ProcessFacts>, HostError> {
        match self.host_call(Request::Process { pid }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Process { facts } => Ok(Some(facts)),
            Answer::Absent => Ok(None),
            other => Err(self.odd(&other)),
        }
    }

    fn sockets_of(&self, pid: i32) -> Result<BTreeSet<u64>, HostError> {
        let bytes = self.content(Request::SocketsOf { pid })?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).lines().filter_map(|line| line.parse().ok()).collect())
    }

    fn programs(&self, names: &[&str]) -> Result<Programs, HostError> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        match self.host_call(Request::Programs { names }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Programs { programs } => Ok(programs),
            other => Err(self.odd(&other)),
        }
    }

    fn free_bytes(&self, path: &Path) -> Result<u64, HostError> {
        match self.host_call(Request::FreeBytes { path: path.into() }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Number { number } => Ok(number),
            other => Err(self.odd(&other)),
        }
    }

    fn writable(&self, dir: &Path) -> Result<bool, HostError> {
        match self.host_call(Request::Writable { dir: dir.into() }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::YesNo { yes } => Ok(yes),
            other => Err(self.odd(&other)),
        }
    }

    fn service_state(&self, service: &Service, limit: Duration) -> ServiceState {
        let request = Request::ServiceState { service: service.clone(), limit_ms: millis(limit) };
        match self.host_call(request, Vec::new(), limit.saturating_add(ON_THE_WAY)) {
            Ok(Reply { answer: Answer::ServiceState { state }, .. }) => state,
            Ok(reply) => ServiceState::CannotTell(self.odd(&reply.answer).to_string()),
            Err(error) => ServiceState::CannotTell(error.to_string()),
        }
    }

    fn service_settings(&self, service: &Service, limit: Duration) -> Result<String, HostError> {
        let request = Request::ServiceSettings { service: service.clone(), limit_ms: millis(limit) };
        // Two questions, one behind the other.
        let limit = limit.saturating_mul(2).saturating_add(ON_THE_WAY);
        match self.host_call(request, Vec::new(), limit)?.answer {
            Answer::Text { text } => Ok(text),
            other => Err(self.odd(&other)),
        }
    }

    fn version_of(&self, program: &Path, limit: Duration) -> Result<Option<String>, HostError> {
        let request = Request::VersionOf { program: program.into(), limit_ms: millis(limit) };
        // It may be asked twice.
        let limit = limit.saturating_mul(2).saturating_add(ON_THE_WAY);
        match self.host_call(request, Vec::new(), limit)?.answer {
            Answer::Text { text } => Ok(Some(text)),
            Answer::Absent => Ok(None),
            other => Err(self.odd(&other)),
        }
    }

    fn unit_load_state(&self, unit: &str, limit: Duration) -> Result<String, HostError> {
        self.printed(Request::UnitLoadState { unit: unit.into(), limit_ms: millis(limit) }, limit)
    }

    fn program_of(&self, name: &str) -> Result<Option<PathBuf>, HostError> {
        self.one_path(Request::ProgramOf { name: name.into() })
    }

    fn link(&self, path: &Path) -> Result<Option<PathBuf>, HostError> {
        self.one_path(Request::Link { path: path.into() })
    }

    fn service_job(&self, job: &JobPlace) -> Result<JobState, HostError> {
        match self.host_call(Request::ServiceJob { job: job.into() }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::ServiceJob { state } => Ok(state),
            other => Err(self.odd(&other)),
        }
    }

    fn search(&self, search: &Search, progress: &SearchProgress) -> Result<Searched, HostError> {
        let begin = Request::Search { search: search.clone() };
        let id = match self.host_call(begin, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Number { number } => number,
            other => return Err(self.odd(&other)),
        };
        let mut before = SearchedSoFar::default();
        loop {
            let reply = self.host_call(Request::SearchSoFar { search: id }, Vec::new(), ANSWER_MAX)?;
            let Answer::SearchSoFar { so_far, is_done } = reply.answer else {
                return Err(self.odd(&reply.answer));
            };
            progress.add_since(before, so_far);
            before = so_far;
            if is_done {
                return serde_json::from_slice(&reply.payload).map_err(|error| HostError::Process {
                    what: format!("what the agent on {} has found is not understood", self.name),
                    why: error.to_string(),
                });
            }
            std::thread::sleep(SEARCH_POLL);
        }
    }

    fn data_directory(
        &self,
        dir: &Path,
        elsewhere: &[disk::Place],
        progress: &disk::Progress,
    ) -> Result<disk::DataDirectory, HostError> {
        let not_told = |why: String| HostError::Process {
            what: format!("what the files of {} on {} hold cannot be told", dir.display(), self.name),
            why,
        };
        let begin = Request::Look { dir: dir.into(), elsewhere: elsewhere.to_vec() };
        let id = match self.host_call(begin, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Number { number } => number,
            other => return Err(self.odd(&other)),
        };
        loop {
            let reply = self.host_call(Request::LookSoFar { look: id }, Vec::new(), ANSWER_MAX)?;
            let Answer::LookSoFar { read_bytes, all_bytes, is_done } = reply.answer else {
                return Err(self.odd(&reply.answer));
            };
            progress.set(read_bytes, all_bytes);
            if is_done {
                let found: Result<agent::Looked, _> = serde_json::from_slice(&reply.payload);
                return found.map_err(|error| not_told(error.to_string()))?.map_err(not_told);
            }
            std::thread::sleep(SEARCH_POLL);
        }
    }

    fn text_in(&self, path: &Path, mark: &str) -> Result<Option<String>, HostError> {
        let request = Request::TextIn { path: path.into(), mark: mark.into() };
        match self.host_call(request, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Text { text } => Ok(Some(text)),
            Answer::Absent => Ok(None),
            other => Err(self.odd(&other)),
        }
    }
}

/// A lock that an agent holds for us; it ends with the agent too.
struct FarLock {
    connection: Arc<Connection>,
    lock: u64,
}

impl HostLock for FarLock {}

impl Drop for FarLock {
    fn drop(&mut self) {
        self.connection.tell(Request::Unlock { lock: self.lock });
    }
}

impl WriteHost for Remote {
    fn write(
        &self,
        path: &Path,
        bytes: &[u8],
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    ) -> Result<(), HostError> {
        self.done(Request::Write { path: path.into(), mode, owner }, bytes)
    }

    fn replace(&self, path: &Path, expected: &[u8], bytes: &[u8]) -> Result<(), HostError> {
        let request = Request::Replace { path: path.into(), expected_bytes: expected.len() as u64 };
        self.done(request, &[expected, bytes].concat())
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError> {
        self.done(Request::Append { path: path.into() }, bytes)
    }

    fn make_dir(&self, dir: &Path, mode: u32, owner: Option<(u32, u32)>) -> Result<(), HostError> {
        self.done(Request::MakeDir { dir: dir.into(), mode, owner }, &[])
    }

    fn remove(&self, path: &Path) -> Result<(), HostError> {
        self.done(Request::Remove { path: path.into() }, &[])
    }

    fn sweep(&self, dir: &Path) -> Result<Vec<PathBuf>, HostError> {
        match self.host_call(Request::Sweep { dir: dir.into() }, Vec::new(), ANSWER_MAX)?.answer {
            Answer::Paths { paths } => Ok(paths.into_iter().map(|path| path.0).collect()),
            other => Err(self.odd(&other)),
        }
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), HostError> {
        self.done(Request::RemoveDir { dir: dir.into() }, &[])
    }

    fn run(&self, command: &[String], timeout: Duration) -> Result<String, HostError> {
        self.printed(Request::Run { command: command.to_vec(), limit_ms: millis(timeout) }, timeout)
    }

    fn run_service(
        &self,
        job: &JobPlace,
        command: &[String],
        timeout: Duration,
    ) -> Result<String, HostError> {
        self.printed(
            Request::RunService { job: job.into(), command: command.to_vec(), limit_ms: millis(timeout) },
            timeout,
        )
    }

    fn lock(&self, path: &Path, at_most: Duration) -> Result<Box<dyn HostLock>, HostError> {
        let (connection, _) = self.agent(AgentMode::Write)?;
        let request = Request::Lock { path: path.into(), at_most_ms: millis(at_most) };
        let reply = connection.call(request, Vec::new(), at_most.saturating_add(ON_THE_WAY));
        match reply.map_err(|why| self.lost(why))?.answer {
            Answer::Locked { lock } => Ok(Box::new(FarLock { connection, lock })),
            Answer::HostError { error } => Err(error.into()),
            Answer::Refused { why } => {
                Err(HostError::Process { what: format!("the agent on {} refused", self.name), why })
            }
            other => Err(self.odd(&other)),
        }
    }
}

/// One that several threads hold.
pub type SharedHost = Arc<dyn WriteHost + Send + Sync>;

#[cfg(test)]
mod tests;
