//! Sources of other languages: the connection texts in them, and the few calls that take one as it is.

use std::collections::HashSet;

use formats::settings::code::{self, Language, Source, Variables};

use super::{Form, ends, loose};
use formats::settings::Node;

use crate::config::nodes::{args, followed, name, words};
use crate::config::{Driver, Read, SettingsError, Unread, obstacle, urls};

pub(super) const SOURCE: Form = Form {
    id: "source",
    name: "a source file, of which only texts are read",
    fits: |name| {
        ends(
            name,
            &[
                ".go", ".rs", ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".cs", ".swift", ".c",
                ".cc", ".cpp", ".h",
            ],
        )
    },
    read,
};

/// Calls that hand a text to a driver, which argument it is, and how many there are at most: with another one more is said.
const CALLS: [(&str, usize, &[usize]); 12] = [
    ("sql.Open", 1, &[2]),
    ("sqlx.Open", 1, &[2]),
    ("sqlx.Connect", 1, &[2]),
    ("DriverManager.getConnection", 0, &[1, 3]),
    ("java.sql.DriverManager.getConnection", 0, &[1, 3]),
    ("MySqlPool::connect", 0, &[1]),
    ("sqlx::MySqlPool::connect", 0, &[1]),
    ("MySqlConnection::connect", 0, &[1]),
    ("sqlx::MySqlConnection::connect", 0, &[1]),
    ("mysql_async::Pool::new", 0, &[1]),
    ("mysql::Pool::new", 0, &[1]),
    ("Pool::new", 0, &[1]),
];

/// Rust's crates, by a path that begins with their name.
const CRATES: [(&str, &str); 3] =
    [("sqlx", "rust-sqlx"), ("mysql", "rust-mysql"), ("mysql_async", "rust-mysql-async")];

/// What makes a connection of parts, of which nothing is read here.
const BUILDERS: [&str; 9] = [
    "mysql.Config",
    "mysql.NewConfig",
    "mysql.NewConnector",
    "mysql.ParseDSN",
    "MysqlDataSource",
    "MariaDbDataSource",
    "MySqlConnectOptions::new",
    "OptsBuilder::new",
    "MySqlConnectOptions",
];

fn read(bytes: &[u8], variables: &Variables) -> Result<Read, SettingsError> {
    let source = code::read_in(bytes, Language::CLike, variables)?;
    let mut read =
        Read { doubt: source.doubt.as_ref().map(|why| (why.line, why.text.clone())), ..Read::default() };
    let mut told = HashSet::new();
    let crate_of_file = crates(&source);
    for call in &source.calls {
        let Some((_, index, counts)) = CALLS.iter().find(|(known, _, _)| *known == name(call)) else {
            continue;
        };
        let Some(arg) = args(call).get(*index) else { continue };
        let Ok(node) = followed(&source, arg) else { continue };
        let is_of_go = *index == 1 && args(call).first().and_then(Node::text) == Some("mysql");
        let read_text = |text: &str| {
            let given = is_of_go.then(|| urls::of_go(text, node.line, "a text")).flatten();
            given.or_else(|| urls::found(text, node.line, "a text"))
        };
        let Some(mut found) = node.text().and_then(read_text) else {
            if is_of_go && node.text().is_some() {
                let why = "what the driver is given here is no DSN that is known".into();
                read.unread.push(Unread { line: node.line, why });
            }
            continue;
        };
        told.insert(node.line);
        if !counts.contains(&args(call).len()) || !words(call).is_empty() {
            found.settings.push(obstacle(call.line, "what stands beside it in the call is not read"));
        }
        if let (Driver::Unknown { .. }, Some(family)) = (&found.driver, crate_of_file) {
            found.driver = Driver::Family(family);
        }
        read.found.push(found);
    }
    loose::add(&source, bytes, &told, crate_of_file, &mut read);
    // What a program registers under the name that `tls=` has.
    let skips =
        ["InsecureSkipVerify", "setHostnameVerifier"].iter().find_map(|name| source.first_line_of(name));
    if let Some(line) = skips {
        for found in &mut read.found {
            found
                .settings
                .push(obstacle(line, &format!("line {line} may switch certificate verification off")));
        }
    }
    // A text in a source goes somewhere, and where is not read.
    let line_of = |name: &str| source.first_line_of(name);
    if let Some((line, name)) = BUILDERS.iter().find_map(|name| Some((line_of(name)?, *name))) {
        read.unread.push(Unread {
            line,
            why: format!("{name} makes a connection of parts, which are not read here"),
        });
    }
    let loads_go = source
        .texts
        .iter()
        .find(|text| text.text() == Some("github.com/go-sql-driver/mysql"))
        .map(|text| text.line);
    if read.found.is_empty()
        && read.unread.is_empty()
        && let Some(line) = loads_go
    {
        read.unread
            .push(Unread { line, why: "it loads a driver, and no connection that can be read".into() });
    }
    Ok(read)
}

fn crates(source: &Source) -> Option<&'static str> {
    let is_there = |name: &&(&str, &str)| source.has_path_of(name.0);
    let all: Vec<&'static str> = CRATES.iter().filter(is_there).map(|(_, family)| *family).collect();
    if let [only] = all[..] { Some(only) } else { None }
}
