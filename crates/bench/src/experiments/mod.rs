//! The ready experiments: a question, the arms that answer it, and what was published on it before.

mod arms;
mod catalog;

pub use arms::{
    Arm, ArmTls, AtRest, Between, Checks, Experiment, Key, Made, Measure, Place, Published, PublishedRow,
    Release, Sst, Via,
};
pub use catalog::ALL as EXPERIMENTS;

/// For each arm the place of that which it is compared with, if it is there.
pub fn bases(arms: &[Arm]) -> Vec<Option<usize>> {
    let base = |(at, arm): (usize, &Arm)| {
        let found = match arm.against {
            None => Some(0),
            Some(name) => arms.iter().position(|other| other.name == name),
        };
        found.filter(|base| *base != at)
    };
    arms.iter().enumerate().map(base).collect()
}

/// `None`: there is none of this name.
pub fn experiment(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_what_was_published_is_of_an_arm() {
        let names: BTreeSet<&str> = EXPERIMENTS.iter().map(|one| one.name).collect();
        assert_eq!(names.len(), EXPERIMENTS.len());
        for one in EXPERIMENTS {
            assert!(one.arms.len() > 1, "{}", one.name);
            for arm in one.arms {
                let base = arm.against.unwrap_or(one.arms[0].name);
                assert!(one.arms.iter().any(|other| other.name == base), "{}: {base}", one.name);
            }
            assert!(bases(one.arms).iter().any(Option::is_some), "{}", one.name);
            for row in one.published.iter().flat_map(|published| published.rows) {
                assert!(one.arms.iter().any(|arm| arm.name == row.arm), "{}: {}", one.name, row.arm);
            }
        }
    }
}
