//! The .rpm: its life in a root, and what its header says.

use std::process::Command;

use super::root::Root;
use super::{EPOCH, assert_installed, packed, packed_before, text_of};

#[test]
fn an_rpm_is_installed_upgraded_and_leaves_nothing() {
    let root = Root::new();
    let empty = root.entries();
    let (before, now) = (packed_before().ending(".rpm"), packed().ending(".rpm"));

    // --nodeps: that there is a shell, no package says in this root.
    root.rpm(&["-i", "--nodeps", before.to_str().unwrap()]);
    assert!(text_of(&mut Command::new(root.path().join("usr/bin/sealion"))).starts_with("stand-in"));
    assert_eq!(root.asked_of_systemctl(), ["daemon-reload"]);

    root.rpm(&["-U", "--nodeps", now.to_str().unwrap()]);
    assert_installed(&root, "usr/share/zsh/site-functions");
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        assert!(root.path().join("usr/share/licenses/sealion").join(name).is_file());
    }
    assert_eq!(
        root.asked_of_systemctl(),
        ["daemon-reload", "daemon-reload", "try-restart sealion-watch.service"]
    );
    assert_eq!(
        root.rpm(&["-q", "--qf", "%{VERSION}\n", "sealion"]),
        concat!(env!("CARGO_PKG_VERSION"), "\n")
    );
    // Sizes, digests and modes; owners are those of the user namespace.
    assert_eq!(root.rpm(&["-V", "--nodeps", "--nouser", "--nogroup", "sealion"]), "");

    root.rpm(&["-e", "--nodeps", "sealion"]);
    assert_eq!(
        root.asked_of_systemctl(),
        ["--no-reload disable --now sealion-watch.service", "daemon-reload"]
    );
    assert_eq!(root.entries(), empty);
}

#[test]
fn an_rpm_has_whole_digests_and_nothing_of_the_machine_that_made_it() {
    let rpm = packed().ending(".rpm");
    let checked = text_of(Command::new("rpm").arg("-K").arg(&rpm));
    assert!(checked.trim_end().ends_with("digests OK"), "{checked}");

    let query = |format: &str| text_of(Command::new("rpm").args(["-qp", "--qf", format]).arg(&rpm));
    assert_eq!(query("%{BUILDHOST} %{BUILDTIME} %{PAYLOADCOMPRESSOR}"), format!("sealion {EPOCH} gzip"));
    let owners = query("[%{FILEUSERNAME}:%{FILEGROUPNAME} %{FILEMTIMES}\n]");
    assert!(owners.lines().all(|line| line == format!("root:root {EPOCH}")), "{owners}");
    // A shell for its scripts, and what rpm itself has to know; no library.
    let needs = query("[%{REQUIRENAME}\n]");
    assert!(needs.lines().all(|line| line == "/bin/sh" || line.starts_with("rpmlib(")), "{needs}");
}
