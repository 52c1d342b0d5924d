//! What a name stands for where it is used: only where every place that has the name is one that cannot change it.
//!
//! A file is not run here. So a name has a value if it is given one at one place, unconditionally, in a block around the place
//! that uses it, and if nothing else in the file may set it again, change it in place or give it away to something that
//! may. Whatever is not on a list of such harmless places is none ([`Source::resolve`]). What an object goes through on its way
//! (a context of TLS, a `mysqli` link) is told in order ([`Source::uses`]), for a caller who knows its methods.

mod changes;
mod effects;
mod imports;
mod mentions;
mod resolve;
mod sets;

use std::collections::{HashMap, HashSet};
use std::fmt;

pub use effects::Touch;
pub use imports::Import;
pub use mentions::Mention;

use super::lexer::{Kind, Token};
use super::{Language, Source, Why};
use crate::settings::Node;

/// Around how many brackets a place is looked at.
const AROUND_MAX: usize = 64;

/// Calls that look at what they are given and keep it for themselves: those of drivers, and of what only prints.
const HARMLESS_CALLS: [&str; 33] = [
    "connect",
    "connect_cached",
    "Connection",
    "createConnection",
    "createPool",
    "createPoolCluster",
    "create_pool",
    "create_engine",
    "create_async_engine",
    "MySQLConnectionPool",
    "MySQLConnection",
    "Mysql2::Client.new",
    "PDO",
    "mysqli",
    "mysqli_connect",
    "real_connect",
    "mysqli_real_connect",
    "Sequelize",
    "Sequelize.connect",
    "sequelize",
    "knex",
    "Knex",
    "DataSource",
    "establish_connection",
    "array_filter",
    "Object.freeze",
    "defineConfig",
    "getConnection",
    "sql.Open",
    "console.log",
    "print",
    "var_dump",
    "Sequel.connect",
];

/// Names of functions that may give any name another value.
const REBINDING: [&str; 6] = ["eval", "exec", "extract", "parse_str", "globals", "setattr"];

/// The tokens of a source, and which of them belong together.
#[derive(Clone, Default)]
pub(super) struct Names {
    tokens: Vec<Token>,
    language: Language,
    /// The bracket that closes this one, or opens it.
    pair: Vec<Option<usize>>,
    /// The opening bracket around each token.
    around: Vec<Option<usize>>,
    /// The block of each token.
    block: Vec<usize>,
    /// Of each block the one around it, and whether it is the body of a function.
    blocks: Vec<(usize, bool)>,
    by_root: HashMap<String, Vec<usize>>,
    /// First token of an assignment, the one behind its last, and its index in `Source::assigned`.
    assigned: Vec<(usize, usize)>,
    /// The name of a call and its index in `Source::calls`, and the other way round.
    calls: HashMap<usize, usize>,
    calls_at: Vec<usize>,
    /// Where another file is taken into this one.
    includes: Vec<usize>,
    rebinding: Option<usize>,
    unbalanced: Option<usize>,
}

/// Blind: tokens may be secrets.
impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Names({})", self.tokens.len())
    }
}

/// One place that has a name.
#[derive(Debug)]
pub struct Occurrence<'a> {
    pub line: usize,
    /// What stands behind the name: `.check_hostname`, `->ssl_set`.
    pub rest: &'a str,
    pub used: Use<'a>,
    /// A whole statement, and nothing decides whether it is reached when the call is.
    pub is_statement: bool,
}

/// What is done with it there.
#[derive(Debug)]
pub enum Use<'a> {
    /// It is given a value.
    Set(&'a Node),
    /// It is called.
    Call(&'a Node),
    /// It is handed to a call that keeps it for itself, or stands in a map that nothing changes.
    Given,
    /// Anything else, which may change it.
    Other(Why),
}

fn sign(token: Option<&Token>) -> &'static str {
    match token.map(|token| &token.kind) {
        Some(Kind::Sign(sign)) => sign,
        _ => "",
    }
}

fn word(token: Option<&Token>) -> &str {
    match token.map(|token| &token.kind) {
        Some(Kind::Name(name)) => name,
        _ => "",
    }
}

/// `o` of `o.ssl`, `$link` of `$link->ssl_set`; in Perl one name has several first signs.
fn root(name: &str, language: Language) -> &str {
    let end = [".", "->", "::", "?."].iter().filter_map(|joint| name.find(joint)).filter(|at| *at > 0).min();
    let root = end.and_then(|end| name.get(..end)).unwrap_or(name);
    if language == Language::Perl { root.trim_start_matches(['$', '@', '%', '\\', '&']) } else { root }
}

impl Names {
    pub(super) fn note_assigned(&mut self, begins: usize, ends: usize) {
        self.assigned.push((begins, ends));
    }

    pub(super) fn note_call(&mut self, at: usize, index: usize) {
        self.calls.insert(at, index);
        self.calls_at.push(at);
    }

    pub(super) fn new(tokens: Vec<Token>, language: Language, noted: Self) -> Self {
        let count = tokens.len();
        let mut names = Self {
            language,
            pair: vec![None; count],
            around: vec![None; count],
            block: vec![0; count],
            blocks: vec![(0, false)],
            assigned: noted.assigned,
            calls: noted.calls,
            calls_at: noted.calls_at,
            ..Self::default()
        };
        names.tokens = tokens;
        names.match_brackets();
        names.mark_blocks();
        for at in 0..count {
            let name = word(names.tokens.get(at));
            if name.is_empty() {
                continue;
            }
            if matches!(name, "include" | "include_once" | "require" | "require_once") {
                names.includes.push(at);
            }
            // `import *` and `from x import *` bind any name.
            if name == "import" && language == Language::Python && sign(names.tokens.get(at + 1)) == "*" {
                names.includes.push(at);
            }
            let is_rebinding = REBINDING.contains(&name) && sign(names.tokens.get(at + 1)) == "(";
            if is_rebinding && !(language == Language::Php && name == "exec") {
                names.rebinding.get_or_insert(at);
            }
            let root = root(name, language).to_owned();
            names.by_root.entry(root).or_default().push(at);
        }
        names
    }

    fn match_brackets(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.tokens.len() {
            let sign = sign(self.tokens.get(at));
            let line = self.tokens.get(at).map_or(1, |token| token.line);
            match sign {
                ")" | "]" | "}" => {
                    let wanted = match sign {
                        ")" => "(",
                        "]" => "[",
                        _ => "{",
                    };
                    match open.pop() {
                        Some(opening) if self::sign(self.tokens.get(opening)) == wanted => {
                            self.set(opening, at);
                        }
                        _ => {
                            self.unbalanced.get_or_insert(line);
                        }
                    }
                    self.put_around(at, open.last().copied());
                }
                _ => {
                    self.put_around(at, open.last().copied());
                    if matches!(sign, "(" | "[" | "{") {
                        open.push(at);
                    }
                }
            }
        }
        if let Some(opening) = open.first() {
            let line = self.tokens.get(*opening).map_or(1, |token| token.line);
            self.unbalanced.get_or_insert(line);
        }
    }

    fn set(&mut self, opening: usize, closing: usize) {
        for (at, other) in [(opening, closing), (closing, opening)] {
            if let Some(slot) = self.pair.get_mut(at) {
                *slot = Some(other);
            }
        }
    }

    fn put_around(&mut self, at: usize, around: Option<usize>) {
        if let Some(slot) = self.around.get_mut(at) {
            *slot = around;
        }
    }

    /// Blocks are braces, or lines that stand further in.
    fn mark_blocks(&mut self) {
        let by_indent = matches!(self.language, Language::Python | Language::Ruby);
        let mut open: Vec<(usize, usize)> = vec![(0, 0)];
        for at in 0..self.tokens.len() {
            let Some(token) = self.tokens.get(at) else { break };
            if by_indent {
                if token.starts_line && self.around.get(at).copied().flatten().is_none() {
                    while open.len() > 1 && open.last().is_some_and(|(indent, _)| *indent > token.indent) {
                        open.pop();
                    }
                    if open.last().is_some_and(|(indent, _)| *indent < token.indent) {
                        let parent = open.last().map_or(0, |(_, block)| *block);
                        open.push((token.indent, self.blocks.len()));
                        self.blocks.push((parent, false));
                    }
                }
            } else if sign(Some(token)) == "}" && open.len() > 1 {
                open.pop();
            }
            let current = open.last().map_or(0, |(_, block)| *block);
            if let Some(slot) = self.block.get_mut(at) {
                *slot = current;
            }
            if !by_indent && sign(self.tokens.get(at)) == "{" {
                open.push((0, self.blocks.len()));
                let is_function = self.is_function_body(at);
                self.blocks.push((current, is_function));
            }
        }
    }

    /// `function name(…) {`, with or without `use (…)` and a type.
    fn is_function_body(&self, brace: usize) -> bool {
        let mut at = brace;
        for _ in 0..8 {
            let Some(before) = at.checked_sub(1) else { return false };
            match (sign(self.tokens.get(before)), word(self.tokens.get(before))) {
                (")", _) => match self.pair.get(before).copied().flatten() {
                    Some(opening) => at = opening,
                    None => return false,
                },
                (_, "function" | "fn" | "sub") => return true,
                (":" | "?" | "|", _) => at = before,
                (_, name)
                    if !name.is_empty()
                        && !matches!(name, "if" | "while" | "for" | "foreach" | "switch" | "catch") =>
                {
                    at = before;
                }
                _ => return false,
            }
        }
        false
    }

    pub(super) fn unbalanced(&self) -> Option<usize> {
        self.unbalanced
    }

    fn line(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(1, |token| token.line)
    }

    fn is_around(&self, outer: usize, mut inner: usize) -> bool {
        loop {
            if inner == outer {
                return true;
            }
            match self.blocks.get(inner) {
                Some((parent, _)) if inner != 0 => inner = *parent,
                _ => return false,
            }
        }
    }

    /// From `inner` up to `outer` a function begins, whose body does not see what is outside (PHP).
    fn crosses_function(&self, outer: usize, mut inner: usize) -> bool {
        while inner != outer && inner != 0 {
            let Some((parent, is_function)) = self.blocks.get(inner) else { return false };
            if *is_function {
                return true;
            }
            inner = *parent;
        }
        false
    }

    /// The brackets around a token, inner ones first.
    fn brackets(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.around.get(at).copied().flatten(), |opening| {
            self.around.get(*opening).copied().flatten()
        })
        .take(AROUND_MAX)
    }

    /// A statement begins here, and nothing on its way says "only if".
    fn begins_statement(&self, at: usize) -> bool {
        const DECLARING: [&str; 10] =
            ["const", "let", "var", "my", "our", "export", "public", "static", "final", "private"];
        let mut first = at;
        while let Some(before) = first.checked_sub(1) {
            let before_word = word(self.tokens.get(before));
            // `String url = …` of Java: a type stands in front.
            let is_type = self.language == Language::CLike
                && !self.tokens.get(first).is_some_and(|token| token.starts_line)
                && before_word.starts_with(char::is_alphabetic)
                && !matches!(before_word, "else" | "do" | "return" | "case");
            if DECLARING.contains(&before_word) || is_type {
                first = before;
            } else {
                break;
            }
        }
        let Some(before) = first.checked_sub(1) else { return true };
        let starts_line = self.tokens.get(first).is_some_and(|token| token.starts_line);
        let before_sign = sign(self.tokens.get(before));
        if matches!(self.language, Language::Python | Language::Ruby) {
            // `if x: y = 1` stands on one line, and a line that is not done goes on.
            return starts_line
                && self.around.get(at).copied().flatten().is_none()
                && !matches!(before_sign, "=" | "+" | "|" | "&&" | "||" | "," | "\\");
        }
        match before_sign {
            ";" | "{" | "}" => true,
            // `if (x)` on the line before.
            ")" => {
                let opening = self.pair.get(before).copied().flatten();
                let name =
                    opening.and_then(|opening| opening.checked_sub(1)).map(|at| word(self.tokens.get(at)));
                starts_line
                    && !matches!(
                        name,
                        None | Some(
                            "if" | "while"
                                | "for"
                                | "foreach"
                                | "with"
                                | "switch"
                                | "catch"
                                | "elseif"
                                | "unless"
                                | "until"
                                | ""
                        )
                    )
            }
            "]" => starts_line && self.language == Language::JavaScript,
            "" => {
                let is_open = matches!(
                    word(self.tokens.get(before)),
                    "else" | "do" | "and" | "or" | "return" | "try" | "case"
                );
                starts_line && !is_open
            }
            _ => false,
        }
    }

    /// The parentheses at `opening` are the names of parameters, or of what a loop or `catch` binds.
    fn binds(&self, opening: usize) -> bool {
        let closing = self.pair.get(opening).copied().flatten();
        let behind = closing.map(|closing| closing + 1);
        let next = sign(behind.and_then(|at| self.tokens.get(at)));
        let next_word = word(behind.and_then(|at| self.tokens.get(at)));
        let after_next = sign(behind.and_then(|at| self.tokens.get(at + 1)));
        let before = opening.checked_sub(1).map_or("", |at| word(self.tokens.get(at)));
        let before_that = opening.checked_sub(2).map_or("", |at| word(self.tokens.get(at)));
        match sign(self.tokens.get(opening)) {
            "(" => {
                let is_test =
                    matches!(before, "if" | "while" | "switch" | "elsif" | "elseif" | "unless" | "until");
                matches!(
                    before,
                    "function"
                        | "fn"
                        | "def"
                        | "sub"
                        | "for"
                        | "foreach"
                        | "catch"
                        | "list"
                        | "unset"
                        | "lambda"
                        | "func"
                        | "isset"
                ) || matches!(before_that, "function" | "fn" | "def" | "sub" | "func")
                    || (matches!(next, "=>" | "->")
                        && self.language != Language::Php
                        && self.language != Language::Perl)
                    || (next == "{" && !is_test)
                    || (next == "=" && after_next != "=")
            }
            "{" | "[" => (next == "=" && after_next != "=") || matches!(next_word, "of" | "in" | "from"),
            _ => false,
        }
    }

    /// Why a place that has a name may change what it stands for.
    fn may_change(&self, at: usize, is_mutable: bool, checked: &mut HashSet<usize>) -> Option<Why> {
        let token = self.tokens.get(at)?;
        let name = word(Some(token));
        let root = root(name, self.language);
        let is_whole = name.trim_start_matches(['$', '@', '%', '\\', '&']).len()
            == root.trim_start_matches(['$', '@']).len();
        let why = |text: String| Some(Why::new(token.line, text));
        let previous = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let (next, after) = (sign(self.tokens.get(at + 1)), sign(self.tokens.get(at + 2)));
        if self.is_key(at) {
            return None;
        }
        let assigns = match next {
            "=" | "+=" | "-=" | ".=" | "|=" => true,
            "||" | "&&" | "??" | "*" | "/" | "**" | "//" | "&" | ":" | "-" | "+" | "|" => after == "=",
            _ => false,
        } || matches!((next, after), ("+", "+") | ("-", "-"));
        if assigns && (is_whole || is_mutable) {
            return why(format!("{root} is set again, or a part of it, in line {}", token.line));
        }
        let bound = || why(format!("{root} stands for something else in line {}", token.line));
        if is_whole {
            const BINDING: [&str; 20] = [
                "for", "as", "import", "global", "nonlocal", "del", "unset", "def", "function", "class",
                "let", "const", "var", "my", "our", "local", "foreach", "delete", "undef", "func",
            ];
            if BINDING.contains(&word(previous)) || matches!(sign(previous), "&" | "++" | "--") {
                return bound();
            }
            if self.brackets(at).take(3).any(|opening| self.binds(opening)) {
                return bound();
            }
            if next == "=>" && self.language == Language::JavaScript {
                return bound();
            }
            let is_outside = self.around.get(at).copied().flatten().is_none();
            let has_comma = next == "," || sign(previous) == ",";
            if is_outside
                && has_comma
                && matches!(self.language, Language::Python | Language::Ruby | Language::CLike)
            {
                return bound();
            }
            if self.language == Language::Ruby && (next == "|" || sign(previous) == "|") {
                return bound();
            }
        } else if matches!(word(previous), "del" | "delete" | "unset") {
            return bound();
        }
        if !is_mutable {
            return None;
        }
        let is_given = self.is_given_to_harmless_call(at);
        // `o["x"] = …`, `o["x"]["y"] = …`, `$o->{x} = …`.
        let mut end = at + 1;
        while matches!(sign(self.tokens.get(end)), "[" | "{" | "->") {
            if sign(self.tokens.get(end)) == "->" {
                end += 1;
                continue;
            }
            if sign(self.tokens.get(end)) == "{" && self.language != Language::Perl {
                break;
            }
            match self.pair.get(end).copied().flatten() {
                Some(closing) => end = closing + 1,
                None => break,
            }
        }
        if end > at + 1 {
            let is_read = is_given && matches!(sign(self.tokens.get(end)), "," | ")" | "]" | "}");
            return if is_read {
                None
            } else {
                why(format!("a part of {root} may be set in line {}", token.line))
            };
        }
        if next == "(" && !is_whole {
            return why(format!("a method of {root} is called in line {}, which may change it", token.line));
        }
        if is_given || self.is_exported(at) || self.is_in_exports(at) {
            return None;
        }
        // It stands in a map that has a name of its own, which nothing may change either.
        let is_inside = matches!(
            self.around.get(at).copied().flatten().map(|opening| sign(self.tokens.get(opening))),
            Some("{" | "[")
        );
        let holder = self.assigned.partition_point(|(begins, _)| *begins < at).checked_sub(1);
        if let Some((begins, ends)) = holder.and_then(|holder| self.assigned.get(holder)).copied()
            && is_inside
            && at < ends
        {
            let key = word(self.tokens.get(begins)).to_owned();
            let own = self::root(&key, self.language);
            if key == own && self.count_definitions(&key) == 1 {
                if !checked.insert(begins) {
                    return None;
                }
                return self
                    .by_root
                    .get(own)?
                    .iter()
                    .filter(|other| **other != begins)
                    .find_map(|other| self.may_change(*other, true, checked));
            }
        }
        why(format!("{root} is given away in line {}, where it may be changed", token.line))
    }

    fn count_definitions(&self, name: &str) -> usize {
        let places = self.by_root.get(root(name, self.language)).into_iter().flatten();
        places
            .filter(|at| word(self.tokens.get(**at)) == name)
            .filter(|at| self.assigned.binary_search_by_key(*at, |(begins, _)| *begins).is_ok())
            .count()
    }

    /// A word of a call, or a key of a map: no variable.
    fn is_key(&self, at: usize) -> bool {
        let (next, after) = (sign(self.tokens.get(at + 1)), sign(self.tokens.get(at + 2)));
        let previous = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let is_first = matches!(sign(previous), "{" | "," | "(" | "[");
        let opening = self.around.get(at).copied().flatten();
        let around = sign(opening.and_then(|opening| self.tokens.get(opening)));
        let is_binding = opening.is_some_and(|opening| self.binds(opening));
        match self.language {
            Language::Python => next == "=" && after != "=" && around == "(" && is_first && !is_binding,
            Language::JavaScript => next == ":" && around == "{" && is_first && !is_binding,
            Language::Ruby => next == ":" && is_first,
            Language::Php => {
                next == ":" && around == "(" && is_first && !word(self.tokens.get(at)).starts_with('$')
            }
            Language::Perl => next == "=>" && !word(self.tokens.get(at)).starts_with(['$', '@', '%']),
            Language::CLike => false,
        }
    }

    /// Inside the brackets of a call that keeps it for itself, with nothing but values around it there.
    fn is_given_to_harmless_call(&self, at: usize) -> bool {
        for opening in self.brackets(at) {
            if sign(self.tokens.get(opening)) == "(" {
                let name = opening.checked_sub(1).map_or("", |at| word(self.tokens.get(at)));
                if name.is_empty() {
                    continue;
                }
                let last = name.rsplit(['.', '>', ':', '\\']).next().unwrap_or_default();
                let is_harmless =
                    HARMLESS_CALLS.contains(&name) || HARMLESS_CALLS.contains(&last) || name == "dict";
                if !is_harmless {
                    return false;
                }
                if name != "dict" && name != "array_filter" {
                    return true;
                }
            } else if sign(self.tokens.get(opening)) == "{" && self.is_body(opening) {
                return false;
            }
        }
        false
    }

    /// A brace that begins a body and no map.
    fn is_body(&self, opening: usize) -> bool {
        let before = opening.checked_sub(1).and_then(|at| self.tokens.get(at));
        matches!(sign(before), ")" | "=>" | ";" | "{" | "}")
            || matches!(word(before), "else" | "try" | "do" | "finally")
    }

    /// A statement of its own in the body of a class that no condition decides about.
    fn is_in_class(&self, at: usize) -> bool {
        let Some(block) = self.block.get(at).copied().filter(|block| *block != 0) else { return false };
        let is_outer = self.blocks.get(block).is_some_and(|(parent, _)| *parent == 0);
        let first = self.block.iter().position(|other| *other == block);
        let head = first.and_then(|first| {
            self.tokens.get(..first)?.iter().rev().find(|token| token.starts_line && token.indent == 0)
        });
        is_outer && self.begins_statement(at) && word(head) == "class"
    }

    /// In maps and lists alone, of which the outer one is `module.exports`.
    fn is_in_exports(&self, at: usize) -> bool {
        let before =
            |opening: usize, steps: usize| opening.checked_sub(steps).and_then(|at| self.tokens.get(at));
        for opening in self.brackets(at) {
            if !matches!(sign(self.tokens.get(opening)), "{" | "[") {
                return false;
            }
            if sign(before(opening, 1)) == "=" {
                return word(before(opening, 2)) == "module.exports";
            }
            // A key, or an item.
            if !matches!(sign(before(opening, 1)), ":" | "," | "[") {
                return false;
            }
        }
        false
    }

    fn is_exported(&self, at: usize) -> bool {
        let back = |steps: usize| at.checked_sub(steps).and_then(|at| self.tokens.get(at));
        let target = word(back(2));
        word(back(1)) == "default"
            || (sign(back(1)) == "=" && (target == "module.exports" || target.starts_with("exports.")))
            || self.brackets(at).next().is_some_and(|opening| {
                let before = |steps: usize| opening.checked_sub(steps).and_then(|at| self.tokens.get(at));
                word(before(1)) == "export" || (sign(before(1)) == "=" && word(before(2)) == "module.exports")
            })
    }
}

impl Source {
    /// What a name goes through, in the order of the file: all but what stands behind the call with this index (in
    /// [`Source::calls`]) in its own block, where it is too late.
    pub fn uses(&self, name: &str, until: usize) -> Vec<Occurrence<'_>> {
        let names = &self.names;
        let root = root(name, names.language);
        let end = names.calls_at.get(until).copied().unwrap_or(usize::MAX);
        let block = names.block.get(end).copied().unwrap_or(0);
        let places = names.by_root.get(root).into_iter().flatten().copied();
        places
            .filter(|at| *at <= end || !names.is_around(block, names.block.get(*at).copied().unwrap_or(0)))
            .filter(|at| !names.is_key(*at))
            .map(|at| {
                let own = names.block.get(at).copied().unwrap_or(0);
                let rest = word(names.tokens.get(at)).get(root.len()..).unwrap_or_default();
                let set = names.assigned.binary_search_by_key(&at, |(begins, _)| *begins).ok();
                let used = if let Some(entry) = set.and_then(|index| self.assigned.get(index)) {
                    Use::Set(&entry.node)
                } else if let Some(call) = names.calls.get(&at).and_then(|index| self.calls.get(*index)) {
                    Use::Call(call)
                } else if rest.is_empty() && names.may_change(at, true, &mut HashSet::new()).is_none() {
                    Use::Given
                } else {
                    Use::Other(Why::new(
                        names.line(at),
                        format!("{root} is used in line {} in a way that may change it", names.line(at)),
                    ))
                };
                Occurrence {
                    line: names.line(at),
                    rest,
                    used,
                    is_statement: names.begins_statement(at) && names.is_around(own, block),
                }
            })
            .collect()
    }

    /// Whether the call with this index stands in a body that may not be run, or be run later than what stands around it.
    pub fn is_in_block(&self, call: usize) -> bool {
        let names = &self.names;
        let at = names.calls_at.get(call).copied();
        at.is_none_or(|at| names.block.get(at) != Some(&0) || !names.begins_statement(at))
    }

    /// Where another file is included in front of the call with this index.
    pub fn included_before(&self, call: usize) -> Option<usize> {
        let names = &self.names;
        let at = names.calls_at.get(call).copied()?;
        names.includes.iter().find(|include| **include < at).map(|include| names.line(*include))
    }

    /// The call whose brackets hold this name on this line, directly.
    pub fn call_around(&self, name: &str, line: usize) -> Option<&Node> {
        let names = &self.names;
        let places = names.by_root.get(root(name, names.language)).into_iter().flatten().copied();
        places
            .filter(|at| names.line(*at) == line)
            .filter_map(|at| names.around.get(at).copied().flatten()?.checked_sub(1))
            .find_map(|before| names.calls.get(&before))
            .and_then(|index| self.calls.get(*index))
    }

    /// Whether this call is a statement that is always reached before the call with this index.
    pub fn is_in_block_of(&self, call: &Node, until: usize) -> bool {
        let names = &self.names;
        let Some(end) = names.calls_at.get(until).copied() else { return false };
        let index = self.calls.iter().position(|other| std::ptr::eq(other, call));
        let Some(at) = index.and_then(|index| names.calls_at.get(index)).copied() else { return false };
        let block = |at: usize| names.block.get(at).copied().unwrap_or(0);
        at < end && names.begins_statement(at) && names.is_around(block(at), block(end))
    }

    /// Where a name, with whatever stands behind it, is no call: its function is handed on.
    pub fn handed_on(&self, name: &str) -> Option<usize> {
        let names = &self.names;
        let places = names.by_root.get(root(name, names.language))?;
        let is_handed_on = |at: usize| {
            let before = at.checked_sub(1).and_then(|at| names.tokens.get(at));
            let is_bound = matches!(word(before), "import" | "from" | "as" | "const" | "let" | "var");
            let is_in_import = names.brackets(at).next().is_some_and(|opening| names.binds(opening));
            // `import a, b`, `import a, {b} from 'c'`.
            let line = names.line(at);
            let statement = names.tokens.get(..at).unwrap_or_default().iter().rev().take(12);
            let is_listed = sign(before) == ","
                && statement
                    .take_while(|token| token.line == line)
                    .any(|token| word(Some(token)) == "import");
            !is_bound && !is_in_import && !is_listed && !names.is_key(at)
        };
        places
            .iter()
            .copied()
            .filter(|at| word(names.tokens.get(*at)) == name && sign(names.tokens.get(*at + 1)) != "(")
            .find(|at| is_handed_on(*at))
            .map(|at| names.line(at))
    }

    /// Whether a path (`sqlx::MySqlPool`) begins with this name.
    pub fn has_path_of(&self, name: &str) -> bool {
        let names = &self.names;
        let places = names.by_root.get(name).into_iter().flatten();
        places.copied().any(|at| {
            let rest = word(names.tokens.get(at)).get(name.len()..);
            // `use mysql::*`
            rest.is_some_and(|rest| rest.starts_with("::"))
                || (rest == Some("") && sign(names.tokens.get(at + 1)) == "::")
        })
    }

    /// How many places have this name, or something of it.
    pub fn places_of(&self, name: &str) -> usize {
        self.names.by_root.get(root(name, self.names.language)).map_or(0, Vec::len)
    }

    /// The line of the first place that has this name.
    pub fn first_line_of(&self, name: &str) -> Option<usize> {
        let names = &self.names;
        names
            .by_root
            .get(root(name, names.language))?
            .iter()
            .find(|at| word(names.tokens.get(**at)) == name)
            .map(|at| names.line(*at))
    }

    /// How many places set a name, or bind it in any other way than an import does.
    pub fn is_bound_otherwise(&self, name: &str) -> bool {
        let names = &self.names;
        names.by_root.get(name).into_iter().flatten().any(|at| {
            word(names.tokens.get(*at)) == name
                && !matches!(
                    word(at.checked_sub(1).and_then(|at| names.tokens.get(at))),
                    "import" | "as" | "const" | "let" | "var"
                )
                && !matches!(sign(at.checked_sub(1).and_then(|at| names.tokens.get(at))), "{" | ",")
                && names.may_change(*at, false, &mut HashSet::new()).is_some()
        })
    }
}
