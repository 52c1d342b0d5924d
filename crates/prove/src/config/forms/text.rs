//! Any other file: whatever on its lines is a connection URL.

use formats::settings::{self, with_holes};

use super::Form;
use crate::config::{Found, Read, SettingsError, urls};

pub(super) const TEXT: Form = Form {
    id: "text",
    name: "a file of a form that is not known, of which only URLs are read",
    fits: |_| true,
    read,
};

/// What stands around a URL in settings of any form.
const AROUND: [char; 10] = ['"', '\'', '`', '<', '>', ',', ' ', '\t', '(', ')'];

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let text = settings::text(bytes)?;
    let mut found: Vec<Found> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = with_holes(line, false);
        for word in line.split(AROUND) {
            // `NAME=url`, and a URL that has a = of its own only behind its question mark.
            let word = match word.split_once('=') {
                Some((name, value)) if !name.contains("://") => value,
                _ => word,
            };
            // A DSN of Go has brackets, and is not looked for where nothing tells its beginning.
            if word.contains("://") {
                found.extend(urls::found(word, index + 1, "a URL"));
            }
        }
    }
    Ok(Read { found, ..Read::default() })
}
