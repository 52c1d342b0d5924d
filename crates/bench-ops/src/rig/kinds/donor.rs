//! A donor and its joiner, with tables in the donor that take a while.

use std::sync::atomic::{AtomicBool, Ordering};

use ::bench::experiments::{Place, Sst};
use capture::Canary;
use lab::bundle::Servers;
use lab::{LabOptions, SstMethod};
use site::OpsError;
use site::labs::{self, Up};

use super::super::Reached;
use super::super::ground::{Ground, ended, fill};
use super::galera::{LAB_NUMBERS, nodes};
use super::{ServerKind, same_servers};
use crate::joiner::{self, Joiner};
use crate::keys;
use crate::transfer::{self, Receiver};

/// Of certificates for transfers, in the lab's directory.
const SST_KEYS: &str = "sst";

#[derive(Default)]
pub struct Donors {
    clusters: Vec<(Place, Up)>,
    /// What lies in donors, and is looked for in what passes.
    words: Vec<(Place, Canary)>,
    /// Transfers that were watched, and went as they are to.
    proven: Vec<Place>,
}

impl ServerKind for Donors {
    fn serves(&self, place: Place) -> bool {
        matches!(place, Place::Sst { .. })
    }

    fn describe(&self, place: Place) -> String {
        let Place::Sst { method, tls } = place else { return String::new() };
        format!("{}, {}", method_of(method).as_str(), if tls { "TLS" } else { "cleartext" })
    }

    fn reach(
        &mut self,
        ground: &mut Ground,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        match place {
            Place::Sst { method, tls } => self.donor(ground, method, tls, stop, say),
            _ => Err(OpsError::internal("this is not a donor", self.describe(place))),
        }
    }

    fn rows_min(&self, ground: &Ground, _: Place) -> u32 {
        joiner::ROWS_MIN.div_ceil(ground.plan.tables.tables.max(1))
    }

    fn keep(&mut self, needs: &dyn Fn(Place) -> bool) {
        self.clusters.retain(|(place, _)| needs(*place));
    }

    fn receiver(&self, ground: &Ground, place: Place) -> Result<Option<Box<dyn Receiver + '_>>, OpsError> {
        let Place::Sst { tls, .. } = place else { return Ok(None) };
        Ok(Some(Box::new(self.joiner(ground, place, tls)?)))
    }
}

impl Donors {
    /// A donor and its joiner, with tables in the donor that take a while.
    fn donor(
        &mut self,
        ground: &mut Ground,
        method: Sst,
        tls: bool,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        let place = Place::Sst { method, tls };
        let cluster = same_servers(place);
        if !self.clusters.iter().any(|(known, _)| *known == cluster) {
            let number = LAB_NUMBERS + ground.number()?;
            let dir = ground.dir(&format!("g{number}"));
            ground.plain_keys(SST_KEYS)?;
            let options = LabOptions {
                name: format!("bench{number}"),
                dir: dir.clone(),
                servers: Servers::find(false)?,
                sst_method: method_of(method),
                nodes: joiner::NODES,
                arbitrators: 0,
                beside: vec![],
                spares: 0,
                galera: true,
                replicas: false,
                number,
                namespace: ground.plan.namespace,
                relay: false,
                hosts: false,
                operator_is_client: false,
                proxy: false,
                provider_options: String::new(),
                tls: false,
                keep: false,
            };
            say(&format!("starting a donor, {}", self.describe(cluster)));
            let up = labs::first_node(&options, &dir.join("operator"))?;
            if let Some(donor) = nodes(ground, &up).first() {
                fill(donor, &ground.tables(self.rows_min(ground, place)), stop, say)?;
                let word = transfer::plant(donor)?;
                self.clusters.push((cluster, up));
                self.words.push((cluster, word));
            }
        }
        if !self.proven.contains(&place) {
            say(&format!("capturing a transfer, {}", self.describe(place)));
            if let Some((_, word)) = self.words.iter().find(|(known, _)| *known == cluster) {
                transfer::proves(&self.joiner(ground, place, tls)?, word, tls, stop)?;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(ended());
            }
            self.proven.push(place);
        }
        let up = self.up(cluster)?;
        Ok(Reached::at(nodes(ground, up).into_iter().take(1).collect()))
    }

    fn joiner(&self, ground: &Ground, place: Place, tls: bool) -> Result<Joiner<'_>, OpsError> {
        let files = keys::Files::of(&ground.dir(SST_KEYS));
        Joiner::prepare(self.up(same_servers(place))?, tls.then_some(&files))
    }

    fn up(&self, cluster: Place) -> Result<&Up, OpsError> {
        let found = self.clusters.iter().find(|(known, _)| *known == cluster);
        found
            .map(|(_, up)| up)
            .ok_or_else(|| OpsError::internal("a cluster of the lab is missing", "it was just created"))
    }
}

fn method_of(method: Sst) -> SstMethod {
    match method {
        Sst::Rsync => SstMethod::Rsync,
        Sst::Mariabackup => SstMethod::Mariabackup,
    }
}
