//! One login that is refused, in cleartext, to see whether the server offers the RSA key of its password plugins.
//!
//! A client that takes this key on trust gives the password to whoever puts another in its place. The login is as
//! [`USER`], whom no server has: it costs a line "access denied" in the server's log, and is asked only where it is wanted.
//! It is finished, so the server does not count it as a connection error (seen on MySQL 9.7.4).
//!
//! Source: MySQL manual, "Caching SHA-2 Pluggable Authentication" and "SHA-256 Pluggable Authentication"; for an unknown
//! user the server picks a plugin by the name. Seen: MySQL 9.7.4 asks this name for `caching_sha2_password`.

use openssl::rsa::Rsa;
use openssl::sha::sha256;
use wire::login::{CHARSET_UTF8MB4, HandshakeResponse, SslRequest};
use wire::packet::{BEFORE_LOGIN_BYTES_MAX, PacketBuffer, write_payload};
use wire::{AuthAnswer, Capabilities, Greeting, WireError};

/// Announced in the documentation, so that whoever reads a log knows who knocked.
pub const USER: &str = "sealion_scan";
const CACHING_SHA2: &str = "caching_sha2_password";
const SHA256: &str = "sha256_password";
const FULL_AUTHENTICATION: &[u8] = &[4];
/// A key of 16384 bits has 2.8 kB of PEM.
const KEY_BYTES_MAX: usize = 8 * 1024;
/// A server that switches plugins for ever is no server.
const TURNS_MAX: u32 = 8;
/// ER_ACCESS_DENIED_ERROR; ER_SECURE_TRANSPORT_REQUIRED: it takes no password in cleartext.
const REFUSED: [u16; 2] = [1045, 3159];

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knocked {
    /// The server gave this key, to anybody who asks.
    Key(PublicKey),
    /// It refused the login and never offered a key: with this plugin, if it named one.
    NoKey { plugin: Option<String> },
    /// Nobody knows.
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    pub bits: u32,
    /// Of the SubjectPublicKeyInfo in DER, as hex.
    pub sha256: String,
    pub plugin: String,
}

/// The talk behind the greeting.
#[derive(Debug)]
pub struct Knock {
    packets: PacketBuffer,
    plugin: Option<String>,
    /// Random bytes: an answer to a nonce that fits no password.
    answer: [u8; 32],
    turns: u32,
    asked: bool,
    key: Option<PublicKey>,
    knocked: Option<Knocked>,
}

impl Knock {
    /// The login, as bytes to be sent.
    ///
    /// # Errors
    /// None for this user.
    pub fn begin(greeting: &Greeting, answer: [u8; 32], output: &mut Vec<u8>) -> Result<Self, WireError> {
        let capabilities =
            Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH;
        let plugin = if greeting.is_mariadb() { "mysql_native_password" } else { CACHING_SHA2 };
        let login = HandshakeResponse {
            head: SslRequest {
                capabilities: if greeting.is_mariadb() {
                    capabilities
                } else {
                    capabilities | Capabilities::LONG_PASSWORD
                },
                mariadb_capabilities: 0,
                max_packet_bytes: 1 << 24,
                charset: CHARSET_UTF8MB4,
            },
            user: USER.as_bytes(),
            auth_response: if greeting.is_mariadb() { answer.get(..20).unwrap_or_default() } else { &answer },
            database: None,
            auth_plugin: Some(plugin),
            attributes: vec![],
        };
        let mut payload = Vec::new();
        login.encode(&mut payload)?;
        write_payload(output, &mut 1, &payload);
        Ok(Self {
            packets: PacketBuffer::new(BEFORE_LOGIN_BYTES_MAX),
            plugin: Some(plugin.to_owned()),
            answer,
            turns: 0,
            asked: false,
            key: None,
            knocked: None,
        })
    }

    pub fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>) {
        self.packets.push(bytes);
        while self.knocked.is_none() {
            let (payload, mut sequence) = match self.packets.next_packet() {
                Ok(Some(packet)) => (packet.payload.to_vec(), packet.last_sequence.wrapping_add(1)),
                Ok(None) => return,
                Err(error) => return self.end(Knocked::Unknown(error.to_string())),
            };
            self.turns += 1;
            if self.turns > TURNS_MAX {
                return self.end(Knocked::Unknown("the login does not end".into()));
            }
            if let Some(words) = self.packet(&payload) {
                write_payload(output, &mut sequence, &words);
            }
        }
    }

    /// Our words in answer, if any.
    fn packet(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        match AuthAnswer::parse(payload) {
            Ok(AuthAnswer::Err(error)) => {
                let knocked = match self.key.take() {
                    Some(key) => Knocked::Key(key),
                    // Of all refusals only these are of somebody who was asked for a password.
                    None if REFUSED.contains(&error.code) => Knocked::NoKey { plugin: self.plugin.clone() },
                    None => Knocked::Unknown(format!("error {}: {}", error.code, error.message)),
                };
                self.end(knocked);
                None
            }
            Ok(AuthAnswer::Switch(switch)) => {
                self.plugin = Some(switch.plugin.clone());
                self.asked = switch.plugin == SHA256;
                Some(match switch.plugin.as_str() {
                    SHA256 => vec![1],
                    CACHING_SHA2 => self.answer.to_vec(),
                    _ => self.answer.get(..20).unwrap_or_default().to_vec(),
                })
            }
            Ok(AuthAnswer::More(FULL_AUTHENTICATION)) => {
                self.asked = true;
                Some(vec![2])
            }
            Ok(AuthAnswer::More(pem)) if self.asked && pem.len() <= KEY_BYTES_MAX => {
                self.asked = false;
                let read = Rsa::public_key_from_pem(pem).and_then(|key| Ok((key.public_key_to_der()?, key)));
                let Ok((der, key)) = read else {
                    self.end(Knocked::Unknown("a key was offered that is no RSA key".into()));
                    return None;
                };
                let sha256 =
                    sha256(&der).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
                let bits = key.size() * 8;
                self.key = Some(PublicKey { bits, sha256, plugin: self.plugin.clone().unwrap_or_default() });
                // Nothing that it opens to: the server refuses, and the login is finished.
                Some(self.answer.iter().copied().cycle().take(key.size() as usize).collect())
            }
            Ok(AuthAnswer::Ok(_)) => {
                self.end(Knocked::Unknown(format!("{USER} was let in, which no server should do")));
                None
            }
            Ok(AuthAnswer::SwitchToOldPassword) => {
                self.end(Knocked::NoKey { plugin: Some("mysql_old_password".into()) });
                None
            }
            Ok(AuthAnswer::More(bytes)) => {
                let what = if bytes.len() > KEY_BYTES_MAX { "a key over 8 KiB" } else { "unsolicited data" };
                self.end(Knocked::Unknown(format!("the server sent {what}")));
                None
            }
            Err(error) => {
                self.end(Knocked::Unknown(error.to_string()));
                None
            }
        }
    }

    fn end(&mut self, knocked: Knocked) {
        self.knocked.get_or_insert(knocked);
    }

    pub fn is_over(&self) -> bool {
        self.knocked.is_some()
    }

    /// What was learned; a server that has gone after it gave the key has given it.
    pub fn into_knocked(self) -> Knocked {
        match (self.knocked, self.key) {
            (Some(knocked), _) => knocked,
            (None, Some(key)) => Knocked::Key(key),
            (None, None) => Knocked::Unknown("the login was not answered".into()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn greeting(capabilities: u32) -> Greeting {
        Greeting {
            protocol: 10,
            version: "9.7.4".into(),
            connection_id: 1,
            nonce: vec![1; 20],
            capabilities: Capabilities(capabilities),
            mariadb_capabilities: 0,
            charset: 8,
            status: 2,
            auth_plugin: Some(CACHING_SHA2.into()),
        }
    }

    fn talk(answers: &[&[u8]]) -> (Knocked, Vec<Vec<u8>>) {
        let mut output = Vec::new();
        let mut knock = Knock::begin(&greeting(1), [7; 32], &mut output).unwrap();
        assert!(output.windows(USER.len()).any(|part| part == USER.as_bytes()));
        let (mut sequence, mut said) = (2, Vec::new());
        for answer in answers {
            let (mut bytes, mut words) = (Vec::new(), Vec::new());
            write_payload(&mut bytes, &mut sequence, answer);
            for byte in bytes {
                knock.input(&[byte], &mut words);
            }
            sequence += 1;
            said.push(words);
        }
        (knock.into_knocked(), said)
    }

    #[test]
    fn a_key_is_asked_for_and_the_login_is_finished() {
        let key = Rsa::generate(2048).unwrap();
        let pem = [&[1], key.public_key_to_pem().unwrap().as_slice()].concat();
        let (knocked, said) = talk(&[&[1, 4], &pem, b"\xff\x15\x04#28000Access denied"]);
        let Knocked::Key(offered) = knocked else { panic!("{knocked:?}") };
        assert_eq!((offered.bits, offered.plugin.as_str(), offered.sha256.len()), (2048, CACHING_SHA2, 64));
        assert_eq!(said.first().unwrap(), &[1, 0, 0, 3, 2]);
        assert_eq!(said.get(1).unwrap().len(), 4 + 256);
        let (knocked, said) = talk(&[b"\xfesha256_password\0abcdefghijklmnopqrst\0", &pem]);
        assert!(matches!(knocked, Knocked::Key(key) if key.plugin == SHA256));
        assert_eq!(said.first().unwrap(), &[1, 0, 0, 3, 1]);
    }

    #[test]
    fn a_refusal_without_a_key_is_told_with_its_plugin() {
        let (knocked, _) =
            talk(&[b"\xfemysql_native_password\0abcdefghijklmnopqrst\0", b"\xff\x15\x04#28000Access denied"]);
        assert_eq!(knocked, Knocked::NoKey { plugin: Some("mysql_native_password".into()) });
        // What cannot be read, unsolicited data, and refusals for something else say nothing of a key; and a server
        // that lets strangers in is not taken for a refusal.
        for answers in [
            &[&[1, 4][..], b"\x01-----BEGIN NONSENSE-----"][..],
            &[&[1, 3]],
            &[b"\xff\x10\x04#08004Too many connections"],
        ] {
            assert!(matches!(talk(answers).0, Knocked::Unknown(_)), "{answers:?}");
        }
        assert!(matches!(talk(&[b"\0\0\0\x02\0\0\0"]).0, Knocked::Unknown(_)));
        assert!(matches!(talk(&[]).0, Knocked::Unknown(_)));
        let switches: Vec<&[u8]> = vec![b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0"; 20];
        assert_eq!(talk(&switches).0, Knocked::Unknown("the login does not end".into()));
    }
}
