//! systemd's notifications (sd_notify(3)): one datagram each, to the socket that systemd named.

use std::cell::Cell;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

/// Where to, if anybody listens.
#[derive(Debug, Default)]
pub struct Notifier {
    to: Option<(UnixDatagram, SocketAddr)>,
    /// How often systemd wants a sign of life.
    watchdog: Option<Duration>,
    last_sign: Cell<Option<Instant>>,
}

impl Notifier {
    /// As the environment says. `own_pid`: `WATCHDOG_PID` names whom systemd waits for.
    pub fn new(get: impl Fn(&str) -> Option<String>, own_pid: u32) -> Self {
        let to = get("NOTIFY_SOCKET").and_then(|path| {
            let address = match path.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name),
                None => SocketAddr::from_pathname(&path),
            };
            Some((UnixDatagram::unbound().ok()?, address.ok()?))
        });
        let is_ours = get("WATCHDOG_PID").is_none_or(|pid| pid.parse() == Ok(own_pid));
        let micros = get("WATCHDOG_USEC").filter(|_| is_ours).and_then(|text| text.parse().ok());
        let watchdog = micros.filter(|micros| *micros > 0).map(Duration::from_micros);
        Self { to, watchdog, last_sign: Cell::default() }
    }

    /// It is alive: told twice as often as systemd wants to hear it, however often this is called.
    pub fn alive(&self, now: Instant) {
        let Some(every) = self.watchdog.map(|watchdog| watchdog / 2) else { return };
        if self.last_sign.get().is_none_or(|last| now.saturating_duration_since(last) >= every) {
            self.last_sign.set(Some(now));
            self.tell("WATCHDOG=1");
        }
    }

    /// Whoever does not take it is not worth a failure: systemd will say so itself.
    pub fn tell(&self, words: &str) {
        if let Some((socket, address)) = &self.to {
            let _ = socket.send_to_addr(words.as_bytes(), address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_arrives_and_without_systemd_nothing_is() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        let get = |name: &str| match name {
            "NOTIFY_SOCKET" => Some(path.display().to_string()),
            "WATCHDOG_USEC" => Some("3000000".into()),
            "WATCHDOG_PID" => Some("7".into()),
            _ => None,
        };
        let notifier = Notifier::new(get, 7);
        notifier.tell("READY=1");
        let mut block = [0; 64];
        let count = socket.recv(&mut block).expect("it arrives");
        assert_eq!(block.get(..count), Some(&b"READY=1"[..]));
        // Twice in three seconds, and by nobody else than whom systemd waits for.
        let began = Instant::now();
        for ms in [0, 100, 1400, 1500, 1600, 2900, 3000] {
            notifier.alive(began + Duration::from_millis(ms));
        }
        Notifier::new(get, 8).alive(began);
        socket.set_nonblocking(true).expect("it is a socket");
        let signs = std::iter::from_fn(|| socket.recv(&mut block).ok()).count();
        assert_eq!(signs, 3);
        let alone = Notifier::new(|_| None, 7);
        alone.tell("READY=1");
        alone.alive(began);
    }
}
