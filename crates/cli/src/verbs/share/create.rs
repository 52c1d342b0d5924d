//! `sealion share create`.

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
  sealion share create --keys own --table shop.orders --columns id,total --out o.share -h db1")]
pub struct ShareCreateArgs {
    /// Directory of the owner's keys, from share init
    #[arg(long, value_name = "DIR")]
    pub keys: PathBuf,
    /// Table, as SCHEMA.TABLE
    #[arg(long, value_name = "TABLE", value_parser = TableSpec::parse)]
    pub table: (String, String),
    /// Only rows for which this is true, as behind WHERE
    #[arg(long = "where", value_name = "SQL")]
    pub filter: Option<String>,
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
    let (schema, table) = args.table.clone();
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
