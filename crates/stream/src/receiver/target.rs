//! A program, or an archive, that takes what comes.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Mutex, PoisonError};

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
    /// `feed` fails, it is ended before its input is closed.
    pub fn run(
        self,
        feed: impl FnOnce(&mut ChildStdin) -> Result<(), StreamError>,
    ) -> Result<(), StreamError> {
        let child = std::process::Command::new("/bin/sh")
            .args(["-c", &self.0])
            .stdin(Stdio::piped())
            // Its own: what it starts ends with it.
            .process_group(0)
            .spawn();
        let mut child = child.map_err(|error| self.said(error.to_string()))?;
        let mut stdin = child.stdin.take().ok_or_else(|| self.said("it has no standard input".into()))?;
        if let Err(error) = feed(&mut stdin) {
            end(&mut child);
            return Err(error);
        }
        drop(stdin);
        let status = child.wait().map_err(|error| self.said(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(self.said(format!("it ended with {status}"))) }
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
