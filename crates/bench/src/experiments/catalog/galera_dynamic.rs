use super::shared::galera;
use crate::experiments::arms::{Between, Experiment, Made, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "galera-dynamic",
    question: "What does a Galera cluster cost during a change to TLS, while its nodes accept both?",
    workload: "oltp_write_only",
    measure: Measure::EventsPerS,
    arms: &[
        galera("replication in cleartext", Between::ClearText),
        galera("replication by TLS", Between::Tls(Made::PLAIN.key)),
        galera("socket.dynamic", Between::Dynamic(Made::PLAIN.key)),
    ],
    connections: &[32],
    published: None,
};
