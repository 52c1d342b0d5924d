//! Whether the members that stay have a quorum while one is away. Pure but for [`look`].
//!
//! # Source
//! `have_quorum` and `handle_trans` of gcomm's pc_proto.cpp (Galera 26.4): twice the weight of those that stay, with the weight of those that
//! leave in order, has to be more than the weight of all; `pc.ignore_sb` and `pc.ignore_quorum` let a member stay Primary without. Tried on
//! 26.4.23: of three nodes with the weights 1, 0, 0, all others are non-Primary once the first is stopped.

use std::collections::BTreeMap;

use model::{NodeName, Plan};
use server::{ArbitratorView, GaleraFacts, NodeError, NodeView, ProviderOptions, WriteNode};

use super::quorum::{ArbitratorViews, Views};
use crate::preflight::{Problem, problem};
use crate::world::World;

const WEIGHT: &str = "pc.weight";
/// Where the provider's options are variables of the server (a plugin, MariaDB 11.4 and later), that of the weight.
const WEIGHT_OF_PLUGIN: &str = "wsrep_provider_pc_weight";
const OPTIONS: &str = "wsrep_provider_options";
/// Of a provider that is given none.
const DEFAULT: u64 = 1;

/// What a member counts for while the others form a quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Vote {
    weight: u64,
    /// It stays Primary without a quorum of those that are left.
    ignores: bool,
}

fn ignores(options: &ProviderOptions) -> bool {
    options.is_on("pc.ignore_quorum") || options.is_on("pc.ignore_sb")
}

fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("its {WEIGHT} \"{text}\" is no number"))
}

/// A running provider shows every option, so one that is not there was not read.
fn running(view: &NodeView) -> Result<Vote, String> {
    let options = view.provider_options();
    let shown = view.variable(WEIGHT_OF_PLUGIN).or_else(|| options.get(WEIGHT));
    let weight = number(shown.ok_or_else(|| format!("it does not show its {WEIGHT}"))?)?;
    Ok(Vote { weight, ignores: ignores(&options) })
}

/// Of a process that is started with these.
fn at_start(options: &ProviderOptions) -> Result<Vote, String> {
    let weight = options.get(WEIGHT).map_or(Ok(DEFAULT), number)?;
    Ok(Vote { weight, ignores: ignores(options) })
}

fn of_arbitrator(view: &ArbitratorView) -> Result<Vote, String> {
    at_start(&view.options)
}

type Votes = BTreeMap<NodeName, Result<Vote, String>>;

fn of_all(views: &Views, arbitrators: &ArbitratorViews) -> Votes {
    let why = |error: &NodeError| Err(error.first_line());
    let nodes = views.iter().map(|(name, view)| (name.clone(), view.as_ref().map_or_else(why, running)));
    let voters =
        arbitrators.iter().map(|(name, view)| (name.clone(), view.as_ref().map_or_else(why, of_arbitrator)));
    nodes.chain(voters).collect()
}

/// Why those that stay would not be Primary without `target`; `None`: they would.
fn lost(target: &NodeName, votes: &Votes) -> Option<String> {
    let unread: Vec<String> = votes
        .iter()
        .filter(|(name, _)| *name != target)
        .filter_map(|(name, vote)| vote.as_ref().err().map(|why| format!("{name}: {why}")))
        .collect();
    if !unread.is_empty() {
        return Some(format!(
            "whether the others have a quorum without {target} cannot be determined: {}",
            unread.join("; ")
        ));
    }
    let stay = || votes.iter().filter(|(name, _)| *name != target).filter_map(|(_, vote)| vote.as_ref().ok());
    // What leaves in order is taken off what is needed, so all that remains to be asked is whether anything stays.
    let has_weight = stay().any(|vote| vote.weight > 0);
    (!has_weight && !stay().all(|vote| vote.ignores))
        .then(|| format!("without {target} the others have no quorum: {WEIGHT} is {}", in_words(votes)))
}

fn in_words(votes: &Votes) -> String {
    let word = |(name, vote): (&NodeName, &Result<Vote, String>)| match vote {
        Ok(vote) => format!("{} on {name}", vote.weight),
        Err(_) => format!("unknown on {name}"),
    };
    votes.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// Whether the others cannot stay Primary if `target` goes without saying so.
fn fails_if_it_crashes(target: &NodeName, votes: &Votes) -> bool {
    let of = |is: &dyn Fn(&NodeName) -> bool| {
        let all = votes.iter().filter(|(name, _)| is(name));
        all.filter_map(|(_, vote)| vote.as_ref().ok()).map(|vote| vote.weight).sum::<u64>()
    };
    let (stay, all) = (of(&|name| name != target), of(&|_| true));
    stay * 2 <= all
}

/// How a node without weight is given some, in the words of its server.
fn give(name: &NodeName, view: Option<&NodeView>) -> String {
    let has_plugin = view.is_some_and(|view| view.variable(WEIGHT_OF_PLUGIN).is_some());
    if has_plugin {
        format!("on {name}: SET GLOBAL {WEIGHT_OF_PLUGIN}=1")
    } else {
        format!("on {name}: SET GLOBAL {OPTIONS}='{WEIGHT}=1'")
    }
}

/// Every reason why the quorum stands against a stop of `target`, with what helps. Empty: none.
pub fn against_stop(target: &NodeName, views: &Views, arbitrators: &ArbitratorViews) -> Vec<String> {
    let votes = of_all(views, arbitrators);
    let Some(why) = lost(target, &votes) else { return vec![] };
    // An arbitrator has the weight that it was started with.
    let other = views.iter().find(|(name, view)| name != target && view.is_ok());
    let help = other.map(|(name, view)| give(name, view.as_ref().ok()));
    vec![match help {
        Some(help) if votes.values().all(Result::is_ok) => format!("{why} ({help})"),
        _ => why,
    }]
}

/// Goes through the restarts of a plan: a member that was restarted has the weight that its files give it. Behind the reasons, what would
/// happen if a member did not leave in order.
pub fn look(world: &mut World<'_>, plan: &Plan) -> (Vec<Problem>, Vec<String>) {
    let (views, arbitrators) = (world.views(), world.arbitrator_views());
    let mut votes = of_all(&views, &arbitrators);
    let (mut problems, mut told): (Vec<Problem>, Vec<String>) = (vec![], vec![]);
    for step in plan.steps.iter().filter(|step| step.restarts(false)) {
        let Some(name) = step.nodes.first().filter(|name| votes.contains_key(*name)) else { continue };
        if let Some(why) = lost(name, &votes) {
            let next = match views.iter().find(|(other, view)| other != name && view.is_ok()) {
                Some((other, view)) if votes.values().all(Result::is_ok) => format!(
                    "{}, and write {WEIGHT}=1 into {OPTIONS} of its option file; then plan again",
                    give(other, view.as_ref().ok())
                ),
                _ => "see that each node shows wsrep_provider_options to the account of the inventory; then plan again".into(),
            };
            problems.push(problem(
                name,
                "it may not be restarted: the cluster would lose its quorum",
                why,
                next,
            ));
            break;
        }
        let line = format!(
            "if {name} is killed instead of stopped in order, the others are non-Primary until it is back: {WEIGHT} is {}",
            in_words(&votes)
        );
        if fails_if_it_crashes(name, &votes) && !told.contains(&line) {
            told.push(line);
        }
        let after = after_restart(world, name);
        votes.insert(name.clone(), after);
    }
    (problems, told)
}

fn after_restart(world: &mut World<'_>, name: &NodeName) -> Result<Vote, String> {
    if let Some(arbitrator) = world.arbitrator(name) {
        return at_start(&arbitrator.file_options().map_err(|error| error.first_line())?);
    }
    let node = world.node(name).map_err(|error| error.0)?;
    of_files(node)
}

fn of_files(node: &mut dyn WriteNode) -> Result<Vote, String> {
    let effective = node.effective().map_err(|error| error.first_line())?;
    let of = |option: &str| effective.effective(option).and_then(|setting| setting.value.as_deref());
    let mut vote = at_start(&ProviderOptions::parse(of(OPTIONS).unwrap_or_default()))?;
    if let Some(weight) = of(WEIGHT_OF_PLUGIN) {
        vote.weight = number(weight)?;
    }
    Ok(vote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(all: &[(&str, u64)]) -> Votes {
        let vote = |weight: u64| Ok(Vote { weight, ignores: false });
        all.iter().map(|(name, weight)| (NodeName::from(*name), vote(*weight))).collect()
    }

    #[test]
    fn whoever_carries_the_only_weight_may_not_leave() {
        for (all, target, is_lost) in [
            (&[("n1", 1), ("n2", 1), ("n3", 1)][..], "n1", false),
            (&[("n1", 1), ("n2", 0), ("n3", 0)], "n1", true),
            (&[("n1", 1), ("n2", 0), ("n3", 0)], "n2", false),
            // It leaves in order: what is needed is counted without it.
            (&[("n1", 9), ("n2", 1), ("n3", 0)], "n1", false),
            (&[("n1", 1), ("n2", 0), ("n3", 0), ("garb", 1)], "n1", false),
            (&[("n1", 0), ("n2", 0), ("n3", 0), ("garb", 1)], "garb", true),
            (&[("n1", 0), ("n2", 0), ("n3", 0)], "n1", true),
        ] {
            assert_eq!(lost(&target.into(), &votes(all)).is_some(), is_lost, "{target} of {all:?}");
        }
    }

    #[test]
    fn those_that_ignore_a_lost_quorum_stay_primary_only_if_all_do() {
        let mut all = votes(&[("n1", 1), ("n2", 0), ("n3", 0)]);
        all.insert("n2".into(), Ok(Vote { weight: 0, ignores: true }));
        assert!(lost(&"n1".into(), &all).is_some());
        all.insert("n3".into(), Ok(Vote { weight: 0, ignores: true }));
        assert_eq!(lost(&"n1".into(), &all), None);
    }

    #[test]
    fn a_weight_that_was_not_read_is_not_taken_for_one() {
        let mut all = votes(&[("n1", 1), ("n2", 1)]);
        all.insert("n3".into(), Err("it does not show its pc.weight".into()));
        let why = lost(&"n1".into(), &all).expect("nobody can tell");
        assert!(why.contains("cannot be determined") && why.contains("n3"), "{why}");
        // Its own weight decides nothing.
        assert_eq!(lost(&"n3".into(), &all), None);
    }

    #[test]
    fn a_crash_needs_more_than_half_of_the_weight_to_stay() {
        let fails = |all: &[(&str, u64)]| fails_if_it_crashes(&"n1".into(), &votes(all));
        assert!(!fails(&[("n1", 1), ("n2", 1), ("n3", 1)]));
        assert!(fails(&[("n1", 2), ("n2", 1), ("n3", 1)]));
    }

    #[test]
    fn the_weight_is_that_of_the_running_provider_and_of_the_file_after_a_restart() {
        let mut view = NodeView::default();
        assert!(running(&view).is_err());
        let options = "pc.ignore_quorum = false; pc.ignore_sb = true; pc.weight = 0; ";
        view.variables.insert(OPTIONS.into(), options.into());
        assert_eq!(running(&view), Ok(Vote { weight: 0, ignores: true }));
        view.variables.insert(WEIGHT_OF_PLUGIN.into(), "3".into());
        assert_eq!(running(&view).map(|vote| vote.weight), Ok(3));
        assert_eq!(at_start(&ProviderOptions::parse("gcache.size=1G")).map(|vote| vote.weight), Ok(1));
        assert!(at_start(&ProviderOptions::parse("pc.weight=much")).is_err());
    }
}
