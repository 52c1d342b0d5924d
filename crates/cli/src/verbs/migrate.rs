//! `sealion migrate`.

use std::path::PathBuf;

use ::change::Direction;
use clap::{Args, Subcommand};
use migrate_ops::{Progress, Route, Stage};
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
    /// Revert a migration, as long as the target is not open for writes
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
    /// Option file of the target
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Option file of the account that the target replicates with
    ///
    /// Option file of the account that the target replicates with: host and port of the source as the target reaches it, user,
    /// password, and ssl-ca as a file on the target's machine.
    #[arg(long, value_name = "FILE")]
    pub follow_as: PathBuf,
    /// Schemas, all of their tables
    #[arg(long, value_delimiter = ',', required = true, value_name = "SCHEMA")]
    pub schemas: Vec<String>,
    /// Sessions that copy side by side
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub sessions: u16,
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
  sealion migrate plan --from db1.cnf --to db2.cnf --follow-as repl.cnf --schemas shop
  sealion migrate plan --from db1.cnf --to db2.cnf --follow-as repl.cnf --schemas a,b"
)]
pub struct MigratePlanArgs {
    #[command(flatten)]
    pub route: RouteArgs,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion migrate run --from db1.cnf --to db2.cnf --follow-as repl.cnf --schemas shop
  sealion migrate run --from db1.cnf --to db2.cnf --follow-as repl.cnf --schemas a,b")]
pub struct MigrateRunArgs {
    #[command(flatten)]
    pub route: RouteArgs,
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

impl RouteArgs {
    fn route(&self) -> Result<Route, OpsError> {
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
            schemas: self.schemas.clone(),
            sessions: self.sessions.into(),
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
            print_plan(global, &migrate_ops::plan(&args.route.route()?)?)?;
            Ok(0)
        }
        MigrateCommand::Run(args) => {
            let plan = migrate_ops::plan(&args.route.route()?)?;
            confirm(&plan, args.yes.yes.as_deref())?;
            carry_out(|tell| migrate_ops::begin(&args.name.dir(), &plan, tell))
        }
        MigrateCommand::Resume(args) => go_on(args, "migrate resume", None),
        MigrateCommand::Rollback(args) => go_on(args, "migrate rollback", Some(Direction::Back)),
        MigrateCommand::Status(args) => {
            let (plan, stage) = migrate_ops::known(&args.name.dir())?;
            if global.format == Format::Json {
                let is_migrated = stage == Stage::Migrated;
                let is_finished = stage != Stage::Open;
                let json = serde_json::json!({ "plan": plan.id, "is_finished": is_finished, "is_migrated": is_migrated });
                show::out(&format!("{json:#}"));
            } else {
                let how = match stage {
                    Stage::Open => {
                        let of = migrate_ops::dir_option(&args.name.dir());
                        format!("not finished: sealion migrate resume{of}, or sealion migrate rollback{of}")
                    }
                    Stage::Migrated => "migrated: the target takes the writes".to_owned(),
                    Stage::RolledBack => "rolled back: nothing of it is on the target".to_owned(),
                };
                show::out(&format!("{}: {how}", plan.id));
            }
            Ok(0)
        }
    }
}

fn go_on(args: &MigrateGoOnArgs, verb: &str, wish: Option<Direction>) -> Result<u8, OpsError> {
    let (plan, _) = migrate_ops::known(&args.name.dir())?;
    let what = if wish == Some(Direction::Back) {
        let plan = &plan.id;
        format!("{verb} reverts {plan}: the schemas that it made on the target are dropped")
    } else {
        format!("{verb} continues {}", plan.id)
    };
    confirm_what(verb, &plan, &what, &[], args.yes.yes.as_deref())?;
    carry_out(|tell| migrate_ops::go_on(&args.name.dir(), wish, tell))
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
