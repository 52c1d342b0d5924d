//! `sealion keys`: copies of the keys of data at rest, and the way back from them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use report::shape::{
    KEYS_DRILL_SCHEMA_ID, KEYS_LIST_SCHEMA_ID, KeysCopyRow, KeysDrillReport, KeysListReport,
};
use rest_ops::drill::{Drilled, Source};
use rest_ops::keys::{self, CopyRow};
use site::{Cluster, OpsError};

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

/// So many tables are named; -v names all.
const NAMED_MAX: usize = 8;

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// List the copies in the escrow, and whether they open
    List(ListArgs),
    /// Put key file and pass file of a node back, as the escrow has them
    Restore(RestoreArgs),
    /// Prove that the escrow alone opens a copy of the data
    Drill(DrillArgs),
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "The escrow is `escrow_dir` of the inventory. Each copy is opened; no key is printed. A copy is a file of age: any program that knows age
opens it.

Examples:
  sealion keys list
  sealion keys list --format json

Exit codes: 0 all copies open, 1 one does not or there is none, 3 the escrow cannot be read."
)]
pub struct ListArgs {
    /// File with the passphrase of the CA key (mode 0600), which seals the escrow
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_long_help = "The files are written with the mode 0600 and the owner of the data directory, and compared by hash. What lies there is kept beside
them as NAME.before-restore-NUMBER: nothing is overwritten. Before that, the keys of the copy are tried on the data files; if they do not open all on
which a key can be tried, nothing is written. So a server that runs with other keys keeps them. Where no key can be tried on any file, nothing tells which
copy is right, and one is put back only if --entry names it.

Examples:
  sealion keys restore db1
  sealion keys restore db1 --entry shop-data-keys-1

Exit codes: 0 the files are back, 3 something could not be read or written, 6 refused, nothing was changed."
)]
pub struct RestoreArgs {
    /// Node of the inventory; its files are on this machine
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Copy of the escrow; default: the newest one whose keys open the data files
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// File with the passphrase of the CA key (mode 0600), which seals the escrow
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "A copy of the data (by mariadb-backup of the running server, or the files of a stopped one) is opened by a second mariadbd, on a unix
socket only, in a directory of its own, with the keys that come out of the escrow and none of the node's own key files. A row of each encrypted table is
and each Aria table is read (of each partition, where it has some). The directory is removed in the end, also when sealion is killed. It needs room for
the copy, and mariadbd in PATH. MariaDB only. Where tables lie outside of the data directory (DATA DIRECTORY, links) it is refused: the second server would
open the very files of the first.

Examples:
  sealion keys drill db1
  sealion keys drill db1 --entry shop-data-keys-1 --dir /var/tmp

Exit codes: 0 every table was read, 1 one was not: these keys are not enough, or it is damaged, 3 something could not be tried."
)]
pub struct DrillArgs {
    /// Node of the inventory; its files are on this machine
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Copy of the escrow; default: the newest one whose keys open the data files
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Directory for the copy; default: that of temporary files
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// File with the passphrase of the CA key (mode 0600), which seals the escrow
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
}

pub fn keys(global: &Global, command: &KeysCommand) -> Result<u8, OpsError> {
    match command {
        KeysCommand::List(args) => list(global, args),
        KeysCommand::Restore(args) => restore(global, args),
        KeysCommand::Drill(args) => drill(global, args),
    }
}

fn list(global: &Global, args: &ListArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let copies = keys::list(&cluster, args.ca_passphrase_file.as_deref())?;
    let all_open = !copies.is_empty() && copies.iter().all(|copy| copy.content.is_ok());
    if global.format == Format::Json {
        let escrow_dir = cluster.escrow_dir.display().to_string();
        show::out(&list_report(escrow_dir, copies).to_json());
        return Ok(u8::from(!all_open));
    }
    let mut rows = Vec::new();
    for copy in &copies {
        let [of, made, plan, ids] = match &copy.content {
            Ok(one) => {
                let ids: Vec<String> = one.key_ids.iter().map(ToString::to_string).collect();
                let made = i64::try_from(one.made_unix_ms / 1000).unwrap_or(i64::MAX);
                [one.cluster.clone(), report::figures::day(made), one.plan_id.clone(), ids.join(", ")]
            }
            Err(_) => ["", "", "", ""].map(str::to_owned),
        };
        let opens = if copy.content.is_ok() { "yes" } else { "no" };
        rows.push(vec![copy.name.clone(), opens.into(), of, made, plan, ids]);
    }
    if copies.is_empty() {
        show::out(&format!("no copy in {}", cluster.escrow_dir.display()));
        return Ok(1);
    }
    show::out(&show::table(&["copy", "opens", "cluster", "made", "by change", "keys"], rows));
    for copy in &copies {
        match (&copy.content, &copy.sha256) {
            (Err(why), _) => show::out(&show::wrapped("does not open: ", why)),
            (Ok(_), Some(sha256)) => show::out(&format!("{}  SHA-256 {sha256}", copy.path.display())),
            (Ok(_), None) => {}
        }
    }
    Ok(u8::from(!all_open))
}

fn list_report(escrow_dir: String, copies: Vec<CopyRow>) -> KeysListReport {
    let row = |copy: CopyRow| {
        let row = KeysCopyRow {
            name: copy.name,
            path: copy.path.display().to_string(),
            sha256: copy.sha256,
            ..KeysCopyRow::default()
        };
        match copy.content {
            Err(why) => KeysCopyRow { why: Some(why), ..row },
            Ok(one) => KeysCopyRow {
                opens: true,
                cluster: Some(one.cluster),
                plan_id: Some(one.plan_id),
                made_unix_ms: Some(one.made_unix_ms),
                key_ids: one.key_ids,
                ..row
            },
        }
    };
    KeysListReport {
        schema: KEYS_LIST_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        escrow_dir,
        copies: copies.into_iter().map(row).collect(),
    }
}

fn restore(global: &Global, args: &RestoreArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let back = keys::restore(
        &cluster,
        &args.node,
        args.entry.as_deref(),
        args.ca_passphrase_file.as_deref(),
        &mut |line| show::tell(&line),
    )?;
    for file in &back.files {
        let short = file.sha256.get(..12).unwrap_or(&file.sha256);
        let was = if file.was_same { "was as in the copy" } else { "is back" };
        show::out(&format!("{}  {was} (SHA-256 {short}), mode 0600", file.path.display()));
        if let Some(kept) = &file.kept_as {
            show::out(&format!("  what lay there is kept as {}", kept.display()));
        }
    }
    let opens = back.opens;
    if opens.tried == 0 {
        show::out(&show::wrapped(
            "note: ",
            &format!(
                "no key can be tried on any of its files, so nothing shows that those of {} are right",
                back.entry
            ),
        ));
    } else {
        show::out(&format!(
            "the keys of {} open {} of {} files on which a key can be tried",
            back.entry, opens.opened, opens.tried
        ));
    }
    show::out("");
    if back.is_running {
        show::out("next: the server runs; its next start reads these files");
    } else {
        show::out(&format!("next: start the server, then sealion diagnose {}", args.node));
    }
    Ok(0)
}

fn drill(global: &Global, args: &DrillArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let done = rest_ops::drill::drill(
        &cluster,
        &args.node,
        args.entry.as_deref(),
        args.dir.as_deref(),
        args.ca_passphrase_file.as_deref(),
        &mut |line| show::tell(&line),
    )?;
    let (verdict, code) = match (done.failed.is_empty(), done.is_proven()) {
        (false, _) => ("failed", 1),
        (true, true) => ("proven", 0),
        (true, false) => ("unknown", 3),
    };
    if global.format == Format::Json {
        show::out(&drill_report(&args.node, verdict, done).to_json());
    } else {
        print_drill(global, &args.node, &done);
    }
    Ok(code)
}

fn source_word(source: Source) -> &'static str {
    match source {
        Source::Backup => "backup",
        Source::Files => "files",
    }
}

fn drill_report(node: &str, verdict: &str, done: Drilled) -> KeysDrillReport {
    KeysDrillReport {
        schema: KEYS_DRILL_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        node: node.into(),
        copy: done.entry,
        source: source_word(done.source).into(),
        verdict: verdict.into(),
        files_opened: done.opens.opened,
        files_tried: done.opens.tried,
        tables_with_rows: done.with_rows,
        tables_empty: done.empty,
        failed: done.failed,
        not_read: done.not_read,
        unnamed: done.unnamed,
        removed_dirs: done.swept.iter().map(|dir| dir.display().to_string()).collect(),
    }
}

fn print_drill(global: &Global, node: &str, done: &Drilled) {
    for dir in &done.swept {
        show::out(&format!("removed {}, which an earlier drill has left", dir.display()));
    }
    let named_max = if global.verbose > 0 { usize::MAX } else { NAMED_MAX };
    let from = match done.source {
        Source::Backup => "a backup of the running server",
        Source::Files => "the files of the server, which is down",
    };
    show::out(&format!("copy {} on {from}", done.entry));
    show::out(&show::wrapped("  a row was read of: ", &listed(&done.with_rows, named_max)));
    show::out(&show::wrapped("  opened, no row:    ", &listed(&done.empty, named_max)));
    for why in &done.not_read {
        show::out(&show::wrapped("  not read: ", why));
    }
    for path in &done.unnamed {
        show::out(&show::wrapped(
            "  not read: ",
            &format!("{path}: it is of no table, and no key can be tried on it"),
        ));
    }
    for why in &done.failed {
        show::out(&format!("{} {why}", show::red("FAILED")));
    }
    show::out("");
    if !done.failed.is_empty() {
        show::out(&format!("next: these keys are not enough, or data is damaged; sealion diagnose {node}"));
    } else if done.is_proven() {
        let count = done.with_rows.len() + done.empty.len();
        show::out(&format!("The escrow alone opens the data: {count} tables were read with its keys."));
    } else {
        show::out(
            "not proven: not every table or encrypted file could be read, for another reason than keys",
        );
    }
}

fn listed(tables: &[String], named_max: usize) -> String {
    match tables.len() {
        0 => "none".into(),
        count => format!("{count} ({})", model::link::some_of(tables, named_max)),
    }
}
