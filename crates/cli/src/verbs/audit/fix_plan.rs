//! `sealion audit --fix-plan`: the steps for people. A statement stays one line, so that it can be pasted.

use audit_ops::Audit;
use rules::fix::{FixPlan, FixStep};
use site::OpsError;

use crate::options::{Format, Global};
use crate::show;

pub fn print(global: &Global, audit: &Audit) -> Result<(), OpsError> {
    let plan = audit_ops::fix_plan(audit);
    if global.format == Format::Json {
        let report = audit_ops::fix_report(audit, &plan);
        show::out(
            &serde_json::to_string_pretty(&report)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?,
        );
    } else {
        show::out(rendered(audit, &plan).trim_end());
    }
    Ok(())
}

fn rendered(audit: &Audit, plan: &FixPlan) -> String {
    let mut out = String::new();
    for server in audit.servers.iter().filter(|one| one.why_not.is_some()) {
        out += &format!("{}  not audited: nothing is planned for it\n", show::bold(&server.name));
    }
    for (number, step) in (1..).zip(&plan.steps) {
        out += &of_step(number, step);
    }
    if plan.steps.is_empty() {
        out += "No finding has a step that fixes it.\n";
    }
    if !plan.by_hand.is_empty() {
        out += "\nBy hand:\n";
    }
    let of = |place: &usize| audit.findings.get(*place).map(|finding| (*place, finding));
    for (place, finding) in plan.by_hand.iter().filter_map(of) {
        let text = show::visible(&format!("{}: {}", finding.subject, plan.remedy(place, finding)));
        out += &format!("{}\n", show::wrapped(&format!("  {}  ", finding.rule), &text));
    }
    out += "\nnext: sealion audit   when the steps are done\n";
    out
}

fn of_step(number: usize, step: &FixStep) -> String {
    let head = format!("{number:>3}. ");
    let indent = " ".repeat(head.len());
    let server = step.server.as_deref().map_or_else(|| "all nodes".to_owned(), show::visible);
    let mut out = format!("{head}{}  {}\n", show::bold(&server), step.stage.title());
    let mut say = |mark: &str, text: &str| {
        out += &format!("{}\n", show::wrapped(&format!("{indent}{mark}"), &show::visible(text)));
    };
    for why in &step.waits_for {
        say("wait: ", why);
    }
    for what in &step.decide {
        say("check first: ", what);
    }
    if let Some(command) = step.command {
        out += &format!("{indent}{command}\n");
    }
    for sql in &step.sql {
        let shown = show::visible(sql);
        if shown == *sql {
            out += &format!("{indent}{sql};\n");
        } else {
            out += &format!(
                "{indent}{shown}\n{indent}(with characters that are not shown as they are: copy it from --format json)\n"
            );
        }
    }
    if let Some(command) = step.or_command {
        out += &format!("{indent}or, for nodes of an inventory: {command}\n");
    }
    if !step.option_lines.is_empty() {
        let restart = if step.needs_restart { ", then restart it" } else { ", so that a restart keeps it" };
        out += &format!("{indent}in the [mysqld] group of its option file{restart}:\n");
    }
    for line in &step.option_lines {
        out += &format!("{indent}  {line}\n");
    }
    let mut rules: Vec<&str> = step.mends.iter().map(|one| one.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    out + &format!("{}\n", show::wrapped(&format!("{indent}fixes "), &rules.join(", ")))
}
