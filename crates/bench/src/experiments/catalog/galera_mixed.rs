use super::shared::{GALERA, GALERA_2014};
use crate::experiments::arms::{Experiment, Measure, Published, single};

pub const EXPERIMENT: Experiment = Experiment {
    name: "galera-mixed",
    question: "What does TLS between Galera nodes cost a mixed workload?",
    workload: "oltp_read_write",
    measure: Measure::EventsPerS,
    arms: GALERA,
    connections: &[32],
    published: Some(Published {
        source: GALERA_2014,
        rows: &[single("replication in cleartext", 32, 392.3), single("replication by TLS", 32, 354.1)],
        findings: &[],
    }),
};
