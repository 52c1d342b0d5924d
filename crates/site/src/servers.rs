//! Servers of a bundle, alone and on loopback: for the tour, and for experiments that need servers made in a certain way.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use net::{Client, ConnectOptions, Endpoint};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::OpsError;

const START_SCRIPT: &str = include_str!("../../../scripts/start-server.sh");
pub const MARIADB: &str = "galera-10.11";
pub const MARIADB_NEWER: &str = "mariadb-11.8";
pub const MYSQL: &str = "mysql-9.7";
/// A data directory is initialised before; on two busy cores 20 s were seen.
const UP_MAX: Duration = Duration::from_secs(120);
const DOWN_MAX: Duration = Duration::from_secs(20);
const STATEMENT_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);

pub fn internal(what: &str) -> impl FnOnce(std::io::Error) -> OpsError {
    let what = what.to_owned();
    move |error| OpsError::internal(what, error)
}

/// A server that ends with this.
pub struct Server {
    child: Child,
    pub name: &'static str,
    pub port: u16,
    pub dir: PathBuf,
}

impl Server {
    /// The script becomes the server, tied to this process: it goes when this thread does, however that ends.
    ///
    /// # Errors
    /// There is no such bundle, or the server ends before it answers.
    pub fn start(name: &'static str, port: u16, dir: &Path, options: &[String]) -> Result<Self, OpsError> {
        Self::start_with(name, port, dir, options, &[])
    }

    /// The same, with variables of its environment.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(
        name: &'static str,
        port: u16,
        dir: &Path,
        options: &[String],
        environment: &[(&str, &str)],
    ) -> Result<Self, OpsError> {
        if !lab::bundle::bundle(name).join("stamp").is_file() {
            return Err(OpsError::cannot_look(
                format!("there is no {name} server for the test"),
                "its bundle is missing",
                format!("sealion lab fetch {name}"),
            ));
        }
        // Its socket lets root in without a password: nobody else may reach it.
        std::fs::create_dir_all(dir)
            .and_then(|()| std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)))
            .map_err(internal("cannot create the directory of the server"))?;
        let script = dir.join("start-server.sh");
        std::fs::write(&script, START_SCRIPT).map_err(internal("cannot write the start script"))?;
        let child = Command::new("/proc/self/exe")
            .args(["__server", "bash"])
            .arg(&script)
            .arg(name)
            .arg(dir)
            .arg(port.to_string())
            .args(options)
            .envs(environment.iter().copied())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(internal("cannot start a server"))?;
        let mut server = Self { child, name, port, dir: dir.to_owned() };
        server.is_up()?;
        Ok(server)
    }

    fn is_up(&mut self) -> Result<(), OpsError> {
        let deadline = Instant::now() + UP_MAX;
        while self.session().is_err() {
            let ended = self.child.try_wait().map_err(internal("cannot check a server"))?;
            if ended.is_some() || Instant::now() > deadline {
                let log = std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
                let end =
                    log.lines().rev().find(|line| line.contains("ERROR")).unwrap_or("its error log is empty");
                return Err(OpsError::cannot_look(
                    format!("{} does not start", self.name),
                    end,
                    format!("sealion lab fetch {}", self.name),
                ));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Over the unix socket, where nobody listens. `root` of such a server has no password.
    ///
    /// # Errors
    /// It does not answer.
    pub fn session(&self) -> Result<Client, net::NetError> {
        Client::connect(&ConnectOptions {
            connect_timeout: Duration::from_secs(3),
            io_timeout: STATEMENT_MAX,
            ..ConnectOptions::new(Endpoint::unix(self.dir.join("socket")), "root")
        })
    }

    /// # Errors
    /// What it refuses.
    pub fn run(&self, statements: &[&str]) -> Result<(), OpsError> {
        let failed = |error: net::NetError| {
            OpsError::internal(format!("{} does not execute statements", self.name), error)
        };
        let mut session = self.session().map_err(failed)?;
        for sql in statements {
            session.execute(sql).map_err(failed)?;
        }
        Ok(())
    }

    /// The first column of its answer's only row.
    ///
    /// # Errors
    /// What it refuses.
    pub fn asked(&self, sql: &str) -> Result<String, OpsError> {
        let failed = |error| OpsError::internal(format!("{} does not answer", self.name), error);
        let mut session = self.session().map_err(failed)?;
        let answer = session.query(sql).map_err(failed)?;
        Ok(wire::printable(&answer.scalar().unwrap_or_default()))
    }

    pub fn ca(&self) -> PathBuf {
        self.dir.join("cert.pem")
    }

    pub fn pid(&self) -> Option<i32> {
        i32::try_from(self.child.id()).ok()
    }

    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// # Errors
    /// It does not answer.
    pub fn version(&self) -> Result<String, OpsError> {
        let session = self
            .session()
            .map_err(|error| OpsError::internal(format!("{} does not answer", self.name), error))?;
        Ok(wire::printable(session.server_version()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let deadline = Instant::now() + DOWN_MAX;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Options for MariaDB with one key, in a file in `home`; nothing is encrypted unless it is asked for.
pub fn encryption_keys(home: &Path) -> Result<Vec<String>, OpsError> {
    let mut key = [0_u8; 32];
    openssl::rand::rand_bytes(&mut key).map_err(|error| OpsError::internal("no random bytes", error))?;
    let digits = model::hex(&key);
    let path = home.join("keys");
    std::fs::write(&path, format!("1;{digits}\n")).map_err(internal("cannot write the key file"))?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))
        .map_err(internal("cannot close the key file"))?;
    Ok(vec![
        "--plugin-load-add=file_key_management".into(),
        format!("--loose-file-key-management-filename={}", path.display()),
    ])
}
