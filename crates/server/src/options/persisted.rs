//! `mysqld-auto.cnf`: what SET PERSIST has written. MySQL reads it after every option file and after its command line, so it wins.

use std::path::Path;

use serde_json::Value;

use super::Setting;

/// In the data directory.
pub const FILE: &str = "mysqld-auto.cnf";
pub const BYTES_MAX: u64 = 1024 * 1024;
/// Stands where the group of an option file stands.
pub const GROUP: &str = "SET PERSIST";
const DEPTH_MAX: usize = 8;

/// Its settings, in the order of their names.
///
/// # Errors
/// It is not JSON. A server that cannot read it ends at its start.
///
/// # Source
/// MySQL manual, Persisted System Variables; seen on 9.7.4: `{"Version": 2, "mysql_dynamic_variables": {"NAME": {"Value": "ON",
/// "Metadata": {…}}}, "mysql_static_variables": {…}}`.
pub fn settings(bytes: &[u8], file: &Path) -> Result<Vec<Setting>, String> {
    let all: Value = serde_json::from_slice(bytes)
        .map_err(|error| format!("{} is not what SET PERSIST writes: {error}", file.display()))?;
    let mut found = Vec::new();
    collect(&all, file, 0, &mut found);
    Ok(found)
}

fn collect(value: &Value, file: &Path, depth: usize, found: &mut Vec<Setting>) {
    let Value::Object(members) = value else { return };
    if depth > DEPTH_MAX {
        return;
    }
    for (name, member) in members {
        match member.get("Value") {
            Some(Value::String(text)) => found.push(Setting {
                group: GROUP.into(),
                key: name.to_ascii_lowercase(),
                key_as_written: name.clone(),
                value: Some(text.clone()),
                value_as_written: Some(text.clone()),
                file: file.to_owned(),
                line: 1,
            }),
            _ => collect(member, file, depth + 1, found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_persisted_is_found_in_each_of_its_parts() {
        let text = br#"{"Version": 2, "mysql_dynamic_parse_early_variables": {"max_connections": {"Value": "7", "Metadata": {"User": "root"}}},
            "mysql_static_variables": {"require_secure_transport": {"Value": "OFF", "Metadata": {"Host": "localhost"}}}}"#;
        let found = settings(text, Path::new("/d/mysqld-auto.cnf")).expect("JSON");
        let pairs: Vec<_> = found.iter().map(|one| (one.key.as_str(), one.value.as_deref())).collect();
        assert_eq!(pairs, [("max_connections", Some("7")), ("require_secure_transport", Some("OFF"))]);
        assert!(settings(b"{", Path::new("/d")).is_err_and(|why| why.contains("/d is not")));
        assert!(settings(b"[1]", Path::new("/d")).is_ok_and(|none| none.is_empty()));
        let deep = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
        assert!(settings(deep.as_bytes(), Path::new("/d")).is_ok_and(|none| none.is_empty()));
    }
}
