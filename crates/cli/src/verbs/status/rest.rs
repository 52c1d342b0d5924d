//! `sealion status rest`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use disk::{Kind, Progress};
use model::link::some_of;
use report::shape::{RestArtefactRow, RestUnitWord, RestVerdictWord, StatusRestReport};
use site::OpsError;
use status_ops::rest;

use crate::options::{Connect, Format, Global, TABLE_OR_JSON, connect, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion status rest --datadir /var/lib/mysql
  sealion status rest --datadir /var/lib/mysql -S /run/mysqld/mysqld.sock -u root --fail-on-plain

The files are read without a key, and the server may be down. If a server is named, its answers stand beside the
files, provided that this is its data directory, and what it keeps outside of the directory is read too: tablespaces,
logs, temporary files. Run it as root to read open files without a name (sorts, spilled binary log caches).

Exit codes: 0 no error, 1 something is plain that the server could encrypt (--fail-on-plain), 3 a file could not be
read, a named server did not answer or, with --fail-on-plain, something is unknown."
)]
pub struct StatusRestArgs {
    /// Data directory
    #[arg(long, value_name = "DIR")]
    pub datadir: PathBuf,
    /// Exit with 1 if something is plain that the server could encrypt, with 3 if something is unknown
    #[arg(long)]
    pub fail_on_plain: bool,
    #[command(flatten)]
    pub connect: Connect,
}

/// So many files of a group are named; -v names all.
const NAMED_MAX: usize = 4;

pub fn rest(global: &Global, args: &StatusRestArgs) -> Result<u8, OpsError> {
    let given = &args.connect;
    let is_named = connect::names_a_server(given) || given.user.is_some() || given.defaults_file.is_some();
    let cluster = if is_named { Some(connect::one_server(given)?) } else { None };
    let progress = Arc::new(Progress::default());
    let ticker = {
        let progress = Arc::clone(&progress);
        show::Ticker::start(move |elapsed| so_far(&progress, elapsed))
    };
    let report = rest::rest(&args.datadir, cluster.as_ref(), &progress);
    drop(ticker);
    let report = report?;
    if global.format == Format::Json {
        show::out(&report.to_json());
    } else {
        print(&report, if global.verbose > 0 { usize::MAX } else { NAMED_MAX });
    }
    Ok(match args.fail_on_plain {
        true if rest::has_plain(&report) => 1,
        true if rest::has_unknown(&report) => 3,
        _ if rest::has_unread(&report) || (report.server.is_asked && report.server.version.is_none()) => 3,
        _ => 0,
    })
}

fn so_far(progress: &Progress, elapsed: Duration) -> String {
    let (read, all) = (progress.read_bytes(), progress.all_bytes());
    if read == 0 && all == 0 { "listing files".into() } else { show::read_so_far(read, all, elapsed) }
}

/// What stands in one row of the table: files that are told apart by nothing else.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group<'r> {
    /// Of the kind, so that tables come first.
    rank: usize,
    kind: &'r str,
    verdict: RestVerdictWord,
    sql: &'static str,
}

fn groups(report: &StatusRestReport) -> BTreeMap<Group<'_>, Vec<&RestArtefactRow>> {
    let mut groups: BTreeMap<Group<'_>, Vec<&RestArtefactRow>> = BTreeMap::new();
    for one in &report.artefacts {
        let sql = match &one.sql {
            Some(sql) => sql.says.as_str(),
            None if report.server.counts => "-",
            None => "not asked",
        };
        groups
            .entry(Group { rank: Kind::rank(&one.kind), kind: &one.kind, verdict: one.verdict, sql })
            .or_default()
            .push(one);
    }
    groups
}

fn print(report: &StatusRestReport, named_max: usize) {
    let family = match report.family.as_deref() {
        Some("mariadb") => "MariaDB",
        Some("mysql") => "MySQL",
        _ => "not told by its files",
    };
    println!("{} {}", show::bold("data directory"), report.datadir);
    println!(
        "  server   {family}   files {}   pages read {}{}",
        report.artefacts.len(),
        show::size(report.read_bytes),
        match report.hole_bytes {
            0 => String::new(),
            bytes => format!("   in holes {}", show::size(bytes)),
        }
    );
    println!("{}", show::wrapped("  SQL      ", &asked(report)));
    if let Some(elsewhere) = elsewhere(report) {
        println!("{}", show::wrapped("  also     ", &elsewhere));
    }
    let mut rows = Vec::new();
    for (group, files) in groups(report) {
        let bytes = files.iter().map(|one| one.bytes).sum();
        rows.push(vec![
            group.kind.to_owned(),
            files.len().to_string(),
            show::size(bytes),
            show::rest_verdict(group.verdict.as_str()),
            counted(&files),
            group.sql.to_owned(),
        ]);
    }
    println!("{}", show::table(&["what", "files", "size", "bytes say", "plain", "SQL says"], rows));
    print_disagreements(report, named_max);
    print_named(report, named_max);
    if let Some(keys) = keys_first(report) {
        println!("{}", show::wrapped("  keys:  ", keys));
    }
    print_places(report);
    for line in &report.not_looked_at {
        println!("{}", show::wrapped("not checked: ", line));
    }
}

/// Every switch above needs keys: where nothing is encrypted yet, the server may have none.
fn keys_first(report: &StatusRestReport) -> Option<&'static str> {
    let counts = &report.counts;
    if counts.encrypted + counts.mixed > 0 || counts.plain == 0 {
        return None;
    }
    Some(match report.family.as_deref() {
        Some("mariadb") => {
            "nothing here is encrypted: first load a key management plugin (file_key_management or another one; SELECT PLUGIN_NAME FROM \
             information_schema.PLUGINS WHERE PLUGIN_TYPE='ENCRYPTION' names those that are loaded)"
        }
        Some("mysql") => {
            "nothing here is encrypted: first load a keyring component (SELECT * FROM performance_schema.keyring_component_status \
             shows the one that is loaded)"
        }
        _ => {
            "nothing here is encrypted: first give the server a key management plugin (MariaDB) or a keyring component (MySQL)"
        }
    })
}

fn asked(report: &StatusRestReport) -> String {
    let server = &report.server;
    let version = server.version.as_deref().unwrap_or("no answer");
    match (server.is_asked, server.counts) {
        (false, _) => "not asked: name the server to compare (-S, -h, -u)".into(),
        (true, true) => format!("{version}, this is its data directory"),
        (true, false) => {
            let why = server.why.as_deref().unwrap_or("it did not answer");
            format!("{version}; its answers do not count: {why}")
        }
    }
}

/// Files that are not in the directory, by what names them.
fn elsewhere(report: &StatusRestReport) -> Option<String> {
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for name in report.artefacts.iter().filter_map(|one| one.named_by.as_deref()) {
        *by_name.entry(name).or_default() += 1;
    }
    let all: usize = by_name.values().sum();
    let names: Vec<String> = by_name.iter().map(|(name, count)| format!("{count} of {name}")).collect();
    (all > 0).then(|| format!("{all} files outside of the directory: {}", names.join(", ")))
}

fn print_places(report: &StatusRestReport) {
    for one in &report.places {
        let path = one.path.as_deref().map(|path| format!("{path} ")).unwrap_or_default();
        let text = format!("{path}{}: {}", show::rest_verdict(one.verdict.as_str()), one.text);
        println!("{}", show::wrapped(&format!("{}: ", one.what), &text));
        if let Some(cure) = &one.cure {
            println!("{}", show::wrapped("  next: ", cure));
        }
    }
}

/// `54 of 400`, of pages or blocks; a file that tells for all of itself has none.
fn counted(files: &[&RestArtefactRow]) -> String {
    if files.iter().all(|one| one.unit == RestUnitWord::File) {
        return "-".into();
    }
    let sum = |of: fn(&RestArtefactRow) -> u64| files.iter().map(|one| of(one)).sum::<u64>();
    let plain = sum(|one| one.plain);
    let all = sum(|one| one.plain + one.encrypted + one.unknown);
    format!("{plain} of {all}")
}

fn print_disagreements(report: &StatusRestReport, named_max: usize) {
    // Files of one kind have the same cure, and there may be thousands of them.
    let mut by_cure: BTreeMap<(usize, &str, &str), Vec<String>> = BTreeMap::new();
    for one in &report.disagreements {
        let key = (Kind::rank(&one.kind), one.kind.as_str(), one.cure.as_str());
        by_cure.entry(key).or_default().push(format!("{}: {}", one.path, one.text));
    }
    for ((_, kind, cure), lines) in by_cure {
        println!("{} {kind}", show::red("SQL AND BYTES DISAGREE"));
        for line in lines.iter().take(named_max) {
            println!("{}", show::wrapped("  ", line));
        }
        if lines.len() > named_max {
            println!("  and {} more; -v names all", lines.len() - named_max);
        }
        println!("{}", show::wrapped("  next: ", cure));
    }
}

fn print_named(report: &StatusRestReport, named_max: usize) {
    let disagrees = |path: &str| report.disagreements.iter().any(|one| one.path == path);
    let mut lines: BTreeMap<(RestVerdictWord, usize, &str, &str), Vec<String>> = BTreeMap::new();
    let mut covered: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &report.artefacts {
        let is_told = disagrees(&one.path);
        let rank = Kind::rank(&one.kind);
        if one.unknown > 0 {
            let why = format!("{}: {}", one.path, one.why.join("; "));
            let cure = one.cure.as_deref().unwrap_or("");
            lines.entry((RestVerdictWord::Unknown, rank, &one.kind, cure)).or_default().push(why);
        } else if one.verdict == RestVerdictWord::Never
            && one.cure.is_none()
            && matches!(one.lies_on.as_deref(), Some("encrypted" | "memory"))
        {
            *covered.entry(one.kind.as_str()).or_default() += 1;
        } else if let (Some(cure), false) = (&one.cure, is_told) {
            lines.entry((one.verdict, rank, &one.kind, cure)).or_default().push(one.path.clone());
        }
    }
    for (kind, count) in covered {
        let files = model::text::counted(count, "file", "files");
        let text = format!("{kind}: {files}; what lies below encrypts it, or it is in memory");
        println!("{}", show::wrapped("covered by its place: ", &text));
    }
    for ((verdict, _, kind, cure), paths) in lines {
        let mark = match verdict {
            RestVerdictWord::Never => "never encrypted: ",
            RestVerdictWord::Unknown => "unknown: ",
            RestVerdictWord::Mixed => "partly plain: ",
            RestVerdictWord::Encrypted => "encrypted, but not the unused ends of its pages: ",
            _ => "plain: ",
        };
        println!("{}", show::wrapped(mark, &format!("{kind}: {}", some_of(&paths, named_max))));
        if !cure.is_empty() {
            println!("{}", show::wrapped("  next: ", cure));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1 << 40, "1.0 TiB")] {
            assert_eq!(show::size(bytes), text);
        }
    }
}
