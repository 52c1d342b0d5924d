//! New keys for data at rest of MariaDB with `file_key_management`.
//!
//! That plugin has no versions of a key, and key 1 is what redo, undo with the system tablespace, full-text indexes, sequences, Aria tables
//! and binary logs are written with. So the bytes of key 1 can only change while nothing on the disk needs it. Tables go another way, on
//! which nothing of theirs is ever in the clear: to a key of a new number, and, behind the change of key 1, back to the number that they had.
//!
//! Three sets of keys, each a copy in the escrow before anything else happens: the old one; the old one with the new number beside it;
//! and new keys with that number. No file with keys is written over: each set has a directory of its own.

use std::collections::BTreeSet;

use model::{Change, Need, Noun};
use server::{KeyWish, OwnChoice};

use super::keys::{self, KEY_FILE, KEY_IDS};
use super::looked::Going;
use super::parts::{binary_logs, live_settings, proof, spaces};
use super::plan::{Draft, LIVE, LOGS_AT_START, TABLES_AT_START, TMP_DISK_TABLES};
use super::steps::data_keys::FILENAME;
use super::steps::escrow_keys::{From, Takes};
use super::steps::table_keys::Own;
use super::steps::{DataKeysParams, EscrowParams, KeyGateParams, Placed, RebuildParams, TableKeysParams};
use super::stopped::StoppedGate;
use crate::edit::Edit;
use crate::plan::{Builder, PlanError, refuse};
use crate::variables::VariableChange;
use crate::world::World;

/// A set of keys: its copy in the escrow, and its directory on each server.
type Set = Placed;

struct Rotation {
    old: Set,
    /// The old keys, with `number` beside them.
    bridge: Set,
    next: Set,
    /// The key that tables are on meanwhile.
    number: u32,
    /// New bytes for these.
    anew: Vec<u32>,
    tables: bool,
    logs: bool,
}

pub(super) fn plan(
    world: &mut World<'_>,
    change: &Change,
    drafts: &mut [Draft],
    (entry, _): &(String, bool),
    numbers: &[u32],
    builder: &mut Builder,
) -> Result<(), PlanError> {
    fits(world, change, drafts)?;
    let turn = rotation(world, change, drafts, entry, numbers)?;
    for draft in drafts.iter() {
        turn.old.is_as_sealed(world, &draft.node.name, "is not given new keys").map_err(refuse)?;
    }
    escrow(world, &turn, builder);
    for set in [&turn.bridge, &turn.next] {
        let prefix = if set.entry == turn.bridge.entry { "K2" } else { "K3" };
        for draft in drafts.iter() {
            place(world, builder, prefix, draft, set, false)?;
        }
    }
    for draft in drafts.iter_mut() {
        let title = format!("reads key {} beside the ones of before", turn.number);
        let going = Going::Only(turn.number);
        load(world, builder, "K4", draft, [&turn.old, &turn.bridge], (going, false), &title)?;
    }
    for draft in drafts.iter() {
        gate(builder, "K5g", draft, false, Going::Only(turn.number), &turn.old);
    }
    if turn.tables {
        for draft in drafts.iter() {
            table_keys(builder, "K5", draft, turn.number, true);
        }
    }
    // One server after the other: so each has as short a time in the clear as there can be, and no two of them at once.
    for draft in drafts.iter_mut() {
        in_the_clear(world, builder, draft, &turn)?;
        let title = "has new keys, and encrypts nothing but its tables yet";
        // Key 1 has other bytes in the one than in the other.
        let going = Going::AllBut(turn.number);
        load(world, builder, "K10", draft, [&turn.bridge, &turn.next], (going.clone(), true), title)?;
        gate(builder, "K11", draft, false, going, &turn.bridge);
        encrypted_again(world, builder, draft, &turn)?;
    }
    if turn.tables {
        for draft in drafts.iter() {
            table_keys(builder, "K16", draft, turn.number, false);
        }
    }
    for draft in drafts.iter() {
        proof(world, builder, "K17", change, draft, turn.next.clone());
        gate(builder, "K18", draft, true, Going::Only(turn.number), &turn.next);
    }
    for draft in drafts.iter() {
        place(world, builder, "K19", draft, &turn.bridge, true)?;
        place(world, builder, "K20", draft, &turn.old, true)?;
    }
    Ok(())
}

/// What must be so before keys can be replaced, beside the checks of every change of data at rest.
fn fits(world: &World<'_>, change: &Change, drafts: &[Draft]) -> Result<(), PlanError> {
    let nouns = [(Noun::Tables, "innodb_encrypt_tables"), (Noun::Logs, LOGS_AT_START)];
    for draft in drafts {
        let name = &draft.node.name;
        if !draft.has_keys {
            return Err(refuse(format!(
                "{name}: it has no keys of sealion that could be replaced\n  why:  the plugin is not loaded with a key file of sealion's\n  next: \
                 sealion enable tables,logs"
            )));
        }
        for (noun, variable) in nouns {
            let (is_on, is_wished) = (draft.is_on(variable), change.has(noun));
            if is_on && !is_wished {
                return Err(refuse(format!(
                    "{name}: keys are not replaced for {} alone\n  why:  tables and binary logs have key 1 in common, and file_key_management has \
                     no second version of it: a binary log begins with key 1, as redo, undo and Aria tables do\n  next: sealion plan rotate \
                     tables,logs --purge-binary-logs",
                    if noun == Noun::Logs { "tables" } else { "logs" }
                )));
            }
            if !is_on && is_wished {
                return Err(refuse(format!(
                    "{name}: keys are not replaced for what is not encrypted\n  why:  {variable} is OFF\n  next: sealion enable {noun} encrypts \
                     it; or leave it out: sealion plan rotate"
                )));
            }
        }
        let plain = draft.seen.tables.iter().find(|table| table.own_choice == Some(OwnChoice::Plain));
        if let Some(table) = plain.filter(|_| change.has(Noun::Tables)) {
            return Err(refuse(format!(
                "{name}: {} was made with ENCRYPTED=NO\n  why:  nothing would be proven of it\n  next: sealion enable tables encrypts it, then plan \
                 again",
                table.name
            )));
        }
    }
    if change.has(Noun::Logs) && !world.at_rest.purges_binary_logs {
        return Err(refuse(
            "binary logs of before would need key 1 as it was\n  why:  they are not written anew, and file_key_management has no second version of \
             a key\n  next: add --purge-binary-logs: they are removed once every replica has applied them, so make a backup first",
        ));
    }
    Ok(())
}

fn rotation(
    world: &World<'_>,
    change: &Change,
    drafts: &[Draft],
    entry: &str,
    numbers: &[u32],
) -> Result<Rotation, PlanError> {
    let old =
        world.escrow.get(entry).map_err(refuse)?.ok_or_else(|| {
            refuse(format!("the copy {entry} is gone from {}", world.escrow.dir().display()))
        })?;
    let number = old.keys.iter().map(|key| key.id).max().unwrap_or(0).saturating_add(1);
    // Keys that a table names go on to be there. What else the old set had goes with it.
    let named = drafts.iter().flat_map(|draft| &draft.seen.tables).filter_map(|table| table.own_key_id);
    let defaults = drafts.iter().filter_map(|draft| {
        draft.node.view.variable("innodb_default_encryption_key_id").and_then(|id| id.parse().ok())
    });
    let anew: BTreeSet<u32> = KEY_IDS.into_iter().chain(named).chain(defaults).collect();
    let newest = numbers.first().copied().unwrap_or(0);
    let set = |behind: u32| {
        let number = newest.saturating_add(behind);
        Set { entry: format!("{}{number}", keys::entry_prefix(&world.cluster)), dir: keys::dir_name(number) }
    };
    let dir = drafts.first().map_or_else(|| keys::DIR.to_owned(), |draft| draft.key_dir.clone());
    Ok(Rotation {
        old: Set { entry: entry.to_owned(), dir },
        bridge: set(1),
        next: set(2),
        number,
        anew: anew.into_iter().collect(),
        tables: change.has(Noun::Tables),
        logs: change.has(Noun::Logs),
    })
}

fn escrow(world: &World<'_>, turn: &Rotation, builder: &mut Builder) {
    let dir = world.escrow.dir().display().to_string();
    let bridge = From { entry: turn.old.entry.clone(), takes: Takes::AllAnd(turn.number) };
    let takes = Takes::Only { kept: turn.number, anew: turn.anew.clone() };
    let next = From { entry: turn.bridge.entry.clone(), takes };
    let ids: Vec<String> = turn.anew.iter().map(ToString::to_string).collect();
    let (number, ids) = (turn.number, ids.join(" and "));
    for (id, set, from, what) in [
        ("K0", &turn.bridge, bridge, format!("the keys of {}, and a new key {number}", turn.old.entry)),
        ("K1", &turn.next, next, format!("new keys {ids}, and key {number}")),
    ] {
        let step = builder.add(
            id.into(),
            "escrow-keys",
            format!("{what}, as a sealed copy in {dir}: {}.age", set.entry),
            vec![],
            EscrowParams { entry: set.entry.clone(), from: Some(from) },
        );
        step.shell = vec![format!(
            "# on the operator's machine: {what}, as lines \"number;hex\", sealed with age before any server has them"
        )];
    }
}

fn place(
    world: &mut World<'_>,
    builder: &mut Builder,
    prefix: &str,
    draft: &Draft,
    set: &Set,
    removes: bool,
) -> Result<(), PlanError> {
    let name = draft.node.name.clone();
    let key = draft.key_path_in(world, &set.dir, KEY_FILE)?;
    let title = if removes {
        format!("{name} loses the key file {key}, which nothing needs any more; its copy in the escrow stays")
    } else {
        format!("{name} gets the encrypted key file {key}, and what opens it")
    };
    let params = DataKeysParams { entry: set.entry.clone(), dir: set.dir.clone(), removes };
    let step = builder.add(format!("{prefix}.{name}"), "data-keys", title, vec![name], params);
    let dir = crate::by_hand::quoted(key.trim_end_matches(KEY_FILE));
    let by_hand = if removes {
        vec![format!("# when nothing names it: rm -r {dir}")]
    } else {
        step.nature.needs = draft
            .node
            .key_file_needs(&[std::path::Path::new(&key).parent().unwrap_or(std::path::Path::new("/"))]);
        vec![
            format!("install -d -m 700 -o mysql {dir}"),
            format!("# as for the first key file, from {}.age, with a pass file of its own", set.entry),
        ]
    };
    step.shell = draft.node.by_hand(&[], by_hand);
    Ok(())
}

fn load(
    world: &mut World<'_>,
    builder: &mut Builder,
    prefix: &str,
    draft: &mut Draft,
    [before, after]: [&Set; 2],
    (going, forward): (Going, bool),
    title: &str,
) -> Result<(), PlanError> {
    let was = draft.key_path_in(world, &before.dir, KEY_FILE)?;
    let (edits, key) = draft.load_keys(world, &after.dir)?;
    let variables = vec![VariableChange::new(FILENAME, Some(&was), Some(&key))];
    let keys_forward = Some(after.clone());
    let keys_back = Some(before.clone());
    let gate = StoppedGate { going, forward, back: true, keys_forward, keys_back };
    draft.restart(builder, prefix, edits, variables, Some(gate), title)
}

/// `keeps`: the keys that the server has while the others go.
fn gate(
    builder: &mut Builder,
    prefix: &str,
    draft: &Draft,
    keys_go_forward: bool,
    going: Going,
    keeps: &Set,
) {
    let name = draft.node.name.clone();
    let when = if keys_go_forward { "" } else { "only in an undo: " };
    let title = format!("{when}no page of {name} needs {going}: all its files are read");
    let params = KeyGateParams { keys_go_forward, going, keeps: Some(keeps.clone()) };
    let step = builder.add(format!("{prefix}.{name}"), "key-gate", title, vec![name], params);
    let datadir = draft.node.view.variable("datadir").unwrap_or("DATADIR");
    step.shell = vec![format!("# sealion status rest --datadir {datadir}: which keys do its pages name?")];
}

fn table_keys(builder: &mut Builder, prefix: &str, draft: &Draft, number: u32, holds: bool) {
    let name = draft.node.name.clone();
    let title = if holds {
        format!("{name} writes each InnoDB table anew with key {number}, while it is read and written")
    } else {
        format!("{name} writes each InnoDB table anew with its key of before, which has other bytes now")
    };
    let has_own = |table: &&server::Table| table.own_choice.is_some() || table.own_key_id.is_some();
    let own = draft.seen.tables.iter().filter(has_own).map(|table| Own {
        table: table.name.clone(),
        wish: KeyWish { choice: table.own_choice, key_id: table.own_key_id },
    });
    let params = TableKeysParams { key_id: number, holds, own: own.collect() };
    let largest = draft.seen.tables.iter().map(|table| table.bytes).max().unwrap_or(0);
    let datadir = draft.node.view.variable("datadir").unwrap_or("/var/lib/mysql").to_owned();
    let step = builder.add(format!("{prefix}.{name}"), "table-keys", title, vec![name.clone()], params);
    step.sql = vec![
        "SET SESSION sql_log_bin=0;".into(),
        if holds {
            format!("ALTER TABLE ... ENCRYPTED=YES ENCRYPTION_KEY_ID={number};  -- of each InnoDB table")
        } else {
            "ALTER TABLE ... ENCRYPTED=DEFAULT ENCRYPTION_KEY_ID=DEFAULT;  -- of each, or what it was made with"
                .into()
        },
    ];
    step.shell = draft.node.by_hand(&[], step.sql.iter().map(|one| format!("# {one}")).collect());
    // One at a time is there twice.
    step.nature.needs =
        vec![Need::Space { node: Some(name), dir: datadir.into(), bytes: largest + largest / 5 }];
}

fn rebuild(builder: &mut Builder, prefix: &str, draft: &Draft, encrypt: bool, goes_forward: bool) {
    let name = draft.node.name.clone();
    let when = if goes_forward { "" } else { "only in an undo: " };
    let title = format!("{when}{name} writes anew what its threads leave: freed pages, undo, Aria tables");
    let settings = live_settings(draft);
    let params = RebuildParams { encrypt, chosen: vec![], goes_forward, settings, is_strict: !encrypt };
    builder.add(format!("{prefix}.{name}"), "rebuild", title, vec![name], params);
}

/// Options that are read at a start, with what they are before and behind it.
fn at_start(draft: &Draft, turn: &Rotation, on: bool) -> (Vec<Edit>, Vec<VariableChange>) {
    let (mut edits, mut variables) = (Vec::new(), Vec::new());
    let mut edit = |name: &str| {
        edits.push(if on { draft.node.set(name, "ON".into()) } else { draft.node.unset(name) });
    };
    let (before, after) = if on { ("OFF", "ON") } else { ("ON", "OFF") };
    for name in TABLES_AT_START.iter().filter(|_| turn.tables).chain(turn.logs.then_some(&LOGS_AT_START)) {
        edit(name);
        variables.push(VariableChange::new(name, Some(before), Some(after)));
    }
    if turn.tables {
        edit(TMP_DISK_TABLES);
    }
    (edits, variables)
}

/// What has key 1 and is no table is decrypted, and nothing needs that key any more.
fn in_the_clear(
    world: &mut World<'_>,
    builder: &mut Builder,
    draft: &mut Draft,
    turn: &Rotation,
) -> Result<(), PlanError> {
    if turn.tables {
        rebuild(builder, "K6r", draft, false, false);
        spaces(world, builder, "K6", draft, false)?;
        let name = &draft.node.name;
        let title = format!(
            "{name} decrypts what only key 1 can encrypt: ibdata1, undo, full-text indexes, sequences; no table"
        );
        if let Some(step) = builder.steps.last_mut() {
            step.title = title;
        }
        rebuild(builder, "K7", draft, false, true);
    }
    if turn.logs {
        binary_logs(world, builder, "K7l", draft, false);
    }
    let (edits, variables) = at_start(draft, turn, false);
    let what = if turn.tables {
        "writes redo and binary logs in the clear for a while"
    } else {
        "writes binary logs in the clear for a while"
    };
    draft.restart(builder, "K8", edits, variables, Some(StoppedGate::with(turn.bridge.clone())), what)?;
    if turn.logs {
        binary_logs(world, builder, "K8l", draft, true);
    }
    gate(builder, "K9", draft, true, Going::AllBut(turn.number), &turn.next);
    Ok(())
}

fn encrypted_again(
    world: &mut World<'_>,
    builder: &mut Builder,
    draft: &mut Draft,
    turn: &Rotation,
) -> Result<(), PlanError> {
    if turn.logs {
        binary_logs(world, builder, "K11l", draft, false);
    }
    let (edits, variables) = at_start(draft, turn, true);
    draft.restart(
        builder,
        "K12",
        edits,
        variables,
        Some(StoppedGate::with(turn.next.clone())),
        "encrypts what it writes from here on, with new keys",
    )?;
    if turn.tables {
        rebuild(builder, "K13r", draft, true, false);
        spaces(world, builder, "K13", draft, true)?;
        rebuild(builder, "K14", draft, true, true);
    }
    if turn.logs {
        binary_logs(world, builder, "K15", draft, true);
    }
    Ok(())
}

/// What a person is told of it.
pub(super) fn impact(change: &Change) -> Vec<String> {
    let mut told = vec![
        "file_key_management has one version of each key, and redo, undo, ibdata1, full-text indexes, sequences, Aria tables and binary logs all \
         have key 1: on each server in turn they are in the clear from K6 to K14, while their key is replaced; what InnoDB tables hold is \
         encrypted all the time"
            .to_owned(),
        "disk blocks that were freed meanwhile keep that text: fstrim, or a volume on LUKS".into(),
        "backups of before need the old keys: their copy stays in the escrow".into(),
        "a server that is given a copy of another one's files meanwhile (SST, mariabackup) may lack its keys: let none join until it is done"
            .into(),
    ];
    if change.has(Noun::Tables) {
        told.push(format!(
            "{} are OFF for a while: a table that is made meanwhile is in the clear until K14",
            LIVE.join(" and ")
        ));
        told.push("every InnoDB table is written anew twice".into());
    }
    told
}
