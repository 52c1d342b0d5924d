//! Where a change of accounts is written, by what an audit saw of replication: on the source only, since its replicas and the members of its
//! cluster apply it. Facts in, names out.

use std::collections::{BTreeMap, BTreeSet};

use model::facts::cluster;
use model::{Fact, Observations, Value};

/// Who writes accounts for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writer {
    Itself,
    /// This server; the change arrives by replication.
    Server(String),
    ByHand(String),
}

#[derive(Debug, Clone, Default)]
pub struct Topology {
    writers: BTreeMap<String, Writer>,
    /// Steps of replication to the server that writes, where there are any.
    depths: BTreeMap<String, usize>,
}

/// How it is found out, for one server after the other.
struct Walk<'s> {
    seen: &'s Observations,
    names: &'s [&'s str],
}

/// What ends a walk to the source.
type ByHand = String;

impl Topology {
    /// Servers that replicate nothing.
    #[cfg(test)]
    pub fn alone<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let writers = names.into_iter().map(|name| (name.to_owned(), Writer::Itself)).collect();
        Self { writers, depths: BTreeMap::new() }
    }

    pub fn of(seen: &Observations, names: &[&str]) -> Self {
        let walk = Walk { seen, names };
        let mut topology = Self::default();
        for name in names {
            let writer = match walk.writer(name, &mut vec![]) {
                Ok((writer, depth)) => {
                    topology.depths.insert((*name).to_owned(), depth);
                    if writer == *name { Writer::Itself } else { Writer::Server(writer.to_owned()) }
                }
                Err(why) => Writer::ByHand(why),
            };
            topology.writers.insert((*name).to_owned(), writer);
        }
        topology
    }

    pub fn writer(&self, server: &str) -> Writer {
        let unknown = || Writer::ByHand("whether it replicates from another server is not known".into());
        self.writers.get(server).cloned().unwrap_or_else(unknown)
    }

    /// Servers that apply what this one writes, without itself; those at the end of chains first.
    pub fn appliers(&self, writer: &str) -> Vec<&str> {
        let is_of = |one: &&String| self.writers.get(*one) == Some(&Writer::Server(writer.to_owned()));
        let mut all: Vec<&str> = self.writers.keys().filter(is_of).map(String::as_str).collect();
        all.sort_by_key(|name| std::cmp::Reverse(self.depth(name)));
        all
    }

    pub fn depth(&self, server: &str) -> usize {
        self.depths.get(server).copied().unwrap_or_default()
    }
}

impl<'s> Walk<'s> {
    fn value(&self, subject: &str, fact: &Fact) -> Option<&'s Value> {
        self.seen.newest(subject, fact).map(|one| &one.value)
    }

    fn text(&self, server: &str, fact: &Fact) -> Option<&'s str> {
        match self.value(server, fact)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The server that writes accounts for it, and how many steps away it is.
    fn writer(&self, server: &'s str, way: &mut Vec<&'s str>) -> Result<(&'s str, usize), ByHand> {
        if let Some(Value::Bool(true)) = self.value(server, &cluster::GROUP_NAMED) {
            return Err("it is a member of Group Replication: accounts are changed on its primary".into());
        }
        let mates = self.mates(server)?;
        if let Some(at) = way.iter().position(|one| mates.contains(one)) {
            // Each of a circle applies what any other writes; one of them is enough.
            let in_circle = way.get(at..).unwrap_or_default();
            let first = self.names.iter().find(|name| in_circle.contains(name)).copied();
            return Ok((first.unwrap_or(server), 0));
        }
        let mut sources = BTreeSet::new();
        for mate in &mates {
            sources.extend(self.sources(mate)?);
        }
        sources.retain(|one| !mates.contains(one));
        let mut sources = sources.into_iter();
        let Some(source) = sources.next() else {
            return Ok((
                mates.first().copied().unwrap_or(server),
                usize::from(mates.first() != Some(&server)),
            ));
        };
        if sources.next().is_some() {
            return Err(
                "it replicates from several servers: which of them its accounts come from is not known"
                    .into(),
            );
        }
        way.extend(&mates);
        let (writer, depth) = self.writer(source, way)?;
        if writer != source
            && writer != server
            && self.value(source, &cluster::PASSES_ON_CHANGES) != Some(&Value::Bool(true))
        {
            return Err(format!(
                "it replicates from {source}, which does not pass on what it applies (log_slave_updates), or does not say so"
            ));
        }
        Ok((writer, depth + 1))
    }

    /// Members of its Galera cluster in the order of the audit, or itself.
    fn mates(&self, server: &'s str) -> Result<Vec<&'s str>, ByHand> {
        match self.value(server, &cluster::GALERA_CLUSTER) {
            None | Some(Value::Absent) => Ok(vec![server]),
            Some(Value::Text(id)) => {
                let is_mate = |name: &&&str| self.text(name, &cluster::GALERA_CLUSTER) == Some(id);
                Ok(self.names.iter().filter(is_mate).copied().collect())
            }
            Some(other) => Err(format!("its cluster is not known: {other}")),
        }
    }

    fn sources(&self, server: &str) -> Result<Vec<&'s str>, ByHand> {
        match self.value(&format!("{server} replication"), &cluster::CHANNEL_SOURCE) {
            Some(Value::Absent) => return Ok(vec![]),
            Some(Value::Unknown(why)) => {
                return Err(format!("whether it replicates from another server is not known: {why}"));
            }
            _ => {}
        }
        let prefix = format!("{server} channel '");
        let (mut found, mut has_channel) = (Vec::new(), false);
        for channel in self.seen.subjects().filter(|subject| subject.starts_with(&prefix)) {
            let Some(value) = self.value(channel, &cluster::CHANNEL_SOURCE) else { continue };
            has_channel = true;
            if *value == Value::Absent {
                continue;
            }
            match self.value(channel, &cluster::CHANNEL_FILTERS) {
                Some(Value::Absent) => {}
                Some(Value::Text(filters)) => {
                    return Err(format!(
                        "its replication filters ({filters}) may leave out changes of accounts"
                    ));
                }
                _ => {
                    return Err(
                        "whether replication filters leave out changes of accounts is not known".into()
                    );
                }
            }
            let Value::Text(source) = value else { return Err(format!("its source is not known: {value}")) };
            let is_it = |name: &&&str| self.text(name, &cluster::SERVER_IDENTITY) == Some(source);
            let mut same = self.names.iter().filter(is_it).copied();
            match (same.next(), same.next()) {
                (Some(one), None) => found.push(one),
                (Some(_), Some(_)) => {
                    return Err(format!("several servers of this audit are its source by {source}"));
                }
                (None, _) => {
                    return Err(format!(
                        "{} is not in this audit, or not known as one of its servers: change accounts on that source, not here",
                        channel.split_once("' from ").map_or("its source", |(_, host)| host)
                    ));
                }
            }
        }
        if !has_channel {
            return Err("whether it replicates from another server is not known".into());
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Source;

    #[derive(Default)]
    struct Estate(Observations);

    impl Estate {
        fn note(&mut self, subject: &str, fact: &Fact, value: Value) {
            self.0.note(subject, fact, value, Source::Sql, 0, "test");
        }
        fn server(mut self, name: &str, sources: &[&str]) -> Self {
            self.note(name, &cluster::SERVER_IDENTITY, Value::Text(format!("id of {name}")));
            self.note(name, &cluster::PASSES_ON_CHANGES, Value::Bool(true));
            if sources.is_empty() {
                self.note(&format!("{name} replication"), &cluster::CHANNEL_SOURCE, Value::Absent);
            }
            for source in sources {
                let channel = format!("{name} channel '{source}' from {source}");
                self.note(&channel, &cluster::CHANNEL_SOURCE, Value::Text(format!("id of {source}")));
                self.note(&channel, &cluster::CHANNEL_FILTERS, Value::Absent);
            }
            self
        }
        fn with(mut self, subject: &str, fact: &Fact, value: Value) -> Self {
            self.note(subject, fact, value);
            self
        }
        fn of(&self, names: &[&str]) -> Topology {
            Topology::of(&self.0, names)
        }
    }

    fn through(name: &str) -> Writer {
        Writer::Server(name.into())
    }

    #[track_caller]
    fn is_by_hand(topology: &Topology, server: &str, word: &str) {
        match topology.writer(server) {
            Writer::ByHand(why) => assert!(why.contains(word), "{why}"),
            other => panic!("{server}: {other:?}"),
        }
    }

    #[test]
    fn accounts_are_written_at_the_begin_of_each_chain() {
        let estate =
            Estate::default().server("a", &[]).server("b", &["a"]).server("c", &["b"]).server("x", &[]);
        let topology = estate.of(&["a", "b", "c", "x"]);
        assert_eq!(
            ["a", "b", "c", "x"].map(|one| topology.writer(one)),
            [Writer::Itself, through("a"), through("a"), Writer::Itself]
        );
        assert_eq!(topology.appliers("a"), ["c", "b"]);
        assert_eq!(topology.appliers("x"), Vec::<&str>::new());
        let circle = Estate::default().server("a", &["b"]).server("b", &["a"]).of(&["a", "b"]);
        assert_eq!(["a", "b"].map(|one| circle.writer(one)), [Writer::Itself, through("a")]);
    }

    #[test]
    fn a_cluster_writes_accounts_once() {
        let id = || Value::Text("uuid".into());
        let cluster = ["n1", "n2", "n3"].iter().fold(Estate::default(), |estate, name| {
            estate.server(name, &[]).with(name, &cluster::GALERA_CLUSTER, id())
        });
        let topology = cluster.server("r", &["n2"]).of(&["n1", "n2", "n3", "r"]);
        assert_eq!(
            ["n1", "n2", "n3", "r"].map(|one| topology.writer(one)),
            [Writer::Itself, through("n1"), through("n1"), through("n1")]
        );
        assert_eq!(topology.appliers("n1").first(), Some(&"r"));
    }

    #[test]
    fn what_is_not_known_of_a_replica_is_done_by_hand() {
        let estate = || Estate::default().server("a", &[]).server("b", &["a"]).server("c", &["b"]);
        let names = ["a", "b", "c"];
        let channel = "b channel 'a' from a";
        let filtered = estate().with(
            channel,
            &cluster::CHANNEL_FILTERS,
            Value::Text("Replicate_Ignore_DB=mysql".into()),
        );
        is_by_hand(&filtered.of(&names), "b", "filters");
        is_by_hand(&filtered.of(&names), "c", "filters");
        let far = estate().with(channel, &cluster::CHANNEL_SOURCE, Value::Text("another".into()));
        is_by_hand(&far.of(&names), "b", "not in this audit");
        let hidden =
            estate().with("a replication", &cluster::CHANNEL_SOURCE, Value::Unknown("denied".into()));
        is_by_hand(&hidden.of(&names), "a", "denied");
        let deaf = estate().with("b", &cluster::PASSES_ON_CHANGES, Value::Bool(false));
        assert_eq!(deaf.of(&names).writer("b"), through("a"));
        is_by_hand(&deaf.of(&names), "c", "log_slave_updates");
        let twins = estate().with("c", &cluster::SERVER_IDENTITY, Value::Text("id of a".into()));
        is_by_hand(&twins.of(&names), "b", "several servers");
        let many = estate().server("m", &["a", "c"]);
        is_by_hand(&many.of(&["a", "b", "c", "m"]), "m", "several servers");
        let group = estate().with("a", &cluster::GROUP_NAMED, Value::Bool(true));
        is_by_hand(&group.of(&names), "b", "Group Replication");
        is_by_hand(&Estate::default().of(&["z"]), "z", "not known");
        let idle = estate().with(channel, &cluster::CHANNEL_SOURCE, Value::Absent);
        assert_eq!(idle.of(&names).writer("b"), Writer::Itself, "a channel that never received anything");
    }
}
