//! sealion on simulated and on real servers: one program, so that it is linked once.

mod accounts_sim;
mod arbitrators_sim;
mod bench;
mod bench_lab;
mod client_trust_sim;
mod company_ca;
mod estate_ca_sim;
mod estate_sim;
mod fleets_sim;
mod gates_sim;
mod join_sim;
mod kill_matrix;
mod kills_hosts_sim;
mod kills_sim;
mod lab_at_rest;
mod lab_at_rest_galera;
mod lab_at_rest_rotated;
mod lab_audit;
mod lab_audit_disguises;
mod lab_audit_followed;
mod lab_audit_host;
mod lab_audit_kept;
mod lab_audit_lost;
mod lab_audit_plan;
mod lab_audit_search;
mod lab_audit_statements;
mod lab_behaviours;
mod lab_demo;
mod lab_disturbed;
mod lab_elsewhere;
mod lab_estate;
mod lab_estate_kills;
mod lab_hosts;
mod lab_hosts_kills;
mod lab_hosts_secrets;
mod lab_join;
mod lab_key_tries;
mod lab_keys;
mod lab_kills;
mod lab_membership;
mod lab_migrate;
mod lab_migrate_kills;
mod lab_mixed;
mod lab_outsider;
mod lab_promises;
mod lab_prove_disk;
mod lab_refusals;
mod lab_replicas;
mod lab_rest;
mod lab_scan;
mod lab_share;
mod lab_single;
mod lab_watch;
mod lab_xbstream;
mod luks_real;
mod luks_server;
mod luks_sim;
mod mysql_sim;
mod natures_sim;
mod operators_sim;
mod packages;
mod profile_sim;
mod prove;
mod prove_config;
mod prove_drivers;
mod prove_relay;
mod prove_secrets;
mod prove_sniff;
mod prove_tour;
mod proxy_sim;
mod refusals_sim;
mod replicas_sim;
mod rest_sparse;
mod retries_sim;
mod rollover_sim;
mod sim_behaviours;
mod stream_kills;
mod support;
mod traps_sim;
mod unkind_sim;

/// What tests run inside a lab, in a process of its own.
#[test]
#[ignore = "it is run inside of a lab by the other tests"]
fn inside_the_lab() {
    testbed::real::inside::run();
}
