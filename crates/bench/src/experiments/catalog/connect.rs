use super::shared::{RSA_1024, RSA_4096, keyed};
use crate::experiments::arms::{ArmTls, Experiment, Key, Measure, Published, arm, row};

pub const EXPERIMENT: Experiment = Experiment {
    name: "connect",
    question: "What does TLS cost a client that connects for every request, by the server's key?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[
        arm("cleartext", ArmTls::OFF),
        arm("TLS", ArmTls::ON),
        RSA_1024,
        RSA_4096,
        arm("TLS, P-256", ArmTls::ON).at(keyed(Key::P256)),
        arm("TLS, P-384", ArmTls::ON).at(keyed(Key::P384)),
        arm("TLS, Ed25519", ArmTls::ON).at(keyed(Key::Ed25519)),
    ],
    connections: &[1, 4, 16, 64],
    published: Some(Published {
        source: "2014, MySQL 5.6.13, one client in Perl on the same machine, TLS with RSA 2048, 10 trials",
        rows: &[
            row("cleartext", 1, 2701.75, 165.54),
            row("TLS, RSA 1024", 1, 77.04, 6.14),
            row("TLS", 1, 28.183, 1.713),
            row("TLS, RSA 4096", 1, 5.45, 0.015),
        ],
        findings: &[],
    }),
};
