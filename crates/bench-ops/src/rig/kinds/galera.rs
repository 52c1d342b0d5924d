//! Three nodes of Galera: in cleartext, by TLS or as chance decides, and with delay between them.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ::bench::experiments::{Between, Made, Place};
use lab::bundle::Servers;
use lab::{LabOptions, SstMethod, Wait};
use net::ConnectOptions;
use site::OpsError;
use site::labs::{self, Up};

use super::super::Reached;
use super::super::ground::{Ground, ended, fill};
use super::{ServerKind, same_servers, transport};
use crate::keys;
use crate::links::{self, Links};

/// Of the lab's clusters: their addresses are 127.77.N.x, and those of other labs are 1 to 3.
pub const LAB_NUMBERS: u8 = 20;
/// Of a handshake with a node of the lab: one that speaks no TLS says nothing at all.
const PROBE_MAX: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Clusters(Vec<(Place, Up)>);

impl ServerKind for Clusters {
    fn serves(&self, place: Place) -> bool {
        matches!(place, Place::Galera { .. } | Place::Wan { .. })
    }

    fn describe(&self, place: Place) -> String {
        match place {
            Place::Galera { between } => format!("{} between them", transport(between)),
            Place::Wan { tls, .. } => {
                format!("{} and relays between them", transport(tls.map_or(Between::ClearText, Between::Tls)))
            }
            _ => String::new(),
        }
    }

    fn reach(
        &mut self,
        ground: &mut Ground,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        let cluster = same_servers(place);
        match place {
            Place::Galera { between } => self.cluster(ground, place, between, false, stop, say),
            Place::Wan { tls, one_way_ms } => {
                let between = tls.map_or(Between::ClearText, Between::Tls);
                let reached = self.cluster(ground, cluster, between, true, stop, say)?;
                if let Some((_, up)) = self.0.iter().find(|(known, _)| *known == cluster) {
                    up.lab.set_delay(one_way_ms)?;
                }
                Ok(reached)
            }
            _ => Err(OpsError::internal("this is not a cluster", self.describe(place))),
        }
    }

    fn keep(&mut self, needs: &dyn Fn(Place) -> bool) {
        self.0.retain(|(place, _)| needs(*place));
    }

    fn links(&self, place: Place) -> Result<Option<Links>, OpsError> {
        match (place, self.0.iter().find(|(known, _)| *known == place)) {
            (Place::Galera { between: Between::Dynamic(_) }, Some((_, up))) => links::look(up).map(Some),
            _ => Ok(None),
        }
    }
}

impl Clusters {
    /// `has_relays`: between the nodes, to keep back what they say to each other.
    fn cluster(
        &mut self,
        ground: &mut Ground,
        place: Place,
        between: Between,
        has_relays: bool,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        if let Some((_, up)) = self.0.iter().find(|(known, _)| *known == place) {
            return Ok(Reached::at(nodes(ground, up)));
        }
        let number = LAB_NUMBERS + ground.number()?;
        let dir = ground.dir(&format!("g{number}"));
        let mut provider_options = String::new();
        if let Between::Tls(key) | Between::Dynamic(key) = between {
            let keys::Files { pair, ca } =
                keys::make(&ground.dir(&format!("k{number}")), key, Made::PLAIN.issuers)?;
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
            arbitrators: 0,
            beside: vec![],
            spares: 0,
            galera: true,
            replicas: false,
            number,
            namespace: ground.plan.namespace,
            relay: has_relays,
            hosts: false,
            operator_is_client: false,
            proxy: false,
            provider_options,
            tls: false,
            keep: false,
        };
        say(&format!("starting three Galera nodes, {}", self.describe(place)));
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
        let targets = nodes(ground, &up);
        self.0.push((place, up));
        if let Some(first) = targets.first() {
            fill(first, &ground.plan.tables, stop, say)?;
        }
        Ok(Reached::at(targets))
    }
}

/// Past the relays: what is delayed is what nodes say to each other.
pub fn nodes(ground: &Ground, up: &Up) -> Vec<ConnectOptions> {
    up.lab
        .file
        .nodes
        .iter()
        .zip(&up.cluster.nodes)
        .map(|(node, known)| {
            let login = up.cluster.login_at(known);
            let at = SocketAddr::new(node.listens_at(), lab::layout::SQL_PORT);
            ConnectOptions { user: login.user, password: login.password, ..ground.options(at) }
        })
        .collect()
}

/// What the ports of Galera speak, and not what an option says.
fn is_between_nodes(up: &Up, wants_tls: bool) -> Result<(), OpsError> {
    for node in &up.lab.file.nodes {
        let at = SocketAddr::new(node.listens_at(), lab::layout::GALERA_PORT);
        let speaks_tls =
            net::tls_probe(at, None, &net::TlsOptions::with_mode(net::SslMode::Required), PROBE_MAX).is_ok();
        if speaks_tls != wants_tls {
            let (is, be) = if speaks_tls { ("TLS", "cleartext") } else { ("no TLS", "TLS") };
            return Err(OpsError::internal(format!("{at} uses {is}"), format!("it should be {be}")));
        }
    }
    Ok(())
}
