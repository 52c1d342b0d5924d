use super::shared::{SST_2017, far_copy};
use crate::experiments::arms::{Experiment, Measure, Tool, TransportCipher as Cipher};

pub const EXPERIMENT: Experiment = Experiment {
    name: "sst-wan",
    question: "Which program and cipher copy a donor's data fastest over 1000 Mbit/s with 10 ms each way?",
    workload: "copy",
    measure: Measure::EventsPerS,
    arms: &[
        far_copy("mariabackup", Tool::Mariabackup, Cipher::ClearText).against("mariabackup"),
        far_copy("mariabackup, default", Tool::Mariabackup, Cipher::Default).against("mariabackup"),
        far_copy("mariabackup, AES-128", Tool::Mariabackup, Cipher::Aes128).against("mariabackup"),
        far_copy("mariabackup, AES-256", Tool::Mariabackup, Cipher::Aes256).against("mariabackup"),
        far_copy("mariabackup, ChaCha20", Tool::Mariabackup, Cipher::ChaCha20).against("mariabackup"),
        far_copy("tar", Tool::Tar, Cipher::ClearText).against("tar"),
        far_copy("tar, default", Tool::Tar, Cipher::Default).against("tar"),
        far_copy("tar, AES-128", Tool::Tar, Cipher::Aes128).against("tar"),
        far_copy("tar, AES-256", Tool::Tar, Cipher::Aes256).against("tar"),
        far_copy("tar, ChaCha20", Tool::Tar, Cipher::ChaCha20).against("tar"),
        far_copy("rsync", Tool::Rsync, Cipher::ClearText).against("rsync"),
        far_copy("rsync, default", Tool::Rsync, Cipher::Default).against("rsync"),
        far_copy("rsync, AES-128", Tool::Rsync, Cipher::Aes128).against("rsync"),
        far_copy("rsync, AES-256", Tool::Rsync, Cipher::Aes256).against("rsync"),
        far_copy("rsync, ChaCha20", Tool::Rsync, Cipher::ChaCha20).against("rsync"),
        far_copy("sealion live, default", Tool::SealionLive, Cipher::Default).against("mariabackup, default"),
        far_copy("sealion live, AES-128", Tool::SealionLive, Cipher::Aes128).against("mariabackup, default"),
        far_copy("sealion live, AES-256", Tool::SealionLive, Cipher::Aes256).against("mariabackup, default"),
        far_copy("sealion live, ChaCha20", Tool::SealionLive, Cipher::ChaCha20)
            .against("mariabackup, default"),
        far_copy("sealion, default", Tool::Sealion, Cipher::Default).against("tar, default"),
        far_copy("sealion, AES-128", Tool::Sealion, Cipher::Aes128).against("tar, default"),
        far_copy("sealion, AES-256", Tool::Sealion, Cipher::Aes256).against("tar, default"),
        far_copy("sealion, ChaCha20", Tool::Sealion, Cipher::ChaCha20).against("tar, default"),
    ],
    connections: &[1],
    published: SST_2017,
};
