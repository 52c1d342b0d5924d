//! From a wish for data at rest and the servers as they are now to ordered steps.

use std::collections::BTreeSet;

use model::{Change, NodeName, Noun, Step, Verb};
use openssl::sha::sha256;
use secrecy::ExposeSecret;
use server::at_rest::KEY_PLUGIN;
use server::options::{Effective, Setting};
use server::rights::Use;
use server::{AtRest, Flavour, GaleraFacts, OwnChoice, Table, TableName};

use super::keys::{self, KEY_FILE, PASS_FILE};
use super::looked::Going;
use super::parts::{binary_logs, key_gate, proof, rebuild, rebuild_on_the_way_back, spaces};
use super::steps::data_keys::{FILENAME, KEY_FILE_BYTES_MAX};
use super::steps::{DataKeysParams, EscrowParams, Placed};
use super::stopped::StoppedGate;
use super::{AtRestOptions, estimate, rotate};
use crate::by_hand;
use crate::draft::{NodeDraft, PlannedEdit};
use crate::edit::Edit;
use crate::galera::steps::round::RoundParams;
use crate::plan::{Builder, PlanContent, PlanError, refuse};
use crate::replication::replicas_first;
use crate::replication::steps::RestartParams;
use crate::variables::VariableChange;
use crate::world::World;

/// So many tables are named.
const NAMED_MAX: usize = 5;
pub const PLUGIN_LOAD: &str = "plugin_load_add";
pub const FILEKEY: &str = "file_key_management_filekey";
pub const ALGORITHM: &str = "file_key_management_encryption_algorithm";
/// Options of tables that are read at a start only, and whether the server shows them so.
pub(super) const TABLES_AT_START: [&str; 3] =
    ["innodb_encrypt_log", "innodb_encrypt_temporary_tables", "encrypt_tmp_files"];
pub(super) const TMP_DISK_TABLES: &str = "encrypt_tmp_disk_tables";
pub(super) const LOGS_AT_START: &str = "encrypt_binlog";
pub(super) const THREADS: &str = "innodb_encryption_threads";
pub(in crate::rest) const LIVE: [&str; 2] = ["innodb_encrypt_tables", "aria_encrypt_tables"];

/// All options that are sealion's to write here, but the plugin's.
pub const OPTIONS: [&str; 8] = [
    "innodb_encrypt_log",
    "innodb_encrypt_temporary_tables",
    "encrypt_tmp_files",
    TMP_DISK_TABLES,
    LOGS_AT_START,
    THREADS,
    "innodb_encrypt_tables",
    "aria_encrypt_tables",
];
pub const PLUGIN_OPTIONS: [&str; 3] = [FILENAME, FILEKEY, ALGORITHM];

/// A server as it is, and as its file will be.
pub(super) struct Draft {
    pub node: NodeDraft,
    pub seen: AtRest,
    /// The group of the option file that loads the plugin, or is to.
    pub plugin_group: String,
    /// Our key file is loaded now.
    pub has_keys: bool,
    /// Files of ours lie there, loaded or not.
    has_key_file: bool,
    /// Where they lie, or will.
    pub key_dir: String,
    /// `socket.…` of Galera; none of a server by itself.
    letter: Option<char>,
}

impl Draft {
    pub fn is_on(&self, name: &str) -> bool {
        self.node.view.variable(name).is_some_and(|value| !["OFF", "0"].contains(&value))
    }

    /// `dirs`: where keys of ours may lie, the newest first.
    fn of(world: &mut World<'_>, name: &NodeName, dirs: &[String]) -> Result<Self, PlanError> {
        let (node, anchor) = NodeDraft::of(world, name)?;
        let live = world.node(name).map_err(refuse)?;
        let effective = live.effective().map_err(refuse)?;
        let seen = live.at_rest().map_err(refuse)?;
        let loaded = node.view.variable(FILENAME).and_then(|file| keys::own_dir(live.spec(), file));
        let has_keys = loaded.is_some();
        let mut lying = loaded;
        for dir in dirs {
            let path = keys::dir_named(live.spec(), dir).join(KEY_FILE);
            if lying.is_none() && live.host().facts(&path).map_err(refuse)?.is_some() {
                lying = Some(dir.clone());
            }
        }
        let has_key_file = lying.is_some();
        let key_dir = lying.unwrap_or_else(|| keys::DIR.into());
        let plugin_group = plugin_group(&effective, &anchor, &node.view.capabilities().option_groups())?;
        let letter = node.view.is_galera().then(|| node.view.galera_state().letter());
        Ok(Self { node, seen, plugin_group, has_keys, has_key_file, key_dir, letter })
    }

    /// Its keys, and the copy of them in the escrow.
    pub fn placed(&self, entry: &str) -> Placed {
        Placed { entry: entry.to_owned(), dir: self.key_dir.clone() }
    }

    fn key_path(&self, world: &mut World<'_>, file: &str) -> Result<String, PlanError> {
        self.key_path_in(world, &self.key_dir, file)
    }

    pub fn key_path_in(&self, world: &mut World<'_>, dir: &str, file: &str) -> Result<String, PlanError> {
        let node = world.node(&self.node.name).map_err(refuse)?;
        Ok(keys::dir_named(node.spec(), dir).join(file).display().to_string())
    }

    /// The lines that load the plugin with the keys of a directory.
    pub fn load_keys(&self, world: &mut World<'_>, dir: &str) -> Result<(Vec<Edit>, String), PlanError> {
        let (key, pass) = (self.key_path_in(world, dir, KEY_FILE)?, self.key_path_in(world, dir, PASS_FILE)?);
        let group = &self.plugin_group;
        let set = |key: &str, value: String| Edit::Set { group: group.clone(), key: key.into(), value };
        let edits = vec![
            set(PLUGIN_LOAD, KEY_PLUGIN.into()),
            set(FILENAME, key.clone()),
            set(FILEKEY, format!("FILE:{pass}")),
            set(ALGORITHM, "AES_CTR".into()),
        ];
        Ok((edits, key))
    }

    /// A restart, as its topology does it.
    pub fn restart(
        &mut self,
        builder: &mut Builder,
        prefix: &str,
        edits: Vec<Edit>,
        variables: Vec<VariableChange>,
        gate: Option<StoppedGate>,
        title: &str,
    ) -> Result<(), PlanError> {
        let PlannedEdit { edit, diff, needs } = self.node.edit(edits)?;
        let is_same = |change: &VariableChange| change.before == change.after;
        let no_op = edit.is_no_op() && variables.iter().all(is_same);
        let name = self.node.name.clone();
        let title = format!("{name} {title}; restart");
        let id = format!("{prefix}.{name}");
        let offer = self.node.offer();
        let step = if let Some(letter) = self.letter {
            let params = RoundParams { variables, gate, ..RoundParams::as_it_is(edit, letter) };
            builder.add(id, "round", title, vec![name], params)
        } else {
            let params = RestartParams {
                edit,
                before: offer.cert.clone(),
                after: offer.cert,
                ca_before: None,
                ca_after: None,
                rules: None,
                variables,
                gate,
            };
            builder.add(id, "restart", title, vec![name], params)
        };
        let restart = vec![by_hand::words(&self.node.stop), by_hand::words(&self.node.start)];
        step.shell = self.node.by_hand(&diff, restart);
        step.sql = vec!["-- these options are read at the start of the server only: --format diff".into()];
        (step.restarts_server, step.no_op, step.diff, step.nature.needs) = (true, no_op, diff, needs);
        Ok(())
    }
}

/// Where `plugin_load_add` may be written without taking another plugin's line: a group in which that file has none, or has ours.
pub fn plugin_group(effective: &Effective, anchor: &Setting, groups: &[String]) -> Result<String, PlanError> {
    let lines = |group: &str| -> Vec<&str> {
        let is_there =
            |one: &&Setting| one.key == PLUGIN_LOAD && one.file == anchor.file && one.group == group;
        effective
            .settings
            .iter()
            .filter(is_there)
            .map(|one| one.value.as_deref().unwrap_or_default())
            .collect()
    };
    let candidates = || std::iter::once(&anchor.group).chain(groups);
    let has_ours = candidates().find(|group| lines(group).contains(&KEY_PLUGIN));
    if let Some(group) = has_ours {
        return match lines(group).len() {
            1 => Ok(group.clone()),
            _ => Err(refuse(format!(
                "{}: [{group}] loads {KEY_PLUGIN} beside other plugins\n  why:  its line could not be told from theirs\n  next: move their \
                 plugin_load_add lines into another group, for example [server]",
                anchor.file.display()
            ))),
        };
    }
    candidates().find(|group| lines(group).is_empty()).cloned().ok_or_else(|| {
        refuse(format!(
            "{}: every group that the server reads has a plugin_load_add line already\n  next: free one of them: {}",
            anchor.file.display(),
            groups.join(", ")
        ))
    })
}

pub(super) fn word(on: bool) -> &'static str {
    if on { "ON" } else { "OFF" }
}

pub fn plan(world: &mut World<'_>, change: &Change) -> Result<PlanContent, PlanError> {
    if !world.parts.is_empty() {
        return Err(refuse(
            "data at rest is changed for the servers of one cluster at a time\n  why:  this inventory has a Galera cluster and other servers\n  \
             next: give each an inventory of its own, then sealion plan again",
        ));
    }
    let names = if world.topology.is_group() { world.names() } else { replicas_first(world)? };
    let numbers = numbers(world)?;
    let mut dirs: Vec<String> = numbers.iter().map(|number| keys::dir_name(*number)).collect();
    dirs.push(keys::DIR.into());
    let mut drafts = names.iter().map(|name| Draft::of(world, name, &dirs)).collect::<Result<Vec<_>, _>>()?;
    let entry = entry(world, &drafts, &numbers)?;
    let state_hash = state_hash(change, &drafts, &entry, world);
    let mut builder = Builder::default();
    match change.verb {
        Verb::Enable => enable(world, change, &mut drafts, &entry, &mut builder)?,
        Verb::Disable => disable(world, change, &mut drafts, &entry, &mut builder)?,
        Verb::Rotate => rotate::plan(world, change, &mut drafts, &entry, &numbers, &mut builder)?,
        Verb::Join | Verb::Migrate => {
            return Err(refuse(format!("{change}: that is not done with data at rest")));
        }
    }
    let mut impact = impact(world, change, &builder.steps, &drafts);
    if world.at_rest.measures && change.has(Noun::Tables) {
        impact.extend(estimate::lines(world, &drafts)?);
    }
    if change.verb != Verb::Disable {
        for draft in &drafts {
            let datadir = draft.node.view.variable("datadir");
            impact.extend(super::key_place::line(world, &draft.node.name, datadir, &draft.key_dir));
        }
    }
    let sql = server::rights::rights(Use::ChangeAtRest, Flavour::MariaDb).map(server::rights::Rights::listed);
    let rights = vec![
        format!("SQL: {} (sealion grants)", sql.unwrap_or_default()),
        "host: write to the option file and beside the TLS directory of each node; read the data directory; stop and start the service".into(),
    ];
    Ok(PlanContent { steps: builder.steps, state_hash, impact, rights })
}

/// Numbers of the copies of this cluster's keys, the newest first.
pub(super) fn numbers(world: &World<'_>) -> Result<Vec<u32>, PlanError> {
    let prefix = keys::entry_prefix(&world.cluster);
    let names = world.escrow.names().map_err(refuse)?;
    let mut numbers: Vec<u32> =
        names.iter().filter_map(|name| name.strip_prefix(&prefix)?.parse().ok()).collect();
    numbers.sort_unstable_by(|one, other| other.cmp(one));
    Ok(numbers)
}

/// The copy in the escrow whose keys these servers have, or a name for a new one.
fn entry(world: &mut World<'_>, drafts: &[Draft], numbers: &[u32]) -> Result<(String, bool), PlanError> {
    let with_keys: Vec<&Draft> = drafts.iter().filter(|draft| draft.has_keys || draft.has_key_file).collect();
    let Some(first) = with_keys.first() else {
        let number = numbers.first().unwrap_or(&0) + 1;
        return Ok((format!("{}{number}", keys::entry_prefix(&world.cluster)), false));
    };
    if let Some(other) = with_keys.iter().find(|draft| draft.key_dir != first.key_dir) {
        return Err(refuse(format!(
            "{} has its keys in {}, and {} in {}\n  why:  servers of one cluster have the same keys\n  next: sealion resume or sealion undo \
             of the change that was left between the two; sealion diagnose --node names what each needs",
            first.node.name, first.key_dir, other.node.name, other.key_dir
        )));
    }
    entry_of(world, &first.node.name, &first.key_dir, numbers).map(|entry| (entry, true))
}

/// The copy of what lies in `key_dir` of `name`.
pub(super) fn entry_of(
    world: &mut World<'_>,
    name: &NodeName,
    key_dir: &str,
    numbers: &[u32],
) -> Result<String, PlanError> {
    let prefix = keys::entry_prefix(&world.cluster);
    if let Some(number) = numbers.iter().find(|number| keys::dir_name(**number) == key_dir) {
        return Ok(format!("{prefix}{number}"));
    }
    match numbers {
        [] => Err(refuse(format!(
            "the escrow {} has no copy of the keys that lie on these servers\n  why:  without one a lost key file is lost data\n  next: bring the copy \
             back from a backup of this machine; or move the key files away, where no data and no backup needs them",
            world.escrow.dir().display()
        ))),
        [number] => Ok(format!("{prefix}{number}")),
        // Opening one takes a second or so: only where there are several to choose from.
        _ => {
            let node = world.node(name).map_err(refuse)?;
            let path = keys::dir_named(node.spec(), key_dir).join(KEY_FILE);
            let lies = node.host().read(&path, KEY_FILE_BYTES_MAX).map_err(refuse)?;
            for number in numbers {
                let entry = format!("{prefix}{number}");
                let set = world.escrow.get(&entry).map_err(refuse)?;
                let kept = set.as_ref().and_then(|set| set.file(KEY_FILE));
                if kept.map(|kept| kept.bytes.expose_secret()) == lies.as_deref() {
                    return Ok(entry);
                }
            }
            Err(refuse(format!(
                "no copy in the escrow {} is the key file of {name}\n  why:  {} may be changed or of another time\n  next: sealion diagnose says \
                 which copy opens the data; sealion keys restore puts it back",
                world.escrow.dir().display(),
                path.display()
            )))
        }
    }
}

fn state_hash(change: &Change, drafts: &[Draft], entry: &(String, bool), world: &World<'_>) -> String {
    let mut text = format!("{change}\n{entry:?}\n{:?}\n", AtRestOptions { measures: false, ..world.at_rest });
    for draft in drafts {
        text += &format!(
            "{} {} {} {} {}\n",
            draft.node.name,
            draft.node.file.display(),
            crate::edit::hash(&draft.node.bytes),
            draft.node.view.version(),
            draft.node.view.variable("server_id").unwrap_or("")
        );
        for name in OPTIONS.iter().chain(&PLUGIN_OPTIONS) {
            text += &format!("  {name} {:?}\n", draft.node.view.variable(name));
        }
        let has_own = |table: &&Table| table.own_choice.is_some() || table.own_key_id.is_some();
        let chosen = draft.seen.tables.iter().filter(has_own);
        for table in chosen {
            text += &format!("  {} {:?} {:?}\n", table.name, table.own_choice, table.own_key_id);
        }
    }
    model::hex(&sha256(text.as_bytes()))
}

/// Tables whose own choice is the contrary, in the order of their names.
pub(super) fn chosen(draft: &Draft, contrary: OwnChoice) -> Vec<TableName> {
    let of = draft.seen.tables.iter().filter(|table| table.own_choice == Some(contrary));
    let mut names: Vec<TableName> = of.map(|table| table.name.clone()).collect();
    names.sort();
    names
}

fn enable(
    world: &mut World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    (entry, has_entry): &(String, bool),
    builder: &mut Builder,
) -> Result<(), PlanError> {
    let (tables, logs) = (change.has(Noun::Tables), change.has(Noun::Logs));
    let dir = world.escrow.dir().display().to_string();
    let step = builder.add(
        "K0".into(),
        "escrow-keys",
        format!("new keys, and a sealed copy of them in {dir}: {entry}.age"),
        vec![],
        EscrowParams { entry: entry.clone(), from: None },
    );
    step.no_op = *has_entry;
    step.shell = vec![
        "# on the operator's machine: 32 random bytes for key 1 and key 2, as hex, sealed before any server has them:".into(),
        format!("# (umask 077; printf '1;%s\\n2;%s\\n' $(openssl rand -hex 32) $(openssl rand -hex 32) | age -p > {dir}/{entry}.age)"),
    ];
    for draft in drafts.iter() {
        let name = draft.node.name.clone();
        let (key, pass) = (draft.key_path(world, KEY_FILE)?, draft.key_path(world, PASS_FILE)?);
        let step = builder.add(
            format!("K1.{name}"),
            "data-keys",
            format!("{name} gets the encrypted key file {key}, and {pass}, which opens it"),
            vec![name],
            DataKeysParams { entry: entry.clone(), dir: draft.key_dir.clone(), removes: false },
        );
        step.no_op = draft.has_keys;
        step.nature.needs = draft
            .node
            .key_file_needs(&[std::path::Path::new(&key).parent().unwrap_or(std::path::Path::new("/"))]);
        step.shell = draft.node.by_hand(
            &[],
            vec![
                format!("install -d -m 700 -o mysql {}", by_hand::quoted(key.trim_end_matches(KEY_FILE))),
                format!("(umask 077; openssl rand -hex 64 > {})", by_hand::quoted(&pass)),
                format!(
                    "age -d {entry}.age | openssl enc -aes-256-cbc -md sha1 -pass file:{} -out {}",
                    by_hand::quoted(&pass),
                    by_hand::quoted(&key)
                ),
            ],
        );
    }
    for draft in drafts.iter_mut() {
        let (edits, key) = draft.load_keys(world, &draft.key_dir.clone())?;
        let before = draft.node.view.variable(FILENAME).map(str::to_owned);
        let variables = vec![VariableChange::new(FILENAME, before.as_deref(), Some(&key))];
        let gate = StoppedGate {
            going: Going::All,
            forward: false,
            back: true,
            keys_forward: Some(draft.placed(entry)),
            keys_back: None,
        };
        draft.restart(
            builder,
            "K2",
            edits,
            variables,
            Some(gate),
            "has the keys, and encrypts nothing yet",
        )?;
    }
    for draft in drafts.iter() {
        key_gate(builder, "K3", draft, false);
    }
    if logs {
        for draft in drafts.iter() {
            binary_logs(world, builder, "K3l", draft, false);
        }
    }
    for draft in drafts.iter_mut() {
        let mut edits = Vec::new();
        let mut variables = Vec::new();
        let at_start = TABLES_AT_START.iter().filter(|_| tables).chain(logs.then_some(&LOGS_AT_START));
        for name in at_start {
            edits.push(draft.node.set(name, "ON".into()));
            variables.push(VariableChange::new(name, draft.node.view.variable(name), Some("ON")));
        }
        if tables {
            edits.push(draft.node.set(TMP_DISK_TABLES, "ON".into()));
        }
        let what = match (tables, logs) {
            (true, true) => "encrypts redo log, temporary files and binary logs from here on",
            (true, false) => "encrypts redo log and temporary files from here on",
            (false, _) => "encrypts binary logs and relay logs from here on",
        };
        let gate = StoppedGate::with(draft.placed(entry));
        draft.restart(builder, "K4", edits, variables, Some(gate), what)?;
    }
    if tables {
        for draft in drafts.iter() {
            rebuild_on_the_way_back(builder, "K5r", draft, true);
        }
        for draft in drafts.iter_mut() {
            spaces(world, builder, "K5", draft, true)?;
        }
        for draft in drafts.iter() {
            rebuild(builder, "K6", draft, true);
        }
    }
    if logs {
        for draft in drafts.iter() {
            binary_logs(world, builder, "K7", draft, true);
        }
    }
    for draft in drafts.iter() {
        proof(world, builder, "K8", change, draft, draft.placed(entry));
    }
    Ok(())
}

fn disable(
    world: &mut World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    (entry, _): &(String, bool),
    builder: &mut Builder,
) -> Result<(), PlanError> {
    let (tables, logs) = (change.has(Noun::Tables), change.has(Noun::Logs));
    if tables {
        for draft in drafts.iter() {
            rebuild_on_the_way_back(builder, "K0r", draft, false);
        }
        for draft in drafts.iter_mut() {
            spaces(world, builder, "K0", draft, false)?;
        }
        for draft in drafts.iter() {
            rebuild(builder, "K1", draft, false);
        }
    }
    if logs {
        for draft in drafts.iter() {
            binary_logs(world, builder, "K1l", draft, false);
        }
    }
    for draft in drafts.iter_mut() {
        let mut edits = Vec::new();
        let mut variables = Vec::new();
        let at_start = TABLES_AT_START.iter().filter(|_| tables).chain(logs.then_some(&LOGS_AT_START));
        for name in at_start {
            edits.push(draft.node.unset(name));
            variables.push(VariableChange::new(name, draft.node.view.variable(name), Some("OFF")));
        }
        if tables {
            edits.push(draft.node.unset(TMP_DISK_TABLES));
        }
        draft.restart(
            builder,
            "K2",
            edits,
            variables,
            draft.has_keys.then(|| StoppedGate::with(draft.placed(entry))),
            "writes what it writes from here on in the clear",
        )?;
    }
    if logs {
        for draft in drafts.iter() {
            binary_logs(world, builder, "K3", draft, true);
        }
    }
    // Whatever is left of the other half needs the keys on.
    let keeps = |draft: &Draft| {
        (!tables && (draft.is_on("innodb_encrypt_tables") || draft.is_on("innodb_encrypt_log")))
            || (!logs && draft.is_on(LOGS_AT_START))
    };
    if drafts.iter().any(keeps) || !drafts.iter().any(|draft| draft.has_keys) {
        return Ok(());
    }
    for draft in drafts.iter() {
        key_gate(builder, "K4", draft, true);
    }
    for draft in drafts.iter_mut() {
        let group = draft.plugin_group.clone();
        let remove = |key: &str| Edit::Remove { group: group.clone(), key: key.into() };
        let edits = [PLUGIN_LOAD, FILENAME, FILEKEY, ALGORITHM].map(remove).to_vec();
        let before = draft.node.view.variable(FILENAME).map(str::to_owned);
        let variables = vec![VariableChange::new(FILENAME, before.as_deref(), None)];
        draft.restart(
            builder,
            "K5",
            edits,
            variables,
            Some(StoppedGate {
                going: Going::All,
                forward: true,
                back: false,
                keys_forward: None,
                keys_back: Some(draft.placed(entry)),
            }),
            "runs without keys; the key file stays where it is",
        )?;
    }
    Ok(())
}

fn of_engine<'d>(draft: &'d Draft, engine: &'static str) -> impl Iterator<Item = &'d Table> {
    draft.seen.tables.iter().filter(move |table| table.engine == engine)
}

fn impact(world: &World<'_>, change: &Change, steps: &[Step], drafts: &[Draft]) -> Vec<String> {
    let at_work = || steps.iter().filter(|step| !step.no_op);
    let mut impact = Vec::new();
    for draft in drafts {
        let name = &draft.node.name;
        let restarts = at_work().filter(|step| step.restarts_server && step.nodes.contains(name)).count();
        if restarts > 0 {
            let how = if draft.letter.is_some() {
                "it leaves the cluster and comes back by IST, for which gcache.size has to hold what the others write meanwhile (where keys are taken from \
                 it, also while all its files are read)"
            } else {
                "it serves nothing for some 3 to 15 s each time, and while all its files are read where keys are taken from it; what is open then is rolled \
                 back"
            };
            impact.push(format!(
                "{name} is restarted {}: {how}",
                if restarts == 1 { "once".to_owned() } else { format!("{restarts} times") }
            ));
        }
    }
    if change.has(Noun::Tables) {
        for draft in drafts {
            let bytes: u64 = of_engine(draft, "InnoDB").map(|table| table.bytes).sum();
            impact.push(format!(
                "{}: {} of InnoDB with {} are written anew while they are read and written; a table that is rebuilt takes as much room again",
                draft.node.name,
                model::text::counted(of_engine(draft, "InnoDB").count(), "table", "tables"),
                model::text::bytes(bytes)
            ));
            if change.verb == Verb::Enable && draft.seen.in_system_space > 0 {
                impact.push(format!(
                    "{}: {} in the system tablespace; pages of it that they have freed may stay plain, and nothing is proven then: first, with \
                     innodb_file_per_table=ON, ALTER TABLE ... FORCE of each (information_schema.INNODB_SYS_TABLES, SPACE 0)",
                    draft.node.name,
                    model::text::counted(
                        usize::try_from(draft.seen.in_system_space).unwrap_or(usize::MAX),
                        "table lies",
                        "tables lie"
                    )
                ));
            }
            let (without_pages, aria): (Vec<&Table>, Vec<&Table>) = of_engine(draft, "Aria")
                .filter(|table| table.name.schema != "mysql")
                .partition(|table| table.has_no_encryption());
            if change.verb == Verb::Enable && !without_pages.is_empty() {
                let names: Vec<String> =
                    without_pages.iter().take(NAMED_MAX).map(|table| table.name.to_string()).collect();
                impact.push(format!(
                    "{}: {} of Aria stay readable, since their rows do not lie in pages: {} (ALTER TABLE ... ROW_FORMAT=PAGE; a sequence: \
                     ENGINE=InnoDB)",
                    draft.node.name,
                    model::text::counted(without_pages.len(), "table", "tables"),
                    names.join(", ")
                ));
            }
            let aria = aria.len();
            if aria > 0 {
                impact.push(format!(
                    "{}: {} of Aria cannot be written while each is copied",
                    draft.node.name,
                    model::text::counted(aria, "table", "tables")
                ));
            }
            let others: BTreeSet<&str> = draft
                .seen
                .tables
                .iter()
                .filter(|table| {
                    ["MyISAM", "CSV", "ARCHIVE"].contains(&table.engine.as_str()) && table.bytes > 0
                })
                .map(|table| table.engine.as_str())
                .collect();
            if change.verb == Verb::Enable && !others.is_empty() {
                let others: Vec<&str> = others.into_iter().collect();
                impact.push(format!(
                    "{}: tables of {} stay readable: no server encrypts them (ALTER TABLE ... ENGINE=InnoDB)",
                    draft.node.name,
                    others.join(" and ")
                ));
            }
        }
        if change.verb == Verb::Enable {
            impact.push(
                "temporary tables on disk that the server makes by itself stay readable, whatever encrypt_tmp_disk_tables says: put tmpdir on tmpfs or LUKS"
                    .into(),
            );
        }
    }
    if change.verb == Verb::Rotate {
        impact.extend(rotate::impact(change));
    }
    if change.verb == Verb::Enable || change.verb == Verb::Rotate {
        impact.push(format!(
            "without the keys in {} nobody reads the data, and no backup of it: keep a copy of that directory and of what opens it elsewhere",
            world.escrow.dir().display()
        ));
        impact.push("general, slow and error log, and galera.cache, stay readable: write them to a volume on LUKS, or switch them off".into());
    } else {
        impact.push("afterwards, whoever reads the disks or a backup of them reads the rows".into());
    }
    if change.has(Noun::Logs) && world.at_rest.purges_binary_logs {
        impact.push(
            "existing binary logs are purged; this cannot be undone: point-in-time recovery needs a new backup"
                .into(),
        );
    } else if change.has(Noun::Logs) {
        impact.push(
            "binary logs of before stay as they are until they expire; --purge-binary-logs removes them"
                .into(),
        );
    }
    impact
}
