//! Load: continuous writers that know what they were promised ([`writers`]), the audit of those promises
//! ([`audit`]), and a short workload that prices a setting ([`workload`]).

pub mod audit;
pub mod cpu;
pub mod energy;
pub mod experiments;
pub mod histogram;
pub mod load;
pub mod machine;
pub mod stats;
pub mod sysbench;
pub mod workload;
pub mod writers;

use serde::{Deserialize, Serialize};

/// One server that load goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    pub name: String,
    pub host: String,
    pub port: u16,
}

/// The schema that load writes into; made and marked by sealion, dropped by whoever made it.
pub const SCHEMA: &str = "sealion_demo";

/// Tables of the load. Idempotent.
pub const PREPARE: &[&str] = &[
    "CREATE DATABASE IF NOT EXISTS sealion_demo COMMENT 'made by sealion; may be dropped'",
    "CREATE TABLE IF NOT EXISTS sealion_demo.writes (writer INT UNSIGNED NOT NULL, seq BIGINT UNSIGNED NOT NULL, \
     node VARCHAR(64) NOT NULL, pad VARCHAR(255) NOT NULL, PRIMARY KEY (writer, seq)) ENGINE=InnoDB",
    "CREATE TABLE IF NOT EXISTS sealion_demo.accounts (id INT UNSIGNED NOT NULL PRIMARY KEY, balance BIGINT NOT NULL, \
     pad VARCHAR(120) NOT NULL) ENGINE=InnoDB",
];
