//! `sealion scan`: one screen per host, worst first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::report::formats::scan::SCAN_FORMATS;
use ::report::shape::{FindingRow, SeverityWord, TargetRow, TlsRow, VerdictWord};
use ops::OpsError;
use ops::scan::{Budget, Settings, Wish};
use scan::interrogation::Depth;
use scan::intrude::Intrusive;

use crate::args::{Format, Global, IntrusiveArg, ScanArgs, SeverityArg};
use crate::show;

/// Text beside a label stays within 80 columns.
const TEXT_WIDTH: usize = 64;

pub fn scan(global: &Global, args: &ScanArgs) -> Result<u8, OpsError> {
    let wishes = wishes(global, args)?;
    let depth = match (args.full, args.first) {
        (true, _) => Depth::Full,
        (_, true) => Depth::First,
        _ => Depth::Classes,
    };
    let settings = Settings {
        depth,
        limits: scan::Limits {
            targets_at_once: args.at_once as usize,
            connection_ms: args.timeout_ms,
            connections_per_s: args.rate,
            intrusive: Intrusive {
                heartbleed: args.intrusive.contains(&IntrusiveArg::Heartbleed),
                early_ccs: args.intrusive.contains(&IntrusiveArg::Ccs),
                robot: args.intrusive.contains(&IntrusiveArg::Robot),
            },
            ..scan::Limits::default()
        },
        connections_per_address: args.max_handshakes,
        roots: ops::scan::roots(args.ssl_ca.as_deref())?,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    // The first Ctrl-C ends the scan with what there is; the report says that it is not complete.
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("ending; once more ends at once");
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    let mut budget = Budget::open();
    let is_table = global.format == Format::Table;
    let mut silent = 0usize;
    let report = ops::scan::scan(&wishes, &settings, &mut budget, &stop, &mut |row| {
        if is_table {
            print_row(row, depth);
        }
    });
    if let Err(why) = budget.save() {
        eprintln!("note: how many connections were made was not kept: {why}");
    }
    let report = report?;
    if is_table {
        silent += report.targets.iter().filter(|row| row.service.is_none()).count();
        println!(
            "{} of {} ports answered, {} connections, {:.1} s{}",
            report.targets.len() - silent,
            report.targets.len(),
            report.targets.iter().map(|row| row.connections).sum::<u32>(),
            (report.ended_unix_ms - report.started_unix_ms) as f64 / 1000.0,
            if report.is_complete { "" } else { "; ended early, the rest was not looked at" }
        );
    } else {
        let name = match global.format {
            Format::Csv => "csv",
            Format::Sarif => "sarif",
            Format::Junit => "junit",
            Format::Prometheus => "prometheus",
            _ => "json",
        };
        let known = SCAN_FORMATS.iter().find(|format| format.name() == name);
        let format = known.ok_or_else(|| OpsError::internal("no such form of a scan", name))?;
        print!("{}", format.render(&report));
    }
    if report.targets.iter().all(|row| row.service.is_none()) {
        return Ok(3);
    }
    let failed = |row: &FindingRow| row.verdict == VerdictWord::Fail;
    let worst = report.targets.iter().flat_map(|row| &row.findings).filter(|row| failed(row));
    let worst = worst.map(|row| row.severity).max();
    let unknown = |row: &&FindingRow| row.verdict == VerdictWord::Unknown;
    let blind =
        report.targets.iter().flat_map(|row| &row.findings).filter(unknown).map(|row| row.severity).max();
    Ok(match (args.fail_on.map(word), worst, blind) {
        (Some(limit), Some(worst), _) if worst >= limit => 1,
        // What a gate was to judge and could not be seen has not passed it.
        (Some(limit), _, Some(blind)) if blind >= limit => 3,
        _ => 0,
    })
}

fn word(severity: SeverityArg) -> SeverityWord {
    model::Severity::from(severity).into()
}

fn wishes(global: &Global, args: &ScanArgs) -> Result<Vec<Wish>, OpsError> {
    let mut wishes = ops::scan::wishes(args.targets.iter().map(String::as_str))?;
    if let Some(path) = &args.targets_file {
        wishes.extend(ops::scan::wishes_of_file(path)?);
    } else if wishes.is_empty() {
        let cluster = ops::Cluster::read(&global.inventory)?;
        for node in &cluster.nodes {
            for port in [node.port, node.galera_port] {
                wishes.push(Wish { host: node.address.clone(), port: Some(port) });
            }
        }
    }
    if wishes.is_empty() {
        return Err(OpsError::usage(
            "there is nothing to scan",
            "no target was named",
            "sealion scan HOST[:PORT] …, or --targets-file FILE",
        ));
    }
    Ok(wishes)
}

fn print_row(row: &TargetRow, depth: Depth) {
    let Some(service) = &row.service else {
        println!("{}  {}\n", show::bold(&row.target), row.not_seen.join("; "));
        return;
    };
    let who = match (&service.flavour, &service.version) {
        (Some(flavour), Some(version)) => format!("{flavour} {version}"),
        _ => format!("{} ({})", service.protocol, row.port_use),
    };
    let grade = row.grade.as_ref().map_or_else(|| "no grade".to_owned(), |grade| format!("grade {grade}"));
    println!("{}  {who}  {}", show::bold(&row.target), show::bold(&grade));
    if !service.note.is_empty() {
        say("note", &service.note);
    }
    if row.grade.is_none() && !row.grade_why.is_empty() {
        say("", &row.grade_why);
    }
    if let Some(tls) = &row.tls {
        print_tls(tls, depth);
    }
    let mut bad: Vec<&FindingRow> = row
        .findings
        .iter()
        .filter(|one| matches!(one.verdict, VerdictWord::Fail | VerdictWord::Unknown))
        .collect();
    bad.sort_by_key(|one| (one.verdict != VerdictWord::Fail, std::cmp::Reverse(one.severity)));
    for one in bad {
        let verdict =
            if one.verdict == VerdictWord::Fail { one.severity.to_string() } else { "unknown".into() };
        let text = format!("{:<8} {}", verdict, if one.why.is_empty() { &one.title } else { &one.why });
        let text = if one.severity >= SeverityWord::High && one.verdict == VerdictWord::Fail {
            show::red(&text)
        } else {
            text
        };
        say(&one.rule, &text);
    }
    for why in &row.not_seen {
        say("not seen", why);
    }
    say(
        "",
        &format!("{} connections, {} handshakes, {:.1} ms", row.connections, row.handshakes, row.elapsed_ms),
    );
    println!();
}

fn print_tls(tls: &TlsRow, depth: Depth) {
    let by = |taken: &str| -> Vec<&str> {
        tls.versions.iter().filter(|one| one.taken == taken).map(|one| one.version.as_str()).collect()
    };
    say("takes", &by("yes").join(" "));
    let refused = by("no");
    if !refused.is_empty() {
        say("refuses", &refused.join(" "));
    }
    for version in tls.versions.iter().filter(|one| !one.suites.is_empty()) {
        let names: Vec<&str> =
            version.suites.iter().map(|suite| suite.openssl.as_deref().unwrap_or(&suite.iana)).collect();
        let rest = match (version.suites_complete, depth) {
            (true, _) => "",
            (false, Depth::Classes) => " (one of each class; --full lists all)",
            (false, _) => " (there may be more)",
        };
        say(&version.version, &format!("{}{rest}", names.join(" ")));
    }
    if let Some(order) = &tls.order {
        say("order", &format!("the {order}'s counts"));
    }
    if !tls.groups.is_empty() {
        let mut names: Vec<&str> = tls.groups.iter().map(|group| group.name.as_str()).collect();
        names.dedup();
        let rest = if tls.groups_complete || depth != Depth::Classes { "" } else { " (one of each class)" };
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        say("groups", &format!("{}{rest}", names.join(" ")));
    }
    print_sessions(tls);
    print_trust(tls);
    for leaf in tls.chains.iter().filter_map(|chain| chain.first()) {
        let mut names = leaf.dns.clone();
        names.extend(leaf.ips.iter().cloned());
        say(
            "certificate",
            &format!(
                "{}, {}, {}, until {}{}",
                leaf.subject,
                leaf.key,
                leaf.signature,
                show::day(Some(leaf.not_after_unix)),
                if names.is_empty() { String::new() } else { format!(", for {}", names.join(" ")) }
            ),
        );
    }
}

/// What shows behind a finished handshake.
fn print_sessions(tls: &TlsRow) {
    let is = |feature: &str| tls.features.get(feature).and_then(Option::as_deref) == Some("yes");
    let with = |name: &str, lifetime_s: Option<u64>| match lifetime_s {
        Some(lifetime_s) if lifetime_s > 0 => format!("{name} ({lifetime_s} s)"),
        _ => name.to_owned(),
    };
    let ways: Vec<String> = [
        ("resumption_by_id", "by id".to_owned()),
        ("resumption_by_ticket", with("by ticket", tls.ticket_lifetime_s)),
        ("resumption_by_psk", with("by PSK", tls.psk_lifetime_s)),
    ]
    .into_iter()
    .filter(|(feature, _)| is(feature))
    .map(|(_, way)| way)
    .collect();
    if !ways.is_empty() {
        say("sessions", &format!("go on {}", ways.join(", ")));
    }
    if is("client_certificate_required") {
        say("clients", "need a certificate");
    }
}

fn print_trust(tls: &TlsRow) {
    for row in &tls.trust {
        let which =
            if tls.chains.len() > 1 { format!(" (certificate {})", row.chain + 1) } else { String::new() };
        if row.trusted {
            say("trusted", &format!("by {}{which}", row.against));
        } else if row.against != "system store" {
            say("not trusted", &format!("by {}{which}: {}", row.against, row.why));
        }
    }
}

/// A label and a text beside it, broken at spaces.
fn say(label: &str, text: &str) {
    let mut label = label;
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > TEXT_WIDTH {
            println!("  {label:<12} {line}");
            label = "";
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    println!("  {label:<12} {line}");
}
