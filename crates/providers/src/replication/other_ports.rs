//! Ports of MySQL beside the main one, which have a TLS configuration of their own.
//!
//! # Source
//! Seen on 9.7.4: the admin port shows the main port's certificate, also after `ALTER INSTANCE RELOAD TLS`, unless `admin_ssl_…` are set; the
//! X Protocol's port goes on showing what mysqld read at its start. MySQL reference manual, "X Plugin Options and System Variables":
//! without `mysqlx_ssl_…`, X Plugin uses the server's files.

use model::{NodeName, Step};
use server::NodeView;

use crate::preflight::{Problem, Seen, problem};
use crate::world::World;

/// What the steps leave as it is on such ports.
pub fn told(world: &mut World<'_>, steps: &[Step]) -> Vec<String> {
    let is_changed = |name: &NodeName| {
        let mut of_certificates =
            steps.iter().filter(|step| ["live-files", "rotate"].contains(&step.kind.as_str()));
        of_certificates.any(|step| !step.no_op && step.nodes.contains(name))
    };
    let names: Vec<NodeName> = world.names().into_iter().filter(is_changed).collect();
    let mut lines = Vec::new();
    for name in names {
        let Ok(view) = world.node(&name).and_then(|node| node.view().map_err(crate::steps::fail)) else {
            continue;
        };
        if view.capabilities().live_tls_files {
            lines.extend(of_server(&view).into_iter().map(|line| format!("{name}: {line}")));
        }
    }
    lines
}

fn of_server(view: &NodeView) -> Vec<String> {
    let set = |variable: &str| view.variable(variable).is_some_and(|value| !value.is_empty());
    let port = |variable: &str| view.variable(variable).unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    if set("admin_address") && set("admin_ssl_cert") {
        lines.push(format!(
            "the admin port {} has files of its own (admin_ssl_cert) and keeps them",
            port("admin_port")
        ));
    }
    // Where X Plugin is off there is no such variable.
    if set("mysqlx_port") {
        let keeps = if set("mysqlx_ssl_cert") {
            "has files of its own (mysqlx_ssl_cert) and keeps them"
        } else {
            "shows its old certificate until mysqld is started again"
        };
        lines.push(format!("the port of the X Protocol, {}, {keeps}", port("mysqlx_port")));
    }
    lines
}

/// What a server goes on showing on such a port now that its certificate was replaced, behind the note of a step.
pub fn at_end(view: &NodeView) -> String {
    match view.x_protocol_lags() {
        Some((port, until)) => format!(
            "; its port of the X Protocol, {port}, shows its old certificate, valid until {until}, until mysqld is started again"
        ),
        None => String::new(),
    }
}

/// `tls_version=''` is taken by SET GLOBAL and refused by the reload (3888, "TLS version is invalid"): the change would stop there.
pub fn check(_: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
    let of = |(name, view): (&NodeName, &NodeView)| {
        let is_none = view.capabilities().live_tls_files
            && view.variable("tls_version").is_some_and(|value| value.trim().is_empty());
        is_none.then(|| {
            problem(
                name,
                "no TLS version is allowed",
                "tls_version is empty, and with that ALTER INSTANCE RELOAD TLS is refused (error 3888)",
                "SET GLOBAL tls_version = 'TLSv1.2,TLSv1.3', and the same in the option file if it has it; then plan again",
            )
        })
    };
    seen.up().filter_map(of).collect()
}
