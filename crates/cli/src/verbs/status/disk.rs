//! `sealion status disk`.

use std::path::PathBuf;

use clap::Args;
use report::shape::{
    DiskCoverageWord, DiskHeaderWord, DiskPathRow, DiskPathWord, LuksHeaderRow, LuksSlotRow, SeverityWord,
    StatusDiskReport,
};
use site::OpsError;
use status_ops::disk;

use crate::options::{Global, SeverityArg, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion status disk --datadir /var/lib/mysql
  sealion status disk /dev/sdb1 /root/escrow/shop.header --fail-on high

Of a directory: what lies below it, down to the disks, from sysfs. Of a block device, an image, a detached header or a
header backup: what lies below it, and what the LUKS header at its beginning says. No key is needed. That a header
stands there does not mean that data are written through it: the first line of each path tells about what is written.

Exit codes: 0 no error, 1 something is weak (--fail-on), 3 a path could not be looked at or, with --fail-on, something
is unknown."
)]
pub struct StatusDiskArgs {
    /// Block devices, images, detached headers, header backups or directories
    #[arg(value_name = "PATH", required_unless_present = "datadir")]
    pub paths: Vec<PathBuf>,
    /// Data directory
    #[arg(long, value_name = "DIR")]
    pub datadir: Option<PathBuf>,
    /// Exit with 1 if something is weak with this severity or a higher one
    ///
    /// Exit with 1 if something is weak with this severity or a higher one, with 3 if something is unknown.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
    // Of `status` itself -h is the host, and that is handed down.
    /// Print help (see more with '--help')
    #[arg(short = 'h', long, action = clap::ArgAction::Help, help_heading = crate::options::GLOBAL)]
    pub help: Option<bool>,
}

pub fn disk(global: &crate::options::Global, args: &StatusDiskArgs) -> Result<u8, OpsError> {
    let paths: Vec<PathBuf> = args.datadir.iter().chain(&args.paths).cloned().collect();
    let report = disk::disk(&paths)?;
    print(global, &report);
    let limit = args.fail_on.map(|word| SeverityWord::from(model::Severity::from(word)));
    Ok(match limit {
        Some(limit) if disk::worst(&report) >= Some(limit) => 1,
        Some(_) if disk::has_unknown(&report) => 3,
        _ => 0,
    })
}

fn print(global: &Global, report: &StatusDiskReport) {
    if global.format == crate::options::Format::Json {
        show::out(&report.to_json());
        return;
    }
    for (at, row) in report.paths.iter().enumerate() {
        if at > 0 {
            show::out("");
        }
        path(row);
    }
    show::out("");
    if report.swaps.is_empty() {
        show::out("swap: none");
    }
    for swap in &report.swaps {
        let why = swap.coverage_why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let text = format!("{}  {}{why}", swap.name, coverage(swap.coverage));
        show::out(&show::fitted("swap: ", &text));
    }
    for line in &report.not_looked_at {
        show::out(&show::fitted("not checked: ", line));
    }
}

fn coverage(word: DiskCoverageWord) -> String {
    show::rest_verdict(word.as_str())
}

fn path(row: &DiskPathRow) {
    let what = match row.kind {
        DiskPathWord::Device => "block device",
        DiskPathWord::File => "file",
        DiskPathWord::Directory => "directory",
    };
    show::out(&format!("{} {}", show::bold(what), row.path));
    let written = match row.coverage {
        DiskCoverageWord::Encrypted => "encrypted below it, on every way down to a disk",
        DiskCoverageWord::Plain => "plain: no layer below it encrypts",
        DiskCoverageWord::Mixed => "mixed: encrypted on some ways down, plain on others",
        DiskCoverageWord::Memory => "in memory: nothing of it is on a disk, unless it is swapped out",
        DiskCoverageWord::Unknown => "unknown",
    };
    let why = row.coverage_why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    show::out(&show::fitted("  what is written  ", &format!("{written}{why}")));
    for layer in &row.layers {
        let indent = "  ".repeat(usize::try_from(layer.depth).unwrap_or(0).min(16));
        let about = if layer.about.is_empty() { String::new() } else { format!(" ({})", layer.about) };
        show::out(&show::fitted(&format!("    {indent}"), &format!("{} {}{about}", layer.kind, layer.name)));
    }
    match (row.header_is, &row.header) {
        (DiskHeaderWord::Found, Some(header)) => print_header(header),
        (DiskHeaderWord::Absent, _) => show::out("  LUKS header      none"),
        (DiskHeaderWord::Unknown, _) => {
            let why = row.header_why.as_deref().unwrap_or("it could not be told");
            show::out(&show::fitted("  LUKS header      unknown: ", why));
        }
        _ => {}
    }
    for one in &row.weaknesses {
        let severity = one.severity.as_str();
        let severity =
            if one.severity >= SeverityWord::High { show::red(severity) } else { severity.to_owned() };
        show::out(&show::fitted(&format!("  {severity}: "), &one.text));
        show::out(&show::fitted("    next: ", &one.remedy));
    }
}

fn print_header(header: &LuksHeaderRow) {
    let claims = match (header.claims, &header.claims_why) {
        (DiskCoverageWord::Encrypted, _) => "says that its data are encrypted".to_owned(),
        (DiskCoverageWord::Plain, Some(why)) => format!("its data are plain: {why}"),
        (_, Some(why)) => format!("what its data are is unknown: {why}"),
        (_, None) => "what its data are is unknown".to_owned(),
    };
    let mut about = format!("LUKS{}, {claims}; ", header.version);
    about.push_str(&format!("cipher {}, key {} bits", header.ciphers.join(", "), header.key_bits));
    if let Some(hash) = &header.hash {
        about.push_str(&format!(", hash {hash}"));
    }
    if header.is_detached {
        about.push_str("; detached: its data lie elsewhere");
    }
    show::out(&show::fitted("  LUKS header      ", &about));
    let label = if header.label.is_empty() { String::new() } else { format!(", label {}", header.label) };
    show::out(&format!("    UUID {}{label}", header.uuid));
    let rows = header.slots.iter().filter(|slot| slot.state != "inactive").map(|slot| {
        let opens = match (slot.state.as_str(), slot.opens) {
            (_, true) => "yes",
            ("active", false) => "no",
            _ => "unknown",
        };
        let tokens: Vec<String> = header
            .tokens
            .iter()
            .filter(|token| token.slots.contains(&slot.id))
            .map(|token| format!("{} ({})", token.kind, token.id))
            .collect();
        vec![slot.id.to_string(), opens.into(), kdf(slot), slot.priority.clone(), tokens.join(", ")]
    });
    show::out(&show::table(&["slot", "opens", "KDF", "priority", "tokens"], rows.collect()));
}

fn kdf(slot: &LuksSlotRow) -> String {
    let name = slot.kdf.as_deref().unwrap_or("-");
    match (&slot.kdf_hash, slot.iterations, slot.memory_kib, slot.lanes) {
        (Some(hash), Some(iterations), _, _) => format!("{name} {hash}, {iterations} iterations"),
        (_, Some(passes), Some(memory), Some(lanes)) => {
            format!("{name}, {memory} KiB, {passes} passes, {lanes} lanes")
        }
        _ => name.to_owned(),
    }
}
