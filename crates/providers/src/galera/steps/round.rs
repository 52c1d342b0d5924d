//! One node of a round: the file, then drained, stopped, started, and back in the cluster.

use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use host::ProcessFacts;
use model::{NodeName, Step};
use serde::{Deserialize, Serialize};
use server::{AdminState, GaleraFacts, NodeError, NodeView, WriteNode};

use crate::drain::{drained, hook};
use crate::edit::{FileEdit, FileStand};
use crate::files::sound;
use crate::galera::{quorum, wait};
use crate::proxies::{self, Kept};
use crate::replication::relay::{self, Action};
use crate::rest::stopped::{self, StoppedGate, contrary};
use crate::steps::{StepKind, fail, only_node, params};
use crate::tls_rules::{self, RulesChange};
use crate::variables::{self, VariableChange};
use crate::world::{World, sleep};

/// So long the other nodes may take to be in step again before a restart is refused.
const SETTLE_MS_MAX: u64 = 15_000;
const SETTLE_POLL_MS: u64 = 500;
/// A process may outlive the command that has stopped it by so long.
const ENDED_MS_MAX: u64 = 10_000;
const ENDED_POLL_MS: u64 = 100;

/// What health checks see of a node that is drained: Galera's state 2.
const SIGN: &str = "the node shows itself as Desynced to health checks";

pub struct Round;
pub const ROUND: Round = Round;

#[derive(Debug, Serialize, Deserialize)]
pub struct RoundParams {
    pub edit: FileEdit,
    /// Galera states `P`, `D`, `S` of this node before and after.
    pub before: char,
    pub after: char,
    /// The client certificate's path; empty is none, `None` is not ours to say.
    pub ssl_cert_before: Option<String>,
    pub ssl_cert_after: Option<String>,
    /// By whose certificates it judges its clients', in the same way.
    #[serde(default)]
    pub ssl_ca_before: Option<String>,
    #[serde(default)]
    pub ssl_ca_after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<RulesChange>,
    /// What else a server that was restarted shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<VariableChange>,
    /// Keys of data at rest that go with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<StoppedGate>,
}

impl RoundParams {
    /// Of a restart that changes nothing but what it reads again.
    pub fn as_it_is(edit: FileEdit, letter: char) -> Self {
        Self {
            edit,
            before: letter,
            after: letter,
            ssl_cert_before: None,
            ssl_cert_after: None,
            ssl_ca_before: None,
            ssl_ca_after: None,
            rules: None,
            variables: vec![],
            gate: None,
        }
    }

    fn wanted(&self, direction: Direction) -> (char, Option<&str>) {
        match direction {
            Direction::Forward => (self.after, self.ssl_cert_after.as_deref()),
            Direction::Back => (self.before, self.ssl_cert_before.as_deref()),
        }
    }

    /// Why the running server is not as wished; `None` if it is.
    fn differs(&self, view: &NodeView, direction: Direction) -> Option<String> {
        let (letter, cert) = self.wanted(direction);
        let state = view.galera_state();
        if state.letter() != letter {
            return Some(format!("it speaks {state}, not {}", word(letter)));
        }
        let ca = if direction == Direction::Forward { &self.ssl_ca_after } else { &self.ssl_ca_before };
        let seen = view.variable("ssl_ca").unwrap_or("");
        if let Some(ca) = ca.as_deref().filter(|ca| *ca != seen) {
            return Some(format!("its ssl_ca is \"{seen}\", not \"{ca}\""));
        }
        let seen = view.variable("ssl_cert").unwrap_or("");
        match cert {
            Some(cert) if cert != seen => Some(format!("its ssl_cert is \"{seen}\", not \"{cert}\"")),
            // An `ssl=0` behind it, or a file that the server could not read.
            Some(cert) if !cert.is_empty() && view.client_tls() == Some(false) => {
                Some(format!("it offers no TLS to clients, although its ssl_cert is \"{cert}\""))
            }
            _ => tls_rules::differs(self.rules.as_ref(), view, direction)
                .or_else(|| variables::differs(&self.variables, view, direction)),
        }
    }

    /// Whether the server, started as wished, reads key, certificate and CA.
    fn reads_files(&self, direction: Direction) -> bool {
        let (letter, cert) = self.wanted(direction);
        letter != 'P' || cert.is_some_and(|cert| !cert.is_empty())
    }

    /// States that may stand beside the one that comes: a plain one never beside a strict one.
    fn allowed(&self) -> &'static str {
        if self.before == 'S' || self.after == 'S' { "DS" } else { "PD" }
    }
}

pub fn word(letter: char) -> &'static str {
    match letter {
        'P' => "plain",
        'D' => "dynamic",
        'S' => "strict",
        _ => "mixed up",
    }
}

/// Says that it was sealion who took the node out of service.
pub fn marker(node: &dyn WriteNode) -> PathBuf {
    node.spec().state_dir.join("drained")
}

const MARKER_BYTES_MAX: u64 = 64 * 1024;
/// Behind the step in the marker, once nobody works there any more.
const DRAINED: &str = " drained";

/// What the marker says.
#[derive(Debug, Default)]
struct Marked {
    /// The step that has drained it, and whether it came to the end of that.
    step: String,
    /// How the proxies had the node before.
    kept: Vec<Kept>,
}

fn marked(node: &dyn WriteNode) -> Result<Option<Marked>, StepError> {
    let Some(bytes) = node.host().read(&marker(node), MARKER_BYTES_MAX).map_err(fail)? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let step = lines.next().unwrap_or_default().to_owned();
    let kept = lines.map(|line| {
        Kept::of_line(line).ok_or_else(|| {
            fail(format!(
                "{} on {} cannot be read\n  why:  its line \"{}\" says nothing of a proxy\n  next: see how the proxies have {} (`show servers state`), \
                 remove that line, then sealion resume",
                marker(node).display(),
                node.name(),
                line.escape_default(),
                node.name()
            ))
        })
    });
    Ok(Some(Marked { step, kept: kept.collect::<Result<_, _>>()? }))
}

pub fn mark(node: &mut dyn WriteNode, step: &str, kept: &[Kept]) -> Result<(), StepError> {
    let path = marker(node);
    let lines: Vec<String> = std::iter::once(step.to_owned()).chain(kept.iter().map(Kept::to_line)).collect();
    let host = node.write_host();
    host.make_dir(&node.spec().state_dir, 0o700, None)
        .and_then(|()| host.write(&path, lines.join("\n").as_bytes(), Some(0o600), None))
        .map_err(fail)
}

/// What the proxies had before; nothing where sealion has not drained the node.
pub fn kept(node: &dyn WriteNode) -> Result<Vec<Kept>, StepError> {
    marked(node).map(|marked| marked.unwrap_or_default().kept)
}

fn ours(node: &dyn WriteNode) -> Result<bool, StepError> {
    marked(node).map(|marked| marked.is_some())
}

/// Whether sealion took the node out of service and has not brought it back; also where that cannot be read.
pub fn is_out_of_service(node: &dyn WriteNode) -> bool {
    ours(node).unwrap_or(true)
}

/// Where sealion has drained the node and not put it back: the proxy, the server there, and the state that it had.
pub fn out_at_proxies(node: &dyn WriteNode) -> Vec<(String, String, &'static str)> {
    let kept = kept(node).unwrap_or_default();
    let ours = kept.into_iter().filter(|one| one.was == AdminState::Ready);
    ours.map(|one| (one.proxy, one.server.to_string(), one.was.word())).collect()
}

/// Strikes from the marker what names a proxy that the inventory does not have any more: no change could set anything back there, so none
/// would ever end. Returns what was struck.
pub fn strike_gone_proxies(world: &mut World<'_>, name: &NodeName) -> Result<Vec<Kept>, StepError> {
    let Some(marked) = marked(world.node(name)?)? else { return Ok(vec![]) };
    let (there, gone): (Vec<Kept>, Vec<Kept>) =
        marked.kept.into_iter().partition(|one| world.proxies.iter().any(|proxy| proxy.name() == one.proxy));
    if !gone.is_empty() {
        mark(world.node(name)?, &marked.step, &there)?;
    }
    Ok(gone)
}

/// Why a node that does not answer, and is not known to be down, may not be stopped; nothing, if sealion has drained it and
/// every other node knows that it is no member.
fn reasons_against_silent(
    world: &mut World<'_>,
    name: &NodeName,
    views: &quorum::Views,
    round: &RoundParams,
) -> Result<Vec<String>, StepError> {
    let was_drained = marked(world.node(name)?)?.is_some_and(|marked| marked.step.ends_with(DRAINED));
    if was_drained && quorum::is_no_member(name, views) {
        return Ok(quorum::may_start(name, views, true, round.allowed()));
    }
    let mut reasons: Vec<String> = views
        .iter()
        .filter(|(other, _)| other == name)
        .filter_map(|(_, view)| view.as_ref().err().map(NodeError::first_line))
        .collect();
    for (other, view) in views.iter().filter(|(other, _)| other != name) {
        reasons.push(match view {
            Ok(view) => format!("{other} sees {} members, {}", view.cluster_size(), view.cluster_status()),
            Err(error) => error.first_line(),
        });
    }
    Ok(reasons)
}

/// One that sealion has drained, and that is no member of the cluster: its process hangs on its way up or down.
pub fn stopped_though_silent(
    world: &mut World<'_>,
    name: &NodeName,
    round: &RoundParams,
) -> Result<(), StepError> {
    let views = world.views();
    let reasons = reasons_against_silent(world, name, &views, round)?;
    if !reasons.is_empty() {
        return Err(fail(format!(
            "{name} may serve, and is not stopped\n  why:  {}\n  next: see what keeps it from answering, then sealion resume",
            reasons.join("\n        ")
        )));
    }
    world.node(name)?.stop().map_err(fail)
}

/// When it is asked whether a node may be stopped.
#[derive(Debug, Clone, Copy)]
struct Moment {
    direction: Direction,
    /// It was taken out of service, and the stop is next.
    is_drained: bool,
}

/// Why `name` may not be stopped now. Others are given a while to be in step again: a donor can be back a moment after
/// its joiner, and the answers of several nodes are never of one moment.
fn reasons_against(
    world: &mut World<'_>,
    name: &NodeName,
    is_ours: bool,
    round: &RoundParams,
    at: Moment,
) -> Result<Vec<String>, StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let views = world.views();
        let arbitrators = world.arbitrator_views();
        let target = views.iter().find(|(other, _)| other == name).map(|(_, view)| view);
        let mut reasons = match target {
            // What is down serves no clients of a proxy.
            Some(Err(NodeError::Down { .. })) => quorum::may_start(name, &views, false, round.allowed()),
            Some(Err(NodeError::Silent { .. })) => reasons_against_silent(world, name, &views, round)?,
            _ => {
                let mut reasons = quorum::may_stop(name, &views, &arbitrators, is_ours, round.allowed());
                let kept = kept(world.node(name)?)?;
                let is_drained = at.is_drained;
                reasons.extend(proxies::reasons_against(world, name, at.direction, &kept, is_drained)?);
                reasons
            }
        };
        reasons.extend(quorum::against_arbitrators(&arbitrators, round.allowed()));
        if reasons.is_empty() || world.node(name)?.now_ms() - began > SETTLE_MS_MAX {
            return Ok(reasons);
        }
        sleep(world, SETTLE_POLL_MS);
    }
}

pub fn start_patiently(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    start_patiently_unless(world, name, &|_| None)
}

/// The same, until `hopeless` says why nobody need wait any more.
pub fn start_patiently_unless(
    world: &mut World<'_>,
    name: &NodeName,
    hopeless: &dyn Fn(&NodeView) -> Option<String>,
) -> Result<(), StepError> {
    let mut starts = 0;
    loop {
        starts += 1;
        wait::forgotten(world, name)?;
        world.node(name)?.start().map_err(fail)?;
        let Err(error) = wait::synced_unless(world, name, hopeless) else { return Ok(()) };
        match wait::ended_with_sign(world, name)? {
            Some(wait::Sign::Passes(sign)) if starts < wait::PASSING_STARTS_MAX => {
                world.say(&wait::start_again(name, sign, starts + 1));
            }
            Some(wait::Sign::Unasked) if starts < wait::STARTS_MAX => {
                world.say(&format!(
                    "{name} ended at its start, and no other node reports whether the cluster is Primary: start {} of {}",
                    starts + 1,
                    wait::STARTS_MAX
                ));
            }
            Some(sign @ (wait::Sign::Crashed | wait::Sign::Unserved)) if starts < wait::FAILED_STARTS_MAX => {
                let what = if sign == wait::Sign::Crashed {
                    "crashed while it joined (its log has the stack)"
                } else {
                    "ended because its state transfer failed (the donor's log says why)"
                };
                world.say(&format!("{name} {what}: start {} of {}", starts + 1, wait::FAILED_STARTS_MAX));
            }
            Some(wait::Sign::Lingers) => return Err(fail(format!("{error}\n  {}", wait::lingers(name)))),
            _ => return Err(error),
        }
    }
}

/// Why the server would not come back with the files that it would read at its start. They may have been changed since they
/// were placed.
fn unsound_files(
    world: &mut World<'_>,
    name: &NodeName,
    round: &RoundParams,
    direction: Direction,
) -> Result<Option<String>, StepError> {
    if round.reads_files(direction) { unsound(world, name) } else { Ok(None) }
}

/// Why a member would not come back with the files in its TLS directory.
pub fn unsound(world: &mut World<'_>, name: &NodeName) -> Result<Option<String>, StepError> {
    let tls_dir = world.member(name)?.spec().tls_dir.display().to_string();
    Ok(match sound(world, name) {
        Ok(Some(_)) => None,
        Ok(None) => Some(format!("key, certificate and CA are not all in {tls_dir} any more")),
        Err(StepError(why)) => Some(format!(
            "key, certificate and CA in {tls_dir} do not serve any more, and the server would not come back: {}",
            why.replace('\n', " ")
        )),
    })
}

/// A server that was stopped has ended: else the stop command of the inventory is another one's.
pub fn has_ended(
    world: &mut World<'_>,
    name: &NodeName,
    before: Option<&ProcessFacts>,
) -> Result<(), StepError> {
    let Some(before) = before else { return Ok(()) };
    let began = world.member(name)?.now_ms();
    loop {
        let node = world.member(name)?;
        let runs = node.host().process(before.pid).map_err(fail)?;
        if runs.is_none_or(|now| now.start_ticks != before.start_ticks) {
            return Ok(());
        }
        if node.now_ms() - began > ENDED_MS_MAX {
            let words = node.spec().service.stop_command().join(" ");
            return Err(fail(format!(
                "{name} was to be stopped, and its process {} still runs\n  why:  `{words}` ended well and did not stop it: it may be another \
                 node's, and that one may be down now\n  next: check start, stop and alive of each node in the inventory, start what was \
                 stopped, then sealion resume",
                before.pid
            )));
        }
        sleep(world, ENDED_POLL_MS);
    }
}

impl StepKind for Round {
    fn kind(&self) -> &'static str {
        "round"
    }

    fn certificates(&self, step: &Step) -> Option<[String; 2]> {
        let round: RoundParams = params(step).ok()?;
        Some([round.ssl_cert_before?, round.ssl_cert_after?])
    }

    fn client_cas(&self, step: &Step) -> Option<[String; 2]> {
        let round: RoundParams = params(step).ok()?;
        Some([round.ssl_ca_before?, round.ssl_ca_after?])
    }

    fn rules(&self, step: &Step) -> Option<RulesChange> {
        params(step).ok().and_then(|one: RoundParams| one.rules)
    }

    fn is_mixed(&self, step: &Step) -> bool {
        params(step).is_ok_and(|round: RoundParams| [round.before, round.after].contains(&'D'))
    }

    fn check(
        &self,
        world: &mut World<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let round: RoundParams = params(step)?;
        let name = only_node(step)?;
        let node = world.node(&name)?;
        let stand = round.edit.stand(node).map_err(StepError)?;
        if stand == FileStand::Foreign {
            return Ok(StepCheck::Blocked(round.edit.foreign(node)));
        }
        let file_is_so = stand.is_so(direction);
        let is_ours = ours(node)?;
        if let Ok(view) = world.node(&name)?.view()
            && round.differs(&view, direction).is_none()
        {
            return Ok(if file_is_so && !is_ours && view.is_synced() {
                StepCheck::AlreadyDone(format!("runs {} already", word(round.wanted(direction).0)))
            } else {
                // The file, or its place in service, is to be mended: nothing is stopped, so no quorum is needed.
                StepCheck::Ready
            });
        }
        may_restart(world, &name, &round, direction)
    }

    fn act(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let round: RoundParams = params(step)?;
        let name = only_node(step)?;
        stopped::keys_are_as_sealed(world, &name, round.gate.as_ref(), direction, stopped::NOT_RESTARTED)?;
        let gate = round.gate.as_ref().filter(|gate| gate.holds(direction));
        if stopped::is_to_be_started_first(world, &name, gate, &round.edit, direction)? {
            let start = |world: &mut World<'_>, way| started_again(world, &name, step, &round, way);
            stopped::started_either_way(world, &name, &round.edit, direction, &start)?;
        }
        let view = world.node(&name)?.view();
        match &view {
            Ok(_) | Err(NodeError::Down { .. }) => {}
            Err(NodeError::Silent { .. }) => stopped_though_silent(world, &name, &round)?,
            // It serves, and only we are not let in: it must not be stopped undrained.
            Err(error) => return Err(fail(error)),
        }
        if let Ok(view) = view {
            if round.differs(&view, direction).is_none() {
                // Killed after the start, or before the stop: the process runs with what is wished already, and the file follows it.
                crate::steps::write(world, &name, &round.edit, direction)?;
                return back_in_service(world, &name, step);
            }
            let ahead = stopped::ahead(world, &name, gate, &view)?;
            drained_and_stopped(world, &name, step, &round, direction, &view)?;
            if let Some(ahead) = ahead {
                if let Err(why) = ahead.pass(world, &name, &round.edit, direction) {
                    started_again(world, &name, step, &round, contrary(direction))?;
                    return Err(why);
                }
                started_again(world, &name, step, &round, direction)?;
                return ahead.reads_as_before(world, &name);
            }
        }
        started_again(world, &name, step, &round, direction)
    }

    fn verify(&self, world: &mut World<'_>, step: &Step, direction: Direction) -> Result<String, StepError> {
        let round: RoundParams = params(step)?;
        let name = only_node(step)?;
        stopped::keys_are_as_sealed(world, &name, round.gate.as_ref(), direction, stopped::KEYS_CHANGED)?;
        let view = wait::synced(world, &name)?;
        if let Some(why) = round.differs(&view, direction) {
            return Err(fail(format!("{name} came back, but {why}")));
        }
        settled_as_one(world, &name)?;
        let rules = tls_rules::wanted(round.rules.as_ref(), direction).filter(|_| view.offers_client_tls());
        let rules = tls_rules::seen_from_outside(world, &name, rules)?;
        if !round.variables.is_empty() {
            let said = variables::said(&round.variables, &view);
            return Ok(format!("Synced, cluster size {}; {said}", view.cluster_size()));
        }
        let state = word(round.wanted(direction).0);
        Ok(format!("Synced, {state}, cluster size {}{rules}", view.cluster_size()))
    }
}

/// Whether nothing stands against a restart now.
pub fn may_restart(
    world: &mut World<'_>,
    name: &NodeName,
    round: &RoundParams,
    direction: Direction,
) -> Result<StepCheck, StepError> {
    let is_ours = ours(world.node(name)?)?;
    let mut reasons = reasons_against(world, name, is_ours, round, Moment { direction, is_drained: false })?;
    reasons.extend(unsound_files(world, name, round, direction)?);
    if reasons.is_empty()
        && world.node(name)?.view().is_ok()
        && let Err(why) = relay::hold(world, name, Action::Restart)
    {
        return Ok(StepCheck::Blocked(why.0));
    }
    if reasons.is_empty() {
        return Ok(StepCheck::Ready);
    }
    Ok(StepCheck::Blocked(format!(
        "{name} may not be restarted now\n  why:  {}\n  next: fix that, then sealion resume",
        reasons.join("\n        ")
    )))
}

/// Done, unless the node is still to be brought back into service.
pub fn unless_drained(world: &mut World<'_>, name: &NodeName, note: &str) -> Result<StepCheck, StepError> {
    Ok(if ours(world.node(name)?)? { StepCheck::Ready } else { StepCheck::AlreadyDone(note.into()) })
}

/// A serving node leaves the service and is stopped; who is down already is left so.
pub fn drained_and_stopped(
    world: &mut World<'_>,
    name: &NodeName,
    step: &Step,
    round: &RoundParams,
    direction: Direction,
    view: &NodeView,
) -> Result<(), StepError> {
    // On the node before a proxy is told: whoever continues knows what was there.
    let before = kept(world.node(name)?)?;
    let kept = proxies::remember(world, name, before)?;
    mark(world.node(name)?, &step.id.0, &kept)?;
    if let Err(error) = proxies::drain(world, name, &kept) {
        serves_on(world, name, step)?;
        return Err(error);
    }
    desync(world.node(name)?, view)?;
    hook(world, name, step, true)?;
    let note = match drained(world, name, SIGN) {
        Ok(note) => note,
        Err(error) => {
            serves_on(world, name, step)?;
            return Err(error);
        }
    };
    world.say(&format!("{name}: {note}"));
    mark(world.node(name)?, &format!("{}{DRAINED}", step.id), &kept)?;
    // Draining takes its time: another node may have failed since the pre-check.
    let mut reasons = reasons_against(world, name, true, round, Moment { direction, is_drained: true })?;
    reasons.extend(unsound_files(world, name, round, direction)?);
    if !reasons.is_empty() {
        serves_on(world, name, step)?;
        return Err(fail(format!(
            "{name} was drained and is not stopped\n  why:  {}\n  next: fix that, then sealion resume",
            reasons.join("\n        ")
        )));
    }
    // It may be a replica, too.
    if let Err(why) = relay::hold(world, name, Action::Restart) {
        serves_on(world, name, step)?;
        return Err(why);
    }
    let process = world.node(name)?.process();
    world.node(name)?.stop().map_err(fail)?;
    has_ended(world, name, process.as_ref())
}

/// Starts the node that was stopped, and brings it back into service.
pub fn started_again(
    world: &mut World<'_>,
    name: &NodeName,
    step: &Step,
    round: &RoundParams,
    direction: Direction,
) -> Result<(), StepError> {
    if let Err(error) = start_patiently(world, name) {
        let unsound = unsound_files(world, name, round, direction)?;
        return Err(match unsound {
            Some(why) => fail(format!("{error}\n  note: {why}")),
            None => error,
        });
    }
    back_in_service(world, name, step)
}

/// Nobody else may have changed or left, and all of them must be one cluster; after a while, since answers are never of one moment.
pub fn settled_as_one(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let began = world.node(name)?.now_ms();
    while let Err(why) = is_one_cluster(world) {
        if world.node(name)?.now_ms() - began > SETTLE_MS_MAX {
            return Err(why);
        }
        sleep(world, SETTLE_POLL_MS);
    }
    Ok(())
}

/// Every node in the primary component, of the whole size, with one history and in one configuration.
fn is_one_cluster(world: &mut World<'_>) -> Result<(), StepError> {
    let mut seen: Option<(NodeName, String)> = None;
    for (name, view) in world.views() {
        let view = view.map_err(fail)?;
        if !view.is_primary() || view.cluster_size() < world.members() {
            return Err(fail(format!(
                "{name} is in a {} component of {}",
                view.cluster_status(),
                view.cluster_size()
            )));
        }
        let of = format!("{} / {}", view.state_uuid(), view.cluster_conf_id());
        match &seen {
            Some((first, other)) if *other != of => {
                return Err(fail(format!(
                    "{first} and {name} do not agree on state UUID and configuration: {other}, {of}"
                )));
            }
            Some(_) => {}
            None => seen = Some((name, of)),
        }
    }
    Ok(())
}

fn is_desynced(view: &NodeView) -> bool {
    view.variable("wsrep_desync") == Some("ON")
}

/// Out of service, for whoever asks for its state.
pub fn desync(node: &mut dyn WriteNode, view: &NodeView) -> Result<(), StepError> {
    // The count alone does not say it: a donor counts there too, and is in service again when it has served.
    let is_counted = view.desync_count() > 0;
    if is_desynced(view) && is_counted {
        return Ok(());
    }
    // Seen on MariaDB 10.11.19 with Galera 26.4.23: one that was desynced, fell out of the group (a network was cut) and came back has
    // the variable ON, counts 0 and is Synced; ON once more does nothing ("already ON").
    if is_desynced(view) {
        node.set_desync(false).map_err(fail)?;
    }
    node.set_desync(true).map_err(fail)
}

/// The marker goes last: until then whoever continues comes here again.
pub fn back_in_service(world: &mut World<'_>, name: &NodeName, step: &Step) -> Result<(), StepError> {
    let is_ours = ours(world.node(name)?)?;
    if is_ours {
        sync_again(world.node(name)?)?;
    }
    wait::synced(world, name)?;
    let kept = kept(world.node(name)?)?;
    if is_ours {
        hook(world, name, step, false)?;
        proxies::put_back(world, name, &kept)?;
    }
    proxies::wait_up(world, name, &kept)?;
    unmark(world, name)
}

/// The same for a node that was not stopped, whichever way the change goes. Another error is to be told: nobody waits for anything.
pub fn serves_on(world: &mut World<'_>, name: &NodeName, step: &Step) -> Result<(), StepError> {
    if !ours(world.node(name)?)? {
        return Ok(());
    }
    let node = world.node(name)?;
    sync_again(node)?;
    hook(world, name, step, false)?;
    let kept = kept(world.node(name)?)?;
    proxies::put_back(world, name, &kept)?;
    unmark(world, name)
}

fn sync_again(node: &mut dyn WriteNode) -> Result<(), StepError> {
    if is_desynced(&node.view().map_err(fail)?) {
        node.set_desync(false).map_err(fail)?;
    }
    Ok(())
}

pub fn unmark(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let node = world.node(name)?;
    if !ours(node)? {
        return Ok(());
    }
    node.write_host().remove(&marker(node)).map_err(fail)
}
