use super::shared::{SST_2017, far_copy, far_copy_without_aes};
use crate::experiments::arms::{Experiment, Measure, Tool, TransportCipher as Cipher};

pub const EXPERIMENT: Experiment = Experiment {
    name: "sst-wan-no-aes",
    question: "Which cipher copies a donor's data fastest over 1000 Mbit/s with 10 ms each way, without AES-NI?",
    workload: "copy",
    measure: Measure::EventsPerS,
    arms: &[
        far_copy("mariabackup, default, AES-NI", Tool::Mariabackup, Cipher::Default)
            .against("mariabackup, default, AES-NI"),
        far_copy_without_aes("mariabackup, default", Tool::Mariabackup, Cipher::Default)
            .against("mariabackup, default, AES-NI"),
        far_copy_without_aes("mariabackup, AES-128", Tool::Mariabackup, Cipher::Aes128)
            .against("mariabackup, default, AES-NI"),
        far_copy_without_aes("mariabackup, AES-256", Tool::Mariabackup, Cipher::Aes256)
            .against("mariabackup, default, AES-NI"),
        far_copy_without_aes("mariabackup, ChaCha20", Tool::Mariabackup, Cipher::ChaCha20)
            .against("mariabackup, default, AES-NI"),
        far_copy("tar, default, AES-NI", Tool::Tar, Cipher::Default).against("tar, default, AES-NI"),
        far_copy_without_aes("tar, default", Tool::Tar, Cipher::Default).against("tar, default, AES-NI"),
        far_copy_without_aes("tar, AES-128", Tool::Tar, Cipher::Aes128).against("tar, default, AES-NI"),
        far_copy_without_aes("tar, AES-256", Tool::Tar, Cipher::Aes256).against("tar, default, AES-NI"),
        far_copy_without_aes("tar, ChaCha20", Tool::Tar, Cipher::ChaCha20).against("tar, default, AES-NI"),
        far_copy("rsync, default, AES-NI", Tool::Rsync, Cipher::Default).against("rsync, default, AES-NI"),
        far_copy_without_aes("rsync, default", Tool::Rsync, Cipher::Default)
            .against("rsync, default, AES-NI"),
        far_copy_without_aes("rsync, AES-128", Tool::Rsync, Cipher::Aes128).against("rsync, default, AES-NI"),
        far_copy_without_aes("rsync, AES-256", Tool::Rsync, Cipher::Aes256).against("rsync, default, AES-NI"),
        far_copy_without_aes("rsync, ChaCha20", Tool::Rsync, Cipher::ChaCha20)
            .against("rsync, default, AES-NI"),
        far_copy("sealion live, default, AES-NI", Tool::SealionLive, Cipher::Default)
            .against("sealion live, default, AES-NI"),
        far_copy_without_aes("sealion live, default", Tool::SealionLive, Cipher::Default)
            .against("sealion live, default, AES-NI"),
        far_copy_without_aes("sealion live, AES-128", Tool::SealionLive, Cipher::Aes128)
            .against("sealion live, default, AES-NI"),
        far_copy_without_aes("sealion live, AES-256", Tool::SealionLive, Cipher::Aes256)
            .against("sealion live, default, AES-NI"),
        far_copy_without_aes("sealion live, ChaCha20", Tool::SealionLive, Cipher::ChaCha20)
            .against("sealion live, default, AES-NI"),
        far_copy("sealion, default, AES-NI", Tool::Sealion, Cipher::Default)
            .against("sealion, default, AES-NI"),
        far_copy_without_aes("sealion, default", Tool::Sealion, Cipher::Default)
            .against("sealion, default, AES-NI"),
        far_copy_without_aes("sealion, AES-128", Tool::Sealion, Cipher::Aes128)
            .against("sealion, default, AES-NI"),
        far_copy_without_aes("sealion, AES-256", Tool::Sealion, Cipher::Aes256)
            .against("sealion, default, AES-NI"),
        far_copy_without_aes("sealion, ChaCha20", Tool::Sealion, Cipher::ChaCha20)
            .against("sealion, default, AES-NI"),
    ],
    connections: &[1],
    published: SST_2017,
};
