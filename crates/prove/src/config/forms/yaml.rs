//! YAML: Rails' `database.yml`, Spring's `application.yml`, compose files, manifests of Kubernetes, and connection URLs in any other.

use formats::settings::pairs::Pair;
use formats::settings::{Node, Value, yaml};

use super::env::{environment, names_a_connection};
use super::properties::java;
use super::{Form, Variables, ends};
use crate::config::nodes::{Meaning, ResolvedNode, options, text_of};
use crate::config::{
    ConnectionSettings, Driver, Read, SettingValue, SettingsError, Style, Unread, beside, obstacle, urls,
};

pub(super) const YAML: Form =
    Form { id: "yaml", name: "a YAML file", fits: |name| ends(name, &[".yml", ".yaml"]), read };

/// Maps of variables.
const ENVIRONMENTS: [&str; 5] = ["environment", "env", "stringData", "data", "variables"];

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    let mut read = Read::default();
    let (mut documents, anchored) = yaml::read_with_anchors(bytes)?;
    documents.iter_mut().for_each(share);
    let mut flat: Vec<Vec<Pair>> = Vec::new();
    for document in &documents {
        let rails = document.entries().iter().filter(|entry| is_rails(&entry.node)).count();
        let mut pairs = Vec::new();
        values(document, &mut String::new(), &mut pairs);
        flat.push(pairs);
        document.walk(&mut |keys, node| {
            let what = keys.join(".");
            match &node.value {
                // `default: &default` is what the others are made of.
                Value::Map(_) if is_rails(node) && rails > 1 && keys == ["default"] => {}
                Value::Map(_) if is_rails(node) && is_template(keys, node, &anchored) => {
                    read.templates.push(of_rails(&what, node));
                }
                Value::Map(_) if is_rails(node) => read.found.push(of_rails(&what, node)),
                Value::Map(_) if is_open(node) => read.unread.push(Unread {
                    line: node.line,
                    why: "which adapter it is for is filled in when it runs".into(),
                }),
                Value::Map(_) => of_map(keys, node, &mut read),
                // Another file inside of this one.
                Value::Text(text) if text.contains('\n') && may_connect(text) => read.unread.push(Unread {
                    line: node.line,
                    why: "a text of several lines may hold a connection, and is not read".into(),
                }),
                // What a program is told on its command line, or in the middle of a variable.
                Value::Text(text)
                    if beside::has_connection_inside(text)
                        && urls::found(text, node.line, "").is_none()
                        && (is_command(keys) || !is_named(text)) =>
                {
                    read.unread.push(Unread {
                        line: node.line,
                        why: "a connection stands inside of this text, and is not read".into(),
                    });
                }
                Value::List(items) if keys.last().is_some_and(|key| ENVIRONMENTS.contains(key)) => {
                    of_list(&what, items, &mut read);
                }
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
    // Alone it is what there is.
    if read.found.is_empty() {
        read.found.append(&mut read.templates);
    }
    java(&flat, bytes, &mut read);
    read.unread.dedup_by_key(|one| one.line);
    if let Some(line) = documents.iter().find_map(commanded) {
        for found in &mut read.found {
            found.settings.push(obstacle(line, "what a command is told of TLS is not read"));
        }
    }
    // An alias brings the same line again.
    read.found.sort_by(|one, other| (one.line, &one.what).cmp(&(other.line, &other.what)));
    read.found.dedup_by(|one, other| {
        let is_query = one.style == Style::Query && other.style == Style::Query;
        // Two in the braces of one line are two.
        let is_same =
            (&one.driver, &one.host, &one.settings) == (&other.driver, &other.host, &other.settings);
        one.line == other.line && is_query && is_same
    });
    Ok(read)
}

/// What is `shared` in a `database.yml` is merged into every environment, below what that says itself, and is none.
///
/// # Source
/// `Rails::Application::Configuration#database_configuration`, Rails 7.1.
fn share(document: &mut Node) {
    const SHARED: &str = "shared";
    let Value::Map(entries) = &mut document.value else { return };
    let is_of_rails = entries.iter().any(|entry| is_rails(&entry.node));
    let Some(at) = entries.iter().position(|entry| entry.key == SHARED).filter(|_| is_of_rails) else {
        return;
    };
    let shared = entries.remove(at).node;
    let is_nested = |node: &Node| {
        let all = node.entries();
        !all.is_empty() && all.iter().all(|entry| matches!(entry.node.value, Value::Map(_)))
    };
    let are_several = is_nested(&shared);
    for entry in entries.iter_mut() {
        if !is_nested(&entry.node) {
            under(&mut entry.node, &shared);
        } else if let Value::Map(inner) = &mut entry.node.value {
            for one in inner.iter_mut() {
                let of = if are_several { shared.get(&one.key) } else { Some(&shared) };
                if let Some(of) = of.cloned() {
                    under(&mut one.node, &of);
                }
            }
        }
    }
}

/// What a map does not say, it has from another.
fn under(node: &mut Node, shared: &Node) {
    let Value::Map(own) = &mut node.value else { return };
    let missing: Vec<_> = shared
        .entries()
        .iter()
        .filter(|entry| own.iter().all(|known| known.key != entry.key))
        .cloned()
        .collect();
    own.extend(missing);
}

fn is_command(keys: &[&str]) -> bool {
    keys.iter().any(|key| matches!(*key, "command" | "entrypoint" | "args"))
}

/// `NAME=url` of a list of variables, which is read as such.
fn is_named(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, value)| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && urls::found(value, 1, "").is_some()
    })
}

/// Where a command line says something of TLS: it may be for the connection in the environment beside it.
fn commanded(document: &Node) -> Option<usize> {
    let mut line = None;
    document.walk(&mut |keys, node| {
        if is_command(keys) {
            let texts = std::iter::once(node).chain(node.items()).filter_map(Node::text);
            if texts.into_iter().any(crate::config::beside::speaks_of_tls) {
                line.get_or_insert(node.line);
            }
        }
    });
    line
}

/// All documents as pairs.
pub(super) fn flat(bytes: &[u8]) -> Result<Vec<Vec<Pair>>, SettingsError> {
    let documents = yaml::read(bytes)?;
    let of = |document| {
        let mut pairs = Vec::new();
        values(document, &mut String::new(), &mut pairs);
        pairs
    };
    Ok(documents.iter().map(of).collect())
}

/// All values by the keys that lead to them, but those of Rails and of environments, which are read as such.
fn values(node: &Node, key: &mut String, all: &mut Vec<Pair>) {
    match &node.value {
        Value::Map(entries) => {
            if is_rails(node) {
                return;
            }
            for entry in entries {
                // `{name: …, value: …}` of Kubernetes stays what it is.
                let before = key.len();
                if !key.is_empty() {
                    key.push('.');
                }
                key.push_str(&entry.key);
                if !ENVIRONMENTS.contains(&entry.key.as_str()) {
                    values(&entry.node, key, all);
                }
                key.truncate(before);
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                let before = key.len();
                key.push_str(&format!("[{index}]"));
                // `NAME=url`
                match item.text().and_then(|text| text.split_once('=')) {
                    Some((name, value))
                        if !name.is_empty()
                            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') =>
                    {
                        key.push('.');
                        key.push_str(name);
                        all.push(Pair { key: key.clone(), value: value.to_owned().into(), line: item.line });
                    }
                    _ => values(item, key, all),
                }
                key.truncate(before);
            }
        }
        _ => {
            let value = node.scalar().map_or_else(|| String::from(formats::settings::HOLE), str::to_owned);
            all.push(Pair { key: key.clone(), value: value.into(), line: node.line });
        }
    }
}

/// Whether a text has the look of a connection somewhere.
fn may_connect(text: &str) -> bool {
    [
        "jdbc:m",
        "mysql:",
        "mysql+",
        "mysql2:",
        "mariadb:",
        "mariadb+",
        "@tcp(",
        "adapter: mysql",
        "ssl-",
        "sslmode",
    ]
    .iter()
    .any(|part| text.contains(part))
}

/// An adapter that only a running program knows.
fn is_open(node: &Node) -> bool {
    node.get("adapter")
        .is_some_and(|adapter| adapter.text().is_none_or(|text| text.contains(formats::settings::HOLE)))
}

fn is_rails(node: &Node) -> bool {
    matches!(node.get("adapter").and_then(Node::text), Some("mysql2" | "trilogy" | "jdbcmysql"))
}

/// To Rails every name on the first level is an environment. One that has an anchor for others to merge and no database of its own is
/// none that anybody has, unless its name is one that people give an environment.
fn is_template(keys: &[&str], node: &Node, anchored: &[usize]) -> bool {
    const ENVIRONMENTS: [&str; 25] = [
        "development",
        "dev",
        "test",
        "production",
        "prod",
        "live",
        "staging",
        "stage",
        "preprod",
        "preproduction",
        "preview",
        "review",
        "qa",
        "uat",
        "ci",
        "demo",
        "sandbox",
        "integration",
        "performance",
        "beta",
        "edge",
        "canary",
        "cucumber",
        "profile",
        "primary",
    ];
    const TEMPLATES: [&str; 8] =
        ["default", "defaults", "default_settings", "shared", "common", "base", "template", "mysql"];
    let [name] = keys else { return false };
    let has_database = node.get("database").or_else(|| node.get("url")).is_some();
    anchored.contains(&node.line)
        && !ENVIRONMENTS.contains(name)
        && (!has_database || TEMPLATES.contains(name))
}

/// Ruby reads `:required` as a symbol, which the driver makes a text of. With quotes around it it is a text with a colon.
struct Rails;

impl Meaning for Rails {
    fn of(&self, _: &str, node: &Node) -> ResolvedNode {
        match &node.value {
            Value::Name(symbol) => {
                ResolvedNode::Value(SettingValue::Text(symbol.trim_start_matches(':').to_owned()))
            }
            _ => ResolvedNode::unread("its value is code, or has a tag of its own"),
        }
    }
}

fn of_rails(what: &str, node: &Node) -> ConnectionSettings {
    let driver = match node.get("adapter").and_then(Node::text) {
        Some("mysql2") => Driver::Family("ruby-mysql2"),
        _ => Driver::Unknown { why: "its driver is not in the matrix".into(), one_of: vec![] },
    };
    let mut settings = Vec::new();
    options(node, &Rails, &mut settings);
    for setting in &mut settings {
        if setting.key == "url" {
            *setting = obstacle(setting.line, "a URL may say more than stands here, and counts more");
        }
    }
    let mut found = ConnectionSettings {
        line: node.line,
        what: what.to_owned(),
        driver,
        host: text_of(node, "host"),
        settings,
        style: Style::Yaml,
        front: None,
    };
    if node.get("host").is_none_or(|host| host.value == Value::Null) {
        crate::config::without_host(&mut found);
    }
    found
}

/// Variables as a list: `NAME=value` of a compose file, `{name: …, value: …}` of Kubernetes.
fn of_list(what: &str, items: &[Node], read: &mut Read) {
    read.set_beside.extend(items.iter().filter_map(|item| {
        let text = item.text()?;
        Some((text.split_once('=').map_or(text, |(name, _)| name).to_owned(), item.line))
    }));
    let pairs: Vec<Pair> = items
        .iter()
        .filter_map(|item| {
            if let Some((key, value)) = item.text().and_then(|text| text.split_once('=')) {
                return Some(Pair {
                    key: format!("{what}.{key}"),
                    value: value.to_owned().into(),
                    line: item.line,
                });
            }
            let (name, value) = (item.get("name").and_then(Node::text)?, item.get("value")?);
            Some(Pair {
                key: format!("{what}.{name}"),
                value: value.scalar()?.to_owned().into(),
                line: value.line,
            })
        })
        .collect();
    let all = environment(&pairs);
    read.found.extend(all.found);
    read.unread.extend(all.unread);
    // Laravel's variables have no front.
    let bare: Vec<Pair> = pairs
        .iter()
        .map(|pair| Pair { key: pair.key.rsplit('.').next().unwrap_or_default().to_owned(), ..pair.clone() })
        .collect();
    read.found.extend(environment(&bare).found.into_iter().filter(|found| found.style == Style::Env));
}

fn of_map(keys: &[&str], node: &Node, read: &mut Read) {
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
    // Variables as a map.
    if matches!(keys.last(), Some(last) if ENVIRONMENTS.contains(last)) {
        let front = keys.join(".");
        read.set_beside.extend(node.entries().iter().map(|entry| (entry.key.clone(), entry.line)));
        let pairs: Vec<Pair> = node
            .entries()
            .iter()
            .filter_map(|entry| {
                let value = entry.node.scalar()?;
                Some(Pair { key: entry.key.clone(), value: value.to_owned().into(), line: entry.line })
            })
            .collect();
        let all = environment(&pairs);
        for mut found in all.found {
            if found.style != Style::Env {
                found.what = format!("{front}.{}", found.what);
            }
            read.found.push(found);
        }
        read.unread.extend(all.unread);
    }
}
