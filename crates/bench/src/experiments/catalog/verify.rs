use crate::experiments::arms::{ArmTls, Experiment, Measure, arm};

pub const EXPERIMENT: Experiment = Experiment {
    name: "verify",
    question: "What does certificate verification cost the client?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[
        arm("nothing checked", ArmTls::checking(net::SslMode::Required)),
        arm("chain", ArmTls::checking(net::SslMode::VerifyCa)),
        arm("chain and name", ArmTls::checking(net::SslMode::VerifyIdentity)),
        arm(
            "and a client's certificate",
            ArmTls { has_certificate: true, ..ArmTls::checking(net::SslMode::VerifyIdentity) },
        ),
        arm(
            "nothing, but the system's CAs are read",
            ArmTls { reads_system_cas: true, ..ArmTls::checking(net::SslMode::Required) },
        ),
    ],
    connections: &[],
    published: None,
};
