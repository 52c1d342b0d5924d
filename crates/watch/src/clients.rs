//! Who uses a cluster over a time, put together from one look after the other. No I/O.

use std::collections::{BTreeMap, BTreeSet};

use model::{ClientsLook, Transport};
use report::shape::{WATCH_CLIENTS_SCHEMA_ID, WatchClientRow, WatchClientsReport};

/// User, host, driver.
type Key = (Option<String>, String, Option<String>);

/// What was seen so far.
#[derive(Debug, Default)]
pub struct ClientsSeen {
    rows: BTreeMap<Key, WatchClientRow>,
    not_seen: BTreeSet<String>,
    looks: u32,
}

impl ClientsSeen {
    /// Takes in one look: in it, a client that talked in cleartext once counts as that, whatever its other connections did.
    pub fn add(&mut self, look: &ClientsLook, at_unix_ms: u64) {
        self.looks += 1;
        self.not_seen.extend(look.not_seen.iter().cloned());
        let mut worst: BTreeMap<Key, (Transport, BTreeSet<&str>)> = BTreeMap::new();
        for client in &look.clients {
            let key = (client.user.clone(), client.host.clone(), client.driver.clone());
            let (transport, nodes) = worst.entry(key).or_insert((Transport::Tls, BTreeSet::new()));
            *transport = (*transport).min(client.transport);
            nodes.insert(&client.node);
        }
        for ((user, host, driver), (transport, nodes)) in worst {
            let key = (user.clone(), host.clone(), driver.clone());
            let row = self.rows.entry(key).or_insert_with(|| WatchClientRow {
                user,
                host,
                driver,
                first_seen_unix_ms: at_unix_ms,
                ..WatchClientRow::default()
            });
            *match transport {
                Transport::Cleartext => &mut row.cleartext,
                Transport::Unknown => &mut row.unknown,
                Transport::Tls => &mut row.tls,
            } += 1;
            row.last_seen_unix_ms = at_unix_ms;
            let known: BTreeSet<&str> = row.nodes.iter().map(String::as_str).chain(nodes).collect();
            row.nodes = known.into_iter().map(str::to_owned).collect();
        }
    }

    /// A look that failed as a whole.
    pub fn failed(&mut self, why: String) {
        self.not_seen.insert(why);
    }

    /// Takes in what an earlier command found, but for what was last seen before `since_unix_ms`.
    pub fn add_report(&mut self, earlier: &WatchClientsReport, since_unix_ms: u64) {
        if earlier.ended_unix_ms < since_unix_ms {
            return;
        }
        self.looks += earlier.looks;
        self.not_seen.extend(earlier.not_seen.iter().cloned());
        for one in earlier.clients.iter().filter(|one| one.last_seen_unix_ms >= since_unix_ms) {
            let key = (one.user.clone(), one.host.clone(), one.driver.clone());
            let row = self.rows.entry(key).or_insert_with(|| WatchClientRow {
                cleartext: 0,
                tls: 0,
                unknown: 0,
                ..one.clone()
            });
            row.cleartext += one.cleartext;
            row.tls += one.tls;
            row.unknown += one.unknown;
            row.first_seen_unix_ms = row.first_seen_unix_ms.min(one.first_seen_unix_ms);
            row.last_seen_unix_ms = row.last_seen_unix_ms.max(one.last_seen_unix_ms);
            let known: BTreeSet<String> = row.nodes.iter().chain(&one.nodes).cloned().collect();
            row.nodes = known.into_iter().collect();
        }
    }

    pub fn in_cleartext(&self) -> usize {
        self.rows.values().filter(|row| row.cleartext > 0).count()
    }

    pub fn report(&self, cluster: &str, started_unix_ms: u64, ended_unix_ms: u64) -> WatchClientsReport {
        let mut clients: Vec<WatchClientRow> = self.rows.values().cloned().collect();
        clients.sort_by_key(|row| (row.cleartext == 0, row.unknown == 0));
        WatchClientsReport {
            schema: WATCH_CLIENTS_SCHEMA_ID.into(),
            sealion_version: env!("CARGO_PKG_VERSION").into(),
            cluster: cluster.into(),
            started_unix_ms,
            ended_unix_ms,
            looks: self.looks,
            clients,
            not_seen: self.not_seen.iter().cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::ClientSight;

    use super::*;

    fn client(user: &str, node: &str, transport: Transport) -> ClientSight {
        ClientSight {
            node: node.into(),
            user: Some(user.into()),
            host: "10.0.0.9".into(),
            port: 4711,
            driver: Some("mysqlnd".into()),
            transport,
            handshake: None,
        }
    }

    #[test]
    fn the_worst_of_a_look_counts_and_cleartext_comes_first() {
        let mut seen = ClientsSeen::default();
        let clients = vec![
            client("app", "n1", Transport::Tls),
            client("web", "n2", Transport::Tls),
            client("web", "n1", Transport::Cleartext),
        ];
        seen.add(&ClientsLook { clients, not_seen: vec!["n2: idle".into()], ..ClientsLook::default() }, 1000);
        seen.add(
            &ClientsLook {
                clients: vec![client("web", "n3", Transport::Unknown)],
                not_seen: vec!["n2: idle".into()],
                ..ClientsLook::default()
            },
            2000,
        );
        let report = seen.report("c", 0, 3000);
        let [web, app] = report.clients.as_slice() else { panic!("{report:?}") };
        assert_eq!((web.user.as_deref(), web.cleartext, web.tls, web.unknown), (Some("web"), 1, 0, 1));
        assert_eq!((web.nodes.len(), web.first_seen_unix_ms, web.last_seen_unix_ms), (3, 1000, 2000));
        assert_eq!((app.tls, report.looks, report.not_seen.len(), seen.in_cleartext()), (1, 2, 1, 1));

        let mut later = ClientsSeen::default();
        later.add_report(&report, 3001);
        assert_eq!(later.report("c", 0, 3000).looks, 0, "it had ended before");
        later.add_report(&report, 1500);
        let merged = later.report("c", 0, 3000);
        assert_eq!(merged.clients.len(), 1, "app was last seen before");
        later.add_report(&report, 0);
        let merged = later.report("c", 0, 3000);
        assert_eq!((merged.clients[0].cleartext, merged.clients[1].tls), (2, 1));
    }
}
