//! `sealion prove config`: what the settings of applications come to.

use clap::Args;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::prove::Protocol;
use ::prove::config::Driver;
use model::Severity;
use prove_ops::config::confirm::{self, Confirmed};
use prove_ops::config::rows::{Counts, report};
use prove_ops::config::{
    self, ConfigRequest, ConfigReview, Connection, Fix, Matrix, PredictedOutcome, Prediction, is_typed,
    place, shown,
};
use prove_ops::drivers::{self, COLUMNS};
use prove_ops::{Ground, Stage, attack};
use site::OpsError;

use crate::options::{Format, Global, SeverityArg, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove config .env config/database.yml --fail-on high
  sealion prove config 'mysql://app@db1/shop?ssl-mode=REQUIRED' --driver node-mysql2

Exit codes: 0 no finding at or above --fail-on, 1 at least one, 3 every connection is unknown or, with --fail-on, at least one is,
5 a prediction did not hold (--confirm)."
)]
pub struct ProveConfigArgs {
    /// Files, connection URLs and DSNs; - reads URLs from standard input, one a line
    #[arg(value_name = "FILE|URL", required = true)]
    pub what: Vec<PathBuf>,
    /// Driver of URLs that do not name one (mysql://)
    #[arg(long, value_name = "NAME")]
    pub driver: Option<String>,
    /// Also run the driver with these settings against the rogue server, and compare
    #[arg(long)]
    pub confirm: bool,
    /// Install missing drivers from their language's registry
    #[arg(long, requires = "confirm")]
    pub install: bool,
    /// Use this output of `prove clients --format json` instead of the built-in matrix
    #[arg(long, value_name = "FILE")]
    pub matrix: Option<PathBuf>,
    /// Exit with 1 if a connection has this severity or a higher one, with 3 if one is unknown
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
    /// Use the host's loopback interface, not a network namespace; some libraries check less there
    #[arg(long, requires = "confirm")]
    pub no_namespace: bool,
    /// Where drivers are installed; default: sealion's cache
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Timeout of one run of a driver in seconds
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout_s: u64,
}

const STDIN_BYTES_MAX: u64 = 1024 * 1024;

/// `stop` is made where a namespace can still be entered.
pub fn run(
    global: &Global,
    args: &ProveConfigArgs,
    stop: &dyn Fn() -> Result<std::sync::Arc<AtomicBool>, OpsError>,
) -> Result<u8, OpsError> {
    let driver = match &args.driver {
        None => None,
        Some(name) => Some(family(name)?),
    };
    let matrix = match &args.matrix {
        Some(path) => Matrix::from_file(path)?,
        None => Matrix::built_in()?,
    };
    let (files, texts) = sorted(&args.what)?;
    let mut looked = config::look(&ConfigRequest { files: &files, texts: &texts, driver }, &matrix);
    if args.confirm {
        confirmed(args, &mut looked, stop)?;
    }
    if global.format == Format::Json {
        show::out(&report(&looked, &matrix, args.confirm).to_json());
    } else {
        print(global, &looked, &matrix);
    }
    Ok(exit_code(&looked, args.fail_on.map(Severity::from)))
}

/// Files, and connection texts. Whatever could be a text with a password in it is one: it is never named in an error.
fn sorted(words: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), OpsError> {
    let (mut files, mut texts) = (Vec::new(), Vec::new());
    let mut has_password = false;
    for word in words {
        let text = word.to_string_lossy();
        if text == "-" {
            let mut all = String::new();
            std::io::stdin().take(STDIN_BYTES_MAX).read_to_string(&mut all).map_err(|error| {
                OpsError::usage(
                    "standard input cannot be read",
                    error.to_string(),
                    "one connection URL a line",
                )
            })?;
            texts.extend(all.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
        } else if !word.exists()
            && (text.contains("://") || text.contains('@') || ::prove::config::text(&text).is_some())
        {
            has_password |= text.split_once('@').is_some_and(|(login, _)| {
                login.rsplit_once("//").map_or(login, |(_, login)| login).contains(':')
            });
            texts.push(text.into_owned());
        } else {
            files.push(word.clone());
        }
    }
    if has_password {
        show::tell(
            "note: every user of this machine can read a password on a command line, and it may be in your shell's history \
             now. sealion prove config - reads URLs from standard input",
        );
    }
    Ok((files, texts))
}

pub(super) fn family(name: &str) -> Result<&'static str, OpsError> {
    let all = config::families();
    all.iter().copied().find(|known| *known == name).ok_or_else(|| {
        OpsError::usage(
            format!("\"{}\" is no driver", wire::printable(name)),
            "the matrix has none of this name",
            format!("one of {}", all.join(" ")),
        )
    })
}

fn confirmed(
    args: &ProveConfigArgs,
    looked: &mut ConfigReview,
    stop: &dyn Fn() -> Result<std::sync::Arc<AtomicBool>, OpsError>,
) -> Result<(), OpsError> {
    let attacks: Vec<_> = COLUMNS.iter().filter_map(|id| attack(id)).collect();
    let place = args.dir.clone().unwrap_or_else(drivers::default_place);
    // Before the namespace: it has no way out to a registry.
    let prepared =
        drivers::prepare(&confirm::clients(looked), &place, args.install, &mut |word| show::progress(word))?;
    let ground = if args.no_namespace {
        Ground::loopback()
    } else {
        Ground::named().unwrap_or_else(|why| {
            show::tell(&format!("note: on the host's loopback, where some libraries check less: {why}"));
            Ground::loopback()
        })
    };
    let stop = stop()?;
    let stage = Stage::set(&attacks, &[Protocol::MySql], &ground, 0)?;
    let wanted = confirm::Wanted {
        prepared: &prepared,
        attacks: &attacks,
        place: &place,
        at_most: Duration::from_secs(args.timeout_s),
    };
    let done = confirm::confirm(looked, &stage, &wanted, &stop, &mut |word| show::progress(word));
    show::progress("");
    done
}

/// A prediction that did not hold is a fault of ours, and more than a finding.
fn exit_code(looked: &ConfigReview, fail_on: Option<Severity>) -> u8 {
    let counts = Counts::of(looked);
    let is_known = looked.connections.iter().any(|one| one.predictions.iter().any(|one| !one.is_unknown()));
    let worst = looked.connections.iter().filter_map(Connection::severity).max();
    match fail_on {
        _ if counts.differing > 0 => 5,
        Some(limit) if worst >= Some(limit) => 1,
        Some(_) if counts.unknown > 0 => 3,
        // Notes alone (a login file) are an answer too.
        None if !is_known && looked.notes.is_empty() => 3,
        _ => 0,
    }
}

fn print(global: &Global, looked: &ConfigReview, matrix: &Matrix) {
    for (index, one) in looked.connections.iter().enumerate() {
        if index > 0 {
            show::out("");
        }
        print_connection(global, one);
    }
    for note in &looked.notes {
        show::out(&format!("\n{}: {}", show::bold(&note.file), note.text));
    }
    for one in &looked.unread {
        let place = one.line.map_or_else(|| one.file.clone(), |line| format!("{}:{line}", one.file));
        show::out(&format!("\n{}: unknown: {}", show::bold(&place), one.why));
    }
    let counts = Counts::of(looked);
    let source = if matrix.source == "built in" { String::new() } else { format!(" (by {})", matrix.source) };
    show::out(&format!(
        "\n{}{source}; {} in cleartext if TLS is stripped, {} weaker than configured, {} unknown.",
        counted(looked.connections.len(), "connection"),
        counts.in_clear,
        counts.broken,
        counts.unknown,
    ));
    if counts.differing > 0 {
        show::out(&show::red(&format!(
            "{} did not hold. That is a fault of sealion: please report it with --format json.",
            counted(counts.differing, "prediction")
        )));
    }
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn print_connection(global: &Global, one: &Connection) {
    let is_typed = is_typed(one.found.style, &one.file);
    let mut head = if is_typed { one.file.clone() } else { format!("{}:{}", one.file, one.found.line) };
    head = show::bold(&head);
    if !one.found.what.is_empty() {
        head += &format!(" {}", wire::printable(&one.found.what));
    }
    if !one.found.host.is_empty() {
        let (word, names) = if one.found.host.contains(',') {
            ("hosts", one.found.host.replace(',', ", "))
        } else {
            ("host", one.found.host.clone())
        };
        head += &format!(", {word} {}", wire::printable(&names));
    }
    show::out(&head);
    let client = one.predictions.first().map(|one| one.client);
    for setting in &one.found.settings {
        let value = shown(client, setting).map_or_else(String::new, |value| format!(" = {value}"));
        let why = match &setting.given {
            ::prove::config::SettingValue::Unread(why) if setting.key == ::prove::config::ANY => {
                format!("not read: {}", wire::printable(why))
            }
            ::prove::config::SettingValue::Unread(why) => {
                format!(" (not in the file: {})", wire::printable(why))
            }
            _ => String::new(),
        };
        show::out(&format!(
            "    {:<26} {}{value}{why}",
            if is_typed { String::new() } else { place(&one.file, setting) },
            if setting.key == ::prove::config::ANY { String::new() } else { wire::printable(&setting.key) }
        ));
    }
    if let Some(why) = one.undecided() {
        show::out(&format!("  unknown: {why}"));
    }
    if let Driver::Unknown { why, one_of } = &one.found.driver
        && one.predictions.is_empty()
    {
        show::out(&format!("  unknown: {why}"));
        if !one_of.is_empty() {
            show::out(&format!("    next: --driver {}", one_of.join("|")));
        }
        return;
    }
    // What is the same for several clients is said once.
    let mut told: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for prediction in &one.predictions {
        let lines = lines(global, one, prediction);
        let version = prediction.version.as_deref().unwrap_or("(not measured)");
        let name = format!("{} {version}", prediction.client.name);
        match told.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, names)) => names.push(name),
            None => told.push((lines, vec![name])),
        }
    }
    for (lines, names) in told {
        show::out(&format!("  {}", names.join(", ")));
        for line in lines {
            show::out(&format!("    {line}"));
        }
    }
}

/// What somebody who has set these options counts on, in the manual's words.
fn expected(promises: &str) -> &str {
    match promises {
        "the CA" => "encryption, certificate verification",
        "the host" => "encryption, certificate and host name verification",
        other => other,
    }
}

fn lines(global: &Global, one: &Connection, prediction: &Prediction) -> Vec<String> {
    let mut lines = Vec::new();
    match &prediction.said {
        PredictedOutcome::Local => {}
        PredictedOutcome::Unknown(why) => lines.push(format!("unknown: {}", wire::printable(why))),
        PredictedOutcome::Row { row, provided } => {
            let cells: Vec<String> =
                row.cases.iter().map(|case| format!("{} {}", case.case, case.verdict)).collect();
            if row.promises != "nothing" {
                lines.push(format!("expected by whoever reads the settings: {}", expected(&row.promises)));
            }
            if global.verbose > 0 {
                lines.push(format!("measured: {}", cells.join(", ")));
            }
            if !provided.is_empty() {
                lines.push(format!("provided that {provided}"));
            }
        }
    }
    if let Some(confirmed) = &prediction.confirmed {
        lines.push(confirmed_line(confirmed, &prediction.said));
    }
    if let Some(means) = prediction.means() {
        lines.push(match prediction.severity() {
            Some(severity) => show::red(&format!("{severity}: it {means}")),
            None => show::green(&format!("it {means}")),
        });
    } else if prediction.confirmed.is_none() {
        let is_unread = |setting: &::prove::config::Setting| {
            matches!(setting.given, ::prove::config::SettingValue::Unread(_))
        };
        lines.push(if one.found.settings.iter().any(is_unread) {
            "next: run your own program against the rogue server: sealion prove client -- CMD".into()
        } else {
            "next: the same command with --confirm runs the driver with these settings".into()
        });
    }
    if let Some(fix) = &prediction.fix {
        lines.extend(fix_lines(one, fix));
    }
    lines
}

fn confirmed_line(confirmed: &Confirmed, said: &PredictedOutcome) -> String {
    match confirmed {
        Confirmed::Not { why, next } => format!("not confirmed: {} ({next})", wire::printable(why)),
        Confirmed::Observed(seen) => {
            let seen_as: Vec<String> =
                seen.cases.iter().map(|case| format!("{} {}", case.case, case.verdict)).collect();
            let seen_as = seen_as.join(", ");
            match (&seen.differs, seen.is_measured_version) {
                (None, _) if !seen.is_controlled => {
                    format!("run: {seen_as}. It does not accept the honest server, so that says nothing")
                }
                (None, _) => format!("run with these settings: {seen_as}"),
                (Some(differs), _) if differs.is_empty() => {
                    format!(
                        "the driver does this with the settings as read (your own code was not run): {seen_as}"
                    )
                }
                (Some(differs), is_measured) => {
                    let predicted = match said {
                        PredictedOutcome::Row { row, .. } => row
                            .cases
                            .iter()
                            .filter(|case| differs.contains(&case.case))
                            .map(|case| format!("{} {}", case.case, case.verdict))
                            .collect::<Vec<_>>()
                            .join(", "),
                        PredictedOutcome::Unknown(_) | PredictedOutcome::Local => String::new(),
                    };
                    let whose = if is_measured {
                        "a fault of sealion".into()
                    } else {
                        format!("version {} does something else", seen.version)
                    };
                    show::red(&format!("NOT AS PREDICTED ({whose}): predicted {predicted}; run: {seen_as}"))
                }
            }
        }
    }
}

fn fix_lines(one: &Connection, fix: &Fix) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((first, rest)) = fix.set.split_first() {
        // Where the settings stand that it takes the place of, or else where the connection begins.
        let at = one
            .found
            .settings
            .first()
            .map_or_else(|| format!("{}:{}", one.file, one.found.line), |setting| place(&one.file, setting));
        let at = if is_typed(one.found.style, &one.file) { String::new() } else { format!(" ({at})") };
        lines.push(format!("write{at}: {first}"));
        lines.extend(rest.iter().map(|line| format!("       {line}")));
    }
    for setting in &fix.remove {
        lines.push(format!("remove: {} ({})", wire::printable(&setting.key), place(&one.file, setting)));
    }
    if !fix.note.is_empty() {
        lines.push(format!("note: {}", fix.note));
    }
    lines
}
