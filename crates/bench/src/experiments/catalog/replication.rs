use crate::experiments::arms::{Arm, ArmTls, Experiment, Measure, Place, arm};

const fn replica(name: &'static str, tls: bool) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Replica { tls })
}

pub const EXPERIMENT: Experiment = Experiment {
    name: "replication",
    question: "What does TLS cost a replica that reads the binary log of its source?",
    workload: "replication",
    measure: Measure::EventsPerS,
    arms: &[replica("cleartext", false), replica("TLS", true)],
    connections: &[1],
    published: None,
};
