//! What an abandoned change leaves: each step, and each node as it is now.

use change::{Direction, Machine, Stand};

use crate::world::World;

fn stand_word(stand: Stand) -> &'static str {
    match stand {
        Stand::Untouched => "not begun",
        Stand::Begun(Direction::Forward) => "begun, perhaps in part",
        Stand::Begun(Direction::Back) => "begun to be taken back, perhaps in part",
        Stand::Done => "done",
        Stand::Found => "was so before",
        Stand::Undone => "taken back",
    }
}

/// One line for each step that changes something, one for what has to be put back by hand, and one for each node.
pub fn left_as(world: &mut World<'_>, machine: &Machine) -> Vec<String> {
    let mut lines: Vec<String> = machine
        .plan()
        .steps
        .iter()
        .zip(machine.stands())
        .filter(|(step, _)| !step.only_looks)
        .map(|(step, stand)| format!("{}: {} ({})", step.id, stand_word(*stand), step.title))
        .collect();
    for step in &machine.plan().steps {
        lines.extend(crate::steps::of(step).ok().and_then(|kind| kind.left(world, step)));
    }
    let topology = world.topology;
    lines.extend(world.nodes.iter_mut().map(|node| topology.standing(&mut **node)));
    lines
}

/// What an abandoned change has noted on nodes and nobody could take back is struck out. One line for each thing that is left for a person.
pub fn give_up(world: &mut World<'_>) -> Vec<String> {
    let topology = world.topology;
    topology.give_up(world)
}
