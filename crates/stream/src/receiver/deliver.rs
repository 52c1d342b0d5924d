//! Bytes in their order, to whoever shall have them.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::{Into, Layers};
use crate::archive;
use crate::frame::{DATA_BYTES_MAX, Frame};
use crate::landing::{Unpacker, nonsense};
use crate::ordered::Ordered;
use crate::progress::Progress;
use crate::times::{Spent, Times};
use crate::xbstream::{self, ExtractOptions};
use crate::{StreamError, unpack_tar};

/// From one connection into the order.
pub struct Pieces<'o> {
    ordered: &'o Ordered,
    unpacker: Unpacker,
    plain: Vec<u8>,
}

impl<'o> Pieces<'o> {
    pub fn new(ordered: &'o Ordered) -> Self {
        Self { ordered, unpacker: Unpacker::default(), plain: Vec::new() }
    }

    pub fn take(&mut self, frame: &Frame<'_>) -> Result<(), StreamError> {
        let (offset, bytes) = match frame {
            Frame::Data { entry: 0, offset, bytes } => (*offset, *bytes),
            Frame::Packed { entry: 0, offset, plain_bytes, packed } => {
                self.plain.resize(DATA_BYTES_MAX, 0);
                let room = self.plain.get_mut(..*plain_bytes).unwrap_or_default();
                self.unpacker.unpack(packed, room).map_err(nonsense)?;
                (*offset, &*room)
            }
            Frame::Digest { entry: 0, size_bytes, digest } => {
                self.ordered.announce(*size_bytes, *digest);
                return Ok(());
            }
            _ => return Err(nonsense("something came that is no piece of what a program writes")),
        };
        if self.ordered.put(offset, bytes).map_err(nonsense)? { Ok(()) } else { Err(StreamError::Stopped) }
    }
}

/// What comes, and what its delivery is measured by.
pub struct Delivery<'d> {
    pub ordered: &'d Ordered,
    pub times: &'d Arc<Times>,
    pub progress: &'d Progress,
}

/// Until the end of what comes. Whatever fails is told to the connections, too.
pub fn deliver(delivery: &Delivery<'_>, into: Into) -> Result<(), StreamError> {
    let delivered = match into {
        Into::Writer(mut writer) => copy(delivery, &mut writer),
        Into::Command(command) => {
            let is_over = || delivery.progress.is_stopped() || delivery.ordered.has_failed();
            command.run(&is_over, &mut |input| copy(delivery, input))
        }
        Into::Directory { root, layers } => extract(delivery, &root, layers),
        Into::Archive { path, options } => {
            let mut read = delivery.ordered.reader();
            archive::create_of_bytes(&mut read, &mut || Ok(()), &path, &options, &Progress::default())
                .map(drop)
        }
    };
    if let Err(error) = &delivered {
        delivery.ordered.fail(&error.to_string());
    }
    delivered
}

fn copy(delivery: &Delivery<'_>, out: &mut dyn Write) -> Result<(), StreamError> {
    let mut read = delivery.ordered.reader();
    let mut room = vec![0; DATA_BYTES_MAX];
    let failed = |what: &str, error: io::Error| StreamError::Target {
        what: what.to_owned(),
        why: error.to_string(),
        next: "see why it ended; nothing that was given to it counts".into(),
    };
    loop {
        let count = read.read(&mut room).map_err(|error| failed("what comes", error))?;
        if count == 0 {
            break;
        }
        let _timer = delivery.times.timer(Spent::Writing);
        out.write_all(room.get(..count).unwrap_or_default())
            .map_err(|error| failed("the program that reads", error))?;
    }
    out.flush().map_err(|error| failed("the program that reads", error))
}

/// What a tar begins with behind its first name. Source: POSIX, pax, "ustar Interchange Format".
const TAR_MAGIC: (usize, &[u8]) = (257, b"ustar");
const XBSTREAM_MAGIC: &[u8] = b"XBSTCK";

/// Into a directory: a tar, or a stream of a backup tool, by its first bytes.
fn extract(delivery: &Delivery<'_>, root: &Path, layers: Layers) -> Result<(), StreamError> {
    let mut read = delivery.ordered.reader();
    let mut front = Vec::new();
    Read::take(&mut read, 512).read_to_end(&mut front).map_err(|error| StreamError::Target {
        what: root.display().to_string(),
        why: error.to_string(),
        next: "send it again".into(),
    })?;
    let whole = io::Cursor::new(front.clone()).chain(read);
    if front.starts_with(XBSTREAM_MAGIC) {
        let options = ExtractOptions {
            into: root.to_owned(),
            decryption: layers.decryption,
            decompresses: layers.decompresses,
            workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8),
            is_synced: true,
        };
        // Its own count of bytes is that of the same stream.
        return xbstream::extract(whole, &options, &Progress::default()).map(drop);
    }
    let (at, magic) = TAR_MAGIC;
    if front.get(at..).is_some_and(|rest| rest.starts_with(magic)) {
        layers.refuse_in("a tar")?;
        return unpack_tar::extract(whole, root, delivery.progress);
    }
    Err(StreamError::Setup {
        what: format!("what comes cannot be extracted into {}", root.display()),
        why: "it is neither a tar nor a stream of mariabackup or XtraBackup".into(),
        next: "give it to a program (receive --into-command), or write it as it is: --to-stdout > FILE"
            .into(),
    })
}
