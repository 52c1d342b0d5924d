//! Servers by themselves, of MariaDB and of MySQL, and the channels by which some of them replicate from others.
//!
//! As unkind as real ones: a channel that loses its source tries again only after [`RETRY_MS`], CHANGE MASTER wants its threads
//! stopped, MariaDB's channel that does not verify goes on in cleartext where its source offers no TLS, a source that requires TLS
//! refuses a channel without, and so does an account. What is written of accounts arrives by the channels.
//! A channel that is connected stays as it is, whatever became of certificates and accounts. A source may be a node of a Galera cluster,
//! whose writes are those of one writer, whoever took them ([`World::estate`]).
//!
//! Seen: MariaDB 10.11.19, MySQL 9.7.4. Only what is due is touched in a tick, so that a thousand servers cost what happens to them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;

use server::accounts::{Account, AccountName, AccountTls};
use server::{Channel, ChannelTls, Flavour, Sessions, ThreadState, Threads};

use super::disk::{Disk, MYSQL, ROOT, TCP_HEAD, TCP_TABLE};
use super::mysql::{self, RETRIES_MAX};
use super::process::{SYSTEMD_RESTART_MS, Server};
use super::rng::Rng;
use super::world::{DATA_DIR, DEFAULTS_FILE, SERVER_FILE, World};

/// MASTER_CONNECT_RETRY, as it is where nobody has set it.
pub const RETRY_MS: u64 = 60_000;
/// Of 100 looks at a source's sessions, so many find work under way.
const BUSY_PERCENT: u64 = 40;
const USERS: usize = 4;
/// With which replicas log in.
const REPL: &str = "repl";

/// The connection of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receiver {
    /// STOP SLAVE, or its server does not run.
    Stopped,
    /// It tries again then.
    Connecting {
        at_ms: u64,
    },
    Running {
        by_tls: bool,
    },
}

/// A channel as its replica keeps it, in memory and on its disk.
#[derive(Debug, Clone)]
pub struct SimChannel {
    pub name: String,
    pub source: usize,
    pub tls: ChannelTls,
    /// SOURCE_TLS_VERSION.
    pub tls_versions: String,
    pub receiver: Receiver,
    pub error: Option<String>,
    /// Its other thread: it applies what was received.
    pub applies: bool,
    /// GET_SOURCE_PUBLIC_KEY=1.
    pub gets_key: bool,
    /// Since it last had a connection, or was started.
    failed_connects: u32,
    /// It has applied all that its source has from then on.
    pub caught_up_ms: u64,
    /// It needs so long to catch up, after each connect.
    pub lags_ms: u64,
    /// `--skip-slave-start`: a restart leaves it stopped.
    pub skips_start: bool,
}

/// All servers that replicate by channels, or not at all.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// There is a Galera cluster, too.
    beside_cluster: bool,
    /// Who is to be looked at when.
    due: BTreeSet<(u64, usize)>,
    /// Who replicates from each.
    replicas: Vec<Vec<usize>>,
    /// Acknowledged transactions by the server that wrote them: nobody writes on a replica, but on one of two sources.
    written: BTreeMap<usize, u64>,
    /// Those that are stopped by sealion, and not back.
    stopped: BTreeSet<usize>,
    /// In the order in which they were written.
    alters: Vec<Alter>,
}

/// ALTER USER, as the binary log has it.
#[derive(Debug, Clone)]
struct Alter {
    writer: usize,
    /// It is this transaction of its writer.
    number: u64,
    account: AccountName,
    tls: AccountTls,
}

impl World {
    /// One server for each list of sources, all running, in cleartext. Who is another's source and nobody's replica takes writes, and
    /// two that replicate from each other.
    pub fn replicas(seed: u64, sources: &[Vec<usize>]) -> Self {
        Self::fleet_of(seed, sources, &vec![Flavour::MariaDb; sources.len()])
    }

    /// The same of MySQL. Channels are as CHANGE REPLICATION SOURCE makes them without a word of TLS, but for that of the second
    /// server, which was told to do without.
    pub fn replicas_of_mysql(seed: u64, sources: &[Vec<usize>]) -> Self {
        Self::fleet_of(seed, sources, &vec![Flavour::MySql; sources.len()])
    }

    /// The same, of a flavour each.
    pub fn fleet_of(seed: u64, sources: &[Vec<usize>], flavours: &[Flavour]) -> Self {
        let server = |(index, flavour): (usize, &Flavour)| match flavour {
            Flavour::MySql => Server::mysql(index),
            _ => Server::new(index),
        };
        let mut world = Self::bare(seed, flavours.iter().enumerate().map(server).collect());
        world.add_fleet(0, sources);
        world
    }

    /// A Galera cluster of three; an asynchronous replica of its second node, and a replica of that one; a source of MySQL with its
    /// replica; a pair of MariaDB. All run in cleartext, and all but the replicas take writes.
    pub fn estate(seed: u64) -> Self {
        Self::beside(Self::cluster(seed, 3))
    }

    /// The same beside a cluster that has more than that.
    pub fn beside(cluster: Self) -> Self {
        let mut world = cluster;
        let first = world.servers.len();
        for index in first..first + 6 {
            let is_mysql = index == first + 2 || index == first + 3;
            world.servers.push(if is_mysql { Server::mysql(index) } else { Server::new(index) });
        }
        let of_cluster = vec![vec![]; first];
        let beside = [vec![1], vec![first], vec![], vec![first + 2], vec![], vec![first + 4]];
        world.add_fleet(first, &[&of_cluster[..], &beside].concat());
        world.write_from_now_on();
        world
    }

    /// The servers from the first on are by themselves, and start now; each one's sources are listed.
    fn add_fleet(&mut self, first: usize, sources: &[Vec<usize>]) {
        let world = self;
        world.accounts.push(Account {
            name: AccountName { user: REPL.into(), host: "%".into() },
            tls: AccountTls::None,
            is_local: false,
            is_own: false,
        });
        let replicas = vec![vec![]; sources.len()];
        let mut fleet = Fleet { beside_cluster: first > 0, replicas, ..Fleet::default() };
        for (index, of) in sources.iter().enumerate().skip(first) {
            world.servers[index].is_by_itself = true;
            for (nth, &source) in of.iter().enumerate() {
                fleet.replicas[source].push(index);
                let by_tls = world.servers[index].is_mysql() && index != 1;
                world.servers[index].channels.push(SimChannel {
                    name: if nth == 0 { String::new() } else { format!("from_{}", source + 1) },
                    source,
                    tls: ChannelTls { is_on: by_tls, ..ChannelTls::default() },
                    tls_versions: String::new(),
                    receiver: Receiver::Running { by_tls },
                    error: None,
                    applies: true,
                    gets_key: true,
                    failed_connects: 0,
                    caught_up_ms: 0,
                    lags_ms: 0,
                    skips_start: false,
                });
            }
            let is_ring = of.iter().any(|&source| sources[source].contains(&index));
            if of.is_empty() || is_ring {
                fleet.written.insert(index, 1);
            }
        }
        world.fleet = Some(fleet);
        for index in first..world.servers.len() {
            write_option_files(&mut world.servers[index], index);
            world.start(index);
            world.answer(index);
            world.servers[index].remembers_login = true;
        }
        world.advance(500);
    }

    /// A source, four replicas of it, and five of each of those, so many times over; their places in the inventory are mixed.
    pub fn trees(seed: u64, count: usize) -> Self {
        let mut sources: Vec<Option<usize>> = Vec::new();
        for _ in 0..count {
            let root = sources.len();
            sources.push(None);
            for _ in 0..4 {
                let middle = sources.len();
                sources.push(Some(root));
                sources.extend([Some(middle); 5]);
            }
        }
        let places = Rng::new(seed).shuffled(sources.len());
        let mut mixed = vec![vec![]; sources.len()];
        for (at, source) in sources.iter().enumerate() {
            mixed[places[at]].extend(source.map(|source| places[source]));
        }
        Self::replicas(seed, &mixed)
    }

    /// From which servers each replicates.
    pub fn sources(&self) -> Vec<Vec<usize>> {
        let of = |server: &Server| server.channels.iter().map(|channel| channel.source).collect();
        self.servers.iter().map(of).collect()
    }

    fn fleet(&mut self) -> &mut Fleet {
        self.fleet.get_or_insert_default()
    }

    /// Looks at this server then.
    pub(super) fn due_at(&mut self, at_ms: u64, index: usize) {
        if let Some(fleet) = &mut self.fleet {
            fleet.due.insert((at_ms, index));
        }
    }

    pub(super) fn tick_fleet(&mut self) {
        let now = self.now_ms;
        let writers: Vec<usize> = self.fleet().written.keys().copied().collect();
        for index in writers {
            if self.servers[index].is_up() && !self.servers[index].is_frozen() {
                *self.fleet().written.entry(index).or_default() += 1;
            }
        }
        while let Some(&(at_ms, index)) = self.fleet().due.first().filter(|(at_ms, _)| *at_ms <= now) {
            self.fleet().due.remove(&(at_ms, index));
            self.wake(index);
        }
    }

    fn wake(&mut self, index: usize) {
        if !self.servers[index].is_by_itself {
            return;
        }
        let now = self.now_ms;
        let server = &mut self.servers[index];
        if server.frozen_ms.is_some_and(|(_, until)| now >= until) {
            server.frozen_ms = None;
        }
        match &server.process {
            None => {
                let is_due = server.crashed_ms.is_some_and(|at| now >= at + SYSTEMD_RESTART_MS);
                if is_due && server.restarts_by_itself && !server.is_told_to_stop {
                    self.start(index);
                }
            }
            Some(process) if !process.answers && now >= process.connects_ms => {
                self.answer(index);
                for at in 0..self.servers[index].channels.len() {
                    if !self.servers[index].channels[at].skips_start {
                        self.servers[index].channels[at].applies = true;
                        self.start_channel(index, at);
                    }
                }
            }
            Some(_) => {}
        }
        for at in 0..self.servers[index].channels.len() {
            if let Receiver::Connecting { at_ms } = self.servers[index].channels[at].receiver
                && now >= at_ms
                && self.servers[index].is_up()
            {
                self.connect(index, at);
            }
        }
    }

    /// It answers from now on.
    pub(super) fn fleet_is_up(&mut self, index: usize) {
        if let Some(fleet) = &mut self.fleet {
            fleet.stopped.remove(&index);
            self.watch_required(index);
        }
    }

    /// Its process is gone: its own channels with it, and those of its replicas find nobody.
    pub(super) fn fleet_is_gone(&mut self, index: usize) {
        if self.fleet.is_none() {
            return;
        }
        for at in 0..self.servers[index].channels.len() {
            self.keep_position(index, at);
            let channel = &mut self.servers[index].channels[at];
            (channel.receiver, channel.applies) = (Receiver::Stopped, false);
        }
        if let Some(crashed_ms) = self.servers[index].crashed_ms {
            self.due_at(crashed_ms + SYSTEMD_RESTART_MS, index);
        }
        let (replicas, at_ms) = (self.fleet().replicas[index].clone(), self.now_ms + RETRY_MS);
        for replica in replicas {
            for at in 0..self.servers[replica].channels.len() {
                let channel = &self.servers[replica].channels[at];
                if channel.source != index || !matches!(channel.receiver, Receiver::Running { .. }) {
                    continue;
                }
                self.keep_position(replica, at);
                let error = self.cannot_connect(replica, index);
                let channel = &mut self.servers[replica].channels[at];
                (channel.receiver, channel.error) = (Receiver::Connecting { at_ms }, Some(error));
                self.due_at(at_ms, replica);
            }
        }
    }

    fn cannot_connect(&self, replica: usize, source: usize) -> String {
        let address = &self.servers[source].spec.address;
        let text = format!("Can't connect to server on '{address}' (111 \"Connection refused\")");
        self.why_not(replica, source, 2003, &text)
    }

    fn why_not(&self, replica: usize, source: usize, number: u16, text: &str) -> String {
        let address = &self.servers[source].spec.address;
        if self.servers[replica].is_mysql() {
            return format!(
                "{number} Error connecting to source '{REPL}@{address}:3306'. This was attempt 1/{RETRIES_MAX}, with a delay of 60 seconds \
                 between attempts. Message: {text}"
            );
        }
        format!(
            "{number} error connecting to master '{REPL}@{address}:3306' - retry-time: 60  maximum-retries: 100000  message: {text}"
        )
    }

    fn start_channel(&mut self, index: usize, at: usize) {
        let at_ms = self.now_ms + self.rng.between(50, 400);
        let channel = &mut self.servers[index].channels[at];
        (channel.receiver, channel.error) = (Receiver::Connecting { at_ms }, None);
        channel.failed_connects = 0;
        self.due_at(at_ms, index);
    }

    fn connect(&mut self, index: usize, at: usize) {
        let now = self.now_ms;
        match self.reach(index, at) {
            Ok(by_tls) => {
                let late = self.rng.between(100, 900);
                let channel = &mut self.servers[index].channels[at];
                (channel.receiver, channel.error) = (Receiver::Running { by_tls }, None);
                channel.caught_up_ms = now + late + channel.lags_ms;
                channel.failed_connects = 0;
                let source = channel.source;
                self.servers[source].remembers_login = true;
            }
            Err(error) => {
                let at_ms = now + RETRY_MS;
                let gives_up = self.servers[index].is_mysql();
                let channel = &mut self.servers[index].channels[at];
                channel.error = Some(error);
                channel.failed_connects += 1;
                if gives_up && channel.failed_connects >= RETRIES_MAX {
                    channel.receiver = Receiver::Stopped;
                    return;
                }
                channel.receiver = Receiver::Connecting { at_ms };
                self.due_at(at_ms, index);
            }
        }
    }

    /// What becomes of a connection; whether it is by TLS, or number and text of its error.
    fn reach(&self, index: usize, at: usize) -> Result<bool, String> {
        let channel = &self.servers[index].channels[at];
        let source = &self.servers[channel.source];
        // A node that is in no primary component takes no registration of a replica (1047), which tries again.
        let serves = source.is_by_itself || self.is_serving(channel.source);
        let live = match &source.live {
            Some(live) if source.is_up() && !source.is_frozen() && serves => live,
            _ => return Err(self.cannot_connect(index, channel.source)),
        };
        let is_mysql = self.servers[index].is_mysql();
        let why = |number: u16, text: &str| Err(self.why_not(index, channel.source, number, text));
        let denied = || {
            let name = format!("'{REPL}'@'{}'", self.servers[index].spec.address);
            why(1045, &format!("Access denied for user {name} (using password: YES)"))
        };
        let by_tls = match (live.client.as_ref().map(|client| &client.leaf), channel.tls.is_on) {
            (_, false) => false,
            // Source: MySQL manual, CHANGE REPLICATION SOURCE TO: SOURCE_SSL=1 is --ssl-mode=REQUIRED.
            (None, true) if channel.tls.verifies || is_mysql => {
                return why(2026, "TLS/SSL error: SSL is required, but the server does not support it");
            }
            (None, true) => false,
            (Some(leaf), true) => {
                let versions = live.rules.get("tls_version").unwrap_or_default();
                let has = self.servers[index].speaks_at_most;
                let offers =
                    |version: &str| channel.tls_versions.is_empty() || channel.tls_versions.contains(version);
                if !versions.split(',').any(|version| version <= has && offers(version)) {
                    return why(2026, "TLS/SSL error: tlsv1 alert protocol version");
                }
                if let Err(text) = self.shakes_hands(index, at, leaf) {
                    return why(2026, &format!("TLS/SSL error: {text}"));
                }
                true
            }
        };
        if live.requires_tls && !by_tls {
            if !source.is_mysql() {
                return denied();
            }
            return why(
                3159,
                "Connections using insecure transport are prohibited while --require_secure_transport=ON.",
            );
        }
        if source.is_mysql() && !by_tls && !channel.gets_key && !source.remembers_login {
            return why(
                2061,
                "Authentication plugin 'caching_sha2_password' reported error: Authentication requires secure connection.",
            );
        }
        // One of its accounts is there for whoever comes; which, is not modelled.
        let demanded = self.accounts_on(channel.source).into_iter().find(|one| one.name.user == REPL);
        let has_cert = !channel.tls.cert.as_os_str().is_empty();
        match demanded.map(|account| account.tls) {
            Some(AccountTls::Tls) if !by_tls => denied(),
            Some(AccountTls::Certificate) if !by_tls || !has_cert => denied(),
            _ => Ok(by_tls),
        }
    }

    fn shakes_hands(&self, index: usize, at: usize, leaf: &[u8]) -> Result<(), String> {
        let replica = &self.servers[index];
        let channel = &replica.channels[at];
        let open = |path: &Path| replica.disk.open_as(MYSQL, path);
        if !channel.tls.cert.as_os_str().is_empty() {
            let cert = open(&channel.tls.cert).map_err(|why| format!("Unable to get certificate ({why})"))?;
            let key = open(&channel.tls.key).map_err(|why| format!("Unable to get private key ({why})"))?;
            if !super::process::is_pair(cert, key) {
                return Err("Private key does not match the certificate public key".into());
            }
            // Seen: MariaDB 10.11.19, MySQL 9.7.4: a server with an ssl_ca refuses a certificate that it does not trust.
            let source = self.servers[channel.source].live.as_ref().and_then(|live| live.client.as_ref());
            if let Some(ca) = source.and_then(|client| client.ca.as_deref())
                && !self.is_trusted(cert, ca)
            {
                return Err("tlsv1 alert unknown ca".into());
            }
        }
        // A CA is checked wherever one is given; the name, only by who verifies.
        if !channel.tls.ca.as_os_str().is_empty() {
            let ca = open(&channel.tls.ca).map_err(|why| format!("Failed to load CA ({why})"))?;
            if !self.is_trusted(leaf, ca) {
                return Err("certificate verify failed".into());
            }
        } else if channel.tls.verifies {
            return Err("unable to get local issuer certificate".into());
        }
        let address = &self.servers[channel.source].spec.address;
        if channel.tls.verifies && !is_for(leaf, address) {
            return Err("SSL certificate validation failure".into());
        }
        Ok(())
    }

    /// Remembered until the next of these certificates ends.
    fn is_trusted(&self, leaf: &[u8], ca: &[u8]) -> bool {
        let (key, now) = ((providers::edit::hash(leaf), providers::edit::hash(ca)), self.unix_s());
        if let Some((answer, _)) = self.trusted.borrow().get(&key).filter(|(_, until)| now < *until) {
            return *answer;
        }
        let all = [leaf, ca].into_iter().flat_map(|pem| trust::inspect(pem).unwrap_or_default());
        let until = all.map(|one| one.not_after_unix).filter(|end| *end > now).min().unwrap_or(i64::MAX);
        let answer = trust::chain_ok(leaf, ca, now).is_ok();
        self.trusted.borrow_mut().insert(key, (answer, until));
        answer
    }

    /// What a replica has stays what it has, from here on.
    fn keep_position(&mut self, index: usize, at: usize) {
        if !matches!(self.servers[index].channels[at].receiver, Receiver::Running { .. }) {
            return;
        }
        for writer in self.writers() {
            let has = self.transactions(index, writer, &mut vec![]);
            if has > 0 {
                self.servers[index].has.insert(writer, has);
            }
        }
    }

    /// Who writes. All nodes of a Galera cluster are one writer.
    fn writers(&self) -> Vec<usize> {
        let own = self.fleet.iter().flat_map(|fleet| fleet.written.keys().copied());
        self.cluster_writer().into_iter().chain(own).collect()
    }

    /// By the place of its first node.
    fn cluster_writer(&self) -> Option<usize> {
        self.of_cluster().first().copied()
    }

    /// The servers of the Galera cluster.
    pub fn of_cluster(&self) -> Vec<usize> {
        if self.fleet.as_ref().is_some_and(|fleet| !fleet.beside_cluster) {
            return vec![];
        }
        (0..self.servers.len()).filter(|&index| !self.servers[index].is_by_itself).collect()
    }

    /// How many of a writer's transactions a server has.
    fn transactions(&self, index: usize, writer: usize, asked: &mut Vec<usize>) -> u64 {
        let Some(fleet) = &self.fleet else { return 0 };
        if !self.servers[index].is_by_itself {
            return if self.cluster_writer() == Some(writer) { self.servers[index].seqno } else { 0 };
        }
        if index == writer {
            return fleet.written.get(&writer).copied().unwrap_or(0);
        }
        asked.push(index);
        let mut has = self.servers[index].has.get(&writer).copied().unwrap_or(0);
        for channel in &self.servers[index].channels {
            let receives = channel.applies && matches!(channel.receiver, Receiver::Running { .. });
            if receives && self.now_ms >= channel.caught_up_ms && !asked.contains(&channel.source) {
                has = has.max(self.transactions(channel.source, writer, asked));
            }
        }
        asked.pop();
        has
    }

    /// From whom a server has what it has, also by way of others.
    fn upstream(&self, index: usize) -> BTreeSet<usize> {
        let (mut all, mut open) = (BTreeSet::new(), vec![index]);
        while let Some(one) = open.pop() {
            for channel in &self.servers[one].channels {
                if all.insert(channel.source) {
                    open.push(channel.source);
                }
            }
        }
        all
    }

    pub(super) fn fleet_lost(&self) -> Vec<String> {
        let Some(fleet) = &self.fleet else { return vec![] };
        let mut lost = Vec::new();
        for (index, server) in self.servers.iter().enumerate().filter(|(_, server)| server.is_by_itself) {
            let upstream = self.upstream(index);
            let is_of_cluster = upstream.iter().any(|&one| !self.servers[one].is_by_itself);
            let is_above = |one: &usize| {
                upstream.contains(one) || (is_of_cluster && self.cluster_writer() == Some(*one))
            };
            for writer in self.writers().into_iter().filter(is_above) {
                let all = fleet.written.get(&writer).copied().unwrap_or(self.app.acknowledged);
                let has = self.transactions(index, writer, &mut vec![]);
                if has != all {
                    let writer = self.servers[writer].name();
                    lost.push(format!("{} has {has} of {all} transactions of {writer}", server.name()));
                }
            }
        }
        lost
    }

    /// All run, and each replica has what its source has.
    pub(super) fn fleet_is_whole(&self) -> bool {
        self.servers.iter().filter(|server| server.is_by_itself).all(|server| {
            let is_at_work = |channel: &SimChannel| {
                matches!(channel.receiver, Receiver::Running { .. })
                    && channel.applies
                    && self.now_ms >= channel.caught_up_ms
            };
            server.is_up() && !server.is_frozen() && server.channels.iter().all(is_at_work)
        })
    }

    /// Each server: P offers no TLS, T does, R requires it. Each of its channels: c carries cleartext, u TLS of whoever answers, s TLS of
    /// a source that it verifies, - nothing.
    pub(super) fn fleet_letters(&self) -> String {
        let mut letters = String::new();
        for server in self.servers.iter().filter(|server| server.is_by_itself) {
            letters.push(match &server.live {
                None => '-',
                Some(live) if live.requires_tls => 'R',
                Some(live) if live.client.is_some() => 'T',
                Some(_) => 'P',
            });
            letters.extend(server.channels.iter().map(|channel| match channel.receiver {
                Receiver::Running { by_tls: false } => 'c',
                Receiver::Running { by_tls: true } if channel.tls.verifies => 's',
                Receiver::Running { by_tls: true } => 'u',
                Receiver::Stopped | Receiver::Connecting { .. } => '-',
            }));
        }
        letters
    }

    /// Of a source, and of a replica that serves reads.
    pub(super) fn fleet_sessions(&mut self, index: usize) -> Sessions {
        let is_writer = self.fleet().written.contains_key(&index);
        let busy = is_writer && self.rng.percent(BUSY_PERCENT);
        Sessions { users: USERS, busy: usize::from(busy) }
    }

    /// Sealion stops it.
    pub(super) fn watch_restart(&mut self, index: usize) {
        // Of an arbitrator no port tells that it is back; nobody is served by it.
        if self.servers[index].is_arbitrator {
            return;
        }
        let Some(fleet) = &mut self.fleet else { return };
        let other = fleet.stopped.iter().find(|other| **other != index).copied();
        fleet.stopped.insert(index);
        if let Some(other) = other {
            let [name, other] = [index, other].map(|one| self.servers[one].name());
            let line = format!("{} ms: {name} was stopped while {other} was not back yet", self.now_ms);
            self.violations.push(line);
        }
    }

    /// Who requires TLS shuts out a replica whose channel does not use it.
    pub(super) fn watch_required(&mut self, index: usize) {
        let Some(fleet) = &self.fleet else { return };
        if !self.servers[index].live.as_ref().is_some_and(|live| live.requires_tls) {
            return;
        }
        for &replica in &fleet.replicas[index] {
            let is_open = |channel: &&SimChannel| {
                channel.source == index && !(channel.tls.is_on && channel.tls.verifies)
            };
            if self.servers[replica].channels.iter().any(|channel| is_open(&channel)) {
                let [name, replica] = [index, replica].map(|one| self.servers[one].name());
                self.violations.push(format!(
                    "{} ms: {name} requires TLS, and the channel of {replica} does not verify it",
                    self.now_ms
                ));
                return;
            }
        }
    }

    pub(super) fn shown_channels(&self, index: usize) -> Vec<Channel> {
        self.servers[index].channels.iter().map(|channel| self.shown_channel(index, channel)).collect()
    }

    fn shown_channel(&self, index: usize, channel: &SimChannel) -> Channel {
        let source = &self.servers[channel.source].spec;
        let is_running = matches!(channel.receiver, Receiver::Running { .. });
        Channel {
            name: channel.name.clone(),
            source_host: source.address.clone(),
            source_port: source.port,
            source_server_id: None,
            user: "repl".into(),
            tls: channel.tls.clone(),
            tls_versions: channel.tls_versions.clone(),
            receiver: match channel.receiver {
                Receiver::Stopped => ThreadState::Stopped,
                Receiver::Connecting { .. } => ThreadState::Connecting,
                Receiver::Running { .. } => ThreadState::Running,
            },
            receiver_error: channel.error.clone(),
            applier: if channel.applies { ThreadState::Running } else { ThreadState::Stopped },
            applier_error: None,
            needs_tls_to_log_in: self.servers[index].is_mysql() && !channel.gets_key,
            applied_log: "mariadb-bin.000001".into(),
            received_log: "mariadb-bin.000001".into(),
            by_gtid: true,
            received: format!("mariadb-bin.000001 {}", self.received(index, channel)),
            lag_s: is_running.then(|| channel.caught_up_ms.saturating_sub(self.now_ms).div_ceil(1000)),
        }
    }

    /// How far it has come in what its source, or that one's cluster, writes.
    fn received(&self, index: usize, channel: &SimChannel) -> u64 {
        let is_node = !self.servers[channel.source].is_by_itself;
        let writer = self.cluster_writer().filter(|_| is_node).unwrap_or(channel.source);
        self.transactions(index, writer, &mut vec![])
    }

    fn channel_named(&mut self, index: usize, name: &str) -> Result<usize, String> {
        let place = self.servers[index].channels.iter().position(|channel| channel.name == name);
        place.ok_or_else(|| format!("ERROR 1617 (HY000): There is no master connection '{name}'"))
    }

    /// STOP SLAVE of MariaDB, STOP REPLICA IO_THREAD of MySQL.
    pub fn stop_slave(&mut self, index: usize, name: &str) -> Result<(), String> {
        let at = self.channel_named(index, name)?;
        self.keep_position(index, at);
        let is_mysql = self.servers[index].is_mysql();
        let channel = &mut self.servers[index].channels[at];
        channel.receiver = Receiver::Stopped;
        channel.applies &= is_mysql;
        Ok(())
    }

    pub fn change_master(&mut self, index: usize, name: &str, tls: &ChannelTls) -> Result<(), String> {
        let at = self.channel_named(index, name)?;
        let is_mysql = self.servers[index].is_mysql();
        let channel = &mut self.servers[index].channels[at];
        if is_mysql && channel.receiver != Receiver::Stopped {
            return Err(format!(
                "ERROR 3021 (HY000): This operation cannot be performed with a running replica io thread; run STOP REPLICA IO_THREAD FOR \
                 CHANNEL '{name}' first."
            ));
        }
        if channel.receiver != Receiver::Stopped || (!is_mysql && channel.applies) {
            return Err(format!(
                "ERROR 1198 (HY000): This operation cannot be performed as you have a running slave '{name}'; run STOP SLAVE '{name}' first"
            ));
        }
        channel.tls = tls.clone();
        Ok(())
    }

    /// START SLAVE of MariaDB, START REPLICA IO_THREAD of MySQL.
    pub fn start_slave(&mut self, index: usize, name: &str) -> Result<(), String> {
        let applier = !self.servers[index].is_mysql();
        self.start_threads(index, name, Threads { receiver: true, applier })
    }

    pub fn start_threads(&mut self, index: usize, name: &str, threads: Threads) -> Result<(), String> {
        let at = self.channel_named(index, name)?;
        self.servers[index].channels[at].applies |= threads.applier;
        if threads.receiver && self.servers[index].channels[at].receiver == Receiver::Stopped {
            self.start_channel(index, at);
        }
        Ok(())
    }
}

impl World {
    /// As a server has them; in a cluster all have the same.
    pub fn accounts_on(&self, index: usize) -> Vec<Account> {
        let mut accounts = self.accounts.clone();
        for alter in self.fleet.iter().flat_map(|fleet| &fleet.alters) {
            if self.transactions(index, alter.writer, &mut vec![]) >= alter.number
                && let Some(account) = accounts.iter_mut().find(|one| one.name == alter.account)
            {
                account.tls = alter.tls;
            }
        }
        accounts
    }

    /// ALTER USER on a server: in a cluster in total order, else it is one of its transactions.
    pub(super) fn alter_account(
        &mut self,
        index: usize,
        account: &AccountName,
        tls: AccountTls,
    ) -> Result<(), String> {
        let no_such = "ERROR 1396 (HY000): Operation ALTER USER failed";
        let Some(fleet) = &mut self.fleet else {
            self.accounts.iter_mut().find(|one| one.name == *account).ok_or(no_such)?.tls = tls;
            return Ok(());
        };
        if !self.accounts.iter().any(|one| one.name == *account) {
            return Err(no_such.into());
        }
        if let Some(number) = fleet.written.get_mut(&index) {
            *number += 1;
            let (account, number) = (account.clone(), *number);
            fleet.alters.push(Alter { writer: index, number, account, tls });
        } else if let Some(writer) = self.cluster_writer().filter(|_| !self.servers[index].is_by_itself) {
            let number = self.write_on_cluster();
            self.fleet().alters.push(Alter { writer, number, account: account.clone(), tls });
        } else {
            let name = self.servers[index].name();
            self.violations.push(format!("{} ms: {account} was changed on the replica {name}", self.now_ms));
        }
        Ok(())
    }
}

impl World {
    /// One more write, which every node that serves has at once.
    fn write_on_cluster(&mut self) -> u64 {
        self.app.acknowledged += 1;
        for index in self.of_cluster() {
            if self.is_primary(index) && self.servers[index].local_state >= 2 {
                self.servers[index].seqno = self.app.acknowledged;
            }
        }
        self.app.acknowledged
    }
}

fn is_for(leaf: &[u8], address: &str) -> bool {
    let Ok(chain) = trust::inspect(leaf) else { return false };
    let address: Option<IpAddr> = address.parse().ok();
    chain.first().is_some_and(|leaf| address.is_some_and(|address| leaf.ips.contains(&address)))
}

fn write_option_files(server: &mut Server, index: usize) {
    let is_mysql = server.is_mysql();
    let disk = &mut server.disk;
    disk.put(TCP_TABLE, TCP_HEAD, ROOT, 0o444);
    if is_mysql {
        mysql::write_files(disk, index);
    } else {
        write_mariadbs(disk, index);
    }
    disk.entries.entry(DATA_DIR.into()).and_modify(|entry| {
        (entry.uid, entry.gid, entry.mode) = (MYSQL, MYSQL, 0o750);
    });
    disk.make_dirs(Path::new("/run/mysqld"), MYSQL, 0o755);
}

fn write_mariadbs(disk: &mut Disk, index: usize) {
    disk.put(
        DEFAULTS_FILE,
        "[client-server]\nsocket = /run/mysqld/mysqld.sock\n\n!includedir /etc/mysql/mariadb.conf.d/\n",
        ROOT,
        0o644,
    );
    disk.put(
        SERVER_FILE,
        format!(
            "[server]\n\n[mysqld]\nuser = mysql\npid-file = /run/mysqld/mysqld.pid\ndatadir = {DATA_DIR}\nbind-address = 0.0.0.0\n\
             # replication\nserver-id = {}\nlog_bin\ngtid_strict_mode=1\n",
            index + 1
        ),
        ROOT,
        0o644,
    );
    disk.put("/usr/sbin/mariadbd", "\x7fELF", ROOT, 0o755);
    disk.put(&format!("{DATA_DIR}/aria_log_control"), "", MYSQL, 0o600);
}
