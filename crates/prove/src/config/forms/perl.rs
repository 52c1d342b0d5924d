//! Perl: the DSN of `DBI->connect`, and the attributes behind it.

use formats::settings::code::{self, Language, Source};
use formats::settings::{Node, Value};

use super::{Form, ends};
use crate::config::nodes::{Meaning, Meant, args, flatten, look_up, name};
use crate::config::{Given, Read, Setting, SettingsError, urls};

pub(super) const PERL: Form = Form {
    id: "perl",
    name: "a file of Perl",
    fits: |name| ends(name, &[".pl", ".pm", ".cgi", ".psgi", ".t"]),
    read,
};

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let source = code::read(bytes, Language::Perl)?;
    let meaning = Perl { source: &source };
    let mut read = Read::default();
    for call in
        source.calls.iter().filter(|call| name(call) == "DBI->connect" || name(call) == "DBI->connect_cached")
    {
        let Some(first) = args(call).first() else { continue };
        let dsn = match &first.value {
            Value::Name(name) => look_up(&source, name).unwrap_or_else(|| first.clone()),
            _ => first.clone(),
        };
        let Some(mut found) = dsn.text().and_then(|text| urls::found(text, dsn.line, name(call))) else {
            continue;
        };
        match args(call).get(3).map(|node| (&node.value, node.line)) {
            Some((Value::Map(entries), _)) => {
                for entry in entries {
                    flatten(&entry.key, &entry.node, &meaning, &mut found.settings);
                }
            }
            None | Some((Value::Null, _)) => {}
            Some((_, line)) => found.settings.push(Setting::new(
                "ssl",
                Given::Unread("its attributes are code".into()),
                line,
            )),
        }
        read.found.push(found);
    }
    for text in &source.texts {
        if let Some(found) = text.text().and_then(|words| urls::found(words, text.line, "a text"))
            && read.found.iter().all(|known| known.line != found.line)
        {
            read.found.push(found);
        }
    }
    Ok(read)
}

struct Perl<'a> {
    source: &'a Source,
}

impl Meaning for Perl<'_> {
    fn number(&self, text: &str) -> Given {
        Given::Text(text.to_owned())
    }

    fn of(&self, _: &str, node: &Node) -> Meant {
        match &node.value {
            Value::Name(name) => match look_up(self.source, name) {
                Some(node) => Meant::Node(node),
                None => Meant::Given(Given::Unread(format!("nothing in this file says what {name} is"))),
            },
            _ => Meant::Given(Given::Unread("its value is code".into())),
        }
    }
}
