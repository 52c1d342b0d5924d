//! `sealion watch` beside a real server: what it tells Prometheus while a client speaks cleartext, when the server is gone, and when it is
//! frozen.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::support::browser::Browser;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testbed::real::{LabSpec, Program, RealLab, lab_slot, wait_for};

const UP: Duration = Duration::from_secs(60);

/// The value of the series whose name and labels begin so.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find(|line| line.starts_with(series))?.rsplit(' ').next()?.parse().ok()
}

struct Watched {
    lab: RealLab,
    program: Program,
    port: u16,
}

impl Watched {
    fn start(lab: RealLab) -> Self {
        // The first time it fails, and is told the same again.
        let hook = lab.home().join("hook");
        let text = "#!/bin/sh\ncd \"${0%/*}\" || exit 9\n[ -e failed ] || { : > failed; echo no way to chat >&2; exit 7; }\n\
                    cat >> told\necho >> told\nenv >> told-env\n";
        std::fs::write(&hook, text).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o700)).unwrap();
        let hook = format!("'{}' --to dba", hook.display());
        let words = [
            "watch",
            "--every",
            "2",
            "--timeout",
            "6",
            "--look-ms",
            "800",
            "--listen",
            "127.0.0.1:0",
            "--at-rest",
            "--on-change",
            &hook,
        ];
        let mut program = lab.start(&words, None);
        assert!(program.says("serving http://127.0.0.1:", UP), "{}", program.stderr());
        let said = program.stderr();
        let port = said.split("serving http://127.0.0.1:").nth(1).unwrap().split('/').next().unwrap();
        let port = port.parse().unwrap();
        Self { lab, program, port }
    }

    /// Asked inside of the lab's network.
    fn metrics(&self) -> String {
        let ask = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{}; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
            self.port
        );
        let command = self.lab.command(&["lab", "exec", "--", "bash", "-c", &ask]);
        Program::start(command).finish(UP).exits(0).stdout
    }

    /// Waits until this series has this value.
    #[track_caller]
    fn becomes(&self, series: &str, wanted: impl Fn(f64) -> bool) -> String {
        let mut last = String::new();
        wait_for(UP, || {
            last = self.metrics();
            value(&last, series).is_some_and(&wanted).then_some(())
        })
        .unwrap_or_else(|| panic!("{series} did not become that\n{last}\n{}", self.program.stderr()));
        last
    }
}

const LINK: &str = "sealion_link_state{cluster=\"lab\",from=\"client\",to=\"n1\",kind=\"client\",state=";
const LAST: &str = "sealion_scan_last_success_timestamp_seconds{cluster=\"lab\",server=\"n1\"}";
const TIMEOUTS: &str = "sealion_scan_errors_total{cluster=\"lab\",reason=\"timeout\"}";
const NO_ANSWERS: &str = "sealion_scan_errors_total{cluster=\"lab\",server=\"n1\",reason=\"no_answer\"}";

#[test]
fn what_is_told_is_of_now_or_unknown() {
    let _alone = lab_slot();
    let lab = RealLab::up(LabSpec::MARIADB);
    let watched = Watched::start(lab);
    // Nobody speaks: nobody knows.
    let text = watched.becomes(&format!("{LINK}\"unknown\"}}"), |value| value > 0.5);
    assert_eq!(value(&text, &format!("{LINK}\"encrypted\"}}")), Some(0.0), "{text}");
    assert!(text.contains("200 OK") && text.contains("version=0.0.4"), "{text}");
    // A server without any encryption at rest says so, and the program was told at its second run.
    let at_rest = |state: &str| {
        format!(
            "sealion_at_rest_state{{cluster=\"lab\",server=\"n1\",what=\"tablespaces\",state=\"{state}\"}}"
        )
    };
    // A look that took too long on a busy machine says nothing of it.
    let text = watched.becomes(&at_rest("plain"), |value| value > 0.5);
    assert_eq!(value(&text, &at_rest("unknown")), Some(0.0), "{text}");
    let runs = |outcome: &str| format!("sealion_hook_runs_total{{cluster=\"lab\",outcome=\"{outcome}\"}}");
    let text = watched.becomes(&runs("ok"), |value| value >= 1.0);
    assert_eq!(value(&text, &runs("failed")), Some(1.0), "{text}");
    let said = watched.program.stderr();
    assert!(said.contains("was not told of") && said.contains("no way to chat"), "{said}");
    let since = "sealion_unknown_since_timestamp_seconds{cluster=\"lab\",what=\"link\",subject=\"client client - n1\"}";
    watched.becomes(since, |at| at > 1e9);
    // A client in cleartext.
    let talkers = watched.lab.talk(Duration::from_millis(50));
    let text = watched.becomes(&format!("{LINK}\"plain\"}}"), |value| value > 0.5);
    assert_eq!(value(&text, since), None, "it is known now\n{text}");
    // Its server is frozen: what was seen is not what is.
    let pid = watched.lab.file().nodes.first().map(|node| node.dir.join("run/pid")).unwrap();
    let pid = std::fs::read_to_string(&pid).unwrap_or_else(|error| panic!("{}: {error}", pid.display()));
    let pid = Pid::from_raw(pid.trim().parse().unwrap());
    kill(pid, Signal::SIGSTOP).unwrap();
    let text = watched.becomes(&format!("{LINK}\"unknown\"}}"), |value| value > 0.5);
    let before = value(&text, LAST).unwrap();
    let errors = |text: &str| value(text, TIMEOUTS).unwrap() + value(text, NO_ANSWERS).unwrap();
    assert!(errors(&text) >= 1.0, "{text}");
    let later = watched.becomes(TIMEOUTS, |value| value > 0.0);
    assert_eq!(value(&later, LAST), Some(before), "the last success stays where it was\n{later}");
    kill(pid, Signal::SIGCONT).unwrap();
    watched.becomes(LAST, |value| value > before);
    watched.becomes(&format!("{LINK}\"plain\"}}"), |value| value > 0.5);
    talkers.stop();
    watched.lab.lab(&["stop", "n1"]).exits(0);
    let text = watched.becomes(NO_ANSWERS, |value| value >= 1.0);
    assert_eq!(value(&text, &format!("{LINK}\"plain\"}}")), Some(0.0), "{text}");

    // Another one beside it would undo its states.
    let refused = watched.lab.run(&["watch", "--once", "--look-ms", "0"]).exits(6);
    assert!(refused.stderr.contains("another sealion watch keeps the cluster lab"), "{refused}");
    pages(&watched.lab);
    let Watched { lab, program, .. } = watched;
    let ended = program.interrupt(UP);
    assert_eq!(ended.code, Some(0), "{ended}");
    // What was told is kept, as changes; the text file is the same text; once, a silent server is an exit code. A file of somebody else's is not written over.
    let file = lab.home().join("sealion.prom");
    let said = lab.run(&["watch", "--once", "--look-ms", "0", "--textfile", file.to_str().unwrap()]).exits(3);
    assert!(said.stdout.contains("1 server, 1 silent, 0 not asked"), "{said}");
    let text = std::fs::read_to_string(&file).unwrap();
    let theirs = lab.dir.join("operator.cnf");
    let refused =
        lab.run(&["watch", "--once", "--look-ms", "0", "--textfile", theirs.to_str().unwrap()]).exits(2);
    assert!(refused.stderr.contains("is not written over"), "{refused}");
    assert_eq!(value(&text, &format!("{LINK}\"unknown\"}}")), Some(1.0), "{text}");
    assert!(value(&text, NO_ANSWERS).unwrap() >= 2.0, "counted on by another process\n{text}");
    let left: Vec<_> = std::fs::read_dir(lab.home()).unwrap().flatten().map(|one| one.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".prom.")), "{left:?}");

    // The program heard of each change at least once, and of no password.
    let told = std::fs::read_to_string(lab.home().join("told")).unwrap();
    let events: Vec<report::shape::WatchEventReport> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert_eq!(events.first().map(|event| event.attempt), Some(2), "{told}");
    let has = |subject: &str, from: &str, to: &str| {
        events.iter().flat_map(|event| &event.changes).any(|row| {
            row.subject == subject && row.from.as_deref() == Some(from) && row.to.as_deref() == Some(to)
        })
    };
    assert!(has("client client - n1", "unknown", "plain") && has("n1", "up", "silent"), "{told}");
    let told_env = std::fs::read_to_string(lab.home().join("told-env")).unwrap();
    assert!(told_env.contains("SEALION_SUMMARY=") && told_env.contains("SEALION_CLUSTER=lab"), "{told_env}");

    for word in [
        "link client client - n1: unknown -> plain",
        "link client client - n1: plain -> unknown",
        "server n1: up -> silent",
    ] {
        assert!(ended.stdout.contains(word), "{word}\n{ended}");
    }
    // The operator's password is in nothing that was said.
    let login = std::fs::read_to_string(lab.dir.join("operator.cnf")).unwrap();
    let password = login.lines().find_map(|line| line.strip_prefix("password=")).unwrap();
    for said in [&ended.stdout, &ended.stderr, &text, &told, &told_env] {
        assert!(!said.contains(password));
    }
}

/// What was kept, in a browser: in by the printed address, once.
fn pages(lab: &RealLab) {
    let mut command = std::process::Command::new(&lab.binary);
    command.args(["web", "--listen", "127.0.0.1:0", "--inventory"]).arg(lab.dir.join("sealion.toml"));
    let web = Program::start(command);
    let address =
        wait_for(UP, || web.stdout().lines().next().map(str::to_owned)).expect("it prints its address");
    let (_, token) = address.split_once('#').expect("an address with a token");
    let mut browser = Browser::start(&lab.home().join("first"));
    browser.open(&address);
    browser.wait_for("location.pathname === '/' && document.body.textContent.includes('1 silent')");
    assert_eq!(browser.evaluate("document.querySelectorAll('a[href=\"/c/lab\"]').length"), 1);
    browser.evaluate("document.querySelector('a[href=\"/c/lab\"]').click()");
    browser.wait_for("location.pathname === '/c/lab' && document.body.textContent.includes('silent')");
    assert_eq!(browser.complaints(), [""; 0]);
    let mut again = Browser::start(&lab.home().join("second"));
    again.open(&address);
    again.wait_for("document.body.textContent.includes('This token was used before')");
    assert!(!again.evaluate("location.href").to_string().contains(token), "it is in no history");
    drop((browser, again));
    web.interrupt(UP).exits(0);
}
