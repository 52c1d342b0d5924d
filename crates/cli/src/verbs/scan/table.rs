//! The table of a scan: one screen per host, worst first; then what shows over all of them.

use std::fmt::Write;

use ::report::shape::{ChangesRow, FindingRow, ScanReport, SeverityWord, TargetRow, TlsRow, VerdictWord};
use ::scan::interrogation::Depth;

use crate::show;

/// Text beside a label stays within 80 columns.
const TEXT_WIDTH: usize = 64;
/// Who wants the rest reads the JSON.
const ROTATIONS_SHOWN: usize = 5;
const HOSTS_SHOWN: usize = 10;

pub fn print_row(out: &mut String, row: &TargetRow, depth: Depth) {
    let Some(service) = &row.service else {
        put(out, format_args!("{}  {}\n", show::bold(&row.target), row.not_seen.join("; ")));
        return;
    };
    let who = match (&service.flavour, &service.version) {
        (Some(flavour), Some(version)) => format!("{flavour} {version}"),
        _ => format!("{} ({})", service.protocol, row.port_use),
    };
    let grade = row.grade.as_ref().map_or_else(|| "no grade".to_owned(), |grade| format!("grade {grade}"));
    put(out, format_args!("{}  {who}  {}{}", show::bold(&row.target), show::bold(&grade), grade_cause(row)));
    if !service.note.is_empty() {
        say(out, "note", &service.note);
    }
    if row.grade.is_none() && !row.grade_why.is_empty() {
        say(out, "", &row.grade_why);
    }
    if let Some(key) = &service.public_key {
        say(
            out,
            "RSA key",
            &format!("sent in cleartext by {}: {} bits, SHA-256 {}", key.plugin, key.bits, key.sha256),
        );
    }
    if let Some(tls) = &row.tls {
        print_tls(out, tls, depth);
    }
    let mut bad: Vec<&FindingRow> = row
        .findings
        .iter()
        .filter(|one| matches!(one.verdict, VerdictWord::Fail | VerdictWord::Unknown))
        .collect();
    let is_accepted = |one: &FindingRow| row.acceptance(&one.rule).is_some();
    bad.sort_by_key(|one| {
        (is_accepted(one), one.verdict != VerdictWord::Fail, std::cmp::Reverse(one.severity))
    });
    for one in bad {
        let verdict =
            if one.verdict == VerdictWord::Fail { one.severity.to_string() } else { "unknown".into() };
        let text = format!("{:<8} {}", verdict, if one.why.is_empty() { &one.title } else { &one.why });
        let is_alarming = one.severity >= SeverityWord::High && one.verdict == VerdictWord::Fail;
        if let Some(accepted) = row.acceptance(&one.rule) {
            say(out, &one.rule, &text);
            say(out, "", &format!("accepted until {}: {}", accepted.until, accepted.reason));
            continue;
        }
        say(out, &one.rule, &if is_alarming { show::red(&text) } else { text });
        if let Some(expired) = row.expired(&one.rule) {
            say(out, "", &format!("accepted until {}, which has expired: {}", expired.until, expired.reason));
        }
    }
    for why in &row.not_seen {
        say(out, "not checked", why);
    }
    say(
        out,
        "",
        &format!(
            "{}, {}, {:.1} ms",
            model::text::counted(row.connections, "connection", "connections"),
            model::text::counted(row.handshakes, "handshake", "handshakes"),
            row.elapsed_ms
        ),
    );
    out.push('\n');
}

fn print_tls(out: &mut String, tls: &TlsRow, depth: Depth) {
    let by = |taken: &str| -> Vec<&str> {
        tls.versions.iter().filter(|one| one.taken == taken).map(|one| one.version.as_str()).collect()
    };
    say(out, "accepted", &by("yes").join(" "));
    let refused = by("no");
    if !refused.is_empty() {
        say(out, "rejected", &refused.join(" "));
    }
    for version in tls.versions.iter().filter(|one| !one.suites.is_empty()) {
        let names: Vec<&str> =
            version.suites.iter().map(|suite| suite.openssl.as_deref().unwrap_or(&suite.iana)).collect();
        let rest = match (version.suites_complete, depth) {
            (true, _) => "",
            (false, Depth::Classes) => " (one of each class; --full lists all)",
            (false, _) => " (there may be more)",
        };
        say(out, &version.version, &format!("{}{rest}", names.join(" ")));
    }
    if let Some(order) = &tls.order {
        say(out, "cipher order", &format!("{order} preference"));
    }
    if !tls.groups.is_empty() {
        let mut names: Vec<&str> = tls.groups.iter().map(|group| group.name.as_str()).collect();
        names.dedup();
        let rest = match (tls.groups_complete, depth) {
            (true, _) => "",
            (false, Depth::Classes) => " (one of each class)",
            (false, _) => " (there may be more)",
        };
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        say(out, "groups", &format!("{}{rest}", names.join(" ")));
    }
    print_sessions(out, tls);
    print_trust(out, tls);
    for (place, chain) in tls.chains.iter().enumerate() {
        let Some(leaf) = chain.first() else { continue };
        let mut names = leaf.dns.clone();
        names.extend(leaf.ips.iter().cloned());
        say(
            out,
            "certificate",
            &format!(
                "{}{}, {}, {}, until {}{}",
                if tls.chain_without_name == Some(place) { "for clients without SNI: " } else { "" },
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
fn print_sessions(out: &mut String, tls: &TlsRow) {
    let is = |feature: &str| tls.features.get(feature).and_then(Option::as_deref) == Some("yes");
    let with = |name: &str, lifetime_s: Option<u64>| match lifetime_s {
        Some(lifetime_s) if lifetime_s > 0 => format!("{name} ({lifetime_s} s)"),
        _ => name.to_owned(),
    };
    let ways: Vec<String> = [
        ("resumption_by_id", "session ID".to_owned()),
        ("resumption_by_ticket", with("ticket", tls.ticket_lifetime_s)),
        ("resumption_by_psk", with("PSK", tls.psk_lifetime_s)),
    ]
    .into_iter()
    .filter(|(feature, _)| is(feature))
    .map(|(_, way)| way)
    .collect();
    if !ways.is_empty() {
        say(out, "resumption", &ways.join(", "));
    }
    if is("client_certificate_required") {
        say(out, "clients", "must have a certificate");
    }
}

fn print_trust(out: &mut String, tls: &TlsRow) {
    let has_named_ca = tls.trust.iter().any(|row| row.against != SYSTEM_STORE);
    for row in &tls.trust {
        let which =
            if tls.chains.len() > 1 { format!(" (certificate {})", row.chain + 1) } else { String::new() };
        if row.trusted {
            say(out, "trusted", &format!("by {}{which}", row.against));
        } else if row.against != SYSTEM_STORE {
            say(out, "not trusted", &format!("by {}{which}: {}", row.against, row.why));
        } else if !has_named_ca {
            // Usual for a database server, so it is no finding.
            let text = format!(
                "by the {}{which}: {}; --ssl-ca FILE verifies against your own CA",
                row.against, row.why
            );
            say(out, "not trusted", &text);
        }
    }
}

/// As `against` says where no CA was named.
const SYSTEM_STORE: &str = "system store";

/// The worst failed findings decide the letter: which these are.
fn grade_cause(row: &TargetRow) -> String {
    const RULES_SHOWN: usize = 3;
    let failed = || row.findings.iter().filter(|one| one.verdict == VerdictWord::Fail);
    let worst = failed().map(|one| one.severity).max().filter(|worst| *worst > SeverityWord::Info);
    let (Some(worst), true) = (worst, row.grade.is_some()) else { return String::new() };
    let rules: Vec<&str> =
        failed().filter(|one| one.severity == worst).map(|one| one.rule.as_str()).collect();
    let shown = rules.iter().take(RULES_SHOWN).copied().collect::<Vec<_>>().join(", ");
    let more = if rules.len() > RULES_SHOWN { ", ..." } else { "" };
    format!(" ({worst}: {shown}{more})")
}

/// Writing into a String cannot fail.
pub fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
    out.push('\n');
}

/// A label and a text beside it, broken at spaces.
fn say(out: &mut String, label: &str, text: &str) {
    let mut label = label;
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > TEXT_WIDTH {
            put(out, format_args!("  {label:<12} {line}"));
            label = "";
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    put(out, format_args!("  {label:<12} {line}"));
}

/// What shows only over all targets.
pub fn print_across(out: &mut String, report: &ScanReport) {
    if report.targets.len() < 2 {
        return;
    }
    if !report.reused_keys.is_empty() {
        put(out, format_args!("{}", show::bold("keys on more than one host")));
        for one in &report.reused_keys {
            let what = if one.same_certificate { "one certificate" } else { "several certificates" };
            let hosts: Vec<&str> = one.hosts.iter().take(HOSTS_SHOWN).map(String::as_str).collect();
            let rest = match one.hosts.len().saturating_sub(HOSTS_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            say(out, &one.key, &format!("{what} on {}{rest}", hosts.join(", ")));
        }
        out.push('\n');
    }
    if !report.rotates_next.is_empty() {
        put(out, format_args!("{}", show::bold("certificates that expire next")));
        for one in report.rotates_next.iter().take(ROTATIONS_SHOWN) {
            let rest = match one.targets.len() {
                0 | 1 => String::new(),
                more => format!(" and {} more", more - 1),
            };
            let first = one.targets.first().map_or("", String::as_str);
            say(out, &show::day(Some(one.not_after_unix)), &format!("{first}{rest}: {}", one.subject));
        }
        out.push('\n');
    }
}

/// Only what is not as it was.
pub fn print_changes(out: &mut String, changes: &ChangesRow) {
    let then = show::day(i64::try_from(changes.baseline_ended_unix_ms / 1000).ok());
    let what =
        if changes.targets.is_empty() && changes.new_targets.is_empty() && changes.gone_targets.is_empty() {
            "no changes since"
        } else {
            "changes since"
        };
    put(out, format_args!("{}\n", show::bold(&format!("{what} {} ({then})", changes.baseline))));
    for (label, targets) in [("new", &changes.new_targets), ("gone", &changes.gone_targets)] {
        for target in targets {
            say(out, label, &format!("target {target}"));
        }
    }
    if !changes.new_targets.is_empty() || !changes.gone_targets.is_empty() {
        out.push('\n');
    }
    for one in &changes.targets {
        put(out, format_args!("{}", show::bold(&one.target)));
        for (label, findings) in [("new", &one.appeared), ("went", &one.went)] {
            for finding in findings {
                let verdict = match finding.verdict {
                    VerdictWord::Unknown => "unknown".to_owned(),
                    _ => finding.severity.to_string(),
                };
                let why = if finding.why.is_empty() { &finding.title } else { &finding.why };
                let text = format!("{} {verdict:<8} {why}", finding.rule);
                let is_alarming = label == "new" && finding.severity >= SeverityWord::High;
                say(out, label, &if is_alarming { show::red(&text) } else { text });
            }
        }
        for change in &one.changed {
            let side = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
            say(
                out,
                "changed",
                &format!("{}: {} -> {}", change.what, side(&change.before), side(&change.after)),
            );
        }
        out.push('\n');
    }
}
