//! Ports of MySQL beside the main one, which have a TLS configuration of their own.
//!
//! # Source
//! Seen on 9.7.4: the admin port shows the main port's certificate, also after `ALTER INSTANCE RELOAD TLS`, unless `admin_ssl_…` are set; the
//! X Protocol's port goes on showing what mysqld read at its start, and follows `tls_version` then only. MySQL reference manual, "X Plugin Options and System Variables":
//! without `mysqlx_ssl_…`, X Plugin uses the server's files.

use std::path::Path;

use change::StepError;
use model::{Change, NodeName, Step};
use server::{NodeView, OfferAnswer, SqlPort, TlsOffer};

use crate::preflight::{Problem, Seen, problem};
use crate::steps::fail;
use crate::world::World;

/// What the steps leave as it is on such ports.
pub fn told(world: &mut World<'_>, change: &Change, steps: &[Step]) -> Vec<String> {
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
            lines.extend(
                of_server(&view, change.profile.is_some()).into_iter().map(|line| format!("{name}: {line}")),
            );
        }
    }
    lines
}

fn of_server(view: &NodeView, has_profile: bool) -> Vec<String> {
    let set = |variable: &str| view.variable(variable).is_some_and(|value| !value.is_empty());
    let port = |variable: &str| view.variable(variable).unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    if set("admin_address") && set("admin_ssl_cert") {
        let versions = if has_profile { ", with its own admin_tls_version and suites" } else { "" };
        lines.push(format!(
            "the admin port {} has files of its own (admin_ssl_cert) and keeps them{versions}",
            port("admin_port")
        ));
    }
    // Where X Plugin is off there is no such variable.
    if set("mysqlx_port") {
        let keeps = if set("mysqlx_ssl_cert") {
            "has files of its own (mysqlx_ssl_cert) and keeps them"
        } else if has_profile {
            "keeps its certificate, versions and suites until mysqld is started again"
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

/// Seen on MySQL 9.7.4.
const NO_TLS_AT_ADMIN: &str = "; its admin port offers no TLS, as where admin_tls_version is given at the start and admin_ssl_cert is not";

/// The admin port shows what the main one does, where it has no files of its own: by a handshake there.
///
/// # Errors
/// It shows another certificate.
pub fn admin_at_end(world: &mut World<'_>, name: &NodeName, view: &NodeView) -> Result<String, StepError> {
    if !view.admin_follows_main() {
        return Ok(String::new());
    }
    let node = world.node(name)?;
    let main = node.client_leaf().map_err(fail)?;
    let serial = |pem: &str| {
        let chain = trust::inspect(pem.as_bytes()).map_err(fail)?;
        let leaf = chain.into_iter().next().ok_or_else(|| fail("there is no certificate"))?;
        Ok::<_, StepError>(leaf.serial_hex)
    };
    let cannot_tell =
        |why: &dyn std::fmt::Display| format!("; what its admin port shows cannot be told ({why})");
    Ok(match node.client_takes(&TlsOffer::any(SqlPort::Admin)) {
        Ok(OfferAnswer::Taken(shown)) => {
            let (shown, main) = (serial(&shown)?, serial(&main)?);
            if shown != main {
                return Err(fail(format!(
                    "the admin port of {name} shows another certificate than the main one: serial {shown}, not {main}\n  why:  it has no \
                     admin_ssl_cert of its own, and has not followed\n  next: ALTER INSTANCE RELOAD TLS there, then sealion resume"
                )));
            }
            "; its admin port shows it too".into()
        }
        Ok(OfferAnswer::Refused(alert)) => cannot_tell(&alert),
        Ok(OfferAnswer::NoTls) => NO_TLS_AT_ADMIN.into(),
        Err(error) => cannot_tell(&error.first_line()),
    })
}

/// `tls_version=''` is taken by SET GLOBAL and refused by the reload (3888, "TLS version is invalid"): the change would stop there.
pub fn check(world: &mut World<'_>, seen: &Seen<'_>) -> Vec<Problem> {
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
    let shared = seen.up().filter_map(|(name, view)| shares_files(world, name, view)).collect::<Vec<_>>();
    seen.up().filter_map(of).chain(shared).collect()
}

/// Files of the admin port that sealion replaces are not read again by the reload of the main port: it would go on with the old ones, and with
/// the CA that is taken away.
fn shares_files(world: &mut World<'_>, name: &NodeName, view: &NodeView) -> Option<Problem> {
    view.admin_port()?;
    let tls_dir = world.node(name).ok()?.spec().tls_dir.clone();
    let option = ["admin_ssl_cert", "admin_ssl_key", "admin_ssl_ca"].into_iter().find(|option| {
        let value = view.variable(option).unwrap_or_default();
        !value.is_empty() && Path::new(value).parent() == Some(&*tls_dir)
    })?;
    let value = view.variable(option).unwrap_or_default();
    Some(problem(
        name,
        "its admin port has options of its own that name files of the main port",
        format!(
            "{option} is {value}: sealion replaces that file, and ALTER INSTANCE RELOAD TLS does not make the admin port read it again"
        ),
        "remove the admin_ssl_… options and restart mysqld (the admin port then follows the main one), or give it files in another directory; then plan \
         again",
    ))
}
