//! One experiment a file; [`ALL`] is the register, in the order in which `sealion bench list` shows them.

mod aa;
mod aes;
mod at_rest;
mod at_rest_scan;
mod bandwidth;
mod bulk;
mod bulk_dump;
mod chain;
mod connect;
mod floor;
mod galera_dynamic;
mod galera_mixed;
mod galera_read;
mod galera_write;
mod groups;
mod library;
mod openssl;
mod pool;
mod reconnect;
mod replication;
mod shared;
mod sst;
mod sst_ciphers;
mod sst_no_aes;
mod sst_tools;
mod sst_wan;
mod sst_wan_no_aes;
mod stream1;
mod tls;
mod tunnels;
mod tunnels_connect;
mod verify;
mod versions;
mod wan;

use super::Experiment;

pub const ALL: &[Experiment] = &[
    aa::EXPERIMENT,
    tls::EXPERIMENT,
    pool::EXPERIMENT,
    connect::EXPERIMENT,
    reconnect::EXPERIMENT,
    stream1::EXPERIMENT,
    bulk::EXPERIMENT,
    bulk_dump::EXPERIMENT,
    aes::EXPERIMENT,
    verify::EXPERIMENT,
    chain::EXPERIMENT,
    library::EXPERIMENT,
    versions::EXPERIMENT,
    groups::EXPERIMENT,
    openssl::EXPERIMENT,
    bandwidth::EXPERIMENT,
    tunnels::EXPERIMENT,
    tunnels_connect::EXPERIMENT,
    floor::EXPERIMENT,
    galera_write::EXPERIMENT,
    galera_read::EXPERIMENT,
    galera_mixed::EXPERIMENT,
    galera_dynamic::EXPERIMENT,
    wan::EXPERIMENT,
    sst::EXPERIMENT,
    sst_tools::EXPERIMENT,
    sst_ciphers::EXPERIMENT,
    sst_no_aes::EXPERIMENT,
    sst_wan::EXPERIMENT,
    sst_wan_no_aes::EXPERIMENT,
    replication::EXPERIMENT,
    at_rest::EXPERIMENT,
    at_rest_scan::EXPERIMENT,
];
