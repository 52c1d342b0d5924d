//! kill -9 on real clusters: of sealion, of the node that a step is at, of another node, at points that the shipped binary
//! has reached. `resume` ends in the wanted state or `undo` in the old one; no acknowledged write is lost.
//!
//! `SEALION_SEED=N` repeats the random part. `SEALION_DEEP=1` runs every moment with every victim and both ways on, and
//! goes on where an earlier run of the same seed was ended (`SEALION_DEEP_FILE`, else a file in the temporary directory).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use bench::writers::Outcome;
use testbed::real::{LabSpec, RealLab, RealWriters, is_deep, lab_slot, seed, wait_for};
use testbed::sim::rng::Rng;

/// From the start of a change to any of its moments.
const HELD_S_MAX: u64 = 300;
/// A cluster that lost a node, or its quorum, is whole again by then.
const WHOLE_S_MAX: u64 = 120;
const NODES: [&str; 3] = ["n1", "n2", "n3"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Sealion,
    /// The node that the step changes, then sealion.
    StepNode,
    /// Another one, then sealion.
    OtherNode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Resume,
    Undo,
}

/// Where a change is killed.
#[derive(Debug, Clone, Copy)]
enum When<'m> {
    /// Held there by the binary itself.
    At(&'m str),
    /// So long after it said that this step acts: in the middle of whatever it does then.
    After { step: &'m str, ms: u64 },
}

struct Stage {
    lab: RealLab,
    rng: RefCell<Rng>,
}

impl Stage {
    fn new(seed: u64) -> Self {
        Self { lab: RealLab::up(LabSpec::GALERA), rng: RefCell::new(Rng::new(seed)) }
    }

    /// Starts `words`, kills at `when`, and tells whether a server was killed too.
    #[track_caller]
    fn kill(&self, words: &[&str], when: When<'_>, victim: Victim) -> bool {
        self.try_kill(words, when, victim)
            .unwrap_or_else(|| panic!("it ended well without coming to {when:?}"))
    }

    /// `None` when the change ended well without coming there: a step that finds its work done does not act.
    #[track_caller]
    fn try_kill(&self, words: &[&str], when: When<'_>, victim: Victim) -> Option<bool> {
        self.lab.now(format!("sealion {} killed at {when:?}, victim {victim:?}", words.join(" ")));
        let (mut change, step) = match when {
            When::At(moment) => {
                let mut change = self.lab.start(words, Some(moment));
                if !change.says(&format!("held at {moment} "), Duration::from_secs(HELD_S_MAX)) {
                    let said = self.lab.ended(change.kill());
                    assert_eq!(said.code, Some(0), "it did not come to {moment}\n{said}");
                    return None;
                }
                (change, moment.split(':').next().unwrap_or(moment))
            }
            When::After { step, ms } => {
                let mut change = self.lab.start(words, None);
                let reached = change.says(&format!(" {step} "), Duration::from_secs(HELD_S_MAX));
                assert!(reached, "it did not come to {step}: {}", change.stderr());
                // The one sleep that is meant: the moment itself is what is random here.
                std::thread::sleep(Duration::from_millis(ms));
                (change, step)
            }
        };
        let at = step.split_once('.').map(|(_, node)| node).filter(|node| NODES.contains(node));
        let node = match (victim, at) {
            (Victim::Sealion, _) => None,
            (Victim::StepNode, Some(node)) => NODES.iter().copied().find(|name| *name == node),
            (Victim::StepNode, None) => self.rng.borrow_mut().choose(&NODES),
            (Victim::OtherNode, at) => {
                let others: Vec<&str> = NODES.into_iter().filter(|name| Some(*name) != at).collect();
                self.rng.borrow_mut().choose(&others)
            }
        };
        if let Some(node) = node {
            self.lab.kill_node(node);
            eprintln!("    killed {node}");
        }
        assert!(!change.has_ended(), "it ended before it was killed: {}", change.stderr());
        let said = self.lab.ended(change.kill());
        assert_eq!(said.code, None, "SIGKILL ended it\n{said}");
        Some(node.is_some())
    }

    /// `resume` or `undo` to the end, and the state that it promises.
    #[track_caller]
    fn go_on(&self, way: Way, start: &Start) {
        match way {
            Way::Resume => {
                self.lab.now("sealion resume");
                self.lab.run(&["resume"]).exits(0);
                self.lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
                self.lab.is_sealed();
            }
            Way::Undo => {
                self.lab.now("sealion undo");
                self.lab.run(&["undo"]).exits(0);
                self.is_as_at(start);
            }
        }
    }

    #[track_caller]
    fn is_as_at(&self, start: &Start) {
        self.lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
        self.lab.is_plain();
        let now = self.lab.files();
        for (path, (mode, before)) in start {
            let (mode_now, bytes) = now.get(path).unwrap_or_else(|| panic!("{} is gone", path.display()));
            let text = String::from_utf8_lossy;
            assert_eq!((mode_now, text(bytes)), (mode, text(before)), "{}", path.display());
        }
        let more: Vec<_> = now.keys().filter(|path| !start.contains_key(*path)).collect();
        assert!(more.is_empty(), "undo left {more:?}");
    }
}

type Start = std::collections::BTreeMap<PathBuf, (u32, Vec<u8>)>;

fn tell(what: &str, outcome: &Outcome) {
    eprintln!(
        "    {what}: {} acknowledged, 0 lost, {} failed ({} in doubt), {} times left a drained node",
        outcome.acknowledged, outcome.failed, outcome.in_doubt, outcome.moved_by_check
    );
}

/// One change killed again and again, each time gone on with, and on the way back too. Only sealion dies, so not one
/// transaction may fail.
#[test]
fn sealion_killed_again_and_again_finishes_and_goes_back_without_a_failed_transaction() {
    let _alone = lab_slot();
    let seed = seed();
    let stage = Stage::new(seed);
    let start = stage.lab.files();
    let writers = RealWriters::start(&stage.lab);

    let hash = stage.lab.plan_hash("enable");
    stage.kill(&["enable", "--yes", &hash], When::At("E0.n2:acting"), Victim::Sealion);
    let in_a_restart = stage.rng.borrow_mut().between(0, 6000);
    stage.kill(&["resume"], When::At("E2.n3:acting"), Victim::Sealion);
    stage.kill(&["resume"], When::After { step: "E2.n2", ms: in_a_restart }, Victim::Sealion);
    stage.kill(&["resume"], When::At("E3:checking"), Victim::Sealion);
    stage.kill(&["resume"], When::At("E4.n1:recording"), Victim::Sealion);
    stage.kill(&["resume"], When::At("E5.n2:acting"), Victim::Sealion);
    stage.go_on(Way::Resume, &start);

    // Of a finished change: it must be named.
    stage.kill(&["undo", "--yes", &hash], When::At("E4.n2:undo-verifying"), Victim::Sealion);
    stage.kill(&["undo"], When::After { step: "E2.n1", ms: in_a_restart }, Victim::Sealion);
    stage.go_on(Way::Undo, &start);

    let outcome = writers.stop_and_audit();
    tell("only sealion was killed", &outcome);
    assert_eq!(outcome.failed, 0, "seed {seed}: {:#?}", outcome.errors);
}

/// A server dies with sealion. What was in flight on it may fail; what was acknowledged may not be lost.
#[test]
fn a_server_killed_with_sealion_is_brought_back_and_the_change_ends_either_way() {
    let _alone = lab_slot();
    let seed = seed();
    let stage = Stage::new(seed);
    let start = stage.lab.files();
    let writers = RealWriters::start(&stage.lab);

    let hash = stage.lab.plan_hash("enable");
    stage.kill(&["enable", "--yes", &hash], When::At("E2.n3:verifying"), Victim::StepNode);
    stage.go_on(Way::Undo, &start);

    let hash = stage.lab.plan_hash("enable");
    stage.kill(&["enable", "--yes", &hash], When::At("E2.n2:acting"), Victim::OtherNode);
    let ms = stage.rng.borrow_mut().between(0, 7000);
    stage.kill(&["resume"], When::After { step: "E2.n1", ms }, Victim::Sealion);
    stage.kill(&["resume"], When::At("E4.n2:verifying"), Victim::StepNode);
    stage.go_on(Way::Resume, &start);
    stage.kill(&["undo", "--yes", &hash], When::At("E4.n3:undo-acting"), Victim::OtherNode);
    stage.go_on(Way::Undo, &start);

    let outcome = writers.stop_and_audit();
    tell("servers were killed", &outcome);
}

/// Every moment of the plan, every victim, both ways: hours. A line is written for each finished case.
#[test]
fn deep_every_moment_every_victim_both_ways() {
    if !is_deep() {
        eprintln!("only with SEALION_DEEP=1 (make deep)");
        return;
    }
    let _alone = lab_slot();
    let seed = seed();
    let path = std::env::var_os("SEALION_DEEP_FILE")
        .map_or_else(|| std::env::temp_dir().join(format!("sealion-deep-kills-{seed}")), PathBuf::from);
    let done: BTreeSet<String> =
        std::fs::read_to_string(&path).unwrap_or_default().lines().map(str::to_owned).collect();
    eprintln!("{} cases were finished before, by {}", done.len(), path.display());
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path).expect("writable");

    let stage = Stage::new(seed);
    let start = stage.lab.files();
    let plan = stage.lab.run(&["plan", "enable", "--format", "json"]).exits(0).json();
    let steps: Vec<String> = plan["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .filter(|step| step["no_op"] != true)
        .map(|step| step["id"].as_str().expect("an id").to_owned())
        .collect();
    let mut moments = vec!["opening".to_owned()];
    for step in &steps {
        // What only looks has no intent and no action of its own to be held at in every version: it is still checked.
        moments.extend(
            ["checking", "announcing", "acting", "verifying", "recording"]
                .map(|phase| format!("{step}:{phase}")),
        );
    }
    moments.push("closing".to_owned());
    for moment in &moments {
        for victim in [Victim::Sealion, Victim::StepNode, Victim::OtherNode] {
            for way in [Way::Resume, Way::Undo] {
                let case = format!("{moment} {victim:?} {way:?}");
                if done.contains(&case) {
                    continue;
                }
                let writers = RealWriters::start(&stage.lab);
                let hash = stage.lab.plan_hash("enable");
                let killed = stage.try_kill(&["enable", "--yes", &hash], When::At(moment), victim);
                let Some(server_died) = killed else {
                    stage.go_on(Way::Undo, &start);
                    tell(&case, &writers.stop_and_audit());
                    writeln!(file, "{case}").expect("writable");
                    continue;
                };
                if moment == "opening" {
                    // Nothing was journalled: there is nothing to continue, and nothing was changed.
                    stage.lab.run(&["resume"]).exits(6);
                    if server_died {
                        let dead = NODES.into_iter().find(|node| stage.lab.sql(node).is_err());
                        if let Some(node) = dead {
                            stage.lab.lab(&["start", node]).exits(0);
                        }
                    }
                    stage.is_as_at(&start);
                } else {
                    stage.go_on(way, &start);
                    if way == Way::Resume {
                        stage.go_on(Way::Undo, &start);
                    }
                }
                let outcome = writers.stop_and_audit();
                tell(&case, &outcome);
                assert!(server_died || outcome.failed == 0, "{case}: {:#?}", outcome.errors);
                let whole = wait_for(Duration::from_secs(5), || stage.lab.is_synced("n1", 3).then_some(()));
                assert!(whole.is_some(), "{case}");
                writeln!(file, "{case}").expect("writable");
            }
        }
    }
}
