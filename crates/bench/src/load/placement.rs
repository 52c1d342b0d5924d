//! When and where the generator's threads run beside a server that shares their processors.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use rustix::process::{getpriority_process, setpriority_process};
use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id, thread_schedule_policy};
use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
};

/// On the crate's scale of 0 to 99: a niceness of 0.
const ORDINARY: u8 = 47;

/// For as many workers: the processor that each keeps to itself.
///
/// With a thread for every processor each keeps its own: else two of them share one for a while, and a server's thread follows
/// whoever woke it from one to the other. With fewer threads than processors the scheduler finds free ones.
pub fn processors(workers: usize) -> Vec<Option<usize>> {
    let Ok(all) = sched_getaffinity(Pid::from_raw(0)) else { return vec![None; workers] };
    let ours: Vec<usize> = (0..CpuSet::count()).filter(|cpu| all.is_set(*cpu).unwrap_or(false)).collect();
    if workers < ours.len() || workers < 2 {
        return vec![None; workers];
    }
    ours.into_iter().map(Some).cycle().take(workers).collect()
}

/// Of the thread that asks. What the system refuses stays as it was: it is measured all the same, a little dearer.
pub fn settle(processor: Option<usize>) {
    be_batch();
    if let Some(processor) = processor {
        let mut one = CpuSet::new();
        if one.set(processor).is_ok() {
            let _ = sched_setaffinity(Pid::from_raw(0), &one);
        }
    }
}

/// An answer that comes does not interrupt the server's thread that sends it: it goes on to the end of its work, and the
/// generator finds the answers of several connections at once (sched(7), SCHED_BATCH).
fn be_batch() {
    let Ok(niceness) = getpriority_process(None) else { return };
    // Whoever chose another class (chrt) has his reasons.
    if thread_schedule_policy() != Ok(ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other)) {
        return;
    }
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Batch);
    // The crate sets a niceness along with the policy. This one is 0: whoever runs under `nice` may not ask for it and keeps
    // his own, and root gets his own back.
    let Ok(ordinary) = ThreadPriorityValue::try_from(ORDINARY) else { return };
    let _ =
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(ordinary), policy);
    let _ = setpriority_process(None, niceness);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_get_a_processor_each_only_where_there_is_one_for_each() {
        // Not as many as a container may use the time of (available_parallelism): those that it may run on.
        let all = sched_getaffinity(Pid::from_raw(0)).expect("this process is there");
        let processors = (0..CpuSet::count()).filter(|cpu| all.is_set(*cpu).unwrap_or(false)).count();
        assert_eq!(super::processors(1), [None]);
        if processors > 2 {
            assert_eq!(super::processors(processors - 1), vec![None; processors - 1]);
        }
        if processors > 1 {
            let seen: std::collections::BTreeSet<_> = super::processors(processors).into_iter().collect();
            assert_eq!(seen.len(), processors);
            assert!(!seen.contains(&None));
        }
    }

    #[test]
    fn a_thread_is_settled_and_as_nice_as_before() {
        std::thread::spawn(|| {
            let before = getpriority_process(None);
            settle(None);
            assert_eq!(getpriority_process(None), before);
            let policy = std::fs::read_to_string("/proc/thread-self/sched").unwrap_or_default();
            // 3 is SCHED_BATCH; without CONFIG_SCHED_DEBUG there is no such file.
            let line = policy.lines().find(|line| line.starts_with("policy"));
            assert!(line.is_none_or(|line| line.ends_with(" 3")), "{line:?}");
        })
        .join()
        .expect("it ran");
    }
}
