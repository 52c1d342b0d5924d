//! Arms that several experiments have.

use crate::experiments::arms::{Arm, ArmTls, AtRest, Between, Key, Made, Place, Via, arm};

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
