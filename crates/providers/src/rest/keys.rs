//! The keys of a cluster's data, as files of MariaDB's file_key_management.

use std::path::{Path, PathBuf};

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

/// The directory of the first keys; each set that replaces others has one of its own, so that no file is ever written over.
pub const DIR: &str = "data-keys";

/// The directory of the set that is the copy `number` in the escrow.
pub fn dir_name(number: u32) -> String {
    format!("{DIR}-{number}")
}

/// Beside the directory of the TLS keys, and never in it: that one is emptied when TLS is.
pub fn dir(spec: &NodeSpec) -> PathBuf {
    dir_named(spec, DIR)
}

pub fn dir_named(spec: &NodeSpec, name: &str) -> PathBuf {
    spec.tls_dir.with_file_name(name)
}

/// The name of the directory, where a key file of this path is one that sealion has put there.
pub fn own_dir(spec: &NodeSpec, key_file: &str) -> Option<String> {
    let path = Path::new(key_file);
    let name = path.parent()?.file_name()?.to_str()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_one =
        name == DIR || name.strip_prefix(DIR).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_number);
    (is_one && dir_named(spec, name).join(KEY_FILE) == path).then(|| name.to_owned())
}

/// The copies of a cluster in the escrow are named so, with their number behind it.
pub fn entry_prefix(cluster: &str) -> String {
    format!("{cluster}-data-keys-")
}

/// Whose keys a set is.
pub struct Origin<'o> {
    pub cluster: &'o str,
    pub plan_id: &'o str,
    pub made_unix_ms: u64,
}

/// New keys, from the operating system's generator.
pub fn generate(of: &Origin<'_>) -> Result<KeySet, StepError> {
    let keys = KEY_IDS.into_iter().map(new_key).collect::<Result<_, _>>()?;
    set(of, keys)
}

/// The keys of `base`, and a new one.
pub fn with_new_key(base: &KeySet, id: u32, of: &Origin<'_>) -> Result<KeySet, StepError> {
    if base.key(id).is_some() {
        return Err(fail(format!("there is a key {id} already")));
    }
    let mut keys = base.keys.clone();
    keys.push(new_key(id)?);
    set(of, keys)
}

/// The key `kept` of `base`, and new ones for the ids in `anew`.
pub fn with_only(base: &KeySet, kept: u32, anew: &[u32], of: &Origin<'_>) -> Result<KeySet, StepError> {
    let kept = base.key(kept).ok_or_else(|| fail(format!("there is no key {kept}")))?.clone();
    let others = anew.iter().filter(|id| **id != kept.id).map(|id| new_key(*id));
    let mut keys = others.collect::<Result<Vec<_>, _>>()?;
    keys.push(kept);
    set(of, keys)
}

fn new_key(id: u32) -> Result<DataKey, StepError> {
    Ok(DataKey { id, key: random(KEY_BYTES)? })
}

fn set(of: &Origin<'_>, keys: Vec<DataKey>) -> Result<KeySet, StepError> {
    let mut text = Zeroizing::new(String::new());
    for DataKey { id, key } in &keys {
        let hex = Zeroizing::new(model::hex(key.expose_secret()));
        *text += &format!("{id};");
        *text += &hex;
        text.push('\n');
    }
    let pass = Zeroizing::new(model::hex(random(PASS_BYTES)?.expose_secret()));
    let sealed = sealed(text.as_bytes(), pass.as_bytes())?;
    let pass_line = [pass.as_bytes(), b"\n"].concat();
    let file = |name: &str, bytes: Vec<u8>| KeptFile { name: name.into(), bytes: bytes.into() };
    let files = vec![file(KEY_FILE, sealed), file(PASS_FILE, pass_line)];
    let Origin { cluster, plan_id, made_unix_ms } = *of;
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

    const OF: Origin<'_> = Origin { cluster: "c", plan_id: "p", made_unix_ms: 1 };

    fn ids(set: &KeySet) -> Vec<u32> {
        set.keys.iter().map(|key| key.id).collect()
    }

    fn bytes(set: &KeySet, id: u32) -> &[u8] {
        set.key(id).expect("it is there").key.expose_secret()
    }

    #[test]
    fn a_rotation_keeps_the_keys_that_are_needed_and_no_other() {
        let base = generate(&OF).expect("there is a generator");
        let bridge = with_new_key(&base, 3, &OF).expect("3 is free");
        assert_eq!(ids(&bridge), [1, 2, 3]);
        assert_eq!(bytes(&bridge, 1), bytes(&base, 1));
        assert!(with_new_key(&bridge, 3, &OF).is_err());
        let next = with_only(&bridge, 3, &[1, 2, 3], &OF).expect("3 is there");
        assert_eq!(ids(&next), [1, 2, 3]);
        assert_eq!(bytes(&next, 3), bytes(&bridge, 3));
        for id in [1, 2] {
            assert_ne!(bytes(&next, id), bytes(&bridge, id), "{id}");
        }
        assert!(with_only(&base, 3, &[1], &OF).is_err());
    }

    #[test]
    fn only_files_where_sealion_puts_them_are_its_own() {
        let spec = NodeSpec { tls_dir: "/etc/mysql/sealion/n1".into(), ..NodeSpec::new("n1", "n1") };
        for (path, name) in [
            ("/etc/mysql/sealion/data-keys/data-keys.enc", Some("data-keys")),
            ("/etc/mysql/sealion/data-keys-12/data-keys.enc", Some("data-keys-12")),
            ("/etc/mysql/sealion/data-keys-/data-keys.enc", None),
            ("/etc/mysql/sealion/data-keys-1b/data-keys.enc", None),
            ("/etc/mysql/sealion/data-keys2/data-keys.enc", None),
            ("/etc/mysql/data-keys/data-keys.enc", None),
            ("/etc/mysql/sealion/data-keys/keys.enc", None),
            ("data-keys.enc", None),
        ] {
            assert_eq!(own_dir(&spec, path).as_deref(), name, "{path}");
        }
    }

    /// The plugin's own reading is tried on a real server; this is openssl's.
    #[test]
    fn what_is_sealed_opens_as_openssl_enc_opens_it() {
        let keys = generate(&OF).expect("there is a generator");
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
        let other = generate(&OF).expect("there is a generator");
        assert_ne!(bytes(KEY_FILE), other.file(KEY_FILE).expect("it is there").bytes.expose_secret());
    }
}
