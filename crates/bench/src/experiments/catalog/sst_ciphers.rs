use super::shared::{SST_2017, copy};
use crate::experiments::arms::{Experiment, Measure, Tool, TransportCipher as Cipher};

pub const EXPERIMENT: Experiment = Experiment {
    name: "sst-ciphers",
    question: "Which cipher copies a donor's data fastest?",
    workload: "copy",
    measure: Measure::EventsPerS,
    arms: &[
        copy("mariabackup, default", Tool::Mariabackup, Cipher::Default).against("mariabackup, default"),
        copy("mariabackup, AES-128", Tool::Mariabackup, Cipher::Aes128).against("mariabackup, default"),
        copy("mariabackup, AES-256", Tool::Mariabackup, Cipher::Aes256).against("mariabackup, default"),
        copy("mariabackup, ChaCha20", Tool::Mariabackup, Cipher::ChaCha20).against("mariabackup, default"),
        copy("tar, default", Tool::Tar, Cipher::Default).against("tar, default"),
        copy("tar, AES-128", Tool::Tar, Cipher::Aes128).against("tar, default"),
        copy("tar, AES-256", Tool::Tar, Cipher::Aes256).against("tar, default"),
        copy("tar, ChaCha20", Tool::Tar, Cipher::ChaCha20).against("tar, default"),
        copy("rsync, default", Tool::Rsync, Cipher::Default).against("rsync, default"),
        copy("rsync, AES-128", Tool::Rsync, Cipher::Aes128).against("rsync, default"),
        copy("rsync, AES-256", Tool::Rsync, Cipher::Aes256).against("rsync, default"),
        copy("rsync, ChaCha20", Tool::Rsync, Cipher::ChaCha20).against("rsync, default"),
        copy("sealion live, default", Tool::SealionLive, Cipher::Default).against("sealion live, default"),
        copy("sealion live, AES-128", Tool::SealionLive, Cipher::Aes128).against("sealion live, default"),
        copy("sealion live, AES-256", Tool::SealionLive, Cipher::Aes256).against("sealion live, default"),
        copy("sealion live, ChaCha20", Tool::SealionLive, Cipher::ChaCha20).against("sealion live, default"),
        copy("sealion, default", Tool::Sealion, Cipher::Default).against("sealion, default"),
        copy("sealion, AES-128", Tool::Sealion, Cipher::Aes128).against("sealion, default"),
        copy("sealion, AES-256", Tool::Sealion, Cipher::Aes256).against("sealion, default"),
        copy("sealion, ChaCha20", Tool::Sealion, Cipher::ChaCha20).against("sealion, default"),
    ],
    connections: &[1],
    published: SST_2017,
};
