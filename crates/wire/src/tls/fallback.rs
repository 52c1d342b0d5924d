//! Bytes outside an orderly handshake, for probes that a person has to ask for: they may upset an old server.

use super::registry::{Version, alerts};
use super::{CONTENT_ALERT, CONTENT_CHANGE_CIPHER_SPEC, CONTENT_HEARTBEAT};

const HEARTBEAT_REQUEST: u8 = 1;

/// Appends a ChangeCipherSpec. Sent right after the ServerHello it is the question of CVE-2014-0224: a sound server
/// answers with alert 10, unexpected_message.
pub fn change_cipher_spec(out: &mut Vec<u8>, version: Version) {
    record(out, CONTENT_CHANGE_CIPHER_SPEC, version, &[1]);
}

/// Appends a heartbeat request (RFC 6520 4) that says it carries `announced_bytes` and carries `payload`.
///
/// With more announced than there is, it is the question of CVE-2014-0160: a sound server is silent. Whoever asks
/// must announce no more than proves the point, and throw the answer away.
pub fn heartbeat_request(out: &mut Vec<u8>, version: Version, announced_bytes: u16, payload: &[u8]) {
    let [a0, a1] = announced_bytes.to_be_bytes();
    let mut body = vec![HEARTBEAT_REQUEST, a0, a1];
    // RFC 6520 allows 2^14 bytes in all; a probe sends none or a few.
    body.extend(payload.iter().take(1024));
    record(out, CONTENT_HEARTBEAT, version, &body);
}

/// Appends an alert in clear: a client that leaves says so, and the server logs no error.
pub fn alert(out: &mut Vec<u8>, version: Version, level: u8, description: u8) {
    record(out, CONTENT_ALERT, version, &[level, description]);
}

/// Appends the warning close_notify.
pub fn close_notify(out: &mut Vec<u8>, version: Version) {
    alert(out, version, alerts::LEVEL_WARNING, alerts::CLOSE_NOTIFY);
}

fn record(out: &mut Vec<u8>, content_type: u8, version: Version, body: &[u8]) {
    let [v0, v1] = version.0.to_be_bytes();
    let [l0, l1] = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes();
    out.extend_from_slice(&[content_type, v0, v1, l0, l1]);
    out.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_the_probes_of_two_faults_send() {
        let mut out = Vec::new();
        change_cipher_spec(&mut out, Version::TLS12);
        heartbeat_request(&mut out, Version::TLS11, 0x4000, b"");
        close_notify(&mut out, Version::TLS10);
        let expected =
            b"\x14\x03\x03\x00\x01\x01\x18\x03\x02\x00\x03\x01\x40\x00\x15\x03\x01\x00\x02\x01\x00";
        assert_eq!(out, expected);
    }
}
