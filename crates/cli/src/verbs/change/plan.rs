//! `sealion plan`.

use ::change::Direction;
use change_ops::roll::{self, Settings};
use clap::{Args, ValueEnum};
use model::{Change, Noun, Plan, Step, Verb};
use providers::by_hand;
use site::{Cluster, OpsError};

use super::join::{DataOptions, cluster_with};
use super::{PlanOptions, ProfileOptions, from_inventory, not_offered, settings, titled, wish};
use crate::options::{Format, Global, formats};
use crate::show;

const FORMATS: &[Format] = &[Format::Table, Format::Json, Format::Diff, Format::Sql, Format::Shell];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VerbArg {
    Enable,
    Disable,
    Rotate,
    Join,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(FORMATS),
    mut_args(not_offered!(
        "accept_unknown_clients", "accept_unproven", "watch_clients_s", "sync_s_max", "drain_s_max", "bits"
    )),
    after_long_help = from_inventory!(
        "  sealion plan enable galera,sst,clients\n  sealion plan rotate --format diff\n  sealion plan disable --format json > plan.json\n  sealion plan join n4\n  sealion plan enable tables,logs --measure"
    )
)]
pub struct PlanArgs {
    /// The change to plan
    #[arg(value_enum)]
    pub verb: VerbArg,
    /// What to change: galera, sst, replication, clients (default: all there is), require-tls, accounts; of join: the new node
    ///
    /// What to change; of join, the name of the new node in the inventory. The default is all that the nodes have: galera, sst and clients of a Galera cluster, replication and clients
    /// of a source and its replicas. require-tls is the last part of clients alone: whether clients
    /// must use TLS (require_secure_transport). It needs no restart. accounts are those that log in over the network: each must use TLS
    /// from its next login on (ALTER USER ... REQUIRE SSL), unless somebody was seen to use it in cleartext.
    #[arg(value_delimiter = ',', value_name = "WHAT")]
    pub nouns: Vec<String>,
    /// With tables: measure on each server how long it may take
    ///
    /// With tables: measure on each server how long it may take. A table of some 30 MB in the schema sealion_scratch is made there, rebuilt and
    /// dropped; no replica and no other node is told. Without this option a plan changes nothing at all.
    #[arg(long, hide_short_help = true)]
    pub measure: bool,
    #[command(flatten)]
    pub how: PlanOptions,
    #[command(flatten)]
    pub data: DataOptions,
    #[command(flatten)]
    pub profile: ProfileOptions,
}

impl PlanArgs {
    /// The node of a join.
    fn joiner(&self) -> Result<Option<&str>, OpsError> {
        match (self.verb, self.nouns.as_slice()) {
            (VerbArg::Join, [node]) => Ok(Some(node)),
            (VerbArg::Join, all) => Err(OpsError::usage(
                "sealion plan join takes the name of one node",
                format!("{} were given", all.len()),
                "sealion plan join n4\n  sealion plan enable tables,logs --measure",
            )),
            _ => Ok(None),
        }
    }

    fn change(&self) -> Result<Change, OpsError> {
        let verb = match self.verb {
            VerbArg::Enable => Verb::Enable,
            VerbArg::Disable => Verb::Disable,
            VerbArg::Rotate => Verb::Rotate,
            VerbArg::Join => Verb::Join,
        };
        if let Some(node) = self.joiner()? {
            return Ok(Change::join(node.into()));
        }
        let nouns: Result<Vec<Noun>, String> = self.nouns.iter().map(|word| word.parse()).collect();
        let nouns = nouns.map_err(|why| {
            OpsError::usage(
                format!("sealion plan {verb} {}", self.nouns.join(",")),
                why,
                format!("sealion plan {verb}"),
            )
        })?;
        Ok(wish(verb, &nouns).with_profile(self.profile.profile))
    }
}

pub fn plan(global: &Global, args: &PlanArgs) -> Result<u8, OpsError> {
    let change = args.change()?;
    let cluster = match args.joiner()? {
        Some(node) => cluster_with(global, node)?.0,
        None => Cluster::read(&global.inventory)?,
    };
    let passphrase = cluster.passphrase(args.how.running.ca_passphrase_file.as_deref())?;
    let mut settings =
        Settings { replace_data: args.data.replace_data, may_lack_rights: true, ..settings(&args.how) };
    settings.at_rest.measures = args.measure;
    let plan = roll::plan(&cluster, &settings, passphrase, &change)?;
    print_plan(&plan, global.format)?;
    Ok(0)
}

pub(super) const SIGNS: &str =
    "(+ changes something, ~ restarts the server, ! cannot be undone, ? only checks, = already done)";

/// What a step does to its node, in one sign.
fn sign(step: &Step, direction: Direction) -> &'static str {
    if step.no_op {
        "="
    } else if step.only_looks {
        "?"
    } else if step.nature.irreversible.is_some() {
        "!"
    } else if step.restarts(direction == Direction::Back) {
        "~"
    } else {
        "+"
    }
}

/// A step in a list of steps.
pub(super) fn step_line(step: &Step, direction: Direction) -> String {
    let title = titled(&step.title, direction);
    show::fitted(&format!("  {} {:<8} ", sign(step, direction), step.id.to_string()), &title)
}

/// One line for each step over which nobody can go back.
pub(super) fn no_way_back(plan: &Plan) -> Vec<String> {
    let line = |step: &Step| {
        let why = step.nature.irreversible.as_deref().unwrap_or_default();
        format!("cannot be undone once begun: {} {} ({why})", step.id, step.title)
    };
    plan.irreversible().map(line).collect()
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
    if form == Format::Shell {
        println!("#!/usr/bin/env bash");
    }
    let comment = if form == Format::Sql { "--" } else { "#" };
    let of = if plan.change.has(Noun::Disk) { "of" } else { "of cluster" };
    println!("{comment} {} {of} {}, plan {}", plan.change, plan.cluster, show::bold(plan.short_hash()));
    for line in &plan.impact {
        println!("{}", show::fitted(&format!("{comment} impact: "), line));
    }
    for line in &plan.rights {
        println!("{}", show::fitted(&format!("{comment} needs:  "), line));
    }
    for line in no_way_back(plan) {
        println!("{}", show::fitted(&format!("{comment} "), &line));
    }
    if form == Format::Shell {
        for line in by_hand::head() {
            println!("{line}");
        }
    }
    for step in &plan.steps {
        let sign = sign(step, Direction::Forward);
        match form {
            Format::Table => println!("{}", step_line(step, Direction::Forward)),
            Format::Diff | Format::Shell | Format::Sql => {
                println!("\n{comment} {sign} {} {}", step.id, step.title);
                let lines = match form {
                    Format::Diff => step.diff.clone(),
                    Format::Shell => by_hand::of_step(step),
                    _ if step.no_op => vec!["-- already done".into()],
                    _ => step.sql.clone(),
                };
                for line in lines {
                    println!("{}", line.trim_end());
                }
            }
            _ => {}
        }
    }
    if form == Format::Table {
        println!("{}", show::fitted("  ", SIGNS));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use change_ops::unfinished::Continuation;

    use super::*;

    #[test]
    fn what_cannot_be_undone_is_shown_with_a_sign_and_named_before_a_person_agrees() {
        let step = serde_json::json!({
            "id": "R9.n1", "kind": "k", "title": "forgets the old key", "nodes": ["n1"], "restarts_server": true,
            "no_op": false, "nature": {"irreversible": "the old key is gone"}, "shell": [], "sql": [], "diff": [], "params": {}
        });
        let plan = serde_json::json!({
            "id": "p", "change": {"verb": "rotate", "nouns": ["galera"]}, "cluster": "c", "made_unix_ms": 0,
            "sealion_version": "0", "state_hash": "0123456789abcdef", "impact": [], "rights": [], "steps": [step]
        });
        let mut plan: Plan = serde_json::from_value(plan).expect("a plan");
        assert_eq!(sign(&plan.steps[0], Direction::Forward), "!");
        let line = "cannot be undone once begun: R9.n1 forgets the old key (the old key is gone)";
        assert_eq!(no_way_back(&plan), [line]);
        let mut open = Continuation {
            plan: plan.clone(),
            direction: Direction::Forward,
            was_finished: false,
            remaining: vec![0],
            refused: None,
        };
        let text = super::super::resume::described("resume", &open, &[]);
        assert!(text.ends_with(line) && text.contains("1 step remains, 1 server restart"), "{text}");
        open.plan.steps[0].restarts_server = false;
        open.direction = Direction::Back;
        assert!(
            super::super::resume::described("undo", &open, &[])
                .contains("1 step remains, no server restart,")
        );
        assert_eq!(super::super::resume::steps_left(&open)[0], "  ! R9.n1    revert of: forgets the old key");
        plan.steps[0].no_op = true;
        assert_eq!((sign(&plan.steps[0], Direction::Forward), no_way_back(&plan).len()), ("=", 0));
    }
}
