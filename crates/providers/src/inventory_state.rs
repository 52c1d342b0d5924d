//! What a plan was made for, beside the state of the servers: what the inventory says of each member and proxy. A plan that was read is not
//! carried out with another `tls_dir` or another command.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

use model::{NodeName, Noun, Plan, Step};
use openssl::sha::sha256;
use server::NodeSpec;
use trust::Elsewhere;

use crate::world::World;

/// Keys of the inventory by whose they are, each with a hash of its value: commands may hold what a plan must not.
pub type InventoryState = BTreeMap<String, BTreeMap<String, String>>;

const HASH_CHARS: usize = 12;
const CA: &str = "the CA";
const CERTIFICATE: &str = "its certificate";

fn hash(value: &impl Debug) -> String {
    let mut hash = model::hex(&sha256(format!("{value:?}").as_bytes()));
    hash.truncate(HASH_CHARS);
    hash
}

pub(crate) fn of(world: &World<'_>) -> InventoryState {
    let nodes = world.nodes.iter().map(|node| of_member(node.spec()));
    let arbitrators = world.arbitrators.iter().map(|one| of_member(one.spec()));
    let proxies = world.proxies.iter().map(|proxy| {
        let spec = proxy.spec();
        let keys = [("socket", hash(&spec.socket)), ("servers", hash(&spec.servers))];
        (format!("proxy {}", spec.name), named(keys))
    });
    // Which CA signs, that none does yet, or that this cannot be read.
    let signs = trust::Rollover::current_sha256(&world.authority.dir).map_err(|error| error.to_string());
    let ca = (CA.to_owned(), named([("ca_dir", hash(&world.authority.dir)), (CERTIFICATE, hash(&signs))]));
    nodes.chain(arbitrators).chain(proxies).chain([ca]).chain(imported(world)).collect()
}

/// Serials of the certificates that another CA has signed, where one does.
fn imported(world: &World<'_>) -> Option<(String, BTreeMap<String, String>)> {
    let imported = Elsewhere::at(&world.authority.dir, &world.authority.passphrase).ok()??;
    let nodes = world.nodes.iter().map(|node| node.name());
    let members = nodes.chain(world.arbitrators.iter().map(|one| one.name()));
    let serial = |name: &NodeName| {
        let info = imported.imported(name.as_str()).map_err(|error| error.to_string());
        (name.to_string(), hash(&info.map(|info| info.map(|info| info.serial_hex))))
    };
    Some(("the imported certificates".to_owned(), members.map(serial).collect()))
}

fn named<const N: usize>(keys: [(&str, String); N]) -> BTreeMap<String, String> {
    keys.into_iter().map(|(key, hash)| (key.to_owned(), hash)).collect()
}

/// Named as the inventory has them.
fn of_member(spec: &NodeSpec) -> (String, BTreeMap<String, String>) {
    let NodeSpec {
        name,
        address,
        names,
        proxies,
        port,
        galera_port,
        socket,
        pid_file,
        error_log,
        defaults_file,
        tls_dir,
        state_dir,
        service,
        drain,
        undrain,
    } = spec;
    let keys = [
        ("address", hash(address)),
        ("names", hash(names)),
        ("port", hash(port)),
        ("galera_port", hash(galera_port)),
        ("socket", hash(socket)),
        ("pid_file", hash(pid_file)),
        ("error_log", hash(error_log)),
        ("defaults_file", hash(defaults_file)),
        ("tls_dir", hash(tls_dir)),
        ("state_dir", hash(state_dir)),
        ("service, start, stop or alive", hash(service)),
        ("drain", hash(drain)),
        ("undrain", hash(undrain)),
    ];
    let mut keys = named(keys);
    // Not where there is none, so that a plan of before there were any is as it was.
    if proxies.values().any(|names| !names.is_empty()) {
        keys.insert("names of proxies".into(), hash(proxies));
    }
    (name.to_string(), keys)
}

/// The hash of a plan, over both.
pub(crate) fn with_state(state_hash: &str, inventory: &InventoryState) -> String {
    model::hex(&sha256(format!("{state_hash} {inventory:?}").as_bytes()))
}

/// Why a change is not continued: certificates would come from another CA than when it was planned, which members that have theirs
/// already do not trust. One that makes or replaces the CA is about that, and one that cannot be read signs nothing.
pub fn other_authority(plan: &Plan, ca_dir: &Path) -> Option<String> {
    let makes_one = |step: &Step| step.kind == "authority" && !step.no_op;
    if plan.change.has(Noun::Ca) || plan.steps.iter().any(makes_one) {
        return None;
    }
    let then = plan.inventory.get(CA)?.get(CERTIFICATE)?;
    let now = trust::Rollover::current_sha256(ca_dir).ok()?;
    let is_same = *then == hash(&Ok::<_, String>(now));
    (!is_same).then(|| {
        format!(
            "{} is not continued, nothing was changed\n  why:  the CA in {} is another one than when it was planned, and servers that have their \
             certificates do not trust it\n  next: put the ca_dir of then back, then sealion resume; or sealion undo",
            plan.change,
            ca_dir.display()
        )
    })
}

/// What the inventory says otherwise than when `plan` was made; nothing of a plan that does not tell.
pub fn differences(plan: &Plan, now: &Plan) -> Vec<String> {
    if plan.inventory.is_empty() {
        return vec![];
    }
    let mut lines = Vec::new();
    let gone = plan.inventory.keys().filter(|name| !now.inventory.contains_key(*name));
    lines.extend(gone.map(|name| format!("{name} is not in it any more")));
    for (name, keys) in &now.inventory {
        let Some(before) = plan.inventory.get(name) else {
            lines.push(format!("{name} was not in it"));
            continue;
        };
        let changed: Vec<&str> = keys
            .iter()
            .filter(|(key, hash)| before.get(*key) != Some(*hash))
            .map(|(key, _)| key.as_str())
            .collect();
        if !changed.is_empty() {
            lines.push(format!("{name} has other values of {}", changed.join(", ")));
        }
    }
    lines
}
