//! Arms that several experiments have.

use crate::experiments::arms::{
    Arm, ArmTls, AtRest, Between, Key, Line, Made, Place, Published, Tool, Transport, TransportCipher, Via,
    arm,
};

pub(super) const SUITES: &[Arm] = &[
    arm("cleartext", ArmTls::OFF),
    arm("AES-128-GCM", ArmTls::suite13("TLS_AES_128_GCM_SHA256")),
    arm("AES-256-GCM", ArmTls::suite13("TLS_AES_256_GCM_SHA384")),
    arm("ChaCha20-Poly1305", ArmTls::suite13("TLS_CHACHA20_POLY1305_SHA256")),
    arm("AES-256-CBC, TLS 1.2", ArmTls::suite12("ECDHE-RSA-AES256-SHA384")),
];

pub(super) const OFF_AND_ON: &[Arm] = &[arm("cleartext", ArmTls::OFF), arm("TLS", ArmTls::ON)];

pub(super) const RSA_1024: Arm = arm("TLS, RSA 1024", ArmTls::ON).at(keyed(Key::Rsa(1024)));

pub(super) const RSA_4096: Arm = arm("TLS, RSA 4096", ArmTls::ON).at(keyed(Key::Rsa(4096)));

pub(super) const fn keyed(key: Key) -> Place {
    Place::Made(Made { key, ..Made::PLAIN })
}

pub(super) const TUNNELS: &[Arm] = &[
    arm("cleartext", ArmTls::OFF),
    arm("TLS of the server", ArmTls::ON),
    arm("stunnel", ArmTls::OFF).via(Via::Stunnel),
    arm("ssh -L", ArmTls::OFF).via(Via::Ssh),
    arm("OpenVPN", ArmTls::OFF).via(Via::OpenVpn),
    arm("WireGuard", ArmTls::OFF).via(Via::WireGuard),
];

pub(super) const fn galera(name: &'static str, between: Between) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Galera { between })
}

pub(super) const GALERA: &[Arm] = &[
    galera("replication in cleartext", Between::ClearText),
    galera("replication by TLS", Between::Tls(Made::PLAIN.key)),
];

pub(super) const fn at_rest(name: &'static str, tables: bool, redo: bool, binlog: bool) -> Arm {
    arm(name, ArmTls::OFF).at(Place::AtRest(AtRest { tables, redo, binlog }))
}

pub(super) const AT_REST: &[Arm] = &[
    at_rest("nothing encrypted", false, false, false),
    at_rest("tables", true, false, false),
    at_rest("redo log", false, true, false),
    at_rest("binary log", false, false, true),
    at_rest("all three", true, true, true),
];

/// The blog of 2014 tells seconds and transactions; a rate is one by the other.
pub(super) const GALERA_2014: &str = "2014, three nodes with 4 vCPU, 20 million rows, 32 threads round robin, RSA 2048; transactions per second";

/// A copy over loopback, by programs that may use all that the processor has.
pub(super) const fn copy(name: &'static str, tool: Tool, cipher: TransportCipher) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Transport(Transport { tool, cipher, aes_ni: true, line: None }))
}

pub(super) const fn copy_without_aes(name: &'static str, tool: Tool, cipher: TransportCipher) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Transport(Transport { tool, cipher, aes_ni: false, line: None }))
}

/// As scripts/bench-sst.sh has it.
pub(super) const FAR: Option<Line> = Some(Line { one_way_ms: 10, mbit_per_s: 1000 });

pub(super) const fn far_copy(name: &'static str, tool: Tool, cipher: TransportCipher) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Transport(Transport { tool, cipher, aes_ni: true, line: FAR }))
}

pub(super) const fn far_copy_without_aes(name: &'static str, tool: Tool, cipher: TransportCipher) -> Arm {
    arm(name, ArmTls::OFF).at(Place::Transport(Transport { tool, cipher, aes_ni: false, line: FAR }))
}

/// It shows its rates in charts alone.
pub(super) const SST_2017: Option<Published> = Some(Published {
    source: "2017, 122 GB between two hosts with 28 cores and 10 Gbit/s, tar, xtrabackup (4 streams), one rsync and several in \
             parallel, OpenSSL 1.0.2 and 1.1.0; its figures are charts, so this is what was said of them",
    rows: &[],
    findings: &[
        "xtrabackup is the fastest where the processor has AES-NI",
        "without AES-NI parallel rsync is the fastest with the default cipher and with AES, because it uses several cores",
        "without AES-NI ChaCha20 is 2 to 3 times as fast as AES",
        "one rsync is 2 to 2.5 times slower than several in parallel",
        "rsync blocks the writes of the donor, xtrabackup does not",
        "AES-128-GCM with blocks of 8 KiB: 924 MB/s with AES-NI, 179 MB/s without",
    ],
});
