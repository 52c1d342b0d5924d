//! The parent of every server of a lab, one process. One thread starts and ends servers; where the lab has relays, they
//! have threads of their own, which touch nothing but sockets.
//!
//! It answers one JSON line per connection on the lab's control socket. It ends, and ends all its servers, when it is
//! told to, or on SIGTERM, which the kernel sends it when the process that made the lab dies (unless the lab is kept).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use capture::CaptureReport;
use capture::relay::{Relays, Route};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::hosts;
use crate::layout::{self, LabFile, SstMethod};
use crate::proxy;
use crate::remains;

/// How long a server may take to shut down before it is killed, when the lab ends.
const SHUTDOWN_MS_MAX: u64 = 10_000;
/// A script and its children are gone within moments of SIGKILL; more generations than this has time for do not exist.
const ORPHANS_MS_MAX: u64 = 2_000;
/// A request is one short line; more is not a request.
const REQUEST_BYTES_MAX: u64 = 64 * 1024;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    Start {
        node: String,
        args: Vec<String>,
    },
    Stop {
        node: String,
    },
    Kill {
        node: String,
    },
    Status,
    /// Looks at what passes through the relays from now on, and relays a control connection to this address.
    TapOpen {
        control: SocketAddr,
    },
    /// What passed since then.
    TapClose,
    /// Every byte through a relay is kept for so long, each way.
    Delay {
        one_way_ms: u16,
    },
    /// In a lab of hosts: from now on these do not reach each other on the cluster's network; one alone reaches nobody.
    Cut {
        hosts: Vec<String>,
    },
    /// Every host reaches every other one again.
    Mend,
    /// From now on the lab goes on when the process that made it ends.
    Keep,
    /// The servers first, in order, then the supervisor itself.
    Shutdown,
}

/// How often a directory that does not get empty is tried.
const REMOVALS_MAX: u32 = 25;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    pub ok: bool,
    pub error: Option<String>,
    pub nodes: BTreeMap<String, NodeState>,
    /// Where the control connection is to be made to, after `TapOpen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<SocketAddr>,
    /// After `TapClose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureReport>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum NodeState {
    Running {
        pid: u32,
    },
    /// `how` is `exit status: 1` or `signal: 11 (SIGSEGV)`.
    Ended {
        how: String,
    },
    NeverStarted,
}

/// Whoever has connected has so long to say what he wants; others wait meanwhile.
const REQUEST_WAIT: Duration = Duration::from_secs(5);
const ASKS_MAX: u32 = 5;

/// Sends one request to the lab's supervisor.
pub fn ask(lab: &LabFile, request: &Request) -> Result<Answer, LabError> {
    let socket = lab.control_socket();
    let connect = || {
        UnixStream::connect(&socket).map_err(|source| LabError::Missing {
            what: format!("the supervisor of the lab {}", lab.dir.display()),
            why: source.to_string(),
            next: format!("sealion lab up galera{}", crate::layout::dir_option(&lab.dir)),
        })
    };
    let said = |source| LabError::Io { what: format!("talk to {}", socket.display()), source };
    let mut line = serde_json::to_string(request).expect("a request has only plain fields");
    line.push('\n');
    let mut stream = connect()?;
    for left in (0..ASKS_MAX).rev() {
        match stream.write_all(line.as_bytes()) {
            Ok(()) => break,
            // Nothing of it was read: on a busy machine the request came later than the supervisor waits.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe && left > 0 => stream = connect()?,
            Err(error) => return Err(said(error)),
        }
    }
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).map_err(said)?;
    serde_json::from_str(&answer).map_err(|error| LabError::Refused {
        what: format!("the supervisor's answer was not understood: {answer:?}"),
        why: error.to_string(),
        next: "the lab was created by another version of sealion: stop it and create a new one".into(),
    })
}

/// `sealion __supervise DIR [--keep]`: runs until the lab ends.
pub fn run(dir: &Path, keep: bool, parent_pid: i32) -> Result<(), LabError> {
    let refused = |what: &str| {
        let what = what.to_owned();
        move |errno: nix::Error| LabError::Refused {
            what,
            why: errno.to_string(),
            next: "this is a bug of sealion; please report it".into(),
        }
    };
    let (stop_tx, stop_rx) = std::sync::mpsc::channel();
    ctrlc::set_handler(move || {
        let _ = stop_tx.send(());
    })
    .map_err(|error| LabError::Refused {
        what: "cannot handle SIGTERM".into(),
        why: error.to_string(),
        next: "this is a bug of sealion; please report it".into(),
    })?;
    // A lab that is kept is tied too until all of it is there: whoever is interrupted before leaves nothing behind.
    prctl::set_pdeathsig(Signal::SIGTERM).map_err(refused("cannot tie the supervisor to its parent"))?;
    // The parent may have died before the line above; then nobody would send the signal.
    if nix::unistd::getppid().as_raw() != parent_pid {
        return Ok(());
    }
    // Scripts that a dying server leaves behind become our children, so that we can reap and end them.
    prctl::set_child_subreaper(true).map_err(refused("cannot become the reaper of orphans"))?;

    let mut file = LabFile::read(dir)?;
    let mut hosts = Hosts::default();
    if file.hosts {
        hosts.start(&mut file)?;
    }
    let socket = file.control_socket();
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).map_err(LabError::io(format!("bind {}", socket.display())))?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))
        .map_err(LabError::io("close the control socket"))?;
    listener.set_nonblocking(true).map_err(LabError::io("make the control socket non-blocking"))?;
    file.supervisor_pid = nix::unistd::getpid().as_raw();
    file.supervisor_start_ticks = start_ticks(file.supervisor_pid).unwrap_or(0);
    file.write()?;

    let mut front = Front { relays: Relays::new(layout::known_as), stands: BTreeSet::new(), is_tied: true };
    let mut is_interrupted = false;
    let mut servers: BTreeMap<String, Server> = BTreeMap::new();
    loop {
        reap(&mut servers);
        if stop_rx.try_recv().is_ok() {
            end_all(&mut servers);
            is_interrupted = front.is_tied;
            break;
        }
        match listener.accept() {
            Ok((stream, _)) => {
                if serve(stream, dir, &mut servers, &mut front) {
                    break;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(source) => return Err(LabError::Io { what: "accept on the control socket".into(), source }),
        }
    }
    hosts.end();
    let _ = fs::remove_file(&socket);
    if !keep || is_interrupted {
        // Read anew: nodes are added while the lab runs.
        let file = LabFile::read(dir).unwrap_or(file);
        // A script that a server had started may write its last file while its directory goes.
        for _ in 0..REMOVALS_MAX {
            if remains::remove_own(dir, &file).is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    Ok(())
}

/// The hosts of a lab that has some.
#[derive(Default)]
struct Hosts(Vec<hosts::Host>);

impl Hosts {
    fn start(&mut self, file: &mut LabFile) -> Result<(), LabError> {
        hosts::make_networks(file.number, file.operator_is_client)?;
        let pid = |host: &hosts::Host| i32::try_from(host.pid()).ok();
        let names: Vec<String> = file.nodes.iter().map(|node| node.name.clone()).collect();
        for (at, name) in names.iter().enumerate() {
            let host = hosts::start(file, name, u8::try_from(at + 1).unwrap_or(u8::MAX), file.number)?;
            if let Some(node) = file.nodes.get_mut(at) {
                node.host_pid = pid(&host);
            }
            self.0.push(host);
        }
        for at in 0..file.arbitrators.len() {
            let name = file.arbitrators.get(at).map(|one| one.name.clone()).unwrap_or_default();
            let number = u8::try_from(names.len() + at + 1).unwrap_or(u8::MAX);
            let host = hosts::start(file, &name, number, file.number)?;
            if let Some(node) = file.arbitrators.get_mut(at) {
                node.host_pid = pid(&host);
            }
            self.0.push(host);
        }
        let app = hosts::start(file, hosts::APP_HOST, 0, file.number)?;
        file.app_host_pid = pid(&app);
        self.0.push(app);
        if file.proxy {
            let number = u8::try_from(names.len() + file.arbitrators.len() + 1).unwrap_or(u8::MAX);
            let host = hosts::start(file, hosts::PROXY_HOST, number, file.number)?;
            let host_pid = host.pid();
            file.proxy_host_pid = pid(&host);
            self.0.push(host);
            self.0.push(proxy::start(file, host_pid)?);
        }
        Ok(())
    }

    fn end(&mut self) {
        self.0.iter_mut().for_each(hosts::Host::end);
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.end();
    }
}

/// The relays, and the nodes that they stand in front of already.
struct Front {
    relays: Relays,
    stands: BTreeSet<String>,
    /// It ends with the process that made it.
    is_tied: bool,
}

impl Front {
    /// A relay at each port of `name` that others dial, where the lab has relays.
    fn stand(&mut self, dir: &Path, name: &str) -> Result<(), String> {
        let file = LabFile::read(dir).map_err(|error| error.to_string())?;
        let Some(node) = file.node(name) else { return Ok(()) };
        let Some(behind) = node.behind else { return Ok(()) };
        if !self.stands.insert(name.to_owned()) {
            return Ok(());
        }
        // The joiner's rsync daemon listens at the address that it announces, so no relay can stand there.
        let sst = (file.sst_method == SstMethod::Mariabackup).then_some(layout::SST_PORT);
        for port in [layout::SQL_PORT, layout::GALERA_PORT, layout::IST_PORT].into_iter().chain(sst) {
            let route =
                Route { listen: SocketAddr::new(node.address, port), target: SocketAddr::new(behind, port) };
            self.relays.add(route).map_err(|error| format!("relay {}: {error}", route.listen))?;
        }
        Ok(())
    }
}

struct Server {
    /// Its HOME, and that of everything it starts; no other node's.
    home: PathBuf,
    child: Option<Child>,
    ended: Option<String>,
}

/// Returns true when the lab shall end.
fn serve(stream: UnixStream, dir: &Path, servers: &mut BTreeMap<String, Server>, front: &mut Front) -> bool {
    let _ = stream.set_nonblocking(false);
    let _ = stream.set_read_timeout(Some(REQUEST_WAIT));
    let Ok(reader) = stream.try_clone() else { return false };
    let mut line = String::new();
    if BufReader::new(std::io::Read::take(reader, REQUEST_BYTES_MAX)).read_line(&mut line).is_err() {
        return false;
    }
    let mut end = false;
    let (mut control, mut capture) = (None, None);
    let outcome = match serde_json::from_str::<Request>(&line) {
        Err(error) => Err(format!("not a request: {error}")),
        Ok(Request::Status) => Ok(()),
        Ok(Request::Start { node, args }) => {
            front.stand(dir, &node).and_then(|()| start(dir, &node, &args, servers))
        }
        Ok(Request::TapOpen { control: target }) => {
            front.relays.begin();
            // An own listener each time; its thread waits for ever, which a lab can afford a few dozen times.
            let listen = SocketAddr::new(target.ip(), 0);
            front
                .relays
                .add(Route { listen, target })
                .map(|address| control = Some(address))
                .map_err(|error| format!("relay the control: {error}"))
        }
        Ok(Request::TapClose) => {
            capture = front.relays.end();
            capture.is_some().then_some(()).ok_or_else(|| "no tap is open".to_owned())
        }
        Ok(Request::Delay { one_way_ms }) => {
            front.relays.set_delay(Duration::from_millis(one_way_ms.into()));
            Ok(())
        }
        Ok(Request::Cut { hosts: names }) => {
            LabFile::read(dir).and_then(|lab| hosts::cut(&lab, &names)).map_err(|error| error.to_string())
        }
        Ok(Request::Mend) => {
            LabFile::read(dir).and_then(|lab| hosts::mend(&lab)).map_err(|error| error.to_string())
        }
        // Its unit stops an arbitrator so: it does not always end on SIGTERM.
        Ok(Request::Stop { node }) if LabFile::read(dir).is_ok_and(|lab| lab.is_arbitrator(&node)) => {
            signal(&node, Signal::SIGINT, servers)
        }
        Ok(Request::Stop { node }) => signal(&node, Signal::SIGTERM, servers),
        Ok(Request::Kill { node }) => signal(&node, Signal::SIGKILL, servers),
        Ok(Request::Keep) => prctl::set_pdeathsig(None)
            .map(|()| front.is_tied = false)
            .map_err(|errno| format!("leave the process that made the lab: {errno}")),
        Ok(Request::Shutdown) => {
            end_all(servers);
            end = true;
            Ok(())
        }
    };
    reap(servers);
    let nodes = servers
        .iter()
        .map(|(name, server)| {
            let state = match (&server.child, &server.ended) {
                (Some(child), _) => NodeState::Running { pid: child.id() },
                (None, Some(how)) => NodeState::Ended { how: how.clone() },
                (None, None) => NodeState::NeverStarted,
            };
            (name.clone(), state)
        })
        .collect();
    let answer = Answer { ok: outcome.is_ok(), error: outcome.err(), nodes, control, capture };
    let mut text = serde_json::to_string(&answer).expect("an answer has only plain fields");
    text.push('\n');
    let mut stream = stream;
    let _ = stream.write_all(text.as_bytes());
    end
}

/// What the start script of its package (`garb-systemd`) does with the file.
const START_ARBITRATOR: &str =
    r#". "$1"; exec "$2" -a "gcomm://$GALERA_NODES" -g "$GALERA_GROUP" -o "$GALERA_OPTIONS" -l "$LOG_FILE""#;

fn start(
    dir: &Path,
    name: &str,
    args: &[String],
    servers: &mut BTreeMap<String, Server>,
) -> Result<(), String> {
    if servers.get(name).is_some_and(|server| server.child.is_some()) {
        return Ok(());
    }
    // Read anew: nodes are added while the lab runs.
    let file = LabFile::read(dir).map_err(|error| error.to_string())?;
    let node = file.node(name).ok_or_else(|| format!("the lab has no node \"{name}\""))?;
    let log = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(node.log())
        .map_err(|error| format!("open {}: {error}", node.log().display()))?;
    let err = log.try_clone().map_err(|error| error.to_string())?;
    // Not its path: a lab outlives a binary that was built or installed anew over it.
    let mut command = Command::new("/proc/self/exe");
    match node.host_pid {
        Some(pid) => command.arg("__server_at").arg(pid.to_string()),
        None => command.arg("__server"),
    };
    if file.is_arbitrator(name) {
        command.args(["/bin/sh", "-c", START_ARBITRATOR, "sh"]).arg(node.garb_file());
        command.arg(file.servers.program("garbd"));
    } else {
        command
            .args(file.servers_of(node).command())
            .arg(format!("--defaults-file={}", node.my_cnf().display()))
            .args(args);
    }
    let child = command
        .env_clear()
        .envs(file.servers_of(node).environment())
        .env("HOME", &node.dir)
        .current_dir(&node.dir)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(err)
        .spawn()
        .map_err(|error| format!("start {name}: {error}"))?;
    servers.insert(name.to_owned(), Server { home: node.dir.clone(), child: Some(child), ended: None });
    Ok(())
}

fn signal(name: &str, signal: Signal, servers: &BTreeMap<String, Server>) -> Result<(), String> {
    let Some(child) = servers.get(name).and_then(|server| server.child.as_ref()) else { return Ok(()) };
    let pid = Pid::from_raw(i32::try_from(child.id()).map_err(|error| error.to_string())?);
    // A hard kill takes the SST scripts of the server along; a stop lets the server end them itself.
    let sent = if signal == Signal::SIGKILL { killpg(pid, signal) } else { kill(pid, signal) };
    sent.map_err(|errno| format!("signal {name}: {errno}"))
}

fn reap(servers: &mut BTreeMap<String, Server>) {
    let mut ended = Vec::new();
    for server in servers.values_mut() {
        if let Some(child) = &mut server.child
            && let Ok(Some(status)) = child.try_wait()
        {
            // What it left behind (rsync, stunnel, socat) shares its process group and must not keep a port.
            if let Ok(pid) = i32::try_from(child.id()) {
                let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
            }
            server.ended = Some(status.to_string());
            server.child = None;
            ended.push(server.home.clone());
        }
    }
    for home in ended {
        end_orphans(&home);
    }
    bury_orphans(servers);
}

/// Ends what a dead server left behind. A transfer's script leads a process group of its own, so the signal to the server's
/// group does not reach it; left alone, it makes the next transfer fail with "previous SST script still running" or "rsync
/// daemon still running" (seen on 10.11.19 after a crash in IST). It became our child when its server died.
fn end_orphans(home: &Path) {
    let deadline = Instant::now() + Duration::from_millis(ORPHANS_MS_MAX);
    // Ending a script makes its own children ours.
    while Instant::now() < deadline {
        let orphans: Vec<i32> = children_of(nix::unistd::getpid().as_raw())
            .into_iter()
            .filter(|&pid| has_home(pid, home))
            .collect();
        if orphans.is_empty() {
            return;
        }
        for orphan in orphans.into_iter().map(Pid::from_raw) {
            let _ = kill(orphan, Signal::SIGKILL);
            let _ = waitpid(orphan, None);
        }
    }
}

/// An orphan that ended by itself is ours to wait for: until then its number counts as a running process, also for the SST
/// scripts, which look for the one that wrote their pid file.
fn bury_orphans(servers: &BTreeMap<String, Server>) {
    let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    while let Ok(status) = waitid(Id::All, ended)
        && let Some(pid) = status.pid()
    {
        let is_server = |server: &Server| {
            server.child.as_ref().and_then(|child| i32::try_from(child.id()).ok()) == Some(pid.as_raw())
        };
        // How a server ended is kept; it is reaped in the next round.
        if servers.values().any(is_server) {
            return;
        }
        let _ = waitpid(pid, None);
    }
}

fn has_home(pid: i32, home: &Path) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let wanted = [b"HOME=".as_slice(), home.as_os_str().as_bytes()].concat();
    environment.split(|&byte| byte == 0).any(|variable| variable == wanted)
}

fn children_of(parent: i32) -> Vec<i32> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid| {
            // Field 4 of /proc/PID/stat; the name in field 2 may hold spaces.
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let field = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1));
            field.and_then(|field| field.parse().ok()) == Some(parent)
        })
        .collect()
}

fn end_all(servers: &mut BTreeMap<String, Server>) {
    for name in servers.keys().cloned().collect::<Vec<_>>() {
        let _ = signal(&name, Signal::SIGTERM, servers);
    }
    let deadline = Instant::now() + Duration::from_millis(SHUTDOWN_MS_MAX);
    while servers.values().any(|server| server.child.is_some()) && Instant::now() < deadline {
        reap(servers);
        std::thread::sleep(Duration::from_millis(20));
    }
    for name in servers.keys().cloned().collect::<Vec<_>>() {
        let _ = signal(&name, Signal::SIGKILL, servers);
    }
    for server in servers.values_mut() {
        if let Some(child) = &mut server.child {
            let _ = child.wait();
            server.child = None;
        }
        end_orphans(&server.home);
    }
}

/// `sealion __server PROGRAM ARGS…`: becomes the server, tied to the supervisor, without any capability.
pub fn become_server(program: &Path, args: &[std::ffi::OsString]) -> LabError {
    become_tied(program, args, crate::namespace::drop_ambient)
}

/// `sealion __server_at PID PROGRAM ARGS…`: the same, in the network of a host.
pub fn become_server_at(pid: i32, program: &Path, args: &[std::ffi::OsString]) -> LabError {
    match hosts::enter_network(pid) {
        Ok(()) => become_server(program, args),
        Err(error) => error,
    }
}

/// `sealion __vpn PROGRAM ARGS…`: the same, with the capability that [`crate::network::for_vpn_programs`] hands on.
pub fn become_vpn_end(program: &Path, args: &[std::ffi::OsString]) -> LabError {
    become_tied(program, args, || ())
}

fn become_tied(program: &Path, args: &[std::ffi::OsString], before: impl FnOnce()) -> LabError {
    if let Err(errno) = prctl::set_pdeathsig(Signal::SIGKILL) {
        return LabError::Refused {
            what: "cannot tie the server to the supervisor".into(),
            why: errno.to_string(),
            next: "this is a bug of sealion; please report it".into(),
        };
    }
    before();
    let source = Command::new(program).args(args).exec();
    LabError::Io { what: format!("start {}", program.display()), source }
}

/// Is it the process that began then, and has not ended? A dead one whose parent does not ask how it ended keeps its number.
pub fn is_running(pid: i32, began_ticks: u64) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_dead = stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']));
    !is_dead && start_ticks(pid) == Some(began_ticks)
}

/// Field 22 (start time in clock ticks since boot) of /proc/PID/stat; the name in field 2 may hold spaces.
pub fn start_ticks(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}
