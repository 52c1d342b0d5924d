//! One server: what it makes of its files when it starts, and how it ends.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use formats::shell_vars::ShellVars;
use host::{ProcessFacts, Service};
use model::NodeName;
use server::options::persisted;
use server::options::{self, Effective, Start};
use server::{Flavour, GaleraState, LiveSetting, Logins, NodeSpec, ProviderOptions, TlsRules};
use trust::{Ca, CaSpec, KeyKind};

use super::channels::SimChannel;
use super::disk::{Disk, MYSQL, NOBODY, ROOT, TCP_HEAD, TCP_TABLE};
use super::tls_library::{self, SimLibrary};
use super::world::{
    DATA_DIR, DEFAULTS_FILE, GARB_FILE, GARB_STATE_DIR, GARB_TLS_DIR, STATE_DIR, TLS_DIR, World,
};

/// systemd's RestartSec for mariadb.service on Debian.
pub(super) const SYSTEMD_RESTART_MS: u64 = 5_000;

/// What is left of a cluster without a primary component needs so long when the cause has left.
const SETTLED_MS: u64 = 3_000;

/// How group communication connects, from the string at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    Plain,
    Either,
    Tls,
}

/// Key, certificate and trust in memory.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    pub cert: Vec<u8>,
    /// Everything that was ever loaded: a reload adds trust and never removes it.
    pub trusted: Vec<u8>,
}

/// The certificate that clients are served, and by which CAs theirs are judged.
#[derive(Debug, Clone)]
pub struct ClientTls {
    pub leaf: Vec<u8>,
    /// `None`: no `ssl_ca`.
    pub ca: Option<Vec<u8>>,
}

/// What a running server has read.
#[derive(Debug, Clone)]
pub struct Live {
    pub options: ProviderOptions,
    /// As `SHOW VARIABLES` gives it.
    pub read_back: String,
    pub letter: char,
    pub speaks: Speaks,
    /// It announces an ssl:// receiver for IST.
    pub ist_ssl: bool,
    pub galera: Option<Identity>,
    /// `ssl_ca`, `ssl_cert`, `ssl_key` as they are in use.
    pub ssl_paths: [String; 3],
    /// As the variables show them: of MySQL a wish, until it reloads.
    pub tls_wish: [String; 3],
    /// Versions and suites in use.
    pub rules: TlsRules,
    /// As the variables show them: of MySQL a wish, until it reloads.
    pub rules_wish: TlsRules,
    /// What clients meet; `None` is `have_ssl=DISABLED`.
    pub client: Option<ClientTls>,
    /// What X Plugin has read when it started.
    pub x_client: Option<ClientTls>,
    pub requires_tls: bool,
    pub sst_method: String,
    pub cluster_address: String,
    /// Counts reloads.
    pub generation: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub born_ms: u64,
    /// When it opens its group communication.
    pub connects_ms: u64,
    /// `pc.wait_prim_timeout`: without a primary view until then it ends by itself.
    pub gives_up_ms: u64,
    /// Whether the SQL port is open.
    pub answers: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Not running, or its group communication is not open yet.
    Out,
    /// Looks for a primary component.
    Seeking,
    /// Was in a primary component that lost its quorum.
    NonPrimary,
    Primary,
}

/// Sessions that do not leave when health checks say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LingeringSessions {
    #[default]
    None,
    Idle,
    Busy,
}

#[derive(Debug, Clone)]
pub struct Server {
    pub spec: NodeSpec,
    /// MariaDB or MySQL.
    pub flavour: Flavour,
    /// Without files it makes a certificate in memory, another one at each start and each FLUSH SSL, as MariaDB 11.8 does.
    pub makes_certificates: bool,
    /// Its TLS library has not heard of the suites that it is told.
    pub knows_no_suites: bool,
    /// From outside it goes on to take what its variables forbid, since somebody else answers at its port.
    pub takes_all: bool,
    /// The newest version that its TLS library has as a client.
    pub speaks_at_most: &'static str,
    /// MySQL: it has let in the account of its replicas since its start, and does so again by caching_sha2_password without TLS.
    pub remembers_login: bool,
    /// It is no node of the Galera cluster.
    pub is_by_itself: bool,
    /// It votes, and has no data and no SQL port (garbd).
    pub is_arbitrator: bool,
    pub disk: Disk,
    pub process: Option<Process>,
    pub live: Option<Live>,
    pub group: Group,
    /// 0 Initialized, 1 Joining, 2 Donor/Desynced, 3 Joined, 4 Synced.
    pub local_state: u8,
    /// `SET GLOBAL wsrep_desync=ON` by somebody.
    pub desync: u32,
    /// It was desynced when it fell out of the group, and came back: the variable still says ON, and it is in service.
    pub desync_was_lost: bool,
    /// Serves a state transfer until then.
    pub donates_until_ms: Option<u64>,
    pub transfer: Option<super::transfer::Progress>,
    /// The last primary view it was in and its number: in memory, and in gvwstate.dat until a clean stop.
    pub last_view: Option<(u64, BTreeSet<usize>)>,
    pub crashed_ms: Option<u64>,
    /// The newest write it has, in the one order that all members agree on.
    pub seqno: u64,
    pub log: Vec<String>,
    /// Nobody can read it: the inventory names none, or it was moved away.
    pub hides_log: bool,
    pub lingering_sessions: LingeringSessions,
    pub unhealthy_since_ms: Option<u64>,
    pub extra_arguments: Vec<String>,
    pub state_uuid: String,
    /// Variables that are shown otherwise than they are; `None` hides one.
    pub shown: BTreeMap<String, Option<String>>,
    /// Status variables that are shown besides.
    pub shown_status: BTreeMap<String, String>,
    /// Why it cannot be started at all, e.g. its disk is broken.
    pub broken: Option<String>,
    /// A state of group communication that this server fails to start with.
    pub cannot_speak: Option<Speaks>,
    /// So many of its starts beside a dynamic member end with error 131.
    pub stumbles: u32,
    /// A strict member has told others of it: they know it by `ssl://` until it has left.
    pub heard_as_tls: bool,
    /// When it has said good-bye: the others take a moment to agree on a view without it.
    pub left_ms: Option<u64>,
    /// The service manager starts it again after a crash.
    pub restarts_by_itself: bool,
    /// The manager was told to stop it since it crashed, and does not start it again.
    pub is_told_to_stop: bool,
    /// What its service manager hands to it.
    pub environment: Vec<String>,
    /// Something that nobody sees before makes it begin a cluster of its own, with this state UUID.
    pub founds: Option<String>,
    /// It was stopped, and the others did not hear that it left.
    pub left_unheard: bool,
    /// It is a cluster of its own.
    pub runs_alone: bool,
    /// It holds writes of a cluster of its own, under the state UUID of the others.
    pub has_diverged: bool,
    /// What its program says to `--version`; `None`: nothing.
    pub program_version: Option<String>,
    pub tls_library: SimLibrary,
    /// A command that starts it runs (`host::job`), and brings its process at this time.
    pub start_job_ms: Option<u64>,
    /// It was laid out beside the cluster and is no member, unless somebody has made it one.
    pub is_spare: bool,
    /// `wsrep_sst_donor`.
    pub wants_donor: Option<usize>,
    pub refuses_login: bool,
    /// Privileges that the account of the inventory does not have on it.
    pub lacks: Vec<&'static str>,
    /// `SHOW GRANTS` is refused (skip_grant_tables).
    pub hides_grants: bool,
    /// Which sockets its process has cannot be looked at.
    pub hides_sockets: bool,
    /// A garbd of another cluster on its machine, which is connected to a Galera port of this one's first node.
    pub garbd_beside: Option<ProcessFacts>,
    /// What systemd says of its unit.
    pub unit_load_state: String,
    /// It does not run its threads, from when until when (SIGSTOP, a host that stalls). Nobody at a distance can tell that from
    /// other silence.
    pub frozen_ms: Option<(u64, u64)>,
    /// Sealion has no agent on its host.
    pub lost_host: Option<super::hosts::LostHost>,
    /// The host was lost while a request was under way.
    pub in_flight: Option<super::hosts::InFlight>,
    /// Its socket file was removed: it serves others, and sealion does not reach it.
    pub is_out_of_reach: bool,
    /// Each of its answers takes so long: below what is waited for.
    pub answers_late_ms: u64,
    /// Its stop command ends well and stops nothing: in the inventory it is another node's.
    pub stop_is_anothers: bool,
    /// The service manager does not say whether it runs.
    pub manager_is_silent: bool,
    /// Sessions of its clients that do not use TLS whatever is offered.
    pub cleartext_clients: u32,
    /// Replicas of it that are not among the servers.
    pub foreign_replicas: Vec<String>,
    /// What its counters say of logins.
    pub logins: Logins,
    /// What was set in it, until its next start.
    pub live_settings: Vec<LiveSetting>,
    /// The account may not ask for them.
    pub hides_live_settings: bool,
    /// Of which it is the replica, outside of Galera.
    pub channels: Vec<SimChannel>,
    /// Transactions that it has applied, by the server that wrote them, while it does not receive.
    pub has: BTreeMap<usize, u64>,
}

impl Server {
    pub fn new(index: usize) -> Self {
        let number = index + 1;
        let spec = NodeSpec {
            name: NodeName::new(format!("n{number}")),
            address: format!("10.77.{}.{}", number / 256, number % 256),
            names: vec![format!("db{number}.example.net")],
            proxies: BTreeMap::new(),
            port: 3306,
            galera_port: 4567,
            socket: Some("/run/mysqld/mysqld.sock".into()),
            pid_file: Some("/run/mysqld/mysqld.pid".into()),
            error_log: Some("/var/log/mysql/error.log".into()),
            defaults_file: DEFAULTS_FILE.into(),
            tls_dir: TLS_DIR.into(),
            state_dir: STATE_DIR.into(),
            service: Service::Systemd { unit: "mariadb".into() },
            drain: None,
            undrain: None,
        };
        let mut disk = Disk::new();
        disk.put(tls_library::LIBRARY, tls_library::VERSION, ROOT, 0o644);
        disk.put(tls_library::LIBRARY_LIST, format!("/.\n{}\n", tls_library::LIBRARY), ROOT, 0o644);
        Self {
            spec,
            flavour: Flavour::MariaDb,
            makes_certificates: false,
            knows_no_suites: false,
            takes_all: false,
            speaks_at_most: "TLSv1.3",
            remembers_login: false,
            is_by_itself: false,
            is_arbitrator: false,
            disk,
            process: None,
            live: None,
            group: Group::Out,
            local_state: 0,
            desync: 0,
            desync_was_lost: false,
            donates_until_ms: None,
            transfer: None,
            last_view: None,
            crashed_ms: None,
            seqno: 0,
            log: vec![],
            hides_log: false,
            lingering_sessions: LingeringSessions::None,
            unhealthy_since_ms: None,
            extra_arguments: vec![],
            state_uuid: "6b1f8a5e-c6a3-11f0-8b1e-3f1f0f0f0f0f".into(),
            shown: BTreeMap::new(),
            shown_status: BTreeMap::new(),
            broken: None,
            cannot_speak: None,
            stumbles: 0,
            heard_as_tls: false,
            left_ms: None,
            restarts_by_itself: false,
            is_told_to_stop: false,
            program_version: Some(
                "/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-deb12 for debian-linux-gnu on x86_64".into(),
            ),
            tls_library: SimLibrary::default(),
            start_job_ms: None,
            is_spare: false,
            environment: vec![],
            founds: None,
            left_unheard: false,
            runs_alone: false,
            has_diverged: false,
            wants_donor: None,
            refuses_login: false,
            lacks: vec![],
            hides_grants: false,
            hides_sockets: false,
            garbd_beside: None,
            unit_load_state: "loaded".into(),
            frozen_ms: None,
            lost_host: None,
            in_flight: None,
            is_out_of_reach: false,
            answers_late_ms: 0,
            stop_is_anothers: false,
            manager_is_silent: false,
            cleartext_clients: 0,
            foreign_replicas: vec![],
            live_settings: vec![],
            hides_live_settings: false,
            channels: vec![],
            has: BTreeMap::new(),
            logins: Logins { since_s: 60, by_host: Err("userstat is OFF".into()), without_tls_max: Some(3) },
        }
    }

    /// `evs.suspect_timeout` of the running one.
    pub fn suspect_timeout(&self) -> String {
        let read_back = self.live.as_ref().map_or("", |live| live.read_back.as_str());
        ProviderOptions::parse(read_back).get("evs.suspect_timeout").unwrap_or_default().to_owned()
    }

    /// What counts from its next start on.
    pub fn upgrade_to_11_8(&mut self) {
        self.makes_certificates = true;
        self.shown.insert("version".into(), Some("11.8.9-MariaDB-deb13".into()));
        self.program_version =
            Some("/usr/sbin/mariadbd  Ver 11.8.9-MariaDB-deb13 for debian-linux-gnu on x86_64".into());
    }

    /// As MySQL's own packages have it.
    pub fn mysql(index: usize) -> Self {
        let mut server = Self::new(index);
        server.flavour = Flavour::MySql;
        server.spec.service = Service::Systemd { unit: "mysql".into() };
        server.program_version =
            Some("/usr/sbin/mysqld  Ver 9.7.4 for Linux on x86_64 (MySQL Community Server - GPL)".into());
        server
    }

    /// As Debian's package has it, beside `nodes`.
    pub fn arbitrator(index: usize, nodes: &str) -> Self {
        let mut server = Self::new(index);
        server.is_arbitrator = true;
        server.spec = NodeSpec {
            defaults_file: GARB_FILE.into(),
            tls_dir: GARB_TLS_DIR.into(),
            state_dir: GARB_STATE_DIR.into(),
            service: Service::Systemd { unit: "garb".into() },
            port: 0,
            ..NodeSpec::new("garb1", server.spec.address)
        };
        server.disk.put(
            GARB_FILE,
            format!(
                "# Copyright (C) 2012 Codership Oy\n# This config file is to be sourced by garb service script.\n\n\
                 GALERA_NODES=\"{nodes}\"\n\nGALERA_GROUP=\"sim\"   # as the nodes\n\n# GALERA_OPTIONS=\"\"\n\n# WORK_DIR=\"\"\n"
            ),
            ROOT,
            0o644,
        );
        server.disk.put(TCP_TABLE, TCP_HEAD, ROOT, 0o444);
        server
    }

    /// # Errors
    /// As the server says it: the account does not have one of these.
    pub(super) fn needs(&self, privileges: &[&str]) -> Result<(), String> {
        match privileges.iter().find(|one| self.lacks.contains(one)) {
            None => Ok(()),
            Some(privilege) => Err(format!(
                "ERROR 1227 (42000): Access denied; you need (at least one of) the {privilege} privilege(s) for this operation"
            )),
        }
    }

    /// Of any other unit systemd has not heard.
    pub(super) fn unit_state_of(&self, unit: &str) -> String {
        let own = match () {
            () if self.is_arbitrator => "garb",
            () if self.flavour == Flavour::MySql => "mysql",
            () => "mariadb",
        };
        if own == unit { self.unit_load_state.clone() } else { "not-found".into() }
    }

    /// What `SHOW GRANTS` lists: what sealion asks for, but for what this account lacks.
    pub(super) fn shown_grants(&self) -> Vec<String> {
        let has = |privilege: &&&str| !self.lacks.contains(*privilege);
        let global: &[&str] = if self.flavour == Flavour::MySql {
            &[
                "PROCESS",
                "REPLICATION CLIENT",
                "CREATE USER",
                "CONNECTION_ADMIN",
                "REPLICATION_SLAVE_ADMIN",
                "SYSTEM_VARIABLES_ADMIN",
            ]
        } else {
            &["RELOAD", "PROCESS", "SUPER", "CREATE USER", "REPLICATION SLAVE ADMIN", "SLAVE MONITOR"]
        };
        let on = [
            ("ALL PRIVILEGES", "`sealion_canary`.*"),
            ("SELECT", "`performance_schema`.`threads`"),
            ("SELECT", "`performance_schema`.`status_by_thread`"),
            ("SELECT", "`mysql`.`user`"),
        ];
        let listed: Vec<&str> = global.iter().filter(has).copied().collect();
        let on = on.iter().filter(|(_, object)| !self.lacks.contains(object));
        std::iter::once(format!("GRANT {} ON *.* TO `sealion`@`10.%`", listed.join(", ")))
            .chain(on.map(|(what, object)| format!("GRANT {what} ON {object} TO `sealion`@`10.%`")))
            .collect()
    }

    /// Whom it runs as.
    pub fn uid(&self) -> u32 {
        if self.is_arbitrator { NOBODY } else { MYSQL }
    }

    /// One that is no member, and need not be one.
    pub fn is_out(&self) -> bool {
        self.is_spare && self.process.is_none()
    }

    /// Nobody has set wsrep_desync.
    pub fn is_in_step(&self) -> bool {
        self.desync == 0 && !self.desync_was_lost
    }

    /// A view that it is new in does not count what it was desynced by.
    ///
    /// Seen: MariaDB 10.11.19 with Galera 26.4.23, cut off for 12 s with wsrep_desync=ON: back in the group the variable is ON,
    /// wsrep_desync_count 0, and it is Synced.
    pub fn forget_desync(&mut self) {
        self.desync_was_lost |= self.desync > 0;
        self.desync = 0;
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen_ms.is_some()
    }

    pub fn name(&self) -> String {
        self.spec.name.to_string()
    }

    pub fn is_up(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.answers)
    }

    pub fn process_facts(&self) -> Option<ProcessFacts> {
        let process = self.process.as_ref()?;
        let mut command_line = vec![self.program().to_owned()];
        command_line.extend(self.extra_arguments.iter().cloned());
        let (pid, uid) = (process.pid, self.uid());
        Some(ProcessFacts { pid, uid, gid: uid, command_line, start_ticks: process.born_ms / 10 })
    }

    pub fn program(&self) -> &'static str {
        match self.flavour {
            _ if self.is_arbitrator => "/usr/bin/garbd",
            Flavour::MySql => "/usr/sbin/mysqld",
            _ => "/usr/sbin/mariadbd",
        }
    }

    pub fn effective(&self, groups: &[String]) -> Result<Effective, String> {
        options::resolve(&Start::DefaultsFile(self.spec.defaults_file.clone()), groups, &self.disk)
            .map_err(|error| error.to_string())
    }

    pub fn server_options(&self) -> Result<Effective, String> {
        if !self.is_mysql() {
            return self.effective(&options::default_groups(true, "10.11", true));
        }
        let mut effective = self.effective(&options::default_groups(false, "9.7", false))?;
        let path = super::mysql::in_data_dir(persisted::FILE);
        if let Some(bytes) = self.disk.entries.get(&path).and_then(|entry| entry.bytes.as_ref()) {
            effective.settings.extend(persisted::settings(bytes, &path)?);
        }
        Ok(effective)
    }

    /// What its script does at the moment of a transfer: TLS or cleartext.
    pub fn sst_is_tls(&self) -> bool {
        self.effective(&["sst".to_owned()]).is_ok_and(|options| {
            let set = |key: &str| options.effective(key).is_some();
            set("tkey") && set("tcert") && set("tca") && set("ssl_mode")
        })
    }

    pub fn read_identity(&self, options: &ProviderOptions) -> Result<Identity, String> {
        let read = |key: &str| {
            let path = options.get(key).unwrap_or("");
            self.disk.open_as(self.uid(), Path::new(path)).map_err(|why| {
                format!(
                    "Bad value '{path}' for SSL parameter '{key}': 2: 'error:80000002:system library::{why}'"
                )
            })
        };
        let (ca, cert, key) = (read("socket.ssl_ca")?, read("socket.ssl_cert")?, read("socket.ssl_key")?);
        if !is_pair(cert, key) {
            return Err(format!(
                "Bad value '{}' for SSL parameter 'socket.ssl_key': 1: 'error:05800074:x509 certificate routines::key values mismatch'",
                options.get("socket.ssl_key").unwrap_or("")
            ));
        }
        if !ca.starts_with(b"-----BEGIN CERTIFICATE") {
            return Err("Bad value for SSL parameter 'socket.ssl_ca'".to_owned());
        }
        Ok(Identity { cert: cert.to_vec(), trusted: ca.to_vec() })
    }

    /// Which it takes where nobody has said.
    pub fn versions(&self) -> &'static str {
        if self.is_mysql() { "TLSv1.2,TLSv1.3" } else { "TLSv1.1,TLSv1.2,TLSv1.3" }
    }

    pub fn read_client_tls(&self, [ca, cert, key]: &[String; 3]) -> Option<ClientTls> {
        let open = |path: &String| self.disk.open_as(MYSQL, &super::mysql::in_data_dir(path)).ok();
        let (leaf, key) = (open(cert)?, open(key)?);
        let ca = if ca.is_empty() { None } else { Some(open(ca)?.to_vec()) };
        is_pair(leaf, key).then(|| ClientTls { leaf: leaf.to_vec(), ca })
    }

    /// What the start script of an arbitrator hands to it.
    fn garb_options(&self) -> Result<String, String> {
        let bytes = self.disk.open_as(self.uid(), Path::new(GARB_FILE))?;
        let file = ShellVars::parse(bytes, GARB_FILE).map_err(|error| error.to_string())?;
        let options = file.get("GALERA_OPTIONS").map_err(|error| error.to_string())?;
        Ok(options.map_or_else(String::new, |(text, _)| text.to_owned()))
    }

    /// What a server that starts now makes of its files, or the line with which it ends at once.
    pub fn read_files(&self) -> Result<Live, String> {
        let effective = if self.is_arbitrator { None } else { Some(self.server_options()?) };
        let value = |key: &str| {
            let setting = effective.as_ref().and_then(|effective| effective.effective(key));
            setting.and_then(|setting| setting.value.clone()).unwrap_or_default()
        };
        let text = if self.is_arbitrator { self.garb_options()? } else { value("wsrep_provider_options") };
        let options = ProviderOptions::parse(&text);
        let yes = |key: &str| {
            options
                .get(key)
                .map(|value| matches!(value.to_ascii_lowercase().as_str(), "yes" | "1" | "true" | "on"))
        };
        let has = |key: &str| options.get(key).is_some_and(|path| !path.is_empty());
        let has_paths = ["socket.ssl_key", "socket.ssl_cert", "socket.ssl_ca"].into_iter().any(has);
        // Seen: key paths without any socket.ssl mean socket.ssl=YES.
        let ssl = yes("socket.ssl").unwrap_or(has_paths);
        let dynamic = yes("socket.dynamic") == Some(true);
        let speaks = match (ssl, dynamic) {
            (true, false) => Speaks::Tls,
            (true, true) => Speaks::Either,
            (false, _) => Speaks::Plain,
        };
        if self.cannot_speak == Some(speaks) {
            return Err("Bad value for socket.dynamic".into());
        }
        let galera = if ssl { Some(self.read_identity(&options)?) } else { None };
        let read_back = read_back(&options, speaks);
        let letter = GaleraState::of(&ProviderOptions::parse(&read_back)).letter();
        let mut ssl_paths = ["ssl_ca", "ssl_cert", "ssl_key"].map(value);
        if self.is_mysql() && ssl_paths.iter().all(String::is_empty) {
            ssl_paths = super::mysql::OWN_FILES.map(str::to_owned);
        }
        let client = if self.makes_certificates && ssl_paths.iter().all(String::is_empty) {
            Some(made_in_memory())
        } else {
            self.read_client_tls(&ssl_paths)
        };
        let rules: TlsRules = TlsRules::names(self.flavour)
            .into_iter()
            .map(|option| match (option.as_str(), value(&option)) {
                ("tls_version", unset) if unset.is_empty() => (option, self.versions().to_owned()),
                (_, value) => (option, value),
            })
            .collect();
        if self.knows_no_suites && rules.get("ssl_cipher").is_some_and(|suites| !suites.is_empty()) {
            return Err("SSL error: Failed to set ciphers to use. Failed to setup SSL".into());
        }
        let wants_tls = ssl_paths[1..].iter().any(|path| !path.is_empty());
        // Seen: MariaDB 10.11.19 ends; MySQL 9.7.4 goes on without TLS.
        if wants_tls && client.is_none() && !self.is_mysql() {
            return Err("SSL error: Unable to get private key. Failed to setup SSL".into());
        }
        Ok(Live {
            read_back,
            letter,
            speaks,
            // Source: IST picks ssl:// when socket.ssl_key is non-empty and dynamic is off.
            ist_ssl: has("socket.ssl_key") && !dynamic,
            galera,
            x_client: client.clone(),
            client,
            rules_wish: rules.clone(),
            rules,
            tls_wish: ssl_paths.clone(),
            ssl_paths,
            requires_tls: value("require_secure_transport").eq_ignore_ascii_case("on"),
            sst_method: value("wsrep_sst_method"),
            cluster_address: value("wsrep_cluster_address"),
            generation: 0,
            options,
        })
    }
}

/// Seen on 11.8.9: self-signed, for ten years, without a name.
fn made_in_memory() -> ClientTls {
    let spec = CaSpec { common_name: "MariaDB Server".into(), valid_days: 3650, key: KeyKind::EcP256 };
    let made = Ca::create(&spec, 1_780_000_000).expect("made");
    ClientTls { leaf: made.cert_pem().into_bytes(), ca: None }
}

thread_local! {
    /// Every start asks this of the same bytes; a pure answer is remembered.
    static PAIRS: RefCell<BTreeMap<u64, bool>> = const { RefCell::new(BTreeMap::new()) };
}

pub(super) fn is_pair(cert: &[u8], key: &[u8]) -> bool {
    let mut hasher = DefaultHasher::new();
    (cert, key).hash(&mut hasher);
    PAIRS.with_borrow_mut(|pairs| {
        *pairs.entry(hasher.finish()).or_insert_with(|| trust::pair_matches(cert, key).is_ok())
    })
}

fn read_back(options: &ProviderOptions, speaks: Speaks) -> String {
    let scheme = if speaks == Speaks::Tls { "ssl" } else { "tcp" };
    let mut all = ProviderOptions::parse(
        "base_port = 4567; evs.inactive_timeout = PT15S; evs.install_timeout = PT7.5S; evs.keepalive_period = PT1S; evs.suspect_timeout = PT5S; gcache.size = 128M; gmcast.segment = 0; \
         pc.ignore_quorum = false; pc.ignore_sb = false; pc.recovery = true; pc.wait_prim_timeout = PT30S; pc.weight = 1; socket.checksum = 2; socket.recv_buf_size = auto; ",
    );
    for (key, value) in options.iter() {
        all.set(key, value);
    }
    let address = options.get("gmcast.listen_addr").unwrap_or("tcp://0.0.0.0:4567");
    let address = address.split_once("://").map_or(address, |(_, rest)| rest);
    all.set("gmcast.listen_addr", &format!("{scheme}://{address}"));
    if speaks != Speaks::Plain {
        all.set("socket.ssl", "YES");
        all.set("socket.ssl_cipher", "");
        all.set("socket.ssl_reload", "1");
    }
    let pairs: Vec<String> = all.iter().map(|(key, value)| format!("{key} = {value}; ")).collect();
    pairs.concat()
}

impl World {
    pub fn log(&mut self, index: usize, level: &str, text: &str) {
        let line = format!("{:>8} [{level}] {text}", self.now_ms);
        self.servers[index].log.push(line);
    }

    fn spawn(&mut self, index: usize) -> bool {
        if self.servers[index].process.is_some() {
            return true;
        }
        // What was told of one that has ended is forgotten.
        self.servers[index].heard_as_tls = false;
        let begins = if self.servers[index].is_mysql() {
            "/usr/sbin/mysqld (mysqld 9.7.4) starting as process 1"
        } else {
            "Starting MariaDB 10.11.19-MariaDB-deb12 source revision"
        };
        self.log(index, "Note", begins);
        let read = self.servers[index].broken.clone().map_or_else(|| self.servers[index].read_files(), Err);
        let live = match read {
            Ok(live) => live,
            Err(why) => {
                self.log(index, "ERROR", &format!("WSREP: Failed to load provider: {why}"));
                self.log(index, "ERROR", "Aborting");
                return false;
            }
        };
        self.next_pid += 1;
        let (connects, gives_up) = (self.rng.between(800, 1500), self.rng.between(30_000, 40_000));
        let now = self.now_ms + self.starts_slower_ms;
        let pid = self.next_pid;
        if live.speaks != Speaks::Plain {
            self.log(index, "Note", "WSREP: not using SSL compression");
        }
        let server = &mut self.servers[index];
        server.is_told_to_stop = false;
        server.live = Some(live);
        server.process = Some(Process {
            pid,
            born_ms: self.now_ms,
            connects_ms: now + connects,
            gives_up_ms: now + gives_up,
            answers: false,
        });
        server.group = Group::Out;
        (server.local_state, server.desync, server.donates_until_ms, server.transfer) = (0, 0, None, None);
        server.desync_was_lost = false;
        let is_alone = self.servers[index].is_by_itself;
        let server = &mut self.servers[index];
        // Without it, or with that of another history, a server asks for the whole data.
        let grastate = server.disk.text(GRASTATE).unwrap_or_default();
        let knows = grastate.lines().find_map(|line| line.strip_prefix("uuid:")).map(str::trim);
        if !is_alone && !server.is_arbitrator && server.founds.is_none() && knows != Some(&server.state_uuid)
        {
            (server.seqno, server.has_diverged) = (0, false);
        }
        if is_alone {
            self.due_at(now + connects, index);
        } else if !server.is_arbitrator {
            let grastate = format!("# GALERA saved state\nuuid:    {}\nseqno:   -1\n", server.state_uuid);
            server.disk.put(GRASTATE, grastate, MYSQL, 0o600);
        }
        true
    }

    /// As the service manager does: nothing happens if it runs already.
    pub fn start(&mut self, index: usize) {
        self.spawn(index);
    }

    /// A command that starts it, which takes its time before there is a process. Two at once would be two servers.
    pub(super) fn begin_start(&mut self, index: usize) {
        let now = self.now_ms;
        let server = &mut self.servers[index];
        if server.start_job_ms.is_some() {
            let line = format!("{now} ms: a second start of {} was begun beside the first", server.name());
            self.violations.push(line);
        } else if self.start_commands_ms == 0 {
            self.start(index);
        } else {
            server.start_job_ms = Some(now + self.start_commands_ms);
        }
    }

    pub(super) fn end_start_jobs(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].start_job_ms.is_some_and(|at| self.now_ms >= at) {
                self.servers[index].start_job_ms = None;
                self.spawn(index);
            }
        }
    }

    /// The very first start of a cluster, by hand. Sealion has no way to do this.
    pub fn found(&mut self, index: usize) {
        self.spawn(index);
        let server = &mut self.servers[index];
        server.group = Group::Primary;
        server.local_state = 4;
        self.conf_id += 1;
        server.last_view = Some((self.conf_id, BTreeSet::from([index])));
        self.answer(index);
    }

    /// A clean shutdown: it says good-bye, so the others shrink their membership at once.
    pub fn stop(&mut self, index: usize) {
        self.servers[index].is_told_to_stop = true;
        if self.servers[index].process.is_none() {
            return;
        }
        if self.servers[index].is_arbitrator {
            // Seen: the nodes count it for a moment after its process has ended.
            let late_ms = self.rng.between(100, 900);
            self.servers[index].crashed_ms =
                Some((self.now_ms + late_ms).saturating_sub(super::group::SUSPECT_MS));
            self.gone(index);
            return;
        }
        self.cut_sessions(index);
        let is_unheard = self.hears_no_goodbye && self.servers[index].group == Group::Primary;
        if self.servers[index].group == Group::Primary && !is_unheard {
            self.leave_view(index);
        }
        let seqno = self.servers[index].seqno;
        let server = &mut self.servers[index];
        // gvwstate.dat is removed by a clean stop: it does not count any more when a lost quorum is put together.
        server.last_view = None;
        server.crashed_ms = is_unheard.then_some(self.now_ms);
        server.left_unheard = is_unheard;
        if !self.servers[index].is_by_itself {
            let uuid = &self.servers[index].state_uuid;
            let grastate = format!("# GALERA saved state\nuuid:    {uuid}\nseqno:   {seqno}\n");
            self.servers[index].disk.put(GRASTATE, grastate, MYSQL, 0o600);
        }
        self.gone(index);
    }

    /// Signal 9 or 11, or a power cut. Nobody is told; what it had committed is on its disk.
    pub fn kill(&mut self, index: usize) {
        if self.servers[index].process.is_none() {
            return;
        }
        self.cut_sessions(index);
        self.servers[index].crashed_ms = Some(self.now_ms);
        self.gone(index);
    }

    /// It ends by itself and takes leave (`Aborting`).
    pub fn abort(&mut self, index: usize, why: &str) {
        self.log(index, "ERROR", why);
        self.log(index, "ERROR", "Aborting");
        if self.servers[index].group == Group::Primary {
            self.leave_view(index);
            self.servers[index].last_view = None;
        }
        self.gone(index);
    }

    /// The SQL port opens, and only now the pid file is written.
    pub(super) fn answer(&mut self, index: usize) {
        let server = &mut self.servers[index];
        if server.is_arbitrator {
            return;
        }
        let Some(process) = &mut server.process else { return };
        if !process.answers {
            process.answers = true;
            let text = format!("{}\n", process.pid);
            server.disk.put("/run/mysqld/mysqld.pid", text, MYSQL, 0o644);
            self.fleet_is_up(index);
        }
    }

    pub fn segfault(&mut self, index: usize) {
        self.log(index, "ERROR", "mysqld got signal 11 ;");
        self.kill(index);
    }

    /// Nothing of it moves for so long. A server that is stopped meanwhile ends only after that.
    pub fn freeze(&mut self, index: usize, ms: u64) {
        if self.servers[index].process.is_some() {
            self.servers[index].frozen_ms = Some((self.now_ms, self.now_ms + ms));
            self.due_at(self.now_ms + ms, index);
        }
    }

    /// Frozen members are declared gone after the suspect timeout, as crashed ones are; they join again by themselves.
    pub(super) fn thaw(&mut self) {
        let now = self.now_ms;
        for index in self.of_cluster() {
            let Some((since, until)) = self.servers[index].frozen_ms else { continue };
            if self.servers[index].group == Group::Primary && now >= since + super::group::SUSPECT_MS {
                self.cut_sessions(index);
                let server = &mut self.servers[index];
                server.group = Group::Out;
                (server.local_state, server.transfer, server.donates_until_ms) = (0, None, None);
                if let Some(process) = &mut server.process {
                    (process.connects_ms, process.gives_up_ms) = (u64::MAX, u64::MAX);
                }
                self.links.retain(|(a, b), _| *a != index && *b != index);
            }
            if now >= until {
                let server = &mut self.servers[index];
                server.frozen_ms = None;
                if let Some(process) = &mut server.process
                    && process.connects_ms == u64::MAX
                {
                    process.connects_ms = now;
                }
            }
        }
    }

    fn gone(&mut self, index: usize) {
        let server = &mut self.servers[index];
        (server.frozen_ms, server.is_out_of_reach, server.runs_alone) = (None, false, false);
        server.process = None;
        (server.live, server.remembers_login) = (None, false);
        server.group = Group::Out;
        (server.local_state, server.desync, server.donates_until_ms, server.transfer) = (0, 0, None, None);
        server.disk.entries.remove(Path::new("/run/mysqld/mysqld.pid"));
        self.fleet_is_gone(index);
        self.links.retain(|(a, b), _| *a != index && *b != index);
        let count = self.gossip.len();
        self.gossip.retain(|(a, b), _| *a != index && *b != index);
        if self.gossip.len() < count {
            // The one that could not be reached is gone: the others are themselves again.
            self.storm_until_ms = self.storm_until_ms.min(self.now_ms + SETTLED_MS);
        }
    }

    pub(super) fn restart_crashed(&mut self) {
        for index in self.of_cluster() {
            let server = &self.servers[index];
            let due = server.crashed_ms.is_some_and(|at| self.now_ms >= at + SYSTEMD_RESTART_MS);
            // The unit of garbd has no Restart=.
            let restarts = server.restarts_by_itself && !server.is_told_to_stop && !server.is_arbitrator;
            if restarts && due && server.process.is_none() {
                self.spawn(index);
            }
        }
    }

    /// `FLUSH SSL` or `socket.ssl_reload=1`: everything is read again from the same paths, or nothing.
    pub fn reload(&mut self, index: usize) -> Result<(), String> {
        if self.servers[index].is_mysql() {
            return self.reload_mysql(index);
        }
        let server = &self.servers[index];
        let Some(live) = &server.live else { return Err("it does not run".into()) };
        let galera = match &live.galera {
            None if live.client.is_none() => {
                return Err("ERROR 1210 (HY000): Incorrect arguments to SET".into());
            }
            None => None,
            Some(old) => {
                let mut fresh = server
                    .read_identity(&live.options)
                    .map_err(|why| format!("ERROR 1210 (HY000): Incorrect arguments to SET ({why})"))?;
                let add = std::mem::take(&mut fresh.trusted);
                fresh.trusted.clone_from(&old.trusted);
                if !fresh.trusted.windows(add.len()).any(|part| part == add) {
                    fresh.trusted.extend_from_slice(&add);
                }
                // One of another kind is put beside it, and the old one is shown on.
                if key_kind(&fresh.cert) != key_kind(&old.cert) {
                    fresh.cert.clone_from(&old.cert);
                }
                Some(fresh)
            }
        };
        let client = match &live.client {
            None => None,
            Some(_) if live.ssl_paths.iter().all(String::is_empty) => Some(made_in_memory()),
            Some(_) => Some(
                server
                    .read_client_tls(&live.ssl_paths)
                    .ok_or("ERROR 1105 (HY000): Failed to refresh SSL, error: Unable to get private key")?,
            ),
        };
        let live = self.servers[index].live.as_mut().expect("seen above");
        (live.galera, live.client) = (galera, client);
        live.generation += 1;
        Ok(())
    }
}

/// `RSA` of a certificate whose key is `RSA 3072`.
fn key_kind(cert: &[u8]) -> Option<String> {
    let key = trust::inspect(cert).ok()?.first()?.key.clone();
    key.split(' ').next().map(str::to_owned)
}

/// Where a server keeps its data, for whoever asks how far a stopped one had come.
pub const GRASTATE: &str = "/var/lib/mysql/grastate.dat";
const _: () = assert!(GRASTATE.len() > DATA_DIR.len());
