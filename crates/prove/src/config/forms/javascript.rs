//! JavaScript, TypeScript and JSON: calls of Node's three drivers, and the settings of Sequelize and Knex.

use std::collections::HashSet;

use formats::settings::code::{self, Import, Language, Source, Variables};
use formats::settings::{Entry, Node, Value};

use super::{Form, ends, loose};
use crate::config::effects;
use crate::config::nodes::{
    Meaning, ResolvedNode, args, followed, last_of_each, meant, name, options, text_of, words,
};
use crate::config::{
    ConnectionSettings, Driver, Read, Setting, SettingValue, SettingsError, Style, Unread, obstacle, urls,
};

pub(super) const JSON: Form = Form {
    id: "json",
    name: "a JSON file",
    fits: |name| ends(name, &[".json", ".json5", ".jsonc"]),
    read: |bytes, variables| read(bytes, Style::Json, variables),
};

pub(super) const JAVASCRIPT: Form = Form {
    id: "javascript",
    name: "a file of JavaScript",
    fits: |name| ends(name, &[".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"]),
    read: |bytes, variables| read(bytes, Style::JavaScript, variables),
};

/// What a module is called, and the driver that it is.
const MODULES: [(&str, &str); 7] = [
    ("mysql2", "node-mysql2"),
    ("mysql2/promise", "node-mysql2"),
    ("mysql2/promise.js", "node-mysql2"),
    ("mysql", "node-mysql"),
    ("promise-mysql", "node-mysql"),
    ("mariadb", "node-mariadb"),
    ("mariadb/callback", "node-mariadb"),
];

/// Functions of a driver that connect.
const FUNCTIONS: [&str; 3] = ["createConnection", "createPool", "createPoolCluster"];

fn family_of_module(module: &str) -> Option<&'static str> {
    MODULES.iter().find(|(known, _)| *known == module).map(|(_, family)| *family)
}

struct File<'a> {
    source: &'a Source,
    style: Style,
    imports: Vec<Import>,
}

fn read(bytes: &[u8], style: Style, variables: &Variables) -> Result<Read, SettingsError> {
    let source = code::read_in(bytes, Language::JavaScript, variables)?;
    let text = formats::settings::text(bytes)?;
    let file = File { imports: source.imports(), source: &source, style };
    let is_made = |call: &Node| {
        let last = name(call).rsplit('.').next().unwrap_or_default();
        matches!(
            last,
            "createConnection" | "createPool" | "createPoolCluster" | "Sequelize" | "knex" | "Knex"
        )
    };
    let doubt = source
        .doubt
        .as_ref()
        .map(|why| (why.line, why.text.clone()))
        .or_else(|| effects::of_javascript(&source, &file.imports, &effects::objects(&source, &is_made)));
    let mut read = Read { doubt, ..Read::default() };
    // Lines whose texts are part of something that is read.
    let mut told: HashSet<usize> = HashSet::new();
    for call in &source.calls {
        if read.found.len() > crate::config::CONNECTIONS_MAX {
            break;
        }
        file.call(call, &mut read, &mut told);
    }
    file.trees(&mut read, &mut told);
    let families = file.families();
    loose::add(&source, bytes, &told, if let [only] = families[..] { Some(only) } else { None }, &mut read);
    for found in &mut read.found {
        if let Some(line) = file.weakens_all() {
            found.settings.push(obstacle(
                line,
                &format!("line {line} changes how every connection of the program verifies"),
            ));
        }
    }
    file.hidden(&mut read);
    if let Some(line) = not_all_read(&text, read.found.len() + read.unread.len()) {
        let why = "of the objects that name a driver here not all are read".into();
        read.unread.push(Unread { line, why });
    }
    if read.found.is_empty() && read.unread.is_empty() && !families.is_empty() {
        let line = file
            .imports
            .iter()
            .find(|import| family_of_module(&import.module).is_some())
            .map_or(1, |import| import.line);
        read.unread
            .push(Unread { line, why: "it loads a driver, and no connection that can be read".into() });
    }
    Ok(read)
}

/// The last line that names a driver as Knex and Sequelize do, where there are more of those than of connections: one
/// stands in a form that no reader here knows, such as a function that returns the options.
fn not_all_read(text: &str, count: usize) -> Option<usize> {
    let names_driver = |line: &&(usize, &str)| {
        let code: String =
            line.1.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect();
        let is_it = |word: &str| {
            ["mysql", "mysql2", "mariadb"]
                .iter()
                .any(|driver| code.split([',', '{', '}']).any(|part| part == format!("{word}:{driver}")))
        };
        !code.starts_with("//") && !code.starts_with('*') && (is_it("client") || is_it("dialect"))
    };
    let all: Vec<usize> =
        text.lines().enumerate().filter(|line| names_driver(&line)).map(|(at, _)| at + 1).collect();
    all.last().copied().filter(|_| all.len() > count)
}

impl File<'_> {
    /// The drivers that the file loads.
    fn families(&self) -> Vec<&'static str> {
        let mut all: Vec<&'static str> =
            self.imports.iter().filter_map(|import| family_of_module(&import.module)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Places where a driver, or its function, is handed on or replaced: somebody else connects.
    fn hidden(&self, read: &mut Read) {
        for import in self.imports.iter().filter(|import| family_of_module(&import.module).is_some()) {
            let mut names = vec![import.name.clone()];
            if matches!(import.part.as_str(), "" | "default") {
                names.extend(FUNCTIONS.map(|function| format!("{}.{function}", import.name)));
            } else if !FUNCTIONS.contains(&import.part.as_str()) {
                continue;
            }
            for name in names {
                if let Some(line) = self.source.handed_on(&name) {
                    let why = format!("{name} is handed on here: what connects with it is not read");
                    read.unread.push(Unread { line, why });
                }
            }
        }
    }

    fn weakens_all(&self) -> Option<usize> {
        const WORD: &str = "NODE_TLS_REJECT_UNAUTHORIZED";
        let by_text =
            || self.source.texts.iter().find(|text| text.text() == Some(WORD)).map(|text| text.line);
        self.source
            .assigned
            .iter()
            .find(|entry| entry.key.ends_with(WORD) || entry.key.starts_with("tls."))
            .map(|entry| entry.line)
            .or_else(|| self.source.first_line_of(&format!("process.env.{WORD}")))
            .or_else(by_text)
    }

    /// Whose function a call is: by what the file loads under the name.
    fn driver(&self, called: &str) -> Option<Driver> {
        let (object, function) = called.rsplit_once('.').unwrap_or(("", called));
        let bound = if object.is_empty() { function } else { object };
        let of_bound: Vec<&Import> = self.imports.iter().filter(|import| import.name == bound).collect();
        let unknown = |why: &str| {
            Some(Driver::Unknown {
                why: why.into(),
                one_of: vec!["node-mysql2", "node-mysql", "node-mariadb"],
            })
        };
        match of_bound.as_slice() {
            [import] => {
                let family = family_of_module(&import.module);
                let fits = if object.is_empty() {
                    import.part == function || FUNCTIONS.contains(&import.part.as_str())
                } else {
                    matches!(import.part.as_str(), "" | "default")
                };
                match family {
                    Some(family) if fits && !self.source.is_bound_otherwise(bound) => {
                        Some(Driver::Family(family))
                    }
                    Some(_) => unknown("the name of the driver stands for something else too"),
                    None if bound.contains("mysql") || bound.contains("maria") => {
                        unknown("it comes from a module that is no driver known here")
                    }
                    None => None,
                }
            }
            [] if self.families().is_empty()
                && !MODULES.iter().any(|(module, _)| *module == bound)
                && !bound.contains("mysql")
                && !bound.contains("maria") =>
            {
                None
            }
            _ => unknown("nothing in this file says which driver that is"),
        }
    }

    fn call(&self, call: &Node, read: &mut Read, told: &mut HashSet<usize>) {
        let called = name(call);
        let function = called.rsplit('.').next().unwrap_or_default();
        // `const { createPool: mk } = require('mysql2')`
        let renamed = self.imports.iter().find(|import| {
            import.name == called
                && family_of_module(&import.module).is_some()
                && FUNCTIONS.contains(&import.part.as_str())
        });
        match renamed.map_or(function, |import| import.part.as_str()) {
            "createConnection" | "createPool" | "createPoolCluster" => {
                let Some(driver) = self.driver(called) else { return };
                told.insert(call.line);
                let mut found = self.of_argument(driver, call, told);
                if called.ends_with("createPoolCluster")
                    || renamed.is_some_and(|one| one.part == "createPoolCluster")
                {
                    found.settings.push(obstacle(call.line, "its servers are added later"));
                }
                read.found.push(found);
            }
            "Sequelize" => self.sequelize(call, read, told),
            "knex" | "Knex" | "defineConfig" | "Object.freeze" => {
                for arg in args(call) {
                    self.tree(arg, &mut vec![], None, read, told);
                }
            }
            _ => {
                // Something that connects by itself, with options that are its own.
                let is_place = |node: &Node| {
                    node.get("host").is_some()
                        && (node.get("user").is_some() || node.get("database").is_some())
                };
                let is_ours = |node: &Node| {
                    let named = node
                        .get("type")
                        .or_else(|| node.get("provider"))
                        .and_then(Node::text)
                        .unwrap_or(called);
                    sounds_like_us(named) || sounds_like_us(called)
                };
                if args(call).iter().any(|arg| is_place(arg) && is_ours(arg)) {
                    read.unread.push(Unread {
                        line: call.line,
                        why: format!("what {called}() connects with is not read"),
                    });
                }
                for arg in args(call) {
                    let why = format!("it is handed to {called}(), which may change it");
                    self.tree(arg, &mut vec![], Some(&why), read, told);
                }
            }
        }
    }

    fn of_argument(&self, driver: Driver, call: &Node, told: &mut HashSet<usize>) -> ConnectionSettings {
        let mut found = ConnectionSettings {
            line: call.line,
            what: name(call).to_owned(),
            driver,
            host: String::new(),
            settings: Vec::new(),
            style: self.style,
            front: None,
        };
        if !words(call).is_empty() || args(call).len() != 1 {
            found.settings.push(obstacle(call.line, "its arguments are not one set of options"));
        }
        let Some(first) = args(call).first() else { return found };
        found.line = first.line;
        let node = match followed(self.source, first) {
            Ok(node) => node,
            Err(why) => {
                found.settings.push(obstacle(why.line, &why.text));
                return found;
            }
        };
        told.insert(node.line);
        if let Some(text) = node.text() {
            match urls::found(text, node.line, name(call)) {
                Some(url) => return ConnectionSettings { driver: found.driver, ..url },
                None => found.settings.push(obstacle(node.line, "what it is given is no URL that is known")),
            }
            return found;
        }
        options(&node, &Js { source: self.source }, &mut found.settings);
        found.host = text_of(&node, "host");
        found
    }

    /// Maps that Sequelize or Knex read, wherever they stand.
    fn trees(&self, read: &mut Read, told: &mut HashSet<usize>) {
        for tree in &self.source.loose {
            self.tree(tree, &mut vec![], None, read, told);
        }
        for (index, entry) in self.source.assigned.iter().enumerate() {
            let before = read.found.len();
            self.tree(&entry.node, &mut vec![], None, read, told);
            if read.found.len() > before
                && let Some(why) = self.source.may_differ(index)
            {
                for found in read.found.iter_mut().skip(before) {
                    found.settings.push(obstacle(why.line, &why.text));
                }
            }
        }
    }

    fn tree<'t>(
        &self,
        node: &'t Node,
        keys: &mut Vec<&'t str>,
        why: Option<&str>,
        read: &mut Read,
        told: &mut HashSet<usize>,
    ) {
        match &node.value {
            Value::Map(entries) => {
                if let Some(mut found) = self.of_object(&keys.join("."), node, told)
                    && !read.found.iter().any(|known| found.is_again(known))
                {
                    if let Some(why) = why {
                        found.settings.push(obstacle(node.line, why));
                    }
                    read.found.push(found);
                    return;
                }
                let spread = entries.iter().find(|entry| entry.key == "...");
                for entry in entries {
                    keys.push(&entry.key);
                    let why = why.map(str::to_owned).or_else(|| {
                        spread
                            .map(|spread| format!("what is spread in line {} may set it again", spread.line))
                    });
                    self.tree(&entry.node, keys, why.as_deref(), read, told);
                    keys.pop();
                }
            }
            Value::List(items) => {
                for item in items {
                    self.tree(item, keys, why, read, told);
                }
            }
            _ => {}
        }
    }

    /// `new Sequelize(url, {…})`, `new Sequelize(database, user, password, {…})`, `new Sequelize({…})`.
    fn sequelize(&self, call: &Node, read: &mut Read, told: &mut HashSet<usize>) {
        let Some((last, before)) = args(call).split_last() else { return };
        let last_node = followed(self.source, last).unwrap_or_else(|_| last.clone());
        let url = before.first().or(Some(last)).filter(|_| before.len() < 2);
        let url = url.and_then(|node| followed(self.source, node).ok());
        let by_url = url
            .as_ref()
            .and_then(Node::text)
            .and_then(|text| urls::found(text, call.line, "new Sequelize()"));
        let mut found = if let Some(found) = self.of_object("new Sequelize()", &last_node, told) {
            found
        } else {
            let scheme = url
                .as_ref()
                .and_then(Node::text)
                .and_then(|text| text.split_once("://"))
                .map(|(scheme, _)| scheme.to_owned());
            let family = match scheme.as_deref() {
                Some("mysql") => "node-mysql2",
                Some("mariadb") => "node-mariadb",
                _ => return,
            };
            let mut found = ConnectionSettings {
                line: call.line,
                what: "new Sequelize()".into(),
                driver: Driver::Family(family),
                host: by_url.as_ref().map_or_else(String::new, |url| url.host.clone()),
                settings: Vec::new(),
                style: self.style,
                front: None,
            };
            if !before.is_empty() {
                self.sequelize_words(&last_node, &mut found.settings);
            }
            found
        };
        told.insert(call.line);
        if let Some(url) = &url {
            told.insert(url.line);
        }
        // What stands behind the question mark of its URL is laid over the options.
        let is_plain = by_url.as_ref().is_some_and(|url| url.settings.is_empty());
        if (before.len() == 1 && !is_plain)
            || (before.is_empty() && by_url.is_some_and(|url| !url.settings.is_empty()))
        {
            found.settings.push(obstacle(call.line, "the URL may set TLS besides the options"));
        }
        if !words(call).is_empty() {
            found.settings.push(obstacle(call.line, "its arguments are not all read"));
        }
        if !read.found.iter().any(|known| found.is_again(known)) {
            read.found.push(found);
        }
    }

    fn sequelize_words(&self, node: &Node, settings: &mut Vec<Setting>) {
        const HARMLESS: [&str; 27] = [
            "dialect",
            "username",
            "password",
            "database",
            "host",
            "port",
            "pool",
            "logging",
            "define",
            "timezone",
            "benchmark",
            "retry",
            "operatorsAliases",
            "logQueryParameters",
            "quoteIdentifiers",
            "typeValidation",
            "sync",
            "query",
            "set",
            "omitNull",
            "isolationLevel",
            "transactionType",
            "minifyAliases",
            "hooks",
            "models",
            "seederStorage",
            "migrationStorage",
        ];
        let Value::Map(entries) = &node.value else {
            settings.push(obstacle(node.line, "its options are code"));
            return;
        };
        for entry in last_of_each(entries) {
            match entry.key.as_str() {
                "dialectOptions" => {
                    let mut inner = Vec::new();
                    options(&entry.node, &Js { source: self.source }, &mut inner);
                    // The last of two counts; what is in the way of reading stays.
                    settings.retain(|setting| setting.key == "...");
                    settings.append(&mut inner);
                }
                key if HARMLESS.contains(&key)
                    || key.starts_with("seederStorage")
                    || key.starts_with("migrationStorage") => {}
                "..." => settings.push(obstacle(entry.line, "what is spread here is not read")),
                _ => settings.push(obstacle(entry.line, "this option of Sequelize may touch TLS")),
            }
        }
    }

    /// Sequelize's `dialect`, Knex' `client`.
    fn of_object(&self, what: &str, node: &Node, told: &mut HashSet<usize>) -> Option<ConnectionSettings> {
        let Value::Map(entries) = &node.value else { return None };
        let has = |key: &str| node.get(key).is_some();
        let is_open = |key: &str| {
            node.get(key)
                .is_some_and(|node| node.text().is_none_or(|text| text.contains(formats::settings::HOLE)))
        };
        // Which database it is only shows when it runs.
        if (is_open("dialect") && (has("dialectOptions") || has("username")))
            || (is_open("client") && has("connection"))
        {
            return Some(ConnectionSettings {
                line: node.line,
                what: if what.is_empty() { "an object".to_owned() } else { what.to_owned() },
                driver: Driver::Unknown {
                    why: "which driver it is for is not in the file".into(),
                    one_of: vec!["node-mysql2", "node-mysql", "node-mariadb"],
                },
                host: text_of(node, "host"),
                settings: vec![obstacle(node.line, "which driver it is for is not in the file")],
                style: self.style,
                front: None,
            });
        }
        let word = |key: &str| node.get(key).and_then(Node::text);
        let is_sequelize = self.imports.iter().any(|import| import.module.contains("sequelize"))
            || ["dialectOptions", "username", "use_env_variable", "logging", "define"]
                .iter()
                .any(|key| node.get(key).is_some());
        let what = if what.is_empty() { "an object".to_owned() } else { what.to_owned() };
        let mut found = ConnectionSettings {
            line: node.line,
            what,
            driver: Driver::Family("node-mysql2"),
            host: text_of(node, "host"),
            settings: Vec::new(),
            style: self.style,
            front: None,
        };
        match (word("dialect"), word("client")) {
            (Some(dialect @ ("mysql" | "mariadb")), _) => {
                found.driver = if is_sequelize {
                    Driver::Family(if dialect == "mysql" { "node-mysql2" } else { "node-mariadb" })
                } else {
                    Driver::Unknown {
                        why: "nothing says that Sequelize reads it".into(),
                        one_of: vec!["node-mysql2", "node-mariadb"],
                    }
                };
                self.sequelize_words(node, &mut found.settings);
            }
            (_, Some(client @ ("mysql" | "mysql2"))) => {
                found.driver = Driver::Family(if client == "mysql" { "node-mysql" } else { "node-mysql2" });
                self.knex(entries, &mut found, told);
            }
            _ => return None,
        }
        told.extend(entries.iter().map(|entry| entry.node.line));
        Some(found)
    }

    fn knex(&self, entries: &[Entry], found: &mut ConnectionSettings, told: &mut HashSet<usize>) {
        const HARMLESS: [&str; 13] = [
            "client",
            "pool",
            "migrations",
            "seeds",
            "useNullAsDefault",
            "debug",
            "log",
            "version",
            "asyncStackTraces",
            "acquireConnectionTimeout",
            "postProcessResponse",
            "wrapIdentifier",
            "compileSqlOnError",
        ];
        let mut has_connection = false;
        for entry in last_of_each(entries) {
            match entry.key.as_str() {
                "connection" => {
                    has_connection = true;
                    let node = match followed(self.source, &entry.node) {
                        Ok(node) => node,
                        Err(why) => {
                            found.settings.push(obstacle(why.line, &why.text));
                            continue;
                        }
                    };
                    told.insert(node.line);
                    if let Some(text) = node.text() {
                        match urls::found(text, node.line, "connection") {
                            Some(url) => {
                                found.settings.extend(url.settings);
                                found.host = url.host;
                                found.style = url.style;
                            }
                            None => found.settings.push(obstacle(node.line, "it is no URL that is known")),
                        }
                        continue;
                    }
                    found.host = text_of(&node, "host");
                    options(&node, &Js { source: self.source }, &mut found.settings);
                }
                key if HARMLESS.contains(&key) => {}
                "..." => found.settings.push(obstacle(entry.line, "what is spread here is not read")),
                _ => found.settings.push(obstacle(entry.line, "this option of Knex may touch TLS")),
            }
        }
        if !has_connection {
            found.settings.push(obstacle(found.line, "it does not say how it connects"));
        }
    }
}

fn sounds_like_us(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.contains("mysql") || word.contains("maria")
}

struct Js<'a> {
    source: &'a Source,
}

impl Meaning for Js<'_> {
    fn of(&self, _: &str, node: &Node) -> ResolvedNode {
        match &node.value {
            Value::Name(name) if name.starts_with("process.env") => {
                ResolvedNode::unread(format!("it is taken from {name}"))
            }
            Value::Name(name) => meant(self.source, name),
            // `readFileSync(…).toString()` is an expression, and stays unread where the file does not end it there.
            Value::Call { name, .. } if name.ends_with("readFileSync") || name.ends_with("readFile") => {
                ResolvedNode::Value(SettingValue::Content)
            }
            Value::Call { name, .. } => ResolvedNode::unread(format!("it is what {name}() returns")),
            _ => ResolvedNode::unread("its value is code"),
        }
    }

    /// All three drivers ask whether it is false, or is there at all.
    fn null(&self, _: &str) -> Option<SettingValue> {
        None
    }
}
