//! Waiting for what a server does by itself, with upper bounds and a reason when it does not happen.

use std::time::Duration;

use change::StepError;
use model::NodeName;
use server::{NodeView, ReadNode};

use super::quorum;
use super::world::Transit;

const POLL_MS: u64 = 200;
/// A node is back when it was seen so this often in a row: a joiner can flicker.
const SYNCED_POLLS: u32 = 3;
const RECV_QUEUE_MAX: i64 = 10;
/// A process that is gone for this long after a start has ended; service managers fork and write the pid file late.
const GONE_MS_MAX: u64 = 8_000;

/// Until `name` is Synced in a primary component of `members`.
pub fn synced(transit: &mut Transit<'_>, name: &NodeName, members: usize) -> Result<NodeView, StepError> {
    let limit = transit.limits.sync_ms_max;
    let node = transit.node(name)?;
    let began = node.now_ms();
    let (mut good, mut gone_since, mut last) = (0, None, "it did not answer".to_owned());
    loop {
        match node.view() {
            Ok(view) => {
                gone_since = None;
                let here = view.is_primary()
                    && view.is_synced()
                    && view.is_ready()
                    && view.cluster_size() >= members
                    && view.recv_queue() < RECV_QUEUE_MAX;
                good = if here { good + 1 } else { 0 };
                if good >= SYNCED_POLLS {
                    return Ok(view);
                }
                last = format!(
                    "it is {} in a {} component of {}",
                    view.status("wsrep_local_state_comment").unwrap_or("not ready"),
                    view.cluster_status(),
                    view.cluster_size()
                );
            }
            Err(error) if error.is_down() => {
                good = 0;
                if node.process().is_none() {
                    let since = *gone_since.get_or_insert(node.now_ms());
                    if node.now_ms() - since > GONE_MS_MAX {
                        return Err(did_not_come_back(node.reading(), "its process has ended"));
                    }
                } else {
                    gone_since = None;
                }
            }
            Err(error) => return Err(StepError(error.to_string())),
        }
        if node.now_ms() - began > limit {
            return Err(did_not_come_back(
                node.reading(),
                &format!("{last} after {} s", limit / 1000),
            ));
        }
        node.wait(Duration::from_millis(POLL_MS));
    }
}

fn did_not_come_back(node: &mut dyn ReadNode, why: &str) -> StepError {
    let tail: Vec<String> = node
        .log_tail(200)
        .into_iter()
        .filter(|line| line.contains("[ERROR]") || line.contains("[Warning]"))
        .collect();
    let tail = tail[tail.len().saturating_sub(3)..].join("\n        ");
    StepError(format!(
        "{} did not come back\n  why:  {why}; its log says:\n        {tail}\n  next: sealion resume (tries again) or sealion undo (goes back)",
        node.name()
    ))
}

/// Out of service, and then until nobody works there any more.
pub fn drained(transit: &mut Transit<'_>, name: &NodeName) -> Result<String, StepError> {
    let limits = transit.limits;
    let node = transit.node(name)?;
    let began = node.now_ms();
    loop {
        let took = node.now_ms() - began;
        let seen = node.sessions().map_err(|error| StepError(error.to_string()))?;
        if took >= limits.drain_ms_min && seen.users == 0 {
            return Ok(format!("drained in {took} ms"));
        }
        if took >= limits.drain_ms_max {
            if seen.busy == 0 {
                return Ok(format!("{} idle sessions did not leave within {took} ms and will be cut", seen.users));
            }
            return Err(StepError(format!(
                "{name} could not be drained\n  why:  {} sessions still have work under way after {} s, though the node \
                 shows itself as Desynced to health checks\n  next: take it out of the proxy by hand (or set `drain` in \
                 the inventory), then sealion resume",
                seen.busy,
                took / 1000
            )));
        }
        node.wait(Duration::from_millis(100));
    }
}

/// Starts what is down, waits for the cluster to be whole by itself.
pub fn revive(transit: &mut Transit<'_>) -> Result<(), StepError> {
    let down: Vec<NodeName> = transit
        .views()
        .into_iter()
        .filter_map(|(name, view)| view.err().filter(server::NodeError::is_down).map(|_| name))
        .collect();
    for name in &down {
        transit.say(&format!("{name} is down: starting it with the file as it is"));
        let node = transit.node(name)?;
        // A node that is starting already, or that cannot start, is told by the wait below.
        if node.process().is_none() {
            let _ = node.start();
        }
    }
    let limit = transit.limits.recover_ms_max;
    let members = transit.nodes.len();
    let began = transit.nodes.first().map_or(0, |node| node.now_ms());
    loop {
        let views = transit.views();
        let whole = views.iter().all(|(_, view)| {
            view.as_ref().is_ok_and(|view| {
                // A node that sealion itself desynced is in state 2, and that is fine here.
                view.is_primary() && view.is_ready() && view.cluster_size() >= members && view.local_state() >= 2
            })
        });
        if whole {
            return Ok(());
        }
        let now = transit.nodes.first().map_or(0, |node| node.now_ms());
        if now - began > limit {
            return Err(StepError(format!(
                "the cluster did not come back by itself\n  why:  after {} s:\n        {}\n  next: start what is down. \
                 If no node is Primary, and you are sure that none is left out, bootstrap the one with the highest seqno \
                 by hand:\n        SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'     (sealion never does this)\n        \
                 then: sealion resume",
                limit / 1000,
                quorum::standings(&views).join("\n        ")
            )));
        }
        super::world::sleep(transit, 500);
    }
}
