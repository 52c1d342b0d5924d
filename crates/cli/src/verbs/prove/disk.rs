//! `sealion prove disk`.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use prove_ops::disk::Settings;
use report::shape::{DiskProofRow, DiskProofWord, ProveDiskReport};
use site::{Cluster, OpsError};

use crate::options::{Connect, Format, Global, TABLE_OR_JSON, connect, formats};
use crate::verbs::change;
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove disk -S /run/mysqld/mysqld.sock -u root
  sealion prove disk -S /run/mysqld/mysqld.sock -u root --yes --fill-mb 512 --format json

\"not readable\" needs a control: it must have been written there (the table was flushed, a checkpoint has passed it, a
file grew), what was written is encrypted, and no canary was found. All else is \"not proven\". Buffers of a session are
made small for this; those of the whole server are left as they are, and what stays in them is not proven.

Exit codes: 0 nothing is readable and all is proven, 1 something is readable, 3 something is not proven, or the files of
the server cannot be read."
)]
pub struct ProveDiskArgs {
    /// Do not ask: write canaries to the server
    #[arg(long)]
    pub yes: bool,
    /// MiB for each temporary table; those of a table that fits into the buffer pool may reach no disk
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub fill_mb: u32,
    /// Seconds to wait for a checkpoint that passes what was written
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub wait: u64,
    #[command(flatten)]
    pub connect: Connect,
}

pub fn run(global: &Global, args: &ProveDiskArgs) -> Result<u8, OpsError> {
    let cluster = connect::one_server(&args.connect)?;
    if !args.yes {
        consent(&cluster, args.fill_mb)?;
    }
    let stop = interrupt::flag()?;
    let settings = Settings { fill_mb: args.fill_mb, wait: Duration::from_secs(args.wait) };
    let progress = Arc::new(disk::Progress::default());
    let tell = |what: &str| show::progress(what);
    let report = prove_ops::disk::prove(&cluster, settings, &stop, &tell, &progress);
    show::progress("");
    let report = report?;
    if global.format == Format::Json {
        show::out(&report.to_json());
    } else {
        print(&report, global.verbose > 0);
    }
    let is = |word| report.artefacts.iter().any(|one| one.verdict == word);
    Ok(match () {
        () if is(DiskProofWord::Readable) => 1,
        () if is(DiskProofWord::NotProven) || !report.is_complete => 3,
        () => 0,
    })
}

fn consent(cluster: &Cluster, fill_mb: u32) -> Result<(), OpsError> {
    let name = cluster.nodes.first().map(|node| node.name.to_string()).unwrap_or_default();
    let what = format!(
        "prove disk writes up to {} MiB of canaries to {name}, into the schema sealion_canary, and drops it again; replicas get it too",
        2 * fill_mb + 32
    );
    if !std::io::stdin().is_terminal() {
        return Err(OpsError::usage("confirmation needed, but stdin is not a terminal", what, "add --yes"));
    }
    show::out(&show::fitted("", &what));
    change::ask()
}

const NAME_COLUMNS: usize = 38;
const VERDICT_COLUMNS: usize = 13;
/// Of 80.
const FILE_COLUMNS: usize = 80 - NAME_COLUMNS - VERDICT_COLUMNS - 2;

fn print(report: &ProveDiskReport, is_verbose: bool) {
    show::out(&format!("{} {} ({})", show::bold("canaries in"), report.datadir, report.server_version));
    for one in &report.artefacts {
        show::out(&line(one));
        if is_verbose {
            show::out(&show::wrapped("    why:  ", &one.why));
            for file in &one.files {
                show::out(&show::wrapped("    file: ", &format!("{} ({} times)", file.path, file.times)));
            }
        }
        if let Some(cure) = &one.cure {
            show::out(&show::wrapped("    next: ", cure));
        }
        if !is_verbose && one.verdict == DiskProofWord::NotProven {
            show::out(&show::wrapped("    why:  ", &one.why));
        }
    }
    if !report.is_written {
        show::out(&show::wrapped(
            "note: ",
            "it is a replica, or takes no writes: canaries were only asked for by SELECT",
        ));
    }
    for note in &report.notes {
        show::out(&show::wrapped("note: ", note));
    }
    for left in &report.left_behind {
        show::out(&show::wrapped(&show::red("left behind: "), left));
    }
}

/// At most 80 columns.
fn line(one: &DiskProofRow) -> String {
    let word = one.verdict.as_str().replace('-', " ");
    let word = format!("{word:<VERDICT_COLUMNS$}");
    let word = match one.verdict {
        DiskProofWord::Readable => show::red(&word),
        DiskProofWord::NotReadable => show::green(&word),
        DiskProofWord::NotProven | DiskProofWord::NotThere => word,
    };
    let file = match &one.files[..] {
        [] => String::new(),
        [file] => short(&file.path, FILE_COLUMNS),
        [file, rest @ ..] => {
            let more = format!(" +{}", rest.len());
            format!("{}{more}", short(&file.path, FILE_COLUMNS - more.len()))
        }
    };
    format!("{:<NAME_COLUMNS$} {word} {file}", one.name).trim_end().to_owned()
}

/// The end of a path says more than its beginning.
fn short(path: &str, columns_max: usize) -> String {
    let columns = path.chars().count();
    if columns <= columns_max {
        return path.to_owned();
    }
    let end: String = path.chars().skip(columns + 1 - columns_max).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::shape::DiskProofFile;

    #[test]
    fn a_row_fits_in_eighty_columns() {
        let file = |path: &str| DiskProofFile { path: path.into(), times: 3 };
        let row = |files| DiskProofRow {
            id: "x".into(),
            name: "CREATE TEMPORARY TABLE (Aria, MyISAM)".into(),
            verdict: DiskProofWord::NotReadable,
            why: String::new(),
            files,
            cure: None,
        };
        let long = "/var/lib/mysql-tmp/#sql-temptable-a-very-long-name-1-2.MAD";
        for files in [vec![], vec![file("a")], vec![file(long)], vec![file(long), file("b")]] {
            let line = line(&row(files));
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
