//! YAML: Rails' `database.yml`, Spring's `application.yml`, compose files, manifests of Kubernetes, and connection URLs in any other.

use formats::settings::pairs::Pair;
use formats::settings::{Node, Value, yaml};

use super::env::{environment, names_a_connection};
use super::properties::HANDED_ON;
use super::{Form, ends};
use crate::config::nodes::{Plain, flatten, text_of};
use crate::config::{Driver, Found, Read, SettingsError, Style, Unread, urls};

pub(super) const YAML: Form =
    Form { id: "yaml", name: "a YAML file", fits: |name| ends(name, &[".yml", ".yaml"]), read };

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let mut read = Read::default();
    for document in yaml::read(bytes)? {
        let rails = document.entries().iter().filter(|entry| is_rails(&entry.node)).count();
        document.walk(&mut |keys, node| {
            let what = keys.join(".");
            match &node.value {
                Value::Text(text) => text_value(text, &what, node.line, &mut read),
                // `default: &default` is what the others are made of.
                Value::Map(_) if is_rails(node) && !(rails > 1 && keys == ["default"]) => {
                    read.found.push(of_rails(&what, node));
                }
                Value::Map(_) => of_map(&what, keys, node, &mut read),
                _ => {}
            }
        });
        if document.get("kind").and_then(Node::text) == Some("Secret")
            && let Some(data) = document.get("data")
        {
            read.unread
                .push(Unread { line: data.line, why: "data: of a Secret is base64, and is not read".into() });
        }
    }
    // An alias brings the same line again.
    read.found.sort_by(|one, other| (one.line, &one.what).cmp(&(other.line, &other.what)));
    read.found.dedup_by(|one, other| {
        one.line == other.line && one.style == Style::Query && other.style == Style::Query
    });
    Ok(read)
}

/// A URL, or `NAME=url` of a compose file's list.
fn text_value(text: &str, what: &str, line: usize, read: &mut Read) {
    let named = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let found = match named {
        Some((name, value)) => urls::found(value, line, &format!("{what}.{name}")),
        None => urls::found(text, line, what),
    };
    read.found.extend(found);
}

fn is_rails(node: &Node) -> bool {
    matches!(node.get("adapter").and_then(Node::text), Some("mysql2" | "trilogy" | "jdbcmysql"))
}

fn of_rails(what: &str, node: &Node) -> Found {
    let driver = match node.get("adapter").and_then(Node::text) {
        Some("mysql2") => Driver::Family("ruby-mysql2"),
        _ => Driver::Unknown { why: "its driver is not in the matrix".into(), one_of: vec![] },
    };
    let mut settings = Vec::new();
    for entry in node.entries() {
        flatten(&entry.key, &entry.node, &Plain, &mut settings);
    }
    Found {
        line: node.line,
        what: what.to_owned(),
        driver,
        host: text_of(node, "host"),
        settings,
        style: Style::Yaml,
        front: None,
    }
}

fn of_map(what: &str, keys: &[&str], node: &Node, read: &mut Read) {
    // A service of a compose file: one file, several, or `path:` of each.
    if let Some(files) = node.get("env_file") {
        for file in std::iter::once(files).chain(files.items()) {
            if let Some(path) = file.text().or_else(|| file.get("path").and_then(Node::text)) {
                read.environment_files.push((path.to_owned(), file.line));
            }
        }
    }
    // A list of Kubernetes: {name: …, value: …} or {name: …, valueFrom: …}.
    if let Some(name) = node.get("name").and_then(Node::text)
        && node.get("valueFrom").is_some()
        && names_a_connection(name)
    {
        read.unread.push(Unread {
            line: node.line,
            why: format!("{name}: its value is kept elsewhere (valueFrom)"),
        });
    }
    // Variables as a map: what is more than one URL each.
    if matches!(keys.last(), Some(&("environment" | "env" | "stringData" | "data" | "variables"))) {
        let pairs: Vec<Pair> = node
            .entries()
            .iter()
            .filter_map(|entry| {
                let value = entry.node.scalar()?;
                Some(Pair { key: entry.key.clone(), value: value.to_owned().into(), line: entry.line })
            })
            .collect();
        let all = environment(&pairs);
        read.found.extend(all.found.into_iter().filter(|found| found.style == Style::Env));
        read.unread.extend(all.unread);
    }
    // `url:` beside `hikari.data-source-properties:`.
    let is_handed_on = |key: &str| HANDED_ON.contains(&key);
    let properties = node.entries().iter().filter(|entry| is_handed_on(&entry.key)).chain(
        node.entries().iter().flat_map(|entry| entry.node.entries()).filter(|entry| is_handed_on(&entry.key)),
    );
    let mut settings = Vec::new();
    for entry in properties.flat_map(|entry| entry.node.entries()) {
        flatten(&entry.key, &entry.node, &Plain, &mut settings);
    }
    if settings.is_empty() {
        return;
    }
    for key in ["url", "jdbc-url", "jdbcUrl"] {
        if let Some(url) = node.get(key)
            && let Some(mut found) =
                url.text().and_then(|text| urls::found(text, url.line, &format!("{what}.{key}")))
        {
            found.settings.append(&mut settings);
            // Taken before its text alone is.
            read.found.push(found);
        }
    }
}
