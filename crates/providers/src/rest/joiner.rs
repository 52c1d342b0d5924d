//! What a new member of a Galera cluster needs where the data of the members is encrypted: the same keys, before it receives a page that only
//! they open, and options that encrypt what it writes itself.

use model::{NodeName, Noun};
use server::at_rest::KEY_PLUGIN;
use server::options::Setting;

use super::keys::{self, KEY_FILE, PASS_FILE};
use super::plan::{self, ALGORITHM, FILEKEY, OPTIONS, PLUGIN_LOAD, PLUGIN_OPTIONS};
use super::steps::data_keys::FILENAME;
use crate::draft::NodeDraft;
use crate::edit::Edit;
use crate::plan::{PlanError, refuse};
use crate::world::World;

/// The keys of the members, and how they encrypt.
pub struct JoinerKeys {
    /// The copy in the escrow.
    pub entry: String,
    /// The directory in which they lie on the members.
    pub key_dir: String,
    pub key_file: String,
    pub edits: Vec<Edit>,
    /// What of the members' data is encrypted: the same is to be so on the new one.
    pub nouns: Vec<Noun>,
}

/// `None`: the members have no keys.
///
/// # Errors
/// Their keys are not sealion's, and the new member has none; or the escrow does not have them.
pub fn of_joiner(
    world: &mut World<'_>,
    joiner: &NodeName,
    members: &[NodeName],
    draft: &NodeDraft,
    anchor: &Setting,
) -> Result<Option<JoinerKeys>, PlanError> {
    let mut ours = None;
    for name in members {
        let node = world.node(name).map_err(refuse)?;
        let view = node.view().map_err(refuse)?;
        let Some(file) = view.variable(FILENAME).filter(|file| !file.is_empty()) else { continue };
        if let Some(dir) = keys::own_dir(node.spec(), file) {
            ours = ours.or_else(|| Some((name.clone(), dir, view)));
            continue;
        }
        let file = file.to_owned();
        let own = world.node(joiner).map_err(refuse)?.effective().map_err(refuse)?;
        if own.effective(FILENAME).is_none() {
            return Err(refuse(format!(
                "{joiner} has no keys for the data that it would receive\n  why:  {name} encrypts with those of {file}, which sealion did \
                 not make\n  next: bring that file to {joiner}, set {FILENAME} there as on {name}, then plan again"
            )));
        }
    }
    let Some((name, key_dir, member)) = ours else { return Ok(None) };
    let numbers = plan::numbers(world)?;
    let entry = plan::entry_of(world, &name, &key_dir, &numbers)?;
    let node = world.node(joiner).map_err(refuse)?;
    let dir = keys::dir_named(node.spec(), &key_dir);
    let effective = node.effective().map_err(refuse)?;
    let key_file = dir.join(KEY_FILE).display().to_string();
    let group = plan::plugin_group(&effective, anchor, &member.capabilities().option_groups())?;
    let set = |key: &str, value: String| Edit::Set { group: group.clone(), key: key.into(), value };
    let mut edits = vec![
        set(PLUGIN_LOAD, KEY_PLUGIN.into()),
        set(FILENAME, key_file.clone()),
        set(FILEKEY, format!("FILE:{}", dir.join(PASS_FILE).display())),
        set(ALGORITHM, member.variable(PLUGIN_OPTIONS[2]).unwrap_or("aes_ctr").to_uppercase()),
    ];
    for option in OPTIONS {
        let value = member.variable(option).unwrap_or("OFF");
        if !["OFF", "0"].contains(&value) {
            edits.push(draft.set(option, value.to_owned()));
        }
    }
    let is_on = |name: &str| member.variable(name).is_some_and(|value| !["OFF", "0"].contains(&value));
    let nouns = [(Noun::Tables, "innodb_encrypt_tables"), (Noun::Logs, "encrypt_binlog")];
    let nouns = nouns.into_iter().filter(|(_, option)| is_on(option)).map(|(noun, _)| noun).collect();
    Ok(Some(JoinerKeys { entry, key_dir, key_file, edits, nouns }))
}
