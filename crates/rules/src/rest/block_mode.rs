//! AES_ENCRYPT does not use ECB by default.

use model::Severity;
use model::facts::rest;

use crate::FactRule;

pub const BLOCK_MODE: FactRule = FactRule {
    id: "SL4012",
    title: "AES_ENCRYPT does not use ECB by default",
    severity: Severity::Low,
    references: &["MySQL manual: block_encryption_mode", "NIST SP 800-38A"],
    explanation: "In ECB equal blocks of cleartext are equal blocks of ciphertext, so that patterns and equal values show. AES_ENCRYPT uses what block_encryption_mode says. Changing it changes what AES_DECRYPT reads: statements that decrypt old values must name the old mode.",
    remedy: "block_encryption_mode=aes-256-cbc in the [mysqld] group of the option file, when every value was encrypted anew with an initialization vector",
    fact: &rest::BLOCK_MODE_ECB,
    judge: crate::verdicts::absent,
};
