//! A simulated garbd as the steps see it.

use std::sync::Arc;
use std::time::Duration;

use formats::shell_vars::ShellVars;
use host::{ProcessFacts, ReadHost, WriteHost};
use net::PemSet;
use server::arbitrator::owner_of;
use server::{
    Admits, Alive, ArbitratorView, NodeError, NodeSpec, ReadArbitrator, ReadMember, WriteArbitrator,
    WriteMember,
};

use super::disk::SimHost;
use super::node::SimNode;
use super::world::Shared;

#[derive(Debug)]
pub struct SimArbitrator {
    shared: Shared,
    index: usize,
    host: SimHost,
    /// Its machine and its process are those of any simulated server.
    member: SimNode,
}

impl SimArbitrator {
    pub fn new(shared: &Shared, index: usize) -> Self {
        Self {
            shared: shared.clone(),
            index,
            host: SimHost { shared: shared.clone(), index },
            member: SimNode::new(shared, index),
        }
    }

    fn host_error(&self, why: impl std::fmt::Display) -> NodeError {
        NodeError::Host { node: self.spec().name.clone(), why: why.to_string() }
    }
}

impl ReadMember for SimArbitrator {
    fn spec(&self) -> &NodeSpec {
        self.member.spec()
    }

    fn process(&mut self) -> Option<ProcessFacts> {
        self.shared.reach_host(self.index).ok()?;
        self.shared.borrow().servers[self.index].process_facts()
    }

    fn alive(&mut self) -> Alive {
        self.member.alive()
    }

    fn owner(&mut self) -> Option<(u32, u32)> {
        owner_of(self)
    }

    fn host(&self) -> &dyn ReadHost {
        &self.host
    }

    fn galera_leaf(&mut self) -> Result<String, NodeError> {
        self.shared.reach_host(self.index).map_err(|lost| self.host_error(lost))?;
        let world = self.shared.borrow();
        let server = &world.servers[self.index];
        let identity = server.live.as_ref().and_then(|live| live.galera.as_ref());
        let identity = identity.ok_or_else(|| self.host_error("the Galera port speaks no TLS"))?;
        Ok(String::from_utf8_lossy(&identity.cert).into_owned())
    }

    fn galera_shows(&mut self) -> Result<String, NodeError> {
        self.shared.borrow().shown_leaf(self.index).map_err(|why| self.host_error(why))
    }

    fn galera_admits(&mut self, shown: &Arc<PemSet>) -> Result<Admits, NodeError> {
        self.shared.borrow().admits(self.index, &shown.cert).map_err(|why| self.host_error(why))
    }

    fn wait(&mut self, how_long: Duration) {
        self.member.wait(how_long);
    }

    fn now_ms(&self) -> u64 {
        self.member.now_ms()
    }

    fn log_tail(&self, lines: usize) -> Vec<String> {
        self.member.log_tail(lines)
    }
}

impl ReadArbitrator for SimArbitrator {
    fn view(&mut self) -> Result<ArbitratorView, NodeError> {
        self.shared.advance(2);
        self.shared.reach_host(self.index).map_err(|lost| self.host_error(lost))?;
        let world = self.shared.borrow();
        let server = &world.servers[self.index];
        let node = || server.spec.name.clone();
        match (server.process_facts(), &server.live) {
            (Some(process), Some(live)) => {
                Ok(ArbitratorView { process, group: "sim".into(), options: live.options.clone() })
            }
            _ if server.start_job_ms.is_some() => Err(NodeError::Silent {
                node: node(),
                why: "it is being started".into(),
                runs_unheard: false,
            }),
            _ if server.manager_is_silent => Err(NodeError::Silent {
                node: node(),
                why: "the service manager does not answer".into(),
                runs_unheard: false,
            }),
            _ => Err(NodeError::Down { node: node(), why: "no garbd of this cluster runs there".into() }),
        }
    }

    fn file(&mut self) -> Result<ShellVars, NodeError> {
        let path = self.spec().defaults_file.clone();
        let bytes = self.host.read(&path, 1 << 20).map_err(|error| self.host_error(error))?;
        let bytes = bytes.ok_or_else(|| self.host_error("it is not there"))?;
        ShellVars::parse(&bytes, &path.display().to_string()).map_err(|error| self.host_error(error))
    }
}

impl WriteMember for SimArbitrator {
    fn write_host(&self) -> &dyn WriteHost {
        &self.host
    }

    fn stop(&mut self) -> Result<(), NodeError> {
        self.member.stop()
    }

    fn start(&mut self) -> Result<(), NodeError> {
        self.member.start()
    }
}

impl WriteArbitrator for SimArbitrator {
    fn reading(&mut self) -> &mut dyn ReadArbitrator {
        self
    }
}
