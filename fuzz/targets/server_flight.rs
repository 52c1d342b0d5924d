//! A server's first flight. The first byte says how the rest is cut, which must make no difference.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::tls::server_flight::FLIGHT_BYTES_MAX;
use wire::tls::{Event, FlightError, ServerFlight};

fn hear<'a>(parts: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, Result<(), FlightError>) {
    let (mut flight, mut events) = (ServerFlight::new(), Vec::new());
    for part in parts {
        flight.push(part);
        loop {
            match flight.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Err(error)),
            }
        }
    }
    assert!(flight.rest().len() <= FLIGHT_BYTES_MAX);
    (events, flight.finish())
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, bytes)) = bytes.split_first() else { return };
    let whole = hear(std::iter::once(bytes));
    assert_eq!(hear(bytes.chunks(usize::from(*first) + 1)), whole);
    // An event takes a byte at least: what a peer can make us keep is bounded by what it sent.
    assert!(whole.0.len() <= bytes.len() + 1);
});
