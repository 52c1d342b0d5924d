use crate::experiments::arms::{Arm, ArmTls, Experiment, Measure, Via, arm};

const fn thin(name: &'static str, tls: ArmTls, mbit_per_s: u32) -> Arm {
    arm(name, tls).via(Via::Line { one_way_ms: 0, mbit_per_s })
}

pub const EXPERIMENT: Experiment = Experiment {
    name: "bandwidth",
    question: "When whole tables are read over a slow network, is TLS the limit or the network?",
    workload: "stream",
    measure: Measure::EventsPerS,
    arms: &[
        arm("cleartext", ArmTls::OFF),
        arm("TLS", ArmTls::ON),
        thin("1000 Mbit/s", ArmTls::OFF, 1000).against("1000 Mbit/s"),
        thin("1000 Mbit/s, TLS", ArmTls::ON, 1000).against("1000 Mbit/s"),
        thin("100 Mbit/s", ArmTls::OFF, 100).against("100 Mbit/s"),
        thin("100 Mbit/s, TLS", ArmTls::ON, 100).against("100 Mbit/s"),
    ],
    connections: &[1],
    published: None,
};
