//! Ruby: `Mysql2::Client.new`, `establish_connection`, and URLs of Sequel.

use formats::settings::code::{self, Language, Source};
use formats::settings::{Node, Value};

use super::{Form, ends};
use crate::config::nodes::{Meaning, Meant, args, flatten, look_up, name, named, text_of};
use crate::config::{Driver, Found, Given, Read, SettingsError, Style, urls};

pub(super) const RUBY: Form =
    Form { id: "ruby", name: "a file of Ruby", fits: |name| ends(name, &[".rb", ".ru", ".rake"]), read };

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let source = code::read(bytes, Language::Ruby)?;
    let meaning = Ruby { source: &source };
    let mut read = Read::default();
    for call in &source.calls {
        let words = match args(call).first() {
            Some(map @ Node { value: Value::Map(_), .. }) => map.clone(),
            Some(Node { value: Value::Name(name), .. }) => {
                look_up(&source, name).unwrap_or_else(|| named(call))
            }
            _ => named(call),
        };
        let is_client = name(call) == "Mysql2::Client.new";
        let is_adapter = name(call).ends_with("establish_connection") || name(call) == "Sequel.connect";
        let is_ours =
            is_client || (is_adapter && words.get("adapter").and_then(Node::text) == Some("mysql2"));
        if !is_ours {
            continue;
        }
        let mut settings = Vec::new();
        for entry in words.entries() {
            flatten(&entry.key, &entry.node, &meaning, &mut settings);
        }
        if words.entries().is_empty() && !args(call).is_empty() {
            settings.push(crate::config::Setting::new(
                "ssl",
                Given::Unread("what it is given is code".into()),
                call.line,
            ));
        }
        read.found.push(Found {
            line: call.line,
            what: name(call).to_owned(),
            driver: Driver::Family("ruby-mysql2"),
            host: text_of(&words, "host"),
            settings,
            style: Style::Ruby,
            front: None,
        });
    }
    for text in &source.texts {
        read.found.extend(text.text().and_then(|words| urls::found(words, text.line, "a text")));
    }
    Ok(read)
}

struct Ruby<'a> {
    source: &'a Source,
}

impl Meaning for Ruby<'_> {
    fn of(&self, _: &str, node: &Node) -> Meant {
        match &node.value {
            Value::Name(name) if name.starts_with("ENV") => {
                Meant::Given(Given::Unread("it is taken from the environment".into()))
            }
            Value::Name(name) => match look_up(self.source, name) {
                Some(node) => Meant::Node(node),
                None => Meant::Given(Given::Unread(format!("nothing in this file says what {name} is"))),
            },
            Value::Call { name, .. } => Meant::Given(Given::Unread(format!("it is what {name}() returns"))),
            _ => Meant::Given(Given::Unread("its value is code".into())),
        }
    }
}
