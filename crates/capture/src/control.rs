//! The control of a capture: a canary over a plain connection of our own. A capture that has not seen it proves nothing.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::{Capture, CaptureError, Spec, start};

/// It arrives within this time, or the capture proves nothing.
const ARRIVES_MAX: Duration = Duration::from_secs(2);

/// Begins to capture `ports` and one more, to which the control is sent: the port is told.
///
/// # Errors
/// As [`start`]; or the control cannot be sent.
pub fn start_with_control(iface: &str, ports: &[u16], control: &str) -> Result<(Capture, u16), CaptureError> {
    let failed = |step| {
        move |error: io::Error| CaptureError::Failed {
            iface: iface.to_owned(),
            step,
            why: error.to_string(),
            next: "bring the interface lo up: ip link set lo up",
        }
    };
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed("listening for the control"))?;
    let at = listener.local_addr().map_err(failed("listening for the control"))?;
    let mut ports = ports.to_vec();
    ports.push(at.port());
    ports.sort_unstable();
    ports.dedup();
    let capture = start(Spec { iface: iface.to_owned(), ports, ring_bytes: 0 })?;
    send_control(&listener, at, control).map_err(failed("sending the control"))?;
    Ok((capture, at.port()))
}

/// Sends `control` to `at`, behind which `listener` listens.
///
/// # Errors
/// It did not arrive.
pub fn send_control(listener: &TcpListener, at: SocketAddr, control: &str) -> io::Result<()> {
    let mut out = TcpStream::connect(at)?;
    let (mut taken, _) = listener.accept()?;
    taken.set_read_timeout(Some(ARRIVES_MAX))?;
    out.write_all(format!("control {control} control").as_bytes())?;
    let mut sink = [0; 64];
    let count = taken.read(&mut sink)?;
    if count == 0 { Err(io::Error::other("the control connection closed")) } else { Ok(()) }
}
