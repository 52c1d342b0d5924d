//! Was every promise kept? Reads every node, not only the one that promised.

use std::collections::HashSet;

use net::{Client, ConnectOptions, Endpoint, NetError};

use crate::Target;
use crate::writers::Ack;

/// What the audit of one node found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeAudit {
    pub node: String,
    pub rows: u64,
    /// Acknowledged, and not there.
    pub lost: Vec<(u32, u64)>,
}

/// Reads all rows of all nodes, after each has applied what the cluster had committed (wsrep_sync_wait).
pub fn audit(targets: &[Target], login: &ConnectOptions, acks: &[Ack]) -> Result<Vec<NodeAudit>, NetError> {
    targets
        .iter()
        .map(|target| {
            let options =
                ConnectOptions { endpoint: Endpoint::tcp(target.host.clone(), target.port), ..login.clone() };
            let mut client = Client::connect(&options)?;
            client.execute("SET SESSION wsrep_sync_wait=1")?;
            let mut there: HashSet<(u32, u64)> = HashSet::with_capacity(acks.len());
            client.query_each(&format!("SELECT writer, seq FROM {}.writes", crate::SCHEMA), |row| {
                let mut numbers = row.map(|cell| {
                    cell.ok().flatten().and_then(|cell| std::str::from_utf8(cell).ok()?.parse::<u64>().ok())
                });
                if let (Some(Some(writer)), Some(Some(seq))) = (numbers.next(), numbers.next()) {
                    there.insert((u32::try_from(writer).unwrap_or(u32::MAX), seq));
                }
            })?;
            let lost =
                acks.iter().map(|ack| (ack.writer, ack.seq)).filter(|key| !there.contains(key)).collect();
            Ok(NodeAudit { node: target.name.clone(), rows: there.len() as u64, lost })
        })
        .collect()
}
