//! `sealion migrate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use migrate_ops::cloud::Cloud;
use migrate_ops::{Goal, Known, Progress, Route, Stage, Until};
use model::Plan;
use site::OpsError;

use super::change::{Consent, confirm, confirm_what};
use crate::options::{Format, Global, TABLE_OR_JSON, formats};
use crate::show;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum MigrateCommand {
    /// Check both servers, and show what would be done; changes nothing
    Plan(MigratePlanArgs),
    /// Copy, follow, compare, and move the applications' writes over
    Run(MigrateRunArgs),
    /// Continue a migration that was interrupted
    #[command(after_long_help = "Examples:
  sealion migrate resume
  sealion migrate resume --name shop --yes 0123456789ab")]
    Resume(MigrateGoOnArgs),
    /// Compare both servers at one and the same transaction, while they are written to
    Verify(MigrateVerifyArgs),
    /// Move the applications' writes over, where run has waited before that
    #[command(after_long_help = "Examples:
  sealion migrate cutover
  sealion migrate cutover --name shop --yes 0123456789ab")]
    Cutover(MigrateGoOnArgs),
    /// End the way back: the source gets nothing any more
    #[command(after_long_help = "Examples:
  sealion migrate finish
  sealion migrate finish --name shop --yes 0123456789ab")]
    Finish(MigrateGoOnArgs),
    /// Revert a migration; after the cutover the source has what the target took
    #[command(
        alias = "undo",
        after_long_help = "Examples:
  sealion migrate rollback
  sealion migrate rollback --name shop --yes 0123456789ab"
    )]
    Rollback(MigrateGoOnArgs),
    /// Show how far a migration is
    Status(MigrateStatusArgs),
}

#[derive(Debug, Args)]
pub struct RouteArgs {
    /// Option file of the source, as for mariadb --defaults-file
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
    /// Option file of the target; for plan also aurora or rds
    ///
    /// Option file of the target. migrate plan also takes the words aurora and rds: it prints the calls for a target of AWS then, which
    /// run cannot do.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Option file of the account that the target replicates with
    ///
    /// Option file of the account that the target replicates with: host and port of the source as the target reaches it, user,
    /// password, and ssl-ca as a file on the target's machine.
    #[arg(long, value_name = "FILE")]
    pub follow_as: PathBuf,
    /// Option file of the account that the source replicates with, after the cutover
    ///
    /// Option file of the account that the source replicates with after the cutover, so that a rollback loses nothing: host and port
    /// of the target as the source reaches it, user, password, and ssl-ca as a file on the source's machine.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "no_way_back",
        conflicts_with = "no_way_back"
    )]
    pub back_as: Option<PathBuf>,
    /// Nothing brings back what the target takes after the cutover
    #[arg(long)]
    pub no_way_back: bool,
    /// Schemas, all of their tables
    #[arg(long, value_delimiter = ',', required = true, value_name = "SCHEMA")]
    pub schemas: Vec<String>,
    /// Sessions that copy side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub sessions: u16,
    /// Copy tables larger than twice this in slices of about this size
    ///
    /// Copy tables larger than twice this in slices of about this size: by primary key, where that begins with a whole number. Sessions
    /// copy slices side by side, and a copy that broke goes on behind the slices that are equal.
    #[arg(long, value_name = "MB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub slice_mb: u32,
}

/// Before the cutover.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum UntilArg {
    /// The rows are on the target
    Copy,
    /// The target follows the source
    Follow,
    /// Both are equal
    Verify,
}

#[derive(Debug, Args)]
pub struct NameArgs {
    /// Name of the migration, for its journal
    #[arg(long, default_value = "default")]
    pub name: String,
    /// Directory of the journal; default: in ~/.local/state/sealion/migrate
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion migrate plan --from db1.cnf --to db2.cnf --follow-as f.cnf --back-as b.cnf --schemas shop
  sealion migrate plan --from db1.cnf --to db2.cnf --follow-as f.cnf --back-as b.cnf --schemas a,b"
)]
pub struct MigratePlanArgs {
    #[command(flatten)]
    pub route: RouteArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion migrate run --from db1.cnf --to db2.cnf --follow-as f.cnf --back-as b.cnf --schemas shop
  sealion migrate run --from db1.cnf --to db2.cnf --follow-as f.cnf --back-as b.cnf --schemas a,b")]
pub struct MigrateRunArgs {
    #[command(flatten)]
    pub route: RouteArgs,
    /// Wait there for migrate cutover
    #[arg(long, value_name = "STEP")]
    pub until: Option<UntilArg>,
    #[command(flatten)]
    pub name: NameArgs,
    #[command(flatten)]
    pub yes: Consent,
}

#[derive(Debug, Args)]
pub struct MigrateGoOnArgs {
    #[command(flatten)]
    pub name: NameArgs,
    #[command(flatten)]
    pub yes: Consent,
}

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Examples:
  sealion migrate status
  sealion migrate status --name shop"
)]
pub struct MigrateStatusArgs {
    #[command(flatten)]
    pub name: NameArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion migrate verify
  sealion migrate verify --name shop")]
pub struct MigrateVerifyArgs {
    #[command(flatten)]
    pub name: NameArgs,
}

impl RouteArgs {
    fn route(&self, until: Option<UntilArg>) -> Result<Route, OpsError> {
        // It may be gone on with from another directory.
        let whole = |path: &PathBuf| {
            std::fs::canonicalize(path).map_err(|error| {
                OpsError::usage(
                    format!("cannot read {}", path.display()),
                    error.to_string(),
                    "check the path",
                )
            })
        };
        Ok(Route {
            from: whole(&self.from)?,
            to: whole(&self.to)?,
            follow_as: whole(&self.follow_as)?,
            back_as: self.back_as.as_ref().map(whole).transpose()?,
            until: until.map(|until| match until {
                UntilArg::Copy => Until::Copy,
                UntilArg::Follow => Until::Follow,
                UntilArg::Verify => Until::Verify,
            }),
            schemas: self.schemas.clone(),
            sessions: self.sessions.into(),
            slice_mb: self.slice_mb,
        })
    }
}

impl NameArgs {
    fn dir(&self) -> PathBuf {
        self.state_dir.clone().unwrap_or_else(|| migrate_ops::state_dir(&self.name))
    }
}

pub fn migrate(global: &Global, command: &MigrateCommand) -> Result<u8, OpsError> {
    match command {
        MigrateCommand::Plan(args) => {
            if let Some(cloud) = Cloud::of(&args.route.to) {
                let route = &args.route;
                show::out(&migrate_ops::cloud::plan(cloud, &route.from, &route.follow_as, &route.schemas)?);
                return Ok(0);
            }
            print_plan(global, &migrate_ops::plan(&args.route.route(None)?)?)?;
            Ok(0)
        }
        MigrateCommand::Run(args) => {
            let plan = migrate_ops::plan(&args.route.route(args.until)?)?;
            confirm(&plan, args.yes.yes.as_deref())?;
            carry_out(|tell| migrate_ops::begin(&args.name.dir(), &plan, tell))
        }
        MigrateCommand::Resume(args) => go_on(args, "migrate resume", Goal::Resume),
        MigrateCommand::Cutover(args) => go_on(args, "migrate cutover", Goal::Cutover),
        MigrateCommand::Finish(args) => go_on(args, "migrate finish", Goal::Finish),
        MigrateCommand::Rollback(args) => go_on(args, "migrate rollback", Goal::Rollback),
        MigrateCommand::Verify(args) => {
            show::out(&migrate_ops::verify(&args.name.dir())?);
            Ok(0)
        }
        MigrateCommand::Status(args) => {
            let known = migrate_ops::known(&args.name.dir())?;
            print_status(global, &known, &migrate_ops::dir_option(&args.name.dir()));
            Ok(0)
        }
    }
}

fn print_status(global: &Global, known: &Known, option: &str) {
    let Known { plan, stage, steps } = known;
    if global.format == Format::Json {
        let stage_word = match stage {
            Stage::Open => "open",
            Stage::CutOver => "cut-over",
            Stage::Migrated => "migrated",
            Stage::RolledBack => "rolled-back",
        };
        let steps: Vec<_> = plan
            .steps
            .iter()
            .zip(steps)
            .map(|(step, (state, note))| {
                serde_json::json!({ "id": step.id, "title": step.title, "state": state, "note": note })
            })
            .collect();
        let json = serde_json::json!({
            "schema": "sealion/migrate-status/1", "plan": plan.id, "hash": plan.short_hash(), "stage": stage_word,
            "is_finished": matches!(stage, Stage::Migrated | Stage::RolledBack),
            "is_migrated": *stage == Stage::Migrated, "steps": steps,
        });
        show::out(&format!("{json:#}"));
        return;
    }
    let how = match stage {
        Stage::Open => {
            format!(
                "not finished: sealion migrate resume{option} or cutover{option}, or sealion migrate rollback{option}"
            )
        }
        Stage::CutOver => {
            format!(
                "the target takes the writes, and the source follows it: sealion migrate finish{option}, or rollback{option}"
            )
        }
        Stage::Migrated => "migrated: the target takes the writes".to_owned(),
        Stage::RolledBack => "rolled back: nothing of it is on the target".to_owned(),
    };
    show::out(&show::fitted("", &format!("{}: {how}", plan.id)));
    for (step, (state, note)) in plan.steps.iter().zip(steps) {
        let note = note.as_deref().map_or_else(String::new, |note| format!(": {note}"));
        show::out(&show::fitted(&format!("{}  {state:<14}  ", step.id), &format!("{}{note}", step.title)));
    }
}

fn go_on(args: &MigrateGoOnArgs, verb: &str, goal: Goal) -> Result<u8, OpsError> {
    let Known { plan, .. } = migrate_ops::known(&args.name.dir())?;
    let id = &plan.id;
    let what = match goal {
        Goal::Rollback => format!("{verb} reverts {id}: the schemas that it made on the target are dropped"),
        Goal::Cutover => format!("{verb} moves the writes of {id} to the target"),
        Goal::Finish => format!("{verb} ends the way back of {id}: the source gets nothing any more"),
        Goal::Resume => format!("{verb} continues {id}"),
    };
    confirm_what(verb, &plan, &what, &[], args.yes.yes.as_deref())?;
    carry_out(|tell| migrate_ops::go_on(&args.name.dir(), goal, tell))
}

fn print_plan(global: &Global, plan: &Plan) -> Result<(), OpsError> {
    if global.format == Format::Json {
        let text = serde_json::to_string_pretty(plan)
            .map_err(|error| OpsError::internal("cannot write JSON", error))?;
        show::out(&text);
        return Ok(());
    }
    show::out(&format!("{}, hash {}", plan.id, plan.short_hash()));
    for line in &plan.impact {
        show::out(&show::fitted("", line));
    }
    for step in &plan.steps {
        let sign = match (step.only_looks, step.nature.irreversible.is_some()) {
            (true, _) => '?',
            (false, true) => '!',
            (false, false) => '+',
        };
        show::out(&show::fitted(&format!("{sign} {}  ", step.id), &step.title));
    }
    for step in plan.irreversible() {
        let why = step.nature.irreversible.as_deref().unwrap_or_default();
        show::out(&show::fitted("", &format!("cannot be undone once begun: {} ({why})", step.id)));
    }
    show::out("(+ changes something, ! cannot be undone, ? only checks)");
    Ok(())
}

fn carry_out(run: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<(), OpsError>) -> Result<u8, OpsError> {
    run(&mut |progress| match progress {
        Progress::Step { id, title, phase: "acting", at, of } => {
            show::tell(&show::fitted_progress(&format!("[{at}/{of}] {id}  "), &title));
        }
        Progress::Step { .. } => {}
        Progress::Done { id, note } => show::tell(&show::fitted_progress(&format!("      {id}  "), &note)),
        Progress::Failed { id, why } => {
            // All of it is said at the end.
            let what = why.lines().next().unwrap_or_default();
            show::tell(&format!("      {id}  {}: {what}", show::red("failed")));
        }
        Progress::Line(line) => show::tell(&format!("      {line}")),
    })?;
    Ok(0)
}
