use super::shared::AT_REST;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "at-rest",
    question: "What does encryption at rest cost writes?",
    workload: "oltp_write_only",
    measure: Measure::EventsPerS,
    arms: AT_REST,
    connections: &[8],
    published: None,
};
