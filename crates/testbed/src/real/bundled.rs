//! A server of a bundle that is no node of a lab, run in the lab's network by `scripts/start-server.sh`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use net::{Client, ConnectOptions, Endpoint};

use super::{Program, RealLab, wait_for};

/// A data directory is initialised before.
const UP_S_MAX: u64 = 120;

pub struct Bundled {
    /// Ends the server when it is dropped.
    _program: Program,
    pub dir: PathBuf,
    pub port: u16,
}

/// The path of a bundle, or how to get it.
pub fn bundle(name: &str) -> PathBuf {
    let path = ::lab::bundle::bundle(name);
    assert!(path.join("stamp").is_file(), "there is no {}; run: sealion lab fetch {name}", path.display());
    path
}

impl Bundled {
    #[track_caller]
    pub fn start(lab: &RealLab, name: &str, port: u16, options: &[&str]) -> Self {
        Self::start_with(lab, name, port, &[], options)
    }

    /// With more in its environment.
    #[track_caller]
    pub fn start_with(
        lab: &RealLab,
        name: &str,
        port: u16,
        environment: &[(&str, &str)],
        options: &[&str],
    ) -> Self {
        bundle(name);
        let dir = lab.home().join(format!("b{port}"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/start-server.sh");
        let mut command = lab.command(&["lab", "exec", "--", "bash"]);
        command.arg(script).arg(name).arg(&dir).arg(port.to_string()).args(options);
        command.envs(environment.iter().copied());
        let mut program = Program::start(command);
        let this_log = dir.join("log");
        let up = wait_for(Duration::from_secs(UP_S_MAX), || {
            let log = std::fs::read_to_string(&this_log).unwrap_or_default();
            // The bootstrap says so too; the socket comes later.
            let is_up = log.contains("ready for connections") && answers(&dir);
            (is_up || program.has_ended()).then_some(is_up)
        });
        let log = std::fs::read_to_string(&this_log).unwrap_or_default();
        assert_eq!(up, Some(true), "{name} is not up: {}\n{log}", program.stderr());
        Self { _program: program, dir, port }
    }

    /// A session over its socket, which is not on the wire.
    #[track_caller]
    pub fn sql(&self) -> Client {
        Client::connect(&root(&self.dir)).expect("root has no password")
    }

    /// As any client's, with what the server gives a session: one whose password has expired takes SET PASSWORD and nothing else.
    #[track_caller]
    pub fn run(&self, statements: &[&str]) {
        let mut session = Client::connect(&root(&self.dir).for_login_only()).expect("root has no password");
        for sql in statements {
            session.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }
}

/// A server that was started before may have a password since.
fn answers(dir: &Path) -> bool {
    matches!(
        Client::connect(&root(dir).for_login_only()),
        Ok(_) | Err(net::NetError::Refused { code: 1045, .. })
    )
}

fn root(dir: &Path) -> ConnectOptions {
    ConnectOptions {
        connect_timeout: Duration::from_secs(3),
        io_timeout: Duration::from_secs(30),
        ..ConnectOptions::new(Endpoint::unix(dir.join("socket")), "root")
    }
}
