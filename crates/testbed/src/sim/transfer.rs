//! State transfer: who serves a joiner, by which way, in cleartext or not.

use super::links::Wire;
use super::process::{Group, Speaks};
use super::world::World;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ist,
    Sst,
    /// It had everything already.
    None,
}

/// One finished or begun state transfer, for tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    pub joiner: usize,
    pub donor: usize,
    pub kind: Kind,
    pub wire: Wire,
}

/// A joiner under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub donor: Option<usize>,
    pub answers_ms: u64,
    pub joined_ms: u64,
    pub synced_ms: u64,
}

impl World {
    pub(super) fn begin_transfer(&mut self, joiner: usize) {
        if self.servers[joiner].is_arbitrator {
            // A "trivial" one.
            self.servers[joiner].local_state = 4;
            self.log(joiner, "INFO", "Shifting JOINED -> SYNCED");
            return;
        }
        let wish = self.servers[joiner].wants_donor;
        let donors: Vec<usize> = (0..self.servers.len())
            .filter(|&index| {
                index != joiner
                    && !self.servers[index].is_arbitrator
                    && self.is_primary(index)
                    && self.servers[index].local_state == 4
            })
            .collect();
        let donor = wish.filter(|wish| donors.contains(wish)).or_else(|| self.rng.choose(&donors));
        let behind = self.servers[joiner].seqno < self.app.acknowledged;
        let was_up = self.servers[joiner].is_up();
        let (answers, joined) =
            if was_up { (0, 700) } else { (self.rng.between(1200, 1800), self.rng.between(3200, 5200)) };
        let synced = joined + self.rng.between(200, 900);
        let Some(donor) = donor else {
            // Nobody can serve now. It keeps asking; a node that has everything needs no donor.
            let now = self.now_ms;
            let waits = if behind { 1_000 } else { 0 };
            self.servers[joiner].transfer = Some(Progress {
                donor: None,
                answers_ms: now + answers,
                joined_ms: now + joined + waits,
                synced_ms: now + synced + waits,
            });
            return;
        };
        let mut kind = Kind::None;
        let mut slower = self.transfers_slower_ms;
        if behind {
            kind = if self.servers[joiner].seqno == 0 { Kind::Sst } else { Kind::Ist };
        }
        if kind != Kind::None && self.transfers_fail > 0 {
            self.transfers_fail -= 1;
            self.abort(joiner, "WSREP: Will never receive state. Need to abort.");
            return;
        }
        if kind == Kind::Ist {
            let joiner_ssl = self.servers[joiner].live.as_ref().is_some_and(|live| live.ist_ssl);
            let letters = |index: usize| self.servers[index].live.as_ref().map_or('?', |live| live.letter);
            let (joins, gives) = (letters(joiner), letters(donor));
            if joiner_ssl
                && self.servers[donor].live.as_ref().is_some_and(|live| live.speaks == Speaks::Plain)
            {
                self.log(donor, "Note", "WSREP: Detected STR version: 1, req_len: 121, req: STRv1");
                self.segfault(donor);
                if joins == 'X' {
                    self.segfault(joiner);
                } else {
                    self.abort(joiner, "WSREP: State transfer request failed: IST sender is gone");
                }
                return;
            }
            if joins == 'X' {
                self.segfault(joiner);
                return;
            }
            let wire = match (joins, gives) {
                ('S', _) | ('D', 'D' | 'S') => Wire::Tls,
                _ => Wire::Plain,
            };
            self.transfers.push(Transfer { joiner, donor, kind, wire });
        }
        if kind == Kind::Sst {
            let (joins, gives) = (self.servers[joiner].sst_is_tls(), self.servers[donor].sst_is_tls());
            if joins != gives {
                self.abort(joiner, "WSREP: Will never receive state. Need to abort.");
                return;
            }
            slower += 6_000;
            let wire = if joins { Wire::Tls } else { Wire::Plain };
            self.transfers.push(Transfer { joiner, donor, kind, wire });
        }
        let now = self.now_ms;
        self.servers[joiner].transfer = Some(Progress {
            donor: (kind != Kind::None).then_some(donor),
            answers_ms: now + slower + answers,
            joined_ms: now + slower + joined,
            synced_ms: now + slower + synced,
        });
        if kind != Kind::None {
            // Sometimes the donor is back in step only after its joiner.
            let until = now + slower + joined + self.rng.between(100, 1_500);
            self.servers[donor].donates_until_ms = Some(until);
            self.servers[donor].local_state = 2;
        }
    }

    pub(super) fn transfer_state(&mut self) {
        let now = self.now_ms;
        for index in 0..self.servers.len() {
            if self.servers[index].donates_until_ms.is_some_and(|until| now >= until) {
                self.servers[index].donates_until_ms = None;
                if self.servers[index].desync == 0 && self.servers[index].local_state == 2 {
                    self.servers[index].local_state = 4;
                }
            }
            let Some(progress) = self.servers[index].transfer.clone() else { continue };
            if self.servers[index].group != Group::Primary {
                self.servers[index].transfer = None;
                continue;
            }
            let donor_gone = progress
                .donor
                .is_some_and(|donor| self.servers[donor].process.is_none() || self.is_cut(index, donor));
            if donor_gone && self.servers[index].local_state == 1 && !self.servers[index].is_up() {
                self.abort(index, "WSREP: Will never receive state. Need to abort.");
                continue;
            }
            if now >= progress.answers_ms {
                self.answer(index);
            }
            if now >= progress.joined_ms && self.servers[index].local_state == 1 {
                // Nobody served it yet: it asks again.
                if progress.donor.is_none() && self.servers[index].seqno < self.app.acknowledged {
                    self.begin_transfer(index);
                    continue;
                }
                self.servers[index].local_state = 3;
                self.servers[index].seqno = self.app.acknowledged;
            }
            if now >= progress.synced_ms && self.servers[index].local_state == 3 {
                self.servers[index].local_state = 4;
                self.servers[index].transfer = None;
                self.log(index, "Note", "WSREP: Shifting JOINED -> SYNCED");
            }
        }
    }

    pub fn set_desync(&mut self, index: usize, on: bool) {
        let server = &mut self.servers[index];
        if server.desync_was_lost {
            // "'wsrep_desync' is already ON" (1231), and nothing else; OFF is taken.
            server.desync_was_lost = on;
            return;
        }
        server.desync = if on { server.desync + 1 } else { server.desync.saturating_sub(1) };
        if on {
            server.local_state = 2;
        } else if server.desync == 0 && server.donates_until_ms.is_none() && server.local_state == 2 {
            // It has what it missed within moments: through Joined to Synced.
            let now = self.now_ms;
            server.local_state = 3;
            server.transfer =
                Some(Progress { donor: None, answers_ms: 0, joined_ms: 0, synced_ms: now + 300 });
        }
    }
}
