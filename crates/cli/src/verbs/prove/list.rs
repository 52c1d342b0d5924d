//! `sealion prove list`.

use clap::Args;
use prove_ops::{ATTACKS, CLIENTS};
use serde_json::{Value, json};

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove list
  sealion prove list --clients"
)]
pub struct ProveListArgs {
    /// List the drivers and tools of `prove clients`, with their IDs for --only
    #[arg(long)]
    pub clients: bool,
}

fn list_clients(global: &Global) {
    if global.format == Format::Json {
        let all: Vec<Value> = CLIENTS
            .iter()
            .map(|one| json!({ "client": one.id, "name": one.name, "modes": one.modes.len(), "needs": one.needs }))
            .collect();
        show::out(&format!("{:#}", Value::from(all)));
    } else {
        let rows =
            CLIENTS.iter().map(|one| vec![one.id.into(), one.name.into(), one.needs.join(" ")]).collect();
        show::out(&show::table_of_ids(&["client", "name", "needs"], rows));
    }
}

pub fn list(global: &Global, args: &ProveListArgs) -> u8 {
    if args.clients {
        list_clients(global);
        return 0;
    }
    if global.format == Format::Json {
        let all: Vec<Value> = ATTACKS
            .iter()
            .map(|one| {
                json!({ "case": one.id, "family": one.family.to_string(), "does": one.does, "defence": one.defence })
            })
            .collect();
        show::out(&format!("{:#}", Value::from(all)));
    } else {
        let rows =
            ATTACKS.iter().map(|one| vec![one.id.into(), one.family.to_string(), one.does.into()]).collect();
        show::out(&show::table_of_ids(&["attack", "about", "what the server does"], rows));
    }
    0
}
