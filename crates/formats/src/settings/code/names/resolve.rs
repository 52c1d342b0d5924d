//! The value of a name: where one place gives it, and no other may change it.

use std::collections::HashSet;

use super::{Source, root, word};
use crate::settings::code::{Language, Why};
use crate::settings::{Node, Value};

/// `a.b.c` is a part of `a.b`, and of itself.
fn is_part(name: &str, whole: &str) -> bool {
    name.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a value can be changed by who has it.
fn is_mutable(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Call { .. } | Value::Unread)
}

impl Source {
    /// The value of a name, or of a part of one (`config.db.ssl`), wherever it is used in this file.
    ///
    /// # Errors
    /// Why it may be another one.
    pub fn resolve(&self, name: &str) -> Result<Node, Why> {
        let names = &self.names;
        let root = root(name, names.language);
        let whole = self.definitions(name);
        let parts = if whole.is_empty() { name.get(root.len()..).unwrap_or_default() } else { "" };
        let definitions = if whole.is_empty() { self.definitions(root) } else { whole };
        let [index] = definitions.as_slice() else {
            let line = definitions
                .get(1)
                .and_then(|index| names.assigned.get(*index))
                .map_or(1, |(at, _)| names.line(*at));
            let first =
                names.by_root.get(root).and_then(|all| all.first()).map_or(line, |at| names.line(*at));
            if definitions.is_empty()
                && let Some((taken, node)) = self.taken.iter().find(|(taken, _)| is_part(name, taken))
            {
                return self.taken_from_another(name, taken, node);
            }
            return Err(if definitions.is_empty() {
                Why::new(first, format!("nothing in this file says what {name} is"))
            } else {
                Why::new(line, format!("{name} is set again in line {line}"))
            });
        };
        let (Some(entry), Some((defined, ends))) = (self.assigned.get(*index), names.assigned.get(*index))
        else {
            return Err(Why::new(1, format!("nothing in this file says what {name} is")));
        };
        let line = entry.line;
        if let Some(at) = names.rebinding {
            return Err(Why::new(
                names.line(at),
                format!("the code of line {} may give {name} another value", names.line(at)),
            ));
        }
        if !names.begins_statement(*defined) {
            return Err(Why::new(line, format!("{name} is set in line {line} under a condition")));
        }
        let is_mutable = is_mutable(&entry.node.value);
        // Maps that have it, each checked once, or files that are made for it would take for ever.
        let mut checked = HashSet::from([*defined]);
        let own = names.block.get(*defined).copied().unwrap_or(0);
        for at in names.by_root.get(root).into_iter().flatten().copied().filter(|at| at != defined) {
            if let Some(why) = names.may_change(at, is_mutable, &mut checked) {
                return Err(why);
            }
            if names.is_key(at) {
                continue;
            }
            let block = names.block.get(at).copied().unwrap_or(0);
            let is_seen = names.is_around(own, block) && (at >= *ends || block != own);
            let is_hidden = names.language == Language::Php && names.crosses_function(own, block);
            if !is_seen || is_hidden {
                return Err(Why::new(
                    line,
                    format!("what {name} is in line {} is not said by line {line}", names.line(at)),
                ));
            }
            if let Some(include) = names.includes.iter().find(|include| (*defined..at).contains(include)) {
                let include = names.line(*include);
                return Err(Why::new(
                    include,
                    format!("the file that is included in line {include} may change {name}"),
                ));
            }
        }
        let mut node = entry.node.clone();
        for part in parts.split(['.', '>', ':', '-', '?']).filter(|part| !part.is_empty()) {
            node = match node.get(part) {
                Some(inner) if node.entries().iter().all(|entry| entry.key != "...") => inner.clone(),
                _ => return Err(Why::new(line, format!("nothing in this file says what {name} is"))),
            };
        }
        Ok(node)
    }

    /// What a name of another file stands for, where nothing here may change it.
    fn taken_from_another(&self, name: &str, taken: &str, node: &Node) -> Result<Node, Why> {
        let names = &self.names;
        if let Some(at) = names.rebinding {
            let line = names.line(at);
            return Err(Why::new(line, format!("the code of line {line} may give {name} another value")));
        }
        let is_mutable = is_mutable(&node.value);
        for at in names.by_root.get(root(taken, names.language)).into_iter().flatten().copied() {
            // Other parts of the same module.
            let own = word(names.tokens.get(at));
            if names.is_in_import(at) || !(is_part(own, taken) || is_part(taken, own)) {
                continue;
            }
            if let Some(why) = names.may_change(at, is_mutable, &mut HashSet::new()) {
                return Err(why);
            }
        }
        let mut node = node.clone();
        for part in name.get(taken.len()..).unwrap_or_default().split('.').filter(|part| !part.is_empty()) {
            node = match node.get(part) {
                Some(inner) if node.entries().iter().all(|entry| entry.key != "...") => inner.clone(),
                _ => return Err(Why::new(node.line, format!("nothing that was read says what {name} is"))),
            };
        }
        Ok(node)
    }

    /// Why the value that the assignment of this index gives may not be what others get who read this file.
    pub fn may_differ(&self, index: usize) -> Option<Why> {
        let names = &self.names;
        let (entry, (defined, _)) = (self.assigned.get(index)?, names.assigned.get(index)?);
        let (key, line) = (&entry.key, entry.line);
        let is_exports = key == "module.exports" || key == "exports";
        let all = self.definitions(key);
        if self.is_of_class(index) {
            return self.class_may_differ(index, &all);
        }
        if all.len() > 1 {
            return Some(Why::new(line, format!("{key} is set more than once")));
        }
        if !names.begins_statement(*defined)
            || (names.block.get(*defined) != Some(&0) && matches!(names.language, Language::Python))
        {
            return Some(Why::new(line, format!("{key} is set in line {line} under a condition")));
        }
        if is_exports {
            let is_part = |entry: &&crate::settings::Entry| entry.key.starts_with(&format!("{key}."));
            return self
                .assigned
                .iter()
                .find(is_part)
                .map(|part| Why::new(part.line, format!("a part of {key} is set in line {}", part.line)));
        }
        if let Some(at) = names.rebinding {
            return Some(Why::new(
                names.line(at),
                format!("the code of line {} may give {key} another value", names.line(at)),
            ));
        }
        if let Some(include) = names.includes.iter().find(|include| *include > defined) {
            let include = names.line(*include);
            return Some(Why::new(
                include,
                format!("what line {include} includes from another file may change {key}"),
            ));
        }
        let root = root(key, names.language);
        let mut checked = HashSet::from([*defined]);
        names
            .by_root
            .get(root)?
            .iter()
            .filter(|at| *at != defined)
            .find_map(|at| names.may_change(*at, is_mutable(&entry.node.value), &mut checked))
    }

    /// Whether the assignment of this index stands in the body of a class of Python, as `class Config:` has them.
    pub fn is_of_class(&self, index: usize) -> bool {
        let names = &self.names;
        names.language == Language::Python
            && names.assigned.get(index).is_some_and(|(defined, _)| names.is_in_class(*defined))
    }

    /// What a class says holds for that class, whatever others say under the same name.
    fn class_may_differ(&self, index: usize, all: &[usize]) -> Option<Why> {
        let names = &self.names;
        let (entry, (defined, _)) = (self.assigned.get(index)?, names.assigned.get(index)?);
        let (key, own) = (&entry.key, names.block.get(*defined));
        let lines: Vec<usize> = all
            .iter()
            .filter(|other| self.is_of_class(**other))
            .filter_map(|other| names.assigned.get(*other))
            .filter(|(at, _)| at == defined || names.block.get(*at) != own)
            .map(|(at, _)| names.line(*at))
            .collect();
        if let Some(other) = self.mentions(key).iter().find(|mention| !lines.contains(&mention.line)) {
            return Some(Why::new(
                other.line,
                format!("{key} is used in line {}, and may be set there", other.line),
            ));
        }
        names.rebinding.map(|at| {
            Why::new(
                names.line(at),
                format!("the code of line {} may give {key} another value", names.line(at)),
            )
        })
    }

    fn definitions(&self, name: &str) -> Vec<usize> {
        let names = &self.names;
        let wanted = root(name, names.language);
        let is_perl = names.language == Language::Perl;
        names
            .by_root
            .get(wanted)
            .into_iter()
            .flatten()
            .filter_map(|at| names.assigned.binary_search_by_key(at, |(begins, _)| *begins).ok())
            .filter(|index| {
                self.assigned.get(*index).is_some_and(|entry| {
                    entry.key == name || (is_perl && root(&entry.key, names.language) == wanted)
                })
            })
            .collect()
    }
}
