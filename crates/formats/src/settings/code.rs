//! The values that stand literally in the source of scripts: JavaScript, Python, PHP, Ruby, Perl, and the texts of others.
//!
//! This is no compiler. It knows texts, numbers, lists, maps, calls and names, and says [`Value::Unread`] of everything else,
//! so a caller cannot take an expression for a value. A name may be looked up in [`Source::assigned`]; it is the caller
//! who decides whether one assignment is enough.

mod lexer;
mod names;
mod variables;

use zeroize::Zeroizing;

use lexer::{Kind, Token};

use super::{DEPTH_MAX, Entry, HOLE, NODES_MAX, Node, SettingsError, Value, text};

pub use names::{Import, Mention, Occurrence, Touch, Use};
pub use variables::{Filled, Variables};

/// Whose source it is: comments, quotes and what is filled into texts differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    JavaScript,
    Python,
    Php,
    Ruby,
    Perl,
    /// Any with `//` comments: Go, Rust, Java and their like. Of it only texts and calls are worth something.
    #[default]
    CLike,
}

/// Why something cannot be read for certain, and where. Never has a value of the file in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The first is 1.
    pub line: usize,
    pub text: String,
}

impl Why {
    fn new(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }
}

/// What stands in a source.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Every call, also those within others, in the order in which they end.
    pub calls: Vec<Node>,
    /// `name = value`, in the order of the file; attributes (`context.check_hostname`) are names with a dot.
    pub assigned: Vec<Entry>,
    /// Maps and lists that stand by themselves (`module.exports = {…}` is an assignment, `{…}` of a JSON file is not).
    pub loose: Vec<Node>,
    /// Every text.
    pub texts: Vec<Node>,
    /// Why nothing of this file is certain: it was not understood as what it is, somewhere.
    pub doubt: Option<Why>,
    /// What it asked its environment for, and got ([`read_in`]).
    pub filled: Vec<Filled>,
    /// What names of other files stand for there ([`Variables::names`]).
    taken: Vec<(String, Node)>,
    names: names::Names,
}

/// Reads a source.
///
/// # Errors
/// A file that is too large, or values that are too many or too deep.
pub fn read(bytes: &[u8], language: Language) -> Result<Source, SettingsError> {
    read_in(bytes, language, &Variables::default())
}

/// The same in an environment: what the program asks it for stands in its place.
///
/// # Errors
/// As [`read`].
pub fn read_in(bytes: &[u8], language: Language, variables: &Variables) -> Result<Source, SettingsError> {
    let text = text(bytes)?;
    let mut lexed = lexer::tokens(&text, language);
    let (tokens, filled) = variables::filled(lexed.tokens, language, variables);
    lexed.tokens = tokens;
    let mut reader =
        Reader { tokens: &lexed.tokens, at: 0, depth: 0, nodes: 0, language, source: Source::default() };
    while reader.at < lexed.tokens.len() {
        reader.statement()?;
    }
    let mut source = reader.source;
    source.filled = filled;
    source.taken.clone_from(&variables.names);
    let spans = std::mem::take(&mut source.names);
    source.names = names::Names::new(lexed.tokens, language, spans);
    source.doubt = lexed
        .broken
        .map(|(line, why)| Why::new(line, why))
        .or_else(|| source.names.unbalanced().map(|line| Why::new(line, "its brackets do not match")));
    Ok(source)
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    nodes: usize,
    language: Language,
    source: Source,
}

impl Reader<'_> {
    fn kind(&self, ahead: usize) -> Option<&Kind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    fn is(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.kind(ahead), Some(Kind::Sign(known)) if *known == sign)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    fn statement(&mut self) -> Result<(), SettingsError> {
        let line = self.line();
        let begins = self.at;
        match self.kind(0) {
            Some(Kind::Name(name)) => {
                let is_word = matches!(
                    name.as_str(),
                    "const"
                        | "let"
                        | "var"
                        | "export"
                        | "default"
                        | "return"
                        | "new"
                        | "await"
                        | "async"
                        | "my"
                        | "our"
                        | "local"
                        | "public"
                        | "private"
                        | "protected"
                        | "static"
                        | "readonly"
                        | "final"
                        | "yield"
                        | "if"
                        | "else"
                        | "elif"
                        | "with"
                        | "as"
                );
                if is_word {
                    self.at += 1;
                    return Ok(());
                }
                // `String url = …` of Java.
                if self.language == Language::CLike
                    && matches!(
                        self.tokens.get(self.at + 1),
                        Some(Token { kind: Kind::Name(_), starts_line: false, .. })
                    )
                    && self.is(2, "=")
                {
                    self.at += 1;
                    return Ok(());
                }
                let name = name.clone();
                // `NAME: dict = {…}` of Python, `name: Type = …` of TypeScript are skipped up to the sign.
                let after = if self.is(1, ":")
                    && matches!(self.language, Language::Python | Language::JavaScript)
                    && matches!(
                        self.tokens.get(self.at + 2),
                        Some(Token { kind: Kind::Name(_), starts_line: false, .. })
                    )
                    && self.is(3, "=")
                {
                    3
                // `name := value` of Go.
                } else if self.language == Language::CLike && self.is(1, ":") && self.is(2, "=") {
                    2
                } else {
                    1
                };
                if self.is(after, "=") {
                    self.at += after + 1;
                    let node = self.expression(true)?;
                    self.source.names.note_assigned(begins, self.at);
                    self.source.assigned.push(Entry { key: name, line, node });
                } else {
                    self.expression(true)?;
                }
            }
            // A block of code is no map: its statements are read one by one.
            Some(Kind::Sign("{")) if !self.is_map() => self.at += 1,
            Some(Kind::Sign("[" | "{")) => {
                let node = self.expression(true)?;
                if matches!(node.value, Value::Map(_) | Value::List(_)) {
                    self.source.loose.push(node);
                }
            }
            Some(Kind::Text(_)) => {
                self.expression(true)?;
            }
            _ => self.at += 1,
        }
        // Whatever was not understood: at least one further.
        self.at = self.at.max(begins + 1);
        Ok(())
    }

    /// Whether the brace here opens a map: a key stands behind it.
    fn is_map(&self) -> bool {
        matches!(self.kind(1), Some(Kind::Text(_) | Kind::Name(_) | Kind::Number(_)))
            && (self.is(2, ":") || self.is(2, "=>"))
    }

    /// A value, up to what ends it: a comma, a closing bracket, the end of the statement. At the top a new line is such an end.
    fn expression(&mut self, is_top: bool) -> Result<Node, SettingsError> {
        let line = self.line();
        if self.depth >= DEPTH_MAX || self.nodes >= NODES_MAX {
            return Err(SettingsError::TooMany { line });
        }
        let texts_before = self.source.texts.len();
        let mut node = self.operand()?;
        self.nodes += 1;
        if self.language == Language::JavaScript {
            self.behind_a_call(&mut node)?;
        }
        if self.is_end(is_top) {
            return Ok(node);
        }
        // Flags: `A | B`.
        while self.is(0, "|")
            && let (Value::Name(all), Some(Kind::Name(more))) =
                (&mut node.value, self.tokens.get(self.at + 1).map(|token| &token.kind))
        {
            all.push('|');
            all.push_str(more);
            self.at += 2;
        }
        if self.is_end(is_top) {
            return Ok(node);
        }
        // `__DIR__ . '/ca.pem'`: where the file lies, and a text behind it.
        if self.language == Language::Php
            && self.is(0, ".")
            && matches!(&node.value, Value::Name(name) if name == "__DIR__")
        {
            node.value = Value::Text(Zeroizing::new(HOLE.to_string()));
        }
        // Texts that are joined are one text, with a hole for each part that is not written here.
        let joint = match self.language {
            Language::Php | Language::Perl => ".",
            _ => "+",
        };
        if self.is(0, joint) && matches!(node.value, Value::Text(_)) {
            while self.is(0, joint) {
                self.at += 1;
                let more = self.operand()?;
                if let Value::Text(whole) = &mut node.value {
                    match &more.value {
                        Value::Text(text) => whole.push_str(text),
                        _ => whole.push(HOLE),
                    }
                }
            }
            // What a person would call the text of this place is the whole of it.
            self.source.texts.truncate(texts_before);
            self.source.texts.push(node.clone());
            if self.is_end(is_top) {
                return Ok(node);
            }
        }
        // A ternary of Laravel's own files: what it takes where the extension is there, and without it nothing connects.
        if self.is(0, "?") && matches!(&node.value, Value::Call { name, .. } if name == "extension_loaded") {
            self.at += 1;
            let chosen = self.expression(false)?;
            self.skip_to_end(is_top)?;
            return Ok(chosen);
        }
        // `a || b`, `a + b`, `a.b[c]`: code.
        self.skip_to_end(is_top)?;
        node.value = Value::Unread;
        Ok(node)
    }

    /// `require('fs').readFileSync(…)` is `fs.readFileSync(…)`, `require('knex')(…)` is `knex(…)`, and a file that was read is the same with
    /// `.toString()` behind it.
    fn behind_a_call(&mut self, node: &mut Node) -> Result<(), SettingsError> {
        let module = match &node.value {
            Value::Call { name, args, named } if name == "require" && named.is_empty() => match &args[..] {
                [only] => only.text().map(|module| module.trim_start_matches("node:").to_owned()),
                _ => None,
            },
            _ => None,
        };
        let begins = self.at;
        let called = match (module.as_deref(), self.kind(1)) {
            (Some("knex"), _) if self.is(0, "(") => "knex".to_owned(),
            (Some(module @ "fs"), Some(Kind::Name(function))) if self.is(0, ".") && self.is(2, "(") => {
                let called = format!("{module}.{function}");
                self.at += 2;
                called
            }
            _ => String::new(),
        };
        if !called.is_empty() {
            let named = self.named(node.line, called)?;
            node.value = named.value;
        }
        let is_read = matches!(&node.value, Value::Call { name, .. } if name.ends_with("readFileSync"));
        let is_text = matches!(self.kind(1), Some(Kind::Name(function)) if function == "toString");
        if is_read && is_text && self.is(0, ".") && self.is(2, "(") {
            let inside = match self.kind(3) {
                Some(Kind::Text(_)) => 4,
                _ => 3,
            };
            if self.is(inside, ")") {
                self.at += inside + 1;
            }
        }
        debug_assert!(self.at >= begins, "it goes on");
        Ok(())
    }

    fn operand(&mut self) -> Result<Node, SettingsError> {
        if self.depth >= DEPTH_MAX {
            return Err(SettingsError::TooMany { line: self.line() });
        }
        self.depth += 1;
        let node = self.primary();
        self.depth -= 1;
        node
    }

    fn is_end(&self, is_top: bool) -> bool {
        match self.tokens.get(self.at) {
            None => true,
            Some(Token { kind: Kind::Sign("," | ")" | "]" | "}" | ";" | "=>" | ":"), .. }) => true,
            Some(Token { kind: Kind::Sign(_), .. }) => false,
            // `foo if bar` of Python, `as const` of TypeScript and the like stay on the line.
            Some(token) => is_top && token.starts_line,
        }
    }

    /// Further, with all calls and texts on the way, to what ends this expression.
    fn skip_to_end(&mut self, is_top: bool) -> Result<(), SettingsError> {
        while let Some(token) = self.tokens.get(self.at) {
            match &token.kind {
                Kind::Sign("," | ")" | "]" | "}" | ";") => return Ok(()),
                _ if is_top && token.starts_line && !matches!(token.kind, Kind::Sign(_)) => return Ok(()),
                // A body: its statements are read as such.
                Kind::Sign("{") if is_top => return Ok(()),
                Kind::Sign("(" | "[" | "{") | Kind::Name(_) | Kind::Text(_) | Kind::Number(_) => {
                    self.operand()?;
                }
                Kind::Sign(_) => self.at += 1,
            }
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<Node, SettingsError> {
        let line = self.line();
        let Some(kind) = self.kind(0).cloned() else { return Ok(Node::new(line, Value::Unread)) };
        // What ends the expression around is not part of it.
        if matches!(kind, Kind::Sign("," | ")" | "]" | "}" | ";")) {
            return Ok(Node::new(line, Value::Unread));
        }
        self.at += 1;
        let value = match kind {
            Kind::Text(text) => self.text(line, text),
            Kind::Number(number) => Value::Number(number),
            Kind::Sign("-" | "+") if matches!(self.kind(0), Some(Kind::Number(_))) => {
                self.at += 1;
                Value::Number("-".into())
            }
            Kind::Sign("[") => Value::Map(self.entries("]")?).or_list(),
            Kind::Sign("{") => Value::Map(self.entries("}")?).or_map(),
            // One value in brackets is that value; several are a tuple.
            Kind::Sign("(") => {
                let mut inside = self.entries(")")?;
                // A list of Perl with a key in front of each value makes a hash.
                if self.language == Language::Perl
                    && !inside.is_empty()
                    && inside.iter().all(|entry| !entry.key.is_empty())
                {
                    return Ok(Node::new(line, Value::Map(inside)));
                }
                match (inside.len(), inside.pop()) {
                    (1, Some(Entry { key, node, .. })) if key.is_empty() => node.value,
                    _ => Value::Unread,
                }
            }
            Kind::Sign(_) => Value::Unread,
            Kind::Name(name) => return self.named(line, name),
        };
        Ok(Node::new(line, value))
    }

    /// Texts one after the other are one in Python.
    fn text(&mut self, line: usize, first: Zeroizing<String>) -> Value {
        let mut whole = first;
        while let Some(Kind::Text(more)) = self.kind(0) {
            if self.language != Language::Python {
                break;
            }
            whole.push_str(more);
            self.at += 1;
        }
        self.source.texts.push(Node::new(line, Value::Text(whole.clone())));
        Value::Text(whole)
    }

    fn named(&mut self, line: usize, name: String) -> Result<Node, SettingsError> {
        if matches!(name.as_str(), "new" | "await" | "return" | "yield")
            || (self.language == Language::Perl && name == "\\")
        {
            return self.primary();
        }
        let begins = self.at.saturating_sub(1);
        let value = match name.as_str() {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "nil" | "NULL" | "undef" | "undefined" => Value::Null,
            _ if self.is(0, "(") => {
                self.at += 1;
                let (named, args): (Vec<Entry>, Vec<Entry>) =
                    self.entries(")")?.into_iter().partition(|entry| !entry.key.is_empty());
                let args = args.into_iter().map(|entry| entry.node).collect();
                let call = Value::Call { name: name.trim_start_matches('\\').to_owned(), args, named };
                self.source.names.note_call(begins, self.source.calls.len());
                self.source.calls.push(Node::new(line, call.clone()));
                call
            }
            _ => Value::Name(name),
        };
        Ok(Node::new(line, value))
    }

    /// What stands in brackets; an entry without a key is an item, and one with the key `...` brings entries of its own.
    fn entries(&mut self, close: &'static str) -> Result<Vec<Entry>, SettingsError> {
        let mut entries = Vec::new();
        loop {
            // One comma behind each value; a colon or an arrow here means that what stood before was no key that is known.
            let begins = self.at;
            while self.is(0, ",") || self.is(0, ";") || self.is(0, ":") || self.is(0, "=>") {
                if !self.is(0, ",") {
                    entries.push(unread(self.line()));
                }
                self.at += 1;
            }
            if self.is(0, close) {
                self.at += 1;
                return Ok(entries);
            }
            let line = self.line();
            if self.at >= self.tokens.len() {
                return Ok(entries);
            }
            if matches!(self.kind(0), Some(Kind::Sign(")" | "]" | "}"))) {
                // Some other bracket: not ours to close.
                return Ok(entries);
            }
            if !entries.is_empty() && self.at == begins {
                // Two values without a comma.
                entries.push(unread(line));
            }
            let before = self.at;
            let has_star = self.is(0, "*") && matches!(self.language, Language::Python | Language::Ruby);
            if self.is(0, "...") || self.is(0, "**") || has_star {
                self.at += 1;
                let node = self.expression(false)?;
                entries.push(Entry { key: "...".into(), line, node });
                continue;
            }
            match self.key(close) {
                Key::Literal(key) => {
                    self.at += 2;
                    let node = self.expression(false)?;
                    entries.push(Entry { key, line, node });
                }
                // What is said of the value under a key that is not known may be anything.
                Key::Computed => {
                    self.at += 2;
                    self.expression(false)?;
                    entries.push(unread(line));
                }
                Key::Short(key) => {
                    self.at += 1;
                    entries.push(Entry { key: key.clone(), line, node: Node::new(line, Value::Name(key)) });
                }
                Key::None => {
                    let node = self.expression(false)?;
                    entries.push(Entry { key: String::new(), line, node });
                }
            }
            if self.at == before {
                self.at += 1;
            }
        }
    }

    /// The key in front of what stands here, as this language has them.
    fn key(&self, close: &'static str) -> Key {
        let is_call = close == ")";
        let has = |sign: &str| self.is(1, sign);
        let is_map = match self.language {
            Language::JavaScript => has(":") && !is_call,
            Language::Python => (has(":") && close == "}") || (has("=") && is_call),
            Language::Php => has("=>") || (has(":") && is_call),
            Language::Ruby => has(":") || has("=>"),
            Language::Perl => has("=>"),
            Language::CLike => false,
        };
        match self.kind(0) {
            // `'PDO::ATTR' => …` of PHP has a text for its key, and not what the constant is.
            Some(Kind::Text(text)) if is_map && self.language == Language::Php && text.contains("::") => {
                Key::Computed
            }
            Some(Kind::Text(text)) if is_map => Key::Literal(text.to_string()),
            Some(Kind::Number(number)) if is_map => Key::Literal(number.clone()),
            Some(Kind::Name(name)) if is_map => {
                let is_literal = match self.language {
                    Language::JavaScript => true,
                    // A word of a call; in a dictionary it is a variable.
                    Language::Python => is_call,
                    // A constant has its name for a key, and whoever knows it may tell.
                    Language::Php => !name.starts_with('$'),
                    Language::Ruby => has(":"),
                    Language::Perl => !name.starts_with(['$', '@', '%']),
                    Language::CLike => false,
                };
                if is_literal && !name.contains('.') { Key::Literal(name.clone()) } else { Key::Computed }
            }
            // `{ssl}` of JavaScript is `{ssl: ssl}`.
            Some(Kind::Name(name))
                if close == "}"
                    && self.language == Language::JavaScript
                    && (has(",") || has("}"))
                    && !name.contains('.') =>
            {
                Key::Short(name.clone())
            }
            // `{ssl:}` of Ruby.
            _ => Key::None,
        }
    }
}

enum Key {
    Literal(String),
    Computed,
    Short(String),
    None,
}

/// Something in brackets that is not read: what it brings may be any key.
fn unread(line: usize) -> Entry {
    Entry { key: "...".into(), line, node: Node::new(line, Value::Unread) }
}

impl Value {
    /// `[…]`: a list, unless all of it has keys, as in PHP.
    fn or_list(self) -> Self {
        match self {
            Self::Map(entries) if entries.iter().all(|entry| entry.key.is_empty()) => {
                Self::List(entries.into_iter().map(|entry| entry.node).collect())
            }
            // Some with a key, some without: an array of PHP that nobody writes for options.
            Self::Map(entries) if entries.iter().any(|entry| entry.key.is_empty()) => Self::Unread,
            other => other,
        }
    }

    /// `{…}`: a map, unless something in it has no key; then it is a block of code.
    fn or_map(self) -> Self {
        match self {
            Self::Map(entries) if entries.iter().any(|entry| entry.key.is_empty()) => Self::Unread,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn source(text: &str, language: Language) -> Source {
        read(text.as_bytes(), language).expect("short")
    }

    fn named<'a>(call: &'a Node, key: &str) -> &'a Value {
        match &call.value {
            Value::Call { named, .. } => {
                &named.iter().find(|entry| entry.key == key).expect("it is there").node.value
            }
            _ => panic!("no call"),
        }
    }

    #[test]
    fn a_call_of_python_has_its_words_and_lines() {
        let all = source(
            "import ssl\nctx = ssl.create_default_context(cafile='/ca')  # x\nctx.check_hostname = False\n\
             pool = await aiomysql.create_pool(\n    host=\"db\",\n    ssl=ctx,\n    port=int(PORT) + 1,\n)\n",
            Language::Python,
        );
        let call = all.calls.last().expect("a call");
        assert!(matches!(&call.value, Value::Call { name, .. } if name == "aiomysql.create_pool"));
        assert_eq!(named(call, "ssl"), &Value::Name("ctx".into()));
        assert_eq!(named(call, "port"), &Value::Unread);
        let context = &all.assigned[0].node;
        assert!(matches!(&context.value, Value::Call { name, .. } if name == "ssl.create_default_context"));
        assert_eq!((all.assigned[1].line, &all.assigned[1].node.value), (3, &Value::Bool(false)));
    }

    #[test]
    fn an_object_of_javascript_is_a_map() {
        let all = source(
            "const mysql = require('mysql2/promise'); // c\nmodule.exports = { db: { host: 'db', port, ssl: { ca: fs.readFileSync('/ca'), rejectUnauthorized: true } } };\n\
             const re = /'/; const p = mysql.createPool({ uri: `mysql://${h}/x` });\n",
            Language::JavaScript,
        );
        let ssl = all
            .assigned
            .iter()
            .find(|entry| entry.key == "module.exports")
            .and_then(|all| all.node.get("db"))
            .and_then(|db| db.get("ssl"))
            .expect("ssl");
        assert_eq!(ssl.get("rejectUnauthorized").map(|node| &node.value), Some(&Value::Bool(true)));
        assert!(
            matches!(&ssl.get("ca").expect("ca").value, Value::Call { name, .. } if name == "fs.readFileSync")
        );
        assert!(all.texts.iter().any(|text| text.text() == Some("mysql://\u{fffc}/x")), "{:?}", all.texts);
        assert!(
            all.calls
                .iter()
                .any(|call| matches!(&call.value, Value::Call { name, .. } if name == "mysql.createPool"))
        );
    }

    #[test]
    fn what_stands_behind_a_call_of_javascript_is_read_where_it_is_known() {
        let of = |text: &str| {
            let all = source(&format!("x = {{ ca: {text}, b: true }};\n"), Language::JavaScript);
            let ca = all.assigned[0].node.get("ca").expect("ca").value.clone();
            (ca, all.assigned[0].node.get("b").map(|node| node.value.clone()))
        };
        for text in [
            "fs.readFileSync('/ca').toString()",
            "fs.readFileSync('/ca').toString('utf8')",
            "require('fs').readFileSync('/ca')",
            "require('node:fs').readFileSync('/ca').toString()",
        ] {
            let (ca, after) = of(text);
            assert!(matches!(&ca, Value::Call { name, .. } if name == "fs.readFileSync"), "{text}: {ca:?}");
            assert_eq!(after, Some(Value::Bool(true)), "{text}");
        }
        for text in [
            "fs.readFileSync('/ca').slice(1)",
            "fs.readFileSync('/ca').toString().replace('a', '')",
            "fs.readFileSync('/ca').toString(encoding)",
            "fs.readFileSync('/ca').toString",
            "require('./own').readFileSync('/ca')",
            "require('fs').readFileSync",
            "make('fs').readFileSync('/ca')",
        ] {
            assert_eq!(of(text).0, Value::Unread, "{text}");
        }
        let all = source("const k = require('knex')({ client: 'mysql2' });\n", Language::JavaScript);
        let is_knex = |call: &Node| matches!(&call.value, Value::Call { name, args, .. } if name == "knex" && args.len() == 1);
        assert!(all.calls.iter().any(is_knex));
    }

    #[test]
    fn php_ruby_and_perl_are_read_too() {
        let all = source(
            "<html>'<?php\n$db = new PDO(\"mysql:host=$host;dbname={$a->b}\", $u, 'x', [PDO::MYSQL_ATTR_SSL_CA => '/ca', PDO::ATTR_ERRMODE => 1]);\n\
             return ['options' => extension_loaded('pdo_mysql') ? array_filter([PDO::MYSQL_ATTR_SSL_CA => env('CA')]) : []];\n",
            Language::Php,
        );
        let pdo = all
            .calls
            .iter()
            .find(|call| matches!(&call.value, Value::Call { name, .. } if name == "PDO"))
            .expect("a call");
        let Value::Call { args, .. } = &pdo.value else { panic!("no call") };
        assert_eq!(args[0].text(), Some("mysql:host=\u{fffc};dbname=\u{fffc}"));
        assert_eq!(args[3].get("PDO::MYSQL_ATTR_SSL_CA").and_then(Node::text), Some("/ca"));
        let options = all.loose.iter().find_map(|node| node.get("options")).expect("options");
        assert!(matches!(&options.value, Value::Call { name, .. } if name == "array_filter"), "{options:?}");

        let all = source(
            "c = Mysql2::Client.new(host: 'db', :sslca => \"/ca\", ssl_mode: :verify_identity)\n",
            Language::Ruby,
        );
        assert_eq!(named(&all.calls[0], "sslca"), &Value::Text(Zeroizing::new("/ca".into())));
        assert_eq!(named(&all.calls[0], "ssl_mode"), &Value::Text(Zeroizing::new("verify_identity".into())));

        let all = source(
            "my $db = DBI->connect(\"dbi:mysql:host=$ENV{H};mysql_ssl=1\", $u, $p, { RaiseError => 1 });\n",
            Language::Perl,
        );
        assert_eq!(all.texts[0].text(), Some("dbi:mysql:host=\u{fffc};mysql_ssl=1"));
        assert!(matches!(&all.calls[0].value, Value::Call { name, .. } if name == "DBI->connect"));
    }

    #[test]
    fn a_text_of_go_and_a_lifetime_of_rust_are_told_apart() {
        let all = source(
            "fn f<'a>(x: &'a str) { open(\"mysql\", `a:b@tcp(h)/d?tls=true`) } // \"no\"",
            Language::CLike,
        );
        assert_eq!(
            all.texts.iter().filter_map(Node::text).collect::<Vec<_>>(),
            ["mysql", "a:b@tcp(h)/d?tls=true"]
        );
    }

    #[test]
    fn depth_ends_somewhere() {
        assert!(read(b"x = ", Language::Python).is_ok());
        let deep = format!("x = {}", "[".repeat(10_000));
        assert!(matches!(read(deep.as_bytes(), Language::Python), Err(SettingsError::TooMany { .. })));
    }

    /// All that a caller may ask of a source.
    fn ask(text: &str, language: Language) {
        let _ = read(format!("<?php {text}").as_bytes(), language).map(|source| {
            let is_known = source.resolve("a").is_ok() || source.may_differ(0).is_some();
            (is_known, source.imports().len(), source.uses("a", 0).len())
        });
    }

    /// What takes long here has a loop in a loop.
    #[test]
    fn a_megabyte_of_brackets_ends() {
        for sign in ["[", "{", "(", "[{("] {
            let text = sign.repeat((crate::settings::SETTINGS_BYTES_MAX - 8) / sign.len());
            for language in [Language::JavaScript, Language::Python, Language::Php] {
                ask(&text, language);
            }
        }
    }

    #[test]
    fn a_file_of_nothing_but_signs_ends() {
        let signs = [
            "[",
            "{",
            "(",
            "]",
            "[{",
            "{[(",
            "[]",
            "a[",
            "a=",
            "a,",
            "a=[],",
            "a = b\n",
            "f(",
            "f()\n",
            "f(a)\n",
            "'",
            "\"",
            "`",
            "`${",
            "/*",
            "#{",
            "<<A\n",
            "<<<A\n",
            "a.b",
            "a.",
            "::",
            "=>",
            "...",
            "**",
            "a||",
            "\\",
            "$",
            "$a",
            "${",
            "\n",
            "\n ",
            "a:",
            "a={}\n",
            "if a:\n ",
            "\"a\"+",
            "'a'.",
            "import a\n",
            "const {a} = require('b');\n",
            "a={b:a};\n",
            "<?",
            "?>",
            "=pod\n",
            "{a:",
            "{'a':",
            "f(a=",
            "'mysql:a;'",
            "/",
            "/[",
            "/a",
            "=pod\n=end\n",
            "=begin\n",
            "<",
            "<<a",
            "<<~~",
        ];
        for sign in signs {
            let text = sign.repeat(8 * 1024 / sign.len());
            for language in ALL {
                ask(&text, language);
            }
        }
    }

    const ALL: [Language; 6] = [
        Language::JavaScript,
        Language::Python,
        Language::Php,
        Language::Ruby,
        Language::Perl,
        Language::CLike,
    ];

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            for language in ALL {
                let _ = read(&bytes, language);
            }
        }

        #[test]
        fn nothing_like_code_panics(text in "[a-cf$%@:.=>{}\\[\\](),;'\"`#/\\\\ \né-]{0,120}") {
            for language in ALL {
                let _ = read(format!("<?{text}").as_bytes(), language);
            }
        }
    }
}
