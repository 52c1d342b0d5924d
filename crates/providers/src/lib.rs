//! What can be changed, as steps for the engine: today TLS for Galera replication, SST and clients, with their certificates.
//!
//! A provider plans from what it sees, and proves its post-checks by looking anew, through [`server::ReadNode`] and
//! [`model::Look`]. Only a step's action is handed [`server::WriteNode`].
//!
//! At this level stands what every provider shares: a [`World`] of nodes, kinds of [`steps`], what is written on a node ([`edit`],
//! [`files`]), and checks before a change ([`preflight`]). What differs by the way in which nodes replicate is asked of
//! the world's [`topology`]. [`galera`] is the provider for a Galera cluster. [`disk`] changes no server: it is about one volume of this
//! machine, and stands beside the world of nodes.

mod accounts;
pub mod by_hand;
pub mod disk;
mod draft;
mod drain;
pub mod drift;
pub mod edit;
mod estate;
pub mod files;
pub mod galera;
pub mod inventory_state;
mod journal_copies;
pub mod kept_keys;
mod left;
mod needs;
pub mod plan;
mod plan_parts;
pub mod preflight;
mod proxies;
pub mod replication;
pub mod rest;
mod rollover;
pub mod steps;
mod threads;
mod tls_rules;
pub mod topology;
mod undo_warnings;
mod unified;
mod variables;
mod world;

pub use estate::ESTATE;
pub use galera::{GALERA, JOIN, equip, is_left_to_its_step, notes_of_join};
pub use inventory_state::other_authority;
pub use left::{give_up, left_as};
pub use plan::{PlanError, plan, propose};
pub use plan_parts::instead_of_undo;
pub use preflight::{Problem, preflight};
pub use replication::REPLICATION;
pub use undo_warnings::undo_warnings;
pub use world::{Authority, Limits, Part, Recent, World};
