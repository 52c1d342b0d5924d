//! What happens to the chunks of some of the files: checked, unwrapped, written, in the order in which they came.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use formats::xbstream::{self, Head, Kind};

use super::buffers::Buffer;
use super::extract::{ExtractOptions, Extracted};
use super::front::{Origin, Part};
use super::layers::{self, Layer, Sink};
use super::place::Place;
use super::{DAMAGED, at};
use crate::StreamError;
use crate::behind::{Behind, Gathered};
use crate::direct::DirectFile;

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

pub struct Open {
    /// Without layers.
    file: Gathered,
    /// Those that are still to be taken off.
    pub layers: Vec<Box<dyn Layer>>,
    /// Behind what came: of chunks, holes too.
    came_bytes: u64,
    has_holes: bool,
    held_bytes: usize,
}

pub struct Worker<'w> {
    /// Of all workers.
    held_bytes: &'w AtomicUsize,
    behind: Behind,
    open: BTreeMap<u64, Open>,
    pub done: Extracted,
}

pub const HOLES_INSIDE: &str = "it has holes inside its compression or encryption, which no tool writes";

impl<'w> Worker<'w> {
    pub fn new(held_bytes: &'w AtomicUsize, behind: Behind) -> Self {
        Self { held_bytes, behind, open: BTreeMap::new(), done: Extracted::default() }
    }

    /// `free`: for memory that is used again.
    ///
    /// # Errors
    /// What is wrong with that part, or with the disk.
    pub fn run(&mut self, part: Part<'_>, free: &SyncSender<Vec<u8>>) -> Result<(), StreamError> {
        match part {
            Part::Opened { number, open } => {
                self.open.insert(number, open);
                Ok(())
            }
            Part::Chunk(job) => self.chunk(&job),
            Part::Piece { of, bytes, filled } => {
                self.unwrapped(&of, bytes.get(..filled).unwrap_or_default())?;
                // As many as are needed lie there already.
                let _ = free.try_send(bytes);
                Ok(())
            }
            Part::Ended { of } => self.ended(&of),
        }
    }

    fn chunk(&mut self, job: &Job<'_>) -> Result<(), StreamError> {
        let path = &job.head.path;
        let of = Origin { number: job.number, path: path.clone(), at_bytes: job.at_bytes };
        let body = xbstream::check(&job.head, &job.body.bytes);
        let body = body.map_err(|error| at(path, job.at_bytes, error, DAMAGED))?;
        if job.head.kind == Kind::End {
            return self.ended(&of);
        }
        let open = of_file(&mut self.open, &of)?;
        in_its_place(job, open.came_bytes)?;
        if job.head.kind == Kind::Sparse {
            if !open.layers.is_empty() {
                return Err(at(path, job.at_bytes, HOLES_INSIDE, DAMAGED));
            }
            let mut rest = body.payload;
            open.has_holes = true;
            for run in &body.runs {
                // Together they are as long as the payload.
                let (now, later) = rest.split_at(rest.len().min(run.write_bytes as usize));
                rest = later;
                let skipped = open.file.skip(u64::from(run.skip_bytes), &self.behind);
                skipped.map_err(|error| unwritable(&of, &error))?;
                open.file.write(now, &self.behind).map_err(|error| unwritable(&of, &error))?;
                open.came_bytes = open.file.at();
            }
            return Ok(());
        }
        open.came_bytes = open.came_bytes.saturating_add(body.payload.len() as u64);
        self.unwrapped(&of, body.payload)
    }

    /// The next bytes of a file, through the layers that it has here.
    fn unwrapped(&mut self, of: &Origin, bytes: &[u8]) -> Result<(), StreamError> {
        let open = of_file(&mut self.open, of)?;
        let mut layers = std::mem::take(&mut open.layers);
        let mut sink = FileSink { file: &mut open.file, behind: &self.behind, failed: None };
        let pushed = layers::push(&mut layers, bytes, &mut sink);
        let failed = sink.failed;
        open.layers = layers;
        if let Some(error) = failed {
            return Err(unwritable(of, &error));
        }
        pushed.map_err(|why| at(&of.path, of.at_bytes, why, DAMAGED))?;
        let layers: usize = open.layers.iter().map(|layer| layer.held_bytes()).sum();
        let held = layers + open.file.held_bytes();
        hold(self.held_bytes, &mut open.held_bytes, held, &of.path, of.at_bytes)
    }

    fn ended(&mut self, of: &Origin) -> Result<(), StreamError> {
        let open = of_file(&mut self.open, of)?;
        let failed = open.layers.iter().find_map(|layer| layer.finish().err());
        if let Some(why) = failed {
            return Err(at(&of.path, of.at_bytes, why, DAMAGED));
        }
        open.file.finish(open.has_holes).map_err(|error| unwritable(of, &error))?;
        self.held_bytes.fetch_sub(open.held_bytes, Ordering::Relaxed);
        self.done.files += 1;
        self.done.size_bytes = self.done.size_bytes.saturating_add(open.file.at());
        self.open.remove(&of.number);
        Ok(())
    }
}

/// A file, and why it could not be written.
struct FileSink<'s> {
    file: &'s mut Gathered,
    behind: &'s Behind,
    failed: Option<std::io::Error>,
}

impl FileSink<'_> {
    fn noted(&mut self, done: std::io::Result<()>) -> Result<(), String> {
        done.map_err(|error| {
            let why = error.to_string();
            self.failed = Some(error);
            why
        })
    }
}

impl Sink for FileSink<'_> {
    fn take(&mut self, bytes: &[u8]) -> Result<(), String> {
        let done = self.file.write(bytes, self.behind);
        self.noted(done)
    }

    fn room(&mut self, _at_least: usize) -> &mut [u8] {
        self.file.room(self.behind)
    }

    fn made(&mut self, count: usize) -> Result<(), String> {
        let done = self.file.made(count, self.behind);
        self.noted(done)
    }
}

fn of_file<'o>(open: &'o mut BTreeMap<u64, Open>, of: &Origin) -> Result<&'o mut Open, StreamError> {
    open.get_mut(&of.number).ok_or_else(|| at(&of.path, of.at_bytes, "a chunk came behind its end", DAMAGED))
}

/// # Errors
/// The chunk belongs somewhere else.
pub fn in_its_place(job: &Job<'_>, came_bytes: u64) -> Result<(), StreamError> {
    if job.head.offset == came_bytes {
        return Ok(());
    }
    let why =
        format!("a chunk for its byte {} came where that for byte {came_bytes} belongs", job.head.offset);
    Err(at(&job.head.path, job.at_bytes, why, DAMAGED))
}

/// Counts what is kept of a file now.
///
/// # Errors
/// It is too much, with what is kept of all others.
pub fn hold(
    all: &AtomicUsize,
    before: &mut usize,
    held: usize,
    path: &[u8],
    at_bytes: u64,
) -> Result<(), StreamError> {
    let before = std::mem::replace(before, held);
    let sum = all.fetch_add(held, Ordering::Relaxed) + held;
    all.fetch_sub(before, Ordering::Relaxed);
    if sum.saturating_sub(before) > HELD_BYTES_MAX {
        let why = format!("the files that are open need more than {HELD_BYTES_MAX} bytes of memory");
        return Err(at(path, at_bytes, why, DAMAGED));
    }
    Ok(())
}

/// The file of a first chunk, and all of its layers, the outermost first.
///
/// # Errors
/// Its name leads out, it is there already, or cannot be made.
pub fn create(
    options: &ExtractOptions,
    place: &Place,
    job: &Job<'_>,
    done: &mut Extracted,
) -> Result<(Open, Vec<Box<dyn Layer>>), StreamError> {
    let path = &job.head.path;
    let chain = layers::chain(path, options.decryption.as_ref(), options.decompresses);
    let chain = chain.map_err(|why| at(path, job.at_bytes, why, "start again, into an empty directory"))?;
    let name_end = chain.path.rsplit(|byte| *byte == b'/').next();
    if name_end.is_none_or(|name| matches!(name, b"" | b"." | b"..")) {
        let why = "nothing of its name is left without what tells its layers";
        return Err(at(path, job.at_bytes, why, DAMAGED));
    }
    let file = place.create(&chain.path).map_err(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            let why = "a file of this name is there already: it came twice, or somebody else made it";
            return at(path, job.at_bytes, why, DAMAGED);
        }
        unwritable(&Origin { number: job.number, path: path.clone(), at_bytes: job.at_bytes }, &error)
    })?;
    if chain.is_encrypted {
        done.decrypted += 1;
    } else if options.decryption.is_some() {
        done.not_encrypted += 1;
    }
    let open = Open {
        // Who does not wait for the disk at the end does not wait for it before, either.
        file: Gathered::new(DirectFile::new(file, options.is_synced)),
        layers: vec![],
        came_bytes: 0,
        has_holes: false,
        held_bytes: 0,
    };
    Ok((open, chain.layers))
}

fn unwritable(of: &Origin, error: &std::io::Error) -> StreamError {
    at(
        &of.path,
        of.at_bytes,
        format!("it cannot be written: {error}"),
        "make room or repair the disk, remove what was written, and start again",
    )
}
