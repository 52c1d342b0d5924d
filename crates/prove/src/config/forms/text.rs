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

/// Go's DSNs, told by `@network(`. They begin behind a sign that stands around values; if that is one of the
/// password's, a part of the password goes, which nobody reads.
fn dsns_of_go(line: &str) -> Vec<&str> {
    const OUTSIDE: [char; 8] = ['"', '\'', '`', '<', '>', ' ', '\t', '='];
    const END: [char; 9] = ['"', '\'', '`', '<', '>', ' ', '\t', ',', ')'];
    let mut all = Vec::new();
    for network in ["@tcp(", "@tcp4(", "@tcp6(", "@unix(", "@cloudsql("] {
        for (at, _) in line.match_indices(network) {
            let front = line.get(..at).unwrap_or_default();
            let begin = front.rfind(OUTSIDE).map_or(0, |sign| sign + 1);
            let rest = line.get(at..).unwrap_or_default();
            let Some(closing) = rest.find(')') else { continue };
            let behind = rest.get(closing + 1..).unwrap_or_default();
            let end = at + closing + 1 + behind.find(END).unwrap_or(behind.len());
            all.extend(line.get(begin..end));
        }
    }
    all
}

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
            if word.contains("://") {
                found.extend(urls::found(word, index + 1, "a URL"));
            }
            if found.len() > crate::config::CONNECTIONS_MAX {
                break;
            }
        }
        found.extend(dsns_of_go(&line).into_iter().filter_map(|dsn| urls::found(dsn, index + 1, "a DSN")));
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
