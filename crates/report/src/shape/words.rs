//! The words of the published shape. They are types of their own so that `model` stays free to change.

use model::{LinkKind, Seen, Severity, Verdict};
use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$why:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$why])* #[serde(rename = $word)] $variant),+ }
        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// As written in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(super) use words;

words! {
    /// What the whole demo may claim.
    Outcome {
        /// Every link was seen sealed with its control, nothing was lost, every intruder was refused.
        Proven = "proven",
        /// Nothing failed, but something could not be seen.
        Unproven = "unproven",
        /// A link is plain, a write was lost, or an intruder got in.
        Failed = "failed",
    }
}
words! {
    /// What was seen on a link. `unknown` is never `sealed`.
    SeenWord { Plain = "plain", Sealed = "sealed", Unknown = "unknown" }
}
words! { LinkKindWord { Galera = "galera", Ist = "ist", Sst = "sst", Replication = "replication", Client = "client" } }
words! {
    /// What a status row speaks of.
    StatusOf { Galera = "galera", Sst = "sst", Client = "client" }
}
words! {
    /// From least to most severe, so that the order of the values is the order of alarm.
    SeverityWord { Info = "info", Low = "low", Medium = "medium", High = "high", Critical = "critical" }
}
words! {
    /// What a file holds: see `docs/src/concepts/words.md`.
    RestVerdictWord {
        Plain = "plain",
        Encrypted = "encrypted",
        Mixed = "mixed",
        Empty = "empty",
        Never = "never",
        Unknown = "unknown",
    }
}
words! {
    /// What is about a server and no file of it.
    RestPlaceWord {
        /// What gets there can be read by whoever has the device.
        Plain = "plain",
        Encrypted = "encrypted",
        /// It is in memory, and gone with it.
        Memory = "memory",
        /// Nothing gets there, or it is where it should be.
        Ok = "ok",
        Unknown = "unknown",
    }
}
words! { RestUnitWord { Page = "page", Block = "block", File = "file" } }
words! {
    VerdictWord { Pass = "pass", Fail = "fail", Unknown = "unknown", NotApplicable = "not-applicable" }
}
words! {
    StepOutcome {
        Done = "done",
        /// The wanted state was there before; nothing was touched.
        Already = "already",
        Failed = "failed",
    }
}
words! { PhaseEnd { Ok = "ok", Failed = "failed", Skipped = "skipped" } }

impl From<&Seen> for SeenWord {
    fn from(seen: &Seen) -> Self {
        match seen {
            Seen::Plain => Self::Plain,
            Seen::Sealed => Self::Sealed,
            Seen::Unknown(_) => Self::Unknown,
        }
    }
}

impl From<LinkKind> for LinkKindWord {
    fn from(kind: LinkKind) -> Self {
        match kind {
            LinkKind::Galera => Self::Galera,
            LinkKind::Ist => Self::Ist,
            LinkKind::Sst => Self::Sst,
            LinkKind::Replication => Self::Replication,
            LinkKind::Client => Self::Client,
        }
    }
}

impl From<Severity> for SeverityWord {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Info => Self::Info,
            Severity::Low => Self::Low,
            Severity::Medium => Self::Medium,
            Severity::High => Self::High,
            Severity::Critical => Self::Critical,
        }
    }
}

impl From<&Verdict> for VerdictWord {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Fail(_) => Self::Fail,
            Verdict::Unknown(_) => Self::Unknown,
            Verdict::NotApplicable => Self::NotApplicable,
        }
    }
}
