//! Where a source gives a value to what a text names: `config(['a.b' => …])`, `app.config["X"] = …`, `config->set('a.b', …)`.

use super::{Kind, Source, sign, word};

/// Methods that give their first argument a value, or take it away.
const SETTERS: [&str; 12] = [
    "set",
    "put",
    "push",
    "prepend",
    "offsetSet",
    "forget",
    "setdefault",
    "pop",
    "__setitem__",
    "add",
    "merge",
    "setItem",
];

/// Methods that change what they are called on.
const CHANGING: [&str; 6] = ["update", "pop", "setdefault", "clear", "popitem", "merge"];

impl Source {
    /// The first place that gives a value to what a text or a name that fits stands for, and what stands there. `takes` says whether
    /// a function makes settings of a map that it is given, or of its named arguments.
    pub fn sets(&self, fits: &dyn Fn(&str) -> bool, takes: &dyn Fn(&str) -> bool) -> Option<(usize, &str)> {
        let names = &self.names;
        (0..names.tokens.len()).find_map(|at| {
            let token = names.tokens.get(at)?;
            let next = sign(names.tokens.get(at + 1));
            let after = sign(names.tokens.get(at + 2));
            match &token.kind {
                Kind::Name(name) => {
                    let last = name.rsplit(['.', ':', '>']).next().unwrap_or_default();
                    let is_set = next == "=" && after != "=";
                    // A name of one's own is another one; `Config.X = …` and `update(X=…)` are not.
                    let is_other = name.len() > last.len() || names.function_around(at).is_some_and(takes);
                    (is_set && is_other && fits(last)).then_some((token.line, last))
                }
                Kind::Text(text) if fits(text) => {
                    let function = names.function_around(at);
                    let last = |name: &str| name.rsplit(['.', ':', '>']).next().map(str::to_owned);
                    let is_key = matches!(next, "=>" | ":") && function.is_some_and(takes);
                    let before = at.checked_sub(1).map_or("", |at| sign(names.tokens.get(at)));
                    let is_first = before == "("
                        && function.and_then(last).is_some_and(|name| SETTERS.contains(&name.as_str()));
                    let is_index = before == "[" && next == "]" && names.is_changed_behind(at + 2);
                    (is_key || is_first || is_index).then_some((token.line, text.as_str()))
                }
                _ => None,
            }
        })
    }
}

impl super::Names {
    /// The name of the innermost function in whose round brackets this stands.
    fn function_around(&self, at: usize) -> Option<&str> {
        self.brackets(at).find_map(|opening| {
            let before = word(opening.checked_sub(1).and_then(|at| self.tokens.get(at)));
            (sign(self.tokens.get(opening)) == "(" && !before.is_empty()).then_some(before)
        })
    }

    /// Whether what ends here, with the indices behind it, is given a value or changed.
    fn is_changed_behind(&self, mut at: usize) -> bool {
        while sign(self.tokens.get(at)) == "[" {
            match self.pair.get(at).copied().flatten() {
                Some(closing) => at = closing + 1,
                None => return false,
            }
        }
        let method = match sign(self.tokens.get(at)) {
            "=" => return sign(self.tokens.get(at + 1)) != "=",
            "+=" | "-=" | "|=" | ".=" | "??=" | "||=" => return true,
            "." | "->" => word(self.tokens.get(at + 1)),
            _ => word(self.tokens.get(at)).trim_start_matches(['.', '-', '>']),
        };
        CHANGING.contains(&method)
    }
}
