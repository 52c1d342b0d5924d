//! What a change suffers on a cluster whose nodes are other hosts, on real ones: sealion, ssh, an agent or a server is killed, an agent
//! or a whole host stands still, the network between hosts is cut. `resume` or `undo` ends well, and no acknowledged write is lost.
//!
//! `SEALION_SEED=N` repeats the order of events. One round of it; with `SEALION_DEEP=1` every trouble, both ways on, and more by chance.
//! `SEALION_TROUBLE=CutOff` then lets nothing else happen, and `SEALION_DEEP_S=60` begins nothing new behind so many seconds. A disk that is full on one host is only simulated: a lab's hosts have one file system.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use testbed::real::{LabSpec, Program, RealLab, RealWriters, is_deep, lab_slot, seed, wait_for};
use testbed::sim::rng::Rng;

const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// From the start of a change to any of its moments.
const REACHED_S_MAX: u64 = 300;
/// A change with what stands still meanwhile.
const CHANGE_S_MAX: u64 = 600;
const WHOLE_S_MAX: u64 = 120;
/// By then an agent is there again, or never was.
const FOUND_MAX: Duration = Duration::from_secs(10);
/// Longer than what needs no waiting is waited for (20 s), and than ssh waits for a dead line (15 s).
const STILL_S: u64 = 25;
/// RestartSec of MariaDB's unit on Debian.
const RESTART_S: u64 = 5;
/// Above `evs.suspect_timeout` (5 s).
const CUT_S: (u64, u64) = (3, 25);
const DEEP: Duration = Duration::from_secs(1800);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    KillSealion,
    /// The ssh that lead to one host.
    KillSsh,
    /// The agents on one host.
    KillAgents,
    /// The server on one host, as by a crash.
    KillServer,
    /// The agents on one host do not move.
    StopAgents,
    /// Nothing on one host moves: server, sshd, agents.
    StopHost,
    /// Two hosts do not reach each other.
    Cut,
    /// One host reaches nobody, but for ssh.
    CutOff,
}

const ALL: [Trouble; 8] = [
    Trouble::KillSealion,
    Trouble::KillSsh,
    Trouble::KillAgents,
    Trouble::KillServer,
    Trouble::StopAgents,
    Trouble::StopHost,
    Trouble::Cut,
    Trouble::CutOff,
];
/// Those that are over at once, so that a round takes no minute.
const BRIEF: [Trouble; 4] =
    [Trouble::KillSealion, Trouble::KillSsh, Trouble::KillAgents, Trouble::KillServer];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Resume,
    Undo,
}

/// What stands still does so for a time: nothing else is waited for.
fn passes(seconds: u64) {
    let _ = wait_for(Duration::from_secs(seconds), || None::<()>);
}

type Files = BTreeMap<PathBuf, (u32, Vec<u8>)>;

struct Stage {
    lab: RealLab,
    rng: RefCell<Rng>,
    before: Files,
}

impl Stage {
    fn new(seed: u64) -> Self {
        let lab = RealLab::up(LabSpec::ONLY_HOSTS);
        let before = lab.files();
        Self { lab, rng: RefCell::new(Rng::new(seed)), before }
    }

    fn between(&self, from: u64, to: u64) -> u64 {
        self.rng.borrow_mut().between(from, to)
    }

    fn choose<T: Copy>(&self, list: &[T]) -> T {
        self.rng.borrow_mut().choose(list).expect("not empty")
    }

    /// Lets it happen while `change` runs; returns that, unless it was killed.
    fn strike(&self, trouble: Trouble, node: &'static str, mut change: Program) -> Option<Program> {
        let lab = &self.lab;
        lab.now(format!("    {trouble:?} at {node}"));
        match trouble {
            Trouble::KillSealion => {
                lab.ended(change.kill());
                return None;
            }
            Trouble::KillSsh | Trouble::KillAgents => {
                let found = wait_for(FOUND_MAX, || {
                    let is_ssh = trouble == Trouble::KillSsh;
                    let found = if is_ssh { lab.ssh_to(node) } else { lab.agents_on(node) };
                    (!found.is_empty() || change.has_ended()).then_some(found)
                });
                let found = found.unwrap_or_default();
                assert!(!found.is_empty() || change.has_ended(), "no {trouble:?} to be had on {node}");
                for one in &found {
                    one.signal(Signal::SIGKILL);
                }
                eprintln!("    killed {found:?}");
            }
            Trouble::KillServer => {
                lab.kill_node(node);
                // As `Restart=on-abnormal` of MariaDB's unit does it.
                passes(RESTART_S);
                let _ = lab.lab(&["start", node]);
            }
            Trouble::StopAgents | Trouble::StopHost => {
                let is_host = trouble == Trouble::StopHost;
                let frozen = lab.freeze(if is_host { lab.processes_on(node) } else { lab.agents_on(node) });
                passes(STILL_S);
                drop(frozen);
            }
            Trouble::Cut | Trouble::CutOff => {
                let others: Vec<&str> = NODES.into_iter().filter(|other| *other != node).collect();
                let ends = [node, self.choose(&others)];
                let cut = lab.cut(if trouble == Trouble::Cut { &ends } else { &ends[..1] });
                passes(self.between(CUT_S.0, CUT_S.1));
                drop(cut);
            }
        }
        Some(change)
    }

    fn has_open(&self) -> bool {
        let said = self.lab.run(&["status", "--look-ms", "0", "--format", "json"]);
        // 3: what a node that is down runs with is not known.
        assert!(matches!(said.code, Some(0 | 3)), "{said}");
        !said.json()["open_change"].is_null()
    }

    /// A server that was killed is started, as its service manager would.
    fn comes_together(&self) {
        for node in NODES {
            if self.lab.sql(node).is_err() {
                let _ = self.lab.lab(&["start", node]);
            }
        }
        self.lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
    }

    /// One change with one trouble in it, gone on with, one way, and at the end as before.
    fn round(&self, trouble: Trouble, way: Way) {
        let lab = &self.lab;
        let hash = lab.plan_hash("enable");
        let step = self.choose(&["E0.n2", "E2.n3", "E2.n2", "E2.n1", "E4.n2", "E5.n1"]);
        let ms = self.between(0, 3_000);
        let (_, its_node) = step.split_once('.').expect("steps of nodes");
        let its_node = NODES.into_iter().find(|node| *node == its_node).expect("a node");
        let node = if self.between(0, 2) == 0 { self.choose(&NODES) } else { its_node };
        lab.now(format!("{trouble:?} at {node}, {ms} ms after {step}, then {way:?}"));
        let mut change = lab.start(&["enable", "--yes", &hash], None);
        let reached = change.says(&format!(" {step} "), Duration::from_secs(REACHED_S_MAX));
        assert!(reached, "it did not come to {step}: {}", change.stderr());
        // The moment itself is what is by chance here.
        std::thread::sleep(Duration::from_millis(ms));
        if let Some(change) = self.strike(trouble, node, change) {
            let said = lab.ended(change.finish(Duration::from_secs(CHANGE_S_MAX)));
            eprintln!("    exit {:?}: {}", said.code, said.stderr.lines().last().unwrap_or_default());
            assert!(!said.stderr.contains("has a fault"), "{said}");
        }
        lab.now(format!("{way:?}, after {trouble:?} at {node} in {step}"));
        if self.has_open() {
            lab.run(&[if way == Way::Resume { "resume" } else { "undo" }]).exits(0);
        } else if way == Way::Undo && !self.is_as_before() {
            lab.run(&["undo"]).exits(0);
        }
        self.comes_together();
        assert!(!self.has_open());
        if way == Way::Resume && !self.is_as_before() {
            lab.is_sealed();
            lab.run(&["undo"]).exits(0);
            self.comes_together();
        }
        self.differs_in_nothing();
    }

    fn is_as_before(&self) -> bool {
        self.lab.files() == self.before
    }

    #[track_caller]
    fn differs_in_nothing(&self) {
        let now = self.lab.files();
        for (path, (mode, was)) in &self.before {
            let (mode_now, bytes) = now.get(path).unwrap_or_else(|| panic!("{} is gone", path.display()));
            let text = String::from_utf8_lossy;
            assert_eq!((mode_now, text(bytes)), (mode, text(was)), "{}", path.display());
        }
        let more: Vec<_> = now.keys().filter(|path| !self.before.contains_key(*path)).collect();
        assert!(more.is_empty(), "undo left {more:?}");
    }
}

#[test]
fn a_change_over_ssh_survives_a_kill_and_loses_no_write() {
    let _alone = lab_slot();
    let seed = seed();
    let stage = Stage::new(seed);
    let writers = RealWriters::start(&stage.lab);
    let trouble = stage.choose(&BRIEF);
    stage.round(trouble, stage.choose(&[Way::Resume, Way::Undo]));
    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 100, "{outcome:?}");
    stage.lab.is_plain();
    if trouble != Trouble::KillServer {
        assert_eq!(outcome.failed, 0, "seed {seed}: {:#?}", outcome.errors);
    }
}

#[test]
fn deep_a_change_over_ssh_survives_every_trouble_both_ways() {
    if !is_deep() {
        eprintln!("only with SEALION_DEEP=1 (make deep)");
        return;
    }
    let _alone = lab_slot();
    let stage = Stage::new(seed());
    let deep_s = std::env::var("SEALION_DEEP_S").ok().map(|text| text.parse().expect("seconds"));
    let until = Instant::now() + deep_s.map_or(DEEP, Duration::from_secs);
    let mut rounds = 0;
    let only = std::env::var("SEALION_TROUBLE").ok();
    let is_wished = |trouble: &Trouble| only.as_ref().is_none_or(|only| format!("{trouble:?}") == *only);
    let troubles: Vec<Trouble> = ALL.into_iter().filter(is_wished).collect();
    assert!(!troubles.is_empty(), "no trouble is called {only:?}");
    loop {
        for &trouble in &troubles {
            for way in [Way::Undo, Way::Resume] {
                let writers = RealWriters::start(&stage.lab);
                stage.round(trouble, way);
                let outcome = writers.stop_and_audit();
                rounds += 1;
                eprintln!(
                    "    {rounds} {trouble:?} {way:?}: {} acknowledged, 0 lost, {} failed",
                    outcome.acknowledged, outcome.failed
                );
            }
        }
        if Instant::now() > until {
            break;
        }
    }
}
