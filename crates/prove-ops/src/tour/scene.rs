//! Where the tour plays: two real servers in a network of this process, their command line clients, and somebody who listens.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use capture::Canary;
use capture::words::Words;
use prove::Protocol;
use secrecy::{ExposeSecret, SecretString};

use crate::relay::{Config, Place, RelayJob, RelayNews, Relayed, Running};
use crate::sniff::{Sniffed, Source, Word, sniff};
use crate::{Ground, Outcome, Stage, attack, client};
use site::OpsError;
pub use site::servers::{MARIADB, MYSQL, Server};
use site::servers::{encryption_keys, internal};

const MARIADB_PORT: u16 = 3306;
/// X Protocol of the first would be on the next one.
const MYSQL_PORT: u16 = 3316;
const CLIENT_MAX: Duration = Duration::from_secs(30);
const LISTENS_MAX: Duration = Duration::from_secs(10);
/// The account of the tour's clients.
pub const USER: &str = "teller";
/// What accounts hold; each is written to a table that clients read.
pub const PAYEE: &str = "account-of-the-payee";

/// A tool of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    bundle: &'static str,
    pub name: &'static str,
}

pub const MARIADB_CLI: Tool = Tool { bundle: MARIADB, name: "mariadb" };
pub const MARIADB_DUMP: Tool = Tool { bundle: MARIADB, name: "mariadb-dump" };
pub const MYSQL_CLI: Tool = Tool { bundle: MYSQL, name: "mysql" };

impl Tool {
    /// The words that run it.
    pub fn words(self) -> Vec<OsString> {
        let bundle = lab::bundle::bundle(self.bundle);
        let lib = bundle.join("usr/lib/x86_64-linux-gnu");
        let program = bundle.join("usr/bin").join(self.name);
        if self.bundle == MARIADB {
            let path = format!(
                "LD_LIBRARY_PATH={}:{}",
                lib.display(),
                bundle.join("lib/x86_64-linux-gnu").display()
            );
            return vec!["env".into(), path.into(), program.into()];
        }
        vec![lib.join("ld-linux-x86-64.so.2").into(), "--library-path".into(), lib.into(), program.into()]
    }

    /// Where its plugins are: the compiled-in place does not exist.
    pub fn plugins(self) -> Option<PathBuf> {
        let lib = lab::bundle::bundle(self.bundle).join("usr/lib");
        [lib.join("x86_64-linux-gnu/libmariadb3/plugin"), lib.join("mysql/plugin")]
            .into_iter()
            .find(|dir| dir.is_dir())
    }
}

/// How a client ended.
pub struct ClientExit {
    pub is_ok: bool,
    pub stdout: String,
    /// Its last line.
    pub said: String,
}

/// What a client is pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetPort(pub u16);

pub struct Scene {
    ground: Ground,
    pub mariadb: Server,
    pub mysql: Server,
    pub password: SecretString,
    /// Goes last: servers write into it.
    home: tempfile::TempDir,
}

impl Scene {
    pub fn set() -> Result<Self, OpsError> {
        let ground = Ground::named()?;
        let home = tempfile::Builder::new()
            .prefix("sealion-tour-")
            .tempdir()
            .map_err(internal("cannot create a directory for the servers of the tour"))?;
        let options = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let encryption = encryption_keys(home.path())?;
        let mariadb = Server::start(
            MARIADB,
            MARIADB_PORT,
            &home.path().join(MARIADB),
            &[options(&["--local-infile=ON", "--plugin-maturity=unknown"]), encryption].concat(),
        )?;
        let mysql = Server::start(MYSQL, MYSQL_PORT, &home.path().join(MYSQL), &options(&["--mysqlx=OFF"]))?;
        // Of this run; 24 characters are enough for nobody to guess, and for every plugin.
        let password: String = trust::generate_passphrase().expose_secret().chars().take(24).collect();
        for server in [&mariadb, &mysql] {
            server.run(&[
                &format!("CREATE USER {USER}@'%' IDENTIFIED BY '{password}'"),
                &format!("GRANT ALL ON *.* TO {USER}@'%'"),
                "CREATE DATABASE bank",
                "CREATE TABLE bank.transfer (id INT AUTO_INCREMENT PRIMARY KEY, payee VARCHAR(100))",
                &format!("INSERT INTO bank.transfer (payee) VALUES ('{PAYEE}')"),
            ])?;
        }
        let scene = Self { ground, mariadb, mysql, password: password.into(), home };
        let file = format!("[client]\nuser={USER}\npassword={}\n", scene.password.expose_secret());
        scene.private("own.cnf", file.as_bytes())?;
        scene.private("password", scene.password.expose_secret().as_bytes())?;
        Ok(scene)
    }

    /// A file that only we can read.
    pub fn private(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, OpsError> {
        let path = self.home.path().join(name);
        std::fs::write(&path, "")
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)))
            .and_then(|()| std::fs::write(&path, bytes))
            .map_err(internal("cannot write a file of the tour"))?;
        Ok(path)
    }

    pub fn programs(&self) -> Result<Vec<(String, String)>, OpsError> {
        let mut all = vec![
            ("MariaDB server".to_owned(), self.mariadb.version()?),
            ("MySQL server".to_owned(), self.mysql.version()?),
        ];
        for tool in [MARIADB_CLI, MYSQL_CLI] {
            let words = [tool.words(), vec!["--no-defaults".into(), "--version".into()]].concat();
            let said = self.spawn(&words)?.stdout;
            // "… Ver 15.1 Distrib 10.11.19-MariaDB, …", "… Ver 9.7.4 …"
            let mut words = said.split_whitespace().skip_while(|word| !matches!(*word, "Distrib" | "Ver"));
            let version = if said.contains("Distrib") {
                said.split("Distrib ").nth(1).and_then(|rest| rest.split([' ', ',']).next())
            } else {
                words.nth(1)
            };
            all.push((format!("{} client", tool.name), wire::printable(version.unwrap_or("unknown"))));
        }
        Ok(all)
    }

    /// A canary of this run.
    pub fn canary(&self) -> Canary {
        let mut random = [0; 16];
        // Without random bytes all are one: a search that finds it in clear is right all the same.
        let _ = openssl::rand::rand_bytes(&mut random);
        Canary::new(random)
    }

    /// Runs a tool of a bundle as the account of the tour, at a port of loopback.
    pub fn run(
        &self,
        tool: Tool,
        at: TargetPort,
        options: &[&str],
        task: &[&str],
    ) -> Result<ClientExit, OpsError> {
        let mut words = tool.words();
        words.push(format!("--defaults-file={}", self.home.path().join("own.cnf").display()).into());
        if let Some(plugins) = tool.plugins() {
            words.push(format!("--plugin-dir={}", plugins.display()).into());
        }
        words.extend(["--protocol=tcp", "-hlocalhost"].map(OsString::from));
        words.push(format!("-P{}", at.0).into());
        words.extend(options.iter().chain(task).map(OsString::from));
        self.spawn(&words)
    }

    fn spawn(&self, words: &[OsString]) -> Result<ClientExit, OpsError> {
        let (program, rest) =
            words.split_first().ok_or_else(|| OpsError::internal("no client", "no words"))?;
        let out = |name: &str| std::fs::File::create(self.home.path().join(name));
        let start = || {
            Command::new(program)
                .args(rest)
                .process_group(0)
                .stdin(Stdio::null())
                .stdout(out("stdout")?)
                .stderr(out("stderr")?)
                .spawn()
        };
        let mut child = start().map_err(internal("cannot start a client"))?;
        let end = crate::wait(&mut child, CLIENT_MAX, &AtomicBool::new(false));
        let read = |name: &str| {
            let bytes = std::fs::read(self.home.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace(self.password.expose_secret(), "(the password)")
        };
        let stderr = read("stderr");
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(&end);
        Ok(ClientExit {
            is_ok: end == "exit status: 0",
            stdout: read("stdout"),
            said: wire::printable(last.trim()),
        })
    }

    /// A client that must do its task, or nothing is shown by what was seen.
    pub fn must_run(
        &self,
        tool: Tool,
        at: TargetPort,
        options: &[&str],
        task: &[&str],
    ) -> Result<ClientExit, OpsError> {
        let ran = self.run(tool, at, options, task)?;
        if ran.is_ok {
            return Ok(ran);
        }
        Err(OpsError::cannot_look(
            format!("{} {} failed", tool.name, options.join(" ")),
            &ran.said,
            "this is a bug of the tour; please report it",
        ))
    }

    /// What somebody reads who listens while `act` goes on.
    pub fn overhear<T>(&self, act: impl FnOnce() -> Result<T, OpsError>) -> Result<(Sniffed, T), OpsError> {
        let stop = AtomicBool::new(false);
        let (listens, listening) = mpsc::channel();
        let source = Source::Interface { name: "lo".into(), seconds: None };
        let ports = [self.mysql.port];
        std::thread::scope(|scope| {
            let sniffing = scope.spawn(|| {
                let mut tell = |word| {
                    if word == Word::Listening {
                        let _ = listens.send(());
                    }
                };
                sniff(&source, &ports, Words::default(), &stop, &mut tell)
            });
            // Where nothing can be captured, the thread has ended with the reason.
            let begun = listening.recv_timeout(LISTENS_MAX);
            let done = begun.is_ok().then(act);
            stop.store(true, Ordering::Relaxed);
            let sniffed = sniffing
                .join()
                .map_err(|_| OpsError::internal("the capture failed", "the thread ended"))??;
            match done {
                Some(done) => Ok((sniffed, done?)),
                None => Err(OpsError::internal("the capture failed", "the capture did not begin")),
            }
        })
    }

    /// Runs `act` with the port of a relay before a server; gives the connections that came.
    pub fn between<T>(
        &self,
        server: &Server,
        config: Config,
        act: impl FnOnce(TargetPort) -> Result<T, OpsError>,
    ) -> Result<(Vec<Relayed>, T), OpsError> {
        let listen = Place::Tcp(([127, 0, 0, 1], 0).into());
        let running =
            Running::start(RelayJob { listen, target: Place::Tcp(server.address()), config, words: vec![] })?;
        let Place::Tcp(address) = running.at() else {
            return Err(OpsError::internal("the relay has no port", "it listens on a socket"));
        };
        let done = act(TargetPort(address.port()))?;
        let mut closed: Vec<Relayed> = running
            .end()
            .into_iter()
            .filter_map(|said| match said {
                RelayNews::Closed(relayed) => Some(*relayed),
                _ => None,
            })
            .collect();
        closed.sort_by_key(|relayed| relayed.number);
        Ok((closed, done))
    }

    /// A tool against the rogue, in one case. `{host}`, `{port}`, `{ca}` in its words are filled in; its password is one of
    /// this run. It also meets the honest server, which it must accept.
    pub fn rogue(&self, case: &str, tool: Tool, words: &[&str]) -> Result<Outcome, OpsError> {
        let attacks: Vec<_> = ["honest", case].iter().filter_map(|id| attack(id)).collect();
        let stage = Stage::set(&attacks, &[Protocol::MySql], &self.ground, 0)?;
        let mut command = tool.words();
        let file = format!("[client]\npassword=\"{}\"\n", stage.password());
        let defaults = self.private("rogue.cnf", file.as_bytes())?;
        if !words.iter().any(|word| word.starts_with("--defaults")) {
            command.push(format!("--defaults-file={}", defaults.display()).into());
        }
        if let Some(plugins) = tool.plugins() {
            command.push(format!("--plugin-dir={}", plugins.display()).into());
        }
        command.extend(words.iter().map(OsString::from));
        judged(&stage, &attacks, &command, tool)
    }

    /// The same with a whole command that is made for the password and the CA of the stage.
    pub fn rogue_with(
        &self,
        case: &str,
        tool: Tool,
        command: impl FnOnce(&str, &Path) -> Result<Vec<OsString>, OpsError>,
    ) -> Result<Outcome, OpsError> {
        let attacks: Vec<_> = ["honest", case].iter().filter_map(|id| attack(id)).collect();
        let stage = Stage::set(&attacks, &[Protocol::MySql], &self.ground, 0)?;
        let words = command(stage.password(), stage.ca_path())?;
        judged(&stage, &attacks, &words, tool)
    }
}

/// A command in one case; it must accept the honest server, or its refusal says nothing.
fn judged(
    stage: &Stage,
    attacks: &[&'static crate::Attack],
    command: &[OsString],
    tool: Tool,
) -> Result<Outcome, OpsError> {
    let stop = AtomicBool::new(false);
    let judged = client(stage, attacks, Protocol::MySql, command, CLIENT_MAX, &stop, &mut |_| ())?;
    let why = judged.outcomes.first().map(|one| one.words.clone()).unwrap_or_default();
    let last = judged.outcomes.into_iter().nth(1);
    match last {
        Some(outcome) if judged.is_controlled => Ok(outcome),
        _ => Err(OpsError::cannot_look(
            format!("{} does not accept the honest server", tool.name),
            if why.is_empty() { "it printed nothing".into() } else { why },
            "this is a bug of the tour; please report it",
        )),
    }
}
