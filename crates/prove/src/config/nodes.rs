//! Trees of values as settings: `ssl: {ca: …}` is `ssl.ca`.
//!
//! Nothing is left out: what is no setting that can be read becomes an [`obstacle`], and whoever has one is `unknown`. Of two
//! values for one key the last counts, also where one of them comes out of another map.

use formats::settings::code::{Source, Why};
use formats::settings::{Entry, HOLE, Node, Value};

use super::{Setting, SettingValue, obstacle};

/// What names and calls stand for; every language has its own.
pub(super) trait Meaning {
    fn of(&self, key: &str, node: &Node) -> ResolvedNode;

    /// A number: whether 0 is off, and 1 on, depends on who reads it.
    fn number(&self, _: &str) -> SettingValue {
        SettingValue::Unread("what a number does here was not measured".into())
    }

    /// Nothing (`None`, `null`) under a key: what is there when nothing is said, unless it stands inside of a value, where drivers
    /// that look the word up find it.
    fn null(&self, key: &str) -> Option<SettingValue> {
        key.contains('.')
            .then(|| SettingValue::Unread("what nothing does in this place was not measured".into()))
    }

    /// The driver's own word for a key; `None` for what is no word here.
    fn key(&self, written: &str) -> Option<String> {
        Some(written.to_owned())
    }
}

pub(super) enum ResolvedNode {
    Value(SettingValue),
    /// Some other node: it is looked at in its place.
    Node(Node),
    /// These settings, whatever they are called.
    Settings(Vec<Setting>),
}

impl ResolvedNode {
    pub(super) fn unread(why: impl Into<String>) -> Self {
        Self::Value(SettingValue::Unread(why.into()))
    }

    pub(super) fn why(why: Why) -> Self {
        Self::Value(SettingValue::Unread(why.text))
    }
}

/// For files that have neither names nor calls.
pub(super) struct Plain;

impl Meaning for Plain {
    fn of(&self, _: &str, _: &Node) -> ResolvedNode {
        ResolvedNode::unread("its value is code")
    }
}

/// How often a name may stand for a name.
const STEPS_MAX: usize = 8;

/// How many values the settings of one connection may have, those behind names counted each time.
const VALUES_MAX: usize = 512;

/// The settings that a whole set of options makes: a map, or what stands for one.
pub(super) fn options(node: &Node, meaning: &dyn Meaning, all: &mut Vec<Setting>) {
    let mut flattening = Flattening { meaning, values_left: VALUES_MAX };
    flattening.map("", node, all, STEPS_MAX);
}

/// The same of entries that have no node of their own: the words of a call.
pub(super) fn entries(entries: &[Entry], meaning: &dyn Meaning, all: &mut Vec<Setting>) {
    let mut flattening = Flattening { meaning, values_left: VALUES_MAX };
    flattening.entries("", entries, all, STEPS_MAX);
}

/// The settings of `node` under `key`, in place of what is there.
pub(super) fn flatten(key: &str, node: &Node, meaning: &dyn Meaning, all: &mut Vec<Setting>) {
    let mut flattening = Flattening { meaning, values_left: VALUES_MAX };
    replace(key, all);
    flattening.node(key, node, all, STEPS_MAX);
}

/// A key that is set takes the place of all that was said under it before.
pub(super) fn replace(key: &str, all: &mut Vec<Setting>) {
    if key == "..." {
        return;
    }
    let is_inner =
        |known: &str| known.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    all.retain(|setting| setting.key == "..." || !is_inner(&setting.key));
}

/// Settings that somebody gives besides, and that count more: each takes the place of all under the same first word.
pub(super) fn layer(all: &mut Vec<Setting>, more: Vec<Setting>) {
    for setting in &more {
        let root = setting.key.split('.').next().unwrap_or_default();
        if !setting.key.starts_with("...") {
            replace(root, all);
        }
    }
    all.extend(more);
}

struct Flattening<'a> {
    meaning: &'a dyn Meaning,
    values_left: usize,
}

impl Flattening<'_> {
    /// One more value; false where there are too many, which is said once.
    fn counts(&mut self, line: usize, all: &mut Vec<Setting>) -> bool {
        match self.values_left {
            0 => return false,
            1 => all.push(obstacle(line, "it holds more values than settings do")),
            _ => {}
        }
        self.values_left -= 1;
        true
    }

    /// A map whose entries stand under `key`, or what stands for one.
    fn map(&mut self, key: &str, node: &Node, all: &mut Vec<Setting>, steps: usize) {
        if !self.counts(node.line, all) {
            return;
        }
        match &node.value {
            Value::Null => {}
            Value::Map(entries) => self.entries(key, entries, all, steps),
            // An empty array of PHP.
            Value::List(items) if items.is_empty() => {}
            Value::Name(_) | Value::Call { .. } | Value::Unread => match self.meaning.of("...", node) {
                ResolvedNode::Node(other) if steps > 0 => self.map(key, &other, all, steps - 1),
                ResolvedNode::Node(_) => all.push(obstacle(node.line, "names lead in a circle")),
                ResolvedNode::Settings(settings) => all.extend(settings),
                ResolvedNode::Value(SettingValue::Unread(why)) => all.push(obstacle(node.line, &why)),
                ResolvedNode::Value(_) => all.push(obstacle(node.line, "it is no set of options")),
            },
            _ => all.push(obstacle(node.line, "it is no set of options")),
        }
    }

    fn entries(&mut self, key: &str, entries: &[Entry], all: &mut Vec<Setting>, steps: usize) {
        for entry in entries {
            if entry.key == "..." {
                self.map(key, &entry.node, all, steps);
                continue;
            }
            let Some(own) = self.meaning.key(&entry.key) else {
                all.push(obstacle(
                    entry.line,
                    "what stands in front of a value here is no option that is known",
                ));
                continue;
            };
            // `ssl.ca` is what is written as one word here, and is none of any driver's.
            if own.contains('.') {
                all.push(obstacle(entry.line, "a dot stands in the name of an option"));
                continue;
            }
            let inner = if key.is_empty() { own } else { format!("{key}.{own}") };
            replace(&inner, all);
            self.node(&inner, &entry.node, all, steps);
        }
    }

    fn node(&mut self, key: &str, node: &Node, all: &mut Vec<Setting>, steps: usize) {
        let line = node.line;
        if !self.counts(line, all) {
            return;
        }
        let push = |all: &mut Vec<Setting>, given: SettingValue| all.push(Setting::new(key, given, line));
        match &node.value {
            Value::Null => {
                if let Some(given) = self.meaning.null(key) {
                    push(all, given);
                }
            }
            Value::Bool(is_on) => push(all, SettingValue::Flag(*is_on)),
            Value::Number(text) => push(all, self.meaning.number(text)),
            Value::Text(text) if text.chars().all(|c| c == HOLE) && !text.is_empty() => {
                push(all, SettingValue::Unread("a variable or template is filled in when it runs".into()));
            }
            Value::Text(text) => push(all, SettingValue::Text(text.to_string())),
            // A list of CAs, or of versions: one that is not known is enough.
            Value::List(items) => {
                let mut inner = Vec::new();
                for item in items {
                    self.node(key, item, &mut inner, steps);
                }
                let unread = inner.iter().position(|one| matches!(one.given, SettingValue::Unread(_)));
                match inner.get(unread.unwrap_or(0)) {
                    Some(one) => all.push(one.clone()),
                    None => push(
                        all,
                        SettingValue::Unread("what an empty list does here was not measured".into()),
                    ),
                }
            }
            Value::Map(entries) => {
                let before = all.len();
                self.entries(key, entries, all, steps);
                // With nothing in it, it is still there.
                if all.len() == before {
                    push(all, SettingValue::Text("{}".into()));
                }
            }
            Value::Name(_) | Value::Call { .. } | Value::Unread => match self.meaning.of(key, node) {
                ResolvedNode::Value(given) => push(all, given),
                ResolvedNode::Node(other) if steps > 0 => self.node(key, &other, all, steps - 1),
                ResolvedNode::Node(_) => push(all, SettingValue::Unread("names lead in a circle".into())),
                ResolvedNode::Settings(settings) => all.extend(settings),
            },
        }
    }
}

/// What a name stands for in this source.
pub(super) fn meant(source: &Source, name: &str) -> ResolvedNode {
    match source.resolve(name) {
        Ok(node) => ResolvedNode::Node(node),
        Err(why) => ResolvedNode::why(why),
    }
}

/// `node`, or what it stands for if it is a name.
///
/// # Errors
/// Why that is not known.
pub(super) fn followed(source: &Source, node: &Node) -> Result<Node, Why> {
    let mut node = node.clone();
    for _ in 0..STEPS_MAX {
        match &node.value {
            Value::Name(name) => node = source.resolve(name)?,
            _ => return Ok(node),
        }
    }
    Err(Why { line: node.line, text: "names lead in a circle".into() })
}

/// Entries without those that a later one of the same key takes the place of, whatever stands in them.
pub(super) fn last_of_each(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    let is_last = |at: usize, entry: &Entry| {
        entry.key == "..." || entries.iter().skip(at + 1).all(|later| later.key != entry.key)
    };
    entries.iter().enumerate().filter(move |(at, entry)| is_last(*at, entry)).map(|(_, entry)| entry)
}

/// The last entry of this key as text, where it is one.
pub(super) fn text_of(node: &Node, key: &str) -> String {
    node.get(key).and_then(Node::text).unwrap_or_default().replace(HOLE, "…")
}

pub(super) fn words(call: &Node) -> &[Entry] {
    match &call.value {
        Value::Call { named, .. } => named,
        _ => &[],
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
