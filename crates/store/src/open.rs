//! Opening: whose file is it, which version has it, and may others read it.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::StoreError;
use crate::migrations::{APPLICATION_ID, MIGRATIONS, VERSION};

/// Another sealion holds the write lock for one run's rows, milliseconds; longer means that it hangs.
const BUSY_WAIT: Duration = Duration::from_secs(5);
const BUSY_POLL: Duration = Duration::from_millis(20);
/// Findings name hosts, accounts and what is wrong with them: only the owner reads them.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// The runs in one file.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

impl Store {
    /// Opens the file, or makes it (mode 0600, missing directories 0700), and brings it to this version.
    ///
    /// # Errors
    /// When the file system says no, the file is not a store, or a newer sealion wrote it; it is then unchanged.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        make_private(&path)?;
        let failed = |source| StoreError::of(&path, "opened", source);
        // No CREATE flag: SQLite would make it with the umask's mode. No URI: a path may hold `?`.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Absolute, for `:memory:` is not a file for SQLite.
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let mut connection = Connection::open_with_flags(absolute, flags).map_err(failed)?;
        connection.busy_timeout(BUSY_WAIT).map_err(failed)?;
        // Before anything is written: is it ours, and do we know its version?
        let version = whose(&connection, &path)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        // Where shared memory does not work SQLite stays with a rollback journal, which is as safe.
        to_wal(&connection).map_err(failed)?;
        if version < MIGRATIONS.len() {
            migrate(&mut connection, &path)?;
        }
        Ok(Self { connection, path })
    }

    /// Opens a file that is there, of this version, for reading alone. It is neither made nor migrated.
    ///
    /// # Errors
    /// When it cannot be opened, is not a store, or is of another version.
    pub fn open_read_only(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let failed = |source| StoreError::of(&path, "opened", source);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let connection = Connection::open_with_flags(absolute, flags).map_err(failed)?;
        connection.busy_timeout(BUSY_WAIT).map_err(failed)?;
        let version = whose(&connection, &path)?;
        if version < MIGRATIONS.len() {
            let why = format!(
                "it has version {version}, this sealion reads {VERSION}; a command that writes to it migrates it"
            );
            return Err(StoreError::Unreachable {
                path,
                what: "read",
                why,
                next: "run sealion watch --once with this sealion",
            });
        }
        Ok(Self { connection, path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn failed(&self, what: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + use<> {
        let path = self.path.clone();
        move |source| StoreError::of(&path, what, source)
    }
}

/// Of several processes that change the journal at once, SQLite makes one the first, and tells the others at once that it is busy: it lets
/// nobody wait who has read already (sqlite3_busy_handler).
fn to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_WAIT;
    loop {
        let said = connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
        match &said {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(BUSY_POLL);
            }
            _ => return said,
        }
    }
}

fn make_private(path: &Path) -> Result<(), StoreError> {
    let refused = |what, next| {
        move |error: io::Error| StoreError::Unreachable {
            path: path.to_owned(),
            what,
            why: error.to_string(),
            next,
        }
    };
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(parent).map_err(refused(
            "made",
            "make its directory, writable for you, or name another file with --store",
        ))?;
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
        .map_err(refused(
            "opened",
            "make the file and its directory writable for you, or name another with --store",
        ))?;
    let mode = file.metadata().map_err(refused("looked at", "check the file system"))?.permissions().mode();
    if mode & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(FILE_MODE))
            .map_err(refused("made private", "chmod 0600 it as its owner, or name another with --store"))?;
    }
    Ok(())
}

/// The version of a file that is ours; 0 for an empty one.
fn whose(connection: &Connection, path: &Path) -> Result<usize, StoreError> {
    let failed = |source| StoreError::of(path, "read", source);
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    let found = number("user_version").map_err(failed)?;
    // Last: another sealion may make the file between the questions, and it is ours then.
    let application = number("application_id").map_err(failed)?;
    if application != APPLICATION_ID && (tables > 0 || application != 0 || found != 0) {
        return Err(StoreError::NotAStore {
            path: path.to_owned(),
            why: format!(
                "it is a database of another program (application_id {application:#x}, {tables} tables)"
            ),
        });
    }
    usize::try_from(found)
        .ok()
        .filter(|version| *version <= MIGRATIONS.len())
        .ok_or_else(|| StoreError::Newer { path: path.to_owned(), found, known: VERSION })
}

/// All missing steps in one transaction: a file is of one version or of the other, never between.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::of(path, "brought to this version", source);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Again, under the lock: another sealion may have been faster.
    let version = whose(&transaction, path)?;
    for step in MIGRATIONS.iter().skip(version) {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    transaction.commit().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    fn version(path: &Path) -> i64 {
        let connection = Connection::open(path).expect("it opens");
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("it has a version")
    }

    #[test]
    fn a_new_store_is_private_with_its_wal_and_directory() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("state/sealion/runs.db");
        let mut store = Store::open(&path).expect("it opens");
        store.put_run(&model::Run { id: "r1".into(), ..model::Run::default() }).expect("it is kept");
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
        assert_eq!(mode(path.parent().expect("it has one")), 0o700);
    }

    #[test]
    fn a_file_that_others_could_read_is_closed_to_them() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("runs.db");
        std::fs::write(&path, "").expect("it is written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o664)).expect("it is ours");
        Store::open(&path).expect("an empty file becomes a store");
        assert_eq!(mode(&path), 0o600);
    }

    /// `sealion watch` and a check by hand may be the first two.
    #[test]
    fn a_store_that_is_made_by_several_at_once_opens_for_all() {
        let place = tempfile::tempdir().expect("a directory");
        for number in 0..30 {
            let path = place.path().join(format!("{number}.db"));
            let all: Vec<_> = (0..4)
                .map(|_| {
                    let path = path.clone();
                    std::thread::spawn(move || Store::open(path).map(drop).map_err(|error| error.to_string()))
                })
                .collect();
            for one in all {
                assert_eq!(one.join().expect("nobody panicked"), Ok(()));
            }
        }
    }

    #[test]
    fn an_older_store_migrates_and_keeps_its_runs() {
        let place = tempfile::tempdir().expect("a directory");
        for older in 0..VERSION {
            let path = place.path().join(format!("v{older}.db"));
            let connection = Connection::open(&path).expect("it opens");
            MIGRATIONS
                .iter()
                .zip(0..older)
                .for_each(|(step, _)| connection.execute_batch(step).expect("it applies"));
            connection.pragma_update(None, "user_version", older).expect("it is set");
            connection.pragma_update(None, "application_id", APPLICATION_ID).expect("it is set");
            if older > 0 {
                connection
                    .execute("INSERT INTO runs VALUES ('old', 'scan', '0.0.9', 5, 6)", [])
                    .expect("it fits");
            }
            if older > 0 {
                connection.execute_batch(
                    "INSERT INTO phases VALUES ('old', 0, 'look', 5, 6, '[]');
                     INSERT INTO sights (run_id, phase, place, kind, a, b, seen, canaries, payload_bytes, body) VALUES
                     ('old', 0, 0, 'client', 'app', 'n1', 'plain', 0, 9, '{\"tcp_sessions\":3,\"cleartext_clients\":[\"app@h:1\"]}'),
                     ('old', 0, 1, 'client', 'app', 'n2', 'plain', 0, 9, 'not json');",
                ).expect("it fits");
            }
            drop(connection);
            let mut store = Store::open(&path).expect("it migrates");
            assert_eq!(version(&path), VERSION);
            if older > 0 {
                let asked = |place: i64| {
                    let sql = "SELECT tcp_sessions, cleartext_clients FROM sights WHERE place = ?1";
                    let row = store.connection.query_row(sql, [place], |row| {
                        Ok((row.get::<_, Option<u32>>(0)?, row.get::<_, String>(1)?))
                    });
                    row.expect("the columns are there")
                };
                // By the third step, of what was there before it.
                let is_filled = older < 3;
                let wanted =
                    if is_filled { (Some(3), "[\"app@h:1\"]".to_owned()) } else { (None, "[]".to_owned()) };
                assert_eq!(asked(0), wanted);
                assert_eq!(asked(1), (None, "[]".to_owned()));
                store.connection.execute("DELETE FROM sights", []).expect("they made no sense");
                assert_eq!(store.run("old").expect("it reads").expect("it is there").command, "scan");
                store.put_report("old", "demo", "{}").expect("the new table is there");
            }
        }
    }

    #[test]
    fn a_newer_store_is_refused_with_what_why_and_next_and_stays_as_it_is() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("runs.db");
        drop(Store::open(&path).expect("it opens"));
        let connection = Connection::open(&path).expect("it opens");
        connection.pragma_update(None, "user_version", 99).expect("it is set");
        drop(connection);
        let before = std::fs::read(&path).expect("it reads");
        let error = Store::open(&path).expect_err("it is newer");
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("newer sealion\n  why:  it has version 99") && text.contains("\n  next: "),
            "{text}"
        );
        assert_eq!(std::fs::read(&path).expect("it reads"), before);
    }

    #[test]
    fn what_is_not_ours_is_not_touched() {
        let place = tempfile::tempdir().expect("a directory");
        let foreign = place.path().join("foreign.db");
        Connection::open(&foreign).expect("it opens").execute_batch("CREATE TABLE t (x)").expect("it fits");
        let text = place.path().join("notes.txt");
        std::fs::write(&text, "not a database, but long enough to have a header ".repeat(40))
            .expect("it is written");
        for path in [foreign, text] {
            let before = std::fs::read(&path).expect("it reads");
            let error = Store::open(&path).expect_err("it is not ours");
            assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
            assert_eq!(std::fs::read(&path).expect("it reads"), before);
        }
    }

    #[test]
    fn a_place_where_no_file_can_be_made_is_said_with_a_next_step() {
        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join("file");
        std::fs::write(&file, "").expect("it is written");
        let locked = place.path().join("locked");
        DirBuilder::new().mode(0o500).create(&locked).expect("it is made");
        let mut places = vec![file.join("runs.db"), place.path().to_owned(), "/proc/runs.db".into()];
        // Modes do not bind root; for everyone else a directory without `w` must be told as well.
        if std::fs::write(locked.join("probe"), "").is_err() {
            places.push(locked.join("runs.db"));
        }
        for path in places {
            let error = Store::open(&path).expect_err("nothing can be made there");
            assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(&path.display().to_string()) && text.contains("\n  next: "), "{text}");
        }
    }

    #[test]
    fn a_full_disk_keeps_nothing_of_the_run_and_all_of_the_earlier_ones() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(place.path().join("runs.db")).expect("it opens");
        let small = model::Run { id: "small".into(), ..model::Run::default() };
        store.put_run(&small).expect("it fits");
        let pages: i64 =
            store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).expect("it has pages");
        store
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .expect("the file may not grow");
        let notes = vec!["n".repeat(1000); 100];
        let large = model::Run {
            id: "large".into(),
            phases: vec![model::Phase { notes, ..model::Phase::default() }],
            ..model::Run::default()
        };
        let error = store.put_run(&large).expect_err("the disk is full");
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
        assert!(
            error.to_string().contains("full") && error.to_string().contains("free some space"),
            "{error}"
        );
        assert!(store.run("large").expect("it reads").is_none());
        assert!(store.run("small").expect("it reads").is_some());
    }

    #[test]
    fn a_store_that_became_read_only_says_so() {
        let place = tempfile::tempdir().expect("a directory");
        let mut store = Store::open(place.path().join("runs.db")).expect("it opens");
        store.connection.pragma_update(None, "query_only", true).expect("it is set");
        let error = store.put_run(&model::Run::default()).expect_err("nothing may be written");
        assert!(error.to_string().contains("writable for you"), "{error}");
    }
}
