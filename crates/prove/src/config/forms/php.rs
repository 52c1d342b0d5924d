//! PHP: PDO, mysqli, Laravel's `config/database.php`, WordPress' `wp-config.php`.

use formats::settings::code::{self, Language, Source};
use formats::settings::{Entry, Node, Value};

use super::{Form, ends};
use crate::config::nodes::{Meaning, Meant, args, changed, flatten, look_up, name};
use crate::config::{Driver, Found, Given, Read, Setting, SettingsError, Style, urls};

pub(super) const PHP: Form =
    Form { id: "php", name: "a file of PHP", fits: |name| ends(name, &[".php", ".inc", ".phtml"]), read };

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let source = code::read(bytes, Language::Php)?;
    let mut read = Read::default();
    for call in &source.calls {
        match name(call) {
            "PDO" | "Pdo\\Mysql" | "PDO::connect" => read.found.extend(of_pdo(call, &source)),
            "mysqli" | "mysqli_connect" => {
                read.found.push(of_mysqli(call, args(call).first(), None, None, &source));
            }
            function if function.ends_with("->real_connect") => {
                let object = function.trim_end_matches("->real_connect").to_owned();
                read.found.push(of_mysqli(
                    call,
                    args(call).first(),
                    args(call).get(6),
                    Some(&object),
                    &source,
                ));
            }
            "mysqli_real_connect" => {
                let object = args(call).first().map(name).unwrap_or_default().to_owned();
                read.found.push(of_mysqli(
                    call,
                    args(call).get(1),
                    args(call).get(7),
                    Some(&object),
                    &source,
                ));
            }
            _ => {}
        }
    }
    let trees = (source.loose.iter().chain(&source.calls).map(|tree| (tree, None)))
        .chain(source.assigned.iter().map(|entry| (&entry.node, changed(&source, &entry.key))));
    for (tree, change) in trees {
        tree.walk(&mut |keys, node| {
            let is_laravel = matches!(node.get("driver").and_then(Node::text), Some("mysql" | "mariadb"));
            if is_laravel && read.found.iter().all(|known| known.line != node.line) {
                let mut found = of_laravel(&keys.join("."), node, &source);
                found.settings.extend(change.clone());
                read.found.push(found);
            }
        });
    }
    read.found.extend(of_wordpress(&source));
    for text in &source.texts {
        if let Some(found) = text.text().and_then(|words| urls::found(words, text.line, "a text"))
            && found.style != Style::Php
            && read.found.iter().all(|known| known.line != found.line)
        {
            read.found.push(found);
        }
    }
    Ok(read)
}

/// How often options may stand for others.
const STEPS_MAX: usize = 8;

/// The name of an attribute of PDO, whichever of its two classes it is written with.
fn attribute(key: &str) -> Option<String> {
    let key = key.trim_start_matches('\\');
    let name = key.strip_prefix("PDO::").or_else(|| key.strip_prefix("Pdo\\Mysql::"))?;
    Some(if name.starts_with("MYSQL_") { name.to_owned() } else { format!("MYSQL_{name}") })
}

fn of_pdo(call: &Node, source: &Source) -> Option<Found> {
    let first = args(call).first()?;
    let dsn = match &first.value {
        Value::Name(name) => look_up(source, name)?,
        _ => first.clone(),
    };
    let found = urls::found(dsn.text()?, call.line, "new PDO()")?;
    let mut settings = Vec::new();
    if let Some(options) = args(call).get(3) {
        attributes(options, source, &mut settings);
    }
    settings.extend(found.settings);
    Some(Found { settings, ..found })
}

fn attributes(options: &Node, source: &Source, all: &mut Vec<Setting>) {
    let meaning = Php { source };
    let mut options = options.clone();
    // A name, a call around it, a name in that: no further, since names may lead in a circle.
    for _ in 0..STEPS_MAX {
        let line = options.line;
        let next = match &options.value {
            Value::Map(entries) => {
                for Entry { key, node, .. } in entries {
                    if let Some(name) = attribute(key) {
                        flatten(&name, node, &meaning, all);
                    }
                }
                return;
            }
            Value::List(_) | Value::Null => return,
            Value::Name(name) => match look_up(source, name) {
                Some(node) => node,
                None => {
                    return all.push(unread(
                        "ssl",
                        line,
                        &format!("nothing in this file says what {name} is"),
                    ));
                }
            },
            // Laravel takes out what is empty.
            Value::Call { name, args, .. } if name == "array_filter" || name == "array" => match args.first()
            {
                Some(inner) => inner.clone(),
                None => return,
            },
            _ => break,
        };
        options = next;
    }
    all.push(unread("ssl", options.line, "the options are code"));
}

fn unread(key: &str, line: usize, why: &str) -> Setting {
    Setting::new(key, Given::Unread(why.to_owned()), line)
}

fn of_mysqli(
    call: &Node,
    host: Option<&Node>,
    flags: Option<&Node>,
    object: Option<&str>,
    source: &Source,
) -> Found {
    let meaning = Php { source };
    let mut settings = Vec::new();
    let is_ours = |other: &Node, method: &str, function: &str| {
        object.is_some_and(|object| {
            name(other) == format!("{object}->{method}")
                || (name(other) == function && args(other).first().map(name) == Some(object))
        })
    };
    for other in source.calls.iter().filter(|other| is_ours(other, "ssl_set", "mysqli_ssl_set")) {
        let shift = usize::from(name(other) == "mysqli_ssl_set");
        if let Some(ca) = args(other).get(2 + shift) {
            flatten("ssl_set", ca, &meaning, &mut settings);
        }
        if args(other).get(3 + shift).is_some_and(|capath| capath.value != Value::Null) {
            settings.push(unread("ssl_set_capath", other.line, "a directory of CAs was not measured"));
        }
    }
    for other in source.calls.iter().filter(|other| is_ours(other, "options", "mysqli_options")) {
        let shift = usize::from(name(other) == "mysqli_options");
        if let (Some(Value::Name(option)), Some(value)) =
            (args(other).get(shift).map(|node| &node.value), args(other).get(1 + shift))
        {
            flatten(option, value, &meaning, &mut settings);
        }
    }
    match flags.map(|node| (&node.value, node.line)) {
        Some((Value::Name(names), line)) => settings.extend(self::flags(names, line)),
        Some((Value::Number(_) | Value::Null, _)) | None => {}
        Some((_, line)) => settings.push(unread("ssl flags", line, "the flags are code")),
    }
    Found {
        line: call.line,
        what: format!("{}()", name(call)),
        driver: Driver::Family("php-mysqli"),
        host: host.and_then(Node::text).unwrap_or_default().replace(formats::settings::HOLE, "…"),
        settings,
        style: Style::Php,
        front: None,
    }
}

fn flags(names: &str, line: usize) -> Vec<Setting> {
    names
        .split('|')
        .filter(|name| name.contains("SSL") || name.starts_with('$'))
        .map(|name| match name {
            "MYSQLI_CLIENT_SSL" | "MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT" => {
                Setting::new(name, Given::Flag(true), line)
            }
            other => unread("ssl flags", line, &format!("it is not known what {other} is")),
        })
        .collect()
}

fn of_laravel(what: &str, node: &Node, source: &Source) -> Found {
    let mut settings = Vec::new();
    if let Some(options) = node.get("options") {
        attributes(options, source, &mut settings);
    }
    if let Some(socket) = node.get("unix_socket") {
        flatten("unix_socket", socket, &Php { source }, &mut settings);
        // As the framework writes it: `env('DB_SOCKET', '')`, which is empty where nobody says otherwise.
        settings.retain(|setting| setting.key != "unix_socket" || !matches!(setting.given, Given::Unread(_)));
    }
    let host = node.get("host").and_then(Node::text).unwrap_or_default().to_owned();
    Found {
        line: node.line,
        what: what.to_owned(),
        driver: Driver::Family("php-pdo"),
        host,
        settings,
        style: Style::Php,
        front: None,
    }
}

/// `define('DB_HOST', …)` and `define('MYSQL_CLIENT_FLAGS', …)`.
fn of_wordpress(source: &Source) -> Option<Found> {
    let defined = |wanted: &str| {
        source
            .calls
            .iter()
            .find(|call| name(call) == "define" && args(call).first().and_then(Node::text) == Some(wanted))
    };
    let host = defined("DB_HOST")?;
    defined("DB_NAME")?;
    let settings = match defined("MYSQL_CLIENT_FLAGS").and_then(|call| args(call).get(1)) {
        Some(Node { value: Value::Name(names), line }) => flags(names, *line),
        Some(node) => vec![unread("ssl flags", node.line, "the flags are code")],
        None => vec![],
    };
    Some(Found {
        line: host.line,
        what: "DB_HOST (WordPress)".into(),
        driver: Driver::Family("php-mysqli"),
        host: args(host).get(1).and_then(Node::text).unwrap_or_default().to_owned(),
        settings,
        style: Style::Php,
        front: None,
    })
}

struct Php<'a> {
    source: &'a Source,
}

impl Meaning for Php<'_> {
    fn number(&self, text: &str) -> Given {
        Given::Text(text.to_owned())
    }

    fn of(&self, _: &str, node: &Node) -> Meant {
        match &node.value {
            Value::Name(name) => match look_up(self.source, name) {
                Some(node) => Meant::Node(node),
                None => Meant::Given(Given::Unread(format!("nothing in this file says what {name} is"))),
            },
            Value::Call { name, args, .. } if matches!(name.as_str(), "env" | "getenv") => {
                let variable = args.first().and_then(Node::text).unwrap_or("a variable");
                Meant::Given(Given::Unread(format!(
                    "it is taken from the environment: {variable}; look at .env"
                )))
            }
            Value::Call { name, args, .. } if name == "base_path" || name == "storage_path" => {
                match args.first() {
                    Some(path) => Meant::Node(path.clone()),
                    None => Meant::Given(Given::Content),
                }
            }
            Value::Call { name, .. } => Meant::Given(Given::Unread(format!("it is what {name}() returns"))),
            _ => Meant::Given(Given::Unread("its value is code".into())),
        }
    }
}
