//! First flights that real servers sent: `testdata/tls/*.hex`, made by `examples/record_flights.rs`.
#![allow(dead_code)] // Each test file takes what it needs.

use wire::tls::{Event, FlightError, ServerFlight};

pub const HANDSHAKE: u8 = 22;

pub struct Recording {
    pub name: String,
    pub bytes: Vec<u8>,
}

pub fn all() -> Vec<Recording> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/tls");
    let mut recordings: Vec<Recording> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| Recording {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            bytes: bytes_of(&std::fs::read_to_string(&path).unwrap()),
        })
        .collect();
    recordings.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(recordings.len() >= 20, "the recordings are missing");
    recordings
}

pub fn named(name: &str) -> Vec<u8> {
    all().into_iter().find(|recording| recording.name == name).unwrap().bytes
}

/// What a database server said, after its greeting and an SSLRequest.
pub fn server(name: &str, question: &str) -> Vec<u8> {
    let path = format!("{}/testdata/servers/{name}/{question}.hex", env!("CARGO_MANIFEST_DIR"));
    bytes_of(&std::fs::read_to_string(path).unwrap())
}

fn bytes_of(text: &str) -> Vec<u8> {
    let digits: String = text.lines().filter(|line| !line.starts_with('#')).collect();
    let digits = digits.as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// All events, and how it ended.
pub type Heard = (Vec<Event>, Result<(), FlightError>);

pub fn hear_in_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Heard {
    let mut flight = ServerFlight::new();
    let mut events = Vec::new();
    for part in parts {
        flight.push(part);
        loop {
            match flight.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => {
                    assert!(flight.is_over());
                    assert_eq!(flight.next_event(), Err(error.clone()), "an error stays");
                    return (events, Err(error));
                }
            }
        }
    }
    (events, flight.finish())
}

pub fn hear(bytes: &[u8]) -> Heard {
    hear_in_parts([bytes])
}

/// The handshake messages in clear, header included, with the version of their records.
pub fn messages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut joined) = (bytes, Vec::new());
    while let [content_type, 3, _, l0, l1, after @ ..] = rest {
        let (body, tail) = after.split_at(usize::from(u16::from_be_bytes([*l0, *l1])));
        if *content_type != HANDSHAKE {
            break;
        }
        joined.extend_from_slice(body);
        rest = tail;
    }
    let (mut rest, mut found) = (&joined[..], Vec::new());
    while let [_, a, b, c, ..] = rest {
        let (message, tail) = rest.split_at(4 + u32::from_be_bytes([0, *a, *b, *c]) as usize);
        found.push(message.to_vec());
        rest = tail;
    }
    found
}

/// Handshake bytes in records as large as allowed.
pub fn in_records(handshake: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in handshake.chunks(1 << 14) {
        out.extend_from_slice(&[HANDSHAKE, 3, 3]);
        out.extend_from_slice(&u16::try_from(part.len()).unwrap().to_be_bytes());
        out.extend_from_slice(part);
    }
    out
}

/// A handshake message of this type.
pub fn message(message_type: u8, body: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[message_type, a, b, c], body].concat()
}
