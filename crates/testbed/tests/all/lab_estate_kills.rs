//! kill -9 of sealion at seeded instants of a change of a real estate, by ssh and under writers: `resume` ends in the wished state, `undo` in
//! the old one, no acknowledged write is lost, and only who is restarted alone fails one.
//!
//! Minutes, so only with `SEALION_DEEP=1` (make deep); `SEALION_SEED=N` repeats its instants.

use std::time::Duration;

use testbed::real::{LabSpec, RealLab, is_deep, lab_slot, seed};
use testbed::sim::rng::Rng;

use crate::lab_estate::{Writers, all_links, all_replicate, clients, links};

const REACHED_MAX: Duration = Duration::from_secs(300);
/// By then a step that was announced is in the middle of what it does, or done.
const LATER_MS_MAX: u64 = 6_000;

/// Started, and killed so long after it has announced that step.
#[track_caller]
fn killed(lab: &RealLab, words: &[&str], step: &str, later_ms: u64) {
    lab.now(format!("sealion {} killed {later_ms} ms after {step}", words.join(" ")));
    let mut change = lab.start(words, None);
    let reached = change.says(&format!(" {step} "), REACHED_MAX);
    assert!(reached, "it did not come to {step}: {}", change.stderr());
    // The one sleep that is meant: the moment itself is what is random here.
    std::thread::sleep(Duration::from_millis(later_ms));
    assert!(!change.has_ended(), "it ended before it was killed: {}", change.stderr());
    let said = lab.ended(change.kill());
    assert_eq!(said.code, None, "SIGKILL ended it\n{said}");
}

#[test]
fn deep_a_change_of_an_estate_is_killed_in_every_part_and_goes_on_or_back() {
    if !is_deep() {
        eprintln!("only with SEALION_DEEP=1 (make deep)");
        return;
    }
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::ESTATE);
    let seed = seed();
    let mut rng = Rng::new(seed);
    let before = lab.files();
    let writers = Writers::start(&lab);

    let hash = lab.plan_hash("enable");
    let first = ["enable", "--drain-s-max", "5", "--yes", &hash[..12]];
    // A step of each part, a channel between two of them, and one of each round of the cluster.
    let steps = ["E2.n8", "E2.n2", "E3.n4", "E4.n3"];
    for (nth, step) in steps.into_iter().enumerate() {
        let words = if nth == 0 { &first[..] } else { &["resume"] };
        killed(&lab, words, step, rng.between(0, LATER_MS_MAX));
    }
    lab.run(&["resume"]).exits(0);
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("sealed"), "seed {seed}: {look:#}");
    assert_eq!(clients(&look), ["required"; 8], "seed {seed}: {look:#}");
    all_replicate(&lab);

    killed(&lab, &["undo", "--yes", &hash[..12]], "E4.n1", rng.between(0, LATER_MS_MAX));
    killed(&lab, &["undo"], "E3.n6", rng.between(0, LATER_MS_MAX));
    lab.run(&["undo"]).exits(0);
    assert!(lab.files() == before, "seed {seed}: a file is not as it was");
    all_replicate(&lab);
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("plain"), "seed {seed}: {look:#}");
    // The only source of a pair of MariaDB is restarted.
    writers.lost_nothing(&["mariadb"]);
}
