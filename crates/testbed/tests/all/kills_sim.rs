//! Sealion or a server is killed at every moment of every change, a disk is full, a start stumbles ([`kill_matrix`]).

use model::{Change, Noun, Verb};
use testbed::sim::{Fault, Operator};

use crate::kill_matrix::{
    BOTH, after, beside_a_spare, check, check_some, disable, enable, grown, join, plain, rotate, sealed,
    sealed_and_grown, sealed_with_arbitrator, with_arbitrator,
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
    check(&with_arbitrator(), &enable(), &all, &BOTH);
}

#[test]
fn an_arbitrator_goes_back_with_its_nodes_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check(&sealed_with_arbitrator(), &disable(), &all, &BOTH);
}

/// Seen on Galera 26.4.23: whoever joined later is known by what others tell, and not everybody can dial it so.
#[test]
fn a_cluster_that_has_grown_is_sealed_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check(&grown(), &enable(), &all, &BOTH);
}

#[test]
fn a_cluster_that_has_grown_goes_back_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check(&sealed_and_grown(), &disable(), &all, &BOTH);
}

#[test]
fn an_arbitrator_gets_a_new_certificate_whoever_is_killed() {
    let all = [Fault::KillSealion, Fault::KillStepNode, Fault::KillOtherNode, Fault::PowerCut];
    check(&sealed_with_arbitrator(), &rotate(), &all, &BOTH);
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
