//! Servers by themselves and their replicas, in memory: what ships changes them, is killed, and goes on.

use change::{Direction, Outcome};
use change_ops::gates::Gates;
use model::{Change, Noun, Verb};
use server::ChannelTls;
use testbed::sim::channels::Receiver;
use testbed::sim::{End, Fault, Instant, Operator, Rig, World};

use crate::kill_matrix::{BOTH, check_some, rehearse, seed};

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

const EVERYTHING: [Fault; 5] =
    [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];

#[test]
fn enable_survives_sealion_killed_and_everything_else() {
    check_some(&plain(), &enable(), &EVERYTHING, &BOTH, 5);
}

#[test]
fn disable_survives_sealion_killed_and_everything_else() {
    check_some(&sealed(), &disable(), &EVERYTHING, &BOTH, 7);
}

/// Between STOP SLAVE, CHANGE MASTER and START SLAVE the replica receives nothing, and nobody but sealion knows why.
#[test]
fn a_channel_is_left_stopped_by_nobody() {
    for (moment, letters) in [("STOP SLAVE", "TTcTc"), ("CHANGE MASTER", "TT-Tc"), ("START SLAVE", "TT-Tc")] {
        for wish in BOTH {
            let base = plain();
            let clean = rehearse(&base, &enable());
            let is_it =
                |instant: &Instant| instant.moment == "E3.n2:acting" && instant.before.ends_with(moment);
            let at = clean.instants.iter().position(is_it).expect("E3 has it");
            let rig = base.fork(seed());
            let operator = Operator::new(&rig, "root@db1");
            let plan = operator.plan(&enable()).expect("a plan");
            rig.arm(Some((at, Fault::KillSealion)));
            assert_eq!(operator.apply(&plan), End::Killed);
            rig.arm(None);
            // A channel that nobody stopped has come back by itself meanwhile.
            let settles_ms = rig.shared.borrow().settles_ms();
            rig.shared.borrow_mut().advance(settles_ms);
            assert_eq!(rig.shared.borrow().letters(), letters, "killed before {moment}");
            let end = operator.go_on(Some(wish));
            assert!(end.is_complete(), "{moment} {wish:?}: {end:?}");
            settled(&rig);
            let wanted = if wish == Direction::Forward { "RRsRs" } else { "PPcPc" };
            assert_eq!(rig.shared.borrow().letters(), wanted);
        }
    }
}

/// A replica that does not keep up is changed like any other, and has all in the end.
#[test]
fn a_replica_that_lags_loses_nothing() {
    let rig = plain();
    rig.shared.borrow_mut().servers[1].channels[0].lags_ms = 45_000;
    must(&rig, &enable());
    assert_eq!(rig.shared.borrow().letters(), "RRsRs");
}

/// With skip_slave_start a restart starts no thread: what ran before runs afterwards, both ways, whoever is killed.
#[test]
fn threads_that_ran_before_a_restart_run_after_it_though_their_server_starts_none() {
    let base = plain();
    for index in 0..3 {
        for channel in &mut base.shared.borrow_mut().servers[index].channels {
            channel.skips_start = true;
        }
    }
    let rig = base.fork(seed());
    let operator = Operator::new(&rig, "root@db1");
    assert!(operator.apply(&operator.plan(&enable()).expect("a plan")).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), "RRsRs");
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), "PPcPc");
    check_some(&base, &enable(), &[Fault::KillSealion], &BOTH, 1);
}

/// What its operator has stopped is not started by a change that goes back.
#[test]
fn threads_that_their_operator_stopped_stay_stopped() {
    for skips_start in [false, true] {
        let rig = plain();
        rig.shared.borrow_mut().servers[2].channels[0].skips_start = skips_start;
        let operator = Operator::new(&rig, "root@db1");
        assert!(operator.apply(&operator.plan(&enable()).expect("a plan")).is_complete());
        rig.shared.borrow_mut().stop_slave(2, "").expect("it has one");
        let end = operator.go_on(Some(Direction::Back));
        assert!(end.is_complete(), "{end:?}");
        let world = rig.shared.borrow();
        let channel = &world.servers[2].channels[0];
        // Without skip_slave_start its own restart starts them: that is said.
        let said = world.said.iter().any(|line| line.contains("were stopped before the restart"));
        assert_eq!(said, !skips_start);
        let wanted = if skips_start { "PPcP-" } else { "PPcPc" };
        assert_eq!((world.letters().as_str(), channel.applies), (wanted, !skips_start));
    }
    // Forward nobody could see whether it works.
    let rig = plain();
    let mut operator = Operator::new(&rig, "root@db1");
    operator.gates(Gates { stop_after: Some("E2.n3".into()), ..Gates::default() });
    let held = operator.apply(&operator.plan(&enable()).expect("a plan"));
    assert!(matches!(held, End::Outcome(Outcome::Held { .. })), "{held:?}");
    rig.shared.borrow_mut().stop_slave(2, "").expect("it has one");
    operator.gates(Gates::default());
    let end = operator.go_on(None);
    assert!(format!("{end:?}").contains("it was not sealion that stopped them"), "{end:?}");
    rig.shared.borrow_mut().start_slave(2, "").expect("it has one");
    rig.shared.borrow_mut().advance(1_000);
    assert!(operator.go_on(None).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), "RRsRs");
}

/// What a real source does, and a plan must not lead to.
#[test]
fn a_source_that_requires_tls_refuses_a_channel_without_and_one_that_offers_none_is_downgraded_to() {
    let rig = sealed();
    let mut world = rig.shared.borrow_mut();
    let changed = |world: &mut World, tls: &ChannelTls| {
        assert!(world.change_master(1, "", tls).is_err_and(|why| why.contains("1198")));
        world.stop_slave(1, "").expect("it has one");
        world.change_master(1, "", tls).expect("both threads are stopped");
        world.start_slave(1, "").expect("it has one");
        world.advance(1_000);
        world.servers[1].channels[0].error.clone()
    };
    let verifies = world.servers[1].channels[0].tls.clone();
    let error = changed(&mut world, &ChannelTls::default()).expect("it is refused");
    assert!(error.starts_with("1045 "), "{error}");
    assert_eq!(changed(&mut world, &verifies), None);
    drop(world);
    must(&rig, &disable());
    let mut world = rig.shared.borrow_mut();
    let believes = ChannelTls { is_on: true, ..ChannelTls::default() };
    assert_eq!(changed(&mut world, &believes), None);
    assert!(
        world.servers[1].channels[0].receiver == Receiver::Running { by_tls: false },
        "a silent downgrade"
    );
    let error = changed(&mut world, &ChannelTls { verifies: true, ..believes }).expect("it is refused");
    assert!(error.starts_with("2026 "), "{error}");
}
