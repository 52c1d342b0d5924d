//! The cluster's CA is replaced while it serves, in the simulated world.

use std::collections::BTreeMap;

use model::{Change, Noun, Verb};
use testbed::sim::disk::Entry;
use testbed::sim::{Rig, World};
use trust::{Ca, CaSpec, KeyKind, LeafSpec, Rollover};

/// 2026-11-21T00:00:00Z, when the worlds begin.
const BEGAN_UNIX_S: i64 = 1_795_219_200;

fn rotate_ca() -> Change {
    Change::new(Verb::Rotate, [Noun::Ca])
}

fn enable() -> Change {
    Change::new(Verb::Enable, Noun::ALL)
}

/// Those that servers read, as text.
fn key_files(rig: &Rig) -> Vec<BTreeMap<String, String>> {
    let world = rig.shared.borrow();
    let ours = |(path, entry): (&std::path::PathBuf, &Entry)| {
        let text = path.display().to_string();
        let is_read = path.starts_with("/etc") && path.extension().is_some_and(|one| one == "pem");
        let bytes = entry.bytes.clone().unwrap_or_default();
        is_read.then(|| (text, String::from_utf8_lossy(&bytes).into_owned()))
    };
    world.servers.iter().map(|server| server.disk.entries.iter().filter_map(ours).collect()).collect()
}

/// Whether each running member takes a leaf of this CA.
fn taken(rig: &Rig, ca: &Ca) -> Vec<bool> {
    let world = rig.shared.borrow();
    let spec = LeafSpec {
        common_name: "probe".into(),
        dns: vec![],
        ips: vec![],
        valid_days: 1,
        key: KeyKind::EcP256,
        not_before_unix: None,
        not_after_unix: None,
    };
    let leaf = ca.issue(&spec, world.unix_s()).expect("issued").cert_pem;
    let takes = |live: &testbed::sim::process::Live| {
        let trusted = live.galera.as_ref().map(|identity| identity.trusted.clone()).unwrap_or_default();
        trust::chain_ok(leaf.as_bytes(), &trusted, world.unix_s()).is_ok()
    };
    world.servers.iter().map(|server| server.live.as_ref().is_some_and(takes)).collect()
}

fn open(rig: &Rig) -> Ca {
    Ca::open(&rig.ca_dir(), &rig.passphrase.clone().into()).expect("opens")
}

fn nothing_broken(rig: &Rig) {
    assert_eq!(rig.shared.borrow().violations, Vec::<String>::new());
}

#[test]
fn the_old_ca_is_refused_at_the_end_and_every_member_was_restarted_once() {
    for (rig, restarts) in [
        (Rig::new(11, 3), vec![2, 1, 0]),
        (Rig::on(World::cluster_with_arbitrator(12, 2)), vec![2, 2, 2, 1, 0]),
    ] {
        rig.must(&enable());
        let (old, before) = (open(&rig), key_files(&rig));
        let members = rig.shared.borrow().servers.len();
        assert_eq!(taken(&rig, &old), vec![true; members]);
        rig.shared.borrow_mut().stops.clear();
        let plan = rig.must(&rotate_ca());
        let new = open(&rig);
        assert_ne!(old.cert_pem(), new.cert_pem());
        assert_eq!(taken(&rig, &old), vec![false; members], "{:?}", plan.steps);
        assert_eq!(taken(&rig, &new), vec![true; members]);
        let mut stops = rig.shared.borrow().stops.clone();
        stops.sort_by_key(|&index| std::cmp::Reverse(index));
        assert_eq!(stops, restarts);
        for files in key_files(&rig) {
            let ca = files.iter().find(|(path, _)| path.ends_with("/ca.pem")).expect("there");
            assert_eq!(*ca.1, new.cert_pem());
        }
        nothing_broken(&rig);

        // Taken back, every file is what it was; the running servers trust the new CA besides until their next start.
        let end = rig.resume(Some(change::Direction::Back));
        assert!(end.is_complete(), "{}", end.text());
        assert!(key_files(&rig) == before, "a file is not as it was");
        assert_eq!(open(&rig).cert_pem(), old.cert_pem());
        assert_eq!(taken(&rig, &old), vec![true; members]);
        nothing_broken(&rig);
    }
}

#[test]
fn taken_back_in_the_middle_every_file_is_as_it_was() {
    let base = Rig::new(13, 3);
    base.must(&enable());
    let rehearsal = base.fork(13);
    rehearsal.must(&rotate_ca());
    let moments: Vec<String> = {
        let plan = base.fork(13).plan(&rotate_ca()).expect("a plan");
        plan.steps.iter().filter(|step| !step.no_op).map(|step| format!("{}:acting", step.id)).collect()
    };
    assert!(moments.len() > 10, "{moments:?}");
    for moment in moments.iter().filter(|moment| !moment.contains("look")) {
        let rig = base.fork(13);
        let (before, old) = (key_files(&rig), open(&rig));
        rig.apply_until(&rotate_ca(), moment);
        let end = rig.resume(Some(change::Direction::Back));
        assert!(end.is_complete(), "{moment}: {}", end.text());
        assert!(key_files(&rig) == before, "{moment}: a file is not as it was");
        assert_eq!(open(&rig).cert_pem(), old.cert_pem(), "{moment}: who signs");
        assert!(taken(&rig, &old).iter().all(|yes| *yes), "{moment}");
        nothing_broken(&rig);
        // And it can be done once more, with the CA that was made then.
        rig.must(&rotate_ca());
        assert!(taken(&rig, &old).iter().all(|yes| !*yes), "{moment}: again");
        nothing_broken(&rig);
    }
}

/// A CA for one day that has an hour left when the world begins.
fn short_lived(rig: &Rig) {
    let spec = CaSpec { common_name: "short-lived".into(), valid_days: 1, key: KeyKind::EcP256 };
    let ca = Ca::create(&spec, BEGAN_UNIX_S - 86_400 + 3_600).expect("made");
    ca.save(&rig.ca_dir(), &rig.passphrase.clone().into()).expect("saved");
}

#[test]
fn an_old_ca_that_has_expired_before_or_on_the_way_is_replaced_all_the_same() {
    for rig in [Rig::new(14, 3), Rig::on(World::cluster_with_arbitrator(15, 2))] {
        short_lived(&rig);
        rig.must(&enable());
        let base = rig.fork(14);

        // Before.
        let rig = base.fork(14);
        rig.shared.advance(3_700_000);
        rig.must(&rotate_ca());
        let members = rig.shared.borrow().servers.len();
        assert_eq!(taken(&rig, &open(&rig)), vec![true; members]);
        nothing_broken(&rig);

        // On the way: behind some members' first step, and behind some members' new leaf.
        for moment in ["R1.n2:acting", "R3.n2:acting", "R4.n1:acting"] {
            let rig = base.fork(14);
            rig.apply_until(&rotate_ca(), moment);
            rig.shared.advance(3_700_000);
            let end = rig.resume(None);
            assert!(end.is_complete(), "{moment}: {}", end.text());
            assert_eq!(taken(&rig, &open(&rig)), vec![true; members], "{moment}");
            nothing_broken(&rig);
        }
    }
}

#[test]
fn a_ca_of_the_company_beside_ours_stays_in_every_file() {
    let rig = Rig::new(16, 3);
    rig.must(&enable());
    let spec = CaSpec { common_name: "company".into(), valid_days: 3650, key: KeyKind::EcP256 };
    let company = Ca::create(&spec, BEGAN_UNIX_S).expect("made").cert_pem();
    for server in &mut rig.shared.borrow_mut().servers {
        let path = std::path::Path::new("/etc/mysql/sealion/ca.pem");
        let entry = server.disk.entries.get_mut(path).expect("placed");
        let both = [entry.bytes.clone().expect("a file"), company.clone().into_bytes()].concat();
        entry.bytes = Some(both);
    }
    rig.must(&rotate_ca());
    let new = open(&rig).cert_pem();
    for files in key_files(&rig) {
        let ca = files.iter().find(|(path, _)| path.ends_with("/ca.pem")).expect("there");
        assert_eq!(*ca.1, format!("{company}{new}"));
    }
    // So it does in an ordinary rotation.
    rig.must(&Change::new(Verb::Rotate, Noun::ALL));
    for files in key_files(&rig) {
        let ca = files.iter().find(|(path, _)| path.ends_with("/ca.pem")).expect("there");
        assert_eq!(*ca.1, format!("{company}{new}"));
    }
}

#[test]
fn it_is_refused_where_there_is_none_and_for_other_verbs() {
    let rig = Rig::new(17, 3);
    let refused = rig.plan(&rotate_ca()).expect_err("nothing to replace");
    assert!(refused.contains("does not use TLS only"), "{refused}");
    for verb in [Verb::Enable, Verb::Disable] {
        let refused = rig.plan(&Change::new(verb, [Noun::Galera, Noun::Ca])).expect_err("refused");
        assert!(refused.contains("it can be replaced only"), "{refused}");
    }
    rig.must(&enable());
    assert!(Rollover::current_sha256(&rig.ca_dir()).is_ok());
}

const CA: &str = "/etc/mysql/sealion/ca.pem";
const CERT: &str = "/etc/mysql/sealion/node-cert.pem";
const KEY: &str = "/etc/mysql/sealion/node-key.pem";

fn text_of(rig: &Rig, server: usize, path: &str) -> String {
    rig.shared.borrow().servers[server].disk.text(path).expect("there")
}

/// As somebody else writes it.
fn put(rig: &Rig, server: usize, path: &str, text: &str) {
    let mode = if path == KEY { 0o600 } else { 0o644 };
    rig.shared.borrow_mut().servers[server].disk.put(path, text, 999, mode);
}

fn company() -> String {
    let spec = CaSpec { common_name: "company".into(), valid_days: 3650, key: KeyKind::EcP256 };
    Ca::create(&spec, BEGAN_UNIX_S).expect("made").cert_pem()
}

fn sealed(seed: u64) -> Rig {
    let rig = Rig::new(seed, 3);
    rig.must(&enable());
    rig.fork(seed)
}

#[test]
fn an_undo_of_a_rotation_keeps_what_was_added_to_the_ca_file_meanwhile() {
    let rig = sealed(18);
    let before = key_files(&rig);
    rig.must(&Change::new(Verb::Rotate, Noun::ALL));
    let added = text_of(&rig, 0, CA) + &company();
    put(&rig, 0, CA, &added);
    let end = rig.resume(Some(change::Direction::Back));
    assert!(end.is_complete(), "{}", end.text());
    assert_eq!(text_of(&rig, 0, CA), added);
    assert_eq!(text_of(&rig, 0, KEY), before[0][KEY]);
    assert!(key_files(&rig)[1] == before[1], "n2 is not as it was");
}

/// Last night's backup is no certificate of the new CA.
#[test]
fn an_older_pair_that_somebody_puts_back_is_not_taken_for_the_new_one() {
    let base = sealed(19);
    let old = [CERT, KEY].map(|path| text_of(&base, 2, path));
    base.must(&Change::new(Verb::Rotate, Noun::ALL));
    for wish in [change::Direction::Forward, change::Direction::Back] {
        let rig = base.fork(19);
        rig.apply_until(&rotate_ca(), "R3.n3:acting");
        put(&rig, 2, CERT, &old[0]);
        put(&rig, 2, KEY, &old[1]);
        let end = rig.resume(Some(wish));
        assert!(end.is_complete(), "{wish:?}: {}", end.text());
        let signs = open(&rig).cert_pem();
        let now = rig.shared.borrow().unix_s();
        for server in 0..3 {
            let cert = text_of(&rig, server, CERT);
            assert!(trust::chain_ok(cert.as_bytes(), signs.as_bytes(), now).is_ok(), "{wish:?}");
        }
        nothing_broken(&rig);
    }
}

#[test]
fn the_key_of_an_expired_certificate_is_kept_when_it_is_replaced() {
    let rig = Rig::new(20, 3);
    short_lived(&rig);
    rig.must(&enable());
    let key = text_of(&rig, 0, KEY);
    rig.shared.advance(3_700_000);
    rig.must(&rotate_ca());
    assert_ne!(text_of(&rig, 0, KEY), key);
    let world = rig.shared.borrow();
    let mut kept =
        world.servers[0].disk.entries.iter().filter(|(path, _)| path.starts_with("/var/lib/sealion/rotated"));
    assert!(kept.any(|(_, entry)| entry.bytes.as_deref() == Some(key.as_bytes())), "the key is nowhere");
}

#[test]
fn undo_removes_the_ca_that_was_made_whatever_lies_in_its_place() {
    for is_replaced in [false, true] {
        let rig = sealed(21);
        let before = key_files(&rig);
        rig.apply_until(&rotate_ca(), "R2.ca:acting");
        let next = rig.ca_dir().join("next");
        std::fs::remove_dir_all(&next).expect("ours");
        if is_replaced {
            let spec = CaSpec { common_name: "other".into(), valid_days: 3650, key: KeyKind::EcP256 };
            let other = Ca::create(&spec, BEGAN_UNIX_S).expect("made");
            other.save(&next, &rig.passphrase.clone().into()).expect("saved");
        }
        let forward = rig.resume(Some(change::Direction::Forward));
        assert!(!forward.is_complete() && forward.text().contains("not in"), "{}", forward.text());
        let end = rig.resume(Some(change::Direction::Back));
        assert!(end.is_complete(), "{}", end.text());
        assert!(key_files(&rig) == before, "a file is not as it was");
    }
}

#[test]
fn a_member_whose_file_lost_the_new_ca_gets_no_certificate_of_it() {
    let rig = sealed(22);
    rig.apply_until(&rotate_ca(), "R3.n1:acting");
    let old_and_company = {
        let retired = std::fs::read_dir(rig.ca_dir().join("retired")).expect("there").next().expect("one");
        std::fs::read_to_string(retired.expect("readable").path().join("ca.pem")).expect("there") + &company()
    };
    put(&rig, 0, CA, &old_and_company);
    let end = rig.resume(None);
    assert!(end.text().contains("n1 does not have the new CA any more"), "{}", end.text());
    assert_eq!(text_of(&rig, 0, CA), old_and_company);
    nothing_broken(&rig);
}
