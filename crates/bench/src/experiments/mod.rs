//! The ready experiments: a question, the arms that answer it, and what was published on it before.

mod arms;
mod catalog;

pub use arms::{
    Arm, ArmTls, AtRest, Between, Checks, Experiment, Key, Line, Made, Measure, Place, Published,
    PublishedRow, Release, Sst, Tool, Transport, TransportCipher, Via,
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
    use crate::load::workload::WORKLOADS;

    #[test]
    fn the_book_has_every_experiment() {
        let page = include_str!("../../../../docs/src/tasks/bench.md");
        let head = "| experiment | what it compares |";
        let (_, table) = page.split_once(head).expect("the page has the table of experiments");
        for one in EXPERIMENTS {
            let is_there =
                table.lines().any(|line| line.starts_with('|') && line.contains(&format!("`{}`", one.name)));
            assert!(is_there, "docs/src/tasks/bench.md has no row of `{}`", one.name);
        }
    }

    /// Program by cipher, with and without AES-NI, near and far; in cleartext where the program can, which has no use for AES-NI.
    #[test]
    fn every_way_to_copy_a_donor_is_an_arm() {
        let arms = EXPERIMENTS.iter().flat_map(|one| one.arms);
        let found: Vec<Transport> = arms
            .filter_map(
                |arm| if let Place::Transport(transport) = arm.place { Some(transport) } else { None },
            )
            .collect();
        let far = found.iter().find_map(|one| one.line);
        assert!(far.is_some());
        for tool in [Tool::Mariabackup, Tool::Tar, Tool::Rsync, Tool::SealionLive, Tool::Sealion] {
            for line in [None, far] {
                use TransportCipher::{Aes128, Aes256, ChaCha20, ClearText, Default};
                let clear = Transport { tool, cipher: ClearText, aes_ni: true, line };
                assert_eq!(found.contains(&clear), !tool.is_sealion(), "{clear:?}");
                for (cipher, aes_ni) in
                    [Default, Aes128, Aes256, ChaCha20].map(|one| [(one, true), (one, false)]).concat()
                {
                    let wanted = Transport { tool, cipher, aes_ni, line };
                    assert!(found.contains(&wanted), "{wanted:?}");
                }
            }
        }
    }

    #[test]
    fn names_are_unique_and_what_was_published_is_of_an_arm() {
        /// What is measured without a workload of the load generator.
        const OTHERS: [&str; 5] = ["connect", "dump", "sst", "copy", "replication"];
        let mut names = BTreeSet::new();
        for one in EXPERIMENTS {
            let name = one.name;
            assert!(names.insert(name), "two experiments of ALL have the name \"{name}\"");
            assert!(one.arms.len() > 1, "{name}: one arm alone is compared with nothing");
            assert!(
                OTHERS.contains(&one.workload) || WORKLOADS.iter().any(|known| known.name == one.workload),
                "{name}: there is no workload \"{}\" (see `sealion bench list`)",
                one.workload
            );
            let arms: BTreeSet<&str> = one.arms.iter().map(|arm| arm.name).collect();
            assert_eq!(arms.len(), one.arms.len(), "{name}: two arms have the same name: {arms:?}");
            for arm in one.arms {
                let base = arm.against.unwrap_or(one.arms[0].name);
                assert!(
                    one.arms.iter().any(|other| other.name == base),
                    "{name}: .against names no arm: {base}"
                );
            }
            assert!(bases(one.arms).iter().any(Option::is_some), "{name}: no arm is compared with another");
            for row in one.published.iter().flat_map(|published| published.rows) {
                assert!(
                    one.arms.iter().any(|arm| arm.name == row.arm),
                    "{name}: published is of no arm: {}",
                    row.arm
                );
            }
        }
    }
}
