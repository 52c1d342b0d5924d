//! Events that only a replica's relay logs hold. Relay logs that are thrown away are received again, from where the applier is: where the
//! source has purged that binary log meanwhile, its events are lost and the replica must be rebuilt (error 1236).

use std::time::Duration;

use change::StepError;
use model::{NodeName, Plan, Step};
use server::{Channel, Flavour, NodeSpec, NodeView, ThreadState};

use super::followers;
use super::followers::{Leads, leads};
use super::steps::ChannelParams;
use super::steps::channel::CHANNEL;
use super::steps::restart::RESTART;
use crate::preflight::{Problem, problem};
use crate::steps::{StepKind, fail, params};
use crate::world::World;

/// A replica that is about to leave its source's older binary log is waited for.
const WAIT_MS_MAX: u64 = 10_000;
const POLL_MS: u64 = 500;

/// What may throw relay logs away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'c> {
    /// This channel is told to connect anew.
    Change(&'c str),
    /// Its server is restarted.
    Restart,
}

/// Why relay logs of a channel may not be thrown away.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Needed {
    /// Its source has purged what was not applied.
    Purged { source: NodeName, oldest: String },
    /// Where the applier is, the replica does not say.
    NoPosition,
    /// Its source is not in the inventory.
    UnknownSource,
    /// Its source does not list its binary logs.
    NoList { source: NodeName, why: String },
}

/// Whether the action throws the relay logs of a channel away.
///
/// # Source
/// MariaDB manual, CHANGE MASTER TO: all relay logs are deleted, unless a relay log's position is given; with GTID, both threads being stopped
/// does it as well. Seen on 10.11.19. MySQL manual, CHANGE REPLICATION SOURCE TO: they are kept while one of the threads runs. Both: at a start with
/// `relay_log_recovery`.
fn throws_away(view: &NodeView, channel: &Channel, action: Action<'_>) -> bool {
    let is_mariadb = view.capabilities().flavour == Flavour::MariaDb;
    match action {
        Action::Change(name) if name != channel.name => false,
        Action::Change(_) => is_mariadb || channel.applier == ThreadState::Stopped,
        Action::Restart => {
            let recovers = !matches!(view.variable("relay_log_recovery"), Some("OFF" | "0"));
            // Of a server that does not show the variable, it is taken for set.
            (is_mariadb && channel.by_gtid) || recovers
        }
    }
}

/// A binary log that is being read is not purged: while the receiver reads the one in which the applier is, the source has it.
fn is_being_read(channel: &Channel) -> bool {
    channel.receiver == ThreadState::Running
        && !channel.applied_log.is_empty()
        && channel.applied_log == channel.received_log
}

/// Each channel of `name` whose relay logs the action would throw away although they are needed.
fn needed(
    world: &mut World<'_>,
    name: &NodeName,
    action: Action<'_>,
) -> Result<Vec<(Channel, Needed)>, StepError> {
    let channels = world.node(name)?.channels().map_err(fail)?;
    if channels.is_empty() {
        return Ok(vec![]);
    }
    let view = world.node(name)?.view().map_err(fail)?;
    let mut found = Vec::new();
    for channel in channels {
        if throws_away(&view, &channel, action)
            && !is_being_read(&channel)
            && let Some(why) = at_source(world, name, &channel)?
        {
            found.push((channel, why));
        }
    }
    Ok(found)
}

/// `None`: its source has the binary log in which its applier is, and all that came after it.
fn at_source(
    world: &mut World<'_>,
    replica: &NodeName,
    channel: &Channel,
) -> Result<Option<Needed>, StepError> {
    if channel.applied_log.is_empty() {
        return Ok(Some(Needed::NoPosition));
    }
    let Some(source) = source_of(world, replica, channel) else { return Ok(Some(Needed::UnknownSource)) };
    Ok(match world.node(&source)?.binary_logs() {
        Ok(logs) if logs.contains(&channel.applied_log) => None,
        Ok(logs) => {
            Some(Needed::Purged { source, oldest: logs.into_iter().next().unwrap_or_else(|| "none".into()) })
        }
        Err(error) => Some(Needed::NoList { source, why: error.first_line() }),
    })
}

/// The server of the inventory to which the channel leads.
fn source_of(world: &mut World<'_>, replica: &NodeName, channel: &Channel) -> Option<NodeName> {
    let specs: Vec<NodeSpec> =
        world.nodes.iter().chain(&world.others).map(|node| node.spec().clone()).collect();
    for here in specs.iter().filter(|spec| spec.name != *replica) {
        let others: Vec<NodeSpec> = specs.iter().filter(|spec| spec.name != here.name).cloned().collect();
        let view = world.node(&here.name).ok()?.view();
        let id = view.ok().and_then(|view| view.variable("server_id")?.parse().ok());
        if leads(here, id, &others, channel) == Leads::Here {
            return Some(here.name.clone());
        }
    }
    None
}

impl Needed {
    fn why(&self, channel: &Channel) -> String {
        let at = &channel.applied_log;
        match self {
            Self::Purged { source, oldest } => format!(
                "{channel}: it has applied up to {at}, which {source} has purged (its oldest binary log is {oldest}): only the relay logs hold what \
                 comes then, and they would be thrown away"
            ),
            Self::NoPosition => format!(
                "{channel}: it does not say in which binary log of its source its applier is, so whether its relay logs hold what its source has \
                 purged cannot be determined"
            ),
            Self::UnknownSource => format!(
                "{channel}: its source is not in the inventory, so whether that one still has {at} cannot be determined, and the relay logs would be \
                 thrown away"
            ),
            Self::NoList { source, why } => {
                format!("{channel}: whether {source} still has {at} cannot be determined: {why}")
            }
        }
    }

    fn next(&self) -> String {
        match self {
            Self::Purged { .. } => {
                "wait until it has applied its relay logs (SHOW ALL SLAVES STATUS, SHOW REPLICA STATUS: the log of the applier); do not change the channel \
                 by hand before that, not even its delay"
                    .into()
            }
            Self::NoPosition => "START REPLICA there, and wait until it has applied something".into(),
            Self::UnknownSource => "wait until it has applied all that it received, or add its source to the inventory".into(),
            Self::NoList { source, .. } => format!(
                "see that {source} answers, and GRANT BINLOG MONITOR (MySQL: REPLICATION CLIENT) ON *.* to the account that the inventory names there"
            ),
        }
    }
}

/// Holds a step until no event would be lost by its action.
///
/// # Errors
/// One would be, or that cannot be determined.
pub fn hold(world: &mut World<'_>, name: &NodeName, action: Action<'_>) -> Result<(), StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let found = needed(world, name, action)?;
        let Some((_, first)) = found.first() else { return Ok(()) };
        if world.node(name)?.now_ms() - began > WAIT_MS_MAX {
            let why: Vec<String> = found.iter().map(|(channel, needed)| needed.why(channel)).collect();
            let what =
                if action == Action::Restart { "is not restarted" } else { "is not told to connect anew" };
            return Err(fail(format!(
                "{name} {what}\n  why:  {}\n  next: {}; then sealion resume, or sealion undo",
                why.join("\n        "),
                first.next()
            )));
        }
        world.node(name)?.wait(Duration::from_millis(POLL_MS));
    }
}

/// What a step of this kind does to relay logs; `None`: nothing.
fn of_step(step: &Step) -> Option<(NodeName, Option<String>)> {
    let name = step.nodes.first()?.clone();
    if step.kind == CHANNEL.kind() {
        let wish: ChannelParams = params(step).ok()?;
        return Some((name, Some(wish.channel)));
    }
    step.restarts(false).then_some((name, None))
}

/// Before anything is begun: the steps of a plan that would lose events as the servers are now.
pub fn look(world: &mut World<'_>, plan: &Plan) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for step in plan.steps.iter().filter(|step| !step.no_op) {
        let Some((name, channel)) = of_step(step) else { continue };
        // One that joins receives all it has then.
        if world.joiner.as_ref() == Some(&name) || !world.nodes.iter().any(|node| *node.name() == name) {
            continue;
        }
        let action = channel.as_deref().map_or(Action::Restart, Action::Change);
        if step.kind == RESTART.kind()
            && let Ok(Some((why, next))) = not_received(world, &name)
        {
            let what = "its replicas may lose what they have not received";
            let one = problem(&name, what, why, format!("{next}; then plan again"));
            if !problems.contains(&one) {
                problems.push(one);
            }
        }
        let found = match needed(world, &name, action) {
            Ok(found) => found,
            Err(error) => {
                let what = "whether its relay logs hold events that would be lost cannot be determined";
                let next = "see that it answers, and that its account may see its channels (sealion grants), then plan again";
                let one = problem(&name, what, error.0, next);
                if !problems.contains(&one) {
                    problems.push(one);
                }
                continue;
            }
        };
        for (channel, needed) in found {
            let what = "its relay logs hold events that would be lost";
            let one =
                problem(&name, what, needed.why(&channel), format!("{}; then plan again", needed.next()));
            if !problems.contains(&one) {
                problems.push(one);
            }
        }
    }
    problems
}

/// Whether the replica of this channel has received all up to a position of GTIDs, as MariaDB writes them: `domain-server-number`.
fn has_received(position: &str, channel: &Channel) -> bool {
    let parse = |text: &str| -> Option<Vec<(u64, u64)>> {
        let one = |gtid: &str| {
            let mut parts = gtid.trim().split('-');
            let domain = parts.next()?.parse().ok()?;
            Some((domain, parts.nth(1)?.parse().ok()?))
        };
        text.split(',').map(one).collect()
    };
    // Behind file and position.
    let received = channel.received.splitn(3, ' ').nth(2).and_then(parse);
    let (Some(wanted), Some(received)) = (parse(position), received) else { return false };
    wanted
        .iter()
        .all(|(domain, number)| received.iter().any(|(other, last)| domain == other && last >= number))
}

/// Why a source may not be restarted, at whose start binary logs that have expired are purged: a replica has not received all but the newest,
/// or that cannot be determined.
fn not_received(world: &mut World<'_>, name: &NodeName) -> Result<Option<(String, String)>, StepError> {
    let view = world.node(name)?.view().map_err(fail)?;
    let expires = |option: &str| {
        view.variable(option).is_some_and(|value| value.parse::<f64>().is_ok_and(|value| value > 0.0))
    };
    if !expires("binlog_expire_logs_seconds") && !expires("expire_logs_days") {
        return Ok(None);
    }
    // Asked before its replicas are: they come further meanwhile.
    let position = view.variable("gtid_binlog_pos").unwrap_or_default();
    let mut open = followers::followers(world, name)?;
    open.retain(|one| one.is_sure && !one.channel.received_log.is_empty());
    open.retain(|one| !(one.channel.by_gtid && has_received(position, &one.channel)));
    if open.is_empty() {
        return Ok(None);
    }
    let logs = match world.node(name)?.binary_logs() {
        Ok(logs) => logs,
        Err(error) => {
            return Ok(Some((
                format!(
                    "binary logs that have expired are purged at its start, and whether its replicas have received them cannot be determined: {}",
                    error.first_line()
                ),
                "GRANT BINLOG MONITOR (MySQL: REPLICATION CLIENT) ON *.* to the account that the inventory names there".into(),
            )));
        }
    };
    let newest = logs.last().cloned().unwrap_or_default();
    let late: Vec<String> = open
        .iter()
        .filter(|one| one.channel.received_log != newest)
        .map(|one| format!("{} has received up to {}", one.node, one.channel.received_log))
        .collect();
    Ok((!late.is_empty()).then(|| {
        (
            format!(
                "binary logs that have expired are purged at its start, the newest one is {newest}, and {}",
                late.join(", ")
            ),
            "wait until its replicas have received all (START REPLICA where one is stopped)".into(),
        )
    }))
}

/// Before a source is restarted.
///
/// # Errors
/// A replica might lose what it has not received.
pub fn hold_source(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let Some((why, next)) = not_received(world, name)? else { return Ok(()) };
        if world.node(name)?.now_ms() - began > WAIT_MS_MAX {
            return Err(fail(format!(
                "{name} is not restarted\n  why:  {why}\n  next: {next}; then sealion resume, or sealion undo"
            )));
        }
        world.node(name)?.wait(Duration::from_millis(POLL_MS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ThreadState::{Running, Stopped};

    fn view(version: &str, recovery: &str) -> NodeView {
        let mut view = NodeView::default();
        for (name, value) in [("version", version), ("relay_log_recovery", recovery)] {
            view.variables.insert(name.into(), value.into());
        }
        view
    }

    #[test]
    fn relay_logs_are_thrown_away_by_what_the_manuals_say() {
        let channel =
            |by_gtid, applier| Channel { by_gtid, applier, ..followers::tests::channel("10.0.0.1", None) };
        let (mariadb, mysql) = ("10.11.19-MariaDB", "9.7.4");
        for (version, recovery, by_gtid, applier, change, restart) in [
            (mariadb, "OFF", false, Running, true, false),
            (mariadb, "OFF", true, Running, true, true),
            (mariadb, "ON", false, Running, true, true),
            (mysql, "OFF", true, Running, false, false),
            (mysql, "ON", true, Running, false, true),
            (mysql, "OFF", true, Stopped, true, false),
        ] {
            let view = view(version, recovery);
            let of = |action| throws_away(&view, &channel(by_gtid, applier.clone()), action);
            assert_eq!(
                (of(Action::Change("")), of(Action::Restart)),
                (change, restart),
                "{version} {recovery} {by_gtid}"
            );
        }
        assert!(!throws_away(&view(mariadb, "OFF"), &channel(true, Running), Action::Change("east")));
    }

    #[test]
    fn gtids_tell_what_was_received_by_domain() {
        let has = |position: &str, received: &str| {
            let received = format!("b.000001 379 {received}");
            has_received(position, &Channel { received, ..followers::tests::channel("10.0.0.1", None) })
        };
        assert!(has("0-1-9", "0-1-9") && has("0-1-9", "0-2-12,1-1-1"));
        assert!(!has("0-1-9", "0-1-8") && !has("0-1-9,1-1-1", "0-1-9"));
        assert!(!has("", "0-1-9") && !has("0-1-9", "") && !has("0-1-9", "Slave_Pos"));
    }

    #[test]
    fn what_is_being_read_is_not_purged() {
        let reads = |received: &str, applied: &str, receiver| {
            let (received_log, applied_log) = (received.to_owned(), applied.to_owned());
            is_being_read(&Channel {
                received_log,
                applied_log,
                receiver,
                ..followers::tests::channel("10.0.0.1", None)
            })
        };
        assert!(reads("b.000007", "b.000007", ThreadState::Running));
        assert!(!reads("b.000007", "b.000006", ThreadState::Running));
        assert!(!reads("b.000007", "b.000007", ThreadState::Connecting));
        assert!(!reads("", "", ThreadState::Running));
    }
}
