use super::shared::TUNNELS;
use crate::experiments::arms::{Experiment, Measure};

pub const EXPERIMENT: Experiment = Experiment {
    name: "tunnels",
    question: "TLS of the server or a tunnel: what does each cost a pool of connections?",
    workload: "oltp_read_only",
    measure: Measure::QueriesPerS,
    arms: TUNNELS,
    connections: &[8],
    published: None,
};
