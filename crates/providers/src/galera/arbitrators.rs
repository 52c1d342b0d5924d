//! Arbitrators in a plan: garbd has no SQL port, so each of its states is reached by a restart, also that with a new certificate.

use model::NodeName;
use server::arbitrator::OPTIONS;
use server::{Flavour, ProviderOptions};

use super::patience;
use super::steps::ArbitratorParams;
use crate::by_hand;
use crate::draft::{MemberDraft, PlannedEdit};
use crate::edit::{Edit, Form};
use crate::files::{CA_FILE, CERT_FILE, KEY_FILE};
use crate::plan::{Builder, PlanError, refuse};
use crate::world::World;

/// One arbitrator, as it will be after the steps so far.
pub struct ArbitratorDraft {
    pub member: MemberDraft,
    pub options: ProviderOptions,
    pub letter: char,
}

pub fn drafts(world: &mut World<'_>) -> Result<Vec<ArbitratorDraft>, PlanError> {
    let names: Vec<NodeName> = world.arbitrators.iter().map(|one| one.name().clone()).collect();
    let mut drafts = Vec::new();
    for name in names {
        let Some(arbitrator) = world.arbitrator(&name) else { continue };
        let state = arbitrator.view().map_err(refuse)?.state();
        let options = arbitrator.file_options().map_err(refuse)?;
        let file = arbitrator.spec().defaults_file.clone();
        let member = MemberDraft::of(world, &name, &file, Form::ShellVars)?;
        drafts.push(ArbitratorDraft { member, options, letter: state.letter() });
    }
    Ok(drafts)
}

/// The states that a round leads through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Takes cleartext and TLS; in a cluster so large that it waits longer meanwhile, or not.
    Either { waits: bool },
    /// Takes TLS only.
    Tls,
    /// Takes cleartext only.
    Plain,
}

impl To {
    fn letter(self) -> char {
        match self {
            Self::Either { .. } => 'D',
            Self::Tls => 'S',
            Self::Plain => 'P',
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Either { .. } => "accepts cleartext and TLS from nodes; restart",
            Self::Tls => "accepts only TLS from nodes; restart",
            Self::Plain => "uses cleartext only; restart",
        }
    }

    /// Whether one in this state is changed at all: a round leads one step on.
    fn begins_at(self, letter: char) -> bool {
        match self {
            // Who is strict stays so on the way up, and comes from there on the way down.
            Self::Either { .. } => letter == 'P',
            Self::Tls => letter != 'S',
            Self::Plain => letter != 'P',
        }
    }
}

/// One arbitrator's restart, in a plan that leads it to `to`; `is_down` says that the way leads out of TLS.
pub fn round(
    builder: &mut Builder,
    prefix: &str,
    draft: &mut ArbitratorDraft,
    to: To,
    is_down: bool,
) -> Result<(), PlanError> {
    let before = draft.letter;
    let changes = to.begins_at(before) || (is_down && matches!(to, To::Either { .. }) && before == 'S');
    let mut edits = Vec::new();
    if changes {
        match to {
            To::Either { waits } => {
                for (key, file) in
                    [("socket.ssl_key", KEY_FILE), ("socket.ssl_cert", CERT_FILE), ("socket.ssl_ca", CA_FILE)]
                {
                    if before == 'P' {
                        draft.options.set(key, &draft.member.path(file));
                    }
                }
                draft.options.set("socket.ssl", "YES");
                draft.options.set("socket.dynamic", "YES");
                if waits {
                    patience::of_dynamic(&mut draft.options);
                }
            }
            To::Tls => {
                draft.options.remove("socket.dynamic");
                patience::of_settled(&mut draft.options);
            }
            To::Plain => {
                patience::of_settled(&mut draft.options);
                draft.options.remove_prefix("socket.ssl");
                draft.options.remove("socket.dynamic");
            }
        }
        draft.letter = to.letter();
        edits.push(set(&draft.options));
    }
    let PlannedEdit { edit, diff, needs } = draft.member.edit(edits)?;
    let no_op = !changes;
    let name = draft.member.name.clone();
    let step = builder.add(
        format!("{prefix}.{name}"),
        "arbitrator",
        format!("{name} (arbitrator) {}", to.title()),
        vec![name.clone()],
        ArbitratorParams { edit, before, after: draft.letter },
    );
    step.restarts_server = true;
    step.shell = restart_by_hand(&draft.member, &diff);
    (step.no_op, step.diff, step.nature.needs) = (no_op, diff, needs);
    Ok(())
}

/// Without an option, the variable goes: a file of the package has it as a comment.
fn set(options: &ProviderOptions) -> Edit {
    let (group, key) = (String::new(), OPTIONS.to_owned());
    if options.iter().next().is_none() {
        return Edit::Remove { group, key };
    }
    Edit::Set { group, key, value: options.to_string() }
}

pub fn restart_by_hand(draft: &MemberDraft, diff: &[String]) -> Vec<String> {
    let size = by_hand::sql(Flavour::MariaDb, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_size'");
    let mut lines = draft.by_hand(diff, vec![by_hand::words(&draft.stop), by_hand::words(&draft.start)]);
    lines.push(format!("# on a node, until the size is as before: {size}"));
    lines
}
