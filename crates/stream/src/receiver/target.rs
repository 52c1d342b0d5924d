//! A program, or an archive, that takes what comes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::StreamError;
use crate::archive::{CreateOptions, Sealing};
use crate::cells::CELL_BYTES;
use crate::entry::Entry;
use crate::frame::{self, Frame};

/// A command line, for `sh -c`.
#[derive(Debug, Clone)]
pub struct Command(pub String);

impl Command {
    fn said(&self, why: String) -> StreamError {
        StreamError::Target {
            what: format!("the input of `{}`", self.0),
            why,
            next: "see what it says; nothing that it was given counts".into(),
        }
    }

    /// Runs it, and hands its input to `feed`. A program that sees the end of its input takes that for the end of what came: if
    /// `feed` fails, it is ended before its input is closed. It is waited for until `is_over` says that nothing counts any more.
    pub fn run(
        self,
        is_over: &dyn Fn() -> bool,
        feed: &mut dyn FnMut(&mut dyn Write) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        let child = std::process::Command::new("/bin/sh")
            .args(["-c", &self.0])
            .stdin(Stdio::piped())
            // Its own: what it starts ends with it.
            .process_group(0)
            .spawn();
        let mut child = child.map_err(|error| self.said(error.to_string()))?;
        let stdin = child.stdin.take().ok_or_else(|| self.said("it has no standard input".into()))?;
        crate::widen(&stdin);
        let fed = patient(&stdin)
            .map_err(|error| self.said(error.to_string()))
            .and_then(|()| feed(&mut Feeding { stdin: &stdin, is_over }));
        if let Err(error) = fed {
            end(&mut child);
            return Err(error);
        }
        drop(stdin);
        let status = loop {
            match child.try_wait().map_err(|error| self.said(error.to_string()))? {
                Some(status) => break status,
                None if is_over() => {
                    end(&mut child);
                    return Err(StreamError::Stopped);
                }
                None => std::thread::sleep(WAIT_POLL),
            }
        };
        if status.success() { Ok(()) } else { Err(self.said(format!("it ended with {status}"))) }
    }
}

const WAIT_POLL: Duration = Duration::from_millis(5);
const FEED_POLL_MS: u16 = 100;

/// A write would take all that it is given, however long nobody reads. The program's end of the pipe is not meant by that.
fn patient(stdin: &ChildStdin) -> io::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(stdin, FcntlArg::F_GETFL)?);
    fcntl(stdin, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}

/// The input of a program that may not read for long.
struct Feeding<'c> {
    stdin: &'c ChildStdin,
    is_over: &'c dyn Fn() -> bool,
}

impl Write for Feeding<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stdin = self.stdin;
        loop {
            match stdin.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            if (self.is_over)() {
                return Err(io::Error::other("the copy has ended before it"));
            }
            let mut fds = [PollFd::new(self.stdin.as_fd(), PollFlags::POLLOUT)];
            match poll(&mut fds, PollTimeout::from(FEED_POLL_MS)) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn end(child: &mut Child) {
    if let Ok(id) = i32::try_from(child.id()) {
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
    let _ = child.wait();
}

/// An archive that several connections write.
pub struct Archive(Mutex<Sealing<File>>);

impl Archive {
    pub fn new(path: &Path, options: &CreateOptions, entries: &[Entry]) -> Result<Self, StreamError> {
        Ok(Self(Mutex::new(Sealing::new(path, options, entries)?)))
    }

    pub fn connection(&self) -> Connection<'_> {
        Connection { archive: self, cell: None, frames: Vec::new() }
    }

    /// The end record; everything is on the disk then.
    pub fn finish(self, data_bytes: u64) -> Result<(), StreamError> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).finish(data_bytes)
    }
}

/// What one connection brings. The pieces of a cell are not parted by others: a reader hashes them as they come.
pub struct Connection<'a> {
    archive: &'a Archive,
    cell: Option<(u64, u64)>,
    frames: Vec<u8>,
}

impl Connection<'_> {
    pub fn take(&mut self, frame: &Frame<'_>) -> Result<(), StreamError> {
        let cell = match frame {
            Frame::Data { entry, offset, .. } | Frame::Packed { entry, offset, .. } => {
                Some((*entry, offset / CELL_BYTES))
            }
            _ => None,
        };
        if cell != self.cell {
            self.flush()?;
            self.cell = cell;
        }
        self.frames.extend_from_slice(&frame::encode(frame));
        Ok(())
    }

    pub fn flush(&mut self) -> Result<(), StreamError> {
        let mut sealing = self.archive.0.lock().unwrap_or_else(PoisonError::into_inner);
        sealing.write(&self.frames)?;
        self.frames.clear();
        Ok(())
    }
}
