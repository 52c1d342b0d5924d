//! The CA of an estate is replaced, in memory: a channel that breaks at any moment connects again, also the one that leads from one part
//! to another, and an old CA that ends before or on the way keeps nobody out for good.

use std::collections::BTreeSet;

use change::Direction;
use model::{Change, Noun, Verb};
use testbed::sim::{End, Fault, Operator, Rig, World};
use trust::{Ca, CaSpec, KeyKind};

use crate::estate_sim::{SEALED, clear, must, sealed, settled};
use crate::kill_matrix::{check_some, not_of_our_ca, rehearse, seed};

/// The replica outside of the cluster, whose source is a node of it.
const CROSSES: (usize, usize) = (3, 1);
/// Until the old CA is over.
const HOUR_MS: u64 = 3_600_000;
const OVER_MS: u64 = HOUR_MS + 100_000;

fn rotate_ca() -> Change {
    Change::new(Verb::Rotate, [Noun::Ca])
}

/// Sealed by a CA that has an hour left.
fn short_lived() -> Rig {
    let rig = clear();
    let spec = CaSpec { common_name: "short-lived".into(), valid_days: 1, key: KeyKind::EcP256 };
    let now = rig.shared.borrow().unix_s();
    let ca = Ca::create(&spec, now - 86_400 + 3_600).expect("made");
    ca.save(&rig.ca_dir(), &rig.passphrase.clone().into()).expect("saved");
    must(&rig, &crate::estate_sim::enable());
    rig
}

/// Every channel's connection ends, and is made again.
fn channels_break(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    for index in 0..world.servers.len() {
        for name in world.servers[index].channels.iter().map(|one| one.name.clone()).collect::<Vec<_>>() {
            world.stop_slave(index, &name).expect("it has one");
            world.start_slave(index, &name).expect("it has one");
        }
    }
    let settles_ms = world.settles_ms();
    world.advance_until(settles_ms, World::is_whole);
}

/// The first instant of each moment before and behind each action.
fn moments(base: &Rig) -> Vec<(usize, String)> {
    let clean = rehearse(base, &rotate_ca());
    let mut known = BTreeSet::new();
    let instants = clean.instants.iter().enumerate();
    let of_actions = instants.filter(|(_, instant)| {
        instant.before.is_empty()
            && (instant.moment.ends_with(":acting") || instant.moment.ends_with(":verifying"))
            && known.insert(instant.moment.clone())
    });
    of_actions.map(|(at, instant)| (at, instant.moment.clone())).collect()
}

fn killed_at(base: &Rig, at: usize) -> (Rig, Operator) {
    let rig = base.fork(seed());
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&rotate_ca()).expect("a plan");
    rig.arm(Some((at, Fault::KillSealion)));
    assert_eq!(operator.apply(&plan), End::Killed);
    rig.arm(None);
    (rig, operator)
}

fn is_over(rig: &Rig, wish: Direction, case: &str) {
    settled(rig);
    let world = rig.shared.borrow();
    assert_eq!(world.letters(), SEALED, "{case}");
    assert_eq!(not_of_our_ca(rig, &world, wish), Vec::<String>::new(), "{case}");
}

#[test]
fn a_channel_that_breaks_at_any_moment_of_a_rollover_connects_again_whatever_parts_it_is_between() {
    let base = sealed();
    let of_base = base.shared.borrow();
    let crossing = &of_base.servers[CROSSES.0].channels[0];
    assert_eq!(crossing.source, CROSSES.1);
    assert!(!of_base.servers[CROSSES.1].is_by_itself && !crossing.tls.cert.as_os_str().is_empty());
    drop(of_base);
    let moments = moments(&base);
    let phases: BTreeSet<&str> = moments.iter().filter_map(|(_, moment)| moment.get(..2)).collect();
    assert!(phases.is_superset(&["R1", "R2", "R3", "R4", "R5"].into()), "{phases:?}");
    for (nth, (at, moment)) in moments.into_iter().enumerate() {
        let (rig, operator) = killed_at(&base, at);
        channels_break(&rig);
        assert_eq!(rig.shared.borrow().letters(), SEALED, "{moment}");
        let wish = if nth % 2 == 0 { Direction::Forward } else { Direction::Back };
        let end = operator.go_on(Some(wish));
        assert!(end.is_complete(), "{moment} {wish:?}: {end:?}");
        channels_break(&rig);
        is_over(&rig, wish, &moment);
    }
}

/// The control: else the test above could not fail.
#[test]
fn a_source_refuses_a_channel_whose_certificate_is_of_another_ca() {
    let rig = sealed();
    let other = Ca::create(
        &CaSpec { common_name: "other".into(), valid_days: 30, key: KeyKind::EcP256 },
        rig.shared.borrow().unix_s(),
    );
    let other = other.expect("made").cert_pem().into_bytes();
    {
        let mut world = rig.shared.borrow_mut();
        let live = world.servers[CROSSES.1].live.as_mut().expect("it runs");
        live.client.as_mut().expect("it serves one").ca = Some(other);
    }
    channels_break(&rig);
    let world = rig.shared.borrow();
    let error = world.servers[CROSSES.0].channels[0].error.clone().expect("refused");
    assert!(error.contains("unknown ca"), "{error}");
    assert_eq!(world.letters(), SEALED.replacen("SSSRs", "SSSR-", 1));
}

#[test]
fn an_old_ca_that_is_over_before_it_begins_is_replaced_over_all_parts() {
    let base = short_lived();
    let base = base.fork(seed());
    // As long as no connection breaks, nobody notices.
    let rig = base.fork(seed());
    rig.shared.advance(OVER_MS);
    assert_eq!(rig.shared.borrow().letters(), SEALED);
    must(&rig, &rotate_ca());
    channels_break(&rig);
    is_over(&rig, Direction::Forward, "connected");

    // Then it is seen that it was over.
    let rig = base.fork(seed());
    rig.shared.advance(OVER_MS);
    channels_break(&rig);
    assert_eq!(rig.shared.borrow().letters(), SEALED.replace('s', "-"));
    let operator = Operator::new(&rig, "root@db1");
    // Other changes need channels that work.
    let refused =
        operator.plan(&Change::new(Verb::Disable, [Noun::RequireTls])).expect_err("refused").to_string();
    assert!(refused.contains("n4: 10.77.0.2:3306: it receives nothing"), "{refused}");
    let end = operator.apply(&operator.plan(&rotate_ca()).unwrap_or_else(|error| panic!("{error}")));
    assert!(end.is_complete(), "{end:?}");
    is_over(&rig, Direction::Forward, "broken");

    // One that somebody has stopped is started by nobody: that is said before, of both of its threads.
    let rig = base.fork(seed());
    rig.shared.advance(OVER_MS);
    channels_break(&rig);
    rig.shared.borrow_mut().stop_slave(CROSSES.0, "").expect("it has one");
    let refused = Operator::new(&rig, "root@db1").plan(&rotate_ca()).expect_err("refused").to_string();
    assert!(refused.contains("n4: 10.77.0.2:3306") && refused.contains("(2 reasons)"), "{refused}");
    assert!(refused.contains("START REPLICA"), "{refused}");
}

#[test]
fn an_old_ca_that_ends_in_any_phase_is_replaced_over_all_parts() {
    let base = short_lived();
    let base = base.fork(seed());
    for (at, moment) in moments(&base) {
        let (rig, operator) = killed_at(&base, at);
        rig.shared.advance(OVER_MS);
        let end = operator.go_on(None);
        assert!(end.is_complete(), "{moment}: {end:?}");
        channels_break(&rig);
        is_over(&rig, Direction::Forward, &moment);
    }
}

#[test]
fn replacing_a_ca_that_is_over_survives_sealion_killed_and_a_full_disk() {
    let base = short_lived();
    let base = base.fork(seed());
    base.shared.advance(OVER_MS);
    let faults = [Fault::KillSealion, Fault::DiskFull];
    check_some(&base, &rotate_ca(), &faults, &[Direction::Forward], 23);
}

/// The change that a refusal names as the next step.
fn advised(refusal: &str) -> Change {
    let (_, advice) = refusal.split_once("sealion plan ").unwrap_or_else(|| panic!("no plan: {refusal}"));
    let mut words = advice.split(|c: char| c.is_whitespace() || c == ';');
    let verb = match words.next() {
        Some("disable") => Verb::Disable,
        Some("enable") => Verb::Enable,
        other => panic!("{other:?}: {refusal}"),
    };
    let nouns = words.next().unwrap_or_default().split(',').filter(|noun| !noun.is_empty());
    Change::new(verb, nouns.map(|noun| noun.parse().unwrap_or_else(|why| panic!("{noun}: {why}"))))
}

/// Undo and disable, each refused, named each other.
#[test]
fn what_cannot_be_undone_any_more_leads_to_cleartext_by_the_step_that_is_named() {
    let disable = Change::new(Verb::Disable, []);
    let loosened = Change::new(Verb::Disable, [Noun::RequireTls]);
    let of_estate: fn() -> Rig = clear;
    let of_mariadb: fn() -> Rig = || Rig::on(World::replicas(seed(), &[vec![], vec![0]]));
    for (make, ends_as) in [(of_estate, "PPPTcTcTTcTTc"), (of_mariadb, "PPc")] {
        let rig = make();
        let operator = Operator::new(&rig, "root@db1");
        for change in [Change::new(Verb::Enable, []), rotate_ca(), loosened.clone()] {
            let plan = operator.plan(&change).unwrap_or_else(|error| panic!("{change}: {error}"));
            assert!(operator.apply(&plan).is_complete(), "{change}");
        }
        assert!(operator.go_on(Some(Direction::Back)).is_complete());
        let End::Refused(text) = operator.go_on(Some(Direction::Back)) else { panic!("its keys are gone") };
        let instead = advised(&text);
        // Whoever disables without nouns is led to the same step.
        match operator.plan(&disable) {
            Ok(plan) => assert_eq!(plan.change, instead),
            Err(error) => assert_eq!(advised(&error.to_string()), instead, "{error}"),
        }
        let plan = operator.plan(&instead).unwrap_or_else(|error| panic!("{text}\n{instead}: {error}"));
        assert!(operator.apply(&plan).is_complete(), "{instead}");
        settled(&rig);
        assert_eq!(rig.shared.borrow().letters(), ends_as);
        assert!(!operator.plan(&instead).expect("a plan").changes_anything());
        // And that one has a way back.
        assert!(operator.go_on(Some(Direction::Back)).is_complete());
        let wanted = if ends_as == "PPc" { "RRs" } else { SEALED };
        assert_eq!(rig.shared.borrow().letters(), wanted);
    }
}
