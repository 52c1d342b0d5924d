//! Code that reads a file of settings and connects with what it makes of it: `p.getProperty("jdbc.url").split("?")[0]`,
//! `YAML.load_file('config/database.yml').slice(…)`. Which parts reach the driver is not read, so the file alone decides nothing.

use super::{Member, Set};
use crate::config::{ConnectionSettings, Setting};

/// Obstacles of the files that take their settings from this one.
pub(super) fn look(set: &Set, index: usize, found: &mut ConnectionSettings) {
    let Some(own) = set.members.get(index) else { return };
    // What takes an environment, and what loads a module, is looked at elsewhere.
    if !matches!(own.form.id, "properties" | "yaml" | "json" | "text") {
        return;
    }
    let others = set.members().filter(|(other, _)| *other != index).map(|(_, member)| member);
    let obstacle = others
        .filter(|other| !is_module_of(own, other))
        .find_map(|other| reads(own, other, &found.what).or_else(|| spring(other, &found.what)));
    found.settings.extend(obstacle);
}

/// JavaScript loads a JSON file as a module.
fn is_module_of(own: &Member, other: &Member) -> bool {
    own.form.id == "json" && other.form.id == "javascript"
}

/// By the name of the file, or of the setting.
fn reads(own: &Member, other: &Member, what: &str) -> Option<Setting> {
    let source = other.source()?;
    let file = own.file_name();
    let placeholder = format!("${{{what}");
    let is_key = what.contains('.');
    let names_it = |text: &str| {
        let is_file = text.rsplit(['/', '\\']).next() == Some(file);
        is_file || (is_key && (text == what || text.contains(&placeholder)))
    };
    let text = source.texts.iter().find(|text| text.text().is_some_and(names_it))?;
    Some(
        other.obstacle(text.line, "it takes settings from this file, and what it connects with was not read"),
    )
}

/// Properties that a class of Spring or a pool gives the driver come over those of the URL.
///
/// # Source
/// Connector/J manual, Configuration Properties: properties that are set win over those of the URL.
fn spring(other: &Member, what: &str) -> Option<Setting> {
    const SETTING: [&str; 5] = [
        "addDataSourceProperty",
        "setDataSourceProperties",
        "addConnectionProperty",
        "setConnectionProperties",
        "setConnectionProperty",
    ];
    if !what.starts_with("spring.") {
        return None;
    }
    let is_setting = |word: &str| SETTING.iter().any(|name| word.rsplit('.').next() == Some(name));
    let line = other.source().filter(|_| other.form.id == "source")?.first_word(&is_setting)?;
    Some(other.obstacle(line, "it gives the driver properties of its own there, which come over the URL"))
}
