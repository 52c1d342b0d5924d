//! The mark in a ClientHello of sealion's own sessions: a protocol name in ALPN, which servers of MySQL pass over. By it a capture knows
//! them, also those of another sealion, whose connections nobody else tells from an application's.
//!
//! Source: RFC 7301, section 3.1: a server that supports none of the names, or not the extension, goes on without it or ends the handshake.
//! Tried on MariaDB 10.11.19, 11.8.9 and MySQL 9.7.4: they go on.

/// The name, as ALPN lists it.
pub const ALPN_LIST: &[u8] = b"\x09sealion/1";
/// The whole extension: its type 16, its length, the length of its list, and the list.
const EXTENSION: &[u8] = b"\x00\x10\x00\x0c\x00\x0a\x09sealion/1";

/// Whether a ClientHello has the mark. It must be there as a whole: of one that was cut in the middle of it nobody can tell.
pub fn is_marked(client_hello: &[u8]) -> bool {
    super::starts_with_client_hello(client_hello)
        && client_hello.windows(EXTENSION.len()).any(|window| window == EXTENSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_hello_with_the_name_is_marked() {
        let mut hello = vec![0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3];
        assert!(!is_marked(&hello));
        hello.extend(EXTENSION);
        assert!(is_marked(&hello));
        assert!(!is_marked(EXTENSION));
        hello.pop();
        assert!(!is_marked(&hello));
        assert!(
            EXTENSION.ends_with(ALPN_LIST)
                && EXTENSION.get(5).is_some_and(|length| usize::from(*length) == ALPN_LIST.len())
        );
    }
}
