//! What a capture showed of one link.

use crate::LinkKind;
use crate::fact::{Fact, facts};

facts! {
    /// Whether Galera replication between two nodes was sealed or plain.
    WIRE_GALERA = "wire.galera", Word, [Status => Galera];
    /// Whether an incremental state transfer between two nodes was sealed or plain.
    WIRE_IST = "wire.ist", Word, [Status => Galera];
    /// Whether a snapshot state transfer between two nodes was sealed or plain.
    WIRE_SST = "wire.sst", Word, [Status => Galera];
    /// Whether the traffic of a server's clients was sealed or plain.
    WIRE_CLIENT = "wire.client", Word, [Status => All];
    /// Whether the traffic of a replica with its source was sealed or plain.
    WIRE_REPLICATION = "wire.replication", Word, [Status => All];
}

/// What is noted of a link of this kind.
pub fn of(kind: LinkKind) -> &'static Fact {
    match kind {
        LinkKind::Galera => &WIRE_GALERA,
        LinkKind::Ist => &WIRE_IST,
        LinkKind::Sst => &WIRE_SST,
        LinkKind::Client => &WIRE_CLIENT,
        LinkKind::Replication => &WIRE_REPLICATION,
    }
}
