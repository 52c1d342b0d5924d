//! `scripts/package.sh`: what it makes is installed into roots of its own, run, upgraded and removed; signed, changed and refused; made twice and
//! compared. With `SEALION_BIN` set to the program of `make static` these are the packages that ship, but for their compression.
#![allow(clippy::unwrap_used)]

mod deb;
mod image;
mod release;
mod root;
mod rpm;
mod unit;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use testbed::real::sealion;

/// The time of every file in what is packed here.
const EPOCH: &str = "1700000000";

/// Before every version that there was.
const OLDER: &str = "0.0.9";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs a program that `scripts/setup.sh packages` brings, with whatever end.
fn run(command: &mut Command) -> Output {
    // Where a user has no /sbin in it, dpkg refuses.
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    command.env("PATH", path).output().unwrap_or_else(|error| {
        panic!("{}: {error}; run: scripts/setup.sh packages", command.get_program().display())
    })
}

/// What it prints; it must succeed.
fn text_of(command: &mut Command) -> String {
    let said = run(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(said.status.success(), "{command:?}: {}{}", text(&said.stdout), text(&said.stderr));
    text(&said.stdout)
}

/// The packages of one run.
struct Packages(PathBuf);

impl Packages {
    fn ending(&self, end: &str) -> PathBuf {
        let mut found = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        found
            .find(|path| path.to_string_lossy().ends_with(end))
            .unwrap_or_else(|| panic!("nothing in {} ends in {end}", self.0.display()))
    }
}

fn package(program: &Path, out: &Path) -> Command {
    let mut command = Command::new(repository().join("scripts/package.sh"));
    command
        .arg("--fast")
        .args([program, out])
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .env_remove("MINISIGN_KEY")
        .env_remove("MINISIGN_PASSWORD_FILE");
    command
}

/// A directory that outlives this test, and that its next run empties.
fn kept_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages").join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// sealion, packed once for all tests.
fn packed() -> &'static Packages {
    static PACKED: OnceLock<Packages> = OnceLock::new();
    PACKED.get_or_init(|| {
        let out = kept_dir("this-version");
        text_of(&mut package(&sealion(), &out));
        Packages(out)
    })
}

/// A small static program in the place of sealion: it says who it is and who runs it.
fn stand_in() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let dir = kept_dir("stand-in");
        let source = dir.join("stand-in.c");
        let text = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { printf(\"stand-in uid %d\\n\", (int)getuid()); return 0; }\n";
        std::fs::write(&source, text).unwrap();
        let program = dir.join("stand-in");
        text_of(Command::new("cc").args(["-static", "-o"]).args([&program, &source]));
        program
    })
}

/// The stand-in, packed as an older version.
fn packed_before() -> &'static Packages {
    static PACKED: OnceLock<Packages> = OnceLock::new();
    PACKED.get_or_init(|| {
        let out = kept_dir("older-version");
        let mut command = Command::new(repository().join("scripts/package.sh"));
        command.args(["--fast", "--as", OLDER]).args([stand_in(), &out]).env("SOURCE_DATE_EPOCH", EPOCH);
        text_of(&mut command);
        Packages(out)
    })
}

/// Whether a program needs no library of the machine that runs it.
fn is_static(program: &Path) -> bool {
    !text_of(Command::new("readelf").arg("-lW").arg(program)).contains("INTERP")
}

/// What each package must do once it is installed: the same for both kinds.
fn assert_installed(root: &root::Root, zsh: &str) {
    let at = |path: &str| root.path().join(path);
    assert_eq!(
        text_of(Command::new(at("usr/bin/sealion")).arg("--version")).trim(),
        concat!("sealion ", env!("CARGO_PKG_VERSION"))
    );

    let pages = std::fs::read_dir(repository().join("docs/man")).unwrap().count();
    let installed = std::fs::read_dir(at("usr/share/man/man1")).unwrap();
    assert_eq!(installed.filter(|entry| entry.as_ref().unwrap().path().extension().is_some()).count(), pages);
    for page in ["sealion", "sealion-watch"] {
        let shown =
            text_of(Command::new("man").args(["-P", "cat", page]).env("MANPATH", at("usr/share/man")));
        assert!(shown.contains("sealion") && shown.contains("SYNOPSIS"), "{page}: {shown}");
    }
    for (shell, file) in [
        ("bash", "usr/share/bash-completion/completions/sealion"),
        ("zsh", &format!("{zsh}/_sealion")),
        ("fish", "usr/share/fish/vendor_completions.d/sealion.fish"),
    ] {
        text_of(Command::new(shell).arg("-n").arg(at(file)));
    }

    assert!(at("usr/lib/systemd/system/sealion-watch.service").is_file());
    // Enabled is what has a link in a directory of systemd's.
    let entries = root.entries();
    assert!(!entries.iter().any(|path| path.to_string_lossy().contains(".wants")), "{entries:?}");
    assert!(at("usr/share/sealion/prometheus/sealion.rules.yml").is_file());

    // Nothing of the machine that built it is in what people read.
    let home = std::env::var("HOME").unwrap();
    for path in entries
        .iter()
        .filter(|path| path.starts_with("usr/share") && path.extension().is_none_or(|end| end != "gz"))
    {
        let path = root.path().join(path);
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                home == "/" || memchr::memmem::find(&bytes, home.as_bytes()).is_none(),
                "{} has the home directory of this machine",
                path.display()
            );
        }
    }
}
