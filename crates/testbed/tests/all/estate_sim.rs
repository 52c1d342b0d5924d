//! A Galera cluster, an asynchronous replica of one of its nodes, and servers by themselves of both flavours, in memory: one plan changes
//! all of them, is killed, and goes on.

use change::{Direction, Outcome};
use model::{Change, Noun, Plan, Verb};
use server::ChannelTls;
use testbed::sim::proxy::HaProxy;
use testbed::sim::{End, Fault, Operator, Rig, World};

use crate::kill_matrix::{BOTH, check_some, seed};

const NOUNS: [Noun; 4] = [Noun::Galera, Noun::Sst, Noun::Replication, Noun::Clients];
/// Three nodes; a replica of the second, and one of that; MySQL: TLS from its first start, and a channel that does without; a pair.
const CLEAR: &str = "PPPPcPcTTcPPc";
pub const SEALED: &str = "SSSRsRsRRsRRs";

pub fn enable() -> Change {
    Change::new(Verb::Enable, NOUNS)
}

pub fn clear() -> Rig {
    let mut world = World::estate(seed());
    // As an account that needs no RSA key logs in, and as its replica was told.
    world.servers[6].channels[0].tls = ChannelTls::default();
    world.servers[6].channels[0].receiver = testbed::sim::channels::Receiver::Running { by_tls: false };
    Rig::on(world)
}

/// With an arbitrator, and a proxy in front of the nodes.
fn clear_with_more() -> Rig {
    let mut world = World::beside(World::cluster_with_arbitrator(seed(), 3));
    let mut proxy = HaProxy::new("edge", 3);
    for server in world.servers.iter().filter(|server| server.is_by_itself) {
        proxy.spec.servers.insert(server.spec.name.clone(), vec![]);
    }
    world.proxies = vec![proxy];
    Rig::on(world)
}

pub fn must(rig: &Rig, change: &Change) -> Plan {
    let operator = Operator::new(rig, "root@long-ago");
    let plan = operator.plan(change).unwrap_or_else(|error| panic!("{change}: {error}"));
    let end = operator.apply(&plan);
    assert!(end.is_complete(), "{change}: {end:?}");
    settled(rig);
    plan
}

pub fn settled(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    let settles_ms = world.settles_ms();
    assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    assert_eq!((world.lost(), world.violations.clone()), (vec![], vec![]));
    assert_eq!(world.app.failed, 0, "a drained roll fails no transaction");
}

pub fn sealed() -> Rig {
    let rig = clear();
    must(&rig, &enable());
    rig
}

#[test]
fn one_plan_seals_all_of_it_and_one_undo_takes_it_back() {
    let rig = clear();
    let before = rig.shared.borrow().user_files();
    assert_eq!(rig.shared.borrow().letters(), CLEAR);
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&Change::new(Verb::Enable, [])).expect("a plan");
    assert_eq!((plan.topology.as_str(), &plan.change), ("estate", &enable()));
    let parts: Vec<(&str, usize)> =
        plan.parts.iter().map(|part| (part.topology.as_str(), part.nodes.len())).collect();
    assert_eq!(parts, [("replication", 6), ("galera", 3)]);

    // Nobody requires TLS before every channel of the estate has it.
    let place =
        |id: &str| plan.steps.iter().position(|step| step.id.0 == id).unwrap_or_else(|| panic!("no {id}"));
    let channels = ["E3.n4", "E3.n5", "E3.n7", "E3.n9"].map(place);
    assert!(
        channels.iter().all(|channel| place("E2.n2") < *channel && *channel < place("E5.look")),
        "{channels:?}"
    );
    let of = |id: &str| plan.steps[place(id)].part.as_deref();
    assert_eq!(
        [of("E2.n1"), of("E3.n4"), of("E5.n1"), of("E5.n4")],
        [Some("galera"), Some("replication"), Some("galera"), Some("replication")]
    );
    assert_eq!([of("E0.ca"), of("E5.look"), of("E6")], [None; 3]);

    assert!(operator.apply(&plan).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), SEALED);
    let told = operator.undo_warnings().join("\n");
    let mysql = "n6, n7 serve the certificate of before that change again (";
    assert!(told.contains(mysql) && told.contains("offer no TLS") && !told.contains("n6 offer"), "{told}");
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), CLEAR);
    assert_eq!(rig.shared.borrow().user_files(), before);
}

#[test]
fn a_sealed_estate_has_nothing_to_do() {
    let rig = sealed();
    let plan = Operator::new(&rig, "root@db1").plan(&enable()).expect("a plan");
    assert!(
        !plan.changes_anything(),
        "{:?}",
        plan.steps.iter().filter(|step| !step.no_op && !step.only_looks)
    );
    assert_eq!(plan.impact, ["already done; nothing to do"]);
}

pub const EVERYTHING: [Fault; 5] =
    [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];

#[test]
fn enable_survives_sealion_killed_and_everything_else() {
    check_some(&clear(), &enable(), &EVERYTHING, &BOTH, 11);
}

#[test]
fn certificates_and_the_ca_are_replaced_over_all_parts_whatever_is_killed() {
    let rig = sealed();
    check_some(&rig, &Change::new(Verb::Rotate, NOUNS), &EVERYTHING, &BOTH, 17);
    check_some(&rig, &Change::new(Verb::Rotate, [Noun::Ca]), &EVERYTHING, &BOTH, 17);
}

#[test]
fn what_one_part_does_leaves_the_others_as_they_are() {
    let rig = clear();
    let plan = must(&rig, &Change::new(Verb::Enable, [Noun::Galera, Noun::Sst]));
    assert!(plan.steps.iter().all(|step| step.part.as_deref() != Some("replication")));
    assert_eq!(rig.shared.borrow().letters(), CLEAR.replacen("PPP", "SSS", 1));

    // A source in another part serves no certificate of ours yet.
    let operator = Operator::new(&rig, "root@db1");
    let refused = operator
        .plan(&Change::new(Verb::Enable, [Noun::Replication]))
        .expect_err("no certificate")
        .to_string();
    assert!(refused.contains("enable replication,clients"), "{refused}");
    must(&rig, &Change::new(Verb::Enable, [Noun::Replication, Noun::Clients]));
    assert_eq!(rig.shared.borrow().letters(), SEALED);
    must(&rig, &Change::new(Verb::Disable, [Noun::RequireTls]));
    assert_eq!(rig.shared.borrow().letters(), SEALED.replace('R', "T"));
    // A replica told to do without TLS is shut out by no source, whatever part that is of.
    must(&rig, &Change::new(Verb::Disable, [Noun::Replication]));
    assert_eq!(rig.shared.borrow().letters(), SEALED.replace('R', "T").replace('s', "c"));
    let refused =
        operator.plan(&Change::new(Verb::Enable, [Noun::RequireTls])).expect_err("channels").to_string();
    assert!(refused.contains("a replica connects without TLS"), "{refused}");
}

#[test]
fn a_replica_is_not_told_to_do_without_tls_that_a_node_of_the_cluster_requires() {
    let rig = sealed();
    // Of all sources, only the one in another part.
    for index in 3..9 {
        rig.shared.borrow_mut().servers[index].live.as_mut().expect("it runs").requires_tls = false;
    }
    let refused = Operator::new(&rig, "root@db1")
        .plan(&Change::new(Verb::Disable, [Noun::Replication]))
        .expect_err("shut out");
    assert!(refused.to_string().contains("n4 replicates from n2, which would refuse it"), "{refused}");
}

/// What is written of accounts on the cluster arrives at the replicas of its nodes.
#[test]
fn accounts_of_all_parts_must_use_tls_and_need_not_any_more() {
    let mut rig = sealed();
    must(&rig, &Change::new(Verb::Disable, [Noun::RequireTls]));
    let accounts = Change::new(Verb::Enable, [Noun::Accounts]);
    let before: Vec<_> = (0..9).map(|index| rig.shared.borrow().accounts_on(index)).collect();
    let plan = must(&rig, &accounts);
    let steps: Vec<(&str, Vec<String>)> = plan
        .steps
        .iter()
        .filter(|step| step.kind == "account" && step.id.0.contains("app@"))
        .map(|step| {
            let followers = step.params["followers"].as_array().expect("a list");
            (step.id.0.as_str(), followers.iter().map(|one| one.as_str().unwrap_or("").to_owned()).collect())
        })
        .collect();
    let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        steps,
        [
            ("A1.n6.app@10.0.0.%", named(&["n7"])),
            ("A1.n8.app@10.0.0.%", named(&["n9"])),
            ("A1.n1.app@10.0.0.%", named(&["n2", "n3", "n4", "n5"])),
        ]
    );
    for index in 0..9 {
        let now = rig.shared.borrow().accounts_on(index);
        let open = now.iter().filter(|one| one.tls == server::accounts::AccountTls::None && !one.is_local);
        assert_eq!(open.count(), 0, "n{}: {now:?}", index + 1);
    }
    must(&rig, &Change::new(Verb::Disable, [Noun::Accounts]));
    assert_eq!(before, (0..9).map(|index| rig.shared.borrow().accounts_on(index)).collect::<Vec<_>>());
    let nobody = server::accounts::AccountName { user: "nobody".into(), host: "%".into() };
    rig.leave_accounts = vec![nobody];
    let refused = Operator::new(&rig, "root@db1").plan(&accounts).expect_err("no such account").to_string();
    assert!(refused.contains("there is no account 'nobody'@'%'"), "{refused}");
}

/// Nothing is required anywhere while an application of one part speaks cleartext.
#[test]
fn a_cleartext_application_stops_the_change_before_anybody_requires_tls() {
    let rig = clear();
    rig.shared.borrow_mut().servers[5].cleartext_clients = 1;
    let operator = Operator::new(&rig, "root@db1");
    let end = operator.apply(&operator.plan(&enable()).expect("a plan"));
    let End::Outcome(Outcome::Stopped { step, why }) = &end else { panic!("{end:?}") };
    assert!(step.0 == "E5.look" && why.contains("app@10.0.0.0:4711"), "{end:?}");
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), SEALED.replace('R', "T"));
    rig.shared.borrow_mut().servers[5].cleartext_clients = 0;
    assert!(operator.go_on(None).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), SEALED);
}

/// Each refusal names a command that leads on: whoever follows them comes to a plan, and meets no command twice.
#[test]
fn who_follows_the_advice_of_refusals_comes_to_a_plan() {
    let wishes: [&[Noun]; 6] = [
        &[Noun::Replication, Noun::Clients],
        &[Noun::Sst, Noun::Clients],
        &[Noun::Clients],
        &[Noun::Replication],
        &[Noun::RequireTls],
        &[Noun::Accounts],
    ];
    for wish in wishes {
        let rig = clear();
        for index in 0..3 {
            let shown = &mut rig.shared.borrow_mut().servers[index].shown;
            shown.insert("wsrep_sst_method".into(), Some("rsync".into()));
        }
        let operator = Operator::new(&rig, "root@db1");
        let mut tried = vec![Change::new(Verb::Enable, wish.iter().copied())];
        let mut asked = tried[0].clone();
        let plan = loop {
            let refused = match operator.plan(&asked) {
                Ok(plan) => break plan,
                Err(refused) => refused.to_string(),
            };
            let (_, rest) =
                refused.split_once("next: sealion plan enable ").unwrap_or_else(|| panic!("{refused}"));
            let nouns = rest.split([' ', '\n']).next().expect("a word").split(',');
            let nouns: Vec<Noun> = nouns.map(|noun| noun.parse().expect("a noun")).collect();
            asked = Change::new(Verb::Enable, nouns);
            assert!(!tried.contains(&asked), "{tried:?} lead in a circle: {refused}");
            tried.push(asked.clone());
        };
        // What was wished is never lost on the way; require-tls is a part of clients.
        let kept =
            |noun: &&Noun| asked.has(**noun) || (**noun == Noun::RequireTls && asked.has(Noun::Clients));
        assert!(plan.changes_anything() && wish.iter().all(|noun| kept(&noun)), "{tried:?}");
        assert!(wish == [Noun::Replication] || tried.len() > 1, "{tried:?}: nothing was refused");
    }
}

/// What nobody could bring back is refused before anything is touched.
#[test]
fn what_does_not_fit_into_an_estate_is_refused() {
    let refused = |spoil: &dyn Fn(&mut World), change: &Change| {
        let rig = clear();
        spoil(&mut rig.shared.borrow_mut());
        let stops = rig.shared.borrow().stops.len();
        let refused = Operator::new(&rig, "root@db1").plan(change).expect_err("refused").to_string();
        assert_eq!(rig.shared.borrow().stops.len(), stops);
        refused
    };
    // A node of the cluster that is a replica, too.
    let channel = |world: &mut World| {
        let mut channel = world.servers[8].channels[0].clone();
        channel.source = 7;
        world.servers[0].channels.push(channel);
    };
    let text = refused(&channel, &enable());
    assert!(text.contains("n1: it is a node of a Galera cluster, and replicates from"), "{text}");
    // A server that would join at its next start.
    let wsrep = |world: &mut World| {
        let file = testbed::sim::world::SERVER_FILE;
        let text = world.servers[7].disk.text(file).expect("there") + "wsrep_on=ON\n";
        world.servers[7].disk.put(file, text, 0, 0o644);
    };
    let text = refused(&wsrep, &enable());
    assert!(text.contains("n8: it runs outside of the Galera cluster"), "{text}");
    // One that is down.
    let text = refused(&|world| world.kill(3), &enable());
    assert!(text.contains("n4: the node is down"), "{text}");
    let text = refused(&|world| world.kill(1), &enable());
    assert!(text.contains("n2: the node is down"), "{text}");
    // A member that the inventory does not have.
    let mut rig = clear();
    rig.inventory.retain(|index| *index != 2);
    let text = Operator::new(&rig, "root@db1").plan(&enable()).expect_err("refused").to_string();
    assert!(text.contains("1 members are not in the inventory"), "{text}");
}

/// The cluster's own: an arbitrator is of its part, and a proxy of which the inventory says that it does not lead to the servers beside the
/// cluster does not keep them from being restarted.
#[test]
fn an_arbitrator_and_a_proxy_are_the_clusters() {
    let rig = clear_with_more();
    let before = rig.shared.borrow().letters();
    let plan = must(&rig, &enable());
    let of_arbitrator = plan.steps.iter().filter(|step| step.nodes == ["garb1".into()]);
    let parts: Vec<Option<&str>> = of_arbitrator.map(|step| step.part.as_deref()).collect();
    assert!(parts.len() >= 3 && parts.iter().all(|part| *part == Some("galera")), "{parts:?}");
    assert_eq!(rig.shared.borrow().letters(), format!("S{SEALED}"));
    let told = rig.shared.borrow().proxies[0].told.len();
    assert!(told >= 12, "two rounds of three nodes are drained and put back: {told}");
    must(&rig, &Change::new(Verb::Rotate, NOUNS));
    let plan = must(&rig, &Change::new(Verb::Rotate, [Noun::Ca]));
    let gate = plan.steps.iter().find(|step| step.id.0 == "R3.look").expect("a gate of all");
    assert_eq!((gate.nodes.len(), &gate.part), (10, &None));

    let rig = clear_with_more();
    let operator = Operator::new(&rig, "root@db1");
    assert!(operator.apply(&operator.plan(&enable()).expect("a plan")).is_complete());
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), before);

    // One that may lead to a server that nobody would drain there.
    let rig = clear_with_more();
    rig.shared.borrow_mut().proxies[0].spec.servers.remove(&model::NodeName::from("n9"));
    let refused = Operator::new(&rig, "root@db1").plan(&enable()).expect_err("it is refused").to_string();
    let names_it = refused.contains("n9: it would be restarted without a drain");
    assert!(names_it && refused.contains("servers = { n9 = [] }") && !refused.contains("n5: "), "{refused}");
}

/// A larger cluster has steps of its own between the phases, which keep their places.
#[test]
fn a_cluster_of_five_is_sealed_with_the_servers_beside_it() {
    let rig = Rig::on(World::beside(World::cluster(seed(), 5)));
    let before = rig.shared.borrow().letters();
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&enable()).expect("a plan");
    let phases: Vec<&str> = plan.steps.iter().map(|step| step.id.0.split('.').next().unwrap_or("")).collect();
    assert!(phases.contains(&"E1p"), "{phases:?}");
    assert!(phases.is_sorted(), "{phases:?}");
    assert!(operator.apply(&plan).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), format!("SS{SEALED}"));
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), before);
}

/// Given up half way, a new plan leads on from there.
#[test]
fn an_abandoned_change_is_told_of_each_part_and_a_new_one_finishes_it() {
    for moment in ["E2.n4:acting", "E2.n2:verifying", "E3.n7:acting", "E4.n3:acting", "E5.n8:verifying"] {
        let base = clear();
        let clean = crate::kill_matrix::rehearse(&base, &enable());
        let at = clean.instants.iter().position(|instant| instant.moment == moment).expect("a moment");
        let rig = base.fork(seed());
        let operator = Operator::new(&rig, "root@db1");
        let plan = operator.plan(&enable()).expect("a plan");
        rig.arm(Some((at, Fault::KillSealion)));
        assert_eq!(operator.apply(&plan), End::Killed, "{moment}");
        rig.arm(None);
        let said = rig.shared.borrow().said.len();
        assert!(operator.abandon().is_complete(), "{moment}");
        let said = rig.shared.borrow().said[said..].join("\n");
        for part in ["n1: ", "speaks ", "n4: clients ", "replicates from "] {
            assert!(said.contains(part), "{moment} {part}: {said}");
        }
        rig.shared.borrow_mut().advance(70_000);
        let end =
            operator.apply(&operator.plan(&enable()).unwrap_or_else(|error| panic!("{moment}: {error}")));
        assert!(end.is_complete(), "{moment}: {end:?}");
        settled(&rig);
        assert_eq!(rig.shared.borrow().letters(), SEALED, "{moment}");
    }
}

/// A new server joins the cluster of a sealed estate, and nobody else is touched.
#[test]
fn a_server_joins_the_cluster_of_an_estate() {
    let mut rig = Rig::on(World::beside(World::with_spare(seed(), 3)));
    rig.inventory.retain(|index| *index != 3);
    must(&rig, &enable());
    rig.inventory.insert(3, 3);
    rig.shared.borrow_mut().stops.clear();
    let plan = must(&rig, &Change::join("n4".into()));
    assert!(plan.steps.iter().all(|step| step.part.as_deref() != Some("replication")));
    assert_eq!(rig.shared.borrow().stops, [0; 0]);
    assert!(rig.shared.borrow().letters().starts_with("SSSSRs"), "{}", rig.shared.borrow().letters());
    assert!(Operator::new(&rig, "root@long-ago").go_on(Some(Direction::Back)).is_complete());
    assert!(rig.shared.borrow().letters().starts_with("SSS-Rs"), "{}", rig.shared.borrow().letters());
}

/// What a person runs without sealion: a shell takes all of it, each line that does something stands in a part for one machine, and each
/// server is spoken to by the client of its own package.
#[test]
fn runbooks_of_all_changes_are_shell_and_each_part_is_for_one_machine() {
    let clear = clear_with_more();
    let sealed = clear.fork(seed());
    must(&sealed, &enable());
    let mut joining = Rig::on(World::beside(World::with_spare(seed(), 3)));
    joining.inventory.retain(|index| *index != 3);
    must(&joining, &enable());
    joining.inventory.insert(3, 3);
    let all = [
        (&clear, enable()),
        (&clear, Change::new(Verb::Enable, [Noun::Sst, Noun::Replication, Noun::Clients, Noun::Accounts])),
        // MySQL cannot be made to offer no TLS.
        (&sealed, Change::new(Verb::Disable, [Noun::Galera, Noun::Sst, Noun::Replication, Noun::RequireTls])),
        (&sealed, Change::new(Verb::Rotate, NOUNS)),
        (&sealed, Change::new(Verb::Rotate, [Noun::Ca])),
        (&joining, Change::join("n4".into())),
    ];
    for (rig, change) in all {
        let plan =
            Operator::new(rig, "root@db1").plan(&change).unwrap_or_else(|error| panic!("{change}: {error}"));
        let lines = plan.steps.iter().flat_map(providers::by_hand::of_step);
        let lines: Vec<String> =
            lines.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        let (mut within, mut is_patch, mut parts) = (None, false, 0);
        for line in &lines {
            if let Some(rest) = line.strip_prefix("( set -euo pipefail") {
                assert_eq!(within, None, "{change}: {line}");
                let name =
                    rest.strip_prefix("; on ").map_or("", |rest| rest.split(' ').next().expect("a name"));
                (within, parts) = (Some(name.to_owned()), parts + 1);
            } else if line == ")" {
                assert!(within.take().is_some(), "{change}: a part ends that has not begun");
            } else if is_patch || line.starts_with('#') || line.is_empty() {
                is_patch &= line != "SEALION";
            } else {
                let name = within.clone().unwrap_or_else(|| panic!("{change}: of no machine: {line}"));
                is_patch = line.starts_with("patch ");
                let server =
                    rig.shared.borrow().servers.iter().find(|server| server.name().as_str() == name).map(
                        |server| {
                            (
                                server.spec.service == host::Service::Systemd { unit: "mysql".into() },
                                server.is_arbitrator,
                            )
                        },
                    );
                if let Some((is_mysql, is_arbitrator)) = server {
                    assert!(
                        !line.starts_with("mariadb ") || !is_mysql && !is_arbitrator,
                        "{change}: {name}: {line}"
                    );
                    assert!(!line.starts_with("mysql ") || is_mysql, "{change}: {name}: {line}");
                    assert!(!is_arbitrator || !line.contains("-o mysql"), "{change}: {name}: {line}");
                }
            }
        }
        assert!(within.is_none() && parts > 2, "{change}: {parts} parts");
        for step in plan.steps.iter().filter(|step| !step.restarts_server) {
            let restarts = step.shell.iter().any(|line| line.starts_with("systemctl"));
            assert!(!restarts, "{change}: {} restarts nothing: {:?}", step.id, step.shell);
        }
        let script =
            [vec!["#!/usr/bin/env bash".to_owned()], providers::by_hand::head(), lines].concat().join("\n")
                + "\n";
        let dir = tempfile::tempdir().expect("tmp");
        let file = dir.path().join("runbook");
        std::fs::write(&file, &script).expect("writable");
        let check = |program: &str, argument: &str| {
            std::process::Command::new(program).arg(argument).arg(&file).output()
        };
        let said = check("bash", "-n").expect("bash");
        assert!(
            said.status.success() && said.stderr.is_empty(),
            "{change}: {}\n{script}",
            String::from_utf8_lossy(&said.stderr)
        );
        // A second opinion where it is installed.
        if let Ok(said) = check("shellcheck", "--severity=warning") {
            assert!(said.status.success(), "{change}: {}", String::from_utf8_lossy(&said.stdout));
        }
    }
}
