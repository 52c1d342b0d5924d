//! What a change suffers on a cluster whose nodes are other hosts ([`kill_matrix`]): sealion loses its agent on one host or on all
//! while the servers serve on, a host stands still, a network between hosts is cut, the disk of one host is full.

use model::Change;
use testbed::sim::{Fault, Operator, Rig};

use crate::kill_matrix::{
    BOTH, beside_a_spare, check_some, disable, enable, join, plain, rotate, sealed, sealed_with_arbitrator,
    with_arbitrator,
};

/// Without SEALION_DEEP, one of so many scenarios is tried.
const ONE_IN: u64 = 16;

/// Of a host: only what is under way is lost; lost for less than a lease takes to lapse, and for longer; then of all hosts. Cuts below and
/// above `evs.suspect_timeout` (5 s).
const ALL: [Fault; 12] = [
    Fault::HostLost(0),
    Fault::HostLost(20_000),
    Fault::HostLost(90_000),
    Fault::AllHostsLost(20_000),
    Fault::AllHostsLost(90_000),
    Fault::FreezeHost(8_000),
    Fault::FreezeHost(40_000),
    Fault::Cut(20_000),
    Fault::CutOff(3_000),
    Fault::CutOff(20_000),
    Fault::CutOff(90_000),
    Fault::HostDiskFull,
];

fn survives(base: &Rig, change: &Change) {
    check_some(base, change, &ALL, &BOTH, ONE_IN);
}

#[test]
fn enable_survives_what_hosts_suffer() {
    survives(&plain(), &enable());
}

#[test]
fn disable_survives_what_hosts_suffer() {
    survives(&sealed(), &disable());
}

#[test]
fn rotate_survives_what_hosts_suffer() {
    survives(&sealed(), &rotate());
}

#[test]
fn join_survives_what_hosts_suffer() {
    survives(&beside_a_spare(), &join());
}

#[test]
fn enable_of_an_arbitrator_survives_what_hosts_suffer() {
    survives(&with_arbitrator(), &enable());
}

#[test]
fn disable_of_an_arbitrator_survives_what_hosts_suffer() {
    survives(&sealed_with_arbitrator(), &disable());
}

#[test]
fn rotate_of_an_arbitrator_survives_what_hosts_suffer() {
    survives(&sealed_with_arbitrator(), &rotate());
}

/// Cut off while it was desynced, and back: the variable says ON, and clients come all the same. It is drained anew.
#[test]
fn a_node_that_came_back_into_service_while_it_was_desynced_is_drained_again() {
    let rig = plain();
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&enable()).expect("a plan");
    {
        let mut world = rig.shared.borrow_mut();
        world.set_desync(2, true);
        world.cut_off(2, 12_000);
        world.advance(20_000);
        let server = &world.servers[2];
        assert_eq!((server.local_state, server.desync, server.is_in_step()), (4, 0, false));
    }
    let end = operator.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    let world = rig.shared.borrow();
    assert_eq!(world.violations, Vec::<String>::new());
    assert!(world.is_whole(), "wsrep_desync is left on");
}

/// ssh is cut while a command starts a server that has no process yet: the next sealion waits for that start, and begins no second one.
#[test]
fn a_start_whose_ssh_was_cut_is_waited_for_and_not_begun_again() {
    let slow = |seed: u64| {
        let rig = plain().fork(seed);
        rig.shared.borrow_mut().start_commands_ms = 60_000;
        rig
    };
    let mut found = 0;
    for seed in 1..=8 {
        let clean = slow(seed);
        let operator = Operator::new(&clean, "root@db1");
        let plan = operator.plan(&enable()).expect("a plan");
        assert!(operator.apply(&plan).is_complete());
        let is_start = |before: &str| before.ends_with(": start");
        let trace = clean.shared.borrow().faults.trace.clone();
        let at = trace.iter().position(|instant| is_start(&instant.before)).expect("a server is started");

        for fault in [Fault::HostLost(0), Fault::HostLost(3_000)] {
            let rig = slow(seed);
            let operator = Operator::new(&rig, "root@db1");
            let plan = operator.plan(&enable()).expect("a plan");
            rig.shared.borrow_mut().faults.planned = Some((at, fault));
            let mut end = operator.apply(&plan);
            for _ in 0..3 {
                if !end.is_complete() {
                    end = operator.go_on(None);
                }
            }
            assert!(end.is_complete(), "seed {seed} {fault:?}: {end:?}");
            let world = rig.shared.borrow();
            assert_eq!(world.violations, Vec::<String>::new(), "seed {seed} {fault:?}");
            assert!(world.is_whole(), "seed {seed} {fault:?}");
            found += world.starts_found_under_way;
        }
    }
    assert!(found > 0, "no start was under way when the next one came");
}
