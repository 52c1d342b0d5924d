//! Runs as rows and back.

use model::{Finding, LinkSight, Observation, Observations, Phase, Run};
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Store, StoreError};

const PUT_REPORT: &str = "INSERT INTO reports (run_id, kind, json) VALUES (?1, ?2, ?3)
    ON CONFLICT (run_id, kind) DO UPDATE SET json = excluded.json";

/// One line of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    pub id: String,
    pub command: String,
    pub sealion_version: String,
    pub started_unix_ms: u64,
    pub ended_unix_ms: u64,
    pub findings_failed: u64,
    pub findings_unknown: u64,
    pub links_plain: u64,
    pub links_sealed: u64,
    /// Nobody knows what they carried.
    pub links_unknown: u64,
    /// Kinds of the reports that were kept.
    pub reports: Vec<String>,
}

impl Store {
    /// Keeps a run, all of it or nothing. A run of the same id is replaced; its reports stay.
    pub fn put_run(&mut self, run: &Run) -> Result<(), StoreError> {
        let failed = self.failed("written to");
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        insert(&transaction, run).and_then(|()| transaction.commit()).map_err(failed)
    }

    /// Keeps a run with a report, both or neither.
    pub fn put_with_report(&mut self, run: &Run, kind: &str, json: &str) -> Result<(), StoreError> {
        let failed = self.failed("written to");
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        insert(&transaction, run)
            .and_then(|()| transaction.execute(PUT_REPORT, [&run.id, kind, json]))
            .and_then(|_| transaction.commit())
            .map_err(failed)
    }

    /// The whole run, `None` when it was never kept here.
    pub fn run(&self, id: &str) -> Result<Option<Run>, StoreError> {
        let failed = self.failed("read");
        let run = self
            .connection
            .query_row(
                "SELECT command, sealion_version, started_unix_ms, ended_unix_ms FROM runs WHERE id = ?1",
                [id],
                |row| {
                    Ok(Run {
                        id: id.to_owned(),
                        command: row.get(0)?,
                        sealion_version: row.get(1)?,
                        started_unix_ms: unsigned(row.get(2)?),
                        ended_unix_ms: unsigned(row.get(3)?),
                        phases: Vec::new(),
                    })
                },
            )
            .optional()
            .map_err(&failed)?;
        let Some(mut run) = run else { return Ok(None) };
        let phases: Vec<(i64, String, i64, i64, String)> = self
            .connection
            .prepare_cached(
                "SELECT phase, name, started_unix_ms, ended_unix_ms, notes FROM phases WHERE run_id = ?1 ORDER BY phase",
            )
            .and_then(|mut statement| {
                statement
                    .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?
                    .collect()
            })
            .map_err(&failed)?;
        for (phase, name, started, ended, notes) in phases {
            run.phases.push(Phase {
                name,
                started_unix_ms: unsigned(started),
                ended_unix_ms: unsigned(ended),
                observations: observations(self.bodies("observations", id, phase)?),
                findings: self.bodies::<Finding>("findings", id, phase)?,
                sights: self.bodies::<LinkSight>("sights", id, phase)?,
                notes: parsed(id, &notes)?,
            });
        }
        Ok(Some(run))
    }

    /// The newest runs first, at most `limit`.
    pub fn runs(&self, limit: u32) -> Result<Vec<RunSummary>, StoreError> {
        let failed = self.failed("read");
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT id, command, sealion_version, started_unix_ms, ended_unix_ms,
                    (SELECT count(*) FROM findings WHERE run_id = runs.id AND verdict = 'fail'),
                    (SELECT count(*) FROM findings WHERE run_id = runs.id AND verdict = 'unknown'),
                    (SELECT count(*) FROM sights WHERE run_id = runs.id AND seen = 'plain'),
                    (SELECT count(*) FROM sights WHERE run_id = runs.id AND seen = 'sealed'),
                    (SELECT count(*) FROM sights WHERE run_id = runs.id AND seen = 'unknown'),
                    (SELECT json_group_array(kind) FROM (SELECT kind FROM reports WHERE run_id = runs.id ORDER BY kind))
                 FROM runs ORDER BY started_unix_ms DESC, id DESC LIMIT ?1",
            )
            .map_err(&failed)?;
        let rows = statement
            .query_map([limit], |row| {
                let kinds: String = row.get(10)?;
                Ok(RunSummary {
                    id: row.get(0)?,
                    command: row.get(1)?,
                    sealion_version: row.get(2)?,
                    started_unix_ms: unsigned(row.get(3)?),
                    ended_unix_ms: unsigned(row.get(4)?),
                    findings_failed: unsigned(row.get(5)?),
                    findings_unknown: unsigned(row.get(6)?),
                    links_plain: unsigned(row.get(7)?),
                    links_sealed: unsigned(row.get(8)?),
                    links_unknown: unsigned(row.get(9)?),
                    reports: serde_json::from_str(&kinds).unwrap_or_default(),
                })
            })
            .map_err(&failed)?;
        rows.collect::<Result<_, _>>().map_err(&failed)
    }

    /// The newest reports of these kinds, at most `limit`, each with the id of its run.
    pub fn reports(&self, kinds: &[&str], limit: u32) -> Result<Vec<(String, String, String)>, StoreError> {
        let failed = self.failed("read");
        let kinds = body(&kinds).map_err(&failed)?;
        self.connection
            .prepare_cached(
                "SELECT run_id, kind, json FROM reports JOIN runs ON runs.id = run_id
                 WHERE kind IN (SELECT value FROM json_each(?1))
                 ORDER BY started_unix_ms DESC, run_id DESC LIMIT ?2",
            )
            .and_then(|mut statement| {
                statement
                    .query_map(params![kinds, limit], |row| {
                        // A damaged row is read as an empty one: it should not hide the others.
                        let json = row.get_ref(2)?.as_str().unwrap_or_default();
                        Ok((row.get(0)?, row.get(1)?, json.to_owned()))
                    })?
                    .collect()
            })
            .map_err(&failed)
    }

    /// The newest run of a command.
    pub fn latest(&self, command: &str) -> Result<Option<Run>, StoreError> {
        let id: Option<String> = self
            .connection
            .query_row(
                "SELECT id FROM runs WHERE command = ?1 ORDER BY started_unix_ms DESC, id DESC LIMIT 1",
                [command],
                |row| row.get(0),
            )
            .optional()
            .map_err(self.failed("read"))?;
        id.map_or(Ok(None), |id| self.run(&id))
    }

    /// Keeps a published report (`demo`) beside its run, as the bytes that were published.
    pub fn put_report(&mut self, run_id: &str, kind: &str, json: &str) -> Result<(), StoreError> {
        let failed = self.failed("written to");
        let is_known: bool = self
            .connection
            .query_row("SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1)", [run_id], |row| row.get(0))
            .map_err(&failed)?;
        if !is_known {
            return Err(StoreError::NoSuchRun { run: run_id.to_owned() });
        }
        self.connection.execute(PUT_REPORT, [run_id, kind, json]).map_err(failed)?;
        Ok(())
    }

    /// What reports a run has.
    pub fn report_kinds(&self, run_id: &str) -> Result<Vec<String>, StoreError> {
        self.connection
            .prepare_cached("SELECT kind FROM reports WHERE run_id = ?1 ORDER BY kind")
            .and_then(|mut statement| statement.query_map([run_id], |row| row.get(0))?.collect())
            .map_err(self.failed("read"))
    }

    pub fn report(&self, run_id: &str, kind: &str) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row("SELECT json FROM reports WHERE run_id = ?1 AND kind = ?2", [run_id, kind], |row| {
                row.get(0)
            })
            .optional()
            .map_err(self.failed("read"))
    }

    /// A run with its reports as one JSON text. Its shape is that of `model`: for a look inside, not a promise.
    pub fn export_json(&self, run_id: &str) -> Result<String, StoreError> {
        let failed = self.failed("read");
        let run = self.run(run_id)?.ok_or_else(|| StoreError::NoSuchRun { run: run_id.to_owned() })?;
        let mut reports = serde_json::Map::new();
        let mut statement = self
            .connection
            .prepare_cached("SELECT kind, json FROM reports WHERE run_id = ?1 ORDER BY kind")
            .map_err(&failed)?;
        let rows = statement
            .query_map([run_id], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
            .map_err(&failed)?;
        for row in rows {
            let (kind, json) = row.map_err(&failed)?;
            // What is not JSON is exported as the text it is.
            let value = serde_json::from_str(&json).unwrap_or(Value::String(json));
            reports.insert(kind, value);
        }
        let export = json!({ "schema": "sealion/run-export/0", "run": run, "reports": reports });
        Ok(format!("{export:#}\n"))
    }

    fn bodies<T: DeserializeOwned>(&self, table: &str, run: &str, phase: i64) -> Result<Vec<T>, StoreError> {
        let failed = self.failed("read");
        // The table's name is one of three literals above, never a stranger's text.
        let sql = format!("SELECT body FROM {table} WHERE run_id = ?1 AND phase = ?2 ORDER BY place");
        let bodies: Vec<String> = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_map(params![run, phase], |row| row.get(0))?.collect())
            .map_err(&failed)?;
        bodies.iter().map(|body| parsed(run, body)).collect()
    }
}

fn insert(transaction: &Transaction<'_>, run: &Run) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT INTO runs (id, command, sealion_version, started_unix_ms, ended_unix_ms) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (id) DO UPDATE SET command = excluded.command, sealion_version = excluded.sealion_version,
            started_unix_ms = excluded.started_unix_ms, ended_unix_ms = excluded.ended_unix_ms",
        params![run.id, run.command, run.sealion_version, signed(run.started_unix_ms), signed(run.ended_unix_ms)],
    )?;
    // Everything below a phase goes with it.
    transaction.execute("DELETE FROM phases WHERE run_id = ?1", [&run.id])?;
    let mut observed =
        transaction.prepare_cached("INSERT INTO observations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    let mut found =
        transaction.prepare_cached("INSERT INTO findings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    let mut sighted = transaction.prepare_cached(
        "INSERT INTO sights VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?;
    for (number, phase) in (0i64..).zip(&run.phases) {
        transaction.execute(
            "INSERT INTO phases VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                run.id,
                number,
                phase.name,
                signed(phase.started_unix_ms),
                signed(phase.ended_unix_ms),
                body(&phase.notes)?
            ],
        )?;
        for (place, one) in (0i64..).zip(phase.observations.iter()) {
            let (source, at) = (one.source.to_string(), signed(one.at_unix_ms));
            observed.execute(params![
                run.id,
                number,
                place,
                one.subject,
                one.fact,
                source,
                at,
                body(one)?
            ])?;
        }
        for (place, one) in (0i64..).zip(&phase.findings) {
            let (severity, verdict) = (one.severity.to_string(), one.verdict.word());
            found.execute(params![
                run.id,
                number,
                place,
                one.rule,
                one.subject,
                severity,
                verdict,
                body(one)?
            ])?;
        }
        for (place, one) in (0i64..).zip(&phase.sights) {
            sighted.execute(params![
                run.id,
                number,
                place,
                one.link.kind.as_str(),
                one.link.a,
                one.link.b,
                one.seen.word(),
                signed(one.canaries),
                signed(one.payload_bytes),
                body(one)?,
                one.only_own_session,
                one.tcp_sessions,
                body(&one.cleartext_clients)?
            ])?;
        }
    }
    Ok(())
}

fn body(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn parsed<T: DeserializeOwned>(run: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::Unreadable { run: run.to_owned(), why: error.to_string() })
}

/// Noted again in the same order, so that the ids which findings name are the same places.
fn observations(list: Vec<Observation>) -> Observations {
    Observations::from(list)
}

/// SQLite integers are signed; a count beyond 2^63 is kept as the largest there is (the body has it exactly).
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use model::{Evidence, Link, LinkKind, Seen, Severity, Source, Value, Verdict, facts};

    use super::*;

    fn run(id: &str, started_unix_ms: u64) -> Run {
        let mut seen = Observations::default();
        seen.note("n1", &facts::cluster::GALERA_EFFECTIVE, Value::Absent, Source::Sql, 11, "SHOW VARIABLES");
        let id_of_wire = seen.note(
            "galera n1-n2",
            &facts::wire::WIRE_GALERA,
            Value::Unknown("no bytes".into()),
            Source::Wire,
            12,
            "tcpdump",
        );
        let finding = |verdict| Finding {
            rule: "SL3101".into(),
            title: "Writesets are sealed".into(),
            severity: Severity::Critical,
            subject: "galera n1-n2".into(),
            verdict,
            observations: vec![id_of_wire],
            remedy: "sealion enable galera".into(),
        };
        let sight = LinkSight {
            link: Link::new(LinkKind::Galera, "n2", "n1"),
            seen: Seen::Plain,
            payload_bytes: 900,
            tcp_flows: 1,
            canaries: 4,
            tls_bytes: 0,
            only_own_session: false,
            tcp_sessions: None,
            cleartext_clients: vec![],
            refused_logins: vec![],
            method: "AF_PACKET on lo".into(),
            control_seen: true,
            kernel_drops: 0,
            evidence: Some(Evidence {
                flow: "a -> b".into(),
                stream_offset_bytes: 7,
                bytes_hex: "00ff".into(),
                text: "..".into(),
            }),
        };
        Run {
            id: id.into(),
            command: "demo".into(),
            sealion_version: "0.1.0".into(),
            started_unix_ms,
            ended_unix_ms: started_unix_ms + 5,
            phases: vec![
                Phase {
                    name: "look".into(),
                    started_unix_ms,
                    ended_unix_ms: started_unix_ms + 1,
                    observations: seen,
                    findings: vec![
                        finding(Verdict::Fail("4 canaries".into())),
                        finding(Verdict::Unknown("it's \"quiet\"".into())),
                        finding(Verdict::Pass),
                        finding(Verdict::NotApplicable),
                    ],
                    sights: vec![sight],
                    notes: vec!["'; DROP TABLE runs; --".into()],
                },
                Phase { name: "nothing seen".into(), ..Phase::default() },
            ],
        }
    }

    fn same(one: &Run, other: &Run) {
        let text = |run| serde_json::to_string_pretty(run).expect("a run is JSON");
        assert_eq!(text(one), text(other));
    }

    fn store(place: &tempfile::TempDir) -> Store {
        Store::open(place.path().join("runs.db")).expect("it opens")
    }

    #[test]
    fn a_run_comes_back_as_it_was_after_reopening_too() {
        let place = tempfile::tempdir().expect("a directory");
        let (first, second) = (run("a", 100), run("b", 200));
        let mut open = store(&place);
        open.put_run(&first).expect("it is kept");
        open.put_run(&second).expect("it is kept");
        same(&open.run("a").expect("it reads").expect("it is there"), &first);
        drop(open);
        let open = store(&place);
        same(&open.run("a").expect("it reads").expect("it is there"), &first);
        same(&open.latest("demo").expect("it reads").expect("it is there"), &second);
        assert!(open.run("c").expect("it reads").is_none());
        assert!(open.latest("scan").expect("it reads").is_none());
    }

    #[test]
    fn summaries_are_newest_first_and_count_what_is_wrong() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        for (id, started) in [("a", 100), ("c", 300), ("b", 200)] {
            store.put_run(&run(id, started)).expect("it is kept");
        }
        store.put_report("c", "demo", "{}").expect("it is kept");
        let runs = store.runs(2).expect("it reads");
        assert_eq!(runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(), ["c", "b"]);
        let newest = &runs[0];
        assert_eq!((newest.findings_failed, newest.findings_unknown, newest.links_plain), (1, 1, 1));
        let kept = store.run("c").expect("it reads").expect("it is there");
        let count = |word: &str| {
            let all = kept.phases.iter().flat_map(|phase| &phase.sights);
            all.filter(|sight| sight.seen.word() == word).count() as u64
        };
        assert_eq!((newest.links_sealed, newest.links_unknown), (count("sealed"), count("unknown")));
        assert_eq!((newest.reports.as_slice(), newest.ended_unix_ms), (["demo".to_owned()].as_slice(), 305));
        assert!(runs[1].reports.is_empty());
    }

    #[test]
    fn a_run_kept_twice_is_one_run_and_keeps_its_report() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        store.put_run(&run("a", 100)).expect("it is kept");
        store.put_report("a", "demo", "{\"n\": 1}").expect("it is kept");
        let mut shorter = run("a", 101);
        shorter.phases.truncate(1);
        shorter.phases[0].findings.truncate(2);
        store.put_run(&shorter).expect("it is replaced");
        same(&store.run("a").expect("it reads").expect("it is there"), &shorter);
        assert_eq!(store.runs(9).expect("it reads").len(), 1);
        let left: i64 = store
            .connection
            .query_row("SELECT count(*) FROM findings", [], |row| row.get(0))
            .expect("it counts");
        assert_eq!(left, 2);
        assert_eq!(store.report("a", "demo").expect("it reads").as_deref(), Some("{\"n\": 1}"));
    }

    #[test]
    fn a_report_needs_its_run_and_a_newer_one_replaces_it() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        let error = store.put_report("a", "demo", "{}").expect_err("there is no run");
        assert!(
            matches!(error, StoreError::NoSuchRun { .. }) && error.to_string().contains("next: "),
            "{error}"
        );
        store.put_run(&run("a", 100)).expect("it is kept");
        store.put_report("a", "demo", "{\"n\":1}").expect("it is kept");
        store.put_report("a", "demo", "{\"n\":2}").expect("it is kept");
        assert_eq!(store.report("a", "demo").expect("it reads").as_deref(), Some("{\"n\":2}"));
        assert!(store.report("a", "sarif").expect("it reads").is_none());
    }

    #[test]
    fn reports_come_newest_first_of_the_kinds_that_were_asked_for() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        for (id, started, kind) in
            [("a", 100, "load"), ("b", 200, "run"), ("c", 300, "demo"), ("d", 50, "run")]
        {
            store
                .put_with_report(&run(id, started), kind, &format!("{{\"of\":\"{id}\"}}"))
                .expect("it is kept");
        }
        let ids = |kinds: &[&str], limit| -> Vec<String> {
            let found = store.reports(kinds, limit).expect("it reads");
            assert!(found.iter().all(|(id, kind, json)| kinds.contains(&kind.as_str()) && json.contains(id)));
            found.into_iter().map(|(id, ..)| id).collect()
        };
        assert_eq!(
            (ids(&["run"], 9), ids(&["run", "load"], 2)),
            (vec!["b".into(), "d".into()], vec!["b".into(), "a".into()])
        );
        assert!(ids(&["'; DROP TABLE runs; --"], 9).is_empty());
    }

    #[test]
    fn a_damaged_report_is_an_empty_one_and_hides_no_other() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        for (id, started) in [("a", 100), ("b", 200)] {
            store.put_with_report(&run(id, started), "run", "{}").expect("it is kept");
        }
        store
            .connection
            .execute("UPDATE reports SET json = CAST(x'ff00fe' AS TEXT) WHERE run_id = 'b'", [])
            .expect("it is damaged");
        let found = store.reports(&["run"], 9).expect("it reads");
        let found: Vec<(&str, &str)> =
            found.iter().map(|(id, _, json)| (id.as_str(), json.as_str())).collect();
        assert_eq!(found, [("b", ""), ("a", "{}")]);
    }

    /// SQLite says so where its file may not grow, as it does where the disk is full.
    #[test]
    fn a_full_disk_keeps_what_was_there_and_nothing_of_the_new_run() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        store.put_with_report(&run("a", 100), "run", "{}").expect("it is kept");
        let pages: i64 =
            store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).expect("a number");
        store
            .connection
            .pragma_update_and_check(None, "max_page_count", pages + 2, |_| Ok(()))
            .expect("it may not grow");
        let large = format!("\"{}\"", "x".repeat(1 << 20));
        let error = store.put_with_report(&run("b", 200), "run", &large).expect_err("there is no room");
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(error.to_string().contains("next: free some space"), "{error}");
        assert_eq!(store.runs(9).expect("it reads").len(), 1);
        same(&store.run("a").expect("it reads").expect("it is there"), &run("a", 100));
        store.put_with_report(&run("c", 300), "run", "{}").expect("a small one still fits");
    }

    #[test]
    fn an_export_holds_the_run_and_its_reports() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        store.put_run(&run("a", 100)).expect("it is kept");
        store.put_report("a", "demo", "{\"n\": 1}").expect("it is kept");
        store.put_report("a", "note", "not json").expect("it is kept");
        let export: serde_json::Value =
            serde_json::from_str(&store.export_json("a").expect("it exports")).expect("it is JSON");
        assert_eq!(export["reports"], json!({ "demo": { "n": 1 }, "note": "not json" }));
        same(&serde_json::from_value(export["run"].clone()).expect("it is a run"), &run("a", 100));
        assert!(matches!(store.export_json("b"), Err(StoreError::NoSuchRun { .. })));
    }

    #[test]
    fn a_run_in_words_of_another_version_is_unreadable_not_wrong() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        store.put_run(&run("a", 100)).expect("it is kept");
        store
            .connection
            .execute("UPDATE sights SET body = '{\"seen\":\"veiled\"}'", [])
            .expect("it is changed");
        let error = store.run("a").expect_err("nobody knows that word");
        assert!(
            matches!(error, StoreError::Unreadable { .. }) && error.to_string().contains("next: "),
            "{error}"
        );
    }

    #[test]
    fn what_was_seen_of_clients_can_be_asked_for_in_sql() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = store(&place);
        let mut run = run("a", 100);
        let sight = &mut run.phases[0].sights[0];
        (sight.only_own_session, sight.tcp_sessions) = (true, Some(2));
        sight.cleartext_clients = vec!["app@10.0.0.5:4711".into()];
        store.put_run(&run).expect("it is kept");
        same(&store.run("a").expect("it reads").expect("it is there"), &run);
        let row = store.connection.query_row(
            "SELECT only_own_session, tcp_sessions, cleartext_clients FROM sights",
            [],
            |row| Ok((row.get::<_, bool>(0)?, row.get::<_, Option<u32>>(1)?, row.get::<_, String>(2)?)),
        );
        let row = row.expect("the columns are there");
        assert_eq!(row, (true, Some(2), "[\"app@10.0.0.5:4711\"]".to_owned()));
    }

    #[test]
    fn two_open_stores_both_keep_their_runs() {
        let place = tempfile::tempdir().expect("a directory");
        let (mut one, mut other) = (store(&place), store(&place));
        one.put_run(&run("a", 100)).expect("it is kept");
        other.put_run(&run("b", 200)).expect("it is kept");
        assert_eq!(one.runs(9).expect("it reads").len(), 2);
        let numbers = run("huge", u64::MAX - 5);
        one.put_run(&numbers).expect("a clock that lies is kept too");
    }
}
