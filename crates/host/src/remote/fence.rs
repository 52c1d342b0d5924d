//! What the kernel takes from an agent that looks, so that it cannot change anything even if it is told to, or is broken into.

use landlock::{ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus};
use nix::sys::prctl;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// The newest set of rights that this was tried with; an older kernel holds those that it knows.
const LANDLOCK: ABI = ABI::V5;

/// How a line begins of what the kernel does not do.
pub const NOT_HELD: &str = "not held by";

/// Takes from this process, and from all that it starts, the right to write to any file that it has not open. Each line says what
/// holds, or why it does not.
pub fn for_reading() -> Vec<String> {
    let mut lines = Vec::new();
    lines.push(match prctl::set_no_new_privs() {
        Ok(()) => "no_new_privs: what it starts has no more rights than it has".to_owned(),
        Err(errno) => format!("not held by no_new_privs: {errno}"),
    });
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(LANDLOCK))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    let is_held = matches!(&restricted, Ok(status) if status.ruleset == RulesetStatus::FullyEnforced);
    lines.push(match restricted {
        Ok(status) => match status.ruleset {
            RulesetStatus::FullyEnforced => "Landlock: it can write to no file".to_owned(),
            RulesetStatus::PartiallyEnforced => {
                "Landlock of an older kernel: it can create and remove no file, and write to none".to_owned()
            }
            RulesetStatus::NotEnforced => "not held by Landlock: this kernel has none".to_owned(),
        },
        Err(error) => format!("not held by Landlock: {error}"),
    });
    lines.push(match cut_capabilities(is_held) {
        Ok(()) => "capabilities: those to read and to capture".to_owned(),
        Err(errno) => format!("not held by its capabilities: {errno}"),
    });
    lines
}

/// Of the capabilities that root has, those that looking needs. `cannot_write`: something else holds it from writing, so that it may
/// open sockets of others, which takes the right to write to them.
fn cut_capabilities(cannot_write: bool) -> rustix::io::Result<()> {
    // Files and processes of other users; packets.
    let mut wanted = CapabilitySet::DAC_READ_SEARCH | CapabilitySet::SYS_PTRACE | CapabilitySet::NET_RAW;
    if cannot_write {
        wanted |= CapabilitySet::DAC_OVERRIDE;
    }
    let had = capabilities(None)?;
    set_capabilities(
        None,
        CapabilitySets {
            effective: had.effective & wanted,
            permitted: had.permitted & wanted,
            inheritable: had.inheritable & wanted,
        },
    )
}
