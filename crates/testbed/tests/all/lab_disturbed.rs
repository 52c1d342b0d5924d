//! Seeded disturbance on a real cluster while changes run, writers write and clients speak cleartext, all the time or now and
//! then: servers that stand still, sockets that are gone, files that another hand edits, a second operator, kills, full disks. Five
//! minutes of it; an hour with `SEALION_DEEP=1`.
//!
//! The disks that become full are small ones in memory, so all of it runs in a user and mount namespace of its own.
//!
//! `SEALION_SEED=N` repeats the order of events; servers take their own time, so no two runs are the same to the letter.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use model::{Clock, SystemClock};
use nix::mount::{MsFlags, mount};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testbed::real::inside::Talkers;
use testbed::real::{
    LabSpec, Program, ProgramOutput, RealLab, RealWriters, is_deep, lab_slot, seed, wait_for,
};
use testbed::sim::rng::Rng;

const SHORT: Duration = Duration::from_secs(180);
const DEEP: Duration = Duration::from_secs(3600);
/// A cluster that is left alone is whole again by then.
const WHOLE_S_MAX: u64 = 180;
/// A quorum that has not come back by itself by then does not: servers have been started twice.
const NO_QUORUM: Duration = Duration::from_secs(60);
/// A member that is silent for so long may be thrown out (`evs.suspect_timeout` is 5 s).
const FREEZE_THAT_COUNTS_S: u64 = 3;
const START_AGAIN: Duration = Duration::from_secs(25);
/// One command, with what stands still meanwhile.
const COMMAND_S_MAX: u64 = 600;
const BOOTSTRAP_AGAIN: Duration = Duration::from_secs(20);
const BOOTSTRAP: &str = "SET GLOBAL wsrep_provider_options='pc.bootstrap=YES'";
const LINES_OF_EACH: usize = 25;
const NODES: [&str; 3] = ["n1", "n2", "n3"];
/// Room for the journals of an hour.
const DISK_BYTES: usize = 64 << 20;
/// Set where the mounts of this process are its own.
const INSIDE: &str = "SEALION_TEST_OWN_MOUNTS";
/// Who calls in that often may be missed by a watch of five seconds.
const CALLS_S: (u64, u64) = (2, 12);
/// So many statements of a client that never stops cannot all have passed before and after a look of three seconds.
const SURELY_MET: usize = 10;

/// Whose disk is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    /// Journals and the store, on the operator's machine.
    Operator,
    /// What sealion keeps on a node: copies, lease, replaced files.
    State(&'static str),
    /// The same on all nodes.
    AllStates,
    /// Option files and keys.
    Etc(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// A server stands still for so many seconds.
    Freeze(&'static str, u64),
    /// Its socket file is out of the way for so many seconds.
    LoseSocket(&'static str, u64),
    KillServer(&'static str),
    KillSealion,
    /// Another hand writes a harmless line.
    Edit(&'static str),
    SecondOperator,
    /// There is no room for so many seconds.
    FullDisk(Disk, u64),
}

struct Stage {
    lab: RealLab,
    rng: std::cell::RefCell<Rng>,
    edits: Cell<u32>,
    second: PathBuf,
    /// Since the cluster was whole, the test has taken a member away.
    has_hit: Cell<bool>,
    bootstraps: Cell<u32>,
    log: std::cell::RefCell<Vec<String>>,
}

impl Stage {
    fn new(seed: u64) -> Self {
        let lab = RealLab::up(LabSpec::GALERA);
        // A second operator has an inventory of the same nodes and a state directory of their own.
        let text = std::fs::read_to_string(lab.dir.join("sealion.toml")).expect("the lab has an inventory");
        let own = lab.home().join("second-state");
        let lines = text.lines().map(|line| {
            if line.starts_with("state_dir") && line.contains("operator") {
                format!("state_dir = \"{}\"", own.display())
            } else {
                line.to_owned()
            }
        });
        let second = lab.dir.join("second.toml");
        std::fs::write(&second, lines.collect::<Vec<_>>().join("\n")).expect("writable");
        mount_small(&lab.dir.join("operator/state"));
        for node in NODES {
            mount_small(&lab.node_dir(node).join("sealion"));
            mount_small(&lab.node_dir(node).join("etc"));
        }
        Self {
            lab,
            rng: std::cell::RefCell::new(Rng::new(seed)),
            edits: Cell::new(0),
            second,
            has_hit: Cell::new(false),
            bootstraps: Cell::new(0),
            log: std::cell::RefCell::default(),
        }
    }

    fn note(&self, line: impl Into<String>) {
        let line = line.into();
        self.lab.now(line.clone());
        self.log.borrow_mut().push(line);
    }

    fn between(&self, from: u64, to: u64) -> u64 {
        self.rng.borrow_mut().between(from, to)
    }

    fn node(&self) -> &'static str {
        self.rng.borrow_mut().choose(&NODES).expect("three")
    }

    fn event(&self) -> Event {
        match self.between(0, 15) {
            0..=3 => {
                let seconds =
                    if self.between(0, 4) == 0 { self.between(10, 45) } else { self.between(1, 10) };
                Event::Freeze(self.node(), seconds)
            }
            4 | 5 => Event::LoseSocket(self.node(), self.between(1, 30)),
            6 => Event::KillServer(self.node()),
            7 | 8 => Event::KillSealion,
            9 | 10 => Event::Edit(self.node()),
            11..=13 => {
                let disk = match self.between(0, 4) {
                    0 => Disk::Operator,
                    1 => Disk::AllStates,
                    2 => Disk::Etc(self.node()),
                    _ => Disk::State(self.node()),
                };
                Event::FullDisk(disk, self.between(1, 30))
            }
            _ => Event::SecondOperator,
        }
    }

    fn pid(&self, node: &str) -> Option<Pid> {
        let text = std::fs::read_to_string(self.lab.node_dir(node).join("run/pid")).ok()?;
        let pid: i32 = text.trim().parse().ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&line).contains("mariadbd").then(|| Pid::from_raw(pid))
    }

    /// Nodes that are Primary and in service, as their own status says; one that does not answer now is not counted.
    fn synced(&self) -> usize {
        NODES.iter().filter(|node| self.lab.is_synced(node, NODES.len())).count()
    }

    /// Lets something happen while `change` runs. Returns it, unless it was killed.
    fn disturb(&self, event: Event, mut change: Program) -> Option<Program> {
        self.note(format!("    {event:?}"));
        match event {
            Event::Freeze(node, seconds) => {
                self.has_hit.set(self.has_hit.get() || seconds >= FREEZE_THAT_COUNTS_S);
                if let Some(pid) = self.pid(node) {
                    let _ = kill(pid, Signal::SIGSTOP);
                    let _ = wait_for(Duration::from_secs(seconds), || None::<()>);
                    let _ = kill(pid, Signal::SIGCONT);
                }
            }
            Event::LoseSocket(node, seconds) => {
                let dir = self.lab.node_dir(node).join("run");
                let (socket, hidden) = (dir.join("s"), dir.join("hidden"));
                if std::fs::rename(&socket, &hidden).is_ok() {
                    let _ = wait_for(Duration::from_secs(seconds), || None::<()>);
                    // Not over the one of a server that was started anew meanwhile. Who is asked by pid whether there is one is
                    // told no by a server on its way up, which has bound its socket and not yet written its pid: it lost the
                    // socket for good.
                    let _ = std::fs::hard_link(&hidden, &socket);
                    let _ = std::fs::remove_file(&hidden);
                }
            }
            // Two at once are a lost quorum by the hand of the test, not of sealion: no other node is away, or about to be stopped.
            Event::KillServer(node) if self.synced() == NODES.len() => {
                self.has_hit.set(true);
                let _ = self.lab.lab(&["kill", node]);
            }
            Event::KillServer(_) => {}
            Event::KillSealion => {
                self.lab.ended(change.kill());
                return None;
            }
            Event::Edit(node) => {
                self.edits.set(self.edits.get() + 1);
                let cnf = self.lab.galera_cnf(node);
                if let Ok(text) = std::fs::read_to_string(&cnf) {
                    let line = format!("# by another hand, {}\n", self.edits.get());
                    let _ = std::fs::write(&cnf, format!("{text}{line}"));
                }
            }
            Event::FullDisk(disk, seconds) => {
                let places = self.places(disk);
                let fillers: Vec<PathBuf> = places.iter().map(|place| fill(place)).collect();
                let _ = wait_for(Duration::from_secs(seconds), || None::<()>);
                for filler in fillers {
                    std::fs::remove_file(filler).expect("it is ours");
                }
            }
            Event::SecondOperator => {
                let said = self.lab.run(&["resume", "--inventory", &self.second.display().to_string()]);
                assert!(
                    change.has_ended() || said.code == Some(6),
                    "a second operator was let in beside the first\n{said}"
                );
            }
        }
        Some(change)
    }

    fn places(&self, disk: Disk) -> Vec<PathBuf> {
        let state = |node: &str| self.lab.node_dir(node).join("sealion");
        match disk {
            Disk::Operator => vec![self.lab.dir.join("operator/state")],
            Disk::State(node) => vec![state(node)],
            Disk::AllStates => NODES.iter().map(|node| state(node)).collect(),
            Disk::Etc(node) => vec![self.lab.node_dir(node).join("etc")],
        }
    }

    /// A plan, if need be after what the refusal says is to be done by hand. A change that was abandoned half-way leaves nodes that
    /// run with something else than their files say.
    fn plan(&self, verb: &str) -> ProgramOutput {
        let mut plan = self.lab.run(&["plan", verb, "--format", "json"]);
        for _ in 0..NODES.len() {
            let Some(node) = restart_is_advised(&plan) else { break };
            self.note(format!("    by hand: restart {node}"));
            self.has_hit.set(true);
            let _ = self.lab.lab(&["stop", node]);
            let _ = self.lab.lab(&["start", node]);
            self.comes_together();
            plan = self.lab.run(&["plan", verb, "--format", "json"]);
        }
        // An abandoned change may leave a node out of service, and says so.
        if let Some(node) = resync_is_advised(&plan) {
            self.note(format!("    by hand: {node} back in service"));
            let said = self.lab.sql(node).map(|mut node| node.query("SET GLOBAL wsrep_desync=OFF"));
            assert!(matches!(said, Ok(Ok(_))), "{node} answered a moment ago");
            self.comes_together();
            let _ = wait_for(Duration::from_secs(30), || (self.synced() == NODES.len()).then_some(()));
            plan = self.lab.run(&["plan", verb, "--format", "json"]);
        }
        assert!(
            matches!(plan.code, Some(0 | 6))
                && resync_is_advised(&plan).is_none()
                && restart_is_advised(&plan).is_none(),
            "what the refusal says does not lead on\n{plan}\n{}",
            self.log.borrow().join("\n")
        );
        plan
    }

    /// Beside a client that never stops talking in cleartext its link is not called sealed.
    fn says_nothing_false(&self, talkers: &Talkers) {
        let from = SystemClock.unix_ms();
        let said = self.lab.run(&["status", "--canaries", "--look-ms", "3000", "--format", "json"]);
        let to = SystemClock.unix_ms();
        let Ok(json) = serde_json::from_str::<serde_json::Value>(&said.stdout) else { return };
        for node in self.lab.file().nodes {
            let is_its_link = |link: &&serde_json::Value| {
                let ends = [&link["link"]["a"], &link["link"]["b"]];
                link["link"]["kind"] == "client" && ends.iter().any(|end| **end == *node.name)
            };
            let link = json["links"].as_array().into_iter().flatten().find(is_its_link);
            let is_sealed = link.is_some_and(|link| link["seen"] == "sealed");
            let talked = talkers.said_at(node.address, from, to);
            assert!(
                !(is_sealed && talked >= SURELY_MET),
                "the client link of {} is said to be sealed beside {talked} statements in cleartext\n{said}",
                node.name
            );
        }
    }

    /// One command with some events, to its end.
    fn run(&self, words: &[&str]) -> Option<ProgramOutput> {
        let mut all = words.to_vec();
        all.extend(["--drain-s-max", "2", "--sync-s-max", "120"]);
        self.note(format!("sealion {}", all.join(" ")));
        let mut change = self.lab.start(&all, None);
        loop {
            let wait = Duration::from_millis(self.between(500, 15_000));
            if wait_for(wait, || change.has_ended().then_some(())).is_some() {
                break;
            }
            change = self.disturb(self.event(), change)?;
        }
        let said = self.lab.ended(change.finish(Duration::from_secs(COMMAND_S_MAX)));
        self.note(format!("    exit {:?}: {}", said.code, said.stderr.lines().last().unwrap_or_default()));
        assert!(!said.stderr.contains("has a fault"), "{said}");
        Some(said)
    }

    /// Left alone, the cluster is whole again. What a crash has left down is started as a service manager would, and one that waits:
    /// each start that fails leaves a stranger in the group, which the others agree on for `evs.inactive_timeout` (15 s) before they
    /// look for another view. Seen: a start every three seconds kept them apart for three minutes.
    ///
    /// Nobody has to bootstrap it, unless the test took a member away while another was leaving: Galera then waits for ever for
    /// the UUID of one that has left for good, and what sealion says is to be done is done by hand. Seen: a freeze of one node while
    /// another is stopped; a crash whose gvwstate.dat the others did not let in again ("same UUID").
    fn comes_together(&self) {
        let mut started = [None::<Instant>; NODES.len()];
        let began = Instant::now();
        let mut bootstrapped = None::<Instant>;
        let whole = wait_for(Duration::from_secs(WHOLE_S_MAX), || {
            for (node, started) in NODES.iter().zip(&mut started) {
                if self.pid(node).is_none() && started.is_none_or(|at| at.elapsed() > START_AGAIN) {
                    let _ = self.lab.lab(&["start", node]);
                    *started = Some(Instant::now());
                }
            }
            // Seen: said at the moment at which a view was made, it came to nothing.
            if bootstrapped.is_none_or(|at| at.elapsed() > BOOTSTRAP_AGAIN)
                && began.elapsed() > NO_QUORUM
                && let Some(newest) = self.newest_without_quorum()
            {
                assert!(
                    self.has_hit.get(),
                    "the quorum was lost, and nobody but sealion has touched a server:\n{}",
                    self.log.borrow().join("\n")
                );
                self.note(format!("    by hand: bootstrap {newest}"));
                let said = self.lab.sql(newest).map(|mut node| node.query(BOOTSTRAP));
                assert!(matches!(said, Ok(Ok(_))), "{newest} answered a moment ago");
                self.bootstraps.set(self.bootstraps.get() + u32::from(bootstrapped.is_none()));
                bootstrapped = Some(Instant::now());
            }
            NODES
                .iter()
                .all(|node| {
                    let is =
                        |name: &str, value: &str| self.lab.status_of(node, name).as_deref() == Some(value);
                    is("wsrep_cluster_size", "3")
                        && is("wsrep_cluster_status", "Primary")
                        && is("wsrep_ready", "ON")
                })
                .then_some(())
        });
        assert!(
            whole.is_some(),
            "the cluster is not whole:\n{}\n{}",
            self.log.borrow().join("\n"),
            self.told_of_each()
        );
        self.has_hit.set(false);
    }

    /// What is known of each node, in few lines: where the tests run unattended, only what the panic says is kept.
    fn told_of_each(&self) -> String {
        let told = |node: &&str| {
            let status = ["wsrep_cluster_status", "wsrep_cluster_size", "wsrep_local_state_comment"]
                .map(|name| self.lab.status_of(node, name).unwrap_or_else(|| "no answer".into()))
                .join(", ");
            let socket = self.lab.node_dir(node).join("run/s").exists();
            let log = self.lab.log(node);
            let lines: Vec<&str> = log.lines().filter(|line| !line.contains("Aborted connection")).collect();
            let last = lines[lines.len().saturating_sub(LINES_OF_EACH)..].join("\n");
            let files = std::fs::read_to_string(self.lab.galera_cnf(node)).unwrap_or_default();
            format!("{node}: pid {:?}, socket {socket}, {status}\n{last}\n{files}", self.pid(node))
        };
        NODES.iter().map(told).collect::<Vec<_>>().join("\n")
    }

    /// The node with the newest writes of those that answer, if all of them say that there is no quorum. One on its way up answers
    /// nobody yet: it waits for the others.
    fn newest_without_quorum(&self) -> Option<&'static str> {
        let mut newest = None;
        for node in NODES {
            match self.lab.status_of(node, "wsrep_cluster_status").as_deref() {
                None => {}
                Some("Primary") => return None,
                Some(_) => {
                    let seqno: i64 = self.lab.status_of(node, "wsrep_last_committed")?.parse().ok()?;
                    newest = newest.max(Some((seqno, node)));
                }
            }
        }
        newest.map(|(_, node)| node)
    }

    /// Whether a change is open, as `status` says.
    fn has_open(&self) -> bool {
        let said = self.lab.run(&["status", "--look-ms", "0", "--format", "json"]);
        serde_json::from_str::<serde_json::Value>(&said.stdout)
            .is_ok_and(|json| !json["open_change"].is_null())
    }
}

/// The node that a refusal says is to be started anew.
fn restart_is_advised(plan: &ProgramOutput) -> Option<&'static str> {
    let says = |node: &str| {
        plan.stderr.contains(&format!("{node}: its option file and the running server do not agree"))
    };
    NODES.into_iter().find(|node| plan.code == Some(6) && says(node))
}

/// The node that a refusal says is to be put back into service.
fn resync_is_advised(plan: &ProgramOutput) -> Option<&'static str> {
    let is_left = plan.code == Some(6) && plan.stderr.contains("SET GLOBAL wsrep_desync=OFF there");
    let says = |node: &str| plan.stderr.contains(&format!("{node}: the node is not Synced"));
    NODES.into_iter().find(|node| is_left && says(node))
}

/// A small disk in memory in place of a directory, with what is in there.
fn mount_small(dir: &Path) {
    let aside = dir.with_extension("aside");
    std::fs::create_dir_all(dir).expect("the lab is ours");
    std::fs::rename(dir, &aside).expect("the lab is ours");
    std::fs::create_dir(dir).expect("the lab is ours");
    let how = format!("size={DISK_BYTES},mode=0755");
    mount(Some("none"), dir, Some("tmpfs"), MsFlags::empty(), Some(how.as_str()))
        .expect("a namespace of our own");
    let copied = Command::new("cp").arg("-a").arg(aside.join(".")).arg(dir).status();
    assert!(copied.is_ok_and(|status| status.success()), "{} cannot be copied", aside.display());
    std::fs::remove_dir_all(aside).expect("the lab is ours");
}

/// To the last byte. Returns the file that does it.
fn fill(dir: &Path) -> PathBuf {
    use std::io::Write;
    let path = dir.join("filler");
    let mut file = std::fs::File::create(&path).expect("there is an inode left");
    for block in [1 << 20, 4096, 1] {
        while file.write_all(&vec![0; block]).is_ok() {}
    }
    path
}

/// Mounts need a namespace of their own, which a process with threads cannot enter.
#[test]
fn disturbed_changes_lose_no_write_say_nothing_false_and_always_end() {
    let _slot = lab_slot();
    let itself = std::env::current_exe().expect("a test program knows its path");
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-root-user", "--mount", "--kill-child", "--fork"]).arg(itself);
    inside.args(["--exact", "lab_disturbed::disturbance", "--ignored", "--nocapture"]).env(INSIDE, "1");
    let status = inside.status().expect("unshare (util-linux) is there");
    assert!(status.success(), "{status}; where no user namespaces are allowed there is no lab either");
}

#[test]
#[ignore = "it is run in a namespace of its own by the other test"]
fn disturbance() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let seed = seed();
    let stage = Stage::new(seed);
    let until = Instant::now() + if is_deep() { DEEP } else { SHORT };
    let writers = RealWriters::start(&stage.lab);
    let (mut rounds, mut refused, mut proven, mut enables) = (0, 0, 0, true);
    while Instant::now() < until {
        rounds += 1;
        let calls = Duration::from_secs(stage.between(CALLS_S.0, CALLS_S.1));
        let (talkers, stays) = match stage.between(0, 4) {
            0 => (Some(stage.lab.talk(Duration::from_millis(300))), true),
            1 | 2 => (Some(stage.lab.call_in(calls)), false),
            _ => (None, false),
        };
        if talkers.is_some() {
            stage.note(if stays {
                "clients talk in cleartext".into()
            } else {
                format!("clients call in every {calls:?}")
            });
        }
        let verb = if enables { "enable" } else { "disable" };
        let plan = stage.plan(verb);
        if plan.code == Some(0) {
            let hash = plan.json()["state_hash"].as_str().expect("a hash").to_owned();
            let said = stage.run(&[verb, "--yes", &hash[..12]]);
            if let Some(said) = &said
                && said.code == Some(0)
                && enables
                && let Some(talkers) = &talkers
            {
                // Done, and proven: from now on nobody is answered in cleartext.
                let since = SystemClock.unix_ms() + 1_000;
                let _ = wait_for(calls + Duration::from_secs(2), || None::<()>);
                assert_eq!(talkers.said_since(since), 0, "done beside a client in cleartext\n{said}");
                proven += 1;
            }
        }
        // Whatever became of it: going on, going back or giving up ends it.
        let mut tries = 0;
        while stage.has_open() {
            tries += 1;
            if tries > 2 {
                // Nobody disturbs any more, and nobody speaks cleartext.
                break;
            }
            let words: &[&str] = if stage.between(0, 2) == 0 { &["resume"] } else { &["undo"] };
            stage.run(words);
        }
        if plan.code != Some(0) {
            refused += 1;
            stage.note(format!("    refused: {}", plan.stderr.lines().nth(2).unwrap_or_default()));
        }
        if let Some(talkers) = talkers {
            if stays {
                stage.says_nothing_false(&talkers);
            }
            talkers.stop();
        }
        stage.comes_together();
        if stage.has_open() {
            let way = stage.between(0, 3);
            let said = match way {
                0 => stage.lab.run(&["resume", "--drain-s-max", "2"]),
                1 => stage.lab.run(&["undo", "--drain-s-max", "2"]),
                _ => {
                    let asked = stage.lab.run(&["abandon"]);
                    let words = asked.stderr.split_whitespace().skip_while(|word| *word != "--yes");
                    let hash = words.skip(1).map(str::to_owned).next().expect("it names the plan");
                    stage.lab.run(&["abandon", "--yes", &hash])
                }
            };
            assert_eq!(
                said.code,
                Some(0),
                "left alone, it does not end (way {way})\n{said}\n{}",
                stage.log.borrow().join("\n")
            );
        }
        stage.comes_together();
        assert!(!stage.has_open());
        enables =
            stage.lab.look(false)["nodes"].as_array().expect("nodes").iter().any(|node| {
                node["rows"].as_array().expect("rows").iter().any(|row| row["effective"] == "plain")
            });
    }
    assert!(2 * refused <= rounds, "most rounds had no plan:\n{}", stage.log.borrow().join("\n"));
    let outcome = writers.stop_and_audit();
    eprintln!(
        "seed {seed}: {rounds} rounds, {refused} of them without a plan, {proven} proven beside clients that had spoken cleartext, {} edits, \
         {} quorums lost by the test's hand, {} writes acknowledged, {} failed, none lost",
        stage.edits.get(),
        stage.bootstraps.get(),
        outcome.acknowledged,
        outcome.failed
    );
}
