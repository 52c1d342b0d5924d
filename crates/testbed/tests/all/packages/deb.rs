//! The .deb: its life in a Debian root, and what lintian says of it.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::root::Root;
use super::{assert_installed, packed, packed_before, text_of};

#[test]
fn a_deb_is_installed_upgraded_and_leaves_nothing() {
    let root = Root::new();
    let empty = root.entries();
    let at = |path: &str| root.path().join(path);

    root.dpkg(&["-i", packed_before().ending(".deb").to_str().unwrap()]);
    assert!(text_of(&mut Command::new(at("usr/bin/sealion"))).starts_with("stand-in"));
    assert_eq!(root.asked_of_systemctl(), ["daemon-reload"]);

    root.dpkg(&["-i", packed().ending(".deb").to_str().unwrap()]);
    assert_installed(&root, "usr/share/zsh/vendor-completions");
    assert!(at("usr/share/doc/sealion/copyright").is_file());
    // The script of the older package that runs at the end, then that of the newer one: nothing is enabled or started.
    assert_eq!(
        root.asked_of_systemctl(),
        ["daemon-reload", "daemon-reload", "try-restart sealion-watch.service"]
    );
    assert_eq!(root.dpkg(&["-V", "sealion"]), "");
    let version = root.dpkg(&["-s", "sealion"]);
    assert!(version.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"), "\n")), "{version}");

    // As systemd makes them for the service, and the copy of a journal on a node.
    let (kept, link) = (at("var/lib/private/sealion-watch"), at("var/lib/sealion-watch"));
    std::fs::create_dir_all(&kept).unwrap();
    std::fs::write(kept.join("watch.sqlite"), "states").unwrap();
    symlink("private/sealion-watch", &link).unwrap();
    let journal = at("var/lib/sealion/20260101T000000000-enable.journal");
    std::fs::create_dir_all(&journal).unwrap();

    root.dpkg(&["-r", "sealion"]);
    assert_eq!(
        root.asked_of_systemctl(),
        ["--no-reload disable --now sealion-watch.service", "daemon-reload"]
    );
    assert!(
        kept.join("watch.sqlite").is_file(),
        "a package that is removed keeps its data until it is purged"
    );
    assert!(!at("usr/bin/sealion").exists());

    root.dpkg(&["-P", "sealion"]);
    assert!(!kept.exists() && !link.is_symlink());
    assert!(journal.is_dir(), "without its journal a change cannot be undone");
    std::fs::remove_dir_all(at("var/lib/sealion")).unwrap();
    std::fs::remove_dir(at("var/lib/private")).unwrap();
    assert_eq!(root.entries(), empty);
}

#[test]
fn lintian_finds_no_error_in_the_deb() {
    // Of the stand-in: all files but the program are the same, and lintian reads each byte of that.
    let deb = packed_before().ending(".deb");
    let said = text_of(Command::new("lintian").args(["--fail-on", "error,warning", "--allow-root"]).arg(deb));
    assert!(!said.lines().any(|line| line.starts_with("E:")), "{said}");
}
