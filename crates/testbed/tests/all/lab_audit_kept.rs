//! What an audit finds on known servers, kept beside the tests: a change of a rule shows where it is told, and where no longer.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::lab_audit::Audited;

/// These depend on the machine, on the day and on the second.
const ELSEWHERE: &[&str] = &["SL2105", "SL2701", "SL2702", "SL2803", "SL2806", "SL4213"];
/// Writes what is found now.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

/// What failed or is not known is what it was.
#[track_caller]
pub fn is_as_kept(name: &str, seen: &Audited) {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = format!("'{}'", host.trim());
    let lines: BTreeSet<String> = seen
        .findings()
        .filter(|one| ["fail", "unknown"].contains(&one.1) && !ELSEWHERE.contains(&one.0))
        .map(|(rule, verdict, subject, _)| {
            format!("{rule} {verdict:7} {}\n", subject.replace(&host, "'HOST'"))
        })
        .collect();
    let found: String = lines.into_iter().collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/audit").join(format!("{name}.txt"));
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &found).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let of = |text: &str| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
    let (kept, found) = (of(&kept), of(&found));
    let new: Vec<_> = found.difference(&kept).collect();
    let gone: Vec<_> = kept.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{} is not what is found; if that is meant, run this test with {UPDATE}=1\nnew: {new:#?}\ngone: {gone:#?}",
        path.display()
    );
}
