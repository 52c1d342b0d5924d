//! Packets over a stream, in cleartext or inside TLS.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use wire::PacketBuffer;
use wire::packet::write_payload;

use crate::dial::Socket;
use crate::error::{Doing, NetError};
use crate::tls;

#[derive(Debug)]
pub(super) enum Stream {
    Plain(Socket),
    Tls(tls::Session),
}

impl Stream {
    pub(super) fn socket(&self) -> &Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => stream.socket(),
        }
    }

    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => stream.socket_mut(),
        }
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes),
        }
    }
}

/// Packets over a stream; its buffers are reused.
#[derive(Debug)]
pub(super) struct PacketChannel {
    pub(super) stream: Stream,
    pub(super) incoming: PacketBuffer,
    /// Room that a read is given.
    pub(super) read_bytes: usize,
    pub(super) outgoing: Vec<u8>,
    /// The number that the next packet, ours or theirs, must carry.
    pub(super) sequence: u8,
    pub(super) endpoint: Arc<str>,
    pub(super) timeout: Duration,
}

impl PacketChannel {
    pub(super) fn doing(&self, doing: &'static str) -> Doing<'_> {
        Doing { endpoint: &self.endpoint, step: doing, after: self.timeout }
    }

    pub(super) fn send(&mut self, payload: &[u8], doing: &'static str) -> Result<(), NetError> {
        self.outgoing.clear();
        write_payload(&mut self.outgoing, &mut self.sequence, payload);
        let written = self.stream.write_all(&self.outgoing);
        written.map_err(|error| self.doing(doing).io(&error))
    }

    /// Reads until a packet is complete. Its bytes are in `incoming` until the next call.
    pub(super) fn receive(&mut self, doing: &'static str) -> Result<&[u8], NetError> {
        let about = Doing { endpoint: &self.endpoint, step: doing, after: self.timeout };
        // Two steps, because the borrow checker (Rust 1.88) cannot see that a loop returns the packet it found.
        while !self.incoming.has_packet().map_err(|error| about.wire(&error))? {
            let stream = &mut self.stream;
            let count = self
                .incoming
                .push_with(self.read_bytes, |room| {
                    loop {
                        match stream.read(room) {
                            // A process that was stopped and goes on.
                            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                            read => break read,
                        }
                    }
                })
                .map_err(|error| about.io(&error))?;
            if count == 0 {
                return Err(about.closed());
            }
        }
        let packet = self.incoming.next_packet().map_err(|error| about.wire(&error))?;
        let Some(packet) = packet else { return Err(about.closed()) };
        // An error may come at any time (killed, idle for too long) and then does not count along.
        if packet.first_sequence != self.sequence && packet.payload.first() != Some(&0xff) {
            let (expected, seen) = (self.sequence, packet.first_sequence);
            return Err(about.wire(&wire::WireError::OutOfOrder { expected, seen }));
        }
        self.sequence = packet.last_sequence.wrapping_add(1);
        Ok(packet.payload)
    }
}
