//! Ports that a lab needs: taken ones are refused before a server is laid out, not found in its log.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use crate::LabError;
use crate::layout::{GALERA_PORT, IST_PORT, LabFile, SQL_PORT, SST_PORT};

/// Every port of every node can be listened on, at its address and, behind a relay, where it really listens.
///
/// # Errors
/// `Taken` with all that are taken.
pub fn refuse_taken(lab: &LabFile) -> Result<(), LabError> {
    let mut taken = Vec::new();
    let ports: &[u16] = if lab.galera { &[SQL_PORT, GALERA_PORT, IST_PORT, SST_PORT] } else { &[SQL_PORT] };
    let arbitrators = lab.arbitrators.iter().map(|node| (node, &[GALERA_PORT][..]));
    for (node, ports) in lab.nodes.iter().map(|node| (node, ports)).chain(arbitrators) {
        for address in [Some(node.address), node.behind].into_iter().flatten() {
            for &port in ports {
                // The listener is closed again at once, without a connection: the port is free for the server.
                if let Err(error) = TcpListener::bind(SocketAddr::new(address, port))
                    && error.kind() == ErrorKind::AddrInUse
                {
                    taken.push(format!("{address}:{port}"));
                }
            }
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    Err(LabError::Taken {
        what: format!("port in use, nothing was started: {}", taken.join(", ")),
        why: "another program already listens there: another lab, or a server that listens on every address".into(),
        next:
            "find it with ss -ltnp and stop it, or run without --no-namespace, so that the lab has its own loopback \
             interface"
                .into(),
    })
}
