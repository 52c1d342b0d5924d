//! Python: Django's `DATABASES`, calls of the five drivers, SQLAlchemy's engines.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use formats::settings::code::{self, Import, Language, Source, Use, Variables};
use formats::settings::{Entry, Node, Value};

use super::{Form, ends, loose};
use crate::config::effects;
use crate::config::nodes::{
    Meaning, ResolvedNode, args, entries, flatten, followed, layer, meant, name, options, text_of, words,
};
use crate::config::{
    ConnectionSettings, Driver, Read, Setting, SettingValue, SettingsError, Style, Unread, is_about_tls,
    obstacle, urls, without_host,
};

pub(super) const PYTHON: Form =
    Form { id: "python", name: "a file of Python", fits: |name| ends(name, &[".py", ".pyi"]), read };

/// A function of a driver, whose it is, and how many values without a name it may have, none of which is about TLS.
const CALLS: [(&str, &str, usize); 17] = [
    ("pymysql.connect", "pymysql", 0),
    ("pymysql.Connect", "pymysql", 0),
    ("pymysql.Connection", "pymysql", 0),
    ("pymysql.connections.Connection", "pymysql", 0),
    ("MySQLdb.connect", "mysqlclient", 4),
    ("MySQLdb.Connect", "mysqlclient", 4),
    ("MySQLdb.Connection", "mysqlclient", 4),
    ("MySQLdb.connections.Connection", "mysqlclient", 4),
    ("mysql.connector.connect", "mysql-connector-python", 0),
    ("mysql.connector.aio.connect", "mysql-connector-python", 0),
    ("mysql.connector.pooling.MySQLConnectionPool", "mysql-connector-python", 0),
    ("mysql.connector.MySQLConnection", "mysql-connector-python", 0),
    ("mysql.connector.connection.MySQLConnection", "mysql-connector-python", 0),
    ("aiomysql.connect", "aiomysql", 4),
    ("aiomysql.create_pool", "aiomysql", 0),
    ("asyncmy.connect", "asyncmy", 0),
    ("asyncmy.create_pool", "asyncmy", 0),
];

struct File<'a> {
    source: &'a Source,
    imports: Vec<Import>,
    /// What the first word of a function's name stands for, which is the same for all its calls.
    fronts: RefCell<HashMap<String, Option<String>>>,
}

fn read(bytes: &[u8], variables: &Variables) -> Result<Read, SettingsError> {
    let source = code::read_in(bytes, Language::Python, variables)?;
    let file = File { imports: source.imports(), source: &source, fronts: RefCell::default() };
    let is_made = |call: &Node| file.connects(name(call));
    let doubt = source
        .doubt
        .as_ref()
        .map(|why| (why.line, why.text.clone()))
        .or_else(|| effects::of_python(&source, &file.imports, &effects::objects(&source, &is_made)));
    let mut read = Read { doubt, ..Read::default() };
    let mut told = HashSet::new();
    let stars = source.star_imports();
    for (index, call) in source.calls.iter().enumerate() {
        if read.found.len() > crate::config::CONNECTIONS_MAX {
            break;
        }
        let before = read.found.len();
        let full = file.full_name(name(call));
        if let Some((_, family, places)) = CALLS.iter().find(|(known, ..)| Some(*known) == full.as_deref()) {
            let meaning =
                Python { source: &source, call: Some(index), file: &file, in_context: false.into() };
            told.insert(call.line);
            let mut settings = Vec::new();
            if args(call).len() > *places {
                settings.push(obstacle(call.line, "it is given values without a name"));
            }
            entries(words(call), &meaning, &mut settings);
            of_class(full.as_deref().unwrap_or_default(), call.line, &mut settings);
            let mut found = ConnectionSettings {
                line: call.line,
                what: format!("{}()", name(call)),
                driver: Driver::Family(family),
                host: text_of(&Node::new(call.line, Value::Map(words(call).to_vec())), "host"),
                settings,
                style: Style::Python,
                front: None,
            };
            if args(call).is_empty() && words(call).iter().all(|entry| entry.key != "host") {
                without_host(&mut found);
            }
            read.found.push(found);
        } else if full.as_deref().is_some_and(|full| connects_by_itself(full, call)) {
            let why = format!("what {}() connects with is not read", name(call));
            read.unread.push(Unread { line: call.line, why });
        } else if full.is_none() && file.may_be_driver(name(call)) {
            let why = format!("what {}() is depends on which module is loaded", name(call));
            read.unread.push(Unread { line: call.line, why });
        } else if matches!(name(call).rsplit('.').next(), Some("create_engine" | "create_async_engine")) {
            let meaning =
                Python { source: &source, call: Some(index), file: &file, in_context: false.into() };
            of_engine(call, &meaning, &mut read, &mut told);
            if !full.as_deref().is_some_and(is_of_sqlalchemy) {
                let why = format!("whether {} is SQLAlchemy's is not in this file", name(call));
                read.found.iter_mut().skip(before).for_each(|found| {
                    found.settings.push(obstacle(call.line, &why));
                });
            }
        }
        if let Some((_, line)) = stars.iter().find(|(module, _)| !effects::is_known_to_python(module)) {
            for found in read.found.iter_mut().skip(before) {
                found.settings.push(obstacle(*line, "all names of another file are taken there"));
            }
        }
    }
    django(&file, bytes, &mut read);
    file.hidden(&mut read);
    let before = read.found.len();
    loose::add(&source, bytes, &told, None, &mut read);
    // What Flask and others give an engine besides stands under names of their own.
    let besides = source
        .assigned
        .iter()
        .find(|entry| entry.key.ends_with("ENGINE_OPTIONS") || entry.key.ends_with("connect_args"))
        .map(|entry| entry.line);
    if let Some(line) = besides {
        for found in read.found.iter_mut().skip(before) {
            found.settings.push(obstacle(line, &format!("what line {line} says besides is not read")));
        }
    }
    // Somebody puts something of their own in place of a function.
    let is_patch = |entry: &&Entry| {
        let root = entry.key.split('.').next().unwrap_or_default();
        entry.key.contains('.')
            && (root == "ssl" || CALLS.iter().any(|(known, ..)| known.split('.').next() == Some(root)))
    };
    if let Some(line) = source.assigned.iter().find(is_patch).map(|entry| entry.line) {
        for found in &mut read.found {
            found.settings.push(obstacle(line, &format!("line {line} changes a module itself")));
        }
    }
    Ok(read)
}

/// Whether a function is SQLAlchemy's, or of what hands its words on as they are.
fn is_of_sqlalchemy(full: &str) -> bool {
    // Without an import the name is nobody's, and nothing connects.
    matches!(full, "create_engine" | "create_async_engine")
        || ["sqlalchemy.", "sqlmodel."].iter().any(|front| full.starts_with(front))
}

/// What the name of a class decides: of mysql-connector-python it says which of its two builds connects.
fn of_class(full: &str, line: usize, settings: &mut Vec<Setting>) {
    const SWITCH: &str = "use_pure";
    match full {
        "mysql.connector.MySQLConnection" | "mysql.connector.connection.MySQLConnection" => {
            if settings.iter().any(|setting| setting.key == SWITCH) {
                settings.push(obstacle(line, "use_pure is no word of this class"));
            } else {
                settings.push(Setting::new(SWITCH, SettingValue::Flag(true), line));
            }
        }
        "mysql.connector.aio.connect" => {
            settings.push(obstacle(
                line,
                "the asynchronous connections of mysql-connector-python were not measured",
            ));
        }
        _ => {}
    }
}

/// A class of a library that is built on a driver: `MySQLDatabase("x", host=…)`.
fn connects_by_itself(full: &str, call: &Node) -> bool {
    let last = full.rsplit('.').next().unwrap_or_default();
    let is_class = last.starts_with(char::is_uppercase);
    let sounds = last.to_ascii_lowercase();
    let is_other =
        ["error", "warning", "cursor", "converter", "exception"].iter().any(|word| sounds.contains(word));
    let has_place =
        words(call).iter().any(|entry| matches!(entry.key.as_str(), "host" | "user" | "url" | "dsn" | "..."));
    is_class
        && (sounds.contains("mysql") || sounds.contains("maria"))
        && !is_other
        && (has_place || !args(call).is_empty())
}

impl File<'_> {
    /// The name of a function in the module that it comes from; `None` where the name stands for something else.
    fn full_name(&self, called: &str) -> Option<String> {
        let (root, rest) = called.split_once('.').map_or((called, ""), |(root, rest)| (root, rest));
        let known = self.fronts.borrow().get(root).cloned();
        let front = if let Some(front) = known {
            front
        } else {
            let front = self.front(root);
            self.fronts.borrow_mut().insert(root.to_owned(), front.clone());
            front
        }?;
        Some(if rest.is_empty() { front } else { format!("{front}.{rest}") })
    }

    /// Whether what this function returns connects, or is an engine.
    fn connects(&self, called: &str) -> bool {
        let last = called.rsplit('.').next().unwrap_or_default();
        matches!(last, "create_engine" | "create_async_engine")
            || self.full_name(called).is_some_and(|full| CALLS.iter().any(|(known, ..)| *known == full))
    }

    /// Its first word may stand for a driver, among others.
    fn may_be_driver(&self, called: &str) -> bool {
        let root = called.split('.').next().unwrap_or_default();
        let last = called.rsplit('.').next().unwrap_or_default();
        matches!(
            last,
            "connect" | "Connect" | "Connection" | "create_pool" | "MySQLConnectionPool" | "MySQLConnection"
        ) && self.imports.iter().any(|import| {
            import.name.split('.').next() == Some(root)
                && CALLS.iter().any(|(known, ..)| known.split('.').next() == import.module.split('.').next())
        })
    }

    fn front(&self, root: &str) -> Option<String> {
        let is_of_root = |import: &&Import| {
            import.name == root || (import.part.is_empty() && import.name.split('.').next() == Some(root))
        };
        let mut targets: Vec<String> = self
            .imports
            .iter()
            .filter(is_of_root)
            .map(|import| match (import.part.as_str(), import.name.contains('.')) {
                ("", true) => root.to_owned(),
                ("", false) => import.module.clone(),
                (part, _) => format!("{}.{part}", import.module),
            })
            .collect();
        targets.sort();
        targets.dedup();
        match targets.as_slice() {
            [] if !self.source.is_bound_otherwise(root) => Some(root.to_owned()),
            [only] if !self.source.is_bound_otherwise(root) => Some(only.clone()),
            _ => None,
        }
    }

    /// Places where a driver, or its function, is handed on: somebody else connects.
    fn hidden(&self, read: &mut Read) {
        const MODULES: [&str; 5] = ["pymysql", "MySQLdb", "mysql.connector", "aiomysql", "asyncmy"];
        let mut names: Vec<(String, &str)> = Vec::new();
        let mut loaded = None;
        for import in &self.imports {
            let full = if import.part.is_empty() {
                import.module.clone()
            } else {
                format!("{}.{}", import.module, import.part)
            };
            for module in MODULES {
                if full == module || full.starts_with(&format!("{module}.")) {
                    loaded.get_or_insert(import.line);
                    if full == module {
                        names.push((import.name.clone(), module));
                    }
                    if CALLS.iter().any(|(known, ..)| *known == full) {
                        names.push((import.name.clone(), module));
                    }
                }
            }
        }
        let calls = names.clone();
        for (name, _) in &calls {
            for function in ["connect", "Connect", "create_pool", "Connection", "pooling.MySQLConnectionPool"]
            {
                names.push((format!("{name}.{function}"), ""));
            }
        }
        for (name, _) in &names {
            if let Some(line) = self.source.handed_on(name) {
                read.unread.push(Unread {
                    line,
                    why: format!("{name} is handed on here: what connects with it is not read"),
                });
            }
        }
        let is_django = self.source.calls.iter().any(|call| name(call) == "pymysql.install_as_MySQLdb");
        if read.found.is_empty()
            && read.unread.is_empty()
            && !is_django
            && let Some(line) = loaded
        {
            read.unread
                .push(Unread { line, why: "it loads a driver, and no connection that can be read".into() });
        }
    }
}

/// `create_engine(URL, connect_args={…})`: what the driver is told besides the URL.
fn of_engine(call: &Node, meaning: &Python<'_>, read: &mut Read, told: &mut HashSet<usize>) {
    const HARMLESS: [&str; 24] = [
        "echo",
        "echo_pool",
        "future",
        "pool_pre_ping",
        "pool_recycle",
        "pool_size",
        "max_overflow",
        "pool_timeout",
        "poolclass",
        "pool_use_lifo",
        "isolation_level",
        "encoding",
        "convert_unicode",
        "execution_options",
        "hide_parameters",
        "logging_name",
        "pool_logging_name",
        "label_length",
        "json_serializer",
        "json_deserializer",
        "pool_reset_on_return",
        "query_cache_size",
        "insertmanyvalues_page_size",
        "enable_from_linting",
    ];
    told.insert(call.line);
    let first = args(call).first().or_else(|| {
        words(call)
            .iter()
            .find(|entry| entry.key == "url" || entry.key == "name_or_url")
            .map(|entry| &entry.node)
    });
    let Some(first) = first else {
        read.unread.push(Unread { line: call.line, why: "the URL of the engine is not in its call".into() });
        return;
    };
    let url = match followed(meaning.source, first) {
        Ok(url) => url,
        Err(why) => {
            return read
                .unread
                .push(Unread { line: why.line, why: format!("the URL of the engine: {}", why.text) });
        }
    };
    told.insert(url.line);
    let Some(text) = url.text() else {
        return read.unread.push(Unread { line: url.line, why: "the URL of the engine is code".into() });
    };
    let Some(mut found) = urls::found(text, url.line, &format!("{}()", name(call))) else {
        // Another database, by a scheme that is written here.
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let is_other = scheme.is_some_and(|scheme| {
            !scheme.contains(formats::settings::HOLE)
                && !scheme.contains("mysql")
                && !scheme.contains("maria")
        });
        if !is_other {
            read.unread.push(Unread { line: url.line, why: "the URL of the engine is not read".into() });
        }
        return;
    };
    found.line = call.line;
    for entry in words(call) {
        match entry.key.as_str() {
            "connect_args" => {
                let mut more = Vec::new();
                options(&entry.node, meaning, &mut more);
                layer(&mut found.settings, more);
            }
            "url" | "name_or_url" => {}
            key if HARMLESS.contains(&key) => {}
            "..." => found.settings.push(obstacle(entry.line, "what is handed on here is not read")),
            _ => found.settings.push(obstacle(entry.line, "this option of the engine may touch TLS")),
        }
    }
    if args(call).len() > 1 {
        found.settings.push(obstacle(call.line, "it is given values without a name"));
    }
    if let Some(text) = meaning.source.texts.iter().find(|text| text.text() == Some("do_connect")) {
        found.settings.push(obstacle(text.line, "a function changes what the driver is given (do_connect)"));
    }
    read.found.push(found);
}

/// What a file of Python does to the module that Django's engine loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MysqldbReplacement {
    /// It has no word of it.
    None,
    /// PyMySQL stands in its place, whatever happens.
    PyMysql,
    /// It has a word of it, under a condition or in a way that is not read.
    Unclear,
}

/// Whether the file puts PyMySQL in the place of `MySQLdb`.
pub(in crate::config) fn replacement(bytes: &[u8]) -> MysqldbReplacement {
    const CALL: &str = "pymysql.install_as_MySQLdb";
    let text = String::from_utf8_lossy(bytes);
    let may_be_by_hand = text.contains("MySQLdb") && text.contains("sys.modules");
    if !text.contains("install_as_MySQLdb") && !may_be_by_hand {
        return MysqldbReplacement::None;
    }
    let Ok(source) = code::read(bytes, Language::Python) else { return MysqldbReplacement::Unclear };
    // At the beginning of its line it is under no condition.
    let is_plain = |call: &Node| {
        let line = text.lines().nth(call.line.saturating_sub(1)).unwrap_or_default();
        name(call) == CALL && line.starts_with(CALL)
    };
    let is_plain_module = source
        .imports()
        .iter()
        .filter(|import| import.name == "pymysql")
        .all(|import| import.module == "pymysql" && import.part.is_empty());
    let is_told_once = text.matches("install_as_MySQLdb").count() == 1 && !text.contains("sys.modules");
    if source.doubt.is_none()
        && is_told_once
        && is_plain_module
        && !source.is_bound_otherwise("pymysql")
        && source.calls.iter().any(is_plain)
    {
        MysqldbReplacement::PyMysql
    } else {
        MysqldbReplacement::Unclear
    }
}

fn django(file: &File<'_>, bytes: &[u8], read: &mut Read) {
    let source = file.source;
    let meaning = Python { source, call: None, file, in_context: false.into() };
    // PyMySQL under the other's name is a line of code, in a file that may be another one.
    let is_pymysql = replacement(bytes) == MysqldbReplacement::PyMysql;
    let all: Vec<usize> = (0..source.assigned.len())
        .filter(|index| source.assigned.get(*index).is_some_and(|entry| entry.key == "DATABASES"))
        .collect();
    let has_any = !all.is_empty();
    // Where there are several, none of them counts alone.
    let first = all.first().and_then(|index| source.assigned.get(*index));
    let change = all.first().and_then(|index| source.may_differ(*index)).or_else(|| {
        let late = file.imports.iter().find(|import| {
            first.is_some_and(|first| import.line > first.line) && !leaves_settings_alone(&import.module)
        })?;
        let text = format!("what line {} loads may change DATABASES", late.line);
        Some(code::Why { line: late.line, text })
    });
    for databases in
        all.iter().take(crate::config::CONNECTIONS_MAX).filter_map(|index| source.assigned.get(*index))
    {
        for alias in databases.node.entries() {
            of_alias(alias, &meaning, is_pymysql, change.as_ref(), read);
        }
        if databases.node.entries().is_empty() {
            read.unread.push(Unread { line: databases.line, why: "DATABASES: its value is code".into() });
        }
    }
    if !has_any && let Some(line) = source.first_line_of("DATABASES") {
        read.unread.push(Unread { line, why: "DATABASES is set in another file, and used here".into() });
    }
}

/// How deep maps may be spread into maps.
const SPREADS_MAX: usize = 4;

/// A dictionary with what is spread in it in its place: of two values the last counts, and takes the place of the whole other one.
fn spread(source: &Source, node: &Node, steps: usize) -> Result<Vec<Entry>, code::Why> {
    let unread = |line: usize| code::Why { line, text: "its value is code".into() };
    let entries = match &node.value {
        Value::Map(entries) => entries,
        Value::Call { name, args, named } if name == "dict" && args.is_empty() => named,
        _ => return Err(unread(node.line)),
    };
    let mut all: Vec<Entry> = Vec::new();
    for entry in entries {
        if entry.key != "..." {
            all.retain(|known| known.key != entry.key);
            all.push(entry.clone());
            continue;
        }
        let inner = steps.checked_sub(1).ok_or_else(|| unread(entry.line))?;
        for more in spread(source, &followed(source, &entry.node)?, inner)? {
            all.retain(|known| known.key != more.key);
            all.push(more);
        }
        if all.len() > 64 {
            return Err(unread(entry.line));
        }
    }
    Ok(all)
}

/// Modules that people load in the middle of their settings, none of which changes them: a module of the project's own may.
fn leaves_settings_alone(module: &str) -> bool {
    const KNOWN: [&str; 40] = [
        "os",
        "sys",
        "re",
        "json",
        "ssl",
        "pathlib",
        "datetime",
        "logging",
        "socket",
        "warnings",
        "tempfile",
        "platform",
        "urllib",
        "copy",
        "random",
        "secrets",
        "string",
        "subprocess",
        "time",
        "typing",
        "hashlib",
        "base64",
        "collections",
        "django",
        "environ",
        "decouple",
        "dotenv",
        "dj_database_url",
        "pymysql",
        "MySQLdb",
        "sentry_sdk",
        "celery",
        "kombu",
        "corsheaders",
        "rest_framework",
        "structlog",
        "boto3",
        "botocore",
        "ldap",
        "django_auth_ldap",
    ];
    KNOWN.contains(&module.split('.').next().unwrap_or_default())
}

fn of_alias(
    alias: &Entry,
    meaning: &Python<'_>,
    is_pymysql: bool,
    change: Option<&code::Why>,
    read: &mut Read,
) {
    const HARMLESS: [&str; 13] = [
        "ENGINE",
        "NAME",
        "USER",
        "PASSWORD",
        "HOST",
        "PORT",
        "CONN_MAX_AGE",
        "CONN_HEALTH_CHECKS",
        "ATOMIC_REQUESTS",
        "AUTOCOMMIT",
        "TIME_ZONE",
        "TEST",
        "DISABLE_SERVER_SIDE_CURSORS",
    ];
    let what = format!("DATABASES.{}", alias.key);
    let node = match followed(meaning.source, &alias.node) {
        Ok(node) => node,
        Err(why) => return read.unread.push(Unread { line: why.line, why: format!("{what}: {}", why.text) }),
    };
    let node = match spread(meaning.source, &node, SPREADS_MAX) {
        Ok(entries) => Node::new(node.line, Value::Map(entries)),
        Err(why) => return read.unread.push(Unread { line: why.line, why: format!("{what}: {}", why.text) }),
    };
    let Some(engine) = node.get("ENGINE").and_then(Node::text) else {
        // `'default': {}` connects to nothing.
        if !matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
            read.unread.push(Unread { line: alias.line, why: format!("{what}: its value is code") });
        }
        return;
    };
    let mut settings = Vec::new();
    let is_connector = engine == "mysql.connector.django";
    let driver = match engine {
        _ if is_connector => Driver::Family("mysql-connector-python"),
        _ if !engine.contains("mysql")
            && !engine.contains("maria")
            && !engine.contains(formats::settings::HOLE) =>
        {
            return;
        }
        _ => {
            const KNOWN: [&str; 3] = [
                "django.db.backends.mysql",
                "django.contrib.gis.db.backends.mysql",
                "django_prometheus.db.backends.mysql",
            ];
            if !KNOWN.contains(&engine) {
                settings.push(obstacle(alias.line, "its ENGINE is none that is known here"));
            }
            if is_pymysql { Driver::Family("pymysql") } else { Driver::of_django() }
        }
    };
    for entry in node.entries() {
        match entry.key.as_str() {
            "OPTIONS" => {
                settings.retain(|setting| setting.key == "...");
                options(&entry.node, meaning, &mut settings);
                // Flags that the engine sets besides change what the C extension does with them, and nothing of the pure one.
                let is_pure = settings
                    .iter()
                    .any(|setting| setting.key == "use_pure" && setting.given == SettingValue::Flag(true));
                if is_connector && !is_pure && settings.iter().any(|setting| is_about_tls(&setting.key)) {
                    settings.push(obstacle(entry.line, "Django's engine of mysql-connector-python adds flags, with which it was not measured"));
                }
            }
            key if HARMLESS.contains(&key) => {}
            "..." => settings.push(obstacle(entry.line, "what is spread here is not read")),
            _ => settings.push(obstacle(entry.line, "this key of DATABASES is none of Django's own")),
        }
    }
    if let Some(why) = change {
        settings.push(obstacle(why.line, &why.text));
    }
    // Source: Django 5, db/backends/mysql/base.py, get_connection_params(): a path is the socket.
    let host = match node.get("HOST").map(|host| (host.text(), &host.value)) {
        None | Some((None, Value::Null)) => String::new(),
        Some((Some(path), _)) if path.starts_with('/') => {
            settings.push(Setting::new("unix_socket", SettingValue::Text(path.to_owned()), alias.line));
            String::new()
        }
        Some((Some(_), _)) => text_of(&node, "HOST"),
        Some((None, _)) => "…".to_owned(),
    };
    read.found.push(ConnectionSettings {
        line: alias.line,
        what,
        driver,
        host,
        settings,
        style: Style::PythonDict,
        front: None,
    });
}

struct Python<'a> {
    source: &'a Source,
    /// The call that is given it: what happens to an object behind it is too late.
    call: Option<usize>,
    file: &'a File<'a>,
    /// A context is being looked at: what it is made of is no context.
    in_context: std::cell::Cell<bool>,
}

/// What connects later too: to it, what is done to a context behind the call is not too late.
fn connects_later(called: &str) -> bool {
    let last = called.rsplit('.').next().unwrap_or_default();
    ["pool", "Pool", "engine"].iter().any(|word| last.ends_with(word))
}

impl Meaning for Python<'_> {
    fn of(&self, key: &str, node: &Node) -> ResolvedNode {
        match &node.value {
            Value::Name(name) => {
                if let Some(constant) = name.strip_prefix("ssl.").filter(|name| name.starts_with("CERT_")) {
                    return ResolvedNode::Value(SettingValue::Text(constant.into()));
                }
                // A context may be changed after it is made: by its name.
                match self.context_of_name(key, name) {
                    Some(settings) => ResolvedNode::Settings(settings),
                    None => meant(self.source, name),
                }
            }
            Value::Call { name: call, named, args } => {
                if let Some(settings) = self.context(key, node) {
                    return ResolvedNode::Settings(settings);
                }
                // `dict(a=1)` is `{"a": 1}`; `Path("/ca")` and `str("/ca")` are their text.
                match (call.as_str(), args.as_slice()) {
                    ("dict", []) => ResolvedNode::Node(Node::new(node.line, Value::Map(named.clone()))),
                    ("str" | "Path" | "pathlib.Path", [only]) if named.is_empty() => {
                        ResolvedNode::Node(only.clone())
                    }
                    _ => ResolvedNode::unread(format!("it is what {call}() returns")),
                }
            }
            _ => ResolvedNode::unread("its value is code"),
        }
    }
}

/// A context of TLS is written as settings of the key that it is given to: the word that made it, and what was changed.
const MADE: &str = "create_default_context";

impl Python<'_> {
    fn is_context(&self, node: &Node) -> Option<bool> {
        let Value::Call { name, .. } = &node.value else { return None };
        match self.file.full_name(name)?.as_str() {
            "ssl.create_default_context" => Some(true),
            "ssl._create_unverified_context" => Some(false),
            _ => None,
        }
    }

    /// What a context is made with.
    fn context(&self, key: &str, node: &Node) -> Option<Vec<Setting>> {
        let verifies = self.is_context(node)?;
        // `a` made of `b`, and `b` of `a`.
        if self.in_context.replace(true) {
            return None;
        }
        let mut all = vec![Setting::new(key, SettingValue::Text(MADE.into()), node.line)];
        let is_server =
            |arg: &Node| name(arg) == "ssl.Purpose.SERVER_AUTH" && matches!(arg.value, Value::Name(_));
        if args(node).iter().any(|arg| !is_server(arg)) {
            all.push(obstacle(node.line, "what the context is made for is not read"));
        }
        for entry in words(node) {
            match entry.key.as_str() {
                "cafile" | "capath" | "cadata" => {
                    flatten(&format!("{key}.{}", entry.key), &entry.node, self, &mut all);
                }
                "purpose" if is_server(&entry.node) => {}
                _ => all.push(obstacle(entry.line, "what the context is made of is not read")),
            }
        }
        if !verifies {
            all.push(Setting::new(format!("{key}.check_hostname"), SettingValue::Flag(false), node.line));
            all.push(Setting::new(
                format!("{key}.verify_mode"),
                SettingValue::Text("CERT_NONE".into()),
                node.line,
            ));
        }
        self.in_context.set(false);
        Some(all)
    }

    /// The same of a name, with all that is done to it before it is given to the driver, in order.
    fn context_of_name(&self, key: &str, known_as: &str) -> Option<Vec<Setting>> {
        let uses = self.source.uses(known_as, self.call.unwrap_or(usize::MAX));
        let is_made = |used: &Use<'_>| matches!(used, Use::Set(node) if self.is_context(node).is_some());
        if !uses.iter().any(|one| one.rest.is_empty() && is_made(&one.used)) || known_as.contains('.') {
            return None;
        }
        let mut all = Vec::new();
        let is_pool =
            self.call.and_then(|call| self.source.calls.get(call)).map(name).is_some_and(connects_later);
        if is_pool {
            let is_change = |used: &Use<'_>| !matches!(used, Use::Given);
            let later = self.source.uses(known_as, usize::MAX);
            let count = |all: &[code::Occurrence<'_>]| all.iter().filter(|one| is_change(&one.used)).count();
            if count(&later) > count(&uses) {
                let line = later.last().map_or(1, |one| one.line);
                all.push(obstacle(line, &format!("{known_as} is changed after it was given away")));
            }
        }
        let mut is_there = false;
        for one in &uses {
            let line = one.line;
            let unclear = |all: &mut Vec<Setting>| {
                all.push(obstacle(line, &format!("what happens to {known_as} in line {line} is not read")));
            };
            match (one.rest, &one.used) {
                ("", Use::Set(node)) if !is_there && one.is_statement => {
                    is_there = true;
                    all.extend(self.context(key, node)?);
                }
                (_, Use::Given)
                | (".load_cert_chain" | ".set_ciphers" | ".set_alpn_protocols", Use::Call(_)) => {}
                (".minimum_version" | ".maximum_version" | ".options", Use::Set(_)) => {}
                (".check_hostname", Use::Set(node)) if is_there && one.is_statement => {
                    let inner = format!("{key}.check_hostname");
                    all.retain(|setting: &Setting| setting.key != inner);
                    match &node.value {
                        // As it is made already.
                        Value::Bool(true) => {}
                        Value::Bool(false) => all.push(Setting::new(inner, SettingValue::Flag(false), line)),
                        _ => unclear(&mut all),
                    }
                }
                (".verify_mode", Use::Set(node)) if is_there && one.is_statement => {
                    let inner = format!("{key}.verify_mode");
                    all.retain(|setting: &Setting| setting.key != inner);
                    match &node.value {
                        Value::Name(name) if name == "ssl.CERT_REQUIRED" => {}
                        Value::Name(name) if name.starts_with("ssl.CERT_") => {
                            let word = name.trim_start_matches("ssl.");
                            all.push(Setting::new(inner, SettingValue::Text(word.into()), line));
                        }
                        _ => unclear(&mut all),
                    }
                }
                (".load_verify_locations", Use::Call(call)) if is_there && one.is_statement => {
                    match (args(call), words(call)) {
                        ([file], []) => flatten(&format!("{key}.cafile"), file, self, &mut all),
                        ([], [entry]) => {
                            flatten(&format!("{key}.{}", entry.key), &entry.node, self, &mut all);
                        }
                        _ => unclear(&mut all),
                    }
                }
                _ => unclear(&mut all),
            }
        }
        Some(all)
    }
}
