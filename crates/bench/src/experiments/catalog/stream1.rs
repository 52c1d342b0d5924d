use super::shared::OFF_AND_ON;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "stream1",
    question: "What does TLS cost one connection that reads whole tables?",
    workload: "stream",
    measure: Measure::EventsPerS,
    arms: OFF_AND_ON,
    connections: &[1],
    // Published in 2014 as four times slower, without figures.
    published: None,
};
