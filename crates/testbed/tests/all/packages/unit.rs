//! The unit: systemd finds nothing wrong with it, and its exposure is what the book says.

use std::process::Command;

use super::root::Root;
use super::{packed_before, repository, text_of};

/// Units of systemd's own that every service refers to.
const SYSTEMS_UNITS: &str = "/usr/lib/systemd/system";

#[test]
fn the_unit_is_clean_and_its_exposure_is_told() {
    let root = Root::new();
    root.dpkg(&["-i", packed_before().ending(".deb").to_str().unwrap()]);
    let own = root.path().join("usr/lib/systemd/system");
    text_of(Command::new("cp").args(["-an", &format!("{SYSTEMS_UNITS}/.")]).arg(&own));
    let analyze = || {
        let mut command = Command::new("systemd-analyze");
        command
            .arg(format!("--root={}", root.path().display()))
            .env("MANPATH", root.path().join("usr/share/man"))
            .env("SYSTEMD_COLORS", "0");
        command
    };
    let said = super::run(analyze().args(["verify", "sealion-watch.service"]));
    let text = [said.stdout, said.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(said.status.success(), "{text}");
    assert!(!text.contains("sealion"), "{text}");

    let said = text_of(analyze().args(["security", "--offline=true", "sealion-watch.service"]));
    let exposure = said.split("exposure level for sealion-watch.service: ").nth(1).expect("a number");
    let exposure = exposure.split_whitespace().next().unwrap();
    let book = std::fs::read_to_string(repository().join("docs/src/tasks/watch.md")).unwrap();
    assert!(
        book.contains(&format!("exposure level: {exposure}")),
        "docs/src/tasks/watch.md names another exposure than {exposure}"
    );
}
