//! Perl: the DSN of `DBI->connect`, and the attributes behind it.

use std::collections::HashSet;

use formats::settings::code::{self, Language, Source};
use formats::settings::{Node, Value};

use super::{Form, Variables, ends, loose};
use crate::config::nodes::{Meaning, ResolvedNode, args, followed, meant, name, options, words};
use crate::config::{Read, SettingValue, SettingsError, Unread, is_about_tls, obstacle, urls};

pub(super) const PERL: Form = Form {
    id: "perl",
    name: "a file of Perl",
    fits: |name| ends(name, &[".pl", ".pm", ".cgi", ".psgi", ".t"]),
    read,
};

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    let source = code::read(bytes, Language::Perl)?;
    let meaning = Perl { source: &source };
    let mut read =
        Read { doubt: source.doubt.as_ref().map(|why| (why.line, why.text.clone())), ..Read::default() };
    let mut told = HashSet::new();
    for call in
        source.calls.iter().filter(|call| name(call) == "DBI->connect" || name(call) == "DBI->connect_cached")
    {
        let Some(first) = args(call).first() else { continue };
        told.insert(call.line);
        let dsn = match followed(&source, first) {
            Ok(dsn) => dsn,
            Err(why) => {
                read.unread.push(Unread { line: why.line, why: why.text });
                continue;
            }
        };
        told.insert(dsn.line);
        let Some(text) = dsn.text() else {
            read.unread.push(Unread { line: dsn.line, why: "its data source is code".into() });
            continue;
        };
        let Some(mut found) = urls::found(text, dsn.line, name(call)) else {
            // Another database; or a text that begins with something that is filled in.
            let is_other = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("dbi:"))
                && !text.to_ascii_lowercase().contains("mysql")
                && !text.to_ascii_lowercase().contains("maria")
                && !text.contains(formats::settings::HOLE);
            if !is_other {
                read.unread.push(Unread { line: dsn.line, why: "its data source is not read".into() });
            }
            continue;
        };
        if !words(call).is_empty() || args(call).len() > 4 {
            found.settings.push(obstacle(call.line, "its arguments are not all read"));
        }
        let mut attributes = Vec::new();
        if let Some(node) = args(call).get(3) {
            options(node, &meaning, &mut attributes);
        }
        // Which of the two counts was not measured.
        let twice = attributes.iter().find(|setting| {
            setting.key != "..."
                && is_about_tls(&setting.key)
                && found.settings.iter().any(|other| other.key == setting.key)
        });
        if let Some(twice) = twice {
            found.settings.push(obstacle(
                twice.line,
                &format!("{} stands in the data source and beside it", twice.key),
            ));
        }
        found.settings.extend(attributes);
        read.found.push(found);
    }
    if let Some(line) = source.handed_on("DBI->connect") {
        read.unread.push(Unread { line, why: "what DBI->connect is given here is not read".into() });
    }
    loose::add(&source, bytes, &told, None, &mut read);
    Ok(read)
}

struct Perl<'a> {
    source: &'a Source,
}

impl Meaning for Perl<'_> {
    fn number(&self, text: &str) -> SettingValue {
        SettingValue::Text(text.to_owned())
    }

    fn of(&self, _: &str, node: &Node) -> ResolvedNode {
        match &node.value {
            Value::Name(name) => meant(self.source, name),
            _ => ResolvedNode::unread("its value is code"),
        }
    }
}
