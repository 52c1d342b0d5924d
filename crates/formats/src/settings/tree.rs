//! A value with its line, and the values in it.

use std::fmt;

use zeroize::Zeroizing;

use super::HOLE;

/// One value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The first is 1.
    pub line: usize,
    pub value: Value,
}

/// What a file says, not what a program would make of it.
#[derive(Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    /// May be a secret; may have [`HOLE`]s.
    Text(Zeroizing<String>),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// `ssl.CERT_NONE`, `PDO::MYSQL_ATTR_SSL_CA`, `config`: a name that something else gives a value.
    Name(String),
    /// `name(…)`.
    Call {
        name: String,
        args: Vec<Node>,
        named: Vec<Entry>,
    },
    /// Code that is not followed.
    Unread,
}

/// `key: value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    /// Of the key.
    pub line: usize,
    pub node: Node,
}

impl Node {
    pub fn new(line: usize, value: Value) -> Self {
        Self { line, value }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a scalar, a boolean or number as it is commonly written.
    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Number(text) => Some(text),
            Value::Bool(true) => Some("true"),
            Value::Bool(false) => Some("false"),
            _ => None,
        }
    }

    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The last entry with this key, as all these languages read it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// `self` and every value in it, parents first, with the keys that lead to it.
    pub fn walk<'a>(&'a self, each: &mut dyn FnMut(&[&'a str], &'a Node)) {
        fn go<'a>(node: &'a Node, keys: &mut Vec<&'a str>, each: &mut dyn FnMut(&[&'a str], &'a Node)) {
            each(keys, node);
            for item in node.items() {
                go(item, keys, each);
            }
            for entry in node.entries() {
                keys.push(&entry.key);
                go(&entry.node, keys, each);
                keys.pop();
            }
            if let Value::Call { args, named, .. } = &node.value {
                for arg in args {
                    go(arg, keys, each);
                }
                for entry in named {
                    keys.push(&entry.key);
                    go(&entry.node, keys, each);
                    keys.pop();
                }
            }
        }
        go(self, &mut Vec::new(), each);
    }

    /// `self` and all values in it, counted.
    pub fn count(&self) -> usize {
        let mut count = 0;
        self.walk(&mut |_, _| count += 1);
        count
    }
}

/// Blind for what may be a secret.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(_) => f.write_str("Number(not shown)"),
            Self::Text(text) if text.contains(HOLE) => f.write_str("Text(not shown, with holes)"),
            Self::Text(_) => f.write_str("Text(not shown)"),
            Self::List(items) => f.debug_list().entries(items).finish(),
            Self::Map(entries) => f.debug_list().entries(entries).finish(),
            Self::Name(name) => write!(f, "Name({name})"),
            Self::Call { name, args, named } => write!(f, "{name}({args:?}, {named:?})"),
            Self::Unread => f.write_str("Unread"),
        }
    }
}
