//! Hashes and the code that is made of them (RFC 2104): for key schedules and for the records of old versions.

use openssl::hash::{MessageDigest, hash};
use openssl::sha::{Sha1, Sha256, Sha384};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digest {
    Md5,
    Sha1,
    Sha256,
    Sha384,
}

impl Digest {
    pub const fn bytes(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
        }
    }

    const fn block_bytes(self) -> usize {
        match self {
            Self::Md5 | Self::Sha1 | Self::Sha256 => 64,
            Self::Sha384 => 128,
        }
    }

    /// By the plain functions: OpenSSL 3 looks an algorithm up anew for every `EVP` object, which costs more than a hash.
    pub fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            // There is no plain one. A build for FIPS has none at all: then no handshake of TLS 1.0 and 1.1 can be finished,
            // and that is what will be said.
            Self::Md5 => {
                hash(MessageDigest::md5(), &parts.concat()).map(|digest| digest.to_vec()).unwrap_or_default()
            }
            Self::Sha1 => {
                let mut hasher = Sha1::new();
                for part in parts {
                    hasher.update(part);
                }
                hasher.finish().to_vec()
            }
            Self::Sha256 => {
                let mut hasher = Sha256::new();
                for part in parts {
                    hasher.update(part);
                }
                hasher.finish().to_vec()
            }
            Self::Sha384 => {
                let mut hasher = Sha384::new();
                for part in parts {
                    hasher.update(part);
                }
                hasher.finish().to_vec()
            }
        }
    }

    /// Source: RFC 2104. A key longer than a block is hashed first: a secret of Diffie-Hellman is as long as its prime.
    pub fn hmac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        let mut inner = if key.len() > self.block_bytes() { self.of(&[key]) } else { key.to_vec() };
        inner.resize(self.block_bytes(), 0);
        let outer: Vec<u8> = inner.iter().map(|byte| byte ^ 0x5c).collect();
        for byte in &mut inner {
            *byte ^= 0x36;
        }
        let mut all = vec![inner.as_slice()];
        all.extend(parts);
        self.of(&[&outer, &self.of(&all)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources: RFC 4231 and RFC 2202, test cases 2 and 6.
    #[test]
    fn the_hmac_is_that_of_the_rfcs() {
        let check = |digest: Digest, key: &[u8], text: &[u8], expected: &str| {
            let code = digest.hmac(key, &[text]);
            let hex = code.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
            assert!(hex.starts_with(expected), "{digest:?} {hex}");
            assert_eq!(code.len(), digest.bytes());
        };
        let jefe = |digest, expected| check(digest, b"Jefe", b"what do ya want for nothing?", expected);
        jefe(Digest::Sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        jefe(Digest::Sha384, "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e");
        jefe(Digest::Md5, "750c783e6ab0b503eaa86e310a5db738");
        jefe(Digest::Sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        let text = b"Test Using Larger Than Block-Size Key - Hash Key First";
        check(Digest::Sha256, &[0xaa; 131], text, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c514");
        check(Digest::Sha384, &[0xaa; 131], text, "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f");
        check(Digest::Sha1, &[0xaa; 80], text, "aa4ae5e15272d00e95705637ce8a3b55ed402112");
    }
}
