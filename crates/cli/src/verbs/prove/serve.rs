//! `sealion prove serve`.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ::prove::Protocol;
use clap::Args;
use serde_json::{Value, json};
use site::OpsError;

use super::{Stage, chosen_or_all, ground};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove serve
  sealion prove serve --case strip --port 33060"
)]
pub struct ProveServeArgs {
    #[command(flatten)]
    pub stage: Stage,
    /// Port of the first attack, the others follow; 0: the kernel chooses
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
}

/// What the first line of `prove serve --format json` says.
const PROVE_SERVE_SCHEMA_ID: &str = "sealion/prove-serve/1";

const POLL: Duration = Duration::from_millis(200);

pub fn serve(global: &Global, args: &ProveServeArgs) -> Result<u8, OpsError> {
    let attacks = chosen_or_all(&args.stage)?;
    let ground = ground(&args.stage)?;
    let stop = interrupt::flag()?;
    let stage = prove_ops::Stage::set(&attacks, &[Protocol::MySql], &ground, args.port)?;
    let ports = stage.rogue.ports(Protocol::MySql);
    if global.format == Format::Json {
        let ports: Vec<Value> = ports
            .iter()
            .map(|(attack, address)| json!({ "case": attack.id, "port": address.port() }))
            .collect();
        let first = json!({
            "schema": PROVE_SERVE_SCHEMA_ID,
            "host": stage.host,
            "user": prove_ops::USER,
            "password": stage.password(),
            "ca": stage.ca_path().display().to_string(),
            "ports": ports,
        });
        show::out(&first.to_string());
    } else {
        let rows = ports
            .iter()
            .map(|(attack, address)| vec![address.port().to_string(), attack.id.into(), attack.does.into()])
            .collect();
        show::out(&show::table(&["port", "attack", "what the server does"], rows));
        show::out(&format!(
            "user {}, password {}, CA {}\nConnect to {} and run any SELECT: the result says what happened. Ctrl-C stops the server.",
            prove_ops::USER,
            stage.password(),
            stage.ca_path().display(),
            stage.host,
        ));
    }
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(POLL);
        match stage.rogue.turned_away() {
            0 => {}
            count => {
                show::tell(&format!(
                    "note: {count} connections were closed, because their port had too many"
                ));
            }
        }
        for visit in stage.rogue.visits(Duration::ZERO) {
            let verdict = ::prove::Verdict::of(&visit.seen);
            if global.format == Format::Json {
                let line = json!({ "case": visit.attack.id, "from": visit.from.to_string(), "verdict": verdict.letters() });
                show::out(&line.to_string());
            } else {
                show::out(&format!(
                    "{:<21} {:<4} {verdict}, from {}",
                    visit.attack.id,
                    verdict.letters(),
                    visit.from
                ));
            }
        }
    }
    Ok(0)
}
