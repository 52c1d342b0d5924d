//! The scheme itself. Of this file alone another implementation, or another scheme, would be a matter.
//!
//! # Source
//! umbral-pre 0.11.0 (rust-umbral); the bytes are its default serialization (MessagePack), points are compressed.

use share::grant::{POINT_BYTES, ScopeTerms};
use share::keys::{Identity, PublicIdentity};
use share::proxy::store::Reencryption;
use umbral_pre::{
    Capsule, CapsuleFrag, DefaultDeserialize, DefaultSerialize, KeyFrag, PublicKey, SecretKey,
    SecretKeyFactory, Signer, VerifiedCapsuleFrag, decrypt_original, decrypt_reencrypted, encrypt,
    generate_kfrags,
};
use zeroize::Zeroizing;

/// What a capsule has, some 105 bytes.
pub const CAPSULE_BYTES_MAX: usize = 256;
const OWNER_ROOT: &str = "umbral owner";
const READER_ROOT: &str = "umbral reader";
const READER_KEY: &[u8] = b"receiving v1";
const SIGNER_KEY: &[u8] = b"signer v1";

pub type Point = [u8; POINT_BYTES];

/// What a sealed key is for: it opens in the header that it was sealed for, and in no other.
pub struct Sealed {
    pub capsule: Vec<u8>,
    pub wrap: Vec<u8>,
}

fn factory(identity: &Identity, root: &str) -> Result<SecretKeyFactory, String> {
    let seed = identity.derive(root);
    SecretKeyFactory::from_secure_randomness(&seed[..]).map_err(|error| error.to_string())
}

fn point(key: &PublicKey) -> Point {
    let mut bytes = [0; POINT_BYTES];
    for (to, from) in bytes.iter_mut().zip(key.to_compressed_bytes().iter()) {
        *to = *from;
    }
    bytes
}

fn public(bytes: &Point) -> Result<PublicKey, String> {
    PublicKey::try_from_compressed_bytes(bytes)
}

/// The keys of one scope, which only its owner has.
pub struct ScopeKeys {
    delegating: SecretKey,
    signer: Signer,
}

impl ScopeKeys {
    /// # Errors
    /// The owner's keys are none.
    pub fn of(owner: &Identity, label: &str, writer: &PublicIdentity) -> Result<Self, String> {
        let root = factory(owner, OWNER_ROOT)?;
        // A label has no zero byte. Of another writer it is another scope, which no grant of before opens.
        let label = [b"share/v1/", label.as_bytes(), b"\0", &writer.sign.0].concat();
        Ok(Self { delegating: root.make_key(&label), signer: Signer::new(root.make_key(SIGNER_KEY)) })
    }

    pub fn delegating(&self) -> Point {
        point(&self.delegating.public_key())
    }

    pub fn verifying(&self) -> Point {
        point(&self.signer.verifying_key())
    }

    /// One fragment for each proxy, of which `need` are enough.
    ///
    /// # Errors
    /// The reader's key is no point.
    pub fn fragments(&self, receiving: &Point, need: usize, count: usize) -> Result<Vec<Vec<u8>>, String> {
        let receiving = public(receiving)?;
        let fragments = generate_kfrags(&self.delegating, &receiving, &self.signer, need, count, true, true);
        fragments.iter().map(|one| one.to_bytes().map(Vec::from).map_err(|error| error.to_string())).collect()
    }

    /// What was sealed for this scope, without any proxy. `None`: it does not open.
    pub fn open(&self, sealed: &Sealed) -> Option<Zeroizing<Vec<u8>>> {
        let capsule = Capsule::from_bytes(&sealed.capsule).ok()?;
        decrypt_original(&self.delegating, &capsule, &sealed.wrap)
            .ok()
            .map(|text| Zeroizing::new(text.into()))
    }
}

/// The key that a reader receives with.
pub struct ReceivingKey(SecretKey);

impl ReceivingKey {
    /// # Errors
    /// The reader's keys are none.
    pub fn of(reader: &Identity) -> Result<Self, String> {
        Ok(Self(factory(reader, READER_ROOT)?.make_key(READER_KEY)))
    }

    pub fn public(&self) -> Point {
        point(&self.0.public_key())
    }

    /// # Errors
    /// Too few fragments, or they are not of this capsule.
    pub fn open(
        &self,
        scope: &ScopeTerms,
        sealed: &Sealed,
        fragments: Vec<VerifiedCapsuleFrag>,
    ) -> Result<Zeroizing<Vec<u8>>, String> {
        let capsule = capsule(&sealed.capsule)?;
        let delegating = public(&scope.delegating.0)?;
        decrypt_reencrypted(&self.0, &delegating, &capsule, fragments, &sealed.wrap)
            .map(|text| Zeroizing::new(text.into()))
            .map_err(|error| error.to_string())
    }
}

/// Anybody can, with the public key of a scope.
///
/// # Errors
/// The key is no point.
pub fn seal(delegating: &Point, text: &[u8]) -> Result<Sealed, String> {
    let (capsule, wrap) = encrypt(&public(delegating)?, text).map_err(|error| error.to_string())?;
    let capsule = capsule.to_bytes().map_err(|error| error.to_string())?;
    Ok(Sealed { capsule: capsule.into(), wrap: wrap.into() })
}

fn capsule(bytes: &[u8]) -> Result<Capsule, String> {
    if bytes.len() > CAPSULE_BYTES_MAX {
        return Err("the capsule is too long".into());
    }
    Capsule::from_bytes(bytes).map_err(|_| "it is no capsule".into())
}

/// A fragment that a proxy gave, if it is what an honest one makes of its own.
///
/// # Errors
/// It is not.
pub fn checked(scope: &ScopeTerms, of: &[u8], fragment: &[u8]) -> Result<VerifiedCapsuleFrag, String> {
    let wrong = || "it gave a fragment that is not of this archive, reader and owner".to_owned();
    let fragment = CapsuleFrag::from_bytes(fragment).map_err(|_| wrong())?;
    let [verifying, delegating, receiving] =
        [public(&scope.verifying.0)?, public(&scope.delegating.0)?, public(&scope.receiving.0)?];
    fragment.verify(&capsule(of)?, &verifying, &delegating, &receiving).map_err(|_| wrong())
}

/// What a proxy does.
#[derive(Debug, Clone, Copy)]
pub struct Umbral;

impl Reencryption for Umbral {
    fn is_fragment(&self, scope: &ScopeTerms, fragment: &[u8]) -> Result<(), String> {
        verified(scope, fragment).map(|_| ())
    }

    fn reencrypt(&self, scope: &ScopeTerms, fragment: &[u8], of: &[u8]) -> Result<Vec<u8>, String> {
        // Again each time: what lies in a file is believed as little as what comes over a line.
        let fragment = verified(scope, fragment)?;
        let made = umbral_pre::reencrypt(&capsule(of)?, fragment);
        made.to_bytes().map(Vec::from).map_err(|error| error.to_string())
    }
}

fn verified(scope: &ScopeTerms, fragment: &[u8]) -> Result<umbral_pre::VerifiedKeyFrag, String> {
    let wrong = || "the fragment is not of this owner, scope and reader".to_owned();
    let fragment = KeyFrag::from_bytes(fragment).map_err(|_| wrong())?;
    let [verifying, delegating, receiving] =
        [public(&scope.verifying.0)?, public(&scope.delegating.0)?, public(&scope.receiving.0)?];
    fragment.verify(&verifying, Some(&delegating), Some(&receiving)).map_err(|_| wrong())
}
