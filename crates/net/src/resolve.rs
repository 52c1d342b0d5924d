//! Host names, with a limit.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc;
use std::time::Duration;

/// The addresses of a host, in the resolver's order.
///
/// # Errors
/// As getaddrinfo(3); `TimedOut` where it has not answered within `at_most`.
pub fn resolve(host: &str, port: u16, at_most: Duration) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let name = host.to_owned();
    let ask = move || Ok((name.as_str(), port).to_socket_addrs()?.collect());
    within(at_most, ask).unwrap_or_else(|| {
        let why = format!("the name {host} was not resolved within {} ms", at_most.as_millis());
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    })
}

/// getaddrinfo(3) takes no limit, so it is asked on a thread of its own, which is left behind where it hangs. `None`: no answer.
fn within<T: Send + 'static>(at_most: Duration, ask: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (answer, answers) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        // Nobody may wait for it any more.
        let _ = answer.send(ask());
    });
    answers.recv_timeout(at_most).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_resolver_that_hangs_is_given_up() {
        let (held, hold) = mpsc::channel::<()>();
        let began = Instant::now();
        assert_eq!(within(Duration::from_millis(50), move || hold.recv().is_ok()), None);
        assert!(began.elapsed() < Duration::from_secs(30), "it was waited for");
        drop(held);
        assert_eq!(within(Duration::from_secs(60), || 7), Some(7));
    }

    #[test]
    fn an_address_is_its_own_answer_and_asks_nobody() {
        let at = |text: &str| vec![text.parse::<SocketAddr>().expect("an address")];
        for (host, expected) in [("192.0.2.1", "192.0.2.1:3306"), ("2001:db8::1", "[2001:db8::1]:3306")] {
            assert_eq!(resolve(host, 3306, Duration::ZERO).expect("an address"), at(expected));
        }
    }
}
