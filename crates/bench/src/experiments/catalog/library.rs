use crate::experiments::arms::{ArmTls, Experiment, Measure, arm};

pub const EXPERIMENT: Experiment = Experiment {
    name: "library",
    question: "Does the TLS library of the client change the throughput of a pool of connections?",
    workload: "oltp_read_only",
    measure: Measure::QueriesPerS,
    arms: &[arm("OpenSSL", ArmTls::OPENSSL), arm("rustls", ArmTls::rustls(net::Resumes::No))],
    connections: &[],
    published: None,
};
