//! Trees of values as settings: `ssl: {ca: …}` is `ssl.ca`.

use formats::settings::code::Source;
use formats::settings::{HOLE, Node, Value};

use super::{Given, Setting};

/// What names and calls stand for; every language has its own.
pub(super) trait Meaning {
    fn of(&self, key: &str, node: &Node) -> Meant;

    /// A number: whether 0 is off, and 1 on, depends on who reads it.
    fn number(&self, _: &str) -> Given {
        Given::Unread("what a number does here was not measured".into())
    }
}

pub(super) enum Meant {
    Given(Given),
    /// Some other node: it is looked at in its place.
    Node(Node),
    /// These settings, whatever they are called.
    Settings(Vec<Setting>),
}

/// For files that have neither names nor calls.
pub(super) struct Plain;

impl Meaning for Plain {
    fn of(&self, _: &str, _: &Node) -> Meant {
        Meant::Given(Given::Unread("its value is code".into()))
    }
}

/// How often a name may stand for a name.
const STEPS_MAX: usize = 8;

/// How many values the settings of one connection may have, those behind names counted each time.
const VALUES_MAX: usize = 512;

/// The settings of `node` under `key`.
pub(super) fn flatten(key: &str, node: &Node, meaning: &dyn Meaning, all: &mut Vec<Setting>) {
    let mut flattening = Flattening { meaning, all, values_left: VALUES_MAX };
    flattening.node(key, node, STEPS_MAX);
}

struct Flattening<'a> {
    meaning: &'a dyn Meaning,
    all: &'a mut Vec<Setting>,
    values_left: usize,
}

impl Flattening<'_> {
    fn push(&mut self, key: &str, line: usize, given: Given) {
        self.all.push(Setting::new(key, given, line));
    }

    fn unread(&mut self, key: &str, line: usize, why: &str) {
        self.push(key, line, Given::Unread(why.to_owned()));
    }

    fn node(&mut self, key: &str, node: &Node, steps: usize) {
        let line = node.line;
        self.values_left = match self.values_left {
            0 => return,
            // Said once, where it ends.
            1 => {
                self.unread("ssl", line, "it holds more values than settings do");
                0
            }
            left => left - 1,
        };
        match &node.value {
            // Null is what is there when nothing is said.
            Value::Null => {}
            Value::Bool(is_on) => self.push(key, line, Given::Flag(*is_on)),
            Value::Number(text) => {
                let given = self.meaning.number(text);
                self.push(key, line, given);
            }
            Value::Text(text) if text.chars().all(|c| c == HOLE) && !text.is_empty() => {
                self.unread(key, line, "a variable or template is filled in when it runs");
            }
            Value::Text(text) => self.push(key, line, Given::Text(text.to_string())),
            // A list of CAs, or of versions.
            Value::List(items) => {
                if let Some(first) = items.first() {
                    self.node(key, first, steps);
                }
            }
            Value::Map(entries) if entries.is_empty() => self.push(key, line, Given::Text("{}".into())),
            Value::Map(entries) => {
                for entry in entries {
                    let inner = if entry.key == "..." || key.is_empty() {
                        entry.key.clone()
                    } else {
                        format!("{key}.{}", entry.key)
                    };
                    self.node(&inner, &entry.node, steps);
                }
            }
            Value::Name(_) | Value::Call { .. } | Value::Unread => match self.meaning.of(key, node) {
                Meant::Given(given) => self.push(key, line, given),
                Meant::Node(other) if steps > 0 => {
                    // `**config` and `...config` bring their own keys.
                    let key = if key == "..." && matches!(other.value, Value::Map(_)) { "" } else { key };
                    self.node(key, &other, steps - 1);
                }
                Meant::Node(_) => self.unread(key, line, "names lead in a circle"),
                Meant::Settings(settings) => self.all.extend(settings),
            },
        }
    }
}

/// The value of a name, or of a part of one: `config.db.ssl`. None of a map that is changed in place: it is not all there.
pub(super) fn look_up(source: &Source, name: &str) -> Option<Node> {
    let is_whole = |name: &str, node: &Node| {
        !matches!(node.value, Value::Map(_) | Value::List(_)) || source.change(name).is_none()
    };
    if let Some(node) = source.value(name) {
        return is_whole(name, node).then(|| node.clone());
    }
    let (head, rest) = name.split_once('.')?;
    let mut node = source.value(head).filter(|node| is_whole(head, node))?.clone();
    for part in rest.split('.') {
        node = node.get(part)?.clone();
    }
    Some(node)
}

/// What is said of settings under a name that is changed in place.
pub(super) fn changed(source: &Source, name: &str) -> Option<Setting> {
    let line = source.change(name)?;
    Some(Setting::new("...", Given::Unread(format!("{name} is changed later, in line {line}")), line))
}

/// The last entry of this key as text, where it is one.
pub(super) fn text_of(node: &Node, key: &str) -> String {
    node.get(key).and_then(Node::text).unwrap_or_default().replace(HOLE, "…")
}

/// The words of a call, as a map.
pub(super) fn named(call: &Node) -> Node {
    match &call.value {
        Value::Call { named, .. } => Node::new(call.line, Value::Map(named.clone())),
        _ => Node::new(call.line, Value::Map(vec![])),
    }
}

pub(super) fn args(call: &Node) -> &[Node] {
    match &call.value {
        Value::Call { args, .. } => args,
        _ => &[],
    }
}

pub(super) fn name(call: &Node) -> &str {
    match &call.value {
        Value::Call { name, .. } | Value::Name(name) => name,
        _ => "",
    }
}
