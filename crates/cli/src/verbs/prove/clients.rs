//! `sealion prove clients`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::prove::Protocol;
use ::prove::client::{Client, Promise};
use clap::Args;
use prove_ops::drivers::{self, COLUMNS, DriverTrial, LOGINS, PromiseCount, State, Wanted};
use prove_ops::{CLIENTS, Ground, Stage, attack};
use site::OpsError;

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove clients --only pymysql,node-mysql2 --install
  sealion prove clients --install --page clients.md

Exit codes: 0 tested, 3 no client could be tested, or the run was interrupted."
)]
pub struct ProveClientsArgs {
    /// Only these clients (IDs), comma-separated; may be repeated
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Attacks to test instead of the default ones (see `sealion prove list`)
    ///
    /// Attacks to test (see `sealion prove list`) instead of stripping and certificates; the honest server always comes first.
    #[arg(long = "case", alias = "cases", value_name = "ID", value_delimiter = ',')]
    pub cases: Vec<String>,
    /// Install missing clients from their language's registry
    #[arg(long)]
    pub install: bool,
    /// Use the host's loopback interface, not a network namespace; some libraries check less there
    #[arg(long)]
    pub no_namespace: bool,
    /// Connect to an IP address, not to a host name
    #[arg(long)]
    pub by_address: bool,
    /// Where clients are installed; default: sealion's cache
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Also write the matrix as a Markdown page, and as data for `prove config`
    ///
    /// Also write the matrix as a Markdown page, and beside it as data for `prove config` (same name, .json). Without --case the page
    /// has a second table: attacks on the login, in the default mode and in the strictest one.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Timeout of one run of a client in seconds
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout_s: u64,
}

/// The clients of these ids.
pub(super) fn named(ids: &[String]) -> Result<Vec<&'static Client>, OpsError> {
    let one = |id: &String| {
        CLIENTS.iter().copied().find(|client| client.id == *id).ok_or_else(|| {
            OpsError::usage(
                format!("unknown client \"{id}\""),
                "no client has this ID",
                "list them: sealion prove list --clients",
            )
        })
    };
    ids.iter().map(one).collect()
}

pub fn clients(global: &Global, args: &ProveClientsArgs) -> Result<u8, OpsError> {
    let mut chosen = named(&args.only)?;
    if chosen.is_empty() {
        chosen = CLIENTS.to_vec();
    }
    let attacks = if args.cases.is_empty() {
        COLUMNS.iter().filter_map(|id| attack(id)).collect()
    } else {
        super::chosen(&args.cases)?
    };
    // The page has them beside the columns that it always has; elsewhere they would only take time.
    let logins: Vec<_> = match (&args.page, args.cases.is_empty()) {
        (Some(_), true) => LOGINS.iter().filter_map(|id| attack(id)).collect(),
        _ => vec![],
    };
    let place = args.dir.clone().unwrap_or_else(drivers::default_place);
    if let Some(path) = &args.page {
        if !args.only.is_empty() && path.exists() {
            return Err(OpsError::usage(
                format!("{} would be replaced by a page of {} only", path.display(), args.only.join(", ")),
                "a page has the clients of one run, so that none of them can be older than another",
                "leave out --only, or name another file",
            ));
        }
        show::is_writable(path)?;
    }
    // Before the namespace: it has no way out to a registry.
    let prepared = drivers::prepare(&chosen, &place, args.install, &mut |word| show::progress(word))?;
    let ground = if args.no_namespace {
        Ground::loopback()
    } else {
        Ground::named().unwrap_or_else(|why| {
            show::tell(&format!(
                "note: using the host's loopback interface, where some libraries check less: {why}"
            ));
            Ground::loopback()
        })
    };
    let ground = if args.by_address { ground.by_address() } else { ground };
    let stop = interrupt::flag()?;
    let stage =
        Stage::set(&[&attacks[..], &logins].concat(), &[Protocol::MySql, Protocol::Stream], &ground, 0)?;
    let wanted = Wanted {
        clients: &prepared,
        attacks: &attacks,
        logins: &logins,
        place: &place,
        at_most: Duration::from_secs(args.timeout_s),
    };
    let is_table = global.format == Format::Table;
    if is_table {
        let heads = attacks.iter().map(|one| format!("{:<1$}", one.id, width(one)));
        show::out(&format!("{:<1$}{2}", "", OPTIONS_COLUMNS + 2, heads.collect::<String>().trim_end()));
    }
    let all = drivers::clients(&stage, &wanted, &stop, &mut |word| show::progress(word), &mut |tried| {
        if is_table {
            show::progress("");
            print_tried(tried);
        }
    })?;
    show::progress("");
    let is_whole = !stop.load(Ordering::Relaxed);
    if let Some(path) = args.page.as_ref().filter(|_| is_whole) {
        let day = show::day(i64::try_from(model::Clock::unix_ms(&model::SystemClock) / 1000).ok());
        // Of one run, so that neither can be older than the other.
        write(path, &drivers::page(&all, &attacks, &day))?;
        write(&path.with_extension("json"), &drivers::data(&all))?;
    }
    let kept = PromiseCount::of(&all);
    if is_table {
        show::out(&format!("\n{}", super::legend(verdicts(&all))));
        if kept.promising > 0 {
            show::out(&format!(
                "{} of {} TLS settings are weaker than they promise; {} of them use or fall back to cleartext.",
                kept.broken, kept.promising, kept.in_clear
            ));
        }
    } else {
        show::out(&drivers::report(&all).to_json());
    }
    if !is_whole {
        let page = if args.page.is_some() { "; no page was written" } else { "" };
        show::tell(&format!("Interrupted: the other clients were not tested{page}."));
    }
    let is_tried = is_whole && all.iter().any(|one| matches!(one.state, State::Tried { .. }));
    Ok(if is_tried { 0 } else { 3 })
}

fn write(path: &Path, text: &str) -> Result<(), OpsError> {
    std::fs::write(path, text).map_err(|error| {
        OpsError::usage(
            format!("cannot write {}", path.display()),
            error.to_string(),
            "choose a file that you may write",
        )
    })
}

/// All that are in the table.
fn verdicts(all: &[DriverTrial]) -> impl Iterator<Item = ::prove::Verdict> {
    let rows = all.iter().flat_map(|one| match &one.state {
        State::Tried { rows, .. } => &rows[..],
        State::NotHere { .. } => &[],
    });
    rows.flat_map(|row| &row.outcomes).map(|one| one.verdict)
}

/// What somebody who reads the options expects.
fn promised(promise: Promise) -> &'static str {
    match promise {
        Promise::Nothing => "nothing",
        Promise::Encrypted => "encryption",
        Promise::Chain => "verification of the CA",
        Promise::Identity => "verification of CA and host name",
    }
}

/// For the options of a client, in a table of 80.
const OPTIONS_COLUMNS: usize = 22;

/// Of a column.
fn width(attack: &::prove::Attack) -> usize {
    (attack.id.len() + 1).max(5)
}

fn print_tried(one: &DriverTrial) {
    match &one.state {
        State::NotHere { why, next } => {
            show::out(&format!("{}: not tested: {why} ({next})", show::bold(one.client.name)));
        }
        State::Tried { version, rows, .. } => {
            show::out(&format!("{} {version}", show::bold(one.client.name)));
            for row in rows {
                let cells = row
                    .outcomes
                    .iter()
                    .map(|one| format!("{:<1$}", one.verdict.letters(), width(one.attack)));
                let cells: String = cells.collect();
                // Options that are longer have a line of their own.
                let options = row.mode.options;
                if options.chars().count() < OPTIONS_COLUMNS {
                    show::out(&format!("  {options:<OPTIONS_COLUMNS$}{}", cells.trim_end()));
                } else {
                    show::out(&format!("  {options}\n  {:<OPTIONS_COLUMNS$}{}", "", cells.trim_end()));
                }
                match (row.is_controlled(), row.broken_promise()) {
                    (false, _) => {
                        show::out("    does not accept the honest server, so the other columns show nothing");
                    }
                    (_, Some(broken)) => show::out(&show::red(&format!(
                        "    promises {}, but {} succeeded",
                        promised(row.mode.promises),
                        broken.attack.id
                    ))),
                    _ => {}
                }
            }
        }
    }
}
