//! What a program asks its environment for, with the answer in its place: `os.environ["X"]`, `process.env.X`,
//! `env('X')`.
//!
//! It is done with the words of a source, so that neither a remark nor a text is taken for a question.

use zeroize::Zeroizing;

use super::Language;
use super::lexer::{Kind, Token};
use crate::settings::Node;
use crate::settings::pairs::Pair;

/// The environment that a program is known to have.
#[derive(Clone, Default)]
pub struct Variables {
    /// Of several values for a name the last counts.
    pub pairs: Vec<Pair>,
    /// All that is not among the pairs is not set: what is asked for then is what the program has for that case.
    pub is_whole: bool,
    /// What names that the source takes from other files stand for there (`DB`, `config.DB`).
    pub names: Vec<(String, Node)>,
}

impl Variables {
    fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|pair| pair.key == name).map(|pair| pair.value.as_str())
    }
}

/// A question that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    pub line: usize,
    pub name: String,
}

/// Where a question ends, and the words for the case that nothing is set.
struct Question {
    name: String,
    end: usize,
    default: (usize, usize),
}

/// The tokens with answers in them, and which they are.
pub(super) fn filled(
    tokens: Vec<Token>,
    language: Language,
    variables: &Variables,
) -> (Vec<Token>, Vec<Filled>) {
    if variables.pairs.is_empty() && !variables.is_whole {
        return (tokens, vec![]);
    }
    let (mut all, mut answers) = (Vec::with_capacity(tokens.len()), Vec::new());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let answered = question(&tokens, at, language).and_then(|asked| {
            let put = |kind: Kind| Token { kind, ..token.clone() };
            let words = match variables.value(&asked.name) {
                Some(value) => vec![put(of_value(value, language))],
                None if variables.is_whole && asked.default.0 < asked.default.1 => {
                    tokens.get(asked.default.0..asked.default.1)?.to_vec()
                }
                None if variables.is_whole => vec![put(Kind::Name("null".into()))],
                None => return None,
            };
            Some((asked, words))
        });
        if let Some((asked, words)) = answered {
            answers.push(Filled { line: token.line, name: asked.name });
            all.extend(words);
            at = asked.end;
        } else {
            all.push(token.clone());
            at += 1;
        }
    }
    (all, answers)
}

/// Laravel's `env()` makes more of some words than a text.
fn of_value(value: &str, language: Language) -> Kind {
    let text = || Kind::Text(Zeroizing::new(value.to_owned()));
    if language != Language::Php {
        return text();
    }
    match value.to_ascii_lowercase().as_str() {
        "true" | "(true)" => Kind::Name("true".into()),
        "false" | "(false)" => Kind::Name("false".into()),
        "null" | "(null)" => Kind::Name("null".into()),
        "empty" | "(empty)" => Kind::Text(Zeroizing::new(String::new())),
        _ => text(),
    }
}

fn question(tokens: &[Token], at: usize, language: Language) -> Option<Question> {
    let sign = |at: usize| match tokens.get(at).map(|token| &token.kind) {
        Some(Kind::Sign(sign)) => *sign,
        _ => "",
    };
    let text = |at: usize| match tokens.get(at).map(|token| &token.kind) {
        Some(Kind::Text(text)) => Some(text.to_string()),
        _ => None,
    };
    let Kind::Name(name) = &tokens.get(at)?.kind else { return None };
    let (maps, calls): (&[&str], &[&str]) = match language {
        Language::Python => (
            &["os.environ", "environ"],
            &["os.environ.get", "environ.get", "os.getenv", "getenv", "env", "env.str", "config", "env.get"],
        ),
        Language::JavaScript => (&["process.env"], &[]),
        Language::Php => (&["$_ENV", "$_SERVER"], &["env", "getenv"]),
        Language::Ruby => (&["ENV"], &["ENV.fetch"]),
        Language::CLike => (&[], &["os.Getenv", "System.getenv"]),
        Language::Perl => (&[], &[]),
    };
    let none = (0, 0);
    if language == Language::JavaScript
        && let Some(variable) = name.strip_prefix("process.env.")
        && !variable.contains('.')
    {
        return Some(Question { name: variable.to_owned(), end: behind(tokens, at + 1), default: none });
    }
    if maps.contains(&name.as_str()) && sign(at + 1) == "[" && sign(at + 3) == "]" {
        let end = if language == Language::JavaScript { behind(tokens, at + 4) } else { at + 4 };
        return Some(Question { name: text(at + 2)?, end, default: none });
    }
    if !calls.contains(&name.as_str()) || sign(at + 1) != "(" {
        return None;
    }
    let variable = text(at + 2)?;
    if sign(at + 3) == ")" {
        return Some(Question { name: variable, end: at + 4, default: none });
    }
    if sign(at + 3) != "," {
        return None;
    }
    // One more value, that of the case that nothing is set. A word (`cast=bool`) would make something else of the
    // answer.
    let mut depth = 0_usize;
    let mut end = at + 4;
    loop {
        match sign(end) {
            "(" | "[" | "{" => depth += 1,
            ")" if depth == 0 => break,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            "," | "=" if depth == 0 => return None,
            _ => {}
        }
        end += 1;
        if end >= tokens.len() || end > at + 64 {
            return None;
        }
    }
    Some(Question { name: variable, end: end + 1, default: (at + 4, end) })
}

/// `process.env.X!`, `process.env.X || 'default'`: what stands there for the case that nothing is set.
fn behind(tokens: &[Token], at: usize) -> usize {
    let kind = |at: usize| tokens.get(at).map(|token| &token.kind);
    let is_end = |at: usize| {
        tokens.get(at).is_none_or(|token| {
            token.starts_line || matches!(token.kind, Kind::Sign(")" | "," | ";" | "}" | "]"))
        })
    };
    match (kind(at), kind(at + 1)) {
        (Some(Kind::Sign("||" | "??")), Some(Kind::Text(_))) if is_end(at + 2) => at + 2,
        (Some(Kind::Sign(strange)), _) if *strange == super::lexer::STRANGE && is_end(at + 1) => at + 1,
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;
    use crate::settings::code::{read, read_in};

    fn given(text: &str, language: Language, is_whole: bool) -> (Vec<Node>, Vec<Filled>) {
        let pair = |key: &str, value: &str| Pair {
            key: key.to_owned(),
            value: Zeroizing::new(value.to_owned()),
            line: 1,
        };
        let variables = Variables {
            pairs: vec![pair("A", "one"), pair("T", "(true)"), pair("A", "two")],
            is_whole,
            ..Variables::default()
        };
        let source = read_in(text.as_bytes(), language, &variables).expect("short");
        let Some(Value::Call { args, .. }) = source
            .calls
            .iter()
            .find(|call| matches!(&call.value, Value::Call { name, .. } if name == "f"))
            .map(|call| call.value.clone())
        else {
            panic!("no call: {:?}", source.calls)
        };
        (args, source.filled)
    }

    #[test]
    fn a_question_has_its_answer_in_its_place() {
        for (language, text) in [
            (Language::Python, "f(os.environ['A'])"),
            (Language::Python, "f(os.environ.get(\"A\", 'x'))"),
            (Language::Python, "f(os.getenv('A', None))"),
            (Language::JavaScript, "f(process.env.A)"),
            (Language::JavaScript, "f(process.env.A || 'x')"),
            (Language::JavaScript, "f(process.env.A!)"),
            (Language::JavaScript, "f(process.env['A'] ?? '')"),
            (Language::Php, "<?php f(env('A', 'x'));"),
            (Language::Php, "<?php f($_ENV['A']);"),
            (Language::Ruby, "f(ENV['A'])"),
            (Language::Ruby, "f(ENV.fetch('A'))"),
            (Language::CLike, "f(os.Getenv(\"A\"))"),
        ] {
            let (args, filled) = given(text, language, false);
            assert!(matches!(&args[..], [only] if only.text() == Some("two")), "{text}: {args:?}");
            assert_eq!(filled, [Filled { line: 1, name: "A".into() }], "{text}");
        }
        for (language, text) in [
            (Language::Python, "f(os.environ['B'])"),
            (Language::Python, "f(config('A', cast=bool))"),
            (Language::Python, "f(os.environ)"),
            (Language::Python, "f('os.environ[A]') # os.environ['A']"),
            (Language::JavaScript, "f(process.env.A.b)"),
            (Language::Php, "<?php f(env($a));"),
        ] {
            assert_eq!(given(text, language, false).1, [], "{text}");
        }
        let (args, _) = given("f(process.env.A && x)", Language::JavaScript, false);
        assert_eq!(args[0].value, Value::Unread);
    }

    #[test]
    fn what_is_not_set_is_what_the_program_has_for_that() {
        let of = |text: &str| given(&format!("<?php f({text});"), Language::Php, true).0[0].value.clone();
        assert_eq!(of("env('B')"), Value::Null);
        assert_eq!(of("env('T')"), Value::Bool(true));
        assert!(matches!(of("env('B', 'x')"), Value::Text(text) if text.as_str() == "x"));
        assert!(matches!(of("env('B', base_path('x'))"), Value::Call { .. }));
        assert!(read(b"f(env('B'))", Language::Php).expect("short").filled.is_empty());
    }
}
