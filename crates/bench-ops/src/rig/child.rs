//! Processes that a lab starts beside its servers, and that end with it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use site::OpsError;
use site::servers::internal;

/// A tunnel listens within this time, or it has failed.
pub const UP_MAX: Duration = Duration::from_secs(10);
pub const POLL: Duration = Duration::from_millis(10);

pub fn free_port() -> Result<u16, OpsError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|at| at.port())
        .map_err(internal("no port is free"))
}

/// A process that ends with this.
pub struct OwnedChild(pub Child);

impl Drop for OwnedChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

pub fn listens(at: SocketAddr, child: &mut OwnedChild, what: &str) -> Result<(), OpsError> {
    let deadline = Instant::now() + UP_MAX;
    while ::bench::cpu::listeners_of(at.port()).is_empty() {
        let ended = child.0.try_wait().map_err(internal("cannot check a child process"))?;
        if let Some(status) = ended {
            return Err(OpsError::cannot_look(
                format!("{what} does not start"),
                status.to_string(),
                "try it by hand",
            ));
        }
        if Instant::now() > deadline {
            return Err(OpsError::cannot_look(
                format!("{what} does not listen"),
                format!("no answer for {} s", UP_MAX.as_secs()),
                "try again when the machine has less load",
            ));
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}
