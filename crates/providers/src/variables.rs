//! Variables of a server that are otherwise behind a step than before it.

use change::Direction;
use serde::{Deserialize, Serialize};
use server::NodeView;

/// One of them. `None`: the server has no such variable, since a plugin brings it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableChange {
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl VariableChange {
    pub fn new(name: &str, before: Option<&str>, after: Option<&str>) -> Self {
        Self { name: name.into(), before: before.map(str::to_owned), after: after.map(str::to_owned) }
    }

    pub fn wanted(&self, direction: Direction) -> Option<&str> {
        if direction == Direction::Forward { self.after.as_deref() } else { self.before.as_deref() }
    }
}

/// Why the running server is not as wished; `None` if it is.
pub fn differs(changes: &[VariableChange], view: &NodeView, direction: Direction) -> Option<String> {
    changes.iter().find_map(|change| {
        let (found, wanted) = (view.variable(&change.name), change.wanted(direction));
        let said = |value: Option<&str>| value.map_or("not there".to_owned(), |value| format!("\"{value}\""));
        (found != wanted).then(|| format!("its {} is {}, not {}", change.name, said(found), said(wanted)))
    })
}

/// How they are now, for people.
pub fn said(changes: &[VariableChange], view: &NodeView) -> String {
    let one = |change: &VariableChange| match view.variable(&change.name) {
        Some(value) => format!("{}={value}", change.name),
        None => format!("no {}", change.name),
    };
    changes.iter().map(one).collect::<Vec<_>>().join(", ")
}
