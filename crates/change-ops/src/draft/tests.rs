//! Clusters that answer from memory.

use std::collections::BTreeMap;
use std::sync::Mutex;

use server::replication::{Channel, ChannelTls, ThreadState};
use site::inventory::Inventory;

use super::survey::{
    GaleraNode, NotSurveyed, Place, Role, ServerPaths, Survey, Surveyed, ToldReplica, survey,
};
use super::text;

fn place(address: &str) -> Place {
    Place { address: address.into(), port: 3306 }
}

fn channel(source: &str) -> Channel {
    Channel {
        name: String::new(),
        source_host: source.into(),
        source_port: 3306,
        source_server_id: None,
        user: "repl".into(),
        tls: ChannelTls::default(),
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
        lag_s: Some(0),
    }
}

fn replica(server_id: &str, host: &str) -> ToldReplica {
    ToldReplica { server_id: server_id.into(), host: host.into(), port: 3306 }
}

fn server(id: &str, sources: &[&str], replicas: &[ToldReplica]) -> Surveyed {
    Surveyed {
        identity: id.into(),
        host_name: format!("{id}.example"),
        server_id: id.into(),
        is_mariadb: true,
        version: "10.11.19-MariaDB-log".into(),
        channels: sources.iter().map(|source| channel(source)).collect(),
        replicas: replicas.to_vec(),
        ..Surveyed::default()
    }
}

fn member(id: &str, members: &[&str]) -> Surveyed {
    let galera = GaleraNode {
        cluster: "orders".into(),
        node: format!("node-{id}"),
        state: "Synced".into(),
        members: members.iter().map(|member| place(member)).collect(),
        arbitrators: 0,
    };
    Surveyed { galera: Some(galera), ..server(id, &[], &[]) }
}

/// Each server under all of its addresses. Returns the survey and the places that were asked.
fn surveyed(first: &str, servers: &[(&[&str], Surveyed)]) -> (Survey, Vec<String>) {
    let by_address: BTreeMap<&str, &Surveyed> = servers
        .iter()
        .flat_map(|(addresses, server)| addresses.iter().map(move |one| (*one, server)))
        .collect();
    let asked = Mutex::new(Vec::new());
    let survey = survey(place(first), by_address[first].clone(), |place| {
        asked.lock().expect("sound").push(place.address.clone());
        by_address.get(place.address.as_str()).map(|&server| server.clone()).ok_or_else(|| NotSurveyed {
            why: "nobody\nthere".into(),
            answered: place.address.starts_with("192.168."),
        })
    });
    let mut asked = asked.into_inner().expect("sound");
    asked.sort();
    (survey, asked)
}

fn read(text: &str) -> Inventory {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_tree_of_replicas_is_found_from_any_of_its_servers() {
    // b and c replicate from a, d from b, which calls it by another name.
    let servers: [(&[&str], Surveyed); 4] = [
        (&["10.0.0.1", "db-a"], server("a", &[], &[replica("b", "10.0.0.2"), replica("c", "10.0.0.3")])),
        (&["10.0.0.2", "db-b"], server("b", &["db-a"], &[replica("d", "10.0.0.4")])),
        (&["10.0.0.3"], server("c", &["db-a"], &[])),
        (&["10.0.0.4"], server("d", &["db-b"], &[])),
    ];
    for first in ["10.0.0.1", "db-a", "10.0.0.2", "10.0.0.3", "10.0.0.4"] {
        let (survey, _) = surveyed(first, &servers);
        assert_eq!((survey.servers.len(), survey.unreached.len()), (4, 0), "from {first}: {survey:#?}");
        let text = text::text(&survey, None);
        let inventory = read(&text);
        assert_eq!(inventory.nodes.len(), 4, "{text}");
        let a = inventory.nodes.iter().find(|node| node.name == "a").expect("a");
        let all: Vec<&str> = a.names.iter().map(String::as_str).chain([a.address.as_str()]).collect();
        assert!(all.contains(&"db-a"), "the name in CHANGE MASTER TO must be in its certificate: {text}");
        for line in ["\n#   b  ", "\n#     d  ", "\n#   c  ", "<- b: no TLS set"] {
            assert!(text.contains(line), "{line:?} from {first}: {text}");
        }
    }
}

/// Its password is another one: that is no matter of networks.
#[test]
fn who_lets_nobody_in_is_not_called_out_of_reach() {
    let (survey, _) = surveyed(
        "10.0.0.1",
        &[(
            &["10.0.0.1"],
            server("a", &["192.168.0.9"], &[replica("b", "192.168.0.2"), replica("c", "10.0.0.3")]),
        )],
    );
    let text = text::text(&survey, None);
    for part in [
        "192.168.0.9:3306: no TLS set, NOT LOGGED IN",
        "192.168.0.2:3306  NOT LOGGED IN; a names it as a replica",
        "10.0.0.3:3306  NOT REACHED; a names it as a replica",
        "it let nobody in, so its name",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn who_does_not_answer_is_named_with_who_told_of_it() {
    let (survey, asked) = surveyed(
        "10.0.0.1",
        &[(&["10.0.0.1"], server("a", &["10.0.0.9"], &[replica("b", "10.0.0.2"), replica("c", "")]))],
    );
    assert_eq!(asked, ["10.0.0.2", "10.0.0.9"]);
    let roles: Vec<Role> = survey.unreached.iter().map(|unreached| unreached.role).collect();
    assert_eq!(roles, [Role::Source, Role::Replica]);
    let text = text::text(&survey, None);
    assert_eq!(read(&text).nodes.len(), 3, "{text}");
    for part in
        ["10.0.0.2:3306  NOT REACHED; a names it as a replica", "nobody there", "server_id c", "report_host"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_replica_without_an_address_is_looked_for_where_replicas_connect_from() {
    let mut source = server("a", &[], &[replica("b", ""), replica("c", "")]);
    source.dump_addresses = vec!["10.0.0.2".into(), "10.0.0.3".into()];
    let (survey, asked) =
        surveyed("10.0.0.1", &[(&["10.0.0.1"], source), (&["10.0.0.2"], server("b", &["10.0.0.1"], &[]))]);
    assert_eq!(asked, ["10.0.0.2", "10.0.0.3"]);
    assert_eq!((survey.servers.len(), survey.unreached.len()), (2, 0));
    assert!(survey.notes.len() == 1 && survey.notes[0].contains("server_id c"), "{:?}", survey.notes);
}

#[test]
fn an_address_of_the_tellers_own_machine_is_not_asked_here() {
    let (survey, asked) =
        surveyed("10.0.0.1", &[(&["10.0.0.1"], server("a", &["127.0.0.1", "localhost"], &[]))]);
    assert_eq!(asked, Vec::<String>::new());
    assert!(survey.notes.iter().any(|note| note.contains("tunnel")), "{:?}", survey.notes);
}

#[test]
fn nodes_of_a_cluster_are_drafted_with_its_replicas_and_another_cluster_is_left_out() {
    let members = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
    let mut first = member("a", &members);
    first.replicas = vec![replica("r", "10.0.0.9")];
    let mut other = member("x", &["10.0.0.7"]);
    "invoices".clone_into(&mut other.galera.as_mut().expect("a member").cluster);
    first.galera.as_mut().expect("a member").arbitrators = 1;
    let (survey, _) = surveyed(
        "db.example",
        &[
            (&["10.0.0.1", "db.example"], first),
            (&["10.0.0.2"], member("b", &members)),
            (&["10.0.0.9"], server("r", &["10.0.0.1", "10.0.0.7"], &[])),
            (&["10.0.0.7"], other),
        ],
    );
    let text = text::text(&survey, None);
    let inventory = read(&text);
    let names: Vec<&str> = inventory.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["node-a", "node-b", "r", "10.0.0.3"], "{text}");
    // What nodes call each other is better than what was typed.
    assert_eq!(
        (&*inventory.nodes[0].address, &inventory.nodes[0].names[..]),
        ("10.0.0.1", &["db.example".into()][..])
    );
    assert_eq!(inventory.cluster.name, "orders");
    for part in [
        "Galera cluster orders",
        "garbd",
        "# [[arbitrator]]",
        "# name = \"node-x\"",
        "an inventory of its own",
        "10.0.0.3:3306  NOT REACHED",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_draft_is_an_inventory_whatever_servers_call_themselves() {
    let mut odd = member("a", &["10.0.0.1", "10.0.0.2"]);
    let galera = odd.galera.as_mut().expect("a member");
    "n\\1\n[x]\"".clone_into(&mut galera.node);
    "look".clone_into(&mut galera.cluster);
    odd.paths = ServerPaths { socket: "/run/a \"b\".sock".into(), ..ServerPaths::default() };
    odd.not_told = vec!["its replicas: denied\n[evil]".into()];
    let mut twin = odd.clone();
    twin.identity = "b".into();
    let (survey, _) = surveyed("10.0.0.1", &[(&["10.0.0.1"], odd), (&["10.0.0.2"], twin)]);
    let text = text::text(&survey, None);
    let inventory = read(&text);
    let names: Vec<&str> = inventory.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["n-1--x--", "n-1--x---2"], "{text}");
    assert_eq!(inventory.nodes[0].socket.as_deref(), Some(std::path::Path::new("/run/a \"b\".sock")));
}

/// What stands there as comments is taken by an inventory when the # is removed.
#[test]
fn a_draft_names_proxies_and_what_its_login_needs() {
    let (survey, _) = surveyed("10.0.0.1", &[(&["10.0.0.1"], member("a", &["10.0.0.1"]))]);
    for login in [None, Some(std::path::Path::new("/home/dba/search.cnf"))] {
        let text = text::text(&survey, login);
        assert!(text.contains("sealion grants status") && text.contains("sealion grants enable"), "{text}");
        assert_eq!(text.contains("the login of the search"), login.is_some(), "{text}");
        let (before, proxy) = text.split_once("# [[proxy]]\n").expect("a proxy");
        let proxy = proxy.lines().map(|line| line.strip_prefix("# ").expect("a comment")).collect::<Vec<_>>();
        let inventory = read(&format!("{before}[[proxy]]\n{}\n", proxy.join("\n")));
        assert_eq!(inventory.proxies.len(), 1);
        assert_eq!(inventory.proxies[0].names, ["db.example"]);
        assert_eq!(read(&text).proxies.len(), 0);
    }
}

#[test]
fn circles_end_and_a_crowd_is_bounded() {
    let (survey, _) = surveyed(
        "10.0.0.1",
        &[
            (&["10.0.0.1"], server("a", &["10.0.0.2"], &[replica("b", "10.0.0.2")])),
            (&["10.0.0.2"], server("b", &["10.0.0.1"], &[replica("a", "10.0.0.1")])),
        ],
    );
    let text = text::text(&survey, None);
    assert_eq!(read(&text).nodes.len(), 2, "{text}");
    assert!(text.contains("(drawn above)"), "{text}");
    let crowd: Vec<ToldReplica> =
        (0..5000).map(|n| replica("x", &format!("10.1.{}.{}", n / 250, n % 250))).collect();
    let (survey, asked) = surveyed("10.0.0.1", &[(&["10.0.0.1"], server("a", &[], &crowd))]);
    assert!(asked.len() <= 100, "{}", asked.len());
    assert!(survey.notes.iter().any(|note| note.contains("not asked")), "{:?}", survey.notes);
}
