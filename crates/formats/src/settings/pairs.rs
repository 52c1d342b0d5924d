//! Lines of `KEY=value`: `.env` files, Java's `.properties`, the environment of systemd units.

use zeroize::Zeroizing;

use super::{HOLE, SettingsError, text, with_holes};

/// One pair and its line.
#[derive(Clone)]
pub struct Pair {
    pub key: String,
    /// May be a secret; has holes where a template stands.
    pub value: Zeroizing<String>,
    /// The first is 1.
    pub line: usize,
}

/// `.env` and `EnvironmentFile=`: `[export ]KEY=value`, quotes of either kind, `#` comments.
///
/// # Errors
/// A file that is too large; other lines are passed over.
pub fn env(bytes: &[u8]) -> Result<Vec<Pair>, SettingsError> {
    let text = text(bytes)?;
    Ok(text.lines().enumerate().filter_map(|(index, line)| env_line(line, index + 1)).collect())
}

fn env_line(line: &str, number: usize) -> Option<Pair> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    if line.starts_with(['#', ';']) {
        return None;
    }
    let (key, value) = line.split_once('=')?;
    let key = key.trim_end();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if key.is_empty() || !key.chars().all(is_name) {
        return None;
    }
    Some(Pair { key: key.to_owned(), value: Zeroizing::new(env_value(value)), line: number })
}

fn env_value(value: &str) -> String {
    let value = value.trim();
    if let Some(inner) = value.strip_prefix('\'') {
        return inner.split_once('\'').map_or(inner, |(inside, _)| inside).to_owned();
    }
    if let Some(inner) = value.strip_prefix('"') {
        let mut out = String::new();
        let mut letters = inner.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => break,
                '\\' => out.extend(letters.next()),
                other => out.push(other),
            }
        }
        return with_holes(&out, true);
    }
    // A comment begins behind white space only: a password may have a # in it.
    let end = value
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|at| value.get(..*at).is_some_and(|before| before.ends_with([' ', '\t'])));
    with_holes(value.get(..end.unwrap_or(value.len())).unwrap_or_default().trim_end(), true)
}

/// Java's `.properties`: `key=value`, `key: value` or `key value`, lines that end with a backslash go on.
///
/// # Errors
/// A file that is too large.
pub fn properties(bytes: &[u8]) -> Result<Vec<Pair>, SettingsError> {
    Ok(documents(bytes)?.into_iter().flatten().collect())
}

/// The same, and where a line `#---` or `!---` divides it into documents, as Spring reads them.
///
/// # Errors
/// A file that is too large.
pub fn documents(bytes: &[u8]) -> Result<Vec<Vec<Pair>>, SettingsError> {
    let text = text(bytes)?;
    let mut documents = Vec::new();
    let mut pairs = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        let start = first.trim_start();
        if matches!(start.trim_end(), "#---" | "!---") {
            documents.push(std::mem::take(&mut pairs));
            continue;
        }
        if start.is_empty() || start.starts_with(['#', '!']) {
            continue;
        }
        let mut whole = Zeroizing::new(start.to_owned());
        while ends_open(&whole) {
            whole.pop();
            let Some((_, next)) = lines.next() else { break };
            whole.push_str(next.trim_start());
        }
        let key_end = whole.find(['=', ':', ' ', '\t']).unwrap_or(whole.len());
        let (key, rest) = whole.split_at(key_end);
        let rest = rest.trim_start();
        let value = rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start();
        pairs.push(Pair {
            key: key.to_owned(),
            value: Zeroizing::new(with_holes(&value.replace("\\:", ":").replace("\\=", "="), false)),
            line: index + 1,
        });
    }
    documents.push(pairs);
    Ok(documents)
}

/// An odd number of backslashes at the end.
fn ends_open(line: &str) -> bool {
    line.chars().rev().take_while(|letter| *letter == '\\').count() % 2 == 1
}

/// What a systemd unit gives its service.
#[derive(Default)]
pub struct Unit {
    /// Of `Environment=`.
    pub environment: Vec<Pair>,
    /// Paths of `EnvironmentFile=`, without the minus of those that may be missing, and their lines.
    pub files: Vec<(String, usize)>,
    /// Where `UnsetEnvironment=` takes variables away.
    pub unset: Option<usize>,
}

/// A unit or a drop-in of one.
///
/// # Errors
/// A file that is too large.
pub fn unit(bytes: &[u8]) -> Result<Unit, SettingsError> {
    let text = text(bytes)?;
    let mut unit = Unit::default();
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        let mut whole = Zeroizing::new(first.trim().to_owned());
        if whole.starts_with(['#', ';']) {
            continue;
        }
        while whole.ends_with('\\') {
            whole.pop();
            let Some((_, next)) = lines.next() else { break };
            whole.push(' ');
            whole.push_str(next.trim());
        }
        let Some((key, value)) = whole.split_once('=') else { continue };
        match key.trim() {
            // Nothing takes back all that was said before.
            "Environment" if value.trim().is_empty() => unit.environment.clear(),
            "EnvironmentFile" if value.trim().is_empty() => unit.files.clear(),
            "UnsetEnvironment" | "PassEnvironment" => unit.unset = Some(index + 1),
            "Environment" => {
                for word in words(value) {
                    let Some((key, value)) = word.split_once('=') else { continue };
                    unit.environment.push(Pair {
                        key: key.to_owned(),
                        value: Zeroizing::new(value.to_owned()),
                        line: index + 1,
                    });
                }
            }
            "EnvironmentFile" => {
                let path = value.trim();
                unit.files.push((path.strip_prefix('-').unwrap_or(path).to_owned(), index + 1));
            }
            _ => {}
        }
    }
    Ok(unit)
}

/// Words with quotes of either kind around all or a part of them, as systemd reads them; `%%` is a percent sign.
fn words(text: &str) -> Vec<Zeroizing<String>> {
    let (mut all, mut word, mut quote, mut has_begun) =
        (Vec::new(), Zeroizing::new(String::new()), None, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', _) => word.extend(letters.next()),
            ('%', _) if letters.peek() == Some(&'%') => word.extend(letters.next()),
            // A specifier, which systemd fills in.
            ('%', _) if letters.peek().is_some_and(char::is_ascii_alphabetic) => {
                letters.next();
                word.push(HOLE);
            }
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => (quote, has_begun) = (Some(letter), true),
            (' ' | '\t', None) => {
                if has_begun || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                    has_begun = false;
                }
            }
            _ => word.push(letter),
        }
    }
    if has_begun || !word.is_empty() {
        all.push(word);
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(pairs: &[Pair]) -> Vec<String> {
        pairs.iter().map(|pair| format!("{} {}={}", pair.line, pair.key, pair.value.as_str())).collect()
    }

    #[test]
    fn an_env_file_is_read_as_its_readers_do() {
        let text = b"# c\nexport A=\"x y\" # z\nB='$lit'\n\nC=${D}/p#q r # s\nnot a pair\nE=\"a\\\"b\"\n";
        let pairs = env(text).expect("short");
        assert_eq!(shown(&pairs), ["2 A=x y", "3 B=$lit", "5 C=\u{fffc}/p#q r", "7 E=a\"b"]);
    }

    #[test]
    fn properties_go_on_over_lines() {
        let text = b"! c\nspring.datasource.url = jdbc:mysql://h/d?\\\n   sslMode=REQUIRED\na:b\\\\\nc d\n";
        let pairs = properties(text).expect("short");
        assert_eq!(
            shown(&pairs),
            ["2 spring.datasource.url=jdbc:mysql://h/d?sslMode=REQUIRED", "4 a=b\\\\", "5 c=d"]
        );
    }

    #[test]
    fn a_unit_has_words_and_files() {
        let text = b"[Service]\nEnvironment=\"A=x y\" B=z%%2F 'C=q'\n#Environment=D=1\nEnvironmentFile=-/etc/default/app\n";
        let unit = unit(text).expect("short");
        assert_eq!(shown(&unit.environment), ["2 A=x y", "2 B=z%2F", "2 C=q"]);
        assert_eq!(unit.files, [("/etc/default/app".to_owned(), 4)]);
    }

    #[test]
    fn a_file_of_nothing_but_signs_ends() {
        for sign in [
            "[",
            "{",
            "${",
            "$(",
            "\\",
            "\\\n",
            "=",
            "a=",
            "a=b\n",
            "'",
            "\"",
            "a=\"",
            "%",
            "#",
            "<%",
            "{{",
            "Environment=a=",
            "Environment=\n",
            "\n",
        ] {
            let text = sign.repeat(128 * 1024 / sign.len());
            let text = format!("Environment={text}");
            let _ = (env(text.as_bytes()), documents(text.as_bytes()), unit(text.as_bytes()));
            let _ = (crate::settings::url::url(&text), crate::settings::url::go_dsn(&text));
            let dsn = format!("mysql:{}", text.replace('=', ";"));
            let _ = crate::settings::url::dsn(&dsn);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = (env(&bytes), properties(&bytes), unit(&bytes));
        }

        #[test]
        fn no_lines_panic(text in "[A-B=:\\\\\"'#$({}%! \n]{0,80}") {
            let _ = (env(text.as_bytes()), properties(text.as_bytes()), unit(text.as_bytes()));
        }
    }
}
