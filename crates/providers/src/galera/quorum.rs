//! When a node may be stopped. Pure: views in, reasons out.

use std::collections::BTreeSet;

use model::NodeName;
use server::{ArbitratorView, GaleraFacts, NodeError, NodeView};

use super::weights;

/// A member whose receive queue is longer than this is behind.
const RECV_QUEUE_MAX: i64 = 10;
/// With two members the survivor of a stop is alone; with three, a failure during the roll still leaves a majority
/// only if nobody else is missing.
pub const MEMBERS_MIN: usize = 3;

pub type Views = [(NodeName, Result<NodeView, NodeError>)];
pub type ArbitratorViews = [(NodeName, Result<ArbitratorView, NodeError>)];

/// Every reason why `target` may not be stopped now. Empty is yes.
///
/// `ours` says that the target was taken out of service by sealion itself; `allowed` are the Galera states that may
/// stand beside the one the target will have (`PD` or `DS`).
pub fn may_stop(
    target: &NodeName,
    views: &Views,
    arbitrators: &ArbitratorViews,
    ours: bool,
    allowed: &str,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let up: Vec<(&NodeName, &NodeView)> =
        views.iter().filter_map(|(name, view)| view.as_ref().ok().map(|view| (name, view))).collect();
    for (name, view) in views {
        if let Err(error) = view
            && name != target
        {
            reasons.push(format!("{name} does not answer ({})", error.first_line()));
        }
    }
    for &(name, view) in &up {
        if !view.is_primary() {
            reasons.push(format!(
                "{name} is not in the primary component (wsrep_cluster_status {})",
                view.cluster_status()
            ));
        } else if view.cluster_size() < MEMBERS_MIN {
            reasons.push(format!(
                "the cluster has {} members as {name} sees it; a roll needs {MEMBERS_MIN}",
                view.cluster_size()
            ));
        } else if view.cluster_size() != views.len() + arbitrators.len() {
            reasons.push(sizes_differ(name, view, views, arbitrators));
        }
        if name != target {
            if !view.is_synced() || !view.is_ready() {
                reasons.push(format!("{name} is not Synced (wsrep_local_state {})", view.local_state()));
            } else if view.recv_queue() >= RECV_QUEUE_MAX {
                reasons.push(format!(
                    "{name} is behind by {} writesets (wsrep_local_recv_queue)",
                    view.recv_queue()
                ));
            }
            if view.desync_count() > 0 {
                reasons.push(format!("{name} is desynced: a backup or an operator is at work there"));
            }
        } else if !ours && (!view.is_synced() || view.desync_count() > 0) {
            reasons.push(format!("{name} is not Synced (wsrep_local_state {}, wsrep_desync_count {}): a backup or an SST is under way", view.local_state(), view.desync_count()));
        }
        let state = view.galera_state();
        if !allowed.contains(state.letter()) {
            reasons.push(format!(
                "{name} speaks {state}, which may not stand beside what comes next: a plain node that serves one that asks for TLS crashes"
            ));
        }
    }
    let one = |what: &str, of: fn(&NodeView) -> &str, reasons: &mut Vec<String>| {
        let all: BTreeSet<&str> = up.iter().map(|(_, view)| of(view)).collect();
        if all.len() > 1 {
            reasons.push(format!(
                "the nodes do not agree on {what}: {}",
                all.into_iter().collect::<Vec<_>>().join(" / ")
            ));
        }
    };
    one("wsrep_cluster_conf_id", NodeView::cluster_conf_id, &mut reasons);
    one("wsrep_cluster_state_uuid", NodeView::state_uuid, &mut reasons);
    reasons.extend(weights::against_stop(target, views, arbitrators));
    reasons
}

fn sizes_differ(name: &NodeName, view: &NodeView, views: &Views, arbitrators: &ArbitratorViews) -> String {
    let others = match (arbitrators.len(), view.arbitrators()) {
        (0, 0) => String::new(),
        (0, there) => format!("; {there} garbd, which it does not name, are among them"),
        (known, _) => format!(" and {}", model::text::counted(known, "arbitrator", "arbitrators")),
    };
    format!(
        "{name} sees {} members, the inventory has {}{others}",
        view.cluster_size(),
        model::text::counted(views.len(), "node", "nodes")
    )
}

/// Arbitrators of which the state is not known, or may not stand beside what comes.
pub fn against_arbitrators(arbitrators: &ArbitratorViews, allowed: &str) -> Vec<String> {
    let against = |(name, view): &(NodeName, Result<ArbitratorView, NodeError>)| match view {
        Ok(view) if allowed.contains(view.state().letter()) => None,
        Ok(view) => {
            Some(format!("{name} speaks {}, which may not stand beside what comes next", view.state()))
        }
        Err(error) => Some(error.first_line()),
    };
    arbitrators.iter().filter_map(against).collect()
}

/// Every reason why an arbitrator may not be stopped now: its vote is gone for a while, so all nodes must be well.
pub fn arbitrator_may_stop(
    target: &NodeName,
    views: &Views,
    arbitrators: &ArbitratorViews,
    allowed: &str,
) -> Vec<String> {
    // No node has this name: each of them is one of the others.
    let mut reasons = may_stop(target, views, arbitrators, false, allowed);
    reasons.extend(against_arbitrators(arbitrators, allowed));
    reasons
}

/// Every reason why an arbitrator that is down may not be started.
pub fn arbitrator_may_start(
    target: &NodeName,
    views: &Views,
    arbitrators: &ArbitratorViews,
    allowed: &str,
) -> Vec<String> {
    let mut reasons = may_start(target, views, false, allowed);
    let others: Vec<_> = arbitrators.iter().filter(|(name, _)| name != target).collect();
    for (name, view) in others {
        match view {
            Ok(view) if !allowed.contains(view.state().letter()) => {
                reasons.push(format!(
                    "{name} speaks {}, which may not stand beside what comes next",
                    view.state()
                ));
            }
            Err(error) if !error.is_down() => reasons.push(error.first_line()),
            _ => {}
        }
    }
    reasons
}

/// Every reason why `target`, which is down, may not be started. It is no member, or not for long, so its start takes nobody's
/// quorum; `runs` says that its process would have to be stopped first.
pub fn may_start(target: &NodeName, views: &Views, runs: bool, allowed: &str) -> Vec<String> {
    let others = || views.iter().filter(|(name, _)| name != target);
    let up: Vec<(&NodeName, &NodeView)> =
        others().filter_map(|(name, view)| view.as_ref().ok().map(|view| (name, view))).collect();
    let mut reasons: Vec<String> = up
        .iter()
        .filter(|(_, view)| !allowed.contains(view.galera_state().letter()))
        .map(|(name, view)| {
            format!("{name} speaks {}, which may not stand beside what comes next", view.galera_state())
        })
        .collect();
    // What it speaks, and whether it is a member, nobody knows.
    reasons.extend(others().filter_map(|(_, view)| match view {
        Err(error) if !error.is_down() => Some(error.first_line()),
        _ => None,
    }));
    // A process that waits for the others may be what they need to be a quorum again.
    if runs && !up.iter().any(|(_, view)| view.is_primary()) {
        reasons.push(format!("{target} is on its way up, and no other node is in a primary component"));
    }
    reasons
}

/// Who still counts `target`, which is down, among the members; `None`: nobody that answers does. Of several that are down nobody can say
/// which one is counted.
pub fn still_counted_by(target: &NodeName, views: &Views) -> Option<String> {
    let others = || views.iter().filter(|(name, _)| name != target);
    let may_be_counted = others().filter(|(_, view)| !view.as_ref().is_err_and(NodeError::is_down)).count();
    others().find_map(|(name, view)| {
        let view = view.as_ref().ok()?;
        let is_more = view.is_primary() && view.cluster_size() > may_be_counted + view.arbitrators();
        is_more.then(|| format!("{name} still sees {} members", view.cluster_size()))
    })
}

/// Whether the other nodes, asked for their membership, know that `target` is none of them: each answers, is in the primary
/// component, and sees as many members as there are others. A server that does not answer may serve all the same.
pub fn is_no_member(target: &NodeName, views: &Views) -> bool {
    let others: Vec<_> = views.iter().filter(|(name, _)| name != target).collect();
    !others.is_empty()
        && others.iter().all(|(_, view)| {
            view.as_ref().is_ok_and(|view| {
                view.is_primary() && view.cluster_size() == others.len() + view.arbitrators()
            })
        })
}

/// One line per node: what a person needs when a quorum is lost.
pub fn standings(views: &Views) -> Vec<String> {
    views
        .iter()
        .map(|(name, view)| match view {
            Ok(view) => format!(
                "{name}: {}, size {}, state {}, seqno {}, speaks {}",
                view.cluster_status(),
                view.cluster_size(),
                view.status("wsrep_local_state_comment").unwrap_or("?"),
                view.last_committed(),
                view.galera_state()
            ),
            Err(error) => format!("{name}: {}", error.first_line()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(changes: &[(&str, &str)]) -> NodeView {
        let mut view = NodeView::default();
        for (key, value) in [
            ("wsrep_cluster_status", "Primary"),
            ("wsrep_cluster_size", "3"),
            ("wsrep_cluster_conf_id", "3"),
            ("wsrep_cluster_state_uuid", "u"),
            ("wsrep_local_state", "4"),
            ("wsrep_ready", "ON"),
            ("wsrep_local_recv_queue", "0"),
            ("wsrep_desync_count", "0"),
            ("wsrep_incoming_addresses", "a,b,c"),
            ("options", "pc.weight = 1; "),
        ]
        .iter()
        .chain(changes)
        {
            view.status.insert((*key).into(), (*value).into());
        }
        if let Some(options) = view.status.remove("options") {
            view.variables.insert("wsrep_provider_options".into(), options);
        }
        view
    }

    fn check(other: Result<NodeView, NodeError>, expected: &str) {
        let views = vec![
            (NodeName::from("n1"), Ok(view(&[]))),
            (NodeName::from("n2"), Ok(view(&[]))),
            (NodeName::from("n3"), other),
        ];
        let reasons = may_stop(&"n1".into(), &views, &[], false, "PD");
        if expected.is_empty() {
            assert_eq!(reasons, Vec::<String>::new());
        } else {
            assert!(reasons.iter().any(|reason| reason.contains(expected)), "{reasons:?}");
        }
    }

    #[test]
    fn a_node_that_is_down_may_be_started_whatever_the_size_but_not_beside_another_kind() {
        let down = || Err(NodeError::Down { node: "n1".into(), why: "refused".into() });
        let check = |other: &[(&str, &str)], runs, allowed, expected: usize| {
            let views = vec![(NodeName::from("n1"), down()), (NodeName::from("n2"), Ok(view(other)))];
            assert_eq!(
                may_start(&"n1".into(), &views, runs, allowed).len(),
                expected,
                "{other:?} {runs} {allowed}"
            );
        };
        check(&[("wsrep_cluster_size", "2")], false, "PD", 0);
        check(&[("wsrep_cluster_size", "2")], true, "PD", 0);
        check(&[("wsrep_cluster_status", "non-Primary")], false, "PD", 0);
        check(&[("wsrep_cluster_status", "non-Primary")], true, "PD", 1);
        check(&[], false, "DS", 1);
    }

    #[test]
    fn nobody_is_started_beside_a_node_of_which_nothing_is_known() {
        let silent = || {
            Err(NodeError::Silent { node: "n2".into(), why: "no answer in 3 s".into(), runs_unheard: false })
        };
        let down = || Err(NodeError::Down { node: "n1".into(), why: "refused".into() });
        let views = vec![
            (NodeName::from("n1"), down()),
            (NodeName::from("n2"), silent()),
            (NodeName::from("n3"), Ok(view(&[]))),
        ];
        let reasons = may_start(&"n1".into(), &views, false, "PD");
        assert!(reasons.iter().any(|reason| reason.contains("n2 does not answer")), "{reasons:?}");
        assert!(may_stop(&"n3".into(), &views, &[], false, "PD").iter().any(|reason| reason.contains("n2")));
    }

    #[test]
    fn who_does_not_answer_is_no_member_only_by_the_word_of_all_others() {
        let check = |others: [Result<NodeView, NodeError>; 2], expected: bool| {
            let [two, three] = others;
            let silent =
                Err(NodeError::Silent { node: "n1".into(), why: "frozen".into(), runs_unheard: false });
            let views = vec![
                (NodeName::from("n1"), silent),
                (NodeName::from("n2"), two),
                (NodeName::from("n3"), three),
            ];
            assert_eq!(is_no_member(&"n1".into(), &views), expected, "{views:?}");
        };
        let sees = |size| Ok(view(&[("wsrep_cluster_size", size), ("wsrep_incoming_addresses", "a,b")]));
        check([sees("2"), sees("2")], true);
        check([sees("3"), sees("2")], false);
        check([sees("2"), Err(NodeError::Down { node: "n3".into(), why: "refused".into() })], false);
        check(
            [sees("2"), Ok(view(&[("wsrep_cluster_status", "non-Primary"), ("wsrep_cluster_size", "2")]))],
            false,
        );
    }

    #[test]
    fn one_that_is_down_is_counted_while_a_primary_member_sees_more_than_there_are() {
        let check = |two: &[(&str, &str)], expected: bool| {
            let down = || Err(NodeError::Down { node: "n1".into(), why: "refused".into() });
            let views = vec![(NodeName::from("n1"), down()), (NodeName::from("n2"), Ok(view(two)))];
            assert_eq!(still_counted_by(&"n1".into(), &views).is_some(), expected, "{two:?}");
        };
        let garb = ("wsrep_incoming_addresses", "a,");
        check(&[garb, ("wsrep_cluster_size", "3")], true);
        check(&[garb, ("wsrep_cluster_size", "2")], false);
        check(&[("wsrep_cluster_size", "2")], true);
        // It waits for the one that is down.
        check(&[("wsrep_cluster_size", "2"), ("wsrep_cluster_status", "non-Primary")], false);
    }

    #[test]
    fn a_healthy_cluster_of_three_may_lose_one() {
        check(Ok(view(&[])), "");
    }

    #[test]
    fn each_quorum_rule_alone_says_no() {
        check(Err(NodeError::Down { node: "n3".into(), why: "refused".into() }), "n3 does not answer");
        check(Ok(view(&[("wsrep_cluster_status", "non-Primary")])), "not in the primary component");
        check(Ok(view(&[("wsrep_cluster_size", "2")])), "a roll needs 3");
        check(Ok(view(&[("wsrep_cluster_size", "4")])), "sees 4 members");
        check(Ok(view(&[("wsrep_cluster_conf_id", "4")])), "do not agree on wsrep_cluster_conf_id");
        check(Ok(view(&[("wsrep_cluster_state_uuid", "v")])), "do not agree on wsrep_cluster_state_uuid");
        check(Ok(view(&[("wsrep_local_state", "2")])), "n3 is not Synced");
        check(Ok(view(&[("wsrep_ready", "OFF")])), "n3 is not Synced");
        check(Ok(view(&[("wsrep_local_recv_queue", "11")])), "behind by 11");
        check(Ok(view(&[("wsrep_desync_count", "1")])), "n3 is desynced");
        check(Ok(view(&[("options", "pc.weight = 0; ")])), "");
        check(Ok(view(&[("options", "gcache.size = 1G; ")])), "n3: it does not show its pc.weight");
        check(
            Ok(view(&[("options", "socket.ssl = YES; gmcast.listen_addr = ssl://x:1; ")])),
            "n3 speaks strict, which may not stand beside",
        );
    }
}
