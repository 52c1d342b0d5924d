//! `sealion watch` beside a real server: what it tells Prometheus while a client speaks cleartext, when the server is gone, and when it is
//! frozen.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::rc::Rc;
use std::time::Duration;

use crate::promtool::accepts_metrics;
use crate::support::browser::Browser;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testbed::real::{LabSpec, Program, RealLab, RealWriters, lab_slot, wait_for};

const UP: Duration = Duration::from_secs(60);

/// The value of the series whose name and labels begin so.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find(|line| line.starts_with(series))?.rsplit(' ').next()?.parse().ok()
}

struct Watched {
    lab: Rc<RealLab>,
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
        Self::of(Rc::new(lab), &words)
    }

    fn of(lab: Rc<RealLab>, words: &[&str]) -> Self {
        let mut program = lab.start(words, None);
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
    accepts_metrics(&text);
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

const ROTATION: Duration = Duration::from_secs(300);

/// Certificates of clients, as they are served: server, end and fingerprint in a line each.
fn served(lab: &RealLab) -> Vec<String> {
    let file = lab.home().join("served.prom");
    lab.run(&["watch", "--once", "--look-ms", "0", "--textfile", file.to_str().unwrap()]);
    let text = std::fs::read_to_string(&file).unwrap();
    let is_it = |line: &&str| {
        line.starts_with("sealion_certificate_not_after_timestamp_seconds{")
            && line.contains("use=\"server\",seen=\"wire\"")
    };
    text.lines().filter(is_it).map(str::to_owned).collect()
}

fn days_left(line: &str) -> f64 {
    let end: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    (end - model::Clock::unix_ms(&model::SystemClock) as f64 / 1000.0) / 86_400.0
}

/// A window of an hour that is closed now, and for two hours yet.
fn closed_window(lab: &RealLab) -> String {
    let command = lab.command(&["lab", "exec", "--", "date", "+%H"]);
    let said = Program::start(command).finish(UP).exits(0);
    let hour: u32 = said.stdout.trim().parse().unwrap();
    format!("{:02}:00-{:02}:00", (hour + 3) % 24, (hour + 4) % 24)
}

#[test]
fn certificates_that_end_soon_are_replaced_where_the_inventory_says_so_and_nowhere_else() {
    let _alone = lab_slot();
    let lab = Rc::new(RealLab::up(LabSpec::REPLICAS));
    let enable = ["enable", "replication,clients", "--leaf-days", "10"];
    let hash = lab.plan_hash_of(&enable);
    lab.run_for(&[&enable[..], &["--yes", &hash[..12]]].concat(), &[], ROTATION).exits(0);
    let writers = RealWriters::start_on(&lab, &["n1"]);
    let before = served(&lab);
    assert_eq!(before.len(), 2, "{before:?}");
    assert!(before.iter().all(|line| days_left(line) < 11.0), "{before:?}");
    let inventory = lab.dir.join("sealion.toml");
    let plain = std::fs::read_to_string(&inventory).unwrap();
    let say =
        |words: &str| std::fs::write(&inventory, format!("{plain}\n[watch.rotate]\n{words}\n")).unwrap();
    let once = ["watch", "--once", "--look-ms", "0"];

    lab.now("nothing of it is in the inventory, or what cannot be done, or its time has not come");
    lab.run(&once).exits(0);
    say("what = [\"ca\"]");
    let said = lab.run(&once).exits(2);
    assert!(said.stderr.contains("[watch.rotate]") && said.stderr.contains("\"ca\""), "{said}");
    say("what = [\"clients\"]\ndays_before = 5");
    lab.run(&once).exits(0);
    say(&format!("what = [\"clients\"]\nwindow = \"{}\"", closed_window(&lab)));
    let said = lab.run(&once).exits(0);
    assert!(!said.stderr.contains("certificates end soon"), "{said}");
    // A galera cluster it is not: nothing of that use is here.
    say("what = [\"galera\"]");
    lab.run(&once).exits(0);
    assert_eq!(served(&lab), before);

    lab.now("a change of a person is open: nothing is begun, and nothing of it is gone on with");
    say("what = [\"clients\"]");
    let rotate = ["rotate", "clients"];
    let plan = lab.run(&["plan", "rotate", "clients", "--format", "json"]).exits(0).json();
    let first =
        plan["steps"].as_array().unwrap().iter().find(|step| step["no_op"] == false).unwrap()["id"].clone();
    let hash = lab.plan_hash_of(&rotate);
    let stop = [&rotate[..], &["--yes", &hash[..12], "--stop-after", first.as_str().unwrap()]].concat();
    lab.run_for(&stop, &[], ROTATION).exits(4);
    let said = lab.run(&once).exits(3);
    assert!(said.stderr.contains("were not replaced") && said.stderr.contains("is not finished"), "{said}");
    lab.run_for(&["undo"], &[], ROTATION).exits(0);
    std::fs::write(&inventory, &plain).unwrap();
    assert_eq!(served(&lab), before);

    lab.now("they are replaced, once");
    say("what = [\"clients\"]");
    let words = ["watch", "--every", "2", "--timeout", "30", "--look-ms", "0", "--listen", "127.0.0.1:0"];
    let watched = Watched::of(Rc::clone(&lab), &words);
    let series = |name: &str, more: &str| format!("sealion_{name}{{cluster=\"lab\",{more}}}");
    // A change has more to do than a look, and other labs may be at work beside it.
    let rotated = series("key_rotated_timestamp_seconds", "kind=\"clients\"");
    wait_for(ROTATION, || value(&watched.metrics(), &rotated));
    watched.becomes(&rotated, |at| at > 1e9);
    watched.becomes(&series("rotation_due_certificates", "what=\"clients\""), |due| due < 0.5);
    let last = watched.becomes(LAST, |value| value > 0.0);
    watched.becomes(LAST, |value| value > self::value(&last, LAST).unwrap() + 4.0);
    let text = watched.metrics();
    accepts_metrics(text.split_once("\r\n\r\n").expect("a head and a body").1);
    for (outcome, count) in [("done", 1.0), ("refused", 0.0), ("stopped", 0.0)] {
        let runs = series("rotation_runs_total", &format!("what=\"clients\",outcome=\"{outcome}\""));
        assert_eq!(value(&text, &runs), Some(count), "{text}");
    }
    let ended = watched.program.interrupt(UP).exits(0);
    assert!(ended.stdout.contains("rotation clients: due -> done"), "{ended}");
    assert!(!ended.stderr.contains("is open"), "its own is nobody's to close: {ended}");
    std::fs::write(&inventory, &plain).unwrap();
    let after = served(&lab);
    assert_eq!(after.len(), 2, "{after:?}");
    assert!(after.iter().all(|line| days_left(line) > 390.0 && !before.contains(line)), "{after:?}");
    let outcome = writers.stop_and_audit();
    assert!(outcome.acknowledged > 0, "{outcome:?}");
}
