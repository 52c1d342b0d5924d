//! The steps of a migration.

use model::{Change, Plan, Step, StepId, StepNature, Verb};
use net::NetError;
use serde_json::json;

use crate::code::{self, Item, Kind};
use crate::inspect::{self, Problem, Server};
use crate::{End, Ends, ReplicationLogin};

/// `Plan::topology` of a migration.
pub const TOPOLOGY: &str = "migration";

pub const TABLES: &str = "migrate-tables";
pub const COPY: &str = "migrate-copy";
pub const FOLLOW: &str = "migrate-follow";
pub const COMPARE: &str = "migrate-compare";
pub const CLOSE: &str = "migrate-close";
pub const REVERSE: &str = "migrate-reverse";
pub const OPEN: &str = "migrate-open";
/// Behind it there is no way back.
pub const END: &str = "migrate-end";

/// In the parameters of [`CLOSE`]: for each end, what a rollback leads to.
pub const WAS_READ_ONLY: &str = "was_read_only";

/// In the parameters of [`CLOSE`]: the source has events that run.
pub const WAS_SCHEDULED: &str = "was_scheduled";

/// In the parameters of [`REVERSE`]: `gtid_slave_pos` of the source, from when it followed somebody.
pub const HAD_FOLLOWED: &str = "had_followed";

const BY_GTID: &str = "MASTER_USE_GTID=slave_pos";

/// `CHANGE MASTER`, as people read it.
fn change_master(login: &ReplicationLogin, place: &str) -> String {
    format!(
        "CHANGE MASTER TO MASTER_HOST='{}', MASTER_PORT={}, MASTER_USER='{}', MASTER_PASSWORD='…', MASTER_SSL=1, \
         MASTER_SSL_CA='{}', MASTER_SSL_VERIFY_SERVER_CERT=1, {place}",
        login.host,
        login.port,
        login.user,
        login.ca.display()
    )
}

fn told(from: &Server, accounts: &[String]) -> String {
    if !from.is_mariadb() {
        return "super_read_only closes the source: no account can write to it then".into();
    }
    let who = if accounts.is_empty() { "no account that can be seen".into() } else { accounts.join(", ") };
    format!("can write to the source while it is read-only, and must not: {who}")
}

fn step(id: &str, kind: &str, title: String, sql: Vec<String>) -> Step {
    Step {
        id: StepId(id.into()),
        kind: kind.into(),
        title,
        nodes: vec![],
        restarts_server: false,
        no_op: false,
        only_looks: false,
        nature: StepNature::default(),
        part: None,
        shell: vec![],
        sql,
        diff: vec![],
        params: json!({}),
    }
}

/// How many of each kind move, by whom they must be carried out, and when events run.
fn moves(items: &[Item]) -> Vec<String> {
    let count = |kind: Kind| items.iter().filter(|item| item.kind == kind).count();
    let kinds = [
        (count(Kind::View), "view", "views"),
        (count(Kind::Function) + count(Kind::Procedure), "routine", "routines"),
        (count(Kind::Trigger), "trigger", "triggers"),
        (count(Kind::Event), "event", "events"),
    ];
    let said: Vec<String> = kinds
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| model::text::counted(count, one, many))
        .collect();
    if said.is_empty() {
        return Vec::new();
    }
    let definers: std::collections::BTreeSet<&str> = items.iter().map(|item| item.definer.as_str()).collect();
    let definers: Vec<&str> = definers.into_iter().collect();
    let mut all = vec![format!(
        "{} move too; M5 waits until their definers are accounts of the target: {}",
        said.join(", "),
        definers.join(", ")
    )];
    if count(Kind::Event) > 0 {
        all.push(
            "events run on the source until M5, which sets event_scheduler=OFF there, and on the target from when it is open; put it into the \
             option file of the source"
                .into(),
        );
    }
    all
}

fn impact(ends: &Ends, from: &Server, to: &Server, writers: &[String], items: &[Item]) -> Vec<String> {
    let mut all = vec![
        format!("{} to {}: {}", from.named(), to.named(), ends.schemas.join(", ")),
        told(from, writers),
        "read_only and the filter of replication are set without a restart, and are gone with one: also put read_only=ON into the option \
         file of whichever server is not to be written to, and skip-slave-start into those of both until it is finished: without its filter a \
         replica takes every schema"
            .into(),
    ];
    if !from.is_mariadb() {
        all.push(
            "MySQL does not read the row events of MariaDB: the source cannot follow the target, and what the target takes after the \
             cutover stays there"
                .into(),
        );
        all.push(
            "the target follows by file and position; should it be killed meanwhile, it can stop at a transaction that it has already: \
             then only a rollback and a new migration are left"
                .into(),
        );
        all.push(
            "until the rows are copied nobody can create, change or drop a table or an account on the source (LOCK INSTANCE FOR BACKUP); \
             commits wait for a moment when the copy begins, and when both are compared"
                .into(),
        );
    }
    all.push(
        "accounts are not copied: make those of the applications on the target before the cutover".into(),
    );
    all.extend(moves(items));
    if ends.back.is_none() {
        all.push("applications write to the source until M5; from M5 to M6 to neither".into());
        all.push("there is no way back once the target takes writes (--no-way-back)".into());
        return all;
    }
    all.push("applications write to the source until M5; from M5 to M7 to neither".into());
    all.push(
        "after M7 the source follows the target, so that a rollback keeps what the target took, until M8"
            .into(),
    );
    if from.capabilities.version < to.capabilities.version {
        all.push(format!(
            "on that way back a newer server is followed by an older one: rows pass, but a statement that only {} knows (CREATE, ALTER) \
             stops it. Then a rollback is refused until that is resolved",
            to.version
        ));
    }
    all
}

/// Looks at both ends; changes nothing.
///
/// # Errors
/// A server that cannot be asked. Problems are the other `Err` inside.
pub fn plan(ends: &Ends, id: &str, made_unix_ms: u64) -> Result<Result<Plan, Vec<Problem>>, NetError> {
    let (mut source, mut target) = (ends.session(End::Source)?, ends.session(End::Target)?);
    let problems = inspect::problems(ends, &mut source, &mut target)?;
    if !problems.is_empty() {
        return Ok(Err(problems));
    }
    let (from, to) = (Server::of(&mut source)?, Server::of(&mut target)?);
    let tables = inspect::tables(&mut source, &ends.schemas)?;
    let items = if from.is_mariadb() { code::all(&mut source, &ends.schemas)? } else { Vec::new() };
    let runs =
        from.is_on("event_scheduler") && items.iter().any(|item| item.kind == Kind::Event && item.is_enabled);
    let size_mb = tables.iter().map(|table| table.data_bytes).sum::<u64>() / 1_000_000;
    let schemas = ends.schemas.join(", ");
    let login = &ends.replication;
    let is_mysql = !from.is_mariadb();
    let place =
        if is_mysql { "MASTER_USE_GTID=no, MASTER_LOG_FILE='…', MASTER_LOG_POS=…" } else { BY_GTID };
    let mut copy = step(
        "M2",
        COPY,
        format!(
            "copy the rows of {} (some {size_mb} MB) from one consistent snapshot",
            model::text::counted(tables.len(), "table", "tables")
        ),
        if is_mysql { ["LOCK INSTANCE FOR BACKUP", "FLUSH TABLES WITH READ LOCK"].as_slice() } else { &[] }
            .iter()
            .copied()
            .chain(["START TRANSACTION WITH CONSISTENT SNAPSHOT", "LOAD DATA LOCAL INFILE … INTO TABLE …"])
            .map(str::to_owned)
            .collect(),
    );
    copy.nature.undone_by = Some(StepId("M1".into()));
    let mut compare = step(
        "M4",
        COMPARE,
        "compare every table at one and the same transaction, while the source is written to".into(),
        vec![],
    );
    compare.only_looks = true;
    let back = ends.back.as_ref();
    let mut open = step(
        if back.is_some() { "M7" } else { "M6" },
        OPEN,
        "end replication and open the target for writes".into(),
        vec!["STOP SLAVE".into(), "RESET SLAVE ALL".into(), "SET GLOBAL read_only = OFF".into()],
    );
    let mut close = step(
        "M5",
        CLOSE,
        "close the source for writes, and wait until the target has all of them".into(),
        if is_mysql {
            vec!["SET GLOBAL super_read_only = ON".into(), "SELECT MASTER_POS_WAIT(…)".into()]
        } else {
            vec!["SET GLOBAL read_only = ON".into(), "SELECT MASTER_GTID_WAIT(…)".into()]
        },
    );
    // Whoever goes back brings back what was.
    let earlier = |server: &Server| !matches!(server.variable("read_only"), "OFF" | "0");
    close.params =
        json!({ WAS_READ_ONLY: { "source": earlier(&from), "target": earlier(&to) }, WAS_SCHEDULED: runs });
    if runs {
        close.sql.insert(0, "SET GLOBAL event_scheduler = OFF".into());
        open.sql.push("CREATE EVENT … ENABLE …".into());
    }
    if items.iter().any(|item| item.kind == Kind::Trigger) {
        copy.sql.push("CREATE TRIGGER …".into());
    }
    if back.is_none() {
        open.nature.irreversible =
            Some("from then on the target takes writes, and nothing brings them back to the source".into());
    }
    let mut tables_step = step(
            "M1",
            TABLES,
            format!(
                "make {schemas} on the target, which is read-only until the end; try its way to the source"
            ),
            vec![
                "SET GLOBAL read_only = ON".into(),
                "CREATE DATABASE …".into(),
                "CREATE TABLE …".into(),
                "CHANGE MASTER 'sealion_trial' TO …; START SLAVE 'sealion_trial' IO_THREAD; RESET SLAVE 'sealion_trial' ALL".into(),
            ],
        );
    if items.iter().any(|item| item.kind != Kind::Trigger) {
        tables_step
            .sql
            .insert(3, "CREATE VIEW, FUNCTION, PROCEDURE …; CREATE EVENT … DISABLE ON SLAVE …".into());
    }
    let mut steps = vec![
        tables_step,
        copy,
        step(
            "M3",
            FOLLOW,
            format!(
                "replicate from {}:{} over TLS, with verification of its certificate",
                login.host, login.port
            ),
            vec![change_master(login, place), "START SLAVE".into()],
        ),
        compare,
        close,
    ];
    match back {
        None => steps.push(open),
        Some(login) => {
            let title = format!(
                "let the source follow the target, {}:{}, over TLS, with verification of its certificate",
                login.host, login.port
            );
            let sql = vec![
                "SET GLOBAL gtid_slave_pos = …".into(),
                change_master(login, BY_GTID),
                "START SLAVE".into(),
            ];
            let mut reverse = step("M6", REVERSE, title, sql);
            reverse.params = json!({ HAD_FOLLOWED: from.variable("gtid_slave_pos") });
            let sql = vec!["STOP SLAVE".into(), "RESET SLAVE ALL".into()];
            let title = "end the source's replication from the target; the source stays as it is, read-only";
            let mut end = step("M8", END, title.into(), sql);
            end.nature.irreversible =
                Some("from then on the source gets nothing of what the target takes".into());
            steps.extend([reverse, open, end]);
        }
    }
    let mut state = format!(
        "{} {} {} {}",
        from.version,
        to.version,
        from.variable("server_id"),
        to.variable("server_id")
    );
    // By name: they come by size, which is another while applications write.
    let mut lines: Vec<String> = tables
        .iter()
        .map(|table| {
            let columns = table.columns.iter().map(|column| net::sql_text::name(&column.name));
            format!("\n{} {}", table.quoted(), columns.collect::<Vec<_>>().join(" "))
        })
        .collect();
    lines.extend(items.iter().map(|item| format!("\n{} {}", item.named(), item.definer)));
    lines.sort();
    state += &lines.concat();
    Ok(Ok(Plan {
        id: id.to_owned(),
        sequence: 0,
        change: Change::new(Verb::Migrate, []),
        cluster: format!("{} to {}", ends.source.endpoint, ends.target.endpoint),
        topology: TOPOLOGY.into(),
        parts: vec![],
        made_unix_ms,
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        state_hash: model::hex(&openssl::sha::sha256(state.as_bytes())),
        inventory: std::collections::BTreeMap::new(),
        impact: impact(ends, &from, &to, &inspect::writers_all_the_same(&mut source)?, &items),
        rights: vec![
            if is_mysql {
                "source: SELECT, SHOW VIEW, TRIGGER, EVENT, PROCESS, RELOAD, REPLICATION CLIENT, BACKUP_ADMIN, SYSTEM_VARIABLES_ADMIN, \
                 XA_RECOVER_ADMIN"
                    .into()
            } else {
            "source: SELECT, SHOW VIEW, TRIGGER, EVENT, PROCESS, RELOAD, BINLOG MONITOR, SLAVE MONITOR, READ_ONLY ADMIN, CONNECTION ADMIN; for the way back also REPLICATION SLAVE ADMIN, SUPER".into()
            },
            "target: ALL on the schemas, REPLICATION SLAVE ADMIN, SLAVE MONITOR, RELOAD, PROCESS, BINLOG ADMIN, READ_ONLY ADMIN, SET USER, SUPER; for the way back also CONNECTION ADMIN".into(),
        ],
        steps,
    }))
}
