//! `sealion status rest`: what the files of a data directory hold, beside what its server says of them.
//!
//! The files alone are enough, and the server may be down. What a server answers counts only if this is its data
//! directory, and only where it answered the same before and after the files were read.

mod around;
pub mod claims;
mod cures;
mod image;
mod places;
pub mod process;
mod sql;

use std::path::{Path, PathBuf};

use disk::stack::Coverage;
use disk::{Artefact, DataDirectory, DiskError, Elsewhere, Family, Progress, Unit, Verdict};
use report::shape::{
    RestArtefactRow, RestCountsRow, RestDisagreementRow, RestKeyRow, RestPlaceRow, RestServerRow, RestSqlRow,
    RestUnitWord, RestVerdictWord, STATUS_REST_SCHEMA_ID, StatusRestReport,
};
use site::{Cluster, OpsError};

pub use sql::Answers;

use process::Process;

/// In no file of a server, or not to be told from one.
const NEVER_LOOKED_AT: [&str; 2] = [
    "freed blocks of the file system: what was deleted or rewritten can still stand there",
    "the memory of the server",
];

/// Looks at the data directory `dir`, and asks the server of `cluster`, where there is one.
///
/// # Errors
/// The directory cannot be listed, or is none of a server. A server that does not answer is said in the report.
pub fn rest(
    dir: &Path,
    cluster: Option<&Cluster>,
    progress: &Progress,
) -> Result<StatusRestReport, OpsError> {
    let before = cluster.map(sql::ask);
    let root = dir.canonicalize().map_err(|why| cannot_look(dir, &unreadable(dir, why)))?;
    image::refuse(&root)?;
    let process = Process::of(&root);
    let is_of = |answers: &Answers| answers.is_not_of(&root).is_none();
    let elsewhere = elsewhere(
        &root,
        &process,
        before.as_ref().and_then(|one| one.as_ref().ok()).filter(|one| is_of(one)),
    );
    let seen = disk::look_also(&root, &elsewhere, progress).map_err(|error| cannot_look(dir, &error))?;
    let after = cluster.map(sql::ask);
    let (server, answers) = match (before, after) {
        (Some(Ok(before)), Some(Ok(after))) => {
            let version = Some(after.version.clone());
            let why = after.is_not_of(&root).or_else(|| before.is_not_of(&root));
            let counts = why.is_none();
            let server = RestServerRow { is_asked: true, counts, version, why };
            (server, counts.then_some((before, after)))
        }
        (Some(Err(why)), _) | (_, Some(Err(why))) => {
            (RestServerRow { is_asked: true, why: Some(why), ..RestServerRow::default() }, None)
        }
        _ => (RestServerRow::default(), None),
    };
    let mut report = report(&seen, server, answers.as_ref());
    report.places = places_of(&root, &process, answers.as_ref().map(|(_, after)| after));
    report.not_looked_at = not_looked_at(&process, report.server.counts);
    Ok(report)
}

/// What else is read: what the server names, its open files, dumps beside the data.
fn elsewhere(root: &Path, process: &Process, answers: Option<&Answers>) -> Elsewhere {
    let mut elsewhere = Elsewhere {
        places: answers.map(places::of).unwrap_or_default(),
        process: process.pid(),
        ..Elsewhere::default()
    };
    match process {
        Process::Runs { prefix, .. } => {
            elsewhere.prefix.clone_from(prefix);
            elsewhere.follows_links = prefix.is_none();
        }
        Process::None => {
            let why = "whether it is the server's is not known: no process on this machine works in the data directory";
            elsewhere.unread = Some(why.into());
        }
        Process::Unknown(why) => {
            elsewhere.unread = Some(format!("whether it is the server's is not known: {why}"));
        }
    }
    // No server names them, and ours is the root that they are listed in.
    if elsewhere.prefix.is_none() && elsewhere.unread.is_none() || elsewhere.places.is_empty() {
        elsewhere.unread = None;
        elsewhere.prefix = None;
        elsewhere.places.extend(places::beside(root));
    }
    elsewhere
}

fn places_of(root: &Path, process: &Process, answers: Option<&Answers>) -> Vec<RestPlaceRow> {
    let mut rows = Vec::new();
    let prefix = match process {
        Process::Runs { prefix, .. } => Some(prefix.as_deref()),
        Process::None | Process::Unknown(_) => None,
    };
    if let (Some(answers), Some(prefix)) = (answers, prefix) {
        for name in places::TEMPORARY_DIRECTORIES {
            rows.extend(
                places::directories(answers, name).iter().map(|dir| around::directory(name, dir, prefix)),
            );
        }
        let keys = places::key_files(answers);
        let row = |(what, path): &(String, PathBuf)| {
            let opened_by = places::opened_by(answers, what);
            around::key_file(what, path, opened_by.as_deref(), prefix, root)
        };
        rows.extend(keys.iter().map(row));
    }
    rows.extend(around::swap(answers.is_some_and(|answers| answers.is_on("locked_in_memory"))));
    rows.push(around::core(process));
    rows.extend(around::copies(root));
    rows
}

fn not_looked_at(process: &Process, counts: bool) -> Vec<String> {
    let mut lines = Vec::new();
    match process {
        Process::Runs { .. } => {}
        Process::None => lines.push(
            "temporary files that are open and have no name (sorts, spilled binary log caches): no server works in this directory"
                .into(),
        ),
        Process::Unknown(why) => lines.push(format!("open files that have no name (sorts, spilled binary log caches): {why}")),
    }
    if !counts {
        let text = "tablespaces, logs, temporary files and keys outside of this directory: only its server can name them (-S)";
        lines.push(text.into());
    }
    lines.extend(NEVER_LOOKED_AT.map(str::to_owned));
    lines
}

fn unreadable(dir: &Path, why: std::io::Error) -> DiskError {
    DiskError::Unreadable { path: dir.to_owned(), why }
}

/// A running server of this machine, and where it keeps what.
#[derive(Debug)]
pub struct ServerFiles {
    /// Without symbolic links.
    pub root: PathBuf,
    pub pid: i32,
    pub elsewhere: Elsewhere,
    pub answers: Answers,
}

/// Finds the server of `cluster` and its files.
///
/// # Errors
/// It does not answer, or what it names is not known to be of this machine: then nothing that is not found here proves
/// anything.
pub fn server_files(cluster: &Cluster) -> Result<ServerFiles, OpsError> {
    const NEXT: &str = "run it as root on the machine of the server, outside of a container";
    let answers = sql::ask(cluster).map_err(|why| {
        OpsError::cannot_look("the server does not answer", why, "check the connection options")
    })?;
    let cannot = |why: String| OpsError::cannot_look("the files of the server cannot be found", why, NEXT);
    let datadir = answers.datadir();
    let root = datadir
        .canonicalize()
        .map_err(|error| cannot(format!("its data directory is {}: {error}", datadir.display())))?;
    if let Some(why) = answers.is_not_of(&root) {
        return Err(cannot(why));
    }
    let process = Process::of(&root);
    let Process::Runs { pid, .. } = process else {
        let why = match process {
            Process::Unknown(why) => why,
            _ => format!("no process of a server works in {}", root.display()),
        };
        return Err(cannot(why));
    };
    Ok(ServerFiles { elsewhere: elsewhere(&root, &process, Some(&answers)), root, pid, answers })
}

fn cannot_look(dir: &Path, error: &DiskError) -> OpsError {
    let what = format!("{} cannot be read", dir.display());
    let next = match error {
        DiskError::Unreadable { why, .. } if why.kind() == std::io::ErrorKind::PermissionDenied => {
            "run it as root, or as the user that the server runs as"
        }
        DiskError::Unreadable { .. } | DiskError::NotADataDirectory { .. } => {
            "ask the server for its directory: SELECT @@datadir"
        }
        DiskError::TooMany { .. } => "check the directories of its databases one by one",
    };
    OpsError::cannot_look(what, error, next)
}

fn report(
    seen: &DataDirectory,
    server: RestServerRow,
    answers: Option<&(Answers, Answers)>,
) -> StatusRestReport {
    let mut counts = RestCountsRow::default();
    let mut artefacts = Vec::new();
    let mut disagreements = Vec::new();
    for one in &seen.artefacts {
        let count = match one.verdict {
            Verdict::Plain => &mut counts.plain,
            Verdict::Encrypted => &mut counts.encrypted,
            Verdict::Mixed => &mut counts.mixed,
            Verdict::Empty => &mut counts.empty,
            Verdict::Never => &mut counts.never,
            Verdict::Unknown => &mut counts.unknown,
        };
        *count += 1;
        let sql = answers.and_then(|(before, after)| sql::both(before, after, one));
        disagreements.extend(sql.as_ref().and_then(|sql| disagreement(one, sql, seen.family)));
        artefacts.push(row(one, sql, seen.family));
    }
    StatusRestReport {
        schema: STATUS_REST_SCHEMA_ID.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        datadir: seen.root.display().to_string(),
        family: seen.family.map(|family| {
            match family {
                Family::MariaDb => "mariadb",
                Family::MySql => "mysql",
            }
            .into()
        }),
        read_bytes: seen.read_bytes,
        hole_bytes: seen.hole_bytes,
        server,
        counts,
        artefacts,
        disagreements,
        places: Vec::new(),
        not_looked_at: Vec::new(),
    }
}

fn row(one: &Artefact, sql: Option<RestSqlRow>, family: Option<Family>) -> RestArtefactRow {
    let tally = &one.tally;
    let (unit, unit_bytes) = match one.unit {
        Unit::Page { bytes } => (RestUnitWord::Page, Some(bytes as u64)),
        Unit::Block { bytes } => (RestUnitWord::Block, Some(bytes as u64)),
        Unit::File => (RestUnitWord::File, None),
    };
    RestArtefactRow {
        path: one.path.clone(),
        named_by: one.named_by.clone(),
        kind: one.kind.word().into(),
        holds: one.kind.holds().into(),
        bytes: one.bytes,
        verdict: word(one.verdict),
        is_unread: one.is_unread,
        unit,
        unit_bytes,
        plain: tally.plain,
        encrypted: tally.encrypted,
        never: tally.never,
        zero: tally.zero,
        unknown: tally.unknown,
        keys: tally
            .keys
            .iter()
            .map(|(key, units)| RestKeyRow { id: key.id, version: key.version, units: *units })
            .collect(),
        space_id: one.space_id,
        claim: one.claim.clone(),
        why: whys(one),
        sql,
        lies_on: one.lies_on.as_ref().map(|below| below.word().to_owned()),
        lies_on_why: match &one.lies_on {
            Some(Coverage::Unknown(why)) => Some(why.clone()),
            _ => None,
        },
        cure: cures::of(one, family).map(str::to_owned),
    }
}

fn whys(one: &Artefact) -> Vec<String> {
    let of = |(why, count): (&str, u64)| {
        if count == 1 { why.to_owned() } else { format!("{why} ({count} times)") }
    };
    let rest = one
        .never_encrypted()
        .filter(|_| one.tally.with_rest > 0)
        .map(|(what, _)| (what, one.tally.with_rest));
    one.tally.whys.iter().map(|(why, count)| (why.as_str(), *count)).chain(rest).map(of).collect()
}

fn word(verdict: Verdict) -> RestVerdictWord {
    match verdict {
        Verdict::Plain => RestVerdictWord::Plain,
        Verdict::Encrypted => RestVerdictWord::Encrypted,
        Verdict::Mixed => RestVerdictWord::Mixed,
        Verdict::Empty => RestVerdictWord::Empty,
        Verdict::Never => RestVerdictWord::Never,
        Verdict::Unknown => RestVerdictWord::Unknown,
    }
}

/// Only where both are known. A verdict of "unknown" stands for itself in its own row.
fn disagreement(one: &Artefact, sql: &RestSqlRow, family: Option<Family>) -> Option<RestDisagreementRow> {
    let tally = &one.tally;
    let text = match (sql.says, tally.plain, tally.encrypted) {
        (RestVerdictWord::Encrypted, 1.., _) => match one.unit {
            Unit::Page { .. } => {
                format!("SQL says encrypted, {} of {} pages are plain", tally.plain, tally.written())
            }
            Unit::Block { .. } => {
                format!("SQL says encrypted, {} of {} blocks are plain", tally.plain, tally.written())
            }
            Unit::File => "SQL says encrypted, the file is plain".into(),
        },
        (RestVerdictWord::Plain, _, 1..) if one.unit == Unit::File => {
            "SQL says plain, the file is encrypted".into()
        }
        (RestVerdictWord::Plain, _, 1..) => {
            format!("SQL says plain, {} of {} are encrypted", tally.encrypted, tally.written())
        }
        _ => return None,
    };
    let cure = cures::of_disagreement(one, sql.says, family);
    Some(RestDisagreementRow {
        path: one.path.clone(),
        kind: one.kind.word().into(),
        text: format!("{text} ({})", sql.by),
        cure: cure.into(),
    })
}

/// What decides over a gate. Temporary files come and go, and the bytes of one do not tell which statement it is of, so
/// that no gate could be kept closed by them.
fn counted(report: &StatusRestReport) -> impl Iterator<Item = &RestArtefactRow> {
    report.artefacts.iter().filter(|one| one.kind != disk::Kind::TempFile.word())
}

/// Something is plain that its server could encrypt. Copies of pages follow the tables, so they are counted too.
pub fn has_plain(report: &StatusRestReport) -> bool {
    counted(report).any(|one| one.plain > 0 && one.verdict != RestVerdictWord::Never)
}

/// Something could not be told.
pub fn has_unknown(report: &StatusRestReport) -> bool {
    counted(report).any(|one| one.unknown > 0 || one.verdict == RestVerdictWord::Unknown)
}

/// A file could not be read.
pub fn has_unread(report: &StatusRestReport) -> bool {
    report.artefacts.iter().any(|one| one.is_unread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use disk::{Kind, Tally};

    fn artefact(kind: Kind, plain: u64, encrypted: u64, unknown: u64) -> Artefact {
        let tally = Tally { plain, encrypted, unknown, ..Tally::default() };
        Artefact {
            path: "d/t.ibd".into(),
            named_by: None,
            kind,
            bytes: 1,
            unit: Unit::Page { bytes: 16_384 },
            verdict: Verdict::of(&tally, kind.is_never()),
            tally,
            space_id: Some(7),
            claim: None,
            is_unread: false,
            lies_on: None,
        }
    }

    fn said(says: RestVerdictWord) -> RestSqlRow {
        RestSqlRow { says, by: "a variable".into() }
    }

    #[test]
    fn a_disagreement_needs_both_to_be_known() {
        use RestVerdictWord::{Encrypted, Plain, Unknown};
        for (counts, says, text) in [
            ([54, 346, 0], Encrypted, Some("SQL says encrypted, 54 of 400 pages are plain (a variable)")),
            ([3, 0, 1], Encrypted, Some("SQL says encrypted, 3 of 4 pages are plain (a variable)")),
            ([0, 9, 0], Encrypted, None),
            ([0, 0, 9], Encrypted, None),
            ([0, 0, 0], Encrypted, None),
            ([9, 0, 0], Plain, None),
            ([0, 9, 0], Plain, Some("SQL says plain, 9 of 9 are encrypted (a variable)")),
            ([9, 9, 0], Unknown, None),
        ] {
            let [plain, encrypted, unknown] = counts;
            let one = artefact(Kind::Table, plain, encrypted, unknown);
            let found = disagreement(&one, &said(says), Some(Family::MariaDb));
            assert_eq!(found.as_ref().map(|row| row.text.as_str()), text, "{counts:?} {says}");
            assert!(found.is_none_or(|row| !row.cure.is_empty()));
        }
    }

    #[test]
    fn what_fails_a_gate_is_what_the_server_could_encrypt() {
        let of = |artefacts: Vec<Artefact>| {
            let seen = DataDirectory {
                root: "/".into(),
                family: Some(Family::MySql),
                server_uuid: None,
                artefacts,
                read_bytes: 0,
                hole_bytes: 0,
            };
            report(&seen, RestServerRow::default(), None)
        };
        let sealed = artefact(Kind::Table, 0, 3, 0);
        let never = artefact(Kind::TextLog, 1, 0, 0);
        let state = Artefact { verdict: Verdict::Never, ..artefact(Kind::State, 1, 0, 0) };
        let fine = of(vec![sealed.clone(), never, state]);
        assert!(!has_plain(&fine) && !has_unknown(&fine) && !has_unread(&fine));
        assert_eq!((fine.counts.encrypted, fine.counts.never), (1, 2));
        assert!(has_plain(&of(vec![artefact(Kind::Table, 1, 3, 0)])));
        assert!(has_unknown(&of(vec![artefact(Kind::Table, 0, 3, 1)])));
        let brief = of(vec![artefact(Kind::TempFile, 1, 0, 0), artefact(Kind::TempFile, 0, 0, 1)]);
        assert!(!has_plain(&brief) && !has_unknown(&brief), "it is gone in a moment");
        assert!(has_unread(&of(vec![Artefact { is_unread: true, ..sealed }])));
    }
}
