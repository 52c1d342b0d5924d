//! The published shape of `report.json`. A field here is a promise: its meaning and unit stand in
//! `docs/schema/demo-report-1.json`, and a test walks both. Every key is always written, `null` where there is nothing.

mod audit;
mod bench;
mod bench_advise;
mod bench_compare;
mod bench_run;
mod bench_runs;
mod diagnose;
mod finding;
mod fix_plan;
mod keys;
mod leak;
mod price;
mod prove;
mod prove_config;
mod prove_disk;
mod relay;
mod roll;
mod scan;
mod share;
mod sniff;
mod status;
mod status_disk;
mod status_rest;
mod stream;
mod summary;
mod tour;
mod trust;
mod watch;
mod watch_clients;
mod words;

use serde::{Deserialize, Serialize};

pub use audit::{
    AUDIT_SCHEMA_ID, AuditAcceptedRow, AuditBaselineRow, AuditProfileRow, AuditReport, AuditRequirementRow,
    AuditServerRow, PathRow,
};
pub use bench::{
    BENCH_LOAD_SCHEMA_ID, CopyRow, CpuRow, LatencyRow, LoadErrorRow, LoadReport, LoadTlsRow, SecondRow,
    SettingRow,
};
pub use bench_advise::{AdviceRow, AdviseReport, AdvisedRun, BENCH_ADVISE_SCHEMA_ID, CapacityRow};
pub use bench_compare::{
    BENCH_COMPARE_SCHEMA_ID, CompareReport, CompareRow, DifferenceRow, EffectRow, SideRow,
};
pub use bench_run::{
    ArmRow, BENCH_RUN_SCHEMA_ID, ComparisonRow, LevelRow, PercentileRow, PublishedFigure, PublishedTable,
    RunReport, TrialRow,
};
pub use bench_runs::{BENCH_RUNS_SCHEMA_ID, KeptRow, RunsReport};
pub use diagnose::{
    DIAGNOSE_SCHEMA_ID, DiagnoseCopyRow, DiagnoseFileRow, DiagnoseKeyRow, DiagnoseLogRow, DiagnoseProblemRow,
    DiagnoseReport,
};
pub use finding::{EvidenceRow, FindingRow};
pub use fix_plan::{FIX_PLAN_SCHEMA_ID, FixPlanReport, FixStepRow, MendedRow};
pub use keys::{KEYS_DRILL_SCHEMA_ID, KEYS_LIST_SCHEMA_ID, KeysCopyRow, KeysDrillReport, KeysListReport};
pub use leak::{LEAK_SCHEMA_ID, LeakReport, LeakedRow};
pub use price::{Block, Price};
pub use prove::{
    PROVE_CLIENT_SCHEMA_ID, PROVE_CLIENTS_SCHEMA_ID, ProveCaseRow, ProveClientReport, ProveClientsReport,
    ProveDriverRow, ProveModeRow,
};
pub use prove_config::{
    ConfigConfirmedRow, ConfigConnectionRow, ConfigFixRow, ConfigNoteRow, ConfigPredictionRow,
    ConfigSettingRow, ConfigUnreadRow, PROVE_CONFIG_SCHEMA_ID, ProveConfigReport,
};
pub use prove_disk::{DiskProofFile, DiskProofRow, DiskProofWord, PROVE_DISK_SCHEMA_ID, ProveDiskReport};
pub use relay::{PROVE_RELAY_SCHEMA_ID, ProveRelayReport, RelayConnection, RelayEvent};
pub use roll::{ChangeRun, Drain, Roll, Rotation, SerialRow, Stall, StepRow};
pub use scan::{
    AcceptedRow, AskedRow, CertificateRow, ChangeRow, ChangedFindingRow, ChangesRow, GroupRow, NameRow, News,
    PublicKeyRow, ReusedKeyRow, RotationRow, SCAN_SCHEMA_ID, ScanReport, ServiceRow, SuiteRow,
    TargetChangesRow, TargetRow, TlsRow, TrustRow, VersionRow,
};
pub use share::{
    SHARE_AUDIT_SCHEMA_ID, SHARE_LIST_SCHEMA_ID, ShareAuditReport, ShareGrantRow, ShareListReport,
    ShareLogLineRow, ShareLogRow, ShareProxyRow,
};
pub use sniff::{
    PROVE_SNIFF_SCHEMA_ID, ProveSniffReport, SniffCanary, SniffCanarySum, SniffConnection, SniffErrorCode,
    SniffFinding, SniffFindingSum, SniffGalera, SniffKindSum, SniffLogin, SniffMySql, SniffNotLookedAt,
    SniffSecret,
};
pub use status::{ClusterStatus, NodeStatus, StatusRow};
pub use status_disk::{
    DiskCoverageWord, DiskHeaderWord, DiskLayerRow, DiskPathRow, DiskPathWord, DiskSwapRow, LuksHeaderRow,
    LuksSegmentRow, LuksSlotRow, LuksTokenRow, LuksWeaknessRow, STATUS_DISK_SCHEMA_ID, StatusDiskReport,
};
pub use status_rest::{
    AtRest, AtRestRow, RestArtefactRow, RestCountsRow, RestDisagreementRow, RestKeyRow, RestPlaceRow,
    RestServerRow, RestSqlRow, STATUS_REST_SCHEMA_ID, StatusRestReport,
};
pub use stream::{STREAM_SCHEMA_ID, StreamReport};
pub use summary::{LinkRow, Summary};
pub use tour::{PROVE_TOUR_SCHEMA_ID, ProveTourReport, TourAct, TourChapter, TourLesson, TourProgram};
pub use trust::{
    TRUST_SCHEMA_ID, TrustCertificateRow, TrustReport, TrustRequestRow, TrustRevokedRow, TrustTakerRow,
};
pub use watch::{
    FLEET_SCHEMA_ID, FleetReport, OfCluster, WATCH_CERTIFICATES_SCHEMA_ID, WATCH_EVENT_SCHEMA_ID,
    WATCH_FINDINGS_SCHEMA_ID, WATCH_SCHEMA_ID, WATCH_SERVER_SCHEMA_ID, WatchCertificateRow,
    WatchCertificatesReport, WatchChangeRow, WatchCountRow, WatchDriftRow, WatchDriftWord, WatchEventReport,
    WatchEventRow, WatchFindingRow, WatchFindingsReport, WatchLinkRow, WatchLinkWord, WatchReport,
    WatchRestRow, WatchRestWord, WatchServerReport, WatchServerRow, WatchServerWord, WatchSettingRow,
    WatchSummary,
};
pub use watch_clients::{WATCH_CLIENTS_SCHEMA_ID, WatchClientRow, WatchClientsReport};
pub use words::{
    LinkKindWord, Outcome, PhaseEnd, RestPlaceWord, RestUnitWord, RestVerdictWord, SeenWord, SeverityWord,
    StatusOf, StepOutcome, VerdictWord,
};

use crate::ReportError;

/// Whether what a document says of its shape is `known`. The first versions wrote some of them with a dot: `sealion.scan/1`.
pub fn is_schema(found: &str, known: &str) -> bool {
    found == known || found == known.replacen('/', ".", 1)
}

/// What [`DemoReport::schema`] says. The number grows when a field changes its meaning or goes; a new field does not
/// change it.
pub const SCHEMA_ID: &str = "sealion/demo-report/1";

/// Everything that one `sealion demo` saw, did and measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DemoReport {
    /// Always [`SCHEMA_ID`].
    pub schema: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub machine: Machine,
    pub servers: Vec<ServerRow>,
    pub method: Method,
    pub summary: Summary,
    pub cluster: ClusterStatus,
    pub status_before: Vec<NodeStatus>,
    pub status_after: Vec<NodeStatus>,
    pub findings_before: Vec<FindingRow>,
    pub findings_after: Vec<FindingRow>,
    /// What was tried without the right certificate after the change.
    pub refusals: Vec<Refusal>,
    /// A new node that joined after the change; `null` when none was tried.
    pub join: Option<Join>,
    pub roll: Roll,
    /// `null` when no workload was run.
    pub price: Option<Price>,
    /// The four of `--full`; `null` without it.
    pub disable: Option<ChangeRun>,
    pub undo: Option<ChangeRun>,
    pub rotation: Option<Rotation>,
    pub enable_again: Option<ChangeRun>,
    /// What the files of one node hold; `null` in reports of versions that did not read them.
    #[serde(default)]
    pub at_rest: Option<AtRest>,
    /// One sentence each; what a reader could think was covered and was not.
    pub not_looked_at: Vec<String>,
    pub see_again: Vec<SeeAgain>,
    pub phases: Vec<PhaseRow>,
}

impl DemoReport {
    /// Reads what [`DemoReport::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Self, ReportError> {
        // The id first: a report of another version should be refused as such, not for a missing key.
        #[derive(Deserialize)]
        struct Id {
            schema: String,
        }
        let Id { schema } =
            serde_json::from_str(text).map_err(|source| ReportError::NotAReport { source })?;
        if !is_schema(&schema, SCHEMA_ID) {
            return Err(ReportError::Unsupported { found: schema, known: SCHEMA_ID });
        }
        serde_json::from_str(text).map_err(|source| ReportError::NotAReport { source })
    }

    /// Pretty-printed, with a line end.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("all keys are strings and no map is unordered");
        text.push('\n');
        text
    }
}

/// The machine that everything ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `Debian GNU/Linux 12 (bookworm)`
    pub os: String,
    pub kernel: String,
    pub cpu_model: String,
    /// Logical CPUs that the demo may use.
    pub cores: u32,
    pub memory_bytes: u64,
}

/// One server program that took part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerRow {
    /// `MariaDB`
    pub flavour: String,
    pub version: String,
    pub galera_version: Option<String>,
    /// The TLS library of the server, as far as it says so.
    pub openssl: Option<String>,
}

/// How the wire was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// `AF_PACKET on lo, in a network namespace of its own`
    pub capture: String,
    /// True when the servers ran in a namespace of their own, so nothing else was in the captures.
    pub namespace: bool,
    /// `rsync`, `mariabackup`
    pub sst_method: String,
}

/// One attempt that had to be turned away.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// `plain client`, `node with a foreign certificate`
    pub who: String,
    /// What it tried, as a person would type it.
    pub asked: String,
    /// The error text or log line, verbatim.
    pub answer: String,
    pub refused: bool,
}

/// A node that joined the sealed cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Join {
    pub node: String,
    pub donor: String,
    /// SST method.
    pub method: String,
    /// From its start to Synced.
    pub took_ms: u64,
    pub ist_seen: SeenWord,
    pub sst_seen: SeenWord,
    pub synced: bool,
}

/// How a reader sees the same on the same or another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeeAgain {
    pub what: String,
    pub command: String,
}

/// One phase of the demo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    pub name: String,
    pub started_unix_ms: u64,
    pub took_ms: u64,
    pub ended: PhaseEnd,
}
