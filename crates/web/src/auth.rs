//! One token, good for one login; then one session. Both are kept as hashes only.

use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use openssl::error::ErrorStack;
use openssl::sha::sha256;
use secrecy::{ExposeSecret, SecretString};

const BYTES: usize = 32;
pub const COOKIE: &str = "sl";
pub const SESSION_LIFE: Duration = Duration::from_secs(12 * 60 * 60);

type Hash = [u8; 32];

/// 32 random bytes in hex.
fn random() -> Result<SecretString, ErrorStack> {
    let mut bytes = [0; BYTES];
    openssl::rand::rand_bytes(&mut bytes)?;
    let mut text = String::with_capacity(2 * BYTES);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text.into())
}

fn is_same(a: &Hash, b: &Hash) -> bool {
    openssl::memcmp::eq(a, b)
}

/// Who has it may log in, once.
pub struct Token(SecretString);

impl Token {
    /// # Errors
    /// The system has no random bytes.
    pub fn new() -> Result<Self, ErrorStack> {
        random().map(Self)
    }

    pub(crate) fn url(&self, address: SocketAddr) -> SecretString {
        // Behind `#`: a browser sends it nowhere by itself, and it is in no log.
        format!("http://{address}/login#token={}", self.0.expose_secret()).into()
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        self.0.expose_secret()
    }
}

struct Session {
    hash: Hash,
    ends: Instant,
}

struct Kept {
    /// `None`: it was used.
    token: Option<Hash>,
    session: Option<Session>,
}

pub struct Gate(Mutex<Kept>);

impl Gate {
    pub fn new(token: &Token) -> Self {
        Self(Mutex::new(Kept { token: Some(sha256(token.0.expose_secret().as_bytes())), session: None }))
    }

    /// The cookie of a new session, if this is the token and nobody has used it.
    pub fn exchange(&self, given: &str, now: Instant) -> Option<String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_same(kept.token.as_ref()?, &sha256(given.as_bytes())) {
            return None;
        }
        // Before the token is spent: without random bytes it is still good.
        let value = random().ok()?;
        kept.token = None;
        let value = value.expose_secret();
        kept.session = Some(Session { hash: sha256(value.as_bytes()), ends: now + SESSION_LIFE });
        let life = SESSION_LIFE.as_secs();
        Some(format!("{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={life}"))
    }

    pub fn is_open(&self, given: &str, now: Instant) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = sha256(given.as_bytes());
        kept.session.as_ref().is_some_and(|session| is_same(&session.hash, &hash) && now < session.ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_once_and_its_session_ends() {
        let token = Token::new().expect("random bytes");
        assert_eq!(token.text().len(), 2 * BYTES);
        let gate = Gate::new(&token);
        let now = Instant::now();
        assert!(gate.exchange("", now).is_none());
        assert!(gate.exchange(&"0".repeat(64), now).is_none());
        let cookie = gate.exchange(token.text(), now).expect("it is the token");
        assert!(gate.exchange(token.text(), now).is_none(), "it is spent");
        let value = cookie.split(['=', ';']).nth(1).expect("a value");
        assert_ne!(value, token.text());
        assert!(gate.is_open(value, now));
        assert!(!gate.is_open("", now) && !gate.is_open(token.text(), now));
        assert!(gate.is_open(value, now + Duration::from_secs(12 * 3600 - 1)));
        assert!(!gate.is_open(value, now + SESSION_LIFE));
    }

    #[test]
    fn two_tokens_differ() {
        let (a, b) = (Token::new().expect("random bytes"), Token::new().expect("random bytes"));
        assert_ne!(a.text(), b.text());
    }
}
