//! Where an experiment's arms run: on the server that was named, or on servers of a lab that ends with the experiment.
//!
//! All servers of an experiment are up at once, so that its arms can take turns in random order. One that is not used does
//! nothing meanwhile. What servers there are: [`kinds`].

pub(crate) mod child;
mod ground;
mod home;
mod kinds;
mod release;
mod tunnel;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::bench::experiments::{Arm, Checks, Experiment, Made, Place, Release, Transport, Via};
use ::bench::load::echo::Pair;
use capture::relay::{Relays, Route};
use net::{ConnectOptions, Endpoint};
use site::OpsError;
use site::servers::{MARIADB, internal};

use super::keys;
use super::links::Links;
use super::transfer::Receiver;
use super::transport;
use super::vpn::{Vpn, VpnPath};
use ground::Ground;
pub use ground::LabPlan;
pub(crate) use ground::ended;
pub use home::Home;
use kinds::{ServerKind, same_servers};
use release::{bundle_of, has_bundle};
use tunnel::Tunnel;

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

/// Servers, and what stands before them.
pub struct Rig {
    named: Vec<ConnectOptions>,
    lab: Option<Lab>,
    relays: Vec<(Place, Via, SocketAddr)>,
}

struct Lab {
    // What goes first stands first: tunnels before the servers behind them, and the files last.
    tunnels: Vec<(Place, Via, Tunnel)>,
    /// One of a kind leads to all servers.
    vpns: Vec<(Via, Vpn)>,
    kinds: Vec<Box<dyn ServerKind>>,
    ground: Ground,
}

impl Rig {
    /// The servers that somebody named.
    pub fn named(targets: Vec<ConnectOptions>) -> Self {
        Self { named: targets, lab: None, relays: vec![] }
    }

    /// A lab, empty so far; its files are in `home`.
    pub fn lab(plan: LabPlan, home: Home) -> Self {
        let lab = Lab { tunnels: vec![], vpns: vec![], kinds: kinds::all(), ground: Ground::new(plan, home) };
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
        self.lab.as_ref().map_or(Ok(None), |lab| lab.kind(place)?.links(place))
    }

    /// What was chosen of TLS, before an arm chooses.
    pub fn asked_tls(&self) -> Option<&net::TlsOptions> {
        let of_lab = self.lab.as_ref().map(|lab| &lab.ground.plan.tls);
        of_lab.or_else(|| self.named.first().map(|target| &target.tls))
    }

    /// Rows of each table; in a lab they may be more than was asked for, so many that what is measured shows. All arms have as many.
    pub fn table_size(&self, asked: u32, experiment: &Experiment) -> u32 {
        let Some(lab) = &self.lab else { return asked };
        let rows = experiment.arms.iter().map(|arm| lab.tables_of(arm.place));
        rows.max().unwrap_or(asked)
    }

    /// Why an arm cannot be measured here, if it cannot.
    pub fn lacks(&self, arm: &Arm) -> Option<String> {
        if !self.is_lab() && arm.needs_lab() {
            return Some("it needs a server of its own: --lab".into());
        }
        let needs_ca = arm.checks_chain() && !arm.tls.reads_system_cas;
        if !self.is_lab() && needs_ca && self.asked_tls().is_none_or(|tls| tls.ca.is_none()) {
            return Some("it needs a CA to trust: --ssl-ca".into());
        }
        if let Some(lack) = self.lacks_for_rustls(arm) {
            return Some(lack.into());
        }
        if let Place::Made(Made { release, .. }) = arm.place
            && !has_bundle(release)
        {
            let name = bundle_of(release);
            return Some(format!("its bundle is missing: sealion lab fetch {name}"));
        }
        if matches!(arm.place, Place::Sst { .. } | Place::Replica { .. })
            && let Err(why) = capture::can_capture()
        {
            let why: Vec<&str> = why.lines().map(str::trim).collect();
            return Some(format!("cannot capture a transfer: {}", why.join("; ")));
        }
        if let Place::Transport(transport) = arm.place
            && let Some(lack) = transport::missing(transport)
        {
            return Some(lack);
        }
        let has_no_aes = matches!(
            arm.place,
            Place::Made(Made { aes_ni: false, .. }) | Place::Transport(Transport { aes_ni: false, .. })
        );
        if cfg!(not(target_arch = "x86_64")) && has_no_aes {
            return Some("AES instructions can be hidden from a program only on x86 processors".into());
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
            return Some("rustls accepts no RSA key of less than 2048 bits");
        }
        let is_checked = arm.checks_chain() || self.asked_tls().is_some_and(|tls| tls.mode.verifies_chain());
        (is_checked && made.issuers == 0).then_some("rustls accepts no self-signed server certificate")
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
                "its other end must be on the server's machine",
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
                "a delay is not possible with a unix socket",
                "it delays TCP bytes",
                "give the server by host and port",
            ));
        };
        let known = self.relays.iter().find(|(place, via, _)| (*place, *via) == (arm.place, arm.via));
        let at = if let Some((_, _, at)) = known {
            *at
        } else {
            let failed = internal("cannot create a relay");
            let target = std::net::ToSocketAddrs::to_socket_addrs(&(host.as_str(), *port))
                .ok()
                .and_then(|mut found| found.next())
                .ok_or_else(|| {
                    OpsError::cannot_look(
                        format!("{host} has no address"),
                        "the name is not known",
                        "give another",
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
        self.lab.as_ref().map_or(Ok(None), |lab| lab.kind(place)?.receiver(&lab.ground, place))
    }

    /// Ends what none of these needs.
    pub fn keep_for(&mut self, experiments: &[&Experiment]) {
        let needs = |place: Place| {
            let arms = experiments.iter().flat_map(|experiment| experiment.arms);
            arms.map(|arm| same_servers(arm.place)).any(|wanted| wanted == same_servers(place))
        };
        for kind in self.lab.iter_mut().flat_map(|lab| &mut lab.kinds) {
            kind.keep(&needs);
        }
    }
}

fn moved(mut target: ConnectOptions, at: SocketAddr) -> ConnectOptions {
    target.endpoint = Endpoint::tcp(at.ip().to_string(), at.port());
    target
}

impl Lab {
    fn kind(&self, place: Place) -> Result<&dyn ServerKind, OpsError> {
        let found = self.kinds.iter().find(|kind| kind.serves(place));
        found.map(AsRef::as_ref).ok_or_else(|| no_kind(place))
    }

    fn reach(
        &mut self,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        let kind = self.kinds.iter_mut().find(|kind| kind.serves(place)).ok_or_else(|| no_kind(place))?;
        kind.reach(&mut self.ground, place, stop, say)
    }

    fn tables_of(&self, place: Place) -> u32 {
        let rows_min = self.kind(place).map_or(0, |kind| kind.rows_min(&self.ground, place));
        self.ground.tables(rows_min).table_size
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
            let number = self.ground.number()?;
            let dir = self.ground.dir(&format!("t{number}"));
            let tunnel = match via {
                Via::Ssh => Tunnel::ssh(&dir, SocketAddr::new(ip, *port))?,
                _ => Tunnel::stunnel(&dir, SocketAddr::new(ip, *port))?,
            };
            self.tunnels.push((place, via, tunnel));
        }
        let known = self.tunnels.iter().find(|(to, known, _)| (*to, *known) == (place, via));
        let tunnel = known.map(|(_, _, tunnel)| tunnel);
        let Some(tunnel) = tunnel else {
            return Err(OpsError::internal("a tunnel is missing", "it was just created"));
        };
        let ends = tunnel.ends.iter().filter_map(|end| i32::try_from(end.0.id()).ok());
        let beside_pids = with_families(behind, ends);
        let targets =
            direct.targets.iter().take(1).map(|target| moved(target.clone(), tunnel.entry)).collect();
        Ok(Reached { targets, beside_pids, ..direct })
    }

    fn by_vpn(&mut self, via: Via, direct: Reached) -> Result<Reached, OpsError> {
        if !self.vpns.iter().any(|(known, _)| *known == via) {
            let number = self.ground.number()?;
            let dir = self.ground.dir(&format!("v{number}"));
            self.vpns.push((via, Vpn::make(via, &dir, self.ground.plan.namespace)?));
        }
        let Some((_, vpn)) = self.vpns.iter().find(|(known, _)| *known == via) else {
            return Err(OpsError::internal("a VPN is missing", "it was just created"));
        };
        let beside_pids = with_families(crate::pids_behind(&direct.targets), vpn.pids.iter().copied());
        let there = |target: &ConnectOptions| match &target.endpoint {
            Endpoint::Tcp { port, .. } => {
                Some(moved(target.clone(), SocketAddr::new(vpn.way.server_ip, *port)))
            }
            Endpoint::Unix { .. } | Endpoint::Via(_) => None,
        };
        let targets = direct.targets.iter().take(1).filter_map(there).collect();
        Ok(Reached { targets, beside_pids, way: Some(Arc::clone(&vpn.way)), ..direct })
    }
}

fn no_kind(place: Place) -> OpsError {
    OpsError::internal("no kind of server serves this arm", format!("{place:?}"))
}

/// These, and the others with all that they have started.
fn with_families(mut pids: Vec<i32>, others: impl Iterator<Item = i32>) -> Vec<i32> {
    pids.extend(others.flat_map(::bench::cpu::family_of));
    pids.sort_unstable();
    pids.dedup();
    pids
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
        "its bundle is missing",
        format!("sealion lab fetch {MARIADB}"),
    ))
}

#[cfg(test)]
mod tests {
    use ::bench::experiments::EXPERIMENTS;

    use super::*;

    #[test]
    fn one_donor_serves_all_copies() {
        let places = EXPERIMENTS.iter().flat_map(|experiment| experiment.arms).map(|arm| arm.place);
        let mut copies = places.filter(|place| matches!(place, Place::Transport(_))).map(same_servers);
        let first = copies.next();
        assert!(first.is_some() && copies.all(|place| Some(place) == first));
    }

    #[test]
    fn every_place_of_an_experiment_is_served_by_one_kind() {
        let kinds = kinds::all();
        for arm in EXPERIMENTS.iter().flat_map(|experiment| experiment.arms) {
            let serving = kinds.iter().filter(|kind| kind.serves(arm.place)).count();
            assert_eq!(serving, 1, "{}", arm.name);
            assert!(kinds.iter().any(|kind| kind.serves(arm.place) && !kind.describe(arm.place).is_empty()));
        }
    }
}
