//! Where a source has a word, as a name or as a whole text, and what stands around it there. Remarks have no words.

use super::{Kind, Source, sign, word};

/// A place that has a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub line: usize,
    /// The innermost call in whose brackets it stands, but for those that only ask the environment.
    pub within: Option<String>,
    /// A method or a part of it: `replace` of `os.environ["X"].replace(…)`.
    pub then: Option<String>,
    /// That call is given something else besides, which may say anything.
    pub has_more: bool,
}

/// How many places are looked at: more would be data.
const MENTIONS_MAX: usize = 64;

/// Functions that ask the environment, and whatever stands beside the name there is for the case that nothing is set.
const ASKING: [&str; 11] =
    ["get", "getenv", "env", "fetch", "Getenv", "str", "config", "db", "getProperty", "var", "field"];

impl Source {
    /// The places that have this word: as the last part of a name, in any case, or as a whole text.
    pub fn mentions(&self, wanted: &str) -> Vec<Mention> {
        let names = &self.names;
        let is_it = |at: &usize| match names.tokens.get(*at).map(|token| &token.kind) {
            Some(Kind::Name(name)) => behind(name, wanted).is_some(),
            Some(Kind::Text(text)) => text.as_str() == wanted,
            _ => false,
        };
        (0..names.tokens.len())
            .filter(is_it)
            .take(MENTIONS_MAX)
            .map(|at| {
                let (within, has_more) = names.call_around(at).unzip();
                Mention {
                    line: names.line(at),
                    then: names.called_on(at, wanted),
                    within,
                    has_more: has_more == Some(true),
                }
            })
            .collect()
    }

    /// Names that are given a value with this word in it (`URL = os.environ["DATABASE_URL"]`, `url:
    /// process.env.DATABASE_URL`).
    pub fn named_by(&self, wanted: &str) -> Vec<String> {
        let names = &self.names;
        let last = |name: &str| name.rsplit(['.', '>', ':', '$']).next().unwrap_or_default().to_owned();
        let is_it = |at: usize| match names.tokens.get(at).map(|token| &token.kind) {
            Some(Kind::Name(name)) => last(name).eq_ignore_ascii_case(wanted),
            Some(Kind::Text(text)) => text.as_str() == wanted,
            _ => false,
        };
        let places: Vec<usize> = (0..names.tokens.len()).filter(|at| is_it(*at)).take(MENTIONS_MAX).collect();
        let mut all = Vec::new();
        for at in places {
            let holder = names.assigned.partition_point(|(begins, _)| *begins < at).checked_sub(1);
            if let Some((begins, ends)) = holder.and_then(|holder| names.assigned.get(holder))
                && at < *ends
            {
                all.push(last(word(names.tokens.get(*begins))));
            }
            // Up to three words further on in front of it: `url: process.env.X`, `"url": os.environ.get("X"`.
            let key = (1..5).find(|steps| {
                at.checked_sub(*steps).is_some_and(|at| matches!(sign(names.tokens.get(at)), ":" | "=>"))
            });
            if let Some(steps) = key
                && let Some(token) = at.checked_sub(steps + 1).and_then(|at| names.tokens.get(at))
            {
                match &token.kind {
                    Kind::Name(name) => all.push(last(name)),
                    Kind::Text(text) if text.len() < 48 => all.push(text.to_string()),
                    _ => {}
                }
            }
        }
        all.retain(|name| !name.is_empty() && name != wanted);
        all.sort();
        all.dedup();
        all
    }

    /// The first line with a name or a text that fits.
    pub fn first_word(&self, fits: &dyn Fn(&str) -> bool) -> Option<usize> {
        let is_it = |kind: &Kind| match kind {
            Kind::Name(name) => fits(name),
            Kind::Text(text) => fits(text),
            _ => false,
        };
        self.names.tokens.iter().find(|token| is_it(&token.kind)).map(|token| token.line)
    }
}

impl super::Names {
    /// The innermost call around this that does not only ask the environment, and whether it is given more.
    fn call_around(&self, at: usize) -> Option<(String, bool)> {
        for opening in self.brackets(at) {
            let before = opening.checked_sub(1).map_or("", |at| word(self.tokens.get(at)));
            match sign(self.tokens.get(opening)) {
                "(" if before.is_empty() => continue,
                "(" => {}
                "{" if self.is_body(opening) => return None,
                _ => continue,
            }
            let last = before.rsplit(['.', '>', ':']).next().unwrap_or_default();
            if ASKING.contains(&last) {
                continue;
            }
            if matches!(before, "if" | "while" | "print" | "return" | "elif" | "function")
                || HARMLESS_PLACES.contains(&last)
            {
                return None;
            }
            let closing = self.pair.get(opening).copied().flatten()?;
            return Some((before.to_owned(), self.has_more(at, opening, closing)));
        }
        None
    }

    /// What is called on the value of this name, or of the variable that is asked for here.
    fn called_on(&self, at: usize, wanted: &str) -> Option<String> {
        let first = |rest: &str| {
            let part = rest.split(['.', '>', ':', '-', '?']).find(|part| !part.is_empty());
            part.map(str::to_owned)
        };
        if let Some(Kind::Name(name)) = self.tokens.get(at).map(|token| &token.kind)
            && let Some(part) = behind(name, wanted).and_then(first)
        {
            return Some(part);
        }
        let is_text = matches!(self.tokens.get(at).map(|token| &token.kind), Some(Kind::Text(_)));
        let around = self.around.get(at).copied().flatten().filter(|_| is_text);
        let end = around.and_then(|opening| self.pair.get(opening).copied().flatten()).unwrap_or(at);
        match (sign(self.tokens.get(end + 1)), word(self.tokens.get(end + 1))) {
            ("." | "->" | "?", _) => first(word(self.tokens.get(end + 2))),
            ("[", _) => Some("[".to_owned()),
            (_, part) if part.starts_with(['.', '-', '?']) => first(part),
            _ => None,
        }
    }

    /// Whether an argument besides the one around `at` may say anything.
    fn has_more(&self, at: usize, opening: usize, closing: usize) -> bool {
        let mut begin = opening + 1;
        let commas = (opening + 1..closing).filter(|inner| {
            sign(self.tokens.get(*inner)) == ","
                && self.around.get(*inner).copied().flatten() == Some(opening)
        });
        for end in commas.chain([closing]) {
            let argument = begin..end;
            begin = end + 1;
            if argument.contains(&at) || argument.is_empty() {
                continue;
            }
            let is_plain = match self.tokens.get(argument.start).map(|token| &token.kind) {
                Some(Kind::Text(_) | Kind::Number(_)) => argument.len() == 1,
                // How many connections there are, and for how long.
                Some(Kind::Name(name)) if sign(self.tokens.get(argument.start + 1)) == "=" => {
                    name.starts_with("pool_") || HARMLESS_WORDS.contains(&name.as_str())
                }
                _ => false,
            };
            if !is_plain {
                return true;
            }
        }
        false
    }
}

/// What stands behind the part of a name that is `wanted`, in any case.
fn behind<'n>(name: &'n str, wanted: &str) -> Option<&'n str> {
    const JOINTS: [char; 6] = ['.', '>', ':', '$', '-', '?'];
    let mut begin = 0;
    for part in name.split(JOINTS) {
        let end = begin + part.len();
        if part.eq_ignore_ascii_case(wanted) {
            return name.get(end..);
        }
        begin = end + 1;
    }
    None
}

/// What looks at a value and hands it to nobody.
const HARMLESS_PLACES: [&str; 8] = ["log", "info", "debug", "error", "assert", "bool", "isset", "empty"];

/// Words of a call beside a URL that say nothing of TLS.
const HARMLESS_WORDS: [&str; 10] = [
    "poolclass",
    "max_overflow",
    "echo",
    "future",
    "isolation_level",
    "conn_max_age",
    "conn_health_checks",
    "autocommit",
    "autoflush",
    "default",
];
