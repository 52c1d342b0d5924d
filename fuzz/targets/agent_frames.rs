//! What an agent is sent, and what comes from one: cut anywhere, with whatever a login shell prints in front.
#![no_main]

use host::remote::frames::{FrameReader, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, u16, bool)| {
    let (bytes, cut, from_agent) = input;
    let (head, tail) = bytes.split_at(usize::from(cut).min(bytes.len()));
    let read = |pieces: &[&[u8]]| {
        let mut reader = if from_agent { FrameReader::behind_preamble() } else { FrameReader::at_once() };
        let mut frames = Vec::new();
        for piece in pieces {
            reader.push(piece);
            loop {
                match reader.next_frame() {
                    Ok(Some(frame)) => frames.push((frame.message.clone(), frame.payload.to_vec())),
                    Ok(None) => break,
                    Err(_) => return (frames, false),
                }
            }
        }
        (frames, true)
    };
    let whole = read(&[&bytes]);
    assert_eq!(whole, read(&[head, tail]));
    // Written again, each is read as the same.
    for (message, payload) in whole.0 {
        let frame = host::remote::frames::Frame::with_payload(message, payload);
        let mut reader = FrameReader::at_once();
        reader.push(&encode(&frame).expect("it was a frame"));
        let again = reader.next_frame().expect("it was a frame").expect("whole");
        assert_eq!((again.message, &*again.payload), (frame.message, &*frame.payload));
    }
});
