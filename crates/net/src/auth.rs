//! Proving who we are: the scrambles, and the turns of an authentication as a state machine without I/O.

use openssl::encrypt::Encrypter;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::rsa::Padding;
use openssl::sha::{Sha1, Sha256, sha1, sha256};
use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use crate::ed25519;

pub const MYSQL_NATIVE_PASSWORD: &str = "mysql_native_password";
pub const CACHING_SHA2_PASSWORD: &str = "caching_sha2_password";
const SHA256_PASSWORD: &str = "sha256_password";
const CLIENT_ED25519: &str = "client_ed25519";
const MYSQL_CLEAR_PASSWORD: &str = "mysql_clear_password";

const FAST_AUTH_OK: u8 = 3;
const FULL_AUTH: u8 = 4;
const REQUEST_PUBLIC_KEY: u8 = 2;
/// An RSA key of 16384 bits is 2.8 kB of PEM.
const PUBLIC_KEY_PEM_BYTES_MAX: usize = 8 * 1024;

/// `SHA1(p) xor SHA1(nonce || SHA1(SHA1(p)))`; empty for an empty password.
pub fn scramble_native(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Zeroizing::new(sha1(password));
    let mut hasher = Sha1::new();
    hasher.update(nonce);
    hasher.update(&sha1(&*once));
    hasher.finish().iter().zip(once.iter()).map(|(a, b)| a ^ b).collect()
}

/// `SHA256(p) xor SHA256(SHA256(SHA256(p)) || nonce)`; empty for an empty password.
pub fn scramble_caching_sha2(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Zeroizing::new(sha256(password));
    let mut hasher = Sha256::new();
    hasher.update(&sha256(&*once));
    hasher.update(nonce);
    hasher.finish().iter().zip(once.iter()).map(|(a, b)| a ^ b).collect()
}

/// How well what we send is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    Clear,
    /// Encrypted, with a peer that nobody has checked.
    TlsUnverified,
    TlsVerified,
    /// It never leaves the machine.
    UnixSocket,
}

/// What to do next in a login.
#[derive(Debug)]
pub enum Turn {
    Send(Zeroizing<Vec<u8>>),
    /// Nothing; the server goes on by itself.
    Wait,
}

/// Why a login cannot go on from our side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthStop {
    Unsupported { why: String, next: &'static str },
    PeerMisbehaved(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plugin {
    Native,
    CachingSha2,
    Sha256,
    Ed25519,
    /// The server looks at who owns the other end of the socket.
    Socket,
    Clear,
}

/// One login, turn by turn.
#[derive(Debug)]
pub struct Exchange<'a> {
    password: Option<&'a SecretString>,
    channel: Channel,
    allow_public_key_retrieval: bool,
    plugin: Plugin,
    nonce: Vec<u8>,
    asked_for_key: bool,
}

impl<'a> Exchange<'a> {
    /// Begins with the plugin of the greeting, or with the native one where that is none we know: the server
    /// then switches to the account's own. Gives what the login carries: plugin name and answer.
    pub fn begin(
        password: Option<&'a SecretString>,
        channel: Channel,
        allow_public_key_retrieval: bool,
        greeting_plugin: Option<&str>,
        nonce: &[u8],
    ) -> (Self, &'static str, Zeroizing<Vec<u8>>) {
        let (plugin, name) = match greeting_plugin {
            Some(CACHING_SHA2_PASSWORD) => (Plugin::CachingSha2, CACHING_SHA2_PASSWORD),
            _ => (Plugin::Native, MYSQL_NATIVE_PASSWORD),
        };
        let exchange = Self {
            password,
            channel,
            allow_public_key_retrieval,
            plugin,
            nonce: nonce.to_vec(),
            asked_for_key: false,
        };
        let answer = match plugin {
            Plugin::CachingSha2 => scramble_caching_sha2(exchange.password(), nonce),
            _ => scramble_native(exchange.password(), nonce),
        };
        (exchange, name, Zeroizing::new(answer))
    }

    fn password(&self) -> &'a [u8] {
        self.password.map_or(b"", |password| password.expose_secret().as_bytes())
    }

    fn clear_password(&self) -> Turn {
        let mut answer = Zeroizing::new(Vec::with_capacity(self.password().len() + 1));
        answer.extend_from_slice(self.password());
        answer.push(0);
        Turn::Send(answer)
    }

    /// The server wants another plugin.
    pub fn switch(&mut self, plugin: &str, nonce: &[u8]) -> Result<Turn, AuthStop> {
        self.asked_for_key = false;
        nonce.clone_into(&mut self.nonce);
        let password = self.password();
        match plugin {
            MYSQL_NATIVE_PASSWORD => {
                self.plugin = Plugin::Native;
                Ok(Turn::Send(Zeroizing::new(scramble_native(password, nonce))))
            }
            CACHING_SHA2_PASSWORD => {
                self.plugin = Plugin::CachingSha2;
                Ok(Turn::Send(Zeroizing::new(scramble_caching_sha2(password, nonce))))
            }
            SHA256_PASSWORD => {
                self.plugin = Plugin::Sha256;
                match self.channel {
                    Channel::TlsUnverified | Channel::TlsVerified => Ok(self.clear_password()),
                    _ if password.is_empty() => Ok(self.clear_password()),
                    Channel::Clear | Channel::UnixSocket => Err(AuthStop::Unsupported {
                        why: "the account uses sha256_password, which we answer over TLS only".to_owned(),
                        next: "connect with ssl-mode REQUIRED or stricter",
                    }),
                }
            }
            CLIENT_ED25519 => {
                self.plugin = Plugin::Ed25519;
                // A last byte that is zero looks like the end of a text, and was taken off.
                if self.nonce.len() == ed25519::NONCE_BYTES - 1 {
                    self.nonce.push(0);
                }
                if self.nonce.len() != ed25519::NONCE_BYTES {
                    return Err(AuthStop::PeerMisbehaved(
                        "its nonce for client_ed25519 is not 32 bytes long",
                    ));
                }
                Ok(Turn::Send(Zeroizing::new(ed25519::sign(password, &self.nonce))))
            }
            "unix_socket" | "auth_socket" => {
                self.plugin = Plugin::Socket;
                Ok(Turn::Send(Zeroizing::new(Vec::new())))
            }
            MYSQL_CLEAR_PASSWORD => {
                self.plugin = Plugin::Clear;
                if self.channel >= Channel::TlsVerified {
                    return Ok(self.clear_password());
                }
                Err(AuthStop::Unsupported {
                    why: "the server requests the password in cleartext, and the server was not verified"
                        .to_owned(),
                    next: "connect with ssl-mode VERIFY_CA or VERIFY_IDENTITY and --ssl-ca, or over the unix socket",
                })
            }
            other => Err(AuthStop::Unsupported {
                why: format!("the account uses the authentication plugin {other}"),
                next: "use an account with ed25519, caching_sha2_password, mysql_native_password or unix_socket",
            }),
        }
    }

    /// The server has more to say to the plugin in use.
    pub fn more(&mut self, data: &[u8]) -> Result<Turn, AuthStop> {
        match (self.plugin, data) {
            (Plugin::CachingSha2, [FAST_AUTH_OK]) => Ok(Turn::Wait),
            (Plugin::CachingSha2, [FULL_AUTH]) => match self.channel {
                Channel::TlsUnverified | Channel::TlsVerified | Channel::UnixSocket => Ok(self.clear_password()),
                Channel::Clear if self.allow_public_key_retrieval => {
                    self.asked_for_key = true;
                    Ok(Turn::Send(Zeroizing::new(vec![REQUEST_PUBLIC_KEY])))
                }
                Channel::Clear => Err(AuthStop::Unsupported {
                    why: "the server does not have this account's password in its cache, and sealion does not send \
                          it without TLS"
                        .to_owned(),
                    next: "connect with ssl-mode REQUIRED or stricter, or log in once over TLS, which fills the cache",
                }),
            },
            (Plugin::CachingSha2, pem) if self.asked_for_key => {
                self.asked_for_key = false;
                self.encrypted_password(pem).map(|bytes| Turn::Send(Zeroizing::new(bytes)))
            }
            _ => Err(AuthStop::PeerMisbehaved("its login continues in a way that the plugin does not define")),
        }
    }

    /// RSA-OAEP (SHA-1) of the password and a NUL, xor the nonce over and over.
    fn encrypted_password(&self, pem: &[u8]) -> Result<Vec<u8>, AuthStop> {
        let bad_key = AuthStop::PeerMisbehaved("its RSA key cannot be used");
        if pem.len() > PUBLIC_KEY_PEM_BYTES_MAX || self.nonce.is_empty() {
            return Err(bad_key);
        }
        let mut plain = Zeroizing::new(Vec::with_capacity(self.password().len() + 1));
        plain.extend(self.password().iter().chain(&[0]).zip(self.nonce.iter().cycle()).map(|(a, b)| a ^ b));
        let encrypt = || {
            let key = PKey::public_key_from_pem(pem)?;
            let mut encrypter = Encrypter::new(&key)?;
            encrypter.set_rsa_padding(Padding::PKCS1_OAEP)?;
            encrypter.set_rsa_oaep_md(MessageDigest::sha1())?;
            let mut out = vec![0; encrypter.encrypt_len(&plain)?];
            let length = encrypter.encrypt(&plain, &mut out)?;
            out.truncate(length);
            Ok::<_, openssl::error::ErrorStack>(out)
        };
        encrypt().map_err(|_| bad_key)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use openssl::encrypt::Decrypter;
    use openssl::rsa::Rsa;

    const NONCE: &[u8] = b"01234567890123456789";

    fn sent(turn: Result<Turn, AuthStop>) -> Vec<u8> {
        match turn.unwrap() {
            Turn::Send(bytes) => bytes.to_vec(),
            Turn::Wait => panic!("nothing was sent"),
        }
    }

    #[test]
    fn a_server_that_knows_the_double_hash_accepts_the_native_scramble() {
        let scramble = scramble_native(b"s3cret", NONCE);
        let stored = sha1(&sha1(b"s3cret"));
        let mask = sha1(&[NONCE, &stored].concat());
        let once: Vec<u8> = scramble.iter().zip(mask).map(|(a, b)| a ^ b).collect();
        assert_eq!(sha1(&once), stored);
        assert!(scramble_native(b"", NONCE).is_empty());
    }

    #[test]
    fn a_server_that_knows_the_double_hash_accepts_the_sha2_scramble() {
        let scramble = scramble_caching_sha2(b"s3cret", NONCE);
        let stored = sha256(&sha256(b"s3cret"));
        let mask = sha256(&[&stored[..], NONCE].concat());
        let once: Vec<u8> = scramble.iter().zip(mask).map(|(a, b)| a ^ b).collect();
        assert_eq!(sha256(&once), stored);
    }

    #[test]
    fn the_clear_password_goes_only_to_a_proven_peer_or_over_a_socket() {
        let password = SecretString::from("s3cret");
        for (channel, may) in [
            (Channel::Clear, false),
            (Channel::TlsUnverified, false),
            (Channel::TlsVerified, true),
            (Channel::UnixSocket, true),
        ] {
            let (mut exchange, ..) = Exchange::begin(Some(&password), channel, true, None, NONCE);
            let turn = exchange.switch(MYSQL_CLEAR_PASSWORD, b"");
            assert_eq!(turn.is_ok(), may, "{channel:?}");
            if let Err(AuthStop::Unsupported { why, .. }) = turn {
                assert!(!why.contains("s3cret"));
            }
        }
    }

    #[test]
    fn full_sha2_authentication_in_clear_needs_consent_and_encrypts_for_the_key() {
        let password = SecretString::from("s3cret");
        let begin = |allow| {
            let (exchange, name, _) =
                Exchange::begin(Some(&password), Channel::Clear, allow, Some(CACHING_SHA2_PASSWORD), NONCE);
            assert_eq!(name, CACHING_SHA2_PASSWORD);
            exchange
        };
        assert!(matches!(begin(false).more(&[FULL_AUTH]), Err(AuthStop::Unsupported { .. })));
        let mut exchange = begin(true);
        assert!(
            matches!(exchange.more(b"-----BEGIN"), Err(AuthStop::PeerMisbehaved(_))),
            "an unsolicited key"
        );
        assert_eq!(sent(exchange.more(&[FULL_AUTH])), [REQUEST_PUBLIC_KEY]);
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        let cipher = sent(exchange.more(&key.public_key_to_pem().unwrap()));
        let mut decrypter = Decrypter::new(&key).unwrap();
        decrypter.set_rsa_padding(Padding::PKCS1_OAEP).unwrap();
        let mut plain = vec![0; decrypter.decrypt_len(&cipher).unwrap()];
        let length = decrypter.decrypt(&cipher, &mut plain).unwrap();
        plain.truncate(length);
        let password: Vec<u8> = plain.iter().zip(NONCE).map(|(a, b)| a ^ b).collect();
        assert_eq!(password, b"s3cret\0");
    }

    #[test]
    fn an_unknown_plugin_is_named_and_not_answered() {
        let (mut exchange, ..) = Exchange::begin(None, Channel::TlsVerified, true, None, NONCE);
        let Err(AuthStop::Unsupported { why, .. }) = exchange.switch("dialog", NONCE) else { panic!() };
        assert!(why.contains("dialog"));
    }

    #[test]
    fn a_nonce_of_ed25519_may_end_with_a_zero_and_has_one_length() {
        let password = SecretString::from("s3cret");
        let switched = |nonce: &[u8]| {
            let (mut exchange, ..) = Exchange::begin(Some(&password), Channel::Clear, false, None, NONCE);
            exchange.switch(CLIENT_ED25519, nonce)
        };
        let cut = [7; 31];
        let whole = [&cut[..], &[0]].concat();
        assert_eq!(sent(switched(&cut)), ed25519::sign(b"s3cret", &whole));
        assert_eq!(sent(switched(&whole)), ed25519::sign(b"s3cret", &whole));
        for length in [0, 30, 33] {
            assert!(matches!(switched(&vec![7; length]), Err(AuthStop::PeerMisbehaved(_))), "{length}");
        }
    }
}
