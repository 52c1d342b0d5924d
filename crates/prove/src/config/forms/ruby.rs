//! Ruby: `Mysql2::Client.new`, `establish_connection`, and URLs of Sequel.

use std::collections::HashSet;

use formats::settings::code::{self, Language, Source, Variables};
use formats::settings::{Node, Value};

use super::{Form, ends, loose};
use crate::config::nodes::{
    Meaning, ResolvedNode, args, entries, followed, meant, name, options, text_of, words,
};
use crate::config::{ConnectionSettings, Driver, Read, SettingsError, Style, Unread, obstacle, urls};

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
        read.found.push(ConnectionSettings {
            line: call.line,
            what: name(call).to_owned(),
            driver: Driver::Family("ruby-mysql2"),
            host: text_of(&whole, "host"),
            settings,
            style: Style::Ruby,
            front: None,
        });
    }
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
