//! What no sound client sends: the questions of Heartbleed, of early ChangeCipherSpec and of ROBOT. An old server may end
//! its process over them, or hand out what lies in its memory; they are sent only where somebody has asked for them.
//!
//! Each is sent in one piece right behind the server's first flight, and ends with something that a sound server answers
//! or closes over: so nobody has to wait for a silence.

use openssl::error::ErrorStack;
use openssl::rsa::{Padding, Rsa};
use openssl::x509::X509;
use wire::tls::fallback::{change_cipher_spec, close_notify, heartbeat_request};
use wire::tls::registry::{Version, alerts};
use wire::tls::server_flight::Alert;
use wire::tls::{CONTENT_APPLICATION_DATA, CONTENT_HANDSHAKE, RECORD_HEADER_BYTES};

/// Which of them are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Intrusive {
    pub heartbleed: bool,
    pub early_ccs: bool,
    pub robot: bool,
    /// A login that is refused ([`crate::login_probe`]): it harms nothing, and leaves a line in the server's log.
    pub login: bool,
}

impl Intrusive {
    pub const NONE: Self = Self { heartbleed: false, early_ccs: false, robot: false, login: false };
    /// All that may harm. A login is asked for by name.
    pub const ALL: Self = Self { heartbleed: true, early_ccs: true, robot: true, login: false };

    /// The names of those that are allowed, as results have them.
    pub fn words(self) -> Vec<&'static str> {
        [
            (self.heartbleed, "heartbleed"),
            (self.early_ccs, "early_ccs"),
            (self.robot, "robot"),
            (self.login, "login"),
        ]
        .into_iter()
        .filter_map(|(is_allowed, word)| is_allowed.then_some(word))
        .collect()
    }

    /// `None` where a word is not one of [`Intrusive::words`].
    pub fn of_words<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let mut allowed = Self::NONE;
        for word in words {
            match word {
                "heartbleed" => allowed.heartbleed = true,
                "early_ccs" => allowed.early_ccs = true,
                "robot" => allowed.robot = true,
                "login" => allowed.login = true,
                _ => return None,
            }
        }
        Some(allowed)
    }

    /// Connections that these may take beside all others.
    pub fn connections_max(self) -> u32 {
        let of = |is_allowed: bool, connections: u32| if is_allowed { connections } else { 0 };
        // And one to see whether it still stands, which may be asked twice.
        let after = of(self.heartbleed || self.early_ccs || self.robot, 2);
        of(self.heartbleed, 1)
            + of(self.early_ccs, 1)
            + of(self.robot, ROBOT_CONNECTIONS_MAX)
            + of(self.login, 1)
            + after
    }
}

/// Five kinds in two ways, and those of one way once more where they differ.
const ROBOT_CONNECTIONS_MAX: u32 = 15;

/// One such question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    Heartbleed,
    EarlyCcs,
    /// `goes_on`: with a ChangeCipherSpec and a Finished behind it.
    Robot {
        padding: BadPadding,
        goes_on: bool,
    },
}

/// How the secret is padded that goes to the server under its own key.
///
/// Source: Böck, Somorovsky, Young: "Return Of Bleichenbacher's Oracle Threat" (2018), 3.1; the same five as testssl.sh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPadding {
    /// None: the one good one, to compare with.
    Good,
    FirstBytes,
    /// The zero that ends the padding stands two bytes before the end.
    ZeroAtTheEnd,
    NoZero,
    Version,
}

impl BadPadding {
    pub const ALL: [Self; 5] =
        [Self::Good, Self::FirstBytes, Self::ZeroAtTheEnd, Self::NoZero, Self::Version];

    /// `bytes` is the length of the modulus. `None` where it has no room.
    ///
    /// `top` is the first byte of the modulus: a block must be less than it.
    fn block(self, bytes: usize, top: u8, version: Version) -> Option<Vec<u8>> {
        const SECRET_BYTES: usize = 46;
        let padding = bytes.checked_sub(2 + 1 + 2 + SECRET_BYTES).filter(|padding| *padding >= 8)?;
        let mut block = match self {
            // As testssl.sh has them, where they fit.
            Self::FirstBytes if top > 0x41 => vec![0x41, 0x17],
            Self::FirstBytes => vec![0, 0x17],
            _ => vec![0, 2],
        };
        block.resize(2 + padding, 0xab);
        let [major, minor] = version.0.to_be_bytes();
        // What stands in for the secret has no zero in it either.
        let secret = [0x5a; SECRET_BYTES];
        match self {
            Self::Good | Self::FirstBytes => {
                block.extend_from_slice(&[0, major, minor]);
                block.extend_from_slice(&secret);
            }
            Self::ZeroAtTheEnd => {
                block.push(0x11);
                block.extend_from_slice(&secret);
                block.extend_from_slice(&[0, 0x11]);
            }
            Self::NoZero => {
                block.extend_from_slice(&[0x11, 0x11, 0x11]);
                block.extend_from_slice(&secret);
            }
            Self::Version => {
                block.extend_from_slice(&[0, 2, 2]);
                block.extend_from_slice(&secret);
            }
        }
        Some(block)
    }
}

/// What a server said to such a question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Aftermath {
    /// Nothing could be asked: why.
    pub unasked: Option<String>,
    pub alerts: Vec<Alert>,
    /// Of the largest heartbeat response.
    pub heartbeat_bytes: Option<usize>,
    /// Records of other kinds.
    pub others: u32,
    /// Then it spoke outside of TLS.
    pub has_clear_words: bool,
    /// It neither closed nor said a last word in time.
    pub is_silent: bool,
}

/// With no payload, a heartbeat of two bytes of length and one of type; a response to it can only hold what was announced.
const HEARTBEAT_REQUEST_BYTES: usize = 3;
/// How many bytes of a faulty server's memory are asked for: enough to prove it. They are counted and thrown away.
const HEARTBEAT_ANNOUNCED_BYTES: u16 = 64;

impl Aftermath {
    /// It complained in words of TLS: whoever says one has read what was sent.
    pub fn has_complained(&self) -> bool {
        self.alerts.iter().any(|alert| alert.is_fatal())
    }

    /// Something came where the server had not expected it: it has not looked at what was in it.
    pub fn is_unread(&self) -> bool {
        self.alerts.iter().any(|alert| alert.description == alerts::UNEXPECTED_MESSAGE)
    }

    /// CVE-2014-0160: an answer that holds more than was sent.
    pub fn shows_heartbleed(&self) -> bool {
        let echoed = HEARTBEAT_REQUEST_BYTES + usize::from(HEARTBEAT_ANNOUNCED_BYTES);
        self.heartbeat_bytes.is_some_and(|bytes| bytes >= echoed)
    }
}

/// Writes the question.
///
/// # Errors
/// Why it cannot be asked of this server.
pub fn write(
    probe: Probe,
    version: Version,
    offered: Version,
    leaf: Option<&[u8]>,
    asks_certificate: bool,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    match probe {
        Probe::Heartbleed => {
            heartbeat_request(out, version, HEARTBEAT_ANNOUNCED_BYTES, &[]);
            // A sound server is silent about it; over data that comes too early both complain and close.
            // Seen: OpenSSL 1.0.1e keeps an answer of less than 4 KiB back until it has a fatal alert to send.
            record(out, CONTENT_APPLICATION_DATA, version, &[0]);
        }
        Probe::EarlyCcs => {
            // The first is taken by a faulty server, which cannot read the second any more.
            // Seen: OpenSSL 1.0.1e says alert 21 (in SSL 3.0 20); 1.1.0i and 3.0 say alert 10.
            change_cipher_spec(out, version);
            change_cipher_spec(out, version);
        }
        Probe::Robot { padding, goes_on } => {
            let rsa = leaf
                .and_then(|leaf| X509::from_der(leaf).and_then(|leaf| leaf.public_key()?.rsa()).ok())
                .ok_or("its certificate has no RSA key")?;
            let bytes = rsa.size() as usize;
            let modulus = rsa.n().to_vec();
            let top = if modulus.len() < bytes { 0 } else { modulus.first().copied().unwrap_or_default() };
            let block = padding.block(bytes, top, offered).ok_or("its RSA key is too short")?;
            let sealed = raw_rsa(&rsa, &block)?;
            if asks_certificate {
                // An empty list. Seen: without it MariaDB 10.11, which asks, reads no key exchange at all (alert 10).
                record(out, CONTENT_HANDSHAKE, version, &[11, 0, 0, 3, 0, 0, 0]);
            }
            key_exchange(out, version, &sealed);
            if goes_on {
                change_cipher_spec(out, version);
                record(out, CONTENT_HANDSHAKE, version, &[0x5a; 64]);
            } else {
                // Read in the clear: a server that has taken the secret waits for more, and closes over this.
                close_notify(out, version);
            }
        }
    }
    Ok(())
}

fn raw_rsa(rsa: &Rsa<openssl::pkey::Public>, block: &[u8]) -> Result<Vec<u8>, String> {
    let mut sealed = vec![0; rsa.size() as usize];
    // What others have left in OpenSSL's queue is no reason here.
    drop(ErrorStack::get());
    rsa.public_encrypt(block, &mut sealed, Padding::NONE).map_err(|error| crate::reason(&error))?;
    Ok(sealed)
}

fn key_exchange(out: &mut Vec<u8>, version: Version, sealed: &[u8]) {
    const CLIENT_KEY_EXCHANGE: u8 = 16;
    let [.., high, low] = (sealed.len() as u64).to_be_bytes();
    let [.., h0, h1, h2] = (sealed.len() as u64 + 2).to_be_bytes();
    let mut message = vec![CLIENT_KEY_EXCHANGE, h0, h1, h2, high, low];
    message.extend_from_slice(sealed);
    record(out, CONTENT_HANDSHAKE, version, &message);
}

fn record(out: &mut Vec<u8>, content: u8, version: Version, body: &[u8]) {
    let [major, minor] = version.0.to_be_bytes();
    let [high, low] = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes();
    let header: [u8; RECORD_HEADER_BYTES] = [content, major, minor, high, low];
    out.extend_from_slice(&header);
    out.extend_from_slice(body);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_read_as_it_is_written() {
        for bits in 0..16_u8 {
            let one = Intrusive {
                heartbleed: bits & 1 > 0,
                early_ccs: bits & 2 > 0,
                robot: bits & 4 > 0,
                login: bits & 8 > 0,
            };
            assert_eq!(Intrusive::of_words(one.words()), Some(one));
        }
        assert_eq!(Intrusive::of_words(["robot", "dance"]), None);
    }

    /// As a server checks it: RFC 8017 7.2.2, and RFC 5246 7.4.7.1 for the version.
    fn is_good(block: &[u8]) -> bool {
        let Some(zero) = block.iter().skip(2).position(|&byte| byte == 0) else { return false };
        block.starts_with(&[0, 2])
            && zero >= 8
            && block.len() - (zero + 3) == 48
            && block.get(zero + 3..zero + 5) == Some(&[3, 3][..])
    }

    #[test]
    fn one_padding_is_good_and_the_others_are_not() {
        for bytes in [64, 128, 129, 256, 512] {
            let good: Vec<BadPadding> = BadPadding::ALL
                .into_iter()
                .filter(|padding| {
                    let block = padding.block(bytes, 0xff, Version::TLS12).unwrap();
                    assert_eq!(block.len(), bytes);
                    is_good(&block)
                })
                .collect();
            assert_eq!(good, [BadPadding::Good], "{bytes}");
        }
        assert_eq!(BadPadding::Good.block(58, 0xff, Version::TLS12), None);
    }

    #[test]
    fn only_an_answer_that_holds_more_than_was_sent_is_heartbleed() {
        let of = |heartbeat_bytes| Aftermath { heartbeat_bytes, ..Aftermath::default() }.shows_heartbleed();
        assert!(of(Some(83)) && !of(Some(3)) && !of(Some(19)) && !of(None));
    }
}
