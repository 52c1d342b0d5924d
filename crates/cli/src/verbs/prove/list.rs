//! `sealion prove list`.

use clap::Args;
use prove_ops::ATTACKS;
use serde_json::{Value, json};

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove list
  sealion prove list --format json"
)]
pub struct ProveListArgs {}

pub fn list(global: &Global) -> u8 {
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
        show::out(&show::table(&["attack", "about", "what the server does"], rows));
    }
    0
}
