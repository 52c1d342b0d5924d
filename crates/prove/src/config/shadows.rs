//! Names that look like a driver's and may be somebody else's: a class of the same name in a namespace of PHP, another
//! `DriverManager` of Java, another `sql` of Go, a module of Node that is written over. Looked for as text, as in [`super::doubts`].

use super::doubts::words;

/// Functions that lay properties over what they are given first.
const WRITERS: [&str; 4] =
    ["Object.assign(", "Object.defineProperty(", "Object.defineProperties(", "Reflect.set("];

/// `Object.assign(require('tls'), …)`, `Object.assign(tls, …)`
pub(super) fn of_a_module(text: &str) -> Option<(usize, String)> {
    let is_module = |at: usize, writer: &str| {
        let rest = text.get(at + writer.len()..).unwrap_or_default().trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        let is_bound = |front: &str, back: &str| text.contains(&format!("{front}{name}{back}"));
        name == "require"
            || (!name.is_empty()
                && (is_bound("", " = require(")
                    || is_bound("", "= require(")
                    || is_bound("as ", " from")
                    || is_bound("import ", " from")))
    };
    WRITERS
        .iter()
        .flat_map(|writer| text.match_indices(writer).map(move |(at, _)| (at, *writer)))
        .find(|(at, writer)| is_module(*at, writer))
        .map(|(at, _)| (at, "what is written into a module changes it for the whole program".into()))
}

/// In a namespace, or behind a `use` of another one, `PDO` and `mysqli` are not PHP's own.
pub(super) fn of_php(text: &str) -> Option<(usize, String)> {
    // A class of this name is PHP's own only where it is said to be.
    const OWN: [&str; 6] =
        ["use PDO;", "use \\PDO;", "use mysqli;", "use \\mysqli;", "use Pdo\\Mysql;", "use \\Pdo\\Mysql;"];
    let small = text.to_ascii_lowercase();
    let mut at = 0;
    let (mut has_namespace, mut other) = (false, None);
    for line in text.split_inclusive('\n') {
        // Several statements may stand on one line, and a tag in front of the first.
        for statement in line.split_inclusive(';') {
            let whole = statement.trim().trim_start_matches("<?php").trim();
            let word = whole.to_ascii_lowercase();
            has_namespace |= word.starts_with("namespace") && !word.starts_with("namespace\\");
            let is_of_us = word.starts_with("use ")
                && (words(&word, "pdo").next().is_some() || word.contains("mysqli") || word.contains('{'));
            if is_of_us && !OWN.contains(&whole) && !word.contains('(') {
                other.get_or_insert(at);
            }
            at += statement.len();
        }
    }
    let why = "a class or a function of a namespace may have the name of PHP's own";
    if let Some(at) = other {
        return Some((at, why.into()));
    }
    if !has_namespace {
        return None;
    }
    let is_free = |at: &usize| {
        let before = small.get(..*at).unwrap_or_default();
        !before.ends_with(['\\', '>', ':', '$', '\'', '"'])
    };
    let is_made = |at: &usize, class: &str| {
        let before = small.get(..*at).unwrap_or_default().trim_end();
        let after = small.get(at + class.len()..).unwrap_or_default();
        before.ends_with("new") || after.starts_with("::connect")
    };
    let classes = [("pdo", ["use pdo;", "use \\pdo;"]), ("mysqli", ["use mysqli;", "use \\mysqli;"])];
    let by_class = classes
        .iter()
        .filter(|(_, uses)| !uses.iter().any(|one| small.contains(one)))
        .find_map(|(class, _)| words(&small, class).find(|at| is_free(at) && is_made(at, class)));
    let by_function = small.match_indices("mysqli_").map(|(at, _)| at).filter(is_free).find(|at| {
        let rest = small.get(*at..).unwrap_or_default();
        rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').starts_with('(')
    });
    by_class.into_iter().chain(by_function).min().map(|at| (at, why.into()))
}

/// Another `DriverManager` than the one of `java.sql`.
pub(super) fn of_java(text: &str) -> Option<(usize, String)> {
    const NAME: &str = "DriverManager";
    const MAKERS: [&str; 6] = ["class", "interface", "record", "enum", "object", "as"];
    let is_other = |at: &usize| {
        let before = text.get(..*at).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default().trim();
        let is_made = MAKERS.contains(&line.rsplit(' ').next().unwrap_or_default());
        let rest = text.get(at + NAME.len()..).unwrap_or_default().trim_start();
        is_made
            || (line.starts_with("import") && !line.ends_with("java.sql."))
            // `var DriverManager = …`
            || (rest.starts_with('=') && !rest.starts_with("=="))
    };
    words(text, NAME).find(is_other).map(|at| (at, "DriverManager may be another class".into()))
}

/// `sql` is `database/sql` only where the file loads it under that name, and a driver that is registered may be anybody's.
pub(super) fn of_go(text: &str) -> Option<(usize, String)> {
    const MODULE: &str = "\"database/sql\"";
    if let Some(at) = text.find("sql.Register(") {
        return Some((at, "what is registered as a driver here is not read".into()));
    }
    let call = text
        .find("sql.Open(")
        .filter(|_| text.trim_start().starts_with("package ") || text.contains(MODULE))?;
    let is_plain = text.match_indices(MODULE).any(|(at, _)| {
        let line = text.get(..at).unwrap_or_default().rsplit('\n').next().unwrap_or_default();
        matches!(line.trim(), "" | "import" | "import (")
    });
    let is_set = words(text, "sql").any(|at| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let rest = text.get(at + 3..).unwrap_or_default().trim_start();
        before.ends_with("var")
            || rest.starts_with(":=")
            || (rest.starts_with('=') && !rest.starts_with("=="))
    });
    (!is_plain || is_set).then(|| (call, "sql may stand for something else than database/sql".into()))
}
