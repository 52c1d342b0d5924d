//! The names that a source takes from modules.

use super::{Kind, Language, Names, Source, sign, word};

impl Source {
    /// The names that the statements of this language take from modules: name here, module, and what of it (empty for all).
    pub fn imports(&self) -> Vec<Import> {
        let names = &self.names;
        match names.language {
            Language::Python => names.python_imports(),
            Language::JavaScript => names.javascript_imports(),
            _ => vec![],
        }
    }
}

/// A name that comes from a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub name: String,
    pub module: String,
    /// What of the module it is; empty where it is the module itself.
    pub part: String,
    pub line: usize,
}

impl Names {
    fn python_imports(&self) -> Vec<Import> {
        let mut all = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let first = word(self.tokens.get(at));
            let line = self.line(at);
            let starts = self.tokens.get(at).is_some_and(|token| token.starts_line);
            match first {
                "import" if starts => {
                    at += 1;
                    loop {
                        let module = word(self.tokens.get(at)).to_owned();
                        if module.is_empty() {
                            break;
                        }
                        at += 1;
                        let name = if word(self.tokens.get(at)) == "as" {
                            at += 2;
                            word(at.checked_sub(1).and_then(|at| self.tokens.get(at))).to_owned()
                        } else {
                            module.clone()
                        };
                        all.push(Import { name, module, part: String::new(), line });
                        if sign(self.tokens.get(at)) != "," {
                            break;
                        }
                        at += 1;
                    }
                }
                "from" if starts => {
                    // `from . import x`, `from ..pkg import x`
                    let mut module = String::new();
                    at += 1;
                    while matches!(sign(self.tokens.get(at)), "." | ".." | "...") {
                        module += sign(self.tokens.get(at));
                        at += 1;
                    }
                    if word(self.tokens.get(at)) != "import" || module.is_empty() {
                        module += word(self.tokens.get(at));
                        at += 1;
                    }
                    if word(self.tokens.get(at)) != "import" {
                        continue;
                    }
                    at += 1;
                    if sign(self.tokens.get(at)) == "(" {
                        at += 1;
                    }
                    loop {
                        let part = word(self.tokens.get(at)).to_owned();
                        if part.is_empty() {
                            break;
                        }
                        at += 1;
                        let name = if word(self.tokens.get(at)) == "as" {
                            at += 2;
                            word(at.checked_sub(1).and_then(|at| self.tokens.get(at))).to_owned()
                        } else {
                            part.clone()
                        };
                        all.push(Import { name, module: module.clone(), part, line });
                        if sign(self.tokens.get(at)) != "," {
                            break;
                        }
                        at += 1;
                    }
                }
                _ => at += 1,
            }
        }
        all
    }

    pub(super) fn text(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at).map(|token| &token.kind) {
            Some(Kind::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// `import x from 'm'`, `import * as x from 'm'`, `import {a as b} from 'm'`, `const x = require('m')`, `const {a: b} = require('m')`.
    fn javascript_imports(&self) -> Vec<Import> {
        let mut all = Vec::new();
        for at in 0..self.tokens.len() {
            let line = self.line(at);
            let name = word(self.tokens.get(at));
            if name == "from"
                && let Some(module) = self.text(at + 1)
            {
                self.names_before(at, module, line, true, &mut all);
            }
            if name == "require"
                && sign(self.tokens.get(at + 1)) == "("
                && sign(self.tokens.get(at + 3)) == ")"
            {
                let is_whole = matches!(sign(self.tokens.get(at + 4)), "" | ";" | ",")
                    && self
                        .tokens
                        .get(at + 4)
                        .is_none_or(|token| token.starts_line || !sign(Some(token)).is_empty());
                if let (Some(module), true) = (self.text(at + 2), is_whole)
                    && sign(at.checked_sub(1).and_then(|at| self.tokens.get(at))) == "="
                {
                    self.names_before(at.saturating_sub(1), module, line, false, &mut all);
                }
            }
        }
        all
    }

    /// The names that end in front of `at`.
    fn names_before(&self, at: usize, module: &str, line: usize, is_import: bool, all: &mut Vec<Import>) {
        let mut end = at;
        for _ in 0..2 {
            let Some(last) = end.checked_sub(1) else { return };
            let mut add = |name: &str, part: &str| {
                all.push(Import {
                    name: name.to_owned(),
                    module: module.to_owned(),
                    part: part.to_owned(),
                    line,
                });
            };
            if sign(self.tokens.get(last)) == "}" {
                let Some(opening) = self.pair.get(last).copied().flatten() else { return };
                let mut inner = opening + 1;
                while inner < last {
                    let part = word(self.tokens.get(inner));
                    let has_other =
                        word(self.tokens.get(inner + 1)) == "as" || sign(self.tokens.get(inner + 1)) == ":";
                    let name = if has_other { word(self.tokens.get(inner + 2)) } else { part };
                    if !part.is_empty() && !name.is_empty() {
                        add(name, part);
                    }
                    while inner < last && sign(self.tokens.get(inner)) != "," {
                        inner += 1;
                    }
                    inner += 1;
                }
                end = opening;
            } else {
                let name = word(self.tokens.get(last));
                if name.is_empty() {
                    return;
                }
                add(name, "");
                end = last;
            }
            // `import x, {a} from 'm'`
            if !is_import || end.checked_sub(1).map(|at| sign(self.tokens.get(at))) != Some(",") {
                return;
            }
            end -= 1;
        }
    }
}
