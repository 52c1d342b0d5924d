//! What holds a change between two of its steps because a person wishes it so: a file, a time of the day, replicas that lag. Never in
//! the middle of a step.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use change::{Begins, Direction, Machine, Stand, StepError, Window};
use model::{Plan, Step};
use providers::topology;
use site::OpsError;

use crate::access::ClusterAccess;
use crate::lease::{LEASE_MS, Lease, LeaseLost};
use crate::roll::Progress;

/// Somebody who removes the file waits for no more than this.
const POLL: Duration = Duration::from_secs(2);
/// What was seen this long ago is asked for again before a step goes by it.
const STALE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gates {
    /// The id of the last step of this run.
    pub stop_after: Option<String>,
    /// While it exists, no step is begun.
    pub pause_file: Option<PathBuf>,
    /// What changes something is begun in it only.
    pub window: Option<Window>,
    /// What changes something is begun only while no replica lags more.
    pub lag_s_max: Option<u64>,
}

impl Gates {
    /// Whether they make sense for this plan, from its beginning.
    ///
    /// # Errors
    /// `Refused`: which does not, and why.
    pub fn fit(&self, plan: &Plan) -> Result<(), OpsError> {
        self.hold(&mut Machine::start(plan.clone()))
    }

    /// Tells the machine how far it may go.
    pub(crate) fn hold(&self, machine: &mut Machine) -> Result<(), OpsError> {
        let refused = |what: &str, why: String, next: &str| {
            OpsError::Refused(format!("{what}, nothing was changed\n  why:  {why}\n  next: {next}"))
        };
        let topology = topology::named(&machine.plan().topology)
            .map_err(|error| OpsError::Refused(format!("{error}, nothing was changed")))?;
        if self.lag_s_max.is_some() && !topology.has_channels() {
            return Err(refused(
                "--max-lag cannot be checked",
                format!(
                    "it is for replicas of a source; the nodes of {} replicate by {}",
                    machine.plan().cluster,
                    topology.name()
                ),
                "the same command without --max-lag",
            ));
        }
        match &self.stop_after {
            Some(step) => machine.stop_after(step).map_err(|why| {
                refused(
                    "--stop-after is refused",
                    why,
                    "name a step that remains; sealion plan, resume and undo show their ids",
                )
            }),
            None => Ok(()),
        }
    }
}

/// Why no step is begun now.
struct Closed {
    /// The same as long as a person need not be told again.
    key: String,
    why: String,
}

impl Closed {
    fn new(why: String) -> Self {
        Self { key: why.clone(), why }
    }
}

/// Stands between two steps.
pub(crate) struct Gatekeeper<'a> {
    pub access: &'a dyn ClusterAccess,
    pub gates: &'a Gates,
    pub tell: Box<dyn FnMut(Progress) + 'a>,
}

impl Gatekeeper<'_> {
    /// Waits until `step` may be begun, and keeps the lease meanwhile.
    ///
    /// # Errors
    /// The lease is lost.
    pub fn may_begin(
        &mut self,
        lease: &Lease<'_>,
        step: &Step,
        direction: Direction,
        stand: Stand,
    ) -> Result<Begins, StepError> {
        let clock = self.access.clock();
        let began_ms = clock.unix_ms();
        let mut waited = Duration::ZERO;
        let mut told = None;
        // Since when no node says whose the lease is.
        let mut unknown_for = Duration::ZERO;
        while let Some(closed) = self.closed(step, stand) {
            if told.as_ref() != Some(&closed.key) {
                told = Some(closed.key);
                self.tell(step, direction, Some(closed.why));
            }
            self.access.wait(POLL);
            waited += POLL;
            match lease.stands() {
                Ok(()) => unknown_for = Duration::ZERO,
                Err(LeaseLost::Unknown(_)) if unknown_for < Duration::from_millis(LEASE_MS) => {
                    unknown_for += POLL;
                }
                Err(LeaseLost::Unknown(why) | LeaseLost::Taken(why)) => return Err(StepError(why)),
            }
        }
        if told.is_some() {
            self.tell(step, direction, None);
        }
        // A machine that slept has waited longer than it counted.
        let by_clock = Duration::from_millis(clock.unix_ms().saturating_sub(began_ms));
        Ok(if waited.max(by_clock) >= STALE { Begins::AfterLong } else { Begins::Now })
    }

    fn tell(&mut self, step: &Step, direction: Direction, why: Option<String>) {
        (self.tell)(Progress::Waiting { id: step.id.to_string(), direction, why });
    }

    /// The first gate that is closed.
    fn closed(&self, step: &Step, stand: Stand) -> Option<Closed> {
        let of_file = self.gates.pause_file.as_ref().and_then(|file| match std::fs::symlink_metadata(file) {
            Ok(_) => Some(format!("paused while {} exists", file.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => Some(format!("paused: cannot tell whether {} exists ({error})", file.display())),
        });
        if of_file.is_some() || step.only_looks || step.no_op {
            return of_file.map(Closed::new);
        }
        if let Some(window) = self.gates.window {
            let minute = self.access.local_minute();
            if !window.is_open(minute) {
                return Some(Closed {
                    key: "window".into(),
                    why: format!(
                        "outside of the window {window}: it is {:02}:{:02} on this machine; waits until {}",
                        minute / 60,
                        minute % 60,
                        window.opens_at()
                    ),
                });
            }
        }
        // A step that was interrupted may itself have stopped the replication that is waited for.
        match self.gates.lag_s_max {
            Some(limit_s) if !matches!(stand, Stand::Begun(_)) => self.lagging(limit_s),
            _ => None,
        }
    }

    fn lagging(&self, limit_s: u64) -> Option<Closed> {
        let (mut keys, mut whys) = (Vec::new(), Vec::new());
        let mut has_channel = false;
        for mut node in self.access.nodes() {
            let name = node.name().clone();
            let channels = match node.channels() {
                Ok(channels) => channels,
                Err(error) => {
                    keys.push(format!("{name}?"));
                    whys.push(format!("cannot tell whether {name} lags: {}", error.first_line()));
                    continue;
                }
            };
            for channel in channels {
                has_channel = true;
                match channel.lag_s {
                    Some(lag_s) if lag_s <= limit_s => {}
                    Some(lag_s) => {
                        keys.push(format!("{name} {channel}"));
                        whys.push(format!("{name} is {lag_s} s behind {channel}"));
                    }
                    None => {
                        let error = channel.applier_error.as_ref().or(channel.receiver_error.as_ref());
                        let error = error.map_or("its replication does not run", String::as_str);
                        keys.push(format!("{name} {channel}?"));
                        whys.push(format!("cannot tell how far {name} is behind {channel}: {error}"));
                    }
                }
            }
        }
        if keys.is_empty() && !has_channel {
            keys.push("none".into());
            whys.push(
                "cannot tell who lags, since no server of the inventory is a replica; without one, leave --max-lag away".into(),
            );
        }
        let why = format!("waits for replicas (--max-lag {limit_s}): {}", whys.join("; "));
        (!keys.is_empty()).then(|| Closed { key: keys.join(" "), why })
    }
}
