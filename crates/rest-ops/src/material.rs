//! Key files as servers read them. No I/O; nothing that is said of them has a key in it.

use std::collections::BTreeMap;

use openssl::hash::MessageDigest;
use openssl::symm::{Cipher, decrypt};
use secrecy::{ExposeSecret, SecretSlice};
use zeroize::Zeroizing;

/// How a file of the plugin `keyring_file` begins (`plugin/keyring/buffered_file_io.cc` of MySQL 8.0).
const PLUGIN_MARK: &[u8] = b"Keyring file version:";
const SALT_MARK: &[u8] = b"Salted__";
const SALT_BYTES: usize = 8;
const BLOCK_BYTES: usize = 16;
/// MariaDB's key ids have 32 bits, and nobody has thousands.
const KEYS_MAX: usize = 65_536;

/// Keys by their names: an id in MariaDB, `INNODBKey-UUID-NUMBER` in MySQL.
#[derive(Debug, Clone, Default)]
pub struct Keys(BTreeMap<String, SecretSlice<u8>>);

impl Keys {
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(ExposeSecret::expose_secret)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of a copy in the escrow.
    pub fn of_set(set: &escrow::KeySet) -> Self {
        Self(set.keys.iter().map(|one| (one.id.to_string(), one.key.clone())).collect())
    }
}

/// Why a key file gives no keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoKeys {
    /// Nothing stands in it.
    Empty,
    /// It cannot be one, whatever opens it: cut off, or something else.
    Damaged(String),
    /// It may be whole, and this pass file does not open it. Which of the two is wrong, they do not tell.
    NotOpened,
    /// It is encrypted, and there is nothing to open it with.
    NoPass,
    /// Of the plugin `keyring_file` of MySQL 8.0 and Percona Server, which keeps its keys otherwise.
    OtherFormat,
}

/// A key file of `file_key_management`; `pass` is what its pass file holds.
///
/// # Source
/// MariaDB manual, File Key Management Encryption Plugin: `openssl enc -aes-256-cbc -md sha1`, lines `id;hex`, `#` for comments. The
/// plugin takes line ends off the pass file (`parser.cc`).
pub fn mariadb(bytes: &[u8], pass: Option<&[u8]>) -> Result<Keys, NoKeys> {
    if bytes.is_empty() {
        return Err(NoKeys::Empty);
    }
    if !bytes.starts_with(SALT_MARK) {
        // A list in the clear is read where no pass file is named.
        return match pass {
            None => list(bytes),
            Some(_) => Err(NoKeys::Damaged(
                "it does not begin with \"Salted__\", as one that a pass file opens does".into(),
            )),
        };
    }
    let Some(pass) = pass else { return Err(NoKeys::NoPass) };
    let rest = bytes.get(SALT_MARK.len()..).unwrap_or_default();
    let (Some(salt), Some(sealed)) = (rest.get(..SALT_BYTES), rest.get(SALT_BYTES..)) else {
        return Err(NoKeys::Damaged("it ends within its header".into()));
    };
    if sealed.is_empty() || !sealed.len().is_multiple_of(BLOCK_BYTES) {
        return Err(NoKeys::Damaged(format!(
            "{} bytes are no whole number of blocks: it was cut off",
            bytes.len()
        )));
    }
    let end = pass.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |at| at + 1);
    let pass = pass.get(..end).unwrap_or_default();
    let cipher = Cipher::aes_256_cbc();
    let derived = openssl::pkcs5::bytes_to_key(cipher, MessageDigest::sha1(), pass, Some(salt), 1);
    let Ok(derived) = derived else { return Err(NoKeys::NotOpened) };
    let key = Zeroizing::new(derived.key);
    let text = decrypt(cipher, &key, derived.iv.as_deref(), sealed).map(Zeroizing::new);
    match text {
        // One wrong pass in 256 leaves an end that looks right, and no list of keys.
        Ok(text) => list(&text).map_err(|_| NoKeys::NotOpened),
        Err(_) => Err(NoKeys::NotOpened),
    }
}

fn list(bytes: &[u8]) -> Result<Keys, NoKeys> {
    let damaged = |line: usize| NoKeys::Damaged(format!("line {line} is not `id;hexadecimal key`"));
    let text = std::str::from_utf8(bytes).map_err(|_| damaged(1))?;
    let mut keys = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (id, hex) = line.split_once(';').ok_or_else(|| damaged(at + 1))?;
        let id: u32 = id.trim().parse().map_err(|_| damaged(at + 1))?;
        let key = unhex(hex.trim()).ok_or_else(|| damaged(at + 1))?;
        if !matches!(key.expose_secret().len(), 16 | 24 | 32) || keys.len() >= KEYS_MAX {
            return Err(damaged(at + 1));
        }
        keys.insert(id.to_string(), key);
    }
    if keys.is_empty() { Err(NoKeys::Empty) } else { Ok(Keys(keys)) }
}

/// A keyring of `component_keyring_file`. One without a key is one: the component makes it where it finds none.
pub fn keyring(bytes: &[u8]) -> Result<Keys, NoKeys> {
    if bytes.is_empty() {
        return Err(NoKeys::Empty);
    }
    if bytes.starts_with(PLUGIN_MARK) {
        return Err(NoKeys::OtherFormat);
    }
    let damaged = |why: &str| NoKeys::Damaged(why.to_owned());
    // Its own text would show what it stumbled over, which may be a key.
    let whole: serde_json::Value = serde_json::from_slice(bytes).map_err(|error| {
        NoKeys::Damaged(format!("it is no JSON from line {}, column {} on", error.line(), error.column()))
    })?;
    let elements = whole.get("elements").and_then(serde_json::Value::as_array);
    let elements = elements.ok_or_else(|| damaged("it has no \"elements\", as a keyring has"))?;
    let mut keys = BTreeMap::new();
    for one in elements {
        let text = |name: &str| one.get(name).and_then(serde_json::Value::as_str);
        let (Some(name), Some(hex)) = (text("data_id"), text("data")) else {
            return Err(damaged("one of its elements has no name or no key"));
        };
        keys.insert(
            name.to_owned(),
            unhex(hex).ok_or_else(|| damaged("one of its keys is no hexadecimal text"))?,
        );
    }
    Ok(Keys(keys))
}

fn unhex(text: &str) -> Option<SecretSlice<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let pairs = text.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| {
            let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
            u8::try_from(digit(0)? << 4 | digit(1)?).ok()
        })
        .collect();
    bytes.map(Into::into)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sealed(text: &[u8], pass: &[u8]) -> Vec<u8> {
        let (cipher, salt) = (Cipher::aes_256_cbc(), [7; SALT_BYTES]);
        let derived =
            openssl::pkcs5::bytes_to_key(cipher, MessageDigest::sha1(), pass, Some(&salt), 1).unwrap();
        let sealed = openssl::symm::encrypt(cipher, &derived.key, derived.iv.as_deref(), text).unwrap();
        [SALT_MARK, &salt, &sealed].concat()
    }

    #[test]
    fn a_key_file_opens_with_its_pass_file_and_says_why_it_does_not() {
        let list =
            format!("# made by hand\n1;{}\n2; {} # of temporary files\n", "ab".repeat(32), "01".repeat(16));
        let file = sealed(list.as_bytes(), b"right");
        for pass in [&b"right"[..], b"right\n", b"right\r\n"] {
            let keys = mariadb(&file, Some(pass)).unwrap();
            assert_eq!(keys.names().collect::<Vec<_>>(), ["1", "2"]);
            assert_eq!((keys.get("1"), keys.get("2")), (Some(&[0xab; 32][..]), Some(&[1; 16][..])));
        }
        assert_eq!(mariadb(&file, Some(b"wrong")).unwrap_err(), NoKeys::NotOpened);
        assert_eq!(mariadb(&file, None).unwrap_err(), NoKeys::NoPass);
        assert_eq!(mariadb(&[], Some(b"right")).unwrap_err(), NoKeys::Empty);
        for cut in [1, 12, 16, file.len() - 1] {
            assert!(matches!(mariadb(&file[..cut], Some(b"right")), Err(NoKeys::Damaged(_))), "{cut}");
        }
        // Whole blocks are missing: nobody can tell that from a wrong pass file.
        assert_eq!(mariadb(&file[..48], Some(b"right")).unwrap_err(), NoKeys::NotOpened);
        assert_eq!(mariadb(list.as_bytes(), None).unwrap().names().count(), 2);
        assert!(matches!(mariadb(list.as_bytes(), Some(b"right")), Err(NoKeys::Damaged(_))));
        for bad in ["x;00", "1", "1;zz", "1;ab"] {
            assert!(matches!(mariadb(bad.as_bytes(), None), Err(NoKeys::Damaged(_))), "{bad}");
        }
    }

    #[test]
    fn no_key_is_in_what_is_printed() {
        let keys = mariadb(format!("1;{}", "ab".repeat(16)).as_bytes(), None).unwrap();
        assert!(!format!("{keys:?}").contains("171") && !format!("{keys:?}").contains("abab"));
    }

    #[test]
    fn a_keyring_of_mysql_may_be_empty_and_is_one() {
        // The 31 bytes that component_keyring_file of MySQL 9.7.4 makes where it finds no file.
        assert!(keyring(br#"{"version":"1.0","elements":[]}"#).unwrap().is_empty());
        let one = br#"{"version":"1.0","elements":[{"user":"","data_id":"INNODBKey-u-1","data_type":"AES","data":"A0B0","extension":[]}]}"#;
        assert_eq!(keyring(one).unwrap().get("INNODBKey-u-1"), Some(&[0xa0, 0xb0][..]));
        assert!(matches!(keyring(&one[..60]), Err(NoKeys::Damaged(_))));
        assert!(matches!(keyring(b"{}"), Err(NoKeys::Damaged(_))));
        assert_eq!(keyring(b"").unwrap_err(), NoKeys::Empty);
        assert_eq!(keyring(b"Keyring file version:2.0\x80\0").unwrap_err(), NoKeys::OtherFormat);
    }
}
