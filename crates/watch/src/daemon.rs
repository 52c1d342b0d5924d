//! Looks again and again, until it is told to stop.

use std::fs::File;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use model::{Clock, SystemClock};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use site::{Cluster, OpsError};
use store::Store;

use crate::hook::{Hook, HookCommand, HookOutcome, Ran};
use crate::http::{self, Served};
use crate::look::LookSpec;
use crate::notify::Notifier;
use crate::rotation::{Rotated, Rotation, Wish};
use crate::state::{Change, Look, Reason, State};
use crate::{keep, look, metrics, schedule, view};

#[derive(Debug, Clone)]
pub struct WatchOptions {
    /// Looks once, and ends.
    pub once: bool,
    pub every: Duration,
    /// A look that takes longer counts as failed.
    pub at_most: Duration,
    /// How long packets are captured in each look.
    pub look_ms: u64,
    /// Whether servers are asked what they say of their files.
    pub at_rest: bool,
    pub listen: Option<SocketAddr>,
    pub textfile: Option<PathBuf>,
    pub store: PathBuf,
    /// A program that is told of changes.
    pub on_change: Option<HookCommand>,
    /// Certificates that are replaced when they end soon, and by whom.
    pub rotation: Option<Wish>,
}

/// What happens while it watches.
#[derive(Debug)]
pub enum Event<'e> {
    /// `/metrics` is served there.
    Listening(SocketAddr),
    Looked(&'e Watched),
    /// The program of `on_change` has ended.
    Hooked(&'e Ran),
    /// Certificates end soon, and are being replaced.
    Rotating(&'e str),
    /// One of an earlier process, or that stopped, is open, and none begins.
    RotationOpen(&'e str),
    /// With the reason why the store does not know of it.
    Rotated(&'e Rotated, Option<&'e str>),
}

/// What a look came to.
#[derive(Debug)]
pub struct Watched {
    pub state: State,
    pub changes: Vec<Change>,
    /// Why the outcome is kept in memory only.
    pub unkept: Option<String>,
    /// Why the text file is of an earlier look.
    pub unwritten: Option<String>,
    pub look: Look,
}

/// How often it is asked whether it shall end.
const POLL: Duration = Duration::from_millis(100);
/// A program that still runs when the watch is told to end has as long as this, within its own limit.
const HOOK_LAST: Duration = Duration::from_secs(5);
/// A rotation that is under way then: a node takes some seconds. What is left behind is open, and can be resumed.
const ROTATION_LAST: Duration = Duration::from_secs(60);

struct Watch<'w> {
    cluster: Arc<Cluster>,
    options: &'w WatchOptions,
    state: State,
    /// A look that took too long and has not ended yet: another one beside it would wait for the same.
    late: Option<Receiver<Look>>,
    served: Served,
    notifier: Notifier,
    stop: &'w AtomicBool,
    hook: Option<Hook>,
    rotation: Option<Rotation>,
    has_told_open: bool,
}

/// Watches until `stop`, and `tell` hears of it.
///
/// # Errors
/// Nobody may listen there, or the text file cannot be written: both are wrong from the beginning.
pub fn watch(
    cluster: Cluster,
    options: &WatchOptions,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<(), OpsError> {
    let notifier = Notifier::new(|name| std::env::var(name).ok(), std::process::id());
    if let Some(path) = &options.textfile {
        is_replaceable(path)?;
    }
    let _alone = alone(&options.store, &cluster.name)?;
    let state = known(&options.store, &cluster.name);
    let served = Served::default();
    let hook = options.on_change.clone().map(|command| Hook::new(command, &cluster.name));
    let kept = state.meta.rotation.clone().unwrap_or_default();
    let rotation = options.rotation.clone().map(|wish| Rotation::new(wish, kept));
    let cluster = Arc::new(cluster);
    let mut watch = Watch {
        cluster,
        options,
        state,
        late: None,
        served,
        notifier,
        stop,
        hook,
        rotation,
        has_told_open: false,
    };
    watch.publish()?;
    if let Some(listen) = options.listen {
        let address = http::serve(listen, watch.served.clone()).map_err(|error| {
            OpsError::cannot_look(
                format!("cannot listen on {listen}"),
                error,
                "name another address of this host, or another port: --listen",
            )
        })?;
        tell(Event::Listening(address));
    }
    let mut is_first = true;
    loop {
        let began = Instant::now();
        // Ended in the middle of a look, which says nothing of the servers.
        let Some(mut watched) = watch.once() else { break };
        watched.unwritten = watch.publish().err().map(|error| error.to_string());
        tell(Event::Looked(&watched));
        watch.offer(&watched);
        watch.rotate(tell);
        if is_first {
            is_first = false;
            watch.notifier.tell("READY=1");
        }
        if options.once || stop.load(Ordering::Relaxed) {
            break;
        }
        let gap = schedule::until_next(options.every, chance());
        let wait = schedule::due(Duration::ZERO, gap, began.elapsed()).saturating_sub(began.elapsed());
        if !watch.pause(wait, tell) {
            break;
        }
    }
    watch.notifier.tell("STOPPING=1");
    watch.end_rotation(tell);
    watch.end_hook(tell);
    Ok(())
}

/// Two who keep one cluster in one store would each take the other's states for what was before. The lock ends with the process.
///
/// # Errors
/// Another one holds it.
fn alone(store: &Path, cluster: &str) -> Result<Option<Flock<File>>, OpsError> {
    // Another name of the same file is the same store.
    let mut path = store.canonicalize().unwrap_or_else(|_| store.to_owned()).into_os_string();
    path.push(format!(".{cluster}.watch"));
    let path = PathBuf::from(path);
    if let Some(dir) = path.parent() {
        let _ = std::fs::create_dir_all(dir);
    }
    // Where no lock can be made no state can be kept either, which is said.
    let Ok(file) = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path) else {
        return Ok(None);
    };
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Err(OpsError::Refused(format!(
            "another sealion watch keeps the cluster {cluster} in {}\n  why:  {} is locked, and two would undo each other's states\n  \
             next: end that one, or name another file with --store",
            store.display(),
            path.display()
        ))),
        Err((_, why)) => Err(OpsError::cannot_look(
            format!(
                "whether another sealion watch keeps the cluster {cluster} in {} cannot be determined",
                store.display()
            ),
            format!("{} cannot be locked: {why}", path.display()),
            "name a file on a disk of this machine with --store",
        )),
    }
}

/// Nothing but metrics of ours is written over.
fn is_replaceable(path: &Path) -> Result<(), OpsError> {
    let refuse = |why: &str| {
        OpsError::usage(
            format!("{} is not written over", path.display()),
            why,
            "name a new file in the directory of node_exporter's textfile collector: --textfile",
        )
    };
    let Ok(about) = path.symlink_metadata() else { return Ok(()) };
    if !about.is_file() {
        return Err(refuse("it is there, and is no regular file"));
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(OURS.len() as u64).read_to_end(&mut start));
    if read.is_err() || (about.len() > 0 && start != OURS) {
        return Err(refuse("it holds something else than what sealion watch writes"));
    }
    Ok(())
}

/// As every text of ours begins.
const OURS: &[u8] = b"# HELP sealion_";

/// 0 to 1. Where the system has no random bytes, the middle.
fn chance() -> f64 {
    let mut bytes = [0; 4];
    match openssl::rand::rand_bytes(&mut bytes) {
        Ok(()) => f64::from(u32::from_be_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 0.5,
    }
}

/// What an earlier watch has kept; nothing, where there is none or it cannot be read.
fn known(store: &Path, cluster: &str) -> State {
    let kept = || keep::read(&Store::open_read_only(store).ok()?, cluster).ok()?;
    kept().unwrap_or_default()
}

impl Watch<'_> {
    fn once(&mut self) -> Option<Watched> {
        let look = self.look()?;
        let now = SystemClock.unix_ms();
        let cluster = self.cluster.name.clone();
        let kept = Store::open(&self.options.store)
            .and_then(|mut store| keep::record(&mut store, &cluster, &self.state, &look, now));
        let (state, changes, unkept) = match kept {
            Ok((state, changes)) => (state, changes, None),
            Err(error) => {
                let (mut state, changes) = crate::state::advance(&self.state, &look, now);
                state.meta.count_error("", Reason::Store);
                (state, changes, Some(error.to_string()))
            }
        };
        self.state = state.clone();
        Some(Watched { state, changes, unkept, unwritten: None, look })
    }

    /// `None`: it was told to end meanwhile.
    fn look(&mut self) -> Option<Look> {
        let (began, interval_s) = (Instant::now(), self.options.every.as_secs());
        if let Some(late) = self.late.take()
            && matches!(late.try_recv(), Err(TryRecvError::Empty))
        {
            self.late = Some(late);
            let why = "the look before it has not ended yet: a server or its host does not answer".to_owned();
            return Some(look::failed(&self.cluster, began, interval_s, Reason::Timeout, why));
        }
        let cluster = Arc::clone(&self.cluster);
        let spec = LookSpec { look_ms: self.options.look_ms, interval_s, at_rest: self.options.at_rest };
        let (send, arrived) = mpsc::channel();
        // Whoever does not end is left behind, and what it says then is of another time.
        std::thread::spawn(move || drop(send.send(look::look(&cluster, spec))));
        loop {
            match arrived.recv_timeout(POLL) {
                Ok(look) => return Some(look),
                Err(RecvTimeoutError::Disconnected) => {
                    let why = "the look ended without an outcome; please report this bug".to_owned();
                    return Some(look::failed(&self.cluster, began, interval_s, Reason::Internal, why));
                }
                Err(RecvTimeoutError::Timeout) if began.elapsed() > self.options.at_most => {
                    self.late = Some(arrived);
                    let why = format!("it took more than {} s", self.options.at_most.as_secs());
                    return Some(look::failed(&self.cluster, began, interval_s, Reason::Timeout, why));
                }
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => return None,
                Err(RecvTimeoutError::Timeout) => self.notifier.alive(Instant::now()),
            }
        }
    }

    fn publish(&self) -> Result<(), OpsError> {
        let hook = self.hook.as_ref().map(Hook::counts);
        let rotation = self.rotation.as_ref().map(Rotation::counts);
        let text = metrics::text(&self.cluster.name, &self.state, hook.as_ref(), rotation.as_ref());
        if let Some(path) = &self.options.textfile {
            write_aside(path, &text).map_err(|error| {
                OpsError::usage(
                    format!("{} cannot be written", path.display()),
                    error.to_string(),
                    "name a file in the directory of node_exporter's textfile collector: --textfile",
                )
            })?;
        }
        self.served.set(text);
        Ok(())
    }

    fn offer(&mut self, watched: &Watched) {
        let Some(hook) = &mut self.hook else { return };
        let now = SystemClock.unix_ms();
        hook.offer(&watched.changes, &view::summary(&self.cluster.name, &watched.state, now), now);
    }

    /// Tells of a run that has ended, and begins the next one if changes have come meanwhile.
    fn follow_hook(&mut self, tell: &mut dyn FnMut(Event<'_>)) {
        let Some(ran) = self.hook.as_mut().and_then(Hook::ended) else { return };
        tell(Event::Hooked(&ran));
        if let Some(hook) = &mut self.hook
            && ran.outcome == HookOutcome::Ok
        {
            let now = SystemClock.unix_ms();
            hook.offer(&[], &view::summary(&self.cluster.name, &self.state, now), now);
        }
        // Where the text file cannot be written, the next look says so.
        let _ = self.publish();
    }

    /// Begins a rotation if one is due.
    fn rotate(&mut self, tell: &mut dyn FnMut(Event<'_>)) {
        let Some(mut rotation) = self.rotation.take() else { return };
        let now = SystemClock.unix_ms();
        if let Some(kept) = &self.state.meta.rotation {
            rotation.adopt(kept);
        }
        let begins = !self.stop.load(Ordering::Relaxed) && rotation.is_to_begin(&self.state, now);
        if !begins && self.state.meta.rotation.as_ref().is_some_and(|kept| kept != rotation.kept()) {
            // Closed by a person. What cannot be written now is written by the next look.
            let _ = self.keep_rotation(&rotation);
        }
        // What begins here is open from now on, and by ourselves.
        if !begins && rotation.counts().is_open && !self.has_told_open {
            self.has_told_open = true;
            tell(Event::RotationOpen(&rotation.counts().what));
        }
        if begins {
            match self.keep_rotation(&rotation) {
                Ok(()) => {
                    let what = rotation.counts().what;
                    tell(Event::Rotating(&what));
                    rotation.begin(&self.state);
                }
                Err(why) => rotation.cannot_begin(&why),
            }
        }
        self.rotation = Some(rotation);
        let _ = self.publish();
    }

    fn keep_rotation(&mut self, rotation: &Rotation) -> Result<(), String> {
        self.state.meta.rotation = Some(rotation.kept().clone());
        Store::open(&self.options.store)
            .and_then(|mut store| keep::note_rotation(&mut store, &self.cluster.name, rotation.kept()))
            .map_err(|error| error.to_string())
    }

    /// Tells of a rotation that has ended.
    fn follow_rotation(&mut self, tell: &mut dyn FnMut(Event<'_>)) {
        let Some(mut rotation) = self.rotation.take() else { return };
        let now = SystemClock.unix_ms();
        let ended = rotation.ended(now);
        let unkept = ended.as_ref().and_then(|_| self.keep_rotation(&rotation).err());
        self.rotation = Some(rotation);
        let Some(rotated) = ended else { return };
        tell(Event::Rotated(&rotated, unkept.as_deref()));
        if let Some(hook) = &mut self.hook
            && !rotated.is_known
        {
            hook.offer(&[rotated.change()], &view::summary(&self.cluster.name, &self.state, now), now);
        }
        let _ = self.publish();
    }

    /// Waits for the rotation that is under way: to its end behind the one look of `--once`, else for a while.
    fn end_rotation(&mut self, tell: &mut dyn FnMut(Event<'_>)) {
        let mut deadline = None;
        while self.rotation.as_ref().is_some_and(Rotation::is_running) {
            if self.stop.load(Ordering::Relaxed)
                && Instant::now() > *deadline.get_or_insert_with(|| Instant::now() + ROTATION_LAST)
            {
                if let Some(rotation) = &mut self.rotation {
                    tell(Event::Rotated(&rotation.left_behind(), None));
                }
                return;
            }
            self.notifier.alive(Instant::now());
            std::thread::sleep(POLL);
            self.follow_rotation(tell);
        }
    }

    /// Waits for the run that is under way: as long as it may take behind the one look of `--once`, else for a moment.
    fn end_hook(&mut self, tell: &mut dyn FnMut(Event<'_>)) {
        let mut deadline = None;
        while self.hook.as_ref().is_some_and(Hook::is_running) {
            if self.stop.load(Ordering::Relaxed) {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + HOOK_LAST);
                if let Some(hook) = self.hook.as_ref().filter(|_| Instant::now() > deadline) {
                    hook.end();
                }
            }
            self.notifier.alive(Instant::now());
            std::thread::sleep(POLL);
            self.follow_hook(tell);
        }
    }

    /// False: it shall end.
    fn pause(&mut self, wait: Duration, tell: &mut dyn FnMut(Event<'_>)) -> bool {
        let until = Instant::now() + wait;
        // Also where a look takes longer than the interval, and nothing is waited for.
        self.follow_hook(tell);
        self.follow_rotation(tell);
        while Instant::now() < until {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            self.follow_hook(tell);
            self.follow_rotation(tell);
            self.notifier.alive(Instant::now());
            std::thread::sleep(POLL.min(until.saturating_duration_since(Instant::now())));
        }
        !self.stop.load(Ordering::Relaxed)
    }
}

/// node_exporter reads the file whenever it likes, and never sees half of it. The name aside does not end in `.prom`.
fn write_aside(path: &Path, text: &str) -> std::io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}", std::process::id()));
    let created = File::options().write(true).create(true).truncate(true).mode(0o644).open(&aside);
    let written = created.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&aside, path)).inspect_err(|_| drop(std::fs::remove_file(&aside)))
}
