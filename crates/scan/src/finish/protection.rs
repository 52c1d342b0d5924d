//! Keys and records of TLS 1.0 to 1.2. Sources: RFC 5246 5 (PRF) and 6.2.3 (records), RFC 2246 5, RFC 5288 (GCM),
//! RFC 7905 (ChaCha20).
//!
//! We guard no secret: what is wrong is said, in whatever time that takes.

use openssl::error::ErrorStack;
use openssl::symm::{Cipher as Algorithm, Crypter, Mode as Direction, decrypt_aead, encrypt_aead};
use wire::tls::RECORD_HEADER_BYTES;
use wire::tls::registry::{Cipher, CipherSuite, Mac, Mode, Version};

use crate::digest::Digest;

const TAG_BYTES: usize = 16;
const BLOCK_BYTES: usize = 16;
const GCM_EXPLICIT_BYTES: usize = 8;

/// The pseudo-random function of a version and a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prf {
    /// TLS 1.0 and 1.1: MD5 and SHA-1, each with half of the secret.
    Both,
    One(Digest),
}

impl Prf {
    pub fn of(version: Version, suite: &CipherSuite) -> Self {
        if version < Version::TLS12 {
            return Self::Both;
        }
        let is_large = suite.mac == Mac::Sha384 || suite.mode == Mode::Gcm && suite.strength_bits >= 256;
        Self::One(if is_large { Digest::Sha384 } else { Digest::Sha256 })
    }

    pub fn hash(self, transcript: &[u8]) -> Vec<u8> {
        match self {
            Self::Both => [Digest::Md5.of(&[transcript]), Digest::Sha1.of(&[transcript])].concat(),
            Self::One(digest) => digest.of(&[transcript]),
        }
    }

    pub fn expand(self, secret: &[u8], label: &str, seed: &[u8], bytes: usize) -> Vec<u8> {
        match self {
            Self::One(digest) => p_hash(digest, secret, label, seed, bytes),
            Self::Both => {
                let half = secret.len().div_ceil(2);
                let (first, second) = (
                    secret.get(..half).unwrap_or(secret),
                    secret.get(secret.len() - half..).unwrap_or(secret),
                );
                let mut one = p_hash(Digest::Md5, first, label, seed, bytes);
                let other = p_hash(Digest::Sha1, second, label, seed, bytes);
                one.iter_mut().zip(other).for_each(|(one, other)| *one ^= other);
                one
            }
        }
    }
}

fn p_hash(digest: Digest, secret: &[u8], label: &str, seed: &[u8], bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut a = digest.hmac(secret, &[label.as_bytes(), seed]);
    while out.len() < bytes {
        let block = digest.hmac(secret, &[&a, label.as_bytes(), seed]);
        if block.is_empty() {
            break; // No MD5 here; see `Digest::of`.
        }
        out.extend(block);
        a = digest.hmac(secret, &[&a]);
    }
    out.truncate(bytes);
    out
}

#[derive(Clone, Copy)]
enum Kind {
    Gcm(Algorithm),
    ChaCha20,
    Cbc(Algorithm, Digest),
}

/// One direction's keys, and the number of its next record.
pub struct Protection {
    kind: Kind,
    version: Version,
    key: Vec<u8>,
    mac_key: Vec<u8>,
    /// TLS 1.0 goes on with the last block of the record before.
    iv: Vec<u8>,
    sequence: u64,
}

impl Protection {
    /// The client's and the server's, from the master secret. `None` for a suite that is not ours.
    pub fn both(
        version: Version,
        suite: &CipherSuite,
        prf: Prf,
        master: &[u8],
        server_and_client_random: &[u8],
    ) -> Option<(Self, Self)> {
        let is_256 = suite.strength_bits >= 256;
        let (kind, mac_bytes, key_bytes, iv_bytes) = match (suite.cipher, suite.mode) {
            (Cipher::Aes, Mode::Gcm) if is_256 => (Kind::Gcm(Algorithm::aes_256_gcm()), 0, 32, 4),
            (Cipher::Aes, Mode::Gcm) => (Kind::Gcm(Algorithm::aes_128_gcm()), 0, 16, 4),
            (Cipher::ChaCha20, _) => (Kind::ChaCha20, 0, 32, 12),
            (Cipher::Aes, Mode::Cbc) => {
                let digest = match suite.mac {
                    Mac::Sha1 => Digest::Sha1,
                    Mac::Sha256 => Digest::Sha256,
                    Mac::Sha384 => Digest::Sha384,
                    _ => return None,
                };
                let algorithm = if is_256 { Algorithm::aes_256_cbc() } else { Algorithm::aes_128_cbc() };
                // From TLS 1.1 on each record brings its own.
                let iv_bytes = if version < Version::TLS11 { BLOCK_BYTES } else { 0 };
                (Kind::Cbc(algorithm, digest), digest.bytes(), if is_256 { 32 } else { 16 }, iv_bytes)
            }
            _ => return None,
        };
        let bytes = 2 * (mac_bytes + key_bytes + iv_bytes);
        let block = prf.expand(master, "key expansion", server_and_client_random, bytes);
        let mut rest = block.as_slice();
        let mut take = |bytes: usize| {
            let (taken, left) = rest.split_at_checked(bytes)?;
            rest = left;
            Some(taken.to_vec())
        };
        let (client_mac, server_mac) = (take(mac_bytes)?, take(mac_bytes)?);
        let (client_key, server_key) = (take(key_bytes)?, take(key_bytes)?);
        let (client_iv, server_iv) = (take(iv_bytes)?, take(iv_bytes)?);
        let side = |mac_key, key, iv| Self { kind, version, key, mac_key, iv, sequence: 0 };
        Some((side(client_mac, client_key, client_iv), side(server_mac, server_key, server_iv)))
    }

    /// Number, type, version and length: what a record's code covers beside its content.
    fn additional(&self, content: u8, bytes: usize) -> Vec<u8> {
        let mut data = self.sequence.to_be_bytes().to_vec();
        data.push(content);
        data.extend_from_slice(&self.version.0.to_be_bytes());
        data.extend_from_slice(&u16::try_from(bytes).unwrap_or(u16::MAX).to_be_bytes());
        data
    }

    fn chacha_nonce(&self) -> Vec<u8> {
        let mut nonce = self.iv.clone();
        for (byte, counter) in nonce.iter_mut().skip(4).zip(self.sequence.to_be_bytes()) {
            *byte ^= counter;
        }
        nonce
    }

    /// Appends a protected record.
    pub fn seal(&mut self, out: &mut Vec<u8>, content: u8, plain: &[u8]) -> Result<(), ErrorStack> {
        let additional = self.additional(content, plain.len());
        let mut tag = [0; TAG_BYTES];
        let body = match self.kind {
            Kind::Gcm(algorithm) => {
                let explicit = self.sequence.to_be_bytes();
                let nonce = [self.iv.as_slice(), &explicit].concat();
                let sealed = encrypt_aead(algorithm, &self.key, Some(&nonce), &additional, plain, &mut tag)?;
                [explicit.as_slice(), &sealed, &tag].concat()
            }
            Kind::ChaCha20 => {
                let algorithm = Algorithm::chacha20_poly1305();
                let nonce = self.chacha_nonce();
                let sealed = encrypt_aead(algorithm, &self.key, Some(&nonce), &additional, plain, &mut tag)?;
                [sealed.as_slice(), &tag].concat()
            }
            Kind::Cbc(algorithm, digest) => {
                let mut padded = plain.to_vec();
                padded.extend(digest.hmac(&self.mac_key, &[&additional, plain]));
                let padding = BLOCK_BYTES - padded.len() % BLOCK_BYTES;
                // Each byte of the padding is its length without the last.
                padded.resize(padded.len() + padding, u8::try_from(padding - 1).unwrap_or(0));
                if self.version < Version::TLS11 {
                    let sealed = cbc(algorithm, Direction::Encrypt, &self.key, &self.iv, &padded)?;
                    self.iv = last_block(&sealed);
                    sealed
                } else {
                    let mut iv = vec![0; BLOCK_BYTES];
                    openssl::rand::rand_bytes(&mut iv)?;
                    let sealed = cbc(algorithm, Direction::Encrypt, &self.key, &iv, &padded)?;
                    [iv, sealed].concat()
                }
            }
        };
        self.sequence = self.sequence.wrapping_add(1);
        let [high, low] = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes();
        let [major, minor] = self.version.0.to_be_bytes();
        let header: [u8; RECORD_HEADER_BYTES] = [content, major, minor, high, low];
        out.extend_from_slice(&header);
        out.extend_from_slice(&body);
        Ok(())
    }

    /// The content of a record's body; `None` where it does not open.
    pub fn open(&mut self, content: u8, body: &[u8]) -> Option<Vec<u8>> {
        let plain = match self.kind {
            Kind::Gcm(algorithm) => {
                let (explicit, rest) = body.split_at_checked(GCM_EXPLICIT_BYTES)?;
                let (sealed, tag) = rest.split_at_checked(rest.len().checked_sub(TAG_BYTES)?)?;
                let nonce = [self.iv.as_slice(), explicit].concat();
                let additional = self.additional(content, sealed.len());
                decrypt_aead(algorithm, &self.key, Some(&nonce), &additional, sealed, tag).ok()?
            }
            Kind::ChaCha20 => {
                let (sealed, tag) = body.split_at_checked(body.len().checked_sub(TAG_BYTES)?)?;
                let additional = self.additional(content, sealed.len());
                let (algorithm, nonce) = (Algorithm::chacha20_poly1305(), self.chacha_nonce());
                decrypt_aead(algorithm, &self.key, Some(&nonce), &additional, sealed, tag).ok()?
            }
            Kind::Cbc(algorithm, digest) => {
                let (iv, sealed) = if self.version < Version::TLS11 {
                    (self.iv.as_slice(), body)
                } else {
                    body.split_at_checked(BLOCK_BYTES)?
                };
                if sealed.is_empty() || sealed.len() % BLOCK_BYTES != 0 {
                    return None;
                }
                let mut plain = cbc(algorithm, Direction::Decrypt, &self.key, iv, sealed).ok()?;
                if self.version < Version::TLS11 {
                    self.iv = last_block(sealed);
                }
                let last = *plain.last()?;
                let padding = plain.split_off(plain.len().checked_sub(usize::from(last) + 1)?);
                if padding.iter().any(|&byte| byte != last) {
                    return None;
                }
                let code = plain.split_off(plain.len().checked_sub(digest.bytes())?);
                let additional = self.additional(content, plain.len());
                if digest.hmac(&self.mac_key, &[&additional, &plain]) != code {
                    return None;
                }
                plain
            }
        };
        self.sequence = self.sequence.wrapping_add(1);
        Some(plain)
    }
}

fn last_block(sealed: &[u8]) -> Vec<u8> {
    sealed.last_chunk::<BLOCK_BYTES>().map(|block| block.to_vec()).unwrap_or_default()
}

/// Whole blocks, without the padding of PKCS #7.
fn cbc(
    algorithm: Algorithm,
    direction: Direction,
    key: &[u8],
    iv: &[u8],
    input: &[u8],
) -> Result<Vec<u8>, ErrorStack> {
    let mut crypter = Crypter::new(algorithm, direction, key, Some(iv))?;
    crypter.pad(false);
    let mut output = vec![0; input.len() + BLOCK_BYTES];
    let mut bytes = crypter.update(input, &mut output)?;
    bytes += crypter.finalize(output.get_mut(bytes..).unwrap_or_default())?;
    output.truncate(bytes);
    Ok(output)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use wire::tls::registry::cipher_suite;

    const SUITES: [u16; 8] = [0xc02f, 0xc030, 0xcca8, 0x002f, 0x0035, 0x003c, 0xc028, 0xc013];

    fn pair(version: Version, code: u16) -> (Protection, Protection) {
        let suite = cipher_suite(code).unwrap();
        let side = || Protection::both(version, suite, Prf::of(version, suite), &[7; 48], &[9; 64]).unwrap();
        (side().0, side().0)
    }

    #[test]
    fn what_one_end_seals_the_other_opens_in_every_version_and_suite() {
        for version in [Version::TLS10, Version::TLS11, Version::TLS12] {
            for code in SUITES {
                let (mut from, mut to) = pair(version, code);
                for plain in [&b""[..], b"a", &[0x55; 15], &[0x55; 16], &[0x55; 1000]] {
                    let mut record = Vec::new();
                    from.seal(&mut record, 22, plain).unwrap();
                    assert_eq!(record.first(), Some(&22));
                    let body = record.get(5..).unwrap();
                    assert_eq!(to.open(22, body).as_deref(), Some(plain), "{version:?} {code:04x}");
                }
            }
        }
    }

    #[test]
    fn a_record_with_a_bit_changed_or_cut_anywhere_does_not_open() {
        for version in [Version::TLS10, Version::TLS12] {
            for code in SUITES {
                let mut record = Vec::new();
                pair(version, code).0.seal(&mut record, 22, b"some content").unwrap();
                let body = record.get(5..).unwrap();
                for at in 0..body.len() {
                    let mut changed = body.to_vec();
                    *changed.get_mut(at).unwrap() ^= 1;
                    assert_eq!(pair(version, code).1.open(22, &changed), None, "{version:?} {code:04x} {at}");
                    assert_eq!(pair(version, code).1.open(22, body.get(..at).unwrap()), None, "{at}");
                }
                assert_eq!(pair(version, code).1.open(21, body), None, "another type");
            }
        }
    }

    /// Source: the vector that the TLS working group's list gives for TLS 1.2 with SHA-256 (also in NIST's CAVS form).
    #[test]
    fn the_prf_of_tls12_is_that_of_the_known_vector() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(text.get(at..at + 2).unwrap(), 16).unwrap())
                .collect()
        };
        let secret = hex("9bbe436ba940f017b17652849a71db35");
        let seed = hex("a0ba9f936cda311827a6f796ffd5198c");
        let out = Prf::One(Digest::Sha256).expand(&secret, "test label", &seed, 100);
        let expected = "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af\
            0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66";
        assert_eq!(out, hex(expected));
    }
}
