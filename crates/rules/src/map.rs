//! Every path that data takes on and around a server, with one verdict each, made of findings. Nothing is judged anew.

use model::{Finding, Verdict};

/// Where data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    InTransit,
    AtRest,
}

impl Kind {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::InTransit => "in-transit",
            Self::AtRest => "at-rest",
        }
    }
}

/// A path, and the rules that speak of it.
pub struct Path {
    pub name: &'static str,
    pub kind: Kind,
    /// One of them that fails: cleartext is used, or accepted.
    clear: &'static [&'static str],
    /// What has to pass for the path to be called protected.
    protected: &'static [&'static str],
    /// A rule that passes says that nothing is written there at all.
    pass_is_none: bool,
}

const fn path(
    name: &'static str,
    kind: Kind,
    clear: &'static [&'static str],
    protected: &'static [&'static str],
) -> Path {
    Path { name, kind, clear, protected, pass_is_none: false }
}

const fn written(name: &'static str, clear: &'static [&'static str]) -> Path {
    Path { name, kind: AtRest, clear, protected: clear, pass_is_none: true }
}

use Kind::{AtRest, InTransit};

/// In the order of the drawing.
pub const PATHS: &[Path] = &[
    path("clients", InTransit, &["SL2225", "SL2101", "SL2001", "SL2002"], &["SL2001", "SL2002"]),
    path("administrators' port", InTransit, &["SL2014"], &["SL2014"]),
    path("X Protocol", InTransit, &["SL2015"], &["SL2015"]),
    path("from its replication source", InTransit, &["SL3011"], &["SL3011"]),
    path("to replicas and log readers", InTransit, &["SL2107"], &["SL2107"]),
    path("between Galera nodes", InTransit, &["SL3001"], &["SL3001"]),
    path("state transfers of Galera", InTransit, &["SL3002", "SL3203"], &["SL3002"]),
    path("members of the group", InTransit, &["SL3301"], &["SL3301"]),
    path("recovery of a group member", InTransit, &["SL3302"], &["SL3302"]),
    path("tablespaces", AtRest, &["SL4001", "SL4020"], &["SL4001"]),
    path("tables of other engines", AtRest, &["SL4009"], &["SL4009"]),
    path("new tables", AtRest, &["SL4003", "SL4017", "SL4019"], &["SL4003"]),
    path("Aria tables", AtRest, &["SL4010"], &["SL4010"]),
    path("redo log", AtRest, &["SL4004"], &["SL4004"]),
    path("undo logs", AtRest, &["SL4005"], &["SL4005"]),
    path("binary log", AtRest, &["SL4006", "SL4007"], &["SL4006"]),
    path("temporary tables", AtRest, &["SL4018", "SL4014"], &["SL4018", "SL4014"]),
    path("temporary files", AtRest, &["SL4008"], &["SL4008"]),
    written("general log", &["SL4201"]),
    written("slow query log", &["SL4217"]),
    written("core files", &["SL4212"]),
    path("swap space", AtRest, &["SL4213"], &["SL4213"]),
];

/// Paths that no audit looks at, and what does.
const NOT_LOOKED_AT: &[(&str, &str)] = &[
    ("the wire itself", "sealion status captures it"),
    ("the bytes of data files", "sealion status rest reads them"),
    ("snapshots of disks, backups on other machines", "nothing of sealion's looks at them yet"),
];

/// Those of an audit without a search.
const NOT_SEARCHED: &[(&str, &str)] = &[
    ("dumps and copies that lie about", "sealion audit --search looks for them"),
    ("secrets in logs, binary logs and histories of clients", "sealion audit --search looks for them"),
];

/// What an audit did not look at, and what does.
pub fn not_looked_at(has_searched: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let not_searched = if has_searched { &[] } else { NOT_SEARCHED };
    NOT_LOOKED_AT.iter().chain(not_searched).copied()
}

/// What is known of a path on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stand {
    /// Cleartext is used or accepted, and why that is said.
    Clear(String),
    /// Nobody could say, and why.
    Unknown(String),
    /// The server is set to protect it. That nothing of it was in cleartext, no audit has seen.
    ConfiguredOnly,
    /// This server has no such path.
    None,
}

impl Stand {
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Clear(_) => "clear",
            Self::Unknown(_) => "unknown",
            Self::ConfiguredOnly => "configured-only",
            Self::None => "none",
        }
    }

    /// Why it is clear or unknown; empty otherwise.
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Clear(why) | Self::Unknown(why) => why,
            Self::ConfiguredOnly | Self::None => "",
        }
    }
}

impl Path {
    /// Rules that speak of it.
    pub fn rules(&self) -> impl Iterator<Item = &'static str> {
        let more = self.protected.iter().filter(|rule| !self.clear.contains(rule));
        self.clear.iter().chain(more).copied()
    }

    /// How it stands on `server`, whose findings are among these.
    #[must_use]
    pub fn stand(&self, server: &str, findings: &[Finding]) -> Stand {
        let is_of = |one: &&Finding| {
            one.subject.strip_prefix(server).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let of = |rules: &[&str]| -> Vec<&Finding> {
            let of_rule = |rule: &&str| {
                findings.iter().filter(is_of).filter(|one| one.rule == *rule).collect::<Vec<_>>()
            };
            rules.iter().flat_map(of_rule).collect()
        };
        let (clear, protected) = (of(self.clear), of(self.protected));
        if let Some(why) =
            clear.iter().find_map(|one| reason(one, |verdict| matches!(verdict, Verdict::Fail(_))))
        {
            return Stand::Clear(why);
        }
        let unknown = |all: &[&Finding]| {
            all.iter().find_map(|one| reason(one, |verdict| matches!(verdict, Verdict::Unknown(_))))
        };
        if let Some(why) = unknown(&protected) {
            return Stand::Unknown(why);
        }
        if protected.iter().any(|one| one.verdict == Verdict::Pass) {
            return if self.pass_is_none { Stand::None } else { Stand::ConfiguredOnly };
        }
        unknown(&clear).map_or(Stand::None, Stand::Unknown)
    }
}

fn reason(finding: &Finding, is_it: fn(&Verdict) -> bool) -> Option<String> {
    let (Verdict::Fail(why) | Verdict::Unknown(why)) = &finding.verdict else { return None };
    is_it(&finding.verdict).then(|| why.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RULES;
    use crate::sample::finding;

    #[test]
    fn every_path_is_made_of_rules_that_there_are() {
        for path in PATHS {
            assert!(!path.protected.is_empty(), "{}", path.name);
            for rule in path.rules() {
                assert!(RULES.iter().any(|one| one.id() == rule), "{}: {rule}", path.name);
            }
        }
    }

    #[test]
    fn a_path_is_called_protected_only_where_nothing_speaks_against_it_and_something_for_it() {
        let (fail, unknown) = (|| Verdict::Fail("seen".into()), || Verdict::Unknown("not allowed".into()));
        let clients = &PATHS[0];
        let of = |findings: &[Finding]| clients.stand("n1", findings);
        let offers = || finding("SL2001", "n1", Verdict::Pass);
        let requires = || finding("SL2002", "n1", Verdict::Pass);
        assert_eq!(of(&[offers(), requires()]), Stand::ConfiguredOnly);
        // Somebody is connected in cleartext, whatever is required of new ones.
        let plain = finding("SL2101", "n1 sessions", fail());
        assert_eq!(of(&[offers(), requires(), plain]), Stand::Clear("seen".into()));
        assert_eq!(of(&[offers(), finding("SL2002", "n1", unknown())]), Stand::Unknown("not allowed".into()));
        // Whether somebody is, nobody can say, and nobody could: cleartext is refused.
        assert_eq!(
            of(&[offers(), requires(), finding("SL2101", "n1 sessions", unknown())]),
            Stand::ConfiguredOnly
        );
        // Another server's.
        assert_eq!(of(&[finding("SL2001", "n10", fail())]), Stand::None);
        let log = PATHS.iter().find(|path| path.name == "general log").expect("it is one");
        assert_eq!(log.stand("n1", &[finding("SL4201", "n1", Verdict::Pass)]), Stand::None);
        assert_eq!(log.stand("n1", &[finding("SL4201", "n1", fail())]), Stand::Clear("seen".into()));
    }
}
