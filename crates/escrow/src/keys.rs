//! What is kept: the keys themselves, and the files that a server reads them from, to the byte.

use secrecy::{ExposeSecret, SecretSlice};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

/// Of an AES-256 key.
pub const KEY_BYTES: usize = 32;
const FORMAT: u32 = 1;
/// What a set may hold at most. MariaDB's key ids are 32 bits wide, and nobody has a thousand.
const KEYS_MAX: usize = 4096;

/// One key of a server.
#[derive(Debug, Clone)]
pub struct DataKey {
    /// As the server's tables refer to it.
    pub id: u32,
    pub key: SecretSlice<u8>,
}

/// A file that holds keys, or opens one that does.
#[derive(Debug, Clone)]
pub struct KeptFile {
    /// Without a directory.
    pub name: String,
    pub bytes: SecretSlice<u8>,
}

/// The keys of one cluster's data.
#[derive(Debug, Clone)]
pub struct KeySet {
    pub cluster: String,
    /// The plan that made it.
    pub plan_id: String,
    pub made_unix_ms: u64,
    pub keys: Vec<DataKey>,
    pub files: Vec<KeptFile>,
}

/// As it is sealed. Hexadecimal, so that a person who has only age can use it.
#[derive(Serialize, Deserialize)]
struct Written {
    sealion_escrow: u32,
    cluster: String,
    plan_id: String,
    made_unix_ms: u64,
    keys: Vec<WrittenKey>,
    files: Vec<WrittenFile>,
}

#[derive(Serialize, Deserialize)]
struct WrittenKey {
    id: u32,
    hex: Hex,
}

#[derive(Serialize, Deserialize)]
struct WrittenFile {
    name: String,
    hex: Hex,
}

/// Gone from memory with this value.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Hex(String);

impl Drop for Hex {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

fn hex(bytes: &SecretSlice<u8>) -> Hex {
    Hex(model::hex(bytes.expose_secret()))
}

fn secret(hex: &str) -> Result<SecretSlice<u8>, String> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return Err("it is no hexadecimal text".into());
    }
    let mut bytes = Vec::with_capacity(hex.len() / 2);
    for at in (0..hex.len()).step_by(2) {
        let pair = hex.get(at..at + 2).unwrap_or_default();
        let Ok(byte) = u8::from_str_radix(pair, 16) else {
            bytes.zeroize();
            return Err("it is no hexadecimal text".into());
        };
        bytes.push(byte);
    }
    Ok(bytes.into())
}

impl KeySet {
    /// The key of an id.
    pub fn key(&self, id: u32) -> Option<&DataKey> {
        self.keys.iter().find(|key| key.id == id)
    }

    pub fn file(&self, name: &str) -> Option<&KeptFile> {
        self.files.iter().find(|file| file.name == name)
    }

    pub(crate) fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, String> {
        let written = Written {
            sealion_escrow: FORMAT,
            cluster: self.cluster.clone(),
            plan_id: self.plan_id.clone(),
            made_unix_ms: self.made_unix_ms,
            keys: self.keys.iter().map(|one| WrittenKey { id: one.id, hex: hex(&one.key) }).collect(),
            files: self
                .files
                .iter()
                .map(|one| WrittenFile { name: one.name.clone(), hex: hex(&one.bytes) })
                .collect(),
        };
        serde_json::to_vec_pretty(&written).map(Zeroizing::new).map_err(|error| error.to_string())
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        // Its own text would show what it stumbled over, which may be a key.
        let written: Written = serde_json::from_slice(bytes).map_err(|error| {
            format!("it is no key set: line {}, column {} is not as expected", error.line(), error.column())
        })?;
        if written.sealion_escrow != FORMAT {
            return Err(format!(
                "it is of format {}, and this sealion knows {FORMAT}",
                written.sealion_escrow
            ));
        }
        if written.keys.len() > KEYS_MAX || written.files.len() > KEYS_MAX {
            return Err(format!("it has more than {KEYS_MAX} keys or files"));
        }
        let keys = written.keys.iter().map(|one| Ok(DataKey { id: one.id, key: secret(&one.hex.0)? }));
        let files = written
            .files
            .iter()
            .map(|one| Ok(KeptFile { name: one.name.clone(), bytes: secret(&one.hex.0)? }));
        Ok(Self {
            cluster: written.cluster.clone(),
            plan_id: written.plan_id.clone(),
            made_unix_ms: written.made_unix_ms,
            keys: keys.collect::<Result<_, String>>()?,
            files: files.collect::<Result<_, String>>()?,
        })
    }

    /// Whether nothing differs, keys and files to the byte.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let key = |one: &DataKey, two: &DataKey| {
            one.id == two.id && one.key.expose_secret() == two.key.expose_secret()
        };
        let file = |one: &KeptFile, two: &KeptFile| {
            one.name == two.name && one.bytes.expose_secret() == two.bytes.expose_secret()
        };
        (&self.cluster, &self.plan_id, self.made_unix_ms)
            == (&other.cluster, &other.plan_id, other.made_unix_ms)
            && self.keys.len() == other.keys.len()
            && self.files.len() == other.files.len()
            && self.keys.iter().zip(&other.keys).all(|(one, two)| key(one, two))
            && self.files.iter().zip(&other.files).all(|(one, two)| file(one, two))
    }
}
