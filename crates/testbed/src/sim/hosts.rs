//! What a cluster on other hosts can suffer: sealion's ssh or agent is gone, a network between hosts is cut.
//!
//! Errors are those of `host::remote`: a request that gets no answer is [`HostError::Lost`], and whether it was done is not known.

use host::HostError;

use super::group::SUSPECT_MS;
use super::world::{Shared, World};

/// ssh finds a line dead after `ServerAliveInterval` (5 s) times `ServerAliveCountMax` (3).
const DEAD_LINE_MS: u64 = 15_000;
/// ssh's `ConnectTimeout`.
const CONNECT_MS: u64 = 10_000;
/// A refused connection, or an agent that ends at once.
const REFUSED_MS: u64 = 150;
/// `host::remote`: one that could not be reached is not tried again at once.
const AGAIN_MS: u64 = 3_000;
const AGAIN_TIMES: u64 = 3;

/// Since when sealion has no agent on a host, and until when it gets none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostHost {
    until_ms: u64,
    /// Before that nobody tries again.
    again_ms: u64,
    /// Nobody refuses: each try waits for its own limit.
    is_silent: bool,
}

/// What becomes of the one request that was under way when the host was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    /// It is carried out, and its answer does not come.
    DoneUnheard,
    NeverDone,
}

/// Two servers that do not reach each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    pub ends: (usize, usize),
    since_ms: u64,
    until_ms: u64,
}

impl World {
    /// Sealion has no agent there for so long; the server serves on. 0: only what is under way is lost, as by `kill -9` of ssh.
    pub fn lose_host(&mut self, index: usize, ms: u64, has_request: bool) {
        let is_silent = self.rng.percent(50);
        let under_way = if self.rng.percent(50) { InFlight::DoneUnheard } else { InFlight::NeverDone };
        let until_ms = self.now_ms + ms;
        let server = &mut self.servers[index];
        if ms > 0 {
            server.lost_host = Some(LostHost { until_ms, again_ms: self.now_ms, is_silent });
        }
        server.in_flight = has_request.then_some(under_way);
    }

    /// The host's server and its sshd stand still.
    pub fn freeze_host(&mut self, index: usize, ms: u64, has_request: bool) {
        self.freeze(index, ms);
        self.lose_host(index, ms, has_request);
        if let Some(lost) = &mut self.servers[index].lost_host {
            lost.is_silent = true;
        }
    }

    pub fn is_host_lost(&self, index: usize) -> bool {
        self.servers[index].lost_host.as_ref().is_some_and(|lost| self.now_ms < lost.until_ms)
    }

    /// A host is lost or stands still, or a network is cut.
    pub fn is_anything_away(&self) -> bool {
        let is_away = |index: usize| self.is_host_lost(index) || self.servers[index].is_frozen();
        !self.cuts.is_empty() || (0..self.servers.len()).any(is_away)
    }

    /// These two do not reach each other for so long; others relay between them.
    pub fn cut(&mut self, a: usize, b: usize, ms: u64) {
        let (since_ms, until_ms) = (self.now_ms, self.now_ms + ms);
        self.cuts.push(Cut { ends: (a.min(b), a.max(b)), since_ms, until_ms });
    }

    /// Nobody reaches it, and it reaches nobody. Sealion comes there by another network.
    pub fn cut_off(&mut self, index: usize, ms: u64) {
        for other in (0..self.servers.len()).filter(|&other| other != index) {
            self.cut(index, other, ms);
        }
    }

    pub fn is_cut(&self, a: usize, b: usize) -> bool {
        self.cuts.iter().any(|cut| cut.ends == (a.min(b), a.max(b)))
    }

    /// Members that are cut off from each other, and have not given each other up: their commits wait.
    pub(super) fn waits_at_a_cut(&self) -> bool {
        self.cuts.iter().any(|cut| self.link(cut.ends.0, cut.ends.1).is_some())
    }

    /// A connection on which nothing comes is given up after the suspect timeout; one that is mended is dialled again.
    pub(super) fn pass_cuts(&mut self) {
        let now = self.now_ms;
        let due: Vec<(usize, usize)> =
            self.cuts.iter().filter(|cut| now >= cut.since_ms + SUSPECT_MS).map(|cut| cut.ends).collect();
        self.links.retain(|ends, _| !due.contains(ends));
        let count = self.cuts.len();
        self.cuts.retain(|cut| now < cut.until_ms);
        if self.cuts.len() < count {
            self.make_links();
        }
    }
}

impl Shared {
    /// # Errors
    /// `Lost`, after the time that it takes to find that out.
    pub fn reach_host(&self, index: usize) -> Result<(), HostError> {
        let tries_ms = {
            let world = self.borrow();
            if !world.is_host_lost(index) {
                return Ok(());
            }
            let lost = world.servers[index].lost_host.as_ref().expect("seen above");
            let takes = if lost.is_silent { CONNECT_MS } else { REFUSED_MS };
            (world.now_ms >= lost.again_ms).then_some(takes)
        };
        if let Some(tries_ms) = tries_ms {
            self.advance(tries_ms);
            let mut world = self.borrow_mut();
            if !world.is_host_lost(index) {
                return Ok(());
            }
            let again_ms = world.now_ms + AGAIN_MS.max(AGAIN_TIMES * tries_ms);
            if let Some(lost) = &mut world.servers[index].lost_host {
                lost.again_ms = again_ms;
            }
        }
        Err(self.lost(index, "ssh: connect to host: Connection refused"))
    }

    fn lost(&self, index: usize, why: &str) -> HostError {
        HostError::Lost { host: self.borrow().servers[index].name(), why: why.into() }
    }

    /// What becomes of the request that is under way to this host now; `None`: it is answered.
    pub fn in_flight(&self, index: usize) -> Option<InFlight> {
        self.borrow_mut().servers[index].in_flight.take()
    }

    /// No answer comes: the connection ended, or is silent until ssh gives it up.
    pub fn unanswered(&self, index: usize) -> HostError {
        let is_silent = self.borrow().servers[index].lost_host.as_ref().is_some_and(|lost| lost.is_silent);
        self.advance(if is_silent { DEAD_LINE_MS } else { REFUSED_MS });
        self.lost(index, "the connection ended")
    }
}
