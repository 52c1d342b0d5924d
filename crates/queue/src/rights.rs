//! What a worker and a publisher may do at a broker, as nats-server's configuration words it. A worker of one zone can see which runs
//! have jobs in its zone, read those, answer them, and read what holds for a run. It can make no stream, and reads nobody else's inbox.

use crate::Zone;

/// Each zone has a stream in which its jobs wait, whose name begins so.
pub const JOBS: &str = "SEALION_JOBS_";
/// The stream that has the settings of runs.
pub const RUNS: &str = "SEALION_RUNS";
/// Each run has a stream for its answers, whose name begins so.
pub const ANSWERS: &str = "SEALION_ANSWERS_";

/// Where replies to a client of this name arrive. No other client may subscribe to them.
pub fn inbox(name: &str) -> String {
    format!("_INBOX_{name}")
}

/// The publisher's name for its inbox, unless it has another.
pub const PUBLISHER: &str = "sealion-scan";

/// The `permissions` of a worker's user. The longer form of an acknowledgement (ADR-15 of NATS) has at least eleven parts: with fewer it
/// would be the shorter form of one for whatever stream stands where the domain does.
pub fn of_worker(zone: &Zone, name: &str) -> String {
    format!(
        "permissions {{
  publish {{
    allow = [
      \"$JS.API.CONSUMER.NAMES.{JOBS}{zone}\"
      \"$JS.API.CONSUMER.MSG.NEXT.{JOBS}{zone}.*\"
      \"$JS.API.DIRECT.GET.{RUNS}.sealion.run.*\"
      \"$JS.ACK.{JOBS}{zone}.>\"
      \"$JS.ACK.*.*.{JOBS}{zone}.*.*.*.*.*.>\"
      \"sealion.answer.{zone}.>\"
    ]
  }}
  subscribe {{ allow = [\"{}.>\"] }}
}}
",
        inbox(name)
    )
}

/// The `permissions` of the user who scans with workers.
pub fn of_publisher(name: &str) -> String {
    format!(
        "permissions {{
  publish {{
    allow = [
      \"$JS.API.STREAM.>\"
      \"$JS.API.CONSUMER.>\"
      \"$JS.API.DIRECT.GET.{RUNS}.>\"
      \"$JS.ACK.>\"
      \"sealion.job.>\", \"sealion.run.>\"
    ]
  }}
  subscribe {{ allow = [\"{}.>\"] }}
}}
",
        inbox(name)
    )
}
