//! A process that a test started: what it says is read while it runs, and it never outlives the test.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::wait_for;

/// Behind its end: how long nothing more is to come.
const QUIET: Duration = Duration::from_secs(1);

/// What a process said, and how it ended.
#[derive(Debug, Clone)]
pub struct ProgramOutput {
    pub command: String,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    /// It did not end by itself in time.
    pub was_killed: bool,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl ProgramOutput {
    /// Asserts the exit code, with everything that was said.
    #[allow(clippy::must_use_candidate, clippy::return_self_not_must_use)] // Most callers want only the assertion.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "wrong exit code\n{self}");
        self
    }
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("stdout is not JSON: {error}\n{self}"))
    }
}

impl std::fmt::Display for ProgramOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        writeln!(f, "--- exit code {:?} after {:.1} s", self.code, self.took.as_secs_f64())?;
        writeln!(f, "--- stdout\n{}\n--- stderr\n{}", self.stdout.trim_end(), self.stderr.trim_end())
    }
}

type Text = Arc<Mutex<Vec<u8>>>;

fn read_all(from: Option<impl Read + Send + 'static>) -> (Text, JoinHandle<()>) {
    let text = Text::default();
    let into = Arc::clone(&text);
    let reader = std::thread::spawn(move || {
        let Some(mut from) = from else { return };
        let mut block = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut block) {
            into.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&block[..count]);
        }
    });
    (text, reader)
}

fn text(of: &Text) -> String {
    String::from_utf8_lossy(&of.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

pub struct Program {
    child: Child,
    command: String,
    began: Instant,
    stdout: Text,
    stderr: Text,
    readers: Vec<JoinHandle<()>>,
}

impl Program {
    pub fn start(mut command: Command) -> Self {
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let shown = format!("{} {}", command.get_program().to_string_lossy(), words.join(" "));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {shown}: {error}"));
        let (stdout, one) = read_all(child.stdout.take());
        let (stderr, other) = read_all(child.stderr.take());
        Self { child, command: shown, began: Instant::now(), stdout, stderr, readers: vec![one, other] }
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        text(&self.stdout)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
    /// The program itself stands still meanwhile; what it has started goes on.
    pub fn paused(&self, what: impl FnOnce()) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).expect("a pid"));
        let stopped = kill(pid, Signal::SIGSTOP).is_ok();
        what();
        if stopped {
            let _ = kill(pid, Signal::SIGCONT);
        }
    }
    pub fn stderr(&self) -> String {
        text(&self.stderr)
    }
    pub fn close_stdin(&mut self) {
        drop(self.child.stdin.take());
    }
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits until stderr contains `what`. `false` when the process ends, or the time is over, before.
    pub fn says(&mut self, what: &str, at_most: Duration) -> bool {
        wait_for(at_most, || {
            let ended = self.has_ended();
            let said = self.stderr().contains(what);
            (said || ended).then_some(said)
        })
        .unwrap_or(false)
    }

    /// SIGINT, as Ctrl-C sends it; then waits for the end.
    #[track_caller]
    pub fn interrupt(self, at_most: Duration) -> ProgramOutput {
        let pid = i32::try_from(self.pid()).expect("a pid");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGINT)
            .expect("it runs, and is our child");
        self.finish(at_most)
    }

    /// SIGKILL, now.
    pub fn kill(mut self) -> ProgramOutput {
        let _ = self.child.kill();
        self.finish(Duration::from_secs(5))
    }

    /// Waits for the end; a process that does not end by then is killed, and that is a failure.
    #[track_caller]
    pub fn finish(self, at_most: Duration) -> ProgramOutput {
        let said = self.finish_or_kill(at_most);
        assert!(!said.was_killed, "it did not end within {} s\n{said}", at_most.as_secs());
        said
    }

    /// The same, of a program whose end is no part of the test.
    pub fn finish_or_kill(mut self, at_most: Duration) -> ProgramOutput {
        self.close_stdin();
        let status = wait_for(at_most, || self.child.try_wait().expect("it is our child"));
        if status.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        } else {
            // A grandchild may hold the pipes: what the process itself said is there when nothing more comes.
            let mut length = usize::MAX;
            while !self.readers.iter().all(JoinHandle::is_finished) {
                let now = text(&self.stdout).len() + text(&self.stderr).len();
                if now == length {
                    break;
                }
                length = now;
                let _ = wait_for(QUIET, || self.readers.iter().all(JoinHandle::is_finished).then_some(()));
            }
        }
        ProgramOutput {
            command: self.command.clone(),
            code: status.and_then(|status| status.code()),
            was_killed: status.is_none(),
            stdout: text(&self.stdout),
            stderr: text(&self.stderr),
            took: self.began.elapsed(),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Only when a test failed in between; our own child, so the pid is still its own.
        if !self.has_ended() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
