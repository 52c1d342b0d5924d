//! YAML (and with it JSON, which is YAML) as trees, one for each document.
//!
//! Anchors, aliases and merge keys (`<<: *default`) are followed, since `database.yml` and compose files live by them, but no
//! further than [`NODES_MAX`] values. Tags are passed over. A template (`{{ … }}`, `<% … %>`) outside of a text makes a
//! file that is no YAML, and is said as such.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use zeroize::Zeroizing;

use super::{DEPTH_MAX, Entry, NODES_MAX, Node, SettingsError, Value, text, with_holes};

/// All documents of a file.
///
/// # Errors
/// Where it is no YAML, or too large, too deep or too many.
pub fn read(bytes: &[u8]) -> Result<Vec<Node>, SettingsError> {
    Ok(read_with_anchors(bytes)?.0)
}

/// The same, and the lines of the maps and lists that have an anchor: something else may be made of them.
///
/// # Errors
/// As [`read`].
pub fn read_with_anchors(bytes: &[u8]) -> Result<(Vec<Node>, Vec<usize>), SettingsError> {
    let text = text(bytes)?;
    // Both make a parse error at some other place, where a reader would look in vain.
    for (index, line) in text.lines().enumerate() {
        let line_start = line.trim_start();
        if line_start.starts_with("<%") || line_start.starts_with("{{") || line_start.starts_with("{%") {
            return Err(SettingsError::Syntax {
                line: index + 1,
                why: "a template stands between the values",
            });
        }
    }
    let mut maker = Maker {
        line: 1,
        nodes: 0,
        anchors: HashMap::new(),
        anchored: Vec::new(),
        open: Vec::new(),
        documents: Vec::new(),
    };
    for event in Parser::new_from_str(&text) {
        // The parser's own words may quote the file.
        let (event, span) = event.map_err(|error| SettingsError::Syntax {
            line: error.marker().line(),
            why: "this is no YAML (a template, or a mistake)",
        })?;
        maker.line = span.start.line().max(1);
        maker.event(event)?;
    }
    Ok((maker.documents, maker.anchored))
}

struct Maker {
    line: usize,
    nodes: usize,
    anchors: HashMap<usize, Node>,
    anchored: Vec<usize>,
    open: Vec<Open>,
    documents: Vec<Node>,
}

/// A list or map that has begun.
struct Open {
    line: usize,
    anchor: usize,
    holds: Holds,
    /// It has a tag of somebody's own, which makes something else of it.
    is_tagged: bool,
}

enum Holds {
    Items(Vec<Node>),
    /// The key that waits for its value.
    Entries(Vec<Entry>, Option<(String, usize)>),
}

impl Maker {
    fn event(&mut self, event: Event<'_>) -> Result<(), SettingsError> {
        match event {
            // A tag of somebody's own (`!env`, `!vault`) makes something else of the value.
            Event::Scalar(_, _, anchor, Some(tag)) if !is_plain(&tag) => {
                self.done(Value::Unread, self.line, anchor)
            }
            Event::Scalar(text, style, anchor, _) => self.done(scalar(&text, style), self.line, anchor),
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor).map_or(Value::Unread, |node| node.value.clone());
                self.nodes += Node::new(self.line, value.clone()).count();
                self.done(value, self.line, 0)
            }
            Event::SequenceStart(anchor, tag) => {
                self.begin(anchor, Holds::Items(Vec::new()), tag.is_some_and(|tag| !is_plain(&tag)))
            }
            Event::MappingStart(anchor, tag) => {
                self.begin(anchor, Holds::Entries(Vec::new(), None), tag.is_some_and(|tag| !is_plain(&tag)))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { line, anchor, holds, is_tagged }) = self.open.pop() else { return Ok(()) };
                let value = match holds {
                    _ if is_tagged => Value::Unread,
                    Holds::Items(items) => Value::List(items),
                    Holds::Entries(entries, _) => Value::Map(merged(entries)),
                };
                self.done(value, line, anchor)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn begin(&mut self, anchor: usize, holds: Holds, is_tagged: bool) -> Result<(), SettingsError> {
        if self.open.len() >= DEPTH_MAX {
            return Err(SettingsError::TooMany { line: self.line });
        }
        self.open.push(Open { line: self.line, anchor, holds, is_tagged });
        Ok(())
    }

    fn done(&mut self, value: Value, line: usize, anchor: usize) -> Result<(), SettingsError> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(SettingsError::TooMany { line });
        }
        let node = Node::new(line, value);
        if anchor != 0 {
            // Copies count, or a file of a page would fill the memory.
            self.nodes += node.count();
            self.anchored.push(line);
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.holds) {
            None => self.documents.push(node),
            Some(Holds::Items(items)) => items.push(node),
            Some(Holds::Entries(entries, waiting)) => match waiting.take() {
                Some((key, line)) => entries.push(Entry { key, line, node }),
                // A list as a key is nobody's setting; its value still belongs to it.
                None => *waiting = Some((node.scalar().unwrap_or_default().to_owned(), node.line)),
            },
        }
        Ok(())
    }
}

/// A tag of YAML itself.
fn is_plain(tag: &saphyr_parser::Tag) -> bool {
    tag.is_yaml_core_schema()
}

/// With what `<<` brings, where it is not said here.
fn merged(entries: Vec<Entry>) -> Vec<Entry> {
    if entries.iter().all(|entry| entry.key != "<<") {
        return entries;
    }
    let maps = |merge: Entry| match merge.node.value {
        Value::List(items) => items,
        _ => vec![merge.node],
    };
    let is_rubys = |entry: &Entry| {
        entry.key == "adapter"
            || (entry.key == "<<"
                && std::iter::once(&entry.node)
                    .chain(entry.node.items())
                    .any(|map| map.entries().iter().any(|inner| inner.key == "adapter")))
    };
    if entries.iter().any(is_rubys) {
        return merged_in_place(entries, maps);
    }
    let (merges, mut own): (Vec<Entry>, Vec<Entry>) =
        entries.into_iter().partition(|entry| entry.key == "<<");
    for merge in merges {
        let maps = maps(merge);
        for entry in maps.iter().flat_map(Node::entries) {
            if own.iter().all(|known| known.key != entry.key) {
                own.push(entry.clone());
            }
        }
    }
    own
}

/// What Ruby makes of it, whose settings have an `adapter`: `<<` is laid over what stands in front of it. Of a list of maps the first
/// counts most.
fn merged_in_place(entries: Vec<Entry>, maps: impl Fn(Entry) -> Vec<Node>) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    let put = |all: &mut Vec<Entry>, entry: Entry| {
        all.retain(|known| known.key != entry.key);
        all.push(entry);
    };
    for entry in entries {
        if entry.key != "<<" {
            put(&mut all, entry);
            continue;
        }
        for map in maps(entry).iter().rev() {
            for inner in map.entries() {
                put(&mut all, inner.clone());
            }
        }
    }
    all
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(Zeroizing::new(with_holes(text, false)));
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        // A symbol of Ruby; anybody else takes it for a text, which has its colon.
        _ if is_symbol(text) => Value::Name(text.to_owned()),
        _ if text.parse::<f64>().is_ok() => Value::Number(text.to_owned()),
        _ => Value::Text(Zeroizing::new(with_holes(text, false))),
    }
}

fn is_symbol(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|word| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_merge_key_brings_what_is_not_said() {
        let all = read(b"default: &d\n  host: a\n  ssl_mode: required\nproduction:\n  <<: *d\n  host: b\n")
            .expect("YAML");
        let production = all[0].get("production").expect("it is there");
        assert_eq!(production.get("host").and_then(Node::text), Some("b"));
        assert_eq!(
            production.get("ssl_mode").map(|node| (node.line, node.text())),
            Some((3, Some("required")))
        );
    }

    #[test]
    fn ruby_lays_a_merge_over_what_stands_in_front_of_it() {
        let text = b"d: &d\n  adapter: mysql2\n  sslca: ~\np:\n  sslca: /ca\n  <<: *d\n  host: b\nq:\n  <<: *d\n  sslca: /ca\n";
        let all = read(text).expect("YAML");
        let ca = |key: &str| all[0].get(key).and_then(|map| map.get("sslca")).map(|node| node.value.clone());
        assert_eq!(ca("p"), Some(Value::Null));
        assert_eq!(ca("q"), Some(Value::Text("/ca".to_owned().into())));
        // Everybody else takes what is said in the map itself.
        let other = read(b"d: &d\n  sslca: ~\np:\n  sslca: /ca\n  <<: *d\n").expect("YAML");
        assert_eq!(other[0].get("p").and_then(|map| map.get("sslca")).and_then(Node::text), Some("/ca"));
    }

    #[test]
    fn json_is_read_too_and_lines_are_those_of_the_file() {
        let all = read(b"{\n  \"a\": {\"b\": [true, null, 3]},\n  \"c\": \"true\"}\n").expect("JSON");
        assert_eq!(all[0].get("a").map(|node| node.line), Some(2));
        assert_eq!(all[0].get("c").and_then(Node::text), Some("true"));
        let list = all[0].get("a").and_then(|a| a.get("b")).expect("a list").items();
        assert_eq!(
            list.iter().map(|node| &node.value).collect::<Vec<_>>(),
            [&Value::Bool(true), &Value::Null, &Value::Number("3".into())]
        );
    }

    #[test]
    fn what_is_no_yaml_is_said_with_its_line_and_without_its_words() {
        for (bytes, line) in [
            (&b"a: 1\n<% if geheim %>\nb: 2\n"[..], 2),
            (b"{{- if .geheim }}\na: 1\n", 1),
            (b"a: [geheim\nb: 1\n", 2),
        ] {
            let error = read(bytes).expect_err("no YAML");
            assert!(error.line().is_some_and(|at| at >= line), "{error}");
            assert!(!error.to_string().contains("geheim"), "{error}");
        }
    }

    #[test]
    fn aliases_and_depth_end_somewhere() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = level - 1;
            let items = vec![format!("*a{before}"); 10].join(", ");
            bomb += &format!("a{level}: &a{level} [{items}]\n");
        }
        assert!(matches!(read(bomb.as_bytes()), Err(SettingsError::TooMany { .. })));
        assert!(read("[".repeat(5000).as_bytes()).is_err());
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(matches!(read(deep.as_bytes()), Err(SettingsError::TooMany { .. })));
    }

    #[test]
    fn a_file_of_nothing_but_signs_ends() {
        for sign in [
            "[", "{", "(", "]", "}", "[{", "{[", "[]", "[a,", "{a: ", "{a: [", "- ", "-\n", "- - ", "? ",
            ": ", "a:\n ", "a: &a ", "*a ", "&a ", "!a ", "'", "\"", "\\", "|\n", ">\n", "#", "---\n",
            "...\n", "%", "<%", "{{", "a: b\n", "<<: ", "\n", " ", "\t", "[a]: ",
        ] {
            // What opens something is tried at full size, where a loop in a loop would take minutes.
            let bytes = if sign.starts_with(['[', '{', '(']) {
                crate::settings::SETTINGS_BYTES_MAX - 8
            } else {
                64 * 1024
            };
            let text = sign.repeat(bytes / sign.len());
            let _ = read(text.as_bytes());
            let _ = read(format!("a: {text}").as_bytes());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
        }

        #[test]
        fn no_yaml_like_text_panics(text in "[-a-c:{}\\[\\],&*<!|>'\"# \n]{0,120}") {
            let _ = read(text.as_bytes());
        }
    }
}
