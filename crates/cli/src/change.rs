//! Commands that plan and change.

use std::io::{BufRead, IsTerminal, Write};
use std::time::Instant;

use ::change::Direction;
use change_ops::roll::{self, Finished, Progress, Settings};
use model::{Change, Noun, Plan, Verb};
use site::{Cluster, OpsError};
use trust::KeyKind;

use crate::args::{
    AbandonArgs, ApplyArgs, ChangeArgs, Format, Global, GoOnArgs, How, PlanArgs, TakeOver, UndoArgs, VerbArg,
};
use crate::show;

fn settings(how: &How, over: &TakeOver) -> Settings {
    let mut settings = Settings {
        takes_over: over.take_over,
        key: how.bits.map_or(KeyKind::EcP256, |bits| KeyKind::Rsa { bits }),
        leaf_days: how.leaf_days,
        allow_untested: how.allow_untested,
        accept_unknown_clients: how.accept_unknown_clients,
        accept_unproven: how.accept_unproven,
        ..Settings::default()
    };
    settings.limits.clients_look_ms = how.watch_clients_s * 1000;
    settings.limits.sync_ms_max = how.sync_s_max * 1000;
    settings.limits.drain_ms_max = how.drain_s_max * 1000;
    settings
}

fn wish(verb: Verb, nouns: &[Noun]) -> Change {
    if nouns.is_empty() { Change::new(verb, Noun::ALL) } else { Change::new(verb, nouns.iter().copied()) }
}

pub fn plan(global: &Global, args: &PlanArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.ca_passphrase_file.as_deref())?;
    let verb = match args.verb {
        VerbArg::Enable => Verb::Enable,
        VerbArg::Disable => Verb::Disable,
        VerbArg::Rotate => Verb::Rotate,
    };
    let plan = roll::plan(
        &cluster,
        &settings(&args.how, &TakeOver { take_over: false }),
        passphrase,
        &wish(verb, &args.nouns),
    )?;
    print_plan(&plan, global.format)?;
    Ok(0)
}

/// Impact first, then the steps.
fn print_plan(plan: &Plan, form: Format) -> Result<(), OpsError> {
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
        println!("  (+ changes, ~ restarts the server, = is so already)");
    }
    Ok(())
}

pub fn change(global: &Global, verb: Verb, args: &ChangeArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.ca_passphrase_file.as_deref())?;
    let (settings, wish) = (settings(&args.how, &args.over), wish(verb, &args.nouns));
    // The same command again only ever finishes what it began.
    if let Some(open) = roll::open_change(&cluster)?
        && same_wish(&open, &wish)
    {
        show::tell(&format!("{wish} was begun and not finished: going on with it"));
        return run(global, &cluster, &wish.to_string(), |tell| {
            roll::go_on(&cluster, &settings, passphrase, Some(Direction::Forward), tell)
        });
    }
    let plan = roll::plan(&cluster, &settings, passphrase.clone(), &wish)?;
    if !plan.changes_anything() {
        println!("{wish}: everything is so already, nothing was changed");
        println!("what is on the wire now: sealion status --canaries");
        return Ok(0);
    }
    confirm(&plan, args.yes.yes.as_deref())?;
    run(global, &cluster, &wish.to_string(), |tell| roll::apply(&cluster, &settings, passphrase, &plan, tell))
}

fn same_wish(journal: &std::path::Path, wish: &Change) -> bool {
    let Ok(bytes) = std::fs::read(journal) else { return false };
    let Ok(parsed) = ::change::journal::parse(&bytes, journal) else { return false };
    parsed
        .records
        .iter()
        .any(|(_, record)| matches!(record, ::change::Record::Opened { plan } if plan.change == *wish))
}

pub fn apply(global: &Global, args: &ApplyArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.ca_passphrase_file.as_deref())?;
    let bad = |why: String| {
        OpsError::usage(
            format!("{} is not a plan", args.plan.display()),
            why,
            "sealion plan … --format json > FILE",
        )
    };
    let text = std::fs::read_to_string(&args.plan).map_err(|error| bad(error.to_string()))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    confirm(&plan, args.yes.yes.as_deref())?;
    run(global, &cluster, &plan.change.to_string(), |tell| {
        roll::apply(&cluster, &settings(&args.how, &args.over), passphrase, &plan, tell)
    })
}

pub fn go_on(global: &Global, wish: Option<Direction>, args: &GoOnArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let passphrase = cluster.passphrase(args.how.ca_passphrase_file.as_deref())?;
    let command = if wish == Some(Direction::Back) { "undo" } else { "resume" };
    let settings = settings(&args.how, &args.over);
    run(global, &cluster, command, |tell| roll::go_on(&cluster, &settings, passphrase, wish, tell))
}

/// Changes nothing but the journals, and cannot be taken back.
pub fn abandon(global: &Global, args: &AbandonArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    let plan = roll::open_plan(&cluster)?.ok_or_else(|| {
        OpsError::Refused(
            "there is nothing to abandon\n  why:  no change is open\n  next: sealion status".into(),
        )
    })?;
    let what = format!(
        "{} of cluster {} is closed as it is: no server is touched, and neither resume nor undo can go on with it; plan {}",
        plan.change,
        plan.cluster,
        plan.short_hash()
    );
    confirm_what("abandon", &plan, &what, args.yes.yes.as_deref())?;
    let settings = Settings { takes_over: args.over.take_over, ..Settings::default() };
    let left = roll::abandon(&cluster, &settings)?;
    if global.format == Format::Json {
        let json = serde_json::json!({
            "schema": "sealion.change/1", "plan": plan.id, "outcome": "abandoned", "left": left,
        });
        show::out(&json.to_string());
        return Ok(0);
    }
    show::out(&format!("abandoned: {} of cluster {}; this is what is left", plan.change, plan.cluster));
    for line in left {
        show::out(&format!("  {line}"));
    }
    Ok(0)
}

/// Undo of a change that is open goes on with what was confirmed; that of a finished one is a change of its own, perhaps of
/// long ago, so a person sees which.
pub fn undo(global: &Global, args: &UndoArgs) -> Result<u8, OpsError> {
    let cluster = Cluster::read(&global.inventory)?;
    if let Some(plan) = roll::finished_change(&cluster)? {
        let made = model::clock::rfc3339(plan.made_unix_ms);
        let restarts = plan.steps.iter().filter(|step| step.restarts_server && !step.no_op).count();
        let what = format!(
            "undo of {} of cluster {}, planned {} and finished since: up to {restarts} server restarts, plan {}",
            plan.change,
            plan.cluster,
            made.get(..19).unwrap_or(&made).replace('T', " "),
            plan.short_hash()
        );
        confirm_what("undo", &plan, &what, args.yes.yes.as_deref())?;
    }
    go_on(global, Some(Direction::Back), &args.go_on)
}

fn confirm_what(verb: &str, plan: &Plan, what: &str, yes: Option<&str>) -> Result<(), OpsError> {
    if let Some(hash) = yes {
        if hash.len() >= 8 && plan.state_hash.starts_with(hash) {
            return Ok(());
        }
        return Err(OpsError::Refused(format!(
            "--yes {hash} is not the change that {verb} is about, nothing was changed\n  why:  {what}\n  next: sealion {verb} --yes {}",
            plan.short_hash()
        )));
    }
    if !std::io::stdin().is_terminal() {
        return Err(OpsError::usage(
            "nobody is here to be asked",
            format!("this is about: {what}"),
            format!("if that is what you want: sealion {verb} --yes {}", plan.short_hash()),
        ));
    }
    println!("{what}");
    ask()
}

/// Asks a person, or compares the hash that a program gave.
fn confirm(plan: &Plan, yes: Option<&str>) -> Result<(), OpsError> {
    if let Some(hash) = yes {
        if hash.len() >= 8 && plan.state_hash.starts_with(hash) {
            return Ok(());
        }
        return Err(OpsError::Refused(format!(
            "--yes {hash} is not this plan, nothing was changed\n  why:  the plan for the cluster as it is now has the hash {}\n  next: look at it: sealion plan {}",
            plan.short_hash(),
            plan.change
        )));
    }
    if !std::io::stdin().is_terminal() {
        return Err(OpsError::usage(
            "nobody is here to be asked",
            "stdin is not a terminal",
            format!("look at the plan first, then: --yes {}", plan.short_hash()),
        ));
    }
    print_plan(plan, Format::Table)?;
    ask()
}

fn ask() -> Result<(), OpsError> {
    print!("type yes to do this: ");
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    if line.trim() == "yes" {
        return Ok(());
    }
    Err(OpsError::Refused("not confirmed, nothing was changed".into()))
}

/// Runs a change with one line of progress a step.
fn run(
    global: &Global,
    cluster: &Cluster,
    command: &str,
    work: impl FnOnce(roll::Tell<'_>) -> Result<Finished, OpsError>,
) -> Result<u8, OpsError> {
    // Every step may be cut off anywhere: what was begun is in the journal. Said, because a person cannot know.
    ctrlc::set_handler(|| {
        show::tell(
            "\ninterrupted; what was begun is in the journal\n  next: sealion resume (goes on) or sealion undo (goes back)",
        );
        std::process::exit(4);
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    let began = Instant::now();
    let started_unix_ms = model::Clock::unix_ms(&model::SystemClock);
    let mut printer = Printer { began, verbose: global.verbose > 0 };
    let finished = work(&mut |progress| printer.tell(progress))?;
    if let Some(why) = change_ops::history::keep_change(cluster, command, started_unix_ms, &finished) {
        show::tell(&format!("note: this run was not kept: {why}"));
    }
    if global.format == Format::Json {
        let json = serde_json::json!({
            "schema": "sealion.change/1", "plan": finished.plan_id, "outcome": "complete",
            "steps": finished.notes.iter().map(|(step, note)| serde_json::json!({"step": step, "note": note})).collect::<Vec<_>>(),
            "not_proven": finished.not_proven, "took_s": began.elapsed().as_secs_f64(),
        });
        show::out(&json.to_string());
    } else {
        show::out(&format!(
            "{} in {:.0} s (journal {})",
            show::green("done"),
            began.elapsed().as_secs_f64(),
            finished.plan_id
        ));
    }
    for line in &finished.not_proven {
        show::tell(&format!("{} {line}", show::bold("note:")));
    }
    Ok(0)
}

pub struct Printer {
    pub began: Instant,
    pub verbose: bool,
}

impl Printer {
    pub fn tell(&mut self, progress: Progress) {
        let at = self.began.elapsed().as_secs_f64();
        match progress {
            Progress::Step { id, title, phase: "acting", direction, at: n, of } => {
                let back = if direction == Direction::Back { "back: " } else { "" };
                show::tell(&format!("{at:6.1} s  {n:>2}/{of}  {id:<8} {back}{title}"));
            }
            Progress::Step { id, phase, .. } if self.verbose => {
                show::tell(&format!("{at:6.1} s         {id:<8} {phase}"));
            }
            Progress::Done { id, note, .. } => {
                show::tell(&format!("{at:6.1} s  {} {id:<8} {note}", show::green("  ok ")));
            }
            Progress::Failed { id, why } => {
                show::tell(&format!("{at:6.1} s  {} {id:<8} {why}", show::red(" fail")));
            }
            Progress::Line(line) => show::tell(&format!("{at:6.1} s         {line}")),
            Progress::Step { .. } => {}
        }
    }
}
