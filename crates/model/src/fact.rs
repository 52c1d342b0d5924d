//! What a look can see: one declaration each, in [`crate::facts`]. A rule names the constant, so that a rule over a fact that
//! nobody declared does not compile, and a look that notes another name does not either.

use std::fmt;

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookBy {
    /// From outside, without a password.
    Scan,
    /// Inside one server: SQL, and the machine that it runs on.
    Audit,
    /// On the machine of one server, through whole files: only where it is asked for.
    Search,
    /// Over a cluster: SQL, files, captures.
    Status,
}

impl fmt::Display for LookBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scan => "sealion scan",
            Self::Audit => "sealion audit",
            Self::Search => "sealion audit --search",
            Self::Status => "sealion status",
        })
    }
}

/// On which servers it can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    All,
    MariaDb,
    MySql,
    Galera,
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all servers",
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
            Self::Galera => "Galera nodes",
        })
    }
}

/// What its value is, where it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    YesNo,
    Count,
    Bits,
    Days,
    /// One of a few words, which its meaning names.
    Word,
    /// What was found; absent where nothing was.
    Found,
}

/// One thing that a look can see.
#[derive(Debug, PartialEq, Eq)]
pub struct Fact {
    /// Dotted, lower case; it is published, and never changes its meaning.
    pub name: &'static str,
    pub meaning: &'static str,
    pub unit: Unit,
    pub noted_by: &'static [(LookBy, On)],
}

impl Fact {
    pub fn is_noted_by(&self, look: LookBy) -> bool {
        self.noted_by.iter().any(|(one, _)| *one == look)
    }
}

/// Declares facts, and the list of them: `NAME = "dotted.name", unit, [look => servers, …];` under a comment that says its meaning.
macro_rules! facts {
    ($($(#[doc = $meaning:literal])+ $ident:ident = $name:literal, $unit:ident, [$($look:ident => $on:ident),+];)+) => {
        $(
            $(#[doc = $meaning])+
            pub static $ident: $crate::fact::Fact = $crate::fact::Fact {
                name: $name,
                meaning: concat!($($meaning),+).trim_ascii(),
                unit: $crate::fact::Unit::$unit,
                noted_by: &[$(($crate::fact::LookBy::$look, $crate::fact::On::$on)),+],
            };
        )+
        pub(super) const ALL: &[&$crate::fact::Fact] = &[$(&$ident),+];
    };
}
pub(crate) use facts;
