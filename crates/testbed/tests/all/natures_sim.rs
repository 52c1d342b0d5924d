//! What steps say of their nature, held by what ships: needs are asked before the first step and before each, and nobody goes back
//! over a step that is irreversible.

use change::{Direction, Journal, Outcome, Record};
use model::{Change, Need, Noun, Verb};
use testbed::sim::{End, Fault, Instant, Operator, Rig};

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}

fn plain() -> Rig {
    Rig::new(7, 3).fork(7)
}

/// Room for one file, not for what is to be left over.
const LITTLE_BYTES: u64 = 1 << 20;

#[test]
fn every_step_that_writes_on_a_node_says_what_room_it_needs_there() {
    let rig = plain();
    let operator = Operator::new(&rig, "root@db1");
    let mut plans = vec![operator.plan(&enable()).expect("a plan")];
    assert!(operator.apply(&plans[0]).is_complete());
    for verb in [Verb::Rotate, Verb::Disable] {
        plans.push(operator.plan(&Change::new(verb, Noun::ALL)).expect("a plan"));
    }
    for step in plans.iter().flat_map(|plan| &plan.steps).filter(|step| !step.no_op) {
        let needs = &step.nature.needs;
        let writes = !step.only_looks && step.kind != "require" || !step.diff.is_empty();
        assert_eq!(
            !needs.is_empty(),
            writes,
            "{}: it writes on its node: {writes}; it needs {needs:?}: set nature.needs where it is planned, or only_looks of its kind",
            step.id
        );
        for Need::Space { node, bytes, .. } in needs {
            assert!(*bytes > 0 && node.as_ref() == step.nodes.first(), "{}: {needs:?}", step.id);
        }
    }
}

#[test]
fn a_plan_for_which_there_is_no_room_is_refused_with_every_place_and_nothing_is_changed() {
    let rig = plain();
    for index in [0, 2] {
        rig.shared.borrow_mut().servers[index].disk.free_bytes = LITTLE_BYTES;
    }
    let operator = Operator::new(&rig, "root@db1");
    let before = rig.shared.borrow().fingerprint();
    let error = operator.plan(&enable()).expect_err("no room");
    assert_eq!(error.exit_code(), 6);
    let text = error.to_string();
    for words in
        ["n1: the disk of ", "n3: the disk of ", "1048576 bytes are free", "E0.n1", "E4.n3", "make room"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("n2: "), "{text}");
    assert_eq!(rig.shared.borrow().fingerprint(), before);
}

#[test]
fn a_disk_that_fills_up_later_stops_the_change_before_the_step_that_needs_it() {
    let rig = plain();
    let plan = rig.plan(&enable()).expect("a plan");
    let rehearsal = rig.fork(7);
    rehearsal.plan(&enable()).expect("a plan");
    rehearsal.arm(None);
    assert!(rehearsal.apply(&plan).is_complete());
    // The pre-check of the step after it finds no room; nothing of that step is announced.
    let is_there = |instant: &Instant| instant.moment == "E2.n3:checking";
    let at = rehearsal.trace().iter().position(is_there).expect("an instant of this plan");
    rig.arm(Some((at, Fault::DiskFull)));
    let end = rig.apply(&plan);
    rig.arm(None);
    let End::Outcome(Outcome::Stopped { step, why }) = &end else { panic!("{end:?}") };
    assert_eq!(step.0, "E2.n3");
    assert!(why.contains("n3: the disk of ") && why.contains("make room"), "{why}");
    assert_eq!(rig.shared.borrow().letters(), "PPP", "no server was restarted");
    rig.shared.borrow_mut().servers.iter_mut().for_each(|server| server.disk.free_bytes = 1 << 30);
    assert!(rig.resume(None).is_complete());
    assert_eq!(rig.shared.borrow().letters(), "SSS");
}

/// The journal of a finished change as it would be if one of its steps were irreversible: here, and the nodes' copies of it.
fn make_irreversible(rig: &Rig, operator: &Operator, id: &str) {
    let (path, bytes) = operator.journals().pop().expect("one journal");
    let records = change::journal::parse(&bytes, &path).expect("sound").records;
    std::fs::remove_file(&path).expect("ours");
    let mut journal = Journal::open(&path).expect("free");
    for (at, mut record) in records {
        if let Record::Opened { plan } = &mut record {
            let step = plan.steps.iter_mut().find(|step| step.id.0 == id).expect("a step of this plan");
            step.nature.irreversible = Some("what it replaced is gone".into());
        }
        journal.append(at, record).expect("there is room");
    }
    drop(journal);
    let bytes = std::fs::read(&path).expect("ours");
    for server in &mut rig.shared.borrow_mut().servers {
        for (copy, entry) in &mut server.disk.entries {
            if copy.file_name() == path.file_name() {
                entry.bytes = Some(bytes.clone());
            }
        }
    }
}

#[test]
fn undo_of_a_change_with_an_irreversible_step_is_refused_before_anything_is_changed() {
    let rig = plain();
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&enable()).expect("a plan");
    assert!(operator.apply(&plan).is_complete());
    make_irreversible(&rig, &operator, "E4.n2");
    let (before, journals) = (rig.shared.borrow().fingerprint(), operator.journals());
    let end = operator.go_on(Some(Direction::Back));
    let End::Refused(text) = &end else { panic!("{end:?}") };
    for words in
        ["undo is refused, nothing was changed", "step E4.n2 was begun", "what it replaced is gone", "next:"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(rig.shared.borrow().letters(), "SSS");
    assert_eq!((rig.shared.borrow().fingerprint(), operator.journals()), (before, journals));
}
