//! Short statements of several connections, sent by one call of io_uring. With `capture::ring` the only module with `unsafe`.
//!
//! A server's thread that a send wakes up is switched to when the send returns, where both are on one processor: sent one by one,
//! each statement interrupts the worker. What is sent here is copied into room that the ring owns, so that nothing outside this
//! module has to outlive a request; a send does not wait (`MSG_DONTWAIT`), so it has ended when the call returns. Kernels before
//! 5.6 have no such ring, and many containers and the setting `kernel.io_uring_disabled` refuse it: then statements go one by one.
//! Source: io_uring_setup(2), io_uring_enter(2), io_uring_register(2).
#![allow(unsafe_code)]

use std::io::{self, ErrorKind};
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use io_uring::{Builder, IoUring, Probe, opcode, types};

/// Statements that go by one call, at most.
pub const TOGETHER: usize = 8;
/// A longer one goes alone: to copy it costs more than it saves.
pub const SHORT_BYTES: usize = 2048;
/// `MSG_DONTWAIT` and `MSG_NOSIGNAL` (linux/socket.h): no waiting, and no signal where the other end is gone.
const FLAGS: i32 = 0x40 | 0x4000;
/// No result of the kernel's: those are bytes, or the negative number of an error.
const NOT_KNOWN: i32 = i32::MIN;

/// What became of a statement: the bytes that were taken, or why none was, or that nobody knows.
pub type Sent = io::Result<usize>;

/// A ring, room for what it sends, and what is known of it. Few pages, side by side: after each switch to the server and back
/// the first touch of a page costs.
pub struct BatchSender {
    ring: IoUring,
    /// Of [`TOGETHER`] statements, one behind the other.
    room: Box<[u8]>,
    /// Whose statement each request is, as long as it has no result. Between two calls of [`BatchSender::send`] there is none, but in
    /// a ring that is not used again.
    under_way: [Option<usize>; TOGETHER],
    /// Whose it was, and the result, of the first so many.
    results: [(usize, i32); TOGETHER],
    known: usize,
    is_broken: bool,
}

impl BatchSender {
    /// `None` where the kernel, or who guards it, has no such ring, or lets it send nothing.
    pub fn new() -> Option<Self> {
        let mut together = Self::of(&IoUring::builder())?;
        let (here, _there) = UnixStream::pair().ok()?;
        together.send([(0, here.as_fd(), &b"?"[..])].into_iter());
        let is_sent = matches!(together.results().next(), Some((0, Ok(1))));
        is_sent.then_some(together)
    }

    fn of(builder: &Builder) -> Option<Self> {
        let ring = builder.build(u32::try_from(TOGETHER).ok()?).ok()?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe).ok()?;
        probe.is_supported(opcode::Send::CODE).then(|| Self {
            ring,
            room: vec![0; TOGETHER * SHORT_BYTES].into_boxed_slice(),
            under_way: [None; TOGETHER],
            results: [(0, 0); TOGETHER],
            known: 0,
            is_broken: false,
        })
    }

    /// It failed once, or was left in the middle (`what` panicked), and is not used again.
    pub fn is_broken(&self) -> bool {
        self.is_broken || self.under_way.iter().any(Option::is_some)
    }

    /// Sends the first [`TOGETHER`] of it (whose, where, what), each cut to [`SHORT_BYTES`]; [`BatchSender::results`] has what became
    /// of them.
    pub fn send<'a>(&mut self, what: impl Iterator<Item = (usize, BorrowedFd<'a>, &'a [u8])>) {
        self.known = 0;
        if !self.is_broken() {
            let asked = self.ask(what);
            self.wait(asked);
        }
    }

    /// Of the last [`BatchSender::send`], in no order. Of whom nothing is said, nothing was sent.
    pub fn results(&self) -> impl Iterator<Item = (usize, Sent)> {
        self.results.iter().take(self.known).map(|(whose, result)| (*whose, sent(*result)))
    }

    /// Puts a request for each before the kernel, which looks at none yet; how many.
    fn ask<'a>(&mut self, what: impl Iterator<Item = (usize, BorrowedFd<'a>, &'a [u8])>) -> usize {
        let mut queue = self.ring.submission();
        let mut free = &mut *self.room;
        let mut asked = 0;
        for (under_way, (whose, socket, bytes)) in self.under_way.iter_mut().zip(what) {
            let bytes = bytes.get(..SHORT_BYTES).unwrap_or(bytes);
            let Ok(length) = u32::try_from(bytes.len()) else { break };
            let Some((room, rest)) = free.split_at_mut_checked(bytes.len()) else { break };
            room.copy_from_slice(bytes);
            free = rest;
            let entry = opcode::Send::new(types::Fd(socket.as_raw_fd()), room.as_ptr(), length)
                .flags(FLAGS)
                .build()
                .user_data(asked as u64);
            // SAFETY: until the result is there, the kernel reads `length` bytes of `room`. They are on the heap, and stay as they
            // are: `wait` leaves only when every result is there, or with a ring that is never used again, whose room is then not
            // freed (`drop`). The socket is borrowed for as long as `send` runs; a number that the kernel has not looked up by
            // then it never will, since nothing enters the ring again.
            if unsafe { queue.push(&entry) }.is_err() {
                break;
            }
            *under_way = Some(whose);
            asked += 1;
        }
        asked
    }

    /// Until every request has its result.
    fn wait(&mut self, asked: usize) {
        while self.known < asked {
            let entered = self.ring.submit_and_wait(asked - self.known);
            for result in self.ring.completion() {
                let number = usize::try_from(result.user_data()).unwrap_or(usize::MAX);
                let whose = self.under_way.get_mut(number).and_then(Option::take);
                if let (Some(whose), Some(place)) = (whose, self.results.get_mut(self.known)) {
                    *place = (whose, result.result());
                    self.known += 1;
                }
            }
            match entered {
                Err(error) if self.known < asked && error.kind() != ErrorKind::Interrupted => {
                    return self.give_up(asked);
                }
                _ => {}
            }
        }
    }

    /// The last requests, which the kernel has not taken, were not tried and never will be. Of others without a result nobody
    /// knows: `under_way` keeps them.
    fn give_up(&mut self, asked: usize) {
        self.is_broken = true;
        let taken = asked.saturating_sub(self.ring.submission().len());
        for (number, under_way) in self.under_way.iter_mut().enumerate() {
            if number >= taken {
                *under_way = None;
            } else if let (Some(whose), Some(place)) = (*under_way, self.results.get_mut(self.known)) {
                *place = (whose, NOT_KNOWN);
                self.known += 1;
            }
        }
    }
}

/// A word of who guards the kernel (filters of a ring's requests, Linux 7.0), or of a kernel short of memory for them: then
/// nothing was sent, and send(2) may have an other answer.
pub fn may_be_refused(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::OutOfMemory
            | ErrorKind::InvalidInput
            | ErrorKind::Unsupported
    )
}

/// As send(2) would have it.
fn sent(result: i32) -> Sent {
    usize::try_from(result).map_err(|_| match result {
        NOT_KNOWN => io::Error::other("io_uring does not report whether the statement was sent"),
        result => io::Error::from_raw_os_error(result.saturating_neg()),
    })
}

impl Drop for BatchSender {
    fn drop(&mut self) {
        if self.under_way.iter().any(Option::is_some) {
            // The kernel may still read it.
            mem::forget(mem::take(&mut self.room));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use io_uring::register::Restriction;

    use super::*;

    fn ring() -> BatchSender {
        BatchSender::new().expect(
            "io_uring is refused here, so it cannot be tested: sysctl kernel.io_uring_disabled=0, and in a container \
             --security-opt seccomp=unconfined",
        )
    }

    #[test]
    fn each_gets_its_own() {
        let mut together = ring();
        let pairs: Vec<_> = (0..=TOGETHER).map(|_| UnixStream::pair().expect("a pair")).collect();
        for turn in 0..3 {
            let texts: Vec<_> = (0..pairs.len()).map(|at| format!("{turn} {at}").repeat(at + 1)).collect();
            let what = pairs.iter().zip(&texts).enumerate();
            let what = what.map(|(at, ((socket, _), text))| (at * 10, socket.as_fd(), text.as_bytes()));
            together.send(what);
            let mut sent: Vec<_> =
                together.results().map(|(whose, sent)| (whose, sent.expect("it was sent"))).collect();
            sent.sort_unstable();
            let expected: Vec<_> = (0..TOGETHER).map(|at| (at * 10, texts[at].len())).collect();
            assert_eq!(sent, expected, "the ninth is not sent, and not spoken of");
            for ((_, other), text) in pairs.iter().zip(&texts).take(TOGETHER) {
                let mut buffer = [0; 100];
                let count = (&*other).read(&mut buffer).expect("it came");
                assert_eq!(&buffer[..count], text.as_bytes());
            }
        }
        let (_, ninth) = &pairs[TOGETHER];
        ninth.set_nonblocking(true).expect("is set");
        assert_eq!((&*ninth).read(&mut [0]).expect_err("nothing came").kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn a_full_socket_and_a_gone_one_do_not_hold_up_another() {
        let mut together = ring();
        let (full, _kept) = UnixStream::pair().expect("a pair");
        let (gone, end) = UnixStream::pair().expect("a pair");
        let (good, mut other) = UnixStream::pair().expect("a pair");
        drop(end);
        let long = [7; SHORT_BYTES + 1];
        // The socket waits, as it was made: it is the request that does not.
        let mut taken = 0;
        loop {
            together.send([(1, full.as_fd(), &long[..])].into_iter());
            match together.results().next() {
                Some((1, Ok(count))) => {
                    assert!(count <= SHORT_BYTES);
                    taken += count;
                }
                Some((1, Err(error))) => break assert_eq!(error.kind(), ErrorKind::WouldBlock),
                what => panic!("{what:?}"),
            }
        }
        assert!(taken > 0);
        let sockets = [&full, &gone, &good];
        let what = sockets.into_iter().enumerate().map(|(at, socket)| (at, socket.as_fd(), &b"one"[..]));
        together.send(what);
        let mut sent: Vec<_> = together.results().collect();
        sent.sort_unstable_by_key(|(whose, _)| *whose);
        assert!(matches!(&sent[0], (0, Err(error)) if error.kind() == ErrorKind::WouldBlock), "{sent:?}");
        assert!(matches!(&sent[1], (1, Err(error)) if error.kind() == ErrorKind::BrokenPipe), "{sent:?}");
        assert!(matches!(&sent[2], (2, Ok(3))), "{sent:?}");
        let mut buffer = [0; 3];
        other.read_exact(&mut buffer).expect("it came");
        assert_eq!(&buffer, b"one");
        assert!(!together.is_broken());
    }

    #[test]
    fn a_ring_that_fails_has_sent_nothing_and_says_nothing() {
        // The kernel takes nothing from a ring that was never enabled (Linux 5.10): EBADFD.
        let mut together = BatchSender::of(IoUring::builder().setup_r_disabled()).expect("as `ring` above");
        let (here, there) = UnixStream::pair().expect("a pair");
        there.set_nonblocking(true).expect("is set");
        for _ in 0..2 {
            let what = [(1, here.as_fd(), &b"one"[..]), (2, here.as_fd(), &b"two"[..])];
            together.send(what.into_iter());
            assert_eq!(together.results().count(), 0);
            assert!(together.is_broken());
        }
        drop(together);
        assert_eq!((&there).read(&mut [0]).expect_err("nothing came").kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn a_ring_that_may_not_send_says_so_of_each_and_sends_nothing() {
        let mut together = BatchSender::of(IoUring::builder().setup_r_disabled()).expect("as `ring` above");
        let submitter = together.ring.submitter();
        // From Linux 5.10 on. Each refused request ends the kernel's batch: this is also a batch that is taken in parts.
        submitter.register_restrictions(&mut [Restriction::sqe_op(opcode::Nop::CODE)]).expect("restricted");
        submitter.register_enable_rings().expect("enabled");
        let (here, there) = UnixStream::pair().expect("a pair");
        there.set_nonblocking(true).expect("is set");
        together.send((0..TOGETHER).map(|whose| (whose, here.as_fd(), &b"one"[..])));
        let mut whose: Vec<usize> = together
            .results()
            .map(|(whose, sent)| {
                assert!(may_be_refused(&sent.expect_err("refused")));
                whose
            })
            .collect();
        whose.sort_unstable();
        assert!(whose.into_iter().eq(0..TOGETHER));
        assert!(!together.is_broken());
        assert_eq!((&there).read(&mut [0]).expect_err("nothing came").kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn who_panics_while_the_ring_is_filled_sends_nothing_and_spoils_it() {
        let mut together = ring();
        let (here, there) = UnixStream::pair().expect("a pair");
        there.set_nonblocking(true).expect("is set");
        let what = (0..3).map(|whose| {
            assert!(whose < 2, "it panics");
            (whose, here.as_fd(), &b"one"[..])
        });
        catch_unwind(AssertUnwindSafe(|| together.send(what))).expect_err("it panics");
        assert!(together.is_broken());
        together.send([(3, here.as_fd(), &b"one"[..])].into_iter());
        assert_eq!(together.results().count(), 0);
        drop(together);
        assert_eq!((&there).read(&mut [0]).expect_err("nothing came").kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn what_the_kernel_took_and_never_answered_is_not_known() {
        let mut together = BatchSender::of(&IoUring::builder()).expect("as `ring` above");
        together.under_way[0] = Some(7);
        together.give_up(1);
        let results: Vec<_> = together.results().collect();
        let [(7, Err(error))] = &results[..] else { panic!("{results:?}") };
        assert!(error.kind() == ErrorKind::Other && !may_be_refused(error), "{error}");
        assert!(together.is_broken());
    }
}
