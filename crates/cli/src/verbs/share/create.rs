//! `sealion share create`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use ::share::keys::{Identity, Role};
use ::share::owner;
use ::share::table::TableSpec;
use clap::Args;
use site::OpsError;

use super::ops;
use crate::options::{Connect, connect};
use crate::show;

/// A --where without an index is read for long before its first row comes.
const FIRST_ROW_MAX: Duration = Duration::from_secs(600);

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion share create --keys own --table shop.orders --out o.share -h db1 -u audit -p
  sealion share create --keys own --table shop.orders --columns id,total --out o.share -h db1
  mariadb-dump shop | sealion share create --keys own --stdin shop --out shop.share")]
pub struct ShareCreateArgs {
    /// Directory of the owner's keys, from share init
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
    /// Table, as SCHEMA.TABLE
    #[arg(long, value_name = "TABLE", value_parser = TableSpec::parse, required_unless_present = "stdin")]
    pub table: Option<(String, String)>,
    /// Only rows for which this is true, as behind WHERE
    #[arg(long = "where", value_name = "SQL")]
    pub filter: Option<String>,
    /// What comes on standard input, under this name, in place of a table
    ///
    /// What comes on standard input, under this name, in place of a table. A dump has to come to its last line (-- Dump completed);
    /// of other bytes nobody can tell whether their program failed: use pipefail of your shell.
    #[arg(long, value_name = "NAME", value_parser = ::share::piped::name, conflicts_with_all = ["table", "filter", "columns"])]
    pub stdin: Option<String>,
    /// Only these columns, in this order
    #[arg(long, value_delimiter = ',', value_name = "COLUMN")]
    pub columns: Vec<String>,
    /// Archive to write, which is not there yet
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    #[command(flatten)]
    pub connect: Connect,
}

pub fn create(args: &ShareCreateArgs) -> Result<u8, OpsError> {
    let keys = Identity::read(&args.keys, Role::Owner).map_err(ops)?;
    let (Some((schema, table)), None) = (args.table.clone(), &args.stdin) else {
        return piped(args, &keys);
    };
    // Never an inventory that happens to lie here: whose rows they are must be said.
    let cluster = connect::one_server(&args.connect)?;
    let node = cluster.nodes.first();
    let login = node.map(|node| cluster.login_at(node)).ok_or_else(|| {
        OpsError::usage(
            "no server was given",
            "there is none in the option files",
            "give one: -h HOST -u USER -p",
        )
    })?;
    let login = net::ConnectOptions { io_timeout: FIRST_ROW_MAX, ..login };
    let spec = TableSpec { schema, table, columns: args.columns.clone(), filter: args.filter.clone() };
    let ticker = show::Ticker::start(|_| "reading the table".to_owned());
    let created = owner::create(&keys, &login, &spec, &args.out);
    drop(ticker);
    let created = created.map_err(ops)?;
    show::out(&format!(
        "{}: {} of {}.{}, {} bytes before encryption",
        args.out.display(),
        model::text::counted(created.exported.rows, "row", "rows"),
        spec.schema,
        spec.table,
        created.plain_bytes
    ));
    let verified = if created.exported.is_verified {
        ""
    } else {
        "; the server's certificate was not verified: with --ssl-mode VERIFY_CA it is"
    };
    show::out(&format!("they came over {}{verified}", created.exported.how));
    Ok(0)
}

fn piped(args: &ShareCreateArgs, keys: &Identity) -> Result<u8, OpsError> {
    let name = args.stdin.as_deref().unwrap_or_default();
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(OpsError::usage(
            "there is nothing on standard input",
            "it is a terminal",
            format!("mariadb-dump ... | sealion share create --stdin {name} ..."),
        ));
    }
    let ticker = show::Ticker::start(|_| "reading standard input".to_owned());
    let bytes = owner::create_piped(keys, &mut stdin.lock(), name, &args.out);
    drop(ticker);
    show::out(&format!("{}: {name}, {} bytes before encryption", args.out.display(), bytes.map_err(ops)?));
    Ok(0)
}
