//! The directory of sealed copies.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::keys::KeySet;

const SUFFIX: &str = ".age";
/// Of a sealed copy, and of what it holds.
const COPY_BYTES_MAX: u64 = 16 * 1024 * 1024;
const IDENTITY_BYTES_MAX: u64 = 1024 * 1024;
const NAME_BYTES_MAX: usize = 128;
/// age's own choice for its command line: a guess takes about a second.
const WORK_FACTOR: u8 = 18;

/// What a copy is sealed with.
#[derive(Debug, Clone)]
pub enum Seal {
    Passphrase(SecretString),
    /// Everybody who has an identity of one of these. One of them lies in `identity_file`: a copy that cannot be opened here cannot be
    /// verified.
    Recipients {
        to: Vec<String>,
        identity_file: PathBuf,
    },
}

#[derive(Debug, Error)]
pub enum EscrowError {
    #[error("{}: {why}", path.display())]
    Io { path: PathBuf, why: std::io::Error },
    #[error("{}: there is a copy of that name already", path.display())]
    Exists { path: PathBuf },
    #[error("\"{}\" cannot be the name of a copy: letters, digits, dots, hyphens and underscores", name.escape_default())]
    Name { name: String },
    #[error("{}: {why}", path.display())]
    NotOpened { path: PathBuf, why: String },
    #[error("the escrow cannot be sealed: {why}")]
    Seal { why: String },
    #[error("{}: what was written and what lies there are not the same", path.display())]
    NotTheSame { path: PathBuf },
    #[error("{} may be read by others (mode {mode:o})", path.display())]
    Open { path: PathBuf, mode: u32 },
}

/// A copy that was written, opened again and found to be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    pub path: PathBuf,
    /// Of the sealed bytes.
    pub sha256: String,
}

/// A directory of sealed copies.
#[derive(Debug, Clone)]
pub struct Escrow {
    dir: PathBuf,
    seal: Seal,
    work_factor: u8,
}

impl Escrow {
    pub fn new(dir: impl Into<PathBuf>, seal: Seal) -> Self {
        Self { dir: dir.into(), seal, work_factor: WORK_FACTOR }
    }

    /// With another cost of a guess at the passphrase, as a power of two; for tests, whose passphrases nobody guesses.
    #[must_use]
    pub fn with_work_factor(self, work_factor: u8) -> Self {
        Self { work_factor, ..self }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where a copy of this name lies, or would.
    ///
    /// # Errors
    /// It cannot be the name of a file here.
    pub fn path(&self, name: &str) -> Result<PathBuf, EscrowError> {
        let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if name.is_empty()
            || name.len() > NAME_BYTES_MAX
            || name.starts_with('.')
            || !name.bytes().all(is_fine)
        {
            return Err(EscrowError::Name { name: name.to_owned() });
        }
        Ok(self.dir.join(format!("{name}{SUFFIX}")))
    }

    /// Names of all copies, in the order of the alphabet.
    ///
    /// # Errors
    /// The directory is there and cannot be listed.
    pub fn names(&self) -> Result<Vec<String>, EscrowError> {
        let io = |why| EscrowError::Io { path: self.dir.clone(), why };
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
            Err(why) => return Err(io(why)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(io)?.file_name();
            names.extend(name.to_str().and_then(|name| name.strip_suffix(SUFFIX)).map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Writes a sealed copy under a name that is free, and opens it from the disk.
    ///
    /// # Errors
    /// Nothing may be done with these keys: no copy of them is known to be good.
    pub fn put(&self, name: &str, keys: &KeySet) -> Result<Copy, EscrowError> {
        let path = self.path(name)?;
        let io = |why| EscrowError::Io { path: path.clone(), why };
        if path.symlink_metadata().is_ok() {
            return Err(EscrowError::Exists { path });
        }
        let plain = keys.to_bytes().map_err(|why| EscrowError::Seal { why })?;
        let sealed = self.sealed(&plain)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(io)?;
        let coming = self.dir.join(format!(".{name}.{}", std::process::id()));
        let written = (|| {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&coming)?;
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
            file.write_all(&sealed)?;
            file.sync_all()?;
            // A link takes no name that somebody else has taken meanwhile.
            fs::hard_link(&coming, &path)?;
            File::open(&self.dir)?.sync_all()
        })();
        let _ = fs::remove_file(&coming);
        match written {
            Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(EscrowError::Exists { path });
            }
            other => other.map_err(io)?,
        }
        match self.get(name)? {
            Some(back) if back.is_same(keys) => self.copy(name)?.ok_or(EscrowError::NotTheSame { path }),
            _ => Err(EscrowError::NotTheSame { path }),
        }
    }

    /// The hash of a copy; `None`: there is none of that name.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn copy(&self, name: &str) -> Result<Option<Copy>, EscrowError> {
        let path = self.path(name)?;
        let sealed = read(&path, COPY_BYTES_MAX)?;
        Ok(sealed.map(|sealed| Copy { path, sha256: model::hex(&openssl::sha::sha256(&sealed)) }))
    }

    /// Opens a copy; `None`: there is none of that name.
    ///
    /// # Errors
    /// It is there and does not open, or holds no key set. The text has nothing of what it holds.
    pub fn get(&self, name: &str) -> Result<Option<KeySet>, EscrowError> {
        let path = self.path(name)?;
        let Some(sealed) = read(&path, COPY_BYTES_MAX)? else { return Ok(None) };
        let plain = self.opened(&sealed).map_err(|why| EscrowError::NotOpened { path: path.clone(), why })?;
        let keys = KeySet::parse(&plain).map_err(|why| EscrowError::NotOpened { path, why })?;
        Ok(Some(keys))
    }

    fn sealed(&self, plain: &[u8]) -> Result<Vec<u8>, EscrowError> {
        let failed = |why: String| EscrowError::Seal { why };
        let encryptor = match &self.seal {
            Seal::Passphrase(passphrase) => {
                let mut recipient = age::scrypt::Recipient::new(of_age(passphrase));
                recipient.set_work_factor(self.work_factor);
                age::Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient))
            }
            Seal::Recipients { to, .. } => {
                let parsed = to.iter().map(|one| {
                    age::x25519::Recipient::from_str(one.trim()).map_err(|why| {
                        failed(format!("\"{}\" is no recipient of age: {why}", one.escape_default()))
                    })
                });
                let parsed: Vec<_> = parsed.collect::<Result<_, _>>()?;
                if parsed.is_empty() {
                    return Err(failed("no recipient is named".into()));
                }
                age::Encryptor::with_recipients(parsed.iter().map(|one| one as &dyn age::Recipient))
            }
        };
        let encryptor = encryptor.map_err(|error| failed(error.to_string()))?;
        let mut sealed = Vec::new();
        let written = encryptor.wrap_output(&mut sealed).and_then(|mut writer| {
            writer.write_all(plain)?;
            writer.finish()
        });
        written.map_err(|error| failed(error.to_string()))?;
        Ok(sealed)
    }

    fn opened(&self, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, String> {
        let decryptor = age::Decryptor::new(sealed).map_err(|error| error.to_string())?;
        let reader = match &self.seal {
            Seal::Passphrase(passphrase) => {
                let mut identity = age::scrypt::Identity::new(of_age(passphrase));
                identity.set_max_work_factor(self.work_factor.max(WORK_FACTOR) + 2);
                decryptor.decrypt(std::iter::once(&identity as &dyn age::Identity))
            }
            Seal::Recipients { identity_file, .. } => {
                let identities = identities(identity_file)?;
                decryptor.decrypt(identities.iter().map(|one| one as &dyn age::Identity))
            }
        };
        let reader = reader.map_err(|error| format!("it does not open: {error}"))?;
        let mut plain = Zeroizing::new(Vec::new());
        reader
            .take(COPY_BYTES_MAX)
            .read_to_end(&mut plain)
            .map_err(|error| format!("it does not open: {error}"))?;
        Ok(plain)
    }
}

fn of_age(passphrase: &SecretString) -> age::secrecy::SecretString {
    age::secrecy::SecretString::from(passphrase.expose_secret().to_owned())
}

fn identities(path: &Path) -> Result<Vec<age::x25519::Identity>, String> {
    let shown = path.display();
    let text = read_private(path, IDENTITY_BYTES_MAX)
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("the identity file {shown} is not there"))?;
    let text = std::str::from_utf8(&text).map_err(|_| format!("the identity file {shown} is no text"))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parsed = lines.map(|line| {
        age::x25519::Identity::from_str(line)
            .map_err(|why| format!("the identity file {shown} has a line that is no identity of age: {why}"))
    });
    let parsed: Vec<_> = parsed.collect::<Result<_, _>>()?;
    if parsed.is_empty() { Err(format!("the identity file {shown} has no identity")) } else { Ok(parsed) }
}

fn read(path: &Path, bytes_max: u64) -> Result<Option<Zeroizing<Vec<u8>>>, EscrowError> {
    let io = |why| EscrowError::Io { path: path.to_owned(), why };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(io(why)),
    };
    let mut bytes = Zeroizing::new(Vec::new());
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io(std::io::Error::other(format!("it has more than {bytes_max} bytes"))));
    }
    Ok(Some(bytes))
}

/// The same of a file that holds a secret in clear text.
fn read_private(path: &Path, bytes_max: u64) -> Result<Option<Zeroizing<Vec<u8>>>, EscrowError> {
    if let Ok(facts) = fs::metadata(path) {
        let mode = facts.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(EscrowError::Open { path: path.to_owned(), mode });
        }
    }
    read(path, bytes_max)
}
