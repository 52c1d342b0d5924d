//! `sealion prove config` on ordinary files of applications: the six headline cases, every mode in its own words, and no secret.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use report::shape::{ConfigPredictionRow, ProveConfigReport};
use testbed::real::{Program, ProgramOutput, lab_slot, sealion, short_dir};

use crate::support::config::{FIXTURES, HEADLINES, PASSWORD, modes};

const WHOLE_S_MAX: u64 = 180;

fn prove(words: &[&str]) -> ProgramOutput {
    let mut command = Command::new(sealion());
    command.args(["prove", "config"]).args(words);
    Program::start(command).finish(Duration::from_secs(WHOLE_S_MAX))
}

fn report(said: &ProgramOutput) -> ProveConfigReport {
    serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("not the shape: {error}\n{said}"))
}

fn prediction<'a>(report: &'a ProveConfigReport, file: &str, client: &str) -> &'a ConfigPredictionRow {
    let all = report.connections.iter().filter(|one| one.file.ends_with(file));
    all.flat_map(|one| &one.predictions)
        .find(|one| one.client == client)
        .unwrap_or_else(|| panic!("{file} has no {client}: {report:#?}"))
}

#[test]
fn the_headline_cases_are_found_in_ordinary_files() {
    let files = HEADLINES.map(|headline| format!("{FIXTURES}/{}", headline.file));
    // Django's settings do not say which of two drivers they are for.
    let mut words = vec!["--format=json", "--fail-on=critical", "--driver=mysqlclient"];
    words.extend(files.iter().map(String::as_str));
    let said = prove(&words).exits(1);
    let report = report(&said);
    // Two of them in the option file: mysqldump reads one more group than mysql.
    assert_eq!((report.connections.len(), report.unread.len()), (HEADLINES.len() + 1, 0), "{said}");
    for headline in &HEADLINES {
        let one = prediction(&report, headline.file, headline.client);
        assert_eq!(
            (one.mode.as_deref(), one.broken_by.as_deref()),
            (Some(headline.mode), Some("strip")),
            "{}: {one:#?}",
            headline.file
        );
        let line = report
            .connections
            .iter()
            .filter(|connection| connection.file.ends_with(headline.file))
            .flat_map(|connection| &connection.settings)
            .map(|setting| setting.line)
            .collect::<BTreeSet<_>>();
        assert!(line.contains(&headline.line), "{}: {line:?}", headline.file);
    }
    // With one that withstands and without a limit that it reaches, nothing fails.
    prove(&[
        "--fail-on=critical",
        "jdbc:mysql://db1/x?sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreUrl=file:/ca.p12",
    ])
    .exits(0);
}

#[test]
fn no_password_is_in_any_output() {
    let home = short_dir();
    let broken = home.path().join("broken.yml");
    std::fs::write(&broken, format!("production:\n  password: {PASSWORD}\n  - adapter: [\n"))
        .expect("written");
    let broken = broken.display().to_string();
    let files = HEADLINES.map(|headline| format!("{FIXTURES}/{}", headline.file));
    let typed = [
        format!("mysql://u:{PASSWORD}@db1/x"),
        format!("mysql+pymysql://u:{PASSWORD}@db1/x?ssl_key_password={PASSWORD}&ssl_new={PASSWORD}"),
        format!("jdbc:mariadb://db1/x?password={PASSWORD}&keyStorePassword={PASSWORD}"),
        format!("u:{PASSWORD}@tcp(db1)/x"),
        format!("msyql//u:{PASSWORD}@db1/x"),
    ];
    for format in ["--format=json", "--format=table"] {
        let mut words = vec![format, "-vvv", broken.as_str()];
        words.extend(files.iter().chain(&typed).map(String::as_str));
        let said = prove(&words).exits(0);
        assert!(!said.stdout.contains(PASSWORD) && !said.stderr.contains(PASSWORD), "{said}");
        assert!(said.stdout.contains("broken.yml"), "{said}");
        assert!(said.stderr.contains("command line"), "{said}");
    }
}

#[test]
fn what_a_fix_says_is_read_as_the_mode_that_it_is() {
    let home = short_dir();
    for mode in modes() {
        let path = home.path().join(mode.file);
        std::fs::write(&path, &mode.text).expect("written");
        let path = path.display().to_string();
        let said = prove(&[&["--format=json", path.as_str()][..], &mode.words].concat());
        let report = report(&said);
        let one = prediction(&report, mode.file, mode.client);
        // Where the honest server was not accepted nothing is predicted, and it is still this mode.
        // Nor where a name stands for what the program says elsewhere.
        let is_it = one.mode.as_deref() == Some(mode.mode)
            || one
                .why
                .as_deref()
                .is_some_and(|why| why.contains("honest") || why.contains("registers under this name"));
        assert!(is_it, "{} {}:\n{}\n{one:#?}", mode.client, mode.mode, mode.text);
    }
}

#[test]
fn what_is_unknown_is_an_exit_code_too() {
    let home = short_dir();
    let path = home.path().join("db.py");
    std::fs::write(&path, "pool = pymysql.connect(host='db1', ssl_ca=os.environ['CA'])\n").expect("written");
    let path = path.display().to_string();
    let said = prove(&["--fail-on=low", &path]).exits(3);
    assert!(said.stdout.contains("db.py:1") && said.stdout.contains("unknown"), "{said}");
    prove(&["--driver=nobody", &path]).exits(2);
    prove(&["--matrix=/dev/null", &path]).exits(2);
    prove(&["/nonexistent/x.env"]).exits(3);
}

#[test]
fn the_command_line_clients_do_with_an_option_file_what_was_predicted() {
    let _alone = lab_slot();
    let home = short_dir();
    let place = format!("--dir={}", home.path().join("clients").display());
    let file = format!("{FIXTURES}/mariadb/my.cnf");
    let not_there = prove(&["--format=json", "--confirm", &place, &file]).exits(0);
    let next = prediction(&report(&not_there), "my.cnf", "mariadb-10.11")
        .confirmed
        .clone()
        .expect("it was asked for")
        .next;
    assert_eq!(next.as_deref(), Some("sealion prove clients --install --only mariadb-10.11"));

    let said =
        prove(&["--format=json", "--confirm", "--install", "--fail-on=critical", &place, &file]).exits(1);
    let report = report(&said);
    assert_eq!(report.differing, 0, "{said}");
    for one in report.connections.iter().flat_map(|one| &one.predictions) {
        let confirmed = one.confirmed.as_ref().expect("it was asked for");
        assert_eq!((confirmed.agrees, confirmed.is_controlled), (Some(true), true), "{one:#?}");
    }
    assert!(!said.stdout.contains(PASSWORD) && !said.stderr.contains(PASSWORD), "{said}");

    // A matrix that lies is found out, and that is no finding but a fault.
    let lie = home.path().join("lie.json");
    let truth = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/src/reference/clients.json"
    ))
    .expect("committed");
    std::fs::write(&lie, truth.replace("\"verdict\": \"AP\"", "\"verdict\": \"G\"")).expect("written");
    let lie = format!("--matrix={}", lie.display());
    let said = prove(&["--confirm", "--fail-on=critical", &place, &lie, &file]).exits(5);
    assert!(said.stdout.contains("NOT AS PREDICTED") && said.stdout.contains("predicted strip G"), "{said}");
}
