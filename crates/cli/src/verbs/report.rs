//! `sealion report`: kept runs, and the page of a report.json.

use std::path::PathBuf;

use change_ops::history::ChangeRecord;
use clap::Args;
use site::OpsError;

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion report
  sealion report sealion-demo/report.json --html report.html"
)]
pub struct ReportArgs {
    /// A report.json of `sealion demo`; if omitted, the runs of the inventory's cluster are listed
    pub report: Option<PathBuf>,
    /// Write the report as an HTML page to FILE
    #[arg(long, value_name = "FILE", requires = "report")]
    pub html: Option<PathBuf>,
    /// Print one run with everything it recorded, as JSON
    #[arg(long, value_name = "ID", conflicts_with = "report")]
    pub run: Option<String>,
    /// List at most this many runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
}

pub fn report(global: &Global, args: &ReportArgs) -> Result<u8, OpsError> {
    let Some(path) = &args.report else {
        return runs(global, args);
    };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let is_id = !path.exists() && path.extension().is_none() && path.components().count() == 1;
        let next = if is_id {
            format!("to show a run of the list: sealion report --run {}", path.display())
        } else {
            "give a report.json that sealion wrote".into()
        };
        OpsError::usage(format!("cannot read {}", path.display()), error.to_string(), next)
    })?;
    let report = ::report::DemoReport::from_json(&text).map_err(|error| {
        OpsError::usage(
            format!("{} is not a report", path.display()),
            error.to_string(),
            "use the sealion that wrote it, or a newer one",
        )
    })?;
    match &args.html {
        None => print!("{}", ::report::render_summary(&report)),
        Some(path) => std::fs::write(path, ::report::render_html(&report)).map_err(|error| {
            OpsError::usage(
                format!("cannot write {}", path.display()),
                error.to_string(),
                "choose a file that you may write",
            )
        })?,
    }
    Ok(0)
}

/// Kept runs: a list, or one of them whole.
fn runs(global: &Global, args: &ReportArgs) -> Result<u8, OpsError> {
    let cluster = site::Cluster::read(&global.inventory)?;
    if let Some(id) = &args.run {
        println!("{}", change_ops::history::export(&cluster, id)?);
        return Ok(0);
    }
    let runs = change_ops::history::runs(&cluster, args.limit)?;
    let changes = change_ops::history::changes(&cluster, args.limit)?;
    if global.format == Format::Json {
        let list: Vec<_> = runs
            .iter()
            .map(|run| {
                serde_json::json!({
                    "id": run.id, "command": run.command, "sealion_version": run.sealion_version,
                    "started_unix_ms": run.started_unix_ms, "ended_unix_ms": run.ended_unix_ms,
                    "findings_failed": run.findings_failed, "findings_unknown": run.findings_unknown,
                    "links_plain": run.links_plain,
                })
            })
            .collect();
        let changes: Vec<_> = changes
            .iter()
            .map(|one| {
                serde_json::json!({
                    "plan": one.plan_id, "change": one.change, "begun_unix_ms": one.begun_unix_ms,
                    "last_unix_ms": one.last_unix_ms, "outcome": one.outcome,
                })
            })
            .collect();
        println!("{}", serde_json::json!({"schema": "sealion/runs/1", "runs": list, "changes": changes}));
        return Ok(0);
    }
    let rows = runs
        .iter()
        .map(|run| {
            vec![
                run.id.clone(),
                run.command.clone(),
                run.findings_failed.to_string(),
                run.findings_unknown.to_string(),
                cleartext_links(run.links_plain, run.links_sealed, run.links_unknown),
            ]
        })
        .collect();
    let header = &["run (begins with the time, UTC)", "command", "failed", "unknown", "cleartext links"];
    println!("{}", show::table_of_ids(header, rows));
    if !changes.is_empty() {
        let row = |one: &ChangeRecord| vec![one.plan_id.clone(), one.change.clone(), one.outcome.clone()];
        let rows = changes.iter().map(row).collect();
        println!(
            "\n{}",
            show::table_of_ids(&["change (begins with the time, UTC)", "what", "outcome"], rows)
        );
    }
    Ok(0)
}

/// None seen is told apart from none looked at.
fn cleartext_links(plain: u64, sealed: u64, unknown: u64) -> String {
    match (plain, sealed, unknown) {
        (0, 0, 0) => "-".into(),
        (plain, _, 0) => plain.to_string(),
        (plain, _, unknown) => format!("{plain}, {unknown} unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::cleartext_links;

    #[test]
    fn what_nobody_saw_is_not_none() {
        for (seen, told) in [
            ((0, 0, 0), "-"),
            ((0, 6, 0), "0"),
            ((2, 1, 0), "2"),
            ((0, 0, 6), "0, 6 unknown"),
            ((1, 0, 5), "1, 5 unknown"),
        ] {
            assert_eq!(cleartext_links(seen.0, seen.1, seen.2), told, "{seen:?}");
        }
    }
}
