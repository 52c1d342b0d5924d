//! MySQL by itself and with replicas, in memory, also beside MariaDB: what ships changes it, is killed, and goes on. Names of tests say
//! which trap of a real server (MySQL 9.7.4) they set.

use change::{Direction, Outcome};
use model::{Change, Noun, Verb};
use server::accounts::AccountTls;
use server::{ChannelTls, Flavour, TlsFiles};
use testbed::sim::channels::Receiver;
use testbed::sim::mysql::{self, persist};
use testbed::sim::{End, Fault, Instant, Operator, Rig, World};
use trust::{Ca, CaSpec, KeyKind};

use crate::kill_matrix::{BOTH, check_some, rehearse, seed};

const ALL: [Noun; 3] = [Noun::Replication, Noun::Clients, Noun::Accounts];
/// What MySQL can be made to do without while it runs: it goes on to offer TLS.
const CAN_GO: [Noun; 3] = [Noun::Replication, Noun::RequireTls, Noun::Accounts];

fn enable() -> Change {
    Change::new(Verb::Enable, ALL)
}

fn disable() -> Change {
    Change::new(Verb::Disable, CAN_GO)
}

fn rotate(nouns: impl IntoIterator<Item = Noun>) -> Change {
    Change::new(Verb::Rotate, nouns)
}

/// A source, a replica in cleartext, and one with TLS of whoever answers.
fn plain() -> Rig {
    Rig::on(World::replicas_of_mysql(seed(), &[vec![], vec![0], vec![0]]))
}

fn run(rig: &Rig, change: &Change) -> End {
    let operator = Operator::new(rig, "root@long-ago");
    operator.apply(&operator.plan(change).expect("a plan"))
}

fn must(rig: &Rig, change: &Change) {
    let end = run(rig, change);
    assert!(end.is_complete(), "{change}: {end:?}");
    settled(rig);
}

fn refused(rig: &Rig, change: &Change) -> String {
    Operator::new(rig, "root@db1").plan(change).expect_err("refused").to_string()
}

fn settled(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    let settles_ms = world.settles_ms();
    assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    assert_eq!((world.lost(), world.violations.clone()), (vec![], vec![]));
}

fn letters(rig: &Rig) -> String {
    rig.shared.borrow().letters()
}

fn sealed() -> Rig {
    let rig = plain();
    must(&rig, &enable());
    rig.fork(seed())
}

/// A MySQL source with a replica, and a MariaDB pair, in one inventory.
fn estate() -> Rig {
    use Flavour::{MariaDb, MySql};
    let flavours = [MySql, MySql, MariaDb, MariaDb];
    Rig::on(World::fleet_of(seed(), &[vec![], vec![0], vec![], vec![2]], &flavours))
}

fn account_on(rig: &Rig, index: usize, user: &str) -> AccountTls {
    let all = rig.shared.borrow().accounts_on(index);
    all.into_iter().find(|one| one.name.user == user).expect("it is there").tls
}

#[test]
fn mysql_is_sealed_and_opened_without_a_restart() {
    let rig = plain();
    let before = rig.shared.borrow().user_files();
    assert_eq!(letters(&rig), "TTcTu");
    must(&rig, &enable());
    assert_eq!(letters(&rig), "RRsRs");
    assert!((0..3).all(|index| account_on(&rig, index, "repl") == AccountTls::Tls));
    must(&rig, &disable());
    assert_eq!(letters(&rig), "TTcTc");
    assert!((0..3).all(|index| account_on(&rig, index, "repl") == AccountTls::None));
    assert_eq!(rig.shared.borrow().stops, [0; 0]);

    let rig = plain();
    let operator = Operator::new(&rig, "root@db1");
    assert!(operator.apply(&operator.plan(&enable()).expect("a plan")).is_complete());
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    settled(&rig);
    assert_eq!(letters(&rig), "TTcTu");
    assert_eq!(rig.shared.borrow().user_files(), before);
    let world = rig.shared.borrow();
    let live = world.servers[0].live.as_ref().expect("it runs");
    assert_eq!(live.ssl_paths, mysql::OWN_FILES);
    assert_eq!(world.stops, [0; 0]);
}

#[test]
fn mysql_and_mariadb_in_one_plan_each_in_its_own_way() {
    let rig = estate();
    assert_eq!(letters(&rig), "TTcPPc");
    must(&rig, &enable());
    assert_eq!(letters(&rig), "RRsRRs");
    // Of MariaDB each once, the replica first; of MySQL none.
    assert_eq!(rig.shared.borrow().stops, [3, 2]);
    must(&rig, &rotate(Noun::OF_REPLICAS));
    must(&rig, &rotate([Noun::Ca]));
    must(&rig, &disable());
    assert_eq!(letters(&rig), "TTcTTc");
    assert_eq!(rig.shared.borrow().stops, [3, 2]);
}

const EVERYTHING: [Fault; 5] =
    [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];

#[test]
fn enable_of_mysql_survives_sealion_killed_and_everything_else() {
    check_some(&plain(), &enable(), &EVERYTHING, &BOTH, 7);
}

#[test]
fn disable_of_mysql_survives_sealion_killed_and_everything_else() {
    check_some(&sealed(), &disable(), &EVERYTHING, &BOTH, 7);
}

#[test]
fn rotate_of_mysql_survives_sealion_killed_and_everything_else() {
    check_some(&sealed(), &rotate(Noun::OF_REPLICAS), &EVERYTHING, &BOTH, 7);
}

#[test]
fn rotate_ca_of_mysql_survives_sealion_killed_and_everything_else() {
    check_some(&sealed(), &rotate([Noun::Ca]), &EVERYTHING, &BOTH, 17);
}

#[test]
fn a_mixed_estate_survives_sealion_killed_and_everything_else() {
    check_some(&estate(), &enable(), &EVERYTHING, &BOTH, 17);
}

#[test]
fn rotate_ca_of_a_mixed_estate_survives_sealion_killed_and_everything_else() {
    let rig = estate();
    must(&rig, &enable());
    check_some(&rig.fork(seed()), &rotate([Noun::Ca]), &EVERYTHING, &BOTH, 37);
}

/// Between STOP REPLICA IO_THREAD and START REPLICA IO_THREAD the replica receives nothing, and nobody but sealion knows why.
#[test]
fn an_io_thread_is_left_stopped_by_nobody_and_the_applier_goes_on() {
    let actions = ["STOP REPLICA IO_THREAD", "CHANGE REPLICATION SOURCE", "START REPLICA IO_THREAD"];
    for (action, letters) in actions.into_iter().zip(["TTcTu", "TT-Tu", "TT-Tu"]) {
        for wish in BOTH {
            let base = plain();
            let clean = rehearse(&base, &enable());
            let is_it =
                |instant: &Instant| instant.moment == "E3.n2:acting" && instant.before.ends_with(action);
            let at = clean.instants.iter().position(is_it).expect("E3 has it");
            let rig = base.fork(seed());
            let operator = Operator::new(&rig, "root@db1");
            let plan = operator.plan(&enable()).expect("a plan");
            rig.arm(Some((at, Fault::KillSealion)));
            assert_eq!(operator.apply(&plan), End::Killed);
            rig.arm(None);
            let settles_ms = rig.shared.borrow().settles_ms();
            rig.shared.borrow_mut().advance(settles_ms);
            assert_eq!(rig.shared.borrow().letters(), letters, "killed before {action}");
            assert!(rig.shared.borrow().servers[1].channels[0].applies, "{action}");
            let end = operator.go_on(Some(wish));
            assert!(end.is_complete(), "{action} {wish:?}: {end:?}");
            settled(&rig);
        }
    }
}

/// SET GLOBAL is a wish: killed before the reload, the old certificate is served, and after a restart the one of the option file.
#[test]
fn killed_between_set_global_and_reload_the_wish_is_lost_at_a_restart() {
    for restarts in [false, true] {
        let base = plain();
        let clean = rehearse(&base, &enable());
        let is_it = |instant: &Instant| instant.moment == "E2.n1:acting" && instant.before == "n1: reload";
        let at = clean.instants.iter().position(is_it).expect("E2 has it");
        for wish in BOTH {
            let rig = base.fork(seed());
            let operator = Operator::new(&rig, "root@db1");
            let plan = operator.plan(&enable()).expect("a plan");
            rig.arm(Some((at, Fault::KillSealion)));
            assert_eq!(operator.apply(&plan), End::Killed);
            rig.arm(None);
            let ours = |world: &World| {
                let live = world.servers[0].live.as_ref().expect("it runs");
                [&live.tls_wish, &live.ssl_paths].map(|paths| paths[1].contains("sealion"))
            };
            assert_eq!(ours(&rig.shared.borrow()), [true, false]);
            if restarts {
                let mut world = rig.shared.borrow_mut();
                world.kill(0);
                world.start(0);
                world.advance(5_000);
                assert_eq!(ours(&world), [true, true], "the option file is read");
            }
            let end = operator.go_on(Some(wish));
            assert!(end.is_complete(), "{end:?}");
            settled(&rig);
            let wanted = if wish == Direction::Forward { [true; 2] } else { [false; 2] };
            assert_eq!(ours(&rig.shared.borrow()), wanted);
        }
    }
}

/// Somebody replaces the key while sealion is away: RELOAD TLS refuses the pair (3888), and the old one stays in use.
#[test]
fn reload_tls_refuses_a_pair_that_does_not_match_and_what_has_expired_with_3888_and_the_old_context_stays() {
    let rig = sealed();
    let mut world = rig.shared.borrow_mut();
    let served = |world: &World| {
        let live = world.servers[0].live.as_ref().expect("it runs");
        (live.client.as_ref().expect("it serves one").leaf.clone(), live.generation)
    };
    let before = served(&world);
    let other = world.servers[1].disk.text("/etc/mysql/sealion/node-key.pem").expect("placed");
    let own = world.servers[0].disk.text("/etc/mysql/sealion/node-key.pem").expect("placed");
    world.servers[0].disk.put("/etc/mysql/sealion/node-key.pem", other, 999, 0o600);
    let error = world.reload(0).expect_err("refused");
    assert!(error.contains("3888") && error.contains("Unable to get private key"), "{error}");
    assert_eq!(served(&world), before);
    world.servers[0].disk.put("/etc/mysql/sealion/node-key.pem", own, 999, 0o600);
    world.reload(0).expect("sound again");

    drop(world);

    // An hour later its certificate is over.
    let short = plain();
    let spec = CaSpec { common_name: "short-lived".into(), valid_days: 1, key: KeyKind::EcP256 };
    let began = short.shared.borrow().unix_s();
    let ca = Ca::create(&spec, began - 86_400 + 3_600).expect("made");
    ca.save(&short.ca_dir(), &short.passphrase.clone().into()).expect("saved");
    must(&short, &enable());
    short.shared.advance(3_700_000);
    let mut world = short.shared.borrow_mut();
    let before = served(&world);
    let error = world.reload(0).expect_err("refused");
    assert!(error.contains("3888") && error.contains("Invalid certificates"), "{error}");
    assert_eq!(served(&world), before);
    // At a start it is served all the same.
    world.kill(0);
    world.start(0);
    world.advance(5_000);
    assert_eq!(served(&world).0, before.0);
}

/// With an old CA that is over RELOAD TLS refuses whatever is not of the new one: each is read with its next certificate.
#[test]
fn an_old_ca_that_has_expired_before_or_on_the_way_is_replaced_on_mysql_too() {
    let base = plain();
    let spec = CaSpec { common_name: "short-lived".into(), valid_days: 1, key: KeyKind::EcP256 };
    let began = base.shared.borrow().unix_s();
    let ca = Ca::create(&spec, began - 86_400 + 3_600).expect("made");
    ca.save(&base.ca_dir(), &base.passphrase.clone().into()).expect("saved");
    must(&base, &enable());
    let base = base.fork(seed());
    let is_new = |rig: &Rig, case: &str| {
        settled(rig);
        let world = rig.shared.borrow();
        let ca = std::fs::read(rig.ca_dir().join("ca.pem")).expect("there");
        for server in &world.servers {
            let live = server.live.as_ref().expect("it runs");
            let client = live.client.as_ref().expect("it serves one");
            assert!(trust::chain_ok(&client.leaf, &ca, world.unix_s()).is_ok(), "{case}");
            assert_eq!(client.ca.as_deref(), Some(&ca[..]), "{case}");
        }
        assert_eq!(world.letters(), "RRsRs", "{case}");
    };
    let rig = base.fork(seed());
    rig.shared.advance(3_700_000);
    must(&rig, &rotate([Noun::Ca]));
    is_new(&rig, "before");

    let clean = rehearse(&base, &rotate([Noun::Ca]));
    for moment in ["R1.n2:acting", "R3.n2:acting", "R4.n1:acting"] {
        let at = clean.instants.iter().position(|instant| instant.moment == moment).expect("a moment");
        let rig = base.fork(seed());
        let operator = Operator::new(&rig, "root@db1");
        let plan = operator.plan(&rotate([Noun::Ca])).expect("a plan");
        rig.arm(Some((at, Fault::KillSealion)));
        assert_eq!(operator.apply(&plan), End::Killed);
        rig.arm(None);
        rig.shared.advance(3_700_000);
        let end = operator.go_on(None);
        assert!(end.is_complete(), "{moment}: {end:?}");
        is_new(&rig, moment);
    }
}

#[test]
fn an_undo_of_a_rotation_to_what_has_expired_leaves_the_new_certificate_in_place() {
    let rig = plain();
    let spec = CaSpec { common_name: "short-lived".into(), valid_days: 1, key: KeyKind::EcP256 };
    let began = rig.shared.borrow().unix_s();
    let ca = Ca::create(&spec, began - 86_400 + 3_600).expect("made");
    ca.save(&rig.ca_dir(), &rig.passphrase.clone().into()).expect("saved");
    must(&rig, &enable());
    let operator = Operator::new(&rig, "root@db1");
    assert!(operator.apply(&operator.plan(&rotate([Noun::Ca])).expect("a plan")).is_complete());
    let key = |rig: &Rig| {
        let world = rig.shared.borrow();
        world.servers.iter().map(|one| one.disk.text("/etc/mysql/sealion/node-key.pem")).collect::<Vec<_>>()
    };
    let new = key(&rig);
    rig.shared.advance(3_700_000);
    let end = operator.go_on(Some(Direction::Back));
    assert!(!end.is_complete(), "{end:?}");
    assert_eq!(key(&rig), new, "{}", end.text());
    settled(&rig);
}

/// What SET PERSIST wrote wins over every option file at the next start.
#[test]
fn what_set_persist_wrote_is_refused_before_it_would_win_at_the_next_start() {
    for (name, value) in [("ssl_cert", "/etc/old.pem"), ("require_secure_transport", "OFF")] {
        let rig = plain();
        persist(&mut rig.shared.borrow_mut().servers[0], name, value);
        let why = refused(&rig, &enable());
        assert!(why.contains(&format!("RESET PERSIST {name}")), "{why}");
        let mut world = rig.shared.borrow_mut();
        let path = std::path::Path::new("/var/lib/mysql/mysqld-auto.cnf");
        world.servers[0].disk.entries.remove(path).expect("it was there");
        drop(world);
        must(&rig, &enable());
    }
}

/// Seen: a change of that alone stopped half-way, and so did a rotation.
#[test]
fn what_set_persist_wrote_is_refused_by_the_change_that_it_would_outlast() {
    let verb = |verb: Verb, nouns: &[Noun]| Change::new(verb, nouns.iter().copied());
    for (name, value, change) in [
        ("require_secure_transport", "ON", verb(Verb::Disable, &[Noun::RequireTls])),
        ("require_secure_transport", "OFF", verb(Verb::Enable, &[Noun::RequireTls])),
        ("ssl_key", "/etc/old/key.pem", verb(Verb::Rotate, &[])),
    ] {
        let rig = sealed();
        persist(&mut rig.shared.borrow_mut().servers[0], name, value);
        let why = refused(&rig, &change);
        assert!(why.contains(&format!("RESET PERSIST {name}")), "{change}: {why}");
    }
}

#[test]
fn an_admin_port_that_names_the_files_of_the_main_one_is_refused() {
    let rig = sealed();
    let options = [
        ("admin_address", "10.77.0.1"),
        ("admin_port", "33062"),
        ("admin_ssl_cert", "/etc/mysql/sealion/node-cert.pem"),
    ];
    for (name, value) in options {
        rig.shared.borrow_mut().servers[0].shown.insert(name.into(), Some(value.into()));
    }
    let why = refused(&rig, &Change::new(Verb::Rotate, []));
    assert!(why.contains("admin port has options of its own") && why.contains("admin_ssl_cert is"), "{why}");
    rig.shared.borrow_mut().servers[0]
        .shown
        .insert("admin_ssl_cert".into(), Some("/etc/admin/cert.pem".into()));
    must(&rig, &Change::new(Verb::Rotate, []));
}

#[test]
fn a_mysql_source_that_requires_tls_answers_3159_and_an_account_that_does_1045() {
    let rig = sealed();
    let connects = |tls: &ChannelTls| {
        let mut world = rig.shared.borrow_mut();
        assert!(world.change_master(1, "", tls).is_err_and(|why| why.contains("3021")));
        world.stop_slave(1, "").expect("it has one");
        world.change_master(1, "", tls).expect("its receiver is stopped");
        world.start_slave(1, "").expect("it has one");
        world.advance(1_000);
        world.servers[1].channels[0].error.clone().unwrap_or_default()
    };
    let verifies = rig.shared.borrow().servers[1].channels[0].tls.clone();
    let error = connects(&ChannelTls::default());
    assert!(error.starts_with("3159 "), "{error}");
    assert_eq!(connects(&verifies), "");
    must(&rig, &Change::new(Verb::Disable, [Noun::RequireTls]));
    let error = connects(&ChannelTls::default());
    assert!(error.starts_with("1045 "), "{error}");
    assert_eq!(connects(&verifies), "");
}

/// SOURCE_SSL=1 is required, and no wish as in MariaDB.
#[test]
fn a_mysql_channel_with_tls_does_not_fall_back_to_cleartext() {
    let rig = plain();
    {
        let mut world = rig.shared.borrow_mut();
        world.servers[0].disk.entries.remove(std::path::Path::new("/var/lib/mysql/server-key.pem"));
        world.kill(0);
        world.start(0);
        world.advance(70_000);
        // The source offers no TLS after that start.
        assert_eq!(world.letters(), "PTcT-");
        let error = world.servers[2].channels[0].error.clone().expect("it is refused");
        assert!(error.starts_with("2026 "), "{error}");
    }
}

#[test]
fn a_running_channel_keeps_its_session_whatever_its_account_demands_until_it_connects_anew() {
    let rig = plain();
    let name = rig.shared.borrow().accounts_on(0).into_iter().find(|one| one.name.user == "repl");
    let name = name.expect("it is there").name;
    let mut node = testbed::sim::node::SimNode::new(&rig.shared, 0);
    server::WriteNode::set_account_tls(&mut node, &name, true).expect("altered");
    rig.shared.advance(5_000);
    assert_eq!(letters(&rig), "TTcTu");
    let mut world = rig.shared.borrow_mut();
    world.stop_slave(1, "").expect("it has one");
    world.start_slave(1, "").expect("it has one");
    world.advance(1_000);
    let error = world.servers[1].channels[0].error.clone().expect("it is refused");
    assert!(error.starts_with("1045 "), "{error}");
}

/// caching_sha2_password: without TLS and without the source's key it logs in only while the source remembers the account.
#[test]
fn a_channel_without_the_sources_key_cannot_log_in_in_cleartext_after_the_source_was_restarted() {
    let rig = sealed();
    rig.shared.borrow_mut().servers[1].channels[0].gets_key = false;
    let why = refused(&rig, &disable());
    assert!(why.contains("caching_sha2_password") && why.contains("GET_SOURCE_PUBLIC_KEY=1"), "{why}");
    rig.shared.borrow_mut().servers[1].channels[0].gets_key = true;
    must(&rig, &disable());

    // What an undo of `enable` would meet is told before.
    let rig = Rig::on(World::replicas_of_mysql(seed(), &[vec![], vec![0]]));
    rig.shared.borrow_mut().servers[1].channels[0].gets_key = false;
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&Change::new(Verb::Enable, Noun::OF_REPLICAS)).expect("a plan");
    assert!(plan.impact.iter().any(|line| line.contains("GET_SOURCE_PUBLIC_KEY")), "{:?}", plan.impact);
    assert!(operator.apply(&plan).is_complete());
    settled(&rig);
    // FLUSH PRIVILEGES: after a restart, the channel itself has logged in by TLS, and is remembered.
    rig.shared.borrow_mut().servers[0].remembers_login = false;
    let before_ms = rig.shared.borrow().now_ms;
    let end = operator.go_on(Some(Direction::Back));
    let End::Outcome(Outcome::Stopped { step, why }) = &end else { panic!("{end:?}") };
    assert!(step.0 == "E3.n2" && why.contains("2061") && why.contains("GET_SOURCE_PUBLIC_KEY=1"), "{end:?}");
    assert!(rig.shared.borrow().now_ms - before_ms < 60_000, "the next try meets the same");
    {
        let mut world = rig.shared.borrow_mut();
        world.servers[1].channels[0].gets_key = true;
        world.stop_slave(1, "").expect("it has one");
        world.start_slave(1, "").expect("it has one");
        world.advance(1_000);
    }
    let end = operator.go_on(Some(Direction::Back));
    assert!(end.is_complete(), "{end:?}");
    settled(&rig);
    assert_eq!(letters(&rig), "TTc");
}

/// `require_secure_transport` counts for replicas too, and so does REQUIRE SSL of their account.
#[test]
fn replicas_are_not_told_to_do_without_tls_where_their_source_would_refuse_them() {
    let rig = sealed();
    let why = refused(&rig, &Change::new(Verb::Disable, [Noun::Replication]));
    assert!(
        why.contains("require_secure_transport") && why.contains("disable replication,require-tls"),
        "{why}"
    );
    let why = refused(&rig, &Change::new(Verb::Disable, [Noun::Replication, Noun::RequireTls]));
    assert!(why.contains("'repl'@'%' has REQUIRE SSL") && why.contains("replication,accounts"), "{why}");
    must(&rig, &disable());
}

/// SOURCE_RETRY_COUNT is 10 by default: a source that is away for longer has lost its replicas until somebody starts them.
#[test]
fn a_channel_that_has_given_up_is_told_and_not_started_in_secret() {
    let rig = plain();
    {
        let mut world = rig.shared.borrow_mut();
        world.stop(0);
        world.advance(700_000);
        world.start(0);
        world.advance(10_000);
        assert_eq!(world.servers[1].channels[0].receiver, Receiver::Stopped);
    }
    let why = refused(&rig, &enable());
    assert!(why.contains("it receives nothing") && why.contains("START REPLICA"), "{why}");
}

/// MariaDB takes certificates at its start only (1238).
#[test]
fn mariadb_does_not_take_other_files_while_it_runs() {
    let mut world = World::replicas(seed(), &[vec![], vec![0]]);
    let error = world.wish_tls_files(0, &TlsFiles::default(), None).expect_err("refused");
    assert!(error.contains("1238"), "{error}");
}

/// REQUIRE arrives on replicas with what they apply: one that lags has it later, one whose applier stands still never.
#[test]
fn an_account_is_changed_only_when_its_replicas_have_it_and_an_applier_that_stands_still_is_told() {
    let rig = sealed();
    must(&rig, &disable());
    must(&rig, &Change::new(Verb::Enable, [Noun::Replication]));
    let change = Change::new(Verb::Enable, [Noun::Accounts]);
    let rig = rig.fork(seed());
    let clean = rehearse(&rig, &change);
    let is_it =
        |instant: &Instant| instant.moment.starts_with("A1.app@") && instant.moment.ends_with(":acting");
    let at = clean.instants.iter().position(is_it).expect("a moment");
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(&change).expect("a plan");
    rig.arm(Some((at, Fault::KillSealion)));
    assert_eq!(operator.apply(&plan), End::Killed);
    rig.arm(None);
    rig.shared.borrow_mut().servers[2].channels[0].applies = false;
    let end = operator.go_on(None);
    assert!(end.text().contains("n3 applies nothing"), "{end:?}");
    rig.shared.borrow_mut().servers[2].channels[0].applies = true;
    assert!(operator.go_on(None).is_complete());
    settled(&rig);
    assert!((0..3).all(|index| account_on(&rig, index, "repl") == AccountTls::Tls));
}

/// How servers replicate is asked of them: of those that let nobody in, nothing is said of a kind of cluster that they may not be.
#[test]
fn a_wrong_login_is_told_as_that_and_names_no_galera() {
    let rig = plain();
    for server in &mut rig.shared.borrow_mut().servers {
        server.refuses_login = true;
    }
    for change in [enable(), Change::new(Verb::Enable, [])] {
        let refused = Operator::new(&rig, "root@db1").plan(&change).expect_err("refused").to_string();
        assert!(refused.contains("the login does not work") && refused.contains("1045"), "{refused}");
        assert!(!refused.to_lowercase().contains("galera") && !refused.contains("sst"), "{refused}");
    }
}
