//! Whether option files still are as the finished changes of this state directory wrote them. It reads journals and files, and
//! nothing more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use change::journal::{JOURNAL_BYTES_MAX, parse};
use change::{Direction, Record};
use model::Plan;
use providers::drift::{FILE_BYTES_MAX, WantedFile, wanted};
use site::Cluster;

use crate::parallel::each;
use crate::state::{DriftSight, DriftState};

/// As many lines are told of one server.
const LINES_MAX: usize = 8;

/// How a change ended, as far as files go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Forward,
    /// Taken back, or never begun: it wants nothing of any file.
    Nothing,
    /// Not finished, or given up half-way: what it wants of files, nobody can tell.
    Open(&'static str),
}

struct Journal {
    plan: Plan,
    end: End,
}

fn end_of(records: &[(u64, Record)]) -> End {
    let was_begun = records.iter().any(|(_, record)| matches!(record, Record::Intent { .. }));
    match records.last().map(|(_, record)| record) {
        Some(Record::Closed { direction: Direction::Forward }) => End::Forward,
        Some(Record::Closed { direction: Direction::Back }) => End::Nothing,
        _ if !was_begun => End::Nothing,
        Some(Record::Abandoned { .. }) => End::Open("was abandoned half-way"),
        _ => End::Open("is not finished"),
    }
}

/// The oldest first.
fn journals(dir: &Path) -> Result<Vec<Journal>, String> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| {
        let text = error.to_string();
        format!("{}: {}", path.display(), text.lines().next().unwrap_or_default())
    };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(failed(dir, &error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path: PathBuf = entry.map_err(|error| failed(dir, &error))?.path();
        if path.extension().is_none_or(|end| end != "journal") {
            continue;
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&path).map_err(|error| failed(&path, &error))?;
        file.take(JOURNAL_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| failed(&path, &error))?;
        let records = parse(&bytes, &path).map_err(|error| failed(&path, &error))?.records;
        let end = end_of(&records);
        let plan = records.into_iter().find_map(|(_, record)| match record {
            Record::Opened { plan } => Some(*plan),
            _ => None,
        });
        found.extend(plan.map(|plan| Journal { plan, end }));
    }
    found.sort_by(|a, b| (a.plan.sequence, &a.plan.id).cmp(&(b.plan.sequence, &b.plan.id)));
    Ok(found)
}

/// What is known before any file was read.
#[derive(Debug, Default)]
struct Known {
    files: Vec<WantedFile>,
    /// By server: why nobody knows what is wanted, and the change that it is due to.
    open: BTreeMap<String, (String, String)>,
}

fn known(journals: &[Journal]) -> Result<Known, String> {
    let finished = journals.iter().filter(|one| one.end == End::Forward).map(|one| &one.plan);
    let files = wanted(finished)?;
    let mut open: BTreeMap<String, (String, String)> = BTreeMap::new();
    for Journal { plan, end } in journals {
        let writes = plan.steps.iter().filter(|step| step.params.get("edit").is_some());
        let servers: BTreeSet<String> =
            writes.flat_map(|step| step.nodes.iter().map(ToString::to_string)).collect();
        match end {
            // What a later change finished counts, and not what one before it left.
            End::Forward => open.retain(|server, _| !servers.contains(server)),
            End::Open(how) => open.extend(servers.into_iter().map(|server| {
                let why = format!("the change {} of {} {how}", plan.id, plan.change);
                (server, (why, plan.id.clone()))
            })),
            End::Nothing => {}
        }
    }
    Ok(Known { files, open })
}

/// Of each server whose option files a change has written.
pub fn sights(cluster: &Cluster) -> Vec<DriftSight> {
    if !cluster.has_files {
        return vec![];
    }
    let dir = cluster.state_dir.join("journals").join(&cluster.name);
    let members: Vec<_> = cluster.nodes.iter().chain(&cluster.arbitrators).collect();
    let unknown = |server: String, why: String| DriftSight {
        server,
        state: DriftState::Unknown,
        change: String::new(),
        why,
    };
    let known = match journals(&dir).and_then(|journals| known(&journals)) {
        Ok(known) => known,
        Err(why) => {
            let why = format!("what changes wrote cannot be read: {why}");
            return members.iter().map(|one| unknown(one.name.to_string(), why.clone())).collect();
        }
    };
    let sights = each(&members, |member| {
        let name = member.name.to_string();
        if let Some((why, change)) = known.open.get(&name) {
            return Some(DriftSight { change: change.clone(), ..unknown(name, why.clone()) });
        }
        let files: Vec<&WantedFile> = known.files.iter().filter(|one| one.node == member.name).collect();
        let change = files.iter().map(|one| &one.change).max()?.clone();
        let machine = cluster.machine_of(member);
        let host = machine.host();
        Some(sight(name, change, &files, |path| {
            host.read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())
        }))
    });
    sights.into_iter().flatten().collect()
}

fn sight(
    server: String,
    change: String,
    files: &[&WantedFile],
    read: impl Fn(&Path) -> Result<Option<Vec<u8>>, String>,
) -> DriftSight {
    let (mut lines, mut unread) = (Vec::new(), Vec::new());
    for file in files {
        match read(&file.file).and_then(|bytes| file.differences(bytes.as_deref())) {
            Ok(more) => lines.extend(more),
            Err(why) => unread.push(why.lines().next().unwrap_or_default().to_owned()),
        }
    }
    // What differs is known, whatever else could not be read.
    let (state, mut told) = match (lines.is_empty(), unread.is_empty()) {
        (false, _) => (DriftState::Drifted, lines),
        (true, false) => (DriftState::Unknown, unread),
        (true, true) => (DriftState::Same, vec![]),
    };
    let more = told.len().saturating_sub(LINES_MAX);
    told.truncate(LINES_MAX);
    told.extend((more > 0).then(|| format!("and {more} more")));
    DriftSight { server, state, change, why: told.join("; ") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use change::journal::Journal as Writer;
    use model::StepId;

    use super::*;

    fn plan(id: &str, sequence: u64, node: &str, value: &str) -> Plan {
        let edits = serde_json::json!([{ "do": "set", "group": "mysqld", "key": "ssl_ca", "value": value }]);
        let edit = serde_json::json!({
            "file": "/etc/my.cnf", "edits": edits, "was": ["absent"], "sha256_before": "0", "sha256_after": "1"
        });
        serde_json::from_value(serde_json::json!({
            "id": id, "sequence": sequence, "change": {"verb": "enable", "nouns": ["galera"]}, "cluster": "c", "made_unix_ms": 1,
            "sealion_version": "0.1.0", "state_hash": "0", "impact": [], "rights": [],
            "steps": [{"id": "E1", "kind": "edit", "title": "", "nodes": [node], "restarts_server": false, "no_op": false,
                       "shell": [], "sql": [], "diff": [], "params": { "edit": edit }}]
        }))
        .unwrap()
    }

    fn write(dir: &Path, plan: Plan, last: Option<Record>) {
        let mut journal = Writer::open(&dir.join(format!("{}.journal", plan.id))).unwrap();
        let step = StepId("E1".into());
        let direction = Direction::Forward;
        for record in [
            Record::Opened { plan: Box::new(plan) },
            Record::Intent { step: step.clone(), direction },
            Record::Done { step, direction, note: String::new() },
        ]
        .into_iter()
        .chain(last)
        {
            journal.append(1, record).unwrap();
        }
    }

    const FORWARD: Record = Record::Closed { direction: Direction::Forward };
    const BACK: Record = Record::Closed { direction: Direction::Back };

    fn state(dir: &Path, file: Result<Option<&str>, &str>) -> (DriftState, String) {
        let known = known(&journals(dir).unwrap()).unwrap();
        if let Some((why, _)) = known.open.get("n1") {
            return (DriftState::Unknown, why.clone());
        }
        let files: Vec<&WantedFile> = known.files.iter().collect();
        let read = |_: &Path| match file {
            Ok(text) => Ok(text.map(|text| text.as_bytes().to_vec())),
            Err(why) => Err(why.to_owned()),
        };
        let sight = sight("n1".into(), "x".into(), &files, read);
        (sight.state, sight.why)
    }

    #[test]
    fn what_the_last_finished_change_wrote_counts() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path();
        let file = |value: &str| format!("[mysqld]\nssl_ca={value}\n");
        assert_eq!(journals(&dir.join("none")).unwrap().len(), 0, "no change was ever made here");
        // Written in another order than they were made; one that was taken back wants nothing.
        write(dir, plan("b", 2, "n1", "new.pem"), Some(FORWARD));
        write(dir, plan("a", 1, "n1", "old.pem"), Some(FORWARD));
        write(dir, plan("c", 3, "n1", "back.pem"), Some(BACK));
        assert_eq!(state(dir, Ok(Some(&file("new.pem")))).0, DriftState::Same);
        let (is, why) = state(dir, Ok(Some(&file("old.pem"))));
        assert_eq!(is, DriftState::Drifted);
        assert!(why.contains("[mysqld] ssl_ca is old.pem, and sealion had set new.pem"), "{why}");
        assert_eq!(state(dir, Ok(None)).0, DriftState::Drifted);
        // What cannot be read is neither.
        assert_eq!(state(dir, Err("permission denied")), (DriftState::Unknown, "permission denied".into()));
        assert_eq!(state(dir, Ok(Some("a=b\n[x]\n"))).0, DriftState::Unknown);
    }

    #[test]
    fn beside_an_open_change_nobody_knows() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path();
        write(dir, plan("a", 1, "n1", "a.pem"), Some(FORWARD));
        write(dir, plan("b", 2, "n1", "b.pem"), None);
        let (is, why) = state(dir, Ok(Some("[mysqld]\nssl_ca=a.pem\n")));
        assert_eq!(is, DriftState::Unknown);
        assert!(why.contains("the change b of enable galera is not finished"), "{why}");
        // A later one that was finished says what is wanted again.
        write(dir, plan("c", 3, "n1", "c.pem"), Some(FORWARD));
        assert_eq!(state(dir, Ok(Some("[mysqld]\nssl_ca=c.pem\n"))).0, DriftState::Same);
        write(dir, plan("d", 4, "n1", "d.pem"), Some(Record::Abandoned { left: vec![] }));
        assert!(state(dir, Ok(None)).1.contains("was abandoned half-way"));
        // Damaged: nobody knows what is in it.
        std::fs::write(dir.join("e.journal"), "{}\n{}\n").unwrap();
        assert!(journals(dir).is_err());
    }
}
