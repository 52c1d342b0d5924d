//! Traps of real servers in replication, clients and accounts, each with a test of its name (MariaDB 10.11.19, MySQL 9.7.4).
//!
//! Those of MySQL's reload, of passwords that need TLS and of accounts that travel are in [`super::mysql_sim`]; the silent downgrade of
//! MariaDB and its error 1198 in [`super::replicas_sim`]; who would be cut off in [`super::accounts_sim`]. What only real servers can show
//! is in [`super::lab_replicas`].

use model::{Change, Noun, Verb};
use server::accounts::AccountTls;
use server::{ChannelTls, LiveSetting};
use testbed::sim::channels::{RETRY_MS, Receiver};
use testbed::sim::{Operator, Rig, World};
use trust::{Ca, CaSpec, KeyKind};

use crate::kill_matrix::seed;

const CERT: &str = "/etc/mysql/sealion/node-cert.pem";
const KEY: &str = "/etc/mysql/sealion/node-key.pem";
const CA: &str = "/etc/mysql/sealion/ca.pem";

fn mariadb() -> Rig {
    Rig::on(World::replicas(seed(), &[vec![], vec![0], vec![0]]))
}

fn mysql() -> Rig {
    Rig::on(World::replicas_of_mysql(seed(), &[vec![], vec![0], vec![0]]))
}

fn enable(nouns: impl IntoIterator<Item = Noun>) -> Change {
    Change::new(Verb::Enable, nouns)
}

fn disable(nouns: impl IntoIterator<Item = Noun>) -> Change {
    Change::new(Verb::Disable, nouns)
}

fn must(rig: &Rig, change: &Change) {
    let operator = Operator::new(rig, "root@db1");
    let end = operator.apply(&operator.plan(change).expect("a plan"));
    assert!(end.is_complete(), "{change}: {end:?}");
    let mut world = rig.shared.borrow_mut();
    let settles_ms = world.settles_ms();
    assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    assert_eq!((world.lost(), world.violations.clone()), (vec![], vec![]));
}

fn sealed(rig: Rig) -> Rig {
    must(&rig, &enable(Noun::OF_REPLICAS));
    rig
}

fn refused(rig: &Rig, change: &Change) -> String {
    Operator::new(rig, "root@db1").plan(change).expect_err("refused").to_string()
}

fn impact(rig: &Rig, change: &Change) -> String {
    Operator::new(rig, "root@db1").plan(change).expect("a plan").impact.join("\n")
}

/// The replica's channel is told to connect so, and what it says a second later.
fn connects(world: &mut World, index: usize, tls: &ChannelTls) -> String {
    world.stop_slave(index, "").expect("it has one");
    world.change_master(index, "", tls).expect("it is stopped");
    world.start_slave(index, "").expect("it has one");
    world.advance(1_000);
    world.servers[index].channels[0].error.clone().unwrap_or_default()
}

/// A CA for one day that has an hour left.
fn short_lived(rig: &Rig) {
    let spec = CaSpec { common_name: "short-lived".into(), valid_days: 1, key: KeyKind::EcP256 };
    let now = rig.shared.borrow().unix_s();
    let ca = Ca::create(&spec, now - 86_400 + 3_600).expect("made");
    ca.save(&rig.ca_dir(), &rig.passphrase.clone().into()).expect("saved");
}

#[test]
fn flush_ssl_of_mariadb_takes_an_expired_certificate_and_sealion_does_not_hand_it_one() {
    let rig = mariadb();
    short_lived(&rig);
    let rig = sealed(rig);
    rig.shared.advance(3_700_000);
    rig.shared.borrow_mut().reload(0).expect("taken without a word");

    let rig = mariadb();
    short_lived(&rig);
    rig.shared.advance(3_700_000);
    let operator = Operator::new(&rig, "root@db1");
    let end = match operator.plan(&enable(Noun::OF_REPLICAS)) {
        Ok(plan) => operator.apply(&plan).text(),
        Err(error) => error.to_string(),
    };
    assert!(end.contains("expired"), "{end}");
    assert_eq!(rig.shared.borrow().letters(), "PPcPc");
    assert_eq!(rig.shared.borrow().stops, [0; 0]);
}

#[test]
fn flush_ssl_with_a_key_of_another_certificate_is_1105_and_the_old_one_is_served_on() {
    let rig = sealed(mariadb());
    let mut world = rig.shared.borrow_mut();
    let served = |world: &World| {
        world.servers[0].live.as_ref().and_then(|live| live.client.as_ref()).expect("one").leaf.clone()
    };
    let before = served(&world);
    for file in [CERT, KEY] {
        let other = world.servers[1].disk.text(file).expect("placed");
        world.servers[0].disk.put(file, other, 999, 0o600);
        if file == CERT {
            assert!(world.reload(0).is_err_and(|error| error.contains("1105")));
            assert_eq!(served(&world), before);
        }
    }
    world.reload(0).expect("a pair again");
    assert_ne!(served(&world), before);
}

/// A reload that failed is not the end of it: what lies on the disk counts at the next start.
#[test]
fn with_a_pair_that_does_not_match_mariadb_does_not_start_and_mysql_starts_without_tls() {
    for (rig, letters) in [(sealed(mariadb()), "-"), (sealed(mysql()), "R")] {
        let mut world = rig.shared.borrow_mut();
        let other = world.servers[1].disk.text(KEY).expect("placed");
        world.servers[0].disk.put(KEY, other, 999, 0o600);
        world.kill(0);
        world.start(0);
        world.advance(5_000);
        assert_eq!(&world.letters()[..1], letters);
        let client = world.servers[0].live.as_ref().and_then(|live| live.client.as_ref());
        assert!(client.is_none());
    }
}

#[test]
fn mariadb_without_tls_takes_a_certificate_only_at_a_start() {
    let rig = mariadb();
    assert!(rig.shared.borrow_mut().reload(0).is_err());
    must(&rig, &enable(Noun::OF_REPLICAS));
    let mut stops = rig.shared.borrow().stops.clone();
    stops.sort_unstable();
    assert_eq!(stops, [0, 1, 2]);
}

#[test]
fn mysql_cannot_be_made_to_offer_no_tls_while_it_runs() {
    let rig = sealed(mysql());
    let why = refused(&rig, &disable(Noun::OF_REPLICAS));
    assert!(why.contains("cannot be made to offer no TLS") && why.contains("sealion undo"), "{why}");
}

#[test]
fn a_channel_that_mysql_encrypts_by_default_takes_any_certificate_until_it_is_told_to_verify() {
    let rig = mysql();
    let mut world = rig.shared.borrow_mut();
    assert_eq!(world.letters(), "TTcTu");
    // Its source serves the certificate of another server: nobody notices.
    for file in ["server-cert.pem", "server-key.pem", "ca.pem"] {
        let path = format!("/var/lib/mysql/{file}");
        world.servers[0].disk.entries.remove(std::path::Path::new(&path));
    }
    let spec = CaSpec { common_name: "mallory".into(), valid_days: 30, key: KeyKind::EcP256 };
    let mallory = Ca::create(&spec, world.unix_s()).expect("made");
    let leaf = trust::LeafSpec {
        common_name: "another host".into(),
        dns: vec![],
        ips: vec![],
        valid_days: 30,
        key: KeyKind::EcP256,
        not_before_unix: None,
        not_after_unix: None,
    };
    let leaf = mallory.issue(&leaf, world.unix_s()).expect("issued");
    let key = secrecy::ExposeSecret::expose_secret(&leaf.key_pem).to_owned();
    for (file, pem) in
        [("server-cert.pem", leaf.cert_pem), ("server-key.pem", key), ("ca.pem", mallory.cert_pem())]
    {
        world.servers[0].disk.put(&format!("/var/lib/mysql/{file}"), pem, 999, 0o600);
    }
    world.reload(0).expect("sound by itself");
    let as_it_is = world.servers[2].channels[0].tls.clone();
    assert_eq!(connects(&mut world, 2, &as_it_is), "");
    assert_eq!(world.letters(), "TTcTu");
    let told = ChannelTls { verifies: true, ..as_it_is };
    assert!(connects(&mut world, 2, &told).starts_with("2026 "));
}

#[test]
fn a_wrong_ca_and_a_name_that_is_not_in_the_certificate_are_2026() {
    for rig in [sealed(mariadb()), sealed(mysql())] {
        let mut world = rig.shared.borrow_mut();
        let sound = world.servers[1].channels[0].tls.clone();
        let spec = CaSpec { common_name: "other".into(), valid_days: 30, key: KeyKind::EcP256 };
        let other = Ca::create(&spec, world.unix_s()).expect("made").cert_pem();
        world.servers[1].disk.put("/etc/mysql/other-ca.pem", other, 0, 0o644);
        let wrong_ca = ChannelTls { ca: "/etc/mysql/other-ca.pem".into(), ..sound.clone() };
        assert!(connects(&mut world, 1, &wrong_ca).starts_with("2026 "));
        // A CA that is given is checked, also by who does not verify the name.
        let no_name = ChannelTls { verifies: false, ..wrong_ca };
        assert!(connects(&mut world, 1, &no_name).starts_with("2026 "));
        assert_eq!(connects(&mut world, 1, &sound), "");
        // The source shows a certificate of the right CA that has another name.
        for file in [CERT, KEY] {
            let other = world.servers[2].disk.text(file).expect("placed");
            world.servers[0].disk.put(file, other, 999, 0o600);
        }
        world.reload(0).expect("a pair of its CA");
        assert!(connects(&mut world, 1, &sound).starts_with("2026 "));
        assert_eq!(connects(&mut world, 1, &ChannelTls { verifies: false, ..sound }), "");
    }
}

#[test]
fn a_source_by_a_name_that_its_certificate_would_not_have_is_refused_before() {
    for rig in [mariadb(), mysql()] {
        let mut shared = rig.shared.borrow_mut();
        // In the inventory it has another address than the one that its replicas were told of.
        shared.servers[0].spec.names = vec!["db1.example.net".into()];
        drop(shared);
        let mut rig = rig;
        rig.inventory = vec![1, 2];
        let why = refused(&rig, &enable(Noun::OF_REPLICAS));
        assert!(why.contains("is not in the inventory") && why.contains("must have the name"), "{why}");
    }
}

#[test]
fn an_account_is_not_made_to_require_tls_before_its_channels_use_it() {
    for rig in [mariadb(), mysql()] {
        let rig = sealed(rig);
        must(&rig, &disable([Noun::Replication, Noun::RequireTls]));
        let why = refused(&rig, &enable([Noun::Accounts]));
        assert!(
            why.contains("connects without TLS") && why.contains("replication,clients,accounts"),
            "{why}"
        );
        must(&rig, &enable([Noun::Replication]));
        must(&rig, &enable([Noun::Accounts]));
        let repl = rig.shared.borrow().accounts_on(0).into_iter().find(|one| one.name.user == "repl");
        assert_eq!(repl.expect("it is there").tls, AccountTls::Tls);
    }
}

/// Clients that require TLS include every MariaDB client from 11.4 on, and replicas of 11.8.
#[test]
fn who_disables_clients_is_told_that_clients_which_require_tls_cannot_connect_any_more() {
    let rig = sealed(mariadb());
    let told = impact(&rig, &disable(Noun::OF_REPLICAS));
    assert!(told.contains("clients that require it cannot connect"), "{told}");
    let why = refused(&rig, &disable([Noun::Clients]));
    assert!(why.contains("could not any more") && why.contains("replication,clients"), "{why}");
}

#[test]
fn a_refused_channel_tries_again_only_after_a_minute() {
    for rig in [sealed(mariadb()), sealed(mysql())] {
        let mut world = rig.shared.borrow_mut();
        let sound = world.servers[1].channels[0].tls.clone();
        let ca = world.servers[1].disk.text(CA).expect("placed");
        world.servers[1].disk.put(CA, "-----BEGIN CERTIFICATE-----\n", 999, 0o644);
        assert!(connects(&mut world, 1, &sound).starts_with("2026 "));
        world.servers[1].disk.put(CA, ca, 999, 0o644);
        world.advance(RETRY_MS / 2);
        assert!(matches!(world.servers[1].channels[0].receiver, Receiver::Connecting { .. }));
        world.advance(RETRY_MS);
        assert_eq!(world.servers[1].channels[0].receiver, Receiver::Running { by_tls: true });
    }
}

#[test]
fn an_sql_thread_that_stopped_without_an_error_is_seen() {
    for rig in [mariadb(), mysql()] {
        rig.shared.borrow_mut().servers[1].channels[0].applies = false;
        let why = refused(&rig, &enable(Noun::OF_REPLICAS));
        assert!(why.contains("it applies nothing") && why.contains("has no error"), "{why}");
    }
}

/// New files count for new connections: a rotation cuts no channel, and what was stolen is refused only by those who connect anew.
#[test]
fn open_channels_keep_their_session_through_a_rotation() {
    for rig in [sealed(mariadb()), sealed(mysql())] {
        let connected = |rig: &Rig| -> Vec<(Receiver, u64)> {
            let world = rig.shared.borrow();
            let channels = world.servers.iter().flat_map(|server| &server.channels);
            channels.map(|channel| (channel.receiver, channel.caught_up_ms)).collect()
        };
        let before = connected(&rig);
        must(&rig, &Change::new(Verb::Rotate, Noun::OF_REPLICAS));
        must(&rig, &Change::new(Verb::Rotate, [Noun::Ca]));
        assert_eq!(connected(&rig), before);
        // And each of them can connect anew.
        let mut world = rig.shared.borrow_mut();
        let tls = world.servers[1].channels[0].tls.clone();
        assert_eq!(connects(&mut world, 1, &tls), "");
    }
}

/// Seen on 11.8: the certificate is another one after each start and each FLUSH SSL, and has no name.
#[test]
fn the_automatic_certificate_of_mariadb_11_8_is_neither_rotated_nor_taken_for_one_of_ours() {
    let mut rig = mariadb();
    rig.allow_untested = true;
    let leaf = |world: &World| {
        world.servers[0].live.as_ref().and_then(|live| live.client.as_ref()).map(|tls| tls.leaf.clone())
    };
    {
        let mut world = rig.shared.borrow_mut();
        for index in 0..world.servers.len() {
            world.stop(index);
            world.servers[index].upgrade_to_11_8();
            world.start(index);
        }
        world.advance(5_000);
        let first = leaf(&world).expect("TLS without a file");
        world.reload(0).expect("FLUSH SSL");
        assert_ne!(leaf(&world), Some(first), "it is pinned by nobody");
        let settles_ms = world.settles_ms();
        assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    }
    let why = refused(&rig, &Change::new(Verb::Rotate, [Noun::Clients]));
    assert!(why.contains("there is no certificate in /etc/mysql/sealion to rotate"), "{why}");
    must(&rig, &enable(Noun::OF_REPLICAS));
    let world = rig.shared.borrow();
    let ours = world.servers[0]
        .disk
        .open_as(testbed::sim::disk::MYSQL, std::path::Path::new(CERT))
        .expect("placed")
        .to_vec();
    assert_eq!(leaf(&world), Some(ours));
}

#[test]
fn the_x_protocol_and_an_admin_port_with_files_of_its_own_keep_their_certificates_and_that_is_told() {
    let rig = mysql();
    let shown = |name: &str, value: &str| {
        let value = Some(value.to_owned());
        rig.shared.borrow_mut().servers[0].shown.insert(name.to_owned(), value);
    };
    let of_ports = || {
        let impact = impact(&rig, &enable(Noun::OF_REPLICAS));
        impact.lines().filter(|line| line.contains("port")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(of_ports(), [""; 0]);
    for (name, value) in [
        ("mysqlx_port", "33060"),
        ("mysqlx_ssl_cert", ""),
        ("admin_address", "10.77.0.1"),
        ("admin_port", "33062"),
        ("admin_ssl_cert", ""),
    ] {
        shown(name, value);
    }
    // An admin port without files of its own shows what the main port does.
    assert_eq!(
        of_ports(),
        ["n1: the port of the X Protocol, 33060, shows its old certificate until mysqld is started again"]
    );
    shown("mysqlx_ssl_cert", "x.pem");
    shown("admin_ssl_cert", "admin.pem");
    assert_eq!(
        of_ports(),
        [
            "n1: the admin port 33062 has files of its own (admin_ssl_cert) and keeps them",
            "n1: the port of the X Protocol, 33060, has files of its own (mysqlx_ssl_cert) and keeps them",
        ]
    );
}

#[test]
fn a_tls_version_that_is_empty_would_stop_the_reload_and_is_refused_before() {
    let rig = mysql();
    let unset = server::TlsRules::from_iter([("tls_version".to_owned(), String::new())]);
    rig.shared.borrow_mut().servers[1].live.as_mut().expect("it runs").rules_wish = unset;
    assert!(rig.shared.borrow_mut().reload(1).expect_err("3888").contains("TLS version is invalid"));
    let why = refused(&rig, &enable(Noun::OF_REPLICAS));
    assert!(
        why.contains("n2") && why.contains("error 3888") && why.contains("SET GLOBAL tls_version"),
        "{why}"
    );
    assert_eq!(rig.shared.borrow().letters(), "TTcTu", "nothing was changed");
}

/// Found by an outsider: a replica came back writable, and nobody had been told.
#[test]
fn what_was_set_live_in_a_server_that_is_restarted_is_refused_or_told() {
    let rig = mariadb();
    let set = |name: &str, value: &str| LiveSetting {
        name: name.into(),
        value: value.into(),
        default: Some("OFF".into()),
    };
    rig.shared.borrow_mut().servers[1].live_settings = vec![set("slow_query_log", "ON")];
    let told = impact(&rig, &enable(Noun::OF_REPLICAS));
    assert!(told.contains("n2: slow_query_log=ON was set live, and a restart makes it OFF"), "{told}");
    rig.shared.borrow_mut().servers[1].live_settings = vec![set("read_only", "ON")];
    let why = refused(&rig, &enable(Noun::OF_REPLICAS));
    assert!(
        why.contains("n2") && why.contains("read_only was set live, and a restart would lose it"),
        "{why}"
    );
    {
        let servers = &mut rig.shared.borrow_mut().servers;
        servers[2].live_settings = servers[1].live_settings.clone();
        servers[0].hides_live_settings = true;
    }
    let why = refused(&rig, &enable(Noun::OF_REPLICAS));
    for word in ["n2: read_only was set live", "n3: read_only was set live", "n1: what was set live"] {
        assert!(why.contains(word), "{word}: {why}");
    }
    // Where nothing is restarted nothing is lost.
    let rig = mysql();
    rig.shared.borrow_mut().servers[1].live_settings = vec![set("read_only", "ON")];
    must(&rig, &enable(Noun::OF_REPLICAS));
}

/// Neither ALTER INSTANCE RELOAD TLS nor anything else reaches X Plugin: who has changed the certificate says which one is left there.
#[test]
fn what_the_x_protocol_goes_on_showing_is_told_at_the_end_and_is_gone_after_a_restart() {
    let rig = mysql();
    let port = Some("33060".to_owned());
    rig.shared.borrow_mut().servers[0].shown.insert("mysqlx_port".into(), port);
    let operator = Operator::new(&rig, "root@db1");
    let notes = |plan: &model::Plan| {
        assert!(operator.apply(plan).is_complete());
        let journals = operator.journals();
        let (_, bytes) = journals
            .iter()
            .find(|(path, _)| path.ends_with(format!("{}.journal", plan.id)))
            .expect("its journal");
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().filter(|line| line.contains("shows its old certificate, valid until")).count()
    };
    assert_eq!(notes(&operator.plan(&enable(Noun::OF_REPLICAS)).expect("a plan")), 1);
    let restart = |rig: &Rig| {
        let mut world = rig.shared.borrow_mut();
        world.servers[0].restarts_by_itself = true;
        world.kill(0);
        world.advance(60_000);
        let settles_ms = world.settles_ms();
        assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    };
    restart(&rig);
    // It has read the new one now, and a rotation leaves it behind again.
    let rotate = Change::new(Verb::Rotate, Noun::OF_REPLICAS);
    assert_eq!(notes(&operator.plan(&rotate).expect("a plan")), 1);
    rig.shared.borrow_mut().servers[0].shown.insert("mysqlx_ssl_cert".into(), Some("x.pem".into()));
    assert_eq!(notes(&operator.plan(&rotate).expect("a plan")), 0);
}

/// Of a provider option that stands there twice, Galera takes the last one: so do we, and leave the other as it stands.
#[test]
fn a_provider_option_twice_is_what_its_last_place_says() {
    let mut world = World::cluster(seed(), 3);
    let file = testbed::sim::world::GALERA_FILE;
    let text = world.servers[1].disk.text(file).expect("there");
    let twice =
        "wsrep-provider-options=\" gcache.size = 64M;gcache.size=128M ; evs.keepalive_period=PT1S\"\n";
    let text = text.replace("wsrep-provider-options=gcache.size=128M;evs.keepalive_period=PT1S\n", twice);
    assert!(text.contains(twice));
    world.servers[1].disk.put(file, text, 0, 0o640);
    let rig = Rig::on(world);
    let before = rig.shared.borrow().user_files();
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&enable(Noun::ALL)).unwrap_or_else(|error| panic!("{error}"));
    assert!(operator.apply(&plan).is_complete());
    assert_eq!(rig.shared.borrow().letters(), "SSS");
    let text = rig.shared.borrow().servers[1].disk.text(file).expect("there");
    assert!(text.contains("gcache.size=64M;gcache.size=128M"), "{text}");
    assert!(operator.go_on(Some(change::Direction::Back)).is_complete());
    assert!(rig.shared.borrow().letters() == "PPP" && rig.shared.borrow().user_files() == before);
}
