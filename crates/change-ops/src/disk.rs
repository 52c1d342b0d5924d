//! `sealion rotate disk`: the journal that a rotation of a LUKS key is carried out by, on this machine.

use std::cell::RefCell;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use change::driver::Watcher;
use change::{ClusterLock, Command, Direction, Driver, Journal, Machine, Outcome, Record};
use model::{Clock, Plan, SystemClock};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use providers::disk::cryptsetup::Cryptsetup;
use providers::disk::program::Program;
use providers::disk::{Rotating, Rotation, Wish};
use site::OpsError;

use crate::roll::{Progress, Tell};

/// So long a cryptsetup that a killed sealion has left is waited for: as long as one may take.
const LEFT_MAX: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(100);

/// Key files that lie elsewhere than when the plan was made.
#[derive(Debug, Clone, Default)]
pub struct MovedKeys {
    pub old: Option<PathBuf>,
    pub new: Option<PathBuf>,
}

/// `$XDG_STATE_HOME/sealion/disk/UUID`.
pub fn state_dir(uuid: &str) -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".local/state");
    let base = std::env::var_os("XDG_STATE_HOME").map_or_else(home, PathBuf::from);
    // A UUID stands in a header, which anybody may have written.
    let name: String = uuid.chars().filter(|char| char.is_ascii_hexdigit() || *char == '-').collect();
    base.join("sealion/disk").join(if name.is_empty() { "without-uuid" } else { &name })
}

fn journal_path(dir: &Path) -> PathBuf {
    dir.join("rotation.journal")
}

/// cryptsetup, with a lock that what it starts holds to its end: who comes next waits for it.
///
/// # Errors
/// It is not installed, or one that was started before does not end.
pub fn program(dir: &Path) -> Result<Program, OpsError> {
    let program = Program::find().map_err(|why| {
        OpsError::Refused(format!(
            "keys cannot be rotated without cryptsetup, nothing was changed\n  why:  {why}\n  next: install it, then the same command again"
        ))
    })?;
    let path = dir.join("cryptsetup.lock");
    let fail = |error: std::io::Error| OpsError::internal(format!("cannot lock {}", path.display()), error);
    let end = Instant::now() + LEFT_MAX;
    loop {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(fail)?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            // The lock is let go when all descriptors of it are closed, that of a cryptsetup among them.
            Ok(lock) => return Ok(program.holding(lock)),
            Err((_, Errno::EWOULDBLOCK)) if Instant::now() < end => std::thread::sleep(POLL),
            Err((_, errno)) => {
                return Err(OpsError::Refused(format!(
                    "a cryptsetup that was started before has not ended, nothing was changed\n  why:  it holds {} ({errno})\n  next: wait \
                     for it, then the same command again",
                    path.display()
                )));
            }
        }
    }
}

/// Looks at volume, keys and directory; changes nothing.
///
/// # Errors
/// `Refused` with every problem.
pub fn plan(tool: &mut dyn Cryptsetup, wish: &Wish) -> Result<Plan, OpsError> {
    providers::disk::plan(tool, wish, SystemClock.unix_ms(), env!("CARGO_PKG_VERSION")).map_err(|problems| {
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let count = model::text::counted(all.len(), "reason", "reasons");
        OpsError::Refused(format!(
            "rotate disk is refused, nothing was changed ({count})\n\n{}",
            all.join("\n\n")
        ))
    })
}

/// How far a rotation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Open(Direction),
    Rotated,
    Undone,
}

/// The newest rotation of that volume, and how far it is.
///
/// # Errors
/// Its journal cannot be read, or is damaged.
pub fn known(dir: &Path) -> Result<Option<(Plan, Stage)>, OpsError> {
    let path = journal_path(dir);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(OpsError::cannot_look(
                format!("the journal {} cannot be read", path.display()),
                error,
                "run it as the user who began the rotation",
            ));
        }
    };
    let read = change::journal::parse(&bytes, &path)?;
    let (mut plan, mut direction, mut is_closed) = (None, Direction::Forward, false);
    for (_, record) in read.records {
        match record {
            Record::Opened { plan: opened } => plan = Some(*opened),
            Record::Turned { direction: turned } => (direction, is_closed) = (turned, false),
            Record::Closed { direction: closed } => (direction, is_closed) = (closed, true),
            Record::Abandoned { .. } => is_closed = true,
            _ => {}
        }
    }
    let stage = match (is_closed, direction) {
        (false, direction) => Stage::Open(direction),
        (true, Direction::Forward) => Stage::Rotated,
        (true, Direction::Back) => Stage::Undone,
    };
    Ok(plan.map(|plan| (plan, stage)))
}

/// Carries out a new plan.
///
/// # Errors
/// Another one of that volume is not finished; the volume is not as it was; else as its steps say.
pub fn begin(
    dir: &Path,
    tool: &mut dyn Cryptsetup,
    wish: &Wish,
    plan: &Plan,
    tell: Tell<'_>,
) -> Result<(), OpsError> {
    let _lock = ClusterLock::take(dir)?;
    if let Some((open, Stage::Open(_))) = known(dir)? {
        return Err(OpsError::Refused(format!(
            "another rotation of this volume is not finished, nothing was changed\n  why:  {} is open ({})\n  next: sealion rotate disk \
             resume, or sealion rotate disk undo",
            open.id,
            journal_path(dir).display()
        )));
    }
    let now = self::plan(tool, wish)?;
    if now.state_hash != plan.state_hash {
        return Err(OpsError::Refused(
            "the volume is not as it was when the plan was made, nothing was changed\n  why:  its header, its keys or the paths differ\n  \
             next: the same command again, and read its plan"
                .into(),
        ));
    }
    let path = journal_path(dir);
    if path.exists() {
        let kept = path.with_extension(format!("journal.{}", SystemClock.unix_ms()));
        fs::rename(&path, &kept)
            .map_err(|error| OpsError::internal(format!("cannot keep {}", path.display()), error))?;
    }
    let mut journal = Journal::open(&path)?;
    let mut machine = Machine::start(Plan { sequence: 1, ..plan.clone() });
    let ended = drive(tool, &MovedKeys::default(), &mut journal, &mut machine, tell);
    if let Err(OpsError::Refused(_)) = &ended {
        drop(journal);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_file(path.with_extension("lock"));
    }
    ended
}

/// Goes on with it (`None`: as it was last wished), or takes it back, also a finished one.
///
/// # Errors
/// There is none, or as its steps say.
pub fn go_on(
    dir: &Path,
    tool: &mut dyn Cryptsetup,
    moved: &MovedKeys,
    wish: Option<Direction>,
    tell: Tell<'_>,
) -> Result<(), OpsError> {
    let _lock = ClusterLock::take(dir)?;
    let nothing = |why: &str| {
        OpsError::Refused(format!(
            "there is nothing to continue\n  why:  {why}\n  next: sealion status disk shows the header"
        ))
    };
    match known(dir)? {
        None => return Err(nothing(&format!("there is no {}", journal_path(dir).display()))),
        Some((_, Stage::Undone)) => return Err(nothing("the newest rotation of this volume was taken back")),
        Some((_, Stage::Rotated)) if wish != Some(Direction::Back) => {
            return Err(nothing("the newest rotation of this volume is finished"));
        }
        Some(_) => {}
    }
    let mut journal = Journal::open(&journal_path(dir))?;
    let records: Vec<Record> = journal.records().cloned().collect();
    let (mut machine, turned) =
        Machine::resume(records.iter(), wish).ok_or_else(|| nothing("its journal has no plan"))?;
    if let Command::Finished(Outcome::Refused { why, .. }) = machine.next() {
        return Err(OpsError::Refused(format!("that is refused, nothing was changed\n\n{why}")));
    }
    if turned {
        let direction = machine.direction();
        journal.append(SystemClock.unix_ms(), Record::Turned { direction })?;
    }
    drive(tool, moved, &mut journal, &mut machine, tell)
}

fn drive(
    tool: &mut dyn Cryptsetup,
    moved: &MovedKeys,
    journal: &mut Journal,
    machine: &mut Machine,
    tell: Tell<'_>,
) -> Result<(), OpsError> {
    let mut rotation = Rotation::of(machine.plan())
        .map_err(|why| OpsError::internal("the journal is of another version", why))?;
    if let Some(old) = &moved.old {
        rotation.old_key.clone_from(old);
    }
    if let Some(new) = &moved.new {
        rotation.new_key.clone_from(new);
    }
    let shared = RefCell::new(tell);
    let mut say = |line: &str| (shared.borrow_mut())(Progress::Line(line.to_owned()));
    let mut runner = Rotating { tool, rotation, tell: &mut say };
    let mut watcher = Watch { tell: &shared };
    let outcome =
        Driver { journal, runner: &mut runner, watcher: &mut watcher, clock: &SystemClock }.run(machine)?;
    match outcome {
        Outcome::Complete | Outcome::Held { .. } => Ok(()),
        Outcome::Refused { step, why } => {
            Err(OpsError::Refused(format!("step {step} is refused, nothing was changed\n\n{why}")))
        }
        Outcome::Stopped { step, why } => Err(OpsError::Stopped(format!(
            "the rotation stopped at step {step}; what was done stays done\n\n{why}\n\n  next: sealion rotate disk resume (to continue), \
             or sealion rotate disk undo (to revert)"
        ))),
    }
}

struct Watch<'w, 't> {
    tell: &'w RefCell<Tell<'t>>,
}

impl Watcher for Watch<'_, '_> {
    fn at(&mut self, machine: &Machine, command: &Command) {
        crate::access::hold_at(machine, command, &mut |line| (self.tell.borrow_mut())(Progress::Line(line)));
        let steps = machine.plan().steps.len();
        let step = |at: usize, phase: &'static str, direction: Direction| {
            let one = machine.step(at)?;
            let (steps_left, _) = machine.left();
            Some(Progress::Step {
                id: one.id.to_string(),
                kind: one.kind.clone(),
                title: one.title.clone(),
                phase,
                direction,
                at: at + 1,
                of: steps,
                nodes: vec![],
                restarts: false,
                restarts_left: 0,
                steps_left,
            })
        };
        let told = match command {
            Command::Check { step: at, direction } => step(*at, "checking", *direction),
            Command::Act { step: at, direction, .. } => step(*at, "acting", *direction),
            Command::Verify { step: at, direction } => step(*at, "verifying", *direction),
            Command::Append(record) => match &**record {
                Record::Done { step, note, direction } => {
                    Some(Progress::Done { id: step.to_string(), note: note.clone(), direction: *direction })
                }
                Record::Failed { step, why, .. } => {
                    Some(Progress::Failed { id: step.to_string(), why: why.clone() })
                }
                _ => None,
            },
            Command::Finished(_) => None,
        };
        if let Some(told) = told {
            (self.tell.borrow_mut())(told);
        }
    }
}
