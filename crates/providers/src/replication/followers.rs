//! Who follows a server, told carefully: before something goes that only a replica may need.

use model::NodeName;
use server::{Channel, NodeSpec, ThreadState};

use super::is_source;
use crate::steps::fail;
use crate::world::World;

/// So many replicas are named.
const NAMED_MAX: usize = 3;

/// Where a channel leads, of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads {
    Here,
    Elsewhere,
    CannotTell,
}

/// `here` and its server_id, `others`: all other servers of the inventory. A source may be called by another name than in the inventory; its
/// server_id tells then, where the channel has been connected once.
pub fn leads(here: &NodeSpec, server_id: Option<u64>, others: &[NodeSpec], channel: &Channel) -> Leads {
    if is_source(here, channel) {
        return Leads::Here;
    }
    if others.iter().any(|other| is_source(other, channel)) {
        return Leads::Elsewhere;
    }
    match (channel.source_server_id, server_id) {
        (Some(source), Some(here)) if source == here => Leads::Here,
        (Some(_), Some(_)) => Leads::Elsewhere,
        _ => Leads::CannotTell,
    }
}

/// A channel of a server of the inventory that leads to `name`, or of which that cannot be told.
pub struct Follower {
    pub node: NodeName,
    pub channel: Channel,
    pub is_sure: bool,
}

/// # Errors
/// A server does not tell its channels, or its server_id.
pub fn followers(world: &mut World<'_>, name: &NodeName) -> Result<Vec<Follower>, change::StepError> {
    let here = world.node(name)?.spec().clone();
    let server_id =
        world.node(name)?.view().map_err(fail)?.variable("server_id").and_then(|id| id.parse().ok());
    let all = || world.nodes.iter().chain(&world.others);
    let others: Vec<NodeSpec> =
        all().filter(|node| node.name() != name).map(|node| node.spec().clone()).collect();
    let mut followers = Vec::new();
    for node in world.nodes.iter_mut().chain(&mut world.others).filter(|node| node.name() != name) {
        for channel in node.channels().map_err(fail)? {
            let leads = leads(&here, server_id, &others, &channel);
            if leads != Leads::Elsewhere {
                let is_sure = leads == Leads::Here;
                followers.push(Follower { node: node.name().clone(), channel, is_sure });
            }
        }
    }
    Ok(followers)
}

/// Replicas that read from `name` beside its `followers`, in words; `None`: there are none. Counted, because a replica need not connect from
/// the address that it listens on.
///
/// # Errors
/// The server does not tell who reads.
pub fn strangers(
    world: &mut World<'_>,
    name: &NodeName,
    followers: &[Follower],
) -> Result<Option<String>, change::StepError> {
    let known = followers.iter().filter(|one| one.channel.receiver == ThreadState::Running).count();
    let here = world.node(name)?.replicas().map_err(fail)?;
    Ok((here.len() > known).then(|| {
        format!(
            "{} it ({}), and the inventory has {known} of them: whether the others have applied all cannot be told",
            model::text::counted(here.len(), "replica reads", "replicas read"),
            model::link::some_of(&here, NAMED_MAX)
        )
    }))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn channel(host: &str, source_server_id: Option<u64>) -> Channel {
        Channel {
            name: String::new(),
            source_host: host.into(),
            source_port: 3306,
            source_server_id,
            user: "repl".into(),
            tls: server::ChannelTls::default(),
            tls_versions: String::new(),
            receiver: ThreadState::Running,
            receiver_error: None,
            applier: ThreadState::Running,
            applier_error: None,
            needs_tls_to_log_in: false,
            received: String::new(),
            applied_log: String::new(),
            received_log: String::new(),
            by_gtid: false,
            lag_s: None,
        }
    }

    #[test]
    fn a_source_of_another_name_is_told_by_its_server_id_and_else_cannot_be_told() {
        let (here, others) = (NodeSpec::new("n1", "10.0.0.1"), [NodeSpec::new("n3", "10.0.0.3")]);
        for (host, id, wanted) in [
            ("10.0.0.1", None, Leads::Here),
            ("10.0.0.3", Some(1), Leads::Elsewhere),
            ("db.example", Some(1), Leads::Here),
            ("db.example", Some(7), Leads::Elsewhere),
            ("db.example", None, Leads::CannotTell),
        ] {
            assert_eq!(leads(&here, Some(1), &others, &channel(host, id)), wanted, "{host} {id:?}");
        }
        assert_eq!(leads(&here, None, &others, &channel("db.example", Some(1))), Leads::CannotTell);
    }
}
