use crate::experiments::arms::{Arm, ArmTls, Experiment, Key, Made, Measure, Place, arm};

const fn wan(name: &'static str, tls: Option<Key>, one_way_ms: u16) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Wan { tls, one_way_ms })
}

pub const EXPERIMENT: Experiment = Experiment {
    name: "wan",
    question: "What does TLS between Galera nodes cost when they are far apart?",
    workload: "oltp_write_only",
    measure: Measure::EventsPerS,
    arms: &[
        wan("0 ms", None, 0),
        wan("0 ms, TLS", Some(Made::PLAIN.key), 0),
        wan("0 ms, TLS, RSA 4096", Some(Key::Rsa(4096)), 0),
        wan("5 ms", None, 5).against("5 ms"),
        wan("5 ms, TLS", Some(Made::PLAIN.key), 5).against("5 ms"),
        wan("20 ms", None, 20).against("20 ms"),
        wan("20 ms, TLS", Some(Made::PLAIN.key), 20).against("20 ms"),
        wan("20 ms, TLS, RSA 4096", Some(Key::Rsa(4096)), 20).against("20 ms"),
    ],
    connections: &[32],
    published: None,
};
