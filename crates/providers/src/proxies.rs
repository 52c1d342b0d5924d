//! Proxies in front of the nodes: a node is drained at each of them before it stops, and put back as it was when it serves again.

use change::{Direction, StepError};
use model::{NodeName, Plan, Step};
use server::{AdminState, Carried, ProxyError, ProxyServer, ServerName};

use crate::preflight::{Problem, problem};
use crate::world::{World, sleep};

/// Between two questions whether a proxy sees a node again.
const POLL_MS: u64 = 200;
/// Kinds of steps that drain a node at its proxies before they stop it.
const DRAINING: &[&str] = &["round", "distrust", "again"];

/// How a server was at a proxy before sealion drained it. It is written on the node before the proxy is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub proxy: String,
    pub server: ServerName,
    pub was: AdminState,
    /// The proxy sent clients to it.
    pub took_new: bool,
}

impl Kept {
    /// `proxy edge galera/db1 ready up`
    pub fn to_line(&self) -> String {
        let up = if self.took_new { "up" } else { "down" };
        format!("proxy {} {} {} {up}", self.proxy, self.server, self.was.word())
    }

    pub fn of_line(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let ["proxy", proxy, server, was, up] = words[..] else { return None };
        Some(Self {
            proxy: proxy.to_owned(),
            server: ServerName::parse(server)?,
            was: AdminState::of_word(was)?,
            took_new: match up {
                "up" => true,
                "down" => false,
                _ => return None,
            },
        })
    }

    fn is(&self, proxy: &str, server: &ServerName) -> bool {
        self.proxy == proxy && self.server == *server
    }
}

/// By the name of the proxy.
type Looks = Vec<(String, Result<Carried, ProxyError>)>;

/// What each proxy says of a node.
fn look(world: &mut World<'_>, name: &NodeName) -> Result<Looks, StepError> {
    if world.proxies.is_empty() {
        return Ok(Vec::new());
    }
    let spec = world.node(name)?.spec().clone();
    let ask = |proxy: &mut Box<dyn server::WriteProxy + '_>| (proxy.name().to_owned(), proxy.carrying(&spec));
    Ok(world.proxies.iter_mut().map(ask).collect())
}

/// Why a node that serves may not be taken from its clients now. `kept`: what sealion has drained already. `must_be_out`: it is about
/// to be stopped.
pub fn reasons_against(
    world: &mut World<'_>,
    name: &NodeName,
    direction: Direction,
    kept: &[Kept],
    must_be_out: bool,
) -> Result<Vec<String>, StepError> {
    let mut reasons = Vec::new();
    for (proxy, carried) in look(world, name)? {
        match carried {
            Err(error) => reasons.push(error.to_string()),
            Ok(carried) => {
                for one in carried.own() {
                    let known = kept.iter().find(|kept| kept.is(&proxy, &one.name));
                    reasons.extend(reason_against(&proxy, one, &carried, known, direction, must_be_out));
                }
            }
        }
    }
    Ok(reasons)
}

fn reason_against(
    proxy: &str,
    one: &ProxyServer,
    carried: &Carried,
    kept: Option<&Kept>,
    direction: Direction,
    must_be_out: bool,
) -> Option<String> {
    let serves = one.takes_new || kept.is_some_and(|kept| kept.took_new);
    if serves && carried.others(&one.name.backend) == 0 {
        return Some(format!(
            "{} is the last server of the backend {} that the proxy {proxy} sends clients to: nobody would be served",
            one.name, one.name.backend
        ));
    }
    if must_be_out && one.admin == AdminState::Ready && kept.is_some_and(|kept| kept.was == AdminState::Ready)
    {
        return Some(format!(
            "the proxy {proxy} has {} as ready again: somebody has set it so meanwhile, or HAProxy was reloaded, which forgets what it was told",
            one.name
        ));
    }
    // Going back, what a person has set is kept as it is, and nobody waits for a server that was out before.
    if kept.is_some() || direction == Direction::Back {
        return None;
    }
    if one.admin != AdminState::Ready {
        return Some(format!(
            "the proxy {proxy} has {} in {} already: somebody has set it so, and may be at work there",
            one.name,
            one.admin.word()
        ));
    }
    (!one.takes_new).then(|| {
        format!(
            "the proxy {proxy} sends nobody to {} ({}), although the node serves: whether clients find it again after a restart could not be seen",
            one.name, one.status
        )
    })
}

/// What a plan says of them.
pub fn impact(world: &World<'_>, steps: &[Step]) -> Option<String> {
    let names: Vec<&str> = world.proxies.iter().map(|proxy| proxy.name()).collect();
    let restarts = steps.iter().any(|step| !step.no_op && step.restarts_server);
    (restarts && !names.is_empty()).then(|| {
        format!(
            "each node is set to drain at {} before it stops, and must be seen as UP there before the next one",
            names.join(", ")
        )
    })
}

/// Before a change: every reason of every node that would be restarted.
pub fn problems(world: &mut World<'_>, plan: &Plan) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    if world.proxies.is_empty() {
        return problems;
    }
    for step in plan.steps.iter().filter(|step| !step.no_op && step.restarts_server) {
        for name in &step.nodes {
            // Nobody is served by one that is to join, or by an arbitrator.
            if step.kind == crate::galera::JOIN || world.arbitrator(name).is_some() {
                continue;
            }
            if !DRAINING.contains(&step.kind.as_str()) {
                if !may_lead_to(world, name) {
                    continue;
                }
                problems.push(problem(
                    name,
                    "it would be restarted without a drain at the proxies of the inventory",
                    "sealion drains nodes of a Galera cluster at a [[proxy]], and it is none",
                    format!(
                        "where a proxy leads to it, tell that proxy by `drain` and `undrain` of the node, and remove [[proxy]] from the inventory; where none \
                         does, say so in each [[proxy]]: servers = {{ {name} = [] }}"
                    ),
                ));
                continue;
            }
            let left = left_drained(world, name);
            let reasons = if left.is_empty() {
                reasons_against(world, name, Direction::Forward, &[], false)
            } else {
                Ok(left)
            };
            for why in reasons.unwrap_or_else(|error| vec![error.0]) {
                problems.push(problem(
                    name,
                    "it may not be taken from the clients of a proxy",
                    why,
                    "fix that (echo \"show servers state\" | socat SOCKET - shows what the proxy has), then the same command again",
                ));
            }
        }
    }
    if plan.steps.iter().any(|step| !step.no_op && step.restarts_server) {
        for proxy in &mut world.proxies {
            // One that cannot be asked was told of each node that it is in front of.
            if let Err(error @ ProxyError::Refused { .. }) = proxy.lets_set() {
                problems.push(problem(
                    proxy.name(),
                    "it lets nobody be drained",
                    error.to_string(),
                    "write `level admin` into that line of HAProxy's configuration and reload it",
                ));
            }
        }
    }
    let mut once = Vec::new();
    for problem in problems {
        if !once.contains(&problem) {
            once.push(problem);
        }
    }
    once
}

/// Whether a proxy has it among its servers, or does not say.
fn may_lead_to(world: &mut World<'_>, name: &NodeName) -> bool {
    let Ok(looks) = look(world, name) else { return true };
    looks.iter().any(|(_, carried)| carried.as_ref().map_or(true, |carried| carried.own().next().is_some()))
}

/// Where a change that was abandoned has drained the node, and nobody has put it back.
fn left_drained(world: &mut World<'_>, name: &NodeName) -> Vec<String> {
    let topology = world.topology;
    let Ok(kept) = world.node(name).map(|node| topology.drained_at(node)) else { return vec![] };
    let looks = look(world, name).unwrap_or_default();
    let seen = looks.iter().filter_map(|(proxy, carried)| Some((proxy, carried.as_ref().ok()?)));
    seen.flat_map(|(proxy, carried)| carried.own().map(move |one| (proxy, one)))
        .filter(|(proxy, one)| {
            let is_ours = |kept: &Kept| kept.is(proxy, &one.name) && kept.was == AdminState::Ready;
            one.admin == AdminState::Drain && kept.iter().any(is_ours)
        })
        .map(|(proxy, one)| {
            format!(
                "the proxy {proxy} has {} in drain: sealion has set it so, for a change that was abandoned; there: set server {} state ready",
                one.name, one.name
            )
        })
        .collect()
}

/// `kept`, and how every other server of the node is now.
///
/// # Errors
/// A proxy does not say.
pub fn remember(world: &mut World<'_>, name: &NodeName, kept: Vec<Kept>) -> Result<Vec<Kept>, StepError> {
    let mut all = kept;
    for (proxy, carried) in look(world, name)? {
        add_new(&mut all, &proxy, &carried.map_err(|error| not_asked(name, &error))?);
    }
    Ok(all)
}

/// The same of a node that serves nobody yet: a proxy may well not have it. Where it was not found, or a proxy does not say, that is a note of
/// the step.
///
/// # Errors
/// The node is not of this world.
pub fn remember_of_joiner(
    world: &mut World<'_>,
    name: &NodeName,
    kept: Vec<Kept>,
) -> Result<Vec<Kept>, StepError> {
    let mut all = kept;
    for (proxy, carried) in look(world, name)? {
        match carried {
            Ok(carried) => add_new(&mut all, &proxy, &carried),
            Err(error) => {
                let line = format!(
                    "whether a proxy sends clients to {name} before it is Synced was not seen: {error}"
                );
                world.say(&line);
                world.notes.push(line);
            }
        }
    }
    Ok(all)
}

fn add_new(all: &mut Vec<Kept>, proxy: &str, carried: &Carried) {
    for one in carried.own() {
        if !all.iter().any(|kept| kept.is(proxy, &one.name)) {
            all.push(Kept {
                proxy: proxy.to_owned(),
                server: one.name.clone(),
                was: one.admin,
                took_new: one.takes_new,
            });
        }
    }
}

fn not_asked(name: &NodeName, error: &ProxyError) -> StepError {
    StepError(format!(
        "what the clients of {name} are sent to is not known\n  why:  {error}\n  next: see that the proxy answers, then sealion resume"
    ))
}

/// No new clients are sent to the node from here on.
///
/// # Errors
/// A proxy cannot be told: whether it was done is not known.
pub fn drain(world: &mut World<'_>, name: &NodeName, kept: &[Kept]) -> Result<(), StepError> {
    for one in kept.iter().filter(|one| one.was == AdminState::Ready) {
        set(world, name, one, AdminState::Drain)?;
    }
    Ok(())
}

fn set(world: &mut World<'_>, name: &NodeName, one: &Kept, state: AdminState) -> Result<(), StepError> {
    let Some(proxy) = world.proxies.iter_mut().find(|proxy| proxy.name() == one.proxy) else {
        return Err(not_in_inventory(name, one));
    };
    proxy.set_state(&one.server, state).map_err(|error| {
        StepError(format!(
            "{} could not be set to {} for {name}\n  why:  {error}\n  next: see that the proxy answers and lets sealion set states (`level admin`), \
             then sealion resume",
            one.server,
            state.word()
        ))
    })
}

fn not_in_inventory(name: &NodeName, one: &Kept) -> StepError {
    StepError(format!(
        "{name} was drained at the proxy {}, which is not in the inventory any more\n  why:  {} has to be set to {} there\n  next: put that [[proxy]] back \
         into the inventory, then sealion resume, or sealion undo; if there is no such proxy any more: sealion abandon, which closes the change as it is and \
         waits for that proxy no more, then a new plan from there",
        one.proxy,
        one.server,
        one.was.word()
    ))
}

/// Connections of clients that the proxies hold to this node. Some of them may not have reached it yet. A proxy that has no server for it holds
/// none: whether that may be so is asked by whoever takes a node from its clients ([`reasons_against`], [`remember`]).
///
/// # Errors
/// A proxy cannot be asked.
pub fn sessions(world: &mut World<'_>, name: &NodeName) -> Result<u64, StepError> {
    let mut count: u64 = 0;
    for (_, carried) in look(world, name)? {
        let carried = match carried {
            Err(ProxyError::Refused { .. }) => continue,
            carried => carried.map_err(|error| not_asked(name, &error))?,
        };
        count = carried.own().fold(count, |count, one| count.saturating_add(one.sessions));
    }
    Ok(count)
}

/// Each server as it was before. What somebody has set since stays as they set it.
///
/// # Errors
/// A proxy does not say, or cannot be told.
pub fn put_back(world: &mut World<'_>, name: &NodeName, kept: &[Kept]) -> Result<(), StepError> {
    let ours: Vec<&Kept> = kept.iter().filter(|one| one.was == AdminState::Ready).collect();
    if ours.is_empty() {
        return Ok(());
    }
    if let Some(gone) = ours.iter().find(|one| !world.proxies.iter().any(|proxy| proxy.name() == one.proxy)) {
        return Err(not_in_inventory(name, gone));
    }
    for (proxy, carried) in look(world, name)? {
        // One that a joiner has no server at says nothing of it.
        if !ours.iter().any(|one| one.proxy == proxy) {
            continue;
        }
        let carried = carried.map_err(|error| not_asked(name, &error))?;
        for one in ours.iter().filter(|one| one.proxy == proxy) {
            match carried.all.iter().find(|seen| seen.name == one.server).map(|seen| seen.admin) {
                Some(AdminState::Drain) => {
                    set(world, name, one, AdminState::Ready)?;
                    let why = if one.took_new { "for the restart" } else { "until it was Synced" };
                    world.notes.push(format!("{proxy} {}: ready, drained {why}, ready again", one.server));
                }
                Some(AdminState::Ready) => {}
                Some(AdminState::Maint) => {
                    let line = format!(
                        "{proxy} {} is left in maint: somebody has set it so since it was drained",
                        one.server
                    );
                    world.say(&line);
                    world.notes.push(line);
                }
                None => {
                    let line =
                        format!("{proxy} has no server {} any more, which was drained there", one.server);
                    world.say(&line);
                    world.notes.push(line);
                }
            }
        }
    }
    Ok(())
}

/// Waits until every proxy sends clients to the node again, but for servers that were out before.
///
/// # Errors
/// One does not within [`crate::Limits::proxy_up_ms_max`], or cannot be asked.
pub fn wait_up(world: &mut World<'_>, name: &NodeName, kept: &[Kept]) -> Result<(), StepError> {
    let began = world.node(name)?.now_ms();
    loop {
        let mut missing = Vec::new();
        for (proxy, carried) in look(world, name)? {
            let carried = match carried {
                Ok(carried) => carried,
                Err(error) => {
                    missing.push(error.to_string());
                    continue;
                }
            };
            for one in carried.own() {
                let was_out = kept.iter().any(|kept| kept.is(&proxy, &one.name) && !kept.took_new);
                let is_back = one.takes_new && one.is_up;
                // Maint of somebody else's: said when the node was put back.
                if !was_out && one.admin != AdminState::Maint && !is_back {
                    missing.push(format!("the proxy {proxy} has {} as {}", one.name, one.status));
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        if world.node(name)?.now_ms() - began > world.limits.proxy_up_ms_max {
            return Err(StepError(format!(
                "{name} is Synced, and a proxy does not send clients to it again after {} s\n  why:  {}\n  next: see why its health check fails \
                 (last_chk in `show stat`): a check without TLS or a password that the server refuses now, for example; then sealion resume, or sealion undo",
                world.limits.proxy_up_ms_max / 1000,
                missing.join("\n        ")
            )));
        }
        sleep(world, POLL_MS);
    }
}

/// Whether the health check of one of these passes.
///
/// # Errors
/// A proxy does not say.
pub fn is_seen_up(world: &mut World<'_>, name: &NodeName, kept: &[Kept]) -> Result<bool, StepError> {
    for (proxy, carried) in look(world, name)? {
        if !kept.iter().any(|one| one.proxy == proxy) {
            continue;
        }
        let carried = carried.map_err(|error| not_asked(name, &error))?;
        if carried.own().any(|one| one.is_up) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Servers of the node whose health check passes, or that have none.
///
/// # Errors
/// A proxy does not say.
pub fn seen_up(world: &mut World<'_>, name: &NodeName) -> Result<Vec<(String, ServerName)>, StepError> {
    let mut up = Vec::new();
    for (proxy, carried) in look(world, name)? {
        let carried = carried.map_err(|error| not_asked(name, &error))?;
        up.extend(carried.own().filter(|one| one.is_up).map(|one| (proxy.clone(), one.name.clone())));
    }
    Ok(up)
}

/// Watches for some health checks whether those that passed still do. `Some`: one does not, and what it says.
///
/// # Errors
/// A proxy does not say.
pub fn check_fails(
    world: &mut World<'_>,
    name: &NodeName,
    up: &[(String, ServerName)],
) -> Result<Option<String>, StepError> {
    let began = world.node(name)?.now_ms();
    while !up.is_empty() && world.node(name)?.now_ms() - began <= world.limits.proxy_checks_ms {
        for (proxy, carried) in look(world, name)? {
            let carried = carried.map_err(|error| not_asked(name, &error))?;
            let is_lost = |one: &&ProxyServer| {
                !one.is_up && up.iter().any(|(at, server)| *at == proxy && *server == one.name)
            };
            if let Some(one) = carried.own().find(is_lost) {
                return Ok(Some(format!("the proxy {proxy} has {} as {}", one.name, one.status)));
            }
        }
        sleep(world, POLL_MS);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_as_it_was_written() {
        let server = ServerName::parse("galera/db1").expect("a name");
        for was in [AdminState::Ready, AdminState::Drain, AdminState::Maint] {
            for took_new in [true, false] {
                let kept = Kept { proxy: "edge".into(), server: server.clone(), was, took_new };
                assert_eq!(Kept::of_line(&kept.to_line()), Some(kept));
            }
        }
        for line in [
            "",
            "E4.n1",
            "E4.n1 drained",
            "proxy edge galera ready up",
            "proxy edge g/d up ready",
            "proxy e g/d ready up x",
        ] {
            assert_eq!(Kept::of_line(line), None, "{line}");
        }
    }
}
