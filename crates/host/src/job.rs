//! Commands that start or stop a service, as jobs: whoever asked may be cut off before the answer, and whoever comes next can ask what
//! became of it. A job that runs is not begun a second time; it is waited for.
//!
//! A job is a shell that runs the command and then notes its exit code. While it lives it holds a lock, so that nobody has to believe a
//! process number, also after the machine was started anew. The service itself has the lock not: the shell gives it other files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::HostError;

/// Of what the command printed, so much is told.
const SAID_BYTES_MAX: u64 = 2000;
const RECORD_BYTES_MAX: u64 = 64 * 1024;
const POLL: Duration = Duration::from_millis(10);

/// `$1` is the job's id, `$2` where its end is noted; then comes the command. Where nothing can be written any more, the code is still
/// the shell's own. The command keeps the umask that a service has.
const SHELL: &str = r#"
id="$1"; end="$2"; shift 2;
"$@" </dev/null; code=$?;
(umask 077; echo "$id $code" 2>/dev/null >"$end.new" && mv -f "$end.new" "$end");
exit "$code"
"#;

/// Where jobs of one service are noted, and which of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPlace {
    pub dir: PathBuf,
    /// `start`, `stop` or `hook`.
    pub name: &'static str,
}

impl JobPlace {
    pub fn start(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), name: "start" }
    }

    pub fn stop(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), name: "stop" }
    }

    /// A program of the operator's that takes the node out of service, or puts it back.
    pub fn hook(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), name: "hook" }
    }

    fn file(&self, end: &str) -> PathBuf {
        self.dir.join(format!("{}.{end}", self.name))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    pub id: String,
    pub command: Vec<String>,
    /// By the clock of its machine.
    pub began_unix_ms: u64,
}

/// What became of the newest job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// None was ever begun.
    NeverBegan,
    /// `None`: it could not be noted which, as where the disk is full.
    Runs(Option<Job>),
    Ended {
        job: Job,
        code: i32,
        /// The last of what it printed.
        said: String,
    },
    /// It runs no more, and has noted no end: it was killed, its machine was started anew, or the disk was full.
    CutShort { job: Job, said: String },
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> HostError {
    let path = path.to_owned();
    move |source| HostError::File { what: what.into(), path, source }
}

/// Looks at the newest job of this place.
///
/// # Errors
/// What is noted cannot be read.
pub fn state(place: &JobPlace) -> Result<JobState, HostError> {
    let path = place.file("lock");
    let lock = match File::open(&path) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(JobState::NeverBegan),
        Err(error) => return Err(failed("cannot read", &path)(error)),
    };
    let is_free = match flock(&lock, FlockOperation::NonBlockingLockShared) {
        Ok(()) => true,
        Err(rustix::io::Errno::WOULDBLOCK) => false,
        Err(errno) => return Err(failed("cannot lock", &path)(errno.into())),
    };
    let job = record(place)?;
    match (job, is_free) {
        (job, false) => Ok(JobState::Runs(job)),
        (None, true) => Ok(JobState::NeverBegan),
        (Some(job), true) => {
            let said = said(place);
            Ok(match code_of(place, &job)? {
                Some(code) => JobState::Ended { job, code, said },
                None => JobState::CutShort { job, said },
            })
        }
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, HostError> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(RECORD_BYTES_MAX).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("cannot read", path)(error)),
    }
}

/// One that is not whole was not written to its end: then nothing was begun.
fn record(place: &JobPlace) -> Result<Option<Job>, HostError> {
    Ok(read(&place.file("job"))?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// `None`: this very job has noted no end.
fn code_of(place: &JobPlace, job: &Job) -> Result<Option<i32>, HostError> {
    let Some(bytes) = read(&place.file("end"))? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim().split_once(' ').filter(|(id, _)| *id == job.id).and_then(|(_, code)| code.parse().ok()))
}

fn said(place: &JobPlace) -> String {
    let mut bytes = Vec::new();
    let _ = File::open(place.file("log")).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SAID_BYTES_MAX)))?;
        file.take(SAID_BYTES_MAX).read_to_end(&mut bytes)
    });
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs `command` as a job, and waits for it, for `timeout` at most. Where the same command runs as a job already, that one is waited
/// for and its end is the answer; another command is waited for before this one begins.
///
/// # Errors
/// It could not be begun, ended with another code than 0, or still runs.
pub fn run(place: &JobPlace, command: &[String], timeout: Duration) -> Result<String, HostError> {
    let deadline = Instant::now() + timeout;
    let mut adopted: Option<String> = None;
    loop {
        match begin(place, command, adopted.as_deref())? {
            Begun::Runs(child) => return wait(place, command, child, deadline, timeout),
            Begun::Over(code) => return outcome(command, Some(code), said(place)),
            Begun::Busy(Some(job)) if job.command == command => adopted = Some(job.id),
            Begun::Busy(_) => {}
        }
        if Instant::now() > deadline {
            return Err(still_runs(command, timeout));
        }
        std::thread::sleep(POLL);
    }
}

enum Begun {
    Runs(Child),
    Busy(Option<Job>),
    /// The one that was waited for has ended with this code.
    Over(i32),
}

/// `adopted`: the job that was waited for so far.
fn begin(place: &JobPlace, command: &[String], adopted: Option<&str>) -> Result<Begun, HostError> {
    let lock = match open_lock(place) {
        Ok(lock) => Some(lock),
        // A server is started also where the disk is full.
        Err(HostError::File { source, .. })
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::ReadOnlyFilesystem) =>
        {
            None
        }
        Err(error) => return Err(error),
    };
    if let Some(lock) = &lock {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                // Somebody who looks holds it for a moment too: of a job that has ended, nobody waits for another end.
                let Some(job) = record(place)? else { return Ok(Begun::Busy(None)) };
                let has_ended = code_of(place, &job)?.is_some();
                return Ok(Begun::Busy((!has_ended).then_some(job)));
            }
            Err(errno) => return Err(failed("cannot lock", &place.file("lock"))(errno.into())),
        }
        if let Some(id) = adopted
            && let Some(job) = record(place)?.filter(|job| job.id == id)
            && let Some(code) = code_of(place, &job)?
        {
            return Ok(Begun::Over(code));
        }
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let job = Job {
        id: format!("{:016x}", fastrand::u64(..)),
        command: command.to_vec(),
        began_unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
    };
    note(place, &job);
    let log = private(&place.file("log"));
    let output =
        || log.as_ref().ok().and_then(|log| log.try_clone().ok()).map_or_else(Stdio::null, Stdio::from);
    let child = Command::new("/bin/sh")
        .args(["-c", SHELL.trim(), "sealion-job", &job.id])
        .arg(place.file("end"))
        .args(command)
        // Of its own: what ends whoever asked does not end the job.
        .process_group(0)
        .stdout(output())
        .stderr(output())
        // The shell holds the lock, and nobody that it starts.
        .stdin(lock.map_or_else(Stdio::null, Stdio::from))
        .spawn()
        .map_err(|error| HostError::Command {
            command: command.join(" "),
            how: format!("cannot be run ({error})"),
            said: String::new(),
            code: None,
        })?;
    Ok(Begun::Runs(child))
}

fn open_lock(place: &JobPlace) -> Result<File, HostError> {
    if !place.dir.is_dir() {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&place.dir);
        made.map_err(failed("cannot make the directory", &place.dir))?;
    }
    let path = place.file("lock");
    let opened =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    opened.map_err(failed("cannot lock", &path))
}

/// As well as it can be done: a server is started also where the disk is full. What was noted of the job before must not be taken for
/// this one.
fn note(place: &JobPlace, job: &Job) {
    for end in ["end", "job", "log"] {
        let _ = fs::remove_file(place.file(end));
    }
    let path = place.file("job");
    let written = serde_json::to_vec(job).map_err(io::Error::other).and_then(|bytes| {
        let mut file = private(&path)?;
        io::Write::write_all(&mut file, &bytes)?;
        file.sync_all()
    });
    if written.is_err() {
        let _ = fs::remove_file(&path);
    }
}

fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn wait(
    place: &JobPlace,
    command: &[String],
    mut child: Child,
    deadline: Instant,
    timeout: Duration,
) -> Result<String, HostError> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return outcome(command, status.code(), said(place)),
            Ok(None) if Instant::now() > deadline => {
                // Nobody else waits for it: it must not become a zombie of ours.
                std::thread::spawn(move || child.wait());
                return Err(still_runs(command, timeout));
            }
            Ok(None) => std::thread::sleep(POLL),
            Err(error) => {
                return Err(HostError::Command {
                    command: command.join(" "),
                    how: format!("cannot be waited for ({error})"),
                    said: String::new(),
                    code: None,
                });
            }
        }
    }
}

fn still_runs(command: &[String], timeout: Duration) -> HostError {
    let how = format!("still runs after {} s, and was left alone", timeout.as_secs());
    HostError::Command { command: command.join(" "), how, said: String::new(), code: None }
}

fn outcome(command: &[String], code: Option<i32>, said: String) -> Result<String, HostError> {
    if code == Some(0) {
        return Ok(said);
    }
    let how =
        code.map_or_else(|| "was ended by a signal".into(), |code| format!("ended with exit status: {code}"));
    Err(HostError::Command { command: command.join(" "), how, said: said.trim().to_owned(), code })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn script(text: &str) -> Vec<String> {
        ["sh", "-c", text].map(str::to_owned).to_vec()
    }

    fn until(what: impl Fn() -> bool) {
        let deadline = Instant::now() + LONG;
        while !what() {
            assert!(Instant::now() < deadline, "it did not come to that");
            std::thread::sleep(POLL);
        }
    }

    #[test]
    fn a_job_can_be_asked_for_before_while_and_after_it_runs() {
        let dir = tempfile::tempdir().expect("tmp");
        let place = JobPlace::start(&dir.path().join("state"));
        assert_eq!(state(&place).expect("readable"), JobState::NeverBegan);
        let go = dir.path().join("go");
        let words =
            script(&format!("until [ -e {} ]; do sleep 0.01; done; echo bad luck >&2; exit 3", go.display()));
        let error = run(&place, &words, Duration::ZERO).expect_err("it waits").to_string();
        assert!(error.contains("still runs"), "{error}");
        let JobState::Runs(Some(job)) = state(&place).expect("readable") else { panic!("it runs") };
        assert_eq!(job.command, words);
        fs::write(&go, "").expect("writable");
        until(|| !matches!(state(&place).expect("readable"), JobState::Runs(_)));
        let ended = state(&place).expect("readable");
        for entry in fs::read_dir(&place.dir).expect("a directory") {
            let facts = entry.expect("an entry").metadata().expect("there");
            assert_eq!(
                std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o077,
                0,
                "others read it"
            );
        }
        assert_eq!(ended, JobState::Ended { job, code: 3, said: "bad luck\n".into() });
        // Another place knows nothing of it.
        assert_eq!(state(&JobPlace::stop(&place.dir)).expect("readable"), JobState::NeverBegan);
    }

    /// Whoever asked first was cut off: the second one waits for the same start and begins none.
    #[test]
    fn a_start_under_way_is_not_begun_a_second_time() {
        let dir = tempfile::tempdir().expect("tmp");
        let place = JobPlace::start(dir.path());
        let (starts, go) = (dir.path().join("starts"), dir.path().join("go"));
        let words = script(&format!(
            "echo one >>{}; until [ -e {} ]; do sleep 0.01; done; echo up",
            starts.display(),
            go.display()
        ));
        run(&place, &words, Duration::ZERO).expect_err("it waits");
        until(|| starts.exists());
        let second = std::thread::spawn({
            let (place, words) = (place.clone(), words.clone());
            move || run(&place, &words, LONG)
        });
        run(&place, &words, Duration::from_millis(200)).expect_err("it waits still");
        fs::write(&go, "").expect("writable");
        assert_eq!(second.join().expect("no panic").expect("it came up"), "up\n");
        assert_eq!(fs::read_to_string(&starts).expect("there"), "one\n");
        // A later start is another job.
        run(&place, &words, LONG).expect("it comes up");
        assert_eq!(fs::read_to_string(&starts).expect("there"), "one\none\n");
    }

    #[test]
    fn what_a_job_leaves_behind_does_not_hold_it_up() {
        let dir = tempfile::tempdir().expect("tmp");
        let place = JobPlace::start(dir.path());
        let pid_file = dir.path().join("pid");
        let words = script(&format!("sleep 300 & echo $! >{}; echo started", pid_file.display()));
        assert_eq!(run(&place, &words, LONG).expect("it ended with 0"), "started\n");
        assert!(matches!(state(&place).expect("readable"), JobState::Ended { code: 0, .. }));
        let pid: i32 = fs::read_to_string(pid_file).expect("written").trim().parse().expect("a pid");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL)
            .expect("the service runs on");
    }

    /// As when the machine was started anew in the middle of it.
    #[test]
    fn a_job_that_was_killed_is_told_as_cut_short_and_begun_anew() {
        let dir = tempfile::tempdir().expect("tmp");
        let place = JobPlace::start(dir.path());
        let pid_file = dir.path().join("pid");
        let words = script(&format!(
            "[ -e {0} ] && exit 0; echo half; echo $PPID >{0}.new; mv {0}.new {0}; sleep 300",
            pid_file.display()
        ));
        run(&place, &words, Duration::ZERO).expect_err("it sleeps");
        until(|| pid_file.exists());
        let pid: i32 = fs::read_to_string(&pid_file).expect("written").trim().parse().expect("a pid");
        nix::sys::signal::killpg(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL)
            .expect("its group");
        until(|| !matches!(state(&place).expect("readable"), JobState::Runs(_)));
        let JobState::CutShort { said, .. } = state(&place).expect("readable") else {
            panic!("no end is noted")
        };
        assert_eq!(said, "half\n");
        run(&place, &words, LONG).expect("begun anew");
    }

    #[test]
    fn somebody_who_looks_does_not_keep_a_job_from_beginning() {
        let dir = tempfile::tempdir().expect("tmp");
        let place = JobPlace::start(dir.path());
        run(&place, &script("exit 0"), LONG).expect("it ends");
        let held = File::open(place.file("lock")).expect("there");
        flock(&held, FlockOperation::LockShared).expect("nobody has it");
        let begun = std::thread::spawn({
            let place = place.clone();
            move || run(&place, &script("echo again"), LONG)
        });
        std::thread::sleep(Duration::from_millis(50));
        drop(held);
        assert_eq!(begun.join().expect("no panic").expect("it ends"), "again\n");
    }

    #[test]
    fn a_job_runs_also_where_nothing_can_be_noted() {
        let dir = tempfile::tempdir().expect("tmp");
        let place = JobPlace::start(dir.path());
        // Directories cannot be removed as files, nor written.
        for end in ["job", "log", "end", "end.new"] {
            fs::create_dir(place.file(end)).expect("writable");
        }
        let ran = dir.path().join("ran");
        run(&place, &script(&format!("echo x >{}", ran.display())), LONG).expect("it ends");
        assert!(ran.exists());
        let error = run(&place, &script("exit 4"), LONG).expect_err("4");
        assert!(matches!(error, HostError::Command { code: Some(4), .. }), "{error}");
    }
}
