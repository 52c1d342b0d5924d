use serde::{Deserialize, Serialize};

/// The same short workload before and after. The blocks lie on either side of restarts, so they describe; they do not
/// tell what TLS alone costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// What may and what may not be read from it.
    pub note: String,
    /// `2 clients, each transaction: 2 point selects + 1 insert, 64 B rows`
    pub workload: String,
    pub before: Block,
    pub after: Block,
}

/// One uninterrupted stretch of the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub seconds: f64,
    pub transactions: u64,
    /// Transactions in each second, in their order.
    pub per_s_samples: Vec<f64>,
    pub throughput_per_s: f64,
    /// Standard deviation of the samples.
    pub throughput_sd: f64,
    pub latency_ms_p50: f64,
    pub latency_ms_p95: f64,
    pub latency_ms_p99: f64,
    /// User and system time of the client process.
    pub client_cpu_us_per_txn: f64,
    /// User and system time of all servers.
    pub server_cpu_us_per_txn: f64,
}
