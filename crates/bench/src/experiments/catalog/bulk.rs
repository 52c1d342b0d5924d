use super::shared::SUITES;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "bulk",
    question: "Which cipher suite costs least when whole tables are read?",
    workload: "stream",
    measure: Measure::EventsPerS,
    arms: SUITES,
    connections: &[],
    published: None,
};
