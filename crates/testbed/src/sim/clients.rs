//! An application: a pool of connections per node that follows health checks, and writes that are remembered when acknowledged.

use model::Handshake;
use server::{OfferAnswer, Sessions, SqlPort, TlsOffer};

use super::process::LingeringSessions;
use super::world::World;

const POOL: usize = 4;
/// A pool leaves a node this long after its health check fails; work under way ends sooner.
const LEAVES_MS: u64 = 400;
const FINISHES_MS: u64 = 150;

#[derive(Debug, Clone)]
pub struct App {
    pub writes: bool,
    /// It takes TLS where it is offered (`--ssl-mode=PREFERRED`).
    pub takes_tls: bool,
    /// What its handshakes come to; `None`: nobody tells.
    pub handshake: Option<Handshake>,
    /// The newest acknowledged write. All writes are one sequence: the total order of the group.
    pub acknowledged: u64,
    pub failed: u64,
    pub last_ms: u64,
    pub longest_stall_ms: u64,
}

impl Default for App {
    fn default() -> Self {
        let suite = Some("TLS_AES_256_GCM_SHA384".into());
        let handshake = Some(Handshake { version: "TLSv1.3".into(), suite });
        Self {
            writes: true,
            takes_tls: true,
            handshake,
            acknowledged: 0,
            failed: 0,
            last_ms: 0,
            longest_stall_ms: 0,
        }
    }
}

impl World {
    /// Who reads the binary log of a server.
    pub(super) fn replicas_of(&self, index: usize) -> Vec<String> {
        let reads = |server: &&super::process::Server| {
            server.channels.iter().any(|channel| {
                channel.source == index
                    && matches!(channel.receiver, super::channels::Receiver::Running { .. })
            })
        };
        let known =
            self.servers.iter().filter(reads).map(|server| format!("repl@{}:40000", server.spec.address));
        known.chain(self.servers[index].foreign_replicas.iter().cloned()).collect()
    }

    pub fn write_from_now_on(&mut self) {
        self.app.writes = true;
        (self.app.last_ms, self.app.longest_stall_ms) = (self.now_ms, 0);
    }

    /// What a handshake of somebody at the client port comes to.
    pub(super) fn client_takes(&self, index: usize, offer: &TlsOffer) -> Result<OfferAnswer, String> {
        let server = &self.servers[index];
        let live = server.live.as_ref().ok_or("it does not run")?;
        let client = live.client.as_ref().ok_or("the server does not offer TLS")?;
        let has = |option: &str| live.rules.get(option).unwrap_or_default();
        let is_it = |one: &str| offer.version.is_none_or(|version| version.to_string() == one);
        if offer.port == SqlPort::Admin && !self.admin_answers {
            return Err("Can't connect to server (110)".into());
        }
        let refused = if !has("tls_version").split(',').any(is_it) {
            Some("tlsv1 alert protocol version")
        } else if offer.ciphers.is_some() && !has("ssl_cipher").is_empty() {
            // Of a profile, which has none of these.
            Some("sslv3 alert handshake failure")
        } else {
            None
        };
        if let Some(alert) = refused.filter(|_| !server.takes_all) {
            return Ok(OfferAnswer::Refused(alert.into()));
        }
        let stale = self.admin_leaf.as_ref().filter(|_| offer.port == SqlPort::Admin);
        Ok(OfferAnswer::Taken(String::from_utf8_lossy(stale.unwrap_or(&client.leaf)).into_owned()))
    }

    /// What a health check asks: Synced, ready, in the primary component.
    pub fn is_healthy(&self, index: usize) -> bool {
        let server = &self.servers[index];
        server.is_up() && !server.is_frozen() && server.local_state == 4 && self.is_primary(index)
    }

    /// Clients can work there, in service or not.
    pub fn is_serving(&self, index: usize) -> bool {
        self.servers[index].is_up() && self.is_primary(index) && self.servers[index].local_state >= 2
    }

    pub fn sessions(&self, index: usize) -> Sessions {
        let server = &self.servers[index];
        let mut seen = match server.unhealthy_since_ms {
            None => Sessions { users: POOL, busy: 1 },
            Some(since) => Sessions {
                users: if self.now_ms < since + LEAVES_MS { POOL } else { 0 },
                busy: usize::from(self.now_ms < since + FINISHES_MS),
            },
        };
        match server.lingering_sessions {
            LingeringSessions::None => {}
            LingeringSessions::Idle => seen.users += 1,
            LingeringSessions::Busy => {
                seen.users += 1;
                seen.busy += 1;
            }
        }
        seen
    }

    /// The server goes away: work under way there fails.
    pub(super) fn cut_sessions(&mut self, index: usize) {
        if self.servers[index].is_up() && self.is_primary(index) {
            self.app.failed += self.sessions(index).busy as u64;
        }
    }

    pub(super) fn serve_clients(&mut self) {
        let members = self.of_cluster();
        let healthy: Vec<usize> = members.iter().copied().filter(|&index| self.is_healthy(index)).collect();
        for index in members {
            let is_well = healthy.contains(&index);
            let now = self.now_ms;
            let since = &mut self.servers[index].unhealthy_since_ms;
            *since = if is_well { None } else { Some(since.unwrap_or(now)) };
        }
        if !self.app.writes {
            return;
        }
        // A member that is gone and not yet declared so holds up every commit.
        if !healthy.is_empty() && !self.is_held_up() {
            self.app.acknowledged += healthy.len() as u64;
            let newest = self.app.acknowledged;
            for index in 0..self.servers.len() {
                if self.is_primary(index) && self.servers[index].local_state >= 2 {
                    self.servers[index].seqno = newest;
                }
            }
            self.app.last_ms = self.now_ms;
        }
        self.app.longest_stall_ms = self.app.longest_stall_ms.max(self.now_ms - self.app.last_ms);
    }

    /// Acknowledged writes that a node does not have. Meant for the end, when all are Synced.
    pub fn lost(&self) -> Vec<String> {
        let of_cluster = self
            .servers
            .iter()
            .filter(|server| {
                let has_data = !server.is_arbitrator && !server.is_out() && !server.is_by_itself;
                has_data && server.seqno != self.app.acknowledged
            })
            .map(|server| {
                format!(
                    "{} has {} of {} acknowledged writes",
                    server.name(),
                    server.seqno,
                    self.app.acknowledged
                )
            });
        of_cluster.chain(self.fleet_lost()).collect()
    }
}
