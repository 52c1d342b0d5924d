//! One node of a cluster while it is planned for, with its provider's options.

use std::ops::{Deref, DerefMut};

use server::{GaleraFacts, ProviderOptions};

use super::OPTIONS;
use crate::draft::NodeDraft;
use crate::edit::Edit;
use crate::plan::PlanError;
use crate::world::World;

/// As it will be after the steps so far.
pub struct Draft {
    node: NodeDraft,
    pub options_key: String,
    pub options: ProviderOptions,
    pub letter: char,
}

impl Deref for Draft {
    type Target = NodeDraft;
    fn deref(&self) -> &NodeDraft {
        &self.node
    }
}

impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut NodeDraft {
        &mut self.node
    }
}

impl Draft {
    /// Without an option the line goes.
    pub fn set_or_unset_options(&self) -> Edit {
        if self.options.iter().next().is_none() {
            return self.unset(&self.options_key);
        }
        self.set_options()
    }

    pub fn set_options(&self) -> Edit {
        self.set(&self.options_key, self.options.to_string())
    }
}

pub fn drafts(world: &mut World<'_>) -> Result<Vec<Draft>, PlanError> {
    let mut drafts = Vec::new();
    for name in world.names() {
        let (node, setting) = NodeDraft::of(world, &name)?;
        let is_options = setting.key == OPTIONS;
        drafts.push(Draft {
            options_key: if is_options { setting.key_as_written.clone() } else { OPTIONS.into() },
            options: ProviderOptions::parse(if is_options {
                setting.value.as_deref().unwrap_or("")
            } else {
                ""
            }),
            letter: node.view.galera_state().letter(),
            node,
        });
    }
    Ok(drafts)
}
