//! What passes by itself is tried again, a few times; what does not pass stops the change with a clear text.

use change::{Direction, Outcome};
use model::{Change, Noun, Verb};
use testbed::sim::{End, Fault, Rig, World};

const SEED: u64 = 7;
const SAME_UUID: &str = "A node with the same UUID already exists in the cluster";

fn change(verb: Verb) -> Change {
    Change::new(verb, Noun::ALL)
}

fn plain() -> Rig {
    Rig::new(SEED, 3).fork(SEED)
}

fn sealed() -> Rig {
    let rig = Rig::new(SEED, 3);
    rig.must(&change(Verb::Enable));
    rig.fork(SEED)
}

fn requires_tls(rig: &Rig) -> Vec<bool> {
    let world = rig.shared.borrow();
    world.servers.iter().map(|server| server.live.as_ref().expect("up").requires_tls).collect()
}

#[test]
fn a_start_that_ends_because_of_the_same_uuid_is_made_again_and_the_round_goes_on() {
    for (base, verb, letters) in [(plain(), Verb::Enable, "SSS"), (sealed(), Verb::Disable, "PPP")] {
        let rehearsal = base.fork(SEED);
        let plan = rehearsal.plan(&change(verb)).expect("a plan");
        rehearsal.arm(None);
        assert!(rehearsal.apply(&plan).is_complete());
        let instants = rehearsal.trace();
        let starts = instants.iter().enumerate().filter(|(_, instant)| instant.before.ends_with(": start"));
        let mut stumbled = 0;
        for (at, instant) in starts {
            let rig = base.fork(SEED);
            let plan = rig.plan(&change(verb)).expect("a plan");
            rig.arm(Some((at, Fault::Stumble)));
            let end = rig.apply(&plan);
            assert!(end.is_complete(), "{verb} {instant}: {end:?}");
            let world = rig.shared.borrow();
            assert_eq!((world.letters().as_str(), world.is_whole()), (letters, true), "{verb} {instant}");
            assert_eq!(
                (world.lost(), world.violations.clone(), world.app.failed),
                (vec![], vec![], 0),
                "{verb} {instant}"
            );
            if (0..3).any(|index| world.logged(index, SAME_UUID)) {
                stumbled += 1;
                assert!(
                    world.said.iter().any(|line| line.contains(SAME_UUID) && line.contains("start 2 of 8")),
                    "{verb} {instant}: nobody was told\n{:?}",
                    world.said
                );
            }
        }
        // Of six starts the last one is beside no dynamic member; what the first one did not meet, the node's second does.
        assert_eq!(stumbled, 5, "{verb}");
    }
}

#[test]
fn a_node_whose_every_start_ends_because_of_the_same_uuid_stops_the_change_and_is_told() {
    let rig = plain();
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    rig.shared.borrow_mut().servers[1].stumbles = u32::MAX;
    let end = rig.apply(&plan);
    let End::Outcome(Outcome::Stopped { step, why }) = &end else { panic!("{end:?}") };
    assert_eq!(step.to_string(), "E2.n2");
    assert!(
        why.contains("n2 did not come back") && why.contains(SAME_UUID) && why.contains("next:"),
        "{why}"
    );
    {
        let world = rig.shared.borrow();
        let starts = u32::MAX - world.servers[1].stumbles;
        assert!((8..=16).contains(&starts), "{starts} starts: eight, and eight more to put it back");
        assert!(world.is_healthy(0) && world.is_healthy(2), "the others serve");
        assert_eq!((world.app.failed, world.violations.clone()), (0, vec![]));
    }
    // When it has passed after all, the same command goes on from there.
    rig.shared.borrow_mut().servers[1].stumbles = 0;
    let end = rig.resume(None);
    assert!(end.is_complete(), "{end:?}");
    assert_eq!(rig.shared.borrow().letters(), "SSS");
    assert!(rig.shared.borrow_mut().advance_until(5_000, World::is_whole));
}

/// A server was killed with sealion, and its first starts end with what passes: more of them than a server gets that ends
/// for a reason of its own.
#[test]
fn a_killed_node_whose_starts_end_because_of_the_same_uuid_is_started_until_it_joins() {
    for direction in [Direction::Forward, Direction::Back] {
        let rehearsal = plain();
        let plan = rehearsal.plan(&change(Verb::Enable)).expect("a plan");
        rehearsal.arm(None);
        assert!(rehearsal.apply(&plan).is_complete());
        // After the first rounds, and before the last ones: every node takes both.
        let all_are_dynamic = rehearsal
            .trace()
            .iter()
            .position(|instant| instant.moment.starts_with("E4.") && instant.moment.ends_with(":checking"))
            .expect("E4 is in the plan");

        let rig = plain();
        let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
        rig.arm(Some((all_are_dynamic, Fault::KillSealion)));
        assert!(matches!(rig.apply(&plan), End::Killed));
        {
            let mut world = rig.shared.borrow_mut();
            world.kill(1);
            world.servers[1].stumbles = 6;
            world.said.clear();
        }
        let end = rig.resume(Some(direction));
        assert!(end.is_complete(), "{direction:?}: {end:?}");
        let world = rig.shared.borrow();
        assert_eq!(world.servers[1].stumbles, 0, "{direction:?}: not every one was met: {:#?}", world.said);
        assert!(
            world.said.iter().any(|line| line.contains(SAME_UUID) && line.contains("start 7 of 8")),
            "{direction:?}: {:?}",
            world.said
        );
        assert!(world.is_whole(), "{direction:?}");
    }
}

#[test]
fn an_end_at_the_start_for_another_reason_is_not_tried_again() {
    let rig = plain();
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    rig.shared.borrow_mut().servers[1].broken = Some("disk I/O error".into());
    let end = rig.apply(&plan);
    assert!(end.text().contains("n2 did not come back"), "{end:?}");
    let world = rig.shared.borrow();
    let starts = world.servers[1].log.iter().filter(|line| line.contains("disk I/O error")).count();
    assert_eq!(starts, 2, "one for the change, one to put it back");
}

#[test]
fn a_look_that_lost_packets_is_made_again_before_clients_are_cut_off() {
    let rig = plain();
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    rig.shared.borrow_mut().spoilt_looks = 2;
    let end = rig.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    assert_eq!((requires_tls(&rig), rig.shared.borrow().spoilt_looks), (vec![true; 3], 0));
}

#[test]
fn clients_that_cannot_be_seen_well_are_cut_off_only_by_consent() {
    let mut rig = plain();
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    rig.shared.borrow_mut().spoilt_looks = 3;
    let end = rig.apply(&plan);
    let why = end.text();
    assert!(matches!(end, End::Outcome(Outcome::Refused { .. } | Outcome::Stopped { .. })), "{end:?}");
    for word in [
        "whether clients still use cleartext could not be seen",
        "client app-n1, app-n2, app-n3: the kernel dropped 3 packets",
        "sealion resume",
        "--accept-unknown-clients",
    ] {
        assert!(why.contains(word), "no \"{word}\" in {why}");
    }
    assert_eq!(requires_tls(&rig), [false; 3], "unknown is not TLS");
    assert_eq!(rig.shared.borrow().letters(), "SSS", "what came before the gate is done");

    // Still unknown, and taken by the operator.
    rig.shared.borrow_mut().spoilt_looks = 3;
    rig.accept_unknown_clients = true;
    let end = rig.resume(None);
    assert!(end.is_complete(), "{end:?}");
    assert_eq!(requires_tls(&rig), [true; 3]);
    let journal = rig.texts();
    assert!(journal.contains("unknown, accepted by --accept-unknown-clients"), "{journal}");
}

#[test]
fn clear_text_that_was_seen_is_no_unknown_that_consent_could_take() {
    let mut rig = plain();
    rig.accept_unknown_clients = true;
    rig.shared.borrow_mut().app.takes_tls = false;
    rig.shared.borrow_mut().spoilt_looks = 3;
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    let why = rig.apply(&plan).text();
    assert!(why.contains("still use cleartext and would be cut off"), "{why}");
    assert_eq!(requires_tls(&rig), [false; 3]);
    assert!(matches!(rig.resume(Some(Direction::Back)), End::Outcome(Outcome::Complete)));
}
