//! Several operators, each with a state directory and a clock of their own: whose change is the newest, who may begin, what is kept.

use std::path::Path;

use change::Direction;
use host::Service;
use model::{Change, Noun, Step, Verb};
use providers::kept_keys::forget_placed;
use testbed::sim::world::TLS_DIR;
use testbed::sim::{End, Operator, Rig, World};

const SEED: u64 = 20_261_124;
/// More than a change takes, and less than certificates are dated back.
const LATE_MS: i64 = -3 * 60_000;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * 3_600_000;
const KEY: &str = "/etc/mysql/sealion/node-key.pem";
const LEASE: &str = "/var/lib/sealion/lease.json";

fn change(verb: Verb) -> Change {
    Change::new(verb, Noun::ALL)
}

fn plain() -> Rig {
    Rig::on(World::cluster(SEED, 3))
}

#[track_caller]
fn must(operator: &Operator, wish: &Change) {
    let plan = operator.plan(wish).expect("a plan");
    let end = operator.apply(&plan);
    assert!(end.is_complete(), "{wish}: {end:?}");
}

fn letters(rig: &Rig) -> String {
    rig.shared.borrow().letters()
}

fn put(rig: &Rig, index: usize, path: &str, bytes: &[u8]) {
    rig.shared.borrow_mut().servers[index].disk.put(path, bytes, 0, 0o600);
}

/// Files below a directory of sealion's own, on all nodes.
fn kept(rig: &Rig, dir: &str) -> usize {
    let world = rig.shared.borrow();
    let is_kept = |path: &Path| path.starts_with(Path::new("/var/lib/sealion").join(dir));
    let files = world.servers.iter().flat_map(|server| &server.disk.entries);
    files.filter(|(path, entry)| entry.bytes.is_some() && is_kept(path)).count()
}

fn said(rig: &Rig, text: &str) -> bool {
    rig.shared.borrow().said.iter().any(|line| line.contains(text))
}

#[test]
fn the_newest_change_is_the_one_begun_last_whatever_the_clocks_say() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    must(&one, &change(Verb::Enable));
    // Its name sorts before the other's.
    let late = Operator::with_clock(&rig, "root@db2", LATE_MS);
    must(&late, &change(Verb::Disable));
    assert_eq!(letters(&rig), "PPP");

    let third = Operator::with_clock(&rig, "root@db3", DAY_MS);
    for operator in [&one, &late, &third] {
        let newest = operator.finished_change().expect("both are finished");
        assert_eq!(newest.change.verb, Verb::Disable);
    }
    assert!(one.go_on(Some(Direction::Back)).is_complete());
    assert_eq!(letters(&rig), "SSS", "disable was undone, and not enable");
    assert_eq!(third.finished_change().expect("enable").change.verb, Verb::Enable);
}

#[test]
fn that_clients_must_use_tls_is_turned_off_and_on_alone() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    let only = |verb| Change::new(verb, [Noun::RequireTls]);
    let required = || {
        let world = rig.shared.borrow();
        world
            .servers
            .iter()
            .filter(|server| server.live.as_ref().is_some_and(|live| live.requires_tls))
            .count()
    };
    // Nobody is locked out.
    let why = one.plan(&only(Verb::Enable)).expect_err("no TLS is offered").to_string();
    assert!(why.contains("does not offer TLS to clients"), "{why}");
    must(&one, &change(Verb::Enable));
    assert_eq!((letters(&rig).as_str(), required()), ("SSS", 3));
    let plan = one.plan(&only(Verb::Disable)).expect("a plan");
    let is_it = |step: &Step| ["require", "clients-gate"].contains(&step.kind.as_str());
    assert!(plan.steps.iter().all(|step| is_it(step) && !step.restarts_server), "{plan:#?}");
    must(&one, &only(Verb::Disable));
    assert_eq!((letters(&rig).as_str(), required()), ("SSS", 0));
    // Who began to use cleartext meanwhile is not cut off by an undo.
    rig.shared.borrow_mut().servers[1].cleartext_clients = 1;
    let why = one.go_on(Some(Direction::Back)).text();
    assert!(why.contains("still use cleartext") && required() == 0, "{why}");
    rig.shared.borrow_mut().servers[1].cleartext_clients = 0;
    assert!(one.go_on(None).is_complete());
    assert_eq!(required(), 3);
    must(&one, &only(Verb::Disable));
    must(&one, &only(Verb::Enable));
    assert_eq!(required(), 3);
    assert!(one.go_on(Some(Direction::Back)).is_complete());
    assert_eq!((letters(&rig).as_str(), required()), ("SSS", 0));
    let why = one.plan(&only(Verb::Rotate)).expect_err("nothing to rotate").to_string();
    assert!(why.contains("nothing to rotate"), "{why}");
}

#[test]
fn a_lease_that_makes_no_sense_is_neither_free_nor_held() {
    for (bytes, is_refused) in [
        (&b"\x00\x17 not a lease"[..], true),
        (br#"{"id":"1","holder":"root@db9","boot_"#, true),
        (b"", false),
    ] {
        let rig = plain();
        let mut one = Operator::new(&rig, "root@db1");
        let plan = one.plan(&change(Verb::Enable)).expect("a plan");
        put(&rig, 1, LEASE, bytes);
        let end = one.apply(&plan);
        assert_eq!(matches!(end, End::Refused(_)), is_refused, "{bytes:?}: {end:?}");
        if !is_refused {
            assert!(end.is_complete(), "{end:?}");
            continue;
        }
        let why = end.text();
        assert!(why.contains("cannot tell") && why.contains("n2") && why.contains("--take-over"), "{why}");
        assert_eq!(letters(&rig), "PPP", "nothing was changed");
        one.takes_over(true);
        assert!(one.apply(&plan).is_complete());
        assert_eq!(rig.shared.borrow().servers[1].disk.text(LEASE), None, "it is free at the end");
    }
}

#[test]
fn a_lease_that_somebody_holds_is_waited_for_or_taken_over() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    let mut another = Operator::new(&rig, "root@db2");
    let plan = another.plan(&change(Verb::Enable)).expect("a plan");
    rig.arm(Some((20, testbed::sim::Fault::KillSealion)));
    assert_eq!(one.apply(&one.plan(&change(Verb::Enable)).expect("a plan")), End::Killed);
    rig.arm(None);
    for end in [another.apply(&plan), another.go_on(None), another.abandon()] {
        let End::Refused(why) = end else { panic!("{end:?}") };
        assert!(why.contains("another sealion is at work") && why.contains("root@db1"), "{why}");
    }
    another.takes_over(true);
    assert!(another.go_on(None).is_complete());
    assert_eq!(letters(&rig), "SSS");
    // Who began it learns that from the nodes.
    assert_eq!(one.open_plan(), None);
    assert_eq!(one.finished_change().expect("it is finished").change.verb, Verb::Enable);
}

#[test]
fn a_lease_that_is_renewed_is_held_whatever_the_clocks_say() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    // Their clock is an hour ahead, so that every lease looks over.
    let another = Operator::with_clock(&rig, "root@db2", HOUR_MS);
    let plan = Operator::new(&rig, "root@db2").plan(&change(Verb::Enable)).expect("a plan");
    rig.arm(Some((20, testbed::sim::Fault::KillSealion)));
    assert_eq!(one.apply(&one.plan(&change(Verb::Enable)).expect("a plan")), End::Killed);
    rig.arm(None);
    another.another_renews.set(true);
    for end in [another.apply(&plan), another.go_on(None), another.abandon()] {
        let End::Refused(why) = end else { panic!("{end:?}") };
        assert!(
            why.contains("another sealion is at work")
                && why.contains("root@db1")
                && why.contains("renews the lease"),
            "{why}"
        );
    }
    another.another_renews.set(false);
    // It is taken, and nothing is issued by such a clock: the servers would not come back.
    let why = another.go_on(None).text();
    assert!(why.contains("s behind this machine") && why.contains("not be valid yet"), "{why}");
    assert!(one.go_on(None).is_complete());
    assert_eq!(letters(&rig), "SSS");
    let why = another.plan(&change(Verb::Rotate)).expect_err("refused").to_string();
    assert!(["n1", "n2", "n3"].iter().all(|node| why.contains(&format!("{node}: its clock is "))), "{why}");
}

#[test]
fn a_node_whose_journals_cannot_be_looked_at_may_hold_an_open_change() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&change(Verb::Enable)).expect("a plan");
    let dir = Path::new("/var/lib/sealion/20260101T000000000-enable.journal");
    put(&rig, 2, &dir.display().to_string(), b"{}");
    rig.shared.borrow_mut().servers[2].disk.unreadable.push(dir.into());
    let why = one.apply(&plan).text();
    assert!(why.contains("cannot tell whether") && why.contains("n3"), "{why}");
    assert_eq!(letters(&rig), "PPP", "nothing was changed");
    rig.shared.borrow_mut().servers[2].disk.unreadable.clear();
    assert!(one.apply(&plan).is_complete());
}

#[test]
fn what_an_undo_leaves_is_not_counted_among_what_it_does() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    must(&one, &change(Verb::Enable));
    let back =
        change_ops::unfinished::continuation(&one, Some(Direction::Back)).expect("sound").expect("enable");
    let ids: Vec<String> = back.steps().map(|step| step.id.to_string()).collect();
    assert!(back.plan.steps.iter().any(|step| step.id.0 == "E0.ca"));
    assert!(ids.contains(&"E0.n1".to_owned()) && !ids.contains(&"E0.ca".to_owned()), "{ids:?}");
    assert_eq!(back.refused, None);
}

/// A person has read what happens to the servers as the inventory had them.
#[test]
fn a_plan_is_not_carried_out_with_another_inventory() {
    type Edit = fn(&mut server::NodeSpec);
    let edits: [(Edit, &str); 7] = [
        (|spec| spec.tls_dir = "/srv/other/ssl".into(), "n2 has other values of tls_dir"),
        (|spec| spec.address = "10.77.9.9".into(), "n2 has other values of address"),
        (|spec| spec.names.push("vip.example.net".into()), "n2 has other values of names"),
        (|spec| spec.drain = Some(vec!["/usr/sbin/mariadbd".into()]), "n2 has other values of drain"),
        (|spec| spec.undrain = Some(vec!["/usr/sbin/mariadbd".into()]), "n2 has other values of undrain"),
        (
            |spec| {
                let words = |word: &str| vec!["/usr/sbin/mariadbd".to_owned(), word.to_owned()];
                spec.service = Service::Commands { start: words("start"), stop: words("stop"), alive: None };
            },
            "n2 has other values of service, start, stop or alive",
        ),
        (|spec| spec.name = "db2".into(), "n2 is not in it any more"),
    ];
    for (edit, told) in edits {
        let rig = plain();
        let operator = Operator::new(&rig, "a");
        let plan = operator.plan(&change(Verb::Enable)).expect("a plan");
        assert_eq!(operator.plan(&change(Verb::Enable)).expect("a plan").short_hash(), plan.short_hash());
        edit(&mut rig.shared.borrow_mut().servers[1].spec);
        let now = operator.plan(&change(Verb::Enable)).expect("a plan");
        assert_ne!(now.short_hash(), plan.short_hash(), "--yes with the old hash would be taken: {told}");
        let End::Refused(why) = operator.apply(&plan) else { panic!("applied: {told}") };
        assert!(why.contains(told) && why.contains("nothing was changed"), "{why}");
        assert_eq!((letters(&rig).as_str(), rig.shared.borrow().stops.len()), ("PPP", 0), "{told}");
    }
}

#[test]
fn one_plan_is_applied_once() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    // The first plan makes a CA as well, so it is not one for the same state.
    must(&one, &change(Verb::Enable));
    assert!(one.go_on(Some(Direction::Back)).is_complete());
    let plan = one.plan(&change(Verb::Enable)).expect("a plan");
    assert!(one.apply(&plan).is_complete());
    assert!(one.go_on(Some(Direction::Back)).is_complete());
    let why = one.apply(&plan).text();
    assert!(why.contains("was applied before"), "{why}");
    let why = Operator::new(&rig, "root@db2").apply(&plan).text();
    assert!(why.contains("was applied before") && why.contains("/var/lib/sealion/"), "{why}");
    must(&one, &change(Verb::Enable));
}

#[test]
fn keys_that_no_undo_needs_any_more_are_removed_and_told() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    must(&one, &change(Verb::Enable));
    must(&one, &change(Verb::Rotate));
    assert_eq!(kept(&rig, "rotated"), 9, "undo of rotate needs them");
    assert!(one.go_on(Some(Direction::Back)).is_complete());
    assert_eq!(kept(&rig, "rotated"), 0, "they are in use again");
    assert!(said(&rig, "keys that"));

    must(&one, &change(Verb::Rotate));
    must(&one, &change(Verb::Rotate));
    assert_eq!(kept(&rig, "rotated"), 9, "the first rotate cannot be undone before the second");
    assert!(one.go_on(Some(Direction::Back)).is_complete());
    let why = one.go_on(Some(Direction::Back)).text();
    assert!(why.contains("cannot be undone any more"), "{why}");
    assert_eq!(one.open_change(), None, "nothing was begun");

    must(&one, &change(Verb::Disable));
    assert_eq!(kept(&rig, "retired"), 9, "undo of disable needs them");
    assert!(one.go_on(Some(Direction::Back)).is_complete());
    assert_eq!(letters(&rig), "SSS");
    must(&one, &change(Verb::Disable));
    // Another operator, who has an empty state directory.
    must(&Operator::new(&rig, "root@db2"), &change(Verb::Enable));
    assert_eq!((kept(&rig, "retired"), kept(&rig, "rotated")), (0, 0));
}

/// Seen by an outsider: the nodes kept the key of a change that nobody could go on with or take back.
#[test]
fn undo_over_an_abandoned_change_leaves_nothing_of_it() {
    let rig = plain();
    let one = Operator::new(&rig, "root@db1");
    must(&one, &change(Verb::Enable));
    let sealed = rig.shared.borrow().user_files();
    must(&one, &change(Verb::Disable));

    let incoming = Path::new("/var/lib/sealion/incoming");
    let plan = one.plan(&change(Verb::Enable)).expect("a plan");
    rig.shared.borrow_mut().servers[2].disk.read_only.push(incoming.into());
    let end = one.apply(&plan);
    assert!(!end.is_complete(), "{end:?}");
    rig.shared.borrow_mut().servers[2].disk.read_only.clear();
    assert!(one.abandon().is_complete());
    let is_there = |index: usize| rig.shared.borrow().servers[index].disk.text(KEY).is_some();
    assert!(is_there(0) && !is_there(2), "it had placed files on n1 and not on n3");

    let end = one.go_on(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    assert_eq!(letters(&rig), "SSS");
    assert!(rig.shared.borrow().user_files() == sealed, "a file is not as it was before disable");
    assert_eq!(kept(&rig, "retired"), 0, "keys are kept that nothing can need");

    // And what was put back is sealion's to remove.
    let end = one.go_on(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    assert_eq!(letters(&rig), "PPP");
    assert!((0..3).all(|index| !is_there(index)), "a key was left");
}

#[test]
fn files_that_an_abandoned_change_placed_are_removed_by_their_hashes_where_nothing_refers_to_them() {
    let rig = plain();
    rig.shared.borrow_mut().servers[2].disk.read_only.push("/var/lib/sealion/incoming".into());
    let plan = rig.plan(&change(Verb::Enable)).expect("a plan");
    assert!(!rig.apply(&plan).is_complete());
    rig.shared.borrow_mut().servers[2].disk.read_only.clear();
    let cert = format!("{TLS_DIR}/node-cert.pem");
    put(&rig, 1, &cert, b"of somebody else");
    let steps: Vec<&Step> = plan.steps.iter().collect();
    let forget = |rig: &Rig| forget_placed(&mut rig.provider_world("x"), "that change", &steps).join("\n");
    let told = forget(&rig);
    let text = |rig: &Rig, index: usize, path: &str| rig.shared.borrow().servers[index].disk.text(path);
    assert!(
        told.contains("n1: files that that change had placed were removed") && told.contains(KEY),
        "{told}"
    );
    assert_eq!((text(&rig, 0, KEY), text(&rig, 0, &cert), text(&rig, 1, KEY)), (None, None, None));
    assert_eq!(text(&rig, 1, &cert).as_deref(), Some("of somebody else"));

    let rig = plain();
    rig.must(&change(Verb::Enable));
    assert_eq!(forget(&rig), "", "the servers use them");
    assert!(text(&rig, 0, KEY).is_some());
}
