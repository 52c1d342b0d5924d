//! Tests that capture, for a user who may not: run once more in a user and network namespace.

use std::process::Command;

const INSIDE: &str = "SEALION_TEST_IN_NAMESPACE";

/// Whether this process may capture. If not, `test` was run in a namespace where it may, and passed there.
pub fn may_capture(test: &str) -> bool {
    let Err(why) = capture::can_capture() else { return true };
    assert!(std::env::var_os(INSIDE).is_none(), "this test captures on lo:\n{why}");
    let status = Command::new("unshare")
        .args(["-Urn", "sh", "-c"])
        .arg("PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && exec \"$0\" --exact \"$1\" --nocapture")
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env(INSIDE, "1")
        .status()
        .expect("unshare is there: scripts/setup.sh tools");
    assert!(status.success(), "{test} in a namespace of its own: {status}");
    false
}
