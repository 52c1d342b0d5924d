//! `sealion config`: effective options, and a first inventory.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use site::OpsError;

use crate::options::{Connect, Format, Global, TABLE_OR_JSON, connect, formats};

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective options, with the file and line that set each
    Print(ConfigArgs),
    /// Draft a sealion.toml for a whole cluster, found from one of its servers
    Inventory(Box<InventoryArgs>),
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion config print
  sealion config print --defaults-file /etc/mysql/my.cnf -g mysqld -g galera"
)]
pub struct ConfigArgs {
    /// Read only this file and the files it includes
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,
    /// Read this file after the usual ones
    #[arg(long, value_name = "FILE")]
    pub defaults_extra_file: Option<PathBuf>,
    /// Also read groups with this suffix
    #[arg(long, value_name = "SUFFIX")]
    pub defaults_group_suffix: Option<String>,
    /// Group to read; may be repeated. Default: those that a MariaDB server reads
    #[arg(long = "group", short = 'g', value_name = "GROUP")]
    pub groups: Vec<String>,
}

#[derive(Debug, Args)]
#[command(
    after_long_help = "The server is asked for the nodes of its Galera cluster, its sources and its replicas, and these are asked in the same way. The draft
begins with a picture of what was found. Lines that you must verify are marked CHECK.

Servers that others name are not given the password itself unless they are verified (--ssl-mode=VERIFY_CA). An account with
caching_sha2_password needs that for its first login; --trust-found sends it all the same.

Examples:
  sealion config inventory -h db1 -u root -p --out sealion.toml
  sealion config inventory --login-path=admin --ssl-mode=VERIFY_CA --ssl-ca=ca.pem"
)]
pub struct InventoryArgs {
    /// Write the draft to this new FILE; default: print it
    ///
    /// Write the draft to this new FILE; default: print it. Where it fails no file is left.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Send the password also to servers that were found and are not verified, if they request it
    #[arg(long)]
    pub trust_found: bool,
    #[command(flatten)]
    pub connect: Connect,
}

pub fn config(global: &Global, command: &ConfigCommand) -> Result<u8, OpsError> {
    match command {
        ConfigCommand::Print(args) => print(global, args),
        ConfigCommand::Inventory(args) => inventory(args),
    }
}

fn print(global: &Global, args: &ConfigArgs) -> Result<u8, OpsError> {
    let printed = status_ops::config_print::print(
        args.defaults_file.clone(),
        args.defaults_extra_file.clone(),
        args.defaults_group_suffix.as_deref(),
        &args.groups,
    )?;
    if global.format == Format::Json {
        println!(
            "{}",
            serde_json::to_string_pretty(&printed)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?
        );
        return Ok(0);
    }
    for row in &printed.options {
        let value = row.value.as_ref().map_or_else(String::new, |value| format!("={value}"));
        println!("{}{value}", row.key);
        println!("    {}:{} [{}]", row.file.display(), row.line, row.group);
        for one in &row.overrode {
            println!(
                "    overrode {} from {}:{}",
                one.value.as_deref().unwrap_or("(no value)"),
                one.file.display(),
                one.line
            );
        }
    }
    for note in &printed.notes {
        eprintln!("note: {note}");
    }
    Ok(0)
}

fn inventory(args: &InventoryArgs) -> Result<u8, OpsError> {
    let cluster = connect::one_server(&args.connect)?;
    // Where user and password came from, if it was a file of their own.
    let login = args.connect.defaults_file.clone().or_else(|| args.connect.defaults_extra_file.clone());
    let login = login.map(std::path::absolute).transpose().map_err(|error| {
        OpsError::usage("--defaults-file is not a path", error.to_string(), "give a file")
    })?;
    let draft = change_ops::draft::draft(&cluster, login.as_deref(), args.trust_found)?;
    let Some(out) = &args.out else {
        print!("{draft}");
        return Ok(0);
    };
    write_new(out, &draft)?;
    println!(
        "{} is written\n  next: check its lines marked CHECK, then: sealion status --inventory {}",
        out.display(),
        out.display()
    );
    Ok(0)
}

/// A file that is there is somebody's, unless it is empty: a shell makes one before a command behind `>` fails.
fn write_new(path: &Path, text: &str) -> Result<(), OpsError> {
    let is_empty = std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() == 0);
    let file = std::fs::OpenOptions::new().write(true).create(is_empty).create_new(!is_empty).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let why = if error.kind() == std::io::ErrorKind::AlreadyExists {
            "it is there already, and is not overwritten".to_owned()
        } else {
            error.to_string()
        };
        OpsError::usage(format!("cannot write {}", path.display()), why, "name another file with --out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_overwrites_nothing_but_an_empty_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("sealion.toml");
        std::fs::write(&path, "").expect("ours");
        write_new(&path, "drafted").expect("an empty file is nobody's");
        let error = write_new(&path, "again").expect_err("it has a text").to_string();
        assert!(error.contains("not overwritten") && error.contains("--out"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("ours"), "drafted");
    }
}
