//! What the simulated nodes do, one behaviour of the reference's section 1 a test. Lab tests of the same names check that real
//! servers do it too; where they differ, the simulation is wrong.

use server::{GaleraState, ProviderOptions};
use testbed::sim::links::Wire;
use testbed::sim::manual_setup::{PATHS, string};
use testbed::sim::process::Group;
use testbed::sim::transfer::Kind;
use testbed::sim::{Shared, World};

const SEEDS: std::ops::Range<u64> = 1..9;

/// The node ends by itself 30 to 40 s after its start; nobody else is touched.
fn is_locked_out(world: &mut World, index: usize, who: &str) {
    let began = world.now_ms;
    let others: Vec<usize> = (0..world.servers.len()).filter(|&other| other != index).collect();
    world.advance(29_000);
    assert!(world.servers[index].process.is_some(), "{who}: it keeps trying");
    assert!(
        world.advance_until(12_000, |world| world.servers[index].process.is_none()),
        "{who}: it gives up"
    );
    let took = world.now_ms - began;
    assert!((29_000..=41_500).contains(&took), "{who}: after {took} ms");
    assert!(world.logged(index, "110: failed to reach primary view"), "{who}");
    for other in others {
        assert!(world.is_healthy(other), "{who}: n{} stays up", other + 1);
        assert_eq!(world.cluster_size(other), 2, "{who}");
    }
}

#[test]
fn a_plain_node_into_a_strict_cluster_is_locked_out_after_40_s_and_the_members_stay_up() {
    for seed in SEEDS {
        let mut world = World::in_states(seed, "SSS");
        world.restart_as(2, 'P');
        is_locked_out(&mut world, 2, &format!("seed {seed}"));
        assert!(world.logged(0, "unexpected eof while reading"));
    }
}

#[test]
fn a_dynamic_node_without_ssl_into_a_strict_cluster_is_locked_out() {
    let mut world = World::in_states(1, "SSS");
    world.set_string(2, "socket.dynamic=YES");
    world.restart(2);
    is_locked_out(&mut world, 2, "dynamic without ssl");
}

#[test]
fn a_strict_node_into_a_plain_cluster_is_locked_out_and_comes_back_as_dynamic() {
    let mut world = World::in_states(1, "PPP");
    world.restart_as(2, 'S');
    is_locked_out(&mut world, 2, "strict into plain");
    world.bring_to(2, 'D');
    assert_eq!(world.letters(), "PPD");
}

#[test]
fn a_leaf_of_an_unknown_ca_is_locked_out_and_the_members_say_why() {
    let ca_file = "/etc/mysql/sealion/ca.pem";
    let mut world = World::in_states(1, "SSS");
    let trusted = world.servers[2].disk.text(ca_file).expect("there");
    let foreign = world.authority("another CA");
    world.place(2, &foreign, None);
    let own = world.servers[2].disk.text(ca_file).expect("there");
    world.servers[2].disk.put(ca_file, trusted, 999, 0o644);
    world.restart_as(2, 'S');
    is_locked_out(&mut world, 2, "foreign leaf");
    assert!(world.logged(0, "certificate verify failed: unable to get local issuer certificate"));
    assert!(world.logged(2, "tlsv1 alert unknown ca"));

    // With the CA file of its own CA the joiner is the one that refuses: it judges first.
    world.servers[2].disk.put(ca_file, own, 999, 0o644);
    (0..3).for_each(|index| world.servers[index].log.clear());
    world.start(2);
    is_locked_out(&mut world, 2, "foreign CA file");
    assert!(world.logged(2, "certificate verify failed: self-signed certificate in certificate chain"));
    assert!(!world.logged(2, "alert"));
    assert!(world.logged(0, "tlsv1 alert unknown ca"));
}

#[test]
fn an_expired_leaf_is_locked_out() {
    let mut world = World::in_states(1, "SSS");
    let ca = world.authority("the cluster's next CA");
    for index in 0..3 {
        world.place(index, &ca, None);
        // All trust the new CA as well as the old one.
        world.reload(index).expect("a sound pair");
    }
    let yesterday = world.unix_s() - 86_400;
    world.place(2, &ca, Some(yesterday));
    world.restart_as(2, 'S');
    is_locked_out(&mut world, 2, "expired leaf");
    assert!(world.logged(0, "certificate verify failed: certificate has expired"));
    assert!(world.logged(2, "sslv3 alert certificate expired"));
}

#[test]
fn a_missing_ca_file_a_mismatched_key_and_an_unreadable_key_end_the_server_at_once() {
    let check = |spoil: &dyn Fn(&mut World), says: &str| {
        let mut world = World::in_states(1, "DDD");
        spoil(&mut world);
        world.restart_as(2, 'D');
        assert!(world.servers[2].process.is_none(), "{says}: it ends at once");
        assert!(world.logged(2, says), "{says}: {:?}", world.servers[2].log);
        assert!(world.is_healthy(0) && world.is_healthy(1));
    };
    let key = "/etc/mysql/sealion/node-key.pem";
    check(
        &|world| {
            drop(world.servers[2].disk.entries.remove(std::path::Path::new("/etc/mysql/sealion/ca.pem")));
        },
        "No such file or directory",
    );
    check(
        &|world| {
            let other = world.servers[1].disk.text(key).expect("there");
            world.servers[2].disk.put(key, other, 999, 0o600);
        },
        "key values mismatch",
    );
    check(
        &|world| {
            let own = world.servers[2].disk.text(key).expect("there");
            world.servers[2].disk.put(key, own, 0, 0o600);
        },
        "Permission denied",
    );
}

#[test]
fn a_plain_donor_dies_when_a_joiner_asks_for_ssl_ist() {
    for seed in SEEDS {
        let mut world = World::in_states(seed, "PDD");
        world.servers[2].wants_donor = Some(0);
        world.restart_as(2, 'S');
        assert!(
            world.advance_until(10_000, |world| world.servers[0].process.is_none()),
            "seed {seed}: the donor dies"
        );
        assert!(world.logged(0, "mysqld got signal 11"));
        assert!(world.servers[2].process.is_none(), "seed {seed}: the joiner aborts");
        world.advance(6_000);
        assert_eq!(
            world.servers[1].group,
            Group::NonPrimary,
            "seed {seed}: the one that is left lost its quorum"
        );
    }
}

#[test]
fn key_paths_with_ssl_no_crash_joiner_and_donor() {
    for seed in SEEDS {
        let mut world = World::in_states(seed, "PPP");
        world.restart_as(2, 'X');
        assert!(world.advance_until(10_000, |world| world.servers[2].process.is_none()), "seed {seed}");
        assert!(world.logged(2, "mysqld got signal 11"), "seed {seed}");
        let dead = (0..2).filter(|&index| world.servers[index].process.is_none()).count();
        assert_eq!(dead, 1, "seed {seed}: the donor died too");
        world.advance(6_000);
        let left = (0..2).find(|&index| world.servers[index].process.is_some()).expect("one");
        assert_eq!(world.servers[left].group, Group::NonPrimary, "seed {seed}");
    }
}

#[test]
fn key_paths_without_socket_ssl_mean_yes() {
    let mut world = World::in_states(1, "DDD");
    world.set_string(2, PATHS);
    world.stop(2);
    world.start(2);
    assert_eq!(world.letters(), "DDS");
}

#[test]
fn two_dynamic_nodes_may_stay_plain() {
    let mut seen = [0, 0];
    for seed in 1..20 {
        let world = World::in_states(seed, "DDD");
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            match world.link(a, b).expect("linked") {
                Wire::Plain => seen[0] += 1,
                Wire::Tls => seen[1] += 1,
            }
        }
        // Nothing tells: the read-back is that of a dynamic node, whatever its links are.
        assert_eq!(world.letters(), "DDD");
    }
    assert!(seen[0] > 5 && seen[1] > 20, "{seen:?}");
}

#[test]
fn strict_nodes_speak_tls_to_strict_and_dynamic_ones() {
    for seed in SEEDS {
        let world = World::in_states(seed, "SSD");
        assert_eq!(
            [world.link(0, 1), world.link(0, 2), world.link(1, 2)],
            [Some(Wire::Tls); 3],
            "seed {seed}"
        );
    }
}

#[test]
fn strict_listens_on_ssl_and_dynamic_and_plain_on_tcp() {
    let world = World::in_states(1, "SDD");
    let listens = |index: usize| {
        let options = ProviderOptions::parse(&world.servers[index].live.as_ref().expect("up").read_back);
        (options.get("gmcast.listen_addr").expect("always there").to_owned(), GaleraState::of(&options))
    };
    assert_eq!(listens(0), ("ssl://0.0.0.0:4567".into(), GaleraState::Strict));
    assert_eq!(listens(1), ("tcp://0.0.0.0:4567".into(), GaleraState::Dynamic));
    let plain = World::in_states(1, "PPP");
    let text = plain.servers[0].live.as_ref().expect("up").read_back.clone();
    assert!(!text.contains("socket.ssl") && text.ends_with("; "), "{text}");
}

#[test]
fn ist_is_plain_from_a_plain_donor_tls_from_a_dynamic_one_and_strict_still_serves_plain() {
    let check = |letters: &str, donor: usize, joins: char, wire: Wire| {
        let mut world = World::in_states(3, letters);
        world.servers[2].wants_donor = Some(donor);
        world.bring_to(2, joins);
        let last = world.transfers.last().expect("it had missed writes");
        assert_eq!(
            (last.joiner, last.donor, last.kind, last.wire),
            (2, donor, Kind::Ist, wire),
            "{letters} {joins}"
        );
    };
    check("PPP", 0, 'D', Wire::Plain);
    check("DDD", 0, 'D', Wire::Tls);
    check("DDD", 0, 'S', Wire::Tls);
    check("SSS", 1, 'S', Wire::Tls);
    check("SDD", 0, 'P', Wire::Plain);
}

#[test]
fn a_strict_node_dials_a_plain_one_in_clear_text() {
    for seed in SEEDS {
        let mut world = World::in_states(seed, "SDD");
        world.restart_as(2, 'P');
        // It may give up before it is dialled; then it is started once more.
        let linked = world.advance_until(120_000, |world| {
            world.link(0, 2) == Some(Wire::Plain) || world.servers[2].process.is_none()
        });
        assert!(linked, "seed {seed}");
        assert!(world.logged(0, "unexpected eof while reading"), "seed {seed}: its own call was refused");
        assert_eq!(world.link(0, 1), Some(Wire::Tls), "seed {seed}");
        if world.servers[2].process.is_some() {
            assert!(world.advance_until(20_000, |world| world.is_healthy(2)), "seed {seed}");
            assert_eq!(world.cluster_size(0), 3, "seed {seed}: size and Synced hide it");
        }
    }
}

#[test]
fn a_plain_node_that_restarts_beside_a_strict_one_can_put_all_nodes_in_non_primary() {
    let (mut passed, mut outages, mut gave_up) = (0, 0, 0);
    for seed in 1..40 {
        let mut world = World::in_states(seed, "SDD");
        world.restart_as(2, 'P');
        let is_out = world.advance_until(10_000, |world| !world.is_primary(0) || world.is_healthy(2))
            && !world.is_primary(0);
        assert_eq!(world.is_primary(0), world.is_primary(1), "seed {seed}: all nodes or none");
        assert!(
            world.advance_until(60_000, |world| world.is_primary(0) && world.is_primary(1)),
            "seed {seed}: by themselves"
        );
        if is_out {
            outages += 1;
            assert!(world.app.longest_stall_ms >= 2_900, "seed {seed}: {}", world.app.longest_stall_ms);
            gave_up += usize::from(world.servers[2].process.is_none());
        } else {
            passed += 1;
        }
        assert_eq!(world.violations, Vec::<String>::new(), "seed {seed}");
    }
    assert!(passed > 5 && outages > 5 && (1..outages).contains(&gave_up), "{passed} {outages} {gave_up}");
}

#[test]
fn a_reload_takes_all_or_nothing_and_adds_trust_without_removing_any() {
    let mut world = World::in_states(1, "SSS");
    let leaf =
        |world: &World| world.servers[2].live.as_ref().and_then(|live| live.galera.clone()).expect("strict");
    let old = leaf(&world);
    let key = "/etc/mysql/sealion/node-key.pem";
    let other = world.servers[1].disk.text(key).expect("there");
    world.servers[2].disk.put(key, other, 999, 0o600);
    let error = world.reload(2).expect_err("a mismatched key");
    assert!(error.contains("1210") && error.contains("key values mismatch"), "{error}");
    assert_eq!(leaf(&world).cert, old.cert, "the old one stays in use");
    let next = world.authority("next CA");
    world.place(2, &next, None);
    world.reload(2).expect("a sound pair");
    assert_ne!(leaf(&world).cert, old.cert);
    assert_eq!(world.handshake(2, 0), Ok(()), "a leaf of the dropped CA is still accepted");
    world.restart_as(2, 'S');
    world.advance(5_000);
    assert!(world.handshake(2, 0).is_err(), "only a restart takes trust away");
}

#[test]
fn the_last_file_that_sets_the_string_replaces_it_whole() {
    let mut world = World::cluster(1, 3);
    world.servers[0].disk.put(
        "/etc/mysql/mariadb.conf.d/99-last.cnf",
        "[mysqld]\nwsrep_provider_options=gmcast.segment=7\n",
        0,
        0o644,
    );
    world.stop(0);
    world.start(0);
    let options = ProviderOptions::parse(&world.servers[0].live.as_ref().expect("up").read_back);
    assert_eq!(
        (options.get("gmcast.segment"), options.get("gcache.size")),
        (Some("7"), Some("128M")),
        "256M was in the other file"
    );
}

#[test]
fn a_clean_stop_shrinks_the_membership_soon_and_a_crash_after_5_s() {
    let mut world = World::cluster(1, 3);
    world.stop(2);
    assert_eq!(world.cluster_size(0), 3, "the others have not agreed on it yet");
    world.advance(3_000);
    assert_eq!(world.cluster_size(0), 2);
    // Who is started before that does not come up.
    world.start(2);
    world.stop(2);
    world.start(2);
    world.advance(2_000);
    assert!(world.servers[2].process.is_none() || !world.is_healthy(2));
    let mut world = World::cluster(1, 3);
    world.kill(2);
    world.advance(4_000);
    assert_eq!(world.cluster_size(0), 3, "nobody knows yet, and commits wait");
    world.advance(2_000);
    assert_eq!(world.cluster_size(0), 2);
    assert!(world.is_healthy(0));
    assert!((4_500..6_000).contains(&world.app.longest_stall_ms), "{}", world.app.longest_stall_ms);
}

#[test]
fn after_clean_stops_one_node_is_enough_but_half_of_two_by_a_crash_is_not() {
    let mut world = World::cluster(1, 3);
    world.stop(2);
    world.stop(1);
    assert!(world.is_healthy(0));
    let mut world = World::cluster(1, 3);
    world.stop(2);
    world.kill(1);
    world.advance(6_000);
    assert_eq!(world.servers[0].group, Group::NonPrimary);
    world.start(1);
    assert!(
        world.advance_until(20_000, |world| world.is_healthy(0) && world.is_healthy(1)),
        "both of the last view are back"
    );
    assert!(world.logged(0, "re-bootstrapping prim from partitioned components"));
    world.start(2);
    assert!(world.advance_until(20_000, World::is_whole));
    assert_eq!(world.lost(), Vec::<String>::new());
    assert_eq!(world.violations, Vec::<String>::new());
}

#[test]
fn all_killed_come_together_when_all_are_back_and_nobody_bootstraps() {
    let mut world = World::cluster(1, 3);
    for index in 0..3 {
        world.kill(index);
    }
    world.advance(2_000);
    world.start(0);
    world.start(1);
    world.advance(15_000);
    assert!(world.primary_components().is_empty(), "two of three of the last view are not all of it");
    world.start(2);
    assert!(world.advance_until(20_000, World::is_whole));
    assert_eq!(world.lost(), Vec::<String>::new());
}

#[test]
fn an_empty_node_joins_by_sst_and_fails_when_only_one_side_has_tls() {
    let empty = |world: &mut World| {
        world.stop(2);
        world.servers[2].seqno = 0;
        world.advance(3_000);
        world.start(2);
        world.advance_until(30_000, |world| world.is_healthy(2))
    };
    let mut world = World::in_states(1, "SSS");
    assert!(empty(&mut world));
    let last = world.transfers.last().expect("an SST").clone();
    assert_eq!((last.kind, last.wire), (Kind::Sst, Wire::Plain), "Galera TLS does not encrypt SST");
    for index in 0..3 {
        for (key, value) in [("tkey", "k"), ("tcert", "c"), ("tca", "a"), ("ssl-mode", "VERIFY_CA")] {
            world.set_option(index, "sst", key, value);
        }
    }
    assert!(empty(&mut world), "the scripts read [sst] at the moment of the transfer: no restart was needed");
    assert_eq!(world.transfers.last().map(|last| last.wire), Some(Wire::Tls));
    world.servers[2].disk.put(
        "/etc/mysql/mariadb.conf.d/60-galera.cnf",
        format!("[galera]\nwsrep_on=ON\nwsrep_provider_options={}\n", string('S')),
        0,
        0o644,
    );
    assert!(!empty(&mut world));
    assert!(world.logged(2, "Will never receive state. Need to abort."));
    assert!(world.is_healthy(0) && world.is_healthy(1), "the donor goes on");
}

#[test]
fn a_drain_of_one_second_loses_no_transaction_and_none_loses_some() {
    let mut world = World::cluster(1, 3);
    world.set_desync(2, true);
    world.advance(1_000);
    world.stop(2);
    assert_eq!(world.app.failed, 0);
    let mut world = World::cluster(1, 3);
    world.stop(2);
    assert!(world.app.failed > 0);
}

#[test]
fn the_same_seed_gives_the_same_world() {
    let run = |seed| {
        let shared = Shared::new(World::in_states(seed, "SDD"));
        let world = shared.borrow();
        (world.now_ms, world.app.acknowledged, format!("{:?}{:?}", world.links, world.transfers))
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}
