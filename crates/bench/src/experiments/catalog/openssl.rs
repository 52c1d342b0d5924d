use super::shared::keyed;
use crate::experiments::arms::{Arm, ArmTls, Experiment, Made, Measure, Place, Release, arm};

/// Connects, to a server with OpenSSL 3.5.
const fn newer(name: &'static str, tls: ArmTls) -> Arm {
    let place = Place::Made(Made { release: Release::MariaDb118, ..Made::PLAIN });
    arm(name, tls).at(place).against("11.8, cleartext")
}

pub const EXPERIMENT: Experiment = Experiment {
    name: "openssl",
    question: "Does the OpenSSL version of the server change the cost of a connection, and what does \
               post-quantum key exchange cost?",
    workload: "connect",
    measure: Measure::EventsPerS,
    arms: &[
        arm("10.11, cleartext", ArmTls::OFF).at(keyed(Made::PLAIN.key)),
        arm("10.11, OpenSSL 3.0", ArmTls::group("X25519")).at(keyed(Made::PLAIN.key)),
        newer("11.8, cleartext", ArmTls::OFF),
        newer("11.8, OpenSSL 3.5", ArmTls::group("X25519")),
        newer("11.8, ML-KEM-768 beside it", ArmTls::group("X25519MLKEM768")).against("11.8, OpenSSL 3.5"),
    ],
    connections: &[],
    published: None,
};
