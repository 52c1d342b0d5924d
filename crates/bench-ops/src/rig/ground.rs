//! What all kinds of servers of a lab are made on.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ::bench::experiments::Made;
use ::bench::load::tables::Plan;
use net::{ConnectOptions, Endpoint};
use site::OpsError;

use super::home::Home;
use crate::keys;

/// All experiments together need some twenty.
const SERVERS_MAX: u8 = 100;
/// Of servers that the tables fit into, as sysbench's do in the published runs.
pub const BUFFER_POOL: &str = "--innodb-buffer-pool-size=256M";

/// How a lab is made.
#[derive(Debug, Clone)]
pub struct LabPlan {
    /// Tables of every server in it.
    pub tables: Plan,
    /// What `net` needs to know of TLS, beside the mode.
    pub tls: net::TlsOptions,
    /// This process is in a namespace of its own.
    pub namespace: bool,
    /// A rough figure is enough: less data where that is what takes the time.
    pub is_quick: bool,
}

/// The plan of a lab, and the directory that everything in it lies in.
pub struct Ground {
    pub plan: LabPlan,
    /// Of directories and clusters; none is used twice.
    made: u8,
    home: Home,
}

impl Ground {
    pub fn new(plan: LabPlan, home: Home) -> Self {
        Self { plan, made: 0, home }
    }

    /// A number that nothing else in the lab has.
    ///
    /// # Errors
    /// The lab is full.
    pub fn number(&mut self) -> Result<u8, OpsError> {
        self.made += 1;
        if self.made > SERVERS_MAX {
            return Err(OpsError::internal("the lab is full", format!("it has {SERVERS_MAX} servers")));
        }
        Ok(self.made)
    }

    /// In the lab's own.
    pub fn dir(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// How a client logs in there.
    pub fn options(&self, at: SocketAddr) -> ConnectOptions {
        let mut options = ConnectOptions {
            tls: self.plan.tls.clone(),
            connect_timeout: Duration::from_secs(30),
            ..ConnectOptions::new(Endpoint::tcp(at.ip().to_string(), at.port()), "root")
        };
        options.tls.read_ahead = true;
        options.cache_metadata = true;
        "sealion bench".clone_into(&mut options.program_name);
        options
    }

    /// Of what is no single server of the lab, in a directory of this name.
    ///
    /// # Errors
    /// They cannot be made or written.
    pub fn plain_keys(&self, name: &str) -> Result<keys::Files, OpsError> {
        keys::make(&self.dir(name), Made::PLAIN.key, Made::PLAIN.issuers)
    }

    /// The plan's tables, with at least so many rows each.
    pub fn tables(&self, rows_min: u32) -> Plan {
        let asked = &self.plan.tables;
        Plan { table_size: asked.table_size.max(rows_min), ..asked.clone() }
    }
}

/// Makes and fills tables, and says so.
///
/// # Errors
/// Somebody wanted the end; what the server refuses.
pub fn fill(
    target: &ConnectOptions,
    tables: &Plan,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<(), OpsError> {
    let (count, plural) = (tables.tables, if tables.tables == 1 { "" } else { "s" });
    say(&format!("filling {count} table{plural} of {} rows", tables.table_size));
    let plain = ConnectOptions { tls: net::TlsOptions::with_mode(net::SslMode::Disabled), ..target.clone() };
    let filled = crate::prepare(&plain, tables, stop, &|_| {});
    if stop.load(Ordering::Relaxed) { Err(ended()) } else { filled }
}

/// Somebody wanted the end while the lab was made.
pub fn ended() -> OpsError {
    OpsError::cannot_look(
        "the lab was not completed; nothing was measured",
        "interrupted",
        "run it again; what was created has been removed",
    )
}
