//! Bytes that only hurt: what a client does with them shows how it reads.

use crate::attack::{Attack, Family, Noise};

const BASE: Attack = Attack {
    family: Family::Noise,
    defence: "Escape text from the server before it is displayed, and limit the size of what is read.",
    tls: None,
    ..Attack::HONEST
};

pub(super) const MALICIOUS_ERROR: Attack = Attack {
    id: "malicious-error",
    does: "An error with control characters and markup in its text replaces the greeting.",
    noise: Noise::MaliciousError,
    ..BASE
};

pub(super) const TRUNCATED: Attack = Attack {
    id: "truncated",
    does: "The connection closes in the middle of the greeting.",
    noise: Noise::Truncated,
    ..BASE
};

pub(super) const OVERSIZED: Attack = Attack {
    id: "oversized",
    does: "The greeting claims a length of 16 MiB.",
    noise: Noise::Oversized,
    ..BASE
};
