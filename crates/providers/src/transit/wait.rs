//! Waiting for what a server does by itself, with upper bounds and a reason when it does not happen.

use std::collections::BTreeMap;
use std::time::Duration;

use change::StepError;
use model::NodeName;
use server::{NodeView, ReadNode, WriteNode};

use super::owner;
use super::quorum;
use super::steps::files;
use super::world::Transit;

const POLL_MS: u64 = 200;
/// A node is back when it was seen so this often in a row: a joiner can flicker.
const SYNCED_POLLS: u32 = 3;
const RECV_QUEUE_MAX: i64 = 10;
/// A service that is not running for this long after a start has ended; managers take a moment to fork.
const GONE_MS_MAX: u64 = 2_000;

/// Until `name` is Synced in a primary component with every node that runs. One that went down meanwhile is not waited
/// for: that is another node's failure, and is told as such.
pub fn synced(transit: &mut Transit<'_>, name: &NodeName) -> Result<NodeView, StepError> {
    let limit = transit.limits.sync_ms_max;
    let began = transit.node(name)?.now_ms();
    let mut members = transit.nodes.len();
    let (mut good, mut gone_since, mut last) = (0, None, "it did not answer".to_owned());
    loop {
        let node = transit.node(name)?;
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
                if view.is_synced() && view.cluster_size() < members {
                    members = running(transit);
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
                // The pid file comes late: only the service manager knows whether a silent server is on its way up.
                if node.alive() == Some(false) {
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
        let node = transit.node(name)?;
        if node.now_ms() - began > limit {
            return Err(did_not_come_back(node.reading(), &format!("{last} after {} s", limit / 1000)));
        }
        node.wait(Duration::from_millis(POLL_MS));
    }
}

/// How many nodes answer or are starting.
fn running(transit: &mut Transit<'_>) -> usize {
    transit
        .nodes
        .iter_mut()
        .filter_map(|node| (node.view().is_ok() || node.alive() == Some(true)).then_some(()))
        .count()
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

/// A node that ended at its start with one of these is started again: nothing is wrong with its options.
///
/// # Source
/// Seen on Galera 26.4.23 under load, beside dynamic members: a link that is guessed late is dialled twice, the member
/// takes the second call for a stranger with the same UUID, and the joiner gives up with error 131. The next start
/// makes a new UUID and joins. Three starts in a row were seen to end so.
const PASSING_SIGNS: [&str; 1] = ["A node with the same UUID already exists in the cluster"];
/// A node that ends with a passing sign is started so often.
pub const PASSING_STARTS_MAX: u32 = 8;
/// What one start writes into its log before it gives up; an older sign is not this start's.
const START_LOG_LINES: usize = 60;

/// What the last start of a node ended with, if it has ended and that passes by itself.
pub fn passing_sign(node: &mut dyn WriteNode) -> Option<&'static str> {
    if node.alive() != Some(false) {
        return None;
    }
    let tail = node.log_tail(START_LOG_LINES);
    PASSING_SIGNS.into_iter().find(|sign| tail.iter().any(|line| line.contains(sign)))
}

/// What is said before start number `start`.
pub fn start_again(name: &NodeName, sign: &str, start: u32) -> String {
    format!("{name} ended at its start (\"{sign}\"), which passes: start {start} of {PASSING_STARTS_MAX}")
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
                return Ok(format!(
                    "{} idle sessions did not leave within {took} ms and will be cut",
                    seen.users
                ));
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

/// A server that ends at once is started so often; one that gives up on finding the others may find them later.
const STARTS_MAX: u32 = 3;
const START_AGAIN_MS: u64 = 10_000;

/// Starts what is down, waits for the cluster to be whole by itself.
///
/// It ends well too when the rest is a primary component and a node just does not start: that node's own step mends it (its
/// file may be the reason), and every other step's pre-check refuses while a member is missing.
pub fn revive(transit: &mut Transit<'_>) -> Result<(), StepError> {
    let limit = transit.limits.recover_ms_max;
    let members = transit.nodes.len();
    let now = |transit: &Transit<'_>| transit.nodes.first().map_or(0, |node| node.now_ms());
    let began = now(transit);
    let mut starts: BTreeMap<NodeName, (u32, u64)> = BTreeMap::new();
    loop {
        let views = transit.views();
        let whole = views.iter().all(|(_, view)| {
            view.as_ref().is_ok_and(|view| {
                // A node that sealion itself desynced is in state 2, and that is fine here.
                view.is_primary()
                    && view.is_ready()
                    && view.cluster_size() >= members
                    && view.local_state() >= 2
            })
        });
        if whole {
            return Ok(());
        }
        let mut hopeless = Vec::new();
        for (name, view) in &views {
            if !view.as_ref().is_err_and(server::NodeError::is_down) {
                continue;
            }
            let at = now(transit);
            let (count, last) = starts.get(name).copied().unwrap_or((0, 0));
            let alive = transit.node(name)?.alive();
            if alive == Some(true) || (count > 0 && at - last < START_AGAIN_MS) {
                continue;
            }
            let passing = if count > 0 { passing_sign(transit.node(name)?) } else { None };
            let may = match (alive, passing) {
                // When nobody can say whether it runs, it is started once and told by the limit below.
                (None, _) => 1,
                (Some(_), Some(_)) => PASSING_STARTS_MAX,
                (Some(_), None) => STARTS_MAX,
            };
            if count >= may {
                hopeless.push(name.clone());
                continue;
            }
            transit.say(&passing.map_or_else(
                || format!("{name} is down: starting it with the file as it is"),
                |sign| start_again(name, sign, count + 1),
            ));
            starts.insert(name.clone(), (count + 1, at));
            let node = transit.node(name)?;
            // What cannot be written now is told by the step that needs it.
            let _ = files::finish_placing(node);
            let _ = node.start();
        }
        let rest_is_well = views.iter().all(|(name, view)| {
            hopeless.contains(name) || view.as_ref().is_ok_and(|view| view.is_primary() && view.is_ready())
        });
        if !hopeless.is_empty() && hopeless.len() < views.len() && rest_is_well {
            for name in &hopeless {
                transit.say(&format!("{name} does not start; the others are a primary component without it"));
            }
            return Ok(());
        }
        if now(transit) - began > limit {
            return Err(StepError(format!(
                "the cluster did not come back by itself\n  why:  after {} s:\n        {}\n  next: start what is down. \
                 If no node is Primary, and you are sure that none is left out, bootstrap the one with the highest seqno \
                 by hand:\n        SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'     (sealion never does this)\n        \
                 then: sealion resume",
                limit / 1000,
                standings(transit, &views).join("\n        ")
            )));
        }
        super::world::sleep(transit, 500);
    }
}

/// Where each node stands, with the seqno of those that are down, too, as far as their files tell.
fn standings(transit: &mut Transit<'_>, views: &quorum::Views) -> Vec<String> {
    let mut lines = quorum::standings(views);
    for (line, (name, view)) in lines.iter_mut().zip(views) {
        if view.is_err()
            && let Ok(node) = transit.node(name)
        {
            *line += &format!("; {}", seqno_on_disk(node));
        }
    }
    lines
}

/// # Source
/// Galera writes grastate.dat at a clean stop; while it runs, and so after a crash, the seqno there is -1.
fn seqno_on_disk(node: &mut dyn WriteNode) -> String {
    const GRASTATE_BYTES_MAX: u64 = 4096;
    let unknown = "seqno not known: `mariadbd --wsrep-recover` prints it there";
    let Some(dir) = owner::datadir(node) else { return unknown.to_owned() };
    let bytes =
        node.host().read(&dir.join("grastate.dat"), GRASTATE_BYTES_MAX).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match text.lines().find_map(|line| line.strip_prefix("seqno:")).map(str::trim) {
        Some(seqno) if seqno != "-1" => format!("seqno {seqno} (grastate.dat)"),
        Some(_) => {
            "seqno -1 (grastate.dat; it did not stop cleanly, `mariadbd --wsrep-recover` prints the true one)"
                .to_owned()
        }
        None => unknown.to_owned(),
    }
}
