//! `sealion config`: effective options, and a first inventory.

use std::path::PathBuf;

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
  sealion config inventory -h db1 -u root -p > sealion.toml
  sealion config inventory --login-path=admin --ssl-mode=VERIFY_CA --ssl-ca=ca.pem"
)]
pub struct InventoryArgs {
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
    print!("{}", change_ops::draft::draft(&cluster, login.as_deref(), args.trust_found)?);
    Ok(0)
}
