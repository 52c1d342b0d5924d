//! What must hold of a Galera cluster before it is changed. [`CHECKS`] is the register, in the order in which reasons are shown.

mod arbitrators;
mod flavour;
mod gcache;
pub mod join;
mod key_kind;
pub mod live_and_file;
mod members;
mod own_settings;
mod ports;
mod sst_method;

use crate::preflight::{
    Cause, Check, Problem, Seen, client_cas, clocks, command_line, elsewhere, left_on, managed,
    not_answering, place, problem, profile, service_commands, set_live, tls_library, trust_files,
    unreadable_options,
};

/// Before a server joins.
pub const CHECKS_OF_JOIN: &[(&str, Check)] = &[("join", join::check)];

pub const CHECKS: &[(&str, Check)] = &[
    ("members", members::check),
    ("arbitrators", arbitrators::check),
    ("flavour", flavour::check),
    ("live-and-file", live_and_file::check),
    ("set-live", set_live::check),
    ("command-line", command_line::check),
    ("service-commands", service_commands::check),
    ("managed", managed::check),
    ("own-settings", own_settings::check),
    ("left-on", left_on::check),
    ("profile", profile::check),
    ("place", place::check),
    ("ports", ports::check),
    ("key-kind", key_kind::check),
    ("gcache", gcache::check),
    ("sst-method", sst_method::check),
    ("trust-files", trust_files::check),
    ("client-cas", client_cas::check),
    ("clocks", clocks::check),
    ("tls-library", tls_library::check),
];
