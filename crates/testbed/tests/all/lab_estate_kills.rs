//! kill -9 of sealion at seeded instants of a change of a real estate, by ssh and under writers: `resume` ends in the wished state, `undo` in
//! the old one, no acknowledged write is lost, and only who is restarted alone fails one.
//!
//! Minutes, so only with `SEALION_DEEP=1` (make deep); `SEALION_SEED=N` repeats its instants.

use std::time::Duration;

use lab::Wait;
use model::{Clock, SystemClock};
use testbed::real::{LabSpec, RealLab, is_deep, lab_slot, seed, wait_for};
use testbed::sim::rng::Rng;
use trust::{Ca, CaSpec, KeyKind};

use crate::lab_estate::{BESIDE, MEMBERS, Writers, all_links, all_replicate, clients, links, pids, serials};

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

/// Time for `enable` while the CA is still good, and for who waits for its end.
const CA_LASTS_S: u64 = 420;
const DAY_S: i64 = 86_400;

#[test]
fn deep_a_ca_that_has_expired_is_replaced_on_an_estate_without_a_restart() {
    if !is_deep() {
        eprintln!("only with SEALION_DEEP=1 (make deep)");
        return;
    }
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::ESTATE);
    lab.now("a CA that soon expires");
    let operator = lab.dir.join("operator");
    let passphrase = std::fs::read_to_string(operator.join("ca-passphrase")).expect("there");
    let ends_ms = SystemClock.unix_ms() + CA_LASTS_S * 1000;
    let ends_s = i64::try_from(ends_ms / 1000).expect("this century");
    let spec = CaSpec { common_name: "short-lived".into(), valid_days: 1, key: KeyKind::EcP256 };
    let ca = Ca::create(&spec, ends_s - DAY_S).expect("made");
    ca.save(&operator.join("ca"), &passphrase.trim_end().to_owned().into()).expect("saved");
    let hash = lab.plan_hash("enable");
    lab.run(&["enable", "--yes", &hash[..12]]).exits(0);

    lab.now("its end, while applications write");
    let writers = Writers::start(&lab);
    let left = Duration::from_millis(ends_ms.saturating_sub(SystemClock.unix_ms()) + 2_000);
    assert!(left > Duration::from_secs(2), "it expired before enable was done: a longer life is needed here");
    let _ = wait_for(left, || None::<()>);
    let told = lab.run(&["status", "--look-ms", "0"]);
    assert!(told.stdout.contains("expired"), "{told}");

    lab.now("it is replaced, with a kill on the way");
    let all = [&MEMBERS[..], &BESIDE].concat();
    let (running, old) = (pids(&lab, &all), serials(&lab));
    let hash = lab.plan_hash_of(&["rotate", "ca"]);
    killed(&lab, &["rotate", "ca", "--yes", &hash[..12]], "R3.n2", 0);
    lab.run(&["resume"]).exits(0);
    writers.lost_nothing(&[]);
    assert_eq!(pids(&lab, &all), running, "a server was restarted");
    let new = serials(&lab);
    assert!(old.iter().zip(&new).all(|(one, other)| one != other), "{old:?} {new:?}");
    all_replicate(&lab);
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("sealed"), "{look:#}");

    lab.now("a node that is restarted, and a channel that is connected anew, come back");
    let control = lab.open();
    control.stop("n2").expect("it stops");
    control.start("n2", &[], Wait::Socket).expect("it starts");
    lab.sql("n6").expect("it answers").execute("STOP REPLICA IO_THREAD").expect("it may");
    lab.sql("n6").expect("it answers").execute("START REPLICA IO_THREAD").expect("it may");
    all_replicate(&lab);
    let back = wait_for(REACHED_MAX, || lab.is_synced("n2", MEMBERS.len()).then_some(()));
    assert!(back.is_some(), "n2 does not come back");
    let look = lab.look(true);
    assert_eq!(links(&look), all_links("sealed"), "{look:#}");
}
