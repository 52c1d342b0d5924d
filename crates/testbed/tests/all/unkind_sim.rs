//! A world as unkind as the one that outsiders found: servers that hang, are out of reach, or answer late; service managers that do
//! not answer; files that cannot be read; keys that are somebody else's; a second operator. "Cannot tell" stops nobody's server.

use std::path::Path;

use change::{Direction, Outcome};
use model::{Change, Noun, Verb};
use server::{HostLogins, Logins};
use testbed::sim::process::{Group, LingeringSessions};
use testbed::sim::{End, Fault, Rig, World};

const SEED: u64 = 7;

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}

fn plain() -> Rig {
    Rig::new(SEED, 3).fork(SEED)
}

fn pid(rig: &Rig, index: usize) -> Option<i32> {
    rig.shared.borrow().servers[index].process.as_ref().map(|process| process.pid)
}

fn is_sound(rig: &Rig) {
    rig.shared.borrow_mut().advance_until(60_000, World::is_whole);
    let world = rig.shared.borrow();
    assert_eq!(world.violations, Vec::<String>::new());
    assert_eq!(world.lost(), Vec::<String>::new());
    assert!(world.is_whole());
}

/// Seen on real servers: with n2's socket file gone and n3 dead, the serving n2 was stopped and the quorum was lost.
#[test]
fn a_serving_node_that_cannot_be_reached_is_not_stopped_while_another_is_dead() {
    for moment in ["E2.n2:checking", "E2.n2:acting", "E4.n2:acting"] {
        let rig = plain();
        rig.apply_until(&enable(), moment);
        {
            let mut world = rig.shared.borrow_mut();
            world.servers[1].is_out_of_reach = true;
            world.servers[2].broken = Some("its disk is gone".into());
            world.kill(2);
            world.advance(10_000);
        }
        let before = pid(&rig, 1);
        let end = rig.resume(None);
        assert!(!end.is_complete() && end.text().contains("n2 does not answer"), "{moment}: {end:?}");
        assert_eq!(pid(&rig, 1), before, "{moment}: n2 serves and was stopped");
        assert!(rig.shared.borrow().is_primary(0), "{moment}: the quorum was lost");
        {
            let mut world = rig.shared.borrow_mut();
            world.servers[1].is_out_of_reach = false;
            world.servers[2].broken = None;
        }
        let end = rig.resume(None);
        assert!(end.is_complete(), "{moment}: {end:?}");
        is_sound(&rig);
    }
}

#[test]
fn a_frozen_node_is_waited_for_and_never_stopped_undrained() {
    for (ms, moment) in [
        (2_000, "E2.n2:acting"),
        (9_000, "E2.n2:acting"),
        (9_000, "E2.n2:checking"),
        (60_000, "E4.n2:acting"),
    ] {
        let rig = plain();
        rig.apply_until(&enable(), moment);
        rig.shared.borrow_mut().freeze(1, ms);
        let before = pid(&rig, 1);
        let end = rig.resume(None);
        if !end.is_complete() {
            assert!(end.text().contains("n2 does not answer"), "{ms} ms at {moment}: {end:?}");
            assert_eq!(pid(&rig, 1), before, "{ms} ms at {moment}");
        }
        rig.shared.borrow_mut().advance_until(90_000, World::is_whole);
        let end = rig.resume(None);
        assert!(end.is_complete() || end == End::NothingToResume, "{ms} ms at {moment}: {end:?}");
        is_sound(&rig);
    }
}

#[test]
fn every_moment_of_a_freeze_or_of_a_lost_socket_ends_well() {
    let base = plain();
    let plan = base.plan(&enable()).expect("a plan");
    let rehearsal = base.fork(SEED);
    rehearsal.plan(&enable()).expect("a plan");
    rehearsal.arm(None);
    assert!(rehearsal.apply(&plan).is_complete());
    let moments = rehearsal.trace();
    for (fault, name) in [
        (Fault::Freeze(9_000), "freeze"),
        (Fault::Freeze(40_000), "long freeze"),
        (Fault::LoseSocket, "socket"),
    ] {
        for (at, instant) in moments.iter().enumerate().filter(|(_, one)| one.before.is_empty()) {
            let rig = base.fork(SEED);
            rig.plan(&enable()).expect("a plan");
            rig.arm(Some((at, fault)));
            let first = rig.apply(&plan);
            rig.arm(None);
            {
                let mut world = rig.shared.borrow_mut();
                world.servers.iter_mut().for_each(|server| server.is_out_of_reach = false);
                let is_over = |world: &World| {
                    world.is_whole() && !world.servers.iter().any(testbed::sim::process::Server::is_frozen)
                };
                world.advance_until(120_000, is_over);
                assert_eq!(world.violations, Vec::<String>::new(), "{name} at {instant}: {first:?}");
            }
            let wish = if at % 2 == 0 { Direction::Forward } else { Direction::Back };
            let end = rig.resume(Some(wish));
            assert!(
                end.is_complete() || end == End::NothingToResume,
                "{name} at {instant}: {first:?}, then {end:?}"
            );
            is_sound(&rig);
        }
    }
}

#[test]
fn a_server_that_answers_late_is_as_good_as_another() {
    let rig = plain();
    rig.shared.borrow_mut().servers[1].answers_late_ms = 2_500;
    let plan = rig.plan(&enable()).expect("a plan");
    let end = rig.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    assert!(rig.resume(Some(Direction::Back)).is_complete());
    is_sound(&rig);
}

#[test]
fn a_service_manager_that_does_not_answer_is_no_proof_that_a_server_is_down() {
    let rig = plain();
    rig.apply_until(&enable(), "E2.n2:checking");
    {
        let mut world = rig.shared.borrow_mut();
        world.servers[1].manager_is_silent = true;
        world.kill(1);
        world.advance(10_000);
    }
    let end = rig.resume(None);
    assert!(!end.is_complete(), "{end:?}");
    assert!(end.text().contains("not known to be down"), "{end:?}");
    assert_eq!(pid(&rig, 1), None, "nobody starts what may run");
    rig.shared.borrow_mut().servers[1].manager_is_silent = false;
    assert!(rig.resume(None).is_complete());
    is_sound(&rig);
}

#[test]
fn a_key_that_somebody_else_put_there_is_left_by_undo_and_told() {
    let rig = plain();
    // No server is to be restarted with that key.
    rig.must(&Change::new(Verb::Enable, [Noun::Sst]));
    let key = "/etc/mysql/sealion/node-key.pem";
    rig.shared.borrow_mut().servers[1].disk.put(key, "-----BEGIN PRIVATE KEY----- theirs", 999, 0o600);
    let end = rig.resume(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    let world = rig.shared.borrow();
    assert_eq!(world.servers[1].disk.text(key).as_deref(), Some("-----BEGIN PRIVATE KEY----- theirs"));
    for file in ["node-cert.pem", "ca.pem"] {
        assert_eq!(world.servers[1].disk.text(&format!("/etc/mysql/sealion/{file}")), None, "{file} is ours");
    }
    assert_eq!(world.servers[0].disk.text(key), None);
    drop(world);
    let journal = std::fs::read_to_string(rig.journal_path()).expect("a journal");
    assert!(journal.contains("left where they are, since sealion did not write them"), "{journal}");
}

#[test]
fn keys_are_not_removed_while_nobody_can_tell_whether_they_are_used() {
    let rig = plain();
    rig.apply_until(&enable(), "E1.n1:checking");
    rig.shared.borrow_mut().servers[1].is_out_of_reach = true;
    let end = rig.resume(Some(Direction::Back));
    assert!(!end.is_complete(), "{end:?}");
    let key = "/etc/mysql/sealion/node-key.pem";
    assert!(rig.shared.borrow().servers[1].disk.text(key).is_some(), "it was removed in the dark");
    rig.shared.borrow_mut().servers[1].is_out_of_reach = false;
    assert!(rig.resume(Some(Direction::Back)).is_complete());
    assert!(rig.shared.borrow().servers[1].disk.text(key).is_none());
}

#[test]
fn a_file_that_cannot_be_read_is_not_absent() {
    let rig = plain();
    rig.apply_until(&enable(), "E2.n2:checking");
    rig.shared.borrow_mut().servers[1].disk.unreadable.push("/var/lib/sealion".into());
    let before = pid(&rig, 1);
    let end = rig.resume(None);
    assert!(!end.is_complete() && end.text().contains("Input/output error"), "{end:?}");
    assert_eq!(pid(&rig, 1), before);
    rig.shared.borrow_mut().servers[1].disk.unreadable.clear();
    assert!(rig.resume(None).is_complete());
    is_sound(&rig);
}

/// A state transfer of hours is no server that hangs.
#[test]
fn a_transfer_that_takes_longer_than_a_start_may_is_waited_for_and_told() {
    let mut rig = plain();
    rig.limits.sync_ms_max = 20_000;
    rig.shared.borrow_mut().transfers_slower_ms = 400_000;
    let plan = rig.plan(&Change::new(Verb::Enable, [Noun::Clients, Noun::Sst])).expect("a plan");
    let end = rig.apply(&plan);
    assert!(end.is_complete(), "{end:?}");
    let said = rig.shared.borrow().said.join("\n");
    assert!(said.contains("is not Synced yet after") && said.contains("state transfer"), "{said}");
    is_sound(&rig);
}

/// Seen on a machine that was overloaded: taken back at once, it needed a full SST instead of an IST.
#[test]
fn a_state_transfer_that_fails_once_is_asked_for_once_more() {
    for (fails, goes_on) in [(1, true), (2, false)] {
        let rig = plain();
        let plan = rig.plan(&enable()).expect("a plan");
        rig.shared.borrow_mut().transfers_fail = fails;
        let end = rig.apply(&plan);
        assert_eq!(end.is_complete(), goes_on, "{end:?}");
        let said = rig.shared.borrow().said.join("\n");
        assert!(
            said.contains("its state transfer failed (the donor's log says why): start 2 of 2"),
            "{said}"
        );
        assert_eq!(rig.shared.borrow().transfers_fail, 0, "no transfer was needed");
        is_sound(&rig);
    }
}

#[test]
fn a_server_that_hangs_at_its_start_is_not_waited_for_for_ever() {
    let mut rig = plain();
    (rig.limits.sync_ms_max, rig.limits.transfer_ms_max) = (20_000, 100_000);
    rig.shared.borrow_mut().transfers_slower_ms = 1_000_000_000;
    let plan = rig.plan(&Change::new(Verb::Enable, [Noun::Clients, Noun::Sst])).expect("a plan");
    let end = rig.apply(&plan);
    assert!(matches!(end, End::Outcome(Outcome::Stopped { .. })), "{end:?}");
    assert!(end.text().contains("did not come back"), "{end:?}");
}

/// Seen on real servers: up to 50 s until the others had forgotten its old UUID, and minutes of crash recovery.
#[test]
fn a_server_that_is_long_on_its_way_up_is_waited_for_whoever_started_it() {
    for was_started in [false, true] {
        let rig = plain();
        rig.apply_until(&enable(), "E2.n2:acting");
        {
            let mut world = rig.shared.borrow_mut();
            world.kill(0);
            world.starts_slower_ms = 60_000;
            if was_started {
                world.start(0);
            }
        }
        // Only that start is slow.
        let shared = rig.shared.clone();
        rig.provider_world("p").revive().expect("it comes back");
        shared.borrow_mut().starts_slower_ms = 0;
        let end = rig.resume(None);
        assert!(end.is_complete(), "{end:?}");
        let said = shared.borrow().said.join("\n");
        assert!(
            said.contains("n1 has not answered for") && said.contains("waiting for it to start"),
            "{said}"
        );
        is_sound(&rig);
    }
}

#[test]
fn a_server_that_never_comes_up_is_not_waited_for_for_ever() {
    let rig = plain();
    rig.apply_until(&enable(), "E2.n2:acting");
    {
        let mut world = rig.shared.borrow_mut();
        world.kill(0);
        world.starts_slower_ms = 1_000_000_000;
    }
    let end = rig.resume(None);
    assert!(matches!(end, End::Outcome(Outcome::Stopped { .. })), "{end:?}");
    assert!(end.text().contains("n1 does not answer"), "{end:?}");
}

#[test]
fn a_gate_looks_again_when_the_change_goes_on_later() {
    let rig = plain();
    rig.apply_until(&enable(), "E5.n2:checking");
    rig.shared.borrow_mut().servers[2].cleartext_clients = 1;
    let end = rig.resume(None);
    assert!(end.text().contains("app@10.0.0.0:4711"), "{end:?}");
    let world = rig.shared.borrow();
    assert!(!world.servers[2].live.as_ref().expect("up").requires_tls, "the client would be cut off");
    drop(world);
    rig.shared.borrow_mut().servers[2].cleartext_clients = 0;
    assert!(rig.resume(None).is_complete());
}

#[test]
fn a_client_that_speaks_clear_text_at_the_end_keeps_the_change_open() {
    let rig = plain();
    rig.apply_until(&enable(), "E6:checking");
    rig.shared.borrow_mut().servers[0].cleartext_clients = 2;
    let end = rig.resume(None);
    assert!(matches!(end, End::Outcome(Outcome::Stopped { .. })), "{end:?}");
    assert!(end.text().contains("cleartext was captured after the change"), "{end:?}");
    rig.shared.borrow_mut().servers[0].cleartext_clients = 0;
    assert!(rig.resume(None).is_complete());
    let journal = std::fs::read_to_string(rig.journal_path()).expect("a journal");
    assert!(journal.contains("3 nodes refused a client without TLS"), "{journal}");
    assert!(journal.contains("3 Galera ports completed a TLS handshake"), "{journal}");
}

/// Seen on real servers: 16 of 16 starts ended with the same words.
#[test]
fn a_uuid_that_lingers_in_a_cluster_without_quorum_is_told_apart() {
    let rig = Rig::on(World::in_states(SEED, "DDD"));
    {
        let mut world = rig.shared.borrow_mut();
        world.stop(0);
        for index in [1, 2] {
            let server = &mut world.servers[index];
            (server.group, server.local_state, server.last_view) = (Group::NonPrimary, 0, None);
        }
        world.servers[0].stumbles = 99;
    }
    let error = rig.provider_world("p").revive().expect_err("nobody is Primary").to_string();
    assert!(
        error.contains("still list n1 by its old UUID") && error.contains("sealion never does this"),
        "{error}"
    );
    assert!(!rig.shared.borrow().said.iter().any(|line| line.contains("which passes")));
}

#[test]
fn clients_that_call_in_now_and_then_are_not_cut_off() {
    let rig = plain();
    let logins = |by_host| Logins { since_s: 60, by_host, without_tls_max: Some(9) };
    let host = |host: &str, all, tls| HostLogins { host: host.into(), all, tls };
    rig.shared.borrow_mut().servers[1].logins =
        logins(Ok(vec![host("localhost", 7, 0), host("10.0.0.5", 3, 2), host("10.0.0.6", 3, 3)]));
    let plan = rig.plan(&enable()).expect("a plan");
    let why = rig.apply(&plan).text();
    assert!(why.contains("10.0.0.5 (1 of 3 logins)") && !why.contains("10.0.0.6"), "{why}");
    assert!(!why.contains("localhost"), "{why}");
    assert!(
        rig.shared
            .borrow()
            .servers
            .iter()
            .all(|server| server.live.as_ref().is_some_and(|live| !live.requires_tls))
    );
    // The counters were set back.
    rig.shared.borrow_mut().servers[1].logins = logins(Ok(vec![host("10.0.0.5", 1, 1)]));
    assert!(rig.resume(None).is_complete());
    let texts = rig.texts();
    assert!(
        texts.contains("no client logged in without TLS over TCP")
            && texts.contains("cannot be determined (userstat"),
        "{texts}"
    );
}

#[test]
fn a_copy_of_somebody_who_is_further_is_never_made_shorter() {
    let rig = plain();
    rig.apply_until(&enable(), "E1.n1:acting");
    let short = std::fs::read(rig.journal_path()).expect("a journal");
    let ahead = Path::new("/var/lib/sealion");
    let copy = |rig: &Rig| {
        let world = rig.shared.borrow();
        let entry = world.servers[1].disk.entries.iter().find(|(path, _)| {
            path.starts_with(ahead) && path.extension().is_some_and(|end| end == "journal")
        });
        entry.and_then(|(path, entry)| Some((path.clone(), entry.bytes.clone()?))).expect("a copy")
    };
    assert!(rig.resume(None).is_complete());
    let (path, long) = copy(&rig);
    assert!(long.len() > short.len());

    // A second operator, with a state directory of an hour ago.
    std::fs::write(rig.journal_path(), &short).expect("writable");
    let end = rig.resume(Some(Direction::Back));
    assert!(
        matches!(end, End::Outcome(Outcome::Stopped { .. }) | End::Journal(_) | End::NotRevived(_)),
        "{end:?}"
    );
    assert!(end.text().contains("another sealion"), "{end:?}");
    assert_eq!(copy(&rig), (path, long));
    assert_eq!(rig.shared.borrow().letters(), "SSS");
}

/// Seen by an outsider: the certificate was another one than at E0, the server was stopped, and nothing could bring it back.
#[test]
fn a_server_is_not_stopped_when_its_certificate_does_not_serve_any_more() {
    for (moment, file, text) in [
        ("E2.n3:acting", "node-cert.pem", Some("-----BEGIN CERTIFICATE----- theirs")),
        ("E4.n3:acting", "node-key.pem", Some("theirs")),
        ("E4.n3:checking", "ca.pem", None),
    ] {
        let rig = plain();
        rig.apply_until(&enable(), moment);
        let path = format!("/etc/mysql/sealion/{file}");
        let ours = rig.shared.borrow().servers[2].disk.text(&path).expect("placed");
        match text {
            Some(text) => rig.shared.borrow_mut().servers[2].disk.put(&path, text, 999, 0o600),
            None => drop(rig.shared.borrow_mut().servers[2].disk.entries.remove(Path::new(&path))),
        }
        let before = pid(&rig, 2);
        let end = rig.resume(None);
        assert!(end.text().contains("key, certificate and CA"), "{moment}: {end:?}");
        assert_eq!(pid(&rig, 2), before, "{moment}: it was stopped");
        rig.shared.borrow_mut().advance(5_000);
        assert!(rig.shared.borrow().is_whole(), "{moment}: it serves");
        rig.shared.borrow_mut().servers[2].disk.put(&path, ours, 999, 0o600);
        let end = rig.resume(None);
        assert!(end.is_complete(), "{moment}: {end:?}");
        is_sound(&rig);
    }
}

#[test]
fn a_stop_command_that_is_another_nodes_is_found_out_and_told() {
    let rig = plain();
    rig.shared.borrow_mut().servers[2].stop_is_anothers = true;
    let plan = rig.plan(&enable()).expect("a plan");
    let end = rig.apply(&plan);
    assert!(matches!(end, End::Outcome(Outcome::Stopped { .. })), "{end:?}");
    assert!(
        end.text().contains("was to be stopped, and its process") && end.text().contains("inventory"),
        "{end:?}"
    );
    assert_eq!(rig.shared.borrow().servers[2].desync, 0, "it is in service again");
    rig.shared.borrow_mut().servers[2].stop_is_anothers = false;
    assert!(rig.resume(None).is_complete());
    is_sound(&rig);
}

#[test]
fn an_undo_that_cannot_drain_a_node_leaves_it_in_service() {
    let rig = plain();
    rig.must(&enable());
    rig.shared.borrow_mut().servers[0].lingering_sessions = LingeringSessions::Busy;
    let end = rig.resume(Some(Direction::Back));
    assert!(end.text().contains("could not be drained"), "{end:?}");
    rig.shared.borrow_mut().advance(2_000);
    assert_eq!(rig.shared.borrow().servers[0].desync, 0);
    assert_eq!(rig.shared.borrow().servers[0].disk.text("/var/lib/sealion/drained"), None);
    rig.shared.borrow_mut().servers[0].lingering_sessions = LingeringSessions::None;
    assert!(rig.resume(Some(Direction::Back)).is_complete());
    is_sound(&rig);
}
