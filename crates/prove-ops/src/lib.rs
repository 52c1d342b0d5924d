//! `sealion prove`: the user's own client against the rogue server, one attack after another, with a verdict for each.

use std::ffi::OsString;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{SIGKILL, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use prove::attack::Family;
use prove::rogue::Visit;
use prove::{Attack, Protocol, Rogue, Settings, Verdict};
use secrecy::{ExposeSecret, SecretString};

use site::OpsError;

pub mod config;
pub mod disk;
pub mod drivers;
pub mod relay;
pub mod sniff;
pub mod tour;

pub use prove::attacks::{ATTACKS, attack};
pub use prove::clients::CLIENTS;

/// Connections that a client has left open when it ends: they are seen to their end.
const LAST_WORDS: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(10);
/// What is kept of a client's own words, from the end of each stream.
const WORDS_BYTES: usize = 4096;
const CANARY: &str = "sealion canary: made for one run, and worth nothing\n";

/// From now on this process leaves no core behind, and no other process of its user reads its memory. Passwords are wiped when
/// they were compared; a core taken in between would hold one.
///
/// # Source
/// prctl(2), `PR_SET_DUMPABLE`: it also holds where cores are piped to a program, which a limit of 0 does not stop.
///
/// # Errors
/// A kernel that does not know it.
pub fn keep_memory_private() -> Result<(), OpsError> {
    nix::sys::prctl::set_dumpable(false).map_err(|error| {
        OpsError::internal("cannot keep the memory of this process out of core files", error)
    })
}

/// Where the rogue listens in a namespace of its own, and its name there.
const NAMED_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 77, 66, 1);
const NAME: &str = "db1.sealion.test";

/// A place for the rogue: what it binds to, and what clients connect to.
pub struct Ground {
    pub bind: IpAddr,
    pub host: String,
    /// Keeps the file that stands in for `/etc/hosts`.
    _dir: Option<tempfile::TempDir>,
}

impl Ground {
    /// The host's loopback. Some libraries check less there.
    pub fn loopback() -> Self {
        Self { bind: IpAddr::V4(Ipv4Addr::LOCALHOST), host: "localhost".into(), _dir: None }
    }

    /// The same, for clients that connect to the address.
    #[must_use]
    pub fn by_address(self) -> Self {
        Self { host: self.bind.to_string(), ..self }
    }

    pub fn at(bind: IpAddr, host: &str) -> Self {
        Self { bind, host: host.to_owned(), _dir: None }
    }

    /// A namespace of its own, with a routable address and a name, seen by nobody else. This process must have one thread.
    ///
    /// # Errors
    /// Where the kernel does not allow it.
    pub fn named() -> Result<Self, OpsError> {
        let dir = tempfile::Builder::new().prefix("sealion-prove-").tempdir().map_err(|error| {
            OpsError::internal("cannot create a directory for the files of the namespace", error)
        })?;
        lab::namespace::enter_new_with_name(NAMED_ADDRESS, NAME, dir.path())?;
        Ok(Self { bind: IpAddr::V4(NAMED_ADDRESS), host: NAME.into(), _dir: Some(dir) })
    }
}

const PASSWORD_CHARACTERS: usize = 24;

/// The user that clients log in as.
pub const USER: &str = "sealion";

/// A rogue and what belongs to it; both are gone when it is dropped.
pub struct Stage {
    pub rogue: Rogue,
    pub host: String,
    password: SecretString,
    dir: tempfile::TempDir,
    ca: PathBuf,
    crl: PathBuf,
}

impl Stage {
    /// # Errors
    /// A port that is taken, more attacks than there are ports from the first one on, or no place for the files.
    pub fn set(
        attacks: &[&'static Attack],
        protocols: &[Protocol],
        ground: &Ground,
        first_port: u16,
    ) -> Result<Self, OpsError> {
        let (bind, host) = (ground.bind, ground.host.as_str());
        let dir = tempfile::Builder::new().prefix("sealion-prove-").tempdir().map_err(|error| {
            OpsError::internal("cannot create a directory for the files of the rogue server", error)
        })?;
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes)
                .map(|()| path)
                .map_err(|error| OpsError::internal("cannot write the files of the rogue server", error))
        };
        let canary = write("canary", CANARY.as_bytes())?;
        // Of this run, for a server that is none: it opens nothing. MySQL takes 32 characters for a replica's.
        let password: String =
            trust::generate_passphrase().expose_secret().chars().take(PASSWORD_CHARACTERS).collect();
        let password = SecretString::from(password);
        let settings = Settings {
            bind,
            host: host.to_owned(),
            password: password.clone(),
            canary: CANARY.into(),
            canary_path: canary.display().to_string(),
        };
        let rogue = Rogue::start(settings, attacks, protocols, first_port).map_err(|error| {
            OpsError::cannot_look(
                format!("the rogue server cannot listen on {bind}"),
                error,
                "choose a free --port, or leave it out",
            )
        })?;
        let ca = write("ca.pem", rogue.ca_pem())?;
        let crl = write("crl.pem", rogue.crl_pem())?;
        Ok(Self { rogue, host: host.to_owned(), password, dir, ca, crl })
    }

    /// What a client is told, in the words of `{…}` and of its environment.
    fn told(&self, port: u16) -> [(&'static str, String); 6] {
        [
            ("host", self.host.clone()),
            ("port", port.to_string()),
            ("user", USER.to_owned()),
            ("password", self.password.expose_secret().to_owned()),
            ("ca", self.ca.display().to_string()),
            ("crl", self.crl.display().to_string()),
        ]
    }

    pub fn ca_path(&self) -> &Path {
        &self.ca
    }

    /// The directory of CA and canary.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// For a person who connects by hand.
    pub fn password(&self) -> &str {
        self.password.expose_secret()
    }
}

/// How one attack went.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub attack: &'static Attack,
    pub verdict: Verdict,
    /// A client may dial again, in another way: the worst of its connections counts.
    pub connections: usize,
    /// Of those, the ones that ended behind the client's turn.
    pub late: usize,
    /// What the client says of itself.
    pub client: Option<String>,
    /// Its answer to the nonce fits the password: it is fit for guessing offline.
    pub is_guessable: bool,
    pub exit: String,
    /// The end of what it wrote.
    pub words: String,
    /// Of the connection that counts: what came and went, packet by packet, and nothing of what was in them.
    pub trace: Vec<String>,
}

impl Outcome {
    /// The client went along with what is an attack, or gave a guessable answer to somebody whom it then refused.
    pub fn has_fallen(&self) -> bool {
        self.verdict.is_fall(self.attack)
    }
}

/// What all attacks on one client came to.
#[derive(Debug, Clone)]
pub struct Judged {
    pub outcomes: Vec<Outcome>,
    /// The client connected to the honest server, so a refusal elsewhere means something.
    pub is_controlled: bool,
}

/// Runs `command` once for each attack, the honest server first; if the client does not even connect to that one, there is no other run. `{host}`, `{port}`, `{user}`, `{password}` and `{ca}` in
/// its words are filled in, and stand in its environment as `SEALION_HOST` and so on; `MYSQL_PWD` is the password too.
///
/// # Errors
/// A command that cannot be started.
pub fn client(
    stage: &Stage,
    attacks: &[&'static Attack],
    protocol: Protocol,
    command: &[OsString],
    at_most: Duration,
    stop: &AtomicBool,
    each: &mut dyn FnMut(&Outcome),
) -> Result<Judged, OpsError> {
    let mut outcomes = Vec::new();
    for attack in attacks {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let Some(port) = stage.rogue.port(attack, protocol) else { continue };
        let ended = run(stage, port, command, None, at_most, stop)?;
        // It was ended with us: what it had not done yet is no verdict.
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let late = add(&mut outcomes, attack, &stage.rogue.visits(LAST_WORDS), ended);
        late.iter().chain(outcomes.last()).for_each(&mut *each);
        // A wrong command, most likely: the other attacks would only say the same once more.
        if attack.family == Family::Control && has_not_connected(&outcomes) {
            break;
        }
    }
    let is_controlled = outcomes
        .iter()
        .any(|one| one.attack.family == Family::Control && matches!(one.verdict, Verdict::Accepted(_)));
    Ok(Judged { outcomes, is_controlled })
}

fn has_not_connected(outcomes: &[Outcome]) -> bool {
    outcomes.last().is_some_and(|one| one.verdict == Verdict::NotConnected)
}

/// Adds the outcome of a run. A connection to an earlier attack that has ended only now counts there, and gives what that one
/// comes to then: a process that the client has left behind may dial when it likes.
fn add(
    outcomes: &mut Vec<Outcome>,
    attack: &'static Attack,
    visits: &[Visit],
    ended: (String, String),
) -> Vec<Outcome> {
    let mut changed = Vec::new();
    for earlier in outcomes.iter_mut() {
        let late: Vec<Visit> =
            visits.iter().filter(|visit| visit.attack.id == earlier.attack.id).cloned().collect();
        if late.is_empty() {
            continue;
        }
        let seen = outcome(earlier.attack, &late, (String::new(), String::new()));
        earlier.connections += seen.connections;
        earlier.late += seen.connections;
        earlier.is_guessable |= seen.is_guessable;
        if seen.verdict > earlier.verdict {
            earlier.verdict = seen.verdict;
            earlier.trace = seen.trace;
        }
        changed.push(earlier.clone());
    }
    let own: Vec<Visit> = visits.iter().filter(|visit| visit.attack.id == attack.id).cloned().collect();
    outcomes.push(outcome(attack, &own, ended));
    changed
}

fn outcome(attack: &'static Attack, visits: &[Visit], (exit, words): (String, String)) -> Outcome {
    let worst = visits.iter().max_by_key(|visit| Verdict::of(&visit.seen));
    Outcome {
        attack,
        verdict: worst.map_or(Verdict::NotConnected, |visit| Verdict::of(&visit.seen)),
        connections: visits.len(),
        late: 0,
        client: visits.iter().find_map(|visit| visit.seen.client.clone()),
        is_guessable: visits.iter().any(|visit| visit.seen.login_fits == Some(true)),
        exit,
        words,
        trace: worst.map(|visit| visit.seen.trace.lines()).unwrap_or_default(),
    }
}

/// The project of a driver, and what its program is told besides.
#[derive(Clone, Copy)]
struct Place<'a> {
    dir: &'a Path,
    settings: Option<&'a str>,
    /// In place of the one URL that the program would make: several hosts, all of them the rogue.
    front: Option<&'a str>,
}

/// How it ended, and the end of what it said.
fn run(
    stage: &Stage,
    port: u16,
    command: &[OsString],
    place: Option<Place<'_>>,
    at_most: Duration,
    stop: &AtomicBool,
) -> Result<(String, String), OpsError> {
    let told = stage.told(port);
    let filled = |word: &OsString| -> OsString {
        match word.to_str() {
            Some(text) => told
                .iter()
                .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
                .into(),
            None => word.clone(),
        }
    };
    let (program, words) = command.split_first().ok_or_else(|| {
        OpsError::usage(
            "no client to test",
            "no command after --",
            "sealion prove client -- mariadb -h {host} -P {port} -u {user} --ssl-ca={ca} -e 'SELECT 1'",
        )
    })?;
    let mut child = Command::new(filled(program));
    if let Some(place) = place {
        child.current_dir(place.dir);
        if let Some(settings) = place.settings {
            child.env("SEALION_SETTINGS", settings);
        }
        if let Some(front) = place.front {
            child.env("SEALION_FRONT", filled(&front.into()));
        }
    }
    child.args(words.iter().map(filled)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, value) in &told {
        child.env(format!("SEALION_{}", name.to_uppercase()), value);
    }
    // A group of its own: a script's children end with it.
    child.env("MYSQL_PWD", stage.password()).process_group(0);
    let mut child = child.spawn().map_err(|error| {
        OpsError::usage(
            format!("{} cannot be started", filled(program).display()),
            error.to_string(),
            "give the client's program after --",
        )
    })?;
    let (send, receive) = mpsc::channel();
    for stream in
        [child.stdout.take().map(Stream::Out), child.stderr.take().map(Stream::Err)].into_iter().flatten()
    {
        let send = send.clone();
        std::thread::spawn(move || send.send(stream.tail()));
    }
    drop(send);
    let exit = wait(&mut child, at_most, stop);
    let mut text = String::new();
    // A grandchild that has left the group may keep a stream open: nobody waits for that one.
    while let Ok(words) = receive.recv_timeout(LAST_WORDS) {
        text += &String::from_utf8_lossy(&words);
    }
    // It is of this run alone, and still nobody's business in a log.
    let text = text.replace(stage.password(), "(the password)");
    Ok((exit, wire::printable(text.trim())))
}

fn wait(child: &mut Child, at_most: Duration, stop: &AtomicBool) -> String {
    let deadline = Instant::now() + at_most;
    loop {
        match has_ended(child) {
            Ok(true) => {
                // What it has left behind is of its group, and would dial when another attack has its turn.
                end_group(child);
                return child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
            }
            Ok(false) if Instant::now() < deadline && !stop.load(Ordering::Relaxed) => {
                std::thread::sleep(POLL);
            }
            Ok(false) => {
                end_group(child);
                let _ = child.wait();
                return format!("stopped by sealion after {} s", at_most.as_secs());
            }
            Err(error) => return error.to_string(),
        }
    }
}

/// Without reaping it: until then nobody else gets its number, and its group has it.
fn has_ended(child: &Child) -> nix::Result<bool> {
    let pid = Pid::from_raw(i32::try_from(child.id()).map_err(|_| Errno::ESRCH)?);
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::Pid(pid), flags).map(|status| status != WaitStatus::StillAlive)
}

fn end_group(child: &Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(group), SIGKILL);
    }
}

enum Stream {
    Out(ChildStdout),
    Err(ChildStderr),
}

impl Stream {
    fn tail(self) -> Vec<u8> {
        match self {
            Self::Out(stream) => tail(stream),
            Self::Err(stream) => tail(stream),
        }
    }
}

fn tail(mut stream: impl Read) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        all.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if all.len() > 2 * WORDS_BYTES {
            all.drain(..all.len() - WORDS_BYTES);
        }
    }
    all.drain(..all.len().saturating_sub(WORDS_BYTES));
    all
}
