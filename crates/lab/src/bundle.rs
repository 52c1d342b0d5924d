//! Where the servers come from: a bundle without root in the cache, or what the system has.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::LabError;

/// The script that `make setup` runs too; the binary carries it, so `sealion lab fetch` works without a checkout.
const FETCH_SCRIPT: &str = include_str!("../../../scripts/fetch-servers.sh");

/// Whose servers they are: they are initialised, started and set up in different ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    #[default]
    MariaDb,
    MySql,
}

/// The programs of one MariaDB + Galera, or of one MySQL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Servers {
    /// `None` for what the system has installed.
    pub root: Option<PathBuf>,
    #[serde(default)]
    pub kind: ServerKind,
    /// The server: `mariadbd`, or `mysqld` of a MySQL.
    pub mariadbd: PathBuf,
    /// Of MySQL there is none.
    pub galera: PathBuf,
}

/// The bundle that MySQL comes from.
const MYSQL: &str = "mysql-9.7";

/// `${SEALION_CACHE:-~/.cache/sealion}`
pub fn cache_dir() -> PathBuf {
    if let Some(dir) = env::var_os("SEALION_CACHE") {
        return dir.into();
    }
    let base = env::var_os("XDG_CACHE_HOME").map_or_else(
        || env::var_os("HOME").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from).join(".cache"),
        PathBuf::from,
    );
    base.join("sealion")
}

impl Servers {
    /// Variables first, then the bundle, then (with `system`, or when there is no bundle) the system.
    ///
    /// # Errors
    /// `Missing`, with the command that fetches them.
    pub fn find(system: bool) -> Result<Self, LabError> {
        if let (Some(mariadbd), Some(galera)) =
            (env::var_os("SEALION_MARIADBD"), env::var_os("SEALION_GALERA"))
        {
            return Ok(Self {
                root: None,
                kind: ServerKind::MariaDb,
                mariadbd: mariadbd.into(),
                galera: galera.into(),
            });
        }
        if !system {
            let root = bundle_dir();
            if root.join("stamp").is_file() {
                return Ok(Self::in_bundle(root));
            }
        }
        let installed = Self {
            root: None,
            kind: ServerKind::MariaDb,
            mariadbd: "/usr/sbin/mariadbd".into(),
            galera: "/usr/lib/galera/libgalera_smm.so".into(),
        };
        if installed.mariadbd.is_file() && installed.galera.is_file() {
            return Ok(installed);
        }
        Err(LabError::Missing {
            what: "a MariaDB server with Galera".into(),
            why: format!("there is no bundle in {} and none is installed", bundle_dir().display()),
            next: "sealion lab fetch galera-10.11     (no root needed; 60 MB)".into(),
        })
    }

    fn in_bundle(root: PathBuf) -> Self {
        let mariadbd = root.join("usr/sbin/mariadbd");
        let galera = root.join("usr/lib/galera/libgalera_smm.so");
        Self { root: Some(root), kind: ServerKind::MariaDb, mariadbd, galera }
    }

    /// MySQL of the bundle.
    ///
    /// # Errors
    /// `Missing`, with the command that fetches it.
    pub fn find_mysql() -> Result<Self, LabError> {
        let root = bundle(MYSQL);
        if !root.join("stamp").is_file() {
            return Err(LabError::Missing {
                what: "a MySQL server".into(),
                why: format!("there is no bundle in {}", root.display()),
                next: format!("sealion lab fetch {MYSQL}     (no root needed)"),
            });
        }
        let mysqld = root.join("usr/sbin/mysqld");
        Ok(Self { root: Some(root), kind: ServerKind::MySql, mariadbd: mysqld, galera: PathBuf::new() })
    }

    /// The words that start the server, before its options. MySQL's is of another system than this one and runs under that one's
    /// loader.
    pub fn command(&self) -> Vec<OsString> {
        match (&self.root, self.kind) {
            (Some(root), ServerKind::MySql) => {
                let libraries = root.join("usr/lib/x86_64-linux-gnu");
                vec![
                    libraries.join("ld-linux-x86-64.so.2").into(),
                    "--library-path".into(),
                    libraries.into(),
                    self.mariadbd.clone().into(),
                ]
            }
            _ => vec![self.mariadbd.clone().into()],
        }
    }

    /// PATH and LD_LIBRARY_PATH under which the servers and their SST scripts find each other.
    pub fn environment(&self) -> Vec<(String, String)> {
        if self.kind == ServerKind::MySql {
            return vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())];
        }
        let Some(root) = &self.root else {
            return vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into())];
        };
        let at = |sub: &str| root.join(sub).display().to_string();
        vec![
            ("PATH".into(), format!("{}:{}:/usr/sbin:/usr/bin:/sbin:/bin", at("usr/sbin"), at("usr/bin"))),
            ("LD_LIBRARY_PATH".into(), library_path(root)),
        ]
    }

    /// A client or tool that belongs to these servers, e.g. `mariadb`.
    pub fn program(&self, name: &str) -> PathBuf {
        match &self.root {
            Some(root) if self.kind == ServerKind::MariaDb => ["usr/bin", "usr/sbin"]
                .iter()
                .map(|dir| root.join(dir).join(name))
                .find(|path| path.is_file())
                .unwrap_or_else(|| PathBuf::from(name)),
            _ => PathBuf::from(name),
        }
    }

    /// Directories that a bundled server was not compiled for.
    pub fn directory_options(&self) -> Vec<(&'static str, String)> {
        let Some(root) = &self.root else { return Vec::new() };
        let at = |sub: &str| root.join(sub).display().to_string();
        vec![
            ("basedir", at("usr")),
            ("lc-messages-dir", at("usr/share/mysql")),
            ("character-sets-dir", at("usr/share/mysql/charsets")),
            ("plugin-dir", at("usr/lib/mysql/plugin")),
        ]
    }
}

/// Where the libraries of a bundle lie.
pub fn library_path(root: &Path) -> String {
    let at = |sub: &str| root.join(sub).display().to_string();
    format!("{}:{}", at("usr/lib/x86_64-linux-gnu"), at("lib/x86_64-linux-gnu"))
}

pub fn bundle_dir() -> PathBuf {
    bundle("galera-10.11")
}

/// Where the bundle of that name lies, or would.
pub fn bundle(name: &str) -> PathBuf {
    cache_dir().join("bundles").join(name)
}

/// Runs the carried script, which knows the names; progress goes to stderr.
pub fn fetch(server: &str) -> Result<PathBuf, LabError> {
    let status = Command::new("bash")
        .args(["-c", FETCH_SCRIPT, "fetch-servers.sh", server])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(LabError::io("run bash"))?;
    if status.success() {
        return Ok(bundle(server));
    }
    Err(LabError::Missing {
        what: format!("the bundle {server}"),
        why: format!("the fetch script ended with {status}; see its message above"),
        next: "fix that, or install the servers and use --system".into(),
    })
}

/// A freshly initialised data directory, made once per server version and copied from then on.
pub fn template_datadir(servers: &Servers) -> Result<PathBuf, LabError> {
    let stamp = match &servers.root {
        Some(root) => fs::read_to_string(root.join("stamp")).unwrap_or_default(),
        None => servers.mariadbd.display().to_string(),
    };
    let version = stamp
        .lines()
        .find_map(|line| {
            line.strip_prefix("mariadb-server=").or_else(|| line.strip_prefix("mysql-server-core="))
        })
        .unwrap_or("system")
        .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let templates = cache_dir().join("templates");
    let name = match servers.kind {
        ServerKind::MariaDb => "mariadb",
        ServerKind::MySql => "mysql",
    };
    let home = templates.join(format!("{name}-{version}"));
    if home.join("done").is_file() {
        return Ok(home.join("data"));
    }
    fs::create_dir_all(&templates).map_err(LabError::io(format!("make {}", templates.display())))?;
    let _turn = one_at_a_time(&templates)?;
    if home.join("done").is_file() {
        return Ok(home.join("data"));
    }
    let making = home.with_extension(format!("making-{}", std::process::id()));
    let _ = fs::remove_dir_all(&making);
    fs::create_dir_all(&making).map_err(LabError::io(format!("make {}", making.display())))?;
    let data = making.join("data");
    let mut command = match servers.kind {
        ServerKind::MariaDb => mariadb_install_db(servers),
        ServerKind::MySql => mysql_initialize(servers),
    };
    command.env_clear().envs(servers.environment()).stdin(Stdio::null());
    for (name, value) in servers.directory_options() {
        // mariadb-install-db derives the others from basedir and hands unknown options to mariadbd.
        command.arg(format!("--{name}={value}"));
    }
    command.arg(format!("--datadir={}", data.display()));
    // What asynchronous I/O the kernel lends is shared by all servers of a machine, and nothing is gained by it here.
    command.arg("--innodb-use-native-aio=0");
    let output = command.output().map_err(LabError::io(format!("initialise {}", data.display())))?;
    if output.status.success() && servers.kind == ServerKind::MySql {
        make_nobodys(&data)?;
    }
    if !output.status.success() {
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        let _ = fs::remove_dir_all(&making);
        return Err(LabError::Refused {
            what: format!("a data directory of {name} could not be initialised"),
            why: reason(&said),
            next: "run it by hand with the same arguments, or remove the bundle and fetch it again".into(),
        });
    }
    fs::write(making.join("done"), version).map_err(LabError::io("write the template's stamp"))?;
    // One that was left half made has no stamp.
    let _ = fs::remove_dir_all(&home);
    fs::rename(&making, &home).map_err(LabError::io(format!("place {}", home.display())))?;
    Ok(home.join("data"))
}

fn mariadb_install_db(servers: &Servers) -> Command {
    let mut command = Command::new(servers.program("mariadb-install-db"));
    command.args([
        "--no-defaults",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
        "--innodb-log-file-size=16M",
        "--innodb-fast-shutdown=0",
    ]);
    command
}

fn mysql_initialize(servers: &Servers) -> Command {
    let words = servers.command();
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or_else(OsString::new, Clone::clone));
    command.args(words).args(["--no-defaults", "--initialize-insecure", "--secure-file-priv=NULL"]);
    command
}

/// What each MySQL has for itself is not copied: its UUID, without which two of them could not replicate, and the keys and
/// certificates that it makes. It makes what is not there when it starts.
fn make_nobodys(data: &Path) -> Result<(), LabError> {
    let entries = fs::read_dir(data).map_err(LabError::io(format!("list {}", data.display())))?;
    for entry in entries {
        let path = entry.map_err(LabError::io(format!("list {}", data.display())))?.path();
        let is_own = path.file_name().is_some_and(|name| name == "auto.cnf")
            || path.extension().is_some_and(|extension| extension == "pem");
        if is_own {
            fs::remove_file(&path).map_err(LabError::io(format!("remove {}", path.display())))?;
        }
    }
    Ok(())
}

/// Held while a template is made: who else needs it waits, and finds it. Released by the kernel when its holder ends.
fn one_at_a_time(templates: &Path) -> Result<Flock<fs::File>, LabError> {
    let path = templates.join("lock");
    let mut file = fs::File::create(&path).map_err(LabError::io(format!("make {}", path.display())))?;
    let began = Instant::now();
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((again, Errno::EWOULDBLOCK)) if began.elapsed() < TURN_MAX => file = again,
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(LabError::Taken {
                    what: format!("{} is locked", path.display()),
                    why: format!(
                        "another process has been making a data directory for {} s",
                        TURN_MAX.as_secs()
                    ),
                    next: "end that process, or wait for it; then the same command again".into(),
                });
            }
            Err((_, error)) => return Err(LabError::io(format!("lock {}", path.display()))(error.into())),
        }
        std::thread::sleep(TURN_POLL);
    }
}

/// A template takes some seconds, on a busy machine a minute.
const TURN_MAX: Duration = Duration::from_secs(300);
const TURN_POLL: Duration = Duration::from_millis(100);

/// What `mariadb-install-db` wrote: its errors if it names any, for its last lines are advice for everybody.
fn reason(said: &str) -> String {
    const LINES_MAX: usize = 6;
    let errors: Vec<&str> = said.lines().filter(|line| line.contains("ERROR")).take(LINES_MAX).collect();
    if errors.is_empty() {
        said.lines().filter(|line| !line.trim().is_empty()).take(LINES_MAX).collect::<Vec<_>>().join(" | ")
    } else {
        errors.join(" | ")
    }
}

/// Copies a tree with `cp -a`, sharing blocks where the file system can.
pub fn copy_tree(from: &Path, to: &Path) -> Result<(), LabError> {
    let status = Command::new("cp")
        .args(["-a", "--reflink=auto"])
        .arg(from)
        .arg(to)
        .stdin(Stdio::null())
        .status()
        .map_err(LabError::io("run cp"))?;
    if status.success() {
        return Ok(());
    }
    Err(LabError::Refused {
        what: format!("cannot copy {} to {}", from.display(), to.display()),
        why: format!("cp ended with {status}"),
        next: "check the free space of the lab's directory (df -h)".into(),
    })
}
