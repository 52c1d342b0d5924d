//! A real server on this machine.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use host::{Local, ProcessFacts, ReadHost, Service, WriteHost};
use model::{Clock, SystemClock};
use net::{Client, ConnectOptions, NetError, SslMode, TlsOptions};

use crate::capability::Capabilities;
use crate::node::{NodeError, NodeSpec, ReadNode, Sessions, WriteNode};
use crate::options::{self, Effective, LocalFiles, Start};
use crate::view::NodeView;

/// The service manager may take this long to stop or start a server before it is said to hang. systemd's own limit
/// for mariadb.service is 90 s to 15 min; a clean shutdown of a busy server takes its time.
const SERVICE_S_MAX: u64 = 600;
/// A service manager that does not say within this time whether a service runs is not asked again in that round.
const ASK_S_MAX: u64 = 5;
/// A server that does not keep to the protocol is asked so often before that is taken for its answer.
const CONNECTS_MAX: u32 = 3;
const CONNECT_AGAIN: Duration = Duration::from_millis(200);
const VERSION_TESTED: &str = "10.11.19-MariaDB";
const PID_FILE_BYTES_MAX: u64 = 64;
/// Only the end of a log is read.
const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A node reached over its unix socket (or TCP) and the local file system.
#[derive(Debug)]
pub struct LiveNode {
    spec: NodeSpec,
    login: ConnectOptions,
    host: Local,
    born: Instant,
    /// As it last answered.
    capabilities: Option<Capabilities>,
}

impl LiveNode {
    pub fn new(spec: NodeSpec, login: ConnectOptions) -> Self {
        Self { spec, login, host: Local, born: Instant::now(), capabilities: None }
    }

    fn connect(&self) -> Result<Client, NodeError> {
        let mut tries = 1;
        loop {
            match Client::connect(&self.login) {
                // Seen on MariaDB 10.11.19 with Galera 26.4.23, while a strict joiner ended its IST: a TLS record (17 03 03)
                // came instead of the greeting, over the unix socket. The next connection was fine.
                Err(NetError::PeerMisbehaved { .. }) if tries < CONNECTS_MAX => {
                    tries += 1;
                    std::thread::sleep(CONNECT_AGAIN);
                }
                result => return result.map_err(|error| self.error(&error)),
            }
        }
    }

    fn error(&self, error: &NetError) -> NodeError {
        let (node, why) = (self.spec.name.clone(), error.to_string());
        match error {
            NetError::Unreachable { .. } | NetError::TimedOut { .. } => NodeError::Down { node, why },
            _ => NodeError::Refused { node, why },
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

    fn run(&self, sql: &str) -> Result<(), NodeError> {
        self.connect()?.execute(sql).map(|_| ()).map_err(|error| self.error(&error))
    }

    fn resolve(&self, groups: &[String]) -> Result<Effective, NodeError> {
        options::resolve(&Start::DefaultsFile(self.spec.defaults_file.clone()), groups, &LocalFiles)
            .map_err(|error| NodeError::Host { node: self.spec.name.clone(), why: error.to_string() })
    }

    fn service(&self, command: &[String]) -> Result<(), NodeError> {
        self.host
            .run(command, Duration::from_secs(SERVICE_S_MAX))
            .map(|_| ())
            .map_err(|error| NodeError::Host { node: self.spec.name.clone(), why: error.to_string() })
    }

    fn leaf(&self, probe: Result<net::TlsProbe, NetError>) -> Result<String, NodeError> {
        let probe = probe.map_err(|error| self.error(&error))?;
        if let net::Outcome::RefusedAfterHandshake { alert } = probe.outcome {
            return Err(NodeError::Refused { node: self.spec.name.clone(), why: alert });
        }
        probe.leaf_pem.ok_or_else(|| NodeError::Refused {
            node: self.spec.name.clone(),
            why: "the handshake showed no certificate".into(),
        })
    }
}

impl ReadNode for LiveNode {
    fn spec(&self) -> &NodeSpec {
        &self.spec
    }

    fn view(&mut self) -> Result<NodeView, NodeError> {
        let mut client = self.connect()?;
        let variables = self.pairs(&mut client, "SHOW GLOBAL VARIABLES")?;
        let mut status = self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'wsrep%'")?;
        status.extend(self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'Ssl%'")?);
        status.extend(self.pairs(&mut client, "SHOW GLOBAL STATUS LIKE 'Uptime'")?);
        let view = NodeView { variables, status, at_unix_ms: SystemClock.unix_ms() };
        self.capabilities = Some(view.capabilities());
        Ok(view)
    }

    fn sessions(&mut self) -> Result<Sessions, NodeError> {
        let mut client = self.connect()?;
        let me = client.connection_id().to_string();
        let list = client.query("SHOW FULL PROCESSLIST").map_err(|error| self.error(&error))?;
        let mut seen = Sessions::default();
        let mut ids = Vec::new();
        for row in list.iter() {
            let user = row.text("User").unwrap_or_default();
            let id = row.text("Id").unwrap_or_default().into_owned();
            // The server's own threads (appliers, event scheduler) and this connection are not users.
            if user == "system user" || user == "event_scheduler" || id == me {
                continue;
            }
            seen.users += 1;
            if row.text("Command").unwrap_or_default() == "Sleep" {
                ids.push(id);
            } else {
                seen.busy += 1;
            }
        }
        // A sleeping connection may hold a transaction open.
        if !ids.is_empty()
            && let Ok(open) = client.query("SELECT trx_mysql_thread_id FROM information_schema.innodb_trx")
        {
            seen.busy += open
                .iter()
                .filter(|row| row.at(0).is_some_and(|id| ids.iter().any(|one| *one == id)))
                .count();
        }
        Ok(seen)
    }

    fn process(&mut self) -> Option<ProcessFacts> {
        let path = self.spec.pid_file.as_ref()?;
        let text = self.host.read(path, PID_FILE_BYTES_MAX).ok()??;
        let pid = String::from_utf8_lossy(&text).trim().parse().ok()?;
        self.host.process(pid)
    }

    fn alive(&mut self) -> Option<bool> {
        let limit = Duration::from_secs(ASK_S_MAX);
        match &self.spec.service {
            // Source: systemctl(1): ActiveState is active, activating, reloading, deactivating, inactive or failed.
            Service::Systemd { unit } => {
                let words = ["systemctl", "show", "-p", "ActiveState", "--value", unit].map(str::to_owned);
                let state = self.host.run(&words, limit).ok()?;
                Some(matches!(state.trim(), "active" | "activating" | "reloading" | "deactivating"))
            }
            Service::Commands { alive: Some(alive), .. } => Some(self.host.run(alive, limit).is_ok()),
            Service::Commands { alive: None, .. } => None,
        }
    }

    fn effective(&mut self) -> Result<Effective, NodeError> {
        if self.capabilities.is_none() {
            // A node that is down cannot be asked: its files are read as the version that we know best reads them.
            let _ = self.view();
        }
        let known = || Capabilities::of(VERSION_TESTED, "", false);
        let groups = self.capabilities.clone().unwrap_or_else(known).option_groups();
        self.resolve(&groups)
    }

    fn effective_sst(&mut self) -> Result<Effective, NodeError> {
        self.resolve(&["sst".to_owned()])
    }

    fn host(&self) -> &dyn ReadHost {
        &self.host
    }

    fn galera_leaf(&mut self) -> Result<String, NodeError> {
        let address = format!("{}:{}", self.spec.address, self.spec.galera_port);
        let address = address.parse().map_err(|_| NodeError::Host {
            node: self.spec.name.clone(),
            why: format!("{address} is not an address and a port"),
        })?;
        let tls = TlsOptions {
            mode: SslMode::VerifyCa,
            ca: Some(self.spec.tls_dir.join("ca.pem")),
            cert: Some(self.spec.tls_dir.join("node-cert.pem")),
            key: Some(self.spec.tls_dir.join("node-key.pem")),
            ..TlsOptions::default()
        };
        self.leaf(net::tls_probe(address, None, &tls, Duration::from_millis(1500)))
    }

    fn client_leaf(&mut self) -> Result<String, NodeError> {
        let options = ConnectOptions {
            endpoint: net::Endpoint::tcp(self.spec.address.clone(), self.spec.port),
            tls: TlsOptions::with_mode(SslMode::Required),
            ..self.login.clone()
        };
        let client = Client::connect(&options).map_err(|error| self.error(&error))?;
        client.tls().and_then(net::TlsInfo::leaf_pem).ok_or_else(|| NodeError::Refused {
            node: self.spec.name.clone(),
            why: "the client port served no certificate".into(),
        })
    }

    fn wait(&mut self, how_long: Duration) {
        std::thread::sleep(how_long);
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        let Some(path) = &self.spec.error_log else { return Vec::new() };
        let Ok(Some(bytes)) = self.host.read(path, LOG_BYTES_MAX) else { return Vec::new() };
        let text = String::from_utf8_lossy(&bytes);
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].iter().map(|&line| line.to_owned()).collect()
    }
}

impl WriteNode for LiveNode {
    fn reading(&mut self) -> &mut dyn ReadNode {
        self
    }

    fn write_host(&self) -> &dyn WriteHost {
        &self.host
    }

    fn stop(&mut self) -> Result<(), NodeError> {
        self.service(&self.spec.service.stop_command())
    }

    fn start(&mut self) -> Result<(), NodeError> {
        self.service(&self.spec.service.start_command())
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

    fn reload_tls(&mut self) -> Result<(), NodeError> {
        // Source: on a Galera node FLUSH SSL reloads the provider's certificate too; LOCAL keeps it out of the binlog
        // (seen on 10.11.19). A node without client TLS has only the provider's switch.
        if self.view()?.offers_client_tls() {
            self.run("FLUSH LOCAL SSL")
        } else {
            self.run("SET GLOBAL wsrep_provider_options='socket.ssl_reload=1'")
        }
    }

    fn hook(&mut self, drained: bool) -> Result<(), NodeError> {
        let hook = if drained { &self.spec.drain } else { &self.spec.undrain };
        hook.clone().map_or(Ok(()), |command| self.service(&command))
    }
}
