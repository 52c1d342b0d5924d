//! Commands that plan and change: what they share. Each has a module of its own.

pub mod abandon;
pub mod apply;
pub mod enable;
pub mod join;
pub mod plan;
pub mod resume;
pub mod rotate_disk;

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ::change::{Direction, Window};
use change_ops::gates::Gates;
use change_ops::roll::{self, AccountName, AtRestOptions, Finished, Progress, Settings};
use clap::Args;
use model::{Change, Noun, Plan, TlsProfile, Verb};
use site::{Cluster, OpsError};
use trust::{KeyKind, RSA_BITS_MAX, RSA_BITS_MIN};

use crate::options::{Format, Global};
use crate::show;

/// A change needs each node's files and service, which connection options do not name.
macro_rules! from_inventory {
    ($examples:literal) => {
        concat!(
            "Examples:\n",
            $examples,
            "\n\nNodes, login and paths are read from the inventory. `sealion config inventory -h HOST -u USER -p --out sealion.toml`\n\
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
    /// Require TLS of clients even if some may still connect without it
    ///
    /// Require TLS of clients even if it could not be seen whether some still connect without it.
    #[arg(long)]
    pub accept_unknown_clients: bool,
    /// Shut out clients that the next certificate, CA or profile does not fit
    ///
    /// With --profile: shut out clients that were seen to use a version of TLS or a cipher suite that the profile does not have. Where servers
    /// come to trust another CA of clients, or none: shut out accounts that require a certificate of the one before. Where a server serves a
    /// certificate of another CA than the one that signs the next: shut out clients that verify it.
    #[arg(long, hide_short_help = true)]
    pub accept_shut_out: bool,
    /// Close the change even if the last check could not prove it
    ///
    /// Close the change even if the last check could not prove it; `status` and the journal keep showing it.
    #[arg(long)]
    pub accept_unproven: bool,
    /// Watch client connections for this long before TLS is required of them
    ///
    /// Watch client connections for this many seconds before TLS is required of them. Clients that connect less often are not seen.
    #[arg(long, value_name = "S", default_value_t = 5)]
    pub watch_clients_s: u64,
    /// Wait this long for a restarted node to be Synced
    ///
    /// Wait this long for a restarted node to be Synced; a running state transfer is always waited for.
    #[arg(long, value_name = "S", default_value_t = 300)]
    pub sync_s_max: u64,
    /// Wait this long for sessions to leave a drained node
    #[arg(long, value_name = "S", default_value_t = 30)]
    pub drain_s_max: u64,
}

pub fn rsa_bits(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|bits| (RSA_BITS_MIN..=RSA_BITS_MAX).contains(bits)).ok_or_else(|| {
        format!(
            "that is no length of an RSA key\n  why:  it must be from {RSA_BITS_MIN} to {RSA_BITS_MAX} bits\n  next: -b 3072; or leave it out \
             for ECDSA P-256"
        )
    })
}

/// What a plan is made with.
#[derive(Debug, Args)]
pub struct PlanOptions {
    #[command(flatten)]
    pub running: RunOptions,
    /// With accounts: leave this account as it is
    ///
    /// With accounts: leave this account as it is, as CREATE USER names it: app@%. May be given several times.
    #[arg(long, value_name = "USER@HOST", hide_short_help = true)]
    pub leave: Vec<AccountName>,
    /// With accounts: require TLS of this account although it is used in cleartext
    ///
    /// With accounts: require TLS of this account although it is used in cleartext; these clients are refused at their next login. May be
    /// given several times.
    #[arg(long, value_name = "USER@HOST", hide_short_help = true)]
    pub force: Vec<AccountName>,
    /// Use RSA keys of this size, not ECDSA P-256
    #[arg(short, long, value_name = "BITS", value_parser = rsa_bits)]
    pub bits: Option<u32>,
    /// Validity of a node's certificate in days
    #[arg(long, value_name = "DAYS", default_value_t = 397)]
    pub leaf_days: u32,
    /// Change servers of a version that sealion was not tested with
    #[arg(long)]
    pub allow_untested: bool,
    /// Change files that Ansible, Puppet or another tool writes
    ///
    /// Change files that Ansible, Puppet, an operator or another tool writes. Its template needs the same lines before its next run.
    #[arg(long, hide_short_help = true)]
    pub accept_managed: bool,
    /// With tables: threads of InnoDB that encrypt
    ///
    /// With tables: so many threads of InnoDB encrypt or decrypt, and go on to do so.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=255), hide_short_help = true)]
    pub encryption_threads: u32,
    /// With tables: pages a second that they may write anew
    ///
    /// With tables: pages a second that these threads may write anew, while the change runs. Without this option the server's own setting
    /// (innodb_encryption_rotation_iops) stays as it is.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    pub encryption_iops: Option<u32>,
    /// With logs: remove the binary logs of before
    ///
    /// With logs: remove the binary logs of before, once every replica has them. Else they stay as they are until they expire, and a
    /// restore to a point of time begins with a new backup only afterwards.
    #[arg(long, hide_short_help = true)]
    pub purge_binary_logs: bool,
    /// Change servers although their OpenSSL has a known fault
    ///
    /// Change servers although the TLS library that they, or garbd, run with has a known fault. The plan names library, fault and source.
    #[arg(long, hide_short_help = true)]
    pub skip_openssl_check: bool,
}

/// Which TLS clients are let in with.
#[derive(Debug, Args)]
pub struct ProfileOptions {
    /// With clients: versions of TLS and cipher suites that servers take: modern, intermediate
    ///
    /// With clients: the versions of TLS and the cipher suites that servers take from clients and replicas. modern is TLS 1.3 only;
    /// intermediate is TLS 1.2 with ECDHE and AEAD, and TLS 1.3 (after Mozilla, Server Side TLS). Clients that were seen to use anything else
    /// stop the change before its first step. Without this option the servers' own settings stay as they are.
    #[arg(long, value_name = "PROFILE", hide_short_help = true)]
    pub profile: Option<TlsProfile>,
}

/// What holds a change between two of its steps. In no short help: it has a screen only.
#[derive(Debug, Args)]
pub struct GateOptions {
    /// Stop after this step; sealion resume continues
    ///
    /// Stop after this step, an id that the plan shows, such as E2.n1. The change stays open; the exit code is 4. sealion resume
    /// continues.
    #[arg(long, value_name = "STEP", hide_short_help = true, help_heading = BETWEEN_STEPS)]
    pub stop_after: Option<String>,
    /// Begin no step while this file exists
    ///
    /// Begin no step while this file exists on this machine. A step under way is brought to its end. Remove the file to continue.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = BETWEEN_STEPS)]
    pub pause_file: Option<PathBuf>,
    /// Change servers only at these times of the day
    ///
    /// Begin a step that changes something, or restarts a server, only at these times of the day by this machine's wall clock; outside
    /// of them it waits. 22:00-04:30 goes over midnight; 00:00-24:00 is the whole day.
    #[arg(long, value_name = "HH:MM-HH:MM", hide_short_help = true, help_heading = BETWEEN_STEPS)]
    pub window: Option<Window>,
    /// Change servers only while no replica lags more than this
    ///
    /// Begin a step that changes something only while no replica of the inventory is more than this many seconds behind its source. A
    /// replica that cannot tell, since its replication does not run, holds the change as well. For replication only.
    #[arg(long, value_name = "S", hide_short_help = true, help_heading = BETWEEN_STEPS)]
    pub max_lag: Option<u64>,
}

const BETWEEN_STEPS: &str = "Between two steps";

impl GateOptions {
    fn gates(&self) -> Gates {
        Gates {
            stop_after: self.stop_after.clone(),
            pause_file: self.pause_file.clone(),
            window: self.window,
            lag_s_max: self.max_lag,
        }
    }
}

/// Options that have no effect on a command are not offered there. They are accepted all the same, so that scripts go on.
macro_rules! not_offered {
    ($($id:literal),+) => {
        |arg: clap::Arg| {
            let is_hidden = [$($id),+].contains(&arg.get_id().as_str());
            if is_hidden { arg.hide(true) } else { arg }
        }
    };
}
pub(crate) use not_offered;

fn settings(how: &PlanOptions) -> Settings {
    Settings {
        key: how.bits.map_or(KeyKind::EcP256, |bits| KeyKind::Rsa { bits }),
        leaf_days: how.leaf_days,
        allow_untested: how.allow_untested,
        accept_managed: how.accept_managed,
        skip_openssl_check: how.skip_openssl_check,
        leave_accounts: how.leave.clone(),
        at_rest: AtRestOptions {
            threads: how.encryption_threads,
            iops: how.encryption_iops,
            purges_binary_logs: how.purge_binary_logs,
            measures: false,
        },
        force_accounts: how.force.clone(),
        ..settings_of(&how.running)
    }
}

fn settings_of(running: &RunOptions) -> Settings {
    let mut settings = Settings {
        accept_unknown_clients: running.accept_unknown_clients,
        accept_unproven: running.accept_unproven,
        accept_shut_out: running.accept_shut_out,
        ..Settings::default()
    };
    settings.limits.clients_look_ms = running.watch_clients_s * 1000;
    settings.limits.sync_ms_max = running.sync_s_max * 1000;
    settings.limits.drain_ms_max = running.drain_s_max * 1000;
    settings
}

/// The cluster as its newest change has it: with the node that it makes a member, or has made one.
fn cluster_of_newest(global: &Global) -> Result<Cluster, OpsError> {
    roll::with_joiner(Cluster::read(&global.inventory)?)
}

/// Without nouns: all that the nodes' way of replicating has.
fn wish(verb: Verb, nouns: &[Noun]) -> Change {
    Change::new(verb, nouns.iter().copied())
}

/// Asks about a plan of before. `steps` are shown to a person who is asked, a line each.
pub(super) fn confirm_what(
    verb: &str,
    plan: &Plan,
    what: &str,
    steps: &[String],
    yes: Option<&str>,
) -> Result<(), OpsError> {
    if let Some(hash) = yes {
        if hash.len() >= 8 && plan.state_hash.starts_with(hash) {
            return Ok(());
        }
        return Err(OpsError::Refused(format!(
            "--yes {hash} does not match the plan; nothing was changed\n  why:  {what}\n  next: sealion {verb} --yes {}",
            plan.short_hash()
        )));
    }
    if !std::io::stdin().is_terminal() {
        for line in steps {
            show::out(line);
        }
        return Err(OpsError::usage(
            "confirmation needed, but stdin is not a terminal",
            what.to_string(),
            format!("to confirm: sealion {verb} --yes {}", plan.short_hash()),
        ));
    }
    for line in what.lines() {
        println!("{}", show::fitted("", line));
    }
    for line in steps {
        println!("{line}");
    }
    ask()
}

/// Asks a person, or compares the hash that a program gave.
pub(super) fn confirm(plan: &Plan, yes: Option<&str>) -> Result<(), OpsError> {
    if let Some(hash) = yes {
        if hash.len() >= 8 && plan.state_hash.starts_with(hash) {
            return Ok(());
        }
        return Err(OpsError::Refused(format!(
            "--yes {hash} does not match the plan; nothing was changed\n  why:  the plan for the present state \
             of the cluster and its inventory has the hash {}: one of them is not as it was when the plan was read\n  next: check it: sealion \
             plan {}",
            plan.short_hash(),
            plan.change
        )));
    }
    if !std::io::stdin().is_terminal() {
        return Err(OpsError::usage(
            "confirmation needed, but stdin is not a terminal",
            format!("nobody can be asked about the plan {} ({})", plan.short_hash(), plan.change),
            format!("check the plan, then add --yes {}", plan.short_hash()),
        ));
    }
    plan::print_plan(plan, Format::Table)?;
    ask()
}

pub(super) fn ask() -> Result<(), OpsError> {
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
    let began = Instant::now();
    let mut printer = Printer::new(began, global.verbose > 0);
    // Every step may be cut off anywhere: what was begun is in the journal. Said, because a person cannot know.
    let now = Arc::clone(&printer.now);
    let ports: Vec<(String, String, u16)> =
        cluster.nodes.iter().map(|node| (node.name.to_string(), node.address.clone(), node.port)).collect();
    ctrlc::set_handler(move || {
        // Held by nobody for long; poisoned or not, what stands there is true.
        let now = now.lock().unwrap_or_else(PoisonError::into_inner);
        let is_up = |name: &str| {
            let (_, address, port) = ports.iter().find(|(known, ..)| known == name)?;
            answers(address, *port)
        };
        show::tell(&format!("\n{}", show::fitted_error(&interrupted(now.as_ref(), &is_up))));
        std::process::exit(4);
    })
    .map_err(|error| OpsError::internal("cannot handle Ctrl-C", error))?;
    let started_unix_ms = model::Clock::unix_ms(&model::SystemClock);
    let ticker = printer.ticker();
    let finished = work(&mut |progress| printer.tell(progress));
    drop(ticker);
    let finished = finished?;
    if let Some(why) = change_ops::history::keep_change(cluster, command, started_unix_ms, &finished) {
        show::tell(&format!("note: this run could not be saved: {why}"));
    }
    let outcome = if finished.stopped_after.is_some() { "stopped-after" } else { "complete" };
    if global.format == Format::Json {
        show::out(&change_json(&finished.plan_id, outcome, &finished.notes, &finished.not_proven, began));
    } else if let Some(step) = &finished.stopped_after {
        show::out(&format!(
            "stopped after {step} in {:.0} s, as --stop-after says; the change is open (journal {})",
            began.elapsed().as_secs_f64(),
            finished.plan_id
        ));
    } else {
        show::out(&format!(
            "{} in {:.0} s (journal {})",
            show::green(if finished.direction == Direction::Back { "reverted" } else { "done" }),
            began.elapsed().as_secs_f64(),
            finished.plan_id
        ));
    }
    for line in &finished.not_proven {
        show::tell(&format!("{} {line}", show::bold("note:")));
    }
    if finished.stopped_after.is_some() {
        show::tell("  next: sealion resume (to continue), or sealion undo (to revert)");
        return Ok(4);
    }
    Ok(0)
}

/// The shape of docs/schema/change-1.json.
fn change_json(
    plan_id: &str,
    outcome: &str,
    notes: &[(String, String)],
    not_proven: &[String],
    began: Instant,
) -> String {
    let steps: Vec<_> =
        notes.iter().map(|(step, note)| serde_json::json!({"step": step, "note": note})).collect();
    let json = serde_json::json!({
        "schema": "sealion/change/1", "plan": plan_id, "outcome": outcome, "steps": steps,
        "not_proven": not_proven, "took_s": began.elapsed().as_secs_f64(),
    });
    json.to_string()
}

/// A person waits for the prompt.
const ASK_PORT: Duration = Duration::from_secs(1);

/// Whether a connection to the SQL port is accepted, or refused; `None`: nobody can tell.
fn answers(address: &str, port: u16) -> Option<bool> {
    let socket = net::resolve(address, port, ASK_PORT).ok()?.into_iter().next()?;
    match std::net::TcpStream::connect_timeout(&socket, ASK_PORT) {
        Ok(_) => Some(true),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Some(false),
        Err(_) => None,
    }
}

/// What is said after Ctrl-C: where it stopped, and what is known of the node there.
fn interrupted(now: Option<&StepNow>, is_up: &dyn Fn(&str) -> Option<bool>) -> String {
    let next = "  next: sealion resume (to continue), sealion undo (to revert), or sealion abandon (to close it as it is)";
    let Some(now) = now else {
        return format!("interrupted before the first step\n{next}");
    };
    if now.phase == "waiting" {
        return format!(
            "interrupted while it waited before step {} of {}, {} ({}): nothing was under way, and nothing of this step was changed\n{next}",
            now.at,
            now.of,
            now.id,
            now.titled()
        );
    }
    let mut lines = vec![format!(
        "interrupted in step {} of {}, {} ({}), while {}; the journal contains what was begun",
        now.at,
        now.of,
        now.id,
        now.titled(),
        now.phase
    )];
    for node in &now.nodes {
        let stage = match (now.phase, now.restarts, &now.last_line) {
            ("checking", ..) => "this step had not changed it yet".to_owned(),
            _ if now.kind == providers::JOIN && now.direction == Direction::Forward => {
                "it may be starting, or receiving the data of the cluster, and goes on with that".to_owned()
            }
            ("verifying", true, _) => "it was restarted and is back in service".to_owned(),
            (_, true, Some(line)) => format!("it was drained ({line}), and may be stopped"),
            (_, true, None) => "it may be draining; it was not stopped yet, or was down before".to_owned(),
            _ => "its files may be changed; it was not restarted".to_owned(),
        };
        let state = match is_up(node) {
            Some(true) => "up: its port accepts connections",
            Some(false) => "down, stopping or starting: its port refuses connections",
            None => "whether it is up cannot be determined",
        };
        lines.push(format!("  node: {node}: {stage}; now {state}"));
    }
    lines.push(next.into());
    lines.join("\n")
}

pub struct Printer {
    began: Instant,
    verbose: bool,
    now: Arc<Mutex<Option<StepNow>>>,
    /// The step whose beginning was told: an action in parts begins once.
    told: Option<(String, Direction)>,
}

/// The step under way, for the line of progress.
#[derive(Clone)]
struct StepNow {
    id: String,
    kind: String,
    title: String,
    phase: &'static str,
    direction: Direction,
    at: usize,
    of: usize,
    nodes: Vec<String>,
    restarts: bool,
    restarts_left: usize,
    steps_left: usize,
    since: Instant,
    /// An action of it has run, so that its time counts.
    has_acted: bool,
    last_line: Option<String>,
    /// Why it is not begun yet.
    waits: Option<String>,
    /// Restarts of this run so far, and the seconds that they took.
    restarted: (usize, f64),
}

/// What a restart takes until one was seen; the estimate of a plan is 8 to 25 s.
const RESTART_S: f64 = 15.0;
const OTHER_STEP_S: f64 = 2.0;

/// The first of what remains has taken `spent_s` by now.
fn left_s(restarts_left: usize, others_left: usize, restart_s: f64, first_s: f64, spent_s: f64) -> f64 {
    let all = restarts_left as f64 * restart_s + others_left as f64 * OTHER_STEP_S;
    all - spent_s.min(first_s)
}

impl StepNow {
    fn titled(&self) -> String {
        titled(&self.title, self.direction)
    }

    fn restart_s(&self) -> f64 {
        let (count, seconds) = self.restarted;
        if count == 0 { RESTART_S } else { seconds / count as f64 }
    }

    fn line(&self) -> String {
        let spent_s = self.since.elapsed().as_secs_f64();
        if let Some(why) = &self.waits {
            return format!(
                "waiting before step {} of {}, {}, for {spent_s:.0} s: {why}",
                self.at, self.of, self.id
            );
        }
        let others = self.steps_left.saturating_sub(self.restarts_left);
        let first_s = if self.restarts { self.restart_s() } else { OTHER_STEP_S };
        let left_s = left_s(self.restarts_left, others, self.restart_s(), first_s, spent_s);
        let back = if self.direction == Direction::Back { "reverting " } else { "" };
        format!(
            "{back}step {} of {}: {}, for {spent_s:.0} s, about {} left",
            self.at,
            self.of,
            self.id,
            show::duration(left_s.max(1.0))
        )
    }
}

/// What a step does, in the direction in which it goes.
fn titled(title: &str, direction: Direction) -> String {
    if direction == Direction::Back { format!("revert of: {title}") } else { title.to_owned() }
}

impl Printer {
    pub fn new(began: Instant, verbose: bool) -> Self {
        Self { began, verbose, now: Arc::default(), told: None }
    }

    /// Says what is under way while nothing else is printed.
    fn ticker(&self) -> show::Ticker {
        let now = Arc::clone(&self.now);
        show::Ticker::start(move |_| {
            let now = now.lock().unwrap_or_else(PoisonError::into_inner);
            now.as_ref().map_or_else(|| "checking".to_owned(), StepNow::line)
        })
    }

    /// Keeps what the line of progress and Ctrl-C say.
    fn keep(&self, progress: &Progress) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Progress::Step {
                id,
                kind,
                title,
                phase,
                direction,
                at,
                of,
                nodes,
                restarts,
                restarts_left,
                steps_left,
            } => {
                let before = now.take();
                let is_same = before.as_ref().is_some_and(|now| now.id == *id && now.direction == *direction);
                let mut restarted = before.as_ref().map_or((0, 0.0), |now| now.restarted);
                if let Some(one) = before.as_ref().filter(|one| !is_same && one.restarts && one.has_acted) {
                    restarted = (restarted.0 + 1, restarted.1 + one.since.elapsed().as_secs_f64());
                }
                let kept = before.filter(|_| is_same);
                *now = Some(StepNow {
                    id: id.clone(),
                    kind: kind.clone(),
                    title: title.clone(),
                    phase,
                    direction: *direction,
                    at: *at,
                    of: *of,
                    nodes: nodes.clone(),
                    restarts: *restarts,
                    restarts_left: *restarts_left,
                    steps_left: *steps_left,
                    since: kept.as_ref().map_or_else(Instant::now, |now| now.since),
                    has_acted: *phase == "acting" || kept.as_ref().is_some_and(|now| now.has_acted),
                    last_line: kept.and_then(|now| now.last_line),
                    waits: None,
                    restarted,
                });
            }
            // The time for which it waits is none of the step's.
            Progress::Waiting { why, .. } => {
                if let Some(now) = now.as_mut() {
                    now.phase = if why.is_some() { "waiting" } else { "checking" };
                    if now.waits.is_some() != why.is_some() {
                        now.since = Instant::now();
                    }
                    now.waits.clone_from(why);
                }
            }
            Progress::Line(line) => {
                if let Some(now) = now.as_mut() {
                    now.last_line = Some(line.clone());
                }
            }
            Progress::Done { .. } | Progress::Failed { .. } => {}
        }
    }

    pub fn tell(&mut self, progress: Progress) {
        let at = self.began.elapsed().as_secs_f64();
        self.keep(&progress);
        match progress {
            Progress::Step { id, phase: "acting", direction, .. }
                if self.told.as_ref().is_some_and(|(known, way)| *known == id && *way == direction) => {}
            Progress::Step { id, title, phase: "acting", direction, at: n, of, .. } => {
                self.told = Some((id.clone(), direction));
                let mark = format!("{at:6.1} s  {n:>2}/{of}  {id:<8} ");
                show::tell(&show::fitted_progress(&mark, &titled(&title, direction)));
            }
            Progress::Step { id, phase, .. } if self.verbose => {
                show::tell(&format!("{at:6.1} s         {id:<8} {phase}"));
            }
            Progress::Done { id, note, .. } => {
                let mark = format!("{at:6.1} s  {} {id:<8} ", show::green("  ok "));
                show::tell(&show::fitted_progress(&mark, &note));
            }
            Progress::Failed { id, why } => {
                // All of it is said at the end.
                let what = why.lines().next().unwrap_or_default();
                show::tell(&format!("{at:6.1} s  {} {id:<8} {what}", show::red(" fail")));
            }
            Progress::Waiting { id, direction, why } => {
                let mark = format!("{at:6.1} s   wait {id:<8} ");
                let over = if direction == Direction::Back { "goes on with the undo" } else { "goes on" };
                show::tell(&show::fitted_progress(&mark, why.as_deref().unwrap_or(over)));
            }
            Progress::Line(line) => {
                show::tell(&show::fitted_progress(&format!("{at:6.1} s         "), &line));
            }
            Progress::Step { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: &str, phase: &'static str, direction: Direction, left: (usize, usize)) -> Progress {
        Progress::Step {
            id: id.into(),
            kind: "round".into(),
            title: "n1 accepts only TLS from nodes; restart".into(),
            phase,
            direction,
            at: 14,
            of: 19,
            nodes: vec!["n1".into()],
            restarts: true,
            restarts_left: left.0,
            steps_left: left.1,
        }
    }

    #[test]
    fn the_time_left_counts_restarts_and_falls() {
        // At step 8 of 19, with five restarts to come: not a second.
        let at = |restarts, others, spent| left_s(restarts, others, 10.0, 10.0, spent);
        assert!((at(5, 6, 0.0) - 62.0).abs() < 0.1);
        let falling = [at(5, 6, 0.0), at(5, 6, 9.0), at(5, 6, 30.0), at(4, 6, 0.0), at(0, 2, 1.0)];
        assert!(falling.windows(2).all(|two| two[1] <= two[0]), "{falling:?}");
    }

    #[test]
    fn undo_has_one_number_a_step_and_says_what_it_reverts() {
        let printer = Printer::new(Instant::now(), false);
        printer.keep(&step("E4.n1", "acting", Direction::Back, (3, 8)));
        let now = printer.now.lock().expect("nobody panicked").clone().expect("a step");
        let line = now.line();
        assert!(
            line.starts_with("reverting step 14 of 19: E4.n1") && line.ends_with("about 55 s left"),
            "{line}"
        );
        assert_eq!(now.titled(), "revert of: n1 accepts only TLS from nodes; restart");
    }

    #[test]
    fn an_interrupt_names_the_step_its_node_and_all_ways_on() {
        let printer = Printer::new(Instant::now(), false);
        let text = || {
            let now = printer.now.lock().expect("nobody panicked").clone();
            interrupted(now.as_ref(), &|_| Some(false))
        };
        assert!(text().contains("before the first step"));
        printer.keep(&step("E4.n1", "checking", Direction::Forward, (3, 8)));
        assert!(text().contains("had not changed it yet"), "{}", text());
        printer.keep(&step("E4.n1", "acting", Direction::Forward, (3, 8)));
        printer.keep(&Progress::Line("n1: drained in 2 s".into()));
        let text = text();
        for part in [
            "step 14 of 19, E4.n1",
            "drained in 2 s",
            "now down",
            "sealion resume",
            "sealion undo",
            "sealion abandon",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn what_waits_is_shown_and_its_time_is_none_of_the_steps() {
        let printer = Printer::new(Instant::now(), false);
        printer.keep(&step("E4.n1", "checking", Direction::Forward, (3, 8)));
        let waiting = |why: Option<&str>| Progress::Waiting {
            id: "E4.n1".into(),
            direction: Direction::Forward,
            why: why.map(str::to_owned),
        };
        printer.keep(&waiting(Some("paused while /p exists")));
        let now = || printer.now.lock().expect("nobody panicked").clone().expect("a step");
        let line = now().line();
        assert!(
            line.starts_with("waiting before step 14 of 19, E4.n1, for 0 s: paused while /p exists"),
            "{line}"
        );
        let text = interrupted(Some(&now()), &|_| Some(true));
        assert!(
            text.contains("while it waited before step 14 of 19, E4.n1")
                && text.contains("nothing was under way")
                && !text.contains("may"),
            "{text}"
        );
        printer.keep(&waiting(None));
        assert!(now().line().starts_with("step 14 of 19: E4.n1, for 0 s"), "{}", now().line());
        assert_eq!(now().phase, "checking");
    }

    #[test]
    fn json_of_a_change_has_what_its_schema_requires() {
        let schema = include_str!("../../../../docs/schema/change-1.json");
        let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        let outcomes = schema["properties"]["outcome"]["enum"].as_array().expect("outcomes");
        for outcome in ["complete", "nothing-to-do", "abandoned", "stopped-after"] {
            assert!(outcomes.iter().any(|known| known == outcome), "{outcome}");
        }
        let json = change_json("p", "nothing-to-do", &[("E1".into(), "ok".into())], &[], Instant::now());
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let properties = schema["properties"].as_object().expect("properties");
        assert!(
            json.as_object().expect("an object").keys().all(|key| properties.contains_key(key)),
            "{json}"
        );
        for key in schema["required"].as_array().expect("keys") {
            assert!(json.get(key.as_str().expect("text")).is_some(), "{key} is missing in {json}");
        }
    }
}
