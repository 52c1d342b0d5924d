//! Profiles of TLS for clients, in memory: set with the certificate or later, refused by a server, killed at every step, and taken back.

use change::{Direction, Outcome};
use model::{Change, Handshake, Noun, TlsProfile, Verb};
use server::{Flavour, OfferAnswer, ReadNode, SqlPort, TlsOffer, TlsRules};
use testbed::sim::mysql::persist;
use testbed::sim::node::SimNode;
use testbed::sim::{End, Fault, Operator, Rig, World};

use crate::kill_matrix::{BOTH, check_some, seed};

use TlsProfile::{Intermediate, Modern};

/// One of each, with replicas.
fn estate() -> Rig {
    use Flavour::{MariaDb, MySql};
    let flavours = [MySql, MySql, MariaDb, MariaDb];
    Rig::on(World::fleet_of(seed(), &[vec![], vec![0], vec![], vec![2]], &flavours))
}

fn galera() -> Rig {
    Rig::on(World::cluster(seed(), 3))
}

fn enable(profile: TlsProfile) -> Change {
    Change::new(Verb::Enable, []).with_profile(Some(profile))
}

fn clients(profile: TlsProfile) -> Change {
    Change::new(Verb::Enable, [Noun::Clients]).with_profile(Some(profile))
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

fn settled(rig: &Rig) {
    let mut world = rig.shared.borrow_mut();
    let settles_ms = world.settles_ms();
    assert!(world.advance_until(settles_ms, World::is_whole), "{}", world.letters());
    assert_eq!((world.lost(), world.violations.clone()), (vec![], vec![]));
}

fn refused(rig: &Rig, change: &Change) -> String {
    Operator::new(rig, "root@db1").plan(change).expect_err("refused").to_string()
}

/// Which profile each server has, by what is in use there.
fn profiles(rig: &Rig) -> Vec<Option<TlsProfile>> {
    let world = rig.shared.borrow();
    world.servers.iter().map(|server| server.live.as_ref().and_then(|live| live.rules.profile())).collect()
}

/// What a handshake with TLS 1.2, with and without AEAD, comes to.
fn takes_tls12(rig: &Rig, index: usize) -> [bool; 2] {
    let mut node = SimNode::new(&rig.shared, index);
    let plain = TlsOffer::refused_by(Modern, SqlPort::Main);
    let cbc = TlsOffer::refused_by(Intermediate, SqlPort::Main);
    [plain, cbc].map(|offer| matches!(node.client_takes(&offer).expect("it answers"), OfferAnswer::Taken(_)))
}

/// A look before the first step says no.
fn refused_at_begin(rig: &Rig, change: &Change) -> String {
    match run(rig, change) {
        End::Outcome(Outcome::Refused { why, .. }) | End::Refused(why) => why,
        other => panic!("it went on: {other:?}"),
    }
}

fn stopped(end: &End) -> (String, String) {
    match end {
        End::Outcome(Outcome::Stopped { step, why }) => (step.0.clone(), why.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_profile_comes_with_the_certificate_and_goes_to_the_byte() {
    for (rig, count) in [(estate(), 4), (galera(), 3)] {
        for profile in TlsProfile::ALL {
            let rig = rig.fork(seed());
            let before = rig.shared.borrow().user_files();
            let rules: Vec<TlsRules> = rig
                .shared
                .borrow()
                .servers
                .iter()
                .map(|one| one.live.as_ref().expect("it runs").rules.clone())
                .collect();
            let operator = Operator::new(&rig, "root@db1");
            let plan = operator.plan(&enable(profile)).expect("a plan");
            let text = serde_json::to_string(&plan).expect("plain fields");
            assert!(plan.steps[0].id.0 == "E0.look" && text.contains("tls_version"), "{text}");
            assert!(plan.impact.iter().any(|line| line.contains(profile.meaning())), "{:?}", plan.impact);
            let end = operator.apply(&plan);
            assert!(end.is_complete(), "{profile}: {end:?}");
            settled(&rig);
            assert_eq!(profiles(&rig), vec![Some(profile); count]);
            for index in 0..count {
                assert_eq!(takes_tls12(&rig, index), [profile == Intermediate, false], "{profile} {index}");
            }
            // Once more changes nothing, and without a profile it stays.
            for change in [enable(profile), Change::new(Verb::Enable, [])] {
                let again = operator.plan(&change).expect("a plan");
                assert!(!again.changes_anything(), "{:?}", again.steps);
            }
            let end = operator.go_on(Some(Direction::Back));
            assert!(end.is_complete(), "{profile}: {end:?}");
            settled(&rig);
            assert_eq!(rig.shared.borrow().user_files(), before);
            let now: Vec<TlsRules> = rig
                .shared
                .borrow()
                .servers
                .iter()
                .map(|one| one.live.as_ref().expect("it runs").rules.clone())
                .collect();
            assert_eq!(now, rules);
        }
    }
}

/// What is sealed already gets another profile: MySQL while it runs, MariaDB by a restart each, and nothing else is done.
#[test]
fn another_profile_on_what_is_sealed_is_all_that_is_done() {
    let rig = estate();
    must(&rig, &Change::new(Verb::Enable, []));
    assert_eq!(profiles(&rig), [None; 4]);
    let stops = rig.shared.borrow().stops.len();
    for profile in [Modern, Intermediate, Modern] {
        let operator = Operator::new(&rig, "root@db1");
        let plan = operator.plan(&clients(profile)).expect("a plan");
        let changing: Vec<&str> = plan
            .steps
            .iter()
            .filter(|step| !step.no_op && !step.only_looks)
            .map(|step| &*step.id.0)
            .collect();
        assert_eq!(changing, ["E2.n2", "E2.n4", "E2.n1", "E2.n3"], "{profile}");
        assert_eq!(plan.restarts(), 2);
        assert!(operator.apply(&plan).is_complete());
        settled(&rig);
        assert_eq!(profiles(&rig), [Some(profile); 4]);
    }
    assert_eq!(rig.shared.borrow().stops.len(), stops + 6);
    assert_eq!(rig.shared.borrow().letters(), "RRsRRs");
    // Found by an outsider: an undo that goes back to less shut out clients without a word.
    must(&rig, &clients(Intermediate));
    let told = Operator::new(&rig, "root@db1").undo_warnings().join("\n");
    assert!(told.contains("afterwards, n1, n2, n3, n4 let clients in by the profile modern again"), "{told}");

    let rig = galera();
    must(&rig, &Change::new(Verb::Enable, Noun::ALL));
    let stops = rig.shared.borrow().stops.len();
    must(&rig, &clients(Modern));
    assert_eq!((profiles(&rig), rig.shared.borrow().stops.len()), (vec![Some(Modern); 3], stops + 3));
    must(&rig, &Change::new(Verb::Disable, Noun::ALL));
    assert_eq!(profiles(&rig), [None; 3]);
    let world = rig.shared.borrow();
    for server in &world.servers {
        let options = server.server_options().expect("readable");
        assert!(options.effective("tls_version").is_none() && options.effective("ssl_cipher").is_none());
    }
}

/// It would win over the file again at the next start.
#[test]
fn an_option_of_a_profile_on_a_command_line_is_refused_with_a_profile_only() {
    let rig = galera();
    must(&rig, &Change::new(Verb::Enable, Noun::ALL));
    rig.shared.borrow_mut().servers[1].extra_arguments =
        vec!["--defaults-file=/etc/mysql/my.cnf".into(), "--tls-version=TLSv1.2,TLSv1.3".into()];
    let plan = |change: &Change| Operator::new(&rig, "root@db1").plan(change);
    let refused = plan(&clients(Modern)).expect_err("refused").to_string();
    for word in ["--tls_version is given on the server's command line", "remove it there"] {
        assert!(refused.contains(word), "{word}: {refused}");
    }
    plan(&Change::new(Verb::Rotate, [])).expect("without a profile it is nobody's business");
}

const EVERYTHING: [Fault; 5] =
    [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];

#[test]
fn a_profile_in_a_mixed_estate_survives_sealion_killed_and_everything_else() {
    let rig = estate();
    must(&rig, &Change::new(Verb::Enable, []));
    check_some(&rig.fork(seed()), &clients(Modern), &EVERYTHING, &BOTH, 11);
}

#[test]
fn a_profile_on_galera_survives_sealion_killed_and_everything_else() {
    let rig = galera();
    must(&rig, &Change::new(Verb::Enable, Noun::ALL));
    check_some(&rig.fork(seed()), &clients(Intermediate), &EVERYTHING, &BOTH, 17);
}

/// MySQL answers 1231 and keeps what it had; MariaDB does not start with it, and is started again without.
#[test]
fn a_server_that_refuses_the_suites_is_left_as_it_was() {
    for index in 0..4 {
        let rig = estate();
        must(&rig, &Change::new(Verb::Enable, []));
        let before = rig.shared.borrow().servers[index].disk.entries.clone();
        rig.shared.borrow_mut().servers[index].knows_no_suites = true;
        let operator = Operator::new(&rig, "root@db1");
        let end = operator.apply(&operator.plan(&clients(Modern)).expect("a plan"));
        let (step, why) = stopped(&end);
        assert_eq!(step, format!("E2.n{}", index + 1));
        let word = if index < 2 { "1231" } else { "did not start again" };
        assert!(why.contains(word), "{why}");
        assert_eq!(profiles(&rig)[index], None);
        let end = operator.go_on(Some(Direction::Back));
        assert!(end.is_complete(), "{end:?}");
        settled(&rig);
        assert_eq!((profiles(&rig), rig.shared.borrow().letters()), (vec![None; 4], "RRsRRs".to_owned()));
        let world = rig.shared.borrow();
        let file = |path: &std::path::Path| world.servers[index].disk.entries.get(path).cloned();
        for (path, entry) in
            before.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "cnf"))
        {
            assert_eq!(file(path).as_ref().map(|now| &now.bytes), Some(&entry.bytes), "{}", path.display());
        }
    }
}

/// Its variables say so, and from outside it does not hold: that is not done.
#[test]
fn what_is_still_taken_from_outside_is_no_profile() {
    for (rig, index) in [(estate(), 0), (estate(), 2), (galera(), 1)] {
        must(&rig, &Change::new(Verb::Enable, []));
        rig.shared.borrow_mut().servers[index].takes_all = true;
        for profile in TlsProfile::ALL {
            let operator = Operator::new(&rig, "root@db1");
            let end = operator.apply(&operator.plan(&clients(profile)).expect("a plan"));
            let (step, why) = stopped(&end);
            assert_eq!(step, format!("E2.n{}", index + 1));
            assert!(why.contains("still takes TLSv1.2"), "{why}");
            assert!(operator.go_on(Some(Direction::Back)).is_complete());
            settled(&rig);
        }
    }
}

#[test]
fn clients_that_would_be_shut_out_are_named_before_the_first_step() {
    let old = |rig: &Rig, version: &str, suite: &str| {
        let handshake = Handshake { version: version.into(), suite: Some(suite.into()) };
        rig.shared.borrow_mut().app.handshake = Some(handshake);
    };
    for rig in [estate(), galera()] {
        must(&rig, &Change::new(Verb::Enable, []));
        let files = rig.shared.borrow().user_files();
        old(&rig, "TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384");
        let why = refused_at_begin(&rig, &clients(Modern));
        assert!(
            why.contains("app@10.0.0.1:4711 on n1 with TLSv1.2") && why.contains("--accept-shut-out"),
            "{why}"
        );
        assert_eq!(rig.shared.borrow().user_files(), files);
        must(&rig, &clients(Intermediate));
        old(&rig, "TLSv1.2", "AES256-SHA");
        // It has this profile already: whoever is seen cannot be shut out by it.
        must(&rig, &clients(Intermediate));
        let mut rig = rig.fork(seed());
        rig.accept_shut_out = true;
        must(&rig, &clients(Modern));
        assert!(profiles(&rig).iter().all(|one| *one == Some(Modern)));
    }
}

/// MariaDB with its performance schema off tells nobody's version, and a session of before is in no capture.
#[test]
fn clients_whose_version_nobody_tells_are_not_taken_for_nobody() {
    let rig = estate();
    must(&rig, &Change::new(Verb::Enable, []));
    rig.shared.borrow_mut().app.handshake = None;
    let why = refused_at_begin(&rig, &clients(Modern));
    assert!(
        why.contains("could not be seen as a whole") && why.contains("--accept-unknown-clients"),
        "{why}"
    );
    let mut rig = rig.fork(seed());
    rig.accept_unknown_clients = true;
    must(&rig, &clients(Modern));
}

/// A replica is a client of its source, and its library decides: nothing of MariaDB's channels names a version.
#[test]
fn a_replica_that_cannot_speak_it_is_named_like_any_client() {
    let rig = estate();
    must(&rig, &Change::new(Verb::Enable, []));
    rig.shared.borrow_mut().servers[3].speaks_at_most = "TLSv1.2";
    let why = refused_at_begin(&rig, &clients(Modern));
    assert!(why.contains("repl@10.77.0.4:40000 on n3 with TLSv1.2"), "{why}");
    must(&rig, &clients(Intermediate));

    // In cleartext its version is not known before: its channel is seen not to connect, and the change stops there.
    let rig = estate();
    rig.shared.borrow_mut().servers[3].speaks_at_most = "TLSv1.2";
    let operator = Operator::new(&rig, "root@db1");
    let end = operator.apply(&operator.plan(&enable(Modern)).expect("a plan"));
    let (step, why) = stopped(&end);
    assert!(step == "E3.n4" && why.contains("protocol version"), "{step} {why}");
    assert!(operator.go_on(Some(Direction::Back)).is_complete());
    settled(&rig);
    assert_eq!(rig.shared.borrow().letters(), "TTcPPc");
}

/// What a channel offers is known before: nobody is shut out by it half-way.
#[test]
fn a_channel_that_is_told_not_to_offer_it_is_named_before_anything_is_changed() {
    let rig = estate();
    rig.shared.borrow_mut().servers[1].channels[0].tls_versions = "TLSv1.2".into();
    let text = refused(&rig, &enable(Modern));
    for words in [
        "n2: ",
        "shut out by the profile modern",
        "SOURCE_TLS_VERSION is TLSv1.2",
        "SOURCE_TLS_VERSION='TLSv1.3'",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(Operator::new(&rig, "root@db1").plan(&enable(Intermediate)).is_ok());
    rig.shared.borrow_mut().servers[1].channels[0].tls_versions = "TLSv1.2,TLSv1.3".into();
    must(&rig, &enable(Modern));
}

/// MySQL's admin port follows the main one, is seen to, and is not taken for well where it does not or cannot be reached.
#[test]
fn the_admin_port_of_mysql_is_looked_at_too() {
    let with_admin = || {
        let rig = Rig::on(World::replicas_of_mysql(seed(), &[vec![], vec![0]]));
        for (name, value) in [("admin_address", "10.77.0.1"), ("admin_port", "33062"), ("admin_ssl_cert", "")]
        {
            rig.shared.borrow_mut().servers[0].shown.insert(name.to_owned(), Some(value.to_owned()));
        }
        rig
    };
    let rotate = Change::new(Verb::Rotate, Noun::OF_REPLICAS);
    let notes = |rig: &Rig, change: &Change, step: &str| {
        let operator = Operator::new(rig, "root@db1");
        let end = operator.apply(&operator.plan(change).expect("a plan"));
        assert!(end.is_complete(), "{end:?}");
        settled(rig);
        let journals = operator.journals();
        let text = String::from_utf8_lossy(&journals.last().expect("one").1).into_owned();
        text.lines().filter(|line| line.contains(step)).collect::<Vec<_>>().join("\n")
    };
    let rig = with_admin();
    let text = notes(&rig, &enable(Modern), "E2.n1");
    let wanted = ["is refused, on its admin port too", "its admin port shows it too"];
    assert!(wanted.into_iter().all(|one| text.contains(one)), "{text}");
    assert!(notes(&rig, &rotate, "R1.n1").contains("its admin port shows it too"));

    rig.shared.borrow_mut().admin_answers = false;
    let text = notes(&rig, &clients(Intermediate), "E2.n1");
    assert!(text.contains("of its admin port that cannot be told"), "{text}");

    let rig = with_admin();
    rig.shared.borrow_mut().admin_leaf = Some(std::fs::read(ca_of(&rig)).expect("a certificate"));
    let (step, why) = stopped(&run(&rig, &Change::new(Verb::Enable, [])));
    assert!(step == "E2.n1" && why.contains("the admin port of n1 shows another certificate"), "{why}");
}

/// A certificate that is none of a server.
fn ca_of(rig: &Rig) -> std::path::PathBuf {
    let spec = trust::CaSpec { common_name: "another".into(), valid_days: 1, key: trust::KeyKind::EcP256 };
    let now = rig.shared.borrow().unix_s();
    let path = rig.dir.path().join("another.pem");
    std::fs::write(&path, trust::Ca::create(&spec, now).expect("made").cert_pem()).expect("writable");
    path
}

#[test]
fn lines_of_somebody_else_are_refused_and_not_overwritten() {
    let rig = estate();
    persist(&mut rig.shared.borrow_mut().servers[0], "tls_version", "TLSv1.2");
    let why = refused(&rig, &clients(Modern));
    assert!(
        why.contains("n1: tls_version is set already") && why.contains("RESET PERSIST tls_version"),
        "{why}"
    );
    // Of a change without a profile it is nobody's business.
    assert!(Operator::new(&rig, "root@db1").plan(&Change::new(Verb::Enable, [])).is_ok());

    for change in
        [Change::new(Verb::Enable, [Noun::Replication]), Change::new(Verb::Disable, [Noun::Replication])]
    {
        let why = refused(&estate(), &change.with_profile(Some(Modern)));
        assert!(why.contains("is of what clients are offered"), "{why}");
    }
}
