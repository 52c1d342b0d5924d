//! What the simulated nodes are trusted to do, seen on real servers: who is locked out of a strict cluster, how it is told,
//! and what a reload takes. The tests have the names of those in `sim_behaviours.rs`; where the two differ, the simulation
//! is wrong. `lab_mixed.rs` and `lab_membership.rs` have the others.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use lab::layout::SST_PORT;
use testbed::real::manual_node::{ManualNode, NODES, a_ca, now_unix, place_ca, place_leaf};
use testbed::real::{LabSpec, RealLab, lab_slot, wait_for};
use testbed::sim::links::Wire;
use trust::Ca;

/// What a server needs to see that its own files cannot be used; a start that succeeds takes longer.
const AT_ONCE_S_MAX: u64 = 8;
/// A joiner that is locked out gives up after pc.wait_prim_timeout (30 s) and its own start and shutdown.
const LOCKED_OUT_S: std::ops::Range<u64> = 25..70;
/// Where the time is not what is looked at.
const IMPATIENT: (&str, &str) = ("pc.wait_prim_timeout", "PT8S");
/// A joiner whose SST fails sees it by itself; on two busy cores 20 s were measured.
const SST_FAILED_S_MAX: u64 = 90;

/// It ends by itself; the two others serve on, and are two.
#[track_caller]
fn is_locked_out(manual: &ManualNode<'_>) {
    assert!(manual.ended(LOCKED_OUT_S.end).is_some(), "it keeps trying after {} s", LOCKED_OUT_S.end);
    let log = manual.log();
    assert!(log.contains("failed to reach primary view"), "{log}");
    assert!(!log.contains("Synchronized with group"), "it was a member\n{log}");
    for node in ["n1", "n2"] {
        assert!(manual.lab.is_synced(node, 2), "{node} stays up, one of two");
    }
}

/// Where the members' logs end now.
struct Marks([usize; 2]);

impl Marks {
    fn now(lab: &RealLab) -> Self {
        Self(["n1", "n2"].map(|node| lab.log(node).len()))
    }

    fn says(&self, lab: &RealLab, what: &str) -> bool {
        ["n1", "n2"].iter().zip(self.0).any(|(node, mark)| lab.log(node)[mark..].contains(what))
    }

    /// One of the two members has logged it since.
    #[track_caller]
    fn a_member_says(&self, lab: &RealLab, what: &str) {
        let said = wait_for(Duration::from_secs(5), || self.says(lab, what).then_some(()));
        assert!(said.is_some(), "no member says \"{what}\"");
    }
}

#[test]
fn on_a_strict_cluster() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::GALERA);
    let ca = lab.place_certificates();
    lab.reform("SSS");
    {
        // n3 stays out from case to case; the two others are the cluster.
        let mut manual = ManualNode::stopped(&lab, "n3");
        a_plain_node_into_a_strict_cluster_is_locked_out_after_40_s_and_the_members_stay_up(&mut manual);
        a_dynamic_node_without_ssl_into_a_strict_cluster_is_locked_out(&mut manual);
        a_leaf_of_an_unknown_ca_is_locked_out_and_the_members_say_why(&mut manual);
        an_expired_leaf_is_locked_out(&mut manual, &ca);
        a_missing_ca_file_a_mismatched_key_and_an_unreadable_key_end_the_server_at_once(&mut manual);
        lab.now("with its own files the node is let in: it was locked out for nothing else");
        manual.rejoin();
        assert_eq!(lab.letters(), "SSS");
    }
    an_empty_node_joins_by_sst_and_fails_when_only_one_side_has_tls(&lab);
    a_reload_takes_all_or_nothing_and_adds_trust_without_removing_any(&lab);
}

fn a_plain_node_into_a_strict_cluster_is_locked_out_after_40_s_and_the_members_stay_up(
    manual: &mut ManualNode<'_>,
) {
    manual.lab.now("a plain node into a strict cluster");
    let marks = Marks::now(manual.lab);
    manual.options(|options| options.remove_prefix("socket."));
    let began = Instant::now();
    manual.start();
    is_locked_out(manual);
    let took_s = began.elapsed().as_secs();
    assert!(LOCKED_OUT_S.contains(&took_s), "after {took_s} s");
    marks.a_member_says(manual.lab, "unexpected eof while reading");
    manual.put_back();
}

fn a_dynamic_node_without_ssl_into_a_strict_cluster_is_locked_out(manual: &mut ManualNode<'_>) {
    manual.lab.now("socket.dynamic without socket.ssl into a strict cluster");
    let marks = Marks::now(manual.lab);
    manual.options(|options| {
        options.remove_prefix("socket.");
        options.set("socket.dynamic", "YES");
        options.set(IMPATIENT.0, IMPATIENT.1);
    });
    manual.start();
    is_locked_out(manual);
    marks.a_member_says(manual.lab, "unexpected eof while reading");
    manual.put_back();
}

fn a_leaf_of_an_unknown_ca_is_locked_out_and_the_members_say_why(manual: &mut ManualNode<'_>) {
    let lab = manual.lab;
    let foreign = a_ca("another CA");
    lab.now("a leaf of an unknown CA");
    let marks = Marks::now(lab);
    place_leaf(&lab.tls_dir("n3"), &foreign, None);
    manual.options(|options| options.set(IMPATIENT.0, IMPATIENT.1));
    manual.start();
    is_locked_out(manual);
    assert!(manual.log().contains("tlsv1 alert unknown ca"), "{}", manual.log());
    marks.a_member_says(lab, "certificate verify failed: unable to get local issuer certificate");
    manual.put_back();

    lab.now("a leaf of an unknown CA, with that CA's file");
    let marks = Marks::now(lab);
    place_leaf(&lab.tls_dir("n3"), &foreign, None);
    place_ca(&lab.tls_dir("n3"), &foreign);
    manual.options(|options| options.set(IMPATIENT.0, IMPATIENT.1));
    manual.start();
    is_locked_out(manual);
    // The joiner dials, and so judges first.
    let log = manual.log();
    assert!(log.contains("self-signed certificate in certificate chain"), "{log}");
    assert!(!log.contains("alert unknown ca"), "{log}");
    marks.a_member_says(lab, "tlsv1 alert unknown ca");
    manual.put_back();
}

fn an_expired_leaf_is_locked_out(manual: &mut ManualNode<'_>, ca: &Ca) {
    let lab = manual.lab;
    lab.now("an expired leaf");
    let marks = Marks::now(lab);
    place_leaf(&lab.tls_dir("n3"), ca, Some(now_unix() - 3600));
    manual.options(|options| options.set(IMPATIENT.0, IMPATIENT.1));
    manual.start();
    is_locked_out(manual);
    assert!(manual.log().contains("alert certificate expired"), "{}", manual.log());
    marks.a_member_says(lab, "certificate verify failed: certificate has expired");
    manual.put_back();
}

fn a_missing_ca_file_a_mismatched_key_and_an_unreadable_key_end_the_server_at_once(
    manual: &mut ManualNode<'_>,
) {
    let lab = manual.lab;
    let mut check = |what: &str, spoil: &dyn Fn(&ManualNode<'_>), says: &str| {
        lab.now(what);
        spoil(manual);
        manual.start();
        assert!(
            manual.ended(AT_ONCE_S_MAX).is_some(),
            "{what}: it does not end within {AT_ONCE_S_MAX} s\n{}",
            manual.log()
        );
        assert!(manual.log().contains(says), "{what}: {}", manual.log());
        assert!(lab.is_synced("n1", 2) && lab.is_synced("n2", 2), "{what}: the others stay up");
        manual.put_back();
    };
    let remove = |manual: &ManualNode<'_>| std::fs::remove_file(manual.tls_file("ca.pem")).expect("there");
    check("a missing CA file", &remove, "No such file or directory");
    let swap = |manual: &ManualNode<'_>| {
        let other = std::fs::read(lab.tls_dir("n1").join("node-key.pem")).expect("there");
        std::fs::write(manual.tls_file("node-key.pem"), other).expect("writable");
    };
    check("a mismatched key", &swap, "key values mismatch");
    let close = |manual: &ManualNode<'_>| {
        std::fs::set_permissions(manual.tls_file("node-key.pem"), std::fs::Permissions::from_mode(0o000))
            .expect("ours");
    };
    check("an unreadable key", &close, "Permission denied");
}

fn an_empty_node_joins_by_sst_and_fails_when_only_one_side_has_tls(lab: &RealLab) {
    let begin = || {
        lab.stop("n3");
        let data = lab.node_dir("n3").join("data");
        std::fs::remove_dir_all(&data).expect("ours");
        std::fs::create_dir(&data).expect("ours");
        // Something to recognise on a wire that is not encrypted.
        lab.write_on("n1");
        let watching = lab.watch();
        lab.begin_start("n3");
        watching
    };
    let pids = || ["n1", "n2"].map(|node| lab.open().state(node).expect("the supervisor answers"));
    let before = pids();

    lab.now("an empty node joins a strict cluster by SST");
    let watching = begin();
    lab.is_member_again("n3");
    assert_eq!(watching.stop().sent_to("n3", SST_PORT), Some(Wire::Plain), "Galera TLS does not encrypt SST");

    let sst = |node: &str, is_set: bool| {
        for (key, file) in [("tkey", "node-key.pem"), ("tcert", "node-cert.pem"), ("tca", "ca.pem")] {
            let path = lab.tls_dir(node).join(file).display().to_string();
            lab.set_option(node, "sst", key, is_set.then_some(path.as_str()));
        }
    };
    lab.now("the same with [sst] in all files, of which only the joiner was started anew");
    for node in NODES {
        sst(node, true);
    }
    let watching = begin();
    lab.is_member_again("n3");
    assert_eq!(watching.stop().sent_to("n3", SST_PORT), Some(Wire::Tls));
    assert_eq!(
        pids(),
        before,
        "the scripts read [sst] at the moment of the transfer: no donor was restarted"
    );

    for (who, joiner, donors) in [("the donors", false, true), ("the joiner", true, false)] {
        lab.now(format!("only {who} have [sst]"));
        let from = lab.log("n3").len();
        sst("n3", joiner);
        sst("n1", donors);
        sst("n2", donors);
        let watching = begin();
        lab.waits_until("the joiner gives up", SST_FAILED_S_MAX, || lab.end_of("n3").is_some());
        let log = lab.log("n3").split_off(from);
        assert!(log.contains("Will never receive state. Need to abort."), "{log}");
        lab.waits_until("the donor goes on", SST_FAILED_S_MAX, || {
            lab.is_synced("n1", 2) && lab.is_synced("n2", 2)
        });
        assert_eq!(pids(), before);
        assert_eq!(watching.stop().canaries_to("n3", SST_PORT), 0, "no way round TLS was found");
    }
    sst("n3", false);
    begin();
    lab.is_member_again("n3");
}

/// `SET GLOBAL … ssl_reload`, as an error or not.
fn reload(lab: &RealLab, node: &str) -> Result<(), String> {
    let mut session = lab.sql(node).expect("it answers");
    let done = session.execute("SET GLOBAL wsrep_provider_options='socket.ssl_reload=1'");
    done.map(|_| ()).map_err(|error| error.to_string())
}

fn a_reload_takes_all_or_nothing_and_adds_trust_without_removing_any(lab: &RealLab) {
    let dir = lab.tls_dir("n3");
    let knock = |with: &str| lab.knock("n3", &lab.tls_dir(with));
    let membership = || NODES.map(|node| lab.status_of(node, "wsrep_cluster_conf_id"));
    let is_refused = |outcome: &str| outcome.contains("unknown ca");

    lab.now("a reload with a mismatched key");
    let (before, from) = (membership(), lab.log("n3").len());
    let (outcome, old_leaf) = knock("n1");
    assert_eq!(outcome, "Accepted");
    std::fs::write(
        dir.join("node-key.pem"),
        std::fs::read(lab.tls_dir("n1").join("node-key.pem")).expect("there"),
    )
    .expect("writable");
    let error = reload(lab, "n3").expect_err("a mismatched key is not taken");
    assert!(error.contains("1210"), "{error}");
    let log = lab.log("n3").split_off(from);
    assert!(log.contains("key values mismatch"), "{log}");
    assert_eq!(knock("n1"), ("Accepted".to_owned(), old_leaf.clone()), "the old pair stays in use");

    // Only n3's own files: the others trust its new CA not, so a link that broke would not come back.
    lab.now("a reload with a pair and a CA file of another CA");
    let next = a_ca("next CA");
    let stranger = lab.home().join("stranger");
    let newcomer = lab.home().join("newcomer");
    place_leaf(&stranger, &a_ca("a third CA"), None);
    place_leaf(&newcomer, &next, None);
    assert!(is_refused(&lab.knock("n3", &newcomer).0), "it does not trust the next CA yet");
    place_leaf(&dir, &next, None);
    place_ca(&dir, &next);
    reload(lab, "n3").expect("the pair is sound");
    assert_eq!(before, membership(), "no link broke: the membership is the same one");
    let (outcome, leaf) = lab.knock("n3", &newcomer);
    assert_eq!(outcome, "Accepted", "trust was added");
    assert!(leaf.is_some() && leaf != old_leaf, "the new leaf is in use");
    assert_eq!(knock("n1").0, "Accepted", "a leaf of the dropped CA is still accepted");
    let refused = lab.knock("n3", &stranger).0;
    assert!(is_refused(&refused), "a control: {refused}");

    lab.now("the same files after a restart");
    lab.stop("n3");
    lab.begin_start("n3");
    let mut last = String::new();
    let said = wait_for(Duration::from_secs(20), || {
        last = knock("n1").0;
        is_refused(&last).then_some(())
    });
    assert!(said.is_some(), "only a restart takes trust away: {last}");
    assert_eq!(lab.knock("n3", &newcomer).0, "Accepted");
}
