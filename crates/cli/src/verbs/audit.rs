//! `sealion audit`.

mod fix_plan;

use clap::{Args, ValueEnum};
use model::{Severity, Verdict};
use site::OpsError;

use crate::findings::{by_rule, exit_code};
use crate::options::{Connect, Format, Global, SeverityArg, TABLE_OR_JSON, connect, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion audit -h db1 -u sealion_audit -p
  sealion audit --fail-on high
  sealion audit -h db1 -u root -p --fix-plan
  sealion audit --print-grants --flavour mysql

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
    /// Exit with 1 if a finding has this severity or a higher one
    ///
    /// Exit with 1 if a finding has this severity or a higher one, with 3 if a rule could not be judged.
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

pub fn audit(global: &Global, args: &AuditArgs) -> Result<u8, OpsError> {
    if args.print_grants {
        let is_wanted = |row: &&audit_ops::FlavourRow| args.flavour.is_none_or(|one| one.name() == row.name);
        let texts: Vec<String> =
            audit_ops::FLAVOURS.iter().filter(is_wanted).map(audit_ops::print_grants).collect();
        show::out(texts.join("\n").trim_end());
        return Ok(0);
    }
    let cluster = connect::cluster(global, &args.connect)?;
    let ticker = show::Ticker::start(|_| "asking the servers".to_owned());
    let audit = audit_ops::audit(&cluster);
    drop(ticker);
    if args.fix_plan {
        fix_plan::print(global, &audit)?;
    } else if global.format == Format::Json {
        let report = audit_ops::report(&audit);
        show::out(
            &serde_json::to_string_pretty(&report)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?,
        );
    } else {
        show::out(rendered(&audit).trim_end());
    }
    Ok(exit_code(&audit.findings, args.fail_on.map(Severity::from), audit.is_blind()))
}

fn rendered(audit: &audit_ops::Audit) -> String {
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
    let groups = by_rule(&audit.findings);
    if !groups.is_empty() {
        out.push('\n');
    }
    for group in &groups {
        out += &group.rendered();
        if let Verdict::Fail(_) = group.first.verdict {
            out += &format!("{}\n", remedy_line(&group.first.remedy));
        }
    }
    let count = |is: fn(&Verdict) -> bool| audit.findings.iter().filter(|one| is(&one.verdict)).count();
    out += &format!(
        "\n{} failed, {} unknown, {} passed, {} not applicable\n",
        count(|verdict| matches!(verdict, Verdict::Fail(_))),
        count(|verdict| matches!(verdict, Verdict::Unknown(_))),
        count(|verdict| matches!(verdict, Verdict::Pass)),
        count(|verdict| matches!(verdict, Verdict::NotApplicable)),
    );
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
