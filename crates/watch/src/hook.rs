//! A program of the user's that is told of changes (`--on-change`): for a webhook, a mail, a ticket.
//!
//! One at a time, on a thread of its own: a look never waits for it. What it was not told, since it failed, is kept and told again
//! with the next look, so it may hear of a change twice and never of none, but for the oldest ones behind [`PENDING_MAX`].

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::clock::rfc3339;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use report::shape::{WATCH_EVENT_SCHEMA_ID, WatchEventReport, WatchEventRow, WatchSummary};

use crate::state::Change;

/// A cluster of a thousand servers that all go away at once is some 20,000 changes of 100 bytes.
pub const PENDING_MAX: usize = 20_000;
/// Of what the program prints; the rest is read and forgotten, so that it never waits for us.
const OUTPUT_BYTES_MAX: usize = 4096;
/// Of it, in a line of ours.
const SAID_CHARS_MAX: usize = 300;
/// Of `SEALION_SUMMARY`: a subject of a mail.
const SUMMARY_CHARS_MAX: usize = 200;
const POLL: Duration = Duration::from_millis(20);
/// Behind the program's end: whoever it left behind may still write.
const OUTPUT_AFTER_END: Duration = Duration::from_millis(500);
/// What it finds in its environment. Anything else of ours may hold a password (`MYSQL_PWD`, a proxy's address) or mean something to us
/// alone (`NOTIFY_SOCKET`).
const KEPT: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// The program with its words, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    pub words: Vec<String>,
    pub at_most: Duration,
}

/// As a shell would part them, and nothing else that a shell does: quotes, and a backslash before one character.
///
/// # Errors
/// Why these are no words.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == char => break,
                        Some('\\') if char == '"' => match chars.next() {
                            Some(one @ ('"' | '\\')) => word.push(one),
                            Some(one) => word.extend(['\\', one]),
                            None => {}
                        },
                        Some(one) => word.push(one),
                        None => return Err(format!("the quote {char} is never closed")),
                    }
                }
            }
            '\\' => match chars.next() {
                Some(one) => word.get_or_insert_default().push(one),
                None => return Err("a backslash is the last character".into()),
            },
            char if char.is_ascii_whitespace() => words.extend(word.take()),
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) {
        return Err("it names no program".into());
    }
    Ok(words)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookOutcome {
    Ok,
    Failed,
    Timeout,
}

impl HookOutcome {
    pub const ALL: [Self; 3] = [Self::Ok, Self::Failed, Self::Timeout];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
        }
    }
}

/// One run of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub outcome: HookOutcome,
    /// So many changes it was told.
    pub changes: usize,
    /// How it ended, where that was not well, with the beginning of what it printed.
    pub why: String,
}

/// For the metrics: of this process, but what is still to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookCounts {
    pub ok: u64,
    pub failed: u64,
    pub timeout: u64,
    pub pending: u64,
    /// The oldest changes, forgotten since the program failed for too long.
    pub dropped: u64,
}

impl HookCounts {
    pub const fn of(&self, outcome: HookOutcome) -> u64 {
        match outcome {
            HookOutcome::Ok => self.ok,
            HookOutcome::Failed => self.failed,
            HookOutcome::Timeout => self.timeout,
        }
    }
}

struct Running {
    outcome: Receiver<(HookOutcome, String)>,
    changes: usize,
}

/// The program, what it is to be told, and whether it runs.
pub struct Hook {
    command: HookCommand,
    cluster: String,
    /// Asked for by [`Hook::end`].
    stop: Arc<AtomicBool>,
    pending: VecDeque<WatchEventRow>,
    running: Option<Running>,
    /// Of the oldest pending change.
    attempts: u32,
    counts: HookCounts,
}

impl Hook {
    pub fn new(command: HookCommand, cluster: &str) -> Self {
        Self {
            command,
            cluster: cluster.to_owned(),
            stop: Arc::default(),
            pending: VecDeque::new(),
            running: None,
            attempts: 0,
            counts: HookCounts::default(),
        }
    }

    pub fn counts(&self) -> HookCounts {
        let pending = u64::try_from(self.pending.len()).unwrap_or(u64::MAX);
        HookCounts { pending, ..self.counts.clone() }
    }

    /// A look has ended. What it changed, and what is left of earlier ones, is told now, or behind the run that is under way.
    pub fn offer(&mut self, changes: &[Change], summary: &WatchSummary, now_unix_ms: u64) {
        self.pending.extend(changes.iter().map(|change| row(change, now_unix_ms)));
        let room = PENDING_MAX + self.running.as_ref().map_or(0, |running| running.changes);
        while self.pending.len() > room {
            // What runs has its own copy of the first ones, which are taken away by number when it ends.
            self.pending.remove(self.running.as_ref().map_or(0, |running| running.changes));
            self.counts.dropped += 1;
        }
        if self.running.is_none() && !self.pending.is_empty() {
            self.start(summary, now_unix_ms);
        }
    }

    fn start(&mut self, summary: &WatchSummary, now_unix_ms: u64) {
        self.attempts += 1;
        let changes: Vec<WatchEventRow> = self.pending.iter().cloned().collect();
        let event = WatchEventReport {
            schema: WATCH_EVENT_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            at_unix_ms: now_unix_ms,
            cluster: self.cluster.clone(),
            attempt: self.attempts,
            dropped: self.counts.dropped,
            changes,
            summary: summary.clone(),
        };
        let own = [
            ("SEALION_CLUSTER", one_line(&event.cluster, SUMMARY_CHARS_MAX)),
            ("SEALION_AT", rfc3339(now_unix_ms)),
            ("SEALION_CHANGES", event.changes.len().to_string()),
            ("SEALION_SUMMARY", summary_line(&event)),
        ];
        let json = serde_json::to_vec(&event).expect("it has no map with other keys than texts");
        let (send, outcome) = mpsc::channel();
        let (command, stop, changes) = (self.command.clone(), Arc::clone(&self.stop), event.changes.len());
        std::thread::spawn(move || drop(send.send(run(&command, &own, json, &stop))));
        self.running = Some(Running { outcome, changes });
    }

    /// The run that has ended, if one has.
    pub fn ended(&mut self) -> Option<Ran> {
        let running = self.running.as_ref()?;
        let (outcome, why) = match running.outcome.try_recv() {
            Ok(ended) => ended,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => {
                (HookOutcome::Failed, "sealion lost sight of it; please report this bug".into())
            }
        };
        let changes = running.changes;
        self.running = None;
        match outcome {
            HookOutcome::Ok => {
                self.pending.drain(..changes.min(self.pending.len()));
                self.attempts = 0;
                self.counts.ok += 1;
            }
            HookOutcome::Failed => self.counts.failed += 1,
            HookOutcome::Timeout => self.counts.timeout += 1,
        }
        Some(Ran { outcome, changes, why })
    }

    pub const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Ends what runs: nobody is there any more who would wait for it.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn row(change: &Change, at_unix_ms: u64) -> WatchEventRow {
    let (family, subject) = &change.key;
    WatchEventRow {
        at_unix_ms,
        family: (*family).to_owned(),
        subject: subject.clone(),
        from: change.from.clone(),
        to: change.to.clone(),
    }
}

/// Names are those of strangers: no control character of theirs becomes a line of a mail's head.
fn one_line(text: &str, chars_max: usize) -> String {
    let flat: String =
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(chars_max + 1).collect();
    if flat.chars().count() <= chars_max {
        return flat.trim().to_owned();
    }
    flat.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect()
}

/// What is worst comes first: a link in cleartext, a finding, a server that went away.
fn summary_line(event: &WatchEventReport) -> String {
    let rank = |row: &&WatchEventRow| match (row.family.as_str(), row.to.as_deref()) {
        ("link", Some("plain")) => 0,
        ("finding", Some("fail")) => 1,
        ("server", Some("silent" | "unknown")) => 2,
        (_, Some("unknown")) => 4,
        _ => 3,
    };
    let count = u32::try_from(event.changes.len()).unwrap_or(u32::MAX);
    let first = event.changes.iter().min_by_key(rank).map_or_else(String::new, |row| {
        let word = |word: &Option<String>| word.as_deref().unwrap_or("-").to_owned();
        format!(": {} {}: {} -> {}", row.family, row.subject, word(&row.from), word(&row.to))
    });
    let counted = model::text::counted(count, "change", "changes");
    one_line(&format!("{} in {}{first}", counted, event.cluster), SUMMARY_CHARS_MAX)
}

/// Runs it to its end, or to the end of its time; whatever it has started is ended with it.
fn run(
    command: &HookCommand,
    own: &[(&str, String)],
    json: Vec<u8>,
    stop: &AtomicBool,
) -> (HookOutcome, String) {
    let Some((program, args)) = command.words.split_first() else {
        return (HookOutcome::Failed, "it names no program".into());
    };
    let kept = KEPT.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let spawned = Command::new(program)
        .args(args)
        .env_clear()
        .envs(kept)
        .envs(own.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return (HookOutcome::Failed, format!("{program} cannot be run: {error}")),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read what it is told is not at fault.
        std::thread::spawn(move || drop(stdin.write_all(&json)));
    }
    let said = Arc::new(Mutex::new(Vec::new()));
    let readers =
        [collect(child.stdout.take(), Arc::clone(&said)), collect(child.stderr.take(), Arc::clone(&said))];
    let ended = wait(&mut child, command.at_most, stop);
    let deadline = Instant::now() + OUTPUT_AFTER_END;
    while readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < deadline {
        std::thread::sleep(POLL);
    }
    let said = {
        let bytes = said.lock().unwrap_or_else(PoisonError::into_inner);
        one_line(&String::from_utf8_lossy(&bytes), SAID_CHARS_MAX)
    };
    let (outcome, how) = match ended {
        Ok(()) => return (HookOutcome::Ok, String::new()),
        Err(ended) => ended,
    };
    let tail = if said.is_empty() { String::new() } else { format!("; it printed: {said}") };
    (outcome, format!("{program} {how}{tail}"))
}

fn collect(
    stream: Option<impl Read + Send + 'static>,
    sink: Arc<Mutex<Vec<u8>>>,
) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut chunk = [0; 4096];
        while let Ok(count) = stream.read(&mut chunk) {
            if count == 0 {
                break;
            }
            let mut bytes = sink.lock().unwrap_or_else(PoisonError::into_inner);
            let room = OUTPUT_BYTES_MAX.saturating_sub(bytes.len()).min(count);
            bytes.extend_from_slice(chunk.get(..room).unwrap_or_default());
        }
    })
}

fn wait(child: &mut Child, at_most: Duration, stop: &AtomicBool) -> Result<(), (HookOutcome, String)> {
    let Some(pid) = i32::try_from(child.id()).ok().map(Pid::from_raw) else {
        return Err((HookOutcome::Failed, "has no process id".into()));
    };
    let deadline = Instant::now() + at_most;
    let cut = loop {
        // It stays a zombie until its group is ended: the number of the group is nobody else's as long.
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(pid), flags) {
            Ok(WaitStatus::StillAlive) | Err(Errno::EINTR) => {}
            _ => break None,
        }
        if stop.load(Ordering::Relaxed) {
            break Some("was ended together with sealion watch".to_owned());
        }
        if Instant::now() > deadline {
            break Some(format!("took longer than {} s and was killed", at_most.as_secs()));
        }
        std::thread::sleep(POLL);
    };
    let _ = killpg(pid, Signal::SIGKILL);
    let status = child.wait();
    match (cut, status) {
        (Some(how), _) => Err((HookOutcome::Timeout, how)),
        (None, Ok(status)) if status.success() => Ok(()),
        (None, Ok(status)) => Err((HookOutcome::Failed, format!("ended with {status}"))),
        (None, Err(error)) => Err((HookOutcome::Failed, format!("cannot be waited for: {error}"))),
    }
}

#[cfg(test)]
mod tests;
