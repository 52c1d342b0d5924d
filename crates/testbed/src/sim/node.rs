//! A simulated server as the steps see it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use host::{HostError, ProcessFacts, ReadHost, Service, WriteHost};
use model::{Clock, NodeName};
use net::PemSet;
use server::accounts::{Account, AccountName, AccountTls, CertificateAccount};
use server::options::Effective;
use server::{
    Admits, Alive, AtRest, AtRestSetting, Channel, ChannelTls, CleartextLogin, Hook, LiveSetting,
    LiveSettings, Logins, NodeError, NodeSpec, NodeView, NotRead, OfferAnswer, OwnGrants, PlacesAtRest,
    ReadMember, ReadNode, Rebuild, RebuildSample, Rebuilt, Sessions, Threads, TlsFiles, TlsOffer, TlsRules,
    UndoRound, WriteMember, WriteNode, owner,
};

use super::disk::SimHost;
use super::hosts::InFlight;
use super::process::{Group, Live, Server};
use super::world::{Shared, World};

/// A question to a server takes this long, so answers of several nodes are never of one moment.
const ASKING_MS: u64 = 2;
/// A server that says nothing is waited for so long.
const SILENT_MS: u64 = 3_000;
/// Simulated servers have none yet.
const NO_DATA: &str = "this server is simulated, and has no data at rest";
/// A service manager that cannot stop a server gives up after this time.
const STOP_MS_MAX: u64 = 600_000;

#[derive(Debug)]
pub struct SimNode {
    shared: Shared,
    index: usize,
    spec: NodeSpec,
    host: SimHost,
}

impl SimNode {
    pub fn new(shared: &Shared, index: usize) -> Self {
        let spec = shared.borrow().servers[index].spec.clone();
        Self { shared: shared.clone(), index, spec, host: SimHost { shared: shared.clone(), index } }
    }

    fn ask<T>(&self, question: impl FnOnce(&mut World) -> Result<T, String>) -> Result<T, NodeError> {
        let late_ms = self.shared.borrow().servers[self.index].answers_late_ms;
        self.shared.advance(ASKING_MS + late_ms);
        let node = || self.spec.name.clone();
        let unheard =
            |why: &str, runs_unheard| NodeError::Silent { node: node(), why: why.into(), runs_unheard };
        let silent = |why: &str| unheard(why, false);
        // Its socket and its service manager are asked by the same agent.
        self.reach()?;
        if self.shared.borrow().servers[self.index].is_frozen() {
            self.shared.advance(SILENT_MS);
            return Err(silent("it did not answer in time; its process runs"));
        }
        let mut world = self.shared.borrow_mut();
        let server = &world.servers[self.index];
        if server.is_out_of_reach {
            return Err(silent("Can't connect to local server through socket (2); its process runs"));
        }
        if !server.is_up() {
            let why = "Can't connect to local server (111)";
            return Err(match (&server.process, server.manager_is_silent) {
                (None, _) if server.start_job_ms.is_some() => {
                    silent("Can't connect to local server (2); it is being started")
                }
                (Some(_), _) => unheard("Can't connect to local server (111); its process runs", true),
                (None, true) => {
                    silent("Can't connect to local server (2); the service manager does not answer")
                }
                (None, false) => NodeError::Down { node: node(), why: why.into() },
            });
        }
        if server.refuses_login {
            return Err(NodeError::Refused { node: node(), why: "ERROR 1045 (28000): Access denied".into() });
        }
        question(&mut world).map_err(|why| NodeError::Refused { node: node(), why })
    }

    fn change(
        &self,
        what: &str,
        work: impl FnOnce(&mut World) -> Result<(), String>,
    ) -> Result<(), NodeError> {
        self.reach()?;
        self.shared.instant(what, Some(self.index));
        match self.shared.in_flight(self.index) {
            None => return self.ask(work),
            Some(InFlight::DoneUnheard) => {
                let _ = work(&mut self.shared.borrow_mut());
            }
            Some(InFlight::NeverDone) => {}
        }
        let why = self.shared.unanswered(self.index).to_string();
        Err(NodeError::Silent { node: self.spec.name.clone(), why, runs_unheard: false })
    }

    /// # Errors
    /// `Silent`: whoever cannot come to its host knows nothing of it.
    fn reach(&self) -> Result<(), NodeError> {
        let silent = |why: HostError| NodeError::Silent {
            node: self.spec.name.clone(),
            why: why.to_string(),
            runs_unheard: false,
        };
        self.shared.reach_host(self.index).map_err(silent)
    }

    /// A command of the service manager that the agent runs. One that began goes on without it.
    fn service(&self, what: &str, work: impl FnOnce() -> Result<(), NodeError>) -> Result<(), NodeError> {
        let failed = |error: HostError| self.host_error(error.to_string());
        self.shared.reach_host(self.index).map_err(failed)?;
        self.shared.instant(what, Some(self.index));
        match self.shared.in_flight(self.index) {
            None => return work(),
            Some(InFlight::DoneUnheard) => work()?,
            Some(InFlight::NeverDone) => {}
        }
        Err(failed(self.shared.unanswered(self.index)))
    }

    /// Nobody else ends a command that starts it.
    fn start_ends(&self) {
        let is_over = |world: &World| world.servers[self.index].start_job_ms.is_none();
        self.shared.borrow_mut().advance_until(STOP_MS_MAX, is_over);
    }

    fn stop_now(&self) -> Result<(), NodeError> {
        if self.shared.borrow().servers[self.index].stop_is_anothers {
            return Ok(());
        }
        let frozen = self.shared.borrow().servers[self.index].frozen_ms;
        if let Some((_, until)) = frozen {
            // SIGTERM waits with everything else.
            let left = until.saturating_sub(self.now_ms());
            self.shared.advance(left.min(STOP_MS_MAX) + 100);
            if left > STOP_MS_MAX {
                return Err(self.host_error("`systemctl stop mariadb` still runs after 600 s".into()));
            }
        }
        self.start_ends();
        let mut world = self.shared.borrow_mut();
        world.watch_proxies_at_stop(self.index);
        world.watch_restart(self.index);
        if world.is_serving(self.index) && world.sessions(self.index).busy > 0 {
            let name = world.servers[self.index].name();
            let line =
                format!("{} ms: {name} was stopped while its clients had work under way", world.now_ms);
            world.violations.push(line);
        }
        world.stops.push(self.index);
        world.stop(self.index);
        let takes = world.rng.between(400, 1_800);
        world.advance(takes);
        Ok(())
    }

    /// # Errors
    /// As systemctl says it.
    fn knows_unit(&self) -> Result<(), NodeError> {
        let Service::Systemd { unit } = &self.spec.service else { return Ok(()) };
        let state = self.shared.borrow().servers[self.index].unit_state_of(unit);
        match state.as_str() {
            "loaded" => Ok(()),
            _ => Err(self.host_error(format!("`systemctl` ended with exit status: 5: the unit is {state}"))),
        }
    }

    fn host_error(&self, why: String) -> NodeError {
        NodeError::Host { node: self.spec.name.clone(), why }
    }
}

fn view_of(world: &World, index: usize) -> NodeView {
    let server = &world.servers[index];
    let live = server.live.as_ref().expect("a server that answers has read its files");
    let now = world.clock.unix_ms();
    let mut view = NodeView { at_unix_ms: now, server_unix_ms: Some(now), ..NodeView::default() };
    let on = |is: bool| if is { "ON" } else { "OFF" };
    let [ssl_ca, ssl_cert, ssl_key] = live.ssl_paths.clone();
    for (key, value) in [
        ("version", "10.11.19-MariaDB-deb12"),
        ("version_comment", "Debian 12"),
        ("version_ssl_library", server.tls_library.says.as_str()),
        ("datadir", "/var/lib/mysql/"),
        ("ssl_ca", ssl_ca.as_str()),
        ("ssl_cert", ssl_cert.as_str()),
        ("ssl_key", ssl_key.as_str()),
        ("have_ssl", if live.client.is_some() { "YES" } else { "DISABLED" }),
        ("require_secure_transport", on(live.requires_tls)),
    ] {
        view.variables.insert(key.into(), value.into());
    }
    for (option, value) in live.rules_wish.iter() {
        view.variables.insert(option.into(), value.into());
    }
    if server.is_mysql() {
        super::mysql::view(server, live, &mut view);
    }
    if server.is_by_itself {
        view.variables.insert("server_id".into(), (index + 1).to_string());
    } else {
        view_of_galera(world, index, live, &mut view);
    }
    view.status.extend(server.shown_status.clone());
    for (key, value) in &server.shown {
        match value {
            Some(value) => view.variables.insert(key.clone(), value.clone()),
            None => view.variables.remove(key),
        };
        if value.is_none() {
            view.status.remove(key);
        }
    }
    view
}

fn view_of_galera(world: &World, index: usize, live: &Live, view: &mut NodeView) {
    let server = &world.servers[index];
    let on = |is: bool| if is { "ON" } else { "OFF" };
    let primary = world.is_primary(index);
    let comment = match (primary, server.local_state) {
        (false, _) => "Initialized",
        (_, 1) => "Joining",
        (_, 2) => "Donor/Desynced",
        (_, 3) => "Joined",
        (_, 4) => "Synced",
        _ => "Initialized",
    };
    for (key, value) in [
        ("wsrep_on", "ON"),
        ("wsrep_cluster_name", "sim"),
        ("wsrep_provider", "/usr/lib/galera/libgalera_smm.so"),
        ("wsrep_provider_options", live.read_back.as_str()),
        ("wsrep_sst_method", live.sst_method.as_str()),
        ("wsrep_cluster_address", live.cluster_address.as_str()),
        ("wsrep_desync", on(server.desync > 0 || server.desync_was_lost)),
    ] {
        view.variables.insert(key.into(), value.into());
    }
    let members = match (&server.group, &server.last_view) {
        (Group::Primary, Some((_, members))) => members.clone(),
        _ => world.component_of(index),
    };
    let address = |member: &usize| match &world.servers[*member] {
        server if server.is_arbitrator => String::new(),
        server => format!("{}:3306", server.spec.address),
    };
    let mut incoming: Vec<String> = members.iter().map(address).collect();
    incoming.extend((0..world.strange_arbitrators).map(|_| String::new()));
    for (key, value) in [
        ("wsrep_cluster_status", if primary { "Primary" } else { "non-Primary" }.to_owned()),
        ("wsrep_cluster_size", world.cluster_size(index).to_string()),
        ("wsrep_cluster_conf_id", if primary { world.conf_id } else { u64::MAX }.to_string()),
        ("wsrep_cluster_state_uuid", server.state_uuid.clone()),
        ("wsrep_local_state", if primary { server.local_state } else { 0 }.to_string()),
        ("wsrep_local_state_comment", comment.to_owned()),
        ("wsrep_ready", on(primary && server.local_state >= 2).to_owned()),
        ("wsrep_local_recv_queue", "0".to_owned()),
        ("wsrep_desync_count", (server.desync + u32::from(server.donates_until_ms.is_some())).to_string()),
        ("wsrep_last_committed", server.seqno.to_string()),
        ("wsrep_incoming_addresses", incoming.join(",")),
    ] {
        view.status.insert(key.into(), value);
    }
}

impl ReadMember for SimNode {
    fn spec(&self) -> &NodeSpec {
        &self.spec
    }

    fn process(&mut self) -> Option<ProcessFacts> {
        let path = self.spec.pid_file.clone()?;
        let text = self.host.read(&path, 64).ok()??;
        self.host.process(String::from_utf8_lossy(&text).trim().parse().ok()?).ok()?
    }

    fn alive(&mut self) -> Alive {
        self.shared.advance(ASKING_MS);
        if let Err(lost) = self.shared.reach_host(self.index) {
            return Alive::CannotTell(lost.to_string());
        }
        let mut world = self.shared.borrow_mut();
        if world.servers[self.index].start_job_ms.is_some() {
            world.starts_found_under_way += 1;
            return Alive::Yes;
        }
        let server = &world.servers[self.index];
        match (&server.process, server.manager_is_silent) {
            (Some(_), _) => Alive::Yes,
            (None, true) => Alive::CannotTell("the service manager does not answer".into()),
            (None, false) => Alive::No,
        }
    }

    fn host(&self) -> &dyn ReadHost {
        &self.host
    }

    fn galera_leaf(&mut self) -> Result<String, NodeError> {
        let dir = self.spec.tls_dir.clone();
        // It is dialled with the node's own key, which is read there.
        self.shared.reach_host(self.index).map_err(|lost| self.host_error(lost.to_string()))?;
        self.ask(|world| {
            let server = &world.servers[self.index];
            let identity = server.live.as_ref().and_then(|live| live.galera.as_ref());
            let identity = identity.ok_or("the Galera port speaks no TLS")?;
            let own =
                |file: &str| server.disk.entries.get(&dir.join(file)).and_then(|entry| entry.bytes.clone());
            let (cert, ca) = (own("node-cert.pem").unwrap_or_default(), own("ca.pem").unwrap_or_default());
            trust::chain_ok(&cert, &identity.trusted, world.unix_s())
                .map_err(|error| format!("our certificate was refused: {error}"))?;
            trust::chain_ok(&identity.cert, &ca, world.unix_s()).map_err(|error| error.to_string())?;
            Ok(String::from_utf8_lossy(&identity.cert).into_owned())
        })
    }

    fn galera_shows(&mut self) -> Result<String, NodeError> {
        self.ask(|world| world.shown_leaf(self.index))
    }

    fn galera_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError> {
        self.ask(|world| world.admits(self.index, &shown.cert))
    }

    fn wait(&mut self, how_long: Duration) {
        self.shared.instant("wait", Some(self.index));
        // No request was under way.
        let _ = self.shared.in_flight(self.index);
        self.shared.advance(u64::try_from(how_long.as_millis()).unwrap_or(u64::MAX));
    }

    fn now_ms(&self) -> u64 {
        self.shared.borrow().now_ms
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        if self.shared.borrow().is_host_lost(self.index) || self.shared.borrow().servers[self.index].hides_log
        {
            return vec![];
        }
        let world = self.shared.borrow();
        let log = &world.servers[self.index].log;
        log[log.len().saturating_sub(lines)..].to_vec()
    }

    fn owner(&mut self) -> Option<(u32, u32)> {
        owner::of_server(self)
    }
}

impl ReadNode for SimNode {
    fn view(&mut self) -> Result<NodeView, NodeError> {
        self.ask(|world| Ok(view_of(world, self.index)))
    }

    fn sessions(&mut self) -> Result<Sessions, NodeError> {
        self.ask(|world| {
            world.servers[self.index].needs(&["PROCESS"])?;
            let is_by_itself = world.servers[self.index].is_by_itself;
            Ok(if is_by_itself { world.fleet_sessions(self.index) } else { world.sessions(self.index) })
        })
    }

    fn logins(&mut self) -> Result<Logins, NodeError> {
        self.ask(|world| Ok(world.servers[self.index].logins.clone()))
    }

    fn live_settings(&mut self) -> Result<Vec<LiveSetting>, NodeError> {
        self.ask(|world| match &world.servers[self.index] {
            server if server.hides_live_settings => Err("ERROR 1142 (42000): SELECT command denied".into()),
            server => Ok(server.live_settings.clone()),
        })
    }

    fn cleartext_login(&mut self) -> Result<CleartextLogin, NodeError> {
        self.ask(|world| {
            let requires = world.servers[self.index].live.as_ref().is_some_and(|live| live.requires_tls);
            Ok(if requires { CleartextLogin::Refused } else { CleartextLogin::LetIn })
        })
    }

    fn effective(&mut self) -> Result<Effective, NodeError> {
        self.shared.reach_host(self.index).map_err(|lost| self.host_error(lost.to_string()))?;
        self.shared.borrow().servers[self.index].server_options().map_err(|why| self.host_error(why))
    }

    fn effective_in(&mut self, groups: &[String]) -> Result<Effective, NodeError> {
        self.shared.reach_host(self.index).map_err(|lost| self.host_error(lost.to_string()))?;
        self.shared.borrow().servers[self.index].effective(groups).map_err(|why| self.host_error(why))
    }

    fn channels(&mut self) -> Result<Vec<Channel>, NodeError> {
        if self.shared.borrow().fleet.is_none() {
            return Ok(vec![]);
        }
        self.ask(|world| Ok(world.shown_channels(self.index)))
    }

    fn binary_logs(&mut self) -> Result<Vec<String>, NodeError> {
        self.ask(|_| Ok(vec!["mariadb-bin.000001".into()]))
    }

    fn replicas(&mut self) -> Result<Vec<String>, NodeError> {
        self.ask(|world| Ok(world.replicas_of(self.index)))
    }

    fn own_grants(&mut self) -> Result<OwnGrants, NodeError> {
        self.ask(|world| {
            let server = &world.servers[self.index];
            if server.hides_grants {
                return Err("ERROR 1290 (HY000): the server is running with --skip-grant-tables".into());
            }
            Ok(OwnGrants::of("sealion@10.%", server.shown_grants().iter().map(String::as_str)))
        })
    }

    fn accounts(&mut self) -> Result<Vec<Account>, NodeError> {
        self.ask(|world| Ok(world.accounts_on(self.index)))
    }

    fn certificate_accounts(&mut self) -> Result<Vec<CertificateAccount>, NodeError> {
        let all = self.accounts()?.into_iter().filter(|one| one.tls == AccountTls::Certificate);
        let of_any = |one: Account| CertificateAccount {
            name: one.name,
            subject: String::new(),
            issuer: String::new(),
        };
        Ok(all.map(of_any).collect())
    }

    fn socket_users(&mut self, _: u64) -> Result<Vec<String>, NodeError> {
        self.ask(|world| Ok(world.socket_users.clone()))
    }

    fn client_leaf(&mut self) -> Result<String, NodeError> {
        self.ask(|world| {
            let live = world.servers[self.index].live.as_ref();
            let client = live.and_then(|live| live.client.as_ref());
            let leaf = &client.ok_or("the client port served no certificate")?.leaf;
            Ok(String::from_utf8_lossy(leaf).into_owned())
        })
    }

    fn client_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError> {
        self.ask(|world| world.client_admits(self.index, &shown.cert))
    }

    fn client_takes(&mut self, offer: &TlsOffer) -> Result<OfferAnswer, NodeError> {
        self.ask(|world| world.client_takes(self.index, offer))
    }

    fn at_rest(&mut self) -> Result<AtRest, NodeError> {
        self.ask(|_| Err(NO_DATA.into()))
    }

    fn not_read(&mut self) -> Result<Vec<NotRead>, NodeError> {
        self.ask(|_| Err(NO_DATA.into()))
    }

    fn places_at_rest(&mut self) -> Result<PlacesAtRest, NodeError> {
        Err(self.host_error(NO_DATA.into()))
    }

    fn files_at_rest_in(&mut self, _: &PlacesAtRest) -> Result<disk::DataDirectory, NodeError> {
        Err(self.host_error(NO_DATA.into()))
    }
}

impl WriteMember for SimNode {
    fn write_host(&self) -> &dyn WriteHost {
        &self.host
    }

    fn stop(&mut self) -> Result<(), NodeError> {
        self.knows_unit()?;
        self.service("stop", || self.stop_now())
    }

    fn start(&mut self) -> Result<(), NodeError> {
        self.knows_unit()?;
        self.service("start", || {
            let mut world = self.shared.borrow_mut();
            // As `host::job` does it: one that runs is waited for.
            if world.servers[self.index].start_job_ms.is_some() {
                world.starts_found_under_way += 1;
            } else {
                world.watch_proxies_at_start(self.index);
                world.begin_start(self.index);
            }
            Ok(())
        })?;
        self.start_ends();
        self.shared.advance(100);
        Ok(())
    }
}

impl WriteNode for SimNode {
    fn reading(&mut self) -> &mut dyn ReadNode {
        self
    }

    fn set_desync(&mut self, on: bool) -> Result<(), NodeError> {
        self.change(if on { "desync" } else { "resync" }, |world| {
            world.servers[self.index].needs(&["SUPER"])?;
            world.set_desync(self.index, on);
            Ok(())
        })
    }

    fn set_channel_tls(&mut self, channel: &str, tls: &ChannelTls, run: Threads) -> Result<(), NodeError> {
        let is_mysql = self.shared.borrow().servers[self.index].is_mysql();
        let [stop, change, start] = if is_mysql {
            ["STOP REPLICA IO_THREAD", "CHANGE REPLICATION SOURCE", "START REPLICA IO_THREAD"]
        } else {
            ["STOP SLAVE", "CHANGE MASTER", "START SLAVE"]
        };
        self.change(stop, |world| {
            world.servers[self.index].needs(&["REPLICATION SLAVE ADMIN", "REPLICATION_SLAVE_ADMIN"])?;
            world.stop_slave(self.index, channel)
        })?;
        self.change(change, |world| world.change_master(self.index, channel, tls))?;
        let run = Threads { applier: run.applier && !is_mysql, ..run };
        if !run.receiver && !run.applier {
            return Ok(());
        }
        self.change(start, |world| world.start_threads(self.index, channel, run))
    }

    fn start_threads(&mut self, channel: &str, threads: Threads) -> Result<(), NodeError> {
        self.change("START REPLICA", |world| {
            world.servers[self.index].needs(&["REPLICATION SLAVE ADMIN", "REPLICATION_SLAVE_ADMIN"])?;
            world.start_threads(self.index, channel, threads)
        })
    }

    fn set_tls_files(&mut self, files: &TlsFiles, rules: Option<&TlsRules>) -> Result<(), NodeError> {
        self.change("set ssl_ca, ssl_cert, ssl_key", |world| world.wish_tls_files(self.index, files, rules))?;
        self.change("reload", |world| world.reload(self.index))
    }

    fn set_account_tls(&mut self, account: &AccountName, on: bool) -> Result<(), NodeError> {
        self.change("alter user", |world| {
            world.servers[self.index].needs(&["CREATE USER"])?;
            let tls = if on { AccountTls::Tls } else { AccountTls::None };
            world.alter_account(self.index, account, tls)
        })
    }

    fn set_require_secure_transport(&mut self, on: bool) -> Result<(), NodeError> {
        self.change("set require_secure_transport", |world| {
            world.servers[self.index].needs(&["SUPER", "SYSTEM_VARIABLES_ADMIN"])?;
            let live = world.servers[self.index].live.as_mut().ok_or("gone")?;
            live.requires_tls = on;
            world.watch_required(self.index);
            Ok(())
        })
    }

    fn set_provider_options(&mut self, options: &str) -> Result<(), NodeError> {
        self.change("set provider options", |world| {
            world.servers[self.index].needs(&["SUPER"])?;
            let live = world.servers[self.index].live.as_mut().ok_or("gone")?;
            let mut now = server::ProviderOptions::parse(&live.read_back);
            for (key, value) in server::ProviderOptions::parse(options).iter() {
                now.set(key, value);
            }
            live.read_back = now.to_string();
            Ok(())
        })
    }

    fn reload_tls(&mut self) -> Result<(), NodeError> {
        self.change("reload", |world| {
            world.servers[self.index].needs(&["RELOAD", "CONNECTION_ADMIN"])?;
            world.reload(self.index)
        })
    }

    fn set_at_rest(&mut self, _: &AtRestSetting) -> Result<(), NodeError> {
        self.change("set at rest", |_| Err(NO_DATA.into()))
    }

    fn flush_pages(&mut self, _: &LiveSettings) -> Result<bool, NodeError> {
        self.change("flush pages", |_| Err(NO_DATA.into())).map(|()| false)
    }

    fn rebuild(&mut self, _: &Rebuild) -> Result<Rebuilt, NodeError> {
        self.change("rebuild", |_| Err(NO_DATA.into())).map(|()| Rebuilt::Done)
    }

    fn renew_undo(&mut self, _: UndoRound, _: &LiveSettings) -> Result<(), NodeError> {
        self.change("renew undo", |_| Err(NO_DATA.into()))
    }

    fn renew_system(&mut self, _: u32, _: &LiveSettings) -> Result<Vec<String>, NodeError> {
        self.change("renew system", |_| Err(NO_DATA.into())).map(|()| vec![])
    }

    fn sample_rebuild(&mut self) -> Result<RebuildSample, NodeError> {
        self.change("sample", |_| Err::<(), _>(NO_DATA.into()))?;
        Ok(RebuildSample { bytes: 0, took_ms: 0 })
    }

    fn restore_settings(&mut self, _: &LiveSettings) -> Result<(), NodeError> {
        self.change("restore settings", |_| Err(NO_DATA.into()))
    }

    fn begin_binary_log(&mut self) -> Result<(), NodeError> {
        self.change("flush binary logs", |_| Err(NO_DATA.into()))
    }

    fn purge_binary_logs(&mut self, _: &str) -> Result<(), NodeError> {
        self.change("purge binary logs", |_| Err(NO_DATA.into()))
    }

    fn hook(&mut self, _: &Hook<'_>) -> Result<(), NodeError> {
        Ok(())
    }
}

/// The highest write that a stopped server had, as its grastate.dat gives it; -1 after a crash.
pub fn grastate_seqno(server: &Server) -> i64 {
    let entry = server.disk.entries.get(Path::new(super::process::GRASTATE));
    let text = entry.and_then(|entry| entry.bytes.clone()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.lines().find_map(|line| line.strip_prefix("seqno:")?.trim().parse().ok()).unwrap_or(-1)
}

/// The name as the inventory has it.
pub fn name(index: usize) -> NodeName {
    NodeName::new(format!("n{}", index + 1))
}
