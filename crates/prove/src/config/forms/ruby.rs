//! Ruby: `Mysql2::Client.new`, `establish_connection`, and URLs of Sequel.

use std::collections::HashSet;

use formats::settings::code::{self, Language, Source, Variables};
use formats::settings::{Node, Value};

use super::{Form, ends, loose};
use crate::config::nodes::{
    Meaning, ResolvedNode, args, entries, followed, meant, name, options, text_of, words,
};
use crate::config::{
    ConnectionSettings, Driver, Read, SettingsError, Style, Unread, doubts, obstacle, urls, without_host,
};

pub(super) const RUBY: Form =
    Form { id: "ruby", name: "a file of Ruby", fits: |name| ends(name, &[".rb", ".ru", ".rake"]), read };

fn read(bytes: &[u8], variables: &Variables) -> Result<Read, SettingsError> {
    let source = code::read_in(bytes, Language::Ruby, variables)?;
    let meaning = Ruby { source: &source };
    let mut read =
        Read { doubt: source.doubt.as_ref().map(|why| (why.line, why.text.clone())), ..Read::default() };
    let mut told = HashSet::new();
    for call in &source.calls {
        let is_client = name(call) == "Mysql2::Client.new";
        let is_adapter = name(call).ends_with("establish_connection") || name(call) == "Sequel.connect";
        if !is_client && !is_adapter {
            continue;
        }
        let whole = match args(call).first().map(|first| followed(&source, first)) {
            Some(Ok(node)) => node,
            Some(Err(why)) if is_client => {
                read.unread.push(Unread { line: why.line, why: why.text });
                continue;
            }
            _ => Node::new(call.line, Value::Map(words(call).to_vec())),
        };
        // `Sequel.connect('mysql2://…')`
        if let (Some(text), [_], []) = (whole.text(), args(call), words(call))
            && let Some(found) = urls::found(text, call.line, name(call))
            && found.driver == Driver::Family("ruby-mysql2")
        {
            told.extend([call.line, whole.line]);
            read.found.push(found);
            continue;
        }
        // A URL is read where its text stands, a name of Rails' own in its database.yml.
        let is_ours = is_client || whole.get("adapter").and_then(Node::text) == Some("mysql2");
        if !is_ours {
            continue;
        }
        told.insert(call.line);
        let mut settings = Vec::new();
        match args(call) {
            [] => {}
            [only] => options(only, &meaning, &mut settings),
            _ => settings.push(obstacle(call.line, "its arguments are not one set of options")),
        }
        entries(words(call), &meaning, &mut settings);
        if let Some(line) = source.first_line_of("Mysql2::Client.default_query_options") {
            settings.push(obstacle(line, "the options that every client begins with are changed"));
        }
        let mut found = ConnectionSettings {
            line: call.line,
            what: name(call).to_owned(),
            driver: Driver::Family("ruby-mysql2"),
            host: text_of(&whole, "host"),
            settings,
            style: Style::Ruby,
            front: None,
        };
        if whole.get("host").is_none() && !whole.entries().is_empty() {
            without_host(&mut found);
        }
        read.found.push(found);
    }
    passed_over(bytes, &read.found.iter().map(|found| found.line).collect(), &mut read.unread);
    loose::add(&source, bytes, &told, None, &mut read);
    // Without parentheses it is no call that can be read.
    if let Some(line) = source.handed_on("Mysql2::Client.new") {
        read.unread.push(Unread { line, why: "what Mysql2::Client.new is given here is not read".into() });
    }
    if read.found.is_empty()
        && read.unread.is_empty()
        && let Some(line) =
            source.first_line_of("Mysql2::Client.new").or_else(|| source.first_line_of("Mysql2::Client"))
    {
        read.unread
            .push(Unread { line, why: "it names a driver, and no connection that can be read".into() });
    }
    Ok(read)
}

/// Connections in a form that is not read: without parentheses, of a value that is filled in, by another class.
fn passed_over(bytes: &[u8], told: &HashSet<usize>, unread: &mut Vec<Unread>) {
    const OTHERS: [&str; 5] =
        ["Mysql2::EM::Client.new", "Sequel.mysql2", "Sequel.mysql", "Trilogy.new", "connect_to_mysql"];
    const CONNECTS: &str = "establish_connection";
    let text = String::from_utf8_lossy(bytes);
    for (at, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with('#') || told.contains(&(at + 1)) {
            continue;
        }
        let other = OTHERS.iter().find(|name| doubts::words(code, name).next().is_some());
        let connects = doubts::words(code, CONNECTS).next().filter(|_| !code.starts_with("def "));
        let rest = connects.and_then(|begin| code.get(begin + CONNECTS.len()..));
        let given = rest.map(|rest| rest.trim_start_matches(['(', ' ']));
        // A symbol is an entry of database.yml; of nothing it is the one that it had.
        let is_passed_over = given.is_some_and(|given| {
            let is_entry = given.starts_with([':', ')', '#']) && !given.starts_with("::");
            let is_other =
                ["postgres", "sqlite", "sqlserver", "oracle"].iter().any(|name| given.contains(name));
            !given.is_empty() && !is_entry && !is_other && urls_read(given).is_none()
        });
        if let Some(name) = other.copied().or(is_passed_over.then_some(CONNECTS)) {
            unread.push(Unread { line: at + 1, why: format!("what {name} is given here is not read") });
        }
    }
}

/// A URL that stands there as a text is read where it stands.
fn urls_read(given: &str) -> Option<ConnectionSettings> {
    let quote = given.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    urls::found(given.get(1..)?.split(quote).next()?, 1, "")
}

struct Ruby<'a> {
    source: &'a Source,
}

impl Meaning for Ruby<'_> {
    fn of(&self, _: &str, node: &Node) -> ResolvedNode {
        match &node.value {
            Value::Name(name) if name.starts_with("ENV") => {
                ResolvedNode::unread("it is taken from the environment")
            }
            Value::Name(name) => meant(self.source, name),
            Value::Call { name, .. } => ResolvedNode::unread(format!("it is what {name}() returns")),
            _ => ResolvedNode::unread("its value is code"),
        }
    }
}
