//! Whole frames of one direction, to be handed on as they are or changed.

use wire::Capabilities;
use wire::packet::{FRAME_BYTES_MAX, HEADER_BYTES};

/// Bytes that wait for the end of their frame: at most one frame, which its header bounds to 16 MiB.
#[derive(Debug, Default)]
pub struct Framed {
    held: Vec<u8>,
    /// Where the next frame begins in `held`.
    from: usize,
}

impl Framed {
    pub fn push(&mut self, bytes: &[u8]) {
        self.held.drain(..self.from.min(self.held.len()));
        self.from = 0;
        self.held.extend_from_slice(bytes);
    }

    /// The next frame with its header.
    pub fn next_frame(&mut self) -> Option<Vec<u8>> {
        let rest = self.held.get(self.from..)?;
        let [a, b, c, _, ..] = rest else { return None };
        let bytes = HEADER_BYTES + u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        let frame = rest.get(..bytes)?.to_vec();
        self.from += bytes;
        Some(frame)
    }

    /// What is held and no whole frame.
    pub fn take(&mut self) -> Vec<u8> {
        let mut held = std::mem::take(&mut self.held);
        held.drain(..std::mem::take(&mut self.from).min(held.len()));
        held
    }
}

pub fn payload(frame: &[u8]) -> &[u8] {
    frame.get(HEADER_BYTES..).unwrap_or_default()
}

pub fn sequence(frame: &[u8]) -> u8 {
    frame.get(3).copied().unwrap_or_default()
}

/// A frame with another payload and the same number; `None` where it would not fit one frame, or belongs to a longer packet.
pub fn reframed(frame: &[u8], payload: &[u8]) -> Option<Vec<u8>> {
    let is_single = frame.len() < FRAME_BYTES_MAX + HEADER_BYTES && payload.len() < FRAME_BYTES_MAX;
    is_single.then(|| framed(sequence(frame), payload))
}

/// One frame; the payload is shorter than the longest.
pub fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, ..] = (payload.len().min(FRAME_BYTES_MAX) as u64).to_le_bytes();
    let mut out = vec![a, b, c, sequence];
    out.extend_from_slice(payload);
    out
}

/// Takes capabilities out of a greeting of protocol 10, and leaves every other byte; `false`: it is none.
pub fn clear_capabilities(frame: &mut [u8], without: Capabilities) -> bool {
    let Some(payload) = frame.get_mut(HEADER_BYTES..) else { return false };
    let (Some(10), Some(nul)) = (payload.first(), payload.iter().position(|byte| *byte == 0)) else {
        return false;
    };
    // Behind the version: id 4, nonce 8, a zero; then capabilities, low and high, with charset 1 and status 2 between them.
    let low = nul + 1 + 4 + 8 + 1;
    let [low0, low1, high0, high1] = without.0.to_le_bytes();
    let mut clear = |at: usize, bits: u8| match payload.get_mut(at) {
        Some(byte) => {
            *byte &= !bits;
            true
        }
        // Servers before 4.1 have no high part.
        None => bits == 0 || at >= low + 2,
    };
    clear(low, low0) && clear(low + 1, low1) && clear(low + 5, high0) && clear(low + 6, high1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_goes_in_comes_out_however_it_is_cut(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..9),
            tail in proptest::collection::vec(any::<u8>(), 0..4), step in 1_usize..40,
        ) {
            let mut bytes: Vec<u8> = payloads.iter().flat_map(|payload| framed(7, payload)).collect();
            bytes.extend_from_slice(tail.get(..tail.len().min(3)).unwrap());
            let (mut frames, mut seen) = (Framed::default(), vec![]);
            for piece in bytes.chunks(step) {
                frames.push(piece);
                while let Some(frame) = frames.next_frame() {
                    seen.push(frame);
                }
            }
            prop_assert_eq!(seen.iter().map(|frame| payload(frame).to_vec()).collect::<Vec<_>>(), payloads);
            prop_assert_eq!([seen.concat(), frames.take()].concat(), bytes);
        }

        #[test]
        fn no_greeting_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..60), bits in any::<u32>()) {
            let length = bytes.len();
            clear_capabilities(&mut bytes, Capabilities(bits));
            prop_assert_eq!(bytes.len(), length);
        }
    }
}
