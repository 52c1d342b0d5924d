//! Words that are said to people everywhere.

/// `1 session`, `2 sessions`.
pub fn counted<N: TryInto<u64>>(count: N, one: &str, many: &str) -> String {
    match count.try_into() {
        Ok(1) => format!("1 {one}"),
        Ok(count) => format!("{count} {many}"),
        Err(_) => format!("no known number of {many}"),
    }
}

/// `48,210`
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three or four significant digits: `1,234`, `56.7`, `4.31`.
pub fn real(number: f64) -> String {
    if !number.is_finite() {
        return "not a number".to_owned();
    }
    let size = number.abs();
    if size >= 100.0 {
        let sign = if number < 0.0 { "-" } else { "" };
        // Rounded and far below 2^53 for anything that is measured here; saturates otherwise.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let whole = size.round() as u64;
        format!("{sign}{}", thousands(whole))
    } else if size >= 10.0 {
        format!("{number:.1}")
    } else {
        format!("{number:.2}")
    }
}

/// `0 B`, `31.0 KiB`, `7.75 GiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut size = count as f64 / 1024.0;
    let mut unit = UNITS[0];
    for next in UNITS.iter().skip(1) {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    format!("{} {unit}", real(size))
}

/// A link or another subject, for people, who need not read twice that a client's link is a client's.
pub fn said(subject: &str) -> &str {
    let Some((kind, ends)) = subject.split_once(' ') else { return subject };
    let is_one = |rest: Option<&str>, dash: fn(&str) -> bool| rest.is_some_and(dash);
    let names_it = is_one(ends.strip_prefix(kind), |rest| rest.starts_with('-'))
        || is_one(ends.strip_suffix(kind), |rest| rest.ends_with('-'));
    if names_it { ends } else { subject }
}

/// Subjects of links all begin with the kind of the link: it is said once.
pub fn subjects(all: &[&str]) -> String {
    let all: Vec<&str> = all.iter().map(|one| said(one)).collect();
    let kind = all.first().and_then(|first| first.split_once(' ')).map(|(kind, _)| kind);
    match kind.filter(|kind| {
        all.iter().all(|one| one.strip_prefix(*kind).is_some_and(|rest| rest.starts_with(' ')))
    }) {
        Some(kind) => {
            let rest = all.iter().filter_map(|one| one.split_once(' ').map(|(_, rest)| rest));
            format!("{kind} {}", rest.collect::<Vec<_>>().join(", "))
        }
        None => all.join(", "),
    }
}

/// The known word that somebody may have meant: one or two letters are other, missing, too many, or changed places.
pub fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Longer than any word that is known, with two letters more.
    const CHARS_MAX: usize = 32;
    let word: Vec<char> = word.chars().take(CHARS_MAX + 1).collect();
    if word.len() > CHARS_MAX {
        return None;
    }
    let near = known.into_iter().map(|one| (edits(&word, &one.chars().collect::<Vec<char>>()), one));
    // Of a word of three letters two are most of it.
    near.filter(|(edits, one)| *edits <= 2 && *edits * 2 < one.chars().count()).min().map(|(_, one)| one)
}

/// How many letters have to be changed, put in, taken out or exchanged with their neighbour.
fn edits(a: &[char], b: &[char]) -> usize {
    let (mut before_last, mut last): (Vec<usize>, Vec<usize>) = (vec![], (0..=b.len()).collect());
    for (at, char) in a.iter().enumerate() {
        let mut row = vec![at + 1];
        for (to, other) in b.iter().enumerate() {
            let cell = |row: &[usize], to: usize| row.get(to).copied().unwrap_or(usize::MAX);
            let mut least = (cell(&last, to) + usize::from(char != other))
                .min(cell(&last, to + 1).saturating_add(1))
                .min(cell(&row, to).saturating_add(1));
            let are_exchanged =
                at > 0 && to > 0 && a.get(at - 1) == Some(other) && b.get(to - 1) == Some(char);
            if are_exchanged {
                least = least.min(cell(&before_last, to - 1).saturating_add(1));
            }
            row.push(least);
        }
        (before_last, last) = (last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_a_client_is_named_once() {
        assert_eq!(
            (counted(1u8, "file", "files"), counted(0usize, "file", "files")),
            ("1 file".into(), "0 files".into())
        );
        assert_eq!((said("client client-n1"), said("client a1-client")), ("client-n1", "a1-client"));
        assert_eq!(
            (said("galera n1-n2"), said("n1"), said("client x-n1")),
            ("galera n1-n2", "n1", "client x-n1")
        );
    }

    #[test]
    fn the_kind_of_links_is_said_once() {
        assert_eq!(subjects(&["galera n1-n2", "galera n1-n3"]), "galera n1-n2, n1-n3");
        assert_eq!(subjects(&["n1", "n2"]), "n1, n2");
        assert_eq!(subjects(&["client client-n1", "client client-n2"]), "client-n1, client-n2");
        assert_eq!(subjects(&["n1", "galera n1-n2"]), "n1, galera n1-n2");
    }

    #[test]
    fn a_word_is_meant_where_little_of_it_is_other() {
        let known = ["galera", "sst", "replication", "clients", "require-tls", "accounts", "ca"];
        for (word, expected) in [
            ("sts", Some("sst")),
            ("sst", Some("sst")),
            ("glaera", Some("galera")),
            ("client", Some("clients")),
            ("require_tls", Some("require-tls")),
            ("acounts", Some("accounts")),
            ("cs", None),
            ("xyz", None),
            ("", None),
        ] {
            assert_eq!(meant(word, known), expected, "{word}");
        }
        assert_eq!(meant(&"a".repeat(100_000), known), None);
    }
}
