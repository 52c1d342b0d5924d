//! The programs of one copy: started, waited for, and ended with it, however it ends.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::bench::cpu;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use site::OpsError;
use site::servers::internal;

use crate::rig::child::UP_MAX;

/// Short beside a copy.
const POLL: Duration = Duration::from_millis(1);
/// When one has failed its neighbours do too: all of them say why, and the first reason is in one of these.
const NEIGHBOURS_MAX: Duration = Duration::from_millis(300);
/// A daemon that was asked to end.
const DOWN_MAX: Duration = Duration::from_secs(5);

/// A program and how it is called.
pub struct Job {
    pub name: &'static str,
    pub command: Command,
}

/// What a program reads.
pub enum Input {
    Nothing,
    Pipe(ChildStdout),
}

struct Program {
    name: &'static str,
    child: Child,
    said: PathBuf,
    /// It serves until it is asked to end.
    is_daemon: bool,
    ended: Option<ExitStatus>,
}

/// All of a copy. None of them outlives it: each leads a group of its own, which is killed with what it has started.
pub struct Programs {
    dir: PathBuf,
    all: Vec<Program>,
}

impl Programs {
    /// What they say goes into files of `dir`, in which they run.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), all: vec![] }
    }

    /// One whose output another one reads.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn piped(&mut self, job: Job, input: Input) -> Result<Input, OpsError> {
        let out = self.start(job, input, Stdio::piped(), false)?;
        let out = out.ok_or_else(|| OpsError::internal("a program has no output", "it was asked for"))?;
        Ok(Input::Pipe(out))
    }

    /// One whose output nobody reads.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn sink(&mut self, job: Job, input: Input) -> Result<(), OpsError> {
        self.start(job, input, Stdio::null(), false).map(|_| ())
    }

    /// # Errors
    /// It cannot be started.
    pub fn daemon(&mut self, job: Job) -> Result<(), OpsError> {
        self.start(job, Input::Nothing, Stdio::null(), true).map(|_| ())
    }

    fn start(
        &mut self,
        Job { name, mut command }: Job,
        input: Input,
        out: Stdio,
        is_daemon: bool,
    ) -> Result<Option<ChildStdout>, OpsError> {
        let said = self.dir.join(format!("{}.{name}.said", self.all.len()));
        let file = fs::File::create(&said).map_err(internal("cannot create a file of the lab"))?;
        let input = match input {
            Input::Nothing => Stdio::null(),
            Input::Pipe(from) => from.into(),
        };
        let mut child = command
            .current_dir(&self.dir)
            .process_group(0)
            .stdin(input)
            .stdout(out)
            .stderr(file)
            .spawn()
            .map_err(internal(&format!("cannot start {name}")))?;
        let out = child.stdout.take();
        self.all.push(Program { name, child, said, is_daemon, ended: None });
        // With `command` our ends of its pipes go: who reads one would wait for us.
        Ok(out)
    }

    /// Until somebody listens. False: somebody wanted the end.
    ///
    /// # Errors
    /// A program has ended; nobody does.
    pub fn listens(&mut self, port: u16, stop: &AtomicBool) -> Result<bool, OpsError> {
        self.until(&|| cpu::is_listening(port), &format!("port {port}"), stop)
    }

    /// Until a file has a whole line. As [`Self::listens`].
    ///
    /// # Errors
    /// A program has ended; it does not come.
    pub fn has_line(&mut self, path: &Path, stop: &AtomicBool) -> Result<bool, OpsError> {
        let is_there = || fs::read(path).is_ok_and(|bytes| bytes.ends_with(b"\n"));
        self.until(&is_there, &path.display().to_string(), stop)
    }

    fn until(&mut self, is_so: &dyn Fn() -> bool, what: &str, stop: &AtomicBool) -> Result<bool, OpsError> {
        let deadline = Instant::now() + UP_MAX;
        while !is_so() {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            self.reap()?;
            // One that receives has nothing yet: it ends with 0 neither.
            if self.all.iter().any(|program| program.ended.is_some()) {
                return Err(self.failed());
            }
            if Instant::now() > deadline {
                return Err(OpsError::cannot_look(
                    format!("a receiver is not ready: {what}"),
                    format!("nothing was seen for {} s", UP_MAX.as_secs()),
                    "try again when the machine has less load",
                ));
            }
            std::thread::sleep(POLL);
        }
        Ok(true)
    }

    /// Until all but the daemons have ended well. False: somebody wanted the end.
    ///
    /// # Errors
    /// One has failed; they take longer than `most`.
    pub fn wait(&mut self, most: Duration, stop: &AtomicBool) -> Result<bool, OpsError> {
        let deadline = Instant::now() + most;
        loop {
            self.reap()?;
            if self.all.iter().any(Program::is_failed) {
                let neighbours = Instant::now() + NEIGHBOURS_MAX;
                while Instant::now() < neighbours && self.all.iter().any(Program::is_awaited) {
                    std::thread::sleep(POLL);
                    self.reap()?;
                }
                return Err(self.failed());
            }
            if !self.all.iter().any(Program::is_awaited) {
                return Ok(true);
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if Instant::now() > deadline {
                let names: Vec<&str> =
                    self.all.iter().filter(|one| one.is_awaited()).map(|one| one.name).collect();
                return Err(OpsError::cannot_look(
                    "a copy does not end",
                    format!("{} did not end within {} s", names.join(", "), most.as_secs()),
                    "check these programs by hand, and the load of the machine",
                ));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Asks the daemons to end, when what they have started for a connection has ended: else its time would be nobody's.
    ///
    /// # Errors
    /// The kernel says nothing of a child.
    pub fn end_daemons(&mut self) -> Result<(), OpsError> {
        let deadline = Instant::now() + DOWN_MAX;
        for program in self.all.iter().filter(|one| one.is_daemon && one.ended.is_none()) {
            let Some(pid) = program.pid() else { continue };
            while cpu::family_of(pid.as_raw()).len() > 1 && Instant::now() < deadline {
                std::thread::sleep(POLL);
            }
            let _ = kill(pid, Signal::SIGTERM);
        }
        while self.all.iter().any(|one| one.ended.is_none()) && Instant::now() < deadline {
            self.reap()?;
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn reap(&mut self) -> Result<(), OpsError> {
        for program in self.all.iter_mut().filter(|one| one.ended.is_none()) {
            program.ended = program.child.try_wait().map_err(internal("cannot check a child process"))?;
        }
        Ok(())
    }

    /// Of all that have ended, and of the daemons, which know more than who spoke to them; in the order of their start.
    fn failed(&self) -> OpsError {
        let whys: Vec<String> =
            self.all.iter().filter(|one| one.ended.is_some() || one.is_daemon).map(Program::told).collect();
        OpsError::cannot_look("a copy failed", whys.join("; "), "try these programs by hand")
    }
}

impl Program {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().map(Pid::from_raw)
    }

    /// How it ended, and its last words.
    fn told(&self) -> String {
        let said = fs::read(&self.said).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        let last = wire::printable(last.trim());
        match self.ended {
            Some(status) => format!("{} ended with {status}, and said last: {last}", self.name),
            None => format!("{} still runs, and said last: {last}", self.name),
        }
    }

    fn is_awaited(&self) -> bool {
        !self.is_daemon && self.ended.is_none()
    }

    /// A daemon that has ended before it was asked to has failed too.
    fn is_failed(&self) -> bool {
        self.ended.is_some_and(|status| self.is_daemon || !status.success())
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        for program in self.all.iter_mut().filter(|one| one.ended.is_none()) {
            if let Some(group) = program.pid() {
                let _ = killpg(group, Signal::SIGKILL);
            }
            // Where it has not come to lead a group yet.
            let _ = program.child.kill();
            let _ = program.child.wait();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        Job { name: "sh", command }
    }

    #[test]
    fn all_of_a_pipe_has_to_end_well_and_who_failed_is_named() {
        let place = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let mut programs = Programs::new(place.path());
        let out = programs.piped(shell("echo data"), Input::Nothing).unwrap();
        programs.sink(shell("cat >copied"), out).unwrap();
        assert!(programs.wait(UP_MAX, &stop).unwrap());
        assert_eq!(fs::read_to_string(place.path().join("copied")).unwrap(), "data\n");

        let mut programs = Programs::new(place.path());
        let out = programs.piped(shell("echo data; echo 'no room' >&2; exit 3"), Input::Nothing).unwrap();
        programs.sink(shell("cat >copied"), out).unwrap();
        let said = programs.wait(UP_MAX, &stop).unwrap_err().to_string();
        assert!(said.contains("sh ended with exit status: 3, and said last: no room"), "{said}");
    }

    #[test]
    fn nothing_outlives_a_copy_that_is_given_up() {
        let place = tempfile::tempdir().unwrap();
        let mut programs = Programs::new(place.path());
        // A child of its own, which would go on alone.
        programs.sink(shell("sleep 60 & echo $! >child; wait"), Input::Nothing).unwrap();
        programs.daemon(shell("sleep 60")).unwrap();
        let stop = AtomicBool::new(false);
        assert!(programs.has_line(&place.path().join("child"), &stop).unwrap());
        let child: i32 = fs::read_to_string(place.path().join("child")).unwrap().trim().parse().unwrap();
        stop.store(true, Ordering::Relaxed);
        assert!(!programs.wait(UP_MAX, &stop).unwrap());
        drop(programs);
        let deadline = Instant::now() + UP_MAX;
        let is_there = || {
            let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
        };
        while is_there() {
            assert!(Instant::now() < deadline);
            std::thread::sleep(POLL);
        }
    }
}
