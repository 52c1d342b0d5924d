//! Sealion or a server is killed at every moment of every change; then `resume` ends in the wished state, or `undo` in the old one.
//!
//! A failure prints its scenario with its seed. `SEALION_SIM_ONLY='<part of a scenario>'` runs only those, `SEALION_SIM_SEED=n`
//! another world; `SEALION_DEEP=1` runs every instant within the actions too, of which otherwise a part is tried.

use std::collections::BTreeMap;
use std::path::Path;

use change::{Direction, Outcome};
use model::{Change, Noun, Verb};
use testbed::sim::disk::Entry;
use testbed::sim::{End, Fault, Instant, Rig, World};

/// All forks of one base have the same seed, so that they pass through the same instants until the fault.
fn seed() -> u64 {
    std::env::var("SEALION_SIM_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_121)
}

/// Without SEALION_DEEP, one of so many instants within actions is tried.
const STRIDE: usize = 13;

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}
fn disable() -> Change {
    Change::new(Verb::Disable, Noun::ALL)
}
fn rotate() -> Change {
    Change::new(Verb::Rotate, Noun::ALL)
}

fn plain() -> Rig {
    Rig::on(World::cluster(seed(), 3))
}

fn sealed() -> Rig {
    let rig = plain();
    rig.must(&enable());
    rig
}

fn option_files(files: &BTreeMap<String, Entry>) -> BTreeMap<String, Entry> {
    files
        .iter()
        .filter(|(path, _)| path.contains(".cnf"))
        .map(|(path, entry)| (path.clone(), entry.clone()))
        .collect()
}

/// What a clean run passes through and ends in.
struct Clean {
    instants: Vec<Instant>,
    option_files: BTreeMap<String, Entry>,
    letters: String,
    requires_tls: Vec<bool>,
}

/// `require_secure_transport` as it runs, not as it stands in a file.
fn requires_tls(world: &World) -> Vec<bool> {
    world.servers.iter().map(|server| server.live.as_ref().is_some_and(|live| live.requires_tls)).collect()
}

fn rehearse(base: &Rig, change: &Change) -> Clean {
    let rig = base.fork(seed());
    let plan = rig.plan(change).expect("a plan");
    rig.arm(None);
    let end = rig.apply(&plan);
    assert!(end.is_complete(), "the clean run of {change}: {end:?}");
    let world = rig.shared.borrow();
    assert_eq!(world.violations, Vec::<String>::new());
    assert_eq!(world.app.failed, 0, "a drained roll fails no transaction");
    let instants = world.faults.trace.clone();
    Clean {
        instants,
        option_files: option_files(&world.user_files()),
        letters: world.letters(),
        requires_tls: requires_tls(&world),
    }
}

/// Everything that must hold at the end, as a list of what does not.
fn broken(
    rig: &Rig,
    wish: Direction,
    clean: &Clean,
    before: &BTreeMap<String, Entry>,
    old: &World,
) -> Vec<String> {
    let letters = old.letters();
    let mut wrong = Vec::new();
    rig.shared.borrow_mut().advance_until(10_000, World::is_whole);
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
        if server.disk.text("/var/lib/sealion/drained").is_some() {
            wrong.push(format!("{} is still marked as drained", server.name()));
        }
    }
    if let Err(error) = rig.journal_parses() {
        wrong.push(error);
    }
    drop(world);
    for server in &rig.shared.borrow().servers {
        let is_left = |path: &Path| path.starts_with("/var/lib/sealion/incoming");
        if server.disk.entries.iter().any(|(path, entry)| entry.bytes.is_some() && is_left(path)) {
            wrong.push(format!("{} has a key left over in sealion's own directory", server.name()));
        }
    }
    if rig.texts().contains("PRIVATE KEY") || rig.texts().contains("hunter2") {
        wrong.push("a secret is in the journal or was said".into());
    }
    wrong
}

fn scenario(
    base: &Rig,
    change: &Change,
    clean: &Clean,
    at: usize,
    fault: Fault,
    wish: Direction,
) -> Vec<String> {
    let rig = base.fork(seed());
    {
        // systemd starts a crashed server again; a container may not. Both are tried.
        let by_itself = at.is_multiple_of(3);
        rig.shared.borrow_mut().servers.iter_mut().for_each(|server| server.restarts_by_itself = by_itself);
    }
    let (before, old) = (rig.shared.borrow().user_files(), rig.shared.borrow().clone());
    let plan = rig.plan(change).expect("a plan");
    rig.arm(Some((at, fault)));
    let first = rig.apply(&plan);
    rig.arm(None);
    // Nobody was killed: the change itself has to get over it.
    let stumbled_over = fault == Fault::Stumble && !first.is_complete();
    if fault == Fault::DiskFull {
        rig.shared.borrow_mut().servers.iter_mut().for_each(|server| server.disk.free_bytes = 1 << 30);
    }
    let mut end = rig.resume(Some(wish));
    if end == End::NothingToResume {
        // Nothing was journalled, so nothing was begun: as before the first try, all nodes must be up.
        for index in 0..3 {
            rig.shared.borrow_mut().start(index);
        }
        rig.shared.borrow_mut().advance_until(60_000, World::is_whole);
        end = match wish {
            Direction::Forward => rig.apply(&plan),
            Direction::Back => End::Outcome(Outcome::Complete),
        };
    }
    if let End::NotRevived(text) = &end {
        return lost_quorum(&rig, text);
    }
    let mut wrong = broken(&rig, wish, clean, &before, &old);
    if !end.is_complete() {
        wrong.insert(0, format!("it ended {end:?}"));
    }
    if stumbled_over {
        wrong.push("a start that passes stopped the change".into());
    }
    if !wrong.is_empty() {
        wrong.insert(0, format!("first {first:?}"));
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
    for server in &world.servers {
        let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{}:", server.name())));
        if line.is_none_or(|line| !line.contains("seqno")) {
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

fn check(base: &Rig, change: &Change, faults: &[Fault], wishes: &[Direction]) {
    let clean = rehearse(base, change);
    let deep = std::env::var_os("SEALION_DEEP").is_some() || only().is_some();
    let (mut failures, mut tried) = (Vec::new(), 0);
    for (at, instant) in clean.instants.iter().enumerate() {
        let is_copy = instant.before.contains(".journal");
        let is_chosen = instant.before.is_empty() || (at % STRIDE == 0 && !is_copy) || deep;
        for (nth, &fault) in faults.iter().enumerate() {
            for (way, &wish) in wishes.iter().enumerate() {
                // Both ways after each kill of sealion; else one of them, in turn, and both in the deep run.
                if !deep && fault != Fault::KillSealion && wishes.len() == 2 && (at + nth) % 2 != way {
                    continue;
                }
                let name =
                    format!("{change} seed {} instant {at} ({instant}) {fault:?} then {wish:?}", seed());
                if !is_chosen || only().is_some_and(|part| !name.contains(&part)) {
                    continue;
                }
                tried += 1;
                let wrong = scenario(base, change, &clean, at, fault, wish);
                if !wrong.is_empty() {
                    failures.push(format!("{name}\n    {}", wrong.join("\n    ")));
                }
            }
        }
    }
    assert!(tried > 0, "no scenario is called so");
    let count = failures.len();
    failures.truncate(8);
    assert!(count == 0, "{count} of {tried} scenarios failed:\n{}", failures.join("\n"));
}

const BOTH: [Direction; 2] = [Direction::Forward, Direction::Back];
const SERVERS: [Fault; 2] = [Fault::KillStepNode, Fault::KillOtherNode];

#[test]
fn enable_survives_sealion_killed() {
    check(&plain(), &enable(), &[Fault::KillSealion], &BOTH);
}

#[test]
fn enable_survives_a_server_killed() {
    check(&plain(), &enable(), &SERVERS, &BOTH);
}

#[test]
fn enable_survives_power_cuts_and_full_disks() {
    check(&plain(), &enable(), &[Fault::PowerCut, Fault::DiskFull], &BOTH);
}

/// What an earlier change has put there is not this one's to take back: keys, files, nodes.
#[test]
fn enable_beside_an_earlier_change_takes_back_its_own_part_only() {
    let galera = Change::new(Verb::Enable, [Noun::Galera]);
    let rest = Change::new(Verb::Enable, [Noun::Sst, Noun::Clients]);
    let base = plain();
    base.must(&galera);
    check(&base, &rest, &[Fault::KillSealion], &BOTH);
}

#[test]
fn enable_and_disable_survive_a_start_that_passes() {
    check(&plain(), &enable(), &[Fault::Stumble], &BOTH);
    check(&sealed(), &disable(), &[Fault::Stumble], &BOTH);
}

#[test]
fn disable_survives_sealion_killed() {
    check(&sealed(), &disable(), &[Fault::KillSealion], &BOTH);
}

#[test]
fn disable_survives_a_server_killed() {
    check(&sealed(), &disable(), &SERVERS, &BOTH);
}

#[test]
fn disable_survives_power_cuts_and_full_disks() {
    check(&sealed(), &disable(), &[Fault::PowerCut, Fault::DiskFull], &BOTH);
}

#[test]
fn rotate_survives_everything() {
    check(
        &sealed(),
        &rotate(),
        &[Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull],
        &BOTH,
    );
}
