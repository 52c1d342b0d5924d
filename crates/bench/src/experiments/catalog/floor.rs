use crate::experiments::arms::{ArmTls, Experiment, Measure, Place, arm};

pub const EXPERIMENT: Experiment = Experiment {
    name: "floor",
    question: "Which part of the cost of a connection is TLS, and which is MySQL?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[
        arm("TCP and an echo", ArmTls::OFF).at(Place::Echo { tls: false }),
        arm("TLS and an echo", ArmTls::ON).at(Place::Echo { tls: true }),
        arm("MySQL in cleartext", ArmTls::OFF),
        arm("MySQL by TLS", ArmTls::ON).against("TLS and an echo"),
    ],
    connections: &[],
    published: None,
};
