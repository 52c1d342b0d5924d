//! What comes from a file, a pipe or a program, and what goes to standard output.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ::stream::{From, Progress, StreamError};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use site::OpsError;

/// What is read, which may keep us waiting: Ctrl-C ends that.
pub struct Input {
    file: File,
    progress: Arc<Progress>,
    /// Whether whoever reads waits for what comes; otherwise he is told that there is nothing yet.
    waits: bool,
}

const POLL_MS: u16 = 100;

impl Input {
    /// A file, or standard input. `what` it is called: a stream, an archive.
    pub fn open(path: Option<&Path>, what: &str, progress: &Arc<Progress>) -> Result<Self, OpsError> {
        let file = if let Some(path) = path {
            let file = File::open(path).map_err(|error| {
                OpsError::usage(
                    format!("cannot read {}", path.display()),
                    error.to_string(),
                    format!("name the {what}"),
                )
            })?;
            if let Ok(about) = file.metadata()
                && about.is_file()
            {
                progress.set_total(about.len());
            }
            file
        } else {
            let stdin = io::stdin();
            if stdin.is_terminal() {
                return Err(OpsError::usage(
                    format!("there is no {what}"),
                    "standard input is a terminal",
                    format!("pipe the {what} in, or name its file"),
                ));
            }
            let owned: io::Result<OwnedFd> = stdin.as_fd().try_clone_to_owned();
            owned.map_err(|error| OpsError::internal("standard input cannot be used", error))?.into()
        };
        ::stream::widen(&file);
        Ok(Self { file, progress: Arc::clone(progress), waits: true })
    }

    pub fn told_of_pauses(self) -> Self {
        Self { waits: false, ..self }
    }
}

impl Read for Input {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.progress.is_stopped() {
                return Err(io::Error::other("stopped"));
            }
            let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, PollTimeout::from(POLL_MS)) {
                Ok(0) if !self.waits => return Err(io::ErrorKind::WouldBlock.into()),
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return self.file.read(room),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// What a program writes. Its end counts only if it ends with 0.
pub fn of_command(text: &str, progress: &Arc<Progress>, waits: bool) -> Result<From, OpsError> {
    let cannot = |why: String| {
        OpsError::cannot_look(format!("cannot run `{text}`"), why, "check the command: it runs by /bin/sh -c")
    };
    let child = Command::new("/bin/sh")
        .args(["-c", text])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| cannot(error.to_string()))?;
    let mut child = Child(child);
    let out = child.0.stdout.take().ok_or_else(|| cannot("it has no standard output".into()))?;
    let file = File::from(OwnedFd::from(out));
    ::stream::widen(&file);
    let what = format!("what `{text}` writes");
    Ok(From::Bytes {
        read: Box::new(Input { file, progress: Arc::clone(progress), waits }),
        ended_well: Box::new(move || {
            let failed = |why: String| StreamError::Source {
                what: what.clone(),
                why,
                next: "see what it says; nothing of this copy counts".into(),
            };
            let status = child.0.wait().map_err(|error| failed(error.to_string()))?;
            if status.success() { Ok(()) } else { Err(failed(format!("the program ended with {status}"))) }
        }),
    })
}

/// Ended with this value: who writes to a pipe that nobody reads would only find out later.
struct Child(std::process::Child);

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Standard output, for bytes. `instead`: how it is redirected.
pub fn stdout(instead: &str) -> Result<File, OpsError> {
    let out = io::stdout();
    if out.is_terminal() {
        return Err(OpsError::usage(
            "no bytes are written to a terminal",
            "standard output is one",
            format!("redirect it: {instead}"),
        ));
    }
    // Not the lock of it, which looks for ends of lines in what is written.
    let out = out.as_fd().try_clone_to_owned();
    out.map(File::from).map_err(|error| OpsError::internal("standard output cannot be used", error))
}
