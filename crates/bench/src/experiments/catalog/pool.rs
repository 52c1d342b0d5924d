use super::shared::{RSA_1024, RSA_4096};
use crate::experiments::arms::{ArmTls, Experiment, Measure, Published, arm, row};

pub const EXPERIMENT: Experiment = Experiment {
    name: "pool",
    question: "What does TLS cost a pool of connections, by the size of the pool and the server's key?",
    workload: "oltp_read_only",
    measure: Measure::QueriesPerS,
    arms: &[arm("cleartext", ArmTls::OFF), arm("TLS", ArmTls::ON), RSA_1024, RSA_4096],
    connections: &[1, 2, 4, 8, 16, 32],
    published: Some(Published {
        source: "2014, MySQL 5.6.13, 8 threads of an i7-2600K, client on the same host, DHE-RSA-AES256-SHA, TLS with \
                 RSA 2048, 8 tables of 100,000 rows, 10 minutes",
        rows: &[
            row("cleartext", 1, 9250.18, 1005.82).p95(1.882, 0.522),
            row("cleartext", 2, 18_297.61, 689.22).p95(1.728, 0.167),
            row("cleartext", 4, 33_910.31, 446.02).p95(1.764, 0.145),
            row("cleartext", 8, 50_077.60, 1525.37).p95(2.459, 0.523),
            row("cleartext", 16, 49_844.49, 934.86).p95(6.616, 0.251),
            row("cleartext", 32, 49_651.09, 498.68).p95(27.307, 0.817),
            row("TLS", 1, 2448.43, 290.02).p95(6.083, 0.277),
            row("TLS", 2, 4641.61, 510.91).p95(6.510, 0.081),
            row("TLS", 4, 8951.67, 1043.99).p95(6.693, 0.043),
            row("TLS", 8, 26_143.25, 360.84).p95(4.498, 0.503),
            row("TLS", 16, 25_872.10, 324.48).p95(11.222, 1.502),
            row("TLS", 32, 25_764.48, 370.33).p95(37.387, 0.393),
            row("TLS, RSA 1024", 1, 2406.53, 288.53).p95(6.151, 0.241),
            row("TLS, RSA 1024", 2, 4650.56, 558.58).p95(6.442, 0.180),
            row("TLS, RSA 1024", 4, 9183.33, 1565.41).p95(6.677, 0.289),
            row("TLS, RSA 1024", 8, 26_007.11, 345.79).p95(4.535, 0.507),
            row("TLS, RSA 1024", 16, 25_959.61, 343.55).p95(11.481, 1.403),
            row("TLS, RSA 1024", 32, 25_913.69, 192.90).p95(37.152, 0.393),
            row("TLS, RSA 4096", 1, 2427.95, 289.00).p95(6.120, 0.268),
            row("TLS, RSA 4096", 2, 4641.32, 547.57).p95(6.454, 0.119),
            row("TLS, RSA 4096", 4, 8991.37, 1005.89).p95(6.690, 0.043),
            row("TLS, RSA 4096", 8, 26_058.09, 432.86).p95(4.571, 0.727),
            row("TLS, RSA 4096", 16, 25_990.13, 439.53).p95(11.194, 1.395),
            row("TLS, RSA 4096", 32, 26_041.27, 780.71).p95(37.26, 0.307),
        ],
        findings: &[],
    }),
};
