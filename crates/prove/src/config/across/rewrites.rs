//! Settings that a program changes while it starts, by the name that its framework knows them by:
//! `config(['database.connections.…' => …])` of Laravel, `app.config['SQLALCHEMY_…']` of Flask, an object that another
//! module of Node loads and hands on with more, a drop-in of WordPress, an initializer of Rails that connects anew.

use formats::settings::{Node, Value};

use super::{Member, Set};
use crate::config::nodes::{args, name};
use crate::config::{ConnectionSettings, Driver, Setting, Style, doubts, forms};

/// Obstacles of the files that change this connection.
pub(super) fn look(set: &Set, index: usize, found: &mut ConnectionSettings) {
    let Some(own) = set.members.get(index) else { return };
    let others = || set.members().filter(move |(other, _)| *other != index).map(|(_, member)| member);
    let obstacle = match own.form.id {
        "php" if found.style == Style::WordPress => others().find_map(|other| wordpress(own, other)),
        "php" => others().find_map(|other| laravel(own, other, found)),
        "python" => others().find_map(|other| flask(other, found)),
        // What a call made is no object that others could lay something over.
        "javascript" | "json" if !made_by_call(&found.what) => others().find_map(|other| node(own, other)),
        "yaml" if own.file_name() == "database.yml" => others().find_map(rails),
        _ => None,
    };
    found.settings.extend(obstacle);
    // PyMySQL put under the other's name, anywhere in the program.
    if found.driver == Driver::Family("mysqlclient") {
        let replaced = others().find_map(|other| {
            let line = other.source().filter(|_| other.form.id == "python")?;
            let line = line.first_word(&|word| word.ends_with("install_as_MySQLdb"))?;
            Some(other.obstacle(line, "PyMySQL is put in the place of MySQLdb there"))
        });
        found.settings.extend(replaced);
    }
}

/// # Source
/// `Illuminate\Config\Repository::set()`: an array of keys with dots, or one key and its value; `config()` hands an
/// array to it.
fn laravel(own: &Member, other: &Member, found: &ConnectionSettings) -> Option<Setting> {
    // What Laravel's own array has besides TLS. A host may be a socket.
    const HARMLESS: [&str; 10] = [
        "database",
        "username",
        "password",
        "port",
        "prefix",
        "charset",
        "collation",
        "strict",
        "timezone",
        "modes",
    ];
    const ROOT: &str = "database.connections";
    let of = found.what.strip_prefix("connections.").filter(|_| own.file_name() == "database.php")?;
    let source = other.source().filter(|_| other.form.id == "php")?;
    let fits = |text: &str| {
        if text == "database" {
            return true;
        }
        let Some(rest) = text.strip_prefix(ROOT) else { return false };
        let Some(rest) = rest.strip_prefix('.') else { return rest.is_empty() };
        let mut parts = rest.split('.');
        let (connection, key) = (parts.next().unwrap_or_default(), parts.next());
        let is_ours = connection == of || connection.contains(formats::settings::HOLE);
        is_ours && key.is_none_or(|key| !HARMLESS.contains(&key))
    };
    let takes = |function: &str| {
        let last = function.rsplit([':', '>', '\\']).next().unwrap_or_default();
        matches!(last, "config" | "set" | "replace" | "merge" | "overrideConfig")
    };
    let (line, text) = source.sets(&fits, &takes)?;
    let shown = if text.contains(formats::settings::HOLE) { ROOT } else { text };
    Some(other.obstacle(line, &format!("{shown} is set again there")))
}

/// # Source
/// Flask-SQLAlchemy 3, `SQLAlchemy.init_app()`: it asks `app.config` for these when it starts.
fn flask(other: &Member, found: &ConnectionSettings) -> Option<Setting> {
    const URI: &str = "SQLALCHEMY_DATABASE_URI";
    const OPTIONS: &str = "SQLALCHEMY_ENGINE_OPTIONS";
    let own = found.what.rsplit('.').next().unwrap_or_default();
    let is_constant = own.len() > 3 && own.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    let source = other.source().filter(|_| other.form.id == "python" && is_constant)?;
    let fits = |text: &str| text == own || (own == URI && text == OPTIONS);
    let takes = |function: &str| {
        let last = function.rsplit('.').next().unwrap_or_default();
        matches!(last, "update" | "from_mapping" | "from_object" | "dict" | "configure" | "setattr")
    };
    if let Some((line, text)) = source.sets(&fits, &takes) {
        return Some(other.obstacle(line, &format!("{text} is set there")));
    }
    // A class that inherits the URL and has options of its own.
    let options =
        source.assigned.iter().find(|entry| own == URI && entry.key.rsplit('.').next() == Some(OPTIONS));
    options.map(|entry| other.obstacle(entry.line, &format!("{OPTIONS} is set there")))
}

/// A file that loads this one, and changes what it exports or hands it on with more.
fn node(own: &Member, other: &Member) -> Option<Setting> {
    let source = other.source().filter(|_| other.form.id == "javascript")?;
    let module = source
        .texts
        .iter()
        .find_map(|text| text.text().filter(|module| is_module(own, other, module)).map(str::to_owned))?;
    // By every name that it has there.
    let mut names = source.named_by(&module);
    names.extend(
        source.imports().into_iter().filter(|import| import.module == module).map(|import| import.name),
    );
    let mut done = 0;
    while let Some(next) = names.get(done).cloned().filter(|_| done < NAMES_MAX) {
        done += 1;
        for more in source.named_by(&next) {
            if !names.contains(&more) {
                names.push(more);
            }
        }
    }
    let set = names.iter().find_map(|name| source.touches(name).into_iter().find(|touch| touch.is_set));
    if let Some(touch) = set {
        return Some(other.obstacle(touch.line, "a part of what this file exports is set there"));
    }
    let of_tls = |word: &str| {
        let small = word.to_ascii_lowercase();
        !word.contains("://")
            && word.len() <= 80
            && !word.contains(char::is_whitespace)
            && ["ssl", "tls", "rejectunauthorized", "verifyidentity", "dialectoptions"]
                .iter()
                .any(|part| small.split(['.', '/', ':']).any(|word| word.starts_with(part)))
    };
    if let Some(line) = source.first_word(&of_tls) {
        return Some(other.obstacle(line, "it loads this file, and says something of TLS besides"));
    }
    let merged = source.calls.iter().find(|call| {
        let last = name(call).rsplit('.').next().unwrap_or_default();
        MERGING.contains(&last) || args(call).iter().any(has_two_spreads)
    });
    let assigned = source.assigned.iter().map(|entry| &entry.node).find(|node| has_two_spreads(node));
    if let Some(node) = merged.or(assigned) {
        return Some(other.obstacle(node.line, "it loads this file, and overrides some of it"));
    }
    let handed = names.iter().flat_map(|name| source.calls_given(name)).find(|(_, called)| {
        let last = called.rsplit('.').next().unwrap_or_default();
        !TAKERS.contains(&last) && !called.starts_with("require")
    });
    if let Some((line, called)) = handed {
        let why = format!("what this file exports is handed to {called}() there, which may change it");
        return Some(other.obstacle(line, &why));
    }
    // A driver that gets host and password from here, and not the rest.
    let connects = source
        .calls
        .iter()
        .find(|call| CONNECTING.contains(&name(call).rsplit('.').next().unwrap_or_default()))?;
    let is_handed_whole = names.iter().flat_map(|name| source.given(name)).any(|(rest, around)| {
        let is_part = rest.rsplit('.').next().is_some_and(|last| PARTS.contains(&last));
        let is_to_driver =
            around.iter().any(|called| CONNECTING.contains(&called.rsplit('.').next().unwrap_or_default()));
        !is_part && is_to_driver
    });
    (!is_handed_whole)
        .then(|| other.obstacle(connects.line, "it loads this file, and may connect with parts of it alone"))
}

const CONNECTING: [&str; 8] = [
    "Sequelize",
    "knex",
    "Knex",
    "createConnection",
    "createPool",
    "createPoolCluster",
    "DataSource",
    "Client",
];

/// Of a connection, without what it says of TLS.
const PARTS: [&str; 10] =
    ["host", "hostname", "port", "user", "username", "password", "database", "name", "dialect", "client"];

fn made_by_call(what: &str) -> bool {
    ["createConnection", "createPool", "Sequelize", "Pool"].iter().any(|word| what.contains(word))
}

/// How many names an object is followed through.
const NAMES_MAX: usize = 6;

/// Functions that lay objects over each other.
const MERGING: [&str; 7] =
    ["assign", "merge", "extend", "defaultsDeep", "defaults", "mergeDeepRight", "deepmerge"];

/// What takes settings as they are, or only looks at them.
const TAKERS: [&str; 17] = [
    "Sequelize",
    "knex",
    "Knex",
    "createConnection",
    "createPool",
    "DataSource",
    "log",
    "info",
    "debug",
    "stringify",
    "keys",
    "freeze",
    "if",
    "switch",
    "while",
    "return",
    "Boolean",
];

/// `{...one, ...other}`: what the second says counts.
fn has_two_spreads(node: &Node) -> bool {
    let Value::Map(entries) = &node.value else { return false };
    entries.iter().filter(|entry| entry.key == "...").count() > 1
        || entries.iter().any(|entry| has_two_spreads(&entry.node))
}

/// Whether a path in `other` leads to `own`, with or without its ending, or to the folder whose index it is.
fn is_module(own: &Member, other: &Member, module: &str) -> bool {
    if !module.starts_with('.') {
        return false;
    }
    let mut place = other.folder().to_vec();
    for part in module.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = place.pop(),
            part => place.push(part.to_owned()),
        }
    }
    let without_end = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let Some((last, folder)) = place.split_last() else { return false };
    let own_name = own.file_name();
    let is_file = folder == own.folder()
        && (own_name == last || without_end(own_name) == *last || without_end(own_name) == without_end(last));
    is_file || (place == own.folder() && without_end(own_name) == "index")
}

/// # Source
/// WordPress, `require_wp_db()`: `wp-content/db.php` is loaded before anything connects, and may be the one that does.
fn wordpress(own: &Member, other: &Member) -> Option<Setting> {
    let is_drop_in =
        other.file_name() == "db.php" && other.folder().last().is_some_and(|last| last == "wp-content");
    let is_of = other.folder().split_last().is_some_and(|(_, root)| root == own.folder());
    (is_drop_in && is_of).then(|| other.obstacle(1, "this drop-in connects in its own way"))
}

/// An initializer that takes the settings as they were read, and connects anew with more.
fn rails(other: &Member) -> Option<Setting> {
    const TAKING: [&str; 5] =
        ["configuration_hash", "connection_db_config", "connection_config", "configurations", "configs_for"];
    if forms::form(other.file_name()).id != "ruby" {
        return None;
    }
    let text = String::from_utf8_lossy(&other.bytes);
    let is_code = |at: &usize| {
        let begin = text.get(..*at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        !text.get(begin..*at).unwrap_or_default().contains('#')
    };
    let connects = doubts::words(&text, "establish_connection").find(is_code)?;
    TAKING.iter().any(|word| doubts::words(&text, word).any(|at| is_code(&at))).then(|| {
        other.obstacle(doubts::line_of(&text, connects), "it connects anew with what it makes of this")
    })
}
