//! A donor that runs, and its files: one serves all programs, ciphers and lines.

use std::sync::atomic::AtomicBool;

use ::bench::experiments::{Place, Transport, TransportCipher};
use ::bench::load::TlsShape;
use site::OpsError;
use site::servers::{MARIADB, Server};

use super::super::Reached;
use super::super::child::free_port;
use super::super::ground::{BUFFER_POOL, Ground};
use super::{ServerKind, same_servers};
use crate::transfer::Receiver;
use crate::transport::{Donor, QUICK_ROWS_MIN, ROWS_MIN, describe};

#[derive(Default)]
pub struct Transports {
    donor: Option<Donor>,
    /// Copies that were watched and were as they are to be, and what TLS turned out to be.
    proven: Vec<(Transport, Option<TlsShape>)>,
}

impl ServerKind for Transports {
    fn serves(&self, place: Place) -> bool {
        matches!(place, Place::Transport(_))
    }

    fn describe(&self, place: Place) -> String {
        if let Place::Transport(transport) = place { describe(transport) } else { String::new() }
    }

    fn reach(
        &mut self,
        ground: &mut Ground,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        let Place::Transport(transport) = place else {
            return Err(OpsError::internal("this is not a copy", self.describe(place)));
        };
        if transport.tool.is_sealion() && transport.cipher == TransportCipher::ClearText {
            return Err(OpsError::internal("sealion copies nothing in cleartext", "an arm wants it"));
        }
        if self.donor.is_none() {
            self.donor = Some(self.start(ground, place, stop, say)?);
        }
        let Some(donor) = &mut self.donor else {
            return Err(OpsError::internal("a donor is missing", "it was just started"));
        };
        if !self.proven.iter().any(|(known, _)| *known == transport) {
            say(&format!("watching a copy by {}", describe(transport)));
            donor.line(transport.line)?;
            let tls = donor.watched(transport, stop)?;
            self.proven.push((transport, tls));
        }
        Ok(Reached::at(vec![ground.options(donor.address())]))
    }

    fn rows_min(&self, ground: &Ground, _: Place) -> u32 {
        let rows = if ground.plan.is_quick { QUICK_ROWS_MIN } else { ROWS_MIN };
        rows.div_ceil(ground.plan.tables.tables.max(1))
    }

    fn keep(&mut self, needs: &dyn Fn(Place) -> bool) {
        if let Some((any, _)) = self.proven.first()
            && needs(same_servers(Place::Transport(*any)))
        {
            return;
        }
        self.donor = None;
        self.proven.clear();
    }

    fn receiver(&self, _: &Ground, place: Place) -> Result<Option<Box<dyn Receiver + '_>>, OpsError> {
        let (Some(donor), Place::Transport(transport)) = (&self.donor, place) else { return Ok(None) };
        let known = self.proven.iter().find(|(known, _)| *known == transport);
        let tls = known.and_then(|(_, tls)| tls.as_ref());
        Ok(Some(Box::new(donor.copy(transport, tls)?)))
    }
}

impl Transports {
    fn start(
        &self,
        ground: &mut Ground,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Donor, OpsError> {
        say(&format!("starting a donor, {MARIADB}"));
        let number = ground.number()?;
        let dir = ground.dir(&format!("c{number}"));
        let options = [BUFFER_POOL, "--performance-schema=OFF"].map(str::to_owned);
        let server = Server::start(MARIADB, free_port()?, &dir, &options)?;
        let target = ground.options(server.address());
        let tables = ground.tables(self.rows_min(ground, place));
        Donor::fill(server, &target, &tables, free_ports()?, stop, say)
    }
}

/// The kernel may name one that nobody has taken yet again.
fn free_ports() -> Result<[u16; 3], OpsError> {
    loop {
        let ports = [free_port()?, free_port()?, free_port()?];
        let [one, two, three] = ports;
        if one != two && two != three && one != three {
            return Ok(ports);
        }
    }
}
