//! JavaScript, TypeScript and JSON: calls of Node's three drivers, and the settings of Sequelize and Knex.

use formats::settings::code::{self, Language, Source};
use formats::settings::{Node, Value};

use super::{Form, ends};
use crate::config::nodes::{Meaning, Meant, args, changed, flatten, look_up, name, text_of};
use crate::config::{Driver, Found, Given, Read, SettingsError, Style, urls};

pub(super) const JSON: Form = Form {
    id: "json",
    name: "a JSON file",
    fits: |name| ends(name, &[".json", ".json5", ".jsonc"]),
    read: |bytes| read(bytes, Style::Json),
};

pub(super) const JAVASCRIPT: Form = Form {
    id: "javascript",
    name: "a file of JavaScript",
    fits: |name| ends(name, &[".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"]),
    read: |bytes| read(bytes, Style::JavaScript),
};

/// What a module is called, and the driver that it is.
const MODULES: [(&str, &str); 4] = [
    ("mysql2", "node-mysql2"),
    ("mysql", "node-mysql"),
    ("promise-mysql", "node-mysql"),
    ("mariadb", "node-mariadb"),
];

fn family_of_module(module: &str) -> Option<&'static str> {
    let module = module.split('/').next().unwrap_or_default();
    MODULES.iter().find(|(known, _)| *known == module).map(|(_, family)| *family)
}

fn read(bytes: &[u8], style: Style) -> Result<Read, SettingsError> {
    let source = code::read(bytes, Language::JavaScript)?;
    let modules = modules(&source);
    let mut read = Read::default();
    let mut told = Vec::new();
    for call in &source.calls {
        let function = name(call).rsplit('.').next().unwrap_or_default();
        if matches!(function, "createConnection" | "createPool" | "createPoolCluster") {
            let driver = driver_of_call(name(call), &modules);
            if let (Some(driver), Some(first)) = (driver, args(call).first()) {
                told.push(first.line);
                read.found.push(of_argument(driver, call, first, &source, style));
            }
        }
    }
    let trees = (source.loose.iter().chain(&source.calls).map(|tree| (tree, None)))
        .chain(source.assigned.iter().map(|entry| (&entry.node, changed(&source, &entry.key))));
    for (tree, change) in trees {
        tree.walk(&mut |keys, node| {
            if let Some(mut found) = of_object(&keys.join("."), node, &source, style)
                && read.found.iter().all(|known| known.line != found.line)
            {
                told.extend(found.settings.iter().map(|setting| setting.line));
                found.settings.extend(change.clone());
                read.found.push(found);
            }
        });
    }
    let is_known = |line: usize| told.contains(&line);
    for text in source.texts.iter().filter(|text| !is_known(text.line)) {
        let Some(mut found) = text.text().and_then(|words| urls::found(words, text.line, "a text")) else {
            continue;
        };
        if let (Driver::Unknown { .. }, [(_, family)]) = (&found.driver, modules.as_slice()) {
            found.driver = Driver::Family(family);
        }
        if read.found.iter().all(|known| known.line != found.line) {
            read.found.push(found);
        }
    }
    Ok(read)
}

/// The drivers that a file requires or imports, each with its name.
fn modules(source: &Source) -> Vec<(String, &'static str)> {
    let mut all: Vec<(String, &'static str)> = Vec::new();
    for text in source.texts.iter().filter_map(Node::text) {
        if let Some(family) = family_of_module(text)
            && matches!(
                text,
                "mysql" | "mysql2" | "mysql2/promise" | "mariadb" | "mariadb/callback" | "promise-mysql"
            )
            && all.iter().all(|(_, known)| *known != family)
        {
            all.push((text.to_owned(), family));
        }
    }
    all
}

fn driver_of_call(name: &str, modules: &[(String, &'static str)]) -> Option<Driver> {
    let object = name.rsplit_once('.').map(|(object, _)| object);
    match modules {
        [(_, only)] => Some(Driver::Family(only)),
        // A file without a word of a driver creates pools of something else.
        [] => object.and_then(family_of_module).map(|_| Driver::Unknown {
            why: "nothing in this file says which module that is".into(),
            one_of: vec!["node-mysql2", "node-mysql", "node-mariadb"],
        }),
        _ => {
            let family = object.and_then(family_of_module).filter(|family| *family != "node-mysql");
            Some(family.map_or_else(
                || Driver::Unknown {
                    why: "the file has several drivers".into(),
                    one_of: modules.iter().map(|(_, family)| *family).collect(),
                },
                Driver::Family,
            ))
        }
    }
}

fn of_argument(driver: Driver, call: &Node, first: &Node, source: &Source, style: Style) -> Found {
    let node = match &first.value {
        Value::Name(name) => look_up(source, name).unwrap_or_else(|| first.clone()),
        _ => first.clone(),
    };
    if let Some(found) = node.text().and_then(|text| urls::found(text, node.line, name(call))) {
        return Found { driver, ..found };
    }
    let mut settings = Vec::new();
    flatten("", &node, &Js { source }, &mut settings);
    for setting in &mut settings {
        setting.key = setting.key.trim_start_matches('.').to_owned();
        // The whole argument is unread: its TLS may be anything.
        if setting.key.is_empty() {
            setting.key = "ssl".into();
        }
    }
    Found {
        line: first.line,
        what: name(call).to_owned(),
        driver,
        host: text_of(&node, "host"),
        settings,
        style,
        front: None,
    }
}

/// Sequelize's `dialect`, Knex' `client`.
fn of_object(what: &str, node: &Node, source: &Source, style: Style) -> Option<Found> {
    if !matches!(node.value, Value::Map(_)) {
        return None;
    }
    let (family, inner) =
        match (node.get("dialect").and_then(Node::text), node.get("client").and_then(Node::text)) {
            (Some("mysql"), _) => ("node-mysql2", node.get("dialectOptions").cloned()),
            (Some("mariadb"), _) => ("node-mariadb", node.get("dialectOptions").cloned()),
            (_, Some("mysql2")) => ("node-mysql2", Some(node.get("connection")?.clone())),
            (_, Some("mysql")) => ("node-mysql", Some(node.get("connection")?.clone())),
            _ => return None,
        };
    let inner = match inner {
        Some(Node { value: Value::Name(name), line }) => {
            Some(look_up(source, &name).unwrap_or(Node { value: Value::Name(name), line }))
        }
        other => other,
    };
    if let Some(node) = &inner
        && let Some(found) = node.text().and_then(|text| urls::found(text, node.line, what))
    {
        return Some(Found { driver: Driver::Family(family), ..found });
    }
    let mut settings = Vec::new();
    if let Some(inner) = &inner {
        match &inner.value {
            Value::Map(entries) => {
                for entry in entries {
                    flatten(&entry.key, &entry.node, &Js { source }, &mut settings);
                }
            }
            _ => flatten("ssl", inner, &Js { source }, &mut settings),
        }
    }
    let host = text_of(node, "host");
    let host = if host.is_empty() {
        inner.as_ref().map_or_else(String::new, |node| text_of(node, "host"))
    } else {
        host
    };
    let what = if what.is_empty() { "an object".to_owned() } else { what.to_owned() };
    Some(Found { line: node.line, what, driver: Driver::Family(family), host, settings, style, front: None })
}

struct Js<'a> {
    source: &'a Source,
}

impl Meaning for Js<'_> {
    fn of(&self, _: &str, node: &Node) -> Meant {
        match &node.value {
            Value::Name(name) if name.starts_with("process.env") => {
                Meant::Given(Given::Unread(format!("it is taken from {name}")))
            }
            Value::Name(name) => match look_up(self.source, name) {
                Some(node) => Meant::Node(node),
                None => Meant::Given(Given::Unread(format!("nothing in this file says what {name} is"))),
            },
            // `readFileSync(…).toString()` is an expression, and stays unread where the file does not end it there.
            Value::Call { name, .. } if name.ends_with("readFileSync") || name.ends_with("readFile") => {
                Meant::Given(Given::Content)
            }
            Value::Call { name, .. } => Meant::Given(Given::Unread(format!("it is what {name}() returns"))),
            _ => Meant::Given(Given::Unread("its value is code".into())),
        }
    }
}
