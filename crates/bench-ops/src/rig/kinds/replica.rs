//! A source with its log, and a replica that has nothing: one pair serves both arms.

use std::sync::atomic::{AtomicBool, Ordering};

use ::bench::experiments::{Made, Place};
use site::OpsError;

use super::super::Reached;
use super::super::child::free_port;
use super::super::ground::{BUFFER_POOL, Ground, ended};
use super::ServerKind;
use crate::keys;
use crate::replica::Replicas;
use crate::transfer::{self, Receiver};

#[derive(Default)]
pub struct Sources(Option<Replicas>);

impl ServerKind for Sources {
    fn serves(&self, place: Place) -> bool {
        matches!(place, Place::Replica { .. })
    }

    fn describe(&self, place: Place) -> String {
        let is_tls = matches!(place, Place::Replica { tls: true });
        format!("replication, {}", if is_tls { "TLS" } else { "cleartext" })
    }

    fn reach(
        &mut self,
        ground: &mut Ground,
        _: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        self.replica(ground, stop, say)
    }

    fn keep(&mut self, needs: &dyn Fn(Place) -> bool) {
        self.0.take_if(|_| !needs(Place::Replica { tls: false }));
    }

    fn receiver(&self, _: &Ground, place: Place) -> Result<Option<Box<dyn Receiver + '_>>, OpsError> {
        match (&self.0, place) {
            (Some(replicas), Place::Replica { tls }) => Ok(Some(Box::new(replicas.prepare(tls)?))),
            _ => Ok(None),
        }
    }
}

impl Sources {
    /// A source with its log, and a replica that has nothing. Both ways to read it are watched while the log is short: of a long one
    /// packets would be missed.
    fn replica(
        &mut self,
        ground: &mut Ground,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        if self.0.is_none() {
            let number = ground.number()?;
            let dir = ground.dir(&format!("r{number}"));
            say("starting a source and a replica");
            let files = keys::make(&dir.join("keys"), Made::PLAIN.key, Made::PLAIN.issuers)?;
            let common = [BUFFER_POOL, "--performance-schema=OFF"];
            let pair = Replicas::start(&dir, &files, [free_port()?, free_port()?], &common)?;
            let word = transfer::plant(&ground.options(pair.source().address()))?;
            for tls in [false, true] {
                say(&format!("watching {}", self.describe(Place::Replica { tls })));
                transfer::proves(&pair.prepare(tls)?, &word, tls, stop)?;
            }
            say("filling the binary log of the source");
            pair.fill(stop)?;
            if stop.load(Ordering::Relaxed) {
                return Err(ended());
            }
            self.0 = Some(pair);
        }
        let source = self.0.iter().map(|pair| ground.options(pair.source().address()));
        Ok(Reached::at(source.collect()))
    }
}
