use super::shared::{GALERA, GALERA_2014};
use crate::experiments::arms::{Experiment, Measure, Published, single};

pub const EXPERIMENT: Experiment = Experiment {
    name: "galera-read",
    question: "What does TLS between Galera nodes cost reads?",
    workload: "oltp_read_only",
    measure: Measure::EventsPerS,
    arms: GALERA,
    connections: &[32],
    published: Some(Published {
        source: GALERA_2014,
        rows: &[single("replication in cleartext", 32, 233.8), single("replication by TLS", 32, 230.8)],
        findings: &[],
    }),
};
