use super::shared::SST_2017;
use crate::experiments::arms::{Arm, ArmTls, Experiment, Measure, Place, Sst, arm};

const fn sst(name: &'static str, method: Sst, tls: bool) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Sst { method, tls })
}

pub const EXPERIMENT: Experiment = Experiment {
    name: "sst",
    question: "What does TLS cost an SST, by rsync and by mariabackup?",
    workload: "sst",
    measure: Measure::EventsPerS,
    arms: &[
        sst("rsync", Sst::Rsync, false),
        sst("rsync, TLS", Sst::Rsync, true),
        sst("mariabackup", Sst::Mariabackup, false).against("mariabackup"),
        sst("mariabackup, TLS", Sst::Mariabackup, true).against("mariabackup"),
    ],
    connections: &[1],
    published: SST_2017,
};
