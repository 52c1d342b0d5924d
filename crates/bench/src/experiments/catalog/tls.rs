use super::shared::OFF_AND_ON;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "tls",
    question: "What does TLS cost a pool of connections?",
    workload: "oltp_read_only",
    measure: Measure::QueriesPerS,
    arms: OFF_AND_ON,
    connections: &[],
    published: None,
};
