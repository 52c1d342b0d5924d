//! One run: write, hold, search, and put together what was seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use disk::needle::{self, Searched};
use disk::{Artefact as DiskArtefact, Elsewhere, Family, Kind, Progress};
use net::Client;
use report::shape::{DiskProofFile, DiskProofRow, DiskProofWord};
use site::{Cluster, OpsError};
use status_ops::rest::ServerFiles;
use status_ops::sniff::CANARY_SCHEMA;

use super::Settings;
use super::artefacts::{ARTEFACTS, Artefact, Files, artefact_of};
use super::canary::{Canaries, Id};
use super::held::{self, Nameless};
use super::judge::{Evidence, Reached, judge};
use super::server::{self, ROW_BYTES, ROWS_A_ROUND, create, lsn, numbers, run, short_value, value};

/// Of tables, sorts and transactions: 4 MB, some times what servers keep of them in memory.
const ROUNDS: u64 = 22;
/// Of rows that are changed and deleted.
const ROUNDS_OLD: u64 = 4;
const COLUMNS: &str =
    "a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(250) CHARACTER SET latin1 COLLATE latin1_bin";
const COLUMNS_CSV: &str = "b VARCHAR(250) CHARACTER SET latin1 NOT NULL";
/// A file system's clock is coarser than ours.
const CLOCK_SLACK: Duration = Duration::from_secs(1);
/// Internal temporary tables are one of them.
const INTERNAL_KINDS: &[Kind] = &[Kind::Temp, Kind::AriaData, Kind::AriaIndex, Kind::MyIsam];
const INTERNAL_AT_MOST: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(200);
/// An ALTER TABLE whose files were not seen is made again: they live for as long as it sorts.
const ALTERS_MAX: u32 = 3;
const MIB: u64 = 1 << 20;

/// What it is called, and what it does.
type Part<'r> = (&'static str, fn(&mut Run<'r>));

pub struct Run<'r> {
    pub files: ServerFiles,
    pub family: Family,
    cluster: &'r Cluster,
    control: Client,
    settings: Settings,
    stop: &'r AtomicBool,
    tell: &'r dyn Fn(&str),
    canaries: Canaries,
    since: SystemTime,
    reached: BTreeMap<&'static str, Reached>,
    held: BTreeMap<&'static str, (Evidence, Vec<DiskProofFile>)>,
    /// Temporary tables go with their session.
    temporary: Option<Client>,
}

impl<'r> Run<'r> {
    pub fn new(
        cluster: &'r Cluster,
        files: ServerFiles,
        control: Client,
        settings: Settings,
        stop: &'r AtomicBool,
        tell: &'r dyn Fn(&str),
    ) -> Self {
        let family = files.answers.family();
        let since = SystemTime::now().checked_sub(CLOCK_SLACK).unwrap_or(SystemTime::UNIX_EPOCH);
        let (reached, held) = (BTreeMap::new(), BTreeMap::new());
        let canaries = Canaries::new();
        Self {
            files,
            family,
            cluster,
            control,
            settings,
            stop,
            tell,
            canaries,
            since,
            reached,
            held,
            temporary: None,
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn variable(&self, name: &str) -> &str {
        self.files.answers.variable(name)
    }

    fn reach(&mut self, id: &'static str, reached: Reached) {
        debug_assert_eq!(artefact_of(id).id, id);
        self.reached.insert(id, reached);
    }

    /// A row for each artefact, in their order.
    ///
    /// # Errors
    /// The files cannot be listed any more.
    pub fn all(&mut self, is_written: bool, progress: &Progress) -> Result<Vec<DiskProofRow>, OpsError> {
        let family = self.family;
        let temporary_before = if is_written { self.pages_of(&[Kind::Temp], progress)? } else { 0 };
        let parts: [Part<'r>; 5] = [
            ("writing tables", Run::tables),
            ("writing temporary tables", Run::temporary_tables),
            ("an online ALTER TABLE", Run::alter),
            ("a large transaction", Run::spill),
            ("what was told to logs", Run::logs),
        ];
        for (what, part) in parts {
            if is_written && !self.is_stopped() {
                (self.tell)(what);
                part(self);
            }
        }
        if !self.is_stopped() {
            (self.tell)("a sort and an internal temporary table");
            self.select(progress)?;
        }
        if is_written && !self.is_stopped() {
            (self.tell)("waiting for a checkpoint");
            self.wait_for_checkpoint();
        }
        (self.tell)("searching files");
        let (searched, looked) = self.search(&[], progress)?;
        if is_written {
            self.judge_temporary(temporary_before, &looked);
        }
        let rows = ARTEFACTS.iter().filter(|one| one.is_of(family));
        Ok(rows.map(|one| self.row(one, is_written, &searched, &looked)).collect())
    }

    fn elsewhere(&self, only: &'static [Kind]) -> Elsewhere {
        Elsewhere { since: Some(self.since), only, ..self.files.elsewhere.clone() }
    }

    fn search(
        &self,
        only: &'static [Kind],
        progress: &Progress,
    ) -> Result<(Vec<Searched>, Vec<DiskArtefact>), OpsError> {
        let (root, elsewhere) = (&self.files.root, self.elsewhere(only));
        let searched = needle::find(root, &elsewhere, &self.canaries.needle(), progress).map_err(gone)?;
        let looked = disk::look_also(root, &elsewhere, progress).map_err(gone)?;
        Ok((searched, looked.artefacts))
    }

    /// Of those that hold something.
    fn pages_of(&self, only: &'static [Kind], progress: &Progress) -> Result<u64, OpsError> {
        let looked = disk::look_also(&self.files.root, &self.elsewhere(only), progress).map_err(gone)?;
        Ok(looked.artefacts.iter().map(|one| one.tally.written()).sum())
    }

    /// Statements one after the other; the first that is refused ends them.
    fn run_all(&mut self, statements: &[String]) -> Result<(), String> {
        statements.iter().try_for_each(|sql| run(&mut self.control, sql))
    }

    fn fill(&self, table: &str, id: Id, rounds: u64) -> String {
        // The text has a canary of its own, as far as a server writes texts down.
        format!(
            "INSERT INTO {CANARY_SCHEMA}.{table} (b) SELECT {} FROM {} WHERE '{}' <> ''",
            value(&self.canaries, id),
            numbers(rounds),
            self.canaries.word(Id::Text)
        )
    }

    fn tables(&mut self) {
        server::set(&mut self.control, server::SMALL_BUFFERS);
        server::drop_left(&mut self.control);
        let named = format!("{COLUMNS} COMMENT '{}'", self.canaries.word(Id::Name));
        let row =
            [create("row_table", "TABLE", &named, "ENGINE=InnoDB"), self.fill("row_table", Id::Row, ROUNDS)];
        let made = self.run_all(&row);
        let definition = match &made {
            Ok(()) => Reached::Yes("the table was made".into()),
            Err(why) => Reached::No(why.clone()),
        };
        self.reach("definition", definition);
        let flushed = made.and_then(|()| self.flush("row_table", "FOR EXPORT"));
        self.reach("table", flushed.into());
        // Old versions: changed to something of another length and beginning, then deleted.
        let old = [
            create("old_table", "TABLE", COLUMNS, "ENGINE=InnoDB"),
            self.fill("old_table", Id::Old, ROUNDS_OLD),
            format!("UPDATE {CANARY_SCHEMA}.old_table SET b = REPEAT('-', 200) WHERE a % 2 = 0"),
            format!("DELETE FROM {CANARY_SCHEMA}.old_table WHERE a % 2 = 1"),
        ];
        let undo = match self.run_all(&old) {
            Ok(()) => Reached::No("no checkpoint has passed it yet".into()),
            Err(why) => Reached::No(why),
        };
        self.reach("undo", undo);
        let other: &[(&'static str, &str, Id, &str)] = match self.family {
            Family::MariaDb => &[
                ("aria", "aria_table", Id::Aria, "ENGINE=Aria"),
                ("myisam", "myisam_table", Id::MyIsam, "ENGINE=MyISAM"),
                ("csv", "csv_table", Id::Csv, "ENGINE=CSV"),
            ],
            Family::MySql => &[
                ("myisam", "myisam_table", Id::MyIsam, "ENGINE=MyISAM"),
                ("csv", "csv_table", Id::Csv, "ENGINE=CSV"),
            ],
        };
        for (id, table, canary, engine) in other {
            let columns = if *id == "csv" { COLUMNS_CSV } else { COLUMNS };
            let made = run(&mut self.control, &create(table, "TABLE", columns, engine));
            let reached = if let Err(why) = made {
                Reached::NotThere(format!("the server refuses such a table: {why}"))
            } else {
                // Twice: what goes into an empty table of Aria is not logged.
                let fill = self.fill(table, *canary, 1);
                let filled = self.run_all(&[fill.clone(), fill]);
                filled.and_then(|()| self.flush(table, "")).into()
            };
            self.reach(id, reached);
        }
        if self.family == Family::MariaDb {
            let aria = self.reached.get("aria").cloned();
            let log = match aria {
                Some(Reached::Yes(_)) => Reached::Yes("its table was written".into()),
                Some(other) => other,
                None => Reached::No("no Aria table was written".into()),
            };
            self.reach("aria-log", log);
        }
    }

    /// Writes all of a table to its file.
    fn flush(&mut self, table: &str, how: &str) -> Result<Reached, String> {
        run(&mut self.control, &format!("FLUSH LOCAL TABLES {CANARY_SCHEMA}.{table} {how}"))?;
        if !how.is_empty() {
            run(&mut self.control, "UNLOCK TABLES")?;
        }
        Ok(Reached::Yes("the table was flushed".into()))
    }

    fn temporary_tables(&mut self) {
        let other = if self.family == Family::MariaDb { "ENGINE=Aria" } else { "ENGINE=MyISAM" };
        let rounds = (u64::from(self.settings.fill_mb) * MIB).div_ceil(ROWS_A_ROUND * ROW_BYTES);
        let mut client = match server::open(self.cluster) {
            Ok(client) => client,
            Err(why) => {
                for id in ["temporary", "temporary-other"] {
                    self.reach(id, Reached::No(why.clone()));
                }
                return;
            }
        };
        server::set(&mut client, server::SMALL_BUFFERS);
        for (id, table, canary, engine) in [
            ("temporary", "brief", Id::Temporary, "ENGINE=InnoDB"),
            ("temporary-other", "brief_other", Id::TemporaryOther, other),
        ] {
            let made = run(&mut client, &create(table, "TEMPORARY TABLE", COLUMNS, engine));
            let reached = match made {
                Err(why) => Reached::NotThere(format!("the server refuses such a table: {why}")),
                Ok(()) => match self.fill_up(&mut client, table, canary, rounds) {
                    Ok(()) => Reached::No(self.in_memory(id)),
                    Err(why) => Reached::No(why),
                },
            };
            self.reach(id, reached);
        }
        self.temporary = Some(client);
    }

    /// A statement makes no more rounds than the recursion has numbers.
    fn fill_up(&self, client: &mut Client, table: &str, id: Id, rounds: u64) -> Result<(), String> {
        let mut left = rounds;
        while left > 0 && !self.is_stopped() {
            let now = left.min(ROWS_A_ROUND);
            run(client, &self.fill(table, id, now))?;
            left -= now;
        }
        Ok(())
    }

    /// Which buffer keeps it from a disk; a session has no say in its size.
    fn in_memory(&self, id: &str) -> String {
        let buffer = match (id, self.family) {
            ("temporary", _) | (_, Family::MySql) => "innodb_buffer_pool_size",
            (_, Family::MariaDb) => "aria_pagecache_buffer_size",
        };
        let bytes: u64 = self.variable(buffer).parse().unwrap_or_default();
        format!("its pages may all be in memory ({buffer} is {} MiB, see --fill-mb)", bytes / MIB)
    }

    fn alter(&mut self) {
        let alters = [
            format!(
                "ALTER TABLE {CANARY_SCHEMA}.row_table ADD INDEX by_value (b), ALGORITHM=INPLACE, LOCK=NONE"
            ),
            format!("ALTER TABLE {CANARY_SCHEMA}.row_table DROP INDEX by_value"),
        ];
        let needle = self.canaries.needle();
        let mut known = BTreeSet::new();
        drop(needle::open_nameless(self.files.pid, &mut known));
        for _ in 0..ALTERS_MAX {
            let files = match held::files_of(&mut self.control, self.files.pid, &alters[0], &mut known) {
                Ok(files) => files,
                Err(why) => {
                    self.reach("alter", Reached::No(why));
                    return;
                }
            };
            let seen = Nameless::of(&files, &needle, "a file without a name (ALTER TABLE)");
            let sort_buffer = self.variable("innodb_sort_buffer_size").to_owned();
            let in_memory = format!(
                "no such file was seen: it sorted in memory (innodb_sort_buffer_size is {sort_buffer} bytes), or too fast"
            );
            let evidence = seen.evidence(MIB / 4, "files", &in_memory);
            let is_reached = matches!(evidence.reached, Reached::Yes(_));
            self.held.insert("alter", (evidence, seen.files));
            if is_reached || self.is_stopped() || run(&mut self.control, &alters[1]).is_err() {
                return;
            }
        }
    }

    fn spill(&mut self) {
        if self.variable("log_bin") != "ON" {
            let off = || Reached::NotThere("log_bin=OFF".into());
            self.reach("binlog-cache", off());
            self.reach("binlog", off());
            return;
        }
        let reached = match self.variable("log_bin_compress") {
            "ON" => Reached::No("log_bin_compress=ON: canaries are not found in what is compressed".into()),
            _ => Reached::Yes("changes were written to it".into()),
        };
        self.reach("binlog", reached);
        if let Err(why) = self.spilled() {
            self.reach("binlog-cache", Reached::No(why));
        }
    }

    /// A transaction that is larger than its cache, and is taken back.
    fn spilled(&mut self) -> Result<(), String> {
        let mut client = server::open(self.cluster)?;
        server::set(&mut client, server::SMALL_BUFFERS);
        let mut known = BTreeSet::new();
        drop(needle::open_nameless(self.files.pid, &mut known));
        run(&mut client, "BEGIN")?;
        run(&mut client, &self.fill("row_table", Id::Spill, ROUNDS))?;
        let files = needle::open_nameless(self.files.pid, &mut known);
        let seen = Nameless::of(&files, &self.canaries.needle(), "a file without a name (binary log cache)");
        run(&mut client, "ROLLBACK")?;
        let in_memory = format!(
            "no such file was seen: the transaction stayed in binlog_cache_size ({} bytes)",
            self.variable("binlog_cache_size")
        );
        let evidence = seen.evidence(MIB / 4, "a file", &in_memory);
        self.held.insert("binlog-cache", (evidence, seen.files));
        Ok(())
    }

    fn logs(&mut self) {
        let told = run(&mut self.control, &format!("SELECT '{}'", self.canaries.word(Id::Text)));
        for (id, switch) in [("general-log", "general_log"), ("slow-log", "slow_query_log")] {
            let reached = match &told {
                Err(why) => Reached::No(why.clone()),
                Ok(()) if self.variable(switch) != "ON" => Reached::NotThere(format!("{switch}=OFF")),
                Ok(()) if self.variable("log_output").contains("NONE") => {
                    Reached::NotThere("log_output=NONE".into())
                }
                Ok(()) => Reached::Yes(format!("{switch}=ON")),
            };
            self.reach(id, reached);
        }
        let galera = match self.variable("wsrep_on") {
            "ON" => Reached::Yes("changes were replicated".into()),
            _ => Reached::NotThere("it is no node of Galera".into()),
        };
        self.reach("galera-cache", galera);
    }

    /// Both at once: rows that must be made distinct go into a table of their own, which is then sorted.
    fn select(&mut self, progress: &Progress) -> Result<(), OpsError> {
        let sql = format!(
            "SELECT d.b, SLEEP(600) FROM (SELECT DISTINCT CAST({} AS BINARY) AS b FROM {} LIMIT 1000000) d ORDER BY d.b",
            short_value(&self.canaries, Id::Select),
            numbers(2 * ROUNDS)
        );
        let before = self.pages_of(&[Kind::Temp], progress)?;
        let (pid, needle) = (self.files.pid, self.canaries.needle());
        let (root, elsewhere) = (self.files.root.clone(), self.elsewhere(INTERNAL_KINDS));
        let in_memory = self.in_memory("internal-temporary");
        let stop = self.stop;
        let seen = held::while_it_sleeps(self.cluster, &mut self.control, pid, &sql, stop, |nameless| {
            let began = Instant::now();
            loop {
                let searched = needle::find(&root, &elsewhere, &needle, progress)?;
                let looked = disk::look_also(&root, &elsewhere, progress)?;
                let (evidence, files) = internal(&searched, &looked.artefacts, before, &in_memory);
                // Its pages are written out a while after the statement has made them, if at all.
                let is_over = began.elapsed() > INTERNAL_AT_MOST || stop.load(Ordering::Relaxed);
                if evidence.times > 0 || is_over {
                    let sort = Nameless::of(&nameless, &needle, "a file without a name (sort)");
                    return Ok((sort, evidence, files));
                }
                std::thread::sleep(POLL);
            }
        });
        let (sort, evidence, files) = match seen {
            Ok(seen) => seen.map_err(gone)?,
            Err(why) => {
                for id in ["internal-temporary", "sort"] {
                    self.reach(id, Reached::No(why.clone()));
                }
                return Ok(());
            }
        };
        self.held.insert("internal-temporary", (evidence, files));
        let evidence =
            sort.evidence(MIB / 4, "a file", "no such file was seen: the sort stayed in sort_buffer_size");
        self.held.insert("sort", (evidence, sort.files));
        Ok(())
    }

    fn wait_for_checkpoint(&mut self) {
        let goal = match lsn(&mut self.control) {
            Ok(Some(goal)) => goal.current,
            other => {
                let why = match other {
                    Err(error) => error.in_one_line(),
                    _ => "this version does not tell how far its checkpoint is".into(),
                };
                for id in ["undo", "redo", "doublewrite", "dictionary"] {
                    self.reach(id, Reached::No(why.clone()));
                }
                return;
            }
        };
        let began = Instant::now();
        let mut now = server::Lsn::default();
        while now.checkpoint < goal && began.elapsed() < self.settings.wait && !self.is_stopped() {
            match lsn(&mut self.control) {
                Ok(Some(lsn)) => now = lsn,
                _ => break,
            }
            std::thread::sleep(POLL);
        }
        let redo = if now.flushed >= goal {
            Reached::Yes("it is flushed up to what was written".into())
        } else {
            Reached::No("it was not flushed in time".into())
        };
        self.reach("redo", redo);
        let pages = if now.checkpoint >= goal {
            Reached::Yes("a checkpoint has passed what was written".into())
        } else {
            Reached::No(format!(
                "no checkpoint passed it within {} s: changed pages stay in memory as long as the server likes (innodb_max_dirty_pages_pct)",
                self.settings.wait.as_secs()
            ))
        };
        for id in ["undo", "doublewrite", "dictionary"] {
            self.reach(id, pages.clone());
        }
    }

    /// Whether pages of temporary tables were written out.
    fn judge_temporary(&mut self, before: u64, looked: &[DiskArtefact]) {
        let spaces = looked.iter().filter(|one| one.kind == Kind::Temp);
        let grown = spaces.map(|one| one.tally.written()).sum::<u64>().saturating_sub(before);
        let named = looked.iter().filter(|one| one.kind != Kind::Temp && is_temporary_name(&one.path));
        let named_bytes: u64 = named.map(|one| one.bytes).sum();
        for (id, is_grown) in [("temporary", grown >= PAGES_LEAST), ("temporary-other", named_bytes >= MIB)] {
            if let (true, Some(reached @ Reached::No(_))) = (is_grown, self.reached.get_mut(id)) {
                *reached = Reached::Yes("its file grew".into());
            }
        }
    }

    fn row(
        &self,
        one: &Artefact,
        is_written: bool,
        searched: &[Searched],
        looked: &[DiskArtefact],
    ) -> DiskProofRow {
        let (evidence, mut files) = match self.held.get(one.id) {
            Some((evidence, files)) => (evidence.clone(), files.clone()),
            None => self.seen(one, is_written, searched, looked),
        };
        files.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.path.cmp(&b.path)));
        let (verdict, why) = judge(&evidence);
        let cure = (verdict == DiskProofWord::Readable).then(|| one.cure(self.family).to_owned());
        DiskProofRow { id: one.id.into(), name: one.name.into(), verdict, why, files, cure }
    }

    fn seen(
        &self,
        one: &Artefact,
        is_written: bool,
        searched: &[Searched],
        looked: &[DiskArtefact],
    ) -> (Evidence, Vec<DiskProofFile>) {
        let reached = self.reached.get(one.id).cloned().unwrap_or_else(|| {
            let why = if is_written || one.by_select {
                "it was stopped before"
            } else {
                "nothing is written to a replica, or where writes are refused"
            };
            Reached::No(why.into())
        });
        let hits: Vec<&Searched> =
            searched.iter().filter(|file| self.is_of(one, &file.path, file.kind)).collect();
        let of =
            |file: &&Searched| DiskProofFile { path: file.path.clone(), times: file.counts.values().sum() };
        let files: Vec<DiskProofFile> = hits.iter().map(of).filter(|file| file.times > 0).collect();
        let its: Vec<&DiskArtefact> =
            looked.iter().filter(|file| self.is_of(one, &file.path, file.kind)).collect();
        let sum = |of: fn(&DiskArtefact) -> u64| its.iter().map(|file| of(file)).sum::<u64>();
        let evidence = Evidence {
            times: files.iter().map(|file| file.times).sum(),
            reached,
            encrypted: sum(|file| file.tally.encrypted),
            plain: sum(|file| file.tally.plain),
            unread: hits.iter().filter(|file| file.unread.is_some()).count() as u64,
        };
        (evidence, files)
    }

    fn is_of(&self, one: &Artefact, path: &str, kind: Kind) -> bool {
        match one.files {
            Files::Kinds(kinds) => kinds.contains(&kind),
            Files::Ours(kinds) => kinds.contains(&kind) && path.contains(&format!("{CANARY_SCHEMA}/")),
            Files::Temporary(kinds) => kinds.contains(&kind) && is_temporary_name(path),
            Files::Log(_, table) if kind == Kind::Csv => path.starts_with(table),
            Files::Log(variable, _) => {
                let named = self.files.answers.datadir().join(self.variable(variable));
                let shown = named.canonicalize().unwrap_or(named);
                shown.strip_prefix(&self.files.root).unwrap_or(&shown) == Path::new(path)
            }
            Files::Held => false,
        }
    }
}

/// What was seen of the internal temporary table of a statement that is held. `before`: pages of temporary tablespaces.
fn internal(
    searched: &[Searched],
    looked: &[DiskArtefact],
    before: u64,
    in_memory: &str,
) -> (Evidence, Vec<DiskProofFile>) {
    let is_its = |path: &str, kind: Kind| kind == Kind::Temp || is_temporary_name(path);
    let mut files = Vec::new();
    for one in searched.iter().filter(|one| is_its(&one.path, one.kind)) {
        let times = one.counts.get(Id::Select.word()).copied().unwrap_or_default();
        if times > 0 {
            files.push(DiskProofFile { path: one.path.clone(), times });
        }
    }
    let its: Vec<&DiskArtefact> = looked.iter().filter(|one| is_its(&one.path, one.kind)).collect();
    let sum = |of: fn(&DiskArtefact) -> u64| its.iter().map(|one| of(one)).sum::<u64>();
    let grown =
        sum(|one| if one.kind == Kind::Temp { one.tally.written() } else { 0 }).saturating_sub(before);
    let named = sum(|one| if one.kind == Kind::Temp { 0 } else { one.bytes });
    let reached = if grown >= PAGES_LEAST || named >= MIB {
        Reached::Yes("its file grew while it ran".into())
    } else {
        Reached::No(in_memory.to_owned())
    };
    let evidence = Evidence {
        times: files.iter().map(|one| one.times).sum(),
        reached,
        encrypted: sum(|one| one.tally.encrypted),
        plain: sum(|one| one.tally.plain),
        unread: sum(|one| u64::from(one.is_unread)),
    };
    (evidence, files)
}

fn gone(error: disk::DiskError) -> OpsError {
    OpsError::cannot_look("the data directory cannot be read any more", error, "run it again")
}

/// Of 16 KiB; a session's tablespace has fewer before anything is in it.
const PAGES_LEAST: u64 = 64;

fn is_temporary_name(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with("#sql"))
}

impl From<Result<Reached, String>> for Reached {
    fn from(result: Result<Reached, String>) -> Self {
        result.unwrap_or_else(Reached::No)
    }
}
