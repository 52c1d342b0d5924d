//! A server on a host: session, option files with their includes, and one capability table per flavour and version.
//!
//! Start reading at [`node`]; [`live`] is the real one.

pub mod accounts;
pub mod arbitrator;
pub mod at_rest;
pub mod capability;
pub mod cluster_address;
pub mod galera;
pub mod grants;
mod like;
pub mod live;
pub mod live_settings;
pub mod logins;
pub mod machine;
pub mod node;
pub mod options;
pub mod owner;
pub mod places;
pub mod provider_options;
pub mod proxy;
pub mod replication;
pub mod rights;
pub mod sessions;
pub mod sst;
pub mod support;
pub mod tls_files;
pub mod tls_library;
pub mod tls_rules;
pub mod view;

pub use arbitrator::{ArbitratorView, LiveArbitrator, ReadArbitrator, WriteArbitrator};
pub use at_rest::{
    AtRest, AtRestSetting, BinaryLog, KeyWish, LiveSettings, NotRead, OwnChoice, Rebuild, RebuildSample,
    Rebuilt, RotationPages, Space, Table, TableName, UndoRound,
};
pub use capability::{Capabilities, Flavour, Trust};
pub use galera::GaleraFacts;
pub use grants::OwnGrants;
pub use live::LiveNode;
pub use live_settings::{AfterRestart, LiveSetting};
pub use logins::{HostLogins, Logins, logins};
pub use machine::Machine;
pub use net::PemSet;
pub use node::{
    Admits, Alive, CleartextLogin, Hook, NodeError, NodeSpec, PlacesAtRest, ReadMember, ReadNode, Sessions,
    WriteMember, WriteNode,
};
pub use provider_options::{GaleraState, ProviderOptions};
pub use proxy::{
    AdminState, Carried, LiveProxy, ProxyError, ProxyServer, ProxySpec, ReadProxy, ServerName, WriteProxy,
};
pub use replication::{Channel, ChannelTls, ThreadState, Threads, TlsFiles};
pub use sessions::{TcpSession, TcpSessions, tcp_sessions};
pub use sst::{OWN_FILES, SstOptions, SstTls};
pub use tls_rules::{OfferAnswer, SqlPort, TlsOffer, TlsRules};
pub use view::NodeView;
