use super::shared::TUNNELS;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "tunnels-connect",
    question: "TLS of the server or a tunnel: what does each cost a client that connects for every request?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: TUNNELS,
    connections: &[4],
    published: None,
};
