//! Whose jobs come next: those of all runs in turn. A small scan does not wait until a large one is done, or one that was killed.

use crate::RunId;

/// So many runs are looked into for one lease: each costs a question.
const RUNS_AT_ONCE: usize = 32;

#[derive(Debug, Default)]
pub struct Turn {
    /// The run that came first the last time.
    first: Option<RunId>,
}

impl Turn {
    /// These runs, the one behind the last first one at the head.
    pub fn next(&mut self, mut runs: Vec<RunId>) -> Vec<RunId> {
        runs.sort_unstable();
        runs.dedup();
        let behind = |first: &RunId| runs.partition_point(|run| run <= first);
        let head = self.first.as_ref().map_or(0, behind);
        if head < runs.len() {
            runs.rotate_left(head);
        }
        self.first = runs.first().cloned();
        runs.truncate(RUNS_AT_ONCE);
        runs
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
            assert_eq!(turn.next(runs(there)), runs(order), "{there}");
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
