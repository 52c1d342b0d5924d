//! A change that waits between two steps, or stops behind one: what a person wished with --stop-after, --pause-file, --window.

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

use change::{Direction, Outcome, Record};
use change_ops::gates::Gates;
use model::{Change, Noun, Plan, Verb};
use testbed::sim::rig::memory_dir;
use testbed::sim::{End, Operator, Rig, World};

const SEED: u64 = 20_261_125;

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}

fn plain() -> Rig {
    Rig::on(World::cluster(SEED, 3))
}

fn letters(rig: &Rig) -> String {
    rig.shared.borrow().letters()
}

/// Nobody lost anything, and nobody was cut off.
#[track_caller]
fn is_sound(rig: &Rig) {
    let world = rig.shared.borrow();
    assert_eq!(world.violations, Vec::<String>::new());
    assert_eq!(world.lost(), Vec::<String>::new());
}

fn waits(rig: &Rig) -> Vec<String> {
    rig.shared.borrow().said.iter().filter(|line| line.contains(" waits: ")).cloned().collect()
}

fn stop_after(step: &str) -> Gates {
    Gates { stop_after: Some(step.to_owned()), ..Gates::default() }
}

fn records(operator: &Operator, plan: &Plan) -> Vec<Record> {
    let journals = operator.journals();
    let (path, bytes) =
        journals.iter().find(|(path, _)| path.ends_with(format!("{}.journal", plan.id))).expect("there");
    change::journal::parse(bytes, path)
        .expect("sound")
        .records
        .into_iter()
        .map(|(_, record)| record)
        .collect()
}

#[test]
fn it_stops_behind_each_step_and_goes_on_from_there_or_back() {
    let steps: Vec<String> = {
        let rig = plain();
        let plan = Operator::new(&rig, "root@db1").plan(&enable()).expect("a plan");
        plan.steps.iter().map(|step| step.id.to_string()).collect()
    };
    for step in &steps {
        for wish in [Direction::Forward, Direction::Back] {
            let rig = plain();
            let before = rig.shared.borrow().user_files();
            let mut one = Operator::new(&rig, "root@db1");
            let plan = one.plan(&enable()).expect("a plan");
            one.gates(stop_after(&step.to_lowercase()));
            let end = one.apply(&plan);
            assert!(
                matches!(&end, End::Outcome(Outcome::Held { after }) if after.0 == *step),
                "{step}: {end:?}"
            );
            assert_eq!(one.open_plan().map(|open| open.id), Some(plan.id.clone()), "{step}");
            assert!(
                matches!(records(&one, &plan).last(), Some(Record::Done { step: last, .. }) if last.0 == *step)
            );
            is_sound(&rig);
            // Nobody else is kept away, and whoever plans is told what is open.
            let another = Operator::new(&rig, "root@db2");
            assert!(another.open_plan().is_some(), "{step}: the nodes tell of it");

            one.gates(Gates::default());
            let end = one.go_on(Some(wish));
            assert!(end.is_complete(), "{step}, {wish:?}: {end:?}");
            is_sound(&rig);
            if wish == Direction::Forward {
                assert_eq!(letters(&rig), "SSS", "{step}");
            } else {
                assert!(rig.shared.borrow().user_files() == before, "{step}: a file is not as it was");
            }
        }
    }
}

#[test]
fn an_undo_stops_behind_a_step_as_well() {
    let rig = plain();
    let mut one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&enable()).expect("a plan");
    assert!(one.apply(&plan).is_complete());
    let step = plan.steps.iter().rfind(|step| step.restarts_server).expect("a restart").id.to_string();
    one.gates(stop_after(&step));
    let end = one.go_on(Some(Direction::Back));
    assert!(matches!(&end, End::Outcome(Outcome::Held { after }) if after.0 == step), "{end:?}");
    one.gates(stop_after(&step));
    let end = one.go_on(None);
    assert!(matches!(&end, End::Refused(why) if why.contains("not to be reverted")), "{end:?}");
    one.gates(Gates::default());
    assert!(one.go_on(None).is_complete());
    assert_eq!(letters(&rig), "PPP");
    is_sound(&rig);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_begun() {
    let rig = plain();
    let mut one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&enable()).expect("a plan");
    let no_step = stop_after("E99.n1");
    let no_replicas = Gates { lag_s_max: Some(5), ..Gates::default() };
    for (gates, why) in
        [(no_step, "the plan has no step \"E99.n1\"; its steps are E"), (no_replicas, "it is for replicas")]
    {
        one.gates(gates);
        let end = one.apply(&plan);
        assert!(matches!(&end, End::Refused(text) if text.contains(why)), "{end:?}");
        assert!(one.journals().is_empty() && one.open_plan().is_none());
    }
    one.gates(Gates::default());
    assert!(one.apply(&plan).is_complete());
}

/// A file that pauses, gone with its directory.
fn pause_file() -> (tempfile::TempDir, PathBuf, Gates) {
    let dir = memory_dir();
    let file = dir.path().join("pause");
    std::fs::write(&file, "").expect("writable");
    let gates = Gates { pause_file: Some(file.clone()), ..Gates::default() };
    (dir, file, gates)
}

#[test]
fn while_the_file_is_there_no_step_is_begun_and_the_lease_is_kept() {
    let rig = plain();
    let mut one = Operator::new(&rig, "root@db1");
    let another = Operator::new(&rig, "root@db2");
    let plan = one.plan(&enable()).expect("a plan");
    let (_dir, file, gates) = pause_file();
    one.gates(gates);
    let (count, shared, theirs) = (Rc::new(Cell::new(0)), rig.shared.clone(), plan.clone());
    let counted = Rc::clone(&count);
    one.at_wait(move || {
        counted.set(counted.get() + 1);
        // Longer than a lease that nobody renews.
        if counted.get() == 100 {
            assert_eq!(shared.borrow().letters(), "PPP");
            let end = another.apply(&theirs);
            let text = end.text();
            assert!(text.contains("another sealion is at work"), "{end:?}");
            std::fs::remove_file(&file).expect("there");
        }
        false
    });
    let end = one.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    assert_eq!((count.get(), letters(&rig).as_str()), (100, "SSS"));
    let told = waits(&rig);
    assert!(
        matches!(&told[..], [why, over] if why.contains("paused while") && over.ends_with("over")),
        "{told:?}"
    );
    is_sound(&rig);
}

#[test]
fn killed_while_it_is_paused_it_goes_on_or_back() {
    let plan = Operator::new(&plain(), "root@db1").plan(&enable()).expect("a plan");
    // Behind the last step nothing is begun that could be paused.
    for step in plan.steps.iter().rev().skip(1).map(|step| step.id.to_string()) {
        for wish in [Direction::Forward, Direction::Back] {
            let rig = plain();
            let before = rig.shared.borrow().user_files();
            let mut one = Operator::new(&rig, "root@db1");
            let plan = one.plan(&enable()).expect("a plan");
            one.gates(stop_after(&step));
            one.apply(&plan);
            let (_dir, file, gates) = pause_file();
            one.gates(gates);
            let count = Cell::new(0);
            one.at_wait(move || {
                count.set(count.get() + 1);
                count.get() == 5
            });
            let (was, held) = (records(&one, &plan).len(), one.go_on(Some(wish)));
            if held != End::Killed {
                // Nothing was begun that an undo could revert.
                assert!(wish == Direction::Back && held.is_complete(), "{step}, {wish:?}: {held:?}");
                continue;
            }
            let turned = usize::from(wish == Direction::Back);
            assert_eq!(records(&one, &plan).len(), was + turned, "{step}: nothing was begun");
            std::fs::remove_file(&file).expect("there");
            let end = one.go_on(None);
            assert!(end.is_complete(), "{step}, {wish:?}: {end:?}");
            is_sound(&rig);
            match wish {
                Direction::Forward => assert_eq!(letters(&rig), "SSS"),
                Direction::Back => assert!(rig.shared.borrow().user_files() == before, "{step}"),
            }
        }
    }
}

#[test]
fn killed_before_its_first_step_it_is_resumed() {
    let rig = plain();
    let mut one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&enable()).expect("a plan");
    let (_dir, file, gates) = pause_file();
    one.gates(gates);
    one.at_wait(|| true);
    assert_eq!(one.apply(&plan), End::Killed);
    assert!(matches!(records(&one, &plan)[..], [Record::Opened { .. }]));
    std::fs::remove_file(&file).expect("there");
    let end = one.go_on(None);
    assert!(end.is_complete(), "{end:?}");
    assert_eq!(letters(&rig), "SSS");
    is_sound(&rig);
}

#[test]
fn outside_of_the_window_it_checks_and_changes_nothing_until_it_opens() {
    let rig = plain();
    let mut one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&enable()).expect("a plan");
    let minute = {
        use change_ops::access::ClusterAccess;
        one.local_minute()
    };
    let opens = (minute + 10) % 1440;
    let text = format!("{:02}:{:02}-{:02}:{:02}", opens / 60, opens % 60, minute / 60, minute % 60);
    one.gates(Gates { window: Some(text.parse().expect("a window")), ..Gates::default() });
    let shared = rig.shared.clone();
    one.at_wait(move || {
        assert_eq!(shared.borrow().letters(), "PPP");
        false
    });
    let end = one.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    let told = waits(&rig);
    assert!(told.len() == 2 && told[0].contains(&format!("outside of the window {text}")), "{told:?}");
    // What was checked before the wait was checked again behind it.
    let waited = told[0].split(' ').next().expect("a step");
    let at = plan.steps.iter().position(|step| step.id.0 == waited).expect("a step");
    let records = records(&one, &plan);
    for step in plan.steps.iter().take(at) {
        let times = records
            .iter()
            .filter(|record| matches!(record, Record::Done { step: done, .. } if *done == step.id));
        assert_eq!(times.count(), if step.only_looks { 2 } else { 1 }, "{}", step.id);
    }
    is_sound(&rig);
}

/// On the way back the same holds it: nobody is restarted outside of the window, or while the file is there.
#[test]
fn an_undo_waits_for_the_window_and_the_file_as_the_way_on_does() {
    let rig = plain();
    let mut one = Operator::new(&rig, "root@db1");
    assert!(one.apply(&one.plan(&enable()).expect("a plan")).is_complete());
    let minute = {
        use change_ops::access::ClusterAccess;
        one.local_minute()
    };
    let opens = (minute + 10) % 1440;
    let text = format!("{:02}:{:02}-{:02}:{:02}", opens / 60, opens % 60, minute / 60, minute % 60);
    let (_dir, file, gates) = pause_file();
    one.gates(Gates { window: Some(text.parse().expect("a window")), ..gates });
    let (count, shared) = (Rc::new(Cell::new(0)), rig.shared.clone());
    let counted = Rc::clone(&count);
    one.at_wait(move || {
        counted.set(counted.get() + 1);
        assert_eq!(shared.borrow().letters(), "SSS");
        if counted.get() == 20 {
            std::fs::remove_file(&file).expect("there");
        }
        false
    });
    let said = waits(&rig).len();
    let end = one.go_on(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    assert_eq!(letters(&rig), "PPP");
    let told = waits(&rig).split_off(said);
    assert!(told.len() >= 3 && told[0].contains("paused while"), "{told:?}");
    assert!(told.iter().any(|line| line.contains("outside of the window")) && count.get() > 100, "{told:?}");
    is_sound(&rig);
}

/// `pc.weight` of a running node, as `SET GLOBAL wsrep_provider_options` changes it.
fn weigh(rig: &Rig, index: usize, weight: u32) {
    let mut world = rig.shared.borrow_mut();
    let live = world.servers[index].live.as_mut().expect("it runs");
    let mut options = server::ProviderOptions::parse(&live.read_back);
    options.set("pc.weight", &weight.to_string());
    live.read_back = options.to_string();
}

#[test]
fn weights_changed_in_the_middle_keep_the_last_one_running() {
    let rig = plain();
    let mut one = Operator::new(&rig, "root@db1");
    let plan = one.plan(&enable()).expect("a plan");
    let first = plan.steps.iter().find(|step| step.restarts_server).expect("a restart").id.to_string();
    one.gates(stop_after(&first));
    assert!(matches!(one.apply(&plan), End::Outcome(Outcome::Held { .. })));
    one.gates(Gates::default());
    let next = plan.steps.iter().filter(|step| step.restarts_server).nth(1).expect("three nodes");
    let index = usize::from(next.nodes[0].as_str().as_bytes()[1] - b'1');
    let others = (0..3).filter(|other| *other != index);
    for other in others.clone() {
        weigh(&rig, other, 0);
    }
    let stops = rig.shared.borrow().stops.clone();
    for _ in 0..2 {
        let end = one.go_on(None).text();
        assert!(end.contains("have no quorum: pc.weight is"), "{end}");
        assert_eq!(rig.shared.borrow().stops, stops, "{end}");
    }
    for other in others {
        weigh(&rig, other, 1);
    }
    assert!(one.go_on(None).is_complete());
    is_sound(&rig);
}
