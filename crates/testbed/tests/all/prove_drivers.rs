//! `sealion prove clients` and `prove config --confirm` with all that it knows, installed from the registries of their languages. Minutes and a network, so
//! it is run by `make deep` alone; there a driver that is missing fails, with what it needs.

use std::process::Command;
use std::time::Duration;

use crate::support::config::{FIXTURES, HEADLINES, PASSWORD, modes};
use report::shape::{ProveClientsReport, ProveConfigReport, ProveModeRow};
use testbed::real::{Program, ProgramOutput, lab_slot, sealion, short_dir};

const WHOLE_S_MAX: u64 = 3600;
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/clients.md");

fn mode<'a>(report: &'a ProveClientsReport, client: &str, mode: &str) -> &'a ProveModeRow {
    let one = report.clients.iter().find(|one| one.client == client).expect("it is in the report");
    one.modes.iter().find(|one| one.mode == mode).unwrap_or_else(|| panic!("{client} has no {mode}"))
}

/// All but the line with the day.
fn rows(page: &str) -> Vec<&str> {
    page.lines().filter(|line| !line.starts_with("Made by ")).collect()
}

#[test]
#[ignore = "installs thirty drivers and takes minutes: make deep"]
fn all_drivers_do_what_the_page_says() {
    let _alone = lab_slot();
    let home = short_dir();
    let page = home.path().join("clients.md");
    let mut command = Command::new(sealion());
    command.args(["prove", "clients", "--install", "--format=json", "--page"]).arg(&page);
    let said = Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX)).exits(0);
    let report: ProveClientsReport = serde_json::from_str(&said.stdout).expect("the published shape");

    let missing: Vec<String> = report
        .clients
        .iter()
        .filter(|one| one.version.is_none())
        .map(|one| format!("{}: {:?}; {:?}", one.client, one.why, one.next))
        .collect();
    assert!(missing.is_empty(), "not tried:\n{}", missing.join("\n"));
    for one in &report.clients {
        assert!(
            one.modes.iter().any(|mode| mode.is_controlled),
            "{} never accepts the honest server: {:#?}",
            one.client,
            one.modes
        );
    }
    for headline in HEADLINES {
        let mode = mode(&report, headline.client, headline.mode);
        assert_eq!(
            (mode.is_controlled, mode.broken_by.as_deref()),
            (true, Some("strip")),
            "{}",
            headline.file
        );
    }
    let (now, then) =
        (std::fs::read_to_string(&page).expect("written"), std::fs::read_to_string(PAGE).expect("committed"));
    assert_eq!(
        rows(&now),
        rows(&then),
        "docs/src/reference/clients.md is stale: sealion prove clients --install --page docs/src/reference/clients.md"
    );
}

fn config(words: &[&str]) -> (ProgramOutput, ProveConfigReport) {
    let mut command = Command::new(sealion());
    command.args(["prove", "config", "--format=json", "--confirm", "--install"]).args(words);
    let said = Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX));
    let report =
        serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("not the shape: {error}\n{said}"));
    (said, report)
}

#[test]
#[ignore = "installs drivers and takes a minute: make deep"]
fn the_headline_cases_are_confirmed_from_ordinary_files() {
    let _alone = lab_slot();
    let files = HEADLINES.map(|headline| format!("{FIXTURES}/{}", headline.file));
    let mut words = vec!["--fail-on=critical"];
    words.extend(files.iter().map(String::as_str));
    let (said, report) = config(&words);
    let said = said.exits(1);
    for headline in HEADLINES {
        let all = report.connections.iter().filter(|one| one.file.ends_with(headline.file));
        let one = all
            .flat_map(|one| &one.predictions)
            .find(|one| one.client == headline.client)
            .expect("it is predicted");
        let confirmed = one.confirmed.as_ref().expect("it was asked for");
        assert_eq!(
            (one.broken_by.as_deref(), confirmed.is_controlled, confirmed.agrees),
            (Some("strip"), true, Some(true)),
            "{}: {one:#?}",
            headline.file
        );
        let strip = confirmed.cases.iter().find(|case| case.case == "strip").expect("it was tried");
        assert_eq!((strip.verdict.as_str(), strip.has_fallen), ("AP", true), "{}", headline.file);
    }
    assert_eq!(report.differing, 0, "{said}");
    assert!(!said.stdout.contains(PASSWORD) && !said.stderr.contains(PASSWORD), "{said}");
}

#[test]
#[ignore = "installs drivers and takes a minute: make deep"]
fn of_several_hosts_each_is_the_rogue_and_the_prediction_holds() {
    let _alone = lab_slot();
    let urls: Vec<String> = [
        ("jdbc:mysql", "sslMode=REQUIRED"),
        ("jdbc:mysql:loadbalance", "sslMode=VERIFY_CA&trustCertificateKeyStoreUrl=file:/ca.p12"),
        ("jdbc:mysql:replication", "sslMode=PREFERRED"),
        ("jdbc:mariadb", "sslMode=trust"),
        ("jdbc:mariadb:sequential", "sslMode=verify-ca&serverSslCert=/ca.pem"),
        ("jdbc:mariadb:loadbalance", "sslMode=verify-full&serverSslCert=/ca.pem"),
        ("jdbc:mariadb:replication", "sslMode=disable"),
    ]
    .iter()
    // Addresses of nobody: whoever dialled them would wait for ever, and the honest server would not be accepted.
    .map(|(scheme, words)| format!("{scheme}://192.0.2.1:3306,192.0.2.2/x?{words}"))
    .collect();
    let (said, report) = config(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(report.connections.len(), urls.len(), "{said}");
    for (url, one) in urls.iter().zip(&report.connections) {
        assert_eq!(one.host.as_deref(), Some("192.0.2.1,192.0.2.2"), "{url}");
        let is_old = |client: &str| client.ends_with("-5.1");
        for prediction in one.predictions.iter().filter(|one| !is_old(&one.client)) {
            let confirmed = prediction.confirmed.as_ref().expect("it was asked for");
            assert_eq!(
                (confirmed.is_controlled, confirmed.agrees),
                (true, Some(true)),
                "{url} {}: {confirmed:#?}",
                prediction.client
            );
        }
    }
    assert_eq!(report.differing, 0, "{said}");
}

#[test]
#[ignore = "installs thirty drivers and takes minutes: make deep"]
fn every_way_of_writing_a_mode_does_what_the_mode_does() {
    let _alone = lab_slot();
    let home = short_dir();
    // One run for each driver that must be named, and one for the others.
    for driver in ["", "rust-mysql", "rust-mysql-async", "rust-sqlx"] {
        let mut files = Vec::new();
        for (index, mode) in modes().into_iter().enumerate() {
            if mode.words.last().copied().unwrap_or_default() != driver {
                continue;
            }
            let dir = home.path().join(index.to_string());
            std::fs::create_dir_all(&dir).expect("a directory");
            let path = dir.join(mode.file);
            std::fs::write(&path, &mode.text).expect("written");
            files.push(path.display().to_string());
        }
        let mut words: Vec<&str> = files.iter().map(String::as_str).collect();
        if !driver.is_empty() {
            words.extend(["--driver", driver]);
        }
        let (said, report) = config(&words);
        assert_eq!((report.connections.len(), report.unread.len()), (files.len(), 0), "{said}");
        let wrong: Vec<String> = report
            .connections
            .iter()
            .flat_map(|one| one.predictions.iter().map(move |prediction| (one, prediction)))
            .filter(|(_, prediction)| {
                let confirmed = prediction.confirmed.as_ref().expect("it was asked for");
                confirmed.why.is_some() || confirmed.agrees == Some(false)
            })
            .map(|(one, prediction)| {
                let confirmed = prediction.confirmed.as_ref().expect("it was asked for");
                let text = std::fs::read_to_string(&one.file).unwrap_or_default();
                format!(
                    "{} {:?}: {:?} {:?}\n{text}",
                    prediction.client, prediction.mode, confirmed.why, confirmed.differs
                )
            })
            .collect();
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
        said.exits(0);
    }
}
