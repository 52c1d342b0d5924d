//! Whose server is it? A guess from the greeting alone, with the signs it rests on.
//!
//! A greeting is not proof: its text can be configured (`version` in MySQL 8.0.33 and newer, MariaDB's `--version=`,
//! every proxy) and forged. What a flavour and version can do is asked of `server::capability`, after a login.
//!
//! Sources: MariaDB's `sql/sql_acl.cc` and documentation of the handshake (bit 0, the last four reserved bytes, the
//! prefix); the version texts that the projects document. Seen: MariaDB 10.11.19, MySQL 9.7.4 and 5.5.9.

use crate::{Capabilities, Greeting};

/// The family of a server, or of the proxy in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flavour {
    MySql,
    MariaDb,
    Percona,
    Aurora,
    TiDb,
    Vitess,
    OceanBase,
    MaxScale,
    ProxySql,
}

impl std::fmt::Display for Flavour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::MySql => "MySQL",
            Self::MariaDb => "MariaDB",
            Self::Percona => "Percona Server",
            Self::Aurora => "Aurora",
            Self::TiDb => "TiDB",
            Self::Vitess => "Vitess",
            Self::OceanBase => "OceanBase",
            Self::MaxScale => "MaxScale",
            Self::ProxySql => "ProxySQL",
        })
    }
}

/// One thing in the greeting that speaks for a flavour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sign {
    /// Bit 0 of the capabilities is clear: only MariaDB does that.
    LongPasswordClear,
    /// The last four reserved bytes are not zero, where MariaDB has its own capabilities.
    ExtendedCapabilities,
    /// The version begins with `5.5.5-`, as MariaDB 10 writes it for old replicas.
    ReplicationPrefix,
    /// The version names the flavour.
    VersionSays(&'static str),
    /// A number behind the version: Percona Server counts its releases so, and so do distributions theirs.
    NumberedBuild,
    /// A default plugin that only MySQL and what descends from it has.
    CachingSha2,
    /// Protocol version 9: from before MySQL 3.22.
    Protocol9,
}

/// A guess and its reasons. No reason: nothing in the greeting tells it from the first of the family, MySQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlavourGuess {
    pub flavour: Flavour,
    pub signs: Vec<Sign>,
    /// Signs that contradict the guess, as a proxy in front of another server gives.
    pub against: Vec<Sign>,
}

/// Words that name a flavour, in lower case. Proxies first: they put their name beside the server's.
const WORDS: &[(&str, Flavour)] = &[
    ("maxscale", Flavour::MaxScale),
    ("proxysql", Flavour::ProxySql),
    ("tidb", Flavour::TiDb),
    ("vitess", Flavour::Vitess),
    ("oceanbase", Flavour::OceanBase),
    ("aurora", Flavour::Aurora),
    ("percona", Flavour::Percona),
    // Percona Server 5.1 to 5.6: "5.6.51-rel91.0".
    ("-rel", Flavour::Percona),
    ("mariadb", Flavour::MariaDb),
];

impl Greeting {
    /// Whose server this looks like.
    pub fn flavour(&self) -> FlavourGuess {
        let version = self.version.to_ascii_lowercase();
        let named = WORDS.iter().find(|(word, _)| version.contains(word));
        let mut of_mariadb = Vec::new();
        let mut of_mysql = Vec::new();
        if self.protocol >= 10 && !self.capabilities.contains(Capabilities::LONG_PASSWORD) {
            of_mariadb.push(Sign::LongPasswordClear);
            if self.mariadb_capabilities != 0 {
                of_mariadb.push(Sign::ExtendedCapabilities);
            }
        }
        if self.version != self.version_text() {
            of_mariadb.push(Sign::ReplicationPrefix);
        }
        if self.auth_plugin.as_deref() == Some("caching_sha2_password") {
            of_mysql.push(Sign::CachingSha2);
        }
        if self.protocol < 10 {
            of_mysql.push(Sign::Protocol9);
        }
        let flavour = match named {
            Some((_, flavour)) => *flavour,
            None if !of_mariadb.is_empty() => Flavour::MariaDb,
            None => Flavour::MySql,
        };
        let (mut signs, against) = match flavour {
            Flavour::MariaDb => (of_mariadb, of_mysql),
            // MaxScale passes on what is behind it, ProxySQL what it is told: neither sign speaks against them.
            Flavour::MaxScale | Flavour::ProxySql => ([of_mariadb, of_mysql].concat(), Vec::new()),
            _ => (of_mysql, of_mariadb),
        };
        if let Some((word, _)) = named {
            signs.push(Sign::VersionSays(word));
        }
        if flavour == Flavour::MySql && has_numbered_build(self.version_text()) {
            signs.push(Sign::NumberedBuild);
        }
        FlavourGuess { flavour, signs, against }
    }

    /// Major, minor and patch of the version, MariaDB's prefix left out; `None` where the text is another.
    pub fn version_numbers(&self) -> Option<(u16, u16, u16)> {
        let mut numbers = self.version_text().split(|character: char| !character.is_ascii_digit());
        let mut next = || numbers.next()?.parse().ok();
        Some((next()?, next()?, next()?))
    }
}

/// "8.0.36-28" or "8.0.36-28.1".
fn has_numbered_build(version: &str) -> bool {
    version.split_once('-').is_some_and(|(_, build)| build.starts_with(|first: char| first.is_ascii_digit()))
}
