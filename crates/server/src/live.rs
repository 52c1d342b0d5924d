//! A real server, on this machine or on one that is reached by an agent.

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{HostError, Job, JobPlace, JobState, ProcessFacts, ReadHost, Service, ServiceState, WriteHost};
use model::{Clock, SystemClock};
use net::{
    Client, ConnectOptions, Connector, Endpoint, NetError, Outcome, PemSet, SecretString, SslMode, TlsOptions,
};

use crate::accounts::{self, Account, AccountName};
use crate::at_rest::{
    self, AtRest, AtRestSetting, LiveSettings, NotRead, Rebuild, RebuildSample, Rebuilt, UndoRound,
};
use crate::capability::Capabilities;
use crate::galera::GaleraFacts;
use crate::grants::OwnGrants;
use crate::live_settings::{self, LiveSetting};
use crate::logins::{self, Logins};
use crate::machine::Machine;
use crate::node::{
    Admits, Alive, CA_FILE, CERT_FILE, CleartextLogin, Hook, KEY_FILE, NodeError, NodeSpec, PlacesAtRest,
    ReadMember, ReadNode, Sessions, WriteMember, WriteNode,
};
use crate::options::{self, Effective, Start, persisted};
use crate::owner;
use crate::places;
use crate::replication::{self, Channel, ChannelTls, Threads, TlsFiles};
use crate::sessions;
use crate::tls_rules::{OfferAnswer, SqlPort, TlsOffer, TlsRules};
use crate::view::NodeView;

/// The service manager may take this long to stop or start a server before it is said to hang. systemd's own limit
/// for mariadb.service is 90 s to 15 min; a clean shutdown of a busy server takes its time.
const SERVICE_S_MAX: u64 = 600;
const START_POLL: Duration = Duration::from_millis(200);
/// A service manager that does not say within this time whether a service runs is not asked again in that round.
const ASK_S_MAX: u64 = 5;
/// A server that does not keep to the protocol is asked so often before that is taken for its answer.
const CONNECTS_MAX: u32 = 3;
const CONNECT_AGAIN: Duration = Duration::from_millis(200);
const VERSION_TESTED: &str = "10.11.19-MariaDB";
/// A connection that was not greeted is looked at for so long before the server is said to be silent still.
const GREETED_AGAIN: Duration = Duration::from_millis(200);
/// Programs of servers.
const SERVERS: [&str; 2] = ["mariadbd", "mysqld"];
/// A TLS handshake with a port, with nothing behind it.
const PROBE: Duration = Duration::from_millis(1500);
/// The name of a node; a resolver that asks a second server has taken 5 s for the first (resolv.conf(5)).
const RESOLVE: Duration = Duration::from_secs(6);
/// Where MySQL's packages put it, where no file says otherwise.
const DATADIR: &str = "/var/lib/mysql";
/// A table of some terabytes is written anew by one statement, which says nothing until it is done. A server that ends meanwhile closes the
/// connection.
const STATEMENT_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
const PID_FILE_BYTES_MAX: u64 = 64;
/// Only the end of a log is read.
const LOG_BYTES_MAX: u64 = 256 * 1024;
const PEM_BYTES_MAX: u64 = 1024 * 1024;

/// A node reached over its unix socket (or TCP) and the file system of its machine.
#[derive(Debug)]
pub struct LiveNode {
    spec: NodeSpec,
    login: ConnectOptions,
    machine: Machine,
    born: Instant,
    /// As it last answered.
    capabilities: Option<Capabilities>,
    /// A connection that the server has not greeted yet. While it waits, no other is made: polls of a frozen server would fill
    /// its listen queue.
    queued: Option<OwnedFd>,
}

impl LiveNode {
    /// On this machine.
    pub fn new(spec: NodeSpec, login: ConnectOptions) -> Self {
        Self::on(Machine::This, spec, login)
    }

    /// `login` leads to it from here, through the machine's agent where it is elsewhere.
    pub fn on(machine: Machine, spec: NodeSpec, login: ConnectOptions) -> Self {
        Self { spec, login, machine, born: Instant::now(), capabilities: None, queued: None }
    }

    /// Sessions over TCP but its own.
    ///
    /// # Errors
    /// As of [`ReadNode::view`]; a right is missing.
    pub fn tcp_sessions(&mut self) -> Result<sessions::TcpSessions, NodeError> {
        let mut client = self.connect()?;
        sessions::tcp_sessions(&mut client).map_err(|error| self.error(&error))
    }

    fn machine_host(&self) -> &dyn WriteHost {
        self.machine.host()
    }

    /// For a statement that takes as long as the data asks for.
    fn connect_for_long(&mut self) -> Result<Client, NodeError> {
        let io_timeout = std::mem::replace(&mut self.login.io_timeout, STATEMENT_MAX);
        let client = self.connect();
        self.login.io_timeout = io_timeout;
        client
    }

    fn scratch_is_ours(&self, client: &mut Client) -> Result<(), NodeError> {
        if !at_rest::scratch_is_foreign(client).map_err(|error| self.error(&error))? {
            return Ok(());
        }
        Err(NodeError::Refused {
            node: self.spec.name.clone(),
            why: format!(
                "nothing is written in the schema {0}\n  why:  it is where sealion works, and this one has what sealion did not make\n  \
                 next: rename or drop the schema {0}, then the same again",
                at_rest::SCRATCH
            ),
        })
    }

    fn connect(&mut self) -> Result<Client, NodeError> {
        if let Some(queued) = &self.queued {
            if !net::is_greeted(queued.as_fd(), GREETED_AGAIN) {
                let why = format!("{} has not greeted an earlier connection yet", self.login.endpoint);
                return Err(self.silent_or_down(why, false));
            }
            self.queued = None;
        }
        let mut tries = 1;
        loop {
            match Client::connect(&self.login) {
                // Seen on MariaDB 10.11.19 with Galera 26.4.23, while a strict joiner ended its IST: a TLS record (17 03 03)
                // came instead of the greeting, over the unix socket. The next connection was fine.
                Err(NetError::PeerMisbehaved { .. }) if tries < CONNECTS_MAX => {
                    tries += 1;
                    std::thread::sleep(CONNECT_AGAIN);
                }
                Err(error) => {
                    if matches!(error, NetError::TimedOut { .. }) {
                        self.queued = net::queue(&self.login.endpoint, GREETED_AGAIN).ok();
                    }
                    return Err(self.error(&error));
                }
                Ok(client) => return Ok(client),
            }
        }
    }

    fn error(&self, error: &NetError) -> NodeError {
        match error {
            NetError::Unreachable { is_refused, .. } => self.silent_or_down(error.in_one_line(), *is_refused),
            NetError::TimedOut { .. } => self.silent_or_down(error.in_one_line(), false),
            _ => NodeError::Refused { node: self.spec.name.clone(), why: error.to_string() },
        }
    }

    /// A server that does not answer may be frozen, on its way up, or out of our reach: it is down only where its process is gone.
    fn silent_or_down(&self, why: String, is_refused: bool) -> NodeError {
        let node = self.spec.name.clone();
        match self.life(is_refused) {
            Alive::No => {
                let start = self.machine_host().service_job(&JobPlace::start(&self.spec.state_dir));
                let more = start.ok().and_then(|job| failed_start(&job)).map(|text| format!("; {text}"));
                NodeError::Down { node, why: why + &more.unwrap_or_default() }
            }
            Alive::Yes => {
                NodeError::Silent { node, why: format!("{why}; its process runs"), runs_unheard: is_refused }
            }
            Alive::CannotTell(reason) => {
                // A machine that is out of reach says the same of both.
                let why = if why.contains(&reason) { why } else { format!("{why}; {reason}") };
                NodeError::Silent { node, why, runs_unheard: false }
            }
        }
    }

    /// Its manager and its process, taken together; `is_refused`: nothing listens where it should.
    fn life(&self, is_refused: bool) -> Alive {
        // Asked first: what it starts is seen by the looks behind it, and what it has not started yet by none of them.
        if self.is_being_started() {
            return Alive::Yes;
        }
        let process = self.process_of_pid_file();
        match (self.manager_says(), &process) {
            (_, Ok(PidFile::Runs(_))) | (Alive::Yes, _) => Alive::Yes,
            (Alive::No, Ok(_)) => Alive::No,
            (Alive::No | Alive::CannotTell(_), Err(why)) => Alive::CannotTell(why.clone()),
            // Nobody listens, or no process could be it.
            (Alive::CannotTell(_), Ok(_)) if is_refused => Alive::No,
            (Alive::CannotTell(why), Ok(_)) => match self.has_candidate() {
                Ok(false) => Alive::No,
                Ok(true) => Alive::CannotTell(format!("{why}, and a server process is there that may be it")),
                Err(error) => Alive::CannotTell(error.to_string()),
            },
        }
    }

    /// A start that somebody has begun who was cut off since. Where that cannot be told, nothing is lost: a second start waits for it.
    pub(crate) fn is_being_started(&self) -> bool {
        let job = self.machine_host().service_job(&JobPlace::start(&self.spec.state_dir));
        matches!(job, Ok(JobState::Runs(_)))
    }

    /// A command that starts it and was begun earlier would bring a server behind the stop. systemd sees to that by itself.
    fn start_shows_a_server(&self) -> Result<(), NodeError> {
        if matches!(self.spec.service, Service::Systemd { .. }) {
            return Ok(());
        }
        let deadline = Instant::now() + Duration::from_secs(SERVICE_S_MAX);
        while self.is_being_started() && !matches!(self.process_of_pid_file(), Ok(PidFile::Runs(_))) {
            if Instant::now() > deadline {
                return Err(self.host_error(format!(
                    "its start was begun earlier, runs for more than {SERVICE_S_MAX} s and shows no server yet, so that it cannot be stopped"
                )));
            }
            std::thread::sleep(START_POLL);
        }
        Ok(())
    }

    /// Whether a server runs on its machine that was started with this option file, or with none that it names.
    fn has_candidate(&self) -> Result<bool, HostError> {
        let own = self.spec.defaults_file.to_string_lossy();
        let programs = self.machine_host().programs(&SERVERS)?;
        for facts in &programs.found {
            let words = &facts.command_line;
            let names_file = words.iter().any(|word| word.starts_with("--defaults-file"));
            if !names_file || words.iter().any(|word| word.contains(&*own)) {
                return Ok(true);
            }
        }
        // One that runs and cannot be looked at may be it, unless another one is.
        programs.hidden.map_or(Ok(false), |what| {
            Err(HostError::Process { what, why: "a server process that may be this one".into() })
        })
    }

    fn manager_says(&self) -> Alive {
        match self.machine_host().service_state(&self.spec.service, Duration::from_secs(ASK_S_MAX)) {
            ServiceState::Runs => Alive::Yes,
            ServiceState::Stopped => Alive::No,
            ServiceState::CannotTell(why) => Alive::CannotTell(why),
        }
    }

    /// A server writes it only when it is up, and it may outlive the server.
    fn process_of_pid_file(&self) -> Result<PidFile, String> {
        let Some(path) = self.spec.pid_file.as_ref() else { return Ok(PidFile::NotThere) };
        let Some(text) =
            self.machine_host().read(path, PID_FILE_BYTES_MAX).map_err(|error| error.to_string())?
        else {
            return Ok(PidFile::NotThere);
        };
        let Ok(pid) = String::from_utf8_lossy(&text).trim().parse() else { return Ok(PidFile::NotThere) };
        match self.machine_host().process(pid).map_err(|error| error.to_string())? {
            Some(facts) if is_server(&facts) => Ok(PidFile::Runs(facts)),
            // The number was given to somebody else since.
            Some(_) | None => Ok(PidFile::Gone),
        }
    }

    fn pairs(&self, client: &mut Client, sql: &str) -> Result<BTreeMap<String, String>, NodeError> {
        let rows = client.query(sql).map_err(|error| self.error(&error))?;
        Ok(rows
            .iter()
            .filter_map(|row| {
                Some((row.at(0)?.to_ascii_lowercase(), row.at(1).unwrap_or_default().into_owned()))
            })
            .collect())
    }

    fn run(&mut self, sql: &str) -> Result<(), NodeError> {
        self.connect()?.execute(sql).map(|_| ()).map_err(|error| self.error(&error))
    }

    /// What SET PERSIST has written wins over every option file.
    fn add_persisted(&self, effective: &mut Effective) -> Result<(), NodeError> {
        if effective.effective("persisted_globals_load").is_some_and(|setting| !setting.is_on()) {
            return Ok(());
        }
        let datadir = effective.effective("datadir").and_then(|setting| setting.value.as_deref());
        let file = Path::new(datadir.unwrap_or(DATADIR)).join(persisted::FILE);
        let bytes = self.machine_host().read(&file, persisted::BYTES_MAX);
        if let Some(bytes) = bytes.map_err(|error| self.host_error(error))? {
            let settings = persisted::settings(&bytes, &file).map_err(|why| self.host_error(why))?;
            effective.settings.extend(settings);
        }
        Ok(())
    }

    fn run_all(&mut self, statements: &[String]) -> Result<(), NodeError> {
        let mut client = self.connect()?;
        for statement in statements {
            client.execute(statement).map_err(|error| self.error(&error))?;
        }
        Ok(())
    }

    fn known_capabilities(&mut self) -> Result<Capabilities, NodeError> {
        match &self.capabilities {
            Some(known) => Ok(known.clone()),
            None => Ok(self.view()?.capabilities()),
        }
    }

    fn resolve(&self, groups: &[String]) -> Result<Effective, NodeError> {
        options::resolve(
            &Start::DefaultsFile(self.spec.defaults_file.clone()),
            groups,
            &*self.machine.files(),
        )
        .map_err(|error| self.host_error(error))
    }

    fn service(&self, job: &JobPlace, command: &[String]) -> Result<(), NodeError> {
        self.machine_host()
            .run_service(job, command, Duration::from_secs(SERVICE_S_MAX))
            .map(|_| ())
            .map_err(|error| self.host_error(error))
    }

    fn host_error(&self, why: impl std::fmt::Display) -> NodeError {
        NodeError::Host { node: self.spec.name.clone(), why: why.to_string() }
    }

    fn address(&self, port: u16) -> Result<SocketAddr, NodeError> {
        let found = net::resolve(&self.spec.address, port, RESOLVE);
        let found = found.map_err(|error| self.host_error(error))?.into_iter().next();
        found.ok_or_else(|| self.host_error(format!("{} has no address", self.spec.address)))
    }

    fn galera_endpoint(&self) -> Result<Endpoint, NodeError> {
        if self.machine.is_this() {
            // A name is looked up once, within a limit.
            let address = self.address(self.spec.galera_port)?;
            return Ok(Endpoint::tcp(address.ip().to_string(), address.port()));
        }
        Ok(self.machine.tcp(&self.spec.address, self.spec.galera_port))
    }

    /// The files that it was given, read on its machine.
    fn own_pem(&self) -> Result<PemSet, NodeError> {
        let read = |name: &str| {
            let path = self.spec.tls_dir.join(name);
            let found =
                self.machine_host().read(&path, PEM_BYTES_MAX).map_err(|error| self.host_error(error))?;
            found.ok_or_else(|| self.host_error(format!("{} is not there", path.display())))
        };
        let key = String::from_utf8(read(KEY_FILE)?);
        let key = key.map_err(|_| self.host_error(format!("{KEY_FILE} in its tls_dir is not text")))?;
        Ok(PemSet { ca: read(CA_FILE)?, cert: read(CERT_FILE)?, key: SecretString::from(key) })
    }

    /// PEM of what the Galera port serves now, whoever signed it.
    ///
    /// # Errors
    /// It cannot be seen: the port is out of reach, shows none, or lets nobody in who has no certificate.
    pub fn served_galera_leaf(&self) -> Result<String, NodeError> {
        let tls = TlsOptions::with_mode(SslMode::Required);
        let endpoint = self.galera_endpoint()?;
        let probe = net::tls_probe_at(&endpoint, &tls, PROBE).map_err(|error| self.error(&error))?;
        probe.leaf_pem.ok_or_else(|| self.host_error("the handshake showed no certificate"))
    }

    /// Shows a certificate, and whoever answers with an alert about it does not take it.
    fn admits(&self, outcome: Result<Outcome, NetError>) -> Result<Admits, NodeError> {
        match outcome {
            Ok(Outcome::Accepted) => Ok(Admits::Yes),
            Ok(Outcome::RefusedAfterHandshake { alert }) => Admits::of_alert(&alert)
                .ok_or_else(|| NodeError::Refused { node: self.spec.name.clone(), why: alert }),
            Ok(Outcome::Closed) => {
                Err(self.host_error("the port closed the connection without a reason, so it cannot be told whether it takes the certificate"))
            }
            Err(error @ NetError::Tls { .. }) => {
                Admits::of_alert(&error.in_one_line()).ok_or_else(|| self.error(&error))
            }
            Err(error) => Err(self.error(&error)),
        }
    }

    fn leaf(&self, probe: Result<net::TlsProbe, NetError>) -> Result<String, NodeError> {
        let probe = probe.map_err(|error| match error {
            // What `net` advises are options of commands that connect as a client: a change has none of them.
            NetError::Tls { .. } | NetError::Usage { .. } => NodeError::Refused {
                node: self.spec.name.clone(),
                why: format!(
                    "port {} cannot be dialled as a member, with the files in {}\n  why:  {}\n  next: put back the {CA_FILE}, {CERT_FILE} and \
                     {KEY_FILE} that the server has loaded, or restart the node with those that lie there; then the same command again",
                    self.spec.galera_port,
                    self.spec.tls_dir.display(),
                    error.in_one_line()
                ),
            },
            other => self.error(&other),
        })?;
        if let Outcome::RefusedAfterHandshake { alert } = probe.outcome {
            return Err(NodeError::Refused { node: self.spec.name.clone(), why: alert });
        }
        probe.leaf_pem.ok_or_else(|| NodeError::Refused {
            node: self.spec.name.clone(),
            why: "the handshake showed no certificate".into(),
        })
    }
}

/// What the pid file says.
enum PidFile {
    Runs(ProcessFacts),
    /// The process that it names has ended.
    Gone,
    NotThere,
}

/// What a start by sealion that brought no server left behind, for somebody who wonders why there is none.
fn failed_start(job: &JobState) -> Option<String> {
    let began =
        |job: &Job| format!("the last start by sealion, of {}", model::clock::rfc3339(job.began_unix_ms));
    let last = |said: &str| {
        said.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(|line| format!(": {line}"))
    };
    match job {
        JobState::NeverBegan | JobState::Runs(_) | JobState::Ended { code: 0, .. } => None,
        JobState::Ended { job, code, said } => {
            Some(format!("{}, ended with exit code {code}{}", began(job), last(said).unwrap_or_default()))
        }
        JobState::CutShort { job, said } => {
            Some(format!("{}, was cut short{}", began(job), last(said).unwrap_or_default()))
        }
    }
}

fn is_server(facts: &ProcessFacts) -> bool {
    host::is_program(facts, &SERVERS)
}

impl ReadMember for LiveNode {
    fn spec(&self) -> &NodeSpec {
        &self.spec
    }

    fn process(&mut self) -> Option<ProcessFacts> {
        match self.process_of_pid_file() {
            Ok(PidFile::Runs(facts)) => Some(facts),
            _ => None,
        }
    }

    fn alive(&mut self) -> Alive {
        self.life(false)
    }

    fn host(&self) -> &dyn ReadHost {
        self.machine.host()
    }

    fn galera_leaf(&mut self) -> Result<String, NodeError> {
        let endpoint = self.galera_endpoint()?;
        let tls = if self.machine.is_this() {
            TlsOptions {
                mode: SslMode::VerifyCa,
                ca: Some(self.spec.tls_dir.join(CA_FILE)),
                cert: Some(self.spec.tls_dir.join(CERT_FILE)),
                key: Some(self.spec.tls_dir.join(KEY_FILE)),
                ..TlsOptions::default()
            }
        } else {
            TlsOptions {
                mode: SslMode::VerifyCa,
                pem: Some(Arc::new(self.own_pem()?)),
                ..TlsOptions::default()
            }
        };
        self.leaf(net::tls_probe_at(&endpoint, &tls, PROBE))
    }

    fn galera_shows(&mut self) -> Result<String, NodeError> {
        self.served_galera_leaf()
    }

    fn galera_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError> {
        let tls =
            TlsOptions { mode: SslMode::Required, pem: Some(Arc::clone(shown)), ..TlsOptions::default() };
        let probe = net::tls_probe_at(&self.galera_endpoint()?, &tls, PROBE);
        self.admits(probe.map(|probe| probe.outcome))
    }

    fn wait(&mut self, how_long: Duration) {
        std::thread::sleep(how_long);
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        let Some(path) = &self.spec.error_log else { return Vec::new() };
        let Ok(Some(bytes)) = self.machine_host().read_end(path, LOG_BYTES_MAX) else { return Vec::new() };
        let text = String::from_utf8_lossy(&bytes);
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].iter().map(|&line| line.to_owned()).collect()
    }

    fn owner(&mut self) -> Option<(u32, u32)> {
        owner::of_server(self)
    }
}

impl ReadNode for LiveNode {
    fn view(&mut self) -> Result<NodeView, NodeError> {
        let mut client = self.connect()?;
        let variables = self.pairs(&mut client, "SHOW GLOBAL VARIABLES")?;
        let mut status = self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'wsrep%'")?;
        status.extend(self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'Ssl%'")?);
        status.extend(self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'Uptime'")?);
        status.extend(self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'Current_tls%'")?);
        status.extend(self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'Tls_library_version'")?);
        if variables.contains_key("mysqlx_port") {
            status.extend(self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'Mysqlx_ssl_server_not_after'")?);
        }
        let time = client.query("SELECT UNIX_TIMESTAMP()").map_err(|error| self.error(&error))?;
        let server_unix_ms =
            time.scalar().and_then(|text| text.parse::<u64>().ok()).map(|s| s.saturating_mul(1000));
        let view = NodeView { variables, status, at_unix_ms: SystemClock.unix_ms(), server_unix_ms };
        self.capabilities = Some(view.capabilities());
        Ok(view)
    }

    fn sessions(&mut self) -> Result<Sessions, NodeError> {
        let mut client = self.connect()?;
        if !sessions::sees_all(&mut client).map_err(|error| self.error(&error))? {
            return Err(NodeError::Refused {
                node: self.spec.name.clone(),
                why: format!("who works there cannot be seen: {}", sessions::NO_PROCESS),
            });
        }
        let me = client.connection_id().to_string();
        let list = client.query("SHOW FULL PROCESSLIST").map_err(|error| self.error(&error))?;
        let mut seen = Sessions::default();
        let mut ids = Vec::new();
        for row in list.iter() {
            let user = row.text("User").unwrap_or_default();
            let id = row.text("Id").unwrap_or_default().into_owned();
            let command = row.text("Command").unwrap_or_default();
            // The server's own threads (appliers, event scheduler) and this connection are not users. Accounts may have their names.
            let is_own = user == "system user" && row.text("Host").is_none_or(|host| host.is_empty());
            if is_own || id == me || command == "Daemon" {
                continue;
            }
            // A replica reads until it is stopped: nobody would ever see it leave, and it comes back by itself.
            if command.starts_with("Binlog Dump") {
                continue;
            }
            seen.users += 1;
            if command == "Sleep" {
                ids.push(id);
            } else {
                seen.busy += 1;
            }
        }
        // A sleeping connection may hold a transaction open.
        if !ids.is_empty() {
            let open = client
                .query("SELECT trx_mysql_thread_id FROM information_schema.innodb_trx")
                .map_err(|error| self.error(&error))?;
            seen.busy += open
                .iter()
                .filter(|row| row.at(0).is_some_and(|id| ids.iter().any(|one| *one == id)))
                .count();
        }
        Ok(seen)
    }

    fn logins(&mut self) -> Result<Logins, NodeError> {
        let mut client = self.connect()?;
        logins::logins(&mut client).map_err(|error| self.error(&error))
    }

    fn live_settings(&mut self) -> Result<Vec<LiveSetting>, NodeError> {
        let mut client = self.connect()?;
        live_settings::live_settings(&mut client).map_err(|error| self.error(&error))
    }

    fn cleartext_login(&mut self) -> Result<CleartextLogin, NodeError> {
        // The answer to the server's challenge would be readable on the way. An agent looks at its own machine.
        if self.machine.is_this() {
            let address = match self.address(self.spec.port) {
                Ok(address) => address,
                Err(error) => return Ok(CleartextLogin::CannotTell(error.to_string())),
            };
            if UdpSocket::bind(SocketAddr::new(address.ip(), 0)).is_err() {
                return Ok(CleartextLogin::CannotTell(format!(
                    "{} is not an address of this machine",
                    address.ip()
                )));
            }
        }
        let login = |mode| ConnectOptions {
            endpoint: self.machine.own_tcp(&self.spec.address, self.spec.port),
            tls: TlsOptions::with_mode(mode),
            ..self.login.clone().for_login_only()
        };
        if let Err(error) = Client::connect(&login(SslMode::Required)) {
            return Ok(CleartextLogin::CannotTell(format!(
                "the inventory's account is not let in over TCP with TLS either: {}",
                error.in_one_line()
            )));
        }
        match Client::connect(&login(SslMode::Disabled)) {
            Ok(client) => {
                let _ = client.quit();
                Ok(CleartextLogin::LetIn)
            }
            // Seen: MariaDB 10.11.19 answers 1045 as for a wrong password, MySQL 9.7.4 3159.
            Err(NetError::Refused { code: 1045 | 3159, .. }) => Ok(CleartextLogin::Refused),
            Err(error) => Ok(CleartextLogin::CannotTell(error.in_one_line())),
        }
    }

    fn effective(&mut self) -> Result<Effective, NodeError> {
        if self.capabilities.is_none() {
            // A node that is down cannot be asked: its files are read as the version that we know best reads them.
            let _ = self.view();
        }
        let known = || Capabilities::of(VERSION_TESTED, "", false);
        let capabilities = self.capabilities.clone().unwrap_or_else(known);
        let mut effective = self.resolve(&capabilities.option_groups())?;
        if capabilities.set_persist {
            self.add_persisted(&mut effective)?;
        }
        Ok(effective)
    }

    fn effective_in(&mut self, groups: &[String]) -> Result<Effective, NodeError> {
        self.resolve(groups)
    }

    fn channels(&mut self) -> Result<Vec<Channel>, NodeError> {
        let capabilities = self.known_capabilities()?;
        let mut client = self.connect()?;
        replication::channels(&mut client, &capabilities).map_err(|error| self.error(&error))
    }

    fn binary_logs(&mut self) -> Result<Vec<String>, NodeError> {
        let mut client = self.connect()?;
        replication::binary_logs(&mut client).map_err(|error| self.error(&error))
    }

    fn replicas(&mut self) -> Result<Vec<String>, NodeError> {
        let seen = self.tcp_sessions()?;
        if let Some(why) = seen.is_partial {
            return Err(NodeError::Refused { node: self.spec.name.clone(), why });
        }
        Ok(seen.list.iter().filter(|one| one.is_replica).map(ToString::to_string).collect())
    }

    fn own_grants(&mut self) -> Result<OwnGrants, NodeError> {
        let mut client = self.connect()?;
        let mut rows = |sql| client.query(sql).map_err(|error| self.error(&error));
        let account = rows("SELECT CURRENT_USER()")?.scalar().map(std::borrow::Cow::into_owned);
        // Seen on MariaDB 10.11.19 and MySQL 9.7.4: without FOR it lists what the active roles add, too.
        let grants = rows("SHOW GRANTS")?;
        let lines: Vec<_> = grants.iter().filter_map(|row| row.at(0)).collect();
        Ok(OwnGrants::of(&account.unwrap_or_default(), lines.iter().map(|line| &**line)))
    }

    fn accounts(&mut self) -> Result<Vec<Account>, NodeError> {
        let mut client = self.connect()?;
        accounts::accounts(&mut client).map_err(|error| self.error(&error))
    }

    fn certificate_accounts(&mut self) -> Result<Vec<accounts::CertificateAccount>, NodeError> {
        let mut client = self.connect()?;
        accounts::certificate_accounts(&mut client).map_err(|error| self.error(&error))
    }

    fn socket_users(&mut self, within_ms: u64) -> Result<Vec<String>, NodeError> {
        let mut client = self.connect()?;
        accounts::socket_users(&mut client, Duration::from_millis(within_ms))
            .map_err(|error| self.error(&error))
    }

    fn client_leaf(&mut self) -> Result<String, NodeError> {
        let options = ConnectOptions {
            endpoint: self.machine.tcp(&self.spec.address, self.spec.port),
            tls: TlsOptions::with_mode(SslMode::Required),
            ..self.login.clone()
        };
        let client = Client::connect(&options).map_err(|error| self.error(&error))?;
        client.tls().and_then(net::TlsInfo::leaf_pem).ok_or_else(|| NodeError::Refused {
            node: self.spec.name.clone(),
            why: "the client port served no certificate".into(),
        })
    }

    fn client_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError> {
        let tls =
            TlsOptions { mode: SslMode::Required, pem: Some(Arc::clone(shown)), ..TlsOptions::default() };
        let endpoint = self.machine.tcp(&self.spec.address, self.spec.port);
        let options = ConnectOptions { endpoint, tls, ..self.login.clone() };
        self.admits(Connector::new(options).and_then(|connector| connector.handshake_only(PROBE)))
    }

    fn client_takes(&mut self, offer: &TlsOffer) -> Result<OfferAnswer, NodeError> {
        let endpoint = match offer.port {
            SqlPort::Main => self.machine.tcp(&self.spec.address, self.spec.port),
            SqlPort::Admin => {
                let view = self.view()?;
                let (address, port) =
                    view.admin_port().ok_or_else(|| self.host_error("it has no admin port"))?;
                self.machine.tcp(address, port)
            }
        };
        let options =
            ConnectOptions { endpoint, tls: offer.options(), connect_timeout: PROBE, ..self.login.clone() };
        match Connector::new(options).and_then(|connector| connector.handshake()) {
            Ok(info) => info
                .leaf_pem()
                .map(OfferAnswer::Taken)
                .ok_or_else(|| self.host_error("the handshake showed no certificate")),
            Err(error) => OfferAnswer::of_error(&error).ok_or_else(|| match error {
                NetError::Tls { .. } => self.host_error(error.in_one_line()),
                _ => self.error(&error),
            }),
        }
    }

    fn at_rest(&mut self) -> Result<AtRest, NodeError> {
        let mut client = self.connect()?;
        at_rest::at_rest(&mut client).map_err(|error| self.error(&error))
    }

    fn not_read(&mut self) -> Result<Vec<NotRead>, NodeError> {
        let mut client = self.connect()?;
        at_rest::not_read(&mut client).map_err(|error| self.error(&error))
    }

    fn places_at_rest(&mut self) -> Result<PlacesAtRest, NodeError> {
        let view = self.view()?;
        let mut client = self.connect()?;
        let datafiles = at_rest::data_files(&mut client).map_err(|error| self.error(&error))?;
        let mut places = places::of(&view.variables, &datafiles);
        // Temporary files come and go: nothing is written anew there.
        places.retain(|place| place.takes != disk::Takes::Temporary);
        Ok(PlacesAtRest { datadir: places::datadir(&view.variables), places })
    }

    fn files_at_rest_in(&mut self, of: &PlacesAtRest) -> Result<disk::DataDirectory, NodeError> {
        self.machine_host()
            .data_directory(&of.datadir, &of.places, &disk::Progress::default())
            .map_err(|error| self.host_error(error))
    }
}

impl WriteMember for LiveNode {
    fn write_host(&self) -> &dyn WriteHost {
        self.machine_host()
    }

    fn stop(&mut self) -> Result<(), NodeError> {
        self.start_shows_a_server()?;
        self.service(&JobPlace::stop(&self.spec.state_dir), &self.spec.service.stop_command())
    }

    fn start(&mut self) -> Result<(), NodeError> {
        self.service(&JobPlace::start(&self.spec.state_dir), &self.spec.service.start_command())
    }
}

impl WriteNode for LiveNode {
    fn reading(&mut self) -> &mut dyn ReadNode {
        self
    }

    fn set_desync(&mut self, on: bool) -> Result<(), NodeError> {
        self.run(if on { "SET GLOBAL wsrep_desync=ON" } else { "SET GLOBAL wsrep_desync=OFF" })
    }

    fn set_require_secure_transport(&mut self, on: bool) -> Result<(), NodeError> {
        self.run(if on {
            "SET GLOBAL require_secure_transport=ON"
        } else {
            "SET GLOBAL require_secure_transport=OFF"
        })
    }

    fn set_provider_options(&mut self, options: &str) -> Result<(), NodeError> {
        if options.contains(['\'', '\\']) {
            return Err(NodeError::Refused {
                node: self.spec.name.clone(),
                why: format!("the provider options {options:?} are not written into a statement"),
            });
        }
        self.run(&format!("SET GLOBAL wsrep_provider_options='{options}'"))
    }

    fn reload_tls(&mut self) -> Result<(), NodeError> {
        // Source: on a Galera node FLUSH SSL reloads the provider's certificate too; LOCAL keeps it out of the binlog
        // (seen on 10.11.19). A node without client TLS has only the provider's switch.
        let view = self.view()?;
        if view.capabilities().live_tls_files {
            self.run(replication::RELOAD_MYSQL)
        } else if view.offers_client_tls() {
            self.run(replication::RELOAD_MARIADB)
        } else {
            self.run("SET GLOBAL wsrep_provider_options='socket.ssl_reload=1'")
        }
    }

    fn set_channel_tls(&mut self, channel: &str, tls: &ChannelTls, run: Threads) -> Result<(), NodeError> {
        let flavour = self.known_capabilities()?.flavour;
        self.run_all(&replication::change_channel(flavour, channel, tls, run))
    }

    fn start_threads(&mut self, channel: &str, threads: Threads) -> Result<(), NodeError> {
        let flavour = self.known_capabilities()?.flavour;
        self.run_all(replication::start_threads(flavour, channel, threads).as_slice())
    }

    fn set_account_tls(&mut self, account: &AccountName, on: bool) -> Result<(), NodeError> {
        self.run_all(&[accounts::require_tls(account, on)])
    }

    fn set_tls_files(&mut self, files: &TlsFiles, rules: Option<&TlsRules>) -> Result<(), NodeError> {
        self.run_all(&replication::set_tls_files(files, rules))
    }

    fn set_at_rest(&mut self, setting: &AtRestSetting) -> Result<(), NodeError> {
        let mut client = self.connect()?;
        at_rest::set(&mut client, setting).map_err(|error| self.error(&error))
    }

    fn flush_pages(&mut self, before: &LiveSettings) -> Result<bool, NodeError> {
        let mut client = self.connect()?;
        at_rest::flush_pages(&mut client, before).map_err(|error| self.error(&error))
    }

    fn rebuild(&mut self, rebuild: &Rebuild) -> Result<Rebuilt, NodeError> {
        let is_galera = self.view()?.is_galera();
        let mut client = self.connect_for_long()?;
        at_rest::rebuild(&mut client, rebuild, is_galera).map_err(|error| self.error(&error))
    }

    fn restore_settings(&mut self, before: &LiveSettings) -> Result<(), NodeError> {
        let mut client = self.connect()?;
        before.restore(&mut client).map_err(|error| self.error(&error))
    }

    fn renew_undo(&mut self, round: UndoRound, before: &LiveSettings) -> Result<(), NodeError> {
        let is_galera = self.view()?.is_galera();
        let mut client = self.connect_for_long()?;
        self.scratch_is_ours(&mut client)?;
        let login = ConnectOptions { io_timeout: STATEMENT_MAX, ..self.login.clone() };
        let open = || Client::connect(&login);
        at_rest::renew_undo(&mut client, open, round, before, is_galera).map_err(|error| self.error(&error))
    }

    fn renew_system(&mut self, tables: u32, before: &LiveSettings) -> Result<Vec<String>, NodeError> {
        let is_galera = self.view()?.is_galera();
        let mut client = self.connect_for_long()?;
        self.scratch_is_ours(&mut client)?;
        at_rest::renew_system(&mut client, tables, before, is_galera).map_err(|error| self.error(&error))
    }

    fn sample_rebuild(&mut self) -> Result<RebuildSample, NodeError> {
        let is_galera = self.view()?.is_galera();
        let mut client = self.connect_for_long()?;
        self.scratch_is_ours(&mut client)?;
        at_rest::sample_rebuild(&mut client, is_galera).map_err(|error| self.error(&error))
    }

    fn begin_binary_log(&mut self) -> Result<(), NodeError> {
        let mut client = self.connect()?;
        at_rest::begin_binary_log(&mut client).map_err(|error| self.error(&error))
    }

    fn purge_binary_logs(&mut self, keep_from: &str) -> Result<(), NodeError> {
        let mut client = self.connect()?;
        at_rest::purge_binary_logs(&mut client, keep_from).map_err(|error| self.error(&error))
    }

    fn hook(&mut self, hook: &Hook<'_>) -> Result<(), NodeError> {
        hook.command(&self.spec)
            .map_or(Ok(()), |command| self.service(&JobPlace::hook(&self.spec.state_dir), &command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_told_of_what_it_is_for() {
        let mut spec = NodeSpec::new("n1", "10.0.0.1");
        spec.drain = Some(vec!["proxy-out".into(), "n1".into()]);
        let hook = |is_drain| Hook { is_drain, change: "20261125-enable", step: "E2.n1" };
        let words = hook(true).command(&spec).expect("it has one");
        assert_eq!(words.first().map(String::as_str), Some("env"));
        let told = [
            "ACTION=drain",
            "NODE=n1",
            "ADDRESS=10.0.0.1",
            "PORT=3306",
            "CHANGE=20261125-enable",
            "STEP=E2.n1",
        ];
        assert!(told.iter().all(|one| words.contains(&format!("SEALION_{one}"))), "{words:?}");
        assert_eq!(words[words.len() - 2..], ["proxy-out", "n1"]);
        assert_eq!(hook(false).command(&spec), None);
    }

    #[test]
    fn a_start_that_brought_no_server_is_told_with_its_code_and_last_line() {
        let job = || Job { id: "1".into(), command: vec!["start".into()], began_unix_ms: 1_764_000_000_000 };
        let ended = |code| JobState::Ended { job: job(), code, said: "mounting\nno such volume\n\n".into() };
        for (state, told) in [
            (JobState::NeverBegan, None),
            (JobState::Runs(Some(job())), None),
            (ended(0), None),
            (
                ended(32),
                Some(
                    "the last start by sealion, of 2025-11-24T16:00:00.000Z, ended with exit code 32: no such volume",
                ),
            ),
            (
                JobState::CutShort { job: job(), said: String::new() },
                Some("the last start by sealion, of 2025-11-24T16:00:00.000Z, was cut short"),
            ),
        ] {
            assert_eq!(failed_start(&state).as_deref(), told, "{state:?}");
        }
    }

    /// An outsider was told to give `--ssl-ca` to `sealion rotate`, which has no such option.
    #[test]
    fn what_a_change_is_told_of_a_port_names_no_option_of_a_client() {
        let mut spec = NodeSpec::new("n1", "127.0.0.1");
        spec.tls_dir = "/srv/tls".into();
        let node = LiveNode::new(spec, ConnectOptions::default());
        for fault in [net::TlsFault::ChainNotTrusted, net::TlsFault::AfterHandshake] {
            let error = NetError::Tls { endpoint: "127.0.0.1:4567".into(), fault, why: "self-signed".into() };
            let text = node.leaf(Err(error)).expect_err("no session").to_string();
            assert!(!text.contains("--ssl-"), "{text}");
            assert!(
                text.contains("/srv/tls") && text.contains("self-signed") && text.contains("next:"),
                "{text}"
            );
        }
    }
}
