use crate::experiments::arms::{Arm, ArmTls, Experiment, Made, Measure, Place, arm};

const fn below(name: &'static str, issuers: u8) -> Arm {
    arm(name, ArmTls::checking(net::SslMode::VerifyCa)).at(Place::Made(Made { issuers, ..Made::PLAIN }))
}

pub const EXPERIMENT: Experiment = Experiment {
    name: "chain",
    question: "What do intermediate certificates cost a client that verifies them?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[below("signed by the CA", 1), below("one between", 2), below("two between", 3)],
    connections: &[],
    published: None,
};
