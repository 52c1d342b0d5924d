//! Patterns of SQL, as accounts' hosts and schemas of grants have them.

use std::collections::BTreeSet;

#[derive(Debug, PartialEq, Eq)]
enum Part {
    AnyText,
    AnyOne,
    One(char),
}

/// As LIKE: `%` is any text, `_` one character, behind a backslash neither. In time linear in both, whatever the pattern is.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = Vec::new();
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        parts.push(match char {
            '\\' => Part::One(chars.next().unwrap_or('\\')),
            '%' => Part::AnyText,
            '_' => Part::AnyOne,
            other => Part::One(other),
        });
    }
    // Where in the pattern one may stand: any text may be none.
    let stand = |mut at: usize, places: &mut BTreeSet<usize>| {
        while places.insert(at) && parts.get(at) == Some(&Part::AnyText) {
            at += 1;
        }
    };
    let mut places = BTreeSet::new();
    stand(0, &mut places);
    for char in text.chars() {
        let mut next = BTreeSet::new();
        for at in places {
            match parts.get(at) {
                Some(Part::AnyText) => stand(at, &mut next),
                Some(Part::AnyOne) => stand(at + 1, &mut next),
                Some(Part::One(one)) if *one == char => stand(at + 1, &mut next),
                Some(Part::One(_)) | None => {}
            }
        }
        places = next;
    }
    places.contains(&parts.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_read_as_the_server_does() {
        for (pattern, text, is_fit) in [
            ("%", "", true),
            ("", "", true),
            ("", "a", false),
            ("10.0.0.%", "10.0.0.7", true),
            ("10.0.0.%", "10.0.1.7", false),
            ("%host", "localhost", true),
            ("%%%l%%st%", "localhost", true),
            ("loca_host", "localhost", true),
            ("loca\\_host", "localhost", false),
            ("loca\\_host", "loca_host", true),
            ("a\\", "a\\", true),
        ] {
            assert_eq!(fits(pattern, text), is_fit, "{pattern} {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn an_escaped_text_fits_itself_and_nothing_longer(text in "[a-c_%\\\\]{0,8}", at in 0_usize..8) {
            let escaped = |count: usize| text.chars().take(count).flat_map(|char| ['\\', char]).collect::<String>();
            proptest::prop_assert!(fits(&escaped(9), &text));
            proptest::prop_assert!(fits(&(escaped(at) + "%"), &text));
            proptest::prop_assert!(!fits(&escaped(9), &(text.clone() + "x")));
        }
    }
}
