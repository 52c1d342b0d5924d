//! Whose jobs come next: those of all runs in turn. A small scan does not wait until a large one is done, or one that was killed.

use crate::RunId;

/// So many runs are looked into for one lease: each costs a question.
const RUNS_AT_ONCE: usize = 32;

#[derive(Debug, Default)]
pub struct Turn {
    /// The run that was asked for jobs last.
    last: Option<RunId>,
}

impl Turn {
    /// Those of these runs that are to be asked, the one behind the last one at the head.
    pub fn next(&self, mut runs: Vec<RunId>) -> Vec<RunId> {
        runs.sort_unstable();
        runs.dedup();
        let behind = |last: &RunId| runs.partition_point(|run| run <= last);
        let head = self.last.as_ref().map_or(0, behind);
        if head < runs.len() {
            runs.rotate_left(head);
        }
        runs.truncate(RUNS_AT_ONCE);
        runs
    }

    pub fn asked(&mut self, run: &RunId) {
        self.last = Some(run.clone());
    }
}

/// How many jobs the next of so many runs may have, where so many are wanted: what one does not use is for those behind it.
pub fn share(jobs_wanted: usize, runs_left: usize) -> usize {
    jobs_wanted.div_ceil(runs_left.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(words: &str) -> Vec<RunId> {
        words.chars().map(|word| RunId::parse(&word.to_string()).expect("a name")).collect()
    }

    #[test]
    fn each_run_is_the_first_one_in_turn_whichever_come_and_go() {
        let mut turn = Turn::default();
        for (there, order) in [
            ("cab", "abc"),
            ("abc", "bca"),
            ("abcd", "cdab"),
            ("abc", "abc"),
            ("bc", "bc"),
            ("", ""),
            ("ab", "ab"),
        ] {
            let next = turn.next(runs(there));
            assert_eq!(next, runs(order), "{there}");
            if let Some(first) = next.first() {
                turn.asked(first);
            }
        }
    }

    /// Runs of publishers that were killed are asked for nothing for days.
    #[test]
    fn of_more_runs_than_are_asked_at_once_none_is_left_out() {
        let all: Vec<RunId> =
            (0..100).map(|number| RunId::parse(&format!("{number}")).expect("a name")).collect();
        for asked_each_time in [1, RUNS_AT_ONCE] {
            let (mut turn, mut seen) = (Turn::default(), std::collections::BTreeSet::new());
            for _ in 0..100_usize.div_ceil(asked_each_time) {
                for run in turn.next(all.clone()).iter().take(asked_each_time) {
                    turn.asked(run);
                    seen.insert(run.clone());
                }
            }
            assert_eq!(seen.len(), 100);
        }
    }

    #[test]
    fn all_jobs_that_are_wanted_are_asked_for() {
        for (wanted, of) in [(1, 3), (10, 3), (0, 2), (5, 1)] {
            let mut left = wanted;
            for runs_left in (1..=of).rev() {
                left -= share(left, runs_left);
            }
            assert_eq!(left, 0, "{wanted} of {of}");
        }
    }
}
