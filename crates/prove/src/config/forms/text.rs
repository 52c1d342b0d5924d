//! Any other file: whatever on its lines is a connection URL.

use formats::settings::{self, with_holes};

use super::{Form, Variables};
use crate::config::{ConnectionSettings, Read, SettingsError, beside, urls};

pub(super) const TEXT: Form = Form {
    id: "text",
    name: "a file of a form that is not known, of which only URLs are read",
    fits: |_| true,
    read,
};

/// What stands around a URL in settings of any form.
const AROUND: [char; 10] = ['"', '\'', '`', '<', '>', ',', ' ', '\t', '(', ')'];

fn read(bytes: &[u8], _: &Variables) -> Result<Read, SettingsError> {
    let text = settings::text(bytes)?;
    let plain = beside::without_xml_remarks(&text).map(zeroize::Zeroizing::new);
    let mut found: Vec<ConnectionSettings> = Vec::new();
    for (index, line) in plain.as_ref().unwrap_or(&text).lines().enumerate() {
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
            if found.len() > crate::config::CONNECTIONS_MAX {
                break;
            }
        }
    }
    // In a form that is not known, a word about TLS may belong to any connection.
    if !found.is_empty() {
        let doubts: Vec<_> = [beside::doubt(&text, &beside::OTHER_FILES), beside::filled_in(&text)]
            .into_iter()
            .flatten()
            .collect();
        for one in &mut found {
            one.settings.extend(doubts.iter().cloned());
        }
    }
    Ok(Read { found, ..Read::default() })
}
