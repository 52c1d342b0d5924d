//! `sealion bench export`.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

use bench_ops::compare as comparison;
use bench_ops::kept::{self, Measured};
use clap::Args;
use report::formats::bench::{trials_csv, trials_parquet};
use site::OpsError;

use super::keep::places;
use super::{BenchStore, json, of_a_run};
use crate::options::{Format, Global, formats};

const FORMATS: &[Format] = &[Format::Csv, Format::Parquet, Format::Json];

#[derive(Debug, Args)]
#[command(
    arg = formats(FORMATS),
    after_long_help = of_a_run!("  sealion bench export run.json > trials.csv\n  sealion bench export 20261124 --format parquet --out trials.parquet")
)]
pub struct BenchExportArgs {
    /// Measurement
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Write to FILE instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub store: BenchStore,
}

pub fn export(global: &Global, args: &BenchExportArgs) -> Result<u8, OpsError> {
    let kept = kept::read(&places(global, args.store.store.as_deref())?, &args.run)?;
    let bytes = match (&kept.measured, global.format) {
        (Measured::Run(report), Format::Json) => (json(report)? + "\n").into_bytes(),
        (Measured::Load(report), Format::Json) => (json(report)? + "\n").into_bytes(),
        (measured, Format::Parquet) => trials_parquet(&comparison::as_run(measured))
            .map_err(|error| OpsError::internal("cannot write the trials as Parquet", error))?,
        // Its lines end as RFC 4180 says.
        (measured, _) => trials_csv(&comparison::as_run(measured)).into_bytes(),
    };
    if let Some(path) = &args.out {
        std::fs::write(path, &bytes).map_err(|error| {
            OpsError::usage(
                format!("cannot write {}", path.display()),
                error.to_string(),
                "choose a file that you may write",
            )
        })?;
        return Ok(0);
    }
    let mut stdout = std::io::stdout();
    if global.format == Format::Parquet && stdout.is_terminal() {
        return Err(OpsError::usage(
            "cannot print Parquet on a terminal",
            "it is binary",
            "write it to a file: --out trials.parquet",
        ));
    }
    match stdout.write_all(&bytes).and_then(|()| stdout.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(OpsError::usage("cannot write to stdout", error.to_string(), "write to a file: --out FILE"))
        }
        _ => Ok(0),
    }
}
