//! Frames on their way to the other side, written by one thread: whoever sends is never held up by a pipe that is full.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroizing;

use super::frames::{Frame, PAYLOAD_BYTES_MAX, encode};

/// What waits while the other side reads nothing; a frame of the largest kind must fit.
const QUEUED_BYTES_MAX: usize = PAYLOAD_BYTES_MAX + (16 << 20);

/// A frame as bytes.
type Encoded = Zeroizing<Vec<u8>>;

#[derive(Debug, Clone)]
pub(super) struct Outbox {
    /// `None`: closed.
    frames: Arc<Mutex<Option<Sender<Encoded>>>>,
    queued_bytes: Arc<AtomicUsize>,
}

impl Outbox {
    /// `first` is written before all frames.
    pub fn to(mut output: impl Write + Send + 'static, first: &'static [u8]) -> Self {
        let (sender, frames) = channel::<Encoded>();
        let outbox =
            Self { frames: Arc::new(Mutex::new(Some(sender))), queued_bytes: Arc::new(AtomicUsize::new(0)) };
        let own = outbox.clone();
        std::thread::spawn(move || {
            let mut written = output.write_all(first).and_then(|()| output.flush());
            while written.is_ok()
                && let Ok(frame) = frames.recv()
            {
                written = output.write_all(&frame).and_then(|()| output.flush());
                own.queued_bytes.fetch_sub(frame.len(), Ordering::Relaxed);
            }
            own.close();
        });
        outbox
    }

    /// # Errors
    /// Nothing more can be sent, or the frame is too large.
    pub fn send(&self, frame: &Frame) -> Result<(), String> {
        let bytes = encode(frame).map_err(|error| error.to_string())?;
        let length = bytes.len();
        if self.queued_bytes.fetch_add(length, Ordering::Relaxed) + length > QUEUED_BYTES_MAX {
            self.queued_bytes.fetch_sub(length, Ordering::Relaxed);
            return Err("the other side reads nothing".into());
        }
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = frames.as_ref().map(|frames| frames.send(bytes));
        sent.and_then(Result::ok).ok_or_else(|| "the other side has closed the connection".into())
    }

    /// What is queued is still written.
    pub fn close(&self) {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
