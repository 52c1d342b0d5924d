//! `sealion bench show`.

use std::path::PathBuf;

use bench_ops::compare as comparison;
use bench_ops::kept::{self, Measured};
use clap::Args;
use site::OpsError;

use super::keep::{places, write};
use super::text::{load_text, run_text};
use super::{BenchStore, json, of_a_run};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::verbs::scan;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = of_a_run!("  sealion bench show 20261124T0915\n  sealion bench show run.json --html run.html")
)]
pub struct BenchShowArgs {
    /// Measurement
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Write an HTML page with plots to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub store: BenchStore,
}

pub fn show(global: &Global, args: &BenchShowArgs) -> Result<u8, OpsError> {
    if let Some(path) = &args.html {
        scan::writable(path)?;
    }
    let kept = kept::read(&places(global, args.store.store.as_deref())?, &args.run)?;
    let shown = match (&kept.measured, global.format == Format::Json) {
        (Measured::Run(report), true) => json(report)?,
        (Measured::Load(report), true) => json(report)?,
        (Measured::Run(report), false) => run_text(report),
        (Measured::Load(report), false) => load_text(report),
    };
    crate::show::out(&shown);
    if let Some(path) = &args.html {
        write(path, &report::html::render_bench_html(&comparison::as_run(&kept.measured)))?;
    }
    Ok(0)
}
