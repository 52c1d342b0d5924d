//! Servers by themselves and their replicas, in memory: what ships changes them, is killed, and goes on.

use change::Direction;
use model::{Change, Noun, Verb};
use testbed::sim::{Fault, Operator, Rig, World};

use crate::kills_sim::{BOTH, SERVERS, check, seed};

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::OF_REPLICAS)
}

fn disable() -> Change {
    Change::new(Verb::Disable, Noun::OF_REPLICAS)
}

/// A source, and two replicas of it.
fn plain() -> Rig {
    Rig::on(World::replicas(seed(), &[vec![], vec![0], vec![0]]))
}

fn must(rig: &Rig, change: &Change) {
    let operator = Operator::new(rig, "root@long-ago");
    let end = operator.apply(&operator.plan(change).expect("a plan"));
    assert!(end.is_complete(), "{change}: {end:?}");
    settled(rig);
}

fn settled(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    let settles_ms = world.settles_ms();
    assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    assert_eq!((world.lost(), world.violations.clone()), (vec![], vec![]));
}

fn sealed() -> Rig {
    let rig = plain();
    must(&rig, &enable());
    rig
}

#[test]
fn a_source_and_its_replicas_are_sealed_and_taken_back() {
    let rig = plain();
    let before = rig.shared.borrow().user_files();
    assert_eq!(rig.shared.borrow().letters(), "PPcPc");
    must(&rig, &enable());
    assert_eq!(rig.shared.borrow().letters(), "RRsRs");
    // Each once, and the source after those that have its data.
    assert_eq!(rig.shared.borrow().stops, [1, 2, 0]);
    must(&rig, &disable());
    assert_eq!(rig.shared.borrow().letters(), "PPcPc");
    must(&rig, &enable());
    assert_eq!(rig.shared.borrow().letters(), "RRsRs");

    let rig = plain();
    let operator = Operator::new(&rig, "root@db1");
    assert!(operator.apply(&operator.plan(&enable()).expect("a plan")).is_complete());
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), "PPcPc");
    assert_eq!(rig.shared.borrow().user_files(), before);
}

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

#[test]
fn disable_survives_everything() {
    let all =
        [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];
    check(&sealed(), &disable(), &all, &BOTH);
}
