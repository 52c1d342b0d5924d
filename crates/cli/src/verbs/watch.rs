//! `sealion watch`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ::watch::daemon::{Event, WatchOptions, Watched};
use ::watch::hook::{HookCommand, HookOutcome, Ran};
use ::watch::rotation::{Rotated, RotationOutcome};
use ::watch::state::Change;
use clap::Args;
use model::{Clock, SystemClock};
use site::OpsError;

use super::watch_rotate;
use crate::options::{Connect, Format, Global, TABLE_OR_JSON, connect, formats};
use crate::{interrupt, show};

#[derive(Debug, Args)]
#[command(
    arg = formats(TABLE_OR_JSON),
    after_long_help = "Each check does what `sealion status` does: it asks every server, captures traffic, and reads certificates. Nothing is
written to a server, so a link on which nobody speaks is unknown. What a check could not see is unknown too, and not what it
was before.

Examples:
  sealion watch --every 300 --listen 127.0.0.1:9542
  sealion watch --once --textfile /var/lib/node_exporter/sealion.prom
  sealion watch --on-change '/usr/local/bin/sealion-to-chat --channel dba'

With [watch.rotate] in the inventory, certificates that end soon are replaced, as `sealion rotate` does it: only where no server
needs a restart. Nothing else is ever changed.

Exit codes: 0 it was ended, or with --once all servers answered; 3 with --once, a server did not answer, or the check, the command
of --on-change, or a rotation that was due failed."
)]
pub struct WatchArgs {
    /// Check once, and end
    #[arg(long, conflicts_with = "listen")]
    pub once: bool,
    /// Check this often
    ///
    /// Seconds from the beginning of one check to the beginning of the next, give or take a tenth.
    #[arg(long, value_name = "S", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub every: u64,
    /// Give up a check after this long
    ///
    /// A check that takes longer has failed, and everything is unknown until the next one that does not.
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub timeout: u64,
    /// Capture traffic for this long in each check; 0 captures nothing
    #[arg(long, value_name = "MS", default_value_t = 1500)]
    pub look_ms: u64,
    /// Ask servers which of their files they call encrypted
    ///
    /// Ask each server, by SQL, which of its tablespaces and logs it calls encrypted, and say when one is not any more. No file is read:
    /// it is what the server says (`sealion status rest` reads the files). MariaDB and MySQL go through all of their tablespaces for it,
    /// and the login needs the privilege PROCESS.
    #[arg(long)]
    pub at_rest: bool,
    /// Serve /metrics for Prometheus here
    ///
    /// Serve /metrics for Prometheus at this address. Whoever reaches it can read names of servers and states of links; use a loopback
    /// address, or one that only Prometheus reaches. Port 0 is any free one; it is printed.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Write the metrics to FILE after each check
    ///
    /// Write the same text to FILE after each check, for node_exporter's textfile collector. It is written aside and renamed.
    #[arg(long, value_name = "FILE")]
    pub textfile: Option<PathBuf>,
    /// Keep states and their history in FILE
    ///
    /// The default is the store of the inventory's state directory. `sealion web` shows what is in it.
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Run CMD when a check has changed something
    ///
    /// Run CMD when a check has changed something: a program with its arguments, in quotes as a shell would part them, and without a shell
    /// unless CMD names one. It reads the changes as JSON on its standard input. It runs beside the checks, one at a time; if it fails, it
    /// is told the same changes again after the next check. The default is `on_change` of `[watch]` in the inventory.
    #[arg(long, value_name = "CMD")]
    pub on_change: Option<String>,
    /// Kill the command of --on-change after this long
    #[arg(long, value_name = "S", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    pub on_change_timeout: u64,
    #[command(flatten)]
    pub connect: Connect,
}

/// The program that is told of changes, if one is named.
fn hook(args: &WatchArgs, of_inventory: &[String]) -> Result<Option<HookCommand>, OpsError> {
    let words = match &args.on_change {
        Some(text) => ::watch::hook::words(text).map_err(|why| {
            OpsError::usage(
                format!("--on-change {text:?} is no command"),
                why,
                "name a program and its arguments: --on-change '/usr/local/bin/notify --to dba'",
            )
        })?,
        None if of_inventory.is_empty() => return Ok(None),
        None => of_inventory.to_vec(),
    };
    Ok(Some(HookCommand { words, at_most: Duration::from_secs(args.on_change_timeout) }))
}

pub fn watch(global: &Global, args: &WatchArgs) -> Result<u8, OpsError> {
    let cluster = connect::cluster(global, &args.connect)?;
    let name = cluster.name.clone();
    let stop = interrupt::flag()?;
    let options = WatchOptions {
        once: args.once,
        every: Duration::from_secs(args.every),
        at_most: Duration::from_secs(args.timeout),
        look_ms: args.look_ms,
        at_rest: args.at_rest,
        listen: args.listen,
        textfile: args.textfile.clone(),
        store: args.store.clone().unwrap_or_else(|| site::runs::path(&cluster)),
        on_change: hook(args, &cluster.watch.on_change)?,
        rotation: watch_rotate::of_inventory(&global.inventory, &cluster)?,
    };
    let is_json = global.format == Format::Json;
    // Until a look has ended.
    let mut blind = true;
    let (mut unkept, mut unwritten): (Option<String>, Option<String>) = (None, None);
    let mut failed: Result<(), OpsError> = Ok(());
    let mut tell = |watched: &Watched| {
        blind = watched.state.meta.last_success_unix_ms != watched.state.meta.last_look_unix_ms;
        // Said when it begins, and not again with each check.
        if unkept.as_ref() != watched.unkept.as_ref()
            && let Some(why) = &watched.unkept
        {
            show::tell(&format!("warning: states are kept in memory only: {why}"));
        }
        unkept.clone_from(&watched.unkept);
        if unwritten.as_ref() != watched.unwritten.as_ref()
            && let Some(why) = &watched.unwritten
        {
            show::tell(&format!("warning: the text file is of an earlier check: {why}"));
        }
        unwritten.clone_from(&watched.unwritten);
        let now = SystemClock.unix_ms();
        if is_json {
            let report = ::watch::view::cluster(&name, &watched.state, &[], now);
            match serde_json::to_string(&report) {
                Ok(line) => show::out(&line),
                Err(error) => failed = Err(OpsError::internal("cannot write JSON", error)),
            }
            return;
        }
        for change in &watched.changes {
            // Whoever read this may be gone; the daemon goes on.
            show::out(&format!("{} {}", model::clock::rfc3339(now), described(change)));
        }
        if args.once {
            print_summary(&::watch::view::summary(&name, &watched.state, now));
        }
    };
    let (mut has_told, mut has_rotated) = (true, true);
    let mut event = |event: Event<'_>| match event {
        Event::Listening(address) => show::tell(&format!("serving http://{address}/metrics")),
        Event::Looked(watched) => tell(watched),
        Event::Hooked(ran) => {
            has_told = ran.outcome == HookOutcome::Ok;
            tell_of_hook(ran, args.once);
        }
        Event::Rotating(what) => show::tell(&format!("certificates end soon: sealion rotate {what}")),
        Event::RotationOpen(what) => {
            has_rotated = false;
            show::tell(&format!(
                "warning: a rotation of {what} is open, and no other one begins\n  next: sealion resume, sealion undo, or sealion abandon"
            ));
        }
        Event::Rotated(rotated, unkept) => {
            has_rotated = matches!(rotated.outcome, RotationOutcome::Done(_)) && unkept.is_none();
            tell_of_rotation(rotated, is_json);
            if let Some(why) = unkept {
                show::tell(&format!("warning: the store does not know of this rotation: {why}"));
            }
        }
    };
    if let Some(fd) = args.connect.password_fd.and_then(|fd| i32::try_from(fd).ok()).filter(|fd| *fd > 2) {
        // It was read. A program that is told of changes would find it open.
        let _ = nix::unistd::close(fd);
    }
    ::watch::daemon::watch(cluster, &options, &stop, &mut event)?;
    failed?;
    let has_lost = unkept.is_some() || unwritten.is_some() || !has_told || !has_rotated;
    Ok(if args.once && (blind || has_lost) { 3 } else { 0 })
}

fn tell_of_rotation(rotated: &Rotated, is_json: bool) {
    let Rotated { what, outcome, is_known } = rotated;
    match outcome {
        RotationOutcome::Done(note) => {
            if !is_json {
                let now = model::clock::rfc3339(SystemClock.unix_ms());
                show::out(&format!("{now} rotation {what}: due -> done"));
            }
            if !note.is_empty() {
                show::tell(&format!("note: {note}"));
            }
        }
        // It repeats each hour, as the gauge of what is due says.
        _ if *is_known => {}
        RotationOutcome::Refused(why) => {
            show::tell(&format!("warning: certificates that end soon were not replaced: {why}"));
        }
        RotationOutcome::Stopped(why) => show::tell(&format!(
            "warning: the rotation stopped half-way, and sealion watch begins no other one while it is open: {why}"
        )),
    }
}

fn tell_of_hook(ran: &Ran, is_once: bool) {
    if ran.outcome == HookOutcome::Ok {
        return;
    }
    let count = u32::try_from(ran.changes).unwrap_or(u32::MAX);
    let changes = model::text::counted(count, "change", "changes");
    let next = if is_once { "they are told to nobody" } else { "they are told again after the next check" };
    show::tell(&format!(
        "warning: the command of --on-change was not told of {changes}: {}; {next}",
        ran.why
    ));
}

fn described(change: &Change) -> String {
    let (family, subject) = &change.key;
    // The published word is older than that of people.
    let in_words = |word: &str| match (&**family, word) {
        ("link", "encrypted") => "sealed".to_owned(),
        _ => word.get(..16).unwrap_or(word).to_owned(),
    };
    let short = |word: &Option<String>| word.as_ref().map_or_else(|| "-".to_owned(), |word| in_words(word));
    match (&change.from, &change.to) {
        (None, _) => format!("{family} {subject}: {}", short(&change.to)),
        (_, None) => format!("{family} {subject}: no longer there (was {})", short(&change.from)),
        _ => format!("{family} {subject}: {} -> {}", short(&change.from), short(&change.to)),
    }
}

fn print_summary(summary: &::report::shape::WatchSummary) {
    println!(
        "{}: {}, {} silent, {} not asked; links: {} plain, {} sealed, {} unknown",
        summary.cluster,
        model::text::counted(summary.servers, "server", "servers"),
        summary.servers_silent,
        summary.servers_unknown,
        summary.links_plain,
        summary.links_encrypted,
        summary.links_unknown
    );
    if let Some(error) = &summary.error {
        println!("the check failed: {error}");
    }
    for line in &summary.not_looked_at {
        println!("not checked: {line}");
    }
}
