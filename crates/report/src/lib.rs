//! What a run looks like to others: versioned JSON shapes, one HTML page, a text summary.
//!
//! It computes nothing: every number was measured and stored by others; here it gets a unit, a place and a colour.
//! Start reading at [`shape::DemoReport`]. A field there is a promise, written down in `docs/schema/`.

pub mod contradictions;
pub mod drivers;
mod error;
pub mod figures;
pub mod formats;
pub mod html;
pub mod metrics;
pub mod shape;
pub mod text;

pub use error::ReportError;
pub use formats::{FORMATS, Format};
pub use html::render_html;
pub use shape::DemoReport;
pub use text::render_summary;

/// The JSON Schema (draft 2020-12) of `report.json`, as published in `docs/schema/demo-report-1.json`.
pub const DEMO_REPORT_SCHEMA: &str = include_str!("../../../docs/schema/demo-report-1.json");

/// The same of `sealion scan --format json`.
pub const SCAN_SCHEMA: &str = include_str!("../../../docs/schema/scan-1.json");

/// The same of `sealion prove client --format json`.
pub const PROVE_CLIENT_SCHEMA: &str = include_str!("../../../docs/schema/prove-client-1.json");

/// The same of `sealion prove clients --format json`.
pub const PROVE_CLIENTS_SCHEMA: &str = include_str!("../../../docs/schema/prove-clients-1.json");

/// The same of `sealion diagnose --format json`.
pub const DIAGNOSE_SCHEMA: &str = include_str!("../../../docs/schema/diagnose-1.json");
/// Schema of [`shape::ShareListReport`].
pub const SHARE_LIST_SCHEMA: &str = include_str!("../../../docs/schema/share-list-1.json");
/// Schema of [`shape::ShareAuditReport`].
pub const SHARE_AUDIT_SCHEMA: &str = include_str!("../../../docs/schema/share-audit-1.json");
/// Schema of [`shape::KeysListReport`].
pub const KEYS_LIST_SCHEMA: &str = include_str!("../../../docs/schema/keys-list-1.json");
/// Schema of [`shape::KeysDrillReport`].
pub const KEYS_DRILL_SCHEMA: &str = include_str!("../../../docs/schema/keys-drill-1.json");

/// The same of `sealion status rest --format json`.
pub const STATUS_REST_SCHEMA: &str = include_str!("../../../docs/schema/status-rest-1.json");

/// The same of `sealion status disk --format json`.
pub const STATUS_DISK_SCHEMA: &str = include_str!("../../../docs/schema/status-disk-1.json");

/// The same of `sealion prove config --format json`.
pub const PROVE_CONFIG_SCHEMA: &str = include_str!("../../../docs/schema/prove-config-1.json");

/// The same of `sealion prove sniff --format json`.
pub const PROVE_SNIFF_SCHEMA: &str = include_str!("../../../docs/schema/prove-sniff-1.json");

/// The same of `sealion prove relay --format json`.
pub const PROVE_RELAY_SCHEMA: &str = include_str!("../../../docs/schema/prove-relay-1.json");

/// The same of `sealion audit --format json`.
pub const AUDIT_SCHEMA: &str = include_str!("../../../docs/schema/audit-1.json");

/// The same of `sealion audit --fix-plan --format json`.
pub const FIX_PLAN_SCHEMA: &str = include_str!("../../../docs/schema/fix-plan-1.json");

/// The same of `sealion audit --if … --format json`.
pub const LEAK_SCHEMA: &str = include_str!("../../../docs/schema/audit-leak-1.json");

/// The same of `sealion send --format json` and `sealion receive --format json`.
pub const STREAM_SCHEMA: &str = include_str!("../../../docs/schema/stream-1.json");

/// The same of `sealion trust … --format json`.
pub const TRUST_SCHEMA: &str = include_str!("../../../docs/schema/trust-1.json");

/// The same of `sealion prove disk --format json`.
pub const PROVE_DISK_SCHEMA: &str = include_str!("../../../docs/schema/prove-disk-1.json");
/// The same of `sealion prove tour --format json`.
pub const PROVE_TOUR_SCHEMA: &str = include_str!("../../../docs/schema/prove-tour-1.json");

/// The same of `sealion bench load --format json`.
pub const BENCH_LOAD_SCHEMA: &str = include_str!("../../../docs/schema/bench-load-1.json");

/// The same of `sealion bench run --format json`.
pub const BENCH_RUN_SCHEMA: &str = include_str!("../../../docs/schema/bench-run-1.json");

/// The same of `sealion bench runs --format json`.
pub const BENCH_RUNS_SCHEMA: &str = include_str!("../../../docs/schema/bench-runs-1.json");

/// The same of `sealion bench compare --format json`.
pub const BENCH_COMPARE_SCHEMA: &str = include_str!("../../../docs/schema/bench-compare-1.json");

/// The same of `sealion bench advise --format json`.
pub const BENCH_ADVISE_SCHEMA: &str = include_str!("../../../docs/schema/bench-advise-1.json");

/// The same of `sealion watch-clients --format json`.
pub const WATCH_CLIENTS_SCHEMA: &str = include_str!("../../../docs/schema/watch-clients-1.json");
/// The same of `sealion watch --format json`, and of a cluster's page of `sealion web`.
pub const WATCH_SCHEMA: &str = include_str!("../../../docs/schema/watch-1.json");

/// The same of the page of a server, of the certificates and of the findings of all clusters.
pub const WATCH_SERVER_SCHEMA: &str = include_str!("../../../docs/schema/watch-server-1.json");
pub const WATCH_CERTIFICATES_SCHEMA: &str = include_str!("../../../docs/schema/watch-certificates-1.json");
pub const WATCH_FINDINGS_SCHEMA: &str = include_str!("../../../docs/schema/watch-findings-1.json");
/// The same of what the program of `sealion watch --on-change` reads.
pub const WATCH_EVENT_SCHEMA: &str = include_str!("../../../docs/schema/watch-event-1.json");

/// The same of the first page of `sealion web`.
pub const FLEET_SCHEMA: &str = include_str!("../../../docs/schema/fleet-1.json");
