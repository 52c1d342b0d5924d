//! `sealion explain`.

use clap::Args;
use model::Rule;
use site::OpsError;

use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion explain SL3001
  sealion explain --format json"
)]
pub struct ExplainArgs {
    /// Rule, e.g. SL1001; if omitted, all rules are listed
    pub rule: Option<String>,
}

pub fn explain(global: &Global, args: &ExplainArgs) -> Result<u8, OpsError> {
    let Some(id) = &args.rule else {
        if global.format == Format::Json {
            let all: Vec<_> = rules::RULES.iter().map(|rule| rule_json(*rule)).collect();
            println!(
                "{}",
                serde_json::to_string_pretty(&all)
                    .map_err(|error| OpsError::internal("cannot write JSON", error))?
            );
        } else {
            for rule in rules::RULES {
                println!("{}  {:<8}  {}", rule.id(), rule.severity(), rule.title());
            }
        }
        return Ok(0);
    };
    let rule = rules::by_id(id).ok_or_else(|| {
        OpsError::usage(
            format!("unknown rule \"{id}\""),
            "rule IDs look like SL1001",
            "list them: sealion explain",
        )
    })?;
    if global.format == Format::Json {
        println!(
            "{}",
            serde_json::to_string_pretty(&rule_json(rule))
                .map_err(|error| OpsError::internal("cannot write JSON", error))?
        );
        return Ok(0);
    }
    println!("{} {}\n{}\n", show::bold(rule.id()), rule.severity(), show::fitted("", rule.title()));
    println!("{}\n", show::fitted("", rule.explanation()));
    println!("{}", show::fitted("remedy:     ", rule.remedy()));
    for reference in rule.references() {
        println!("reference:  {reference}");
    }
    Ok(0)
}

fn rule_json(rule: &dyn Rule) -> serde_json::Value {
    serde_json::json!({
        "rule": rule.id(), "severity": rule.severity(), "title": rule.title(), "explanation": rule.explanation(),
        "remedy": rule.remedy(), "references": rule.references(),
    })
}
