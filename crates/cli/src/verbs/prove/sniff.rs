//! `sealion prove sniff`: for people a table, worst first; for programs the schema `sealion/prove-sniff/1`.

use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use model::text::counted;
use prove_ops::sniff::{
    Conclusion, Kind, Listed, MysqlTraffic, Place, Report, Sniffed, Source, Word, guess, sniff, word_name,
    words,
};
use report::shape::{
    PROVE_SNIFF_SCHEMA_ID, ProveSniffReport, SniffCanary, SniffCanarySum, SniffConnection, SniffErrorCode,
    SniffFinding, SniffFindingSum, SniffGalera, SniffKindSum, SniffLogin, SniffMySql, SniffNotLookedAt,
    SniffSecret,
};
use site::OpsError;

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  tcpdump -i eth0 -s 0 -w db.pcap tcp
  sealion prove sniff db.pcap
  sealion prove sniff --iface eth0 --seconds 60 --fail-on-clear

Exit codes: 0 read, 1 with --fail-on-clear: something readable was found, 3 nothing could be read or, with --fail-on-clear, not all
of it."
)]
pub struct ProveSniffArgs {
    /// A pcap or pcapng file of any size; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "iface")]
    pub file: Option<PathBuf>,
    /// Capture on this network interface instead
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub iface: Option<String>,
    /// Capture for this many seconds; default: until Ctrl-C
    #[arg(long, value_name = "N", requires = "iface", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
    /// Another port that MySQL listens on; may be repeated. A greeting is recognized on any port
    #[arg(long = "port", value_name = "N")]
    pub ports: Vec<u16>,
    /// Also search for this text and report where it was; may be repeated. It is never printed
    #[arg(long = "canary", value_name = "TEXT")]
    pub canaries: Vec<String>,
    /// Also search for each line of FILE, for texts that must not show in the process list
    #[arg(long, value_name = "FILE")]
    pub canary_file: Option<PathBuf>,
    /// Exit with 1 if something readable was found
    #[arg(long)]
    pub fail_on_clear: bool,
    /// Show this many connections, the worst first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
}

fn is_interface(file: &Path) -> bool {
    file.components().count() == 1 && !file.exists() && Path::new("/sys/class/net").join(file).exists()
}

/// Findings of a connection that fit its row; all of them are in the JSON.
const FINDINGS_SHOWN: usize = 3;
const SAMPLES_SHOWN: usize = 5;
const CANARIES_SHOWN: usize = 20;

pub fn run(global: &Global, args: &ProveSniffArgs, stop: &AtomicBool) -> Result<u8, OpsError> {
    let source = match (&args.file, &args.iface) {
        (Some(file), _) if is_interface(file) => {
            return Err(OpsError::usage(
                format!("there is no file {}", file.display()),
                "it is the name of a network interface",
                format!("sealion prove sniff --iface {}", file.display()),
            ));
        }
        (Some(file), _) => Source::File(file.clone()),
        (None, Some(name)) => Source::Interface { name: name.clone(), seconds: args.seconds },
        (None, None) => {
            return Err(OpsError::usage(
                "nothing to read",
                "neither a file nor an interface was given",
                "sealion prove sniff FILE, or --iface lo --seconds 10",
            ));
        }
    };
    let words = words(&args.canaries, args.canary_file.as_deref())?;
    let count = words.count();
    let began = std::time::Instant::now();
    let sniffed = sniff(&source, &args.ports, words, stop, &mut |word| match word {
        Word::Listening => show::tell("listening"),
        Word::Progress { bytes, of_bytes, packets } => {
            let of = of_bytes.map_or(String::new(), |total| format!(" of {} MiB", total >> 20));
            let rate = bytes as f64 / 1e6 / began.elapsed().as_secs_f64().max(0.001);
            show::progress(&format!("{} MiB{of}, {packets} packets, {rate:.0} MB/s", bytes >> 20));
        }
    })?;
    show::progress("");
    if global.format == Format::Json {
        print_json(&sniffed);
    } else {
        print(global, &sniffed, count, args.limit);
    }
    let report = &sniffed.report;
    if report.looked_at() == 0 && !report.is_readable() {
        return Ok(3);
    }
    Ok(match args.fail_on_clear {
        true if report.is_readable() => 1,
        // "Nothing was found" is no answer where nobody could look.
        true if report.conclusion() == Conclusion::NotKnown => 3,
        _ => 0,
    })
}

fn ends(one: &Listed) -> (String, String) {
    let (a, b) = (one.ends.a, one.ends.b);
    if one.told.server_is_a { (b.to_string(), a.to_string()) } else { (a.to_string(), b.to_string()) }
}

/// `cleartext`, `TLS`, or how much of both: by the same judgement as the first line and the exit code.
fn how(one: &Listed) -> &'static str {
    let told = &one.told;
    if told.null_suite.is_some() {
        "TLS, not encrypted"
    } else if told.is_undecided {
        "not known"
    } else if told.is_clear() && told.tls_bytes > 0 {
        "cleartext and TLS"
    } else if told.is_clear() {
        "cleartext"
    } else if told.is_tls {
        "TLS"
    } else {
        "silent"
    }
}

/// The first line.
fn headline(report: &Report) -> String {
    let (all, tls, clear) = (report.looked_at(), report.tls, report.clear);
    match report.conclusion() {
        Conclusion::Readable => {
            let are = if clear == 1 { "is" } else { "are" };
            let all = counted(all, "connection", "connections");
            format!("READABLE: {clear} of {all} {are} cleartext, {tls} with TLS.")
        }
        Conclusion::NothingReadable => {
            format!(
                "Nothing readable was captured: {tls} of {} with TLS.",
                counted(all, "connection", "connections")
            )
        }
        Conclusion::NoConnection => {
            "No MySQL or Galera connection was recognized. --port N adds a port that MySQL listens on.".into()
        }
        Conclusion::NotKnown => {
            let mut why = vec![];
            if report.not_known() > 0 {
                why.push(format!(
                    "whether it is encrypted is not known of {}",
                    counted(report.not_known(), "connection", "connections")
                ));
            }
            if report.packets_not_looked_at() > 0 {
                let packets = counted(report.packets_not_looked_at(), "packet", "packets");
                why.push(format!("{packets} could not be decoded (the kinds are listed below)"));
            }
            let seen = if all == 0 {
                "no MySQL or Galera connection was recognized".to_owned()
            } else {
                let all = counted(all, "connection", "connections");
                format!("nothing that was decoded is cleartext, {tls} of {all} with TLS")
            };
            format!("NOT KNOWN: {seen}; but {}.", why.join(", and "))
        }
    }
}

fn print(global: &Global, sniffed: &Sniffed, words: usize, limit: usize) {
    let report = &sniffed.report;
    let kinds: Vec<String> =
        report
            .connections
            .iter()
            .map(|(kind, count)| {
                if *kind == Kind::Other {
                    format!("{count} of other kinds")
                } else {
                    format!("{count} {kind}")
                }
            })
            .collect();
    let headline = headline(report);
    match report.conclusion() {
        Conclusion::Readable | Conclusion::NotKnown => show::out(&show::red(&headline)),
        Conclusion::NothingReadable | Conclusion::NoConnection => show::out(&headline),
    }
    show::out(&format!(
        "{}: {}, {} bytes; {}",
        sniffed.method,
        counted(report.segments, "segment", "segments"),
        report.payload_bytes,
        if kinds.is_empty() { "no connections".into() } else { kinds.join(", ") }
    ));
    if !report.findings.is_empty() {
        show::out("");
        let rows = report.findings.iter().map(|(what, (connections, times))| {
            vec![what.text().to_owned(), times.to_string(), connections.to_string()]
        });
        show::out(&show::table(&["readable, worst first", "times", "connections"], rows.collect()));
    }
    canaries(&report.canary_places, words);
    let mut guesses: Vec<&str> = vec![];
    for one in &report.listed {
        for login in one.told.mysql.iter().flat_map(|seen| &seen.logins) {
            if !guesses.contains(&login.plugin.as_str()) {
                guesses.push(&login.plugin);
            }
        }
    }
    for plugin in guesses {
        if let Some(guess) = guess::Guess::of(plugin) {
            show::out(&show::wrapped(&format!("cracking {plugin}: "), &guess.text()));
        }
    }
    if !report.listed.is_empty() {
        show::out("");
        let rows = report.listed.iter().take(limit).map(row).collect();
        show::out(&show::table(&["client", "server", "what", "how", "seen"], rows));
        let left = report.listed.len().saturating_sub(limit) as u64 + report.not_listed;
        if left > 0 {
            show::out(&format!("and {left} more connections (--limit N, or --format json)"));
        }
    }
    let mut samples: Vec<&str> = vec![];
    for sample in
        report.listed.iter().filter_map(|one| one.told.mysql.as_ref()).flat_map(|seen| &seen.samples)
    {
        if samples.len() < SAMPLES_SHOWN && !samples.contains(&sample.as_str()) {
            samples.push(sample);
        }
    }
    if !samples.is_empty() && global.verbose > 0 {
        show::out("\nStatement digests, without values:");
        for sample in samples {
            show::out(&format!("  {sample}"));
        }
    }
    if !sniffed.doubts.is_empty() {
        show::out("\nNot everything was decoded:");
        for doubt in &sniffed.doubts {
            show::out(&format!("- {doubt}"));
        }
    }
}

/// Canaries by name and place: connections, and how often in them.
pub type PlaceSums = BTreeMap<(String, Place), (u64, u64)>;

/// Where canaries stood; of each word that was given also that it was not seen.
pub fn canaries(places: &PlaceSums, words: usize) {
    if !places.is_empty() {
        show::out("");
        let row = |((canary, place), (connections, times)): (&(String, Place), &(u64, u64))| {
            vec![canary.clone(), place.text().into(), times.to_string(), connections.to_string()]
        };
        let rows = places.iter().take(CANARIES_SHOWN).map(row).collect();
        show::out(&show::table(&["canary", "found in", "times", "connections"], rows));
        if places.len() > CANARIES_SHOWN {
            show::out(&format!("and {} more (--format json)", places.len() - CANARIES_SHOWN));
        }
    }
    for name in (0..words).map(word_name) {
        if !places.keys().any(|(canary, _)| *canary == name) {
            show::out(&format!("{name} was not found."));
        }
    }
}

fn row(one: &Listed) -> Vec<String> {
    let (client, server) = ends(one);
    let mut seen: Vec<String> = one
        .findings
        .iter()
        .take(FINDINGS_SHOWN)
        .map(|finding| format!("{} x{}", finding.what.id(), finding.times))
        .collect();
    if one.findings.len() > FINDINGS_SHOWN {
        seen.push(format!("{} more", one.findings.len() - FINDINGS_SHOWN));
    }
    let mut what = one.told.kind.to_string();
    if let Some(mysql) = &one.told.mysql {
        if let (Some(flavour), Some(version)) = (mysql.flavour, &mysql.server_version) {
            let number = version.split('-').next().unwrap_or_default();
            what = format!("{flavour} {number}");
        }
        if !mysql.users.is_empty() {
            what += &format!(" as {}", mysql.users.join(", then "));
        }
        if mysql.compressed.is_some() {
            what += ", compressed";
        }
    }
    vec![client, server, what, how(one).to_owned(), seen.join(", ")]
}

/// One connection a line.
fn print_json(sniffed: &Sniffed) {
    shape(sniffed).lines(sniffed.report.listed.iter().map(connection), &mut show::out);
}

/// All but the connections.
fn shape(sniffed: &Sniffed) -> ProveSniffReport {
    let report = &sniffed.report;
    let moment = |unix_ms| (report.segments > 0).then_some(unix_ms);
    ProveSniffReport {
        schema: PROVE_SNIFF_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        method: sniffed.method.clone(),
        is_readable: report.is_readable(),
        is_complete: sniffed.doubts.is_empty(),
        doubts: sniffed.doubts.clone(),
        segments: report.segments,
        other_packets: report.other_packets,
        conclusion: report.conclusion().id().into(),
        packets_not_looked_at: report.packets_not_looked_at(),
        not_looked_at: report
            .not_looked_at
            .iter()
            .map(|(kind, packets)| SniffNotLookedAt {
                kind: kind.id().into(),
                number: kind.number(),
                text: kind.text(),
                packets: *packets,
            })
            .collect(),
        payload_bytes: report.payload_bytes,
        missing_bytes: report.missing_bytes,
        first_unix_ms: moment(report.first_unix_ms),
        last_unix_ms: moment(report.last_unix_ms),
        connections_by_kind: report
            .connections
            .iter()
            .map(|(kind, connections)| SniffKindSum { kind: kind.to_string(), connections: *connections })
            .collect(),
        connections_over_limit: report.connections_over_limit,
        connections_not_listed: report.not_listed,
        findings: report
            .findings
            .iter()
            .map(|(what, (connections, times))| SniffFindingSum {
                id: what.id().into(),
                text: what.text().into(),
                is_readable: true,
                connections: *connections,
                times: *times,
            })
            .collect(),
        canaries: report
            .canary_places
            .iter()
            .map(|((canary, place), (connections, times))| SniffCanarySum {
                canary: canary.clone(),
                place: place.id().into(),
                text: place.text().into(),
                connections: *connections,
                times: *times,
            })
            .collect(),
        canaries_not_listed: report.canaries_not_listed,
        connections: vec![],
    }
}

pub fn connection(one: &Listed) -> SniffConnection {
    let told = &one.told;
    let (client, server) = ends(one);
    let (client_from, server_from) = if told.server_is_a {
        (told.tls_from_b, told.tls_from_a)
    } else {
        (told.tls_from_a, told.tls_from_b)
    };
    let (client_bytes, server_bytes) =
        if told.server_is_a { (told.bytes_b, told.bytes_a) } else { (told.bytes_a, told.bytes_b) };
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
    SniffConnection {
        client,
        server,
        kind: told.kind.to_string(),
        is_tls: told.is_tls,
        is_undecided: told.is_undecided,
        tls_from_client_byte: client_from,
        tls_from_server_byte: server_from,
        clear_bytes_in_tls: told.clear_bytes_in_tls,
        client_bytes,
        server_bytes,
        missing_bytes: told.missing_bytes,
        unread_bytes: told.unread_bytes,
        first_unix_ms: one.ends.first_unix_ms,
        last_unix_ms: one.ends.last_unix_ms,
        canaries: canaries.collect(),
        findings: findings.collect(),
        mysql: told.mysql.as_ref().map(mysql),
        galera: (told.kind == Kind::Galera && !told.is_tls).then_some(SniffGalera {
            messages: told.galera.messages,
            data_messages: told.galera.data_messages,
            writesets: told.galera.writesets,
            writeset_bytes: told.galera.writeset_bytes,
        }),
    }
}

pub fn mysql(seen: &MysqlTraffic) -> SniffMySql {
    let logins = seen.logins.iter().map(|login| {
        let guess = guess::Guess::of(&login.plugin);
        SniffLogin {
            plugin: login.plugin.clone(),
            answer_bytes: login.answer_bytes as u64,
            is_guessable: guess.is_some(),
            assumed_guesses_per_s: guess.map(|guess| guess.assumed_per_s),
        }
    });
    let secrets =
        seen.secrets.iter().map(|(secret, times)| SniffSecret { secret: secret.to_string(), times: *times });
    let error_codes =
        seen.error_codes.iter().map(|(code, times)| SniffErrorCode { code: *code, times: *times });
    SniffMySql {
        flavour: seen.flavour.map(|flavour| flavour.to_string()),
        server_version: seen.server_version.clone(),
        offers_tls: seen.offers_tls,
        asked_tls: seen.asked_tls,
        joined_in_the_middle: seen.joined_in_the_middle,
        user: seen.user.clone(),
        users: seen.users.clone(),
        database: seen.database.clone(),
        program: seen.program.clone(),
        compressed: seen.compressed.map(Into::into),
        logged_in: seen.logged_in,
        logins: logins.collect(),
        passwords_in_clear: seen.passwords_in_clear,
        secrets: secrets.collect(),
        queries: seen.queries,
        prepared: seen.prepared,
        executed: seen.executed,
        parameter_bytes: seen.parameter_bytes,
        results: seen.results,
        rows: seen.rows,
        row_bytes: seen.row_bytes,
        files_sent: seen.files_sent,
        file_bytes: seen.file_bytes,
        binlog_dumps: seen.binlog_dumps,
        binlog_events: seen.binlog_events,
        row_events: seen.row_events,
        statement_events: seen.statement_events,
        errors: seen.errors,
        error_codes: error_codes.collect(),
        samples: seen.samples.clone(),
        lost: seen.lost,
    }
}
