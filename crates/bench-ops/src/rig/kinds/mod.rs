//! Kinds of servers that experiments need: a file each, and a line in [`all`].

mod donor;
mod echo;
mod galera;
mod replica;
mod single;
mod transport;

use std::sync::atomic::AtomicBool;

use ::bench::experiments::{Between, Place, Tool, Transport, TransportCipher};
use site::OpsError;

use super::Reached;
use super::ground::Ground;
use crate::keys;
use crate::links::Links;
use crate::transfer::Receiver;

/// One kind of server: how it is made, proven to be what it is called, and reached.
pub trait ServerKind {
    fn serves(&self, place: Place) -> bool;

    /// For progress and reports.
    fn describe(&self, place: Place) -> String;

    /// Makes what the place needs, where it is not there yet, and says how it is reached.
    ///
    /// # Errors
    /// What does not come up, or is not what it was to be.
    fn reach(
        &mut self,
        ground: &mut Ground,
        place: Place,
        stop: &AtomicBool,
        say: &mut dyn FnMut(&str),
    ) -> Result<Reached, OpsError>;

    /// Rows that each of the plan's tables needs at least, for what is measured to show.
    fn rows_min(&self, _ground: &Ground, _place: Place) -> u32 {
        0
    }

    /// Ends what is not needed.
    fn keep(&mut self, needs: &dyn Fn(Place) -> bool);

    /// Who is about to take everything, where that is what the place is for.
    ///
    /// # Errors
    /// It does not stand still.
    fn receiver(&self, _ground: &Ground, _place: Place) -> Result<Option<Box<dyn Receiver + '_>>, OpsError> {
        Ok(None)
    }

    /// What the links between its nodes are at this moment; `None` where no chance decides.
    ///
    /// # Errors
    /// A node is not what it was to be.
    fn links(&self, _place: Place) -> Result<Option<Links>, OpsError> {
        Ok(None)
    }
}

/// Every kind, empty.
pub fn all() -> Vec<Box<dyn ServerKind>> {
    vec![
        Box::<single::Singles>::default(),
        Box::<galera::Clusters>::default(),
        Box::<donor::Donors>::default(),
        Box::<replica::Sources>::default(),
        Box::<echo::Echoes>::default(),
        Box::<transport::Transports>::default(),
    ]
}

/// Two places on the same servers are the same here: one cluster serves all delays: they are set while it runs.
pub fn same_servers(place: Place) -> Place {
    match place {
        Place::Wan { tls, .. } => Place::Wan { tls, one_way_ms: 0 },
        // And one both ways to send: option files are read anew by every transfer.
        Place::Sst { method, .. } => Place::Sst { method, tls: false },
        Place::Replica { .. } => Place::Replica { tls: false },
        Place::Transport(_) => Place::Transport(Transport {
            tool: Tool::Tar,
            cipher: TransportCipher::ClearText,
            aes_ni: true,
            line: None,
        }),
        other => other,
    }
}

fn transport(between: Between) -> String {
    match between {
        Between::ClearText => "cleartext".into(),
        Between::Tls(key) => format!("TLS with {}", keys::name(key)),
        Between::Dynamic(key) => format!("cleartext or TLS with {}", keys::name(key)),
    }
}
