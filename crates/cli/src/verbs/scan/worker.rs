//! `sealion scan worker`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use model::text::counted;
use queue::{Zone, rights};
use scan_ops::workers::{WorkCount, WorkerListener, WorkerSettings};
use scan_ops::{Authorized, Budget, Settings};
use site::OpsError;

use super::broker::BrokerArgs;
use super::{IntrusiveArg, intrusive, tell};
use crate::show;

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  sealion scan worker --from nats://broker:4222 --zone dmz --nats-ca ca.pem --nats-login dmz-1.creds
  sealion scan worker --from /run/scan/queue.db
  sealion scan worker --print-permissions --zone dmz --nats-name dmz-1

SIGTERM or Ctrl-C: what is being scanned is finished, the rest is given back to others.

Exit codes: 0 ended by a signal, 3 the queue could not be reached for --broker-wait-s, or does not permit it.")]
pub struct WorkerArgs {
    /// Where the targets are: a NATS broker (nats://HOST:PORT), or a file
    #[arg(long, value_name = "PLACE", required_unless_present = "print_permissions")]
    pub from: Option<String>,
    /// Take targets of this zone only
    #[arg(long, value_name = "ZONE", default_value = "default")]
    pub zone: String,
    /// Contact only addresses in the ranges of FILE, whatever is asked for
    #[arg(long, value_name = "FILE")]
    pub authorized_range: Option<PathBuf>,
    /// Permit probes that may harm a server, if a scan asks for them
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        default_missing_values = ["heartbleed", "ccs", "robot"]
    )]
    pub intrusive: Vec<IntrusiveArg>,
    /// New connections a second of this worker
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: Option<u32>,
    /// Targets scanned in parallel, with one connection each
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub at_once: u32,
    /// Print the permissions that a worker needs at nats-server, and exit
    #[arg(long)]
    pub print_permissions: bool,
    #[command(flatten)]
    pub broker: BrokerArgs,
}

pub fn worker(args: &WorkerArgs) -> Result<u8, OpsError> {
    let zone = Zone::parse(&args.zone)
        .map_err(|why| OpsError::usage("--zone is not a zone", why, "use the zone that the scan names"))?;
    let name = args.broker.name(zone.as_str())?;
    let Some(from) = args.from.as_deref().filter(|_| !args.print_permissions) else {
        show::out(&format!("# The user of a worker in zone {zone}, with --nats-name {name}"));
        show::out(rights::of_worker(&zone, &name).trim_end());
        show::out("# The user of sealion scan --workers");
        show::out(rights::of_publisher(rights::PUBLISHER).trim_end());
        return Ok(0);
    };
    let settings = WorkerSettings {
        intrusive: intrusive(&args.intrusive).unwrap_or_default(),
        authorized: args.authorized_range.as_deref().map(Authorized::read).transpose()?,
        own: Settings {
            limits: ::scan::Limits {
                targets_at_once: args.at_once as usize,
                connections_per_s: args.rate,
                ..::scan::Limits::default()
            },
            roots: scan_ops::roots(None)?,
            nameservers: scan_ops::system_nameservers(),
            ..Settings::default()
        },
        zone: zone.clone(),
    };
    let mut queue = scan_ops::workers::open(&args.broker.place(from, zone.as_str())?)?;
    let stop = crate::interrupt::flag()?;
    let mut budget = Budget::open();
    if let Some(why) = budget.complaint() {
        tell(&format!("note: the connection counts may be incomplete: {why}"));
    }
    tell(&format!("worker of zone {zone} at {from}; Ctrl-C ends it"));
    let began = Instant::now();
    let mut line = Line { began, last: began };
    let worked = scan_ops::workers::work(queue.as_mut(), &settings, &mut budget, &stop, &mut line);
    show::progress("");
    if let Err(why) = budget.save() {
        tell(&format!("note: the connection counts could not be saved: {why}"));
    }
    let worked = worked?;
    tell(&format!(
        "{} answered, {}, {:.0} s",
        counted(worked.jobs, "target", "targets"),
        counted(worked.connections, "connection", "connections"),
        began.elapsed().as_secs_f64()
    ));
    Ok(0)
}

/// What a worker does, on a terminal.
struct Line {
    began: Instant,
    last: Instant,
}

impl WorkerListener for Line {
    fn at_work(&mut self, count: WorkCount) {
        if self.last.elapsed() < super::PROGRESS_EVERY {
            return;
        }
        self.last = Instant::now();
        show::progress(&format!(
            "{} answered, {} in hand, {:.0} s",
            counted(count.jobs, "target", "targets"),
            count.held,
            self.began.elapsed().as_secs_f64()
        ));
    }
}
