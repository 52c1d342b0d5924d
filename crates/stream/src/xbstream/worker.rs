//! What happens to the chunks of some of the files: checked, unwrapped, written, in the order in which they came.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use formats::xbstream::{self, Head, Kind};

use super::buffers::Buffer;
use super::extract::{ExtractOptions, Extracted};
use super::layers::{self, Layer};
use super::place::Place;
use super::{DAMAGED, at};
use crate::StreamError;

/// What the layers of all open files may keep. A stream of a tool with 64 threads needs a tenth of it.
const HELD_BYTES_MAX: usize = 512 << 20;

pub struct Job<'b> {
    /// Of the path.
    pub number: u64,
    pub is_new: bool,
    pub head: Head,
    pub body: Buffer<'b>,
    /// Where the chunk begins in the stream.
    pub at_bytes: u64,
}

struct Open {
    file: File,
    layers: Vec<Box<dyn Layer>>,
    /// Behind what came: of chunks, holes too.
    came_bytes: u64,
    /// Behind what was written, without layers; holes too.
    written_bytes: u64,
    has_holes: bool,
    held_bytes: usize,
}

pub struct Worker<'w> {
    pub options: &'w ExtractOptions,
    pub place: &'w Place,
    /// Of all workers.
    pub held_bytes: &'w AtomicUsize,
    pub written_bytes: &'w AtomicU64,
    open: BTreeMap<u64, Open>,
    pub done: Extracted,
}

impl<'w> Worker<'w> {
    pub fn new(
        options: &'w ExtractOptions,
        place: &'w Place,
        held_bytes: &'w AtomicUsize,
        written_bytes: &'w AtomicU64,
    ) -> Self {
        Self { options, place, held_bytes, written_bytes, open: BTreeMap::new(), done: Extracted::default() }
    }

    pub fn run(&mut self, job: &Job<'_>) -> Result<(), StreamError> {
        let path = &job.head.path;
        if job.is_new {
            let open = self.create(job)?;
            self.open.insert(job.number, open);
        }
        let body = xbstream::check(&job.head, &job.body.bytes);
        let body = body.map_err(|error| at(path, job.at_bytes, error, DAMAGED))?;
        let Some(open) = self.open.get_mut(&job.number) else {
            return Err(at(path, job.at_bytes, "a chunk came behind its end", DAMAGED));
        };
        if job.head.kind == Kind::End {
            let failed = open.layers.iter().find_map(|layer| layer.finish().err());
            if let Some(why) = failed {
                return Err(at(path, job.at_bytes, why, DAMAGED));
            }
            if open.has_holes {
                // A hole at the end is not written.
                open.file.set_len(open.written_bytes).map_err(|error| unwritable(job, &error))?;
            }
            self.held_bytes.fetch_sub(open.held_bytes, Ordering::Relaxed);
            self.done.files += 1;
            self.done.size_bytes = self.done.size_bytes.saturating_add(open.written_bytes);
            self.open.remove(&job.number);
            return Ok(());
        }
        if job.head.offset != open.came_bytes {
            let why = format!(
                "a chunk for its byte {} came where that for byte {} belongs",
                job.head.offset, open.came_bytes
            );
            return Err(at(path, job.at_bytes, why, DAMAGED));
        }
        if job.head.kind == Kind::Sparse {
            if !open.layers.is_empty() {
                let why = "it has holes inside its compression or encryption, which no tool writes";
                return Err(at(path, job.at_bytes, why, DAMAGED));
            }
            let mut rest = body.payload;
            open.has_holes = true;
            for run in &body.runs {
                // Together they are as long as the payload.
                let (now, later) = rest.split_at(rest.len().min(run.write_bytes as usize));
                rest = later;
                open.skip(u64::from(run.skip_bytes));
                open.write(now, self.written_bytes).map_err(|error| unwritable(job, &error))?;
                open.came_bytes = open.written_bytes;
            }
            return Ok(());
        }
        open.came_bytes = open.came_bytes.saturating_add(body.payload.len() as u64);
        if open.layers.is_empty() {
            return open.write(body.payload, self.written_bytes).map_err(|error| unwritable(job, &error));
        }
        let mut layers = std::mem::take(&mut open.layers);
        let mut cannot_write = None;
        let pushed = layers::push(&mut layers, body.payload, &mut |bytes| {
            open.write(bytes, self.written_bytes).map_err(|error| {
                let why = error.to_string();
                cannot_write = Some(error);
                why
            })
        });
        open.layers = layers;
        if let Some(error) = cannot_write {
            return Err(unwritable(job, &error));
        }
        pushed.map_err(|why| at(path, job.at_bytes, why, DAMAGED))?;
        let held = open.layers.iter().map(|layer| layer.held_bytes()).sum();
        let before = std::mem::replace(&mut open.held_bytes, held);
        let all = self.held_bytes.fetch_add(held, Ordering::Relaxed) + held;
        self.held_bytes.fetch_sub(before, Ordering::Relaxed);
        if all.saturating_sub(before) > HELD_BYTES_MAX {
            let why = format!("the files that are open need more than {HELD_BYTES_MAX} bytes of memory");
            return Err(at(path, job.at_bytes, why, DAMAGED));
        }
        Ok(())
    }

    fn create(&mut self, job: &Job<'_>) -> Result<Open, StreamError> {
        let path = &job.head.path;
        let chain = layers::chain(path, self.options.decryption.as_ref(), self.options.decompresses);
        let chain =
            chain.map_err(|why| at(path, job.at_bytes, why, "start again, into an empty directory"))?;
        let name_end = chain.path.rsplit(|byte| *byte == b'/').next();
        if name_end.is_none_or(|name| matches!(name, b"" | b"." | b"..")) {
            let why = "nothing of its name is left without what tells its layers";
            return Err(at(path, job.at_bytes, why, DAMAGED));
        }
        let file = self.place.create(&chain.path).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                let why = "a file of this name is there already: it came twice, or somebody else made it";
                return at(path, job.at_bytes, why, DAMAGED);
            }
            unwritable(job, &error)
        })?;
        if chain.is_encrypted {
            self.done.decrypted += 1;
        } else if self.options.decryption.is_some() {
            self.done.not_encrypted += 1;
        }
        Ok(Open {
            file,
            layers: chain.layers,
            came_bytes: 0,
            written_bytes: 0,
            has_holes: false,
            held_bytes: 0,
        })
    }
}

impl Open {
    fn write(&mut self, bytes: &[u8], all: &AtomicU64) -> std::io::Result<()> {
        self.file.write_all_at(bytes, self.written_bytes)?;
        self.written_bytes = self.written_bytes.saturating_add(bytes.len() as u64);
        all.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn skip(&mut self, bytes: u64) {
        self.written_bytes = self.written_bytes.saturating_add(bytes);
    }
}

fn unwritable(job: &Job<'_>, error: &std::io::Error) -> StreamError {
    at(
        &job.head.path,
        job.at_bytes,
        format!("it cannot be written: {error}"),
        "make room or repair the disk, remove what was written, and start again",
    )
}
