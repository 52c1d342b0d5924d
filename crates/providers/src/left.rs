//! What an abandoned change leaves: each step, and each node as it is now.

use change::{Direction, Machine, Stand};

use server::GaleraFacts;

use crate::galera::steps::round;
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

/// One line for each step that changes something, and one for each node.
pub fn left_as(world: &mut World<'_>, machine: &Machine) -> Vec<String> {
    let mut lines: Vec<String> = machine
        .plan()
        .steps
        .iter()
        .zip(machine.stands())
        .filter(|(step, _)| !step.only_looks)
        .map(|(step, stand)| format!("{}: {} ({})", step.id, stand_word(*stand), step.title))
        .collect();
    for node in &mut world.nodes {
        let name = node.name().clone();
        let mut line = match node.view() {
            Ok(view) => format!(
                "{name}: {}, speaks {} to nodes, clients {}",
                view.status("wsrep_local_state_comment").unwrap_or("state not known"),
                view.galera_state(),
                match (view.offers_client_tls(), view.requires_secure_transport()) {
                    (_, true) => "must use TLS",
                    (true, false) => "may use TLS",
                    (false, false) => "are offered no TLS",
                }
            ),
            Err(error) => crate::galera::quorum::first_line(&error.to_string()).to_owned(),
        };
        if round::is_out_of_service(&**node) {
            line += match node.view() {
                Ok(_) => "; sealion took it out of service, to bring it back: SET GLOBAL wsrep_desync=OFF",
                Err(_) => "; sealion took it out of service before",
            };
        }
        lines.push(line);
    }
    lines
}
