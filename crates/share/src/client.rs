//! Asks a proxy: one request over one connection of TLS 1.3, to the one certificate that the owner has written down.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use openssl::ssl::{SslConnector, SslMethod, SslStream, SslVerifyMode, SslVersion};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::b64::Blob;
use crate::crypto;
use crate::grant::{GrantId, ProxyUrl, SignedGrant};
use crate::keys::Identity;
use crate::proxy::protocol::{
    AuditAnswer, AuditWish, BODY_BYTES_MAX, ChallengeAnswer, OpenAnswer, PutGrant, Refusal, SignedWish,
    StateAnswer, Wish,
};

const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Of one request, from the connection to the last byte of the answer: whoever sends a byte now and then has no more time.
const REQUEST_MAX: Duration = Duration::from_secs(20);
/// Of one name.
const ADDRESSES_MAX: usize = 3;
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Why a proxy did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Nobody answers there.
    Unreachable(String),
    /// It says no.
    Refused(Refusal),
    /// It is not the proxy that the owner means, or it does not behave as one.
    Misbehaved(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable(why) => write!(f, "cannot be reached: {why}"),
            Self::Refused(refusal) => write!(f, "refused: {}", refusal.text),
            Self::Misbehaved(why) => write!(f, "is not to be trusted: {why}"),
        }
    }
}

pub fn put(url: &ProxyUrl, grant: &SignedGrant, share: &[u8]) -> Result<(), Failure> {
    ask(url, "PUT", "/v1/grants", Some(&PutGrant { grant: grant.clone(), share: Blob(share.to_vec()) }))
}

pub fn open(url: &ProxyUrl, grant: GrantId, reader: &Identity) -> Result<OpenAnswer, Failure> {
    wish(url, Wish::Open, grant, reader)
}

/// Of a standing grant: one fragment for each capsule.
pub fn reencrypt(
    url: &ProxyUrl,
    grant: GrantId,
    reader: &Identity,
    capsules: &[Vec<u8>],
) -> Result<OpenAnswer, Failure> {
    let ChallengeAnswer { challenge } = ask(url, "GET", "/v1/challenge", None::<&()>)?;
    let blobs = capsules.iter().cloned().map(Blob).collect();
    let signed = SignedWish::over(blobs, Wish::Open, grant, (challenge, &url.certificate), reader)
        .map_err(|error| Failure::Unreachable(error.to_string()))?;
    let answer: OpenAnswer = ask(url, "POST", "/v1/open", Some(&signed))?;
    if answer.fragments.len() == capsules.len() {
        Ok(answer)
    } else {
        Err(Failure::Misbehaved(format!(
            "it gave {} fragments for {} archives",
            answer.fragments.len(),
            capsules.len()
        )))
    }
}

pub fn revoke(url: &ProxyUrl, grant: GrantId, owner: &Identity) -> Result<StateAnswer, Failure> {
    wish(url, Wish::Revoke, grant, owner)
}

pub fn state(url: &ProxyUrl, grant: GrantId, owner: &Identity) -> Result<StateAnswer, Failure> {
    wish(url, Wish::State, grant, owner)
}

/// Lines of its log behind `behind`.
pub fn audit(url: &ProxyUrl, behind: i64, owner: &Identity) -> Result<AuditAnswer, Failure> {
    let ChallengeAnswer { challenge } = ask(url, "GET", "/v1/challenge", None::<&()>)?;
    let signed = AuditWish::new(behind, challenge, &url.certificate, owner)
        .map_err(|error| Failure::Unreachable(error.to_string()))?;
    ask(url, "POST", "/v1/audit", Some(&signed))
}

fn wish<T: DeserializeOwned>(
    url: &ProxyUrl,
    wish: Wish,
    grant: GrantId,
    who: &Identity,
) -> Result<T, Failure> {
    let ChallengeAnswer { challenge } = ask(url, "GET", "/v1/challenge", None::<&()>)?;
    let signed = SignedWish::new(wish, grant, challenge, &url.certificate, who)
        .map_err(|error| Failure::Unreachable(error.to_string()))?;
    ask(url, "POST", &format!("/v1/{}", wish.name()), Some(&signed))
}

fn ask<T: DeserializeOwned>(
    url: &ProxyUrl,
    method: &str,
    path: &str,
    body: Option<&impl Serialize>,
) -> Result<T, Failure> {
    let ends = Instant::now() + REQUEST_MAX;
    let body = match body {
        Some(body) => serde_json::to_vec(body).map_err(|error| Failure::Misbehaved(error.to_string()))?,
        None => Vec::new(),
    };
    let mut stream = connect(url, ends)?;
    let place = if url.host.contains(':') {
        format!("[{}]:{}", url.host, url.port)
    } else {
        format!("{}:{}", url.host, url.port)
    };
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\nContent-Length: {}\r\n\
         Content-Type: application/json\r\n\r\n",
        body.len()
    )
    .into_bytes();
    request.extend(body);
    stream.write_all(&request).and_then(|()| stream.flush()).map_err(|error| lost(&error))?;
    let mut answer = Vec::new();
    let mut block = [0; 4096];
    loop {
        let count = match stream.read(&mut block) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(lost(&error)),
        };
        answer.extend_from_slice(block.get(..count).unwrap_or_default());
        if answer.len() > HEAD_BYTES_MAX + BODY_BYTES_MAX {
            return Err(Failure::Misbehaved("its answer is too long".into()));
        }
        match read_answer(&answer).map_err(Failure::Misbehaved)? {
            Some((200, body)) => {
                return serde_json::from_slice(body)
                    .map_err(|_| Failure::Misbehaved("its answer is not as it should be".into()));
            }
            Some((status, body)) => {
                let refusal = serde_json::from_slice::<Refusal>(body);
                let mut refusal =
                    refusal.map_err(|_| Failure::Misbehaved(format!("HTTP status {status}")))?;
                refusal.text = refusal.text.chars().filter(|one| !one.is_control()).take(300).collect();
                return Err(Failure::Refused(refusal));
            }
            None if count == 0 => return Err(Failure::Misbehaved("its answer was cut off".into())),
            None => {}
        }
    }
}

/// `None`: there is more to come. Source: RFC 9112; an answer without Content-Length is none of a proxy.
fn read_answer(bytes: &[u8]) -> Result<Option<(u16, &[u8])>, String> {
    let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if bytes.len() > HEAD_BYTES_MAX { Err("its answer is no HTTP".into()) } else { Ok(None) };
    };
    let head = std::str::from_utf8(bytes.get(..at).unwrap_or_default()).map_err(|error| error.to_string())?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 "))
        .and_then(|line| line.get(..3)?.parse().ok())
        .ok_or("its answer is no HTTP/1.1")?;
    let length: usize = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .filter(|length| *length <= BODY_BYTES_MAX)
        .ok_or("its answer has no length, or too much of it")?;
    let body = bytes.get(at + 4..).unwrap_or_default();
    Ok(body.get(..length).map(|body| (status, body)))
}

fn lost(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Failure::Unreachable(format!("no answer within {} s", REQUEST_MAX.as_secs()))
        }
        _ => Failure::Unreachable(error.to_string()),
    }
}

/// Words of OpenSSL's reasons.
const NOT_ITS: &[&str] = &["certificate verify failed"];
const NO_TLS: &[&str] = &["version", "unsupported protocol", "packet length", "http request", "record"];

fn says(error: &openssl::ssl::Error, words: &[&str]) -> bool {
    let reasons = error.ssl_error().into_iter().flat_map(openssl::error::ErrorStack::errors);
    reasons
        .filter_map(openssl::error::Error::reason)
        .any(|reason| words.iter().any(|word| reason.contains(word)))
}

/// A connection until a moment: what the library reads and writes for one call of ours may be any number of pieces.
#[derive(Debug)]
struct Until {
    tcp: TcpStream,
    ends: Instant,
}

impl Until {
    fn left(&self) -> io::Result<Duration> {
        let left = self.ends.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Until {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.tcp.set_read_timeout(Some(self.left()?))?;
        self.tcp.read(into)
    }
}

impl Write for Until {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp.set_write_timeout(Some(self.left()?))?;
        self.tcp.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

fn connect(url: &ProxyUrl, ends: Instant) -> Result<SslStream<Until>, Failure> {
    let away = |error: io::Error| Failure::Unreachable(error.to_string());
    let mut last = Failure::Unreachable("the name has no address".into());
    let addresses: Vec<SocketAddr> =
        (url.host.as_str(), url.port).to_socket_addrs().map_err(away)?.take(ADDRESSES_MAX).collect();
    let mut found = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT_MAX) {
            Ok(tcp) => {
                found = Some(tcp);
                break;
            }
            Err(error) => last = away(error),
        }
    }
    let Some(tcp) = found else { return Err(last) };
    let setup = |error: openssl::error::ErrorStack| Failure::Unreachable(error.to_string());
    let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(setup)?;
    builder.set_min_proto_version(Some(SslVersion::TLS1_3)).map_err(setup)?;
    let wanted = url.certificate.0;
    // Nothing but the hash counts: there is no CA. That it has the certificate's key is checked by the handshake itself.
    builder.set_verify_callback(SslVerifyMode::PEER, move |_, chain| {
        chain.error_depth() == 0
            && chain
                .current_cert()
                .and_then(|leaf| leaf.to_der().ok())
                .is_some_and(|der| crypto::sha256(&[&der]) == wanted)
    });
    let config = builder.build().configure().map_err(setup)?;
    config
        .verify_hostname(false)
        .use_server_name_indication(false)
        .connect(&url.host, Until { tcp, ends })
        .map_err(|error| {
            let io_kind = match &error {
                openssl::ssl::HandshakeError::Failure(mid)
                | openssl::ssl::HandshakeError::WouldBlock(mid) => {
                    mid.error().io_error().map(io::Error::kind)
                }
                openssl::ssl::HandshakeError::SetupFailure(_) => None,
            };
            match error {
                _ if matches!(io_kind, Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)) => {
                    lost(&io::ErrorKind::TimedOut.into())
                }
                openssl::ssl::HandshakeError::Failure(mid) if says(mid.error(), NOT_ITS) => {
                    Failure::Misbehaved("its certificate is not the one whose SHA-256 was given".into())
                }
                openssl::ssl::HandshakeError::Failure(mid) if says(mid.error(), NO_TLS) => {
                    Failure::Misbehaved("it speaks no TLS 1.3".into())
                }
                openssl::ssl::HandshakeError::Failure(mid) if mid.error().io_error().is_none() => {
                    Failure::Unreachable(
                        "it closes the connection: it is on its way down, or has too many of them".into(),
                    )
                }
                other => Failure::Unreachable(format!("no TLS handshake: {other}")),
            }
        })
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::{Until, read_answer};

    #[test]
    fn whoever_sends_a_byte_now_and_then_has_no_more_time_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it has one");
        let trickles = std::thread::spawn(move || {
            let (mut tcp, _) = listener.accept().expect("it comes");
            while tcp.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let tcp = TcpStream::connect(address).expect("it listens");
        let mut until = Until { tcp, ends: Instant::now() + Duration::from_millis(100) };
        let error = loop {
            match until.read(&mut [0; 16]) {
                Ok(count) => assert!(count > 0, "it sends on"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock), "{error}");
        assert_eq!(until.write(b"x").expect_err("the time is over").kind(), ErrorKind::TimedOut);
        drop(until);
        trickles.join().expect("it ends");
    }

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let whole = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nx: y\r\n\r\n{}";
        for cut in 0..whole.len() {
            assert_eq!(read_answer(&whole[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(read_answer(whole), Ok(Some((403, &b"{}"[..]))));
        for wrong in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
            "SSH-2.0\r\n\r\n",
        ] {
            assert!(read_answer(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
