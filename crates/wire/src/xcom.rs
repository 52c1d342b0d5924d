//! The first words of a Group Replication port with the communication stack XCom (33061 by habit).
//!
//! A member is silent until its peer names the newest version of the protocol that it speaks; the answer names the one that
//! both will use. With `group_replication_ssl_mode` other than DISABLED, TLS begins with the first byte and this comes inside.
//! So an answer to this request in cleartext tells that the group's data passes in cleartext, or would.
//!
//! Source: `libmysqlgcs/src/bindings/xcom/xcom/xcom_transport.h` of MySQL (the header: version, length, type, tag).
//! Seen: MySQL 9.7.4, which answers version 1 with 1, and 11 with 10; the header has 12 bytes, the last one is a zero.

use crate::WireError;
use crate::read::Reader;

pub const HEADER_BYTES: usize = 12;
const VERSION_REQUEST: u8 = 1;
const VERSION_REPLY: u8 = 2;
/// Every member since MySQL 5.7.17 speaks it.
const VERSION_FIRST: u32 = 1;
/// What `VERSION_REQUEST` and `VERSION_REPLY` carry in the sources, so that a log names us a peer that asks its version.
const TAG: u16 = 313;

/// Asks which version both ends will speak.
pub fn version_request(out: &mut Vec<u8>) {
    out.extend_from_slice(&VERSION_FIRST.to_be_bytes());
    out.extend_from_slice(&0u32.to_be_bytes());
    out.push(VERSION_REQUEST);
    out.extend_from_slice(&TAG.to_be_bytes());
    out.push(0);
}

/// Reads the answer, the version of the protocol; `None` when more bytes are needed.
///
/// # Errors
/// Anything else that a port may say.
pub fn parse_version_reply(bytes: &[u8]) -> Result<Option<u32>, WireError> {
    let malformed = |reason| Err(WireError::Malformed { what: "XCom version reply", reason });
    if bytes.len() < HEADER_BYTES {
        return Ok(None);
    }
    let mut reader = Reader::new("XCom version reply", bytes);
    let (version, length, kind) = (reader.u32_be()?, reader.u32_be()?, reader.u8()?);
    if kind != VERSION_REPLY || length != 0 {
        return malformed("its type or length is another");
    }
    // A name of a version is a small number: text and TLS records are none.
    if !(1..=0xff).contains(&version) {
        return malformed("no version has this number");
    }
    Ok(Some(version))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// MySQL 9.7.4.
    const REPLY: [u8; 12] = [0, 0, 0, 1, 0, 0, 0, 0, 2, 0x01, 0x39, 0];

    #[test]
    fn reads_a_reply_and_waits_for_all_of_it() {
        assert_eq!(parse_version_reply(&REPLY), Ok(Some(1)));
        for cut in 0..REPLY.len() {
            assert_eq!(parse_version_reply(&REPLY[..cut]), Ok(None), "cut at {cut}");
        }
    }

    #[test]
    fn what_others_say_first_is_none() {
        for other in [
            &b"\x16\x03\x03\x00\x51\x02\x00\x00\x4d\x03\x03\x01"[..],
            b"SSH-2.0-OpenSSH_9.2",
            b"HTTP/1.1 400 Bad",
        ] {
            assert!(parse_version_reply(other).is_err(), "{other:?}");
        }
        let mut request = Vec::new();
        version_request(&mut request);
        assert_eq!(request.len(), HEADER_BYTES);
        assert!(parse_version_reply(&request).is_err(), "an echo is no answer");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse_version_reply(&bytes);
        }
    }
}
