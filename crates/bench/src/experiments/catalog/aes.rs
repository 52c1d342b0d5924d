use crate::experiments::arms::{ArmTls, Experiment, Made, Measure, Place, arm};

const AES_256: ArmTls = ArmTls::suite13("TLS_AES_256_GCM_SHA384");

const CHACHA20: ArmTls = ArmTls::suite13("TLS_CHACHA20_POLY1305_SHA256");

const WITHOUT_AES_NI: Place = Place::Made(Made { aes_ni: false, ..Made::PLAIN });

pub const EXPERIMENT: Experiment = Experiment {
    name: "aes",
    question: "What do the processor's AES instructions save, and which cipher suite is best without them?",
    workload: "stream",
    measure: Measure::EventsPerS,
    arms: &[
        arm("cleartext", ArmTls::OFF),
        arm("AES-256-GCM", AES_256),
        arm("ChaCha20-Poly1305", CHACHA20),
        arm("AES-256-GCM without AES-NI", AES_256).at(WITHOUT_AES_NI),
        arm("ChaCha20-Poly1305 without AES-NI", CHACHA20).at(WITHOUT_AES_NI),
    ],
    connections: &[],
    published: None,
};
