//! `sealion watch-clients`.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ::watch::clients::ClientsSeen;
use clap::Args;
use model::{Clock, SystemClock};
use report::shape::{WatchClientRow, WatchClientsReport};
use site::OpsError;

use crate::options::{Connect, Format, Global, TABLE_OR_JSON, connect, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Captures again and again, and puts together who used the servers: user, host, driver, and whether the connection was cleartext or
TLS. Nothing is written to a server. A connection that sends nothing while it is captured is unknown, unless the server itself
says how it is encrypted (performance_schema). What was found is kept in the cluster's store, for --since.

Examples:
  sealion watch-clients --for 10m
  sealion watch-clients --since 7d --fail-on-cleartext

Exit codes: 0 it has ended, 3 nothing could be captured, 1 with --fail-on-cleartext a client used cleartext, 3 with --fail-on-cleartext something could not be
seen."
)]
pub struct WatchClientsArgs {
    /// Capture for this long: 90s, 10m, 8h, 7d
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds)]
    pub r#for: u64,
    /// Also show what earlier runs found in this time
    ///
    /// Also show what earlier runs of this command found, as far as it was seen within this time: 8h, 7d. With --for 0s nothing is
    /// captured.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub since: Option<u64>,
    /// Capture this long at a time
    #[arg(long, value_name = "MS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(100..=600_000))]
    pub look_ms: u64,
    /// Exit with 1 if a client used cleartext
    #[arg(long)]
    pub fail_on_cleartext: bool,
    #[command(flatten)]
    pub connect: Connect,
}

/// `90`, `90s`, `10m`, `8h`, `7d`.
fn seconds(word: &str) -> Result<u64, String> {
    let bad = || format!("\"{word}\" is not a time: write 90s, 10m, 8h or 7d");
    let (digits, unit) = word.split_at(word.find(|char: char| !char.is_ascii_digit()).unwrap_or(word.len()));
    let factor = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(bad()),
    };
    let count: u64 = digits.parse().map_err(|_| bad())?;
    count
        .checked_mul(factor)
        .filter(|time_s| *time_s <= TIME_S_MAX)
        .ok_or_else(|| format!("{word} is longer than a year"))
}

const TIME_S_MAX: u64 = 366 * 86_400;

pub fn watch_clients(global: &Global, args: &WatchClientsArgs) -> Result<u8, OpsError> {
    let cluster = connect::cluster(global, &args.connect)?;
    if !cluster.has_files {
        status_ops::status::reach(&cluster)?;
    }
    let stop = interrupt::flag()?;
    let started_unix_ms = SystemClock.unix_ms();
    let (began, whole) = (Instant::now(), Duration::from_secs(args.r#for));
    let mut seen = ClientsSeen::default();
    while began.elapsed() < whole && !stop.load(Ordering::Relaxed) {
        let left = whole.saturating_sub(began.elapsed());
        let settle = Duration::from_millis(args.look_ms).min(left.max(Duration::from_millis(100)));
        let found = seen.in_cleartext();
        let ticker = show::Ticker::start(move |_| {
            let left_s = whole.saturating_sub(began.elapsed()).as_secs_f64();
            format!("capturing, {} left; in cleartext so far: {found}", show::duration(left_s))
        });
        let look = status_ops::clients::look(&cluster, settle);
        drop(ticker);
        match look {
            Ok(look) => seen.add(&look, SystemClock.unix_ms()),
            Err(model::LookError::NotPermitted { why, next }) => {
                return Err(OpsError::cannot_look("clients cannot be watched", why, next));
            }
            Err(error) => {
                seen.failed(error.to_string());
                std::thread::sleep(settle.min(PAUSE));
            }
        }
    }
    let ended_unix_ms = SystemClock.unix_ms();
    let own = seen.report(&cluster.name, started_unix_ms, ended_unix_ms);
    if own.looks > 0
        && let Some(why) = change_ops::history::keep_clients(&cluster, &own)
    {
        show::tell(&format!("note: this run could not be saved: {why}"));
    }
    if let Some(since_s) = args.since {
        let since_unix_ms = ended_unix_ms.saturating_sub(since_s * 1000);
        let (earlier, damaged) = change_ops::history::clients(&cluster, &own)?;
        for one in &earlier {
            seen.add_report(one, since_unix_ms);
        }
        if damaged > 0 {
            let runs = model::text::counted(damaged, "earlier run", "earlier runs");
            seen.failed(format!("{runs} of the store cannot be read"));
        }
    }
    let began_unix_ms =
        args.since.map_or(started_unix_ms, |since_s| ended_unix_ms.saturating_sub(since_s * 1000));
    let report = seen.report(&cluster.name, began_unix_ms, ended_unix_ms);
    if global.format == Format::Json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|error| OpsError::internal("cannot write JSON", error))?;
        show::out(&text);
    } else {
        let ca_file = cluster.ca_dir.join(trust::CA_CERT_FILE);
        let proxies: Vec<(String, Vec<String>)> = cluster
            .proxies
            .iter()
            .map(|(_, proxy)| {
                let names = cluster.nodes.iter().find_map(|node| node.proxies.get(&proxy.name));
                (proxy.name.clone(), names.cloned().unwrap_or_default())
            })
            .collect();
        show::out(rendered(&report, ca_file.exists().then_some(&*ca_file), &proxies).trim_end());
    }
    if args.r#for > 0 && own.looks == 0 {
        return Ok(3);
    }
    Ok(match args.fail_on_cleartext {
        true if seen.in_cleartext() > 0 => 1,
        true if report.looks == 0
            || !report.not_seen.is_empty()
            || report.clients.iter().any(|row| row.unknown > 0) =>
        {
            3
        }
        _ => 0,
    })
}

/// After a look that failed.
const PAUSE: Duration = Duration::from_secs(1);

/// `ca_file`: what clients verify the servers with, where that is known. `proxies`: names and addresses of those before the servers.
fn rendered(
    report: &WatchClientsReport,
    ca_file: Option<&Path>,
    proxies: &[(String, Vec<String>)],
) -> String {
    let looks = model::text::counted(report.looks as usize, "look", "looks");
    let mut out = format!("{} {}, {looks}\n", show::bold("clients of"), show::visible(&report.cluster));
    if report.looks == 0 {
        out += "nothing was captured\n";
    } else if report.clients.is_empty() && !report.not_seen.is_empty() {
        out += "no client was seen, and not everything could be looked at\n";
    } else if report.clients.is_empty() {
        out += "no client was seen over TCP; who connects for a moment only, over TLS, is not listed\n";
    } else {
        let rows = report.clients.iter().map(|row| {
            vec![
                show::visible(row.user.as_deref().unwrap_or("not known")),
                show::visible(&row.host),
                show::visible(row.driver.as_deref().unwrap_or("-")),
                row.nodes.join(" "),
                show::seen(word(row)),
            ]
        });
        out += &format!("{}\n", show::table(&["user", "host", "driver", "servers", "seen"], rows.collect()));
    }
    let mut drivers: Vec<&str> = Vec::new();
    for row in report.clients.iter().filter(|row| row.cleartext > 0) {
        let Some(line) = row.driver.as_deref().and_then(settings_of) else { continue };
        if !drivers.contains(&line.0) {
            drivers.push(line.0);
            let ca =
                ca_file.map_or_else(|| "the cluster's ca.pem".to_owned(), |path| path.display().to_string());
            out += &format!("next: {}: {}   (CA: {ca})\n", line.0, line.1);
        }
    }
    if report.clients.iter().any(|row| row.cleartext > 0) {
        out += "next: sealion prove config FILE   checks what an application's settings promise\n";
    }
    if !report.clients.is_empty() {
        for (proxy, names) in proxies {
            let row = report.clients.iter().find(|row| names.contains(&row.host));
            let at = row.map_or_else(String::new, |row| {
                format!("{} is the proxy {proxy}: ", show::visible(&row.host))
            });
            out += &format!(
                "note: {at}who comes through {proxy} has its address here; its own clients are listed by `show sess` on its admin socket\n"
            );
        }
    }
    for why in &report.not_seen {
        out += &format!("not checked: {}\n", show::visible(why));
    }
    out
}

fn word(row: &WatchClientRow) -> &'static str {
    match (row.cleartext, row.unknown, row.tls) {
        (0, 0, _) => "TLS",
        (0, _, _) => "unknown",
        _ => "cleartext",
    }
}

/// The client of `prove clients` that calls itself so, and how its TLS is set so that it verifies the server by name.
fn settings_of(driver: &str) -> Option<(&'static str, &'static str)> {
    const NAMES: [(&str, &str); 10] = [
        ("mysqlnd", "php-pdo"),
        ("pymysql", "pymysql"),
        ("mysql-connector-python", "mysql-connector-python"),
        ("mysql connector/j", "connector-j"),
        ("mariadb connector/j", "mariadb-connector-j"),
        ("go-mysql-driver", "go-sql-driver"),
        ("node-mysql-2", "node-mysql2"),
        ("aiomysql", "aiomysql"),
        ("libmysql", "mysql-9.7"),
        ("libmariadb", "mariadb-10.11"),
    ];
    let driver = driver.to_ascii_lowercase();
    let (_, id) = NAMES.iter().find(|(name, _)| driver.starts_with(name))?;
    let client = prove::clients::CLIENTS.iter().find(|client| client.id == *id)?;
    let mode = client.modes.iter().find(|mode| mode.promises == prove::client::Promise::Identity)?;
    Some((client.name, mode.options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        for (word, expected) in [
            ("90", Some(90)),
            ("90s", Some(90)),
            ("10m", Some(600)),
            ("8h", Some(28_800)),
            ("7d", Some(604_800)),
        ] {
            assert_eq!(seconds(word).ok(), expected, "{word}");
        }
        for word in ["", "m", "7w", "-1s", "1.5h", "99999999999999999999d", "400d"] {
            assert!(seconds(word).is_err(), "{word}");
        }
    }

    #[test]
    fn clients_behind_a_proxy_are_looked_for_there_and_those_in_cleartext_are_given_the_ca() {
        let row = WatchClientRow {
            host: "10.0.0.9".into(),
            driver: Some("pymysql".into()),
            cleartext: 1,
            ..WatchClientRow::default()
        };
        let report = WatchClientsReport { looks: 1, clients: vec![row], ..WatchClientsReport::default() };
        let proxies = [("edge".to_owned(), vec!["10.0.0.9".to_owned()])];
        let text = rendered(&report, Some(Path::new("/ops/ca/ca.pem")), &proxies);
        assert!(text.contains("(CA: /ops/ca/ca.pem)"), "{text}");
        assert!(text.contains("10.0.0.9 is the proxy edge") && text.contains("show sess"), "{text}");
        let text = rendered(&report, None, &[]);
        assert!(text.contains("the cluster's ca.pem") && !text.contains("proxy"), "{text}");
    }

    #[test]
    fn every_driver_that_is_named_has_a_way_to_verify() {
        for driver in
            ["mysqlnd", "pymysql 1.1.1", "libmariadb 3.3.8 (app)", "Go-MySQL-Driver", "MySQL Connector/J 9.1"]
        {
            let (name, options) = settings_of(driver).unwrap_or_else(|| panic!("{driver}"));
            assert!(!name.is_empty() && options != "(none)", "{driver}: {options}");
        }
        assert_eq!(settings_of("homegrown"), None);
    }
}
