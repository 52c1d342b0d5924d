use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::state::{Certificate, CertificateSight, Failure, Look, Reason, ServerSight, Sights, advance};

const NOW_MS: u64 = 1_795_000_000_000;
const DAY_S: i64 = 86_400;

fn sight(usage: &str, seen: &str, days: Result<i64, &str>) -> CertificateSight {
    let facts = days.map(|days| Certificate {
        fingerprint: format!("{usage}{seen}{days}"),
        not_before_unix: 0,
        not_after_unix: 1_795_000_000 + days * DAY_S,
    });
    CertificateSight {
        server: "n1".into(),
        usage: usage.into(),
        seen: seen.into(),
        facts: facts.map_err(str::to_owned),
    }
}

fn look(answers: bool, certificates: Vec<CertificateSight>) -> Look {
    let answer = if answers {
        Ok(("10.11".to_owned(), "up".to_owned()))
    } else {
        Err(Failure { reason: Reason::NoAnswer, why: "no answer".into() })
    };
    let server = ServerSight { name: "n1".into(), address: "127.0.0.1".into(), answer };
    let sights = Sights { servers: vec![server], certificates, ..Sights::default() };
    Look { servers: vec!["n1".into()], took_ms: 1, interval_s: 60, outcome: Ok(sights) }
}

fn state(answers: bool, certificates: Vec<CertificateSight>) -> State {
    advance(&State::default(), &look(answers, certificates), NOW_MS).0
}

fn rule(uses: &[&'static str]) -> RotationRule {
    RotationRule { what: "clients".into(), uses: uses.to_vec(), days_before: 30 }
}

#[test]
fn due_is_what_ends_soon_as_served_and_in_its_file() {
    let due = |usage, uses: &[&'static str], wire, file| {
        let all: Vec<CertificateSight> = [("wire", wire), ("file", file)]
            .into_iter()
            .filter_map(|(seen, days): (_, Option<Result<i64, &str>>)| Some(sight(usage, seen, days?)))
            .collect();
        rule(uses).due(&state(true, all), NOW_MS).len()
    };
    assert_eq!(due("server", &["server"], Some(Ok(29)), Some(Ok(29))), 1);
    assert_eq!(due("server", &["server"], Some(Ok(-3)), Some(Ok(-3))), 1, "it has ended");
    assert_eq!(due("server", &["server"], Some(Ok(31)), Some(Ok(31))), 0);
    assert_eq!(due("server", &["server"], Some(Ok(6)), Some(Ok(300))), 0, "a reload is due");
    assert_eq!(due("server", &["server"], Some(Ok(300)), Some(Ok(6))), 0, "the file of before came back");
    assert_eq!(due("server", &["galera"], Some(Ok(6)), Some(Ok(6))), 0, "nobody said so");
    // Of what was not read nothing is said.
    assert_eq!(due("server", &["server"], Some(Err("refused")), Some(Ok(6))), 0);
    assert_eq!(due("server", &["server"], Some(Ok(6)), Some(Err("refused"))), 0);
    assert_eq!(due("server", &["server"], Some(Ok(6)), None), 0);
    assert_eq!(due("server", &["server"], None, Some(Ok(6))), 0);
    assert_eq!(due("sst", &["sst"], None, Some(Ok(6))), 1, "nobody serves it in between");
    // What an earlier look has read is not what is there now, and ends all the same.
    let before = state(true, vec![sight("server", "wire", Ok(6)), sight("server", "file", Ok(6))]);
    let unread = vec![sight("server", "wire", Err("refused")), sight("server", "file", Ok(6))];
    let (after, _) = advance(&before, &look(true, unread), NOW_MS + 1);
    assert_eq!(rule(&["server"]).due(&before, NOW_MS).len(), 1);
    assert_eq!(rule(&["server"]).due(&after, NOW_MS).len(), 0);
    assert_eq!(rule(&["server"]).ending(&after, NOW_MS), 1);
}

struct Fake {
    may_begin: bool,
    is_open: AtomicBool,
    runs: AtomicUsize,
    outcomes: Mutex<Vec<RotationOutcome>>,
}

impl Rotator for Fake {
    fn may_begin(&self) -> bool {
        self.may_begin
    }

    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    fn rotate(&self) -> RotationOutcome {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.outcomes.lock().expect("nobody panicked").remove(0)
    }
}

fn fake(may_begin: bool, outcomes: &[RotationOutcome]) -> Arc<Fake> {
    Arc::new(Fake {
        may_begin,
        is_open: AtomicBool::new(false),
        runs: AtomicUsize::new(0),
        outcomes: Mutex::new(outcomes.to_vec()),
    })
}

fn rotation_of(rotator: &Arc<Fake>, kept: RotationKept) -> Rotation {
    Rotation::new(Wish { rule: rule(&["server"]), rotator: Arc::<Fake>::clone(rotator) }, kept)
}

/// Begins one if it is to begin.
fn offer(rotation: &mut Rotation, state: &State, now_ms: u64) -> bool {
    let begins = rotation.is_to_begin(state, now_ms);
    if begins {
        assert!(rotation.kept().is_open, "known before it begins");
        rotation.begin(state);
    }
    begins
}

fn end(rotation: &mut Rotation, now_ms: u64) -> Rotated {
    loop {
        if let Some(rotated) = rotation.ended(now_ms) {
            return rotated;
        }
        std::thread::yield_now();
    }
}

fn ends_soon() -> Vec<CertificateSight> {
    vec![sight("server", "wire", Ok(6)), sight("server", "file", Ok(6))]
}

#[test]
fn one_begins_behind_a_whole_look_and_at_its_time() {
    let none = fake(true, &[]);
    let mut rotation = rotation_of(&none, RotationKept::default());
    assert!(!offer(&mut rotation, &State::default(), NOW_MS), "before the first look");
    assert!(!offer(&mut rotation, &state(false, ends_soon()), NOW_MS), "a server is silent");
    let later = vec![sight("server", "wire", Ok(90)), sight("server", "file", Ok(90))];
    assert!(!offer(&mut rotation, &state(true, later), NOW_MS), "none is due");
    assert_eq!((none.runs.load(Ordering::Relaxed), rotation.counts().due), (0, 0));
    let closed = fake(false, &[]);
    let mut rotation = rotation_of(&closed, RotationKept::default());
    assert!(!offer(&mut rotation, &state(true, ends_soon()), NOW_MS), "its window is closed");
    assert_eq!((closed.runs.load(Ordering::Relaxed), rotation.counts().due), (0, 1));
    assert!(!rotation.kept().is_open);
}

#[test]
fn what_was_refused_is_tried_an_hour_later_and_what_stopped_when_it_is_closed() {
    let due = state(true, ends_soon());
    let mut now = NOW_MS;
    let refused = RotationOutcome::Refused("a server is silent".into());
    let all = [
        refused.clone(),
        refused,
        RotationOutcome::Stopped("half-way".into()),
        RotationOutcome::Done(String::new()),
    ];
    let rotator = fake(true, &all);
    let mut rotation = rotation_of(&rotator, RotationKept::default());
    assert!(offer(&mut rotation, &due, now));
    assert!(!offer(&mut rotation, &due, now), "one is under way");
    let rotated = end(&mut rotation, now);
    assert!(!rotated.is_known, "{rotated:?}");
    assert_eq!(rotated.change().key, ("rotation", "clients".to_owned()));
    assert!(!offer(&mut rotation, &due, now + AFTER_REFUSAL_MS - 1));
    now += AFTER_REFUSAL_MS;
    assert!(offer(&mut rotation, &due, now));
    assert!(end(&mut rotation, now).is_known, "the same again");
    now += AFTER_REFUSAL_MS;
    assert!(offer(&mut rotation, &due, now));
    rotator.is_open.store(true, Ordering::Relaxed);
    assert_eq!(end(&mut rotation, now).outcome.as_str(), "stopped");
    now += 1_000 * AFTER_ROTATION_MS;
    assert!(!offer(&mut rotation, &due, now));
    let counts = rotation.counts();
    assert_eq!((counts.refused, counts.stopped, counts.done, counts.last_done_unix_ms), (2, 1, 0, None));
    assert!(counts.is_open);
    // Another process knows it too.
    let mut rotation = rotation_of(&rotator, rotation.kept().clone());
    assert!(!offer(&mut rotation, &due, now) && rotation.counts().is_open);
    rotator.is_open.store(false, Ordering::Relaxed);
    // Seen beside a silent server too, and the alert ends.
    assert!(!offer(&mut rotation, &state(false, ends_soon()), now) && !rotation.counts().is_open);
    assert!(offer(&mut rotation, &due, now), "a person has closed it");
    assert_eq!(end(&mut rotation, now).outcome.as_str(), "done");
    assert_eq!((rotator.runs.load(Ordering::Relaxed), rotation.counts().is_open), (4, false));
}

/// Its host is silent until it is told to answer.
struct Slow {
    answers: Mutex<mpsc::Receiver<bool>>,
}

impl Rotator for Slow {
    fn may_begin(&self) -> bool {
        true
    }

    fn is_open(&self) -> bool {
        self.answers.lock().expect("nobody panicked").recv().expect("it is told")
    }

    fn rotate(&self) -> RotationOutcome {
        RotationOutcome::Done(String::new())
    }
}

#[test]
fn a_host_that_does_not_answer_holds_up_no_look_and_its_rotation_counts_as_open() {
    let (tell, answers) = mpsc::channel();
    let rotator = Arc::new(Slow { answers: Mutex::new(answers) });
    let kept = RotationKept { what: "server".into(), is_open: true, ..RotationKept::default() };
    let mut rotation = Rotation::new(Wish { rule: rule(&["server"]), rotator }, kept);
    let due = state(true, ends_soon());
    for _ in 0..2 {
        assert!(!offer(&mut rotation, &due, NOW_MS) && rotation.counts().is_open);
    }
    // The question of before is answered, and no second one was asked.
    tell.send(false).expect("it is asked");
    assert!(offer(&mut rotation, &due, NOW_MS));
    assert_eq!(end(&mut rotation, NOW_MS).outcome.as_str(), "done");
}

#[test]
fn a_certificate_that_still_ends_soon_is_not_replaced_with_each_look() {
    let due = state(true, ends_soon());
    let rotator = fake(true, &[RotationOutcome::Done(String::new())]);
    let mut rotation = rotation_of(&rotator, RotationKept::default());
    assert!(offer(&mut rotation, &due, NOW_MS));
    end(&mut rotation, NOW_MS);
    assert!(!offer(&mut rotation, &due, NOW_MS + AFTER_ROTATION_MS - 1));
    let kept = rotation.kept().clone();
    assert!(!offer(&mut rotation_of(&rotator, kept.clone()), &due, NOW_MS + 1), "nor by another process");
    // A clock that was years ahead holds nothing back.
    assert!(!rotation_of(&rotator, kept.clone()).is_to_begin(&due, NOW_MS - 1_000), "set back a little");
    assert!(rotation_of(&rotator, kept.clone()).is_to_begin(&due, NOW_MS - 2 * AFTER_ROTATION_MS));
    // Other certificates were not replaced then.
    let wish = Wish { rule: RotationRule { what: "galera".into(), ..rule(&["server"]) }, rotator };
    let mut other = Rotation::new(wish, kept);
    assert!(other.counts().last_done_unix_ms.is_none() && other.is_to_begin(&due, NOW_MS + 1));
    let text = crate::metrics::text("c", &due, None, Some(&rotation.counts()));
    for line in [
        "sealion_rotation_due_certificates{cluster=\"c\",what=\"clients\"} 1",
        "sealion_rotation_open{cluster=\"c\",what=\"clients\"} 0",
        "sealion_rotation_runs_total{cluster=\"c\",what=\"clients\",outcome=\"done\"} 1",
        "sealion_rotation_runs_total{cluster=\"c\",what=\"clients\",outcome=\"stopped\"} 0",
        "sealion_key_rotated_timestamp_seconds{cluster=\"c\",kind=\"clients\"} 1795000000",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn one_certificate_for_several_uses_is_replaced_where_all_of_them_are_named() {
    let same = |usage: &str, seen: &str| {
        let mut one = sight(usage, seen, Ok(6));
        one.facts.as_mut().expect("read").fingerprint = "one".into();
        one
    };
    let all = vec![
        same("server", "wire"),
        same("server", "file"),
        same("galera", "file"),
        sight("sst", "file", Ok(300)),
    ];
    let due = state(true, all);
    let rotator = fake(true, &[]);
    let mut rotation = rotation_of(&rotator, RotationKept::default());
    assert!(offer(&mut rotation, &due, NOW_MS));
    let rotated = end(&mut rotation, NOW_MS);
    let why = rotated.outcome.why();
    assert!(matches!(rotated.outcome, RotationOutcome::Refused(_)), "{rotated:?}");
    assert!(
        why.contains("in common with galera, nothing") && why.contains("[\"clients\", \"galera\"]"),
        "{why}"
    );
    assert_eq!(rotator.runs.load(Ordering::Relaxed), 0);
    assert_eq!(rule(&["server", "galera"]).shared(&due), None);
    // What the next process would not know of does not begin.
    let mut rotation = rotation_of(&rotator, RotationKept::default());
    assert!(rotation.is_to_begin(&due, NOW_MS));
    rotation.cannot_begin("a full disk");
    assert!(end(&mut rotation, NOW_MS).outcome.why().contains("a full disk"));
}
