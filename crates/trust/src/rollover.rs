//! From one CA to the next one, in one directory.
//!
//! The next CA lies in `next/` until every server trusts it. Its certificate is noted beside it when it is made: whatever lies in
//! `next/` later is the next CA only if it is that one, and servers can be made to forget it also where its key was lost. Then it takes the place of the old one, which goes to
//! `retired/FINGERPRINT/` with its key, so that the way back stays open. Each file is complete or absent at any moment,
//! and never the only copy of a key is removed: what was cut short is finished by the same call again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use zeroize::Zeroizing;

use crate::bundle::fingerprints;
use crate::ca::{CA_CERT_FILE, CA_KEY_FILE, Ca, CaSpec, make_private_dir};
use crate::error::{Result, TrustError};
use crate::file::{FileError, write_atomically};

const NEXT: &str = "next";
const RETIRED: &str = "retired";
/// So much of a fingerprint names a directory.
const NAME_CHARS: usize = 16;

/// The two CAs of a directory, known by the fingerprint of the old one.
#[derive(Debug, Clone)]
pub struct Rollover {
    dir: PathBuf,
    old_sha256: String,
}

/// One file of a CA, put somewhere else. All of them in order are a turn.
type Move = Box<dyn Fn() -> Result<()>>;

impl Rollover {
    /// Of the CA in `dir`, whose certificate has this fingerprint, or had it before its turn.
    pub fn of(dir: &Path, old_sha256: &str) -> Self {
        Self { dir: dir.to_owned(), old_sha256: old_sha256.to_owned() }
    }

    /// The fingerprint of the CA that signs now.
    ///
    /// # Errors
    /// [`TrustError::File`] or [`TrustError::NotACertificate`]: there is none that can be read.
    pub fn current_sha256(dir: &Path) -> Result<String> {
        let path = dir.join(CA_CERT_FILE);
        let pem = fs::read(&path).map_err(|error| FileError::io("read", &path, error))?;
        Ok(fingerprints(&pem)?.swap_remove(0))
    }

    /// The certificate of the next CA, as it was made.
    fn note(&self) -> PathBuf {
        let name: String = self.old_sha256.chars().take(NAME_CHARS).collect();
        self.dir.join(format!("next-of-{name}.pem"))
    }

    fn noted(&self) -> Result<Option<String>> {
        let path = self.note();
        match fs::read_to_string(&path) {
            Ok(pem) => Ok(Some(pem)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::io("read", &path, error).into()),
        }
    }

    fn next_dir(&self) -> PathBuf {
        self.dir.join(NEXT)
    }

    fn retired_dir(&self) -> PathBuf {
        let name: String = self.old_sha256.chars().take(NAME_CHARS).collect();
        self.dir.join(RETIRED).join(name)
    }

    fn is_whole(dir: &Path) -> bool {
        // The certificate is written last.
        dir.join(CA_CERT_FILE).is_file()
    }

    /// Where the old CA lies.
    fn old_dir(&self) -> Result<PathBuf> {
        let retired = self.retired_dir();
        if Self::is_whole(&retired) {
            return Ok(retired);
        }
        if Self::current_sha256(&self.dir)? == self.old_sha256 {
            return Ok(self.dir.clone());
        }
        Err(TrustError::Refused {
            what: format!("the CA that is to be replaced is not in {} any more", self.dir.display()),
            why: format!(
                "neither its {CA_CERT_FILE} nor {} has the fingerprint {}",
                retired.display(),
                self.old_sha256
            ),
            next: "put its two files back".to_owned(),
        })
    }

    /// Where the next CA lies; `None`: it is not made yet.
    ///
    /// # Errors
    /// Another one lies there, or none any more.
    fn new_dir(&self) -> Result<Option<PathBuf>> {
        let Some(noted) = self.noted()? else { return Ok(None) };
        let new_sha256 = fingerprints(noted.as_bytes())?.swap_remove(0);
        for dir in [self.next_dir(), self.dir.clone()] {
            if Self::is_whole(&dir) && Self::current_sha256(&dir)? == new_sha256 {
                return Ok(Some(dir));
            }
        }
        Err(TrustError::Refused {
            what: format!("the next CA is not in {} any more", self.next_dir().display()),
            why: format!(
                "its certificate is noted in {}; what lies there now is another one, or nothing",
                self.note().display()
            ),
            next: "put its two files back; where its key is lost: sealion undo, then remove that note"
                .to_owned(),
        })
    }

    /// The certificate of the old CA, as PEM.
    ///
    /// # Errors
    /// It is gone, or cannot be read.
    pub fn old_pem(&self) -> Result<String> {
        read_cert(&self.old_dir()?)
    }

    /// That of the next one.
    ///
    /// # Errors
    /// It is not made yet, or cannot be read.
    pub fn new_pem(&self) -> Result<String> {
        self.noted()?.ok_or_else(|| TrustError::Refused {
            what: format!("the next CA of {} is not known any more", self.dir.display()),
            why: format!("{} is gone", self.note().display()),
            next: "write the certificate of the next CA to it".to_owned(),
        })
    }

    fn made(&self) -> Result<PathBuf> {
        self.new_dir()?.ok_or_else(|| TrustError::Refused {
            what: format!("the next CA is not in {} any more", self.next_dir().display()),
            why: "its certificate is gone".to_owned(),
            next: "put its two files back".to_owned(),
        })
    }

    /// The old one, to sign with.
    ///
    /// # Errors
    /// As [`Ca::open`].
    pub fn open_old(&self, passphrase: &SecretString) -> Result<Ca> {
        Ca::open(&self.old_dir()?, passphrase)
    }

    /// The next one, to sign with.
    ///
    /// # Errors
    /// As [`Ca::open`].
    pub fn open_new(&self, passphrase: &SecretString) -> Result<Ca> {
        Ca::open(&self.made()?, passphrase)
    }

    /// Whether the next one is made.
    ///
    /// # Errors
    /// That cannot be determined.
    pub fn is_made(&self) -> Result<bool> {
        Ok(self.new_dir()?.is_some())
    }

    /// Makes the next one, unless that was done before.
    ///
    /// # Errors
    /// As [`Ca::create`] and [`Ca::save`].
    pub fn make(&self, spec: &CaSpec, passphrase: &SecretString, now_unix: i64) -> Result<()> {
        if self.is_made()? {
            return Ok(());
        }
        let next = self.next_dir();
        if !Self::is_whole(&next) {
            // A key without its certificate is of an attempt that was cut short: it has signed nothing.
            Ca::create(spec, now_unix)?.save(&next, passphrase)?;
        }
        write_atomically(&self.note(), read_cert(&next)?.as_bytes(), 0o644, None)?;
        Ok(())
    }

    /// Whether the next one signs, and nothing of the turn is left to do.
    ///
    /// # Errors
    /// That cannot be determined.
    pub fn is_turned(&self) -> Result<bool> {
        let new = self.noted()?.map(|pem| fingerprints(pem.as_bytes())).transpose()?;
        let current = Self::current_sha256(&self.dir)?;
        let is_new = new.is_some_and(|new| new.first() == Some(&current));
        Ok(is_new && !self.next_dir().join(CA_KEY_FILE).exists() && !Self::is_whole(&self.next_dir()))
    }

    /// Whether the old one signs, and the next one waits.
    ///
    /// # Errors
    /// That cannot be determined.
    pub fn is_back(&self) -> Result<bool> {
        let is_old = Self::current_sha256(&self.dir)? == self.old_sha256;
        Ok(is_old && !self.retired_dir().join(CA_KEY_FILE).exists() && !Self::is_whole(&self.retired_dir()))
    }

    /// The next one signs from now on, the old one is kept.
    ///
    /// # Errors
    /// A file cannot be written; the same call again finishes it.
    pub fn turn(&self) -> Result<()> {
        self.turn_moves()?.iter().try_for_each(|one| one())
    }

    /// The old one signs again, and the next one waits.
    ///
    /// # Errors
    /// A file cannot be written; the same call again finishes it.
    pub fn turn_back(&self) -> Result<()> {
        self.turn_back_moves()?.iter().try_for_each(|one| one())
    }

    /// Who signs is one of the two: a third one would be overwritten.
    fn both_known(&self) -> Result<()> {
        self.old_dir()?;
        self.made()?;
        let current = Self::current_sha256(&self.dir)?;
        let new = fingerprints(self.new_pem()?.as_bytes())?.swap_remove(0);
        if current != self.old_sha256 && current != new {
            return Err(TrustError::Refused {
                what: format!("{} holds a third CA", self.dir.display()),
                why:
                    "it is neither the one that is replaced nor the one that comes, and its key would be lost"
                        .to_owned(),
                next: "move its two files away, and put back those of the CA that is replaced".to_owned(),
            });
        }
        Ok(())
    }

    fn turn_moves(&self) -> Result<Vec<Move>> {
        if self.is_turned()? {
            return Ok(vec![]);
        }
        self.both_known()?;
        let (dir, next, retired) = (self.dir.clone(), self.next_dir(), self.retired_dir());
        let mut moves = Vec::new();
        if !Self::is_whole(&retired) && Self::current_sha256(&dir)? == self.old_sha256 {
            moves.push(in_dir(&retired));
            moves.extend(copies(&dir, &retired));
        }
        if Self::is_whole(&next) {
            moves.extend(copies(&next, &dir));
        }
        moves.extend(removals(&next));
        Ok(moves)
    }

    fn turn_back_moves(&self) -> Result<Vec<Move>> {
        if self.is_back()? {
            return Ok(vec![]);
        }
        self.both_known()?;
        let (dir, next, retired) = (self.dir.clone(), self.next_dir(), self.retired_dir());
        let mut moves = Vec::new();
        if !Self::is_whole(&next) && Self::current_sha256(&dir)? != self.old_sha256 {
            moves.push(in_dir(&next));
            moves.extend(copies(&dir, &next));
        }
        if Self::is_whole(&retired) {
            moves.extend(copies(&retired, &dir));
        }
        moves.extend(removals(&retired));
        Ok(moves)
    }
}

fn read_cert(dir: &Path) -> Result<String> {
    let path = dir.join(CA_CERT_FILE);
    let pem = fs::read(&path).map_err(|error| FileError::io("read", &path, error))?;
    String::from_utf8(pem).map_err(|_| TrustError::NotACertificate { why: "it is not text".to_owned() })
}

fn in_dir(dir: &Path) -> Move {
    let dir = dir.to_owned();
    Box::new(move || {
        if let Some(above) = dir.parent() {
            make_private_dir(above)?;
        }
        make_private_dir(&dir)
    })
}

/// The key first: where a certificate lies, its key lies too.
fn copies(from: &Path, to: &Path) -> Vec<Move> {
    let copy = |name: &'static str, mode: u32| -> Move {
        let (from, to) = (from.join(name), to.join(name));
        Box::new(move || {
            let bytes = Zeroizing::new(fs::read(&from).map_err(|error| FileError::io("read", &from, error))?);
            Ok(write_atomically(&to, &bytes, mode, None)?)
        })
    };
    vec![copy(CA_KEY_FILE, 0o600), copy(CA_CERT_FILE, 0o644)]
}

/// The certificate first: a directory without it is no CA any more.
fn removals(dir: &Path) -> Vec<Move> {
    let remove = |name: &str| -> Move {
        let path = dir.join(name);
        Box::new(move || match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::io("remove", &path, error).into())
            }
            _ => Ok(()),
        })
    };
    let dir = dir.to_owned();
    let last: Move = Box::new(move || {
        // What somebody else has put there stays, and with it the directory.
        let _ = fs::remove_dir(&dir);
        Ok(())
    });
    vec![remove(CA_CERT_FILE), remove(CA_KEY_FILE), last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyKind;

    const NOW: i64 = 1_795_219_200;

    fn spec(name: &str) -> CaSpec {
        CaSpec { common_name: name.into(), valid_days: 30, key: KeyKind::EcP256 }
    }

    fn passphrase() -> SecretString {
        SecretString::from("correct horse".to_owned())
    }

    /// A directory with a CA, and its next one made.
    fn made() -> (tempfile::TempDir, Rollover, [String; 2]) {
        let root = tempfile::tempdir().expect("a place");
        let dir = root.path().join("ca");
        let old = Ca::create(&spec("one"), NOW).expect("made");
        old.save(&dir, &passphrase()).expect("saved");
        let old_sha256 = Rollover::current_sha256(&dir).expect("there");
        let rollover = Rollover::of(&dir, &old_sha256);
        assert!(!rollover.is_made().expect("told") && rollover.new_pem().is_err());
        rollover.make(&spec("two"), &passphrase(), NOW).expect("made");
        let pems = [old.cert_pem(), rollover.new_pem().expect("made")];
        (root, rollover, pems)
    }

    /// Both can sign, whatever was cut short.
    fn both_sign(rollover: &Rollover, pems: &[String; 2]) {
        let [old, new] = pems;
        assert_eq!(&rollover.old_pem().expect("there"), old);
        assert_eq!(&rollover.new_pem().expect("there"), new);
        assert_eq!(&rollover.open_old(&passphrase()).expect("opens").cert_pem(), old);
        assert_eq!(&rollover.open_new(&passphrase()).expect("opens").cert_pem(), new);
    }

    #[test]
    fn a_turn_and_a_turn_back_that_are_cut_short_anywhere_are_finished_by_the_same_call() {
        type Moves = fn(&Rollover) -> Result<Vec<Move>>;
        for cut in 0.. {
            let (_root, rollover, pems) = made();
            let cut_short = |moves: Moves| {
                let moves = moves(&rollover).expect("planned");
                moves.iter().take(cut).try_for_each(|one| one()).expect("moved");
                both_sign(&rollover, &pems);
                moves.len()
            };
            let moves = cut_short(Rollover::turn_moves);
            rollover.turn().expect("finished");
            assert!(rollover.is_turned().expect("told"), "cut after {cut}");
            both_sign(&rollover, &pems);
            let now = Ca::open(&rollover.dir, &passphrase()).expect("opens");
            assert_eq!(now.cert_pem(), pems[1], "who signs");
            let back = cut_short(Rollover::turn_back_moves);
            rollover.turn_back().expect("finished");
            assert!(rollover.is_back().expect("told"), "cut after {cut}");
            both_sign(&rollover, &pems);
            let now = Ca::open(&rollover.dir, &passphrase()).expect("opens");
            assert_eq!(now.cert_pem(), pems[0], "who signs");
            if cut > moves.max(back) {
                return;
            }
        }
    }

    #[test]
    fn a_turn_that_was_cut_short_can_be_turned_back_at_once() {
        for cut in 0..8 {
            let (_root, rollover, pems) = made();
            let moves = rollover.turn_moves().expect("planned");
            moves.iter().take(cut).try_for_each(|one| one()).expect("moved");
            rollover.turn_back().expect("turned back");
            assert!(rollover.is_back().expect("told"), "cut after {cut}");
            both_sign(&rollover, &pems);
        }
    }

    #[test]
    fn another_ca_in_its_place_is_not_the_next_one() {
        let (_root, rollover, pems) = made();
        let other = Ca::create(&spec("three"), NOW).expect("made");
        fs::remove_dir_all(rollover.next_dir()).expect("ours");
        assert!(
            rollover.is_made().is_err()
                && rollover.turn().is_err()
                && rollover.open_new(&passphrase()).is_err()
        );
        // Servers can be made to forget it all the same.
        assert_eq!(rollover.new_pem().expect("noted"), pems[1]);
        other.save(&rollover.next_dir(), &passphrase()).expect("saved");
        assert!(rollover.is_made().is_err() && rollover.turn().is_err());
        assert_eq!(rollover.new_pem().expect("noted"), pems[1]);
        assert!(rollover.is_back().expect("told"));
    }

    #[test]
    fn a_next_one_that_is_there_is_not_made_again() {
        let (_root, rollover, pems) = made();
        rollover.make(&spec("three"), &passphrase(), NOW).expect("nothing to do");
        both_sign(&rollover, &pems);
    }
}
