//! Commands that plan and change: what they share. Each has a module of its own.

pub mod abandon;
pub mod apply;
pub mod enable;
pub mod plan;
pub mod resume;

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ::change::Direction;
use change_ops::roll::{self, Finished, Progress, Settings};
use clap::Args;
use model::{Change, Noun, Plan, Verb};
use site::{Cluster, OpsError};
use trust::KeyKind;

use crate::options::{Format, Global};
use crate::show;

/// A change needs each node's files and service, which connection options do not name.
macro_rules! from_inventory {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nNodes, login and paths are read from the inventory. `sealion config inventory -h HOST -u USER -p > sealion.toml`\n\
             drafts one.\n\nExit codes: 0 done, 2 usage, 4 stopped half-way and resumable, 6 refused, nothing was changed."
        )
    };
}
pub(crate) use from_inventory;

#[derive(Debug, Args)]
pub struct TakeOver {
    /// Continue although another sealion holds the lease
    ///
    /// Continue although another sealion still holds the lease of this cluster. Verify first that it has ended.
    #[arg(long)]
    pub take_over: bool,
}

#[derive(Debug, Args)]
pub struct Consent {
    /// Do not ask for confirmation; HASH is the hash that the plan shows
    #[arg(long, value_name = "HASH")]
    pub yes: Option<String>,
}

/// What any part of a change may need: how to sign, and for how long to wait.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// File with the passphrase of the CA key (mode 0600)
    #[arg(long, value_name = "FILE")]
    pub ca_passphrase_file: Option<PathBuf>,
    /// Require TLS of clients even if it could not be seen whether some still connect without it
    #[arg(long, hide_short_help = true)]
    pub accept_unknown_clients: bool,
    /// Close the change even if the last check could not prove it; `status` and the journal keep showing it
    #[arg(long)]
    pub accept_unproven: bool,
    /// Watch client connections for this long before TLS is required of them
    ///
    /// Watch client connections for this many seconds before TLS is required of them. Clients that connect less often are not seen.
    #[arg(long, value_name = "S", default_value_t = 5, hide_short_help = true)]
    pub watch_clients_s: u64,
    /// Wait this long for a restarted node to be Synced; a running state transfer is always waited for
    #[arg(long, value_name = "S", default_value_t = 300)]
    pub sync_s_max: u64,
    /// Wait this long for sessions to leave a drained node
    #[arg(long, value_name = "S", default_value_t = 30)]
    pub drain_s_max: u64,
}

/// What a plan is made with.
#[derive(Debug, Args)]
pub struct PlanOptions {
    #[command(flatten)]
    pub running: RunOptions,
    /// Use RSA keys of this size, not ECDSA P-256
    #[arg(short, long, value_name = "BITS")]
    pub bits: Option<u32>,
    /// Validity of a node's certificate in days
    #[arg(long, value_name = "DAYS", default_value_t = 397)]
    pub leaf_days: u32,
    /// Change servers of a version that sealion was not tested with
    #[arg(long)]
    pub allow_untested: bool,
}

fn settings(how: &PlanOptions) -> Settings {
    Settings {
        key: how.bits.map_or(KeyKind::EcP256, |bits| KeyKind::Rsa { bits }),
        leaf_days: how.leaf_days,
        allow_untested: how.allow_untested,
        ..settings_of(&how.running)
    }
}

fn settings_of(running: &RunOptions) -> Settings {
    let mut settings = Settings {
        accept_unknown_clients: running.accept_unknown_clients,
        accept_unproven: running.accept_unproven,
        ..Settings::default()
    };
    settings.limits.clients_look_ms = running.watch_clients_s * 1000;
    settings.limits.sync_ms_max = running.sync_s_max * 1000;
    settings.limits.drain_ms_max = running.drain_s_max * 1000;
    settings
}

fn wish(verb: Verb, nouns: &[Noun]) -> Change {
    if nouns.is_empty() { Change::new(verb, Noun::ALL) } else { Change::new(verb, nouns.iter().copied()) }
}

fn confirm_what(verb: &str, plan: &Plan, what: &str, yes: Option<&str>) -> Result<(), OpsError> {
    if let Some(hash) = yes {
        if hash.len() >= 8 && plan.state_hash.starts_with(hash) {
            return Ok(());
        }
        return Err(OpsError::Refused(format!(
            "--yes {hash} is the hash of another change; nothing was changed\n  why:  {what}\n  next: sealion \
             {verb} --yes {}",
            plan.short_hash()
        )));
    }
    if !std::io::stdin().is_terminal() {
        return Err(OpsError::usage(
            "confirmation needed, but stdin is not a terminal",
            what.to_string(),
            format!("to confirm: sealion {verb} --yes {}", plan.short_hash()),
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
            "--yes {hash} is the hash of another plan; nothing was changed\n  why:  the plan for the present state \
             of the cluster has the hash {}\n  next: check it: sealion plan {}",
            plan.short_hash(),
            plan.change
        )));
    }
    if !std::io::stdin().is_terminal() {
        return Err(OpsError::usage(
            "confirmation needed, but stdin is not a terminal",
            "stdin is not a terminal",
            format!("check the plan, then add --yes {}", plan.short_hash()),
        ));
    }
    plan::print_plan(plan, Format::Table)?;
    ask()
}

fn ask() -> Result<(), OpsError> {
    print!("type yes to continue: ");
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    if line.trim() == "yes" {
        return Ok(());
    }
    Err(OpsError::Refused("not confirmed; nothing was changed".into()))
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
            "\ninterrupted; the journal contains what was begun\n  next: sealion resume (to continue) or sealion \
             undo (to revert)",
        );
        std::process::exit(4);
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    let began = Instant::now();
    let started_unix_ms = model::Clock::unix_ms(&model::SystemClock);
    let mut printer = Printer::new(began, global.verbose > 0);
    let ticker = printer.ticker();
    let finished = work(&mut |progress| printer.tell(progress));
    drop(ticker);
    let finished = finished?;
    if let Some(why) = change_ops::history::keep_change(cluster, command, started_unix_ms, &finished) {
        show::tell(&format!("note: this run could not be saved: {why}"));
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
    began: Instant,
    verbose: bool,
    now: Arc<Mutex<Option<StepNow>>>,
}

/// The step under way, for the line of progress.
struct StepNow {
    name: String,
    at: usize,
    of: usize,
    since: Instant,
    /// When the first step of this run began, and its place: what later ones take is guessed from these.
    first: (usize, Instant),
}

impl StepNow {
    fn line(&self) -> String {
        let done = self.at.abs_diff(self.first.0);
        let left = if done == 0 {
            String::new()
        } else {
            let each_s = self.since.duration_since(self.first.1).as_secs_f64() / done as f64;
            let steps_left = self.of.saturating_sub(self.at) + 1;
            format!(", about {} left", show::duration(each_s * steps_left as f64))
        };
        format!(
            "step {} of {}: {}, for {:.0} s{left}",
            self.at,
            self.of,
            self.name,
            self.since.elapsed().as_secs_f64()
        )
    }
}

impl Printer {
    pub fn new(began: Instant, verbose: bool) -> Self {
        Self { began, verbose, now: Arc::default() }
    }

    /// Says what is under way while nothing else is printed.
    fn ticker(&self) -> show::Ticker {
        let now = Arc::clone(&self.now);
        show::Ticker::start(move |_| {
            let now = now.lock().unwrap_or_else(PoisonError::into_inner);
            now.as_ref().map_or_else(|| "checking".to_owned(), StepNow::line)
        })
    }

    pub fn tell(&mut self, progress: Progress) {
        let at = self.began.elapsed().as_secs_f64();
        if let Progress::Step { id, at: n, of, direction, .. } = &progress {
            // Going back the last step comes first.
            let n = if *direction == Direction::Back { of.saturating_sub(*n) + 1 } else { *n };
            let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
            if now.as_ref().is_none_or(|now| now.name != *id) {
                let since = Instant::now();
                let first = now.as_ref().map_or((n, since), |now| now.first);
                *now = Some(StepNow { name: id.clone(), at: n, of: *of, since, first });
            }
        }
        match progress {
            Progress::Step { id, title, phase: "acting", direction, at: n, of } => {
                let back = if direction == Direction::Back { "revert: " } else { "" };
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
