//! The trials of a run, one a line, with units in the names of columns: as RFC 4180, and as Parquet.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::csv::quoted;
use crate::shape::{ArmRow, LevelRow, RunReport, TrialRow};

/// What a line is of.
struct Line<'r> {
    run: &'r RunReport,
    level: &'r LevelRow,
    arm: &'r ArmRow,
    trial: &'r TrialRow,
}

/// A value, and by its kind that of its column.
enum Cell {
    Text(fn(&Line<'_>) -> Option<String>),
    Flag(fn(&Line<'_>) -> bool),
    Count(fn(&Line<'_>) -> u64),
    Real(fn(&Line<'_>) -> Option<f64>),
}

use Cell::{Count, Flag, Real, Text};

/// What an export has of a trial.
const COLUMNS: &[(&str, Cell)] = &[
    ("experiment", Text(|of| Some(of.run.experiment.clone()))),
    ("workload", Text(|of| Some(of.run.workload.clone()))),
    ("server_version", Text(|of| Some(of.run.server_version.clone()))),
    ("sealion_version", Text(|of| Some(of.run.sealion_version.clone()))),
    ("run_is_usable", Flag(|of| of.run.is_usable)),
    ("connections", Count(|of| of.level.connections.into())),
    ("arm", Text(|of| Some(of.arm.name.clone()))),
    ("tls_version", Text(|of| of.arm.tls.as_ref().map(|tls| tls.version.clone()))),
    ("tls_cipher", Text(|of| of.arm.tls.as_ref().map(|tls| tls.cipher.clone()))),
    ("block", Count(|of| u64::try_from(of.trial.block).unwrap_or(u64::MAX))),
    ("started_unix_ms", Count(|of| of.trial.started_unix_ms)),
    ("connecting_s", Real(|of| Some(of.trial.connecting_s))),
    ("measured_s", Real(|of| Some(of.trial.measured_s))),
    ("events", Count(|of| of.trial.events)),
    ("events_per_s", Real(|of| Some(of.trial.events_per_s))),
    ("queries", Count(|of| of.trial.queries)),
    ("queries_per_s", Real(|of| Some(of.trial.queries_per_s))),
    ("reads", Count(|of| of.trial.reads)),
    ("writes", Count(|of| of.trial.writes)),
    ("others", Count(|of| of.trial.others)),
    ("rows", Count(|of| of.trial.rows)),
    ("answer_bytes", Count(|of| of.trial.answer_bytes)),
    ("sent_bytes", Count(|of| of.trial.sent_bytes)),
    ("received_bytes", Count(|of| of.trial.received_bytes)),
    ("round_trips", Count(|of| of.trial.round_trips)),
    ("latency_min_ms", Real(|of| of.trial.latency_ms.min)),
    ("latency_mean_ms", Real(|of| of.trial.latency_ms.mean)),
    ("latency_p50_ms", Real(|of| of.trial.latency_ms.p50)),
    ("latency_p95_ms", Real(|of| of.trial.latency_ms.p95)),
    ("latency_p99_ms", Real(|of| of.trial.latency_ms.p99)),
    ("latency_p999_ms", Real(|of| of.trial.latency_ms.p999)),
    ("latency_max_ms", Real(|of| of.trial.latency_ms.max)),
    ("query_latency_min_ms", Real(|of| of.trial.query_latency_ms.min)),
    ("query_latency_mean_ms", Real(|of| of.trial.query_latency_ms.mean)),
    ("query_latency_p50_ms", Real(|of| of.trial.query_latency_ms.p50)),
    ("query_latency_p95_ms", Real(|of| of.trial.query_latency_ms.p95)),
    ("query_latency_p99_ms", Real(|of| of.trial.query_latency_ms.p99)),
    ("query_latency_p999_ms", Real(|of| of.trial.query_latency_ms.p999)),
    ("query_latency_max_ms", Real(|of| of.trial.query_latency_ms.max)),
    (
        "client_user_cpu_us_per_query",
        Real(|of| of.trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.user)),
    ),
    (
        "client_system_cpu_us_per_query",
        Real(|of| of.trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.system)),
    ),
    ("client_cpu_us_per_query", Real(|of| of.trial.client_cpu_us_per_query.as_ref().map(|cpu| cpu.total))),
    ("server_cpu_us_per_query", Real(|of| of.trial.server_cpu_us_per_query)),
    ("client_context_switches", Count(|of| of.trial.client_context_switches)),
    ("retries", Count(|of| of.trial.retries)),
    ("resumed", Count(|of| of.trial.resumed)),
    ("late_at_end", Count(|of| of.trial.late_at_end)),
    ("errors", Count(|of| of.trial.errors)),
    ("copy_bytes_per_s", Real(|of| of.trial.copy.as_ref().map(|copy| copy.bytes_per_s))),
    ("copy_cpu_s_per_gb", Real(|of| of.trial.copy.as_ref().and_then(|copy| copy.cpu_s_per_gb))),
    ("donor_rows_per_s", Real(|of| of.trial.copy.as_ref().and_then(|copy| copy.donor_rows_per_s))),
    ("donor_row_ms_max", Real(|of| of.trial.copy.as_ref().and_then(|copy| copy.donor_row_ms_max))),
];

impl Cell {
    /// An empty text is nothing measured, or cleartext.
    fn csv(&self, line: &Line<'_>) -> String {
        match self {
            Text(of) => of(line).unwrap_or_default(),
            Flag(of) => of(line).to_string(),
            Count(of) => of(line).to_string(),
            Real(of) => of(line).map(|value| value.to_string()).unwrap_or_default(),
        }
    }

    /// The same column in Parquet: a null is nothing measured, or cleartext.
    fn column(&self, name: &str) -> Result<Type, ParquetError> {
        let (kind, logical, repetition) = match self {
            Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
            Flag(_) => (Physical::BOOLEAN, None, Repetition::REQUIRED),
            Count(_) => (Physical::INT64, None, Repetition::REQUIRED),
            Real(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        };
        Type::primitive_type_builder(name, kind)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()
    }

    fn write(&self, lines: &[Line<'_>], column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Text(of) => {
                let values: Vec<Option<ByteArray>> =
                    lines.iter().map(|line| of(line).map(|text| text.into_bytes().into())).collect();
                write_some::<ByteArrayType>(values, column)
            }
            Flag(of) => {
                let values: Vec<bool> = lines.iter().map(of).collect();
                column.typed::<BoolType>().write_batch(&values, None, None).map(|_| ())
            }
            Count(of) => {
                let values: Vec<i64> =
                    lines.iter().map(|line| i64::try_from(of(line)).unwrap_or(i64::MAX)).collect();
                column.typed::<Int64Type>().write_batch(&values, None, None).map(|_| ())
            }
            Real(of) => write_some::<DoubleType>(lines.iter().map(of).collect(), column),
        }
    }
}

/// A column with holes.
fn write_some<T: DataType>(
    values: Vec<Option<T::T>>,
    column: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<T::T> = values.into_iter().flatten().collect();
    column.typed::<T>().write_batch(&there, Some(&levels), None).map(|_| ())
}

/// Every trial of every level and arm, in the order of the run.
fn lines(run: &RunReport) -> Vec<Line<'_>> {
    let arms = run.levels.iter().flat_map(|level| level.arms.iter().map(move |arm| (level, arm)));
    arms.flat_map(|(level, arm)| arm.samples.iter().map(move |trial| Line { run, level, arm, trial }))
        .collect()
}

/// As RFC 4180.
pub fn trials_csv(run: &RunReport) -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let mut out = format!("{}\r\n", names.join(","));
    for line in lines(run) {
        let cells: Vec<String> = COLUMNS.iter().map(|(_, cell)| quoted(&cell.csv(&line))).collect();
        out += &cells.join(",");
        out += "\r\n";
    }
    out
}

/// As one Parquet file, with the columns of the CSV and their types.
///
/// # Errors
/// None that is known: it is written in memory.
pub fn trials_parquet(run: &RunReport) -> Result<Vec<u8>, ParquetError> {
    let lines = lines(run);
    let columns: Result<Vec<_>, _> =
        COLUMNS.iter().map(|(name, cell)| cell.column(name).map(Arc::new)).collect();
    let schema = Type::group_type_builder("trials").with_fields(columns?).build()?;
    let by = format!("sealion {}", run.sealion_version);
    let properties = WriterProperties::builder().set_created_by(by).build();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, cell) in COLUMNS {
        let Some(mut column) = group.next_column()? else { break };
        cell.write(&lines, &mut column)?;
        column.close()?;
    }
    group.close()?;
    writer.into_inner()
}
