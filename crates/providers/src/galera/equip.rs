//! Gives a node that has not been started yet what a sealed cluster expects of it: files, and the option file as the
//! strict round would leave it.

use change::StepError;
use model::NodeName;
use server::{Alive, ProviderOptions};

use super::{GALERA, OPTIONS};
use crate::edit::{Edit, FileEdit};
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE, issue, place};
use crate::topology::Topology;
use crate::world::World;

const FILE_BYTES_MAX: u64 = formats::optfile::OPTION_FILE_BYTES_MAX as u64;

/// Everything for `name`, which must be down. Idempotent.
pub fn equip(world: &mut World<'_>, name: &NodeName) -> Result<(), StepError> {
    let fail = |error: &dyn std::fmt::Display| StepError(error.to_string());
    let (leaf, ca_pem) = issue(world, name)?;
    let node = world.node(name)?;
    match node.alive() {
        Alive::No => {}
        Alive::Yes => {
            return Err(StepError(format!("{name} runs; a running node is changed by `sealion enable`")));
        }
        Alive::CannotTell(why) => {
            return Err(StepError(format!("whether {name} runs cannot be determined: {why}")));
        }
    }
    place(node, &leaf, &ca_pem)?;
    let effective = node.effective().map_err(|error| fail(&error))?;
    let setting = GALERA
        .anchor(&effective)
        .ok_or_else(|| StepError(format!("{name}: no option file sets wsrep_cluster_address")))?
        .clone();
    let is_options = setting.key == OPTIONS;
    let mut options =
        ProviderOptions::parse(if is_options { setting.value.as_deref().unwrap_or("") } else { "" });
    let tls_dir = node.spec().tls_dir.clone();
    let path = |file: &str| tls_dir.join(file).display().to_string();
    for (key, file) in
        [("socket.ssl_key", KEY_FILE), ("socket.ssl_cert", CERT_FILE), ("socket.ssl_ca", CA_FILE)]
    {
        options.set(key, &path(file));
    }
    options.set("socket.ssl", "YES");
    options.remove("socket.dynamic");
    let set =
        |group: &str, key: &str, value: String| Edit::Set { group: group.into(), key: key.into(), value };
    let key = if is_options { setting.key_as_written.as_str() } else { OPTIONS };
    let mut edits = vec![
        set(&setting.group, key, options.to_string()),
        set(&setting.group, "ssl_ca", path(CA_FILE)),
        set(&setting.group, "ssl_cert", path(CERT_FILE)),
        set(&setting.group, "ssl_key", path(KEY_FILE)),
        set(&setting.group, "require_secure_transport", "ON".into()),
        set("sst", "tkey", path(KEY_FILE)),
        set("sst", "tcert", path(CERT_FILE)),
        set("sst", "tca", path(CA_FILE)),
    ];
    if effective.effective("wsrep_sst_method").and_then(|one| one.value.as_deref()) == Some("mariabackup") {
        edits.push(set("sst", "ssl-mode", "VERIFY_CA".into()));
    }
    let bytes = node
        .host()
        .read(&setting.file, FILE_BYTES_MAX)
        .map_err(|error| fail(&error))?
        .ok_or_else(|| StepError(format!("{} is gone", setting.file.display())))?;
    let (edit, _) = FileEdit::plan(&setting.file, &bytes, edits).map_err(StepError)?;
    edit.apply(node).map_err(StepError).map(drop)
}
