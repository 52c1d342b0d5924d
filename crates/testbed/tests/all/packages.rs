//! `scripts/package.sh`: the package of the program that was built is installed into a root of its own, run, upgraded and removed.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use testbed::real::{files_below, sealion};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pack(out: &Path) -> PathBuf {
    let said = Command::new(repository().join("scripts/package.sh"))
        .arg("--fast")
        .arg(sealion())
        .arg(out)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let text = String::from_utf8(said.stdout).unwrap();
    PathBuf::from(text.lines().find(|line| line.contains(".deb")).unwrap())
}

/// A root with a list of packages of its own, so that no right and nothing of this machine is needed.
struct Root(tempfile::TempDir);

impl Root {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let state = root.path().join("var/lib/dpkg");
        for name in ["info", "updates", "triggers"] {
            std::fs::create_dir_all(state.join(name)).unwrap();
        }
        for name in ["status", "available"] {
            std::fs::write(state.join(name), "").unwrap();
        }
        Self(root)
    }

    fn dpkg(&self, words: &[&str]) {
        let said = Command::new("dpkg")
            .arg(format!("--root={}", self.0.path().display()))
            .args(["--force-not-root", "--log=/dev/null"])
            .args(words)
            // Where a user has no /sbin in it, dpkg refuses.
            .env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()))
            .output()
            .expect("dpkg runs: apt-get install dpkg");
        assert!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
    }

    /// All but what dpkg keeps for itself.
    fn files(&self) -> Vec<PathBuf> {
        let all = files_below(self.0.path()).into_iter().filter_map(|path| {
            let path = path.strip_prefix(self.0.path()).unwrap().to_owned();
            (!path.starts_with("var/lib/dpkg")).then_some(path)
        });
        let mut all: Vec<_> = all.collect();
        all.sort();
        all
    }
}

#[test]
fn a_package_is_installed_runs_and_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let package = pack(&home.path().join("one"));
    let again = pack(&home.path().join("two"));
    assert!(std::fs::read(&package).unwrap() == std::fs::read(&again).unwrap(), "two builds differ");

    let root = Root::new();
    let package = package.to_str().unwrap();
    for words in [["-i", package], ["-i", package]] {
        root.dpkg(&words);
        let files = root.files();
        let has = |path: &str| files.contains(&PathBuf::from(path));
        for path in [
            "usr/bin/sealion",
            "usr/share/bash-completion/completions/sealion",
            "usr/share/doc/sealion/copyright",
            "usr/share/man/man1/sealion.1.gz",
        ] {
            assert!(has(path), "{path} is missing: {files:?}");
        }
        let pages = std::fs::read_dir(repository().join("docs/man")).unwrap().count();
        assert_eq!(files.iter().filter(|path| path.starts_with("usr/share/man/man1")).count(), pages);
        let said = Command::new(root.0.path().join("usr/bin/sealion")).arg("--version").output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&said.stdout).trim(),
            concat!("sealion ", env!("CARGO_PKG_VERSION"))
        );
        // Nothing of the machine that built it is in what people read.
        let home = std::env::var("HOME").unwrap();
        let text = files
            .iter()
            .filter(|path| !path.starts_with("usr/bin") && path.extension().is_none_or(|end| end != "gz"));
        for path in text {
            let bytes = std::fs::read(root.0.path().join(path)).unwrap();
            assert!(
                memchr::memmem::find(&bytes, home.as_bytes()).is_none() || home == "/",
                "{}",
                path.display()
            );
        }
        // Enabled is what has a link in a directory of systemd's; the package brings none.
        assert!(!files.iter().any(|path| path.to_string_lossy().contains(".wants/")), "{files:?}");
    }
    root.dpkg(&["-V", "sealion"]);
    root.dpkg(&["-P", "sealion"]);
    assert_eq!(root.files(), Vec::<PathBuf>::new());
}
