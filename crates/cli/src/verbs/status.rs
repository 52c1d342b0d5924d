//! `sealion status`.

mod disk;
mod line;
mod rest;

use change_ops::unfinished::unfinished;
use clap::Args;
use model::link::some_of;
use model::{Clock, Severity, SystemClock, Verdict};
use site::OpsError;
use status_ops::status::DateOf;

use crate::findings::{RuleFindings, by_rule, exit_code};
use crate::options::{Connect, Format, Global, SeverityArg, connect, formats};
use crate::show;

/// `line`: one a node, for scripts and monitoring plugins.
const FORMATS: &[Format] = &[Format::Table, Format::Json, Format::Line];

#[derive(Debug, Args)]
#[command(
    arg = formats(FORMATS),
    args_conflicts_with_subcommands = true,
    after_long_help = "Examples:
  sealion status --canaries
  sealion status --look-ms 0 --format line
  sealion status -h db1 -u monitor -p --ssl-mode=VERIFY_IDENTITY

Exit codes: 0 no finding at or above --fail-on, 1 at least one, 3 a server did not answer or, with --fail-on, a rule could not be
judged."
)]
pub struct StatusArgs {
    #[command(subcommand)]
    pub what: Option<StatusCommand>,
    /// Capture traffic for this long; 0 captures nothing
    #[arg(long, value_name = "MS", default_value_t = 1500)]
    pub look_ms: u64,
    /// Write a test row on every node while capturing
    ///
    /// Write a test row (a canary) on every node while capturing, so that idle links carry something. The rows are written to the
    /// schema sealion_canary and removed again.
    #[arg(long)]
    pub canaries: bool,
    /// Exit with 1 if a finding has this severity or a higher one
    ///
    /// Exit with 1 if a finding has this severity or a higher one, with 3 if a rule could not be judged.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
    #[command(flatten)]
    pub connect: Connect,
}

#[derive(Debug, clap::Subcommand)]
pub enum StatusCommand {
    /// Show what the files of a data directory hold: encrypted, plain, or both
    Rest(Box<rest::StatusRestArgs>),
    /// Show what lies below a data directory, and what a LUKS header says
    Disk(Box<disk::StatusDiskArgs>),
}

/// What can be planned for the servers that were looked at.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// Their files are not in reach, or a change is open.
    None,
    OfNodes,
    OfServers,
}

/// So many refused logins of a link are named.
const REFUSED_NAMED_MAX: usize = 5;

pub fn status(global: &Global, args: &StatusArgs) -> Result<u8, OpsError> {
    match &args.what {
        Some(StatusCommand::Rest(args)) => return rest::rest(global, args),
        Some(StatusCommand::Disk(args)) => return disk::disk(global, args),
        None => {}
    }
    let cluster = connect::cluster(global, &args.connect)?;
    let started_unix_ms = model::Clock::unix_ms(&model::SystemClock);
    // Of the nodes of an inventory others may answer; of one server there is nothing else.
    if !cluster.has_files {
        status_ops::status::reach(&cluster)?;
    }
    let look_s = args.look_ms as f64 / 1000.0;
    let ticker = show::Ticker::start(move |elapsed| {
        let left_s = (look_s - elapsed.as_secs_f64()).max(0.0);
        format!("capturing traffic, {} left", show::duration(left_s))
    });
    let status = status_ops::status::status(&cluster, args.look_ms, args.canaries);
    drop(ticker);
    if let Some(why) = change_ops::history::keep_status(&cluster, started_unix_ms, &status) {
        eprintln!("note: this run could not be saved: {why}");
    }
    if global.format == Format::Line {
        let now_unix = i64::try_from(started_unix_ms / 1000).unwrap_or(i64::MAX);
        for line in line::lines(&status, now_unix) {
            show::out(&line);
        }
        return Ok(code(&status, args));
    }
    let open = if cluster.has_files { unfinished(&cluster)? } else { None };
    let unproven = if cluster.has_files { change_ops::roll::unproven(&cluster)? } else { None };
    let lease = if cluster.has_files { change_ops::lease::holder(&cluster) } else { Ok(None) };
    let is_held = matches!(lease, Ok(Some(_)));
    let lease = match lease {
        Ok(held) => held.map(|held| held.holder),
        Err(why) => Some(format!("not known ({why})")),
    };
    if global.format == Format::Json {
        let json = serde_json::json!({
            "schema": "sealion/status/1",
            "sealion_version": env!("CARGO_PKG_VERSION"),
            "cluster": status.cluster,
            "nodes": status.nodes,
            "links": status.sights,
            "findings": status.findings,
            "observations": status.observations,
            "not_looked_at": status.not_looked_at,
            "not_applicable": status.not_applicable,
            "notes": status.notes,
            "open_change": open.as_ref().map(|open| open.plan.id.as_str()),
            "unproven_change": unproven.as_deref(),
            "lease": lease,
        });
        println!(
            "{}",
            serde_json::to_string_pretty(&json)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?
        );
    } else {
        if let (Some(open), true) = (&open, is_held) {
            println!("{} {}", show::bold("CHANGE IN PROGRESS"), open.describe_running());
        } else if let Some(open) = &open {
            println!(
                "{} {}\n  next: sealion resume (continues), sealion undo (reverts), or sealion abandon (closes it as it is)\n",
                show::red("UNFINISHED CHANGE"),
                open.describe()
            );
        }
        if let Some(holder) = &lease {
            println!("{} {}", show::bold("running now:"), said_once(holder, &status));
        }
        if let Some(unproven) = &unproven {
            println!("{} {unproven}", show::bold("closed without verification:"));
        }
        // One change at a time, of servers whose files are in reach.
        let is_node = |row: &status_ops::status::Row| row.what == "galera";
        let has_nodes = status.nodes.iter().any(|node| node.rows.iter().any(is_node));
        let change = match (cluster.has_files && open.is_none(), has_nodes) {
            (false, _) => Change::None,
            (true, true) => Change::OfNodes,
            (true, false) => Change::OfServers,
        };
        print_status(&status, change, args.canaries);
    }
    Ok(code(&status, args))
}

/// Why a node could not be asked for its lease is what it could not be asked for anything else: that is said with the node.
fn said_once(holder: &str, status: &status_ops::status::Status) -> String {
    let silent = status.nodes.iter().filter_map(|node| Some((&node.node, node.why_not.as_ref()?)));
    let mut text = holder.to_owned();
    for (node, why) in silent {
        // "not known (n1: nothing could be asked of db1: …)"
        if let Some((_, reason)) =
            holder.strip_suffix(')').and_then(|text| text.split_once(&format!("({node}: ")))
            && why.contains(reason)
        {
            text = format!("not known ({node} does not answer, see below)");
        }
    }
    text
}

fn code(status: &status_ops::status::Status, args: &StatusArgs) -> u8 {
    if status.nodes.iter().all(|node| node.version.is_none()) {
        return 3;
    }
    let is_blind = status.nodes.iter().any(|node| node.version.is_none());
    exit_code(&status.findings, args.fail_on.map(Severity::from), is_blind)
}

/// A server that answered. An arbitrator has no SQL, and tells nothing of the cluster.
fn tells(node: &status_ops::status::NodeStatus) -> bool {
    node.why_not.is_none() && node.version.is_some() && node.state != "arbitrator"
}

fn print_status(status: &status_ops::status::Status, change: Change, has_canaries: bool) {
    let cluster = &status.cluster;
    let is_outside = |node: &status_ops::status::NodeStatus| {
        !node.rows.is_empty()
            && node.rows.iter().all(|row| ["client", "admin", "replication"].contains(&row.what.as_str()))
    };
    if !status.nodes.iter().any(tells) {
        println!("{} {}", show::bold("cluster"), cluster.name);
        println!("  no server answered: what they are is not known");
    } else if status.nodes.iter().all(is_outside) && !status.not_applicable.is_empty() {
        let what = if status.nodes.len() == 1 { "server" } else { "servers" };
        println!("{} {}", show::bold(what), cluster.name);
        for node in &status.nodes {
            println!("  version      {}", node.version.as_deref().unwrap_or("not known"));
        }
        println!("  system       {}", cluster.os_class);
    } else {
        println!("{} {}", show::bold("cluster"), cluster.name);
        println!("  address      {}", cluster.address);
        println!(
            "  Galera port  {}   arbitrators {}   members {}",
            cluster.galera_port, cluster.arbitrators, cluster.size
        );
        println!("  system       {}   Galera {}", cluster.os_class, cluster.galera_version);
    }
    let (mut rows, mut below) = (Vec::new(), Vec::new());
    let now_unix = i64::try_from(SystemClock.unix_ms() / 1000).unwrap_or(i64::MAX);
    for node in &status.nodes {
        for (at, row) in node.rows.iter().enumerate() {
            rows.push(vec![
                if at == 0 { node.node.clone() } else { String::new() },
                row.what.clone(),
                row.configured.clone(),
                row.effective.clone(),
                show::seen(&row.seen),
                expires(row, now_unix),
            ]);
        }
        if !node.state.is_empty()
            && node.state != "arbitrator"
            && !node.state.starts_with("Synced, Primary")
            && !is_outside(node)
            && node.why_not.is_none()
        {
            below.push(format!("{} state: {}", node.node, node.state));
        }
        if let Some(why) = &node.why_not {
            let dash = || "-".to_owned();
            rows.push(vec![node.node.clone(), "no answer".into(), dash(), dash(), dash(), dash()]);
            let why = why.lines().map(str::trim).collect::<Vec<_>>().join("; ");
            below.push(format!("{} no answer: {why}", node.node));
        }
    }
    println!("{}", show::table(&["node", "traffic", "configured", "effective", "seen", "expires"], rows));
    for line in below {
        println!("{}", show::fitted("  ", &line));
    }
    for node in &status.nodes {
        for row in node.rows.iter().filter(|row| row.certificate.is_some()) {
            let path = |path: &Option<std::path::PathBuf>| {
                path.as_ref().map_or_else(|| "-".into(), |path| path.display().to_string())
            };
            println!(
                "  {} {:<8} key {}  certificate {}",
                node.node,
                row.what.split(' ').next().unwrap_or(""),
                path(&row.key),
                path(&row.certificate)
            );
        }
    }
    print_findings(status, change, has_canaries);
    for line in &status.not_applicable {
        println!("not applicable: {line}");
    }
    for sight in status.sights.iter().filter(|sight| !sight.refused_logins.is_empty()) {
        let who = some_of(&sight.refused_logins, REFUSED_NAMED_MAX);
        let link = sight.link.to_string();
        let text = format!(
            "{}: {who}; no session followed, but the login packet could be read",
            model::text::said(&link)
        );
        println!("{}", show::fitted("cleartext logins refused: ", &text));
    }
    for line in &status.notes {
        println!("note: {line}");
    }
    // Of who did not answer it is said above.
    let is_said = |line: &&String| {
        status
            .nodes
            .iter()
            .any(|node| node.why_not.is_some() && line.starts_with(&format!("{0}: {0} ", node.node)))
    };
    for line in status.not_looked_at.iter().filter(|line| !is_said(line)) {
        println!("not checked: {line}");
    }
}

/// A date of a file is marked where the certificate that is served now could not be read.
fn expires(row: &status_ops::status::Row, now_unix: i64) -> String {
    let is_over = row.not_after_unix.is_some_and(|end| end < now_unix);
    let day = if is_over { show::red("expired") } else { show::day(row.not_after_unix) };
    match (&row.served_unknown, row.not_after_of) {
        (Some(_), Some(DateOf::File)) => format!("{day} (file)"),
        (Some(_), _) => "unknown".into(),
        (None, _) => day,
    }
}

fn print_findings(status: &status_ops::status::Status, change: Change, has_canaries: bool) {
    let groups = by_rule(&status.findings);
    if groups.is_empty() {
        println!("{}", show::green("no findings"));
        return;
    }
    println!();
    for group in &groups {
        print!("{}", group.rendered());
    }
    let is_unknown = |sight: &model::LinkSight| matches!(sight.seen, model::Seen::Unknown(_));
    let is_idle = !has_canaries && status.sights.iter().any(is_unknown);
    // A change needs servers that answer; what to do about those is said with each.
    let change = if status.nodes.iter().any(tells) { change } else { Change::None };
    for line in next_commands(&groups, change, is_idle) {
        println!("{line}");
    }
}

/// What a person would type now.
fn next_commands(groups: &[RuleFindings<'_>], change: Change, is_idle: bool) -> Vec<String> {
    let failed = |group: &&RuleFindings<'_>| matches!(group.first.verdict, Verdict::Fail(_));
    let Some(first) = groups.first() else { return vec![] };
    let mut nouns: Vec<&str> = Vec::new();
    for noun in ["galera", "sst", "replication", "clients"] {
        let helps =
            |group: &RuleFindings<'_>| group.first.remedy.starts_with(&format!("sealion enable {noun}"));
        if groups.iter().filter(failed).any(helps) {
            nouns.push(noun);
        }
    }
    let mut commands = Vec::new();
    match change {
        Change::OfNodes if !nouns.is_empty() => {
            commands.push(format!("sealion plan enable {}", nouns.join(",")));
        }
        // Clients alone are refused where a replica connects without TLS, and replication alone where its source offers none.
        Change::OfServers if !nouns.is_empty() => commands.push("sealion plan enable".into()),
        _ => {}
    }
    if is_idle {
        commands.push(
            "sealion status --canaries   test rows, so that idle links carry something to check".into(),
        );
    }
    commands.push(format!("sealion explain {}   what a rule means, and how to fix it", first.first.rule));
    let mark = |at: usize| if at == 0 { "next: " } else { "      " };
    let lines = commands.iter().enumerate().map(|(at, command)| format!("{}{command}", mark(at)));
    std::iter::once(String::new()).chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use model::Finding;

    use super::*;

    #[test]
    fn what_is_next_names_the_change_and_the_test_rows_of_an_idle_link() {
        let finding = |rule: &str, verdict, remedy: &str| Finding {
            rule: rule.into(),
            title: String::new(),
            severity: Severity::High,
            subject: "n1".into(),
            verdict,
            observations: vec![],
            remedy: remedy.into(),
        };
        let all = [
            finding("SL1004", Verdict::Unknown("idle".into()), "sealion enable clients"),
            finding("SL2001", Verdict::Fail("no certificate".into()), "sealion enable clients"),
            finding("SL3101", Verdict::Fail("plain".into()), "sealion enable replication"),
        ];
        let groups = by_rule(&all);
        let lines = next_commands(&groups, Change::OfNodes, true);
        assert_eq!(lines[1], "next: sealion plan enable replication,clients");
        assert!(lines[2].starts_with("      sealion status --canaries"), "{lines:?}");
        assert!(lines[3].starts_with("      sealion explain SL1004"), "{lines:?}");
        let lines = next_commands(&groups[..1], Change::OfServers, true);
        assert!(lines[1].starts_with("next: sealion status --canaries"), "{lines:?}");
        assert_eq!(next_commands(&groups, Change::OfServers, false)[1], "next: sealion plan enable");
        assert_eq!(next_commands(&groups, Change::None, false).len(), 2);
    }
}
