//! Who counts as a member after a stop, a crash, and the crash of all, seen on real servers; and what a drain is good for.
//! The tests have the names of those in `sim_behaviours.rs`; where the two differ, the simulation is wrong.

use std::time::{Duration, Instant};

use lab::Wait;
use testbed::real::manual_node::NODES;
use testbed::real::{LabSpec, RealLab, RealWriters, lab_slot, wait_for};

const WHOLE_S_MAX: u64 = 120;
/// `evs.suspect_timeout` is 5 s, counted from the last word of a node, and it speaks every second. What is slow on a busy
/// machine can only make it longer.
const SUSPECTED_S: std::ops::Range<f64> = 3.5..30.0;
/// No word of a stop has to wait for a timeout.
const AT_ONCE_S_MAX: f64 = 3.0;
/// So long two of three wait in vain for the third. They give up after 30 s (pc.wait_prim_timeout).
const IN_VAIN_S: u64 = 12;

#[test]
fn on_a_cluster_that_loses_members() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::GALERA);
    lab.write_on("n1");
    a_clean_stop_shrinks_the_membership_at_once_and_a_crash_after_5_s(&lab);
    after_clean_stops_one_node_is_enough_but_half_of_two_by_a_crash_is_not(&lab);
    all_killed_come_together_when_all_are_back_and_nobody_bootstraps(&lab);
    a_drain_of_one_second_loses_no_transaction_and_none_loses_some(&lab);
}

fn size(lab: &RealLab, node: &str) -> String {
    lab.status_of(node, "wsrep_cluster_size").expect("it answers")
}

fn is_primary(lab: &RealLab, node: &str) -> bool {
    lab.status_of(node, "wsrep_cluster_status").as_deref() == Some("Primary")
}

/// Seconds from `began` until `node` sees so many members.
#[track_caller]
fn shrinks_to(lab: &RealLab, node: &str, members: &str, began: Instant) -> f64 {
    let done = wait_for(Duration::from_secs(WHOLE_S_MAX), || (size(lab, node) == members).then_some(()));
    assert!(done.is_some(), "{node} still sees {} members", size(lab, node));
    let took_s = began.elapsed().as_secs_f64();
    eprintln!("    {node} sees {members} members after {took_s:.1} s");
    took_s
}

fn a_clean_stop_shrinks_the_membership_at_once_and_a_crash_after_5_s(lab: &RealLab) {
    lab.now("a clean stop");
    lab.stop("n3");
    // From the end of the process: before it, the server takes its time to say good-bye.
    let took_s = shrinks_to(lab, "n1", "2", Instant::now());
    assert!(took_s < AT_ONCE_S_MAX, "a clean stop is told: {took_s} s");
    lab.begin_start("n3");
    lab.is_member_again("n3");

    lab.now("a crash");
    let began = Instant::now();
    lab.kill_node("n3");
    let still = (size(lab, "n1"), began.elapsed().as_secs_f64());
    assert!(still.0 == "3" || still.1 >= SUSPECTED_S.start, "nobody knows yet: {still:?}");
    let commit = std::thread::scope(|scope| {
        let mut session = lab.sql("n1").expect("it answers");
        // It was made before the crash, and every commit needs the word of all members.
        let commit = scope.spawn(move || {
            session.execute("INSERT INTO missed.t (text) VALUES ('held up')").map(|_| began.elapsed())
        });
        let took_s = shrinks_to(lab, "n1", "2", began);
        assert!(SUSPECTED_S.contains(&took_s), "a crash is only suspected: {took_s} s");
        commit.join().expect("it only waits")
    });
    let commit_s = commit.expect("it is taken in the end").as_secs_f64();
    eprintln!("    a commit took {commit_s:.1} s");
    assert!(SUSPECTED_S.contains(&commit_s), "commits wait: {commit_s} s");
    // Each knows it in its own time.
    lab.waits_until("two of three go on", WHOLE_S_MAX, || lab.is_synced("n1", 2) && lab.is_synced("n2", 2));
    lab.begin_start("n3");
    lab.is_member_again("n3");
}

fn after_clean_stops_one_node_is_enough_but_half_of_two_by_a_crash_is_not(lab: &RealLab) {
    lab.now("two clean stops");
    lab.stop("n3");
    lab.stop("n2");
    lab.waits_until("n1 goes on alone", WHOLE_S_MAX, || lab.is_synced("n1", 1));
    lab.write_on("n1");
    for (at, node) in ["n2", "n3"].into_iter().enumerate() {
        lab.begin_start(node);
        lab.waits_until(&format!("{node} is back"), WHOLE_S_MAX, || lab.is_synced(node, at + 2));
    }
    lab.all_synced(Duration::from_secs(WHOLE_S_MAX));

    lab.now("one clean stop, then the crash of one of two");
    let from = lab.log("n1").len();
    lab.stop("n3");
    shrinks_to(lab, "n1", "2", Instant::now());
    lab.kill_node("n2");
    lab.waits_until("n1 has lost its quorum", WHOLE_S_MAX, || !is_primary(lab, "n1"));
    let mut session = lab.sql("n1").expect("it answers");
    let refused = session.execute("INSERT INTO missed.t (text) VALUES ('no quorum')");
    let error = refused.expect_err("it takes no writes").to_string();
    assert!(error.contains("1047"), "{error}");

    lab.now("both of the last view are back");
    start_where_it_was(lab, "n2");
    lab.waits_until("n1 and n2 are a cluster again", WHOLE_S_MAX, || {
        lab.is_synced("n1", 2) && lab.is_synced("n2", 2)
    });
    let log = lab.log("n1").split_off(from);
    assert!(log.contains("re-bootstrapping prim from partitioned components"), "{log}");
    lab.begin_start("n3");
    lab.is_member_again("n3");
}

/// As galera_recovery does before systemd starts a server: a crash leaves -1 in grastate.dat, the engine knows the position.
fn start_where_it_was(lab: &RealLab, node: &str) {
    let from = lab.log(node).len();
    lab.open().start(node, &["--wsrep-recover"], Wait::Nothing).expect("it is started");
    lab.waits_until(&format!("{node} tells its position"), WHOLE_S_MAX, || lab.end_of(node).is_some());
    let log = lab.log(node).split_off(from);
    let position = log.lines().find_map(|line| line.split("Recovered position: ").nth(1)).map(str::trim);
    let position = position.unwrap_or_else(|| panic!("no position\n{log}"));
    let start = format!("--wsrep-start-position={position}");
    lab.open().start(node, &[&start], Wait::Nothing).expect("it is started");
}

fn all_killed_come_together_when_all_are_back_and_nobody_bootstraps(lab: &RealLab) {
    lab.now("all are killed");
    let last = lab.write_on("n1");
    lab.all_synced(Duration::from_secs(WHOLE_S_MAX));
    let marks = NODES.map(|node| lab.log(node).len());
    for node in NODES {
        lab.kill_node(node);
        let view = std::fs::read_to_string(lab.node_dir(node).join("data/gvwstate.dat"));
        assert!(view.is_ok_and(|view| view.contains("member:")), "{node} remembers its last view");
    }
    lab.now("two of three are back");
    start_where_it_was(lab, "n1");
    start_where_it_was(lab, "n2");
    let logged = |node: usize, text: &str| lab.log(NODES[node])[marks[node]..].contains(text);
    lab.waits_until("n1 and n2 see each other", WHOLE_S_MAX, || {
        [0, 1].into_iter().all(|node| logged(node, "connection established to"))
    });
    let early = wait_for(Duration::from_secs(IN_VAIN_S), || {
        ["n1", "n2"].into_iter().find(|node| is_primary(lab, node))
    });
    assert_eq!(early, None, "two of three of the last view are not all of it");
    lab.now("the third is back too");
    start_where_it_was(lab, "n3");
    lab.waits_until("all are a cluster again", WHOLE_S_MAX, || {
        NODES.into_iter().all(|node| lab.is_synced(node, 3))
    });
    for (at, node) in NODES.into_iter().enumerate() {
        assert!(logged(at, "promote to primary component"), "{node}: by pc.recovery");
        let mut session = lab.sql(node).expect("it answers");
        let rows = session.query(&format!("SELECT 1 FROM missed.t WHERE text='{}'", last.token()));
        assert_eq!(rows.expect("it answers").len(), 1, "{node} has what was written last");
    }
}

fn a_drain_of_one_second_loses_no_transaction_and_none_loses_some(lab: &RealLab) {
    lab.now("a drain of one second under writes");
    let desync = |on: &str| {
        let mut session = lab.sql("n3").expect("it answers");
        session.execute(&format!("SET GLOBAL wsrep_desync={on}")).expect("it is taken");
    };
    let writers = RealWriters::start(lab);
    assert!(writers.acks().iter().any(|ack| ack.node == "n3"), "n3 is written on, too");
    desync("ON");
    // A pool checks its connections every 250 ms. The second is a minimum: whoever is still there is waited for.
    std::thread::sleep(Duration::from_secs(1));
    lab.waits_until("n3 has no sessions of the application", 20, || {
        let mut session = lab.sql("n3").expect("it answers");
        let rows = session.query("SELECT COUNT(*) FROM information_schema.processlist WHERE user='app'");
        rows.expect("it answers").scalar().as_deref() == Some("0")
    });
    let before = writers.acks().len();
    lab.stop("n3");
    lab.begin_start("n3");
    lab.is_member_again("n3");
    let outcome = writers.stop_and_audit();
    assert_eq!((outcome.failed, outcome.errors.len()), (0, 0), "{:?}", outcome.errors);
    assert!(outcome.acknowledged > u64::try_from(before).expect("small"), "it was written on meanwhile");

    // How many are lost without a drain is a matter of the moment. Certain is: a transaction that is under way on the node
    // that stops does not get its commit.
    lab.now("no drain");
    let mut under_way = lab.sql("n3").expect("it answers");
    for statement in ["BEGIN", "INSERT INTO missed.t (text) VALUES ('under way')"] {
        under_way.execute(statement).expect("n3 is in service");
    }
    lab.stop("n3");
    let error = under_way.execute("COMMIT").expect_err("it was cut off").to_string();
    eprintln!("    {}", error.lines().next().unwrap_or_default());
    lab.begin_start("n3");
    lab.is_member_again("n3");
    for node in NODES {
        let mut session = lab.sql(node).expect("it answers");
        let rows = session.query("SELECT 1 FROM missed.t WHERE text='under way'").expect("it answers");
        assert!(rows.is_empty(), "{node} has what was not acknowledged");
    }
}
