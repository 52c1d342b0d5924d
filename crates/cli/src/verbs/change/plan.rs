//! `sealion plan`.

use change_ops::roll;
use clap::{Args, ValueEnum};
use model::{Noun, Plan, Verb};
use site::{Cluster, OpsError};

use super::{PlanOptions, from_inventory, settings, wish};
use crate::options::{Format, Global, formats};
use crate::show;

const FORMATS: &[Format] = &[Format::Table, Format::Json, Format::Diff, Format::Sql, Format::Shell];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerbArg {
    Enable,
    Disable,
    Rotate,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(FORMATS),
    after_long_help = from_inventory!(
        "  sealion plan enable galera,sst,clients\n  sealion plan rotate --format diff\n  sealion plan disable --format json > plan.json"
    )
)]
pub struct PlanArgs {
    /// The change to plan
    #[arg(value_enum)]
    pub verb: VerbArg,
    /// What to change: galera, sst, clients; default: all of them
    #[arg(value_delimiter = ',', value_name = "WHAT")]
    pub nouns: Vec<Noun>,
    #[command(flatten)]
    pub how: PlanOptions,
}

pub fn plan(global: &Global, args: &PlanArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    let verb = match args.verb {
        VerbArg::Enable => Verb::Enable,
        VerbArg::Disable => Verb::Disable,
        VerbArg::Rotate => Verb::Rotate,
    };
    let plan = roll::plan(&cluster, &settings(&args.how), passphrase, &wish(verb, &args.nouns))?;
    print_plan(&plan, global.format)?;
    Ok(0)
}

/// Impact first, then the steps.
pub(super) fn print_plan(plan: &Plan, form: Format) -> Result<(), OpsError> {
    if form == Format::Json {
        println!(
            "{}",
            serde_json::to_string_pretty(plan)
                .map_err(|error| OpsError::internal("cannot write JSON", error))?
        );
        return Ok(());
    }
    let comment = if form == Format::Sql { "--" } else { "#" };
    println!("{comment} {} of cluster {}, plan {}", plan.change, plan.cluster, show::bold(plan.short_hash()));
    for line in &plan.impact {
        println!("{comment} impact: {line}");
    }
    for line in &plan.rights {
        println!("{comment} needs:  {line}");
    }
    for step in &plan.steps {
        let sign = if step.no_op {
            "="
        } else if step.only_looks {
            "?"
        } else if step.restarts_server {
            "~"
        } else {
            "+"
        };
        match form {
            Format::Table => println!("  {sign} {:<8} {}", step.id.to_string(), step.title),
            Format::Diff | Format::Shell | Format::Sql => {
                println!("\n{comment} {sign} {} {}", step.id, step.title);
                let lines = match form {
                    Format::Diff => &step.diff,
                    Format::Shell => &step.shell,
                    _ => &step.sql,
                };
                for line in lines {
                    println!("{}", line.trim_end());
                }
            }
            _ => {}
        }
    }
    if form == Format::Table {
        println!("  (+ changes something, ~ restarts the server, ? only checks, = already done)");
    }
    Ok(())
}
