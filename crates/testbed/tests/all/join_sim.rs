//! A server that is to become a member: what is refused before anything is touched, and what it does not disturb. Kills are in
//! `kills_sim.rs`.

use std::path::Path;

use change::{Direction, Outcome};
use model::{Change, Noun, TlsProfile, Unseen, Verb};
use testbed::sim::disk::MYSQL;
use testbed::sim::links::Wire;
use testbed::sim::transfer::Kind;
use testbed::sim::world::{GALERA_FILE, SERVER_FILE};
use testbed::sim::{End, Fault, Operator, Rig, World};

const SEED: u64 = 11;
const SPARE: usize = 3;

fn join() -> Change {
    Change::join("n4".into())
}

/// What stands against a join, with the proof that nothing was changed by asking.
fn reasons(rig: &Rig) -> String {
    let before = rig.shared.borrow().fingerprint();
    let problems = rig.preflight(&join());
    assert_eq!(rig.shared.borrow().fingerprint(), before, "a pre-check changed something");
    for problem in &problems {
        for (word, text) in [("what", &problem.what), ("why", &problem.why), ("next", &problem.next)] {
            assert!(!text.trim().is_empty(), "no {word} in {problem:?}");
            assert!(!text.contains("hunter2"), "a secret in {problem:?}");
        }
    }
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

fn refuses(spoil: impl FnOnce(&mut World), words: &[&str]) -> Rig {
    let rig = Rig::beside_a_spare(SEED);
    spoil(&mut rig.shared.borrow_mut());
    let reasons = reasons(&rig);
    for word in words {
        assert!(reasons.contains(word), "no \"{word}\" in: {reasons}");
    }
    rig
}

fn accepts(spoil: impl FnOnce(&mut World)) -> Rig {
    let rig = Rig::beside_a_spare(SEED);
    spoil(&mut rig.shared.borrow_mut());
    assert_eq!(reasons(&rig), "");
    rig
}

/// A line of the new server's option file becomes another one.
fn line(world: &mut World, from: &str, to: &str) {
    let disk = &mut world.servers[SPARE].disk;
    let text = disk.text(GALERA_FILE).expect("it has one");
    assert!(text.contains(from), "{text}");
    disk.put(GALERA_FILE, text.replace(from, to), 0, 0o640);
}

fn schema(world: &mut World, name: &str) {
    world.servers[SPARE].disk.put(&format!("/var/lib/mysql/{name}/t.ibd"), "rows", MYSQL, 0o640);
}

#[test]
fn a_server_joins_and_an_undo_takes_it_out_again() {
    let rig = accepts(|_| {});
    let before = rig.shared.borrow().user_files();
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&join()).expect("a plan");
    let ids: Vec<String> = plan.steps.iter().map(|step| step.id.to_string()).collect();
    assert_eq!(ids, ["J1.n4", "J2.n4", "J3.n4", "J4"]);
    assert!(operator.apply(&plan).is_complete());
    {
        let mut world = rig.shared.borrow_mut();
        assert_eq!(world.letters(), "SSSS");
        assert!(world.is_whole());
        let transfer = world.transfers.last().expect("it got the data");
        assert_eq!((transfer.joiner, transfer.kind, transfer.wire), (SPARE, Kind::Sst, Wire::Tls));
        assert_eq!((world.violations.clone(), world.app.failed), (vec![], 0));
        world.advance(5_000);
        assert_eq!(world.lost(), Vec::<String>::new());
    }
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    let world = rig.shared.borrow();
    assert_eq!(world.letters(), "SSS-");
    assert!(world.user_files() == before, "a file is not as it was");
    assert_eq!(world.stops, [SPARE]);
    assert_eq!((world.violations.clone(), world.app.failed), (vec![], 0), "it was drained");
}

/// A member that takes more from clients than the others would be the way in for whoever they refuse.
#[test]
fn a_joiner_has_the_profile_of_the_members_or_is_refused() {
    let with_profile = || {
        let mut rig = Rig::beside_a_spare(SEED);
        rig.inventory.pop();
        let modern = Some(TlsProfile::Modern);
        rig.must(&Change::new(Verb::Enable, [Noun::Clients]).with_profile(modern));
        rig.inventory.push(SPARE);
        rig
    };
    let rig = with_profile();
    rig.must(&join());
    let rules = rig.shared.borrow().servers[SPARE].live.as_ref().expect("it runs").rules.clone();
    assert_eq!(rules.profile(), Some(TlsProfile::Modern));
    let rig = with_profile();
    line(
        &mut rig.shared.borrow_mut(),
        "wsrep_cluster_name = sim ",
        "tls_version=TLSv1.2\nwsrep_cluster_name = sim ",
    );
    let text = reasons(&rig);
    assert!(text.contains("n4: tls_version is set already"), "{text}");
}

#[test]
fn a_member_is_not_joined_again() {
    let rig = accepts(|_| {});
    rig.must(&join());
    let before = rig.shared.borrow().fingerprint();
    assert_eq!(reasons(&rig), "");
    let plan = rig.plan(&join()).expect("a plan");
    assert!(!plan.changes_anything() && plan.impact.join(" ").contains("n4 is a member already"), "{plan:?}");
    assert_eq!(rig.shared.borrow().fingerprint(), before);
}

#[test]
fn a_cluster_that_is_not_encrypted_or_not_well_takes_nobody() {
    let plain = Rig::on(World::with_spare(SEED, 3));
    let text = reasons(&plain);
    assert!(text.contains("n1 speaks plain") && text.contains("sealion enable galera,sst,clients"), "{text}");
    let mut without_sst = Rig::on(World::with_spare(SEED, 3));
    without_sst.inventory.pop();
    without_sst.must(&Change::new(Verb::Enable, [Noun::Galera]));
    without_sst.inventory.push(SPARE);
    let text = reasons(&without_sst);
    assert!(
        text.contains("state transfers (SST) are cleartext") && text.contains("sealion enable sst"),
        "{text}"
    );
    refuses(|world| world.stop(1), &["n2: the node is down"]);
    refuses(|world| world.set_desync(0, true), &["n1: the node is not Synced"]);
    refuses(|world| world.kill(2), &["n3: the node is down"]);
}

#[test]
fn members_that_are_not_in_the_inventory_are_asked_for() {
    let mut rig = Rig::beside_a_spare(SEED);
    rig.inventory = vec![0, 1, SPARE];
    let text = reasons(&rig);
    assert!(text.contains("it has 3 members, and the inventory has 2 nodes that are members"), "{text}");
}

#[test]
fn the_ca_must_be_that_of_the_members() {
    let rig = Rig::beside_a_spare(SEED);
    std::fs::remove_dir_all(rig.ca_dir()).expect("ours");
    let text = reasons(&rig);
    assert!(text.contains("there is no CA in") && text.contains("copy ca_dir"), "{text}");
    let world = Rig::beside_a_spare(SEED);
    let other = world.shared.borrow().authority("another CA");
    std::fs::remove_dir_all(world.ca_dir()).expect("ours");
    other.save(&world.ca_dir(), &world.passphrase.clone().into()).expect("writable");
    let text = reasons(&world);
    assert!(text.contains("n1: its certificate is of another CA"), "{text}");
}

#[test]
fn a_server_that_runs_is_not_touched() {
    refuses(
        |world| {
            world.start(SPARE);
            world.advance(100);
        },
        &["n4: its server is not known to be stopped", "systemctl stop mariadb"],
    );
    refuses(
        |world| {
            world.found(SPARE);
            world.servers[SPARE].shown.insert("wsrep_on".into(), Some("OFF".into()));
            world.forbids_plain_beside_strict = false;
        },
        &["n4: its server runs, and is no member of this cluster", "wsrep_on is OFF", "would be replaced"],
    );
    refuses(
        |world| {
            world.found(SPARE);
            world.servers[SPARE].refuses_login = true;
            world.forbids_plain_beside_strict = false;
        },
        &["n4: its server runs, and does not let sealion in", "1045"],
    );
    refuses(
        |world| world.servers[SPARE].manager_is_silent = true,
        &["n4: its server is not known to be stopped", "the service manager does not answer"],
    );
}

#[test]
fn an_option_file_that_leads_elsewhere_is_refused_with_the_line_to_write() {
    let address = "wsrep_cluster_address=gcomm://10.77.0.1,10.77.0.2,10.77.0.3";
    for (from, to, words) in [
        (address, "wsrep_cluster_address=gcomm://", &["would begin a cluster of its own", address][..]),
        (address, "wsrep_cluster_address=gcomm://10.9.9.9", &["names no member", address]),
        (
            "wsrep_cluster_name = sim ",
            "wsrep_cluster_name = prod ",
            &["wsrep_cluster_name is prod, the cluster is called sim"],
        ),
        ("wsrep_on=ON", "wsrep_on=OFF", &["does not enable Galera", "wsrep_on=ON"]),
        (
            "wsrep_sst_method=mariabackup",
            "wsrep_sst_method=rsync",
            &["wsrep_sst_method is rsync, the members have mariabackup"],
        ),
        ("libgalera_smm.so", "no_such.so", &["the Galera library /usr/lib/galera/no_such.so is not there"]),
        (
            "wsrep_on=ON",
            "wsrep_on=ON\nssl_key=/etc/mysql/other.pem",
            &["ssl_key is set already", "/etc/mysql/other.pem"],
        ),
        ("progress=1", "encrypt=1", &["has a switch of its own for state transfers"]),
    ] {
        refuses(|world| line(world, from, to), words);
    }
    refuses(
        |world| {
            world.servers[SPARE].disk.put(GALERA_FILE, "[galera]\nwsrep_on=ON\n", 0, 0o640);
        },
        &["no option file sets wsrep_provider_options or wsrep_cluster_address", address],
    );
}

#[test]
fn lines_that_are_missing_are_written_as_the_members_have_them() {
    let rig = accepts(|world| {
        line(world, "wsrep_cluster_name = sim   # never change\n", "");
        line(world, "wsrep_sst_method=mariabackup\n", "");
    });
    let plan = rig.must(&join());
    let diff = plan.steps[1].diff.concat();
    for wanted in [
        "+wsrep_cluster_name=sim",
        "+wsrep_sst_method=mariabackup",
        "+ssl-mode=VERIFY_CA",
        "+require_secure_transport=ON",
    ] {
        assert!(diff.contains(wanted), "no {wanted} in {diff}");
    }
    assert!(!diff.contains("+wsrep_cluster_address"), "{diff}");
}

#[test]
fn data_of_users_is_replaced_only_with_their_word_or_where_it_is_the_clusters() {
    let mut rig =
        refuses(|world| schema(world, "shop"), &["holds schemas of users", "shop", "--replace-data"]);
    rig.replace_data = true;
    assert_eq!(reasons(&rig), "");
    accepts(|world| {
        schema(world, "mysql");
        schema(world, "performance_schema");
    });
    accepts(|world| {
        schema(world, "shop");
        let uuid = world.servers[0].state_uuid.clone();
        world.servers[SPARE].disk.put(
            "/var/lib/mysql/grastate.dat",
            format!("uuid:    {uuid}\nseqno:   7\n"),
            MYSQL,
            0o600,
        );
    });
    refuses(
        |world| {
            let disk = &mut world.servers[SPARE].disk;
            disk.entries.retain(|path, _| !path.starts_with("/var/lib/mysql"));
        },
        &["its data directory /var/lib/mysql is not there", "install -d"],
    );
    refuses(
        |world| {
            let disk = &mut world.servers[SPARE].disk;
            let text = disk.text(SERVER_FILE).expect("it has one").replace("datadir = /var/lib/mysql\n", "");
            disk.put(SERVER_FILE, text, 0, 0o644);
        },
        &["its data directory is not known"],
    );
}

#[test]
fn a_machine_that_could_not_be_a_member_is_refused() {
    let version = |text: &str| Some(format!("/usr/sbin/mariadbd  Ver {text} for debian-linux-gnu on x86_64"));
    refuses(
        |world| world.servers[SPARE].program_version = version("11.8.6-MariaDB"),
        &["its server is 11.8.6-MariaDB, the members run 10.11.19"],
    );
    let mut rig = refuses(
        |world| world.servers[SPARE].program_version = None,
        &["which version is installed there cannot be determined", "--allow-untested"],
    );
    rig.allow_untested = true;
    assert_eq!(reasons(&rig), "");
    refuses(
        |world| {
            world.servers[SPARE].disk.entries.remove(Path::new("/usr/bin/socat"));
        },
        &["programs of the state transfer are not installed: socat"],
    );
    refuses(
        |world| {
            let now = world.unix_s();
            let disk = &mut world.servers[SPARE].disk;
            disk.put("/proc/stat", format!("cpu 1\nbtime {}\n", now - 90_000), 0, 0o444);
            disk.put("/proc/uptime", "100.00 5.00\n", 0, 0o444);
        },
        &["its clock is 89900 s behind this machine's"],
    );
    refuses(
        |world| {
            let row = "   0: 00000000:115C 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n";
            let text = format!("  sl  local_address rem_address   st\n{row}");
            world.servers[SPARE].disk.put("/proc/net/tcp", text, 0, 0o444);
        },
        &["port in use: 0.0.0.0:4444, where it must listen for SST"],
    );
    refuses(
        |world| {
            let disk = &mut world.servers[SPARE].disk;
            disk.put("/etc/passwd", "mysql:x:105:112::/nonexistent:/bin/false\n", 0, 0o644);
        },
        &["and the server runs as mysql (uid 105)", "chown -R mysql:"],
    );
    refuses(
        |world| world.servers[SPARE].disk.free_bytes = 1 << 20,
        &["is too small for the data of the cluster"],
    );
}

#[test]
fn what_hides_a_member_from_a_capture_counts_and_that_the_new_one_is_down_does_not() {
    let mut rig = Rig::beside_a_spare(SEED);
    let unseen = |subject: &str| Unseen { subject: subject.into(), why: "nothing listens there".into() };
    rig.unseen = vec![unseen("n4")];
    assert_eq!(reasons(&rig), "");
    rig.unseen = vec![unseen("n2"), unseen("n4")];
    let text = reasons(&rig);
    assert!(text.contains("n2: its connections cannot be captured") && !text.contains("n4:"), "{text}");
}

/// A join in which the fault strikes at the first instant at this moment, and how it ended.
fn with_fault(moment: &str, fault: Fault) -> (Rig, Operator, End) {
    let base = Rig::beside_a_spare(SEED);
    let begin = |base: &Rig| {
        let rig = base.fork(SEED);
        let operator = Operator::new(&rig, "root@db1");
        let plan = operator.plan(&join()).expect("a plan");
        rig.arm(None);
        (rig, operator, plan)
    };
    let (rehearsal, operator, plan) = begin(&base);
    assert!(operator.apply(&plan).is_complete());
    let at = rehearsal.trace().iter().position(|instant| instant.moment == moment);
    let (rig, operator, plan) = begin(&base);
    rig.arm(Some((at.expect("a moment of this plan"), fault)));
    let end = operator.apply(&plan);
    rig.arm(None);
    (rig, operator, end)
}

/// Between the plan and the start a member has failed: nothing is started, and what was written can be taken back.
#[test]
fn nobody_is_started_beside_a_cluster_that_is_not_well() {
    let before = Rig::beside_a_spare(SEED).shared.borrow().servers[SPARE].disk.text(GALERA_FILE);
    let (rig, operator, end) = with_fault("J3.n4:checking", Fault::KillOtherNode);
    let End::Outcome(Outcome::Stopped { why, .. }) = &end else { panic!("{end:?}") };
    assert!(why.contains("n4 may not be started now") && why.contains("is down"), "{why}");
    assert!(rig.shared.borrow().servers[SPARE].process.is_none());
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    let world = rig.shared.borrow();
    assert!(world.servers[SPARE].disk.text(GALERA_FILE) == before, "its file is not as it was");
    assert_eq!(world.stops, Vec::<usize>::new());
}

/// Of two members one serves while the other is the donor. An undo leaves these two, which is what it found.
#[test]
fn two_members_can_take_a_third_and_let_it_go_again() {
    let mut rig = Rig::beside_a_spare(SEED);
    rig.shared.borrow_mut().stop(2);
    rig.shared.borrow_mut().servers[2].is_spare = true;
    rig.inventory = vec![0, 1, SPARE];
    rig.shared.borrow_mut().advance(5_000);
    rig.shared.borrow_mut().app.failed = 0;
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&join()).expect("a plan");
    assert!(plan.impact.join("\n").contains("of two members one serves undisturbed"), "{:?}", plan.impact);
    let end = operator.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    assert_eq!(rig.shared.borrow().letters(), "SS-S");
    let end = operator.go_on(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    let world = rig.shared.borrow();
    assert_eq!((world.letters(), world.stops.clone()), ("SS--".into(), vec![SPARE]));
    assert_eq!((world.violations.clone(), world.app.failed), (vec![], 0));
}

/// A member that serves and does not answer for a while is not stopped; when it moves again, the undo goes on.
#[test]
fn a_new_member_that_may_serve_is_not_stopped_undrained() {
    let rig = Rig::beside_a_spare(SEED);
    let operator = Operator::new(&rig, "root@db1");
    assert!(operator.apply(&operator.plan(&join()).expect("a plan")).is_complete());
    rig.shared.borrow_mut().freeze(SPARE, 90_000);
    let end = operator.go_on(Some(Direction::Back));
    assert!(end.text().contains("it may serve clients"), "{end:?}");
    assert_eq!(rig.shared.borrow().stops, Vec::<usize>::new());
    rig.shared.borrow_mut().advance(120_000);
    let end = operator.go_on(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    let world = rig.shared.borrow();
    assert_eq!((world.letters(), world.stops.clone()), ("SSS-".into(), vec![SPARE]));
}

/// A transfer of many hours is waited for and told; it is no reason to give up.
#[test]
fn a_transfer_that_takes_long_is_waited_for() {
    let rig = accepts(|world| world.transfers_slower_ms = 2 * 3_600_000);
    rig.must(&join());
    let world = rig.shared.borrow();
    assert!(world.is_whole() && world.letters() == "SSSS");
    assert!(world.said.iter().any(|line| line.contains("n4 is not Synced yet")), "{:?}", world.said);
}

/// `plan` was for one server; another one is not joined by it, and an enable does not take in who is none yet.
#[test]
fn resume_and_undo_know_the_new_node_and_nobody_starts_it_but_its_own_step() {
    let (rig, operator, end) = with_fault("J2.n4:acting", Fault::KillSealion);
    assert_eq!(end, End::Killed);
    // A plain server beside strict members would look for them in vain.
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    let world = rig.shared.borrow();
    assert_eq!(world.servers[SPARE].log, Vec::<String>::new(), "it was started");
    assert_eq!(world.stops, Vec::<usize>::new());
}

/// galera_new_cluster was killed before it took its variable back.
#[test]
fn a_service_manager_that_would_begin_a_new_cluster_is_refused() {
    for line in ["_WSREP_NEW_CLUSTER=--wsrep-new-cluster", "MYSQLD_OPTS=--wsrep_new_cluster hunter2"] {
        refuses(
            |world| world.servers[SPARE].environment.push(line.into()),
            &[
                "n4: its service manager begins a new cluster with it",
                "systemctl unset-environment _WSREP_NEW_CLUSTER",
            ],
        );
    }
    accepts(|world| world.servers[SPARE].environment.push("_WSREP_NEW_CLUSTER=".into()));
}

/// Nothing that can be read says that it will. Its start takes longer than what is waited for a transfer to begin.
#[test]
fn who_begins_a_cluster_of_its_own_is_stopped_at_once_and_not_taken_for_a_member_later() {
    const NOTE: &str = "/var/lib/sealion/ran-alone";
    let theirs = Rig::beside_a_spare(SEED).shared.borrow().servers[0].state_uuid.clone();
    let own = "ffffffff-c6a3-11f0-8b1e-3f1f0f0f0f0f".to_owned();
    for (uuid, starts_slower_ms) in [(&theirs, 0), (&theirs, 40_000), (&own, 40_000)] {
        let rig = accepts(|world| {
            world.servers[SPARE].founds = Some(uuid.clone());
            world.starts_slower_ms = starts_slower_ms;
        });
        let operator = Operator::new(&rig, "root@db1");
        let began_ms = rig.shared.borrow().now_ms;
        let why = operator.apply(&operator.plan(&join()).expect("a plan")).text();
        assert!(
            why.contains("n4 has begun a cluster of its own") && why.contains("it was stopped again"),
            "{why}"
        );
        assert!(why.contains("is a copy of theirs") == (*uuid == theirs), "{why}");
        {
            let mut world = rig.shared.borrow_mut();
            assert!(world.now_ms - began_ms < 100_000, "the world's own clock: it was waited for to the end");
            assert!(world.servers[SPARE].process.is_none(), "it runs on");
            assert!(world.servers[SPARE].disk.text(NOTE).is_some_and(|note| note.contains(uuid)));
            world.servers[SPARE].founds = None;
        }
        if *uuid == theirs {
            // Its file says that it is one of them, and what it wrote meanwhile is nobody else's.
            let why = operator.go_on(None).text();
            assert!(
                why.contains("n4 may not be started now") && why.contains("in a cluster of its own"),
                "{why}"
            );
            let asked = reasons(&rig);
            assert!(asked.contains("n4: its data is not that of the members"), "{asked}");
            // Somebody starts it all the same.
            let started = rig.fork(SEED);
            let text = {
                started.shared.borrow_mut().start(SPARE);
                started.shared.borrow_mut().advance(120_000);
                reasons(&started)
            };
            assert!(text.contains("n4: its data is not that of the members"), "{text}");
            rig.shared.borrow_mut().servers[SPARE]
                .disk
                .entries
                .remove(Path::new("/var/lib/mysql/grastate.dat"));
        }
        let end = operator.go_on(None);
        assert!(end.is_complete(), "{end:?}");
        let world = rig.shared.borrow();
        assert_eq!((world.letters(), world.violations.clone()), ("SSSS".into(), vec![]));
        assert_eq!(world.transfers.last().map(|transfer| transfer.kind), Some(Kind::Sst));
        assert_eq!(world.servers[SPARE].disk.text(NOTE), None);
    }
}

/// Sealion was killed right before it started the joiner, which it has marked.
fn killed_at_its_start() -> (Rig, Operator) {
    let rehearsal = accepts(|_| {});
    rehearsal.arm(None);
    let end = Operator::new(&rehearsal, "root@db1");
    assert!(end.apply(&end.plan(&join()).expect("a plan")).is_complete());
    let starts = |instant: &testbed::sim::fault::Instant| {
        instant.moment.starts_with("J3") && instant.before.contains("start")
    };
    let at = rehearsal.trace().iter().position(starts).expect("it is started");
    let rig = accepts(|_| {});
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&join()).expect("a plan");
    rig.arm(Some((at, Fault::KillSealion)));
    assert_eq!(operator.apply(&plan), End::Killed);
    rig.arm(None);
    (rig, operator)
}

/// A log that cannot be read does not say that it ran with the others.
#[test]
fn whether_it_began_a_cluster_of_its_own_is_not_known_without_its_log() {
    const MARKER: &str = "/var/lib/sealion/joining";
    const GRASTATE: &str = "/var/lib/mysql/grastate.dat";
    let theirs = Rig::beside_a_spare(SEED).shared.borrow().servers[0].state_uuid.clone();
    for (founds, has_error_log) in [(true, true), (true, false), (false, true)] {
        let (rig, operator) = killed_at_its_start();
        {
            let mut world = rig.shared.borrow_mut();
            world.servers[SPARE].founds = founds.then(|| theirs.clone());
            world.start(SPARE);
            world.advance(20_000);
            world.stop(SPARE);
            world.advance(5_000);
            world.servers[SPARE].founds = None;
            world.servers[SPARE].hides_log = true;
            if !has_error_log {
                world.servers[SPARE].spec.error_log = None;
            }
        }
        let why = operator.go_on(None).text();
        let place = if has_error_log { "/var/log/mysql/error.log" } else { "does not name its error_log" };
        for word in
            ["n4 may not be started now", "cannot be determined", place, MARKER, GRASTATE, "memb_num = 1"]
        {
            assert!(why.contains(word), "{founds} {word}: {why}");
        }
        assert!(rig.shared.borrow().servers[SPARE].process.is_none(), "{founds}: it was started");
        // What it says is done, once somebody has looked.
        let done = if founds { GRASTATE } else { MARKER };
        rig.shared.borrow_mut().servers[SPARE].disk.entries.remove(Path::new(done));
        let end = operator.go_on(None);
        assert!(end.is_complete(), "{founds}: {end:?}");
        assert_eq!(rig.shared.borrow().violations, Vec::<String>::new());
    }
}

/// Found by an outsider: nobody had noted it, what it had written was let in by IST, and the join was said to be done.
#[test]
fn who_began_a_cluster_of_its_own_while_sealion_was_killed_is_taken_out_or_not_let_in() {
    let theirs = Rig::beside_a_spare(SEED).shared.borrow().servers[0].state_uuid.clone();
    for is_stopped in [false, true] {
        let (rig, operator) = killed_at_its_start();
        {
            let mut world = rig.shared.borrow_mut();
            world.servers[SPARE].founds = Some(theirs.clone());
            world.start(SPARE);
            world.advance(20_000);
            assert!(world.servers[SPARE].runs_alone, "it was started a moment after the kill");
            world.servers[SPARE].founds = None;
            if is_stopped {
                world.stop(SPARE);
                world.advance(5_000);
            }
        }
        let why = operator.go_on(None).text();
        let expected =
            if is_stopped { "n4 may not be started now" } else { "n4 has begun a cluster of its own" };
        assert!(why.contains(expected) && why.contains("in a cluster of its own"), "{is_stopped}: {why}");
        assert!(rig.shared.borrow().servers[SPARE].process.is_none(), "{is_stopped}");
        rig.shared.borrow_mut().servers[SPARE].disk.entries.remove(Path::new("/var/lib/mysql/grastate.dat"));
        let end = operator.go_on(None);
        assert!(end.is_complete(), "{is_stopped}: {end:?}");
        let world = rig.shared.borrow();
        assert_eq!((world.letters(), world.violations.clone()), ("SSSS".into(), vec![]));
        assert_eq!(world.transfers.last().map(|transfer| transfer.kind), Some(Kind::Sst));
    }
}
