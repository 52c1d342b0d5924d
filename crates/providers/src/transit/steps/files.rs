//! Puts key, certificate and CA on a node, owned by the server's user, before anything refers to them.

use std::net::IpAddr;
use std::path::PathBuf;

use change::{Direction, StepCheck, StepError};
use model::{NodeName, Step};
use secrecy::ExposeSecret;
use server::{ProviderOptions, WriteNode};
use trust::{Ca, LeafSpec};

use super::{StepKind, fail, only_node};
use crate::transit::owner;
use crate::transit::world::Transit;
use crate::transit::{CA_FILE, CERT_FILE, KEY_FILE};

pub struct Files;
pub const FILES: Files = Files;

const PEM_BYTES_MAX: u64 = 1024 * 1024;

/// A new leaf of the cluster's CA for `name`, with its address and further names as SANs.
pub fn issue(transit: &mut Transit<'_>, name: &NodeName) -> Result<(trust::Leaf, String), StepError> {
    let ca = Ca::open(&transit.authority.dir, &transit.authority.passphrase).map_err(fail)?;
    let (key, leaf_days, now) = (transit.authority.key, transit.authority.leaf_days, transit.unix_s());
    let spec = transit.node(name)?.spec().clone();
    let mut dns = vec![name.to_string()];
    let mut ips = Vec::new();
    for word in std::iter::once(&spec.address).chain(&spec.names) {
        match word.parse::<IpAddr>() {
            Ok(ip) => ips.push(ip),
            Err(_) => dns.push(word.clone()),
        }
    }
    dns.push("localhost".into());
    dns.dedup();
    let leaf = ca
        .issue(
            &LeafSpec {
                common_name: name.to_string(),
                dns,
                ips,
                valid_days: leaf_days,
                key,
                not_before_unix: None,
                not_after_unix: None,
            },
            now,
        )
        .map_err(fail)?;
    Ok((leaf, ca.cert_pem()))
}

/// Puts a leaf and its CA on a node.
pub fn place(node: &mut dyn WriteNode, leaf: &trust::Leaf, ca_pem: &str) -> Result<(), StepError> {
    let key = leaf.key_pem.expose_secret().as_bytes();
    place_bytes(node, [key, leaf.cert_pem.as_bytes(), ca_pem.as_bytes()])
}

const PLACED: [(&str, u32); 3] = [(KEY_FILE, 0o600), (CERT_FILE, 0o644), (CA_FILE, 0o644)];

/// Says that all three files lie complete beside it.
const READY: &str = "ready";

fn incoming(node: &dyn WriteNode) -> PathBuf {
    node.spec().state_dir.join("incoming")
}

/// Replaces key, certificate and CA as one: they are complete in sealion's own directory first. A power cut between two
/// renames leaves a pair that does not match, with which the server does not start; [`finish_placing`] then goes on.
pub fn place_bytes(node: &mut dyn WriteNode, files: [&[u8]; 3]) -> Result<(), StepError> {
    discard_incoming(node)?;
    let dir = incoming(node);
    let host = node.write_host();
    host.make_dir(&node.spec().state_dir, 0o700, None)
        .and_then(|()| host.make_dir(&dir, 0o700, None))
        .map_err(fail)?;
    for ((name, _), bytes) in PLACED.iter().zip(files) {
        host.write(&dir.join(name), bytes, Some(0o600), None).map_err(fail)?;
    }
    host.write(&dir.join(READY), b"", Some(0o600), None).map_err(fail)?;
    finish_placing(node)
}

/// Goes on with a replacement that was cut short; nothing if there is none. To be called before a server is started.
pub fn finish_placing(node: &mut dyn WriteNode) -> Result<(), StepError> {
    let from = incoming(node);
    let is_ready = node.host().facts(&from.join(READY)).map_err(fail)?.is_some();
    if is_ready {
        let dir = node.spec().tls_dir.clone();
        // The server's own user must read them, and nobody else: as the owner of the running process or of the datadir.
        let owner = owner::of_server(node);
        let host = node.write_host();
        let group = host.facts(&dir).ok().flatten().map(|facts| facts.gid);
        let owner = owner.map(|(uid, gid)| (uid, group.unwrap_or(gid)));
        host.make_dir(&dir, 0o700, owner).map_err(fail)?;
        for (name, mode) in PLACED {
            let bytes = host
                .read(&from.join(name), PEM_BYTES_MAX)
                .map_err(fail)?
                .ok_or_else(|| fail(format!("{} is gone", from.join(name).display())))?;
            host.write(&dir.join(name), &bytes, Some(mode), owner).map_err(fail)?;
        }
    }
    discard_incoming(node)
}

/// Whether a replacement was cut short.
pub fn is_placing(node: &dyn WriteNode) -> bool {
    let dir = incoming(node);
    let there = |name: &str| node.host().facts(&dir.join(name)).is_ok_and(|facts| facts.is_some());
    [READY, KEY_FILE, CERT_FILE, CA_FILE].into_iter().any(there)
}

/// Leaves no key behind; the mark goes first, so that half of a set is never taken for a whole one.
pub fn discard_incoming(node: &mut dyn WriteNode) -> Result<(), StepError> {
    let dir = incoming(node);
    let host = node.write_host();
    for name in [READY, KEY_FILE, CERT_FILE, CA_FILE] {
        host.remove(&dir.join(name)).map_err(fail)?;
    }
    host.remove_dir(&dir).map_err(fail)
}

/// `Ok(None)`: nothing there. `Err`: something is there that cannot serve.
pub fn sound(transit: &mut Transit<'_>, name: &NodeName) -> Result<Option<String>, StepError> {
    let now = transit.unix_s();
    let node = transit.node(name)?;
    let dir = node.spec().tls_dir.clone();
    let read = |file: &str| node.host().read(&dir.join(file), PEM_BYTES_MAX).map_err(fail);
    let (key, cert, ca) = (read(KEY_FILE)?, read(CERT_FILE)?, read(CA_FILE)?);
    let (Some(key), Some(cert), Some(ca)) = (key, cert, ca) else { return Ok(None) };
    trust::pair_matches(&cert, &key).map_err(fail)?;
    trust::chain_ok(&cert, &ca, now).map_err(fail)?;
    let leaf = trust::inspect(&cert).map_err(fail)?;
    Ok(leaf.first().map(|leaf| leaf.serial_hex.clone()))
}

/// What still refers to the files: the running server, or what it will read at its next start.
fn in_use(node: &mut dyn WriteNode) -> Option<String> {
    let ours = node.spec().tls_dir.join(KEY_FILE).display().to_string();
    if let Ok(view) = node.view() {
        if view.provider_options().get("socket.ssl_key") == Some(ours.as_str()) {
            return Some("wsrep_provider_options of the running server".into());
        }
        if view.variable("ssl_key") == Some(ours.as_str()) {
            return Some("ssl_key of the running server".into());
        }
    }
    // Files that cannot be read refer to nothing that a server could use.
    if let Ok(files) = node.effective() {
        let options = files.effective("wsrep_provider_options").and_then(|setting| setting.value.clone());
        let options = ProviderOptions::parse(options.as_deref().unwrap_or(""));
        if options.get("socket.ssl_key") == Some(ours.as_str()) {
            return Some("wsrep_provider_options in an option file".into());
        }
        if files.effective("ssl_key").is_some_and(|setting| setting.value.as_deref() == Some(ours.as_str())) {
            return Some("ssl_key in an option file".into());
        }
    }
    let sst = node.effective_sst().ok()?;
    let setting = sst.effective("tkey")?;
    (setting.value.as_deref() == Some(ours.as_str())).then(|| "tkey of [sst] in an option file".into())
}

impl StepKind for Files {
    fn kind(&self) -> &'static str {
        "files"
    }

    fn check(
        &self,
        transit: &mut Transit<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<StepCheck, StepError> {
        let name = only_node(step)?;
        if direction == Direction::Back {
            let node = transit.node(&name)?;
            let dir = node.spec().tls_dir.clone();
            let there = [KEY_FILE, CERT_FILE, CA_FILE]
                .iter()
                .any(|file| node.host().facts(&dir.join(file)).is_ok_and(|facts| facts.is_some()));
            if let Some(user) = in_use(node) {
                return Ok(StepCheck::Blocked(format!(
                    "{name}: the files in {} are not removed\n  why:  {user} refers to them, and the server would not start without\n  \
                     next: sealion status; undo or disable what uses them first",
                    dir.display()
                )));
            }
            return Ok(if there || is_placing(node) {
                StepCheck::Ready
            } else {
                StepCheck::AlreadyDone("no files left".into())
            });
        }
        if is_placing(transit.node(&name)?) {
            return Ok(StepCheck::Ready);
        }
        // A pair that does not match is what a kill between two renames leaves: it is written again.
        Ok(match sound(transit, &name) {
            Ok(Some(serial)) => StepCheck::AlreadyDone(format!("serial {serial} is in place")),
            Ok(None) | Err(_) => StepCheck::Ready,
        })
    }

    fn act(&self, transit: &mut Transit<'_>, step: &Step, direction: Direction) -> Result<(), StepError> {
        let name = only_node(step)?;
        if direction == Direction::Back {
            let node = transit.node(&name)?;
            discard_incoming(node)?;
            let dir = node.spec().tls_dir.clone();
            let host = node.write_host();
            for file in [KEY_FILE, CERT_FILE, CA_FILE] {
                host.remove(&dir.join(file)).map_err(fail)?;
            }
            return host.remove_dir(&dir).map_err(fail);
        }
        let (leaf, ca_pem) = issue(transit, &name)?;
        place(transit.node(&name)?, &leaf, &ca_pem)
    }

    fn verify(
        &self,
        transit: &mut Transit<'_>,
        step: &Step,
        direction: Direction,
    ) -> Result<String, StepError> {
        let name = only_node(step)?;
        if direction == Direction::Back {
            return Ok("removed".into());
        }
        let serial = sound(transit, &name)?.ok_or_else(|| fail("the files are not all there"))?;
        let node = transit.node(&name)?;
        let uid = owner::of_server(node).map(|(uid, _)| uid);
        let facts = node.host().facts(&node.spec().tls_dir.join(KEY_FILE)).map_err(fail)?;
        match (uid, facts) {
            (Some(uid), Some(facts)) if facts.uid != uid => Err(fail(format!(
                "the key belongs to uid {}, the server runs as uid {uid} and could not read it",
                facts.uid
            ))),
            (_, Some(facts)) if facts.mode & 0o077 != 0 => {
                Err(fail(format!("the key can be read by others (mode {:o})", facts.mode)))
            }
            _ => Ok(format!("serial {serial}; key 0600, owned by the server's user")),
        }
    }
}
