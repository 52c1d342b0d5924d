//! The map in ARCHITECTURE.md is the one that cargo builds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Crates of the map in its order, each with what it stands on.
fn map() -> Vec<(String, Vec<String>)> {
    let text = read(&root().join("ARCHITECTURE.md"));
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate | its one job")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let (name, uses) = (cells[0].trim_matches('`'), cells[3]);
            let uses = uses.split(", ").filter(|name| *name != "-").map(str::to_owned).collect();
            (name.to_owned(), uses)
        })
        .collect()
}

/// Crates of the workspace, each with those of the workspace that it is built from.
fn workspace() -> BTreeMap<String, Vec<String>> {
    let crates = root().join("crates");
    let names: Vec<String> = std::fs::read_dir(&crates)
        .expect("crates")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("a name"))
        .collect();
    let uses = |name: &String| {
        let text = read(&crates.join(name).join("Cargo.toml"));
        let (_, after) = text.split_once("[dependencies]").unwrap_or_default();
        let own = after.split("\n[").next().unwrap_or_default();
        let named = own.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        named.filter(|one| names.iter().any(|name| name == one)).map(str::to_owned).collect()
    };
    names.iter().map(|name| (name.clone(), uses(name))).collect()
}

#[test]
fn the_map_names_every_crate_and_what_it_stands_on() {
    let map = map();
    let real = workspace();
    let named: Vec<&String> = map.iter().map(|(name, _)| name).collect();
    for (name, uses) in &real {
        let (_, drawn) = map
            .iter()
            .find(|(one, _)| one == name)
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for {name}"));
        let (mut drawn, mut uses) = (drawn.clone(), uses.clone());
        drawn.sort();
        uses.sort();
        assert_eq!(drawn, uses, "the row of {name} in ARCHITECTURE.md beside its Cargo.toml");
    }
    assert_eq!(named.len(), real.len(), "a crate is drawn twice or is gone: {named:?}");
}

#[test]
fn arrows_only_point_up_the_map() {
    let map = map();
    for (at, (name, uses)) in map.iter().enumerate() {
        for one in uses {
            let above = map[..at].iter().any(|(other, _)| other == one);
            assert!(above, "{name} stands on {one}, which is not above it in ARCHITECTURE.md");
        }
    }
}

/// Who comes new reads all of it; long stories are in the book, where its links lead.
#[test]
fn the_map_is_short_and_its_links_lead_somewhere() {
    let text = read(&root().join("ARCHITECTURE.md"));
    assert!(text.lines().count() < 200, "{} lines", text.lines().count());
    let links: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let files: Vec<&str> = links.into_iter().filter(|link| link.starts_with("docs/")).collect();
    assert!(files.len() > 2, "{files:?}");
    for file in files {
        assert!(root().join(file).is_file(), "{file}");
    }
}
