//! Which TLS library a running server, or garbd, has, and which faults of [`faults`] are in it. `openssl version` says nothing of that:
//! it is another program. What counts is what the process has mapped, and what the server says of itself.
//!
//! A release number alone does not tell on a distribution, which fixes faults and keeps the number: there the changelog of the package
//! counts, or nobody can tell.

pub mod faults;

use std::fmt;
use std::path::{Path, PathBuf};

use formats::gzip;
use host::{HostError, ProcessFacts, ReadHost};

use crate::view::NodeView;
use faults::{Fault, OpensslVersion, faults_of};

/// A server with many connections has some thousand mappings.
const MAPS_BYTES_MAX: u64 = 16 << 20;
const LIST_BYTES_MAX: u64 = 1 << 20;
const CHANGELOG_BYTES_MAX: usize = 16 << 20;
const MARK: &str = "OpenSSL ";

/// Where the code of a library is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Mapped from this file, as its process sees it.
    File(PathBuf),
    /// Mapped from a file that was removed or replaced since the process was started.
    Replaced(PathBuf),
    /// In the program itself.
    Program,
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// None of those in the table.
    NoneKnown,
    /// Its number has them; its package, told by its first line, says that it has fixed each.
    Fixed {
        faults: Vec<&'static Fault>,
        package: String,
    },
    Faulty(Vec<&'static Fault>),
    CannotTell(String),
}

/// One that a process uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsLibrary {
    /// `OpenSSL 3.0.19 27 Jan 2026`. `None`: it does not tell.
    pub version: Option<String>,
    pub place: Place,
    pub verdict: Verdict,
}

impl TlsLibrary {
    fn unknown(place: Place, why: impl Into<String>) -> Self {
        Self { version: None, place, verdict: Verdict::CannotTell(why.into()) }
    }
}

impl fmt::Display for TlsLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version.as_deref().unwrap_or("a TLS library of an unknown version"))?;
        match &self.place {
            Place::File(path) => write!(f, " ({})", path.display()),
            Place::Replaced(path) => write!(f, " ({}, replaced on disk since the start)", path.display()),
            Place::Program => write!(f, " (in the program itself)"),
            Place::Unknown(_) => Ok(()),
        }
    }
}

/// What a server says of its own library. An empty text is none.
///
/// # Source
/// MariaDB: `version_ssl_library`. MySQL since 8.0.30: the status variable `Tls_library_version`.
pub fn told_by(view: &NodeView) -> Option<&str> {
    let said = view.variable("version_ssl_library").or_else(|| view.status("tls_library_version"));
    said.map(str::trim).filter(|text| !text.is_empty())
}

/// The libraries of a running process, `said` being its own word. Never empty.
pub fn look(host: &dyn ReadHost, process: &ProcessFacts, said: Option<&str>) -> Vec<TlsLibrary> {
    let proc = PathBuf::from(format!("/proc/{}", process.pid));
    let maps = match host.read(&proc.join("maps"), MAPS_BYTES_MAX) {
        Ok(Some(maps)) => maps,
        Ok(None) => return vec![by_word(said, "it has ended")],
        Err(error) => return vec![by_word(said, &error.to_string())],
    };
    let mapped = libraries_in(&String::from_utf8_lossy(&maps));
    // It may be in a container, and its paths are those of there.
    let root = proc.join("root");
    let only_one = mapped.len() == 1;
    let mut found: Vec<TlsLibrary> =
        mapped.into_iter().map(|one| of_mapped(host, &root, one, said.filter(|_| only_one))).collect();
    if found.is_empty() {
        found.push(in_program(host, &proc, said));
    }
    found
}

struct Mapped {
    path: PathBuf,
    is_replaced: bool,
}

/// Files of libcrypto, which has the version number. Everything of OpenSSL's needs it.
///
/// # Source
/// proc_pid_maps(5): the name is the sixth field, with ` (deleted)` behind it where it has gone, and a newline as `\012`.
fn libraries_in(maps: &str) -> Vec<Mapped> {
    let mut found: Vec<Mapped> = Vec::new();
    for line in maps.lines() {
        let mut rest = line;
        for _ in 0..5 {
            rest = rest.trim_start().split_once(' ').map_or("", |(_, rest)| rest);
        }
        let name = rest.trim_start();
        let (name, is_replaced) = name.strip_suffix(" (deleted)").map_or((name, false), |name| (name, true));
        let path = PathBuf::from(name.replace("\\012", "\n"));
        let is_crypto = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcrypto"));
        if is_crypto && path.is_absolute() && !found.iter().any(|one| one.path == path) {
            found.push(Mapped { path, is_replaced });
        }
    }
    found
}

/// `path` as a process with that root sees it.
fn seen_from(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn of_mapped(host: &dyn ReadHost, root: &Path, mapped: Mapped, said: Option<&str>) -> TlsLibrary {
    let Mapped { path, is_replaced } = mapped;
    if is_replaced {
        let place = Place::Replaced(path);
        // What lies there now is what a restart loads, not what runs.
        let why = "a restart takes what lies there now; until then the faults of the old one stay";
        let Some(version) = said else {
            return TlsLibrary::unknown(place, format!("it was replaced since the start: {why}"));
        };
        let verdict = match by_number(version) {
            Verdict::Faulty(faults) => {
                Verdict::CannotTell(format!("its number has {}: {why}", cves(&faults)))
            }
            other => other,
        };
        return TlsLibrary { version: Some(version.to_owned()), place, verdict };
    }
    let version = match (said, host.text_in(&seen_from(root, &path), MARK)) {
        (Some(said), _) => said.to_owned(),
        (None, Ok(Some(text))) => text,
        (None, Ok(None)) => {
            return TlsLibrary::unknown(Place::File(path), "no version of OpenSSL's is in that file");
        }
        (None, Err(error)) => return TlsLibrary::unknown(Place::File(path), error.to_string()),
    };
    let verdict = match by_number(&version) {
        Verdict::Faulty(faults) if is_distributions(&path) => by_package(host, root, &path, faults),
        other => other,
    };
    TlsLibrary { version: Some(version), place: Place::File(path), verdict }
}

/// By its release number alone.
fn by_number(version: &str) -> Verdict {
    let Some(number) = OpensslVersion::in_text(version) else {
        return Verdict::CannotTell("sealion knows faults of OpenSSL's own releases only".into());
    };
    match faults_of(&number) {
        faults if faults.is_empty() => Verdict::NoneKnown,
        faults => Verdict::Faulty(faults),
    }
}

/// Nothing could be seen of the process: its word is left.
fn by_word(said: Option<&str>, why: &str) -> TlsLibrary {
    let place = Place::Unknown(why.to_owned());
    let Some(version) = said else {
        return TlsLibrary::unknown(place, format!("what it has mapped cannot be read: {why}"));
    };
    let verdict = match by_number(version) {
        Verdict::Faulty(faults) => Verdict::CannotTell(format!(
            "its number has {}; whether a distribution has fixed that cannot be seen, since what it has mapped cannot be read: {why}",
            cves(&faults)
        )),
        other => other,
    };
    TlsLibrary { version: Some(version.to_owned()), place, verdict }
}

/// No library is mapped: it was linked into the program, as MySQL's own builds and wolfSSL in MariaDB's are.
fn in_program(host: &dyn ReadHost, proc: &Path, said: Option<&str>) -> TlsLibrary {
    let found = match said {
        Some(said) => Ok(Some(said.to_owned())),
        None => host.text_in(&proc.join("exe"), MARK),
    };
    match found {
        Ok(Some(version)) => {
            let verdict = by_number(&version);
            TlsLibrary { version: Some(version), place: Place::Program, verdict }
        }
        Ok(None) => TlsLibrary::unknown(
            Place::Program,
            "it has no libcrypto mapped, and its program names no version of OpenSSL",
        ),
        Err(error) => TlsLibrary::unknown(Place::Program, error.to_string()),
    }
}

/// Whether a distribution may keep its own version in this place. Vendors put theirs elsewhere, or into a directory `private`.
fn is_distributions(path: &Path) -> bool {
    let is_system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"].iter().any(|dir| path.starts_with(dir));
    is_system && !path.components().any(|part| part.as_os_str() == "private")
}

fn by_package(host: &dyn ReadHost, root: &Path, path: &Path, faults: Vec<&'static Fault>) -> Verdict {
    match fixed_by_debian(host, root, path, &faults) {
        Ok(package) => Verdict::Fixed { faults, package },
        Err(why) => Verdict::CannotTell(format!("its number has {}; {why}", cves(&faults))),
    }
}

fn cves(faults: &[&Fault]) -> String {
    faults.iter().map(|fault| fault.cve).collect::<Vec<_>>().join(", ")
}

/// The package's name and version, where its changelog names every fault; or why that cannot be told, with what to do.
fn fixed_by_debian(
    host: &dyn ReadHost,
    root: &Path,
    path: &Path,
    faults: &[&'static Fault],
) -> Result<String, String> {
    let may = "the distribution may have fixed it";
    let patterns: Vec<&str> = faults.iter().flat_map(|fault| ["-e", fault.cve]).collect();
    let patterns = patterns.join(" ");
    let failed = |error: HostError| format!("{may}, which cannot be seen: {error}");
    let info = seen_from(root, Path::new("/var/lib/dpkg/info"));
    if host.facts(&info).map_err(failed)?.is_none() {
        return Err(format!(
            "{may}: rpm -q --changelog openssl-libs | grep {patterns}, or what its package manager has for that"
        ));
    }
    let package = owner_of(host, &info, path)
        .map_err(failed)?
        .ok_or_else(|| format!("no package of OpenSSL's owns {}: who has put it there?", path.display()))?;
    let ask = format!("apt changelog {package} | grep {patterns}");
    let docs = seen_from(root, &Path::new("/usr/share/doc").join(&package));
    let packed = host.read(&docs.join("changelog.Debian.gz"), CHANGELOG_BYTES_MAX as u64).map_err(failed)?;
    let Some(packed) = packed else {
        return Err(format!("{may}, and its changelog is not on that machine: {ask}"));
    };
    let text = gzip::inflate(&packed, CHANGELOG_BYTES_MAX)
        .map_err(|error| format!("{may}, and its changelog cannot be read ({error}): {ask}"))?;
    let text = String::from_utf8_lossy(&text);
    let version = package_version(&text).unwrap_or("a version that its changelog does not tell");
    let missing: Vec<&Fault> = faults.iter().copied().filter(|fault| !names(&text, fault.cve)).collect();
    if missing.is_empty() {
        return Ok(format!("{package} {version}"));
    }
    Err(format!("{may}, but the changelog of {package} {version} does not name {}: {ask}", cves(&missing)))
}

/// A longer number begins alike.
fn names(text: &str, cve: &str) -> bool {
    text.match_indices(cve).any(|(at, _)| {
        !text.get(at + cve.len()..).is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()))
    })
}

/// `openssl (3.0.2-0ubuntu1.10) jammy-security; urgency=medium`: the first line is of the newest version.
fn package_version(changelog: &str) -> Option<&str> {
    changelog.lines().next()?.split_once('(')?.1.split_once(')').map(|(version, _)| version)
}

/// Which package of OpenSSL's has this file, by what dpkg keeps.
fn owner_of(host: &dyn ReadHost, info: &Path, path: &Path) -> Result<Option<String>, HostError> {
    // Where /lib is a link to /usr/lib, dpkg knows the file by either name.
    let path = path.display().to_string();
    let other = path.strip_prefix("/usr").map_or_else(|| format!("/usr{path}"), str::to_owned);
    for list in host.list(info)? {
        let name = list.file_name().unwrap_or_default().to_string_lossy();
        let Some(package) = name.strip_suffix(".list") else { continue };
        if !["libssl", "libcrypto", "openssl"].iter().any(|start| package.starts_with(start)) {
            continue;
        }
        let files = host.read(&list, LIST_BYTES_MAX)?.unwrap_or_default();
        let files = String::from_utf8_lossy(&files);
        if files.lines().any(|line| line == path || line == other) {
            return Ok(Some(package.split(':').next().unwrap_or(package).to_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
