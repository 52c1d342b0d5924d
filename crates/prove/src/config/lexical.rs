//! Signs that one reader takes for the end of a line, of a comment or of a text, and another does not: a file that has one is read
//! by its program in another way than here, and nothing in it is certain. Seen with real drivers by an outsider.

/// The first such sign: where in the text, and what it is.
pub(super) fn doubt(form: &str, text: &str) -> Option<(usize, String)> {
    let of_form = match form {
        "python" => other_encoding(text),
        "yaml" => template_in_a_comment(text),
        "env" => other_line_of_an_environment(text),
        "javascript" => comment_of_html(text),
        _ => None,
    };
    [odd_line_end(text), of_form].into_iter().flatten().min()
}

/// Ends of a line to Python, JavaScript, YAML 1.1 or Java's properties, and to others none.
fn odd_line_end(text: &str) -> Option<(usize, String)> {
    const ODD: [(char, &str); 5] = [
        ('\u{85}', "U+0085"),
        ('\u{2028}', "U+2028"),
        ('\u{2029}', "U+2029"),
        ('\u{b}', "a vertical tab"),
        ('\u{c}', "a form feed"),
    ];
    let is_lone = |at: &usize| text.as_bytes().get(at + 1) != Some(&b'\n');
    let carriage_return =
        text.match_indices('\r').map(|(at, _)| at).find(is_lone).map(|at| (at, "a carriage return"));
    let others = ODD.iter().filter_map(|(sign, name)| Some((text.find(*sign)?, *name)));
    carriage_return
        .into_iter()
        .chain(others)
        .min()
        .map(|(at, name)| (at, format!("{name} stands in it, which ends a line to some readers alone")))
}

/// `# -*- coding: … -*-` in one of the first two lines.
// Source: The Python Language Reference, 2.1.4: coding[=:]\s*([-\w.]+) in a comment of the first or second line.
fn other_encoding(text: &str) -> Option<(usize, String)> {
    let mut at = 0;
    for line in text.split_inclusive('\n').take(2) {
        if line.trim_start().starts_with('#')
            && let Some((_, rest)) = line.split_once("coding")
            && let Some(name) = rest.strip_prefix([':', '='])
        {
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            let name = name.trim_start();
            let end = name.find(|c| !is_of_name(c)).unwrap_or(name.len());
            let name = name.get(..end).unwrap_or_default().to_ascii_lowercase().replace('_', "-");
            if !matches!(name.as_str(), "utf-8" | "utf8" | "ascii" | "us-ascii") {
                return Some((at, "it says that it is written in another encoding than UTF-8".into()));
            }
        }
        at += line.len();
    }
    None
}

/// ERB and Helm know no comments of YAML: what they fill in may go on behind the line.
fn template_in_a_comment(text: &str) -> Option<(usize, String)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let comment = line.split_once('#').map_or("", |(_, comment)| comment);
        let is_open = comment.contains("<%") && !comment.trim_start().starts_with("<%#");
        if is_open || comment.contains("{{") {
            return Some((at, "a template stands in a comment, and may bring lines of its own".into()));
        }
        at += line.len();
    }
    None
}

/// Readers of `.env` files do not agree on `KEY: value`, on texts of several lines, nor on quotes with a backslash in front.
fn other_line_of_an_environment(text: &str) -> Option<(usize, String)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        let words = words.strip_prefix("export ").unwrap_or(words).trim_start();
        let is_comment = words.is_empty() || words.starts_with(['#', ';']);
        if !is_comment && let Some(why) = odd_pair(words) {
            return Some((at, why.into()));
        }
        at += line.len();
    }
    None
}

fn odd_pair(line: &str) -> Option<&'static str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let name_end = line.find(|c| !is_of_name(c)).unwrap_or(line.len());
    let rest = line.get(name_end..).unwrap_or_default().trim_start();
    if name_end > 0 && rest.starts_with(':') {
        return Some("a colon stands behind a name, which some readers take for =");
    }
    let value = rest.strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    let inner = value.get(1..).unwrap_or_default();
    let mut is_escaped = false;
    for (at, letter) in inner.char_indices() {
        if letter == quote && is_escaped && quote != '"' {
            return Some("a quote with a backslash in front ends a text to some readers alone");
        }
        if letter == quote && !is_escaped {
            let after = inner.get(at + 1..).unwrap_or_default().trim_start();
            return (!after.is_empty() && !after.starts_with('#'))
                .then_some("something stands behind a text in quotes");
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    Some("a text that begins here goes on in the next line to some readers alone")
}

/// `<!--` begins a comment in a script, and `-->` at the start of a line is one.
fn comment_of_html(text: &str) -> Option<(usize, String)> {
    let end = || {
        let mut at = 0;
        text.split_inclusive('\n').find_map(|line| {
            let here = at;
            at += line.len();
            line.trim_start().starts_with("-->").then_some(here)
        })
    };
    text.find("<!--").or_else(end).map(|at| (at, "a comment of HTML is one to some readers alone".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_that_readers_do_not_agree_on_is_a_doubt() {
        let check = |form: &str, text: &str, line: Option<usize>| {
            let found = doubt(form, text).map(|(at, _)| text[..at].matches('\n').count() + 1);
            assert_eq!(found, line, "{form}: {text:?}");
        };
        check("python", "a = 1\n# x\ry = 2\n", Some(2));
        check("javascript", "a;\n// x\u{2028}b;\n", Some(2));
        check("yaml", "a: b\n# x\u{85}c: d\n", Some(2));
        check("properties", "a=b\r\nc=d\r\n", None);
        check("python", "#!/usr/bin/python\n# -*- coding: utf-7 -*-\n", Some(2));
        check("python", "# -*- coding: utf-8 -*-\nx = 1\n# coding: utf-7\n", None);
        check("yaml", "a: b\n  # <%= x %>\n", Some(2));
        check("yaml", "a: <%= x %>\n# y\n", None);
        check("env", "A=b\nA: c\n", Some(2));
        check("env", "A=b\nN=\"x\nA=c\n\"\n", Some(2));
        check("env", "N='it\\'s'\n", Some(1));
        check("env", "# a: b\nexport A=\"x\\\"y\" # z\nB='$lit'\nC=d:e#f\nnot a pair\n", None);
        check("javascript", "a\n<!-- b\n", Some(2));
    }
}
