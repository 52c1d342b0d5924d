use super::shared::{GALERA, GALERA_2014};
use crate::experiments::arms::{Experiment, Measure, Published, single};

pub const EXPERIMENT: Experiment = Experiment {
    name: "galera-write",
    question: "What does TLS between Galera nodes cost writes?",
    workload: "oltp_write_only",
    measure: Measure::EventsPerS,
    arms: GALERA,
    connections: &[32],
    published: Some(Published {
        source: GALERA_2014,
        rows: &[single("replication in cleartext", 32, 1237.0), single("replication by TLS", 32, 979.2)],
        findings: &[],
    }),
};
