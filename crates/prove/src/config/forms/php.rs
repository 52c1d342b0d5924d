//! PHP: PDO, mysqli, Laravel's `config/database.php`, WordPress' `wp-config.php`.

use std::collections::HashSet;

use formats::settings::code::{self, Language, Source, Use, Variables};
use formats::settings::{Entry, Node, Value};

use super::php_classes::{aliases, canonical, derived, passed_over};
use super::{Form, ends, loose};
use crate::config::nodes::{
    Meaning, ResolvedNode, args, flatten, followed, last_of_each, meant, name, options, words,
};
use crate::config::{
    ConnectionSettings, Driver, Read, Setting, SettingValue, SettingsError, Style, Unread, obstacle, urls,
};

pub(super) const PHP: Form =
    Form { id: "php", name: "a file of PHP", fits: |name| ends(name, &[".php", ".inc", ".phtml"]), read };

fn read(bytes: &[u8], variables: &Variables) -> Result<Read, SettingsError> {
    let source = code::read_in(bytes, Language::Php, variables)?;
    let mut read =
        Read { doubt: source.doubt.as_ref().map(|why| (why.line, why.text.clone())), ..Read::default() };
    let mut told = HashSet::new();
    let text = formats::settings::text(bytes)?;
    let aliases = aliases(&text);
    for (index, call) in source.calls.iter().enumerate() {
        if read.found.len() > crate::config::CONNECTIONS_MAX {
            break;
        }
        // PHP does not tell capitals from small letters in these names.
        let own = canonical(name(call), &aliases);
        match own.as_str() {
            "pdo" | "pdo\\mysql" | "pdo::connect" | "pdo\\mysql::connect" => {
                told.insert(call.line);
                of_pdo(call, &source, &mut read, &mut told);
            }
            // Without a value it does not connect yet.
            "mysqli" if args(call).is_empty() && words(call).is_empty() => {}
            "mysqli" | "mysqli_connect" => {
                told.insert(call.line);
                let places = Places { host: 0, flags: None, last: 6 };
                read.found.push(of_mysqli(call, index, &places, None, &source));
            }
            function if function.ends_with("->real_connect") => {
                let object = name(call).rsplit_once("->").map_or("", |(object, _)| object).to_owned();
                if object.is_empty() {
                    read.unread
                        .push(Unread { line: call.line, why: "a link without a name connects".into() });
                    continue;
                }
                told.insert(call.line);
                let places = Places { host: 0, flags: Some(6), last: 7 };
                read.found.push(of_mysqli(call, index, &places, Some(&object), &source));
            }
            "mysqli_real_connect" => {
                let object = args(call).first().map(name).unwrap_or_default().to_owned();
                let places = Places { host: 1, flags: Some(7), last: 8 };
                read.found.push(of_mysqli(call, index, &places, Some(&object), &source));
            }
            function => {
                if let Some(why) = passed_over(function, call, &source, &aliases) {
                    read.unread.push(Unread { line: call.line, why });
                }
            }
        }
    }
    derived(&text, &source, &mut read);
    laravel(&source, &mut read);
    wordpress(&source, &mut read);
    loose::add(&source, bytes, &told, None, &mut read);
    Ok(read)
}

/// The name of an attribute of PDO, whichever of its two classes it is written with.
fn attribute(key: &str) -> Option<String> {
    let key = key.trim_start_matches('\\');
    if let Some(name) = key.strip_prefix("PDO::") {
        return Some(name.to_owned());
    }
    let name = key.strip_prefix("Pdo\\Mysql::").or_else(|| key.strip_prefix("Mysql::"))?;
    Some(if name.starts_with("MYSQL_") { name.to_owned() } else { format!("MYSQL_{name}") })
}

fn of_pdo(call: &Node, source: &Source, read: &mut Read, told: &mut HashSet<usize>) {
    const NAMES: [&str; 4] = ["dsn", "username", "password", "options"];
    let by_name =
        |wanted: &str| words(call).iter().find(|entry| entry.key == wanted).map(|entry| &entry.node);
    let is_odd = args(call).len() > 4 || words(call).iter().any(|entry| !NAMES.contains(&entry.key.as_str()));
    let dsn_node = args(call).first().or_else(|| by_name("dsn"));
    let Some(dsn_node) = dsn_node else {
        return read
            .unread
            .push(Unread { line: call.line, why: "new PDO(): what it is given is not read".into() });
    };
    let dsn = match followed(source, dsn_node) {
        Ok(dsn) => dsn,
        Err(why) => {
            return read.unread.push(Unread { line: why.line, why: format!("new PDO(): {}", why.text) });
        }
    };
    told.insert(dsn.line);
    let found = dsn.text().and_then(|text| urls::found(text, call.line, "new PDO()"));
    let Some(mut found) = found else {
        // `sqlite:…`, `pgsql:…`
        let is_other = dsn.text().and_then(|text| text.split_once(':')).is_some_and(|(driver, _)| {
            !driver.contains(formats::settings::HOLE)
                && !matches!(driver, "mysql" | "uri")
                && !driver.is_empty()
        });
        if !is_other {
            read.unread
                .push(Unread { line: call.line, why: "new PDO(): its data source is not read".into() });
        }
        return;
    };
    if !matches!(found.driver, Driver::Family("php-pdo")) {
        return read
            .unread
            .push(Unread { line: call.line, why: "new PDO(): its data source is none of PDO's".into() });
    }
    let mut settings = Vec::new();
    if is_odd {
        settings.push(obstacle(call.line, "its arguments are not all read"));
    }
    if let Some(node) = args(call).get(3).or_else(|| by_name("options")) {
        options(node, &Php { source }, &mut settings);
    }
    settings.append(&mut found.settings);
    read.found.push(ConnectionSettings { settings, ..found });
}

/// Where the arguments of a call of mysqli stand.
struct Places {
    host: usize,
    flags: Option<usize>,
    last: usize,
}

fn of_mysqli(
    call: &Node,
    index: usize,
    places: &Places,
    object: Option<&str>,
    source: &Source,
) -> ConnectionSettings {
    const NAMES: [&str; 9] =
        ["hostname", "username", "password", "database", "port", "socket", "flags", "host", "mysql"];
    let meaning = Php { source };
    let mut settings = Vec::new();
    let by_name =
        |wanted: &str| words(call).iter().find(|entry| entry.key == wanted).map(|entry| &entry.node);
    if args(call).len() > places.last || words(call).iter().any(|entry| !NAMES.contains(&entry.key.as_str()))
    {
        settings.push(obstacle(call.line, "its arguments are not all read"));
    }
    if let Some(object) = object {
        of_link(object, index, &meaning, &mut settings);
    }
    let flags = places.flags.and_then(|at| args(call).get(at)).or_else(|| by_name("flags"));
    if let Some(node) = flags {
        self::flags(node, source, &mut settings);
    }
    let host = args(call).get(places.host).or_else(|| by_name("hostname"));
    // Source: mysqli.default_host of php.ini; Debian and others leave it empty, which is the socket.
    if host.is_none_or(|host| host.value == Value::Null) {
        settings.push(obstacle(call.line, "php.ini says which host is meant where none is"));
    }
    let host = host.and_then(Node::text).unwrap_or_default();
    ConnectionSettings {
        line: call.line,
        what: format!("{}()", name(call)),
        driver: Driver::Family("php-mysqli"),
        // `p:` asks for a connection that is kept.
        host: host.strip_prefix("p:").unwrap_or(host).replace(formats::settings::HOLE, "…"),
        settings,
        style: Style::Php,
        front: None,
    }
}

/// What a link goes through before it connects.
fn of_link(object: &str, index: usize, meaning: &Php<'_>, settings: &mut Vec<Setting>) {
    if object.is_empty() {
        return settings.push(obstacle(1, "the link that connects has no name"));
    }
    let (mut is_made, mut has_set_ssl) = (false, false);
    for one in meaning.source.uses(object, index) {
        let line = one.line;
        let mut unclear =
            || settings.push(obstacle(line, &format!("what happens to {object} in line {line} is not read")));
        match (one.rest, &one.used) {
            ("", Use::Set(node))
                if !is_made
                    && one.is_statement
                    && matches!(name(node), "mysqli_init" | "mysqli")
                    && args(node).is_empty() =>
            {
                is_made = true;
            }
            ("->real_connect", _) => {}
            // What the second of two does with what the first has set was not measured.
            ("->ssl_set", Use::Call(_)) if std::mem::replace(&mut has_set_ssl, true) => unclear(),
            ("->ssl_set" | "->options", Use::Call(call))
                if is_made && one.is_statement && words(call).is_empty() =>
            {
                set(args(call), one.rest == "->ssl_set", line, meaning, settings);
            }
            ("", Use::Given) => {}
            ("", Use::Other(_)) => match meaning.source.call_around(object, line) {
                // The functions of the old kind: the link is their first argument.
                Some(call) if is_made && matches!(name(call), "mysqli_ssl_set" | "mysqli_options") => {
                    let is_again =
                        name(call) == "mysqli_ssl_set" && std::mem::replace(&mut has_set_ssl, true);
                    if meaning.source.is_in_block_of(call, index) && words(call).is_empty() && !is_again {
                        set(
                            args(call).get(1..).unwrap_or_default(),
                            name(call) == "mysqli_ssl_set",
                            line,
                            meaning,
                            settings,
                        );
                    } else {
                        unclear();
                    }
                }
                _ => unclear(),
            },
            _ => unclear(),
        }
    }
    if !is_made {
        settings.push(obstacle(1, &format!("where {object} is made is not read")));
    }
}

fn set(given: &[Node], is_ssl_set: bool, line: usize, meaning: &Php<'_>, settings: &mut Vec<Setting>) {
    if is_ssl_set {
        if given.len() != 5 {
            return settings.push(obstacle(line, "ssl_set() wants five values"));
        }
        if let Some(ca) = given.get(2).filter(|ca| ca.value != Value::Null) {
            flatten("ssl_set", ca, meaning, settings);
        }
        if given.get(3).is_some_and(|capath| capath.value != Value::Null) {
            settings.push(obstacle(line, "a directory of CAs was not measured"));
        }
        // Any of them switches TLS on, and mysqlnd then verifies against the machine's store.
        let is_none = |node: &Node| node.value == Value::Null || node.text().is_some_and(str::is_empty);
        if given.get(2).is_some_and(is_none) && !given.iter().all(is_none) {
            settings.push(obstacle(line, "a key or ciphers without a CA were not measured"));
        }
        return;
    }
    match given {
        [Node { value: Value::Name(option), .. }, value] => flatten(option, value, meaning, settings),
        _ => settings.push(obstacle(line, "which option is set is not read")),
    }
}

/// `A | B`, all of them names that are known.
fn flags(node: &Node, source: &Source, settings: &mut Vec<Setting>) {
    const HARMLESS: [&str; 7] = [
        "MYSQLI_CLIENT_COMPRESS",
        "MYSQLI_CLIENT_FOUND_ROWS",
        "MYSQLI_CLIENT_IGNORE_SPACE",
        "MYSQLI_CLIENT_INTERACTIVE",
        "MYSQLI_CLIENT_MULTI_QUERIES",
        "MYSQLI_CLIENT_NO_SCHEMA",
        "MYSQLI_CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS",
    ];
    let node = match &node.value {
        Value::Name(name) if name.starts_with('$') && !name.contains('|') => match followed(source, node) {
            Ok(node) => node,
            Err(why) => return settings.push(obstacle(why.line, &why.text)),
        },
        _ => node.clone(),
    };
    match &node.value {
        Value::Null => {}
        Value::Number(number) if number == "0" => {}
        Value::Name(names) => {
            for name in names.split('|') {
                match name.trim_start_matches('\\') {
                    name @ ("MYSQLI_CLIENT_SSL" | "MYSQLI_CLIENT_SSL_DONT_VERIFY_SERVER_CERT") => {
                        settings.push(Setting::new(name, SettingValue::Flag(true), node.line));
                    }
                    name if HARMLESS.contains(&name) => {}
                    _ => settings.push(obstacle(node.line, "one of the flags is none that is known")),
                }
            }
        }
        _ => settings.push(obstacle(node.line, "the flags are code")),
    }
}

/// Arrays with `'driver' => 'mysql'`, as Laravel and its relatives have them.
fn laravel(source: &Source, read: &mut Read) {
    let mut found = Vec::new();
    for tree in &source.loose {
        tree_of(tree, &mut vec![], None, source, &mut found);
    }
    for (index, entry) in source.assigned.iter().enumerate() {
        let before = found.len();
        tree_of(&entry.node, &mut vec![], None, source, &mut found);
        if let Some(why) = (found.len() > before).then(|| source.may_differ(index)).flatten() {
            for one in found.iter_mut().skip(before) {
                one.settings.push(obstacle(why.line, &why.text));
            }
        }
    }
    for call in &source.calls {
        let why = format!("it is handed to {}(), which may change it", name(call));
        for arg in args(call) {
            tree_of(arg, &mut vec![], Some(&why), source, &mut found);
        }
    }
    // Which database it is only shows when it runs.
    for tree in source.loose.iter().chain(source.assigned.iter().map(|entry| &entry.node)) {
        tree.walk(&mut |_, node| {
            let is_open = node.get("driver").is_some_and(|driver| {
                driver.text().is_none_or(|text| text.contains(formats::settings::HOLE))
            });
            if is_open && node.get("host").is_some() && node.get("database").is_some() {
                read.unread.push(Unread {
                    line: node.line,
                    why: "which driver it is for is not in the file".into(),
                });
            }
        });
    }
    for one in found {
        if !read.found.iter().any(|known| one.is_again(known)) {
            read.found.push(one);
        }
    }
}

fn tree_of<'t>(
    node: &'t Node,
    keys: &mut Vec<&'t str>,
    why: Option<&str>,
    source: &Source,
    all: &mut Vec<ConnectionSettings>,
) {
    match &node.value {
        Value::Map(entries) => {
            if matches!(node.get("driver").and_then(Node::text), Some("mysql" | "mariadb")) {
                let mut found = of_laravel(&keys.join("."), node, entries, source);
                if let Some(why) = why {
                    found.settings.push(obstacle(node.line, why));
                }
                all.push(found);
                return;
            }
            let spread = entries.iter().find(|entry| entry.key == "...");
            for entry in entries {
                keys.push(&entry.key);
                let why = why.map(str::to_owned).or_else(|| {
                    spread.map(|spread| format!("what is spread in line {} may set it again", spread.line))
                });
                tree_of(&entry.node, keys, why.as_deref(), source, all);
                keys.pop();
            }
        }
        Value::List(items) => items.iter().for_each(|item| tree_of(item, keys, why, source, all)),
        _ => {}
    }
}

fn of_laravel(what: &str, node: &Node, entries: &[Entry], source: &Source) -> ConnectionSettings {
    const HARMLESS: [&str; 16] = [
        "driver",
        "host",
        "port",
        "database",
        "username",
        "password",
        "charset",
        "collation",
        "prefix",
        "prefix_indexes",
        "strict",
        "engine",
        "name",
        "timezone",
        "modes",
        "sticky",
    ];
    let mut settings = Vec::new();
    for entry in last_of_each(entries) {
        match entry.key.as_str() {
            "options" => options(&entry.node, &Php { source }, &mut settings),
            "unix_socket" => {
                let mut socket = Vec::new();
                flatten("unix_socket", &entry.node, &Php { source }, &mut socket);
                // As the framework writes it: `env('DB_SOCKET', '')`, which is empty where nobody says otherwise.
                settings.extend(
                    socket.into_iter().filter(|setting| !matches!(setting.given, SettingValue::Unread(_))),
                );
            }
            // `'url' => env('DB_URL')` of Laravel's own file: its parameters are options too.
            // Without parameters it says where, and nothing else; an empty one is none.
            "url" if entry.node.text().is_some_and(|url| !url.contains(['?', formats::settings::HOLE])) => {}
            "url" if entry.node.value != Value::Null => {
                settings.push(obstacle(entry.line, "a URL may say more than stands here"));
            }
            "read" | "write" => {
                let only_host = entry.node.entries().iter().all(|inner| inner.key == "host");
                if !only_host || entry.node.entries().is_empty() {
                    settings
                        .push(obstacle(entry.line, "what is said for reading or writing alone is not read"));
                }
            }
            "..." => settings.push(obstacle(entry.line, "what is spread here is not read")),
            "url" => {}
            key if HARMLESS.contains(&key) => {}
            _ => settings.push(obstacle(entry.line, "this key may touch TLS")),
        }
    }
    // Laravel's DSN has the socket or the host, never both.
    let has_socket = settings.iter().any(|setting| {
        setting.key == "unix_socket" && matches!(&setting.given, SettingValue::Text(path) if !path.is_empty())
    });
    let host = if has_socket { "" } else { node.get("host").and_then(Node::text).unwrap_or_default() };
    let host = host.to_owned();
    ConnectionSettings {
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
fn wordpress(source: &Source, read: &mut Read) {
    let defined = |wanted: &str| {
        let is_it =
            |call: &Node| name(call) == "define" && args(call).first().and_then(Node::text) == Some(wanted);
        source.calls.iter().enumerate().filter(|(_, call)| is_it(call)).collect::<Vec<_>>()
    };
    let (hosts, names) = (defined("DB_HOST"), defined("DB_NAME"));
    let Some((_, host)) = hosts.first().copied() else { return };
    if names.is_empty() {
        return;
    }
    let mut settings = Vec::new();
    match defined("MYSQL_CLIENT_FLAGS").as_slice() {
        [] => {
            if let Some(line) = source.first_line_of("MYSQL_CLIENT_FLAGS") {
                settings.push(obstacle(line, "MYSQL_CLIENT_FLAGS is set in a way that is not read"));
            }
        }
        [(index, call)] => match args(call).get(1) {
            Some(_) if source.is_in_block(*index) => {
                settings.push(obstacle(call.line, "MYSQL_CLIENT_FLAGS is set under a condition"));
            }
            Some(node) => {
                flags(node, source, &mut settings);
                // The first of two counts, and behind wp-settings.php it is too late.
                if let Some(line) = source.included_before(*index) {
                    settings.push(obstacle(
                        line,
                        "the file that is included there may set MYSQL_CLIENT_FLAGS first, or connect",
                    ));
                }
            }
            None => settings.push(obstacle(call.line, "MYSQL_CLIENT_FLAGS is not read")),
        },
        [_, (_, call), ..] => settings.push(obstacle(call.line, "MYSQL_CLIENT_FLAGS is set more than once")),
    }
    let host_text = args(host).get(1).and_then(Node::text).unwrap_or_default().to_owned();
    if hosts.len() > 1 {
        settings.push(obstacle(host.line, "DB_HOST is set more than once"));
    }
    // Drop-ins may connect in a way of their own; they stand in wp-content/db.php, and not here.
    read.found.push(ConnectionSettings {
        line: host.line,
        what: "DB_HOST (WordPress)".into(),
        driver: Driver::Family("php-mysqli"),
        host: host_text,
        settings,
        style: Style::WordPress,
        front: None,
    });
}

/// Without what PHP takes for false: that is what `array_filter` leaves out.
fn filtered(node: &Node) -> ResolvedNode {
    let is_false = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number == "0",
        Value::Text(text) => text.is_empty() || text.as_str() == "0",
        _ => false,
    };
    match &node.value {
        Value::Map(entries) => {
            let left = entries.iter().filter(|entry| !is_false(&entry.node.value)).cloned().collect();
            ResolvedNode::Node(Node::new(node.line, Value::Map(left)))
        }
        Value::List(items) if items.is_empty() => ResolvedNode::Node(node.clone()),
        _ => ResolvedNode::unread("what is left of the options is not known"),
    }
}

struct Php<'a> {
    source: &'a Source,
}

impl Meaning for Php<'_> {
    fn number(&self, text: &str) -> SettingValue {
        SettingValue::Text(text.to_owned())
    }

    /// PDO makes 0 of it, which is off.
    fn null(&self, _: &str) -> Option<SettingValue> {
        Some(SettingValue::Unread("what null does here was not measured".into()))
    }

    /// Of an array of attributes: each is a constant of PDO's. What a number stands for differs between builds.
    fn key(&self, written: &str) -> Option<String> {
        attribute(written)
    }

    fn of(&self, key: &str, node: &Node) -> ResolvedNode {
        match &node.value {
            Value::Name(name) if name.starts_with('$') || !name.contains("::") => meant(self.source, name),
            // A constant for the value of an attribute that has nothing to do with TLS: `PDO::ERRMODE_EXCEPTION`.
            Value::Name(name) => ResolvedNode::unread(format!("what {name} is was not measured")),
            // Laravel takes out what is empty.
            Value::Call { name, args, named }
                if matches!(name.as_str(), "array_filter" | "array") && key == "..." =>
            {
                match (args.as_slice(), named.as_slice()) {
                    ([only], []) if name == "array_filter" => filtered(only),
                    ([], _) if name == "array" => {
                        ResolvedNode::Node(Node::new(node.line, Value::Map(named.clone())))
                    }
                    _ => ResolvedNode::unread("the options are code"),
                }
            }
            Value::Call { name, args, .. } if matches!(name.as_str(), "env" | "getenv") => {
                let variable = args.first().and_then(Node::text).unwrap_or("a variable");
                ResolvedNode::unread(format!("it is taken from the environment: {variable}"))
            }
            Value::Call { name, args, .. } if name == "base_path" || name == "storage_path" => {
                match args.first() {
                    Some(path) => ResolvedNode::Node(path.clone()),
                    None => ResolvedNode::Value(SettingValue::Content),
                }
            }
            Value::Call { name, .. } => ResolvedNode::unread(format!("it is what {name}() returns")),
            _ => ResolvedNode::unread("its value is code"),
        }
    }
}
