//! Sealion or a server is killed at every moment of every change, a disk is full, a start stumbles ([`kill_matrix`]).

use change::Direction;
use model::{Change, Noun, Verb};
use testbed::sim::{End, Fault, Instant, Operator, Rig, World};

use crate::kill_matrix::{
    BOTH, after, beside_a_spare, check, check_some, disable, enable, grown, half_written, join, plain,
    rehearse, rotate, sealed, sealed_and_grown, sealed_with_arbitrator, seed, with_arbitrator,
};

const SERVERS: [Fault; 2] = [Fault::KillStepNode, Fault::KillOtherNode];

#[test]
fn enable_survives_sealion_killed() {
    check(&plain(), &enable(), &[Fault::KillSealion], &BOTH);
}

#[test]
fn enable_survives_a_server_killed() {
    check(&plain(), &enable(), &SERVERS, &BOTH);
}

#[test]
fn enable_survives_power_cuts_and_full_disks() {
    check(&plain(), &enable(), &[Fault::PowerCut, Fault::DiskFull], &BOTH);
}

/// What an earlier change has put there is not this one's to take back: keys, files, nodes.
#[test]
fn enable_beside_an_earlier_change_takes_back_its_own_part_only() {
    let galera = Change::new(Verb::Enable, [Noun::Galera]);
    let rest = Change::new(Verb::Enable, [Noun::Sst, Noun::Clients]);
    let base = after(&galera);
    check(&base, &rest, &[Fault::KillSealion], &BOTH);
}

#[test]
fn enable_and_disable_survive_a_start_that_passes() {
    check(&plain(), &enable(), &[Fault::Stumble], &BOTH);
    check(&sealed(), &disable(), &[Fault::Stumble], &BOTH);
}

#[test]
fn disable_survives_sealion_killed() {
    check(&sealed(), &disable(), &[Fault::KillSealion], &BOTH);
}

#[test]
fn disable_survives_a_server_killed() {
    check(&sealed(), &disable(), &SERVERS, &BOTH);
}

#[test]
fn disable_survives_power_cuts_and_full_disks() {
    check(&sealed(), &disable(), &[Fault::PowerCut, Fault::DiskFull], &BOTH);
}

#[test]
fn accounts_survive_everything() {
    let accounts = Change::new(Verb::Enable, [Noun::Accounts]);
    let all =
        [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];
    check(&sealed(), &accounts, &all, &BOTH);
    let back = Change::new(Verb::Disable, [Noun::Accounts]);
    let base = sealed();
    let before = Operator::new(&base, "root@long-ago");
    assert!(before.apply(&before.plan(&accounts).expect("a plan")).is_complete());
    check(&base, &back, &all, &BOTH);
}

#[test]
fn rotate_survives_everything() {
    check(
        &sealed(),
        &rotate(),
        &[Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull],
        &BOTH,
    );
}

#[test]
fn an_arbitrator_is_changed_with_its_nodes_whoever_is_killed() {
    let all =
        [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];
    check_some(&with_arbitrator(), &enable(), &all, &BOTH, 4);
}

#[test]
fn an_arbitrator_goes_back_with_its_nodes_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check_some(&sealed_with_arbitrator(), &disable(), &all, &BOTH, 4);
}

/// Seen on Galera 26.4.23: whoever joined later is known by what others tell, and not everybody can dial it so.
#[test]
fn a_cluster_that_has_grown_is_sealed_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check_some(&grown(), &enable(), &all, &BOTH, 4);
}

#[test]
fn a_cluster_that_has_grown_goes_back_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check_some(&sealed_and_grown(), &disable(), &all, &BOTH, 4);
}

#[test]
fn an_arbitrator_gets_a_new_certificate_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check_some(&sealed_with_arbitrator(), &rotate(), &all, &BOTH, 4);
}

#[test]
fn join_survives_sealion_killed() {
    check(&beside_a_spare(), &join(), &[Fault::KillSealion], &BOTH);
}

#[test]
fn join_survives_a_server_killed() {
    check(&beside_a_spare(), &join(), &SERVERS, &BOTH);
}

#[test]
fn join_survives_power_cuts_full_disks_and_a_start_that_passes() {
    check(&beside_a_spare(), &join(), &[Fault::PowerCut, Fault::DiskFull, Fault::Stumble], &BOTH);
}

#[test]
fn join_survives_a_server_that_stalls() {
    check(&beside_a_spare(), &join(), &[Fault::Freeze(8_000)], &BOTH);
}

fn rotate_ca() -> Change {
    Change::new(Verb::Rotate, [Noun::Ca])
}

#[test]
fn a_rollover_of_the_ca_survives_sealion_killed() {
    check_some(&sealed(), &rotate_ca(), &[Fault::KillSealion], &BOTH, 8);
}

#[test]
fn a_rollover_of_the_ca_survives_a_server_killed_power_cuts_and_full_disks() {
    let faults = [Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut, Fault::DiskFull];
    check_some(&sealed(), &rotate_ca(), &faults, &BOTH, 8);
}

#[test]
fn a_rollover_of_the_ca_with_an_arbitrator_survives_kills() {
    let faults = [Fault::KillSealion, Fault::KillStepNode];
    check_some(&sealed_with_arbitrator(), &rotate_ca(), &faults, &BOTH, 8);
}

/// A key is written under another name first. Who continues, or closes the change, removes what is left of that.
#[test]
fn half_of_a_key_is_left_by_nobody() {
    for place in ["incoming/node-key.pem", "/etc/mysql/sealion/node-key.pem"] {
        let base = plain();
        let clean = rehearse(&base, &enable());
        let is_it = |instant: &Instant| {
            instant.moment == "E0.n2:acting"
                && instant.before.contains("write")
                && instant.before.ends_with(place)
        };
        let Some(at) = clean.instants.iter().position(is_it) else {
            let writes = clean.instants.iter().filter(|one| one.moment == "E0.n2:acting");
            panic!("{place}: {:?}", writes.map(|one| &one.before).collect::<Vec<_>>());
        };
        for end in ["resume", "undo", "abandon"] {
            let rig = base.fork(seed());
            let operator = Operator::new(&rig, "root@db1");
            let plan = operator.plan(&enable()).expect("a plan");
            rig.arm(Some((at, Fault::KillSealion)));
            assert_eq!(operator.apply(&plan), End::Killed);
            rig.arm(None);
            let left = half_written(&rig.shared.borrow().servers[1]);
            assert!(left.len() == 1 && left[0].contains(".node-key.pem.sealion-"), "{left:?}");
            let ended = match end {
                "resume" => operator.go_on(None),
                "undo" => operator.go_on(Some(Direction::Back)),
                _ => operator.abandon(),
            };
            assert!(ended.is_complete(), "{end}: {ended:?}");
            let world = rig.shared.borrow();
            assert_eq!(half_written(&world.servers[1]), Vec::<String>::new(), "{place} {end}");
            let told = world
                .said
                .iter()
                .any(|line| line.contains("n2: half-written files") && line.contains(&left[0]));
            assert!(told, "{end}: {:?}", world.said);
        }
    }
}

const TIMEOUTS: [(&str, &str); 3] =
    [("evs.inactive_timeout", "PT15S"), ("evs.install_timeout", "PT7.5S"), ("evs.suspect_timeout", "PT5S")];

/// A running node of a large cluster has its old timeouts, as one that somebody has restarted.
fn forgets_its_patience(rig: &Rig, index: usize) {
    let mut world = rig.shared.borrow_mut();
    let live = world.servers[index].live.as_mut().expect("it runs");
    let mut options = server::ProviderOptions::parse(&live.read_back);
    for (key, value) in TIMEOUTS {
        options.set(key, value);
    }
    live.read_back = options.to_string();
}

fn of_five() -> Rig {
    Rig::on(World::cluster(seed(), 5))
}

/// Killed before the first instant of this moment.
fn killed_at(base: &Rig, change: &Change, moment: &str) -> (Rig, Operator) {
    let clean = rehearse(base, change);
    let at = clean.instants.iter().position(|instant| instant.moment == moment);
    let at = at.unwrap_or_else(|| panic!("no {moment}"));
    let rig = base.fork(seed());
    let operator = Operator::new(&rig, "root@db1");
    let plan = operator.plan(change).expect("a plan");
    rig.arm(Some((at, Fault::KillSealion)));
    assert_eq!(operator.apply(&plan), End::Killed, "{moment}");
    rig.arm(None);
    (rig, operator)
}

#[test]
fn members_that_do_not_wait_equally_long_stop_a_resume_before_anybody_is_dynamic() {
    let base = of_five();
    for moment in ["E1p.n4:acting", "E2.n5:acting", "E4.n3:acting"] {
        let (rig, operator) = killed_at(&base, &enable(), moment);
        forgets_its_patience(&rig, 0);
        let letters = rig.shared.borrow().letters();
        let end = operator.go_on(None);
        let text = format!("{end:?}");
        let is_told =
            text.contains("E1p.look") && text.contains("n1: evs.") && text.contains("on n1: SET GLOBAL");
        assert!(is_told && !text.contains("n2: evs."), "{moment}: {text}");
        assert_eq!(rig.shared.borrow().letters(), letters, "{moment}");
        // What it says helps.
        {
            let mut world = rig.shared.borrow_mut();
            let wanted = world.servers[1].live.as_ref().expect("it runs").read_back.clone();
            let live = world.servers[0].live.as_mut().expect("it runs");
            let mut options = server::ProviderOptions::parse(&live.read_back);
            for (key, _) in TIMEOUTS {
                options.set(key, server::ProviderOptions::parse(&wanted).get(key).expect("it has it"));
            }
            live.read_back = options.to_string();
        }
        assert!(operator.go_on(None).is_complete(), "{moment}");
        assert_eq!(rig.shared.borrow().app.failed, 0, "{moment}");
    }
    // At its end they are equal again one after the other, and nobody is dynamic.
    let (_rig, operator) = killed_at(&base, &enable(), "E4p.n3:acting");
    assert!(operator.go_on(None).is_complete());
    let (_rig, operator) = killed_at(&after_of(&base), &disable(), "D2p.n3:acting");
    assert!(operator.go_on(None).is_complete());
}

fn after_of(base: &Rig) -> Rig {
    let rig = base.fork(seed());
    let operator = Operator::new(&rig, "root@long-ago");
    assert!(operator.apply(&operator.plan(&enable()).expect("a plan")).is_complete());
    rig
}

#[test]
fn an_abandoned_change_names_the_timeouts_that_it_leaves_and_those_before() {
    let base = of_five();
    for (moment, named) in
        [("E1p.n3:acting", "n1 n2"), ("E2.n3:acting", "n1 n2 n3 n4 n5"), ("E4p.n4:acting", "n4 n5")]
    {
        let (rig, operator) = killed_at(&base, &enable(), moment);
        let said = rig.shared.borrow().said.len();
        assert!(operator.abandon().is_complete());
        let world = rig.shared.borrow();
        let of = |line: &&String| line.contains("it suspects silent members later than before");
        let lines: Vec<&String> = world.said[said..].iter().filter(of).collect();
        let names: Vec<&str> = lines.iter().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(names.join(" "), named, "{moment}: {lines:?}");
        assert!(lines.iter().all(|line| line.contains("evs.suspect_timeout=PT5S")), "{lines:?}");
    }
}
