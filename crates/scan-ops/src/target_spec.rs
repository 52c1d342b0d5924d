//! What somebody asks to look at: hosts, ranges of addresses, services of DNS. Reading them dials nobody.

use std::fmt;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::scan::range::{Allowed, Cidr};
use ::scan::target::host_and_port;

use site::OpsError;

/// A file of targets with more bytes is no file of targets.
const TARGETS_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// No name of a host is longer (RFC 1123); of what is no target, less says enough.
const WORD_BYTES_MAX: usize = 512;
const SHOWN_CHARS_MAX: usize = 80;
/// Addresses of all ranges of one run: a /16. Each of them gets a row, and a row is kept until the end.
pub const RANGE_ADDRESSES_MAX: u128 = 65_536;
const AUTHORIZED_BYTES_MAX: u64 = 1024 * 1024;

/// What somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSpec {
    /// One host; without a port, all the usual ones.
    Place { host: String, port: Option<u16> },
    /// Every address of a range.
    Range { range: Cidr, port: Option<u16> },
    /// The places that a SRV record names: `_mysql._tcp.example.org`.
    Service { name: String },
}

impl TargetSpec {
    pub fn place(host: impl Into<String>, port: impl Into<Option<u16>>) -> Self {
        Self::Place { host: host.into(), port: port.into() }
    }

    /// Reads a word as people write it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(word: &str) -> Result<Self, String> {
        let word = word.trim();
        if word.len() > WORD_BYTES_MAX || word.chars().any(char::is_control) {
            return Err(format!("\"{}\" is not a host, address, range or service", shown(word)));
        }
        if let Some(name) = word.strip_prefix("srv:") {
            return service(name);
        }
        // No host has an underscore in its name (RFC 1123 2.1), and a service always has (RFC 2782).
        if word.starts_with('_') && word.contains("._tcp.") {
            return service(word);
        }
        if word.contains('/') {
            return range(word);
        }
        host_and_port(word).map(|(host, port)| Self::Place { host, port })
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place { host, port: None } => f.write_str(host),
            Self::Place { host, port: Some(port) } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Place { host, port: Some(port) } => write!(f, "{host}:{port}"),
            Self::Range { range, port: None } => write!(f, "{range}"),
            Self::Range { range, port: Some(port) } => write!(f, "{range}:{port}"),
            Self::Service { name } => write!(f, "srv:{name}"),
        }
    }
}

fn service(name: &str) -> Result<TargetSpec, String> {
    let bare = name.strip_suffix('.').unwrap_or(name);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    if bare.len() > 253 || !bare.split('.').all(is_label) {
        return Err(format!("\"{name}\" is not a service name such as _mysql._tcp.example.org"));
    }
    Ok(TargetSpec::Service { name: bare.to_owned() })
}

/// `10.0.0.0/24`, `10.0.0.0/24:3307`, `fd00::/120`, `fd00::/120:3307`, `[fd00::/120]:3307`.
fn range(word: &str) -> Result<TargetSpec, String> {
    // One pair, around all of the range.
    let bare = match word.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((range, port)) if port.is_empty() || port.starts_with(':') => format!("{range}{port}"),
            _ => return Err(format!("\"{word}\" is not a range such as [fd00::/120]:3306")),
        },
        None => word.to_owned(),
    };
    let (network, rest) = bare.split_once('/').unwrap_or((&bare, ""));
    let (prefix, port) = match rest.split_once(':') {
        Some((prefix, digits)) => {
            let port = digits.parse::<u16>().ok().filter(|port| *port > 0);
            (prefix, Some(port.ok_or_else(|| format!("\"{digits}\" is not a port (1 to 65535)"))?))
        }
        None => (rest, None),
    };
    Cidr::parse(&format!("{network}/{prefix}")).map(|range| TargetSpec::Range { range, port })
}

/// The ranges that somebody says may be scanned, and where that is written.
#[derive(Debug, Clone)]
pub struct Authorized {
    pub path: PathBuf,
    allowed: Arc<Allowed>,
    words: Arc<[String]>,
}

impl Authorized {
    /// One range or address a line; what follows a # is a comment.
    ///
    /// # Errors
    /// With the number of the line.
    pub fn read(path: &Path) -> Result<Self, OpsError> {
        let refuse = |why: String| {
            OpsError::usage(
                format!("cannot use the file of authorized ranges {}", path.display()),
                why,
                "write one range per line, such as 10.0.0.0/24 or fd00::/64",
            )
        };
        let found = words(path, AUTHORIZED_BYTES_MAX).map_err(&refuse)?;
        for (number, word) in &found {
            Cidr::parse(word).map_err(|why| refuse(format!("line {number}: {why}")))?;
        }
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::of(path, found.into_iter().map(|(_, word)| word).collect()).map_err(refuse)
    }

    /// The ranges as somebody else read them from a file of theirs.
    ///
    /// # Errors
    /// The first that is none.
    pub fn of(path: PathBuf, words: Vec<String>) -> Result<Self, String> {
        let ranges = words.iter().map(|word| Cidr::parse(word)).collect::<Result<Vec<_>, _>>()?;
        if ranges.is_empty() {
            return Err("it contains no range".into());
        }
        Ok(Self { path, allowed: Arc::new(Allowed::of(ranges)), words: words.into() })
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn holds(&self, address: IpAddr) -> bool {
        self.allowed.holds(address)
    }

    fn covers(&self, range: &Cidr) -> bool {
        self.allowed.covers(range)
    }
}

fn read_stdin(bytes_max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("it is longer than {bytes_max} bytes"));
    }
    Ok(bytes)
}

/// A word as an error shows it: it may be a megabyte, or move a cursor.
fn shown(word: &str) -> String {
    let text = wire::printable(word);
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// The words of a file, one a line, with the numbers of their lines.
fn words(path: &Path, bytes_max: u64) -> Result<Vec<(usize, String)>, String> {
    let bytes = if path == Path::new("-") {
        read_stdin(bytes_max)?
    } else {
        host::ReadHost::read(&host::Local, path, bytes_max)
            .map_err(|error| error.to_string())?
            .ok_or("there is no such file")?
    };
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    // Windows' editors write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text
        .lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line.split('#').next().unwrap_or_default().trim().to_owned()))
        .filter(|(_, word)| !word.is_empty())
        .collect())
}

/// Reads words as targets.
///
/// # Errors
/// The first word that is none.
pub fn target_specs<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Vec<TargetSpec>, OpsError> {
    words
        .into_iter()
        .map(|word| {
            TargetSpec::parse(word).map_err(|why| {
                OpsError::usage(
                    format!("\"{}\" is not a target", shown(word)),
                    why,
                    "use HOST, HOST:PORT, an address, [IPv6]:PORT, NETWORK/PREFIX or srv:NAME",
                )
            })
        })
        .collect()
}

/// Targets of a file: one a line; what follows a # is a comment.
///
/// # Errors
/// With the number of the line.
pub fn target_specs_of_file(path: &Path) -> Result<Vec<TargetSpec>, OpsError> {
    let refuse = |why: String| {
        OpsError::usage(
            format!("cannot use the file of targets {}", path.display()),
            why,
            "write one HOST or HOST:PORT per line",
        )
    };
    words(path, TARGETS_BYTES_MAX)
        .map_err(&refuse)?
        .into_iter()
        .map(|(number, word)| TargetSpec::parse(&word).map_err(|why| refuse(format!("line {number}: {why}"))))
        .collect()
}

/// Ranges are dialled only where somebody has written down that they may be: a slip of a digit in a prefix must not knock
/// at ten thousand doors of others.
///
/// # Errors
/// The first range that is not covered, or too many addresses.
pub fn authorize(target_specs: &[TargetSpec], authorized: Option<&Authorized>) -> Result<(), OpsError> {
    let mut addresses: u128 = 0;
    for spec in target_specs {
        let TargetSpec::Range { range, .. } = spec else { continue };
        let Some(authorized) = authorized else {
            return Err(OpsError::usage(
                format!("the range {range} is not scanned"),
                "a range needs a file that authorizes it, and none was given",
                format!("write {range} into a file, and use --authorized-range FILE"),
            ));
        };
        if !authorized.covers(range) {
            return Err(OpsError::usage(
                format!("the range {range} is not scanned"),
                format!("{} does not cover all of it", authorized.path.display()),
                "use a range that it covers, or add a line to it",
            ));
        }
        addresses = addresses.saturating_add(range.host_count());
    }
    if addresses > RANGE_ADDRESSES_MAX {
        return Err(OpsError::usage(
            format!("the ranges have {addresses} addresses"),
            format!("the maximum for one scan is {RANGE_ADDRESSES_MAX} (a /16 of IPv4, a /112 of IPv6)"),
            "scan them one after the other, or use a longer prefix",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written_the_same() {
        for (word, written) in [
            ("db1", "db1"),
            ("db1:3307", "db1:3307"),
            ("[fd00::1]:3306", "[fd00::1]:3306"),
            ("10.0.0.0/24", "10.0.0.0/24"),
            ("10.0.0.0/24:3307", "10.0.0.0/24:3307"),
            ("fd00::/120", "fd00::/120"),
            ("[fd00::/120]:3306", "fd00::/120:3306"),
            ("srv:_mysql._tcp.example.org", "srv:_mysql._tcp.example.org"),
            ("_mysql._tcp.example.org.", "srv:_mysql._tcp.example.org"),
        ] {
            let spec = TargetSpec::parse(word).expect(word);
            assert_eq!(spec.to_string(), written);
            assert_eq!(TargetSpec::parse(written).as_ref(), Ok(&spec));
        }
        for bad in [
            "10.0.0.0/24:0",
            "10.0.0.1/24",
            "srv:",
            "srv:a..b",
            "_mysql._tcp.b c",
            "/",
            "x/24",
            "127.0.[0.0]/30",
            "[fd00::]/120",
            "[fd00::/120",
            "[fd00::/120]3306",
        ] {
            assert!(TargetSpec::parse(bad).is_err(), "{bad}");
        }
    }

    fn authorized(text: &str) -> Result<Authorized, OpsError> {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("ranges");
        std::fs::write(&path, text).expect("writable");
        Authorized::read(&path)
    }

    #[test]
    fn a_range_is_refused_unless_a_file_covers_all_of_it() {
        let check = |words: &[&str], file: Option<&str>, part: &str| {
            let target_specs = target_specs(words.iter().copied()).expect("targets");
            let file = file.map(|text| authorized(text).expect("ranges"));
            let said = authorize(&target_specs, file.as_ref())
                .map_or_else(|error| error.to_string(), |()| "fine".into());
            assert!(said.contains(part), "{words:?} {file:?}: {said}");
        };
        check(&["db1", "10.0.0.1"], None, "fine");
        check(&["10.0.0.0/24"], None, "--authorized-range FILE");
        check(&["10.0.0.0/24"], Some("10.0.0.0/25 # half\n"), "does not cover all of it");
        check(&["10.0.0.0/24:3306"], Some("# ours\n10.0.0.0/25\n10.0.0.128/25\n"), "fine");
        check(&["fd00::/112"], Some("fd00::/8\n"), "fine");
        check(&["fd00::/111"], Some("fd00::/8\n"), "131071 addresses");
        check(&["10.0.0.0/16", "10.1.0.0/28"], Some("10.0.0.0/8\n"), "65548 addresses");
        for (text, part) in [("10.0.0.0/8\n10.0.0.0/99\n", "line 2"), ("# none\n", "contains no range")] {
            let error = authorized(text).expect_err("refused").to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_bad_line_of_a_file_is_named() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("t");
        std::fs::write(&path, "db1 # ours\n\ndb2:3307\n10.0.0.1/8\n").expect("writable");
        let error = target_specs_of_file(&path).expect_err("line 4").to_string();
        assert!(error.contains("line 4"), "{error}");
        std::fs::write(&path, "db1 # ours\n\ndb2:3307\n").expect("writable");
        assert_eq!(target_specs_of_file(&path).expect("fine").len(), 2);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_and_a_long_line_is_cut() {
        let dir = tempfile::tempdir().expect("tmp");
        let path = dir.path().join("t");
        std::fs::write(&path, "\u{feff}db1:3306\r\ndb2\r\n").expect("writable");
        assert_eq!(
            target_specs_of_file(&path).expect("fine"),
            [TargetSpec::place("db1", 3306), TargetSpec::place("db2", None)]
        );
        for bad in ["x".repeat(1_000_000), format!("{}:99999", "y".repeat(400)), "a\u{1b}[2Jb".to_owned()] {
            std::fs::write(&path, format!("db1\n{bad}\n")).expect("writable");
            let error = target_specs_of_file(&path).expect_err("line 2").to_string();
            assert!(error.contains("line 2") && error.len() < 800 && !error.contains('\u{1b}'), "{error}");
            let error = target_specs([bad.as_str()]).expect_err("no target").to_string();
            assert!(error.len() < 1000 && !error.contains('\u{1b}'), "{error}");
        }
    }
}
