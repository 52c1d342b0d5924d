//! What a file of Python does to an object that it has from another file: not what it may do, but what is written
//! there.

use super::{HARMLESS_CALLS, Language, Names, Source, sign, word};
use crate::settings::code::Why;

/// Methods that change a dictionary or a list where it is.
const CHANGING: [&str; 14] = [
    "update",
    "pop",
    "popitem",
    "setdefault",
    "clear",
    "append",
    "extend",
    "insert",
    "remove",
    "sort",
    "reverse",
    "__setitem__",
    "__delitem__",
    "__ior__",
];

/// Functions that look at what they are given, besides [`HARMLESS_CALLS`].
const LOOKING: [&str; 26] = [
    "dict",
    "list",
    "tuple",
    "set",
    "len",
    "str",
    "repr",
    "sorted",
    "bool",
    "type",
    "isinstance",
    "hasattr",
    "getattr",
    "id",
    "pprint",
    "format",
    "any",
    "all",
    "min",
    "max",
    "deepcopy",
    "copy",
    "dumps",
    "info",
    "debug",
    "enumerate",
];

/// Functions that change what they are given.
const SETTERS: [&str; 4] = ["setattr", "delattr", "vars", "patch.object"];

/// How often an object may be given another name.
const NAMES_MAX: usize = 8;

impl Source {
    /// The first place that changes the object that is called `name` here (`DB`, `config.DB`), or what is in it.
    /// Whether giving the name itself another value counts is said by `is_set_by_name`: for what a module has, not
    /// for one's own name.
    pub fn changes(&self, name: &str, is_set_by_name: bool) -> Option<Why> {
        if self.names.language != Language::Python {
            return None;
        }
        let mut all: Vec<String> = vec![name.to_owned()];
        let mut done = 0;
        let mut found: Option<Why> = None;
        while let Some(name) = all.get(done).cloned().filter(|_| done < NAMES_MAX) {
            let counts = is_set_by_name && done == 0;
            done += 1;
            let root = super::root(&name, Language::Python).to_owned();
            for at in self.names.by_root.get(&root).into_iter().flatten().copied() {
                if self.names.is_in_import(at) || self.names.is_key(at) {
                    continue;
                }
                let whole = word(self.names.tokens.get(at));
                let line = self.names.line(at);
                let Some(rest) = whole.strip_prefix(name.as_str()) else {
                    // `setattr(config, "DB", …)`
                    if name.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'))
                        && let Some(called) = self.names.given_to(at)
                        && SETTERS.iter().any(|setter| called.ends_with(setter))
                    {
                        found = Some(first(found, Why::new(line, format!("{called}() may set {name}"))));
                    }
                    continue;
                };
                if !rest.is_empty() && !rest.starts_with('.') {
                    continue;
                }
                if let Some(text) = self.names.change_at(at, &name, rest, counts) {
                    found = Some(first(found, Why::new(line, text)));
                }
                all.extend(self.names.other_names(at, rest));
            }
        }
        found
    }
}

/// The one of two that stands first.
fn first(known: Option<Why>, other: Why) -> Why {
    match known {
        Some(known) if known.line <= other.line => known,
        _ => other,
    }
}

impl Names {
    fn change_at(&self, at: usize, name: &str, rest: &str, counts: bool) -> Option<String> {
        let before = word(at.checked_sub(1).and_then(|at| self.tokens.get(at)));
        let end = self.behind_parts(at);
        let has_parts = end > at + 1 || !rest.is_empty();
        if before == "del" {
            return has_parts.then(|| format!("a part of {name} is deleted here"));
        }
        let is_set = match (sign(self.tokens.get(end)), sign(self.tokens.get(end + 1))) {
            ("=", after) => after != "=" && !self.is_argument(at),
            ("+=" | "-=" | "|=" | ".=", _) => true,
            (":", _) => false,
            _ => false,
        };
        let is_in_place = sign(self.tokens.get(end)) != "=";
        if is_set && (has_parts || counts || is_in_place) {
            return Some(format!("{name} is set again here, or a part of it"));
        }
        // `DB.update(…)`, `DATABASES["default"].update(…)`: the name of a method behind a bracket is a name of its own.
        let method = if end > at + 1 && sign(self.tokens.get(end)) == "." {
            word(self.tokens.get(end + 1)).to_owned()
        } else if end > at + 1 {
            word(self.tokens.get(end)).trim_start_matches('.').to_owned()
        } else {
            rest.trim_start_matches('.').to_owned()
        };
        let last = method.rsplit('.').next().unwrap_or_default();
        if CHANGING.contains(&last) {
            return Some(format!("{name} is changed here by {last}()"));
        }
        if last.is_empty() || end > at + 1 {
            let called = self.given_to(at)?;
            let of = called.rsplit('.').next().unwrap_or_default();
            let is_unpacked =
                matches!(sign(at.checked_sub(1).and_then(|at| self.tokens.get(at))), "**" | "*");
            let is_part = has_parts && !called.ends_with("setattr");
            if !is_unpacked && !is_part && !HARMLESS_CALLS.contains(&of) && !LOOKING.contains(&of) {
                return Some(format!("{name} is handed to {called}() here, which may change it"));
            }
        }
        None
    }

    /// Behind `["x"]["y"]` that follow a name.
    fn behind_parts(&self, at: usize) -> usize {
        let mut end = at + 1;
        while sign(self.tokens.get(end)) == "["
            && !self.tokens.get(end).is_some_and(|token| token.starts_line)
        {
            match self.pair.get(end).copied().flatten() {
                Some(closing) => end = closing + 1,
                None => break,
            }
        }
        end
    }

    /// The name of the function that is given this token itself.
    fn given_to(&self, at: usize) -> Option<String> {
        let opening = self.brackets(at).find(|opening| {
            sign(self.tokens.get(*opening)) == "("
                && !word(opening.checked_sub(1).and_then(|at| self.tokens.get(at))).is_empty()
        })?;
        // In a subscript or a comparison it is not given away.
        let is_direct = self.around.get(at).copied().flatten() == Some(opening);
        let called = word(opening.checked_sub(1).and_then(|at| self.tokens.get(at)));
        (is_direct && !matches!(called, "if" | "in" | "and" | "or" | "not" | "return" | "import" | "while"))
            .then(|| called.to_owned())
    }

    fn is_argument(&self, at: usize) -> bool {
        self.around.get(at).copied().flatten().is_some_and(|opening| sign(self.tokens.get(opening)) == "(")
    }

    /// The names that what stands here gets besides: `d = DB`, `d = DB["x"]`, `for d in DB.values()`.
    fn other_names(&self, at: usize, rest: &str) -> Vec<String> {
        const PARTS: [&str; 5] = ["", ".values", ".items", ".get", ".setdefault"];
        if !PARTS.contains(&rest) {
            return vec![];
        }
        let before = |steps: usize| at.checked_sub(steps).and_then(|at| self.tokens.get(at));
        let end = self.behind_parts(at);
        if sign(before(1)) == "=" && self.around.get(at).copied().flatten().is_none() {
            let next = sign(self.tokens.get(end));
            // What stands behind it may make a copy of it.
            let is_whole = self.tokens.get(end).is_none_or(|token| token.starts_line)
                || (next == "(" && matches!(rest, ".get" | ".setdefault"));
            return if is_whole { vec![word(before(2)).to_owned()] } else { vec![] };
        }
        if word(before(1)) == "in" {
            return (2..10)
                .map(|steps| word(before(steps)))
                .take_while(|name| *name != "for")
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect();
        }
        vec![]
    }

    /// Part of an `import`, also of one on several lines.
    pub(super) fn is_in_import(&self, at: usize) -> bool {
        let before = |at: usize| at.checked_sub(1).and_then(|at| self.tokens.get(at));
        if let Some(opening) = self.around.get(at).copied().flatten() {
            return word(before(opening)) == "import";
        }
        let line = self.line(at);
        let statement = self.tokens.get(..at).unwrap_or_default().iter().rev();
        statement
            .take_while(|token| token.line == line)
            .take(32)
            .any(|token| matches!(word(Some(token)), "import" | "from"))
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::code::{Language, read};

    #[test]
    fn what_changes_an_object_is_told_and_what_reads_it_is_not() {
        let line = |name: &str, text: &str| {
            read(text.as_bytes(), Language::Python).expect("short").changes(name, true).map(|why| why.line)
        };
        for text in [
            "D['a'] = 1",
            "D['a']['b'] = 1",
            "D['a'] |= x",
            "D |= x",
            "D = {}",
            "del D['a']",
            "D.update(a=1)",
            "D['a'].update(b=1)",
            "D['a']['b'].pop('c')",
            "f(D)",
            "d = D\nd['a'] = 1",
            "d = D['a']\nd['b'] = 1",
            "d = D.get('a')\nd.clear()",
            "for d in D.values():\n    d['a'] = 1",
            "for k, v in D.items():\n    v['a'] = 1",
            "def f():\n    D['a'] = 1",
        ] {
            assert!(line("D", text).is_some(), "{text}");
        }
        for text in [
            "from m import D\nx = D['a']",
            "from m import (\n    D,\n)",
            "print(D)",
            "connect(**D)",
            "f(**D)",
            "f(D['a'])",
            "if D['a'] == 1:\n    pass",
            "d = dict(D)\nd['a'] = 1",
            "d = D.copy()\nd['a'] = 1",
            "d = {**D, 'a': 1}\nd['a'] = 2",
            "x = D.get('a')",
            "f(D=1)",
            "E['a'] = D['a']",
            "s = 'D[1] = 2' # D['a'] = 1",
        ] {
            assert_eq!(line("D", text), None, "{text}");
        }
        assert_eq!(line("m.D", "import m\nm.D['a'] = 1"), Some(2));
        assert_eq!(line("m.D", "import m\nm.D.update(a=1)"), Some(2));
        assert_eq!(line("m.D", "import m\nm.D = {}"), Some(2));
        assert_eq!(line("m.D", "import m\nsetattr(m, 'D', {})"), Some(2));
        assert_eq!(line("m.D", "import m\nm.E['a'] = 1\nx = m.D['a']\nm.DB = 1"), None);
        let source = read(b"D = {}\n", Language::Python).expect("short");
        assert_eq!(source.changes("D", false), None);
    }
}
