//! Where an experiment's arms run: on the server that was named, or on servers of a lab that ends with the experiment.
//!
//! All servers of an experiment are up at once, so that its arms can take turns in random order. One that is not used does
//! nothing meanwhile.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::bench::experiments::{Arm, AtRest, Between, Checks, Experiment, Made, Place, Release, Sst, Via};
use ::bench::load::echo::Pair;
use ::bench::load::tables::Plan;
use capture::Canary;
use capture::relay::{Relays, Route};
use lab::bundle::{Servers, bundle};
use lab::{LabOptions, SstMethod, Wait};
use net::{ConnectOptions, Endpoint};
use nix::fcntl::{FcntlArg, FdFlag, Flock, FlockArg, OFlag, fcntl};

use super::joiner::{self, Joiner};
use super::keys;
use super::links::{self, Links};
use super::replica::Replicas;
use super::transfer::{self, Receiver};
use super::vpn::{Vpn, VpnPath};
use site::OpsError;
use site::labs::{self, Up};
use site::machine::program;
use site::servers::{MARIADB, MARIADB_NEWER, Server, encryption_keys, internal};

/// Of servers that the tables fit into, as sysbench's do in the published runs.
const BUFFER_POOL: &str = "--innodb-buffer-pool-size=256M";
/// And of servers whose files are what is measured: the tables do not fit into it.
const SMALL_BUFFER_POOL: &str = "--innodb-buffer-pool-size=8M";
/// Of one table there, 230 bytes each.
const AT_REST_ROWS_MIN: u32 = 60_000;
/// A tunnel listens within this time, or it has failed.
pub(super) const TUNNEL_UP_MAX: Duration = Duration::from_secs(10);
/// Of a handshake with a node of the lab: one that speaks no TLS says nothing at all.
const PROBE_MAX: Duration = Duration::from_secs(2);
pub(super) const POLL: Duration = Duration::from_millis(10);
/// Of the lab's clusters: their addresses are 127.77.N.x, and those of other labs are 1 to 3.
const LAB_NUMBERS: u8 = 20;
/// Keeps AES-NI and PCLMULQDQ (bits 57 and 33), VAES and VPCLMULQDQ (41 and 42 of the second word) from OpenSSL, and nothing else:
/// without a second word all of it would be off, and with it AVX2 and SHA (OPENSSL_ia32cap(3)).
const NO_AES_NI: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000:~0x60000000000");
/// Of certificates for transfers, in the lab's directory.
const SST_KEYS: &str = "sst";
/// All experiments together need some twenty.
const SERVERS_MAX: u8 = 100;

/// How an arm is reached.
#[derive(Debug, Clone)]
pub struct Reached {
    pub targets: Vec<ConnectOptions>,
    /// Processes whose time is the server's, beside those that listen at the targets: what stands behind a tunnel.
    pub beside_pids: Vec<i32>,
    /// There is no database at the other end.
    pub is_echo: bool,
    /// What a client can show that has a certificate.
    pub client: Option<Pair>,
    /// Through a VPN, from its other end.
    pub way: Option<Arc<VpnPath>>,
}

impl Reached {
    fn at(targets: Vec<ConnectOptions>) -> Self {
        Self { targets, beside_pids: vec![], is_echo: false, client: None, way: None }
    }
}

/// How a lab is made.
#[derive(Debug, Clone)]
pub struct LabPlan {
    /// Tables of every server in it.
    pub tables: Plan,
    /// What `net` needs to know of TLS, beside the mode.
    pub tls: net::TlsOptions,
    /// This process is in a namespace of its own.
    pub namespace: bool,
}

/// Servers, and what stands before them.
pub struct Rig {
    named: Vec<ConnectOptions>,
    lab: Option<Lab>,
    relays: Vec<(Place, Via, SocketAddr)>,
}

struct Lab {
    plan: LabPlan,
    // What goes first stands first: tunnels before the servers behind them, and the files last.
    tunnels: Vec<(Place, Via, Tunnel)>,
    /// One of a kind leads to all servers.
    vpns: Vec<(Via, Vpn)>,
    echoes: Vec<(bool, Ended, SocketAddr)>,
    singles: Vec<(Place, Server)>,
    clusters: Vec<(Place, Up)>,
    /// One serves both arms.
    replicas: Option<Replicas>,
    /// What lies in donors, and is looked for in what passes.
    words: Vec<(Place, Canary)>,
    /// Transfers that were watched, and went as they are to.
    proven: Vec<Place>,
    /// Of directories and clusters; none is used twice.
    made: u8,
    home: Home,
}

impl Rig {
    /// The servers that somebody named.
    pub fn named(targets: Vec<ConnectOptions>) -> Self {
        Self { named: targets, lab: None, relays: vec![] }
    }

    /// A lab, empty so far; its files are in `home`.
    pub fn lab(plan: LabPlan, home: Home) -> Self {
        let lab = Lab {
            plan,
            tunnels: vec![],
            vpns: vec![],
            echoes: vec![],
            singles: vec![],
            clusters: vec![],
            replicas: None,
            words: vec![],
            proven: vec![],
            made: 0,
            home,
        };
        Self { named: vec![], lab: Some(lab), relays: vec![] }
    }

    pub fn is_lab(&self) -> bool {
        self.lab.is_some()
    }

    /// For reports.
    pub fn told(&self) -> Vec<String> {
        if self.is_lab() {
            return vec!["servers of a lab".into()];
        }
        self.named.iter().map(|target| target.endpoint.to_string()).collect()
    }

    /// What the links of a cluster are at this moment; `None` where no chance decides.
    ///
    /// # Errors
    /// A node is not what it was to be.
    pub fn links(&self, place: Place) -> Result<Option<Links>, OpsError> {
        match (place, &self.lab) {
            (Place::Galera { between: Between::Dynamic(_) }, Some(lab)) => {
                links::look(lab.up(place)?).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// What was chosen of TLS, before an arm chooses.
    pub fn asked_tls(&self) -> Option<&net::TlsOptions> {
        let of_lab = self.lab.as_ref().map(|lab| &lab.plan.tls);
        of_lab.or_else(|| self.named.first().map(|target| &target.tls))
    }

    /// Rows of each table; in a lab they may be more than was asked for, so many that what is measured shows. All arms have as many.
    pub fn table_size(&self, asked: u32, experiment: &Experiment) -> u32 {
        let Some(Lab { plan, .. }) = &self.lab else { return asked };
        let rows = experiment.arms.iter().map(|arm| tables_of(&plan.tables, arm.place).table_size);
        rows.max().unwrap_or(asked)
    }

    /// Why an arm cannot be measured here, if it cannot.
    pub fn lacks(&self, arm: &Arm) -> Option<String> {
        if !self.is_lab() && arm.needs_lab() {
            return Some("it needs a server of its own: --lab".into());
        }
        let needs_ca = arm.checks_chain() && !arm.tls.reads_system_cas;
        if !self.is_lab() && needs_ca && self.asked_tls().is_none_or(|tls| tls.ca.is_none()) {
            return Some("it needs to know whom to trust: --ssl-ca".into());
        }
        if let Some(lack) = self.lacks_for_rustls(arm) {
            return Some(lack.into());
        }
        if let Place::Made(Made { release, .. }) = arm.place
            && !has_bundle(release)
        {
            let name = bundle_of(release);
            return Some(format!("its bundle was not fetched: sealion lab fetch {name}"));
        }
        if matches!(arm.place, Place::Sst { .. } | Place::Replica { .. })
            && let Err(why) = capture::can_capture()
        {
            let why: Vec<&str> = why.lines().map(str::trim).collect();
            return Some(format!("a transfer cannot be watched: {}", why.join("; ")));
        }
        if cfg!(not(target_arch = "x86_64")) && matches!(arm.place, Place::Made(Made { aes_ni: false, .. })) {
            return Some("only of an x86 processor can they be kept from a server".into());
        }
        None
    }

    fn lacks_for_rustls(&self, arm: &Arm) -> Option<&'static str> {
        let library = arm.tls.library.or_else(|| self.asked_tls().map(|tls| tls.library));
        let speaks_tls = arm.tls.checks != Checks::Exactly(net::SslMode::Disabled);
        let Place::Made(made) = arm.place else { return None };
        if !matches!(library, Some(net::TlsLibrary::Rustls { .. })) || !speaks_tls {
            return None;
        }
        if keys::ciphers(made.key).is_some() {
            return Some("rustls takes no RSA key of less than 2048 bits");
        }
        let is_checked = arm.checks_chain() || self.asked_tls().is_some_and(|tls| tls.mode.verifies_chain());
        (is_checked && made.issuers == 0).then_some("rustls takes no self-signed certificate for a server's")
    }

    /// Makes what an arm needs, where it is not there yet, and says how it is reached.
    ///
    /// # Errors
    /// What does not come up.
    pub fn reach(
        &mut self,
        arm: &Arm,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        let direct = match &mut self.lab {
            None => Reached::at(self.named.clone()),
            Some(lab) => lab.reach(arm.place, stop, say)?,
        };
        match (arm.via, &mut self.lab) {
            (Via::Direct, _) => Ok(direct),
            (Via::Line { one_way_ms, mbit_per_s }, _) => self.relayed(arm, one_way_ms, mbit_per_s, direct),
            (via @ (Via::Stunnel | Via::Ssh), Some(lab)) => lab.tunnelled(arm.place, via, direct),
            (via @ (Via::OpenVpn | Via::WireGuard), Some(lab)) => lab.by_vpn(via, direct),
            (Via::Stunnel | Via::Ssh | Via::OpenVpn | Via::WireGuard, None) => Err(OpsError::usage(
                format!("there is no tunnel to the server for the arm \"{}\"", arm.name),
                "its other end has to be on the server's machine",
                "measure it in a lab: --lab",
            )),
        }
    }

    fn relayed(
        &mut self,
        arm: &Arm,
        one_way_ms: u16,
        mbit_per_s: u32,
        direct: Reached,
    ) -> Result<Reached, OpsError> {
        let Some(ConnectOptions { endpoint: Endpoint::Tcp { host, port, .. }, .. }) = direct.targets.first()
        else {
            return Err(OpsError::usage(
                "a line cannot be put before a unix socket",
                "bytes of TCP are kept back",
                "name the server by host and port",
            ));
        };
        let known = self.relays.iter().find(|(place, via, _)| (*place, *via) == (arm.place, arm.via));
        let at = if let Some((_, _, at)) = known {
            *at
        } else {
            let failed = internal("a relay cannot be made");
            let target = std::net::ToSocketAddrs::to_socket_addrs(&(host.as_str(), *port))
                .ok()
                .and_then(|mut found| found.next())
                .ok_or_else(|| {
                    OpsError::cannot_look(
                        format!("{host} has no address"),
                        "its name is not known",
                        "name another",
                    )
                })?;
            let relays = Relays::new(|ip| ip);
            relays.set_delay(Duration::from_millis(one_way_ms.into()));
            relays.set_rate(u64::from(mbit_per_s) * 1_000_000 / 8);
            let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
            let at = relays.add(Route { listen, target }).map_err(failed)?;
            self.relays.push((arm.place, arm.via, at));
            at
        };
        let beside_pids = crate::pids_behind(&direct.targets);
        let targets = direct.targets.iter().take(1).map(|target| moved(target.clone(), at)).collect();
        Ok(Reached { targets, beside_pids, ..direct })
    }

    /// Who is about to take everything, where that is what the place is for.
    ///
    /// # Errors
    /// It does not stand still.
    pub fn receiver(&self, place: Place) -> Result<Option<Box<dyn Receiver + '_>>, OpsError> {
        match (&self.lab, place) {
            (Some(lab), Place::Sst { tls, .. }) => Ok(Some(Box::new(lab.joiner(place, tls)?))),
            (Some(Lab { replicas: Some(replicas), .. }), Place::Replica { tls }) => {
                Ok(Some(Box::new(replicas.prepare(tls)?)))
            }
            _ => Ok(None),
        }
    }

    /// Ends what none of these needs.
    pub fn keep_for(&mut self, experiments: &[&Experiment]) {
        let needs = |place: Place| {
            let arms = experiments.iter().flat_map(|experiment| experiment.arms);
            arms.map(|arm| cluster_of(arm.place)).any(|wanted| wanted == cluster_of(place))
        };
        if let Some(lab) = &mut self.lab {
            lab.singles.retain(|(place, _)| needs(*place));
            lab.clusters.retain(|(place, _)| needs(*place));
            lab.replicas.take_if(|_| !needs(Place::Replica { tls: false }));
        }
    }
}

fn moved(mut target: ConnectOptions, at: SocketAddr) -> ConnectOptions {
    target.endpoint = Endpoint::tcp(at.ip().to_string(), at.port());
    target
}

/// One cluster serves all delays: they are set while it runs.
fn cluster_of(place: Place) -> Place {
    match place {
        Place::Wan { tls, .. } => Place::Wan { tls, one_way_ms: 0 },
        // And one both ways to send: option files are read anew by every transfer.
        Place::Sst { method, .. } => Place::Sst { method, tls: false },
        Place::Replica { .. } => Place::Replica { tls: false },
        other => other,
    }
}

impl Lab {
    fn reach(
        &mut self,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        match place {
            Place::Given => self.single(place, Made::PLAIN, AtRest::default(), stop, say),
            Place::Made(made) => self.single(place, made, AtRest::default(), stop, say),
            Place::AtRest(at_rest) => self.single(place, Made::PLAIN, at_rest, stop, say),
            Place::Galera { between } => self.cluster(place, between, false, stop, say),
            Place::Wan { tls, one_way_ms } => {
                let cluster = cluster_of(place);
                let between = tls.map_or(Between::ClearText, Between::Tls);
                let reached = self.cluster(cluster, between, true, stop, say)?;
                if let Some((_, up)) = self.clusters.iter().find(|(known, _)| *known == cluster) {
                    up.lab.set_delay(one_way_ms)?;
                }
                Ok(reached)
            }
            Place::Sst { method, tls } => self.donor(method, tls, stop, say),
            Place::Replica { .. } => self.replica(stop, say),
            Place::Echo { tls } => self.echo(tls),
        }
    }

    fn next(&mut self) -> Result<u8, OpsError> {
        self.made += 1;
        if self.made > SERVERS_MAX {
            return Err(OpsError::internal(
                "the lab is full",
                format!("{SERVERS_MAX} servers were made in it"),
            ));
        }
        Ok(self.made)
    }

    fn options(&self, at: SocketAddr) -> ConnectOptions {
        let mut options = ConnectOptions {
            tls: self.plan.tls.clone(),
            connect_timeout: Duration::from_secs(30),
            ..ConnectOptions::new(Endpoint::tcp(at.ip().to_string(), at.port()), "root")
        };
        options.tls.read_ahead = true;
        options.cache_metadata = true;
        "sealion bench".clone_into(&mut options.program_name);
        options
    }

    fn single(
        &mut self,
        place: Place,
        made: Made,
        at_rest: AtRest,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        if let Some((_, server)) = self.singles.iter().find(|(known, _)| *known == place) {
            return Ok(self.reached(server, made));
        }
        say(&format!("starting {}", told(place)));
        let number = self.next()?;
        let dir = self.home.path().join(format!("s{number}"));
        let keys::Files { pair, ca } = keys::make(&dir, made.key, made.issuers)?;
        let is_at_rest = matches!(place, Place::AtRest(_));
        let mut options = vec![
            if is_at_rest { SMALL_BUFFER_POOL } else { BUFFER_POOL }.to_owned(),
            "--max-connections=2000".into(),
            "--performance-schema=OFF".into(),
            format!("--ssl-cert={}", pair.cert.display()),
            format!("--ssl-key={}", pair.key.display()),
            format!("--ssl-ca={}", ca.display()),
        ];
        if let Some(ciphers) = keys::ciphers(made.key) {
            options.push(format!("--ssl-cipher={ciphers}"));
        }
        if is_at_rest {
            let on = |yes: bool| if yes { "ON" } else { "OFF" };
            options.extend(encryption_keys(&dir)?);
            options.extend([
                // There for all that are compared, encrypted or not.
                "--server-id=1".into(),
                "--log-bin=binlog".into(),
                format!("--innodb-encrypt-tables={}", on(at_rest.tables)),
                format!("--innodb-encrypt-log={}", on(at_rest.redo)),
                format!("--encrypt-binlog={}", on(at_rest.binlog)),
            ]);
        }
        if self.plan.namespace {
            // Clients of a VPN come from another address, and there is nobody else in this network. No name is looked up, whoever
            // connects: what that takes would be told of the VPN.
            options.extend(["--bind-address=0.0.0.0".into(), "--skip-name-resolve".into()]);
        }
        let environment: &[_] = if made.aes_ni { &[] } else { &[NO_AES_NI] };
        let server = Server::start_with(bundle_of(made.release), free_port()?, &dir, &options, environment)?;
        if self.plan.namespace {
            server.run(&["CREATE USER root@'%'", "GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION"])?;
        }
        let reached = self.reached(&server, made);
        if let Some(target) = reached.targets.first() {
            fill(target, &tables_of(&self.plan.tables, place), stop, say)?;
        }
        if is_at_rest {
            lies_as_wished(&server, at_rest)?;
        }
        is_linked_with(&server, made.release)?;
        self.singles.push((place, server));
        Ok(reached)
    }

    fn reached(&self, server: &Server, made: Made) -> Reached {
        let keys::Files { pair, ca } = keys::Files::of(&server.dir);
        let mut options = self.options(server.address());
        options.tls.ca = Some(ca);
        if let Some(ciphers) = keys::ciphers(made.key) {
            options.tls.ciphers = Some(ciphers.into());
        }
        Reached { client: Some(pair), ..Reached::at(vec![options]) }
    }

    /// `has_relays`: between the nodes, to keep back what they say to each other.
    fn cluster(
        &mut self,
        place: Place,
        between: Between,
        has_relays: bool,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        if let Some((_, up)) = self.clusters.iter().find(|(known, _)| *known == place) {
            return Ok(Reached::at(self.nodes(up)));
        }
        let number = LAB_NUMBERS + self.next()?;
        let dir = self.home.path().join(format!("g{number}"));
        let mut provider_options = String::new();
        if let Between::Tls(key) | Between::Dynamic(key) = between {
            let keys::Files { pair, ca } =
                keys::make(&self.home.path().join(format!("k{number}")), key, Made::PLAIN.issuers)?;
            let (cert, key, ca) = (pair.cert.display(), pair.key.display(), ca.display());
            provider_options =
                format!(";socket.ssl=yes;socket.ssl_cert={cert};socket.ssl_key={key};socket.ssl_ca={ca}");
        }
        if let Between::Dynamic(_) = between {
            provider_options.push_str(";socket.dynamic=yes");
        }
        let options = LabOptions {
            name: format!("bench{number}"),
            dir: dir.clone(),
            servers: Servers::find(false)?,
            sst_method: if has_relays { SstMethod::Mariabackup } else { SstMethod::Rsync },
            nodes: 3,
            galera: true,
            number,
            namespace: self.plan.namespace,
            relay: has_relays,
            provider_options,
            keep: false,
        };
        say(&format!("starting three nodes of Galera, {}", told(place)));
        let up = labs::first_node(&options, &dir.join("operator"))?;
        for (name, members) in [("n2", 2), ("n3", 3)] {
            say(&format!("{name} joins"));
            up.lab.start(name, &[], Wait::Nothing)?;
            if labs::synced_unless(&up.cluster, &up.lab, name, members, stop)?.is_none() {
                // A joiner takes its time to end by itself, and nothing of it is wanted any more.
                for node in &up.lab.file.nodes {
                    let _ = up.lab.kill(&node.name);
                }
                return Err(ended());
            }
        }
        is_between_nodes(&up, between != Between::ClearText)?;
        let targets = self.nodes(&up);
        self.clusters.push((place, up));
        if let Some(first) = targets.first() {
            fill(first, &self.plan.tables, stop, say)?;
        }
        Ok(Reached::at(targets))
    }

    /// A donor and its joiner, with tables in the donor that take a while.
    fn donor(
        &mut self,
        method: Sst,
        tls: bool,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        let place = Place::Sst { method, tls };
        let cluster = cluster_of(place);
        if !self.clusters.iter().any(|(known, _)| *known == cluster) {
            let number = LAB_NUMBERS + self.next()?;
            let dir = self.home.path().join(format!("g{number}"));
            self.plain_keys(SST_KEYS)?;
            let options = LabOptions {
                name: format!("bench{number}"),
                dir: dir.clone(),
                servers: Servers::find(false)?,
                sst_method: method_of(method),
                nodes: joiner::NODES,
                galera: true,
                number,
                namespace: self.plan.namespace,
                relay: false,
                provider_options: String::new(),
                keep: false,
            };
            say(&format!("starting a donor, {}", told(cluster)));
            let up = labs::first_node(&options, &dir.join("operator"))?;
            if let Some(donor) = self.nodes(&up).first() {
                fill(donor, &tables_of(&self.plan.tables, place), stop, say)?;
                let word = transfer::plant(donor)?;
                self.clusters.push((cluster, up));
                self.words.push((cluster, word));
            }
        }
        if !self.proven.contains(&place) {
            say(&format!("watching a transfer, {}", told(place)));
            if let Some((_, word)) = self.words.iter().find(|(known, _)| *known == cluster) {
                transfer::proves(&self.joiner(place, tls)?, word, tls, stop)?;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(ended());
            }
            self.proven.push(place);
        }
        let up = self.up(cluster)?;
        Ok(Reached::at(self.nodes(up).into_iter().take(1).collect()))
    }

    fn joiner(&self, place: Place, tls: bool) -> Result<Joiner<'_>, OpsError> {
        let files = keys::Files::of(&self.home.path().join(SST_KEYS));
        Joiner::prepare(self.up(cluster_of(place))?, tls.then_some(&files))
    }

    /// A source with its log, and a replica that has nothing. Both ways to read it are watched while the log is short: of a long one
    /// packets would be missed.
    fn replica(&mut self, stop: &AtomicBool, say: &mut dyn FnMut(&str)) -> Result<Reached, OpsError> {
        if self.replicas.is_none() {
            let number = self.next()?;
            let dir = self.home.path().join(format!("r{number}"));
            say("starting a source and its replica");
            let files = keys::make(&dir.join("keys"), Made::PLAIN.key, Made::PLAIN.issuers)?;
            let common = [BUFFER_POOL, "--performance-schema=OFF"];
            let pair = Replicas::start(&dir, &files, [free_port()?, free_port()?], &common)?;
            let word = transfer::plant(&self.options(pair.source().address()))?;
            for tls in [false, true] {
                say(&format!("watching {}", told(Place::Replica { tls })));
                transfer::proves(&pair.prepare(tls)?, &word, tls, stop)?;
            }
            say("filling the source's binary log");
            pair.fill(stop)?;
            if stop.load(Ordering::Relaxed) {
                return Err(ended());
            }
            self.replicas = Some(pair);
        }
        let source = self.replicas.iter().map(|pair| self.options(pair.source().address()));
        Ok(Reached::at(source.collect()))
    }

    fn up(&self, cluster: Place) -> Result<&Up, OpsError> {
        let found = self.clusters.iter().find(|(known, _)| *known == cluster);
        found
            .map(|(_, up)| up)
            .ok_or_else(|| OpsError::internal("a cluster of the lab is gone", "it was just made"))
    }

    /// Past the relays: what is delayed is what nodes say to each other.
    fn nodes(&self, up: &Up) -> Vec<ConnectOptions> {
        up.lab
            .file
            .nodes
            .iter()
            .zip(&up.cluster.nodes)
            .map(|(node, known)| {
                let login = up.cluster.login_at(known);
                let at = SocketAddr::new(node.listens_at(), lab::layout::SQL_PORT);
                ConnectOptions { user: login.user, password: login.password, ..self.options(at) }
            })
            .collect()
    }

    /// Of what is no single server of the lab, in a directory of this name.
    fn plain_keys(&self, name: &str) -> Result<keys::Files, OpsError> {
        keys::make(&self.home.path().join(name), Made::PLAIN.key, Made::PLAIN.issuers)
    }

    fn echo(&mut self, tls: bool) -> Result<Reached, OpsError> {
        let mut known = self.echoes.iter().find(|(known, _, _)| *known == tls).map(|(_, _, at)| *at);
        if known.is_none() {
            let at = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), free_port()?);
            let mut command = Command::new("/proc/self/exe");
            command.arg("__server").arg("/proc/self/exe").arg("__echo").arg(at.to_string());
            if tls {
                let keys::Files { pair, .. } = self.plain_keys("echo")?;
                command.arg(pair.cert).arg(pair.key);
            }
            let child = quiet(&mut command).spawn().map_err(internal("the echo cannot be started"))?;
            let mut ended = Ended(child);
            listens(at, &mut ended, "the echo")?;
            self.echoes.push((tls, ended, at));
            known = Some(at);
        }
        let targets = known.into_iter().map(|at| self.options(at)).collect();
        Ok(Reached { is_echo: true, ..Reached::at(targets) })
    }

    fn tunnelled(&mut self, place: Place, via: Via, direct: Reached) -> Result<Reached, OpsError> {
        let behind = crate::pids_behind(&direct.targets);
        if !self.tunnels.iter().any(|(to, known, _)| (*to, *known) == (place, via)) {
            let Some(Endpoint::Tcp { host, port, .. }) =
                direct.targets.first().map(|target| &target.endpoint)
            else {
                return Err(OpsError::internal("a tunnel leads to no server", "it has no port"));
            };
            let ip = host
                .parse()
                .map_err(|error| OpsError::internal("a server of the lab has no address", error))?;
            let number = self.next()?;
            let dir = self.home.path().join(format!("t{number}"));
            let tunnel = match via {
                Via::Ssh => Tunnel::ssh(&dir, SocketAddr::new(ip, *port))?,
                _ => Tunnel::stunnel(&dir, SocketAddr::new(ip, *port))?,
            };
            self.tunnels.push((place, via, tunnel));
        }
        let known = self.tunnels.iter().find(|(to, known, _)| (*to, *known) == (place, via));
        let tunnel = known.map(|(_, _, tunnel)| tunnel);
        let Some(tunnel) = tunnel else {
            return Err(OpsError::internal("a tunnel is gone", "it was just made"));
        };
        let ends = tunnel.ends.iter().filter_map(|end| i32::try_from(end.0.id()).ok());
        let beside_pids = with_families(behind, ends);
        let targets =
            direct.targets.iter().take(1).map(|target| moved(target.clone(), tunnel.entry)).collect();
        Ok(Reached { targets, beside_pids, ..direct })
    }

    fn by_vpn(&mut self, via: Via, direct: Reached) -> Result<Reached, OpsError> {
        if !self.vpns.iter().any(|(known, _)| *known == via) {
            let number = self.next()?;
            let dir = self.home.path().join(format!("v{number}"));
            self.vpns.push((via, Vpn::make(via, &dir, self.plan.namespace)?));
        }
        let Some((_, vpn)) = self.vpns.iter().find(|(known, _)| *known == via) else {
            return Err(OpsError::internal("a VPN is gone", "it was just made"));
        };
        let beside_pids = with_families(crate::pids_behind(&direct.targets), vpn.pids.iter().copied());
        let there = |target: &ConnectOptions| match &target.endpoint {
            Endpoint::Tcp { port, .. } => {
                Some(moved(target.clone(), SocketAddr::new(vpn.way.server_ip, *port)))
            }
            Endpoint::Unix { .. } => None,
        };
        let targets = direct.targets.iter().take(1).filter_map(there).collect();
        Ok(Reached { targets, beside_pids, way: Some(Arc::clone(&vpn.way)), ..direct })
    }
}

/// These, and the others with all that they have started.
fn with_families(mut pids: Vec<i32>, others: impl Iterator<Item = i32>) -> Vec<i32> {
    pids.extend(others.flat_map(::bench::cpu::family_of));
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// The tables of a server.
fn tables_of(asked: &Plan, place: Place) -> Plan {
    let rows_min = match place {
        Place::AtRest(_) => AT_REST_ROWS_MIN,
        Place::Sst { .. } => joiner::ROWS_MIN.div_ceil(asked.tables.max(1)),
        _ => 0,
    };
    Plan { table_size: asked.table_size.max(rows_min), ..asked.clone() }
}

fn fill(
    target: &ConnectOptions,
    tables: &Plan,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<(), OpsError> {
    let (count, plural) = (tables.tables, if tables.tables == 1 { "" } else { "s" });
    say(&format!("filling {count} table{plural} of {} rows", tables.table_size));
    let plain = ConnectOptions { tls: net::TlsOptions::with_mode(net::SslMode::Disabled), ..target.clone() };
    let filled = crate::prepare(&plain, tables, stop, &|_| {});
    if stop.load(Ordering::Relaxed) { Err(ended()) } else { filled }
}

/// Somebody wanted the end while the lab was made.
fn ended() -> OpsError {
    OpsError::cannot_look(
        "the lab was not finished, and nothing was measured",
        "it was ended early",
        "run it again; what was made is gone",
    )
}

/// Writes a word, and looks for it in the files: an option that says ON proves nothing.
fn lies_as_wished(server: &Server, at_rest: AtRest) -> Result<(), OpsError> {
    let unreadable = internal("the files of a server cannot be read");
    let word = secrecy::ExposeSecret::expose_secret(&trust::generate_passphrase()).to_owned();
    server.run(&[
        "CREATE DATABASE sealion_bench_word",
        "CREATE TABLE sealion_bench_word.word (word VARCHAR(100)) ENGINE=InnoDB",
        &format!("INSERT INTO sealion_bench_word.word VALUES ('{word}')"),
        // Its pages go to the file now.
        "FLUSH TABLES sealion_bench_word.word FOR EXPORT",
    ])?;
    let data = server.dir.join("data");
    let mut binlogs: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(&data).map_err(unreadable)? {
        let path = entry.map_err(internal("the files of a server cannot be listed"))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with("binlog.0") {
            binlogs.push(path);
        }
    }
    let kinds = [
        ("tables", at_rest.tables, vec![data.join("sealion_bench_word/word.ibd")]),
        ("the redo log", at_rest.redo, vec![data.join("ib_logfile0")]),
        ("the binary log", at_rest.binlog, binlogs),
    ];
    for (name, is_to_be_encrypted, paths) in kinds {
        let mut is_in_clear = false;
        for path in paths {
            let bytes = std::fs::read(&path).map_err(internal("a file of a server cannot be read"))?;
            is_in_clear |= memchr::memmem::find(&bytes, word.as_bytes()).is_some();
        }
        if is_in_clear == is_to_be_encrypted {
            let (is, be) = if is_in_clear {
                ("there in clear text", "encrypted")
            } else {
                ("not to be found", "in clear text")
            };
            return Err(OpsError::internal(
                format!("a word that was written is {is} in the files of {name}"),
                format!("they were to be {be}"),
            ));
        }
    }
    server.run(&["DROP DATABASE sealion_bench_word"])
}

/// The OpenSSL that arms are named for.
fn is_linked_with(server: &Server, release: Release) -> Result<(), OpsError> {
    let wanted = match release {
        Release::MariaDb1011 => "OpenSSL 3.0.",
        Release::MariaDb118 => "OpenSSL 3.5.",
    };
    let found = server.asked("SELECT @@version_ssl_library")?;
    if found.starts_with(wanted) {
        return Ok(());
    }
    Err(OpsError::cannot_look(
        format!("a {} of the lab is linked with {found}", bundle_of(release)),
        format!("what is measured is {wanted}x"),
        format!("sealion lab fetch {}", bundle_of(release)),
    ))
}

/// What the ports of Galera speak, and not what an option says.
fn is_between_nodes(up: &Up, wants_tls: bool) -> Result<(), OpsError> {
    for node in &up.lab.file.nodes {
        let at = SocketAddr::new(node.listens_at(), lab::layout::GALERA_PORT);
        let speaks_tls =
            net::tls_probe(at, None, &net::TlsOptions::with_mode(net::SslMode::Required), PROBE_MAX).is_ok();
        if speaks_tls != wants_tls {
            let (is, be) = if speaks_tls { ("TLS", "clear text") } else { ("no TLS", "TLS") };
            return Err(OpsError::internal(format!("{at} speaks {is}"), format!("it was to be {be}")));
        }
    }
    Ok(())
}

fn told(place: Place) -> String {
    match place {
        Place::Given => told(Place::Made(Made::PLAIN)),
        Place::Made(Made { key, issuers, aes_ni, release }) => {
            let mut words = vec![bundle_of(release).to_owned(), keys::name(key)];
            if issuers > 0 {
                words.push(format!("{issuers} issuer{}", if issuers == 1 { "" } else { "s" }));
            }
            if !aes_ni {
                words.push("no AES-NI".into());
            }
            words.join(", ")
        }
        Place::AtRest(AtRest { tables, redo, binlog }) => {
            let kept = [(tables, "tables"), (redo, "redo log"), (binlog, "binary log")];
            let kept: Vec<&str> = kept.iter().filter(|(yes, _)| *yes).map(|(_, name)| *name).collect();
            if kept.is_empty() {
                format!("{MARIADB}, nothing encrypted")
            } else {
                format!("{MARIADB}, encrypted: {}", kept.join(", "))
            }
        }
        Place::Galera { between } => format!("{} between them", spoken(between)),
        Place::Wan { tls, .. } => {
            format!("{} and relays between them", spoken(tls.map_or(Between::ClearText, Between::Tls)))
        }
        Place::Sst { method, tls } => {
            let (by, how) = (method_of(method).as_str(), if tls { "TLS" } else { "clear text" });
            format!("{by}, {how}")
        }
        Place::Replica { tls } => format!("replication, {}", if tls { "TLS" } else { "clear text" }),
        Place::Echo { .. } => "no database".into(),
    }
}

fn spoken(between: Between) -> String {
    match between {
        Between::ClearText => "clear text".into(),
        Between::Tls(key) => format!("TLS with {}", keys::name(key)),
        Between::Dynamic(key) => format!("clear text or TLS with {}", keys::name(key)),
    }
}

fn method_of(method: Sst) -> SstMethod {
    match method {
        Sst::Rsync => SstMethod::Rsync,
        Sst::Mariabackup => SstMethod::Mariabackup,
    }
}

fn bundle_of(release: Release) -> &'static str {
    match release {
        Release::MariaDb1011 => MARIADB,
        Release::MariaDb118 => MARIADB_NEWER,
    }
}

fn has_bundle(release: Release) -> bool {
    bundle(bundle_of(release)).join("stamp").is_file()
}

fn free_port() -> Result<u16, OpsError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|at| at.port())
        .map_err(internal("no port is free"))
}

/// A process that ends with this.
pub(super) struct Ended(pub(super) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(super) fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn listens(at: SocketAddr, child: &mut Ended, what: &str) -> Result<(), OpsError> {
    let deadline = Instant::now() + TUNNEL_UP_MAX;
    while ::bench::cpu::listeners_of(at.port()).is_empty() {
        let ended = child.0.try_wait().map_err(internal("a child process cannot be asked for"))?;
        if let Some(status) = ended {
            return Err(OpsError::cannot_look(
                format!("{what} does not come up"),
                status.to_string(),
                "try it by hand, in the same place",
            ));
        }
        if Instant::now() > deadline {
            return Err(OpsError::cannot_look(
                format!("{what} does not listen"),
                format!("{} s went by", TUNNEL_UP_MAX.as_secs()),
                "try again when less runs here",
            ));
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Two processes, one at each end.
struct Tunnel {
    ends: [Ended; 2],
    entry: SocketAddr,
}

impl Tunnel {
    fn stunnel(dir: &Path, to: SocketAddr) -> Result<Self, OpsError> {
        let keys::Files { pair, .. } = keys::make(dir, Made::PLAIN.key, Made::PLAIN.issuers)?;
        let servers = Servers::find(false)?;
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let (middle, entry) = (local(free_port()?), local(free_port()?));
        let start = |name: &str, text: String, at: SocketAddr| -> Result<Ended, OpsError> {
            let path = dir.join(name);
            std::fs::write(&path, text).map_err(internal("a file of stunnel cannot be written"))?;
            let mut command = Command::new("/proc/self/exe");
            command.arg("__server").arg(servers.program("stunnel")).arg(&path).envs(servers.environment());
            let child = quiet(&mut command).spawn().map_err(internal("stunnel cannot be started"))?;
            let mut ended = Ended(child);
            listens(at, &mut ended, "stunnel")?;
            Ok(ended)
        };
        let head =
            "foreground=yes\npid=\nsyslog=no\ndebug=0\nsocket=l:TCP_NODELAY=1\nsocket=r:TCP_NODELAY=1\n";
        let far = start(
            "server.conf",
            format!(
                "{head}[mysql]\naccept={middle}\nconnect={to}\ncert={}\nkey={}\n",
                pair.cert.display(),
                pair.key.display()
            ),
            middle,
        )?;
        // As the arms beside it: encrypted, and checked as little as ssl-mode=REQUIRED does.
        let near = start(
            "client.conf",
            format!("{head}[mysql]\nclient=yes\nverify=0\naccept={entry}\nconnect={middle}\n"),
            entry,
        )?;
        Ok(Self { ends: [near, far], entry })
    }

    fn ssh(dir: &Path, to: SocketAddr) -> Result<Self, OpsError> {
        std::fs::create_dir_all(dir).map_err(internal("a directory of the lab cannot be made"))?;
        let missing = |name: &str| {
            OpsError::cannot_look(
                format!("there is no {name}"),
                "it is not installed",
                "apt install openssh-server openssh-client",
            )
        };
        let (sshd, ssh, keygen) = (
            program("sshd").ok_or_else(|| missing("sshd"))?,
            program("ssh").ok_or_else(|| missing("ssh"))?,
            program("ssh-keygen").ok_or_else(|| missing("ssh-keygen"))?,
        );
        for name in ["host", "user"] {
            let made = quiet(
                Command::new(&keygen).args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(dir.join(name)),
            )
            .status()
            .map_err(internal("ssh-keygen cannot be started"))?;
            if !made.success() {
                return Err(OpsError::cannot_look(
                    "ssh-keygen makes no key",
                    made.to_string(),
                    "try it by hand",
                ));
            }
        }
        let local = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        let (middle, entry) = (local(free_port()?), local(free_port()?));
        let config = format!(
            "ListenAddress {middle}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxSessions 100\n",
            dir.join("host").display(),
            dir.join("user.pub").display()
        );
        std::fs::write(dir.join("sshd_config"), config)
            .map_err(internal("a file of sshd cannot be written"))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg("__server").arg(sshd).args(["-D", "-e", "-f"]).arg(dir.join("sshd_config"));
        let mut far = Ended(quiet(&mut command).spawn().map_err(internal("sshd cannot be started"))?);
        listens(middle, &mut far, "sshd")?;
        let mut command = Command::new("/proc/self/exe");
        command
            .arg("__server")
            .arg(ssh)
            .args(["-N", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"])
            .args(["-o", "UserKnownHostsFile=/dev/null", "-o", "ExitOnForwardFailure=yes", "-i"])
            .arg(dir.join("user"))
            .args(["-p", &middle.port().to_string(), "-L", &format!("{entry}:{to}"), "127.0.0.1"]);
        let mut near = Ended(quiet(&mut command).spawn().map_err(internal("ssh cannot be started"))?);
        listens(entry, &mut near, "ssh -L")?;
        Ok(Self { ends: [near, far], entry })
    }
}

/// Where the files of a lab are, for nobody else. They go with this; what a killed sealion left behind goes when the next one makes
/// its own.
pub struct Home {
    dir: tempfile::TempDir,
    /// On the directory. Servers of the lab inherit it: it is held while one of them lives.
    _lock: Flock<File>,
}

const HOME_PREFIX: &str = "sealion-bench-";
/// Written once the lock is held: a directory without it is just being made, or not ours.
const HOME_MARK: &str = "sealion-lab";

impl Home {
    /// # Errors
    /// Where no directory can be made.
    pub fn make() -> Result<Self, OpsError> {
        let no_room = || internal("no directory for the lab's servers");
        remove_abandoned(&std::env::temp_dir());
        let dir = tempfile::Builder::new()
            .prefix(HOME_PREFIX)
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir()
            .map_err(no_room())?;
        let opened = open_directory(dir.path()).map_err(no_room())?;
        fcntl(&opened, FcntlArg::F_SETFD(FdFlag::empty())).map_err(|errno| no_room()(errno.into()))?;
        let lock =
            Flock::lock(opened, FlockArg::LockExclusive).map_err(|(_, errno)| no_room()(errno.into()))?;
        std::fs::write(dir.path().join(HOME_MARK), "").map_err(no_room())?;
        Ok(Self { dir, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

fn open_directory(path: &Path) -> std::io::Result<File> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
    File::options().read(true).custom_flags(flags.bits()).open(path)
}

/// Directories of labs of this account whose processes are gone.
fn remove_abandoned(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(HOME_PREFIX) {
            continue;
        }
        let Ok(opened) = open_directory(&entry.path()) else { continue };
        let is_ours = opened.metadata().is_ok_and(|found| found.uid() == nix::unistd::geteuid().as_raw());
        if !is_ours {
            continue;
        }
        if let Ok(_dead) = Flock::lock(opened, FlockArg::LockExclusiveNonblock)
            && entry.path().join(HOME_MARK).symlink_metadata().is_ok_and(|found| found.is_file())
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a server of the lab can be started at all, before anything is.
///
/// # Errors
/// There is no bundle.
pub fn is_possible() -> Result<(), OpsError> {
    if has_bundle(Release::MariaDb1011) {
        return Ok(());
    }
    Err(OpsError::cannot_look(
        format!("there is no {MARIADB} for a lab"),
        "its bundle was not fetched",
        format!("sealion lab fetch {MARIADB}"),
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_one_left_behind_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let dir = |name: &str, is_marked: bool| {
            let dir = place.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            if is_marked {
                std::fs::write(dir.join(HOME_MARK), "").unwrap();
            }
            dir
        };
        let (dead, alive) = (dir("sealion-bench-dead", true), dir("sealion-bench-alive", true));
        let (young, other) = (dir("sealion-bench-young", false), dir("other", true));
        let fifo = dir("sealion-bench-fifo", false);
        nix::unistd::mkfifo(&fifo.join(HOME_MARK), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let link = place.path().join("sealion-bench-link");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let _held = Flock::lock(open_directory(&alive).unwrap(), FlockArg::LockExclusive).unwrap();
        remove_abandoned(place.path());
        let found = [&dead, &alive, &young, &other, &fifo, &link].map(|dir| dir.exists());
        assert_eq!(found, [false, true, true, true, true, true]);
    }

    #[test]
    fn a_home_is_for_nobody_else_and_its_children_hold_it() {
        let home = Home::make().unwrap();
        let path = home.path().to_owned();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700);
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let Home { dir, _lock: lock } = home;
        // As when sealion is killed: nobody unlocks.
        std::mem::forget(lock);
        let kept = dir.keep();
        let is_free = || Flock::lock(open_directory(&kept).unwrap(), FlockArg::LockExclusiveNonblock).is_ok();
        assert!(!is_free());
        child.kill().unwrap();
        child.wait().unwrap();
        std::fs::remove_dir_all(&kept).unwrap();
    }
}
