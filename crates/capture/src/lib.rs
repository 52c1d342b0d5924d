//! Sniffing on one interface of this machine: which flows carry TLS, and does a canary pass in clear?
//!
//! [`start`] opens a packet ring ([`ring`], one of the two modules with `unsafe`) and reads it on a thread of its own. What
//! the bytes mean is decided without I/O: [`segment`] (IP and TCP headers), [`order`] (gaps), [`stream`] (TLS records),
//! [`canary`] (the search), [`flow`] (who talks to whom). Which flow is which link is for the caller to say.
//! Where packets may not be captured, a [`relay`] in front of a port feeds the same table.
//!
//! Packets may also come from a capture [`file`] (their [`link`] header is taken off first) or, with [`watch`], from an
//! interface, and go to a reader of the caller's own: [`conversations`] keeps one per connection, a bounded number.
//! [`layers`] takes tunnels off and names what it cannot look into, [`fragments`] puts IP packets together: for `prove sniff`. The
//! flows of [`start`] are of this machine's own connections and do without: there a fragmented segment shows as missing bytes.
#![warn(clippy::indexing_slicing)]

pub mod agreed;
pub mod canary;
mod control;
pub mod conversations;
pub mod file;
mod filter;
pub mod flow;
pub mod fragments;
pub mod layers;
pub mod link;
mod no_session;
pub mod order;
pub mod relay;
mod ring;
pub mod segment;
pub mod stream;
pub mod tls_walk;
pub mod words;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

pub use agreed::Agreed;
pub use canary::Canary;
pub use control::{send_control, start_with_control};
pub use flow::{Direction, Evidence, Flow, FlowTable};

use ring::Ring;

/// How long the reader sleeps at most before it looks whether it should stop.
const WAIT_MS_MAX: Duration = Duration::from_millis(20);
/// At the end: this long without a block from the kernel means that nothing is left in the ring. It is six times
/// the time after which the kernel hands over a block that is not full.
const QUIET_MS: Duration = Duration::from_millis(60);
/// At the end: a link that never pauses must not keep us for ever.
const DRAIN_MS_MAX: Duration = Duration::from_secs(2);

/// The name that stands for all interfaces at once, as tcpdump has it.
pub const EVERY_INTERFACE: &str = "any";

/// What to capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// A name, or [`EVERY_INTERFACE`].
    pub iface: String,
    /// A segment is looked at when either port is one of these; empty means every TCP port.
    pub ports: Vec<u16>,
    /// Memory for packets that wait for us; zero means [`RING_BYTES_DEFAULT`].
    pub ring_bytes: usize,
}

/// A second of a busy loopback; less is fine for a quiet one.
pub const RING_BYTES_DEFAULT: usize = 64 << 20;

/// Why nothing can be captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error(
        "not permitted to capture on {iface}\n  why:  {why}\n  next: run as root, or in a network namespace of your own (`unshare -Urn`), or once: setcap cap_net_raw+ep sealion"
    )]
    NotPermitted { iface: String, why: String },
    #[error("there is no network interface {iface}\n  why:  {why}\n  next: choose one that `ip link` lists")]
    NoSuchInterface { iface: String, why: String },
    #[error("cannot capture on {iface}\n  why:  {step}: {why}\n  next: {next}")]
    Failed { iface: String, step: &'static str, why: String, next: &'static str },
}

/// What was seen between two moments. It also travels from a process that relays to the one that judges.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CaptureReport {
    /// How it was captured, for people.
    pub method: String,
    /// TCP packets of the chosen ports, each counted once.
    pub packets: u64,
    /// Packets that the kernel had to throw away because the ring was full. Not zero: canaries may have been missed.
    pub kernel_drops: u64,
    pub flows: Vec<Flow>,
    /// Connections beyond the limit of flows that were not looked at (at least; seen by their first packets).
    pub flows_over_limit: u64,
    /// Packets of such connections. Not zero: canaries may have been missed.
    pub packets_over_limit: u64,
    /// Why the reader stopped before it was told to. Set: what came later was missed.
    pub failed: Option<String>,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
}

impl CaptureReport {
    /// Was everything that passed also looked at? If not, "no canary seen" proves nothing.
    pub fn is_complete(&self) -> bool {
        self.kernel_drops == 0
            && self.packets_over_limit == 0
            && self.failed.is_none()
            && self.flows.iter().all(|flow| flow.ab.missing_bytes == 0 && flow.ba.missing_bytes == 0)
    }
}

/// A capture that runs. Dropping it stops it.
#[derive(Debug)]
pub struct Capture {
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    seen: Mutex<Seen>,
    method: String,
    started_unix_ms: u64,
}

#[derive(Debug)]
struct Seen {
    table: FlowTable,
    kernel_drops: u64,
    failed: Option<String>,
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        // A panic of the reader leaves counters that are true up to that moment.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) -> CaptureReport {
        let seen = self.seen();
        CaptureReport {
            method: self.method.clone(),
            packets: seen.table.packets(),
            kernel_drops: seen.kernel_drops,
            flows: seen.table.flows(),
            flows_over_limit: seen.table.flows_over_limit(),
            packets_over_limit: seen.table.packets_over_limit(),
            failed: seen.failed.clone(),
            started_unix_ms: self.started_unix_ms,
            ended_unix_ms: unix_ms(),
        }
    }
}

/// Can this process open a packet socket? The text says why not and what to do.
pub fn can_capture() -> Result<(), String> {
    ring::can_open().map_err(|error| open_error("any interface", &error).to_string())
}

/// Begins to capture; when it returns, nothing that passes from now on is missed.
pub fn start(spec: Spec) -> Result<Capture, CaptureError> {
    let Spec { iface, ports, ring_bytes } = spec;
    let ring_bytes = if ring_bytes == 0 { RING_BYTES_DEFAULT } else { ring_bytes };
    let (program, exact) = filter::tcp_ports(&ports);
    let ring = Ring::open(&iface, &program, ring_bytes).map_err(|error| open_error(&iface, &error))?;
    let filtered = if exact { "ports filtered in the kernel" } else { "ports filtered by us" };
    let place = place(&iface);
    let method = format!("AF_PACKET ring (TPACKET_V3) of {} MiB on {place}, {filtered}", ring.bytes() >> 20);
    let shared = Arc::new(Shared {
        stop: AtomicBool::new(false),
        seen: Mutex::new(Seen { table: FlowTable::new(ports), kernel_drops: 0, failed: None }),
        method,
        started_unix_ms: unix_ms(),
    });
    let for_reader = Arc::clone(&shared);
    let reader = thread::Builder::new()
        .name("capture".to_owned())
        .spawn(move || read(ring, &for_reader))
        .map_err(|error| CaptureError::Failed {
            iface,
            step: "starting the reader",
            why: error.to_string(),
            next: "check whether this process may start more threads",
        })?;
    Ok(Capture { shared, reader: Some(reader) })
}

/// Which interfaces that is, for people.
fn place(iface: &str) -> String {
    if iface != EVERY_INTERFACE {
        return iface.to_owned();
    }
    let mut names: Vec<String> = nix::ifaddrs::getifaddrs()
        .map(|all| {
            all.filter(|one| one.flags.contains(nix::net::if_::InterfaceFlags::IFF_UP))
                .map(|one| one.interface_name)
                .collect()
        })
        .unwrap_or_default();
    names.sort();
    names.dedup();
    format!("all interfaces ({})", names.join(", "))
}

impl Capture {
    /// What was seen so far. The last few milliseconds may still be in the ring.
    pub fn snapshot(&self) -> CaptureReport {
        self.shared.report()
    }

    /// Reads what is in the ring, then ends.
    pub fn stop(mut self) -> CaptureReport {
        self.halt();
        self.shared.report()
    }

    fn halt(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(reader) = self.reader.take()
            && reader.join().is_err()
        {
            self.shared.seen().failed.get_or_insert_with(|| "the reader panicked".to_owned());
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.halt();
    }
}

/// What [`watch`] can say at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    pub method: String,
    /// Packets that the kernel had to throw away because the ring was full.
    pub kernel_drops: u64,
}

/// Gives each packet of an interface, with its ethertype and without its link header, to `each`, on this thread, until `is_over` says
/// so. It is asked some fifty times a second. Without ports these are all packets, TCP or not.
///
/// # Errors
/// The interface cannot be captured, or no longer.
pub fn watch(
    spec: &Spec,
    is_over: &mut dyn FnMut() -> bool,
    each: &mut dyn FnMut(u16, &[u8], u64),
) -> Result<Watched, CaptureError> {
    let Spec { iface, ports, ring_bytes } = spec;
    let ring_bytes = if *ring_bytes == 0 { RING_BYTES_DEFAULT } else { *ring_bytes };
    let program = if ports.is_empty() { filter::everything() } else { filter::tcp_ports(ports).0 };
    let mut ring = Ring::open(iface, &program, ring_bytes).map_err(|error| open_error(iface, &error))?;
    let method = format!("AF_PACKET ring (TPACKET_V3) of {} MiB on {}", ring.bytes() >> 20, place(iface));
    let failed = |step, error: std::io::Error| CaptureError::Failed {
        iface: iface.clone(),
        step,
        why: error.to_string(),
        next: "check whether the interface still exists",
    };
    let mut last_block = Instant::now();
    let mut asked: Option<Instant> = None;
    loop {
        let got_block = ring.next_block(&mut |packet| {
            if !packet.is_outgoing_copy {
                each(packet.ethertype, packet.bytes, packet.unix_ms);
            }
        });
        if got_block {
            last_block = Instant::now();
        }
        if asked.is_none() && is_over() {
            // What is in the ring now was sent before: it is still read.
            asked = Some(Instant::now());
            last_block = Instant::now();
        }
        if let Some(since) = asked
            && (last_block.elapsed() > QUIET_MS || since.elapsed() > DRAIN_MS_MAX)
        {
            break;
        }
        if !got_block {
            ring.wait(WAIT_MS_MAX).map_err(|error| failed("waiting for packets", error))?;
        }
    }
    let kernel_drops =
        ring.drops_since_last_call().map_err(|error| failed("reading the drop counter", error))?;
    Ok(Watched { method, kernel_drops })
}

fn read(mut ring: Ring, shared: &Shared) {
    let mut stopping: Option<(Instant, u64)> = None;
    let mut last_block = Instant::now();
    loop {
        if stopping.is_none() && shared.stop.load(Ordering::Acquire) {
            stopping = Some((Instant::now(), unix_ms()));
            last_block = Instant::now();
        }
        let mut newest_unix_ms = 0;
        let got_block = {
            let mut seen = shared.seen();
            ring.next_block(&mut |packet| {
                newest_unix_ms = packet.unix_ms;
                if !packet.is_outgoing_copy {
                    seen.table.packet(packet.bytes, packet.unix_ms);
                }
            })
        };
        if got_block {
            last_block = Instant::now();
        }
        if let Some((since, asked_unix_ms)) = stopping {
            let drained = last_block.elapsed() > QUIET_MS || newest_unix_ms > asked_unix_ms;
            if drained || since.elapsed() > DRAIN_MS_MAX {
                break;
            }
        }
        if !got_block {
            count_drops(&ring, shared);
            if let Err(error) = ring.wait(WAIT_MS_MAX) {
                shared.seen().failed = Some(format!("waiting for packets: {error}"));
                break;
            }
        }
    }
    count_drops(&ring, shared);
    shared.seen().table.finish();
}

fn count_drops(ring: &Ring, shared: &Shared) {
    // The kernel sets its counter back to zero at each reading.
    match ring.drops_since_last_call() {
        Ok(drops) => shared.seen().kernel_drops += drops,
        Err(error) => shared.seen().failed = Some(format!("reading the drop counter: {error}")),
    }
}

fn open_error(iface: &str, error: &ring::OpenError) -> CaptureError {
    let iface = iface.to_owned();
    let why = error.source.to_string();
    match error.source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            CaptureError::NotPermitted { iface, why: format!("{} needs CAP_NET_RAW: {why}", error.step) }
        }
        Some(libc::ENODEV | libc::ENXIO) => CaptureError::NoSuchInterface { iface, why },
        Some(libc::ENETDOWN) => CaptureError::Failed {
            iface,
            step: error.step,
            why,
            next: "bring the interface up: ip link set … up",
        },
        Some(libc::ENOMEM | libc::ENOBUFS) => {
            CaptureError::Failed { iface, step: error.step, why, next: "use a smaller ring" }
        }
        _ => CaptureError::Failed {
            iface,
            step: error.step,
            why,
            next: "check whether this kernel has packet sockets (CONFIG_PACKET), and whether a sandbox forbids them",
        },
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
