//! What a file does besides setting values: modules that it loads for what they do, functions that it calls and whose result nobody
//! takes, and what happens to an object after it was made.

use super::{Kind, Language, Names, Source, sign, word};

/// What is done to a part of an object: `o.ssl = …`, `o.config(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    pub line: usize,
    /// Behind the name, with its dot.
    pub rest: String,
    pub is_set: bool,
    pub is_call: bool,
}

impl Source {
    /// Modules that are loaded and given no name: `import './x'`, `require('./x')` as a statement. Of Python, and of
    /// modules without a name that nobody uses, [`Source::imports`] knows.
    pub fn loaded_for_effect(&self) -> Vec<(String, usize)> {
        let names = &self.names;
        if names.language != Language::JavaScript {
            return vec![];
        }
        let module = |at: usize| {
            let (next, text) = match word(names.tokens.get(at)) {
                "import" if names.text(at + 1).is_some() => return names.text(at + 1),
                "import" | "require" => (sign(names.tokens.get(at + 1)), names.text(at + 2)),
                _ => return None,
            };
            let before = at.checked_sub(1).map_or("", |at| word(names.tokens.get(at)));
            (next == "(" && (names.begins_statement(at) || before == "await" || before == "void"))
                .then_some(text)?
        };
        (0..names.tokens.len()).filter_map(|at| Some((module(at)?.to_owned(), names.line(at)))).collect()
    }

    /// Modules of which every name is taken: `from x import *` of Python.
    pub fn star_imports(&self) -> Vec<(String, usize)> {
        let names = &self.names;
        if names.language != Language::Python {
            return vec![];
        }
        let module = |at: usize| {
            let mut whole = String::new();
            let mut before = at.checked_sub(1)?;
            while word(names.tokens.get(before)) != "from" {
                let token = names.tokens.get(before);
                whole.insert_str(0, if word(token).is_empty() { sign(token) } else { word(token) });
                before = before.checked_sub(1).filter(|_| whole.len() < 256)?;
            }
            Some(whole)
        };
        (0..names.tokens.len())
            .filter(|at| word(names.tokens.get(*at)) == "import" && sign(names.tokens.get(at + 1)) == "*")
            .filter_map(|at| Some((module(at)?, names.line(at))))
            .collect()
    }

    /// Whether this call (its index in [`Source::calls`]) is a statement: nobody takes what it returns.
    pub fn is_statement(&self, call: usize) -> bool {
        let names = &self.names;
        let Some(at) = names.calls_at.get(call).copied() else { return false };
        let before = at.checked_sub(1).filter(|before| word(names.tokens.get(*before)) == "await");
        names.begins_statement(before.unwrap_or(at))
    }

    /// The name that a `with` gives to what this call returns: `with connect() as c`.
    pub fn bound_by_as(&self, call: usize) -> Option<&str> {
        let names = &self.names;
        let opening = names.calls_at.get(call)? + 1;
        let closing = names.pair.get(opening).copied().flatten()?;
        let name = word(names.tokens.get(closing + 2));
        (word(names.tokens.get(closing + 1)) == "as" && !name.is_empty()).then_some(name)
    }

    /// The calls that are given this name itself, in brackets of any depth: their line and their function's name. One that is
    /// loaded and called at once is `require` with its module behind it.
    pub fn calls_given(&self, name: &str) -> Vec<(usize, String)> {
        let names = &self.names;
        let places = names.by_root.get(super::root(name, names.language)).into_iter().flatten().copied();
        places
            .filter(|at| {
                let own = word(names.tokens.get(*at));
                own == name || own.strip_prefix(name).is_some_and(|rest| rest == ".pool")
            })
            .filter(|at| !names.is_key(*at))
            .flat_map(|at| names.functions_around(at).into_iter().map(move |called| (names.line(at), called)))
            .collect()
    }

    /// The same of its parts too (`name.production`): what stands behind the name, and the functions around it.
    pub fn given(&self, name: &str) -> Vec<(String, Vec<String>)> {
        let names = &self.names;
        let places = names.by_root.get(super::root(name, names.language)).into_iter().flatten().copied();
        places
            .filter(|at| !names.is_key(*at))
            .filter_map(|at| {
                let rest = word(names.tokens.get(at)).strip_prefix(name)?;
                (rest.is_empty() || rest.starts_with('.'))
                    .then(|| (rest.to_owned(), names.functions_around(at)))
            })
            .collect()
    }

    /// What is done to parts of this name.
    pub fn touches(&self, name: &str) -> Vec<Touch> {
        let names = &self.names;
        let places = names.by_root.get(super::root(name, names.language)).into_iter().flatten().copied();
        places
            .filter_map(|at| {
                let rest = word(names.tokens.get(at)).strip_prefix(name)?;
                if !rest.starts_with(['.', '-']) {
                    return None;
                }
                let (next, after) = (sign(names.tokens.get(at + 1)), sign(names.tokens.get(at + 2)));
                let is_set = next == "=" || (matches!(next, "||" | "&&" | "??" | "|") && after == "=");
                Some(Touch { line: names.line(at), rest: rest.to_owned(), is_set, is_call: next == "(" })
            })
            .collect()
    }
}

impl Names {
    /// The functions in whose brackets this token stands, up to the body that it is in.
    fn functions_around(&self, at: usize) -> Vec<String> {
        let mut all = Vec::new();
        for opening in self.brackets(at) {
            match sign(self.tokens.get(opening)) {
                "{" if self.is_body(opening) => break,
                "(" if self.binds(opening) => break,
                "(" => {
                    let Some(before) = opening.checked_sub(1) else { continue };
                    let called = word(self.tokens.get(before));
                    if !called.is_empty() {
                        all.push(called.to_owned());
                    } else if sign(self.tokens.get(before)) == ")"
                        && let Some(inner) = self.pair.get(before).copied().flatten()
                        && inner.checked_sub(1).is_some_and(|at| word(self.tokens.get(at)) == "require")
                        && let Some(Kind::Text(module)) = self.tokens.get(inner + 1).map(|token| &token.kind)
                    {
                        all.push(format!("require {}", module.as_str()));
                    }
                }
                _ => {}
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::code::{Language, read};

    #[test]
    fn what_a_file_does_besides_is_told() {
        let js = "const m = require('m');\nrequire('./a');\nimport './b';\nrequire('./c')(pool);\nf(pool);\nx(() => { g(pool.q); });\npool.config = 1;\n";
        let source = read(js.as_bytes(), Language::JavaScript).expect("short");
        assert_eq!(
            source.loaded_for_effect(),
            [("./a".to_owned(), 2), ("./b".to_owned(), 3), ("./c".to_owned(), 4)]
        );
        assert_eq!(source.calls_given("pool"), [(4, "require ./c".to_owned()), (5, "f".to_owned())]);
        let touched: Vec<(usize, bool)> =
            source.touches("pool").iter().map(|one| (one.line, one.is_set)).collect();
        assert_eq!(touched, [(6, false), (7, true)]);
        let python = "from .a import *\nx.run()\ny = x.run()\nwith open(1) as c:\n    c.close()\n";
        let source = read(python.as_bytes(), Language::Python).expect("short");
        assert_eq!(source.star_imports(), [(".a".to_owned(), 1)]);
        let statements: Vec<bool> = (0..3).map(|index| source.is_statement(index)).collect();
        assert_eq!(statements, [true, false, false]);
        assert_eq!(source.bound_by_as(2), Some("c"));
    }
}
