//! Which servers there are, asked of one and of all that it leads to.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use net::{Client, ConnectOptions, Endpoint, NetError};
use server::capability::{Capabilities, Flavour};
use server::replication::{self, Channel};

/// As many as an inventory takes.
pub const SERVERS_MAX: usize = 100;
/// After this, nobody further is asked.
const SURVEY_MAX: Duration = Duration::from_secs(120);
const CONNECT_MAX: Duration = Duration::from_secs(3);
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Where a server is said to be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub address: String,
    pub port: u16,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_v6 = self.address.contains(':');
        if is_v6 {
            write!(f, "[{}]:{}", self.address, self.port)
        } else {
            write!(f, "{}:{}", self.address, self.port)
        }
    }
}

/// Paths that a server has told, from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerPaths {
    pub socket: String,
    pub pid_file: String,
    pub error_log: String,
}

/// What a Galera node says of its cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GaleraNode {
    pub cluster: String,
    pub node: String,
    pub state: String,
    pub members: Vec<Place>,
    /// Members without an address: garbd.
    pub arbitrators: usize,
}

/// A replica as its source lists it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToldReplica {
    pub server_id: String,
    /// `report_host`, or on MariaDB the address that it connects from; empty: it told none.
    pub host: String,
    pub port: u16,
}

/// A server that answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surveyed {
    /// Names it for good, whatever it is called by others.
    pub identity: String,
    /// The best one first.
    pub places: Vec<Place>,
    pub host_name: String,
    pub server_id: String,
    pub is_mariadb: bool,
    pub version: String,
    pub paths: ServerPaths,
    pub galera: Option<GaleraNode>,
    /// Members of its Group Replication.
    pub group: Vec<Place>,
    pub channels: Vec<Channel>,
    pub replicas: Vec<ToldReplica>,
    /// From where replicas read its binary log.
    pub dump_addresses: Vec<String>,
    /// What it did not tell, with the reason.
    pub not_told: Vec<String>,
}

/// Why somebody is looked for at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The operator named it.
    Named,
    Member,
    Source,
    Replica,
    /// A replica may be there: it connects from that address.
    PerhapsReplica,
}

/// A place where nobody answered, or nobody was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreached {
    pub place: Place,
    pub role: Role,
    /// The server that told of it.
    pub teller: usize,
    pub why: NotSurveyed,
}

/// Why a server is not in the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotSurveyed {
    pub why: String,
    /// Somebody answered there, and let nobody in.
    pub answered: bool,
}

#[derive(Debug, Default)]
pub struct Survey {
    /// The first one is that which was named.
    pub servers: Vec<Surveyed>,
    pub unreached: Vec<Unreached>,
    /// What the draft is not complete for.
    pub notes: Vec<String>,
    by_place: BTreeMap<Place, Option<usize>>,
}

impl Survey {
    /// The server at a place, if one answered there.
    pub fn at(&self, place: &Place) -> Option<usize> {
        self.by_place.get(place).copied().flatten()
    }
}

#[derive(Debug, Clone)]
struct Lead {
    place: Place,
    role: Role,
    teller: usize,
}

/// Asks the server at `first`, then everyone that it and they tell of. `ask` asks one server.
///
pub fn survey(
    first: Place,
    named: Surveyed,
    ask: impl Fn(&Place) -> Result<Surveyed, NotSurveyed> + Sync,
) -> Survey {
    let begun = Instant::now();
    let mut survey = Survey::default();
    let mut leads = survey.take(&Lead { place: first, role: Role::Named, teller: 0 }, named);
    loop {
        // Whatever is surest comes first, and each place once.
        leads.sort_by_key(|lead| lead.role);
        let mut places = BTreeSet::new();
        leads.retain(|lead| !survey.by_place.contains_key(&lead.place) && places.insert(lead.place.clone()));
        if leads.is_empty() {
            break;
        }
        let room = SERVERS_MAX.saturating_sub(survey.servers.len() + survey.unreached.len());
        let room = if begun.elapsed() > SURVEY_MAX { 0 } else { room };
        if leads.len() > room {
            survey.notes.push(format!(
                "{} more servers were named and not asked any more, behind {} that were, in {} s",
                leads.len() - room,
                survey.by_place.len() + room,
                begun.elapsed().as_secs()
            ));
            leads.truncate(room);
        }
        let answers: Vec<_> = std::thread::scope(|scope| {
            let asking: Vec<_> = leads.iter().map(|lead| scope.spawn(|| ask(&lead.place))).collect();
            let answer = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|_| {
                    Err(NotSurveyed { why: "asking it failed inside of sealion".into(), answered: false })
                })
            };
            asking.into_iter().map(answer).collect()
        });
        let mut next = Vec::new();
        for (lead, answer) in leads.iter().zip(answers) {
            match answer {
                Ok(surveyed) => next.extend(survey.take(lead, surveyed)),
                Err(why) => {
                    survey.by_place.insert(lead.place.clone(), None);
                    let Lead { place, role, teller } = lead.clone();
                    survey.unreached.push(Unreached { place, role, teller, why });
                }
            }
        }
        leads = next;
    }
    survey.forget_known_replicas();
    survey
}

impl Survey {
    /// Notes who answered; returns where it leads to.
    fn take(&mut self, lead: &Lead, mut surveyed: Surveyed) -> Vec<Lead> {
        let known = self.servers.iter().position(|other| other.identity == surveyed.identity);
        if let Some(at) = known {
            self.by_place.insert(lead.place.clone(), Some(at));
            if let Some(server) = self.servers.get_mut(at) {
                // What servers call each other is better than what an operator typed.
                let is_first_told = server.places.len() == 1 && at == 0;
                let at = if is_first_told { 0 } else { server.places.len() };
                server.places.insert(at, lead.place.clone());
            }
            return vec![];
        }
        let at = self.servers.len();
        self.by_place.insert(lead.place.clone(), Some(at));
        surveyed.places = vec![lead.place.clone()];
        let leads = leads_of(&surveyed, at, &lead.place);
        for place in leads.1 {
            self.notes.push(format!(
                "{} names {place}, an address of its own machine (a tunnel or a proxy?), which was not asked",
                lead.place
            ));
        }
        self.servers.push(surveyed);
        leads.0
    }

    /// A source lists replicas by addresses at which nobody answers: those that were found in another way are no riddle.
    fn forget_known_replicas(&mut self) {
        let (servers, by_place) = (&self.servers, &self.by_place);
        self.unreached.retain(|unreached| {
            if !matches!(unreached.role, Role::Replica | Role::PerhapsReplica) {
                return true;
            }
            let Some(teller) = servers.get(unreached.teller) else { return true };
            let is_found = |told: &ToldReplica| is_found(told, unreached.teller, servers, by_place);
            match unreached.role {
                Role::Replica => {
                    let mut told = teller.replicas.iter().filter(|told| {
                        told.host == unreached.place.address && told.port == unreached.place.port
                    });
                    !told.all(is_found)
                }
                // It was a guess; who was not found is said once, by its server id.
                _ => false,
            }
        });
        let mut notes = Vec::new();
        for (at, teller) in servers.iter().enumerate() {
            for told in teller.replicas.iter().filter(|told| told.host.is_empty()) {
                if !is_found(told, at, servers, by_place) {
                    let from = match &teller.dump_addresses[..] {
                        [] => String::new(),
                        from => format!("; replicas connect from {}", from.join(", ")),
                    };
                    notes.push(format!(
                        "a replica of {} with server_id {} and port {} does not tell its address{from}. Set report_host \
                         there, or add its table by hand",
                        place_of(teller),
                        told.server_id,
                        told.port
                    ));
                }
            }
        }
        self.notes.extend(notes);
    }
}

/// Whether a replica that the server at `teller` lists is one that answered.
fn is_found(
    told: &ToldReplica,
    teller: usize,
    servers: &[Surveyed],
    by_place: &BTreeMap<Place, Option<usize>>,
) -> bool {
    let reads_from = |server: &Surveyed| {
        server.channels.iter().any(|channel| {
            let place = Place { address: channel.source_host.clone(), port: channel.source_port };
            by_place.get(&place).copied().flatten() == Some(teller)
        })
    };
    servers.iter().any(|server| server.server_id == told.server_id && reads_from(server))
}

pub fn place_of(server: &Surveyed) -> String {
    server.places.first().map(ToString::to_string).unwrap_or_default()
}

fn is_loopback(address: &str) -> bool {
    address == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Where a server leads to, and the places that mean something on its own machine only.
fn leads_of(surveyed: &Surveyed, at: usize, its_place: &Place) -> (Vec<Lead>, Vec<Place>) {
    let galera = surveyed.galera.iter().flat_map(|galera| galera.members.iter().cloned());
    let members = galera.chain(surveyed.group.iter().cloned()).map(|place| (place, Role::Member));
    let sources = surveyed.channels.iter().filter(|channel| !channel.source_host.is_empty()).map(|channel| {
        (Place { address: channel.source_host.clone(), port: channel.source_port }, Role::Source)
    });
    let (named, nameless): (Vec<_>, Vec<_>) =
        surveyed.replicas.iter().partition(|told| !told.host.is_empty());
    let replicas =
        named.into_iter().map(|told| (Place { address: told.host.clone(), port: told.port }, Role::Replica));
    let guesses = nameless.into_iter().flat_map(|told| {
        let at =
            |address: &String| (Place { address: address.clone(), port: told.port }, Role::PerhapsReplica);
        surveyed.dump_addresses.iter().map(at)
    });
    let all = members.chain(sources).chain(replicas).chain(guesses);
    let (leads, own): (Vec<_>, Vec<_>) =
        all.partition(|(place, _)| !is_loopback(&place.address) || is_loopback(&its_place.address));
    let mut own: Vec<Place> = own.into_iter().map(|(place, _)| place).collect();
    own.dedup();
    (leads.into_iter().map(|(place, role)| Lead { place, role, teller: at }).collect(), own)
}

/// Asks the server that `options` lead to.
///
/// # Errors
/// It does not answer, or refuses the login.
pub fn ask(options: &ConnectOptions, default_port: u16) -> Result<Surveyed, NetError> {
    let mut client = Client::connect(options)?;
    let surveyed = questions(&mut client, default_port);
    let _ = client.quit();
    surveyed
}

fn questions(client: &mut Client, default_port: u16) -> Result<Surveyed, NetError> {
    let mut value =
        |statement: &str| client.query(statement).map(|rows| rows.text(0, "Value").map(Cow::into_owned));
    let comment = value("SHOW GLOBAL VARIABLES LIKE 'version_comment'")?.unwrap_or_default();
    let wsrep_on = value("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")?;
    let mut surveyed = Surveyed::default();
    let is_galera = wsrep_on.as_deref() == Some("ON");
    if is_galera {
        let mut text = |statement: &str| value(statement).map(Option::unwrap_or_default);
        let incoming = text("SHOW GLOBAL STATUS LIKE 'wsrep_incoming_addresses'")?;
        let (members, arbitrators) = members(&incoming, default_port);
        surveyed.galera = Some(GaleraNode {
            cluster: text("SHOW GLOBAL VARIABLES LIKE 'wsrep_cluster_name'")?,
            node: text("SHOW GLOBAL VARIABLES LIKE 'wsrep_node_name'")?,
            state: text("SHOW GLOBAL STATUS LIKE 'wsrep_local_state_comment'")?,
            members,
            arbitrators,
        });
    }
    let rows = client.query(
        "SELECT @@hostname, @@port, @@datadir, @@server_id, @@version, @@socket, @@pid_file, @@log_error",
    )?;
    let row = rows.first();
    let at =
        |column: usize| row.as_ref().and_then(|row| row.at(column)).map(Cow::into_owned).unwrap_or_default();
    // Relative paths count from the data directory; `stderr` is no file.
    let below = |path: String| {
        let is_file = !path.is_empty() && path != "stderr";
        if is_file { Path::new(&at(2)).join(path).display().to_string() } else { String::new() }
    };
    surveyed.identity = [at(0), at(1), at(2), at(3)].join("|");
    surveyed.host_name = at(0);
    surveyed.server_id = at(3);
    surveyed.version = at(4);
    surveyed.paths = ServerPaths { socket: below(at(5)), pid_file: below(at(6)), error_log: below(at(7)) };
    let capabilities = Capabilities::of(&surveyed.version, &comment, false);
    surveyed.is_mariadb = capabilities.flavour == Flavour::MariaDb;
    match replication::channels(client, &capabilities) {
        Ok(channels) => surveyed.channels = channels,
        Err(error) => surveyed.not_told.push(format!("what it replicates from: {}", error.in_one_line())),
    }
    // MariaDB, and MySQL before 8.0.22, have the older name.
    let listed = client.query("SHOW REPLICAS").or_else(|_| client.query("SHOW SLAVE HOSTS"));
    match listed {
        Ok(rows) => {
            let replicas = rows.iter().map(|row| {
                let text = |name: &str| row.text(name).map(Cow::into_owned);
                ToldReplica {
                    server_id: text("Server_id").or_else(|| text("Server_Id")).unwrap_or_default(),
                    host: text("Host").unwrap_or_default(),
                    port: text("Port").and_then(|port| port.parse().ok()).unwrap_or(default_port),
                }
            });
            surveyed.replicas = replicas.take(SERVERS_MAX).collect();
        }
        Err(error) => surveyed.not_told.push(format!("its replicas: {}", error.in_one_line())),
    }
    match server::sessions::tcp_sessions(client) {
        Ok(sessions) => {
            let of_replicas = sessions.list.iter().filter(|session| session.is_replica);
            surveyed.dump_addresses = of_replicas.map(|session| session.host.clone()).collect();
            surveyed.dump_addresses.sort();
            surveyed.dump_addresses.dedup();
            surveyed.dump_addresses.truncate(SERVERS_MAX);
        }
        Err(error) => surveyed.not_told.push(format!("its sessions: {}", error.in_one_line())),
    }
    if !surveyed.is_mariadb {
        let group = "SELECT MEMBER_HOST, MEMBER_PORT FROM performance_schema.replication_group_members \
                     WHERE MEMBER_HOST <> ''";
        match client.query(group) {
            Ok(rows) => {
                let place = |address: Cow<'_, str>, port: Cow<'_, str>| {
                    Some(Place { address: address.into_owned(), port: port.parse().ok()? })
                };
                surveyed.group = rows.iter().filter_map(|row| place(row.at(0)?, row.at(1)?)).collect();
            }
            Err(error) => surveyed.not_told.push(format!("its replication group: {}", error.in_one_line())),
        }
    }
    Ok(surveyed)
}

/// `wsrep_incoming_addresses`, and how many members have none.
fn members(incoming: &str, default_port: u16) -> (Vec<Place>, usize) {
    let (mut members, mut arbitrators) = (Vec::new(), 0);
    for entry in incoming.split(',').map(str::trim) {
        let (address, port) = match entry.rsplit_once(':') {
            Some((address, port)) if !address.contains(':') || address.ends_with(']') => {
                (address.trim_matches(['[', ']']), port.parse().unwrap_or(default_port))
            }
            _ => (entry, default_port),
        };
        if address.is_empty() || address == "AUTO" {
            arbitrators += usize::from(!incoming.is_empty());
        } else {
            members.push(Place { address: address.to_owned(), port });
        }
    }
    (members, arbitrators)
}

/// How the server at `place` is reached with this login. `trusts_found`: with the password itself where the server wants it.
pub fn options_at(login: &ConnectOptions, place: &Place, trusts_found: bool) -> ConnectOptions {
    ConnectOptions {
        endpoint: Endpoint::tcp(place.address.clone(), place.port),
        connect_timeout: CONNECT_MAX,
        io_timeout: ANSWER_MAX,
        keeps_password: !trusts_found,
        ..login.clone()
    }
}
