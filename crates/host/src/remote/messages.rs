//! What is asked of an agent, and what it answers. Each is one call of [`crate::ReadHost`] or [`crate::WriteHost`], a capture, or a
//! connection that the agent makes on its machine.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::frames::FarPath;
use crate::{
    FileFacts, HostError, JobPlace, JobState, ProcessFacts, Programs, Search, SearchedSoFar, Service,
    ServiceState,
};

/// What an agent may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// Looks; whatever would change something is refused.
    Read,
    Write,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub enum Message {
    Call {
        id: u64,
        request: Request,
    },
    Reply {
        id: u64,
        answer: Answer,
    },
    /// The payload belongs to this stream.
    Data {
        stream: u64,
    },
    /// So many bytes of the stream were handed on: as many more may be sent.
    Taken {
        stream: u64,
        bytes: u64,
    },
    /// This side has nothing more for the stream.
    End {
        stream: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    /// The first one.
    Hello {
        protocol: u32,
    },
    Read {
        path: FarPath,
        bytes_max: u64,
    },
    ReadEnd {
        path: FarPath,
        bytes_max: u64,
    },
    Facts {
        path: FarPath,
    },
    List {
        dir: FarPath,
    },
    Process {
        pid: i32,
    },
    SocketsOf {
        pid: i32,
    },
    Programs {
        names: Vec<String>,
    },
    FreeBytes {
        path: FarPath,
    },
    Writable {
        dir: FarPath,
    },
    ServiceState {
        service: Service,
        limit_ms: u64,
    },
    ServiceSettings {
        service: Service,
        limit_ms: u64,
    },
    VersionOf {
        program: FarPath,
        limit_ms: u64,
    },
    UnitLoadState {
        unit: String,
        limit_ms: u64,
    },
    ProgramOf {
        name: String,
    },
    Link {
        path: FarPath,
    },
    ServiceJob {
        job: FarJob,
    },
    TextIn {
        path: FarPath,
        mark: String,
    },
    /// Begins a search.
    Search {
        search: Search,
    },
    /// How far it is; when it is done, the payload is what it has found, and it is forgotten.
    SearchSoFar {
        search: u64,
    },
    /// Begins to read the files of a data directory.
    Look {
        dir: FarPath,
        elsewhere: Vec<disk::Place>,
    },
    /// The same as [`Self::SearchSoFar`], of what its files hold.
    LookSoFar {
        look: u64,
    },
    /// A connection, whose bytes then pass as a stream. `only_own`: nowhere but to an address of that machine.
    Dial {
        to: DialTarget,
        only_own: bool,
        limit_ms: u64,
    },
    /// A capture, with the control sent into it.
    Capture {
        iface: String,
        ports: Vec<u16>,
        control: String,
    },
    CaptureEnd {
        capture: u64,
    },
    /// The payload is the content.
    Write {
        path: FarPath,
        mode: Option<u32>,
        owner: Option<(u32, u32)>,
    },
    /// The payload is what the file has to have, `expected_bytes` of it, and then what it gets.
    Replace {
        path: FarPath,
        expected_bytes: u64,
    },
    Append {
        path: FarPath,
    },
    MakeDir {
        dir: FarPath,
        mode: u32,
        owner: Option<(u32, u32)>,
    },
    Remove {
        path: FarPath,
    },
    RemoveDir {
        dir: FarPath,
    },
    Sweep {
        dir: FarPath,
    },
    Run {
        command: Vec<String>,
        limit_ms: u64,
    },
    RunService {
        job: FarJob,
        command: Vec<String>,
        limit_ms: u64,
    },
    Lock {
        path: FarPath,
        at_most_ms: u64,
    },
    Unlock {
        lock: u64,
    },
}

impl Request {
    pub fn changes_something(&self) -> bool {
        match self {
            Self::Hello { .. }
            | Self::Read { .. }
            | Self::ReadEnd { .. }
            | Self::Facts { .. }
            | Self::List { .. }
            | Self::Process { .. }
            | Self::SocketsOf { .. }
            | Self::Programs { .. }
            | Self::FreeBytes { .. }
            | Self::Writable { .. }
            | Self::ServiceState { .. }
            | Self::ServiceSettings { .. }
            | Self::VersionOf { .. }
            | Self::TextIn { .. }
            | Self::UnitLoadState { .. }
            | Self::ProgramOf { .. }
            | Self::Link { .. }
            | Self::ServiceJob { .. }
            | Self::Search { .. }
            | Self::SearchSoFar { .. }
            | Self::Look { .. }
            | Self::LookSoFar { .. }
            | Self::Dial { .. }
            | Self::Capture { .. }
            | Self::CaptureEnd { .. } => false,
            Self::Write { .. }
            | Self::Replace { .. }
            | Self::Append { .. }
            | Self::MakeDir { .. }
            | Self::Remove { .. }
            | Self::RemoveDir { .. }
            | Self::Sweep { .. }
            | Self::Run { .. }
            | Self::RunService { .. }
            | Self::Lock { .. }
            | Self::Unlock { .. } => true,
        }
    }
}

/// A [`JobPlace`] on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FarJob {
    Start(FarPath),
    Stop(FarPath),
    Hook(FarPath),
}

impl From<&JobPlace> for FarJob {
    fn from(place: &JobPlace) -> Self {
        let dir = FarPath(place.dir.clone());
        match place.name {
            "stop" => Self::Stop(dir),
            "hook" => Self::Hook(dir),
            _ => Self::Start(dir),
        }
    }
}

impl From<&FarJob> for JobPlace {
    fn from(job: &FarJob) -> Self {
        match job {
            FarJob::Start(dir) => Self::start(&dir.0),
            FarJob::Stop(dir) => Self::stop(&dir.0),
            FarJob::Hook(dir) => Self::hook(&dir.0),
        }
    }
}

/// Where an agent connects to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialTarget {
    Unix(FarPath),
    Tcp { host: String, port: u16 },
}

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFacts {
    pub protocol: u32,
    pub sealion: String,
    pub mode: AgentMode,
    pub host_name: String,
    pub uid: u32,
    /// Its machine's clock.
    pub unix_ms: u64,
    /// Of one that looks: what the kernel holds it to, and what it does not.
    pub fences: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Answer {
    Hello {
        facts: AgentFacts,
    },
    Done,
    /// The payload.
    Bytes,
    Absent,
    Facts {
        facts: FileFacts,
    },
    Paths {
        paths: Vec<FarPath>,
    },
    Process {
        facts: ProcessFacts,
    },
    Programs {
        programs: Programs,
    },
    Number {
        number: u64,
    },
    YesNo {
        yes: bool,
    },
    ServiceState {
        state: ServiceState,
    },
    Text {
        text: String,
    },
    ServiceJob {
        state: JobState,
    },
    Locked {
        lock: u64,
    },
    SearchSoFar {
        so_far: SearchedSoFar,
        is_done: bool,
    },
    LookSoFar {
        read_bytes: u64,
        all_bytes: u64,
        is_done: bool,
    },
    Dialled {
        stream: u64,
        local: Option<SocketAddr>,
        peer: Option<SocketAddr>,
    },
    Capturing {
        capture: u64,
        control_port: u16,
    },
    /// Of the system, by its number where it has one.
    IoError {
        os_code: Option<i32>,
        is_timeout: bool,
        text: String,
    },
    CaptureError {
        is_not_permitted: bool,
        text: String,
    },
    HostError {
        error: FarHostError,
    },
    /// The agent does not do that.
    Refused {
        why: String,
    },
}

/// A [`HostError`] on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FarHostError {
    File { what: String, path: FarPath, os_code: Option<i32>, text: String },
    Command { command: String, how: String, said: String, code: Option<i32> },
    Changed { path: FarPath },
    Process { what: String, why: String },
    Lost { host: String, why: String },
    NoAgent { host: String, why: String },
}

impl From<HostError> for FarHostError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::File { what, path, source } => Self::File {
                what: what.into_owned(),
                path: FarPath(path),
                os_code: source.raw_os_error(),
                text: source.to_string(),
            },
            HostError::Command { command, how, said, code } => Self::Command { command, how, said, code },
            HostError::Changed { path } => Self::Changed { path: FarPath(path) },
            HostError::Process { what, why } => Self::Process { what, why },
            HostError::Lost { host, why } => Self::Lost { host, why },
            HostError::NoAgent { host, why } => Self::NoAgent { host, why },
        }
    }
}

impl From<FarHostError> for HostError {
    fn from(error: FarHostError) -> Self {
        match error {
            FarHostError::File { what, path: FarPath(path), os_code, text } => {
                let source = os_code.map_or_else(|| io::Error::other(text), io::Error::from_raw_os_error);
                Self::File { what: what.into(), path, source }
            }
            FarHostError::Command { command, how, said, code } => Self::Command { command, how, said, code },
            FarHostError::Changed { path: FarPath(path) } => Self::Changed { path },
            FarHostError::Process { what, why } => Self::Process { what, why },
            FarHostError::Lost { host, why } => Self::Lost { host, why },
            FarHostError::NoAgent { host, why } => Self::NoAgent { host, why },
        }
    }
}

impl From<&std::path::Path> for FarPath {
    fn from(path: &std::path::Path) -> Self {
        Self(PathBuf::from(path))
    }
}
