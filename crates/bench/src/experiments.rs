//! The ready experiments: a question, the arms that answer it, and what was published on it before.
//!
//! A new one is a row of [`EXPERIMENTS`].

/// How an arm's connections speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArmTls {
    /// As the options of the command line say.
    #[default]
    AsAsked,
    Off,
    /// Required, whatever the options say; the rest as asked.
    On,
    /// With this suite of TLS 1.3 alone.
    Suite13(&'static str),
    /// With this suite of TLS 1.2 alone.
    Suite12(&'static str),
    /// With this version alone.
    Version(net::TlsVersion),
    /// TLS 1.3 with this group alone.
    Group(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arm {
    pub name: &'static str,
    pub tls: ArmTls,
}

const fn arm(name: &'static str, tls: ArmTls) -> Arm {
    Arm { name, tls }
}

/// What others measured, on other machines: it stands beside ours, and is compared with nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Which machine, which version, when.
    pub source: &'static str,
    pub rows: &'static [PublishedRow],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedRow {
    pub arm: &'static str,
    /// `None`: of one connection, or not said.
    pub connections: Option<u32>,
    pub per_s: f64,
    pub deviation: Option<f64>,
}

const fn row(arm: &'static str, connections: u32, per_s: f64, deviation: f64) -> PublishedRow {
    PublishedRow { arm, connections: Some(connections), per_s, deviation: Some(deviation) }
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    QueriesPerS,
    /// Connections, or whole tables.
    EventsPerS,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experiment {
    pub name: &'static str,
    pub question: &'static str,
    pub workload: &'static str,
    pub measure: Measure,
    /// All others are compared with the first.
    pub arms: &'static [Arm],
    /// Each level is measured apart; empty: as many connections as the command line says.
    pub connections: &'static [u32],
    pub published: Option<Published>,
}

const OFF_AND_ON: &[Arm] = &[arm("clear text", ArmTls::Off), arm("TLS", ArmTls::On)];

pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "aa",
        question: "Does this machine tell a setting from itself? It must say no",
        workload: "oltp_point_select",
        measure: Measure::QueriesPerS,
        arms: &[arm("once", ArmTls::AsAsked), arm("the same again", ArmTls::AsAsked)],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "tls",
        question: "What does TLS cost a pool of connections?",
        workload: "oltp_read_only",
        measure: Measure::QueriesPerS,
        arms: OFF_AND_ON,
        connections: &[],
        published: None,
    },
    Experiment {
        name: "pool",
        question: "What does TLS cost a pool of connections, by its size?",
        workload: "oltp_read_only",
        measure: Measure::QueriesPerS,
        arms: OFF_AND_ON,
        connections: &[1, 2, 4, 8, 16, 32],
        published: Some(Published {
            source: "2014, MySQL 5.6.13, 8 threads of an i7-2600K, client on the same host, DHE-RSA-AES256-SHA, RSA 2048, \
                     8 tables of 100,000 rows, 10 minutes",
            rows: &[
                row("clear text", 1, 9250.18, 1005.82),
                row("clear text", 2, 18_297.61, 689.22),
                row("clear text", 4, 33_910.31, 446.02),
                row("clear text", 8, 50_077.60, 1525.37),
                row("clear text", 16, 49_844.49, 934.86),
                row("clear text", 32, 49_651.09, 498.68),
                row("TLS", 1, 2448.43, 290.02),
                row("TLS", 2, 4641.61, 510.91),
                row("TLS", 4, 8951.67, 1043.99),
                row("TLS", 8, 26_143.25, 360.84),
                row("TLS", 16, 25_872.10, 324.48),
                row("TLS", 32, 25_764.48, 370.33),
            ],
        }),
    },
    Experiment {
        name: "connect",
        question: "What does TLS cost who connects for every request?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: OFF_AND_ON,
        connections: &[],
        published: Some(Published {
            source: "2014, MySQL 5.6.13, one client in Perl on the same machine, RSA 2048, 10 trials",
            rows: &[row("clear text", 1, 2701.75, 165.54), row("TLS", 1, 28.183, 1.713)],
        }),
    },
    Experiment {
        name: "stream1",
        question: "What does TLS cost one connection that reads whole tables?",
        workload: "stream",
        measure: Measure::EventsPerS,
        arms: OFF_AND_ON,
        connections: &[1],
        // Published in 2014 as four times slower, without figures.
        published: None,
    },
    Experiment {
        name: "bulk",
        question: "Which cipher suite costs least where much is read?",
        workload: "stream",
        measure: Measure::EventsPerS,
        arms: &[
            arm("clear text", ArmTls::Off),
            arm("AES-128-GCM", ArmTls::Suite13("TLS_AES_128_GCM_SHA256")),
            arm("AES-256-GCM", ArmTls::Suite13("TLS_AES_256_GCM_SHA384")),
            arm("ChaCha20-Poly1305", ArmTls::Suite13("TLS_CHACHA20_POLY1305_SHA256")),
            arm("AES-256-CBC, TLS 1.2", ArmTls::Suite12("ECDHE-RSA-AES256-SHA384")),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "versions",
        question: "Does TLS 1.3 connect faster than TLS 1.2?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("TLS 1.2", ArmTls::Version(net::TlsVersion::Tls12)),
            arm("TLS 1.3", ArmTls::Version(net::TlsVersion::Tls13)),
        ],
        connections: &[],
        published: None,
    },
    Experiment {
        name: "groups",
        question: "What does the group of the key exchange cost who connects?",
        workload: "connect",
        measure: Measure::EventsPerS,
        arms: &[
            arm("X25519", ArmTls::Group("X25519")),
            arm("P-256", ArmTls::Group("P-256")),
            arm("P-384", ArmTls::Group("P-384")),
        ],
        connections: &[],
        published: None,
    },
];

/// `None`: there is none of this name.
pub fn experiment(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_what_was_published_is_of_an_arm() {
        let names: BTreeSet<&str> = EXPERIMENTS.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), EXPERIMENTS.len());
        for one in EXPERIMENTS {
            assert!(one.arms.len() > 1, "{}", one.name);
            for row in one.published.iter().flat_map(|published| published.rows) {
                assert!(one.arms.iter().any(|arm| arm.name == row.arm), "{}: {}", one.name, row.arm);
            }
        }
    }
}
