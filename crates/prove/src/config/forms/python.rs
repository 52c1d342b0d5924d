//! Python: Django's `DATABASES`, calls of the five drivers, SQLAlchemy's engines.

use formats::settings::code::{self, Language, Source};
use formats::settings::{Entry, Node, Value};

use super::{Form, ends};
use crate::config::nodes::{Meaning, Meant, args, changed, flatten, look_up, name, named, text_of};
use crate::config::{Driver, Found, Given, Read, Setting, SettingsError, Style, Unread, urls};

pub(super) const PYTHON: Form =
    Form { id: "python", name: "a file of Python", fits: |name| ends(name, &[".py", ".pyi"]), read };

const CALLS: [(&str, &str); 13] = [
    ("pymysql.connect", "pymysql"),
    ("pymysql.Connection", "pymysql"),
    ("pymysql.connections.Connection", "pymysql"),
    ("MySQLdb.connect", "mysqlclient"),
    ("MySQLdb.Connection", "mysqlclient"),
    ("mysql.connector.connect", "mysql-connector-python"),
    ("mysql.connector.aio.connect", "mysql-connector-python"),
    ("mysql.connector.pooling.MySQLConnectionPool", "mysql-connector-python"),
    ("mysql.connector.MySQLConnection", "mysql-connector-python"),
    ("aiomysql.connect", "aiomysql"),
    ("aiomysql.create_pool", "aiomysql"),
    ("asyncmy.connect", "asyncmy"),
    ("asyncmy.create_pool", "asyncmy"),
];

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let source = code::read(bytes, Language::Python)?;
    let meaning = Python { source: &source, in_context: false.into() };
    let mut read = Read::default();
    for call in &source.calls {
        if let Some((_, family)) = CALLS.iter().find(|(known, _)| *known == name(call)) {
            let words = named(call);
            let mut settings = Vec::new();
            flatten_all(words.entries(), &meaning, &mut settings);
            read.found.push(Found {
                line: call.line,
                what: format!("{}()", name(call)),
                driver: Driver::Family(family),
                host: text_of(&words, "host"),
                settings,
                style: Style::Python,
                front: None,
            });
        } else if matches!(name(call).rsplit('.').next(), Some("create_engine" | "create_async_engine")) {
            read.found.extend(of_engine(call, &meaning));
        }
    }
    django(&meaning, &mut read);
    for text in &source.texts {
        if let Some(found) = text.text().and_then(|words| urls::found(words, text.line, "a text"))
            && read.found.iter().all(|known| known.line != found.line)
        {
            read.found.push(Found { what: assigned_at(&source, text.line).unwrap_or(found.what), ..found });
        }
    }
    Ok(read)
}

fn assigned_at(source: &Source, line: usize) -> Option<String> {
    source.assigned.iter().find(|entry| entry.node.line == line).map(|entry| entry.key.clone())
}

fn flatten_all(entries: &[Entry], meaning: &Python<'_>, all: &mut Vec<Setting>) {
    for entry in entries {
        flatten(&entry.key, &entry.node, meaning, all);
    }
}

/// `create_engine(URL, connect_args={…})`: what the driver is told besides the URL.
fn of_engine(call: &Node, meaning: &Python<'_>) -> Option<Found> {
    let first = args(call).first()?;
    let url = match &first.value {
        Value::Name(name) => look_up(meaning.source, name)?,
        _ => first.clone(),
    };
    let mut found = urls::found(url.text()?, url.line, &format!("{}()", name(call)))?;
    let words = named(call);
    if let Some(told) = words.get("connect_args") {
        match &told.value {
            Value::Map(entries) => flatten_all(entries, meaning, &mut found.settings),
            _ => flatten("...", told, meaning, &mut found.settings),
        }
    }
    Some(found)
}

fn django(meaning: &Python<'_>, read: &mut Read) {
    let source = meaning.source;
    // PyMySQL under the other's name is a line of code, in a file that may be another one.
    let is_pymysql = source.calls.iter().any(|call| name(call) == "pymysql.install_as_MySQLdb");
    for databases in source.assigned.iter().filter(|entry| entry.key == "DATABASES") {
        for alias in databases.node.entries() {
            let node = &alias.node;
            let what = format!("DATABASES.{}", alias.key);
            let Some(engine) = node.get("ENGINE").and_then(Node::text) else {
                if !matches!(node.value, Value::Map(_)) {
                    read.unread.push(Unread { line: node.line, why: format!("{what}: its value is code") });
                }
                continue;
            };
            let family = match engine {
                "mysql.connector.django" => "mysql-connector-python",
                _ if !engine.contains("mysql") => continue,
                _ if is_pymysql => "pymysql",
                _ => "mysqlclient",
            };
            let mut settings = Vec::new();
            if let Some(options) = node.get("OPTIONS") {
                match &options.value {
                    Value::Map(entries) => flatten_all(entries, meaning, &mut settings),
                    _ => flatten("...", options, meaning, &mut settings),
                }
            }
            settings.extend(changed(source, "DATABASES"));
            read.found.push(Found {
                line: alias.line,
                what,
                driver: Driver::Family(family),
                host: text_of(node, "HOST"),
                settings,
                style: Style::PythonDict,
                front: None,
            });
        }
        if databases.node.entries().is_empty() && !matches!(databases.node.value, Value::Map(_)) {
            read.unread.push(Unread { line: databases.line, why: "DATABASES: its value is code".into() });
        }
    }
}

struct Python<'a> {
    source: &'a Source,
    /// A context is being looked at: what it is made of is no context.
    in_context: std::cell::Cell<bool>,
}

impl Meaning for Python<'_> {
    fn of(&self, key: &str, node: &Node) -> Meant {
        let unread = |why: String| Meant::Given(Given::Unread(why));
        match &node.value {
            Value::Name(name) => {
                if let Some(constant) = name.strip_prefix("ssl.").filter(|name| name.starts_with("CERT_")) {
                    return Meant::Given(Given::Text(constant.into()));
                }
                let Some(found) = look_up(self.source, name) else {
                    return unread(format!("nothing in this file says, once and for all, what {name} is"));
                };
                // A context may be changed after it is made: by its name.
                match self.context(key, &found, Some(name)) {
                    Some(settings) => Meant::Settings(settings),
                    None => Meant::Node(found),
                }
            }
            Value::Call { name: call, named, args } => {
                if let Some(settings) = self.context(key, node, None) {
                    return Meant::Settings(settings);
                }
                // `dict(a=1)` is `{"a": 1}`; `Path("/ca")` and `str("/ca")` are their text.
                match (call.as_str(), args.as_slice()) {
                    ("dict", []) => Meant::Node(Node::new(node.line, Value::Map(named.clone()))),
                    ("str" | "Path" | "pathlib.Path", [only]) => Meant::Node(only.clone()),
                    _ => unread(format!("it is what {call}() returns")),
                }
            }
            _ => unread("its value is code".into()),
        }
    }
}

impl Python<'_> {
    fn context(&self, key: &str, node: &Node, known_as: Option<&str>) -> Option<Vec<Setting>> {
        // `a` made of `b`, and `b` of `a`.
        if self.in_context.replace(true) {
            return None;
        }
        let settings = self.context_once(key, node, known_as);
        self.in_context.set(false);
        settings
    }

    /// The settings of a context of the standard library, as drivers know it: what it is made of, and what is changed later.
    fn context_once(&self, key: &str, node: &Node, known_as: Option<&str>) -> Option<Vec<Setting>> {
        let made = match name(node) {
            "ssl.create_default_context" => true,
            "ssl._create_unverified_context" => false,
            _ => return None,
        };
        let mut all = vec![Setting::new(key, Given::Text("create_default_context".into()), node.line)];
        for entry in named(node).entries() {
            if matches!(entry.key.as_str(), "cafile" | "capath" | "cadata") {
                flatten(&format!("{key}.{}", entry.key), &entry.node, self, &mut all);
            }
        }
        if !made {
            all.push(Setting::new(format!("{key}.check_hostname"), Given::Flag(false), node.line));
            all.push(Setting::new(format!("{key}.verify_mode"), Given::Text("CERT_NONE".into()), node.line));
        }
        let Some(known_as) = known_as else { return Some(all) };
        for attribute in ["check_hostname", "verify_mode"] {
            let full = format!("{known_as}.{attribute}");
            let changes: Vec<&Entry> =
                self.source.assigned.iter().filter(|entry| entry.key == full).collect();
            let setting = |given: Given, line: usize| Setting::new(format!("{key}.{attribute}"), given, line);
            match changes.as_slice() {
                [] => {}
                [one] => match &one.node.value {
                    // As it is made already.
                    Value::Bool(true) => {}
                    Value::Name(name) if name == "ssl.CERT_REQUIRED" => {}
                    Value::Bool(false) => all.push(setting(Given::Flag(false), one.line)),
                    Value::Name(name) if name.starts_with("ssl.CERT_") => {
                        all.push(setting(Given::Text(name.trim_start_matches("ssl.").into()), one.line));
                    }
                    _ => all.push(setting(Given::Unread("its value is code".into()), one.line)),
                },
                [first, ..] => {
                    all.push(setting(Given::Unread("it is set more than once".into()), first.line));
                }
            }
        }
        let loads = format!("{known_as}.load_verify_locations");
        if let Some(call) = self.source.calls.iter().find(|call| name(call) == loads) {
            match (args(call).first(), named(call).entries().first()) {
                (Some(file), _) => flatten(&format!("{key}.cafile"), file, self, &mut all),
                (None, Some(entry)) => flatten(&format!("{key}.{}", entry.key), &entry.node, self, &mut all),
                (None, None) => {}
            }
        }
        Some(all)
    }
}
