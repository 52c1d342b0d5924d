//! Measurements that are kept, and found again: by the id of a run, or in a file that `--format json` wrote.
//!
//! A run is in the store of its cluster where there is an inventory, else in the user's own. It is looked for in both.

use std::path::{Path, PathBuf};

use model::{Phase, Run};
use report::shape::{BENCH_LOAD_SCHEMA_ID, BENCH_RUN_SCHEMA_ID, LoadReport, RunReport};
use serde::Deserialize;
use store::Store;

use site::{Cluster, OpsError, runs};

/// Kinds of reports in the store.
const LOAD: &str = "bench-load";
const RUN: &str = "bench-run";
/// A run of sixty blocks of many arms has some megabytes.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Of the kept measurements that a beginning of an id, or `advise`, is looked for among.
const SEARCHED_MAX: u32 = 1_000;

/// One measurement, whole.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    Load(Box<LoadReport>),
    Run(Box<RunReport>),
}

impl Measured {
    /// A load's figures are what they are: it is of use when it was measured to its end.
    pub fn is_usable(&self) -> bool {
        match self {
            Self::Load(report) => report.is_complete,
            Self::Run(report) => report.is_usable,
        }
    }
}

/// One that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Its id, or the file that it was read from.
    pub name: String,
    pub measured: Measured,
}

/// Where measurements are kept, the first for new ones. Empty: there is no home and no inventory.
pub fn places(cluster: Option<&Cluster>, given: Option<&Path>) -> Vec<PathBuf> {
    if let Some(given) = given {
        return vec![given.to_owned()];
    }
    let of_cluster = cluster.filter(|cluster| !cluster.state_dir.as_os_str().is_empty()).map(runs::path);
    of_cluster.into_iter().chain(site::machine::state_dir().map(|state| state.join("runs.sqlite"))).collect()
}

/// Keeps it, whole or not at all, and gives its id.
///
/// # Errors
/// A text with what, why and next: the measurement is not worse for it.
pub fn keep(place: Option<&Path>, measured: &Measured) -> Result<String, String> {
    let place = place.ok_or_else(|| {
        "no place to save the run\n  why:  neither an inventory nor HOME is set\n  next: give a file with --store, \
         or use --no-store"
            .to_owned()
    })?;
    let (command, kind, started_unix_ms, ended_unix_ms, json) = match measured {
        Measured::Load(report) => {
            let took_ms = (report.connecting_s + report.warm_up_s + report.measured_s) * 1000.0;
            // A day has 86,400,000 ms; beyond it saturates.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let ended = report.started_unix_ms.saturating_add(took_ms as u64);
            ("bench load", LOAD, report.started_unix_ms, ended, serde_json::to_string(report))
        }
        Measured::Run(report) => {
            ("bench run", RUN, report.started_unix_ms, report.ended_unix_ms, serde_json::to_string(report))
        }
    };
    let json = json.map_err(|error| error.to_string())?;
    let run = Run {
        id: runs::run_id(started_unix_ms),
        command: command.into(),
        sealion_version: env!("CARGO_PKG_VERSION").into(),
        started_unix_ms,
        ended_unix_ms,
        phases: vec![Phase { name: "bench".into(), started_unix_ms, ended_unix_ms, ..Phase::default() }],
    };
    Store::open(place)
        .and_then(|mut store| store.put_with_report(&run, kind, &json))
        .map(|()| run.id)
        .map_err(|error| error.to_string())
}

/// The measurement of this name: a file, the id of a run, or a beginning that only one id has.
///
/// # Errors
/// There is none, there are several, or it cannot be read.
pub fn read(places: &[PathBuf], name: &str) -> Result<Kept, OpsError> {
    let path = Path::new(name);
    if path.is_file() {
        return from_file(path, name);
    }
    for place in places.iter().filter(|place| place.exists()) {
        let store = Store::open(place).map_err(|error| told(&error.to_string()))?;
        for kind in [LOAD, RUN] {
            if let Some(json) = store.report(name, kind).map_err(|error| told(&error.to_string()))? {
                return parse(&json, name);
            }
        }
    }
    let kept = newest(places, SEARCHED_MAX)?;
    let fits: Vec<&Raw> = kept.iter().filter(|one| one.id.starts_with(name)).collect();
    match fits.as_slice() {
        [one] => one.parsed(),
        [] => Err(OpsError::usage(
            format!("there is no run \"{name}\""),
            if kept.is_empty() {
                "no run is saved, and there is no file with this name".to_owned()
            } else {
                format!(
                    "there is no file and no saved run with this name, and none of the newest {SEARCHED_MAX} \
                         begins with it"
                )
            },
            "list saved runs: sealion bench runs",
        )),
        [first, second, ..] => Err(OpsError::usage(
            format!("\"{name}\" is ambiguous"),
            format!("{} runs begin with it, for example {} and {}", fits.len(), first.id, second.id),
            "give more of the id: sealion bench runs",
        )),
    }
}

/// What is kept, newest first. What a newer sealion has written is left out, and counted.
///
/// # Errors
/// A store that cannot be read.
pub fn list(places: &[PathBuf], limit: u32) -> Result<(Vec<Kept>, usize), OpsError> {
    let mut unread = 0;
    let mut found = Vec::new();
    for one in newest(places, limit)? {
        match one.parsed() {
            Ok(kept) => found.push(kept),
            Err(_) => unread += 1,
        }
    }
    Ok((found, unread))
}

/// As it lies in the store.
struct Raw {
    id: String,
    json: String,
}

impl Raw {
    fn parsed(&self) -> Result<Kept, OpsError> {
        parse(&self.json, &self.id)
    }
}

/// Ids begin with when it was: the order of names is that of time.
fn newest(places: &[PathBuf], limit: u32) -> Result<Vec<Raw>, OpsError> {
    let mut all = Vec::new();
    for place in places.iter().filter(|place| place.exists()) {
        let found = Store::open(place)
            .and_then(|store| store.reports(&[LOAD, RUN], limit.min(SEARCHED_MAX)))
            .map_err(|error| told(&error.to_string()))?;
        all.extend(found.into_iter().map(|(id, _, json)| Raw { id, json }));
    }
    all.sort_by(|one, other| other.id.cmp(&one.id));
    all.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(all)
}

/// The store's errors have their what, why and next in lines.
fn told(text: &str) -> OpsError {
    let mut lines = text.lines();
    let what = lines.next().unwrap_or_default().to_owned();
    let mut part = |of: &str| {
        lines
            .next()
            .map(|line| line.trim_start().trim_start_matches(of).trim().to_owned())
            .unwrap_or_default()
    };
    let why = part("why:");
    OpsError::cannot_look(what, why, part("next:"))
}

fn from_file(path: &Path, name: &str) -> Result<Kept, OpsError> {
    let cannot = |why: String| {
        OpsError::usage(
            format!("cannot read {name}"),
            why,
            "give a run (sealion bench runs), or a file that bench run or bench load wrote with --format json",
        )
    };
    let bytes = std::fs::metadata(path).map_err(|error| cannot(error.to_string()))?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(cannot(format!("it has {bytes} bytes; the maximum is {FILE_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))?;
    if text.trim_start().starts_with('[') {
        return Err(cannot("it contains several runs, and one is needed; each of them was saved".into()));
    }
    parse(&text, name)
}

/// The same JSON, with control characters of its texts as they are written for people.
fn without_controls(text: &str) -> String {
    fn visit(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::String(text) if text.chars().any(char::is_control) => {
                *text = wire::printable(text);
            }
            serde_json::Value::Array(all) => all.iter_mut().for_each(visit),
            serde_json::Value::Object(all) => all.values_mut().for_each(visit),
            _ => {}
        }
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(mut value) => {
            visit(&mut value);
            value.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

fn parse(text: &str, name: &str) -> Result<Kept, OpsError> {
    // The id first: what is of another version should be refused as such, not for a missing key.
    #[derive(Deserialize)]
    struct Id {
        schema: String,
    }
    let cannot = |why: String| {
        OpsError::usage(
            format!("{name} is not a run that this sealion can read"),
            why,
            "give a run (sealion bench runs), or a file that bench run or bench load wrote with --format json; a \
             file from another version needs that version",
        )
    };
    // A file may come from anybody, and so may a store: their texts go to a terminal.
    let is_suspect = text.contains("\\u00") || text.chars().any(|c| c.is_control() && !c.is_whitespace());
    let cleaned = is_suspect.then(|| without_controls(text));
    // As the first versions called the arm without TLS: a run of theirs is compared with one of now.
    let text = &cleaned.as_deref().unwrap_or(text).replace("clear text", "cleartext");
    let of = |error: serde_json::Error| cannot(error.to_string());
    let Id { schema } = serde_json::from_str(text).map_err(of)?;
    let measured = match schema.as_str() {
        BENCH_LOAD_SCHEMA_ID => Measured::Load(Box::new(serde_json::from_str(text).map_err(of)?)),
        BENCH_RUN_SCHEMA_ID => Measured::Run(Box::new(serde_json::from_str(text).map_err(of)?)),
        other => {
            return Err(cannot(format!(
                "its schema is {}; known are {BENCH_RUN_SCHEMA_ID} and {BENCH_LOAD_SCHEMA_ID}",
                wire::printable(other)
            )));
        }
    };
    Ok(Kept { name: name.to_owned(), measured })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD_SAMPLE: &str = include_str!("../../report/testdata/bench-load.json");
    const RUN_SAMPLE: &str = include_str!("../../report/testdata/bench-run.json");

    fn run_at(started_unix_ms: u64) -> Measured {
        let Measured::Run(mut report) = parse(RUN_SAMPLE, "sample").expect("a sample").measured else {
            panic!("the sample is a run");
        };
        report.started_unix_ms = started_unix_ms;
        Measured::Run(report)
    }

    #[test]
    fn what_is_kept_is_found_by_its_id_by_a_beginning_and_by_a_file() {
        let home = tempfile::tempdir().expect("a directory");
        let place = home.path().join("made/on/the/way/runs.sqlite");
        let load = parse(LOAD_SAMPLE, "sample").expect("a sample").measured;
        let places = [place.clone()];
        assert_eq!(list(&places, 9).expect("nothing yet"), (vec![], 0));
        let first = keep(Some(&place), &run_at(1_795_295_000_000)).expect("kept");
        let second = keep(Some(&place), &run_at(1_795_295_999_000)).expect("kept");
        let third = keep(Some(&place), &load).expect("kept");
        let (all, unread) = list(&places, 9).expect("it reads");
        let mut ids = vec![first.clone(), second.clone(), third.clone()];
        ids.sort_by(|one, other| other.cmp(one));
        assert_eq!((all.iter().map(|kept| kept.name.clone()).collect::<Vec<_>>(), unread), (ids, 0));
        assert_eq!(read(&places, &third).expect("it is there").measured, load);
        assert_eq!(read(&places, &first).expect("it is there").measured, run_at(1_795_295_000_000));
        let beginning = second.get(..18).expect("an id has more");
        assert_eq!(read(&places, beginning).expect("only one").name, second);
        let error = read(&places, second.get(..12).expect("an id has more")).expect_err("two begin so");
        assert!(error.to_string().contains("give more of the id"), "{error}");
        let error = read(&places, "nothing").expect_err("none is called so");
        assert!(error.to_string().contains("sealion bench runs"), "{error}");
        let file = home.path().join("load.json");
        std::fs::write(&file, LOAD_SAMPLE).expect("written");
        assert_eq!(read(&[], &file.display().to_string()).expect("a file").measured, load);
    }

    #[test]
    fn what_is_no_measurement_is_said_to_be_none() {
        for (text, word) in [
            ("", "EOF"),
            ("{\"schema\": \"sealion/scan/1\"}", "sealion/scan/1"),
            ("{\"schema\": \"sealion/bench-run/1\"}", "missing field"),
            ("{\"schema\": \"\\u001b[31m\"}", "\\u{1b}"),
        ] {
            let error = parse(text, "it").expect_err("there is no run").to_string();
            assert!(error.contains(word) && error.contains("next: "), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_of_somebody_else_does_not_reach_the_terminal_as_it_is() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("run.json");
        let evil = RUN_SAMPLE.replacen("\"server_version\": \"", "\"server_version\": \"\\u001b[2J", 1);
        assert_ne!(evil, RUN_SAMPLE);
        std::fs::write(&file, evil).expect("written");
        let Measured::Run(report) = read(&[], &file.display().to_string()).expect("a file").measured else {
            panic!("the sample is a run");
        };
        assert!(report.server_version.starts_with("\\u{1b}[2J"), "{}", report.server_version);
        std::fs::write(&file, format!("[{RUN_SAMPLE}, {RUN_SAMPLE}]")).expect("written");
        let error = read(&[], &file.display().to_string()).expect_err("two of them").to_string();
        assert!(error.contains("several runs"), "{error}");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_said_with_what_to_do() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("file");
        std::fs::write(&file, "").expect("written");
        for (place, word) in [
            (Some(file.join("runs.sqlite")), "File exists"),
            (Some(PathBuf::from("/proc/runs.sqlite")), "runs.sqlite"),
            (Some(home.path().to_owned()), "is a directory"),
            (None, "--store"),
        ] {
            let why = keep(place.as_deref(), &run_at(1)).expect_err("no place");
            assert!(why.to_lowercase().contains(&word.to_lowercase()), "{why}");
            assert!(why.contains("next: "), "{why}");
        }
    }
}
