use crate::experiments::arms::{ArmTls, Experiment, Measure, arm};

pub const EXPERIMENT: Experiment = Experiment {
    name: "groups",
    question: "What does the key exchange group cost per connection?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[
        arm("X25519", ArmTls::group("X25519")),
        arm("P-256", ArmTls::group("P-256")),
        arm("P-384", ArmTls::group("P-384")),
        arm("X25519 and ML-KEM-768", ArmTls::group("X25519MLKEM768")),
    ],
    connections: &[],
    published: None,
};
