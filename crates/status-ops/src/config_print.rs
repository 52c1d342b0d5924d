//! `sealion config print`: effective options with the file and line that set each, and what it overrode.

use std::path::PathBuf;

use formats::optfile::{is_secret_key, shown_key};
use serde::Serialize;
use server::options::{self, LocalFiles, Start};

use site::OpsError;

/// One effective option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OptionRow {
    pub key: String,
    /// `None` for an option without a value; passwords are shown as asterisks.
    pub value: Option<String>,
    pub group: String,
    pub file: PathBuf,
    pub line: usize,
    /// Earlier settings that this one beat, oldest first.
    pub overrode: Vec<Overridden>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overridden {
    pub value: Option<String>,
    pub file: PathBuf,
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Printed {
    pub schema: &'static str,
    pub groups: Vec<String>,
    pub options: Vec<OptionRow>,
    pub notes: Vec<String>,
}

/// Reads as a server or client that reads `groups` would.
pub fn print(
    defaults_file: Option<PathBuf>,
    extra: Option<PathBuf>,
    suffix: Option<&str>,
    groups: &[String],
) -> Result<Printed, OpsError> {
    let start = defaults_file.map_or_else(
        || Start::Default {
            extra,
            paths: ["/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf"].map(PathBuf::from).to_vec(),
        },
        Start::DefaultsFile,
    );
    let mut groups =
        if groups.is_empty() { options::default_groups(true, "10.11", true) } else { groups.to_vec() };
    if let Some(suffix) = suffix {
        groups = options::with_group_suffix(&groups, suffix);
    }
    let effective = options::resolve(&start, &groups, &LocalFiles).map_err(|error| {
        let text = error.to_string();
        let mut parts = text.splitn(3, "\n  ");
        OpsError::usage(
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default().trim_start_matches("why:").trim(),
            parts.next().unwrap_or("check the file").trim_start_matches("next:").trim(),
        )
    })?;
    let shown = |key: &str, value: &Option<String>| {
        value.as_ref().map(|value| if is_secret_key(key) { "********".to_owned() } else { value.clone() })
    };
    let mut keys: Vec<&str> = effective.settings.iter().map(|setting| setting.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let rows = keys
        .into_iter()
        .filter_map(|key| {
            let history = effective.history(key);
            let (last, earlier) = history.split_last()?;
            Some(OptionRow {
                key: shown_key(key).into_owned(),
                value: shown(key, &last.value),
                group: last.group.clone(),
                file: last.file.clone(),
                line: last.line,
                overrode: earlier
                    .iter()
                    .map(|one| Overridden {
                        value: shown(key, &one.value),
                        file: one.file.clone(),
                        line: one.line,
                    })
                    .collect(),
            })
        })
        .collect();
    Ok(Printed { schema: "sealion/config/1", groups, options: rows, notes: effective.notes })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_beginning_of_a_name_is_the_same_option_and_is_told() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("my.cnf");
        std::fs::write(
            &file,
            "[mysqld]\nmax_connections=100\nmax-connection=77\nwsrep-sst-aut=root:HUNTER2\n",
        )
        .expect("written");
        let printed = super::print(Some(file), None, None, &[]).expect("it is read");
        let of: Vec<_> = printed.options.iter().filter(|row| row.key.starts_with("max")).collect();
        let [row] = of.as_slice() else { panic!("{of:?}") };
        assert_eq!((row.key.as_str(), row.value.as_deref(), row.line), ("max_connections", Some("77"), 3));
        assert_eq!(row.overrode.len(), 1);
        assert!(
            printed.notes.iter().any(|note| note.contains("max-connection is a prefix of max_connections"))
        );
        assert!(!format!("{printed:?}").contains("HUNTER"), "{printed:?}");
    }

    #[test]
    fn what_stands_where_a_sign_was_forgotten_is_not_shown() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("my.cnf");
        std::fs::write(&file, "[mysqld]\npassword HUNTER2\nport\tHUNTER3\nssl_ca=/ca.pem\n")
            .expect("written");
        let printed = super::print(Some(file), None, None, &[]).expect("it is read");
        let text = format!("{printed:?}");
        assert!(text.contains("password (not shown") && text.contains("/ca.pem"), "{text}");
        assert!(!text.contains("HUNTER"), "{text}");
    }
}
