use super::shared::{SST_2017, copy};
use crate::experiments::arms::{Experiment, Measure, Tool, TransportCipher as Cipher};

pub const EXPERIMENT: Experiment = Experiment {
    name: "sst-tools",
    question: "Which program copies a donor's data fastest, and what does TLS cost it?",
    workload: "copy",
    measure: Measure::EventsPerS,
    arms: &[
        copy("mariabackup", Tool::Mariabackup, Cipher::ClearText).against("mariabackup"),
        copy("mariabackup, TLS", Tool::Mariabackup, Cipher::Default).against("mariabackup"),
        copy("tar", Tool::Tar, Cipher::ClearText).against("tar"),
        copy("tar, TLS", Tool::Tar, Cipher::Default).against("tar"),
        copy("rsync", Tool::Rsync, Cipher::ClearText).against("rsync"),
        copy("rsync, TLS", Tool::Rsync, Cipher::Default).against("rsync"),
        copy("sealion live, TLS", Tool::SealionLive, Cipher::Default).against("mariabackup, TLS"),
        copy("sealion, TLS", Tool::Sealion, Cipher::Default).against("tar, TLS"),
    ],
    connections: &[1],
    published: SST_2017,
};
