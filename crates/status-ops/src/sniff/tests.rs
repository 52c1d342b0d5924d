use std::net::IpAddr;

use capture::{Direction, Flow};
use model::LinkKind;
use model::link::{CaptureState, NoSession};
use server::TcpSession;

use super::canaries::{CanarySession, SchemaOwner, prepare_schema};
use super::places::{Binds, bound_to};
use super::seeing::OnLink;
use super::sockets::Sockets;
use super::*;

const CONTROL_PORT: u16 = 9;

fn at(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// A server with a schema of that name, or none, that tells what was run on it.
struct FakeServer {
    owner: SchemaOwner,
    /// Whose it is once it was made.
    made: SchemaOwner,
    ran: Vec<String>,
}

impl CanarySession for FakeServer {
    fn schema_owner(&mut self) -> Result<SchemaOwner, net::NetError> {
        Ok(self.owner)
    }

    fn has_schema_comments(&self) -> bool {
        true
    }

    fn run(&mut self, statement: &str) -> Result<(), net::NetError> {
        let words: Vec<&str> = statement.split(' ').take(2).collect();
        self.ran.push(words.join(" "));
        if self.owner == SchemaOwner::Nobody {
            self.owner = self.made;
        }
        Ok(())
    }
}

#[test]
fn in_a_schema_that_is_not_sealions_nothing_is_made() {
    use SchemaOwner::{Nobody, Other, Sealion};
    let both: &[&str] = &["CREATE DATABASE", "CREATE TABLE"];
    for (owner, made, ran, succeeds) in [
        (Nobody, Sealion, both, true),
        (Sealion, Sealion, &both[1..], true),
        (Other, Other, &[], false),
        // Somebody made it between the question and the statement.
        (Nobody, Other, &both[..1], false),
    ] {
        let mut server = FakeServer { owner, made, ran: vec![] };
        assert_eq!(prepare_schema(&mut server).is_ok(), succeeds, "{owner:?} {made:?}");
        assert_eq!(server.ran, ran, "{owner:?} {made:?}");
    }
}

fn place(node: &str, address: &str, listens_everywhere: bool) -> Place {
    Place {
        node: node.into(),
        addresses: vec![address.parse().expect("an address")],
        client_ports: vec![3306, 3307],
        galera_port: 4567,
        listens_everywhere,
        binds: vec![],
        cannot_tell: None,
        was_silent: false,
        is_arbitrator: false,
        is_no_galera: false,
        group_size: None,
        counts_strangers: false,
        sockets: Err("nobody asked".into()),
        machine_addresses: BTreeSet::new(),
        is_in_no_group: false,
    }
}

#[test]
fn a_list_of_bind_addresses_is_read_whole_and_a_name_that_nobody_knows_is_not_guessed() {
    let at = |text: &str| {
        Binds::At(text.split(' ').map(|one| one.parse::<IpAddr>().expect("an address")).collect())
    };
    assert_eq!(bound_to("127.77.1.1,::1, 127.0.0.1"), at("127.77.1.1 ::1 127.0.0.1"));
    assert_eq!(bound_to("192.0.2.1/blue"), at("192.0.2.1"));
    for everywhere in ["", "*", "0.0.0.0", "::", "192.0.2.1,::"] {
        assert_eq!(bound_to(everywhere), Binds::Everywhere, "{everywhere}");
    }
    let unknown = bound_to("192.0.2.1,no.such.name.invalid");
    assert!(
        matches!(&unknown, Binds::CannotTell(why) if why.contains("no.such.name.invalid")),
        "{unknown:?}"
    );
}

/// Clients that nobody looked for may be there: TLS of others says nothing of them.
#[test]
fn a_server_that_may_listen_where_nobody_looked_is_not_called_sealed() {
    let tls = || flow("10.0.0.9:1001", "10.0.0.1:3306", true);
    let mut places = n1();
    let listed = [session("10.0.0.9:1001", None)];
    assert_eq!(client_link(&places, vec![tls()], &listed, &[]).seen, Seen::Sealed);
    // One that began before the capture and is gone by now may be another sealion's.
    let sight = client_link(&places, vec![tls()], &[], &[]);
    assert_eq!(
        (sight.seen.word(), sight.only_own_session, sight.has_no_clients()),
        ("unknown", false, false)
    );
    let from_its_start = Flow { saw_start: true, ..tls() };
    assert_eq!(client_link(&places, vec![from_its_start], &[], &[]).seen, Seen::Sealed);
    places[0].cannot_tell = Some("its bind_address has db1".into());
    let sight = client_link(&places, vec![tls()], &[], &[]);
    assert!(matches!(&sight.seen, Seen::Unknown(why) if why.contains("bind_address")), "{sight:?}");
    let clear = flow("10.0.0.9:1002", "10.0.0.1:3306", false);
    assert_eq!(client_link(&places, vec![tls(), clear], &[], &[]).seen, Seen::Plain);
}

/// An outsider's client came over another interface three times a second, and the link was called sealed.
#[test]
fn one_interface_shows_all_clients_only_where_the_server_listens_on_loopback_alone() {
    let check = |address: &str, bind: Option<&str>, everywhere: bool, iface: &str, sees_all: bool| {
        let mut place = place("n1", address, everywhere);
        place.binds.extend(bind.map(|bind| bind.parse::<IpAddr>().expect("an address")));
        place.looked_at_on(iface);
        assert_eq!(place.cannot_tell.is_none(), sees_all, "{address} {bind:?} {everywhere} {iface}");
    };
    check("127.77.1.1", Some("127.77.1.1"), false, "lo", true);
    check("127.77.1.1", Some("10.9.9.1"), false, "lo", false);
    check("127.77.1.1", None, true, "lo", false);
    check("10.0.0.1", None, false, "eth0", false);
    check("10.0.0.1", None, false, "any", true);
    check("10.0.0.1", None, true, "any", true);
}

#[test]
fn a_client_on_a_second_bind_address_is_judged_and_two_sessions_of_one_port_are_two() {
    let mut n1 = [place("n1", "127.77.1.1", false)];
    let Binds::At(binds) = bound_to("127.77.1.1,::1,127.0.0.1") else { panic!("it is a list") };
    n1[0].binds = binds;
    let tls = || flow("127.77.1.9:40000", "127.77.1.1:3306", true);
    for address in ["127.0.0.1", "[::1]"] {
        let clear = flow("127.0.0.1:40001", &format!("{address}:3306"), false);
        assert_eq!(client_link(&n1, vec![tls(), clear], &[], &[]).seen, Seen::Plain, "{address}");
    }
    let twice = [session("127.77.1.9:40000", None), session("127.77.1.9:40000", None)];
    let sight = client_link(&n1, vec![tls()], &twice, &[]);
    assert!(matches!(sight.seen, Seen::Unknown(_)), "{sight:?}");
    assert_eq!(client_link(&n1, vec![tls()], &twice[..1], &[]).seen, Seen::Sealed);
}

fn flow(client: &str, server: &str, tls: bool) -> Flow {
    let way = |bytes| Direction {
        bytes,
        tls_bytes: if tls { bytes } else { 0 },
        before_tls_bytes: if tls { 0 } else { bytes },
        mysql_segments: u64::from(!tls),
        ..Direction::default()
    };
    let (client, server) = (at(client), at(server));
    let (a, b) = (client.min(server), client.max(server));
    Flow {
        a,
        b,
        client: Some(client),
        first_unix_ms: 1,
        last_unix_ms: 2,
        saw_start: false,
        no_session: None,
        login_user: None,
        login_driver: None,
        ab: way(200),
        ba: way(300),
    }
}

fn session(text: &str, is_tls: Option<bool>) -> TcpSession {
    let peer = at(text);
    TcpSession {
        id: 7,
        user: "app".into(),
        host: peer.ip().to_string(),
        port: peer.port(),
        is_tls,
        is_replica: false,
        is_sealion: false,
        handshake: None,
    }
}

/// What is said of the client link of n1.
fn client_link(places: &[Place], mut flows: Vec<Flow>, sessions: &[TcpSession], own: &[&str]) -> LinkSight {
    let control = Canary::new([1; 16]);
    let mut sent = flow("127.0.0.1:50000", &format!("127.0.0.1:{CONTROL_PORT}"), false);
    sent.ab.canaries.insert(control.tag().to_owned(), 1);
    flows.push(sent);
    let report = CaptureReport { flows, ..CaptureReport::default() };
    let own: BTreeSet<SocketAddr> = own.iter().map(|text| at(text)).collect();
    let all = places
        .iter()
        .map(|place| {
            let list = if place.node == "n1" { sessions.to_vec() } else { Vec::new() };
            (place.node.clone(), Ok(TcpSessions { list, is_partial: None }))
        })
        .collect();
    let seeing = Seeing {
        report: &report,
        places,
        transfers: &[],
        channels: &[],
        own: &own,
        sessions: &all,
        is_relayed: false,
    };
    let link = Link::new(LinkKind::Client, "n1", "client");
    seeing.sights(&control, CONTROL_PORT).into_iter().find(|sight| sight.link == link).expect("it has a row")
}

fn n1() -> Vec<Place> {
    vec![place("n1", "10.0.0.1", false)]
}

/// What is said of the links from n1 to n2 and n3, which come from these addresses, n2 by TLS and n3 in cleartext.
fn channels_from(n2: &str, n3: &str) -> Vec<&'static str> {
    channels_beside(n2, n3, &[])
}

/// The same, where n1 lists these sessions of replicas too.
fn channels_beside(n2: &str, n3: &str, more: &[TcpSession]) -> Vec<&'static str> {
    let places = ["n1 10.0.0.1", "n2 10.0.0.2", "n3 10.0.0.3"].map(|both| {
        let (node, address) = both.split_once(' ').expect("two words");
        place(node, address, false)
    });
    let mut channels = vec![];
    channels.extend(["n2", "n3"].map(|node| ReplicaLink {
        replica: node.into(),
        source: "n1".into(),
        cannot_tell: None,
    }));
    let why = Some("it is down".to_owned());
    channels.push(ReplicaLink { replica: "n4".into(), source: "source".into(), cannot_tell: why });
    let control = Canary::new([1; 16]);
    let mut sent = flow("127.0.0.1:50000", &format!("127.0.0.1:{CONTROL_PORT}"), false);
    sent.ab.canaries.insert(control.tag().to_owned(), 1);
    let flows = vec![sent, flow(n2, "10.0.0.1:3306", true), flow(n3, "10.0.0.1:3306", false)];
    let report = CaptureReport { flows, ..CaptureReport::default() };
    let dump = |at: &str| TcpSession { is_replica: true, ..session(at, None) };
    let list = [&[dump(n2), dump(n3)], more].concat();
    let list = TcpSessions { list, is_partial: None };
    let sessions = BTreeMap::from([("n1".to_owned(), Ok(list))]);
    let seeing = Seeing {
        report: &report,
        places: &places,
        transfers: &[],
        channels: &channels,
        own: &BTreeSet::new(),
        sessions: &sessions,
        is_relayed: false,
    };
    let sights = seeing.sights(&control, CONTROL_PORT);
    // What n4 replicates is not known, and said.
    let silent = Link::new(LinkKind::Replication, "n4", "source");
    let sight = sights.iter().find(|sight| sight.link == silent).expect("it has a row");
    assert_eq!(sight.seen.word(), "unknown");
    let word = |kind, other: &str| {
        let link = Link::new(kind, "n1", other);
        sights.iter().find(|sight| sight.link == link).expect("it has a row").seen.word()
    };
    vec![
        word(LinkKind::Replication, "n2"),
        word(LinkKind::Replication, "n3"),
        word(LinkKind::Client, "client"),
    ]
}

/// Seen by an outsider: a garbd that the inventory did not have read every writeset in cleartext, and its link was left out.
#[test]
fn a_member_that_the_inventory_does_not_have_has_a_link_of_its_own() {
    let places = [place("n1", "10.0.0.1", false), place("n2", "10.0.0.2", false)];
    let seen = |edit: &dyn Fn(&mut Flow), client: &str, server: &str| {
        let control = Canary::new([1; 16]);
        let mut sent = flow("127.0.0.1:50000", &format!("127.0.0.1:{CONTROL_PORT}"), false);
        sent.ab.canaries.insert(control.tag().to_owned(), 1);
        let mut one = flow(client, server, false);
        edit(&mut one);
        let report = CaptureReport { flows: vec![sent, one], ..CaptureReport::default() };
        let seeing = Seeing {
            report: &report,
            places: &places,
            transfers: &[],
            channels: &[],
            own: &BTreeSet::from([at("10.0.0.8:7")]),
            sessions: &BTreeMap::new(),
            is_relayed: false,
        };
        let sights = seeing.sights(&control, CONTROL_PORT).into_iter();
        let of_it = sights.filter(|sight| sight.link.kind == LinkKind::Galera && sight.tcp_flows > 0);
        of_it.map(|sight| (sight.link.to_string(), sight.seen.word())).collect::<Vec<_>>()
    };
    let from_it = ("10.0.0.9:1001", "10.0.0.1:4567");
    // Joined in its middle, and no canary in it yet: not known, and so not sealed.
    let open = [("galera 10.0.0.9-n1".to_owned(), "unknown")];
    let plain = [("galera 10.0.0.9-n1".to_owned(), "plain")];
    assert_eq!(seen(&|_| (), from_it.0, from_it.1), open);
    assert_eq!(seen(&|_| (), "10.0.0.1:1001", "10.0.0.9:4567"), open, "it was dialled");
    // Between two nodes it is theirs.
    let between = [("galera n1-n2".to_owned(), "unknown")];
    assert_eq!(seen(&|_| (), "10.0.0.2:1001", "10.0.0.1:4567"), between);
    // Who looks whether the port is open is no member: a scanner, and sealion itself.
    let short = |flow: &mut Flow| flow.saw_start = true;
    assert_eq!(seen(&short, from_it.0, from_it.1), []);
    assert_eq!(seen(&|_| (), "10.0.0.8:7", from_it.1), []);
    let greeted = |flow: &mut Flow| flow.ab = Direction::default();
    assert_eq!(seen(&greeted, from_it.0, from_it.1), []);
    // But one that got a writeset is.
    let served = |flow: &mut Flow| {
        flow.saw_start = true;
        flow.ab.canaries.insert("tag".into(), 1);
    };
    assert_eq!(seen(&served, from_it.0, from_it.1), plain);
    let long = |flow: &mut Flow| {
        flow.saw_start = true;
        flow.last_unix_ms = flow.first_unix_ms + 1_000;
    };
    assert_eq!(seen(&long, from_it.0, from_it.1), plain);
}

/// What the sights of these places say of links that carried something.
fn carried(places: &[Place], flows: Vec<Flow>) -> Vec<(String, &'static str)> {
    let control = Canary::new([1; 16]);
    let mut sent = flow("127.0.0.1:50000", &format!("127.0.0.1:{CONTROL_PORT}"), false);
    sent.ab.canaries.insert(control.tag().to_owned(), 1);
    let flows = [vec![sent], flows].concat();
    let report = CaptureReport { flows, ..CaptureReport::default() };
    let seeing = Seeing {
        report: &report,
        places,
        transfers: &[],
        channels: &[ReplicaLink { replica: "n1".into(), source: "db9:3309".into(), cannot_tell: None }],
        own: &BTreeSet::new(),
        sessions: &BTreeMap::new(),
        is_relayed: false,
    };
    let sights = seeing.sights(&control, CONTROL_PORT).into_iter().filter(|sight| sight.tcp_flows > 0);
    sights.map(|sight| (sight.link.to_string(), sight.seen.word())).collect()
}

/// Seen with a thousand servers that were all cut off at once: half a million links, and 4 GB.
#[test]
fn servers_that_are_silent_and_too_many_for_a_cluster_have_a_link_each() {
    let galera = |count: u8, answer: u8, flows: Vec<Flow>| {
        let places: Vec<Place> = (0..count)
            .map(|at| Place {
                was_silent: at >= answer,
                ..place(&format!("n{at}"), &format!("10.0.0.{at}"), false)
            })
            .collect();
        let report = CaptureReport { flows, ..CaptureReport::default() };
        let seeing = Seeing {
            report: &report,
            places: &places,
            transfers: &[],
            channels: &[],
            own: &BTreeSet::new(),
            sessions: &BTreeMap::new(),
            is_relayed: false,
        };
        let sights = seeing.sights(&Canary::new([1; 16]), CONTROL_PORT).into_iter();
        let of_it = sights.filter(|sight| sight.link.kind == LinkKind::Galera);
        of_it.map(|sight| (sight.link.to_string(), sight.seen.word())).collect::<Vec<_>>()
    };
    assert_eq!(galera(64, 0, vec![]).len(), 64 * 63 / 2);
    let each = galera(65, 0, vec![]);
    assert!(each.len() == 65 && each.contains(&("galera (others)-n7".to_owned(), "unknown")), "{each:?}");
    // Who answers has its pairs, and what was captured counts.
    let clear = flow("10.0.0.9:1001", "10.0.0.7:4567", false);
    let each = galera(
        65,
        3,
        vec![Flow { ab: Direction { canaries: [("t".into(), 1)].into(), ..clear.ab.clone() }, ..clear }],
    );
    assert_eq!(each.len(), 62 + 3 + 1);
    assert!(each.contains(&("galera n7-n9".to_owned(), "plain")), "{each:?}");
}

/// Seen by outsiders: a member on another port, links between addresses that the inventory does not have, and another program's
/// connections to a port of that number.
#[test]
fn whose_link_it_is_is_asked_of_the_machine() {
    type Ends<'e> = (&'e str, &'e str);
    let places = |own: &[Ends<'_>], others: &[Ends<'_>], listens: &[u16]| {
        let ends = |all: &[Ends<'_>]| all.iter().map(|(near, far)| (at(near), at(far))).collect();
        let mut n1 = place("n1", "10.0.0.1", false);
        n1.sockets = Ok(Sockets {
            own: ends(own),
            of_others: ends(others),
            listens: listens.iter().copied().collect(),
            addresses: BTreeSet::new(),
        });
        vec![n1, place("n2", "10.0.0.2", false)]
    };
    let long = |client: &str, server: &str, canaries: u64| {
        let mut one = flow(client, server, false);
        (one.saw_start, one.last_unix_ms) = (true, one.first_unix_ms + 5_000);
        if canaries > 0 {
            one.ab.canaries.insert("tag".into(), canaries);
        }
        one
    };
    let plain = |link: &str| vec![(link.to_owned(), "plain")];
    let unknown = |link: &str| vec![(link.to_owned(), "unknown")];
    let none: Vec<(String, &str)> = vec![];

    // (a) Its own process has dialled a port that the inventory does not have: a writeset says what it is, or the number of members.
    let elsewhere = ("10.0.0.1:1001", "10.0.0.9:5567");
    let own = places(&[elsewhere], &[], &[]);
    assert_eq!(carried(&own, vec![long(elsewhere.0, elsewhere.1, 1)]), plain("galera 10.0.0.9:5567-n1"));
    assert_eq!(carried(&own, vec![long(elsewhere.0, elsewhere.1, 0)]), none, "any other service");
    let mut counted = places(&[elsewhere], &[], &[]);
    counted[0].counts_strangers = true;
    assert_eq!(
        carried(&counted, vec![long(elsewhere.0, elsewhere.1, 0)]),
        unknown("galera 10.0.0.9:5567-n1")
    );
    assert!(ports_of(&counted).contains(&5567) && !ports_of(&own).contains(&5567));
    // Its source, from which it replicates.
    let source = ("10.0.0.1:1002", "10.0.0.9:3309");
    let mut replica = places(&[source], &[], &[]);
    replica[0].counts_strangers = true;
    assert_eq!(carried(&replica, vec![long(source.0, source.1, 1)]), none);
    // It listens for members elsewhere than the inventory says.
    let dialled = ("10.0.0.1:7000", "10.0.0.9:1003");
    let listens = places(&[dialled], &[], &[3306, 7000]);
    assert_eq!(carried(&listens, vec![long(dialled.1, dialled.0, 0)]), plain("galera 10.0.0.9-n1"));
    assert!(ports_of(&listens).contains(&7000));

    // Whoever has dialled one of its own ports is a client, also with a canary, and from an address that sorts before its own.
    let client = ("10.0.0.1:3306", "10.0.0.0:1007");
    let mut with_client = places(&[client], &[], &[3306]);
    with_client[0].counts_strangers = true;
    assert_eq!(carried(&with_client, vec![long(client.1, client.0, 1)]), plain("client client-n1"));

    // (b) Neither address is in the inventory, and one end is its process'.
    let far_ends = ("192.168.7.1:1004", "192.168.7.9:4567");
    let other_network = places(&[far_ends], &[], &[]);
    assert_eq!(
        carried(&other_network, vec![long(far_ends.0, far_ends.1, 0)]),
        plain("galera 192.168.7.9-n1")
    );
    assert_eq!(carried(&places(&[], &[], &[]), vec![long(far_ends.0, far_ends.1, 1)]), none);
    // An address of its machine is its own, unless several have it.
    let mut machines = places(&[], &[], &[]);
    let addresses: BTreeSet<IpAddr> =
        ["192.168.7.1", "172.17.0.1"].map(|text| text.parse().expect("an address")).into();
    machines[0].sockets.as_mut().expect("told").addresses = addresses;
    machines[1].sockets =
        Ok(Sockets { addresses: ["172.17.0.1".parse().expect("an address")].into(), ..Sockets::default() });
    share_addresses(&mut machines);
    assert_eq!(machines[0].machine_addresses, ["192.168.7.1".parse().expect("an address")].into());
    assert!(machines[1].machine_addresses.is_empty());
    let sst = long("192.168.7.9:1005", "192.168.7.1:4444", 0);
    assert_eq!(carried(&machines, vec![sst]), plain("sst donor-n1"));

    // (c) Another program of that machine talks to such a port somewhere; or nobody can say who does.
    let foreign = ("10.0.0.1:1006", "10.0.0.9:4567");
    let dials = |places: &[Place], canaries| carried(places, vec![long(foreign.0, foreign.1, canaries)]);
    assert_eq!(dials(&places(&[foreign], &[], &[]), 0), plain("galera 10.0.0.9-n1"));
    assert_eq!(dials(&places(&[], &[foreign], &[]), 0), none);
    assert_eq!(dials(&places(&[], &[], &[]), 0), unknown("galera 10.0.0.9-n1"));
    assert_eq!(dials(&n1(), 0), unknown("galera 10.0.0.9-n1"));
    assert_eq!(dials(&n1(), 1), plain("galera 10.0.0.9-n1"), "it carries what was written on a member");
}

/// Seen by an outsider: two replicas came from one address, and the cleartext of one was told of both.
#[test]
fn whose_channel_is_cleartext_is_not_guessed() {
    assert_eq!(channels_from("10.0.0.2:1001", "10.0.0.3:1002"), ["sealed", "plain", "plain"]);
    assert_eq!(channels_from("10.0.0.9:1001", "10.0.0.9:1002"), ["unknown", "unknown", "plain"]);
    // One comes from its own address, so the other one is known too.
    assert_eq!(channels_from("10.0.0.2:1001", "10.0.0.9:1002"), ["sealed", "plain", "plain"]);
}

/// Found by a newcomer: with nobody but a replica connected, the link of clients was called sealed.
#[test]
fn a_replicas_session_says_nothing_of_clients() {
    let places = ["n1 10.0.0.1", "n2 10.0.0.2"].map(|both| {
        let (node, address) = both.split_once(' ').expect("two words");
        place(node, address, false)
    });
    let channel = ReplicaLink { replica: "n2".into(), source: "n1".into(), cannot_tell: None };
    let control = Canary::new([1; 16]);
    let mut sent = flow("127.0.0.1:50000", &format!("127.0.0.1:{CONTROL_PORT}"), false);
    sent.ab.canaries.insert(control.tag().to_owned(), 1);
    let word_of_clients = |channels: &[ReplicaLink]| {
        let flows = vec![sent.clone(), flow("10.0.0.2:1001", "10.0.0.1:3306", true)];
        let report = CaptureReport { flows, ..CaptureReport::default() };
        let dump = TcpSession { is_replica: true, ..session("10.0.0.2:1001", None) };
        let list = TcpSessions { list: vec![dump], is_partial: None };
        let sessions = BTreeMap::from([("n1".to_owned(), Ok(list))]);
        let seeing = Seeing {
            report: &report,
            places: &places,
            transfers: &[],
            channels,
            own: &BTreeSet::new(),
            sessions: &sessions,
            is_relayed: false,
        };
        let sights = seeing.sights(&control, CONTROL_PORT);
        let link = Link::new(LinkKind::Client, "n1", "client");
        let sight = sights.into_iter().find(|sight| sight.link == link).expect("it has a row");
        (sight.seen.word(), sight.tcp_sessions, sight.tcp_flows)
    };
    assert_eq!(word_of_clients(&[channel]), ("unknown", Some(0), 0));
    // A replica that nobody knows is a client like others.
    assert_eq!(word_of_clients(&[]), ("sealed", Some(1), 1));
}

/// The thread that read for a replica's old connection stays listed for a while, as it was, after the replica has connected anew.
#[test]
fn a_dead_dump_thread_that_is_still_listed_makes_no_channel_sealed() {
    let dead = |is_tls| [TcpSession { is_replica: true, ..session("10.0.0.2:999", is_tls) }];
    let of_n2 = |is_tls| channels_beside("10.0.0.2:1001", "10.0.0.3:1002", &dead(is_tls))[0];
    assert_eq!((of_n2(None), of_n2(Some(false)), of_n2(Some(true))), ("unknown", "plain", "sealed"));
}

#[test]
fn one_session_in_clear_text_among_others_is_plain_and_named() {
    let flows = vec![
        flow("10.0.0.9:1001", "10.0.0.1:3306", true),
        flow("10.0.0.9:1002", "10.0.0.1:3306", false),
        flow("10.0.0.9:1003", "10.0.0.1:3306", true),
    ];
    let sessions = vec![session("10.0.0.9:1002", None), session("10.0.0.9:1003", None)];
    let sight = client_link(&n1(), flows, &sessions, &["10.0.0.9:1003"]);
    assert_eq!(sight.seen, Seen::Plain);
    assert_eq!(sight.cleartext_clients, ["app@10.0.0.9:1002"]);
}

#[test]
fn what_only_sealion_said_proves_nothing() {
    let flows = vec![flow("10.0.0.9:1001", "10.0.0.1:3306", true)];
    let sight = client_link(&n1(), flows, &[], &["10.0.0.9:1001"]);
    assert_eq!((sight.seen.word(), sight.only_own_session, sight.tcp_sessions), ("unknown", true, Some(0)));
    assert!(sight.has_no_clients());
}

/// Seen by an outsider: without the PROCESS privilege "nobody was connected" was said beside a client in cleartext.
#[test]
fn a_list_that_is_not_everybodys_is_not_taken_for_nobody() {
    let places = n1();
    let flows = [flow("10.0.0.9:1001", "10.0.0.1:3306", true)];
    let own = BTreeSet::from([at("10.0.0.9:1001")]);
    let partial = TcpSessions { list: vec![], is_partial: Some("no PROCESS".into()) };
    let sessions = BTreeMap::from([("n1".to_owned(), Ok(partial))]);
    let report = CaptureReport::default();
    let seeing = Seeing {
        report: &report,
        places: &places,
        transfers: &[],
        channels: &[],
        own: &own,
        sessions: &sessions,
        is_relayed: false,
    };
    let flows: Vec<OnLink<'_>> = flows.iter().map(|flow| seeing.on_link(flow, at("10.0.0.1:3306"))).collect();
    let state = CaptureState { control_seen: true, ..CaptureState::default() };
    let sight = seeing.sight(Link::new(LinkKind::Client, "n1", "client"), &flows, state);
    assert_eq!((sight.seen.word(), sight.tcp_sessions), ("unknown", None));
    assert!(!sight.has_no_clients());
}

/// A session of which the capture saw nothing: it said nothing meanwhile, or it came over another interface.
#[test]
fn a_session_that_was_not_seen_keeps_the_link_unknown() {
    let flows = || vec![flow("10.0.0.9:1001", "10.0.0.1:3306", true)];
    let seen = session("10.0.0.9:1001", None);
    let check = |other: Option<bool>, expected: &str| {
        let sessions = vec![seen.clone(), session("192.168.7.7:4000", other)];
        let sight = client_link(&n1(), flows(), &sessions, &[]);
        assert_eq!(sight.seen.word(), expected, "{:?}", sight.seen);
        assert!(!sight.has_no_clients());
        sight
    };
    let sight = check(None, "unknown");
    let why = format!("{:?}", sight.seen);
    // It may have worked all the time: nobody saw that it did not.
    assert!(
        why.contains("app@192.168.7.7:4000") && why.contains("no packet of 1 session was captured"),
        "{why}"
    );
    assert!(!why.contains("silent") && !why.contains("idle"), "{why}");
    check(Some(true), "sealed");
    assert_eq!(check(Some(false), "plain").cleartext_clients, ["app@192.168.7.7:4000"]);
}

#[test]
fn a_refused_login_is_named_and_is_nobodys_session() {
    let refused = || Flow {
        saw_start: true,
        no_session: Some(NoSession::Refused(3159)),
        ..flow("10.0.0.9:1002", "10.0.0.1:3306", false)
    };
    let sight = client_link(&n1(), vec![refused()], &[], &[]);
    assert_eq!((sight.seen.word(), sight.has_no_clients()), ("unknown", true), "{sight:?}");
    assert_eq!(sight.refused_logins, ["10.0.0.9:1002 (error 3159)"]);
    assert!(sight.cleartext_clients.is_empty());
    let tls = flow("10.0.0.9:1001", "10.0.0.1:3306", true);
    let listed = [session("10.0.0.9:1001", None)];
    assert_eq!(client_link(&n1(), vec![refused(), tls], &listed, &[]).seen, Seen::Sealed);
    let let_in = flow("10.0.0.9:1003", "10.0.0.1:3306", false);
    let sight = client_link(&n1(), vec![refused(), let_in], &[], &[]);
    assert_eq!(sight.seen, Seen::Plain);
    assert_eq!(sight.cleartext_clients, ["10.0.0.9:1003"]);
}

#[test]
fn clients_reach_a_server_by_other_addresses_and_ports_too() {
    let everywhere = || vec![place("n1", "10.0.0.1", true)];
    for server in ["127.0.0.1:3306", "192.168.1.1:3307", "10.0.0.1:3307"] {
        let sight = client_link(&everywhere(), vec![flow("10.0.0.9:1001", server, false)], &[], &[]);
        assert_eq!(sight.seen, Seen::Plain, "{server}");
    }
    // Somebody else's server, where ours does not listen.
    let flows = vec![flow("10.0.0.9:1001", "127.0.0.1:3306", false)];
    assert_eq!(client_link(&n1(), flows, &[], &[]).seen.word(), "unknown");
}
