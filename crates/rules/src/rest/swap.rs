//! Swap space is encrypted.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const SWAP: FactRule = FactRule {
    id: "SL4213",
    title: "Swap space is encrypted",
    severity: Severity::Medium,
    references: &["NIST SP 800-111 sec. 4"],
    explanation: "Pages of the server's memory, with rows and keys, are written to swap as they are and stay there.",
    remedy: "encrypted swap (crypttab with a random key), swapoff -a, or memlock=ON in the [mysqld] group of the option file",
    fact: &rest::SWAP,
    judge: crate::verdicts::absent,
};
