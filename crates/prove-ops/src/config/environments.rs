//! Environment files that are given, and that another given file names.

use std::path::{Path, PathBuf};

use super::{ConfigReview, Connection, Matrix, doubt};

/// Environment files that others name, of which each is judged once, however many name it.
pub(super) struct Environments {
    /// Files that were given: where they lie, and the name that the user has for them.
    given: Vec<(PathBuf, String)>,
    named: Vec<PathBuf>,
    /// What others set again: file, variable, and where and why.
    pub(super) again: Vec<SetAgain>,
}

/// A variable of an environment file that another place sets again.
pub(super) struct SetAgain {
    pub(super) file: String,
    pub(super) variable: String,
    pub(super) by: String,
    pub(super) line: usize,
    pub(super) why: &'static str,
}

impl Environments {
    pub(super) fn of(files: &[PathBuf]) -> Self {
        let place = |path: &PathBuf| Some((std::fs::canonicalize(path).ok()?, path.display().to_string()));
        Self { given: files.iter().filter_map(place).collect(), named: vec![], again: vec![] }
    }

    /// The name under which the connections of this file stand in the review, and whether somebody else adds them.
    pub(super) fn name(&mut self, path: &Path) -> (String, bool) {
        let shown = path.display().to_string();
        let Ok(place) = std::fs::canonicalize(path) else { return (shown, false) };
        if let Some((_, name)) = self.given.iter().find(|(known, _)| *known == place) {
            return (name.clone(), true);
        }
        let is_known = self.named.contains(&place);
        if !is_known {
            self.named.push(place);
        }
        (shown, is_known)
    }

    pub(super) fn doubt(&self, looked: &mut ConfigReview, matrix: &Matrix) {
        for again in &self.again {
            let is_it = |one: &&mut Connection| one.file == again.file && one.found.what == again.variable;
            for one in looked.connections.iter_mut().filter(is_it) {
                doubt(one, again.line, &again.by, again.why, matrix);
            }
        }
    }
}
