//! What Prometheus itself says of what we give it: `promtool` over the alert rules, their tests, and metrics of a running `sealion watch`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn promtool() -> PathBuf {
    let installed = PathBuf::from("/usr/bin/promtool");
    let path = match std::env::var_os("SEALION_PROMTOOL") {
        Some(path) => path.into(),
        None if installed.is_file() => installed,
        None => lab::bundle::bundle("prometheus").join("usr/bin/promtool"),
    };
    assert!(path.is_file(), "there is no {}; run: sealion lab fetch prometheus", path.display());
    path
}

/// `promtool check metrics`: names, types, help, units.
#[track_caller]
pub fn accepts_metrics(text: &str) {
    let mut child = Command::new(promtool())
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    let said = child.wait_with_output().expect("it ends");
    let complaints = [said.stdout, said.stderr].concat();
    let complaints = String::from_utf8_lossy(&complaints);
    assert!(said.status.success() && complaints.is_empty(), "{complaints}\n{text}");
}

#[test]
fn a_wrong_metric_is_not_accepted() {
    let wrong = std::panic::catch_unwind(|| accepts_metrics("no_help 1\n"));
    assert!(wrong.is_err(), "it accepts anything");
}

#[test]
fn rules_and_their_tests_pass() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/prometheus");
    for (words, file) in
        [(["check", "rules"], "sealion.rules.yml"), (["test", "rules"], "sealion.rules.test.yml")]
    {
        let said =
            Command::new(promtool()).args(words).arg(file).current_dir(&rules).output().expect("it starts");
        let text = [said.stdout, said.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(said.status.success() && text.contains("SUCCESS"), "{text}");
    }
}
