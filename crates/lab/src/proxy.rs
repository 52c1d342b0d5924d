//! HAProxy in front of a lab's nodes, on a host of its own: TCP, a health check, an admin socket.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::LabError;
use crate::hosts::{Host, Program, proxy_address};
use crate::layout::{LabFile, SQL_PORT};

/// It has read its configuration and opened its socket by then.
const START_MAX: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);

fn dir(lab: &Path) -> PathBuf {
    lab.join("proxy")
}

/// The admin socket.
pub fn socket(lab: &Path) -> PathBuf {
    dir(lab).join("admin.sock")
}

fn program() -> Result<Program, LabError> {
    Program::find("usr/sbin/haproxy", "haproxy")
}

/// Its configuration.
///
/// The check reads what the server greets with and logs in nowhere: it goes on when clients must use TLS, which `mysql-check user` does not.
fn config(file: &LabFile) -> String {
    let address = proxy_address(file.number);
    let socket = socket(&file.dir);
    let mut text = format!(
        "global\n    stats socket {} mode 600 level admin\n\ndefaults\n    mode tcp\n    timeout connect 2s\n    timeout check 1s\n    timeout client 1h\n    \
         timeout server 1h\n    option redispatch\n\nlisten galera\n    bind {address}:{SQL_PORT}\n    option tcp-check\n    \
         tcp-check connect\n    tcp-check expect rbinary 0A3[0-9]\n    default-server check inter 150 fall 2 rise 2\n",
        socket.display()
    );
    for node in &file.nodes {
        let _ = writeln!(text, "    server {} {}:{SQL_PORT}", node.name, node.address);
    }
    text
}

/// Its directory, for a lab that has one.
///
/// # Errors
/// The program is not there, or the directory cannot be written.
pub fn lay_out(file: &LabFile) -> Result<(), LabError> {
    if !file.proxy {
        return Ok(());
    }
    program()?;
    let dir = dir(&file.dir);
    fs::create_dir_all(&dir).map_err(LabError::io(format!("make {}", dir.display())))?;
    let path = dir.join("haproxy.cfg");
    fs::write(&path, config(file)).map_err(LabError::io(format!("write {}", path.display())))
}

/// Starts it in the network of its host. It ends with the supervisor.
///
/// # Errors
/// It does not start; the text has what it says.
pub fn start(file: &LabFile, host_pid: u32) -> Result<Host, LabError> {
    let dir = dir(&file.dir);
    let program = program()?;
    let log_path = dir.join("haproxy.log");
    let log = fs::File::create(&log_path).map_err(LabError::io(format!("make {}", log_path.display())))?;
    let mut command = Command::new("/proc/self/exe");
    command.arg("__server_at").arg(host_pid.to_string()).args(program.words());
    // In the foreground and without children of its own: what ends it ends all of it.
    command.args(["-db", "-f"]).arg(dir.join("haproxy.cfg"));
    let child = command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(LabError::io("start haproxy"))?;
    let mut host = Host::of(child);
    let deadline = Instant::now() + START_MAX;
    while UnixStream::connect(socket(&file.dir)).is_err() {
        if Instant::now() > deadline || host.has_ended() {
            host.end();
            return Err(LabError::Refused {
                what: "haproxy does not start".into(),
                why: fs::read_to_string(&log_path).unwrap_or_default().trim().to_owned(),
                next: format!("see {}", dir.join("haproxy.cfg").display()),
            });
        }
        std::thread::sleep(POLL);
    }
    Ok(host)
}
