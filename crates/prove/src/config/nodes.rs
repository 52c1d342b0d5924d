//! Trees of values as settings: `ssl: {ca: …}` is `ssl.ca`.

use formats::settings::code::Source;
use formats::settings::{HOLE, Node, Value};

use super::{Given, Setting};

/// What names and calls stand for; every language has its own.
pub(super) trait Meaning {
    fn of(&self, key: &str, node: &Node) -> Meant;
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

/// The settings of `node` under `key`.
pub(super) fn flatten(key: &str, node: &Node, meaning: &dyn Meaning, all: &mut Vec<Setting>) {
    flatten_in(key, node, meaning, all, STEPS_MAX);
}

fn flatten_in(key: &str, node: &Node, meaning: &dyn Meaning, all: &mut Vec<Setting>, steps: usize) {
    let mut push = |given: Given| all.push(Setting::new(key, given, node.line));
    match &node.value {
        // Null is what is there when nothing is said.
        Value::Null => {}
        Value::Bool(is_on) => push(Given::Flag(*is_on)),
        Value::Number(text) => push(Given::Text(text.clone())),
        Value::Text(text) if text.chars().all(|c| c == HOLE) && !text.is_empty() => {
            push(Given::Unread("a variable or template is filled in when it runs".into()));
        }
        Value::Text(text) => push(Given::Text(text.to_string())),
        // A list of CAs, or of versions.
        Value::List(items) => match items.as_slice() {
            [] => {}
            [first, ..] => flatten_in(key, first, meaning, all, steps),
        },
        Value::Map(entries) if entries.is_empty() => push(Given::Text("{}".into())),
        Value::Map(entries) => {
            for entry in entries {
                let inner = if entry.key == "..." || key.is_empty() {
                    entry.key.clone()
                } else {
                    format!("{key}.{}", entry.key)
                };
                flatten_in(&inner, &entry.node, meaning, all, steps);
            }
        }
        Value::Name(_) | Value::Call { .. } | Value::Unread => match meaning.of(key, node) {
            Meant::Given(given) => push(given),
            Meant::Node(other) if steps > 0 => {
                // `**config` and `...config` bring their own keys.
                let key = if key == "..." && matches!(other.value, Value::Map(_)) { "" } else { key };
                flatten_in(key, &other, meaning, all, steps - 1);
            }
            Meant::Node(_) => push(Given::Unread("names lead in a circle".into())),
            Meant::Settings(settings) => all.extend(settings),
        },
    }
}

/// The value of a name, or of a part of one: `config.db.ssl`.
pub(super) fn look_up(source: &Source, name: &str) -> Option<Node> {
    if let Some(node) = source.value(name) {
        return Some(node.clone());
    }
    let (head, rest) = name.split_once('.')?;
    let mut node = source.value(head)?.clone();
    for part in rest.split('.') {
        node = node.get(part)?.clone();
    }
    Some(node)
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
