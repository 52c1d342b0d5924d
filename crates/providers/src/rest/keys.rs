//! The keys of a cluster's data, as files of MariaDB's file_key_management.

use std::path::PathBuf;

use change::StepError;
use escrow::{DataKey, KEY_BYTES, KeptFile, KeySet};
use openssl::hash::MessageDigest;
use openssl::symm::{Cipher, encrypt};
use secrecy::{ExposeSecret, SecretSlice};
use server::NodeSpec;
use zeroize::Zeroizing;

use crate::steps::fail;

/// The encrypted list of keys, and what opens it.
pub const KEY_FILE: &str = "data-keys.enc";
pub const PASS_FILE: &str = "data-keys.pass";
/// 1: tables, redo and binary logs. 2: temporary files, where it is there.
///
/// # Source
/// MariaDB manual, Encryption Key Management.
pub const KEY_IDS: [u32; 2] = [1, 2];
const SALT_BYTES: usize = 8;
const PASS_BYTES: usize = 64;

/// Beside the directory of the TLS keys, and never in it: that one is emptied when TLS is.
pub fn dir(spec: &NodeSpec) -> PathBuf {
    spec.tls_dir.with_file_name("data-keys")
}

/// New keys, from the operating system's generator.
pub fn generate(cluster: &str, plan_id: &str, made_unix_ms: u64) -> Result<KeySet, StepError> {
    let mut keys = Vec::new();
    let mut text = Zeroizing::new(String::new());
    for id in KEY_IDS {
        let key = random(KEY_BYTES)?;
        let hex = Zeroizing::new(model::hex(key.expose_secret()));
        *text += &format!("{id};");
        *text += &hex;
        text.push('\n');
        keys.push(DataKey { id, key });
    }
    let pass = Zeroizing::new(model::hex(random(PASS_BYTES)?.expose_secret()));
    let sealed = sealed(text.as_bytes(), pass.as_bytes())?;
    let pass_line = [pass.as_bytes(), b"\n"].concat();
    let file = |name: &str, bytes: Vec<u8>| KeptFile { name: name.into(), bytes: bytes.into() };
    let files = vec![file(KEY_FILE, sealed), file(PASS_FILE, pass_line)];
    Ok(KeySet { cluster: cluster.into(), plan_id: plan_id.into(), made_unix_ms, keys, files })
}

fn random(bytes: usize) -> Result<SecretSlice<u8>, StepError> {
    let mut secret = vec![0; bytes];
    openssl::rand::rand_bytes(&mut secret).map_err(fail)?;
    Ok(secret.into())
}

/// As `openssl enc -aes-256-cbc -md sha1` writes it, which is what the plugin reads.
///
/// # Source
/// MariaDB manual, File Key Management Encryption Plugin, "Encrypting the key file"; tried on 10.11.19.
fn sealed(text: &[u8], pass: &[u8]) -> Result<Vec<u8>, StepError> {
    let mut salt = [0; SALT_BYTES];
    openssl::rand::rand_bytes(&mut salt).map_err(fail)?;
    let cipher = Cipher::aes_256_cbc();
    let derived =
        openssl::pkcs5::bytes_to_key(cipher, MessageDigest::sha1(), pass, Some(&salt), 1).map_err(fail)?;
    let key = Zeroizing::new(derived.key);
    let sealed = encrypt(cipher, &key, derived.iv.as_deref(), text).map_err(fail)?;
    Ok([&b"Salted__"[..], &salt, &sealed].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plugin's own reading is tried on a real server; this is openssl's.
    #[test]
    fn what_is_sealed_opens_as_openssl_enc_opens_it() {
        let keys = generate("c", "p", 1).expect("there is a generator");
        let bytes = |name: &str| keys.file(name).expect("it is there").bytes.expose_secret().to_vec();
        let (sealed, pass) = (bytes(KEY_FILE), bytes(PASS_FILE));
        let (head, rest) = sealed.split_at(16);
        assert!(head.starts_with(b"Salted__") && pass.ends_with(b"\n") && pass.len() == 129);
        let cipher = Cipher::aes_256_cbc();
        let pass = pass.strip_suffix(b"\n").expect("seen");
        let derived = openssl::pkcs5::bytes_to_key(cipher, MessageDigest::sha1(), pass, head.get(8..), 1);
        let derived = derived.expect("it derives");
        let text =
            openssl::symm::decrypt(cipher, &derived.key, derived.iv.as_deref(), rest).expect("it opens");
        let wanted: Vec<String> = keys
            .keys
            .iter()
            .map(|key| format!("{};{}", key.id, model::hex(key.key.expose_secret())))
            .collect();
        assert_eq!(String::from_utf8(text).expect("text").lines().collect::<Vec<_>>(), wanted);
        let other = generate("c", "p", 1).expect("there is a generator");
        assert_ne!(bytes(KEY_FILE), other.file(KEY_FILE).expect("it is there").bytes.expose_secret());
    }
}
