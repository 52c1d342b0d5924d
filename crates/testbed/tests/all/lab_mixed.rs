//! Plain, dynamic and strict nodes side by side, seen on real servers and on their wire: what a link carries, what a donor
//! serves, and who dies of it. The tests have the names of those in `sim_behaviours.rs`; where the two differ, the
//! simulation is wrong.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lab::layout::IST_PORT;
use net::Client;
use server::{GaleraState, ProviderOptions};
use testbed::real::manual_node::{ManualNode, NODES};
use testbed::real::{LabSpec, RealLab, lab_slot, wait_for};
use testbed::sim::links::Wire;

const LOCKED_OUT_S_MAX: u64 = 70;
/// From the start of a joiner until it, or its donor, has crashed.
const CRASHED_S_MAX: u64 = 90;
/// A member that crashed is declared gone after 5 s.
const ALONE_S_MAX: u64 = 40;
const WHOLE_S_MAX: u64 = 120;
const RESTARTS_MAX: usize = 12;
/// An ordinary change of membership takes less.
const OUTAGE_MIN: Duration = Duration::from_secs(1);
const PAIRS: [(&str, &str); 3] = [("n1", "n2"), ("n1", "n3"), ("n2", "n3")];

#[test]
fn on_a_cluster_that_goes_through_the_states() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::GALERA);
    lab.place_certificates();
    strict_listens_on_ssl_and_dynamic_and_plain_on_tcp(&lab, "PPP");
    the_last_file_that_sets_the_string_replaces_it_whole(&lab);
    a_strict_node_into_a_plain_cluster_is_locked_out_and_comes_back_as_dynamic(&lab);
    ist_is_plain_from_a_plain_donor_tls_from_a_dynamic_one_and_strict_still_serves_plain(
        &lab,
        'D',
        "n1",
        Wire::Plain,
    );

    lab.reform("DDD");
    two_dynamic_nodes_may_stay_plain(&lab);
    ist_is_plain_from_a_plain_donor_tls_from_a_dynamic_one_and_strict_still_serves_plain(
        &lab,
        'D',
        "n1",
        Wire::Tls,
    );
    ist_is_plain_from_a_plain_donor_tls_from_a_dynamic_one_and_strict_still_serves_plain(
        &lab,
        'S',
        "n1",
        Wire::Tls,
    );
    key_paths_without_socket_ssl_mean_yes(&lab);
    strict_nodes_speak_tls_to_strict_and_dynamic_ones(&lab);
    ist_is_plain_from_a_plain_donor_tls_from_a_dynamic_one_and_strict_still_serves_plain(
        &lab,
        'S',
        "n2",
        Wire::Tls,
    );

    lab.reform("SDD");
    strict_listens_on_ssl_and_dynamic_and_plain_on_tcp(&lab, "SDD");
    ist_is_plain_from_a_plain_donor_tls_from_a_dynamic_one_and_strict_still_serves_plain(
        &lab,
        'P',
        "n1",
        Wire::Plain,
    );
    a_strict_node_dials_a_plain_one_in_clear_text(&lab);
    a_plain_node_that_restarts_beside_a_strict_one_can_put_all_nodes_in_non_primary(&lab);
}

/// These kill members.
#[test]
fn what_kills_a_donor() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::GALERA);
    lab.place_certificates();
    lab.reform("PDD");
    a_plain_donor_dies_when_a_joiner_asks_for_ssl_ist(&lab);
    lab.reform("PPP");
    key_paths_with_ssl_no_crash_joiner_and_donor(&lab);
}

fn live(lab: &RealLab, node: &str) -> ProviderOptions {
    ProviderOptions::parse(&lab.read_back(node))
}

fn strict_listens_on_ssl_and_dynamic_and_plain_on_tcp(lab: &RealLab, letters: &str) {
    lab.now(format!("what {letters} read back"));
    for (node, letter) in NODES.into_iter().zip(letters.chars()) {
        let (options, text) = (live(lab, node), lab.read_back(node));
        let listens = options.get("gmcast.listen_addr").expect("always there");
        // All files say tcp://.
        let scheme = if letter == 'S' { "ssl://" } else { "tcp://" };
        assert!(listens.starts_with(scheme), "{node} {letter} listens on {listens}");
        assert_eq!(GaleraState::of(&options).letter(), letter, "{node}: {text}");
        assert!(text.ends_with("; "), "{text}");
        match letter {
            'P' => assert!(!text.contains("socket.ssl") && !text.contains("socket.dynamic"), "{text}"),
            'D' => assert_eq!(
                (options.get("socket.ssl"), options.get("socket.dynamic")),
                (Some("YES"), Some("YES"))
            ),
            _ => assert_eq!((options.get("socket.ssl"), options.get("socket.dynamic")), (Some("YES"), None)),
        }
    }
}

fn the_last_file_that_sets_the_string_replaces_it_whole(lab: &RealLab) {
    lab.now("a last file that sets the string");
    lab.options("n3", |options| options.set("gcache.page_size", "32M"));
    lab.stop("n3");
    lab.begin_start("n3");
    lab.is_member_again("n3");
    assert_eq!(live(lab, "n3").get("gcache.page_size"), Some("32M"), "a control: the first file counts");
    let address = lab.file().node("n3").expect("a node").address;
    let last = lab.node_dir("n3").join("etc/conf.d/99-last.cnf");
    // Without its own addresses it would collide with the others on this loopback.
    let text = format!(
        "[mysqld]\nwsrep_provider_options=gmcast.listen_addr=tcp://{address}:4567;ist.recv_bind={address};gmcast.segment=7\n"
    );
    std::fs::write(&last, text).expect("writable");
    lab.stop("n3");
    lab.begin_start("n3");
    lab.is_member_again("n3");
    let options = live(lab, "n3");
    assert_eq!(
        (options.get("gmcast.segment"), options.get("gcache.page_size")),
        (Some("7"), Some("128M")),
        "32M was in the other file"
    );
    std::fs::remove_file(&last).expect("ours");
}

fn a_strict_node_into_a_plain_cluster_is_locked_out_and_comes_back_as_dynamic(lab: &RealLab) {
    lab.now("a strict node into a plain cluster");
    let manual = ManualNode::stopped(lab, "n3");
    lab.set_letter("n3", 'S');
    manual.options(|options| options.set("pc.wait_prim_timeout", "PT8S"));
    manual.start();
    assert!(manual.ended(LOCKED_OUT_S_MAX).is_some(), "it keeps trying");
    let log = manual.log();
    assert!(log.contains("failed to reach primary view"), "{log}");
    assert!(!log.contains("Synchronized with group"), "it was a member\n{log}");
    assert!(lab.is_synced("n1", 2) && lab.is_synced("n2", 2), "the others stay up");

    lab.now("it comes back as dynamic");
    manual.options(|options| {
        options.set("socket.dynamic", "YES");
        options.remove("pc.wait_prim_timeout");
    });
    manual.start();
    lab.is_member_again("n3");
    assert_eq!(lab.letters(), "PPD");
}

fn two_dynamic_nodes_may_stay_plain(lab: &RealLab) {
    lab.now("what three dynamic nodes speak");
    let watching = lab.watch();
    lab.write_on_all();
    // Which link is plain is a coin's word, so neither is asserted; that each is one of the two is.
    let seen = watching.stop();
    let links = PAIRS.map(|(one, other)| seen.link(one, other));
    assert!(links.iter().all(Option::is_some), "{links:?}");
    eprintln!("    the links {PAIRS:?} are {links:?}");
    // Nothing tells: read-back and log are those of dynamic nodes, whatever their links are.
    assert_eq!(lab.letters(), "DDD");
    for node in NODES {
        let log = lab.log(node);
        let start = log.rfind("not using SSL compression").expect("each has started with TLS");
        assert!(!log[start..].contains("ssl://"), "{node}: {}", &log[start..]);
    }
}

/// n3 misses a write and is served it by the donor; called wherever the cluster is in the state for a case.
fn ist_is_plain_from_a_plain_donor_tls_from_a_dynamic_one_and_strict_still_serves_plain(
    lab: &RealLab,
    joins: char,
    donor: &str,
    wire: Wire,
) {
    lab.now(format!("n3 joins {} as {joins}, {donor} serves it", lab.letters()));
    lab.set_option("n3", "galera", "wsrep-sst-donor", Some(donor));
    let from = lab.log(donor).len();
    lab.stop("n3");
    lab.set_letter("n3", joins);
    lab.miss("n3");
    let watching = lab.watch();
    lab.begin_start("n3");
    if joins == 'P' {
        start_until_it_is_let_in(lab);
    }
    lab.is_member_again("n3");
    let log = lab.log(donor).split_off(from);
    assert!(log.contains("IST sender"), "{donor} did not serve it\n{log}");
    assert_eq!(watching.stop().sent_to("n3", IST_PORT), Some(wire));
}

/// Beside a strict node a plain one may have to wait for a primary component longer than it does; its next start is a new
/// coin.
fn start_until_it_is_let_in(lab: &RealLab) {
    for _ in 0..RESTARTS_MAX {
        lab.waits_until("n3 is in, or gave up", WHOLE_S_MAX, || {
            lab.end_of("n3").is_some() || lab.is_synced("n3", 3)
        });
        if lab.end_of("n3").is_none() {
            return;
        }
        lab.begin_start("n3");
    }
}

fn key_paths_without_socket_ssl_mean_yes(lab: &RealLab) {
    lab.now("key paths without socket.ssl");
    lab.stop("n3");
    lab.set_letter("n3", 'S');
    lab.options("n3", |options| options.remove("socket.ssl"));
    let text = std::fs::read_to_string(lab.galera_cnf("n3")).expect("readable");
    assert!(text.contains("socket.ssl_key") && !text.contains("socket.ssl="), "{text}");
    lab.begin_start("n3");
    lab.is_member_again("n3");
    assert_eq!(lab.letters(), "DDS");
}

fn strict_nodes_speak_tls_to_strict_and_dynamic_ones(lab: &RealLab) {
    lab.now("what one dynamic and two strict nodes speak");
    lab.bring_to("n2", 'S');
    assert_eq!(lab.letters(), "DSS");
    let watching = lab.watch();
    lab.write_on_all();
    let seen = watching.stop();
    for (one, other) in PAIRS {
        assert_eq!(seen.link(one, other), Some(Wire::Tls), "{one}-{other}");
    }
}

/// A strict node takes no cleartext, but it dials an address as it heard it, and a plain node's is tcp://.
fn a_strict_node_dials_a_plain_one_in_clear_text(lab: &RealLab) {
    lab.now("a plain node beside a strict and a dynamic one");
    assert_eq!(lab.letters(), "SDP");
    lab.waits_until("n1 has a connection with n3", WHOLE_S_MAX, || {
        let watching = lab.watch();
        lab.write_on_all();
        let seen = watching.stop();
        assert_eq!(seen.link("n1", "n2"), Some(Wire::Tls));
        assert_eq!(seen.link("n2", "n3"), Some(Wire::Plain));
        // What n3 tries is refused, and carries no writes.
        seen.canaries_between("n1", "n3") > 0
    });
    assert!(NODES.into_iter().all(|node| lab.is_synced(node, 3)), "size and Synced hide it");
    let log = lab.log("n1");
    let start = log.rfind("not using SSL compression").expect("it has started with TLS");
    assert!(log[start..].contains("unexpected eof while reading"), "n3's own call was refused");
}

fn a_plain_node_that_restarts_beside_a_strict_one_can_put_all_nodes_in_non_primary(lab: &RealLab) {
    lab.now("the plain node restarts");
    // Whether n1 dials n3 in time is a coin: of seven restarts three were seen to pass, and four brought 3, 10, 18 and 28 s;
    // the last of these was over only because n3 gave up.
    for _ in 0..RESTARTS_MAX {
        let [one, other] = outages_of_a_restart(lab);
        eprintln!("    n1 and n2 were not Primary for {one:?} and {other:?}");
        // On a busy machine one node was seen alone without a quorum, for 30 s, while the other went on: not this case.
        if one.min(other) > OUTAGE_MIN {
            return;
        }
        // It may also wait in vain and give up while the others stay Primary; then the next restart starts it anew.
        match lab.end_of("n3") {
            Some(how) => eprintln!("    n3 gave up ({how})"),
            None => assert_eq!(lab.letters(), "SDP"),
        }
    }
    panic!("{RESTARTS_MAX} restarts passed without an outage");
}

/// For how long n1 and n2 were not Primary until they were again, with n3 or without it.
fn outages_of_a_restart(lab: &RealLab) -> [Duration; 2] {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads = ["n1", "n2"].map(|node| {
            let (over, session) = (&over, lab.sql(node).expect("it answers"));
            scope.spawn(move || outage(session, over))
        });
        lab.restart_as("n3", 'P');
        let is_over = || match lab.end_of("n3") {
            Some(_) => lab.is_synced("n1", 2) && lab.is_synced("n2", 2),
            None => NODES.into_iter().all(|node| lab.is_synced(node, 3)),
        };
        let done = wait_for(Duration::from_secs(WHOLE_S_MAX), || is_over().then_some(()));
        over.store(true, Ordering::SeqCst);
        let outages = threads.map(|thread| thread.join().expect("it only looks"));
        assert!(done.is_some(), "they come together again by themselves");
        outages
    })
}

/// How long a node said that it is not in a primary component.
fn outage(mut session: Client, over: &AtomicBool) -> Duration {
    let (mut total, mut since) = (Duration::ZERO, None);
    while !over.load(Ordering::SeqCst) {
        let rows = session.query("SHOW GLOBAL STATUS LIKE 'wsrep_cluster_status'").expect("it answers");
        match (rows.text(0, "Value").as_deref(), since) {
            (Some("Primary"), Some(began)) => {
                total += Instant::elapsed(&began);
                since = None;
            }
            (Some("Primary"), None) | (_, Some(_)) => {}
            (_, None) => since = Some(Instant::now()),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    total
}

/// The donor that died of the joiner, and that the one which is left has lost its quorum.
fn a_donor_died(lab: &RealLab, joiner: &ManualNode<'_>) -> &'static str {
    // Earlier cases have killed donors, too.
    let from = ["n1", "n2"].map(|node| lab.log(node).len());
    joiner.start();
    let dead = wait_for(Duration::from_secs(CRASHED_S_MAX), || {
        ["n1", "n2"].into_iter().zip(from).find(|(node, _)| lab.end_of(node).is_some())
    });
    let (donor, from) = dead.unwrap_or_else(|| panic!("no donor died\n{}", joiner.log()));
    let log = lab.log(donor).split_off(from);
    assert!(
        log.contains("Detected STR version") && log.contains("got signal 11"),
        "{donor} died otherwise\n{log}"
    );
    let left = if donor == "n1" { "n2" } else { "n1" };
    lab.waits_until(&format!("{left} has lost its quorum"), ALONE_S_MAX, || {
        lab.status_of(left, "wsrep_cluster_status").as_deref() == Some("non-Primary")
    });
    donor
}

fn key_paths_with_ssl_no_crash_joiner_and_donor(lab: &RealLab) {
    lab.now("key paths with ssl=NO");
    let manual = ManualNode::stopped(lab, "n3");
    lab.set_letter("n3", 'X');
    lab.miss("n3");
    a_donor_died(lab, &manual);
    let how = manual.ended(CRASHED_S_MAX).unwrap_or_else(|| panic!("the joiner lives\n{}", manual.log()));
    assert!(how.contains("signal: 11"), "the joiner crashed, too: {how}");
}

fn a_plain_donor_dies_when_a_joiner_asks_for_ssl_ist(lab: &RealLab) {
    lab.now("a strict joiner asks a plain donor");
    lab.set_option("n3", "galera", "wsrep-sst-donor", Some("n1"));
    let manual = ManualNode::stopped(lab, "n3");
    lab.set_letter("n3", 'S');
    lab.miss("n3");
    assert_eq!(a_donor_died(lab, &manual), "n1");
    assert!(manual.ended(CRASHED_S_MAX).is_some(), "the joiner aborts\n{}", manual.log());
    assert!(!manual.log().contains("Synchronized with group"), "{}", manual.log());
}
