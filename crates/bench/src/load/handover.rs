//! Where each worker keeps a processor of its own, a connection goes to the one on whose processor its answers arrive.
//!
//! On a machine that server and generator share, the kernel handles a packet on the processor that sent it: the answer is then
//! in the cache of the processor that reads it, and to wake the one who reads it nobody has to interrupt another processor.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use rustix::net::sockopt::socket_incoming_cpu;

/// A seat for each worker.
pub struct Handover<L> {
    seats: Vec<Seat<L>>,
}

struct Seat<L> {
    processor: usize,
    /// Connections it has, and those that are on their way to it.
    lanes: AtomicUsize,
    /// `None`: nobody sits there any more.
    inbox: Mutex<Option<Vec<L>>>,
    bell: OwnedFd,
}

/// Kept free with another worker.
pub struct Place<'h, L> {
    inbox: MutexGuard<'h, Option<Vec<L>>>,
    from: &'h Seat<L>,
    to: &'h Seat<L>,
}

impl<L> Place<'_, L> {
    pub fn put(mut self, lane: L) {
        if let Some(waiting) = self.inbox.as_mut() {
            waiting.push(lane);
        }
        self.to.lanes.fetch_add(1, Ordering::Relaxed);
        self.from.lanes.fetch_sub(1, Ordering::Relaxed);
        drop(self.inbox);
        // A full counter has rung long ago.
        let _ = rustix::io::write(&self.to.bell, &1_u64.to_ne_bytes());
    }
}

impl<L: AsFd> Handover<L> {
    /// `None` where workers do not have a processor each, or the kernel has no eventfd.
    pub fn new(processors: &[Option<usize>], lanes: &[usize]) -> Option<Self> {
        let seats = processors
            .iter()
            .zip(lanes)
            .map(|(processor, lanes)| {
                Some(Seat {
                    processor: (*processor)?,
                    lanes: AtomicUsize::new(*lanes),
                    inbox: Mutex::new(Some(Vec::new())),
                    bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok()?,
                })
            })
            .collect::<Option<Vec<_>>>()?;
        (seats.len() > 1).then_some(Self { seats })
    }

    pub fn bell(&self, worker: usize) -> Option<&OwnedFd> {
        self.seats.get(worker).map(|seat| &seat.bell)
    }

    /// Where the connection should be, if not with this worker. Who has more already gets no other: answers may all arrive on one
    /// processor for a while, and the rest would stand idle.
    pub fn better_for(&self, lane: &L, worker: usize) -> Option<Place<'_, L>> {
        let arrives = usize::try_from(socket_incoming_cpu(lane).ok()?).ok()?;
        let from = self.seats.get(worker)?;
        if from.processor == arrives {
            return None;
        }
        let to = self.seats.iter().find(|seat| seat.processor == arrives)?;
        let inbox = to.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        let has = from.lanes.load(Ordering::Relaxed);
        let is_fair = has > 1 && to.lanes.load(Ordering::Relaxed) <= has;
        (is_fair && inbox.is_some()).then_some(Place { inbox, from, to })
    }

    /// What others gave; the bell is silent again.
    pub fn take(&self, worker: usize) -> Vec<L> {
        let Some(seat) = self.seats.get(worker) else { return Vec::new() };
        let _ = rustix::io::read(&seat.bell, &mut [0_u8; 8]);
        let mut inbox = seat.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Of a worker that has no connection: what is on its way to it, or, where nothing is, nothing comes any more.
    pub fn take_or_leave(&self, worker: usize) -> Vec<L> {
        let Some(seat) = self.seats.get(worker) else { return Vec::new() };
        let mut inbox = seat.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        let came = inbox.take().unwrap_or_default();
        if !came.is_empty() {
            *inbox = Some(Vec::new());
        }
        came
    }

    /// One connection less: the server ended it.
    pub fn lost(&self, worker: usize) {
        if let Some(seat) = self.seats.get(worker) {
            seat.lanes.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Nothing more comes to it; what came in between.
    pub fn leave(&self, worker: usize) -> Vec<L> {
        let Some(seat) = self.seats.get(worker) else { return Vec::new() };
        seat.inbox.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A connection that something arrived on, the processor, and the other end, which says nothing more.
    fn lane() -> (TcpStream, usize, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut there = TcpStream::connect(listener.local_addr().expect("bound")).expect("listens");
        let (mut here, _) = listener.accept().expect("dialled");
        there.write_all(b"1").expect("open");
        here.read_exact(&mut [0]).expect("sent");
        let processor = socket_incoming_cpu(&here).expect("Linux 3.19");
        (here, usize::try_from(processor).expect("a number"), there)
    }

    #[test]
    fn a_connection_goes_where_its_answers_arrive_but_not_to_who_has_more() {
        let (lane, arrives, _there) = lane();
        let elsewhere = arrives + 1;
        let of = |from, to| {
            Handover::new(&[Some(elsewhere), Some(arrives)], &[from, to]).expect("a processor each")
        };
        // Its own last one stays, and nobody who has more gets another.
        assert!(of(1, 0).better_for(&lane, 0).is_none());
        assert!(of(3, 4).better_for(&lane, 0).is_none());
        let handover = of(4, 4);
        assert!(handover.better_for(&lane, 1).is_none(), "it is there");
        handover.better_for(&lane, 0).expect("that worker's").put(lane);
        assert_eq!(
            handover.seats.iter().map(|seat| seat.lanes.load(Ordering::Relaxed)).collect::<Vec<_>>(),
            [3, 5]
        );
        let mut rings = [0; 8];
        assert_eq!(rustix::io::read(handover.bell(1).expect("a seat"), &mut rings), Ok(8));
        assert_eq!(handover.take(0).len(), 0);
        assert_eq!(handover.take(1).len(), 1);
        assert_eq!(handover.take(1).len(), 0);
    }

    #[test]
    fn who_gave_all_away_goes_on_with_what_is_on_its_way_to_him() {
        let (given, arrives, _there) = lane();
        let handover = Handover::new(&[Some(arrives), Some(arrives + 1)], &[1, 2]).expect("a processor each");
        handover.better_for(&given, 1).expect("that worker's").put(given.try_clone().expect("a descriptor"));
        // The first has two by the count, and may give away the only one that it holds: it must not leave then.
        assert_eq!(handover.take_or_leave(0).len(), 1);
        handover.seats.iter().for_each(|seat| seat.lanes.store(2, Ordering::Relaxed));
        assert!(handover.better_for(&given, 1).is_some(), "it is still there");
        assert_eq!(handover.take_or_leave(0).len(), 0);
        assert!(handover.better_for(&given, 1).is_none(), "it has left");
    }

    #[test]
    fn nothing_goes_to_one_who_has_left_and_nothing_is_lost_on_the_way() {
        let (first, arrives, _there) = lane();
        let handover = Handover::new(&[Some(arrives + 1), Some(arrives)], &[4, 4]).expect("a processor each");
        let place = handover.better_for(&first, 0).expect("that worker's");
        std::thread::scope(|scope| {
            // Whoever leaves waits for what is on its way.
            let leaving = scope.spawn(|| handover.leave(1).len());
            place.put(first.try_clone().expect("a descriptor"));
            assert_eq!(leaving.join().expect("it ended"), 1);
        });
        assert!(handover.better_for(&first, 0).is_none());
    }

    #[test]
    fn without_a_processor_each_all_stay_where_they_are() {
        assert!(Handover::<TcpStream>::new(&[None, None], &[4, 4]).is_none());
        assert!(Handover::<TcpStream>::new(&[Some(0)], &[4]).is_none());
    }
}
