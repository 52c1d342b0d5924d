//! The packet ring shared with the kernel (AF_PACKET, TPACKET_V3). With `bench::load::batch_sender` the only module with `unsafe`.
//!
//! The kernel writes packets into blocks of a shared mapping. A block belongs to the kernel or to us, as its status
//! word says; it never changes while it is ours. Everything that is read from a block is checked against its bounds,
//! and what leaves this module are plain slices that live no longer than the block is ours.
//! Source: Linux Documentation/networking/packet_mmap.rst and include/uapi/linux/if_packet.h.
#![allow(unsafe_code)]

use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::filter::Instruction;

/// A block holds many packets of up to 64 KiB; the kernel cuts what does not fit into one.
const BLOCK_BYTES: usize = 1 << 20;
/// One for the kernel, one for us, and two of reserve.
const BLOCKS_MIN: usize = 4;
/// More memory than that is a mistake in the options.
const BLOCKS_MAX: usize = 4096;
/// The kernel hands over a block that is not full after this time.
const RETIRE_MS: u32 = 10;
/// Only used by the kernel to check that sizes fit; packets have any length.
const FRAME_BYTES: usize = 2048;
/// Linux 4.20; older kernels refuse it, and we sort copies out ourselves.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const ETH_P_ALL: u16 = 0x0003;

/// Which step of opening failed.
#[derive(Debug)]
pub(crate) struct OpenError {
    pub step: &'static str,
    pub source: io::Error,
}

fn at<E: Into<io::Error>>(step: &'static str) -> impl FnOnce(E) -> OpenError {
    move |error| OpenError { step, source: error.into() }
}

/// A packet in the ring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawPacket<'a> {
    /// From the network header on.
    pub bytes: &'a [u8],
    /// What that is.
    pub ethertype: u16,
    pub unix_ms: u64,
    /// On a loopback interface each packet passes twice, going out and coming in.
    pub is_outgoing_copy: bool,
}

/// An open ring. The mapping lives exactly as long as this value.
#[derive(Debug)]
pub(crate) struct Ring {
    socket: OwnedFd,
    map: NonNull<u8>,
    blocks: usize,
    next: usize,
}

// SAFETY: `map` points to memory that belongs to this value alone (plus the kernel); nothing in it is bound to the
// thread that made it, and all access goes through `&mut self` or the status words, which are atomic.
unsafe impl Send for Ring {}

/// Opens a packet socket and closes it.
pub(crate) fn can_open() -> Result<(), OpenError> {
    open_socket().map(drop)
}

fn open_socket() -> Result<OwnedFd, OpenError> {
    // Datagram: packets come without their link header. No protocol yet: nothing arrives before the filter is set.
    socket(AddressFamily::Packet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
        .map_err(at("opening a packet socket"))
}

impl Ring {
    pub(crate) fn open(iface: &str, filter: &[Instruction], ring_bytes: usize) -> Result<Self, OpenError> {
        let socket = open_socket()?;
        // Source: packet(7): a socket that is bound to the index 0 gets the packets of every interface.
        let index = match iface {
            crate::EVERY_INTERFACE => 0,
            name => nix::net::if_::if_nametoindex(name).map_err(at("looking the interface up"))?,
        };

        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)
            .map_err(at("asking for TPACKET_V3"))?;
        attach(&socket, filter).map_err(at("setting the filter"))?;
        if is_loopback(iface) {
            let on: libc::c_int = 1;
            // Refused by kernels before 4.20: then `is_outgoing_copy` does the same work.
            let _ = set_option(&socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &on);
        }

        let blocks = (ring_bytes / BLOCK_BYTES).clamp(BLOCKS_MIN, BLOCKS_MAX);
        let number = |value: usize| libc::c_uint::try_from(value).unwrap_or(libc::c_uint::MAX);
        let request = libc::tpacket_req3 {
            tp_block_size: number(BLOCK_BYTES),
            tp_block_nr: number(blocks),
            tp_frame_size: number(FRAME_BYTES),
            tp_frame_nr: number(BLOCK_BYTES / FRAME_BYTES * blocks),
            tp_retire_blk_tov: RETIRE_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set_option(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
            .map_err(at("allocating the ring"))?;

        // SAFETY: a new mapping at an address the kernel chooses; it covers the ring that was just allocated,
        // and overlaps nothing of ours.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                BLOCK_BYTES * blocks,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(at("mapping the ring")(io::Error::last_os_error()));
        }
        let Some(map) = NonNull::new(map.cast::<u8>()) else {
            return Err(at("mapping the ring")(io::Error::from(io::ErrorKind::InvalidData)));
        };
        // From here on dropping unmaps.
        let ring = Self { socket, map, blocks, next: 0 };
        bind(&ring.socket, index).map_err(at("binding to the interface"))?;
        Ok(ring)
    }

    pub(crate) fn bytes(&self) -> usize {
        BLOCK_BYTES * self.blocks
    }

    /// Waits until a block is ours, for at most `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> io::Result<()> {
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN | PollFlags::POLLERR)];
        match poll(&mut fds, timeout) {
            Ok(0) | Err(Errno::EINTR) => Ok(()),
            Ok(_)
                if fds
                    .iter()
                    .any(|fd| fd.revents().is_some_and(|seen| seen.contains(PollFlags::POLLERR))) =>
            {
                let error =
                    nix::sys::socket::getsockopt(&self.socket, nix::sys::socket::sockopt::SocketError)?;
                // The interface went down, say. Without an error it was a false alarm.
                if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Packets thrown away since this was last called: the kernel sets its counter back at each reading.
    pub(crate) fn drops_since_last_call(&self) -> io::Result<u64> {
        let mut stats = libc::tpacket_stats_v3 { tp_packets: 0, tp_drops: 0, tp_freeze_q_cnt: 0 };
        let mut length = socklen::<libc::tpacket_stats_v3>();
        // SAFETY: `stats` and `length` are valid for writing, and `length` is the size of `stats`.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut stats).cast(),
                &raw mut length,
            )
        };
        if result == 0 { Ok(u64::from(stats.tp_drops)) } else { Err(io::Error::last_os_error()) }
    }

    /// Shows each packet of the next block, if one is ours, and gives the block back.
    pub(crate) fn next_block(&mut self, see: &mut dyn FnMut(RawPacket<'_>)) -> bool {
        let base = self.next * BLOCK_BYTES;
        let status = self.status(base);
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        {
            // SAFETY: the block lies within the mapping (`next < blocks`), which lives as long as `self`. Its status
            // said that it is ours (loaded with Acquire, so the kernel's writes are seen), and the kernel does not
            // write to it until the status is set back below, after this slice is gone.
            let block = unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(base), BLOCK_BYTES) };
            packets(block, see);
        }
        self.status(base).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.blocks;
        true
    }

    fn status(&self, base: usize) -> &AtomicU32 {
        const STATUS_AT: usize =
            offset_of!(libc::tpacket_block_desc, hdr) + offset_of!(libc::tpacket_hdr_v1, block_status);
        debug_assert!(base < self.bytes());
        // SAFETY: the word lies within the mapping, is aligned (blocks are page-aligned, the offset is 8), lives as
        // long as `self`, and is only ever accessed atomically by us.
        unsafe { AtomicU32::from_ptr(self.map.as_ptr().add(base + STATUS_AT).cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `open`; no slice into it outlives `next_block`.
        unsafe {
            libc::munmap(self.map.as_ptr().cast(), self.bytes());
        }
    }
}

/// Walks the packets of a block, without trusting any offset in it.
fn packets(block: &[u8], see: &mut dyn FnMut(RawPacket<'_>)) {
    const HEADER: usize = offset_of!(libc::tpacket_block_desc, hdr);
    let Some(count) = read_u32(block, HEADER + offset_of!(libc::tpacket_hdr_v1, num_pkts)) else { return };
    let Some(first) = read_u32(block, HEADER + offset_of!(libc::tpacket_hdr_v1, offset_to_first_pkt)) else {
        return;
    };
    let mut at = first as usize;
    for _ in 0..count {
        let Some(next) = packet(block, at, see) else { return };
        if next == 0 {
            return;
        }
        at += next;
    }
}

/// Shows the packet whose header is at `at`; gives the distance to the next one.
fn packet(block: &[u8], at: usize, see: &mut dyn FnMut(RawPacket<'_>)) -> Option<usize> {
    let field = |offset| read_u32(block, at + offset);
    let next = field(offset_of!(libc::tpacket3_hdr, tp_next_offset))? as usize;
    let seconds = u64::from(field(offset_of!(libc::tpacket3_hdr, tp_sec))?);
    let nanoseconds = u64::from(field(offset_of!(libc::tpacket3_hdr, tp_nsec))?);
    let captured_bytes = field(offset_of!(libc::tpacket3_hdr, tp_snaplen))? as usize;
    let network_at = read_u16(block, at + offset_of!(libc::tpacket3_hdr, tp_net))?;
    // The address structure follows the header, aligned to 16.
    let address_at = at + size_of::<libc::tpacket3_hdr>().next_multiple_of(16);
    let hardware = read_u16(block, address_at + offset_of!(libc::sockaddr_ll, sll_hatype))?;
    let direction = *block.get(address_at + offset_of!(libc::sockaddr_ll, sll_pkttype))?;
    let ethertype = u16::from_be(read_u16(block, address_at + offset_of!(libc::sockaddr_ll, sll_protocol))?);
    let start = at + usize::from(network_at);
    let bytes = block.get(start..start.checked_add(captured_bytes)?)?;
    see(RawPacket {
        bytes,
        ethertype,
        unix_ms: seconds * 1000 + nanoseconds / 1_000_000,
        is_outgoing_copy: hardware == libc::ARPHRD_LOOPBACK && direction == libc::PACKET_OUTGOING,
    });
    Some(next)
}

fn read_u32(block: &[u8], at: usize) -> Option<u32> {
    block.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

fn read_u16(block: &[u8], at: usize) -> Option<u16> {
    block.get(at..)?.first_chunk().map(|bytes| u16::from_ne_bytes(*bytes))
}

fn is_loopback(iface: &str) -> bool {
    let Ok(addresses) = nix::ifaddrs::getifaddrs() else { return iface == "lo" };
    let mut of_iface = addresses.filter(|address| address.interface_name == iface);
    of_iface.any(|address| address.flags.contains(nix::net::if_::InterfaceFlags::IFF_LOOPBACK))
}

fn socklen<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(libc::socklen_t::MAX)
}

fn set_option<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: `value` is valid for reading `size_of::<T>()` bytes, the kernel only reads them, and each caller
    // passes the type that the option wants.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), socklen::<T>())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn attach(socket: &OwnedFd, filter: &[Instruction]) -> io::Result<()> {
    let mut program: Vec<libc::sock_filter> = filter
        .iter()
        .map(|from| libc::sock_filter {
            code: from.code,
            jt: from.jump_true,
            jf: from.jump_false,
            k: from.value,
        })
        .collect();
    let length =
        libc::c_ushort::try_from(program.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // The kernel copies the program during the call, so it need not outlive it.
    let handle = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    set_option(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &handle)
}

fn bind(socket: &OwnedFd, interface_index: libc::c_uint) -> io::Result<()> {
    let index =
        libc::c_int::try_from(interface_index).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let address = libc::sockaddr_ll {
        sll_family: libc::c_ushort::try_from(libc::AF_PACKET).unwrap_or_default(),
        sll_protocol: ETH_P_ALL.to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: `address` is a whole sockaddr_ll and its size is given; the kernel only reads it.
    let result = unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const address).cast(), socklen::<libc::sockaddr_ll>())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_block_of_noise_never_panics_or_runs_on(bytes in proptest::collection::vec(any::<u8>(), 0..4096)) {
            let mut seen = 0_u32;
            packets(&bytes, &mut |_| seen += 1);
        }
    }
}
