//! No database: what answers with what it gets, to know what the network and TLS alone take.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use ::bench::experiments::Place;
use site::OpsError;
use site::servers::internal;

use super::super::Reached;
use super::super::child::{OwnedChild, free_port, listens, quiet};
use super::super::ground::Ground;
use super::ServerKind;
use crate::keys;

#[derive(Default)]
pub struct Echoes(Vec<(bool, OwnedChild, SocketAddr)>);

impl ServerKind for Echoes {
    fn serves(&self, place: Place) -> bool {
        matches!(place, Place::Echo { .. })
    }

    fn describe(&self, _: Place) -> String {
        "no database".into()
    }

    fn reach(
        &mut self,
        ground: &mut Ground,
        place: Place,
        _: &AtomicBool,
        _: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError> {
        self.echo(ground, matches!(place, Place::Echo { tls: true }))
    }

    /// It costs nothing while it waits.
    fn keep(&mut self, _: &dyn Fn(Place) -> bool) {}
}

impl Echoes {
    fn echo(&mut self, ground: &mut Ground, tls: bool) -> Result<Reached, OpsError> {
        let mut known = self.0.iter().find(|(known, _, _)| *known == tls).map(|(_, _, at)| *at);
        if known.is_none() {
            let at = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), free_port()?);
            let mut command = Command::new("/proc/self/exe");
            command.arg("__server").arg("/proc/self/exe").arg("__echo").arg(at.to_string());
            if tls {
                let keys::Files { pair, .. } = ground.plain_keys("echo")?;
                command.arg(pair.cert).arg(pair.key);
            }
            let child = quiet(&mut command).spawn().map_err(internal("cannot start the echo server"))?;
            let mut ended = OwnedChild(child);
            listens(at, &mut ended, "the echo")?;
            self.0.push((tls, ended, at));
            known = Some(at);
        }
        let targets = known.into_iter().map(|at| ground.options(at)).collect();
        Ok(Reached { is_echo: true, ..Reached::at(targets) })
    }
}
