//! Waiting for what a server does by itself, with upper bounds and a reason when it does not happen.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use change::StepError;
use model::NodeName;
use server::{Alive, GaleraFacts, NodeError, NodeView, ReadNode, WriteNode};

use super::alone;
use super::linked::{Linked, linked};
use super::quorum;
use super::start_log::last_start;
use super::steps::arbitrator::SURE_MS;
use crate::files;
use crate::world::{World, sleep};

const POLL_MS: u64 = 200;
/// A node is back when it was seen so this often in a row: a joiner can flicker.
const SYNCED_POLLS: u32 = 3;
const RECV_QUEUE_MAX: i64 = 10;
/// A service that is not running for this long after a start has ended; managers take a moment to fork.
const GONE_MS_MAX: u64 = 2_000;

/// A wait that goes on because a state transfer does says so this often.
const TOLD_MS: u64 = 30_000;

/// Until `name` is Synced in a primary component with every node that runs. One that went down meanwhile is not waited
/// for: that is another node's failure, and is told as such. Time in which it receives a state transfer has a limit of its own.
pub fn synced(world: &mut World<'_>, name: &NodeName) -> Result<NodeView, StepError> {
    synced_unless(world, name, &|_| None)
}

/// The same, until `hopeless` says why nobody need wait any more.
pub fn synced_unless(
    world: &mut World<'_>,
    name: &NodeName,
    hopeless: &dyn Fn(&NodeView) -> Option<String>,
) -> Result<NodeView, StepError> {
    let limits = world.limits;
    let began = world.node(name)?.now_ms();
    let mut members = world.members();
    let (mut good, mut gone_since, mut last) = (0, None, "it did not answer".to_owned());
    // Since when nothing speaks for a transfer, and when somebody was last told of one.
    let (mut waited_since, mut told) = (began, began);
    loop {
        let node = world.node(name)?;
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
                if let Some(why) = hopeless(&view) {
                    return Err(did_not_come_back(world.node(name)?.reading(), &why));
                }
                if view.is_synced() && view.cluster_size() < members {
                    members = running(world);
                }
                last = format!(
                    "it is {} in a {} component of {}",
                    view.status("wsrep_local_state_comment").unwrap_or("not ready"),
                    view.cluster_status(),
                    view.cluster_size()
                );
            }
            Err(NodeError::Down { .. }) => {
                good = 0;
                let since = *gone_since.get_or_insert(node.now_ms());
                if node.now_ms() - since > GONE_MS_MAX {
                    return Err(did_not_come_back(node.reading(), "its process has ended"));
                }
            }
            // On its way up, or it hangs: the limit below tells.
            Err(error @ NodeError::Silent { .. }) => {
                (good, gone_since) = (0, None);
                last = error.first_line();
            }
            Err(error) => return Err(StepError(error.to_string())),
        }
        let now = world.node(name)?.now_ms();
        if now - waited_since > POLL_TRANSFER_MS
            && now - began <= limits.transfer_ms_max
            && let Some(sign) = receives(world, name)
        {
            waited_since = now;
            if now - told > TOLD_MS {
                told = now;
                world.say(&format!("{name} is not Synced yet after {} s: {sign}", (now - began) / 1000));
            }
        }
        let node = world.node(name)?;
        if node.now_ms() - waited_since > limits.sync_ms_max {
            let why = format!("{last} after {} s", (node.now_ms() - began) / 1000);
            return Err(did_not_come_back(node.reading(), &why));
        }
        node.wait(Duration::from_millis(POLL_MS));
    }
}

/// Whether a state transfer goes on is asked of the others this often.
const POLL_TRANSFER_MS: u64 = 5_000;

/// What speaks for a state transfer to `name`: its own state, or that the others count it as a member while its process runs and
/// is not open for clients yet. A donor is Synced again long before a joiner has prepared what it got.
fn receives(world: &mut World<'_>, name: &NodeName) -> Option<String> {
    if let Ok(view) = world.node(name).ok()?.view() {
        return matches!(view.local_state(), 1 | 3)
            .then(|| format!("it is {}", view.status("wsrep_local_state_comment").unwrap_or("joining")));
    }
    if world.node(name).ok()?.alive() != Alive::Yes {
        return None;
    }
    let views = world.views();
    let up: Vec<_> = views
        .iter()
        .filter(|(other, _)| other != name)
        .filter_map(|(other, view)| view.as_ref().ok().map(|view| (other, view)))
        .collect();
    let donor = up.iter().find(|(_, view)| view.local_state() == 2).map(|(other, _)| *other);
    let counts_it =
        up.iter().any(|(_, view)| view.is_primary() && view.cluster_size() > up.len() + view.arbitrators());
    match (donor, counts_it) {
        (Some(donor), _) => Some(format!("{donor} sends a state transfer")),
        (None, true) => Some("it is a member, and not open for clients yet".into()),
        (None, false) => None,
    }
}

/// How many nodes answer or may run.
fn running(world: &mut World<'_>) -> usize {
    let may_run = |node: &mut Box<dyn WriteNode + '_>| node.view().is_ok() || node.alive() != Alive::No;
    let nodes = world.nodes.iter_mut().map(may_run).filter(|may_run| *may_run).count();
    nodes + world.arbitrators.iter_mut().map(|one| one.alive()).filter(|alive| *alive != Alive::No).count()
}

fn did_not_come_back(node: &mut dyn ReadNode, why: &str) -> StepError {
    let tail: Vec<String> = node
        .log_tail(200)
        .into_iter()
        .filter(|line| line.contains("[ERROR]") || line.contains("[Warning]"))
        .collect();
    let tail = tail[tail.len().saturating_sub(3)..].join("\n        ");
    StepError(format!(
        "{} did not come back\n  why:  {why}; its log says:\n        {tail}\n  next: sealion resume (tries again) or sealion undo (reverts)",
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
/// One that crashes writes its stack too.
const CRASH_LOG_LINES: usize = 200;
/// A joiner says so when its donor has ended the transfer.
///
/// # Source
/// Seen on MariaDB 10.11.19 with Galera 26.4.23, beside compilers that took both processors: the donor's part of an IST ended with a protocol
/// error, and the next start was served. Where the two do not fit together (one with TLS, one without) every start ends so.
const UNSERVED: &str = "Will never receive state. Need to abort.";
/// A start that crashed while it joined, or was not served, is tried once more, as a service manager does.
pub const FAILED_STARTS_MAX: u32 = 2;
/// What the last start of a node ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// It passes by itself.
    Passes(&'static str),
    /// The same words, and whether another node is in a primary component cannot be determined.
    Unasked,
    /// The same words, and no other node is in a primary component: its old UUID stays in their view until they are one again.
    /// Seen on Galera 26.4.23: 16 of 16 starts ended so.
    Lingers,
    /// It was killed by a signal while it joined, and another node is in a primary component.
    Crashed,
    /// Its state transfer failed, and another node is in a primary component.
    Unserved,
}

/// Whether the last start ended with a crash. Of a log that does not reach back to its beginning, all that is there counts: a crash writes
/// more than is read.
///
/// # Source
/// Seen on MariaDB 10.11.19: a crash says "got signal 11 ;".
fn has_crashed(tail: &[String]) -> bool {
    last_start(tail).unwrap_or(tail).iter().any(|line| line.contains("got signal "))
}

/// The sign that the last start of a node ended with, if it has ended with one.
pub fn ended_with_sign(world: &mut World<'_>, name: &NodeName) -> Result<Option<Sign>, StepError> {
    let node = world.node(name)?;
    if node.alive() != Alive::No {
        return Ok(None);
    }
    let tail = node.log_tail(START_LOG_LINES);
    let Some(sign) = PASSING_SIGNS.into_iter().find(|sign| tail.iter().any(|line| line.contains(sign)))
    else {
        let log = node.log_tail(CRASH_LOG_LINES);
        let is_unserved = || last_start(&log).unwrap_or(&log).iter().any(|line| line.contains(UNSERVED));
        let sign =
            if has_crashed(&log) { Some(Sign::Crashed) } else { is_unserved().then_some(Sign::Unserved) };
        let views = world.views();
        let is_primary = |(other, view): &(NodeName, Result<NodeView, NodeError>)| {
            other != name && view.as_ref().is_ok_and(NodeView::is_primary)
        };
        return Ok(sign.filter(|_| views.iter().any(is_primary)));
    };
    let views = world.views();
    let mut others = views.iter().filter(|(other, _)| other != name).map(|(_, view)| view);
    Ok(Some(if others.clone().any(|view| view.as_ref().is_ok_and(NodeView::is_primary)) {
        Sign::Passes(sign)
    } else if others.any(|view| view.as_ref().is_err_and(|error| !error.is_down())) {
        Sign::Unasked
    } else {
        Sign::Lingers
    }))
}

/// Without one that says otherwise: Galera's own `evs.inactive_timeout`.
const INACTIVE_MS: u64 = 15_000;
/// More than this is not waited for, whatever the option says.
const INACTIVE_MS_MAX: u64 = 60_000;
/// From there until each member has the new view.
const VIEW_MS: u64 = 5_000;
/// A wait that is over so soon is not worth a line.
const UNTOLD_MS: u64 = 2_000;

/// So long members may count one that has ended: by then `evs.inactive_timeout` has thrown it out.
fn counted_ms_max(views: &quorum::Views) -> u64 {
    let set = views.iter().filter_map(|(_, view)| {
        let options = view.as_ref().ok()?.provider_options();
        let seconds: f64 =
            options.get("evs.inactive_timeout")?.strip_prefix("PT")?.strip_suffix('S')?.parse().ok()?;
        Some(u64::try_from(Duration::try_from_secs_f64(seconds).ok()?.as_millis()).unwrap_or(u64::MAX))
    });
    set.max().unwrap_or(INACTIVE_MS).min(INACTIVE_MS_MAX) + VIEW_MS
}

/// Before a start: until no member counts the node that has ended, as far as they say. Who counts it takes the new process for the old one.
///
/// # Source
/// Seen on Galera 26.4.23, two nodes and garbd, under load: a node that was started while the others still had its old UUID ended with "A
/// node with the same UUID already exists in the cluster", garbd with signal 11, and the quorum was lost. Five members under load: one that
/// was started 0.3 s after its clean shutdown, while the others were agreeing on the view without it, got signal 11 itself.
pub fn forgotten(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let began = world.node(name)?.now_ms();
    let mut is_told = false;
    loop {
        let views = world.views();
        let Some(why) = quorum::still_counted_by(name, &views) else { return Ok(()) };
        let took = world.node(name)?.now_ms() - began;
        if took > counted_ms_max(&views) {
            world.say(&format!("{name} is started, although {why} after {} s", took / 1000));
            return Ok(());
        }
        if took > UNTOLD_MS && !is_told {
            is_told = true;
            world.say(&format!("{name} has ended, and {why}: it is started when they have forgotten it"));
        }
        sleep(world, POLL_MS);
    }
}

/// What a person can do about [`Sign::Lingers`].
pub fn lingers(name: &NodeName) -> String {
    format!(
        "note: the others are not Primary and still list {name} by its old UUID, so starting it again does not help. First \
         bring them back to a primary component: see which has the highest seqno (sealion status), and if you are sure that \
         no other node is Primary, there: SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'     (sealion never does this)"
    )
}

/// What is said before start number `start`.
pub fn start_again(name: &NodeName, sign: &str, start: u32) -> String {
    format!("{name} ended at its start (\"{sign}\"), which passes: start {start} of {PASSING_STARTS_MAX}")
}

/// A server that ends at once is started so often; one that gives up on finding the others may find them later.
pub const STARTS_MAX: u32 = 3;
const START_AGAIN_MS: u64 = 10_000;
/// A server that says nothing for so long is not just stalled. Stalls of a whole machine of 6 s were seen.
const SILENT_MS_MAX: u64 = 20_000;

/// Starts what is down, waits for the cluster to be whole by itself.
///
/// It ends well too when the rest is a primary component and a node just does not start: that node's own step mends it (its
/// file may be the reason), and every other step's pre-check refuses while a member is missing.
/// A server that is on its way up may refuse for a moment; one that goes on refusing does not change its mind.
const REFUSED_MS_MAX: u64 = 10_000;

/// Why there is nothing to wait for: a node that runs does not let us in.
fn shut_out(
    views: &[(NodeName, Result<server::NodeView, NodeError>)],
    since: &mut BTreeMap<NodeName, u64>,
    now_ms: u64,
) -> Option<String> {
    for (name, view) in views {
        let Err(error @ NodeError::Refused { .. }) = view else {
            since.remove(name);
            continue;
        };
        if now_ms - *since.entry(name.clone()).or_insert(now_ms) > REFUSED_MS_MAX {
            return Some(format!(
                "{name} does not let sealion in\n  why:  {}\n  next: check the account of the inventory's [login]: its password, and whether it \
                 requires TLS by now, which counts over the unix socket too; then the same command again",
                error.unnamed()
            ));
        }
    }
    None
}

/// Starts arbitrators that are down; those that were started in vain.
fn start_arbitrators(world: &mut World<'_>, starts: &mut BTreeMap<NodeName, (u32, u64)>) -> Vec<NodeName> {
    let mut hopeless = Vec::new();
    let mut said = Vec::new();
    for arbitrator in &mut world.arbitrators {
        if arbitrator.alive() != Alive::No {
            continue;
        }
        let (name, at) = (arbitrator.name().clone(), arbitrator.now_ms());
        let (count, last) = starts.get(&name).copied().unwrap_or((0, 0));
        if count > 0 && at.saturating_sub(last) < START_AGAIN_MS {
            continue;
        }
        if count >= STARTS_MAX {
            hopeless.push(name);
            continue;
        }
        said.push(format!("{name} is down: starting it with the file as it is"));
        starts.insert(name, (count + 1, at));
        // What cannot be written now is told by the step that needs it.
        let _ = files::finish_placing(&mut **arbitrator);
        let _ = arbitrator.start();
    }
    for line in &said {
        world.say(line);
    }
    hopeless
}

pub fn revive(world: &mut World<'_>) -> Result<(), StepError> {
    let limit = world.limits.recover_ms_max;
    // Who is no member yet is started by its own step only, and who has run in a cluster of its own by nobody.
    let mut apart: BTreeSet<NodeName> = world.joiner.clone().into_iter().collect();
    for (name, why) in alone::kept_out(world) {
        world.say(&format!("{name} is down and is not started: {why}"));
        apart.insert(name);
    }
    let members = world.members() - apart.len();
    let now = |world: &World<'_>| world.nodes.first().map_or(0, |node| node.now_ms());
    let began = now(world);
    let mut starts: BTreeMap<NodeName, (u32, u64)> = BTreeMap::new();
    let mut lingering: BTreeSet<NodeName> = BTreeSet::new();
    let mut silent_since: BTreeMap<NodeName, u64> = BTreeMap::new();
    let mut refused_since: BTreeMap<NodeName, u64> = BTreeMap::new();
    let mut told = began;
    loop {
        let mut views = world.views();
        views.retain(|(name, _)| !apart.contains(name));
        // One that was killed a moment ago is still counted.
        let is_sure = world.arbitrators.iter_mut().all(|one| {
            let at = starts.get(one.name()).map(|(_, at)| *at);
            one.alive() != Alive::No && at.is_none_or(|at| one.now_ms().saturating_sub(at) >= SURE_MS)
        });
        let whole = is_sure
            && views.iter().all(|(_, view)| {
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
        let mut hopeless = start_arbitrators(world, &mut starts);
        for (name, view) in &views {
            if !view.as_ref().is_err_and(server::NodeError::is_down) {
                continue;
            }
            let at = now(world);
            let (count, last) = starts.get(name).copied().unwrap_or((0, 0));
            if count > 0 && at - last < START_AGAIN_MS {
                continue;
            }
            // One that was killed a moment ago would be taken for the one that it was.
            let is_counted = quorum::still_counted_by(name, &views).is_some();
            if is_counted && count == 0 && at - began <= counted_ms_max(&views) {
                continue;
            }
            let sign = if count > 0 { ended_with_sign(world, name)? } else { None };
            let passing = match sign {
                Some(Sign::Passes(sign)) => Some(sign),
                Some(Sign::Lingers) => {
                    lingering.insert(name.clone());
                    None
                }
                Some(Sign::Unasked | Sign::Crashed | Sign::Unserved) | None => None,
            };
            if count >= if passing.is_some() { PASSING_STARTS_MAX } else { STARTS_MAX } {
                hopeless.push(name.clone());
                continue;
            }
            world.say(&passing.map_or_else(
                || format!("{name} is down: starting it with the file as it is"),
                |sign| start_again(name, sign, count + 1),
            ));
            starts.insert(name.clone(), (count + 1, at));
            let node = world.node(name)?;
            // What cannot be written now is told by the step that needs it.
            let _ = files::finish_placing(node);
            let _ = node.start();
        }
        if let Some(why) = shut_out(&views, &mut refused_since, now(world)) {
            return Err(StepError(why));
        }
        // Somebody of whom nothing is known: the steps that need to know are blocked, each with its reason. Unless it is on its
        // way up, there is nothing to wait for here.
        let mut unknown = Vec::new();
        let mut is_one_coming = false;
        for (name, view) in &views {
            let Err(NodeError::Silent { runs_unheard, .. }) = view else {
                silent_since.remove(name);
                continue;
            };
            let at = now(world);
            let since = *silent_since.entry(name.clone()).or_insert(at);
            let silent_ms = at - since;
            let gets_transfer = silent_ms > SILENT_MS_MAX && receives(world, name).is_some();
            // Started by sealion, or by somebody a moment ago. Who is neither and is silent may be out of our reach for ever.
            let may_come = *runs_unheard || starts.contains_key(name);
            let is_coming = may_come
                && (silent_ms <= world.limits.sync_ms_max
                    || gets_transfer && at - began <= world.limits.transfer_ms_max);
            is_one_coming |= is_coming;
            if silent_ms > SILENT_MS_MAX && !is_coming && !gets_transfer {
                unknown.push(name.clone());
            }
            if is_coming && at - told > TOLD_MS {
                told = at;
                world.say(&format!(
                    "{name} has not answered for {} s; still waiting for it to start",
                    silent_ms / 1000
                ));
            }
        }
        let is_well = |view: &Result<NodeView, NodeError>| {
            view.as_ref().is_ok_and(|view| view.is_primary() && view.is_ready())
        };
        // An arbitrator that is left by itself is no primary component.
        let rest_is_well = views.iter().any(|(_, view)| is_well(view))
            && views
                .iter()
                .all(|(name, view)| hopeless.contains(name) || unknown.contains(name) || is_well(view));
        if !unknown.is_empty() && hopeless.len() + unknown.len() < members && rest_is_well {
            for name in unknown.iter().chain(&hopeless) {
                world.say(&format!("{name} does not answer; the others are a primary component"));
            }
            return Ok(());
        }
        if !hopeless.is_empty() && hopeless.len() < members && rest_is_well {
            for name in &hopeless {
                world.say(&format!("{name} does not start; the others are a primary component without it"));
            }
            return Ok(());
        }
        if now(world) - began > limit && !is_one_coming {
            return Err(StepError(format!(
                "the cluster did not come back by itself\n  why:  after {} s:\n        {}\n  next: start what is down. \
                 If no node is Primary, and you are sure that none is left out, bootstrap the one with the highest seqno \
                 by hand:\n        SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'     (sealion never does this)\n        \
                 then: sealion resume{}",
                limit / 1000,
                standings(world, &views).join("\n        "),
                lingering
                    .iter()
                    .map(lingers)
                    .map(|text| ["\n  ", &text].concat())
                    .collect::<Vec<_>>()
                    .concat()
            )));
        }
        sleep(world, 500);
    }
}

/// Where each node and arbitrator stands, with the seqno of those that are down, too, as far as their files tell.
fn standings(world: &mut World<'_>, views: &quorum::Views) -> Vec<String> {
    let mut lines = quorum::standings(views);
    for (line, (name, view)) in lines.iter_mut().zip(views) {
        if view.is_err()
            && let Ok(node) = world.node(name)
        {
            *line += &format!("; {}", seqno_on_disk(node));
        }
    }
    for (name, view) in world.arbitrator_views() {
        lines.push(match view {
            Err(error) => format!("{name} (arbitrator): {}", error.first_line()),
            Ok(view) => {
                let with_members = match linked(world, &name) {
                    Linked::Yes(_) => "connected with members".to_owned(),
                    Linked::No => "connected with no member".to_owned(),
                    Linked::CannotTell(why) => {
                        format!("whether it is connected with members was not seen ({why})")
                    }
                };
                format!("{name} (arbitrator): runs, {with_members}, speaks {}", view.state())
            }
        });
    }
    lines
}

/// # Source
/// Galera writes grastate.dat at a clean stop; while it runs, and so after a crash, the seqno there is -1.
fn seqno_on_disk(node: &mut dyn WriteNode) -> String {
    const GRASTATE_BYTES_MAX: u64 = 4096;
    let unknown = "seqno not known: `mariadbd --wsrep-recover` prints it there";
    let Some(dir) = server::owner::datadir(node.reading()) else { return unknown.to_owned() };
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
