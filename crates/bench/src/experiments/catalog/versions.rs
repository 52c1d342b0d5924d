use crate::experiments::arms::{ArmTls, Experiment, Measure, arm};

pub const EXPERIMENT: Experiment = Experiment {
    name: "versions",
    question: "Does TLS 1.3 connect faster than TLS 1.2?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[
        arm("TLS 1.2", ArmTls::version(net::TlsVersion::Tls12)),
        arm("TLS 1.3", ArmTls::version(net::TlsVersion::Tls13)),
    ],
    connections: &[],
    published: None,
};
