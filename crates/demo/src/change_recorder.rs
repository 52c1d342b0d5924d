//! Turns the progress of a change into the rows of the report.

use std::collections::BTreeMap;

use bench::writers;
use model::{Clock, Plan, SystemClock};
use report::shape::{ChangeRun, Drain, Roll, Stall, StepOutcome, StepRow};

use super::writers::Sealed;
use change_ops::roll::Progress;

pub struct Recorder {
    started_unix_ms: u64,
    ended_unix_ms: u64,
    /// Step -> when it was first checked, and whether its action began.
    open: BTreeMap<String, (u64, bool, String)>,
    steps: Vec<StepRow>,
    drains: Vec<Drain>,
    change: String,
}

impl Recorder {
    pub fn new() -> Self {
        Self {
            started_unix_ms: 0,
            ended_unix_ms: 0,
            open: BTreeMap::new(),
            steps: Vec::new(),
            drains: Vec::new(),
            change: String::new(),
        }
    }

    pub fn begin(&mut self) {
        self.started_unix_ms = SystemClock.unix_ms();
    }

    pub fn end(&mut self) {
        self.ended_unix_ms = SystemClock.unix_ms();
    }

    fn now_ms(&self) -> u64 {
        SystemClock.unix_ms().saturating_sub(self.started_unix_ms)
    }

    pub fn take(&mut self, progress: &Progress) {
        let now = self.now_ms();
        match progress {
            Progress::Step { id, title, phase, .. } => {
                let entry = self.open.entry(id.clone()).or_insert_with(|| (now, false, title.clone()));
                entry.1 |= *phase == "acting";
            }
            Progress::Done { id, note, .. } => self.close(id, note, None),
            Progress::Failed { id, why } => self.close(id, why, Some(StepOutcome::Failed)),
            // The demo holds nothing between steps.
            Progress::Waiting { .. } => {}
            // The provider says `n2: drained in 1010 ms`.
            Progress::Line(line) => {
                if let Some((node, ms)) = line.split_once(": drained in ")
                    && let Some(ms) = ms.strip_suffix(" ms").and_then(|ms| ms.parse::<u64>().ok())
                {
                    self.drains.push(Drain {
                        node: node.into(),
                        started_ms: now.saturating_sub(ms),
                        ended_ms: now,
                    });
                }
            }
        }
    }

    fn close(&mut self, id: &str, note: &str, outcome: Option<StepOutcome>) {
        let (started_ms, acted, title) =
            self.open.remove(id).unwrap_or_else(|| (self.now_ms(), false, String::new()));
        let restarts_server =
            acted && ["E2.", "E4.", "D1.", "D2."].iter().any(|prefix| id.starts_with(prefix));
        self.steps.push(StepRow {
            id: id.into(),
            title,
            node: id.split_once('.').map(|(_, node)| node.to_owned()).filter(|node| node.starts_with('n')),
            started_ms,
            ended_ms: self.now_ms(),
            outcome: outcome.unwrap_or(if acted { StepOutcome::Done } else { StepOutcome::Already }),
            note: note.into(),
            restarts_server,
        });
    }

    fn restarts(&self) -> u32 {
        u32::try_from(self.steps.iter().filter(|step| step.restarts_server).count()).unwrap_or(u32::MAX)
    }

    /// And how many restarts there were.
    pub fn roll(
        &mut self,
        plan: &Plan,
        sealed: &Sealed,
        writers: u32,
        buckets_ms: u64,
        stall_ms_min: u64,
    ) -> (Roll, u32) {
        let length = self.ended_unix_ms.saturating_sub(self.started_unix_ms);
        let buckets = usize::try_from(length.div_ceil(buckets_ms.max(1))).unwrap_or(0);
        let mut acknowledged_per_bucket = vec![0u32; buckets];
        for ack in &sealed.acks {
            if let Some(after) = ack.acked_unix_ms.checked_sub(self.started_unix_ms)
                && let Some(bucket) = usize::try_from(after / buckets_ms)
                    .ok()
                    .and_then(|at| acknowledged_per_bucket.get_mut(at))
            {
                *bucket += 1;
            }
        }
        let stalls = writers::stalls(&sealed.acks, stall_ms_min)
            .into_iter()
            .filter_map(|stall| {
                let started_ms = stall.started_unix_ms.checked_sub(self.started_unix_ms)?;
                (started_ms <= length).then_some(Stall {
                    started_ms,
                    lasted_ms: stall.lasted_ms,
                    node: stall.node,
                })
            })
            .collect();
        let restarts = self.restarts();
        let roll = Roll {
            change: plan.change.to_string(),
            plan_hash: plan.short_hash().into(),
            started_unix_ms: self.started_unix_ms,
            ended_unix_ms: self.ended_unix_ms,
            steps: std::mem::take(&mut self.steps),
            writers,
            buckets_ms,
            acknowledged_per_bucket,
            stall_ms_min,
            stalls,
            drains: std::mem::take(&mut self.drains),
        };
        (roll, restarts)
    }

    pub fn change_run(mut self, change: &str, sealed: &Sealed, lost: u64) -> ChangeRun {
        self.change = change.into();
        ChangeRun {
            change: self.change.clone(),
            started_unix_ms: self.started_unix_ms,
            ended_unix_ms: self.ended_unix_ms,
            acknowledged_writes: sealed.outcome.acknowledged,
            acknowledged_writes_lost: lost,
            failed_transactions: sealed.outcome.failed,
            longest_stall_ms: sealed.longest_stall_ms(),
            restarts: self.restarts(),
            outcome: StepOutcome::Done,
            note: String::new(),
            steps: self.steps,
        }
    }
}
