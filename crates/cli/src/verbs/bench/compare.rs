//! `sealion bench compare`.

use std::fmt::Write as _;

use bench_ops::compare as comparison;
use bench_ops::kept;
use clap::Args;
use report::shape::CompareReport;
use site::OpsError;

use super::keep::places;
use super::{BenchStore, NOT_USABLE, json, of_a_run};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = of_a_run!(
        "  sealion bench compare before.json after.json\n  sealion bench compare 20261101 20261124",
        "Each arm is compared with itself, and each effect with itself.\n\nExit codes: 7 when one of the two is not usable: they are \
         compared all the same. 2: they are of different\nexperiments or units, or one of them does not exist."
    )
)]
pub struct BenchCompareArgs {
    /// The baseline
    #[arg(value_name = "BASELINE")]
    pub first: String,
    /// The run that is compared with it
    #[arg(value_name = "RUN")]
    pub second: String,
    #[command(flatten)]
    pub store: BenchStore,
}

pub fn compare(global: &Global, args: &BenchCompareArgs) -> Result<u8, OpsError> {
    let places = places(global, args.store.store.as_deref())?;
    let (first, second) = (kept::read(&places, &args.first)?, kept::read(&places, &args.second)?);
    let report = comparison::compare(&first, &second)?;
    if global.format == Format::Json {
        show::out(&json(&report)?);
    } else {
        show::out(&compare_text(&report));
    }
    Ok(if report.is_usable { 0 } else { NOT_USABLE })
}

fn compare_text(report: &CompareReport) -> String {
    let mut out = String::new();
    // Writing into a String cannot fail.
    for (which, side) in [("first", &report.first), ("second", &report.second)] {
        let when = model::clock::rfc3339(side.started_unix_ms);
        let when = when.get(..19).unwrap_or_default().replace('T', " ");
        let about = format!("{} of {when} UTC, {}", side.run, side.server_version);
        let _ = writeln!(out, "{}", show::wrapped(&format!("{which:<7} "), &about));
    }
    let figure = |value: f64| if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") };
    let interval = |low: Option<f64>, high: Option<f64>| {
        low.zip(high).map_or("-".to_owned(), |(low, high)| format!("{low:.3} to {high:.3}"))
    };
    let rows = report
        .rows
        .iter()
        .map(|row| {
            vec![
                row.connections.to_string(),
                row.arm.clone(),
                figure(row.first_mean),
                figure(row.second_mean),
                format!("{:.3}", row.ratio),
                interval(row.low, row.high),
            ]
        })
        .collect();
    let header = ["conns", "arm", "first", "second", "ratio", "95 %"];
    let _ = writeln!(out, "{}, {}\n\n{}\n", report.experiment, report.unit, show::table(&header, rows));
    for row in &report.rows {
        let _ = writeln!(out, "{}", show::wrapped("- ", &row.text));
    }
    for effect in &report.effects {
        let _ = writeln!(out, "{}", show::wrapped("- ", &effect.text));
    }
    if !report.differs.is_empty() {
        let rows = report
            .differs
            .iter()
            .map(|row| vec![row.what.clone(), row.first.clone(), row.second.clone()])
            .collect();
        let _ = writeln!(out, "\n{}", show::table(&["different", "first", "second"], rows));
    }
    if !report.only_in_one.is_empty() {
        let _ = writeln!(out, "\n{}", show::wrapped("only in one run: ", &report.only_in_one.join("; ")));
    }
    out.push('\n');
    for warning in &report.warnings {
        let _ = writeln!(out, "{}", show::wrapped("note: ", warning));
    }
    out.trim_end().to_owned()
}
