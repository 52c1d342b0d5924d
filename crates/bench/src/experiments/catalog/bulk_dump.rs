use super::shared::SUITES;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "bulk-dump",
    question: "What does TLS cost mysqldump, by cipher suite?",
    workload: "dump",
    measure: Measure::EventsPerS,
    arms: SUITES,
    connections: &[1],
    published: None,
};
