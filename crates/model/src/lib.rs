//! The words of sealion as types (docs/src/concepts/words.md). No I/O, no clock of its own, no database.
//!
//! Start reading at [`observation`]: everything a command says rests on observations.

pub mod account;
pub mod clock;
pub mod fact;
pub mod facts;
pub mod finding;
mod hex;
pub mod link;
pub mod look;
pub mod observation;
pub mod plan;
pub mod profile;
pub mod run;
pub mod target;
pub mod text;

pub use clock::{Clock, SystemClock};
pub use fact::Fact;
pub use finding::{Finding, Rule, Severity, Verdict};
pub use hex::hex;
pub use link::{Evidence, Link, LinkKind, LinkSight, Seen};
pub use look::{ClientSight, ClientsLook, Handshake, Look, LookError, Transport, Unseen, WireLook};
pub use observation::{Observation, ObservationId, Observations, Source, Value};
pub use plan::{Change, Need, Noun, Plan, PlanPart, Step, StepId, StepNature, Verb};
pub use profile::TlsProfile;
pub use run::{Phase, Run};
pub use target::NodeName;
