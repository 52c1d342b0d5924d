use super::shared::AT_REST;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "at-rest-scan",
    question: "What does encryption at rest cost reads of whole tables?",
    workload: "stream",
    measure: Measure::EventsPerS,
    arms: AT_REST,
    connections: &[1],
    published: None,
};
