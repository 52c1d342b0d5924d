//! Texts of a source that are connections by themselves, wherever they stand: their driver is told by their scheme, and what else
//! the driver is given by whoever has the text is not.

use std::collections::{HashMap, HashSet};

use formats::settings::code::Source;
use formats::settings::{Node, Value};

use crate::config::{ConnectionSettings, Driver, Read, Style, Unread, beside, obstacle, urls};

/// What is known of a text from around it.
enum Place {
    /// Given to this name (its index in `assigned`), or in a map that is.
    Value(usize),
    /// In a map that stands by itself.
    Map,
}

/// Adds the connections of all texts but those on the lines that are `told` already. `driver` is the one that the file imports.
/// Whatever the file, `bytes`, says about TLS anywhere else may be for each of them.
pub(super) fn add(
    source: &Source,
    bytes: &[u8],
    told: &HashSet<usize>,
    driver: Option<&'static str>,
    read: &mut Read,
) {
    let mut places: Vec<(usize, &str, Place)> = Vec::new();
    for (index, entry) in source.assigned.iter().enumerate() {
        whole(&entry.node, &mut |node, text| places.push((node.line, text, Place::Value(index))));
    }
    for tree in &source.loose {
        whole(tree, &mut |node, text| places.push((node.line, text, Place::Map)));
    }
    let lines: HashSet<usize> = read.found.iter().map(|found| found.line).collect();
    let mut seen: HashSet<(usize, &str)> = HashSet::new();
    // Two on one line, of which one is part of something that is read.
    let mut first_of: HashMap<usize, &str> = HashMap::new();
    let before = read.found.len();
    for text in &source.texts {
        let Some(words) = text.text().filter(|_| told.contains(&text.line) || lines.contains(&text.line))
        else {
            continue;
        };
        let is_url = words.contains("://") && urls::found(words, text.line, "a text").is_some();
        // Of data alone each connection is known to be a URL or none.
        let is_beside = || {
            source.calls.is_empty()
                && lines.contains(&text.line)
                && read.found.iter().all(|found| found.line != text.line || found.style != Style::Query)
        };
        if is_url && (*first_of.entry(text.line).or_insert(words) != words || is_beside()) {
            read.unread.push(Unread {
                line: text.line,
                why: "several connection URLs stand on this line, and not all of them are read".into(),
            });
            break;
        }
    }
    for text in source.texts.iter().filter(|text| !told.contains(&text.line) && !lines.contains(&text.line)) {
        let Some(mut found) = text.text().and_then(|words| urls::found(words, text.line, "a text")) else {
            continue;
        };
        // A DSN of PDO alone says nothing about TLS.
        // What the environment has is a connection there.
        let is_filled = source.filled.iter().any(|filled| filled.line == text.line);
        if found.style == Style::Php
            || is_filled
            || !seen.insert((text.line, text.text().unwrap_or_default()))
        {
            continue;
        }
        if read.found.len() > crate::config::CONNECTIONS_MAX {
            break;
        }
        if let (Driver::Unknown { .. }, Some(family)) = (&found.driver, driver) {
            found.driver = Driver::Family(family);
        }
        let place = places.iter().find(|(line, words, _)| *line == text.line && text.text() == Some(*words));
        match place {
            None => found.settings.push(obstacle(text.line, "what is done with this text was not read")),
            Some((_, _, Place::Map)) => {}
            Some((_, _, Place::Value(index))) => of_value(source, *index, text, &mut found),
        }
        read.found.push(found);
    }
    if read.found.len() == before {
        return;
    }
    if let Some(doubt) = beside::doubt(&String::from_utf8_lossy(bytes), &beside::DATA_SOURCES) {
        for found in read.found.iter_mut().skip(before) {
            found.settings.push(doubt.clone());
        }
    }
}

fn of_value(source: &Source, index: usize, text: &Node, found: &mut ConnectionSettings) {
    let Some(entry) = source.assigned.get(index) else { return };
    if entry.node.line == text.line {
        found.what.clone_from(&entry.key);
    }
    let is_map = matches!(entry.node.value, Value::Map(_) | Value::List(_));
    if let Some(why) = source.may_differ(index) {
        found.settings.push(obstacle(why.line, &why.text));
    } else if !is_map && !source.is_of_class(index) && source.places_of(&entry.key) > 1 {
        found.settings.push(obstacle(text.line, &format!("what is done with {} was not read", entry.key)));
    }
}

/// Texts that are a value, or stand in maps and lists alone.
fn whole<'a>(node: &'a Node, each: &mut dyn FnMut(&'a Node, &'a str)) {
    match &node.value {
        Value::Text(text) => each(node, text),
        Value::List(items) => items.iter().for_each(|item| whole(item, each)),
        Value::Map(entries) => entries.iter().for_each(|entry| whole(&entry.node, each)),
        _ => {}
    }
}
