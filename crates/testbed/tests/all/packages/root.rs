//! A root to install into: Debian's shell and `rm`, a `systemctl` that notes what it is asked for, and lists of packages of its own. No right of
//! this machine is needed, since installers run in a user namespace, and nothing of it is touched.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::text_of;

/// What installers keep for themselves.
const BOOKS: [&str; 3] = ["var/lib/dpkg", "var/lib/rpm", "systemctl.log"];

pub struct Root(tempfile::TempDir);

impl Root {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        // systemd counts as running where this directory is.
        for dir in ["usr/bin", "usr/lib", "usr/lib64", "usr/sbin", "run/systemd/system", "var/lib/rpm"] {
            std::fs::create_dir_all(at(dir)).unwrap();
        }
        // Directories that are there on every system; of an empty one, an installer would think that it is the package's alone.
        for dir in
            ["usr/lib/systemd/system", "usr/share/doc", "usr/share/licenses", "usr/share/man/man1", "var/tmp"]
        {
            std::fs::create_dir_all(at(dir)).unwrap();
            std::fs::write(at(dir).join("of-another-package"), "").unwrap();
        }
        for name in ["bin", "lib", "lib64", "sbin"] {
            symlink(format!("usr/{name}"), at(name)).unwrap();
        }
        for program in ["/bin/sh", "/bin/rm"] {
            let mut needed = vec![PathBuf::from(program)];
            let libraries = text_of(Command::new("ldd").arg(program));
            needed
                .extend(libraries.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from));
            for path in needed {
                let to = root.path().join(path.strip_prefix("/").unwrap());
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                std::fs::copy(&path, to).unwrap();
            }
        }
        let systemctl = at("usr/bin/systemctl");
        std::fs::write(&systemctl, "#!/bin/sh\necho \"$*\" >>/systemctl.log\n").unwrap();
        std::fs::set_permissions(&systemctl, std::fs::Permissions::from_mode(0o755)).unwrap();
        for name in ["info", "updates", "triggers"] {
            std::fs::create_dir_all(at("var/lib/dpkg").join(name)).unwrap();
        }
        for name in ["status", "available"] {
            std::fs::write(at("var/lib/dpkg").join(name), "").unwrap();
        }
        Self(root)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn dpkg(&self, words: &[&str]) -> String {
        let root = format!("--root={}", self.path().display());
        installer(&[&["dpkg", &root, "--log=/dev/null"], words].concat())
    }

    pub fn rpm(&self, words: &[&str]) -> String {
        let root = self.path().display().to_string();
        installer(&[&["rpm", "--root", &root, "--dbpath", "/var/lib/rpm"], words].concat())
    }

    /// What `systemctl` was asked for since this was called last.
    pub fn asked_of_systemctl(&self) -> Vec<String> {
        let log = self.path().join("systemctl.log");
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let _ = std::fs::remove_file(log);
        text.lines().map(str::to_owned).collect()
    }

    /// Everything, directories too, but for what installers keep for themselves.
    pub fn entries(&self) -> Vec<PathBuf> {
        let (mut found, mut open) = (Vec::new(), vec![self.path().to_owned()]);
        while let Some(dir) = open.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let inside = path.strip_prefix(self.path()).unwrap().to_owned();
                if BOOKS.iter().any(|book| inside.starts_with(book)) {
                    continue;
                }
                if path.is_dir() && !path.is_symlink() {
                    open.push(path);
                }
                found.push(inside);
            }
        }
        found.sort();
        found
    }
}

/// An installer as root of a user namespace, which may do to a root of ours what it wants.
fn installer(words: &[&str]) -> String {
    text_of(Command::new("unshare").arg("--map-root-user").args(words))
}
