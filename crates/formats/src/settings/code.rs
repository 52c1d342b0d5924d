//! The values that stand literally in the source of scripts: JavaScript, Python, PHP, Ruby, Perl, and the texts of others.
//!
//! This is no compiler. It knows texts, numbers, lists, maps, calls and names, and says [`Value::Unread`] of everything else,
//! so a caller cannot take an expression for a value. A name may be looked up in [`Source::assigned`]; it is the caller
//! who decides whether one assignment is enough.

mod lexer;

use zeroize::Zeroizing;

use lexer::{Kind, Token};

use super::{DEPTH_MAX, Entry, NODES_MAX, Node, SettingsError, Value, text};

/// Whose source it is: comments, quotes and what is filled into texts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    JavaScript,
    Python,
    Php,
    Ruby,
    Perl,
    /// Any with `//` comments: Go, Rust, Java and their like. Of it only texts and calls are worth something.
    CLike,
}

/// What stands in a source.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Every call, also those within others, in the order in which they end.
    pub calls: Vec<Node>,
    /// `name = value`, in the order of the file; attributes (`context.check_hostname`) are names with a dot.
    pub assigned: Vec<Entry>,
    /// Names whose insides are set one by one (`settings["a"] = …`), each with its line.
    pub changed: Vec<Node>,
    /// Maps and lists that stand by themselves (`module.exports = {…}` is an assignment, `{…}` of a JSON file is not).
    pub loose: Vec<Node>,
    /// Every text.
    pub texts: Vec<Node>,
}

impl Source {
    /// Where what a name stands for is changed in place: an item or attribute is set, or a method that changes it is called.
    pub fn change(&self, name: &str) -> Option<usize> {
        const METHODS: [&str; 7] = ["update", "setdefault", "merge!", "append", "push", "unshift", "pop"];
        let inner = |known: &str| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let is_changing = |call: &Node| match &call.value {
            Value::Call { name: called, args, .. } => {
                called
                    .strip_prefix(name)
                    .and_then(|rest| rest.strip_prefix('.'))
                    .is_some_and(|rest| METHODS.contains(&rest.rsplit('.').next().unwrap_or_default()))
                    || (called == "Object.assign"
                        && matches!(args.first().map(|first| &first.value), Some(Value::Name(first)) if first == name))
            }
            _ => false,
        };
        let by_item = self
            .changed
            .iter()
            .find(|node| matches!(&node.value, Value::Name(known) if known == name || inner(known)));
        let by_attribute = self.assigned.iter().find(|entry| inner(&entry.key)).map(|entry| entry.line);
        let by_call = self.calls.iter().find(|call| is_changing(call)).map(|call| call.line);
        by_item.map(|node| node.line).or(by_attribute).or(by_call)
    }

    /// The value of a name that has exactly one; `None` where it has none, or more.
    pub fn value(&self, name: &str) -> Option<&Node> {
        let mut all = self.assigned.iter().filter(|entry| entry.key == name);
        match (all.next(), all.next()) {
            (Some(entry), None) => Some(&entry.node),
            _ => None,
        }
    }
}

/// Reads a source.
///
/// # Errors
/// A file that is too large, or values that are too many or too deep.
pub fn read(bytes: &[u8], language: Language) -> Result<Source, SettingsError> {
    let text = text(bytes)?;
    let tokens = lexer::tokens(&text, language);
    let mut reader =
        Reader { tokens: &tokens, at: 0, depth: 0, nodes: 0, language, source: Source::default() };
    while reader.at < tokens.len() {
        reader.statement()?;
    }
    Ok(reader.source)
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
                let name = name.clone();
                // `NAME: dict = {…}` of Python, `name: Type = …` of TypeScript, `settings["x"] = …` are skipped up to the sign.
                let after = if self.is(1, ":")
                    && matches!(self.language, Language::Python | Language::JavaScript)
                    && matches!(
                        self.tokens.get(self.at + 2),
                        Some(Token { kind: Kind::Name(_), starts_line: false, .. })
                    )
                    && self.is(3, "=")
                {
                    3
                } else {
                    1
                };
                if self.is(after, "=") {
                    self.at += after + 1;
                    let node = self.expression(true)?;
                    self.source.assigned.push(Entry { key: name, line, node });
                } else if self.is(1, "[") && self.sets_a_part() {
                    // `settings["a"]["b"] = …`: what was in the map before is not all of it.
                    self.source.changed.push(Node::new(line, Value::Name(name)));
                    self.expression(true)?;
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

    /// Whether a `=` stands behind the brackets that follow the name here.
    fn sets_a_part(&self) -> bool {
        let mut depth = 0_usize;
        for token in self.tokens.iter().skip(self.at + 1) {
            match &token.kind {
                Kind::Sign("[" | "(" | "{") => depth += 1,
                Kind::Sign("]" | ")" | "}") if depth > 0 => depth -= 1,
                Kind::Sign("=" | "||" | "|=" | "??") if depth == 0 => return true,
                Kind::Sign(";") => return false,
                _ if depth == 0 => return false,
                _ => {}
            }
        }
        false
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
        self.depth += 1;
        let node = self.primary();
        self.depth -= 1;
        let mut node = node?;
        self.nodes += 1;
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
                    if self.depth >= DEPTH_MAX {
                        return Err(SettingsError::TooMany { line: token.line });
                    }
                    self.depth += 1;
                    let read = self.primary();
                    self.depth -= 1;
                    read?;
                }
                Kind::Sign(_) => self.at += 1,
            }
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<Node, SettingsError> {
        let line = self.line();
        let Some(kind) = self.kind(0).cloned() else { return Ok(Node::new(line, Value::Unread)) };
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
        if matches!(name.as_str(), "new" | "await" | "return" | "yield") {
            return self.primary();
        }
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
                self.source.calls.push(Node::new(line, call.clone()));
                call
            }
            _ => Value::Name(name),
        };
        Ok(Node::new(line, value))
    }

    /// What stands in brackets; an entry without a key is an item.
    fn entries(&mut self, close: &'static str) -> Result<Vec<Entry>, SettingsError> {
        let mut entries = Vec::new();
        loop {
            while self.is(0, ",") || self.is(0, ";") || self.is(0, ":") || self.is(0, "=>") {
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
            let before = self.at;
            if self.is(0, "...") || self.is(0, "**") {
                self.at += 1;
                let node = self.expression(false)?;
                entries.push(Entry { key: "...".into(), line, node });
                continue;
            }
            // `key: value`, `key => value`, `key=value` of a call, in all languages alike.
            let key = match self.kind(0) {
                Some(Kind::Text(text)) => Some(text.to_string()),
                Some(Kind::Name(name)) => Some(name.clone()),
                Some(Kind::Number(number)) => Some(number.clone()),
                _ => None,
            };
            let is_entry = self.is(1, ":") || self.is(1, "=>") || (self.is(1, "=") && close == ")");
            match key {
                Some(key) if is_entry => {
                    self.at += 2;
                    let node = self.expression(false)?;
                    entries.push(Entry { key, line, node });
                }
                // `{ssl}` of JavaScript is `{ssl: ssl}`.
                Some(key)
                    if close == "}"
                        && (self.is(1, ",") || self.is(1, "}"))
                        && matches!(self.kind(0), Some(Kind::Name(_))) =>
                {
                    self.at += 1;
                    entries.push(Entry { key: key.clone(), line, node: Node::new(line, Value::Name(key)) });
                }
                _ => {
                    let node = self.expression(false)?;
                    entries.push(Entry { key: String::new(), line, node });
                }
            }
            if self.at == before {
                self.at += 1;
            }
        }
    }
}

impl Value {
    /// `[…]`: a list, unless all of it has keys, as in PHP.
    fn or_list(self) -> Self {
        match self {
            Self::Map(entries) if entries.is_empty() || entries.iter().any(|entry| entry.key.is_empty()) => {
                Self::List(entries.into_iter().map(|entry| entry.node).collect())
            }
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
        let context = all.value("ctx").expect("assigned once");
        assert!(matches!(&context.value, Value::Call { name, .. } if name == "ssl.create_default_context"));
        assert_eq!(
            all.value("ctx.check_hostname").map(|node| (node.line, &node.value)),
            Some((3, &Value::Bool(false)))
        );
    }

    #[test]
    fn what_is_assigned_twice_has_no_value() {
        let all = source("a = 1\nif x:\n    a = 2\nb: dict = {'c': True}\n", Language::Python);
        assert_eq!(all.value("a"), None);
        assert_eq!(all.value("b").and_then(|b| b.get("c")).map(|c| &c.value), Some(&Value::Bool(true)));
    }

    #[test]
    fn what_is_changed_in_place_is_told() {
        let python = "a = {}\na['x']['y'] = 1\nb = {}\nb.update(c=1)\nc = {}\nd = a['x']\nif c['y'] == 2:\n    pass\ne = {}\ne.f = 1\n";
        let all = source(python, Language::Python);
        let lines: Vec<Option<usize>> =
            ["a", "b", "c", "d", "e"].iter().map(|name| all.change(name)).collect();
        assert_eq!(lines, [Some(2), Some(4), None, None, Some(10)]);
        assert_eq!(source("$o = [];\n$o[PDO::X] = '/ca';\n", Language::Php).change("$o"), Some(2));
        assert_eq!(
            source("const o = {};\nObject.assign(o, p);\n", Language::JavaScript).change("o"),
            Some(2)
        );
    }

    #[test]
    fn an_object_of_javascript_is_a_map() {
        let all = source(
            "const mysql = require('mysql2/promise'); // c\nmodule.exports = { db: { host: 'db', port, ssl: { ca: fs.readFileSync('/ca'), rejectUnauthorized: true } } };\n\
             const re = /'/; const p = mysql.createPool({ uri: `mysql://${h}/x` });\n",
            Language::JavaScript,
        );
        let ssl = all
            .value("module.exports")
            .and_then(|all| all.get("db"))
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
