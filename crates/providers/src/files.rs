//! Key, certificate and CA of a node: made, put where its server reads them, and known again.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use change::StepError;
use model::{NodeName, Step};
use secrecy::ExposeSecret;
use server::arbitrator::owner_file;
use server::{NodeSpec, WriteMember};
use trust::{KeyKind, LeafSpec, Signer};

pub use server::node::{CA_FILE, CERT_FILE, CLIENT_CA_FILE, KEY_FILE};

use crate::edit::hash;
use crate::preflight::clocks;
use crate::steps::fail;
use crate::world::World;

pub const PEM_BYTES_MAX: u64 = 1024 * 1024;

/// What the certificate of a member must hold: its address, further names and those of its proxies as SANs.
#[must_use]
pub fn leaf_spec(spec: &NodeSpec, key: KeyKind, valid_days: u32) -> LeafSpec {
    let mut dns = vec![spec.name.to_string()];
    let mut ips = Vec::new();
    for word in spec.certificate_names() {
        match word.parse::<IpAddr>() {
            Ok(ip) => ips.push(ip),
            Err(_) => dns.push(word.to_owned()),
        }
    }
    dns.push("localhost".into());
    dns.dedup();
    LeafSpec {
        common_name: spec.name.to_string(),
        dns,
        ips,
        valid_days,
        key,
        not_before_unix: None,
        not_after_unix: None,
    }
}

/// A new leaf for `name`: of the cluster's CA, or one that was imported.
pub fn issue(world: &mut World<'_>, name: &NodeName) -> Result<(trust::Leaf, String), StepError> {
    clocks_are_right(world, name)?;
    let signer = Signer::open(&world.authority.dir, &world.authority.passphrase).map_err(fail)?;
    let (key, leaf_days, now) = (world.authority.key, world.authority.leaf_days, world.unix_s());
    let spec = leaf_spec(world.member(name)?.spec(), key, leaf_days);
    let leaf = signer.leaf(&spec, now).map_err(fail)?;
    Ok((leaf, signer.ca_pem()))
}

/// Clocks that were right are taken for right for so long. Asked anew for each certificate, a thousand servers would be asked a
/// million times.
const CLOCKS_MS: u64 = 300_000;

/// A certificate that is made now is valid by the clock of each server.
fn clocks_are_right(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let now_unix_ms = world.clock.unix_ms();
    let is_recent = |at: u64| now_unix_ms.checked_sub(at).is_some_and(|ago| ago < CLOCKS_MS);
    let all = !world.recent.clocks_unix_ms.is_some_and(is_recent);
    let nodes = world.nodes.iter_mut().chain(&mut world.others);
    for node in nodes.filter(|node| all || node.name() == name) {
        let view = node.view();
        if let Some(problem) = view.ok().and_then(|view| clocks::behind(node.name(), &view, now_unix_ms)) {
            return Err(fail(problem));
        }
    }
    if all {
        world.recent.clocks_unix_ms = Some(now_unix_ms);
    }
    Ok(())
}

/// Notes whom an arbitrator runs as, before files are placed for it or taken away: when it is down nothing else tells. Nothing of a
/// node, whose data directory tells.
pub fn note_owner(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let Some(arbitrator) = world.arbitrator(name) else { return Ok(()) };
    let Some(process) = arbitrator.process() else {
        return match arbitrator.owner() {
            Some(_) => Ok(()),
            None => Err(fail(format!(
                "{name}: key and certificate are not written\n  why:  garbd is down, and which user it runs as, who must read them, \
                 cannot be determined\n  next: start it, then sealion resume"
            ))),
        };
    };
    let owner = serde_json::to_vec(&(process.uid, process.gid)).map_err(fail)?;
    let spec = arbitrator.spec().clone();
    let path = owner_file(&spec);
    let host = arbitrator.write_host();
    if host.read(&path, PEM_BYTES_MAX).map_err(fail)?.as_ref() == Some(&owner) {
        return Ok(());
    }
    host.make_dir(&spec.state_dir, 0o700, None)
        .and_then(|()| host.write(&path, &owner, Some(0o600), None))
        .map_err(fail)
}

/// Puts a leaf and its CA on a node.
pub fn place(node: &mut dyn WriteMember, leaf: &trust::Leaf, ca_pem: &str) -> Result<(), StepError> {
    let key = leaf.key_pem.expose_secret().as_bytes();
    place_bytes(node, [key, leaf.cert_pem.as_bytes(), ca_pem.as_bytes()])
}

const PLACED: [(&str, u32); 3] = [(KEY_FILE, 0o600), (CERT_FILE, 0o644), (CA_FILE, 0o644)];

/// Says that all three files lie complete beside it.
const READY: &str = "ready";

/// In sealion's own directory: hashes of the files that it placed. Only these are its to remove.
pub const PLACED_FILE: &str = "placed.json";
const PLACED_BYTES_MAX: u64 = 64 * 1024;

type Hashes = BTreeMap<String, String>;

fn placed(node: &dyn WriteMember) -> Result<Hashes, StepError> {
    let path = node.spec().state_dir.join(PLACED_FILE);
    match node.host().read(&path, PLACED_BYTES_MAX).map_err(fail)? {
        None => Ok(Hashes::new()),
        Some(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            fail(format!(
                "{} is damaged\n  why:  {error}\n  next: move it away; what lies in {} is then not taken for sealion's",
                path.display(),
                node.spec().tls_dir.display()
            ))
        }),
    }
}

/// Which of the three files are there, and whether they are those that sealion placed. `None` as bytes: not there.
pub fn in_place(node: &dyn WriteMember) -> Result<Vec<(&'static str, bool)>, StepError> {
    let hashes = placed(node)?;
    let dir = &node.spec().tls_dir;
    let mut found = Vec::new();
    for (name, _) in PLACED {
        if let Some(bytes) = node.host().read(&dir.join(name), PEM_BYTES_MAX).map_err(fail)? {
            found.push((name, hashes.get(name) == Some(&hash(&bytes))));
        }
    }
    Ok(found)
}

fn incoming(node: &dyn WriteMember) -> PathBuf {
    node.spec().state_dir.join("incoming")
}

/// Replaces key, certificate and CA as one: they are complete in sealion's own directory first. A power cut between two
/// renames leaves a pair that does not match, with which the server does not start; [`finish_placing`] then goes on.
pub fn place_bytes(node: &mut dyn WriteMember, files: [&[u8]; 3]) -> Result<(), StepError> {
    discard_incoming(node)?;
    let dir = incoming(node);
    let host = node.write_host();
    host.make_dir(&node.spec().state_dir, 0o700, None)
        .and_then(|()| host.make_dir(&dir, 0o700, None))
        .map_err(fail)?;
    for ((name, _), bytes) in PLACED.iter().zip(files) {
        host.write(&dir.join(name), bytes, Some(0o600), None).map_err(fail)?;
    }
    let hashes: Hashes =
        PLACED.iter().zip(files).map(|((name, _), bytes)| ((*name).to_owned(), hash(bytes))).collect();
    let text = serde_json::to_vec(&hashes).map_err(fail)?;
    host.write(&node.spec().state_dir.join(PLACED_FILE), &text, Some(0o600), None).map_err(fail)?;
    host.write(&dir.join(READY), b"", Some(0o600), None).map_err(fail)?;
    finish_placing(node)
}

/// Goes on with a replacement that was cut short; nothing if there is none. To be called before a server is started.
pub fn finish_placing(node: &mut dyn WriteMember) -> Result<(), StepError> {
    let from = incoming(node);
    let is_ready = node.host().facts(&from.join(READY)).map_err(fail)?.is_some();
    if is_ready {
        let dir = node.spec().tls_dir.clone();
        // The server's own user must read them, and nobody else: as the owner of the running process or of the datadir.
        let owner = node.owner();
        let host = node.write_host();
        let group = host.facts(&dir).map_err(fail)?.map(|facts| facts.gid);
        let owner = owner.map(|(uid, gid)| (uid, group.unwrap_or(gid)));
        host.make_dir(&dir, 0o700, owner).map_err(fail)?;
        for (name, mode) in PLACED {
            let bytes = host
                .read(&from.join(name), PEM_BYTES_MAX)
                .map_err(fail)?
                .ok_or_else(|| fail(format!("{} is gone", from.join(name).display())))?;
            host.write(&dir.join(name), &bytes, Some(mode), owner).map_err(fail)?;
        }
        keep_client_cas(node)?;
    }
    discard_incoming(node)
}

/// The clients' CA that a node is to trust beside the CAs of [`CA_FILE`], as it was noted there: empty for none. `None`: there is no
/// [`CLIENT_CA_FILE`] to keep.
pub fn client_ca(node: &dyn WriteMember) -> Result<Option<Vec<u8>>, StepError> {
    node.host().read(&node.spec().state_dir.join(CLIENT_CA_FILE), PEM_BYTES_MAX).map_err(fail)
}

/// What [`CLIENT_CA_FILE`] is to hold, by the note and by what servers trust now; `None`: there is to be none.
fn client_cas(node: &dyn WriteMember) -> Result<Option<Vec<u8>>, StepError> {
    let Some(of_clients) = client_ca(node)? else { return Ok(None) };
    let path = node.spec().tls_dir.join(CA_FILE);
    let Some(mut all) = node.host().read(&path, PEM_BYTES_MAX).map_err(fail)? else { return Ok(None) };
    if !of_clients.is_empty() {
        if !all.ends_with(b"\n") {
            all.push(b'\n');
        }
        all.extend_from_slice(&of_clients);
    }
    Ok(Some(all))
}

/// Whether [`CLIENT_CA_FILE`] is as the note and [`CA_FILE`] have it.
pub fn client_cas_are_kept(node: &dyn WriteMember) -> Result<bool, StepError> {
    let path = node.spec().tls_dir.join(CLIENT_CA_FILE);
    Ok(node.host().read(&path, PEM_BYTES_MAX).map_err(fail)? == client_cas(node)?)
}

/// Follows the CAs that the node trusts now, which replicas and applications may show certificates of, too.
fn keep_client_cas(node: &mut dyn WriteMember) -> Result<(), StepError> {
    if let Some(all) = client_cas(node)? {
        let path = node.spec().tls_dir.join(CLIENT_CA_FILE);
        let owner = node.owner();
        let host = node.write_host();
        let group = host.facts(path.parent().unwrap_or(&path)).map_err(fail)?.map(|facts| facts.gid);
        let owner = owner.map(|(uid, gid)| (uid, group.unwrap_or(gid)));
        host.write(&path, &all, Some(0o644), owner).map_err(fail)?;
    }
    Ok(())
}

/// Notes which CA of clients the node is to trust, and writes the file that follows from it; with `None`, takes both away. The note
/// comes first, and goes last: a file without one would be kept by nobody.
pub fn set_client_ca(node: &mut dyn WriteMember, ca_pem: Option<&[u8]>) -> Result<(), StepError> {
    let spec = node.spec().clone();
    let note = spec.state_dir.join(CLIENT_CA_FILE);
    let host = node.write_host();
    let Some(ca_pem) = ca_pem else {
        host.remove(&spec.tls_dir.join(CLIENT_CA_FILE)).map_err(fail)?;
        return host.remove(&note).map_err(fail);
    };
    host.make_dir(&spec.state_dir, 0o700, None)
        .and_then(|()| host.write(&note, ca_pem, Some(0o600), None))
        .map_err(fail)?;
    keep_client_cas(node)
}

/// Removes the files that sealion placed, by their hashes, and returns which those were. Others are left.
pub fn remove_placed(node: &mut dyn WriteMember) -> Result<Vec<PathBuf>, StepError> {
    let spec = node.spec().clone();
    let found = in_place(node)?;
    let host = node.write_host();
    let mut removed = Vec::new();
    for (file, _) in found.iter().filter(|(_, is_ours)| *is_ours) {
        let path = spec.tls_dir.join(file);
        host.remove(&path).map_err(fail)?;
        removed.push(path);
    }
    if found.iter().all(|(_, is_ours)| *is_ours) {
        host.remove(&spec.state_dir.join(PLACED_FILE)).map_err(fail)?;
    }
    if client_ca(node)?.is_some() {
        set_client_ca(node, None)?;
        removed.push(spec.tls_dir.join(CLIENT_CA_FILE));
    }
    let host = node.write_host();
    host.remove_dir(&spec.tls_dir).map_err(fail)?;
    Ok(removed)
}

/// Whether a replacement was cut short.
pub fn is_placing(node: &dyn WriteMember) -> Result<bool, StepError> {
    let dir = incoming(node);
    for name in [READY, KEY_FILE, CERT_FILE, CA_FILE] {
        if node.host().facts(&dir.join(name)).map_err(fail)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Leaves no key behind; the mark goes first, so that half of a set is never taken for a whole one.
pub fn discard_incoming(node: &mut dyn WriteMember) -> Result<(), StepError> {
    let dir = incoming(node);
    let host = node.write_host();
    for name in [READY, KEY_FILE, CERT_FILE, CA_FILE] {
        host.remove(&dir.join(name)).map_err(fail)?;
    }
    host.remove_dir(&dir).map_err(fail)
}

/// Where steps of a change write on their nodes, which may have been cut short there.
fn written_to(world: &mut World<'_>, step: &Step, name: &NodeName) -> Result<Vec<PathBuf>, StepError> {
    let node = world.member(name)?;
    let spec = node.spec().clone();
    let edited = step.params.get("edit").and_then(|edit| Some(PathBuf::from(edit.get("file")?.as_str()?)));
    let edited = edited.map(|file| {
        // The temporary file lies beside what a link leads to.
        let target = node.host().link(&file).ok().flatten().map(|target| file.with_file_name(target));
        target.unwrap_or(file)
    });
    let edited = edited.and_then(|file| file.parent().map(Path::to_owned));
    let keeps = crate::steps::of(step)?.keeps(step).map(|place| spec.state_dir.join(place));
    let own = [spec.tls_dir.clone(), spec.state_dir.clone(), incoming(node)];
    Ok(own.into_iter().chain(keeps).chain(edited).collect())
}

/// Removes from the nodes of these steps what a sealion that was killed while it wrote has left: it may be a private key. One line for each
/// node where something was removed, or where that cannot be told.
pub fn sweep(world: &mut World<'_>, steps: &[&Step]) -> Vec<String> {
    let mut places: BTreeMap<NodeName, BTreeSet<PathBuf>> = BTreeMap::new();
    for step in steps {
        for name in &step.nodes {
            // Who is not in the inventory any more is told by the step itself.
            places.entry(name.clone()).or_default().extend(written_to(world, step, name).unwrap_or_default());
        }
    }
    let mut told = Vec::new();
    for (name, dirs) in places {
        let Ok(node) = world.member(&name) else { continue };
        let swept: Result<Vec<Vec<PathBuf>>, _> =
            dirs.iter().map(|dir| node.write_host().sweep(dir)).collect();
        match swept.map(|all| all.concat()) {
            Ok(removed) if removed.is_empty() => {}
            Ok(removed) => told.push(format!(
                "{name}: half-written files of a sealion that was killed were removed: {}",
                removed.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
            )),
            Err(error) => told.push(format!(
                "{name}: a sealion that was killed may have left half-written files there, keys among them (.NAME.sealion-PID): {error}"
            )),
        }
    }
    told
}

/// What lies in a node's `tls_dir`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lies {
    /// Not all three files.
    Incomplete,
    /// They are there and cannot serve, with the reason: a kill between two renames leaves such a pair.
    Unsound(String),
    /// The serial of the leaf.
    Sound(String),
}

impl Lies {
    pub fn serial(&self) -> Option<&str> {
        match self {
            Self::Sound(serial) => Some(serial),
            Self::Incomplete | Self::Unsound(_) => None,
        }
    }
}

/// # Errors
/// A file is there and cannot be read: nobody can say what it holds, and nothing is written over it.
pub fn lies(world: &mut World<'_>, name: &NodeName) -> Result<Lies, StepError> {
    let now = world.unix_s();
    let node = world.member(name)?;
    let dir = node.spec().tls_dir.clone();
    let read = |file: &str| node.host().read(&dir.join(file), PEM_BYTES_MAX).map_err(fail);
    let (key, cert, ca) = (read(KEY_FILE)?, read(CERT_FILE)?, read(CA_FILE)?);
    let (Some(key), Some(cert), Some(ca)) = (key, cert, ca) else { return Ok(Lies::Incomplete) };
    let leaf = trust::pair_matches(&cert, &key)
        .and_then(|()| trust::chain_ok(&cert, &ca, now))
        .and_then(|()| trust::inspect(&cert));
    Ok(match leaf {
        Ok(leaf) => leaf.first().map_or(Lies::Incomplete, |leaf| Lies::Sound(leaf.serial_hex.clone())),
        Err(error) => Lies::Unsound(error.to_string()),
    })
}

/// The same, where it must be able to serve; `None`: not all three files.
///
/// # Errors
/// It cannot, or cannot be read.
pub fn sound(world: &mut World<'_>, name: &NodeName) -> Result<Option<String>, StepError> {
    match lies(world, name)? {
        Lies::Incomplete => Ok(None),
        Lies::Unsound(why) => Err(fail(why)),
        Lies::Sound(serial) => Ok(Some(serial)),
    }
}
