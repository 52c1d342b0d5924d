//! Starts a new member and waits until it is Synced; on the way back it leaves, and the others go on.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use change::{Direction, StepCheck, StepError};
use model::{ClientsLook, LinkKind, LinkSight, Look, LookError, NodeName, Seen, Step, WireLook};
use serde::{Deserialize, Serialize};
use server::{Alive, GaleraFacts, GaleraState, NodeError, NodeView, TlsRules, WriteNode};

use super::round;
use crate::drain::{drained, hook};
use crate::files::{finish_placing, sound};
use crate::galera::join::Members;
use crate::galera::{alone, quorum, wait, weights};
use crate::proxies;
use crate::steps::{StepKind, fail, only_node, params};
use crate::tls_rules;
use crate::world::{World, sleep};

/// So long others may take to be in step again, before and after.
const SETTLE_MS_MAX: u64 = 15_000;
const SETTLE_POLL_MS: u64 = 500;

/// What health checks see of a node that is drained: Galera's state 2.
const SIGN: &str = "the node shows itself as Desynced to health checks";

pub struct Join;
pub const JOIN: Join = Join;

#[derive(Debug, Serialize, Deserialize)]
pub struct JoinParams {
    /// The members offer TLS to clients, so the new one must too.
    pub offers_tls: bool,
}

/// There from before the first start until it was Synced: it has served nobody yet.
pub fn marker(node: &dyn WriteNode) -> PathBuf {
    node.spec().state_dir.join("joining")
}

fn is_marked(node: &dyn WriteNode) -> Result<bool, StepError> {
    Ok(node.host().facts(&marker(node)).map_err(fail)?.is_some())
}

/// Whether nobody but its own step brings this joiner up, or takes it out: it was begun to be started and is down, or runs by itself.
/// `is_done`: that step came to its end once, and the node is a member.
pub fn is_left_to_its_step(world: &mut World<'_>, name: &NodeName, is_done: bool) -> bool {
    // Where that cannot be told, it may be on its way in.
    let is_marked = world.node(name).is_ok_and(|node| is_marked(node).unwrap_or(false));
    if is_done && !is_marked {
        return false;
    }
    let views = world.views();
    match views.iter().find(|(other, _)| other == name) {
        Some((_, Ok(view))) => {
            is_marked && Members::of(name, &views).is_some_and(|members| members.runs_alone(view).is_some())
        }
        Some((_, Err(error))) => error.is_down(),
        None => false,
    }
}

/// Why `view`'s server is not what a new member has to be; `None` if it is.
fn differs(view: &NodeView, members: &Members, offers_tls: bool) -> Option<String> {
    if let Some(why) = members.runs_alone(view) {
        return Some(why);
    }
    if !members.have(view) {
        return Some(format!(
            "it is in a {} component with the state UUID {}, the members have {}",
            view.cluster_status(),
            view.state_uuid(),
            members.state_uuid
        ));
    }
    let state = view.galera_state();
    if state != GaleraState::Strict {
        return Some(format!("it speaks {state}, not strict"));
    }
    if offers_tls && !view.offers_client_tls() {
        return Some("it offers no TLS to clients".into());
    }
    let profile = members.profile.filter(|_| offers_tls)?;
    TlsRules::in_use(view).differs_from(&TlsRules::of(profile, view.capabilities().flavour))
}

/// Every reason why `joiner` may not be started beside the members as they are.
fn reasons_against(joiner: &NodeName, views: &quorum::Views, _: &quorum::ArbitratorViews) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut has_donor = false;
    for (name, view) in views.iter().filter(|(name, _)| name != joiner) {
        match view {
            Err(error) => reasons.push(error.first_line()),
            Ok(view) => {
                if view.galera_state() != GaleraState::Strict {
                    reasons.push(format!(
                        "{name} speaks {}: a member that does not use TLS only, and serves one that does, crashes",
                        view.galera_state()
                    ));
                }
                if !view.is_primary() {
                    reasons.push(format!(
                        "{name} is not in the primary component (wsrep_cluster_status {})",
                        view.cluster_status()
                    ));
                }
                has_donor |= view.is_synced() && view.is_ready();
            }
        }
    }
    if !has_donor {
        reasons.push("no member is Synced, so none can be the donor".into());
    }
    reasons
}

/// Every reason why `joiner` may not be stopped: what is left without it must be a cluster that serves.
fn reasons_to_stay(
    joiner: &NodeName,
    views: &quorum::Views,
    arbitrators: &quorum::ArbitratorViews,
) -> Vec<String> {
    let others: Vec<_> = views.iter().filter(|(name, _)| name != joiner).collect();
    let mut reasons: Vec<String> = Vec::new();
    let mut serves = false;
    for (name, view) in others {
        match view {
            Err(error) => reasons.push(error.first_line()),
            Ok(view) if !view.is_primary() => reasons.push(format!(
                "{name} is not in the primary component (wsrep_cluster_status {})",
                view.cluster_status()
            )),
            Ok(view) => serves |= view.is_synced() && view.is_ready(),
        }
    }
    if !serves {
        reasons.push(format!("no node but {joiner} is Synced"));
    }
    if let Some((_, Ok(view))) = views.iter().find(|(name, _)| name == joiner)
        && view.local_state() == 2
        && view.variable("wsrep_desync") != Some("ON")
    {
        reasons.push(format!("{joiner} is the donor of a state transfer, or a backup is under way there"));
    }
    reasons.extend(weights::against_stop(joiner, views, arbitrators));
    reasons
}

/// The same, once the others had a while to be in step again.
fn settled(
    world: &mut World<'_>,
    name: &NodeName,
    reasons: fn(&NodeName, &quorum::Views, &quorum::ArbitratorViews) -> Vec<String>,
) -> Result<Vec<String>, StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let (views, arbitrators) = (world.views(), world.arbitrator_views());
        let found = reasons(name, &views, &arbitrators);
        if found.is_empty() || world.node(name)?.now_ms() - began > SETTLE_MS_MAX {
            return Ok(found);
        }
        sleep(world, SETTLE_POLL_MS);
    }
}

fn blocked(name: &NodeName, what: &str, reasons: &[String]) -> String {
    format!(
        "{name} may not be {what} now\n  why:  {}\n  next: fix that, then sealion resume",
        reasons.join("\n        ")
    )
}

fn members(world: &mut World<'_>, joiner: &NodeName) -> Result<Members, StepError> {
    Members::of(joiner, &world.views())
        .ok_or_else(|| fail(format!("no member answers, so nobody can say what {joiner} would join")))
}

fn forward(world: &mut World<'_>, name: &NodeName, offers_tls: bool) -> Result<StepCheck, StepError> {
    match world.node(name)?.view() {
        Ok(view) => {
            let members = members(world, name)?;
            // It serves what no member has: the step takes it out at once.
            if members.runs_alone(&view).is_some() && is_marked(world.node(name)?)? {
                return Ok(StepCheck::Ready);
            }
            if let Some((why, next)) = alone::stands_against(world.node(name)?, &members.state_uuid)? {
                return Ok(StepCheck::Blocked(format!(
                    "{name} runs, and is not the member that this plan makes\n  why:  {why}\n  next: {next}; then sealion resume"
                )));
            }
            return Ok(match differs(&view, &members, offers_tls) {
                None if view.is_synced() && !is_marked(world.node(name)?)? => {
                    StepCheck::AlreadyDone(format!("Synced, cluster size {}", view.cluster_size()))
                }
                // On its way in.
                None => StepCheck::Ready,
                Some(_) if !view.is_primary() && is_marked(world.node(name)?)? => StepCheck::Ready,
                Some(why) => StepCheck::Blocked(format!(
                    "{name} runs, and is not the member that this plan makes\n  why:  {why}\n  next: stop that server, then sealion resume"
                )),
            });
        }
        Err(NodeError::Down { .. }) => {}
        // It was started, and is on its way up.
        Err(NodeError::Silent { runs_unheard: true, .. }) if is_marked(world.node(name)?)? => {
            return Ok(StepCheck::Ready);
        }
        Err(error) => return Err(fail(error)),
    }
    let mut reasons = settled(world, name, reasons_against)?;
    if let Some(members) = Members::of(name, &world.views())
        && let Some((why, next)) = alone::stands_against(world.node(name)?, &members.state_uuid)?
    {
        return Ok(StepCheck::Blocked(format!(
            "{name} may not be started now\n  why:  {why}\n  next: {next}; then sealion resume"
        )));
    }
    match sound(world, name) {
        Ok(Some(_)) => {}
        Ok(None) => reasons.push(format!(
            "key, certificate and CA are not all in {} any more",
            world.node(name)?.spec().tls_dir.display()
        )),
        Err(StepError(why)) => reasons.push(format!("its key and certificate do not serve: {why}")),
    }
    Ok(if reasons.is_empty() {
        StepCheck::Ready
    } else {
        StepCheck::Blocked(blocked(name, "started", &reasons))
    })
}

fn back(world: &mut World<'_>, name: &NodeName) -> Result<StepCheck, StepError> {
    let reasons = match world.node(name)?.view() {
        // Its manager may start it again.
        Err(NodeError::Down { .. }) => vec![],
        // It has never been open for clients: it may go at any moment.
        Ok(view) if !view.is_ready() => vec![],
        Err(NodeError::Silent { .. }) if is_marked(world.node(name)?)? => vec![],
        Err(error @ NodeError::Silent { .. }) => {
            vec![format!("{}, and it may serve clients", error.first_line())]
        }
        Err(error) => return Err(fail(error)),
        Ok(_) => settled(world, name, reasons_to_stay)?,
    };
    Ok(if reasons.is_empty() {
        StepCheck::Ready
    } else {
        StepCheck::Blocked(blocked(name, "stopped", &reasons))
    })
}

fn enter(world: &mut World<'_>, step: &Step, name: &NodeName) -> Result<(), StepError> {
    let node = world.node(name)?;
    finish_placing(node)?;
    let path = marker(node);
    let state_dir = node.spec().state_dir.clone();
    let host = node.write_host();
    host.make_dir(&state_dir, 0o700, None)
        .and_then(|()| host.write(&path, b"not Synced yet\n", Some(0o600), None))
        .map_err(fail)?;
    let view = node.view();
    if !view.as_ref().is_ok_and(NodeView::is_ready) {
        kept_from_clients(world, step, name)?;
    }
    watch_transfer(world, name, matches!(view, Err(NodeError::Down { .. })))?;
    let members = members(world, name)?;
    let runs_alone = |view: &NodeView| members.runs_alone(view);
    let came = match world.node(name)?.view() {
        Ok(view) if runs_alone(&view).is_some() => Ok(()),
        Err(NodeError::Down { .. }) => round::start_patiently_unless(world, name, &runs_alone),
        _ => wait::synced_unless(world, name, &runs_alone).map(|_| ()),
    };
    // Whatever its files say, something else made it so.
    if let Ok(view) = world.node(name)?.view()
        && let Some(why) = runs_alone(&view)
    {
        return Err(taken_out(world, step, name, &view, &why));
    }
    came.map_err(|StepError(why)| StepError(why.replace("did not come back", "did not become a member")))?;
    let kept = round::kept(world.node(name)?)?;
    proxies::put_back(world, name, &kept)?;
    round::unmark(world, name)?;
    let node = world.node(name)?;
    alone::forget(node)?;
    node.write_host().remove(&path).map_err(fail)
}

/// Proxies that have it already send it nobody until it is Synced. Seen on MariaDB 10.11.19: its port is open some seconds before, greets as
/// ever, and answers `SELECT 1`, which is all that many health checks and pools ask, but transactions with error 1047.
fn kept_from_clients(world: &mut World<'_>, step: &Step, name: &NodeName) -> Result<(), StepError> {
    let before = round::kept(world.node(name)?)?;
    let kept = proxies::remember_of_joiner(world, name, before)?;
    if kept.is_empty() {
        return Ok(());
    }
    round::mark(world.node(name)?, &step.id.0, &kept)?;
    proxies::drain(world, name, &kept)
}

/// Who has begun a cluster of its own serves and takes writes that no member has: it is stopped at once, and that it ran is noted first.
fn taken_out(world: &mut World<'_>, step: &Step, name: &NodeName, view: &NodeView, why: &str) -> StepError {
    let noted = world.node(name).and_then(|node| alone::remember(node, view));
    let left = leave(world, step, name);
    let mut text = format!("{name} has begun a cluster of its own, and is no member\n  why:  {why}");
    match &left {
        Ok(()) => text += "; it was stopped again",
        Err(StepError(error)) => text += &format!("\n        it could not be stopped again: {error}"),
    }
    if let Err(StepError(error)) = noted {
        text += &format!("\n        that it ran so could not be noted there: {error}");
    }
    StepError(format!(
        "{text}\n  next: it was not started as its option files say: see for an option on its command line, a script that starts it, or \
         _WSREP_NEW_CLUSTER in the environment of its service (systemctl show-environment); correct that, then sealion resume"
    ))
}

/// So long a state transfer is captured: its first bytes tell, and a capture costs the donor's machine some of its time.
const TRANSFER_LOOK_MS_MAX: u64 = 20_000;
const TRANSFER_POLL_MS: u64 = 200;

/// Stands for the world's own look while that looks.
struct LooksAlready;

impl Look for LooksAlready {
    fn wire(&mut self, _: &WireLook) -> Result<Vec<LinkSight>, LookError> {
        Err(LookError::Failed { why: "a capture is under way already".into() })
    }
    fn clients(&mut self, _: &WireLook, meanwhile: &mut dyn FnMut()) -> Result<ClientsLook, LookError> {
        meanwhile();
        Err(LookError::Failed { why: "a capture is under way already".into() })
    }
}

/// Starts the server, where it is down, and captures what it receives first. What was seen is a note of the step.
///
/// # Errors
/// Cleartext was seen.
fn watch_transfer(world: &mut World<'_>, name: &NodeName, starts: bool) -> Result<(), StepError> {
    let mut look = std::mem::replace(&mut world.look, Box::new(LooksAlready));
    let mut came = Ok(());
    let looked = look.during(&mut || came = begin(world, name, starts));
    world.look = look;
    came?;
    // A connection that was tried before anybody listened carried nothing.
    let is_one = |sight: &&LinkSight| {
        sight.payload_bytes > 0
            && matches!(sight.link.kind, LinkKind::Sst | LinkKind::Ist)
            && [&sight.link.a, &sight.link.b].iter().any(|end| **end == *name.as_str())
    };
    let note = match &looked {
        Err(error) => format!("the state transfer was not captured ({error})"),
        Ok(sights) => {
            let all: Vec<&LinkSight> = sights.iter().filter(is_one).collect();
            if let Some(plain) = all.iter().find(|sight| sight.seen == Seen::Plain) {
                return Err(fail(format!(
                    "the state transfer to {name} was captured in cleartext ({})\n  why:  its option files or those of the donor set \
                     no TLS for the SST script\n  next: sealion undo takes {name} out again; sealion status shows what each node is set to do",
                    plain.link
                )));
            }
            let seen = |wanted: &Seen| all.iter().filter(|sight| sight.seen == *wanted).count();
            let unknown = all.iter().find_map(|sight| match &sight.seen {
                Seen::Unknown(why) => Some(why),
                _ => None,
            });
            match (unknown, seen(&Seen::Sealed)) {
                (Some(why), _) => format!("whether the state transfer used TLS was not seen: {why}"),
                (None, 0) => "no state transfer was captured".into(),
                (None, _) => {
                    let kinds: BTreeSet<String> =
                        all.iter().map(|sight| sight.link.kind.as_str().to_uppercase()).collect();
                    format!(
                        "only TLS was captured of the state transfer ({})",
                        kinds.into_iter().collect::<Vec<_>>().join(" and ")
                    )
                }
            }
        }
    };
    world.say(&format!("{name}: {note}"));
    world.notes.push(note);
    Ok(())
}

/// Until it is Synced, has ended, or was seen long enough.
fn begin(world: &mut World<'_>, name: &NodeName, starts: bool) -> Result<(), StepError> {
    if starts {
        wait::forgotten(world, name)?;
        world.node(name)?.start().map_err(fail)?;
    }
    let node = world.node(name)?;
    let began = node.now_ms();
    while node.now_ms() - began < TRANSFER_LOOK_MS_MAX {
        match node.view() {
            Ok(view) if view.is_synced() => break,
            Err(NodeError::Down { .. }) if node.alive() == Alive::No => break,
            _ => node.wait(Duration::from_millis(TRANSFER_POLL_MS)),
        }
    }
    Ok(())
}

fn leave(world: &mut World<'_>, step: &Step, name: &NodeName) -> Result<(), StepError> {
    let view = world.node(name)?.view();
    match &view {
        Ok(view) if view.is_ready() => {
            // Clients may have come to it by a proxy since it joined.
            let before = round::kept(world.node(name)?)?;
            let kept = if is_marked(world.node(name)?)? {
                proxies::remember_of_joiner(world, name, before)?
            } else {
                proxies::remember(world, name, before)?
            };
            round::mark(world.node(name)?, &step.id.0, &kept)?;
            if let Err(error) = proxies::drain(world, name, &kept) {
                round::serves_on(world, name, step)?;
                return Err(error);
            }
            round::desync(world.node(name)?, view)?;
            hook(world, name, step, true)?;
            let gone = drained(world, name, SIGN).and_then(|note| {
                world.say(&format!("{name}: {note}"));
                // Draining takes its time: another node may have failed since the pre-check.
                let reasons = settled(world, name, reasons_to_stay)?;
                if reasons.is_empty() { Ok(()) } else { Err(fail(blocked(name, "stopped", &reasons))) }
            });
            if let Err(error) = gone {
                round::serves_on(world, name, step)?;
                return Err(error);
            }
        }
        Ok(_) => {}
        Err(NodeError::Down { .. }) => {
            // One that has crashed may be started again by its manager, with the options and keys of the moment. A manager that
            // has nothing to stop may say so.
            let _ = world.node(name)?.stop();
            return has_left(world, name);
        }
        Err(NodeError::Silent { .. }) if is_marked(world.node(name)?)? => {}
        Err(error) => return Err(fail(error)),
    }
    let process = world.node(name)?.process();
    world.node(name)?.stop().map_err(fail)?;
    round::has_ended(world, name, process.as_ref())?;
    has_left(world, name)
}

/// The proxies have it as before, once their health checks see that it is gone.
fn has_left(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let kept = round::kept(world.node(name)?)?;
    let began = world.node(name)?.now_ms();
    while !kept.is_empty()
        && proxies::is_seen_up(world, name, &kept)?
        && world.node(name)?.now_ms() - began < world.limits.proxy_checks_ms
    {
        sleep(world, SETTLE_POLL_MS);
    }
    proxies::put_back(world, name, &kept)?;
    forget(world.node(name)?)
}

/// A node that has left keeps no marks.
fn forget(node: &mut dyn WriteNode) -> Result<(), StepError> {
    let (joining, drained) = (marker(node), round::marker(node));
    let host = node.write_host();
    host.remove(&joining).and_then(|()| host.remove(&drained)).map_err(fail)
}

impl StepKind for Join {
    fn kind(&self) -> &'static str {
        crate::galera::JOIN
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let JoinParams { offers_tls } = params(step)?;
        let name = only_node(step)?;
        match direction {
            Direction::Forward => forward(world, &name, offers_tls),
            Direction::Back => back(world, &name),
        }
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let name = only_node(step)?;
        match direction {
            Direction::Forward => enter(world, step, &name),
            Direction::Back => leave(world, step, &name),
        }
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let JoinParams { offers_tls } = params(step)?;
        let name = only_node(step)?;
        if direction == Direction::Back {
            return gone(world, &name);
        }
        let view = wait::synced(world, &name)?;
        let members = members(world, &name)?;
        if let Some(why) = differs(&view, &members, offers_tls) {
            return Err(fail(format!("{name} was started, but {why}")));
        }
        let rules = TlsRules::in_use(&view);
        let rules = tls_rules::seen_from_outside(world, &name, offers_tls.then_some(&rules))?;
        let mut note = format!("Synced, strict, cluster size {}{rules}", view.cluster_size());
        let missing = agreed(world, &name)?;
        if !missing.is_empty() {
            note += &format!("; not seen: {}", missing.join("; "));
        }
        Ok(note)
    }
}

/// Those that answer are one primary component with one history and one configuration. Who does not answer has failed by itself, is
/// named, and is no reason to take the new member out again.
fn agreed(world: &mut World<'_>, name: &NodeName) -> Result<Vec<String>, StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let views = world.views();
        let up = || views.iter().filter_map(|(_, view)| view.as_ref().ok());
        let all: BTreeSet<(&str, &str, &str)> =
            up().map(|view| (view.cluster_status(), view.state_uuid(), view.cluster_conf_id())).collect();
        if all.len() == 1 && up().all(NodeView::is_primary) {
            let missing = views.iter().filter_map(|(_, view)| view.as_ref().err());
            return Ok(missing.map(NodeError::first_line).collect());
        }
        if world.node(name)?.now_ms() - began > SETTLE_MS_MAX {
            return Err(fail(format!(
                "the nodes do not agree on the cluster: {}",
                quorum::standings(&views).join("; ")
            )));
        }
        sleep(world, SETTLE_POLL_MS);
    }
}

/// It does not run, and the others know that it is no member.
fn gone(world: &mut World<'_>, name: &NodeName) -> Result<String, StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let views = world.views();
        let is_down =
            views.iter().any(|(other, view)| other == name && view.as_ref().is_err_and(NodeError::is_down));
        if !is_down {
            return Err(fail(format!("{name} still runs, or whether it does cannot be determined")));
        }
        let size = Members::of(name, &views).map_or(0, |members| members.size);
        if quorum::is_no_member(name, &views) {
            return Ok(format!("stopped; the others are Primary, cluster size {size}"));
        }
        if world.node(name)?.now_ms() - began > SETTLE_MS_MAX {
            // It is not ours to mend: it was like that, or another node has failed since.
            return Ok(format!(
                "stopped; not every other node is Primary and knows that it has left (cluster size {size})"
            ));
        }
        sleep(world, SETTLE_POLL_MS);
    }
}
