//! Proxies in front of a simulated cluster: each node is drained there before it stops, and is as it was before when the change has ended,
//! however it ends.

use change::Direction;
use model::{Change, Noun, Verb};
use server::AdminState;
use testbed::sim::proxy::HaProxy;

use testbed::sim::{End, Fault, Instant, Operator, Rig, World};

const SEED: u64 = 11;

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}

/// Three nodes behind two proxies.
fn rig() -> Rig {
    let rig = Rig::new(SEED, 3);
    rig.shared.borrow_mut().proxies = vec![HaProxy::new("edge", 3), HaProxy::new("inner", 3)];
    rig.fork(SEED)
}

fn pid(rig: &Rig, index: usize) -> Option<i32> {
    rig.shared.borrow().servers[index].process.as_ref().map(|process| process.pid)
}

fn admins(rig: &Rig) -> Vec<AdminState> {
    rig.shared.borrow().proxies.iter().flat_map(|proxy| proxy.admin.clone()).collect()
}

#[track_caller]
fn is_as_before(rig: &Rig, what: &str) {
    rig.shared.borrow_mut().advance_until(60_000, World::is_whole);
    let world = rig.shared.borrow();
    assert_eq!(world.violations, Vec::<String>::new(), "{what}");
    assert_eq!(world.lost(), Vec::<String>::new(), "{what}");
    assert!(world.is_whole(), "{what}");
    for server in &world.servers {
        assert_eq!(server.disk.text("/var/lib/sealion/drained"), None, "{what}: {}", server.name());
    }
    drop(world);
    assert_eq!(admins(rig), [AdminState::Ready; 6], "{what}");
}

#[test]
fn each_node_is_drained_at_every_proxy_and_put_back() {
    let rig = rig();
    rig.must(&enable());
    is_as_before(&rig, "enabled");
    let told = rig.shared.borrow().proxies[0].told.clone();
    let mut expected = Vec::new();
    // Two rounds, in the order in which the nodes are restarted.
    for pair in told.chunks(2) {
        let server = pair[0].split(' ').next().expect("a server");
        expected.extend([format!("{server} drain"), format!("{server} ready")]);
    }
    assert_eq!(told, expected);
    for name in ["db1", "db2", "db3"] {
        let count = told.iter().filter(|line| line.starts_with(&format!("galera/{name} "))).count();
        assert!(count >= 4 && count.is_multiple_of(2), "{name}: {told:?}");
    }
    assert_eq!(rig.shared.borrow().proxies[1].told, told);
    assert_eq!(rig.shared.borrow().app.failed, 0);
    // The journal tells how it was.
    assert!(
        rig.texts().contains("edge galera/db1: ready, drained for the restart, ready again"),
        "{}",
        rig.texts()
    );
    assert!(rig.resume(Some(Direction::Back)).is_complete());
    is_as_before(&rig, "undone");
}

#[test]
fn a_new_ca_drains_them_too() {
    let rig = rig();
    rig.must(&enable());
    rig.shared.borrow_mut().proxies[0].told.clear();
    rig.must(&Change::new(Verb::Rotate, [Noun::Ca]));
    let told = rig.shared.borrow().proxies[0].told.clone();
    assert_eq!(told.iter().filter(|line| line.ends_with(" drain")).count(), 3, "{told:?}");
    is_as_before(&rig, "rotated");
    assert_eq!(rig.shared.borrow().app.failed, 0);
}

#[test]
fn a_change_is_refused_where_a_proxy_speaks_against_it() {
    let check = |prepare: &dyn Fn(&mut HaProxy), expected: &str| {
        let rig = rig();
        prepare(&mut rig.shared.borrow_mut().proxies[1]);
        let before = admins(&rig);
        let problems: Vec<String> = rig.preflight(&enable()).iter().map(ToString::to_string).collect();
        let problems = problems.join("\n");
        assert!(problems.contains(expected), "{expected}: {problems}");
        assert_eq!(admins(&rig), before);
    };
    check(&|proxy| proxy.is_out_of_reach = true, "inner cannot be asked");
    check(&|proxy| proxy.permits_no_changes = true, "level admin");
    check(&|proxy| proxy.set(1, AdminState::Maint), "inner has galera/db2 in maint already");
    check(&|proxy| proxy.set(1, AdminState::Drain), "inner has galera/db2 in drain already");
    check(&|proxy| proxy.check_fails_of = Some(2), "inner sends nobody to galera/db3 (DOWN)");
    check(&|proxy| *proxy = HaProxy::new("inner", 2), "no server at");
    let leave_one = |proxy: &mut HaProxy| {
        proxy.set(0, AdminState::Maint);
        proxy.set(2, AdminState::Maint);
    };
    check(&leave_one, "galera/db2 is the last server of the backend galera");
}

/// A proxy that does not lead to a node says so in the inventory, and is not asked for it.
#[test]
fn a_node_that_the_inventory_says_is_not_carried_is_restarted() {
    let rig = rig();
    {
        let mut world = rig.shared.borrow_mut();
        world.proxies[1] = HaProxy::new("inner", 2);
        world.proxies[1].spec.servers =
            [("n3".into(), vec![])].map(|(name, own): (String, _)| (model::NodeName::new(name), own)).into();
    }
    rig.must(&enable());
    assert_eq!(rig.shared.borrow().violations, Vec::<String>::new());
    assert_eq!(admins(&rig), [AdminState::Ready; 5]);
}

#[test]
fn what_a_proxy_says_in_the_middle_of_a_change_stops_it_before_the_node() {
    let check = |change: &dyn Fn(&mut World), back: &dyn Fn(&mut World), expected: &str| {
        for moment in ["E2.n2:checking", "E2.n2:acting"] {
            let rig = rig();
            rig.apply_until(&enable(), moment);
            change(&mut rig.shared.borrow_mut());
            let before = pid(&rig, 1);
            let end = rig.resume(None);
            assert!(!end.is_complete() && end.text().contains(expected), "{moment}: {end:?}");
            assert_eq!(pid(&rig, 1), before, "{moment}: n2 serves and was stopped");
            back(&mut rig.shared.borrow_mut());
            let end = rig.resume(None);
            assert!(end.is_complete(), "{moment}: {end:?}");
            is_as_before(&rig, moment);
        }
    };
    check(
        &|world| world.proxies[0].is_out_of_reach = true,
        &|world| world.proxies[0].is_out_of_reach = false,
        "edge cannot be asked",
    );
    check(
        &|world| world.proxies[0].set(1, AdminState::Maint),
        &|world| world.proxies[0].set(1, AdminState::Ready),
        "edge has galera/db2 in maint already",
    );
    check(
        &|world| [0, 2].into_iter().for_each(|node| world.proxies[0].set(node, AdminState::Maint)),
        &|world| [0, 2].into_iter().for_each(|node| world.proxies[0].set(node, AdminState::Ready)),
        "last server of the backend galera",
    );
}

/// Going back, what a person has set is no reason to stop, and is kept.
#[test]
fn undo_keeps_what_a_person_has_set() {
    for state in [AdminState::Maint, AdminState::Drain] {
        let rig = rig();
        rig.must(&enable());
        rig.shared.borrow_mut().proxies[0].set(1, state);
        let end = rig.resume(Some(Direction::Back));
        assert!(end.is_complete(), "{end:?}");
        assert_eq!(rig.shared.borrow().proxies[0].admin_of(1), Some(state));
        rig.shared.borrow_mut().proxies[0].set(1, AdminState::Ready);
        is_as_before(&rig, "undone");
    }
}

#[test]
fn a_node_that_a_proxy_does_not_see_again_stops_the_change() {
    let rig = rig();
    rig.apply_until(&enable(), "E2.n2:verifying");
    rig.shared.borrow_mut().proxies[0].check_fails_of = Some(1);
    // n2 is back; what comes next is another node, and then n2 once more.
    let end = rig.resume(None);
    assert!(!end.is_complete() && end.text().contains("galera/db2"), "{end:?}");
    assert!(end.text().contains("edge"), "{end:?}");
    rig.shared.borrow_mut().proxies[0].check_fails_of = None;
    assert!(rig.resume(None).is_complete());
    is_as_before(&rig, "resumed");
}

#[test]
fn a_change_waits_until_health_checks_see_the_node_again() {
    let base = rig();
    let (plan, moments) = rehearsed(&base);
    let at = at(&moments, "proxy ready");
    let rig = base.fork(SEED);
    rig.plan(&enable()).expect("a plan");
    rig.arm(Some((at, Fault::KillSealion)));
    rig.apply(&plan);
    rig.arm(None);
    rig.shared.borrow_mut().proxies[0].check_fails_of = Some(1);
    let end = rig.resume(None);
    assert!(end.text().contains("does not send clients to it again after 60 s"), "{end:?}");
    assert!(end.text().contains("edge has galera/db2 as DOWN"), "{end:?}");
    rig.shared.borrow_mut().proxies[0].check_fails_of = None;
    assert!(rig.resume(None).is_complete());
    is_as_before(&rig, "resumed");
}

/// Where n2 is first told so in its first restart.
fn at(moments: &[Instant], what: &str) -> usize {
    let is_it = |one: &Instant| one.before.contains(what) && one.moment.contains("E2.n2");
    moments.iter().position(is_it).expect("a moment of this plan")
}

fn rehearsed(base: &Rig) -> (model::Plan, Vec<Instant>) {
    let plan = base.plan(&enable()).expect("a plan");
    let rehearsal = base.fork(SEED);
    rehearsal.plan(&enable()).expect("a plan");
    rehearsal.arm(None);
    assert!(rehearsal.apply(&plan).is_complete());
    (plan, rehearsal.trace())
}

#[test]
fn killed_at_any_moment_of_a_restart_the_proxies_end_as_they_were() {
    let base = rig();
    let (plan, moments) = rehearsed(&base);
    assert!(moments.iter().any(|one| one.before.contains("proxy drain")), "{moments:?}");
    // Round 1 of one node and round 2 of another pass through every kind of moment.
    let chosen = moments.iter().enumerate().filter(|(_, one)| {
        let text = one.to_string();
        text.contains("E2.n2") || text.contains("E4.n1")
    });
    let mut count = 0;
    for (at, instant) in chosen {
        for wish in [Direction::Forward, Direction::Back] {
            let rig = base.fork(SEED);
            rig.plan(&enable()).expect("a plan");
            rig.arm(Some((at, Fault::KillSealion)));
            rig.apply(&plan);
            rig.arm(None);
            let end = rig.resume(Some(wish));
            assert!(end.is_complete(), "{instant}, {wish:?}: {end:?}");
            is_as_before(&rig, &format!("{instant}, {wish:?}"));
            count += 1;
        }
    }
    assert!(count > 20, "{count} moments");
}

/// Seen with HAProxy 2.6.12 and MariaDB 10.11.19: `option mysql-check user` is answered 1045 by a server that asks for TLS.
#[test]
fn a_health_check_that_fails_when_cleartext_is_refused_stops_at_the_first_node() {
    let rig = rig();
    rig.shared.borrow_mut().proxies[0].checks_in_cleartext = true;
    let plan = rig.plan(&enable()).expect("a plan");
    let end = rig.apply(&plan);
    assert!(end.text().contains("logs in without TLS"), "{end:?}");
    let requires = |rig: &Rig| {
        let world = rig.shared.borrow();
        world.servers.iter().filter(|one| one.live.as_ref().is_some_and(|live| live.requires_tls)).count()
    };
    assert_eq!(requires(&rig), 0);
    is_as_before(&rig, "stopped");
    rig.shared.borrow_mut().proxies[0].checks_in_cleartext = false;
    assert!(rig.resume(None).is_complete());
    assert_eq!(requires(&rig), 3);
    is_as_before(&rig, "resumed");
}

#[test]
fn who_abandons_a_change_is_told_what_is_drained_where() {
    let base = rig();
    let (plan, moments) = rehearsed(&base);
    let rig = base.fork(SEED);
    rig.plan(&enable()).expect("a plan");
    rig.arm(Some((at(&moments, "stop"), Fault::KillSealion)));
    rig.apply(&plan);
    rig.arm(None);
    let mut world = rig.provider_world("");
    let topology = world.topology;
    let said = topology.standing(&mut *world.nodes[1]);
    assert!(said.contains("at the proxy inner: set server galera/db2 state ready"), "{said}");
}

/// Found by an outsider: neither resume nor undo could end a change whose node was drained at a proxy that is gone.
#[test]
fn a_node_that_was_drained_at_a_proxy_that_is_gone_is_freed_by_abandon() {
    let base = rig();
    // As far as the stop of n2, and as far as its return.
    for what in ["stop", "proxy ready"] {
        let rehearsal = base.fork(SEED);
        rehearsal.arm(None);
        let one = Operator::new(&rehearsal, "root@db1");
        assert!(one.apply(&one.plan(&enable()).expect("a plan")).is_complete());
        let at = at(&rehearsal.trace(), what);

        let rig = base.fork(SEED);
        let one = Operator::new(&rig, "root@db1");
        let plan = one.plan(&enable()).expect("a plan");
        rig.arm(Some((at, Fault::KillSealion)));
        assert_eq!(one.apply(&plan), End::Killed, "{what}");
        rig.arm(None);
        rig.shared.borrow_mut().proxies.remove(0);
        for wish in [Direction::Forward, Direction::Back] {
            let why = one.go_on(Some(wish)).text();
            assert!(
                why.contains("drained at the proxy edge, which is not in the inventory")
                    && why.contains("sealion abandon"),
                "{what}: {why}"
            );
        }
        assert!(one.abandon().is_complete());
        let said = rig.texts();
        assert!(said.contains("set server galera/db2 state ready"), "{what}: {said}");
        let is_desynced = rig.shared.borrow().servers[1].desync > 0;
        if is_desynced || what == "stop" {
            assert!(said.contains("SET GLOBAL wsrep_desync=OFF"), "{what}: {said}");
        }
        // What is left out of service at the proxy that is there is said plainly, when the change is closed and before the next one.
        assert!(said.contains("at the proxy inner: set server galera/db2 state ready"), "{what}: {said}");
        let why = one.plan(&enable()).expect_err("refused").to_string();
        assert!(
            why.contains("for a change that was abandoned; there: set server galera/db2 state ready"),
            "{what}: {why}"
        );
        rig.shared.borrow_mut().proxies[0].set(1, AdminState::Ready);
        rig.shared.borrow_mut().set_desync(1, false);
        // Undo had put its file back, and it runs with something else: the next plan asks for a restart.
        rig.shared.borrow_mut().restart(1);
        rig.shared.borrow_mut().advance_until(60_000, World::is_whole);
        let plan = one.plan(&enable()).expect("a plan");
        let end = one.apply(&plan);
        assert!(end.is_complete(), "{what}: {end:?}");
        let world = rig.shared.borrow();
        assert_eq!(world.violations, Vec::<String>::new(), "{what}");
        assert!(world.is_whole(), "{what}");
        let noted = world.servers.iter().filter(|one| one.disk.text("/var/lib/sealion/drained").is_some());
        assert_eq!(noted.count(), 0, "{what}");
        assert_eq!(world.proxies[0].admin, [AdminState::Ready; 3], "{what}: the proxy that is still there");
    }
}

/// Between the drain and the node's return a person takes it out for good.
#[test]
fn what_a_person_sets_meanwhile_is_left() {
    let base = rig();
    let (plan, moments) = rehearsed(&base);
    let at = at(&moments, "proxy ready");
    let rig = base.fork(SEED);
    rig.plan(&enable()).expect("a plan");
    rig.arm(Some((at, Fault::KillSealion)));
    rig.apply(&plan);
    rig.arm(None);
    rig.shared.borrow_mut().proxies[0].set(1, AdminState::Maint);
    // Its next restart is another one, and there somebody is at work on n2.
    let end = rig.resume(None);
    assert!(end.text().contains("in maint already"), "{end:?}");
    assert_eq!(rig.shared.borrow().proxies[0].admin_of(1), Some(AdminState::Maint));
    assert_eq!(rig.shared.borrow().proxies[1].admin_of(1), Some(AdminState::Ready));
    rig.shared.borrow_mut().proxies[0].set(1, AdminState::Ready);
    assert!(rig.resume(None).is_complete());
    is_as_before(&rig, "resumed");
}

/// HAProxy was reloaded while a node was drained: it sends clients there again.
#[test]
fn a_proxy_that_has_forgotten_the_drain_is_told_again() {
    let base = rig();
    let (plan, moments) = rehearsed(&base);
    let at = at(&moments, "stop");
    let rig = base.fork(SEED);
    rig.plan(&enable()).expect("a plan");
    rig.arm(Some((at, Fault::KillSealion)));
    rig.apply(&plan);
    rig.arm(None);
    rig.shared.borrow_mut().proxies[0].set(1, AdminState::Ready);
    assert!(rig.resume(None).is_complete());
    is_as_before(&rig, "resumed");
}

/// Clients verify a node's certificate with the name that they were told, which is the proxy's.
#[test]
fn certificates_have_the_names_of_proxies_or_the_plan_says_so() {
    let rig = rig();
    let call = |rig: &Rig, names: &[&str]| {
        for server in &mut rig.shared.borrow_mut().servers {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            server.spec.proxies.insert("edge".into(), names);
        }
    };
    let told = |rig: &Rig, change: &Change| {
        let plan = Operator::new(rig, "root@db1").plan(change).expect("a plan");
        plan.impact.into_iter().filter(|line| line.contains("proxy edge")).collect::<Vec<_>>()
    };
    let leaf = |rig: &Rig, index: usize| {
        let world = rig.shared.borrow();
        let server = &world.servers[index];
        let path = server.spec.tls_dir.join("node-cert.pem").display().to_string();
        let pem = server.disk.text(&path).expect("a certificate");
        trust::inspect(pem.as_bytes()).expect("a certificate").remove(0)
    };
    call(&rig, &[]);
    let lines = told(&rig, &enable());
    assert!(
        lines.len() == 1
            && lines[0].contains("no names of the proxy edge")
            && lines[0].contains("n1, n2, n3"),
        "{lines:?}"
    );
    call(&rig, &["db.example.com", "10.9.9.9"]);
    assert_eq!(told(&rig, &enable()), Vec::<String>::new(), "they are issued with them");
    rig.must(&Change::new(Verb::Enable, [Noun::Galera, Noun::Sst]));
    for index in 0..3 {
        let leaf = leaf(&rig, index);
        assert!(leaf.dns.contains(&"db.example.com".into()), "{leaf:?}");
        assert!(leaf.ips.contains(&"10.9.9.9".parse().expect("ip")), "{leaf:?}");
    }
    // The files are there and are left as they are.
    let rig = rig.fork(SEED);
    call(&rig, &["db.example.com", "late.example.com"]);
    let lines = told(&rig, &enable());
    assert!(
        lines.len() == 1
            && lines[0].starts_with("the certificate of n1, n2, n3 has no name late.example.com"),
        "{lines:?}"
    );
    let rotate = Change::new(Verb::Rotate, [Noun::Galera]);
    assert_eq!(told(&rig, &rotate), Vec::<String>::new());
    rig.must(&rotate);
    assert!(leaf(&rig, 0).dns.contains(&"late.example.com".into()));
    let rig = rig.fork(SEED);
    assert_eq!(told(&rig, &enable()), Vec::<String>::new());
    // What a server shows may be a certificate of the operator's own, which nobody can read.
    rig.must(&enable());
    let rig = rig.fork(SEED);
    rig.must(&Change::new(Verb::Disable, [Noun::RequireTls]));
    rig.shared.borrow_mut().servers[1].shown.insert("ssl_cert".into(), Some("/own/cert.pem".into()));
    let plan =
        Operator::new(&rig, "root@db1").plan(&Change::new(Verb::Enable, [Noun::RequireTls])).expect("a plan");
    assert!(
        plan.impact.iter().any(|line| line.contains("of n2 may have no name of its proxies")
            && line.contains("/own/cert.pem is not there")),
        "{:?}",
        plan.impact
    );
}

/// A server sees the address of the proxy, and a client that is to verify it needs the CA.
#[test]
fn who_uses_cleartext_through_a_proxy_is_looked_for_there_and_is_given_the_ca() {
    let rig = rig();
    rig.shared.borrow_mut().servers[1].cleartext_clients = 1;
    let plan = rig.plan(&enable()).expect("a plan");
    let end = rig.apply(&plan);
    let text = end.text();
    for part in ["app@10.0.0.0:4711", "edge, inner lists: show sess", "ca/ca.pem as --ssl-ca"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// A fourth node behind a proxy whose health check is content with a greeting, beside one that does not have it yet.
fn rig_with_joiner() -> Rig {
    let rig = Rig::beside_a_spare(SEED);
    rig.shared.borrow_mut().proxies = vec![HaProxy::new("edge", 4), HaProxy::new("inner", 3)];
    rig.shared.borrow_mut().proxies[0].takes_greeting_for_service = true;
    rig.fork(SEED)
}

#[track_caller]
fn is_as_before_beside_joiner(rig: &Rig, what: &str) {
    let world = rig.shared.borrow();
    assert_eq!(world.violations, Vec::<String>::new(), "{what}");
    assert_eq!(world.proxies[0].admin, [AdminState::Ready; 4], "{what}");
    assert_eq!(world.proxies[1].admin, [AdminState::Ready; 3], "{what}");
    for server in &world.servers {
        assert_eq!(server.disk.text("/var/lib/sealion/drained"), None, "{what}: {}", server.name());
    }
}

#[test]
fn a_joiner_gets_no_clients_from_a_proxy_before_it_is_synced() {
    let rig = rig_with_joiner();
    rig.must(&Change::join("n4".into()));
    assert_eq!(rig.shared.borrow().proxies[0].told, ["galera/db4 drain", "galera/db4 ready"]);
    assert!(rig.texts().contains("edge galera/db4: ready, drained until it was Synced, ready again"));
    is_as_before_beside_joiner(&rig, "joined");
}

#[test]
fn a_join_that_is_killed_anywhere_leaves_its_server_at_the_proxy_as_it_was() {
    let base = rig_with_joiner();
    // As an undo asks for it, once the node may have served.
    base.shared.borrow_mut().proxies[1].spec.servers.insert("n4".into(), vec![]);
    let base = base.fork(SEED);
    let join = Change::join("n4".into());
    let rehearsal = base.fork(SEED);
    rehearsal.arm(None);
    let one = Operator::new(&rehearsal, "root@db1");
    assert!(one.apply(&one.plan(&join).expect("a plan")).is_complete());
    let moments = rehearsal.trace();
    assert!(moments.iter().any(|one| one.before.contains("proxy drain")), "{moments:?}");
    for (at, instant) in moments.iter().enumerate().filter(|(_, one)| one.to_string().contains("J3.n4")) {
        for wish in [Direction::Forward, Direction::Back] {
            let rig = base.fork(SEED);
            let one = Operator::new(&rig, "root@db1");
            let plan = one.plan(&join).expect("a plan");
            rig.arm(Some((at, Fault::KillSealion)));
            assert_eq!(one.apply(&plan), End::Killed, "{instant}");
            rig.arm(None);
            let end = one.go_on(Some(wish));
            assert!(end.is_complete(), "{instant}, {wish:?}: {end:?}");
            is_as_before_beside_joiner(&rig, &format!("{instant}, {wish:?}"));
        }
    }
}
