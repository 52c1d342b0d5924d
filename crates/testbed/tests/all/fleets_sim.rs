//! Many servers that replicate in many ways, in memory: in which order they are changed, whatever fails.
//!
//! `SEALION_SIM_SEED=n` takes other topologies and failures.

use std::time::Instant;

use change::Direction;
use model::{Change, Noun, Verb};
use testbed::sim::rng::Rng;
use testbed::sim::{Fault, Operator, Rig, World};

use crate::kill_matrix::{Then, rehearse, scenario, seed};

/// So many topologies, and failures of each.
const TOPOLOGIES: u64 = 12;
const FAILURES: usize = 6;

fn change(verb: Verb) -> Change {
    Change::new(verb, Noun::OF_REPLICAS)
}

/// Trees, chains and fans; some sources replicate from each other, some replicas have two sources.
fn topology(rng: &mut Rng) -> Vec<Vec<usize>> {
    let count = usize::try_from(rng.between(2, 7)).expect("small");
    let mut sources: Vec<Vec<usize>> = vec![vec![]; count];
    for (at, of) in sources.iter_mut().enumerate().skip(1) {
        let earlier: Vec<usize> = (0..at).collect();
        if at == 1 || !rng.percent(15) {
            of.extend(rng.choose(&earlier));
        }
        if at > 2 && rng.percent(10) {
            let second = rng.choose(&earlier).filter(|second| !of.contains(second));
            of.extend(second);
        }
    }
    if rng.percent(25) && sources[1] == [0] {
        sources[0].push(1);
    }
    let places = rng.shuffled(count);
    let mut mixed = vec![vec![]; count];
    for (at, of) in sources.iter().enumerate() {
        mixed[places[at]].extend(of.iter().map(|source| places[*source]));
    }
    mixed
}

/// Everything that gets what `source` writes.
fn gets_from(sources: &[Vec<usize>], replica: usize, source: usize) -> bool {
    let (mut known, mut open) = (vec![], vec![replica]);
    while let Some(one) = open.pop() {
        for &next in &sources[one] {
            if next == source {
                return true;
            }
            if !known.contains(&next) {
                known.push(next);
                open.push(next);
            }
        }
    }
    false
}

/// Each was stopped once, and no source before a replica of it.
fn in_order(sources: &[Vec<usize>], stops: &[usize]) {
    let place = |one: usize| {
        let mut places = stops.iter().enumerate().filter(|(_, stopped)| **stopped == one);
        let (place, _) = places.next().unwrap_or_else(|| panic!("n{} was not restarted: {stops:?}", one + 1));
        assert!(places.next().is_none(), "n{} was restarted twice: {stops:?}", one + 1);
        place
    };
    for (replica, of) in sources.iter().enumerate() {
        for &source in of.iter().filter(|source| !gets_from(sources, **source, replica)) {
            let is_so = place(replica) < place(source);
            assert!(is_so, "n{} before its replica n{}: {sources:?} {stops:?}", source + 1, replica + 1);
        }
    }
}

#[test]
fn in_every_topology_replicas_come_first_and_whatever_fails_is_finished_or_taken_back() {
    let mut failures = Vec::new();
    for number in 0..TOPOLOGIES {
        let mut rng = Rng::new(seed() + number);
        let sources = topology(&mut rng);
        let is_mysql = number % 4 > 1;
        let base = Rig::on(if is_mysql {
            World::replicas_of_mysql(seed(), &sources)
        } else {
            World::replicas(seed(), &sources)
        });
        let rig = base.fork(seed());
        let operator = Operator::new(&rig, "root@db1");
        let end = operator.apply(&operator.plan(&change(Verb::Enable)).expect("a plan"));
        assert!(end.is_complete(), "{sources:?}: {end:?}");
        assert_eq!(rig.shared.borrow().violations, [""; 0]);
        if is_mysql {
            assert_eq!(rig.shared.borrow().stops, [0; 0], "MySQL takes it while it runs");
        } else {
            in_order(&sources, &rig.shared.borrow().stops);
        }
        rig.shared.borrow_mut().stops.clear();

        let verb = if number % 3 == 2 { Verb::Disable } else { Verb::Enable };
        let change = match verb {
            // It goes on to offer TLS.
            Verb::Disable if is_mysql => Change::new(verb, [Noun::Replication, Noun::RequireTls]),
            _ => change(verb),
        };
        let base = if verb == Verb::Disable { rig } else { base };
        let clean = rehearse(&base, &change);
        for _ in 0..FAILURES {
            let all = (0..clean.instants.len()).collect::<Vec<_>>();
            let at = rng.choose(&all).expect("a change has instants");
            let faults = [
                Fault::KillSealion,
                Fault::KillStepNode,
                Fault::KillOtherNode,
                Fault::PowerCut,
                Fault::DiskFull,
                Fault::Freeze(8_000),
            ];
            let fault = rng.choose(&faults).expect("one of them");
            let wish = rng.choose(&[Direction::Forward, Direction::Back]).expect("one of them");
            let then = rng.choose(&[Then::Same, Then::Another, Then::AnotherAtOnce]).expect("one of them");
            let wrong = scenario(&base, &change, &clean, at, fault, wish, then);
            if !wrong.is_empty() {
                failures.push(format!(
                    "seed {} topology {number} {sources:?} {verb} instant {at} ({}) {fault:?} then {wish:?} by {then:?}\n    {}",
                    seed(),
                    clean.instants[at],
                    wrong.join("\n    ")
                ));
            }
        }
    }
    let count = failures.len();
    failures.truncate(8);
    assert!(count == 0, "{count} failed:\n{}", failures.join("\n"));
}

/// The time is printed, for docs/benchmarks.md; how long it takes on a machine that does other things too says nothing.
#[test]
fn a_thousand_servers_are_planned_and_changed_one_after_the_other() {
    let trees = std::env::var("SEALION_SIM_TREES").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let rig = Rig::on(World::trees(seed(), trees));
    let sources: Vec<Vec<usize>> = rig.shared.borrow().sources();
    rig.shared.borrow_mut().faults.is_untraced = true;
    let operator = Operator::new(&rig, "root@db1");
    let began = Instant::now();
    let plan = operator.plan(&change(Verb::Enable)).expect("a plan");
    let planned = began.elapsed();
    let began = Instant::now();
    let end = operator.apply(&plan);
    let applied = began.elapsed();
    assert!(end.is_complete(), "{end:?}");
    let world = rig.shared.borrow();
    println!(
        "{} servers: plan of {} steps in {:.2} s, applied in {:.2} s ({} s in the world)",
        sources.len(),
        plan.steps.len(),
        planned.as_secs_f64(),
        applied.as_secs_f64(),
        world.now_ms / 1000
    );
    assert_eq!((world.violations.as_slice(), world.lost()), (&[][..], vec![]));
    assert!(world.letters().chars().all(|letter| "Rs".contains(letter)), "{}", world.letters());
    in_order(&sources, &world.stops);
}
