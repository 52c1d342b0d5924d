//! Everything there is: machines, servers, links, clients and the time.

use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Clock, Transport};
use server::accounts::{Account, AccountName, AccountTls};

use super::channels::{Fleet, RETRY_MS};
use super::clients::App;
use super::disk::{Entry, MYSQL, ROOT, TCP_HEAD, TCP_TABLE};
use super::fault::Faults;
use super::hosts::Cut;
use super::links::{Attempt, Gossip, Wire};
use super::process::{GRASTATE, Server};
use super::proxy::HaProxy;
use super::rng::Rng;
use super::transfer::Transfer;

/// 2026-11-21T00:00:00Z, when the worlds begin.
const EPOCH_UNIX_MS: u64 = 1_795_219_200_000;
/// Servers and clients act this often.
const TICK_MS: u64 = 100;

pub const DEFAULTS_FILE: &str = "/etc/mysql/my.cnf";
pub const SERVER_FILE: &str = "/etc/mysql/mariadb.conf.d/50-server.cnf";
pub const GALERA_FILE: &str = "/etc/mysql/mariadb.conf.d/60-galera.cnf";
/// Where the third node's [`GALERA_FILE`] really is: that is a symbolic link.
pub const LINKED_FILE: &str = "/srv/config/n3/60-galera.cnf";
pub const TLS_DIR: &str = "/etc/mysql/sealion";
pub const STATE_DIR: &str = "/var/lib/sealion";
/// Of an arbitrator.
pub const GARB_FILE: &str = "/etc/default/garb";
pub const GARB_TLS_DIR: &str = "/etc/garbd/ssl";
pub const GARB_STATE_DIR: &str = "/var/lib/sealion/garbd";
pub const DATA_DIR: &str = "/var/lib/mysql";

/// The same time for everything that asks.
#[derive(Debug, Clone, Default)]
pub struct SimClock(Arc<AtomicU64>);

impl Clock for SimClock {
    fn unix_ms(&self) -> u64 {
        EPOCH_UNIX_MS + self.0.load(Ordering::Relaxed)
    }
}

/// Hashes of a leaf and of a CA file.
type CertificatePair = (String, String);

#[derive(Debug, Clone)]
pub struct World {
    pub seed: u64,
    pub rng: Rng,
    /// Since the world began.
    pub now_ms: u64,
    pub clock: SimClock,
    pub servers: Vec<Server>,
    pub links: BTreeMap<(usize, usize), Wire>,
    pub(super) refused_links: BTreeMap<(usize, usize), Attempt>,
    pub(super) gossip: BTreeMap<(usize, usize), Gossip>,
    /// Handshakes that were judged already.
    pub(super) verdicts: Rc<RefCell<BTreeMap<u64, Option<&'static str>>>>,
    /// Which certificates are of which CA, by their hashes, and until when that holds.
    pub(super) trusted: Rc<RefCell<BTreeMap<CertificatePair, (bool, i64)>>>,
    /// Servers by themselves, and channels.
    pub fleet: Option<Fleet>,
    /// Between servers; sealion comes to each by another network.
    pub cuts: Vec<Cut>,
    pub conf_id: u64,
    /// The membership that was last looked at for broken promises.
    pub(super) watched: u64,
    /// Nobody is Primary until then: what a plain joiner can do to a cluster with a strict member.
    pub storm_until_ms: u64,
    /// garbd processes that are members and not among the servers: the inventory does not name them. They never fail here.
    pub strange_arbitrators: usize,
    /// The others hear no good-bye of a server that is stopped: they count it until the suspect timeout.
    pub hears_no_goodbye: bool,
    pub app: App,
    /// In front of the servers.
    pub proxies: Vec<HaProxy>,
    /// One list for all: accounts are written in total order.
    pub accounts: Vec<Account>,
    /// Connected to every server beside the application.
    /// Admin ports can be reached.
    pub admin_answers: bool,
    /// Admin ports do not follow the main ones, and show this.
    pub admin_leaf: Option<Vec<u8>>,
    pub other_clients: Vec<(Option<String>, Transport)>,
    /// Of these, each is connected in one look only, and one of them in each.
    pub passing_clients: Vec<(Option<String>, Transport)>,
    /// Connected over the unix socket of every server.
    pub socket_users: Vec<String>,
    pub transfers: Vec<Transfer>,
    /// State transfers take so much longer.
    pub transfers_slower_ms: u64,
    /// So many of the next state transfers fail in the middle, as on a machine that is overloaded.
    pub transfers_fail: u32,
    /// A server takes so much longer until it opens its group communication: crash recovery, or an old UUID of it that the
    /// others have not forgotten.
    pub starts_slower_ms: u64,
    /// Commands that start a server take so long before there is a process.
    pub start_commands_ms: u64,
    /// How often whoever might begin a start found one under way.
    pub starts_found_under_way: u32,
    /// So many looks on the wire lose packets from now on, and can say nothing.
    pub spoilt_looks: u32,
    /// Promises that were broken, in words. Must stay empty.
    pub violations: Vec<String>,
    /// Servers that sealion has stopped, one entry a time.
    pub stops: Vec<usize>,
    pub forbids_plain_beside_strict: bool,
    pub faults: Faults,
    pub said: Vec<String>,
    /// Sealion was killed: what its destructors would do is not done.
    pub sealion_is_dead: bool,
    /// Of the command that runs; each has its own.
    pub sealion_pid: u32,
    pub next_pid: i32,
    next_tick_ms: u64,
}

fn accounts() -> Vec<Account> {
    let account = |user: &str, host: &str, tls, is_local| Account {
        name: AccountName { user: user.into(), host: host.into() },
        tls,
        is_local,
        is_own: user == "root",
    };
    vec![
        account("app", "10.0.0.%", AccountTls::None, false),
        account("report", "%", AccountTls::None, false),
        account("root", "localhost", AccountTls::None, true),
    ]
}

/// A world that nodes, hosts, looks and tests hold together.
#[derive(Debug, Clone)]
pub struct Shared(Rc<RefCell<World>>);

impl Shared {
    pub fn new(world: World) -> Self {
        Self(Rc::new(RefCell::new(world)))
    }
    pub fn borrow(&self) -> Ref<'_, World> {
        self.0.borrow()
    }
    pub fn borrow_mut(&self) -> RefMut<'_, World> {
        self.0.borrow_mut()
    }
    pub fn advance(&self, ms: u64) {
        self.0.borrow_mut().advance(ms);
    }
}

impl World {
    /// These servers, none of which was ever started.
    pub(super) fn bare(seed: u64, servers: Vec<Server>) -> Self {
        Self {
            seed,
            rng: Rng::new(seed),
            now_ms: 0,
            clock: SimClock::default(),
            servers,
            links: BTreeMap::new(),
            refused_links: BTreeMap::new(),
            gossip: BTreeMap::new(),
            verdicts: Rc::default(),
            trusted: Rc::default(),
            fleet: None,
            cuts: vec![],
            conf_id: 0,
            watched: 0,
            storm_until_ms: 0,
            strange_arbitrators: 0,
            hears_no_goodbye: false,
            app: App::default(),
            proxies: vec![],
            accounts: accounts(),
            admin_answers: true,
            admin_leaf: None,
            other_clients: vec![],
            passing_clients: vec![],
            socket_users: vec![],
            transfers: vec![],
            transfers_slower_ms: 0,
            transfers_fail: 0,
            starts_slower_ms: 0,
            start_commands_ms: 0,
            starts_found_under_way: 0,
            spoilt_looks: 0,
            violations: vec![],
            stops: vec![],
            forbids_plain_beside_strict: true,
            faults: Faults::default(),
            said: vec![],
            sealion_is_dead: false,
            sealion_pid: 1,
            next_pid: 1000,
            next_tick_ms: 0,
        }
    }

    /// `count` plain nodes with data, running, Synced, with clients that write.
    pub fn cluster(seed: u64, count: usize) -> Self {
        Self::cluster_that_names(seed, count, count)
    }

    /// The same, where the addresses of the first `named` nodes stand in every configuration: the others joined later.
    fn cluster_that_names(seed: u64, count: usize, named: usize) -> Self {
        Self::cluster_where(seed, count, |_| (0..named).collect())
    }

    /// The same, where each node has the addresses of these in its configuration.
    fn cluster_where(seed: u64, count: usize, names: impl Fn(usize) -> Vec<usize>) -> Self {
        let mut world = Self::bare(seed, (0..count).map(Server::new).collect());
        let all: Vec<String> = world.servers.iter().map(|server| server.spec.address.clone()).collect();
        for (index, server) in world.servers.iter_mut().enumerate() {
            let addresses: Vec<&str> = names(index).into_iter().map(|other| all[other].as_str()).collect();
            write_option_files(server, index, &addresses.join(","));
            let grastate = format!("uuid:    {}\nseqno:   -1\n", server.state_uuid);
            server.disk.put(GRASTATE, grastate, MYSQL, 0o600);
            if index == 2 {
                // One machine's configuration is kept elsewhere.
                server.disk.move_behind_link(GALERA_FILE, LINKED_FILE);
            }
        }
        // What an administrator did long ago: the first node was bootstrapped, the others joined with the same data.
        world.app.writes = false;
        world.app.acknowledged = 1;
        world.servers.iter_mut().for_each(|server| server.seqno = 1);
        world.found(0);
        for index in 1..count {
            world.start(index);
            world.advance(9_000);
        }
        world.write_from_now_on();
        world.advance(3_000);
        world
    }

    /// The same, with an arbitrator.
    pub fn cluster_with_arbitrator(seed: u64, count: usize) -> Self {
        Self::cluster(seed, count).and_arbitrator(count)
    }

    /// The same, where the last nodes, so many, stand in no configuration but their own.
    pub fn grown_cluster_with_arbitrator(seed: u64, count: usize, grown_by: usize) -> Self {
        Self::cluster_that_names(seed, count, count - grown_by).and_arbitrator(count - grown_by)
    }

    /// Three nodes of which each has only the next one in its configuration, a fourth one that has all, and an arbitrator.
    pub fn ring_with_arbitrator(seed: u64) -> Self {
        Self::cluster_where(
            seed,
            4,
            |index| if index == 3 { (0..4).collect() } else { vec![(index + 1) % 3] },
        )
        .and_arbitrator(4)
    }

    fn and_arbitrator(mut self, named: usize) -> Self {
        let world = &mut self;
        let servers = world.servers.iter().take(named);
        let nodes: Vec<String> = servers.map(|server| server.spec.address.clone()).collect();
        let index = world.servers.len();
        world.servers.push(Server::arbitrator(index, &nodes.join(",")));
        world.start(index);
        world.advance(9_000);
        world.write_from_now_on();
        self
    }

    /// The same, with one more server that is laid out and was never started: the last one.
    pub fn with_spare(seed: u64, count: usize) -> Self {
        let mut world = Self::cluster(seed, count);
        let addresses: Vec<String> = world.servers.iter().map(|server| server.spec.address.clone()).collect();
        let mut spare = Server::new(count);
        spare.is_spare = true;
        write_option_files(&mut spare, count, &addresses.join(","));
        world.servers.push(spare);
        world
    }

    /// A copy that shares nothing, for a scenario of its own.
    #[must_use]
    pub fn fork(&self, seed: u64) -> Self {
        let clock = SimClock::default();
        clock.0.store(self.now_ms, Ordering::Relaxed);
        Self { seed, rng: Rng::new(seed), clock, faults: Faults::default(), ..self.clone() }
    }

    pub fn advance(&mut self, ms: u64) {
        let until = self.now_ms + ms;
        while self.next_tick_ms <= until {
            self.now_ms = self.next_tick_ms;
            self.next_tick_ms += TICK_MS;
            self.clock.0.store(self.now_ms, Ordering::Relaxed);
            self.tick();
        }
        self.now_ms = until;
        self.clock.0.store(until, Ordering::Relaxed);
    }

    fn tick(&mut self) {
        if self.fleet.is_some() {
            self.tick_fleet();
        }
        if self.of_cluster().is_empty() {
            return;
        }
        self.end_start_jobs();
        self.restart_crashed();
        self.thaw();
        self.pass_cuts();
        if !self.is_quiet() {
            self.settle();
        }
        self.serve_clients();
    }

    pub fn unix_s(&self) -> i64 {
        i64::try_from(self.clock.unix_ms() / 1000).unwrap_or(i64::MAX)
    }

    /// Until `done`, or for `ms_max`.
    pub fn advance_until(&mut self, ms_max: u64, done: impl Fn(&Self) -> bool) -> bool {
        let until = self.now_ms + ms_max;
        while !done(self) {
            if self.now_ms >= until {
                return false;
            }
            self.advance(TICK_MS);
        }
        true
    }

    /// Every file that is not the server's or sealion's own business, of all nodes.
    pub fn user_files(&self) -> BTreeMap<String, Entry> {
        let mut files = BTreeMap::new();
        for server in &self.servers {
            for (path, entry) in &server.disk.entries {
                let own = [STATE_DIR, DATA_DIR, "/run"].iter().any(|dir| path.starts_with(Path::new(dir)));
                if !own && entry.bytes.is_some() {
                    files.insert(format!("{}:{}", server.name(), path.display()), entry.clone());
                }
            }
        }
        files
    }

    /// All files and what each server runs with: equal before and after says that nothing was changed.
    pub fn fingerprint(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for server in &self.servers {
            let name = server.name();
            lines.extend(
                server
                    .disk
                    .links
                    .iter()
                    .map(|(link, to)| format!("{name} {} -> {}", link.display(), to.display())),
            );
            for (path, entry) in &server.disk.entries {
                let hash = entry.bytes.as_ref().map(|bytes| providers::edit::hash(bytes));
                lines.push(format!(
                    "{name} {} {hash:?} {} {} {:o}",
                    path.display(),
                    entry.uid,
                    entry.gid,
                    entry.mode
                ));
            }
            let pid = server.process.as_ref().map(|process| process.pid);
            let live =
                server.live.as_ref().map(|live| (live.read_back.clone(), live.generation, live.requires_tls));
            lines.push(format!("{name} pid {pid:?} desync {} {live:?}", server.desync));
        }
        lines
    }

    pub fn index(&self, name: &str) -> usize {
        self.servers
            .iter()
            .position(|server| server.spec.name.as_str() == name)
            .expect("a node of this world")
    }

    /// Member states as letters in node order, `-` for a node that is not running.
    pub fn letters(&self) -> String {
        let letter = |index: usize| self.servers[index].live.as_ref().map_or('-', |live| live.letter);
        let of_cluster: String = self.of_cluster().into_iter().map(letter).collect();
        of_cluster + &self.fleet_letters()
    }

    /// What happens by itself has happened after so long.
    pub fn settles_ms(&self) -> u64 {
        if self.fleet.is_some() { RETRY_MS + 10_000 } else { 10_000 }
    }

    /// A lease that has not lapsed lies on this node.
    pub fn has_lease(&self, index: usize) -> bool {
        let server = &self.servers[index];
        let Some(entry) = server.disk.entries.get(&server.spec.state_dir.join("lease.json")) else {
            return false;
        };
        let bytes = entry.bytes.as_deref().unwrap_or_default();
        let lease: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
        lease["until_unix_ms"].as_u64().is_none_or(|until| until > self.clock.unix_ms())
    }

    /// All nodes are members of one primary component and Synced.
    pub fn is_whole(&self) -> bool {
        let of_cluster = self.of_cluster();
        let is_whole = |index: &usize| {
            let server = &self.servers[*index];
            server.is_out() || (self.is_primary(*index) && server.local_state == 4 && server.is_in_step())
        };
        of_cluster.iter().all(is_whole)
            && (of_cluster.is_empty() || self.primary_components().len() == 1)
            && self.fleet_is_whole()
    }
}

fn write_option_files(server: &mut Server, index: usize, addresses: &str) {
    let disk = &mut server.disk;
    disk.put(
        DEFAULTS_FILE,
        "# The MariaDB configuration file\n\n[client-server]\n# Port or socket location where to connect\nsocket = /run/mysqld/mysqld.sock\n\n\
         !includedir /etc/mysql/conf.d/\n!includedir /etc/mysql/mariadb.conf.d/\n",
        ROOT,
        0o644,
    );
    disk.make_dirs(Path::new("/etc/mysql/conf.d"), ROOT, 0o755);
    disk.put(TCP_TABLE, TCP_HEAD, ROOT, 0o444);
    disk.put(
        SERVER_FILE,
        "[server]\n\n[mysqld]\nuser = mysql\npid-file = /run/mysqld/mysqld.pid\ndatadir = /var/lib/mysql\nbind-address = 0.0.0.0\n",
        ROOT,
        0o644,
    );
    // The last node has no provider options of its own, as a node that was set up by another hand.
    let options = match index {
        0 => "wsrep_provider_options = \"gcache.size=256M; gmcast.segment=0\"\n",
        1 => "wsrep-provider-options=gcache.size=128M;evs.keepalive_period=PT1S\n",
        _ => "",
    };
    disk.put(
        GALERA_FILE,
        format!(
            "# Galera, since 2021\n[galera]\nwsrep_on=ON\nwsrep_provider=/usr/lib/galera/libgalera_smm.so\n\
             wsrep_cluster_name = sim   # never change\nwsrep_cluster_address=gcomm://{addresses}\n{options}\
             wsrep_sst_method=mariabackup\nwsrep_sst_auth=sst:hunter2\n\n[sst]\nprogress=1\n"
        ),
        ROOT,
        0o640,
    );
    disk.entries.entry(GALERA_FILE.into()).and_modify(|entry| entry.gid = MYSQL);
    for program in [
        "lib/galera/libgalera_smm.so",
        "sbin/mariadbd",
        "bin/mariabackup",
        "bin/socat",
        "bin/wsrep_sst_mariabackup",
    ] {
        disk.put(&format!("/usr/{program}"), "\x7fELF", ROOT, 0o755);
    }
    disk.put(GRASTATE, "seqno:   -1\n", MYSQL, 0o600);
    disk.entries.entry(DATA_DIR.into()).and_modify(|entry| {
        (entry.uid, entry.gid, entry.mode) = (MYSQL, MYSQL, 0o750);
    });
    disk.make_dirs(Path::new("/run/mysqld"), MYSQL, 0o755);
}
