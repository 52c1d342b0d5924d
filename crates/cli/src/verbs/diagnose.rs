//! `sealion diagnose`.

use std::path::PathBuf;

use clap::Args;
use report::shape::DiagnoseReport;
use rest_ops::diagnose::{self, Places};
use site::{Cluster, OpsError};

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "A server that lost its keys says that pages are corrupted, and advises to drop tables or to force recovery. Both destroy data that the
right keys bring back. This command reads the end of the error log, the option files, the key file, the headers of the data files and the copies in
the escrow, tries the keys on whole pages in memory, and says which key is missing or wrong. It changes nothing, and needs no server.

Run it on the server's machine. With --datadir, no inventory is needed; the key file of MySQL is its keyring (component_keyring_file).

Examples:
  sealion diagnose db1
  sealion diagnose --datadir /var/lib/mysql --key-file /etc/keys.enc --key-file-pass /etc/keys.pass
  sealion diagnose --datadir /var/lib/mysql --key-file /var/lib/mysql-keyring/keyring

Exit codes: 0 no problem with keys, 1 a problem is named, 3 could not tell."
)]
pub struct DiagnoseArgs {
    /// Node of the inventory; its files are on this machine
    #[arg(value_name = "NODE", required_unless_present = "datadir", conflicts_with = "datadir")]
    pub node: Option<String>,
    /// Data directory, where there is no inventory
    #[arg(long, value_name = "DIR")]
    pub datadir: Option<PathBuf>,
    /// Error log; default: as the inventory or the option files say
    #[arg(long, value_name = "FILE")]
    pub error_log: Option<PathBuf>,
    /// Key file, or keyring of MySQL; default: as the option files say
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// File with the passphrase of the key file; default: as the option files say
    #[arg(long, value_name = "FILE")]
    pub key_file_pass: Option<PathBuf>,
    /// File with the passphrase of the CA key (mode 0600), which seals the escrow
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
}

pub fn diagnose(global: &Global, args: &DiagnoseArgs) -> Result<u8, OpsError> {
    let places = Places {
        datadir: args.datadir.clone().unwrap_or_default(),
        error_log: args.error_log.clone(),
        key_file: args.key_file.clone(),
        pass_file: args.key_file_pass.clone(),
    };
    let report = match &args.node {
        Some(node) => {
            let cluster = Cluster::read(&global.inventory)?;
            diagnose::node(&cluster, node, args.ca_passphrase_file.as_deref(), &places)?
        }
        None => diagnose::files(&places)?,
    };
    if global.format == Format::Json {
        show::out(&report.to_json());
    } else {
        print(&report);
    }
    Ok(match report.verdict.as_str() {
        "no_key_problem" => 0,
        "key_problem" => 1,
        _ => 3,
    })
}

fn print(report: &DiagnoseReport) {
    let family = match report.family.as_deref() {
        Some("mariadb") => "MariaDB",
        Some("mysql") => "MySQL",
        _ => "not told by its files",
    };
    show::out(&format!("{} {}   {family}", show::bold("data directory"), report.datadir));
    for file in &report.files {
        let role = match file.role.as_str() {
            "key_file" => "key file ",
            "keyring_backup" => "backup   ",
            _ => "pass file",
        };
        let names = if file.key_names.is_empty() {
            String::new()
        } else {
            format!(", keys {}", file.key_names.join(", "))
        };
        let why = file.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        show::out(&format!("  {role}  {} ({}{names}){why}", file.path, file.state));
    }
    if !report.keys.is_empty() {
        let rows = report.keys.iter().map(|key| {
            vec![
                key.name.clone(),
                key.files.to_string(),
                key.result.replace('_', " "),
                key.examples.first().cloned().unwrap_or_default(),
            ]
        });
        show::out(&show::table(&["key needed", "files", "the key at hand", "for example"], rows.collect()));
    }
    for copy in &report.copies {
        let what = match (&copy.why, copy.is_same_key_file) {
            (Some(why), _) => format!("does not open: {why}"),
            (None, same) => {
                let same = match same {
                    Some(true) => ", the same key file as here",
                    Some(false) => ", another key file than here",
                    None => "",
                };
                format!(
                    "opens {} of {} files on which a key was tried{same}",
                    copy.files_opened, copy.files_tried
                )
            }
        };
        show::out(&show::wrapped("  escrow   ", &format!("{}: {what}", copy.name)));
    }
    show::out("");
    match report.verdict.as_str() {
        "no_key_problem" => show::out("No problem with keys was found."),
        "key_problem" => {}
        _ => show::out("Whether the keys are right cannot be told."),
    }
    for problem in &report.problems {
        show::out(&format!("{} {}", show::red("PROBLEM"), problem.what));
        show::out(&show::wrapped("  why:   ", &problem.why));
        show::out(&show::wrapped("  lost:  ", &problem.lost));
        show::out(&show::wrapped("  next:  ", &problem.next));
    }
    if !report.forbidden.is_empty() {
        show::out("");
        show::out(&show::bold("Do none of this; it destroys data that the right keys bring back:"));
        for line in &report.forbidden {
            show::out(&show::wrapped("  - ", line));
        }
    }
    if !report.log.is_empty() {
        show::out("");
        show::out("The newest start in the error log says:");
        for row in &report.log {
            show::out(&show::wrapped("  ", &row.line));
        }
    }
    for note in &report.notes {
        show::out(&show::wrapped("note: ", note));
    }
    for line in &report.unknown {
        show::out(&show::wrapped("not known: ", line));
    }
}
