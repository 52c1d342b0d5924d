//! `sealion prove client`.

use std::time::Duration;

use ::prove::Protocol;
use clap::Args;
use prove_ops::Stage as Rogue;
use prove_ops::{Outcome, drivers};
use report::shape::{PROVE_CLIENT_SCHEMA_ID, ProveClientReport};
use site::OpsError;

use super::{Stage, chosen_for, ground};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove client -- mariadb -h {host} -P {port} -u {user} --ssl-ca={ca} -e 'SELECT 1'
  sealion prove client --case strip,self-signed -- ./my-app --db {host}:{port}

Exit codes: 0 every attack failed, 1 at least one succeeded, 3 the client did not accept the honest server, or did not connect in an
attack."
)]
pub struct ProveClientArgs {
    #[command(flatten)]
    pub stage: Stage,
    /// The client speaks first: TLS from its first byte, or a protocol of its own (SST donor, socat, stunnel)
    #[arg(long)]
    pub stream: bool,
    /// Timeout of one run of the client in seconds
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout_s: u64,
    /// The client and its arguments; {host} {port} {user} {password} {ca} {crl} are replaced in them
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

pub fn client(global: &Global, args: &ProveClientArgs) -> Result<u8, OpsError> {
    let protocol = if args.stream { Protocol::Stream } else { Protocol::MySql };
    let attacks = chosen_for(&args.stage, protocol)?;
    let ground = ground(&args.stage)?;
    let stop = interrupt::flag()?;
    let stage = Rogue::set(&attacks, &[protocol], &ground, 0)?;
    let is_table = global.format == Format::Table;
    let at_most = Duration::from_secs(args.timeout_s);
    let judged =
        prove_ops::client(&stage, &attacks, protocol, &args.command, at_most, &stop, &mut |outcome| {
            if is_table {
                print_outcome(global, protocol, outcome);
            }
        })?;
    let fallen: Vec<&Outcome> = judged.outcomes.iter().filter(|one| one.has_fallen()).collect();
    let is_whole = judged.outcomes.len() == attacks.len();
    let unconnected = judged
        .outcomes
        .first()
        .filter(|one| one.attack.id == "honest" && one.verdict == ::prove::Verdict::NotConnected);
    if let (true, Some(one)) = (is_table, unconnected) {
        print_unconnected(one, global.verbose > 0);
        if let Some(hint) = missing_port(&args.command) {
            show::out(&hint);
        }
    } else if is_table {
        print_end(&judged.outcomes, &fallen, judged.is_controlled);
        if !is_whole {
            show::out("Interrupted: the other attacks were not tested.");
        }
    } else {
        let report = ProveClientReport {
            schema: PROVE_CLIENT_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            is_complete: is_whole,
            is_controlled: judged.is_controlled,
            fallen: count(fallen.len()),
            cases: judged.outcomes.iter().map(|one| drivers::case_row_in(one, protocol)).collect(),
        };
        show::out(&report.to_json());
    }
    // A case in which it did not even dial is not one that it has passed.
    let is_whole =
        is_whole && judged.outcomes.iter().all(|one| one.verdict != ::prove::Verdict::NotConnected);
    Ok(match (fallen.is_empty(), judged.is_controlled && is_whole) {
        (false, _) => 1,
        (true, false) => 3,
        (true, true) => 0,
    })
}

/// The rogue server has another port for each attack: a command that does not say which goes elsewhere.
fn missing_port(command: &[std::ffi::OsString]) -> Option<String> {
    let has = |name: &str| command.iter().any(|word| word.to_string_lossy().contains(name));
    let missing: Vec<&str> = ["{host}", "{port}"].into_iter().filter(|name| !has(name)).collect();
    if missing.is_empty() {
        return None;
    }
    let text = format!(
        "The command has no {}: put it where the client expects it, or let the client read SEALION_HOST and SEALION_PORT.",
        missing.join(" and no ")
    );
    Some(show::wrapped("hint: ", &text))
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// As wide as "VULNERABLE".
const MARK_COLUMNS: usize = 10;
/// What is shown of a client's own output, where nothing else explains what it did.
const OUTPUT_LINES_MAX: usize = 20;

fn print_outcome(global: &Global, protocol: Protocol, one: &Outcome) {
    let mark = if one.has_fallen() { show::red("VULNERABLE") } else { " ".repeat(MARK_COLUMNS) };
    // Whoever has the password has nothing to crack.
    let is_obtained = matches!(one.verdict, ::prove::Verdict::PasswordObtained(_));
    let guess = if one.is_guessable && one.has_fallen() && !is_obtained {
        "; the captured response can be cracked offline"
    } else {
        ""
    };
    let late = match one.late {
        0 => String::new(),
        1 => "; 1 connection came during a later attack".into(),
        count => format!("; {count} connections came during later attacks"),
    };
    show::out(&format!(
        "{mark} {:<21} {:<4} {}{guess}{late}",
        one.attack.id,
        one.verdict.letters(),
        one.verdict.text(protocol)
    ));
    if global.verbose > 0 {
        let connections = if one.connections == 1 { "connection" } else { "connections" };
        show::out(&format!("       {}, {} {connections}", one.exit, one.connections));
        for line in &one.trace {
            show::out(&format!("       . {line}"));
        }
        for line in one.words.lines().take(5) {
            show::out(&format!("       > {line}"));
        }
    }
}

/// The client did not even connect to the honest server.
fn print_unconnected(one: &Outcome, is_verbose: bool) {
    show::out("\nThe client did not connect to the honest server, so no attack was tested.");
    if is_verbose {
        return;
    }
    show::out(&format!("It ended with {}, and printed:", one.exit));
    if one.words.is_empty() {
        show::out("  (nothing)");
    }
    for line in one.words.lines().take(OUTPUT_LINES_MAX) {
        show::out(&format!("  {line}"));
    }
}

fn print_end(all: &[Outcome], fallen: &[&Outcome], is_controlled: bool) {
    show::out("");
    show::out(&super::legend(all.iter().map(|one| one.verdict)));
    if let Some(client) = all.iter().find_map(|one| one.client.as_deref()) {
        show::out(&format!("The client identifies itself as {client}."));
    }
    if !is_controlled {
        show::out(
            "The client did not accept the honest server, so a rejection of the others proves nothing. -v shows what the client printed.",
        );
    }
    let silent: Vec<&str> = all
        .iter()
        .filter(|one| one.verdict == ::prove::Verdict::NotConnected)
        .map(|one| one.attack.id)
        .collect();
    if !silent.is_empty() {
        show::out(&format!("Not tested, because the client did not connect: {}.", silent.join(", ")));
    }
    if fallen.is_empty() {
        if is_controlled {
            show::out("No attack succeeded.");
        }
        return;
    }
    // The first one is the honest server, and no attack.
    let attacks = all.iter().filter(|one| one.attack.id != "honest").count();
    let succeeded = if fallen.len() == 1 { "attack succeeded" } else { "attacks succeeded" };
    show::out(&format!("{} of {attacks} {succeeded}. To fix:", fallen.len()));
    let mut told: Vec<&str> = vec![];
    for one in fallen {
        if !told.contains(&one.attack.defence) {
            told.push(one.attack.defence);
            let about: Vec<&str> = fallen
                .iter()
                .filter(|other| other.attack.defence == one.attack.defence)
                .map(|other| other.attack.id)
                .collect();
            show::out(&show::wrapped("- ", &format!("{} ({})", one.attack.defence, about.join(", "))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::missing_port;

    #[test]
    fn a_command_without_the_port_gets_a_hint() {
        let words = |line: &str| line.split(' ').map(Into::into).collect::<Vec<std::ffi::OsString>>();
        assert_eq!(missing_port(&words("mariadb -h {host} -P{port}")), None);
        let hint = missing_port(&words("mariadb -h {host} -P 3306")).expect("a hint");
        assert!(hint.contains("{port}") && !hint.contains("{host}"), "{hint}");
    }
}
