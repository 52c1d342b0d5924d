//! The matrix of faults: each fault at each moment of a change; then `resume` ends in the wished state, or `undo` in the old one.
//!
//! What runs is `change_ops::roll`, with its locks, lease and copies of the journals. Whoever goes on has the state directory of
//! the one who began, or another one that is empty: then the journal is taken over from the nodes.
//!
//! A failure prints its scenario with its seed. `SEALION_SIM_ONLY='<part of a scenario>'` runs only those, `SEALION_SIM_SEED=n`
//! another world; `SEALION_DEEP=1` runs every instant within the actions too, of which otherwise a part is tried, and lets another
//! operator go on after each, as otherwise after a part, chosen by the seed.

use std::collections::BTreeMap;
use std::path::Path;

use change::{Direction, Outcome};
use model::{Change, Noun, Verb};
use server::accounts::Account;
use testbed::sim::disk::Entry;
use testbed::sim::process::Live;
use testbed::sim::rng::Rng;
use testbed::sim::{End, Fault, Instant, Operator, Rig, World};

/// All forks of one base have the same seed, so that they pass through the same instants until the fault.
pub fn seed() -> u64 {
    std::env::var("SEALION_SIM_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_121)
}

/// Without SEALION_DEEP, one of so many instants within actions is tried.
const STRIDE: usize = 13;
/// Without SEALION_DEEP, after one of so many faults another operator goes on.
const ANOTHER_IN: u64 = 3;
/// Longer than a lease that nobody renews.
const LAPSED_MS: u64 = 61_000;

/// Nothing is away for longer.
const AWAY_MS_MAX: u64 = 600_000;

/// Who goes on after the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Same,
    /// With an empty state directory, when the lease has lapsed.
    Another,
    /// The same, at once with `--take-over`.
    AnotherAtOnce,
}

pub fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}
pub fn disable() -> Change {
    Change::new(Verb::Disable, Noun::ALL)
}
pub fn rotate() -> Change {
    Change::new(Verb::Rotate, Noun::ALL)
}

pub fn plain() -> Rig {
    Rig::on(World::cluster(seed(), 3))
}

pub fn after(change: &Change) -> Rig {
    let rig = plain();
    let before = Operator::new(&rig, "root@long-ago");
    let plan = before.plan(change).expect("a plan");
    let end = before.apply(&plan);
    assert!(end.is_complete(), "{change}: {end:?}");
    rig
}

pub fn sealed() -> Rig {
    after(&enable())
}

fn option_files(files: &BTreeMap<String, Entry>) -> BTreeMap<String, Entry> {
    files
        .iter()
        .filter(|(path, _)| path.contains(".cnf") || path.contains("/etc/default/"))
        .map(|(path, entry)| (path.clone(), entry.clone()))
        .collect()
}

/// What a clean run passes through and ends in.
pub struct Clean {
    pub instants: Vec<Instant>,
    option_files: BTreeMap<String, Entry>,
    letters: String,
    requires_tls: Vec<bool>,
    accounts: Vec<Vec<Account>>,
    replaces_ca: bool,
}

/// `require_secure_transport` as it runs, not as it stands in a file.
fn requires_tls(world: &World) -> Vec<bool> {
    world.servers.iter().map(|server| server.live.as_ref().is_some_and(|live| live.requires_tls)).collect()
}

/// Of each server.
fn accounts(world: &World) -> Vec<Vec<Account>> {
    (0..world.servers.len()).map(|index| world.accounts_on(index)).collect()
}

pub fn rehearse(base: &Rig, change: &Change) -> Clean {
    let rig = base.fork(seed());
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(change).expect("a plan");
    rig.arm(None);
    let end = operator.apply(&plan);
    assert!(end.is_complete(), "the clean run of {change}: {end:?}");
    let settles_ms = rig.shared.borrow().settles_ms();
    rig.shared.borrow_mut().advance_until(settles_ms, World::is_whole);
    let world = rig.shared.borrow();
    assert_eq!(world.violations, Vec::<String>::new());
    assert_eq!(world.app.failed, 0, "a drained roll fails no transaction");
    let instants = world.faults.trace.clone();
    Clean {
        instants,
        option_files: option_files(&world.user_files()),
        letters: world.letters(),
        requires_tls: requires_tls(&world),
        accounts: accounts(&world),
        replaces_ca: change.has(Noun::Ca),
    }
}

/// Each member has a leaf of the CA that signs now, and at the end of a rollover nobody trusts another one.
pub fn not_of_our_ca(rig: &Rig, world: &World, wish: Direction) -> Vec<String> {
    let ca = std::fs::read(rig.ca_dir().join("ca.pem")).expect("there");
    let mut wrong = Vec::new();
    for server in &world.servers {
        // A node's group, and else what its clients meet.
        let of_galera = |live: &Live| live.galera.as_ref().map(|one| (one.cert.clone(), one.trusted.clone()));
        let of_clients = |live: &Live| {
            live.client.as_ref().map(|one| (one.leaf.clone(), one.ca.clone().unwrap_or_default()))
        };
        let Some(live) = &server.live else { continue };
        let Some((cert, trusted)) = of_galera(live).or_else(|| of_clients(live)) else { continue };
        if trust::chain_ok(&cert, &ca, world.unix_s()).is_err() {
            wrong.push(format!("the leaf of {} is not of the CA that signs now", server.name()));
        }
        // What is over serves nobody, whoever still has it in memory.
        let ends = trust::inspect(&trusted).expect("certificates").into_iter().map(|one| one.not_after_unix);
        let trusted = trust::bundle::fingerprints(&trusted).expect("certificates").into_iter().zip(ends);
        let trusted: Vec<String> =
            trusted.filter(|(_, end)| *end > world.unix_s()).map(|(print, _)| print).collect();
        let signs = trust::bundle::fingerprints(&ca).expect("a certificate");
        if wish == Direction::Forward && trusted != signs {
            wrong.push(format!("{} trusts another CA too", server.name()));
        }
    }
    wrong
}

/// Everything that must hold at the end, as a list of what does not.
/// Keys, certificates and option files that a killed sealion began to write.
pub fn half_written(server: &testbed::sim::process::Server) -> Vec<String> {
    let paths = server.disk.entries.keys().map(|path| path.display().to_string());
    paths.filter(|path| path.contains(".pem.sealion-") || path.contains(".cnf.sealion-")).collect()
}

/// What clients are judged by follows from what members are judged by, and from the note of their own CA.
fn client_cas_lost(server: &testbed::sim::process::Server) -> Option<String> {
    let text = |path: &Path| server.disk.text(path.to_str().expect("text"));
    let dir = &server.spec.tls_dir;
    let noted = text(&server.spec.state_dir.join("client-ca.pem"));
    let wanted = noted.and_then(|noted| Some(text(&dir.join("ca.pem"))? + &noted));
    let found = text(&dir.join("client-ca.pem"));
    (found != wanted)
        .then(|| format!("{}: client-ca.pem does not follow from ca.pem and its note", server.name()))
}

fn broken(
    rig: &Rig,
    operators: &[&Operator],
    wish: Direction,
    clean: &Clean,
    before: &BTreeMap<String, Entry>,
    old: &World,
) -> Vec<String> {
    let letters = old.letters();
    let mut wrong = Vec::new();
    let settles_ms = rig.shared.borrow().settles_ms();
    rig.shared.borrow_mut().advance_until(settles_ms, World::is_whole);
    let world = rig.shared.borrow();
    wrong.extend(world.violations.clone());
    wrong.extend(world.lost());
    if !world.is_whole() {
        let states: Vec<String> = world
            .servers
            .iter()
            .map(|s| format!("{} {:?} {} desync {}", s.name(), s.group, s.local_state, s.desync))
            .collect();
        wrong.push(format!("the cluster is not whole: {}", states.join(", ")));
    }
    let wanted = if wish == Direction::Forward { clean.letters.as_str() } else { letters.as_str() };
    if world.letters() != wanted {
        wrong.push(format!("the nodes speak {}, not {wanted}", world.letters()));
    }
    let wanted = if wish == Direction::Forward { clean.requires_tls.clone() } else { requires_tls(old) };
    if requires_tls(&world) != wanted {
        wrong.push(format!("require_secure_transport is {:?}, not {wanted:?}", requires_tls(&world)));
    }
    let wanted = if wish == Direction::Forward { clean.accounts.clone() } else { accounts(old) };
    if accounts(&world) != wanted {
        wrong.push(format!("the accounts are {:?}, not {wanted:?}", accounts(&world)));
    }
    // Whoever joins disturbs nobody: no member is stopped, whatever was killed.
    if let Some(joiner) = world.servers.iter().position(|server| server.is_spare)
        && let Some(stopped) = world.stops.iter().find(|stopped| **stopped != joiner)
    {
        wrong.push(format!("{} was stopped by sealion", world.servers[*stopped].name()));
    }
    for (server, was) in world.servers.iter().zip(&old.servers) {
        if server.disk.links != was.disk.links {
            wrong.push(format!("{}: symbolic links became {:?}", server.name(), server.disk.links));
        }
    }
    let files = world.user_files();
    let (now, wanted) = match wish {
        Direction::Forward => (option_files(&files), clean.option_files.clone()),
        Direction::Back => (files, before.clone()),
    };
    for path in now.keys().chain(wanted.keys()) {
        if now.get(path) != wanted.get(path) {
            wrong.push(format!("{path} is not as it should be"));
        }
    }
    for server in &world.servers {
        wrong.extend(
            half_written(server).into_iter().map(|path| format!("{}: {path} is left", server.name())),
        );
        if server.disk.text("/var/lib/sealion/threads.json").is_some() {
            wrong.push(format!("{} is still noted to have stopped threads", server.name()));
        }
        if server.disk.text("/var/lib/sealion/drained").is_some() {
            wrong.push(format!("{} is still marked as drained", server.name()));
        }
        if server.disk.text("/var/lib/sealion/joining").is_some() {
            wrong.push(format!("{} is still marked as joining", server.name()));
        }
    }
    for (index, server) in world.servers.iter().enumerate() {
        if world.has_lease(index) {
            wrong.push(format!("{}: the lease is not free", server.name()));
        }
        for file in ["node-key.pem", "node-cert.pem", "ca.pem"] {
            let entry = server.disk.entries.get(&server.spec.tls_dir.join(file));
            let is_sound = |entry: &Entry| {
                let mode = if file == "node-key.pem" { 0o600 } else { 0o644 };
                entry.bytes.is_some() && (entry.uid, entry.mode) == (server.uid(), mode)
            };
            if entry.is_some_and(|entry| !is_sound(entry)) {
                wrong.push(format!("{}: {file} is {entry:?}", server.name()));
            }
        }
    }
    wrong.extend(world.servers.iter().filter_map(client_cas_lost));
    if clean.replaces_ca {
        wrong.extend(not_of_our_ca(rig, &world, wish));
    }
    drop(world);
    for server in &rig.shared.borrow().servers {
        let is_left = |path: &Path| path.starts_with(server.spec.state_dir.join("incoming"));
        if server.disk.entries.iter().any(|(path, entry)| entry.bytes.is_some() && is_left(path)) {
            wrong.push(format!("{} has a key left over in sealion's own directory", server.name()));
        }
    }
    let journals = operators.iter().flat_map(|operator| operator.journals());
    let mut texts: String = rig.shared.borrow().said.join("\n");
    for (path, bytes) in journals {
        if let Err(error) = change::journal::parse(&bytes, &path) {
            wrong.push(error.to_string());
        }
        texts += &String::from_utf8_lossy(&bytes);
    }
    if texts.contains("PRIVATE KEY") || texts.contains("hunter2") {
        wrong.push("a secret is in the journal or was said".into());
    }
    wrong
}

/// Goes on with the change that is open, if one is; waits for a lease of a sealion that cannot be seen to be gone.
fn go_on(
    rig: &Rig,
    operator: &Operator,
    id: &str,
    wish: Direction,
    wrong: &mut Vec<String>,
    waits: bool,
) -> End {
    // What was finished long ago is not to be undone.
    let is_this = operator.finished_change().is_some_and(|plan| plan.id == id);
    if operator.open_plan().is_none() && !(is_this && wish == Direction::Back) {
        return End::NothingToResume;
    }
    let end = operator.go_on(Some(wish));
    match &end {
        End::Refused(text) if text.contains("another sealion is at work") && waits => {
            rig.shared.borrow_mut().advance(LAPSED_MS);
            operator.go_on(Some(wish))
        }
        End::Refused(text) => {
            wrong.push(format!("refused: {text}"));
            end
        }
        _ => end,
    }
}

pub fn scenario(
    base: &Rig,
    change: &Change,
    clean: &Clean,
    at: usize,
    fault: Fault,
    wish: Direction,
    then: Then,
) -> Vec<String> {
    let rig = base.fork(seed());
    {
        // systemd starts a crashed server again; a container may not. Both are tried.
        let by_itself = at.is_multiple_of(3);
        rig.shared.borrow_mut().servers.iter_mut().for_each(|server| server.restarts_by_itself = by_itself);
    }
    let (before, old) = (rig.shared.borrow().user_files(), rig.shared.borrow().clone());
    let one = Operator::new(&rig, "root@db1");
    let mut another = Operator::new(&rig, "root@db2");
    another.takes_over(then == Then::AnotherAtOnce);
    let plan = one.plan(change).expect("a plan");
    rig.arm(Some((at, fault)));
    let first = one.apply(&plan);
    rig.arm(None);
    if fault == Fault::PowerCut {
        one.reboot();
    }
    let mut wrong = Vec::new();
    // Nobody was killed: the change itself has to get over it.
    if fault == Fault::Stumble && !first.is_complete() {
        wrong.push("a start that passes stopped the change".into());
    }
    if matches!(fault, Fault::DiskFull | Fault::HostDiskFull) {
        rig.shared.borrow_mut().servers.iter_mut().for_each(|server| server.disk.free_bytes = 1 << 30);
    }
    let who = if then == Then::Same { &one } else { &another };
    let waits = then == Then::Another || fault == Fault::PowerCut;
    // A person does not know yet that a host or a network is away; when it is back, the same command is typed again.
    let is_away = rig.shared.borrow().is_anything_away();
    let mut said = Vec::new();
    let mut end = go_on(&rig, who, &plan.id, wish, &mut said, waits);
    if is_away && !end.is_complete() {
        let is_back = rig.shared.borrow_mut().advance_until(AWAY_MS_MAX, |world| !world.is_anything_away());
        assert!(is_back, "what is away comes back");
        said.clear();
        end = go_on(&rig, who, &plan.id, wish, &mut said, waits);
    }
    wrong.append(&mut said);
    if end == End::NothingToResume {
        // Nothing was journalled, so nothing was begun: as before the first try, all nodes must be up.
        let is_done = who.finished_change().is_some_and(|done| done.id == plan.id);
        for index in 0..rig.inventory.len() {
            // A server that joins is a node only once it has joined.
            if is_done || !rig.shared.borrow().servers[index].is_spare {
                rig.shared.borrow_mut().start(index);
            }
        }
        let settles_ms = rig.shared.borrow().settles_ms().max(60_000);
        rig.shared.borrow_mut().advance_until(settles_ms, World::is_whole);
        // A lease of somebody who was killed, or lost all hosts, before the first step keeps the next one off as well.
        let may_be_left = first == End::Killed || loses_hosts(fault);
        rig.shared.borrow_mut().advance(if may_be_left { LAPSED_MS } else { 0 });
        end = match wish {
            Direction::Forward if is_done => free_the_lease(who),
            Direction::Forward => match who.plan(change) {
                Ok(plan) => who.apply(&plan),
                Err(error) => End::Refused(error.to_string()),
            },
            Direction::Back => free_the_lease(who),
        };
    }
    if let End::NotRevived(text) = &end {
        return lost_quorum(&rig, text);
    }
    if then != Then::Same {
        wrong.extend(stuck(&one, &another));
    }
    if loses_hosts(fault) {
        // On a host that was out of reach when a sealion ended, its lease is over when it lapses.
        rig.shared.borrow_mut().advance(LAPSED_MS);
    }
    // What is still cut off when a change ends well comes back by itself; then the cluster has to be whole.
    rig.shared.borrow_mut().advance_until(AWAY_MS_MAX, |world| !world.is_anything_away());
    wrong.extend(broken(&rig, &[&one, &another], wish, clean, &before, &old));
    if !end.is_complete() {
        wrong.insert(0, format!("it ended {end:?}"));
    }
    if !wrong.is_empty() {
        wrong.insert(0, format!("first {first:?}"));
    }
    wrong
}

/// Whoever was killed before anything was begun leaves a lease, which the next command of anybody takes and gives back.
fn free_the_lease(who: &Operator) -> End {
    match who.abandon() {
        End::NothingToResume => End::Outcome(Outcome::Complete),
        other => other,
    }
}

/// Sealion may end while it cannot reach a host.
fn loses_hosts(fault: Fault) -> bool {
    matches!(fault, Fault::HostLost(_) | Fault::AllHostsLost(_) | Fault::FreezeHost(_))
}

/// Somebody else has brought the change to its end: the one who began it learns that, or can close what is left open here.
fn stuck(one: &Operator, another: &Operator) -> Vec<String> {
    let mut wrong = Vec::new();
    if another.open_change().is_some() {
        wrong.push("whoever went on has a change open".into());
    }
    if one.open_plan().is_some() {
        let end = one.abandon();
        if !end.is_complete() || one.open_plan().is_some() {
            wrong.push(format!("whoever began is stuck: {end:?}"));
        }
    }
    wrong
}

/// No node is Primary and none can be without a person's word: then sealion says where each stands, and does nothing.
fn lost_quorum(rig: &Rig, text: &str) -> Vec<String> {
    let world = rig.shared.borrow();
    let mut wrong = world.violations.clone();
    if !world.primary_components().is_empty() {
        wrong.push(format!("a primary component is there, and yet: {text}"));
    }
    for server in world.servers.iter().filter(|server| !server.is_spare) {
        // Who has no data has none.
        let (begins, has) = if server.is_arbitrator {
            (format!("{} (arbitrator):", server.name()), "")
        } else {
            (format!("{}:", server.name()), "seqno")
        };
        let line = text.lines().find(|line| line.trim_start().starts_with(&begins));
        if line.is_none_or(|line| !line.contains(has)) {
            wrong.push(format!("no seqno of {} in: {text}", server.name()));
        }
    }
    if !text.contains("sealion never does this") || !text.contains("sealion resume") {
        wrong.push(format!("it does not say what to run: {text}"));
    }
    wrong
}

fn only() -> Option<String> {
    std::env::var("SEALION_SIM_ONLY").ok()
}

pub fn check(base: &Rig, change: &Change, faults: &[Fault], wishes: &[Direction]) {
    check_some(base, change, faults, wishes, 1);
}

/// The same; without SEALION_DEEP only one of so many scenarios is tried, chosen by the seed.
pub fn check_some(base: &Rig, change: &Change, faults: &[Fault], wishes: &[Direction], one_in: u64) {
    let clean = rehearse(base, change);
    let deep = std::env::var_os("SEALION_DEEP").is_some() || only().is_some();
    let (mut failures, mut tried) = (Vec::new(), 0);
    let mut rng = Rng::new(seed());
    for (at, instant) in clean.instants.iter().enumerate() {
        let is_copy = instant.before.contains(".journal");
        let is_chosen = instant.before.is_empty() || (at % STRIDE == 0 && !is_copy) || deep;
        for (nth, &fault) in faults.iter().enumerate() {
            for (way, &wish) in wishes.iter().enumerate() {
                // Both ways after each kill of sealion; else one of them, in turn, and both in the deep run.
                if !deep && fault != Fault::KillSealion && wishes.len() == 2 && (at + nth) % 2 != way {
                    continue;
                }
                let all = [Then::Same, Then::Another, Then::AnotherAtOnce];
                let chosen = match rng.between(0, 2 * ANOTHER_IN) {
                    0 => Then::Another,
                    1 => Then::AnotherAtOnce,
                    _ => Then::Same,
                };
                let is_left_out = !deep && one_in > 1 && rng.between(1, one_in) > 1;
                for then in all {
                    if is_left_out {
                        continue;
                    }
                    let name = format!(
                        "{change} seed {} instant {at} ({instant}) {fault:?} then {wish:?} by {then:?}",
                        seed()
                    );
                    let is_named = only().is_some_and(|part| name.contains(&part));
                    if !is_chosen || !(is_named || (only().is_none() && (deep || then == chosen))) {
                        continue;
                    }
                    tried += 1;
                    let wrong = scenario(base, change, &clean, at, fault, wish, then);
                    if !wrong.is_empty() {
                        failures.push(format!("{name}\n    {}", wrong.join("\n    ")));
                    }
                }
            }
        }
    }
    assert!(tried > 0, "no scenario is called so");
    let count = failures.len();
    failures.truncate(8);
    assert!(count == 0, "{count} of {tried} scenarios failed:\n{}", failures.join("\n"));
}

pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Back];
/// Two nodes and garbd: while one of the three restarts, the other two are the quorum.
pub fn with_arbitrator() -> Rig {
    Rig::on(World::cluster_with_arbitrator(seed(), 2))
}

/// Three nodes and garbd, where the third one is in nobody's cluster address but its own, as one that joined later.
pub fn grown() -> Rig {
    Rig::on(World::grown_cluster_with_arbitrator(seed(), 3, 1))
}

pub fn sealed_with_arbitrator() -> Rig {
    strict(with_arbitrator())
}

pub fn sealed_and_grown() -> Rig {
    strict(grown())
}

fn strict(rig: Rig) -> Rig {
    let before = Operator::new(&rig, "root@long-ago");
    let end = before.apply(&before.plan(&enable()).expect("a plan"));
    assert!(end.is_complete(), "{end:?}");
    assert!(rig.shared.borrow().letters().chars().all(|letter| letter == 'S'));
    rig
}

/// Three sealed nodes, and a server that was never started.
pub fn beside_a_spare() -> Rig {
    let mut rig = Rig::on(World::with_spare(seed(), 3));
    rig.inventory = vec![0, 1, 2];
    let before = Operator::new(&rig, "root@long-ago");
    assert!(before.apply(&before.plan(&enable()).expect("a plan")).is_complete());
    rig.shared.borrow_mut().stops.clear();
    rig.inventory = vec![0, 1, 2, 3];
    rig
}

pub fn join() -> Change {
    Change::join("n4".into())
}
