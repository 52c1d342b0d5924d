//! Whether option files still are as finished changes wrote them: what all of them together want of each file, and what it has.
//!
//! Only options that a change of ours has set or removed are compared. Every other line is somebody else's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use formats::optfile::shown_line;
use model::{NodeName, Plan};

use crate::edit::{Edit, FileEdit, Form, Was, states};

/// What is wanted of one file of one member, the last wish of each option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedFile {
    pub node: NodeName,
    pub file: PathBuf,
    form: Form,
    edits: Vec<Edit>,
    /// The last change that wrote it.
    pub change: String,
}

fn key_of(form: Form, group: &str, key: &str) -> (String, String) {
    // Variables of a shell script differ where options are the same; groups and options know no hyphens and no case.
    match form {
        Form::Options => (group.to_lowercase(), key.to_lowercase().replace('-', "_")),
        Form::ShellVars => (String::new(), key.to_owned()),
    }
}

impl WantedFile {
    fn add(&mut self, edit: Edit) {
        let form = self.form;
        let new = match &edit {
            Edit::Set { group, key, .. } | Edit::Remove { group, key } => (group.clone(), Some(key.clone())),
            Edit::RemoveGroup { group } => (group.clone(), None),
        };
        let is_over = |old: &Edit| match (old, &new) {
            (Edit::Set { group, key, .. } | Edit::Remove { group, key }, (over, Some(one))) => {
                key_of(form, group, key) == key_of(form, over, one)
            }
            (Edit::Set { group, .. } | Edit::Remove { group, .. }, (over, None)) => {
                group.eq_ignore_ascii_case(over)
            }
            // A group that is there again is there with what was set in it.
            (Edit::RemoveGroup { group }, (over, _)) => group.eq_ignore_ascii_case(over),
        };
        self.edits.retain(|old| !is_over(old));
        self.edits.push(edit);
    }

    /// What differs, a line each; none: everything is as it was written. Values of password options are not shown.
    ///
    /// # Errors
    /// The file cannot be read as what it is: then nobody knows.
    pub fn differences(&self, bytes: Option<&[u8]>) -> Result<Vec<String>, String> {
        let name = self.file.display().to_string();
        let Some(bytes) = bytes else {
            let wants = self.edits.iter().any(|edit| matches!(edit, Edit::Set { .. }));
            return Ok(if wants { vec![format!("{name} is gone")] } else { vec![] });
        };
        let states = states(self.form, bytes, &name, &self.edits)?;
        let lines = self.edits.iter().zip(states).filter_map(|(edit, is)| differs(self.form, edit, &is));
        Ok(lines.map(|line| format!("{name}: {line}")).collect())
    }
}

fn differs(form: Form, edit: &Edit, is: &Was) -> Option<String> {
    let named = |group: &str, key: &str| match form {
        Form::Options => format!("[{group}] {key}"),
        Form::ShellVars => key.to_owned(),
    };
    let shown = |key: &str, value: &str| {
        let line = shown_line(&format!("{key}={value}"));
        line.split_once('=').map_or_else(String::new, |(_, value)| value.trim().to_owned())
    };
    let now = |key: &str| match is {
        Was::NoGroup | Was::Absent => "is not set".to_owned(),
        Was::Bare => "is set without a value".to_owned(),
        Was::Value(value) => format!("is {}", shown(key, value)),
    };
    match edit {
        Edit::Set { group, key, value } => (*is != Was::Value(value.clone())).then(|| {
            format!("{} {}, and sealion had set {}", named(group, key), now(key), shown(key, value))
        }),
        Edit::Remove { group, key } => (!matches!(is, Was::NoGroup | Was::Absent))
            .then(|| format!("{} {}, and sealion had removed it", named(group, key), now(key))),
        Edit::RemoveGroup { group } => {
            (*is != Was::NoGroup).then(|| format!("[{group}] is there, and sealion had removed it"))
        }
    }
}

/// What these changes, all finished and none taken back, want: the oldest first.
///
/// # Errors
/// A step that this version does not understand, and what it is a step of: then nobody knows.
pub fn wanted<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Result<Vec<WantedFile>, String> {
    let mut files: BTreeMap<(NodeName, PathBuf), WantedFile> = BTreeMap::new();
    for plan in plans {
        for step in &plan.steps {
            let Some(edit) = step.params.get("edit") else { continue };
            let failed = |why: String| format!("step {} of {} is not understood: {why}", step.id.0, plan.id);
            let edit: FileEdit =
                serde_json::from_value(edit.clone()).map_err(|error| failed(error.to_string()))?;
            let [node] = step.nodes.as_slice() else {
                return Err(failed(format!("it writes one file and names {} nodes", step.nodes.len())));
            };
            let FileEdit { file, form, edits, .. } = edit;
            let one = files.entry((node.clone(), file.clone())).or_insert_with(|| WantedFile {
                node: node.clone(),
                file,
                form,
                edits: vec![],
                change: String::new(),
            });
            one.change.clone_from(&plan.id);
            one.form = form;
            for edit in edits {
                one.add(edit);
            }
        }
    }
    Ok(files.into_values().filter(|one| !one.edits.is_empty()).collect())
}

/// No option file is larger.
pub const FILE_BYTES_MAX: u64 = formats::optfile::OPTION_FILE_BYTES_MAX as u64;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use super::*;

    fn set(group: &str, key: &str, value: &str) -> Edit {
        Edit::Set { group: group.into(), key: key.into(), value: value.into() }
    }

    fn plan(id: &str, steps: &[(&str, &[Edit])]) -> Plan {
        let steps: Vec<_> = steps
            .iter()
            .zip(1..)
            .map(|((node, edits), at)| {
                let (edit, _) = FileEdit::plan(Path::new("/etc/my.cnf"), b"", edits.to_vec()).unwrap();
                serde_json::json!({
                    "id": format!("E{at}.{node}"), "kind": "edit", "title": "", "nodes": [node], "restarts_server": false, "no_op": false,
                    "shell": [], "sql": [], "diff": [], "params": { "edit": edit }
                })
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "id": id, "change": {"verb": "enable", "nouns": ["galera"]}, "cluster": "c", "made_unix_ms": 1, "sealion_version": "0.1.0",
            "state_hash": "0", "impact": [], "rights": [], "steps": steps
        }))
        .unwrap()
    }

    fn differences(plans: &[Plan], file: Option<&str>) -> Vec<String> {
        let wanted = wanted(plans).unwrap();
        let [one] = wanted.as_slice() else { panic!("{wanted:?}") };
        one.differences(file.map(str::as_bytes)).unwrap()
    }

    #[test]
    fn what_counts_is_the_last_wish_of_each_option_and_no_other_line() {
        let plans = [
            plan(
                "1",
                &[
                    (
                        "n1",
                        &[
                            set("mysqld", "wsrep_provider_options", "socket.dynamic=YES"),
                            set("sst", "tkey", "k"),
                        ],
                    ),
                    ("n1", &[set("mysqld", "wsrep-provider-options", "socket.ssl=YES")]),
                ],
            ),
            plan("2", &[("n1", &[Edit::Remove { group: "sst".into(), key: "tkey".into() }])]),
        ];
        let good = "[mysqld]\nport=1\nwsrep_provider_options=socket.ssl=YES\n[sst]\n";
        assert_eq!(differences(&plans, Some(good)), [""; 0]);
        assert_eq!(differences(&plans, Some(&good.replace("port=1", "port=2\nx=y"))), [""; 0]);
        let changed = good.replace("socket.ssl=YES", "socket.ssl=NO");
        let lines = differences(&plans, Some(&changed));
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].starts_with("/etc/my.cnf: [mysqld] wsrep-provider-options is socket.ssl=NO"),
            "{lines:?}"
        );
        let lines = differences(&plans, Some("[mysqld]\n[sst]\ntkey=k\n"));
        assert!(lines[0].contains("is not set, and sealion had set socket.ssl=YES"), "{lines:?}");
        assert!(lines[1].contains("[sst] tkey is k, and sealion had removed it"), "{lines:?}");
        assert_eq!(differences(&plans, None), ["/etc/my.cnf is gone"]);
        assert_eq!(wanted(&plans).unwrap()[0].change, "2");
    }

    #[test]
    fn no_password_is_shown_and_a_file_that_is_none_is_not_known() {
        let plans = [plan("1", &[("n1", &[set("mysqld", "wsrep_sst_auth", "u:hunter2")])])];
        let lines = differences(&plans, Some("[mysqld]\nwsrep_sst_auth=u:hunter3\n"));
        assert!(lines.len() == 1 && !lines[0].contains("hunter"), "{lines:?}");
        let wanted = wanted(&plans).unwrap();
        assert!(wanted[0].differences(Some(b"port=1\n[mysqld]\n")).is_err());
    }

    #[test]
    fn a_step_that_is_not_understood_makes_nobody_know() {
        let mut one = plan("1", &[("n1", &[set("mysqld", "a", "b")])]);
        one.steps[0].params = serde_json::json!({ "edit": { "file": 7 } });
        let why = wanted([&one]).unwrap_err();
        assert!(why.contains("E1.n1 of 1 is not understood"), "{why}");
    }
}
