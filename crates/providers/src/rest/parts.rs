//! Steps that plans of `enable`, `disable` and `rotate` have in common.

use model::{Change, Need};
use server::{LiveSettings, OwnChoice, Rebuild};

use super::looked::Going;
use super::plan::{Draft, LIVE, THREADS, chosen, word};
use super::steps::{BinaryLogsParams, KeyGateParams, Placed, ProofParams, RebuildParams, SpacesParams};
use crate::draft::PlannedEdit;
use crate::plan::{Builder, PlanError};
use crate::world::World;

pub(super) fn key_gate(builder: &mut Builder, prefix: &str, draft: &Draft, keys_go_forward: bool) {
    let name = draft.node.name.clone();
    let title = if keys_go_forward {
        format!("nothing on {name} needs a key any more: all its files are read")
    } else {
        format!("only in an undo: nothing on {name} needs a key any more: all its files are read")
    };
    let step = builder.add(
        format!("{prefix}.{name}"),
        "key-gate",
        title,
        vec![name],
        KeyGateParams { keys_go_forward, going: Going::All, keeps: None },
    );
    step.no_op = !keys_go_forward && draft.has_keys;
    step.shell = vec![format!(
        "# sealion status rest --datadir {}",
        draft.node.view.variable("datadir").unwrap_or("DATADIR")
    )];
}

pub(super) fn spaces(
    world: &World<'_>,
    builder: &mut Builder,
    prefix: &str,
    draft: &mut Draft,
    encrypt: bool,
) -> Result<(), PlanError> {
    let threads = world.at_rest.threads;
    let name = draft.node.name.clone();
    let edits = if encrypt {
        vec![
            draft.node.set("innodb_encrypt_tables", "ON".into()),
            draft.node.set(THREADS, threads.to_string()),
            draft.node.set("aria_encrypt_tables", "ON".into()),
        ]
    } else {
        [LIVE[0], THREADS, LIVE[1]].map(|name| draft.node.unset(name)).to_vec()
    };
    let PlannedEdit { edit, diff, needs } = draft.node.edit(edits)?;
    let number = |name: &str| draft.node.view.variable(name).and_then(|value| value.parse().ok());
    let is_so = LIVE.iter().all(|name| draft.is_on(name) == encrypt);
    let no_op = edit.is_no_op() && is_so;
    let title = format!(
        "{name} {} every tablespace while it serves, {threads} threads",
        if encrypt { "encrypts" } else { "decrypts" }
    );
    let params = SpacesParams {
        edit,
        encrypt,
        threads,
        threads_before: number(THREADS).unwrap_or(0),
        iops: world.at_rest.iops,
        iops_before: number("innodb_encryption_rotation_iops"),
        settings: live_settings(draft),
    };
    let step = builder.add(format!("{prefix}.{name}"), "spaces", title, vec![name], params);
    let statements = [
        format!("SET GLOBAL aria_encrypt_tables={}", word(encrypt)),
        format!("SET GLOBAL innodb_encrypt_tables={}", word(encrypt)),
        format!("SET GLOBAL {THREADS}={threads}"),
    ];
    step.shell = draft.node.by_hand(&diff, statements.iter().map(|one| draft.node.sql(one)).collect());
    step.sql = statements.iter().map(|one| format!("{one};")).collect();
    step.sql.push(
        "SELECT NAME, MIN_KEY_VERSION FROM information_schema.INNODB_TABLESPACES_ENCRYPTION WHERE ROTATING_OR_FLUSHING;  -- until it is empty"
            .into(),
    );
    (step.no_op, step.diff, step.nature.needs) = (no_op, diff, needs);
    Ok(())
}

pub(super) fn rebuild(builder: &mut Builder, prefix: &str, draft: &Draft, encrypt: bool) {
    let name = draft.node.name.clone();
    let contrary = if encrypt { OwnChoice::Plain } else { OwnChoice::Encrypted };
    let chosen = chosen(draft, contrary);
    let mut title = format!("{name} writes anew what its threads leave: freed pages, undo, Aria tables");
    if !chosen.is_empty() {
        let word = if encrypt { "NO" } else { "YES" };
        title +=
            &format!(", {} with ENCRYPTED={word}", model::text::counted(chosen.len(), "table", "tables"));
    }
    let statements: Vec<String> =
        chosen.iter().map(|table| Rebuild::Choose(table.clone(), None).statement() + ";").collect();
    let largest = draft.seen.tables.iter().map(|table| table.bytes).max().unwrap_or(0);
    let datadir = draft.node.view.variable("datadir").unwrap_or("/var/lib/mysql").to_owned();
    let step = builder.add(
        format!("{prefix}.{name}"),
        "rebuild",
        title,
        vec![name.clone()],
        RebuildParams {
            encrypt,
            chosen,
            goes_forward: true,
            settings: live_settings(draft),
            // Keys would not go in a later step, and by then the server restarts in the clear.
            is_strict: !encrypt,
        },
    );
    step.sql = statements;
    step.sql.push("-- ALTER TABLE ... FORCE of each table that sealion status rest names, ALTER TABLE ... ENGINE=Aria of each Aria table".into());
    step.shell = draft.node.by_hand(&[], step.sql.iter().map(|one| format!("# {one}")).collect());
    // One at a time is there twice.
    step.nature.needs =
        vec![Need::Space { node: Some(name), dir: datadir.into(), bytes: largest + largest / 5 }];
}

pub(super) fn live_settings(draft: &Draft) -> LiveSettings {
    let of = |name: &str| draft.node.view.variable(name).map(str::to_owned);
    LiveSettings {
        dirty_pages_pct: of("innodb_max_dirty_pages_pct"),
        io_capacity: of("innodb_io_capacity"),
        file_per_table: of("innodb_file_per_table"),
        io_capacity_max: of("innodb_io_capacity_max"),
        scrubs: of("innodb_immediate_scrub_data_uncompressed"),
    }
}

/// Its threads go the other way first.
pub(super) fn rebuild_on_the_way_back(builder: &mut Builder, prefix: &str, draft: &Draft, encrypt: bool) {
    let name = draft.node.name.clone();
    let title = format!("only in an undo: {name} writes anew what its threads leave");
    let settings = live_settings(draft);
    let params = RebuildParams { encrypt, chosen: vec![], goes_forward: false, settings, is_strict: false };
    builder.add(format!("{prefix}.{name}"), "rebuild", title, vec![name], params);
}

pub(super) fn binary_logs(
    world: &World<'_>,
    builder: &mut Builder,
    prefix: &str,
    draft: &Draft,
    goes_forward: bool,
) {
    let name = draft.node.name.clone();
    // An undo that purges would lose what it is to bring back.
    let purges = goes_forward && world.at_rest.purges_binary_logs;
    let when = if goes_forward { "" } else { "only in an undo: " };
    let title = if purges {
        format!(
            "{name} begins a new binary log, and purges the existing ones once every replica has applied them"
        )
    } else {
        format!("{when}{name} begins a new binary log; the existing ones stay as they are")
    };
    let no_op = draft.seen.binary_logs.is_empty();
    let step = builder.add(
        format!("{prefix}.{name}"),
        "binary-logs",
        title,
        vec![name],
        BinaryLogsParams { purges, goes_forward },
    );
    step.sql = vec!["FLUSH LOCAL BINARY LOGS;".into()];
    if purges {
        step.sql.push(
            "PURGE BINARY LOGS TO '<the newest of SHOW BINARY LOGS>';  -- when every replica has come so far"
                .into(),
        );
    }
    step.shell = draft.node.by_hand(&[], vec![draft.node.sql("FLUSH LOCAL BINARY LOGS")]);
    step.no_op = no_op;
    // Where there are none, nothing is lost, and the change can be taken back.
    if purges && !no_op {
        step.nature.irreversible = Some("purged binary logs cannot be restored".into());
    }
}

pub(super) fn proof(
    world: &World<'_>,
    builder: &mut Builder,
    prefix: &str,
    change: &Change,
    draft: &Draft,
    keys: Placed,
) {
    let name = draft.node.name.clone();
    let title = format!("all files of {name} are read: what do they hold?");
    let params = ProofParams {
        encrypt: true,
        nouns: change.nouns.clone(),
        keeps_logs: !world.at_rest.purges_binary_logs,
        keys: Some(keys),
        settings: live_settings(draft),
    };
    let step = builder.add(format!("{prefix}.{name}"), "rest-proof", title, vec![name], params);
    step.shell = vec![format!(
        "# sealion status rest --datadir {}",
        draft.node.view.variable("datadir").unwrap_or("DATADIR")
    )];
}
