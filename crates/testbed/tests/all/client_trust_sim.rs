//! Certificates of clients, in the simulated world: servers take them from clients, no Galera node takes them for a member's, and neither a rotation nor a
//! kill loses the CA that signs them.

use change::{Direction, Outcome};
use change_ops::gates::Gates;
use model::{Change, Noun, Verb};
use server::accounts::{Account, AccountName, AccountTls};
use server::node::{CA_FILE, CLIENT_CA_FILE};
use testbed::sim::process::Server;
use testbed::sim::{End, Fault, Operator, Rig, World};
use trust::{Clients, KeyKind};

use crate::kill_matrix::{BOTH, check_some, seed};

/// 2026-11-21T00:00:00Z, when the worlds begin.
const BEGAN_UNIX_S: i64 = 1_795_219_200;

const KILLS: [Fault; 3] = [Fault::KillSealion, Fault::PowerCut, Fault::DiskFull];

fn galera() -> Rig {
    Rig::on(World::cluster(seed(), 3))
}

fn mariadb() -> Rig {
    Rig::on(World::replicas(seed(), &[vec![], vec![0]]))
}

fn mysql() -> Rig {
    Rig::on(World::replicas_of_mysql(seed(), &[vec![], vec![0]]))
}

fn enable(rig: &Rig) -> Change {
    let is_galera = rig.shared.borrow().servers.iter().any(|server| {
        server.disk.entries.values().any(|entry| {
            entry
                .bytes
                .as_ref()
                .is_some_and(|bytes| String::from_utf8_lossy(bytes).contains("wsrep_provider"))
        })
    });
    Change::new(Verb::Enable, if is_galera { Noun::ALL.to_vec() } else { Noun::OF_REPLICAS.to_vec() })
}

fn clients_of(rig: &Rig) -> Clients {
    Clients::of(&rig.ca_dir())
}

/// The certificate of a client; its CA is made with the first one.
fn client(rig: &Rig, name: &str) -> String {
    let (clients, passphrase) = (clients_of(rig), rig.passphrase.clone().into());
    let ca = clients.open_or_make("sim", &passphrase, BEGAN_UNIX_S).expect("opens");
    clients.issue(&ca, name, 300, KeyKind::EcP256, BEGAN_UNIX_S).expect("issued").leaf.cert_pem
}

fn must(rig: &Rig, change: &Change) {
    let operator = Operator::new(rig, "root@long-ago");
    let end = operator.apply(&operator.plan(change).expect("a plan"));
    assert!(end.is_complete(), "{change}: {end:?}");
    settled(rig);
}

fn settled(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    let settles_ms = world.settles_ms();
    assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    assert_eq!((world.lost(), world.violations.clone()), (vec![], vec![]));
}

/// Whether each running server lets this certificate in at its client port, and at its Galera port.
fn taken(rig: &Rig, cert: &str) -> Vec<(bool, bool)> {
    let world = rig.shared.borrow();
    let holds = |trusted: &[u8]| trust::client_chain_ok(cert.as_bytes(), trusted, world.unix_s()).is_ok();
    let of_server = |server: &Server| {
        let live = server.live.as_ref().expect("it runs");
        let by_clients = live.client.as_ref().and_then(|client| client.ca.as_deref());
        let by_members = live.galera.as_ref().map(|identity| identity.trusted.as_slice());
        (by_clients.is_some_and(holds), by_members.is_some_and(holds))
    };
    world.servers.iter().map(of_server).collect()
}

fn all(rig: &Rig, answer: (bool, bool)) -> Vec<(bool, bool)> {
    vec![answer; rig.shared.borrow().servers.len()]
}

const AS_A_CLIENT: (bool, bool) = (true, false);
const NOWHERE: (bool, bool) = (false, false);

/// The certificate that a member shows to others.
fn own_leaf(rig: &Rig) -> String {
    let world = rig.shared.borrow();
    let path = world.servers[0].spec.tls_dir.join("node-cert.pem");
    world.servers[0].disk.text(path.to_str().expect("text")).expect("it is there")
}

#[test]
fn enable_does_it_in_the_same_pass_and_undo_takes_it_back() {
    for (rig, restarts) in [(galera(), 6), (mariadb(), 2), (mysql(), 0)] {
        let before = rig.shared.borrow().user_files();
        let cert = client(&rig, "app");
        let operator = Operator::new(&rig, "root@db1");
        let end = operator.apply(&operator.plan(&enable(&rig)).expect("a plan"));
        assert!(end.is_complete(), "{end:?}");
        settled(&rig);
        assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT));
        assert_eq!(rig.shared.borrow().stops.len(), restarts, "no more than without it");
        assert!(operator.go_on(Some(Direction::Back)).is_complete());
        settled(&rig);
        assert_eq!(rig.shared.borrow().user_files(), before);
        let noted = "/var/lib/sealion/client-ca.pem";
        assert!(rig.shared.borrow().servers.iter().all(|server| server.disk.text(noted).is_none()));
    }
}

#[test]
fn a_server_that_serves_clients_already_learns_it_by_one_restart_or_by_none() {
    for (rig, restarts) in [(galera(), 3), (mariadb(), 2), (mysql(), 0)] {
        let change = enable(&rig);
        must(&rig, &change);
        let cert = client(&rig, "app");
        assert_eq!(taken(&rig, &cert), all(&rig, NOWHERE));
        rig.shared.borrow_mut().stops.clear();
        must(&rig, &change);
        assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT));
        assert_eq!(rig.shared.borrow().stops.len(), restarts);
        // There is nothing more to do.
        let plan = Operator::new(&rig, "root@db1").plan(&change).expect("a plan");
        assert!(plan.steps.iter().all(|step| step.no_op || step.only_looks), "{:#?}", plan.steps);

        // The CA of clients is another one: the file is as the wish, and nobody is restarted.
        let dir = clients_of(&rig).dir().to_owned();
        std::fs::rename(&dir, dir.with_extension("old")).expect("ours");
        let of_another = client(&rig, "app");
        rig.shared.borrow_mut().stops.clear();
        must(&rig, &change);
        assert_eq!(
            (taken(&rig, &cert), taken(&rig, &of_another)),
            (all(&rig, NOWHERE), all(&rig, AS_A_CLIENT))
        );
        // And there is none any more.
        std::fs::remove_dir_all(&dir).expect("ours");
        must(&rig, &change);
        assert_eq!(taken(&rig, &of_another), all(&rig, NOWHERE));
        assert_eq!(
            taken(&rig, &own_leaf(&rig)).iter().filter(|(client, _)| *client).count(),
            all(&rig, NOWHERE).len()
        );
        assert_eq!(rig.shared.borrow().stops, [0; 0]);
    }
}

#[test]
fn rotations_keep_the_ca_of_clients_and_servers_know_each_other_beside_it() {
    for rig in [galera(), mariadb(), mysql()] {
        let cert = client(&rig, "app");
        must(&rig, &enable(&rig));
        let first = own_leaf(&rig);
        let rotate: Vec<Noun> = vec![];
        must(&rig, &Change::new(Verb::Rotate, rotate));
        assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT), "rotate");
        let operator = Operator::new(&rig, "root@db1");
        let plan = operator.plan(&Change::new(Verb::Rotate, [Noun::Ca])).expect("a plan");
        let end = operator.apply(&plan);
        assert!(end.is_complete(), "{end:?}");
        settled(&rig);
        assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT), "rotate ca");
        // A server is a client of others too, with a certificate of the new CA; one of the old CA is let in nowhere.
        assert!(taken(&rig, &own_leaf(&rig)).iter().all(|(client, _)| *client));
        assert_eq!(taken(&rig, &first), all(&rig, NOWHERE));
        assert!(operator.go_on(Some(Direction::Back)).is_complete());
        settled(&rig);
        assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT), "undo");
        assert!(taken(&rig, &first).iter().all(|(client, _)| *client));
    }
}

#[test]
fn disable_takes_the_file_away_and_its_undo_brings_it_back() {
    for rig in [galera(), mariadb()] {
        let cert = client(&rig, "app");
        let change = enable(&rig);
        must(&rig, &change);
        let operator = Operator::new(&rig, "root@db1");
        let plan = operator.plan(&Change { verb: Verb::Disable, ..change }).expect("a plan");
        assert!(operator.apply(&plan).is_complete());
        settled(&rig);
        let is_left = |server: &Server| {
            let path = server.spec.tls_dir.join(CLIENT_CA_FILE);
            server.disk.text(path.to_str().expect("text")).is_some()
        };
        assert!(!rig.shared.borrow().servers.iter().any(is_left));
        assert!(operator.go_on(Some(Direction::Back)).is_complete());
        settled(&rig);
        assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT));
    }
}

/// Somebody puts the CA of clients where members are judged, and the node reads that.
fn spoil(rig: &Rig) {
    let ca = clients_of(rig).ca_pem().expect("readable").expect("made");
    let mut world = rig.shared.borrow_mut();
    let path = world.servers[1].spec.tls_dir.join(CA_FILE);
    let entry = world.servers[1].disk.entries.get_mut(&path).expect("placed");
    entry.bytes.as_mut().expect("a file").extend_from_slice(ca.as_bytes());
    world.reload(1).expect("it reads it");
}

#[test]
fn a_member_that_would_take_a_client_for_a_member_stops_the_change() {
    let base = galera();
    let change = enable(&base);
    must(&base, &change);
    let cert = client(&base, "app");

    // Before.
    let rig = base.fork(seed());
    spoil(&rig);
    let refused = Operator::new(&rig, "root@db1").plan(&change).expect_err("refused").to_string();
    assert!(refused.contains("the CA of clients is in /etc/mysql/sealion/ca.pem"), "{refused}");

    // On the way, after its own restart.
    let rig = base.fork(seed());
    let mut operator = Operator::new(&rig, "root@db1");
    operator.gates(Gates { stop_after: Some("E2.n1".into()), ..Gates::default() });
    let held = operator.apply(&operator.plan(&change).expect("a plan"));
    assert!(matches!(held, End::Outcome(Outcome::Held { .. })), "{held:?}");
    spoil(&rig);
    assert!(taken(&rig, &cert)[1].1, "the trap is set");
    operator.gates(Gates::default());
    let text = operator.go_on(None).text();
    assert!(text.contains("n2 takes a client's certificate for a member's"), "{text}");
}

/// Found by an outsider: the garbd of a cluster took what its nodes refused.
#[test]
fn an_arbitrator_takes_no_client_for_a_member_either() {
    let rig = Rig::on(World::cluster_with_arbitrator(seed(), 3));
    let change = enable(&rig);
    must(&rig, &change);
    client(&rig, "app");
    let ca = clients_of(&rig).ca_pem().expect("readable").expect("made");
    let add = |rig: &Rig| {
        let mut world = rig.shared.borrow_mut();
        let at = world.servers.iter().position(|server| server.is_arbitrator).expect("there is one");
        let path = world.servers[at].spec.tls_dir.join(CA_FILE);
        let entry = world.servers[at].disk.entries.get_mut(&path).expect("placed");
        entry.bytes.as_mut().expect("a file").extend_from_slice(ca.as_bytes());
        at
    };
    let spoilt = rig.fork(seed());
    add(&spoilt);
    let refused = Operator::new(&spoilt, "root@db1").plan(&change).expect_err("refused").to_string();
    assert!(refused.contains("an arbitrator lets in as a member"), "{refused}");

    let mut operator = Operator::new(&rig, "root@db1");
    operator.gates(Gates { stop_after: Some("E2.n1".into()), ..Gates::default() });
    let held = operator.apply(&operator.plan(&change).expect("a plan"));
    assert!(matches!(held, End::Outcome(Outcome::Held { .. })), "{held:?}");
    let at = add(&rig);
    rig.shared.borrow_mut().stop(at);
    rig.shared.borrow_mut().start(at);
    let settles_ms = rig.shared.borrow().settles_ms();
    rig.shared.borrow_mut().advance(settles_ms);
    operator.gates(Gates::default());
    let text = operator.go_on(None).text();
    assert!(text.contains("takes a client's certificate for a member's"), "{text}");
}

/// Found by an outsider: the directory was lost, or lay on another machine, and whoever had a certificate was shut out.
#[test]
fn a_ca_on_which_accounts_depend_is_not_taken_away_unasked() {
    for mut rig in [galera(), mysql()] {
        let change = enable(&rig);
        client(&rig, "app");
        must(&rig, &change);
        rig.shared.borrow_mut().accounts.push(Account {
            name: AccountName { user: "app".into(), host: "%".into() },
            tls: AccountTls::Certificate,
            is_local: false,
            is_own: false,
        });
        // It is by the files: a note that is gone is no CA that is gone, and what cannot be read is not nothing.
        let without = |path: std::path::PathBuf| {
            let rig = rig.fork(seed());
            rig.shared.borrow_mut().servers[0].disk.entries.remove(&path).expect("it is there");
            Operator::new(&rig, "root@db1").plan(&change).map_err(|error| error.to_string())
        };
        without("/var/lib/sealion/client-ca.pem".into()).expect("a plan");
        let path = rig.shared.borrow().servers[0].spec.tls_dir.join(CLIENT_CA_FILE);
        let why = without(path).expect_err("refused");
        assert!(why.contains("cannot be told") && why.contains("client-ca.pem is not there"), "{why}");

        let dir = clients_of(&rig).dir().to_owned();
        std::fs::rename(&dir, dir.with_extension("aside")).expect("ours");
        let refused =
            |rig: &Rig| Operator::new(rig, "root@db1").plan(&change).expect_err("refused").to_string();
        assert!(
            refused(&rig).contains("these accounts require a certificate: 'app'@'%'"),
            "{}",
            refused(&rig)
        );
        client(&rig, "other");
        assert!(
            refused(&rig).contains("these accounts require a certificate: 'app'@'%'"),
            "{}",
            refused(&rig)
        );
        let told = Operator::new(&rig, "root@db1").undo_warnings().join("\n");
        assert!(told.contains("'app'@'%'"), "{told}");
        rig.accept_shut_out = true;
        must(&rig, &change);
    }
}

#[test]
fn what_cannot_be_kept_or_shown_at_the_end_is_refused_before_the_first_step() {
    let rig = galera();
    let change = enable(&rig);
    client(&rig, "app");
    let key = clients_of(&rig).dir().join("ca-key.pem");
    let aside = key.with_extension("aside");
    std::fs::rename(&key, &aside).expect("ours");
    let refused =
        |change: &Change| Operator::new(&rig, "root@db1").plan(change).expect_err("refused").to_string();
    let text = refused(&change);
    assert!(text.contains("the CA of clients in ") && text.contains("cannot be used"), "{text}");
    std::fs::rename(&aside, &key).expect("ours");
    must(&rig, &change);
    // Without the note a rotation would leave the file as it is, and shut out servers of the next CA.
    let noted = std::path::Path::new("/var/lib/sealion/client-ca.pem");
    rig.shared.borrow_mut().servers[2].disk.entries.remove(noted).expect("it is noted");
    let text = refused(&Change::new(Verb::Rotate, [Noun::Ca]));
    assert!(text.contains("n3: it is not known which CA of clients"), "{text}");
    must(&rig, &change);
    must(&rig, &Change::new(Verb::Rotate, [Noun::Ca]));
}

#[test]
fn all_parts_of_an_estate_take_clients_and_one_look_is_at_all_of_them() {
    let rig = Rig::on(World::estate(seed()));
    let cert = client(&rig, "app");
    let change = Change::new(Verb::Enable, [Noun::Galera, Noun::Sst, Noun::Replication, Noun::Clients]);
    let plan = Operator::new(&rig, "root@db1").plan(&change).expect("a plan");
    let looks: Vec<_> = plan.steps.iter().filter(|step| step.kind == "client-trust-gate").collect();
    assert_eq!(looks.iter().map(|step| step.nodes.len()).collect::<Vec<_>>(), [rig.inventory.len()]);
    must(&rig, &change);
    assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT));
    must(&rig, &Change::new(Verb::Rotate, [Noun::Ca]));
    assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT));
    assert!(
        taken(&rig, &own_leaf(&rig)).iter().all(|(client, _)| *client),
        "a server of any part is a client of any other"
    );
}

#[test]
fn a_server_that_joins_takes_clients_as_the_others_do() {
    let mut rig = Rig::on(World::with_spare(seed(), 3));
    rig.inventory.pop();
    let cert = client(&rig, "app");
    must(&rig, &Change::new(Verb::Enable, Noun::ALL));
    rig.inventory.push(3);
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&Change::join("n4".into())).expect("a plan");
    assert!(operator.apply(&plan).is_complete());
    settled(&rig);
    assert_eq!(taken(&rig, &cert), all(&rig, AS_A_CLIENT));
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    let world = rig.shared.borrow();
    let spare = world.servers.last().expect("there is one");
    assert!(spare.disk.text("/etc/mysql/sealion/client-ca.pem").is_none());
}

#[test]
fn transfers_without_a_ca_of_their_own_are_not_judged_by_the_one_of_clients() {
    let rig = galera();
    client(&rig, "app");
    let change = Change::new(Verb::Enable, [Noun::Clients]);
    let refused = Operator::new(&rig, "root@db1").plan(&change).expect_err("refused").to_string();
    assert!(refused.contains("would be taken for those of nodes in state transfers"), "{refused}");
}

/// Served already, so that the new steps and the restarts behind them are all there is.
fn learns_it(rig: &Rig) -> (Rig, Change) {
    let change = enable(rig);
    must(rig, &change);
    client(rig, "app");
    (rig.fork(seed()), change)
}

#[test]
fn trust_in_clients_survives_kills_in_a_cluster() {
    let (rig, change) = learns_it(&galera());
    check_some(&rig, &change, &KILLS, &BOTH, 5);
}

#[test]
fn trust_in_clients_survives_kills_beside_channels() {
    for rig in [mariadb(), mysql()] {
        let (rig, change) = learns_it(&rig);
        check_some(&rig, &change, &KILLS, &BOTH, 3);
    }
}

#[test]
fn rotations_that_are_killed_keep_the_ca_of_clients() {
    let rig = galera();
    client(&rig, "app");
    must(&rig, &enable(&rig));
    check_some(&rig.fork(seed()), &Change::new(Verb::Rotate, [Noun::Ca]), &KILLS, &BOTH, 17);
}
