//! Java's `.properties`: Spring, Quarkus, and any other whose value is a JDBC URL.

use formats::settings::pairs;

use super::{Form, ends};
use crate::config::{Found, Given, Read, Setting, SettingsError, urls};

pub(super) const PROPERTIES: Form =
    Form { id: "properties", name: "a properties file", fits: |name| ends(name, &[".properties"]), read };

/// What a pool hands on to the driver, whatever the pool is called.
pub(super) const HANDED_ON: [&str; 4] =
    ["data-source-properties", "dataSourceProperties", "additional-jdbc-properties", "connection-properties"];

fn read(bytes: &[u8]) -> Result<Read, SettingsError> {
    let pairs = pairs::properties(bytes)?;
    let mut found: Vec<Found> =
        pairs.iter().filter_map(|pair| urls::found(&pair.value, pair.line, &pair.key)).collect();
    for pair in &pairs {
        let inner = HANDED_ON.iter().find_map(|name| {
            let (front, key) = pair.key.split_once(&format!(".{name}."))?;
            Some((front, key))
        });
        let Some((front, key)) = inner else { continue };
        // `spring.datasource.hikari.…` belongs to `spring.datasource.url`.
        for one in found.iter_mut().filter(|one| belongs(front, &one.what)) {
            one.settings.push(Setting::new(key, Given::Text(pair.value.to_string()), pair.line));
        }
    }
    Ok(Read { found, ..Read::default() })
}

fn belongs(front: &str, url_key: &str) -> bool {
    let parent = url_key.rsplit_once('.').map_or("", |(parent, _)| parent);
    front == parent || front.starts_with(&format!("{parent}.")) || parent.starts_with(&format!("{front}."))
}
