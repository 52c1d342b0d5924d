//! The plan that mends what an audit found, and its published shape.

use model::{Clock, Finding, SystemClock, Verdict};
use report::shape::{FIX_PLAN_SCHEMA_ID, FindingRow, FixPlanReport, FixStepRow, MendedRow};
use rules::fix::{FixPlan, FixServer, FixStep, Topology};

use crate::Audit;

/// What is to be done about it, in which order.
pub fn fix_plan(audit: &Audit) -> FixPlan {
    let servers: Vec<FixServer> = audit
        .servers
        .iter()
        .map(|row| FixServer {
            name: row.name.clone(),
            // As the capability table calls it.
            is_mariadb: row.flavour.as_ref().map(|flavour| *flavour == server::Flavour::MariaDb.to_string()),
        })
        .collect();
    let names: Vec<&str> = servers.iter().map(|one| one.name.as_str()).collect();
    rules::fix::plan(&audit.findings, &servers, &Topology::of(&audit.seen, &names))
}

pub fn fix_report(audit: &Audit, plan: &FixPlan) -> FixPlanReport {
    let unknown = audit.findings.iter().filter(|one| matches!(one.verdict, Verdict::Unknown(_))).count();
    FixPlanReport {
        schema: FIX_PLAN_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms: audit.started_unix_ms,
        ended_unix_ms: SystemClock.unix_ms(),
        servers: audit.servers.clone(),
        steps: (1..).zip(&plan.steps).map(|(number, step)| row(number, step)).collect(),
        by_hand: plan
            .by_hand
            .iter()
            .filter_map(|place| {
                let finding = audit.findings.get(*place)?;
                let remedy = plan.remedy(*place, finding);
                Some(FindingRow::new(&Finding { remedy, ..finding.clone() }, &audit.seen, &[]))
            })
            .collect(),
        unknown: u64::try_from(unknown).unwrap_or(u64::MAX),
    }
}

fn row(number: u64, step: &FixStep) -> FixStepRow {
    FixStepRow {
        number,
        stage: step.stage.word().into(),
        server: step.server.clone(),
        command: step.command.map(str::to_owned),
        or_command: step.or_command.map(str::to_owned),
        sql: step.sql.clone(),
        option_lines: step.option_lines.clone(),
        needs_restart: step.needs_restart,
        to_fill: step.to_fill.clone(),
        decide: step.decide.iter().map(|&one| one.to_owned()).collect(),
        waits_for: step.waits_for.clone(),
        mends: step
            .mends
            .iter()
            .map(|one| MendedRow { rule: one.rule.clone(), subject: one.subject.clone() })
            .collect(),
    }
}
