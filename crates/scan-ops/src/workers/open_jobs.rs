//! What a worker holds: which targets a job became, and when its last row is there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use ::scan::Target;
use queue::Lease;
use report::shape::TargetRow;

use crate::{HostKey, rows};

/// A target as jobs share it: two that name the same one, and want it asked in the same manner, wait for the same rows.
type Key = (String, SocketAddr, bool, usize);

#[derive(Debug, Default)]
pub struct OpenJobs {
    jobs: HashMap<u64, OpenJob>,
    by_target: HashMap<Key, Vec<u64>>,
    next: u64,
}

#[derive(Debug)]
struct OpenJob {
    lease: Lease,
    targets_left: usize,
    rows: Vec<TargetRow>,
    /// Usual ports where nobody listens, the first of each host.
    silent: BTreeMap<HostKey, TargetRow>,
    answered: BTreeSet<HostKey>,
}

/// A job whose rows are all there.
pub type Finished = (Lease, Vec<TargetRow>);

fn key(target: &Target) -> Key {
    (target.host.clone(), target.address, target.is_named, target.asker)
}

impl OpenJobs {
    /// Takes a job on: says which targets are to be asked now, or that nothing is left to ask.
    pub fn open(
        &mut self,
        lease: Lease,
        targets: &[Target],
        rows: Vec<TargetRow>,
    ) -> (Vec<Target>, Option<Finished>) {
        if targets.is_empty() {
            return (vec![], Some((lease, rows)));
        }
        let number = self.next;
        self.next += 1;
        let mut fresh = Vec::new();
        for target in targets {
            let jobs = self.by_target.entry(key(target)).or_default();
            if jobs.is_empty() {
                fresh.push(target.clone());
            }
            jobs.push(number);
        }
        let (silent, answered) = (BTreeMap::new(), BTreeSet::new());
        self.jobs.insert(number, OpenJob { lease, targets_left: targets.len(), rows, silent, answered });
        (fresh, None)
    }

    /// A target's row; `is_news` unless nobody listens on a port that nobody named.
    pub fn row(&mut self, target: &Target, row: &TargetRow, is_news: bool) -> Vec<Finished> {
        let mut finished = Vec::new();
        for number in self.by_target.remove(&key(target)).unwrap_or_default() {
            let Some(job) = self.jobs.get_mut(&number) else { continue };
            let host = (row.host.clone(), row.address.clone());
            if is_news {
                job.answered.insert(host);
                job.rows.push(row.clone());
            } else {
                job.silent.entry(host).or_insert_with(|| row.clone());
            }
            job.targets_left = job.targets_left.saturating_sub(1);
            if job.targets_left == 0
                && let Some(mut job) = self.jobs.remove(&number)
            {
                let silent = job.silent.into_iter().filter(|(host, _)| !job.answered.contains(host));
                job.rows.extend(silent.map(|(_, row)| rows::silent_host(row)));
                finished.push((job.lease, job.rows));
            }
        }
        finished
    }
}
