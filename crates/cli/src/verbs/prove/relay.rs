//! `sealion prove relay`: events as they happen on stderr, a summary or the schema `sealion/prove-relay/1` on stdout.

use clap::Args;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use prove_ops::relay::{
    Active, Change, Config, Keys, LISTED_MAX, Place, RelayJob, RelayNews, Relayed, Running, Stripped,
};
use prove_ops::sniff::{raw_words, words};
use report::shape::{
    PROVE_RELAY_SCHEMA_ID, ProveRelayReport, RelayConnection, RelayEvent, SniffCanary, SniffFinding,
};
use site::OpsError;

use super::sniff;
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion prove relay --to db1:3306
  sealion prove relay --to /run/mysqld/mysqld.sock --listen /tmp/seen.sock
  sealion prove relay --to 127.0.0.1:3306 --strip --substitute-key --password-file FILE

Exit codes: 0 no attack succeeded, 1 one did or, with --fail-on-clear, something readable was found, 3 no client connected, or the
server was not reached."
)]
pub struct ProveRelayArgs {
    /// The real server: HOST:PORT, or the path of its Unix socket
    #[arg(long, value_name = "SERVER")]
    pub to: String,
    /// Where clients connect: a port of 127.0.0.1 (0: the kernel chooses), or a path for a Unix socket
    #[arg(long, value_name = "PORT|PATH", default_value = "0")]
    pub listen: String,
    /// Listen on this address instead of 127.0.0.1; whoever can reach it can be attacked
    #[arg(long, value_name = "ADDR")]
    pub authorized_bind: Option<std::net::IpAddr>,
    /// Attack: remove TLS from the server's greeting
    #[arg(long)]
    pub strip: bool,
    /// Attack: send an RSA key of our own for the password
    ///
    /// Attack: send an RSA key of our own for the password, as caching_sha2_password and sha256_password ask for one.
    #[arg(long)]
    pub substitute_key: bool,
    /// Attack: change a marked value in results on their way to the client
    #[arg(long, value_name = "FROM=TO")]
    pub change_result: Option<String>,
    /// Compare a captured password with the first line of FILE; neither is kept
    #[arg(long, value_name = "FILE", requires = "substitute_key")]
    pub password_file: Option<PathBuf>,
    /// Also search for this text and report where it was; may be repeated. It is never printed
    #[arg(long = "canary", value_name = "TEXT")]
    pub canaries: Vec<String>,
    /// Also search for each line of FILE, for texts that must not show in the process list
    #[arg(long, value_name = "FILE")]
    pub canary_file: Option<PathBuf>,
    /// Stop after this many seconds; default: at Ctrl-C
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
    /// Exit with 1 if something readable was found
    #[arg(long)]
    pub fail_on_clear: bool,
}

const POLL: Duration = Duration::from_millis(50);
const FINDINGS_SHOWN: usize = 4;
const ROWS_SHOWN: usize = 40;

pub fn run(global: &Global, args: &ProveRelayArgs, stop: &AtomicBool) -> Result<u8, OpsError> {
    let listen = place(args)?;
    let target = Place::parse(&args.to)?;
    let given = words(&args.canaries, args.canary_file.as_deref())?.count();
    let wish = RelayJob {
        listen,
        target: target.clone(),
        config: config(args)?,
        words: raw_words(&args.canaries, args.canary_file.as_deref())?,
    };
    let running = Running::start(wish)?;
    let at = running.at().to_string();
    show::tell(&format!("listening on {at}, for {target}; Ctrl-C ends it"));
    let until = args.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut seen = Seen::default();
    while !stop.load(Ordering::Relaxed) && until.is_none_or(|until| Instant::now() < until) {
        for said in running.said() {
            seen.take(said);
        }
        std::thread::sleep(POLL);
    }
    for said in running.end() {
        seen.take(said);
    }
    let report = seen.report(args, &at, &target.to_string());
    if global.format == Format::Json {
        show::out(&report.to_json());
    } else {
        print(&report, &seen.places, given);
    }
    let is_reached = report.connections.iter().any(|one| one.unreachable.is_none());
    Ok(match (report.fallen > 0 || (args.fail_on_clear && report.is_readable), is_reached) {
        (true, _) => 1,
        (false, true) => 0,
        (false, false) => 3,
    })
}

fn place(args: &ProveRelayArgs) -> Result<Place, OpsError> {
    if args.listen.contains('/') {
        return Ok(Place::Unix(args.listen.as_str().into()));
    }
    let bind = args.authorized_bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let port = args.listen.parse().map_err(|_| {
        OpsError::usage(
            format!("cannot listen on \"{}\"", args.listen),
            "it is neither a port nor a path",
            "give a port, or the path of a unix socket; --authorized-bind sets another address than 127.0.0.1",
        )
    })?;
    Ok(Place::Tcp(SocketAddr::new(bind, port)))
}

fn config(args: &ProveRelayArgs) -> Result<Config, OpsError> {
    let change = args
        .change_result
        .as_deref()
        .map(|text| {
            let usage =
                |why: String| OpsError::usage("invalid --change-result", why, "--change-result FROM=TO");
            let (from, to) = text.split_once('=').ok_or_else(|| usage("it contains no =".into()))?;
            Change::new(from, to).map_err(|error| usage(error.to_string()))
        })
        .transpose()?;
    let substitute_key = if args.substitute_key {
        let keys = Keys::generate().map_err(|error| OpsError::internal("cannot create an RSA key", error))?;
        Some(keys)
    } else {
        None
    };
    let password = args
        .password_file
        .as_deref()
        .map(|path| site::inventory::read_secret(path, "password"))
        .transpose()?;
    Ok(Config { active: Active { strip: args.strip, substitute_key, change }, password })
}

#[derive(Default)]
struct Seen {
    events: BTreeMap<u64, Vec<RelayEvent>>,
    closed: Vec<Relayed>,
    count: u64,
    fallen: u64,
    is_readable: bool,
    places: sniff::PlaceSums,
}

impl Seen {
    fn take(&mut self, said: RelayNews) {
        match said {
            RelayNews::Opened { number, client } => show::tell(&format!("#{number} {client}")),
            RelayNews::Event { number, event } => {
                show::tell(&format!("#{number} {event}"));
                let event = RelayEvent { id: event.id().into(), text: event.to_string() };
                self.events.entry(number).or_default().push(event);
            }
            RelayNews::Closed(relayed) => {
                let number = relayed.number;
                if let Some(why) = &relayed.unreachable {
                    show::tell(&format!("#{number} the server cannot be reached: {why}"));
                }
                self.count += 1;
                self.fallen += u64::from(relayed.outcome.has_fallen());
                self.is_readable |= !relayed.findings.is_empty();
                for (key, times) in &relayed.told.canary_places {
                    let (connections, all) = self.places.entry(key.clone()).or_default();
                    *connections += 1;
                    *all += times;
                }
                if self.closed.len() < LISTED_MAX {
                    self.closed.push(*relayed);
                } else {
                    self.events.remove(&number);
                }
            }
        }
    }

    fn report(&self, args: &ProveRelayArgs, listen: &str, target: &str) -> ProveRelayReport {
        ProveRelayReport {
            schema: PROVE_RELAY_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            listen: listen.into(),
            target: target.into(),
            strip: args.strip,
            substitute_key: args.substitute_key,
            change_result: args.change_result.is_some(),
            is_readable: self.is_readable,
            fallen: self.fallen,
            connection_count: self.count,
            connections: self.closed.iter().map(|one| self.connection(one)).collect(),
        }
    }

    fn connection(&self, one: &Relayed) -> RelayConnection {
        let Relayed { told, outcome, .. } = one;
        let canaries = told.canary_places.iter().map(|((canary, place), times)| SniffCanary {
            canary: canary.clone(),
            place: place.id().into(),
            times: *times,
        });
        let findings = one.findings.iter().map(|finding| SniffFinding {
            id: finding.what.id().into(),
            times: finding.times,
            detail: finding.detail.clone(),
        });
        RelayConnection {
            number: one.number,
            client: one.client.clone(),
            is_tls: told.is_tls,
            client_bytes: told.bytes_b,
            server_bytes: told.bytes_a,
            strip: outcome.stripped.id().into(),
            key: outcome.key.id().into(),
            password_matches: outcome.key.matches(),
            values_changed: outcome.changed,
            has_fallen: outcome.has_fallen(),
            logged_in: outcome.logged_in,
            login_error: outcome.login_error,
            unreachable: one.unreachable.clone(),
            events: self.events.get(&one.number).cloned().unwrap_or_default(),
            canaries: canaries.collect(),
            findings: findings.collect(),
            mysql: told.mysql.as_ref().map(sniff::mysql),
        }
    }
}

/// What the connection came to, in a few words.
fn verdict(one: &RelayConnection) -> String {
    let mut words: Vec<String> = vec![];
    match one.strip.as_str() {
        id if id == Stripped::WentOn.id() => words.push("VULNERABLE: logged in without TLS".into()),
        id if id == Stripped::Refused.id() => words.push("closed; requires TLS".into()),
        id if id == Stripped::AskedAnyway.id() => {
            words.push("requested TLS although it was not offered".into());
        }
        id if id == Stripped::NothingToStrip.id() => words.push("the server does not offer TLS".into()),
        _ => {}
    }
    let matches = match one.password_matches {
        Some(true) => ", it matches the one you gave",
        Some(false) => ", it does not match the one you gave",
        None => "",
    };
    match one.key.as_str() {
        "password-taken" => {
            words.push(format!("VULNERABLE: sent its password encrypted with the relay's key{matches}"));
        }
        "password-in-clear" => words.push(format!("VULNERABLE: sent its password in cleartext{matches}")),
        "refused" => words.push("did not send its password with the relay's key".into()),
        "knows-the-key" => words.push("uses the server key that it was given".into()),
        _ => {}
    }
    if one.values_changed > 0 {
        words.push(format!("VULNERABLE: {} values changed without notice", one.values_changed));
    }
    if let Some(code) = one.login_error {
        words.push(format!("the server rejected the login ({code})"));
    }
    if let Some(why) = &one.unreachable {
        words.push(format!("server cannot be reached: {why}"));
    }
    if words.is_empty() {
        words.push(if one.is_tls { "TLS".into() } else { "cleartext".into() });
    }
    words.join("; ")
}

fn print(report: &ProveRelayReport, places: &sniff::PlaceSums, words: usize) {
    let tls = report.connections.iter().filter(|one| one.is_tls).count();
    let head = format!(
        "{}, {tls} with TLS, {} vulnerable.",
        model::text::counted(report.connection_count, "connection", "connections"),
        report.fallen
    );
    let is_bad = report.fallen > 0 || report.is_readable;
    show::out(&if is_bad { show::red(&head) } else { head });
    if !report.connections.is_empty() {
        show::out("");
        let rows = report.connections.iter().take(ROWS_SHOWN).map(|one| {
            let read: Vec<String> = one
                .findings
                .iter()
                .take(FINDINGS_SHOWN)
                .map(|finding| format!("{} x{}", finding.id, finding.times))
                .collect();
            vec![one.number.to_string(), verdict(one), read.join(", ")]
        });
        show::out(&show::table(&["#", "the client", "readable"], rows.collect()));
        if report.connections.len() > ROWS_SHOWN {
            show::out(&format!("and {} more (--format json)", report.connections.len() - ROWS_SHOWN));
        }
    }
    sniff::canaries(places, words);
}
