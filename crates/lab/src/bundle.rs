//! Where the servers come from: a bundle without root in the cache, or what the system has.

use std::env;
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

/// The programs of one MariaDB + Galera.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Servers {
    /// `None` for what the system has installed.
    pub root: Option<PathBuf>,
    pub mariadbd: PathBuf,
    pub galera: PathBuf,
}

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
            return Ok(Self { root: None, mariadbd: mariadbd.into(), galera: galera.into() });
        }
        if !system {
            let root = bundle_dir();
            if root.join("stamp").is_file() {
                return Ok(Self::in_bundle(root));
            }
        }
        let installed = Self {
            root: None,
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
        Self { root: Some(root), mariadbd, galera }
    }

    /// PATH and LD_LIBRARY_PATH under which the servers and their SST scripts find each other.
    pub fn environment(&self) -> Vec<(String, String)> {
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
            Some(root) => ["usr/bin", "usr/sbin"]
                .iter()
                .map(|dir| root.join(dir).join(name))
                .find(|path| path.is_file())
                .unwrap_or_else(|| PathBuf::from(name)),
            None => PathBuf::from(name),
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
        .find_map(|line| line.strip_prefix("mariadb-server="))
        .unwrap_or("system")
        .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let templates = cache_dir().join("templates");
    let home = templates.join(format!("mariadb-{version}"));
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
    let mut command = Command::new(servers.program("mariadb-install-db"));
    command.env_clear().envs(servers.environment()).stdin(Stdio::null());
    command.args([
        "--no-defaults",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
    ]);
    for (name, value) in servers.directory_options() {
        // mariadb-install-db derives the others from basedir and hands unknown options to mariadbd.
        command.arg(format!("--{name}={value}"));
    }
    command.arg(format!("--datadir={}", making.join("data").display()));
    // What asynchronous I/O the kernel lends is shared by all servers of a machine, and nothing is gained by it here.
    command.args(["--innodb-log-file-size=16M", "--innodb-fast-shutdown=0", "--innodb-use-native-aio=0"]);
    let output = command.output().map_err(LabError::io("run mariadb-install-db"))?;
    if !output.status.success() {
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        let _ = fs::remove_dir_all(&making);
        return Err(LabError::Refused {
            what: "mariadb-install-db failed".into(),
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
