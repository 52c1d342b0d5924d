//! `sealion audit`.

mod fix_plan;
mod leak;
mod map;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::report::formats::audit::AUDIT_FORMATS;
use ::report::shape::{AuditReport, SeverityWord};
use clap::{Args, ValueEnum};
use model::{Finding, Severity, Verdict};
use site::OpsError;

use crate::findings::by_rule;
use crate::options::{Connect, DEFAULT_INVENTORY, Format, Global, SeverityArg, connect, formats};
use crate::show;

const FORMATS: &[Format] = &[
    Format::Table,
    Format::Json,
    Format::Csv,
    Format::Sarif,
    Format::Junit,
    Format::Prometheus,
    Format::Html,
];

#[derive(Debug, Args)]
#[command(
    arg = formats(FORMATS),
    after_long_help = "Examples:
  sealion audit -h db1 -u sealion_audit -p
  sealion audit --fail-on high
  sealion audit -h db1 -u root -p --fix-plan
  sealion audit --if disk
  sealion audit --profile pci --fail-on medium
  sealion audit --format sarif --baseline last-week.json
  sealion audit --format html > audit.html
  sealion audit --print-grants --flavour mysql
  sealion audit --search --search-dir /data/backups

Exit codes: 0 no finding at or above --fail-on, 1 at least one, 3 a server did not answer (to the end) or, with --fail-on, a rule
could not be judged."
)]
pub struct AuditArgs {
    /// Print the statements that create an account for it, and do nothing else
    ///
    /// Print the statements that create an account for this command, with the least privileges that leave nothing unknown, and do
    /// nothing else.
    #[arg(long)]
    pub print_grants: bool,
    /// With --print-grants: only those for this flavour
    #[arg(long, value_enum, value_name = "FLAVOUR", requires = "print_grants")]
    pub flavour: Option<FlavourArg>,
    /// Print what fixes the findings, in an order that breaks nobody
    ///
    /// Print what fixes the findings, as SQL, option lines and commands, in an order that breaks nobody: TLS is offered before an account
    /// requires it, accounts come before require_secure_transport, and a step that would refuse a connected client says so. Nothing is
    /// changed.
    #[arg(long, conflicts_with = "print_grants")]
    pub fix_plan: bool,
    /// Print what could be read by who has got hold of one thing: disk, backup, link, host, app-account=NAME
    ///
    /// Print what could be read by somebody who has got hold of one thing, and the findings that make it so: disk (the server's disks without
    /// the machine), backup, link (a place on the network), host (an account on the machine, neither root nor the server's),
    /// app-account=NAME (an account of the server, as an injected statement has it). Accepted findings are among them; nothing is changed.
    #[arg(long = "if", value_name = "LEAK", conflicts_with_all = ["print_grants", "fix_plan", "baseline"])]
    pub if_leaks: Option<audit_ops::Wanted>,
    /// Search the machine too: secrets in logs and histories, dumps and copies
    ///
    /// Search the files of the server's machine too: passwords and keys in general, slow, error and audit logs, in binary and relay logs, and in
    /// the histories of clients; dumps, backup streams and copies of tablespaces in cleartext, by the first bytes of every file around the data
    /// directory, in homes, in temporary directories and where backups usually lie. Whole logs are read. No value is told, and what could not be
    /// read is unknown.
    #[arg(long, conflicts_with = "print_grants")]
    pub search: bool,
    /// With --search: look for dumps and copies in this directory too; may be given several times
    #[arg(long, value_name = "DIR", requires = "search", hide_short_help = true)]
    pub search_dir: Vec<PathBuf>,
    /// Show only what changed since this JSON file was written
    ///
    /// Show only what changed since this JSON file of an audit was written; --fail-on then counts only new findings.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["print_grants", "fix_plan"])]
    pub baseline: Option<PathBuf>,
    /// Show only the rules that bear on a standard, in its order
    ///
    /// Show only the rules that bear on a standard, in its order, each with the requirement; --fail-on then counts only these. That none of them
    /// fails is not conformity with it. Standards: PCI DSS 4.0.1, CIS Oracle MySQL Enterprise Edition 5.7 Benchmark 1.0.0, HIPAA (45 CFR 164.312).
    #[arg(long, value_enum, value_name = "PROFILE", default_value = "all", hide_default_value = true, conflicts_with_all = ["print_grants", "if_leaks", "fix_plan"])]
    pub profile: ProfileArg,
    /// Exit with 1 if a finding has this severity or a higher one
    ///
    /// Exit with 1 if a finding has this severity or a higher one, with 3 if a rule could not be judged. Findings that sealion.toml
    /// accepts do not count until they expire.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<SeverityArg>,
    #[command(flatten)]
    pub connect: Connect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlavourArg {
    Mariadb,
    Mysql,
}

impl FlavourArg {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mariadb => "mariadb",
            Self::Mysql => "mysql",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileArg {
    Pci,
    Cis,
    Hipaa,
    All,
}

impl ProfileArg {
    fn profile(self) -> Option<&'static rules::profiles::Profile> {
        rules::profiles::profile(match self {
            Self::Pci => "pci",
            Self::Cis => "cis",
            Self::Hipaa => "hipaa",
            Self::All => return None,
        })
    }
}

pub fn audit(global: &Global, args: &AuditArgs) -> Result<u8, OpsError> {
    if args.print_grants {
        let is_wanted = |row: &&audit_ops::FlavourRow| args.flavour.is_none_or(|one| one.name() == row.name);
        let texts: Vec<String> =
            audit_ops::FLAVOURS.iter().filter(is_wanted).map(audit_ops::print_grants).collect();
        show::out(texts.join("\n").trim_end());
        return Ok(0);
    }
    if args.fix_plan && !matches!(global.format, Format::Table | Format::Json) {
        return Err(OpsError::usage(
            format!("a fix plan cannot be written as {}", global.format.name()),
            "it is steps in an order, and that format has findings",
            "use --format table or json, or leave out --fix-plan",
        ));
    }
    if args.if_leaks.is_some() && !matches!(global.format, Format::Table | Format::Json) {
        return Err(OpsError::usage(
            format!("what leaks cannot be written as {}", global.format.name()),
            "that format has all findings",
            "use --format table or json, or leave out --if",
        ));
    }
    if let Some(dir) = args.search_dir.iter().find(|dir| !dir.is_absolute()) {
        return Err(OpsError::usage(
            format!("{} is no absolute path", dir.display()),
            "it is searched on each server's machine, where nobody works in a directory",
            "begin it with /",
        ));
    }
    let mut earlier = args.baseline.as_deref().map(audit_ops::read_result).transpose()?;
    let cluster = connect::cluster(global, &args.connect)?;
    let search = args.search.then(|| audit_ops::SearchOptions {
        dirs: args.search_dir.clone(),
        ..audit_ops::SearchOptions::default()
    });
    let progress = search.as_ref().map(|search| Arc::clone(&search.progress));
    let ticker = show::Ticker::start(move |elapsed| {
        let so_far = progress.as_ref().map(|progress| progress.so_far()).filter(|so_far| so_far.files > 0);
        so_far.map_or_else(
            || "asking the servers".to_owned(),
            |so_far| {
                let read = show::read_so_far(so_far.read_bytes, so_far.all_bytes, elapsed);
                format!("{read}; {} files", so_far.files)
            },
        )
    });
    let mut audit = audit_ops::audit(&cluster, search.as_ref());
    drop(ticker);
    let acceptances =
        scan_ops::accepted::read(&global.inventory, global.inventory == Path::new(DEFAULT_INVENTORY))?;
    let mut report = audit_ops::report(&audit, &acceptances);
    if let Some(profile) = args.profile.profile() {
        audit_ops::choose(profile, &mut audit, &mut report);
        if let Some(earlier) = &mut earlier {
            earlier.findings.retain(|one| profile.place(&one.rule).is_some());
        }
    }
    if let (Some(path), Some(earlier)) = (&args.baseline, &earlier) {
        report.compare(&path.display().to_string(), earlier);
    }
    let limit = args.fail_on.map(|one| SeverityWord::from(Severity::from(one)));
    if let Some(wanted) = &args.if_leaks {
        let leaks = audit_ops::leak_report(&audit, wanted)?;
        leak::print(global, &leaks)?;
        report.findings = leaks.reads.into_iter().chain(leaks.unknown).map(|row| row.because).collect();
        return Ok(audit_ops::gate(&report, limit));
    }
    let other = AUDIT_FORMATS.iter().find(|(name, _)| *name == global.format.name());
    if args.fix_plan {
        fix_plan::print(global, &audit)?;
    } else if let Some((_, render)) = other {
        show::out(render(&report).trim_end());
    } else if global.format == Format::Json {
        show::out(
            &serde_json::to_string_pretty(&report)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?,
        );
    } else {
        show::out(rendered(&audit, &report).trim_end());
    }
    Ok(audit_ops::gate(&report, limit))
}

/// Accepted ones are counted, not shown; with a baseline only what is new is.
fn shown(audit: &audit_ops::Audit, report: &AuditReport) -> Vec<Finding> {
    let rows = report.findings.iter().zip(&audit.findings);
    rows.filter(|(row, _)| report.acceptance(row).is_none() && report.is_new(row))
        .map(|(_, finding)| finding.clone())
        .collect()
}

fn rendered(audit: &audit_ops::Audit, report: &AuditReport) -> String {
    let mut out = String::new();
    for server in &audit.servers {
        let what = match (&server.flavour, &server.version) {
            (Some(flavour), Some(version)) => show::visible(&format!("{flavour} {version}")),
            _ => "not audited".into(),
        };
        out += &format!("{}  {what}\n", show::bold(&server.name));
        if let Some(account) = &server.account {
            let how = if server.is_tls { "TLS" } else { "no TLS" };
            let account = show::visible(account);
            out += &format!("  asked as {account} over {}, {how}\n", server.address);
        }
        if let Some(why) = &server.why_not {
            for line in why.lines() {
                out += &format!("  {}\n", show::red(&show::visible(line)));
            }
        }
    }
    if let Some(profile) = &report.profile {
        let what = format!("rules that bear on {}; that none fails is not conformity", profile.standard);
        out += &format!("\n{}\n", show::wrapped("", &what));
    }
    out += &map::rendered(report);
    let findings = shown(audit, report);
    let groups = by_rule(&findings);
    if !groups.is_empty() {
        out.push('\n');
    }
    for group in &groups {
        out += &group.rendered();
        if let Some(requirement) = report.requirement(&group.first.rule) {
            out += &show::wrapped(&format!("{:14}", ""), &requirement);
            out.push('\n');
        }
        if let Verdict::Fail(_) = group.first.verdict {
            out += &format!("{}\n", remedy_line(&group.first.remedy));
        }
    }
    let count = |is: fn(&Verdict) -> bool| audit.findings.iter().filter(|one| is(&one.verdict)).count();
    if !audit.servers.is_empty() && audit.servers.iter().all(|server| server.version.is_none()) {
        return out + "\nnothing was judged: no server was audited\n";
    }
    out += &format!(
        "\n{} failed, {} unknown, {} passed, {} not applicable\n",
        count(|verdict| matches!(verdict, Verdict::Fail(_))),
        count(|verdict| matches!(verdict, Verdict::Unknown(_))),
        count(|verdict| matches!(verdict, Verdict::Pass)),
        count(|verdict| matches!(verdict, Verdict::NotApplicable)),
    );
    let accepted = report.accepted.iter().filter(|one| !one.is_expired).count();
    if accepted > 0 {
        out += &format!("{accepted} of them accepted in sealion.toml, and not shown here\n");
    }
    for one in report.accepted.iter().filter(|one| one.is_expired) {
        let text = show::visible(&format!("{} of {}: accepted until {}", one.rule, one.subject, one.until));
        out += &format!("expired: {text}\n");
    }
    if let Some(baseline) = &report.baseline {
        let (new, gone) = (baseline.appeared.len(), baseline.gone.len());
        out += &format!("since {}: {new} new, {gone} gone\n", show::visible(&baseline.file));
        for one in &baseline.gone {
            out += &format!("  gone: {} {}\n", one.rule, show::visible(&one.subject));
        }
    }
    if let Some(first) = groups.first() {
        out +=
            &format!("next: sealion explain {}   what a rule means, and how to fix it\n", first.first.rule);
    }
    out
}

const REMEDY: &str = "              remedy: ";

/// Of what failed, for the first account by name. A statement stays one line, however long: broken inside of quotes it
/// names another account.
fn remedy_line(remedy: &str) -> String {
    let shown = show::visible(remedy);
    if shown != remedy {
        return format!(
            "{REMEDY}{shown}\n{:14}(with characters that are not shown as they are: copy it from --format json)",
            ""
        );
    }
    if shown.contains(['\'', '`']) { format!("{REMEDY}{shown}") } else { show::wrapped(REMEDY, &shown) }
}

#[cfg(test)]
mod tests {
    use super::remedy_line;

    #[test]
    fn a_statement_is_not_broken_and_an_unseen_character_is_told() {
        let long = format!("ALTER USER '{}'@'%' REQUIRE SSL", "a b ".repeat(30).trim_end());
        assert_eq!(remedy_line(&long).lines().count(), 1);
        assert!(remedy_line(&long).ends_with(&long));
        assert!(remedy_line("words ".repeat(30).trim_end()).lines().count() > 1);
        let unseen = remedy_line("DROP USER '\x1b[1A'@'%'");
        assert!(!unseen.contains('\x1b') && unseen.contains("--format json"), "{unseen}");
    }
}
