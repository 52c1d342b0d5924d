//! How many connections were made to an address, over all runs: servers count those that end before a login, and after
//! `max_connect_errors` of them (100 by default) they turn the host away, for everybody on it (error 1129).
//!
//! Source: MySQL manual, "DNS Lookups and the Host Cache"; seen on MariaDB 10.11.19 and MySQL 9.7.4: the count goes back
//! only with a good login from the same host, or when the host cache is flushed. 127.0.0.0/8 and ::1 are never counted.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;

use model::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

/// A good login from the same host has most likely come in between, or somebody has noticed.
const FORGET_AFTER_MS: u64 = 24 * 3600 * 1000;
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Spent {
    connections: u32,
    last_unix_ms: u64,
}

/// What was spent, by address.
#[derive(Debug, Default)]
pub struct Budget {
    path: Option<PathBuf>,
    spent: BTreeMap<IpAddr, Spent>,
}

impl Budget {
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// `$XDG_STATE_HOME/sealion/connections.json`. What cannot be read is taken for nothing spent: the file is a courtesy to
    /// servers, and no scan fails for it.
    pub fn open() -> Self {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let state = std::env::var_os("XDG_STATE_HOME")
            .map(PathBuf::from)
            .or_else(|| home.map(|home| home.join(".local/state")));
        let Some(path) = state.map(|state| state.join("sealion/connections.json")) else {
            return Self::in_memory();
        };
        let bytes = host::ReadHost::read(&host::Local, &path, FILE_BYTES_MAX).ok().flatten();
        let mut spent: BTreeMap<IpAddr, Spent> =
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let now = SystemClock.unix_ms();
        spent.retain(|_, one| now.saturating_sub(one.last_unix_ms) < FORGET_AFTER_MS);
        Self { path: Some(path), spent }
    }

    /// Connections that may still be made to `address` of `allowed`.
    pub fn left(&self, address: IpAddr, allowed: u32) -> u32 {
        if address.to_canonical().is_loopback() {
            return u32::MAX;
        }
        allowed.saturating_sub(self.spent.get(&address).map_or(0, |one| one.connections))
    }

    pub fn spend(&mut self, address: IpAddr, connections: u32) {
        if address.to_canonical().is_loopback() || connections == 0 {
            return;
        }
        let one = self.spent.entry(address).or_insert(Spent { connections: 0, last_unix_ms: 0 });
        one.connections = one.connections.saturating_add(connections);
        one.last_unix_ms = SystemClock.unix_ms();
    }

    /// Keeps it for the next run.
    ///
    /// # Errors
    /// Why it could not be written.
    pub fn save(&self) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let text = serde_json::to_string(&self.spent).map_err(|error| error.to_string())?;
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        }
        trust::file::write_atomically(path, text.as_bytes(), 0o600, None).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_costs_nothing_and_others_add_up() {
        let mut budget = Budget::in_memory();
        let (near, far): (IpAddr, IpAddr) =
            ("127.77.1.1".parse().expect("ip"), "192.0.2.1".parse().expect("ip"));
        for address in [near, far] {
            budget.spend(address, 30);
            budget.spend(address, 5);
        }
        assert_eq!((budget.left(near, 40), budget.left(far, 40), budget.left(far, 30)), (u32::MAX, 5, 0));
    }
}
