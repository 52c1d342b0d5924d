//! Whether a VPN carries what it is given, and nobody below it can read that.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, LinkAddr, SockFlag, SockProtocol, SockType, recvfrom, socket};

use super::addresses::Side;
use super::{End, OwnedChild, POLL, UP_MAX};
use site::OpsError;
use site::servers::internal;

/// A first packet is lost, or waits a second for its second try, while the ends do not know each other yet.
const TRY_MAX: Duration = Duration::from_millis(200);
/// Longer than any frame of the devices.
const FRAME_BYTES_MAX: usize = 65_536;

/// Sends a word both ways through the VPN, from the client's network, where this thread is. It must be seen in the VPN's own
/// device, else it could not have been seen at all, and not in the one below.
pub fn seals(
    listener: &TcpListener,
    ends: &mut [OwnedChild; 2],
    [client, server]: [&End<'_>; 2],
) -> Result<(), OpsError> {
    let [mut near, mut far] = connected(listener, ends, [client, server])?;
    let packets = socket(
        AddressFamily::Packet,
        SockType::Datagram,
        SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC,
        SockProtocol::EthAll,
    )
    .map_err(|errno| failed(errno.into()))?;
    let word = secrecy::ExposeSecret::expose_secret(&trust::generate_passphrase()).as_bytes().to_owned();
    let mut got = vec![0_u8; word.len()];
    for stream in [&near, &far] {
        stream.set_read_timeout(Some(UP_MAX)).map_err(failed)?;
    }
    near.write_all(&word).and_then(|()| far.read_exact(&mut got)).map_err(failed)?;
    far.write_all(&got).and_then(|()| near.read_exact(&mut got)).map_err(failed)?;
    let [inner, outer] = ["inner", "outer"].map(|what| client.kind.device(Side::Client, what));
    let seen = seen(&packets, &inner, &outer, &word)?;
    if seen.is_sealed(word.len()) {
        return Ok(());
    }
    let Seen { above, below, below_bytes } = seen;
    Err(OpsError::internal(
        format!("{} does not carry data as it should", client.kind.program()),
        format!(
            "a text was found {above} times in the VPN, and {below} times in the {below_bytes} bytes of the network \
             below"
        ),
    ))
}

fn failed(error: std::io::Error) -> OpsError {
    internal("cannot test a VPN")(error)
}

/// Both ends of a connection through it, when it is up.
fn connected(
    listener: &TcpListener,
    ends: &mut [OwnedChild; 2],
    [client, server]: [&End<'_>; 2],
) -> Result<[TcpStream; 2], OpsError> {
    let port = listener.local_addr().map_err(failed)?.port();
    let at = SocketAddr::new(client.kind.inner(Side::Server).into(), port);
    let deadline = Instant::now() + UP_MAX;
    let near = loop {
        let why = match TcpStream::connect_timeout(&at, TRY_MAX) {
            Ok(near) => break near,
            Err(error) => error,
        };
        let [near_end, far_end] = &mut *ends;
        client.lives(near_end)?;
        server.lives(far_end)?;
        if Instant::now() > deadline {
            return Err(client.did_not_come_up(&why.to_string()));
        }
        thread::sleep(POLL);
    };
    // Tries before this one may have arrived, too late for whoever made them.
    let own = near.local_addr().map_err(failed)?;
    loop {
        let (far, from) = listener.accept().map_err(failed)?;
        if from == own {
            return Ok([near, far]);
        }
    }
}

/// Where a word was.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// Packets of the VPN's own device that have it.
    above: usize,
    /// And of the device below.
    below: usize,
    below_bytes: usize,
}

impl Seen {
    /// It went there and back, by this way, and could be read above alone.
    fn is_sealed(self, word_bytes: usize) -> bool {
        self.above >= 2 && self.below == 0 && self.below_bytes >= 2 * word_bytes
    }
}

/// All that waits in a packet socket; the kernel puts packets there before it hands them on.
fn seen(packets: &OwnedFd, above: &str, below: &str, word: &[u8]) -> Result<Seen, OpsError> {
    let number = |device: &str| {
        let number = if_nametoindex(device).map_err(|errno| failed(errno.into()))?;
        usize::try_from(number).map_err(|error| failed(std::io::Error::other(error)))
    };
    let (above, below) = (number(above)?, number(below)?);
    let mut seen = Seen::default();
    let mut frame = vec![0_u8; FRAME_BYTES_MAX];
    loop {
        let (count, from) = match recvfrom::<LinkAddr>(packets.as_raw_fd(), &mut frame) {
            Ok(found) => found,
            Err(nix::Error::EAGAIN) => return Ok(seen),
            Err(errno) => return Err(failed(errno.into())),
        };
        let has_word = memchr::memmem::find(frame.get(..count).unwrap_or_default(), word).is_some();
        let device = from.map(|from| from.ifindex());
        if device == Some(above) {
            seen.above += usize::from(has_word);
        } else if device == Some(below) {
            seen.below += usize::from(has_word);
            seen.below_bytes += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_was_nowhere_or_went_another_way_or_in_clear_proves_nothing() {
        for (above, below, below_bytes, is_sealed) in [
            (2, 0, 300, true),
            (3, 0, 300, true),
            (2, 1, 300, false),
            (2, 0, 30, false),
            (1, 0, 300, false),
            (0, 0, 300, false),
        ] {
            assert_eq!(
                Seen { above, below, below_bytes }.is_sealed(50),
                is_sealed,
                "{above} {below} {below_bytes}"
            );
        }
    }
}
