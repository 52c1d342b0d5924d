//! Killed after each command, the machine made from the journal ends in the wished state.

use super::*;
use crate::fixtures::plan;
use model::StepNature;

/// Steps are booleans in a world; acting sets them, and may be told to fail or be killed.
struct World {
    on: Vec<bool>,
    fails_at: Option<usize>,
    blocked_at: Option<usize>,
    /// Actions come in so many parts.
    parts: usize,
    /// Every part that was carried out: step, direction, part.
    acted: Vec<(usize, Direction, usize)>,
}

impl World {
    fn new(steps: usize) -> Self {
        Self { on: vec![false; steps], fails_at: None, blocked_at: None, parts: 1, acted: Vec::new() }
    }

    /// Runs until finished or until `budget` commands were carried out (then sealion was killed).
    /// `torn`: the last command, if it was an action, was carried out but never reported.
    fn run(&mut self, machine: &mut Machine, log: &mut Vec<Record>, mut budget: usize) -> Option<Outcome> {
        loop {
            let command = machine.next();
            if let Command::Finished(outcome) = command {
                return Some(outcome);
            }
            if budget == 0 {
                return None;
            }
            budget -= 1;
            let event = match command {
                Command::Append(record) => {
                    log.push(*record);
                    Event::Appended
                }
                Command::Check { step, direction } => {
                    if self.blocked_at == Some(step) && direction == Direction::Forward {
                        Event::Blocked { why: "blocked".into() }
                    } else if match direction {
                        Direction::Forward => self.on[step],
                        Direction::Back => machine.taken_back[step].iter().all(|&also| !self.on[also]),
                    } {
                        Event::AlreadyDone { note: String::new() }
                    } else {
                        Event::Ready
                    }
                }
                Command::Act { step, direction, mark } => {
                    let part = mark.map_or(0, |mark| mark.parse().expect("a number")) + 1;
                    self.acted.push((step, direction, part));
                    if part < self.parts {
                        Event::PartActed { mark: part.to_string() }
                    } else {
                        self.on[step] = direction == Direction::Forward;
                        if direction == Direction::Back {
                            machine.taken_back[step].iter().for_each(|&also| self.on[also] = false);
                        }
                        Event::Acted
                    }
                }
                Command::Verify { step, direction } => {
                    if self.fails_at == Some(step) && direction == Direction::Forward {
                        Event::Failed { why: "post-check".into() }
                    } else {
                        Event::Verified { note: String::new() }
                    }
                }
                Command::Finished(_) => unreachable!("handled above"),
            };
            machine.on(event);
        }
    }
}

#[test]
fn killed_after_any_command_resume_finishes_and_undo_goes_back() {
    for wish in [Direction::Forward, Direction::Back] {
        for budget in 0..40 {
            let (mut world, mut log) = (World::new(3), Vec::new());
            let finished = world.run(&mut Machine::start(plan(3)), &mut log, budget);
            let Some((mut machine, turned)) = Machine::resume(log.iter(), Some(wish)) else {
                assert_eq!(budget, 0, "only before the plan was journalled there is nothing to resume");
                continue;
            };
            assert_eq!(turned, wish == Direction::Back);
            assert!(finished.is_none_or(|outcome| outcome == Outcome::Complete));
            assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
            assert_eq!(world.on, vec![wish == Direction::Forward; 3], "killed after {budget} commands");
        }
    }
}

#[test]
fn killed_again_and_again_it_still_ends() {
    let (mut world, mut log) = (World::new(4), Vec::new());
    world.run(&mut Machine::start(plan(4)), &mut log, 1);
    for _ in 0..100 {
        let (mut machine, _) = Machine::resume(log.iter(), None).expect("opened");
        // Four commands are one step's check, intent, action, verification: progress needs the fifth.
        if world.run(&mut machine, &mut log, 5) == Some(Outcome::Complete) {
            assert_eq!(world.on, vec![true; 4]);
            return;
        }
    }
    panic!("no end after 100 kills");
}

#[test]
fn refuses_when_the_first_pre_check_says_no_and_touches_nothing() {
    let (mut world, mut log) = (World::new(2), Vec::new());
    world.blocked_at = Some(0);
    let outcome = world.run(&mut Machine::start(plan(2)), &mut log, 99);
    assert!(matches!(outcome, Some(Outcome::Refused { .. })), "{outcome:?}");
    assert_eq!(world.on, vec![false; 2]);
}

#[test]
fn a_failed_step_is_taken_back_and_the_change_stops_resumable() {
    let (mut world, mut log) = (World::new(3), Vec::new());
    world.fails_at = Some(1);
    let outcome = world.run(&mut Machine::start(plan(3)), &mut log, 99);
    assert!(matches!(outcome, Some(Outcome::Stopped { .. })), "{outcome:?}");
    assert_eq!(world.on, vec![true, false, false], "step 0 stays, step 1 was taken back");
    world.fails_at = None;
    let (mut machine, _) = Machine::resume(log.iter(), None).expect("opened");
    assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
    assert_eq!(world.on, vec![true; 3]);
}

#[test]
fn what_was_so_before_is_not_taken_back_wherever_it_was_killed() {
    for budget in 0..40 {
        let (mut world, mut log) = (World::new(3), Vec::new());
        world.on[1] = true;
        world.run(&mut Machine::start(plan(3)), &mut log, budget);
        // Resumed once, so that a step found done is read back from the journal too.
        if let Some((mut machine, _)) = Machine::resume(log.iter(), None) {
            world.run(&mut machine, &mut log, 99);
        }
        let Some((mut machine, _)) = Machine::resume(log.iter(), Some(Direction::Back)) else { continue };
        assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
        assert_eq!(world.on, [false, true, false], "killed after {budget} commands");
    }
}

#[test]
fn an_undone_change_can_be_wished_again() {
    let (mut world, mut log) = (World::new(2), Vec::new());
    world.run(&mut Machine::start(plan(2)), &mut log, 99);
    for wish in [Direction::Back, Direction::Forward] {
        let (mut machine, _) = Machine::resume(log.iter(), Some(wish)).expect("opened");
        log.push(Record::Turned { direction: wish });
        assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
        assert_eq!(world.on, vec![wish == Direction::Forward; 2]);
    }
}

fn with_nature(mut plan: Plan, at: usize, nature: StepNature) -> Plan {
    plan.steps[at].nature = nature;
    plan
}

fn irreversible() -> StepNature {
    StepNature { irreversible: Some("the old key is gone".into()), ..StepNature::default() }
}

fn undone_by(id: &str) -> StepNature {
    StepNature { undone_by: Some(StepId(id.into())), ..StepNature::default() }
}

fn is_begun(log: &[Record], id: &str) -> bool {
    log.iter().any(|record| matches!(record, Record::Intent { step, .. } if step.0 == id))
}

#[test]
fn killed_after_any_command_nobody_goes_back_over_an_irreversible_step() {
    let plan = || with_nature(plan(3), 1, irreversible());
    for budget in 1..40 {
        let (mut world, mut log) = (World::new(3), Vec::new());
        world.run(&mut Machine::start(plan()), &mut log, budget);
        let (before, records) = (world.on.clone(), log.len());
        let (mut machine, turned) = Machine::resume(log.iter(), Some(Direction::Back)).expect("opened");
        let outcome = world.run(&mut machine, &mut log, 99);
        if !is_begun(&log, "S1") {
            assert_eq!((outcome, world.on), (Some(Outcome::Complete), vec![false; 3]), "{budget}");
            continue;
        }
        let Some(Outcome::Refused { step, why }) = outcome else { panic!("{outcome:?} after {budget}") };
        assert!(
            step.0 == "S1" && why.contains("why:  the old key is gone") && why.contains("next:"),
            "{why}"
        );
        assert!(!turned && machine.direction() == Direction::Forward);
        assert_eq!((&world.on, log.len()), (&before, records), "nothing was done, after {budget} commands");
        let (mut machine, _) = Machine::resume(log.iter(), None).expect("opened");
        assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
        assert_eq!(world.on, vec![true; 3]);
    }
}

#[test]
fn one_that_was_so_before_is_no_obstacle() {
    let (mut world, mut log) = (World::new(3), Vec::new());
    world.on[1] = true;
    world.run(&mut Machine::start(with_nature(plan(3), 1, irreversible())), &mut log, 99);
    let (mut machine, turned) = Machine::resume(log.iter(), Some(Direction::Back)).expect("opened");
    assert!(turned);
    assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
    assert_eq!(world.on, [false, true, false]);
}

#[test]
fn a_step_that_cannot_be_taken_back_by_itself_is_left_as_it_is_when_it_fails() {
    for nature in [irreversible(), undone_by("S0")] {
        let (mut world, mut log) = (World::new(3), Vec::new());
        world.fails_at = Some(1);
        let outcome = world.run(&mut Machine::start(with_nature(plan(3), 1, nature)), &mut log, 99);
        let Some(Outcome::Stopped { why, .. }) = outcome else { panic!("{outcome:?}") };
        assert!(why.contains("is left as it is"), "{why}");
        assert_eq!(world.on, [true, true, false]);
        world.fails_at = None;
        let (mut machine, _) = Machine::resume(log.iter(), None).expect("opened");
        assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
    }
}

#[test]
fn killed_after_any_command_another_steps_undo_takes_a_step_back_and_it_is_never_undone_by_itself() {
    // S1 by S3, which comes later and may never have been begun; S2 by S0, by way of S1 in the last row.
    for natures in [[(1, "S3"), (2, "S0")], [(1, "S0"), (2, "S1")]] {
        let plan = || natures.iter().fold(plan(4), |plan, (at, by)| with_nature(plan, *at, undone_by(by)));
        for (budget, again) in (1..40).flat_map(|budget| (0..20).map(move |again| (budget, again))) {
            let (mut world, mut log) = (World::new(4), Vec::new());
            world.run(&mut Machine::start(plan()), &mut log, budget);
            for (wish, budget) in [(Some(Direction::Back), again), (None, 99)] {
                let (mut machine, turned) = Machine::resume(log.iter(), wish).expect("opened");
                if turned {
                    log.push(Record::Turned { direction: Direction::Back });
                }
                let outcome = world.run(&mut machine, &mut log, budget);
                assert!(outcome.is_none_or(|outcome| outcome == Outcome::Complete));
            }
            assert_eq!(world.on, [false; 4], "killed after {budget} and {again} commands");
            assert!(
                world.acted.iter().all(|(step, to, _)| *to == Direction::Forward || ![1, 2].contains(step)),
                "{:?}",
                world.acted
            );
            let (mut machine, _) = Machine::resume(log.iter(), Some(Direction::Forward)).expect("opened");
            assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
            assert_eq!(world.on, [true; 4]);
        }
    }
}

#[test]
fn one_whose_undoer_is_not_in_the_plan_or_that_goes_round_in_a_circle_is_not_undone() {
    for plan in [
        with_nature(plan(2), 1, undone_by("S9")),
        with_nature(with_nature(plan(2), 1, undone_by("S0")), 0, undone_by("S1")),
    ] {
        let (mut world, mut log) = (World::new(2), Vec::new());
        world.run(&mut Machine::start(plan), &mut log, 99);
        let (machine, _) = Machine::resume(log.iter(), Some(Direction::Back)).expect("opened");
        assert!(matches!(machine.next(), Command::Finished(Outcome::Refused { .. })), "{:?}", machine.next());
    }
}

#[test]
fn killed_after_any_command_an_action_goes_on_behind_the_last_part_that_was_journalled() {
    for wish in [Direction::Forward, Direction::Back] {
        for budget in 1..60 {
            let (mut world, mut log) = (World::new(2), Vec::new());
            world.parts = 4;
            world.run(&mut Machine::start(plan(2)), &mut log, budget);
            let acted = world.acted.len();
            let marked: Vec<(usize, usize)> = log
                .iter()
                .filter_map(|record| match record {
                    Record::Progress { step, mark, .. } => {
                        Some((usize::from(step.0 == "S1"), mark.parse().expect("a number")))
                    }
                    _ => None,
                })
                .collect();
            let (mut machine, turned) = Machine::resume(log.iter(), Some(wish)).expect("opened");
            if turned {
                log.push(Record::Turned { direction: wish });
            }
            assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
            assert_eq!(world.on, vec![wish == Direction::Forward; 2]);
            let twice = world.acted[acted..]
                .iter()
                .find(|(step, to, part)| *to == Direction::Forward && marked.contains(&(*step, *part)));
            assert_eq!(twice, None, "killed after {budget} commands");
        }
    }
}

#[test]
fn parts_that_an_undo_may_have_taken_back_are_done_again() {
    let (mut world, mut log) = (World::new(1), Vec::new());
    world.parts = 4;
    // Opened, looked, announced, two parts journalled.
    world.run(&mut Machine::start(plan(1)), &mut log, 7);
    let (mut machine, _) = Machine::resume(log.iter(), Some(Direction::Back)).expect("opened");
    world.on[0] = true; // As its own check sees a half of it.
    world.run(&mut machine, &mut log, 3);
    world.on[0] = false;
    let (mut machine, _) = Machine::resume(log.iter(), Some(Direction::Forward)).expect("opened");
    let before = world.acted.len();
    assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
    assert_eq!(world.acted[before..].first(), Some(&(0, Direction::Forward, 1)));
}

#[test]
fn it_is_held_behind_each_step_and_resumed_or_undone_from_there() {
    for held_at in 0..3 {
        for wish in [Direction::Forward, Direction::Back] {
            let (mut world, mut log) = (World::new(3), Vec::new());
            let mut machine = Machine::start(plan(3));
            machine.stop_after(&format!("s{held_at}")).expect("the plan has it");
            let after = StepId(format!("S{held_at}"));
            assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Held { after }));
            assert_eq!(world.on, (0..3).map(|at| at <= held_at).collect::<Vec<_>>());
            assert!(matches!(log.last(), Some(Record::Done { .. })), "{log:?}");
            let (mut machine, _) = Machine::resume(log.iter(), Some(wish)).expect("opened");
            assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
            assert_eq!(world.on, [wish == Direction::Forward; 3]);
        }
    }
    // A step that fails is taken back, and then it is no end that was wished.
    let (mut world, mut log) = (World::new(2), Vec::new());
    world.fails_at = Some(1);
    let mut machine = Machine::start(plan(2));
    machine.stop_after("S1").expect("the plan has it");
    let outcome = world.run(&mut machine, &mut log, 99);
    assert!(matches!(outcome, Some(Outcome::Stopped { .. })), "{outcome:?}");
    let (mut machine, _) = Machine::resume(log.iter(), None).expect("opened");
    assert!(machine.stop_after("S0").expect_err("done").contains("done already"));
    assert!(machine.stop_after("S7").expect_err("none").contains("its steps are S0, S1"));
}

#[test]
fn nothing_is_between_two_steps_while_one_is_taken_back() {
    let mut machine = Machine::start(plan(2));
    assert!(machine.begins().is_none(), "the plan is not journalled yet");
    machine.on(Event::Appended);
    let stand = |machine: &Machine| machine.begins().map(|(step, _, stand)| (step.id.0.clone(), stand));
    assert_eq!(stand(&machine), Some(("S0".into(), Stand::Untouched)));
    for event in [Event::Ready, Event::Appended, Event::Failed { why: String::new() }, Event::Appended] {
        machine.on(event);
        assert!(machine.begins().is_none(), "{machine:?}");
    }
    assert!(matches!(machine.next(), Command::Check { direction: Direction::Back, .. }));
}

#[test]
fn who_waited_long_looks_again_before_the_next_step() {
    let mut gated = plan(3);
    gated.steps[0].only_looks = true;
    let (mut world, mut log) = (World::new(3), Vec::new());
    let mut machine = Machine::start(gated);
    // Opened; then check, intent, action, verification and record of the gate.
    assert_eq!(world.run(&mut machine, &mut log, 6), None);
    assert!(machine.begins().is_some_and(|(step, ..)| step.id.0 == "S1"));
    machine.has_waited();
    assert!(machine.begins().is_some_and(|(step, ..)| step.id.0 == "S0"));
    assert_eq!(world.run(&mut machine, &mut log, 99), Some(Outcome::Complete));
    let looked = log.iter().filter(|record| matches!(record, Record::Done { step, .. } if step.0 == "S0"));
    assert_eq!(looked.count(), 2);
}
