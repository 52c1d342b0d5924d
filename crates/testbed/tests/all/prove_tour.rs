//! `sealion prove tour` as a person runs it: each attack succeeds and is stopped, by what was seen; nothing secret is told; and
//! nothing is left behind.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testbed::real::bundled::bundle;
use testbed::real::{Program, lab_slot, sealion, short_dir};

const WHOLE_S_MAX: u64 = 240;

/// Each lesson with words that only its success, and only its failure, brings: taken from bytes that passed, not from a verdict.
const LESSONS: &[(&str, &str, &str)] = &[
    ("sniff-plain", "the canary was found in a statement, in a result row", "nothing readable was captured"),
    ("sniff-compressed", "the canary was found in a statement, in a result row", "bytes were TLS records"),
    ("strip-mariadb", "read: result rows", "the client sent nothing after the greeting"),
    ("strip-mysql", "read: result rows", "the client sent nothing after the greeting"),
    (
        "strip-strict-server",
        "the server rejected the login with error",
        "the client sent nothing after the greeting",
    ),
    ("ca-self-signed", "login completed over TLS (AT)", "closed in the TLS handshake"),
    ("ca-unknown", "login completed over TLS (AT)", "closed in the TLS handshake"),
    ("wrong-name", "login completed over TLS (AT)", "closed in the TLS handshake"),
    ("rsa-key", "password obtained; it is that of the account", "the client used a key of its own"),
    ("rsa-key-remembered", "password obtained; it is that of the account", "the login was over TLS"),
    ("backup-traffic", "the canary was found in a result row", "nothing readable was captured"),
    ("login-path-redirection", "the captured response can be cracked offline", "closed in the TLS handshake"),
    ("cleartext-plugin", "(PW)", "closed after the greeting"),
    ("local-infile", "(FILE)", "result at the rogue server"),
    ("network-storage", "the row is readable in the file of the table", "the row is not in the"),
];

fn all_saw(act: &Value) -> String {
    let lines = act["saw"].as_array().expect("a list").iter();
    lines.map(|line| line.as_str().expect("a sentence")).collect::<Vec<_>>().join("\n")
}

/// Processes of the bundles' servers.
fn servers() -> usize {
    let names = ["mysql-9.7", "galera-10.11"].map(|name| bundle(name).display().to_string());
    let processes = std::fs::read_dir("/proc").expect("procfs").flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .map(|words| String::from_utf8_lossy(&words).into_owned())
        .filter(|words| words.contains("sealion-tour-") && names.iter().any(|name| words.contains(name)))
        .count()
}

#[test]
fn each_attack_of_the_tour_succeeds_and_is_stopped_by_what_stops_it() {
    let _alone = lab_slot();
    let home = short_dir();
    let (page, out) = (home.path().join("tour.html"), home.path().join("tour.json"));
    // Of its own: what is left behind there is the tour's.
    let temporary = home.path().join("t");
    std::fs::create_dir(&temporary).expect("writable");
    let mut command = Command::new(sealion());
    command.args(["prove", "tour", "--html"]).arg(&page).arg("--out").arg(&out).env("TMPDIR", &temporary);
    let said = Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX)).exits(0);
    let text = std::fs::read_to_string(&out).expect("it was written");
    let report: Value = serde_json::from_str(&text).expect("json");
    assert_eq!((&report["is_complete"], &report["is_shown"]), (&true.into(), &true.into()));
    assert_eq!(report["chapters"].as_array().map(Vec::len), Some(6));
    let lessons: Vec<&Value> = report["chapters"]
        .as_array()
        .expect("chapters")
        .iter()
        .flat_map(|chapter| chapter["lessons"].as_array().expect("lessons"))
        .collect();
    let ids: Vec<&str> = lessons.iter().filter_map(|lesson| lesson["id"].as_str()).collect();
    assert_eq!(ids, LESSONS.iter().map(|(id, ..)| *id).collect::<Vec<_>>());
    for (lesson, (id, attack, again)) in lessons.iter().zip(LESSONS) {
        for (act, words, succeeded) in [("attack", attack, true), ("again", again, false)] {
            let one = &lesson[act];
            assert!(all_saw(one).contains(words), "{id} {act}: {words} is not in {one:#}");
            assert_eq!(one["succeeded"], succeeded, "{id} {act}: {one:#}");
        }
        assert!(!all_saw(&lesson["again"]).contains("canary was found"), "{id}: {lesson:#}");
    }
    // What was not played says so.
    assert!(text.contains("NDB Cluster was not tested"));
    let page = std::fs::read_to_string(&page).expect("it was written").replace("&#x27;", "'");
    for lesson in lessons {
        let title = lesson["title"].as_str().expect("a title");
        assert!(page.contains(title) && said.stdout.contains(title), "{title}");
    }
    let wide: Vec<&str> = said.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "wider than a terminal: {wide:#?}");
    // The canaries' and accounts' own words are nowhere, nor is this machine.
    let whole = format!("{}{}{text}{page}", said.stdout, said.stderr);
    let temporary = temporary.display().to_string();
    for word in ["pw-SLCANARY", "IDENTIFIED BY", "sealion-tour-", temporary.as_str()] {
        assert!(!whole.contains(word), "{word} is told");
    }
    let left: Vec<_> = std::fs::read_dir(temporary).expect("still there").flatten().collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    assert_eq!(servers(), 0, "a server still runs");
}

#[test]
fn one_part_is_played_alone_and_a_kill_leaves_no_server() {
    let _alone = lab_slot();
    let home = short_dir();
    let command = |words: &[&str]| {
        let mut command = Command::new(sealion());
        command.args(["prove", "tour"]).args(words).env("TMPDIR", home.path());
        Program::start(command)
    };
    let said =
        command(&["--only", "host-names", "--format", "json"]).finish(Duration::from_secs(WHOLE_S_MAX));
    let report = said.exits(0).json();
    assert_eq!(report["chapters"].as_array().map(Vec::len), Some(1), "{report:#}");
    command(&["--only", "nothing"]).finish(Duration::from_secs(WHOLE_S_MAX)).exits(2);

    let running = command(&["--only", "sniffing"]);
    let up = testbed::real::wait_for(Duration::from_secs(60), || (servers() > 0).then_some(()));
    assert!(up.is_some(), "no server was started");
    running.kill();
    let gone = testbed::real::wait_for(Duration::from_secs(10), || (servers() == 0).then_some(()));
    assert!(gone.is_some(), "a server outlives the tour");
}
