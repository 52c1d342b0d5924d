//! Ports of one address are asked one after the other, where a server counts connections: what the first one leaves of the
//! address' budget is what the next one may use.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::time::Instant;

use ::scan::Target;

#[derive(Debug, Default)]
pub struct Queue {
    /// Addresses of which a port is being asked now.
    busy: HashSet<IpAddr>,
    waiting: HashMap<IpAddr, VecDeque<Target>>,
    ready: VecDeque<Target>,
    /// Another process asks their addresses. Since when they wait.
    put_off: VecDeque<(Target, Instant)>,
}

impl Queue {
    /// The target, if it may be asked now; else it waits for its turn.
    pub fn admit(&mut self, target: Target) -> Option<Target> {
        let ip = target.address.ip();
        // Nobody counts connections from loopback.
        if ip.to_canonical().is_loopback() || self.busy.insert(ip) {
            return Some(target);
        }
        self.waiting.entry(ip).or_default().push_back(target);
        None
    }

    /// A target whose turn has come.
    pub fn next(&mut self) -> Option<Target> {
        self.ready.pop_front()
    }

    /// Somebody else asks its address: it comes again when there is nothing else.
    pub fn put_off(&mut self, target: Target, since: Instant) {
        self.put_off.push_back((target, since));
    }

    /// One that was put off, and since when it waits.
    pub fn put_off_longest(&mut self) -> Option<(Target, Instant)> {
        self.put_off.pop_front()
    }

    /// A port of this address has been asked.
    pub fn done(&mut self, ip: IpAddr) {
        let Some(waiting) = self.waiting.get_mut(&ip) else {
            self.busy.remove(&ip);
            return;
        };
        // It stays busy: the next one is as good as begun.
        self.ready.extend(waiting.pop_front());
        if waiting.is_empty() {
            self.waiting.remove(&ip);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.ready.is_empty() && self.put_off.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(ip: &str, port: u16) -> Target {
        Target::new(ip, ip.parse().expect("an address"), port, true)
    }

    #[test]
    fn ports_of_an_address_come_one_by_one_and_others_do_not_wait_for_them() {
        let mut queue = Queue::default();
        let ip = "192.0.2.1".parse().expect("an address");
        assert!(queue.admit(target("192.0.2.1", 1)).is_some());
        assert!(
            queue.admit(target("192.0.2.1", 2)).is_none() && queue.admit(target("192.0.2.1", 3)).is_none()
        );
        assert!(queue.admit(target("192.0.2.2", 1)).is_some());
        assert!(queue.next().is_none());
        for port in [2, 3] {
            queue.done(ip);
            assert_eq!(queue.next().map(|target| target.address.port()), Some(port));
            assert!(queue.next().is_none());
        }
        queue.done(ip);
        assert!(queue.is_empty() && queue.admit(target("192.0.2.1", 4)).is_some());
    }

    #[test]
    fn loopback_is_not_counted_so_nothing_waits() {
        let mut queue = Queue::default();
        assert!((1..9).all(|port| queue.admit(target("127.0.0.1", port)).is_some()));
    }
}
