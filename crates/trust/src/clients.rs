//! Certificates for clients: a CA of its own beside the cluster's, which only the servers' client ports trust. A Galera node lets in as a member whoever
//! has a certificate of the CA that signed for the nodes, so a client's must never be one of those.
//!
//! Below the cluster's CA directory: `clients/ca.pem`, `clients/ca-key.pem` (encrypted), `clients/issued/SERIAL.pem` and
//! `clients/revoked/SERIAL.pem`, certificates without their keys. Nothing here reads a list of revoked certificates: an account requires one subject, and
//! who was revoked has a subject that no account requires any more ([`Clients::revoke`]).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use openssl::x509::{X509, X509NameRef};
use secrecy::SecretString;

use crate::ca::{CA_CERT_FILE, Ca, CaSpec, Leaf, LeafSpec, make_private_dir, pem_text};
use crate::error::{Result, TrustError, usage};
use crate::file::{FileError, write_atomically};
use crate::inspect::{certificates, inspect};
use crate::key::KeyKind;

const DIR: &str = "clients";
const ISSUED: &str = "issued";
const REVOKED: &str = "revoked";

/// So that ` G999` still fits into a common name of 64 characters.
const NAME_BYTES_MAX: usize = 59;
const COMMON_NAME_CHARS_MAX: usize = 64;
/// Ten years, as the cluster's own.
const CA_DAYS: u32 = 3650;

/// The directory of the clients' CA.
#[derive(Debug, Clone)]
pub struct Clients {
    dir: PathBuf,
}

/// A certificate for one client, with what an account requires of it.
#[derive(Debug)]
pub struct ClientLeaf {
    pub leaf: Leaf,
    pub serial_hex: String,
    pub not_after_unix: i64,
    pub requires: ClientSubject,
}

/// Subject and issuer as a server spells them in `REQUIRE SUBJECT` and `REQUIRE ISSUER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSubject {
    pub subject: String,
    pub issuer: String,
}

/// What was revoked, and what comes after it.
#[derive(Debug)]
pub struct Revoked {
    pub name: String,
    pub requires: ClientSubject,
    pub serials: Vec<String>,
    /// Of the next certificate for this name.
    pub next_subject: String,
}

/// One that was made here, as far as its record tells.
struct Record {
    path: PathBuf,
    common_name: String,
    serial_hex: String,
}

impl Clients {
    #[must_use]
    pub fn of(ca_dir: &Path) -> Self {
        Self { dir: ca_dir.join(DIR) }
    }

    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The certificate of this CA; `None`: there is none yet.
    ///
    /// # Errors
    /// It is there and cannot be read, or is no certificate: nobody can say what servers should trust.
    pub fn ca_pem(&self) -> Result<Option<String>> {
        let path = self.dir.join(CA_CERT_FILE);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::io("read", &path, error).into()),
        };
        let all = inspect(&bytes)?;
        if !all.iter().all(|one| one.is_ca) {
            return Err(TrustError::Refused {
                what: format!("{} has a certificate that is no CA's", path.display()),
                why: "servers would trust it as one".to_owned(),
                next: "leave nothing but the clients' CA in it".to_owned(),
            });
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// # Errors
    /// As [`Ca::open`].
    pub fn open(&self, passphrase: &SecretString) -> Result<Ca> {
        Ca::open(&self.dir, passphrase)
    }

    /// The CA, made if there is none yet. It has a name of its own: an account that requires its issuer takes no certificate of the cluster's CA.
    ///
    /// # Errors
    /// As [`Ca::open`], [`Ca::create`] and [`Ca::save`].
    pub fn open_or_make(&self, cluster: &str, passphrase: &SecretString, now_unix: i64) -> Result<Ca> {
        if self.ca_pem()?.is_some() {
            return self.open(passphrase);
        }
        // Another CA of the same name would shut out everybody who has a certificate of this one. A key alone has signed for nobody.
        let is_there = |name: &&&str| fs::symlink_metadata(self.dir.join(name)).is_ok();
        if let Some(there) = [ISSUED, REVOKED].iter().find(is_there) {
            return Err(TrustError::Refused {
                what: format!("the CA of clients in {} is not whole", self.dir.display()),
                why: format!("{there} is there, and {CA_CERT_FILE} is not"),
                next: format!(
                    "put {CA_CERT_FILE} back; or move the directory away, which makes another CA: servers then refuse all earlier certificates"
                ),
            });
        }
        // What a server would escape stands in no statement as it is.
        let plain =
            |char: char| if char.is_ascii_alphanumeric() || "._- ".contains(char) { char } else { '-' };
        let name: String = format!("sealion client CA of {cluster}")
            .chars()
            .map(plain)
            .take(COMMON_NAME_CHARS_MAX)
            .collect();
        let spec =
            CaSpec { common_name: name.trim_end().to_owned(), valid_days: CA_DAYS, key: KeyKind::EcP256 };
        let ca = Ca::create(&spec, now_unix)?;
        ca.save(&self.dir, passphrase)?;
        Ok(ca)
    }

    /// A key and a certificate for `name`. Its subject is the same as before, so that an account takes both while the old one is replaced, until that
    /// one is revoked. It is noted here before anybody has it.
    ///
    /// # Errors
    /// [`TrustError::Usage`] for a name or a number of days that cannot be; the records cannot be read or written.
    pub fn issue(&self, ca: &Ca, name: &str, days: u32, key: KeyKind, now_unix: i64) -> Result<ClientLeaf> {
        check_name(name)?;
        let common_name = self.current(name)?;
        let spec = LeafSpec {
            common_name,
            dns: vec![],
            ips: vec![],
            valid_days: days,
            key,
            not_before_unix: None,
            not_after_unix: None,
        };
        let leaf = ca.issue_client(&spec, now_unix)?;
        let certificate = first(leaf.cert_pem.as_bytes())?;
        let info = inspect(leaf.cert_pem.as_bytes())?.swap_remove(0);
        let requires = subject_of(&certificate)?;
        let dir = self.dir.join(ISSUED);
        make_private_dir(&dir)?;
        let path = dir.join(format!("{}.pem", info.serial_hex));
        write_atomically(&path, leaf.cert_pem.as_bytes(), 0o600, None)?;
        Ok(ClientLeaf { leaf, serial_hex: info.serial_hex, not_after_unix: info.not_after_unix, requires })
    }

    /// Revokes all certificates with the subject of the one that `which` names: a file with it, its serial, or the name that it was made for. From then
    /// on a certificate for that name has another subject. Calling it again finishes what a kill has cut short.
    ///
    /// # Errors
    /// There is none; it is not of this CA, or a server's; a record cannot be read or moved.
    pub fn revoke(&self, ca_dir: &Path, which: &str) -> Result<Revoked> {
        let Some(ca_pem) = self.ca_pem()? else {
            return Err(usage(
                format!("{which} cannot be revoked"),
                format!("there is no CA of clients in {}", self.dir.display()),
                "name the inventory of the cluster whose `sealion trust client` made it",
            ));
        };
        let issued = self.records(ISSUED)?;
        let path = Path::new(which);
        let (common_name, given) = if path.is_file() {
            let bytes = fs::read(path).map_err(|error| FileError::io("read", path, error))?;
            let facts = inspect(&bytes)?;
            if facts.len() != 1 || facts.iter().any(|one| one.is_ca) {
                return Err(usage(
                    format!("{which} cannot be revoked"),
                    format!("it has {} certificates, or one of a CA", facts.len()),
                    "name a file with the certificate of one client, and nothing else",
                ));
            }
            let certificate = first(&bytes)?;
            is_of(&bytes, &ca_pem, ca_dir, which)?;
            (common_name_of(&certificate)?, Some(certificate))
        } else if let Some(one) = issued.iter().find(|one| one.serial_hex.eq_ignore_ascii_case(which)) {
            (one.common_name.clone(), None)
        } else if let Some(one) =
            self.records(REVOKED)?.into_iter().find(|one| one.serial_hex.eq_ignore_ascii_case(which))
        {
            (one.common_name, None)
        } else {
            check_name(which)?;
            let current = self.current(which)?;
            // Asked once more: which accounts take it may not have been told the first time.
            let is_issued = issued.iter().any(|one| one.common_name == current);
            let earlier = if is_issued { None } else { self.last_revoked(which)? };
            (earlier.unwrap_or(current), None)
        };
        let dir = self.dir.join(REVOKED);
        let mut serials = Vec::new();
        for one in issued.iter().filter(|one| one.common_name == common_name) {
            make_private_dir(&dir)?;
            let to = dir.join(format!("{}.pem", one.serial_hex));
            fs::rename(&one.path, &to).map_err(|error| FileError::io("move", &one.path, error))?;
            serials.push(one.serial_hex.clone());
        }
        // Its record may be lost, or lie on another machine.
        if let Some(certificate) = given {
            let serial = certificate.serial_number().to_bn()?.to_hex_str()?.to_string();
            if !serials.contains(&serial) {
                make_private_dir(&dir)?;
                let pem = pem_text(&certificate)?;
                write_atomically(&dir.join(format!("{serial}.pem")), pem.as_bytes(), 0o600, None)?;
                serials.push(serial);
            }
        }
        if serials.is_empty() {
            let earlier = self.records(REVOKED)?.into_iter().filter(|one| one.common_name == common_name);
            serials.extend(earlier.map(|one| one.serial_hex));
        }
        if serials.is_empty() {
            let known = self.records(ISSUED)?;
            let mut names: Vec<&str> = known.iter().map(|one| name_of(&one.common_name)).collect();
            names.sort_unstable();
            names.dedup();
            return Err(usage(
                format!("there is no certificate of {which:?} to revoke"),
                if names.is_empty() {
                    format!("{} has no certificate that is not revoked", self.dir.display())
                } else {
                    format!("certificates that are not revoked were made for {}", names.join(", "))
                },
                "give a name, a serial, or the file with the certificate",
            ));
        }
        let issuer = oneline(first(ca_pem.as_bytes())?.subject_name())?;
        let name = name_of(&common_name).to_owned();
        let next_subject = format!("/CN={}", self.current(&name)?);
        let requires = ClientSubject { subject: format!("/CN={common_name}"), issuer };
        Ok(Revoked { name, requires, serials, next_subject })
    }

    /// The common name that a certificate for `name` gets: `app`, and once that is revoked `app G2`.
    fn current(&self, name: &str) -> Result<String> {
        let revoked = self.records(REVOKED)?;
        let is_revoked = |common_name: &String| revoked.iter().any(|one| one.common_name == *common_name);
        let later = (2_u32..).map(|generation| format!("{name} G{generation}"));
        let mut all = std::iter::once(name.to_owned()).chain(later);
        Ok(all.find(|common_name| !is_revoked(common_name)).unwrap_or_else(|| name.to_owned()))
    }

    /// The common name that was revoked last of those for `name`.
    fn last_revoked(&self, name: &str) -> Result<Option<String>> {
        let generation = |text: &str| {
            text.rsplit_once(" G").and_then(|(_, number)| number.parse::<u32>().ok()).unwrap_or(1)
        };
        let revoked = self.records(REVOKED)?.into_iter().map(|one| one.common_name);
        Ok(revoked.filter(|one| name_of(one) == name).max_by_key(|one| generation(one)))
    }

    /// # Errors
    /// One cannot be read: what is revoked would not be known.
    fn records(&self, kind: &str) -> Result<Vec<Record>> {
        let dir = self.dir.join(kind);
        let cannot = |error| TrustError::from(FileError::io("read", &dir, error));
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(cannot(error)),
        };
        let mut records = Vec::new();
        for entry in entries {
            let path = entry.map_err(cannot)?.path();
            // Half-written ones begin with a dot.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with('.') || !name.ends_with(".pem") {
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| FileError::io("read", &path, error))?;
            let certificate = first(&bytes)?;
            let serial_hex = certificate.serial_number().to_bn()?.to_hex_str()?.to_string();
            records.push(Record { common_name: common_name_of(&certificate)?, serial_hex, path });
        }
        records.sort_by(|one, other| one.serial_hex.cmp(&other.serial_hex));
        Ok(records)
    }
}

/// `app` of `app G2`: names have no blank.
fn name_of(common_name: &str) -> &str {
    common_name.split(' ').next().unwrap_or(common_name)
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if begins && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_plain) {
        return Ok(());
    }
    Err(usage(
        format!("{name:?} cannot be the name of a client"),
        format!(
            "it has 1 to {NAME_BYTES_MAX} letters, digits, '.', '_' and '-', and begins with a letter, a digit or '_': it stands in a file's name and in SQL"
        ),
        "take the user of the account",
    ))
}

fn is_of(cert_pem: &[u8], ca_pem: &str, ca_dir: &Path, which: &str) -> Result<()> {
    // One that has expired was signed by it all the same.
    let is_signed = |ca: &[u8]| -> Result<bool> {
        let leaf = first(cert_pem)?;
        for one in certificates(ca)? {
            if one.subject_name().try_cmp(leaf.issuer_name())?.is_eq() && leaf.verify(&*one.public_key()?)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    if is_signed(ca_pem.as_bytes())? {
        return Ok(());
    }
    let cluster = fs::read(ca_dir.join(CA_CERT_FILE)).ok();
    if cluster.is_some_and(|ca| is_signed(&ca).unwrap_or(false)) {
        return Err(TrustError::Refused {
            what: format!("{which} is the certificate of a server, which cannot be revoked"),
            why: "Galera knows no list of revoked certificates: a node lets in whoever has one of a CA that it trusts".to_owned(),
            next: "sealion rotate ca: afterwards no certificate of the present CA is accepted any more".to_owned(),
        });
    }
    let issuer = inspect(cert_pem)?.swap_remove(0).issuer;
    Err(usage(
        format!("{which} is no certificate of the CA of clients"),
        format!("its issuer is {issuer}"),
        "give a certificate that sealion trust client has made for this cluster",
    ))
}

fn first(pem: &[u8]) -> Result<X509> {
    Ok(certificates(pem)?.swap_remove(0))
}

fn common_name_of(certificate: &X509) -> Result<String> {
    let subject = oneline(certificate.subject_name())?;
    Ok(subject.strip_prefix("/CN=").unwrap_or(&subject).to_owned())
}

fn subject_of(certificate: &X509) -> Result<ClientSubject> {
    Ok(ClientSubject {
        subject: oneline(certificate.subject_name())?,
        issuer: oneline(certificate.issuer_name())?,
    })
}

/// A name as servers compare it: `/O=Shop/CN=app`.
///
/// # Source
/// Both flavours take it from `X509_NAME_oneline`, which escapes what is not printable as `\xHH`. Tried with MariaDB 10.11.19 and MySQL 9.7.4:
/// `/O=Shop Ltd, Inc/CN=a b/serialNumber=12`.
///
/// # Errors
/// It has what is escaped: no statement would spell it in the same way in every sql_mode.
fn oneline(name: &X509NameRef) -> Result<String> {
    let mut text = String::new();
    for entry in name.entries() {
        let bytes = entry.data().as_slice();
        let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !b"\\'".contains(byte);
        let plain = std::str::from_utf8(bytes).ok().filter(|_| bytes.iter().all(is_plain));
        let Some(plain) = plain else {
            return Err(usage(
                "the name in a certificate cannot stand in REQUIRE SUBJECT",
                "it has characters that servers escape",
                "use a CA of clients that sealion has made: move this one away",
            ));
        };
        text += &format!("/{}={plain}", entry.object().nid().short_name().unwrap_or("?"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ca::CA_KEY_FILE;
    use crate::{chain_ok, client_chain_ok};
    use std::os::unix::fs::PermissionsExt;

    const NOW: i64 = 1_795_219_200;

    fn made(dir: &Path) -> (Clients, Ca) {
        let clients = Clients::of(dir);
        let ca = clients.open_or_make("shop", &"a passphrase".to_owned().into(), NOW).expect("made");
        (clients, ca)
    }

    fn issue(clients: &Clients, ca: &Ca, name: &str) -> ClientLeaf {
        clients.issue(ca, name, 30, KeyKind::EcP256, NOW).expect("issued")
    }

    #[test]
    fn a_certificate_is_a_clients_and_no_servers_and_is_noted_without_its_key() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        assert_eq!(Clients::of(dir.path()).ca_pem().expect("none"), None);
        let (clients, ca) = made(dir.path());
        let one = issue(&clients, &ca, "app");
        assert_eq!(
            one.requires,
            ClientSubject { subject: "/CN=app".into(), issuer: "/CN=sealion client CA of shop".into() }
        );
        let (leaf, trusted) = (one.leaf.cert_pem.as_bytes(), ca.cert_pem());
        client_chain_ok(leaf, trusted.as_bytes(), NOW).expect("a client's");
        let error = chain_ok(leaf, trusted.as_bytes(), NOW).expect_err("no server's");
        assert!(matches!(error, TrustError::WrongPurpose { .. }), "{error}");
        let record = clients.dir().join(ISSUED).join(format!("{}.pem", one.serial_hex));
        assert_eq!(fs::read_to_string(&record).expect("noted"), one.leaf.cert_pem);
        assert_eq!(fs::metadata(clients.dir()).expect("there").permissions().mode() & 0o777, 0o700);
        // It is the same CA the next time.
        assert_eq!(made(dir.path()).1.cert_pem(), trusted);
        // A name of the inventory that a server would escape.
        let other = tempfile::tempdir().expect("a directory can be made");
        let ca = Clients::of(other.path())
            .open_or_make("bj\u{f6}rn's", &"p".to_owned().into(), NOW)
            .expect("made");
        let one = issue(&Clients::of(other.path()), &ca, "app");
        assert_eq!(one.requires.issuer, "/CN=sealion client CA of bj-rn-s");
    }

    #[test]
    fn what_is_revoked_has_a_subject_that_no_later_certificate_has() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let (clients, ca) = made(dir.path());
        let (first, second) = (issue(&clients, &ca, "app"), issue(&clients, &ca, "app"));
        assert_eq!(first.requires, second.requires, "both are taken while one replaces the other");
        let other = issue(&clients, &ca, "other");
        let revoke = |which: &str| clients.revoke(dir.path(), which);
        let revoked = revoke(&first.serial_hex.to_lowercase()).expect("by its serial");
        assert_eq!(revoked.serials.len(), 2);
        assert_eq!((revoked.requires, revoked.next_subject.as_str()), (first.requires.clone(), "/CN=app G2"));
        assert_eq!(issue(&clients, &ca, "app").requires.subject, "/CN=app G2");
        assert_eq!(issue(&clients, &ca, "other").requires, other.requires);
        let revoked = revoke("app").expect("by its name");
        assert_eq!(revoked.next_subject, "/CN=app G3");
        let revoked_serial = revoked.serials[0].clone();
        // By its file, also where its record is lost; twice is once.
        let file = dir.path().join("other.pem");
        fs::write(&file, &other.leaf.cert_pem).expect("ours");
        fs::remove_dir_all(clients.dir().join(ISSUED)).expect("ours");
        for _ in 0..2 {
            let revoked = revoke(file.to_str().expect("text")).expect("by its file");
            assert_eq!(
                (revoked.serials, revoked.next_subject),
                (vec![other.serial_hex.clone()], "/CN=other G2".into())
            );
        }
        // Once more: which accounts take it may not have been told the first time.
        for which in ["app", revoked_serial.as_str()] {
            let again = revoke(which).expect("it is known");
            assert_eq!(again.next_subject, "/CN=app G3");
        }
        assert_eq!(revoke("app").expect("it is known").requires.subject, "/CN=app G2");
        assert_eq!(revoke(&first.serial_hex).expect("it is known").requires.subject, "/CN=app");
        let error = revoke("nobody").expect_err("there is none").to_string();
        assert!(error.contains("no certificate of \"nobody\" to revoke"), "{error}");
        let ca_file = clients.dir().join(CA_CERT_FILE);
        let error = revoke(ca_file.to_str().expect("text")).expect_err("a CA's").to_string();
        assert!(error.contains("or one of a CA"), "{error}");
    }

    /// Found by an outsider: another CA of the same name shut out everybody who had a certificate of the first one.
    #[test]
    fn a_ca_whose_certificate_is_lost_is_not_made_anew() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let (clients, ca) = made(dir.path());
        issue(&clients, &ca, "app");
        fs::remove_file(clients.dir().join(CA_CERT_FILE)).expect("ours");
        let key = fs::read(clients.dir().join(CA_KEY_FILE)).expect("there");
        let again = clients.open_or_make("shop", &"a passphrase".to_owned().into(), NOW);
        let error = again.map(drop).expect_err("refused").to_string();
        assert!(error.contains("is not whole") && error.contains("put ca.pem back"), "{error}");
        assert_eq!(fs::read(clients.dir().join(CA_KEY_FILE)).expect("there"), key);
        // Killed between the two files of the first one.
        fs::remove_dir_all(clients.dir().join(ISSUED)).expect("ours");
        assert_ne!(made(dir.path()).1.cert_pem(), ca.cert_pem());
    }

    #[test]
    fn a_server_s_certificate_and_a_strangers_are_not_revoked() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let (clients, _) = made(dir.path());
        let of = |name: &str| {
            let spec = CaSpec { common_name: name.into(), valid_days: 30, key: KeyKind::EcP256 };
            Ca::create(&spec, NOW).expect("made")
        };
        let leaf_of = |ca: &Ca| {
            let spec = LeafSpec {
                common_name: "db1".into(),
                dns: vec![],
                ips: vec![],
                valid_days: 20,
                key: KeyKind::EcP256,
                not_before_unix: None,
                not_after_unix: None,
            };
            let file = dir.path().join("leaf.pem");
            fs::write(&file, ca.issue(&spec, NOW).expect("issued").cert_pem).expect("ours");
            file.display().to_string()
        };
        let cluster = of("sealion CA of shop");
        fs::write(dir.path().join(CA_CERT_FILE), cluster.cert_pem()).expect("ours");
        let error = clients.revoke(dir.path(), &leaf_of(&cluster)).expect_err("a server's").to_string();
        assert!(error.contains("sealion rotate ca"), "{error}");
        let error =
            clients.revoke(dir.path(), &leaf_of(&of("another"))).expect_err("a stranger's").to_string();
        assert!(error.contains("its issuer is CN=another"), "{error}");
        // Of the same name, and another key.
        let twin = of("sealion client CA of shop");
        let error = clients.revoke(dir.path(), &leaf_of(&twin)).expect_err("a stranger's").to_string();
        assert!(error.contains("is no certificate of the CA of clients"), "{error}");
        assert!(!clients.dir().join(REVOKED).exists());
    }

    #[test]
    fn names_stand_in_a_file_name_and_in_a_statement() {
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        for bad in ["", ".", "../x", "a b", "a/b", "-a", "a'b", "\u{e4}", "app G2", &long] {
            assert!(matches!(check_name(bad), Err(TrustError::Usage { .. })), "{bad:?}");
        }
        for good in ["app", "_x", "shop.app-1", &long[1..]] {
            check_name(good).expect(good);
        }
    }
}
