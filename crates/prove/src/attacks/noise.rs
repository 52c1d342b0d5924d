//! Bytes that only hurt: what a client does with them shows how it reads.

use crate::attack::{Attack, Family, Noise};

const BASE: Attack = Attack {
    family: Family::Noise,
    defence: "Escape what a server says before it is shown, and bound what is read.",
    tls: None,
    ..Attack::HONEST
};

pub(super) const MALICIOUS_ERROR: Attack = Attack {
    id: "malicious-error",
    does: "An error with control characters and markup in its text comes in place of the greeting.",
    noise: Noise::MaliciousError,
    ..BASE
};

pub(super) const TRUNCATED: Attack =
    Attack { id: "truncated", does: "The greeting ends in its middle.", noise: Noise::Truncated, ..BASE };

pub(super) const OVERSIZED: Attack = Attack {
    id: "oversized",
    does: "The greeting says that it has 16 MiB.",
    noise: Noise::Oversized,
    ..BASE
};
