//! Galera traffic has an address of a private network.

use model::Severity;
use model::facts::cluster;

use crate::FactRule;

pub const GALERA_ADDRESS: FactRule = FactRule {
    id: "SL3106",
    title: "Galera traffic has an address of a private network",
    severity: Severity::High,
    references: &["Galera manual: Firewall Settings", "RFC 1918, RFC 4193"],
    explanation: "Ports of Galera ask for no password. With an address that the internet reaches, only certificates and a firewall stand between strangers and the data.",
    remedy: "wsrep_node_address=ADDRESS and gmcast.listen_addr in wsrep_provider_options with an address of a private network, then restart",
    fact: &cluster::GALERA_PUBLIC_ADDRESS,
    judge: crate::verdicts::absent,
};
