//! Which garbd the nodes count: another one makes the number up as well as the one of the inventory.

use change::Direction;
use change_ops::gates::Gates;
use model::{Change, Noun, Verb};
use testbed::sim::{Operator, Rig, World};

const SEED: u64 = 31;
const GARB: usize = 3;

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}

/// Longer than any step waits.
const LONG_MS: u64 = 3_600_000;

/// Three nodes and `garb1`; a change as far as the moment at which `garb1` was started anew.
fn restarted(moment: &str) -> Rig {
    let rig = Rig::on(World::cluster_with_arbitrator(SEED, 3)).fork(SEED);
    rig.apply_until(&enable(), moment);
    rig
}

/// From now on `garb1` reaches no node, and another garbd has its place.
fn is_replaced(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    world.cut_off(GARB, LONG_MS);
    world.advance(20_000);
    world.strange_arbitrators = 1;
    assert_eq!((0..3).map(|node| world.cluster_size(node)).collect::<Vec<_>>(), [4; 3]);
    assert!(world.servers[GARB].process.is_some(), "it runs, and is no member");
}

fn is_back(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    world.cuts.clear();
    world.strange_arbitrators = 0;
    world.advance_until(60_000, World::is_whole);
}

/// Found by an outsider.
#[test]
fn another_garbd_is_not_taken_for_the_one_that_was_started() {
    for wish in [Direction::Forward, Direction::Back] {
        let rig = restarted("E2.garb1:verifying");
        is_replaced(&rig);
        let end = rig.resume(Some(wish));
        let why = end.text();
        assert!(!end.is_complete(), "{wish:?}: {end:?}");
        // Going back it is stopped first, and its place is taken all the same.
        let expected = if wish == Direction::Back {
            "another garbd of this cluster"
        } else {
            "connected with none of them"
        };
        assert!(why.contains("garb1") && why.contains(expected), "{wish:?}: {why}");
        is_back(&rig);
        let end = rig.resume(Some(wish));
        assert!(end.is_complete(), "{wish:?}: {end:?}");
        assert_eq!(rig.shared.borrow().violations, Vec::<String>::new());
    }
}

/// Found by an outsider: a plain garbd that nobody had named passed for `garb1`, and strict nodes talked to it in cleartext.
#[test]
fn no_round_begins_while_another_garbd_is_counted_in_the_place_of_the_named_one() {
    let rig = Rig::on(World::cluster_with_arbitrator(SEED, 3)).fork(SEED);
    is_replaced(&rig);
    let operator = Operator::new(&rig, "root@db1");
    let refused = operator.plan(&enable()).expect_err("garb1 is no member").to_string();
    assert!(refused.contains("garb1: the arbitrator is connected with no node"), "{refused}");
    is_back(&rig);
    let rig = restarted("E3:checking");
    is_replaced(&rig);
    let end = rig.resume(None);
    assert!(!end.is_complete() && end.text().contains("garb1"), "{end:?}");
    is_back(&rig);
    assert!(rig.resume(None).is_complete());
    assert_eq!(rig.shared.borrow().violations, Vec::<String>::new());
}

/// Found by an outsider: on one machine, of one user, one of them passed for the other.
#[test]
fn a_garbd_of_the_same_user_beside_it_does_not_vouch_for_it() {
    let beside = |rig: &Rig| {
        let mut world = rig.shared.borrow_mut();
        let own = world.servers[GARB].process_facts().expect("it runs");
        let words = ["garbd", "-g", "orders", "-a", "gcomm://10.77.0.1"];
        let command_line = words.iter().map(|&word| word.to_owned()).collect();
        world.servers[GARB].garbd_beside = Some(host::ProcessFacts { pid: 77, command_line, ..own });
    };
    let rig = Rig::on(World::cluster_with_arbitrator(SEED, 3)).fork(SEED);
    is_replaced(&rig);
    beside(&rig);
    let refused =
        Operator::new(&rig, "root@db1").plan(&enable()).expect_err("garb1 is no member").to_string();
    assert!(refused.contains("garb1: the arbitrator is connected with no node"), "{refused}");
    // Whose they are cannot be seen: nothing is said for it, and nothing against it.
    let rig = restarted("E2.garb1:verifying");
    rig.shared.borrow_mut().servers[GARB].hides_sockets = true;
    beside(&rig);
    let end = rig.resume(None);
    assert!(end.is_complete(), "{end:?}");
    let said = rig.texts();
    assert!(said.contains("another garbd of the same user (process 77)"), "{said}");
}

/// Found by an outsider: it listened on another port, where no capture looks, and the cluster was called sealed.
#[test]
fn nothing_is_proven_beside_a_member_that_the_inventory_does_not_have() {
    let rig = restarted("E6:checking");
    rig.shared.borrow_mut().strange_arbitrators = 1;
    let end = rig.resume(None);
    assert!(!end.is_complete() && end.text().contains("sees 5 members and the inventory has 4"), "{end:?}");
    rig.shared.borrow_mut().strange_arbitrators = 0;
    assert!(rig.resume(None).is_complete());
}

/// What cannot be seen is said, and stops nobody: the number is right.
#[test]
fn an_arbitrator_whose_machine_does_not_tell_its_connections_is_said_not_to_be_seen() {
    let rig = restarted("E2.garb1:acting");
    rig.shared.borrow_mut().servers[GARB].disk.unreadable.push("/proc/net/tcp".into());
    assert!(rig.resume(None).is_complete());
    let said = rig.texts();
    assert!(said.contains("that garb1 is among the 4 members was not seen"), "{said}");
}

#[test]
fn who_is_told_that_the_cluster_did_not_come_back_reads_where_the_arbitrators_stand() {
    let rig = restarted("E2.garb1:verifying");
    {
        let mut world = rig.shared.borrow_mut();
        for node in 0..3 {
            world.cut_off(node, LONG_MS);
        }
        world.advance(20_000);
    }
    let why = rig.resume(None).text();
    assert!(why.contains("garb1 (arbitrator): runs, connected with no member, speaks dynamic"), "{why}");
}

/// Seen once on real servers, in an undo.
#[test]
fn a_node_is_started_only_when_the_others_have_forgotten_the_one_that_it_was() {
    let rig = Rig::on(World::cluster_with_arbitrator(SEED, 2));
    rig.shared.borrow_mut().hears_no_goodbye = true;
    rig.must(&enable());
    let end = rig.resume(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    let world = rig.shared.borrow();
    let logs: String = world.servers.iter().flat_map(|server| server.log.clone()).collect();
    assert!(!logs.contains("same UUID") && !logs.contains("signal 11"), "{logs}");
    assert_eq!((world.letters(), world.violations.clone()), ("PPP".into(), vec![]));
}

/// Seen on Galera 26.4.23: while a node started among dynamic ones, another one was left out for seconds, and its clients got errors.
#[test]
fn nobody_is_left_out_of_a_large_cluster_while_it_is_changed() {
    let rig = Rig::on(World::grown_cluster_with_arbitrator(SEED, 4, 1));
    let before = rig.shared.borrow().user_files();
    let fine = |rig: &Rig, what: &str, letters: &str| {
        let world = rig.shared.borrow();
        assert_eq!((world.violations.clone(), world.lost(), world.app.failed), (vec![], vec![], 0), "{what}");
        assert_eq!(world.letters(), letters, "{what}");
        for server in world.servers.iter().filter(|server| !server.is_arbitrator) {
            let text = server.disk.text("/etc/mysql/mariadb.conf.d/60-galera.cnf").expect("there");
            assert!(!text.contains("evs.suspect_timeout"), "{what}: {text}");
            assert_eq!(server.suspect_timeout(), "PT5S", "{what}: it waits as long as before");
        }
    };
    let undo = |what: &str, letters: &str| {
        assert!(rig.resume(Some(Direction::Back)).is_complete(), "{what}");
        fine(&rig, what, letters);
    };
    rig.must(&enable());
    fine(&rig, "enabled", "SSSSS");
    undo("enable undone", "PPPPP");
    assert!(rig.shared.borrow().user_files() == before, "a file is not as it was");
    rig.must(&enable());
    let sealed = rig.shared.borrow().user_files();
    rig.must(&Change::new(Verb::Disable, Noun::ALL));
    fine(&rig, "disabled", "PPPPP");
    undo("disable undone", "SSSSS");
    assert!(rig.shared.borrow().user_files() == sealed, "a file is not as it was");
}

/// Found by an outsider: n4, in nobody's configuration, became strict first, and n3 dialled it in cleartext until it gave up.
#[test]
fn who_is_in_the_fewest_configurations_becomes_strict_last() {
    let rig = Rig::on(World::ring_with_arbitrator(SEED));
    let plan = Operator::new(&rig, "root@db1").plan(&enable()).expect("a plan");
    let round: Vec<&str> =
        plan.steps.iter().map(|step| step.id.0.as_str()).filter(|id| id.starts_with("E4.")).collect();
    assert_eq!(round, ["E4.n3", "E4.n2", "E4.n1", "E4.n4", "E4.garb1"]);
    // And whoever plans reads that the lists are not whole; of lists that are, nothing.
    let noted = |plan: &model::Plan| -> Vec<String> {
        plan.impact.iter().filter(|line| line.contains("wsrep_cluster_address")).cloned().collect()
    };
    let told = noted(&plan);
    assert!(told.len() == 1 && told[0].contains("n1 lacks") && told[0].contains("n4"), "{told:?}");
    let whole = Rig::on(World::cluster(SEED, 3));
    assert_eq!(
        noted(&Operator::new(&whole, "root@db1").plan(&enable()).expect("a plan")),
        Vec::<String>::new()
    );
    rig.must(&enable());
    rig.must(&Change::new(Verb::Disable, Noun::ALL));
    let world = rig.shared.borrow();
    assert_eq!((world.violations.clone(), world.lost(), world.app.failed), (vec![], vec![], 0));
    assert_eq!(world.letters(), "PPPPP");
}

/// What `resume` and `undo` are agreed to with: the number of restarts that come, wherever the change stands.
#[test]
fn restarts_that_are_announced_are_those_that_happen() {
    let clear = Rig::on(World::cluster_with_arbitrator(7, 3));
    let sealed = clear.fork(7);
    sealed.must(&Change::new(Verb::Enable, Noun::ALL));
    let changes = [
        (&clear, Change::new(Verb::Enable, Noun::ALL)),
        (&sealed, Change::new(Verb::Disable, Noun::ALL)),
        (&sealed, Change::new(Verb::Rotate, Noun::ALL)),
        (&sealed, Change::new(Verb::Rotate, [Noun::Ca])),
    ];
    let mut differ = 0;
    for (from, change) in changes {
        let plan = Operator::new(from, "root@db1").plan(&change).expect("a plan");
        let restarts = |step: &&model::Step| step.restarts(false) || step.restarts(true);
        for stop_after in plan.steps.iter().filter(restarts).step_by(2).chain(plan.steps.last()) {
            for wish in [None, Some(Direction::Back)] {
                let rig = from.fork(7);
                let mut operator = Operator::new(&rig, "root@db1");
                let plan = operator.plan(&change).expect("a plan");
                let id = stop_after.id.to_string();
                operator.gates(Gates { stop_after: Some(id.clone()), ..Gates::default() });
                operator.apply(&plan);
                operator.gates(Gates::default());
                let Some(rest) = operator.continuation(wish) else { continue };
                rig.shared.borrow_mut().stops.clear();
                let end = operator.go_on(wish);
                assert!(end.is_complete(), "{change} after {id}: {end:?}");
                let stops = rig.shared.borrow().stops.len();
                assert_eq!(rest.restarts(), stops, "{change} after {id}, then {wish:?}");
                differ += usize::from(rest.steps().any(|step| step.restarts(true) != step.restarts(false)));
            }
        }
    }
    assert!(differ > 10, "steps that restart in one direction only were met {differ} times");
}
