//! Text from a peer, made safe for a terminal, a log and a report.

/// Longer texts from a peer are cut here: no server we know says more in one error.
pub const PEER_TEXT_CHARS_MAX: usize = 512;

/// The text with everything escaped that could move a cursor, reorder or forge a line.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, character) in text.chars().enumerate() {
        if index == PEER_TEXT_CHARS_MAX {
            out.push('…');
            break;
        }
        if character == ' '
            || (character.is_ascii_graphic() && character != '\\')
            // Ours: what was cut, or is filled in later.
            || character == '…'
            || (!character.is_ascii() && character.is_alphanumeric())
        {
            out.push(character);
        } else {
            out.extend(character.escape_default());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_terminal_sequences_and_bidi_but_keeps_words() {
        assert_eq!(printable("Zugriff für 'ü'@'h'"), "Zugriff für 'ü'@'h'");
        assert_eq!(printable("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\\nc");
        assert_eq!(printable("x\u{202e}y\\"), "x\\u{202e}y\\\\");
        assert_eq!(printable(&printable(&"x".repeat(600))).matches('…').count(), 1);
        assert_eq!(printable(&"x".repeat(600)).chars().count(), PEER_TEXT_CHARS_MAX + 1);
    }
}
